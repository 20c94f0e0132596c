//! Changes outside of ADS SQL: inserting rows of any store into a table, and changes of a server's table by the server.

use arrow_schema::Schema;
use sqlparser::ast::Ident;
use tidemill_ads::sql::{Error as SqlError, Insert, Kind, Select, TableName, Value};

use crate::ads::{self, TextKind};
use crate::ads_connection::{blocking, name_of_file};
use crate::answer::Answer;
use crate::format::Format;
use crate::location::Place;
use crate::lowering::{self, Parameters};
use crate::options::SessionOptions;
use crate::route;
use crate::session::{Session, Tables, not_a_query};
use crate::stores::server::{Filling, IfThere, ServerUrl, TableChange};
use crate::{Error, Result, copy};

impl Session {
    /// Inserts the rows of a query into a table of a server or of xBase.
    pub(crate) async fn insert(
        &self,
        insert: Insert,
        sql: &str,
        values: &[Value],
        options: &SessionOptions,
    ) -> Result<Answer> {
        let name = insert.table.to_string();
        let own = self.connection.has(&name);
        let given: Vec<String> = insert.columns.iter().map(|column| column.value.clone()).collect();
        check_once(insert.columns.iter())?;
        let select = route::inserted(insert.source)?;
        let statement = lowering::statement(&select, false, &Parameters::of(sql, values)?)?;
        let mut answer = self.run(statement, sql, options, Tables::named()).await?;
        if own {
            let columns = match given.is_empty() {
                false => given,
                true => self.connection.fields_of(&name, options)?,
            };
            let rows = self.append_answer(&name, answer.named(&columns)?).await?;
            return Answer::counted(Some(rows));
        }
        let location = self.locate(&name).await?;
        let url = match (&location.place, location.format) {
            (Place::Server(url), _) => url,
            (Place::File(path), Format::Xbase) => {
                let columns = match given.is_empty() {
                    false => given,
                    true => names_of(&*self.schema(&location).await?),
                };
                let path = name_of_file(path)?;
                let rows = self.append_answer(&path, answer.named(&columns)?).await?;
                return Answer::counted(Some(rows));
            }
            _ => {
                return Err(Error::Unsupported {
                    what: format!("{location}: adding rows to a file that is not of xBase"),
                    hint: "copy writes new files; INSERT INTO adds to xBase tables and tables of servers".to_owned(),
                });
            }
        };
        let making = &options.making;
        if making.create && !given.is_empty() {
            answer = answer.named(&given)?;
        }
        let filling = Filling {
            columns: &given,
            making,
            there: IfThere::Add,
            job: None,
            rows_before: 0,
        };
        self.connection.change_at_once(&url.to_string())?;
        let sink = self.servers.of(url)?.fill(url, &answer.schema(), &filling).await?;
        // Columns are assigned by position, whatever their names are.
        let answer = answer.named(&sink.columns())?;
        let rows = copy::insert(answer, sink, |_, _| Ok(())).await?;
        Answer::counted(Some(rows))
    }

    /// Creates an xBase table with the rows of a query.
    pub(crate) async fn select_into(
        &self,
        mut select: Select,
        sql: &str,
        values: &[Value],
        options: &SessionOptions,
    ) -> Result<Answer> {
        let Some(mut into) = route::take_into(&mut select) else {
            return Err(not_a_query());
        };
        if let Some(file) = self.new_file(&into.to_string()).await? {
            into = TableName::new(name_of_file(&file)?);
        }
        let statement = lowering::statement(&select, false, &Parameters::of(sql, values)?)?;
        let answer = self.run(statement, sql, options, Tables::named()).await?;
        let (connection, given, schema) = (self.connection.clone(), options.clone(), answer.schema());
        let table = into.clone();
        blocking(move || connection.create(&table, &schema, &given)).await?;
        let appended = match answer.named(&self.connection.fields_of(&into.to_string(), options)?) {
            Ok(answer) => self.append_answer(&into.to_string(), answer).await,
            Err(error) => Err(error),
        };
        if appended.is_err() {
            self.connection.drop_table(&into, options)?;
        }
        Answer::counted(Some(appended?))
    }

    /// Removes all rows of a table.
    pub(crate) async fn truncate(&self, name: &str, options: &SessionOptions) -> Result<Answer> {
        let location = self.locate(name).await?;
        match (&location.place, location.format) {
            (Place::File(path), Format::Xbase) => {
                let path = name_of_file(path)?.replace('\'', "''");
                let text = ads::Text {
                    sql: &format!("EXECUTE PROCEDURE sp_ZapTable('{path}')"),
                    values: &[],
                    kind: TextKind::Definition,
                    types: None,
                };
                ads::run(&text, options, Vec::new(), &self.connection).await?;
                Answer::counted(None)
            }
            (Place::Server(server), _) => self.change_on_server(server, TableChange::Truncate).await,
            _ => Err(Error::Unsupported {
                what: format!("{location}: TRUNCATE TABLE"),
                hint: "it empties xBase tables and tables of ClickHouse".to_owned(),
            }),
        }
    }

    /// Makes a server drop or truncate its table.
    pub(crate) async fn change_on_server(&self, table: &ServerUrl, change: TableChange) -> Result<Answer> {
        self.connection.change_at_once(&table.to_string())?;
        self.servers.of(table)?.change(table, change).await?;
        Answer::counted(None)
    }
}

/// # Errors
///
/// [`Error::Ads`] for a column that is named more than once.
pub(crate) fn check_once<'c>(columns: impl Iterator<Item = &'c Ident>) -> Result<()> {
    let mut before: Vec<&Ident> = Vec::new();
    for column in columns {
        let is_same = |before: &&Ident| before.value.eq_ignore_ascii_case(&column.value);
        if before.iter().any(is_same) {
            let why = format!("Column {} is given two values", column.value);
            return Err(SqlError::new(Kind::Ambiguous, why).at(column.span.start).into());
        }
        before.push(column);
    }
    Ok(())
}

fn names_of(schema: &Schema) -> Vec<String> {
    schema.fields().iter().map(|field| field.name().clone()).collect()
}
