//! A server under four kinds of clients that is killed again and again: what it acknowledged is there, what it did not is there as a whole
//! or not at all, and the locks of the dead hold nobody up.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tidemill_testkit::{Chance, soak_time};

use super::{done, tidemill};

/// Statements that a client sends in a round, as long as it is answered.
const STATEMENTS: usize = 4000;

/// Rounds that a folder lives for, so that its tables stay small.
const ROUNDS: usize = 20;

/// How long the first change after a kill may take, with the start of psql.
const PATIENCE: Duration = Duration::from_secs(5);

struct Served {
    child: Child,
    port: String,
}

impl Served {
    fn begin(folder: &TempDir) -> Self {
        let doors = ["--postgres", "--flight", "--http"];
        let mut child = tidemill(folder.path(), &["serve", ".", "--quiet"])
            .args(doors.iter().flat_map(|door| [*door, "127.0.0.1:0"]))
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("started");
        let lines = BufReader::new(child.stdout.take().expect("piped")).lines();
        let lines = lines.map(|line| line.expect("UTF-8"));
        let said: Vec<String> = lines.take_while(|line| !line.starts_with("Press Ctrl-C")).collect();
        let port = said
            .iter()
            .find_map(|line| line.split(" port=").nth(1)?.split(' ').next());
        let port = port.expect("a port").to_owned();
        Self { child, port }
    }

    /// psql with a text of statements; what each did stands on a line.
    fn psql(&self, folder: &TempDir, name: &str, text: &str) -> Command {
        let file = folder.path().join(format!("{name}.sql"));
        std::fs::write(&file, text).expect("written");
        let mut psql = Command::new("psql");
        psql.args([
            "-X",
            "-At",
            "-v",
            "ON_ERROR_STOP=1",
            "-h",
            "127.0.0.1",
            "-U",
            "ann",
            "-d",
            "tidemill",
        ])
        .args(["-p", &self.port, "-f"])
        .arg(file)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
        psql
    }

    fn answer(&self, folder: &TempDir, text: &str) -> String {
        let output = self.psql(folder, "question", text).output().expect("psql");
        done(&output).trim().to_owned()
    }

    fn number(&self, folder: &TempDir, text: &str) -> usize {
        self.answer(folder, text).parse().expect("a number")
    }

    fn kill(mut self) {
        self.child.kill().expect("killed");
        self.child.wait().expect("ended");
    }
}

/// What has to be there.
#[derive(Debug, Default, Clone, Copy)]
struct Expected {
    /// Rows of the client that inserts them one by one.
    singles: usize,
    /// Transactions of three rows.
    triples: usize,
    /// What the counter stands at.
    counter: usize,
}

fn tables() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for sql in [
        "CREATE TABLE lines (id Integer, client Integer, note Memo)",
        "CREATE INDEX id ON lines (id)",
        "CREATE TABLE counters (id Integer, n Integer)",
        "INSERT INTO counters VALUES (1, 0)",
    ] {
        done(&tidemill(folder.path(), &["sql", sql]).output().expect("started"));
    }
    folder
}

/// Serves until the server is killed, and gives what was acknowledged on top.
fn round(folder: &TempDir, first: usize, time: Duration) -> Expected {
    let served = Served::begin(folder);
    let of_each = |text: &dyn Fn(usize) -> String| -> String { (first..first + STATEMENTS).map(text).collect() };
    let singles = of_each(&|id| format!("INSERT INTO lines VALUES ({id}, 1, 'line {id}');\n"));
    let triples = of_each(&|id| {
        let insert = |part: usize| format!("INSERT INTO lines VALUES ({}, 2, 'part {part}');\n", id * 3 + part);
        format!("BEGIN;\n{}{}{}COMMIT;\n", insert(0), insert(1), insert(2))
    });
    let counter = of_each(&|_| "UPDATE counters SET n = n + 1 WHERE id = 1;\n".to_owned());
    let reads = of_each(&|id| {
        format!("SELECT COUNT(*) FROM lines WHERE client = 2;\nSELECT note FROM lines WHERE id = {id};\n")
    });
    let clients = [
        ("singles", singles),
        ("triples", triples),
        ("counter", counter),
        ("reads", reads),
    ];
    let clients = clients.map(|(name, text)| served.psql(folder, name, &text).spawn().expect("psql"));
    std::thread::sleep(time);
    served.kill();
    let [singles, triples, counter, reads] = clients.map(|client| {
        let output = client.wait_with_output().expect("ended");
        let why = String::from_utf8_lossy(&output.stderr).into_owned();
        let is_cut_off = output.status.success()
            || why.contains("server closed the connection")
            || why.contains("connection to server");
        assert!(is_cut_off, "{why}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    });
    for count in reads.lines().filter_map(|line| line.parse::<usize>().ok()) {
        assert_eq!(count % 3, 0, "a transaction was seen in part");
    }
    let count = |text: &str, what: &str| text.lines().filter(|line| *line == what).count();
    Expected {
        singles: count(&singles, "INSERT 0 1"),
        triples: count(&triples, "COMMIT"),
        counter: count(&counter, "UPDATE 1"),
    }
}

/// Checks the tables against `expected`: each client may have one more change, which was made but not acknowledged. Returns what the
/// tables hold.
fn look(folder: &TempDir, expected: Expected) -> Expected {
    let served = Served::begin(folder);
    let begun = Instant::now();
    let counter = served.answer(folder, "UPDATE counters SET n = n + 0 WHERE id = 1;");
    assert_eq!(counter, "UPDATE 1");
    assert!(begun.elapsed() < PATIENCE, "a lock was left: {:?}", begun.elapsed());
    let parts = served.number(folder, "SELECT COUNT(*) FROM lines WHERE client = 2;");
    assert_eq!(parts % 3, 0, "a transaction is there in part");
    let found = Expected {
        singles: served.number(folder, "SELECT COUNT(*) FROM lines WHERE client = 1;"),
        triples: parts / 3,
        counter: served.number(folder, "SELECT n FROM counters WHERE id = 1;"),
    };
    served.kill();
    for (found, expected) in [
        (found.singles, expected.singles),
        (found.triples, expected.triples),
        (found.counter, expected.counter),
    ] {
        assert!((expected..=expected + 1).contains(&found), "{found} for {expected}");
    }
    for table in ["lines.dbf", "counters.dbf"] {
        let verified = tidemill(folder.path(), &["verify", table]).output().expect("started");
        assert!(done(&verified).contains("no damage"), "{table}");
    }
    found
}

#[test]
fn a_server_that_is_killed_under_load_keeps_what_it_acknowledged() {
    let mut chance = Chance::new("kills under load");
    let end = Instant::now() + soak_time(super::TIME);
    let (mut folder, mut expected, mut rounds) = (tables(), Expected::default(), 0);
    let mut acknowledged = 0;
    loop {
        let time = Duration::from_millis(200 + chance.below(3000) as u64);
        let told = round(&folder, 1 + rounds % ROUNDS * STATEMENTS, time);
        acknowledged += told.singles + told.triples + told.counter;
        expected.singles += told.singles;
        expected.triples += told.triples;
        expected.counter += told.counter;
        expected = look(&folder, expected);
        rounds += 1;
        if Instant::now() > end {
            break;
        }
        if rounds % ROUNDS == 0 {
            (folder, expected) = (tables(), Expected::default());
        }
    }
    assert!(acknowledged > 0, "nobody was answered");
    println!("{rounds} kills, {acknowledged} changes acknowledged, none lost");
}
