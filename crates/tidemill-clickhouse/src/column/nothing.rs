//! `Nothing`: a byte for each value, `0` in text. Elements of a tuple without elements look the same.
//!
//! Source: the bytes that ClickHouse 26.9 writes for `NULL` and `tuple()`.

use std::sync::Arc;

use arrow_array::{ArrayRef, NullArray};

use super::{Input, Output};
use crate::Result;

pub(super) async fn read(input: &mut Input<'_>, rows: usize) -> Result<ArrayRef> {
    skip(input, rows).await?;
    Ok(Arc::new(NullArray::new(rows)))
}

/// Passes `rows` bytes, whatever they are.
pub(super) async fn skip(input: &mut Input<'_>, rows: usize) -> Result<()> {
    let mut missing = rows;
    while missing > 0 {
        let count = input.some("values without content").await?.len().min(missing);
        input.consume(count);
        missing -= count;
    }
    Ok(())
}

pub(super) fn write(output: &mut Output<'_>, rows: usize) {
    output.bytes.resize(output.bytes.len() + rows, b'0');
}
