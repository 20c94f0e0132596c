//! The column form: from the columns of a batch to the column of the result.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, Float64Type, Int32Type, Int64Type, Time32MillisecondType, TimestampMillisecondType,
    UInt32Type,
};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, TimeUnit};

use super::column::{Builder, Data, Strings, TextBuilder, Vector};
use super::functions::{Answer, Function};
use super::kernels;
use super::letters::Letters;
use super::operators;
use super::program::{Call, Node, NodeKind, Program, Slot};
use super::record::{power_of_ten, scaled, time_of_day};
use super::syntax::BinaryOperator;
use super::value::{Type, Value};
use crate::codepage::{CodePage, Decoder};
use crate::error::{Error, Result};

/// The result for every row of a batch.
pub(super) fn evaluate(program: &Program, batch: &RecordBatch) -> Result<Vector> {
    let mut evaluation = Evaluation {
        program,
        batch,
        loaded: vec![None; program.slots.len()],
    };
    evaluation.node(&program.root)
}

struct Evaluation<'a> {
    program: &'a Program,
    batch: &'a RecordBatch,
    /// Fields that were met before: conversions are done once.
    loaded: Vec<Option<Vector>>,
}

impl Evaluation<'_> {
    /// The operations are functions of their own, so that the frames of this recursion stay small.
    fn node(&mut self, node: &Node) -> Result<Vector> {
        match &node.kind {
            NodeKind::Constant(value) => Ok(Vector::Constant(value.clone(), node.type_of)),
            NodeKind::Field(slot) => self.field(*slot, node.type_of),
            NodeKind::RecordNo => self.record_numbers(),
            NodeKind::Deleted => self.deleted(),
            NodeKind::Minus(operand) => Ok(kernels::minus(self.node(operand)?)),
            NodeKind::Not(operand) => Ok(kernels::not(self.node(operand)?)),
            NodeKind::Small(operand) => self.small(node, operand),
            NodeKind::Binary(operator, left, right) => {
                let operands = [self.node(left)?, self.node(right)?];
                self.binary(node, *operator, &operands)
            }
            NodeKind::If(parts) => self.choose(node, parts),
            NodeKind::Call(function, arguments) => self.call(node, function, arguments),
        }
    }

    fn record_numbers(&self) -> Result<Vector> {
        let numbers = self.column("_recno", &DataType::UInt32)?.as_primitive::<UInt32Type>();
        let numbers = numbers.values().iter().map(|n| f64::from(*n)).collect();
        Ok(Vector::Column(Data::Number(numbers), None))
    }

    fn deleted(&self) -> Result<Vector> {
        let deleted = self.column("_deleted", &DataType::Boolean)?;
        Ok(Vector::Column(
            Data::Logical(deleted.as_boolean().values().clone()),
            None,
        ))
    }

    fn binary(&self, node: &Node, operator: BinaryOperator, [left, right]: &[Vector; 2]) -> Result<Vector> {
        let (environment, rows) = (&self.program.environment, self.batch.num_rows());
        if let Some(vector) = kernels::binary(operator, left, right, rows, environment) {
            return vector.map_err(|e| e.at(node.column));
        }
        self.rows(node, |row| {
            Ok(operators::binary(
                operator,
                left.value(row),
                right.value(row),
                environment,
            ))
        })
    }

    fn small(&mut self, node: &Node, operand: &Node) -> Result<Vector> {
        let (texts, letters) = (self.node(operand)?, Letters::of(self.program.environment.codepage));
        if let Some(small) = kernels::mapped(&texts, letters.lower(), <[u8]>::to_ascii_lowercase) {
            return Ok(small);
        }
        self.rows(node, |row| {
            let mut text = texts.value(row).into_owned();
            if let Value::Character(bytes) = &mut text {
                let small = bytes.iter().map(|byte| letters.lower()[usize::from(*byte)]);
                *bytes = small.collect::<Vec<u8>>().into();
            }
            Ok(text)
        })
    }

    fn choose(&mut self, node: &Node, [condition, then, otherwise]: &[Node; 3]) -> Result<Vector> {
        let condition = self.node(condition)?;
        if let Vector::Constant(value, _) = &condition {
            return self.node(if value.logical() { then } else { otherwise });
        }
        let (then, otherwise) = (self.node(then)?, self.node(otherwise)?);
        self.rows(node, |row| {
            let chosen = if condition.value(row).logical() {
                &then
            } else {
                &otherwise
            };
            Ok(chosen.value(row))
        })
    }

    fn call(&mut self, node: &Node, function: &Function, arguments: &[Node]) -> Result<Vector> {
        let vectors = arguments.iter().map(|a| self.node(a)).collect::<Result<Vec<_>>>()?;
        let environment = &self.program.environment;
        if let Some(vector) = kernels::call(function.name, &vectors, self.batch.num_rows(), environment) {
            return vector.map_err(|e| e.at(node.column));
        }
        let call = Call::new(environment, arguments);
        let mut values = Vec::with_capacity(vectors.len());
        self.rows(node, |row| {
            values.clear();
            values.extend(vectors.iter().map(|v| v.value(row)));
            function.apply(&call, &mut values)
        })
    }

    /// A column made row by row.
    fn rows<'v>(&self, node: &Node, mut value: impl FnMut(usize) -> Answer<'v>) -> Result<Vector> {
        let mut builder = Builder::new(node.type_of, self.batch.num_rows());
        for row in 0..self.batch.num_rows() {
            let pushed = value(row).and_then(|value| builder.push(value));
            pushed.map_err(|e| e.at(node.column))?;
        }
        Ok(builder.finish())
    }

    fn field(&mut self, slot: usize, type_of: Type) -> Result<Vector> {
        let Some(Some(vector)) = self.loaded.get(slot) else {
            let Some(described) = self.program.slots.get(slot) else {
                return Ok(Vector::Constant(Value::Null, type_of));
            };
            let vector = load(
                self.find(&described.name)?,
                described,
                type_of,
                self.program.environment.codepage,
            )?;
            if let Some(place) = self.loaded.get_mut(slot) {
                *place = Some(vector.clone());
            }
            return Ok(vector);
        };
        Ok(vector.clone())
    }

    fn find(&self, name: &str) -> Result<&ArrayRef> {
        self.batch
            .column_by_name(name)
            .ok_or_else(|| Error::Misuse(format!("the batch has no column {name}, which the expression uses")))
    }

    fn column(&self, name: &str, data_type: &DataType) -> Result<&ArrayRef> {
        let array = self.find(name)?;
        if array.data_type() == data_type {
            return Ok(array);
        }
        Err(Error::Misuse(format!(
            "column {name} is {}, not {data_type}",
            array.data_type()
        )))
    }
}

/// The values of a field's column. Nulls of a field that cannot be NULL are blanks.
fn load(array: &ArrayRef, slot: &Slot, type_of: Type, codepage: CodePage) -> Result<Vector> {
    let data = match (type_of, array.data_type()) {
        (Type::Character, DataType::Utf8) => Data::Character(encode(array, slot.width, codepage)?),
        (Type::Character, DataType::Binary) => {
            let array = array.as_binary::<i32>();
            let (offsets, bytes) = own_part(array.offsets(), array.values());
            Data::Character(whole(&offsets, &bytes, array.nulls(), slot.width)?)
        }
        (Type::Number, DataType::Int32) => {
            let numbers = array.as_primitive::<Int32Type>();
            Data::Number(numbers.values().iter().map(|n| f64::from(*n)).collect())
        }
        (Type::Number, DataType::Int64) => {
            let numbers = array.as_primitive::<Int64Type>();
            #[expect(clippy::cast_precision_loss, reason = "numbers are doubles in this language")]
            let numbers = numbers.values().iter().map(|n| *n as f64).collect();
            Data::Number(numbers)
        }
        (Type::Number, DataType::Float64) => Data::Number(array.as_primitive::<Float64Type>().values().clone()),
        (Type::Number, DataType::Decimal128(_, scale)) => {
            let numbers = array.as_primitive::<Decimal128Type>().values();
            Data::Number(decimals(numbers, u8::try_from(*scale).unwrap_or(0)))
        }
        (Type::Logical, DataType::Boolean) => Data::Logical(array.as_boolean().values().clone()),
        (Type::Date, DataType::Date32) => {
            let days = array.as_primitive::<Date32Type>().values().iter();
            Data::Date(days.map(|d| Value::from_unix_days(*d).day()).collect())
        }
        (Type::Timestamp, DataType::Timestamp(TimeUnit::Millisecond, None)) => {
            let moments = array.as_primitive::<TimestampMillisecondType>().values().iter();
            let ms = moments.map(|ms| match Value::from_unix_ms(*ms) {
                Value::Timestamp(ms) => ms,
                _ => 0,
            });
            Data::Timestamp(ms.collect())
        }
        (Type::Timestamp, DataType::Time32(TimeUnit::Millisecond)) => {
            let times = array.as_primitive::<Time32MillisecondType>().values().iter();
            Data::Timestamp(times.map(|ms| time_of_day(*ms)).collect())
        }
        (_, other) => {
            let name = &slot.name;
            return Err(Error::Misuse(format!(
                "column {name} is {other}, which is not {}",
                type_of.noun()
            )));
        }
    };
    match array.nulls() {
        Some(nulls) if nulls.null_count() > 0 && !slot.nullable => Ok(Vector::Column(blanked(data, nulls), None)),
        nulls => Ok(Vector::Column(data, nulls.filter(|n| n.null_count() > 0).cloned())),
    }
}

/// What is null becomes blank: 0, false, no date. (A null text is empty already.)
fn blanked(data: Data, nulls: &NullBuffer) -> Data {
    fn zeroed<T: arrow_buffer::ArrowNativeType>(values: &ScalarBuffer<T>, nulls: &NullBuffer) -> ScalarBuffer<T> {
        let values = values.iter().zip(nulls.iter());
        values
            .map(|(v, is_valid)| if is_valid { *v } else { T::default() })
            .collect()
    }
    match data {
        Data::Character(texts) => Data::Character(texts),
        Data::Number(numbers) => Data::Number(zeroed(&numbers, nulls)),
        Data::Logical(bits) => Data::Logical(&bits & nulls.inner()),
        Data::Date(days) => Data::Date(zeroed(&days, nulls)),
        Data::Timestamp(ms) => Data::Timestamp(zeroed(&ms, nulls)),
    }
}

/// Scaled integers as doubles; those of up to 15 digits without a detour over 128 bits.
fn decimals(numbers: &ScalarBuffer<i128>, scale: u8) -> ScalarBuffer<f64> {
    let unit = power_of_ten(scale);
    let convert = |n: &i128| match i64::try_from(*n) {
        #[expect(clippy::cast_precision_loss, reason = "numbers are doubles in this language")]
        Ok(n) => n as f64 / unit,
        Err(_) => scaled(*n, scale),
    };
    numbers.iter().map(convert).collect()
}

/// Texts as bytes of the code page. ASCII, the usual case, is not copied.
fn encode(array: &ArrayRef, width: usize, codepage: CodePage) -> Result<Strings> {
    let array = array.as_string::<i32>();
    let (offsets, bytes) = own_part(array.offsets(), array.values());
    if bytes.is_ascii() || matches!(codepage.decoder(), Decoder::Utf8) {
        return whole(&offsets, &bytes, array.nulls(), width);
    }
    let mut builder = TextBuilder::new(array.len(), array.values().len());
    for text in array {
        let mut rest = text.unwrap_or_default();
        // What the code page lacks came from an undefined byte, which nobody can tell any more.
        while let Err(lacking) = codepage.encode(rest, &mut builder.bytes) {
            builder.bytes.push(b'?');
            let at = rest.find(lacking).map_or(rest.len(), |at| at + lacking.len_utf8());
            rest = rest.get(at..).unwrap_or_default();
        }
        builder.end().map_err(|e| e.at(1))?;
    }
    Ok(Strings {
        width,
        ..builder.finish()
    })
}

/// The bytes that an array uses and offsets into them: a slice of a long array has all of its bytes.
fn own_part(offsets: &OffsetBuffer<i32>, bytes: &Buffer) -> (OffsetBuffer<i32>, Buffer) {
    let place = |offset: Option<&i32>| offset.and_then(|o| usize::try_from(*o).ok()).unwrap_or(0);
    let (start, end) = (place(offsets.first()), place(offsets.last()));
    if start == 0 && end == bytes.len() {
        return (offsets.clone(), bytes.clone());
    }
    let first = offsets.first().copied().unwrap_or(0);
    let moved = offsets.iter().map(|offset| offset - first).collect();
    (OffsetBuffer::new(moved), bytes.slice_with_length(start, end - start))
}

/// Texts as they are stored, but for nulls, which may have bytes that do not count.
fn whole(offsets: &OffsetBuffer<i32>, bytes: &Buffer, nulls: Option<&NullBuffer>, width: usize) -> Result<Strings> {
    let texts = Strings {
        offsets: offsets.clone(),
        bytes: bytes.clone(),
        width,
    };
    let Some(nulls) = nulls.filter(|n| n.null_count() > 0) else {
        return Ok(texts);
    };
    if (0..texts.len()).all(|row| nulls.is_valid(row) || texts.stored(row).is_empty()) {
        return Ok(texts);
    }
    let mut builder = TextBuilder::new(texts.len(), bytes.len());
    for row in 0..texts.len() {
        if nulls.is_valid(row) {
            builder.bytes.extend_from_slice(texts.stored(row));
        }
        builder.end().map_err(|e| e.at(1))?;
    }
    Ok(Strings {
        width,
        ..builder.finish()
    })
}
