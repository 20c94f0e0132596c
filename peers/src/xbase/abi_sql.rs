//! Statements through `AdsExecuteSQLDirect`, beside DuckDB with two threads and SQLite, each over its own storage.
//!
//! Of each answer all rows are counted and the first ten are read, column by column.

use std::{
    ffi::CString,
    path::Path,
    ptr::null_mut,
    time::{Duration, Instant},
};

use libloading::{Library, Symbol};

use super::{
    Reference, Spread,
    abi::{Ace, Answer, Call1, Outcome, SetDouble, Skip, checked, field, loaded},
    rivals::{self, RivalTable},
};

/// A statement and how long it may take over 100,000 rows, warm, in milliseconds.
#[derive(Debug, Clone, Copy)]
pub struct Workload {
    /// What is done.
    pub name: &'static str,
    /// The statement; all three engines understand it.
    pub sql: &'static str,
    /// The limit of the issue; none where it is infinite.
    pub limit_ms: f64,
}

pub(super) const fn workload(name: &'static str, sql: &'static str, limit_ms: f64) -> Workload {
    Workload { name, sql, limit_ms }
}

/// The workloads of the measurements that the project is to beat.
pub const WORKLOADS: [Workload; 13] = [
    workload("COUNT(*)", "SELECT COUNT(*) FROM bench", 0.06),
    workload("WHERE TAG", "SELECT COUNT(*) FROM bench WHERE TAG = 'AAAA'", 0.15),
    workload("rows WHERE TAG", "SELECT * FROM bench WHERE TAG = 'AAAA'", 0.15),
    workload(
        "SUM AVG MIN MAX",
        "SELECT SUM(AMT), AVG(AMT), MIN(AMT), MAX(AMT) FROM bench",
        0.2,
    ),
    workload(
        "GROUP BY",
        "SELECT TAG, COUNT(*) FROM bench GROUP BY TAG ORDER BY TAG",
        0.25,
    ),
    workload(
        "GROUP BY, sums",
        "SELECT TAG, SUM(AMT) FROM bench GROUP BY TAG ORDER BY TAG",
        f64::INFINITY,
    ),
    workload(
        "ORDER BY LIMIT 10",
        "SELECT AMT FROM bench ORDER BY AMT DESC LIMIT 10",
        0.4,
    ),
    workload("DISTINCT", "SELECT DISTINCT TAG FROM bench ORDER BY TAG", 0.25),
    workload(
        "BETWEEN",
        "SELECT COUNT(*) FROM bench WHERE AMT BETWEEN 100 AND 500",
        0.25,
    ),
    workload("ID = 50000, indexed", "SELECT * FROM bench WHERE ID = 50000", 0.02),
    workload(
        "ID BETWEEN, indexed",
        "SELECT * FROM bench WHERE ID BETWEEN 10000 AND 20000",
        0.2,
    ),
    workload(
        "UNION ALL",
        "SELECT ID FROM bench WHERE TAG = 'AAAA' UNION ALL SELECT ID FROM bench WHERE TAG = 'BBBB'",
        1.0,
    ),
    workload(
        "HAVING",
        "SELECT TAG FROM bench GROUP BY TAG HAVING COUNT(*) > 10 ORDER BY TAG",
        0.3,
    ),
];

/// What an engine took for a workload.
#[derive(Debug, Clone)]
pub struct SqlLine {
    /// The workload's name.
    pub name: String,
    /// By whom.
    pub engine: String,
    /// Again and again on one connection.
    pub warm: Spread,
    /// On a connection that was just made; nothing for others than ours.
    pub first: Option<Spread>,
    /// The limit, in milliseconds.
    pub limit_ms: Option<f64>,
}

/// Rows, and the texts of the first ten of them.
pub(super) type Found = (usize, Vec<String>);

/// Runs all workloads, and checks that the engines answer alike.
///
/// # Errors
///
/// When the library or Python is not there, and what the engines say.
pub fn ask(reference: &Reference, repeats: usize, folder: &Path) -> Outcome<Vec<SqlLine>> {
    let folder = folder.join("sql");
    std::fs::create_dir(&folder)?;
    std::fs::write(folder.join("bench.dbf"), &reference.dbf)?;
    let library = loaded()?;
    let session = Session::open(&library, &folder)?;
    session.run("CREATE INDEX id ON bench ( ID )")?;
    // What was written just now is looked at again and again, because a clock's tick may hide a change.
    std::thread::sleep(Duration::from_millis(100));
    let mut lines = Vec::new();
    let mut answers = Vec::new();
    for workload in WORKLOADS {
        let first = (0..5).map(|_| {
            let fresh = Session::open(&library, &folder)?;
            let begin = Instant::now();
            fresh.read(workload.sql)?;
            let time = begin.elapsed();
            fresh.close()?;
            Ok(time)
        });
        let first = Spread::of(first.collect::<Outcome<_>>()?);
        let answer = session.read(workload.sql)?;
        let read = |()| session.read(workload.sql).expect("an answer");
        let warm = Spread::measure(repeats, &answer, || (), read);
        answers.push(answer);
        lines.push(SqlLine {
            name: workload.name.to_owned(),
            engine: "libace".to_owned(),
            warm,
            first: Some(first),
            limit_ms: Some(workload.limit_ms).filter(|limit| limit.is_finite()),
        });
    }
    lines.push(session.point_selects(reference.rows.len())?);
    lines.push(session.inserts()?);
    session.close()?;
    let table = RivalTable {
        name: "bench",
        csv: reference.csv(),
        columns: "ID::INTEGER AS ID, TAG, (CENTS / 100)::DECIMAL(8,2) AS AMT",
        indexed: Some("ID"),
    };
    lines.extend(rivals::ask(&[table], &WORKLOADS, repeats, &folder, &answers)?);
    Ok(lines)
}

type Execute = unsafe extern "C" fn(u64, *const u8, *mut u64) -> u32;
type ExecutePrepared = unsafe extern "C" fn(u64, *mut u64) -> u32;
type Prepare = unsafe extern "C" fn(u64, *const u8) -> u32;
type Text = unsafe extern "C" fn(u64, *mut std::ffi::c_void, *mut u8, *mut u32, u16) -> u32;
type Count = unsafe extern "C" fn(u64, u16, *mut u32) -> u32;
type Create = unsafe extern "C" fn(u64, *mut u64) -> u32;

/// `ADS_RESPECTFILTERS`, and `ADS_TRIM` of the header.
const SHOWN: u16 = 1;
const TRIM: u16 = 3;

/// A connection with a statement.
pub(super) struct Session<'l> {
    ace: Ace<'l>,
    connection: u64,
    statement: u64,
    execute: Symbol<'l, Execute>,
    count: Symbol<'l, Count>,
    fields: Symbol<'l, Answer>,
    text: Symbol<'l, Text>,
    at_end: Symbol<'l, Answer>,
    skip: Symbol<'l, Skip>,
    close: Symbol<'l, Call1>,
}

impl<'l> Session<'l> {
    pub(super) fn open(library: &'l Library, folder: &Path) -> Outcome<Self> {
        let ace = Ace { library };
        let connection = ace.connect(folder)?;
        let create: Symbol<'_, Create> = ace.function("AdsCreateSQLStatement")?;
        let mut statement = 0;
        // SAFETY: a place for the answer.
        checked(unsafe { create(connection, &raw mut statement) })?;
        Ok(Self {
            connection,
            statement,
            execute: ace.function("AdsExecuteSQLDirect")?,
            count: ace.function("AdsGetRecordCount")?,
            fields: ace.function("AdsGetNumFields")?,
            text: ace.function("AdsGetString")?,
            at_end: ace.function("AdsAtEOF")?,
            skip: ace.function("AdsSkip")?,
            close: ace.function("AdsCloseTable")?,
            ace,
        })
    }

    pub(super) fn close(self) -> Outcome {
        self.ace.call1("AdsDisconnect", self.connection)
    }

    pub(super) fn run(&self, sql: &str) -> Outcome<u64> {
        let (sql, mut cursor) = (CString::new(sql)?, 0);
        // SAFETY: a text that ends with a NUL, and a place for the answer.
        checked(unsafe { (self.execute)(self.statement, sql.as_ptr().cast(), &raw mut cursor) })?;
        Ok(cursor)
    }

    pub(super) fn read(&self, sql: &str) -> Outcome<Found> {
        let cursor = self.run(sql)?;
        let found = self.rows(cursor)?;
        // SAFETY: handles are checked.
        checked(unsafe { (self.close)(cursor) })?;
        Ok(found)
    }

    /// How many rows there are, and the texts of the first ten.
    fn rows(&self, cursor: u64) -> Outcome<Found> {
        let (mut count, mut columns, mut is_end) = (0, 0, 0);
        let mut texts = Vec::new();
        // SAFETY: places for the answers, and a buffer of the length that is said.
        unsafe {
            checked((self.count)(cursor, SHOWN, &raw mut count))?;
            checked((self.fields)(cursor, &raw mut columns))?;
            for _ in 0..10 {
                checked((self.at_end)(cursor, &raw mut is_end))?;
                if is_end != 0 {
                    break;
                }
                for column in 1..=columns {
                    let mut buffer = [0; 64];
                    let mut len = 64;
                    let (column, place) = (field(column.into()), buffer.as_mut_ptr());
                    checked((self.text)(cursor, column, place, &raw mut len, TRIM))?;
                    texts.push(String::from_utf8_lossy(&buffer[..len as usize]).into_owned());
                }
                checked((self.skip)(cursor, 1))?;
            }
        }
        Ok((count as usize, texts))
    }

    /// Prepared once, with another value each time: run, one field read, closed.
    fn point_selects(&self, rows: usize) -> Outcome<SqlLine> {
        let (prepare, execute): (Symbol<'_, Prepare>, Symbol<'_, ExecutePrepared>) =
            (self.ace.function("AdsPrepareSQL")?, self.ace.function("AdsExecuteSQL")?);
        let set: Symbol<'_, SetDouble> = self.ace.function("AdsSetDouble")?;
        let sql = CString::new("SELECT ID, TAG, AMT FROM bench WHERE ID = ?")?;
        // SAFETY: a text that ends with a NUL.
        checked(unsafe { prepare(self.statement, sql.as_ptr().cast()) })?;
        let mut times = Vec::new();
        for n in 0..2000_usize {
            let id = n * 7919 % rows + 1;
            let (mut cursor, mut buffer, mut len) = (0, [0; 64], 64);
            let begin = Instant::now();
            // SAFETY: places for the answers, and a buffer of the length that is said.
            unsafe {
                checked(set(self.statement, field(1), id as f64))?;
                checked(execute(self.statement, &raw mut cursor))?;
                checked((self.text)(cursor, field(1), buffer.as_mut_ptr(), &raw mut len, TRIM))?;
                checked((self.close)(cursor))?;
            }
            times.push(begin.elapsed());
            assert_eq!(String::from_utf8_lossy(&buffer[..len as usize]), id.to_string());
        }
        Ok(SqlLine {
            name: "prepared point SELECT".to_owned(),
            engine: "libace".to_owned(),
            warm: Spread::of(times),
            first: None,
            limit_ms: Some(0.01),
        })
    }

    /// Prepared once, in one transaction; the time of one with its share of the commit.
    fn inserts(&self) -> Outcome<SqlLine> {
        const COUNT: u32 = 50_000;
        let (prepare, execute): (Symbol<'_, Prepare>, Symbol<'_, ExecutePrepared>) =
            (self.ace.function("AdsPrepareSQL")?, self.ace.function("AdsExecuteSQL")?);
        let set: Symbol<'_, SetDouble> = self.ace.function("AdsSetDouble")?;
        let mut times = Vec::new();
        for round in 0..5 {
            self.run(&format!("CREATE TABLE filled{round} ( ID Integer, AMT Numeric(8,2) )"))?;
            let sql = CString::new(format!("INSERT INTO filled{round} VALUES ( ?, ? )"))?;
            // SAFETY: a text that ends with a NUL.
            checked(unsafe { prepare(self.statement, sql.as_ptr().cast()) })?;
            let begin = Instant::now();
            self.ace.call1("AdsBeginTransaction", self.connection)?;
            for n in 0..COUNT {
                // SAFETY: there are no rows, so no place for a cursor is needed.
                unsafe {
                    checked(set(self.statement, field(1), n.into()))?;
                    checked(set(self.statement, field(2), f64::from(n % 100_000) / 100.0))?;
                    checked(execute(self.statement, null_mut()))?;
                }
            }
            self.ace.call1("AdsCommitTransaction", self.connection)?;
            times.push(begin.elapsed() / COUNT);
            let (_, found) = self.read(&format!("SELECT COUNT(*) FROM filled{round}"))?;
            assert_eq!(found, [COUNT.to_string()]);
        }
        Ok(SqlLine {
            name: "prepared INSERT".to_owned(),
            engine: "libace".to_owned(),
            warm: Spread::of(times),
            first: None,
            limit_ms: Some(0.01),
        })
    }
}
