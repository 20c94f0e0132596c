//! Forms of expressions that the planner does not take, as others that mean the same.
//!
//! `SUBSTRING(a, 1, 2)` has a node of its own, which the planner gives to the function of text whatever the value is; as a call it is
//! found by its name. A name behind a subscript, as in `map['key'].member`, is a subscript by a text. EXISTS among the columns of a
//! query is a count that is not 0 where it is the same for all rows.
//!
//! `TIMESTAMP '1500-01-01 00:00:00'` is a `TIMESTAMP(6)`, `VARBINARY` is `BYTEA`, and functions have the engine's names: `VARIANCE(a)` is
//! `VAR_SAMP(a)`.
//!
//! `FETCH FIRST 3 ROWS ONLY` is `LIMIT 3`.
//!
//! [`functions`] that only PostgreSQL has are expressions of those that there are.
//!
//! `GROUP_CONCAT(a SEPARATOR ';')` is `string_agg(CAST(a AS VARCHAR), ';')`.
//!
//! A number of more digits than a floating-point number keeps is a decimal: `CAST('1234567890123456.78' AS DECIMAL(18, 2))`.
//!
//! IN of [several values](row_in) is EXISTS. `a IN (VALUES (1), (2))` selects from the values.
//!
//! [Casts](named_casts) that would give two expressions one name are named apart.
//!
//! [Columns](set_columns) of the right part of EXCEPT and INTERSECT have names of their own.
//!
//! Conditions of [`joins`] stand where the planner takes them.
//!
//! [`patterns`] of dates and times get the letters that the engine knows, and [`similar`] patterns are regular expressions.

mod escapes;
mod functions;
mod joins;
pub(crate) mod named_casts;
mod patterns;
mod row_in;
mod set_columns;
mod similar;

use std::collections::HashSet;
use std::convert::Infallible;
use std::ops::ControlFlow;

use arrow_schema::DECIMAL128_MAX_PRECISION;
use sqlparser::ast::{
    AccessExpr, BinaryOperator, CastKind, DataType, ExactNumberInfo, Expr, Fetch, Function, FunctionArg,
    FunctionArgExpr, FunctionArgumentClause, FunctionArgumentList, FunctionArguments, GroupByExpr, Ident, LimitClause,
    ObjectName, OrderByKind, Query, Select, SelectItem, SetExpr, Statement, TableAlias, TableFactor, TableWithJoins,
    TypedString, Value, VisitorMut,
};
use sqlparser::dialect::GenericDialect;
use sqlparser::parser::Parser;
use sqlparser::tokenizer::Tokenizer;
use tidemill_ads::sql::{GROUP_CONCAT_LENGTH, balance_conditions, join_distinct_from, joined_in_pairs, walk};

use crate::binary_forms::lacks_seconds;
use crate::{Error, Result};

/// Gives expressions of a statement these forms.
///
/// # Errors
///
/// [`Error::Unsupported`](crate::Error::Unsupported) for what the engine would take for something else.
pub(crate) fn put(statement: &mut Statement) -> Result<()> {
    walk::change(statement, &mut Forms)
}

/// Functions by the names that other databases give them, and the engine's names.
const RENAMED: [(&str, &str); 5] = [
    ("VARIANCE", "var_samp"),
    ("EVERY", "bool_and"),
    ("GEN_RANDOM_UUID", "uuid"),
    // The engine's own make floating-point numbers of a decimal and a whole number.
    ("IFNULL", "coalesce"),
    ("NVL", "coalesce"),
];

struct Forms;

impl VisitorMut for Forms {
    type Break = Error;

    fn post_visit_query(&mut self, query: &mut Query) -> ControlFlow<Error> {
        fetch_as_limit(query);
        sort_once(query);
        set_columns::put(&mut query.body);
        match named_casts::put(query) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => ControlFlow::Break(error),
        }
    }

    fn post_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<Error> {
        let TableFactor::Table {
            args: Some(arguments), ..
        } = factor
        else {
            return ControlFlow::Continue(());
        };
        for argument in &mut arguments.args {
            // The engine makes a series of moments of nanoseconds alone.
            if let FunctionArg::Unnamed(FunctionArgExpr::Expr(
                Expr::TypedString(TypedString { data_type, .. }) | Expr::Cast { data_type, .. },
            )) = argument
                && let DataType::Timestamp(precision, _) = data_type
            {
                *precision = None;
            }
        }
        ControlFlow::Continue(())
    }

    fn post_visit_select(&mut self, select: &mut Select) -> ControlFlow<Error> {
        let outer = aliases(&select.from);
        for item in &mut select.projection {
            let put = outside_queries(item, &mut |part| {
                if let Expr::Exists { subquery, negated } = part {
                    *part = is_there(subquery, &outer, *negated);
                }
                Ok(())
            });
            if let Err(error) = put {
                return ControlFlow::Break(error);
            }
        }
        joins::put(select);
        match row_in::put(select, &outer) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => ControlFlow::Break(error),
        }
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Error> {
        if let Expr::Function(function) = expr
            && let Err(error) = patterns::put(function)
        {
            return ControlFlow::Break(error);
        }
        escapes::put(expr);
        match similar::as_match(expr) {
            Ok(Some(matched)) => *expr = matched,
            Ok(None) => {}
            Err(error) => return ControlFlow::Break(error),
        }
        match expr {
            Expr::InSubquery { subquery, .. } if matches!(*subquery.body, SetExpr::Values(_)) => {
                **subquery = selected(subquery);
            }
            Expr::Substring {
                expr: text,
                substring_from: Some(from),
                substring_for,
                ..
            } => {
                let args = [Some(text), Some(from), substring_for.as_mut()];
                let args = args.into_iter().flatten().map(|arg| (**arg).clone());
                *expr = call("substr", args);
            }
            Expr::CompoundFieldAccess { access_chain, .. } => {
                // Names in front of the first subscript are those of a table, a column and its members.
                let is_name = |access: &&mut AccessExpr| matches!(access, AccessExpr::Dot(_));
                for access in access_chain.iter_mut().skip_while(is_name) {
                    if let AccessExpr::Dot(Expr::Identifier(name)) = access {
                        let name = Value::SingleQuotedString(name.value.clone()).with_span(name.span);
                        *access = AccessExpr::Dot(Expr::Value(name));
                    }
                }
            }
            Expr::Value(value) => {
                if let Value::Number(digits, _) = &value.value
                    && let Some((precision, scale)) = beyond_a_float(digits)
                {
                    let digits = Value::SingleQuotedString(digits.clone()).with_span(value.span);
                    *expr = Expr::Cast {
                        kind: CastKind::Cast,
                        expr: Box::new(Expr::Value(digits)),
                        data_type: DataType::Decimal(ExactNumberInfo::PrecisionAndScale(precision, scale)),
                        array: false,
                        format: None,
                    };
                }
            }
            Expr::TypedString(typed) => {
                with_seconds(&typed.data_type, &mut typed.value.value);
                with_microseconds(&mut typed.data_type, text_of(&typed.value.value));
            }
            Expr::Cast {
                data_type, expr: of, ..
            } => {
                let text = match of.as_mut() {
                    Expr::Value(value) => {
                        with_seconds(data_type, &mut value.value);
                        text_of(&value.value)
                    }
                    _ => None,
                };
                with_microseconds(data_type, text);
                if is_of_bytes(data_type) {
                    *data_type = DataType::Bytea;
                }
            }
            Expr::Function(function)
                if let Some((_, name)) = RENAMED.iter().find(|(from, _)| is_called(function, from)) =>
            {
                function.name = ObjectName::from(vec![Ident::new(*name)]);
            }
            Expr::Function(function) if let Some(same) = functions::as_others(function) => *expr = same,
            Expr::Function(function) if is_called(function, "GROUP_CONCAT") => {
                if let FunctionArguments::List(list) = &mut function.args
                    && joined_by(list)
                {
                    function.name = ObjectName::from(vec![Ident::new("string_agg")]);
                }
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

fn is_of_bytes(data_type: &DataType) -> bool {
    matches!(
        data_type,
        DataType::Binary(None) | DataType::Varbinary(None) | DataType::Blob(None)
    )
}

fn text_of(value: &Value) -> Option<&str> {
    match value {
        Value::SingleQuotedString(text) => Some(text),
        _ => None,
    }
}

fn is_called(function: &Function, name: &str) -> bool {
    function.name.to_string().eq_ignore_ascii_case(name)
}

/// Writes the seconds of a text that becomes a TIMESTAMP.
fn with_seconds(data_type: &DataType, value: &mut Value) {
    if let (DataType::Timestamp(..) | DataType::Datetime(_), Value::SingleQuotedString(text)) = (data_type, value)
        && lacks_seconds(text)
    {
        text.push_str(":00");
    }
}

/// Makes TIMESTAMP one of microseconds, where the text that becomes one is no finer: one of nanoseconds has no years before 1677 and
/// after 2262.
fn with_microseconds(data_type: &mut DataType, text: Option<&str>) {
    const KEPT: usize = 6;
    let fraction = text
        .and_then(|text| text.split_once('.'))
        .map_or("", |(_, behind)| behind);
    let digits = fraction.bytes().take_while(u8::is_ascii_digit).count();
    if let DataType::Timestamp(precision @ None, _) = data_type
        && digits <= KEPT
    {
        *precision = Some(KEPT as u64);
    }
}

/// A query for all columns of another.
fn selected(query: &Query) -> Query {
    let rows = TableFactor::Derived {
        lateral: false,
        subquery: Box::new(query.clone()),
        alias: Some(TableAlias {
            explicit: true,
            name: Ident::with_quote('"', "values"),
            columns: Vec::new(),
            at: None,
        }),
        sample: None,
    };
    let text = "SELECT * FROM a";
    let mut outer = parser(text).and_then(|mut parser| parser.parse_query().ok());
    if let Some(outer) = &mut outer
        && let SetExpr::Select(select) = &mut *outer.body
        && let Some(table) = select.from.first_mut()
    {
        table.relation = rows;
    }
    outer.map_or_else(|| query.clone(), |outer| *outer)
}

/// Removes repeated keys of ORDER BY.
fn sort_once(query: &mut Query) {
    if let Some(order) = &mut query.order_by
        && let OrderByKind::Expressions(keys) = &mut order.kind
    {
        let mut seen = HashSet::new();
        keys.retain(|key| seen.insert(key.expr.to_string()));
    }
}

/// Makes `FETCH FIRST 3 ROWS ONLY` a LIMIT, where the query has none.
fn fetch_as_limit(query: &mut Query) {
    let Some(Fetch {
        with_ties: false,
        percent: false,
        quantity,
    }) = &query.fetch
    else {
        return;
    };
    let one = || Expr::Value(Value::Number("1".to_owned(), false).with_empty_span());
    let rows = quantity.clone().unwrap_or_else(one);
    let offset = match &mut query.limit_clause {
        None => None,
        Some(LimitClause::LimitOffset {
            limit: None,
            offset,
            limit_by: _,
        }) => offset.take(),
        Some(_) => return,
    };
    query.fetch = None;
    query.limit_clause = Some(LimitClause::LimitOffset {
        limit: Some(rows),
        offset,
        limit_by: Vec::new(),
    });
}

/// The digits of a number in all, and those behind its point, where a floating-point number would not keep them all and a decimal does.
fn beyond_a_float(number: &str) -> Option<(u64, i64)> {
    /// So many digits are always kept.
    const KEPT: usize = 15;
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let significant = [whole, fraction].concat();
    let significant = significant.trim_start_matches('0').len();
    let is_whole = fraction.is_empty() && number.parse::<u64>().is_ok();
    if significant <= KEPT || is_whole || !are_digits(whole) || !are_digits(fraction) {
        return None;
    }
    let (precision, scale) = (whole.len() + fraction.len(), fraction.len());
    let fits = precision <= usize::from(DECIMAL128_MAX_PRECISION);
    fits.then_some((precision as u64, i64::try_from(scale).ok()?))
}

/// Gives GROUP_CONCAT the arguments of `string_agg`, whose values are text and whose separator is always said. NULL comes first in its
/// order, as in ADS. `false` for one with MAX_LENGTH, which `string_agg` lacks.
fn joined_by(list: &mut FunctionArgumentList) -> bool {
    let [FunctionArg::Unnamed(FunctionArgExpr::Expr(text)), rest @ ..] = list.args.as_mut_slice() else {
        return false;
    };
    let has_separator = match rest {
        [] => false,
        [_] => true,
        // The reader of ADS SQL gives a length with every separator; this is the one that nobody has asked for.
        [_, FunctionArg::Unnamed(FunctionArgExpr::Expr(length))]
            if length.to_string() == GROUP_CONCAT_LENGTH.to_string() =>
        {
            true
        }
        _ => return false,
    };
    *text = Expr::Cast {
        kind: CastKind::Cast,
        expr: Box::new(text.clone()),
        data_type: DataType::Varchar(None),
        array: false,
        format: None,
    };
    list.args.truncate(2);
    if !has_separator {
        let comma = Value::SingleQuotedString(",".to_owned()).with_empty_span();
        list.args
            .push(FunctionArg::Unnamed(FunctionArgExpr::Expr(Expr::Value(comma))));
    }
    for clause in &mut list.clauses {
        if let FunctionArgumentClause::OrderBy(terms) = clause {
            for term in terms {
                let ascends = term.options.asc != Some(false);
                term.options.nulls_first.get_or_insert(ascends);
            }
        }
    }
    true
}

/// The names that tables have in a FROM.
fn aliases(from: &[TableWithJoins]) -> Vec<String> {
    let factors = from
        .iter()
        .flat_map(|table| std::iter::once(&table.relation).chain(table.joins.iter().map(|join| &join.relation)));
    let alias = |factor: &TableFactor| match factor {
        TableFactor::Table { alias, .. } | TableFactor::Derived { alias, .. } => {
            alias.as_ref().map(|alias| alias.name.value.clone())
        }
        _ => None,
    };
    factors.filter_map(alias).collect()
}

/// Does something with each part of a condition that has to hold for the whole to hold: there what is not known is as good as false.
fn for_each_conjunct(condition: &mut Expr, work: &mut impl FnMut(&mut Expr)) {
    let _: std::result::Result<(), Infallible> = try_for_each_conjunct(condition, &mut |part| {
        work(part);
        Ok(())
    });
}

/// As [`for_each_conjunct`], until something fails.
fn try_for_each_conjunct<E>(
    condition: &mut Expr,
    work: &mut impl FnMut(&mut Expr) -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    match condition {
        Expr::BinaryOp {
            left,
            op: BinaryOperator::And,
            right,
        } => {
            try_for_each_conjunct(left, work)?;
            try_for_each_conjunct(right, work)
        }
        Expr::Nested(inner) => try_for_each_conjunct(inner, work),
        part => work(part),
    }
}

/// Changes each expression of a tree, the parts before those around, but for those of the queries within.
///
/// # Errors
///
/// The first of `alter`.
fn outside_queries(tree: &mut impl walk::Tree, alter: &mut dyn FnMut(&mut Expr) -> Result<()>) -> Result<()> {
    struct Outside<'a> {
        alter: &'a mut dyn FnMut(&mut Expr) -> Result<()>,
        /// How many queries are around.
        depth: usize,
    }

    impl VisitorMut for Outside<'_> {
        type Break = Error;

        fn pre_visit_query(&mut self, _: &mut Query) -> ControlFlow<Error> {
            self.depth += 1;
            ControlFlow::Continue(())
        }

        fn post_visit_query(&mut self, _: &mut Query) -> ControlFlow<Error> {
            self.depth -= 1;
            ControlFlow::Continue(())
        }

        fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Error> {
            match self.depth {
                0 => (self.alter)(expr).map_or_else(ControlFlow::Break, ControlFlow::Continue),
                _ => ControlFlow::Continue(()),
            }
        }
    }

    walk::change(tree, &mut Outside { alter, depth: 0 })
}

/// Before a subquery is written several times: within others of its kind it grows by as many times each.
///
/// # Errors
///
/// [`Error::Unsupported`] for one that is too long.
fn check_length(subquery: &Query) -> Result<()> {
    const MOST_TEXT: usize = 64 << 10;
    match subquery.to_string().len() > MOST_TEXT {
        true => Err(Error::Unsupported {
            what: "IN (SELECT …) within others of its kind, whose text is too long,".to_owned(),
            hint: "put the inner subqueries into WITH".to_owned(),
        }),
        false => Ok(()),
    }
}

/// A value as a subquery names it. There a name alone would be one of its own columns.
fn within_subquery(value: &Expr, outer: &[String]) -> Option<Expr> {
    match (value, outer) {
        (Expr::Identifier(name), [only]) => Some(Expr::CompoundIdentifier(vec![
            Ident::with_quote('"', only),
            name.clone(),
        ])),
        (Expr::CompoundIdentifier(_) | Expr::Value(_), _) => Some(value.clone()),
        _ => None,
    }
}

/// The expression of a text that was made of others.
fn parsed_expr(text: &str) -> Option<Expr> {
    let mut expr = parser(text)?.parse_expr().ok()?;
    balance_conditions(&mut expr);
    Some(expr)
}

fn parser(text: &str) -> Option<Parser<'static>> {
    let mut tokens = Tokenizer::new(&GenericDialect {}, text).tokenize_with_location().ok()?;
    join_distinct_from(&mut tokens);
    Some(Parser::new(&GenericDialect {}).with_tokens_with_locations(tokens))
}

/// A query with one condition more.
fn where_also(query: &Query, condition: Expr) -> Query {
    let mut query = query.clone();
    if let SetExpr::Select(select) = &mut *query.body {
        let known = select.selection.take().map(|known| Expr::Nested(Box::new(known)));
        select.selection = joined_in_pairs(known.into_iter().chain([condition]).collect(), and);
    }
    query
}

pub(crate) fn and(left: Expr, right: Expr) -> Expr {
    Expr::BinaryOp {
        left: Box::new(left),
        op: BinaryOperator::And,
        right: Box::new(right),
    }
}

/// Whether a column of one of these tables is named.
fn names_one_of(query: &impl walk::Tree, tables: &[String]) -> bool {
    let mut is_named = false;
    let _: ControlFlow<()> = walk::expressions(query, &mut |part| {
        if let Expr::CompoundIdentifier(parts) = part
            && let Some(table) = parts.first()
        {
            is_named |= tables.contains(&table.value);
        }
        ControlFlow::Continue(())
    });
    is_named
}

/// Whether a query has rows. One that is the same for all rows is counted once; `outer` are the names of the tables around it.
fn is_there(query: &Query, outer: &[String], negated: bool) -> Expr {
    match names_one_of(query, outer) {
        true => Expr::Exists {
            subquery: Box::new(query.clone()),
            negated,
        },
        false => counted(query, negated),
    }
}

/// Whether a query has rows, as a query of one value.
fn counted(query: &Query, negated: bool) -> Expr {
    let zero = Expr::Value(Value::Number("0".to_owned(), false).with_empty_span());
    let every = FunctionArg::Unnamed(FunctionArgExpr::Wildcard);
    let count = Expr::BinaryOp {
        left: Box::new(function("count", vec![every])),
        op: if negated {
            BinaryOperator::Eq
        } else {
            BinaryOperator::Gt
        },
        right: Box::new(zero),
    };
    let whole = query;
    let mut query = query.clone();
    query.order_by = None;
    let is_plain = query.limit_clause.is_none() && query.fetch.is_none();
    match &mut *query.body {
        SetExpr::Select(select) if is_plain && is_ungrouped(select) => {
            select.projection = vec![SelectItem::UnnamedExpr(count)];
        }
        body => {
            let of_rows = TableFactor::Derived {
                lateral: false,
                subquery: Box::new(whole.clone()),
                alias: Some(TableAlias {
                    explicit: true,
                    name: Ident::with_quote('"', "rows"),
                    columns: Vec::new(),
                    at: None,
                }),
                sample: None,
            };
            let Some(mut select) = first_select(body).cloned().map(Box::new) else {
                return Expr::Exists {
                    subquery: Box::new(whole.clone()),
                    negated,
                };
            };
            select.projection = vec![SelectItem::UnnamedExpr(count)];
            select.from = vec![TableWithJoins {
                relation: of_rows,
                joins: Vec::new(),
            }];
            (select.selection, select.having, select.distinct) = (None, None, None);
            select.group_by = GroupByExpr::Expressions(Vec::new(), Vec::new());
            query = Query {
                body: Box::new(SetExpr::Select(select)),
                with: None,
                limit_clause: None,
                fetch: None,
                ..query
            };
        }
    }
    Expr::Subquery(Box::new(query))
}

/// The first SELECT of a query, also of several that are joined by UNION.
fn first_select(body: &SetExpr) -> Option<&Select> {
    match body {
        SetExpr::Select(select) => Some(select),
        SetExpr::SetOperation { left, .. } => first_select(left),
        SetExpr::Query(query) => first_select(&query.body),
        _ => None,
    }
}

/// Whether a SELECT has a row for each that its condition keeps.
fn is_ungrouped(select: &Select) -> bool {
    let ungrouped = matches!(&select.group_by, GroupByExpr::Expressions(columns, _) if columns.is_empty());
    let aggregates = select.projection.iter().any(|item| {
        let mut has_call = false;
        let _: ControlFlow<()> = walk::expressions(item, &mut |part| {
            has_call |= matches!(part, Expr::Function(_));
            ControlFlow::Continue(())
        });
        has_call
    });
    ungrouped && !aggregates && select.having.is_none() && select.distinct.is_none()
}

pub(crate) fn call(name: &str, args: impl Iterator<Item = Expr>) -> Expr {
    let args = args.map(|arg| FunctionArg::Unnamed(FunctionArgExpr::Expr(arg)));
    function(name, args.collect())
}

fn function(name: &str, args: Vec<FunctionArg>) -> Expr {
    Expr::Function(Function {
        name: ObjectName::from(vec![Ident::new(name)]),
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(FunctionArgumentList {
            duplicate_treatment: None,
            args,
            clauses: Vec::new(),
        }),
        filter: None,
        null_treatment: None,
        over: None,
        within_group: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect;

    #[test]
    fn forms_mean_the_same() {
        for (written, put_so) in [
            (
                "SELECT SUBSTRING(a FROM 2 FOR 3) FROM t",
                "SELECT substr(a, 2, 3) FROM t",
            ),
            ("SELECT SUBSTR(a, 2) FROM t", "SELECT substr(a, 2) FROM t"),
            ("SELECT a.b['c'].d FROM t", "SELECT a.b['c'].'d' FROM t"),
            (
                "SELECT NOT EXISTS (SELECT b FROM u WHERE u.c = t.c) FROM t WHERE EXISTS (SELECT 1)",
                "SELECT (SELECT count(*) = 0 FROM u WHERE u.c = t.c) FROM t WHERE EXISTS (SELECT 1)",
            ),
            (
                "SELECT group_concat(a), GROUP_CONCAT(DISTINCT b, '; ', 1024 ORDER BY b DESC) FROM t",
                "SELECT string_agg(CAST(a AS VARCHAR), ','), string_agg(DISTINCT CAST(b AS VARCHAR), '; ' ORDER BY b DESC NULLS LAST) FROM t",
            ),
            (
                "SELECT EXISTS (SELECT COUNT(*) FROM u) AS e",
                "SELECT (SELECT count(*) > 0 FROM (SELECT COUNT(*) FROM u) AS \"rows\") AS e",
            ),
        ] {
            let mut statement = dialect::parse(written).expect(written);
            put(&mut statement).expect("it can be said");
            assert_eq!(statement.to_string(), put_so);
        }
    }
}
