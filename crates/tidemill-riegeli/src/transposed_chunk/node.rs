//! States compiled into nodes: what the run over the chunk does at each, with the bytes it writes laid out beforehand.

use super::{
    field_sink::Choice,
    header::{Kind, State},
};
use crate::varint::varint64_length;

/// What to do at a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// The projection decides at the first visit.
    Select,
    NoOp,
    /// Writes a tag, and after it `length` bytes of the buffer with `mask` over them. Tags without a value have length 0.
    Value,
    /// Writes a tag and a varint of more than eight bytes from the buffer.
    LongVarint,
    /// Writes a tag and `length` zero bytes.
    Zeros,
    /// Writes a tag, and a length and as many bytes from the buffer.
    Text,
    NonProto,
    StartOfMessage,
    StartOfSubmessage,
    EndOfSubmessage,
    /// A group's tag, where open groups matter to the projection.
    StartGroup,
    EndGroup,
    SkippedStart,
    SkippedEnd,
    /// Hands the number in `length` bytes of the buffer to the sink, as the value of the field in `tag`.
    VarintField,
    LongVarintField,
    FixedField,
    /// The number is in `mask`.
    InlineField,
    BytesField,
    /// The end of a submessage that is passed over, but for being there.
    ExistingField,
    OpenField,
    CloseField,
    /// Puts together the bytes of a submessage, and hands them to the sink.
    OpenContent,
    CloseContent,
}

/// How much of a field a projection keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Inclusion {
    Yes,
    No,
    /// Its tag, with a zero or empty value.
    ExistenceOnly,
}

/// A state, ready to run. Bytes are written back to front, so what is shorter than eight bytes is at the high end of a word,
/// and what is below is overwritten by the bytes that come before it in the record.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    /// The last `tag_length` bytes: a tag, and a value that belongs to the state.
    pub(super) tag: u64,
    /// The bits that say that more bytes of a varint follow. Buffers hold varints without them.
    pub(super) mask: u64,
    pub(super) next: u32,
    pub(super) buffer: u32,
    pub(super) action: Action,
    pub(super) length: u8,
    pub(super) tag_length: u8,
    pub(super) implicit: bool,
}

impl Node {
    /// Returns the node for a state of which all is kept.
    pub(super) fn whole(state: &State, no_buffer: u32) -> Self {
        match state.kind {
            // Without a projection nothing depends on open groups.
            Kind::StartGroup | Kind::EndGroup => Self::new(state).tagged(state.tag, None, no_buffer),
            _ => Self::included(state, Inclusion::Yes, no_buffer),
        }
    }

    /// Returns the node for a state that a projection has yet to decide on.
    pub(super) fn undecided(state: &State, no_buffer: u32) -> Self {
        match state.kind {
            Kind::NoOp | Kind::NonProto | Kind::StartOfMessage => Self::included(state, Inclusion::Yes, no_buffer),
            _ => Self {
                action: Action::Select,
                ..Self::new(state)
            },
        }
    }

    /// Returns the node for a state of which a projection keeps this much.
    pub(super) fn included(state: &State, inclusion: Inclusion, no_buffer: u32) -> Self {
        let node = Self::new(state);
        let plain = |action| Self { action, ..node };
        let tagged = |value| node.tagged(state.tag, value, no_buffer);
        let value = |length, mask| {
            Self {
                length,
                mask,
                action: Action::Value,
                ..tagged(None)
            }
            .with_buffer(state.buffer)
        };
        match (state.kind, inclusion) {
            (Kind::NoOp, _) => plain(Action::NoOp),
            (Kind::NonProto, _) => plain(Action::NonProto),
            (Kind::StartOfMessage, _) => plain(Action::StartOfMessage),
            (Kind::StartOfSubmessage, Inclusion::No) => plain(Action::SkippedStart),
            (Kind::StartOfSubmessage, _) => plain(Action::StartOfSubmessage),

            (Kind::EndOfSubmessage | Kind::EndGroup, Inclusion::No) => plain(Action::SkippedEnd),
            (Kind::StartGroup, Inclusion::No) => plain(Action::SkippedStart),
            (_, Inclusion::No) => plain(Action::NoOp),

            (Kind::EndOfSubmessage, _) => Self {
                action: Action::EndOfSubmessage,
                ..tagged(None)
            },
            (Kind::StartGroup, _) => Self {
                action: Action::StartGroup,
                ..tagged(None)
            },
            (Kind::EndGroup, _) => Self {
                action: Action::EndGroup,
                ..tagged(None)
            },

            (Kind::Varint(length @ ..=8), Inclusion::Yes) => value(length, varint_mask(length)),
            (Kind::Varint(length), Inclusion::Yes) => Self {
                action: Action::LongVarint,
                ..value(length, 0)
            },
            (Kind::InlineVarint(value), Inclusion::Yes) => tagged(Some(value)),
            (Kind::Fixed32, Inclusion::Yes) => value(4, 0),
            (Kind::Fixed64, Inclusion::Yes) => value(8, 0),
            (Kind::Text, Inclusion::Yes) => Self {
                action: Action::Text,
                ..value(0, 0)
            },

            (Kind::Fixed32, Inclusion::ExistenceOnly) => Self {
                action: Action::Zeros,
                ..value(4, 0)
            },
            (Kind::Fixed64, Inclusion::ExistenceOnly) => Self {
                action: Action::Zeros,
                ..value(8, 0)
            },
            // The number zero, or the length of a text without bytes.
            (Kind::Varint(_) | Kind::InlineVarint(_) | Kind::Text, Inclusion::ExistenceOnly) => tagged(Some(0)),
        }
    }

    /// Returns the node for a state of which a sink wants this.
    pub(super) fn chosen(state: &State, choice: Choice, no_buffer: u32) -> Self {
        let node = |action, field: u32, length| Self {
            action,
            tag: u64::from(field),
            length,
            ..Self::new(state)
        };
        match choice {
            Choice::Skip => Self::included(state, Inclusion::No, no_buffer),
            Choice::Existence(field) => match state.kind {
                Kind::EndOfSubmessage | Kind::EndGroup => node(Action::ExistingField, field, 0),
                _ => node(Action::InlineField, field, 0),
            },
            Choice::Content => Self::whole(state, no_buffer),
            Choice::Number(field) => match state.kind {
                Kind::Varint(length @ ..=8) => node(Action::VarintField, field, length),
                Kind::Varint(length) => node(Action::LongVarintField, field, length),
                Kind::InlineVarint(value) => Self {
                    mask: u64::from(value),
                    ..node(Action::InlineField, field, 0)
                },
                Kind::Fixed32 => node(Action::FixedField, field, 4),
                Kind::Fixed64 => node(Action::FixedField, field, 8),
                _ => Self::included(state, Inclusion::No, no_buffer),
            },
            Choice::Bytes(field) => node(Action::BytesField, field, 0),
            Choice::Open(field) => node(Action::OpenField, field, 0),
            Choice::Close(field) => node(Action::CloseField, field, 0),
            Choice::OpenContent(field) => node(Action::OpenContent, field, 0),
            Choice::CloseContent(field) => node(Action::CloseContent, field, 0),
        }
    }

    /// Returns whether the node takes bytes of its buffer.
    pub(super) fn reads(&self) -> bool {
        matches!(
            self.action,
            Action::Value
                | Action::LongVarint
                | Action::Text
                | Action::NonProto
                | Action::VarintField
                | Action::LongVarintField
                | Action::FixedField
                | Action::BytesField
        )
    }

    fn new(state: &State) -> Self {
        Self {
            tag: 0,
            mask: 0,
            next: state.next,
            buffer: state.buffer,
            action: Action::NoOp,
            length: 0,
            tag_length: 0,
            implicit: state.implicit,
        }
    }

    /// Makes the node write `tag` and the one byte of `value` after it.
    fn tagged(self, tag: u32, value: Option<u8>, no_buffer: u32) -> Self {
        let (tag, length) = aligned_varint(tag);
        let (tag, length) = match value {
            Some(value) => (tag >> 8 | u64::from(value) << 56, length + 1),
            None => (tag, length),
        };
        Self {
            tag,
            tag_length: length,
            action: Action::Value,
            buffer: no_buffer,
            ..self
        }
    }

    fn with_buffer(self, buffer: u32) -> Self {
        Self { buffer, ..self }
    }
}

/// Returns the varint of `value` in the high bytes of a word, and its length.
#[inline]
pub(super) fn aligned_varint(value: u32) -> (u64, u8) {
    if value < 0x80 {
        return (u64::from(value) << 56, 1);
    }
    // At most five.
    let length = varint64_length(u64::from(value)) as u8;
    let mut word = 0;
    for index in 0..length {
        let more = if index + 1 < length { 0x80 } else { 0 };
        word |= (u64::from(value) >> (7 * index) & 0x7f | more) << (8 * index);
    }
    (word << (64 - 8 * u32::from(length)), length)
}

/// Returns the bits that say that more bytes follow, for a varint in the high `length` bytes of a word.
fn varint_mask(length: u8) -> u64 {
    (1..length).fold(0, |mask, byte| mask | 0x80 << (56 - 8 * u32::from(byte)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::varint::write_varint64;

    #[test]
    fn varints_are_at_the_high_end() {
        for value in [
            0,
            1,
            0x7f,
            0x80,
            0x3fff,
            0x4000,
            0x1f_ffff,
            0x20_0000,
            0x1000_0000,
            u32::MAX,
        ] {
            let mut encoded = Vec::new();
            write_varint64(u64::from(value), &mut encoded);
            let (word, length) = aligned_varint(value);
            let bytes = word.to_le_bytes();
            assert_eq!(usize::from(length), encoded.len(), "{value}");
            assert_eq!(bytes[8 - encoded.len()..], encoded, "{value}");
            // All bytes but the last continue.
            let mask = varint_mask(length).to_le_bytes();
            let expected: Vec<u8> = encoded.iter().map(|byte| byte & 0x80).collect();
            assert_eq!(mask[8 - encoded.len()..], expected, "{value}");
            assert!(mask[..8 - encoded.len()].iter().all(|&byte| byte == 0), "{value}");
        }
    }
}
