//! Spans for `tracing`, at the level `DEBUG`: `clickhouse connect`, `clickhouse query` and `clickhouse insert`.
//!
//! Their fields have the names that OpenTelemetry gives them ("Semantic conventions for database client spans"), so that
//! `tracing-opentelemetry` makes of them what tools for databases expect: `db.system.name`, `db.namespace`, `server.address`,
//! `server.port`, `db.query.text`, `db.response.returned_rows`, `db.response.status_code`; and `query_id`. A span of a query
//! ends with its answer.
//!
//! No field has a password. Text in quotes may be one, or a key, or somebody's name: in `db.query.text` every string is `?`,
//! and comments are left out.
//!
//! Events in these spans tell of connections that could not be made or were replaced. Values of parameters and rows are never
//! told.

use std::{fmt, net::SocketAddr, sync::Arc};

use tracing::{Span, debug_span, field::Empty};

use super::{Options, options::Endpoint};
use crate::{
    Error,
    packet::client::{Query, TraceContext},
};

/// Tells which span of OpenTelemetry a query belongs to, for the server to continue with.
///
/// It is asked for each query and insert that was not told by [`Request::trace`](super::Request::trace), with the span of
/// `tracing` that was made for it. This library does not know OpenTelemetry; with `tracing-opentelemetry` the span's context
/// is the answer, and a `traceparent` header parses as a [`TraceContext`].
#[derive(Clone)]
pub struct TraceSource(Arc<Source>);

type Source = dyn Fn(&Span) -> Option<TraceContext> + Send + Sync;

impl TraceSource {
    /// Makes a source of a function.
    pub fn new(source: impl Fn(&Span) -> Option<TraceContext> + Send + Sync + 'static) -> Self {
        Self(Arc::new(source))
    }

    /// Gives `query` its place in a trace, if it has none.
    pub(super) fn tell(&self, query: &mut Query, span: &Span) {
        if query.info.trace.is_none()
            && let Some(trace) = (self.0)(span)
        {
            Arc::make_mut(&mut query.info).trace = Some(trace);
        }
    }
}

impl fmt::Debug for TraceSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TraceSource").finish_non_exhaustive()
    }
}

pub(super) fn connect_span(endpoint: &Endpoint, options: &Options) -> Span {
    debug_span!(
        "clickhouse connect",
        otel.kind = "client",
        db.system.name = SYSTEM,
        db.namespace = options.database,
        server.address = endpoint.host,
        server.port = options.port(endpoint),
        tls = options.tls.is_some(),
    )
}

pub(super) fn query_span(query: &Query, options: &Options) -> Span {
    let span = debug_span!(
        "clickhouse query",
        otel.kind = "client",
        db.system.name = SYSTEM,
        db.namespace = options.database,
        db.query.text = Empty,
        db.response.returned_rows = Empty,
        db.response.status_code = Empty,
        server.address = Empty,
        server.port = Empty,
        query_id = query.id,
    );
    if !span.is_disabled() {
        span.record("db.query.text", without_strings(&query.text));
    }
    span
}

pub(super) fn insert_span(query: &Query, table: &str, options: &Options) -> Span {
    debug_span!(
        "clickhouse insert",
        otel.kind = "client",
        db.system.name = SYSTEM,
        db.namespace = options.database,
        db.operation.name = "INSERT",
        db.collection.name = without_strings(table),
        db.response.status_code = Empty,
        server.address = Empty,
        server.port = Empty,
        query_id = query.id,
        rows = Empty,
    )
}

/// Records the address of the server.
pub(super) fn record_server(span: &Span, address: impl FnOnce() -> Option<SocketAddr>) {
    if !span.is_disabled()
        && let Some(address) = address()
    {
        span.record("server.address", tracing::field::display(address.ip()));
        span.record("server.port", address.port());
    }
}

/// Records how it ended. For an exception of the server, only its number is recorded, because its text may repeat that of the query.
pub(super) fn record_error(span: &Span, error: &Error) {
    if let Error::Server(exception) = error {
        span.record("db.response.status_code", exception.code);
        tracing::debug!(parent: span, code = exception.code, "the server refused");
    } else {
        tracing::debug!(parent: span, %error, "failed");
    }
}

/// The text of a statement with a question mark for each string, and without comments.
///
/// Source: `Parsers/Lexer.cpp` of ClickHouse: which characters begin a string, a name or a comment.
fn without_strings(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if out.len() >= MAX_TEXT {
            out.push('…');
            break;
        }
        let (kept, length) = match first {
            '\'' => ("?", quoted(rest, '\'')),
            '‘' => ("?", rest.find('’').map_or(rest.len(), |end| end + '’'.len_utf8())),
            '"' | '`' => {
                let length = quoted(rest, first);
                (rest.get(..length).unwrap_or_default(), length)
            }
            '$' if heredoc(rest).is_some() => ("?", heredoc(rest).unwrap_or(rest.len())),
            '-' if rest.starts_with("--") => (" ", line(rest)),
            '#' if rest.starts_with("# ") || rest.starts_with("#!") => (" ", line(rest)),
            '/' if rest.starts_with("/*") => (" ", rest.find("*/").map_or(rest.len(), |end| end + 2)),
            other => (rest.get(..other.len_utf8()).unwrap_or_default(), other.len_utf8()),
        };
        out.push_str(kept);
        rest = rest.get(length..).unwrap_or_default();
    }
    out
}

/// The length of what begins with a quote, up to its end: a quote that is neither doubled nor after a backslash.
fn quoted(text: &str, quote: char) -> usize {
    let mut characters = text.char_indices().skip(1).peekable();
    while let Some((at, character)) = characters.next() {
        if character == '\\' {
            characters.next();
        } else if character == quote && characters.next_if(|(_, next)| *next == quote).is_none() {
            return at + quote.len_utf8();
        }
    }
    text.len()
}

/// The length of `$name$ … $name$`, if `text` begins with that; to the end of the text where it does not end.
fn heredoc(text: &str) -> Option<usize> {
    let name = text.get(1..)?.find('$')? + 2;
    let mark = text.get(..name)?;
    let is_name = |character: char| character == '_' || character.is_ascii_alphanumeric();
    if !mark.trim_matches('$').chars().all(is_name) {
        return None;
    }
    let end = text.get(name..)?.find(mark);
    Some(end.map_or(text.len(), |end| end + 2 * name))
}

fn line(text: &str) -> usize {
    text.find('\n').unwrap_or(text.len())
}

const SYSTEM: &str = "clickhouse";
const MAX_TEXT: usize = 2000;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn strings_are_not_told() {
        for (text, told) in [
            (
                "SELECT 1, 'a' FROM \"t\" WHERE `b'c` = 2",
                "SELECT 1, ? FROM \"t\" WHERE `b'c` = 2",
            ),
            ("CREATE USER u IDENTIFIED BY 'it''s'", "CREATE USER u IDENTIFIED BY ?"),
            (r"SELECT 'a\'b', 'c\\', d", "SELECT ?, ?, d"),
            ("SELECT 1 -- don't\n, 'x'", "SELECT 1  \n, ?"),
            ("SELECT 1 # don't\n, 'x'", "SELECT 1  \n, ?"),
            ("SELECT /* don't */ 'x'", "SELECT   ?"),
            ("SELECT $a$it's$b$a$, $$x$$, $1", "SELECT ?, ?, $1"),
            ("SELECT ‘x’, 1", "SELECT ?, 1"),
            ("SELECT 'open", "SELECT ?"),
            ("SELECT $$open", "SELECT ?"),
            ("SELECT /* open", "SELECT  "),
            ("ä-'b'#c", "ä-?#c"),
        ] {
            assert_eq!(without_strings(text), told);
        }
        let long = without_strings(&"abc ".repeat(10_000));
        assert!(long.len() < MAX_TEXT + 10 && long.ends_with('…'));
    }

    proptest! {
        #[test]
        fn what_is_quoted_is_never_told(text in any::<String>(), before in "[a-z (=]{0,9}") {
            let text = format!("{before}{}{before}", crate::sql_text::string(&text));
            prop_assert_eq!(without_strings(&text), format!("{before}?{before}"));
        }

        #[test]
        fn any_text_is_gone_through(text in any::<String>()) {
            without_strings(&text);
        }
    }
}
