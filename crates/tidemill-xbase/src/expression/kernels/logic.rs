//! `.AND.`, `.OR.`, `.NOT.` on words of 64 rows.

use arrow_buffer::BooleanBuffer;

use super::super::column::{Data, Vector};
use super::super::syntax::BinaryOperator;
use super::super::value::{Type, Value};
use super::logical;

/// `.NOT.`; what is null stays so.
pub(in super::super) fn not(operand: Vector) -> Vector {
    match operand {
        Vector::Column(Data::Logical(bits), nulls) => logical(!&bits, nulls),
        Vector::Constant(Value::Logical(l), type_of) => Vector::Constant(Value::Logical(!l), type_of),
        _ => Vector::Constant(Value::Null, Type::Logical),
    }
}

/// `.AND.` and `.OR.` of two columns without nulls, or of a column and a constant.
pub(super) fn combine(operator: BinaryOperator, left: &Vector, right: &Vector) -> Option<Vector> {
    let is_and = operator == BinaryOperator::And;
    match (left, right) {
        (Vector::Column(Data::Logical(l), None), Vector::Column(Data::Logical(r), None)) => {
            let bits: BooleanBuffer = if is_and { l & r } else { l | r };
            Some(logical(bits, None))
        }
        (column @ Vector::Column(..), Vector::Constant(Value::Logical(constant), _))
        | (Vector::Constant(Value::Logical(constant), _), column @ Vector::Column(..)) => {
            // True leaves `.AND.` to the column and decides `.OR.`
            Some(if *constant == is_and {
                column.clone()
            } else {
                Vector::Constant(Value::Logical(*constant), Type::Logical)
            })
        }
        _ => None,
    }
}
