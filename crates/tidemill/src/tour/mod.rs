//! `tidemill tour`: the main steps on real files, with the command of each, and a report.
//!
//! Each step calls the code of the command that it prints. Query results of the copies are compared with those of the tables, value by
//! value.

mod books;
#[cfg(feature = "bench")]
mod load_test;
mod questions;
mod report;

use std::fmt;
use std::fs;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use tidemill_sql::{Answer, CopyOptions, Format, Location, ServerUrl, Session, TableOptions};

use crate::Outcome;
use crate::args::{BlankArg, TableArgs, TourArgs};
use crate::commands::inspect::describe;
use crate::commands::tables_in;
use crate::output::{TextStyle, layout};
use crate::progress::summary;
use crate::terminal::say;
use questions::Question;

pub(crate) async fn run(args: TourArgs) -> anyhow::Result<Outcome> {
    let started = Instant::now();
    let mut report = Report::default();
    fs::create_dir_all(&args.out).with_context(|| format!("cannot create the folder {}", args.out.display()))?;

    let dir = match &args.dir {
        Some(dir) => dir.clone(),
        None => {
            heading("A small company's books: DBF tables with FPT memos in code page 850")?;
            let dir = args.out.join("books");
            let made = Instant::now();
            books::make(&dir)?;
            report.times.push(("make the books".to_owned(), made.elapsed()));
            dir
        }
    };
    let tables = tables_in(&dir)?;
    if tables.is_empty() {
        bail!(
            "{}: no tables in this folder; the tour needs some to show",
            dir.display()
        );
    }
    say!("{} tables in {}", tables.len(), dir.display())?;

    heading("What is in them?")?;
    let session = session_in(&args.tables, &dir);
    inspect(&tables, &dir, &session, &args.tables).await?;
    let questions = match args.dir {
        None => questions::about_books(),
        Some(_) => questions::about(&session, &tables).await?,
    };
    heading("Questions in SQL")?;
    let mut answers = Vec::new();
    for question in &questions {
        let answer = ask(&session, question, &dir).await?;
        say!("{}({:.0} ms)\n", answer.text, answer.elapsed.as_secs_f64() * 1e3)?;
        answers.push(answer);
    }
    report.times.push((
        "ask the tables".to_owned(),
        answers.iter().map(|answer| answer.elapsed).sum(),
    ));
    report.sizes.push((dir.display().to_string(), size_of_folder(&dir)?));

    let mut agree = true;
    for (format, extension) in [(Format::Riegeli, "riegeli"), (Format::Parquet, "parquet")] {
        let copies = args.out.join(extension);
        heading(&format!("Everything copied to {format}, and asked again"))?;
        let elapsed = copy(&session, &tables, &dir, &copies, extension).await?;
        report.times.push((format!("copy to {format}"), elapsed));
        report
            .sizes
            .push((copies.display().to_string(), size_of_folder(&copies)?));

        let over_copies = session_in(&args.tables, &copies);
        let copies = Whom::Copies(format.to_string(), &over_copies);
        agree &= ask_again(&copies, &questions, &mut answers, &mut report).await?;
    }
    if let Some(database) = &args.clickhouse {
        heading("Everything copied to the ClickHouse server, and asked again")?;
        let elapsed = copy_to_server(&session, &tables, &dir, database).await?;
        report.times.push(("copy to clickhouse".to_owned(), elapsed));
        let over_server = Session::new(args.tables.options().database(database.clone()));
        let copies = Whom::Copies("clickhouse".to_owned(), &over_server);
        agree &= ask_again(&copies, &questions, &mut answers, &mut report).await?;
        heading("The same questions for the server itself, in its own SQL")?;
        let itself = Whom::Server(&over_server, database);
        agree &= ask_again(&itself, &questions, &mut answers, &mut report).await?;
    }

    #[cfg(feature = "bench")]
    if args.dir.is_none() && args.load_test > 0 {
        heading("The books under load")?;
        let tested = Instant::now();
        report.load_test = load_test::run(&session, &dir, &args.out, args.load_test).await?;
        report.times.push(("test under load".to_owned(), tested.elapsed()));
    }

    report.agree = agree;
    report.total = started.elapsed();
    let page = args.out.join("report.html");
    fs::write(&page, report::page(&report, &questions, &answers))
        .with_context(|| format!("cannot write {}", page.display()))?;
    heading("Done")?;
    for (what, elapsed) in &report.times {
        say!("  {what:<28} {:>8.2} s", elapsed.as_secs_f64())?;
    }
    for (what, bytes) in &report.sizes {
        say!("  {what:<28} {:>8.1} MB", *bytes as f64 / 1e6)?;
    }
    say!("\n{}", verdict(agree, questions.len()))?;
    say!(
        "report: {} ({:.1} s in all)",
        page.display(),
        started.elapsed().as_secs_f64()
    )?;
    #[cfg(feature = "serve")]
    say!(
        "next: tidemill serve {}   (a page in your browser, and psql, Python, JDBC)",
        dir.display()
    )?;
    Ok(if agree { Outcome::Done } else { Outcome::Negative })
}

/// The contents of the page besides the questions.
#[derive(Default)]
struct Report {
    /// Steps and how long they took.
    times: Vec<(String, Duration)>,
    /// Folders and the bytes of the files in them.
    sizes: Vec<(String, u64)>,
    /// The chart of the load test, as SVG; empty without one.
    load_test: String,
    agree: bool,
    total: Duration,
}

/// A question's result as text; equal texts mean equal results.
struct Asked {
    text: String,
    elapsed: Duration,
    /// Format of a copy, time, and whether the result was the same.
    copies: Vec<(String, Duration, bool)>,
}

impl Asked {
    async fn new(answer: Answer, started: Instant) -> anyhow::Result<Self> {
        let schema = answer.schema();
        let batches = answer.collect().await?;
        let elapsed = started.elapsed();
        Ok(Self {
            text: layout(TextStyle::Table, &schema, &batches, None)?,
            elapsed,
            copies: Vec::new(),
        })
    }
}

fn verdict(agree: bool, questions: usize) -> String {
    match agree {
        true => format!("All {questions} answers agree in all formats."),
        false => "Answers differ between formats: this is a defect, please report it.".to_owned(),
    }
}

fn session_in(tables: &TableArgs, dir: &Path) -> Session {
    TableArgs {
        dir: Some(dir.to_path_buf()),
        // Copies store blanks as NULL, and their results must be the same.
        blank: tables.blank.or(Some(BlankArg::Null)),
        ..tables.clone()
    }
    .session()
}

async fn inspect(tables: &[Location], dir: &Path, session: &Session, args: &TableArgs) -> anyhow::Result<()> {
    command(&format!("inspect {}", quoted(&dir.display().to_string())))?;
    for table in tables {
        say!("  {}", describe(table, session, args).await?.line())?;
    }
    Ok(())
}

async fn ask(session: &Session, question: &Question, dir: &Path) -> anyhow::Result<Asked> {
    say!("{}", question.title)?;
    command(&format!(
        "sql --dir {} {}",
        quoted(&dir.display().to_string()),
        quoted(&question.sql)
    ))?;
    ask_quietly(session, question).await
}

async fn ask_quietly(session: &Session, question: &Question) -> anyhow::Result<Asked> {
    let started = Instant::now();
    Asked::new(session.query(&question.sql).await?, started).await
}

/// Where a question is asked again.
enum Whom<'a> {
    /// Copies in this format, through a session.
    Copies(String, &'a Session),
    /// A server, in its own SQL.
    Server(&'a Session, &'a ServerUrl),
}

impl Whom<'_> {
    async fn ask(&self, question: &Question) -> anyhow::Result<Asked> {
        match self {
            Self::Copies(_, session) => ask_quietly(session, question).await,
            Self::Server(session, server) => {
                let sql = &question.clickhouse;
                command(&format!("sql --server \"{server}\" {}", quoted(sql)))?;
                let started = Instant::now();
                Asked::new(session.ask_server(server, sql).await?, started).await
            }
        }
    }
}

impl fmt::Display for Whom<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Copies(format, _) => write!(f, "the {format} copies"),
            Self::Server(..) => f.write_str("clickhouse itself"),
        }
    }
}

/// Asks a question again, and compares the results.
async fn ask_again(
    whom: &Whom<'_>,
    questions: &[Question],
    answers: &mut [Asked],
    report: &mut Report,
) -> anyhow::Result<bool> {
    let mut agree = true;
    let mut asked = Duration::ZERO;
    for (question, expected) in questions.iter().zip(answers) {
        let answer = whom.ask(question).await?;
        let same = answer.text == expected.text;
        say!(
            "  {}  {}",
            if same { "same answer     " } else { "ANOTHER ANSWER  " },
            question.title
        )?;
        asked += answer.elapsed;
        agree &= same;
        expected.copies.push((whom.to_string(), answer.elapsed, same));
    }
    report.times.push((format!("ask {whom}"), asked));
    Ok(agree)
}

async fn copy(
    session: &Session,
    tables: &[Location],
    dir: &Path,
    copies: &Path,
    extension: &str,
) -> anyhow::Result<Duration> {
    fs::create_dir_all(copies).with_context(|| format!("cannot create the folder {}", copies.display()))?;
    command(&format!(
        "copy {} {} --to {extension} --overwrite",
        quoted(&dir.display().to_string()),
        copies.display()
    ))?;
    let destination = |table: &str| Location::new_file(&copies.join(table).with_extension(extension));
    copy_all(session, tables, destination, TableOptions::default()).await
}

async fn copy_to_server(
    session: &Session,
    tables: &[Location],
    dir: &Path,
    database: &ServerUrl,
) -> anyhow::Result<Duration> {
    let from = quoted(&dir.display().to_string());
    command(&format!("copy {from} \"{database}\" --create --overwrite"))?;
    let making = TableOptions {
        create: true,
        ..TableOptions::default()
    };
    copy_all(
        session,
        tables,
        |table| Location::server(database.with_table(table)),
        making,
    )
    .await
}

async fn copy_all(
    session: &Session,
    tables: &[Location],
    destination: impl Fn(&str) -> tidemill_sql::Result<Location>,
    making: TableOptions,
) -> anyhow::Result<Duration> {
    let options = CopyOptions {
        overwrite: true,
        table: making,
        ..CopyOptions::default()
    };
    let started = Instant::now();
    for table in tables {
        let name = table.table_name();
        let copying = Instant::now();
        let copied = session.copy(table, &destination(&name)?, &options, |_| {}).await?;
        let line = summary(copied.rows, copied.source_bytes, copied.bytes, copying.elapsed());
        say!("  {name}: {line}")?;
    }
    Ok(started.elapsed())
}

fn size_of_folder(folder: &Path) -> anyhow::Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(folder)? {
        let metadata = entry?.metadata()?;
        if metadata.is_file() {
            bytes += metadata.len();
        }
    }
    Ok(bytes)
}

fn heading(text: &str) -> io::Result<()> {
    say!("\n── {text}\n")
}

/// Prints the command of the next step.
fn command(text: &str) -> io::Result<()> {
    say!("$ tidemill {text}")
}

/// Quotes a word for a shell.
fn quoted(text: &str) -> String {
    if !text.contains(|letter: char| !letter.is_ascii_alphanumeric() && !"/._-".contains(letter)) {
        return text.to_owned();
    }
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        if "\\\"`$".contains(letter) {
            quoted.push('\\');
        }
        quoted.push(letter);
    }
    quoted + "\""
}
