//! The cells of a sheet, one after the other.

use std::io::{BufReader, Read, Seek};
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};

use calamine::{Data, Reader, Xls, Xlsx};

use crate::check;
use crate::error::{Error, Result};

/// A workbook that is open.
pub struct Workbook<R: Read + Seek>(Kind<R>);

enum Kind<R: Read + Seek> {
    Xlsx(Box<Xlsx<BufReader<R>>>),
    Xls(Box<Xls<BufReader<R>>>),
}

/// A cell: row, column, value.
pub(crate) type Cell = (u32, u32, Data);

impl<R: Read + Seek> Workbook<R> {
    /// Opens a file, whose first bytes tell whether it is of Excel 2007 and later or of Excel 97. `max_held` are the bytes of memory that
    /// texts, styles and the cells of `.xls` sheets may take.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`], [`Error::TooLarge`].
    pub fn open(mut file: R, max_held: u64) -> Result<Self> {
        file.rewind().map_err(damaged)?;
        let mut beginning = [0; 4];
        let mut filled = 0;
        while filled < beginning.len() {
            match file.read(&mut beginning[filled..]).map_err(damaged)? {
                0 => break,
                read => filled += read,
            }
        }
        let is_archive = beginning == *b"PK\x03\x04";
        file.rewind().map_err(damaged)?;
        unwinding(|| match is_archive {
            true => check::archive(BufReader::new(&mut file), max_held),
            false => check::compound_file(BufReader::new(&mut file), max_held),
        })?;
        file.rewind().map_err(damaged)?;
        let file = BufReader::new(file);
        unwinding(|| {
            Ok(Self(match is_archive {
                true => Kind::Xlsx(Box::new(Xlsx::new(file).map_err(damaged)?)),
                false => Kind::Xls(Box::new(Xls::new(file).map_err(damaged)?)),
            }))
        })
    }

    /// The names of the sheets, in their order.
    pub fn sheets(&self) -> Vec<String> {
        match &self.0 {
            Kind::Xlsx(workbook) => workbook.sheet_names(),
            Kind::Xls(workbook) => workbook.sheet_names(),
        }
    }

    /// The number, from 0, of a sheet that is named, in any case, or numbered from 1.
    ///
    /// # Errors
    ///
    /// [`Error::NoSheet`].
    pub fn sheet(&self, wanted: &str) -> Result<usize> {
        let sheets = self.sheets();
        let named = sheets
            .iter()
            .position(|name| name.to_lowercase() == wanted.to_lowercase());
        let numbered = || {
            wanted
                .parse::<usize>()
                .ok()?
                .checked_sub(1)
                .filter(|number| *number < sheets.len())
        };
        named.or_else(numbered).ok_or_else(|| Error::NoSheet {
            wanted: wanted.to_owned(),
            sheets: sheets.clone(),
        })
    }

    /// Gives the cells of a sheet that are not empty, row by row, until `take` has enough.
    pub(crate) fn each_cell(&mut self, sheet: usize, take: &mut dyn FnMut(Cell) -> ControlFlow<()>) -> Result<()> {
        let sheets = self.sheets();
        let name = sheets.get(sheet).ok_or_else(|| Error::NoSheet {
            wanted: (sheet + 1).to_string(),
            sheets: sheets.clone(),
        })?;
        unwinding(|| self.each_cell_of(name, take))
    }

    fn each_cell_of(&mut self, name: &str, take: &mut dyn FnMut(Cell) -> ControlFlow<()>) -> Result<()> {
        match &mut self.0 {
            // Cell by cell: what a sheet says of its size is not believed.
            Kind::Xlsx(workbook) => {
                let mut cells = workbook.worksheet_cells_reader(name).map_err(damaged)?;
                while let Some(cell) = cells.next_cell().map_err(damaged)? {
                    let (row, column) = cell.get_position();
                    let value = Data::from(cell.get_value().clone());
                    if value != Data::Empty && take((row, column, value)).is_break() {
                        break;
                    }
                }
            }
            // At most 65,536 rows of 256 columns.
            Kind::Xls(workbook) => {
                let range = workbook.worksheet_range(name).map_err(damaged)?;
                let (first_row, first_column) = range.start().unwrap_or_default();
                for (row, column, value) in range.used_cells() {
                    let place = |first: u32, at: usize| first.saturating_add(u32::try_from(at).unwrap_or(u32::MAX));
                    let cell = (place(first_row, row), place(first_column, column), value.clone());
                    if take(cell).is_break() {
                        break;
                    }
                }
            }
        }
        Ok(())
    }
}

/// A panic of a reader as an error.
fn unwinding<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|cause| {
        let words = cause.downcast_ref::<String>().map(String::as_str);
        let words = words.or_else(|| cause.downcast_ref::<&str>().copied());
        Err(damaged(words.unwrap_or("its reader failed")))
    })
}

fn damaged(error: impl std::fmt::Display) -> Error {
    Error::Damaged(error.to_string())
}
