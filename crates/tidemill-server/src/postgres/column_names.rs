//! The names that PostgreSQL gives to the columns of a query (`FigureColname` in its `parse_target.c`): `count` for `COUNT(*)`, `?column?`
//! for `1 + 1`, and `id` for an unquoted `ID`. Programs read columns by these names.

use sqlparser::ast::{
    DataType, Expr, Ident, Query, SelectItem, SetExpr, Statement, TimezoneInfo, TrimWhereField, Value,
};
use sqlparser::dialect::PostgreSqlDialect;
use sqlparser::parser::Parser;

/// The names of a query's columns; `None` for columns of a `*`, which have the spelling of their table.
#[derive(Debug)]
pub(crate) struct ColumnNames {
    /// The columns before the first `*`.
    front: Vec<Option<String>>,
    /// The columns after the last `*`.
    back: Vec<Option<String>>,
}

impl ColumnNames {
    /// The names for the columns of a statement; `None` if it is not a query.
    pub(crate) fn of(text: &str) -> Option<Self> {
        let parsed = Parser::parse_sql(&PostgreSqlDialect {}, text).ok()?;
        let [Statement::Query(query)] = parsed.as_slice() else {
            return None;
        };
        let items = items(query)?;
        let is_wild = |item: &SelectItem| matches!(item, SelectItem::Wildcard(_) | SelectItem::QualifiedWildcard(..));
        let names = |items: &[SelectItem]| items.iter().map(name_of_item).collect();
        let first = items.iter().position(is_wild).unwrap_or(items.len());
        let last = items.iter().rposition(is_wild).map_or(items.len(), |last| last + 1);
        Some(Self {
            front: names(items.get(..first)?),
            back: names(items.get(last..)?),
        })
    }

    /// The name of a column, among `columns` columns.
    pub(crate) fn name(&self, column: usize, columns: usize) -> Option<&str> {
        let from_end = columns
            .checked_sub(self.back.len())
            .and_then(|begin| column.checked_sub(begin));
        let name = match self.front.get(column) {
            Some(name) => Some(name),
            None => from_end.and_then(|place| self.back.get(place)),
        };
        name?.as_deref()
    }
}

/// The select list of a query; of a UNION, that of its first part.
fn items(query: &Query) -> Option<&[SelectItem]> {
    let mut body = &*query.body;
    loop {
        match body {
            SetExpr::Select(select) => return Some(&select.projection),
            SetExpr::SetOperation { left, .. } => body = left,
            SetExpr::Query(query) => body = &query.body,
            _ => return None,
        }
    }
}

fn name_of_item(item: &SelectItem) -> Option<String> {
    match item {
        SelectItem::UnnamedExpr(expr) => Some(figured(expr).map_or_else(|| "?column?".to_owned(), |(name, _)| name)),
        SelectItem::ExprWithAlias { alias, .. } => Some(folded(alias)),
        _ => None,
    }
}

/// The strength of a name: a weak one, of a type or of CASE, yields to a strong one of the expression within.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Worth {
    Little,
    Much,
}

fn figured(expr: &Expr) -> Option<(String, Worth)> {
    let much = |name: &str| Some((name.to_owned(), Worth::Much));
    let within = |expr: &Expr, otherwise: String| match figured(expr) {
        Some((name, Worth::Much)) => Some((name, Worth::Much)),
        _ => Some((otherwise, Worth::Little)),
    };
    match expr {
        Expr::Identifier(name) => much(&folded(name)),
        Expr::CompoundIdentifier(names) => much(&folded(names.last()?)),
        Expr::Function(function) => much(&folded(function.name.0.last()?.as_ident()?)),
        Expr::Cast { expr, data_type, .. } => within(expr, type_name(data_type)),
        Expr::TypedString(typed) => Some((type_name(&typed.data_type), Worth::Little)),
        Expr::Interval(_) => Some(("interval".to_owned(), Worth::Little)),
        Expr::Value(value) => match value.value {
            Value::Boolean(_) => Some(("bool".to_owned(), Worth::Little)),
            _ => None,
        },
        Expr::Case { else_result, .. } => match else_result {
            Some(otherwise) => within(otherwise, "case".to_owned()),
            None => Some(("case".to_owned(), Worth::Little)),
        },
        Expr::Nested(expr) | Expr::Collate { expr, .. } | Expr::CompoundFieldAccess { root: expr, .. } => figured(expr),
        Expr::Subquery(query) => match items(query)?.first()? {
            SelectItem::UnnamedExpr(expr) => figured(expr),
            SelectItem::ExprWithAlias { alias, .. } => much(&folded(alias)),
            _ => None,
        },
        Expr::Exists { .. } => much("exists"),
        Expr::Array(_) => much("array"),
        Expr::Tuple(_) => much("row"),
        Expr::Extract { .. } => much("extract"),
        Expr::Ceil { .. } => much("ceil"),
        Expr::Floor { .. } => much("floor"),
        Expr::Position { .. } => much("position"),
        Expr::Substring { shorthand, .. } => much(if *shorthand { "substr" } else { "substring" }),
        Expr::Overlay { .. } => much("overlay"),
        Expr::AtTimeZone { .. } => much("timezone"),
        Expr::Trim { trim_where, .. } => much(match trim_where {
            Some(TrimWhereField::Leading) => "ltrim",
            Some(TrimWhereField::Trailing) => "rtrim",
            _ => "btrim",
        }),
        _ => None,
    }
}

/// A name as PostgreSQL folds it: in lower case unless quoted.
fn folded(name: &Ident) -> String {
    match name.quote_style {
        Some(_) => name.value.clone(),
        None => name.value.to_lowercase(),
    }
}

/// PostgreSQL's internal name of a type.
fn type_name(data_type: &DataType) -> String {
    use DataType as T;
    let known = match data_type {
        T::Int(_) | T::Integer(_) | T::Int4(_) => "int4",
        T::SmallInt(_) | T::Int2(_) => "int2",
        T::BigInt(_) | T::Int8(_) => "int8",
        T::Real | T::Float4 => "float4",
        T::Float(_) | T::Double(_) | T::DoublePrecision | T::Float8 => "float8",
        T::Decimal(_) | T::Dec(_) | T::Numeric(_) => "numeric",
        T::Varchar(_) | T::CharacterVarying(_) | T::CharVarying(_) => "varchar",
        T::Char(_) | T::Character(_) => "bpchar",
        T::Boolean | T::Bool => "bool",
        T::Timestamp(_, TimezoneInfo::WithTimeZone | TimezoneInfo::Tz) => "timestamptz",
        T::Timestamp(..) => "timestamp",
        T::Time(_, TimezoneInfo::WithTimeZone | TimezoneInfo::Tz) => "timetz",
        T::Time(..) => "time",
        T::Interval { .. } => "interval",
        T::Custom(name, _) => {
            let last = name.0.last().and_then(|part| part.as_ident());
            return last.map_or_else(|| name.to_string(), folded);
        }
        other => return other.to_string().to_lowercase(),
    };
    known.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(sql: &str, columns: usize) -> Vec<String> {
        let names = ColumnNames::of(sql).expect("a query");
        let name = |column| names.name(column, columns).unwrap_or("-").to_owned();
        (0..columns).map(name).collect()
    }

    /// The names are those of PostgreSQL 15.
    #[test]
    fn columns_are_named_as_postgresql_names_them() {
        for (expression, name) in [
            ("count(*)", "count"),
            ("COUNT(DISTINCT a)", "count"),
            ("pg_catalog.upper('a')", "upper"),
            ("a", "a"),
            ("A", "a"),
            ("t.Total", "total"),
            ("\"Total\"", "Total"),
            ("t.\"ID\"", "ID"),
            ("1 AS Total", "total"),
            ("1 AS \"Total\"", "Total"),
            ("1 Total", "total"),
            ("a::text", "a"),
            ("sum(a)::int", "sum"),
            ("1::int", "int4"),
            ("'1'::numeric(10,2)", "numeric"),
            ("CAST('x' AS varchar(3))", "varchar"),
            ("date '2024-01-01'", "date"),
            ("timestamp '2024-01-01 10:00'", "timestamp"),
            ("interval '1 day'", "interval"),
            ("date '2024-01-01' + 1", "?column?"),
            ("1 + 1", "?column?"),
            ("'a' || 'b'", "?column?"),
            ("1", "?column?"),
            ("null", "?column?"),
            ("true", "bool"),
            ("not true", "?column?"),
            ("case when true then 1 end", "case"),
            ("case when true then 1 else a end", "a"),
            ("case when true then 1 else 2 end", "case"),
            ("coalesce(a, 1)", "coalesce"),
            ("nullif(a, 1)", "nullif"),
            ("greatest(1, 2)", "greatest"),
            ("extract(year from a)", "extract"),
            ("substring('abc' from 2)", "substring"),
            ("substr('abc', 2)", "substr"),
            ("trim('a')", "btrim"),
            ("trim(leading 'a' from 'ab')", "ltrim"),
            ("position('a' in 'b')", "position"),
            ("exists (select 1)", "exists"),
            ("(select max(a) from t)", "max"),
            ("(select 1 as b)", "b"),
            ("array[1, 2]", "array"),
            ("(array[1, 2])[1]", "array"),
            ("current_date", "current_date"),
            ("row_number() over ()", "row_number"),
            ("a is null", "?column?"),
            ("(a)", "a"),
        ] {
            let sql = format!("SELECT {expression} FROM t");
            assert_eq!(names(&sql, 1), [name], "{sql}");
        }
    }

    #[test]
    fn columns_around_a_star_have_their_names() {
        assert_eq!(names("SELECT 1 AS n, *, count(*) FROM t", 4), ["n", "-", "-", "count"]);
        assert_eq!(names("SELECT max(a), t.* FROM t", 3), ["max", "-", "-"]);
        assert_eq!(names("SELECT min(a) FROM t UNION SELECT 1", 1), ["min"]);
        assert_eq!(names("WITH x AS (SELECT 1) SELECT count(*) FROM x", 1), ["count"]);
        assert!(ColumnNames::of("VALUES (1)").is_none());
        assert!(ColumnNames::of("DELETE FROM t").is_none());
    }
}
