//! Comparisons into bits.

use std::cmp::Ordering;

use arrow_buffer::BooleanBuffer;

use super::super::column::{Data, Strings, Vector};
use super::super::environment::Environment;
use super::super::operators::{numbers_relate, order_of_texts, relates};
use super::super::syntax::BinaryOperator;
use super::super::value::Value;
use super::{either_null, logical};

/// Columns with columns and with constants on their right; `None` for what else there is.
pub(super) fn compare(
    operator: BinaryOperator,
    left: &Vector,
    right: &Vector,
    environment: &Environment,
) -> Option<Vector> {
    let bits = match (left, right) {
        (Vector::Column(Data::Character(texts), _), Vector::Constant(Value::Character(constant), _)) => {
            match operator {
                BinaryOperator::Equal | BinaryOperator::ExactlyEqual => equal(operator, texts, constant, environment),
                BinaryOperator::NotEqual => !&equal(BinaryOperator::Equal, texts, constant, environment),
                _ => BooleanBuffer::collect_bool(texts.len(), |row| {
                    relates(operator, order(texts, row, constant, environment))
                }),
            }
        }
        (Vector::Column(Data::Number(l), _), Vector::Constant(Value::Number(r), _)) => {
            BooleanBuffer::collect_bool(l.len(), |row| numbers_relate(operator, l[row], *r))
        }
        (Vector::Column(Data::Number(l), _), Vector::Column(Data::Number(r), _)) if l.len() == r.len() => {
            BooleanBuffer::collect_bool(l.len(), |row| numbers_relate(operator, l[row], r[row]))
        }
        (Vector::Column(Data::Date(l), _), Vector::Constant(Value::Date(r), _)) => {
            BooleanBuffer::collect_bool(l.len(), |row| relates(operator, l[row].cmp(r)))
        }
        _ => return None,
    };
    Some(logical(bits, either_null(left, right)))
}

/// Whether each text equals a constant, under SET EXACT or not, or `==`.
///
/// Blanks at the end of the constant are never compared byte by byte: what counts is that a text begins with the rest of
/// it, and what may stand behind that.
fn equal(operator: BinaryOperator, texts: &Strings, constant: &[u8], environment: &Environment) -> BooleanBuffer {
    let blanks = constant.iter().rev().take_while(|b| **b == b' ').count();
    let head = constant.get(..constant.len() - blanks).unwrap_or_default();
    // How far a text is looked at: all of it, or as far as the constant goes.
    let reach = match operator {
        BinaryOperator::Equal if !environment.exact => constant.len(),
        _ => usize::MAX,
    };
    let length = |stored: usize| stored.max(texts.width);
    let fits = |stored: usize| match operator {
        BinaryOperator::ExactlyEqual => length(stored) == constant.len(),
        _ if environment.exact => true,
        _ => length(stored) >= constant.len(),
    };
    let begins = |stored: &[u8]| stored.get(..head.len()) == Some(head);
    let test = |stored: &[u8]| {
        let behind = stored.get(head.len()..stored.len().min(reach)).unwrap_or_default();
        fits(stored.len()) && behind.iter().all(|b| *b == b' ')
    };
    match Word::new(head) {
        Some(word) => {
            let bytes = texts.bytes.as_slice();
            if let Some((first, len)) = texts.stored_len().filter(|(_, len)| *len == head.len()) {
                // Nothing stands behind the head in any text, and no offset need be looked at.
                let is_possible = fits(len);
                let all = bytes.get(first..).unwrap_or_default();
                return BooleanBuffer::collect_bool(texts.len(), |row| {
                    let start = row * len;
                    match all.get(start..start + 8).and_then(|rest| rest.first_chunk()) {
                        Some(chunk) => word.begins(*chunk) && is_possible,
                        None => begins(all.get(start..start + len).unwrap_or_default()) && is_possible,
                    }
                });
            }
            let mut places = texts.offsets.iter().zip(texts.offsets.iter().skip(1));
            BooleanBuffer::collect_bool(texts.len(), |row| {
                let (start, end) = places
                    .next()
                    .map_or((0, 0), |(start, end)| (place(*start), place(*end)));
                // A word may reach into the next text; its upper bytes are masked.
                match bytes.get(start..).and_then(|rest| rest.first_chunk()) {
                    Some(chunk) => {
                        word.begins(*chunk)
                            && end - start >= head.len()
                            && test(bytes.get(start..end).unwrap_or_default())
                    }
                    None => {
                        let stored = texts.stored(row);
                        begins(stored) && test(stored)
                    }
                }
            })
        }
        None => BooleanBuffer::collect_bool(texts.len(), |row| {
            let stored = texts.stored(row);
            begins(stored) && test(stored)
        }),
    }
}

#[inline]
fn place(offset: i32) -> usize {
    // Offsets are not negative; if one were, there would be nothing at its place.
    usize::try_from(offset.cast_unsigned()).unwrap_or(usize::MAX)
}

/// Up to eight bytes to compare at once.
struct Word {
    bytes: u64,
    mask: u64,
}

impl Word {
    fn new(head: &[u8]) -> Option<Self> {
        let mut bytes = [0; 8];
        bytes.get_mut(..head.len())?.copy_from_slice(head);
        let unused = u32::try_from(8 * (8 - head.len())).ok()?;
        Some(Self {
            bytes: u64::from_le_bytes(bytes),
            mask: u64::MAX.checked_shr(unused).unwrap_or(0),
        })
    }

    #[inline]
    fn begins(&self, chunk: [u8; 8]) -> bool {
        u64::from_le_bytes(chunk) & self.mask == self.bytes
    }
}

/// The order of a text and a constant.
fn order(texts: &Strings, row: usize, constant: &[u8], environment: &Environment) -> Ordering {
    let stored = texts.stored(row);
    if environment.weights.is_some() || environment.exact || stored.len() >= texts.width {
        return order_of_texts(&texts.text(row), constant, environment);
    }
    // The blanks that fill the text up need not be there to be compared.
    let seen = texts.width.min(constant.len());
    let (stored, rest) = match stored.get(..seen) {
        Some(stored) => (stored, &[][..]),
        None => (stored, constant.get(stored.len()..seen).unwrap_or_default()),
    };
    let against = constant.get(..stored.len()).unwrap_or(constant);
    let fill = || {
        rest.iter()
            .map(|b| b' '.cmp(b))
            .find(|o| o.is_ne())
            .unwrap_or(Ordering::Equal)
    };
    stored
        .cmp(against)
        .then_with(fill)
        .then_with(|| seen.cmp(&constant.len()))
}
