//! Lowers a query of ADS SQL to one that the planner accepts: missing grammar is expressed otherwise, and columns get the names that ADS
//! gives them.

mod conversions;

use std::collections::HashMap;
use std::ops::ControlFlow;

use sqlparser::ast::{
    CastKind, CharacterLength, DataType, DescribeAlias, Distinct, ExactNumberInfo, Expr, GroupByExpr, Ident,
    LimitClause, Offset, OffsetRows, Query, SelectItem, SetExpr, Statement, TopQuantity, Value, VisitorMut,
};
use tidemill_ads::sql::{Error as SqlError, Kind, Select, Value as AdsValue, walk};

use crate::{Error, Result, top_percent};

/// The statement for a query, or for its plan.
///
/// # Errors
///
/// [`Error::Ads`] for what cannot be expressed.
pub(crate) fn statement(select: &Select, explains: bool, parameters: &Parameters) -> Result<Statement> {
    let mut query = select.query.clone();
    if let Some(row) = select.start_at {
        add_limits(&mut query, None, Some(number(row.saturating_sub(1))))?;
    }
    let mut lowered = Statement::Query(query);
    let mut lowering = Lowering {
        parameters,
        subqueries: 0,
    };
    walk::change(&mut lowered, &mut lowering)?;
    Ok(match explains {
        false => lowered,
        true => Statement::Explain {
            describe_alias: DescribeAlias::Explain,
            analyze: false,
            verbose: false,
            query_plan: false,
            estimate: false,
            statement: Box::new(lowered),
            format: None,
            options: None,
        },
    })
}

/// The values of a statement's parameters, by name: `?1`, `:NAME`.
#[derive(Debug, Default)]
pub(crate) struct Parameters(HashMap<String, AdsValue>);

impl Parameters {
    /// The parameters of a text, whose values are given in order.
    ///
    /// # Errors
    ///
    /// [`Error::Ads`] for too few or too many values.
    pub(crate) fn of(sql: &str, values: &[AdsValue]) -> Result<Self> {
        let names = tidemill_ads::sql::parameters(sql)?;
        let (given, wanted) = (values.len(), names.len());
        if given != wanted {
            let why = format!("The statement has {wanted} parameters, and {given} values were given");
            return Err(SqlError::new(Kind::Parameter, why).into());
        }
        let mut marks = 0;
        let names = names.into_iter().map(|name| match name {
            Some(name) => format!(":{name}"),
            None => {
                marks += 1;
                format!("?{marks}")
            }
        });
        Ok(Self(names.zip(values.iter().cloned()).collect()))
    }

    /// The value of a parameter; `None` for other expressions.
    fn literal(&self, expr: &Expr) -> Result<Option<Expr>> {
        let Expr::Value(value) = expr else { return Ok(None) };
        let Value::Placeholder(name) = &value.value else {
            return Ok(None);
        };
        let name = name.replace('"', "").to_uppercase();
        let missing = || SqlError::new(Kind::Parameter, format!("There is no value for {name}"));
        let value = self.0.get(&name).ok_or_else(missing)?;
        let literal = value.to_literal()?;
        Ok(Some(match value {
            // A decimal keeps its digits and scale; a number in a statement does so only if it is long.
            AdsValue::Decimal { scale: 1.., .. } => decimal(&literal.to_string()).unwrap_or(literal),
            _ => literal,
        }))
    }
}

/// A number as a decimal with exactly its digits: `CAST('-12.50' AS DECIMAL(4, 2))`.
fn decimal(number: &str) -> Option<Expr> {
    let (whole, fraction) = number.trim_start_matches('-').split_once('.')?;
    let precision = u64::try_from(whole.len() + fraction.len())
        .ok()
        .filter(|digits| *digits <= 38)?;
    let scale = i64::try_from(fraction.len()).ok()?;
    Some(Expr::Cast {
        kind: CastKind::Cast,
        expr: Box::new(Expr::Value(
            Value::SingleQuotedString(number.to_owned()).with_empty_span(),
        )),
        data_type: DataType::Decimal(ExactNumberInfo::PrecisionAndScale(precision, scale)),
        array: false,
        format: None,
    })
}

/// Names the columns of a statement in the planner's own grammar as ADS does, and inserts the values of parameters, which that grammar does
/// not number.
///
/// # Errors
///
/// [`Error::Ads`] for a value that cannot be a literal.
pub(crate) fn bind(statement: &mut Statement, parameters: &Parameters) -> Result<()> {
    if let Statement::Query(query) = statement {
        name_columns(&mut query.body);
    }
    let mut marks = 0;
    let bound = walk::expressions_mut(statement, &mut |expr| {
        if let Expr::Value(value) = expr
            && let Value::Placeholder(name) = &mut value.value
            && name == "?"
        {
            marks += 1;
            *name = format!("?{marks}");
        }
        conversions::put(expr);
        match parameters.literal(expr) {
            Ok(None) => ControlFlow::Continue(()),
            Ok(Some(literal)) => {
                *expr = literal;
                ControlFlow::Continue(())
            }
            Err(error) => ControlFlow::Break(error),
        }
    });
    match bound {
        ControlFlow::Break(error) => Err(error),
        ControlFlow::Continue(()) => Ok(()),
    }
}

struct Lowering<'p> {
    parameters: &'p Parameters,
    /// How many subqueries were named.
    subqueries: usize,
}

impl VisitorMut for Lowering<'_> {
    type Break = Error;

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Error> {
        if let Expr::Subquery(query) | Expr::InSubquery { subquery: query, .. } = expr {
            self.subqueries += 1;
            name_value(query, &format!("subquery_{}", self.subqueries));
        }
        match self.parameters.literal(expr) {
            Ok(None) => ControlFlow::Continue(()),
            Ok(Some(literal)) => {
                *expr = literal;
                ControlFlow::Continue(())
            }
            Err(error) => ControlFlow::Break(error),
        }
    }

    /// A cast to a text type with a length must truncate; DataFusion does not do that.
    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Error> {
        conversions::put(expr);
        if let Expr::Cast { data_type, .. } = expr
            && let Some(length) = taken_length(data_type)
        {
            let text = std::mem::replace(expr, Expr::value(Value::Null));
            *expr = Expr::Substring {
                expr: Box::new(text),
                substring_from: Some(Box::new(number(1))),
                substring_for: Some(Box::new(number(length))),
                special: false,
                shorthand: false,
            };
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<Error> {
        match lower(query) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => ControlFlow::Break(error),
        }
    }
}

fn lower(query: &mut Query) -> Result<()> {
    name_columns(&mut query.body);
    match &mut *query.body {
        SetExpr::Select(select) => match take_top(select)? {
            Some(limit) => add_limits(query, Some(limit), None),
            None => Ok(()),
        },
        body => lower_parts(body),
    }
}

/// A query with only this body.
pub(crate) fn query_of(body: SetExpr) -> Query {
    Query {
        with: None,
        body: Box::new(body),
        order_by: None,
        limit_clause: None,
        fetch: None,
        locks: Vec::new(),
        for_clause: None,
        settings: None,
        format_clause: None,
        pipe_operators: Vec::new(),
    }
}

/// A part of a UNION with a limit becomes a subquery.
fn lower_parts(body: &mut SetExpr) -> Result<()> {
    let SetExpr::SetOperation { left, right, .. } = body else {
        return Ok(());
    };
    for part in [left, right] {
        if let SetExpr::Select(select) = &mut **part
            && let Some(limit) = take_top(select)?
        {
            let mut query = query_of(part.as_ref().clone());
            add_limits(&mut query, Some(limit), None)?;
            **part = SetExpr::Query(Box::new(query));
        } else {
            lower_parts(part)?;
        }
    }
    Ok(())
}

/// Turns `TOP n` into a limit.
fn take_top(select: &mut sqlparser::ast::Select) -> Result<Option<Expr>> {
    let Some(top) = select.top.take() else { return Ok(None) };
    let quantity = match top.quantity {
        Some(TopQuantity::Constant(rows)) => number(rows),
        Some(TopQuantity::Expr(rows)) => rows,
        None => return Err(unsupported("TOP without a number")),
    };
    Ok(Some(match top.percent {
        false => quantity,
        true => top_percent::limit(quantity),
    }))
}

/// Unnamed columns become EXPR, EXPR_1, …, as in ADS.
fn name_columns(body: &mut SetExpr) {
    match body {
        SetExpr::Select(select) => {
            let mut unnamed = 0;
            for item in &mut select.projection {
                let SelectItem::UnnamedExpr(expr) = item else { continue };
                if matches!(expr, Expr::Identifier(_) | Expr::CompoundIdentifier(_)) {
                    continue;
                }
                let name = match unnamed {
                    0 => "EXPR".to_owned(),
                    number => format!("EXPR_{number}"),
                };
                unnamed += 1;
                *item = SelectItem::ExprWithAlias {
                    expr: expr.clone(),
                    alias: Ident::with_quote('"', name),
                };
            }
        }
        SetExpr::SetOperation { left, right, .. } => {
            name_columns(left);
            name_columns(right);
        }
        _ => {}
    }
}

/// Names the column of a subquery that gives a value. The planner names expressions after the columns of their subqueries, and does not tell
/// them apart if these have one name; nor does it tell the alias of `IN (SELECT n AS id …)` from a column `id`.
fn name_value(query: &mut Query, name: &str) {
    let SetExpr::Select(select) = &mut *query.body else {
        return;
    };
    let is_grouped = !matches!(&select.group_by, GroupByExpr::Expressions(keys, _) if keys.is_empty());
    // These may use the alias.
    let is_distinct_on = matches!(select.distinct, Some(Distinct::On(_)));
    if is_grouped || select.having.is_some() || is_distinct_on || query.order_by.is_some() {
        return;
    }
    let [item] = select.projection.as_mut_slice() else {
        return;
    };
    let expr = match item {
        SelectItem::UnnamedExpr(Expr::Identifier(_) | Expr::CompoundIdentifier(_)) => return,
        SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => expr.clone(),
        _ => return,
    };
    *item = SelectItem::ExprWithAlias {
        expr,
        alias: Ident::with_quote('"', name),
    };
}

fn add_limits(query: &mut Query, limit: Option<Expr>, offset: Option<Expr>) -> Result<()> {
    let offset = offset.map(|value| Offset {
        value,
        rows: OffsetRows::None,
    });
    match &mut query.limit_clause {
        None => {
            query.limit_clause = Some(LimitClause::LimitOffset {
                limit,
                offset,
                limit_by: Vec::new(),
            });
        }
        Some(LimitClause::LimitOffset {
            limit: known_limit,
            offset: known_offset,
            ..
        }) => {
            if let Some(limit) = limit {
                known_limit.get_or_insert(limit);
            }
            if let Some(offset) = offset {
                known_offset.get_or_insert(offset);
            }
        }
        Some(LimitClause::OffsetCommaLimit { .. }) => return Err(unsupported("TOP together with LIMIT")),
    }
    Ok(())
}

fn number(number: u64) -> Expr {
    Expr::value(Value::Number(number.to_string(), false))
}

/// Removes and returns the length of a text type.
fn taken_length(data_type: &mut DataType) -> Option<u64> {
    let length = match data_type {
        DataType::Char(length)
        | DataType::Character(length)
        | DataType::Varchar(length)
        | DataType::CharVarying(length)
        | DataType::CharacterVarying(length)
        | DataType::Nvarchar(length) => length.take()?,
        _ => return None,
    };
    match length {
        CharacterLength::IntegerLength { length, .. } => Some(length),
        CharacterLength::Max => None,
    }
}

fn unsupported(what: &str) -> Error {
    SqlError::new(Kind::Unsupported, format!("{what} is not supported")).into()
}
