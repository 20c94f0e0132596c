//! The EXECUTE of a prepared statement: what is the same in each, and what is not.

use std::time::Duration;

use scylla::frame::response::result::{ColumnSpec, TableSpec};
use scylla::frame::types::{Consistency, SerialConsistency};
use scylla::routing::Token;
use scylla::routing::partitioner::{Partitioner as _, PartitionerHasher as _, PartitionerName};
use scylla::statement::batch::BatchType;
use scylla::statement::prepared::PreparedStatement;

use super::HEADER;

/// A prepared statement as its EXECUTE frames have it: section 4.1.6 of the protocol's version 4. The answers come without a description of
/// their columns, and are counted only, unless it is [`Execute::with_rows`].
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
    /// Where the values begin in what is written between head and tail.
    values_at: usize,
    partitioner: PartitionerName,
    consistency: Consistency,
    serial_consistency: Option<SerialConsistency>,
    timeout: Duration,
    is_idempotent: bool,
    wants_rows: bool,
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
            values_at: 0,
            partitioner: statement.get_partitioner_name().clone(),
            columns,
            consistency,
            serial_consistency,
            timeout: statement.get_request_timeout().unwrap_or(defaults.timeout),
            is_idempotent: statement.get_is_idempotent(),
            wants_rows: false,
        }
    }

    /// The same requests, answered by a [`Page`](super::Page) of rows.
    #[must_use]
    pub fn with_rows(&self) -> Self {
        let mut execute = self.clone();
        execute.wants_rows = true;
        // After the header are the id, two bytes of consistency, and the flags.
        let id = execute.head.get(HEADER..).and_then(<[u8]>::first_chunk);
        let flags = id.map(|length| HEADER + 2 + usize::from(u16::from_be_bytes(*length)) + 2);
        if let Some(flags) = flags.and_then(|flags| execute.head.get_mut(flags)) {
            *flags &= !SKIP_METADATA;
        }
        execute
    }

    /// One BATCH of these statements, which goes to the node of the first and is never sent twice: section 4.1.7 of the protocol. Between
    /// its head and tail each statement has [`Execute::write_in_batch`] and its values. `None` for no statements, or more than the
    /// protocol has a number for.
    pub fn batch(kind: BatchType, statements: &[&Self], defaults: ExecuteDefaults) -> Option<Self> {
        let first = *statements.first()?;
        let count = u16::try_from(statements.len()).ok()?;
        let mut head = vec![VERSION, 0, 0, 0, BATCH, 0, 0, 0, 0, kind as u8];
        head.extend(count.to_be_bytes());
        let mut tail = (defaults.consistency as u16).to_be_bytes().to_vec();
        match defaults.serial_consistency {
            Some(serial) => {
                tail.push(SERIAL_CONSISTENCY);
                tail.extend((serial as u16).to_be_bytes());
            }
            None => tail.push(0),
        }
        let mut in_front = Vec::new();
        first.write_in_batch(&mut in_front);
        Some(Self {
            head,
            tail,
            columns: Vec::new(),
            table: first.table.clone(),
            key: first.key.clone(),
            values_at: in_front.len(),
            partitioner: first.partitioner.clone(),
            consistency: defaults.consistency,
            serial_consistency: defaults.serial_consistency,
            timeout: defaults.timeout,
            is_idempotent: false,
            wants_rows: false,
        })
    }

    /// Writes what stands in front of the values of this statement in a BATCH: that it is prepared, its id, and how many values there are.
    pub fn write_in_batch(&self, buffer: &mut Vec<u8>) {
        buffer.push(PREPARED);
        let id = self.head.get(HEADER..).unwrap_or_default();
        if let Some((length, rest)) = id.split_first_chunk() {
            buffer.extend(length);
            let length = usize::from(u16::from_be_bytes(*length));
            buffer.extend(rest.get(..length).unwrap_or_default());
        }
        // Statements have at most so many.
        buffer.extend(u16::try_from(self.columns.len()).unwrap_or(u16::MAX).to_be_bytes());
    }

    pub(super) fn wants_rows(&self) -> bool {
        self.wants_rows
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

    /// Writes a frame. `values` writes each value after its length, as many as there are columns.
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

    /// The token of the partition that the values name, of what was written between head and tail. `None` when they do not name one.
    pub(super) fn token(&self, written: &[u8]) -> Option<Token> {
        let values = written.get(self.values_at..)?;
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

/// The first value, and what is after it. NULL and what is unset have no bytes.
fn split_value(values: &[u8]) -> Option<(Option<&[u8]>, &[u8])> {
    let (length, rest) = values.split_first_chunk()?;
    match usize::try_from(i32::from_be_bytes(*length)) {
        Ok(length) => rest.split_at_checked(length).map(|(value, rest)| (Some(value), rest)),
        Err(_) => Some((None, rest)),
    }
}

const VERSION: u8 = 0x04;
const EXECUTE: u8 = 0x0a;
const BATCH: u8 = 0x0d;
/// The kind of a statement in a BATCH that has an id.
const PREPARED: u8 = 1;
const VALUES: u8 = 0x01;
const SKIP_METADATA: u8 = 0x02;
const PAGE_SIZE: u8 = 0x04;
const SERIAL_CONSISTENCY: u8 = 0x10;

#[cfg(test)]
mod tests {
    use scylla::frame::response::result::{ColumnType, NativeType};

    use super::*;

    /// A statement with this id and so many parameters, of which the last is the partition key.
    fn statement(id: &[u8], parameters: u8) -> Execute {
        let table = TableSpec::owned("ks".to_owned(), "t".to_owned());
        let column = |_| ColumnSpec::owned("a".to_owned(), ColumnType::Native(NativeType::Int), table.clone());
        let length = u16::try_from(id.len()).unwrap().to_be_bytes();
        Execute {
            head: [&[0; HEADER][..], &length, id, &[0, 1, SKIP_METADATA | PAGE_SIZE]].concat(),
            tail: Vec::new(),
            columns: (0..parameters).map(column).collect(),
            table: Some(table),
            key: vec![usize::from(parameters) - 1],
            values_at: 0,
            partitioner: PartitionerName::Murmur3,
            consistency: Consistency::One,
            serial_consistency: None,
            timeout: Duration::from_secs(1),
            is_idempotent: true,
            wants_rows: false,
        }
    }

    fn value(number: u8) -> [u8; 8] {
        [0, 0, 0, 4, 0, 0, 0, number]
    }

    #[test]
    fn a_batch_has_the_ids_and_values_of_its_statements() {
        let (first, second) = (statement(b"id", 2), statement(b"x", 1));
        let defaults = ExecuteDefaults {
            consistency: Consistency::Quorum,
            serial_consistency: Some(SerialConsistency::LocalSerial),
            timeout: Duration::from_secs(5),
        };
        let batch = Execute::batch(BatchType::Unlogged, &[&first, &second], defaults).unwrap();
        let mut written = Vec::new();
        first.write_in_batch(&mut written);
        written.extend([value(7), value(8)].concat());
        second.write_in_batch(&mut written);
        written.extend(value(9));
        let mut frame = Vec::new();
        let values = |buffer: &mut Vec<u8>| {
            buffer.extend(&written);
            Ok::<_, ()>(())
        };
        batch.write(3, &mut frame, values).unwrap();
        let body = [
            &[1, 0, 2][..],
            b"\x01\0\x02id\0\x02",
            &value(7),
            &value(8),
            b"\x01\0\x01x\0\x01",
            &value(9),
            // Consistency, flags, serial consistency.
            &[0, 4, SERIAL_CONSISTENCY, 0, 9],
        ]
        .concat();
        let length = u8::try_from(body.len()).unwrap();
        assert_eq!(frame, [&[4, 0, 0, 3, 0x0d, 0, 0, 0, length][..], &body].concat());
        // It goes where the first statement would.
        let alone = first.token(&[value(7), value(8)].concat());
        assert!(alone.is_some() && alone != second.token(&value(9)));
        assert_eq!(batch.token(&written), alone);
        assert!(!batch.is_idempotent());
        assert!(Execute::batch(BatchType::Logged, &[], defaults).is_none());
        assert!(Execute::batch(BatchType::Logged, &vec![&first; 65_536], defaults).is_none());
    }

    #[test]
    fn rows_are_asked_for_with_their_columns() {
        let counted = statement(b"id", 1);
        let rows = counted.with_rows();
        assert!(rows.wants_rows() && !counted.wants_rows());
        assert_eq!(rows.head.last(), Some(&PAGE_SIZE));
        assert_eq!(rows.head[..rows.head.len() - 1], counted.head[..counted.head.len() - 1]);
    }
}
