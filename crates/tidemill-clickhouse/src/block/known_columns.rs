//! The columns of the last block. Those of the next one are most often the same, so that their types need not be parsed, nor
//! their fields and schema made again.

use std::sync::Arc;

use arrow_array::{ArrayRef, new_empty_array};
use arrow_schema::{FieldRef, Schema, SchemaRef};

use super::{MAX_NAME, MAX_TYPE};
use crate::{
    DataType, Result,
    arrow_type::{StringType, arrow_type_in, field_of},
    column::{Input, NO_TEXT, as_text},
    wire::put_string,
};

/// The columns of a block that was decoded before.
#[derive(Debug, Default)]
pub(crate) struct KnownColumns {
    columns: Vec<KnownColumn>,
    schema: Option<SchemaRef>,
    /// What strings became.
    strings: StringType,
    /// The time zone of instants without one of their own.
    session_zone: Option<Arc<str>>,
}

#[derive(Debug)]
pub(super) struct KnownColumn {
    /// The name and the type as they came, with their lengths.
    head: Vec<u8>,
    pub(super) name: String,
    pub(super) data_type: DataType,
    /// Of a column with rows: types such as `Dynamic` show in them alone what they are in Arrow.
    field: Option<FieldRef>,
    empty: Option<ArrayRef>,
    /// What the column's strings are in all blocks, where their content decides and rows have come.
    content: Option<StringType>,
    /// Whether it does.
    is_by_content: bool,
}

impl KnownColumns {
    /// Begins a block. Columns whose strings became something else are not known.
    pub(super) fn begin(&mut self, strings: StringType) {
        if self.strings != strings {
            *self = Self {
                strings,
                session_zone: self.session_zone.take(),
                ..Self::default()
            };
        }
    }

    /// Begins a file or an answer, whose strings are what their content says: that of the last one says nothing of it.
    pub(crate) fn forget_content(&mut self) {
        if self.strings == StringType::ByContent {
            self.begin(StringType::Utf8);
        }
    }

    /// Puts instants without a time zone of their own into this one. `None`: UTC.
    pub(crate) fn set_session_zone(&mut self, zone: Option<&str>) {
        if self.session_zone.as_deref() != zone {
            *self = Self {
                strings: self.strings,
                session_zone: zone.map(Into::into),
                ..Self::default()
            };
        }
    }

    pub(super) fn session_zone(&self) -> Option<Arc<str>> {
        self.session_zone.clone()
    }

    pub(super) fn len(&self) -> usize {
        self.columns.len()
    }

    /// Reads the name and the type of column `at`, those before it having been read.
    pub(super) async fn read(&mut self, input: &mut Input<'_>, at: usize) -> Result<&mut KnownColumn> {
        if !self.columns.get(at).is_some_and(|column| input.skip(&column.head)) {
            let mut column = KnownColumn::read(input).await?;
            column.is_by_content = self.strings == StringType::ByContent;
            self.schema = None;
            self.columns.truncate(at);
            self.columns.push(column);
        }
        Ok(&mut self.columns[at])
    }

    /// The schema of the block of these arrays, all of whose columns have been read.
    pub(super) fn schema(&mut self, arrays: &[ArrayRef]) -> SchemaRef {
        // As after the rows of an answer: those of the next may be the same.
        if arrays.is_empty() {
            return Arc::new(Schema::empty());
        }
        if self.columns.len() != arrays.len() {
            self.schema = None;
            self.columns.truncate(arrays.len());
        }
        for (column, array) in self.columns.iter_mut().zip(arrays) {
            if column
                .field
                .as_ref()
                .is_none_or(|field| field.data_type() != array.data_type())
            {
                column.field = Some(Arc::new(field_of(
                    &*column.name,
                    &column.data_type,
                    array.data_type().clone(),
                )));
                self.schema = None;
            }
        }
        let fields = self.columns.iter().filter_map(|column| column.field.clone());
        Arc::clone(
            self.schema
                .get_or_insert_with(|| Arc::new(Schema::new(fields.collect::<Vec<_>>()))),
        )
    }
}

impl KnownColumn {
    async fn read(input: &mut Input<'_>) -> Result<Self> {
        let mut head = Vec::new();
        let name = input.text("the name of a column", MAX_NAME).await?;
        let text = input.text("the type of a column", MAX_TYPE).await;
        let text = text.map_err(|error| error.in_column(&name))?;
        put_string(&mut head, &name);
        put_string(&mut head, &text);
        Ok(Self {
            head,
            data_type: text.parse().map_err(|error: crate::Error| error.in_column(&name))?,
            name,
            field: None,
            empty: None,
            content: None,
            is_by_content: false,
        })
    }

    /// The values, whose strings are [`ArrowType::Binary`](arrow_schema::DataType::Binary), as text if the first ones were text.
    pub(super) fn by_content(&mut self, input: &Input<'_>, array: ArrayRef) -> Result<ArrayRef> {
        if self.content == Some(StringType::Binary) {
            return Ok(array);
        }
        if self.content.is_none() {
            self.empty = None;
        }
        match (as_text(&self.data_type, &array), self.content) {
            (Ok(text), _) => {
                self.content = Some(StringType::Utf8);
                Ok(text)
            }
            (Err(_), None) => {
                self.content = Some(StringType::Binary);
                Ok(array)
            }
            (Err(error), Some(_)) => {
                Err(input.error("strings of a column that began as text", NO_TEXT, error.to_string()))
            }
        }
    }

    /// The column without rows.
    pub(super) fn empty(&mut self, input: &Input<'_>) -> ArrayRef {
        let zone = input.session_zone.as_deref();
        let strings = match self.is_by_content {
            true => self.content.unwrap_or(StringType::Utf8),
            false => input.strings,
        };
        let empty = || new_empty_array(&arrow_type_in(&self.data_type, strings, zone));
        Arc::clone(self.empty.get_or_insert_with(empty))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::{BlockDecoder, BlockEncoder, Revision, native::NativeReader, source::BufferSource};

    use super::*;

    /// The bytes of a block of these columns, names with types and texts of two values.
    fn block(columns: &[(&str, &str)], rows: u8) -> Vec<u8> {
        let mut bytes = vec![u8::try_from(columns.len()).unwrap(), rows];
        for (name, data_type) in columns {
            put_string(&mut bytes, name);
            put_string(&mut bytes, data_type);
            for row in 0..rows {
                match *data_type {
                    "UInt8" => bytes.push(row),
                    "UInt16" => bytes.extend([row, 1]),
                    _ => put_string(&mut bytes, "text"),
                }
            }
        }
        bytes
    }

    #[test]
    fn blocks_are_those_that_are_decoded_alone_whatever_came_before() {
        let wide = [("a", "UInt8"), ("b", "UInt16"), ("c", "String")];
        let blocks = [
            block(&wide, 0),
            block(&wide, 2),
            block(&[], 0),
            block(&wide, 3),
            block(&wide[..1], 2),
            block(&wide, 1),
            block(&[("a", "UInt16"), ("b", "UInt16")], 2),
            block(&[("b", "UInt16"), ("a", "UInt8")], 2),
            block(&[("b", "UInt16"), ("a", "UInt8"), ("c", "String")], 0),
        ];
        let all = NativeReader::from_source(BufferSource::new(blocks.concat()));
        let all: Vec<_> = all.collect::<Result<_>>().unwrap();
        assert_eq!(all.len(), blocks.len());
        for (found, bytes) in all.iter().zip(&blocks) {
            let alone = BlockDecoder::default().decode_blocking(&mut BufferSource::new(bytes.clone()), Revision::FILE);
            assert_eq!(*found, alone.unwrap());
            let mut again = Vec::new();
            BlockEncoder::default()
                .encode(found, Revision::FILE, &mut again)
                .unwrap();
            assert_eq!(again, *bytes);
        }
        let schema = |at: usize| all[at].batch.schema();
        assert!(Arc::ptr_eq(&schema(0), &schema(1)), "the columns were not known again");
        assert!(
            Arc::ptr_eq(&schema(0), &schema(3)),
            "an empty block made them forgotten"
        );
    }

    #[test]
    fn content_decides_once_what_strings_are() {
        // Two columns of a row each, of which the second is within others.
        let block = |first: &[u8], second: &[u8]| {
            let mut bytes = vec![2, 1];
            put_string(&mut bytes, "a");
            put_string(&mut bytes, "String");
            put_string(&mut bytes, first);
            put_string(&mut bytes, "b");
            put_string(&mut bytes, "Array(Tuple(s Nullable(String), t String))");
            bytes.extend([1, 0, 0, 0, 0, 0, 0, 0, 0]);
            put_string(&mut bytes, second);
            put_string(&mut bytes, "t");
            bytes
        };
        let empty = {
            let mut bytes = block(b"", b"");
            bytes[1] = 0;
            bytes.truncate(bytes.len() - 12);
            bytes.remove(2 + 2 + 7);
            bytes
        };
        let decoder = BlockDecoder {
            strings: StringType::ByContent,
            ..BlockDecoder::default()
        };
        let read = |blocks: &[Vec<u8>]| {
            let reader = NativeReader::from_source(BufferSource::new(blocks.concat())).with_decoder(decoder);
            let types = |block: crate::Block| block.batch.schema();
            reader.map(|block| block.map(types)).collect::<Vec<_>>()
        };
        let is_binary = |schema: &SchemaRef| {
            ["a", "b"].map(|name| {
                schema
                    .field_with_name(name)
                    .unwrap()
                    .data_type()
                    .to_string()
                    .contains("Binary")
            })
        };
        let schemas = read(&[empty.clone(), block(b"\xd1", b"text"), block(b"text", b"text"), empty]);
        let schemas: Vec<_> = schemas.into_iter().collect::<Result<_>>().unwrap();
        let found: Vec<_> = schemas.iter().map(is_binary).collect();
        assert_eq!(found, [[false, false], [true, false], [true, false], [true, false]]);
        assert_eq!(schemas[1], schemas[2]);
        let schemas = read(&[block(b"text", b"\xd1"), block(b"text", b"\xd1"), block(b"\xd1", b"")]);
        let [Ok(first), Ok(second), Err(error)] = &schemas[..] else {
            panic!("{schemas:?}")
        };
        assert_eq!([is_binary(first), is_binary(second)], [[false, true]; 2]);
        assert!(error.to_string().contains("`binary_strings=true`"), "{error}");
    }

    #[test]
    fn strings_that_become_something_else_have_fields_of_their_own() {
        let bytes = block(&[("c", "String")], 1);
        let mut known = KnownColumns::default();
        let mut array_type = |strings| {
            let decoder = BlockDecoder {
                strings,
                ..BlockDecoder::default()
            };
            let mut source = BufferSource::new(bytes.clone());
            let block = decoder.decode_with(&mut source, Revision::FILE, &mut known);
            crate::column::run(block)
                .unwrap()
                .batch
                .schema()
                .field(0)
                .data_type()
                .clone()
        };
        for strings in [StringType::Utf8, StringType::Binary, StringType::Utf8] {
            assert_eq!(array_type(strings), arrow_type_in(&DataType::String, strings, None));
        }
    }
}
