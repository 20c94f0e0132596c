//! What can be wrong with a workbook.

/// The result of this crate's operations.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a workbook could not be read or written. It does not name the file, which only the caller knows.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file is no workbook, or a damaged one.
    #[error("a workbook that cannot be read: {0}")]
    Damaged(String),
    /// The workbook would take more memory than it may.
    #[error("the workbook needs more than {limit} bytes of memory")]
    TooLarge {
        /// How many bytes it may take.
        limit: u64,
    },
    /// A sheet that the workbook has not.
    #[error("sheet {wanted} not found; the sheets are {}", sheets.join(", "))]
    NoSheet {
        /// Its name or number.
        wanted: String,
        /// The names that there are.
        sheets: Vec<String>,
    },
    /// What a sheet cannot hold.
    #[error("{what}; {hint}")]
    Unwritable {
        /// The column or the row, and what is in it.
        what: String,
        /// The next thing to try.
        hint: &'static str,
    },
    /// The file could not be written.
    #[error("{0}")]
    Write(#[from] rust_xlsxwriter::XlsxError),
    /// Arrow refused an array.
    #[error("{0}")]
    Arrow(#[from] arrow_schema::ArrowError),
}
