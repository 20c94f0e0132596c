//! `tidemill self-check`.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use tidemill_sql::{CopyOptions, Location, Session, SessionOptions, Verify};
use tidemill_xbase::{CivilDate, CreateOptions, EditOptions, FieldSpec, OpenMode, TableEditor, TableWriter};

use crate::Outcome;
use crate::args::LONG_VERSION;
use crate::terminal::say;

/// Check that Tidemill works on this machine and in a folder. Exits with 1 if a check fails.
///
/// Makes a small table in a new folder in DIR, changes it, copies it to each format and compares the copies, and tries whether file
/// locks keep other programs away, which not all network drives do. The new folder is then removed.
#[derive(Debug, clap::Args)]
pub(crate) struct SelfCheckArgs {
    /// The folder to check, for example the one of your tables.
    #[arg(default_value = ".")]
    pub(crate) dir: PathBuf,
}

/// The table that is made, changed and copied.
const TABLE: [&str; 3] = [
    "CREATE TABLE sample (id Integer, name Char(12), born Date, paid Numeric(10, 2), note Memo)",
    "INSERT INTO sample VALUES (1, 'Douglas', '1952-03-11', 12.50, 'first'), (2, 'Grace', '1906-12-09', -0.75, 'second'), \
     (3, 'Zoë', NULL, NULL, 'third')",
    "CREATE INDEX id ON sample (id)",
];

/// The formats that a copy is made in, and whether its values have types to be compared by.
const COPIES: [(&str, bool); 9] = [
    ("dbf", true),
    ("adt", true),
    ("parquet", true),
    ("arrow", true),
    ("riegeli", true),
    ("native", true),
    ("csv", false),
    ("jsonl", false),
    ("jsonl.gz", false),
];

pub(crate) async fn run(args: SelfCheckArgs) -> Result<Outcome> {
    let folder = tempfile::Builder::new()
        .prefix("tidemill-check-")
        .tempdir_in(&args.dir)
        .with_context(|| format!("{}: cannot make a folder in it", args.dir.display()))?;
    say!("tidemill {LONG_VERSION}")?;
    say!("checking in {}", args.dir.display())?;
    let path = folder.path();
    let session = Session::new(SessionOptions::default().dir(path));
    let mut checks = Checks::default();
    checks
        .of("make a table with memos and an index", make(&session))
        .await?;
    checks.of("find a record by the index", find(&session)).await?;
    checks.of("take back a transaction", roll_back(&session)).await?;
    checks.of("keep other programs away by a lock", keep_away(path)).await?;
    for (extension, has_types) in COPIES {
        let copied = copy(&session, path, extension, has_types);
        checks.of(&format!("copy to .{extension} and compare"), copied).await?;
    }
    checks.of("group and join", join(&session)).await?;
    match checks.failed {
        0 => say!("all {} checks passed", checks.done)?,
        failed => say!("{failed} of {} checks failed", checks.done)?,
    }
    Ok(match checks.failed {
        0 => Outcome::Done,
        _ => Outcome::Negative,
    })
}

/// How the checks went so far.
#[derive(Default)]
struct Checks {
    done: usize,
    failed: usize,
}

impl Checks {
    /// Runs a check and prints how it went.
    async fn of(&mut self, what: &str, check: impl Future<Output = Result<()>>) -> Result<()> {
        let begun = Instant::now();
        self.done += 1;
        match check.await {
            Ok(()) => say!("ok      {what} ({:.0} ms)", begun.elapsed().as_secs_f64() * 1e3)?,
            Err(error) => {
                self.failed += 1;
                say!("FAILED  {what}: {error:#}")?;
            }
        }
        Ok(())
    }
}

async fn make(session: &Session) -> Result<()> {
    for statement in TABLE {
        session.query(statement).await?.collect().await?;
    }
    expect(
        session,
        "SELECT COUNT(*), SUM(paid), MAX(note) FROM sample",
        "3|11.75|third",
    )
    .await
}

async fn find(session: &Session) -> Result<()> {
    expect(session, "SELECT TRIM(name) FROM sample WHERE id = 2", "Grace").await
}

async fn roll_back(session: &Session) -> Result<()> {
    for statement in ["BEGIN TRANSACTION", "DELETE FROM sample WHERE id > 1", "ROLLBACK"] {
        session.query(statement).await?.collect().await?;
    }
    expect(session, "SELECT COUNT(*) FROM sample", "3").await
}

async fn keep_away(folder: &Path) -> Result<()> {
    let table = folder.join("locked.dbf");
    let today = CivilDate::today();
    TableWriter::create(&table, &[FieldSpec::new("ID", 'N', 4, 0)], &CreateOptions::new(today))?.finish()?;
    let options = EditOptions::new(today)
        .mode(OpenMode::Exclusive)
        .lock_timeout(Duration::ZERO);
    let editor = TableEditor::open(&table, &options)?;
    let second = TableEditor::open(&table, &options);
    ensure!(
        matches!(second, Err(tidemill_xbase::Error::Locked { .. })),
        "the file system grants a lock twice; programs that share tables here would damage them"
    );
    drop(editor);
    TableEditor::open(&table, &options)?;
    Ok(())
}

async fn copy(session: &Session, folder: &Path, extension: &str, has_types: bool) -> Result<()> {
    let source = session.locate("sample.dbf").await?;
    let name = format!("copy.{extension}");
    let destination = Location::new_file(&folder.join(&name))?;
    let options = CopyOptions {
        lossy: true,
        verify: if has_types { Verify::Full } else { Verify::Counts },
        ..CopyOptions::default()
    };
    let copied = session.copy(&source, &destination, &options, |_| {}).await?;
    ensure!(copied.rows == 3, "{} rows, expected 3", copied.rows);
    expect(session, &format!("SELECT COUNT(*), SUM(id) FROM '{name}'"), "3|6").await
}

async fn join(session: &Session) -> Result<()> {
    let joined = "SELECT COUNT(*), SUM(b.paid) FROM sample a JOIN 'copy.parquet' b ON a.id = b.id WHERE b.paid > 0";
    expect(session, joined, "1|12.50").await
}

/// That a statement answers with this row, its values joined by `|`.
async fn expect(session: &Session, statement: &str, expected: &str) -> Result<()> {
    let batches = session.query(statement).await?.collect().await?;
    let options = FormatOptions::default();
    let mut values = Vec::new();
    for batch in &batches {
        for column in batch.columns().iter().filter(|column| !column.is_empty()) {
            values.push(ArrayFormatter::try_new(column, &options)?.value(0).to_string());
        }
    }
    let found = values.join("|");
    ensure!(found == expected, "{statement}: found {found}, expected {expected}");
    Ok(())
}
