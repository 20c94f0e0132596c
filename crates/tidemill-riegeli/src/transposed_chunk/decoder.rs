//! Decoding: the state machine runs from the last field of the chunk to the first, and the record is built from its end.

use super::{VARINT_INLINE, message_id, wire_type};
use crate::{
    codec::{CompressionType, Decompressor, Scratch, Size},
    error::Damage,
    varint::{read_varint32, read_varint64, write_varint64},
};

/// Decodes chunk `data` that hold one record of `size` bytes. No part may grow beyond `limit` bytes.
pub(crate) fn decode_record(data: &[u8], size: u64, limit: usize) -> Result<Vec<u8>, Damage> {
    let size = usize::try_from(size)
        .ok()
        .filter(|&size| size <= limit)
        .ok_or(Damage::TooLarge {
            what: "the decoded data",
            limit: limit as u64,
            found: size,
        })?;
    let (&compression, rest) = data.split_first().ok_or(invalid("compression type"))?;
    let mut sections = Sections {
        compression: CompressionType::from_byte(compression)?,
        decompressor: Decompressor::default(),
        limit,
    };
    let (header_size, rest) = read_varint64(rest).ok_or(invalid("header size of a transposed chunk"))?;
    let (header, mut rest) = split(rest, header_size, "header of a transposed chunk")?;
    let header = sections.decompress(header)?;
    let mut header = HeaderReader { left: &header };
    let buffers = read_buffers(&mut header, &mut rest, &mut sections)?;
    let machine = read_machine(&mut header, buffers.len())?;
    if !header.left.is_empty() {
        return Err(invalid("header of a transposed chunk: bytes are left over"));
    }
    let transitions = sections.decompress(rest)?;
    let mut run = Run::new(&machine, &buffers, size);
    run.decode(&transitions)?;
    Ok(run.finish())
}

struct Sections {
    compression: CompressionType,
    decompressor: Decompressor,
    limit: usize,
}

impl Sections {
    fn decompress(&mut self, section: &[u8]) -> Result<Vec<u8>, Damage> {
        if self.compression == CompressionType::None {
            return Ok(section.to_vec());
        }
        let mut out = Scratch::default();
        self.decompressor
            .decompress(self.compression, section, Size::AtMost(self.limit), &mut out)?;
        Ok(out.as_slice().to_vec())
    }
}

struct HeaderReader<'a> {
    left: &'a [u8],
}

impl HeaderReader<'_> {
    fn varint32(&mut self, what: &'static str) -> Result<u32, Damage> {
        let (value, left) = read_varint32(self.left).ok_or(invalid(what))?;
        self.left = left;
        Ok(value)
    }

    fn varint64(&mut self, what: &'static str) -> Result<u64, Damage> {
        let (value, left) = read_varint64(self.left).ok_or(invalid(what))?;
        self.left = left;
        Ok(value)
    }

    /// Reads how many items follow, each of which takes a byte or more.
    fn count(&mut self, what: &'static str) -> Result<usize, Damage> {
        let count = self.varint32(what)?;
        usize::try_from(count)
            .ok()
            .filter(|&count| count <= self.left.len())
            .ok_or(invalid(what))
    }
}

/// Cuts the buckets off the front of `rest` and divides their contents into buffers.
fn read_buffers(
    header: &mut HeaderReader<'_>,
    rest: &mut &[u8],
    sections: &mut Sections,
) -> Result<Vec<Vec<u8>>, Damage> {
    let num_buckets = header.count("number of buckets")?;
    let num_buffers = header.count("number of buffers")?;
    let mut buckets = Vec::with_capacity(num_buckets);
    for _ in 0..num_buckets {
        let (bucket, left) = split(rest, header.varint64("bucket size")?, "bucket")?;
        *rest = left;
        buckets.push(sections.decompress(bucket)?);
    }
    let mut buffers = Vec::with_capacity(num_buffers);
    let mut buckets = buckets.iter();
    let mut bucket: &[u8] = buckets.next().map_or(&[], Vec::as_slice);
    for _ in 0..num_buffers {
        let (buffer, left) = split(bucket, header.varint64("buffer size")?, "buffer")?;
        buffers.push(buffer.to_vec());
        bucket = left;
        while bucket.is_empty() {
            let Some(next) = buckets.next() else { break };
            bucket = next;
        }
    }
    if !bucket.is_empty() || buckets.next().is_some() {
        return Err(invalid("bucket: bytes are left over"));
    }
    Ok(buffers)
}

/// What a state does when the machine comes to it.
#[derive(Clone, Copy)]
enum Action {
    NoOp,
    NonProto { buffer: usize },
    StartOfMessage,
    StartOfSubmessage,
    EndOfSubmessage,
    Tag,
    InlineVarint(u8),
    Varint { buffer: usize, length: usize },
    Fixed { buffer: usize, length: usize },
    String { buffer: usize },
}

struct State {
    action: Action,
    tag: u32,
    next: usize,
    implicit: bool,
}

struct Machine {
    states: Vec<State>,
    first: usize,
}

fn read_machine(header: &mut HeaderReader<'_>, num_buffers: usize) -> Result<Machine, Damage> {
    let num_states = header.count("number of states")?;
    let mut tags = Vec::with_capacity(num_states);
    for _ in 0..num_states {
        tags.push(header.varint32("tag of a state")?);
    }
    let mut next = Vec::with_capacity(num_states);
    for _ in 0..num_states {
        let target = usize::try_from(header.varint32("next state")?).map_err(|_| invalid("next state"))?;
        let implicit = target >= num_states;
        let target = if implicit { target - num_states } else { target };
        if target >= num_states {
            return Err(invalid("next state"));
        }
        next.push((target, implicit));
    }
    let num_subtypes = tags
        .iter()
        .filter(|&&tag| tag >= 8 && tag & 7 == wire_type::VARINT)
        .count();
    let (subtypes, left) = header.left.split_at_checked(num_subtypes).ok_or(invalid("subtypes"))?;
    header.left = left;
    let mut subtypes = subtypes.iter();
    let mut states = Vec::with_capacity(num_states);
    for (&tag, (next, implicit)) in tags.iter().zip(next) {
        let (action, tag) = read_action(tag, &mut subtypes, header, num_buffers)?;
        states.push(State {
            action,
            tag,
            next,
            implicit,
        });
    }
    let first = usize::try_from(header.varint32("first state")?).map_err(|_| invalid("first state"))?;
    if first >= num_states {
        return Err(invalid("first state"));
    }
    check_implicit_loops(&states)?;
    Ok(Machine { states, first })
}

/// Returns what the state with `tag` does, and the tag that it writes.
fn read_action(
    tag: u32,
    subtypes: &mut std::slice::Iter<'_, u8>,
    header: &mut HeaderReader<'_>,
    num_buffers: usize,
) -> Result<(Action, u32), Damage> {
    let mut buffer = || -> Result<usize, Damage> {
        let buffer = header.varint32("buffer of a state")?;
        usize::try_from(buffer)
            .ok()
            .filter(|&buffer| buffer < num_buffers)
            .ok_or(invalid("buffer of a state"))
    };
    let action = match (tag, tag & 7) {
        (message_id::NO_OP, _) => Action::NoOp,
        (message_id::NON_PROTO, _) => Action::NonProto { buffer: buffer()? },
        (message_id::START_OF_SUBMESSAGE, _) => Action::StartOfSubmessage,
        (message_id::START_OF_MESSAGE, _) => Action::StartOfMessage,
        (..8, _) => return Err(invalid("tag of a state")),
        (_, wire_type::VARINT) => {
            let &subtype = subtypes.next().ok_or(invalid("subtypes"))?;
            match subtype {
                ..VARINT_INLINE => Action::Varint {
                    buffer: buffer()?,
                    length: usize::from(subtype) + 1,
                },
                _ if subtype - VARINT_INLINE < 0x80 => Action::InlineVarint(subtype - VARINT_INLINE),
                _ => return Err(invalid("subtypes")),
            }
        }
        (_, wire_type::FIXED32) => Action::Fixed {
            buffer: buffer()?,
            length: 4,
        },
        (_, wire_type::FIXED64) => Action::Fixed {
            buffer: buffer()?,
            length: 8,
        },
        (_, wire_type::LENGTH_DELIMITED) => Action::String { buffer: buffer()? },
        (_, wire_type::START_GROUP | wire_type::END_GROUP) => Action::Tag,
        (_, wire_type::END_OF_SUBMESSAGE) => {
            let tag = tag - wire_type::END_OF_SUBMESSAGE + wire_type::LENGTH_DELIMITED;
            return Ok((Action::EndOfSubmessage, tag));
        }
        _ => return Err(invalid("tag of a state")),
    };
    Ok((action, tag))
}

/// Implicit transitions take no input, so a loop of them would not end.
fn check_implicit_loops(states: &[State]) -> Result<(), Damage> {
    // 0 is not visited, otherwise the number of the walk that came by.
    let mut visited_by = vec![0_usize; states.len()];
    for start in 0..states.len() {
        let walk = start + 1;
        let mut at = start;
        while visited_by[at] == 0 {
            visited_by[at] = walk;
            if !states[at].implicit {
                break;
            }
            at = states[at].next;
            if visited_by[at] == walk {
                return Err(invalid("states: an implicit loop"));
            }
        }
    }
    Ok(())
}

struct Run<'a> {
    machine: &'a Machine,
    /// What is left of each buffer. The last one holds the lengths of records that are not messages.
    buffers: Vec<&'a [u8]>,
    /// The record, with its last byte first.
    reversed: Vec<u8>,
    size: usize,
    /// For each open submessage: bytes behind it, and its tag.
    open: Vec<(usize, u32)>,
    started: bool,
}

impl<'a> Run<'a> {
    fn new(machine: &'a Machine, buffers: &'a [Vec<u8>], size: usize) -> Self {
        Self {
            machine,
            buffers: buffers.iter().map(Vec::as_slice).collect(),
            reversed: Vec::new(),
            size,
            open: Vec::new(),
            started: false,
        }
    }

    fn decode(&mut self, transitions: &[u8]) -> Result<(), Damage> {
        let mut transitions = transitions.iter();
        let mut at = self.machine.first;
        let state = |at: usize| self.machine.states.get(at).ok_or(invalid("state"));
        // How many transitions follow that go straight to the next state.
        let mut straight = u32::from(state(at)?.implicit);
        loop {
            let now = state(at)?;
            // The borrow of `self.machine` is independent of the run's own state.
            let (action, tag, next) = (now.action, now.tag, now.next);
            Self::act(
                action,
                tag,
                &mut self.buffers,
                &mut Output {
                    reversed: &mut self.reversed,
                    size: self.size,
                },
                &mut self.open,
                &mut self.started,
            )?;
            at = next;
            if straight > 0 {
                if !state(at)?.implicit {
                    straight -= 1;
                }
                continue;
            }
            let Some(&byte) = transitions.next() else {
                break;
            };
            at += usize::from(byte >> 2);
            straight = u32::from(byte & 3) + u32::from(state(at)?.implicit);
        }
        if !self.open.is_empty() {
            return Err(invalid("submessages: some are not closed"));
        }
        if !self.started || self.reversed.len() != self.size {
            return Err(Damage::Mismatch {
                what: "size of the decoded record",
                expected: self.size as u64,
                found: self.reversed.len() as u64,
            });
        }
        Ok(())
    }

    fn act(
        action: Action,
        tag: u32,
        buffers: &mut [&[u8]],
        out: &mut Output<'_>,
        open: &mut Vec<(usize, u32)>,
        started: &mut bool,
    ) -> Result<(), Damage> {
        let mut start = |open: &[(usize, u32)]| {
            if !open.is_empty() {
                return Err(invalid("submessages: some are not closed"));
            }
            if *started {
                return Err(invalid("number of records"));
            }
            *started = true;
            Ok(())
        };
        match action {
            Action::NoOp => {}
            Action::StartOfMessage => start(open)?,
            Action::NonProto { buffer } => {
                let lengths = buffers.len().checked_sub(1).ok_or(invalid("record length"))?;
                let (length, left) = read_varint32(buffers[lengths]).ok_or(invalid("record length"))?;
                buffers[lengths] = left;
                out.prepend(take(buffers, buffer, length as usize)?)?;
                start(open)?;
            }
            Action::StartOfSubmessage => {
                let (end, tag) = open.pop().ok_or(invalid("submessages: one more starts than ends"))?;
                let length = out.reversed.len() - end;
                if u32::try_from(length).is_err() {
                    return Err(invalid("submessage size"));
                }
                out.prepend_varint(length as u64)?;
                out.prepend_varint(u64::from(tag))?;
            }
            Action::EndOfSubmessage => open.push((out.reversed.len(), tag)),
            Action::Tag => out.prepend_varint(u64::from(tag))?,
            Action::InlineVarint(value) => {
                out.prepend(&[value])?;
                out.prepend_varint(u64::from(tag))?;
            }
            Action::Varint { buffer, length } => {
                // The buffer holds the seven bits of each byte; all but the last get the bit that says that more follow.
                let mut bytes = [0x80; crate::varint::MAX_VARINT64];
                let stored = take(buffers, buffer, length)?;
                for (byte, stored) in bytes.iter_mut().zip(stored) {
                    *byte |= stored;
                }
                if let Some(last) = stored.last() {
                    bytes[length - 1] = *last;
                }
                out.prepend(&bytes[..length])?;
                out.prepend_varint(u64::from(tag))?;
            }
            Action::Fixed { buffer, length } => {
                out.prepend(take(buffers, buffer, length)?)?;
                out.prepend_varint(u64::from(tag))?;
            }
            Action::String { buffer } => {
                let left = buffers[buffer];
                let (length, behind) = read_varint32(left).ok_or(invalid("string length"))?;
                let stored = (left.len() - behind.len()).saturating_add(length as usize);
                out.prepend(take(buffers, buffer, stored)?)?;
                out.prepend_varint(u64::from(tag))?;
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Vec<u8> {
        self.reversed.reverse();
        self.reversed
    }
}

struct Output<'a> {
    reversed: &'a mut Vec<u8>,
    size: usize,
}

impl Output<'_> {
    fn prepend(&mut self, bytes: &[u8]) -> Result<(), Damage> {
        if bytes.len() > self.size - self.reversed.len() {
            return Err(Damage::Mismatch {
                what: "size of the decoded record",
                expected: self.size as u64,
                found: (self.reversed.len() as u64).saturating_add(bytes.len() as u64),
            });
        }
        self.reversed.extend(bytes.iter().rev());
        Ok(())
    }

    fn prepend_varint(&mut self, value: u64) -> Result<(), Damage> {
        let mut bytes = Vec::with_capacity(crate::varint::MAX_VARINT64);
        write_varint64(value, &mut bytes);
        self.prepend(&bytes)
    }
}

fn take<'a>(buffers: &mut [&'a [u8]], buffer: usize, length: usize) -> Result<&'a [u8], Damage> {
    let left = buffers.get_mut(buffer).ok_or(invalid("buffer"))?;
    let (taken, rest) = left
        .split_at_checked(length)
        .ok_or(invalid("buffer: a value is cut off"))?;
    *left = rest;
    Ok(taken)
}

fn split<'a>(bytes: &'a [u8], size: u64, what: &'static str) -> Result<(&'a [u8], &'a [u8]), Damage> {
    usize::try_from(size)
        .ok()
        .and_then(|size| bytes.split_at_checked(size))
        .ok_or(invalid(what))
}

fn invalid(what: &'static str) -> Damage {
    Damage::Invalid { what }
}
