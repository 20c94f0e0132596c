//! Rows by groups, and what is counted and added up in each.
//!
//! Each row gets the number of its group; each aggregate is one loop over these numbers and its column.

mod concat;

use std::cmp::Ordering;

use arrow_array::Float64Array;
use arrow_array::Int64Array;

pub use concat::DEFAULT_LENGTH;
use concat::Texts;
pub(super) use concat::{Concat, MAX_LENGTH};

use super::arithmetic::Numbers;
use super::error::{Error, Kind, Result};
use super::expression::{Column, Expr};
use super::interner::{Interner, Keys};
use super::value::{Type, Value, decimal_to_f64, has_room, power_of_ten, rescale};
use super::vector::Vector;

/// What is computed of the rows of a group.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Aggregate {
    pub(super) kind: AggregateKind,
    /// `None`: the rows themselves.
    pub(super) argument: Option<Expr>,
    /// The key by which values are compared, if it is not the argument itself.
    pub(super) compared: Option<Expr>,
    pub(super) is_distinct: bool,
    /// Of [`AggregateKind::Concat`].
    pub(super) concat: Option<Concat>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AggregateKind {
    Count,
    Sum,
    Average,
    Least,
    Greatest,
    Concat,
    /// What the first row has that has a value.
    First,
}

/// The columns of an aggregate.
#[derive(Debug)]
pub(super) struct Argument {
    /// `None`: the rows themselves.
    pub(super) value: Option<Vector>,
    /// Those of [`Aggregate::compared`].
    pub(super) compared: Option<Vector>,
    /// What the rows are ordered by.
    pub(super) order: Vec<Vector>,
}

impl AggregateKind {
    pub(super) fn of(name: &str) -> Option<Self> {
        Some(match name {
            "COUNT" => Self::Count,
            "SUM" => Self::Sum,
            "AVG" => Self::Average,
            "MIN" => Self::Least,
            "MAX" => Self::Greatest,
            "GROUP_CONCAT" => Self::Concat,
            _ => return None,
        })
    }
}

/// Aggregates that ADS SQL does not have and the analytical engine has. Were they called unknown, a statement that has one and another
/// function that nobody knows would be refused for this one.
const OF_ENGINE: [&str; 13] = [
    "CORR",
    "COVAR",
    "COVAR_POP",
    "COVAR_SAMP",
    "MEDIAN",
    "STDDEV",
    "STDDEV_POP",
    "STDDEV_SAMP",
    "VAR",
    "VAR_POP",
    "VAR_POPULATION",
    "VAR_SAMP",
    "VAR_SAMPLE",
];

/// That an aggregate needs the analytical engine, in capitals; `None` for a name that it does not know either.
pub(super) fn aggregate_of_engine(name: &str) -> Option<Error> {
    OF_ENGINE
        .contains(&name)
        .then(|| Error::needs_analytical(format_args!("The aggregate {name}")))
}

impl Aggregate {
    pub(super) fn type_of(&self, columns: &[Column], parameters: &[Value]) -> Type {
        let argument = self
            .argument
            .as_ref()
            .map(|argument| argument.type_of(columns, parameters));
        match (self.kind, argument) {
            (AggregateKind::Count, _) => Type::Integer,
            (AggregateKind::Average, _) => Type::Double,
            (AggregateKind::Concat, _) => Type::Text(0),
            (_, type_of) => type_of.unwrap_or(Type::Unknown),
        }
    }
}

/// Groups, and their aggregates so far.
#[derive(Debug)]
pub(super) struct Groups {
    keys: Keys,
    states: Vec<State>,
    rows: usize,
}

/// An aggregate of all groups.
#[derive(Debug)]
struct State {
    kind: AggregateKind,
    seen: Option<Interner>,
    counts: Vec<i64>,
    sums: Sums,
    best: Vec<Value>,
    /// By what the best are compared with others.
    best_keys: Vec<Value>,
    concat: Option<Concat>,
    texts: Texts,
}

#[derive(Debug)]
enum Sums {
    Exact(Vec<i128>, u8),
    Doubles(Vec<f64>),
}

impl Groups {
    pub(super) fn new(keys: usize, aggregates: &[Aggregate]) -> Self {
        let states = aggregates.iter().map(|aggregate| State {
            kind: aggregate.kind,
            seen: aggregate.is_distinct.then(Interner::default),
            counts: Vec::new(),
            sums: Sums::Exact(Vec::new(), 0),
            best: Vec::new(),
            best_keys: Vec::new(),
            concat: aggregate.concat.clone(),
            texts: Texts::default(),
        });
        let mut groups = Self {
            keys: Keys::new(keys),
            states: states.collect(),
            rows: 0,
        };
        if keys == 0 {
            // Without keys there is one group, even of no rows.
            groups.reserve(1);
        }
        groups
    }

    /// Adds rows: their keys, and the columns of the aggregates.
    ///
    /// # Errors
    /// [`Kind::Value`] for sums of more than 38 digits.
    pub(super) fn add(&mut self, keys: &[Vector], arguments: &[Argument], rows: usize) -> Result<()> {
        let groups = self.keys.number(keys, rows);
        self.reserve(self.keys.len().max(usize::from(keys.is_empty())));
        for (state, argument) in self.states.iter_mut().zip(arguments) {
            state.add(&groups, argument, rows)?;
        }
        self.rows += rows;
        Ok(())
    }

    fn reserve(&mut self, groups: usize) {
        for state in &mut self.states {
            state.counts.resize(groups, 0);
            state.best.resize(groups, Value::Null);
            state.best_keys.resize(groups, Value::Null);
            if state.kind == AggregateKind::Concat {
                state.texts.reserve(groups);
            }
            match &mut state.sums {
                Sums::Exact(sums, _) => sums.resize(groups, 0),
                Sums::Doubles(sums) => sums.resize(groups, 0.0),
            }
        }
    }

    /// How many groups there are, and their columns: keys, then aggregates.
    ///
    /// # Errors
    /// [`Kind::Value`] for texts that are longer together than they may be.
    pub(super) fn finish(self, key_types: &[Type]) -> Result<(usize, Vec<Vector>)> {
        let count = match key_types.is_empty() {
            true => 1,
            false => self.keys.len(),
        };
        let mut columns = self.keys.into_columns(key_types);
        for state in self.states {
            columns.push(state.finish()?);
        }
        Ok((count, columns))
    }
}

impl State {
    fn add(&mut self, groups: &[u32], given: &Argument, rows: usize) -> Result<()> {
        let Some(argument) = &given.value else {
            // All rows of one group are one addition.
            match self.counts.as_mut_slice() {
                [only] => *only += i64::try_from(rows).unwrap_or(i64::MAX),
                counts => {
                    for group in groups {
                        if let Some(count) = counts.get_mut(*group as usize) {
                            *count += 1;
                        }
                    }
                }
            }
            return Ok(());
        };
        if argument.is_null() {
            return Ok(());
        }
        let compared = given.compared.as_ref().unwrap_or(argument);
        let nulls = argument.nulls().cloned();
        let mut picked = Vec::with_capacity(rows);
        match (&mut self.seen, &nulls) {
            (None, None) => picked.extend(0..rows),
            (None, Some(nulls)) => picked.extend((0..rows).filter(|row| nulls.is_valid(*row))),
            (Some(seen), nulls) => {
                let ids = Keys::once(compared, rows, seen);
                let ids = ids.iter().zip(groups).enumerate();
                for (row, (id, group)) in ids {
                    let is_valid = nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row));
                    if is_valid && seen.is_new_pair(*group, *id) {
                        picked.push(row);
                    }
                }
            }
        }
        for row in &picked {
            let group = groups.get(*row).copied().unwrap_or(0);
            if let Some(count) = self.counts.get_mut(group as usize) {
                *count += 1;
            }
        }
        match self.kind {
            AggregateKind::Count => {}
            AggregateKind::Sum | AggregateKind::Average => return self.sum(groups, argument, &picked),
            AggregateKind::Least => self.choose(groups, (argument, compared), &picked, Ordering::Less),
            AggregateKind::Greatest => self.choose(groups, (argument, compared), &picked, Ordering::Greater),
            AggregateKind::First => {
                for row in &picked {
                    let group = groups.get(*row).map_or(0, |group| *group as usize);
                    if let Some(first) = self.best.get_mut(group).filter(|first| first.is_null()) {
                        *first = argument.value(*row);
                    }
                }
            }
            AggregateKind::Concat => self.texts.add(groups, argument, &given.order, &picked),
        }
        Ok(())
    }

    fn sum(&mut self, groups: &[u32], argument: &Vector, picked: &[usize]) -> Result<()> {
        let Some(numbers) = Numbers::of(argument) else {
            return Ok(());
        };
        let group = |row: usize| groups.get(row).map_or(0, |group| *group as usize);
        match (&mut self.sums, numbers) {
            (Sums::Exact(sums, scale), Numbers::Integer(numbers)) => {
                let unit = power_of_ten(*scale);
                for row in picked {
                    if let Some(sum) = sums.get_mut(group(*row)) {
                        let number = i128::from(numbers.get(*row)).checked_mul(unit);
                        *sum = number.and_then(|number| sum.checked_add(number)).ok_or_else(beyond)?;
                    }
                }
            }
            (Sums::Exact(sums, scale), Numbers::Decimal(numbers, of)) => {
                // Rows before these may have had fewer digits behind the point, or more.
                if of > *scale {
                    for sum in sums.iter_mut() {
                        *sum = rescale(*sum, *scale, of).ok_or_else(beyond)?;
                    }
                    *scale = of;
                }
                let unit = power_of_ten(*scale - of);
                for row in picked {
                    if let Some(sum) = sums.get_mut(group(*row)) {
                        let number = numbers.get(*row).checked_mul(unit);
                        *sum = number.and_then(|number| sum.checked_add(number)).ok_or_else(beyond)?;
                    }
                }
            }
            (sums, numbers) => {
                let numbers = numbers.doubles();
                if let Sums::Exact(exact, scale) = sums {
                    let doubles = exact.iter().map(|sum| decimal_to_f64(*sum, *scale)).collect();
                    *sums = Sums::Doubles(doubles);
                }
                if let Sums::Doubles(sums) = sums {
                    for row in picked {
                        if let Some(sum) = sums.get_mut(group(*row)) {
                            *sum += numbers.get(*row);
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// The least or greatest value of each group: first which row has it, then the value.
    fn choose(&mut self, groups: &[u32], (argument, compared): (&Vector, &Vector), picked: &[usize], wanted: Ordering) {
        let keys = super::sort::keys(compared, groups.len());
        let mut rows: Vec<Option<usize>> = vec![None; self.best.len()];
        for row in picked {
            let group = groups.get(*row).map_or(0, |group| *group as usize);
            let Some(best) = rows.get_mut(group) else { continue };
            let is_better = best.is_none_or(|best: usize| keys.get(*row).cmp(&keys.get(best)) == wanted);
            if is_better {
                *best = Some(*row);
            }
        }
        for ((best, best_key), row) in self.best.iter_mut().zip(&mut self.best_keys).zip(rows) {
            let Some(row) = row else { continue };
            let key = compared.value(row);
            if best.is_null() || key.compare(best_key) == Some(wanted) {
                (*best, *best_key) = (argument.value(row), key);
            }
        }
    }

    fn finish(self) -> Result<Vector> {
        Ok(match self.kind {
            AggregateKind::Concat => match &self.concat {
                Some(how) => self.texts.finish(how)?,
                None => Vector::Constant(Value::Null),
            },
            AggregateKind::Count => Vector::Integer(Int64Array::from(self.counts)),
            AggregateKind::Least | AggregateKind::Greatest | AggregateKind::First => {
                let type_of = self
                    .best
                    .iter()
                    .map(Value::type_of)
                    .fold(Type::Unknown, |a, b| a.with(b).unwrap_or(a));
                match type_of {
                    // Without a value, nothing tells a type: NULL fits all of them.
                    Type::Unknown => Vector::Constant(Value::Null),
                    type_of => Vector::of_values(self.best, type_of),
                }
            }
            AggregateKind::Sum => match self.sums {
                Sums::Exact(sums, _) if !sums.iter().all(|sum| has_room(*sum)) => return Err(beyond()),
                Sums::Doubles(sums) => {
                    let values = sums.into_iter().zip(self.counts);
                    Vector::Double(values.map(|(sum, count)| (count > 0).then_some(sum)).collect())
                }
                Sums::Exact(sums, 0) => {
                    let values = sums.into_iter().zip(self.counts);
                    let values: Vec<_> = values.map(|(sum, count)| (count > 0).then_some(sum)).collect();
                    match values.iter().flatten().all(|sum| i64::try_from(*sum).is_ok()) {
                        true => {
                            let values = values.into_iter();
                            Vector::Integer(values.map(|sum| sum.and_then(|sum| i64::try_from(sum).ok())).collect())
                        }
                        false => Vector::Decimal(values.into_iter().collect(), 0),
                    }
                }
                Sums::Exact(sums, scale) => {
                    let values = sums.into_iter().zip(self.counts);
                    Vector::Decimal(values.map(|(sum, count)| (count > 0).then_some(sum)).collect(), scale)
                }
            },
            AggregateKind::Average => {
                let sums: Vec<f64> = match self.sums {
                    Sums::Doubles(sums) => sums,
                    Sums::Exact(sums, scale) => sums.iter().map(|sum| decimal_to_f64(*sum, scale)).collect(),
                };
                #[expect(clippy::cast_precision_loss, reason = "there are fewer rows than 2^53")]
                let average = |(sum, count): (f64, i64)| (count > 0).then(|| sum / count as f64);
                Vector::Double(sums.into_iter().zip(self.counts).map(average).collect::<Float64Array>())
            }
        })
    }
}

fn beyond() -> Error {
    let why = "A sum has more than 38 digits: CAST what is added up to DOUBLE";
    Error::new(Kind::Value, why)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A CASE may give rows before others fewer digits behind the point, or more.
    #[test]
    fn parts_of_several_scales_are_added_up_at_one() {
        let sum = Aggregate {
            kind: AggregateKind::Sum,
            argument: Some(Expr::Column(0)),
            compared: None,
            is_distinct: false,
            concat: None,
        };
        let mut groups = Groups::new(0, &[sum]);
        let decimal = |unscaled, scale| Value::Decimal { unscaled, scale };
        for value in [Value::Integer(1), decimal(250, 2), Value::Integer(1), decimal(5, 1)] {
            groups
                .add(
                    &[],
                    &[Argument {
                        value: Some(Vector::Constant(value)),
                        compared: None,
                        order: Vec::new(),
                    }],
                    2,
                )
                .expect("there is room");
        }
        let (_, columns) = groups.finish(&[]).expect("there is room");
        assert_eq!(columns[0].value(0), decimal(1000, 2));
    }
}
