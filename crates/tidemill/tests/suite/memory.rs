//! A copy's memory is bounded, however large the table.

use std::ops::Range;
use std::time::Duration;

use crate::big_table;
use crate::hostile::watched;
use crate::run::Folder;

const RECORDS: u32 = 1_600_000;
/// What a command may take of memory, in bytes.
const EXPECTED: Range<u64> = 10 << 20..200 << 20;
const PATIENCE: Duration = Duration::from_secs(120);

#[test]
#[cfg(target_os = "linux")]
fn a_copy_of_300_megabytes_stays_below_200() {
    let folder = Folder::with(&[]);
    big_table::write(&folder.file("BIG.DBF"), RECORDS);
    for copy in ["big.riegeli", "big.parquet"] {
        let (run, _, peak) = watched(&mut folder.command(&["copy", "BIG.DBF", copy]), PATIENCE);
        assert!(run.stderr.contains("1,600,000 rows"), "{}", run.stderr);
        run.done();
        assert!(EXPECTED.contains(&peak), "{copy}: {peak} bytes");
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
        let (run, _, peak) = watched(&mut folder.command(&arguments), PATIENCE);
        assert_eq!(run.done().lines().count(), rows + 1, "{sql}");
        assert!(EXPECTED.contains(&peak), "{sql}: {peak} bytes");
    }
}
