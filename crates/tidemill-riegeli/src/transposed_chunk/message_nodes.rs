//! The tree of fields: two fields of the same number below different parents are different nodes.
//!
//! Records of one type have the same fields in the same order, chunk after chunk. So the tree stays when a chunk is done, only
//! what a chunk knows of its nodes is forgotten; and each node remembers which one came next the last time, which is the
//! one that comes next nearly always.

use super::{NONE, message_id, pair_table::PairTable};

/// Subtypes of a varint: ten lengths and four values. Other fields have fewer.
pub(super) const MAX_SUBTYPES: usize = 14;
/// A tree with more nodes does not outlive its chunk.
const MAX_NODES_KEPT: usize = 10_000;

/// The parent of top-level fields.
pub(super) const ROOT: NodeIndex = NodeIndex(0);
pub(super) const START_OF_MESSAGE: NodeIndex = NodeIndex(1);
pub(super) const NON_PROTO: NodeIndex = NodeIndex(2);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NodeIndex(u32);

/// Where a node is expected to be: what came next the last time.
#[derive(Clone, Copy)]
pub(super) enum Place {
    FirstIn(NodeIndex),
    Behind(NodeIndex),
}

pub(super) struct Node {
    parent: NodeIndex,
    pub(super) tag: u32,
    first_child: NodeIndex,
    next: NodeIndex,
    /// The chunk that the fields below are about.
    generation: u32,
    /// Numbers nodes in the order in which the chunk first has them.
    message_id: u32,
    /// Positions in the list of tags by subtype, or `NONE`.
    pub(super) tags: [u32; MAX_SUBTYPES],
    /// Which of the buffers has the values, or `NONE`.
    pub(super) buffer: u32,
}

pub(super) struct MessageNodes {
    nodes: Vec<Node>,
    table: PairTable,
    generation: u32,
    next_message_id: u32,
}

impl Default for MessageNodes {
    fn default() -> Self {
        let mut nodes = Self {
            nodes: Vec::new(),
            table: PairTable::default(),
            generation: 1,
            next_message_id: message_id::ROOT + 1,
        };
        nodes.add_reserved();
        nodes
    }
}

impl MessageNodes {
    /// Returns the node of `tag` below `parent`, which `place` may already know.
    #[inline]
    pub(super) fn find(&mut self, parent: NodeIndex, tag: u32, place: Place) -> NodeIndex {
        let expected = match place {
            Place::FirstIn(node) => self[node].first_child,
            Place::Behind(node) => self[node].next,
        };
        let node = &self[expected];
        if node.tag == tag && node.parent == parent {
            if node.generation != self.generation {
                self.begin(expected);
            }
            return expected;
        }
        self.look_up(parent, tag, place)
    }

    /// Returns one of the nodes that are not fields.
    pub(super) fn reserved(&mut self, node: NodeIndex) -> NodeIndex {
        if self[node].generation != self.generation {
            self.begin(node);
        }
        node
    }

    /// Returns what orders nodes in a chunk: the number of the parent, then the tag.
    pub(super) fn rank(&self, node: NodeIndex) -> (u32, u32) {
        let node = &self[node];
        (self[node.parent].message_id, node.tag)
    }

    /// Forgets what is known of the chunk.
    pub(super) fn clear(&mut self) {
        self.next_message_id = message_id::ROOT + 1;
        self.generation = self.generation.wrapping_add(1);
        if self.nodes.len() > MAX_NODES_KEPT || self.generation == 0 {
            self.generation = 1;
            self.nodes.clear();
            self.table.clear();
            self.add_reserved();
        }
    }

    fn add_reserved(&mut self) {
        for (parent, message_id) in [
            (ROOT, message_id::ROOT),
            (START_OF_MESSAGE, message_id::START_OF_MESSAGE),
            (NON_PROTO, message_id::NON_PROTO),
        ] {
            // Their tag is 0, which no field has.
            self.nodes.push(Node::new(parent, 0, message_id));
        }
    }

    #[cold]
    fn look_up(&mut self, parent: NodeIndex, tag: u32, place: Place) -> NodeIndex {
        let new = u32::try_from(self.nodes.len()).unwrap_or(NONE);
        let found = NodeIndex(self.table.get_or_insert(parent.0, tag, new));
        if found.0 == new {
            self.nodes.push(Node::new(parent, tag, 0));
        }
        match place {
            Place::FirstIn(node) => self[node].first_child = found,
            Place::Behind(node) => self[node].next = found,
        }
        if self[found].generation != self.generation {
            self.begin(found);
        }
        found
    }

    /// Makes a node one of this chunk.
    fn begin(&mut self, node: NodeIndex) {
        let (generation, message_id) = (self.generation, self.next_message_id);
        self.next_message_id += 1;
        let node = &mut self[node];
        node.generation = generation;
        // The reserved ones are counted, but known by their own numbers.
        if node.tag != 0 {
            node.message_id = message_id;
        }
        node.tags = [NONE; MAX_SUBTYPES];
        node.buffer = NONE;
    }
}

impl Node {
    fn new(parent: NodeIndex, tag: u32, message_id: u32) -> Self {
        Self {
            parent,
            tag,
            first_child: ROOT,
            next: ROOT,
            generation: 0,
            message_id,
            tags: [NONE; MAX_SUBTYPES],
            buffer: NONE,
        }
    }
}

impl std::ops::Index<NodeIndex> for MessageNodes {
    type Output = Node;

    #[inline]
    fn index(&self, node: NodeIndex) -> &Node {
        &self.nodes[node.0 as usize]
    }
}

impl std::ops::IndexMut<NodeIndex> for MessageNodes {
    #[inline]
    fn index_mut(&mut self, node: NodeIndex) -> &mut Node {
        &mut self.nodes[node.0 as usize]
    }
}
