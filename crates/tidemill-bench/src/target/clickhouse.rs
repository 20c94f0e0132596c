//! ClickHouse by its native protocol: `clickhouse://[user[:password]@]host[:port][/database]`.
//!
//! A prepared statement is an INSERT, whose parameters are a row; a statement with the server's own parameters, `{id:UInt64}`; or one with
//! `?`, which are replaced by literals here and so work with every server. Each worker has a pool of connections, since one runs one query
//! at a time.

mod literal;
mod row;
mod statement;

use std::cell::RefCell;
use std::fmt;
use std::pin::Pin;
use std::rc::Rc;

use rune::Value;
use tidemill_clickhouse::client::{Client, Options, QueryStream, Request};
use tidemill_clickhouse::{Error as ServerError, Revision};

use super::{About, Answer, BatchKind, Parameters, Session, StatementOptions, Target, Wanted, arrow_rows, with_causes};
use crate::args::{Compression, ConnectionArgs};
use crate::context::{Failure, FailureKind};
use crate::error::{Error, Result};
use row::Row;
use statement::Statement;

/// A server, or several that are equal.
#[derive(Debug)]
pub struct ClickHouse {
    options: Options,
    address: String,
    timeout: std::time::Duration,
}

/// A pool of connections.
pub struct ClickHouseSession {
    client: Client,
    revision: Revision,
    about: About,
    timeout: std::time::Duration,
    statements: RefCell<Vec<Rc<Prepared>>>,
}

struct Prepared {
    statement: Statement,
    timeout: std::time::Duration,
}

impl Target for ClickHouse {
    type Session = ClickHouseSession;

    const NAME: &'static str = "clickhouse";

    fn open(options: &ConnectionArgs) -> Result<Option<Self>> {
        let Some(url) = options
            .addresses
            .iter()
            .find(|address| address.starts_with("clickhouse://"))
        else {
            return Ok(None);
        };
        if options.addresses.len() > 1 {
            let why = "several ClickHouse servers are one address: clickhouse://host1,host2/database";
            return Err(Error::Misuse(why.to_owned()));
        }
        let mut parsed: Options = url.parse().map_err(|e: ServerError| Error::Misuse(e.to_string()))?;
        if !options.user.is_empty() {
            parsed.user.clone_from(&options.user);
            parsed.password.clone_from(&options.password);
        }
        let mut set = |name: &str, value: &str| parsed.set(name, value).map_err(|e| Error::Misuse(e.to_string()));
        if options.is_encrypted() {
            set("secure", "1")?;
        }
        for (name, path) in [
            ("ca_certificate", &options.ssl_ca),
            ("client_certificate", &options.ssl_cert),
            ("client_key", &options.ssl_key),
        ] {
            if let Some(path) = path {
                set(name, &path.display().to_string())?;
            }
        }
        match options.compression {
            Some(Compression::Lz4) => set("compression", "lz4")?,
            Some(Compression::Snappy) => {
                return Err(Error::Misuse(
                    "ClickHouse does not know snappy: expected lz4".to_owned(),
                ));
            }
            None => {}
        }
        // One connection is the default for a protocol that runs many requests on it; this one does not.
        if options.connections.get() > 1 {
            parsed.pool_size = options.connections.get();
        }
        parsed.pool_timeout = options.request_timeout;
        if let Some(limit) = options.connect_timeout {
            parsed.connect_timeout = limit;
        }
        let names: Vec<String> = parsed.endpoints.iter().map(ToString::to_string).collect();
        Ok(Some(Self {
            options: parsed,
            address: names.join(","),
            timeout: options.request_timeout,
        }))
    }

    async fn connect(&self) -> Result<ClickHouseSession> {
        let refused = |e: ServerError| Error::Connect {
            address: self.address.clone(),
            what: with_causes(&e),
        };
        let client = Client::with_options(self.options.clone()).await.map_err(refused)?;
        let server = client.server().await.map_err(refused)?;
        Ok(ClickHouseSession {
            client,
            revision: server.revision,
            about: About {
                name: server.name,
                version: format!(
                    "{}.{}.{}",
                    server.version_major, server.version_minor, server.version_patch
                ),
            },
            timeout: self.timeout,
            statements: RefCell::default(),
        })
    }
}

impl ClickHouseSession {
    fn prepared(&self, number: usize) -> Result<Rc<Prepared>, Failure> {
        let prepared = self.statements.borrow().get(number).cloned();
        prepared.ok_or_else(|| Failure::new(FailureKind::Misuse, format!("there is no statement {number}")))
    }

    async fn insert(&self, table: &str, columns: &[String], rows: Vec<Row>) -> Result<Answer, Failure> {
        let mut insert = self.client.insert(table).columns(columns.iter().cloned()).rows();
        for row in &rows {
            insert.write(row).await.map_err(failure)?;
        }
        let summary = insert.finish().await.map_err(failure)?;
        Ok(Answer {
            rows: summary.rows,
            ..Answer::default()
        })
    }

    async fn run(&self, request: Request, wanted: Wanted) -> Result<Answer, Failure> {
        let mut stream: QueryStream = request.stream().await.map_err(failure)?;
        let mut answer = Answer::default();
        while let Some(batch) = stream.next().await.map_err(failure)? {
            answer.rows += batch.num_rows() as u64;
            if wanted == Wanted::Rows {
                arrow_rows::append(&batch, str::to_owned, &mut answer.values)?;
            }
        }
        Ok(answer)
    }

    /// Waits no longer than `timeout`. The connection of a query that is given up is closed after it. The work is boxed where it is
    /// made, for it is large: whatever waits for it, for any store, would have room for it.
    async fn within(
        timeout: std::time::Duration,
        work: Pin<Box<impl Future<Output = Result<Answer, Failure>>>>,
    ) -> Result<Answer, Failure> {
        match tokio::time::timeout(timeout, work).await {
            Ok(answer) => answer,
            Err(_) => Err(Failure::new(
                FailureKind::Timeout,
                format!("no answer within {timeout:?}"),
            )),
        }
    }
}

impl Session for ClickHouseSession {
    async fn prepare(&self, text: &str, options: &StatementOptions) -> Result<usize, Failure> {
        let unsupported = |what: &str| Failure::new(FailureKind::Unsupported, what);
        if options.consistency.is_some() || options.serial_consistency.is_some() {
            return Err(unsupported(
                "ClickHouse has no consistency of a statement; settings stand in its text",
            ));
        }
        if options.page_size.is_some() {
            return Err(unsupported("ClickHouse has no pages; its setting is max_block_size"));
        }
        let statement = Statement::parse(text).map_err(|why| Failure::new(FailureKind::Refused, why))?;
        if let Statement::Server { .. } = statement
            && self.revision < Revision::PARAMETERS
        {
            let why = format!(
                "ClickHouse {} has no parameters {{name:Type}}; use ?",
                self.about.version
            );
            return Err(unsupported(&why));
        }
        let mut statements = self.statements.borrow_mut();
        statements.push(Rc::new(Prepared {
            statement,
            timeout: options.timeout.unwrap_or(self.timeout),
        }));
        Ok(statements.len() - 1)
    }

    async fn execute(&self, text: &str, rows: Wanted) -> Result<Answer, Failure> {
        Self::within(self.timeout, Box::pin(self.run(self.client.query(text), rows))).await
    }

    async fn execute_prepared(&self, statement: usize, parameters: &Value, rows: Wanted) -> Result<Answer, Failure> {
        let prepared = self.prepared(statement)?;
        let work = Box::pin(async {
            match &prepared.statement {
                Statement::Insert { table, columns } => {
                    let row = Row::new(parameters.clone(), columns)?;
                    self.insert(table, columns, vec![row]).await
                }
                Statement::Server { text, names } => {
                    let mut request = Some(self.client.query(text.as_str()));
                    Parameters::Value(parameters).for_each(names.iter(), |at, value| {
                        let text = literal::parameter(value, &names[at])?;
                        request = request
                            .take()
                            .map(|request| request.escaped_parameter(names[at].as_str(), text));
                        Ok(())
                    })?;
                    match request {
                        Some(request) => self.run(request, rows).await,
                        None => Ok(Answer::default()),
                    }
                }
                Statement::Literals { pieces } => {
                    let text = literal::fill(pieces, parameters)?;
                    self.run(self.client.query(text), rows).await
                }
            }
        });
        Self::within(prepared.timeout, work).await
    }

    /// Rows for one INSERT go in one block.
    async fn batch(&self, kind: BatchKind, statements: &[(usize, Value)]) -> Result<Answer, Failure> {
        if kind == BatchKind::Counter {
            return Err(Failure::new(FailureKind::Unsupported, "ClickHouse has no counters"));
        }
        let [(first, _), ..] = statements else {
            return Ok(Answer::default());
        };
        let prepared = self.prepared(*first)?;
        let Statement::Insert { table, columns } = &prepared.statement else {
            return Err(Failure::new(
                FailureKind::Unsupported,
                "a batch of ClickHouse is rows of one INSERT",
            ));
        };
        if statements.iter().any(|(number, _)| number != first) {
            return Err(Failure::new(
                FailureKind::Unsupported,
                "a batch of ClickHouse is rows of one INSERT",
            ));
        }
        let rows = statements
            .iter()
            .map(|(_, parameters)| Row::new(parameters.clone(), columns));
        let rows = rows.collect::<Result<Vec<_>, _>>()?;
        Self::within(prepared.timeout, Box::pin(self.insert(table, columns, rows))).await
    }

    async fn about(&self) -> Result<About, Failure> {
        Ok(self.about.clone())
    }
}

fn failure(error: ServerError) -> Failure {
    let kind = match &error {
        ServerError::Timeout { .. } => FailureKind::Timeout,
        ServerError::Io { .. } | ServerError::Closed { .. } | ServerError::Truncated { .. } => FailureKind::Connection,
        ServerError::Row(_) => FailureKind::Parameters,
        ServerError::Unsupported { .. } => FailureKind::Unsupported,
        ServerError::Server(exception) => match exception.code {
            // TIMEOUT_EXCEEDED, SOCKET_TIMEOUT.
            159 | 209 => FailureKind::Timeout,
            // TOO_MANY_SIMULTANEOUS_QUERIES, MEMORY_LIMIT_EXCEEDED, TOO_MANY_PARTS.
            202 | 241 | 252 => FailureKind::Overloaded,
            // NETWORK_ERROR, ALL_CONNECTION_TRIES_FAILED.
            210 | 279 => FailureKind::Connection,
            // LOGICAL_ERROR, CANNOT_ALLOCATE_MEMORY, ABORTED, TABLE_IS_READ_ONLY, NOT_ENOUGH_SPACE, TOO_FEW_LIVE_REPLICAS,
            // UNKNOWN_STATUS_OF_INSERT, QUERY_WAS_CANCELLED, SYSTEM_ERROR, CANNOT_SCHEDULE_TASK, KEEPER_EXCEPTION and what has no
            // number of its own: no judgement of the statement.
            49 | 173 | 236 | 242 | 243 | 285 | 319 | 394 | 425 | 439 | 999..=1002 => FailureKind::Server,
            _ => FailureKind::Refused,
        },
        _ => FailureKind::Refused,
    };
    Failure::new(kind, with_causes(&error))
}

impl fmt::Debug for ClickHouseSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClickHouseSession").finish_non_exhaustive()
    }
}
