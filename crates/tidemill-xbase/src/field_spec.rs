//! The structure of a table to be written, and how it follows from an Arrow schema.

use std::collections::HashSet;
use std::sync::Arc;

use arrow_schema::{DataType, Field as ArrowField, Schema};

use crate::adt::AdtType;
use crate::codepage::CodePage;
use crate::error::{Error, Result};

/// One field of a table to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FieldSpec {
    /// The name: 1 to 10 bytes in the table's code page, or 128 in tables with
    /// [long names](crate::CreateOptions::long_names) and in an ADT.
    pub name: String,
    /// The type letter: C N F L D M I B Y T @ = V Q G P or W.
    pub letter: char,
    /// The width in bytes. Ignored where the letter decides it (D, L, Y, B, and memos, which take 4 or 10).
    pub width: u16,
    /// The digits after the decimal point, for N, F and I.
    pub decimals: u8,
    /// Whether a NULL bit is kept, in Visual FoxPro tables. Elsewhere null is written as a blank, where there is one.
    pub nullable: bool,
    /// Whether text is exempt from code page translation, in Visual FoxPro tables.
    pub binary: bool,
    /// Whether records that are appended get 1, 2 and so on in the field, which is of type I or +.
    pub autoincrement: bool,
    /// What the field is in an ADT; `None` for what holds the same as the letter's type does.
    pub in_adt: Option<InAdt>,
    /// Whether the values are text although the field is exempt from code page translation.
    pub(crate) is_text: bool,
}

/// A field of an ADT.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct InAdt {
    /// The type.
    pub adt_type: AdtType,
    /// The width in bytes. Ignored where the type decides it.
    pub width: u16,
    /// The digits after the decimal point, for Numeric, Double and CurDouble.
    pub decimals: u8,
}

impl FieldSpec {
    /// A field as Clipper's `DBCREATE()` takes it: name, type, width, decimals.
    pub fn new(name: impl Into<String>, letter: char, width: u16, decimals: u8) -> Self {
        Self {
            name: name.into(),
            letter,
            width,
            decimals,
            nullable: false,
            binary: false,
            autoincrement: false,
            in_adt: None,
            is_text: false,
        }
    }

    /// A field of an ADT. The width is that in bytes, where the type leaves it open.
    pub fn of_adt(name: impl Into<String>, adt_type: AdtType, width: u16, decimals: u8) -> Self {
        let width = adt_type.fixed_width().unwrap_or(width);
        Self {
            in_adt: Some(InAdt {
                adt_type,
                width,
                decimals,
            }),
            ..Self::new(name, adt_type.letter(), width, decimals)
        }
    }

    /// Whether the field keeps a NULL bit. Default: false.
    #[must_use]
    pub fn nullable(mut self, nullable: bool) -> Self {
        self.nullable = nullable;
        self
    }

    /// Whether the field's bytes are exempt from code page translation. Default: false.
    #[must_use]
    pub fn binary(mut self, binary: bool) -> Self {
        self.binary = binary;
        self
    }

    /// Whether the table counts the field's values on. Default: false.
    #[must_use]
    pub fn autoincrement(mut self, autoincrement: bool) -> Self {
        self.autoincrement = autoincrement;
        self
    }

    /// The field that holds every value of an Arrow column.
    ///
    /// A column that was read from an xBase table gets the type, width and decimals that its metadata remembers. Others:
    /// booleans L; integers N as wide as their type; Float B; Decimal N; dates D; timestamps T of 8 bytes
    /// (milliseconds); times T of 4; text M, since its length is not known; bytes W. The name is the column's by [`short_names`].
    ///
    /// # Errors
    /// [`Error::Misuse`] for types that xBase has nothing for: lists, structs, maps, intervals, decimals of more than
    /// 38 digits.
    pub fn from_arrow(field: &ArrowField) -> Result<Self> {
        let (letter, width, decimals) = match remembered(field) {
            Some(shape) => shape,
            None => shape(field.data_type()).ok_or_else(|| {
                let (name, data_type) = (field.name(), field.data_type());
                Error::Misuse(format!(
                    "column {name}: an xBase table has no type for {data_type}; cast it or leave it out"
                ))
            })?,
        };
        let name = short_names([field.name().as_str()], CodePage::Cp1252).concat();
        let mut spec = Self::new(name, letter, width, decimals).nullable(field.is_nullable());
        let is_untranslated = field.metadata().contains_key("xbase.nocptrans");
        spec.is_text = is_untranslated && !is_binary(field.data_type());
        spec.binary = match letter {
            'C' | 'M' => is_untranslated || is_binary(field.data_type()),
            'V' => is_untranslated,
            _ => false,
        };
        spec.in_adt = remembered_adt(field);
        Ok(spec)
    }

    /// Why a table cannot have this field.
    pub(crate) fn refused(&self, why: &str) -> Error {
        Error::Misuse(format!("column {}: {why}", self.name))
    }

    /// Why a table cannot have this text, of which it has so many bytes.
    pub(crate) fn text_refused(&self, has: &str) -> Error {
        let width = self.width;
        self.refused(&format!(
            "text of {width} bytes, and such a field of a Visual FoxPro table has {has}; make it a memo (M), or cut it"
        ))
    }

    /// Why a table cannot have this number: whose numbers have so many characters.
    pub(crate) fn number_refused(&self, whose: &str) -> Error {
        let own = self.in_adt.map(|own| (own.width, own.decimals));
        let (width, decimals) = own.unwrap_or((self.width, self.decimals));
        let digits = width.saturating_sub(1 + u16::from(decimals > 0));
        self.refused(&format!(
            "a number of {digits} digits, {decimals} of them decimals, needs {width} characters, and {whose}; cast it to text or to fewer digits"
        ))
    }

    /// [`FieldSpec::from_arrow`] for every column, under the names of [`short_names`] in a code page of single bytes.
    ///
    /// # Errors
    /// As [`FieldSpec::from_arrow`].
    pub fn from_schema(schema: &Schema) -> Result<Vec<Self>> {
        let names = schema.fields().iter().map(|field| field.name().as_str());
        Self::named(schema, short_names(names, CodePage::Cp1252))
    }

    /// [`FieldSpec::from_arrow`] for every column, under its whole name: for tables with
    /// [long names](crate::CreateOptions::long_names). A name that differs from an earlier one by case alone is followed by `_2`,
    /// `_3`, …, for fields are found in any case.
    ///
    /// # Errors
    /// As [`FieldSpec::from_arrow`].
    pub fn from_schema_with_long_names(schema: &Schema) -> Result<Vec<Self>> {
        let mut taken = HashSet::new();
        let numbered = |(place, field): (usize, &Arc<ArrowField>)| {
            let given = match field.name().as_str() {
                "" => format!("field{}", place + 1),
                name => name.to_owned(),
            };
            let others = (2..).map(|number: usize| format!("{given}_{number}"));
            let mut names = std::iter::once(given.clone()).chain(others);
            names.find(|name| taken.insert(name.to_lowercase())).unwrap_or_default()
        };
        let names = schema.fields().iter().enumerate().map(numbered).collect();
        Self::named(schema, names)
    }

    fn named(schema: &Schema, names: Vec<String>) -> Result<Vec<Self>> {
        let named = |(field, name): (&Arc<ArrowField>, String)| {
            Ok(Self {
                name,
                ..Self::from_arrow(field)?
            })
        };
        schema.fields().iter().zip(names).map(named).collect()
    }
}

/// The names that a table's header has for fields of these names, which are of any length: the first 10 bytes in the code page, in
/// upper case. Where an earlier field has that name, its last bytes give way to a number, 2 and so on, as in Visual FoxPro:
/// `contact_type_id` and `contact_type` are `CONTACT_TY` and `CONTACT_T2`. An empty name becomes `FIELD1`, `FIELD2`, … by its place.
///
/// ```
/// use tidemill_xbase::{CodePage, short_names};
///
/// let short = short_names(["contact_type_id", "contact_type", "id"], CodePage::Cp1252);
/// assert_eq!(short, ["CONTACT_TY", "CONTACT_T2", "ID"]);
/// ```
pub fn short_names<'a>(names: impl IntoIterator<Item = &'a str>, codepage: CodePage) -> Vec<String> {
    let mut taken = HashSet::new();
    let shortened = |(place, name): (usize, &str)| {
        let whole = match name {
            "" => format!("FIELD{}", place + 1),
            name => name.chars().flat_map(char::to_uppercase).collect(),
        };
        let numbered = (2..).map(|number: usize| {
            let number = number.to_string();
            let kept = cut(&whole, 10usize.saturating_sub(number.len()), codepage);
            format!("{kept}{number}")
        });
        let mut names = std::iter::once(cut(&whole, 10, codepage).to_owned()).chain(numbered);
        names.find(|name| taken.insert(name.clone())).unwrap_or_default()
    };
    names.into_iter().enumerate().map(shortened).collect()
}

/// Whether every program reads this name in the header of a table: a letter, then letters, digits and underscores of ASCII, 10 at most.
///
/// ```
/// use tidemill_xbase::fits_header;
///
/// assert!(fits_header("order_no") && !fits_header("1st") && !fits_header("größe") && !fits_header("customer_name"));
/// ```
pub fn fits_header(name: &str) -> bool {
    let is_plain = |letter: u8| letter.is_ascii_alphanumeric() || letter == b'_';
    let begins = |first: char| first.is_ascii_alphabetic();
    (1..=10).contains(&name.len()) && name.bytes().all(is_plain) && name.starts_with(begins)
}

/// As many characters as have room in so many bytes of the code page. One that the page lacks counts as a byte.
fn cut(name: &str, most: usize, codepage: CodePage) -> &str {
    let (mut bytes, mut end) = (0, 0);
    for (at, c) in name.char_indices() {
        let mut encoded = Vec::new();
        let known = codepage.encode(c.encode_utf8(&mut [0; 4]), &mut encoded).is_ok();
        bytes += if known { encoded.len() } else { 1 };
        if bytes > most {
            break;
        }
        end = at + c.len_utf8();
    }
    // Blanks at the end are what fills a name up.
    name.get(..end).unwrap_or_default().trim_end()
}

fn is_binary(data_type: &DataType) -> bool {
    matches!(
        data_type,
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_)
    )
}

/// Type, width and decimals that reading an xBase table left in the metadata, when they still suit the column.
fn remembered(field: &ArrowField) -> Option<(char, u16, u8)> {
    let get = |key: &str| field.metadata().get(key);
    let letter = get("xbase.type")?.chars().next()?;
    let width = get("xbase.width")?.parse().ok()?;
    let decimals = get("xbase.decimals")?.parse().ok()?;
    let suits = match (letter, field.data_type()) {
        ('C' | 'V', DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View) => width > 0,
        ('C' | 'Q', data_type) => width > 0 && is_binary(data_type),
        ('V', data_type) if get("xbase.nocptrans").is_some() => width > 0 && is_binary(data_type),
        ('N', DataType::Int64) => decimals == 0 && (1..=18).contains(&width),
        ('N' | 'F', DataType::Decimal128(_, scale)) => {
            i8::try_from(decimals).ok() == Some(*scale) && width > u16::from(decimals)
        }
        // A double that was read from text.
        ('N' | 'F', DataType::Float64) if width > u16::from(decimals) => return Some(('F', width, decimals)),
        ('V', DataType::Int32) => return Some(('I', 4, 0)),
        ('+' | '^', DataType::Int32 | DataType::Int64) => matches!(width, 4 | 8),
        ('I', DataType::Int8 | DataType::Int16 | DataType::UInt8 | DataType::UInt16) => width == 4,
        ('I', DataType::Int32 | DataType::Int64 | DataType::Decimal128(..)) => matches!(width, 1..=4 | 8),
        ('M', data_type) => {
            is_binary(data_type) || matches!(data_type, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
        }
        ('G' | 'P' | 'W', data_type) => is_binary(data_type),
        ('Y', DataType::Decimal128(19, 4)) => true,
        _ => false,
    };
    suits.then_some((letter, width, decimals))
}

/// The type that reading an ADT left in the metadata, when it still suits the column.
fn remembered_adt(field: &ArrowField) -> Option<InAdt> {
    let get = |key: &str| field.metadata().get(key);
    let in_adt = InAdt {
        adt_type: AdtType::from_name(get("xbase.adt")?)?,
        width: get("xbase.width")?.parse().ok()?,
        decimals: get("xbase.decimals")?.parse().ok()?,
    };
    let own = in_adt.adt_type.kind().data_type(in_adt.width.into(), in_adt.decimals);
    (own == *field.data_type()).then_some(in_adt)
}

fn shape(data_type: &DataType) -> Option<(char, u16, u8)> {
    Some(match data_type {
        DataType::Null => ('C', 1, 0),
        DataType::Boolean => ('L', 1, 0),
        DataType::Int8 => ('N', 4, 0),
        DataType::Int16 => ('N', 6, 0),
        DataType::Int32 => ('N', 11, 0),
        DataType::Int64 | DataType::UInt64 => ('N', 20, 0),
        DataType::UInt8 => ('N', 3, 0),
        DataType::UInt16 => ('N', 5, 0),
        DataType::UInt32 => ('N', 10, 0),
        DataType::Float16 | DataType::Float32 | DataType::Float64 => ('B', 8, 0),
        DataType::Decimal32(p, s) | DataType::Decimal64(p, s) | DataType::Decimal128(p, s) => match u8::try_from(*s) {
            // A sign, a zero before the point and the point come on top of the digits.
            Ok(0) => ('N', u16::from(*p) + 1, 0),
            Ok(s) => ('N', u16::from((*p).max(s.saturating_add(1))) + 2, s),
            Err(_) => ('N', u16::from(*p) + u16::from(s.unsigned_abs()) + 1, 0),
        },
        DataType::Date32 | DataType::Date64 => ('D', 8, 0),
        DataType::Timestamp(..) => ('T', 8, 0),
        DataType::Time32(_) | DataType::Time64(_) => ('T', 4, 0),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => ('M', 10, 0),
        data_type if is_binary(data_type) => ('W', 10, 0),
        DataType::Dictionary(_, values) => return shape(values),
        DataType::RunEndEncoded(_, values) => return shape(values.data_type()),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrow_types_become_fields_that_hold_them() {
        for (data_type, expected) in [
            (DataType::Int64, ('N', 20, 0)),
            (DataType::Decimal128(10, 2), ('N', 12, 2)),
            (DataType::Decimal128(2, 2), ('N', 5, 2)),
            (DataType::Decimal128(5, -2), ('N', 8, 0)),
            (DataType::Utf8View, ('M', 10, 0)),
            (
                DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8)),
                ('M', 10, 0),
            ),
            (DataType::Boolean, ('L', 1, 0)),
        ] {
            let spec = FieldSpec::from_arrow(&ArrowField::new("a", data_type.clone(), true)).unwrap();
            assert_eq!((spec.letter, spec.width, spec.decimals), expected, "{data_type}");
        }
        let list = ArrowField::new_list("l", ArrowField::new("item", DataType::Int8, true), true);
        assert!(
            FieldSpec::from_arrow(&list)
                .unwrap_err()
                .to_string()
                .contains("column l")
        );
    }

    #[test]
    fn long_names_are_cut_and_told_apart() {
        let names = [
            "customer_name",
            "customer_number",
            "Customer_N",
            "größe",
            "ID",
            "id",
            "",
        ];
        let schema = Schema::new(names.map(|n| ArrowField::new(n, DataType::Boolean, true)).to_vec());
        let names = |specs: Vec<FieldSpec>| specs.into_iter().map(|spec| spec.name).collect::<Vec<_>>();
        assert_eq!(
            names(FieldSpec::from_schema(&schema).unwrap()),
            [
                "CUSTOMER_N",
                "CUSTOMER_2",
                "CUSTOMER_3",
                "GRÖSSE",
                "ID",
                "ID2",
                "FIELD7"
            ]
        );
        assert_eq!(
            names(FieldSpec::from_schema_with_long_names(&schema).unwrap()),
            [
                "customer_name",
                "customer_number",
                "Customer_N",
                "größe",
                "ID",
                "id_2",
                "field7"
            ]
        );
        let many = short_names(["bestellungsnummer"; 101], CodePage::Cp850);
        assert_eq!((many[8].as_str(), many[100].as_str()), ("BESTELLUN9", "BESTELL101"));
    }

    #[test]
    fn names_are_cut_by_their_bytes_in_the_code_page() {
        for (codepage, expected) in [
            (CodePage::Cp866, "НАИМЕНОВАН"),
            (CodePage::Utf8, "НАИМЕ"),
            // Letters that the page lacks are kept, so that whoever writes the name can tell which one it is.
            (CodePage::Cp437, "НАИМЕНОВАН"),
        ] {
            assert_eq!(short_names(["Наименование"], codepage), [expected], "{codepage}");
        }
    }
}
