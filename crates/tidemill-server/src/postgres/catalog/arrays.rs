//! Rewrites PostgreSQL's expressions over arrays of the catalogue to forms that DataFusion can plan.
//!
//! | PostgreSQL | DataFusion |
//! |---|---|
//! | `generate_subscripts(conkey, 1)` | `unnest(range(1, array_length(conkey) + 1))` |
//! | `(information_schema._pg_expandarray(indkey)).n` | `unnest(range(1, array_length(indkey) + 1))` |
//! | `information_schema._pg_expandarray(indkey)` | `unnest(_pg_expanded(indkey))`, of structs |
//! | `(keys).x` | `get_field(keys, 'x')` |
//! | `indoption[0]` | `indoption[1]`: vectors begin at 0, and arrays at 1 |
//! | `attnum = ANY(indkey)` | `array_has(indkey, attnum)` |

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::Int32Type;
use arrow_array::{Array as _, ArrayRef, Int32Array, ListArray, StructArray};
use arrow_schema::{DataType, Field, Fields};
use datafusion::arrow::buffer::OffsetBuffer;
use datafusion::arrow::compute::cast;
use datafusion::common::DataFusionError;
use datafusion::logical_expr::{ColumnarValue, ScalarUDF, Signature, SimpleScalarUDF, Volatility};
use sqlparser::ast::{
    AccessExpr, BinaryOperator, CastKind, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Subscript,
    Value,
};

use super::keys::VECTORS;
use super::rewrite::{call, last_part};

/// PostgreSQL's function, which returns rows.
const EXPAND: &str = "_pg_expandarray";

/// Our function, which returns a list.
const EXPANDED: &str = "_pg_expanded";

/// The replacement of an expression, found before its operands are visited.
pub(super) fn around(expression: &Expr) -> Option<Expr> {
    let Expr::CompoundFieldAccess { root, access_chain } = expression else {
        return None;
    };
    let [AccessExpr::Dot(Expr::Identifier(field))] = access_chain.as_slice() else {
        return None;
    };
    let root = bare(root);
    match expanded(root) {
        Some(array) if field.value.eq_ignore_ascii_case("n") => Some(unnested(subscripts(array, 1))),
        Some(array) => Some(unnested(array.clone())),
        None => {
            let field = Expr::value(Value::SingleQuotedString(field.value.to_lowercase()));
            Some(call("get_field", vec![root.clone(), field], Vec::new()))
        }
    }
}

/// The replacement of an expression, found after its operands were visited.
pub(super) fn within(expression: &mut Expr) -> Option<Expr> {
    match expression {
        Expr::CompoundFieldAccess { root, access_chain } => {
            let mut of_vector = is_vector(root);
            for access in access_chain {
                match access {
                    AccessExpr::Dot(column) => of_vector = is_vector(column),
                    AccessExpr::Subscript(Subscript::Index { index }) if of_vector => *index = sum(index.clone(), 1),
                    AccessExpr::Subscript(_) => {}
                }
            }
            None
        }
        Expr::AnyOp {
            left,
            compare_op: BinaryOperator::Eq,
            right,
            ..
        } => {
            let list = bare(right);
            let is_column = matches!(list, Expr::Identifier(_) | Expr::CompoundIdentifier(_));
            is_column.then(|| call("array_has", vec![list.clone(), (**left).clone()], Vec::new()))
        }
        Expr::Function(function) if last_part(&function.name) == "generate_subscripts" => {
            let array = first(function)?;
            let begin = if is_vector(array) { 0 } else { 1 };
            Some(unnested(subscripts(array, begin)))
        }
        Expr::Function(function) if last_part(&function.name) == EXPAND => {
            let array = first(function)?;
            Some(unnested(call(EXPANDED, vec![array.clone()], Vec::new())))
        }
        _ => None,
    }
}

/// Removes parentheses.
fn bare(expression: &Expr) -> &Expr {
    match expression {
        Expr::Nested(inner) => bare(inner),
        other => other,
    }
}

fn expanded(expression: &Expr) -> Option<&Expr> {
    match expression {
        Expr::Function(function) if last_part(&function.name) == EXPAND => first(function),
        _ => None,
    }
}

fn first(function: &Function) -> Option<&Expr> {
    let FunctionArguments::List(list) = &function.args else {
        return None;
    };
    match list.args.first()? {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(first)) => Some(first),
        _ => None,
    }
}

/// Whether it is a column of a type whose subscripts begin at 0.
fn is_vector(expression: &Expr) -> bool {
    let name = match bare(expression) {
        Expr::Identifier(name) => name,
        Expr::CompoundIdentifier(names) => match names.last() {
            Some(name) => name,
            None => return false,
        },
        _ => return false,
    };
    let name = name.value.to_lowercase();
    VECTORS.iter().any(|vector| name.ends_with(vector))
}

fn unnested(list: Expr) -> Expr {
    call("unnest", vec![list], Vec::new())
}

/// The subscripts of an array whose first is `begin`, as a list.
fn subscripts(array: &Expr, begin: i32) -> Expr {
    let length = Expr::Cast {
        kind: CastKind::Cast,
        expr: Box::new(call("array_length", vec![array.clone()], Vec::new())),
        data_type: sqlparser::ast::DataType::BigInt(None),
        array: false,
        format: None,
    };
    call("range", vec![number(begin), sum(length, begin)], Vec::new())
}

fn number(number: i32) -> Expr {
    Expr::value(Value::Number(number.to_string(), false))
}

fn sum(left: Expr, right: i32) -> Expr {
    Expr::BinaryOp {
        left: Box::new(Expr::Nested(Box::new(left))),
        op: BinaryOperator::Plus,
        right: Box::new(number(right)),
    }
}

/// `_pg_expanded(array)`: a list of its elements `x`, each with its position `n` from 1.
pub(super) fn expand_array() -> ScalarUDF {
    let element = Fields::from(vec![
        Field::new("x", DataType::Int32, true),
        Field::new("n", DataType::Int32, false),
    ]);
    let item = Arc::new(Field::new_list_field(DataType::Struct(element.clone()), true));
    let answer = DataType::List(Arc::clone(&item));
    let expand = move |given: &[ColumnarValue]| -> Result<ColumnarValue, DataFusionError> {
        let arrays = ColumnarValue::values_to_arrays(given)?;
        let numbers = DataType::new_list(DataType::Int32, true);
        let lists = match arrays.first() {
            Some(lists) => cast(lists, &numbers)?,
            None => return Err(DataFusionError::Plan(format!("{EXPANDED} takes an array"))),
        };
        let lists = lists.as_list::<i32>();
        let places = lists
            .offsets()
            .lengths()
            .flat_map(|length| 1..=i32::try_from(length).unwrap_or(i32::MAX));
        let places: Int32Array = places.collect();
        let begin = lists.value_offsets().first().copied().unwrap_or_default();
        let values = lists.values().as_primitive::<Int32Type>();
        let values = values.slice(usize::try_from(begin).unwrap_or_default(), places.len());
        let structs = StructArray::try_new(
            element.clone(),
            vec![Arc::new(values) as ArrayRef, Arc::new(places)],
            None,
        )?;
        let list = ListArray::try_new(
            Arc::clone(&item),
            OffsetBuffer::from_lengths(lists.offsets().lengths()),
            Arc::new(structs),
            lists.nulls().cloned(),
        )?;
        Ok(ColumnarValue::Array(Arc::new(list)))
    };
    ScalarUDF::from(SimpleScalarUDF::new_with_signature(
        EXPANDED,
        Signature::any(1, Volatility::Immutable),
        answer,
        Arc::new(expand),
    ))
}
