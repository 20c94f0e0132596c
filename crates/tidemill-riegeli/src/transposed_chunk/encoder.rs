//! Encoding: records are taken apart into buffers and a sequence of tags, which the state machine then replays.
//!
//! Source of the layout and of every choice that decides bytes: google/riegeli,
//! `riegeli/chunk_encoding/transpose_encoder.{h,cc}`.
//!
//! A record is walked once and its values go straight to the end where the chunk has them, which is the beginning: buffers
//! grow backwards. Everything is kept from chunk to chunk, the tree of fields included.

use super::{
    NONE, VARINT_INLINE,
    message_fields::{Field, FieldReader},
    message_id,
    message_nodes::{self, MAX_SUBTYPES, MessageNodes, NodeIndex, Place},
    state_machine::StateMachine,
    tag_sequence::TagSequence,
    value_buffer::ValueBuffer,
    wire_type,
};
use crate::{
    codec::{Compression, Compressor},
    error::Damage,
    varint::{varint64_bytes, varint64_length, write_varint64},
};

/// Varints up to this value are part of their state.
const MAX_VARINT_INLINE: u8 = 3;
/// Submessages nested deeper are stored as strings.
const MAX_DEPTH: usize = 100;

/// To take values apart that have so many bytes on average, or fewer, takes several times as long as to hand them to a thread.
const DEAR_VALUE: u64 = 24;

const TRIVIAL: u8 = 0;
const STRING: u8 = 0;
const START_OF_SUBMESSAGE: u8 = 1;
const END_OF_SUBMESSAGE: u8 = 2;

/// What buffers are sorted by: their kind, then the largest first, then the field.
type BufferOrder = (Kind, usize, (u32, u32));

/// Collects the records of a transposed chunk and encodes them.
pub(crate) struct TransposedEncoder {
    compressor: Compressor,
    bucket_size: u64,
    num_records: u64,
    decoded_data_size: u64,

    reader: FieldReader,
    /// Fields of the open messages, the innermost last.
    fields: Vec<Field>,
    submessages: Vec<OpenSubmessage>,
    groups: Vec<NodeIndex>,
    joined: Vec<u8>,

    nodes: MessageNodes,
    tags: Vec<Tag>,
    sequence: TagSequence,
    /// The first of them hold values, the others are kept for later chunks.
    buffers: Vec<Buffer>,
    buffers_used: usize,
    non_proto_lengths: ValueBuffer,

    machine: StateMachine,
    sections: Sections,
}

/// A field in one of the forms that a state writes.
#[derive(Clone, Copy)]
struct Tag {
    node: NodeIndex,
    subtype: u8,
}

struct OpenSubmessage {
    node: NodeIndex,
    parent: NodeIndex,
    end_tag: u32,
    /// The fields of the message around it that are still to come.
    next: usize,
    end: usize,
}

/// Kinds of buffers, in the order in which they are stored.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Varint,
    Fixed32,
    Fixed64,
    String,
    NonProto,
}

struct Buffer {
    kind: Kind,
    node: NodeIndex,
    values: ValueBuffer,
    /// Its number among the buffers of the chunk.
    position: u64,
}

/// What encoding makes and needs, kept for the next chunk.
#[derive(Default)]
struct Sections {
    header: Vec<u8>,
    compressed_header: Vec<u8>,
    /// What precedes the data: compression type, size of the header, header.
    begin: Vec<u8>,
    /// Buckets and transitions.
    data: Vec<u8>,
    /// A buffer that is most of an uncompressed chunk, which is not copied into the data, and where it belongs there.
    borrowed: Option<(usize, usize)>,
    /// The buffers of a bucket together, or the transitions, before compression.
    uncompressed: Vec<u8>,
    /// Buffers with what they are ordered by.
    order: Vec<(BufferOrder, usize)>,
    bucket_ends: Vec<usize>,
    bucket_sizes: Vec<u64>,
    buffer_sizes: Vec<u64>,
}

/// What is not compressed is one bucket.
fn bucket_size_of(compression: Compression, bucket_size: u64) -> u64 {
    match compression {
        Compression::None => u64::MAX,
        _ => bucket_size,
    }
}

impl TransposedEncoder {
    /// `bucket_size` is how many bytes are compressed together.
    pub(crate) fn new(compression: Compression, bucket_size: u64) -> Self {
        Self {
            compressor: Compressor::new(compression),
            bucket_size: bucket_size_of(compression, bucket_size),
            num_records: 0,
            decoded_data_size: 0,
            reader: FieldReader::default(),
            fields: Vec::new(),
            submessages: Vec::new(),
            groups: Vec::new(),
            joined: Vec::new(),
            nodes: MessageNodes::default(),
            tags: Vec::new(),
            sequence: TagSequence::default(),
            buffers: Vec::new(),
            buffers_used: 0,
            non_proto_lengths: ValueBuffer::default(),
            machine: StateMachine::default(),
            sections: Sections::default(),
        }
    }

    /// Returns whether it makes chunks as [`Self::new`] would with these.
    pub(crate) fn makes(&self, compression: Compression, bucket_size: u64) -> bool {
        let own = (self.compressor.compression(), self.bucket_size);
        own == (compression, bucket_size_of(compression, bucket_size))
    }

    pub(crate) fn compression(&self) -> Compression {
        self.compressor.compression()
    }

    /// Returns how many bytes its buffers have, which is most of its memory.
    pub(crate) fn memory(&self) -> usize {
        let values: usize = self.buffers.iter().map(|buffer| buffer.values.capacity()).sum();
        let sections = &self.sections;
        let encoded = [
            &sections.compressed_header,
            &sections.data,
            &sections.uncompressed,
            &self.joined,
        ];
        values + self.sequence.memory() + encoded.iter().map(|bytes| bytes.capacity()).sum::<usize>()
    }

    pub(crate) fn add_record(&mut self, record: &[u8]) {
        self.num_records += 1;
        self.decoded_data_size += record.len() as u64;
        self.fields.clear();
        if self.reader.read(record, 0, record.len(), &mut self.fields) {
            let node = self.nodes.reserved(message_nodes::START_OF_MESSAGE);
            self.push_tag(node, TRIVIAL);
            self.add_message(record);
        } else {
            let node = self.nodes.reserved(message_nodes::NON_PROTO);
            self.push_tag(node, TRIVIAL);
            self.buffer(node, Kind::NonProto).prepend_end_of(record, record.len());
            let (bytes, length) = varint64_bytes(record.len() as u64);
            self.non_proto_lengths.prepend_end_of(&bytes[..length], length);
        }
    }

    pub(crate) fn add_record_parts(&mut self, parts: &[&[u8]]) {
        let mut joined = std::mem::take(&mut self.joined);
        joined.clear();
        for part in parts {
            joined.extend_from_slice(part);
        }
        self.add_record(&joined);
        self.joined = joined;
    }

    pub(crate) fn num_records(&self) -> u64 {
        self.num_records
    }

    pub(crate) fn decoded_data_size(&self) -> u64 {
        self.decoded_data_size
    }

    pub(crate) fn encode(&mut self) -> Result<(), Damage> {
        self.machine.build(&self.sequence, self.tags.len());
        let Self {
            compressor, sections, ..
        } = self;
        sections.header.clear();
        sections.data.clear();
        sections.borrowed = None;
        sections.write_buffers(
            &mut self.buffers[..self.buffers_used],
            &self.non_proto_lengths,
            &self.nodes,
            self.bucket_size,
            compressor,
        )?;
        sections.uncompressed.clear();
        self.machine
            .write_transitions(&self.sequence, &mut sections.uncompressed);
        compressor.append(&sections.uncompressed, None, &mut sections.data)?;
        self.write_states();

        let Self {
            compressor, sections, ..
        } = self;
        let size = sections.header.len() as u64;
        sections.compressed_header.clear();
        compressor.append(&sections.header, Some(size), &mut sections.compressed_header)?;
        sections.begin.clear();
        sections
            .begin
            .push(compressor.compression().compression_type().to_byte());
        write_varint64(sections.compressed_header.len() as u64, &mut sections.begin);
        sections.begin.extend_from_slice(&sections.compressed_header);
        Ok(())
    }

    /// Returns the parts of the data that [`Self::encode`] made.
    pub(crate) fn encoded_parts(&self) -> [&[u8]; 4] {
        let Sections {
            begin, data, borrowed, ..
        } = &self.sections;
        match borrowed {
            None => [begin, data, &[], &[]],
            &Some((buffer, at)) => {
                let (before, behind) = data.split_at(at);
                [begin, before, self.buffers[buffer].values.as_slice(), behind]
            }
        }
    }

    /// Returns whether the chunk is dear enough to encode for a thread: it is compressed, or its values are short. Long ones are
    /// just copied.
    pub(crate) fn pays_threads(&self) -> bool {
        let is_compressed = self.compressor.compression() != Compression::None;
        is_compressed || self.sequence.len() as u64 * DEAR_VALUE > self.decoded_data_size
    }

    /// Swaps the parts of the data that [`Self::encode`] made for memory to use instead.
    pub(crate) fn swap_encoded(&mut self, [begin, data]: &mut [Vec<u8>; 2]) {
        if let Some((buffer, at)) = self.sections.borrowed.take() {
            let values = self.buffers[buffer].values.as_slice();
            self.sections.data.extend_from_slice(values);
            self.sections.data[at..].rotate_right(values.len());
        }
        std::mem::swap(&mut self.sections.begin, begin);
        std::mem::swap(&mut self.sections.data, data);
    }

    pub(crate) fn clear(&mut self) {
        self.num_records = 0;
        self.decoded_data_size = 0;
        self.nodes.clear();
        self.tags.clear();
        self.sequence.clear();
        for buffer in &mut self.buffers[..self.buffers_used] {
            buffer.values.clear();
        }
        self.buffers_used = 0;
        self.non_proto_lengths.clear();
    }

    /// Takes a record apart whose fields have been read.
    fn add_message(&mut self, record: &[u8]) {
        let mut parent = message_nodes::ROOT;
        let mut place = Place::FirstIn(parent);
        let (mut next, mut end) = (0, self.fields.len());
        loop {
            while next < end {
                let Field { start, length, tag } = self.fields[next];
                next += 1;
                let node = self.nodes.find(parent, tag, place);
                place = Place::Behind(node);
                let value_end = start + length as usize;
                match tag & 7 {
                    wire_type::VARINT => self.add_varint(node, record, start, length),
                    wire_type::FIXED32 => {
                        self.push_tag(node, TRIVIAL);
                        self.buffer(node, Kind::Fixed32).prepend_end_of(&record[..value_end], 4);
                    }
                    wire_type::FIXED64 => {
                        self.push_tag(node, TRIVIAL);
                        self.buffer(node, Kind::Fixed64).prepend_end_of(&record[..value_end], 8);
                    }
                    wire_type::START_GROUP => {
                        self.push_tag(node, TRIVIAL);
                        self.groups.push(parent);
                        parent = node;
                        place = Place::FirstIn(node);
                    }
                    wire_type::END_GROUP => {
                        self.push_tag(node, TRIVIAL);
                        place = Place::Behind(parent);
                        parent = self.groups.pop().unwrap_or(message_nodes::ROOT);
                    }
                    // Length-delimited: the fields have no other wire types.
                    _ => {
                        let is_submessage = length > 0
                            && self.submessages.len() + self.groups.len() < MAX_DEPTH
                            && self.reader.read(record, start, value_end, &mut self.fields);
                        if is_submessage {
                            self.push_tag(node, START_OF_SUBMESSAGE);
                            // The tag of the end is counted now, before those of the fields inside.
                            let end_tag = self.tag(node, END_OF_SUBMESSAGE);
                            self.submessages.push(OpenSubmessage {
                                node,
                                parent,
                                end_tag,
                                next,
                                end,
                            });
                            parent = node;
                            place = Place::FirstIn(node);
                            (next, end) = (end, self.fields.len());
                        } else {
                            self.push_tag(node, STRING);
                            // The value is stored with its length.
                            let stored = length as usize + varint64_length(u64::from(length));
                            self.buffer(node, Kind::String)
                                .prepend_end_of(&record[..value_end], stored);
                        }
                    }
                }
            }
            let Some(open) = self.submessages.pop() else { return };
            self.sequence.push(open.end_tag);
            self.fields.truncate(open.end);
            parent = open.parent;
            place = Place::Behind(open.node);
            (next, end) = (open.next, open.end);
        }
    }

    #[inline]
    fn add_varint(&mut self, node: NodeIndex, record: &[u8], start: usize, length: u32) {
        let first = record[start];
        if first <= MAX_VARINT_INLINE {
            self.push_tag(node, VARINT_INLINE + first);
            return;
        }
        // A varint has at most ten bytes.
        self.push_tag(node, (length - 1) as u8);
        let buffer = self.buffer(node, Kind::Varint);
        const STRIPPED: u64 = 0x7f7f_7f7f_7f7f_7f7f;
        match record[start..].first_chunk::<8>() {
            Some(word) if length <= 8 => buffer.prepend_word(u64::from_le_bytes(*word) & STRIPPED, length),
            _ => {
                let mut bytes = [0; 10];
                let value = &record[start..start + length as usize];
                for (byte, value) in bytes.iter_mut().zip(value) {
                    *byte = value & 0x7f;
                }
                buffer.prepend_end_of(&bytes[..value.len()], value.len());
            }
        }
    }

    #[inline]
    fn push_tag(&mut self, node: NodeIndex, subtype: u8) {
        let tag = self.tag(node, subtype);
        self.sequence.push(tag);
    }

    /// Returns the position in the list of tags.
    #[inline]
    fn tag(&mut self, node: NodeIndex, subtype: u8) -> u32 {
        debug_assert!(usize::from(subtype) < MAX_SUBTYPES);
        let tag = &mut self.nodes[node].tags[usize::from(subtype)];
        if *tag == NONE {
            *tag = u32::try_from(self.tags.len()).unwrap_or(NONE);
            self.tags.push(Tag { node, subtype });
        }
        *tag
    }

    #[inline]
    fn buffer(&mut self, node: NodeIndex, kind: Kind) -> &mut ValueBuffer {
        let mut index = self.nodes[node].buffer;
        if index == NONE {
            index = self.take_buffer(node, kind);
        }
        &mut self.buffers[index as usize].values
    }

    #[cold]
    fn take_buffer(&mut self, node: NodeIndex, kind: Kind) -> u32 {
        let index = u32::try_from(self.buffers_used).unwrap_or(NONE);
        match self.buffers.get_mut(self.buffers_used) {
            Some(buffer) => {
                buffer.kind = kind;
                buffer.node = node;
            }
            None => self.buffers.push(Buffer {
                kind,
                node,
                values: ValueBuffer::default(),
                position: 0,
            }),
        }
        self.buffers_used += 1;
        self.nodes[node].buffer = index;
        index
    }

    /// Writes the states to the header, after the sizes of the buffers.
    fn write_states(&mut self) {
        let header = &mut self.sections.header;
        let states = self.machine.states();
        write_varint64(states.len() as u64, header);
        for state in states {
            let stored = self.tags.get(state.tag as usize).map_or(message_id::NO_OP, |tag| {
                let node_tag = self.nodes[tag.node].tag;
                match (node_tag & 7, tag.subtype) {
                    _ if node_tag == 0 => self.nodes.rank(tag.node).0,
                    (wire_type::LENGTH_DELIMITED, START_OF_SUBMESSAGE) => message_id::START_OF_SUBMESSAGE,
                    (wire_type::LENGTH_DELIMITED, END_OF_SUBMESSAGE) => {
                        node_tag - wire_type::LENGTH_DELIMITED + wire_type::END_OF_SUBMESSAGE
                    }
                    _ => node_tag,
                }
            });
            write_varint64(u64::from(stored), header);
        }
        for &state in states {
            write_varint64(self.machine.stored_next(state), header);
        }
        let tags = || states.iter().filter_map(|state| self.tags.get(state.tag as usize));
        for tag in tags() {
            let node_tag = self.nodes[tag.node].tag;
            if node_tag != 0 && node_tag & 7 == wire_type::VARINT {
                header.push(tag.subtype);
            }
        }
        for tag in tags() {
            let node = &self.nodes[tag.node];
            let has_values = match node.tag & 7 {
                _ if node.tag == 0 => node.buffer != NONE,
                wire_type::VARINT => tag.subtype < VARINT_INLINE,
                wire_type::LENGTH_DELIMITED => tag.subtype == STRING,
                wire_type::FIXED32 | wire_type::FIXED64 => true,
                _ => false,
            };
            if has_values && let Some(buffer) = self.buffers.get(node.buffer as usize) {
                write_varint64(buffer.position, header);
            }
        }
        let first = self.machine.state_of(self.sequence.decoded_first());
        write_varint64(first as u64, header);
    }
}

impl Sections {
    /// Writes the buckets to the data, and the sizes of buckets and buffers to the header.
    fn write_buffers(
        &mut self,
        buffers: &mut [Buffer],
        non_proto_lengths: &ValueBuffer,
        nodes: &MessageNodes,
        bucket_size: u64,
        compressor: &mut Compressor,
    ) -> Result<(), Damage> {
        self.bucket_sizes.clear();
        self.buffer_sizes.clear();
        self.order.clear();
        self.order.extend(buffers.iter().enumerate().map(|(index, buffer)| {
            let key = (buffer.kind, buffer.values.len(), nodes.rank(buffer.node));
            (key, index)
        }));
        self.order.sort_unstable();
        for (position, &((_, size, _), index)) in (0..).zip(&self.order) {
            buffers[index].position = position;
            self.buffer_sizes.push(size as u64);
        }
        let borrowed = match compressor.compression() {
            Compression::None => self.most_of_the_values(),
            _ => None,
        };
        let order = std::mem::take(&mut self.order);
        let mut result = Ok(());
        for buffers_of_kind in order.chunk_by(|((a, ..), _), ((b, ..), _)| a == b) {
            self.split_buckets(
                buffers_of_kind.iter().map(|&((_, size, _), _)| size as u64),
                bucket_size,
            );
            let mut begin = 0;
            while let Some(end) = self.bucket_ends.pop() {
                let bucket = &buffers_of_kind[begin..end];
                let is_borrowed = |&(_, index): &(BufferOrder, usize)| borrowed == Some(index);
                // It is the largest one, and so the last one of its kind.
                let (copied, borrowed) =
                    bucket.split_at(bucket.len() - usize::from(bucket.last().is_some_and(is_borrowed)));
                let values = copied.iter().map(|&(_, index)| buffers[index].values.as_slice());
                result = result.and_then(|()| self.write_bucket(values, compressor));
                if let (&[((_, size, _), index)], Some(bucket_size)) = (borrowed, self.bucket_sizes.last_mut()) {
                    *bucket_size += size as u64;
                    self.borrowed = Some((index, self.data.len()));
                }
                begin = end;
            }
        }
        self.order = order;
        result?;
        if non_proto_lengths.len() > 0 {
            self.buffer_sizes.push(non_proto_lengths.len() as u64);
            self.write_bucket(std::iter::once(non_proto_lengths.as_slice()), compressor)?;
        }
        write_varint64(self.bucket_sizes.len() as u64, &mut self.header);
        write_varint64(self.buffer_sizes.len() as u64, &mut self.header);
        for &size in self.bucket_sizes.iter().chain(&self.buffer_sizes) {
            write_varint64(size, &mut self.header);
        }
        Ok(())
    }

    /// Returns the buffer that has more than half of all values, if there is one that is worth borrowing.
    fn most_of_the_values(&self) -> Option<usize> {
        const WORTH: usize = 2 << 10;
        let all: u64 = self.buffer_sizes.iter().sum();
        let largest = self.order.iter().max_by_key(|((_, size, _), _)| size)?;
        let &((_, size, _), index) = largest;
        (size >= WORTH && size as u64 > all / 2).then_some(index)
    }

    /// Finds which buffers of a kind share a bucket, the largest ones first: what is left goes to the last bucket when it is
    /// less than half of one. Leaves the ends of the buckets, the first one last.
    fn split_buckets(&mut self, sizes: impl ExactSizeIterator<Item = u64> + DoubleEndedIterator + Clone, wanted: u64) {
        self.bucket_ends.clear();
        self.bucket_ends.push(sizes.len());
        let mut left: u64 = sizes.clone().sum();
        let mut bucket = 0;
        for (index, size) in sizes.enumerate().rev() {
            if bucket > 0 && bucket + size / 2 >= wanted {
                self.bucket_ends.push(index + 1);
                bucket = 0;
            }
            bucket += size;
            left -= size;
            if left <= wanted / 2 {
                return;
            }
        }
    }

    fn write_bucket<'a>(
        &mut self,
        mut values: impl ExactSizeIterator<Item = &'a [u8]>,
        compressor: &mut Compressor,
    ) -> Result<(), Damage> {
        let start = self.data.len();
        if compressor.compression() == Compression::None {
            for values in values {
                self.data.extend_from_slice(values);
            }
        } else if values.len() == 1 {
            let values = values.next().unwrap_or_default();
            compressor.append(values, Some(values.len() as u64), &mut self.data)?;
        } else {
            self.uncompressed.clear();
            for values in values {
                self.uncompressed.extend_from_slice(values);
            }
            let size = self.uncompressed.len() as u64;
            compressor.append(&self.uncompressed, Some(size), &mut self.data)?;
        }
        self.bucket_sizes.push((self.data.len() - start) as u64);
        Ok(())
    }
}

/// Encodes a chunk that holds one record.
pub(crate) fn encode_record(record: &[u8], compression: Compression) -> Result<Vec<u8>, Damage> {
    let mut encoder = TransposedEncoder::new(compression, u64::MAX);
    encoder.add_record(record);
    encoder.encode()?;
    Ok(encoder.encoded_parts().concat())
}
