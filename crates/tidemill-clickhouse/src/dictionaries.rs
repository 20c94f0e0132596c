//! Dictionaries that outlive a block.
//!
//! `LowCardinality` and `Enum` are dictionary arrays, and each block of an answer brings a dictionary of its own. A file of Arrow has one for all
//! of its batches, which may grow by deltas. There are two ways there: [`plain_batch`] puts the values themselves in the rows, and
//! [`GrowingDictionaries`] makes each dictionary begin with that of the batch before. Both look into lists, maps, tuples and variants.
//!
//! ```
//! # use std::sync::Arc;
//! use arrow_array::{ArrayRef, DictionaryArray, RecordBatch, types::Int32Type};
//! use tidemill_clickhouse::dictionaries::GrowingDictionaries;
//!
//! let block = |words: [&str; 2]| {
//!     let words: DictionaryArray<Int32Type> = words.into_iter().collect();
//!     RecordBatch::try_from_iter([("word", Arc::new(words) as ArrayRef)])
//! };
//! let mut dictionaries = GrowingDictionaries::new(64 << 20);
//! for (words, size) in [(["ebb", "flow"], 2), (["flow", "slack"], 3)] {
//!     let batch = dictionaries.grow(&block(words)?)?;
//!     let column: &DictionaryArray<Int32Type> = batch.column(0).as_any().downcast_ref().expect("a dictionary");
//!     assert_eq!(column.values().len(), size);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::{collections::HashMap, sync::Arc};

use arrow_array::{
    Array, ArrayRef, DictionaryArray, FixedSizeListArray, Int32Array, LargeListArray, ListArray, MapArray, RecordBatch,
    RecordBatchOptions, StructArray, UInt32Array, UnionArray, cast::AsArray, make_array, types::Int32Type,
};
use arrow_schema::{DataType as ArrowType, Field, FieldRef, Fields, Schema, SchemaRef, UnionFields};
use arrow_select::{concat::concat, take::take};

use crate::{Error, Result};

/// A type without dictionaries, at any depth: each is the type of its values.
pub fn plain_type(data_type: &ArrowType) -> ArrowType {
    let field = |field: &FieldRef| plain_field(field);
    match data_type {
        ArrowType::Dictionary(_, values) => plain_type(values),
        ArrowType::List(item) => ArrowType::List(field(item)),
        ArrowType::LargeList(item) => ArrowType::LargeList(field(item)),
        ArrowType::FixedSizeList(item, size) => ArrowType::FixedSizeList(field(item), *size),
        ArrowType::Map(entries, sorted) => ArrowType::Map(field(entries), *sorted),
        ArrowType::Struct(fields) => ArrowType::Struct(fields.iter().map(field).collect()),
        ArrowType::Union(fields, mode) => {
            let plain: UnionFields = fields.iter().map(|(id, one)| (id, field(one))).collect();
            ArrowType::Union(plain, *mode)
        }
        other => other.clone(),
    }
}

/// The columns of [`plain_batch`], metadata and all.
pub fn plain_schema(schema: &Schema) -> SchemaRef {
    let fields: Fields = schema.fields().iter().map(plain_field).collect();
    Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
}

/// A batch whose rows have the values themselves instead of keys of dictionaries, at any depth.
///
/// # Errors
///
/// [`Error::Arrow`] when the values are more than an array can hold.
pub fn plain_batch(batch: &RecordBatch) -> Result<RecordBatch> {
    changed(batch, &mut |array| {
        let dictionary = array.as_any_dictionary();
        Ok(take(dictionary.values().as_ref(), dictionary.keys(), None)?)
    })
}

/// Makes dictionaries of one batch after another begin with that of the batch before, so that a writer of Arrow files has to write only
/// what is new. Keys stay keys of 32 bits, a null stays a null, and types do not change.
///
/// The batches must have the same columns. What is kept are the values of all dictionaries, up to a limit.
#[derive(Debug)]
pub struct GrowingDictionaries {
    limit: usize,
    /// By their places in the columns, from the first.
    all: Vec<Growing>,
}

#[derive(Debug, Default)]
struct Growing {
    /// None before the first batch.
    values: Option<ArrayRef>,
    keys: HashMap<Option<Box<[u8]>>, i32>,
}

impl GrowingDictionaries {
    /// Begins with none. `limit` is how many bytes the values of all dictionaries may take together.
    pub fn new(limit: usize) -> Self {
        Self { limit, all: Vec::new() }
    }

    /// A batch with the same rows, whose dictionaries begin with those of the batch before.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] when the values take more bytes than they may; [`Error::Unsupported`] for dictionaries whose keys have not 32 bits, or
    /// whose values are neither texts, bytes nor of a fixed width. The batches before are not concerned.
    pub fn grow(&mut self, batch: &RecordBatch) -> Result<RecordBatch> {
        let mut place = 0;
        changed(batch, &mut |array| {
            let Some(dictionary) = array.as_dictionary_opt::<Int32Type>() else {
                return Err(unsupported(array.data_type()));
            };
            if self.all.len() <= place {
                self.all.push(Growing::default());
            }
            let others = |all: &[Growing]| -> usize {
                let others = all.iter().enumerate().filter(|(at, _)| *at != place);
                others.map(|(_, growing)| growing.size()).sum()
            };
            let left = self.limit.saturating_sub(others(&self.all));
            let limit = self.limit;
            let grown = match self.all.get_mut(place) {
                Some(growing) => growing.grow(dictionary, left).map_err(|error| match error {
                    Error::Limit { what, found, .. } => Error::Limit {
                        what,
                        found: found + (limit - left) as u64,
                        limit: limit as u64,
                    },
                    error => error,
                }),
                None => Ok(Arc::clone(array)),
            };
            place += 1;
            grown
        })
    }
}

impl Growing {
    fn size(&self) -> usize {
        self.values.as_ref().map_or(0, |values| values.get_buffer_memory_size())
    }

    fn grow(&mut self, dictionary: &DictionaryArray<Int32Type>, limit: usize) -> Result<ArrayRef> {
        let values = dictionary.values();
        let known = self.values.as_ref().map_or(0, |known| known.len());
        let mut new = Vec::new();
        let mut keys = Vec::with_capacity(values.len());
        // What is added is known only once it is there.
        let mut added = HashMap::new();
        for (index, value) in (0_u32..).zip(bytes_of(values)?) {
            let key = match self.keys.get(&value).or_else(|| added.get(&value)) {
                Some(key) => *key,
                None => {
                    let next = i32::try_from(known + new.len()).map_err(|_| Error::Limit {
                        what: "the number of values of a dictionary of several blocks",
                        limit: i32::MAX as u64,
                        found: (known + new.len()) as u64,
                    })?;
                    new.push(index);
                    added.insert(value, next);
                    next
                }
            };
            keys.push(key);
        }
        let grown = match &self.values {
            Some(known) if new.is_empty() => Arc::clone(known),
            known => {
                let new = take(values.as_ref(), &UInt32Array::from(new), None)?;
                match known {
                    Some(known) => concat(&[known.as_ref(), new.as_ref()])?,
                    None => new,
                }
            }
        };
        let size = grown.get_buffer_memory_size();
        if size > limit {
            return Err(Error::Limit {
                what: "bytes of dictionaries of several blocks",
                limit: limit as u64,
                found: size as u64,
            });
        }
        let rows = dictionary.keys();
        let rows: Int32Array = rows
            .iter()
            .map(|row| row.and_then(|row| keys.get(usize::try_from(row).ok()?).copied()))
            .collect();
        let array = DictionaryArray::<Int32Type>::try_new(rows, Arc::clone(&grown))?;
        self.values = Some(grown);
        self.keys.extend(added);
        Ok(Arc::new(array))
    }
}

/// The bytes of each value, none of a null.
fn bytes_of(values: &ArrayRef) -> Result<Vec<Option<Box<[u8]>>>> {
    let boxed = |bytes: &[u8]| Box::<[u8]>::from(bytes);
    let list = match values.data_type() {
        ArrowType::Utf8 => {
            let strings = values.as_string::<i32>();
            strings
                .iter()
                .map(|value| value.map(|text| boxed(text.as_bytes())))
                .collect()
        }
        ArrowType::Binary => values.as_binary::<i32>().iter().map(|value| value.map(boxed)).collect(),
        ArrowType::FixedSizeBinary(_) => {
            let bytes = values.as_fixed_size_binary();
            bytes.iter().map(|value| value.map(boxed)).collect()
        }
        ArrowType::Boolean => {
            let bits = values.as_boolean();
            bits.iter()
                .map(|value| value.map(|bit| boxed(&[u8::from(bit)])))
                .collect()
        }
        other => {
            let width = other.primitive_width().ok_or_else(|| unsupported(other))?;
            let data = values.to_data();
            let bytes = data.buffers().first().map_or(&[][..], |buffer| buffer.as_slice());
            let of = |row: usize| {
                let begin = (data.offset() + row) * width;
                let is_there = values.is_valid(row);
                is_there.then(|| bytes.get(begin..begin + width).map(boxed)).flatten()
            };
            (0..values.len()).map(of).collect()
        }
    };
    Ok(list)
}

fn unsupported(data_type: &ArrowType) -> Error {
    Error::Unsupported {
        what: format!("a dictionary of {data_type}"),
        hint: "make it plain, by plain_batch",
    }
}

/// What becomes of a dictionary.
type Change<'a> = dyn FnMut(&ArrayRef) -> Result<ArrayRef> + 'a;

/// A batch whose dictionaries, from the first column on and the outer before the inner, are changed.
fn changed(batch: &RecordBatch, change: &mut Change<'_>) -> Result<RecordBatch> {
    let columns = batch.columns().iter().map(|column| changed_array(column, change));
    let columns = columns.collect::<Result<Vec<_>>>()?;
    let schema = batch.schema_ref();
    let fields = schema.fields().iter().zip(&columns);
    let fields: Fields = fields.map(|(field, column)| retyped(field, column)).collect();
    let schema = Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()));
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    Ok(RecordBatch::try_new_with_options(schema, columns, &options)?)
}

fn changed_array(array: &ArrayRef, change: &mut Change<'_>) -> Result<ArrayRef> {
    if plain_type(array.data_type()) == *array.data_type() {
        return Ok(Arc::clone(array));
    }
    Ok(match array.data_type() {
        ArrowType::Dictionary(..) => change(array)?,
        ArrowType::List(item) => {
            let list = array.as_list::<i32>();
            let values = changed_array(list.values(), change)?;
            let (item, offsets, nulls) = (retyped(item, &values), list.offsets().clone(), list.nulls().cloned());
            Arc::new(ListArray::try_new(item, offsets, values, nulls)?)
        }
        ArrowType::LargeList(item) => {
            let list = array.as_list::<i64>();
            let values = changed_array(list.values(), change)?;
            let (item, offsets, nulls) = (retyped(item, &values), list.offsets().clone(), list.nulls().cloned());
            Arc::new(LargeListArray::try_new(item, offsets, values, nulls)?)
        }
        ArrowType::FixedSizeList(item, size) => {
            let list = array.as_fixed_size_list();
            let values = changed_array(list.values(), change)?;
            let item = retyped(item, &values);
            let nulls = list.nulls().cloned();
            Arc::new(FixedSizeListArray::try_new_with_length(
                item,
                *size,
                values,
                nulls,
                list.len(),
            )?)
        }
        ArrowType::Map(entries, sorted) => {
            let map = array.as_map();
            let pairs: ArrayRef = Arc::new(map.entries().clone());
            let pairs = changed_array(&pairs, change)?;
            let (entries, offsets, nulls) = (retyped(entries, &pairs), map.offsets().clone(), map.nulls().cloned());
            Arc::new(MapArray::try_new(
                entries,
                offsets,
                pairs.as_struct().clone(),
                nulls,
                *sorted,
            )?)
        }
        ArrowType::Struct(fields) => {
            let tuple = array.as_struct();
            let columns = tuple.columns().iter().map(|column| changed_array(column, change));
            let columns = columns.collect::<Result<Vec<_>>>()?;
            let fields = fields
                .iter()
                .zip(&columns)
                .map(|(field, column)| retyped(field, column));
            let nulls = tuple.nulls().cloned();
            Arc::new(StructArray::try_new_with_length(
                fields.collect(),
                columns,
                nulls,
                tuple.len(),
            )?)
        }
        ArrowType::Union(fields, _) => {
            let union = array.as_union();
            let children = fields.iter().map(|(id, _)| changed_array(union.child(id), change));
            let children = children.collect::<Result<Vec<_>>>()?;
            let plain = fields
                .iter()
                .zip(&children)
                .map(|((id, field), child)| (id, retyped(field, child)));
            let (ids, offsets) = (union.type_ids().clone(), union.offsets().cloned());
            Arc::new(UnionArray::try_new(plain.collect(), ids, offsets, children)?)
        }
        _ => make_array(array.to_data()),
    })
}

fn plain_field(field: &FieldRef) -> FieldRef {
    match plain_type(field.data_type()) {
        same if same == *field.data_type() => Arc::clone(field),
        plain => Arc::new(Field::clone(field).with_data_type(plain)),
    }
}

fn retyped(field: &FieldRef, array: &ArrayRef) -> FieldRef {
    if field.data_type() == array.data_type() {
        return Arc::clone(field);
    }
    Arc::new(Field::clone(field).with_data_type(array.data_type().clone()))
}
