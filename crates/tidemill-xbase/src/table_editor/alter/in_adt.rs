//! The other structure of an ADT: its header, what becomes of the numbers by which indexes know fields, and what it cannot have.
//!
//! Records keep their numbers, and the list of free ones its links; counters and row versions go on where they were.

use super::{Structure, memo_dialect};
use crate::adt::{self, AdtType};
use crate::alteration::{Alteration, AlteredColumn};
use crate::error::{Error, Result};
use crate::field::Field;
use crate::field_spec::{FieldSpec, InAdt};
use crate::header::{CivilDate, Dialect, u16_at};
use crate::table_editor::TableEditor;
use crate::table_editor::orders::Renumbered;
use crate::table_writer::{CreateOptions, Layout};

/// What the header says that stays: the list of free records with its length, and the last row version.
const KEPT: [(u64, usize); 3] = [
    (adt::FIRST_FREE_AT, 4),
    (adt::FREE_COUNT_AT, 4),
    (adt::ROW_VERSION_AT, 8),
];

/// What the header of a table of a data dictionary says of it.
const DICTIONARY: [(usize, usize); 3] = [
    (adt::VERSION_AT, 4),
    (adt::DICTIONARY_AT, adt::DICTIONARY_LEN),
    (adt::OBJECT_AT, 4),
];

/// The alteration with the fields as kept that are changed into what they are: their bytes stay.
pub(super) fn without_idle_changes(fields: &[Field], alteration: &Alteration) -> Alteration {
    let is_idle = |column: &AlteredColumn| {
        let old = column.from.and_then(|from| fields.get(from));
        let new = column.spec.as_ref().and_then(|spec| adt::layout::field_of(spec).ok());
        old.zip(new).is_some_and(|(old, new)| shape(old) == Some(new))
    };
    let mut alteration = alteration.clone();
    for column in &mut alteration.columns {
        if is_idle(column) {
            column.spec = None;
        }
    }
    alteration
}

/// What a field is in an ADT.
fn shape(field: &Field) -> Option<InAdt> {
    Some(InAdt {
        adt_type: field.adt_type?,
        width: u16::try_from(field.width).ok()?,
        decimals: field.decimals,
    })
}

/// What the numbers of the fields become.
pub(super) fn renumbered(fields: &[Field], alteration: &Alteration) -> Renumbered {
    let numbers = fields.iter().enumerate().map(|(place, field)| {
        let mut columns = alteration.columns.iter();
        let new = columns.position(|column| column.from == Some(place));
        (field.name.clone(), new.map(|place| place + 1))
    });
    Renumbered(numbers.collect())
}

/// The header of the new table, which has no records so far.
///
/// # Errors
/// [`Error::Unsupported`] for a table of a data dictionary that would not be kept, one with fields that are not read, and row versions and times of changes
/// that records do not have yet; as for making a table of these fields.
pub(super) fn structure(table: &TableEditor, alteration: &Alteration) -> Result<Structure> {
    let refuse = |what: &str| {
        Err(Error::Unsupported {
            path: table.path().to_owned(),
            what: what.to_owned(),
        })
    };
    let fields = &table.fields.visible;
    let known = adt::RECORD_PROLOGUE + fields.iter().map(|field| field.width).sum::<usize>();
    if known != table.header.record_len as usize {
        return refuse("it has fields that are not read, and altering would lose them");
    }
    let own = table.header.adt.as_ref();
    let is_bound = own.is_some_and(|own| own.in_dictionary);
    if own.is_some_and(|own| own.is_dictionary) || is_bound && !alteration.keeps_dictionary {
        return refuse(
            "it belongs to a data dictionary, which describes its fields and would no longer agree with them",
        );
    }
    let mut specs = Vec::with_capacity(alteration.columns.len());
    for column in &alteration.columns {
        let old = column.from.and_then(|from| fields.get(from));
        let spec = match (&column.spec, old.and_then(shape)) {
            (Some(spec), _) => FieldSpec {
                name: column.name.clone(),
                ..spec.clone()
            },
            (None, Some(own)) => FieldSpec::of_adt(&column.name, own.adt_type, own.width, own.decimals),
            (None, None) => return Err(table.misuse("the alteration is of another table")),
        };
        let new = adt::layout::field_of(&spec)?.adt_type;
        let is_stamp = matches!(new, AdtType::RowVersion | AdtType::ModTime);
        if is_stamp && column.spec.is_some() && table.record_count() > 0 {
            return refuse("RowVersion and ModTime fields are added to tables without records only");
        }
        specs.push(spec);
    }
    let never = CivilDate {
        year: 1980,
        month: 1,
        day: 1,
    };
    let mut create = CreateOptions::new(never);
    (create.format, create.codepage) = (Dialect::Adt, table.codepage);
    let layout = Layout::new(&specs, &create)?;
    let mut header = layout.header(&create)?;
    let mut keep = |at: u64, len: usize| -> Result<()> {
        let mut own = vec![0; len];
        table.file.read("table header", at, &mut own)?;
        let at = usize::try_from(at).unwrap_or(usize::MAX);
        if let Some(slot) = header.get_mut(at..at.saturating_add(len)) {
            slot.copy_from_slice(&own);
        }
        Ok(())
    };
    KEPT.iter().try_for_each(|(at, len)| keep(*at, *len))?;
    let is_counter = |column: &AlteredColumn| {
        let old = column.from.and_then(|from| fields.get(from));
        column.spec.is_none() && old.is_some_and(|old| old.autoincrement.is_some())
    };
    if alteration.columns.iter().any(is_counter) {
        keep(adt::AUTOINCREMENT_AT, 4)?;
    }
    if is_bound {
        DICTIONARY.iter().try_for_each(|(at, len)| keep(*at as u64, *len))?;
        if let Some(flags) = header.get_mut(adt::FLAGS_AT..adt::FLAGS_AT + 2) {
            let own = u16_at(flags, 0).unwrap_or_default() | adt::FLAG_IN_DICTIONARY;
            flags.copy_from_slice(&own.to_le_bytes());
        }
    }
    Ok(Structure {
        header,
        memo: memo_dialect(table, alteration, layout.has_memos())?,
    })
}
