//! `tidemill salvage`.

use anyhow::{Context, bail};
use tidemill_sql::{CopyOptions, FileOptions, Location};

use crate::Outcome;
use crate::args::SalvageArgs;
use crate::output::report_damage;
use crate::progress::CopyProgress;
use crate::terminal::note;

pub(crate) async fn run(mut args: SalvageArgs) -> anyhow::Result<Outcome> {
    args.tables.recover = true;
    let session = args.tables.session();
    let source = session.locate(&args.file).await?;
    if !source.format.has_records() {
        bail!("{source}: salvage is for record files; copy --recover is for tables");
    }
    let destination = Location::destination(&args.destination)?;
    args.check(&destination)?;
    let mut file = FileOptions::default();
    if let Some(riegeli) = &args.riegeli {
        file.riegeli = riegeli.parse().with_context(|| format!("--riegeli {riegeli}"))?;
    }
    let options = CopyOptions {
        overwrite: args.overwrite,
        file,
        ..CopyOptions::default()
    };
    let name = source.to_string();
    let mut progress = CopyProgress::new(&name, source.bytes()?.unwrap_or_default());
    let copied = session
        .copy(&source, &destination, &options, |now| progress.update(now))
        .await?;
    progress.finish();
    report_damage(&session);
    let places = session.damage().len();
    note!(
        "{name} → {destination}: {} records saved, damaged places left out: {places}",
        copied.rows
    );
    Ok(match places {
        0 => Outcome::Done,
        _ => Outcome::Negative,
    })
}
