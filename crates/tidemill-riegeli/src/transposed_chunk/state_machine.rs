//! The states of a chunk and the transitions between them.
//!
//! A transition byte can go to one of 64 states after the base of the current one. Destinations that a tag goes to often, or
//! that only it goes to, are laid out after its own base (its private list); all others are in one public list, reached
//! through a state without action. Lists of more than 64 states become trees of such states. The layout follows the C++
//! library step by step (google/riegeli, `riegeli/chunk_encoding/transpose_encoder.cc`), because it decides the bytes.
//!
//! All memory is kept from chunk to chunk.

use super::{
    NONE,
    tag_sequence::{TagSequence, Transition},
};

/// Transitions reach from the base of a state to this many states after it.
const MAX_TRANSITION: u32 = 63;
/// So many transitions from one tag to another put the latter in the private list of the former.
const MIN_COUNT_FOR_STATE: u64 = 10;

/// States, and what to write to get from one to the next.
#[derive(Default)]
pub(super) struct StateMachine {
    states: Vec<State>,
    tags: Vec<Tag>,
    /// One for each transition of the sequence.
    routes: Vec<Route>,
    /// Transitions, those from the same tag together, and where those of each tag begin.
    by_tag: Vec<u32>,
    starts: Vec<u32>,
    /// States still to be laid out, the next one last.
    candidates: Vec<Candidate>,
    /// Where the blocks of a list begin that have a state leading to them.
    block_bases: Vec<u32>,
    /// Steps of the routes that have several.
    steps: Vec<u8>,
}

/// A state. Positions that do not exist are `NONE`.
#[derive(Clone, Copy)]
pub(super) struct State {
    /// The tag that the state writes, `NONE` for a state without action.
    pub(super) tag: u32,
    /// Where a state without action leads.
    base: u32,
    /// The state without action that leads to the block of this one.
    source: u32,
}

#[derive(Clone, Copy)]
struct Tag {
    /// Where the states are that this tag goes to.
    base: u32,
    /// The tag's state in the public list.
    public_state: u32,
    /// The state in the private list that leads to the public list.
    to_public_list: u32,
    /// Transitions to this tag that no private list has.
    incoming: u64,
    /// It is always followed by the same tag, so no transition needs to be stored.
    is_implicit: bool,
}

/// How a transition is stored.
#[derive(Clone, Copy)]
struct Route {
    /// How many times it is stored.
    uses: u64,
    /// The state in the private list, `NONE` if there is none, `WANTED` if there should be one.
    private_state: u32,
    /// Of the steps: how many, the first of them, and where the others are.
    count: u8,
    first: u8,
    others: u32,
}

const WANTED: u32 = NONE - 1;

/// A state to lay out: rare ones first, and among those the one with the highest number.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Candidate {
    weight: u64,
    /// A tag; from the number of tags on, a block; or `NONE` for the state that leads to the public list.
    what: u32,
}

impl StateMachine {
    /// Lays out the states for a sequence of tags from 0 to `num_tags`.
    pub(super) fn build(&mut self, sequence: &TagSequence, num_tags: usize) {
        let transitions = sequence.transitions();
        self.states.clear();
        self.count(sequence, num_tags);
        for (transition, route) in transitions.iter().zip(&mut self.routes) {
            if route.uses >= MIN_COUNT_FOR_STATE {
                self.tags[transition.to as usize].incoming -= route.uses;
                route.private_state = WANTED;
            }
        }
        for tag in 0..num_tags {
            self.add_private_list(transitions, tag);
        }
        let public_list = self.next_state();
        self.add_public_list();
        for tag in 0..num_tags {
            let leads = self.tags[tag].to_public_list;
            if leads != NONE {
                self.states[leads as usize].base = self.public_base(transitions, tag, public_list);
            } else if self.tags[tag].base == NONE {
                self.tags[tag].base = self.public_base(transitions, tag, public_list);
            }
        }
        if self.states.is_empty() {
            self.states.push(State {
                base: 0,
                ..State::without_action()
            });
        }
        self.find_routes(transitions);
    }

    pub(super) fn states(&self) -> &[State] {
        &self.states
    }

    /// Returns what is stored as the state that follows `state`: increased by the number of states if it always does.
    pub(super) fn stored_next(&self, state: State) -> u64 {
        let (base, is_implicit) = match self.tags.get(state.tag as usize) {
            Some(tag) => (tag.base, tag.is_implicit),
            None => (state.base, false),
        };
        match base {
            // No tag follows.
            NONE => 0,
            base if is_implicit => u64::from(base) + self.states.len() as u64,
            base => u64::from(base),
        }
    }

    /// Returns the first state that writes `tag`.
    pub(super) fn state_of(&self, tag: Option<u32>) -> usize {
        let found = tag.and_then(|tag| self.states.iter().position(|state| state.tag == tag));
        found.unwrap_or(0)
    }

    /// Appends the transition bytes: six bits of distance from the base, two bits that count further transitions by 0.
    pub(super) fn write_transitions(&self, sequence: &TagSequence, out: &mut Vec<u8>) {
        out.reserve(sequence.transitions().len());
        let mut last: Option<u8> = None;
        let mut push = |step: u8| match last {
            Some(byte) if step == 0 && byte & 3 < 3 => last = Some(byte + 1),
            _ => {
                out.extend(last);
                last = Some(step << 2);
            }
        };
        for transition in sequence.decoding_order() {
            let route = self.routes[transition];
            if route.count == 0 {
                continue;
            }
            push(route.first);
            if route.count > 1 {
                let others = route.others as usize;
                for &step in &self.steps[others..others + usize::from(route.count) - 1] {
                    push(step);
                }
            }
        }
        out.extend(last);
    }

    fn count(&mut self, sequence: &TagSequence, num_tags: usize) {
        let transitions = sequence.transitions();
        self.tags.clear();
        self.tags.resize(num_tags, Tag::default());
        self.routes.clear();
        self.routes.resize(transitions.len(), Route::default());
        self.starts.clear();
        self.starts.resize(num_tags + 1, 0);
        for transition in sequence.decoding_order() {
            self.routes[transition].uses += 1;
        }
        for (transition, route) in transitions.iter().zip(&self.routes) {
            self.tags[transition.to as usize].incoming += route.uses;
            self.starts[transition.from as usize + 1] += 1;
        }
        if let Some(first) = sequence.decoded_first() {
            // The state that decoding begins with must exist.
            let incoming = &mut self.tags[first as usize].incoming;
            *incoming = (*incoming).max(1);
        }
        for tag in 0..num_tags {
            // Not the tag that decoding ends with, where only the end of the transitions says so.
            let is_last = sequence.decoded_last() == u32::try_from(tag).ok();
            self.tags[tag].is_implicit = self.starts[tag + 1] == 1 && !is_last;
            self.starts[tag + 1] += self.starts[tag];
        }
        self.by_tag.clear();
        self.by_tag.resize(transitions.len(), 0);
        for (index, transition) in (0..).zip(transitions) {
            // Filled from the end of each tag's part, which brings the ends down to the beginnings.
            let end = &mut self.starts[transition.from as usize + 1];
            *end -= 1;
            self.by_tag[*end as usize] = index;
        }
        // What is now at `tag + 1` is the beginning of the part of `tag`.
        self.starts.remove(0);
        self.starts.push(u32::try_from(transitions.len()).unwrap_or(NONE));
    }

    /// Returns the range of `by_tag` that has the transitions from `tag`.
    fn outgoing(&self, tag: usize) -> std::ops::Range<usize> {
        self.starts[tag] as usize..self.starts[tag + 1] as usize
    }

    fn next_state(&self) -> u32 {
        u32::try_from(self.states.len()).unwrap_or(WANTED - 1)
    }

    /// Lays out the private list of a tag, if it has one.
    fn add_private_list(&mut self, transitions: &[Transition], tag: usize) {
        let destinations = self.outgoing(tag);
        self.candidates.clear();
        let mut excluded = None;
        let mut excluded_weight = 0;
        for &index in &self.by_tag[destinations.clone()] {
            let to = transitions[index as usize].to;
            let Route {
                uses, private_state, ..
            } = self.routes[index as usize];
            let is_wanted = private_state == WANTED;
            let incoming = &mut self.tags[to as usize].incoming;
            if is_wanted || uses == *incoming {
                if !is_wanted {
                    *incoming -= uses;
                }
                self.candidates.push(Candidate { weight: uses, what: to });
            } else {
                excluded_weight += uses;
                excluded = Some(Candidate { weight: uses, what: to });
            }
        }
        if self.candidates.is_empty() {
            return;
        }
        if let Some(only) = excluded
            && self.candidates.len() + 1 == destinations.len()
        {
            // A state for the only one left is as good as a state that leads to it.
            self.tags[only.what as usize].incoming -= only.weight;
            self.candidates.push(only);
        }
        if self.candidates.len() != destinations.len() {
            self.candidates.push(Candidate {
                weight: excluded_weight,
                what: NONE,
            });
        }
        let begin = self.states.len();
        self.tags[tag].base = self.next_state();
        self.add_list();
        // Find where the states are, now that the list is laid out.
        for (state, position) in self.states[begin..].iter().zip(self.tags[tag].base..) {
            if state.tag == NONE && state.base == NONE {
                self.tags[tag].to_public_list = position;
            } else if let Some(tag) = self.tags.get_mut(state.tag as usize) {
                tag.public_state = position;
            }
        }
        for &index in &self.by_tag[destinations] {
            // Borrowed for the time being: the public list does not exist yet.
            let place = &mut self.tags[transitions[index as usize].to as usize].public_state;
            self.routes[index as usize].private_state = std::mem::replace(place, NONE);
        }
    }

    fn add_public_list(&mut self) {
        self.candidates.clear();
        for (tag, what) in self.tags.iter().zip(0..) {
            if tag.incoming != 0 {
                self.candidates.push(Candidate {
                    weight: tag.incoming,
                    what,
                });
            }
        }
        let begin = self.states.len();
        let base = self.next_state();
        self.add_list();
        for (state, position) in self.states[begin..].iter().zip(base..) {
            if let Some(tag) = self.tags.get_mut(state.tag as usize) {
                tag.public_state = position;
            }
        }
    }

    /// Lays out the candidates from the end of a list, in blocks of 64. Blocks that do not fit the first one get a state that
    /// leads to them.
    fn add_list(&mut self) {
        let num_tags = self.tags.len();
        let mut count = self.candidates.len();
        if count == 0 {
            return;
        }
        let full_block = MAX_TRANSITION as usize + 1;
        if count > full_block {
            count += (count - 2) / MAX_TRANSITION as usize;
        }
        self.candidates.sort_unstable_by_key(Candidate::order);
        self.block_bases.clear();
        let mut state = self.states.len() + count;
        self.states.resize(state, State::without_action());
        let mut block_size = (count - 1) % full_block + 1;
        loop {
            let mut block_weight = 0;
            for _ in 0..block_size {
                let Some(candidate) = self.candidates.pop() else { break };
                block_weight += candidate.weight;
                state -= 1;
                let block = (candidate.what as usize).checked_sub(num_tags);
                match block.and_then(|block| self.block_bases.get(block).copied()) {
                    Some(base) => {
                        self.states[state].base = base;
                        let source = u32::try_from(state).unwrap_or(NONE);
                        let members = base as usize..self.states.len().min(base as usize + full_block);
                        for member in &mut self.states[members] {
                            member.source = source;
                        }
                    }
                    None => self.states[state].tag = candidate.what,
                }
            }
            if self.candidates.is_empty() {
                return;
            }
            let block = Candidate {
                weight: block_weight,
                what: u32::try_from(num_tags + self.block_bases.len()).unwrap_or(NONE),
            };
            let at = self
                .candidates
                .partition_point(|candidate| candidate.order() < block.order());
            self.candidates.insert(at, block);
            self.block_bases.push(u32::try_from(state).unwrap_or(NONE));
            block_size = full_block;
        }
    }

    /// Returns the best base from which the public states are reached that `tag` goes to.
    fn public_base(&self, transitions: &[Transition], tag: usize, public_list: u32) -> u32 {
        let mut base = NONE;
        let mut first = NONE;
        for &index in &self.by_tag[self.outgoing(tag)] {
            if self.routes[index as usize].private_state != NONE {
                continue;
            }
            let mut state = self.tags[transitions[index as usize].to as usize].public_state;
            while base > state || state - base > MAX_TRANSITION {
                if base <= state {
                    state = self.states[state as usize].source;
                    continue;
                }
                // The base lies after the state, or is not known yet: go to the block above.
                let source = if base == NONE {
                    self.states[state as usize].source
                } else {
                    let leads = self.states[base as usize].source;
                    first = first.min(leads);
                    self.states[leads as usize].source
                };
                base = match self.states.get(source as usize) {
                    Some(source) => source.base,
                    None => public_list,
                };
            }
            first = first.min(state);
        }
        first
    }

    fn find_routes(&mut self, transitions: &[Transition]) {
        self.steps.clear();
        for (transition, route) in transitions.iter().zip(&mut self.routes) {
            let from = &self.tags[transition.from as usize];
            if from.is_implicit {
                continue;
            }
            let start = self.steps.len();
            let mut base = from.base;
            let mut state = route.private_state;
            if state == NONE {
                if let Some(leads) = self.states.get(from.to_public_list as usize) {
                    add_steps(&self.states, base, from.to_public_list, &mut self.steps);
                    base = leads.base;
                }
                state = self.tags[transition.to as usize].public_state;
            }
            add_steps(&self.states, base, state, &mut self.steps);
            // A list of all tags that memory can hold is a tree of few levels.
            route.count = u8::try_from(self.steps.len() - start).unwrap_or(u8::MAX);
            route.first = self.steps[start];
            route.others = u32::try_from(start + 1).unwrap_or(NONE);
            if route.count == 1 {
                self.steps.pop();
            }
        }
    }
}

/// Appends the steps from `base` to `state`.
fn add_steps(states: &[State], base: u32, mut state: u32, steps: &mut Vec<u8>) {
    let start = steps.len();
    while base > state || state - base > MAX_TRANSITION {
        let source = states[state as usize].source;
        steps.push(step(states[source as usize].base, state));
        state = source;
    }
    steps.push(step(base, state));
    steps[start..].reverse();
}

fn step(base: u32, state: u32) -> u8 {
    debug_assert!(state - base <= MAX_TRANSITION);
    // At most 63.
    (state - base) as u8
}

impl State {
    fn without_action() -> Self {
        Self {
            tag: NONE,
            base: NONE,
            source: NONE,
        }
    }
}

impl Default for Tag {
    fn default() -> Self {
        Self {
            base: NONE,
            public_state: NONE,
            to_public_list: NONE,
            incoming: 0,
            is_implicit: false,
        }
    }
}

impl Default for Route {
    fn default() -> Self {
        Self {
            uses: 0,
            private_state: NONE,
            count: 0,
            first: 0,
            others: 0,
        }
    }
}

impl Candidate {
    /// Ascending, with what is laid out first at the end.
    fn order(&self) -> impl Ord + use<> {
        (std::cmp::Reverse(self.weight), self.what)
    }
}
