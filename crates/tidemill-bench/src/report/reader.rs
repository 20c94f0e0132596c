//! Reads reports, those of killed runs and those of Latte too.

use std::{
    fs::File,
    io::{BufRead, BufReader, Cursor, Seek, SeekFrom},
    path::{Path, PathBuf},
};

use serde::{Deserialize, de::DeserializeOwned};

use super::{RunConfig, VERSION, latte};
use crate::{
    Error, Result,
    stats::{Results, Sample, Summary},
};

/// Lines of samples begin so.
const SAMPLE: &[u8] = br#"{"sample":"#;
const RESULTS: &[u8] = br#"{"results":"#;

/// What a report says.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Where it was read.
    pub path: PathBuf,
    /// What was run.
    pub config: RunConfig,
    /// What each run amounts to; more than one with `--repeat`.
    pub runs: Vec<Run>,
}

/// A run of a report.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// What it amounts to.
    pub results: Results,
    /// Whether it ended; otherwise the results are those of the samples until then.
    pub complete: bool,
}

/// Is called with each sample and the number of its run, from 0.
pub type Visitor<'a> = &'a mut dyn FnMut(usize, Sample) -> Result<()>;

#[derive(Deserialize)]
struct Header {
    tidemill_bench_report: u32,
    #[serde(default)]
    config: RunConfig,
}

#[derive(Deserialize)]
struct SampleLine {
    sample: Sample,
}

#[derive(Deserialize)]
struct ResultsLine {
    results: Results,
}

impl Report {
    /// Reads what was run and what it amounts to. Samples are read only where a killed run left no results.
    ///
    /// # Errors
    /// [`Error::Io`], and [`Error::Report`] with file and line when it is no report or a damaged one; [`Error::Unsupported`]
    /// for the report of a later version. A last line that was cut off is no error.
    pub fn load(path: &Path) -> Result<Self> {
        open(path)?.read(None)
    }

    /// What the runs warn of: each warning once, as the first run has it, and in how many runs it came.
    pub fn warnings(&self) -> Vec<String> {
        let mut met: Vec<(String, String, usize)> = Vec::new();
        for run in &self.runs {
            let seconds = run.results.elapsed_s;
            let cut = (!run.complete).then(|| format!("the run was cut off; these are its first {seconds:.1} s"));
            for warning in run.results.warnings().into_iter().chain(cut) {
                let words = warning.replace(|letter: char| letter.is_ascii_digit() || letter == '.', "");
                match met.iter_mut().find(|(known, ..)| *known == words) {
                    Some((.., runs)) => *runs += 1,
                    None => met.push((words, warning, 1)),
                }
            }
        }
        let all = self.runs.len();
        let warnings = met.into_iter().map(|(_, warning, runs)| match all {
            1 => warning,
            all => format!("{warning} (in {runs} of {all} runs)"),
        });
        warnings.collect()
    }

    /// As [`Self::load`], and gives every sample to `visit`, one at a time.
    ///
    /// # Errors
    /// As [`Self::load`], and what `visit` returns.
    pub fn read(path: &Path, visit: Visitor<'_>) -> Result<Self> {
        open(path)?.read(Some(visit))
    }

    /// As [`Self::read`], of bytes that are in memory; errors call them `memory.json`.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn of_bytes(bytes: &[u8], visit: Visitor<'_>) -> Result<Self> {
        Reader::new(Path::new("memory.json"), Cursor::new(bytes)).read(Some(visit))
    }
}

fn open(path: &Path) -> Result<Reader<BufReader<File>>> {
    let file = File::open(path).map_err(Error::io("open", path))?;
    Ok(Reader::new(path, BufReader::new(file)))
}

struct Reader<R> {
    path: PathBuf,
    file: R,
    /// The number of the line that was read last, from 1.
    line: usize,
    offset: u64,
}

impl<R: BufRead + Seek> Reader<R> {
    fn new(path: &Path, file: R) -> Self {
        Self {
            path: path.to_owned(),
            file,
            line: 0,
            offset: 0,
        }
    }

    fn read(mut self, mut visit: Option<Visitor<'_>>) -> Result<Report> {
        let first = self.next_line()?.unwrap_or_default();
        if !first.starts_with(br#"{"tidemill_bench_report":"#) {
            return self.read_latte(first, visit);
        }
        let header: Header = self.parse("the first line of a report", &first)?;
        if header.tidemill_bench_report != VERSION {
            let what = format!("version {} of reports", header.tidemill_bench_report);
            return Err(Error::Unsupported { path: self.path, what });
        }
        let mut runs = Vec::new();
        let mut open_run: Option<(u64, usize)> = None;
        while let Some(line) = self.next_line()? {
            let whole = line.ends_with(b"\n");
            if line.starts_with(SAMPLE) {
                let begin = (self.offset - line.len() as u64, self.line - 1);
                // A line without an end may be a part of one.
                if visit.is_some() || !whole {
                    match (self.parse::<SampleLine>("a sample", &line), &mut visit) {
                        (Ok(line), Some(visit)) => visit(runs.len(), line.sample)?,
                        (Ok(_), None) => {}
                        (Err(_), _) if !whole => break,
                        (Err(error), _) => return Err(error),
                    }
                }
                open_run.get_or_insert(begin);
            } else if line.starts_with(RESULTS) {
                match self.parse::<ResultsLine>("results", &line) {
                    Ok(line) => runs.push(Run {
                        results: line.results,
                        complete: true,
                    }),
                    Err(_) if !whole => break,
                    Err(error) => return Err(error),
                }
                open_run = None;
            } else if whole {
                let found = String::from_utf8_lossy(&line[..line.len().min(40)])
                    .trim_end()
                    .to_owned();
                return Err(self.error("a sample or results", found));
            }
        }
        if let Some((offset, line)) = open_run {
            runs.push(self.summarise(offset, line, header.config.cores)?);
        }
        Ok(Report {
            path: self.path,
            config: header.config,
            runs,
        })
    }

    /// What the samples from here on amount to.
    fn summarise(&mut self, offset: u64, line: usize, cores: Option<usize>) -> Result<Run> {
        self.file
            .seek(SeekFrom::Start(offset))
            .map_err(Error::io("read", &self.path))?;
        self.line = line;
        let mut summary = Summary::on_cores(cores);
        while let Some(line) = self.next_line()? {
            match self.parse::<SampleLine>("a sample", &line) {
                Ok(read) => summary.add(&read.sample),
                Err(_) if !line.ends_with(b"\n") || line.starts_with(RESULTS) => break,
                Err(error) => return Err(error),
            }
        }
        Ok(Run {
            results: summary.results(),
            complete: false,
        })
    }

    fn read_latte(mut self, first: Vec<u8>, mut visit: Option<Visitor<'_>>) -> Result<Report> {
        let mut text = first;
        self.file
            .read_to_end(&mut text)
            .map_err(Error::io("read", &self.path))?;
        let report: latte::LatteReport = serde_json::from_slice(&text).map_err(|error| {
            self.line = error.line();
            self.error("a report by tidemill-bench or Latte 0.29", error.to_string())
        })?;
        let (config, results, samples) = report.into_parts();
        if let Some(visit) = &mut visit {
            samples.into_iter().try_for_each(|sample| visit(0, sample))?;
        }
        Ok(Report {
            path: self.path,
            config,
            runs: vec![Run {
                results,
                complete: true,
            }],
        })
    }

    fn next_line(&mut self) -> Result<Option<Vec<u8>>> {
        let mut line = Vec::new();
        let length = self
            .file
            .read_until(b'\n', &mut line)
            .map_err(Error::io("read", &self.path))?;
        self.line += 1;
        self.offset += length as u64;
        Ok((length > 0).then_some(line))
    }

    fn parse<T: DeserializeOwned>(&self, expected: &'static str, line: &[u8]) -> Result<T> {
        serde_json::from_slice(line).map_err(|error| self.error(expected, error.to_string()))
    }

    fn error(&self, expected: &'static str, found: String) -> Error {
        Error::Report {
            path: self.path.clone(),
            line: self.line,
            expected,
            found,
        }
    }
}
