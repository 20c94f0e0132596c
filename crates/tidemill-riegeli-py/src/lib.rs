//! The native half of the Python package `tidemill_riegeli`: classes with the names of the C++ library's Python API over
//! [`tidemill_riegeli`].
//!
//! Files are read at positions, and no thread is left running between two calls, so a handle works in a process that was
//! forked from the one that opened it. The interpreter is released wherever a file is touched or a chunk is decoded; a
//! record that lies in the decoded chunk is handed out at once, since giving the interpreter away for a copy of some bytes
//! would cost more than the copy.
//!
//! Locks are held only by who holds the interpreter, and never while it is released or Python code runs. A thread that forks
//! holds the interpreter, so no lock is held in the child.
//!
//! Source of names and behaviours: google/riegeli, `python/riegeli/records/`. Not here: what needs the protobuf package,
//! which is written in Python beside this (`python/tidemill_riegeli/`).

mod array_record_reader;
mod array_record_writer;
mod chunk_cache;
mod destination;
mod error;
mod file_writer;
mod flush_type;
mod fork;
mod handle;
mod input;
mod object_source;
mod output;
mod record_batches;
mod record_data_source;
mod record_iter;
mod record_position;
mod record_reader;
mod record_writer;
mod records_metadata;
mod recovery;
mod search;
mod skipped_region;
mod tfrecord_reader;
mod tfrecord_writer;

use pyo3::prelude::*;

/// Classes of Riegeli/records files; `tidemill_riegeli` has them all.
#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::{
        array_record_reader::ArrayRecordReader, array_record_writer::ArrayRecordWriter, error::RiegeliError,
        flush_type::FlushType, fork::forked, record_batches::RecordBatches, record_data_source::RecordDataSource,
        record_iter::RecordIter, record_position::RecordPosition, record_reader::RecordReader,
        record_writer::RecordWriter, records_metadata::RecordsMetadata, skipped_region::SkippedRegion,
        tfrecord_reader::PyTfRecordReader, tfrecord_writer::PyTfRecordWriter,
    };
    use pyo3::{prelude::*, types::PyModule};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::error::declare(module)?;
        module.add("EXISTENCE_ONLY", tidemill_riegeli::Field::EXISTENCE_ONLY)
    }
}
