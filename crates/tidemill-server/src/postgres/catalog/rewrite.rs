//! Rewrites clients' queries of the catalogue to forms that DataFusion can plan.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::{Arc, LazyLock};

use arrow_schema::{DataType, Field, Schema, SchemaRef};
use sqlparser::ast::{
    Array, BinaryOperator, CastKind, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentClause,
    FunctionArgumentList, FunctionArguments, GroupByExpr, Ident, ObjectName, OrderByExpr, OrderByKind, Query, Select,
    SelectItem, SetExpr, Statement, TableFactor, Value, Visitor, VisitorMut,
};
use tidemill_ads::sql::walk;

use super::super::command::plain_name;
use super::{PARSER, arrays, tables};

/// Replaces what DataFusion cannot plan. Options and rights become NULL, since no table here has them. A table is visible if it is in the
/// first folder. Names are matched without regard to case, as in statements: psql writes those of `\d` in lower case.
pub(super) fn rewrite(statement: &mut Statement) {
    let _ = walk::change(statement, &mut Rewriter);
}

/// The names of common table expressions, in lower case.
pub(super) fn common_tables(statement: &Statement) -> HashSet<String> {
    let mut common = CommonTables::default();
    let _ = walk::look_at(statement, &mut common);
    common.0
}

/// The columns of a query over a table without rows, for queries of keys that DataFusion cannot plan.
pub(super) fn columns_of_nothing(statement: &Statement) -> Option<SchemaRef> {
    let asks = walk::relations(statement, &mut |name| {
        let name = plain_name(name).to_lowercase();
        match OF_NOTHING.contains(&name.rsplit('.').next().unwrap_or_default()) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    });
    let Statement::Query(query) = statement else {
        return None;
    };
    if !asks.is_break() {
        return None;
    }
    let names = first_select(&query.body)?.projection.iter().map(|item| match item {
        SelectItem::ExprWithAlias { alias, .. } => alias.value.clone(),
        SelectItem::UnnamedExpr(Expr::CompoundIdentifier(names)) => {
            names.last().map(|name| name.value.clone()).unwrap_or_default()
        }
        SelectItem::UnnamedExpr(Expr::Function(function)) => last_part(&function.name),
        SelectItem::UnnamedExpr(expression) => expression.to_string(),
        other => other.to_string(),
    });
    let fields = names.map(|name| Field::new(name, DataType::Utf8, true));
    Some(Arc::new(Schema::new(fields.collect::<Vec<_>>())))
}

/// The SELECT that names the columns.
fn first_select(body: &SetExpr) -> Option<&Select> {
    match body {
        SetExpr::Select(select) => Some(select),
        SetExpr::Query(query) => first_select(&query.body),
        SetExpr::SetOperation { left, .. } => first_select(left),
        _ => None,
    }
}

/// Tables of the catalogue about properties that no table here has, such as rules, and about keys.
const OF_NOTHING: [&str; 24] = [
    "pg_index",
    "pg_constraint",
    "pg_trigger",
    "pg_policy",
    "pg_rewrite",
    "pg_inherits",
    "pg_statistic_ext",
    "pg_publication",
    "pg_publication_rel",
    "pg_subscription",
    "pg_proc",
    "pg_depend",
    "pg_enum",
    "pg_sequence",
    "pg_partitioned_table",
    "pg_foreign_table",
    "pg_foreign_server",
    "pg_foreign_data_wrapper",
    "pg_user_mapping",
    "pg_user_mappings",
    "pg_event_trigger",
    "pg_default_acl",
    "pg_db_role_setting",
    "pg_largeobject_metadata",
];

/// Columns of rights and options, which nothing here has. Functions take them as lists or as text.
const RIGHTS_AND_OPTIONS: [&str; 24] = [
    "reloptions",
    "relacl",
    "attacl",
    "attoptions",
    "attfdwoptions",
    "nspacl",
    "datacl",
    "typacl",
    "proacl",
    "proconfig",
    "lanacl",
    "spcacl",
    "spcoptions",
    "defaclacl",
    "fdwacl",
    "fdwoptions",
    "srvacl",
    "srvoptions",
    "ftoptions",
    "umoptions",
    "lomacl",
    "setconfig",
    "rolconfig",
    "useconfig",
];

/// Functions that take a list.
const OF_LISTS: [&str; 8] = [
    "array_to_string",
    "array_remove",
    "array_length",
    "array_upper",
    "array_lower",
    "array_contains",
    "array_has",
    "cardinality",
];

/// Functions that return the description of an object by its OID. No object here has one.
const DESCRIPTIONS: [&str; 3] = ["obj_description", "col_description", "shobj_description"];

const AGGREGATES: [&str; 14] = [
    "array_agg",
    "string_agg",
    "json_agg",
    "jsonb_agg",
    "json_object_agg",
    "count",
    "sum",
    "min",
    "max",
    "avg",
    "bool_and",
    "bool_or",
    "every",
    "first_value",
];

struct Rewriter;

/// Keywords for the user; each is replaced by the same function.
const USERS: [&str; 4] = ["current_user", "session_user", "current_role", "user"];

impl VisitorMut for Rewriter {
    type Break = ();

    fn pre_visit_table_factor(&mut self, table: &mut TableFactor) -> ControlFlow<()> {
        // A function without arguments that is served as a table.
        if let TableFactor::Table { name, args, .. } = table
            && args.as_ref().is_some_and(|args| args.args.is_empty())
            && tables::is_added(&last_part(name))
        {
            *args = None;
        }
        // A table is its only partition.
        if let TableFactor::Table {
            name,
            args: Some(args),
            alias,
            ..
        } = table
            && last_part(name) == "pg_partition_ancestors"
            && let [FunctionArg::Unnamed(FunctionArgExpr::Expr(oid))] = args.args.as_slice()
            && let Some(subquery) = parsed(&format!("SELECT CAST({oid} AS INT) AS relid"))
        {
            *table = TableFactor::Derived {
                lateral: false,
                subquery,
                alias: alias.take(),
                sample: None,
            };
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_relation(&mut self, name: &mut ObjectName) -> ControlFlow<()> {
        if name.0.len() == 1 && tables::is_added(&last_part(name)) {
            *name = ObjectName::from(vec![Ident::new("pg_catalog"), Ident::new(last_part(name))]);
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<()> {
        select.projection.iter_mut().for_each(name_table);
        // The replacements have other names, so that they need aliases.
        let mut users = 0;
        for item in &mut select.projection {
            if let SelectItem::UnnamedExpr(expression) = item
                && let Expr::CompoundIdentifier(names) = expression
                && let Some(name) = names.last()
                && (name.value == "tableoid" || RIGHTS_AND_OPTIONS.contains(&name.value.as_str()))
            {
                *item = SelectItem::ExprWithAlias {
                    alias: Ident::new(&name.value),
                    expr: expression.clone(),
                };
            }
            if let SelectItem::UnnamedExpr(expression) = item
                && let Expr::Identifier(_) | Expr::Function(_) = expression
                && let name = expression.to_string().to_lowercase()
                && USERS.contains(&name.as_str())
            {
                let mut expr = call("session_user", Vec::new(), Vec::new());
                if let Expr::Function(function) = &mut expr {
                    // The parser rejects `session_user()`.
                    function.args = FunctionArguments::None;
                }
                users += 1;
                // DataFusion cannot plan two columns of one name.
                let alias = match users {
                    1 => name,
                    more => format!("{name} {more}"),
                };
                *item = SelectItem::ExprWithAlias {
                    alias: Ident::new(alias),
                    expr,
                };
            }
        }
        ControlFlow::Continue(())
    }

    fn post_visit_select(&mut self, select: &mut Select) -> ControlFlow<()> {
        // Two replacements would have the same name.
        for (item, place) in select.projection.iter_mut().zip(1..) {
            if let SelectItem::UnnamedExpr(expression) = item
                && is_no_text(expression)
            {
                *item = SelectItem::ExprWithAlias {
                    alias: Ident::new(format!("?column {place}?")),
                    expr: expression.clone(),
                };
            }
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expression: &mut Expr) -> ControlFlow<()> {
        if let Some(replacement) = arrays::around(expression) {
            *expression = replacement;
        }
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expression: &mut Expr) -> ControlFlow<()> {
        if let Some(replacement) = arrays::within(expression) {
            *expression = replacement;
        }
        let replacement = match expression {
            Expr::BinaryOp { op, .. } if *op == BinaryOperator::PGRegexMatch => {
                *op = BinaryOperator::PGRegexIMatch;
                None
            }
            // The concatenation of options.
            Expr::BinaryOp {
                left,
                op: BinaryOperator::StringConcat,
                right,
            } if [&*left, &*right].iter().any(|side| is_no_text(side)) => Some(null("VARCHAR")),
            Expr::CompoundIdentifier(names) => names.last().and_then(|name| match name.value.as_str() {
                // The OID of the table that a row belongs to.
                "tableoid" => Some(number(0)),
                // A column of PostgreSQL 15; the emulated catalogue has the columns of a later version.
                "colliculocale" => Some(null("VARCHAR")),
                name if RIGHTS_AND_OPTIONS.contains(&name) => Some(null("VARCHAR")),
                _ => None,
            }),
            Expr::Identifier(name) if RIGHTS_AND_OPTIONS.contains(&name.value.as_str()) => Some(null("VARCHAR")),
            Expr::Subquery(query) if is_correlated(query) => {
                if query.with.is_some() {
                    Some(Expr::value(Value::Null))
                } else {
                    aggregate(query);
                    None
                }
            }
            Expr::Cast { expr, data_type, .. } => of_text(expr, data_type),
            Expr::Function(function) => of_function(function),
            _ => None,
        };
        if let Some(replacement) = replacement {
            *expression = replacement;
        }
        ControlFlow::Continue(())
    }
}

/// The name of a type without its schema, in lower case.
fn bare_type(data_type: &sqlparser::ast::DataType) -> String {
    let name = data_type.to_string().to_lowercase();
    name.rsplit('.').next().unwrap_or_default().to_owned()
}

/// Replaces a table's OID by its name, where a query selects the OID as `regclass`.
fn name_table(item: &mut SelectItem) {
    let (SelectItem::UnnamedExpr(expression) | SelectItem::ExprWithAlias { expr: expression, .. }) = &*item else {
        return;
    };
    let Expr::Cast {
        expr: oid, data_type, ..
    } = expression
    else {
        return;
    };
    let column = match &**oid {
        Expr::CompoundIdentifier(names) => names.last(),
        // The joined table has a column `oid` too.
        Expr::Identifier(name) if !name.value.eq_ignore_ascii_case("oid") => Some(name),
        _ => None,
    };
    let Some(column) = column.filter(|_| bare_type(data_type) == "regclass") else {
        return;
    };
    let named = parsed(&format!(
        "SELECT max(CASE WHEN ns.nspname IN ('public', 'pg_catalog') THEN named.relname ELSE ns.nspname || '.' || named.relname END) \
         FROM pg_catalog.pg_class named JOIN pg_catalog.pg_namespace ns ON ns.oid = named.relnamespace WHERE named.oid = {oid}"
    ));
    if let Some(named) = named {
        let alias = match &*item {
            SelectItem::ExprWithAlias { alias, .. } => alias.clone(),
            _ => column.clone(),
        };
        *item = SelectItem::ExprWithAlias {
            expr: Expr::Subquery(named),
            alias,
        };
    }
}

/// The name of the type whose OID is cast: `x::regtype::text`.
fn of_text(inner: &Expr, data_type: &sqlparser::ast::DataType) -> Option<Expr> {
    let Expr::Cast {
        expr: oid,
        data_type: kind,
        ..
    } = inner
    else {
        return None;
    };
    let is_text = matches!(bare_type(data_type).as_str(), "text" | "varchar");
    (is_text && bare_type(kind) == "regtype").then(|| {
        let oid = Expr::Cast {
            kind: CastKind::Cast,
            expr: oid.clone(),
            data_type: sqlparser::ast::DataType::Int(None),
            array: false,
            format: None,
        };
        call("format_type", vec![oid, Expr::value(Value::Null)], Vec::new())
    })
}

fn of_function(function: &mut Function) -> Option<Expr> {
    let name = last_part(&function.name);
    let list = match &mut function.args {
        FunctionArguments::Subquery(_) if name == "array" => return Some(null("VARCHAR")),
        FunctionArguments::List(list) => list,
        _ => return None,
    };
    let first = match list.args.first() {
        Some(FunctionArg::Unnamed(FunctionArgExpr::Expr(first))) => first,
        _ => return None,
    };
    match name.as_str() {
        "pg_table_is_visible" => VISIBLE.clone().map(|subquery| Expr::InSubquery {
            expr: Box::new(first.clone()),
            subquery,
            negated: false,
        }),
        "to_regclass" => named_table(first),
        "pg_partition_ancestors" => Some(Expr::Cast {
            kind: CastKind::Cast,
            expr: Box::new(first.clone()),
            data_type: sqlparser::ast::DataType::Int(None),
            array: false,
            format: None,
        }),
        name if OF_LISTS.contains(&name) && list.args.iter().any(is_null) => Some(null(match name {
            "array_to_string" | "array_remove" => "VARCHAR",
            "array_contains" | "array_has" => "BOOLEAN",
            _ => "INT",
        })),
        // Their arguments may be names that only PostgreSQL's casts resolve.
        name if DESCRIPTIONS.contains(&name) && !list.args.iter().any(has_parameter) => Some(null("VARCHAR")),
        "coalesce" => {
            for argument in &mut list.args {
                if matches!(argument, FunctionArg::Unnamed(FunctionArgExpr::Expr(Expr::Value(value)))
                    if value.value == Value::SingleQuotedString("{}".to_owned()))
                {
                    *argument = FunctionArg::Unnamed(FunctionArgExpr::Expr(Expr::Array(Array {
                        elem: Vec::new(),
                        named: true,
                    })));
                }
            }
            None
        }
        _ => None,
    }
}

fn is_null(argument: &FunctionArg) -> bool {
    matches!(argument, FunctionArg::Unnamed(FunctionArgExpr::Expr(expression)) if is_no_text(expression))
}

/// Whether an expression is the [`null`] that replaces options and rights.
fn is_no_text(expression: &Expr) -> bool {
    // Compared as text: `==` also compares positions in the statement.
    expression.to_string() == null("VARCHAR").to_string()
}

fn has_parameter(argument: &FunctionArg) -> bool {
    let FunctionArg::Unnamed(FunctionArgExpr::Expr(expression)) = argument else {
        return false;
    };
    let found = walk::expressions(expression, &mut |expression| match expression {
        Expr::Value(value) if matches!(value.value, Value::Placeholder(_)) => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    });
    found.is_break()
}

/// The OID of the table that a string names.
fn named_table(name: &Expr) -> Option<Expr> {
    let Expr::Value(value) = name else { return None };
    let Value::SingleQuotedString(name) = &value.value else {
        return None;
    };
    let name = name.replace('"', "").to_lowercase().replace('\'', "''");
    // An aggregate makes the OID nullable for DataFusion; without it, NULL for an unknown table would be an error.
    let query = format!(
        "SELECT max(named.oid) FROM pg_catalog.pg_class named JOIN pg_catalog.pg_namespace ns ON ns.oid = named.relnamespace \
         WHERE ns.nspname || '.' || named.relname = '{name}' \
         OR (named.relname = '{name}' AND ns.nspname IN ('public', 'pg_catalog'))"
    );
    Some(Expr::Subquery(parsed(&query)?))
}

fn parsed(text: &str) -> Option<Box<Query>> {
    match PARSER.parse(text).ok()?.pop()? {
        Statement::Query(query) => Some(query),
        _ => None,
    }
}

/// The OIDs of the tables that may be named without their schema.
static VISIBLE: LazyLock<Option<Box<Query>>> = LazyLock::new(|| {
    parsed(
        "SELECT seen.oid FROM pg_catalog.pg_class seen JOIN pg_catalog.pg_namespace ns ON ns.oid = seen.relnamespace \
         WHERE ns.nspname IN ('public', 'pg_catalog')",
    )
});

fn number(number: i32) -> Expr {
    Expr::value(Value::Number(number.to_string(), false))
}

/// NULL, as a value of a type.
fn null(data_type: &str) -> Expr {
    Expr::Cast {
        kind: CastKind::Cast,
        expr: Box::new(Expr::value(Value::Null)),
        data_type: match data_type {
            "BOOLEAN" => sqlparser::ast::DataType::Boolean,
            "INT" => sqlparser::ast::DataType::Int(None),
            _ => sqlparser::ast::DataType::Varchar(None),
        },
        array: false,
        format: None,
    }
}

/// A call of a function.
pub(in crate::postgres) fn call(name: &str, arguments: Vec<Expr>, order: Vec<OrderByExpr>) -> Expr {
    let arguments = arguments.into_iter().map(FunctionArgExpr::Expr);
    let clauses = match order.is_empty() {
        true => Vec::new(),
        false => vec![FunctionArgumentClause::OrderBy(order)],
    };
    Expr::Function(Function {
        name: ObjectName::from(vec![Ident::new(name)]),
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(FunctionArgumentList {
            duplicate_treatment: None,
            args: arguments.map(FunctionArg::Unnamed).collect(),
            clauses,
        }),
        filter: None,
        null_treatment: None,
        over: None,
        within_group: Vec::new(),
    })
}

/// The last part of a name, in lower case.
pub(super) fn last_part(name: &ObjectName) -> String {
    let name = plain_name(name).to_lowercase();
    name.rsplit('.').next().unwrap_or_default().to_owned()
}

/// Makes a correlated subquery return its first row through an aggregate, as DataFusion requires.
fn aggregate(query: &mut Query) {
    let SetExpr::Select(select) = &mut *query.body else {
        return;
    };
    let is_grouped = match &select.group_by {
        GroupByExpr::All(_) => true,
        GroupByExpr::Expressions(expressions, _) => !expressions.is_empty(),
    };
    let [SelectItem::UnnamedExpr(value) | SelectItem::ExprWithAlias { expr: value, .. }] =
        select.projection.as_mut_slice()
    else {
        return;
    };
    let is_aggregate = walk::expressions(value, &mut |expression| match expression {
        Expr::Function(function) if AGGREGATES.contains(&last_part(&function.name).as_str()) => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    });
    if is_grouped || is_aggregate.is_break() {
        return;
    }
    let order = match query.order_by.take().map(|order| order.kind) {
        Some(OrderByKind::Expressions(order)) => order,
        _ => Vec::new(),
    };
    query.limit_clause = None;
    query.fetch = None;
    *value = call("first_value", vec![value.clone()], order);
}

/// Whether a query refers to tables of an outer query.
fn is_correlated(query: &Query) -> bool {
    let mut names = Names::default();
    let _ = walk::look_at(query, &mut names);
    names.spoken.iter().any(|name| !names.tables.contains(name))
}

/// The tables of a query, and the qualifiers of its columns; in lower case.
#[derive(Default)]
struct Names {
    tables: HashSet<String>,
    spoken: HashSet<String>,
}

impl Visitor for Names {
    type Break = ();

    fn pre_visit_table_factor(&mut self, table: &TableFactor) -> ControlFlow<()> {
        let (name, alias) = match table {
            TableFactor::Table { name, alias, .. } => (Some(last_part(name)), alias),
            TableFactor::Derived { alias, .. }
            | TableFactor::TableFunction { alias, .. }
            | TableFactor::Function { alias, .. }
            | TableFactor::UNNEST { alias, .. }
            | TableFactor::NestedJoin { alias, .. } => (None, alias),
            _ => return ControlFlow::Continue(()),
        };
        let alias = alias.as_ref().map(|alias| alias.name.value.to_lowercase());
        self.tables.extend(alias.or(name));
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expression: &Expr) -> ControlFlow<()> {
        if let Expr::CompoundIdentifier(names) = expression
            && let [.., table, _] = names.as_slice()
        {
            self.spoken.insert(table.value.to_lowercase());
        }
        ControlFlow::Continue(())
    }
}

#[derive(Default)]
struct CommonTables(HashSet<String>);

impl Visitor for CommonTables {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        let tables = query.with.iter().flat_map(|with| &with.cte_tables);
        self.0.extend(tables.map(|table| table.alias.name.value.to_lowercase()));
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The statement after the rewriting.
    fn rewritten(text: &str) -> String {
        let mut statements = PARSER.parse(text).expect(text);
        let mut statement = statements.pop().expect("a statement");
        rewrite(&mut statement);
        statement.to_string()
    }

    #[test]
    fn what_is_not_planned_is_put_in_other_words() {
        for (text, expected) in [
            (
                "SELECT array_to_string(n.nspacl, ',') AS rights FROM pg_namespace n",
                "SELECT CAST(NULL AS VARCHAR) AS rights FROM pg_catalog.pg_namespace n",
            ),
            (
                "SELECT c.relacl, c.tableoid FROM pg_class c",
                "SELECT CAST(NULL AS VARCHAR) AS relacl, 0 AS tableoid FROM pg_catalog.pg_class c",
            ),
            (
                "SELECT t.oid FROM pg_type t WHERE (SELECT c.relkind = 'c' FROM pg_class c WHERE c.oid = t.typrelid)",
                "SELECT t.oid FROM pg_catalog.pg_type t WHERE (SELECT first_value(c.relkind = 'c') FROM pg_catalog.pg_class c WHERE c.oid = t.typrelid)",
            ),
            (
                "SELECT t.oid FROM pg_type t WHERE t.oid = (SELECT max(c.oid) FROM pg_class c WHERE c.oid = t.typrelid)",
                "SELECT t.oid FROM pg_catalog.pg_type t WHERE t.oid = (SELECT max(c.oid) FROM pg_catalog.pg_class c WHERE c.oid = t.typrelid)",
            ),
            (
                "SELECT t.typelem::regtype::text AS e FROM pg_type t",
                "SELECT format_type(CAST(t.typelem AS INT), NULL) AS e FROM pg_catalog.pg_type t",
            ),
            (
                "SELECT name FROM pg_catalog.pg_timezone_names()",
                "SELECT name FROM pg_catalog.pg_timezone_names",
            ),
            (
                "SELECT i.indexname FROM pg_indexes i",
                "SELECT i.indexname FROM pg_catalog.pg_indexes i",
            ),
            (
                "SELECT col_description(c.oid, 1) AS d FROM pg_class c",
                "SELECT CAST(NULL AS VARCHAR) AS d FROM pg_catalog.pg_class c",
            ),
        ] {
            assert_eq!(rewritten(text), expected, "{text}");
        }
    }

    #[test]
    fn names_of_with_clauses_are_found_at_any_depth() {
        let text = "WITH a AS (SELECT 1) SELECT (WITH RECURSIVE B(n) AS (SELECT 1) SELECT n FROM B) FROM a";
        let statement = PARSER.parse(text).expect(text).pop().expect("a statement");
        let mut names: Vec<String> = common_tables(&statement).into_iter().collect();
        names.sort();
        assert_eq!(names, ["a", "b"]);
    }
}
