//! How many heaps the C library gives a run.

#![expect(
    unsafe_code,
    reason = "tells the C library how many heaps to make, which nothing safe does"
)]

use tidemill_bench::args::Command;

/// One for each worker. glibc gives every thread its own, and what the main thread has freed when the workers begin is of no use
/// to them. A main thread that adds up a sample now and then has no need of one to itself.
///
/// The limit is that of the whole process, so this is for the program, not for the command within another.
pub(crate) fn one_for_each_worker(command: &Command) {
    let workers = match command {
        Command::Run(args) => args.threads,
        Command::Load(args) => args.threads,
        _ => return,
    };
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        let heaps = i32::try_from(workers.get()).unwrap_or(i32::MAX);
        // SAFETY: mallopt takes two numbers. It is called while no other thread runs; where it refuses, nothing changes.
        let _ = unsafe { libc::mallopt(libc::M_ARENA_MAX, heaps) };
    }
    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    let _ = workers;
}
