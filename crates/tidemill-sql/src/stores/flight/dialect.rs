//! Operations that another Tidemill executes with exactly the same results.
//!
//! The server compares text by the collation of its table, which may ignore case and trailing blanks. So only equality of text is pushed
//! down, and the rows are checked again here. Sorts, groups and joins by text are not pushed down.

use std::collections::HashMap;

use arrow_schema::DataType;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::Expr;

use super::client::quoted;
use crate::stores::server::condition::{Comparing, Comparison, Condition, Pattern, exactly, text, whole_number};
use crate::stores::server::push_down::{Aggregate, Function};
use crate::stores::server::select::{Dialect, Expression, Output, in_list};

/// The SQL of Tidemill.
#[derive(Clone, Copy, Debug)]
pub(super) struct TidemillSql;

/// Whether values of a type have the same equality and order everywhere.
fn is_plain(data_type: &DataType) -> bool {
    data_type.is_integer() || matches!(data_type, DataType::Date32 | DataType::Decimal128(..))
}

impl Dialect for TidemillSql {
    type Type = DataType;

    const INNER_JOIN: &'static str = "INNER JOIN";

    const LEFT_JOIN: &'static str = "LEFT JOIN";

    fn range(skipped: usize, rows: Option<usize>) -> String {
        match rows {
            Some(rows) => format!("LIMIT {rows} OFFSET {skipped}"),
            None => format!("OFFSET {skipped}"),
        }
    }

    fn has_null(_: &DataType) -> bool {
        true
    }

    fn with_null(data_type: &DataType) -> Option<DataType> {
        Some(data_type.clone())
    }

    fn is_ordered(data_type: &DataType) -> bool {
        is_plain(data_type)
    }

    fn is_key(data_type: &DataType) -> bool {
        is_plain(data_type)
    }

    fn is_same_key(one: &DataType, other: &DataType) -> bool {
        is_plain(one) && one == other
    }

    fn compared(column: &Expression<DataType>, comparison: Comparison, value: &ScalarValue) -> Option<String> {
        let value = whole_number(value).filter(|_| column.data_type.is_integer())?;
        Some(format!("{} {} {value}", column.text, comparison.sign()))
    }

    fn among(column: &Expression<DataType>, values: &[ScalarValue]) -> Option<String> {
        let values = values.iter().map(whole_number);
        column
            .data_type
            .is_integer()
            .then(|| in_list(&column.text, values))
            .flatten()
    }

    fn value_of_group(aggregate: &Aggregate, of: Option<&Expression<DataType>>, _: bool) -> Option<Output<DataType>> {
        let column = |text: String| Output::column(text, aggregate.data_type.clone());
        let Some(of) = of else {
            return Some(column("COUNT(*)".to_owned()));
        };
        let (text, data_type) = (&of.text, &of.data_type);
        Some(match aggregate.function {
            Function::Count if aggregate.distinct => {
                is_plain(data_type).then(|| column(format!("COUNT(DISTINCT {text})")))?
            }
            Function::Count => column(format!("COUNT({text})")),
            Function::Min if is_plain(data_type) => column(format!("MIN({text})")),
            Function::Max if is_plain(data_type) => column(format!("MAX({text})")),
            Function::Sum if data_type.is_integer() && !aggregate.distinct => column(format!("SUM({text})")),
            Function::Average
                if data_type.is_integer() && !aggregate.distinct && aggregate.data_type == DataType::Float64 =>
            {
                let expression = |text| Expression {
                    text,
                    data_type: DataType::Int64,
                };
                Output::Average {
                    sum: expression(format!("SUM({text})")),
                    count: expression(format!("COUNT({text})")),
                }
            }
            _ => return None,
        })
    }
}

/// The types of a table's columns, by name.
#[derive(Debug)]
pub(super) struct Columns(pub(super) HashMap<String, DataType>);

impl Comparing for Columns {
    fn compare(&self, column: &Expr, comparison: Comparison, value: &ScalarValue) -> Option<Condition> {
        let Expr::Column(column) = column else { return None };
        let data_type = self.0.get(&column.name)?;
        let (name, sign) = (quoted(&column.name), comparison.sign());
        match data_type {
            data_type if data_type.is_integer() => {
                let value = whole_number(value)?;
                Some(exactly(format!("{name} {sign} {value}")))
            }
            DataType::Decimal128(_, scale) => {
                let ScalarValue::Decimal128(Some(unscaled), _, of) = value else {
                    return None;
                };
                let scale = u32::try_from((*of).max(0))
                    .ok()
                    .filter(|_| scale >= of || *scale >= 0)?;
                bounded(&name, comparison, *unscaled, 10_i128.checked_pow(scale)?)
            }
            DataType::Date32 => match value {
                ScalarValue::Date32(Some(days)) => {
                    let day = arrow_array::temporal_conversions::date32_to_datetime(*days)?.date();
                    let text = day.format("%Y-%m-%d").to_string();
                    // Only years of four digits.
                    (text.len() == 10).then(|| exactly(format!("{name} {sign} CAST('{text}' AS DATE)")))
                }
                _ => None,
            },
            DataType::Utf8 | DataType::LargeUtf8 if comparison == Comparison::Equal => {
                let text = text(value).filter(|text| !text.contains('\0'))?;
                Some(Condition {
                    text: format!("{name} = '{}'", text.replace('\'', "''")),
                    exact: false,
                })
            }
            _ => None,
        }
    }

    fn is_null(&self, column: &str, wanted: bool) -> Option<Condition> {
        self.0.get(column)?;
        let not = if wanted { "" } else { "NOT " };
        Some(exactly(format!("{} IS {not}NULL", quoted(column))))
    }

    fn is(&self, _column: &str, _wanted: bool) -> Option<Condition> {
        None
    }

    fn like(&self, _column: &Expr, _pattern: Pattern<'_>, _wanted: bool) -> Option<Condition> {
        None
    }
}

/// A condition on whole numbers, which every lane reads alike: for other values, bounds around them.
fn bounded(name: &str, comparison: Comparison, unscaled: i128, unit: i128) -> Option<Condition> {
    let low = unscaled.div_euclid(unit);
    if unscaled.rem_euclid(unit) == 0 {
        return Some(exactly(format!("{name} {} {low}", comparison.sign())));
    }
    let high = low.checked_add(1)?;
    let text = match comparison {
        Comparison::Equal => format!("({name} >= {low} AND {name} <= {high})"),
        Comparison::NotEqual => return None,
        Comparison::Less | Comparison::LessOrEqual => format!("{name} <= {high}"),
        Comparison::Greater | Comparison::GreaterOrEqual => format!("{name} >= {low}"),
    };
    Some(Condition { text, exact: false })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_between_whole_numbers_are_looked_at_again() {
        let text = |comparison, unscaled| {
            let condition = bounded("c", comparison, unscaled, 100).expect("asked");
            (condition.text, condition.exact)
        };
        assert_eq!(text(Comparison::Less, 1500), ("c < 15".to_owned(), true));
        assert_eq!(text(Comparison::Greater, -150), ("c >= -2".to_owned(), false));
        assert_eq!(text(Comparison::Equal, 150), ("(c >= 1 AND c <= 2)".to_owned(), false));
        assert!(bounded("c", Comparison::NotEqual, 150, 100).is_none());
    }
}
