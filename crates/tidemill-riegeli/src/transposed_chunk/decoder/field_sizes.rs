//! How many bytes each field of the messages takes in a chunk, by a run of the state machine that reads no values.

use std::collections::BTreeMap;

use super::TransposedDecoder;
use crate::{
    codec::{CompressionType, Size},
    error::Damage,
    transposed_chunk::{
        buckets::decompressed_size,
        header::{Kind, State},
    },
};

/// Bytes of one field in transposed chunks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FieldSize {
    /// Its values, before compression. Small numbers are part of the state machine and take none.
    pub decoded: u64,
    /// Its share of the compressed buckets, each divided by decoded sizes.
    pub stored: u64,
}

/// The bytes of fields by their path of field numbers. The empty path is for records that are no messages.
pub type FieldSizes = BTreeMap<Vec<u32>, FieldSize>;

impl TransposedDecoder {
    /// Adds what each field takes in the chunk `data` to `sizes`. No section may grow beyond `limit` bytes.
    pub(crate) fn add_field_sizes(&mut self, data: &[u8], limit: usize, sizes: &mut FieldSizes) -> Result<(), Damage> {
        let (compression, first, transitions) = self.read(data, limit)?;
        let transitions = match compression {
            CompressionType::None => transitions,
            _ => {
                let size = Size::Exactly(decompressed_size(compression, transitions, limit)?);
                self.decompressor
                    .decompress(compression, transitions, size, &mut self.transitions)?;
                self.transitions.as_slice()
            }
        };
        self.chains.longest(&self.states)?;
        let mut paths: Vec<Option<Vec<u32>>> = vec![None; self.buckets.num_buffers()];
        visit_fields(&self.states, first, transitions, |state, path| {
            if let Some(known) = paths.get_mut(state.buffer as usize) {
                known.get_or_insert_with(|| path.to_vec());
            } else {
                sizes.entry(path.to_vec()).or_default();
            }
        })?;
        for (path, (decoded, stored)) in paths.into_iter().zip(self.buckets.buffer_sizes()) {
            // The buffer that no state has is the one of the lengths of records that are no messages.
            let size = sizes.entry(path.unwrap_or_default()).or_default();
            size.decoded = size.decoded.saturating_add(decoded);
            size.stored = size.stored.saturating_add(stored);
        }
        Ok(())
    }
}

/// Follows the transitions, and calls `visit` with each state of a field that it comes to for the first time, and the path
/// of the field.
fn visit_fields(
    states: &[State],
    first: u32,
    transitions: &[u8],
    mut visit: impl FnMut(&State, &[u32]),
) -> Result<(), Damage> {
    let invalid = |what| Damage::Invalid { what };
    let mut seen = vec![false; states.len()];
    let mut path: Vec<u32> = Vec::new();
    let mut at = first as usize;
    let mut transitions = transitions.iter();
    let mut straight = 0;
    loop {
        let (Some(state), Some(seen)) = (states.get(at), seen.get_mut(at)) else {
            return Err(invalid("state"));
        };
        let number = state.tag >> 3;
        match state.kind {
            // The machine goes through a record from its end.
            Kind::EndOfSubmessage | Kind::EndGroup => path.push(number),
            Kind::StartOfSubmessage | Kind::StartGroup => {
                path.pop().ok_or(invalid("submessages: one more starts than ends"))?;
            }
            Kind::NoOp | Kind::StartOfMessage => {}
            Kind::NonProto if !*seen => visit(state, &[]),
            _ if !*seen => {
                path.push(number);
                visit(state, &path);
                path.pop();
            }
            _ => {}
        }
        *seen = true;
        at = state.next as usize;
        if state.implicit {
            continue;
        }
        if straight > 0 {
            straight -= 1;
            continue;
        }
        let Some(&byte) = transitions.next() else {
            return Ok(());
        };
        at += usize::from(byte >> 2);
        straight = byte & 3;
    }
}
