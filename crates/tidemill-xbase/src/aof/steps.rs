//! How the leaves of a condition are answered, and what ADS calls that.

use std::borrow::Cow;

use crate::bitmap::Bitmap;
use crate::error::Result;
use crate::expression::{BinaryOperator, Environment, Syntax, SyntaxKind, Type, UnaryOperator};
use crate::table::Table;

use super::evaluate::value;
use super::leaf::Leaf;
use super::ranges::{FilterOrders, Range};

/// How far orders answer a condition, by ADS's rules for CDX and NTX (its help, "Master AOF Optimization"): a bitmap of ours
/// is always exact, and a level says how much of it came without reading records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OptimizationLevel {
    /// Every record was looked at.
    None,
    /// Orders answered some of it.
    Part,
    /// Orders answered all of it.
    Full,
}

/// The condition, cut at its logical operators.
#[derive(Debug, Clone)]
pub(super) enum Plan {
    Leaf(Box<Leaf>),
    Not(Box<Plan>),
    And(Box<Plan>, Box<Plan>),
    Or(Box<Plan>, Box<Plan>),
}

/// The condition with the answers that orders gave.
#[derive(Debug)]
pub(super) enum Step<'p> {
    Set(Bitmap),
    /// Records of which it is true, and of which it is NULL.
    SetAndNulls(Bitmap, Bitmap),
    Leaf(Box<Cow<'p, Leaf>>),
    Not(Box<Step<'p>>),
    And(Box<Step<'p>>, Box<Step<'p>>),
    Or(Box<Step<'p>>, Box<Step<'p>>),
}

impl Plan {
    /// Cuts a tree whose types were checked.
    pub(super) fn new(syntax: &Syntax, table: &Table, environment: &Environment) -> Result<Self> {
        let part = |syntax| Self::new(syntax, table, environment).map(Box::new);
        Ok(match &syntax.kind {
            SyntaxKind::Unary(UnaryOperator::Not, operand) => Self::Not(part(operand)?),
            SyntaxKind::Binary(BinaryOperator::And, left, right) => Self::And(part(left)?, part(right)?),
            SyntaxKind::Binary(BinaryOperator::Or, left, right) => Self::Or(part(left)?, part(right)?),
            _ => Self::Leaf(Box::new(Leaf::new(syntax, table, environment)?)),
        })
    }

    /// Whether every part of it is true or false, or `.NULL.`.
    pub(super) fn is_condition(&self) -> bool {
        !self.any(&|leaf| !matches!(leaf.program.type_of(), Type::Logical | Type::Null))
    }

    /// Whether something holds of any leaf.
    pub(super) fn any(&self, holds: &impl Fn(&Leaf) -> bool) -> bool {
        match self {
            Self::Leaf(leaf) => holds(leaf),
            Self::Not(operand) => operand.any(holds),
            Self::And(left, right) | Self::Or(left, right) => left.any(holds) || right.any(holds),
        }
    }

    /// What the condition is for one record, given its bytes, in the three values of SQL's logic; `None` is `.NULL.`.
    ///
    /// # Errors
    /// For a field whose bytes are none of its values.
    pub(super) fn holds(&self, table: &Table, recno: u32, bytes: &[u8]) -> Result<Option<bool>> {
        let (left, right, decides) = match self {
            Self::Leaf(leaf) => return value(&leaf.program, table, recno, bytes),
            Self::Not(operand) => return Ok(operand.holds(table, recno, bytes)?.map(|holds| !holds)),
            Self::And(left, right) => (left, right, false),
            Self::Or(left, right) => (left, right, true),
        };
        let left = left.holds(table, recno, bytes)?;
        if left == Some(decides) {
            return Ok(left);
        }
        let right = right.holds(table, recno, bytes)?;
        Ok(if right == Some(decides) { right } else { left.and(right) })
    }

    pub(super) fn level(&self, table: &Table, orders: &FilterOrders) -> OptimizationLevel {
        self.level_in(table, orders, false)
    }

    fn level_in(&self, table: &Table, orders: &FilterOrders, is_negated: bool) -> OptimizationLevel {
        use OptimizationLevel::{Full, None, Part};
        match self {
            Self::Leaf(leaf) if leaf.search.is_some() => match leaf.search.as_ref().zip(orders.words(leaf, is_negated))
            {
                Some((search, words)) if words.is_exact(search) => Full,
                Some(_) => Part,
                Option::None => None,
            },
            Self::Leaf(leaf) if leaf.is_constant() || orders.range(leaf, table).is_some() => Full,
            Self::Leaf(_) => None,
            Self::Not(operand) => match operand.level_in(table, orders, true) {
                Full => Full,
                Part | None => None,
            },
            Self::And(left, right) => match (
                left.level_in(table, orders, is_negated),
                right.level_in(table, orders, is_negated),
            ) {
                (Full, Full) => Full,
                (None, None) => None,
                _ => Part,
            },
            Self::Or(left, right) => match (
                left.level_in(table, orders, is_negated),
                right.level_in(table, orders, is_negated),
            ) {
                (Full, Full) => Full,
                (None, _) | (_, None) => None,
                _ => Part,
            },
        }
    }

    /// Asks the orders.
    ///
    /// # Errors
    /// When an index cannot be read.
    pub(super) fn step(&self, table: &Table, orders: &FilterOrders) -> Result<Step<'_>> {
        self.step_in(table, orders, false)
    }

    /// As [`Plan::step`], within NOT or not.
    fn step_in(&self, table: &Table, orders: &FilterOrders, is_negated: bool) -> Result<Step<'_>> {
        Ok(match self {
            Self::Leaf(leaf) => match orders.range(leaf, table) {
                Some(range) => range.step(table.record_count())?,
                None => by_words(leaf, table, orders, is_negated)?,
            },
            Self::Not(operand) => Step::Not(Box::new(operand.step_in(table, orders, true)?)),
            Self::Or(left, right) => {
                let left = left.step_in(table, orders, is_negated)?;
                let right = right.step_in(table, orders, is_negated)?;
                Step::Or(Box::new(left), Box::new(right))
            }
            Self::And(..) => {
                let mut parts = Vec::new();
                self.parts(&mut parts);
                all_of(&parts, table, orders, is_negated)?
            }
        })
    }

    /// What a chain of `.AND.` joins.
    fn parts<'p>(&'p self, parts: &mut Vec<&'p Self>) {
        match self {
            Self::And(left, right) => {
                left.parts(parts);
                right.parts(parts);
            }
            other => parts.push(other),
        }
    }
}

/// The step for parts that must all be fulfilled, with those first that need no record, and one range or one leaf for two
/// bounds of the same field.
fn all_of<'p>(parts: &[&'p Plan], table: &Table, orders: &FilterOrders, is_negated: bool) -> Result<Step<'p>> {
    let (mut ranges, mut leaves): (Vec<Range>, Vec<Cow<'p, Leaf>>) = (Vec::new(), Vec::new());
    let (mut others, mut searches) = (Vec::new(), Vec::new());
    for part in parts {
        let Plan::Leaf(leaf) = part else {
            others.push(part.step_in(table, orders, is_negated)?);
            continue;
        };
        if leaf.search.is_some() {
            searches.push(by_words(leaf, table, orders, is_negated)?);
            continue;
        }
        match orders.range(leaf, table) {
            Some(range) => narrow(&mut ranges, range, Range::narrowed_by),
            None => narrow(&mut leaves, Cow::Borrowed(&**leaf), |a, b| {
                a.narrowed_by(b).map(Cow::Owned)
            }),
        }
    }
    let sets = ranges.iter().map(|range| range.step(table.record_count()));
    let mut steps = sets.collect::<Result<Vec<_>>>()?;
    // Texts are read last, of the records that all others leave.
    let mut texts = Vec::new();
    for search in searches {
        match search {
            Step::And(set, leaf) => {
                steps.push(*set);
                texts.push(*leaf);
            }
            Step::Leaf(leaf) => texts.push(Step::Leaf(leaf)),
            set => steps.push(set),
        }
    }
    steps.extend(leaves.into_iter().map(|leaf| Step::Leaf(Box::new(leaf))));
    steps.extend(others);
    steps.extend(texts);
    // Sets come first, so that what they rule out is not read.
    let both = |left, right| Step::And(Box::new(left), Box::new(right));
    let whole = steps.into_iter().reduce(both);
    Ok(whole.unwrap_or_else(|| Step::Set(Bitmap::full(table.record_count()))))
}

/// The step of a leaf that no order of records answers: the records that an index of words gives, and the texts of those where it does
/// not tell.
fn by_words<'p>(leaf: &'p Leaf, table: &Table, orders: &FilterOrders, is_negated: bool) -> Result<Step<'p>> {
    let whole = Step::Leaf(Box::new(Cow::Borrowed(leaf)));
    let Some((search, words)) = leaf.search.as_ref().zip(orders.words(leaf, is_negated)) else {
        return Ok(whole);
    };
    let candidates = words.candidates(search, table.record_count())?;
    let set = Step::Set(candidates.records);
    Ok(match candidates.are_exact {
        true => set,
        false => Step::And(Box::new(set), Box::new(whole)),
    })
}

/// Adds an item, or narrows one that is there.
fn narrow<T>(items: &mut Vec<T>, item: T, both: impl Fn(&T, &T) -> Option<T>) {
    for known in items.iter_mut() {
        if let Some(narrower) = both(known, &item) {
            *known = narrower;
            return;
        }
    }
    items.push(item);
}

impl Step<'_> {
    /// Whether an order has answered some of it.
    pub(super) fn has_set(&self) -> bool {
        match self {
            Self::Set(_) | Self::SetAndNulls(..) => true,
            Self::Leaf(_) => false,
            Self::Not(operand) => operand.has_set(),
            Self::And(left, right) | Self::Or(left, right) => left.has_set() || right.has_set(),
        }
    }

    /// Whether it needs the bytes of records.
    pub(super) fn reads_records(&self) -> bool {
        match self {
            Self::Set(_) | Self::SetAndNulls(..) => false,
            Self::Leaf(leaf) => !leaf.is_constant(),
            Self::Not(operand) => operand.reads_records(),
            Self::And(left, right) | Self::Or(left, right) => left.reads_records() || right.reads_records(),
        }
    }
}
