//! Batches of a sheet.

use std::io::{Read, Seek};
use std::ops::ControlFlow;
use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::types::{Date32Type, Float64Type, Int64Type, Time32MillisecondType, TimestampMillisecondType};
use arrow_array::{ArrayRef, BooleanArray, PrimitiveArray, RecordBatch, RecordBatchOptions};
use arrow_schema::DataType;
use calamine::Data;
use chrono::{NaiveDateTime, Timelike as _};

use crate::cells::Workbook;
use crate::error::Result;
use crate::look::{SheetLook, text};

/// The text of a batch, in bytes, after which no row is added.
const BATCH_TEXT: usize = 4 << 20;

impl<R: Read + Seek> Workbook<R> {
    /// Gives the rows of a sheet in batches until `take` has enough. A batch has `batch_rows`, or fewer if their text is long. `projection`
    /// are the numbers of the columns that are wanted.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`](crate::Error::Damaged); [`Error::Arrow`](crate::Error::Arrow) for a column that there is not.
    pub fn read(
        &mut self,
        sheet: usize,
        look: &SheetLook,
        projection: &[usize],
        batch_rows: usize,
        take: &mut dyn FnMut(RecordBatch) -> ControlFlow<()>,
    ) -> Result<()> {
        let schema = Arc::new(look.columns.project(projection)?);
        let begin = look.first_row.saturating_add(u32::from(look.has_header));
        let slots: Vec<Option<usize>> = (0..look.places.len())
            .map(|column| projection.iter().position(|wanted| *wanted == column))
            .collect();
        let mut columns: Vec<Vec<Data>> = vec![Vec::new(); projection.len()];
        let (mut rows, mut text_bytes, mut current) = (0_usize, 0, None);
        let mut done = Ok(ControlFlow::Continue(()));
        let mut flush = |columns: &mut Vec<Vec<Data>>, rows: &mut usize| -> Result<ControlFlow<()>> {
            if *rows == 0 {
                return Ok(ControlFlow::Continue(()));
            }
            let arrays = columns.iter_mut().zip(schema.fields()).map(|(values, field)| {
                values.resize(*rows, Data::Empty);
                let array = array(field.data_type(), values);
                values.clear();
                array
            });
            let options = RecordBatchOptions::new().with_row_count(Some(*rows));
            let batch = RecordBatch::try_new_with_options(Arc::clone(&schema), arrays.collect(), &options)?;
            *rows = 0;
            Ok(take(batch))
        };
        self.each_cell(sheet, &mut |(row, place, value)| {
            if row < begin {
                return ControlFlow::Continue(());
            }
            if current != Some(row) {
                if rows >= batch_rows.max(1) || text_bytes >= BATCH_TEXT {
                    text_bytes = 0;
                    done = flush(&mut columns, &mut rows);
                    if !matches!(done, Ok(ControlFlow::Continue(()))) {
                        return ControlFlow::Break(());
                    }
                }
                current = Some(row);
                rows += 1;
            }
            let slot = look.places.binary_search(&place).ok().and_then(|column| slots[column]);
            if let Some(values) = slot.and_then(|slot| columns.get_mut(slot)) {
                if let Data::String(text) = &value {
                    text_bytes += text.len();
                }
                values.resize(rows - 1, Data::Empty);
                values.push(value);
            }
            ControlFlow::Continue(())
        })?;
        if done?.is_continue() {
            let _ = flush(&mut columns, &mut rows)?;
        }
        Ok(())
    }
}

/// The cells of a column as an array of its type. What is not of the type, such as an error, is NULL.
fn array(data_type: &DataType, values: &[Data]) -> ArrayRef {
    let at = |value: &Data| match value {
        Data::DateTime(moment) => moment.as_datetime(),
        _ => None,
    };
    match data_type {
        DataType::Boolean => Arc::new(BooleanArray::from_iter(values.iter().map(|value| match value {
            Data::Bool(value) => Some(*value),
            _ => None,
        }))),
        DataType::Int64 => Arc::new(PrimitiveArray::<Int64Type>::from_iter(values.iter().map(whole))),
        DataType::Float64 => Arc::new(PrimitiveArray::<Float64Type>::from_iter(values.iter().map(
            |value| match value {
                Data::Float(number) => Some(*number),
                value => whole(value).map(|number| number as f64),
            },
        ))),
        DataType::Date32 => Arc::new(PrimitiveArray::<Date32Type>::from_iter(
            values
                .iter()
                .map(|value| at(value).map(|at| Date32Type::from_naive_date(at.date()))),
        )),
        DataType::Timestamp(..) => {
            let millis = |at: NaiveDateTime| at.and_utc().timestamp_millis();
            let values = values.iter().map(|value| at(value).map(millis));
            Arc::new(PrimitiveArray::<TimestampMillisecondType>::from_iter(values))
        }
        DataType::Time32(_) => Arc::new(PrimitiveArray::<Time32MillisecondType>::from_iter(values.iter().map(
            |value| {
                let time = at(value)?.time();
                let millis = time.num_seconds_from_midnight() * 1000 + time.nanosecond() / 1_000_000;
                i32::try_from(millis).ok()
            },
        ))),
        _ => {
            let mut texts = StringBuilder::new();
            for value in values {
                match value {
                    Data::Empty | Data::Error(_) => texts.append_null(),
                    value => texts.append_value(text(value)),
                }
            }
            Arc::new(texts.finish())
        }
    }
}

fn whole(value: &Data) -> Option<i64> {
    match value {
        Data::Int(number) => Some(*number),
        // Whole numbers of a column of them are exact.
        Data::Float(number) if number.fract() == 0.0 => Some(*number as i64),
        _ => None,
    }
}
