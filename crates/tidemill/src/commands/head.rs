//! `tidemill head`.

use tidemill_sql::Session;

use crate::Outcome;
use crate::args::HeadArgs;
use crate::output::{Screen, default_format, report_damage, write_answer};

pub(crate) async fn run(args: HeadArgs) -> anyhow::Result<Outcome> {
    let session = Session::new(args.limits.of_tables(args.tables.options()));
    let limit = Some(args.limit);
    let table = session.locate(&args.table).await?;
    args.tables.check(&table)?;
    let answer = session.read(&table, limit).await?;
    let mut screen = Screen::of(args.answer.screen);
    screen.rows = limit;
    write_answer(answer, args.answer.format.unwrap_or_else(default_format), screen).await?;
    report_damage(&session);
    Ok(Outcome::Done)
}
