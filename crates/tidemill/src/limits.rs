//! The limits of a command, in time and memory.

use std::fs;
use std::future::pending;
use std::time::Duration;

use indicatif::BinaryBytes;
use tokio::time::{MissedTickBehavior, interval, sleep};

/// The limits of a command.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Limits {
    /// Default: none.
    pub(crate) timeout: Option<Duration>,
    /// In bytes. Default: three quarters of the memory of the machine or of its control group.
    pub(crate) max_memory: Option<u64>,
}

/// A limit that was reached.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Reached {
    #[error("not done after {0:?}; --timeout SECONDS gives it longer")]
    Time(Duration),
    #[error(
        "more than {} of memory would be needed; --max-memory SIZE allows more, --memory SIZE makes sorts and groups spill to files",
        BinaryBytes(*.0)
    )]
    Memory(u64),
}

impl Limits {
    /// Waits until a limit is reached; forever if there is none.
    pub(crate) async fn reached(self) -> Reached {
        let time = async {
            match self.timeout {
                Some(timeout) => {
                    sleep(timeout).await;
                    Reached::Time(timeout)
                }
                None => pending().await,
            }
        };
        let memory = async {
            let Some(most) = self.max_memory.or_else(most_of_the_machine) else {
                return pending().await;
            };
            let mut looks = interval(BETWEEN_LOOKS);
            looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
            loop {
                looks.tick().await;
                if resident().is_some_and(|bytes| bytes > most) {
                    return Reached::Memory(most);
                }
            }
        };
        tokio::select! {
            reached = time => reached,
            reached = memory => reached,
        }
    }
}

/// The interval at which memory is checked. A program allocates at most some megabytes in that time.
const BETWEEN_LOOKS: Duration = Duration::from_millis(5);

/// The private memory of this process in bytes, without pages that could be shared, such as those of files; `None` if the system does not
/// report it (proc(5), `/proc/self/statm`).
fn resident() -> Option<u64> {
    let statm = fs::read_to_string("/proc/self/statm").ok()?;
    let mut pages = statm.split(' ').skip(1).map(|pages| pages.parse::<u64>().ok());
    let (resident, shared) = (pages.next()??, pages.next()??);
    Some(resident.saturating_sub(shared) * PAGE)
}

/// The page size of Linux on x86-64 and most others. With larger pages, memory is underestimated.
const PAGE: u64 = 4096;

/// Three quarters of the memory, so that the command fails before the system kills a process.
fn most_of_the_machine() -> Option<u64> {
    let control_group = fs::read_to_string("/sys/fs/cgroup/memory.max").ok();
    let control_group = control_group.and_then(|bytes| bytes.trim().parse::<u64>().ok());
    let info = fs::read_to_string("/proc/meminfo").ok()?;
    let total = info.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let total = total
        .trim()
        .strip_suffix(" kB")?
        .parse::<u64>()
        .ok()?
        .checked_mul(1024)?;
    Some(control_group.map_or(total, |bytes| bytes.min(total)) / 4 * 3)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn memory_is_known() {
        let most = most_of_the_machine().expect("the machine's memory");
        let held = vec![1_u8; 32 << 20];
        let with = resident().expect("this process's memory");
        assert!(with > held.len() as u64 && with < most, "{with} of {most}");
    }
}
