//! The last step: a load test of the books, with a chart.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::Parser as _;
use tidemill_bench::args::Cli;
use tidemill_sql::Session;

use crate::terminal::say;

/// Runs the load test for this many seconds over the tables in `books`. Returns the chart as SVG.
pub(super) async fn run(session: &Session, books: &Path, out: &Path, seconds: u32) -> anyhow::Result<String> {
    for field in ["ORDER_NO", "CUST_NO"] {
        let statement = format!("CREATE INDEX {field} ON orders ({field})");
        say!("$ tidemill sql --dir {} \"{statement}\"", books.display())?;
        session.query(&statement).await?.collect().await?;
    }
    let workload = out.join("load_test.rn");
    fs::write(&workload, include_str!("load_test.rn"))
        .with_context(|| format!("cannot write {}", workload.display()))?;
    let (report, picture) = (out.join("load_test.json"), out.join("load_test.svg"));
    let text = |path: &Path| path.display().to_string();
    bench(&[
        "run",
        &text(&workload),
        &format!("xbase:{}", text(books)),
        "--function",
        "order:0.9",
        "--function",
        "customer:0.1",
        "--concurrency",
        "1",
        "--sampling",
        "200ms",
        "--duration",
        &format!("{seconds}s"),
        "--output",
        &text(&report),
    ])
    .await?;
    bench(&["plot", &text(&report), "--output", &text(&picture)]).await?;
    fs::read_to_string(&picture).with_context(|| format!("cannot read {}", picture.display()))
}

/// Runs `tidemill bench` with these arguments. It creates its own runtimes.
async fn bench(arguments: &[&str]) -> anyhow::Result<()> {
    say!("$ tidemill bench {}", arguments.join(" "))?;
    let cli = Cli::try_parse_from([&["tidemill-bench"], arguments].concat())?;
    let work = std::thread::spawn(|| tidemill_bench::commands::main(cli));
    let done = tokio::task::spawn_blocking(|| work.join()).await?;
    match done {
        Ok(ExitCode::SUCCESS) => Ok(()),
        Ok(_) => bail!("the load test failed"),
        Err(panic) => std::panic::resume_unwind(panic),
    }
}
