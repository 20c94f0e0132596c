//! Files of ClickHouse's FORMAT Native: blocks with the names and types of their columns.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use datafusion::catalog::TableProvider;
use datafusion::common::stats::Precision;
use tidemill_clickhouse::arrow_type::StringType;
use tidemill_clickhouse::source::ReadSource;
use tidemill_clickhouse::{Block, BlockDecoder, NativeReader};

use super::decimals::{widen, widened};
use crate::engine::{Batches, Chosen, Engine, EngineTable, Request};
use crate::location::Location;
use crate::{Error, Result};

pub(super) async fn open(location: &Location) -> Result<Arc<dyn TableProvider>> {
    let mut engines = Vec::new();
    for part in location.parts().await? {
        let path = part.file()?.to_path_buf();
        let first = blocks(&path)?
            .next()
            .transpose()
            .map_err(Error::native(path.display()))?;
        let Some(Block { batch, .. }) = first else {
            return Err(Error::Unsupported {
                what: format!("{part}: a table without a block, and so without columns,"),
                hint: "write it with at least one block".to_owned(),
            });
        };
        engines.push(NativeEngine {
            schema: widened(&batch.schema()),
            path,
        });
    }
    Ok(Arc::new(EngineTable::new(location.to_string(), engines)?))
}

fn blocks(path: &PathBuf) -> Result<NativeReader<ReadSource<File>>> {
    let reader = NativeReader::new(File::open(path).map_err(Error::io(path, "open"))?);
    // A column of strings that are no text is one of bytes.
    Ok(reader.with_decoder(BlockDecoder {
        strings: StringType::ByContent,
        ..BlockDecoder::default()
    }))
}

struct NativeEngine {
    path: PathBuf,
    schema: SchemaRef,
}

impl Engine for NativeEngine {
    fn scan_name(&self) -> &'static str {
        "NativeScan"
    }

    fn file(&self) -> String {
        self.path.display().to_string()
    }

    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn row_count(&self) -> Precision<usize> {
        Precision::Absent
    }

    fn divisible(&self) -> bool {
        false
    }

    fn scan(&self, request: Request) -> Result<Batches> {
        Ok(Box::new(Rows {
            blocks: blocks(&self.path)?,
            path: self.path.clone(),
            schema: Arc::clone(&self.schema),
            chosen: Chosen::among((0..self.schema.fields().len()).collect(), request),
            is_failed: false,
        }))
    }
}

struct Rows {
    blocks: NativeReader<ReadSource<File>>,
    path: PathBuf,
    schema: SchemaRef,
    chosen: Chosen,
    is_failed: bool,
}

impl Rows {
    /// What is wanted of a block.
    fn rows_of(&mut self, block: Block) -> Result<RecordBatch> {
        let batch = block.batch;
        if widened(&batch.schema()).fields() != self.schema.fields() {
            return Err(Error::Unsupported {
                what: format!("{}: a file whose blocks have different columns", self.path.display()),
                hint: "the columns of the first block are the table's".to_owned(),
            });
        }
        self.chosen.of(widen(batch, &self.schema)?)
    }
}

impl Iterator for Rows {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_failed || self.chosen.is_full() {
            return None;
        }
        let batch = match self.blocks.next()? {
            Ok(block) => self.rows_of(block),
            Err(error) => Err(Error::native(self.path.display())(error)),
        };
        self.is_failed = batch.is_err();
        Some(batch)
    }
}
