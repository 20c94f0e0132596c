//! The states of a chunk and the transitions between them.
//!
//! A transition byte can go to one of 64 states behind the base of the current one. Destinations that a tag goes to often, or
//! that only it goes to, are laid out behind its own base (its private list); all others are in one public list, reached
//! through a state without action. Lists of more than 64 states become trees of such states. The layout follows the C++
//! library step by step (google/riegeli, `riegeli/chunk_encoding/transpose_encoder.cc`), because it decides the bytes.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BinaryHeap},
};

use super::encoder::NodeId;

/// Transitions reach from the base of a state to this many states behind it.
const MAX_TRANSITION: usize = 63;
/// So many transitions from one tag to another put the latter in the private list of the former.
const MIN_COUNT_FOR_STATE: usize = 10;

/// What the records of a chunk consist of: each tag once, and their order.
#[derive(Default)]
pub(super) struct Tags {
    pub(super) list: Vec<TagInfo>,
    /// Positions in `list`, in the order of the records. Decoding runs backwards.
    pub(super) encoded: Vec<usize>,
}

pub(super) struct TagInfo {
    pub(super) node: NodeId,
    pub(super) subtype: u8,
    /// Where the states are that this tag goes to.
    pub(super) base: Option<usize>,
    destinations: BTreeMap<usize, Destination>,
    incoming: usize,
    /// The tag's state in the public list.
    public_state: Option<usize>,
    /// The state in the private list that leads to the public list.
    to_public_list: Option<usize>,
}

#[derive(Default)]
struct Destination {
    transitions: usize,
    private: Private,
}

/// Whether a destination has a state in the private list.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Private {
    #[default]
    No,
    Wanted,
    At(usize),
}

impl TagInfo {
    pub(super) fn new(node: NodeId, subtype: u8) -> Self {
        Self {
            node,
            subtype,
            base: None,
            destinations: BTreeMap::new(),
            incoming: 0,
            public_state: None,
            to_public_list: None,
        }
    }
}

impl Tags {
    /// Returns whether the tag is always followed by the same one, so that no transition needs to be stored. Not for the tag
    /// that decoding ends with, where only the end of the transitions says so.
    pub(super) fn is_implicit(&self, tag: usize) -> bool {
        self.list[tag].destinations.len() == 1 && self.encoded.first() != Some(&tag)
    }
}

#[derive(Clone, Copy, Default)]
pub(super) struct State {
    /// The tag that the state writes, `None` for a state without action.
    pub(super) tag: Option<usize>,
    /// Where a state without action leads.
    pub(super) base: Option<usize>,
    /// The state without action that leads to the block of this one.
    source: Option<usize>,
}

pub(super) struct StateMachine {
    pub(super) states: Vec<State>,
}

/// A state to lay out: rare ones come out of the heap first, and are laid out from the end.
type Candidate = (Reverse<usize>, usize);

/// Stands for the state that leads to the public list.
const TO_PUBLIC_LIST: usize = usize::MAX;

impl StateMachine {
    pub(super) fn new(tags: &mut Tags) -> Self {
        count_transitions(tags);
        for tag in 0..tags.list.len() {
            for (destination, count) in counts(&tags.list[tag]) {
                if count >= MIN_COUNT_FOR_STATE {
                    tags.list[destination].incoming -= count;
                    set_private(tags, tag, destination, Private::Wanted);
                }
            }
        }
        let mut machine = Self { states: Vec::new() };
        let mut to_public = Vec::new();
        for tag in 0..tags.list.len() {
            if let Some(state) = machine.add_private_list(tags, tag) {
                to_public.push((tag, state));
            }
        }
        let public_list = machine.states.len();
        machine.add_public_list(tags);
        for (tag, state) in to_public {
            let base = machine.public_base(tags, tag, public_list);
            machine.states[state].base = base;
        }
        for tag in 0..tags.list.len() {
            if tags.list[tag].base.is_none() {
                tags.list[tag].base = machine.public_base(tags, tag, public_list);
            }
        }
        machine
    }

    /// Returns the first state that writes the tag which decoding begins with.
    pub(super) fn first(&self, tags: &Tags) -> usize {
        let last = tags.encoded.last().copied();
        self.states.iter().position(|state| state.tag == last).unwrap_or(0)
    }

    /// Returns the transition bytes: six bits of distance from the base, two bits that count further transitions by 0.
    pub(super) fn transitions(&self, tags: &Tags) -> Vec<u8> {
        let mut out: Vec<u8> = Vec::new();
        let mut push = |steps: &[usize]| {
            for &step in steps.iter().rev() {
                match out.last_mut() {
                    Some(last) if step == 0 && *last & 3 < 3 => *last += 1,
                    // At most 63.
                    _ => out.push((step << 2) as u8),
                }
            }
        };
        for pair in tags.encoded.windows(2).rev() {
            let [tag, previous] = [pair[0], pair[1]];
            if tags.is_implicit(previous) {
                continue;
            }
            let info = &tags.list[previous];
            let Some(mut base) = info.base else { continue };
            let private = info.destinations.get(&tag).map(|destination| destination.private);
            let state = match private {
                Some(Private::At(state)) => Some(state),
                _ => {
                    if let Some(leads) = info.to_public_list {
                        push(&self.steps(base, leads));
                        base = self.states[leads].base.unwrap_or(base);
                    }
                    tags.list[tag].public_state
                }
            };
            if let Some(state) = state {
                push(&self.steps(base, state));
            }
        }
        out
    }

    /// Returns the steps from `base` to `state`, last one first.
    fn steps(&self, base: usize, mut state: usize) -> Vec<usize> {
        let mut steps = Vec::new();
        while base > state || state - base > MAX_TRANSITION {
            let Some((source, source_base)) = self.source(state) else {
                break;
            };
            steps.push(state - source_base);
            state = source;
        }
        steps.push(state.saturating_sub(base));
        steps
    }

    /// Returns the state that leads to the block of `state`, and the beginning of the block.
    fn source(&self, state: usize) -> Option<(usize, usize)> {
        let source = self.states[state].source?;
        Some((source, self.states[source].base?))
    }

    /// Lays out the private list of a tag, if it has one, and returns the state in it that leads to the public list.
    fn add_private_list(&mut self, tags: &mut Tags, tag: usize) -> Option<usize> {
        let destinations = counts(&tags.list[tag]);
        let mut candidates: BinaryHeap<Candidate> = BinaryHeap::new();
        let mut excluded = None;
        let mut excluded_count = 0;
        for &(destination, count) in &destinations {
            let wanted = tags.list[tag].destinations[&destination].private == Private::Wanted;
            if wanted || count == tags.list[destination].incoming {
                if !wanted {
                    tags.list[destination].incoming -= count;
                }
                candidates.push((Reverse(count), destination));
            } else {
                excluded_count += count;
                excluded = Some((destination, count));
            }
        }
        if candidates.is_empty() {
            return None;
        }
        if let Some((destination, count)) = excluded
            && candidates.len() + 1 == destinations.len()
        {
            // A state for the only one left is as good as a state that leads to it.
            candidates.push((Reverse(count), destination));
            tags.list[destination].incoming -= count;
        }
        if candidates.len() != destinations.len() {
            candidates.push((Reverse(excluded_count), TO_PUBLIC_LIST));
        }
        tags.list[tag].base = Some(self.states.len());
        let num_tags = tags.list.len();
        let mut leads = None;
        self.add_list(candidates, num_tags, |destination, state| {
            if destination == TO_PUBLIC_LIST {
                leads = Some(state);
            } else {
                set_private(tags, tag, destination, Private::At(state));
            }
        });
        tags.list[tag].to_public_list = leads;
        leads
    }

    fn add_public_list(&mut self, tags: &mut Tags) {
        let candidates: BinaryHeap<Candidate> = (0..tags.list.len())
            .filter(|&tag| tags.list[tag].incoming != 0)
            .map(|tag| (Reverse(tags.list[tag].incoming), tag))
            .collect();
        let num_tags = tags.list.len();
        self.add_list(candidates, num_tags, |tag, state| {
            tags.list[tag].public_state = Some(state)
        });
    }

    /// Lays out a list of states from its end, in blocks of 64. Blocks that do not fit the first one get a state that leads
    /// to them.
    fn add_list(
        &mut self,
        mut candidates: BinaryHeap<Candidate>,
        num_tags: usize,
        mut placed: impl FnMut(usize, usize),
    ) {
        let mut count = candidates.len();
        if count == 0 {
            return;
        }
        if count > MAX_TRANSITION + 1 {
            count += (count - 2) / MAX_TRANSITION;
        }
        let mut state = self.states.len() + count;
        self.states.resize(state, State::default());
        let mut block_size = (count - 1) % (MAX_TRANSITION + 1) + 1;
        let mut block_bases = Vec::new();
        loop {
            let mut block_weight = 0;
            for _ in 0..block_size {
                let Some((Reverse(weight), candidate)) = candidates.pop() else {
                    break;
                };
                block_weight += weight;
                state -= 1;
                if candidate == TO_PUBLIC_LIST {
                    self.states[state] = State::default();
                    placed(candidate, state);
                } else if let Some(block) = candidate.checked_sub(num_tags) {
                    let base: usize = block_bases[block];
                    self.states[state] = State {
                        tag: None,
                        base: Some(base),
                        source: None,
                    };
                    let end = self.states.len().min(base + MAX_TRANSITION + 1);
                    for member in &mut self.states[base..end] {
                        member.source = Some(state);
                    }
                } else {
                    self.states[state] = State {
                        tag: Some(candidate),
                        base: None,
                        source: None,
                    };
                    placed(candidate, state);
                }
            }
            if candidates.is_empty() {
                return;
            }
            candidates.push((Reverse(block_weight), num_tags + block_bases.len()));
            block_bases.push(state);
            block_size = MAX_TRANSITION + 1;
        }
    }

    /// Returns the best base from which the public states are reached that `tag` goes to.
    fn public_base(&self, tags: &Tags, tag: usize, public_list: usize) -> Option<usize> {
        let mut base: Option<usize> = None;
        let mut first: Option<usize> = None;
        for (&destination, info) in &tags.list[tag].destinations {
            if matches!(info.private, Private::At(_)) {
                continue;
            }
            let mut state = tags.list[destination].public_state?;
            loop {
                match base {
                    Some(base) if base <= state && state - base <= MAX_TRANSITION => break,
                    Some(base) if base <= state => match self.states[state].source {
                        Some(source) => state = source,
                        None => break,
                    },
                    _ => {
                        // The base lies behind the state, or is not known yet: go to the block above.
                        let source = match base {
                            None => self.states[state].source,
                            Some(base) => {
                                let leads = self.states[base].source;
                                first = [first, leads].into_iter().flatten().min();
                                leads.and_then(|leads| self.states[leads].source)
                            }
                        };
                        base = Some(match source {
                            None => public_list,
                            Some(source) => self.states[source].base?,
                        });
                    }
                }
            }
            first = Some(first.map_or(state, |first| first.min(state)));
        }
        first
    }
}

fn count_transitions(tags: &mut Tags) {
    let Tags { list, encoded } = tags;
    for pair in encoded.windows(2).rev() {
        list[pair[1]].destinations.entry(pair[0]).or_default().transitions += 1;
        list[pair[0]].incoming += 1;
    }
    if let Some(&first) = encoded.last()
        && list[first].incoming == 0
    {
        // The state that decoding begins with must exist.
        list[first].incoming = 1;
    }
}

fn counts(info: &TagInfo) -> Vec<(usize, usize)> {
    info.destinations
        .iter()
        .map(|(&tag, destination)| (tag, destination.transitions))
        .collect()
}

fn set_private(tags: &mut Tags, tag: usize, destination: usize, private: Private) {
    if let Some(info) = tags.list[tag].destinations.get_mut(&destination) {
        info.private = private;
    }
}
