//! `tidemill copy`.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use comfy_table::{ContentArrangement, Table, presets};
use indicatif::HumanCount;
use tidemill_sql::{
    Copied, CopyOptions, FileOptions, Location, MappedColumn, Names, ServerUrl, Session, without_passwords,
};

use crate::Outcome;
use crate::args::CopyArgs;
use crate::output::report_damage;
use crate::progress::{CopyProgress, summary};

/// How often a copy is gone on with, and how long the server is waited for each time.
const ATTEMPTS: u32 = 60;
const PATIENCE: Duration = Duration::from_secs(2);

pub(crate) async fn run(args: CopyArgs) -> anyhow::Result<Outcome> {
    let session = args.tables.session();
    let options = CopyOptions {
        overwrite: args.overwrite,
        file: FileOptions {
            riegeli: args
                .riegeli
                .parse()
                .with_context(|| format!("--riegeli {}", args.riegeli))?,
            array_record: args
                .array_record
                .parse()
                .with_context(|| format!("--array-record {}", args.array_record))?,
            codepage: args.to_codepage,
            dialect: args.to_dialect.into(),
        },
        table: args.making.options(),
        lossy: args.lossy,
        verify: args.verify.into(),
        resume: args.resume,
    };
    if is_query(&args.source) {
        let started = Instant::now();
        let destination = Location::destination(&args.destination)?;
        let mut progress = CopyProgress::new("answer", 0);
        let copy = session.plan_copy_query(&args.source, &destination, &options).await?;
        show_columns(copy.columns());
        let copied = copy.run(|now| progress.update(now)).await?;
        progress.finish();
        report_damage(&session);
        report("answer", &destination, &copied, started);
        return Ok(Outcome::Done);
    }
    let database = ServerUrl::new(&args.source).filter(|url| !url.names_table());
    let folder = session.names().path(&args.source)?.filter(|path| path.is_dir());
    if args.follow {
        if database.is_some() || folder.is_some() {
            bail!("{}: --follow is for one table", without_passwords(&args.source));
        }
        let source = session.names().table(&args.source)?;
        let destination = Location::destination(&args.destination)?;
        return follow(&session, &source, &destination, &options, args.interval).await;
    }
    match (database, folder) {
        (Some(database), _) => copy_all(&session, session.tables_of(&database).await?, &args, &options).await?,
        (None, Some(folder)) => copy_all(&session, Names::tables_in(&folder)?, &args, &options).await?,
        (None, None) => {
            copy_table(
                &session,
                &session.names().table(&args.source)?,
                &Location::destination(&args.destination)?,
                &options,
            )
            .await?
        }
    }
    report_damage(&session);
    Ok(Outcome::Done)
}

async fn copy_all(
    session: &Session,
    tables: Vec<Location>,
    args: &CopyArgs,
    options: &CopyOptions,
) -> anyhow::Result<()> {
    let into = Into::new(args)?;
    if tables.is_empty() {
        bail!("{}: no tables there", without_passwords(&args.source));
    }
    for table in tables {
        copy_table(session, &table, &into.destination(&table)?, options).await?;
    }
    Ok(())
}

/// Where the tables of a folder or a database go.
enum Into<'a> {
    Folder(PathBuf, &'a str),
    Database(ServerUrl),
}

impl<'a> Into<'a> {
    fn new(args: &'a CopyArgs) -> anyhow::Result<Self> {
        if let Some(database) = ServerUrl::new(&args.destination) {
            return Ok(Self::Database(database));
        }
        let Some(extension) = &args.to else {
            bail!(
                "{} has many tables; say with --to which format they go to",
                without_passwords(&args.source)
            );
        };
        let folder = PathBuf::from(&args.destination);
        fs::create_dir_all(&folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
        Ok(Self::Folder(folder, extension))
    }

    fn destination(&self, table: &Location) -> anyhow::Result<Location> {
        let name = table.table_name();
        Ok(match self {
            Self::Folder(folder, extension) => Location::new_file(&folder.join(name).with_extension(extension))?,
            Self::Database(database) => Location::server(database.with_table(&name))?,
        })
    }
}

async fn copy_table(
    session: &Session,
    source: &Location,
    destination: &Location,
    options: &CopyOptions,
) -> anyhow::Result<()> {
    let mut attempts = 0;
    loop {
        let error = match copy_once(session, source, destination, options).await {
            Err(error) if options.resume && error.is_of_connection() && attempts < ATTEMPTS => error,
            done => return Ok(done?),
        };
        attempts += 1;
        eprintln!("{error:#}; going on when the server is there again");
        tokio::time::sleep(PATIENCE).await;
    }
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
    let mut progress = CopyProgress::new(&name, source_bytes);
    let copy = session.plan_copy(source, destination, options).await?;
    show_columns(copy.columns());
    let copied = copy.run(|now| progress.update(now)).await?;
    progress.finish();
    report(&name, destination, &copied, started);
    Ok(())
}

/// Copies what is added to a table until somebody interrupts it.
async fn follow(
    session: &Session,
    source: &Location,
    destination: &Location,
    options: &CopyOptions,
    interval: Duration,
) -> anyhow::Result<Outcome> {
    let mut follower = session.follow(source, destination, options).await?;
    eprintln!("{source} → {destination}: from {}", follower.position());
    let mut is_shown = false;
    loop {
        match follower.step().await {
            Ok(Some(rows)) => {
                if !is_shown {
                    show_columns(follower.columns());
                    is_shown = true;
                }
                let rows = HumanCount(rows);
                eprintln!(
                    "{source} → {destination}: {rows} rows, as far as {}",
                    follower.position()
                );
            }
            Ok(None) => tokio::time::sleep(interval).await,
            Err(error) if error.is_of_connection() => {
                eprintln!("{error:#}; going on when the server is there again");
                tokio::time::sleep(PATIENCE.max(interval)).await;
            }
            Err(error) => {
                report_damage(session);
                return Err(error.into());
            }
        }
    }
}

/// Which types the columns get, and what their values lose by it.
fn show_columns(columns: &[MappedColumn]) {
    if columns.is_empty() {
        return;
    }
    let mut table = Table::new();
    table.load_preset(presets::NOTHING);
    table.set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(["column", "type", "becomes", "loses"]);
    for column in columns {
        let loss = column.loss.unwrap_or_default();
        table.add_row([&column.name, &column.from.to_string(), &column.to, loss]);
    }
    for line in table.lines() {
        eprintln!("{}", line.trim_end());
    }
}

fn report(source: &str, destination: &Location, copied: &Copied, started: Instant) {
    let summary = summary(copied.rows, copied.source_bytes, copied.bytes, started.elapsed());
    let compared = match copied.compared_columns {
        None => String::new(),
        Some(0) => "; the checksum agrees".to_owned(),
        Some(1) => "; the checksum of 1 column agrees".to_owned(),
        Some(columns) => format!("; the checksums of {columns} columns agree"),
    };
    eprintln!("{source} → {destination}: {summary}{compared}");
}

/// Whether the source is a statement rather than a place.
fn is_query(source: &str) -> bool {
    let first = source.split_whitespace().next().unwrap_or_default();
    ["select", "with", "values"]
        .iter()
        .any(|keyword| first.eq_ignore_ascii_case(keyword))
        && source.contains(' ')
}
