//! Encoding: a record is taken apart into buffers and a list of encoded tags, which the state machine then replays.

use std::collections::HashMap;

use super::{
    VARINT_INLINE, message_id,
    state_machine::{StateMachine, TagInfo, Tags},
    wire_type,
};
use crate::{
    codec::{Compression, Compressor},
    error::Damage,
    varint::{read_varint32, read_varint64, varint64_length, write_varint64},
};

/// Varints up to this value are part of their state.
const MAX_VARINT_INLINE: u8 = 3;
/// Submessages nested deeper are stored as strings.
const MAX_DEPTH: usize = 100;

const STRING: u8 = 0;
const START_OF_SUBMESSAGE: u8 = 1;
const END_OF_SUBMESSAGE: u8 = 2;
const TRIVIAL: u8 = 0;

/// Encodes a chunk that holds one record.
pub(crate) fn encode_record(record: &[u8], compression: Compression) -> Result<Vec<u8>, Damage> {
    let mut encoder = Encoder::default();
    encoder.add_record(record)?;
    encoder.encode(compression)
}

/// A field in a context: two of the same number below different parents are kept apart.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct NodeId {
    pub(super) parent: u32,
    pub(super) tag: u32,
}

struct Node {
    message_id: u32,
    /// Position in the list of tags by subtype.
    tags: HashMap<u8, usize>,
    buffer: Option<(usize, usize)>,
}

/// Kinds of buffers, in the order in which they are stored.
const VARINTS: usize = 0;
const FIXED32: usize = 1;
const FIXED64: usize = 2;
const STRINGS: usize = 3;
const NON_PROTO: usize = 4;

struct Buffer {
    node: NodeId,
    /// Values are stored last one first. They are collected here with their bytes reversed.
    reversed: Vec<u8>,
}

#[derive(Default)]
struct Encoder {
    nodes: HashMap<NodeId, Node>,
    tags: Tags,
    buffers: [Vec<Buffer>; 5],
    non_proto_lengths: Vec<u8>,
}

impl Encoder {
    fn add_record(&mut self, record: &[u8]) -> Result<(), Damage> {
        if is_message(record) {
            let id = NodeId {
                parent: message_id::START_OF_MESSAGE,
                tag: 0,
            };
            self.push_tag(id, TRIVIAL);
            self.add_message(record)
        } else {
            let id = NodeId {
                parent: message_id::NON_PROTO,
                tag: 0,
            };
            self.push_tag(id, TRIVIAL);
            self.push_value(id, NON_PROTO, record);
            write_varint64(record.len() as u64, &mut self.non_proto_lengths);
            Ok(())
        }
    }

    /// Takes a record apart for which [`is_message`] holds.
    fn add_message(&mut self, record: &[u8]) -> Result<(), Damage> {
        struct Open<'a> {
            id: NodeId,
            parent: u32,
            behind: &'a [u8],
        }
        let broken = Damage::Invalid { what: "message" };
        let mut parent = message_id::ROOT;
        let mut submessages: Vec<Open<'_>> = Vec::new();
        let mut groups = Vec::new();
        let mut left = record;
        loop {
            while !left.is_empty() {
                let (tag, behind_tag) = read_varint32(left).ok_or(broken.clone())?;
                let id = NodeId { parent, tag };
                let message_id = self.node(id).message_id;
                match tag & 7 {
                    wire_type::VARINT => {
                        let (_, behind) = read_varint64(behind_tag).ok_or(broken.clone())?;
                        let value = &behind_tag[..behind_tag.len() - behind.len()];
                        if value[0] <= MAX_VARINT_INLINE {
                            self.push_tag(id, VARINT_INLINE + value[0]);
                        } else {
                            // At most ten bytes.
                            self.push_tag(id, (value.len() - 1) as u8);
                            let stripped: Vec<u8> = value.iter().map(|byte| byte & 0x7f).collect();
                            self.push_value(id, VARINTS, &stripped);
                        }
                        left = behind;
                    }
                    wire @ (wire_type::FIXED32 | wire_type::FIXED64) => {
                        let (length, kind) = if wire == wire_type::FIXED32 {
                            (4, FIXED32)
                        } else {
                            (8, FIXED64)
                        };
                        let (value, behind) = behind_tag.split_at_checked(length).ok_or(broken.clone())?;
                        self.push_tag(id, TRIVIAL);
                        self.push_value(id, kind, value);
                        left = behind;
                    }
                    wire_type::LENGTH_DELIMITED => {
                        let (length, value) = read_varint32(behind_tag).ok_or(broken.clone())?;
                        let (value, behind) = value.split_at_checked(length as usize).ok_or(broken.clone())?;
                        if !value.is_empty() && submessages.len() + groups.len() < MAX_DEPTH && is_message(value) {
                            self.push_tag(id, START_OF_SUBMESSAGE);
                            // The position of the end is taken now, before those of the fields inside.
                            self.tag_position(id, END_OF_SUBMESSAGE);
                            submessages.push(Open { id, parent, behind });
                            parent = message_id;
                            left = value;
                        } else {
                            self.push_tag(id, STRING);
                            let stored = &behind_tag[..behind_tag.len() - behind.len()];
                            self.push_value(id, STRINGS, stored);
                            left = behind;
                        }
                    }
                    wire_type::START_GROUP => {
                        self.push_tag(id, TRIVIAL);
                        groups.push(parent);
                        parent = message_id;
                        left = behind_tag;
                    }
                    wire_type::END_GROUP => {
                        parent = groups.pop().ok_or(broken.clone())?;
                        self.push_tag(id, TRIVIAL);
                        left = behind_tag;
                    }
                    _ => return Err(broken),
                }
            }
            let Some(open) = submessages.pop() else {
                return Ok(());
            };
            self.push_tag(open.id, END_OF_SUBMESSAGE);
            parent = open.parent;
            left = open.behind;
        }
    }

    fn node(&mut self, id: NodeId) -> &mut Node {
        // Identifiers follow the order in which nodes are first seen, from behind the root's.
        let next = message_id::ROOT + 1 + u32::try_from(self.nodes.len()).unwrap_or(u32::MAX - 5);
        self.nodes.entry(id).or_insert(Node {
            message_id: next,
            tags: HashMap::new(),
            buffer: None,
        })
    }

    fn tag_position(&mut self, id: NodeId, subtype: u8) -> usize {
        let next = self.tags.list.len();
        let position = *self.node(id).tags.entry(subtype).or_insert(next);
        if position == next {
            self.tags.list.push(TagInfo::new(id, subtype));
        }
        position
    }

    fn push_tag(&mut self, id: NodeId, subtype: u8) {
        let position = self.tag_position(id, subtype);
        self.tags.encoded.push(position);
    }

    fn push_value(&mut self, id: NodeId, kind: usize, value: &[u8]) {
        let next = self.buffers[kind].len();
        let (kind, index) = *self.node(id).buffer.get_or_insert((kind, next));
        if index == self.buffers[kind].len() {
            self.buffers[kind].push(Buffer {
                node: id,
                reversed: Vec::new(),
            });
        }
        self.buffers[kind][index].reversed.extend(value.iter().rev());
    }

    fn encode(mut self, compression: Compression) -> Result<Vec<u8>, Damage> {
        let mut compressor = Compressor::new(compression);
        let machine = StateMachine::new(&mut self.tags);
        let mut header = Vec::new();
        let mut data = Vec::new();
        let buffer_positions = self.write_buffers(&mut compressor, &mut header, &mut data)?;
        self.write_states(&machine, &buffer_positions, &mut header);
        compressor.append(&machine.transitions(&self.tags), None, &mut data)?;

        let mut out = vec![compression.compression_type().to_byte()];
        let mut section = Vec::new();
        compressor.append(&header, Some(header.len() as u64), &mut section)?;
        write_varint64(section.len() as u64, &mut out);
        out.extend_from_slice(&section);
        out.extend_from_slice(&data);
        Ok(out)
    }

    /// Writes one bucket for each kind of buffers, and returns the number of each node's buffer.
    fn write_buffers(
        &mut self,
        compressor: &mut Compressor,
        header: &mut Vec<u8>,
        data: &mut Vec<u8>,
    ) -> Result<HashMap<NodeId, usize>, Damage> {
        let mut positions = HashMap::new();
        let mut buckets: Vec<Vec<u8>> = Vec::new();
        let mut buffer_sizes = Vec::new();
        for buffers in &mut self.buffers {
            buffers.sort_by_key(|buffer| (buffer.reversed.len(), buffer.node));
            let mut bucket = Vec::new();
            for buffer in buffers.iter() {
                positions.insert(buffer.node, buffer_sizes.len());
                buffer_sizes.push(buffer.reversed.len());
                bucket.extend(buffer.reversed.iter().rev());
            }
            if !buffers.is_empty() {
                buckets.push(bucket);
            }
        }
        if !self.non_proto_lengths.is_empty() {
            buffer_sizes.push(self.non_proto_lengths.len());
            buckets.push(self.non_proto_lengths.clone());
        }
        let mut bucket_sizes = Vec::new();
        for bucket in &buckets {
            let start = data.len();
            compressor.append(bucket, Some(bucket.len() as u64), data)?;
            bucket_sizes.push(data.len() - start);
        }
        write_varint64(bucket_sizes.len() as u64, header);
        write_varint64(buffer_sizes.len() as u64, header);
        for size in bucket_sizes.into_iter().chain(buffer_sizes) {
            write_varint64(size as u64, header);
        }
        Ok(positions)
    }

    fn write_states(&self, machine: &StateMachine, buffer_positions: &HashMap<NodeId, usize>, header: &mut Vec<u8>) {
        write_varint64(machine.states.len() as u64, header);
        let mut next = Vec::new();
        let mut subtypes = Vec::new();
        let mut buffers = Vec::new();
        for state in &machine.states {
            let Some(tag_index) = state.tag else {
                write_varint64(u64::from(message_id::NO_OP), header);
                next.push(state.base.unwrap_or(0));
                continue;
            };
            let info = &self.tags.list[tag_index];
            let NodeId { parent, tag } = info.node;
            let buffer = || buffer_positions.get(&info.node).copied().unwrap_or(0);
            let stored = match (tag, tag & 7, info.subtype) {
                (0, ..) => {
                    if parent == message_id::NON_PROTO {
                        buffers.push(buffer());
                    }
                    parent
                }
                (_, wire_type::LENGTH_DELIMITED, START_OF_SUBMESSAGE) => message_id::START_OF_SUBMESSAGE,
                (_, wire_type::LENGTH_DELIMITED, END_OF_SUBMESSAGE) => {
                    tag - wire_type::LENGTH_DELIMITED + wire_type::END_OF_SUBMESSAGE
                }
                (_, wire_type::VARINT, subtype) => {
                    subtypes.push(subtype);
                    if subtype < VARINT_INLINE {
                        buffers.push(buffer());
                    }
                    tag
                }
                (_, wire_type::FIXED32 | wire_type::FIXED64 | wire_type::LENGTH_DELIMITED, _) => {
                    buffers.push(buffer());
                    tag
                }
                _ => tag,
            };
            write_varint64(u64::from(stored), header);
            next.push(match info.base {
                Some(base) if self.tags.is_implicit(tag_index) => base + machine.states.len(),
                Some(base) => base,
                None => 0,
            });
        }
        for next in next {
            write_varint64(next as u64, header);
        }
        header.extend_from_slice(&subtypes);
        for buffer in buffers {
            write_varint64(buffer as u64, header);
        }
        write_varint64(machine.first(&self.tags) as u64, header);
    }
}

/// Returns whether `record` is a message in the one form that comes back bit by bit: shortest varints, closed groups.
fn is_message(record: &[u8]) -> bool {
    let mut left = record;
    let mut groups = Vec::new();
    while !left.is_empty() {
        let Some((tag, behind)) = read_varint32(left)
            .filter(|(tag, behind)| varint64_length(u64::from(*tag)) == left.len() - behind.len() && tag >> 3 != 0)
        else {
            return false;
        };
        let skipped = match tag & 7 {
            wire_type::VARINT => read_varint64(behind)
                .filter(|(value, rest)| varint64_length(*value) == behind.len() - rest.len())
                .map(|(_, rest)| rest),
            wire_type::FIXED32 => behind.get(4..),
            wire_type::FIXED64 => behind.get(8..),
            wire_type::LENGTH_DELIMITED => read_varint32(behind)
                .filter(|(length, rest)| varint64_length(u64::from(*length)) == behind.len() - rest.len())
                .and_then(|(length, rest)| rest.get(length as usize..)),
            wire_type::START_GROUP => {
                groups.push(tag >> 3);
                Some(behind)
            }
            wire_type::END_GROUP if groups.pop() == Some(tag >> 3) => Some(behind),
            _ => None,
        };
        match skipped {
            Some(rest) => left = rest,
            None => return false,
        }
    }
    groups.is_empty()
}
