//! A part of a condition that no `.AND.`, `.OR.` or `.NOT.` divides, and the kernel that answers it.

use std::borrow::Cow;

use crate::digits::Number;
use crate::error::Result;
use crate::expression::{
    BinaryOperator, DAY_MS, Environment, Letters, Node, NodeKind, Program, Syntax, Type, Value, find, relates, scaled,
    substring_of, texts_relate, unix_days,
};
use crate::field::{Field, FieldKind};
use crate::kernels::number::{DoubleTest, NumberCell, NumberTest, written};
use crate::kernels::text::{TextCell, TextTest, ranked, upper};
use crate::kernels::{Block, Understood};
use crate::null_test::NullTest;
use crate::table::Table;

use super::words::Search;

/// A leaf of a filter.
#[derive(Debug, Clone)]
pub(super) struct Leaf {
    pub(super) syntax: Syntax,
    pub(super) program: Program,
    /// What it compares, where a kernel or an order can answer it.
    pub(super) compared: Option<Compared>,
    pub(super) test: Option<Test>,
    /// The CONTAINS() that it is.
    pub(super) search: Option<Search>,
    /// The byte of a record and its bit that say that the leaf's field is NULL, where it can be.
    pub(super) null: Option<NullTest>,
}

/// A field and what it is compared with.
#[derive(Debug, Clone)]
pub(super) enum Compared {
    /// The deletion flag: what the leaf is for records with it, and for those without.
    Deleted {
        deleted: bool,
        other: bool,
    },
    /// A logical field at `at`: what the leaf is for true and for false.
    Logical {
        at: usize,
        yes: bool,
        no: bool,
    },
    Text(TextCell, BinaryOperator, Vec<u8>),
    /// A number, day or moment in the field with this index.
    Field(usize, BinaryOperator, Value<'static>),
}

/// What a kernel can answer.
#[derive(Debug, Clone)]
pub(super) enum Test {
    /// The same for every record; `None` is `.NULL.`.
    Constant(Option<bool>),
    Deleted {
        deleted: bool,
        other: bool,
    },
    Logical {
        at: usize,
        yes: bool,
        no: bool,
    },
    Text {
        test: TextTest,
        is_outside: bool,
    },
    /// A text compared in ways that no word can.
    Cell {
        cell: TextCell,
        relation: Relation,
    },
    Number(NumberTest),
    Double(DoubleTest),
}

/// How the text of a record stands to a constant one.
#[derive(Debug, Clone)]
pub(super) enum Relation {
    Compared(BinaryOperator, Vec<u8>),
    /// The constant is in the text.
    Holds(Vec<u8>),
    /// The text is in the constant.
    IsIn(Vec<u8>),
}

impl Leaf {
    pub(super) fn new(syntax: &Syntax, table: &Table, environment: &Environment) -> Result<Self> {
        let program = Program::from_syntax(syntax, table.fields(), environment)?;
        let recogniser = Recogniser {
            table,
            program: &program,
            environment,
            takes_first: false,
        };
        let compared = recogniser.compared(&program.root);
        let test = match &compared {
            Some(compared) => recogniser.test(compared),
            None => recogniser.uncompared(&program.root),
        };
        Ok(Self {
            syntax: syntax.clone(),
            search: Search::new(&program, table)?,
            null: recogniser.null(),
            compared,
            test,
            program,
        })
    }

    /// Answers by a kernel: which records fulfil it, and which are NULL where any can be. `None` where no kernel knows the
    /// leaf, or not every cell of the block.
    pub(super) fn run(&self, block: &Block<'_>, is_true: &mut [u64], is_null: &mut Option<Vec<u64>>) -> Option<()> {
        match self.test.as_ref()? {
            Test::Constant(Some(value)) => is_true.fill(if *value { u64::MAX } else { 0 }),
            Test::Constant(None) => *is_null = Some(vec![u64::MAX; is_true.len()]),
            Test::Deleted { deleted, other } => {
                block.deleted(is_true);
                choose(is_true, *deleted, *other);
            }
            Test::Logical { at, yes, no } => {
                let mut all = true;
                block.collect(is_true, |record| match record.get(*at) {
                    Some(b'T' | b't' | b'Y' | b'y' | b'1') => true,
                    Some(b'F' | b'f' | b'N' | b'n' | b'0' | b' ' | b'?' | 0) => false,
                    _ => {
                        all = false;
                        false
                    }
                });
                choose(is_true, *yes, *no);
                all.then_some(())?;
            }
            Test::Text { test, is_outside } => {
                test.run(block, is_true);
                choose(is_true, !is_outside, *is_outside);
            }
            Test::Cell { cell, relation } => self.compare(cell, relation, block, is_true),
            Test::Number(test) => (test.run(block, is_true) == Understood::Yes).then_some(())?,
            Test::Double(test) => test.run(block, is_true),
        }
        if let Some(null) = self.null {
            let mut nulls = vec![0; is_true.len()];
            block.collect(&mut nulls, |record| null.is_null(record));
            for (word, null) in is_true.iter_mut().zip(&nulls) {
                *word &= !null;
            }
            *is_null = Some(nulls);
        }
        Some(())
    }

    fn compare(&self, cell: &TextCell, relation: &Relation, block: &Block<'_>, is_true: &mut [u64]) {
        let environment = &self.program.environment;
        let test = |text: &[u8]| match relation {
            Relation::Compared(operator, constant) => texts_relate(*operator, text, constant, environment),
            Relation::Holds(constant) => find(constant, text).is_some(),
            Relation::IsIn(constant) => find(text, constant).is_some(),
        };
        match &cell.map {
            None => block.collect(is_true, |record| test(cell.stored(record))),
            Some(map) => {
                let mut mapped = Vec::with_capacity(cell.len);
                block.collect(is_true, |record| {
                    mapped.clear();
                    mapped.extend(cell.stored(record).iter().map(|byte| map[usize::from(*byte)]));
                    test(&mapped)
                });
            }
        }
    }

    /// Whether it is the same for every record.
    pub(super) fn is_constant(&self) -> bool {
        matches!(self.test, Some(Test::Constant(_)))
    }

    /// One test for two leaves on the same numbers, both of which must be fulfilled: BETWEEN.
    pub(super) fn narrowed_by(&self, other: &Self) -> Option<Self> {
        let (Some(Test::Number(a)), Some(Test::Number(b))) = (&self.test, &other.test) else {
            return None;
        };
        if self.program.fields() != other.program.fields() || a.is_outside || b.is_outside {
            return None;
        }
        let test = NumberTest {
            low: a.low.max(b.low),
            high: a.high.min(b.high),
            ..a.clone()
        };
        Some(Self {
            test: Some(Test::Number(test)),
            ..self.clone()
        })
    }
}

/// What bits that are set become, and what those that are not.
pub(super) fn choose(words: &mut [u64], set: bool, unset: bool) {
    match (set, unset) {
        (true, false) => {}
        (false, true) => words.iter_mut().for_each(|word| *word = !*word),
        (both, _) => words.fill(if both { u64::MAX } else { 0 }),
    }
}

struct Recogniser<'a> {
    table: &'a Table,
    program: &'a Program,
    environment: &'a Environment,
    /// Whether a sum of texts is as good as the first of them.
    takes_first: bool,
}

/// What a key is made of, as far as comparisons of fields are concerned.
#[derive(Debug, Clone)]
pub(super) enum KeyCell {
    Deleted,
    Logical {
        at: usize,
    },
    /// The beginning of the key.
    Text(TextCell),
    /// The field with this index.
    Field(usize),
}

impl KeyCell {
    /// The same with texts in small letters, as the keys of CICharacter fields are.
    pub(super) fn in_small_letters(self, environment: &Environment) -> Self {
        match self {
            Self::Text(cell) => Self::Text(seen_through(cell, Letters::of(environment.codepage).lower())),
            other => other,
        }
    }

    /// `None` where no leaf could be compared with keys of this program.
    pub(super) fn new(program: &Program, table: &Table) -> Option<Self> {
        let recogniser = Recogniser {
            table,
            program,
            environment: &program.environment,
            takes_first: true,
        };
        // The order of an ADI tells which fields are NULL.
        let is_adt = table.header().adt.is_some();
        if !is_adt && program.slots.iter().any(|slot| slot.nullable) {
            return None;
        }
        match (recogniser.compared(&program.root), &program.root.kind) {
            (
                Some(Compared::Deleted {
                    deleted: true,
                    other: false,
                }),
                _,
            ) => Some(Self::Deleted),
            (
                Some(Compared::Logical {
                    at,
                    yes: true,
                    no: false,
                }),
                _,
            ) => Some(Self::Logical { at }),
            (None, NodeKind::Field(slot)) if program.root.type_of != Type::Character => {
                Some(Self::Field(program.slots.get(*slot)?.index))
            }
            (None, _) => recogniser.text(&program.root).map(Self::Text),
            _ => None,
        }
    }
}

impl Recogniser<'_> {
    /// What says that the one field that a kernel looks at is NULL.
    fn null(&self) -> Option<NullTest> {
        let field = self.table.fields().get(*self.program.fields().first()?)?;
        self.table.fields.null_test(field)
    }

    /// The comparison that a node is.
    fn compared(&self, node: &Node) -> Option<Compared> {
        match &node.kind {
            NodeKind::Deleted => Some(Compared::Deleted {
                deleted: true,
                other: false,
            }),
            NodeKind::Field(slot) => Some(Compared::Logical {
                at: self
                    .field(*slot)
                    .filter(|field| field.kind == FieldKind::Logical)?
                    .offset,
                yes: true,
                no: false,
            }),
            NodeKind::Binary(operator, left, right) if is_comparison(*operator) => {
                match (left.constant(), right.constant()) {
                    (None, Some(constant)) => self.compared_with(left, *operator, constant),
                    // Texts do not compare alike from both sides.
                    (Some(constant), None) if right.type_of != Type::Character => {
                        self.compared_with(right, turned(*operator), constant)
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn compared_with(&self, node: &Node, operator: BinaryOperator, constant: &Value<'static>) -> Option<Compared> {
        match constant {
            Value::Null => None,
            Value::Logical(constant) => {
                let holds = |value: bool| relates(operator, value.cmp(constant));
                match self.compared(node)? {
                    Compared::Deleted { .. } => Some(Compared::Deleted {
                        deleted: holds(true),
                        other: holds(false),
                    }),
                    Compared::Logical { at, .. } => Some(Compared::Logical {
                        at,
                        yes: holds(true),
                        no: holds(false),
                    }),
                    _ => None,
                }
            }
            Value::Character(constant) => Some(Compared::Text(self.text(node)?, operator, constant.to_vec())),
            _ => match node.kind {
                NodeKind::Field(slot) => {
                    let index = self.program.slots.get(slot)?.index;
                    Some(Compared::Field(index, operator, constant.clone()))
                }
                _ => None,
            },
        }
    }

    /// The kernel for a comparison.
    fn test(&self, compared: &Compared) -> Option<Test> {
        match compared {
            Compared::Deleted { deleted, other } => Some(Test::Deleted {
                deleted: *deleted,
                other: *other,
            }),
            Compared::Logical { at, yes, no } => Some(Test::Logical {
                at: *at,
                yes: *yes,
                no: *no,
            }),
            Compared::Text(cell, operator, constant) => self.compared_text(cell.clone(), *operator, constant),
            Compared::Field(index, operator, constant) => {
                self.compared_field(self.table.fields().get(*index)?, *operator, constant)
            }
        }
    }

    /// The kernel for what is no comparison.
    fn uncompared(&self, node: &Node) -> Option<Test> {
        let (cell, relation) = match &node.kind {
            NodeKind::Constant(Value::Logical(value)) => return Some(Test::Constant(Some(*value))),
            NodeKind::Constant(Value::Null) => return Some(Test::Constant(None)),
            NodeKind::Binary(BinaryOperator::Contains, left, right) => match (left.constant(), right.constant()) {
                (Some(Value::Character(needle)), None) => (self.text(right)?, Relation::Holds(needle.to_vec())),
                (None, Some(Value::Character(text))) => (self.text(left)?, Relation::IsIn(text.to_vec())),
                _ => return None,
            },
            _ => return None,
        };
        Some(Test::Cell { cell, relation })
    }

    fn field(&self, slot: usize) -> Option<&Field> {
        self.table.fields().get(self.program.slots.get(slot)?.index)
    }

    fn compared_field(&self, field: &Field, operator: BinaryOperator, constant: &Value<'_>) -> Option<Test> {
        match (field.kind, constant) {
            (FieldKind::Double | FieldKind::DoubleDbase7, Value::Number(constant)) => {
                double_test(field, operator, *constant).map(Test::Double)
            }
            (_, Value::Number(constant)) if constant.is_finite() => {
                let cell = NumberCell::new(field, self.table)?;
                let value = |number| scaled(number, cell.decimals());
                let likely = constant * 10_f64.powi(cell.decimals().into());
                let equal = first(likely, |n| value(n) >= *constant)..first(likely, |n| value(n) > *constant);
                Some(Test::Number(number_test(cell, operator, equal)))
            }
            (FieldKind::Date | FieldKind::DateBinary | FieldKind::DatePacked, Value::Date(_) | Value::Timestamp(_)) => {
                let number = match (constant.day(), unix_days(constant.day())) {
                    (0, _) => 0,
                    (_, Some(days)) => match written(days) {
                        Number::Value(number) => i128::from(number),
                        _ => return None,
                    },
                    (_, None) => return None,
                };
                let cell = NumberCell::new(field, self.table)?;
                Some(Test::Number(number_test(cell, operator, number..number + 1)))
            }
            (FieldKind::Time | FieldKind::Timestamp, Value::Date(_) | Value::Timestamp(_)) => {
                let equal = match constant {
                    Value::Timestamp(ms) => i128::from(*ms)..i128::from(*ms) + 1,
                    day => {
                        let (day, length) = (i128::from(day.day()), i128::from(DAY_MS));
                        day * length..(day + 1) * length
                    }
                };
                let cell = NumberCell::new(field, self.table)?;
                Some(Test::Number(number_test(cell, operator, equal)))
            }
            _ => None,
        }
    }

    /// A text that lies at one place of every record.
    fn text(&self, node: &Node) -> Option<TextCell> {
        match &node.kind {
            NodeKind::Field(slot) => {
                let field = self.field(*slot)?;
                matches!(field.kind, FieldKind::Character | FieldKind::CharacterBinary).then(|| TextCell {
                    at: field.offset,
                    len: field.width,
                    map: None,
                })
            }
            NodeKind::Small(inner) => Some(seen_through(
                self.text(inner)?,
                Letters::of(self.environment.codepage).lower(),
            )),
            // The first part of a key is at the same place whatever stands behind it.
            NodeKind::Binary(BinaryOperator::Plus, first, _) if self.takes_first => self.text(first),
            NodeKind::Call(function, arguments) => {
                let (inner, rest) = arguments.split_first()?;
                let cell = self.text(inner)?;
                let number = |node: &Node| match node.constant() {
                    Some(value @ Value::Number(_)) => Some(value.integer()),
                    _ => None,
                };
                let part = match (function.name, rest) {
                    ("UPPER", _) => return Some(seen_through(cell, self.environment.letters.upper())),
                    ("LOWER", _) => return Some(seen_through(cell, self.environment.letters.lower())),
                    ("LEFT", [len]) => 0..cell.len.min(usize::try_from(number(len)?).unwrap_or(0)),
                    ("SUBSTR", [from]) => substring_of(cell.len, number(from)?, i64::MAX),
                    ("SUBSTR", [from, len]) => substring_of(cell.len, number(from)?, number(len)?),
                    _ => return None,
                };
                Some(TextCell {
                    at: cell.at + part.start,
                    len: part.len(),
                    map: cell.map,
                })
            }
            _ => None,
        }
    }

    fn compared_text(&self, cell: TextCell, operator: BinaryOperator, constant: &[u8]) -> Option<Test> {
        use BinaryOperator as B;
        let is_outside = operator == B::NotEqual;
        let test = match operator {
            B::Equal | B::ExactlyEqual | B::NotEqual => {
                match equal_beginning(&cell, operator, constant, self.environment) {
                    Some(beginning) => TextTest::begins(&cell, &beginning, self.table.stride()),
                    None => TextTest::Always(false),
                }
            }
            _ => match self.ordered_text(&cell, operator, constant) {
                Some(test) => test,
                None => {
                    let relation = Relation::Compared(operator, constant.to_vec());
                    return Some(Test::Cell { cell, relation });
                }
            },
        };
        Some(Test::Text { test, is_outside })
    }

    /// `<` and its kin as bounds of one word.
    fn ordered_text(&self, cell: &TextCell, operator: BinaryOperator, constant: &[u8]) -> Option<TextTest> {
        use BinaryOperator as B;
        if self.environment.exact || self.environment.weights.is_some() {
            return None;
        }
        if constant.is_empty() {
            // Every text begins with it.
            return Some(TextTest::Always(matches!(operator, B::LessOrEqual | B::GreaterOrEqual)));
        }
        let len = constant.len().min(cell.len);
        let bound = ranked(constant.get(..len)?)?;
        let (mask, step) = (upper(len)?, upper(len)? & upper(len)?.wrapping_neg());
        // A cell that is shorter than the constant and begins it comes before it.
        let ends_early = cell.len < constant.len();
        let (low, high) = match (operator, ends_early) {
            (B::Less, false) => (Some(0), bound.checked_sub(step)),
            (B::Less | B::LessOrEqual, _) => (Some(0), Some(bound)),
            (B::Greater, _) | (B::GreaterOrEqual, true) => (bound.checked_add(step), Some(mask)),
            (B::GreaterOrEqual, false) => (Some(bound), Some(mask)),
            _ => return None,
        };
        match (low, high) {
            (Some(low), Some(high)) => TextTest::between(cell, len, low, high, self.table.stride()),
            _ => Some(TextTest::Always(false)),
        }
    }
}

/// How a text begins that equals a constant, or does under `<>` not; `None` where none can.
pub(super) fn equal_beginning<'c>(
    cell: &TextCell,
    operator: BinaryOperator,
    constant: &'c [u8],
    environment: &Environment,
) -> Option<Cow<'c, [u8]>> {
    match operator {
        BinaryOperator::ExactlyEqual => (constant.len() == cell.len).then_some(Cow::Borrowed(constant)),
        _ if environment.exact => {
            let blanks = constant.iter().rev().take_while(|byte| **byte == b' ').count();
            let mut whole = constant.get(..constant.len() - blanks)?.to_vec();
            if whole.len() > cell.len {
                return None;
            }
            whole.resize(cell.len, b' ');
            Some(Cow::Owned(whole))
        }
        _ => (constant.len() <= cell.len).then_some(Cow::Borrowed(constant)),
    }
}

fn seen_through(mut cell: TextCell, letters: &[u8; 256]) -> TextCell {
    let before = cell.map.take();
    let map =
        (0..=u8::MAX).map(|byte| letters[usize::from(before.as_ref().map_or(byte, |map| map[usize::from(byte)]))]);
    let mut table = Box::new([0; 256]);
    for (place, byte) in table.iter_mut().zip(map) {
        *place = byte;
    }
    cell.map = Some(table);
    cell
}

fn is_comparison(operator: BinaryOperator) -> bool {
    use BinaryOperator as B;
    matches!(
        operator,
        B::Equal | B::ExactlyEqual | B::NotEqual | B::Less | B::LessOrEqual | B::Greater | B::GreaterOrEqual
    )
}

/// The operator that says the same with the sides exchanged.
fn turned(operator: BinaryOperator) -> BinaryOperator {
    use BinaryOperator as B;
    match operator {
        B::Less => B::Greater,
        B::LessOrEqual => B::GreaterOrEqual,
        B::Greater => B::Less,
        B::GreaterOrEqual => B::LessOrEqual,
        other => other,
    }
}

/// A comparison with what the numbers `equal` stand for.
fn number_test(cell: NumberCell, operator: BinaryOperator, equal: std::ops::Range<i128>) -> NumberTest {
    use BinaryOperator as B;
    let (least, most) = (i128::from(i64::MIN), i128::from(i64::MAX));
    let (low, high) = match operator {
        B::Less => (least, equal.start - 1),
        B::LessOrEqual => (least, equal.end - 1),
        B::Greater => (equal.end, most),
        B::GreaterOrEqual => (equal.start, most),
        _ => (equal.start, equal.end - 1),
    };
    let is_empty = low > high || low > most || high < least;
    let clamped = |n: i128| i64::try_from(n.clamp(least, most)).unwrap_or_default();
    NumberTest {
        cell,
        low: if is_empty { 1 } else { clamped(low) },
        high: if is_empty { 0 } else { clamped(high) },
        is_outside: operator == B::NotEqual,
    }
}

/// The first whole number from the least of 64 bits on that has a property which all behind it have too; one behind the
/// last when none has it. It is looked for around where it is likely to be.
fn first(likely: f64, has: impl Fn(i128) -> bool) -> i128 {
    let (least, most) = (i128::from(i64::MIN), i128::from(i64::MAX) + 1);
    #[expect(clippy::cast_possible_truncation, reason = "a place to begin at, within the bounds")]
    let (mut low, mut high) = {
        let likely = (likely.floor() as i128).clamp(least, most);
        (likely, likely)
    };
    let mut step = 1;
    while low > least && has(low - 1) {
        (low, high) = ((low - step).max(least), low);
        step *= 2;
    }
    while high < most && !has(high) {
        (low, high) = (high + 1, (high + step).min(most));
        step *= 2;
    }
    while low < high {
        let middle = low + (high - low) / 2;
        if has(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

fn double_test(field: &Field, operator: BinaryOperator, constant: f64) -> Option<DoubleTest> {
    use BinaryOperator as B;
    if !constant.is_finite() || field.width != 8 {
        return None;
    }
    let (low, high) = match operator {
        B::Less => (f64::NEG_INFINITY, constant.next_down()),
        B::LessOrEqual => (f64::NEG_INFINITY, constant),
        B::Greater => (constant.next_up(), f64::INFINITY),
        B::GreaterOrEqual => (constant, f64::INFINITY),
        _ => (constant, constant),
    };
    Some(DoubleTest {
        at: field.offset,
        sorts: field.kind == FieldKind::DoubleDbase7,
        low,
        high,
        is_outside: operator == B::NotEqual,
    })
}
