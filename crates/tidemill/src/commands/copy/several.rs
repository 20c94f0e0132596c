//! Copies many tables: those of a folder or of a database.
//!
//! All destinations are determined and checked against each other, the sources and existing files before anything is written.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, bail};
use tidemill_sql::{CopyOptions, ForeignKey, Location, Place, ServerUrl, Session};
use tokio::task::JoinSet;

use super::{copy_table, plan_table};
use crate::Outcome;
use crate::args::CopyArgs;
use crate::commands::counted;
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
        Ok(Pair {
            source: table,
            destination,
            foreign_keys: Vec::new(),
            has_known_keys: true,
        })
    });
    let mut pairs = pairs.collect::<anyhow::Result<Vec<_>>>()?;
    if let Some(pair) = pairs.first() {
        args.check(&pair.destination)?;
    }
    compare(&pairs, options.overwrite)?;
    if args.keys {
        relate(session, &mut pairs, args.keep_going || args.dry_run)?;
    }
    if args.dry_run {
        return plan_all(session, &pairs, args, options).await;
    }
    if let (Into::Folder(folder, _), true) = (
        &into,
        pairs
            .iter()
            .any(|pair| matches!(pair.destination.place, Place::File(_) | Place::Shards { .. })),
    ) {
        fs::create_dir_all(folder).with_context(|| format!("cannot create the folder {folder}"))?;
    }
    let are_related = pairs.iter().any(|pair| !pair.foreign_keys.is_empty());
    // A table that others refer to cannot be replaced, and a resumed copy may have made some of the keys before.
    if are_related && (options.overwrite || options.resume) {
        let known = pairs.iter().filter(|pair| pair.has_known_keys);
        let tables: Vec<Location> = known.map(|pair| pair.destination.clone()).collect();
        session.drop_foreign_keys(&tables).await?;
    }
    let all = match are_related {
        true => pairs.clone(),
        false => Vec::new(),
    };
    let count = pairs.len();
    let (mut waiting, mut running) = (pairs.into_iter(), JoinSet::new());
    let (mut copied, mut failed) = (0, Vec::new());
    loop {
        while running.len() < args.jobs.get()
            && let Some(pair) = waiting.next()
        {
            let (session, mut options, keys) = (Arc::clone(session), options.clone(), args.keys);
            options.table.foreign_keys.clone_from(&pair.foreign_keys);
            running.spawn(async move {
                let copied = copy_table(&session, &pair.source, &pair.destination, &options, keys).await;
                (pair.source, copied)
            });
        }
        let Some(ended) = running.join_next().await else { break };
        let (table, error) = match ended {
            Ok((_, Ok(()))) => {
                copied += 1;
                continue;
            }
            Ok((table, Err(error))) => (table, error),
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(error) => return Err(error.into()),
            },
        };
        if !args.keep_going {
            // Dropping the other tasks removes their drafts.
            running.shutdown().await;
            // Unchanged tables get their dropped keys back.
            make_foreign_keys(session, &all, None).await;
            let left = count - copied - 1;
            return Err(error.context(match left {
                0 => format!("{table} was not copied"),
                1 => format!("{table} and 1 more table were not copied (--keep-going copies the others)"),
                _ => format!("{table} and {left} more tables were not copied (--keep-going copies the others)"),
            }));
        }
        tell!("{error:#}");
        failed.push(table.to_string());
    }
    make_foreign_keys(session, &all, Some(&failed)).await;
    if failed.is_empty() {
        return Ok(Outcome::Done);
    }
    let good = count - failed.len();
    tell!("{good} of {count} tables copied; not copied: {}", failed.join(", "));
    Ok(Outcome::Negative)
}

/// A source table, its destination and its foreign keys.
#[derive(Clone)]
struct Pair {
    source: Location,
    destination: Location,
    foreign_keys: Vec<ForeignKey>,
    /// False if the source cannot be read: the keys of its table in the database are then unknown.
    has_known_keys: bool,
}

/// Turns the relations between the tables into foreign keys of their copies. Tables that others refer to come first.
///
/// # Errors
///
/// A source that cannot be read, unless `keeps_going`: its copy then reports the error.
fn relate(session: &Session, pairs: &mut Vec<Pair>, keeps_going: bool) -> anyhow::Result<()> {
    let Some(first) = pairs.first() else { return Ok(()) };
    if !session.has_foreign_keys(&first.destination)? {
        return Ok(());
    }
    for place in 0..pairs.len() {
        let found = match session.relations_of(&pairs[place].source) {
            Ok(found) => found,
            Err(_) if keeps_going => {
                pairs[place].has_known_keys = false;
                continue;
            }
            Err(error) => {
                return Err(
                    anyhow::Error::from(error).context("nothing was copied (--keep-going copies the other tables)")
                );
            }
        };
        let mut left_out = found.left_out;
        for relation in found.relations {
            let mut others = pairs.iter().map(|pair| &pair.source);
            match others.find(|source| is_same_file(source, &relation.parent)) {
                Some(parent) => {
                    let key = relation.foreign_key(parent.table_name());
                    pairs[place].foreign_keys.push(key);
                }
                None => left_out.push(format!("{} (it is not copied)", relation.parent.display())),
            }
        }
        if !left_out.is_empty() {
            tell!("{}: relations left out: {}", pairs[place].source, left_out.join(", "));
        }
    }
    let mut sorted: Vec<Pair> = Vec::with_capacity(pairs.len());
    while !pairs.is_empty() {
        let waits = |pair: &Pair| {
            pair.foreign_keys.iter().any(|key| {
                let mut others = pairs.iter();
                key.parent != pair.source.table_name() && others.any(|other| other.source.table_name() == key.parent)
            })
        };
        // Tables that refer to each other stay in order.
        let next = pairs.iter().position(|pair| !waits(pair)).unwrap_or(0);
        sorted.push(pairs.remove(next));
    }
    *pairs = sorted;
    Ok(())
}

/// Makes the foreign keys of the copied tables. Reports each key that cannot be made, except for tables that failed; without a list of
/// these, reports none.
async fn make_foreign_keys(session: &Session, pairs: &[Pair], failed: Option<&[String]>) {
    for pair in pairs {
        let table = &pair.destination;
        let is_reported = failed.is_some_and(|failed| !failed.contains(&pair.source.to_string()));
        for key in &pair.foreign_keys {
            let (columns, parent) = (key.columns.join(", "), &key.parent);
            match session.make_foreign_key(table, key).await {
                Ok(0) => {}
                _ if !is_reported => {}
                Ok(rows) => tell!(
                    "{table}: foreign key ({columns}) to {parent}: {} without a parent",
                    counted(rows, "row")
                ),
                Err(error) => tell!("{table}: foreign key ({columns}) to {parent} left out: {error:#}"),
            }
        }
    }
}

/// Shows the plan of all copies. An error of one table does not stop the others.
async fn plan_all(
    session: &Session,
    pairs: &[Pair],
    args: &CopyArgs,
    options: &CopyOptions,
) -> anyhow::Result<Outcome> {
    let mut outcome = Outcome::Done;
    for pair in pairs {
        let mut options = options.clone();
        options.table.foreign_keys.clone_from(&pair.foreign_keys);
        if let Err(error) = plan_table(session, &pair.source, &pair.destination, &options, args.keys).await {
            tell!("{error:#}");
            outcome = Outcome::Negative;
        }
    }
    Ok(outcome)
}

/// Where the copies go.
enum Into<'a> {
    /// A folder, or the URL of a bucket or prefix, and the extension of the copies.
    Folder(&'a str, &'a str),
    Database(ServerUrl),
}

impl<'a> Into<'a> {
    fn new(args: &'a CopyArgs) -> anyhow::Result<Self> {
        if let Some(database) = ServerUrl::new(&args.destination) {
            if args.to.is_some() {
                bail!("{database}: a database, whose tables have no extension; leave out --to");
            }
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

    /// The copy is named after the source file without its last extension: `sales.2023` for `sales.2023.dbf`.
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
/// Two tables with the same destination, a table that another's copy would replace, and, unless `may_replace`, an existing destination.
fn compare(pairs: &[Pair], may_replace: bool) -> anyhow::Result<()> {
    let mut problems = Vec::new();
    let mut made: BTreeMap<String, &Location> = BTreeMap::new();
    for pair in pairs {
        let (table, destination) = (&pair.source, &pair.destination);
        // Table names are case-insensitive, and so are some file systems.
        if let Some(other) = made.insert(destination.to_string().to_lowercase(), table) {
            problems.push(format!("{other} and {table} would both become {destination}"));
        }
        let Place::File(path) = &destination.place else {
            continue;
        };
        let replaced = pairs.iter().find(|pair| is_same_file(&pair.source, path));
        if let Some(Pair { source, .. }) = replaced {
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
