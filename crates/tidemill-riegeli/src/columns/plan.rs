//! A message schema laid flat: messages, fields and the columns that they fill, by number.

use std::sync::Arc;

use arrow_schema::Field;

use crate::{FieldKind, MessageField, MessageSchema};

/// The number of the message that a record is.
pub(super) const ROOT: u32 = 0;

/// In place of the number of a leaf, for a field that has no column.
const NO_LEAF: u32 = u32::MAX;

/// Everything that is looked up while values are put into columns.
#[derive(Default)]
pub(super) struct Plan {
    messages: Vec<Message>,
    pub(super) fields: Vec<PlannedField>,
    pub(super) num_leaves: usize,
    pub(super) num_lists: usize,
    pub(super) num_presences: usize,
    pub(super) num_oneofs: usize,
}

/// A message type at one place in the schema.
#[derive(Default)]
struct Message {
    /// Its fields in the order of the columns.
    fields: Vec<u32>,
    /// Field numbers with their fields, those that have no column too, in the order of the numbers.
    by_number: Vec<(u32, u32)>,
}

/// A field at one place in the schema.
pub(super) struct PlannedField {
    pub(super) kind: FieldKind,
    /// The message that it is in.
    pub(super) parent: u32,
    /// Where the values of a parent are counted, if it can have any number of them.
    pub(super) list: Option<u32>,
    pub(super) oneof: Option<u32>,
    /// Whether its values may be written in one piece.
    pub(super) packable: bool,
    pub(super) existence_only: bool,
    pub(super) target: Target,
    pub(super) arrow_field: Arc<Field>,
}

/// Where the values of a field go.
#[derive(Clone, Copy)]
pub(super) enum Target {
    Leaf(u32),
    /// The message, and where it is noted that it is there, unless it is in a list.
    Message {
        message: u32,
        presence: Option<u32>,
    },
}

impl Plan {
    pub(super) fn new(schema: &MessageSchema) -> Self {
        let mut plan = Self::default();
        plan.add_message(schema.fields(), schema.rivals());
        plan
    }

    /// Returns the field with this number in a message.
    pub(super) fn find(&self, message: u32, number: u32) -> Option<u32> {
        let by_number = &self.messages.get(message as usize)?.by_number;
        let index = by_number.binary_search_by_key(&number, |&(number, _)| number).ok()?;
        by_number.get(index).map(|&(_, field)| field)
    }

    /// Returns the fields of a message in the order of the columns.
    pub(super) fn fields_of(&self, message: u32) -> impl Iterator<Item = &PlannedField> {
        let fields = self
            .messages
            .get(message as usize)
            .map_or(&[][..], |message| &message.fields);
        fields.iter().filter_map(|&field| self.field(field))
    }

    pub(super) fn field(&self, field: u32) -> Option<&PlannedField> {
        self.fields.get(field as usize)
    }

    /// Returns the names of the fields that lead to `field`, with points between.
    pub(super) fn path(&self, field: u32) -> String {
        let mut names = Vec::new();
        let mut at = Some(field);
        while let Some(field) = at.and_then(|at| self.field(at)) {
            names.push(field.arrow_field.name().as_str());
            let is_parent = |other: &PlannedField| matches!(other.target, Target::Message { message, .. } if message == field.parent);
            at = self.fields.iter().position(is_parent).map(number);
        }
        names.reverse();
        names.join(".")
    }

    /// Adds a message and what is below it. A schema is at most a hundred messages deep.
    fn add_message(&mut self, fields: &[MessageField], rivals: &[MessageField]) -> u32 {
        let message = number(self.messages.len());
        self.messages.push(Message::default());
        let oneofs = self.num_oneofs;
        self.num_oneofs += fields
            .iter()
            .filter_map(|field| field.oneof)
            .max()
            .map_or(0, |last| last + 1);
        let mut planned = Message::default();
        for field in fields {
            let index = self.add_field(field, message, oneofs);
            planned.fields.push(index);
            planned.by_number.push((field.number, index));
        }
        for rival in rivals {
            let index = self.add_rival(rival, message, oneofs);
            planned.by_number.push((rival.number, index));
        }
        planned.by_number.sort_unstable();
        if let Some(place) = self.messages.get_mut(message as usize) {
            *place = planned;
        }
        message
    }

    /// Adds a field. The oneofs of its message are numbered from `oneofs` on.
    fn add_field(&mut self, field: &MessageField, parent: u32, oneofs: usize) -> u32 {
        let index = self.add_rival(field, parent, oneofs);
        let list = (field.repeated && !field.existence_only).then(|| next(&mut self.num_lists));
        let target = match field.kind {
            FieldKind::Message | FieldKind::Group if !field.existence_only => Target::Message {
                presence: (!field.repeated).then(|| next(&mut self.num_presences)),
                message: self.add_message(&field.children, &field.rivals),
            },
            _ => Target::Leaf(next(&mut self.num_leaves)),
        };
        if let Some(place) = self.fields.get_mut(index as usize) {
            (place.list, place.target) = (list, target);
        }
        index
    }

    /// Adds a field that has no column: it only takes part in its oneof.
    fn add_rival(&mut self, field: &MessageField, parent: u32, oneofs: usize) -> u32 {
        self.fields.push(PlannedField {
            kind: field.kind,
            parent,
            list: None,
            oneof: field.oneof.map(|oneof| number(oneofs + oneof)),
            packable: field.repeated && !matches!(field.kind.wire_type(), 2 | 3),
            existence_only: field.existence_only,
            target: Target::Leaf(NO_LEAF),
            arrow_field: field.arrow_field.clone(),
        });
        number(self.fields.len() - 1)
    }
}

fn next(count: &mut usize) -> u32 {
    let index = number(*count);
    *count += 1;
    index
}

/// A schema has at most 16,384 fields.
fn number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}
