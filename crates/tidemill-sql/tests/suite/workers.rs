//! Statements that several workers answer: as one session would.

use std::fmt::Write as _;
use std::fs;
use std::net::SocketAddr;
use std::path::Path;

use tidemill_sql::{CopyOptions, Location, Session, SessionOptions, Worker, Workers};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

use crate::statements::csv;

const TOKEN: &str = "a-token-of-workers-in-tests";

const ROWS: usize = 240_000;

/// Bits that no format compresses: the files are worth several workers.
fn mixed(id: usize) -> u64 {
    let mut bits = (id as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits ^= bits >> 29;
    bits.wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

/// Rows with NULL, empty texts, text that is not ASCII, and numbers of each kind, in several formats and files.
async fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut rows = String::from("id,k,v,x,name,pad\n");
    for id in 0..ROWS {
        let hash = id.wrapping_mul(2_654_435_761) % 1_000_003;
        let value = if hash % 11 == 0 {
            String::new()
        } else {
            format!("{}", hash as i64 - 500_000)
        };
        let name = ["Ada", "Béla", "Çiğdem", "", "zoë and others of a longer name"][hash % 5];
        let (k, x, end, pad) = (hash % 97, hash % 1_009, hash % 7, mixed(id));
        writeln!(
            rows,
            "{id},{k},{value},{x}.5,{name}{end},{pad:016x}{:016x}",
            mixed(id + ROWS)
        )
        .expect("text");
    }
    fs::write(folder.path().join("rows.csv"), rows).expect("written");
    let session = session(folder.path());
    let parts = [("a", 0), ("b", 1), ("c", 2)];
    for (part, rest) in parts {
        copied(
            &session,
            &format!("SELECT * FROM rows WHERE id % 3 = {rest}"),
            &folder.path().join(format!("p-{part}.parquet")),
        )
        .await;
    }
    for file in ["one.parquet", "one.arrow", "one.riegeli", "one.jsonl"] {
        copied(&session, "SELECT * FROM rows", &folder.path().join(file)).await;
    }
    copied(
        &session,
        "SELECT DISTINCT k, 'key ' || k AS text FROM rows WHERE k % 2 = 0",
        &folder.path().join("keys.parquet"),
    )
    .await;
    folder
}

async fn copied(session: &Session, sql: &str, file: &Path) {
    let file = Location::new_file(file).expect("a file");
    session
        .copy_query(sql, &file, &CopyOptions::default(), |_| {})
        .await
        .expect(sql);
}

fn session(folder: &Path) -> Session {
    Session::new(SessionOptions::default().dir(folder).threads(2))
}

fn distributed(folder: &Path, workers: &[SocketAddr]) -> Session {
    let addresses: Vec<String> = workers.iter().map(ToString::to_string).collect();
    let workers = Workers::new(&addresses).expect("addresses").token(TOKEN.to_owned());
    Session::new(SessionOptions::default().dir(folder).threads(2).workers(workers))
}

/// A worker that ends, with all of its connections, when it is dropped.
struct Served {
    address: SocketAddr,
    runtime: Option<Runtime>,
}

impl Served {
    fn new(folder: &Path) -> Self {
        let runtime = Runtime::new().expect("a runtime");
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).expect("a port");
        let address = listener.local_addr().expect("an address");
        let options = SessionOptions::default().threads(2);
        let worker = Worker::new(&[folder.to_string_lossy()], options).expect("a worker");
        let worker = worker.token(TOKEN.to_owned());
        runtime.spawn(async move {
            worker.serve(listener, std::future::pending()).await.expect("it serves");
        });
        Self {
            address,
            runtime: Some(runtime),
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Starts a worker, which blocks.
async fn worker(folder: &Path) -> Served {
    let folder = folder.to_path_buf();
    tokio::task::spawn_blocking(move || Served::new(&folder))
        .await
        .expect("a worker")
}

const STATEMENTS: [&str; 20] = [
    "SELECT k, COUNT(*), SUM(v), MIN(v), MAX(name), AVG(x) FROM @ AS T GROUP BY k ORDER BY k",
    "SELECT COUNT(*), SUM(v), COUNT(v), COUNT(DISTINCT name) FROM @ AS T",
    "SELECT SUM(v) FROM @ AS T WHERE k < 0",
    "SELECT name, COUNT(*) AS n FROM @ AS T GROUP BY name HAVING COUNT(*) > 100 ORDER BY n DESC, name",
    "SELECT id, v FROM @ AS T ORDER BY v DESC NULLS LAST, id LIMIT 20",
    "SELECT id, name FROM @ AS T ORDER BY name, id LIMIT 10 OFFSET 100",
    "SELECT DISTINCT k FROM @ AS T ORDER BY k",
    "SELECT text, SUM(v) FROM @ AS T JOIN keys ON T.k = keys.k GROUP BY text ORDER BY text",
    "SELECT COUNT(*), SUM(T.v) FROM @ AS T LEFT JOIN keys ON T.k = keys.k WHERE text IS NULL",
    "SELECT COUNT(*) FROM @ AS T WHERE k IN (SELECT k FROM keys)",
    "SELECT COUNT(*) FROM @ AS T WHERE k NOT IN (SELECT k FROM keys WHERE k IS NOT NULL)",
    "SELECT COUNT(*) FROM @ AS T WHERE v > (SELECT AVG(v) FROM @ AS T)",
    "SELECT k, id FROM (SELECT k, id, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC NULLS LAST, id) AS place FROM @ AS T) AS q WHERE place = 1 ORDER BY k",
    "SELECT COUNT(*) FROM (SELECT k FROM @ AS T UNION ALL SELECT k FROM keys) AS q",
    "SELECT k FROM @ AS T WHERE id < 500 UNION SELECT k FROM keys ORDER BY k",
    "SELECT COUNT(*) FROM @ AS a JOIN @ AS b ON a.id = b.id WHERE a.k = 3 AND b.v > 0",
    "SELECT UPPER(name) AS n, COUNT(*) FROM @ AS T WHERE name LIKE '%e%' GROUP BY UPPER(name) ORDER BY n",
    "SELECT k % 10 AS g, SUM(v * 2) FROM @ AS T GROUP BY k % 10 ORDER BY g",
    "SELECT CASE WHEN v IS NULL THEN 'none' WHEN v < 0 THEN 'less' ELSE 'more' END AS c, COUNT(*) FROM @ AS T GROUP BY 1 ORDER BY 1",
    "SELECT COUNT(*) FROM @ AS T WHERE id BETWEEN 1000 AND 99999 AND (k = 5 OR name = 'Ada0')",
];

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn workers_answer_as_one_session_does() {
    let folder = folder().await;
    let mut workers = Vec::new();
    for _ in 0..4 {
        workers.push(worker(folder.path()).await);
    }
    let addresses: Vec<SocketAddr> = workers.iter().map(|worker| worker.address).collect();
    let (alone, together) = (session(folder.path()), distributed(folder.path(), &addresses));
    for table in [
        "'p-*.parquet'",
        "'one.parquet'",
        "'one.arrow'",
        "'one.riegeli'",
        "'one.jsonl'",
    ] {
        for statement in STATEMENTS {
            let sql = statement.replace('@', table);
            assert_eq!(csv(&together, &sql).await, csv(&alone, &sql).await, "{sql}");
        }
    }
    let plan = together
        .explain("SELECT k, SUM(v) FROM 'p-*.parquet' GROUP BY k")
        .await
        .unwrap();
    assert!(plan.contains("WorkerScan"), "{plan}");
    assert_eq!(together.notes(), Vec::<String>::new());
    // In the order of the table, and over other stores, it is not the workers' affair.
    for sql in ["SELECT id FROM one.parquet LIMIT 3", "SELECT COUNT(*) FROM rows"] {
        assert_eq!(csv(&together, sql).await, csv(&alone, sql).await, "{sql}");
    }
}

async fn refusal(session: &Session, sql: &str) -> String {
    let answer = match session.query(sql).await {
        Ok(answer) => answer.collect().await.map(drop),
        Err(error) => Err(error),
    };
    answer.expect_err(sql).to_string()
}

const GROUPED: &str = "SELECT k, SUM(v) FROM 'p-*.parquet' GROUP BY k ORDER BY k";

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn workers_that_are_gone_are_left_out() {
    let folder = folder().await;
    let (first, second) = (worker(folder.path()).await, worker(folder.path()).await);
    let (first_address, gone) = (first.address, second.address);
    let expected = csv(&session(folder.path()), GROUPED).await;
    let together = distributed(folder.path(), &[first_address, gone]);
    assert_eq!(csv(&together, GROUPED).await, expected);
    drop(second);
    assert_eq!(csv(&together, GROUPED).await, expected);
    assert!(
        together.notes().iter().any(|note| note.contains(&gone.to_string())),
        "{:?}",
        together.notes()
    );
    let alone = distributed(folder.path(), &[gone]);
    let error = refusal(&alone, GROUPED).await;
    assert!(
        error.contains(&gone.to_string()) && error.contains("tidemill worker"),
        "{error}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn workers_read_what_they_are_allowed_and_what_was_planned() {
    let folder = folder().await;
    let other = tempfile::tempdir().expect("a temporary folder");
    let elsewhere = [worker(other.path()).await, worker(other.path()).await];
    let elsewhere = elsewhere.each_ref().map(|worker| worker.address);
    let error = refusal(&distributed(folder.path(), &elsewhere), GROUPED).await;
    assert!(
        error.contains("not allowed") && error.contains("p-a.parquet"),
        "{error}"
    );

    // A link leads out of the folder.
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(folder.path().join("one.parquet"), other.path().join("link.parquet")).unwrap();
        let linked = "SELECT k, SUM(v) FROM 'link.parquet' GROUP BY k ORDER BY k";
        let error = refusal(&distributed(other.path(), &elsewhere), linked).await;
        assert!(
            error.contains("not allowed") && error.contains("link.parquet"),
            "{error}"
        );
    }

    let allowed = worker(folder.path()).await;
    for token in [None, Some("another token of tests")] {
        let mut workers = Workers::new(&[allowed.address.to_string()]).unwrap();
        if let Some(token) = token {
            workers = workers.token(token.to_owned());
        }
        let stranger = Session::new(SessionOptions::default().dir(folder.path()).workers(workers));
        let error = refusal(&stranger, GROUPED).await;
        assert!(error.contains("token"), "{error}");
    }

    // The sum of a column overflows on the workers as it does here.
    let second = worker(folder.path()).await;
    let together = distributed(folder.path(), &[allowed.address, second.address]);
    let wide = "SELECT k, SUM(v * 90000000000000) FROM 'p-*.parquet' WHERE v > 400000 GROUP BY k";
    let error = refusal(&together, wide).await;
    assert!(error.to_lowercase().contains("overflow"), "{error}");
}

#[tokio::test]
async fn a_worker_on_the_network_asks_who_comes() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let listener = TcpListener::bind("0.0.0.0:0").await.unwrap();
    let open = Worker::new(&[folder.path().to_str().unwrap()], SessionOptions::default()).unwrap();
    let error = open
        .serve(listener, std::future::pending())
        .await
        .unwrap_err()
        .to_string();
    assert!(error.contains("--token-file"), "{error}");
}
