//! Changes of a file that nobody else has open, kept in memory until they are written together.
//!
//! Reads see them. They go to the file when they are told to ([`Storage::write_out`]), first those that need room on the disk.
//! When that fails, the file is made again what it was, as far as it can still be written, and the changes wait on: the next
//! try writes them all.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::file_overlay::FileOverlay;
use crate::stamp::FileStamp;
use crate::storage::Storage;

/// A storage whose changes wait in memory.
#[derive(Debug)]
pub(crate) struct WaitingWrites<S> {
    below: S,
    waiting: RwLock<Waiting>,
    /// What was written since the last time that nothing waited, and what keeping it takes.
    bytes: AtomicUsize,
}

#[derive(Debug, Default)]
struct Waiting {
    overlay: FileOverlay,
    /// The length of the file below, once it was asked for: nobody else changes it.
    below_len: OnceLock<u64>,
    /// Something of a try that failed may be left in the file: until a try succeeds it is not what it was, whatever waits.
    is_spoiled: bool,
}

impl Waiting {
    /// The file below is all there is.
    fn is_nothing(&self) -> bool {
        self.overlay.is_empty() && !self.is_spoiled
    }
}

/// What a change takes in memory beside its bytes, about.
const ENTRY: usize = 64;
/// Changes that begin so near to one another are written in one.
const NEAR: u64 = 2048;
/// So many at most.
const TOGETHER: usize = 64;

impl<S: Storage> WaitingWrites<S> {
    pub(crate) fn over(below: S) -> Self {
        Self {
            below,
            waiting: RwLock::default(),
            bytes: AtomicUsize::new(0),
        }
    }

    pub(crate) fn below(&self) -> &S {
        &self.below
    }

    /// Begins anew where nothing waits: the file may have been changed past it.
    pub(crate) fn begin(&self) {
        let mut waiting = self.held_to_change();
        if waiting.is_nothing() {
            *waiting = Waiting::default();
        }
    }

    /// Counts so much more that waits. Who changes what waits is alone.
    fn count(&self, _alone: &mut Waiting, more: usize) {
        let bytes = self.bytes.load(Ordering::Relaxed).saturating_add(more);
        self.bytes.store(bytes, Ordering::Relaxed);
    }

    // Every change of what waits is made at once, so that one that was cut off left it whole.
    fn held(&self) -> RwLockReadGuard<'_, Waiting> {
        self.waiting.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn held_to_change(&self) -> RwLockWriteGuard<'_, Waiting> {
        self.waiting.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn below_len(&self, waiting: &Waiting) -> io::Result<u64> {
        match waiting.below_len.get() {
            Some(len) => Ok(*len),
            None => self.below.len().map(|len| *waiting.below_len.get_or_init(|| len)),
        }
    }
}

impl<S: Storage> Storage for WaitingWrites<S> {
    fn len(&self) -> io::Result<u64> {
        let waiting = self.held();
        match waiting.is_nothing() {
            true => self.below.len(),
            false => Ok(waiting.overlay.len(self.below_len(&waiting)?)),
        }
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        let waiting = self.held();
        if waiting.is_nothing() {
            return self.below.read_exact_at(buf, offset);
        }
        if waiting.overlay.read(offset, buf) {
            return Ok(());
        }
        let below_len = self.below_len(&waiting)?;
        let end = offset.checked_add(buf.len() as u64);
        if end.is_none_or(|end| end > waiting.overlay.len(below_len)) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let below = usize::try_from(below_len.saturating_sub(offset)).unwrap_or(usize::MAX);
        let (below, behind) = buf.split_at_mut(below.min(buf.len()));
        behind.fill(0);
        if !below.is_empty() {
            self.below.read_exact_at(below, offset)?;
        }
        waiting.overlay.read_over(offset, buf);
        Ok(())
    }

    fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let mut waiting = self.held_to_change();
        waiting.overlay.write(offset, bytes);
        self.count(&mut waiting, bytes.len().saturating_add(ENTRY));
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let mut waiting = self.held_to_change();
        let below_len = self.below_len(&waiting)?;
        waiting.overlay.set_len(len, below_len);
        self.count(&mut waiting, ENTRY);
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        self.write_out()?;
        self.below.sync()
    }

    fn stamp(&self) -> Option<FileStamp> {
        let waiting = self.held();
        waiting.is_nothing().then(|| self.below.stamp()).flatten()
    }

    fn waiting(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    fn write_out(&self) -> io::Result<()> {
        let mut waiting = self.held_to_change();
        if !waiting.is_nothing() {
            let old_len = self.below_len(&waiting)?;
            waiting.overlay.fill_holes(old_len);
            let mut before = Vec::new();
            if let Err(e) = put(&self.below, &waiting.overlay, old_len, &mut before) {
                put_back(&self.below, &before, old_len);
                waiting.is_spoiled = true;
                return Err(e);
            }
        }
        *waiting = Waiting::default();
        self.bytes.store(0, Ordering::Relaxed);
        Ok(())
    }
}

/// Writes what waits over a file of `old_len` bytes. `before` gets what was there.
fn put(file: &impl Storage, overlay: &FileOverlay, old_len: u64, before: &mut Vec<(u64, Vec<u8>)>) -> io::Result<()> {
    if file.len()? > old_len {
        // What a try that failed left there.
        file.set_len(old_len)?;
    }
    let is_inside = |(start, bytes): &(u64, &[u8])| start + bytes.len() as u64 <= old_len;
    let (inside, behind): (Vec<_>, Vec<_>) = overlay.extents().partition(is_inside);
    for (start, bytes) in behind {
        let there = usize::try_from(old_len.saturating_sub(start)).unwrap_or(usize::MAX);
        let mut old = vec![0; there.min(bytes.len())];
        if !old.is_empty() {
            file.read_exact_at(&mut old, start)?;
        }
        before.push((start, old));
        file.write_all_at(bytes, start)?;
    }
    // Nobody else writes what lies between two changes.
    let near = inside.chunk_by(|a, b| b.0 - a.0 <= NEAR);
    for span in near.flat_map(|near| near.chunks(TOGETHER)) {
        let (Some((start, _)), Some((last, bytes))) = (span.first(), span.last()) else {
            continue;
        };
        let len = usize::try_from(last - start)
            .unwrap_or(usize::MAX)
            .saturating_add(bytes.len());
        let mut old = vec![0; len];
        file.read_exact_at(&mut old, *start)?;
        let mut new = old.clone();
        overlay.read_over(*start, &mut new);
        before.push((*start, old));
        file.write_all_at(&new, *start)?;
    }
    // A file that ends before is cut last, since what is cut off cannot be put back.
    let len = overlay.len(old_len);
    if len != file.len()? {
        file.set_len(len)?;
    }
    Ok(())
}

/// Makes a file what it was, as far as it can be written.
fn put_back(file: &impl Storage, before: &[(u64, Vec<u8>)], old_len: u64) {
    for (start, old) in before.iter().filter(|(_, old)| !old.is_empty()) {
        let _ = file.write_all_at(old, *start);
    }
    if file.len().is_ok_and(|len| len > old_len) {
        let _ = file.set_len(old_len);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// A file in memory whose nth change stops half way, and after it so many more do nothing at all.
    #[derive(Debug, Default)]
    struct Faulty {
        bytes: Arc<Mutex<Vec<u8>>>,
        steps: Mutex<u64>,
        fails: (u64, u64),
    }

    impl Faulty {
        /// How much of the next change is made, of 2.
        fn step(&self) -> u8 {
            let mut steps = self.steps.lock().unwrap();
            *steps += 1;
            match *steps {
                step if step == self.fails.0 => 1,
                step if (self.fails.0..=self.fails.0 + self.fails.1).contains(&step) => 0,
                _ => 2,
            }
        }
    }

    impl Storage for Faulty {
        fn len(&self) -> io::Result<u64> {
            Ok(self.bytes.lock().unwrap().len() as u64)
        }

        fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
            let (bytes, start) = (self.bytes.lock().unwrap(), usize::try_from(offset).unwrap());
            let found = bytes.get(start..).and_then(|rest| rest.get(..buf.len()));
            buf.copy_from_slice(found.ok_or(io::ErrorKind::UnexpectedEof)?);
            Ok(())
        }

        fn write_all_at(&self, new: &[u8], offset: u64) -> io::Result<()> {
            let done = self.step();
            let new = &new[..new.len() * usize::from(done) / 2];
            let (mut bytes, start) = (self.bytes.lock().unwrap(), usize::try_from(offset).unwrap());
            if !new.is_empty() {
                let len = bytes.len().max(start + new.len());
                bytes.resize(len, 0);
                bytes[start..start + new.len()].copy_from_slice(new);
            }
            match done {
                2 => Ok(()),
                _ => Err(io::ErrorKind::StorageFull.into()),
            }
        }

        fn set_len(&self, len: u64) -> io::Result<()> {
            if self.step() < 2 {
                return Err(io::ErrorKind::StorageFull.into());
            }
            self.bytes.lock().unwrap().resize(usize::try_from(len).unwrap(), 0);
            Ok(())
        }

        fn sync(&self) -> io::Result<()> {
            Ok(())
        }
    }

    #[derive(Debug, Clone)]
    enum Step {
        Write(usize, Vec<u8>),
        SetLen(usize),
        WriteOut,
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            6 => (0_usize..60, vec(any::<u8>(), 1..20)).prop_map(|(at, bytes)| Step::Write(at, bytes)),
            1 => (0_usize..70).prop_map(Step::SetLen),
            1 => Just(Step::WriteOut),
        ]
    }

    fn change(model: &mut Vec<u8>, step: &Step) {
        match step {
            Step::Write(at, bytes) => {
                model.resize(model.len().max(at + bytes.len()), 0);
                model[*at..at + bytes.len()].copy_from_slice(bytes);
            }
            Step::SetLen(len) => model.resize(*len, 0),
            Step::WriteOut => {}
        }
    }

    fn apply(file: &WaitingWrites<Faulty>, step: &Step) -> io::Result<()> {
        match step {
            Step::Write(at, bytes) => file.write_all_at(bytes, *at as u64),
            Step::SetLen(len) => file.set_len(*len as u64),
            Step::WriteOut => file.write_out(),
        }
    }

    fn all(file: &impl Storage) -> Vec<u8> {
        let mut bytes = vec![0; usize::try_from(file.len().unwrap()).unwrap()];
        file.read_exact_at(&mut bytes, 0).unwrap();
        bytes
    }

    #[test]
    fn a_file_whose_growth_failed_half_way_and_is_given_up_has_its_length_again() {
        // The first write stops half way, and cutting off what it left fails too.
        let below = Faulty {
            fails: (1, 1),
            ..Faulty::default()
        };
        let bytes = Arc::clone(&below.bytes);
        let file = WaitingWrites::over(below);
        file.write_all_at(&[1, 2], 0).unwrap();
        file.write_out().unwrap_err();
        assert_eq!(*bytes.lock().unwrap(), [1]);
        file.set_len(0).unwrap();
        assert_eq!((file.len().unwrap(), file.stamp()), (0, None));
        file.read_exact_at(&mut [0], 0).unwrap_err();
        file.write_out().unwrap();
        assert!(bytes.lock().unwrap().is_empty());
    }

    proptest! {
        #[test]
        fn what_waits_is_read_as_if_it_were_written(
            base in vec(any::<u8>(), 0..50),
            steps in vec(step(), 0..20),
            (at, len) in (0_usize..70, 0_usize..30),
        ) {
            let below = Faulty { bytes: Arc::new(Mutex::new(base.clone())), ..Faulty::default() };
            let bytes = Arc::clone(&below.bytes);
            let (file, mut model) = (WaitingWrites::over(below), base);
            for step in &steps {
                apply(&file, step).unwrap();
                change(&mut model, step);
                prop_assert_eq!(&all(&file), &model);
                let mut part = vec![0; len];
                let read = file.read_exact_at(&mut part, at as u64);
                match model.get(at..at + len) {
                    Some(expected) => prop_assert_eq!(&part[..], expected),
                    None => prop_assert_eq!(read.unwrap_err().kind(), io::ErrorKind::UnexpectedEof),
                }
            }
            file.sync().unwrap();
            prop_assert_eq!(&*bytes.lock().unwrap(), &model);
            prop_assert_eq!(file.waiting(), 0);
        }

        #[test]
        fn what_cannot_be_written_waits_on_and_the_file_stays_as_it_was(
            base in vec(any::<u8>(), 0..50),
            writes in vec((0_usize..60, vec(any::<u8>(), 1..20)), 1..8),
            fail_at in 1_u64..8,
        ) {
            let fails = (fail_at, 0);
            let below = Faulty { bytes: Arc::new(Mutex::new(base.clone())), fails, ..Faulty::default() };
            let bytes = Arc::clone(&below.bytes);
            let (file, mut model) = (WaitingWrites::over(below), base.clone());
            for (at, new) in writes {
                file.write_all_at(&new, at as u64).unwrap();
                change(&mut model, &Step::Write(at, new));
            }
            if file.write_out().is_err() {
                prop_assert_eq!(&*bytes.lock().unwrap(), &base);
                prop_assert_eq!(&all(&file), &model);
                prop_assert!(file.waiting() > 0);
                file.write_out().unwrap();
            }
            prop_assert_eq!(&*bytes.lock().unwrap(), &model);
        }

        #[test]
        fn nothing_is_lost_while_the_disk_is_full(
            base in vec(any::<u8>(), 0..50),
            steps in vec(step(), 1..12),
            fails in (1_u64..4, 1_u64..20),
        ) {
            let below = Faulty { bytes: Arc::new(Mutex::new(base.clone())), fails, ..Faulty::default() };
            let bytes = Arc::clone(&below.bytes);
            let (file, mut model) = (WaitingWrites::over(below), base);
            for step in &steps {
                // A try that fails is no change.
                let _ = apply(&file, step);
                change(&mut model, step);
                prop_assert_eq!(&all(&file), &model);
            }
            while file.write_out().is_err() {
                prop_assert_eq!(&all(&file), &model);
            }
            prop_assert_eq!(&*bytes.lock().unwrap(), &model);
        }
    }
}
