//! A workbook of one sheet.

use std::io::Write;
use std::path::Path;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use tidemill_excel::SheetWriter;

use super::Sink;
use super::moments::check_moments;
use crate::uuid_text::with_uuids_as_text;
use crate::{Error, Result};

pub(super) struct ExcelSink<W: Write> {
    writer: SheetWriter,
    out: W,
    place: String,
}

impl<W: Write> ExcelSink<W> {
    pub(super) fn new(schema: &SchemaRef, path: &Path, out: W) -> Result<Self> {
        let place = path.display().to_string();
        let is_new = path
            .extension()
            .is_some_and(|extension| extension.eq_ignore_ascii_case("xlsx"));
        if !is_new {
            return Err(Error::Unsupported {
                what: format!("{place}: writing a workbook of this kind"),
                hint: "name it .xlsx".to_owned(),
            });
        }
        let columns = with_uuids_as_text(&RecordBatch::new_empty(SchemaRef::clone(schema)))?.schema();
        Ok(Self {
            writer: SheetWriter::new(&columns).map_err(Error::excel(&place))?,
            out,
            place,
        })
    }
}

impl<W: Write + Send> Sink for ExcelSink<W> {
    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        check_moments(batch)?;
        let batch = with_uuids_as_text(batch)?;
        self.writer.write(&batch).map_err(Error::excel(&self.place))
    }

    fn finish(self: Box<Self>) -> Result<()> {
        let Self { writer, out, place } = *self;
        writer.finish(out).map(drop).map_err(Error::excel(place))
    }
}
