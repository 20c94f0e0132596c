//! `tidemill verify`.

use std::io::{self, Write};
use std::sync::Arc;

use anyhow::bail;
use serde_json::json;
use tidemill_riegeli::{StreamSource, verify_source};
use tidemill_sql::{Format, Location, Names, Session};
use tidemill_xbase::Table;

use crate::Outcome;
use crate::args::{ReportFormat, VerifyArgs};

pub(crate) async fn run(args: VerifyArgs) -> anyhow::Result<Outcome> {
    let session = args.tables.session();
    let tables = match session.names().path(&args.file)?.filter(|path| path.is_dir()) {
        Some(folder) => Names::tables_in(&folder)?,
        None => session.names().table(&args.file)?.parts(),
    };
    if tables.is_empty() {
        bail!("{}: no tables in this folder", args.file);
    }
    let mut outcome = Outcome::Done;
    let mut out = io::stdout();
    for table in tables {
        let findings = verify(&table, &session, &args).await?;
        if !findings.damaged.is_empty() {
            outcome = Outcome::Negative;
        }
        match args.format {
            ReportFormat::Json => writeln!(out, "{}", findings.json())?,
            ReportFormat::Text => findings.write_text(&table, &mut out)?,
        }
    }
    Ok(outcome)
}

/// What a file holds and where it is damaged.
struct Findings {
    records: u64,
    damaged: Vec<Damage>,
}

/// A range of bytes that can't be read, and why.
struct Damage {
    begin: u64,
    end: u64,
    why: String,
}

impl Findings {
    fn json(&self) -> String {
        // Built by hand around serde_json's strings: the order of the keys is part of what scripts may rely on.
        let damaged: Vec<String> = self.damaged.iter().map(Damage::json).collect();
        format!(
            r#"{{"records": {}, "damaged": [{}]}}"#,
            self.records,
            damaged.join(", ")
        )
    }

    fn write_text(&self, table: &Location, out: &mut impl Write) -> io::Result<()> {
        match self.damaged.as_slice() {
            [] => writeln!(out, "{table}: {} records, no damage", self.records),
            damaged => {
                writeln!(
                    out,
                    "{table}: {} good records, damaged in {} places",
                    self.records,
                    damaged.len()
                )?;
                for damage in damaged {
                    writeln!(out, "  bytes {} to {}: {}", damage.begin, damage.end, damage.why)?;
                }
                Ok(())
            }
        }
    }
}

impl Damage {
    fn json(&self) -> String {
        format!(
            r#"{{"begin": {}, "end": {}, "why": {}}}"#,
            self.begin,
            self.end,
            json!(self.why)
        )
    }
}

async fn verify(table: &Location, session: &Session, args: &VerifyArgs) -> anyhow::Result<Findings> {
    Ok(match table.format {
        // Recovering, so that a damaged header is a finding too, and what is behind it is still looked at.
        Format::Xbase => match Table::open(table.file()?, &args.tables.xbase().recover(true)) {
            Ok(opened) => {
                let verification = Arc::new(opened).verify()?;
                let damaged = verification.damage.into_iter();
                let damaged = damaged.map(|found| Damage {
                    begin: found.begin,
                    end: found.end,
                    why: found.why,
                });
                Findings {
                    records: u64::from(verification.good_records),
                    damaged: damaged.collect(),
                }
            }
            Err(error) => whole_file(table, &error)?,
        },
        Format::Riegeli | Format::ArrayRecord => {
            let (name, source) = (table.to_string(), table.source().await?);
            let verify = move || match source {
                Some(source) => verify_source(source, &name),
                None => verify_source(StreamSource::new(io::stdin().lock()), &name),
            };
            let verification = tokio::task::spawn_blocking(verify).await??;
            let damaged = verification.damaged.into_iter();
            let damaged = damaged.map(|region| Damage {
                begin: region.begin,
                end: region.end,
                why: region.why,
            });
            Findings {
                records: verification.records,
                damaged: damaged.collect(),
            }
        }
        _ => {
            let counted = async {
                let mut answer = session.read(table, None).await?;
                let mut records = 0;
                while let Some(batch) = answer.next().await? {
                    records += batch.num_rows() as u64;
                }
                Ok::<_, tidemill_sql::Error>(records)
            };
            match counted.await {
                Ok(records) => Findings {
                    records,
                    damaged: Vec::new(),
                },
                Err(error) => whole_file(table, &error)?,
            }
        }
    })
}

/// Damage that keeps the file from being opened at all.
fn whole_file(table: &Location, error: &dyn std::error::Error) -> anyhow::Result<Findings> {
    let end = table.bytes()?.unwrap_or_default();
    Ok(Findings {
        records: 0,
        damaged: vec![Damage {
            begin: 0,
            end,
            why: error.to_string(),
        }],
    })
}
