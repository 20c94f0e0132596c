//! Messages to columns: a tree of readers, one for each message type, that follows the mapping.
//!
//! The fields of a message are read in the order in which they come. Of a scalar the place is kept, since the last one wins;
//! a nested message continues where an earlier one of the same field ended, as protobuf merges them; items of lists are appended
//! at once. When the message ends, each column gets its value or a null. After an error all columns are cut back to the rows
//! before.

use std::{ops::Range, sync::Arc};

use arrow_array::{ArrayRef, FixedSizeListArray, LargeListArray, ListArray, MapArray, StructArray, cast::AsArray};
use arrow_buffer::{BooleanBufferBuilder, NullBuffer, OffsetBuffer};
use arrow_schema::{ArrowError, DataType, Fields};

use super::{
    mapping::{Child, ITEMS, LENGTH_DELIMITED, List, Mapping, NULLS, VARINT, column_index},
    scalar_buffer::{ScalarBuffer, Slot},
};
use crate::{
    error::RowProblem,
    varint::read_varint32,
    wire_format::{START_GROUP, split_group},
};

/// The most items that null lists of a fixed size may fill in a batch.
const MAX_FIXED_ITEMS: usize = 1 << 26;

/// What is wrong, and with which column of the outermost message.
type Problem = (Option<usize>, RowProblem);

/// Reads messages of one type into columns.
pub(super) struct MessageReader {
    /// The column of each field, by what [`column_index`] makes of its number, if it is wanted.
    slots: Vec<Option<usize>>,
    columns: Vec<Column>,
    /// The number of the message at hand, so that what is known of it needs no clearing.
    message: u64,
}

struct Column {
    nullable: bool,
    validity: BooleanBufferBuilder,
    values: Values,
}

enum Values {
    Scalar(ScalarColumn),
    Struct(StructColumn),
    List(Box<ListColumn>),
}

struct ScalarColumn {
    buffer: ScalarBuffer,
    /// The last value of the field, if it belongs to the message.
    slot: Slot,
    message: u64,
}

struct StructColumn {
    reader: MessageReader,
    /// The message that has the field.
    message: u64,
}

struct ListColumn {
    list: List,
    /// Where each list ends among the items.
    ends: Vec<usize>,
    items: Column,
    /// The positions of null items in the list at hand.
    nulls: Vec<u64>,
    /// The message that has the field.
    message: u64,
}

impl MessageReader {
    /// `slots` has the column of each field that is wanted.
    pub(super) fn new(slots: Vec<Option<usize>>, columns: &[Child]) -> Self {
        Self {
            slots,
            columns: columns
                .iter()
                .map(|child| Column::new(&child.mapping, child.nullable))
                .collect(),
            message: 0,
        }
    }

    /// Appends a row from a record.
    pub(super) fn read_whole(&mut self, record: &[u8]) -> Result<(), Problem> {
        self.begin();
        self.read(record, 0..record.len())?;
        self.end(record)
    }

    /// Appends the record itself to the only column, if there is one.
    pub(super) fn take_whole(&mut self, record: &[u8]) -> Result<(), Problem> {
        self.begin();
        if let Some(Column {
            values: Values::Scalar(scalar),
            ..
        }) = self.columns.first_mut()
        {
            scalar.message = self.message;
            scalar.slot = Slot::of_bytes(0..record.len());
        }
        self.end(record)
    }

    /// Cuts all columns back to `rows`.
    pub(super) fn truncate(&mut self, rows: usize) {
        for column in &mut self.columns {
            column.truncate(rows);
        }
    }

    /// Returns the columns and begins new ones.
    pub(super) fn finish(&mut self, fields: &Fields) -> Result<Vec<ArrayRef>, ArrowError> {
        self.columns
            .iter_mut()
            .zip(fields)
            .map(|(column, field)| column.finish(field.data_type()))
            .collect()
    }

    fn begin(&mut self) {
        self.message += 1;
    }

    /// Reads fields of the message at hand.
    #[inline]
    fn read(&mut self, record: &[u8], range: Range<usize>) -> Result<(), Problem> {
        let end = range.end;
        let mut left = record.get(range).unwrap_or_default();
        while !left.is_empty() {
            let offset = end - left.len();
            let Some((tag, behind)) = read_varint32(left) else {
                return Err((None, RowProblem::Tag { offset }));
            };
            let (number, wire_type) = (tag >> 3, tag & 7);
            let index = column_index(number).and_then(|column| self.slots.get(column).copied().flatten());
            if number == 0 || !has_value(wire_type) {
                left = self.skip_group(index, tag, behind, offset)?;
                continue;
            }
            let Some((slot, rest)) = Slot::read(behind, end, wire_type) else {
                return Err((index, RowProblem::Truncated { offset }));
            };
            left = rest;
            let Some(column) = index.and_then(|index| self.columns.get_mut(index)) else {
                continue;
            };
            let result = match &mut column.values {
                Values::Scalar(scalar) => {
                    scalar.slot = slot;
                    scalar.message = self.message;
                    expect_wire_type(number, wire_type, scalar.buffer.storage().wire_type())
                }
                nested => nested.read(record, number, wire_type, slot, self.message),
            };
            result.map_err(|problem| (index, problem))?;
        }
        Ok(())
    }

    /// Skips a group, which is never the field of a column. Any other tag is invalid.
    #[cold]
    fn skip_group<'a>(
        &self,
        index: Option<usize>,
        tag: u32,
        behind: &'a [u8],
        offset: usize,
    ) -> Result<&'a [u8], Problem> {
        let (number, wire_type) = (tag >> 3, tag & 7);
        if number == 0 || wire_type != START_GROUP {
            return Err((None, RowProblem::Tag { offset }));
        }
        if let Some(column) = index.and_then(|index| self.columns.get(index)) {
            expect_wire_type(number, wire_type, column.wire_type()).map_err(|problem| (index, problem))?;
        }
        split_group(number, behind, offset)
            .map(|(_, rest)| rest)
            .map_err(|problem| (None, problem))
    }

    /// Appends what the message has, and nulls for what it has not.
    fn end(&mut self, record: &[u8]) -> Result<(), Problem> {
        for (index, column) in self.columns.iter_mut().enumerate() {
            column
                .end(record, self.message)
                .map_err(|problem| (Some(index), problem))?;
        }
        Ok(())
    }

    fn append_null(&mut self) -> Result<(), RowProblem> {
        self.columns.iter_mut().try_for_each(Column::append_null)
    }
}

impl Column {
    fn new(mapping: &Mapping, nullable: bool) -> Self {
        let values = match mapping {
            Mapping::Scalar(storage) => Values::Scalar(ScalarColumn {
                buffer: ScalarBuffer::new(*storage),
                slot: Slot::default(),
                message: 0,
            }),
            Mapping::Struct(children) => Values::Struct(StructColumn {
                reader: MessageReader::new((0..children.len()).map(Some).collect(), children),
                message: 0,
            }),
            Mapping::List(list) => Values::List(Box::new(ListColumn {
                list: List::clone(list),
                ends: Vec::new(),
                items: Column::new(&list.item, list.items_nullable),
                nulls: Vec::new(),
                message: 0,
            })),
        };
        Self {
            nullable,
            validity: BooleanBufferBuilder::new(0),
            values,
        }
    }

    fn wire_type(&self) -> u8 {
        match &self.values {
            Values::Scalar(scalar) => scalar.buffer.storage().wire_type(),
            Values::Struct(_) => LENGTH_DELIMITED,
            Values::List(column) if column.list.wrapped => LENGTH_DELIMITED,
            Values::List(column) => column.list.item.wire_type(),
        }
    }

    /// Appends the value of the message, or a null.
    #[inline]
    fn end(&mut self, record: &[u8], message: u64) -> Result<(), RowProblem> {
        let found = match &mut self.values {
            Values::Scalar(scalar) => {
                let found = scalar.message == message;
                if found {
                    scalar.buffer.append(scalar.slot, record)?;
                }
                found
            }
            nested => nested.end(record, message)?,
        };
        match (found, self.nullable) {
            (true, _) => self.validity.append(true),
            (false, true) => self.append_null()?,
            (false, false) => return Err(RowProblem::Missing),
        }
        Ok(())
    }

    /// Appends an item of a list.
    fn append_item(&mut self, record: &[u8], slot: Slot) -> Result<(), RowProblem> {
        match &mut self.values {
            Values::Scalar(scalar) => scalar.buffer.append(slot, record)?,
            Values::Struct(column) => {
                column.reader.begin();
                column
                    .reader
                    .read(record, slot.bytes())
                    .map_err(|(_, problem)| problem)?;
                column.reader.end(record).map_err(|(_, problem)| problem)?;
            }
            // Lists in lists are wrapped.
            Values::List(column) => {
                column.nulls.clear();
                column.read_wrapped(record, slot.bytes())?;
                column.end()?;
            }
        }
        self.validity.append(true);
        Ok(())
    }

    /// Appends a null, also where the column must not have one: below a null.
    fn append_null(&mut self) -> Result<(), RowProblem> {
        self.validity.append(false);
        match &mut self.values {
            Values::Scalar(scalar) => scalar.buffer.append_null(),
            Values::Struct(column) => column.reader.append_null(),
            Values::List(column) => column.append_null(),
        }
    }

    fn len(&self) -> usize {
        self.validity.len()
    }

    fn truncate(&mut self, rows: usize) {
        self.validity.truncate(rows);
        match &mut self.values {
            Values::Scalar(scalar) => scalar.buffer.truncate(rows),
            Values::Struct(column) => column.reader.truncate(rows),
            Values::List(column) => {
                column.ends.truncate(rows);
                column.items.truncate(column.ends.last().copied().unwrap_or(0));
            }
        }
    }

    fn finish(&mut self, data_type: &DataType) -> Result<ArrayRef, ArrowError> {
        let rows = self.len();
        let nulls = NullBuffer::new(self.validity.finish());
        let nulls = Some(nulls).filter(|nulls| nulls.null_count() > 0);
        match (&mut self.values, data_type) {
            (Values::Scalar(scalar), _) => scalar.buffer.finish(rows, data_type, nulls),
            (Values::Struct(column), DataType::Struct(fields)) => {
                let columns = column.reader.finish(fields)?;
                let array = StructArray::try_new_with_length(fields.clone(), columns, nulls, rows)?;
                Ok(Arc::new(array))
            }
            (Values::List(column), _) => column.finish(rows, data_type, nulls),
            (Values::Struct(_), _) => Err(ArrowError::SchemaError(format!("{data_type} is not a struct"))),
        }
    }
}

impl Values {
    /// Takes a value of the field in a message.
    fn read(&mut self, record: &[u8], number: u32, wire_type: u32, slot: Slot, message: u64) -> Result<(), RowProblem> {
        match self {
            Self::Scalar(scalar) => {
                scalar.slot = slot;
                scalar.message = message;
                expect_wire_type(number, wire_type, scalar.buffer.storage().wire_type())
            }
            Self::Struct(column) => {
                expect_wire_type(number, wire_type, LENGTH_DELIMITED)?;
                if column.message != message {
                    column.message = message;
                    column.reader.begin();
                }
                column.reader.read(record, slot.bytes()).map_err(|(_, problem)| problem)
            }
            Self::List(column) => {
                if column.message != message {
                    column.message = message;
                    column.nulls.clear();
                }
                match column.list.wrapped {
                    true => {
                        expect_wire_type(number, wire_type, LENGTH_DELIMITED)?;
                        column.read_wrapped(record, slot.bytes())
                    }
                    false => column.read_items(record, number, wire_type, slot),
                }
            }
        }
    }

    /// Ends what the message has, and returns whether it has it.
    fn end(&mut self, record: &[u8], message: u64) -> Result<bool, RowProblem> {
        match self {
            Self::Struct(column) if column.message == message => {
                column.reader.end(record).map_err(|(_, problem)| problem)?;
                Ok(true)
            }
            // Without items a list that is not wrapped takes no field.
            Self::List(column) if column.message == message || !column.list.wrapped => {
                column.end()?;
                Ok(true)
            }
            _ => Ok(false),
        }
    }
}

impl ListColumn {
    /// Reads the message that the list is wrapped in. It says first which items are null, wherever it says so.
    fn read_wrapped(&mut self, record: &[u8], range: Range<usize>) -> Result<(), RowProblem> {
        if self.list.items_nullable {
            for_each_field(record, range.clone(), |number, wire_type, slot| match number {
                NULLS => for_each_value(record, (number, wire_type), slot, (VARINT, true), |slot| {
                    // In ascending order, so that they can be looked up.
                    let position = slot.number();
                    if self.nulls.last().is_some_and(|&last| last >= position) {
                        return Err(RowProblem::Range);
                    }
                    self.nulls.push(position);
                    Ok(())
                }),
                _ => Ok(()),
            })?;
        }
        for_each_field(record, range, |number, wire_type, slot| match number {
            ITEMS => self.read_items(record, number, wire_type, slot),
            _ => Ok(()),
        })
    }

    /// Appends an item, or several that are packed.
    fn read_items(&mut self, record: &[u8], number: u32, wire_type: u32, slot: Slot) -> Result<(), RowProblem> {
        let expected = self.list.item.wire_type();
        let is_packed = self.list.item.is_packed();
        let start = self.ends.last().copied().unwrap_or(0);
        let Self { items, nulls, .. } = self;
        for_each_value(record, (number, wire_type), slot, (expected, is_packed), |slot| {
            let position = (items.len() - start) as u64;
            match nulls.binary_search(&position) {
                Ok(_) => items.append_null(),
                Err(_) => items.append_item(record, slot),
            }
        })
    }

    fn end(&mut self) -> Result<(), RowProblem> {
        let start = self.ends.last().copied().unwrap_or(0);
        let count = self.items.len() - start;
        let is_beyond = |&null: &u64| null >= count as u64;
        if self.list.size.is_some_and(|size| size != count) || self.nulls.last().is_some_and(is_beyond) {
            return Err(RowProblem::Range);
        }
        self.ends.push(self.items.len());
        Ok(())
    }

    fn append_null(&mut self) -> Result<(), RowProblem> {
        let size = self.list.size.unwrap_or(0);
        // A null takes room here that the record does not have.
        if self.items.len().saturating_add(size) > MAX_FIXED_ITEMS.max(self.items.len()) {
            return Err(RowProblem::Range);
        }
        for _ in 0..size {
            self.items.append_null()?;
        }
        self.ends.push(self.items.len());
        Ok(())
    }

    fn finish(&mut self, rows: usize, data_type: &DataType, nulls: Option<NullBuffer>) -> Result<ArrayRef, ArrowError> {
        let (DataType::List(item)
        | DataType::LargeList(item)
        | DataType::FixedSizeList(item, _)
        | DataType::Map(item, _)) = data_type
        else {
            return Err(ArrowError::SchemaError(format!("{data_type} is not a list")));
        };
        let items = self.items.finish(item.data_type())?;
        let ends = std::mem::take(&mut self.ends);
        let offsets = || -> Result<OffsetBuffer<i32>, ArrowError> {
            let ends = std::iter::once(Ok(0)).chain(
                ends.iter()
                    .map(|&end| i32::try_from(end).map_err(|_| ArrowError::OffsetOverflowError(end))),
            );
            Ok(OffsetBuffer::new(ends.collect::<Result<Vec<i32>, _>>()?.into()))
        };
        Ok(match data_type {
            DataType::List(item) => Arc::new(ListArray::try_new(item.clone(), offsets()?, items, nulls)?),
            DataType::LargeList(item) => {
                let ends = std::iter::once(0).chain(ends.iter().map(|&end| end as i64));
                let offsets = OffsetBuffer::new(ends.collect::<Vec<i64>>().into());
                Arc::new(LargeListArray::try_new(item.clone(), offsets, items, nulls)?)
            }
            DataType::Map(entries, ordered) => {
                let items = items.as_struct().clone();
                Arc::new(MapArray::try_new(entries.clone(), offsets()?, items, nulls, *ordered)?)
            }
            DataType::FixedSizeList(item, size) => Arc::new(FixedSizeListArray::try_new_with_length(
                item.clone(),
                *size,
                items,
                nulls,
                rows,
            )?),
            // Seen above.
            _ => items,
        })
    }
}

fn expect_wire_type(number: u32, found: u32, expected: u8) -> Result<(), RowProblem> {
    if found == u32::from(expected) {
        return Ok(());
    }
    Err(RowProblem::WireType {
        number,
        expected,
        // Three bits.
        found: (found & 7) as u8,
    })
}

/// Calls `take` with the number, the wire type and the value of each field of a message; groups are left out.
fn for_each_field(
    record: &[u8],
    range: Range<usize>,
    mut take: impl FnMut(u32, u32, Slot) -> Result<(), RowProblem>,
) -> Result<(), RowProblem> {
    let end = range.end;
    let mut left = record.get(range).unwrap_or_default();
    while !left.is_empty() {
        let offset = end - left.len();
        let (tag, behind) = read_varint32(left).ok_or(RowProblem::Tag { offset })?;
        let (number, wire_type) = (tag >> 3, tag & 7);
        if number == 0 || !(has_value(wire_type) || wire_type == START_GROUP) {
            return Err(RowProblem::Tag { offset });
        }
        if wire_type == START_GROUP {
            (_, left) = split_group(number, behind, offset)?;
            continue;
        }
        let (slot, rest) = Slot::read(behind, end, wire_type).ok_or(RowProblem::Truncated { offset })?;
        left = rest;
        take(number, wire_type, slot)?;
    }
    Ok(())
}

/// Calls `take` with the value of a repeated field, or with each of the values that are packed in it. The field is known by
/// its number and wire type; values are of a wire type, and packed perhaps.
fn for_each_value(
    record: &[u8],
    (number, found): (u32, u32),
    slot: Slot,
    (expected, is_packed): (u8, bool),
    mut take: impl FnMut(Slot) -> Result<(), RowProblem>,
) -> Result<(), RowProblem> {
    if !(is_packed && found == u32::from(LENGTH_DELIMITED)) {
        expect_wire_type(number, found, expected)?;
        return take(slot);
    }
    let range = slot.bytes();
    let end = range.end;
    let mut left = record.get(range).unwrap_or_default();
    while !left.is_empty() {
        let offset = end - left.len();
        let (slot, rest) = Slot::read(left, end, expected.into()).ok_or(RowProblem::Truncated { offset })?;
        left = rest;
        take(slot)?;
    }
    Ok(())
}

/// Whether a field of the wire type has a value by itself, as groups have not.
fn has_value(wire_type: u32) -> bool {
    matches!(wire_type, 0 | 1 | 2 | 5)
}
