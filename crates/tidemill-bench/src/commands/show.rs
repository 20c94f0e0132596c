//! `show`: what a report says, compared with a baseline when one is given.

use std::{io::Write, path::PathBuf};

use clap::Args;

use crate::{
    Error, Result,
    output::{Format, Layout, write_rows},
    report::{Report, SampleRows, compared, rows, write_latte_text, write_text},
};

/// Show a report, of this program or of Latte 0.29
#[derive(Args, Clone, Debug)]
pub struct ShowArgs {
    /// The report
    #[arg(value_name = "PATH")]
    pub report: PathBuf,
    /// Report to compare with
    #[arg(short, long, value_name = "PATH")]
    pub baseline: Option<PathBuf>,
    /// Show the samples, one per row
    #[arg(long, conflicts_with = "baseline")]
    pub log: bool,
    /// Print the numbers as rows in this format
    #[arg(long, value_enum)]
    pub format: Option<Format>,
    /// Layout of the text. Default: latte if the program is called by that name, else full. With --baseline always full
    #[arg(long, value_enum, conflicts_with_all = ["format", "log"])]
    pub layout: Option<Layout>,
}

/// Writes the report.
///
/// # Errors
/// When a report can't be read, when it has no measurements, or when `out` refuses.
pub fn show(args: &ShowArgs, out: &mut dyn Write) -> Result<()> {
    if args.log {
        let mut samples = SampleRows::default();
        Report::read(&args.report, &mut |run, sample| {
            samples.push(run, &sample);
            Ok(())
        })?;
        return write_rows(&samples.finish()?, args.format.unwrap_or_else(Format::for_stdout), out);
    }
    let report = measured(Report::load(&args.report)?)?;
    let baseline = args.baseline.as_deref().map(Report::load).transpose()?;
    let baseline = baseline.map(measured).transpose()?;
    let compared = compared(&report, baseline.as_ref());
    match args.format {
        Some(format) => write_rows(&rows(&compared, baseline.is_some())?, format, out),
        None if baseline.is_none() && Layout::or_by_program_name(args.layout) == Layout::Latte => {
            Ok(write_latte_text(&report, &compared, out)?)
        }
        None => Ok(write_text(&report, baseline.as_ref(), &compared, out)?),
    }
}

fn measured(report: Report) -> Result<Report> {
    match report.runs.is_empty() {
        true => Err(Error::Misuse(format!(
            "{}: nothing was measured",
            report.path.display()
        ))),
        false => Ok(report),
    }
}
