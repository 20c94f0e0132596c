//! WHERE: what of it is a bitmap filter of xBase, and what is left over.
//!
//! A condition is cut at its ANDs. A part that means the same as an xBase expression goes into one filter, which orders may answer and
//! kernels read from the records' bytes. The rest is evaluated over the columns of the records that the filter leaves.
//!
//! To xBase a blank is a value: 0, false, the empty date. Where it is NULL to the statement, what of it fulfils the filter is looked at
//! once more: such a part goes into the filter, which leaves too many records then, and into the rest.
//!
//! Texts are compared whole: a constant is filled up with blanks to the width of its field, so that SET EXACT has nothing to say.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use arrow_array::{Array, BooleanArray};
use tidemill_xbase as xbase;
use tidemill_xbase::aof::{Filter, OptimizationLevel};
use tidemill_xbase::expression::{BinaryOperator, Letters, Literal, Syntax, SyntaxKind, UnaryOperator};
use tidemill_xbase::full_text::{SearchCondition, Tokenizer};
use tidemill_xbase::{AdtType, Bitmap, Field, FieldKind, Table};

use super::error::Result;
use super::evaluate::{Evaluation, Session, evaluate_alone};
use super::expression::{Blank, Comparison, Expr};
use super::frames::{Reader, Selection};
use super::like::Pattern;
use super::nesting::joined_in_pairs;
use super::row_id;
use super::tables::Snapshot;
use super::value::{DAY_MS, EMPTY_DATE, EMPTY_TIMESTAMP, Value, day_of, midnight, parse_timestamp, trimmed};

/// The longest list of `IN` that becomes comparisons.
const FEW: usize = 16;
/// The digits that a double holds exactly.
const EXACT: u32 = 15;

/// A condition, compiled for a table and for the values of its parameters.
#[derive(Debug, Clone)]
pub(super) struct Condition {
    /// What is a filter of xBase; `None`: nothing.
    pub(super) syntax: Option<Arc<Syntax>>,
    filter: OnceLock<Filter>,
    /// With the condition that a record is not deleted.
    undeleted: OnceLock<Filter>,
    pub(super) rest: Vec<Expr>,
}

impl Condition {
    /// # Errors
    /// As [`Filter::from_syntax`].
    pub(super) fn new(selection: Option<&Expr>, snapshot: &Snapshot, session: &Session<'_>) -> Result<Self> {
        let lowering = Lowering {
            snapshot,
            table: snapshot.table(),
            session,
        };
        let (mut lowered, mut rest) = (Vec::new(), Vec::new());
        for part in selection.into_iter().flat_map(parts) {
            match lowering.condition(part) {
                Some(filter) => lowered.push((filter, part)),
                None => rest.push(part.clone()),
            }
        }
        let excluded: BTreeSet<usize> = lowered
            .iter()
            .flat_map(|(filter, _)| &filter.excludes)
            .copied()
            .collect();
        for (filter, part) in &lowered {
            if filter.is_partial || !filter.doubtful.is_subset(&excluded) {
                rest.push((*part).clone());
            }
        }
        let lowered = lowered.into_iter().map(|(filter, _)| filter.syntax).collect();
        let syntax = joined_in_pairs(lowered, |left, right| binary(BinaryOperator::And, left, right));
        let condition = Self {
            syntax: syntax.map(Arc::new),
            filter: OnceLock::new(),
            undeleted: OnceLock::new(),
            rest,
        };
        condition.filter(snapshot, false)?;
        Ok(condition)
    }

    /// The filter, whatever records are marked as deleted.
    ///
    /// # Errors
    /// As [`Condition::new`].
    pub(super) fn compiled(&self, snapshot: &Snapshot) -> Result<Option<Filter>> {
        Ok(self.filter(snapshot, false)?.cloned())
    }

    /// The filter, with or without records that are marked as deleted; made when it is first needed.
    fn filter(&self, snapshot: &Snapshot, without_deleted: bool) -> Result<Option<&Filter>> {
        let Some(syntax) = &self.syntax else {
            return Ok(None);
        };
        let slot = if without_deleted { &self.undeleted } else { &self.filter };
        if let Some(filter) = slot.get() {
            return Ok(Some(filter));
        }
        let compile = |syntax: &Syntax| Filter::from_syntax(syntax, snapshot.table(), snapshot.environment());
        let filter = match without_deleted {
            false => compile(syntax)?,
            true => {
                let not_deleted = unary(UnaryOperator::Not, call("DELETED", Vec::new()));
                compile(&binary(BinaryOperator::And, (**syntax).clone(), not_deleted))?
            }
        };
        Ok(Some(slot.get_or_init(|| filter)))
    }

    /// The records that fulfil it.
    ///
    /// # Errors
    /// When the table cannot be read, and as [`Evaluation::logical`].
    pub(super) fn select(&self, reader: &Reader<'_>, session: &Session<'_>, shows_deleted: bool) -> Result<Selection> {
        let snapshot = reader.snapshot;
        let table = snapshot.table();
        let has_deleted = !snapshot.shows_deleted(shows_deleted) && has_deleted(snapshot)?;
        let filter = self.filter(snapshot, has_deleted)?;
        let selection = match filter {
            Some(filter) => Selection::Set(filter.bitmap_in(snapshot.columns(), snapshot.filter_orders()?)?),
            None if has_deleted => {
                let mut set = deleted(snapshot)?;
                set.invert();
                Selection::Set(set)
            }
            None => Selection::All,
        };
        if self.rest.is_empty() {
            return Ok(selection);
        }
        let mut set = Bitmap::new(table.record_count());
        for frame in reader.frames(&selection) {
            let evaluation = Evaluation::new(&frame, session);
            let mut kept: Option<BooleanArray> = None;
            for part in &self.rest {
                let holds = evaluation.logical(part)?;
                kept = Some(match kept {
                    None => holds,
                    Some(kept) => super::evaluate::and(&kept, &holds),
                });
            }
            let Some(kept) = kept else { continue };
            let is_kept = |row: usize| kept.is_valid(row) && kept.value(row);
            let records = frame.records();
            for (_, record) in records.into_iter().enumerate().filter(|(row, _)| is_kept(*row)) {
                set.set(record, true);
            }
        }
        Ok(Selection::Set(set))
    }

    /// How far orders answer it.
    ///
    /// # Errors
    /// As [`Snapshot::filter_orders`].
    pub(super) fn level(&self, snapshot: &Snapshot) -> Result<OptimizationLevel> {
        let level = match self.filter(snapshot, false)? {
            Some(filter) => filter.level(snapshot.table(), snapshot.filter_orders()?),
            None => return Ok(OptimizationLevel::None),
        };
        Ok(match (level, self.rest.is_empty()) {
            (OptimizationLevel::Full, false) => OptimizationLevel::Part,
            (level, _) => level,
        })
    }
}

/// Whether any record is marked as deleted.
///
/// # Errors
/// When the table cannot be read.
pub(super) fn has_deleted(snapshot: &Snapshot) -> Result<bool> {
    let undeleted = snapshot
        .columns()
        .count(tidemill_xbase::aggregate::Selected::Undeleted)?;
    Ok(undeleted < u64::from(snapshot.table().record_count()))
}

/// The records that are marked as deleted.
///
/// # Errors
/// When the table cannot be read.
pub(super) fn deleted(snapshot: &Snapshot) -> Result<Bitmap> {
    let syntax = call("DELETED", Vec::new());
    let filter = Filter::from_syntax(&syntax, snapshot.table(), snapshot.environment())?;
    Ok(filter.bitmap_in(snapshot.columns(), snapshot.filter_orders()?)?)
}

/// What a chain of ANDs joins.
fn parts(expr: &Expr) -> Vec<&Expr> {
    let (mut parts, mut open) = (Vec::new(), vec![expr]);
    while let Some(next) = open.pop() {
        match next {
            Expr::And(left, right) => open.extend([&**right, &**left]),
            other => parts.push(other),
        }
    }
    parts
}

fn node(kind: SyntaxKind) -> Syntax {
    Syntax { kind, column: 1 }
}

fn binary(operator: BinaryOperator, left: Syntax, right: Syntax) -> Syntax {
    node(SyntaxKind::Binary(operator, Box::new(left), Box::new(right)))
}

fn unary(operator: UnaryOperator, operand: Syntax) -> Syntax {
    node(SyntaxKind::Unary(operator, Box::new(operand)))
}

fn call(name: &str, arguments: Vec<Syntax>) -> Syntax {
    node(SyntaxKind::Call {
        name: name.to_owned(),
        arguments,
    })
}

fn literal(literal: Literal) -> Syntax {
    node(SyntaxKind::Literal(literal))
}

fn constant(value: bool) -> Syntax {
    literal(Literal::Logical(value))
}

/// A condition as a filter. It holds for every record for which the condition does.
struct Lowered {
    syntax: Syntax,
    /// The columns whose blank may fulfil it where the condition is not fulfilled: blanks are NULL there.
    doubtful: BTreeSet<usize>,
    /// The columns whose blank does not fulfil it.
    excludes: BTreeSet<usize>,
    /// Whether it holds for other records, too.
    is_partial: bool,
}

impl Lowered {
    /// One that holds for the very records for which the condition does, whatever their blanks are.
    fn exact(syntax: Syntax) -> Self {
        Self {
            syntax,
            doubtful: BTreeSet::new(),
            excludes: BTreeSet::new(),
            is_partial: false,
        }
    }

    fn and(self, other: Self) -> Self {
        let excludes: BTreeSet<usize> = &self.excludes | &other.excludes;
        Self {
            syntax: binary(BinaryOperator::And, self.syntax, other.syntax),
            doubtful: &(&self.doubtful | &other.doubtful) - &excludes,
            excludes,
            is_partial: self.is_partial || other.is_partial,
        }
    }

    fn or(self, other: Self) -> Self {
        Self {
            syntax: binary(BinaryOperator::Or, self.syntax, other.syntax),
            doubtful: &self.doubtful | &other.doubtful,
            excludes: &self.excludes & &other.excludes,
            is_partial: self.is_partial || other.is_partial,
        }
    }
}

struct Lowering<'l> {
    snapshot: &'l Snapshot,
    table: &'l Table,
    session: &'l Session<'l>,
}

impl Lowering<'_> {
    /// The condition as an xBase expression; `None` where there is none that holds for every record for which it does.
    fn condition(&self, expr: &Expr) -> Option<Lowered> {
        match expr {
            Expr::And(left, right) => Some(self.condition(left)?.and(self.condition(right)?)),
            Expr::Or(left, right) => Some(self.condition(left)?.or(self.condition(right)?)),
            Expr::Not(operand) => self.negated(operand),
            Expr::Compare(comparison, left, right) => match (self.value(left), self.value(right)) {
                (Some(left), Some(right)) => {
                    let ordering = left.compare(&right)?;
                    Some(Lowered::exact(constant(comparison.holds(ordering))))
                }
                (None, Some(right)) => self
                    .compare(left, *comparison, &right)
                    .or_else(|| self.scored(left, *comparison, &right)),
                (Some(left), None) => self
                    .compare(right, comparison.turned(), &left)
                    .or_else(|| self.scored(right, comparison.turned(), &left)),
                (None, None) => None,
            },
            Expr::Between(parts) => {
                let [value, low, high] = &**parts;
                let low = self.compare(value, Comparison::GreaterOrEqual, &self.value(low)?)?;
                let high = self.compare(value, Comparison::LessOrEqual, &self.value(high)?)?;
                Some(low.and(high))
            }
            Expr::In(value, list) if (1..=FEW).contains(&list.len()) => {
                let equal = |item| self.compare(value, Comparison::Equal, &self.value(item)?);
                let all = list.iter().map(equal).collect::<Option<Vec<_>>>()?;
                all.into_iter().reduce(Lowered::or)
            }
            Expr::Like { value, pattern, escape } => self.like(value, pattern, *escape),
            Expr::IsNull(operand) => {
                let (field, name) = self.field(operand)?;
                if field.kind.uses_memo() || field.kind == FieldKind::Time {
                    return None;
                }
                Some(match Blank::of(field, self.table) {
                    Blank::Apart if self.can_be_blank(field) => {
                        let empty = call("EMPTY", vec![name.clone()]);
                        let null = call("ISNULL", vec![name]);
                        let syntax = match field.nullable {
                            true => binary(BinaryOperator::Or, empty, null),
                            false => empty,
                        };
                        Lowered {
                            doubtful: column(operand),
                            ..Lowered::exact(syntax)
                        }
                    }
                    Blank::Apart if !field.nullable => Lowered::exact(constant(false)),
                    Blank::Apart => Lowered::exact(call("ISNULL", vec![name])),
                    Blank::Null => Lowered::exact(call("EMPTY", vec![name])),
                    Blank::Value => Lowered::exact(constant(false)),
                })
            }
            Expr::IsEmpty(operand) => {
                let (field, name) = self.field(operand)?;
                let is_plain = !field.nullable && !field.kind.uses_memo() && field.kind != FieldKind::Time;
                is_plain.then(|| Lowered::exact(call("EMPTY", vec![name])))
            }
            Expr::Column(_) => {
                let (field, name) = self.field(expr)?;
                (field.kind == FieldKind::Logical).then(|| Lowered {
                    excludes: column(expr),
                    ..Lowered::exact(name)
                })
            }
            Expr::IsDeleted => Some(Lowered::exact(call("DELETED", Vec::new()))),
            Expr::Call(function, arguments) if function.name == "CONTAINS" => {
                let [text, condition] = arguments.as_slice() else {
                    return None;
                };
                let condition = self.search_condition(condition)?;
                self.contains(text, &condition)
            }
            Expr::Value(_) | Expr::Parameter(_) => match self.value(expr)? {
                Value::Logical(value) => Some(Lowered::exact(constant(value))),
                _ => None,
            },
            _ => None,
        }
    }

    /// That a condition is false. NOT of a filter that holds for too many records, or for a blank that is NULL, would hold for the
    /// wrong ones, so there the comparisons within are turned instead.
    fn negated(&self, expr: &Expr) -> Option<Lowered> {
        let lowered = self.condition(expr).filter(|lowered| !lowered.is_partial)?;
        if !self.has_null_blanks(expr) {
            return Some(Lowered::exact(unary(UnaryOperator::Not, lowered.syntax)));
        }
        let compare = |comparison: Comparison, left: &Expr, right: &Expr| {
            let turned = Expr::Compare(comparison.negated(), Box::new(left.clone()), Box::new(right.clone()));
            self.condition(&turned)
        };
        match expr {
            Expr::And(left, right) => Some(self.negated(left)?.or(self.negated(right)?)),
            Expr::Or(left, right) => Some(self.negated(left)?.and(self.negated(right)?)),
            Expr::Not(operand) => self.condition(operand),
            Expr::Compare(comparison, left, right) => compare(*comparison, left, right),
            Expr::Between(parts) => {
                let [value, low, high] = &**parts;
                let below = compare(Comparison::GreaterOrEqual, value, low)?;
                Some(below.or(compare(Comparison::LessOrEqual, value, high)?))
            }
            Expr::In(value, list) => {
                let other = list.iter().map(|item| compare(Comparison::Equal, value, item));
                other.collect::<Option<Vec<_>>>()?.into_iter().reduce(Lowered::and)
            }
            Expr::IsNull(operand) => Some(Lowered {
                doubtful: column(operand),
                ..Lowered::exact(constant(true))
            }),
            Expr::IsEmpty(operand) => Some(Lowered {
                excludes: column(operand),
                ..Lowered::exact(unary(UnaryOperator::Not, lowered.syntax))
            }),
            Expr::Column(_) => Some(Lowered {
                doubtful: column(expr),
                ..Lowered::exact(unary(UnaryOperator::Not, lowered.syntax))
            }),
            _ => None,
        }
    }

    /// Whether a condition is over a column whose blank is NULL to the statement.
    fn has_null_blanks(&self, expr: &Expr) -> bool {
        let mut has = false;
        expr.visit(&mut |part| has |= self.field(part).is_some_and(|(field, _)| self.can_be_blank(field)));
        has
    }

    /// Whether a cell of a field can be blank, and the statement takes that for NULL.
    fn can_be_blank(&self, field: &Field) -> bool {
        use FieldKind as K;
        let has_blank = !matches!(
            field.kind,
            K::Character | K::Varchar | K::Integer | K::Currency | K::Double
        );
        has_blank && self.table.blank() == xbase::Blank::Null
    }

    /// The value of an expression that is the same for every record.
    fn value(&self, expr: &Expr) -> Option<Value> {
        let mut is_same = true;
        expr.visit(&mut |part| {
            is_same &= match part {
                Expr::Column(_) | Expr::RecordNumber | Expr::RowId | Expr::RowNumber | Expr::IsDeleted => false,
                Expr::Call(function, _) => !function.is_volatile(),
                Expr::User(..) => false,
                _ => true,
            };
        });
        if !is_same {
            return None;
        }
        evaluate_alone(expr, self.session).ok().filter(|value| !value.is_null())
    }

    fn field(&self, expr: &Expr) -> Option<(&Field, Syntax)> {
        let Expr::Column(index) = expr else {
            return None;
        };
        let field = self.table.fields().get(*index)?;
        let name = field.name.to_uppercase();
        Some((field, node(SyntaxKind::Field { alias: None, name })))
    }

    /// A field that is compared, as its column or what binding wrapped around it says: without regard to case, or with it.
    fn collated_field(&self, operand: &Expr) -> Option<(&Field, Syntax)> {
        match operand {
            Expr::Small(text) => self
                .field(in_either_case(text))
                .filter(|(field, _)| ignores_case(field)),
            other => self.field(other).map(|(field, name)| (field, case_counts(field, name))),
        }
    }

    /// A comparison with a value, and whether a blank fulfils it.
    fn compare(&self, operand: &Expr, comparison: Comparison, value: &Value) -> Option<Lowered> {
        let lowered = Lowered::exact(self.compared_field(operand, comparison, value)?);
        let Some((field, _)) = self.field(operand).filter(|(field, _)| self.can_be_blank(field)) else {
            return Some(lowered);
        };
        let blank = match (field.kind, value) {
            (FieldKind::Logical, _) => Value::Logical(false),
            (_, Value::Integer(_) | Value::Decimal { .. } | Value::Double(_)) => Value::Integer(0),
            // The empty date comes before every day, and is the same as none.
            (_, Value::Date(_)) => Value::Date(EMPTY_DATE),
            (_, Value::Timestamp(_)) => Value::Timestamp(EMPTY_TIMESTAMP),
            (_, Value::Text(text)) if parse_timestamp(text) == Some(EMPTY_TIMESTAMP) => Value::Text(text.clone()),
            (_, Value::Text(_)) => Value::Text(String::new()),
            _ => return None,
        };
        let holds = blank.compare(value).is_none_or(|ordering| comparison.holds(ordering));
        Some(match holds {
            true => Lowered {
                doubtful: column(operand),
                ..lowered
            },
            false => Lowered {
                excludes: column(operand),
                ..lowered
            },
        })
    }

    fn compared_field(&self, operand: &Expr, comparison: Comparison, value: &Value) -> Option<Syntax> {
        if *operand == Expr::RowId {
            let Value::Text(text) = value else {
                return None;
            };
            let record = match row_id::parted(text) {
                Some((prefix, record)) if prefix == row_id::prefix(self.table.path()) => record,
                // No record has it.
                _ => 0,
            };
            let equal = compared(
                call("RECNO", Vec::new()),
                Comparison::Equal,
                number_literal(record.to_string()),
            );
            return match comparison {
                Comparison::Equal => Some(equal),
                Comparison::NotEqual => Some(unary(UnaryOperator::Not, equal)),
                _ => None,
            };
        }
        if *operand == Expr::RecordNumber {
            let number = value.to_i64().filter(|_| matches!(value, Value::Integer(_)))?;
            return Some(compared(
                call("RECNO", Vec::new()),
                comparison,
                number_literal(number.to_string()),
            ));
        }
        if let Expr::Call(function, arguments) = operand
            && let ("UPPER" | "UCASE" | "LOWER" | "LCASE", [argument]) = (function.name, arguments.as_slice())
        {
            let (field, name) = self.field(argument)?;
            // A code page of several bytes has no letters of its own for a filter; those of ASCII are the same in all.
            let has_letters = Letters::of(self.table.codepage()) != Letters::ascii();
            if !has_letters && !matches!(value, Value::Text(text) if text.is_ascii()) {
                return None;
            }
            let name = call(
                if function.name.starts_with('U') {
                    "UPPER"
                } else {
                    "LOWER"
                },
                vec![name],
            );
            let name = case_counts(field, name);
            return text(field, name, comparison, value);
        }
        let (field, name) = self.collated_field(operand)?;
        match (field.kind, value) {
            (FieldKind::Character, Value::Text(_)) => text(field, name, comparison, value),
            (FieldKind::Numeric | FieldKind::Float | FieldKind::Integer | FieldKind::IntegerDbase7, _) => {
                number(field, name, comparison, value)
            }
            (FieldKind::Logical, Value::Logical(wanted)) => {
                let is_true = match comparison {
                    Comparison::Equal => *wanted,
                    Comparison::NotEqual => !*wanted,
                    _ => return None,
                };
                Some(if is_true { name } else { unary(UnaryOperator::Not, name) })
            }
            (FieldKind::Date | FieldKind::DateBinary | FieldKind::DatePacked, _) => {
                let days = match value {
                    Value::Date(days) => *days,
                    Value::Timestamp(ms) if ms.rem_euclid(DAY_MS) == 0 => day_of(*ms),
                    Value::Text(text) => match parse_timestamp(text)? {
                        EMPTY_TIMESTAMP => EMPTY_DATE,
                        ms => Some(ms).filter(|ms| ms.rem_euclid(DAY_MS) == 0).map(day_of)?,
                    },
                    _ => return None,
                };
                let days = Some(days).filter(|days| *days != EMPTY_DATE);
                Some(compared(name, comparison, literal(Literal::Date(days))))
            }
            (FieldKind::Timestamp | FieldKind::TimestampDbase7, _) => {
                let ms = match value {
                    Value::Date(days) => midnight(*days),
                    Value::Timestamp(ms) => *ms,
                    Value::Text(text) => parse_timestamp(text)?,
                    _ => return None,
                };
                (ms != EMPTY_TIMESTAMP).then(|| compared(name, comparison, literal(Literal::Timestamp(ms))))
            }
            _ => None,
        }
    }

    /// A search condition that is the same for every record, where the table's code page has all of it.
    fn search_condition(&self, expr: &Expr) -> Option<String> {
        let Value::Text(written) = self.value(expr)? else {
            return None;
        };
        let (codepage, mut encoded) = (self.table.codepage(), Vec::new());
        let has_all = codepage.encode(&written, &mut encoded).is_ok();
        (has_all && codepage.decode(&encoded) == written).then_some(written)
    }

    /// CONTAINS() of a column that has an index of words. Without one it is evaluated over the texts, as a wrong condition is, which is
    /// told there.
    fn contains(&self, text: &Expr, written: &str) -> Option<Lowered> {
        let (field, name) = self.field(text)?;
        let has_words = |index: &usize| {
            let orders = self.snapshot.filter_orders();
            orders.is_ok_and(|orders| orders.has_words_of(*index))
        };
        let condition = SearchCondition::parse(written, &Tokenizer::default()).ok()?;
        if !column(text).first().is_some_and(has_words) {
            return None;
        }
        let syntax = call("CONTAINS", vec![name, literal(Literal::Text(written.to_owned()))]);
        let lowered = Lowered::exact(syntax);
        Some(match (self.can_be_blank(field), condition.holds(&[])) {
            (false, _) => lowered,
            (true, true) => Lowered {
                doubtful: column(text),
                ..lowered
            },
            (true, false) => Lowered {
                excludes: column(text),
                ..lowered
            },
        })
    }

    /// A score that is more than 0: only the texts that have one of the words need be looked at.
    fn scored(&self, operand: &Expr, comparison: Comparison, value: &Value) -> Option<Lowered> {
        let Expr::Call(function, arguments) = operand else {
            return None;
        };
        let ("SCORE" | "SCOREDISTINCT", [text, condition]) = (function.name, arguments.as_slice()) else {
            return None;
        };
        let zero = Value::Integer(0).compare(value)?;
        let is_positive = match comparison {
            Comparison::Greater | Comparison::GreaterOrEqual | Comparison::Equal => !comparison.holds(zero),
            _ => false,
        };
        let condition = self.search_condition(condition).filter(|_| is_positive)?;
        let any = SearchCondition::parse(&condition, &Tokenizer::default())
            .ok()?
            .of_any_scored()?;
        let found = self.contains(text, &any)?;
        Some(Lowered {
            is_partial: true,
            ..found
        })
    }

    fn like(&self, value: &Expr, pattern: &Expr, escape: Option<char>) -> Option<Lowered> {
        let Value::Text(written) = self.value(pattern)? else {
            return None;
        };
        let pattern = Pattern::new(trimmed(&written), escape);
        if let Some(whole) = pattern.whole() {
            return self.compare(value, Comparison::Equal, &Value::Text(whole));
        }
        let prefix = pattern.prefix()?;
        let (field, name) = self.collated_field(value)?;
        let fits = field.kind == FieldKind::Character
            && prefix.is_ascii()
            && !prefix.is_empty()
            && !prefix.ends_with(' ')
            && prefix.len() <= field.width;
        // Without SET EXACT a text equals one that it begins with.
        fits.then(|| Lowered::exact(compared(name, Comparison::Equal, literal(Literal::Text(prefix)))))
    }
}

/// Whether expressions of xBase compare a field without regard to case.
fn ignores_case(field: &Field) -> bool {
    field.adt_type == Some(AdtType::CiCharacter)
}

/// A field as xBase compares it with regard to case.
fn case_counts(field: &Field, name: Syntax) -> Syntax {
    match ignores_case(field) {
        true => call(
            "COLLATE",
            vec![name, literal(Literal::Text("ads_default_cs".to_owned()))],
        ),
        false => name,
    }
}

/// What is compared of a text where case does not count: of one in capitals the same as of the text.
fn in_either_case(text: &Expr) -> &Expr {
    match text {
        Expr::Call(function, arguments) if matches!(function.name, "UPPER" | "UCASE" | "LOWER" | "LCASE") => {
            arguments.first().unwrap_or(text)
        }
        other => other,
    }
}

/// The column that an expression is.
fn column(expr: &Expr) -> BTreeSet<usize> {
    match expr {
        Expr::Column(index) => BTreeSet::from([*index]),
        _ => BTreeSet::new(),
    }
}

fn compared(left: Syntax, comparison: Comparison, right: Syntax) -> Syntax {
    let operator = match comparison {
        Comparison::Equal => BinaryOperator::Equal,
        Comparison::NotEqual => BinaryOperator::NotEqual,
        Comparison::Less => BinaryOperator::Less,
        Comparison::LessOrEqual => BinaryOperator::LessOrEqual,
        Comparison::Greater => BinaryOperator::Greater,
        Comparison::GreaterOrEqual => BinaryOperator::GreaterOrEqual,
    };
    binary(operator, left, right)
}

/// A field, or the field in other letters, beside a text that is filled up to its width.
fn text(field: &Field, name: Syntax, comparison: Comparison, value: &Value) -> Option<Syntax> {
    let Value::Text(value) = value else {
        return None;
    };
    let value = trimmed(value);
    if field.kind != FieldKind::Character || !value.is_ascii() {
        // Other characters may take another number of bytes in the table's code page, or none.
        return None;
    }
    if value.len() > field.width {
        return match comparison {
            Comparison::Equal if !field.nullable => Some(constant(false)),
            Comparison::NotEqual if !field.nullable => Some(constant(true)),
            _ => None,
        };
    }
    let padded = format!("{value:<width$}", width = field.width);
    Some(compared(name, comparison, literal(Literal::Text(padded))))
}

/// Whether comparing a field as a double with a number of at most [`EXACT`] digits is exact. It is for every whole number: longer ones have
/// other doubles than shorter ones.
pub(super) fn is_exact(field: &Field) -> bool {
    match field.kind {
        FieldKind::Numeric | FieldKind::Float => field.width <= EXACT as usize + 1 || field.decimals == 0,
        FieldKind::Integer | FieldKind::IntegerDbase7 => field.width <= 4,
        _ => false,
    }
}

/// The double of a number of at most [`EXACT`] digits, as which its digits are read.
#[expect(clippy::cast_precision_loss, reason = "so few digits are exact")]
pub(super) fn exact(value: &Value) -> Option<f64> {
    const LIMIT: u64 = 10_u64.pow(EXACT);
    match value {
        Value::Integer(number) if number.unsigned_abs() < LIMIT => Some(*number as f64),
        // Both are exact, and the division is rounded once.
        Value::Decimal { unscaled, scale } if unscaled.unsigned_abs() < LIMIT.into() && *scale <= 22 => {
            Some(*unscaled as f64 / 10_f64.powi((*scale).into()))
        }
        Value::Double(number) if number.abs() < LIMIT as f64 => Some(*number),
        _ => None,
    }
}

fn number(field: &Field, name: Syntax, comparison: Comparison, value: &Value) -> Option<Syntax> {
    // The digits that are written are read as the same double.
    let written = exact(value).filter(|_| is_exact(field))?.to_string();
    Some(compared(name, comparison, number_literal(written)))
}

fn number_literal(written: String) -> Syntax {
    match written.strip_prefix('-') {
        Some(digits) => unary(UnaryOperator::Minus, literal(Literal::Number(digits.to_owned()))),
        None => literal(Literal::Number(written)),
    }
}
