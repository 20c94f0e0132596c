//! Which expressions ADS SQL has; others are for the analytical engine.

use sqlparser::ast::{
    self, BinaryOperator as B, CeilFloorKind, DateTimeField, DuplicateTreatment, FunctionArguments, UnaryOperator as U,
};

use super::cast::{conversion, has_literals};
use super::is_operation;
use crate::sql::collate::is_sensitive;
use crate::sql::functions;

/// Parts of a date and of a time, which are functions, too.
const PARTS: [&str; 13] = [
    "DAY",
    "DAYOFMONTH",
    "DAYOFWEEK",
    "DAYOFYEAR",
    "FRAC_SECOND",
    "HOUR",
    "ISOWEEK",
    "MINUTE",
    "MONTH",
    "QUARTER",
    "SECOND",
    "WEEK",
    "YEAR",
];

/// Whether ADS SQL has an expression of this kind, whatever its parts are.
pub fn has_form(expr: &ast::Expr) -> bool {
    use ast::Expr as E;
    if disobeyed(expr).is_some() {
        return false;
    }
    match expr {
        E::Value(value) => is_literal(&value.value),
        E::TypedString(typed) => has_literals(&typed.data_type) && conversion(&typed.data_type, false).is_ok(),
        E::UnaryOp { op, .. } => matches!(op, U::Plus | U::Minus | U::Not | U::BitwiseNot),
        E::BinaryOp { op, .. } => is_operator(op),
        E::Cast { data_type, .. }
        | E::Convert {
            data_type: Some(data_type),
            ..
        } => conversion(data_type, false).is_ok(),
        E::Extract { field, .. } => is_part(field),
        E::Collate { collation, .. } => is_sensitive(collation),
        E::Identifier(_)
        | E::CompoundIdentifier(_)
        | E::Nested(_)
        | E::Function(_)
        | E::Case { .. }
        | E::Ceil { .. }
        | E::Floor { .. }
        | E::Position { .. }
        | E::Substring { .. }
        | E::Trim { .. }
        | E::Between { .. }
        | E::InList { .. }
        | E::IsTrue(_)
        | E::IsFalse(_)
        | E::Like { .. }
        | E::ILike { .. }
        | E::IsNull(_)
        | E::IsNotNull(_)
        | E::IsDistinctFrom(..)
        | E::IsNotDistinctFrom(..)
        | E::Subquery(_)
        | E::InSubquery { .. }
        | E::Exists { .. }
        | E::AnyOp { .. }
        | E::AllOp { .. } => true,
        _ => false,
    }
}

/// A clause of an expression that ADS SQL would read, and not obey.
pub(super) fn disobeyed(expr: &ast::Expr) -> Option<&'static str> {
    use ast::Expr as E;
    let clauses: &[(bool, &'static str)] = match expr {
        E::Cast { array, format, .. } => &[(*array, "CAST … AS … ARRAY"), (format.is_some(), "CAST … FORMAT")],
        E::Convert {
            is_try,
            charset,
            styles,
            ..
        } => &[
            (*is_try, "TRY_CONVERT"),
            (charset.is_some(), "CONVERT … USING"),
            (!styles.is_empty(), "The style of CONVERT"),
        ],
        E::Like { any, .. } | E::ILike { any, .. } => &[(*any, "LIKE ANY")],
        E::Ceil { field, .. } | E::Floor { field, .. } => {
            let is_plain = matches!(field, CeilFloorKind::DateTimeField(DateTimeField::NoDateTime));
            &[(!is_plain, "CEIL or FLOOR with a scale or a part of a date")]
        }
        E::Trim { trim_characters, .. } => &[(trim_characters.is_some(), "The second argument of TRIM")],
        E::Extract { field, .. } => &[(!is_part(field), "EXTRACT of this part")],
        E::Function(function) => &[(has_clauses(function), "A clause of a function that is no aggregate")],
        _ => &[],
    };
    clauses
        .iter()
        .find(|(is_there, _)| *is_there)
        .map(|(_, clause)| *clause)
}

/// The function that a part of a date or time has.
pub(super) fn function_of_part(field: &DateTimeField) -> String {
    match field.to_string() {
        // The standard's weeks are those of ISO 8601; the function counts from 1 January.
        week if week.eq_ignore_ascii_case("WEEK") => "ISOWEEK".to_owned(),
        part => part,
    }
}

fn is_part(field: &DateTimeField) -> bool {
    let field = field.to_string();
    PARTS.iter().any(|part| part.eq_ignore_ascii_case(&field))
}

/// Whether a function that ADS SQL knows has clauses, which those of others may have.
fn has_clauses(function: &ast::Function) -> bool {
    let is_known = match function.name.0.as_slice() {
        [ast::ObjectNamePart::Identifier(name)] => {
            is_operation(&name.value.to_ascii_uppercase()) || functions::find(&name.value).is_some()
        }
        _ => false,
    };
    let has_clauses = match &function.args {
        FunctionArguments::List(list) => {
            list.duplicate_treatment == Some(DuplicateTreatment::Distinct) || !list.clauses.is_empty()
        }
        FunctionArguments::None | FunctionArguments::Subquery(_) => false,
    };
    let is_plain = !has_clauses
        && function.filter.is_none()
        && function.null_treatment.is_none()
        && function.within_group.is_empty()
        && matches!(function.parameters, FunctionArguments::None);
    is_known && function.over.is_none() && !is_plain
}

fn is_literal(value: &ast::Value) -> bool {
    use ast::Value as V;
    matches!(
        value,
        V::Number(..)
            | V::SingleQuotedString(_)
            | V::NationalStringLiteral(_)
            | V::HexStringLiteral(_)
            | V::Boolean(_)
            | V::Null
            | V::Placeholder(_)
    )
}

fn is_operator(op: &B) -> bool {
    matches!(
        op,
        B::And
            | B::Or
            | B::Eq
            | B::NotEq
            | B::Lt
            | B::LtEq
            | B::Gt
            | B::GtEq
            | B::StringConcat
            | B::Plus
            | B::Minus
            | B::Multiply
            | B::Divide
            | B::Modulo
            | B::BitwiseAnd
            | B::BitwiseOr
            | B::BitwiseXor
            | B::PGBitwiseShiftLeft
            | B::PGBitwiseShiftRight
    )
}

#[cfg(test)]
mod tests {
    use sqlparser::dialect::GenericDialect;
    use sqlparser::parser::Parser;
    use tidemill_xbase::CodePage;
    use tidemill_xbase::expression::Environment;

    use super::*;
    use crate::sql::{Clock, Kind, Scalar, StatementKind, parse};

    /// The one column of a query.
    fn column(query: ast::Query) -> ast::Expr {
        let ast::SetExpr::Select(mut select) = *query.body else {
            panic!("{query}");
        };
        match select.projection.remove(0) {
            ast::SelectItem::UnnamedExpr(expr) => expr,
            other => panic!("{other}"),
        }
    }

    /// An expression is bound, or left to others.
    fn check(expr: &ast::Expr, expected: bool) {
        assert_eq!(has_form(expr), expected, "{expr}");
        let environment = Environment::with_all_letters(CodePage::Cp1252);
        let clock = Clock {
            local: 0,
            utc_offset: 0,
        };
        let bound = Scalar::bind(expr, &[], environment, clock);
        let is_left =
            bound.is_err_and(|error| matches!(error.kind(), Kind::NoExpression | Kind::Unsupported | Kind::NoFunction));
        assert_eq!(is_left, !expected, "{expr}");
    }

    /// Clauses that the grammar of ADS SQL refuses, and the planner's reads.
    #[test]
    fn clauses_that_nobody_would_obey_are_left_to_others() {
        for (text, expected) in [
            ("CAST('a' AS DATE FORMAT 'YYYY')", false),
            ("CAST('10:00' AS TIME(0))", false),
            ("CAST('a' AS CHAR(3)[])", false),
            ("TRY_CAST('x' AS INT)", true),
            ("'a' LIKE ANY ('A')", false),
            ("'a' ILIKE ANY ('A')", false),
            ("CEIL(1.5)", true),
            ("CEIL(1.5, 1)", false),
            ("FLOOR(NOW() TO DAY)", false),
            ("TRIM('xax', 'x')", false),
            ("TRIM(BOTH 'x' FROM 'xax')", true),
            ("UPPER('a') FILTER (WHERE TRUE)", false),
            ("COALESCE(DISTINCT 'a', 'b')", false),
            ("EXTRACT(UPPER FROM 'a')", false),
            ("EXTRACT(WEEK(MONDAY) FROM NOW())", false),
        ] {
            let mut statements = Parser::parse_sql(&GenericDialect {}, &format!("SELECT {text}")).expect(text);
            let ast::Statement::Query(query) = statements.remove(0) else {
                panic!("{text}");
            };
            check(&column(*query), expected);
        }
    }

    /// Every kind is bound, or left to others.
    #[test]
    fn forms_are_those_that_are_bound() {
        for (text, expected) in [
            ("1", true),
            ("'a'", true),
            ("x'41'", true),
            ("TRUE", true),
            ("NULL", true),
            ("DATE '2024-02-29'", true),
            ("-1", true),
            ("NOT TRUE", true),
            ("1 + 2 * 3 / 4 - 5 % 6", true),
            ("1 = 1 AND 2 <> 1 OR 3 < 4", true),
            ("'a' || 'b'", true),
            ("6 & 3 | 1", true),
            ("CAST(1 AS SQL_CHAR)", true),
            ("CAST(1 AS TEXT)", true),
            ("CAST(1 AS JSON)", false),
            ("TRY_CAST('x' AS INT)", true),
            ("SAFE_CAST('x' AS INT)", true),
            ("CAST(1 AS DECIMAL(8,1))", true),
            ("CAST(1 AS DECIMAL(39,1))", false),
            ("CAST(1 AS DECIMAL(38,31))", false),
            ("CAST(1 AS DECIMAL(2,3))", false),
            ("CAST(1 AS DECIMAL(5,-2))", false),
            ("CAST(1 AS INT(3))", false),
            ("CAST('a' AS VARCHAR(3 CHARACTERS))", true),
            ("CAST('a' AS VARCHAR(3 OCTETS))", false),
            ("CAST('a' AS VARCHAR(MAX))", true),
            ("CAST('a' AS BLOB(3))", false),
            ("CAST('10:00' AS TIME(3))", true),
            ("CAST('2024-02-29' AS TIMESTAMP)", true),
            ("CAST('2024-02-29' AS TIMESTAMP(6))", false),
            ("CAST('2024-02-29' AS TIMESTAMP WITH TIME ZONE)", false),
            ("CAST('2024-02-29' AS TIMESTAMP(3) WITH TIME ZONE)", false),
            ("TIME '10:00'", true),
            ("TIME WITH TIME ZONE '10:00'", false),
            ("INT '5'", false),
            ("EXTRACT(YEAR FROM DATE '2024-02-29')", true),
            ("EXTRACT(DOW FROM DATE '2024-02-29')", false),
            ("UPPER('a')", true),
            ("UPPER(DISTINCT 'a')", false),
            ("CASE WHEN TRUE THEN 1 END", true),
            ("CEIL(1.5)", true),
            ("FLOOR(1.5)", true),
            ("POSITION('a' IN 'ab')", true),
            ("SUBSTRING('abc' FROM 2)", true),
            ("TRIM(' a ')", true),
            ("1 BETWEEN 0 AND 2", true),
            ("1 IN (1, 2)", true),
            ("TRUE IS TRUE", true),
            ("'a' LIKE 'A'", true),
            ("'a' ILIKE 'A'", true),
            ("1 IS NULL", true),
            ("1 IS NOT DISTINCT FROM 1", true),
            ("INTERVAL '1' DAY", false),
            ("NOW() AT TIME ZONE 'UTC'", false),
            ("'a' SIMILAR TO 'a'", false),
            ("TRUE IS UNKNOWN", false),
        ] {
            let mut statements = parse(&format!("SELECT {text}")).expect(text);
            let StatementKind::Select(select) = statements.remove(0).kind else {
                panic!("{text}");
            };
            check(&column(*select.query), expected);
        }
    }
}
