//! `tidemill sql`.

use std::io::{self, IsTerminal, Read, Write};
use std::time::Instant;

use anyhow::{Context, anyhow};
use indicatif::HumanCount;
use tidemill_sql::{Plain, ScanCount, Session};

use crate::Outcome;
use crate::args::SqlArgs;
use crate::commands::changing::{Change, Changing};
use crate::output::{Screen, default_format, report_damage, write_answers};
use crate::terminal::{Output, note, shown, tell};

const CHANGE: Change = Change {
    is_undone: true,
    advice: "run tidemill recover in the folder of the table, then look",
};

pub(crate) async fn run(args: SqlArgs) -> anyhow::Result<Outcome> {
    let mut statement = args.statement;
    if statement == "-" {
        statement.clear();
        io::stdin()
            .read_to_string(&mut statement)
            .context("cannot read the statement from standard input")?;
    }
    let mut options = args
        .limits
        .of_tables(args.tables.options().making(args.making.options()));
    // The session runs only this statement.
    options = options.most_sorted(Some(250_000)).counts_scans(args.stats);
    if let Some(bytes) = args.memory {
        options = options.memory(bytes);
    }
    #[cfg(feature = "workers")]
    let options = args.workers.of_session(options)?;
    let session = Session::new(options);
    let with_place = |error| with_place(error, &statement);
    if args.explain {
        let plan = session.explain(&statement).await.map_err(with_place)?;
        Output::new().write_all(shown(&plan).as_bytes())?;
        return Ok(Outcome::Done);
    }
    let is_change = !tidemill_sql::is_query(&statement).unwrap_or(true);
    let changing = is_change.then(|| Changing::begin(CHANGE));
    let started = Instant::now();
    let answers = match &args.server {
        Some(server) => vec![session.ask_server(server, &statement).await?],
        None => session.query_all(&statement).await.map_err(with_place)?,
    };
    drop(changing);
    let format = args.format.unwrap_or_else(default_format);
    let rows = write_answers(answers, format, Screen::of(args.screen)).await?;
    report_damage(&session);
    if args.stats {
        tell_scans(&session.scan_counts());
    }
    if io::stderr().is_terminal() {
        note!("{rows} rows in {:.3} s", started.elapsed().as_secs_f64());
    }
    Ok(Outcome::Done)
}

/// Prints a line for each scan.
fn tell_scans(scans: &[ScanCount]) {
    if scans.is_empty() {
        tell!("no scan was counted: ADS SQL answered from the tables and their indexes; --explain shows how");
        return;
    }
    tell!("{:>12}  {:>12}  scan", "rows", "bytes");
    for ScanCount { scan, rows, bytes, .. } in scans {
        let bytes = bytes.map_or_else(|| "-".to_owned(), |bytes| HumanCount(bytes).to_string());
        tell!("{:>12}  {bytes:>12}  {scan}", HumanCount(*rows).to_string());
    }
}

/// An error of a statement, with the line in which it occurs and a mark below the position.
///
/// ```text
/// column totl not found; did you mean TOTAL?
///   SELECT totl FROM orders
///          ^
/// ```
pub(crate) fn with_place(error: tidemill_sql::Error, statement: &str) -> anyhow::Error {
    let Some(Plain { what, hint, place }) = error.plain() else {
        return error.into();
    };
    let mut text = what;
    if let Some(hint) = hint {
        text.push_str("; ");
        text.push_str(&hint);
    }
    let Some((line, column)) = place else {
        return anyhow!(text);
    };
    let number = usize::try_from(line).unwrap_or(usize::MAX);
    let Some(wrong) = statement.lines().nth(number.saturating_sub(1)) else {
        return anyhow!("{text} (line {line}, column {column})");
    };
    let before = usize::try_from(column).unwrap_or_default().saturating_sub(1);
    let (wrong, before) = excerpt(wrong, before);
    let mark: String = wrong
        .chars()
        .take(before)
        .map(|letter| if letter == '\t' { '\t' } else { ' ' })
        .collect();
    let line = match statement.lines().count() {
        1 => String::new(),
        _ => format!("line {line}:\n"),
    };
    anyhow!("{text}\n{line}  {wrong}\n  {mark}^")
}

/// The part of a line around a position, and how many characters precede it.
fn excerpt(line: &str, before: usize) -> (String, usize) {
    const SHOWN: usize = 100;
    let begin = before.saturating_sub(SHOWN / 2);
    let part: String = line.chars().skip(begin).take(SHOWN).collect();
    (part, before - begin)
}
