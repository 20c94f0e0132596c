//! Functions that SAP's help does not describe and whose names and parameters say what they do: for its own components, and for bindings
//! that import every function.

use std::cmp::Ordering;

use tidemill_ads::sql::row_id_prefix;
use tidemill_ads::{Error, ErrorCode, Result, WorkArea};
use tidemill_xbase::CodePage;

use crate::call::{call, call_anywhere, refuse};
use crate::callback::watched;
use crate::constants::*;
use crate::handle::{Handle, with_any, with_area, with_connection, with_order};
use crate::last_error;
use crate::pointers::{Bytes, Field, Name, Out, WideName, text_of};
use crate::settings::settings;
use crate::table::{AdsCopyTableStructure, given_options, sorted_by_bytes};

/// Compares bytes: the answer is -1, 0 or 1.
#[unsafe(no_mangle)]
pub extern "C" fn AdsMemCompare(
    _connection: Handle,
    first: Bytes,
    first_len: u32,
    second: Bytes,
    second_len: u32,
    char_set: u16,
    answer: Out<i16>,
) -> u32 {
    call(|| {
        compare(
            (first, first_len),
            (second, second_len),
            char_set,
            |text, _| text,
            answer,
        )
    })
}

/// As [`AdsMemCompare`], by a collation, which must be that of bytes.
#[unsafe(no_mangle)]
pub extern "C" fn AdsMemCompare90(
    connection: Handle,
    first: Bytes,
    first_len: u32,
    second: Bytes,
    second_len: u32,
    char_set: u16,
    collation: u32,
    answer: Out<i16>,
) -> u32 {
    match call(|| numbered_collation(collation)) {
        AE_SUCCESS => AdsMemCompare(connection, first, first_len, second, second_len, char_set, answer),
        code => code,
    }
}

/// Compares texts without regard to case: the answer is -1, 0 or 1.
#[unsafe(no_mangle)]
pub extern "C" fn AdsMemICompare(
    _connection: Handle,
    first: Bytes,
    first_len: u32,
    second: Bytes,
    second_len: u32,
    char_set: u16,
    answer: Out<i16>,
) -> u32 {
    call(|| compare((first, first_len), (second, second_len), char_set, lowered, answer))
}

/// As [`AdsMemICompare`], by a collation, which must be that of bytes.
#[unsafe(no_mangle)]
pub extern "C" fn AdsMemICompare90(
    connection: Handle,
    first: Bytes,
    first_len: u32,
    second: Bytes,
    second_len: u32,
    char_set: u16,
    collation: u32,
    answer: Out<i16>,
) -> u32 {
    match call(|| numbered_collation(collation)) {
        AE_SUCCESS => AdsMemICompare(connection, first, first_len, second, second_len, char_set, answer),
        code => code,
    }
}

/// Makes the letters of a text small ones, where they are.
#[unsafe(no_mangle)]
pub extern "C" fn AdsMemLwr(_connection: Handle, text: Bytes, len: u16, char_set: u16) -> u32 {
    call(|| {
        let codepage = code_page_of(char_set)?;
        let small = lowered(text.read(len.into())?.to_vec(), codepage);
        text.write(&small, small.len())
    })
}

/// As [`AdsMemLwr`]; the collation must be that of bytes.
#[unsafe(no_mangle)]
pub extern "C" fn AdsMemLwr90(connection: Handle, text: Bytes, len: u16, char_set: u16, collation: u32) -> u32 {
    match call(|| numbered_collation(collation)) {
        AE_SUCCESS => AdsMemLwr(connection, text, len, char_set),
        code => code,
    }
}

fn compare(
    (first, first_len): (Bytes, u32),
    (second, second_len): (Bytes, u32),
    char_set: u16,
    as_compared: impl Fn(Vec<u8>, CodePage) -> Vec<u8>,
    answer: Out<i16>,
) -> Result<()> {
    let codepage = code_page_of(char_set)?;
    let given = |text: Bytes, len: u32| Ok::<_, Error>(as_compared(text.read(len as usize)?.to_vec(), codepage));
    answer.set(match given(first, first_len)?.cmp(&given(second, second_len)?) {
        Ordering::Less => -1,
        Ordering::Equal => 0,
        Ordering::Greater => 1,
    })
}

fn code_page_of(char_set: u16) -> Result<CodePage> {
    match char_set {
        ADS_DEFAULT | ADS_ANSI | MACHINE_VFP_BIN_1252 => Ok(CodePage::Cp1252),
        ADS_OEM => Ok(CodePage::Cp437),
        other => refuse(
            ErrorCode::UnsupportedCollation,
            format!("characters of the type {other} are not compared here"),
        ),
    }
}

fn numbered_collation(number: u32) -> Result<()> {
    let binary = [ADS_DEFAULT, ADS_ANSI, ADS_OEM, MACHINE_VFP_BIN_1252];
    match binary.iter().any(|known| u32::from(*known) == number) {
        true => Ok(()),
        false => refuse(
            ErrorCode::UnsupportedCollation,
            format!("collation {number}: text is sorted by its bytes"),
        ),
    }
}

/// The small letters of a code page of single bytes; what has none stays.
fn lowered(text: Vec<u8>, codepage: CodePage) -> Vec<u8> {
    let small = |byte: u8| {
        let letter = codepage.decode(&[byte]).to_lowercase();
        let mut encoded = Vec::new();
        match (codepage.encode(&letter, &mut encoded), encoded.as_slice()) {
            (Ok(()), [small]) => *small,
            _ => byte,
        }
    };
    text.into_iter().map(small).collect()
}

/// Text of a code page in UTF-16. A length of -1 is that of a text with a NUL at its end, which is left out of the answer.
#[unsafe(no_mangle)]
pub extern "C" fn AdsConvertCodePageToUnicode(
    _connection: Handle,
    code_page: u32,
    text: Bytes,
    len: i32,
    units: Out<u16>,
    unit_count: Out<u32>,
) -> u32 {
    call(|| {
        let codepage = numbered_code_page(code_page)?;
        let bytes = match usize::try_from(len) {
            Ok(len) => text.read(len)?,
            Err(_) => text.read_text().unwrap_or_default(),
        };
        let decoded: Vec<u16> = codepage.decode(bytes).encode_utf16().collect();
        Bytes::put_wide(units, &decoded, unit_count)
    })
}

/// UTF-16 as text of a code page. A length of -1 is that of a text with a zero at its end, which is left out of the answer.
#[unsafe(no_mangle)]
pub extern "C" fn AdsConvertUnicodeToCodePage(
    _connection: Handle,
    code_page: u32,
    units: WideName,
    unit_count: i32,
    text: Bytes,
    len: Out<u32>,
) -> u32 {
    call(|| {
        let codepage = numbered_code_page(code_page)?;
        let units = match u32::try_from(unit_count) {
            Ok(count) => units.units(count)?,
            Err(_) => units.needed()?.encode_utf16().collect(),
        };
        text.put(&crate::unicode::encoded(&units, codepage)?, len)
    })
}

/// 0 is the code page of Windows here.
fn numbered_code_page(number: u32) -> Result<CodePage> {
    let named = match number {
        0 => Ok(CodePage::Cp1252),
        number => number.to_string().parse(),
    };
    named.or_else(|_| refuse(ErrorCode::InvalidOption, format!("there is no code page {number} here")))
}

/// As [`AdsCopyTableStructure`]; there are no options.
#[unsafe(no_mangle)]
pub extern "C" fn AdsCopyTableStructure81(table: Handle, name: Name, options: u32) -> u32 {
    match call(|| no_options(options)) {
        AE_SUCCESS => AdsCopyTableStructure(table, name),
        code => code,
    }
}

fn no_options(options: u32) -> Result<()> {
    match options {
        0 => Ok(()),
        other => refuse(ErrorCode::InvalidOption, format!("{other:#x} is no option of a copy")),
    }
}

/// Appends the first records that filters and scopes show to another table.
#[unsafe(no_mangle)]
pub extern "C" fn AdsCopyTableTop(from: Handle, to: Handle, count: u32) -> u32 {
    AdsCopyTableTop100(from, to, count, 0)
}

/// As [`AdsCopyTableTop`], from a record on, where 0 is the first one.
#[unsafe(no_mangle)]
pub extern "C" fn AdsCopyTableTop100(from: Handle, to: Handle, count: u32, offset: u32) -> u32 {
    call(|| {
        let target = with_any(to, |session, area, _| Ok((session.handle, area)))?;
        let first = u64::from(offset);
        let copied = first..first + u64::from(count);
        with_any(from, |session, area, order| {
            if session.handle != target.0 {
                return refuse(
                    ErrorCode::InvalidRelation,
                    "the tables are open on different connections",
                );
            }
            session
                .connection
                .copy_top((area, order), target.1, &copied, &watched())
        })
    })
}

/// Makes a table that its connection alone sees, and that is gone with it: `#name` in statements. How much memory it is to have is not
/// looked at.
#[unsafe(no_mangle)]
pub extern "C" fn AdsCreateMemTable(
    connection: Handle,
    name: Name,
    table_type: u16,
    char_type: u16,
    fields: Name,
    _size: u32,
    answer: Out<Handle>,
) -> u32 {
    call(|| {
        let options = given_options(Name::none(), table_type, char_type, ADS_COMPATIBLE_LOCKING)?;
        let (name, fields) = (name.needed()?, fields.needed()?);
        with_connection(connection, |session| {
            let area = session
                .connection
                .create_memory_table(&name, &fields, &options, &settings())?;
            answer.set(session.table_handle(area)?)
        })
    })
}

/// As [`AdsCreateMemTable`]; the collation must be that of bytes.
#[unsafe(no_mangle)]
pub extern "C" fn AdsCreateMemTable90(
    connection: Handle,
    name: Name,
    table_type: u16,
    char_type: u16,
    fields: Name,
    size: u32,
    collation: Name,
    answer: Out<Handle>,
) -> u32 {
    match call(|| sorted_by_bytes(collation)) {
        AE_SUCCESS => AdsCreateMemTable(connection, name, table_type, char_type, fields, size, answer),
        code => code,
    }
}

/// Closes a table that is open exclusively, and removes its files.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDeleteTable(table: Handle) -> u32 {
    call(|| {
        with_any(table, |session, area, _| {
            let deleted = session.connection.delete_table(area, &settings());
            if !session.connection.is_open(area) {
                session.forget_table(area);
            }
            deleted
        })
    })
}

/// Makes a number and a text the last error of the thread.
#[unsafe(no_mangle)]
pub extern "C" fn AdsSetLastError(code: u32, details: Name) -> u32 {
    call_anywhere(|| {
        last_error::put(code, details.text()?.unwrap_or_default());
        Ok(())
    })
}

/// As [`AdsSetLastError`], with the place in the source that found it.
#[unsafe(no_mangle)]
pub extern "C" fn AdsSetInternalError(code: u32, file: Name, line: u32) -> u32 {
    call_anywhere(|| {
        let file = file.text()?.unwrap_or_default();
        last_error::put(code, format!("Error {code}:  {file}, line {line}"));
        Ok(())
    })
}

/// Says how a connection or a table is about to be used. What is known is for the speed of other servers, and changes nothing here.
#[unsafe(no_mangle)]
pub extern "C" fn AdsSetProperty(object: Handle, operation: u32, value: u32) -> u32 {
    AdsSetProperty90(object, operation, value.into())
}

/// As [`AdsSetProperty`].
#[unsafe(no_mangle)]
pub extern "C" fn AdsSetProperty90(object: Handle, operation: u32, _value: u64) -> u32 {
    call(|| match operation {
        LARGE_BLOCK_READS => with_connection(object, |_| Ok(())),
        BATCH_INSERTS => with_area(object, |_| Ok(())),
        other => refuse(
            ErrorCode::InvalidOption,
            format!("{other} is no property that is known here"),
        ),
    })
}

/// `ADS_SET_LARGE_BLOCK_READS` and `ADS_SET_BATCH_INSERTS` of SAP's Delphi unit, of a connection and of a table.
const LARGE_BLOCK_READS: u32 = 1;
const BATCH_INSERTS: u32 = 2;

/// How many bytes a page of the index file of an order has.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetIndexPageSize(index: Handle, answer: Out<u32>) -> u32 {
    call(|| {
        with_order(index, |session, area, order| {
            let len = session.connection.area(area)?.index_page_len(order)?;
            answer.set(u32::try_from(len).unwrap_or(u32::MAX))
        })
    })
}

/// What the ROWIDs of a table begin with: 12 characters.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetROWIDPrefix(table: Handle, text: Bytes, len: u16) -> u32 {
    call(|| {
        with_area(table, |area| {
            let (prefix, len) = (row_id_prefix(area.path()), usize::from(len));
            if prefix.len() > len {
                let what = format!("{} bytes do not fit into a buffer of {len}", prefix.len());
                return refuse(ErrorCode::InsufficientBuffer, what);
            }
            text.write(prefix.as_bytes(), len)
        })
    })
}

/// Lets a filter by bitmaps rest: the records that it left out are shown.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDeactivateAOF(table: Handle) -> u32 {
    call(|| with_area(table, |area| area.rest_aof(&settings())))
}

/// Uses the filter that rests again.
#[unsafe(no_mangle)]
pub extern "C" fn AdsActivateAOF(table: Handle) -> u32 {
    call(|| with_area(table, WorkArea::wake_aof))
}

/// An expression with the short names that index files of ADTs have for fields.
#[unsafe(no_mangle)]
pub extern "C" fn AdsExpressionLongToShort(table: Handle, expression: Bytes, short: Bytes, len: Out<u16>) -> u32 {
    call(|| short.put(&renamed(table, expression, WorkArea::with_short_names)?, len))
}

/// As [`AdsExpressionLongToShort`].
#[unsafe(no_mangle)]
pub extern "C" fn AdsExpressionLongToShort90(table: Handle, expression: Bytes, short: Bytes, len: Out<u32>) -> u32 {
    call(|| short.put(&renamed(table, expression, WorkArea::with_short_names)?, len))
}

/// As [`AdsExpressionLongToShort`]; there are no options.
#[unsafe(no_mangle)]
pub extern "C" fn AdsExpressionLongToShort100(
    table: Handle,
    expression: Bytes,
    short: Bytes,
    len: Out<u32>,
    options: u32,
) -> u32 {
    match call(|| no_options(options)) {
        AE_SUCCESS => AdsExpressionLongToShort90(table, expression, short, len),
        code => code,
    }
}

/// An expression of an index with the names of fields for their short ones.
#[unsafe(no_mangle)]
pub extern "C" fn AdsExpressionShortToLong(table: Handle, expression: Bytes, long: Bytes, len: Out<u16>) -> u32 {
    call(|| long.put(&renamed(table, expression, WorkArea::with_long_names)?, len))
}

/// As [`AdsExpressionShortToLong`].
#[unsafe(no_mangle)]
pub extern "C" fn AdsExpressionShortToLong90(table: Handle, expression: Bytes, long: Bytes, len: Out<u32>) -> u32 {
    call(|| long.put(&renamed(table, expression, WorkArea::with_long_names)?, len))
}

fn renamed(table: Handle, expression: Bytes, rename: impl Fn(&WorkArea, &str) -> String) -> Result<Vec<u8>> {
    let Some(expression) = expression.read_text().map(text_of) else {
        return refuse(
            ErrorCode::InvalidPointer,
            "an expression must be given, and the pointer is null",
        );
    };
    with_area(table, |area| Ok(rename(area, &expression).into_bytes()))
}

/// Sends bytes to the server and has them back: this one is in the process, so that they stay as they are.
#[unsafe(no_mangle)]
pub extern "C" fn AdsEcho(connection: Handle, data: Bytes, len: u16) -> u32 {
    call(|| {
        data.read(len.into())?;
        with_connection(connection, |_| Ok(()))
    })
}

/// How long the packets of a connection are: the local server sends none.
#[unsafe(no_mangle)]
pub extern "C" fn AdsSetPacketSize(connection: Handle, _len: u16) -> u32 {
    call(|| with_connection(connection, |_| Ok(())))
}

/// Whether a table is reached over a slow network: none is.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetTableWAN(table: Handle, answer: Out<u16>) -> u32 {
    call(|| with_area(table, |_| answer.set(0)))
}

/// Whether every update is brought to the disk at once, in all tables and statements of a connection; in a transaction, its end is.
#[unsafe(no_mangle)]
pub extern "C" fn AdsSetFlushFlag(connection: Handle, flushes: u16) -> u32 {
    call(|| {
        with_connection(connection, |session| {
            session.connection.sync_updates(flushes != 0);
            Ok(())
        })
    })
}

/// Says whether a table is before its first record, until the next move. The current record stays.
#[unsafe(no_mangle)]
pub extern "C" fn AdsSetBOFFlag(table: Handle, is_bof: u16) -> u32 {
    call(|| {
        with_area(table, |area| {
            area.set_bof(is_bof != 0);
            Ok(())
        })
    })
}

/// Says whether a table holds text in the code page of Windows or of DOS, as [`AdsOpenTable`](crate::AdsOpenTable) does.
#[unsafe(no_mangle)]
pub extern "C" fn AdsSetTableCharType(table: Handle, char_type: u16) -> u32 {
    call(|| {
        let is_oem = given_options(Name::none(), ADS_DEFAULT, char_type, ADS_COMPATIBLE_LOCKING)?.is_oem;
        with_area(table, |area| area.set_oem(is_oem))
    })
}

/// Locks the current record until it is written or left, as a change of it does; 0 means it too.
#[unsafe(no_mangle)]
pub extern "C" fn AdsLockRecordImplicitly(table: Handle, record: u32) -> u32 {
    call(|| with_area(table, |area| area.lock_until_left(record)))
}

/// The key that follows or precedes a key in the order of bytes, as long as it: what [`AdsSetScope`](crate::AdsSetScope) takes where the key
/// itself is to be left out.
#[unsafe(no_mangle)]
pub extern "C" fn AdsStepIndexKey(index: Handle, key: Bytes, len: u16, direction: i16) -> u32 {
    call(|| {
        with_order(index, |_, _, _| Ok(()))?;
        let mut bytes = key.read(len.into())?.to_vec();
        let (from, to, step) = match direction.cmp(&0) {
            Ordering::Greater => (u8::MAX, 0, 1_u8),
            Ordering::Less => (0, u8::MAX, u8::MAX),
            Ordering::Equal => return refuse(ErrorCode::InvalidOption, "a step of 0 leads to no other key"),
        };
        for byte in bytes.iter_mut().rev() {
            if *byte != from {
                *byte = byte.wrapping_add(step);
                return key.write(&bytes, bytes.len());
            }
            *byte = to;
        }
        refuse(
            ErrorCode::InvalidKeyLength,
            format!("no key of {len} bytes lies beyond"),
        )
    })
}

/// The mark by which the record of a Visual FoxPro table says that a field is NULL, in the bytes of a record that [`AdsGetRecord`] gives
/// (`RETRIEVE_NULL_FLAG`), or sets it there (`UPDATE_NULL_FLAG`); the value stays.
///
/// [`AdsGetRecord`]: crate::AdsGetRecord
#[unsafe(no_mangle)]
pub extern "C" fn AdsAccessVfpSystemField(
    table: Handle,
    field: Field,
    record: Bytes,
    options: u32,
    flag: Out<u16>,
) -> u32 {
    call(|| {
        with_area(table, |area| {
            let (field, len) = (field.of(area)?, area.record_len() as usize);
            let mut bytes = record.read(len)?.to_vec();
            match options {
                RETRIEVE_NULL_FLAG => flag.set(area.null_mark(field, &bytes)?.into()),
                UPDATE_NULL_FLAG => {
                    area.set_null_mark(field, &mut bytes, flag.get()? != 0)?;
                    record.write(&bytes, len)
                }
                RETRIEVE_FULL_FLAG | UPDATE_FULL_FLAG => refuse(
                    ErrorCode::NotImplemented,
                    "nothing public says what the mark of a full field answers; AdsGetDataLength tells how long a value is",
                ),
                other => refuse(
                    ErrorCode::InvalidOption,
                    format!("{other} is no mark that a record has of a field"),
                ),
            }
        })
    })
}

/// The marks of a record of SAP's Delphi unit.
const RETRIEVE_NULL_FLAG: u32 = 1;
const UPDATE_NULL_FLAG: u32 = 2;
const UPDATE_FULL_FLAG: u32 = 3;
const RETRIEVE_FULL_FLAG: u32 = 4;
