//! What the client tells `tracing`, and what it never does.

use std::{
    fmt::Debug,
    sync::{Arc, Mutex},
};

use arrow_array::{ArrayRef, RecordBatch, UInt64Array};
use tidemill_clickhouse::{
    Revision,
    client::{Client, Options, TraceSource},
    packet::{chunked::Chunking, client::TraceContext},
};
use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    span::{Attributes, Id, Record},
};

use crate::server::{Server, Table};

/// Keeps all that it is told, one line a span or event.
#[derive(Clone, Default)]
struct Notes {
    lines: Arc<Mutex<Vec<String>>>,
    ended: Arc<Mutex<Vec<usize>>>,
}

struct Line<'a>(&'a mut String);

impl Visit for Line<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.push_str(&format!(" {}={value:?}", field.name()));
    }
}

impl Notes {
    fn line(&self, text: impl FnOnce(&mut Line<'_>), name: &str) -> usize {
        let mut line = name.to_owned();
        text(&mut Line(&mut line));
        let mut lines = self.lines.lock().expect("no panic");
        lines.push(line);
        lines.len() - 1
    }

    fn all(&self) -> String {
        self.lines.lock().expect("no panic").join("\n")
    }

    fn spans(&self, name: &str) -> Vec<String> {
        let lines = self.lines.lock().expect("no panic");
        lines.iter().filter(|line| line.starts_with(name)).cloned().collect()
    }
}

impl Subscriber for Notes {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("tidemill_clickhouse")
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let at = self.line(|line| span.record(line), span.metadata().name());
        Id::from_u64(at as u64 + 1)
    }

    fn record(&self, span: &Id, values: &Record<'_>) {
        let at = usize::try_from(span.into_u64() - 1).expect("a line");
        let mut lines = self.lines.lock().expect("no panic");
        values.record(&mut Line(&mut lines[at]));
    }

    fn event(&self, event: &Event<'_>) {
        self.line(|line| event.record(line), "event");
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}

    fn try_close(&self, id: Id) -> bool {
        self.ended
            .lock()
            .expect("no panic")
            .push(usize::try_from(id.into_u64()).expect("a line"));
        true
    }
}

fn numbers() -> RecordBatch {
    let column: ArrayRef = Arc::new(UInt64Array::from_iter_values(0..3));
    RecordBatch::try_from_iter([("n", column)]).expect("a batch")
}

#[tokio::test]
async fn spans_tell_of_connections_queries_and_inserts_and_of_no_password() {
    let notes = Notes::default();
    let _guard = tracing::subscriber::set_default(notes.clone());
    let server = Server::start(Revision::NEWEST, Chunking::NotChunkedOptional);
    let block = tidemill_clickhouse::Block::new(numbers()).expect("a block");
    *server.table() = Table {
        description: Some(crate::client::description(&block)),
        blocks: vec![block],
        ..Table::default()
    };
    let port = server.port();
    let url = format!("clickhouse://miller:water@127.0.0.1:{port}/sea?max_threads=2");
    let client = Client::connect(&url).await.expect("a connection");
    let sql = "SELECT n FROM remote('far', 't', 'u', 'very secret') -- and 'more secret'";
    client
        .query(sql)
        .query_id("the first")
        .execute()
        .await
        .expect("an answer");
    let mut insert = client.insert("t").query_id("the second").await.expect("an insert");
    insert.write(&numbers()).await.expect("a batch that fits");
    insert.finish().await.expect("an end");
    server.table().exception = Some(tidemill_clickhouse::ServerException {
        code: 159,
        name: "DB::Exception".to_owned(),
        message: "wrong near 'very secret'".to_owned(),
        stack_trace: String::new(),
        nested: None,
    });
    client.execute(sql).await.expect_err("an exception");
    // Nobody listens there any more.
    let free = std::net::TcpListener::bind("127.0.0.1:0")
        .and_then(|listener| listener.local_addr())
        .expect("a port");
    Client::connect(&format!("clickhouse://miller:water@{free}"))
        .await
        .expect_err("nobody");

    let connects = notes.spans("clickhouse connect");
    assert_eq!(connects.len(), 3, "one, and two rounds of another: {connects:?}");
    assert!(
        connects[0].contains(&format!("server.address=\"127.0.0.1\" server.port={port}")),
        "{connects:?}"
    );
    let queries = notes.spans("clickhouse query");
    for part in [
        "otel.kind=\"client\"",
        "db.system.name=\"clickhouse\"",
        "db.namespace=\"sea\"",
        "query_id=\"the first\"",
        "db.query.text=\"SELECT n FROM remote(?, ?, ?, ?)  \"",
        "server.address=127.0.0.1",
        &format!("server.port={port}"),
        "db.response.returned_rows=3",
    ] {
        assert!(queries[0].contains(part), "{part} in {}", queries[0]);
    }
    assert!(queries[1].contains("db.response.status_code=159"), "{queries:?}");
    let inserts = notes.spans("clickhouse insert");
    for part in ["query_id=\"the second\"", "db.collection.name=\"t\"", " rows=3"] {
        assert!(inserts[0].contains(part), "{part} in {}", inserts[0]);
    }
    let spans = connects.len() + queries.len() + inserts.len();
    assert!(
        notes
            .spans("event")
            .iter()
            .any(|event| event.contains("cannot connect")),
        "{}",
        notes.all()
    );
    for secret in ["water", "secret", "clickhouse://"] {
        assert!(!notes.all().contains(secret), "{}", notes.all());
    }
    let ended = notes.ended.lock().expect("no panic").len();
    assert!(ended >= spans, "{ended} of {spans} spans ended");
}

#[tokio::test]
async fn queries_take_their_place_in_a_trace() {
    let server = Server::start(Revision::NEWEST, Chunking::NotChunkedOptional);
    let block = tidemill_clickhouse::Block::new(numbers()).expect("a block");
    *server.table() = Table {
        description: Some(crate::client::description(&block)),
        blocks: vec![block],
        ..Table::default()
    };
    let mut options = Options::new(&format!("127.0.0.1:{}", server.port())).expect("options");
    (options.user, options.password) = ("miller".to_owned(), "water".to_owned());
    let parent: TraceContext = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        .parse()
        .expect("a context");
    let from_outside = parent.clone();
    options.trace_source = Some(TraceSource::new(move |_| Some(from_outside.clone())));
    let client = Client::with_options(options).await.expect("a connection");
    client.execute("SELECT n").await.expect("an answer");
    let own = TraceContext {
        span_id: 7,
        ..parent.clone()
    };
    client
        .query("SELECT n")
        .trace(own.clone())
        .execute()
        .await
        .expect("an answer");
    client
        .insert("t")
        .await
        .expect("an insert")
        .finish()
        .await
        .expect("an end");
    let traces: Vec<_> = server
        .table()
        .queries
        .iter()
        .map(|query| query.info.trace.clone())
        .collect();
    assert_eq!(traces, [Some(parent.clone()), Some(own), Some(parent)]);
}
