//! Arrow's rows as `LOAD DATA` and `INSERT` take them.
//!
//! A value is written only when the column holds exactly that value: a number of another type is converted, and refused where it would be
//! rounded or cut. What the server would take for another value, or cut with a warning, is looked for here too: digits behind the second,
//! texts that are no member of an `enum`.
//!
//! | | `LOAD DATA` | `INSERT` |
//! |---|---|---|
//! | between values, behind a row | a tab, a line's end | `,` and `)` |
//! | NULL | `\N` | `NULL` |
//! | numbers | `-1.5e0` | `-1.5e0` |
//! | dates and times | `2024-02-29` | `'2024-02-29'` |
//! | texts | with `\\`, `\t`, `\n` and `\0` | `'it\'s'` |
//! | bytes | hexadecimal digits, through `UNHEX` | `X'00ff'` |
//!
//! MySQL's manual, "LOAD DATA Statement" and "Literal Values".

mod cell;
mod number;
mod time;

use arrow_array::{Array, RecordBatch};
use arrow_buffer::NullBuffer;

use self::cell::{Cell, cell};
use crate::data_type::Type;
use crate::error::{Error, Misfit, Result};

/// A column that rows are for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) name: String,
    pub(crate) typ: Type,
    pub(crate) is_nullable: bool,
}

/// What rows are written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Syntax {
    /// The file of a LOAD DATA.
    File,
    /// The values of an INSERT.
    Insert,
}

/// The rows of a batch.
pub(crate) struct Encoder<'a> {
    columns: Vec<Column<'a>>,
    syntax: Syntax,
}

struct Column<'a> {
    nulls: Option<NullBuffer>,
    cell: Cell<'a>,
    target: &'a Target,
}

impl<'a> Encoder<'a> {
    /// Of a batch whose columns are those of the targets.
    pub(crate) fn new(batch: &'a RecordBatch, targets: &'a [Target], syntax: Syntax, place: &str) -> Result<Self> {
        let columns = batch.columns().iter().zip(targets).map(|(array, target)| {
            Ok(Column {
                nulls: array.logical_nulls(),
                cell: cell(array, &target.typ).ok_or_else(|| unsupported(array, target, place))?,
                target,
            })
        });
        Ok(Self {
            columns: columns.collect::<Result<_>>()?,
            syntax,
        })
    }

    /// Appends a row of the batch, which is the one with this number of all that are written.
    pub(crate) fn row(&self, row: usize, number: u64, place: &str, out: &mut Vec<u8>) -> Result<()> {
        if self.syntax == Syntax::Insert {
            out.push(b'(');
        }
        for (index, column) in self.columns.iter().enumerate() {
            if index > 0 {
                out.push(if self.syntax == Syntax::File { b'\t' } else { b',' });
            }
            let written = column.write(row, self.syntax, out);
            written.map_err(|misfit| misfit.at(place, number, &column.target.name))?;
        }
        out.push(if self.syntax == Syntax::File { b'\n' } else { b')' });
        Ok(())
    }
}

impl Column<'_> {
    fn write(&self, row: usize, syntax: Syntax, out: &mut Vec<u8>) -> Result<(), Misfit> {
        if self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
            if !self.target.is_nullable {
                return Err(Misfit::new("a value", "NULL, which the column does not take"));
            }
            out.extend_from_slice(if syntax == Syntax::File { b"\\N" } else { b"NULL" });
            return Ok(());
        }
        match (&self.cell, syntax) {
            (Cell::Number(write), _) | (Cell::Moment(write), Syntax::File) => write(row, out),
            (Cell::Moment(write), Syntax::Insert) => {
                out.push(b'\'');
                write(row, out)?;
                out.push(b'\'');
                Ok(())
            }
            (Cell::Text(text), Syntax::File) => {
                push_escaped(text(row)?.as_bytes(), out, |byte| match byte {
                    b'\\' => Some(b'\\'),
                    b'\t' => Some(b't'),
                    b'\n' => Some(b'n'),
                    0 => Some(b'0'),
                    _ => None,
                });
                Ok(())
            }
            (Cell::Text(text), Syntax::Insert) => {
                out.push(b'\'');
                push_escaped(text(row)?.as_bytes(), out, |byte| match byte {
                    b'\\' | b'\'' => Some(byte),
                    0 => Some(b'0'),
                    _ => None,
                });
                out.push(b'\'');
                Ok(())
            }
            (Cell::Bytes(bytes), Syntax::File) => {
                push_hexadecimal(bytes(row)?, out);
                Ok(())
            }
            (Cell::Bytes(bytes), Syntax::Insert) => {
                out.extend_from_slice(b"X'");
                push_hexadecimal(bytes(row)?, out);
                out.push(b'\'');
                Ok(())
            }
        }
    }
}

/// Whether values of an array's type can be written to a column of a type.
pub(crate) fn accepts(array: &dyn Array, typ: &Type) -> bool {
    cell(array, typ).is_some()
}

/// Appends bytes, some of which stand behind a backslash as another.
fn push_escaped(bytes: &[u8], out: &mut Vec<u8>, escape: impl Fn(u8) -> Option<u8>) {
    let mut rest = bytes;
    while let Some((at, escaped)) = rest
        .iter()
        .enumerate()
        .find_map(|(at, byte)| Some((at, escape(*byte)?)))
    {
        let (plain, behind) = rest.split_at_checked(at).unwrap_or((rest, &[]));
        out.extend_from_slice(plain);
        out.extend_from_slice(&[b'\\', escaped]);
        rest = behind.get(1..).unwrap_or_default();
    }
    out.extend_from_slice(rest);
}

fn push_hexadecimal(bytes: &[u8], out: &mut Vec<u8>) {
    let digit = |nibble: u8| if nibble < 10 { b'0' + nibble } else { b'a' + nibble - 10 };
    out.extend(bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 0xf)]));
}

fn unsupported(array: &dyn Array, target: &Target, place: &str) -> Error {
    Error::Unsupported {
        what: format!(
            "{place}: column {}: writing {} to a column of type {}",
            target.name,
            array.data_type(),
            target.typ
        ),
        hint: "cast it to the column's type".to_owned(),
    }
}

#[cfg(test)]
mod tests;
