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
    let mut cancelled = canceller.watch();
    let rights = sender.rights.clone();
    let run = Run {
        session: shared.stores.session(&rights),
        asked,
        rights,
        begun,
    };
    let text = run.asked.sql.clone();
    let limit = async {
        match sender.rights.statement_time {
            Some(time) => tokio::time::sleep(time).await,
            None => std::future::pending().await,
        }
    };
    let answered = tokio::select! {
        answered = run.answer(kind, format, cancellable) => answered,
        Ok(()) = cancelled.changed() => Err(failure::cancelled()),
        () = limit => Err(failure::error("57014", "the statement took longer than this user's may")),
    };
    shared.statements.count(begun.elapsed(), answered.is_err());
    let (user, milliseconds) = (
        tidemill_trust::printable(&sender.user).into_owned(),
        begun.elapsed().as_secs_f64() * 1000.0,
    );
    let error = answered.as_ref().err().map(failure::line).unwrap_or_default();
    let is_slow = shared.slow.is_some_and(|slow| begun.elapsed() >= slow);
    let shown = if is_slow {
        tidemill_trust::without_secrets(&text)
    } else {
        "".into()
    };
    let statement: String = tidemill_trust::printable(&shown).chars().take(2000).collect();
    tracing::info!(door = "http", %user, milliseconds, %error, %statement, "statement");
    answered.map_err(Problem::from)
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

impl Run {
    async fn answer(
        self,
        kind: &'static str,
        format: Option<StreamFormat>,
        cancellable: Cancellable,
    ) -> Result<Response, PgWireError> {
        let text = self.asked.sql.as_str();
        let of_session = |error: tidemill_sql::Error| failure::of_session(&error, text);
        if text
            .trim_matches(|letter: char| letter == ';' || letter.is_whitespace())
            .is_empty()
        {
            return Err(failure::error("42601", "there is no statement"));
        }
        let reads = is_query(text).map_err(of_session)?;
        if !reads && !self.rights.may_write {
            self.check_reads(text)?;
        }
        let values = self.asked.parameters.iter().map(value).collect::<Result<Vec<_>, _>>()?;
        if let Some(format) = format {
            let answer = self.session.query_with(text, &values).await.map_err(of_session)?;
            return Ok(streamed(
                answer,
                self.session,
                kind,
                format,
                self.rights.rows,
                cancellable,
            ));
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
        let body = answers::json(&told, self.begun);
        Ok(([(header::CONTENT_TYPE, kind)], body).into_response())
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
    /// Lives as long as its answer.
    _session: Session,
    _cancellable: Cancellable,
}

impl Reading {
    async fn next(&mut self) -> tidemill_sql::Result<Option<Vec<u8>>> {
        while self.sink.is_some() {
            match self.answer.next().await? {
                Some(batch) => {
                    if let Some(left) = &mut self.left {
                        *left = left.checked_sub(batch.num_rows() as u64).ok_or_else(too_many)?;
                    }
                    if let Some(sink) = &mut self.sink {
                        sink.write(&batch)?;
                    }
                }
                None => {
                    if let Some(sink) = self.sink.take() {
                        sink.finish()?;
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
}

fn too_many() -> tidemill_sql::Error {
    tidemill_sql::Error::Denied {
        what: "an answer of so many rows".to_owned(),
        hint: "ask for fewer by LIMIT".to_owned(),
    }
}

fn streamed(
    answer: Answer,
    session: Session,
    kind: &'static str,
    format: StreamFormat,
    left: Option<u64>,
    cancellable: Cancellable,
) -> Response {
    let pending = Pending::default();
    let sink = match stream_sink(format, &answer.schema(), Box::new(pending.clone())) {
        Ok(sink) => sink,
        Err(error) => return Problem::from(failure::of_session(&error, "")).into_response(),
    };
    let reading = Reading {
        answer,
        sink: Some(sink),
        pending,
        left,
        _session: session,
        _cancellable: cancellable,
    };
    // An error ends the answer before its end, which a client sees.
    let body = stream::unfold(Some(reading), |reading| async {
        let mut reading = reading?;
        match reading.next().await {
            Ok(Some(bytes)) => Some((Ok(bytes), Some(reading))),
            Ok(None) => None,
            Err(error) => Some((Err(error), None)),
        }
    });
    ([(header::CONTENT_TYPE, kind)], Body::from_stream(body)).into_response()
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
