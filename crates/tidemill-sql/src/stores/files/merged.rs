//! Merges the columns of files that form one table: all columns, by name, with types that hold the values of each file.

use std::sync::Arc;

use arrow_schema::{DECIMAL128_MAX_PRECISION, DataType, Field, FieldRef, Fields, Schema, SchemaRef, TimeUnit};

use crate::{Error, Result};

/// The merged columns. A column that some files lack is NULL in their rows.
///
/// # Errors
///
/// [`Error::Unsupported`] for a column with incompatible types.
pub(super) fn merged(files: &[(String, SchemaRef)]) -> Result<SchemaRef> {
    let Some(((_, first), others)) = files.split_first() else {
        return Ok(Arc::new(Schema::empty()));
    };
    if others.iter().all(|(_, schema)| schema.fields() == first.fields()) {
        return Ok(Arc::clone(first));
    }
    // Each column, with the first file that has it.
    let mut columns: Vec<(FieldRef, &str, usize)> = Vec::new();
    for (file, schema) in files {
        for field in schema.fields() {
            let known = columns.iter_mut().find(|(known, ..)| known.name() == field.name());
            let Some((known, from, count)) = known else {
                columns.push((Arc::clone(field), file, 1));
                continue;
            };
            *count += 1;
            let wider = wider(known.data_type(), field.data_type()).ok_or_else(|| Error::Unsupported {
                what: format!(
                    "one table of {from} and {file}, whose columns {} are of {} and {},",
                    field.name(),
                    known.data_type(),
                    field.data_type()
                ),
                hint: "name the files one by one, and give the columns one type with CAST and UNION ALL".to_owned(),
            })?;
            let is_nullable = known.is_nullable() || field.is_nullable();
            let both = Field::clone(known).with_data_type(wider).with_nullable(is_nullable);
            *known = Arc::new(both);
        }
    }
    let columns = columns.into_iter().map(|(field, _, count)| match count == files.len() {
        true => field,
        false => Arc::new(Field::clone(&field).with_nullable(true)),
    });
    Ok(Arc::new(Schema::new_with_metadata(
        columns.collect::<Fields>(),
        first.metadata().clone(),
    )))
}

/// The columns of all files, which must be equal.
///
/// # Errors
///
/// [`Error::Unsupported`] for a file with other columns.
pub(super) fn same(files: &[(String, SchemaRef)]) -> Result<SchemaRef> {
    let Some(((first, schema), others)) = files.split_first() else {
        return Ok(Arc::new(Schema::empty()));
    };
    match others.iter().find(|(_, other)| other.fields() != schema.fields()) {
        None => Ok(Arc::clone(schema)),
        Some((other, _)) => Err(Error::Unsupported {
            what: format!("one table of {first} and {other}, which have other columns,"),
            hint: "name the files one by one, with UNION ALL".to_owned(),
        }),
    }
}

/// A type that holds the values of both.
fn wider(a: &DataType, b: &DataType) -> Option<DataType> {
    use DataType as D;
    if a == b {
        return Some(a.clone());
    }
    Some(match (a, b) {
        (D::Null, other) | (other, D::Null) => other.clone(),
        (D::Dictionary(_, value), other) | (other, D::Dictionary(_, value)) => wider(value, other)?,
        (D::Utf8 | D::LargeUtf8 | D::Utf8View, D::Utf8 | D::LargeUtf8 | D::Utf8View) => D::LargeUtf8,
        (D::Binary | D::LargeBinary | D::BinaryView, D::Binary | D::LargeBinary | D::BinaryView) => D::LargeBinary,
        (D::Timestamp(a, zone), D::Timestamp(b, other)) if zone == other => D::Timestamp(finer(*a, *b), zone.clone()),
        (D::Time32(a) | D::Time64(a), D::Time32(b) | D::Time64(b)) => match finer(*a, *b) {
            unit @ (TimeUnit::Second | TimeUnit::Millisecond) => D::Time32(unit),
            unit => D::Time64(unit),
        },
        (D::Duration(a), D::Duration(b)) => D::Duration(finer(*a, *b)),
        (D::Date32 | D::Date64, D::Date32 | D::Date64) => D::Date64,
        (a, b) => wider_number(a, b)?,
    })
}

fn finer(a: TimeUnit, b: TimeUnit) -> TimeUnit {
    a.max(b)
}

fn wider_number(a: &DataType, b: &DataType) -> Option<DataType> {
    use DataType as D;
    if let (Some(one), Some(other)) = (whole(a), whole(b)) {
        let is_signed = one.0 || other.0;
        let bits = |(signed, bits): (bool, u32)| if is_signed && !signed { bits * 2 } else { bits };
        return Some(match (is_signed, bits(one).max(bits(other))) {
            (true, 8) => D::Int8,
            (true, 16) => D::Int16,
            (true, 32) => D::Int32,
            (true, 64) => D::Int64,
            (true, _) => D::Decimal128(20, 0),
            (false, 8) => D::UInt8,
            (false, 16) => D::UInt16,
            (false, 32) => D::UInt32,
            (false, _) => D::UInt64,
        });
    }
    if is_float(a) || is_float(b) {
        let narrow =
            |of: &DataType| matches!(of, D::Float16 | D::Float32) || whole(of).is_some_and(|(_, bits)| bits <= 16);
        let is_number = |of: &DataType| is_float(of) || whole(of).is_some();
        return match (is_number(a) && is_number(b), narrow(a) && narrow(b)) {
            (false, _) => None,
            (true, true) => Some(D::Float32),
            (true, false) => Some(D::Float64),
        };
    }
    // Digits before and after the point.
    let digits = |of: &DataType| match of {
        D::Decimal32(precision, scale) | D::Decimal64(precision, scale) | D::Decimal128(precision, scale) => {
            Some((i16::from(*precision) - i16::from(*scale), i16::from(*scale)))
        }
        of => whole(of).map(|(_, bits)| (if bits == 64 { 20 } else { 10 }, 0)),
    };
    let ((whole, scale), (other_whole, other_scale)) = (digits(a)?, digits(b)?);
    let (whole, scale) = (whole.max(other_whole), scale.max(other_scale));
    // A value beyond the widest decimal is an error when it is read.
    let precision = u8::try_from(whole + scale).ok()?.min(DECIMAL128_MAX_PRECISION);
    Some(D::Decimal128(precision, i8::try_from(scale).ok()?))
}

/// Whether a type of whole numbers is signed, and its bits.
fn whole(data_type: &DataType) -> Option<(bool, u32)> {
    use DataType as D;
    Some(match data_type {
        D::Int8 => (true, 8),
        D::Int16 => (true, 16),
        D::Int32 => (true, 32),
        D::Int64 => (true, 64),
        D::UInt8 => (false, 8),
        D::UInt16 => (false, 16),
        D::UInt32 => (false, 32),
        D::UInt64 => (false, 64),
        _ => return None,
    })
}

fn is_float(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Float16 | DataType::Float32 | DataType::Float64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_hold_the_values_of_both() {
        use DataType as D;
        for (a, b, expected) in [
            (D::Int64, D::Int64, Some(D::Int64)),
            (D::Int32, D::Int64, Some(D::Int64)),
            (D::UInt32, D::Int8, Some(D::Int64)),
            (D::UInt64, D::Int8, Some(D::Decimal128(20, 0))),
            (D::UInt8, D::UInt64, Some(D::UInt64)),
            (D::Int64, D::Float64, Some(D::Float64)),
            (D::Int16, D::Float32, Some(D::Float32)),
            (D::Int32, D::Float32, Some(D::Float64)),
            (D::Decimal128(10, 1), D::Decimal128(5, 3), Some(D::Decimal128(12, 3))),
            (D::Decimal128(10, 2), D::Int64, Some(D::Decimal128(22, 2))),
            (D::Decimal128(38, 2), D::Int64, Some(D::Decimal128(38, 2))),
            (D::Decimal128(38, 2), D::Decimal128(38, 3), Some(D::Decimal128(38, 3))),
            (D::Decimal128(10, 2), D::Float64, None),
            (D::Boolean, D::Int64, None),
            (D::Utf8, D::Int64, None),
            (D::Null, D::Int64, Some(D::Int64)),
            (
                D::Timestamp(TimeUnit::Millisecond, None),
                D::Timestamp(TimeUnit::Microsecond, None),
                Some(D::Timestamp(TimeUnit::Microsecond, None)),
            ),
            (
                D::Timestamp(TimeUnit::Second, None),
                D::Timestamp(TimeUnit::Second, Some("UTC".into())),
                None,
            ),
            (
                D::Time32(TimeUnit::Second),
                D::Time64(TimeUnit::Nanosecond),
                Some(D::Time64(TimeUnit::Nanosecond)),
            ),
        ] {
            assert_eq!(wider(&a, &b), expected, "{a} {b}");
            assert_eq!(wider(&b, &a), expected, "{b} {a}");
        }
    }
}
