//! Jumps: what happens between two transitions, or up to the next state that does something, when a projection leaves out
//! the fields in between.
//!
//! The six high bits of a transition byte choose one of the states that follow each other, the two low bits say how many more
//! go straight on. So the jumps of a state are four that lie together, and the byte is added to where the first of them is.

use super::node::{Action, Node};

/// How far a jump looks.
const REACH: usize = 16;

/// What is passed over from a state with a number of transitions that go straight on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Jump {
    pub(super) to: To,
    /// How many more submessages that are left out are open after the jump than before.
    pub(super) skipped: i8,
    /// The fewest of them on the way.
    pub(super) lowest: i8,
}

/// Where a jump ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum To {
    /// At a node to visit, with this many transitions that go straight on.
    Node { at: u32, straight: u8 },
    /// At a transition to read; the byte is to be added to this number of a jump.
    Transition { base: u32 },
}

/// Fills `jumps` with four for each node: those with no, one, two and three transitions that go straight on. Leaves it empty
/// where jumps would take longer than steps: if most nodes do something.
pub(super) fn compile(nodes: &[Node], jumps: &mut Vec<Jump>) {
    jumps.clear();
    let decided = nodes.iter().filter(|node| node.action != Action::Select);
    let idle = nodes.iter().filter(|node| is_idle(node.action)).count();
    let Some(count) = u32::try_from(nodes.len()).ok().filter(|&count| count < u32::MAX / 4) else {
        return;
    };
    if idle * 2 < decided.count() {
        return;
    }
    jumps.reserve(nodes.len() * 4);
    for at in 0..count {
        jumps.extend((0..4).map(|straight| from(nodes, at, straight)));
    }
}

/// Returns whether nothing is read or written at a node.
fn is_idle(action: Action) -> bool {
    matches!(action, Action::NoOp | Action::SkippedEnd | Action::SkippedStart)
}

fn from(nodes: &[Node], mut at: u32, mut straight: u8) -> Jump {
    let (mut skipped, mut lowest) = (0, 0);
    for _ in 0..REACH {
        let Some(node) = nodes.get(at as usize) else { break };
        match node.action {
            Action::NoOp => {}
            Action::SkippedEnd => skipped += 1,
            Action::SkippedStart => skipped -= 1,
            _ => break,
        }
        lowest = lowest.min(skipped);
        if node.implicit {
            at = node.next;
        } else if straight > 0 {
            straight -= 1;
            at = node.next;
        } else {
            return Jump {
                to: To::Transition { base: node.next * 4 },
                skipped,
                lowest,
            };
        }
    }
    Jump {
        to: To::Node { at, straight },
        skipped,
        lowest,
    }
}
