//! Values instead of records: what a run hands over when messages are not put together.

use std::ops::ControlFlow;

use super::header::Kind;

/// Takes the values of a chunk in the order in which the state machine gives them: those of the last record first, and in it
/// the last field first. [`ControlFlow::Break`] ends the run.
pub(crate) trait FieldSink {
    /// Decides on a state, when it is first visited, by what is open then. `content` says whether the bytes of a field are
    /// being put together, with this many submessages open in them.
    fn choose(&self, kind: Kind, tag: u32, content: Option<usize>) -> Choice;

    /// Takes a number: the value of a varint, or the bits of four or eight bytes.
    fn number(&mut self, field: u32, number: u64) -> ControlFlow<()>;

    /// Takes a length-delimited value.
    fn bytes(&mut self, field: u32, bytes: &[u8]) -> ControlFlow<()>;

    /// Begins a message at its end: its fields follow.
    fn open(&mut self, field: u32) -> ControlFlow<()>;

    /// Ends a message at its start.
    fn close(&mut self, field: u32) -> ControlFlow<()>;

    /// Ends a record at its start.
    fn end_record(&mut self) -> ControlFlow<()>;

    /// Takes a record that is not a message in the shortest form.
    fn record(&mut self, record: &[u8]) -> ControlFlow<()>;
}

/// What a sink wants of a state. The number of a field is the sink's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    /// Nothing: the value is passed over.
    Skip,
    /// That the field is there, as any number, but not its value.
    Existence(u32),
    /// The number that is the value of the field.
    Number(u32),
    /// The bytes that are the value of the field.
    Bytes(u32),
    /// To open the message that is the value of the field.
    Open(u32),
    Close(u32),
    /// The bytes of a submessage, put together, as the value of the field.
    OpenContent(u32),
    CloseContent(u32),
    /// To put the state's bytes together with others.
    Content,
}

/// Takes nothing: records are put together.
pub(super) struct Records;

impl FieldSink for Records {
    fn choose(&self, _kind: Kind, _tag: u32, _content: Option<usize>) -> Choice {
        Choice::Content
    }

    fn number(&mut self, _field: u32, _number: u64) -> ControlFlow<()> {
        ControlFlow::Break(())
    }

    fn bytes(&mut self, _field: u32, _bytes: &[u8]) -> ControlFlow<()> {
        ControlFlow::Break(())
    }

    fn open(&mut self, _field: u32) -> ControlFlow<()> {
        ControlFlow::Break(())
    }

    fn close(&mut self, _field: u32) -> ControlFlow<()> {
        ControlFlow::Break(())
    }

    fn end_record(&mut self) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn record(&mut self, _record: &[u8]) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}
