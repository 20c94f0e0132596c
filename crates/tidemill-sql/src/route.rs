//! Who answers a text: the lanes of ADS SQL, the planner over every store, or both, one after the other.

use std::path::PathBuf;

use sqlparser::ast::{Parens, SetExpr, Statement, Values};
use tidemill_ads::sql::{Insert, InsertSource, Select, StatementKind, TableName};
use tidemill_trust::without_secrets;

use crate::ads::TextKind;
use crate::format::Format;
use crate::information_schema;
use crate::location::{Location, Place};
use crate::lowering::query_of;
use crate::options::SessionOptions;
use crate::server_url::ServerUrl;
use crate::session::Session;
use crate::{Error, Result, dialect, scope};

/// Who answers a text.
#[derive(Debug)]
pub(crate) enum Route {
    /// One query. Where all its tables are of xBase, the lanes of ADS SQL are asked first.
    Query {
        select: Box<Select>,
        /// Whether its plan is asked for, and not its rows.
        explains: bool,
    },
    /// A query that the planner's grammar alone has.
    Planner(Box<Statement>),
    /// Rows for a table, where the table or one of those that the rows come from is not of xBase.
    Insert(Box<Insert>),
    /// All rows of this table are removed.
    Truncate(String),
    /// This table of a server is removed.
    DropOnServer {
        server: ServerUrl,
        /// Whether it is no fault when there is none.
        if_exists: bool,
    },
    /// ADS SQL: a change of xBase tables, a statement about tables or transactions, or a script.
    Ads {
        kind: TextKind,
        /// The names of tables that were found, and their files.
        files: Vec<(String, PathBuf)>,
    },
}

impl Session {
    /// Who answers a text.
    ///
    /// # Errors
    ///
    /// [`Error::Parse`]; [`Error::Unsupported`] for a change of a table that is not of xBase, and for a change by the rows of such a
    /// table; as [`Session::locate`].
    pub(crate) async fn route(&self, sql: &str, options: &SessionOptions) -> Result<Route> {
        if dialect::has_subscripts(sql) {
            return Ok(Route::Planner(Box::new(dialect::parse(sql)?)));
        }
        if let Some(table) = truncated(sql) {
            return Ok(Route::Truncate(table));
        }
        let mut statements = match tidemill_ads::sql::parse(sql) {
            Ok(statements) => statements,
            // The planner's grammar has more queries.
            Err(error) => return of_planner(sql, &error),
        };
        let (Some(only), true) = (statements.pop(), statements.is_empty()) else {
            let (kind, files) = (TextKind::Change, Vec::new());
            return Ok(Route::Ads { kind, files });
        };
        let (kind, files) = match only.kind {
            StatementKind::Select(select) if makes_a_table(&select) => (TextKind::Definition, Vec::new()),
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
            StatementKind::Insert(insert) if self.spans_stores(&insert, options).await? => {
                return Ok(Route::Insert(insert));
            }
            StatementKind::DropTable { table, if_exists }
                if let Some(server) = self.table_of_server(&table).await? =>
            {
                return Ok(Route::DropOnServer { server, if_exists });
            }
            kind => {
                let files = self.changed_file(&kind).await?;
                self.refuse_other_sources(&kind, options).await?;
                // A savepoint too is one of a transaction.
                let is_change = matches!(
                    kind,
                    StatementKind::Savepoint(_)
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

    /// The table of a server that a name means; `None` for others, and for what is not there.
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

    /// Whether the rows of an INSERT go to a table that is not of xBase, or come from one.
    async fn spans_stores(&self, insert: &Insert, options: &SessionOptions) -> Result<bool> {
        match self.locate(&insert.table.to_string()).await {
            Ok(location) if location.format != Format::Xbase => return Ok(true),
            // A table that is not there is not found by ADS SQL either, but for the tables of its connection.
            Ok(_) | Err(Error::NotFound { .. }) => {}
            Err(error) => return Err(error),
        }
        match &insert.source {
            InsertSource::Select(select) => {
                let names = scope::relations(&*select.query).into_iter().map(|(name, _)| name);
                Ok(self.other_source(names, options).await?.is_some())
            }
            InsertSource::Values(_) | InsertSource::Default => Ok(false),
        }
    }

    /// The first of these tables that ADS SQL does not read. Those that are not there are left to it.
    async fn other_source(
        &self,
        names: impl IntoIterator<Item = String>,
        options: &SessionOptions,
    ) -> Result<Option<String>> {
        for name in names {
            if information_schema::View::named(&name).is_some() {
                return Ok(Some(name));
            }
            if is_system(&name) || self.connection.has(&name, options)? {
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

    /// # Errors
    ///
    /// [`Error::Unsupported`] for an UPDATE, DELETE or MERGE that reads a table which is not of xBase.
    async fn refuse_other_sources(&self, kind: &StatementKind, options: &SessionOptions) -> Result<()> {
        let mut names: Vec<String> = Vec::new();
        let mut of = |found: Vec<(String, sqlparser::tokenizer::Location)>| {
            names.extend(found.into_iter().map(|(name, _)| name));
        };
        match kind {
            StatementKind::Update(update) => {
                of(scope::relations(&update.selection));
                of(scope::relations(&update.from));
                update
                    .assignments
                    .iter()
                    .for_each(|(_, value)| of(scope::relations(value)));
            }
            StatementKind::Delete(delete) => {
                of(scope::relations(&delete.selection));
                of(scope::relations(&delete.from));
            }
            StatementKind::Merge(merge) => {
                of(scope::relations(&merge.on));
                let values = merge.update.iter().flatten();
                values.for_each(|(_, value)| of(scope::relations(value)));
                names.extend(merge.source.iter().map(|(table, _)| table.to_string()));
            }
            _ => return Ok(()),
        }
        match self.other_source(names, options).await? {
            None => Ok(()),
            Some(name) => Err(Error::Unsupported {
                what: format!("changing an xBase table by the rows of {name}, which is not of xBase,"),
                hint: format!("INSERT INTO a temporary table: SELECT * FROM {name}, and name that one here"),
            }),
        }
    }
}

/// A text that is no ADS SQL.
fn of_planner(sql: &str, error: &tidemill_ads::sql::Error) -> Result<Route> {
    if let Some(query) = information_schema::shown(sql) {
        return Ok(Route::Planner(Box::new(dialect::parse(&query)?)));
    }
    match dialect::parse(sql) {
        Ok(statement @ (Statement::Query(_) | Statement::Explain { .. })) => Ok(Route::Planner(Box::new(statement))),
        _ => Err(Error::Parse {
            message: without_secrets(&error.to_string()).into_owned(),
        }),
    }
}

/// The table of a TRUNCATE statement.
fn truncated(sql: &str) -> Option<String> {
    let rest = strip_word(sql.trim().trim_end_matches(';').trim_end(), "TRUNCATE")?;
    let name = strip_word(rest, "TABLE").unwrap_or(rest);
    let bare = match (name.chars().next(), name.chars().next_back()) {
        (Some('"'), Some('"')) | (Some('\''), Some('\'')) | (Some('['), Some(']')) if name.len() > 1 => {
            name.get(1..name.len() - 1).unwrap_or_default()
        }
        _ => name,
    };
    let is_name = !bare.is_empty() && (bare.len() < name.len() || !bare.contains(char::is_whitespace));
    is_name.then(|| bare.to_owned())
}

/// What stands behind a word and blanks.
fn strip_word<'s>(text: &'s str, word: &str) -> Option<&'s str> {
    let (first, rest) = text.split_once(char::is_whitespace)?;
    first.eq_ignore_ascii_case(word).then(|| rest.trim_start())
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

/// Whether a text is one query, which changes nothing.
///
/// # Errors
///
/// [`Error::Parse`] for what is no SQL.
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
        Err(_) if truncated(sql).is_some() => Ok(false),
        Err(error) => of_planner(sql, &error).map(|_| true),
    }
}

/// `SELECT … INTO`.
fn makes_a_table(select: &Select) -> bool {
    matches!(&*select.query.body, SetExpr::Select(only) if only.into.is_some())
}

/// A table of `system`, which is no file.
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
            ("TRUNCATE TABLE [a]", Some("a")),
            ("TRUNCATE TABLE a b", None),
            ("TRUNCATE", None),
            ("SELECT TRUNCATE(1.5, 0)", None),
        ] {
            assert_eq!(truncated(sql).as_deref(), table, "{sql}");
        }
    }
}
