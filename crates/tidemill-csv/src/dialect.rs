//! How one file is written.

use std::fmt;

use arrow_schema::SchemaRef;

use crate::{Encoding, Packing};

/// How one file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dialect {
    /// What compresses it as a whole.
    pub packing: Packing,
    /// How its letters are stored.
    pub encoding: Encoding,
    /// The byte between two values.
    pub delimiter: u8,
    /// The byte around values that have delimiters or ends of lines in them.
    pub quote: Option<u8>,
    /// Whether the first line is `sep=;`, by which Excel is told the delimiter. It is no record.
    pub has_sep_line: bool,
    /// Whether the first record has the names of the columns.
    pub has_header: bool,
    /// The byte before the fraction of a number.
    pub decimal: u8,
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.delimiter {
            b'\t' => f.write_str("delimiter tab")?,
            delimiter => write!(f, "delimiter {}", char::from(delimiter))?,
        }
        match self.quote {
            Some(b'"') => {}
            Some(quote) => write!(f, ", quote {}", char::from(quote))?,
            None => f.write_str(", no quotes")?,
        }
        if self.decimal == b',' {
            f.write_str(", decimal comma")?;
        }
        if self.has_sep_line {
            f.write_str(", sep= line")?;
        }
        f.write_str(if self.has_header { ", header" } else { ", no header" })?;
        write!(f, ", {}", self.encoding)?;
        match self.packing {
            Packing::None => Ok(()),
            packing => write!(f, ", {}", packing.name()),
        }
    }
}

/// What the beginning of a file shows.
#[derive(Debug, Clone)]
pub struct Look {
    /// How it is written.
    pub dialect: Dialect,
    /// Its columns: names that differ from each other, and types that hold the values which were looked at.
    pub columns: SchemaRef,
    /// Whether a column has a value among those that were looked at.
    pub has_values: Vec<bool>,
    /// Where the text behind the header begins: parts of a file that [divides](crate::divides) are parts of what follows.
    pub begin: u64,
}
