//! One module a store: from a [`Location`] to a table that the planner can scan.

mod files;
mod object;
mod riegeli;
mod xbase;

use std::fs::File;
use std::sync::Arc;

use arrow_array::RecordBatch;
use datafusion::catalog::TableProvider;
use datafusion::execution::SessionState;

use tidemill_riegeli::{FileSource, SharedSource};

use self::object::Object;
use crate::damage::DamageLog;
use crate::location::{Format, Location, Place};
use crate::options::SessionOptions;
use crate::{Error, Result};

/// Opens the table at `location`.
pub(crate) async fn open(
    location: &Location,
    options: &SessionOptions,
    damage: &DamageLog,
    state: &SessionState,
) -> Result<Arc<dyn TableProvider>> {
    match location.format {
        Format::Xbase => xbase::open(location, options, damage),
        Format::Riegeli => riegeli::open(location, options, damage).await,
        Format::TfRecord => Err(Error::Unsupported {
            what: format!("{location}: a statement over TFRecord"),
            hint: "copy it to a .riegeli file, which can be asked".to_owned(),
        }),
        Format::Parquet | Format::Arrow | Format::Csv | Format::JsonLines => files::open(location, state).await,
    }
}

/// The bytes of a file or of an object.
pub(crate) async fn shared_source(part: &Location) -> Result<SharedSource> {
    if let Place::Object(url) = &part.place {
        return Ok(Arc::new(Object::open(url)?.source().await?));
    }
    let path = part.file()?;
    let file = File::open(path).map_err(Error::io(path, "open"))?;
    Ok(Arc::new(FileSource::new(file)))
}

/// A scan that says what it left out when it ends, wherever that is.
struct Reading<B, D: FnMut(&B)> {
    batches: B,
    say_damage: D,
}

impl<B, D, E> Iterator for Reading<B, D>
where
    B: Iterator<Item = Result<RecordBatch, E>>,
    D: FnMut(&B),
    Error: From<E>,
{
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Result<RecordBatch>> {
        Some(self.batches.next()?.map_err(Error::from))
    }
}

impl<B, D: FnMut(&B)> Drop for Reading<B, D> {
    fn drop(&mut self) {
        (self.say_damage)(&self.batches);
    }
}
