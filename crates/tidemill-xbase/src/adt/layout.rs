//! The structure of a new ADT: where its fields lie, and the header that says it.

use std::collections::HashSet;

use crate::codepage::CodePage;
use crate::error::{Error, Result};
use crate::field::FieldKind;
use crate::field_spec::{FieldSpec, InAdt};

use super::{
    AUTOINCREMENT_AT, AdtType, DESCRIPTOR_LEN, DICTIONARY_MAGIC, FIELD_COUNT_AT, FLAG_AUTOINCREMENT,
    FLAG_IN_DICTIONARY, FLAG_MEMO, FLAGS_AT, HEADER_LEN, HEADER_LEN_AT, NAME_LEN, RECORD_LEN_AT, RECORD_LEN_MAX,
    RECORD_PROLOGUE, TABLE_MAGIC, VERSION_AT,
};

/// The most fields, of which the help has a formula that depends on the lengths of names: as many as it gives for long ones.
const FIELDS_MAX: usize = 2046;

/// The widest Numeric.
const NUMBER_MAX: u16 = 32;

/// What a field of a new table is there.
///
/// # Errors
/// [`Error::Misuse`] for what an ADT has no type for.
pub(crate) fn field_of(spec: &FieldSpec) -> Result<InAdt> {
    let refuse = |why: &str| Err(spec.refused(why));
    let adt_type = match (spec.in_adt, spec.letter, spec.width) {
        (Some(in_adt), ..) => in_adt.adt_type,
        (None, 'I' | '+', _) if spec.autoincrement => AdtType::AutoIncrement,
        (None, 'C', _) if spec.binary => AdtType::Raw,
        (None, 'C' | 'V', _) => AdtType::Character,
        (None, 'N' | 'F', _) => AdtType::Numeric,
        (None, 'L', _) => AdtType::Logical,
        (None, 'D', _) => AdtType::Date,
        (None, 'I' | '+', ..=2) => AdtType::ShortInteger,
        (None, 'I' | '+', 3 | 4) => AdtType::Integer,
        (None, 'I' | '+', _) => AdtType::LongInteger,
        (None, '^', _) => AdtType::RowVersion,
        (None, 'B' | 'O', _) => AdtType::Double,
        (None, 'Y', _) => AdtType::Money,
        (None, 'T', 4) => AdtType::Time,
        (None, 'T' | '@', _) => AdtType::Timestamp,
        (None, '=', _) => AdtType::ModTime,
        (None, 'M', _) if spec.binary => AdtType::Binary,
        (None, 'M', _) => AdtType::Memo,
        (None, 'W' | 'G' | 'Q', _) => AdtType::Binary,
        (None, 'P', _) => AdtType::Image,
        _ => {
            return refuse(&format!(
                "an ADT has no type for {:?}; cast it, or leave it out",
                spec.letter
            ));
        }
    };
    let (given, decimals) = spec
        .in_adt
        .map_or((spec.width, spec.decimals), |own| (own.width, own.decimals));
    if decimals > 0
        && matches!(
            adt_type,
            AdtType::Integer | AdtType::ShortInteger | AdtType::LongInteger
        )
    {
        return refuse("whole numbers have no decimals; take Numeric");
    }
    let width = match adt_type.fixed_width() {
        Some(width) => width,
        // A digit has a place for its sign beside it.
        None if adt_type == AdtType::Numeric => given.max(2),
        None => given,
    };
    if let Some(unknown) = adt_type.unknown(width.into()) {
        return refuse(&format!("{unknown}, is not written"));
    }
    if let Err(expected) = adt_type.check_width(width.into(), decimals) {
        return match (adt_type, width > NUMBER_MAX) {
            (AdtType::Numeric, true) => Err(spec.number_refused(&format!("an ADT number has at most {NUMBER_MAX}"))),
            (AdtType::Numeric, false) => refuse(&format!(
                "{decimals} decimals need {} characters, with a digit and the point, and it has {width}; make it wider",
                u16::from(decimals) + 2
            )),
            _ => refuse(&format!("an ADT has {expected}, not of {width}")),
        };
    }
    Ok(InAdt {
        adt_type,
        width,
        decimals: match adt_type.kind() {
            FieldKind::Numeric | FieldKind::Double => decimals,
            FieldKind::Currency => 4,
            _ => 0,
        },
    })
}

/// The names of fields in the table's code page.
///
/// # Errors
/// [`Error::Misuse`] for a name that a table cannot have, or that is there twice.
pub(crate) fn names(fields: &[FieldSpec], codepage: CodePage) -> Result<Vec<Vec<u8>>> {
    let mut seen = HashSet::new();
    let named = |spec: &FieldSpec| {
        let mut name = Vec::new();
        let is_sound = codepage.encode(&spec.name, &mut name).is_ok()
            && (1..=NAME_LEN).contains(&name.len())
            && !name.iter().any(|byte| matches!(byte, 0 | b';' | b','));
        match is_sound && seen.insert(spec.name.to_lowercase()) {
            true => Ok(name),
            false => Err(Error::Misuse(format!(
                "field {:?}: a name has 1 to {NAME_LEN} bytes without ; and , and is there once",
                spec.name
            ))),
        }
    };
    fields.iter().map(named).collect()
}

/// Refuses a record that is too long, or has no field.
///
/// # Errors
/// [`Error::Misuse`].
pub(crate) fn check_len(fields: usize, record_len: usize) -> Result<()> {
    match (1..=FIELDS_MAX).contains(&fields) && record_len <= RECORD_LEN_MAX as usize {
        true => Ok(()),
        false => Err(Error::Misuse(format!(
            "{fields} columns of {record_len} bytes a record: an ADT has 1 to {FIELDS_MAX} columns of at most {RECORD_LEN_MAX} bytes; leave some out, or make long texts memos"
        ))),
    }
}

/// A field of a new table.
pub(crate) struct NewField<'a> {
    pub(crate) name: &'a [u8],
    pub(crate) adt_type: AdtType,
    pub(crate) offset: usize,
    pub(crate) width: usize,
    pub(crate) decimals: u8,
}

/// The header of a table without records, or of a data dictionary without objects.
pub(crate) fn header<'a>(fields: impl ExactSizeIterator<Item = NewField<'a>>, is_dictionary: bool) -> Vec<u8> {
    let mut header = vec![0; HEADER_LEN as usize];
    let count = fields.len();
    let (magic, mut flags) = match is_dictionary {
        true => (DICTIONARY_MAGIC, FLAG_IN_DICTIONARY),
        false => (TABLE_MAGIC, 0),
    };
    let (mut version, mut record_len) = (1, RECORD_PROLOGUE);
    for field in fields {
        let mut descriptor = [0; DESCRIPTOR_LEN as usize];
        put(&mut descriptor, 0, field.name);
        for (at, number) in [
            (129, usize::from(field.adt_type.code())),
            (131, field.offset),
            (135, field.width),
            // Money has its decimals elsewhere.
            (
                137,
                if field.adt_type == AdtType::Money {
                    0
                } else {
                    field.decimals.into()
                },
            ),
        ] {
            put(
                &mut descriptor,
                at,
                &u16::try_from(number).unwrap_or_default().to_le_bytes(),
            );
        }
        if field.adt_type == AdtType::Money {
            put(&mut descriptor, 139, &4_u32.to_le_bytes());
        }
        if field.adt_type.kind().uses_memo() {
            flags |= FLAG_MEMO;
        }
        if field.adt_type == AdtType::AutoIncrement {
            flags |= FLAG_AUTOINCREMENT;
        }
        if field.adt_type.code() > AdtType::ModTime.code() {
            version = 2;
        }
        record_len += field.width;
        header.extend(descriptor);
    }
    put(&mut header, 0, magic);
    put(&mut header, VERSION_AT, &u32::to_le_bytes(version));
    let len = u32::try_from(header.len()).unwrap_or_default();
    put(&mut header, HEADER_LEN_AT as usize, &len.to_le_bytes());
    put(
        &mut header,
        RECORD_LEN_AT as usize,
        &u32::try_from(record_len).unwrap_or_default().to_le_bytes(),
    );
    put(
        &mut header,
        AUTOINCREMENT_AT as usize,
        &u32::to_le_bytes((flags & FLAG_AUTOINCREMENT != 0).into()),
    );
    put(&mut header, FLAGS_AT, &flags.to_le_bytes());
    // What all files at hand have there.
    put(&mut header, FIELD_COUNT_AT - 2, &4_u16.to_le_bytes());
    put(
        &mut header,
        FIELD_COUNT_AT,
        &u16::try_from(count).unwrap_or_default().to_le_bytes(),
    );
    header
}

fn put(bytes: &mut [u8], at: usize, own: &[u8]) {
    if let Some(slot) = bytes.get_mut(at..at + own.len()) {
        slot.copy_from_slice(own);
    }
}
