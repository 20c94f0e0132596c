//! Verifies index files, alone or against the records of their table.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use tidemill_xbase::index::{Finding, Index, IndexDialect, IndexOptions, OutOfDate};
use tidemill_xbase::{Dialect, Error, Table, TableIndex, production_path};

use crate::args::VerifyArgs;

use super::{Damage, Findings, Outdated, Unit};

/// The index files of a folder, sorted by name.
pub(super) fn indexes_in(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut indexes = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))? {
        let path = entry?.path();
        let path = path.strip_prefix("./").map_or_else(|_| path.clone(), Path::to_path_buf);
        if IndexDialect::from_path(&path).is_some() && path.is_file() && !is_stranger(&path) {
            indexes.push(path);
        }
    }
    indexes.sort();
    Ok(indexes)
}

/// Whether a file only has the extension of an index: other programs use .mdx and .idx too.
fn is_stranger(path: &Path) -> bool {
    use IndexDialect::{Idx, Mdx, Ndx};
    let has_table = || {
        ["dbf", "DBF"]
            .iter()
            .any(|extension| path.with_extension(extension).is_file())
    };
    matches!(IndexDialect::from_path(path), Some(Idx | Mdx | Ndx))
        && !has_table()
        && Index::open(path, &IndexOptions::new()).is_err()
}

/// The production index of a table. If the header requires one and it is missing, that is only a note: tables are sent without their
/// indexes.
pub(super) fn production(table: &Table, findings: &mut Findings) -> Option<PathBuf> {
    production_path(table).unwrap_or_else(|error| {
        findings.notes.push(Damage {
            begin: 28,
            end: 29,
            records: None,
            why: error.to_string(),
        });
        None
    })
}

/// Verifies each page, and each key against its record.
pub(super) fn verify(path: &Path, table: &Table, args: &VerifyArgs) -> anyhow::Result<Findings> {
    let settings = args.keys.settings(path, table)?;
    match TableIndex::open_known(path, table, &settings) {
        Ok((index, unknown)) => {
            let mut findings = findings(path, index.index(), index.verify(table)?);
            if !findings.outdated.is_empty() {
                findings.note = Some(advice(path, table));
            }
            findings.unknown.extend(unknown.into_iter().map(|error| Damage {
                begin: 0,
                end: 0,
                records: None,
                why: format!("keys were not compared: {:#}", anyhow::Error::from(error)),
            }));
            Ok(findings)
        }
        Err(error) => unreadable(path, error),
    }
}

/// Why an index lacks the keys of its table, and how to rebuild it.
fn advice(path: &Path, table: &Table) -> String {
    let own = table.path().display();
    let is_production = matches!(production_path(table), Ok(Some(production)) if production == path);
    let index = match is_production {
        true => String::new(),
        false => format!(" {}", path.display()),
    };
    let is_of_fox = matches!(table.header().dialect, Dialect::VisualFoxPro | Dialect::FoxPro2);
    let why = match is_production && is_of_fox && !table.header().production_index {
        true => "the table's header does not name it (byte 28), so FoxPro does not open it",
        false => "the table was changed without it",
    };
    format!("{why}; to rebuild it: tidemill reindex {own}{index}")
}

/// Verifies an index without a given table, against the table of the same name if it exists.
pub(super) fn verify_alone(path: &Path, args: &VerifyArgs) -> anyhow::Result<Findings> {
    let beside = ["dbf", "DBF"].map(|extension| path.with_extension(extension));
    if let Some(table) = beside.iter().find(|table| table.is_file())
        && let Ok(table) = Table::open(table, &args.tables.xbase().recover(true))
    {
        return verify(path, &table, args);
    }
    let note = format!(
        "keys were not compared; to compare them: verify TABLE --index {}",
        path.display()
    );
    Ok(Findings {
        note: Some(note),
        ..pages(path)?
    })
}

/// Verifies each page, but not the order of the keys.
fn pages(path: &Path) -> anyhow::Result<Findings> {
    match Index::open(path, &IndexOptions::new()) {
        Ok(index) => {
            let found = index.verify(&[], None)?;
            Ok(findings(path, &index, found))
        }
        Err(error) => unreadable(path, error),
    }
}

fn findings(path: &Path, index: &Index, found: Vec<Finding>) -> Findings {
    let page_len = index.page_len();
    let (notes, found): (Vec<Finding>, Vec<Finding>) = found.into_iter().partition(Finding::is_note);
    let (unknown, found): (Vec<Finding>, Vec<Finding>) = found.into_iter().partition(Finding::is_unknown);
    let described = |finding: Finding| Damage {
        begin: finding.page,
        end: finding.page + page_len,
        records: finding.records(),
        why: match finding.tag {
            Some(tag) => format!("index tag {tag}: {}", finding.what),
            None => finding.what.to_string(),
        },
    };
    let (mut outdated, mut damaged) = (Vec::new(), found);
    for tag in index.tags() {
        let Some(old) = OutOfDate::of(&damaged, &tag.name) else {
            continue;
        };
        let is_of_tag = |finding: &Finding| finding.tag.as_ref() == Some(&tag.name);
        let (keys, others): (Vec<Finding>, Vec<Finding>) = damaged.into_iter().partition(is_of_tag);
        damaged = others;
        let keys: Vec<Damage> = keys.into_iter().map(described).collect();
        let begin = keys.first().map_or(0, |key| key.begin);
        outdated.push(Outdated {
            tag: Damage {
                begin,
                end: begin + page_len,
                records: Some((old.first, old.first)),
                why: format!("index tag {}: {old}", tag.name),
            },
            keys,
        });
    }
    Findings {
        file: path.display().to_string(),
        unit: Unit::Orders,
        good: index.tags().len() as u64,
        damaged: damaged.into_iter().map(described).collect(),
        outdated,
        note: None,
        notes: notes.into_iter().map(described).collect(),
        unknown: unknown.into_iter().map(described).collect(),
    }
}

/// Headers that keep the file from being opened at all.
fn unreadable(path: &Path, error: Error) -> anyhow::Result<Findings> {
    if let Error::Io { .. } = error {
        return Err(error.into());
    }
    Ok(Findings {
        file: path.display().to_string(),
        unit: Unit::Orders,
        good: 0,
        damaged: vec![Damage {
            begin: 0,
            end: fs::metadata(path).map_or(0, |metadata| metadata.len()),
            records: None,
            why: error.to_string(),
        }],
        outdated: Vec::new(),
        note: None,
        notes: Vec::new(),
        unknown: Vec::new(),
    })
}
