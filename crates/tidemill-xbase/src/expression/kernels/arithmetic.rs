//! Operations on numbers.

use arrow_buffer::ScalarBuffer;

use super::super::column::{Data, Vector};
use super::super::operators::arithmetic;
use super::super::syntax::BinaryOperator;
use super::super::value::{Type, Value};
use super::either_null;

/// The sign turned around.
pub(in super::super) fn minus(operand: Vector) -> Vector {
    match operand {
        Vector::Column(Data::Number(numbers), nulls) => {
            Vector::Column(Data::Number(numbers.iter().map(|n| -n).collect()), nulls)
        }
        Vector::Constant(Value::Number(n), type_of) => Vector::Constant(Value::Number(-n), type_of),
        _ => Vector::Constant(Value::Null, Type::Number),
    }
}

/// Numbers with numbers; dates are left to the loop over rows.
pub(super) fn binary(operator: BinaryOperator, left: &Vector, right: &Vector) -> Option<Vector> {
    let numbers: ScalarBuffer<f64> = match (left, right) {
        (Vector::Column(Data::Number(l), _), Vector::Column(Data::Number(r), _)) => l
            .iter()
            .zip(r.iter())
            .map(|(l, r)| arithmetic(operator, *l, *r))
            .collect(),
        (Vector::Column(Data::Number(l), _), Vector::Constant(Value::Number(r), _)) => {
            l.iter().map(|l| arithmetic(operator, *l, *r)).collect()
        }
        (Vector::Constant(Value::Number(l), _), Vector::Column(Data::Number(r), _)) => {
            r.iter().map(|r| arithmetic(operator, *l, *r)).collect()
        }
        _ => return None,
    };
    Some(Vector::Column(Data::Number(numbers), either_null(left, right)))
}
