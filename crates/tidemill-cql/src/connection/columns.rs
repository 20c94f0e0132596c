//! Descriptions of columns in answers, passed over and checked. The driver's own reader takes memory for as many columns as it is told there
//! are, and calls itself for each type within a type.

use super::class;

/// Checks that the columns that a RESULT describes are there and can be borne. `has_metadata_ids` says that what is prepared has an
/// identity of its columns, as ScyllaDB and the client can agree.
///
/// # Errors
/// What makes no sense.
pub(crate) fn check_result(body: &[u8], has_metadata_ids: bool) -> Result<(), String> {
    let read = match body.split_first_chunk() {
        Some((&ROWS, rest)) => match behind_rows(rest, has_metadata_ids) {
            Some((_, cells)) if has_rows(rest, cells) => Ok(()),
            Some(_) => Err("rows that are not there"),
            None => Err("rows whose columns end too early, are too many or too deep"),
        },
        Some((&PREPARED, rest)) => behind_prepared(rest, has_metadata_ids)
            .map(drop)
            .ok_or("a prepared statement whose columns end too early, are too many or too deep"),
        _ => Ok(()),
    };
    read.map_err(str::to_owned)
}

/// What is after the metadata of rows, and in front of that what the next page is asked with: section 4.2.5.2 of the protocol.
pub(super) fn behind_rows(body: &[u8], has_metadata_ids: bool) -> Option<(Option<&[u8]>, &[u8])> {
    let (flags, rest) = body.split_first_chunk()?;
    let (columns, mut rest) = rest.split_first_chunk()?;
    let flags = i32::from_be_bytes(*flags);
    let columns = count(*columns)?;
    let mut paging_state = None;
    if flags & HAS_MORE_PAGES != 0 {
        let (length, behind) = rest.split_first_chunk()?;
        let (state, behind) = behind.split_at_checked(usize::try_from(i32::from_be_bytes(*length)).ok()?)?;
        paging_state = Some(state);
        rest = behind;
    }
    if has_metadata_ids && flags & METADATA_CHANGED != 0 {
        rest = behind_string(rest)?;
    }
    if flags & NO_METADATA == 0 {
        rest = behind_columns(rest, columns, flags & ONE_TABLE != 0)?;
    }
    Some((paging_state, rest))
}

/// Whether the cells can be as many as the number of rows in front of them says: each has a length of four bytes. `body` begins with the
/// flags and the number of columns.
fn has_rows(body: &[u8], cells: &[u8]) -> bool {
    let number = |bytes: Option<&[u8; 4]>| u64::try_from(i32::from_be_bytes(*bytes?)).ok();
    let columns = number(body.get(4..).and_then(<[u8]>::first_chunk));
    let Some((columns, rows)) = columns.zip(number(cells.first_chunk())) else {
        return false;
    };
    let least = rows.saturating_mul(columns.max(1)).saturating_mul(4);
    least <= (cells.len() - 4) as u64
}

/// What is after a prepared statement: section 4.2.5.4 of the protocol.
fn behind_prepared(body: &[u8], has_metadata_ids: bool) -> Option<&[u8]> {
    let mut rest = behind_string(body)?;
    if has_metadata_ids {
        rest = behind_string(rest)?;
    }
    let (flags, rest) = rest.split_first_chunk()?;
    let (columns, rest) = rest.split_first_chunk()?;
    let (key, rest) = rest.split_first_chunk()?;
    // Two bytes for each column of the partition key.
    let rest = rest.get(2 * count(*key)? as usize..)?;
    let is_one_table = i32::from_be_bytes(*flags) & ONE_TABLE != 0;
    let rest = behind_columns(rest, count(*columns)?, is_one_table)?;
    behind_rows(rest, false).map(|(_, rest)| rest)
}

fn count(bytes: [u8; 4]) -> Option<u32> {
    let count = u32::try_from(i32::from_be_bytes(bytes)).ok()?;
    (count <= MOST_COLUMNS).then_some(count)
}

/// What is after the description of the columns. `is_one_table` says that keyspace and table are named once, for all.
fn behind_columns(mut rest: &[u8], columns: u32, is_one_table: bool) -> Option<&[u8]> {
    let behind_table = |rest| behind_string(behind_string(rest)?);
    if is_one_table && columns > 0 {
        rest = behind_table(rest)?;
    }
    let mut types = MOST_TYPES;
    // Each column has four bytes at least, so that many columns end with the bytes.
    for _ in 0..columns {
        if !is_one_table {
            rest = behind_table(rest)?;
        }
        rest = behind_type(behind_string(rest)?, DEEPEST_TYPE, &mut types)?;
    }
    Some(rest)
}

/// What is after a type, within which there are types to a depth. `types` is how many more there may be in all.
fn behind_type<'a>(rest: &'a [u8], depth: u32, types: &mut u32) -> Option<&'a [u8]> {
    let depth = depth.checked_sub(1)?;
    *types = types.checked_sub(1)?;
    let (id, rest) = rest.split_first_chunk()?;
    match u16::from_be_bytes(*id) {
        // CUSTOM, with the name of a class.
        0x0000 => {
            let behind = behind_string(rest)?;
            // Behind its length.
            let name = rest.get(2..rest.len() - behind.len())?;
            class::is_bearable(name, depth).then_some(behind)
        }
        0x0001..=0x0015 => Some(rest),
        // List and set, map.
        0x0020 | 0x0022 => behind_type(rest, depth, types),
        0x0021 => behind_type(behind_type(rest, depth, types)?, depth, types),
        // A user-defined type: keyspace and name, then the fields, each with its name; a tuple has the types alone.
        id @ (0x0030 | 0x0031) => {
            let has_names = id == 0x0030;
            let rest = if has_names {
                behind_string(behind_string(rest)?)?
            } else {
                rest
            };
            let (fields, mut rest) = rest.split_first_chunk()?;
            for _ in 0..u16::from_be_bytes(*fields) {
                let typ = if has_names { behind_string(rest)? } else { rest };
                rest = behind_type(typ, depth, types)?;
            }
            Some(rest)
        }
        _ => None,
    }
}

fn behind_string(rest: &[u8]) -> Option<&[u8]> {
    let (length, rest) = rest.split_first_chunk()?;
    rest.get(usize::from(u16::from_be_bytes(*length))..)
}

pub(super) const ROWS: [u8; 4] = [0, 0, 0, 2];
const PREPARED: [u8; 4] = [0, 0, 0, 4];
const ONE_TABLE: i32 = 0x01;
pub(super) const HAS_MORE_PAGES: i32 = 0x02;
const NO_METADATA: i32 = 0x04;
/// An extension of ScyllaDB.
const METADATA_CHANGED: i32 = 0x08;
/// How many types may be within one another. Far fewer are in any table.
const DEEPEST_TYPE: u32 = 64;
/// Parameters of a statement have numbers of two bytes, and a row cannot have more columns than an answer of 256 MB has cells.
const MOST_COLUMNS: u32 = 1 << 16;
/// For each the driver has some hundred bytes.
const MOST_TYPES: u32 = 1 << 18;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use scylla_cql::frame::protocol_features::ProtocolFeatures;
    use scylla_cql::frame::response::result;

    use super::*;

    /// What is prepared with a parameter, and answers a column.
    fn prepared(ids: usize) -> Vec<u8> {
        let table: &[u8] = b"\0\x02ks\0\x01t";
        let column: &[u8] = b"\0\x01a\0\x20\0\x09";
        [
            &PREPARED,
            &b"\0\x01x".repeat(ids + 1)[..],
            &[1_i32, 1, 1].map(i32::to_be_bytes).concat(),
            &[0, 0],
            table,
            column,
            &[1_i32, 1].map(i32::to_be_bytes).concat(),
            table,
            column,
        ]
        .concat()
    }

    #[test]
    fn what_is_prepared_is_read_to_its_end() {
        for (ids, has_ids) in [(0, false), (1, true)] {
            let body = prepared(ids);
            check_result(&body, has_ids).unwrap();
            assert_eq!(behind_prepared(&body[4..], has_ids), Some(&[][..]));
            for length in 4..body.len() {
                assert!(check_result(&body[..length], has_ids).is_err(), "{length}");
            }
        }
        // Nothing is answered: the columns are not described.
        let nothing = [
            &PREPARED[..],
            b"\0\x01x",
            &[0, 0, 0, 4, 0].map(i32::to_be_bytes).concat(),
        ]
        .concat();
        check_result(&nothing, false).unwrap();
    }

    #[test]
    fn columns_that_changed_have_another_identity() {
        let head = [METADATA_CHANGED | ONE_TABLE, 1].map(i32::to_be_bytes).concat();
        let body = [&ROWS[..], &head, b"\0\x03new\0\x02ks\0\x01t\0\x01a\0\x09\0\0\0\0"].concat();
        check_result(&body, true).unwrap();
    }

    #[test]
    fn rows_are_no_more_than_there_is_room_for() {
        let rows = |columns: i32, rows: i32, cells: usize| {
            let head = [4, columns, rows].map(i32::to_be_bytes).concat();
            [&ROWS[..], &head, &[0xff; 4].repeat(cells)].concat()
        };
        for (columns, count, cells, is_good) in [
            (1, 0, 0, true),
            (3, 2, 6, true),
            (3, 2, 5, false),
            (1, i32::MAX, 7, false),
            (1, -1, 7, false),
            // A row without columns is none.
            (0, 0, 0, true),
            (0, i32::MAX, 0, false),
        ] {
            let what = format!("{count} rows of {columns} columns in {cells} cells");
            assert_eq!(
                check_result(&rows(columns, count, cells), false).is_ok(),
                is_good,
                "{what}"
            );
        }
        let cut = [2, 4, 1].map(i32::to_be_bytes).concat();
        assert!(check_result(&cut, false).is_err());
    }

    #[test]
    fn classes_may_have_classes_within_to_a_depth() {
        for depth in [0, 1, 63, 64, 5000] {
            let class = format!("{}Int32Type{}", "ListType(".repeat(depth), ")".repeat(depth));
            let length = u16::try_from(class.len()).unwrap().to_be_bytes();
            let head = [ONE_TABLE, 1].map(i32::to_be_bytes).concat();
            let body = [
                &ROWS[..],
                &head,
                b"\0\x02ks\0\x01t\0\x01a\0\0",
                &length,
                class.as_bytes(),
                &[0; 4],
            ]
            .concat();
            assert_eq!(check_result(&body, false).is_ok(), depth <= 63, "{depth}");
        }
    }

    #[test]
    fn many_types_are_an_error() {
        // Tuples of tuples: few bytes each, but for each the driver has a hundred.
        let head = [ONE_TABLE, 60_000].map(i32::to_be_bytes).concat();
        let tuple = |fields: u16| {
            [
                b"\0\x01a\0\x31",
                &fields.to_be_bytes()[..],
                &b"\0\x09".repeat(fields.into()),
            ]
            .concat()
        };
        let rows = |fields| {
            let columns = tuple(fields).repeat(60_000);
            [&ROWS[..], &head, b"\0\x02ks\0\x01t", &columns, &[0; 4]].concat()
        };
        assert!(check_result(&rows(3), false).is_ok());
        assert!(check_result(&rows(4), false).is_err());
    }

    proptest! {
        /// What passes is read by the driver's own reader: neither ends the process, whatever the bytes are.
        #[test]
        fn the_driver_can_read_what_passes(
            ids in 0_usize..2,
            is_rows in any::<bool>(),
            changes in prop::collection::vec((0_usize..80, any::<u8>()), 0..6),
            cut in 0_usize..80,
        ) {
            let mut body = match is_rows {
                false => prepared(ids),
                true => [
                    &ROWS[..],
                    &[ONE_TABLE | HAS_MORE_PAGES, 2].map(i32::to_be_bytes).concat(),
                    b"\0\0\0\x01x\0\x02ks\0\x01t\0\x01a\0\x21\0\x0d\0\x31\0\x02\0\x09\0\x15",
                    b"\0\x01b\0\0\0\x0eListType(A(B))\0\0\0\x01\0\0\0\x01\0\0\0\0",
                ]
                .concat(),
            };
            for (at, byte) in changes {
                if let Some(place) = body.get_mut(at) {
                    *place = byte;
                }
            }
            body.truncate(body.len().max(1).min(4 + cut.max(body.len().saturating_sub(cut))));
            if check_result(&body, false).is_ok() {
                let read = result::deserialize_with_features(body.into(), None, &ProtocolFeatures::default());
                if let Ok(result::Result::Rows((rows, _))) = read {
                    let _ = rows.deserialize_metadata();
                }
            }
        }
    }
}
