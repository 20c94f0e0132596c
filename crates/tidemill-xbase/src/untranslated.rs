//! Fields that are exempt from code page translation (NOCPTRANS of Visual FoxPro), and hold text all the same.
//!
//! The flag says that FoxPro leaves the bytes alone, not what they are: programs keep keys, ciphers and pictures there, and plain text.
//! Which it is, the values tell: those of every record, so that no value is lost by it. A column is one of text when none of its
//! values has control characters and all that is beyond ASCII looks like the table's code page. One without a value stays one of bytes.
//!
//! Memos are looked at where there are few of them ([`MEMOS_MAX`]).

use std::sync::Arc;

use arrow_schema::Schema;

use crate::codepage::CodePage;
use crate::codepage_guess::look_like;
use crate::error::Result;
use crate::field::{Field, FieldKind, Fields};
use crate::header::Header;
use crate::memo::{Memo, MemoReader};
use crate::note::Note;
use crate::null_test::NullTest;
use crate::source::Source;
use crate::stamp::{FileMemo, FileStamp};

/// The fields of a table, those that hold text as fields of text.
///
/// # Errors
/// When the file cannot be read.
pub(crate) fn as_text(
    (source, header, memo): (&Source, &Header, Option<&Memo>),
    fields: Arc<Fields>,
    codepage: CodePage,
) -> Result<Arc<Fields>> {
    type Found = FileMemo<(CodePage, Option<FileStamp>), Vec<usize>>;
    static KNOWN: Found = Found::new(64);
    if !fields.visible.iter().any(|field| text_kind(field).is_some()) {
        return Ok(fields);
    }
    let memo_stamp = memo.and_then(|memo| memo.source().stamp());
    let is_vouched_for = memo.is_none() || memo_stamp.as_ref().is_some_and(FileStamp::is_at_rest);
    let (stamp, key) = (source.stamp().filter(|_| is_vouched_for), (codepage, memo_stamp));
    let known = stamp.as_ref().and_then(|stamp| KNOWN.get(source.path(), stamp, &key));
    let places = match known {
        Some(places) => places,
        None => {
            let places = find((source, header, memo), &fields, codepage)?;
            if let Some(stamp) = &stamp {
                KNOWN.put(source.path(), stamp, key, places.clone());
            }
            places
        }
    };
    Ok(if places.is_empty() {
        fields
    } else {
        Arc::new(with_text(&fields, &places, codepage))
    })
}

/// What a field is read as when it holds text; `None` for a field without the flag.
fn text_kind(field: &Field) -> Option<FieldKind> {
    match field.kind {
        _ if !field.is_untranslated() => None,
        FieldKind::CharacterBinary => Some(FieldKind::Character),
        FieldKind::Varbinary => Some(FieldKind::Varchar),
        FieldKind::MemoBinary => Some(FieldKind::Memo),
        _ => None,
    }
}

fn with_text(fields: &Fields, places: &[usize], codepage: CodePage) -> Fields {
    let (mut visible, mut notes) = (fields.visible.clone(), fields.notes.clone());
    for place in places {
        let Some(field) = visible.get_mut(*place) else { continue };
        field.kind = text_kind(field).unwrap_or(field.kind);
        notes.push(Note {
            begin: field.descriptor_at,
            end: field.descriptor_at + 32,
            record: None,
            count: 1,
            what: format!(
                "field {} is exempt from code page translation (NOCPTRANS), but its values are text: they are read and written as \
                 {codepage}",
                field.name
            ),
        });
    }
    let columns: Vec<_> = visible.iter().map(Field::arrow_field).collect();
    Fields {
        visible,
        null_flags: fields.null_flags,
        schema: Arc::new(Schema::new(columns)),
        notes,
    }
}

/// A column that is looked at.
struct Look<'f> {
    place: usize,
    field: &'f Field,
    null: Option<NullTest>,
    /// The byte and the bit of a record that says whether the last byte of the cell is a length.
    length_bit: Option<(usize, u8)>,
    has_value: bool,
    /// Values beyond ASCII, as many as are weighed.
    letters: Vec<Vec<u8>>,
    weighed: usize,
}

/// The places of the fields that hold text.
fn find(
    (source, header, memo): (&Source, &Header, Option<&Memo>),
    fields: &Fields,
    codepage: CodePage,
) -> Result<Vec<usize>> {
    let stride = header.record_len.max(1) as usize;
    let room = source.len().saturating_sub(u64::from(header.header_len)) / stride as u64;
    let count = header.record_count.min(u32::try_from(room).unwrap_or(u32::MAX));
    let per_window = u32::try_from(WINDOW / stride).unwrap_or(u32::MAX).max(1);
    let memo = memo.filter(|memo| memo.file_len() <= MEMOS_MAX);
    let candidates = fields.visible.iter().enumerate();
    let candidates = candidates.filter(|(_, field)| match text_kind(field) {
        Some(FieldKind::Memo) => memo.is_some(),
        kind => kind.is_some(),
    });
    let mut looks: Vec<Look<'_>> = candidates
        .map(|(place, field)| Look::new(fields, place, field))
        .collect();
    let (mut next, mut window, mut memos) = (0, Vec::new(), Memos::new(memo));
    while next < count && !looks.is_empty() {
        let some = per_window.min(count - next);
        let at = u64::from(header.header_len) + u64::from(next) * stride as u64;
        let records = source.read("records", at, some as usize * stride, &mut window)?;
        looks.retain_mut(|look| {
            let mut records = records.chunks_exact(stride);
            records.all(|record| look.is_text(record, &mut memos, codepage))
        });
        next += some;
    }
    let is_text = |look: &Look<'_>| {
        let letters: Vec<&[u8]> = look.letters.iter().map(Vec::as_slice).collect();
        look.has_value && (letters.is_empty() || codepage == CodePage::Utf8 || look_like(&letters, codepage))
    };
    Ok(looks
        .iter()
        .filter(|look| is_text(look))
        .map(|look| look.place)
        .collect())
}

impl<'f> Look<'f> {
    fn new(fields: &Fields, place: usize, field: &'f Field) -> Self {
        let bit = |bit: u16| {
            fields
                .null_flags
                .map(|(at, _)| (at + usize::from(bit / 8), 1 << (bit % 8)))
        };
        Self {
            place,
            field,
            null: fields.null_test(field),
            length_bit: field.varlength_bit.and_then(bit),
            has_value: false,
            letters: Vec::new(),
            weighed: 0,
        }
    }

    /// Whether the value of a record may be text.
    fn is_text(&mut self, record: &[u8], memos: &mut Memos<'_>, codepage: CodePage) -> bool {
        let Some(cell) = record.get(self.field.offset..self.field.offset + self.field.width) else {
            return false;
        };
        if self.null.is_some_and(|null| null.is_null(record)) {
            return true;
        }
        let value = match self.field.kind {
            FieldKind::Varbinary => match (self.length_bit, cell.split_last()) {
                (Some((at, mask)), Some((len, _))) if record.get(at).is_some_and(|byte| byte & mask != 0) => {
                    cell.get(..usize::from(*len))
                }
                (None, Some((len, _))) => cell.get(..usize::from(*len)),
                _ => Some(cell),
            },
            FieldKind::MemoBinary => match memos.read(cell) {
                Some(memo) => Some(memo),
                // Who reads it is told what is wrong with it.
                None => return !memos.are_too_many(),
            },
            _ => Some(cell),
        };
        let Some(value) = value else { return false };
        let end = value
            .iter()
            .rposition(|byte| !matches!(byte, b' ' | 0))
            .map_or(0, |last| last + 1);
        let value = value.get(..end).unwrap_or_default();
        if value.is_empty() {
            return true;
        }
        self.has_value = true;
        let is_plain = |byte: &u8| !byte.is_ascii_control() || matches!(byte, b'\t' | b'\r' | b'\n');
        if !value.iter().all(is_plain) {
            return false;
        }
        if value.is_ascii() {
            return true;
        }
        if self.weighed < WEIGHED {
            self.weighed += value.len();
            self.letters.push(value.to_vec());
        }
        are_letters(value, codepage)
    }
}

/// The memos of a table, as long as they are few.
struct Memos<'m> {
    memo: Option<&'m Memo>,
    reader: MemoReader,
    value: Vec<u8>,
    left: u64,
}

impl<'m> Memos<'m> {
    fn new(memo: Option<&'m Memo>) -> Self {
        Self {
            memo,
            reader: MemoReader::default(),
            value: Vec::new(),
            // Many records may have one memo.
            left: 2 * MEMOS_MAX,
        }
    }

    /// The memo of a cell; none where it cannot be read, or too many were.
    fn read(&mut self, cell: &[u8]) -> Option<&[u8]> {
        self.value.clear();
        if self.are_too_many() {
            return None;
        }
        self.reader.read(self.memo?, cell, &mut self.value).ok()?;
        self.left = self.left.saturating_sub(self.value.len() as u64);
        Some(&self.value)
    }

    fn are_too_many(&self) -> bool {
        self.left == 0
    }
}

/// Whether every byte of a text is a character of the code page, and none a control character.
fn are_letters(text: &[u8], codepage: CodePage) -> bool {
    let is_letter = |c: char| c != char::REPLACEMENT_CHARACTER && !('\u{80}'..='\u{9F}').contains(&c);
    match codepage {
        CodePage::Utf8 => std::str::from_utf8(text).is_ok(),
        _ => codepage.decode(text).chars().all(is_letter),
    }
}

/// About how many bytes are read at once.
const WINDOW: usize = 1 << 20;
/// The most bytes of a memo file whose memos are looked at.
const MEMOS_MAX: u64 = 4 << 20;
/// How many bytes beyond ASCII are weighed.
const WEIGHED: usize = 64 << 10;
