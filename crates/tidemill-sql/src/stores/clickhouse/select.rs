//! The text of a SELECT, and what the server can do with its rows exactly as it would be done here.
//!
//! What is pushed down, and what is not (see `condition.rs` for conditions):
//!
//! - Groups, joins and orders are made by columns whose values are the same or differ, and come in the same order, there as here: whole
//!   numbers, text by its bytes, logical values, dates, instants, decimals. Groups and joins by floating-point numbers are not: NaN and -0
//!   are told apart differently. By an order that begins with one the server gives as many rows as are wanted of those that are NaN and
//!   of the others, and they are sorted here.
//! - A sum, a least and a highest value of nothing are NULL here and 0 there, so they are asked for beside a count.
//! - Sums of floating-point numbers depend on the order of their rows, and stay here.
//! - The average of whole numbers is their sum as a decimal by their count, which old servers too have without an overflow; that of
//!   decimals is cut to four more decimals, as here.
//! - Each step is a SELECT over the one before, whose columns have names that no table has.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal128Type, DecimalType, Int64Type};
use arrow_array::{ArrayRef, Decimal128Array, Float64Array, RecordBatch};
use arrow_cast::display::FormatOptions;
use arrow_cast::{CastOptions, cast, cast_with_options};
use arrow_schema::{ArrowError, DataType as ArrowType, SchemaRef, SortOptions};
use tidemill_clickhouse::DataType;

use super::condition::bare;
use crate::stores::server::push_down::{Aggregate, Function};
use crate::{Error, Result};

/// A SELECT.
#[derive(Clone, Debug)]
pub(super) struct Select {
    columns: Vec<Output>,
    /// From FROM to GROUP BY.
    rows: String,
    shape: Shape,
    /// Behind ORDER BY; nothing where there is no order.
    order: String,
    /// Rows that are passed over, and how many come behind them; `None` for all.
    range: (usize, Option<usize>),
    /// How many SELECTs stand within it, one in another: names of columns tell it, since a name that stands for two things in one
    /// SELECT means either.
    depth: usize,
}

/// Which clauses `rows` ends with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    /// FROM, with WHERE.
    Filtered { has_condition: bool },
    /// GROUP BY, or aggregates.
    Grouped,
}

/// A column of the answer.
#[derive(Clone, Debug)]
pub(super) enum Output {
    Value(Expression),
    /// A sum by a count, made here of the two columns that come in its place.
    Average {
        sum: Expression,
        count: Expression,
    },
}

#[derive(Clone, Debug)]
pub(super) struct Expression {
    text: String,
    data_type: DataType,
}

impl Output {
    /// A column of a table, as the list of a SELECT names it.
    pub(super) fn column(text: String, data_type: DataType) -> Self {
        Self::Value(Expression { text, data_type })
    }

    fn value(&self) -> Option<&Expression> {
        match self {
            Self::Value(value) => Some(value),
            Self::Average { .. } => None,
        }
    }

    fn expressions(&self) -> impl Iterator<Item = &Expression> {
        let (first, second) = match self {
            Self::Value(value) => (value, None),
            Self::Average { sum, count } => (sum, Some(count)),
        };
        std::iter::once(first).chain(second)
    }
}

impl Select {
    /// Rows of a table: all of them, or those that meet all conditions, up to a limit.
    pub(super) fn new(columns: Vec<Output>, table: &str, conditions: &[String], limit: Option<usize>) -> Self {
        let mut select = Self::over(columns, table, 0);
        for condition in conditions {
            select.filter(condition);
        }
        select.range = (0, limit);
        select
    }

    fn over(columns: Vec<Output>, table: &str, depth: usize) -> Self {
        Self {
            columns,
            rows: format!("FROM {table}"),
            shape: Shape::Filtered { has_condition: false },
            order: String::new(),
            range: (0, None),
            depth,
        }
    }

    /// Adds a condition to a SELECT that has neither groups nor a range.
    fn filter(&mut self, condition: &str) {
        let word = match self.shape {
            Shape::Filtered { has_condition: true } => "AND",
            _ => "WHERE",
        };
        self.rows += &format!(" {word} {condition}");
        self.shape = Shape::Filtered { has_condition: true };
    }

    fn is_whole(&self) -> bool {
        self.range == (0, None)
    }

    /// From FROM on.
    fn clauses(&self) -> String {
        let mut text = self.rows.clone();
        if !self.order.is_empty() {
            text += &format!(" ORDER BY {}", self.order);
        }
        match self.range {
            (0, None) => {}
            (0, Some(rows)) => text += &format!(" LIMIT {rows}"),
            // As all servers have it.
            (skipped, Some(rows)) => text += &format!(" LIMIT {skipped}, {rows}"),
            (skipped, None) => text += &format!(" LIMIT {skipped}, {}", i64::MAX),
        }
        text
    }

    /// The columns that were asked for, of those that the server gives.
    pub(super) fn answer(&self, batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch> {
        let mut given = batch.columns().iter();
        let mut next = || {
            given.next().ok_or_else(|| Error::Unsupported {
                what: format!("an answer of {} columns to {}", batch.num_columns(), self.text()),
                hint: "please report it".to_owned(),
            })
        };
        let columns = self
            .columns
            .iter()
            .zip(schema.fields())
            .map(|(output, field)| match output {
                Output::Value(_) => Ok(cast_with_options(next()?, field.data_type(), &STRICT)?),
                Output::Average { .. } => average(next()?, next()?, field.data_type()),
            });
        let columns = columns.collect::<Result<Vec<_>>>()?;
        Ok(RecordBatch::try_new(Arc::clone(schema), columns)?)
    }

    pub(super) fn text(&self) -> String {
        let columns = self.columns.iter().flat_map(Output::expressions);
        let columns: Vec<&str> = columns.map(|column| column.text.as_str()).collect();
        format!("SELECT {} {}", columns.join(", "), self.clauses())
    }

    /// The list of its columns, and its condition; `None` where its rows are not simply some of a table's.
    pub(super) fn of_table(&self) -> Option<(Vec<&str>, Option<&str>)> {
        let columns = self.columns.iter().map(|column| Some(column.value()?.text.as_str()));
        let columns = columns.collect::<Option<_>>()?;
        match self.shape {
            _ if !self.is_whole() => None,
            Shape::Filtered { has_condition: true } => Some((columns, Some(self.rows.split_once(" WHERE ")?.1))),
            Shape::Filtered { has_condition: false } => Some((columns, None)),
            _ => None,
        }
    }

    /// The number of its rows.
    pub(super) fn count(&self) -> String {
        match self.shape {
            Shape::Filtered { .. } if self.is_whole() => format!("SELECT count() {}", self.rows),
            _ => format!("SELECT count() FROM (SELECT 1 {})", self.clauses()),
        }
    }

    /// These columns of it, in this order.
    pub(super) fn with_columns(&self, places: &[usize]) -> Option<Self> {
        let columns = places.iter().map(|&place| self.columns.get(place).cloned());
        Some(Self {
            columns: columns.collect::<Option<_>>()?,
            ..self.clone()
        })
    }

    /// Its rows as a table whose columns are called by `letter` and their places.
    fn nested(&self, letter: char) -> Option<(Vec<Expression>, String)> {
        let columns = self.columns.iter().map(Output::value).collect::<Option<Vec<_>>>()?;
        let name = |place: usize| format!("_tidemill_{letter}{}_{place}", self.depth);
        let listed = columns.iter().enumerate();
        let listed: Vec<String> = listed
            .map(|(place, column)| format!("{} AS {}", column.text, name(place)))
            .collect();
        let outside = columns.iter().enumerate().map(|(place, column)| Expression {
            text: name(place),
            data_type: column.data_type.clone(),
        });
        let text = format!("(SELECT {} {})", listed.join(", "), self.clauses());
        Some((outside.collect(), text))
    }

    /// Itself where a condition or groups can be added to it, or a SELECT over it.
    fn open(&self) -> Option<Self> {
        let is_bare = self.columns.iter().all(|column| column.value().is_some());
        if matches!(self.shape, Shape::Filtered { .. }) && self.is_whole() && is_bare {
            return Some(self.clone());
        }
        let (columns, text) = self.nested('c')?;
        let columns = columns.into_iter().map(Output::Value).collect();
        Some(Self::over(columns, &text, self.depth + 1))
    }

    pub(super) fn group(&self, keys: &[usize], aggregates: &[Aggregate]) -> Option<Self> {
        let rows = self.open()?;
        let column = |place: usize| rows.columns.get(place).and_then(Output::value);
        let keys = keys.iter().map(|&key| column(key).filter(|key| is_key(&key.data_type)));
        let keys: Vec<&Expression> = keys.collect::<Option<_>>()?;
        let mut columns: Vec<Output> = keys.iter().map(|&key| Output::Value(key.clone())).collect();
        for aggregate in aggregates {
            let of = match aggregate.column {
                Some(place) => Some(column(place)?),
                None => None,
            };
            columns.push(value_of_group(aggregate, of, keys.is_empty())?);
        }
        let mut text = rows.rows.clone();
        if !keys.is_empty() {
            let keys: Vec<&str> = keys.iter().map(|key| key.text.as_str()).collect();
            text += &format!(" GROUP BY {}", keys.join(", "));
        }
        Some(Self {
            columns,
            rows: text,
            shape: Shape::Grouped,
            ..rows
        })
    }

    /// Those behind the first `skipped` rows, up to a limit.
    pub(super) fn range(&self, skipped: usize, rows: Option<usize>) -> Option<Self> {
        let (before, limit) = self.range;
        let left = limit.map(|limit| limit.saturating_sub(skipped));
        let rows = rows.into_iter().chain(left).min();
        Some(Self {
            range: (before.checked_add(skipped)?, rows),
            ..self.clone()
        })
    }

    pub(super) fn first(&self, order: &[(usize, SortOptions)], skipped: usize, count: usize) -> Option<Self> {
        // Averages are no columns of a SELECT over this one, and stay in the list of this one.
        let mut rows = match self.is_whole() {
            true => self.clone(),
            false => self.open()?,
        };
        let is_float = |&(place, _): &(usize, SortOptions)| {
            let key = rows.columns.get(place).and_then(Output::value);
            key.is_some_and(|key| matches!(bare(&key.data_type), DataType::Float32 | DataType::Float64))
        };
        if order.first().is_some_and(is_float) {
            // What is passed over is not known before both parts are sorted.
            return (skipped == 0).then(|| rows.first_by_float(order, count))?;
        }
        rows.order = rows.ordered(order)?;
        rows.range = (skipped, Some(count));
        Some(rows)
    }

    /// The keys of an order, in which columns have the same one as here.
    fn ordered(&self, order: &[(usize, SortOptions)]) -> Option<String> {
        let keys = order.iter().map(|(place, options)| {
            let key = self.columns.get(*place)?.value()?;
            is_ordered(&key.data_type).then(|| sorted(&key.text, *options))
        });
        Some(keys.collect::<Option<Vec<_>>>()?.join(", "))
    }

    /// The first rows of those that are numbers, with the first of those that are none, of which some are in front of all numbers here and
    /// some behind; there all are together. Zeros are sorted by their signs.
    fn first_by_float(&self, order: &[(usize, SortOptions)], count: usize) -> Option<Self> {
        let open = self.open()?;
        let ((first, options), others) = order.split_first()?;
        let key = open.columns.get(*first)?.value()?.text.clone();
        let others = open.ordered(others)?;
        let part = |condition: &str, order: String| {
            let mut part = open.clone();
            part.filter(condition);
            part.order = match others.is_empty() {
                true => order,
                false => format!("{order}, {others}"),
            };
            part.range = (0, Some(count));
            part.nested('c')
        };
        let zeros = sorted(&format!("if({key} = 0, 1 / {key}, 0)"), *options);
        let (columns, numbers) = part(
            &format!("(isNull({key}) OR NOT isNaN({key}))"),
            format!("{}, {zeros}", sorted(&key, *options)),
        )?;
        let bits = sorted(&format!("reinterpretAsInt64(reinterpretAsString({key}))"), *options);
        let (_, no_numbers) = part(&format!("isNaN({key})"), bits)?;
        let listed: Vec<&str> = columns.iter().map(|column| column.text.as_str()).collect();
        let listed = listed.join(", ");
        let both = format!("(SELECT {listed} FROM {numbers} UNION ALL SELECT {listed} FROM {no_numbers})");
        let columns = columns.into_iter().map(Output::Value).collect();
        Some(Self::over(columns, &both, open.depth + 1))
    }

    /// Those whose key is among those of another SELECT, or is not.
    pub(super) fn semi(&self, other: &Self, is_there: bool, (here, there): (usize, usize)) -> Option<Self> {
        let mut rows = self.open()?;
        let key = rows.columns.get(here)?.value()?.clone();
        let others = other.with_columns(&[there])?;
        if !is_same_key(&key.data_type, &others.columns.first()?.value()?.data_type) {
            return None;
        }
        let (columns, table) = others.nested('i')?;
        let [there] = columns.as_slice() else { return None };
        let list = format!("SELECT {} FROM {table}{}", there.text, not_null(&columns));
        let text = &key.text;
        rows.filter(&match (is_there, has_null(&key.data_type)) {
            (true, false) => format!("{text} IN ({list})"),
            (true, true) => format!("isNotNull({text}) AND {text} IN ({list})"),
            (false, false) => format!("NOT ({text} IN ({list}))"),
            (false, true) => format!("(isNull({text}) OR NOT ({text} IN ({list})))"),
        });
        Some(rows)
    }

    pub(super) fn join(&self, other: &Self, on: &[(usize, usize)]) -> Option<Self> {
        let (here, there): (Vec<usize>, Vec<usize>) = on.iter().copied().unzip();
        let (left, left_keys, left_rows) = self.side(&here, 'l')?;
        let (right, right_keys, right_rows) = other.side(&there, 'r')?;
        let mut equal = Vec::new();
        for (here, there) in left_keys.iter().zip(&right_keys) {
            if !is_same_key(&here.data_type, &there.data_type) {
                return None;
            }
            equal.push(format!("{} = {}", here.text, there.text));
        }
        let pairs = format!(
            "{left_rows} AS _tidemill_l ALL INNER JOIN {right_rows} AS _tidemill_r ON {}",
            equal.join(" AND ")
        );
        let columns = left.into_iter().chain(right).map(Output::Value);
        Some(Self::over(columns.collect(), &pairs, self.depth.max(other.depth) + 1))
    }

    /// One side of a join: its columns, its keys, and the rows whose keys are not NULL. Keys are columns of their own that cannot be NULL:
    /// 18.16.1 ends when keys of text can be.
    fn side(&self, keys: &[usize], letter: char) -> Option<(Vec<Expression>, Vec<Expression>, String)> {
        let (columns, rows) = self.nested(letter)?;
        let keys: Vec<&Expression> = keys.iter().map(|&key| columns.get(key)).collect::<Option<_>>()?;
        let mut listed: Vec<String> = columns.iter().map(|column| column.text.clone()).collect();
        let mut made = Vec::new();
        for (place, key) in keys.iter().enumerate() {
            let name = format!("_tidemill_{letter}{}_k{place}", self.depth);
            listed.push(match has_null(&key.data_type) {
                true => format!("assumeNotNull({}) AS {name}", key.text),
                false => format!("{} AS {name}", key.text),
            });
            made.push(Expression {
                text: name,
                data_type: key.data_type.clone(),
            });
        }
        let given = not_null(keys);
        let rows = format!("(SELECT {} FROM {rows}{given})", listed.join(", "));
        Some((columns, made, rows))
    }
}

/// A key of an order.
fn sorted(key: &str, options: SortOptions) -> String {
    let direction = if options.descending { "DESC" } else { "ASC" };
    let nulls = if options.nulls_first { "FIRST" } else { "LAST" };
    format!("{key} {direction} NULLS {nulls}")
}

/// The condition under which no key is NULL, behind WHERE; nothing where none can be.
fn not_null<'a>(keys: impl IntoIterator<Item = &'a Expression>) -> String {
    let nullable = keys.into_iter().filter(|key| has_null(&key.data_type));
    let given: Vec<String> = nullable.map(|key| format!("isNotNull({})", key.text)).collect();
    match given.is_empty() {
        true => String::new(),
        false => format!(" WHERE {}", given.join(" AND ")),
    }
}

fn value_of_group(aggregate: &Aggregate, of: Option<&Expression>, may_be_empty: bool) -> Option<Output> {
    let count = |text: String| {
        Output::Value(Expression {
            text: format!("toInt64({text})"),
            data_type: DataType::Int64,
        })
    };
    let Some(of) = of else {
        return Some(count("count()".to_owned()));
    };
    let (text, data_type) = (&of.text, &of.data_type);
    // What an aggregate of no value is there, it is not here.
    let or_null = |value: String, data_type: DataType| {
        let value = match may_be_empty || has_null(&of.data_type) {
            true => format!("if(count({text}) = 0, NULL, {value})"),
            false => value,
        };
        Expression {
            text: value,
            data_type: DataType::Nullable(data_type.into()),
        }
    };
    Some(match aggregate.function {
        Function::Count if aggregate.distinct => match is_key(data_type) {
            // Old servers have NULL for none of a column that may be NULL.
            true => count(format!("ifNull(uniqExact({text}), 0)")),
            false => return None,
        },
        Function::Count => match bare(data_type) {
            DataType::Variant(_) | DataType::Dynamic { .. } | DataType::Json(_) | DataType::Geometry => return None,
            _ => count(format!("count({text})")),
        },
        Function::Min | Function::Max if is_ordered(data_type) => {
            let name = if aggregate.function == Function::Min {
                "min"
            } else {
                "max"
            };
            Output::Value(or_null(format!("{name}({text})"), bare(data_type).clone()))
        }
        Function::Sum => {
            let sum = match bare(data_type) {
                DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::Int64 => DataType::Int64,
                DataType::UInt8 | DataType::UInt16 | DataType::UInt32 | DataType::UInt64 => DataType::UInt64,
                DataType::Decimal { precision, scale } if *precision <= SUMMED_DIGITS => DataType::Decimal {
                    precision: 38,
                    scale: *scale,
                },
                _ => return None,
            };
            Output::Value(or_null(format!("sum({text})"), sum))
        }
        Function::Average => {
            let (summed, scale) = match (bare(data_type), &aggregate.data_type) {
                (data_type, ArrowType::Float64) if is_whole(data_type) => (format!("toDecimal128({text}, 0)"), 0),
                (DataType::Decimal { precision, scale }, ArrowType::Decimal128(..)) if *precision <= SUMMED_DIGITS => {
                    (text.clone(), *scale)
                }
                _ => return None,
            };
            Output::Average {
                sum: Expression {
                    text: format!("sum({summed})"),
                    data_type: DataType::Nullable(DataType::Decimal { precision: 38, scale }.into()),
                },
                count: Expression {
                    text: format!("toInt64(count({text}))"),
                    data_type: DataType::Int64,
                },
            }
        }
        _ => return None,
    })
}

/// The average of each group, by the sum of its values and their number: of decimals with the digits that DataFusion's `avg` keeps
/// (`DecimalAverager` of datafusion-functions-aggregate-common 55).
fn average(sums: &ArrayRef, counts: &ArrayRef, to: &ArrowType) -> Result<ArrayRef> {
    let scale = match sums.data_type() {
        ArrowType::Decimal32(_, scale) | ArrowType::Decimal64(_, scale) | ArrowType::Decimal128(_, scale) => *scale,
        _ => 0,
    };
    let sums = cast_with_options(sums, &ArrowType::Decimal128(38, scale), &STRICT)?;
    let counts = cast(counts, &ArrowType::Int64)?;
    let (sums, counts) = (
        sums.as_primitive::<Decimal128Type>(),
        counts.as_primitive::<Int64Type>(),
    );
    let groups = sums.iter().zip(counts.iter()).map(|(sum, count)| match (sum, count) {
        (Some(sum), Some(count)) if count > 0 => Some((sum, count)),
        _ => None,
    });
    let ArrowType::Decimal128(precision, to_scale) = *to else {
        let averages = groups.map(|group| group.map(|(sum, count)| sum as f64 / count as f64));
        return Ok(Arc::new(averages.collect::<Float64Array>()));
    };
    let overflow = || ArrowError::ComputeError("an average has more digits than its type".to_owned());
    let factor = u32::try_from(to_scale - scale)
        .ok()
        .and_then(|digits| 10_i128.checked_pow(digits));
    let factor = factor.ok_or_else(overflow)?;
    let averages = groups.map(|group| {
        let Some((sum, count)) = group else { return Ok(None) };
        let average = sum.checked_mul(factor).ok_or_else(overflow)? / i128::from(count);
        Decimal128Type::validate_decimal_precision(average, precision, to_scale)?;
        Ok(Some(average))
    });
    let averages = averages.collect::<Result<Decimal128Array, ArrowError>>()?;
    Ok(Arc::new(averages.with_precision_and_scale(precision, to_scale)?))
}

/// What does not fit is an error.
const STRICT: CastOptions<'_> = CastOptions {
    safe: false,
    format_options: FormatOptions::new(),
};

/// Digits of decimals whose sums have ten more and no more than 38.
const SUMMED_DIGITS: u8 = 28;

fn is_whole(data_type: &DataType) -> bool {
    matches!(
        data_type,
        DataType::Int8
            | DataType::Int16
            | DataType::Int32
            | DataType::Int64
            | DataType::UInt8
            | DataType::UInt16
            | DataType::UInt32
            | DataType::UInt64
    )
}

/// Whether values are in the same order there as here.
fn is_ordered(data_type: &DataType) -> bool {
    match bare(data_type) {
        DataType::String
        | DataType::FixedString(_)
        | DataType::Bool
        | DataType::Date
        | DataType::Date32
        | DataType::DateTime(_)
        | DataType::DateTime64(..) => true,
        DataType::Decimal { precision, .. } => *precision <= 38,
        other => is_whole(other),
    }
}

/// Whether the same values are equal there as here.
fn is_key(data_type: &DataType) -> bool {
    is_ordered(data_type)
        || matches!(
            bare(data_type),
            DataType::Uuid | DataType::Enum8(_) | DataType::Enum16(_)
        )
}

/// Whether two keys are of one type, so that nothing is converted to compare them.
fn is_same_key(one: &DataType, other: &DataType) -> bool {
    is_key(one) && bare(one) == bare(other)
}

fn has_null(data_type: &DataType) -> bool {
    match data_type {
        DataType::Nullable(_) => true,
        DataType::LowCardinality(inner) => has_null(inner),
        _ => false,
    }
}
