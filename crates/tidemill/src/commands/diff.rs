//! `tidemill diff`.

use tidemill_sql::{Counts, Session};

use crate::Outcome;
use crate::args::DiffArgs;
use crate::commands::counted;
use crate::output::{RowWriter, Screen, default_format, report_damage};
use crate::terminal::{note, tell};

pub(crate) async fn run(args: DiffArgs) -> anyhow::Result<Outcome> {
    let mut options = args.limits.of_tables(args.tables.options());
    if let Some(memory) = args.memory {
        options = options.memory(memory);
    }
    let session = Session::new(options);
    let mut comparison = session.compare(&args.left, &args.right, &args.keys).await?;
    for (columns, side) in [(&comparison.only_left, "left"), (&comparison.only_right, "right")] {
        if !columns.is_empty() {
            tell!("columns that only the {side} has, not compared: {}", columns.join(", "));
        }
    }
    let has_same_columns = comparison.only_left.is_empty() && comparison.only_right.is_empty();
    let format = args.answer.format.unwrap_or_else(default_format);
    let mut writer = None;
    while let Some(batch) = comparison.next().await? {
        let writer = match &mut writer {
            Some(writer) => writer,
            none => none.insert(RowWriter::new(
                format,
                &comparison.schema(),
                Screen::of(args.answer.screen),
            )?),
        };
        // Hidden rows are counted too, for the total in the last line.
        let _ = writer.write(&batch)?;
    }
    if let Some(writer) = writer {
        writer.finish()?;
    }
    let counts = comparison.counts();
    note!("{}", summary(&counts, !args.keys.is_empty()));
    report_damage(&session);
    let is_same = has_same_columns && counts.only_left == 0 && counts.only_right == 0 && counts.changed == 0;
    Ok(match is_same {
        true => Outcome::Done,
        false => Outcome::Negative,
    })
}

fn summary(counts: &Counts, has_keys: bool) -> String {
    let mut parts = vec![format!("{} the same", counted(counts.same(), "row"))];
    if has_keys {
        parts.push(format!("{} changed", counts.changed));
    }
    parts.push(format!("{} only left", counts.only_left));
    parts.push(format!("{} only right", counts.only_right));
    parts.join(", ")
}
