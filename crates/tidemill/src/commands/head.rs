//! `tidemill head`.

use tidemill_sql::Session;

use crate::Outcome;
use crate::args::HeadArgs;
use crate::commands::spooled::Spooled;
use crate::output::{Screen, default_format, report_damage, write_answer};

pub(crate) async fn run(args: HeadArgs) -> anyhow::Result<Outcome> {
    let session = Session::new(args.limits.of_tables(args.tables.options()));
    let spooled = match args.table.as_str() {
        "-" => Some(Spooled::read().await?),
        _ => None,
    };
    let limit = Some(args.limit);
    let answer = match &spooled {
        Some(spooled) => session.read(&spooled.location, limit).await?,
        None => session.read(&session.locate(&args.table).await?, limit).await?,
    };
    let mut screen = Screen::of(args.answer.screen);
    screen.rows = limit;
    write_answer(answer, args.answer.format.unwrap_or_else(default_format), screen).await?;
    report_damage(&session);
    Ok(Outcome::Done)
}
