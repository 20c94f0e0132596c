//! `sp_` procedures that need no data dictionary.
//!
//! | procedure | what it does |
//! |---|---|
//! | `sp_PackTable( table )` | removes the records that are marked as deleted |
//! | `sp_ZapTable( table )` | removes all records |
//! | `sp_Reindex( table [, page size] )` | makes the production index anew |
//! | `sp_CreateIndex( table, file, tag, expression, condition, options, page size )` | adds an order to the production index |
//! | `sp_BeginTransaction( )`, `sp_CommitTransaction( )`, `sp_RollbackTransaction( )` | as the statements |
//! | `sp_CreateSavepoint( name )`, `sp_RollbackTransaction80( name, options )` | as the statements |

use tidemill_xbase::index::OrderSpec;

use super::answer::Answer;
use super::error::{Error, Kind, Result};
use super::statement::TableName;
use super::structure::allow_candidates;
use super::tables::Tables;
use super::value::Value;

/// `ADS_UNIQUE`, `ADS_DESCENDING` and `ADS_CANDIDATE` of `ace.h`.
const UNIQUE: i64 = 1;
const DESCENDING: i64 = 8;
const CANDIDATE: i64 = 0x800;

/// Runs a procedure.
///
/// # Errors
/// [`Kind::NoFunction`] for one that there is not, or without its arguments; what the tables say.
pub(super) fn run(name: &str, arguments: &[Value], tables: &mut dyn Tables) -> Result<Answer> {
    if let Some(answer) = tables.procedure(name, arguments)? {
        return Ok(answer);
    }
    let text = |place: usize| match arguments.get(place) {
        Some(Value::Text(text)) => Ok(text.trim().to_owned()),
        _ => Err(Error::new(
            Kind::NoFunction,
            format!("Argument {} of {name} is a text", place + 1),
        )),
    };
    let optional = |place: usize| match arguments.get(place) {
        Some(Value::Text(text)) => text.trim().to_owned(),
        _ => String::new(),
    };
    match name.to_ascii_lowercase().as_str() {
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
        "sp_reindex" => {
            let table = TableName::new(text(0)?);
            let snapshot = tables.snapshot(&table)?;
            let path = tidemill_xbase::production_path(snapshot.table())?;
            let settings = tidemill_xbase::KeySettings::new(snapshot.table().codepage());
            drop(snapshot);
            let Some(path) = path else {
                return Ok(Answer::Done);
            };
            tables.exclusively(&table, &mut |table| Ok(table.reindex(&path, &settings)?))?;
        }
        "sp_createindex" => {
            let table = TableName::new(text(0)?);
            let (tag, expression, condition) = (text(2)?, text(3)?, optional(4));
            let options = arguments.get(5).and_then(Value::to_i64).unwrap_or(0);
            let is_candidate = options & CANDIDATE != 0;
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
        }
        "sp_begintransaction" => tables.begin()?,
        "sp_committransaction" => tables.commit()?,
        "sp_rollbacktransaction" => tables.rollback()?,
        "sp_createsavepoint" => tables.savepoint(&text(0)?)?,
        "sp_rollbacktransaction80" => match optional(0).as_str() {
            "" => tables.rollback()?,
            point => tables.rollback_to(point)?,
        },
        _ => return Err(Error::new(Kind::NoFunction, format!("Procedure not found: {name}"))),
    }
    Ok(Answer::Done)
}
