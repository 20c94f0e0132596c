//! The widths of the text fields of a new xBase table.
//!
//! A character field has a fixed width, so that the source is read twice: first its text columns alone. A column becomes a character field
//! as wide as its longest value. It becomes a memo if a value is longer than a character field can be, ends with a blank, which a character
//! field does not keep, or has line breaks, which programs show in memos only; and if it has no text at all.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::{Array as _, ArrayRef};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use tidemill_xbase::{CodePage, FieldSpec};

use crate::answer::Answer;
use crate::format::Format;
use crate::location::{Location, Place};
use crate::sink::FileOptions;
use crate::{Result, Session, SessionOptions};

/// The widest character field of FoxPro and dBASE, in bytes.
const WIDEST: usize = 254;

/// The width of a memo field in the record.
const MEMO: usize = 10;

/// The longest record that FoxPro opens, in bytes.
const LONGEST_RECORD: usize = 65_500;

/// Text columns of which the values are measured.
struct TextWidths {
    columns: Vec<Column>,
    codepage: CodePage,
}

struct Column {
    place: usize,
    /// The width of the longest value so far, in bytes of the code page.
    longest: usize,
    is_memo: bool,
}

impl TextWidths {
    /// The text columns of a copy whose widths are not known; `None` if there are none, or for another format.
    fn of(destination: &Location, options: &FileOptions, schema: &Schema) -> Option<Self> {
        // A type that xBase lacks is refused later.
        if destination.format != Format::Xbase || FieldSpec::from_schema(schema).is_err() {
            return None;
        }
        let fields = schema.fields().iter().enumerate();
        let columns = fields.filter(|(_, field)| is_of_unknown_width(field));
        let columns = columns.map(|(place, _)| Column {
            place,
            longest: 0,
            is_memo: false,
        });
        let columns: Vec<_> = columns.collect();
        (!columns.is_empty()).then_some(Self {
            columns,
            codepage: options.codepage,
        })
    }

    /// The places of the columns in the schema.
    fn places(&self) -> Vec<usize> {
        self.columns.iter().map(|column| column.place).collect()
    }

    /// Measures the values of a batch that has these columns alone.
    fn add_columns(&mut self, columns: &[ArrayRef]) {
        let codepage = self.codepage;
        for (column, values) in self.columns.iter_mut().zip(columns) {
            match values.data_type() {
                DataType::Utf8 => column.add(values.as_string::<i32>().iter(), codepage),
                DataType::LargeUtf8 => column.add(values.as_string::<i64>().iter(), codepage),
                DataType::Utf8View => column.add(values.as_string_view().iter(), codepage),
                _ => column.is_memo = true,
            }
        }
    }

    /// Reads all rows, which have the measured columns alone.
    async fn read(mut self, mut rows: Answer) -> Result<Self> {
        while self.columns.iter().any(|column| !column.is_memo)
            && let Some(batch) = rows.next().await?
        {
            self.add_columns(batch.columns());
        }
        Ok(self)
    }

    /// The schema with the widths that were found, as the metadata that columns of xBase tables have.
    fn schema(mut self, schema: &Schema) -> Result<SchemaRef> {
        self.columns.retain(|column| !column.is_memo && column.longest > 0);
        // As if all text were in memos, then with the widths.
        let widths = schema.fields().iter();
        let widths = widths.map(|field| Ok(usize::from(FieldSpec::from_arrow(field)?.width)));
        let mut record = widths.sum::<Result<usize>>()?;
        record += self.columns.iter().map(|column| column.longest).sum::<usize>();
        record = record.saturating_sub(MEMO * self.columns.len());
        // The widest become memos until the record fits.
        self.columns.sort_by_key(|column| column.longest);
        while record > LONGEST_RECORD
            && let Some(widest) = self.columns.pop()
        {
            record = (record + MEMO).saturating_sub(widest.longest);
        }
        let widths: HashMap<usize, usize> = self
            .columns
            .iter()
            .map(|column| (column.place, column.longest))
            .collect();
        let fields = schema.fields().iter().enumerate().map(|(place, field)| {
            let Some(width) = widths.get(&place) else {
                return Arc::clone(field);
            };
            let mut metadata = field.metadata().clone();
            metadata.insert("xbase.type".to_owned(), "C".to_owned());
            metadata.insert("xbase.width".to_owned(), width.to_string());
            metadata.insert("xbase.decimals".to_owned(), "0".to_owned());
            Arc::new(field.as_ref().clone().with_metadata(metadata))
        });
        let fields: Vec<_> = fields.collect();
        Ok(Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone())))
    }
}

impl Column {
    fn add<'v>(&mut self, values: impl Iterator<Item = Option<&'v str>>, codepage: CodePage) {
        if self.is_memo {
            return;
        }
        for text in values.flatten() {
            let needs_memo = text.ends_with(' ') || text.bytes().any(|byte| byte < b' ');
            if text.len() > self.longest {
                self.longest = self.longest.max(width(text, codepage));
            }
            if needs_memo || self.longest > WIDEST {
                self.is_memo = true;
                return;
            }
        }
    }
}

/// The bytes of a text in a code page. A character that the code page lacks is refused when it is written.
fn width(text: &str, codepage: CodePage) -> usize {
    let mut bytes = Vec::new();
    match codepage.encode(text, &mut bytes) {
        Ok(()) => bytes.len(),
        Err(_) => text.chars().count(),
    }
}

/// Whether a column has text, and does not come from an xBase table.
fn is_of_unknown_width(field: &Field) -> bool {
    matches!(
        field.data_type(),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View
    ) && !field.metadata().contains_key("xbase.type")
}

/// How the rows of a copy are read a second time.
pub(crate) enum Again<'s> {
    Table(&'s Location, &'s SessionOptions),
    Query(&'s str, &'s SessionOptions),
}

impl Again<'_> {
    /// Some columns, by their places.
    async fn read(&self, session: &Session, places: &Vec<usize>) -> Result<Answer> {
        match *self {
            Self::Table(source, options) => session.read_columns_under(source, places, options).await,
            Self::Query(sql, options) => session.answer(sql, options).await?.projected(places),
        }
    }
}

impl Session {
    /// Gives the text columns of an answer the widths of their longest values, if the destination has fields of fixed width. Standard input
    /// cannot be read twice: its text is stored in memos.
    pub(super) async fn with_text_widths(
        &self,
        answer: Answer,
        again: &Again<'_>,
        destination: &Location,
        options: &FileOptions,
    ) -> Result<Answer> {
        let schema = answer.schema();
        let is_read_once = matches!(again, Again::Table(source, _) if source.place == Place::StandardInput);
        match TextWidths::of(destination, options, &schema) {
            Some(widths) if !is_read_once => {
                let rows = again.read(self, &widths.places()).await?;
                Ok(answer.under(widths.read(rows).await?.schema(&schema)?))
            }
            _ => Ok(answer),
        }
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::{RecordBatch, StringArray, StringViewArray};

    use super::*;

    #[test]
    fn text_gets_the_width_of_its_longest_value() {
        let long = "x".repeat(255);
        let columns: [(&str, ArrayRef, Option<&str>); 7] = [
            (
                "word",
                Arc::new(StringArray::from(vec![Some("ab"), None, Some("abc")])),
                Some("3"),
            ),
            (
                "letters",
                Arc::new(StringViewArray::from(vec!["é", "ä", "öü"])),
                Some("2"),
            ),
            ("empty", Arc::new(StringArray::from(vec![Some(""), None, None])), None),
            ("blank", Arc::new(StringArray::from(vec!["a ", "b", "c"])), None),
            ("lines", Arc::new(StringArray::from(vec!["a\nb", "b", "c"])), None),
            ("long", Arc::new(StringArray::from(vec!["a", long.as_str(), "c"])), None),
            (
                "most",
                Arc::new(StringArray::from(vec!["a", &long[1..], "c"])),
                Some("254"),
            ),
        ];
        let batch = RecordBatch::try_from_iter(columns.iter().map(|(name, values, _)| (*name, Arc::clone(values))));
        let batch = batch.expect("a batch");
        let destination = Location::new_file(std::path::Path::new("x.dbf")).expect("a location");
        let widths = TextWidths::of(&destination, &FileOptions::default(), &batch.schema());
        let mut widths = widths.expect("text");
        widths.add_columns(batch.columns());
        let schema = widths.schema(&batch.schema()).expect("widths");
        for (field, (name, _, width)) in schema.fields().iter().zip(&columns) {
            let found = field.metadata().get("xbase.width").map(String::as_str);
            assert_eq!(found, *width, "{name}");
        }
    }

    #[test]
    fn records_stay_short_enough() {
        let text = "x".repeat(254);
        let columns = (0..300).map(|place| {
            let values: ArrayRef = Arc::new(StringArray::from(vec![&text[place % 7..]]));
            (format!("c{place}"), values)
        });
        let batch = RecordBatch::try_from_iter(columns).expect("a batch");
        let destination = Location::new_file(std::path::Path::new("x.dbf")).expect("a location");
        let widths = TextWidths::of(&destination, &FileOptions::default(), &batch.schema());
        let mut widths = widths.expect("text");
        widths.add_columns(batch.columns());
        let schema = widths.schema(&batch.schema()).expect("widths");
        let fields = FieldSpec::from_schema(&schema).expect("fields");
        let bytes: usize = fields.iter().map(|field| usize::from(field.width)).sum();
        assert!((LONGEST_RECORD - 300..=LONGEST_RECORD).contains(&bytes), "{bytes}");
        assert!(fields.iter().any(|field| field.letter == 'M'));
    }
}
