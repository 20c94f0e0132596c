//! HTTP: statements, the list of tables, copies, and the web page.
//!
//! | request | answer |
//! |---|---|
//! | `POST /sql` | the result of a statement, in the format of the header `Accept` |
//! | `DELETE /sql/ID` | cancels the statement that was sent with the header `X-Statement: ID` |
//! | `GET /tables`, `GET /tables/NAME` | the tables; one table |
//! | `POST /copies`, `GET /copies`, `DELETE /copies/ID` | begins a copy; lists copies; stops one |
//! | `GET /reports`, `GET /reports/NAME` | the reports of load tests; one as a page |
//! | `GET /healthz`, `GET /metrics`, `GET /openapi.json` | for monitoring, and for clients of the API |
//! | `GET /` | the page, from `console/dist` |

mod answers;
mod copies;
mod guard;
mod page;
mod reports;
mod sql;
mod tables;

use std::fmt::Write as _;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::Router;
use axum::extract::connect_info::Connected;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{StatusCode, header};
use axum::middleware;
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, post};
use axum::serve::{IncomingStream, Listener};
use tokio::net::TcpListener;

use crate::failure::Failure;
use crate::listener::{Incoming, Stream};
use crate::server::Shared;

pub(crate) use copies::Copies;
pub use reports::{ReportPage, Reports};

/// The most bytes of a request.
const LARGEST: usize = 16 << 20;

/// The address of the client.
#[derive(Clone, Copy, Debug)]
struct Peer(SocketAddr);

impl Connected<IncomingStream<'_, Incoming>> for Peer {
    fn connect_info(stream: IncomingStream<'_, Incoming>) -> Self {
        Self(*stream.remote_addr())
    }
}

impl Listener for Incoming {
    type Io = Stream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Stream, SocketAddr) {
        match self.next().await {
            Some(stream) => {
                let peer = stream.peer;
                (stream, peer)
            }
            None => std::future::pending().await,
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        match &self.address {
            Ok(address) => Ok(*address),
            Err(error) => Err(error.kind().into()),
        }
    }
}

/// Answers requests until the server ends.
pub(crate) async fn listen(listener: TcpListener, shared: Arc<Shared>) {
    let mut stop = shared.stop.clone();
    let incoming = Incoming::begin(listener, &shared, &[b"http/1.1"]);
    let app = app(shared).into_make_service_with_connect_info::<Peer>();
    let ended = async move {
        let _ = stop.wait_for(|ends| *ends).await;
    };
    // It returns only after a shutdown, and then without an error.
    let _ = axum::serve(incoming, app).with_graceful_shutdown(ended).await;
}

fn app(shared: Arc<Shared>) -> Router {
    let for_users = Router::new()
        .route("/sql", post(sql::run))
        .route("/sql/{id}", delete(sql::cancel))
        .route("/tables", get(tables::list))
        .route("/tables/{name}", get(tables::one))
        .route("/copies", get(copies::list).post(copies::begin))
        .route("/copies/{id}", delete(copies::end))
        .route("/reports", get(reports::list))
        .route("/reports/{name}", get(reports::one))
        .route("/metrics", get(metrics))
        .route("/openapi.json", get(|| async { page::OPENAPI.into_response() }))
        .route("/", get(|| async { page::INDEX.into_response() }))
        .route("/console.js", get(|| async { page::SCRIPT.into_response() }))
        .route("/console.css", get(|| async { page::STYLE.into_response() }))
        .route_layer(middleware::from_fn_with_state(Arc::clone(&shared), guard::login));
    Router::new()
        .route("/healthz", get(|| async { "ok" }))
        .merge(for_users)
        .fallback(|| async {
            Problem::new(StatusCode::NOT_FOUND, "42704", "there is nothing at this path").into_response()
        })
        .layer(DefaultBodyLimit::max(LARGEST))
        .layer(middleware::from_fn_with_state(Arc::clone(&shared), guard::origin))
        .layer(middleware::from_fn(guard::headers))
        .with_state(shared)
}

/// A response in JSON.
fn json_answer(body: &serde_json::Value) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], body.to_string()).into_response()
}

/// An error, as JSON.
#[derive(Debug)]
pub(crate) struct Problem {
    status: StatusCode,
    failure: Failure,
}

impl Problem {
    pub(crate) fn new(status: StatusCode, state: &'static str, message: impl Into<String>) -> Self {
        let failure = Failure::new(state, message);
        Self { status, failure }
    }
}

impl From<Failure> for Problem {
    fn from(failure: Failure) -> Self {
        let status = match &*failure.state {
            // Not 408: browsers would send the statement again.
            "57014" => StatusCode::from_u16(499).unwrap_or(StatusCode::BAD_REQUEST),
            "42501" | "25006" => StatusCode::FORBIDDEN,
            "53300" => StatusCode::SERVICE_UNAVAILABLE,
            state if state.starts_with("XX") => StatusCode::INTERNAL_SERVER_ERROR,
            _ => StatusCode::BAD_REQUEST,
        };
        Self { status, failure }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let body = serde_json::json!({ "error": {
            "sqlstate": self.failure.state,
            "message": self.failure.message,
            "hint": self.failure.hint,
            "position": self.failure.position,
        }});
        (self.status, json_answer(&body)).into_response()
    }
}

/// Totals since the start.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    statements: AtomicU64,
    errors: AtomicU64,
    microseconds: AtomicU64,
}

impl Counters {
    pub(crate) fn count(&self, time: Duration, has_failed: bool) {
        self.statements.fetch_add(1, Ordering::Relaxed);
        self.errors.fetch_add(u64::from(has_failed), Ordering::Relaxed);
        let microseconds = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        self.microseconds.fetch_add(microseconds, Ordering::Relaxed);
    }
}

/// The totals, in the text format of Prometheus.
async fn metrics(State(shared): State<Arc<Shared>>) -> Response {
    let counters = &shared.statements;
    let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    let mut text = String::new();
    let seconds = Duration::from_micros(count(&counters.microseconds)).as_secs_f64();
    for (name, help, value) in [
        (
            "tidemill_statements_total",
            "Statements that have ended.",
            count(&counters.statements).to_string(),
        ),
        (
            "tidemill_statement_errors_total",
            "Statements that have ended with an error.",
            count(&counters.errors).to_string(),
        ),
        (
            "tidemill_statement_seconds_total",
            "The time that statements took.",
            seconds.to_string(),
        ),
    ] {
        // Writing to a `String` cannot fail.
        let _ = write!(text, "# HELP {name} {help}\n# TYPE {name} counter\n{name} {value}\n");
    }
    let open = shared.running.count();
    let _ = write!(
        text,
        "# HELP tidemill_postgres_connections Connections of PostgreSQL's protocol.\n\
         # TYPE tidemill_postgres_connections gauge\ntidemill_postgres_connections {open}\n"
    );
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], text).into_response()
}
