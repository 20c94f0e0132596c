//! String functions that also accept binary values: LENGTH, OCTET_LENGTH, BIT_LENGTH, SUBSTR, LEFT and RIGHT then count bytes.
//!
//! Record files have a single binary column, so that these are the first functions used on them.

use std::sync::Arc;

use arrow_array::builder::BinaryBuilder;
use arrow_array::cast::AsArray as _;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, BinaryArray, Int64Array};
use arrow_cast::cast;
use arrow_schema::{DataType, Field, FieldRef};
use datafusion::common::DataFusionError;
use datafusion::logical_expr::type_coercion::functions::fields_with_udf;
use datafusion::logical_expr::{
    ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

/// The functions, each wrapping the string function.
pub(crate) fn all() -> Vec<Arc<ScalarUDF>> {
    use datafusion::functions::{string, unicode};
    let of = |text: Arc<ScalarUDF>, kind: Kind| {
        Arc::new(ScalarUDF::from(BinaryFunction {
            text,
            kind,
            signature: Signature::user_defined(Volatility::Immutable),
        }))
    };
    vec![
        of(unicode::character_length(), Kind::Bytes),
        of(string::octet_length(), Kind::Bytes),
        of(string::bit_length(), Kind::Bits),
        of(unicode::substr(), Kind::Part),
        of(unicode::left(), Kind::Left),
        of(unicode::right(), Kind::Right),
    ]
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kind {
    Bytes,
    Bits,
    Part,
    Left,
    Right,
}

/// A function of binary values with the name of a string function.
#[derive(Debug, PartialEq, Eq, Hash)]
struct BinaryFunction {
    text: Arc<ScalarUDF>,
    kind: Kind,
    signature: Signature,
}

impl BinaryFunction {
    fn takes(&self, first: Option<&DataType>) -> bool {
        first.is_some_and(|first| {
            matches!(
                first,
                DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_)
            )
        })
    }
}

impl ScalarUDFImpl for BinaryFunction {
    fn name(&self) -> &str {
        self.text.name()
    }

    fn aliases(&self) -> &[String] {
        self.text.aliases()
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>, DataFusionError> {
        if !self.takes(types.first()) {
            let fields = types
                .iter()
                .map(|data_type| Arc::new(Field::new("", data_type.clone(), true)));
            let fields = fields_with_udf(&fields.collect::<Vec<FieldRef>>(), self.text.as_ref())?;
            return Ok(fields.iter().map(|field| field.data_type().clone()).collect());
        }
        let expected = match self.kind {
            Kind::Bytes | Kind::Bits => 1..=1,
            Kind::Part => 2..=3,
            Kind::Left | Kind::Right => 2..=2,
        };
        if !expected.contains(&types.len()) {
            return Err(DataFusionError::Plan(format!(
                "{} of a binary value takes {} to {} arguments, and has {}",
                self.name(),
                expected.start(),
                expected.end(),
                types.len()
            )));
        }
        let behind = types.iter().skip(1).map(|_| DataType::Int64);
        Ok(std::iter::once(DataType::Binary).chain(behind).collect())
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType, DataFusionError> {
        match (self.takes(types.first()), self.kind) {
            (false, _) => self.text.return_type(types),
            (true, Kind::Part | Kind::Left | Kind::Right) => Ok(DataType::Binary),
            (true, Kind::Bytes | Kind::Bits) => Ok(DataType::Int64),
        }
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef, DataFusionError> {
        let types: Vec<DataType> = args.arg_fields.iter().map(|field| field.data_type().clone()).collect();
        if !self.takes(types.first()) {
            return self.text.return_field_from_args(args);
        }
        let is_nullable = args.arg_fields.iter().any(|field| field.is_nullable());
        Ok(Arc::new(Field::new(
            self.name(),
            self.return_type(&types)?,
            is_nullable,
        )))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue, DataFusionError> {
        if !self.takes(args.arg_fields.first().map(|field| field.data_type())) {
            return self.text.invoke_with_args(args);
        }
        let arrays = ColumnarValue::values_to_arrays(&args.args)?;
        let made: ArrayRef = match (self.kind, arrays.as_slice()) {
            (Kind::Part, [values, begins, lengths @ ..]) => Arc::new(parts(
                cast(values, &DataType::Binary)?.as_binary(),
                begins.as_primitive::<Int64Type>(),
                lengths.first().map(|lengths| lengths.as_primitive::<Int64Type>()),
            )?),
            (kind @ (Kind::Left | Kind::Right), [values, counts]) => {
                let values = cast(values, &DataType::Binary)?;
                let counts = counts.as_primitive::<Int64Type>();
                Arc::new(ends(values.as_binary(), counts, kind == Kind::Left))
            }
            (kind, [values]) => {
                let values = cast(values, &DataType::Binary)?;
                let bits = if kind == Kind::Bits { 8 } else { 1 };
                let lengths = values
                    .as_binary::<i32>()
                    .iter()
                    .map(|value| Some(i64::try_from(value?.len()).unwrap_or(i64::MAX).saturating_mul(bits)));
                Arc::new(lengths.collect::<Int64Array>())
            }
            (_, other) => {
                return Err(DataFusionError::Internal(format!(
                    "{} with {} arguments",
                    self.name(),
                    other.len()
                )));
            }
        };
        Ok(ColumnarValue::Array(made))
    }
}

/// A part of each value: from a byte, counted from 1, a number of bytes or all. As for strings, positions before the first byte count
/// although they are empty.
fn parts(
    values: &BinaryArray,
    begins: &Int64Array,
    lengths: Option<&Int64Array>,
) -> Result<BinaryArray, DataFusionError> {
    let mut made = BinaryBuilder::new();
    for row in 0..values.len() {
        let is_null = values.is_null(row) || begins.is_null(row) || lengths.is_some_and(|lengths| lengths.is_null(row));
        if is_null {
            made.append_null();
            continue;
        }
        let (value, begin) = (values.value(row), begins.value(row).saturating_sub(1));
        let end = match lengths.map(|lengths| lengths.value(row)) {
            Some(length @ ..0) => {
                return Err(DataFusionError::Execution(format!(
                    "SUBSTR: a length of {length} bytes, which must be 0 or more"
                )));
            }
            Some(length) => begin.saturating_add(length),
            None => i64::MAX,
        };
        let within = |place: i64| usize::try_from(place.max(0)).unwrap_or(usize::MAX).min(value.len());
        made.append_value(value.get(within(begin)..within(end)).unwrap_or_default());
    }
    Ok(made.finish())
}

/// The first or last bytes of each value. As for strings, a negative number counts the bytes omitted at the other end.
fn ends(values: &BinaryArray, counts: &Int64Array, are_first: bool) -> BinaryArray {
    let pairs = values.iter().zip(counts);
    let ends = pairs.map(|(value, count)| {
        let (value, count) = (value?, count?);
        let size = usize::try_from(count.unsigned_abs()).unwrap_or(usize::MAX);
        let taken = match count < 0 {
            true => value.len().saturating_sub(size),
            false => value.len().min(size),
        };
        Some(match are_first {
            true => value.get(..taken).unwrap_or_default(),
            false => value.get(value.len() - taken..).unwrap_or_default(),
        })
    });
    ends.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_those_of_text_by_bytes() {
        let values = BinaryArray::from(vec![b"abc".as_slice(); 6]);
        let counts = Int64Array::from(vec![2, 0, 9, -1, -9, i64::MIN]);
        let found = |are_first| {
            let ends = ends(&values, &counts, are_first);
            ends.iter().flatten().map(<[u8]>::to_vec).collect::<Vec<_>>()
        };
        assert_eq!(found(true), [&b"ab"[..], b"", b"abc", b"ab", b"", b""]);
        assert_eq!(found(false), [&b"bc"[..], b"", b"abc", b"bc", b"", b""]);
    }

    #[test]
    fn parts_are_those_of_text_by_bytes() {
        let values = BinaryArray::from(vec![b"abcde".as_slice(); 6]);
        let begins = Int64Array::from(vec![1, 2, 0, -1, 9, i64::MAX]);
        let lengths = Int64Array::from(vec![2, i64::MAX, 3, 3, 1, 1]);
        let made = parts(&values, &begins, Some(&lengths)).expect("parts");
        assert_eq!(
            made.iter().flatten().collect::<Vec<_>>(),
            [&b"ab"[..], b"bcde", b"ab", b"a", b"", b""]
        );
        let made = parts(&values, &begins, None).expect("parts");
        assert_eq!(made.value(1), b"bcde");
        let negative = Int64Array::from(vec![-1; 6]);
        assert!(parts(&values, &begins, Some(&negative)).is_err());
    }
}
