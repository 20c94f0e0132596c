//! Binds the names in a statement to tables and columns, without regard to case.
//!
//! xBase names are upper case, but users write them in any case; CSV and Parquet files have names in any case. So a statement is bound
//! before it is planned: each table name becomes the name under which the table is registered, and each column name gets the spelling of
//! its column or alias, innermost query first. The planner then compares names exactly, and the answer's columns have the spelling of the
//! table.
//!
//! A table of an inner query gets a name that no enclosing query uses: in `FROM emp WHERE pay >= ALL (SELECT pay FROM emp)`, both names are
//! of the same table. The planner identifies outer columns within the inner query by their tables' names, and would confuse the two.
//!
//! Unknown names are not reported here: the planner does, and lists the known ones.

mod merged_columns;
mod named;
mod repeated;
mod series;
mod size;

use std::collections::HashMap;
use std::ops::ControlFlow;

use sqlparser::ast::{
    ExcludeSelectItem, Expr, Ident, JoinConstraint, JoinOperator, ObjectName, ObjectNamePart, Query, Select,
    SelectItem, SelectItemQualifiedWildcardKind, SetExpr, Statement, TableAlias, TableFactor, TableWithJoins,
    VisitorMut, WildcardAdditionalOptions,
};
use tidemill_ads::sql::{Type, join_constraint_mut, walk};

use crate::{Error, Result};

/// A table of a statement, as registered with the planner.
#[derive(Clone, Debug)]
pub(crate) struct Bound {
    /// The name under which the table is registered.
    pub(crate) registered: String,
    /// The qualifier of its columns if the statement gives no alias.
    pub(crate) alias: String,
    /// Its columns, in the table's spelling.
    pub(crate) columns: Vec<String>,
    /// Their types, if ADS SQL has them.
    pub(crate) types: Vec<Option<Type>>,
    /// Whether it is an xBase table.
    pub(crate) is_xbase: bool,
}

pub(crate) use named::{names_several, procedure, relations};
pub(crate) use repeated::Renamed;

/// Binds every name in the statement. The keys of `tables` have the spelling of [`relations`]. Duplicate columns get unique names, which
/// are returned.
///
/// # Errors
///
/// [`Error::Parse`] if a column name matches columns of different tables with different spellings; [`Error::Ads`] if WITH queries multiply
/// the tables too much.
pub(crate) fn bind(statement: &mut Statement, tables: &HashMap<String, Bound>) -> Result<Vec<Renamed>> {
    size::limit(statement)?;
    series::name_columns(statement);
    merged_columns::put(statement, tables).map_err(|message| Error::Parse { message })?;
    let mut binder = Binder {
        tables,
        with_queries: WithQueries::default(),
        scopes: Vec::new(),
    };
    let renamed = repeated::name_apart(statement, &binder);
    walk::change(statement, &mut binder).map_err(|message| Error::Parse { message })?;
    Ok(renamed)
}

/// The names that are visible at one point of a statement.
#[derive(Default)]
struct Scope {
    relations: Vec<Relation>,
    /// The output names of the SELECT list.
    outputs: Vec<String>,
    /// In ORDER BY output names precede columns; elsewhere they follow.
    outputs_first: bool,
}

struct Relation {
    /// Its unique name in this query.
    alias: String,
    /// Its name in the statement.
    given: String,
    /// The table's name as the statement spells it.
    written: String,
    columns: Vec<String>,
}

/// A WITH query and the names of its columns.
type WithQuery = (String, Vec<String>);

/// The visible WITH queries. Each becomes visible after its own definition, within which its name refers to a table or an outer WITH query.
struct WithQueries<Q> {
    queries: Vec<Q>,
    levels: Vec<Level<Q>>,
}

/// A query being visited.
struct Level<Q> {
    /// The number of WITH queries of enclosing queries.
    outer: usize,
    /// Its own WITH queries that are not visited yet, in reverse order.
    waiting: Vec<Q>,
}

impl<Q> Default for WithQueries<Q> {
    fn default() -> Self {
        Self {
            queries: Vec::new(),
            levels: Vec::new(),
        }
    }
}

impl<Q> WithQueries<Q> {
    fn enter(&mut self, query: &Query, own: Vec<Q>) {
        let mut level = Level {
            outer: self.queries.len(),
            waiting: Vec::new(),
        };
        if query.with.as_ref().is_some_and(|with| with.recursive) {
            self.queries.extend(own);
        } else {
            level.waiting = own.into_iter().rev().collect();
        }
        self.levels.push(level);
    }

    /// Leaves a query. If it was the definition of a WITH query, that is visible from now on, and is returned.
    fn leave(&mut self) -> Option<&mut Q> {
        let outer = self.levels.pop().map_or(0, |level| level.outer);
        self.queries.truncate(outer);
        // The WITH queries of a query are visited before its body.
        let known = self.levels.last_mut()?.waiting.pop()?;
        self.queries.push(known);
        self.queries.last_mut()
    }
}

struct Binder<'a> {
    tables: &'a HashMap<String, Bound>,
    with_queries: WithQueries<WithQuery>,
    scopes: Vec<Scope>,
}

impl Binder<'_> {
    fn column(&self, name: &str) -> Result<Option<String>, String> {
        for scope in self.scopes.iter().rev() {
            if let Some(found) = scope.column(name)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// The alias and the column for a qualified name.
    fn qualified(&self, qualifier: &str, name: &str) -> Option<(String, String)> {
        // An outer table with exactly this name precedes an inner table of this file that has another alias.
        let mut inwards = self.scopes.iter().rev();
        let named = inwards.find_map(|scope| scope.named(qualifier));
        let relation = named.or_else(|| self.scopes.iter().rev().find_map(|scope| scope.relation(qualifier)))?;
        let column = same_but_for_case(&relation.columns, name).unwrap_or(name);
        Some((relation.alias.clone(), column.to_owned()))
    }

    fn relations_of(&self, from: &[TableWithJoins], with_queries: &[WithQuery]) -> Vec<Relation> {
        let mut relations = Vec::new();
        for table in from {
            self.add_relations(table, with_queries, &mut relations);
        }
        relations
    }

    /// Gives the tables of a query names that are unique within the first `outer` scopes.
    fn name_apart(&self, relations: &mut [Relation], outer: usize) {
        for relation in relations {
            relation.alias = self.name_within(outer, &relation.alias);
        }
    }

    /// The name, with a number if a table of the first `outer` scopes or a column of another table has it. In an inner query, `people.id`
    /// would otherwise mean a field of a column `people`.
    fn name_within(&self, outer: usize, name: &str) -> String {
        let outer = self.scopes.get(..outer).unwrap_or_default();
        let is_column = |name: &str| {
            let mut others = self
                .tables
                .values()
                .filter(|table| !table.alias.eq_ignore_ascii_case(name));
            others.any(|table| table.columns.iter().any(|column| column.eq_ignore_ascii_case(name)))
        };
        let is_taken = |name: &str| {
            let mut relations = outer.iter().flat_map(|scope| &scope.relations);
            relations.any(|relation| relation.alias.eq_ignore_ascii_case(name)) || is_column(name)
        };
        let mut apart = name.to_owned();
        let mut number = 2;
        while is_taken(&apart) {
            apart = format!("{name}:{number}");
            number += 1;
        }
        apart
    }

    fn add_relations(&self, table: &TableWithJoins, with_queries: &[WithQuery], relations: &mut Vec<Relation>) {
        let factors = std::iter::once(&table.relation).chain(table.joins.iter().map(|join| &join.relation));
        for factor in factors {
            match factor {
                TableFactor::Table {
                    name,
                    alias,
                    args: None,
                    ..
                } => {
                    let written = text(name);
                    let (default_alias, columns) = match with_query(with_queries, &written) {
                        Some((spelled, columns)) => (spelled.clone(), columns.clone()),
                        None => match self.tables.get(&written) {
                            Some(bound) => (bound.alias.clone(), bound.columns.clone()),
                            None => continue,
                        },
                    };
                    relations.push(Relation::new(written, default_alias, alias.as_ref(), columns));
                }
                // A table function of the engine: `generate_series`, `range`.
                TableFactor::Table {
                    name,
                    alias,
                    args: Some(_),
                    ..
                } => {
                    let columns = vec![series::VALUE.to_owned()];
                    relations.push(Relation::new(text(name), text(name), alias.as_ref(), columns));
                }
                TableFactor::Derived {
                    subquery,
                    alias: Some(alias),
                    ..
                } => {
                    let columns = self.outputs_of(subquery, with_queries);
                    relations.push(Relation::new(
                        alias.name.value.clone(),
                        String::new(),
                        Some(alias),
                        columns,
                    ));
                }
                TableFactor::NestedJoin { table_with_joins, .. } => {
                    self.add_relations(table_with_joins, with_queries, relations);
                }
                _ => {}
            }
        }
    }

    /// The names of a query's columns, as far as it names them.
    fn outputs_of(&self, query: &Query, with_queries: &[WithQuery]) -> Vec<String> {
        let mut visible = with_queries.to_vec();
        self.add_with_queries(query, &mut visible);
        self.outputs_of_body(&query.body, &visible)
    }

    fn outputs_of_body(&self, body: &SetExpr, with_queries: &[WithQuery]) -> Vec<String> {
        match body {
            SetExpr::Select(select) => {
                let scope = Scope {
                    relations: self.relations_of(&select.from, with_queries),
                    outputs: Vec::new(),
                    outputs_first: false,
                };
                select
                    .projection
                    .iter()
                    .flat_map(|item| scope.outputs_of_item(item))
                    .collect()
            }
            SetExpr::SetOperation { left, .. } => self.outputs_of_body(left, with_queries),
            SetExpr::Query(query) => self.outputs_of(query, with_queries),
            _ => Vec::new(),
        }
    }

    fn add_with_queries(&self, query: &Query, visible: &mut Vec<WithQuery>) {
        for cte in query.with.iter().flat_map(|with| &with.cte_tables) {
            let columns = renamed(&cte.alias, self.outputs_of(&cte.query, visible));
            visible.push((cte.alias.name.value.clone(), columns));
        }
    }

    /// The number of scopes around the SELECT that is visited next, without the scope of its query.
    fn outer(&self) -> usize {
        self.scopes.len().saturating_sub(1)
    }

    fn name_alias_apart(&self, alias: &mut Option<TableAlias>, outer: usize) {
        if let Some(alias) = alias {
            let apart = self.name_within(outer, &alias.name.value);
            if apart != alias.name.value {
                alias.name = quoted(&apart);
            }
        }
    }

    fn first_select_relations(&self, body: &SetExpr, with_queries: &[WithQuery]) -> Vec<Relation> {
        match body {
            SetExpr::Select(select) => self.relations_of(&select.from, with_queries),
            _ => Vec::new(),
        }
    }
}

impl VisitorMut for Binder<'_> {
    type Break = String;

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<String> {
        let mut visible = self.with_queries.queries.clone();
        self.add_with_queries(query, &mut visible);
        let mut relations = self.first_select_relations(&query.body, &visible);
        self.name_apart(&mut relations, self.scopes.len());
        let scope = Scope {
            relations,
            outputs: self.outputs_of_body(&query.body, &visible),
            outputs_first: true,
        };
        let own = visible.split_off(self.with_queries.queries.len());
        self.with_queries.enter(query, own);
        self.scopes.push(scope);
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _query: &mut Query) -> ControlFlow<String> {
        self.scopes.pop();
        self.with_queries.leave();
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<String> {
        let mut relations = self.relations_of(&select.from, &self.with_queries.queries);
        self.name_apart(&mut relations, self.outer());
        let mut scope = Scope {
            relations,
            outputs: Vec::new(),
            outputs_first: false,
        };
        scope.outputs = select
            .projection
            .iter()
            .flat_map(|item| scope.outputs_of_item(item))
            .collect();
        for item in &mut select.projection {
            if let SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::ObjectName(name), _) = item
                && let Some(relation) = scope.relation(&text(name))
            {
                *name = object_name(&relation.alias);
            }
        }
        for item in &mut select.projection {
            if let SelectItem::Wildcard(options) | SelectItem::QualifiedWildcard(_, options) = item {
                for name in names_of_wildcard(options) {
                    match scope.column(&name.value) {
                        Ok(Some(spelled)) => *name = quoted(&spelled),
                        Ok(None) => return ControlFlow::Break(format!("column {} of * not found", name.value)),
                        Err(ambiguous) => return ControlFlow::Break(ambiguous),
                    }
                }
            }
        }
        for join in select.from.iter_mut().flat_map(|table| &mut table.joins) {
            for name in using_columns(&mut join.join_operator) {
                if let Ok(Some(spelled)) = scope.column(&text(name)) {
                    *name = object_name(&spelled);
                }
            }
        }
        self.scopes.push(scope);
        ControlFlow::Continue(())
    }

    fn post_visit_select(&mut self, _select: &mut Select) -> ControlFlow<String> {
        self.scopes.pop();
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<String> {
        // The two innermost scopes belong to the query of this table.
        let outer = self.scopes.len().saturating_sub(2);
        match factor {
            TableFactor::Table {
                name,
                alias,
                args: None,
                ..
            } => {
                let written = text(name);
                if let Some((spelled, _)) = with_query(&self.with_queries.queries, &written) {
                    if self.name_within(outer, spelled) != *spelled {
                        alias.get_or_insert_with(|| table_alias(spelled));
                    }
                    *name = object_name(spelled);
                } else if let Some(bound) = self.tables.get(&written) {
                    *name = object_name(&bound.registered);
                    alias.get_or_insert_with(|| table_alias(&bound.alias));
                }
                self.name_alias_apart(alias, outer);
            }
            TableFactor::Derived { alias, .. } | TableFactor::Table { alias, .. } => {
                self.name_alias_apart(alias, outer);
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<String> {
        match expr {
            Expr::Identifier(ident) => match self.column(&ident.value) {
                Ok(Some(spelled)) => *ident = quoted(&spelled),
                Ok(None) => {}
                Err(message) => return ControlFlow::Break(message),
            },
            Expr::CompoundIdentifier(parts) => {
                // In an unquoted `orders.dbf.ID`, the table's name is divided into parts.
                if let Some((last, qualifier)) = parts.split_last() {
                    let qualifier = qualifier
                        .iter()
                        .map(|part| part.value.as_str())
                        .collect::<Vec<_>>()
                        .join(".");
                    if let Some((alias, column)) = self.qualified(&qualifier, &last.value) {
                        *parts = vec![quoted(&alias), quoted(&column)];
                    }
                }
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

impl Scope {
    fn column(&self, name: &str) -> Result<Option<String>, String> {
        let output = same_but_for_case(&self.outputs, name);
        if self.outputs_first
            && let Some(output) = output
        {
            return Ok(Some(output.to_owned()));
        }
        let mut found: Option<(&Relation, &str)> = None;
        for relation in &self.relations {
            let Some(column) = same_but_for_case(&relation.columns, name) else {
                continue;
            };
            match found {
                Some((first, spelled)) if spelled != column => {
                    return Err(format!(
                        "column {name} could be {}.{spelled} or {}.{column}; say which",
                        first.given, relation.given
                    ));
                }
                Some(_) => {}
                None => found = Some((relation, column)),
            }
        }
        Ok(found.map(|(_, column)| column).or(output).map(str::to_owned))
    }

    fn named(&self, qualifier: &str) -> Option<&Relation> {
        let mut relations = self.relations.iter();
        relations.find(|relation| relation.given.eq_ignore_ascii_case(qualifier))
    }

    fn relation(&self, qualifier: &str) -> Option<&Relation> {
        self.named(qualifier).or_else(|| {
            self.relations
                .iter()
                .find(|relation| relation.written.eq_ignore_ascii_case(qualifier))
        })
    }

    fn outputs_of_item(&self, item: &SelectItem) -> Vec<String> {
        match item {
            SelectItem::ExprWithAlias { alias, .. } => vec![alias.value.clone()],
            SelectItem::ExprWithAliases { aliases, .. } => aliases.iter().map(|alias| alias.value.clone()).collect(),
            SelectItem::UnnamedExpr(Expr::Identifier(ident)) => {
                vec![
                    self.column(&ident.value)
                        .ok()
                        .flatten()
                        .unwrap_or_else(|| ident.value.clone()),
                ]
            }
            SelectItem::UnnamedExpr(Expr::CompoundIdentifier(parts)) => {
                let Some((last, qualifier)) = parts.split_last() else {
                    return Vec::new();
                };
                let qualifier = qualifier
                    .iter()
                    .map(|part| part.value.as_str())
                    .collect::<Vec<_>>()
                    .join(".");
                let relation = self.relation(&qualifier);
                let spelled = relation.and_then(|relation| same_but_for_case(&relation.columns, &last.value));
                vec![spelled.unwrap_or(&last.value).to_owned()]
            }
            SelectItem::UnnamedExpr(_) => Vec::new(),
            SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::ObjectName(name), _) => self
                .relation(&text(name))
                .map_or_else(Vec::new, |relation| relation.columns.clone()),
            SelectItem::QualifiedWildcard(..) => Vec::new(),
            SelectItem::Wildcard(_) => self
                .relations
                .iter()
                .flat_map(|relation| relation.columns.iter().cloned())
                .collect(),
        }
    }
}

impl Relation {
    fn new(written: String, default_alias: String, alias: Option<&TableAlias>, columns: Vec<String>) -> Self {
        match alias {
            Some(alias) => Self {
                alias: alias.name.value.clone(),
                given: alias.name.value.clone(),
                written,
                columns: renamed(alias, columns),
            },
            None => Self {
                alias: default_alias.clone(),
                given: default_alias,
                written,
                columns,
            },
        }
    }
}

/// The exactly equal name if there is one, else the one that differs only in case.
fn same_but_for_case<'a>(names: &'a [String], wanted: &str) -> Option<&'a str> {
    let exact = names.iter().find(|name| *name == wanted);
    exact
        .or_else(|| names.iter().find(|name| name.to_lowercase() == wanted.to_lowercase()))
        .map(String::as_str)
}

fn with_query<'a>(with_queries: &'a [WithQuery], name: &str) -> Option<&'a WithQuery> {
    with_queries
        .iter()
        .rev()
        .find(|(known, _)| known.to_lowercase() == name.to_lowercase())
}

/// Applies `AS t (a, b)`, which renames the first columns.
fn renamed(alias: &TableAlias, mut columns: Vec<String>) -> Vec<String> {
    for (index, column) in alias.columns.iter().enumerate() {
        match columns.get_mut(index) {
            Some(name) => name.clone_from(&column.name.value),
            None => columns.push(column.name.value.clone()),
        }
    }
    columns
}

/// The columns that `*` excludes or replaces.
fn names_of_wildcard(options: &mut WildcardAdditionalOptions) -> Vec<&mut Ident> {
    let mut names = Vec::new();
    match &mut options.opt_exclude {
        Some(ExcludeSelectItem::Single(name)) => names.extend(last_ident(name)),
        Some(ExcludeSelectItem::Multiple(all)) => names.extend(all.iter_mut().filter_map(last_ident)),
        None => {}
    }
    if let Some(except) = &mut options.opt_except {
        names.push(&mut except.first_element);
        names.extend(&mut except.additional_elements);
    }
    if let Some(replace) = &mut options.opt_replace {
        names.extend(replace.items.iter_mut().map(|item| &mut item.column_name));
    }
    names
}

fn last_ident(name: &mut ObjectName) -> Option<&mut Ident> {
    match name.0.last_mut() {
        Some(ObjectNamePart::Identifier(ident)) => Some(ident),
        _ => None,
    }
}

fn using_columns(operator: &mut JoinOperator) -> &mut [ObjectName] {
    match join_constraint_mut(operator) {
        Some(JoinConstraint::Using(columns)) => columns,
        _ => &mut [],
    }
}

/// A name as written, without quotes.
pub(crate) fn text(name: &ObjectName) -> String {
    let parts = name.0.iter().filter_map(ObjectNamePart::as_ident);
    parts.map(|part| part.value.as_str()).collect::<Vec<_>>().join(".")
}

/// The qualifier of a table's columns: its file name without folder and extension.
pub(crate) fn table_name(written: &str) -> &str {
    let file = written.rsplit(['/', '\\']).next().unwrap_or(written);
    match file.rsplit_once('.') {
        Some((stem, extension)) if ["dbf", "adt"].iter().any(|own| extension.eq_ignore_ascii_case(own)) => stem,
        Some((_, table)) => table,
        None => file,
    }
}

fn table_alias(name: &str) -> TableAlias {
    TableAlias {
        explicit: true,
        name: quoted(name),
        columns: Vec::new(),
        at: None,
    }
}

fn object_name(name: &str) -> ObjectName {
    ObjectName(vec![ObjectNamePart::Identifier(quoted(name))])
}

fn quoted(name: &str) -> Ident {
    Ident::with_quote('"', name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::parse;

    fn bound(sql: &str) -> Result<String> {
        bound_and_renamed(sql).map(|(bound, _)| bound)
    }

    pub(super) fn bound_and_renamed(sql: &str) -> Result<(String, Vec<Renamed>)> {
        let table = |registered: &str, alias: &str, columns: &[&str]| Bound {
            registered: registered.to_owned(),
            alias: alias.to_owned(),
            columns: columns.iter().map(|&column| column.to_owned()).collect(),
            types: Vec::new(),
            is_xbase: false,
        };
        let orders = table("/d/ORDERS.DBF", "ORDERS", &["ID", "CUST", "AMOUNT"]);
        let people = table("/d/people.csv", "people", &["id", "Name"]);
        let mut tables = HashMap::new();
        let mut statement = parse(sql)?;
        for (name, _) in relations(&statement) {
            let fits = if name.to_lowercase().contains("orders") {
                &orders
            } else {
                &people
            };
            tables.insert(name, fits.clone());
        }
        let renamed = bind(&mut statement, &tables)?;
        Ok((statement.to_string(), renamed))
    }

    #[test]
    fn names_take_the_spelling_of_what_they_mean() {
        for (sql, expected) in [
            (
                "SELECT id, Amount FROM orders",
                r#"SELECT "ID", "AMOUNT" FROM "/d/ORDERS.DBF" AS "ORDERS""#,
            ),
            (
                "SELECT orders.dbf.id FROM orders.dbf WHERE cust = 'x'",
                r#"SELECT "ORDERS"."ID" FROM "/d/ORDERS.DBF" AS "ORDERS" WHERE "CUST" = 'x'"#,
            ),
            (
                "SELECT O.id, p.NAME FROM [orders] o JOIN 'people' P ON o.cust = P.ID",
                r#"SELECT "o"."ID", "P"."Name" FROM "/d/ORDERS.DBF" o JOIN "/d/people.csv" P ON "o"."CUST" = "P"."id""#,
            ),
            (
                "SELECT cust, SUM(amount) AS Total FROM orders GROUP BY cust ORDER BY TOTAL DESC",
                r#"SELECT "CUST", SUM("AMOUNT") AS Total FROM "/d/ORDERS.DBF" AS "ORDERS" GROUP BY "CUST" ORDER BY "Total" DESC"#,
            ),
            (
                "SELECT UPPER(cust) AS cust FROM orders WHERE Cust > 'a' ORDER BY CUST",
                r#"SELECT UPPER("CUST") AS cust FROM "/d/ORDERS.DBF" AS "ORDERS" WHERE "CUST" > 'a' ORDER BY "cust""#,
            ),
            (
                "WITH Big AS (SELECT id AS Key FROM orders WHERE amount > 5) SELECT KEY FROM BIG b WHERE B.key > 1",
                r#"WITH Big AS (SELECT "ID" AS Key FROM "/d/ORDERS.DBF" AS "ORDERS" WHERE "AMOUNT" > 5) SELECT "Key" FROM "Big" b WHERE "b"."Key" > 1"#,
            ),
            (
                "SELECT name FROM people WHERE EXISTS (SELECT 1 FROM orders WHERE cust = NAME)",
                r#"SELECT "Name" FROM "/d/people.csv" AS "people" WHERE EXISTS (SELECT 1 FROM "/d/ORDERS.DBF" AS "ORDERS" WHERE "CUST" = "Name")"#,
            ),
            (
                "SELECT id FROM orders WHERE amount >= ALL (SELECT amount FROM orders)",
                r#"SELECT "ID" FROM "/d/ORDERS.DBF" AS "ORDERS" WHERE "AMOUNT" >= ALL(SELECT "AMOUNT" FROM "/d/ORDERS.DBF" AS "ORDERS:2")"#,
            ),
            (
                "SELECT o.id FROM orders o WHERE EXISTS (SELECT 1 FROM orders WHERE Orders.cust = o.cust AND EXISTS (SELECT 1 FROM orders O WHERE o.id = orders.id))",
                r#"SELECT "o"."ID" FROM "/d/ORDERS.DBF" o WHERE EXISTS (SELECT 1 FROM "/d/ORDERS.DBF" AS "ORDERS" WHERE "ORDERS"."CUST" = "o"."CUST" AND EXISTS (SELECT 1 FROM "/d/ORDERS.DBF" "O:2" WHERE "O:2"."ID" = "ORDERS"."ID"))"#,
            ),
            (
                "WITH big AS (SELECT id FROM orders) SELECT id FROM big WHERE id > ANY (SELECT big.id FROM BIG)",
                r#"WITH big AS (SELECT "ID" FROM "/d/ORDERS.DBF" AS "ORDERS") SELECT "ID" FROM "big" WHERE "ID" > ANY(SELECT "big:2"."ID" FROM "big" AS "big:2")"#,
            ),
            (
                "SELECT X.k FROM (SELECT id, amount FROM orders) x (k) WHERE AMOUNT > 1",
                r#"SELECT "x"."k" FROM (SELECT "ID", "AMOUNT" FROM "/d/ORDERS.DBF" AS "ORDERS") x (k) WHERE "AMOUNT" > 1"#,
            ),
            (
                "SELECT O.* FROM orders o JOIN orders b USING (Id)",
                r#"SELECT "o".* FROM "/d/ORDERS.DBF" o JOIN "/d/ORDERS.DBF" b ON "o"."ID" = "b"."ID""#,
            ),
        ] {
            assert_eq!(bound(sql).expect(sql), expected);
        }
    }

    #[test]
    fn a_column_that_two_tables_spell_differently_must_be_qualified() {
        let error = bound("SELECT id FROM orders JOIN people ON cust = name")
            .expect_err("ambiguous")
            .to_string();
        assert!(error.contains("ORDERS.ID or people.id"), "{error}");
    }
}
