//! Waiting for a moment.
//!
//! The runtime's own timers tick once a millisecond, and a cycle that begins when they do is late by half of one. On Linux a timer of the
//! system is exact to some 50 µs.

use std::time::Instant;

#[cfg(target_os = "linux")]
pub(super) use self::linux::Timer;
#[cfg(not(target_os = "linux"))]
pub(super) use self::portable::Timer;

#[cfg(target_os = "linux")]
mod linux {
    use std::io;
    use std::os::fd::{AsFd as _, AsRawFd, RawFd};

    use nix::sys::time::TimeSpec;
    use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
    use tokio::io::unix::AsyncFd;

    use super::Instant;

    /// A timer for one who waits at a time.
    #[derive(Debug)]
    pub(in super::super) struct Timer(AsyncFd<Descriptor>);

    #[derive(Debug)]
    struct Descriptor(TimerFd);

    impl AsRawFd for Descriptor {
        fn as_raw_fd(&self) -> RawFd {
            self.0.as_fd().as_raw_fd()
        }
    }

    impl Timer {
        /// A timer of the runtime that this is called in.
        #[expect(
            deprecated,
            reason = "its successor is unsafe; the descriptor here lives as long as the timer"
        )]
        pub(in super::super) fn new() -> io::Result<Self> {
            let flags = TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC;
            let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, flags)?;
            Ok(Self(AsyncFd::new(Descriptor(timer))?))
        }

        /// Waits until `moment`, or not at all when it has passed.
        pub(in super::super) async fn until(&self, moment: Instant) -> io::Result<()> {
            let wait = moment.saturating_duration_since(Instant::now());
            if wait.is_zero() {
                return Ok(());
            }
            let once = Expiration::OneShot(TimeSpec::from_duration(wait));
            self.0.get_ref().0.set(once, TimerSetTimeFlags::empty())?;
            loop {
                let mut ready = self.0.readable().await?;
                match ready.get_inner().0.wait() {
                    Ok(()) => return Ok(()),
                    // It was still ready from the time before.
                    Err(nix::errno::Errno::EAGAIN) => ready.clear_ready(),
                    Err(e) => return Err(e.into()),
                }
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod portable {
    use std::io;

    use super::Instant;

    /// A timer for one who waits at a time.
    #[derive(Debug)]
    pub(in super::super) struct Timer;

    impl Timer {
        pub(in super::super) fn new() -> io::Result<Self> {
            Ok(Self)
        }

        /// Waits until `moment`, or not at all when it has passed.
        pub(in super::super) async fn until(&self, moment: Instant) -> io::Result<()> {
            tokio::time::sleep_until(moment.into()).await;
            Ok(())
        }
    }
}
