//! Stream ids: who waits for the answer on each.

use std::time::{Duration, Instant};

/// The streams of a connection, in an array that grows to the most that were under way at once.
#[derive(Debug)]
pub(super) struct Streams<T> {
    all: Vec<Stream<T>>,
    free: Vec<i16>,
    /// Requests that nobody waits for any more. Their ids are not used until they are answered.
    orphans: usize,
}

#[derive(Debug, Clone, Copy)]
enum Stream<T> {
    Free,
    Waiting(Waiting<T>),
    Orphan,
}

/// A request that was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Waiting<T> {
    pub(super) tag: T,
    /// Whether the rows are wanted, and not only their number.
    pub(super) wants_rows: bool,
    /// How long its answer may take, and until when.
    pub(super) limit: Duration,
    pub(super) deadline: Instant,
}

impl<T> Waiting<T> {
    /// One whose answer may take as long as it likes.
    pub(super) fn for_ever(tag: T) -> Self {
        Self {
            tag,
            wants_rows: false,
            limit: Duration::MAX,
            deadline: Instant::now(),
        }
    }
}

/// To whom an answer goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Recipient<T> {
    /// Who sent the request.
    Tag(T),
    /// Who sent a request whose rows are wanted.
    WantsRows(T),
    /// Nobody: it came too late.
    Nobody,
    /// Nothing was asked on this stream.
    Unknown,
}

impl<T: Copy> Streams<T> {
    pub(super) fn new() -> Self {
        Self {
            all: Vec::new(),
            free: Vec::new(),
            orphans: 0,
        }
    }

    /// Whether one of the 32,768 ids is free.
    #[inline]
    pub(super) fn has_free(&self) -> bool {
        !self.free.is_empty() || self.all.len() < IDS
    }

    /// A free id: there must be one.
    #[inline]
    pub(super) fn take(&mut self, waiting: Waiting<T>) -> i16 {
        if let Some(id) = self.free.pop() {
            self.all[usize::from(id.cast_unsigned())] = Stream::Waiting(waiting);
            return id;
        }
        debug_assert!(self.all.len() < IDS, "no stream is free");
        self.all.push(Stream::Waiting(waiting));
        (self.all.len() - 1) as i16
    }

    /// Frees an id whose answer has come.
    #[inline]
    pub(super) fn give_back(&mut self, id: i16) -> Recipient<T> {
        let stream = usize::try_from(id).ok().and_then(|at| self.all.get_mut(at));
        let recipient = match stream.as_deref() {
            Some(Stream::Waiting(waiting)) if waiting.wants_rows => Recipient::WantsRows(waiting.tag),
            Some(Stream::Waiting(waiting)) => Recipient::Tag(waiting.tag),
            Some(Stream::Orphan) => {
                self.orphans -= 1;
                Recipient::Nobody
            }
            Some(Stream::Free) | None => return Recipient::Unknown,
        };
        if let Some(stream) = stream {
            *stream = Stream::Free;
        }
        self.free.push(id);
        recipient
    }

    /// Gives up all whose deadline has come.
    pub(super) fn sweep(&mut self, now: Instant, mut late: impl FnMut(Waiting<T>)) {
        for stream in &mut self.all {
            if let Stream::Waiting(waiting) = *stream
                && waiting.deadline <= now
            {
                *stream = Stream::Orphan;
                self.orphans += 1;
                late(waiting);
            }
        }
    }

    /// All who wait.
    pub(super) fn waiting(&self) -> impl Iterator<Item = T> {
        self.all.iter().filter_map(|stream| match stream {
            Stream::Waiting(waiting) => Some(waiting.tag),
            Stream::Free | Stream::Orphan => None,
        })
    }

    pub(super) fn orphans(&self) -> usize {
        self.orphans
    }
}

/// Ids of requests are not negative.
const IDS: usize = 1 << 15;

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting<T>(tag: T, deadline: Instant) -> Waiting<T> {
        let limit = Duration::from_secs(1);
        Waiting {
            tag,
            wants_rows: false,
            limit,
            deadline,
        }
    }

    #[test]
    fn ids_come_back_and_run_out() {
        let now = Instant::now();
        let mut streams = Streams::new();
        let mut taken = 0;
        while streams.has_free() {
            assert_eq!(streams.take(waiting(taken, now)), taken as i16);
            taken += 1;
        }
        assert_eq!(taken, 1 << 15);
        assert_eq!(streams.give_back(77), Recipient::Tag(77));
        assert_eq!(streams.give_back(77), Recipient::Unknown);
        assert_eq!(streams.give_back(-1), Recipient::Unknown);
        assert!(streams.has_free());
        assert_eq!(streams.take(waiting(-5, now)), 77);
        assert!(!streams.has_free());
    }

    #[test]
    fn the_id_of_a_late_request_waits_for_its_answer() {
        let now = Instant::now();
        let mut streams = Streams::new();
        assert_eq!(streams.take(waiting('a', now + Duration::from_secs(1))), 0);
        assert_eq!(streams.take(waiting('b', now + Duration::from_secs(3))), 1);
        let mut late = Vec::new();
        streams.sweep(now + Duration::from_secs(2), |waiting| late.push(waiting.tag));
        assert_eq!((late, streams.orphans()), (vec!['a'], 1));
        assert_eq!(streams.waiting().collect::<Vec<_>>(), ['b']);
        assert_eq!(streams.take(waiting('c', now)), 2);
        assert_eq!(streams.give_back(0), Recipient::Nobody);
        assert_eq!(streams.orphans(), 0);
        assert_eq!(streams.take(waiting('d', now)), 0);
    }
}
