//! The function that `libace.so` calls for a join, a subquery or a window.

#![expect(unsafe_code, reason = "is called by another library")]

use std::ffi::c_int;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use tidemill_ads::sql::{Error, Kind, Result, TableSource};
use tidemill_analytical::{Fault, Host, Text};
use tidemill_sql::{Answer, Session, SessionOptions};
use tokio::runtime::Runtime;

use crate::database;
use crate::process_bound::ProcessBound;

/// The interval at which the host is asked whether the query is cancelled.
const PATIENCE: Duration = Duration::from_millis(20);

/// The runtime and the session of all queries of a process. They are never freed; a forked child creates its own.
static ENGINE: Mutex<Option<&'static ProcessBound<(Runtime, Session)>>> = Mutex::new(None);

/// Answers a query over lent tables of the host.
///
/// # Safety
/// As for [`tidemill_analytical::answer`].
#[unsafe(no_mangle)]
#[expect(unreachable_pub, reason = "is found by its name")]
pub unsafe extern "C" fn TidemillAnalyticalQuery(
    version: u32,
    text: Text,
    host: *mut Host,
    answer: *mut FFI_ArrowArrayStream,
    fault: *mut Fault,
) -> c_int {
    // SAFETY: the arguments are passed on unchanged.
    unsafe { tidemill_analytical::answer(version, text, host, answer, fault, query) }
}

fn query(text: &str, tables: Arc<dyn TableSource>) -> Result<Box<dyn RecordBatchReader + Send>> {
    let (runtime, session) = engine()?;
    let begun = session.query_lent(text, Arc::clone(&tables));
    let answer = runtime.block_on(watched(begun, tables.as_ref()))?;
    Ok(Box::new(LentRows {
        runtime,
        schema: answer.schema(),
        answer: Some(answer),
        tables,
    }))
}

fn engine() -> Result<&'static (Runtime, Session)> {
    let mut made = ENGINE.lock().unwrap_or_else(PoisonError::into_inner);
    let engine = |error: adbc_core::error::Error| Error::new(Kind::Engine, error.message);
    if let Some(Ok(known)) = made.map(ProcessBound::get) {
        return Ok(known);
    }
    let new = (
        database::runtime().map_err(engine)?,
        Session::new(SessionOptions::default()),
    );
    let new: &'static _ = Box::leak(Box::new(ProcessBound::new(new)));
    made.insert(new).get().map_err(engine)
}

/// Waits for a future until the host cancels the query.
async fn watched<T>(work: impl Future<Output = tidemill_sql::Result<T>>, tables: &dyn TableSource) -> Result<T> {
    let mut work = pin!(work);
    loop {
        match tokio::time::timeout(PATIENCE, &mut work).await {
            Ok(done) => return done.map_err(Error::from),
            Err(_) if tables.is_cancelled() => {
                return Err(Error::new(Kind::Stopped, "The statement was stopped"));
            }
            Err(_) => {}
        }
    }
}

/// The rows of a query over lent tables.
struct LentRows {
    runtime: &'static Runtime,
    schema: SchemaRef,
    answer: Option<Answer>,
    tables: Arc<dyn TableSource>,
}

impl Iterator for LentRows {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let answer = self.answer.as_mut()?;
        let batch = self.runtime.block_on(watched(answer.next(), self.tables.as_ref()));
        if !matches!(batch, Ok(Some(_))) {
            self.answer = None;
        }
        let batch = batch.map_err(|error| ArrowError::ExternalError(Box::new(error)));
        batch.transpose()
    }
}

impl RecordBatchReader for LentRows {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}
