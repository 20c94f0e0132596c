//! Memory for the states of the C library, kept from section to section.
//!
//! The library makes a new state for every section and knows no way to use one again. Its large tables would be fresh pages of
//! the system each time, which take a sixth of the time of compressing.

#![expect(unsafe_code, reason = "the C library calls back for memory")]

use std::{ffi::c_void, mem::MaybeUninit, ptr};

/// What blocks consist of, aligned for any type of C.
type Unit = MaybeUninit<u128>;

/// Blocks of memory. There are never more than were in use at the same time.
#[derive(Default)]
pub(in crate::codec) struct Memory {
    used: Vec<Vec<Unit>>,
    spare: Vec<Vec<Unit>>,
}

impl Memory {
    /// Returns what the callbacks get. It may be used as long as the memory is borrowed.
    pub(super) fn opaque(&mut self) -> *mut c_void {
        ptr::from_mut(self).cast()
    }

    /// Returns a block of at least `units`, null when there is no memory.
    fn allocate(&mut self, units: usize) -> *mut Unit {
        let fitting = (0..self.spare.len()).filter(|&at| self.spare[at].capacity() >= units);
        let mut block = match fitting.min_by_key(|&at| self.spare[at].capacity()) {
            Some(at) => self.spare.swap_remove(at),
            None => {
                // In place of the largest of those that are too small.
                let largest = (0..self.spare.len()).max_by_key(|&at| self.spare[at].capacity());
                drop(largest.map(|at| self.spare.swap_remove(at)));
                let mut block = Vec::new();
                if block.try_reserve_exact(units).is_err() {
                    return ptr::null_mut();
                }
                block
            }
        };
        let address = block.as_mut_ptr();
        self.used.push(block);
        address
    }

    fn release(&mut self, address: *mut Unit) {
        let found = self.used.iter().rposition(|block| ptr::eq(block.as_ptr(), address));
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
    fn no_memory_is_null() {
        assert!(Memory::default().allocate(usize::MAX).is_null());
    }
}
