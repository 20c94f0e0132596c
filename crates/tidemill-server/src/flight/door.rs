//! What each request of a client does.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::RecordBatch;
use arrow_flight::flight_service_server::FlightService;
use arrow_flight::sql::server::{FlightSqlService, PeekableFlightDataStream};
use arrow_flight::sql::{
    ActionBeginSavepointRequest, ActionBeginSavepointResult, ActionBeginTransactionRequest,
    ActionBeginTransactionResult, ActionCancelQueryRequest, ActionCancelQueryResult,
    ActionClosePreparedStatementRequest, ActionCreatePreparedStatementRequest, ActionCreatePreparedStatementResult,
    ActionEndSavepointRequest, ActionEndTransactionRequest, Any, Command, CommandGetCatalogs, CommandGetCrossReference,
    CommandGetDbSchemas, CommandGetExportedKeys, CommandGetImportedKeys, CommandGetPrimaryKeys, CommandGetSqlInfo,
    CommandGetTableTypes, CommandGetTables, CommandGetXdbcTypeInfo, CommandPreparedStatementQuery,
    CommandPreparedStatementUpdate, CommandStatementIngest, CommandStatementQuery, CommandStatementUpdate,
    DoPutPreparedStatementResult, EndTransaction, SqlInfo, TicketStatementQuery,
};
use arrow_flight::{Action, BasicAuth, FlightDescriptor, FlightInfo, HandshakeRequest, HandshakeResponse, Ticket};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use bytes::Bytes;
use futures::stream::{self, BoxStream};
use futures::{StreamExt as _, TryStreamExt as _};
use prost::Message as _;
use tonic::{Request, Response, Status, Streaming};

use super::caller::{Caller, Connection, authorization};
use super::kept::{Kept, Prepared, Transaction};
use super::rows::{Messages, messages};
use super::statements::{flight, no_transaction};
use super::uploads::Upload;
use super::{Reply, metadata, status};
use crate::failure::Failure;
use crate::server::Shared;
use crate::users::credentials;

/// Answers clients of Flight SQL.
pub(super) struct Door {
    pub(super) shared: Arc<Shared>,
    pub(super) kept: Arc<Kept>,
}

/// `ActionEndSavepointRequest.EndSavepoint` and `ActionCancelQueryResult.CancelResult` of [FlightSql.proto][proto], for which
/// `arrow-flight` has no names.
///
/// [proto]: https://github.com/apache/arrow/blob/main/format/FlightSql.proto
const RELEASE: i32 = 1;
const ROLLBACK: i32 = 2;
const CANCELLED: i32 = 1;
const NOT_CANCELLABLE: i32 = 3;

impl Door {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        let kept = Arc::default();
        Self { shared, kept }
    }

    pub(super) async fn caller<T>(&self, request: &Request<T>) -> Result<Caller, Status> {
        Caller::of(request, &self.shared).await
    }
}

/// The messages of a batch.
fn batch(batch: RecordBatch) -> Messages {
    messages(batch.schema(), stream::once(async { Ok(batch) }).boxed())
}

/// Runs a statement that sets a savepoint, rolls back to one, or releases one.
async fn savepoint(transaction: &Transaction, text: &str) -> Result<(), Status> {
    let done = transaction.session.query(text).await;
    done.map(drop).map_err(|error| status(&Failure::of(&error, text)))
}

#[tonic::async_trait]
impl FlightSqlService for Door {
    type FlightService = Self;

    /// Exchanges a name and a password, from the header or the first message, for a token.
    async fn do_handshake(
        &self,
        request: Request<Streaming<HandshakeRequest>>,
    ) -> Reply<BoxStream<'static, Result<HandshakeResponse, Status>>> {
        let header = authorization(&request).map(str::to_owned);
        let connection = request.extensions().get::<Arc<Connection>>().cloned();
        let connection = connection.ok_or_else(|| Status::internal("a request without a connection"))?;
        let given = match header.as_deref().and_then(credentials) {
            Some(given) => Some(given),
            None => {
                let first = request.into_inner().try_next().await?;
                let basic = first.and_then(|first| BasicAuth::decode(first.payload).ok());
                basic.map(|basic| (basic.username, basic.password))
            }
        };
        let user = match self.shared.users {
            // Without users, there is no login.
            None => String::new(),
            Some(_) => Caller::by_password(&self.shared, connection, given).await?.user,
        };
        let token = self.shared.tokens.new_token(&self.shared.secret, &user);
        let answer = HandshakeResponse {
            protocol_version: 0,
            payload: token.clone().into(),
        };
        let mut response = Response::new(stream::once(async { Ok(answer) }).boxed());
        let bearer = format!("Bearer {token}").parse();
        let bearer = bearer.map_err(|_| Status::internal("a token that is no header"))?;
        response.metadata_mut().insert("authorization", bearer);
        Ok(response)
    }

    async fn get_flight_info_statement(
        &self,
        query: CommandStatementQuery,
        request: Request<FlightDescriptor>,
    ) -> Reply<FlightInfo> {
        let caller = self.caller(&request).await?;
        let place = self.place(&caller, query.transaction_id.as_ref())?;
        self.begin(&caller, place, query.query, Vec::new(), request.into_inner())
            .await
    }

    async fn get_flight_info_prepared_statement(
        &self,
        query: CommandPreparedStatementQuery,
        request: Request<FlightDescriptor>,
    ) -> Reply<FlightInfo> {
        let caller = self.caller(&request).await?;
        let prepared = self.prepared(&caller, &query.prepared_statement_handle)?;
        let place = self.place(&caller, prepared.transaction.as_ref())?;
        let bound = prepared.bound.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if bound.is_empty() && !prepared.parameters.fields().is_empty() {
            return Err(Status::failed_precondition(
                "the statement's parameters have no values yet",
            ));
        }
        self.begin(&caller, place, prepared.text.clone(), bound, request.into_inner())
            .await
    }

    async fn do_get_statement(
        &self,
        ticket: TicketStatementQuery,
        request: Request<Ticket>,
    ) -> Reply<<Self as FlightService>::DoGetStream> {
        let caller = self.caller(&request).await?;
        self.fetch(&caller, &ticket.statement_handle).await.map(Response::new)
    }

    async fn do_put_statement_update(
        &self,
        ticket: CommandStatementUpdate,
        request: Request<PeekableFlightDataStream>,
    ) -> Result<i64, Status> {
        let caller = self.caller(&request).await?;
        let place = self.place(&caller, ticket.transaction_id.as_ref())?;
        let mut statement = self.statement(&caller, ticket.query, None);
        let done = self.update(&place, &mut statement).await;
        statement.end(done).map_err(|failure| status(&failure))
    }

    async fn do_put_statement_ingest(
        &self,
        ticket: CommandStatementIngest,
        request: Request<PeekableFlightDataStream>,
    ) -> Result<i64, Status> {
        let caller = self.caller(&request).await?;
        let upload = Upload::begin(request.into_inner()).await?;
        let upload = upload.ok_or_else(|| Status::invalid_argument("the rows have no schema"))?;
        self.ingest(&caller, ticket, upload).await
    }

    async fn do_put_prepared_statement_query(
        &self,
        query: CommandPreparedStatementQuery,
        request: Request<PeekableFlightDataStream>,
    ) -> Result<DoPutPreparedStatementResult, Status> {
        let caller = self.caller(&request).await?;
        let prepared = self.prepared(&caller, &query.prepared_statement_handle)?;
        let values = match Upload::begin(request.into_inner()).await? {
            Some(upload) => upload.all().await?,
            None => Vec::new(),
        };
        *prepared.bound.lock().unwrap_or_else(PoisonError::into_inner) = values;
        Ok(DoPutPreparedStatementResult {
            prepared_statement_handle: Some(query.prepared_statement_handle),
        })
    }

    async fn do_put_prepared_statement_update(
        &self,
        query: CommandPreparedStatementUpdate,
        request: Request<PeekableFlightDataStream>,
    ) -> Result<i64, Status> {
        let caller = self.caller(&request).await?;
        let prepared = self.prepared(&caller, &query.prepared_statement_handle)?;
        let place = self.place(&caller, prepared.transaction.as_ref())?;
        let values = match Upload::begin(request.into_inner()).await? {
            // For a statement without parameters, clients send no columns.
            Some(upload) if !upload.schema.fields().is_empty() => upload.all().await?,
            _ => Vec::new(),
        };
        let mut statement = self.statement(&caller, prepared.text.clone(), None);
        let done = match values.is_empty() {
            true => self.update(&place, &mut statement).await,
            false => match statement.reads() {
                Ok(_) => self.change_each(&place, &mut statement, values).await,
                Err(failure) => Err(failure),
            },
        };
        statement.end(done).map_err(|failure| status(&failure))
    }

    async fn do_action_create_prepared_statement(
        &self,
        query: ActionCreatePreparedStatementRequest,
        request: Request<Action>,
    ) -> Result<ActionCreatePreparedStatementResult, Status> {
        let caller = self.caller(&request).await?;
        let place = self.place(&caller, query.transaction_id.as_ref())?;
        let mut statement = self.statement(&caller, query.query, None);
        let text = Arc::clone(&statement.text);
        let described = async {
            statement.reads()?;
            let names = tidemill_ads::sql::parameters(&text).map_err(|error| Failure::of(&error.into(), &text))?;
            let schema = self.schema(&place.session, &mut statement).await?;
            Ok((names, schema))
        }
        .await;
        let (names, schema) = described.map_err(|failure: Failure| status(&statement.failed(failure)))?;
        statement.forget();
        let types = crate::postgres::types_of_marks(&place.session, &text, names.len()).await;
        let fields = names.into_iter().enumerate().map(|(place, name)| {
            let data_type = types.get(place).cloned().unwrap_or(DataType::Utf8);
            Field::new(name.unwrap_or_default(), data_type, true)
        });
        let parameters: SchemaRef = Schema::new(fields.collect::<Vec<_>>()).into();
        let encoded = |schema: &Schema| match flight(Some(schema), FlightDescriptor::default(), Bytes::new()) {
            Ok(info) => Ok(info.into_inner().schema),
            Err(status) => Err(status),
        };
        let (dataset_schema, parameter_schema) = (
            schema.as_deref().map(encoded).transpose()?.unwrap_or_default(),
            encoded(&parameters)?,
        );
        let prepared = Arc::new(Prepared {
            text,
            schema,
            parameters,
            transaction: query.transaction_id,
            bound: Mutex::default(),
        });
        Ok(ActionCreatePreparedStatementResult {
            prepared_statement_handle: self.kept.prepared.put(&caller, prepared)?,
            dataset_schema,
            parameter_schema,
        })
    }

    async fn do_action_close_prepared_statement(
        &self,
        query: ActionClosePreparedStatementRequest,
        request: Request<Action>,
    ) -> Result<(), Status> {
        let caller = self.caller(&request).await?;
        // Closing an expired one succeeds too.
        self.kept.prepared.take(&caller, &query.prepared_statement_handle);
        Ok(())
    }

    async fn do_action_begin_transaction(
        &self,
        _: ActionBeginTransactionRequest,
        request: Request<Action>,
    ) -> Result<ActionBeginTransactionResult, Status> {
        let caller = self.caller(&request).await?;
        let session = Arc::new(self.shared.stores.session(&caller.rights));
        let begun = session.set_autocommit(false).await;
        begun.map_err(|error| status(&Failure::of(&error, "")))?;
        let transaction = Arc::new(Transaction {
            session,
            has_changed: AtomicBool::new(false),
            savepoints: AtomicU64::new(0),
        });
        Ok(ActionBeginTransactionResult {
            transaction_id: self.kept.transactions.put(&caller, transaction)?,
        })
    }

    async fn do_action_end_transaction(
        &self,
        query: ActionEndTransactionRequest,
        request: Request<Action>,
    ) -> Result<(), Status> {
        let caller = self.caller(&request).await?;
        let keeps = match query.action() {
            EndTransaction::Commit => true,
            EndTransaction::Rollback => false,
            EndTransaction::Unspecified => {
                return Err(Status::invalid_argument("a transaction is ended by COMMIT or ROLLBACK"));
            }
        };
        let transaction = self.taken(&caller, &query.transaction_id)?;
        let ended = match keeps {
            true => transaction.session.commit().await,
            false => transaction.session.rollback().await,
        };
        ended.map_err(|error| status(&Failure::of(&error, "")))
    }

    async fn do_action_begin_savepoint(
        &self,
        query: ActionBeginSavepointRequest,
        request: Request<Action>,
    ) -> Result<ActionBeginSavepointResult, Status> {
        let caller = self.caller(&request).await?;
        let transaction = self.kept.transactions.get(&caller, &query.transaction_id);
        let transaction = transaction.ok_or_else(no_transaction)?;
        let number = transaction.savepoints.fetch_add(1, Ordering::Relaxed);
        savepoint(&transaction, &format!("SAVEPOINT flight_{number}")).await?;
        let mut savepoint_id = query.transaction_id.to_vec();
        savepoint_id.extend_from_slice(&number.to_be_bytes());
        Ok(ActionBeginSavepointResult {
            savepoint_id: savepoint_id.into(),
        })
    }

    async fn do_action_end_savepoint(
        &self,
        query: ActionEndSavepointRequest,
        request: Request<Action>,
    ) -> Result<(), Status> {
        let caller = self.caller(&request).await?;
        let parts = query.savepoint_id.split_at_checked(16);
        let known = parts.and_then(|(transaction, number)| {
            let number = u64::from_be_bytes(number.try_into().ok()?);
            Some((self.kept.transactions.get(&caller, transaction)?, number))
        });
        let (transaction, number) = known.ok_or_else(|| Status::not_found("no such savepoint"))?;
        match query.action {
            RELEASE => savepoint(&transaction, &format!("RELEASE SAVEPOINT flight_{number}")).await,
            ROLLBACK => savepoint(&transaction, &format!("ROLLBACK TO SAVEPOINT flight_{number}")).await,
            _ => Err(Status::invalid_argument("a savepoint is ended by RELEASE or ROLLBACK")),
        }
    }

    async fn do_action_cancel_query(
        &self,
        query: ActionCancelQueryRequest,
        request: Request<Action>,
    ) -> Result<ActionCancelQueryResult, Status> {
        let caller = self.caller(&request).await?;
        let info = FlightInfo::decode(query.info).map_err(|error| Status::invalid_argument(error.to_string()))?;
        let result = match self.cancel_flight(&caller, &info) {
            true => CANCELLED,
            false => NOT_CANCELLABLE,
        };
        Ok(ActionCancelQueryResult { result })
    }

    async fn register_sql_info(&self, _: i32, _: &SqlInfo) {}

    async fn get_flight_info_catalogs(
        &self,
        asked: CommandGetCatalogs,
        request: Request<FlightDescriptor>,
    ) -> Reply<FlightInfo> {
        self.described(Command::CommandGetCatalogs(asked), request).await
    }

    async fn get_flight_info_schemas(
        &self,
        asked: CommandGetDbSchemas,
        request: Request<FlightDescriptor>,
    ) -> Reply<FlightInfo> {
        self.described(Command::CommandGetDbSchemas(asked), request).await
    }

    async fn get_flight_info_tables(
        &self,
        asked: CommandGetTables,
        request: Request<FlightDescriptor>,
    ) -> Reply<FlightInfo> {
        self.described(Command::CommandGetTables(asked), request).await
    }

    async fn get_flight_info_table_types(
        &self,
        asked: CommandGetTableTypes,
        request: Request<FlightDescriptor>,
    ) -> Reply<FlightInfo> {
        self.described(Command::CommandGetTableTypes(asked), request).await
    }

    async fn get_flight_info_sql_info(
        &self,
        asked: CommandGetSqlInfo,
        request: Request<FlightDescriptor>,
    ) -> Reply<FlightInfo> {
        self.described(Command::CommandGetSqlInfo(asked), request).await
    }

    async fn get_flight_info_primary_keys(
        &self,
        asked: CommandGetPrimaryKeys,
        request: Request<FlightDescriptor>,
    ) -> Reply<FlightInfo> {
        self.described(Command::CommandGetPrimaryKeys(asked), request).await
    }

    async fn get_flight_info_exported_keys(
        &self,
        asked: CommandGetExportedKeys,
        request: Request<FlightDescriptor>,
    ) -> Reply<FlightInfo> {
        self.described(Command::CommandGetExportedKeys(asked), request).await
    }

    async fn get_flight_info_imported_keys(
        &self,
        asked: CommandGetImportedKeys,
        request: Request<FlightDescriptor>,
    ) -> Reply<FlightInfo> {
        self.described(Command::CommandGetImportedKeys(asked), request).await
    }

    async fn get_flight_info_cross_reference(
        &self,
        asked: CommandGetCrossReference,
        request: Request<FlightDescriptor>,
    ) -> Reply<FlightInfo> {
        self.described(Command::CommandGetCrossReference(asked), request).await
    }

    async fn get_flight_info_xdbc_type_info(
        &self,
        asked: CommandGetXdbcTypeInfo,
        request: Request<FlightDescriptor>,
    ) -> Reply<FlightInfo> {
        self.described(Command::CommandGetXdbcTypeInfo(asked), request).await
    }

    async fn do_get_catalogs(
        &self,
        asked: CommandGetCatalogs,
        request: Request<Ticket>,
    ) -> Reply<<Self as FlightService>::DoGetStream> {
        self.caller(&request).await?;
        Ok(Response::new(batch(metadata::catalogs(asked)?)))
    }

    async fn do_get_schemas(
        &self,
        asked: CommandGetDbSchemas,
        request: Request<Ticket>,
    ) -> Reply<<Self as FlightService>::DoGetStream> {
        let caller = self.caller(&request).await?;
        Ok(Response::new(batch(metadata::schemas(
            asked,
            &self.shared.stores.schemas(&caller.rights),
        )?)))
    }

    async fn do_get_tables(
        &self,
        asked: CommandGetTables,
        request: Request<Ticket>,
    ) -> Reply<<Self as FlightService>::DoGetStream> {
        let caller = self.caller(&request).await?;
        Ok(Response::new(batch(
            metadata::tables(asked, &caller.session(&self.shared)).await?,
        )))
    }

    async fn do_get_table_types(
        &self,
        asked: CommandGetTableTypes,
        request: Request<Ticket>,
    ) -> Reply<<Self as FlightService>::DoGetStream> {
        self.caller(&request).await?;
        Ok(Response::new(batch(metadata::table_types(asked)?)))
    }

    async fn do_get_sql_info(
        &self,
        asked: CommandGetSqlInfo,
        request: Request<Ticket>,
    ) -> Reply<<Self as FlightService>::DoGetStream> {
        self.caller(&request).await?;
        Ok(Response::new(batch(metadata::info(asked)?)))
    }

    async fn do_get_primary_keys(
        &self,
        asked: CommandGetPrimaryKeys,
        request: Request<Ticket>,
    ) -> Reply<<Self as FlightService>::DoGetStream> {
        let caller = self.caller(&request).await?;
        Ok(Response::new(batch(
            metadata::primary_key(&asked, &caller.session(&self.shared)).await?,
        )))
    }

    async fn do_get_exported_keys(
        &self,
        _: CommandGetExportedKeys,
        request: Request<Ticket>,
    ) -> Reply<<Self as FlightService>::DoGetStream> {
        self.caller(&request).await?;
        Ok(Response::new(batch(RecordBatch::new_empty(metadata::foreign_keys()))))
    }

    async fn do_get_imported_keys(
        &self,
        _: CommandGetImportedKeys,
        request: Request<Ticket>,
    ) -> Reply<<Self as FlightService>::DoGetStream> {
        self.caller(&request).await?;
        Ok(Response::new(batch(RecordBatch::new_empty(metadata::foreign_keys()))))
    }

    async fn do_get_cross_reference(
        &self,
        _: CommandGetCrossReference,
        request: Request<Ticket>,
    ) -> Reply<<Self as FlightService>::DoGetStream> {
        self.caller(&request).await?;
        Ok(Response::new(batch(RecordBatch::new_empty(metadata::foreign_keys()))))
    }

    async fn do_get_xdbc_type_info(
        &self,
        asked: CommandGetXdbcTypeInfo,
        request: Request<Ticket>,
    ) -> Reply<<Self as FlightService>::DoGetStream> {
        self.caller(&request).await?;
        Ok(Response::new(batch(metadata::type_info(asked)?)))
    }
}

impl Door {
    /// Cancels the results of a flight. Returns whether there were any.
    pub(super) fn cancel_flight(&self, caller: &Caller, info: &FlightInfo) -> bool {
        let tickets = info.endpoint.iter().filter_map(|endpoint| endpoint.ticket.as_ref());
        let mut any = false;
        for ticket in tickets {
            let named = Any::decode(&*ticket.ticket)
                .ok()
                .and_then(|any| any.unpack::<TicketStatementQuery>().ok()?);
            any |= named.is_some_and(|named| self.cancel(caller, &named.statement_handle));
        }
        any
    }
}
