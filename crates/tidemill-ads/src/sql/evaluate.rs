//! Bound expressions over the rows of a frame, column by column.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::collections::HashSet;

use arrow_array::{
    Array, ArrayRef, BooleanArray, Date32Array, Float64Array, Int64Array, StringArray, TimestampMillisecondArray,
};
use arrow_buffer::{BooleanBuffer, NullBuffer};

use super::arithmetic::{self, Numbers, Operator, truth};
use super::error::{Error, Kind, Result};
use super::expression::{Blank, Column, Comparison, Expr};
use super::functions::{self, Call};
use super::like::Pattern;
use super::row_id;
use super::value::{DAY_MS, EMPTY_DATE, EMPTY_TIMESTAMP, Type, Value, f64_to_i64, midnight, trimmed};
use super::vector::{Texts, Vector};
use super::watch::Watch;

/// Which blanks count as NULL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BlankIsNull {
    Always,
    /// Those of dates and timestamps.
    OfDays,
    Never,
}

/// What a statement knows while it runs, whatever the row.
#[derive(Debug)]
pub(super) struct Session<'s> {
    pub(super) parameters: &'s [Value],
    pub(super) environment: &'s tidemill_xbase::expression::Environment,
    /// Milliseconds since 1970-01-01 of the local clock.
    pub(super) now: i64,
    /// How far the local clock is before universal time, in milliseconds.
    pub(super) utc_offset: i64,
    pub(super) user: &'s str,
    pub(super) database: &'s str,
    pub(super) application: &'s str,
    pub(super) last_autoincrement: Option<i64>,
    pub(super) connection: ConnectionFacts,
    pub(super) watch: &'s Watch,
}

/// What the connection of a statement has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ConnectionFacts {
    /// Its number among those of the process, from 1.
    pub number: u64,
    /// How many transactions are within each other.
    pub transactions: i64,
    /// How many statements it has run.
    pub operations: i64,
}

/// Rows that expressions are evaluated over.
pub(super) trait Frame {
    fn rows(&self) -> usize;

    fn columns(&self) -> &[Column];

    /// # Errors
    /// When the table cannot be read.
    fn column(&self, index: usize) -> Result<Vector>;

    /// A column as its table has it, where the rows are records.
    ///
    /// # Errors
    /// As [`Frame::column`].
    fn stored(&self, index: usize) -> Result<Option<ArrayRef>> {
        let _ = index;
        Ok(None)
    }

    /// The numbers of the records.
    ///
    /// # Errors
    /// [`Kind::Unsupported`] where rows are no records.
    fn record_numbers(&self) -> Result<Int64Array>;

    /// Which records are marked as deleted.
    ///
    /// # Errors
    /// As [`Frame::record_numbers`].
    fn row_id_prefix(&self) -> Result<String>;

    /// # Errors
    /// As [`Frame::record_numbers`].
    fn deleted(&self) -> Result<BooleanArray>;
}

/// Rows that are in memory: groups, one row without a table, rows of `system` tables.
#[derive(Debug)]
pub(super) struct Rows<'r> {
    pub(super) rows: usize,
    pub(super) columns: &'r [Column],
    pub(super) vectors: Vec<Vector>,
}

impl Frame for Rows<'_> {
    fn rows(&self) -> usize {
        self.rows
    }

    fn columns(&self) -> &[Column] {
        self.columns
    }

    fn column(&self, index: usize) -> Result<Vector> {
        Ok(self
            .vectors
            .get(index)
            .cloned()
            .unwrap_or(Vector::Constant(Value::Null)))
    }

    fn record_numbers(&self) -> Result<Int64Array> {
        Err(Error::new(Kind::Unsupported, "RECNO() needs a table"))
    }

    fn row_id_prefix(&self) -> Result<String> {
        Err(Error::new(Kind::Unsupported, "ROWID needs a table"))
    }

    fn deleted(&self) -> Result<BooleanArray> {
        Err(Error::new(Kind::Unsupported, "DELETED() needs a table"))
    }
}

/// The value of an expression that needs no row.
///
/// # Errors
/// As [`evaluate`].
pub(super) fn evaluate_alone(expr: &Expr, session: &Session<'_>) -> Result<Value> {
    let frame = Rows {
        rows: 1,
        columns: &[],
        vectors: Vec::new(),
    };
    Ok(evaluate(expr, &frame, session)?.value(0))
}

/// The values of an expression over a frame.
///
/// # Errors
/// [`Kind::Type`] for operands that do not fit, [`Kind::Value`] for values that cannot be converted, and when the table cannot be
/// read.
pub(super) fn evaluate(expr: &Expr, frame: &dyn Frame, session: &Session<'_>) -> Result<Vector> {
    Evaluation {
        frame,
        session,
        loaded: RefCell::new(vec![None; frame.columns().len()]),
    }
    .vector(expr)
}

/// Several expressions over one frame: each column is read once.
pub(super) struct Evaluation<'e> {
    frame: &'e dyn Frame,
    session: &'e Session<'e>,
    loaded: RefCell<Vec<Option<Vector>>>,
}

impl<'e> Evaluation<'e> {
    pub(super) fn new(frame: &'e dyn Frame, session: &'e Session<'e>) -> Self {
        Self {
            frame,
            session,
            loaded: RefCell::new(vec![None; frame.columns().len()]),
        }
    }

    fn rows(&self) -> usize {
        self.frame.rows()
    }

    /// Values that are shown, grouped by, sorted by or aggregated: of whole numbers, none is beyond 64 bits. Within an expression they
    /// may be, and are decimals there.
    ///
    /// # Errors
    /// As [`evaluate`], and [`Kind::Value`] for a number beyond 64 bits.
    pub(super) fn settled(&self, expr: &Expr) -> Result<Vector> {
        let vector = self.vector(expr)?;
        let is_wide = matches!(vector.type_of(), Type::Decimal(0));
        match is_wide && expr.type_of(self.frame.columns(), self.session.parameters) == Type::Integer {
            true => vector.cast(Type::Integer, self.rows()).map_err(|error| {
                let why = format!("{}: CAST it to DECIMAL(38,0)", error.message());
                Error::new(error.kind().clone(), why)
            }),
            false => Ok(vector),
        }
    }

    /// # Errors
    /// As [`evaluate`].
    pub(super) fn vector(&self, expr: &Expr) -> Result<Vector> {
        self.session.watch.check()?;
        match expr {
            Expr::Value(value) => Ok(Vector::Constant(value.clone())),
            Expr::Parameter(place) => match self.session.parameters.get(*place) {
                Some(value) => Ok(Vector::Constant(value.clone())),
                None => {
                    let why = format!("Parameter {} has no value", place + 1);
                    Err(Error::new(Kind::Parameter, why))
                }
            },
            Expr::Column(index) => self.column(*index),
            Expr::RecordNumber => Ok(Vector::Integer(self.frame.record_numbers()?)),
            Expr::RowId => {
                let (prefix, numbers) = (self.frame.row_id_prefix()?, self.frame.record_numbers()?);
                let of = |number: &i64| row_id::of(&prefix, u32::try_from(*number).unwrap_or(0));
                let texts = numbers.values().iter().map(of);
                Ok(Vector::Text(StringArray::from_iter_values(texts), 0))
            }
            // Which rows come first is known when they are all there.
            Expr::RowNumber => Ok(Vector::Integer(Int64Array::from_value(0, self.rows()))),
            Expr::IsDeleted => Ok(Vector::Logical(self.frame.deleted()?)),
            Expr::Negate(operand) => arithmetic::negated(&self.vector(operand)?, self.rows()),
            Expr::Not(operand) => {
                let operand = self.logical(operand)?;
                Ok(truth(!operand.values(), operand.nulls().cloned()))
            }
            Expr::Arithmetic(operator, left, right) => {
                let (left, right) = (self.vector(left)?, self.vector(right)?);
                self.arithmetic(*operator, &left, &right)
            }
            Expr::Compare(comparison, left, right) => {
                let (left, right) = (self.vector(left)?, self.vector(right)?);
                compare(*comparison, &left, &right, self.rows())
            }
            Expr::And(left, right) => {
                let left = self.logical(left)?;
                if left.true_count() == 0 && left.null_count() == 0 {
                    return Ok(Vector::Logical(left));
                }
                Ok(Vector::Logical(and(&left, &self.logical(right)?)))
            }
            Expr::Or(left, right) => {
                let (left, right) = (self.logical(left)?, self.logical(right)?);
                Ok(Vector::Logical(not(&and(&not(&left), &not(&right)))))
            }
            Expr::Between(parts) => {
                let [value, low, high] = &**parts;
                let (value, low, high) = (self.vector(value)?, self.vector(low)?, self.vector(high)?);
                let above = compare(Comparison::GreaterOrEqual, &value, &low, self.rows())?;
                let below = compare(Comparison::LessOrEqual, &value, &high, self.rows())?;
                let (above, below) = (self.as_logical(above)?, self.as_logical(below)?);
                Ok(Vector::Logical(and(&above, &below)))
            }
            Expr::In(value, list) => self.is_in(value, list),
            Expr::IsNull(operand) => {
                let blank_is_null = self.blank_is_null(operand);
                self.is_null(operand, blank_is_null).map(Vector::Logical)
            }
            Expr::IsEmpty(operand) => self.is_null(operand, BlankIsNull::Always).map(Vector::Logical),
            Expr::Like { value, pattern, escape } => self.like(value, pattern, *escape),
            Expr::Case(branches, otherwise) => self.case(branches, otherwise),
            Expr::Coalesce(values) => self.coalesce(values),
            Expr::Cast(operand, conversion) => conversion.apply(&self.vector(operand)?, self.rows()),
            Expr::Small(operand) => self.small(operand),
            Expr::CaseCounts(operand) => self.vector(operand),
            Expr::User(function, arguments) => {
                let vectors = arguments.iter().map(|argument| self.vector(argument));
                let vectors = vectors.collect::<Result<Vec<_>>>()?;
                let rows = (0..self.rows()).map(|row| {
                    self.session.watch.check()?;
                    function.call(vectors.iter().map(|vector| vector.value(row)).collect())
                });
                Ok(Vector::of_values(rows.collect::<Result<_>>()?, function.returns()))
            }
            Expr::Call(function, arguments) => {
                let vectors = arguments.iter().map(|argument| self.vector(argument));
                let vectors = vectors.collect::<Result<Vec<_>>>()?;
                function.apply(
                    &Call {
                        rows: self.rows(),
                        session: self.session,
                        name: function.name,
                    },
                    &vectors,
                )
            }
        }
    }

    /// Truth values for every row.
    ///
    /// # Errors
    /// As [`evaluate`], and [`Kind::Type`] for values of another type.
    pub(super) fn logical(&self, expr: &Expr) -> Result<BooleanArray> {
        let vector = self.vector(expr)?;
        self.as_logical(vector)
    }

    fn as_logical(&self, vector: Vector) -> Result<BooleanArray> {
        match vector.into_rows(self.rows()) {
            Vector::Logical(array) => Ok(array),
            other => {
                let why = format!("A condition is logical, and this is {}", other.type_of().noun());
                Err(Error::new(Kind::Type, why))
            }
        }
    }

    fn column(&self, index: usize) -> Result<Vector> {
        if let Some(Some(known)) = self.loaded.borrow().get(index) {
            return Ok(known.clone());
        }
        let vector = self.frame.column(index)?;
        if let Some(slot) = self.loaded.borrow_mut().get_mut(index) {
            *slot = Some(vector.clone());
        }
        Ok(vector)
    }

    fn arithmetic(&self, operator: Operator, left: &Vector, right: &Vector) -> Result<Vector> {
        use Type as T;
        let rows = self.rows();
        match (operator, left.type_of(), right.type_of()) {
            _ if left.is_null() || right.is_null() => Ok(Vector::Constant(Value::Null)),
            (Operator::Plus, T::Text(_), T::Text(_)) => Ok(joined(left, right, rows)),
            (Operator::Plus | Operator::Minus, T::Date | T::Timestamp, number) if number.is_number() => {
                moved(left, right, operator == Operator::Minus, rows)
            }
            (Operator::Plus, number, T::Date | T::Timestamp) if number.is_number() => moved(right, left, false, rows),
            (Operator::Minus, T::Date, T::Date) => Ok(Vector::Integer(days_between(left, right, rows))),
            (Operator::Minus, T::Date | T::Timestamp, T::Date | T::Timestamp) => {
                let (left, right) = (moments(left), moments(right));
                #[expect(clippy::cast_precision_loss, reason = "days of a few thousand years")]
                let days = |row| Some((left(row)? - right(row)?) as f64 / DAY_MS as f64);
                Ok(Vector::Double((0..rows).map(days).collect::<Float64Array>()))
            }
            _ => arithmetic::compute(operator, left, right, rows),
        }
    }

    fn is_in(&self, value: &Expr, list: &[Expr]) -> Result<Vector> {
        let value = self.vector(value)?;
        let mut constants = Vec::new();
        let mut found: Option<BooleanArray> = None;
        for item in list {
            match item.constant(self.session.parameters) {
                Some(constant) => constants.push(constant),
                None => {
                    let equal = compare(Comparison::Equal, &value, &self.vector(item)?, self.rows())?;
                    let equal = self.as_logical(equal)?;
                    found = Some(match found {
                        None => equal,
                        Some(found) => not(&and(&not(&found), &not(&equal))),
                    });
                }
            }
        }
        if let (Vector::Text(array, _), true) = (&value, constants.iter().all(|one| matches!(one, Value::Text(_)))) {
            let set: HashSet<&str> = constants
                .iter()
                .filter_map(|constant| match constant {
                    Value::Text(text) => Some(trimmed(text)),
                    _ => None,
                })
                .collect();
            let is_in = BooleanBuffer::collect_bool(array.len(), |row| set.contains(trimmed(array.value(row))));
            constants.clear();
            found = Some(either(found, BooleanArray::new(is_in, array.nulls().cloned())));
        }
        if let (Vector::Integer(array), true) = (&value, constants.iter().all(|one| matches!(one, Value::Integer(_)))) {
            let set: HashSet<i64> = constants.iter().filter_map(|constant| constant.to_i64()).collect();
            let is_in = BooleanBuffer::collect_bool(array.len(), |row| set.contains(&array.value(row)));
            constants.clear();
            found = Some(either(found, BooleanArray::new(is_in, array.nulls().cloned())));
        }
        for constant in constants {
            let equal = compare(
                Comparison::Equal,
                &value,
                &Vector::Constant(constant.clone()),
                self.rows(),
            )?;
            found = Some(either(found, self.as_logical(equal)?));
        }
        let none = || BooleanArray::from(vec![false; self.rows()]);
        Ok(Vector::Logical(found.unwrap_or_else(none)))
    }

    /// Which blanks of an expression `IS NULL` takes for NULL.
    fn blank_is_null(&self, operand: &Expr) -> BlankIsNull {
        let blank = |index: usize| self.frame.columns().get(index).map(|column| column.blank);
        if let Expr::Column(index) = operand {
            return match blank(*index) {
                Some(Blank::Null) => BlankIsNull::Always,
                _ => BlankIsNull::Never,
            };
        }
        let (mut has_columns, mut has_null) = (false, false);
        operand.visit(&mut |part| {
            if let Expr::Column(index) = part {
                has_columns = true;
                has_null |= blank(*index) == Some(Blank::Null);
            }
        });
        match has_columns && !has_null {
            true => BlankIsNull::Never,
            false => BlankIsNull::OfDays,
        }
    }

    /// Whether values are NULL, or are blanks that count as NULL.
    fn is_null(&self, operand: &Expr, blank_is_null: BlankIsNull) -> Result<BooleanArray> {
        let (always, of_days) = (
            blank_is_null == BlankIsNull::Always,
            blank_is_null != BlankIsNull::Never,
        );
        let mut vector = self.vector(operand)?;
        let rows = self.rows();
        if let Vector::Constant(value) = &vector {
            if value.is_null() || !always {
                return Ok(BooleanArray::from(vec![value.is_null(); rows]));
            }
            vector = vector.into_rows(rows);
        }
        let is_null = |row: usize| vector.nulls().is_some_and(|nulls| nulls.is_null(row));
        let test = |counts: bool, is_blank: &dyn Fn(usize) -> bool| {
            BooleanBuffer::collect_bool(rows, |row| is_null(row) || (counts && is_blank(row)))
        };
        let values = match &vector {
            Vector::Text(array, _) => test(always, &|row| array.value(row).chars().all(char::is_whitespace)),
            Vector::Integer(array) => test(always, &|row| array.value(row) == 0),
            Vector::Decimal(array, _) => test(always, &|row| array.value(row) == 0),
            Vector::Double(array) => test(always, &|row| array.value(row) == 0.0),
            Vector::Logical(array) => test(always, &|row| !array.value(row)),
            Vector::Date(array) => test(of_days, &|row| array.value(row) == EMPTY_DATE),
            Vector::Timestamp(array) => test(of_days, &|row| array.value(row) == EMPTY_TIMESTAMP),
            Vector::Bytes(array) => test(always, &|row| array.value(row).is_empty()),
            Vector::Time(_) | Vector::Constant(_) => test(false, &|_| false),
        };
        Ok(BooleanArray::new(values, None))
    }

    fn small(&self, operand: &Expr) -> Result<Vector> {
        let vector = self.vector(operand)?;
        match vector.type_of().is_text() {
            true => functions::small(&vector, self.rows(), self.session),
            false => Ok(vector),
        }
    }

    fn like(&self, value: &Expr, pattern: &Expr, escape: Option<char>) -> Result<Vector> {
        let (value, pattern) = (self.vector(value)?, self.vector(pattern)?);
        if value.is_null() || pattern.is_null() {
            return Ok(Vector::Constant(Value::Null));
        }
        if !value.type_of().is_text() || !pattern.type_of().is_text() {
            return Err(Error::new(Kind::Type, "LIKE compares texts"));
        }
        let rows = self.rows();
        let (texts, patterns) = (value.texts(rows), pattern.texts(rows));
        let nulls = NullBuffer::union(value.nulls(), pattern.nulls());
        let matches = match &patterns {
            Texts::One(pattern) => {
                let pattern = Pattern::new(trimmed(pattern), escape);
                BooleanBuffer::collect_bool(rows, |row| pattern.matches(texts.trimmed(row)))
            }
            patterns => BooleanBuffer::collect_bool(rows, |row| {
                Pattern::new(patterns.trimmed(row), escape).matches(texts.trimmed(row))
            }),
        };
        Ok(truth(matches, nulls))
    }

    fn case(&self, branches: &[(Expr, Expr)], otherwise: &Expr) -> Result<Vector> {
        let mut chosen = self.vector(otherwise)?;
        for (condition, value) in branches.iter().rev() {
            let condition = self.logical(condition)?;
            let mask = match condition.nulls() {
                None => condition,
                Some(nulls) => BooleanArray::new(condition.values() & nulls.inner(), None),
            };
            chosen = match mask.true_count() {
                0 => chosen,
                count if count == mask.len() => self.vector(value)?,
                _ => Vector::chosen(&mask, self.vector(value)?, chosen)?,
            };
        }
        Ok(chosen)
    }

    fn coalesce(&self, values: &[Expr]) -> Result<Vector> {
        let Some((last, others)) = values.split_last() else {
            return Ok(Vector::Constant(Value::Null));
        };
        let mut chosen = self.vector(last)?;
        for value in others.iter().rev() {
            let is_null = self.is_null(value, self.blank_is_null(value))?;
            chosen = match is_null.true_count() {
                0 => self.vector(value)?,
                count if count == is_null.len() => chosen,
                _ => Vector::chosen(&is_null, chosen, self.vector(value)?)?,
            };
        }
        Ok(chosen)
    }
}

/// Compares two columns.
///
/// # Errors
/// [`Kind::Type`] for types that do not fit, [`Kind::Value`] for a text that is no date where it is compared with one.
pub(super) fn compare(comparison: Comparison, left: &Vector, right: &Vector, rows: usize) -> Result<Vector> {
    if left.is_null() || right.is_null() {
        return Ok(Vector::Constant(Value::Null));
    }
    let holds = |ordering: Ordering| comparison.holds(ordering);
    let nulls = NullBuffer::union(left.nulls(), right.nulls());
    // One loop for each comparison, so that the loops have no branch on it.
    let numbers = match comparison {
        Comparison::Equal => arithmetic::compare(left, right, rows, Ordering::is_eq),
        Comparison::NotEqual => arithmetic::compare(left, right, rows, Ordering::is_ne),
        Comparison::Less => arithmetic::compare(left, right, rows, Ordering::is_lt),
        Comparison::LessOrEqual => arithmetic::compare(left, right, rows, Ordering::is_le),
        Comparison::Greater => arithmetic::compare(left, right, rows, Ordering::is_gt),
        Comparison::GreaterOrEqual => arithmetic::compare(left, right, rows, Ordering::is_ge),
    };
    if let Some(values) = numbers {
        return Ok(truth(values, nulls));
    }
    use Type as T;
    let values = match (left.type_of(), right.type_of()) {
        (T::Text(_), T::Text(_)) => {
            let (a, b) = (left.texts(rows), right.texts(rows));
            BooleanBuffer::collect_bool(rows, |row| holds(a.trimmed(row).cmp(b.trimmed(row))))
        }
        // A date in quotes is a date where it stands beside one.
        (T::Text(_), wanted @ (T::Date | T::Time | T::Timestamp)) => {
            return compare(comparison, &temporal(left, wanted, rows)?, right, rows);
        }
        (wanted @ (T::Date | T::Time | T::Timestamp), T::Text(_)) => {
            return compare(comparison, left, &temporal(right, wanted, rows)?, rows);
        }
        (T::Logical, T::Logical) | (T::Time, T::Time) | (T::Bytes, T::Bytes) => {
            BooleanBuffer::collect_bool(rows, |row| {
                left.value(row).compare(&right.value(row)).is_some_and(holds)
            })
        }
        (T::Date | T::Timestamp, T::Date | T::Timestamp) => {
            let (a, b) = (moments(left), moments(right));
            BooleanBuffer::collect_bool(rows, |row| match (a(row), b(row)) {
                (Some(a), Some(b)) => holds(a.cmp(&b)),
                _ => false,
            })
        }
        // Where all is NULL, the type says nothing.
        _ if [left, right]
            .iter()
            .any(|side| side.nulls().is_some_and(|nulls| nulls.null_count() == rows)) =>
        {
            return Ok(Vector::Constant(Value::Null));
        }
        (a, b) => {
            let (a, b) = (a.noun(), b.noun());
            return Err(Error::new(
                Kind::Type,
                format!("Invalid operands for a comparison: {a} and {b}"),
            ));
        }
    };
    Ok(truth(values, nulls))
}

/// Text as dates; a timestamp in quotes beside a date keeps its time.
fn temporal(text: &Vector, wanted: Type, rows: usize) -> Result<Vector> {
    match wanted {
        Type::Date => text.clone().cast(Type::Timestamp, rows),
        wanted => text.clone().cast(wanted, rows),
    }
}

/// The moments of dates and timestamps, as milliseconds; blank ones are the least.
fn moments(vector: &Vector) -> Box<dyn Fn(usize) -> Option<i64> + '_> {
    match vector {
        Vector::Date(array) => Box::new(|row| array.is_valid(row).then(|| midnight(array.value(row)))),
        Vector::Timestamp(array) => Box::new(|row| array.is_valid(row).then(|| array.value(row))),
        Vector::Constant(Value::Date(days)) => Box::new(|_| Some(midnight(*days))),
        Vector::Constant(Value::Timestamp(ms)) => Box::new(|_| Some(*ms)),
        _ => Box::new(|_| None),
    }
}

fn days_between(left: &Vector, right: &Vector, rows: usize) -> Int64Array {
    let (left, right) = (moments(left), moments(right));
    let days = |row| {
        let (left, right) = (left(row)?, right(row)?);
        let is_blank = left == EMPTY_TIMESTAMP || right == EMPTY_TIMESTAMP;
        Some(if is_blank { 0 } else { (left - right) / DAY_MS })
    };
    (0..rows).map(days).collect()
}

/// A date or timestamp some days later or earlier.
fn moved(moment: &Vector, days: &Vector, back: bool, rows: usize) -> Result<Vector> {
    let nulls = days.nulls();
    let is_null = |row| nulls.is_some_and(|nulls| nulls.is_null(row));
    let Some(days) = Numbers::of(days).map(Numbers::doubles) else {
        return Err(Error::new(Kind::Type, "Days are numbers"));
    };
    let sign = if back { -1.0 } else { 1.0 };
    let moment_of = moments(moment);
    if moment.type_of() == Type::Date {
        let day = |row| {
            let ms = moment_of(row).filter(|_| !is_null(row))?;
            if ms == EMPTY_TIMESTAMP {
                return Some(EMPTY_DATE);
            }
            let days = (ms / DAY_MS).checked_add(f64_to_i64(sign * days.get(row))?)?;
            i32::try_from(days).ok()
        };
        return Ok(Vector::Date((0..rows).map(day).collect::<Date32Array>()));
    }
    #[expect(clippy::cast_precision_loss, reason = "a day has few milliseconds")]
    let later = |row| {
        let ms = moment_of(row).filter(|_| !is_null(row))?;
        if ms == EMPTY_TIMESTAMP {
            return Some(ms);
        }
        ms.checked_add(f64_to_i64((sign * days.get(row) * DAY_MS as f64).round())?)
    };
    Ok(Vector::Timestamp(
        (0..rows).map(later).collect::<TimestampMillisecondArray>(),
    ))
}

/// Texts one after the other; the blanks of a field belong to it.
fn joined(left: &Vector, right: &Vector, rows: usize) -> Vector {
    if let (Vector::Constant(Value::Text(left)), Vector::Constant(Value::Text(right))) = (left, right) {
        return Vector::Constant(Value::Text(format!("{left}{right}")));
    }
    let nulls = NullBuffer::union(left.nulls(), right.nulls());
    let (a, b) = (left.texts(rows), right.texts(rows));
    let mut text = String::new();
    let texts = (0..rows).map(|row| {
        text.clear();
        a.push_padded(row, &mut text);
        b.push_padded(row, &mut text);
        nulls
            .as_ref()
            .is_none_or(|nulls| nulls.is_valid(row))
            .then(|| text.clone())
    });
    Vector::Text(texts.collect::<StringArray>(), 0)
}

/// `AND` of SQL: false beats NULL.
pub(super) fn and(left: &BooleanArray, right: &BooleanArray) -> BooleanArray {
    if left.null_count() == 0 && right.null_count() == 0 {
        return BooleanArray::new(left.values() & right.values(), None);
    }
    let known = |array: &BooleanArray| match array.nulls() {
        None => BooleanBuffer::new_set(array.len()),
        Some(nulls) => nulls.inner().clone(),
    };
    let is_true = |array: &BooleanArray| array.values() & &known(array);
    let is_false = |array: &BooleanArray| &!array.values() & &known(array);
    let values = &is_true(left) & &is_true(right);
    let decided = &values | &(&is_false(left) | &is_false(right));
    BooleanArray::new(values, Some(NullBuffer::new(decided)))
}

fn not(array: &BooleanArray) -> BooleanArray {
    BooleanArray::new(!array.values(), array.nulls().cloned())
}

fn either(found: Option<BooleanArray>, other: BooleanArray) -> BooleanArray {
    match found {
        None => other,
        Some(found) => not(&and(&not(&found), &not(&other))),
    }
}
