//! The header of a transposed chunk: sizes of buckets and buffers, then the state machine.

use super::{VARINT_INLINE, message_id, wire_type};
use crate::{
    error::Damage,
    varint::{read_varint32, read_varint64},
};

/// What is left of a header.
pub(super) struct HeaderReader<'a> {
    left: &'a [u8],
}

impl<'a> HeaderReader<'a> {
    pub(super) fn new(header: &'a [u8]) -> Self {
        Self { left: header }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.left.is_empty()
    }

    fn varint32(&mut self, what: &'static str) -> Result<u32, Damage> {
        let (value, left) = read_varint32(self.left).ok_or(Damage::Invalid { what })?;
        self.left = left;
        Ok(value)
    }

    /// Reads the length of something in memory.
    pub(super) fn length(&mut self, what: &'static str) -> Result<usize, Damage> {
        let (value, left) = read_varint64(self.left).ok_or(Damage::Invalid { what })?;
        self.left = left;
        usize::try_from(value).map_err(|_| Damage::Invalid { what })
    }

    /// Reads how many items follow, each of which takes a byte or more.
    pub(super) fn count(&mut self, what: &'static str) -> Result<usize, Damage> {
        let count = self.varint32(what)?;
        usize::try_from(count)
            .ok()
            .filter(|&count| count <= self.left.len())
            .ok_or(Damage::Invalid { what })
    }

    fn bytes(&mut self, length: usize, what: &'static str) -> Result<&'a [u8], Damage> {
        let (bytes, left) = self.left.split_at_checked(length).ok_or(Damage::Invalid { what })?;
        self.left = left;
        Ok(bytes)
    }
}

/// What a state stands for, as the format stores it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    NoOp,
    NonProto,
    StartOfMessage,
    StartOfSubmessage,
    /// The end of a length-delimited submessage.
    EndOfSubmessage,
    StartGroup,
    EndGroup,
    /// A varint of this many bytes.
    Varint(u8),
    /// A varint of one byte, which is the value.
    InlineVarint(u8),
    Fixed32,
    Fixed64,
    /// Bytes with their length.
    Text,
}

/// A state of the state machine.
#[derive(Clone, Copy, Debug)]
pub(super) struct State {
    pub(super) kind: Kind,
    /// The tag of the field, with a wire type of protobuf; 0 for states that are not of a field.
    pub(super) tag: u32,
    /// The buffer of the values; the number of buffers where there is none.
    pub(super) buffer: u32,
    pub(super) next: u32,
    /// Whether the machine continues to `next` without a look at the transitions.
    pub(super) implicit: bool,
}

/// Reads the state machine: fills `states` and returns the number of the first.
pub(super) fn read_states(
    header: &mut HeaderReader<'_>,
    num_buffers: usize,
    states: &mut Vec<State>,
) -> Result<u32, Damage> {
    states.clear();
    let num_states = header.count("number of states")?;
    // A count is read from 32 bits.
    let count = u32::try_from(num_states).unwrap_or(u32::MAX);
    let no_buffer = u32::try_from(num_buffers).unwrap_or(u32::MAX);
    let mut num_subtypes = 0;
    for _ in 0..num_states {
        let tag = header.varint32("tag of a state")?;
        let kind = kind_of_tag(tag)?;
        num_subtypes += usize::from(matches!(kind, Kind::Varint(_)));
        states.push(State {
            kind,
            tag: match kind {
                Kind::EndOfSubmessage => tag - wire_type::END_OF_SUBMESSAGE + wire_type::LENGTH_DELIMITED,
                _ if tag < 8 => 0,
                _ => tag,
            },
            buffer: no_buffer,
            next: 0,
            implicit: false,
        });
    }
    for state in states.iter_mut() {
        let next = header.varint32("next state")?;
        (state.next, state.implicit) = match next.checked_sub(count) {
            Some(next) => (next, true),
            None => (next, false),
        };
        if state.next >= count {
            return Err(Damage::Invalid { what: "next state" });
        }
    }
    let mut subtypes = header.bytes(num_subtypes, "subtypes")?.iter();
    for state in states.iter_mut() {
        if let Kind::Varint(_) = state.kind {
            state.kind = match subtypes.next() {
                Some(&subtype @ ..VARINT_INLINE) => Kind::Varint(subtype + 1),
                Some(&subtype) if subtype - VARINT_INLINE < 0x80 => Kind::InlineVarint(subtype - VARINT_INLINE),
                _ => return Err(Damage::Invalid { what: "subtypes" }),
            };
        }
        if matches!(
            state.kind,
            Kind::NonProto | Kind::Varint(_) | Kind::Fixed32 | Kind::Fixed64 | Kind::Text
        ) {
            state.buffer = header.varint32("buffer of a state")?;
            if state.buffer >= no_buffer {
                return Err(Damage::Invalid {
                    what: "buffer of a state",
                });
            }
        }
    }
    let first = header.varint32("first state")?;
    match first < count {
        true => Ok(first),
        false => Err(Damage::Invalid { what: "first state" }),
    }
}

/// The chains of implicit transitions, which take no input.
#[derive(Default)]
pub(super) struct ImplicitChains {
    /// How many states each is followed by, itself counted; 0 is not known yet.
    lengths: Vec<usize>,
    chain: Vec<usize>,
}

impl ImplicitChains {
    /// Checks that the chains do not go in a loop, and returns the longest.
    pub(super) fn longest(&mut self, states: &[State]) -> Result<usize, Damage> {
        let Self { lengths, chain } = self;
        lengths.clear();
        lengths.resize(states.len(), 0);
        chain.clear();
        let mut longest = 0;
        for start in 0..states.len() {
            let mut at = start;
            let mut length = loop {
                match (states.get(at), lengths.get_mut(at)) {
                    (Some(state), Some(length)) if *length == 0 => {
                        // Met again before its length is known, it is in a loop.
                        *length = usize::MAX;
                        chain.push(at);
                        if !state.implicit {
                            break 0;
                        }
                        at = state.next as usize;
                    }
                    (_, Some(&mut usize::MAX)) => {
                        return Err(Damage::Invalid {
                            what: "states: an implicit loop",
                        });
                    }
                    (_, known) => break known.map_or(0, |length| *length),
                }
            };
            while let Some(state) = chain.pop() {
                length += 1;
                lengths[state] = length;
            }
            longest = longest.max(length);
        }
        Ok(longest)
    }
}

fn kind_of_tag(tag: u32) -> Result<Kind, Damage> {
    Ok(match (tag, tag & 7) {
        (message_id::NO_OP, _) => Kind::NoOp,
        (message_id::NON_PROTO, _) => Kind::NonProto,
        (message_id::START_OF_SUBMESSAGE, _) => Kind::StartOfSubmessage,
        (message_id::START_OF_MESSAGE, _) => Kind::StartOfMessage,
        (8.., wire_type::VARINT) => Kind::Varint(0),
        (8.., wire_type::FIXED32) => Kind::Fixed32,
        (8.., wire_type::FIXED64) => Kind::Fixed64,
        (8.., wire_type::LENGTH_DELIMITED) => Kind::Text,
        (8.., wire_type::START_GROUP) => Kind::StartGroup,
        (8.., wire_type::END_GROUP) => Kind::EndGroup,
        (8.., wire_type::END_OF_SUBMESSAGE) => Kind::EndOfSubmessage,
        _ => return Err(Damage::Invalid { what: "tag of a state" }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn states(next: &[(u32, bool)]) -> Vec<State> {
        next.iter()
            .map(|&(next, implicit)| State {
                kind: Kind::NoOp,
                tag: 0,
                buffer: 0,
                next,
                implicit,
            })
            .collect()
    }

    #[test]
    fn implicit_loops_are_found_and_chains_measured() {
        let check = |next: &[(u32, bool)], expected: Option<usize>| {
            assert_eq!(
                ImplicitChains::default().longest(&states(next)).ok(),
                expected,
                "{next:?}"
            );
        };
        check(&[], Some(0));
        check(&[(0, false)], Some(1));
        check(&[(0, true)], None);
        check(&[(1, true), (2, true), (0, false)], Some(3));
        check(&[(1, true), (2, true), (0, true)], None);
        check(&[(2, true), (2, true), (3, true), (3, false)], Some(3));
        check(&[(1, false), (2, true), (1, true)], None);
    }
}
