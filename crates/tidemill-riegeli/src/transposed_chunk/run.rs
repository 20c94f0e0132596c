//! The run of the state machine over a chunk: from the last field of the last record to the first, written back to front.
//!
//! Every step reads bytes of a buffer that end where the step ends, and writes them to where the output begins so far. Loads
//! and stores are whole words: bytes in front of a short value are garbage until the step that comes before it in the record
//! overwrites them. So most steps are the same few instructions, whatever the size of their value.

use super::{
    buckets::Cursor,
    field_sink::FieldSink,
    jump::{Jump, To},
    node::{Action, Node, aligned_varint},
};
use crate::{error::Damage, varint::read_varint32};

/// Bytes in front of the records, for words that begin before them.
pub(super) const SLACK: usize = 32;

/// A submessage, or in a projection a group, that has not come to its start yet.
#[derive(Clone, Copy)]
struct Open {
    /// Where its content ends in the output.
    end: usize,
    /// The node of its end, which has its tag.
    node: u32,
}

/// How far the run has come.
#[derive(Default)]
pub(super) struct Run {
    /// The node to visit.
    pub(super) at: usize,
    /// How many transitions go straight to the next node before the next one is read.
    straight: u8,
    /// Whether a transition has to be read first, and added to the node.
    between: bool,
    /// How many transitions were read.
    pub(super) transition: usize,
    /// Where the output begins so far.
    begin: usize,
    /// Where it ends.
    end: usize,
    open: Vec<Open>,
    /// How many open submessages are left out by the projection.
    pub(super) skipped: usize,
    /// Where records begin in the output, the last one first.
    starts: Vec<usize>,
    num_records: usize,
    /// With so many records the run comes to rest.
    rest_at: usize,
    /// How many more steps may pass that write nothing.
    idle: usize,
    /// Where the submessage ends that is put together for a sink, and how many were open before.
    content: Option<(usize, usize)>,
}

/// Why the run paused.
pub(super) enum Pause {
    /// At the end of the transitions, or at rest.
    End,
    /// The node at [`Run::at`] must be decided on.
    Select,
    /// The sink wants no more.
    Stopped,
}

/// What a run reads.
pub(super) struct Input<'a> {
    pub(super) nodes: &'a [Node],
    /// Four for each node, or none.
    pub(super) jumps: &'a [Jump],
    pub(super) transitions: &'a [u8],
    /// The bytes of the buffers.
    pub(super) bytes: &'a [u8],
    pub(super) cursors: &'a mut [Cursor],
}

impl Run {
    /// Begins at node `first`, to write `num_records` records to the end of an output of `room` bytes.
    /// At most `idle` steps may write nothing.
    pub(super) fn start(&mut self, first: u32, num_records: usize, room: usize, idle: usize) {
        self.at = first as usize;
        self.straight = 0;
        self.between = false;
        self.transition = 0;
        self.begin = room;
        self.end = self.begin;
        self.open.clear();
        self.skipped = 0;
        self.starts.clear();
        self.num_records = num_records;
        self.rest_at = usize::MAX;
        self.idle = idle;
        self.content = None;
    }

    /// Lets the run come to rest when it has the record of number `index`; only at the end when that is the first or there is none.
    pub(super) fn rest_at(&mut self, index: u64) {
        let before = usize::try_from(index).ok().filter(|&index| index > 0);
        let count = before.and_then(|index| self.num_records.checked_sub(index));
        self.rest_at = count.filter(|&count| count > 0).unwrap_or(usize::MAX);
    }

    /// Returns the nodes of the ends of the open submessages, the outermost first.
    pub(super) fn open_nodes(&self) -> impl Iterator<Item = usize> {
        self.open.iter().map(|open| open.node as usize)
    }

    /// Continues in an output that became `growth` bytes longer: what was written has moved to its end.
    pub(super) fn shift(&mut self, growth: usize) {
        self.begin += growth;
        self.end += growth;
        self.starts.iter_mut().for_each(|start| *start += growth);
        self.open.iter_mut().for_each(|open| open.end += growth);
        if let Some((end, _)) = &mut self.content {
            *end += growth;
        }
    }

    /// Returns where the output begins so far.
    pub(super) fn begin(&self) -> usize {
        self.begin
    }

    /// Continues until the end of the transitions, or until a node has to be selected.
    pub(super) fn proceed<S: FieldSink>(
        &mut self,
        input: Input<'_>,
        out: &mut [u8],
        sink: &mut S,
    ) -> Result<Pause, Damage> {
        match input.jumps {
            [] => self.proceed_by::<false, S>(input, out, sink),
            _ => self.proceed_by::<true, S>(input, out, sink),
        }
    }

    fn proceed_by<const JUMPING: bool, S: FieldSink>(
        &mut self,
        input: Input<'_>,
        out: &mut [u8],
        sink: &mut S,
    ) -> Result<Pause, Damage> {
        let Input {
            nodes,
            jumps,
            mut transitions,
            bytes,
            cursors,
        } = input;
        let mut at = self.at;
        let mut begin = self.begin;
        let mut straight = self.straight;
        let mut transition = self.transition;
        if self.between {
            let Some(&byte) = transitions.get(transition) else {
                return Ok(Pause::End);
            };
            transition += 1;
            at += usize::from(byte >> 2);
            straight = byte & 3;
            self.between = false;
        }
        let pause = 'run: loop {
            if JUMPING {
                let mut number = at * 4 + usize::from(straight);
                loop {
                    let jump = jumps.get(number).ok_or(invalid("state"))?;
                    if jump.lowest < 0 && self.skipped < usize::from(jump.lowest.unsigned_abs()) {
                        return Err(invalid("submessages: one more starts than ends"));
                    }
                    self.skipped = self.skipped.saturating_add_signed(isize::from(jump.skipped));
                    match jump.to {
                        To::Node {
                            at: node,
                            straight: left,
                        } => {
                            at = node as usize;
                            straight = left;
                            break;
                        }
                        To::Transition { base } => {
                            let Some(&byte) = transitions.get(transition) else {
                                at = base as usize / 4;
                                break 'run Pause::End;
                            };
                            transition += 1;
                            number = base as usize + usize::from(byte);
                        }
                    }
                }
            }
            let node = nodes.get(at).ok_or(invalid("state"))?;
            match node.action {
                Action::Value => {
                    let length = usize::from(node.length);
                    let end = advance(cursors, node.buffer, length)?;
                    let value = load(bytes, end) | node.mask;
                    store(out, begin, value)?;
                    begin -= length;
                    store(out, begin, node.tag)?;
                    begin -= usize::from(node.tag_length);
                }
                Action::Text => {
                    let cursor = cursors.get_mut(node.buffer as usize).ok_or(invalid("buffer"))?;
                    let text = bytes.get(cursor.pos..cursor.end).ok_or(invalid("buffer"))?;
                    let (length, behind) = read_varint32(text).ok_or(invalid("string length"))?;
                    let length = (text.len() - behind.len()).saturating_add(length as usize);
                    if length > text.len() {
                        return Err(invalid("string: it is cut off"));
                    }
                    cursor.pos += length;
                    begin = copy(bytes, cursor.pos, out, begin, length)?;
                    store(out, begin, node.tag)?;
                    begin -= usize::from(node.tag_length);
                }
                Action::EndOfSubmessage => {
                    self.open(begin, at)?;
                }
                Action::StartOfSubmessage => {
                    let (length, tag, tag_length) = self.close(begin, nodes)?;
                    let (word, word_length) = aligned_varint(length);
                    store(out, begin, word)?;
                    begin -= usize::from(word_length);
                    store(out, begin, tag)?;
                    begin -= usize::from(tag_length);
                }
                Action::StartOfMessage => {
                    self.start_of_message(begin)?;
                    if self.starts.len() >= self.rest_at {
                        // What needs no transition comes with it.
                        transitions = transitions.get(..transition).unwrap_or_default();
                    }
                    if sink.end_record().is_break() {
                        break Pause::Stopped;
                    }
                }
                Action::NoOp => self.idle()?,
                Action::SkippedEnd => {
                    self.idle()?;
                    self.skipped += 1;
                }
                Action::SkippedStart => {
                    self.idle()?;
                    self.skipped = self
                        .skipped
                        .checked_sub(1)
                        .ok_or(invalid("submessages: one more starts than ends"))?;
                }
                Action::LongVarint => {
                    let length = usize::from(node.length);
                    let end = advance(cursors, node.buffer, length)?;
                    let mut value = [0; 10];
                    let value = value.get_mut(..length).ok_or(invalid("varint"))?;
                    value.copy_from_slice(bytes.get(end - length..end).ok_or(invalid("buffer"))?);
                    if let Some((_last, more)) = value.split_last_mut() {
                        more.iter_mut().for_each(|byte| *byte |= 0x80);
                    }
                    begin = prepend(value, out, begin)?;
                    store(out, begin, node.tag)?;
                    begin -= usize::from(node.tag_length);
                }
                Action::Zeros => {
                    store(out, begin, 0)?;
                    begin -= usize::from(node.length);
                    store(out, begin, node.tag)?;
                    begin -= usize::from(node.tag_length);
                }
                Action::EndGroup => {
                    self.open(begin, at)?;
                    store(out, begin, node.tag)?;
                    begin -= usize::from(node.tag_length);
                }
                Action::StartGroup => {
                    self.close(begin, nodes)?;
                    store(out, begin, node.tag)?;
                    begin -= usize::from(node.tag_length);
                }
                Action::NonProto => {
                    // The lengths are in the last buffer, before the empty one.
                    let lengths = cursors.len().wrapping_sub(2);
                    let cursor = cursors.get_mut(lengths).ok_or(invalid("record length"))?;
                    let left = bytes.get(cursor.pos..cursor.end).ok_or(invalid("record length"))?;
                    let (length, behind) = read_varint32(left).ok_or(invalid("record length"))?;
                    cursor.pos = cursor.end - behind.len();
                    let length = length as usize;
                    let end = advance(cursors, node.buffer, length)?;
                    begin = copy(bytes, end, out, begin, length)?;
                    self.start_of_message(begin)?;
                    if self.starts.len() >= self.rest_at {
                        transitions = transitions.get(..transition).unwrap_or_default();
                    }
                    let record = bytes.get(end - length..end).unwrap_or_default();
                    if sink.record(record).is_break() {
                        break Pause::Stopped;
                    }
                }
                Action::VarintField => {
                    self.idle()?;
                    let word = word(node, cursors, bytes)?;
                    if sink.number(field(node), pack_bytes_of_seven(word)).is_break() {
                        break Pause::Stopped;
                    }
                }
                Action::FixedField => {
                    self.idle()?;
                    let word = word(node, cursors, bytes)?;
                    if sink.number(field(node), word).is_break() {
                        break Pause::Stopped;
                    }
                }
                Action::InlineField => {
                    self.idle()?;
                    if sink.number(field(node), node.mask).is_break() {
                        break Pause::Stopped;
                    }
                }
                Action::LongVarintField => {
                    self.idle()?;
                    let length = usize::from(node.length);
                    let end = advance(cursors, node.buffer, length)?;
                    let value = bytes.get(end - length..end).unwrap_or_default();
                    let bits = value.iter().zip((0..).step_by(7));
                    let number = bits.fold(0, |number, (&byte, shift)| number | u64::from(byte & 0x7f) << shift);
                    if sink.number(field(node), number).is_break() {
                        break Pause::Stopped;
                    }
                }
                Action::BytesField => {
                    self.idle()?;
                    let cursor = cursors.get_mut(node.buffer as usize).ok_or(invalid("buffer"))?;
                    let text = bytes.get(cursor.pos..cursor.end).ok_or(invalid("buffer"))?;
                    let (length, behind) = read_varint32(text).ok_or(invalid("string length"))?;
                    let value = behind.get(..length as usize).ok_or(invalid("string: it is cut off"))?;
                    cursor.pos = cursor.end - (behind.len() - value.len());
                    if sink.bytes(field(node), value).is_break() {
                        break Pause::Stopped;
                    }
                }
                Action::ExistingField => {
                    self.idle()?;
                    self.skipped += 1;
                    if sink.number(field(node), 0).is_break() {
                        break Pause::Stopped;
                    }
                }
                Action::OpenField => {
                    self.idle()?;
                    if sink.open(field(node)).is_break() {
                        break Pause::Stopped;
                    }
                }
                Action::CloseField => {
                    if sink.close(field(node)).is_break() {
                        break Pause::Stopped;
                    }
                }
                Action::OpenContent => {
                    self.idle()?;
                    self.content = Some((begin, self.open.len()));
                    if sink.open(field(node)).is_break() {
                        break Pause::Stopped;
                    }
                }
                Action::CloseContent => {
                    let Some((end, open)) = self.content.take() else {
                        return Err(invalid("submessages: one more starts than ends"));
                    };
                    if self.open.len() != open {
                        return Err(invalid("submessages: some are not closed"));
                    }
                    let value = out.get(begin..end).unwrap_or_default();
                    if sink.bytes(field(node), value).is_break() || sink.close(field(node)).is_break() {
                        break Pause::Stopped;
                    }
                    begin = end;
                }
                Action::Select => break Pause::Select,
            }
            at = node.next as usize;
            if node.implicit {
                continue;
            }
            if straight > 0 {
                straight -= 1;
                continue;
            }
            let Some(&byte) = transitions.get(transition) else {
                break Pause::End;
            };
            transition += 1;
            at += usize::from(byte >> 2);
            straight = byte & 3;
        };
        self.between = matches!(pause, Pause::End);
        self.at = at;
        self.begin = begin;
        self.straight = straight;
        self.transition = transition;
        Ok(pause)
    }

    /// Returns how many submessages are open in the one that is put together for a sink.
    pub(super) fn content(&self) -> Option<usize> {
        self.content.map(|(_, open)| self.open.len().saturating_sub(open))
    }

    /// Ends a run whose values went to a sink.
    pub(super) fn finish_fields(&self) -> Result<(), Damage> {
        if !self.open.is_empty() || self.skipped > 0 || self.content.is_some() {
            return Err(invalid("submessages: some are not closed"));
        }
        self.check_num_records()
    }

    fn check_num_records(&self) -> Result<(), Damage> {
        match self.starts.len() == self.num_records {
            true => Ok(()),
            false => Err(Damage::Mismatch {
                what: "number of records",
                expected: self.num_records as u64,
                found: self.starts.len() as u64,
            }),
        }
    }

    /// Ends the run: replaces `limits` by where each record ends, and returns where the first one begins in the output.
    pub(super) fn finish(&mut self, limits: &mut Vec<usize>) -> Result<usize, Damage> {
        if !self.open.is_empty() || self.skipped > 0 {
            return Err(invalid("submessages: some are not closed"));
        }
        self.check_num_records()?;
        let first = self.records_so_far(limits)?;
        if first != self.begin {
            limits.clear();
            return Err(invalid("records: fields before the first"));
        }
        Ok(first)
    }

    /// Replaces `limits` by where each record ends, and returns where the first of them begins in the output that the run has come
    /// to. Those before are empty.
    pub(super) fn records_so_far(&self, limits: &mut Vec<usize>) -> Result<usize, Damage> {
        if self.begin < SLACK {
            return Err(too_large());
        }
        let first = self.starts.last().copied().unwrap_or(self.end);
        limits.clear();
        limits.resize(self.num_records - self.starts.len(), 0);
        limits.extend(self.starts.iter().rev().skip(1).map(|start| start - first));
        if !self.starts.is_empty() {
            limits.push(self.end - first);
        }
        Ok(first)
    }

    /// Returns how many records there are so far: the last ones of the chunk.
    pub(super) fn num_records_so_far(&self) -> usize {
        self.starts.len()
    }

    #[inline]
    fn open(&mut self, end: usize, at: usize) -> Result<(), Damage> {
        // Each takes bytes when it is closed, so there cannot be more than there is room.
        if self.open.len() >= end {
            return Err(too_large());
        }
        let node = u32::try_from(at).map_err(|_| invalid("state"))?;
        self.open.push(Open { end, node });
        Ok(())
    }

    /// Closes the innermost open submessage. Returns its length, its tag and the length of that.
    #[inline]
    fn close(&mut self, begin: usize, nodes: &[Node]) -> Result<(u32, u64, u8), Damage> {
        let open = self
            .open
            .pop()
            .ok_or(invalid("submessages: one more starts than ends"))?;
        let length = u32::try_from(open.end - begin).map_err(|_| invalid("submessage size"))?;
        let node = nodes.get(open.node as usize).ok_or(invalid("state"))?;
        Ok((length, node.tag, node.tag_length))
    }

    #[inline]
    fn start_of_message(&mut self, begin: usize) -> Result<(), Damage> {
        if !self.open.is_empty() {
            return Err(invalid("submessages: some are not closed"));
        }
        if self.starts.len() == self.num_records {
            return Err(invalid("number of records"));
        }
        self.idle()?;
        self.starts.push(begin);
        Ok(())
    }

    #[inline]
    fn idle(&mut self) -> Result<(), Damage> {
        match self.idle.checked_sub(1) {
            Some(idle) => {
                self.idle = idle;
                Ok(())
            }
            None => Err(invalid("states: too many that write nothing")),
        }
    }
}

/// Returns the sink's number of a field; nodes that have one were made of 32 bits.
#[inline(always)]
fn field(node: &Node) -> u32 {
    node.tag as u32
}

/// Takes the bytes of a number of a node, at the low end of a word.
#[inline(always)]
fn word(node: &Node, cursors: &mut [Cursor], bytes: &[u8]) -> Result<u64, Damage> {
    let end = advance(cursors, node.buffer, usize::from(node.length))?;
    // Nodes of numbers have a length from 1 to 8.
    Ok(load(bytes, end) >> (((8 - u32::from(node.length)) * 8) & 63))
}

/// Puts the low seven bits of each byte next to each other.
#[inline(always)]
fn pack_bytes_of_seven(word: u64) -> u64 {
    let pairs = (word & 0x007f_007f_007f_007f) | (word & 0x7f00_7f00_7f00_7f00) >> 1;
    let fours = (pairs & 0x0000_3fff_0000_3fff) | (pairs & 0x3fff_0000_3fff_0000) >> 2;
    (fours & 0x0fff_ffff) | (fours & 0x0fff_ffff_0000_0000) >> 4
}

/// Takes `length` bytes of a buffer and returns where they end.
#[inline(always)]
fn advance(cursors: &mut [Cursor], buffer: u32, length: usize) -> Result<usize, Damage> {
    let cursor = cursors.get_mut(buffer as usize).ok_or(invalid("buffer"))?;
    if length > cursor.end - cursor.pos {
        return Err(invalid("buffer: a value is cut off"));
    }
    cursor.pos += length;
    Ok(cursor.pos)
}

/// Returns the eight bytes before `end`, zeros where there are fewer.
#[inline(always)]
fn load(bytes: &[u8], end: usize) -> u64 {
    match bytes.get(..end).and_then(<[u8]>::last_chunk) {
        Some(word) => u64::from_le_bytes(*word),
        None => load_first(bytes, end),
    }
}

#[cold]
fn load_first(bytes: &[u8], end: usize) -> u64 {
    let bytes = bytes.get(..end).unwrap_or_default();
    bytes.iter().fold(0, |word, &byte| word >> 8 | u64::from(byte) << 56)
}

/// Writes a word that ends at `end`.
#[inline(always)]
fn store(out: &mut [u8], end: usize, word: u64) -> Result<(), Damage> {
    match out.get_mut(..end).and_then(<[u8]>::last_chunk_mut) {
        Some(bytes) => {
            *bytes = word.to_le_bytes();
            Ok(())
        }
        None => Err(too_large()),
    }
}

/// Copies the `length` bytes before `end` to before `begin`, and returns where they begin there.
#[inline(always)]
fn copy(bytes: &[u8], end: usize, out: &mut [u8], begin: usize, length: usize) -> Result<usize, Damage> {
    const SHORT: usize = 32;
    if length <= SHORT
        && let Some(from) = bytes.get(..end).and_then(<[u8]>::last_chunk::<SHORT>)
        && let Some(to) = out.get_mut(..begin).and_then(<[u8]>::last_chunk_mut::<SHORT>)
    {
        *to = *from;
        return Ok(begin - length);
    }
    let from = end.checked_sub(length).and_then(|start| bytes.get(start..end));
    prepend(from.ok_or(invalid("buffer"))?, out, begin)
}

fn prepend(bytes: &[u8], out: &mut [u8], begin: usize) -> Result<usize, Damage> {
    let start = begin.checked_sub(bytes.len()).ok_or_else(too_large)?;
    out.get_mut(start..begin).ok_or_else(too_large)?.copy_from_slice(bytes);
    Ok(start)
}

#[cold]
fn too_large() -> Damage {
    invalid("size of the decoded data: there are more")
}

fn invalid(what: &'static str) -> Damage {
    Damage::Invalid { what }
}
