//! Sheets of Excel workbooks. A sheet is read once to find its columns, and again for its rows.

use std::fs::File;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use datafusion::catalog::TableProvider;
use datafusion::common::stats::Precision;
use percent_encoding::percent_decode_str;
use tidemill_excel::{SheetLook, SheetOptions, Workbook};
use tidemill_riegeli::SharedSource;

use crate::ads_connection::blocking;
use crate::engine::{BATCHES_IN_FLIGHT, Batches, Chosen, Engine, EngineTable, Request};
use crate::format::ExcelSheet;
use crate::location::{Location, SourceReader};
use crate::options::SessionOptions;
use crate::{Error, Result};

/// Parses the options after the name of a workbook: `sheet=Prices&header=no&skip=2`.
///
/// # Errors
///
/// [`Error::Excel`] for a missing sheet, [`Error::Unsupported`] for an unknown option.
pub(crate) fn options(location: &Location, text: &str) -> Result<ExcelSheet> {
    let mut sheet = ExcelSheet::FIRST;
    for pair in text.split('&').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        let value = percent_decode_str(value).decode_utf8_lossy();
        let refused = |expected: &str| Error::Unsupported {
            what: format!("{location}: {key}={value}"),
            hint: format!("workbooks have the options {expected}"),
        };
        match key {
            "sheet" => {
                let path = location.file()?;
                let file = File::open(path).map_err(Error::io(path, "open"))?;
                // Its rows are read within the session's limit, which is not known here.
                let workbook = Workbook::open(file, u64::MAX).map_err(Error::excel(location))?;
                sheet.number = workbook.sheet(&value).map_err(Error::excel(location))?;
            }
            "header" => match &*value {
                "yes" => sheet.header = Some(true),
                "no" => sheet.header = Some(false),
                _ => return Err(refused("header=yes and header=no")),
            },
            "skip" => sheet.skip = value.parse().map_err(|_| refused("skip=NUMBER, of rows"))?,
            _ => return Err(refused("sheet, header and skip")),
        }
    }
    Ok(sheet)
}

/// A workbook may take this multiple of its size in memory, plus the session's limit.
const TIMES: u64 = 8;

pub(super) async fn open(
    location: &Location,
    sheet: &ExcelSheet,
    options: &SessionOptions,
) -> Result<Arc<dyn TableProvider>> {
    let max_expansion = options.expansion();
    let sources = location.sources().await?;
    let sheet = *sheet;
    // Reading blocks, which is not allowed on a thread of the runtime.
    let engines = blocking(move || {
        let files = sources
            .into_iter()
            .filter_map(|(file, source)| Some((file.to_string(), source?)));
        let engines = files.map(|(name, source)| {
            let options = SheetOptions {
                header: sheet.header,
                skip: sheet.skip,
            };
            let size = source.size().map_err(Error::io(&name, "read"))?;
            let max_held = size.saturating_mul(TIMES).saturating_add(max_expansion);
            let look = workbook(&source, max_held).and_then(|mut workbook| workbook.look(sheet.number, &options));
            Ok(ExcelEngine {
                look: look.map_err(Error::excel(&name))?,
                sheet: sheet.number,
                source,
                max_held,
                name,
            })
        });
        engines.collect::<Result<Vec<_>>>()
    });
    Ok(Arc::new(EngineTable::new(location.to_string(), engines.await?)?))
}

fn workbook(source: &SharedSource, max_held: u64) -> tidemill_excel::Result<Workbook<SourceReader>> {
    Workbook::open(SourceReader::new(Arc::clone(source)), max_held)
}

pub(super) struct ExcelEngine {
    source: SharedSource,
    max_held: u64,
    name: String,
    sheet: usize,
    look: SheetLook,
}

impl Engine for ExcelEngine {
    fn scan_name(&self) -> &'static str {
        "ExcelScan"
    }

    fn file(&self) -> String {
        self.name.clone()
    }

    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.look.columns)
    }

    fn row_count(&self) -> Precision<usize> {
        Precision::Absent
    }

    fn row_bytes(&self) -> Option<u64> {
        Some(self.look.row_bytes)
    }

    fn divisible(&self) -> bool {
        false
    }

    fn scan(&self, request: Request) -> Result<Batches> {
        let (sender, receiver) = sync_channel(BATCHES_IN_FLIGHT);
        let (name, look, sheet, max_held) = (self.name.clone(), self.look.clone(), self.sheet, self.max_held);
        let source = Arc::clone(&self.source);
        // The reader of a sheet passes cells to a callback, so that it needs its own thread. The thread ends when the receiver is dropped.
        std::thread::spawn(move || {
            let opened = workbook(&source, max_held).map_err(Failed::Workbook);
            let failed = opened
                .and_then(|workbook| send(workbook, &look, sheet, request, &sender))
                .err();
            if let Some(error) = failed {
                let error = match error {
                    Failed::Workbook(error) => Error::excel(&name)(error),
                    Failed::Other(error) => error,
                };
                let _ = sender.send(Err(error));
            }
        });
        Ok(Box::new(receiver.into_iter()))
    }
}

enum Failed {
    Workbook(tidemill_excel::Error),
    Other(Error),
}

/// Sends the requested rows of a sheet while the receiver exists.
fn send(
    mut workbook: Workbook<SourceReader>,
    look: &SheetLook,
    sheet: usize,
    request: Request,
    sender: &SyncSender<Result<RecordBatch>>,
) -> std::result::Result<(), Failed> {
    let batch_rows = request.batch_rows;
    let mut chosen = Chosen::needed(request);
    let needed = chosen.columns().to_vec();
    let mut failed = Ok(());
    let take = &mut |batch| match chosen.of(batch) {
        Ok(batch) => match sender.send(Ok(batch)) {
            Ok(()) if !chosen.is_full() => ControlFlow::Continue(()),
            _ => ControlFlow::Break(()),
        },
        Err(error) => {
            failed = Err(Failed::Other(error));
            ControlFlow::Break(())
        }
    };
    let read = workbook.read(sheet, look, &needed, batch_rows, take);
    failed.and(read.map_err(Failed::Workbook))
}
