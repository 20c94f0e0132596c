//! `tidemill verify`.

mod index;
mod log;

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::bail;
use serde_json::json;
use tidemill_riegeli::{ReaderOptions, StreamSource, tfrecord, verify_source_within};
use tidemill_sql::{Format, Location, Session, remains_in, standard_input, with_causes};
use tidemill_xbase::index::IndexDialect;
use tidemill_xbase::{Error as XbaseError, Table, pending_logs};

use crate::Outcome;
use crate::args::{ReportFormat, VerifyArgs};
use crate::commands::inspect::is_log;
use crate::commands::{counted, recover, tables_in};
use crate::terminal::{self, Output, shown, tell};

pub(crate) async fn run(args: VerifyArgs) -> anyhow::Result<Outcome> {
    let session = Session::new(args.limits.of_tables(args.tables.options()));
    let path = session.names().path(&args.file)?;
    let mut report = Report {
        format: args.format,
        outcome: Outcome::Done,
    };
    if let Some(path) = path.as_ref().filter(|path| is_log(path)) {
        report.write(&log::verify(path)?)?;
        return Ok(report.outcome);
    }
    if let Some(index) = path.as_ref().filter(|path| IndexDialect::from_path(path).is_some()) {
        report.write(&index::verify_alone(index, &args)?)?;
        return Ok(report.outcome);
    }
    let folder = path.filter(|path| path.is_dir());
    let tables = match &folder {
        Some(folder) => tables_in(folder)?,
        None => session.locate(&args.file).await?.parts().await?,
    };
    // Pending changes are not damage, but what they would change cannot be judged.
    let logs = folder.iter().flat_map(pending_logs).flatten();
    for log in logs.filter(|log| !log.in_use) {
        report.outcome = Outcome::Negative;
        match &log.refused {
            Some(why) => tell!("{why}"),
            None => tell!("{}; tidemill recover writes them", recover::described(&log)),
        }
    }
    let mut strays = match &folder {
        Some(folder) => index::indexes_in(folder)?,
        None => Vec::new(),
    };
    for remains in folder.iter().flat_map(|folder| remains_in(folder).unwrap_or_default()) {
        tell!(
            "{}: what a program had begun that was killed; the next copy into this folder removes it",
            remains.display()
        );
    }
    if tables.is_empty() && strays.is_empty() {
        bail!("{}: no tables in this folder", args.file);
    }
    for location in tables {
        let verified = match location.format {
            Format::Xbase => verify_xbase(&location, &args, &mut report, &mut strays),
            _ => match verify(&location, &session, &args).await {
                Ok(findings) => report.write(&findings).map_err(Into::into),
                Err(error) => Err(error),
            },
        };
        match verified {
            // An error in one table does not stop the others.
            Err(error) if folder.is_some() && !terminal::is_closed() => {
                tell!("{error:#}");
                report.outcome = Outcome::Negative;
            }
            verified => verified?,
        }
    }
    for index in strays {
        report.write(&index::verify_alone(&index, &args)?)?;
    }
    Ok(report.outcome)
}

/// The contents of a file, and its damage.
struct Findings {
    file: String,
    unit: Unit,
    good: u64,
    damaged: Vec<Damage>,
    /// Index tags that are sound but lack the keys of their table.
    outdated: Vec<Outdated>,
    /// What was not checked.
    note: Option<String>,
    /// Deviations from the format that are not damage.
    notes: Vec<Damage>,
    /// Parts whose soundness is unknown.
    unknown: Vec<Damage>,
}

/// An index tag whose table was changed without it.
struct Outdated {
    /// The counts of all keys that differ.
    tag: Damage,
    /// Each key. The text output shows a few.
    keys: Vec<Damage>,
}

/// The unit in which a file is counted.
#[derive(Clone, Copy, PartialEq)]
enum Unit {
    Records,
    Orders,
    Transactions,
}

/// A damaged range of bytes, and the reason.
struct Damage {
    begin: u64,
    end: u64,
    /// The first and the last affected record, counted from 1.
    records: Option<(u32, u32)>,
    why: String,
}

/// Writes findings, and derives the outcome from them.
struct Report {
    format: ReportFormat,
    outcome: Outcome,
}

impl Report {
    fn write(&mut self, findings: &Findings) -> io::Result<()> {
        if !findings.damaged.is_empty() || !findings.outdated.is_empty() {
            self.outcome = Outcome::Negative;
        }
        let mut out = Output::new();
        match self.format {
            ReportFormat::Json => writeln!(out, "{}", findings.json()),
            ReportFormat::Text => findings.write_text(&mut out),
        }
    }
}

impl Findings {
    fn records(file: &Location, good: u64, damaged: Vec<Damage>) -> Self {
        Self {
            file: file.to_string(),
            unit: Unit::Records,
            good,
            damaged,
            outdated: Vec::new(),
            note: None,
            notes: Vec::new(),
            unknown: Vec::new(),
        }
    }

    fn json(&self) -> String {
        // Written without serde: scripts may rely on the order of the keys.
        let keys = self.outdated.iter().flat_map(|old| &old.keys);
        let damaged: Vec<String> = self.damaged.iter().chain(keys).map(Damage::json).collect();
        let (good, mut damaged) = (self.good, format!("[{}]", damaged.join(", ")));
        let others: [(&str, Vec<&Damage>); 3] = [
            ("out_of_date", self.outdated.iter().map(|old| &old.tag).collect()),
            ("notes", self.notes.iter().collect()),
            ("unknown", self.unknown.iter().collect()),
        ];
        for (name, found) in others {
            if !found.is_empty() {
                let found: Vec<String> = found.into_iter().map(Damage::json).collect();
                damaged += &format!(r#", "{name}": [{}]"#, found.join(", "));
            }
        }
        match self.unit {
            Unit::Records => format!(
                r#"{{"file": {}, "records": {good}, "damaged": {damaged}}}"#,
                json!(self.file)
            ),
            Unit::Orders => format!(
                r#"{{"index": {}, "orders": {good}, "damaged": {damaged}}}"#,
                json!(self.file)
            ),
            Unit::Transactions => format!(
                r#"{{"log": {}, "transactions": {good}, "damaged": {damaged}}}"#,
                json!(self.file)
            ),
        }
    }

    fn write_text(&self, out: &mut impl Write) -> io::Result<()> {
        let (file, good) = (shown(&self.file), self.good);
        let (unit, good_unit) = match self.unit {
            Unit::Records => ("record", "good record"),
            Unit::Orders => ("index tag", "index tag"),
            Unit::Transactions => ("transaction", "transaction"),
        };
        let old = self.outdated.len();
        match self.damaged.len() as u64 {
            0 if old > 0 => write!(out, "{file}: {}", counted(good, unit))?,
            0 => write!(out, "{file}: {}, no damage", counted(good, unit))?,
            places => write!(
                out,
                "{file}: {}, damaged in {}",
                counted(good, good_unit),
                counted(places, "place")
            )?,
        }
        if old > 0 {
            write!(out, ", {old} out of date")?;
        }
        if !self.unknown.is_empty() {
            write!(out, ", {} not known", self.unknown.len())?;
        }
        match &self.note {
            Some(note) => writeln!(out, " ({})", shown(note))?,
            None => writeln!(out)?,
        }
        for found in &self.damaged {
            writeln!(out, "  {}: {}", found.place(), shown(&found.why))?;
        }
        for Outdated { tag, keys } in &self.outdated {
            writeln!(out, "  {}: {}", tag.place(), shown(&tag.why))?;
            for key in keys.iter().take(Outdated::SHOWN) {
                writeln!(out, "    {}: {}", key.place(), shown(&key.why))?;
            }
            if let Some(more) = keys.len().checked_sub(Outdated::SHOWN).filter(|more| *more > 0) {
                writeln!(out, "    and {more} more; --format json lists them")?;
            }
        }
        let told = [("not known: ", &self.unknown), ("note: ", &self.notes)];
        for (kind, found) in told
            .into_iter()
            .flat_map(|(kind, all)| all.iter().map(move |found| (kind, found)))
        {
            writeln!(out, "  {kind}{}: {}", found.place(), shown(&found.why))?;
        }
        Ok(())
    }
}

impl Outdated {
    /// How many keys of a tag the text output shows.
    const SHOWN: usize = 3;
}

impl Damage {
    /// The location as text.
    fn place(&self) -> String {
        let bytes = format!("bytes {} to {}", self.begin, self.end);
        match self.records {
            Some((first, last)) if first == last => format!("{bytes} (record {first})"),
            Some((first, last)) => format!("{bytes} (records {first} to {last})"),
            None => bytes,
        }
    }

    fn json(&self) -> String {
        let records = self.records.map_or_else(String::new, |(first, last)| {
            format!(r#""first_record": {first}, "last_record": {last}, "#)
        });
        let (begin, end, why) = (self.begin, self.end, json!(self.why));
        format!(r#"{{"begin": {begin}, "end": {end}, {records}"why": {why}}}"#)
    }
}

/// Verifies a table and its indexes, and removes these from `strays`.
fn verify_xbase(
    location: &Location,
    args: &VerifyArgs,
    report: &mut Report,
    strays: &mut Vec<PathBuf>,
) -> anyhow::Result<()> {
    // Recovery mode reports a damaged header and still checks the rest of the file.
    let table = match Table::open(location.file()?, &args.tables.xbase().recover(true)) {
        Ok(table) => Arc::new(table),
        Err(error @ XbaseError::Pending(_)) => return Err(error.into()),
        Err(error) => {
            report.write(&whole_file(location, &error)?)?;
            return Ok(());
        }
    };
    let verification = table.verify()?;
    let damaged = verification.damage.into_iter().map(|found| Damage {
        begin: found.begin,
        end: found.end,
        records: found
            .records
            .and_then(|range| Some((range.start.checked_add(1)?, range.end))),
        why: found.why,
    });
    let mut findings = Findings::records(location, u64::from(verification.good_records), damaged.collect());
    findings.notes = verification
        .notes
        .iter()
        .map(|note| Damage {
            begin: note.begin,
            end: note.end,
            records: None,
            why: note.to_string(),
        })
        .collect();
    let production = index::production(&table, &mut findings);
    report.write(&findings)?;
    for path in production.iter().chain(&args.indexes) {
        strays.retain(|stray| stray != path);
        report.write(&index::verify(path, &table, args)?)?;
    }
    Ok(())
}

async fn verify(table: &Location, session: &Session, args: &VerifyArgs) -> anyhow::Result<Findings> {
    Ok(match table.format {
        Format::Riegeli | Format::ArrayRecord | Format::TfRecord => {
            let (name, source, format) = (table.to_string(), table.source().await?, table.format);
            let limits = args.limits.of_records(ReaderOptions::default());
            let verify = move || match (source, format) {
                (Some(source), Format::TfRecord) => {
                    anyhow::Ok(Some(tfrecord::verify_source_within(source, &name, &limits)?))
                }
                (Some(source), _) => Ok(Some(verify_source_within(source, &name, &limits)?)),
                (None, _) => {
                    let (format, stream) = match standard_input() {
                        // Not a stream of records: it is read as a file.
                        Err(tidemill_sql::Error::Unsupported { .. } | tidemill_sql::Error::NotATable { .. }) => {
                            return Ok(None);
                        }
                        opened => opened?,
                    };
                    let stream = StreamSource::new(stream);
                    Ok(Some(match format {
                        Format::TfRecord => tfrecord::verify_source_within(stream, &name, &limits)?,
                        _ => verify_source_within(stream, &name, &limits)?,
                    }))
                }
            };
            let Some(verification) = tokio::task::spawn_blocking(verify).await?? else {
                return verify_rows(table, session).await;
            };
            let damaged = verification.damaged.into_iter();
            let damaged = damaged.map(|region| Damage {
                begin: region.begin,
                end: region.end,
                records: None,
                why: region.why,
            });
            Findings::records(table, verification.records, damaged.collect())
        }
        _ => verify_rows(table, session).await?,
    })
}

/// Verifies a table by reading all rows.
async fn verify_rows(table: &Location, session: &Session) -> anyhow::Result<Findings> {
    let counted = async {
        let mut answer = session.read(table, None).await?;
        let mut records = 0;
        while let Some(batch) = answer.next().await? {
            records += batch.num_rows() as u64;
        }
        Ok::<_, tidemill_sql::Error>(records)
    };
    match counted.await {
        Ok(records) => Ok(Findings::records(table, records, Vec::new())),
        Err(error) if is_unread(table, &error) => Err(error.into()),
        Err(error) => whole_file(table, &error),
    }
}

/// Whether an error is not about the table's contents: it could not be found or opened, or its format cannot be read.
fn is_unread(table: &Location, error: &tidemill_sql::Error) -> bool {
    use tidemill_sql::Error as Sql;
    let is_of_reading = matches!(error, Sql::Io { .. }) || error.fault() == Some(tidemill_sql::Fault::Io);
    matches!(
        error,
        Sql::NotFound { .. } | Sql::Ambiguous { .. } | Sql::NotATable { .. } | Sql::Unsupported { .. }
    ) || error.is_of_connection()
        || (is_of_reading && (table.file().is_err() || is_of_system(error)))
}

/// Whether an error comes from the operating system, not from a decoder.
fn is_of_system(error: &(dyn std::error::Error + 'static)) -> bool {
    std::iter::successors(Some(error), |error| error.source()).any(|error| {
        let error = error.downcast_ref::<io::Error>();
        error.is_some_and(|error| error.raw_os_error().is_some())
    })
}

/// Damage that keeps the file from being opened at all.
fn whole_file(table: &Location, error: &dyn std::error::Error) -> anyhow::Result<Findings> {
    let end = table.bytes()?.unwrap_or_default();
    let damage = Damage {
        begin: 0,
        end,
        records: None,
        why: with_causes(error),
    };
    Ok(Findings::records(table, 0, vec![damage]))
}
