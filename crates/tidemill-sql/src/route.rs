//! Chooses the engine of a statement: the lanes of ADS SQL, the planner over every store, or both in turn.

use std::path::PathBuf;

use sqlparser::ast::{
    Ident, ObjectName, Parens, SelectInto, SetExpr, Statement, Truncate, TruncateTableTarget, Values,
};
use tidemill_ads::sql::{Insert, InsertSource, Select, StatementKind, TableName, walk};
use tidemill_trust::without_secrets;

use crate::ads::TextKind;
use crate::format::Format;
use crate::information_schema;
use crate::location::{Location, Place};
use crate::lowering::query_of;
use crate::plain::Plain;
use crate::session::Session;
use crate::stores::server::ServerUrl;
use crate::{Error, Result, dialect, scope};

/// The engine of a text.
#[derive(Debug)]
pub(crate) enum Route {
    /// One query. If all its tables are of xBase, the lanes of ADS SQL are tried first.
    Query {
        select: Box<Select>,
        /// Whether its plan is requested instead of its rows.
        explains: bool,
    },
    /// A query that only the planner's grammar accepts.
    Planner(Box<Statement>),
    /// Statements of which at least one reads a table that is not of xBase: each is routed separately.
    Several(Vec<String>),
    /// An INSERT whose target or source is not of xBase.
    Insert(Box<Insert>),
    /// `SELECT … INTO` a new xBase table, with a source that is not of xBase.
    Into(Box<Select>),
    /// TRUNCATE of this table.
    Truncate(String),
    /// DROP TABLE of this table of a server.
    DropOnServer {
        server: ServerUrl,
        /// Whether a missing table is no error.
        if_exists: bool,
    },
    /// UPDATE or DELETE of rows of this table of a server.
    ChangeRows {
        server: ServerUrl,
        change: Box<StatementKind>,
    },
    /// ADS SQL: a change of xBase tables, a statement about tables or transactions, or a script.
    Ads {
        kind: TextKind,
        /// The names of located tables, and their files.
        files: Vec<(String, PathBuf)>,
    },
}

impl Session {
    /// Chooses the engine of a text.
    ///
    /// # Errors
    ///
    /// [`Error::Parse`]; [`Error::Unsupported`] for a change of a table that is not of xBase, and for a change that reads such a table; as
    /// [`Session::locate`].
    pub(crate) async fn route(&self, sql: &str) -> Result<Route> {
        if dialect::has_subscripts(sql) {
            return Ok(Route::Planner(Box::new(dialect::parse(sql)?)));
        }
        let mut statements = match tidemill_ads::sql::parse(sql) {
            Ok(statements) => statements,
            // The planner's grammar accepts more queries.
            Err(error) => return of_planner(sql, &error),
        };
        let only = match statements.len() {
            1 => statements.pop(),
            _ => None,
        };
        let Some(only) = only else {
            let names = statements.iter().flat_map(|statement| {
                let changed = statement.kind.changed_table().map(ToString::to_string);
                sources(&statement.kind).into_iter().chain(changed)
            });
            let spans_stores = self.other_source(names.collect::<Vec<_>>()).await?.is_some();
            return Ok(match parts(sql, &statements).filter(|_| spans_stores) {
                Some(parts) => Route::Several(parts),
                None => Route::Ads {
                    kind: TextKind::Change,
                    files: Vec::new(),
                },
            });
        };
        if let StatementKind::CreateTable(table) = &only.kind
            && let Some(select) = &table.select
            && table.columns.is_empty()
            && self.other_source(of_query(select)).await?.is_some()
        {
            let mut select = select.clone();
            put_into(&mut select, &table.name);
            return Ok(Route::Into(select));
        }
        let (kind, files) = match only.kind {
            StatementKind::Select(select) if hides_into(&select.query.body) => {
                return Err(Error::Unsupported {
                    what: "INTO in a SELECT of a UNION, or in parentheses".to_owned(),
                    hint: "write SELECT * INTO name FROM (SELECT … UNION SELECT …) AS rows".to_owned(),
                });
            }
            StatementKind::Select(select) if makes_a_table(&select) => {
                if self.other_source(of_query(&select)).await?.is_some() {
                    return Ok(Route::Into(select));
                }
                let mut files = self.files_of(of_query(&select)).await?;
                if let Some(name) = into_of(&select) {
                    let file = self.new_file(&name).await?;
                    files.extend(file.map(|file| (name, file)));
                }
                (TextKind::Definition, files)
            }
            StatementKind::Select(select) => {
                return Ok(Route::Query {
                    select,
                    explains: false,
                });
            }
            StatementKind::Explain(inner) => match inner.kind {
                StatementKind::Select(select) => return Ok(Route::Query { select, explains: true }),
                _ => (TextKind::Definition, Vec::new()),
            },
            StatementKind::Insert(insert) if self.spans_stores(&insert).await? => {
                return Ok(Route::Insert(insert));
            }
            StatementKind::DropTable { table, if_exists, .. }
                if let Some(server) = self.table_of_server(&table).await? =>
            {
                return Ok(Route::DropOnServer { server, if_exists });
            }
            StatementKind::Update(update) if let Some(server) = self.table_of_server(&update.table).await? => {
                let change = Box::new(StatementKind::Update(update));
                return Ok(Route::ChangeRows { server, change });
            }
            StatementKind::Delete(delete) if let Some(server) = self.table_of_server(&delete.table).await? => {
                let change = Box::new(StatementKind::Delete(delete));
                return Ok(Route::ChangeRows { server, change });
            }
            kind => {
                let mut files = self.changed_file(&kind).await?;
                // Tables of other folders.
                files.extend(self.files_of(sources(&kind)).await?);
                if let StatementKind::CreateTable(table) = &kind {
                    let name = table.name.to_string();
                    let file = self.new_file(&name).await?;
                    files.extend(file.map(|file| (name, file)));
                }
                self.refuse_other_sources(&kind).await?;
                // A savepoint belongs to a transaction too.
                let is_change = matches!(
                    kind,
                    StatementKind::Savepoint(_)
                        | StatementKind::Release(_)
                        | StatementKind::Insert(_)
                        | StatementKind::Update(_)
                        | StatementKind::Delete(_)
                        | StatementKind::Merge(_)
                        | StatementKind::Script(_)
                );
                match is_change {
                    true => (TextKind::Change, files),
                    false => (TextKind::Definition, files),
                }
            }
        };
        Ok(Route::Ads { kind, files })
    }

    /// The table of a server with this name; `None` for other tables, and if it does not exist.
    async fn table_of_server(&self, table: &TableName) -> Result<Option<ServerUrl>> {
        match self.locate(&table.to_string()).await {
            Ok(Location {
                place: Place::Server(server),
                ..
            }) => Ok(Some(server)),
            Ok(_) | Err(Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Whether the target or a source of an INSERT is not of xBase.
    async fn spans_stores(&self, insert: &Insert) -> Result<bool> {
        match self.locate(&insert.table.to_string()).await {
            Ok(location) if location.format != Format::Xbase => return Ok(true),
            // ADS SQL reports a missing table, unless it is one of its connection.
            Ok(_) | Err(Error::NotFound { .. }) => {}
            Err(error) => return Err(error),
        }
        match &insert.source {
            InsertSource::Select(select) => Ok(self.other_source(of_query(select)).await?.is_some()),
            InsertSource::Values(_) | InsertSource::Default => Ok(false),
        }
    }

    /// The first of these tables that ADS SQL cannot read. Missing tables are left to it.
    async fn other_source(&self, names: impl IntoIterator<Item = String>) -> Result<Option<String>> {
        for name in names {
            if information_schema::View::named(&name).is_some() {
                return Ok(Some(name));
            }
            if is_system(&name) || self.connection.has(&name) {
                continue;
            }
            match self.locate(&name).await {
                Ok(location) if matches!((location.format, &location.place), (Format::Xbase, Place::File(_))) => {}
                Ok(_) => return Ok(Some(name)),
                Err(Error::NotFound { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    /// The files of xBase tables, by their names in the statement.
    async fn files_of(&self, names: Vec<String>) -> Result<Vec<(String, PathBuf)>> {
        let mut files = Vec::new();
        for name in names {
            if is_system(&name) || self.connection.has(&name) {
                continue;
            }
            match self.locate(&name).await {
                Ok(location) => files.extend(location.file().ok().map(|file| (name, file.to_owned()))),
                // The engine reports a missing table.
                Err(Error::NotFound { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(files)
    }

    /// # Errors
    ///
    /// [`Error::Unsupported`] for an UPDATE, DELETE or MERGE that reads a table that is not of xBase.
    async fn refuse_other_sources(&self, kind: &StatementKind) -> Result<()> {
        if !matches!(
            kind,
            StatementKind::Update(_) | StatementKind::Delete(_) | StatementKind::Merge(_)
        ) {
            return Ok(());
        }
        match self.other_source(sources(kind)).await? {
            None => Ok(()),
            Some(name) => Err(Error::Unsupported {
                what: format!("changing an xBase table by the rows of {name}, which is not of xBase,"),
                hint: format!("run SELECT * INTO #other FROM {name} first, and name #other here"),
            }),
        }
    }
}

/// The tables that a statement reads, by their names in the statement.
fn sources(kind: &StatementKind) -> Vec<String> {
    fn of(part: &impl walk::Tree) -> Vec<String> {
        scope::relations(part).into_iter().map(|(name, _)| name).collect()
    }
    match kind {
        StatementKind::Select(select) => of_query(select),
        StatementKind::Insert(insert) => match &insert.source {
            InsertSource::Select(select) => of_query(select),
            InsertSource::Values(_) | InsertSource::Default => Vec::new(),
        },
        StatementKind::Update(update) => {
            let values = update.assignments.iter().flat_map(|(_, value)| of(value));
            [of(&update.selection), of(&update.from), values.collect()].concat()
        }
        StatementKind::Delete(delete) => [of(&delete.selection), of(&delete.from)].concat(),
        StatementKind::Merge(merge) => {
            let values = merge.update.iter().flatten().flat_map(|(_, value)| of(value));
            let source = merge.source.iter().map(|(table, _)| table.to_string());
            [of(&merge.on), values.collect(), source.collect()].concat()
        }
        _ => Vec::new(),
    }
}

fn of_query(select: &Select) -> Vec<String> {
    let names = scope::relations(&*select.query).into_iter();
    names.map(|(name, _)| name).collect()
}

/// The single statements of a text; `None` for a script, which is not divided.
fn parts(sql: &str, statements: &[tidemill_ads::sql::Statement]) -> Option<Vec<String>> {
    let mut lines = vec![0];
    lines.extend(sql.match_indices('\n').map(|(at, _)| at + 1));
    let begins = statements.iter().map(|statement| {
        let (line, column) = (statement.location.line, statement.location.column);
        let line = *lines.get(usize::try_from(line.checked_sub(1)?).ok()?)?;
        let letters = usize::try_from(column.checked_sub(1)?).ok()?;
        let (at, _) = sql.get(line..)?.char_indices().nth(letters)?;
        (!matches!(statement.kind, StatementKind::Script(_))).then_some(line + at)
    });
    let begins = begins.collect::<Option<Vec<usize>>>()?;
    let ends = begins.iter().skip(1).copied().chain([sql.len()]);
    let part = |(begin, end): (&usize, usize)| sql.get(*begin..end).map(str::to_owned);
    begins.iter().zip(ends).map(part).collect()
}

/// Routes a text that ADS SQL cannot parse.
fn of_planner(sql: &str, error: &tidemill_ads::sql::Error) -> Result<Route> {
    if let Some(query) = information_schema::shown(sql) {
        return Ok(Route::Planner(Box::new(dialect::parse(&query)?)));
    }
    match dialect::parse(sql) {
        Ok(statement @ (Statement::Query(_) | Statement::Explain { .. })) => Ok(Route::Planner(Box::new(statement))),
        Ok(Statement::Truncate(truncate)) if let Some(table) = truncated(&truncate) => Ok(Route::Truncate(table)),
        _ => Err(Error::Parse {
            message: without_secrets(&Plain::of_statement(error).to_string()).into_owned(),
        }),
    }
}

/// The table of a TRUNCATE statement; `None` if it has other clauses.
fn truncated(statement: &Truncate) -> Option<String> {
    let Truncate {
        table_names,
        partitions: None,
        table: _,
        if_exists: false,
        identity: None,
        cascade: None,
        on_cluster: None,
    } = statement
    else {
        return None;
    };
    match table_names.as_slice() {
        [
            TruncateTableTarget {
                name,
                only: false,
                has_asterisk: false,
            },
        ] => Some(scope::text(name)),
        _ => None,
    }
}

/// The query for the rows of an INSERT.
///
/// # Errors
///
/// [`Error::Unsupported`] for DEFAULT.
pub(crate) fn inserted(source: InsertSource) -> Result<Select> {
    let no_default = || Error::Unsupported {
        what: "DEFAULT in rows for a table that is not of xBase".to_owned(),
        hint: "write the value, or leave out the column".to_owned(),
    };
    let rows = match source {
        InsertSource::Select(select) => return Ok(*select),
        InsertSource::Values(rows) => rows,
        InsertSource::Default => return Err(no_default()),
    };
    let rows = rows.into_iter().map(|row| {
        let values: Option<Vec<_>> = row.into_iter().collect();
        values.ok_or_else(no_default).map(Parens::with_empty_span)
    });
    let values = Values {
        value_keyword: false,
        explicit_row: false,
        rows: rows.collect::<Result<_>>()?,
    };
    Ok(Select {
        query: Box::new(query_of(SetExpr::Values(values))),
        is_static: false,
        start_at: None,
    })
}

/// Whether a text is a single query, which changes nothing.
///
/// # Errors
///
/// [`Error::Parse`] for a text that is not SQL.
pub fn is_query(sql: &str) -> Result<bool> {
    match tidemill_ads::sql::parse(sql) {
        Ok(statements) => Ok(match statements.as_slice() {
            [only] => match &only.kind {
                StatementKind::Select(select) => !makes_a_table(select),
                StatementKind::Explain(_) => true,
                _ => false,
            },
            _ => false,
        }),
        Err(error) => of_planner(sql, &error).map(|route| matches!(route, Route::Planner(_))),
    }
}

/// # Errors
///
/// [`Error::Unsupported`] for a text that is not a single query; [`Error::Parse`].
pub(crate) fn check_query(sql: &str) -> Result<()> {
    match is_query(sql)? {
        true => Ok(()),
        false => Err(Error::Unsupported {
            what: "anything but one query that changes nothing".to_owned(),
            hint: "run the other statements with `tidemill sql` first".to_owned(),
        }),
    }
}

/// # Errors
///
/// [`Error::Unsupported`] for a text of more than one statement.
pub(crate) fn check_one(sql: &str) -> Result<()> {
    match tidemill_ads::sql::parse(sql) {
        Ok(statements) if statements.len() > 1 => Err(Error::Unsupported {
            what: "the plan of several statements".to_owned(),
            hint: "explain them one by one".to_owned(),
        }),
        // The planner reports errors.
        _ => Ok(()),
    }
}

/// Whether the name of a source is a query rather than a table, judged by its first word.
#[must_use]
pub fn source_is_query(source: &str) -> bool {
    let mut words = source.split_whitespace();
    let first = words.next().unwrap_or_default();
    let begins_query = ["select", "with", "values"]
        .iter()
        .any(|word| first.eq_ignore_ascii_case(word));
    begins_query && words.next().is_some()
}

/// `SELECT … INTO`.
fn makes_a_table(select: &Select) -> bool {
    into_of(select).is_some()
}

/// Whether INTO is in a place where it creates no table.
fn hides_into(body: &SetExpr) -> bool {
    let is_within = |part: &SetExpr| match part {
        SetExpr::Select(select) => select.into.is_some(),
        other => hides_into(other),
    };
    match body {
        SetExpr::SetOperation { left, right, .. } => is_within(left) || is_within(right),
        SetExpr::Query(query) => is_within(&query.body),
        _ => false,
    }
}

/// The name of the table of `SELECT … INTO`.
fn into_of(select: &Select) -> Option<String> {
    match &*select.query.body {
        SetExpr::Select(only) => only.into.as_ref().map(|into| scope::text(&into.name)),
        _ => None,
    }
}

/// Removes INTO from a query, and returns its table.
pub(crate) fn take_into(select: &mut Select) -> Option<TableName> {
    match &mut *select.query.body {
        SetExpr::Select(only) => only.into.take().map(|into| TableName::new(scope::text(&into.name))),
        _ => None,
    }
}

/// Adds INTO to a query.
fn put_into(select: &mut Select, table: &TableName) {
    if let SetExpr::Select(only) = &mut *select.query.body {
        only.into = Some(SelectInto {
            temporary: false,
            unlogged: false,
            table: false,
            name: ObjectName::from(vec![Ident::new(table.to_string())]),
        });
    }
}

/// Whether it is a table of `system`, which is not a file.
pub(crate) fn is_system(name: &str) -> bool {
    let schema = name.split('.').next().unwrap_or_default();
    name.len() > schema.len() && schema.eq_ignore_ascii_case("system")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_truncate_statement_names_its_table() {
        for (sql, table) in [
            ("TRUNCATE TABLE orders", Some("orders")),
            ("truncate  shop.orders ;", Some("shop.orders")),
            ("TRUNCATE TABLE \"my orders\"", Some("my orders")),
            ("TRUNCATE TABLE \"shop\".\"my orders\"", Some("shop.my orders")),
            ("TRUNCATE TABLE [a]", Some("a")),
            ("TRUNCATE TABLE a, b", None),
            ("TRUNCATE TABLE a CASCADE", None),
        ] {
            let Ok(Statement::Truncate(statement)) = dialect::parse(sql) else {
                panic!("{sql} is not parsed")
            };
            assert_eq!(truncated(&statement).as_deref(), table, "{sql}");
        }
    }
}
