//! Operations of two values whose types DataFusion makes poorer than they are: a date and hours are a moment, and a decimal and a number
//! that is written with a point are a decimal. And texts that are compared with moments, of any year.

use arrow_schema::{DataType, IntervalUnit, TimeUnit};
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result, ScalarValue};
use datafusion::logical_expr::expr_rewriter::FunctionRewrite;
use datafusion::logical_expr::planner::{ExprPlanner, PlannerResult, RawBinaryExpr};
use datafusion::logical_expr::{BinaryExpr, Cast, Expr, ExprSchemable as _, Operator};
use sqlparser::ast::BinaryOperator;

use crate::comparisons::compared;
use crate::floats_with_decimals::{as_written, is_decimal};

/// Plans `date + INTERVAL '36 hours'` and `price * 1.19`.
#[derive(Debug)]
pub(crate) struct BinaryForms;

impl ExprPlanner for BinaryForms {
    fn plan_binary_op(&self, expr: RawBinaryExpr, schema: &DFSchema) -> Result<PlannerResult<RawBinaryExpr>> {
        let op = match expr.op {
            BinaryOperator::Plus => Operator::Plus,
            BinaryOperator::Minus => Operator::Minus,
            BinaryOperator::Multiply => Operator::Multiply,
            _ => return Ok(PlannerResult::Original(expr)),
        };
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
        } else if is_decimal(&left)
            && let Some(right) = as_written(right_of)
        {
            (left_of.clone(), Expr::Literal(right, None))
        } else if is_decimal(&right)
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

/// Whether an interval may have more than whole days.
fn has_time(value: &Expr, data_type: &DataType) -> bool {
    match (value, data_type) {
        (Expr::Literal(ScalarValue::IntervalMonthDayNano(Some(interval)), _), _) => interval.nanoseconds != 0,
        (Expr::Literal(ScalarValue::IntervalDayTime(Some(interval)), _), _) => interval.milliseconds != 0,
        (_, DataType::Interval(unit)) => *unit != IntervalUnit::YearMonth,
        _ => false,
    }
}

/// The beginning of a day.
fn moment(date: &Expr) -> Expr {
    let of = DataType::Timestamp(TimeUnit::Microsecond, None);
    Expr::Cast(Cast::new(Box::new(date.clone()), of))
}

/// Gives texts that are written in a statement the type of the moments that they are compared with. DataFusion makes both moments of
/// nanoseconds, of which there are none before 1677 and after 2262.
#[derive(Debug)]
pub(crate) struct TextsWithMoments;

impl FunctionRewrite for TextsWithMoments {
    fn name(&self) -> &'static str {
        "texts_with_moments"
    }

    fn rewrite(&self, mut expr: Expr, schema: &DFSchema, _: &ConfigOptions) -> Result<Transformed<Expr>> {
        let is_changed = fit(&mut compared(&mut expr), schema);
        Ok(Transformed::new_transformed(expr, is_changed))
    }
}

/// Whether a text became a moment. None does where one of them is finer than the moments that it is compared with.
fn fit(values: &mut [&mut Expr], schema: &DFSchema) -> bool {
    let mut moments = values.iter().filter_map(|value| {
        let data_type = value.get_type(schema).ok()?;
        matches!(data_type, DataType::Timestamp(..)).then_some(data_type)
    });
    let Some(of) = moments.next() else { return false };
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

/// A text as a moment; `None` where it is none, or is finer.
fn read(text: &ScalarValue, of: &DataType) -> Option<ScalarValue> {
    let DataType::Timestamp(unit, _) = of else { return None };
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

/// Whether a text is a moment that ends with its minutes: the planner reads none without seconds.
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
