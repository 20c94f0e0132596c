//! The types that a query declares for its columns, by a CAST around the whole column.
//!
//! ADS SQL computes with whole numbers of 64 bits, decimals of 38 digits, and doubles. A program that writes `CAST(n AS INT)` or
//! `CAST(n AS DECIMAL(10, 2))` expects that type, not another that holds its values.

use arrow_schema::{DECIMAL128_MAX_PRECISION, DataType};
use sqlparser::ast::{DataType as SqlType, ExactNumberInfo, Expr, SelectItem, SetExpr};
use tidemill_ads::sql::Select;

/// The declared types of a query's columns, in order; `None` if no type is declared.
pub(crate) fn of(select: &Select) -> Option<Vec<Option<DataType>>> {
    let SetExpr::Select(body) = &*select.query.body else {
        return None;
    };
    let types = body.projection.iter().map(|item| match item {
        SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => Some(declared(expr)),
        // The positions of columns after a `*` are unknown.
        _ => None,
    });
    let types: Vec<Option<DataType>> = types.collect::<Option<_>>()?;
    types.iter().any(Option::is_some).then_some(types)
}

fn declared(expr: &Expr) -> Option<DataType> {
    match expr {
        Expr::Nested(inner) => declared(inner),
        Expr::Cast { data_type, .. } => Some(match data_type {
            SqlType::TinyInt(_) => DataType::Int8,
            SqlType::Real | SqlType::Float4 => DataType::Float32,
            SqlType::SmallInt(_) | SqlType::Int2(_) => DataType::Int16,
            SqlType::Int(_) | SqlType::Integer(_) | SqlType::Int4(_) => DataType::Int32,
            SqlType::BigInt(_) | SqlType::Int8(_) => DataType::Int64,
            SqlType::Numeric(size) | SqlType::Decimal(size) | SqlType::Dec(size) => {
                let (precision, scale) = match *size {
                    ExactNumberInfo::None => return None,
                    ExactNumberInfo::Precision(precision) => (precision, 0),
                    ExactNumberInfo::PrecisionAndScale(precision, scale) => (precision, scale),
                };
                let precision = u8::try_from(precision).ok()?;
                let scale = i8::try_from(scale).ok()?;
                let is_one = (1..=DECIMAL128_MAX_PRECISION).contains(&precision) && scale.unsigned_abs() <= precision;
                return is_one.then_some(DataType::Decimal128(precision, scale));
            }
            _ => return None,
        }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use tidemill_ads::sql::StatementKind;

    use super::*;

    #[test]
    fn a_cast_that_is_a_column_declares_its_type() {
        for (sql, types) in [
            (
                "SELECT CAST(n AS INT) AS a, n FROM t",
                Some(vec![Some(DataType::Int32), None]),
            ),
            ("SELECT (CAST(1 AS SMALLINT))", Some(vec![Some(DataType::Int16)])),
            (
                "SELECT CAST(1 AS TINYINT), CAST(1 AS REAL)",
                Some(vec![Some(DataType::Int8), Some(DataType::Float32)]),
            ),
            (
                "SELECT CAST(n AS NUMERIC(10, 2)), CAST(n AS BIGINT) FROM t",
                Some(vec![Some(DataType::Decimal128(10, 2)), Some(DataType::Int64)]),
            ),
            ("SELECT CAST(n AS INT) + 1 FROM t", None),
            ("SELECT CAST(n AS CHAR(3)), CAST(n AS NUMERIC) FROM t", None),
            ("SELECT *, CAST(n AS INT) FROM t", None),
            ("SELECT CAST(n AS INT) FROM t UNION SELECT 1 FROM t", None),
        ] {
            let statements = tidemill_ads::sql::parse(sql).expect(sql);
            let StatementKind::Select(select) = &statements[0].kind else {
                panic!("{sql} is a query")
            };
            assert_eq!(of(select), types, "{sql}");
        }
    }
}
