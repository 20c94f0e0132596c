//! Converts rows to the columns that a table of a server expects.
//!
//! The server determines the columns. A column of another type is converted if every value converts back to the same value; otherwise the
//! first that does not is an error, with its row.

use std::sync::Arc;

use arrow_array::builder::FixedSizeBinaryBuilder;
use arrow_array::cast::AsArray as _;
use arrow_array::{Array, ArrayRef, FixedSizeBinaryArray, RecordBatch, new_null_array};
use arrow_cast::display::array_value_to_string;
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{DataType as ArrowType, Field, SchemaRef, TimeUnit};
use uuid::Uuid;

#[cfg(any(
    feature = "adbc",
    feature = "flight",
    feature = "mysql",
    feature = "postgres",
    feature = "sqlite"
))]
use super::IfThere;
use super::read_text::first_loss;
use crate::uuid_text::is_uuid;
use crate::{Error, Result};

/// The batch converted to the expected columns; its rows follow `before` others.
pub(crate) fn fitted(batch: &RecordBatch, expected: &SchemaRef, place: &str, before: u64) -> Result<RecordBatch> {
    let found = batch.schema();
    if let Some(surplus) = found
        .fields()
        .iter()
        .find(|field| column_of(expected, field.name()).is_none())
    {
        return Err(unfit(place, surplus.name(), "the table has no such column"));
    }
    let mut columns = Vec::with_capacity(expected.fields().len());
    for field in expected.fields() {
        let column = column_of(&found, field.name()).ok_or_else(|| {
            unfit(
                place,
                field.name(),
                "the rows have no such column; name the columns to insert",
            )
        })?;
        let column = batch.column(column);
        if let Some(nulls) = column.nulls().filter(|_| !field.is_nullable())
            && let Some(row) = nulls.iter().position(|is_valid| !is_valid)
        {
            let row = before + row as u64 + 1;
            return Err(unfit(
                place,
                field.name(),
                format!("row {row}: NULL, which the column does not take"),
            ));
        }
        columns.push(converted(column, field, place, before)?);
    }
    // Nullability is determined by the values, not by the source's schema.
    let fields: Vec<Field> = expected
        .fields()
        .iter()
        .zip(&columns)
        .map(|(field, column)| {
            field
                .as_ref()
                .clone()
                .with_nullable(column.null_count() > 0 || field.is_nullable())
        })
        .collect();
    Ok(RecordBatch::try_new(
        Arc::new(arrow_schema::Schema::new(fields)),
        columns,
    )?)
}

/// The columns of a table that the rows are for: the named ones; without names, those of the rows, or all of the table's in order.
#[cfg(any(
    feature = "adbc",
    feature = "flight",
    feature = "mysql",
    feature = "postgres",
    feature = "sqlite"
))]
pub(crate) fn columns_for(
    known: &SchemaRef,
    rows: &SchemaRef,
    filling: (&[String], IfThere),
    place: &str,
) -> Result<SchemaRef> {
    let (columns, there) = filling;
    let of = |schema: &SchemaRef| schema.fields().iter().map(|field| field.name().clone()).collect();
    let names: Vec<String> = match columns.is_empty() {
        false => columns.to_vec(),
        true if there.is_by_place() => of(known),
        true => of(rows),
    };
    let places = names
        .iter()
        .map(|name| column_of(known, name).ok_or_else(|| unfit(place, name, "the table has no such column")));
    Ok(Arc::new(known.project(&places.collect::<Result<Vec<_>>>()?)?))
}

/// The column with this name; without an exact match, one that differs only in case.
pub(crate) fn column_of(schema: &SchemaRef, name: &str) -> Option<usize> {
    schema.index_of(name).ok().or_else(|| {
        let mut fitting = schema
            .fields()
            .iter()
            .enumerate()
            .filter(|(_, field)| field.name().eq_ignore_ascii_case(name));
        match (fitting.next(), fitting.next()) {
            (Some((index, _)), None) => Some(index),
            _ => None,
        }
    })
}

fn converted(column: &ArrayRef, field: &Field, place: &str, before: u64) -> Result<ArrayRef> {
    let (from, to) = (column.data_type(), field.data_type());
    if from == to {
        return Ok(Arc::clone(column));
    }
    // It has no values that could be lost.
    if *from == ArrowType::Null {
        return Ok(new_null_array(to, column.len()));
    }
    // Only Arrow treats the days of a date as a number.
    if (from.is_numeric() && to.is_temporal()) || (from.is_temporal() && to.is_numeric()) {
        return Err(unfit(
            place,
            field.name(),
            format!("{from} is not {to}: CAST the values"),
        ));
    }
    let strict = CastOptions {
        safe: false,
        ..CastOptions::default()
    };
    if let (true, ArrowType::FixedSizeBinary(width)) = (from.is_string() || from.is_binary(), to) {
        return of_one_width(column, *width, is_uuid(field)).map_err(|row| {
            let (row_no, value) = (before + row as u64 + 1, as_text(&column.slice(row, 1)));
            let why = match from.is_string() && is_uuid(field) {
                true => format!("row {row_no}: {value} is no UUID"),
                false => format!("row {row_no}: {value} has more than {width} bytes"),
            };
            unfit(place, field.name(), why)
        });
    }
    let from_instants = as_instants(column, to)?;
    let there = cast_with_options(&from_instants, to, &strict).map_err(|error| unfit(place, field.name(), error))?;
    let unfit_row = |row: usize, kept: &str| {
        let (row_no, value) = (before + row as u64 + 1, as_text(&column.slice(row, 1)));
        let why = format!("row {row_no}: {value} does not fit {to}, which would keep {kept}");
        Err(unfit(place, field.name(), why))
    };
    // Text is parsed, and not converted back: "007" is a number too.
    if from.is_string() {
        return match first_loss(column, &there)? {
            None => Ok(there),
            Some((row, kept)) => unfit_row(row, &kept),
        };
    }
    let back = cast_with_options(&there, from_instants.data_type(), &strict);
    let back = back.map_err(|error| unfit(place, field.name(), error))?;
    if back.to_data() == from_instants.to_data() {
        return Ok(there);
    }
    let changed = (0..column.len()).find(|&row| {
        let (a, b) = (column.slice(row, 1), back.slice(row, 1));
        a.to_data() != b.to_data() && as_text(&a) != as_text(&b)
    });
    match changed {
        None => Ok(there),
        Some(row) => unfit_row(row, &as_text(&back.slice(row, 1))),
    }
}

/// Texts and bytes as bytes of a fixed width, padded with NUL, as in ClickHouse's FixedString; texts of UUIDs as UUIDs. Fails with the row
/// of a value that is longer, or not a UUID.
pub(crate) fn of_one_width(column: &ArrayRef, width: i32, is_uuid: bool) -> std::result::Result<ArrayRef, usize> {
    if is_uuid && column.data_type().is_string() {
        let texts = arrow_cast::cast(column, &ArrowType::Utf8).map_err(|_| 0_usize)?;
        let texts = texts.as_string::<i32>().iter().enumerate();
        let uuids = texts.map(|(row, text)| {
            let uuid = text
                .map(|text| Uuid::try_parse(text.trim()).map_err(|_| row))
                .transpose()?;
            Ok(uuid.map(Uuid::into_bytes))
        });
        let uuids = uuids.collect::<std::result::Result<Vec<_>, usize>>()?;
        let uuids = FixedSizeBinaryArray::try_from_sparse_iter_with_size(uuids.into_iter(), width);
        return uuids.map(|uuids| Arc::new(uuids) as ArrayRef).map_err(|_| 0);
    }
    let values = arrow_cast::cast(column, &ArrowType::Binary).map_err(|_| 0_usize)?;
    let values = values.as_binary::<i32>();
    let mut bytes = FixedSizeBinaryBuilder::with_capacity(values.len(), width);
    let mut one = vec![0; usize::try_from(width).unwrap_or_default()];
    for (row, value) in values.iter().enumerate() {
        let Some(value) = value else {
            bytes.append_null();
            continue;
        };
        one.fill(0);
        let room = one.get_mut(..value.len()).ok_or(row)?;
        room.copy_from_slice(value);
        bytes.append_value(&one).map_err(|_| row)?;
    }
    Ok(Arc::new(bytes.finish()))
}

/// Times without zone are instants in UTC, whatever the zone of the target column is.
fn as_instants(column: &ArrayRef, to: &ArrowType) -> Result<ArrayRef> {
    let zoned = |unit: &TimeUnit| ArrowType::Timestamp(*unit, Some("UTC".into()));
    match (column.data_type(), to) {
        (ArrowType::Timestamp(unit, None), ArrowType::Timestamp(_, Some(_))) => {
            Ok(arrow_cast::cast(column, &zoned(unit))?)
        }
        _ => Ok(Arc::clone(column)),
    }
}

fn as_text(value: &ArrayRef) -> String {
    array_value_to_string(value, 0).unwrap_or_else(|error| error.to_string())
}

pub(crate) fn unfit(place: &str, column: &str, why: impl std::fmt::Display) -> Error {
    Error::UnfitColumn {
        place: place.to_owned(),
        column: column.to_owned(),
        why: why.to_string(),
        hint: "a SELECT gives the columns the names and types of the table".to_owned(),
    }
}
