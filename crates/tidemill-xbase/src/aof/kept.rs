//! Leaves of a condition that are answered from what is kept of a table's columns.

use crate::bitmap::Bitmap;
use crate::columns::Columns;
use crate::error::Result;
use crate::field::FieldKind;
use crate::kernels::words::WordTest;

use super::leaf::{Leaf, Test, choose};
use super::steps::Step;

/// A leaf as a test of kept words.
enum Kept {
    /// Of those of a field.
    Words(usize, WordTest),
    /// Of the deletion flag: what the leaf is for records with it, and for those without.
    Deleted { deleted: bool, other: bool },
}

/// The step with the sets that kept words give in the place of leaves. Where an order has ruled records out, those that are
/// left are read instead.
pub(super) fn from_words<'p>(step: Step<'p>, columns: &Columns) -> Result<Step<'p>> {
    match step.has_set() {
        true => Ok(step),
        false => answered(step, columns),
    }
}

fn answered<'p>(step: Step<'p>, columns: &Columns) -> Result<Step<'p>> {
    let part = |step: Step<'p>| answered(step, columns).map(Box::new);
    Ok(match step {
        Step::Leaf(leaf) => match set_of(&leaf, columns)? {
            Some(set) => Step::Set(set),
            None => Step::Leaf(leaf),
        },
        Step::Not(operand) => Step::Not(part(*operand)?),
        Step::And(left, right) => Step::And(part(*left)?, part(*right)?),
        Step::Or(left, right) => Step::Or(part(*left)?, part(*right)?),
        Step::Set(_) | Step::SetAndNulls(..) => step,
    })
}

/// The records that fulfil a leaf; `None` where words do not tell.
fn set_of(leaf: &Leaf, columns: &Columns) -> Result<Option<Bitmap>> {
    let Some(kept) = Kept::new(leaf, columns) else {
        return Ok(None);
    };
    let field = match &kept {
        Kept::Words(field, _) => Some(*field),
        Kept::Deleted { .. } => None,
    };
    let Some(voucher) = columns.words_voucher(field)? else {
        return Ok(None);
    };
    let records = columns.table().record_count();
    let mut bits = Vec::with_capacity((records as usize).div_ceil(64));
    for (chunk, records) in columns.chunks() {
        let begin = bits.len();
        bits.resize(begin + records.len().div_ceil(64), 0);
        let out = bits.get_mut(begin..).unwrap_or_default();
        match &kept {
            Kept::Words(field, test) => match columns.words(*field, chunk, &records, &voucher)? {
                Some(words) => test.run(&words, out),
                None => return Ok(None),
            },
            Kept::Deleted { deleted, other } => {
                for (word, marks) in out.iter_mut().zip(&*columns.deleted(chunk, &records, &voucher)?) {
                    *word = *marks;
                }
                choose(out, *deleted, *other);
            }
        }
    }
    Ok(Some(Bitmap::from_words(bits, records)))
}

impl Kept {
    fn new(leaf: &Leaf, columns: &Columns) -> Option<Self> {
        if leaf.null.is_some() {
            return None;
        }
        let field = || match leaf.program.fields().as_slice() {
            [field] => Some((*field, columns.table().fields().get(*field)?)),
            _ => None,
        };
        match leaf.test.as_ref()? {
            Test::Number(test) => Some(Self::Words(field()?.0, WordTest::number(test))),
            Test::Text { test, is_outside } => {
                let (field, described) = field()?;
                // The text of a day, too, is one of digits.
                let is_text = matches!(described.kind, FieldKind::Character | FieldKind::CharacterBinary);
                let test = WordTest::text(test, described.offset, described.width, *is_outside)?;
                is_text.then_some(Self::Words(field, test))
            }
            Test::Deleted { deleted, other } => Some(Self::Deleted {
                deleted: *deleted,
                other: *other,
            }),
            Test::Constant(_) | Test::Logical { .. } | Test::Cell { .. } | Test::Double(_) => None,
        }
    }
}
