//! JSON, with one object per row.

use std::borrow::Cow;
use std::io::{self, Write};
use std::sync::{Arc, LazyLock};

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float16Type, Float32Type, Float64Type, Time64MicrosecondType, Time64NanosecondType, TimestampMicrosecondType,
    TimestampNanosecondType,
};
use arrow_array::{Array, RecordBatch};
use arrow_json::writer::{JsonArray, JsonFormat, LineDelimited, NullableEncoder, make_encoder};
use arrow_json::{Encoder, EncoderFactory, EncoderOptions, Writer, WriterBuilder};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Schema, TimeUnit};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use tidemill_csv::Packed;

use super::moments::check_moments;
use super::{Sink, TIME_MILLISECONDS, TIMESTAMP_MILLISECONDS, distinct_names};
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

/// A writer with a trailer.
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
        check_moments(batch)?;
        let batch = with_uuids_as_text(batch)?;
        let batch = with_distinct_names(&batch)?;
        Ok(self.0.write(&batch)?)
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        self.0.finish()?;
        let ended = self.0.into_inner().end();
        ended.map_err(|error| Error::from(ArrowError::from(error)))
    }
}

/// An object must not have duplicate members.
fn with_distinct_names(batch: &RecordBatch) -> Result<Cow<'_, RecordBatch>> {
    let schema = batch.schema_ref();
    let Some(names) = distinct_names(schema) else {
        return Ok(Cow::Borrowed(batch));
    };
    let fields = schema.fields().iter().zip(names);
    let fields = fields.map(|(field, name)| Field::clone(field).with_name(name));
    let renamed = Schema::new(fields.collect::<Vec<_>>());
    let renamed = RecordBatch::try_new(Arc::new(renamed), batch.columns().to_vec())?;
    Ok(Cow::Owned(renamed))
}

fn builder() -> WriterBuilder {
    WriterBuilder::new()
        .with_explicit_nulls(true)
        .with_timestamp_format(TIMESTAMP_MILLISECONDS.to_owned())
        .with_time_format(TIME_MILLISECONDS.to_owned())
        .with_encoder_factory(Arc::new(Values))
}

/// How JSON represents floating-point values that are not numbers (as PostgreSQL's `to_json` and the JSON of protocol buffers do).
pub(crate) const DENORMALS: [&str; 3] = ["NaN", "Infinity", "-Infinity"];

fn denormal(value: f64) -> Option<&'static str> {
    let [nan, infinity, least] = DENORMALS;
    match value {
        _ if value.is_nan() => Some(nan),
        f64::INFINITY => Some(infinity),
        f64::NEG_INFINITY => Some(least),
        _ => None,
    }
}

/// Values that arrow-json writes differently: bytes become base64, which JSON readers expect, and non-finite numbers become strings instead
/// of null.
#[derive(Debug)]
struct Values;

impl EncoderFactory for Values {
    fn make_default_encoder<'a>(
        &self,
        field: &'a FieldRef,
        array: &'a dyn Array,
        _: &'a EncoderOptions,
    ) -> Result<Option<NullableEncoder<'a>>, ArrowError> {
        let denormal_at: Option<Box<dyn Fn(usize) -> Option<&'static str> + 'a>> = match array.data_type() {
            DataType::Float64 => {
                let array = array.as_primitive::<Float64Type>();
                let has_any = array.iter().flatten().any(|value| !value.is_finite());
                has_any.then(|| Box::new(|row| denormal(array.value(row))) as _)
            }
            DataType::Float32 => {
                let array = array.as_primitive::<Float32Type>();
                let has_any = array.iter().flatten().any(|value| !value.is_finite());
                has_any.then(|| Box::new(|row| denormal(array.value(row).into())) as _)
            }
            DataType::Float16 => {
                let array = array.as_primitive::<Float16Type>();
                let has_any = array.iter().flatten().any(|value| !value.is_finite());
                has_any.then(|| Box::new(|row| denormal(array.value(row).into())) as _)
            }
            _ => None,
        };
        if let Some(denormal_at) = denormal_at {
            let encoder = DenormalEncoder {
                finite: make_encoder(field, array, &DEFAULT)?,
                denormal_at,
            };
            return Ok(Some(NullableEncoder::new(Box::new(encoder), array.nulls().cloned())));
        }
        if let Some(is_fine) = finer_than_milliseconds(array) {
            let encoder = TimeEncoder {
                coarse: make_encoder(field, array, &MILLISECONDS)?,
                fine: make_encoder(field, array, &AS_FINE_AS_THEY_ARE)?,
                is_fine,
            };
            return Ok(Some(NullableEncoder::new(Box::new(encoder), array.nulls().cloned())));
        }
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

static DEFAULT: LazyLock<EncoderOptions> = LazyLock::new(EncoderOptions::default);

static MILLISECONDS: LazyLock<EncoderOptions> = LazyLock::new(|| {
    EncoderOptions::default()
        .with_timestamp_format(TIMESTAMP_MILLISECONDS.to_owned())
        .with_time_format(TIME_MILLISECONDS.to_owned())
});

static AS_FINE_AS_THEY_ARE: LazyLock<EncoderOptions> = LazyLock::new(|| {
    EncoderOptions::default()
        .with_timestamp_format("%Y-%m-%dT%H:%M:%S%.f".to_owned())
        .with_time_format("%H:%M:%S%.f".to_owned())
});

/// Tests which times without zone have fractions of a millisecond; `None` if none has.
fn finer_than_milliseconds(array: &dyn Array) -> Option<Box<dyn Fn(usize) -> bool + '_>> {
    let (values, of_millisecond) = match array.data_type() {
        DataType::Timestamp(TimeUnit::Microsecond, None) => {
            (array.as_primitive::<TimestampMicrosecondType>().values(), 1_000)
        }
        DataType::Timestamp(TimeUnit::Nanosecond, None) => {
            (array.as_primitive::<TimestampNanosecondType>().values(), 1_000_000)
        }
        DataType::Time64(TimeUnit::Microsecond) => (array.as_primitive::<Time64MicrosecondType>().values(), 1_000),
        DataType::Time64(TimeUnit::Nanosecond) => (array.as_primitive::<Time64NanosecondType>().values(), 1_000_000),
        _ => return None,
    };
    let has_any = values.iter().any(|value| value % of_millisecond != 0);
    has_any.then(|| Box::new(move |row: usize| values.get(row).is_some_and(|value| value % of_millisecond != 0)) as _)
}

/// Writes three fractional digits of the second, or more if necessary.
struct TimeEncoder<'a> {
    coarse: NullableEncoder<'a>,
    fine: NullableEncoder<'a>,
    is_fine: Box<dyn Fn(usize) -> bool + 'a>,
}

impl Encoder for TimeEncoder<'_> {
    fn encode(&mut self, row: usize, out: &mut Vec<u8>) {
        match (self.is_fine)(row) {
            true => self.fine.encode(row, out),
            false => self.coarse.encode(row, out),
        }
    }
}

struct DenormalEncoder<'a> {
    finite: NullableEncoder<'a>,
    denormal_at: Box<dyn Fn(usize) -> Option<&'static str> + 'a>,
}

impl Encoder for DenormalEncoder<'_> {
    fn encode(&mut self, row: usize, out: &mut Vec<u8>) {
        match (self.denormal_at)(row) {
            Some(text) => {
                out.push(b'"');
                out.extend_from_slice(text.as_bytes());
                out.push(b'"');
            }
            None => self.finite.encode(row, out),
        }
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
    use arrow_array::builder::{Float32Builder, ListBuilder};
    use arrow_array::{
        ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, Float64Array, StringArray,
        Time32MillisecondArray, TimestampMillisecondArray,
    };

    use super::*;

    fn lines(columns: Vec<(&str, ArrayRef)>) -> String {
        let columns = columns.into_iter().map(|(name, column)| (name, column, true));
        let batch = RecordBatch::try_from_iter_with_nullable(columns).expect("a batch");
        let mut out = Vec::new();
        let mut sink = Box::new(JsonSink::lines(&mut out));
        sink.write(&batch).expect("written");
        sink.finish().expect("finished");
        String::from_utf8(out).expect("UTF-8")
    }

    #[test]
    fn numbers_that_are_none_of_jsons_are_texts() {
        let values = [
            Some(f64::NAN),
            Some(f64::INFINITY),
            Some(f64::NEG_INFINITY),
            None,
            Some(-0.5),
        ];
        let mut lists = ListBuilder::new(Float32Builder::new());
        for value in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1.0, 2.0] {
            lists.append_value([Some(value), None]);
        }
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("n", Arc::new(Float64Array::from(values.to_vec()))),
            ("l", Arc::new(lists.finish())),
        ];
        let expected = r#"{"n":"NaN","l":["NaN",null]}
{"n":"Infinity","l":["Infinity",null]}
{"n":"-Infinity","l":["-Infinity",null]}
{"n":null,"l":[1.0,null]}
{"n":-0.5,"l":[2.0,null]}
"#;
        assert_eq!(lines(columns), expected);
    }

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
        let expected = concat!(
            r#"{"N":-12.50,"D":"2024-02-29","T":"2024-02-29T03:30:45.123","C":"03:30:45.000","L":true,"B":"AP8Q","S":"a\"ü\n"}"#,
            "\n",
            r#"{"N":null,"D":null,"T":null,"C":null,"L":null,"B":null,"S":null}"#,
            "\n"
        );
        assert_eq!(lines(columns), expected);
    }
}
