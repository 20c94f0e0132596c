//! `tidemill sql`.

use std::io::{self, IsTerminal, Read, Write};
use std::time::Instant;

use anyhow::Context;
use tidemill_sql::Session;

use crate::Outcome;
use crate::args::SqlArgs;
use crate::output::{default_format, report_damage, write_answer};
use crate::terminal::{Output, shown, tell};

pub(crate) async fn run(args: SqlArgs) -> anyhow::Result<Outcome> {
    let mut statement = args.statement;
    if statement == "-" {
        statement.clear();
        io::stdin()
            .read_to_string(&mut statement)
            .context("cannot read the statement from standard input")?;
    }
    let mut options = args
        .limits
        .of_tables(args.tables.options().making(args.making.options()));
    if let Some(bytes) = args.memory {
        options = options.memory(bytes);
    }
    let session = Session::new(options);
    if args.explain {
        Output::new().write_all(shown(&session.explain(&statement).await?).as_bytes())?;
        return Ok(Outcome::Done);
    }
    let started = Instant::now();
    let mut answers = match &args.server {
        Some(server) => vec![session.ask_server(server, &statement).await?],
        None => session.query_all(&statement).await?,
    };
    // Of a script all rows are shown, and what its last statement changed.
    let last = answers.pop();
    let answers = answers.into_iter().filter(|answer| answer.changed().is_none());
    let mut rows = 0;
    for answer in answers.chain(last) {
        rows += write_answer(answer, args.format.unwrap_or_else(default_format)).await?;
    }
    report_damage(&session);
    if io::stderr().is_terminal() {
        tell!("{rows} rows in {:.3} s", started.elapsed().as_secs_f64());
    }
    Ok(Outcome::Done)
}
