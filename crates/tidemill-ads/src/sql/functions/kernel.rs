//! Functions that are xBase's: a program over a table that has only names.

use std::sync::{Arc, LazyLock};

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions, new_null_array};
use arrow_buffer::NullBuffer;
use arrow_schema::{Field as ArrowField, Schema};
use tidemill_xbase::expression::{Program, parse};
use tidemill_xbase::{OpenOptions, Table};

use crate::sql::error::{Error, Kind, Result};
use crate::sql::evaluate::Session;
use crate::sql::expression::Blank;
use crate::sql::value::{EMPTY_DATE, EMPTY_TIMESTAMP, Type};
use crate::sql::vector::Vector;

/// The most arguments.
const ARGUMENTS: usize = 4;

/// A table of Visual FoxPro without records: memos T1 to T4, doubles N1 to N4, dates D1 to D4, timestamps S1 to S4.
static NAMES: LazyLock<Option<Arc<Table>>> = LazyLock::new(|| {
    let kinds = [(b'T', b'M', 4_u8), (b'N', b'B', 8), (b'D', b'D', 8), (b'S', b'T', 8)];
    let mut fields = Vec::new();
    let mut record_len = 1_u16;
    for (name, letter, width) in kinds {
        for place in 1..=ARGUMENTS {
            let mut field = [0_u8; 32];
            let number = u8::try_from(place).ok()?;
            (field[0], field[1], field[11], field[16]) = (name, b'0' + number, letter, width);
            field[12..14].copy_from_slice(&record_len.to_le_bytes());
            record_len += u16::from(width);
            fields.extend(field);
        }
    }
    let header_len = u16::try_from(32 + fields.len() + 1 + 263).ok()?;
    let mut bytes = vec![0x30, 124, 1, 31, 0, 0, 0, 0];
    bytes.extend(header_len.to_le_bytes());
    bytes.extend(record_len.to_le_bytes());
    bytes.resize(32, 0);
    bytes.extend(fields);
    bytes.push(0x0D);
    bytes.resize(usize::from(header_len), 0);
    Table::from_bytes(bytes, None, &OpenOptions::new()).ok().map(Arc::new)
});

/// Evaluates an xBase expression over arguments that it calls T1, N1, D1 or S1 by their type and place.
///
/// # Errors
/// [`Kind::Value`] for what the expression engine refuses.
pub(in crate::sql) fn run(text: &str, arguments: &[Vector], rows: usize, session: &Session<'_>) -> Result<Vector> {
    let Some(names) = &*NAMES else {
        return Err(Error::new(
            Kind::Unsupported,
            "the expression engine has no table of names",
        ));
    };
    let program = Program::from_syntax(&parse(text)?, names.fields(), session.environment)?;
    let (mut schema, mut columns): (Vec<ArrowField>, Vec<ArrayRef>) = (Vec::new(), Vec::new());
    for index in program.fields() {
        let Some(field) = names.fields().get(index) else {
            continue;
        };
        let place = index % ARGUMENTS;
        let wanted = match index / ARGUMENTS {
            0 => Type::Memo,
            1 => Type::Double,
            2 => Type::Date,
            _ => Type::Timestamp,
        };
        let column = match arguments.get(place) {
            Some(argument) => padded(argument, rows).cast(wanted, rows)?.into_answer(wanted, rows)?,
            None => new_null_array(&field.data_type(), rows),
        };
        schema.push(ArrowField::new(&field.name, column.data_type().clone(), true));
        columns.push(column);
    }
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    let batch = RecordBatch::try_new_with_options(Arc::new(Schema::new(schema)), columns, &options)?;
    let made = Vector::of_column(&program.evaluate(&batch)?, 0, Blank::Null)?;
    let nulls = super::nulls(arguments);
    with_nulls(made.into_rows(rows), nulls, rows)
}

/// Text with the blanks of its field.
fn padded(argument: &Vector, rows: usize) -> Vector {
    let Vector::Text(array, width @ 1..) = argument else {
        return argument.clone();
    };
    let texts = argument.texts(rows);
    let mut text = String::with_capacity(*width);
    let whole = (0..array.len().min(rows)).map(|row| {
        text.clear();
        texts.push_padded(row, &mut text);
        text.clone()
    });
    Vector::Text(arrow_array::StringArray::from_iter_values(whole), 0)
}

/// A result that is NULL where an argument was.
fn with_nulls(made: Vector, nulls: Option<NullBuffer>, rows: usize) -> Result<Vector> {
    let made = match made {
        // Blank dates of the engine are values.
        Vector::Date(array) => Vector::Date(array.iter().map(|day| Some(day.unwrap_or(EMPTY_DATE))).collect()),
        Vector::Timestamp(array) => {
            Vector::Timestamp(array.iter().map(|ms| Some(ms.unwrap_or(EMPTY_TIMESTAMP))).collect())
        }
        other => other,
    };
    match nulls {
        None => Ok(made),
        Some(nulls) => {
            let is_null = arrow_array::BooleanArray::new(!nulls.inner(), None);
            debug_assert_eq!(is_null.len(), rows);
            Vector::chosen(&is_null, Vector::Constant(crate::sql::value::Value::Null), made)
        }
    }
}

use arrow_array::Array as _;
