//! `tidemill cat`.

use std::io::{BufWriter, Write};
use std::ops::ControlFlow;
use std::sync::Arc;

use anyhow::{Context, bail};
use tidemill_riegeli::ReaderOptions;
use tidemill_sql::{Format, Location, Place, Records, Session};
use tidemill_xbase::{Scan, Table};

use crate::Outcome;
use crate::args::{AnswerFormat, CatArgs, CatFormat, DeletedArg};
use crate::output::{RowWriter, Screen, default_format, report_damage, write_answer};
use crate::terminal::{Output, tell};

pub(crate) async fn run(args: CatArgs) -> anyhow::Result<Outcome> {
    let options = args.limits.of_tables(args.tables.options());
    let session = Session::new(match &args.project {
        Some(projection) => options.field_projection(projection.clone()),
        None => options,
    });
    let table = session.locate(&args.table).await?;
    args.tables.check(&table)?;
    let format = args.format.map_or(Some(default_format()), CatFormat::of_rows);
    match (table.format, format) {
        (format, None) if format.has_records() => cat_records(&table, &args).await?,
        (_, None) => bail!("{table}: --format framed and raw are for record files"),
        (Format::Xbase, Some(format)) if matches!(table.place, Place::File(_)) => cat_xbase(&table, &args, format)?,
        (_, Some(format)) => {
            let answer = session.read(&table, args.limit).await?;
            write_answer(answer, format, Screen::of(args.screen)).await?;
            report_damage(&session);
        }
    }
    Ok(Outcome::Done)
}

/// Reads through the xBase engine, because rows may be shown with record numbers and deletion marks.
fn cat_xbase(location: &Location, args: &CatArgs, format: AnswerFormat) -> anyhow::Result<()> {
    let table = Arc::new(Table::open(location.file()?, &args.tables.xbase())?);
    let mut scan = Scan::default()
        .deleted(args.tables.deleted.into())
        .system_columns(args.tables.deleted != DeletedArg::Skip);
    if let Some(limit) = args.limit {
        scan = scan.limit(limit);
    }
    let batches = table.scan(scan)?;
    let mut writer = RowWriter::new(format, &batches.schema(), Screen::of(args.screen))?;
    for batch in batches {
        if writer.write(&batch?)?.is_break() {
            break;
        }
    }
    writer.finish()?;
    for damage in table.damage() {
        tell!("{location}: {damage}");
    }
    Ok(())
}

/// Writes the bytes of records; with `framed`, each after its length.
async fn cat_records(location: &Location, args: &CatArgs) -> anyhow::Result<()> {
    let mut options = args
        .limits
        .of_records(ReaderOptions::default().recover(args.tables.recover));
    if let Some(projection) = &args.project {
        options = options.field_projection(projection.clone());
    }
    let records = Records::open(location, &options).await?;
    let framed = args.format == Some(CatFormat::Framed);
    let mut left = args.limit.unwrap_or(usize::MAX);
    let work = move || {
        let mut out = BufWriter::new(Output::new());
        let mut failed = Ok(());
        let skipped = records.read(|record| {
            if left == 0 {
                return Ok(ControlFlow::Break(()));
            }
            left -= 1;
            failed = write_record(&mut out, record, framed);
            Ok(match failed {
                Ok(()) if left > 0 => ControlFlow::Continue(()),
                _ => ControlFlow::Break(()),
            })
        })?;
        failed?;
        out.flush()?;
        Ok::<_, anyhow::Error>(skipped)
    };
    for skipped in tokio::task::spawn_blocking(work).await?? {
        tell!("{}: {}", skipped.file, skipped.region);
    }
    Ok(())
}

fn write_record(out: &mut impl Write, record: &[u8], framed: bool) -> anyhow::Result<()> {
    if framed {
        let length = u32::try_from(record.len()).context("a record is too long for --format framed")?;
        out.write_all(&length.to_le_bytes())?;
    }
    out.write_all(record)?;
    Ok(())
}
