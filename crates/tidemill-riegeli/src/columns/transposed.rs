//! From the state machine of a transposed chunk into columns.

use std::ops::ControlFlow;

use super::{
    fill::{Columns, NOWHERE, Problem},
    plan::ROOT,
};
use crate::{
    FieldKind,
    transposed_chunk::{Choice, FieldSink, Kind},
};

/// Puts the values of a chunk into columns.
pub(super) struct ColumnSink<'a> {
    columns: &'a mut Columns,
    /// The open message, which the fields that come are in.
    open: Open,
    /// Those around it.
    around: Vec<Open>,
    /// The slot of the record, counted from the last one.
    row: usize,
    problem: Option<Stop>,
}

#[derive(Clone, Copy)]
struct Open {
    /// The field that it is the value of.
    field: Option<u32>,
    /// The message type, `None` when it is put together as bytes.
    message: Option<u32>,
    slot: usize,
}

/// Why the values were not taken.
pub(super) enum Stop {
    /// The record in this row is not one of the schema.
    Row(usize, Problem),
    /// States do not go together: what is wrong.
    States(&'static str),
}

impl<'a> ColumnSink<'a> {
    pub(super) fn new(columns: &'a mut Columns) -> Self {
        Self {
            columns,
            open: root(0),
            around: Vec::new(),
            row: 0,
            problem: None,
        }
    }

    /// Returns why the sink broke off.
    pub(super) fn stopped(self) -> Option<Stop> {
        self.problem
    }

    /// Returns whether `field` is one of the open message.
    #[inline(always)]
    fn is_open(&self, field: u32) -> bool {
        let field = self.columns.plan.field(field);
        field.is_some_and(|field| self.open.message == Some(field.parent))
    }

    fn took(&mut self, result: Result<(), Problem>) -> ControlFlow<()> {
        match result {
            Ok(()) => ControlFlow::Continue(()),
            Err(problem) => self.stop(Stop::Row(self.row, problem)),
        }
    }

    #[cold]
    fn stop(&mut self, problem: Stop) -> ControlFlow<()> {
        self.problem = Some(problem);
        ControlFlow::Break(())
    }

    #[cold]
    fn mixed_up(&mut self) -> ControlFlow<()> {
        self.stop(Stop::States("states: one is used in two messages"))
    }
}

impl FieldSink for ColumnSink<'_> {
    fn choose(&self, kind: Kind, tag: u32, content: Option<usize>) -> Choice {
        let open = self.open;
        match (kind, open.field, content) {
            (Kind::StartOfSubmessage, Some(field), Some(0)) => return Choice::CloseContent(field),
            (_, _, Some(_)) => return Choice::Content,
            (Kind::StartOfSubmessage | Kind::StartGroup, Some(field), None) => return Choice::Close(field),
            _ => {}
        }
        let Some((field, planned)) = open
            .message
            .and_then(|message| self.columns.plan.find(message, tag >> 3))
            .and_then(|field| Some((field, self.columns.plan.field(field)?)))
        else {
            return Choice::Skip;
        };
        let packable = planned.packable;
        let choice = match (kind, planned.kind) {
            (Kind::Varint(_) | Kind::InlineVarint(_), expected) if expected.wire_type() == 0 => Choice::Number(field),
            (Kind::Fixed64, expected) if expected.wire_type() == 1 => Choice::Number(field),
            (Kind::Fixed32, expected) if expected.wire_type() == 5 => Choice::Number(field),
            (Kind::EndOfSubmessage, FieldKind::Message) | (Kind::EndGroup, FieldKind::Group) => Choice::Open(field),
            // A message that does not come back bit by bit is stored as bytes, and bytes that could be a message as one.
            (Kind::Text, expected) if expected.wire_type() == 2 || packable => Choice::Bytes(field),
            (Kind::EndOfSubmessage, expected) if expected.wire_type() == 2 || packable => Choice::OpenContent(field),
            _ => Choice::Skip,
        };
        match choice {
            Choice::Skip => Choice::Skip,
            _ if planned.existence_only => Choice::Existence(field),
            choice => choice,
        }
    }

    #[inline]
    fn number(&mut self, field: u32, number: u64) -> ControlFlow<()> {
        if !self.is_open(field) {
            return self.mixed_up();
        }
        let result = self.columns.put_number(field, self.open.slot, number);
        self.took(result)
    }

    #[inline]
    fn bytes(&mut self, field: u32, bytes: &[u8]) -> ControlFlow<()> {
        if self.is_open(field) {
            let result = self.columns.put_bytes(field, self.open.slot, bytes);
            return self.took(result);
        }
        // Bytes that were put together are the value of a field of the message around them.
        match self.around.last().map(|around| around.slot) {
            Some(slot) if self.open.message.is_none() && self.open.field == Some(field) => {
                let result = self.columns.put_bytes(field, slot, bytes);
                self.took(result)
            }
            _ => self.mixed_up(),
        }
    }

    fn open(&mut self, field: u32) -> ControlFlow<()> {
        if !self.is_open(field) {
            return self.mixed_up();
        }
        let message = self.columns.message(field);
        let slot = match message {
            None => Ok(NOWHERE),
            Some(_) => self.columns.open(field, self.open.slot),
        };
        match slot {
            Ok(slot) => {
                self.around.push(self.open);
                self.open = Open {
                    field: Some(field),
                    message,
                    slot,
                };
                ControlFlow::Continue(())
            }
            Err(problem) => self.stop(Stop::Row(self.row, problem)),
        }
    }

    fn close(&mut self, field: u32) -> ControlFlow<()> {
        match self.around.pop() {
            Some(around) if self.open.field == Some(field) => {
                self.open = around;
                ControlFlow::Continue(())
            }
            _ => self.mixed_up(),
        }
    }

    #[inline]
    fn end_record(&mut self) -> ControlFlow<()> {
        if !self.around.is_empty() {
            return self.stop(Stop::States("submessages: some are not closed"));
        }
        self.row += 1;
        self.open = root(self.row);
        ControlFlow::Continue(())
    }

    fn record(&mut self, record: &[u8]) -> ControlFlow<()> {
        let result = self.columns.put_record(self.row, record);
        match self.took(result) {
            ControlFlow::Continue(()) => self.end_record(),
            stop => stop,
        }
    }
}

fn root(slot: usize) -> Open {
    Open {
        field: None,
        message: Some(ROOT),
        slot,
    }
}
