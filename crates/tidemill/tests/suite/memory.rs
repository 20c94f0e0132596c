//! A copy's memory is bounded, however large the table.

use std::process::{Command, Stdio};
use std::time::Duration;

use crate::big_table;
use crate::run::{Folder, Run};

const RECORDS: u32 = 1_600_000;

#[test]
#[cfg(target_os = "linux")]
fn a_copy_of_300_megabytes_stays_below_200() {
    let folder = Folder::with(&[]);
    big_table::write(&folder.file("BIG.DBF"), RECORDS);
    for copy in ["big.riegeli", "big.parquet"] {
        let (run, peak_kib) = watched(&mut folder.command(&["copy", "BIG.DBF", copy]));
        assert!(run.stderr.contains("1,600,000 rows"), "{}", run.stderr);
        run.done();
        assert!((10_000..200_000).contains(&peak_kib), "{copy}: {peak_kib} KiB");
    }
}

/// Sorts and groups of many records spill, and are not held.
#[test]
#[cfg(target_os = "linux")]
fn sorts_and_groups_of_300_megabytes_stay_below_200() {
    let folder = Folder::with(&[]);
    big_table::write(&folder.file("BIG.DBF"), RECORDS);
    for (sql, rows) in [
        ("SELECT id, amount FROM big ORDER BY amount DESC, id LIMIT 10", 10),
        (
            "SELECT note, COUNT(*) AS n, SUM(amount) AS s FROM big GROUP BY note HAVING COUNT(*) > 2000",
            0,
        ),
        ("SELECT COUNT(DISTINCT id) AS n FROM big", 1),
    ] {
        let arguments = ["sql", sql, "--memory", "64M", "--format", "csv"];
        let (run, peak_kib) = watched(&mut folder.command(&arguments));
        assert_eq!(run.done().lines().count(), rows + 1, "{sql}");
        assert!((10_000..200_000).contains(&peak_kib), "{sql}: {peak_kib} KiB");
    }
}

/// Runs a command, and gives the most KiB that it held.
fn watched(command: &mut Command) -> (Run, u64) {
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("started");
    let mut peak_kib = 0;
    while child.try_wait().expect("a child").is_none() {
        peak_kib = peak_resident_kib(child.id()).unwrap_or(0).max(peak_kib);
        std::thread::sleep(Duration::from_millis(5));
    }
    (Run::of(child.wait_with_output().expect("ended")), peak_kib)
}

/// `VmHWM` of proc_pid_status(5): the most that was resident so far.
fn peak_resident_kib(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}
