//! Tables that another program has open, and lends for one statement.

use std::sync::Arc;

use arrow_schema::{Schema, SchemaRef};
use datafusion::catalog::TableProvider;
use datafusion::common::ScalarValue;
use datafusion::common::stats::Precision;
use datafusion::logical_expr::expr::{Between, InList, ScalarFunction};
use datafusion::logical_expr::{BinaryExpr, Expr, Operator};
use sqlparser::ast::{self, BinaryOperator, Ident, UnaryOperator};
use tidemill_ads::sql::{EMPTY_DATE, EMPTY_TIMESTAMP, RECORD_COUNT, TableScan, TableSource, Value};

use crate::engine::{Batches, Condition, Engine, EngineTable, Request};
use crate::{Result, blanks, scalars};

/// The lent table with this name.
///
/// # Errors
///
/// [`Error::Ads`](crate::Error::Ads) if there is none.
pub(crate) fn open(name: &str, source: &Arc<dyn TableSource>) -> Result<Arc<dyn TableProvider>> {
    let told = source.schema(name)?;
    let records = told.metadata().get(RECORD_COUNT);
    let engine = LentTable {
        name: name.to_owned(),
        source: Arc::clone(source),
        records: records.and_then(|records| records.parse().ok()),
        schema: Arc::new(Schema::new(told.fields().clone())),
    };
    Ok(Arc::new(EngineTable::new(name.to_owned(), vec![engine])?))
}

struct LentTable {
    name: String,
    source: Arc<dyn TableSource>,
    records: Option<usize>,
    schema: SchemaRef,
}

impl Engine for LentTable {
    fn scan_name(&self) -> &'static str {
        "LentScan"
    }

    fn file(&self) -> String {
        self.name.clone()
    }

    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// Some of the records may be deleted.
    fn row_count(&self) -> Precision<usize> {
        self.records.map_or(Precision::Absent, Precision::Inexact)
    }

    fn divisible(&self) -> bool {
        false
    }

    fn condition(&self, filter: &Expr) -> Condition {
        written(filter).map_or(Condition::None, |text| Condition::Text(text.to_string()))
    }

    fn scan(&self, request: Request) -> Result<Batches> {
        let projected = Arc::new(self.schema.project(&request.projection)?);
        let conditions = request.texts.iter().map(|text| format!("({text})"));
        let filter = conditions.collect::<Vec<_>>().join(" AND ");
        let rows = self.source.scan(&TableScan {
            table: self.name.clone(),
            columns: request.projection,
            filter: (!filter.is_empty()).then_some(filter),
            limit: request.limit,
        })?;
        Ok(Box::new(
            rows.map(move |batch| Ok(blanks::filled(&batch?, &projected)?)),
        ))
    }
}

/// Unparses a condition to ADS SQL, if it has the same meaning there.
///
/// Comparisons of columns and literals do: blanks are values on both sides, and trailing blanks of text are ignored. So do functions that
/// stand for expressions of ADS SQL. IS NULL does not, since it is true for blanks there.
fn written(expr: &Expr) -> Option<ast::Expr> {
    Some(match expr {
        Expr::Column(column) => ast::Expr::Identifier(Ident::with_quote('"', &column.name)),
        Expr::Literal(value, _) => literal(value)?,
        Expr::Not(inner) => ast::Expr::UnaryOp {
            op: UnaryOperator::Not,
            expr: nested(inner)?,
        },
        Expr::BinaryExpr(BinaryExpr { left, op, right }) => ast::Expr::BinaryOp {
            left: nested(left)?,
            op: operator(*op)?,
            right: nested(right)?,
        },
        Expr::Between(Between {
            expr,
            negated,
            low,
            high,
        }) => ast::Expr::Between {
            expr: nested(expr)?,
            negated: *negated,
            low: nested(low)?,
            high: nested(high)?,
        },
        Expr::InList(InList { expr, list, negated }) => ast::Expr::InList {
            expr: nested(expr)?,
            list: list.iter().map(written).collect::<Option<_>>()?,
            negated: *negated,
        },
        Expr::ScalarFunction(ScalarFunction { func, args }) => {
            let arguments = args.iter().map(written).collect::<Option<Vec<_>>>()?;
            scalars::written(func, &arguments)?
        }
        _ => return None,
    })
}

fn nested(expr: &Expr) -> Option<Box<ast::Expr>> {
    let written = written(expr)?;
    Some(Box::new(match written {
        plain @ (ast::Expr::Identifier(_) | ast::Expr::Value(_)) => plain,
        other => ast::Expr::Nested(Box::new(other)),
    }))
}

fn operator(op: Operator) -> Option<BinaryOperator> {
    Some(match op {
        Operator::And => BinaryOperator::And,
        Operator::Or => BinaryOperator::Or,
        Operator::Eq => BinaryOperator::Eq,
        Operator::NotEq => BinaryOperator::NotEq,
        Operator::Lt => BinaryOperator::Lt,
        Operator::LtEq => BinaryOperator::LtEq,
        Operator::Gt => BinaryOperator::Gt,
        Operator::GtEq => BinaryOperator::GtEq,
        _ => return None,
    })
}

/// A literal of ADS SQL. NULL and blank dates are not written.
fn literal(value: &ScalarValue) -> Option<ast::Expr> {
    let value = match value {
        ScalarValue::Utf8(Some(text)) | ScalarValue::LargeUtf8(Some(text)) | ScalarValue::Utf8View(Some(text)) => {
            Value::Text(text.clone())
        }
        ScalarValue::Int32(Some(number)) => Value::Integer((*number).into()),
        ScalarValue::Int64(Some(number)) => Value::Integer(*number),
        ScalarValue::Decimal128(Some(unscaled), _, scale) => Value::Decimal {
            unscaled: *unscaled,
            scale: u8::try_from(*scale).ok()?,
        },
        ScalarValue::Float64(Some(number)) => Value::Double(*number),
        ScalarValue::Boolean(Some(value)) => Value::Logical(*value),
        ScalarValue::Date32(Some(days)) if *days != EMPTY_DATE => Value::Date(*days),
        ScalarValue::TimestampMillisecond(Some(ms), None) if *ms != EMPTY_TIMESTAMP => Value::Timestamp(*ms),
        _ => return None,
    };
    value.to_literal().ok()
}

#[cfg(test)]
mod tests {
    use datafusion::prelude::{col, lit};

    use super::*;

    #[track_caller]
    fn check(condition: Expr, expected: Option<&str>) {
        let text = written(&condition).map(|text| text.to_string());
        assert_eq!(text.as_deref(), expected);
    }

    #[test]
    fn comparisons_are_told_and_nulls_are_not() {
        check(col("\"Na\"\"me\"").eq(lit("O'Hara")), Some("\"Na\"\"me\" = 'O''Hara'"));
        check(
            col("a").lt(lit(5_i64)).and(col("b").gt_eq(lit(-1.5))),
            Some("(\"a\" < 5) AND (\"b\" >= (-1.5e0))"),
        );
        check(
            col("a").in_list(vec![lit(1_i64), lit(2_i64)], true),
            Some("\"a\" NOT IN (1, 2)"),
        );
        check(
            col("d").eq(lit(ScalarValue::Date32(Some(19_000)))),
            Some("\"d\" = ({d '2022-01-08'})"),
        );
        check(
            col("p").gt(lit(ScalarValue::Decimal128(Some(1250), 8, 2))),
            Some("\"p\" > 12.50"),
        );
        check(col("a").is_null(), None);
        check(col("a").eq(lit(ScalarValue::Date32(Some(EMPTY_DATE)))), None);
        check(col("a").eq(lit(ScalarValue::Int64(None))), None);
        check(col("a").eq(lit(1_i64)).or(col("b").is_not_null()), None);
    }
}
