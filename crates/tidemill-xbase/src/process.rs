//! The process id without a system call.
//!
//! A forked child must not use what its parent has open, so each lock and each statement checks the process. `getpid` is a system call, and
//! took a tenth of a look-up by an index. This module checks a page of memory that the kernel clears in a child.

use std::sync::OnceLock;

use memmap2::MmapMut;

/// The number of this process: as [`std::process::id`].
pub fn id() -> u32 {
    static FIRST: OnceLock<Process> = OnceLock::new();
    let mut process = FIRST.get_or_init(Process::here);
    while !process.is_here() {
        process = process.child.get_or_init(|| Box::new(Process::here()));
    }
    process.id
}

#[derive(Debug)]
struct Process {
    id: u32,
    /// A page that begins with [`MARK`] in this process, and with 0 in its children; `None` where there is none.
    mark: Option<MmapMut>,
    child: OnceLock<Box<Process>>,
}

const MARK: u8 = 1;

impl Process {
    fn here() -> Self {
        Self {
            id: std::process::id(),
            mark: marked_page(),
            child: OnceLock::new(),
        }
    }

    fn is_here(&self) -> bool {
        match &self.mark {
            Some(page) => page.first() == Some(&MARK),
            None => self.id == std::process::id(),
        }
    }
}

#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "memmap2 has no name for this advice")]
fn marked_page() -> Option<MmapMut> {
    use nix::libc;
    let mut page = MmapMut::map_anon(1).ok()?;
    // SAFETY: the range is the mapping's own, which is private and of no file, as the advice wants. What the advice does to it is done
    // in a child alone, at its beginning, when nobody there has a reference to what it holds.
    let advised = unsafe { libc::madvise(page.as_mut_ptr().cast(), page.len(), libc::MADV_WIPEONFORK) };
    *page.first_mut()? = MARK;
    (advised == 0).then_some(page)
}

#[cfg(not(target_os = "linux"))]
fn marked_page() -> Option<MmapMut> {
    None
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use nix::libc;

    use super::*;

    #[test]
    #[expect(unsafe_code, reason = "there is no other way to fork")]
    fn children_and_theirs_have_numbers_of_their_own() {
        assert_eq!(id(), std::process::id());
        assert!(Process::here().mark.is_some(), "the system can clear pages in children");
        let is_right = || id() == std::process::id();
        // SAFETY: the child calls nothing but what this module does and ends at once.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let was_right = is_right();
            // SAFETY: as above.
            let grandchild = unsafe { libc::fork() };
            let mut status = i32::from(!(was_right && is_right()));
            if grandchild != 0 {
                let mut ended = 1;
                // SAFETY: a place for the answer.
                unsafe { libc::waitpid(grandchild, &raw mut ended, 0) };
                status |= ended;
            }
            // SAFETY: nothing is run at the end.
            unsafe { libc::_exit(i32::from(status != 0)) };
        }
        let mut ended = 1;
        // SAFETY: a place for the answer.
        unsafe { libc::waitpid(child, &raw mut ended, 0) };
        assert_eq!(ended, 0);
        assert!(is_right());
    }
}
