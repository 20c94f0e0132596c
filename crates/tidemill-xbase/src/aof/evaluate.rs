//! From a plan and a block of records to the bits of the block.

use std::sync::Arc;

use arrow_array::builder::BinaryBuilder;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch, RecordBatchOptions, UInt32Array};
use arrow_schema::{DataType, Field as ArrowField, Schema};

use crate::column::{self, Context, Rows};
use crate::damage::Damage;
use crate::error::{Error, Result};
use crate::expression::{Program, Record, RecordBytes, Value, blank};
use crate::field::FieldKind;
use crate::kernels::Block;
use crate::memo::MemoReader;
use crate::scan::{Deleted, Scan};
use crate::table::Table;

use super::leaf::Leaf;
use super::steps::Step;

/// What a condition is for each record of a block.
#[derive(Debug)]
pub(super) struct Bits {
    pub(super) is_true: Vec<u64>,
    /// The records for which it is `.NULL.`; none of them is true. `None` where there is none.
    pub(super) is_null: Option<Vec<u64>>,
}

impl Bits {
    fn new(words: usize) -> Self {
        Self {
            is_true: vec![0; words],
            is_null: None,
        }
    }

    /// Whether so few records are left that each is better looked at on its own.
    fn is_sparse(&self, block: &Block<'_>) -> bool {
        self.is_true.iter().map(|word| word.count_ones()).sum::<u32>() < block.len / 16
    }

    fn not(mut self) -> Self {
        for (i, word) in self.is_true.iter_mut().enumerate() {
            *word = !(*word | null_word(self.is_null.as_ref(), i));
        }
        self
    }

    fn and(mut self, other: &Self) -> Self {
        let nulls = self.combined_nulls(other, |a, b| !(a.is_false() | b.is_false()));
        for (word, other) in self.is_true.iter_mut().zip(&other.is_true) {
            *word &= other;
        }
        self.is_null = nulls;
        self
    }

    fn or(mut self, other: &Self) -> Self {
        let nulls = self.combined_nulls(other, |a, b| !(a.is_true | b.is_true));
        for (word, other) in self.is_true.iter_mut().zip(&other.is_true) {
            *word |= other;
        }
        self.is_null = nulls;
        self
    }

    /// What is null on either side and not decided by the other.
    fn combined_nulls(&self, other: &Self, is_open: impl Fn(Word, Word) -> u64) -> Option<Vec<u64>> {
        if self.is_null.is_none() && other.is_null.is_none() {
            return None;
        }
        let words = self.is_true.iter().zip(&other.is_true).enumerate();
        let words = words.map(|(i, (a, b))| {
            let [a, b] = [(a, &self.is_null), (b, &other.is_null)].map(|(is_true, nulls)| Word {
                is_true: *is_true,
                is_null: null_word(nulls.as_ref(), i),
            });
            (a.is_null | b.is_null) & is_open(a, b)
        });
        Some(words.collect())
    }
}

/// The words of a set for the records of a block.
fn words_in(set: &crate::bitmap::Bitmap, block: &Block<'_>) -> Vec<u64> {
    let from = block.first as usize / 64;
    let words = set.words().get(from..from + words_of(block)).unwrap_or_default();
    words.to_vec()
}

fn null_word(nulls: Option<&Vec<u64>>, i: usize) -> u64 {
    nulls.and_then(|nulls| nulls.get(i)).copied().unwrap_or(0)
}

/// Sixty-four truth values of three kinds.
#[derive(Clone, Copy)]
struct Word {
    is_true: u64,
    is_null: u64,
}

impl Word {
    fn is_false(self) -> u64 {
        !(self.is_true | self.is_null)
    }
}

/// The bits of a block. Those behind the last record do not count.
pub(super) fn evaluate(step: &Step<'_>, table: &Arc<Table>, block: &Block<'_>) -> Result<Bits> {
    match step {
        Step::Set(bitmap) => Ok(Bits {
            is_true: words_in(bitmap, block),
            is_null: None,
        }),
        Step::SetAndNulls(is_true, is_null) => Ok(Bits {
            is_true: words_in(is_true, block),
            is_null: Some(words_in(is_null, block)),
        }),
        Step::Leaf(leaf) => evaluate_leaf(leaf, table, block),
        Step::Not(operand) => Ok(evaluate(operand, table, block)?.not()),
        Step::And(left, right) => {
            let left = evaluate(left, table, block)?;
            // What an order has ruled out need not be looked at.
            if left.is_null.is_none() && left.is_true.iter().all(|word| *word == 0) {
                return Ok(left);
            }
            let right = match &**right {
                Step::Leaf(leaf)
                    if leaf.test.is_none()
                        && left.is_null.is_none()
                        && (leaf.search.is_some() || left.is_sparse(block)) =>
                {
                    evaluate_some(leaf, table, block, &left.is_true)?
                }
                right => evaluate(right, table, block)?,
            };
            Ok(left.and(&right))
        }
        Step::Or(left, right) => Ok(evaluate(left, table, block)?.or(&evaluate(right, table, block)?)),
    }
}

fn evaluate_leaf(leaf: &Leaf, table: &Arc<Table>, block: &Block<'_>) -> Result<Bits> {
    let mut bits = Bits::new(words_of(block));
    if leaf.run(block, &mut bits.is_true, &mut bits.is_null).is_some() {
        return Ok(bits);
    }
    if let Some(search) = leaf.search.as_ref().filter(|_| !table.options.passes_over()) {
        let values = search.values(table, block, None)?;
        return Ok(from_values(values.into_iter(), words_of(block)));
    }
    if uses_memo(&leaf.program, table) {
        return by_scan(&leaf.program, table, block);
    }
    // The column form takes a blank of a nullable field for NULL, and reads what the row form need not.
    let can_be_null = leaf.program.slots.iter().any(|slot| slot.nullable);
    if leaf.test.is_none()
        && !can_be_null
        && let Ok(bits) = by_columns(&leaf.program, table, block)
    {
        return Ok(bits);
    }
    by_records(&leaf.program, table, block)
}

/// As [`evaluate_leaf`], for some records of the block; the others are false.
fn evaluate_some(leaf: &Leaf, table: &Arc<Table>, block: &Block<'_>, wanted: &[u64]) -> Result<Bits> {
    if let Some(search) = leaf.search.as_ref().filter(|_| !table.options.passes_over()) {
        let values = search.values(table, block, Some(wanted))?;
        return Ok(from_values(values.into_iter(), words_of(block)));
    }
    if uses_memo(&leaf.program, table) {
        return evaluate_leaf(leaf, table, block);
    }
    let records = (block.first + 1..).zip(block.records()).enumerate();
    let values = records.map(|(i, (recno, record))| match wanted.get(i / 64) {
        Some(word) if word >> (i % 64) & 1 != 0 => value(&leaf.program, table, recno, record),
        _ => Ok(Some(false)),
    });
    let values = values.collect::<Result<Vec<_>>>()?;
    Ok(from_values(values.into_iter(), words_of(block)))
}

/// Whether values are needed that are not in the record.
pub(super) fn uses_memo(program: &Program, table: &Table) -> bool {
    let fields = table.fields();
    program
        .fields()
        .into_iter()
        .any(|index| fields.get(index).is_some_and(|field| field.kind.uses_memo()))
}

/// Record by record.
fn by_records(program: &Program, table: &Table, block: &Block<'_>) -> Result<Bits> {
    let records = (block.first + 1..).zip(block.records());
    let values = records.map(|(recno, record)| value(program, table, recno, record));
    let values = values.collect::<Result<Vec<_>>>()?;
    Ok(from_values(values.into_iter(), words_of(block)))
}

/// What a condition is for one record; `None` is `.NULL.`.
pub(super) fn value(program: &Program, table: &Table, recno: u32, record: &[u8]) -> Result<Option<bool>> {
    let record = RecordBytes::new(table, recno, record);
    let value = match table.options.passes_over() {
        true => program.evaluate_record(&Recovering { record, table })?.into_owned(),
        false => program.evaluate_record(&record)?.into_owned(),
    };
    Ok(match value {
        Value::Logical(value) => Some(value),
        _ => None,
    })
}

/// A record whose fields are blank, or NULL where they can be, when they cannot be read.
struct Recovering<'a> {
    record: RecordBytes<'a>,
    table: &'a Table,
}

impl Record for Recovering<'_> {
    fn value(&self, field: usize) -> Result<Value<'_>> {
        match (self.record.value(field), self.table.fields().get(field)) {
            (Err(Error::Value(bad)), Some(described)) => {
                let index = self.record_no().saturating_sub(1);
                let begin = self.table.record_offset(index) + described.offset as u64;
                self.table.damage.add(Damage {
                    begin,
                    end: begin + described.width as u64,
                    records: Some(index..self.record_no()),
                    why: format!("field {}: expected {}, found {}", bad.field, bad.expected, bad.found),
                });
                Ok(match described.nullable {
                    true => Value::Null,
                    false => blank(described),
                })
            }
            (value, _) => value,
        }
    }

    fn record_no(&self) -> u32 {
        self.record.record_no()
    }

    fn is_deleted(&self) -> bool {
        self.record.is_deleted()
    }
}

/// Over the columns of the block.
fn by_columns(program: &Program, table: &Table, block: &Block<'_>) -> Result<Bits> {
    let rows = Rows {
        bytes: block.bytes,
        stride: block.stride,
        first: block.first,
        picked: None,
        len: block.len as usize,
    };
    let mut memos = MemoReader::default();
    let mut context = Context {
        table,
        memos: &mut memos,
        log: table.options.recover.then_some(&*table.damage),
    };
    let (mut schema, mut columns): (Vec<ArrowField>, Vec<ArrayRef>) = (Vec::new(), Vec::new());
    for index in program.fields() {
        let Some(field) = table.fields().get(index) else {
            continue;
        };
        let column = match field.kind {
            FieldKind::Character | FieldKind::CharacterBinary | FieldKind::Varchar | FieldKind::Varbinary => {
                texts(index, table, block)?
            }
            _ => column::decode(&mut context, &rows, field)?,
        };
        schema.push(ArrowField::new(&field.name, column.data_type().clone(), true));
        columns.push(column);
    }
    schema.push(ArrowField::new("_recno", DataType::UInt32, false));
    columns.push(Arc::new(UInt32Array::from_iter_values(
        (block.first + 1..).take(block.len as usize),
    )));
    schema.push(ArrowField::new("_deleted", DataType::Boolean, false));
    let deleted = block.records().map(|record| block.deletion.is_deleted(record));
    columns.push(Arc::new(deleted.map(Some).collect::<BooleanArray>()));
    let options = RecordBatchOptions::new().with_row_count(Some(block.len as usize));
    let batch = RecordBatch::try_new_with_options(Arc::new(Schema::new(schema)), columns, &options)?;
    Ok(from_array(&program.evaluate(&batch)?, block))
}

/// A column of texts as bytes of the code page, so that none is lost on the way.
fn texts(index: usize, table: &Table, block: &Block<'_>) -> Result<ArrayRef> {
    let mut builder = BinaryBuilder::new();
    for (recno, record) in (block.first + 1..).zip(block.records()) {
        match RecordBytes::new(table, recno, record).value(index)? {
            Value::Character(text) => builder.append_value(text),
            _ => builder.append_null(),
        }
    }
    Ok(Arc::new(builder.finish()))
}

/// Over the batches of a scan, which reads memos.
fn by_scan(program: &Program, table: &Arc<Table>, block: &Block<'_>) -> Result<Bits> {
    let scan = Scan::new()
        .projection(program.fields())
        .deleted(Deleted::Include)
        .records(block.first..block.first.saturating_add(block.len))
        .system_columns(true);
    let mut values = Vec::with_capacity(block.len as usize);
    for batch in table.scan(scan)? {
        let result = program.evaluate(&batch?)?;
        match result.as_boolean_opt() {
            Some(array) => values.extend(array.iter()),
            None => values.resize(values.len() + result.len(), None),
        }
    }
    if values.len() != block.len as usize {
        let (expected, found) = (block.len, values.len());
        return Err(Error::Misuse(format!(
            "{expected} records were to be read and {found} were"
        )));
    }
    Ok(from_values(values.into_iter(), words_of(block)))
}

fn from_array(array: &ArrayRef, block: &Block<'_>) -> Bits {
    match array.as_boolean_opt() {
        Some(array) => from_values(array.iter(), words_of(block)),
        None => from_values(std::iter::repeat_n(None, block.len as usize), words_of(block)),
    }
}

fn words_of(block: &Block<'_>) -> usize {
    (block.len as usize).div_ceil(64)
}

fn from_values(values: impl Iterator<Item = Option<bool>>, words: usize) -> Bits {
    let mut bits = Bits::new(words);
    let mut nulls = vec![0; words];
    for (i, value) in values.enumerate() {
        let (word, mask) = (i / 64, 1 << (i % 64));
        let set = match value {
            Some(true) => bits.is_true.get_mut(word),
            Some(false) => None,
            None => nulls.get_mut(word),
        };
        if let Some(word) = set {
            *word |= mask;
        }
    }
    bits.is_null = nulls.iter().any(|word| *word != 0).then_some(nulls);
    bits
}
