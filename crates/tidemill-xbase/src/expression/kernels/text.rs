//! Texts made of texts.

use super::super::column::{Data, MAX_COLUMN, Strings, TextBuilder, Vector};
use super::super::format::compact_date;
use super::super::functions::substring as part_of;
use super::super::program::TooLong;
use super::super::value::Value;
use super::{Made, either_null};

/// Every byte through a table, whose ASCII half does what `ascii` does (16 bytes at once). Blanks that are not stored
/// stay so: every table keeps the blank.
pub(in crate::expression) fn map(texts: &Vector, table: &[u8; 256], ascii: fn(&[u8]) -> Vec<u8>) -> Option<Vector> {
    let Vector::Column(Data::Character(texts), nulls) = texts else {
        return None;
    };
    let bytes: Vec<u8> = if texts.bytes.is_ascii() {
        ascii(&texts.bytes)
    } else {
        texts.bytes.iter().map(|b| table[usize::from(*b)]).collect()
    };
    let mapped = Strings {
        offsets: texts.offsets.clone(),
        bytes: bytes.into(),
        width: texts.width,
    };
    Some(Vector::Column(Data::Character(mapped), nulls.clone()))
}

/// One side of a concatenation.
enum Side<'a> {
    Column(&'a Strings),
    Constant(&'a [u8]),
}

impl<'a> Side<'a> {
    fn of(vector: &'a Vector) -> Option<Self> {
        match vector {
            Vector::Column(Data::Character(texts), _) => Some(Self::Column(texts)),
            Vector::Constant(Value::Character(text), _) => Some(Self::Constant(text)),
            _ => None,
        }
    }

    /// The length that every text has, where they all have one.
    fn common_len(&self) -> Option<usize> {
        match self {
            Self::Constant(text) => Some(text.len()),
            Self::Column(texts) => texts.common_len(),
        }
    }

    /// The stored bytes of a row.
    #[inline]
    fn stored(&self, row: usize) -> &[u8] {
        match self {
            Self::Constant(text) => text,
            Self::Column(texts) => texts.stored(row),
        }
    }

    #[inline]
    fn append(&self, row: usize, builder: &mut TextBuilder) {
        match self {
            Self::Constant(text) => builder.bytes.extend_from_slice(text),
            Self::Column(texts) => {
                let stored = texts.stored(row);
                builder.bytes.extend_from_slice(stored);
                builder.blanks(texts.width.saturating_sub(stored.len()));
            }
        }
    }

    fn size(&self, rows: usize) -> usize {
        match self {
            Self::Constant(text) => text.len().saturating_mul(rows),
            Self::Column(texts) => texts.bytes.len().max(texts.width.saturating_mul(rows)),
        }
    }
}

/// `+` of texts.
pub(super) fn concatenate(left: &Vector, right: &Vector, rows: usize) -> Option<Made> {
    let (l, r) = (Side::of(left)?, Side::of(right)?);
    let nulls = either_null(left, right);
    if let (Some(l_len), Some(r_len)) = (l.common_len(), r.common_len()) {
        let made = concatenate_fixed((&l, l_len), (&r, r_len), rows);
        return Some(made.map(|texts| Vector::Column(Data::Character(texts), nulls)));
    }
    let mut builder = TextBuilder::new(rows, l.size(rows).saturating_add(r.size(rows)));
    for row in 0..rows {
        l.append(row, &mut builder);
        r.append(row, &mut builder);
        if let Err(e) = builder.end() {
            return Some(Err(e));
        }
    }
    Some(Ok(Vector::Column(Data::Character(builder.finish()), nulls)))
}

/// Texts of two lengths, whose blanks are there before them.
fn concatenate_fixed(
    (l, l_len): (&Side<'_>, usize),
    (r, r_len): (&Side<'_>, usize),
    rows: usize,
) -> Result<Strings, TooLong> {
    let len = l_len.saturating_add(r_len);
    let size = len.saturating_mul(rows);
    if size > MAX_COLUMN {
        return Err(TooLong(size));
    }
    let mut bytes = vec![b' '; size];
    for (row, out) in bytes.chunks_exact_mut(len.max(1)).enumerate() {
        let (left, right) = out.split_at_mut(l_len);
        put(left, l.stored(row));
        put(right, r.stored(row));
    }
    Strings::fixed(bytes, len, rows)
}

#[inline]
fn put(to: &mut [u8], from: &[u8]) {
    if let Some(to) = to.get_mut(..from.len()) {
        to.copy_from_slice(from);
    }
}

/// `DTOS()`.
pub(super) fn compact_dates(days: &Vector, rows: usize) -> Option<Made> {
    let Vector::Column(Data::Date(days), nulls) = days else {
        return None;
    };
    let mut bytes = Vec::with_capacity(rows.saturating_mul(8));
    for day in days.iter() {
        bytes.extend_from_slice(&compact_date(*day));
    }
    let texts = Strings::fixed(bytes, 8, days.len());
    Some(texts.map(|texts| Vector::Column(Data::Character(texts), nulls.clone())))
}

/// `LEFT()` and `SUBSTR()` with constant places.
pub(super) fn substring(name: &str, texts: &Vector, places: &[Vector], rows: usize) -> Option<Made> {
    let Vector::Column(Data::Character(texts), nulls) = texts else {
        return None;
    };
    let number = |vector: &Vector| match vector {
        Vector::Constant(n @ Value::Number(_), _) => Some(n.integer()),
        _ => None,
    };
    let (from, len) = match (name, places) {
        ("LEFT", [len]) => (1, number(len)?),
        (_, [from]) => (number(from)?, i64::MAX),
        (_, [from, len]) => (number(from)?, number(len)?),
        _ => return None,
    };
    let mut builder = TextBuilder::new(rows, texts.bytes.len());
    for row in 0..rows {
        builder.bytes.extend_from_slice(part_of(&texts.text(row), from, len));
        if let Err(e) = builder.end() {
            return Some(Err(e));
        }
    }
    Some(Ok(Vector::Column(Data::Character(builder.finish()), nulls.clone())))
}
