//! Statements and uploads, run in the session of their connection or transaction.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use arrow_array::RecordBatch;
use arrow_flight::sql::{
    Command, CommandStatementIngest, ProstMessageExt as _, TableExistsOption, TableNotExistOption, TicketStatementQuery,
};
use arrow_flight::{FlightDescriptor, FlightEndpoint, FlightInfo, Ticket};
use arrow_schema::{Schema, SchemaRef};
use bytes::Bytes;
use futures::{StreamExt as _, stream};
use prost::Message as _;
use tidemill_sql::{Ingest, Session, cast_batch, for_programs, from_programs};
use tonic::{Request, Response, Status};

use super::caller::Caller;
use super::door::Door;
use super::kept::{Change, Prepared, Transaction, Waiting};
use super::rows::{Messages, Rows, describe, messages, runs};
use super::uploads::{Broken, Upload};
use super::{Reply, metadata, status};
use crate::failure::Failure;
use crate::statement::Statement;
use crate::users::random;

/// The session that a statement runs in.
pub(super) struct Place {
    pub(super) session: Arc<Session>,
    pub(super) transaction: Option<Arc<Transaction>>,
}

impl Place {
    /// Notes that the transaction has changes to roll back.
    fn will_change(&self) {
        if let Some(transaction) = &self.transaction {
            transaction.has_changed.store(true, Ordering::Relaxed);
        }
    }
}

impl Door {
    /// The session of a transaction, or that of the connection.
    pub(super) fn place(&self, caller: &Caller, transaction: Option<&Bytes>) -> Result<Place, Status> {
        let Some(handle) = transaction.filter(|handle| !handle.is_empty()) else {
            return Ok(Place {
                session: caller.session(&self.shared),
                transaction: None,
            });
        };
        let transaction = self.kept.transactions.get(caller, handle).ok_or_else(no_transaction)?;
        Ok(Place {
            session: Arc::clone(&transaction.session),
            transaction: Some(transaction),
        })
    }

    /// A statement of a caller. With a name, it can be cancelled.
    pub(super) fn statement(&self, caller: &Caller, text: impl Into<Arc<str>>, name: Option<&[u8]>) -> Statement {
        let by = (caller.user.as_str(), &caller.rights);
        Statement::begin(&self.shared, "flight", by, text, name)
    }

    /// Starts a query. A change is deferred until its result is fetched.
    pub(super) async fn begin(
        &self,
        caller: &Caller,
        place: Place,
        text: impl Into<Arc<str>>,
        values: Vec<RecordBatch>,
        descriptor: FlightDescriptor,
    ) -> Reply<FlightInfo> {
        let handle = random();
        let mut statement = self.statement(caller, text, Some(&handle));
        let reads = statement.reads();
        let (waiting, schema) = match reads.map_err(|failure| status(&statement.failed(failure)))? {
            true => {
                let rows = Rows::begin(place.session, statement, values).await;
                let rows = rows.map_err(|failure| status(&failure))?;
                let schema = Arc::clone(&rows.schema);
                (Waiting::Rows(Box::new(rows)), Some(schema))
            }
            false => {
                let text = Arc::clone(&statement.text);
                statement.forget();
                (Waiting::Change(Box::new(Change { text, place, values })), None)
            }
        };
        let statement_handle = self.kept.answers.put_as(handle, caller, waiting)?;
        let ticket = TicketStatementQuery { statement_handle }.as_any().encode_to_vec();
        flight(schema.as_deref(), descriptor, ticket.into())
    }

    /// Returns the messages of a result. A deferred change runs here.
    pub(super) async fn fetch(&self, caller: &Caller, handle: &[u8]) -> Result<Messages, Status> {
        let waiting = self.kept.answers.take(caller, handle);
        let gone = || Status::not_found("this answer was fetched before, cancelled, or not fetched for a minute");
        let Change { text, place, values } = match waiting.ok_or_else(gone)? {
            Waiting::Rows(rows) => return Ok(rows.into_messages()),
            Waiting::Change(change) => *change,
        };
        let mut statement = self.statement(caller, text, Some(handle));
        if !values.is_empty() {
            let changed = self.change_each(&place, &mut statement, values).await;
            statement.end(changed).map_err(|failure| status(&failure))?;
            return Ok(nothing());
        }
        place.will_change();
        let text = Arc::clone(&statement.text);
        let answer = statement.change(place.session.query(&text)).await;
        let answer = answer.map_err(|failure| status(&statement.failed(failure)))?;
        match answer.changed() {
            Some(changed) => {
                statement.changed(changed.rows);
                statement.end(Ok(())).map_err(|failure| status(&failure))?;
                Ok(nothing())
            }
            // A script that ends with rows.
            None => Ok(Rows::of_answer(place.session, statement, answer).into_messages()),
        }
    }

    /// Cancels a result that is waiting or in flight. Returns whether there was one.
    pub(super) fn cancel(&self, caller: &Caller, handle: &[u8]) -> bool {
        self.kept.answers.take(caller, handle).is_some() || self.shared.cancels.cancel(&caller.user, handle)
    }

    /// Runs a change once for each row of values.
    pub(super) async fn change_each(
        &self,
        place: &Place,
        statement: &mut Statement,
        values: Vec<RecordBatch>,
    ) -> Result<i64, Failure> {
        place.will_change();
        let text = Arc::clone(&statement.text);
        let changed = statement.change(place.session.change_each(&text, runs(values))).await?;
        statement.changed(changed);
        Ok(count(changed))
    }

    /// Runs a change without parameters, or a query whose rows are discarded.
    pub(super) async fn update(&self, place: &Place, statement: &mut Statement) -> Result<i64, Failure> {
        if !statement.reads()? {
            place.will_change();
        }
        let text = Arc::clone(&statement.text);
        let answer = statement.change(place.session.query(&text)).await?;
        let changed = answer.changed().and_then(|changed| changed.rows);
        statement.changed(changed);
        Ok(count(changed))
    }

    /// The columns of a statement's rows; `None` if it returns no rows, or if they are known only after it has run.
    pub(super) async fn schema(
        &self,
        session: &Session,
        statement: &mut Statement,
    ) -> Result<Option<SchemaRef>, Failure> {
        Ok(match statement.reads()? {
            true => Some(for_programs(&describe(session, statement).await?)),
            false => None,
        })
    }

    /// The columns of a command's rows, without running it.
    pub(super) async fn schema_of(&self, command: Command, caller: &Caller) -> Result<SchemaRef, Status> {
        Ok(match command {
            Command::CommandStatementQuery(query) => {
                let place = self.place(caller, query.transaction_id.as_ref())?;
                let mut statement = self.statement(caller, query.query, None);
                let schema = self.schema(&place.session, &mut statement).await;
                let schema = statement.end(schema).map_err(|failure| status(&failure))?;
                schema.unwrap_or_else(|| Schema::empty().into())
            }
            Command::CommandPreparedStatementQuery(query) => {
                let prepared = self.prepared(caller, &query.prepared_statement_handle)?;
                prepared.schema.clone().unwrap_or_else(|| Schema::empty().into())
            }
            Command::CommandGetCatalogs(asked) => asked.into_builder().schema(),
            Command::CommandGetDbSchemas(asked) => asked.into_builder().schema(),
            Command::CommandGetTables(asked) => asked.into_builder().schema(),
            Command::CommandGetTableTypes(asked) => asked.into_builder().schema(),
            Command::CommandGetSqlInfo(_) => metadata::sql_info()?.schema(),
            Command::CommandGetXdbcTypeInfo(_) => metadata::types()?.schema(),
            Command::CommandGetPrimaryKeys(_) => metadata::primary_keys(),
            Command::CommandGetExportedKeys(_)
            | Command::CommandGetImportedKeys(_)
            | Command::CommandGetCrossReference(_) => metadata::foreign_keys(),
            _ => return Err(Status::unimplemented("this command has no rows")),
        })
    }

    pub(super) fn prepared(&self, caller: &Caller, handle: &[u8]) -> Result<Arc<Prepared>, Status> {
        let prepared = self.kept.prepared.get(caller, handle);
        prepared.ok_or_else(|| Status::not_found("no such prepared statement, or it was not used for an hour"))
    }

    /// The description of rows that are produced when they are fetched.
    pub(super) async fn described(&self, command: Command, request: Request<FlightDescriptor>) -> Reply<FlightInfo> {
        let caller = self.caller(&request).await?;
        let schema = self.schema_of(command, &caller).await?;
        let descriptor = request.into_inner();
        let ticket = descriptor.cmd.clone();
        flight(Some(&schema), descriptor, ticket)
    }

    /// Removes a transaction, which the request ends.
    pub(super) fn taken(&self, caller: &Caller, handle: &[u8]) -> Result<Arc<Transaction>, Status> {
        let transaction = self.kept.transactions.take(caller, handle);
        transaction.ok_or_else(no_transaction)
    }

    /// Closes the session of a caller over this connection, with its state.
    pub(super) fn close(&self, caller: &Caller) {
        self.kept.close(caller);
        caller.end_session();
    }

    /// Writes the uploaded rows into a table.
    pub(super) async fn ingest(
        &self,
        caller: &Caller,
        command: CommandStatementIngest,
        upload: Upload,
    ) -> Result<i64, Status> {
        if command.temporary {
            return Err(Status::unimplemented(
                "tables that are temporary have names with #: CREATE TABLE #name",
            ));
        }
        if !caller.rights.may_write {
            return Err(status(&Failure::only_reads()));
        }
        if let Some(catalog) = command.catalog.as_deref().filter(|name| !name.is_empty())
            && catalog != metadata::CATALOG
        {
            return Err(Status::not_found(format!(
                "there is no catalog {catalog:?}, but {}",
                metadata::CATALOG
            )));
        }
        let mode = mode(&command)?;
        let place = self.place(caller, command.transaction_id.as_ref())?;
        place.will_change();
        let table = match command.schema.filter(|name| !name.is_empty()) {
            None => command.table,
            Some(schema) => {
                let has = place.session.has_schema(&schema);
                if !has.map_err(|error| status(&Failure::of(&error, "")))? {
                    return Err(Status::not_found(format!("there is no schema {schema:?}")));
                }
                format!("{schema}.{}", command.table)
            }
        };
        let mut statement = self.statement(caller, format!("ingest {table}"), None);
        let session = Arc::clone(&place.session);
        let work = upload.into(|schema, batches| async move {
            let schema = from_programs(&schema);
            let named = Arc::clone(&schema);
            let batches = batches.map(move |batch| cast_batch(&batch?, &named));
            session.ingest(&table, mode, schema, batches).await
        });
        let rows = statement.change(async {
            work.await.map_err(|error| match error.external::<Broken>() {
                Some(broken) => tidemill_sql::Error::Unsupported {
                    what: broken.to_string(),
                    hint: "send the rows again".to_owned(),
                },
                None => error,
            })
        });
        let rows = rows.await;
        if let Ok(rows) = &rows {
            statement.changed(Some(*rows));
        }
        let rows = statement.end(rows).map_err(|failure| status(&failure))?;
        Ok(i64::try_from(rows).unwrap_or(i64::MAX))
    }
}

/// What to do if the table exists, and if it does not.
fn mode(command: &CommandStatementIngest) -> Result<Ingest, Status> {
    let options = command.table_definition_options.unwrap_or_default();
    let if_missing = TableNotExistOption::try_from(options.if_not_exist).unwrap_or_default();
    let if_there = TableExistsOption::try_from(options.if_exists).unwrap_or_default();
    match (if_missing, if_there) {
        (TableNotExistOption::Fail, TableExistsOption::Append) => Ok(Ingest::Append),
        (TableNotExistOption::Create | TableNotExistOption::Unspecified, TableExistsOption::Append) => {
            Ok(Ingest::CreateAppend)
        }
        (TableNotExistOption::Create | TableNotExistOption::Unspecified, TableExistsOption::Replace) => {
            Ok(Ingest::Replace)
        }
        (
            TableNotExistOption::Create | TableNotExistOption::Unspecified,
            TableExistsOption::Fail | TableExistsOption::Unspecified,
        ) => Ok(Ingest::Create),
        (TableNotExistOption::Fail, _) => Err(Status::invalid_argument(
            "a table that must be there is filled by appending to it",
        )),
    }
}

pub(super) fn no_transaction() -> Status {
    Status::not_found(
        "no such transaction: it was ended, was not used for an hour, or its connection ended after it changed something",
    )
}

/// The number of changed rows, as the protocol encodes it.
fn count(changed: Option<u64>) -> i64 {
    changed.map_or(-1, |rows| i64::try_from(rows).unwrap_or(i64::MAX))
}

/// A result without columns.
fn nothing() -> Messages {
    messages(Schema::empty().into(), stream::empty().boxed())
}

/// The description of a result.
pub(super) fn flight(schema: Option<&Schema>, descriptor: FlightDescriptor, ticket: Bytes) -> Reply<FlightInfo> {
    let endpoint = FlightEndpoint::new().with_ticket(Ticket::new(ticket));
    let mut info = FlightInfo::new().with_descriptor(descriptor).with_endpoint(endpoint);
    if let Some(schema) = schema {
        let described = info.try_with_schema(schema);
        info = described.map_err(|error| Status::internal(error.to_string()))?;
    }
    Ok(Response::new(info))
}
