//! Values into columns: by field and slot, from the last to the first, and whole messages the same way.

use std::{ops::Range, sync::Arc};

use arrow_array::{ArrayRef, ListArray, MapArray, RecordBatch, RecordBatchOptions, StructArray};
use arrow_schema::{ArrowError, DataType, SchemaRef};

use super::{
    column::{Leaf, Lists, Presence},
    plan::{Plan, PlannedField, ROOT, Target},
};
use crate::{
    FieldKind, MessageSchema,
    error::{Damage, RowProblem},
    varint::read_varint64,
    wire_format::{FieldReader, WireValue},
};

/// The slot of what is left out: values put there are dropped.
pub(super) const NOWHERE: usize = usize::MAX;

/// What is wrong with a record, and the field that was being read.
pub(super) type Problem = (Option<u32>, RowProblem);

/// The columns of a message type, and the values so far.
pub(super) struct Columns {
    pub(super) plan: Plan,
    schema: SchemaRef,
    stores: Stores,
    oneofs: Vec<Oneof>,
    /// Fields of messages that were read and not put into columns yet.
    fields: Vec<(u32, Value)>,
    /// Whether texts are checked one by one, which tells the record of one that is not UTF-8.
    check_texts: bool,
    /// Records of the chunks that were ended.
    rows: usize,
}

/// What the fields of the plan fill.
struct Stores {
    leaves: Vec<Leaf>,
    lists: Vec<Lists>,
    presences: Vec<Presence>,
}

/// Why a chunk did not end well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChunkProblem {
    /// A text is not UTF-8.
    Text,
    /// There are values of more records.
    Rows,
}

/// Which member of a oneof is there.
struct Oneof {
    slot: usize,
    member: u32,
    /// Whether another member came before it in the message, which clears what came before that.
    closed: bool,
}

/// A value of a message that is being read; ranges are of its bytes.
enum Value {
    Number(u64),
    Bytes(Range<usize>),
}

impl Columns {
    pub(super) fn new(schema: &MessageSchema) -> Self {
        let plan = Plan::new(schema);
        let mut leaves: Vec<Option<Leaf>> = Vec::new();
        leaves.resize_with(plan.num_leaves, || None);
        for field in &plan.fields {
            if let Target::Leaf(leaf) = field.target
                && let Some(leaf) = leaves.get_mut(leaf as usize)
            {
                *leaf = Some(match field.existence_only {
                    true => Leaf::existence(),
                    false => Leaf::new(field.kind, field.arrow_field.is_nullable()),
                });
            }
        }
        Self {
            schema: schema.arrow_schema(),
            stores: Stores {
                leaves: leaves.into_iter().flatten().collect(),
                lists: std::iter::repeat_with(Lists::default).take(plan.num_lists).collect(),
                presences: std::iter::repeat_with(Presence::default)
                    .take(plan.num_presences)
                    .collect(),
            },
            oneofs: std::iter::repeat_with(|| Oneof {
                slot: NOWHERE,
                member: 0,
                closed: false,
            })
            .take(plan.num_oneofs)
            .collect(),
            plan,
            fields: Vec::new(),
            check_texts: false,
            rows: 0,
        }
    }

    /// Returns the number of records in the chunks that were ended.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// Begins a chunk: drops the values of one that was not ended, and says whether texts are checked one by one.
    pub(super) fn begin_chunk(&mut self, check_texts: bool) {
        self.check_texts = check_texts;
        self.stores.leaves.iter_mut().for_each(Leaf::drop_chunk);
        self.stores.lists.iter_mut().for_each(Lists::drop_chunk);
        self.stores.presences.iter_mut().for_each(Presence::drop_chunk);
        self.oneofs.iter_mut().for_each(|oneof| oneof.slot = NOWHERE);
        self.fields.clear();
    }

    /// Returns the message type of a field, `None` if it is of scalars.
    pub(super) fn message(&self, field: u32) -> Option<u32> {
        match self.plan.field(field)?.target {
            Target::Message { message, .. } => Some(message),
            Target::Leaf(_) => None,
        }
    }

    /// Checks that columns of `rows` records, even if they are all null, are at most `limit` bytes.
    pub(super) fn check_rows(&self, rows: u64, limit: usize) -> Result<usize, Damage> {
        // Eight bytes of a number and one of whether it is there.
        let width = 9 * (self.plan.fields.len() as u64 + 1);
        let size = rows.saturating_mul(width);
        match usize::try_from(rows) {
            Ok(rows) if size <= (limit as u64).saturating_mul(16) => Ok(rows),
            _ => Err(Damage::TooLarge {
                what: "the columns",
                limit: (limit as u64).saturating_mul(16),
                found: size,
            }),
        }
    }

    /// Puts a number into a field of the message in `slot`: a varint as it is, the bits of other numbers.
    #[inline]
    pub(super) fn put_number(&mut self, field: u32, slot: usize, number: u64) -> Result<(), Problem> {
        let Some(planned) = self.plan.fields.get(field as usize) else {
            return Ok(());
        };
        let Target::Leaf(leaf) = planned.target else {
            return Ok(());
        };
        let mut slot = slot;
        if planned.list.is_some() || planned.oneof.is_some() || slot == NOWHERE {
            slot = match place(planned, field, slot, &mut self.stores.lists, &mut self.oneofs)? {
                Some(slot) => slot,
                None => return Ok(()),
            };
        }
        if let Some(leaf) = self.stores.leaves.get_mut(leaf as usize) {
            leaf.put_number(slot, number);
        }
        Ok(())
    }

    /// Puts bytes into a field of the message in `slot`: a text, a message that is stored as bytes, or packed numbers.
    #[inline]
    pub(super) fn put_bytes(&mut self, field: u32, slot: usize, bytes: &[u8]) -> Result<(), Problem> {
        let Some(planned) = self.plan.fields.get(field as usize) else {
            return Ok(());
        };
        if planned.existence_only {
            return self.put_number(field, slot, 0);
        }
        match (planned.kind, planned.target) {
            (FieldKind::String | FieldKind::Bytes, Target::Leaf(leaf)) => {
                if self.check_texts && planned.kind == FieldKind::String && std::str::from_utf8(bytes).is_err() {
                    return Err((Some(field), RowProblem::Utf8));
                }
                let Some(slot) = place(planned, field, slot, &mut self.stores.lists, &mut self.oneofs)? else {
                    return Ok(());
                };
                match self
                    .stores
                    .leaves
                    .get_mut(leaf as usize)
                    .map(|leaf| leaf.put_bytes(slot, bytes))
                {
                    Some(false) => Err((Some(field), RowProblem::Range)),
                    _ => Ok(()),
                }
            }
            (_, Target::Message { message, .. }) => {
                let slot = self.open(field, slot)?;
                self.put_message(message, slot, bytes)
            }
            (kind, Target::Leaf(_)) => self.put_packed(field, kind, slot, bytes),
        }
    }

    /// Makes room for a message that is the value of a field of the message in `slot`, and returns its own slot.
    #[inline]
    pub(super) fn open(&mut self, field: u32, slot: usize) -> Result<usize, Problem> {
        let Some(planned) = self.plan.fields.get(field as usize) else {
            return Ok(NOWHERE);
        };
        let Some(slot) = place(planned, field, slot, &mut self.stores.lists, &mut self.oneofs)? else {
            return Ok(NOWHERE);
        };
        if let Target::Message {
            presence: Some(presence),
            ..
        } = planned.target
            && let Some(presence) = self.stores.presences.get_mut(presence as usize)
        {
            presence.put(slot);
        }
        Ok(slot)
    }

    /// Puts a record into `row`, counted from the last.
    pub(super) fn put_record(&mut self, row: usize, record: &[u8]) -> Result<(), Problem> {
        self.put_message(ROOT, row, record)
    }

    /// Puts the fields of a serialized message into the columns, the last one first. Fields of another wire type than the
    /// descriptor says are passed over, as unknown ones are. A schema is at most a hundred messages deep.
    fn put_message(&mut self, message: u32, slot: usize, bytes: &[u8]) -> Result<(), Problem> {
        let start = self.fields.len();
        let mut reader = FieldReader::new(bytes);
        while let Some((number, value)) = reader.next_field().map_err(|problem| (None, problem))? {
            let Some(index) = self.plan.find(message, number) else {
                continue;
            };
            if let Some(field) = self.plan.field(index)
                && let Some(value) = expected(field, value)
            {
                self.fields.push((index, value));
            }
        }
        while self.fields.len() > start {
            let Some((field, value)) = self.fields.pop() else { break };
            match value {
                Value::Number(number) => self.put_number(field, slot, number)?,
                Value::Bytes(range) => self.put_bytes(field, slot, bytes.get(range).unwrap_or_default())?,
            }
        }
        Ok(())
    }

    fn put_packed(&mut self, field: u32, kind: FieldKind, slot: usize, mut bytes: &[u8]) -> Result<(), Problem> {
        let cut_off = (Some(field), RowProblem::Packed);
        while !bytes.is_empty() {
            let number = match kind.wire_type() {
                1 => {
                    let (rest, number) = bytes.split_last_chunk().ok_or(cut_off)?;
                    bytes = rest;
                    u64::from_le_bytes(*number)
                }
                5 => {
                    let (rest, number) = bytes.split_last_chunk().ok_or(cut_off)?;
                    bytes = rest;
                    u64::from(u32::from_le_bytes(*number))
                }
                _ => {
                    // The last varint begins after the last byte but one that ends one.
                    let before = bytes.len() - 1;
                    let start = bytes
                        .iter()
                        .take(before)
                        .rposition(|&byte| byte < 0x80)
                        .map_or(0, |end| end + 1);
                    let (rest, number) = bytes.split_at(start);
                    bytes = rest;
                    match read_varint64(number) {
                        Some((number, [])) => number,
                        _ => return Err(cut_off),
                    }
                }
            };
            self.put_number(field, slot, number)?;
        }
        Ok(())
    }

    /// Ends a chunk of `rows` records. Nothing is kept of a chunk that does not end well.
    pub(super) fn end_chunk(&mut self, rows: usize) -> Result<(), ChunkProblem> {
        if !self.stores.leaves.iter().all(Leaf::is_valid) {
            return Err(ChunkProblem::Text);
        }
        if !self.stores.fit(&self.plan, ROOT, rows) {
            return Err(ChunkProblem::Rows);
        }
        self.stores.end_chunk(&self.plan, ROOT, rows);
        self.rows += rows;
        Ok(())
    }

    /// Returns the rows of all chunks that were ended as a batch, and leaves the columns empty.
    pub(super) fn finish(&mut self) -> Result<RecordBatch, ArrowError> {
        let rows = std::mem::take(&mut self.rows);
        let columns = self.stores.finish_message(&self.plan, ROOT, rows)?;
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(self.schema.clone(), columns, &options)
    }
}

impl Stores {
    /// Returns whether no column below a message has more than its `slots` slots.
    fn fit(&self, plan: &Plan, message: u32, slots: usize) -> bool {
        plan.fields_of(message).all(|field| {
            let slots = match field.list.and_then(|list| self.lists.get(list as usize)) {
                Some(list) if list.len() > slots => return false,
                Some(list) => list.values(),
                None => slots,
            };
            match field.target {
                Target::Leaf(leaf) => self.leaves.get(leaf as usize).is_none_or(|leaf| leaf.len() <= slots),
                Target::Message { message, presence } => {
                    presence
                        .and_then(|presence| self.presences.get(presence as usize))
                        .is_none_or(|presence| presence.len() <= slots)
                        && self.fit(plan, message, slots)
                }
            }
        })
    }

    fn end_chunk(&mut self, plan: &Plan, message: u32, slots: usize) {
        for field in plan.fields_of(message) {
            let mut slots = slots;
            if let Some(list) = field.list.and_then(|list| self.lists.get_mut(list as usize)) {
                let values = list.values();
                list.end_chunk(slots);
                slots = values;
            }
            match field.target {
                Target::Leaf(leaf) => {
                    if let Some(leaf) = self.leaves.get_mut(leaf as usize) {
                        leaf.end_chunk(slots);
                    }
                }
                Target::Message { message, presence } => {
                    if let Some(presence) = presence.and_then(|presence| self.presences.get_mut(presence as usize)) {
                        presence.end_chunk(slots);
                    }
                    self.end_chunk(plan, message, slots);
                }
            }
        }
    }

    fn finish_message(&mut self, plan: &Plan, message: u32, slots: usize) -> Result<Vec<ArrayRef>, ArrowError> {
        plan.fields_of(message)
            .map(|field| self.finish_field(plan, field, slots))
            .collect()
    }

    fn finish_field(&mut self, plan: &Plan, field: &PlannedField, slots: usize) -> Result<ArrayRef, ArrowError> {
        let data_type = field.arrow_field.data_type();
        let list = field.list.and_then(|list| self.lists.get_mut(list as usize));
        let (Some(list), DataType::List(item) | DataType::Map(item, _)) = (list, data_type) else {
            return self.finish_value(plan, field.target, data_type, slots);
        };
        let offsets = list.finish()?;
        let slots = offsets.last().and_then(|&end| usize::try_from(end).ok()).unwrap_or(0);
        let values = self.finish_value(plan, field.target, item.data_type(), slots)?;
        Ok(match (data_type, values.as_any().downcast_ref::<StructArray>()) {
            (DataType::Map(..), Some(entries)) => {
                Arc::new(MapArray::try_new(item.clone(), offsets, entries.clone(), None, false)?)
            }
            _ => Arc::new(ListArray::try_new(item.clone(), offsets, values, None)?),
        })
    }

    fn finish_value(
        &mut self,
        plan: &Plan,
        target: Target,
        data_type: &DataType,
        slots: usize,
    ) -> Result<ArrayRef, ArrowError> {
        let missing = || ArrowError::SchemaError(format!("no column for {data_type}"));
        match (target, data_type) {
            (Target::Leaf(leaf), _) => self.leaves.get_mut(leaf as usize).ok_or_else(missing)?.finish(),
            (Target::Message { message, presence }, DataType::Struct(fields)) => {
                let presence = presence.and_then(|presence| self.presences.get_mut(presence as usize));
                let nulls = presence.and_then(Presence::finish);
                let columns = self.finish_message(plan, message, slots)?;
                Ok(Arc::new(match columns.is_empty() {
                    true => StructArray::new_empty_fields(slots, nulls),
                    false => StructArray::try_new(fields.clone(), columns, nulls)?,
                }))
            }
            (Target::Message { .. }, _) => Err(missing()),
        }
    }
}

/// Returns the slot for a value of a field of the message in `slot`, `None` if the value does not count: what comes later in
/// the message has replaced it.
fn place(
    planned: &PlannedField,
    field: u32,
    slot: usize,
    lists: &mut [Lists],
    oneofs: &mut [Oneof],
) -> Result<Option<usize>, Problem> {
    if slot == NOWHERE {
        return Ok(None);
    }
    if let Some(oneof) = planned.oneof.and_then(|oneof| oneofs.get_mut(oneof as usize)) {
        if oneof.slot != slot {
            *oneof = Oneof {
                slot,
                member: field,
                closed: false,
            };
        }
        oneof.closed |= oneof.member != field;
        if oneof.closed {
            return Ok(None);
        }
    }
    match planned.list.and_then(|list| lists.get_mut(list as usize)) {
        None => Ok(Some(slot)),
        Some(list) => list.add(slot).map(Some).ok_or((Some(field), RowProblem::Range)),
    }
}

/// Returns the value of a field, `None` if its wire type is not one that the field can have.
fn expected(field: &PlannedField, value: WireValue) -> Option<Value> {
    match (value, field.kind.wire_type()) {
        (WireValue::Varint(number), 0) | (WireValue::Fixed64(number), 1) => Some(Value::Number(number)),
        (WireValue::Fixed32(number), 5) => Some(Value::Number(number.into())),
        (WireValue::Bytes(range), 2) | (WireValue::Group(range), 3) => Some(Value::Bytes(range)),
        (WireValue::Bytes(range), _) if field.packable => Some(Value::Bytes(range)),
        _ => None,
    }
}
