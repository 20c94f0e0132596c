//! `export`: reports as a page, as rows, or several of them as one.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
};

use clap::Args;

use super::show::{ShowArgs, show};
use crate::{
    Error, Result,
    output::Format,
    report::{html, merge},
};

/// Export reports: a page of HTML, rows of a format, or several reports merged into one
#[derive(Args, Clone, Debug)]
pub struct ExportArgs {
    /// The report; with --merge, all reports to merge
    #[arg(value_name = "PATH", required = true)]
    pub reports: Vec<PathBuf>,
    /// Report to compare with
    #[arg(short, long, value_name = "PATH", conflicts_with = "merge")]
    pub baseline: Option<PathBuf>,
    /// Write one self-contained HTML page with charts
    #[arg(long, required_unless_present_any = ["merge", "format"], conflicts_with_all = ["merge", "format"])]
    pub html: bool,
    /// Merge the reports of several machines that ran at the same time
    #[arg(long, conflicts_with = "format")]
    pub merge: bool,
    /// Write the numbers as rows in this format
    #[arg(long, value_enum)]
    pub format: Option<Format>,
    /// Output file. Default: standard output
    #[arg(short, long, value_name = "PATH", required_if_eq("merge", "true"))]
    pub output: Option<PathBuf>,
}

/// Writes the export to its file, or to `out`.
///
/// # Errors
/// When a report can't be read, when there are more reports than the export takes, or when it can't be written.
pub fn export(args: &ExportArgs, out: &mut dyn Write) -> Result<()> {
    if args.merge {
        let output = args.output.as_deref();
        let output = output.ok_or_else(|| Error::Misuse("--merge needs --output".into()))?;
        return merge(&args.reports, output);
    }
    let [report] = &args.reports[..] else {
        return Err(Error::Misuse(
            "one report is exported at a time; compare two with --baseline".into(),
        ));
    };
    let mut exported = Vec::new();
    if args.html {
        exported = html(report, args.baseline.as_deref())?.into_bytes();
    } else {
        let args = ShowArgs {
            report: report.clone(),
            baseline: args.baseline.clone(),
            log: false,
            format: args.format,
            layout: None,
        };
        show(&args, &mut exported)?;
    }
    write_to(args.output.as_deref(), &exported, out)
}

fn write_to(path: Option<&Path>, bytes: &[u8], out: &mut dyn Write) -> Result<()> {
    match path {
        Some(path) => fs::write(path, bytes).map_err(Error::io("write", path)),
        None => Ok(out.write_all(bytes)?),
    }
}
