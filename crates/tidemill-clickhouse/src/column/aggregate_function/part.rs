//! Parts of states, and how they are read: only their lengths are found, the bytes stay as they are.
//!
//! Every part takes a byte or more, so a count in bytes that mean harm ends with the bytes, or with the bound on memory.

use arrow_buffer::{Buffer, MutableBuffer};

use super::Input;
use crate::{Result, wire::Varint};

/// A part of a state.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Part {
    /// So many bytes, one at least.
    Fixed(usize),
    /// A number in groups of seven bits.
    Varint,
    /// Bytes after a varint of their number.
    Bytes,
    /// Bytes after a number of 32 bits, which is negative where there are none.
    Text,
    /// A byte, and the parts that belong to it.
    Switch(Vec<(u8, Vec<Part>)>),
    /// A count, then the parts of `head`, then `each` so many times.
    Repeat {
        count: Count,
        head: Vec<Part>,
        each: Vec<Part>,
    },
    /// The counts of a `quantileTiming` of many values.
    Timings,
}

/// How many times a part is there.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Count {
    /// As the parameters of the function say, once at least.
    Given(u64),
    /// As a varint says.
    Varint,
    /// As 16 bits say.
    U16,
    /// As 64 bits say.
    U64,
    /// As a byte says, or not at all when it says more than this.
    UpTo(u8),
    /// As the lesser of two numbers of 64 bits.
    Lesser,
    /// As two varints together.
    Sum,
}

impl Part {
    /// So many values of so many bytes, after a varint of their number.
    pub(super) fn list(width: usize) -> Self {
        Self::repeat(Count::Varint, vec![Self::Fixed(width)])
    }

    pub(super) fn repeat(count: Count, each: Vec<Self>) -> Self {
        Self::Repeat {
            count,
            head: Vec::new(),
            each,
        }
    }

    /// A byte that is 1 where the parts follow, and 0 where they do not.
    pub(super) fn optional(parts: Vec<Self>) -> Self {
        Self::Switch(vec![(0, Vec::new()), (1, parts)])
    }
}

/// States that are read.
pub(super) struct States<'a, 'b> {
    input: &'a mut Input<'b>,
    bytes: MutableBuffer,
}

impl<'a, 'b> States<'a, 'b> {
    pub(super) fn new(input: &'a mut Input<'b>) -> Self {
        Self {
            input,
            bytes: MutableBuffer::new(0),
        }
    }

    pub(super) fn into_bytes(self) -> Buffer {
        self.bytes.into()
    }

    /// Reads a state, and tells how many bytes all states have by then.
    pub(super) async fn read(&mut self, parts: &[Part]) -> Result<usize> {
        // The memory of its offset.
        self.input.charge(4)?;
        // Parts are in one another as deep as types are, which is bounded where they are parsed.
        let mut open = Open(vec![Level::new(parts, 1)]);
        while let Some(part) = open.next() {
            match part {
                Step::Bytes(length) => self.copy(length).await?,
                Step::Part(Part::Fixed(length)) => self.copy(*length).await?,
                Step::Part(Part::Varint) => drop(self.varint().await?),
                Step::Part(Part::Bytes) => {
                    let length = self.varint().await?;
                    self.copy(usize::try_from(length).unwrap_or(usize::MAX)).await?;
                }
                Step::Part(Part::Text) => {
                    let length = i32::from_le_bytes(self.array().await?);
                    self.copy(usize::try_from(length).unwrap_or_default()).await?;
                }
                Step::Part(Part::Switch(cases)) => {
                    let byte = self.byte().await?;
                    match cases.iter().find(|(case, _)| *case == byte) {
                        Some((_, parts)) => open.push(parts, 1),
                        None => return Err(self.unknown_byte(cases, byte)),
                    }
                }
                Step::Part(Part::Repeat { count, head, each }) => {
                    open.push(each, self.count(*count).await?);
                    open.push(head, 1);
                }
                Step::Part(Part::Timings) => self.timings().await?,
            }
        }
        Ok(self.bytes.len())
    }

    async fn count(&mut self, count: Count) -> Result<u64> {
        Ok(match count {
            Count::Given(count) => count,
            Count::Varint => self.varint().await?,
            Count::U16 => u16::from_le_bytes(self.array().await?).into(),
            Count::U64 => u64::from_le_bytes(self.array().await?),
            Count::UpTo(most) => match self.byte().await? {
                count if count <= most => count.into(),
                _ => 0,
            },
            Count::Lesser => {
                let count = u64::from_le_bytes(self.array().await?);
                count.min(u64::from_le_bytes(self.array().await?))
            }
            Count::Sum => {
                let count = self.varint().await?;
                count.saturating_add(self.varint().await?)
            }
        })
    }

    /// How many values there are, and all counts, or if that is shorter those that are not 0, each after its place.
    ///
    /// Source: `QuantileTiming.h` of ClickHouse.
    async fn timings(&mut self) -> Result<()> {
        let values = u64::from_le_bytes(self.array().await?);
        if values.wrapping_mul(2) > TIMINGS as u64 {
            return self.copy(8 * TIMINGS).await;
        }
        while u16::from_le_bytes(self.array().await?) != END_OF_TIMINGS {
            self.copy(8).await?;
        }
        Ok(())
    }

    async fn byte(&mut self) -> Result<u8> {
        let [byte] = self.array().await?;
        Ok(byte)
    }

    async fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let begin = self.bytes.len();
        self.copy(N).await?;
        let copied = self.bytes.get(begin..).and_then(|bytes| bytes.first_chunk());
        Ok(*copied.unwrap_or(&[0; N]))
    }

    async fn varint(&mut self) -> Result<u64> {
        let mut number = Varint::default();
        while number.has_room() {
            if let Some(number) = number.push(self.byte().await?) {
                return Ok(number);
            }
        }
        Err(self.input.error(WHAT, "a number of 64 bits", "more bits"))
    }

    /// Copies bytes as they arrive.
    async fn copy(&mut self, length: usize) -> Result<()> {
        self.input.charge(length as u64)?;
        let mut missing = length;
        while missing > 0 {
            let some = self.input.some(WHAT).await?;
            let some = some.get(..missing).unwrap_or(some);
            let count = some.len();
            self.bytes.extend_from_slice(some);
            self.input.consume(count);
            missing -= count;
        }
        Ok(())
    }

    fn unknown_byte(&self, cases: &[(u8, Vec<Part>)], found: u8) -> crate::Error {
        let expected: Vec<_> = cases.iter().map(|(case, _)| format!("0x{case:02x}")).collect();
        let expected = format!("a byte of {}", expected.join(", "));
        self.input.error(WHAT, expected, format!("0x{found:02x}"))
    }
}

/// The parts that are being read, the innermost last.
struct Open<'p>(Vec<Level<'p>>);

/// Parts of which some were read.
struct Level<'p> {
    parts: &'p [Part],
    rest: std::slice::Iter<'p, Part>,
    /// How many times all parts are still to be read, these included.
    times: u64,
}

/// What comes next.
enum Step<'p> {
    Part(&'p Part),
    Bytes(usize),
}

impl<'p> Level<'p> {
    fn new(parts: &'p [Part], times: u64) -> Self {
        Self {
            parts,
            rest: parts.iter(),
            times,
        }
    }
}

impl<'p> Open<'p> {
    fn push(&mut self, parts: &'p [Part], times: u64) {
        if times > 0 && !parts.is_empty() {
            self.0.push(Level::new(parts, times));
        }
    }

    fn next(&mut self) -> Option<Step<'p>> {
        loop {
            let level = self.0.last_mut()?;
            if let [Part::Fixed(width)] = level.parts {
                // All of them at once. So many that they have no number are more than the bound on memory, too.
                let count = usize::try_from(level.times).unwrap_or(usize::MAX);
                self.0.pop();
                return Some(Step::Bytes(count.saturating_mul(*width)));
            }
            if let Some(part) = level.rest.next() {
                return Some(Step::Part(part));
            }
            level.times -= 1;
            level.rest = level.parts.iter();
            if level.times == 0 {
                self.0.pop();
            }
        }
    }
}

const WHAT: &str = "a state";
/// Places of a `quantileTiming`: 1024 of a millisecond each, then of 16 up to 30,000.
const TIMINGS: usize = 1024 + (30_000 - 1024) / 16;
/// What stands for a place after the last.
const END_OF_TIMINGS: u16 = 30_000;
