//! Handles each message of a client.

use std::collections::HashMap;
use std::fmt::Debug;
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use arrow_array::{RecordBatch, RecordBatchOptions};
use arrow_schema::Schema;
use async_trait::async_trait;
use futures::{Sink, SinkExt as _};
use pgwire::api::cancel::CancelHandler;
use pgwire::api::copy::CopyHandler;
use pgwire::api::portal::{Format, Portal};
use pgwire::api::query::{ExtendedQueryHandler, SimpleQueryHandler};
use pgwire::api::results::{FieldInfo, Response, Tag};
use pgwire::api::stmt::{QueryParser, StoredStatement};
use pgwire::api::store::{Entry, PortalStore};
use pgwire::api::{ClientInfo, ClientPortalStore, DEFAULT_NAME, PgWireConnectionState};
use pgwire::error::{PgWireError, PgWireResult};
use pgwire::messages::PgWireBackendMessage as Sending;
use pgwire::messages::cancel::CancelRequest;
use pgwire::messages::copy::{CopyData, CopyDone, CopyFail, CopyInResponse, CopyOutResponse};
use pgwire::messages::data::{NoData, ParameterDescription};
use pgwire::messages::extendedquery::{
    Bind, BindComplete, Describe, Execute, Parse, ParseComplete, PortalSuspended, Sync as SyncMessage,
    TARGET_TYPE_BYTE_PORTAL, TARGET_TYPE_BYTE_STATEMENT,
};
use pgwire::messages::response::{EmptyQueryResponse, ReadyForQuery, TransactionStatus};
use pgwire::messages::simplequery::Query;
use pgwire::messages::startup::ParameterStatus;
use tokio::sync::Mutex;

use super::client::{Client, Interrupts, Outcome};
use super::command::{self, Command, Prepared};
use super::copy::In;
use super::rows::{Rows, description};
use super::startup::Login;
use super::{failure, parameters};
use crate::server::Shared;
use crate::statement::Canceller;

/// The state of a connection.
pub(crate) struct Door {
    pub(super) shared: Arc<Shared>,
    pub(super) peer: SocketAddr,
    /// Detects a disconnect.
    line: TcpStream,
    pub(super) login: Mutex<Login>,
    /// Set after the login.
    pub(super) client: OnceLock<Arc<Client>>,
    pub(super) canceller: Canceller,
    pub(super) number: AtomicI32,
    /// Portals that are suspended, or were described before they run.
    open: Mutex<HashMap<String, Open>>,
    /// A COPY FROM STDIN in progress.
    incoming: Mutex<Option<In>>,
}

struct Open {
    portal: Arc<Portal<Arc<Prepared>>>,
    outcome: Outcome,
    work: Work,
}

/// A statement in flight.
struct Work {
    text: String,
    begun: Instant,
    rows: u64,
    interrupts: Interrupts,
}

impl Work {
    fn begin(client: &Client, text: &str) -> Self {
        Self {
            text: text.to_owned(),
            begun: Instant::now(),
            rows: 0,
            interrupts: client.interrupts(),
        }
    }

    /// Logs the statement, with its result or error.
    fn ended<T>(&self, client: &Client, done: PgWireResult<T>) -> PgWireResult<T> {
        client.log(&self.text, self.begun, self.rows, done.as_ref().err());
        done
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        self.shared.running.remove(self.number.load(Ordering::Relaxed));
    }
}

impl Door {
    pub(super) fn new(shared: Arc<Shared>, peer: SocketAddr, line: TcpStream) -> Self {
        Self {
            shared,
            peer,
            line,
            login: Mutex::default(),
            client: OnceLock::new(),
            canceller: Canceller::new(),
            number: AtomicI32::new(0),
            open: Mutex::default(),
            incoming: Mutex::default(),
        }
    }

    /// Whether the login succeeded.
    pub(super) fn is_open(&self) -> bool {
        self.client.get().is_some()
    }

    fn known(&self) -> PgWireResult<&Arc<Client>> {
        self.client
            .get()
            .ok_or_else(|| failure::fatal("28000", "the login is not over"))
    }

    /// Sends the outcome of a statement. Returns the state of the transaction, and whether the last row was sent.
    async fn send<C>(
        &self,
        sink: &mut C,
        outcome: &mut Outcome,
        work: &mut Work,
        most: usize,
        is_extended: bool,
    ) -> PgWireResult<(TransactionStatus, bool)>
    where
        C: ClientInfo + ClientPortalStore + Sink<Sending> + Unpin + Send + Sync,
        C::PortalStore: PortalStore,
        PgWireError: From<<C as Sink<Sending>>::Error>,
    {
        let client = self.known()?;
        let status = sink.transaction_status();
        let done = |tag: &Tag| Sending::CommandComplete(tag.clone().into());
        match outcome {
            Outcome::Rows(rows) => {
                if !is_extended {
                    rows.set_formats(&Format::UnifiedText);
                    sink.feed(Sending::RowDescription(description(
                        &rows.columns,
                        &Format::UnifiedText,
                    )))
                    .await?;
                }
                let (sent, is_over) = self.send_rows(sink, rows, work, most).await?;
                match is_over {
                    true => sink.feed(done(&Tag::new(&rows.tag).with_rows(sent))).await?,
                    false => sink.feed(Sending::PortalSuspended(PortalSuspended::new())).await?,
                }
                return Ok((status, is_over));
            }
            Outcome::Done(tag) => sink.feed(done(tag)).await?,
            Outcome::Set(told, tag) => {
                for (name, value) in told.drain(..) {
                    let status = ParameterStatus::new(name.to_owned(), value);
                    sink.feed(Sending::ParameterStatus(status)).await?;
                }
                sink.feed(done(tag)).await?;
            }
            Outcome::Begun(tag) => {
                sink.feed(done(tag)).await?;
                return Ok((TransactionStatus::Transaction, true));
            }
            Outcome::Ended(tag) => {
                sink.feed(done(tag)).await?;
                return Ok((TransactionStatus::Idle, true));
            }
            Outcome::Forget(name, tag) => {
                if let Some(name) = name {
                    sink.portal_store().rm_statement(name);
                }
                sink.feed(done(tag)).await?;
            }
            Outcome::CopyOut(out) => {
                let (code, formats) = out.formats();
                let columns = i16::try_from(formats.len()).unwrap_or(i16::MAX);
                sink.feed(Sending::CopyOutResponse(CopyOutResponse::new(code, columns, formats)))
                    .await?;
                while let Some(pieces) = work.interrupts.within(&self.line, out.next()).await? {
                    for piece in pieces {
                        sink.feed(Sending::CopyData(CopyData::new(piece))).await?;
                    }
                }
                work.rows = out.sent;
                sink.feed(Sending::CopyDone(CopyDone::new())).await?;
                let sent = usize::try_from(out.sent).unwrap_or(usize::MAX);
                sink.feed(done(&Tag::new("COPY").with_rows(sent))).await?;
            }
            Outcome::CopyIn(copy) => {
                let begun = In::begin(client, copy.clone(), &work.text).await?;
                let columns = i16::try_from(begun.columns).unwrap_or(i16::MAX);
                let formats = vec![i16::from(begun.code); begun.columns];
                let response = CopyInResponse::new(begun.code, columns, formats);
                *self.incoming.lock().await = Some(begun);
                sink.set_state(PgWireConnectionState::CopyInProgress(is_extended));
                sink.send(Sending::CopyInResponse(response)).await?;
            }
        }
        Ok((status, true))
    }

    /// Sends rows, at most `most` unless that is 0. Returns how many were sent, and whether the last was among them.
    async fn send_rows<C>(
        &self,
        sink: &mut C,
        rows: &mut Rows,
        work: &mut Work,
        most: usize,
    ) -> PgWireResult<(usize, bool)>
    where
        C: Sink<Sending> + Unpin + Send,
        PgWireError: From<<C as Sink<Sending>>::Error>,
    {
        let mut sent = 0;
        while let Some(mut batch) = work.interrupts.within(&self.line, rows.next()).await? {
            while let Some(row) = batch.pop_front() {
                sink.feed(Sending::DataRow(row)).await?;
                sent += 1;
                work.rows += 1;
                if most > 0 && sent == most {
                    rows.put_back(batch);
                    return Ok((sent, false));
                }
            }
        }
        Ok((sent, true))
    }

    /// Runs one statement of a simple query.
    ///
    /// # Errors
    ///
    /// The error of the statement, with its position.
    async fn simple<C>(&self, sink: &mut C, text: &str) -> PgWireResult<()>
    where
        C: ClientInfo + ClientPortalStore + Sink<Sending> + Unpin + Send + Sync,
        C::PortalStore: PortalStore,
        PgWireError: From<<C as Sink<Sending>>::Error>,
    {
        let client = self.known()?;
        let mut work = Work::begin(client, text);
        let done = async {
            let prepared = client.prepare(text, &[]).await?;
            if !prepared.types.is_empty() {
                return Err(failure::error(
                    "42P02",
                    "there are no values for the parameters: send it as a prepared statement",
                ));
            }
            let status = sink.transaction_status();
            let mut outcome = client
                .run(&prepared, &no_values(), status, &mut work.interrupts, &self.line)
                .await?;
            self.send(sink, &mut outcome, &mut work, 0, false).await
        };
        let done = done.await;
        let (status, _) = work.ended(client, done)?;
        sink.set_transaction_status(status);
        Ok(())
    }

    /// The outcome of a portal: that of the suspended portal, or that of its statement, which runs now.
    async fn opened(
        &self,
        name: &str,
        portal: &Arc<Portal<Arc<Prepared>>>,
        status: TransactionStatus,
    ) -> PgWireResult<(Outcome, Work)> {
        let client = self.known()?;
        if let Some(open) = self.open.lock().await.remove(name)
            && Arc::ptr_eq(&open.portal, portal)
        {
            return Ok((open.outcome, open.work));
        }
        let prepared = &portal.statement.statement;
        let mut work = Work::begin(client, &prepared.text);
        let outcome = async {
            let values = parameters::given(&prepared.types, &portal.parameter_format, &portal.parameters)?;
            let mut outcome = client
                .run(prepared, &values, status, &mut work.interrupts, &self.line)
                .await?;
            if let Outcome::Rows(rows) = &mut outcome {
                rows.set_formats(&portal.result_column_format);
            }
            Ok(outcome)
        };
        match outcome.await {
            Ok(outcome) => Ok((outcome, work)),
            Err(error) => work.ended(client, Err(error)),
        }
    }
}

/// Whether a statement begins or ends a transaction explicitly.
fn ends_or_begins(text: &str) -> bool {
    let command = command::parse(text);
    matches!(command, Ok(Command::Begin { .. } | Command::Commit | Command::Rollback))
}

/// Whether a statement is a COPY FROM STDIN.
fn takes_rows(text: &str) -> bool {
    matches!(command::parse(text), Ok(Command::Copy(copy)) if copy.query().is_none())
}

/// The values of a statement without parameters: one row without columns.
fn no_values() -> RecordBatch {
    let one = RecordBatchOptions::new().with_row_count(Some(1));
    RecordBatch::try_new_with_options(Arc::new(Schema::empty()), Vec::new(), &one)
        .unwrap_or_else(|_| RecordBatch::new_empty(Arc::new(Schema::empty())))
}

#[async_trait]
impl SimpleQueryHandler for Door {
    async fn on_query<C>(&self, sink: &mut C, query: Query) -> PgWireResult<()>
    where
        C: ClientInfo + ClientPortalStore + Sink<Sending> + Unpin + Send + Sync,
        C::PortalStore: PortalStore,
        C::Error: Debug,
        PgWireError: From<<C as Sink<Sending>>::Error>,
    {
        if !matches!(sink.state(), PgWireConnectionState::ReadyForQuery) {
            return Err(failure::fatal("08P01", "a query before the last one was answered"));
        }
        sink.set_state(PgWireConnectionState::QueryInProgress);
        let statements = command::split_with_places(&query.query)?;
        if statements.is_empty() {
            sink.feed(Sending::EmptyQueryResponse(EmptyQueryResponse::new()))
                .await?;
        }
        // The statements of one text are a single transaction, unless they control it themselves.
        let client = self.known()?;
        let mut is_whole = statements.len() > 1 && sink.transaction_status() == TransactionStatus::Idle;
        if let [earlier @ .., last] = statements.as_slice()
            && !earlier.is_empty()
        {
            if earlier.iter().any(|(_, text)| takes_rows(text)) {
                return Err(failure::error(
                    "0A000",
                    "COPY … FROM STDIN must be the last statement of a text",
                ));
            }
            is_whole &= !statements.iter().any(|(_, text)| ends_or_begins(text)) && !takes_rows(&last.1);
        }
        if is_whole {
            client.begin_text().await?;
        }
        let mut done = Ok(());
        for (before, text) in &statements {
            done = self
                .simple(sink, text)
                .await
                .map_err(|error| failure::moved(error, *before));
            if done.is_err() || matches!(sink.state(), PgWireConnectionState::CopyInProgress(_)) {
                break;
            }
        }
        if is_whole {
            client.end_text(done.is_ok()).await?;
        }
        done?;
        if matches!(sink.state(), PgWireConnectionState::CopyInProgress(_)) {
            return Ok(());
        }
        sink.set_state(PgWireConnectionState::ReadyForQuery);
        sink.send(Sending::ReadyForQuery(ReadyForQuery::new(sink.transaction_status())))
            .await?;
        Ok(())
    }

    async fn do_query<C>(&self, _: &mut C, _: &str) -> PgWireResult<Vec<Response>>
    where
        C: ClientInfo + ClientPortalStore + Sink<Sending> + Unpin + Send + Sync,
        C::PortalStore: PortalStore,
        C::Error: Debug,
        PgWireError: From<<C as Sink<Sending>>::Error>,
    {
        Err(failure::error("XX000", "a query came another way"))
    }
}

/// Parses a client's statements.
pub(crate) struct Parsing(Option<Arc<Client>>);

#[async_trait]
impl QueryParser for Parsing {
    type Statement = Arc<Prepared>;

    async fn parse_sql<C>(
        &self,
        _: &C,
        text: &str,
        types: &[Option<pgwire::api::Type>],
    ) -> PgWireResult<Option<Arc<Prepared>>>
    where
        C: ClientInfo + Unpin + Send + Sync,
    {
        let statements = command::split(text)?;
        match statements.as_slice() {
            [] => Ok(None),
            [only] => {
                let client = self
                    .0
                    .as_ref()
                    .ok_or_else(|| failure::fatal("28000", "the login is not over"))?;
                Ok(Some(Arc::new(client.prepare(only, types).await?)))
            }
            _ => Err(failure::error(
                "42601",
                "cannot insert multiple commands into a prepared statement",
            )),
        }
    }

    fn get_parameter_types(&self, statement: &Arc<Prepared>) -> PgWireResult<Vec<pgwire::api::Type>> {
        let types = statement.types.iter().map(|typ| pgwire::api::Type::from_oid(typ.oid()));
        Ok(types.map(|typ| typ.unwrap_or(pgwire::api::Type::TEXT)).collect())
    }

    fn get_result_schema(&self, _: &Arc<Prepared>, _: Option<&Format>) -> PgWireResult<Vec<FieldInfo>> {
        Err(failure::error("XX000", "a statement was described another way"))
    }
}

#[async_trait]
impl ExtendedQueryHandler for Door {
    type Statement = Arc<Prepared>;
    type QueryParser = Parsing;

    fn query_parser(&self) -> Arc<Parsing> {
        Arc::new(Parsing(self.client.get().cloned()))
    }

    // The responses to Parse and Bind are sent with the rows: a client waits for them only after Sync or Flush.

    async fn on_parse<C>(&self, sink: &mut C, message: Parse) -> PgWireResult<()>
    where
        C: ClientInfo + ClientPortalStore + Sink<Sending> + Unpin + Send + Sync,
        C::PortalStore: PortalStore<Statement = Arc<Prepared>>,
        C::Error: Debug,
        PgWireError: From<<C as Sink<Sending>>::Error>,
    {
        match StoredStatement::parse(sink, &message, self.query_parser()).await? {
            Some(statement) => sink.portal_store().put_statement(Arc::new(statement)),
            None => {
                let name = message.name.as_deref().unwrap_or(DEFAULT_NAME);
                sink.portal_store().put_empty_statement(name);
            }
        }
        sink.feed(Sending::ParseComplete(ParseComplete::new())).await?;
        Ok(())
    }

    async fn on_bind<C>(&self, sink: &mut C, message: Bind) -> PgWireResult<()>
    where
        C: ClientInfo + ClientPortalStore + Sink<Sending> + Unpin + Send + Sync,
        C::PortalStore: PortalStore<Statement = Arc<Prepared>>,
        C::Error: Debug,
        PgWireError: From<<C as Sink<Sending>>::Error>,
    {
        let name = message.statement_name.as_deref().unwrap_or(DEFAULT_NAME);
        match sink.portal_store().get_statement(name) {
            Some(Entry::Value(statement)) => {
                let portal = Portal::try_new(&message, statement)?;
                sink.portal_store().put_portal(Arc::new(portal));
            }
            Some(Entry::Empty) if message.parameters.is_empty() => {
                let portal = message.portal_name.as_deref().unwrap_or(DEFAULT_NAME);
                sink.portal_store().put_empty_portal(portal);
            }
            Some(Entry::Empty) => {
                let count = message.parameters.len();
                let message = format!("{count} values for the prepared statement {name:?}, which has no parameters");
                return Err(failure::error("08P01", message));
            }
            None => return Err(PgWireError::StatementNotFound(name.to_owned())),
        }
        sink.feed(Sending::BindComplete(BindComplete::new())).await?;
        Ok(())
    }

    async fn on_describe<C>(&self, sink: &mut C, message: Describe) -> PgWireResult<()>
    where
        C: ClientInfo + ClientPortalStore + Sink<Sending> + Unpin + Send + Sync,
        C::PortalStore: PortalStore<Statement = Arc<Prepared>>,
        C::Error: Debug,
        PgWireError: From<<C as Sink<Sending>>::Error>,
    {
        let name = message.name.as_deref().unwrap_or(DEFAULT_NAME);
        let status = sink.transaction_status();
        match message.target_type {
            TARGET_TYPE_BYTE_STATEMENT => {
                let Some(known) = sink.portal_store().get_statement(name) else {
                    return Err(PgWireError::StatementNotFound(name.to_owned()));
                };
                let Some(stored) = known.value().cloned() else {
                    sink.feed(Sending::ParameterDescription(ParameterDescription::new(Vec::new())))
                        .await?;
                    sink.feed(Sending::NoData(NoData::new())).await?;
                    return Ok(());
                };
                let prepared = &stored.statement;
                let oids = prepared.types.iter().map(tidemill_postgres::Type::oid).collect();
                sink.feed(Sending::ParameterDescription(ParameterDescription::new(oids)))
                    .await?;
                match self.columns(prepared, status).await? {
                    Some(columns) => {
                        sink.feed(Sending::RowDescription(description(&columns, &Format::UnifiedText)))
                            .await?;
                    }
                    None => sink.feed(Sending::NoData(NoData::new())).await?,
                }
            }
            TARGET_TYPE_BYTE_PORTAL => {
                let Some(known) = sink.portal_store().get_portal(name) else {
                    // A cursor of DECLARE is a portal too.
                    let columns = self.known()?.cursor(name).await;
                    let columns = columns.ok_or_else(|| PgWireError::PortalNotFound(name.to_owned()))?;
                    sink.feed(Sending::RowDescription(description(&columns, &Format::UnifiedText)))
                        .await?;
                    return Ok(());
                };
                let portal = known.value().cloned();
                let (Some(portal), true) = (
                    portal.clone(),
                    portal.is_some_and(|portal| portal.statement.statement.gives_rows()),
                ) else {
                    sink.feed(Sending::NoData(NoData::new())).await?;
                    return Ok(());
                };
                // The statement runs now; its rows are sent on Execute.
                let (outcome, work) = self.opened(name, &portal, status).await?;
                match &outcome {
                    Outcome::Rows(rows) => {
                        let description = description(&rows.columns, &portal.result_column_format);
                        sink.feed(Sending::RowDescription(description)).await?;
                    }
                    _ => sink.feed(Sending::NoData(NoData::new())).await?,
                }
                self.open
                    .lock()
                    .await
                    .insert(name.to_owned(), Open { portal, outcome, work });
            }
            other => return Err(PgWireError::InvalidTargetType(other)),
        }
        Ok(())
    }

    async fn on_execute<C>(&self, sink: &mut C, message: Execute) -> PgWireResult<()>
    where
        C: ClientInfo + ClientPortalStore + Sink<Sending> + Unpin + Send + Sync,
        C::PortalStore: PortalStore<Statement = Arc<Prepared>>,
        C::Error: Debug,
        PgWireError: From<<C as Sink<Sending>>::Error>,
    {
        if !matches!(sink.state(), PgWireConnectionState::ReadyForQuery) {
            return Err(failure::fatal("08P01", "a query before the last one was answered"));
        }
        let name = message.name.as_deref().unwrap_or(DEFAULT_NAME);
        let Some(known) = sink.portal_store().get_portal(name) else {
            return Err(PgWireError::PortalNotFound(name.to_owned()));
        };
        let Some(portal) = known.value().cloned() else {
            sink.feed(Sending::EmptyQueryResponse(EmptyQueryResponse::new()))
                .await?;
            return Ok(());
        };
        let client = self.known()?;
        let (mut outcome, mut work) = self.opened(name, &portal, sink.transaction_status()).await?;
        // A negative number means no limit.
        let most = usize::try_from(message.max_rows).unwrap_or(0);
        let sent = self.send(sink, &mut outcome, &mut work, most, true).await;
        if let Ok((_, false)) = sent {
            self.open
                .lock()
                .await
                .insert(name.to_owned(), Open { portal, outcome, work });
            return Ok(());
        }
        let (status, _) = work.ended(client, sent)?;
        sink.set_transaction_status(status);
        Ok(())
    }

    async fn on_sync<C>(&self, sink: &mut C, _: SyncMessage) -> PgWireResult<()>
    where
        C: ClientInfo + ClientPortalStore + Sink<Sending> + Unpin + Send + Sync,
        C::PortalStore: PortalStore<Statement = Arc<Prepared>>,
        C::Error: Debug,
        PgWireError: From<<C as Sink<Sending>>::Error>,
    {
        let status = sink.transaction_status();
        sink.portal_store().rm_portal(DEFAULT_NAME);
        let mut open = self.open.lock().await;
        match status {
            // Portals are closed with their transaction.
            TransactionStatus::Idle => open.clear(),
            _ => open.retain(|name, _| name != DEFAULT_NAME),
        }
        drop(open);
        sink.send(Sending::ReadyForQuery(ReadyForQuery::new(status))).await?;
        Ok(())
    }

    async fn do_query<C>(&self, _: &mut C, _: &Portal<Arc<Prepared>>, _: usize) -> PgWireResult<Response>
    where
        C: ClientInfo + ClientPortalStore + Sink<Sending> + Unpin + Send + Sync,
        C::PortalStore: PortalStore<Statement = Arc<Prepared>>,
        C::Error: Debug,
        PgWireError: From<<C as Sink<Sending>>::Error>,
    {
        Err(failure::error("XX000", "a query came another way"))
    }
}

impl Door {
    /// The columns of a statement, planned with NULL for its parameters.
    async fn columns(
        &self,
        prepared: &Prepared,
        status: TransactionStatus,
    ) -> PgWireResult<Option<Vec<super::rows::Sent>>> {
        if !prepared.gives_rows() || status == TransactionStatus::Error {
            return Ok(None);
        }
        let client = self.known()?;
        if matches!(prepared.command, Command::Fetch { .. }) {
            return Err(failure::error("0A000", "FETCH cannot be described before it runs"));
        }
        if let Some(columns) = client.columns_of_act(prepared).await? {
            return Ok(Some(columns));
        }
        let nothing: Vec<Option<bytes::Bytes>> = vec![None; prepared.types.len()];
        let values = parameters::given(&prepared.types, &Format::UnifiedText, &nothing)?;
        let mut interrupts = client.interrupts();
        match client
            .run(prepared, &values, status, &mut interrupts, &self.line)
            .await?
        {
            Outcome::Rows(rows) => Ok(Some(rows.columns)),
            _ => Ok(None),
        }
    }
}

#[async_trait]
impl CopyHandler for Door {
    async fn on_copy_data<C>(&self, _: &mut C, data: CopyData) -> PgWireResult<()>
    where
        C: ClientInfo + Sink<Sending> + Unpin + Send + Sync,
        C::Error: Debug,
        PgWireError: From<<C as Sink<Sending>>::Error>,
    {
        if let Some(incoming) = &*self.incoming.lock().await {
            incoming.feed(data.data).await;
        }
        Ok(())
    }

    async fn on_copy_done<C>(&self, sink: &mut C, _: CopyDone) -> PgWireResult<()>
    where
        C: ClientInfo + Sink<Sending> + Unpin + Send + Sync,
        C::Error: Debug,
        PgWireError: From<<C as Sink<Sending>>::Error>,
    {
        let Some(incoming) = self.incoming.lock().await.take() else {
            return Err(failure::error("08P01", "no COPY is under way"));
        };
        let rows = incoming.finish().await?;
        let tag = Tag::new("COPY").with_rows(rows);
        sink.send(Sending::CommandComplete(tag.into())).await?;
        Ok(())
    }

    async fn on_copy_fail<C>(&self, _: &mut C, fail: CopyFail) -> PgWireError
    where
        C: ClientInfo + Sink<Sending> + Unpin + Send + Sync,
        C::Error: Debug,
        PgWireError: From<<C as Sink<Sending>>::Error>,
    {
        let why = format!("COPY from stdin failed: {}", fail.message);
        if let Some(incoming) = self.incoming.lock().await.take() {
            incoming.give_up(&fail.message).await;
        }
        failure::error("57014", why)
    }
}

#[async_trait]
impl CancelHandler for Door {
    async fn on_cancel_request(&self, request: CancelRequest) {
        self.shared.running.cancel(request.pid, &request.secret_key);
    }
}
