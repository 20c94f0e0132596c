//! The EXECUTE of a prepared statement: what is the same in each, and what is not.

use std::time::Duration;

use scylla::frame::response::result::{ColumnSpec, TableSpec};
use scylla::frame::types::{Consistency, SerialConsistency};
use scylla::routing::Token;
use scylla::routing::partitioner::{Partitioner as _, PartitionerHasher as _, PartitionerName};
use scylla::statement::prepared::PreparedStatement;

use super::HEADER;

/// A prepared statement as its EXECUTE frames have it: section 4.1.6 of the protocol's version 4. The answers come without metadata.
#[derive(Debug, Clone)]
pub struct Execute {
    /// Header, id, consistency and flags; neither stream nor length.
    head: Vec<u8>,
    /// Page size and serial consistency.
    tail: Vec<u8>,
    columns: Vec<ColumnSpec<'static>>,
    table: Option<TableSpec<'static>>,
    /// Where the parts of the partition key are among the values, in the key's order.
    key: Vec<usize>,
    partitioner: PartitionerName,
    consistency: Consistency,
    serial_consistency: Option<SerialConsistency>,
    timeout: Duration,
    is_idempotent: bool,
}

/// What a statement has when it says nothing of its own.
#[derive(Debug, Clone, Copy)]
pub struct ExecuteDefaults {
    /// The consistency.
    pub consistency: Consistency,
    /// The consistency of conditional updates.
    pub serial_consistency: Option<SerialConsistency>,
    /// How long an answer may take.
    pub timeout: Duration,
}

impl Execute {
    /// The requests of a statement that the driver prepared.
    pub fn new(statement: &PreparedStatement, defaults: ExecuteDefaults) -> Self {
        let consistency = statement.get_consistency().unwrap_or(defaults.consistency);
        let serial_consistency = statement.get_serial_consistency().or(defaults.serial_consistency);
        let columns = statement.get_variable_col_specs().as_slice().to_vec();
        let id = statement.get_id();
        let mut head = vec![VERSION, 0, 0, 0, EXECUTE, 0, 0, 0, 0];
        // An id is 16 bytes.
        head.extend(u16::try_from(id.len()).unwrap_or(u16::MAX).to_be_bytes());
        head.extend(id);
        head.extend((consistency as u16).to_be_bytes());
        let mut flags = SKIP_METADATA | PAGE_SIZE;
        let mut tail = statement.get_page_size().to_be_bytes().to_vec();
        if let Some(serial) = serial_consistency {
            flags |= SERIAL_CONSISTENCY;
            tail.extend((serial as u16).to_be_bytes());
        }
        if !columns.is_empty() {
            flags |= VALUES;
        }
        head.push(flags);
        if let Ok(count @ 1..) = u16::try_from(columns.len()) {
            head.extend(count.to_be_bytes());
        }
        let mut key: Vec<_> = statement.get_variable_pk_indexes().to_vec();
        key.sort_by_key(|part| part.sequence);
        Self {
            head,
            tail,
            table: columns.first().map(|column| column.table_spec().to_owned()),
            key: key.iter().map(|part| usize::from(part.index)).collect(),
            partitioner: statement.get_partitioner_name().clone(),
            columns,
            consistency,
            serial_consistency,
            timeout: statement.get_request_timeout().unwrap_or(defaults.timeout),
            is_idempotent: statement.get_is_idempotent(),
        }
    }

    /// The parameters.
    pub fn columns(&self) -> &[ColumnSpec<'static>] {
        &self.columns
    }

    /// Whether it may be sent twice.
    pub fn is_idempotent(&self) -> bool {
        self.is_idempotent
    }

    /// How long an answer may take.
    pub fn timeout(&self) -> Duration {
        self.timeout
    }

    /// The consistency.
    pub fn consistency(&self) -> Consistency {
        self.consistency
    }

    pub(super) fn serial_consistency(&self) -> Option<SerialConsistency> {
        self.serial_consistency
    }

    pub(super) fn table(&self) -> Option<&TableSpec<'static>> {
        self.table.as_ref()
    }

    /// Writes a frame. `values` writes each value behind its length, as many as there are columns.
    ///
    /// # Errors
    /// What `values` says. The buffer is as it was then.
    #[inline]
    pub(super) fn write<E>(
        &self,
        stream: i16,
        buffer: &mut Vec<u8>,
        values: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<(), E> {
        let start = buffer.len();
        buffer.extend_from_slice(&self.head);
        if let Err(error) = values(buffer) {
            buffer.truncate(start);
            return Err(error);
        }
        buffer.extend_from_slice(&self.tail);
        // A value of more than 2^31 bytes is refused when it is written; a body of as many is refused by the server.
        let length = u32::try_from(buffer.len() - start - HEADER).unwrap_or(u32::MAX);
        if let Some(header) = buffer.get_mut(start..start + HEADER) {
            header[2..4].copy_from_slice(&stream.to_be_bytes());
            header[5..].copy_from_slice(&length.to_be_bytes());
        }
        Ok(())
    }

    /// The token of the partition that the values name. `None` when they do not name one.
    pub(super) fn token(&self, values: &[u8]) -> Option<Token> {
        let value = |wanted: usize| {
            let mut rest = values;
            for _ in 0..wanted {
                rest = split_value(rest)?.1;
            }
            split_value(rest)?.0
        };
        let mut hasher = self.partitioner.build_hasher();
        match self.key.as_slice() {
            [] => return None,
            [part] => hasher.write(value(*part)?),
            parts => {
                for part in parts {
                    let value = value(*part)?;
                    hasher.write(&u16::try_from(value.len()).ok()?.to_be_bytes());
                    hasher.write(value);
                    hasher.write(&[0]);
                }
            }
        }
        Some(hasher.finish())
    }
}

/// The first value, and what is behind it. NULL and what is unset have no bytes.
fn split_value(values: &[u8]) -> Option<(Option<&[u8]>, &[u8])> {
    let (length, rest) = values.split_first_chunk()?;
    match usize::try_from(i32::from_be_bytes(*length)) {
        Ok(length) => rest.split_at_checked(length).map(|(value, rest)| (Some(value), rest)),
        Err(_) => Some((None, rest)),
    }
}

const VERSION: u8 = 0x04;
const EXECUTE: u8 = 0x0a;
const VALUES: u8 = 0x01;
const SKIP_METADATA: u8 = 0x02;
const PAGE_SIZE: u8 = 0x04;
const SERIAL_CONSISTENCY: u8 = 0x10;
