//! Builds SELECT statements, with the operations that a server executes with exactly the same results.
//!
//! The common part is here; a [`Dialect`] has the semantics and the syntax of a kind of server. Each step is a SELECT over the previous
//! one, whose columns get names that no table uses.

use std::fmt;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_cast::cast_with_options;
use arrow_schema::{DataType, SchemaRef, SortOptions};
use datafusion::common::ScalarValue;

use super::average::{STRICT, average};
use super::computed::{Computed, Test, Value};
use super::condition::Comparison;
use super::push_down::{Aggregate, NewValue, Operation, RowChange};
use super::scan::ServerRead;
use crate::{Error, Result};

/// The semantics and the syntax of a kind of server, where they differ.
pub(crate) trait Dialect: fmt::Debug + Clone + Send + Sync + 'static {
    /// The server's type of a column.
    type Type: fmt::Debug + Clone + Send + Sync;

    /// The inner join of two tables by a condition.
    const INNER_JOIN: &'static str;

    /// The left outer join.
    const LEFT_JOIN: &'static str;

    /// The keywords of an UPDATE. Default: those of the standard.
    const UPDATE: &'static str = "UPDATE";

    /// Whether UPDATE assigns columns in sequence, so that a later value sees earlier ones. Default: no, as in the standard.
    const ASSIGNS_IN_ORDER: bool = false;

    /// The clause that skips rows and limits their number.
    fn range(skipped: usize, rows: Option<usize>) -> String;

    /// Whether a type is nullable.
    fn has_null(data_type: &Self::Type) -> bool;

    /// The nullable type with the same values, if the server has one.
    fn with_null(data_type: &Self::Type) -> Option<Self::Type>;

    /// Whether values have the same order there.
    fn is_ordered(data_type: &Self::Type) -> bool;

    /// Whether values have the same equality there.
    fn is_key(data_type: &Self::Type) -> bool;

    /// Whether two keys have the same type, so that no conversion is needed to compare them.
    fn is_same_key(one: &Self::Type, other: &Self::Type) -> bool;

    /// A value in ORDER BY. Default: unchanged.
    fn sort_key(key: &Expression<Self::Type>) -> String {
        key.text.clone()
    }

    /// A sort key with its direction and the position of NULL. Default: the standard's syntax.
    fn sorted(key: &str, options: SortOptions) -> String {
        let direction = if options.descending { "DESC" } else { "ASC" };
        let nulls = if options.nulls_first { "FIRST" } else { "LAST" };
        format!("{key} {direction} NULLS {nulls}")
    }

    /// A join key. Default: unchanged.
    fn join_key(key: &Expression<Self::Type>) -> String {
        key.text.clone()
    }

    /// An additional pair of join keys if rows with a NULL key are kept. Default: none.
    fn null_mark(key: &Expression<Self::Type>) -> Option<(String, &'static str)> {
        let _ = key;
        None
    }

    /// How to sort a floating-point column in the total order that is used here. Default: it cannot.
    fn float_key(key: &Expression<Self::Type>) -> Option<FloatKey> {
        let _ = key;
        None
    }

    /// A comparison of a column with a value that keeps exactly the same rows there. Default: none.
    fn compared(column: &Expression<Self::Type>, comparison: Comparison, value: &ScalarValue) -> Option<String> {
        let _ = (column, comparison, value);
        None
    }

    /// A condition that a column has one of some values; it must keep at least the same rows there. Default: a comparison with each value.
    fn among(column: &Expression<Self::Type>, values: &[ScalarValue]) -> Option<String> {
        let equal = values
            .iter()
            .map(|value| Self::compared(column, Comparison::Equal, value));
        Some(format!("({})", equal.collect::<Option<Vec<_>>>()?.join(" OR ")))
    }

    /// An expression over a row's columns with exactly the same result there. Default: none.
    fn computed(value: &Computed, row: &Row<'_, Self>) -> Option<Expression<Self::Type>> {
        let _ = (value, row);
        None
    }

    /// The quoted name of a column, for changes of rows. Default: changes are not supported.
    fn column_name(name: &str) -> Option<String> {
        let _ = name;
        None
    }

    /// A literal that is not NULL, for a column of its type. Default: none.
    fn constant(value: &ScalarValue) -> Option<String> {
        let _ = value;
        None
    }

    /// An aggregate of a column or of the rows; `None` if its result might differ.
    fn value_of_group(
        aggregate: &Aggregate,
        of: Option<&Expression<Self::Type>>,
        may_be_empty: bool,
    ) -> Option<Output<Self::Type>>;
}

/// The columns of a row, over which values are computed.
pub(crate) struct Row<'r, D: Dialect>(&'r [Output<D::Type>]);

impl<D: Dialect> Row<'_, D> {
    /// The expression for a value.
    pub(crate) fn value(&self, value: &Computed) -> Option<Expression<D::Type>> {
        match value.value {
            Value::Column(place) => self.0.get(place)?.value().cloned(),
            _ => D::computed(value, self),
        }
    }

    /// The expression for a condition.
    pub(crate) fn test(&self, test: &Test) -> Option<String> {
        let all = |tests: &[Test], word: &str, none: &str| {
            let tests = tests.iter().map(|test| self.test(test));
            let tests = tests.collect::<Option<Vec<_>>>()?;
            Some(match tests.is_empty() {
                true => none.to_owned(),
                false => format!("({})", tests.join(word)),
            })
        };
        let is_null = |value: &Computed, not: &str| {
            let value = self.value(value).filter(|value| D::is_key(&value.data_type))?;
            Some(format!("{} IS {not}NULL", value.text))
        };
        match test {
            Test::Compared {
                value,
                comparison,
                constant,
            } => D::compared(&self.value(value)?, *comparison, constant),
            Test::IsNull(value) => is_null(value, ""),
            Test::IsNotNull(value) => is_null(value, "NOT "),
            Test::All(tests) => all(tests, " AND ", "1 = 1"),
            Test::Any(tests) => all(tests, " OR ", "1 = 0"),
        }
    }
}

/// The expressions to sort a floating-point column by.
pub(crate) struct FloatKey {
    /// Whether the value is not NaN; also true for NULL.
    pub(crate) is_number: String,
    pub(crate) is_nan: String,
    /// Distinguishes -0 from 0.
    pub(crate) zeros: String,
    /// The sort key of NaN values.
    pub(crate) bits: String,
}

/// A SELECT.
#[derive(Clone, Debug)]
pub(crate) struct Select<D: Dialect> {
    columns: Vec<Output<D::Type>>,
    /// The quoted table whose rows these are; `None` if they are those of another SELECT.
    table: Option<String>,
    /// The clauses from FROM to GROUP BY.
    rows: String,
    shape: Shape,
    /// The keys of ORDER BY; empty without an order.
    order: String,
    /// How many rows are skipped, and the limit of the rows after them; `None` for all.
    range: (usize, Option<usize>),
    /// The depth of nested SELECTs. It is part of the columns' names, since duplicate names would be ambiguous.
    depth: usize,
}

/// The last clause of `rows`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    /// FROM, with WHERE.
    Filtered { has_condition: bool },
    /// GROUP BY, or aggregates.
    Grouped,
}

/// A column of the answer.
#[derive(Clone, Debug)]
pub(crate) enum Output<T> {
    Value(Expression<T>),
    /// A sum and a count, which take two columns; the division is done here.
    Average {
        sum: Expression<T>,
        count: Expression<T>,
    },
}

/// An expression in the server's SQL, and its type there.
#[derive(Clone, Debug)]
pub(crate) struct Expression<T> {
    pub(crate) text: String,
    pub(crate) data_type: T,
}

impl<T> Output<T> {
    /// A column of a table in the SELECT list.
    pub(crate) fn column(text: String, data_type: T) -> Self {
        Self::Value(Expression { text, data_type })
    }

    fn value(&self) -> Option<&Expression<T>> {
        match self {
            Self::Value(value) => Some(value),
            Self::Average { .. } => None,
        }
    }

    fn expressions(&self) -> impl Iterator<Item = &Expression<T>> {
        let (first, second) = match self {
            Self::Value(value) => (value, None),
            Self::Average { sum, count } => (sum, Some(count)),
        };
        std::iter::once(first).chain(second)
    }
}

impl<D: Dialect> Select<D> {
    /// The rows of a table that satisfy all conditions, up to a limit.
    pub(crate) fn new(columns: Vec<Output<D::Type>>, table: &str, conditions: &[String], limit: Option<usize>) -> Self {
        let mut select = Self::over(columns, table, 0);
        select.table = Some(table.to_owned());
        for condition in conditions {
            select.filter(condition);
        }
        select.range = (0, limit);
        select
    }

    fn over(columns: Vec<Output<D::Type>>, table: &str, depth: usize) -> Self {
        Self {
            columns,
            table: None,
            rows: format!("FROM {table}"),
            shape: Shape::Filtered { has_condition: false },
            order: String::new(),
            range: (0, None),
            depth,
        }
    }

    /// Adds a condition to a SELECT without groups or a range.
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

    /// The clauses from FROM on.
    fn clauses(&self) -> String {
        let mut text = self.rows.clone();
        if !self.order.is_empty() {
            text += &format!(" ORDER BY {}", self.order);
        }
        match self.range {
            (0, None) => {}
            (0, Some(rows)) => text += &format!(" LIMIT {rows}"),
            (skipped, rows) => text += &format!(" {}", D::range(skipped, rows)),
        }
        text
    }

    /// Converts the columns from the server to the requested ones.
    pub(crate) fn answer(&self, batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch> {
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
                Output::Value(_) => Ok(cast_with_options(
                    &days(next()?, field.data_type())?,
                    field.data_type(),
                    &STRICT,
                )?),
                Output::Average { .. } => average(next()?, next()?, field.data_type()),
            });
        let columns = columns.collect::<Result<Vec<_>>>()?;
        Ok(RecordBatch::try_new(Arc::clone(schema), columns)?)
    }

    /// The types of the columns from the server.
    #[cfg(feature = "sqlite")]
    pub(crate) fn types(&self) -> impl Iterator<Item = &D::Type> {
        let columns = self.columns.iter().flat_map(Output::expressions);
        columns.map(|column| &column.data_type)
    }

    pub(crate) fn text(&self) -> String {
        let columns = self.columns.iter().flat_map(Output::expressions);
        let columns: Vec<&str> = columns.map(|column| column.text.as_str()).collect();
        format!("SELECT {} {}", columns.join(", "), self.clauses())
    }

    /// The SELECT list and the condition; `None` if the rows are not a plain selection of a table's rows.
    #[cfg(feature = "clickhouse")]
    pub(crate) fn of_table(&self) -> Option<(Vec<&str>, Option<&str>)> {
        let columns = self.columns.iter().map(|column| Some(column.value()?.text.as_str()));
        let columns = columns.collect::<Option<_>>()?;
        match self.shape {
            _ if !self.is_whole() => None,
            Shape::Filtered { has_condition: true } => Some((columns, Some(self.rows.split_once(" WHERE ")?.1))),
            Shape::Filtered { has_condition: false } => Some((columns, None)),
            _ => None,
        }
    }

    /// The statement that changes its rows; `None` if they are not a plain selection of a table's rows, or if a value might differ there.
    pub(crate) fn change(&self, change: &RowChange) -> Option<String> {
        let is_plain = matches!(self.shape, Shape::Filtered { .. }) && self.is_whole() && self.order.is_empty();
        let table = self.table.as_deref().filter(|_| is_plain)?;
        let conditions = self.rows.strip_prefix("FROM ")?.strip_prefix(table)?;
        let RowChange::Update(values) = change else {
            return Some(format!("DELETE FROM {table}{conditions}"));
        };
        let is_computed = |(_, value): &(String, NewValue)| matches!(value, NewValue::Computed(_));
        if D::ASSIGNS_IN_ORDER && values.len() > 1 && values.iter().any(is_computed) {
            return None;
        }
        let row = Row::<D>(&self.columns);
        let assigned = values.iter().map(|(column, value)| {
            let value = match value {
                NewValue::Constant(constant) if constant.is_null() => "NULL".to_owned(),
                NewValue::Constant(constant) => D::constant(constant)?,
                NewValue::Computed(computed) => row.value(computed)?.text,
            };
            Some(format!("{} = {value}", D::column_name(column)?))
        });
        let assigned = assigned.collect::<Option<Vec<_>>>()?.join(", ");
        Some(format!("{} {table} SET {assigned}{conditions}", D::UPDATE))
    }

    /// A query of the number of its rows.
    pub(crate) fn count(&self) -> String {
        match self.shape {
            Shape::Filtered { .. } if self.is_whole() => format!("SELECT count(*) {}", self.rows),
            _ => format!("SELECT count(*) FROM (SELECT 1 {}) AS _tidemill_n", self.clauses()),
        }
    }

    /// Selects these columns, in this order.
    fn with_columns(&self, places: &[usize]) -> Option<Self> {
        let columns = places.iter().map(|&place| self.columns.get(place).cloned());
        Some(Self {
            columns: columns.collect::<Option<_>>()?,
            ..self.clone()
        })
    }

    /// Its rows as a derived table, whose columns are named by `letter` and position.
    fn nested(&self, letter: char) -> Option<(Vec<Expression<D::Type>>, String)> {
        let columns = self.columns.iter().map(Output::value).collect::<Option<Vec<_>>>()?;
        let name = |place: usize| format!("_tidemill_{letter}{}_{place}", self.depth);
        let listed = columns.iter().enumerate();
        let mut listed: Vec<String> = listed
            .map(|(place, column)| format!("{} AS {}", column.text, name(place)))
            .collect();
        if listed.is_empty() {
            // Rows that are only counted. Not every server accepts an empty SELECT list.
            listed.push("1".to_owned());
        }
        let outside = columns.iter().enumerate().map(|(place, column)| Expression {
            text: name(place),
            data_type: column.data_type.clone(),
        });
        // Some servers require an alias for a derived table.
        let text = format!(
            "(SELECT {} {}) AS {}",
            listed.join(", "),
            self.clauses(),
            name(columns.len())
        );
        Some((outside.collect(), text))
    }

    /// Itself, if conditions or groups can be added to it; otherwise a SELECT over it.
    fn open(&self) -> Option<Self> {
        let is_bare = self.columns.iter().all(|column| column.value().is_some());
        if matches!(self.shape, Shape::Filtered { .. }) && self.is_whole() && is_bare {
            return Some(self.clone());
        }
        let (columns, text) = self.nested('c')?;
        let columns = columns.into_iter().map(Output::Value).collect();
        Some(Self::over(columns, &text, self.depth + 1))
    }

    /// The SELECT after an operation on its rows; `other` returns the SELECT of another read, if it is of the same server.
    pub(crate) fn after(
        &self,
        operation: &Operation<'_>,
        other: impl Fn(&dyn ServerRead) -> Option<Self>,
    ) -> Option<Self> {
        match *operation {
            Operation::Columns(columns) => self.with_columns(columns),
            Operation::Compute(values) => self.computed(values),
            Operation::Group { keys, aggregates } => self.group(keys, aggregates),
            Operation::First { order, skipped, rows } => self.first(order, skipped, rows),
            Operation::Range { skipped, rows } => self.range(skipped, rows),
            Operation::Semi {
                other: rows,
                is_there,
                on,
            } => self.semi(&other(rows)?, is_there, on),
            Operation::Join {
                other: rows,
                on,
                is_outer,
            } => self.join(&other(rows)?, on, is_outer),
            Operation::Filter { conditions } => self.kept(conditions),
            Operation::Among { column, values } => self.among(column, values),
            Operation::Union { others } => {
                let others = others.iter().map(|rows| other(*rows));
                self.union(&others.collect::<Option<Vec<_>>>()?)
            }
        }
    }

    fn group(&self, keys: &[usize], aggregates: &[Aggregate]) -> Option<Self> {
        let rows = self.open()?;
        let column = |place: usize| rows.columns.get(place).and_then(Output::value);
        let keys = keys
            .iter()
            .map(|&key| column(key).filter(|key| D::is_key(&key.data_type)));
        let keys: Vec<&Expression<D::Type>> = keys.collect::<Option<_>>()?;
        let mut columns: Vec<Output<D::Type>> = keys.iter().map(|&key| Output::Value(key.clone())).collect();
        for aggregate in aggregates {
            let of = match aggregate.column {
                Some(place) => Some(column(place)?),
                None => None,
            };
            columns.push(D::value_of_group(aggregate, of, keys.is_empty())?);
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

    /// Computes values from its rows.
    fn computed(&self, values: &[Computed]) -> Option<Self> {
        let rows = self.open()?;
        let row = Row::<D>(&rows.columns);
        let columns = values.iter().map(|value| row.value(value).map(Output::Value));
        let columns = columns.collect::<Option<_>>()?;
        Some(Self { columns, ..rows })
    }

    /// Keeps the rows for which all conditions are true.
    fn kept(&self, conditions: &[Test]) -> Option<Self> {
        let mut rows = self.open()?;
        for condition in conditions {
            let condition = Row::<D>(&rows.columns).test(condition)?;
            rows.filter(&condition);
        }
        Some(rows)
    }

    /// Keeps the rows with one of these values in a column.
    fn among(&self, column: usize, values: &[ScalarValue]) -> Option<Self> {
        /// Longer conditions are not sent: servers limit the length of a statement.
        const MOST_TEXT: usize = 100_000;
        let mut rows = self.open()?;
        let condition = match values.is_empty() {
            true => "1 = 0".to_owned(),
            false => D::among(rows.columns.get(column)?.value()?, values)?,
        };
        rows.filter(&condition);
        (condition.len() <= MOST_TEXT).then_some(rows)
    }

    /// Appends the rows of others, whose columns have the same types.
    fn union(&self, others: &[Self]) -> Option<Self> {
        let (columns, first) = self.nested('u')?;
        let mut parts = vec![Self::listed(&columns, &columns, &first)];
        let mut depth = self.depth;
        for other in others {
            let (theirs, rows) = other.nested('u')?;
            let mut pairs = columns.iter().zip(&theirs);
            let is_same = |(one, other): (&Expression<D::Type>, &Expression<D::Type>)| {
                D::is_same_key(&one.data_type, &other.data_type)
                    && D::has_null(&one.data_type) == D::has_null(&other.data_type)
            };
            if columns.len() != theirs.len() || !pairs.all(is_same) {
                return None;
            }
            parts.push(Self::listed(&columns, &theirs, &rows));
            depth = depth.max(other.depth);
        }
        let all = format!("({}) AS _tidemill_u{depth}", parts.join(" UNION ALL "));
        let columns = columns.into_iter().map(Output::Value);
        Some(Self::over(columns.collect(), &all, depth + 1))
    }

    /// A SELECT of columns under other names.
    fn listed(names: &[Expression<D::Type>], columns: &[Expression<D::Type>], rows: &str) -> String {
        let listed = names
            .iter()
            .zip(columns)
            .map(|(name, column)| match name.text == column.text {
                true => column.text.clone(),
                false => format!("{} AS {}", column.text, name.text),
            });
        let listed: Vec<String> = listed.collect();
        match listed.is_empty() {
            // As in `nested`.
            true => format!("SELECT 1 FROM {rows}"),
            false => format!("SELECT {} FROM {rows}", listed.join(", ")),
        }
    }

    /// Skips rows, and limits their number.
    fn range(&self, skipped: usize, rows: Option<usize>) -> Option<Self> {
        let (before, limit) = self.range;
        let left = limit.map(|limit| limit.saturating_sub(skipped));
        let rows = rows.into_iter().chain(left).min();
        Some(Self {
            range: (before.checked_add(skipped)?, rows),
            ..self.clone()
        })
    }

    fn first(&self, order: &[(usize, SortOptions)], skipped: usize, count: usize) -> Option<Self> {
        // Averages are computed here, and cannot be columns of a derived table, so that they stay in this SELECT list.
        let mut rows = match self.is_whole() {
            true => self.clone(),
            false => self.open()?,
        };
        let is_float = |&(place, _): &(usize, SortOptions)| {
            let key = rows.columns.get(place).and_then(Output::value);
            key.is_some_and(|key| D::float_key(key).is_some())
        };
        if order.first().is_some_and(is_float) {
            // Which rows to skip is known only after both parts are sorted.
            return (skipped == 0).then(|| rows.first_by_float(order, count))?;
        }
        rows.order = rows.ordered(order)?;
        rows.range = (skipped, Some(count));
        Some(rows)
    }

    /// The sort keys, if all columns have the same order there.
    fn ordered(&self, order: &[(usize, SortOptions)]) -> Option<String> {
        let keys = order.iter().map(|(place, options)| {
            let key = self.columns.get(*place)?.value()?;
            D::is_ordered(&key.data_type).then(|| D::sorted(&D::sort_key(key), *options))
        });
        Some(keys.collect::<Option<Vec<_>>>()?.join(", "))
    }

    /// The first rows of the numbers, and the first of the NaN values, which may be on both sides of the numbers here but are together
    /// there. Zeros are sorted by their signs.
    fn first_by_float(&self, order: &[(usize, SortOptions)], count: usize) -> Option<Self> {
        let open = self.open()?;
        let ((first, options), others) = order.split_first()?;
        let key = open.columns.get(*first)?.value()?;
        let float = D::float_key(key)?;
        let key = &key.text;
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
        let zeros = D::sorted(&float.zeros, *options);
        let (columns, numbers) = part(&float.is_number, format!("{}, {zeros}", D::sorted(key, *options)))?;
        let (_, no_numbers) = part(&float.is_nan, D::sorted(&float.bits, *options))?;
        let listed: Vec<&str> = columns.iter().map(|column| column.text.as_str()).collect();
        let listed = listed.join(", ");
        let both = format!("(SELECT {listed} FROM {numbers} UNION ALL SELECT {listed} FROM {no_numbers})");
        let columns = columns.into_iter().map(Output::Value).collect();
        Some(Self::over(columns, &both, open.depth + 1))
    }

    /// Keeps the rows whose key occurs in another SELECT, or does not.
    fn semi(&self, other: &Self, is_there: bool, (here, there): (usize, usize)) -> Option<Self> {
        let mut rows = self.open()?;
        let key = rows.columns.get(here)?.value()?.clone();
        let others = other.with_columns(&[there])?;
        if !D::is_same_key(&key.data_type, &others.columns.first()?.value()?.data_type) {
            return None;
        }
        let (columns, table) = others.nested('i')?;
        let [there] = columns.as_slice() else { return None };
        let list = format!("SELECT {} FROM {table}{}", there.text, not_null::<D>(&columns));
        let text = &key.text;
        rows.filter(&match (is_there, D::has_null(&key.data_type)) {
            (true, false) => format!("{text} IN ({list})"),
            (true, true) => format!("{text} IS NOT NULL AND {text} IN ({list})"),
            (false, false) => format!("NOT ({text} IN ({list}))"),
            (false, true) => format!("({text} IS NULL OR NOT ({text} IN ({list})))"),
        });
        Some(rows)
    }

    fn join(&self, other: &Self, on: &[(usize, usize)], is_outer: bool) -> Option<Self> {
        let (left, left_rows) = self.nested('l')?;
        let (mut right, right_rows) = other.nested('r')?;
        let (mut left_keys, mut right_keys) = (Vec::new(), Vec::new());
        let (mut here, mut there) = (Vec::new(), Vec::new());
        for &(left_place, right_place) in on {
            let (left_key, right_key) = (left.get(left_place)?, right.get(right_place)?);
            if !D::is_same_key(&left_key.data_type, &right_key.data_type) {
                return None;
            }
            left_keys.push(D::join_key(left_key));
            right_keys.push(D::join_key(right_key));
            if is_outer && let Some((mark, constant)) = D::null_mark(left_key) {
                left_keys.push(mark);
                right_keys.push(constant.to_owned());
            }
            here.push(left_key);
            there.push(right_key);
        }
        // A row with a NULL key has no match, and is kept only on the outer side.
        let left_condition = if is_outer { String::new() } else { not_null::<D>(here) };
        let left_names = self.key_names('l', left_keys.len());
        let right_names = other.key_names('r', right_keys.len());
        let left_side = Self::side(&left, (&left_keys, &left_names), &(left_rows + &left_condition));
        let right_side = Self::side(
            &right,
            (&right_keys, &right_names),
            &(right_rows + &not_null::<D>(there)),
        );
        let equal: Vec<String> = std::iter::zip(left_names, right_names)
            .map(|(here, there)| format!("{here} = {there}"))
            .collect();
        let word = if is_outer { D::LEFT_JOIN } else { D::INNER_JOIN };
        let pairs = format!(
            "{left_side} AS _tidemill_l {word} {right_side} AS _tidemill_r ON {}",
            equal.join(" AND ")
        );
        if is_outer {
            for column in &mut right {
                column.data_type = D::with_null(&column.data_type)?;
            }
        }
        let columns = left.into_iter().chain(right).map(Output::Value);
        Some(Self::over(columns.collect(), &pairs, self.depth.max(other.depth) + 1))
    }

    fn key_names(&self, letter: char, count: usize) -> Vec<String> {
        let name = |place| format!("_tidemill_{letter}{}_k{place}", self.depth);
        (0..count).map(name).collect()
    }

    /// One side of a join, whose keys become columns.
    fn side(columns: &[Expression<D::Type>], (keys, names): (&[String], &[String]), rows: &str) -> String {
        let keys = keys.iter().zip(names).map(|(key, name)| format!("{key} AS {name}"));
        let listed: Vec<String> = columns.iter().map(|column| column.text.clone()).chain(keys).collect();
        format!("(SELECT {} FROM {rows})", listed.join(", "))
    }
}

/// Converts 32-bit days since 1970-01-01 to dates or timestamps: a server returns such numbers for dates outside the range of its own type.
fn days(column: &ArrayRef, wanted: &DataType) -> Result<ArrayRef> {
    match (column.data_type(), wanted) {
        (DataType::Int32, DataType::Date32 | DataType::Timestamp(..)) => {
            Ok(cast_with_options(column, &DataType::Date32, &STRICT)?)
        }
        _ => Ok(Arc::clone(column)),
    }
}

/// The WHERE clause that excludes NULL keys; empty if no key is nullable.
fn not_null<'a, D: Dialect + 'a>(keys: impl IntoIterator<Item = &'a Expression<D::Type>>) -> String {
    let nullable = keys.into_iter().filter(|key| D::has_null(&key.data_type));
    let given: Vec<String> = nullable.map(|key| format!("{} IS NOT NULL", key.text)).collect();
    match given.is_empty() {
        true => String::new(),
        false => format!(" WHERE {}", given.join(" AND ")),
    }
}

/// An IN list in standard SQL.
#[cfg(any(feature = "clickhouse", feature = "flight", feature = "mysql", feature = "postgres"))]
pub(crate) fn in_list(column: &str, values: impl Iterator<Item = Option<String>>) -> Option<String> {
    let values = values.collect::<Option<Vec<_>>>()?;
    Some(format!("{column} IN ({})", values.join(", ")))
}
