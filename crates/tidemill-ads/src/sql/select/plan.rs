//! A query, bound to the columns of its table.

use std::sync::Arc;

use sqlparser::ast::{
    self, Distinct, GroupByExpr, LimitClause, OrderByKind, SelectItem, SelectItemQualifiedWildcardKind, SetExpr,
    TableFactor, TopQuantity,
};

use super::point::Point;
use super::row_numbers;
use super::{Compiled, Query, columns_of, one_row};
use crate::sql::answer::Rows;
use crate::sql::bind::{Grouping, Parameters, Scope, searched_columns};
use crate::sql::error::{Error, Kind, Result};
use crate::sql::expression::{Column, Expr};
use crate::sql::frames;
use crate::sql::listing::Listing;
use crate::sql::procedure;
use crate::sql::sort::descends;
use crate::sql::statement::{Place, Select, TableName};
use crate::sql::system;
use crate::sql::tables::{Structure, Tables};
use crate::sql::value::{Type, Value};
use crate::sql::views;

/// A bound query over one table.
#[derive(Debug)]
pub(in crate::sql) struct Plan {
    pub(in crate::sql) source: Source,
    pub(in crate::sql) columns: Vec<Column>,
    pub(in crate::sql) items: Vec<Item>,
    pub(in crate::sql) selection: Option<Expr>,
    pub(in crate::sql) grouping: Option<Grouping>,
    pub(in crate::sql) having: Option<Expr>,
    pub(in crate::sql) is_distinct: bool,
    /// Expressions and whether they descend.
    pub(in crate::sql) order: Vec<(Expr, bool)>,
    pub(in crate::sql) top: Option<Top>,
    pub(in crate::sql) offset: Option<Expr>,
    pub(in crate::sql) is_static: bool,
    pub(in crate::sql) compiled: Compiled,
    /// The names of the columns that a live cursor would show, and their fields; `None` where the answer cannot be one, whatever the table
    /// is.
    pub(in crate::sql) live_columns: Option<Arc<[(String, usize)]>>,
    /// What it is as a look-up.
    pub(in crate::sql) point: Option<Point>,
}

/// Where rows come from.
#[derive(Debug)]
pub(in crate::sql) enum Source {
    Table(TableName, Structure),
    /// A table of `system`.
    System(String),
    /// A query in parentheses.
    Query(Box<Query>),
    /// What a view shows, whose rights count for its tables.
    View(Box<Query>),
    /// What a procedure gives.
    Procedure(String, Vec<Expr>),
    Rows(Rows),
}

/// A column of the answer.
#[derive(Debug)]
pub(in crate::sql) struct Item {
    pub(in crate::sql) name: String,
    pub(in crate::sql) expr: Expr,
    /// The field that it shows as it is.
    pub(in crate::sql) field: Option<usize>,
}

/// How many rows are shown.
#[derive(Debug)]
pub(in crate::sql) enum Top {
    Rows(Expr),
    Percent(Expr),
}

/// What stands around a SELECT: ORDER BY and LIMIT of the whole query.
#[derive(Debug, Default)]
pub(in crate::sql) struct Frame<'q> {
    pub(in crate::sql) order: Option<&'q ast::OrderBy>,
    pub(in crate::sql) limit: Option<&'q LimitClause>,
    pub(in crate::sql) fetch: Option<&'q ast::Fetch>,
    pub(in crate::sql) is_static: bool,
    pub(in crate::sql) start_at: Option<u64>,
}

impl Plan {
    /// Binds one SELECT.
    ///
    /// # Errors
    /// [`Kind::NeedsAnalytical`] for joins, subqueries and windows, [`Kind::NoTable`], and as [`Scope::bind`].
    pub(in crate::sql) fn bind(
        select: &ast::Select,
        around: &Frame<'_>,
        tables: &mut dyn Tables,
        parameters: &mut Parameters,
    ) -> Result<Self> {
        let (source, columns, qualifiers) = source(select, tables, parameters)?;
        let searched = match &source {
            Source::Table(name, _) => searched_columns(select, name, tables)?,
            _ => Vec::new(),
        };
        let mut scope = Scope::new(&columns, qualifiers, parameters);
        scope.searched = searched;
        let selection = select.selection.as_ref().map(|selection| {
            let bound = scope.bind(selection)?;
            scope.condition(bound)
        });
        let selection = selection.transpose()?;
        let keys = match &select.group_by {
            GroupByExpr::Expressions(keys, _) => keys.as_slice(),
            GroupByExpr::All(_) => &[],
        };
        let is_grouped = !keys.is_empty() || select.having.is_some() || has_aggregates(&select.projection);
        if is_grouped {
            let keys = keys.iter().map(|key| {
                // A number or a name of the list stands for what it names there.
                let item = named_item(key, &select.projection).unwrap_or(key);
                let key = scope.bind(item)?;
                Ok(scope.sort_key(key))
            });
            scope.grouping = Some(Grouping {
                keys: keys.collect::<Result<Vec<_>>>()?,
                aggregates: Vec::new(),
            });
        }
        let mut items = Vec::new();
        for item in &select.projection {
            bind_item(item, &mut scope, &mut items)?;
        }
        let having = select.having.as_ref().map(|having| {
            let bound = scope.bind(having)?;
            scope.condition(bound)
        });
        let having = having.transpose()?;
        let mut order = Vec::new();
        if let Some(by) = around.order {
            let OrderByKind::Expressions(terms) = &by.kind else {
                return Err(Error::new(Kind::Unsupported, "ORDER BY ALL is not ADS SQL"));
            };
            for term in terms {
                let expr = match order_item(&term.expr, &items)? {
                    Some(item) => item,
                    None => scope.bind(&term.expr)?,
                };
                order.push((scope.sort_key(expr), descends(term)?));
            }
        }
        let (mut top, offset) = limits(select, around, &mut scope)?;
        row_numbers::refuse(&items, having.iter().chain(order.iter().map(|(key, _)| key)))?;
        let (selection, taken) = row_numbers::taken(selection)?;
        if let Some(taken) = taken {
            let is_plain = top.is_none() && offset.is_none() && order.is_empty() && scope.grouping.is_none();
            if !is_plain || select.distinct.is_some() {
                let why = "ROWNUM() in a condition is for rows as they are found: with ORDER BY, groups, DISTINCT and LIMIT, use TOP";
                return Err(Error::new(Kind::Unsupported, why));
            }
            top = Some(taken);
        }
        let grouping = scope.grouping.take();
        number_names(&mut items);
        let mut plan = Self {
            source,
            columns,
            items,
            selection,
            grouping,
            having,
            is_distinct: matches!(select.distinct, Some(Distinct::Distinct)),
            order,
            top,
            offset,
            is_static: around.is_static,
            compiled: Compiled::default(),
            live_columns: None,
            point: None,
        };
        plan.distinct_as_groups()?;
        plan.point = Point::of(&plan);
        plan.live_columns = plan.own_columns();
        Ok(plan)
    }

    /// Without groups, the distinct rows are the groups of all items.
    fn distinct_as_groups(&mut self) -> Result<()> {
        if !self.is_distinct {
            return Ok(());
        }
        let mut order = Vec::new();
        for (expr, descending) in &self.order {
            let (expr, is_small) = match expr {
                Expr::Small(expr) => (&**expr, true),
                expr => (expr, false),
            };
            let Some(place) = self.items.iter().position(|item| item.expr == *expr) else {
                let why = "What DISTINCT rows are ordered by stands in the list";
                return Err(Error::new(Kind::Grouping, why));
            };
            order.push((place, is_small, *descending));
        }
        if self.grouping.is_some() {
            return Ok(());
        }
        let keys = self
            .items
            .iter()
            .map(|item| match item.expr.coercion(&self.columns).ignores_case() {
                true => Expr::Small(Box::new(item.expr.clone())),
                false => item.expr.clone(),
            });
        let mut grouping = Grouping {
            keys: keys.collect(),
            aggregates: Vec::new(),
        };
        for item in &mut self.items {
            if let Some(shown) = grouping.shown(&item.expr) {
                item.expr = shown;
            }
        }
        let order = order.into_iter().filter_map(|(place, is_small, descending)| {
            let shown = self.items.get(place)?.expr.clone();
            let key = if is_small { Expr::Small(Box::new(shown)) } else { shown };
            Some((key, descending))
        });
        (self.order, self.is_distinct) = (order.collect(), false);
        self.grouping = Some(grouping);
        Ok(())
    }
}

/// The one table of a query, its columns, and the names that it has before the point of a column.
fn source(
    select: &ast::Select,
    tables: &mut dyn Tables,
    parameters: &mut Parameters,
) -> Result<(Source, Vec<Column>, Vec<String>)> {
    let table = match select.from.as_slice() {
        [] => return Ok((Source::Rows(one_row()), Vec::new(), Vec::new())),
        [only] if only.joins.is_empty() => &only.relation,
        _ => return Err(Error::needs_analytical("A join")),
    };
    if let TableFactor::Table { alias: Some(alias), .. } | TableFactor::Derived { alias: Some(alias), .. } = table
        && !alias.columns.is_empty()
    {
        return Err(Error::needs_analytical("A table whose columns get other names"));
    }
    match table {
        TableFactor::Table {
            name,
            alias,
            args: Some(arguments),
            ..
        } => procedure(&table_name(name), alias.as_ref(), arguments, tables, parameters),
        TableFactor::Table {
            name,
            alias,
            args: None,
            ..
        } => {
            let name = table_name(name);
            let mut qualifiers = vec![name.to_string(), name.last().to_owned(), stem(&name)];
            if let Some(alias) = alias {
                qualifiers = vec![alias.name.value.clone()];
            }
            if let Some(system) = name.system() {
                let mut columns = columns_of(&system_rows(&system, tables).map_err(|e| e.at(name.location.0))?);
                columns_of_system(&mut columns);
                return Ok((Source::System(system), columns, qualifiers));
            }
            if let Some(view) = tables.view(&name).map_err(|e| e.at(name.location.0))? {
                tables.lend_rights(true);
                let query = views::within(&name, || Query::bind(&view, tables, parameters));
                tables.lend_rights(false);
                let query = query?;
                let columns = query.columns();
                return Ok((Source::View(Box::new(query)), columns, qualifiers));
            }
            let snapshot = tables
                .snapshot_without_orders(&name)
                .map_err(|e| e.at(name.location.0))?;
            let columns = frames::columns(&snapshot);
            Ok((Source::Table(name, snapshot.structure()), columns, qualifiers))
        }
        TableFactor::Derived {
            subquery,
            alias,
            lateral: false,
            ..
        } => {
            let view = Select {
                query: subquery.clone(),
                is_static: true,
                start_at: None,
            };
            let query = Query::bind(&view, tables, parameters)?;
            let columns = query.columns();
            let qualifiers = alias.iter().map(|alias| alias.name.value.clone()).collect();
            Ok((Source::Query(Box::new(query)), columns, qualifiers))
        }
        TableFactor::NestedJoin { .. } => Err(Error::needs_analytical("A join")),
        _ => Err(Error::new(Kind::Unsupported, "ADS SQL has no table like this")),
    }
}

/// No rows, of the columns that a procedure gives.
///
/// # Errors
/// [`Kind::NoFunction`] for one that there is not or that gives no rows.
pub(in crate::sql) fn procedure_shape(name: &TableName, tables: &mut dyn Tables) -> Result<Rows> {
    let at = |error: Error| error.at(name.location.0);
    let shape = match procedure::output_of(name.last()) {
        Some(definition) => Some(Listing::new(definition).finish()?),
        None => tables.procedure_shape(name.last()).map_err(at)?,
    };
    shape.ok_or_else(|| {
        let why = format!("Procedure not found, or it gives no rows: {name}");
        at(Error::new(Kind::NoFunction, why))
    })
}

/// What a procedure gives, as a table.
fn procedure(
    name: &TableName,
    alias: Option<&ast::TableAlias>,
    arguments: &ast::TableFunctionArgs,
    tables: &mut dyn Tables,
    parameters: &mut Parameters,
) -> Result<(Source, Vec<Column>, Vec<String>)> {
    let columns = columns_of(&procedure_shape(name, tables)?);
    let argument = |argument: &ast::FunctionArg| match argument {
        ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(expr)) => {
            Scope::new(&[], Vec::new(), parameters).bind(expr)
        }
        _ => Err(Error::new(Kind::NoFunction, format!("Invalid argument of {name}"))),
    };
    let arguments = arguments.args.iter().map(argument).collect::<Result<Vec<_>>>()?;
    let qualifier = alias.map_or_else(|| name.last().to_owned(), |alias| alias.name.value.clone());
    Ok((
        Source::Procedure(name.last().to_owned(), arguments),
        columns,
        vec![qualifier],
    ))
}

/// All texts of the tables of `system` ignore case.
pub(in crate::sql) fn columns_of_system(columns: &mut [Column]) {
    for column in columns {
        column.ignores_case |= matches!(column.type_of, Type::Text(_));
    }
}

/// The rows of a table of `system`.
///
/// # Errors
/// [`Kind::NoTable`] for a name that there is not.
pub(in crate::sql) fn system_rows(name: &str, tables: &mut dyn Tables) -> Result<Rows> {
    if let Some(rows) = tables.system(name)? {
        return Ok(rows);
    }
    match system::rows(name, tables)? {
        Some(rows) => Ok(rows),
        None => Err(Error::new(
            Kind::NoTable,
            format!("The specified table was not found. Table name: system.{name}"),
        )),
    }
}

pub(in crate::sql) fn table_name(name: &ast::ObjectName) -> TableName {
    use sqlparser::ast::Spanned as _;
    TableName {
        parts: name
            .0
            .iter()
            .map(|part| {
                part.as_ident()
                    .map_or_else(|| part.to_string(), |ident| ident.value.clone())
            })
            .collect(),
        location: Place(name.span().start),
    }
}

/// The name of a table without folder and extension, for which columns are qualified when there is no alias.
fn stem(name: &TableName) -> String {
    let whole = name.to_string();
    let file = whole.rsplit(['/', '\\']).next().unwrap_or(&whole);
    file.split('.').next().unwrap_or(file).to_owned()
}

fn bind_item(item: &SelectItem, scope: &mut Scope<'_>, items: &mut Vec<Item>) -> Result<()> {
    let all = |items: &mut Vec<Item>, scope: &mut Scope<'_>| -> Result<()> {
        for (index, column) in scope.columns.iter().enumerate() {
            let expr = match &mut scope.grouping {
                None => Expr::Column(index),
                Some(grouping) => match grouping.shown(&Expr::Column(index)) {
                    Some(shown) => shown,
                    None => {
                        let why = format!("Column {} is not grouped by", column.name);
                        return Err(Error::new(Kind::Grouping, why));
                    }
                },
            };
            items.push(Item {
                name: column.name.clone(),
                expr,
                field: Some(index),
            });
        }
        Ok(())
    };
    let (expr, alias) = match item {
        SelectItem::Wildcard(_) => return all(items, scope),
        SelectItem::QualifiedWildcard(kind, _) => {
            let qualifier = match kind {
                SelectItemQualifiedWildcardKind::ObjectName(name) => table_name(name).to_string(),
                SelectItemQualifiedWildcardKind::Expr(expr) => expr.to_string(),
            };
            return match scope
                .qualifiers
                .iter()
                .any(|known| known.eq_ignore_ascii_case(&qualifier))
            {
                true => all(items, scope),
                false => Err(Error::new(
                    Kind::NoColumn,
                    format!("Table not found in the query: {qualifier}"),
                )),
            };
        }
        SelectItem::UnnamedExpr(expr) => (expr, None),
        SelectItem::ExprWithAlias { expr, alias } => (expr, Some(alias.value.clone())),
        SelectItem::ExprWithAliases { .. } => {
            return Err(Error::new(Kind::Unsupported, "A column has one name"));
        }
    };
    let bound = scope.bind(expr)?;
    let field = match (&bound, &scope.grouping) {
        (Expr::Column(index), None) => Some(*index),
        (Expr::Column(index), Some(grouping)) => match grouping.shows(*index) {
            Some(Expr::Column(field)) => Some(*field),
            _ => None,
        },
        _ => None,
    };
    let own_name = field
        .and_then(|field| scope.columns.get(field))
        .map(|column| column.name.clone());
    items.push(Item {
        name: alias.or(own_name).unwrap_or_default(),
        expr: bound,
        field,
    });
    Ok(())
}

/// Columns without a name are EXPR, EXPR_1, …
fn number_names(items: &mut [Item]) {
    let unnamed = items.iter_mut().filter(|item| item.name.is_empty());
    for (number, item) in unnamed.enumerate() {
        item.name = match number {
            0 => "EXPR".to_owned(),
            number => format!("EXPR_{number}"),
        };
    }
}

/// The item of the list that ORDER BY means by a number or by a name that was given there.
fn order_item(term: &ast::Expr, items: &[Item]) -> Result<Option<Expr>> {
    match term {
        ast::Expr::Value(value) => match &value.value {
            ast::Value::Number(digits, _) => {
                let place = digits.parse::<usize>().ok().and_then(|place| place.checked_sub(1));
                match place.and_then(|place| items.get(place)) {
                    Some(item) => Ok(Some(item.expr.clone())),
                    None => Err(Error::new(
                        Kind::Value,
                        format!("ORDER BY {digits}: there are {} columns", items.len()),
                    )),
                }
            }
            _ => Ok(None),
        },
        ast::Expr::Identifier(ident) => {
            let item = items.iter().find(|item| item.name.eq_ignore_ascii_case(&ident.value));
            Ok(item.map(|item| item.expr.clone()))
        }
        _ => Ok(None),
    }
}

/// The item of the list that GROUP BY means by a name that was given there, or by its number.
fn named_item<'q>(key: &ast::Expr, projection: &'q [SelectItem]) -> Option<&'q ast::Expr> {
    match key {
        ast::Expr::Identifier(ident) => projection.iter().find_map(|item| match item {
            SelectItem::ExprWithAlias { expr, alias } if alias.value.eq_ignore_ascii_case(&ident.value) => Some(expr),
            _ => None,
        }),
        ast::Expr::Value(value) => match &value.value {
            ast::Value::Number(digits, _) => match projection.get(digits.parse::<usize>().ok()?.checked_sub(1)?)? {
                SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => Some(expr),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    }
}

fn limits(select: &ast::Select, around: &Frame<'_>, scope: &mut Scope<'_>) -> Result<(Option<Top>, Option<Expr>)> {
    let grouping = scope.grouping.take();
    let bound = limits_alone(select, around, scope);
    scope.grouping = grouping;
    bound
}

fn limits_alone(
    select: &ast::Select,
    around: &Frame<'_>,
    scope: &mut Scope<'_>,
) -> Result<(Option<Top>, Option<Expr>)> {
    let (mut top, mut offset) = (None, None);
    if let Some(written) = &select.top {
        let count = match &written.quantity {
            Some(TopQuantity::Constant(count)) => {
                Expr::Value(Value::Integer(i64::try_from(*count).unwrap_or(i64::MAX)))
            }
            Some(TopQuantity::Expr(expr)) => scope.bind(expr)?,
            None => return Err(Error::new(Kind::Syntax, "Expected a number after TOP")),
        };
        top = Some(if written.percent {
            Top::Percent(count)
        } else {
            Top::Rows(count)
        });
    }
    match around.limit {
        None => {}
        Some(LimitClause::LimitOffset {
            limit, offset: skip, ..
        }) => {
            if let Some(limit) = limit {
                top = Some(Top::Rows(scope.bind(limit)?));
            }
            if let Some(skip) = skip {
                offset = Some(scope.bind(&skip.value)?);
            }
        }
        Some(LimitClause::OffsetCommaLimit { offset: skip, limit }) => {
            top = Some(Top::Rows(scope.bind(limit)?));
            offset = Some(scope.bind(skip)?);
        }
    }
    if let Some(quantity) = around.fetch.and_then(|fetch| fetch.quantity.as_ref()) {
        top = Some(Top::Rows(scope.bind(quantity)?));
    }
    if let Some(row) = around.start_at {
        let skipped = i64::try_from(row.saturating_sub(1)).unwrap_or(i64::MAX);
        offset = Some(Expr::Value(Value::Integer(skipped)));
    }
    Ok((top, offset))
}

fn has_aggregates(projection: &[SelectItem]) -> bool {
    projection.iter().any(|item| match item {
        SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => is_aggregate(expr),
        _ => false,
    })
}

/// Whether an aggregate stands in an expression; over a window it is none. Subqueries are not looked into.
fn is_aggregate(expr: &ast::Expr) -> bool {
    use ast::Expr as E;
    match expr {
        E::Function(function) => {
            let is_one = match function.name.0.as_slice() {
                [part] => part.as_ident().is_some_and(|ident| {
                    crate::sql::group::AggregateKind::of(&ident.value.to_ascii_uppercase()).is_some()
                }),
                _ => false,
            };
            (is_one && function.over.is_none())
                || match &function.args {
                    ast::FunctionArguments::List(list) => list.args.iter().any(|argument| match argument {
                        ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(expr)) => is_aggregate(expr),
                        _ => false,
                    }),
                    _ => false,
                }
        }
        E::Nested(a) | E::UnaryOp { expr: a, .. } | E::IsNull(a) | E::IsNotNull(a) | E::Collate { expr: a, .. } => {
            is_aggregate(a)
        }
        E::Cast { expr, .. } | E::Convert { expr, .. } | E::Extract { expr, .. } => is_aggregate(expr),
        E::Ceil { expr, .. } | E::Floor { expr, .. } | E::Trim { expr, .. } | E::Substring { expr, .. } => {
            is_aggregate(expr)
        }
        E::BinaryOp { left, right, .. } => is_aggregate(left) || is_aggregate(right),
        E::Between { expr, low, high, .. } => is_aggregate(expr) || is_aggregate(low) || is_aggregate(high),
        E::InList { expr, list, .. } => is_aggregate(expr) || list.iter().any(is_aggregate),
        E::Like { expr, pattern, .. } => is_aggregate(expr) || is_aggregate(pattern),
        E::Case {
            operand,
            conditions,
            else_result,
            ..
        } => {
            operand.as_deref().is_some_and(is_aggregate)
                || else_result.as_deref().is_some_and(is_aggregate)
                || conditions
                    .iter()
                    .any(|branch| is_aggregate(&branch.condition) || is_aggregate(&branch.result))
        }
        _ => false,
    }
}

/// The SELECT that a query is, where it is one.
pub(in crate::sql) fn only_select(body: &SetExpr) -> Option<&ast::Select> {
    match body {
        SetExpr::Select(select) => Some(select),
        SetExpr::Query(query) => only_select(&query.body),
        _ => None,
    }
}
