//! `tidemill cat`.

use std::io::{self, BufWriter, Write};
use std::sync::Arc;

use anyhow::{Context, bail};
use tidemill_riegeli::{ReaderOptions, RecordReader};
use tidemill_sql::{Format, Location};
use tidemill_xbase::{Scan, Table};

use crate::Outcome;
use crate::args::{AnswerFormat, CatArgs, CatFormat, DeletedArg};
use crate::output::{RowWriter, default_format, report_damage, write_answer};

pub(crate) async fn run(args: CatArgs) -> anyhow::Result<Outcome> {
    let session = args.tables.session();
    let table = session.names().table(&args.table)?;
    let format = args.format.map_or(Some(default_format()), CatFormat::of_rows);
    match (table.format, format) {
        (Format::Riegeli, None) => cat_records(&table, &args)?,
        (_, None) => bail!("{}: --format framed is for Riegeli files", table.path.display()),
        (Format::Xbase, Some(format)) => cat_xbase(&table, &args, format)?,
        (_, Some(format)) => {
            let path = table.path.display().to_string().replace('"', "\"\"");
            let limit = args.limit.map_or_else(String::new, |rows| format!(" LIMIT {rows}"));
            let answer = session.query(&format!("SELECT * FROM \"{path}\"{limit}")).await?;
            write_answer(answer, format).await?;
            report_damage(&session);
        }
    }
    Ok(Outcome::Done)
}

/// Straight from the engine, because rows may come with their record numbers and marks.
fn cat_xbase(location: &Location, args: &CatArgs, format: AnswerFormat) -> anyhow::Result<()> {
    let table = Arc::new(Table::open(&location.path, &args.tables.xbase())?);
    let mut scan = Scan::default()
        .deleted(args.tables.deleted.into())
        .system_columns(args.tables.deleted != DeletedArg::Skip);
    if let Some(limit) = args.limit {
        scan = scan.limit(limit);
    }
    let batches = table.scan(scan)?;
    let mut writer = RowWriter::new(format, &batches.schema())?;
    for batch in batches {
        writer.write(&batch?)?;
    }
    writer.finish()?;
    for damage in table.damage() {
        eprintln!("{}: {damage}", location.path.display());
    }
    Ok(())
}

fn cat_records(location: &Location, args: &CatArgs) -> anyhow::Result<()> {
    let mut reader = RecordReader::open(&location.path, &ReaderOptions::default().recover(args.tables.recover))?;
    let mut out = BufWriter::new(io::stdout().lock());
    let mut left = args.limit.unwrap_or(usize::MAX);
    while left > 0
        && let Some(record) = reader.read_record()?
    {
        let length = u32::try_from(record.len()).context("a record is too long for --format framed")?;
        out.write_all(&length.to_le_bytes())?;
        out.write_all(record)?;
        left -= 1;
    }
    out.flush()?;
    for region in reader.skipped() {
        eprintln!("{}: {region}", location.path.display());
    }
    if left > 0 {
        reader.close()?;
    }
    Ok(())
}
