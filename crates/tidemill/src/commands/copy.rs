//! `tidemill copy`.

mod several;

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use comfy_table::{ContentArrangement, Table, presets};
use indicatif::HumanCount;
use tidemill_sql::{
    Copied, CopyOptions, FileOptions, Location, MappedColumn, Place, ServerUrl, Session, TableOptions, source_is_query,
};

use self::several::copy_all;

use crate::Outcome;
use crate::args::CopyArgs;
use crate::commands::changing::{Change, Changing};
use crate::commands::tables_in;
use crate::output::report_damage;
use crate::progress::{CopyProgress, planned, summary};
use crate::terminal::{note, say, tell};

/// How often a copy is resumed, and how long it waits for the server each time.
const ATTEMPTS: u32 = 60;
const PATIENCE: Duration = Duration::from_secs(2);

pub(crate) async fn run(args: CopyArgs) -> anyhow::Result<Outcome> {
    let session = Arc::new(Session::new(args.limits.of_tables(args.tables.options())));
    let options = CopyOptions {
        overwrite: args.overwrite,
        file: file_options(&args)?,
        table: args.making.options(),
        lossy: args.lossy,
        verify: args.verify.into(),
        resume: args.resume,
    };
    if source_is_query(&args.source) {
        if args.to.is_some() {
            bail!("--to is for tables, which have names; name the file of an answer, such as answer.parquet");
        }
        let started = Instant::now();
        let destination = Location::destination(&args.destination)?;
        args.check(&destination)?;
        let copy = planned("answer", session.plan_copy_query(&args.source, &destination, &options)).await?;
        let mut progress = CopyProgress::new("answer", 0);
        if args.dry_run {
            show_plan("answer", &destination, copy.columns(), None)?;
            return Ok(Outcome::Done);
        }
        show_columns(copy.columns());
        let changing = adding(&destination, &options);
        let copied = copy.run(|now| progress.update(now)).await?;
        drop(changing);
        progress.finish();
        report_damage(&session);
        report("answer", &destination, &copied, started);
        return Ok(Outcome::Done);
    }
    let database = ServerUrl::new(&args.source).filter(|url| !url.names_table());
    let folder = session.names().path(&args.source)?.filter(|path| path.is_dir());
    if args.follow {
        if database.is_some() || folder.is_some() {
            bail!("{}: --follow is for one table", args.source);
        }
        let source = session.locate(&args.source).await?;
        let destination = Location::destination(&args.destination)?;
        args.tables.check(&source)?;
        args.check(&destination)?;
        return follow(&session, &source, &destination, &options, args.interval).await;
    }
    let outcome = match (database, folder) {
        (Some(database), _) => copy_all(&session, session.tables_of(&database).await?, &args, &options).await?,
        (None, Some(folder)) => copy_all(&session, tables_in(&folder)?, &args, &options).await?,
        (None, None) if let Some(extension) = &args.to => {
            let names_file =
                ServerUrl::new(&args.destination).is_none() && Location::destination(&args.destination).is_ok();
            if names_file {
                bail!(
                    "{}: a file, where --to {extension} needs a folder; leave out one of them",
                    args.destination
                );
            }
            let table = session.locate(&args.source).await?;
            args.tables.check(&table)?;
            copy_all(&session, vec![table], &args, &options).await?
        }
        (None, None) => {
            let source = session.locate(&args.source).await?;
            let destination = Location::destination(&args.destination)?;
            args.tables.check(&source)?;
            args.check(&destination)?;
            match args.dry_run {
                true => plan_table(&session, &source, &destination, &options, args.keys).await?,
                false => copy_table(&session, &source, &destination, &options, args.keys).await?,
            }
            Outcome::Done
        }
    };
    report_damage(&session);
    Ok(outcome)
}

fn file_options(args: &CopyArgs) -> anyhow::Result<FileOptions> {
    let mut options = FileOptions {
        wide_dates: args.lossy,
        ..FileOptions::default()
    };
    if let Some(riegeli) = &args.riegeli {
        options.riegeli = riegeli.parse().with_context(|| format!("--riegeli {riegeli}"))?;
    }
    if let Some(array_record) = &args.array_record {
        options.array_record = array_record
            .parse()
            .with_context(|| format!("--array-record {array_record}"))?;
    }
    if let Some(codepage) = args.to_codepage {
        options.codepage = codepage;
    }
    if let Some(dialect) = args.to_dialect {
        options.dialect = dialect.into();
    }
    Ok(options)
}

async fn copy_table(
    session: &Session,
    source: &Location,
    destination: &Location,
    options: &CopyOptions,
    with_keys: bool,
) -> anyhow::Result<()> {
    let options = &with_keys_of(session, source, options, with_keys)?;
    let mut attempts = 0;
    loop {
        let error = match copy_once(session, source, destination, options).await {
            Err(error) if options.resume && error.is_of_connection() && attempts < ATTEMPTS => error,
            done => return Ok(done?),
        };
        attempts += 1;
        tell!("{error:#}; waiting for the server");
        tokio::time::sleep(PATIENCE).await;
    }
}

/// The options, with the keys of the source if requested.
fn with_keys_of(
    session: &Session,
    source: &Location,
    options: &CopyOptions,
    with_keys: bool,
) -> anyhow::Result<CopyOptions> {
    let mut options = options.clone();
    if with_keys {
        let keys = session.keys_of(source)?;
        if !keys.left_out.is_empty() {
            tell!("{source}: index tags left out: {}", keys.left_out.join(", "));
        }
        keys.add_to(&mut options.table);
    }
    Ok(options)
}

/// Shows the plan of copying one table.
async fn plan_table(
    session: &Session,
    source: &Location,
    destination: &Location,
    options: &CopyOptions,
    with_keys: bool,
) -> anyhow::Result<()> {
    let options = with_keys_of(session, source, options, with_keys)?;
    let copy = planned(&source.to_string(), session.plan_copy(source, destination, &options)).await?;
    show_plan(&source.to_string(), destination, copy.columns(), Some(&options.table))
}

/// Writes the plan to standard output, since it is the result of the command.
fn show_plan(
    source: &str,
    destination: &Location,
    columns: &[MappedColumn],
    table: Option<&TableOptions>,
) -> anyhow::Result<()> {
    say!("{source} → {destination}")?;
    if !columns.is_empty() {
        say!("{}", layout(columns))?;
    }
    if let Some(key) = table.and_then(|table| table.primary_key.as_ref()) {
        say!(" primary key ({key})")?;
    }
    for index in table.into_iter().flat_map(|table| &table.indexes) {
        let unique = if index.is_unique { "unique " } else { "" };
        say!(" {unique}index ({})", index.columns.join(", "))?;
    }
    for key in table.into_iter().flat_map(|table| &table.foreign_keys) {
        let (columns, parent_columns) = (key.columns.join(", "), key.parent_columns.join(", "));
        let mut actions = String::new();
        for (does, what) in [(key.cascades_updates, "update"), (key.cascades_deletes, "delete")] {
            actions += &if does {
                format!(" on {what} cascade")
            } else {
                String::new()
            };
        }
        say!(" foreign key ({columns}) to {} ({parent_columns}){actions}", key.parent)?;
    }
    Ok(())
}

async fn copy_once(
    session: &Session,
    source: &Location,
    destination: &Location,
    options: &CopyOptions,
) -> tidemill_sql::Result<()> {
    let started = Instant::now();
    let source_bytes = source.bytes()?.unwrap_or_default();
    let name = source.to_string();
    let copy = planned(&name, session.plan_copy(source, destination, options)).await?;
    let mut progress = CopyProgress::new(&name, source_bytes);
    show_columns(copy.columns());
    let changing = adding(destination, options);
    let copied = copy.run(|now| progress.update(now)).await?;
    drop(changing);
    progress.finish();
    report(&name, destination, &copied, started);
    Ok(())
}

/// Marks a change in progress if rows are added to an existing table of a server.
fn adding(destination: &Location, options: &CopyOptions) -> Option<Changing> {
    let adds = matches!(destination.place, Place::Server(_)) && !options.table.create;
    adds.then(|| {
        Changing::begin(Change {
            is_undone: false,
            advice: "count the rows of the table, or copy again with --resume",
        })
    })
}

/// Copies new rows of a table until it is interrupted.
async fn follow(
    session: &Session,
    source: &Location,
    destination: &Location,
    options: &CopyOptions,
    interval: Duration,
) -> anyhow::Result<Outcome> {
    let mut follower = session.follow(source, destination, options).await?;
    if let Some(why) = follower.begins_anew() {
        tell!("{source} → {destination}: {why}; it is copied from the beginning");
    }
    note!("{source} → {destination}: from {}", follower.position());
    let mut is_shown = false;
    loop {
        match follower.step().await {
            Ok(Some(rows)) => {
                if !is_shown {
                    show_columns(follower.columns());
                    is_shown = true;
                }
                let rows = HumanCount(rows);
                note!(
                    "{source} → {destination}: {rows} rows, as far as {}",
                    follower.position()
                );
            }
            Ok(None) => tokio::time::sleep(interval).await,
            Err(error) if error.is_of_connection() => {
                tell!("{error:#}; waiting for the server");
                tokio::time::sleep(PATIENCE.max(interval)).await;
            }
            Err(error) => {
                report_damage(session);
                return Err(error.into());
            }
        }
    }
}

/// Shows the types of the columns in the copy, and what their values lose.
fn show_columns(columns: &[MappedColumn]) {
    if !columns.is_empty() {
        note!("{}", layout(columns));
    }
}

/// One line per column.
fn layout(columns: &[MappedColumn]) -> String {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING);
    table.set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(["column", "type", "becomes", "loses"]);
    for column in columns {
        let loss = column.loss.map(|loss| loss.to_string()).unwrap_or_default();
        table.add_row([&column.name, &column.from.to_string(), &column.to, &loss]);
    }
    let lines: Vec<String> = table.lines().map(|line| line.trim_end().to_owned()).collect();
    lines.join("\n")
}

fn report(source: &str, destination: &Location, copied: &Copied, started: Instant) {
    let summary = summary(copied.rows, copied.source_bytes, copied.bytes, started.elapsed());
    let compared = match copied.compared_columns {
        None => String::new(),
        Some(0) => "; the checksum agrees".to_owned(),
        Some(1) => "; the checksum of 1 column agrees".to_owned(),
        Some(columns) => format!("; the checksums of {columns} columns agree"),
    };
    note!("{source} → {destination}: {summary}{compared}");
}
