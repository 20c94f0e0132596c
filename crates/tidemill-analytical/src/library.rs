//! The engine as the host has it: a library that is loaded when it is first needed.

#![expect(unsafe_code, reason = "loads another library and calls it")]

use std::fmt;
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::RecordBatchReader as _;
use arrow_array::ffi_stream::{ArrowArrayStreamReader, FFI_ArrowArrayStream};
use tidemill_ads::sql::{Analytical, AnalyticalQuery, Error, Kind, Result, Rows, TableSource};

use crate::abi::{DONE, ENTRY, Entry, Fault, Host, OTHER_VERSION, Text, VERSION};
use crate::fault::Heard;

/// Why a library is not an engine.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// It cannot be loaded.
    #[error("{} cannot be loaded: {source}", path.display())]
    Load {
        /// The file.
        path: PathBuf,
        /// What the loader says.
        source: libloading::Error,
    },
    /// It is another library.
    #[error("{} has no {ENTRY}", path.display())]
    NoEntry {
        /// The file.
        path: PathBuf,
    },
}

/// An engine in a library, which stays loaded.
pub struct Engine {
    path: PathBuf,
    entry: Entry,
    /// It has threads, whose code must not go. None where the function is the program's own.
    _library: Option<ManuallyDrop<libloading::Library>>,
}

impl Engine {
    /// Loads a library.
    ///
    /// # Errors
    /// [`LoadError`].
    pub fn load(path: &Path) -> Result<Self, LoadError> {
        // SAFETY: what a library does when it is loaded is its affair; it is the file that the program names.
        let library = unsafe { libloading::Library::new(path) };
        let library = library.map_err(|source| LoadError::Load {
            path: path.to_owned(),
            source,
        })?;
        // SAFETY: the function of this name has this type in all versions.
        let entry = unsafe { library.get::<Entry>(ENTRY.as_bytes()) };
        let entry = entry
            .map(|entry| *entry)
            .map_err(|_| LoadError::NoEntry { path: path.to_owned() })?;
        Ok(Self {
            path: path.to_owned(),
            entry,
            _library: Some(ManuallyDrop::new(library)),
        })
    }

    /// The rows of a query over tables that are lent for it.
    ///
    /// # Errors
    /// What the engine or the tables say; [`Kind::NeedsAnalytical`] for an engine of another version.
    pub fn query(&self, text: &str, tables: Arc<dyn TableSource>) -> Result<Heard> {
        let mut host = ManuallyDrop::new(Host::of(tables));
        let (mut answer, mut fault) = (FFI_ArrowArrayStream::empty(), Fault::none());
        // SAFETY: the function is that of an engine, which takes the host over; text and places live as long as the call.
        let done = unsafe { (self.entry)(VERSION, Text::of(text), &raw mut *host, &raw mut answer, &raw mut fault) };
        match done {
            DONE => Ok(Heard(ArrowArrayStreamReader::try_new(answer)?)),
            OTHER_VERSION => {
                // SAFETY: an engine of another version has not touched the host.
                unsafe { (host.release)(host.data) };
                let path = self.path.display();
                let why =
                    format!("{path} is of another version than this library, whose interface has version {VERSION}");
                Err(Error::new(Kind::NeedsAnalytical, why))
            }
            _ => Err(fault.into_error()),
        }
    }
}

impl Analytical for Engine {
    fn run(&self, query: Arc<AnalyticalQuery>) -> Result<Rows> {
        let text = query.text().to_owned();
        let answer = self.query(&text, query)?;
        let schema = answer.schema();
        Ok(Rows::of_batches(&schema, answer.collect::<Result<_, _>>()?))
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Engine").field(&self.path).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::c_int;

    use arrow_array::{Int64Array, RecordBatch, RecordBatchIterator, RecordBatchReader};
    use arrow_schema::{DataType, Field, Schema, SchemaRef};
    use tidemill_ads::sql::TableScan;

    use super::*;

    /// Tables of one column, in which the number of each row's place stands.
    struct Numbers;

    fn schema() -> SchemaRef {
        let metadata = [("ads.records".to_owned(), "10".to_owned())].into();
        Arc::new(Schema::new(vec![Field::new("n", DataType::Int64, true)]).with_metadata(metadata))
    }

    impl TableSource for Numbers {
        fn schema(&self, table: &str) -> Result<SchemaRef> {
            match table {
                "größen" => Ok(schema()),
                "panic" => panic!("a defect"),
                _ => Err(Error::new(Kind::NoTable, format!("no table {table}"))),
            }
        }

        fn scan(&self, scan: &TableScan) -> Result<Box<dyn RecordBatchReader + Send>> {
            assert_eq!((scan.table.as_str(), scan.columns.as_slice()), ("größen", &[0, 0][..]));
            assert_eq!(scan.filter.as_deref(), Some("\"n\" < 3"));
            let limit = i64::try_from(scan.limit.unwrap_or(5)).unwrap_or(0);
            let column = Arc::new(Int64Array::from_iter_values(0..limit));
            let fields = Schema::new(vec![
                Field::new("n", DataType::Int64, true),
                Field::new("m", DataType::Int64, true),
            ]);
            let batch = RecordBatch::try_new(Arc::new(fields), vec![column.clone(), column])?;
            let schema = batch.schema();
            Ok(Box::new(RecordBatchIterator::new([Ok(batch)], schema)))
        }

        fn is_cancelled(&self) -> bool {
            true
        }
    }

    /// An engine whose queries are the names of tables, with a limit behind a blank perhaps.
    unsafe extern "C" fn entry(
        version: u32,
        text: Text,
        host: *mut Host,
        answer: *mut FFI_ArrowArrayStream,
        fault: *mut Fault,
    ) -> c_int {
        let run = |text: &str, tables: Arc<dyn TableSource>| {
            assert!(tables.is_cancelled());
            let (table, limit) = text.split_once(' ').unwrap_or((text, ""));
            assert_eq!(tables.schema(table)?, schema());
            tables.scan(&TableScan {
                table: table.to_owned(),
                columns: vec![0, 0],
                filter: Some("\"n\" < 3".to_owned()),
                limit: limit.parse().ok(),
            })
        };
        // SAFETY: the arguments are those of `Engine::query`.
        unsafe { crate::answer(version, text, host, answer, fault, run) }
    }

    unsafe extern "C" fn another(_: u32, _: Text, _: *mut Host, _: *mut FFI_ArrowArrayStream, _: *mut Fault) -> c_int {
        OTHER_VERSION
    }

    fn engine(entry: Entry) -> Engine {
        Engine {
            path: PathBuf::from("lib.so"),
            entry,
            _library: None,
        }
    }

    #[test]
    fn tables_and_rows_go_over_and_are_given_back() {
        for (text, rows) in [("größen", 5), ("größen 0", 0), ("größen 3", 3)] {
            let tables: Arc<dyn TableSource> = Arc::new(Numbers);
            let answer = engine(entry).query(text, Arc::clone(&tables)).expect("an answer");
            assert_eq!(answer.schema().field(1).name(), "m");
            let found: usize = answer.map(|batch| batch.expect("a batch").num_rows()).sum();
            assert_eq!(found, rows);
            assert_eq!(Arc::strong_count(&tables), 1, "the host was released");
        }
    }

    #[test]
    fn faults_and_panics_of_either_side_are_errors() {
        let fault = |text: &str| {
            engine(entry)
                .query(text, Arc::new(Numbers))
                .map(drop)
                .expect_err("a fault")
        };
        let missing = fault("nothing");
        assert_eq!(
            (missing.kind(), missing.message()),
            (&Kind::NoTable, "no table nothing")
        );
        assert_eq!(*fault("panic").kind(), Kind::Engine);
    }

    #[test]
    fn another_version_is_refused_and_gives_the_tables_back() {
        let tables: Arc<dyn TableSource> = Arc::new(Numbers);
        let refused = engine(another)
            .query("größen", Arc::clone(&tables))
            .map(drop)
            .expect_err("another version");
        assert_eq!(*refused.kind(), Kind::NeedsAnalytical);
        assert!(
            refused.message().starts_with("lib.so is of another version"),
            "{refused}"
        );
        assert_eq!(Arc::strong_count(&tables), 1);

        let mut host = ManuallyDrop::new(Host::of(Arc::clone(&tables)));
        let (mut answer, mut fault) = (FFI_ArrowArrayStream::empty(), Fault::none());
        // SAFETY: the arguments are those of a host of a later version.
        let done = unsafe {
            entry(
                VERSION + 1,
                Text::of(""),
                &raw mut *host,
                &raw mut answer,
                &raw mut fault,
            )
        };
        assert_eq!(done, OTHER_VERSION);
        // SAFETY: the host was not taken over.
        unsafe { (host.release)(host.data) };
    }

    #[test]
    fn a_file_that_is_no_engine_is_named() {
        let missing = Engine::load(Path::new("/nowhere/libtidemill_adbc.so")).expect_err("no such file");
        assert!(
            missing
                .to_string()
                .starts_with("/nowhere/libtidemill_adbc.so cannot be loaded: "),
            "{missing}"
        );
        if cfg!(all(target_os = "linux", target_env = "gnu")) {
            let other = Engine::load(Path::new("libc.so.6")).expect_err("another library");
            assert_eq!(other.to_string(), "libc.so.6 has no TidemillAnalyticalQuery");
        }
    }
}
