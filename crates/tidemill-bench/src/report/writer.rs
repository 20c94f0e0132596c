//! Writes a report while the run goes.

use std::{
    fs::File,
    io::Write as _,
    path::{Path, PathBuf},
};

use serde::Serialize;

use super::{RunConfig, VERSION};
use crate::{
    Error, Result,
    stats::{Results, Sample, Summary},
};

/// A report that is being written.
#[derive(Debug)]
pub struct ReportWriter {
    path: PathBuf,
    file: File,
    line: Vec<u8>,
}

#[derive(Serialize)]
struct Header<'a> {
    tidemill_bench_report: u32,
    config: &'a RunConfig,
}

#[derive(Serialize)]
struct SampleLine<'a> {
    sample: &'a Sample,
}

#[derive(Serialize)]
struct ResultsLine<'a> {
    results: &'a Results,
}

impl ReportWriter {
    /// Makes the file, or empties it, and writes what is run, without passwords.
    ///
    /// # Errors
    /// [`Error::Io`] when the file can't be made or written.
    pub fn create(path: &Path, config: &RunConfig) -> Result<Self> {
        let file = File::create(path).map_err(Error::io("create", path))?;
        let mut writer = Self {
            path: path.to_owned(),
            file,
            line: Vec::new(),
        };
        writer.write(&Header {
            tidemill_bench_report: VERSION,
            config: &config.without_secrets(),
        })?;
        Ok(writer)
    }

    /// Writes the measurements of an interval.
    ///
    /// # Errors
    /// [`Error::Io`] when the file can't be written.
    pub fn sample(&mut self, sample: &Sample) -> Result<()> {
        self.write(&SampleLine { sample })
    }

    /// Writes what a run amounts to. Samples after it are those of the next run of `--repeat`.
    ///
    /// # Errors
    /// [`Error::Io`] when the file can't be written.
    pub fn finish(&mut self, summary: Summary) -> Result<()> {
        self.results(&summary.results())
    }

    /// As [`Self::finish`], with results that were already computed.
    ///
    /// # Errors
    /// [`Error::Io`] when the file can't be written.
    pub fn results(&mut self, results: &Results) -> Result<()> {
        self.write(&ResultsLine { results })
    }

    /// A line goes to the system in one piece, so that a kill leaves whole lines.
    fn write(&mut self, line: &impl Serialize) -> Result<()> {
        self.line.clear();
        serde_json::to_writer(&mut self.line, line)
            .map_err(std::io::Error::from)
            .map_err(Error::io("encode", &self.path))?;
        self.line.push(b'\n');
        self.file.write_all(&self.line).map_err(Error::io("write", &self.path))
    }
}
