//! `POST /sql`: runs a statement, and returns its result in the requested format.

use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

use axum::body::{Body, Bytes};
use axum::extract::{Extension, Path, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures::stream;
use serde::Deserialize;
use tidemill_ads::sql::Value;
use tidemill_sql::{Answer, Session, StreamFormat, stream_sink};

use super::Problem;
use super::answers::{self, Told};
use super::guard::Sender;
use crate::failure::Failure;
use crate::server::Shared;
use crate::statement::Statement;

/// A request.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    sql: String,
    /// Values of `?` and `:name` parameters, in order.
    #[serde(default)]
    parameters: Vec<serde_json::Value>,
    /// The most rows of each result.
    limit: Option<usize>,
    /// Whether deleted records are rows too; a column `_deleted` marks them.
    #[serde(default)]
    deleted: bool,
}

/// The default limit of rows of a result in JSON.
const ROWS: usize = 10_000;

/// The formats of results, by their media types.
const FORMATS: [(&str, Option<StreamFormat>); 6] = [
    ("application/json", None),
    ("text/csv", Some(StreamFormat::Csv)),
    ("application/x-ndjson", Some(StreamFormat::JsonLines)),
    ("application/jsonl", Some(StreamFormat::JsonLines)),
    ("application/vnd.apache.arrow.stream", Some(StreamFormat::Arrow)),
    ("application/vnd.apache.parquet", Some(StreamFormat::Parquet)),
];

/// The first known format in the header `Accept`.
fn format_of(headers: &HeaderMap) -> Result<(&'static str, Option<StreamFormat>), Problem> {
    let accepted = headers
        .get(header::ACCEPT)
        .and_then(|accept| accept.to_str().ok())
        .unwrap_or("*/*");
    for wanted in accepted
        .split(',')
        .map(|part| part.split(';').next().unwrap_or_default().trim())
    {
        if wanted == "*/*" || wanted == "application/*" {
            return Ok(("application/json", None));
        }
        if let Some(format) = FORMATS.iter().find(|(name, _)| wanted.eq_ignore_ascii_case(name)) {
            return Ok(*format);
        }
    }
    let known = FORMATS.map(|(name, _)| name).join(", ");
    Err(Problem::new(
        StatusCode::NOT_ACCEPTABLE,
        "0A000",
        format!("answers come as {known}, not as {accepted}"),
    ))
}

pub(super) async fn run(
    State(shared): State<Arc<Shared>>,
    Extension(sender): Extension<Sender>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, Problem> {
    let (kind, format) = format_of(&headers)?;
    let asked = asked(&headers, &body)?;
    let name = headers.get("x-statement").map(HeaderValue::as_bytes);
    let by = (sender.user.as_str(), &sender.rights);
    let mut run = Run {
        session: match asked.deleted {
            true => shared.stores.session_with_deleted(&sender.rights),
            false => shared.stores.session(&sender.rights),
        },
        statement: Statement::begin(&shared, "http", by, asked.sql, name),
        parameters: asked.parameters,
        limit: asked.limit.unwrap_or(ROWS),
    };
    let body = match format {
        None => {
            let whole = run.whole().await;
            Body::from(run.statement.end(whole)?)
        }
        Some(format) => match run.begin(format).await {
            Ok(begun) => {
                let mut reading = run.into_reading(begun);
                // An error in the first rows still gets an error status.
                match reading.next().await {
                    Ok(first) => reading.into_body(first),
                    Err(failure) => return Err(reading.statement.failed(failure).into()),
                }
            }
            Err(failure) => return Err(run.statement.failed(failure).into()),
        },
    };
    Ok(([(header::CONTENT_TYPE, kind)], body).into_response())
}

fn asked(headers: &HeaderMap, body: &Bytes) -> Result<Asked, Problem> {
    let wrong = |what: String| Problem::new(StatusCode::BAD_REQUEST, "22023", what);
    let kind = headers
        .get(header::CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok())
        .unwrap_or_default();
    if kind.starts_with("application/json") {
        return serde_json::from_slice(body)
            .map_err(|error| wrong(format!("the request is no {{\"sql\": …}}: {error}")));
    }
    let sql = std::str::from_utf8(body).map_err(|error| wrong(format!("the statement is no UTF-8: {error}")))?;
    Ok(Asked {
        sql: sql.to_owned(),
        parameters: Vec::new(),
        limit: None,
        deleted: false,
    })
}

/// A statement, and how to run it.
struct Run {
    session: Session,
    statement: Statement,
    parameters: Vec<serde_json::Value>,
    limit: usize,
}

/// Rows that are sent as they are read.
struct Begun {
    answer: Answer,
    sink: Box<dyn tidemill_sql::Sink>,
    pending: Pending,
}

impl Run {
    fn values(&self) -> Result<Vec<Value>, Failure> {
        self.parameters.iter().map(value).collect()
    }

    /// Runs a statement until its first rows.
    async fn answer(&mut self, reads: bool) -> Result<Answer, Failure> {
        let (text, values) = (self.statement.text.clone(), self.values()?);
        let work = self.session.query_with(&text, &values);
        match reads {
            true => self.statement.read(work).await,
            false => self.statement.change(work).await,
        }
    }

    /// All results, as JSON.
    async fn whole(&mut self) -> Result<String, Failure> {
        let reads = self.statement.reads()?;
        let answers = match !reads && self.parameters.is_empty() {
            true => {
                let text = self.statement.text.clone();
                self.statement.change(self.session.query_all(&text)).await?
            }
            false => vec![self.answer(reads).await?],
        };
        let mut told = Vec::new();
        for answer in answers {
            let this = match answer.changed() {
                Some(changed) => {
                    self.statement.changed(changed.rows);
                    Told::of_change(changed.rows)
                }
                None => answers::read(answer, self.limit, &mut self.statement).await?,
            };
            told.push(this);
        }
        Ok(answers::json(&told, self.statement.begun()))
    }

    /// Starts the rows in a format.
    async fn begin(&mut self, format: StreamFormat) -> Result<Begun, Failure> {
        let reads = self.statement.reads()?;
        let answer = self.answer(reads).await?;
        let pending = Pending::default();
        let sink = stream_sink(format, &answer.schema(), Box::new(pending.clone()));
        let sink = sink.map_err(|error| self.statement.failure(&error))?;
        Ok(Begun { answer, sink, pending })
    }

    /// The rows as they are read.
    fn into_reading(self, begun: Begun) -> Reading {
        Reading {
            answer: begun.answer,
            sink: Some(begun.sink),
            pending: begun.pending,
            statement: self.statement,
            _session: Box::new(self.session),
        }
    }
}

fn value(given: &serde_json::Value) -> Result<Value, Failure> {
    use serde_json::Value as Json;
    Ok(match given {
        Json::Null => Value::Null,
        Json::Bool(value) => Value::Logical(*value),
        Json::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => Value::Integer(whole),
            (None, Some(number)) => Value::Double(number),
            (None, None) => return Err(Failure::new("22003", format!("the parameter {number} is too large"))),
        },
        Json::String(text) => Value::Text(text.clone()),
        Json::Array(_) | Json::Object(_) => {
            return Err(Failure::new(
                "0A000",
                "a parameter is a text, a number, true, false or null",
            ));
        }
    })
}

/// Bytes that a sink has written and the response has not sent yet.
#[derive(Clone, Default)]
struct Pending(Arc<Mutex<Vec<u8>>>);

impl Pending {
    fn take(&self) -> Vec<u8> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Write for Pending {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// A result that is read as fast as the client receives it.
struct Reading {
    answer: Answer,
    sink: Option<Box<dyn tidemill_sql::Sink>>,
    pending: Pending,
    statement: Statement,
    /// The result needs its session.
    _session: Box<Session>,
}

impl Reading {
    /// The next bytes; `None` at the end.
    async fn next(&mut self) -> Result<Option<Vec<u8>>, Failure> {
        while let Some(sink) = &mut self.sink {
            match self.statement.read(self.answer.next()).await? {
                Some(batch) => {
                    self.statement.count(batch.num_rows() as u64)?;
                    sink.write(&batch).map_err(|error| self.statement.failure(&error))?;
                }
                None => {
                    if let Some(sink) = self.sink.take() {
                        sink.finish().map_err(|error| self.statement.failure(&error))?;
                    }
                }
            }
            let bytes = self.pending.take();
            if !bytes.is_empty() {
                return Ok(Some(bytes));
            }
        }
        Ok(None)
    }

    /// The body; its first bytes are read already. An error cuts it short, which the client notices.
    fn into_body(self, first: Option<Vec<u8>>) -> Body {
        Body::from_stream(stream::unfold(Some((self, first)), |state| async {
            let (mut reading, first) = state?;
            let next = match first {
                Some(bytes) => Ok(Some(bytes)),
                None => reading.next().await,
            };
            match next {
                Ok(Some(bytes)) => Some((Ok(bytes), Some((reading, None)))),
                done => match reading.statement.end(done) {
                    Ok(_) => None,
                    Err(failure) => {
                        // The connection is closed at once. What was given to it before must reach the client, the headers at least.
                        tokio::task::yield_now().await;
                        Some((Err(std::io::Error::other(failure.message)), None))
                    }
                },
            }
        }))
    }
}

/// Cancels a statement of the same user.
pub(super) async fn cancel(
    State(shared): State<Arc<Shared>>,
    Extension(sender): Extension<Sender>,
    Path(id): Path<String>,
) -> Response {
    match shared.cancels.cancel(&sender.user, id.as_bytes()) {
        true => StatusCode::NO_CONTENT.into_response(),
        false => Problem::new(StatusCode::NOT_FOUND, "42704", "no statement of this name is under way").into_response(),
    }
}
