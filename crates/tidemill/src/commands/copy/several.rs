//! Many tables at once: those of a folder or of a database.
//!
//! Every destination is made and compared with the others, with the sources and with what is there, before anything is written.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, bail};
use tidemill_sql::{CopyOptions, Location, Place, ServerUrl, Session};
use tokio::task::JoinSet;

use super::{copy_table, plan_table};
use crate::Outcome;
use crate::args::CopyArgs;
use crate::terminal::tell;

/// Copies the tables, each under its own name.
pub(super) async fn copy_all(
    session: &Arc<Session>,
    tables: Vec<Location>,
    args: &CopyArgs,
    options: &CopyOptions,
) -> anyhow::Result<Outcome> {
    if tables.is_empty() {
        bail!("{}: no tables there", args.source);
    }
    let into = Into::new(args)?;
    let pairs = tables.into_iter().map(|table| {
        let destination = into.destination(&table)?;
        Ok((table, destination))
    });
    let pairs = pairs.collect::<anyhow::Result<Vec<_>>>()?;
    compare(&pairs, options.overwrite)?;
    if args.dry_run {
        return plan_all(session, &pairs, args, options).await;
    }
    if let (Into::Folder(folder, _), true) = (&into, pairs.iter().any(|(_, to)| to.file().is_ok())) {
        fs::create_dir_all(folder).with_context(|| format!("cannot create the folder {folder}"))?;
    }
    let count = pairs.len();
    let (mut waiting, mut running) = (pairs.into_iter(), JoinSet::new());
    let (mut done, mut failed) = (0, Vec::new());
    loop {
        while running.len() < args.jobs.get()
            && let Some((table, destination)) = waiting.next()
        {
            let (session, options, keys) = (Arc::clone(session), options.clone(), args.keys);
            running.spawn(async move {
                let copied = copy_table(&session, &table, &destination, &options, keys).await;
                (table, copied)
            });
        }
        let Some(ended) = running.join_next().await else { break };
        done += 1;
        let (table, error) = match ended {
            Ok((_, Ok(()))) => continue,
            Ok((table, Err(error))) => (table, error),
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(error) => return Err(error.into()),
            },
        };
        if !args.keep_going {
            // What others have begun is removed with their tasks.
            running.shutdown().await;
            let left = count - done;
            return Err(error.context(match left {
                0 => format!("{table} was not copied"),
                1 => format!("{table} and 1 more table were not copied (--keep-going copies the others)"),
                _ => format!("{table} and {left} more tables were not copied (--keep-going copies the others)"),
            }));
        }
        tell!("{error:#}");
        failed.push(table.to_string());
    }
    if failed.is_empty() {
        return Ok(Outcome::Done);
    }
    let good = count - failed.len();
    tell!("{good} of {count} tables copied; not copied: {}", failed.join(", "));
    Ok(Outcome::Negative)
}

/// Says what would be done. A table that cannot be copied is told like the others.
async fn plan_all(
    session: &Session,
    pairs: &[(Location, Location)],
    args: &CopyArgs,
    options: &CopyOptions,
) -> anyhow::Result<Outcome> {
    let mut outcome = Outcome::Done;
    for (table, destination) in pairs {
        if let Err(error) = plan_table(session, table, destination, options, args.keys).await {
            tell!("{error:#}");
            outcome = Outcome::Negative;
        }
    }
    Ok(outcome)
}

/// Where the tables go.
enum Into<'a> {
    /// A folder, or the URL of a bucket or a prefix, and the extension of the copies.
    Folder(&'a str, &'a str),
    Database(ServerUrl),
}

impl<'a> Into<'a> {
    fn new(args: &'a CopyArgs) -> anyhow::Result<Self> {
        if let Some(database) = ServerUrl::new(&args.destination) {
            return Ok(Self::Database(database));
        }
        match &args.to {
            Some(extension) => Ok(Self::Folder(&args.destination, extension)),
            None => bail!(
                "{} has several tables; --to gives the format of the copies, for example --to parquet",
                args.source
            ),
        }
    }

    /// The name of the table is the whole name of its file without the extension: `sales.2023` of `sales.2023.dbf`.
    fn destination(&self, table: &Location) -> anyhow::Result<Location> {
        let name = table.table_name();
        Ok(match self {
            Self::Folder(folder, extension) => Location::destination_in(folder, &format!("{name}.{extension}"))?,
            Self::Database(database) => Location::server(database.with_table(&name))?,
        })
    }
}

/// # Errors
///
/// Two tables that would become one, a table that would be replaced by another's copy, and, unless they may be replaced, destinations
/// that are there.
fn compare(pairs: &[(Location, Location)], may_replace: bool) -> anyhow::Result<()> {
    let mut problems = Vec::new();
    let mut made: BTreeMap<String, &Location> = BTreeMap::new();
    for (table, destination) in pairs {
        // Tables are found by their names in any case, and some file systems know no cases.
        if let Some(other) = made.insert(destination.to_string().to_lowercase(), table) {
            problems.push(format!("{other} and {table} would both become {destination}"));
        }
        let Place::File(path) = &destination.place else {
            continue;
        };
        let replaced = pairs.iter().find(|(source, _)| is_same_file(source, path));
        if let Some((source, _)) = replaced {
            problems.push(format!(
                "the copy of {table} would replace {source}, which is copied too"
            ));
        } else if !may_replace && path.symlink_metadata().is_ok() {
            problems.push(format!("{destination} already exists; --overwrite replaces it"));
        }
    }
    match problems.len() {
        0 => Ok(()),
        1 => bail!("nothing was copied: {}", problems[0]),
        _ => bail!("nothing was copied:\n  {}", problems.join("\n  ")),
    }
}

fn is_same_file(source: &Location, path: &Path) -> bool {
    let Ok(source) = source.file() else { return false };
    source == path
        || match (source.canonicalize(), path.canonicalize()) {
            (Ok(source), Ok(path)) => source == path,
            _ => false,
        }
}
