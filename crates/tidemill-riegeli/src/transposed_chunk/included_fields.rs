//! What a projection keeps, as a tree over field numbers, and its decision on a state.
//!
//! The decision is that of the C++ library (google/riegeli, `riegeli/chunk_encoding/transpose_decoder.cc`, `SetCallbackType`):
//! it is made once for a state, when it is first visited, by the submessages that are open then.

use std::collections::HashMap;

use super::{
    header::{Kind, State},
    node::Inclusion,
};
use crate::field_projection::{Field, FieldProjection};

/// The fields to keep, by the message that they are in.
pub(crate) struct IncludedFields {
    fields: HashMap<(Message, u32), Included>,
}

/// The root message, or the number of the field that the message is in.
type Message = Option<usize>;

struct Included {
    id: usize,
    extent: Extent,
}

/// How much of a field is kept, the most first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Extent {
    Whole,
    /// Some fields below it.
    Children,
    ExistenceOnly,
}

impl IncludedFields {
    /// Returns the fields of `projection`, `None` if it includes all.
    pub(crate) fn new(projection: &FieldProjection) -> Option<Self> {
        if projection.includes_all() {
            return None;
        }
        let mut fields: HashMap<(Message, u32), Included> = HashMap::new();
        for field in projection.fields() {
            let (numbers, last) = match field.path().strip_suffix(&[Field::EXISTENCE_ONLY]) {
                Some(numbers) => (numbers, Extent::ExistenceOnly),
                None => (field.path(), Extent::Whole),
            };
            let mut message = None;
            for (index, &number) in numbers.iter().enumerate() {
                let extent = if index + 1 == numbers.len() {
                    last
                } else {
                    Extent::Children
                };
                let id = fields.len();
                let included = fields.entry((message, number)).or_insert(Included { id, extent });
                included.extent = included.extent.min(extent);
                message = Some(included.id);
            }
        }
        Some(Self { fields })
    }

    /// Decides on `state`. `open` are the tags of the open submessages and groups that are not left out, the outermost first;
    /// `skipped` says whether one that is left out is open.
    pub(super) fn inclusion(&self, state: &State, open: impl Iterator<Item = u32>, skipped: bool) -> Inclusion {
        if skipped {
            return Inclusion::No;
        }
        if state.kind == Kind::StartOfSubmessage {
            return Inclusion::Yes;
        }
        let mut message = None;
        for tag in open {
            match self.fields.get(&(message, tag >> 3)) {
                None => return Inclusion::No,
                Some(Included {
                    extent: Extent::Whole, ..
                }) => return Inclusion::Yes,
                Some(included) => message = Some(included.id),
            }
        }
        // The end of a group is visited before its start, and is open.
        if state.kind == Kind::StartGroup {
            return Inclusion::ExistenceOnly;
        }
        match self.fields.get(&(message, state.tag >> 3)) {
            None => Inclusion::No,
            Some(Included {
                extent: Extent::ExistenceOnly,
                ..
            }) => Inclusion::ExistenceOnly,
            Some(_) => Inclusion::Yes,
        }
    }
}
