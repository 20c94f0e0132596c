//! Arrow's rows as `COPY … FROM STDIN (FORMAT binary)` takes them.
//!
//! A value is sent as the column's type is, and only when the column holds exactly that value: a number of another type is converted, and
//! refused where it would be rounded or cut. The format is that of `decode`.

mod bytea;
mod cell;
mod limit;
mod number;
mod time;

use arrow_array::{Array, RecordBatch};
use arrow_buffer::NullBuffer;

pub(crate) use self::bytea::push_hex;
pub(crate) use self::cell::{Cell, cell, element_number, shown};
pub(crate) use self::limit::Limit;
use crate::data_type::Type;
use crate::error::{Error, Misfit, Result};

/// A column that rows are for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) name: String,
    pub(crate) typ: Type,
    pub(crate) is_nullable: bool,
    /// What the column keeps of the values of its type.
    pub(crate) limit: Option<Limit>,
}

/// What stands in front of the first row.
pub(crate) const HEADER: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";
/// What stands behind the last.
pub(crate) const TRAILER: &[u8] = &[0xff, 0xff];

/// Appends a batch's rows, whose columns are those of the targets. `before` rows were written.
pub(crate) fn encode(
    batch: &RecordBatch,
    targets: &[Target],
    place: &str,
    before: u64,
    out: &mut Vec<u8>,
) -> Result<()> {
    let mut columns = Vec::with_capacity(targets.len());
    for (array, target) in batch.columns().iter().zip(targets) {
        columns.push(Column {
            nulls: array.logical_nulls(),
            cell: cell(array, &target.typ).ok_or_else(|| unsupported(array, target, place))?,
            target,
        });
    }
    // A row has at most 1600 columns, which the server has checked.
    let count = i16::try_from(columns.len()).unwrap_or(i16::MAX).to_be_bytes();
    for row in 0..batch.num_rows() {
        out.extend_from_slice(&count);
        for column in &columns {
            column.write(row, out).map_err(|misfit| {
                let row = before.saturating_add(row as u64).saturating_add(1);
                misfit.at(place, row, &column.target.name)
            })?;
        }
    }
    Ok(())
}

/// Whether values of an array's type can be written to a column of a type.
pub(crate) fn accepts(array: &dyn Array, typ: &Type) -> bool {
    cell(array, typ).is_some()
}

struct Column<'a> {
    nulls: Option<NullBuffer>,
    cell: Cell<'a>,
    target: &'a Target,
}

impl Column<'_> {
    fn write(&self, row: usize, out: &mut Vec<u8>) -> Result<(), Misfit> {
        let is_null = self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row));
        match (is_null, self.target.is_nullable) {
            (false, _) => measured(out, |out| {
                let begin = out.len();
                (self.cell)(row, out)?;
                match &self.target.limit {
                    Some(limit) => limit.check(out.get(begin..).unwrap_or_default()),
                    None => Ok(()),
                }
            }),
            (true, true) => {
                out.extend_from_slice(&NULL);
                Ok(())
            }
            (true, false) => Err(Misfit::new("a value", "NULL, which the column does not take")),
        }
    }
}

/// Writes a value behind its length.
pub(crate) fn measured(
    out: &mut Vec<u8>,
    write: impl FnOnce(&mut Vec<u8>) -> Result<(), Misfit>,
) -> Result<(), Misfit> {
    let begin = out.len();
    out.extend_from_slice(&NULL);
    write(out)?;
    let size = out.len() - begin - NULL.len();
    let Some(length) = i32::try_from(size).ok().filter(|length| *length < LARGEST_FIELD) else {
        return Err(Misfit::new("a value of less than 1 GiB", format!("{size} bytes")));
    };
    if let Some(place) = out.get_mut(begin..begin + NULL.len()) {
        place.copy_from_slice(&length.to_be_bytes());
    }
    Ok(())
}

fn unsupported(array: &dyn Array, target: &Target, place: &str) -> Error {
    unsupported_cell(array, &target.name, &target.typ, place)
}

pub(crate) fn unsupported_cell(array: &dyn Array, name: &str, typ: &Type, place: &str) -> Error {
    Error::Unsupported {
        what: format!(
            "{place}: column {name}: writing {} to a column of type {typ}",
            array.data_type()
        ),
        hint: "cast it to the column's type".to_owned(),
    }
}

const NULL: [u8; 4] = (-1_i32).to_be_bytes();
/// `MaxAllocSize` in PostgreSQL's `memutils.h`.
const LARGEST_FIELD: i32 = 0x3fff_ffff;

#[cfg(test)]
mod tests;
