//! Memory for the states of the C library, kept from section to section.
//!
//! The library makes a new state for every section and knows no way to use one again. Its large tables would be fresh pages of
//! the system each time, which take a sixth of the time of compressing.

#![expect(unsafe_code, reason = "the C library calls back for memory")]

use std::{ffi::c_void, mem::MaybeUninit, ptr};

/// What blocks consist of, aligned for any type of C.
type Unit = MaybeUninit<u128>;

/// Blocks of this size and more begin in the middle of a page, and what the library copies mostly begins near a page's start.
/// AMD processors move bytes at a tenth of their speed (`rep movsb`, Zen 4) to a place that is 1 to 31 bytes further into its
/// page than where they come from.
const LARGE: usize = 64 << 10;
const PAGE: usize = 4 << 10;

/// Blocks of memory. There are never more than were in use at the same time.
#[derive(Default)]
pub(in crate::codec) struct Memory {
    used: Vec<Block>,
    spare: Vec<Block>,
}

struct Block {
    memory: Vec<Unit>,
    /// How many units of the memory are in front of it.
    begin: usize,
}

impl Block {
    /// Returns a block of at least `units`, `None` when there is no memory.
    fn new(units: usize) -> Option<Self> {
        let mut memory = Vec::<Unit>::new();
        if units < LARGE / size_of::<Unit>() {
            memory.try_reserve_exact(units).ok()?;
            return Some(Self { memory, begin: 0 });
        }
        memory
            .try_reserve_exact(units.checked_add(PAGE / size_of::<Unit>())?)
            .ok()?;
        let into_page = memory.as_ptr().addr() % PAGE;
        let begin = (PAGE + PAGE / 2 - into_page) % PAGE / size_of::<Unit>();
        Some(Self { memory, begin })
    }

    fn size(&self) -> usize {
        self.memory.capacity() - self.begin
    }

    fn address(&mut self) -> *mut Unit {
        self.memory.as_mut_ptr().wrapping_add(self.begin)
    }
}

impl Memory {
    /// Returns what the callbacks get. It may be used as long as the memory is borrowed.
    pub(super) fn opaque(&mut self) -> *mut c_void {
        ptr::from_mut(self).cast()
    }

    /// Returns a block of at least `units`, null when there is no memory.
    fn allocate(&mut self, units: usize) -> *mut Unit {
        let fitting = (0..self.spare.len()).filter(|&at| self.spare[at].size() >= units);
        let mut block = match fitting.min_by_key(|&at| self.spare[at].size()) {
            Some(at) => self.spare.swap_remove(at),
            None => {
                // In place of the largest of those that are too small.
                let largest = (0..self.spare.len()).max_by_key(|&at| self.spare[at].size());
                drop(largest.map(|at| self.spare.swap_remove(at)));
                match Block::new(units) {
                    Some(block) => block,
                    None => return ptr::null_mut(),
                }
            }
        };
        let address = block.address();
        self.used.push(block);
        address
    }

    fn release(&mut self, address: *mut Unit) {
        let found = self
            .used
            .iter_mut()
            .rposition(|block| ptr::eq(block.address(), address));
        self.spare.extend(found.map(|at| self.used.swap_remove(at)));
    }
}

/// Allocates for the library, from the [`Memory`] that `opaque` is.
pub(super) unsafe extern "C" fn allocate(opaque: *mut c_void, size: usize) -> *mut c_void {
    // SAFETY: the library was given a memory that is borrowed for as long as its state is alive, and calls back one at a time.
    let memory = unsafe { &mut *opaque.cast::<Memory>() };
    memory.allocate(size.div_ceil(size_of::<Unit>()).max(1)).cast()
}

/// Takes back what [`allocate`] returned.
pub(super) unsafe extern "C" fn release(opaque: *mut c_void, address: *mut c_void) {
    // SAFETY: as in `allocate`.
    let memory = unsafe { &mut *opaque.cast::<Memory>() };
    memory.release(address.cast());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_used_again_and_do_not_become_more() {
        let mut memory = Memory::default();
        let first = memory.allocate(100);
        let second = memory.allocate(10);
        memory.release(first);
        assert!(ptr::eq(memory.allocate(90), first));
        memory.release(second);
        memory.release(first);
        assert!(ptr::eq(memory.allocate(10), second), "the smallest that fits");
        memory.release(second);
        for units in 100..200 {
            let block = memory.allocate(units);
            memory.release(block);
        }
        assert_eq!((memory.used.len(), memory.spare.len()), (0, 2));
        memory.release(ptr::null_mut());
        assert_eq!(memory.spare.len(), 2);
    }

    #[test]
    fn large_blocks_begin_in_the_middle_of_a_page() {
        let mut memory = Memory::default();
        for bytes in [LARGE, LARGE + 16, 1 << 20, 5 << 20] {
            let block = memory.allocate(bytes / size_of::<Unit>());
            assert_eq!(block.addr() % PAGE, PAGE / 2, "{bytes} bytes");
            // SAFETY: the block has as many.
            unsafe { block.cast::<u8>().write_bytes(0, bytes) };
        }
    }

    #[test]
    fn no_memory_is_null() {
        assert!(Memory::default().allocate(usize::MAX).is_null());
    }
}
