//! JSON, an object a row.

use std::io::{self, Write};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, RecordBatch};
use arrow_json::writer::{JsonArray, JsonFormat, LineDelimited, NullableEncoder};
use arrow_json::{Encoder, EncoderFactory, EncoderOptions, Writer, WriterBuilder};
use arrow_schema::{ArrowError, DataType, FieldRef};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use tidemill_csv::Packed;

use super::{Sink, TIME_MILLISECONDS, TIMESTAMP_MILLISECONDS};
use crate::uuid_text::with_uuids_as_text;
use crate::{Error, Result};

pub(super) struct JsonSink<W: Write, F: JsonFormat>(Writer<W, F>);

impl<W: Write> JsonSink<W, JsonArray> {
    pub(super) fn array(out: W) -> Self {
        Self(builder().build(out))
    }
}

impl<W: Write> JsonSink<W, LineDelimited> {
    pub(super) fn lines(out: W) -> Self {
        Self(builder().build(out))
    }
}

/// A writer that has an end to write.
pub(super) trait End: Write {
    fn end(self) -> io::Result<()>;
}

impl End for Box<dyn Write + Send + '_> {
    fn end(mut self) -> io::Result<()> {
        self.flush()
    }
}

#[cfg(test)]
impl End for &mut Vec<u8> {
    fn end(self) -> io::Result<()> {
        Ok(())
    }
}

impl<W: Write> End for Packed<W> {
    fn end(self) -> io::Result<()> {
        self.finish().map(drop)
    }
}

impl<W: End + Send, F: JsonFormat + Send> Sink for JsonSink<W, F> {
    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        Ok(self.0.write(&with_uuids_as_text(batch)?)?)
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        self.0.finish()?;
        let ended = self.0.into_inner().end();
        ended.map_err(|error| Error::from(ArrowError::from(error)))
    }
}

fn builder() -> WriterBuilder {
    WriterBuilder::new()
        .with_explicit_nulls(true)
        .with_timestamp_format(TIMESTAMP_MILLISECONDS.to_owned())
        .with_time_format(TIME_MILLISECONDS.to_owned())
        .with_encoder_factory(Arc::new(BinaryAsBase64))
}

/// Bytes in base64, which JSON's readers expect; arrow-json's own choice is hexadecimal.
#[derive(Debug)]
struct BinaryAsBase64;

impl EncoderFactory for BinaryAsBase64 {
    fn make_default_encoder<'a>(
        &self,
        _field: &'a FieldRef,
        array: &'a dyn Array,
        _options: &'a EncoderOptions,
    ) -> Result<Option<NullableEncoder<'a>>, ArrowError> {
        let value: Box<dyn Fn(usize) -> &'a [u8] + 'a> = match array.data_type() {
            DataType::Binary => {
                let array = array.as_binary::<i32>();
                Box::new(|row| array.value(row))
            }
            DataType::LargeBinary => {
                let array = array.as_binary::<i64>();
                Box::new(|row| array.value(row))
            }
            DataType::FixedSizeBinary(_) => {
                let array = array.as_fixed_size_binary();
                Box::new(|row| array.value(row))
            }
            _ => return Ok(None),
        };
        Ok(Some(NullableEncoder::new(
            Box::new(Base64Encoder {
                value,
                text: String::new(),
            }),
            array.nulls().cloned(),
        )))
    }
}

struct Base64Encoder<'a> {
    value: Box<dyn Fn(usize) -> &'a [u8] + 'a>,
    text: String,
}

impl Encoder for Base64Encoder<'_> {
    fn encode(&mut self, row: usize, out: &mut Vec<u8>) {
        self.text.clear();
        STANDARD.encode_string((self.value)(row), &mut self.text);
        out.push(b'"');
        out.extend_from_slice(self.text.as_bytes());
        out.push(b'"');
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::{
        ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, StringArray, Time32MillisecondArray,
        TimestampMillisecondArray,
    };

    use super::*;

    #[test]
    fn values_are_written_as_scripts_expect_them() {
        let columns: Vec<(&str, ArrayRef)> = vec![
            (
                "N",
                Arc::new(
                    Decimal128Array::from(vec![Some(-1250), None])
                        .with_precision_and_scale(9, 2)
                        .expect("fits"),
                ),
            ),
            ("D", Arc::new(Date32Array::from(vec![Some(19_782), None]))),
            (
                "T",
                Arc::new(TimestampMillisecondArray::from(vec![Some(1_709_177_445_123), None])),
            ),
            (
                "C",
                Arc::new(Time32MillisecondArray::from(vec![Some(12_645_000), None])),
            ),
            ("L", Arc::new(BooleanArray::from(vec![Some(true), None]))),
            ("B", Arc::new(BinaryArray::from(vec![Some(&[0_u8, 255, 16][..]), None]))),
            ("S", Arc::new(StringArray::from(vec![Some("a\"ü\n"), None]))),
        ];
        let batch =
            RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, column)| (name, column, true)))
                .expect("a batch");
        let mut out = Vec::new();
        let mut sink = Box::new(JsonSink::lines(&mut out));
        sink.write(&batch).expect("written");
        sink.finish().expect("finished");
        let expected = concat!(
            r#"{"N":-12.50,"D":"2024-02-29","T":"2024-02-29T03:30:45.123","C":"03:30:45.000","L":true,"B":"AP8Q","S":"a\"ü\n"}"#,
            "\n",
            r#"{"N":null,"D":null,"T":null,"C":null,"L":null,"B":null,"S":null}"#,
            "\n"
        );
        assert_eq!(String::from_utf8(out).expect("UTF-8"), expected);
    }
}
