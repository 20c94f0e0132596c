//! Values whose text was read, for a column whose type is known now: what an `INSERT` has in its text.
//!
//! They are as strict as values of Rust ([`push`](super::push)): a number out of its range, a fraction that is too long, a day that
//! there is not are refused, and a field of CSV without anything in it is no zero.

use arrow_array::timezone::Tz;
use chrono::{DateTime, TimeZone};

use super::{
    Failure,
    builder::{Builder, Data},
    push::Done,
    text,
};
use crate::{
    DataType,
    arrow_type::arrow_zone,
    insert_text::{Literal, is_number, parse_whole},
};

impl Builder {
    /// Adds a value. `zone` is that of instants without one of their own.
    pub(super) fn push_literal(&mut self, literal: &Literal, zone: &str) -> Done {
        match literal {
            Literal::Null => self.push_null(),
            Literal::Empty => match (&self.data, self.validity.is_some()) {
                (_, true) => self.push_null(),
                (Data::Bytes { .. }, _) if *self.plain_type() == DataType::String => self.push_bytes(b""),
                (Data::Fixed(..), _) if matches!(self.plain_type(), DataType::FixedString(_)) => self.push_bytes(b""),
                _ => Err(self.unfit("an empty field")),
            },
            Literal::Bool(value) => match &self.data {
                Data::Bytes { .. } => self.push_text(if *value { "true" } else { "false" }),
                Data::Bool(_) | Data::UInt8(_) | Data::Union { .. } => self.push_bool(*value),
                _ => self.push_number(if *value { "1" } else { "0" }),
            },
            Literal::Number(text) => self.push_number(text),
            Literal::Text(bytes) => self.push_field(bytes, zone),
            Literal::List(items) | Literal::Tuple(items) => self.push_items(literal, items, zone),
            Literal::Map(pairs) => self.push_pairs(literal, pairs, zone),
            Literal::Expression(_) => Err(self.unfit("an expression")),
        }
    }

    /// A number as it was written.
    fn push_number(&mut self, number: &str) -> Done {
        let unfit = |builder: &Self| builder.unfit(format_args!("the number {number}"));
        let plain = self.plain_type().clone();
        match &mut self.data {
            Data::Bytes { .. } => self.push_text(number),
            Data::Float32(values) => match number.parse() {
                Ok(value) => {
                    values.push(value);
                    self.valid()
                }
                Err(_) => Err(unfit(self)),
            },
            Data::Float64(values) => match number.parse() {
                Ok(value) => {
                    values.push(value);
                    self.valid()
                }
                Err(_) => Err(unfit(self)),
            },
            Data::Decimal(_) | Data::Int128(_) => self.push_text(&without_exponent(number).ok_or_else(|| unfit(self))?),
            Data::Fixed(..) if matches!(plain, DataType::Int256 | DataType::UInt256) => {
                self.push_text(number.strip_prefix('+').unwrap_or(number))
            }
            Data::Ticks(_) if number.contains('.') => {
                let digits = match plain {
                    DataType::DateTime64(digits, _) | DataType::Time64(digits) => digits,
                    _ => 0,
                };
                let ticks = text::parse_decimal(number, digits).and_then(|ticks| ticks.to_i128());
                let ticks = ticks.and_then(|ticks| i64::try_from(ticks).ok());
                self.push_ticks(ticks.ok_or_else(|| unfit(self))?)
            }
            Data::Union { .. } => match integer(number) {
                Some(value) if value >= 0 => self.push_integer(value, DataType::UInt64),
                Some(value) => self.push_integer(value, DataType::Int64),
                None => match number.parse() {
                    Ok(value) => self.push_float(value, DataType::Float64),
                    Err(_) => Err(unfit(self)),
                },
            },
            // A number of an address is none that a person writes.
            Data::UInt32(_) if plain == DataType::Ipv4 => Err(unfit(self)),
            _ => match integer(number) {
                Some(value) => self.push_integer(value, plain),
                None => Err(unfit(self)),
            },
        }
    }

    /// A text in quotes, or a field of a line.
    fn push_field(&mut self, bytes: &[u8], zone: &str) -> Done {
        if let Data::Bytes { .. } = self.data {
            return self.push_bytes(bytes);
        }
        let plain = self.plain_type().clone();
        if matches!(
            plain,
            DataType::FixedString(_) | DataType::Variant(_) | DataType::Dynamic { .. }
        ) {
            return self.push_bytes(bytes);
        }
        let unfit = |builder: &Self| builder.unfit(format_args!("{:?}", String::from_utf8_lossy(bytes)));
        let Ok(field) = std::str::from_utf8(bytes).map(str::trim) else {
            return Err(unfit(self));
        };
        match &self.data {
            Data::Ticks(_) => {
                let ticks = match &plain {
                    DataType::DateTime(own) => instant(field, 0, own.as_deref().unwrap_or(zone)),
                    DataType::DateTime64(digits, own) => instant(field, *digits, own.as_deref().unwrap_or(zone)),
                    _ => return self.push_text(field),
                };
                match ticks {
                    Some(ticks) => self.push_ticks(ticks),
                    None if is_number(field) => self.push_number(field),
                    None => Err(unfit(self)),
                }
            }
            Data::Bool(_) => match field.to_ascii_lowercase().as_str() {
                "true" | "1" => self.push_bool(true),
                "false" | "0" => self.push_bool(false),
                _ => Err(unfit(self)),
            },
            // A name may look like a number.
            Data::Enum(_) => self.push_text(field),
            Data::Days(_) => self.push_text(field),
            Data::UInt32(_) if plain == DataType::Ipv4 => self.push_text(field),
            Data::Fixed(..) => self.push_text(field),
            Data::List { .. } | Data::FixedList { .. } | Data::Map { .. } | Data::Tuple { .. } => {
                match parse_whole(field) {
                    Some(literal @ (Literal::List(_) | Literal::Tuple(_) | Literal::Map(_))) => {
                        self.push_literal(&literal, zone)
                    }
                    _ => Err(unfit(self)),
                }
            }
            _ if is_number(field) => self.push_number(field),
            _ => Err(unfit(self)),
        }
    }

    fn push_items(&mut self, literal: &Literal, items: &[Literal], zone: &str) -> Done {
        let refused = self.unfit(format_args!("a list of {} values", items.len()));
        if let DataType::Json(_) = self.plain_type() {
            return self.push_json(literal);
        }
        match &mut self.data {
            Data::List { ends, items: values } => {
                items.iter().try_for_each(|item| values.push_literal(item, zone))?;
                ends.push(end(values)?);
            }
            Data::FixedList {
                length,
                items: values,
                rows,
            } => {
                if items.len() != *length {
                    return Err(refused);
                }
                items.iter().try_for_each(|item| values.push_literal(item, zone))?;
                *rows += 1;
            }
            Data::Tuple { elements, rows, .. } => {
                if items.len() != elements.len() {
                    return Err(refused);
                }
                for (element, item) in elements.iter_mut().zip(items) {
                    element.push_literal(item, zone)?;
                }
                *rows += 1;
            }
            Data::Map { ends, pairs } => {
                items.iter().try_for_each(|item| pairs.push_literal(item, zone))?;
                ends.push(end(pairs)?);
            }
            _ => return Err(refused),
        }
        self.valid()
    }

    fn push_pairs(&mut self, literal: &Literal, pairs: &[(Literal, Literal)], zone: &str) -> Done {
        let refused = self.unfit("a map");
        if let DataType::Json(_) = self.plain_type() {
            return self.push_json(literal);
        }
        match &mut self.data {
            Data::Map { ends, pairs: entries } => {
                let Data::Tuple { elements, rows, .. } = &mut entries.data else {
                    return Err(refused);
                };
                let [keys, values] = &mut elements[..] else {
                    return Err(refused);
                };
                for (key, value) in pairs {
                    keys.push_literal(key, zone)?;
                    values.push_literal(value, zone)?;
                    *rows += 1;
                }
                ends.push(end(entries)?);
            }
            Data::Tuple { names, elements, rows } => {
                if pairs.len() != elements.len() {
                    return Err(refused);
                }
                let is = |key: &Literal, name: &str| matches!(key, Literal::Text(key) if key == name.as_bytes());
                // What the server answers for a tuple without names has numbers.
                let is_numbered = pairs
                    .iter()
                    .zip(1..)
                    .all(|((key, _), number)| is(key, &number.to_string()));
                for (at, (element, name)) in elements.iter_mut().zip(names.iter()).enumerate() {
                    let name = match is_numbered {
                        true => &(at + 1).to_string(),
                        false => name,
                    };
                    let is_of = |key: &Literal| is(key, name);
                    match pairs.iter().find(|(key, _)| is_of(key)) {
                        Some((_, value)) => element.push_literal(value, zone)?,
                        None => return Err(Failure::new(format!("there is no element `{name}`"))),
                    }
                }
                *rows += 1;
            }
            _ => return Err(refused),
        }
        self.valid()
    }

    fn push_json(&mut self, literal: &Literal) -> Done {
        let mut json = String::new();
        literal.put_json(&mut json);
        self.push_bytes(json.as_bytes())
    }
}

/// Where the items that a list has now end.
fn end(items: &Builder) -> Result<i32, Failure> {
    i32::try_from(items.len()).map_err(|_| Failure::new("a block has no more than 2^31 - 1 items of a column"))
}

/// A whole number, also with zeros after its point.
fn integer(number: &str) -> Option<i128> {
    number
        .parse()
        .ok()
        .or_else(|| text::parse_decimal(&without_exponent(number)?, 0)?.to_i128())
}

/// The digits of a number, with those that its exponent stands for.
fn without_exponent(number: &str) -> Option<String> {
    let Some((number, exponent)) = number.split_once(['e', 'E']) else {
        return Some(number.to_owned());
    };
    let exponent: i32 = exponent
        .parse()
        .ok()
        .filter(|exponent: &i32| exponent.unsigned_abs() <= MAX_EXPONENT)?;
    let (sign, digits) = match number.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", number.strip_prefix('+').unwrap_or(number)),
    };
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    let shift = usize::try_from(exponent.unsigned_abs()).ok()?;
    Some(match exponent {
        0.. => {
            let (more, part) = part.split_at_checked(shift).unwrap_or((part, ""));
            let zeros = shift - more.len();
            format!("{sign}{whole}{more}{:0<zeros$}.{part}", "")
        }
        _ => {
            let (whole, more) = whole.split_at_checked(whole.len().saturating_sub(shift))?;
            let zeros = shift - more.len();
            format!("{sign}{whole}.{:0<zeros$}{more}{part}", "")
        }
    })
}

/// Ticks of `digits` of an instant: with its offset from UTC, or in the time of `zone`. Of a time that there was twice, when clocks
/// went back, it is the first, as for ClickHouse; one that there was not is none.
fn instant(field: &str, digits: u8, zone: &str) -> Option<i64> {
    if let Some(ticks) = text::parse_instant(field, digits) {
        return Some(ticks);
    }
    let (local, part) = text::parse_local(field, digits)?;
    let zone: Tz = arrow_zone(Some(zone).filter(|zone| !zone.is_empty())).parse().ok()?;
    let local = DateTime::from_timestamp(local, 0)?.naive_utc();
    let seconds = zone.from_local_datetime(&local).earliest()?.timestamp();
    seconds
        .checked_mul(10_i64.checked_pow(digits.into())?)?
        .checked_add(part)
}

/// More zeros than any number has digits.
const MAX_EXPONENT: u32 = 100;

#[cfg(test)]
mod tests {
    use crate::{
        insert_text::InsertText,
        rows::{BlockRows, RowsBuilder},
    };

    /// What a column of this type has for the values of `VALUES`, as JSON.
    fn read(data_type: &str, values: &str) -> Result<String, String> {
        let sql = format!("INSERT INTO t VALUES ({values})");
        let text = InsertText::parse(&sql).unwrap().unwrap();
        let mut builder = RowsBuilder::new([("c".to_owned(), data_type.parse().unwrap())]).unwrap();
        let mut rows = text.rows().unwrap();
        while let Some(row) = rows.next().map_err(|error| error.to_string())? {
            builder
                .push_literals(&row, "Europe/Berlin")
                .map_err(|error| error.to_string())?;
        }
        let block = builder.finish().unwrap();
        let value: serde_json::Value = BlockRows::new(&block).unwrap().row(0).unwrap();
        Ok(value["c"].to_string())
    }

    #[test]
    fn values_find_their_types() {
        for (data_type, value, expected) in [
            ("UInt8", "255", "255"),
            ("UInt8", "'12'", "12"),
            ("UInt8", "2.550e2", "255"),
            ("Int64", "-9223372036854775808", "-9223372036854775808"),
            ("Nullable(Int8)", "NULL", "null"),
            ("Float64", "1e-3", "0.001"),
            ("Float32", "'2.5'", "2.5"),
            ("Decimal(9, 2)", "12.5", "\"12.50\""),
            ("Decimal(9, 2)", "'-1.25e1'", "\"-12.50\""),
            (
                "Decimal(38, 10)",
                "1234567890123456789012345678.0123456789",
                "\"1234567890123456789012345678.0123456789\"",
            ),
            (
                "Int256",
                "-57896044618658097711785492504343953926634992332820282019728792003956564819968",
                "\"-57896044618658097711785492504343953926634992332820282019728792003956564819968\"",
            ),
            ("UInt128", "18446744073709551615", "18446744073709551615"),
            ("String", "7.50", "\"7.50\""),
            ("FixedString(2)", "'ab'", "\"ab\""),
            ("Bool", "true", "true"),
            ("Bool", "0", "false"),
            ("Date", "'2024-02-29'", "\"2024-02-29\""),
            ("Date32", "'1900-01-01'", "\"1900-01-01\""),
            // In winter, in summer, the first of two, with an offset, in a zone of its own, as a number.
            ("DateTime", "'2024-01-01 12:00:00'", "\"2024-01-01T11:00:00Z\""),
            ("DateTime", "'2024-07-01T12:00:00'", "\"2024-07-01T10:00:00Z\""),
            ("DateTime", "'2024-10-27 02:30:00'", "\"2024-10-27T00:30:00Z\""),
            ("DateTime", "'2024-01-01 12:00:00Z'", "\"2024-01-01T12:00:00Z\""),
            (
                "DateTime('Asia/Tokyo')",
                "'2024-01-01 12:00:00'",
                "\"2024-01-01T03:00:00Z\"",
            ),
            ("DateTime", "1704110400", "\"2024-01-01T12:00:00Z\""),
            ("DateTime", "'1704110400'", "\"2024-01-01T12:00:00Z\""),
            (
                "DateTime64(3)",
                "'2024-01-01 12:00:00.125'",
                "\"2024-01-01T11:00:00.125Z\"",
            ),
            ("DateTime64(3)", "1704110400.5", "\"2024-01-01T12:00:00.500Z\""),
            ("DateTime64(3)", "'2024-01-01'", "\"2023-12-31T23:00:00.000Z\""),
            ("Time64(3)", "'-01:02:03.5'", "\"-01:02:03.500\""),
            ("Enum8('a' = 1, '2' = 3)", "'2'", "\"2\""),
            ("Enum8('a' = 1, '2' = 3)", "1", "\"a\""),
            (
                "UUID",
                "'c0fcbba9-0752-44ed-a5d6-4dfb4342b89d'",
                "\"c0fcbba9-0752-44ed-a5d6-4dfb4342b89d\"",
            ),
            ("IPv4", "'127.0.0.1'", "\"127.0.0.1\""),
            ("IPv6", "'::1'", "\"::1\""),
            ("LowCardinality(Nullable(String))", "'x'", "\"x\""),
            ("Array(Nullable(UInt8))", "[1, NULL]", "[1,null]"),
            ("Array(Array(String))", "'[[\\'a\\'], []]'", "[[\"a\"],[]]"),
            ("Tuple(a UInt8, b String)", "(1, 'x')", "{\"a\":1,\"b\":\"x\"}"),
            (
                "Tuple(a UInt8, b String)",
                "{'b': 'x', 'a': 1}",
                "{\"a\":1,\"b\":\"x\"}",
            ),
            (
                "Tuple(a UInt8, b String)",
                "{'1': 1, '2': 'x'}",
                "{\"a\":1,\"b\":\"x\"}",
            ),
            ("Map(String, UInt8)", "{'k': 1}", "{\"k\":1}"),
            ("Map(String, UInt8)", "[('k', 1)]", "{\"k\":1}"),
            ("Variant(String, UInt64)", "7", "7"),
            ("Variant(String, UInt64)", "'x'", "\"x\""),
            ("JSON", "'{\"a\":1}'", "\"{\\\"a\\\":1}\""),
        ] {
            let found = read(data_type, value).unwrap_or_else(|error| panic!("{value} as {data_type}: {error}"));
            assert_eq!(found, expected, "{value} as {data_type}");
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        for (data_type, value) in [
            ("UInt8", "256"),
            ("UInt8", "-1"),
            ("UInt8", "1.5"),
            ("UInt8", "'x'"),
            ("UInt8", "NULL"),
            ("UInt64", "1e99999"),
            ("Decimal(9, 2)", "12.345"),
            ("Decimal(9, 2)", "1e20"),
            ("Date", "'2024-02-30'"),
            ("Date", "'2024-01-31 23:59:59'"),
            ("DateTime", "'2024-03-31 02:30:00'"),
            ("DateTime", "'2024-01-01 12:00:00.5'"),
            ("DateTime", "'1969-12-31 00:00:00'"),
            ("FixedString(2)", "'abc'"),
            ("Enum8('a' = 1)", "'b'"),
            ("UUID", "'c0fcbba9'"),
            ("IPv4", "16909060"),
            ("Array(UInt8)", "[1, 'x']"),
            ("Array(UInt8)", "1"),
            ("Tuple(UInt8, UInt8)", "(1, 2, 3)"),
            ("Map(String, UInt8)", "{'k': 300}"),
            ("UInt8", "1, 2"),
        ] {
            assert!(
                read(data_type, value).is_err(),
                "{value} as {data_type}: {:?}",
                read(data_type, value)
            );
        }
    }
}
