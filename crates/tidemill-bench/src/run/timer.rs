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
    use std::task::{Context, Poll, ready};

    use nix::sys::time::TimeSpec;
    use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
    use tokio::io::unix::AsyncFd;

    use super::Instant;

    /// A timer for one who waits at a time.
    #[derive(Debug)]
    pub(in super::super) struct Timer {
        timer: AsyncFd<Descriptor>,
        /// What it is set to.
        armed: Option<Instant>,
    }

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
            Ok(Self {
                timer: AsyncFd::new(Descriptor(timer))?,
                armed: None,
            })
        }

        /// Waits until `moment`, or not at all when it has passed. Who polls with another moment waits for that one.
        pub(in super::super) fn poll_until(
            &mut self,
            context: &mut Context<'_>,
            moment: Instant,
        ) -> Poll<io::Result<()>> {
            if self.armed != Some(moment) {
                let wait = moment.saturating_duration_since(Instant::now());
                if wait.is_zero() {
                    return Poll::Ready(Ok(()));
                }
                let once = Expiration::OneShot(TimeSpec::from_duration(wait));
                self.timer.get_ref().0.set(once, TimerSetTimeFlags::empty())?;
                self.armed = Some(moment);
            }
            loop {
                let mut ready = ready!(self.timer.poll_read_ready(context))?;
                match ready.get_inner().0.wait() {
                    Ok(()) => {
                        self.armed = None;
                        return Poll::Ready(Ok(()));
                    }
                    // It was still ready from the time before.
                    Err(nix::errno::Errno::EAGAIN) => ready.clear_ready(),
                    Err(e) => return Poll::Ready(Err(e.into())),
                }
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod portable {
    use std::io;
    use std::pin::Pin;
    use std::task::{Context, Poll};

    use tokio::time::{Sleep, sleep_until};

    use super::Instant;

    /// A timer for one who waits at a time.
    #[derive(Debug)]
    pub(in super::super) struct Timer(Pin<Box<Sleep>>);

    impl Timer {
        pub(in super::super) fn new() -> io::Result<Self> {
            Ok(Self(Box::pin(sleep_until(Instant::now().into()))))
        }

        /// Waits until `moment`, or not at all when it has passed. Who polls with another moment waits for that one.
        pub(in super::super) fn poll_until(
            &mut self,
            context: &mut Context<'_>,
            moment: Instant,
        ) -> Poll<io::Result<()>> {
            if self.0.deadline() != moment.into() {
                self.0.as_mut().reset(moment.into());
            }
            self.0.as_mut().poll(context).map(Ok)
        }
    }
}
