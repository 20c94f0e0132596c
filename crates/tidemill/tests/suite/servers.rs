//! Copies into a server that goes away.

#![cfg(target_os = "linux")]

use std::process::Stdio;
use std::time::Duration;

use tidemill_testkit::ClickHouse;

use crate::big_table;
use crate::run::{Folder, Run};

const RECORDS: u32 = 1_600_000;

#[test]
fn a_copy_goes_on_when_the_server_is_there_again() {
    let Some(mut server) = ClickHouse::need() else { return };
    let folder = Folder::with(&[]);
    big_table::write(&folder.file("BIG.DBF"), RECORDS);
    let target = format!("clickhouse://default@{}/default/big", server.native());
    let child = folder
        .command(&["copy", "BIG.DBF", &target, "--create", "--resume"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("started");
    // A part of the rows is there.
    let count = |server: &ClickHouse| -> u64 {
        let answer = server.query("SELECT count() FROM big");
        answer.ok().and_then(|count| count.trim().parse().ok()).unwrap_or(0)
    };
    for _ in 0..20_000 {
        if count(&server) > 0 {
            break;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    server.restart().expect("restarted");
    let there = count(&server);
    assert!(
        0 < there && there < u64::from(RECORDS),
        "{there} rows before the server went away"
    );
    let run = Run::of(child.wait_with_output().expect("ended"));
    assert!(
        run.stderr.contains("going on when the server is there again"),
        "{}",
        run.stderr
    );
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert_eq!(count(&server), u64::from(RECORDS));
    let ids = server
        .query("SELECT uniqExact(ID), min(ID), max(ID) FROM big")
        .expect("an answer");
    assert_eq!(ids.trim(), format!("{RECORDS}\t0\t{}", RECORDS - 1));
}
