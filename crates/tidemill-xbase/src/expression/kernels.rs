//! Loops over whole columns for the operations that filters and keys are made of.
//!
//! A kernel is a faster way to what `operators` and `functions` say, and no meaning of its own: where there is none, the
//! column form calls those for each row, and a property test holds both against the row form.

mod arithmetic;
mod compare;
mod logic;
mod text;

use arrow_buffer::NullBuffer;

use super::column::{Data, Vector};
use super::environment::Environment;
use super::program::TooLong;
use super::syntax::BinaryOperator;

pub(super) use arithmetic::minus;
pub(super) use logic::not;
pub(super) use text::map as mapped;

/// What a kernel gives.
type Made = Result<Vector, TooLong>;

/// An operation on two columns, or on a column and a constant; `None` where no kernel knows it.
pub(super) fn binary(
    operator: BinaryOperator,
    left: &Vector,
    right: &Vector,
    rows: usize,
    environment: &Environment,
) -> Option<Made> {
    use BinaryOperator as B;
    match operator {
        B::And | B::Or => logic::combine(operator, left, right).map(Ok),
        B::Contains => None,
        B::Plus => text::concatenate(left, right, rows).or_else(|| arithmetic::binary(operator, left, right).map(Ok)),
        B::Minus | B::Times | B::Divide | B::Modulo | B::Power => arithmetic::binary(operator, left, right).map(Ok),
        _ => compare::compare(operator, left, right, environment).map(Ok),
    }
}

/// A function over columns; `None` where no kernel knows it.
pub(super) fn call(name: &str, arguments: &[Vector], rows: usize, environment: &Environment) -> Option<Made> {
    match (name, arguments) {
        ("UPPER", [texts]) => text::map(texts, environment.letters.upper(), <[u8]>::to_ascii_uppercase).map(Ok),
        ("LOWER", [texts]) => text::map(texts, environment.letters.lower(), <[u8]>::to_ascii_lowercase).map(Ok),
        ("DTOS", [days]) => text::compact_dates(days, rows),
        ("LEFT" | "SUBSTR", [texts, rest @ ..]) => text::substring(name, texts, rest, rows),
        _ => None,
    }
}

/// What is null where either is.
fn either_null(left: &Vector, right: &Vector) -> Option<NullBuffer> {
    NullBuffer::union(left.nulls(), right.nulls())
}

/// A column of true and false.
fn logical(bits: arrow_buffer::BooleanBuffer, nulls: Option<NullBuffer>) -> Vector {
    Vector::Column(Data::Logical(bits), nulls)
}
