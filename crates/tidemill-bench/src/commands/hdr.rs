//! `hdr`: the histograms of a report as a log of HdrHistogram.

use std::{
    fs::File,
    io::{BufWriter, Write},
    path::PathBuf,
};

use clap::Args;

use crate::{
    Error, Result,
    hdr::{HdrLog, Of},
    report::Report,
};

/// Export the histograms of a report as an HdrHistogram interval log
#[derive(Args, Clone, Debug)]
pub struct HdrArgs {
    /// The report
    #[arg(value_name = "PATH")]
    pub report: PathBuf,
    /// Output file. Default: standard output
    #[arg(short, long, value_name = "PATH")]
    pub output: Option<PathBuf>,
    /// Prefix of the tags of all histograms
    #[arg(long, value_name = "STRING")]
    pub tag: Option<String>,
}

/// Writes the log to its file, or to `out`.
///
/// # Errors
/// When the report can't be read, the tag is none, or the log can't be written.
pub fn hdr(args: &HdrArgs, out: &mut dyn Write) -> Result<()> {
    // The head needs the start of the run, which is read before any sample.
    let started_ms = Report::load(&args.report)?.config.started_ms;
    let mut file;
    let out: &mut dyn Write = match &args.output {
        Some(path) => {
            file = BufWriter::new(File::create(path).map_err(Error::io("create", path))?);
            &mut file
        }
        None => out,
    };
    let mut log = HdrLog::create(out, started_ms, args.tag.as_deref(), Of::All)?;
    Report::read(&args.report, &mut |_, sample| log.sample(&sample))?;
    Ok(())
}
