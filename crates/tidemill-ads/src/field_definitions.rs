//! Definitions of fields as programs write them: `NAME,Character,20;AMT,Numeric,8,2;`.
//!
//! Types have the names of ACE, which may be cut as far as they stay different, in any case; the letters of xBase do too. Behind
//! the numbers may stand the options of Visual FoxPro's fields: `NULL`, `NOT NULL`, `NOCPTRANS`. A double has decimals, and a
//! length that is not looked at (SAP's help, "DBF Field Types and Specifications"). Tables of Advantage's own type have its types ("ADT
//! Field Types and Specifications").

use tidemill_xbase::{AdtType, FieldSpec};

use crate::TableType;
use crate::error::{Error, ErrorCode, Result};

/// Names of types with the letter, width and decimals of the field in a DBF; a width of 0 is given with the field.
const TYPES: &[(&str, char, u16, u8)] = &[
    ("CHARACTER", 'C', 0, 0),
    ("LOGICAL", 'L', 1, 0),
    ("NUMERIC", 'N', 0, 0),
    ("DATE", 'D', 8, 0),
    ("MEMO", 'M', 10, 0),
    ("INTEGER", 'I', 4, 0),
    ("DOUBLE", 'B', 8, 0),
    ("BINARY", 'W', 10, 0),
    ("IMAGE", 'P', 10, 0),
    ("TIMESTAMP", 'T', 8, 0),
    ("TIME", 'T', 4, 0),
    ("AUTOINCREMENT", '+', 4, 0),
    ("SHORTINTEGER", 'I', 2, 0),
    ("SHORTDATE", 'D', 3, 0),
    ("LONGLONG", 'I', 8, 0),
    ("MONEY", 'Y', 8, 4),
    ("CURDOUBLE", 'B', 8, 0),
    ("RAW", 'C', 0, 0),
    ("VARCHARFOX", 'V', 0, 0),
    ("VARBINARYFOX", 'Q', 0, 0),
    ("VARCHAR", 'V', 0, 0),
    ("VARBINARY", 'Q', 0, 0),
    ("ROWVERSION", '^', 8, 0),
    ("MODTIME", '=', 8, 0),
];

/// Types whose values are no text of a code page.
const BINARY: &[&str] = &["RAW", "BINARY", "IMAGE", "VARBINARY", "VARBINARYFOX"];

/// The numbers of `ace.h` for types of a DBF.
const NUMBERS: &[(u16, &str)] = &[
    (1, "LOGICAL"),
    (2, "NUMERIC"),
    (3, "DATE"),
    (4, "CHARACTER"),
    (5, "MEMO"),
    (6, "BINARY"),
    (7, "IMAGE"),
    (8, "VARCHAR"),
    (9, "SHORTDATE"),
    (10, "DOUBLE"),
    (11, "INTEGER"),
    (12, "SHORTINTEGER"),
    (13, "TIME"),
    (14, "TIMESTAMP"),
    (15, "AUTOINCREMENT"),
    (16, "RAW"),
    (17, "CURDOUBLE"),
    (18, "MONEY"),
    (19, "LONGLONG"),
    (21, "ROWVERSION"),
    (22, "MODTIME"),
    (23, "VARCHARFOX"),
    (24, "VARBINARYFOX"),
];

/// The types of an ADT, of which a beginning means the first.
const TYPES_OF_ADT: &[(&str, AdtType)] = &[
    ("CHARACTER", AdtType::Character),
    ("LOGICAL", AdtType::Logical),
    ("NUMERIC", AdtType::Numeric),
    ("DATE", AdtType::Date),
    ("MEMO", AdtType::Memo),
    ("INTEGER", AdtType::Integer),
    ("DOUBLE", AdtType::Double),
    ("BINARY", AdtType::Binary),
    ("BLOB", AdtType::Binary),
    ("IMAGE", AdtType::Image),
    ("TIME", AdtType::Time),
    ("TIMESTAMP", AdtType::Timestamp),
    ("AUTOINCREMENT", AdtType::AutoIncrement),
    ("SHORTINTEGER", AdtType::ShortInteger),
    ("LONGINTEGER", AdtType::LongInteger),
    ("LONGLONG", AdtType::LongInteger),
    ("MONEY", AdtType::Money),
    ("CURDOUBLE", AdtType::CurDouble),
    ("RAW", AdtType::Raw),
    ("GUID", AdtType::Raw),
    ("CICHARACTER", AdtType::CiCharacter),
    ("ROWVERSION", AdtType::RowVersion),
    ("MODTIME", AdtType::ModTime),
    ("VARCHAR", AdtType::VarChar),
    ("VARCHARFOX", AdtType::VarCharFox),
    ("VARBINARY", AdtType::VarBinaryFox),
    ("VARBINARYFOX", AdtType::VarBinaryFox),
    ("NCHAR", AdtType::NChar),
    ("NVARCHAR", AdtType::NVarChar),
    ("NMEMO", AdtType::NMemo),
];

/// Reads definitions of fields.
///
/// # Errors
/// [`ErrorCode::InvalidFieldDefinition`] with the definition that is wrong.
pub(crate) fn fields(definitions: &str, table_type: TableType) -> Result<Vec<FieldSpec>> {
    let field = match table_type {
        TableType::Adt => field_of_adt,
        TableType::Ntx | TableType::Cdx | TableType::Vfp => field,
    };
    let definitions = definitions
        .split(';')
        .map(str::trim)
        .filter(|definition| !definition.is_empty());
    definitions.map(field).collect()
}

/// A definition without the place that it asks for in a table that is altered, counted from 1: `DEPT,Char,20,(3)` (SAP's help,
/// `AdsRestructureTable`).
pub(crate) fn placed(definition: &str) -> (&str, Option<usize>) {
    let place = |last: &str| {
        last.trim()
            .strip_prefix('(')?
            .strip_suffix(')')?
            .trim()
            .parse::<usize>()
            .ok()
    };
    let split = definition.rsplit_once(',');
    match split.and_then(|(before, last)| Some((before, place(last)?))) {
        Some((before, place)) => (before, Some(place)),
        None => (definition, None),
    }
}

fn field(definition: &str) -> Result<FieldSpec> {
    let bad = |why: &str| Error::new(ErrorCode::InvalidFieldDefinition, format!("{definition:?}: {why}"));
    let mut parts = definition.split(',').map(str::trim);
    let name = parts
        .next()
        .filter(|name| !name.is_empty())
        .ok_or_else(|| bad("a field has a name"))?;
    let type_name = parts
        .next()
        .ok_or_else(|| bad("a field has a type"))?
        .to_ascii_uppercase();
    let (type_name, flags) = type_name.split_once(':').unwrap_or((&type_name, ""));
    let (known, letter, width, decimals) = type_of(type_name).ok_or_else(|| bad("there is no such type"))?;
    let (mut numbers, mut is_null, mut is_binary) = (Vec::new(), flags.contains('N'), flags.contains('B'));
    for part in parts {
        match part.to_ascii_uppercase().as_str() {
            "NULL" => is_null = true,
            "NOT NULL" => is_null = false,
            "NOCPTRANS" => is_binary = true,
            "" => numbers.push(0),
            text => numbers.push(text.parse::<u16>().map_err(|_| bad("width and decimals are numbers"))?),
        }
    }
    let (given, given_decimals) = match (letter, &numbers[..]) {
        (_, []) => (0, 0),
        ('B', [decimals]) => (0, *decimals),
        (_, [width]) => (*width, 0),
        (_, [width, decimals, ..]) => (*width, *decimals),
    };
    let width = match (width, given) {
        (0, 0) => return Err(bad("this type needs a width")),
        (0, given) => given,
        (10, 4) => 4,
        (width, _) => width,
    };
    let decimals = match letter {
        'N' | 'B' => u8::try_from(given_decimals).map_err(|_| bad("there are too many decimals"))?,
        _ => decimals,
    };
    let is_binary = is_binary || BINARY.contains(&known);
    Ok(FieldSpec::new(name, letter, width, decimals)
        .nullable(is_null)
        .autoincrement(letter == '+')
        .binary(is_binary))
}

/// As [`field`], of an ADT: every field can be NULL there.
fn field_of_adt(definition: &str) -> Result<FieldSpec> {
    let bad = |why: &str| Error::new(ErrorCode::InvalidFieldDefinition, format!("{definition:?}: {why}"));
    let parts: Vec<&str> = definition.split(',').map(str::trim).collect();
    let (name, type_name, rest) = match parts.as_slice() {
        [name, type_name, rest @ ..] if !name.is_empty() => (*name, type_name.to_ascii_uppercase(), rest),
        _ => return Err(bad("a field has a name and a type")),
    };
    let adt_type = type_of_adt(&type_name).ok_or_else(|| bad("there is no such type"))?;
    let mut numbers = Vec::new();
    for part in rest {
        match part.to_ascii_uppercase().as_str() {
            "NULL" => {}
            "" => numbers.push(0),
            "NOT NULL" => return Err(bad("every field of an ADT can be NULL")),
            "COMPRESSED" => return Err(bad("compressed memos are not written; leave COMPRESSED out")),
            text => numbers.push(text.parse::<u32>().map_err(|_| bad("width and decimals are numbers"))?),
        }
    }
    let (width, decimals) = match (adt_type, numbers.as_slice()) {
        // It is the first value: see below.
        (AdtType::AutoIncrement, _) => (0, 0),
        (AdtType::Raw, []) if type_name == "GUID" => (GUID, 0),
        (_, []) => (0, 0),
        (AdtType::Double | AdtType::CurDouble, [decimals]) => (0, *decimals),
        (AdtType::NChar, [letters, ..]) => (letters.saturating_mul(2), 0),
        (_, [width]) => (*width, 0),
        (_, [width, decimals, ..]) => (*width, *decimals),
    };
    if adt_type.fixed_width().is_none() && width == 0 {
        return Err(bad("this type needs a width"));
    }
    let width = u16::try_from(width).map_err(|_| bad("it is longer than a record can be"))?;
    let decimals = match adt_type {
        AdtType::Numeric | AdtType::Double | AdtType::CurDouble => {
            u8::try_from(decimals).map_err(|_| bad("there are too many decimals"))?
        }
        _ => 0,
    };
    Ok(FieldSpec::of_adt(name, adt_type, width, decimals))
}

/// A field of a DBF by the number of its type (`ADS_LOGICAL` and its like), its width in bytes and its decimals; `None` for a number that
/// no field of a DBF has.
pub(crate) fn field_of_number(name: &str, number: u16, (width, decimals): (u16, u8)) -> Option<FieldSpec> {
    let (_, known) = NUMBERS.iter().find(|(known, _)| *known == number)?;
    let (_, letter, ..) = type_of(known)?;
    Some(
        FieldSpec::new(name, letter, width, decimals)
            .autoincrement(letter == '+')
            .binary(BINARY.contains(known)),
    )
}

/// The value that the first record of an ADT gets in its autoincrement field, as its definition says: `ID,AutoIncrement,67` (SAP's help,
/// `AdsCreateTable`).
pub(crate) fn first_autoincrement(definitions: &str) -> Option<u32> {
    definitions.split(';').find_map(|definition| {
        let mut parts = definition.split(',').map(str::trim).skip(1);
        let adt_type = type_of_adt(&parts.next()?.to_ascii_uppercase())?;
        let first = parts.next().filter(|_| adt_type == AdtType::AutoIncrement)?;
        first.parse().ok().filter(|first| *first > 0)
    })
}

/// The bytes of a GUID.
const GUID: u32 = 16;

/// The type of an ADT by its name or the beginning of it, in capitals, or a letter of xBase.
pub(crate) fn type_of_adt(name: &str) -> Option<AdtType> {
    let exact = TYPES_OF_ADT.iter().find(|(known, _)| *known == name);
    let by_letter = || match name {
        "C" | "L" | "N" | "D" | "M" | "I" | "B" => TYPES_OF_ADT.iter().find(|(known, _)| known.starts_with(name)),
        _ => None,
    };
    let by_beginning = || {
        let mut known = TYPES_OF_ADT.iter();
        known.find(|(known, _)| name.len() > 1 && known.starts_with(name))
    };
    let found = exact.or_else(by_letter).or_else(by_beginning)?;
    Some(found.1)
}

/// The type of a name that is one of them, a letter, or the beginning of a name, of which the first in the list is meant.
fn type_of(name: &str) -> Option<(&'static str, char, u16, u8)> {
    let exact = TYPES.iter().find(|(known, ..)| *known == name);
    let by_letter = || {
        TYPES
            .iter()
            .find(|(_, letter, ..)| name.len() == 1 && name.starts_with(*letter))
    };
    let by_beginning = || {
        TYPES
            .iter()
            .find(|(known, ..)| name.len() > 1 && known.starts_with(name))
    };
    exact.or_else(by_letter).or_else(by_beginning).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_stand_behind_the_numbers() {
        let specs = fields(
            "c,char,10,null,nocptrans; i,integer,NULL;n,Numeric,8,2,NOT NULL;d,double,2;e,double,10,2,null;v,V:N,5",
            TableType::Vfp,
        );
        let shown: Vec<_> = specs
            .unwrap()
            .iter()
            .map(|spec| (spec.letter, spec.width, spec.decimals, spec.nullable, spec.binary))
            .collect();
        let expected = [
            ('C', 10, 0, true, true),
            ('I', 4, 0, true, false),
            ('N', 8, 2, false, false),
            ('B', 8, 2, false, false),
            ('B', 8, 2, true, false),
            ('V', 5, 0, true, false),
        ];
        assert_eq!(shown, expected);
        assert!(fields("c,char,10,nul", TableType::Vfp).is_err());
    }

    #[test]
    fn definitions_become_fields() {
        let specs = fields(
            "NAME,Character,20;AMT,Numeric,8,2; DAY,Date;OK,Logical;NOTE,Memo;N,Int;ID,Autoinc,4;x,C,3;",
            TableType::Cdx,
        )
        .unwrap();
        let shown: Vec<_> = specs
            .iter()
            .map(|spec| (spec.name.as_str(), spec.letter, spec.width, spec.decimals))
            .collect();
        let expected = [
            ("NAME", 'C', 20, 0),
            ("AMT", 'N', 8, 2),
            ("DAY", 'D', 8, 0),
            ("OK", 'L', 1, 0),
            ("NOTE", 'M', 10, 0),
            ("N", 'I', 4, 0),
            ("ID", '+', 4, 0),
            ("x", 'C', 3, 0),
        ];
        assert_eq!(shown, expected);
        for bad in [
            "NAME",
            "NAME,Nothing,3",
            "NAME,Character",
            ",Character,3",
            "A,Numeric,x",
            "A,Numeric,8,900",
        ] {
            assert_eq!(
                fields(bad, TableType::Cdx).unwrap_err().code(),
                ErrorCode::InvalidFieldDefinition,
                "{bad}"
            );
        }
    }

    #[test]
    fn definitions_become_fields_of_an_adt() {
        let text = "Last Name,char,20;a,cichar,8;n,num,12,2;d,date;ts,timest;t,time;i,int;s,short;l,longint;b,double,10,3;\
                    c,curd,2;m,money;r,raw,6;g,guid;w,nchar,10;wm,nmemo;x,memo;y,blob;z,image;id,autoinc;v,rowv;u,modt;o,L";
        let shown: Vec<_> = fields(text, TableType::Adt)
            .unwrap()
            .iter()
            .map(|spec| {
                let field = spec.in_adt.unwrap();
                format!("{} {} {} {}", spec.name, field.adt_type, field.width, field.decimals)
            })
            .collect();
        let expected = [
            "Last Name Character 20 0",
            "a CICharacter 8 0",
            "n Numeric 12 2",
            "d Date 4 0",
            "ts TimeStamp 8 0",
            "t Time 4 0",
            "i Integer 4 0",
            "s ShortInt 2 0",
            "l LongInt 8 0",
            "b Double 8 3",
            "c CurDouble 8 2",
            "m Money 8 0",
            "r Raw 6 0",
            "g Raw 16 0",
            "w NChar 20 0",
            "wm NMemo 9 0",
            "x Memo 9 0",
            "y Binary 9 0",
            "z Image 9 0",
            "id AutoIncrement 4 0",
            "v RowVersion 8 0",
            "u ModTime 8 0",
            "o Logical 1 0",
        ];
        assert_eq!(shown, expected);
        for bad in [
            "NAME",
            "a,char",
            "a,general,3",
            "a,memo,compressed",
            "a,char,99999",
            "a,int,not null",
        ] {
            let code = fields(bad, TableType::Adt).unwrap_err().code();
            assert_eq!(code, ErrorCode::InvalidFieldDefinition, "{bad}");
        }
    }
}
