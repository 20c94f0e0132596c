//! `sp_` procedures: what changes tables, transactions and settings is here, what gives rows in `answers`. Those that change a data
//! dictionary are the connection's.

mod answers;
mod definitions;
mod metadata;
mod of_server;

use tidemill_xbase::index::OrderSpec;

pub(super) use answers::Arguments;
use definitions::{ACTIONS, ANSWERS};

use super::answer::Answer;
use super::error::{Error, Kind, Result};
use super::listing::Listing;
use super::statement::{Definition, IndexInFile, TableName};
use super::structure::allow_candidates;
use super::tables::Tables;
use super::value::Value;
use crate::IndexOptions;

/// `ADS_UNIQUE`, `ADS_DESCENDING` and `ADS_CANDIDATE` of `ace.h`.
const UNIQUE: i64 = 1;
const DESCENDING: i64 = 8;
const CANDIDATE: i64 = 0x800;

/// The procedures that there are: name, parameters and columns.
pub(super) fn known() -> impl Iterator<Item = definitions::Definition> {
    ANSWERS.iter().chain(ACTIONS).copied()
}

/// The columns of the rows of a procedure; `None` for one that gives no rows, or that there is not.
pub(super) fn output_of(name: &str) -> Option<&'static str> {
    let found = ANSWERS.iter().find(|(known, ..)| known.eq_ignore_ascii_case(name));
    found.map(|(_, _, output)| *output)
}

/// Runs a procedure.
///
/// # Errors
/// [`Kind::NoFunction`] for one that there is not, or without its arguments; what the tables say.
pub(super) fn run(name: &str, arguments: &[Value], tables: &mut dyn Tables) -> Result<Answer> {
    if let Some(answer) = tables.procedure(name, arguments)? {
        return Ok(answer);
    }
    let given = Arguments(arguments);
    let folded = name.to_ascii_lowercase();
    if let Some(definition) = output_of(name) {
        let mut listing = Listing::new(definition);
        answers::fill(&mut listing, &folded, &given, tables)?;
        return listing.finish().map(Answer::Rows);
    }
    let text = |place: usize| given.needed(place, name);
    let optional = |place: usize| given.text(place);
    match folded.as_str() {
        "sp_packtable" => {
            let table = TableName::new(text(0)?);
            tables.exclusively(&table, &mut |table| {
                table.pack()?;
                Ok(())
            })?;
        }
        "sp_zaptable" => {
            let table = TableName::new(text(0)?);
            tables.exclusively(&table, &mut |table| Ok(table.zap()?))?;
        }
        "sp_reindex" => tables.reindex(&TableName::new(text(0)?))?,
        "sp_createindex90" if !optional(7).is_empty() => {
            let why = format!("{name} knows no collation {}", optional(7));
            return Err(Error::new(Kind::Unsupported, why));
        }
        "sp_createindex" | "sp_createindex90" => {
            let table = TableName::new(text(0)?);
            let (tag, expression, condition) = (text(2)?, text(3)?, optional(4));
            let options = arguments.get(5).and_then(Value::to_i64).unwrap_or(0);
            let is_candidate = options & CANDIDATE != 0;
            if let Some(file) = file_beside(&table, &optional(1)) {
                return tables
                    .define(&Definition::IndexInFile(IndexInFile {
                        table: table.to_string(),
                        file,
                        name: tag.to_uppercase(),
                        expression,
                        condition,
                        options: IndexOptions {
                            is_unique: options & UNIQUE != 0,
                            is_candidate,
                            is_descending: options & DESCENDING != 0,
                            is_custom: false,
                        },
                        words: None,
                        may_be_free: true,
                    }))
                    .map(|()| Answer::Done);
            }
            let mut spec = OrderSpec::new(tag.to_uppercase(), expression)
                .unique(options & UNIQUE != 0)
                .candidate(is_candidate)
                .descending(options & DESCENDING != 0);
            if !condition.is_empty() {
                spec = spec.condition(condition);
            }
            tables.exclusively(&table, &mut |table| {
                if is_candidate {
                    allow_candidates(table)?;
                }
                let created = table.create_order(&spec).map_err(crate::Error::from);
                Ok(created.map_err(crate::Error::of_making)?)
            })?;
            tables.note_orders(&table)?;
        }
        "sp_setapplicationid" => tables.set_application(&optional(0)),
        // There is no queue of requests, and no limit of statements; the local server kills no user and counts no packets.
        "sp_setrequestpriority" | "sp_setstatementlimit" | "sp_mgkilluser" | "sp_mgresetcommstats" => {}
        // No query is logged.
        "sp_disablequerylogging" => {}
        "sp_ignoretabletransactions" => {
            tables.snapshot_without_orders(&TableName::new(text(0)?))?;
            if arguments.get(1).is_none_or(Value::is_null) || given.is_true(1) {
                let why = format!("{name}: a transaction leaves no table out here");
                return Err(Error::new(Kind::Unsupported, why));
            }
        }
        "sp_begintransaction" => tables.begin()?,
        "sp_committransaction" => tables.commit()?,
        "sp_rollbacktransaction" => tables.rollback()?,
        "sp_createsavepoint" => tables.savepoint(&text(0)?)?,
        "sp_rollbacktransaction80" => match optional(0).as_str() {
            "" => tables.rollback()?,
            point => tables.rollback_to(point)?,
        },
        _ => return Err(of_server::refusal(name)),
    }
    Ok(Answer::Done)
}

/// The index file that is asked for, unless it is the one that opens with the table: its name is that of the table (SAP's help,
/// "sp_CreateIndex").
fn file_beside(table: &TableName, file: &str) -> Option<String> {
    let stem = |name: &str| {
        let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
        name.split_once('.')
            .map_or(name, |(stem, _)| stem)
            .trim()
            .to_lowercase()
    };
    let is_own = file.trim().is_empty() || stem(file) == stem(table.last());
    (!is_own).then(|| file.trim().to_owned())
}
