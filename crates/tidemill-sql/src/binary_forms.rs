//! Rewrites operations whose operands DataFusion would convert to a type that loses information: a date plus hours is a timestamp, and a
//! decimal with a literal with a point is a decimal. It also converts string literals that are compared with timestamps of any year,
//! numbers and logicals (`order_no = '3'`, `paid = 't'`, as PostgreSQL's drivers write them).

use arrow_schema::{DataType, IntervalUnit, TimeUnit};
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result, ScalarValue};
use datafusion::logical_expr::expr_rewriter::FunctionRewrite;
use datafusion::logical_expr::planner::{ExprPlanner, PlannerResult, RawBinaryExpr};
use datafusion::logical_expr::{BinaryExpr, Cast, Expr, ExprSchemable as _, Operator};
use sqlparser::ast::BinaryOperator;
use tidemill_ads::sql::{Type, Value, literal_of_type};

use crate::comparisons::compared;
use crate::floats_with_decimals::{as_written, is_decimal};

/// Plans `date + INTERVAL '36 hours'`, `price * 1.19` and `price * '2'`.
#[derive(Debug)]
pub(crate) struct BinaryForms;

impl ExprPlanner for BinaryForms {
    fn plan_binary_op(&self, expr: RawBinaryExpr, schema: &DFSchema) -> Result<PlannerResult<RawBinaryExpr>> {
        let op = match expr.op {
            BinaryOperator::Plus => Operator::Plus,
            BinaryOperator::Minus => Operator::Minus,
            BinaryOperator::Multiply => Operator::Multiply,
            BinaryOperator::Divide => Operator::Divide,
            BinaryOperator::Modulo => Operator::Modulo,
            _ => return Ok(PlannerResult::Original(expr)),
        };
        let keeps_decimals = matches!(op, Operator::Plus | Operator::Minus | Operator::Multiply);
        let (Ok(left), Ok(right)) = (expr.left.get_type(schema), expr.right.get_type(schema)) else {
            return Ok(PlannerResult::Original(expr));
        };
        let RawBinaryExpr {
            left: left_of,
            right: right_of,
            ..
        } = &expr;
        let (left, right) = if is_date(&left) && has_time(right_of, &right) {
            (moment(left_of), right_of.clone())
        } else if is_date(&right) && has_time(left_of, &left) && op == Operator::Plus {
            (left_of.clone(), moment(right_of))
        } else if let Some(right) = number_beside(right_of, &left) {
            (left_of.clone(), Expr::Literal(right, None))
        } else if let Some(left) = number_beside(left_of, &right) {
            (Expr::Literal(left, None), right_of.clone())
        } else if keeps_decimals
            && is_decimal(&left)
            && let Some(right) = as_written(right_of)
        {
            (left_of.clone(), Expr::Literal(right, None))
        } else if keeps_decimals
            && is_decimal(&right)
            && let Some(left) = as_written(left_of)
        {
            (Expr::Literal(left, None), right_of.clone())
        } else {
            return Ok(PlannerResult::Original(expr));
        };
        let planned = BinaryExpr::new(Box::new(left), op, Box::new(right));
        Ok(PlannerResult::Planned(Expr::BinaryExpr(planned)))
    }
}

fn is_date(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Date32 | DataType::Date64)
}

/// Whether an interval may contain a part of a day.
fn has_time(value: &Expr, data_type: &DataType) -> bool {
    match (value, data_type) {
        (Expr::Literal(ScalarValue::IntervalMonthDayNano(Some(interval)), _), _) => interval.nanoseconds != 0,
        (Expr::Literal(ScalarValue::IntervalDayTime(Some(interval)), _), _) => interval.milliseconds != 0,
        (_, DataType::Interval(unit)) => *unit != IntervalUnit::YearMonth,
        _ => false,
    }
}

/// The number that a string literal spells, if the other operand is a number.
fn number_beside(value: &Expr, data_type: &DataType) -> Option<ScalarValue> {
    match value {
        Expr::Literal(text, _) if data_type.is_numeric() => spelled(text.try_as_str().flatten()?, data_type),
        _ => None,
    }
}

/// The number or logical that a text spells, for comparison with values of a type.
fn spelled(text: &str, beside: &DataType) -> Option<ScalarValue> {
    let type_of = if *beside == DataType::Boolean {
        Type::Logical
    } else {
        Type::Double
    };
    Some(match literal_of_type(text, type_of)? {
        Value::Logical(logical) => ScalarValue::Boolean(Some(logical)),
        // The literal follows the floating-point operand.
        _ if beside.is_floating() => ScalarValue::Float64(text.trim().parse().ok()),
        Value::Integer(number) => ScalarValue::Int64(Some(number)),
        Value::Decimal { unscaled, scale } => {
            let digits = unscaled.unsigned_abs().to_string().len().max(usize::from(scale));
            ScalarValue::Decimal128(Some(unscaled), u8::try_from(digits).ok()?, i8::try_from(scale).ok()?)
        }
        Value::Double(number) => ScalarValue::Float64(Some(number)),
        _ => return None,
    })
}

/// Midnight at the start of a date.
fn moment(date: &Expr) -> Expr {
    let of = DataType::Timestamp(TimeUnit::Microsecond, None);
    Expr::Cast(Cast::new(Box::new(date.clone()), of))
}

/// Converts string literals to the type of the timestamps, numbers or logicals that they are compared with. DataFusion would convert both
/// sides of a timestamp comparison to nanoseconds, which cannot represent years before 1677 and after 2262, and it refuses `'0.5'` with a
/// whole number, and a string with a logical.
#[derive(Debug)]
pub(crate) struct LiteralTexts;

impl FunctionRewrite for LiteralTexts {
    fn name(&self) -> &'static str {
        "literal_texts"
    }

    fn rewrite(&self, mut expr: Expr, schema: &DFSchema, _: &ConfigOptions) -> Result<Transformed<Expr>> {
        let is_changed = fit(&mut compared(&mut expr), schema);
        Ok(Transformed::new_transformed(expr, is_changed))
    }
}

/// Converts the literals, all or none. None if one spells no such value, or a timestamp that is finer than the others. Returns whether it
/// did.
fn fit(values: &mut [&mut Expr], schema: &DFSchema) -> bool {
    let mut typed = values.iter().filter_map(|value| {
        let data_type = value.get_type(schema).ok()?;
        let is_spelled = matches!(data_type, DataType::Timestamp(..) | DataType::Boolean) || data_type.is_numeric();
        is_spelled.then_some(data_type)
    });
    let Some(of) = typed.next() else { return false };
    let texts = values.iter().map(|value| match value {
        Expr::Literal(text, _) if text.data_type().is_string() && !text.is_null() => Some(read(text, &of)),
        _ => None,
    });
    let read: Vec<Option<Option<ScalarValue>>> = texts.collect();
    if read.iter().all(Option::is_none) || read.contains(&Some(None)) {
        return false;
    }
    for (value, read) in values.iter_mut().zip(read) {
        if let Some(Some(read)) = read {
            **value = Expr::Literal(read, None);
        }
    }
    true
}

/// A string as a value of a type; `None` if it spells none, or a finer timestamp.
fn read(text: &ScalarValue, of: &DataType) -> Option<ScalarValue> {
    let DataType::Timestamp(unit, _) = of else {
        return spelled(text.try_as_str().flatten()?, of);
    };
    let kept = match unit {
        TimeUnit::Second => 0,
        TimeUnit::Millisecond => 3,
        TimeUnit::Microsecond => 6,
        TimeUnit::Nanosecond => 9,
    };
    let written = text.try_as_str().flatten()?;
    let fraction = written.split_once('.').map_or("", |(_, behind)| behind);
    let digits = fraction.bytes().take_while(u8::is_ascii_digit).count();
    let digits = fraction.get(..digits).unwrap_or_default().trim_end_matches('0').len();
    if digits > kept {
        return None;
    }
    match lacks_seconds(written) {
        true => ScalarValue::Utf8(Some(format!("{written}:00"))).cast_to(of).ok(),
        false => text.cast_to(of).ok(),
    }
}

/// Whether a text is a timestamp without seconds, which the planner cannot parse.
pub(crate) fn lacks_seconds(text: &str) -> bool {
    let is_like = |shape: &str| {
        text.len() == shape.len()
            && text.bytes().zip(shape.bytes()).all(|(letter, wanted)| match wanted {
                b'0' => letter.is_ascii_digit(),
                wanted => letter == wanted,
            })
    };
    is_like("0000-00-00 00:00") || is_like("0000-00-00T00:00")
}
