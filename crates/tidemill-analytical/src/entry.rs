//! The function that an engine exports.

#![expect(unsafe_code, reason = "takes what another library hands over")]

use std::ffi::c_int;
use std::sync::Arc;

use arrow_array::RecordBatchReader;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use tidemill_ads::sql::{Error, Kind, Result, TableSource};

use crate::abi::{Fault, Host, OTHER_VERSION, Text, VERSION};
use crate::fault::Told;
use crate::tables::{Lent, guarded};

/// Answers a query that came over the interface by `run`, which is given its text and its tables. Returns what the exported
/// function is to return.
///
/// # Safety
/// The arguments are those with which a host of [`Engine`](crate::Engine) called the exported function.
pub unsafe fn answer(
    version: u32,
    text: Text,
    host: *mut Host,
    answer: *mut FFI_ArrowArrayStream,
    fault: *mut Fault,
    run: impl FnOnce(&str, Arc<dyn TableSource>) -> Result<Box<dyn RecordBatchReader + Send>>,
) -> c_int {
    if version != VERSION {
        // The other arguments may have another layout in that version: do not touch them.
        return OTHER_VERSION;
    }
    // SAFETY: the caller hands the host over.
    let tables = unsafe { Lent::new(host.read()) };
    guarded(fault, || {
        // SAFETY: the text lives as long as the call.
        let text = unsafe { text.read()? };
        let text = text.ok_or_else(|| Error::new(Kind::Syntax, "There is no statement"))?;
        let rows = FFI_ArrowArrayStream::new(Box::new(Told(run(text, Arc::new(tables))?)));
        // SAFETY: the caller gives a place for the stream.
        unsafe { answer.write(rows) };
        Ok(())
    })
}
