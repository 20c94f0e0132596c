//! What was written to one file and the file does not have yet: by a transaction, or while nobody else has it open.
//!
//! Byte ranges, not pages: beside others, the bytes between two changes belong to somebody else, and a page written back
//! would undo what they did there.

use std::collections::BTreeMap;
use std::ops::Range;

/// Ranges of bytes over a file, and the length that the file is to have.
///
/// The ranges never overlap, and none is empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct FileOverlay {
    extents: BTreeMap<u64, Vec<u8>>,
    /// From here on nothing of the file below shows.
    cut: Option<u64>,
    /// The length at least.
    least_len: u64,
}

impl FileOverlay {
    pub(crate) fn is_empty(&self) -> bool {
        self.extents.is_empty() && self.cut.is_none() && self.least_len == 0
    }

    /// The length over a file of `below` bytes.
    pub(crate) fn len(&self, below: u64) -> u64 {
        let kept = self.cut.map_or(below, |cut| below.min(cut));
        let written = self
            .extents
            .last_key_value()
            .map_or(0, |(start, bytes)| start + len(bytes));
        kept.max(written).max(self.least_len)
    }

    pub(crate) fn write(&mut self, offset: u64, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        if let Some(mut last) = self.extents.last_entry()
            && let Some(at) = offset.checked_sub(*last.key()).and_then(|at| usize::try_from(at).ok())
            && at <= last.get().len()
        {
            // Nothing lies behind it.
            put(last.get_mut(), at, bytes);
            return;
        }
        // A write that goes on where an earlier one ended, as records do, makes that one longer.
        let before = self.extents.range_mut(..=offset).next_back();
        let before = before.and_then(|(start, data)| {
            let at = usize::try_from(offset - start).ok()?;
            (at <= data.len()).then_some((*start, data, at))
        });
        let (start, end) = match before {
            Some((start, data, at)) => {
                put(data, at, bytes);
                (start, start + len(data))
            }
            None => {
                self.extents.insert(offset, bytes.to_vec());
                (offset, offset + len(bytes))
            }
        };
        self.swallow(start, end);
    }

    /// Joins what overlaps with the extent at `start..end`, which is the newest.
    fn swallow(&mut self, start: u64, end: u64) {
        while let Some(next) = self.extents.range(start + 1..end).next().map(|(next, _)| *next) {
            let older = self.extents.remove(&next).unwrap_or_default();
            let hidden = usize::try_from(end - next).unwrap_or(usize::MAX);
            if let (Some(tail), Some(data)) = (older.get(hidden..), self.extents.get_mut(&start)) {
                data.extend_from_slice(tail);
            }
        }
    }

    /// Makes a file, which has `below` bytes without this overlay, end at `new_len`.
    pub(crate) fn set_len(&mut self, new_len: u64, below: u64) {
        if new_len < self.len(below) {
            self.shorten(new_len);
            if new_len < below {
                self.cut = Some(self.cut.map_or(new_len, |cut| cut.min(new_len)));
            }
        }
        self.least_len = self.least_len.max(new_len);
    }

    fn shorten(&mut self, new_len: u64) {
        self.extents.split_off(&new_len);
        if let Some((start, data)) = self.extents.range_mut(..new_len).next_back() {
            data.truncate(usize::try_from(new_len - start).unwrap_or(usize::MAX));
        }
        self.least_len = self.least_len.min(new_len);
    }

    /// Fills `buf` if all of it was written here; false, and `buf` as it was, if not.
    pub(crate) fn read(&self, offset: u64, buf: &mut [u8]) -> bool {
        let extent = self.extents.range(..=offset).next_back();
        let found = extent.and_then(|(start, data)| {
            let at = usize::try_from(offset - start).ok()?;
            data.get(at..)?.get(..buf.len())
        });
        if let Some(found) = found {
            buf.copy_from_slice(found);
        }
        found.is_some()
    }

    /// Lays itself over `buf`, the bytes from `offset` on as they are below.
    pub(crate) fn read_over(&self, offset: u64, buf: &mut [u8]) {
        let end = offset.saturating_add(len(buf));
        if let Some(cut) = self.cut.filter(|cut| *cut < end) {
            let visible = usize::try_from(cut.saturating_sub(offset)).unwrap_or(usize::MAX);
            buf.get_mut(visible..).unwrap_or_default().fill(0);
        }
        let first = self
            .extents
            .range(..=offset)
            .next_back()
            .map_or(offset, |(start, _)| *start);
        for (start, data) in self.extents.range(first..end.max(first)) {
            let from = usize::try_from(offset.saturating_sub(*start)).unwrap_or(usize::MAX);
            let to = usize::try_from(start.saturating_sub(offset)).unwrap_or(usize::MAX);
            let (Some(data), Some(slot)) = (data.get(from..), buf.get_mut(to..)) else {
                continue;
            };
            let both = data.len().min(slot.len());
            if let (Some(slot), Some(data)) = (slot.get_mut(..both), data.get(..both)) {
                slot.copy_from_slice(data);
            }
        }
    }

    /// Takes over what was written above it.
    pub(crate) fn absorb(&mut self, above: Self) {
        if let Some(cut) = above.cut {
            self.shorten(cut);
            self.cut = Some(self.cut.map_or(cut, |own| own.min(cut)));
        }
        if self.extents.is_empty() {
            self.extents = above.extents;
        } else {
            above.extents.iter().for_each(|(start, data)| self.write(*start, data));
        }
        self.least_len = self.least_len.max(above.least_len);
    }

    /// Writes zero bytes where the file was cut and then became longer again, so that its ranges and its length say all.
    pub(crate) fn fill_holes(&mut self, below: u64) {
        let Some(cut) = self.cut else { return };
        let end = self.len(below);
        let mut at = cut;
        let mut holes: Vec<Range<u64>> = Vec::new();
        for (start, data) in &self.extents {
            if *start > at {
                holes.push(at..*start);
            }
            at = at.max(start + len(data));
        }
        holes.push(at..end);
        for hole in holes.into_iter().filter(|hole| hole.start < hole.end) {
            let zeros = vec![0; usize::try_from(hole.end - hole.start).unwrap_or_default()];
            self.write(hole.start, &zeros);
        }
    }

    /// What is written where, in ascending order.
    pub(crate) fn extents(&self) -> impl Iterator<Item = (u64, &[u8])> {
        self.extents.iter().map(|(start, data)| (*start, data.as_slice()))
    }
}

/// Writes bytes over those that begin at a place, which is at most the end, and makes them longer where need be.
fn put(data: &mut Vec<u8>, at: usize, bytes: &[u8]) {
    let (over, behind) = bytes.split_at(bytes.len().min(data.len().saturating_sub(at)));
    if let Some(slot) = data.get_mut(at..at + over.len()) {
        slot.copy_from_slice(over);
    }
    data.extend_from_slice(behind);
}

fn len(bytes: &[u8]) -> u64 {
    bytes.len() as u64
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    #[derive(Debug, Clone)]
    enum Step {
        Write(u64, Vec<u8>),
        SetLen(u64),
        Layer,
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            6 => (0u64..60, vec(1u8..255, 0..20)).prop_map(|(at, bytes)| Step::Write(at, bytes)),
            2 => (0u64..70).prop_map(Step::SetLen),
            1 => Just(Step::Layer),
        ]
    }

    fn over(overlay: &FileOverlay, below: &[u8]) -> Vec<u8> {
        let len = usize::try_from(overlay.len(below.len() as u64)).unwrap();
        let mut bytes = below.to_vec();
        bytes.resize(len.max(below.len()), 0);
        bytes.truncate(len);
        overlay.read_over(0, &mut bytes);
        bytes
    }

    proptest! {
        #[test]
        fn layers_show_what_a_plain_file_would_hold(base in vec(any::<u8>(), 0..40), steps in vec(step(), 0..30), offset in 0usize..50) {
            let mut model = base.clone();
            let mut layers = vec![FileOverlay::default()];
            for step in steps {
                let below: Vec<u8> = layers[..layers.len() - 1].iter().fold(base.clone(), |bytes, layer| over(layer, &bytes));
                let top = layers.last_mut().unwrap();
                match step {
                    Step::Write(at, bytes) => {
                        top.write(at, &bytes);
                        let at = usize::try_from(at).unwrap();
                        if !bytes.is_empty() {
                            model.resize(model.len().max(at + bytes.len()), 0);
                            model[at..at + bytes.len()].copy_from_slice(&bytes);
                        }
                    }
                    Step::SetLen(len) => {
                        top.set_len(len, below.len() as u64);
                        model.resize(usize::try_from(len).unwrap(), 0);
                    }
                    Step::Layer => layers.push(FileOverlay::default()),
                }
                let seen = layers.iter().fold(base.clone(), |bytes, layer| over(layer, &bytes));
                prop_assert_eq!(&seen, &model);
            }
            let mut joined = FileOverlay::default();
            layers.into_iter().for_each(|layer| joined.absorb(layer));
            prop_assert_eq!(&over(&joined, &base), &model);
            let ends: Vec<_> = joined.extents().map(|(start, bytes)| start..start + bytes.len() as u64).collect();
            prop_assert!(ends.windows(2).all(|two| two[0].end <= two[1].start));
            if offset <= model.len() {
                let mut part = base.get(offset..).unwrap_or_default().to_vec();
                part.resize(model.len() - offset, 0);
                joined.read_over(offset as u64, &mut part);
                prop_assert_eq!(&part, &model[offset..]);
                let mut whole = vec![0; part.len()];
                if joined.read(offset as u64, &mut whole) {
                    prop_assert_eq!(whole, part);
                }
            }

            // Without holes the ranges alone, written to the file, and the length give the same.
            joined.fill_holes(base.len() as u64);
            let mut file = base.clone();
            for (start, bytes) in joined.extents() {
                let start = usize::try_from(start).unwrap();
                file.resize(file.len().max(start + bytes.len()), 0);
                file[start..start + bytes.len()].copy_from_slice(bytes);
            }
            file.resize(usize::try_from(joined.len(base.len() as u64)).unwrap(), 0);
            prop_assert_eq!(file, model);
        }
    }
}
