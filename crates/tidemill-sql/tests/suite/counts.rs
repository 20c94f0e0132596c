//! One definition of the rows: however a table is counted, damaged or not, the numbers are the same, or somebody says why not.

use std::fs;
use std::sync::Arc;

use arrow_array::RecordBatch;
use tidemill_sql::{CopyOptions, Location, Session, SessionOptions};

use crate::destination;

/// Rows of a file before it is damaged: more than one batch or chunk of any format is not needed.
const ROWS: usize = 60;

/// Ways of counting, each with the count that it gives for `rows` rows.
const WAYS: [&str; 4] = [
    "SELECT * FROM TABLE",
    "SELECT COUNT(*) AS n FROM TABLE",
    "SELECT COUNT(*) AS n FROM (SELECT * FROM TABLE LIMIT 1000000) AS t",
    "SELECT * FROM TABLE LIMIT 1000000 OFFSET 3",
];

async fn rows(session: &Session, sql: &str) -> tidemill_sql::Result<Vec<RecordBatch>> {
    session.query(sql).await?.collect().await
}

/// What a way of counting says. A library that panics at damage says something too; the command line makes an error of it.
async fn count(session: &Arc<Session>, way: &'static str, table: &str) -> Result<usize, String> {
    let (session, table) = (Arc::clone(session), table.to_owned());
    let counted = tokio::spawn(async move { counted(&session, way, &table).await });
    counted.await.unwrap_or_else(|panic| Err(panic.to_string()))
}

async fn counted(session: &Session, way: &str, table: &str) -> Result<usize, String> {
    let sql = way.replace("TABLE", &format!("'{table}'"));
    let batches = rows(session, &sql).await.map_err(|error| error.to_string())?;
    let counted: usize = batches.iter().map(RecordBatch::num_rows).sum();
    if way.contains("COUNT") {
        let column = batches[0].column(0);
        let number = arrow_cast::display::array_value_to_string(column, 0).expect("a number");
        return Ok(number.parse().expect("a number"));
    }
    match way.contains("OFFSET") {
        // Of fewer rows nothing can be told.
        true if counted == 0 => Err("fewer than four".to_owned()),
        true => Ok(counted + 3),
        false => Ok(counted),
    }
}

#[tokio::test]
async fn all_ways_of_counting_agree_over_damaged_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let session = Arc::new(Session::new(SessionOptions::default().dir(folder.path())));
    let numbers: Vec<String> = (0..ROWS)
        .map(|n| format!("{{\"id\": {n}, \"name\": \"row {n}\"}}\n"))
        .collect();
    fs::write(folder.path().join("source.jsonl"), numbers.concat()).expect("written");
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % below as u64).expect("a small number")
    };
    let mut compared = 0;
    for extension in [
        "dbf",
        "native",
        "parquet",
        "arrow",
        "csv",
        "jsonl",
        "riegeli",
        "array_record",
        "tfrecord",
        "tfrecord.gz",
    ] {
        let whole = folder.path().join(format!("whole.{extension}"));
        let select = match extension.contains("record") {
            true => "SELECT arrow_cast(name, 'Binary') AS record FROM 'source.jsonl'",
            // Text would go into a memo file.
            false if extension == "dbf" => "SELECT id, id * 2 AS twice FROM 'source.jsonl'",
            false => "SELECT id, name FROM 'source.jsonl'",
        };
        let (there, options) = (destination(&whole), CopyOptions::default());
        let made = session.copy_query(select, &there, &options, |_| {}).await;
        assert_eq!(made.expect(extension).rows, ROWS as u64);
        let bytes = fs::read(&whole).expect("read");
        let damaged = folder.path().join(format!("damaged.{extension}"));
        for round in 0..12 {
            let mut damage = bytes.clone();
            match round % 4 {
                0 if round > 0 => damage.truncate(random(bytes.len())),
                // What a download loses is mostly its end, in whole blocks.
                1 => damage.truncate(bytes.len().saturating_sub(1 << random(17))),
                2 | 3 => damage[random(bytes.len())] ^= 1 << random(8),
                _ => {}
            }
            fs::write(&damaged, &damage).expect("written");
            let mut said = Vec::new();
            for way in WAYS {
                said.push((way, count(&session, way, &damaged.display().to_string()).await));
            }
            if let Ok(location) = Location::existing(&damaged) {
                let session = Arc::clone(&session);
                let read = tokio::spawn(async move { session.read(&location, None).await?.collect().await });
                let read = match read.await {
                    Ok(read) => read.map_err(|error: tidemill_sql::Error| error.to_string()),
                    Err(panic) => Err(panic.to_string()),
                };
                said.push(("read", read.map(|read| read.iter().map(RecordBatch::num_rows).sum())));
            }
            let counts: Vec<usize> = said
                .iter()
                .filter_map(|(_, said)| said.as_ref().ok().copied())
                .collect();
            assert!(
                counts.windows(2).all(|two| two[0] == two[1]),
                "{extension}, round {round}, {} of {} bytes: {said:#?}",
                damage.len(),
                bytes.len()
            );
            compared += counts.len();
            if round == 0 {
                assert_eq!(counts, [ROWS; 5], "{extension}: {said:?}");
            }
        }
    }
    assert!(compared > 150, "{compared} counts were compared");
}
