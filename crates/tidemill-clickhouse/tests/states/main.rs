//! States of aggregate functions, as ClickHouse of today and ClickHouse 18.16 write them: each ends where the server ends it.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a panic is how a test fails")]

mod expressions;
mod hostile;

use std::fs;

use arrow_array::{BinaryArray, RecordBatch, cast::AsArray};
use tidemill_clickhouse::{Block, BlockDecoder, BlockEncoder, Revision, client::Client, source::SliceSource};
use tidemill_testkit::{Chdb, ClickHouse};

use self::expressions::{DIFFERENT, LARGE, LARGE_NEW, NEW, OLD, OLD_ONLY, UNKNOWN};

/// `nameState(parameters)(arguments)` of `name(parameters)(arguments)`.
fn state(function: &str) -> String {
    function.replacen('(', "State(", 1)
}

/// The states of five groups of ten, the last of a single row; or of three of so many, the last again of one.
#[derive(Clone, Copy)]
struct Groups {
    count: usize,
    rows: u32,
}

const FIVE: Groups = Groups { count: 5, rows: 10 };

impl Groups {
    fn of(rows: u32) -> Self {
        Self { count: 3, rows }
    }

    /// The states of a function by `select`.
    fn query(self, function: &str, select: &str) -> String {
        format!(
            "SELECT {select} FROM (SELECT {} AS x FROM {} GROUP BY intDiv(n, {rows}) ORDER BY intDiv(n, {rows}))",
            state(function),
            self.numbers(),
            rows = self.rows
        )
    }

    /// The state of one group by itself.
    fn query_of(self, function: &str, group: usize) -> String {
        let condition = format!("intDiv(n, {}) = {group}", self.rows);
        format!(
            "SELECT {} AS x FROM {} WHERE {condition}",
            state(function),
            self.numbers()
        )
    }

    fn numbers(self) -> String {
        let rows = self.rows as usize * (self.count - 1) + 1;
        format!("(SELECT number AS n FROM system.numbers LIMIT {rows})")
    }
}

fn hex(states: &BinaryArray) -> Vec<String> {
    let hex = |state: &[u8]| state.iter().map(|byte| format!("{byte:02X}")).collect();
    states.iter().map(|state| hex(state.unwrap())).collect()
}

fn decode(bytes: &[u8]) -> tidemill_clickhouse::Result<Block> {
    BlockDecoder::default().decode_blocking(&mut SliceSource::new(bytes), Revision::FILE)
}

/// What is wrong with the states of a function in files of ClickHouse of today.
fn check_today(chdb: &mut Chdb, function: &str, groups: Groups) -> Result<(), String> {
    let path = chdb.folder().join("states.native");
    let mut ask = |query: &str| {
        let query = format!("{query} SETTINGS enable_time_time64_type=1");
        chdb.query(&query, "Native").map_err(|error| error.to_string())
    };
    let answer = ask(&groups.query(function, "x, hex(x) AS shown"))?;
    let block = decode(&answer).map_err(|error| error.to_string())?;
    let found = hex(block.batch.column(0).as_binary());
    let shown = if has_versions(function) {
        // What is shown is of another version than what is in files.
        let mut shown = Vec::new();
        for group in 0..groups.count {
            let block = decode(&ask(&groups.query_of(function, group))?).map_err(|error| error.to_string())?;
            shown.extend(hex(block.batch.column(0).as_binary()));
        }
        shown
    } else {
        let shown = block.batch.column(1).as_string::<i32>();
        shown.iter().map(|shown| shown.unwrap().to_owned()).collect()
    };
    if found != shown || found.len() != groups.count {
        return Err(format!("{found:.300?} for {shown:.300?}"));
    }
    let mut written = Vec::new();
    let encoded = BlockEncoder::default().encode(&block, Revision::FILE, &mut written);
    encoded.map_err(|error| error.to_string())?;
    if written != answer {
        return Err("it is written as something else".to_owned());
    }
    fs::write(&path, &written).unwrap();
    let read = ask(&format!("SELECT * FROM file('{}', Native)", path.display()))?;
    if sorted(&read) != sorted(&answer) {
        return Err("ClickHouse reads it as something else".to_owned());
    }
    // Long ones are cut at some bytes only.
    match (1..answer.len())
        .step_by(1 + answer.len() / 1000)
        .find(|end| decode(&answer[..*end]).is_ok())
    {
        Some(end) => Err(format!("cut off at byte {end} it is not refused")),
        None => Ok(()),
    }
}

fn has_versions(function: &str) -> bool {
    ["Map", "MappedArrays", "Deterministic"]
        .iter()
        .any(|name| function.contains(name))
}

/// Values of a set come in any order.
fn sorted(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes.sort_unstable();
    bytes
}

#[test]
fn states_of_clickhouse_of_today_are_told_apart() {
    let Some(mut chdb) = Chdb::need() else { return };
    let small = OLD.iter().chain(NEW).map(|function| (*function, FIVE));
    let large = LARGE.iter().chain(LARGE_NEW);
    let mut wrong = Vec::new();
    for (function, groups) in small.chain(large.map(|(function, rows)| (*function, Groups::of(*rows)))) {
        if let Err(what) = check_today(&mut chdb, function, groups) {
            wrong.push(format!("{function}, {} rows: {what}", groups.rows));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn other_states_are_refused() {
    let Some(mut chdb) = Chdb::need() else { return };
    for (functions, why) in [
        (UNKNOWN, "whose length only ClickHouse knows"),
        (DIFFERENT, "whose form differs between versions of ClickHouse"),
    ] {
        for function in functions {
            let answer = chdb.query(&FIVE.query(function, "x"), "Native").unwrap();
            let error = decode(&answer).expect_err(function).to_string();
            assert!(error.contains(why), "{function}: {error}");
        }
    }
}

/// What is wrong with the states of a function on a connection: those of all groups are those of each.
async fn check_old(client: &Client, function: &str, groups: Groups) -> tidemill_clickhouse::Result<Option<String>> {
    let states = |batches: &[RecordBatch]| {
        let states = batches.iter().flat_map(|batch| hex(batch.column(0).as_binary()));
        states.collect::<Vec<_>>()
    };
    let together = client.query(groups.query(function, "x")).collect().await?;
    let mut single = Vec::new();
    for group in 0..groups.count {
        single.extend(states(&client.query(groups.query_of(function, group)).collect().await?));
    }
    let mut together = states(&together);
    if function.contains("Deterministic") || function.contains("maxIntersections") {
        // There are gaps in these, with what was in memory before.
        for state in together.iter_mut().chain(&mut single) {
            *state = format!("{} digits", state.len());
        }
    }
    let is_right = together == single && single.len() == groups.count;
    Ok((!is_right).then(|| format!("{together:.300?} and one by one {single:.300?}")))
}

#[tokio::test]
async fn states_of_an_old_server_are_told_apart() {
    let Some(server) = ClickHouse::need() else { return };
    let client = Client::connect(&format!("clickhouse://{}", server.native()))
        .await
        .unwrap();
    let small = OLD.iter().chain(OLD_ONLY).map(|function| (*function, FIVE));
    let large = LARGE.iter().map(|(function, rows)| (*function, Groups::of(*rows)));
    let mut wrong = Vec::new();
    for (function, groups) in small.chain(large) {
        match check_old(&client, function, groups).await {
            Ok(None) => {}
            Ok(Some(what)) => wrong.push(format!("{function}, {} rows: {what}", groups.rows)),
            Err(error) => wrong.push(format!("{function}, {} rows: {error}", groups.rows)),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
