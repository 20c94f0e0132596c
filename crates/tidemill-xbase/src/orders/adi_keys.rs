//! The expressions of an ADI: fields by number, parts that `;` puts one behind the other, each with keys of its own kind.
//!
//! Whoever makes an order writes fields by name; the file has them by number, so that names may have blanks. A part that is the name
//! of a field stands for the field as a whole.

use crate::adt::{self, AdtType};
use crate::error::{Error, Result};
use crate::expression::{Environment, Letters, Program, Type};
use crate::field::{Field, FieldKind};
use crate::index::{AdiKey, KeyCodec, KeyEncoding, KeyType};

/// A part of a key.
#[derive(Debug, Clone)]
pub(super) struct Part {
    pub(super) program: Program,
    pub(super) codec: KeyCodec,
    /// What becomes of each byte of a key that is stored in small letters.
    pub(super) small: Option<Box<[u8; 256]>>,
}

/// The number of a field, from 1, by which an index names it.
fn number(field: &Field) -> u64 {
    field.descriptor_at.saturating_sub(adt::HEADER_LEN.into()) / u64::from(adt::DESCRIPTOR_LEN) + 1
}

/// The fields under the names that an index has for them.
pub(crate) fn numbered_fields(fields: &[Field]) -> Vec<Field> {
    let numbered = |field: &Field| {
        let name = format!("F{}", number(field));
        Field {
            short_name: name.clone(),
            name,
            ..field.clone()
        }
    };
    fields.iter().map(numbered).collect()
}

/// An expression with numbers for the names of fields.
pub(crate) fn numbered(text: &str, fields: &[Field]) -> String {
    let parts = parts(text).into_iter().map(|part| {
        let is_whole = |field: &&Field| field.name.eq_ignore_ascii_case(part.trim());
        match fields.iter().find(is_whole) {
            Some(field) => format!("F{}", number(field)),
            None => names_to_numbers(part, fields),
        }
    });
    parts.collect::<Vec<_>>().join(";")
}

/// What stands between the semicolons that are in no text and no parentheses.
pub(super) fn parts(text: &str) -> Vec<&str> {
    let (mut parts, mut begin, mut depth, mut quote) = (Vec::new(), 0, 0_usize, None);
    for (at, byte) in text.bytes().enumerate() {
        match (quote, byte) {
            (Some(open), byte) if byte == open => quote = None,
            (Some(_), _) => {}
            (None, b'\'' | b'"') => quote = Some(byte),
            (None, b'(') => depth += 1,
            (None, b')') => depth = depth.saturating_sub(1),
            (None, b';') if depth == 0 => {
                parts.push(text.get(begin..at).unwrap_or_default());
                begin = at + 1;
            }
            _ => {}
        }
    }
    parts.push(text.get(begin..).unwrap_or_default());
    parts
}

/// As [`numbered`], of one part: names that are no functions and in no text, the longest that stands in a place.
fn names_to_numbers(text: &str, fields: &[Field]) -> String {
    with_other_names(text, |rest, _| {
        let is_at = |field: &&Field| {
            let begin = rest.get(..field.name.len());
            let behind = rest.get(field.name.len()..).and_then(|behind| behind.chars().next());
            begin.is_some_and(|begin| begin.eq_ignore_ascii_case(&field.name)) && !behind.is_some_and(is_of_name)
        };
        let longest = fields.iter().filter(is_at).max_by_key(|field| field.name.len());
        longest.map(|field| (field.name.len(), format!("F{}", number(field))))
    })
}

/// The expression of an order of an ADT as programs write it: with the names of fields for the numbers that the index has.
///
/// ```
/// use tidemill_xbase::{AdtType, FieldSpec};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # use tidemill_xbase::{CivilDate, CreateOptions, Dialect, EditOptions, TableEditor, named_expression};
/// let fields = [FieldSpec::of_adt("Last Name", AdtType::Character, 20, 0), FieldSpec::of_adt("City", AdtType::Character, 20, 0)];
/// # let today = CivilDate { year: 2026, month: 1, day: 1 };
/// # let mut create = CreateOptions::new(today);
/// # create.format = Dialect::Adt;
/// # let table = TableEditor::in_memory("people", &fields, &create, &EditOptions::new(today))?;
/// assert_eq!(named_expression("F2;UPPER(F1)", table.fields()), "City;UPPER(Last Name)");
/// # Ok(())
/// # }
/// ```
pub fn named_expression(text: &str, fields: &[Field]) -> String {
    with_other_names(text, |_, own| {
        let digits = own.strip_prefix(['F', 'f'])?;
        let field = fields.iter().find(|field| digits == number(field).to_string())?;
        Some((own.len(), field.name.clone()))
    })
}

/// The expression of an order of an ADT as its index has it: with numbers for the names of fields. What [`named_expression`] undoes.
pub fn numbered_expression(text: &str, fields: &[Field]) -> String {
    numbered(text, fields)
}

/// An expression of an index with other numbers of fields; those that `other` knows nothing of stay.
pub(crate) fn with_other_numbers(text: &str, mut other: impl FnMut(usize) -> Option<usize>) -> String {
    with_other_names(text, |_, own| {
        let number = own.strip_prefix(['F', 'f'])?.parse().ok()?;
        Some((own.len(), format!("F{}", other(number)?)))
    })
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// An expression with other names. `other` is told of each one that is neither a function nor an operator nor in a text, with all that
/// stands from there on, and says how many bytes of that become what.
fn with_other_names(text: &str, mut other: impl FnMut(&str, &str) -> Option<(usize, String)>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let len = match first {
            '\'' | '"' => rest
                .get(1..)
                .and_then(|rest| rest.find(first))
                .map_or(rest.len(), |end| end + 2),
            first if is_of_name(first) => rest.find(|c| !is_of_name(c)).unwrap_or(rest.len()),
            first => first.len_utf8(),
        };
        let (own, behind) = rest.split_at(len);
        let is_call = behind.trim_start().starts_with('(');
        let is_operator = out.ends_with('.') && behind.starts_with('.');
        let begins_name = (first.is_alphabetic() || first == '_') && !is_call && !is_operator;
        let replaced = if begins_name { other(rest, own) } else { None };
        match replaced {
            Some((len, name)) => {
                out += &name;
                rest = rest.get(len..).unwrap_or_default();
            }
            None => {
                out += own;
                rest = behind;
            }
        }
    }
    out
}

impl Part {
    /// Compiles a part over the [numbered fields](numbered_fields).
    ///
    /// With `keeps`, for the file that has it already, a part of keys that are not known is one.
    ///
    /// # Errors
    /// [`Error::Expression`].
    pub(super) fn compile(text: &str, fields: &[Field], environment: &Environment, keeps: bool) -> Result<Self> {
        let program = Program::compile_key(text, fields, environment)?;
        let used: Vec<&Field> = program.fields().iter().filter_map(|index| fields.get(*index)).collect();
        let memo = used.iter().find(|field| field.kind.uses_memo());
        if let Some(memo) = memo.filter(|_| !keeps) {
            let found = format!("{}, whose values are in the memo file", memo.name);
            return Err(Error::expression(1, "fields of the record", found));
        }
        let bare = match used.as_slice() {
            [field] if text.trim().eq_ignore_ascii_case(&field.name) => Some(*field),
            _ => None,
        };
        let key_type = match program.type_of() {
            Type::Character | Type::Null => KeyType::Character,
            Type::Number => KeyType::Number,
            Type::Logical => KeyType::Logical,
            Type::Date => KeyType::Date,
            Type::Timestamp => KeyType::Timestamp,
        };
        let is_packed = bare.is_some_and(|field| field.kind == FieldKind::Numeric);
        let kind = match bare.map(|field| (field.kind, field.adt_type)) {
            Some((FieldKind::Numeric, _)) if !keeps => {
                let expected = "fields whose keys are known";
                let found = format!("{} of type Numeric", used.first().map_or("", |field| &field.name));
                return Err(Error::expression(1, expected, found));
            }
            Some((_, Some(AdtType::Money))) => AdiKey::Whole { decimals: 4 },
            Some((_, Some(AdtType::LongInteger | AdtType::RowVersion))) => AdiKey::Whole { decimals: 0 },
            Some((_, Some(AdtType::Time))) => AdiKey::Time,
            _ => AdiKey::of_type(key_type),
        };
        let len = kind.len().unwrap_or_else(|| program.key_len());
        let ignores_case = |field: &&Field| field.adt_type == Some(AdtType::CiCharacter);
        let small = used.iter().any(ignores_case) && key_type == KeyType::Character;
        Ok(Self {
            small: small.then(|| Box::new(*Letters::of(environment.codepage).lower())),
            program,
            codec: KeyCodec {
                key_type,
                len,
                encoding: match is_packed || memo.is_some() {
                    true => KeyEncoding::Unknown,
                    false => KeyEncoding::Adi(kind),
                },
                is_nullable: false,
                has_spare: false,
            },
        })
    }

    /// The byte that fills keys of these parts up: a blank where all of them are text.
    pub(super) fn trail(parts: &[Self]) -> u8 {
        let is_text = |part: &Self| part.codec.key_type == KeyType::Character;
        if parts.iter().all(is_text) { b' ' } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(name: &str, number: u64) -> Field {
        let bytes = {
            let mut header = vec![0; 600];
            header[..15].copy_from_slice(b"Advantage Table");
            header[32..36].copy_from_slice(&600_u32.to_le_bytes());
            header[36..40].copy_from_slice(&9_u32.to_le_bytes());
            header[400..400 + name.len()].copy_from_slice(name.as_bytes());
            (header[529], header[531], header[535]) = (11, 5, 4);
            header
        };
        let table = crate::Table::from_bytes(bytes, None, &crate::OpenOptions::new()).unwrap();
        Field {
            descriptor_at: 400 + 200 * (number - 1),
            ..table.fields()[0].clone()
        }
    }

    #[test]
    fn names_become_numbers_and_texts_stay() {
        let fields = [
            field("Last Name", 1),
            field("CITY", 2),
            field("And", 3),
            field("F1", 12),
        ];
        for (text, expected) in [
            ("Last Name", "F1"),
            ("city; last name", "F2;F1"),
            ("UPPER(City);City", "UPPER(F2);F2"),
            ("city + 'city' + \"a;city\"", "F2 + 'city' + \"a;city\""),
            ("City(City)", "City(F2)"),
            ("UPPER(Last name)+City", "UPPER(F1)+F2"),
            ("last names", "last names"),
            ("CITY > 1 .and. And < 2", "F2 > 1 .and. F3 < 2"),
            ("F1", "F12"),
            ("F2", "F2"),
            ("LEFT(City; 2)", "LEFT(F2; 2)"),
            ("'City", "'City"),
            ("", ""),
        ] {
            assert_eq!(numbered(text, &fields), expected, "{text}");
        }
        let renamed = numbered_fields(&fields);
        let names: Vec<&str> = renamed.iter().map(|field| field.name.as_str()).collect();
        assert_eq!(names, ["F1", "F2", "F3", "F12"]);
        for (text, expected) in [
            ("F1", "Last Name"),
            ("UPPER(f2);F12;'F1'", "UPPER(CITY);F1;'F1'"),
            ("F3 <> NULL", "And <> NULL"),
            ("F4", "F4"),
            ("F01", "F01"),
        ] {
            assert_eq!(named_expression(text, &fields), expected, "{text}");
        }
    }
}
