//! `AggregateFunction`: states of aggregate functions, one after the other.
//!
//! A state says nothing of its length, so it can be read only by who knows its function. [`form`](form::Form) names the parts of
//! a state of a function, and [`part`] reads them. In Arrow a state is its bytes.
//!
//! Forms were learned from the headers of the functions in `AggregateFunctions` of ClickHouse, and from the bytes that ClickHouse
//! 26.9 and 18.16 write: `tests/states` compares with both.
//!
//! Refused are states of functions that are not known, those of `JSON` and `Dynamic` values, and those whose form differs between
//! versions of ClickHouse where neither the type nor the revision of the connection tells which it is.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, BinaryArray};
use arrow_buffer::OffsetBuffer;

use self::{
    form::{Form, Unknown},
    part::{Part, States},
};
use super::{Input, Output, string};
use crate::{Error, Result, data_type::AggregateFunction, revision::Revision};

mod combinator;
mod form;
mod function;
mod part;
mod value;

pub(super) async fn read(input: &mut Input<'_>, function: &AggregateFunction, rows: usize) -> Result<ArrayRef> {
    let parts = parts(function, input.revision)?;
    let mut states = States::new(input);
    let mut offsets: Vec<i32> = vec![0];
    for _ in 0..rows {
        let end = states.read(&parts).await?;
        offsets.push(i32::try_from(end).map_err(|_| Error::Limit {
            what: "states of one column of a block",
            limit: i32::MAX as u64,
            found: end as u64,
        })?);
    }
    Ok(Arc::new(BinaryArray::try_new(
        OffsetBuffer::new(offsets.into()),
        states.into_bytes(),
        None,
    )?))
}

pub(super) fn write(output: &mut Output<'_>, function: &AggregateFunction, array: &dyn Array) -> Result<()> {
    parts(function, output.revision)?;
    string::write_without_lengths(output, array)
}

/// The parts of a state of `function`.
fn parts(function: &AggregateFunction, revision: Revision) -> Result<Vec<Part>> {
    Form::of(function, revision).map_err(|unknown| Error::Unsupported {
        what: match unknown {
            Unknown::Length => format!("a state of {function}, whose length only ClickHouse knows,"),
            Unknown::Version => format!("a state of {function}, whose form differs between versions of ClickHouse,"),
        },
        hint: "select finalizeAggregation() of it, or its hex() as text",
    })
}
