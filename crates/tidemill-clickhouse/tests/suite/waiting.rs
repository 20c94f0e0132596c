//! A source that has to wait, as a connection does.

use std::{
    pin::pin,
    task::{Context, Poll, Waker},
};

use tidemill_clickhouse::{
    BlockDecoder, DataType, Error, Result, Revision,
    source::{BlockSource, SliceSource},
};

/// Gives a few bytes at every second call.
struct Drops {
    left: Vec<u8>,
    there: Vec<u8>,
    dry: bool,
    direct: usize,
}

impl Drops {
    fn new(bytes: &[u8]) -> Self {
        Self {
            left: bytes.to_vec(),
            there: Vec::new(),
            dry: true,
            direct: 0,
        }
    }

    /// Whether something came, and up to `limit` bytes of it.
    fn receive(&mut self, context: &Context<'_>, limit: usize) -> Poll<Vec<u8>> {
        self.dry = !self.dry;
        if self.dry {
            let rest = self.left.split_off(self.left.len().min(limit));
            return Poll::Ready(std::mem::replace(&mut self.left, rest));
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

impl BlockSource for Drops {
    fn buffered(&self) -> &[u8] {
        &self.there
    }

    fn poll_fill(&mut self, context: &mut Context<'_>) -> Poll<Result<usize>> {
        if self.there.is_empty() {
            match self.receive(context, 7) {
                Poll::Ready(bytes) => self.there = bytes,
                Poll::Pending => return Poll::Pending,
            }
        }
        Poll::Ready(Ok(self.there.len()))
    }

    fn consume(&mut self, count: usize) {
        self.there.drain(..count);
    }

    fn poll_read(&mut self, context: &mut Context<'_>, out: &mut [u8]) -> Poll<Result<usize>> {
        assert!(self.there.is_empty(), "buffered bytes come first");
        match self.receive(context, out.len().min(1000)) {
            Poll::Ready(bytes) => {
                out[..bytes.len()].copy_from_slice(&bytes);
                self.direct += bytes.len();
                Poll::Ready(Ok(bytes.len()))
            }
            Poll::Pending => Poll::Pending,
        }
    }
}

/// Polls until the future is ready, and counts how often it was not.
fn run<T>(future: impl Future<Output = T> + Send) -> (T, usize) {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    let mut waits = 0;
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(value) => return (value, waits),
            Poll::Pending => waits += 1,
        }
    }
}

fn file(rows: usize) -> Vec<u8> {
    let types = [
        "UInt64",
        "String",
        "Array(LowCardinality(Nullable(String)))",
        "Map(String, Nullable(Decimal(18, 2)))",
        "Variant(Array(String), Int8, String)",
    ];
    crate::generate::file(&types.map(|text| text.parse::<DataType>().expect("a type")), rows, 5)
}

#[test]
fn a_decoder_waits_and_goes_on() {
    let bytes = file(40);
    let mut source = Drops::new(&bytes);
    let (block, waits) = run(BlockDecoder::default().decode(&mut source, Revision::FILE));
    let expected = BlockDecoder::default().decode_blocking(&mut SliceSource::new(&bytes), Revision::FILE);
    assert_eq!(block.expect("a block"), expected.expect("a block"));
    assert!(waits > 100, "{waits} waits");
}

#[test]
fn long_columns_are_read_into_their_place() {
    let bytes = file(5000);
    let mut source = Drops::new(&bytes);
    let (block, _) = run(BlockDecoder::default().decode(&mut source, Revision::FILE));
    assert_eq!(block.expect("a block").rows(), 5000);
    assert!(source.direct > 5000 * 8 - 10, "{} bytes", source.direct);
}

#[test]
fn the_end_is_an_error_inside_of_a_block_and_none_between() {
    let bytes = file(40);
    let decoder = BlockDecoder::default();
    let mut source = Drops::new(&bytes[..bytes.len() - 1]);
    let (block, _) = run(decoder.decode_next(&mut source, Revision::FILE));
    assert!(matches!(block, Err(Error::Truncated { .. })));

    let mut source = Drops::new(&bytes.repeat(2));
    for _ in 0..2 {
        let (block, _) = run(decoder.decode_next(&mut source, Revision::FILE));
        assert_eq!(block.expect("no error").expect("a block").rows(), 40);
    }
    let (block, _) = run(decoder.decode_next(&mut source, Revision::FILE));
    assert!(block.expect("no error").is_none());
}
