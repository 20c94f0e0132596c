//! The tables of a query, on both sides: callbacks over a [`TableSource`], and a [`TableSource`] over callbacks.

#![expect(unsafe_code, reason = "is called by another library, and calls it")]

use std::ffi::{c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::slice;
use std::sync::Arc;

use arrow_array::RecordBatchReader;
use arrow_array::ffi::FFI_ArrowSchema;
use arrow_array::ffi_stream::{ArrowArrayStreamReader, FFI_ArrowArrayStream};
use arrow_schema::{Schema, SchemaRef};
use tidemill_ads::sql::{Error, Kind, Result, TableScan, TableSource};

use crate::abi::{DONE, FAILED, Fault, Host, Scan, Text};
use crate::fault::{Heard, Told};

/// What the data of a [`Host`] points to.
type Source = Arc<dyn TableSource>;

impl Host {
    /// Lends tables. Whoever gets it releases it.
    pub(crate) fn of(source: Source) -> Self {
        Self {
            data: Box::into_raw(Box::new(source)).cast(),
            schema,
            scan,
            is_cancelled,
            release,
        }
    }
}

/// Runs the work of a function of the interface: a panic is an error.
pub(crate) fn guarded(fault: *mut Fault, work: impl FnOnce() -> Result<()>) -> c_int {
    let done = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        let why = "a defect of the library: it stopped in the middle of the call";
        Err(Error::new(Kind::Engine, why))
    });
    match done {
        Ok(()) => DONE,
        Err(error) => {
            // SAFETY: the caller gives a place for the fault, which holds none yet.
            unsafe { fault.write(Fault::of(&error)) };
            FAILED
        }
    }
}

unsafe extern "C" fn schema(data: *mut c_void, table: Text, answer: *mut FFI_ArrowSchema, fault: *mut Fault) -> c_int {
    guarded(fault, || {
        // SAFETY: the data are those of `Host::of`, and the text lives as long as the call.
        let (source, table) = unsafe { (source(data), table.read()?.unwrap_or_default()) };
        let schema = FFI_ArrowSchema::try_from(source.schema(table)?.as_ref())?;
        // SAFETY: the caller gives a place for the schema.
        unsafe { answer.write(schema) };
        Ok(())
    })
}

unsafe extern "C" fn scan(
    data: *mut c_void,
    scan: *const Scan,
    answer: *mut FFI_ArrowArrayStream,
    fault: *mut Fault,
) -> c_int {
    guarded(fault, || {
        // SAFETY: the data are those of `Host::of`, and what the scan points to lives as long as the call.
        let (source, scan) = unsafe { (source(data), (*scan).read()?) };
        let rows = FFI_ArrowArrayStream::new(Box::new(Told(source.scan(&scan)?)));
        // SAFETY: the caller gives a place for the stream.
        unsafe { answer.write(rows) };
        Ok(())
    })
}

unsafe extern "C" fn is_cancelled(data: *mut c_void) -> c_int {
    // SAFETY: the data are those of `Host::of`.
    let source = unsafe { source(data) };
    let asked = catch_unwind(AssertUnwindSafe(|| source.is_cancelled()));
    c_int::from(asked.unwrap_or(true))
}

unsafe extern "C" fn release(data: *mut c_void) {
    // SAFETY: the data are those of `Host::of`, and this is called once, at the end.
    drop(unsafe { Box::from_raw(data.cast::<Source>()) });
}

/// # Safety
/// The data are those of `Host::of` and were not released.
unsafe fn source<'s>(data: *mut c_void) -> &'s Source {
    // SAFETY: as the caller promises.
    unsafe { &*data.cast::<Source>() }
}

impl Scan {
    /// # Safety
    /// What it points to is there.
    unsafe fn read(&self) -> Result<TableScan> {
        let columns = match self.column_count {
            0 => &[],
            // SAFETY: as the caller promises.
            count => unsafe { slice::from_raw_parts(self.columns, count) },
        };
        // SAFETY: as the caller promises.
        let (table, filter) = unsafe { (self.table.read()?, self.filter.read()?) };
        Ok(TableScan {
            table: table.unwrap_or_default().to_owned(),
            columns: columns.to_vec(),
            filter: filter.map(str::to_owned),
            limit: usize::try_from(self.limit).ok(),
        })
    }
}

/// The tables that a host lends.
pub(crate) struct Lent(Host);

// SAFETY: the functions of a host may be called by any thread, several at a time; `is_cancelled` is called where the query runs.
unsafe impl Send for Lent {}
// SAFETY: as above.
unsafe impl Sync for Lent {}

impl Lent {
    /// # Safety
    /// The host is one of [`Host::of`], perhaps of another build of this version, and is not used elsewhere.
    pub(crate) unsafe fn new(host: Host) -> Self {
        Self(host)
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        // SAFETY: nobody calls the host any more.
        unsafe { (self.0.release)(self.0.data) };
    }
}

impl TableSource for Lent {
    fn schema(&self, table: &str) -> Result<SchemaRef> {
        let (mut schema, mut fault) = (FFI_ArrowSchema::empty(), Fault::none());
        // SAFETY: the host is alive, and both places are there.
        let done = unsafe { (self.0.schema)(self.0.data, Text::of(table), &raw mut schema, &raw mut fault) };
        match done {
            DONE => Ok(Arc::new(Schema::try_from(&schema)?)),
            _ => Err(fault.into_error()),
        }
    }

    fn scan(&self, scan: &TableScan) -> Result<Box<dyn RecordBatchReader + Send>> {
        let request = Scan {
            table: Text::of(&scan.table),
            columns: scan.columns.as_ptr(),
            column_count: scan.columns.len(),
            filter: scan.filter.as_deref().map_or_else(Text::none, Text::of),
            limit: scan.limit.map_or(-1, |limit| i64::try_from(limit).unwrap_or(i64::MAX)),
        };
        let (mut rows, mut fault) = (FFI_ArrowArrayStream::empty(), Fault::none());
        // SAFETY: the host is alive, and so are the request and both places.
        let done = unsafe { (self.0.scan)(self.0.data, &raw const request, &raw mut rows, &raw mut fault) };
        match done {
            DONE => Ok(Box::new(Heard(ArrowArrayStreamReader::try_new(rows)?))),
            _ => Err(fault.into_error()),
        }
    }

    fn is_cancelled(&self) -> bool {
        // SAFETY: the host is alive.
        unsafe { (self.0.is_cancelled)(self.0.data) != 0 }
    }
}
