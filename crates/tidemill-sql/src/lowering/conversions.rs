//! Rewrites CONVERT, and ODBC's type names, as CAST to standard types: `CONVERT(a, SQL_NUMERIC(8, 2))` is `CAST(a AS NUMERIC(8, 2))`.
//!
//! (ODBC Programmer's Reference, "Explicit Data Type Conversion Function"; "CONVERT" in the help of ADS.)

use sqlparser::ast::{CastKind, CharacterLength, DataType, ExactNumberInfo, Expr, TimezoneInfo};

/// Rewrites a conversion. Other expressions are unchanged.
pub(super) fn put(expr: &mut Expr) {
    if let Expr::Convert {
        is_try,
        expr: value,
        data_type: Some(data_type),
        charset: None,
        styles,
        ..
    } = expr
        && styles.is_empty()
    {
        let kind = if *is_try { CastKind::TryCast } else { CastKind::Cast };
        *expr = Expr::Cast {
            kind,
            expr: value.clone(),
            data_type: data_type.clone(),
            array: false,
            format: None,
        };
    }
    if let Expr::Cast { data_type, .. } = expr
        && let Some(same) = of_odbc(data_type)
    {
        *data_type = same;
    }
}

/// The type that an ODBC type name stands for.
fn of_odbc(data_type: &DataType) -> Option<DataType> {
    let DataType::Custom(name, sizes) = data_type else {
        return None;
    };
    let name = name.to_string().to_ascii_uppercase();
    let sizes: Vec<u64> = sizes
        .iter()
        .map(|size| size.trim().parse().ok())
        .collect::<Option<_>>()?;
    Some(match (name.strip_prefix("SQL_")?, sizes.as_slice()) {
        ("CHAR" | "VARCHAR" | "WCHAR" | "WVARCHAR", [length]) => {
            DataType::Varchar(Some(CharacterLength::IntegerLength {
                length: *length,
                unit: None,
            }))
        }
        ("CHAR" | "VARCHAR" | "WCHAR" | "WVARCHAR" | "LONGVARCHAR" | "WLONGVARCHAR", []) => DataType::Varchar(None),
        // As in ADS, a numeric type without digits is floating-point.
        ("NUMERIC" | "DECIMAL" | "DOUBLE" | "FLOAT" | "REAL", []) => DataType::Double(ExactNumberInfo::None),
        ("NUMERIC" | "DECIMAL", [precision]) => DataType::Numeric(ExactNumberInfo::Precision(*precision)),
        ("NUMERIC" | "DECIMAL", [precision, scale]) => {
            let scale = i64::try_from(*scale).ok()?;
            DataType::Numeric(ExactNumberInfo::PrecisionAndScale(*precision, scale))
        }
        ("TINYINT", []) => DataType::TinyInt(None),
        ("SMALLINT", []) => DataType::SmallInt(None),
        ("INTEGER", []) => DataType::Integer(None),
        ("BIGINT", []) => DataType::BigInt(None),
        ("BIT", []) => DataType::Boolean,
        ("BINARY" | "VARBINARY" | "LONGVARBINARY", []) => DataType::Varbinary(None),
        ("DATE", []) => DataType::Date,
        ("TIME", []) => DataType::Time(None, TimezoneInfo::None),
        ("TIMESTAMP", []) => DataType::Timestamp(None, TimezoneInfo::None),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use sqlparser::dialect::GenericDialect;
    use sqlparser::parser::Parser;

    use super::*;

    #[test]
    fn names_of_odbc_are_those_of_the_standard() {
        for (from, to) in [
            ("CONVERT(a, SQL_CHAR)", "CAST(a AS VARCHAR)"),
            ("CAST(a AS SQL_VARCHAR(5))", "CAST(a AS VARCHAR(5))"),
            ("CAST(a AS sql_numeric(8, 2))", "CAST(a AS NUMERIC(8,2))"),
            ("CONVERT(a, SQL_NUMERIC)", "CAST(a AS DOUBLE)"),
            ("CONVERT(a, INTEGER)", "CAST(a AS INTEGER)"),
            ("CAST(a AS SQL_BIT)", "CAST(a AS BOOLEAN)"),
            ("CAST(a AS SQL_TIMESTAMP)", "CAST(a AS TIMESTAMP)"),
            ("CAST(a AS SQL_BINARY)", "CAST(a AS VARBINARY)"),
            ("CAST(a AS SQL_MONEY)", "CAST(a AS SQL_MONEY)"),
            ("CAST(a AS NUMERIC(8,2))", "CAST(a AS NUMERIC(8,2))"),
        ] {
            let mut parser = Parser::new(&GenericDialect {}).try_with_sql(from).expect(from);
            let mut expr = parser.parse_expr().expect(from);
            put(&mut expr);
            assert_eq!(expr.to_string(), to, "{from}");
        }
    }
}
