//! `POST /sql`: a statement, and its answer in the format that is asked for.

use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use axum::body::{Body, Bytes};
use axum::extract::{Extension, Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures::stream;
use pgwire::error::PgWireError;
use serde::Deserialize;
use tidemill_ads::sql::Value;
use tidemill_sql::{Answer, Session, StreamFormat, is_query, stream_sink};
use tokio::sync::watch;

use super::answers::{self, Told};
use super::guard::Sender;
use super::{Cancellable, Problem};
use crate::postgres::{Canceller, failure};
use crate::server::Shared;
use crate::users::Rights;

/// A request.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    sql: String,
    /// Values of `?` and `:name`, in order.
    #[serde(default)]
    parameters: Vec<serde_json::Value>,
    /// How many rows of each answer are wanted.
    limit: Option<usize>,
}

/// How many rows an answer in JSON has where nobody says.
const ROWS: usize = 10_000;

/// The formats of answers by the names that a client asks for them.
const FORMATS: [(&str, Option<StreamFormat>); 6] = [
    ("application/json", None),
    ("text/csv", Some(StreamFormat::Csv)),
    ("application/x-ndjson", Some(StreamFormat::JsonLines)),
    ("application/jsonl", Some(StreamFormat::JsonLines)),
    ("application/vnd.apache.arrow.stream", Some(StreamFormat::Arrow)),
    ("application/vnd.apache.parquet", Some(StreamFormat::Parquet)),
];

/// The first format that is known of those that a client accepts.
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
    let canceller = Canceller::new();
    let id = headers.get("x-statement").and_then(|id| id.to_str().ok());
    let cancellable = Cancellable::begin(&shared, &sender.user, id, &canceller);
    let begun = Instant::now();
    let mut ends = Ends {
        cancelled: canceller.watch(),
        deadline: sender
            .rights
            .statement_time
            .and_then(|time| tokio::time::Instant::now().checked_add(time)),
    };
    let log = Log {
        shared: Arc::clone(&shared),
        user: sender.user,
        text: asked.sql.clone(),
        begun,
    };
    let run = Run {
        session: shared.stores.session(&sender.rights),
        asked,
        rights: sender.rights,
        begun,
    };
    let answered = tokio::select! {
        answered = run.answer(format.is_none()) => answered,
        why = ends.wait() => Err(why),
    };
    match (answered, format) {
        (Err(error), _) => {
            log.write(0, Some(&error));
            Err(error.into())
        }
        (Ok(Answered::Whole { body, rows }), _) => {
            log.write(rows, None);
            Ok(([(header::CONTENT_TYPE, kind)], body).into_response())
        }
        (Ok(Answered::Rows { answer, session, left }), format) => {
            let format = format.unwrap_or(StreamFormat::Json);
            let pending = Pending::default();
            let sink = stream_sink(format, &answer.schema(), Box::new(pending.clone()));
            let sink = sink.map_err(|error| failure::of_session(&error, &log.text))?;
            let reading = Reading {
                answer,
                sink: Some(sink),
                pending,
                left,
                rows: 0,
                ends,
                log,
                _session: session,
                _cancellable: cancellable,
            };
            Ok(([(header::CONTENT_TYPE, kind)], reading.into_body()).into_response())
        }
    }
}

/// What ends a statement before its end.
struct Ends {
    cancelled: watch::Receiver<u64>,
    deadline: Option<tokio::time::Instant>,
}

impl Ends {
    /// Ends when the statement is to end, with why.
    async fn wait(&mut self) -> PgWireError {
        let deadline = async {
            match self.deadline {
                Some(deadline) => tokio::time::sleep_until(deadline).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            Ok(()) = self.cancelled.changed() => failure::cancelled(),
            () = deadline => failure::error("57014", "the statement took longer than this user is allowed"),
        }
    }
}

/// A statement, for the log.
struct Log {
    shared: Arc<Shared>,
    user: String,
    text: String,
    begun: Instant,
}

impl Log {
    fn write(&self, rows: u64, error: Option<&PgWireError>) {
        self.shared.log("http", &self.user, &self.text, self.begun, rows, error);
    }
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
    })
}

/// A statement, and who sent it.
struct Run {
    session: Session,
    asked: Asked,
    rights: Rights,
    begun: Instant,
}

/// What a statement gives.
enum Answered {
    /// JSON, and how many rows it has.
    Whole { body: String, rows: u64 },
    /// Rows that are sent as they are read, at most so many.
    Rows {
        answer: Answer,
        session: Box<Session>,
        left: Option<u64>,
    },
}

impl Run {
    async fn answer(self, in_json: bool) -> Result<Answered, PgWireError> {
        let text = self.asked.sql.as_str();
        let of_session = |error: tidemill_sql::Error| failure::of_session(&error, text);
        let blank = |letter: char| letter == ';' || letter.is_whitespace();
        if text.trim_matches(blank).is_empty() {
            return Err(failure::error("42601", "there is no statement"));
        }
        let reads = is_query(text).map_err(of_session)?;
        if !reads && !self.rights.may_write {
            self.check_reads(text)?;
        }
        let values = self.asked.parameters.iter().map(value).collect::<Result<Vec<_>, _>>()?;
        if !in_json {
            let answer = self.session.query_with(text, &values).await.map_err(of_session)?;
            return Ok(Answered::Rows {
                answer,
                session: Box::new(self.session),
                left: self.rights.rows,
            });
        }
        let limit = self.asked.limit.unwrap_or(ROWS);
        let answers = match (reads, values.is_empty()) {
            (false, true) => self.session.query_all(text).await.map_err(of_session)?,
            _ => vec![self.session.query_with(text, &values).await.map_err(of_session)?],
        };
        let mut told = Vec::new();
        for answer in answers {
            told.push(match answer.changed() {
                Some(changed) => Told::of_change(changed.rows),
                None => answers::read(answer, limit, self.rights.rows, text).await?,
            });
        }
        Ok(Answered::Whole {
            body: answers::json(&told, self.begun),
            rows: told.iter().map(Told::rows).sum(),
        })
    }

    /// Several statements of somebody who may only read are each to read.
    fn check_reads(&self, text: &str) -> Result<(), PgWireError> {
        for part in crate::postgres::split(text)? {
            if !is_query(&part).map_err(|error| failure::of_session(&error, text))? {
                return Err(failure::hinted(
                    "42501",
                    "permission denied: this user may only read",
                    "have the administrator add `write` to the user's line in the file of users",
                ));
            }
        }
        Ok(())
    }
}

fn value(given: &serde_json::Value) -> Result<Value, PgWireError> {
    use serde_json::Value as Json;
    Ok(match given {
        Json::Null => Value::Null,
        Json::Bool(value) => Value::Logical(*value),
        Json::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => Value::Integer(whole),
            (None, Some(number)) => Value::Double(number),
            (None, None) => return Err(failure::error("22003", format!("the parameter {number} is too large"))),
        },
        Json::String(text) => Value::Text(text.clone()),
        Json::Array(_) | Json::Object(_) => {
            return Err(failure::error(
                "0A000",
                "a parameter is a text, a number, true, false or null",
            ));
        }
    })
}

/// Bytes that a sink has written and nobody has taken.
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

/// An answer that is read as the client takes it.
struct Reading {
    answer: Answer,
    sink: Option<Box<dyn tidemill_sql::Sink>>,
    pending: Pending,
    left: Option<u64>,
    rows: u64,
    ends: Ends,
    log: Log,
    /// Lives as long as its answer.
    _session: Box<Session>,
    _cancellable: Cancellable,
}

impl Reading {
    /// The next bytes; `None` behind the last.
    async fn next(&mut self) -> Result<Option<Vec<u8>>, PgWireError> {
        let of_session = |error: tidemill_sql::Error| failure::of_session(&error, "");
        while let Some(sink) = &mut self.sink {
            let batch = tokio::select! {
                batch = self.answer.next() => batch.map_err(of_session)?,
                why = self.ends.wait() => return Err(why),
            };
            match batch {
                Some(batch) => {
                    let rows = batch.num_rows() as u64;
                    self.rows += rows;
                    if let Some(left) = &mut self.left {
                        *left = left.checked_sub(rows).ok_or_else(failure::too_many_rows)?;
                    }
                    sink.write(&batch).map_err(of_session)?;
                }
                None => {
                    if let Some(sink) = self.sink.take() {
                        sink.finish().map_err(of_session)?;
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

    /// An error ends the body before its end, which a client sees.
    fn into_body(self) -> Body {
        Body::from_stream(stream::unfold(Some(self), |reading| async {
            let mut reading = reading?;
            match reading.next().await {
                Ok(Some(bytes)) => return Some((Ok(bytes), Some(reading))),
                Ok(None) => reading.log.write(reading.rows, None),
                Err(error) => {
                    reading.log.write(reading.rows, Some(&error));
                    return Some((Err(error), None));
                }
            }
            None
        }))
    }
}

/// Cancels a statement of the same user.
pub(super) async fn cancel(
    State(shared): State<Arc<Shared>>,
    Extension(sender): Extension<Sender>,
    Path(id): Path<String>,
) -> Response {
    match shared.cancels.cancel(&sender.user, &id) {
        true => StatusCode::NO_CONTENT.into_response(),
        false => Problem::new(StatusCode::NOT_FOUND, "42704", "no statement of this name is under way").into_response(),
    }
}
