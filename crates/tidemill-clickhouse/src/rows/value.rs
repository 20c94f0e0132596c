//! A value of a column for serde.

use std::net::{Ipv4Addr, Ipv6Addr};

use arrow_array::Array;
use arrow_buffer::i256;
use serde::{
    Deserializer,
    de::{
        DeserializeSeed, EnumAccess, Error as _, MapAccess, SeqAccess, Unexpected, VariantAccess, Visitor,
        value::{BorrowedStrDeserializer, SeqDeserializer},
    },
    forward_to_deserialize_any,
};

use super::{
    Failure,
    column::{Column, Sign, Values, at, range},
    text,
};

/// The value of a column in a row that the column has.
#[derive(Clone, Copy)]
pub(super) struct Value<'de> {
    pub(super) column: &'de Column,
    pub(super) row: usize,
}

impl<'de> Value<'de> {
    /// The value itself, where the column only says where it is.
    fn resolved(self) -> Self {
        let mut value = self;
        loop {
            match &value.column.values {
                Values::Dictionary(keys, values) if !value.column.is_null(value.row) => {
                    value = Self {
                        column: values,
                        row: at(keys, value.row),
                    };
                }
                Values::Union { .. } => match value.column.member(value.row) {
                    Some((column, row)) => value = Self { column, row },
                    None => return value,
                },
                _ => return value,
            }
        }
    }

    fn is_null(self) -> bool {
        self.column.is_null(self.row)
    }

    /// What only has bytes.
    fn bytes(self) -> Option<&'de [u8]> {
        match &self.column.values {
            Values::Text(texts) => Some(texts.value(self.row).as_bytes()),
            Values::Bytes(bytes) => Some(bytes.value(self.row)),
            Values::Fixed(bytes) | Values::Uuid(bytes) | Values::Ipv6(bytes) => Some(bytes.value(self.row)),
            _ => None,
        }
    }

    fn bytes_of_number(self) -> Option<[u8; 4]> {
        match &self.column.values {
            Values::Ipv4(numbers) => Some(at(numbers, self.row).to_be_bytes()),
            _ => None,
        }
    }

    fn null(self, expected: &dyn serde::de::Expected) -> Failure {
        Failure::invalid_type(Unexpected::Other("NULL"), expected)
    }

    /// A number, for a visitor that takes one.
    fn number<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        let row = self.row;
        if self.is_null() {
            return Err(self.null(&visitor));
        }
        match &self.column.values {
            Values::Bool(values) => visitor.visit_u8(values.value(row).into()),
            Values::Date(days) => visitor.visit_i32(at(days, row)),
            Values::Instant(ticks) | Values::Duration(ticks) => visitor.visit_i64(ticks.tick(row)),
            Values::Ipv4(numbers) => visitor.visit_u32(at(numbers, row)),
            Values::Enum { keys, numbers, .. } => visitor.visit_i16(at(numbers, at(keys, row))),
            Values::Decimal(units, _) => integer(units.unit(row), visitor),
            Values::Int256(bytes, sign) => {
                let bytes = array32(bytes.value(row));
                let number = i256::from_le_bytes(bytes);
                if *sign == Sign::Unsigned && number.is_negative() {
                    return Err(too_large(text::unsigned256(bytes), &visitor));
                }
                integer(number, visitor)
            }
            _ => self.deserialize_any(visitor),
        }
    }

    fn float<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        if self.is_null() {
            return Err(self.null(&visitor));
        }
        let text = match &self.column.values {
            // Exact numbers and one division: the nearest there is.
            Values::Decimal(units, scale) => match units.unit(self.row).to_i128() {
                Some(units) if units.unsigned_abs() < 1 << 53 && *scale <= 22 => {
                    return visitor.visit_f64(units as f64 / 10_f64.powi((*scale).into()));
                }
                _ => text::decimal(units.unit(self.row), *scale),
            },
            Values::Int128(numbers) => at(numbers, self.row).to_string(),
            Values::Int256(..) => self.digits(),
            _ => return self.number(visitor),
        };
        match text.parse() {
            Ok(number) => visitor.visit_f64(number),
            Err(_) => Err(Failure::invalid_value(Unexpected::Str(&text), &visitor)),
        }
    }

    /// The digits of an integer of 256 bits.
    fn digits(self) -> String {
        match &self.column.values {
            Values::Int256(bytes, Sign::Signed) => i256::from_le_bytes(array32(bytes.value(self.row))).to_string(),
            Values::Int256(bytes, Sign::Unsigned) => text::unsigned256(array32(bytes.value(self.row))),
            _ => String::new(),
        }
    }

    fn str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        match (self.is_null(), &self.column.values) {
            (true, _) => Err(self.null(&visitor)),
            (false, Values::Text(texts)) => visitor.visit_borrowed_str(texts.value(self.row)),
            (false, Values::Bytes(_) | Values::Fixed(_)) => match self.bytes().map(std::str::from_utf8) {
                Some(Ok(text)) => visitor.visit_borrowed_str(text),
                _ => Err(Failure::invalid_value(
                    Unexpected::Other("bytes that are not UTF-8"),
                    &visitor,
                )),
            },
            (false, Values::Int128(numbers)) => visitor.visit_string(at(numbers, self.row).to_string()),
            _ => self.deserialize_any(visitor),
        }
    }

    fn items(self) -> Items<'de> {
        let (column, rows) = match &self.column.values {
            Values::List(offsets, items) => (&**items, range(offsets, self.row)),
            Values::FixedList(length, items) => (&**items, self.row * length..(self.row + 1) * length),
            _ => (self.column, 0..0),
        };
        Items { column, rows }
    }

    fn elements(self) -> Option<Elements<'de>> {
        match &self.column.values {
            Values::Tuple {
                elements,
                is_named,
                is_json,
            } => Some(Elements {
                left: elements.iter(),
                row: self.row,
                is_named: *is_named,
                is_json: *is_json,
                value: None,
            }),
            _ => None,
        }
    }

    fn pairs(self) -> Option<Pairs<'de>> {
        match &self.column.values {
            Values::Map(offsets, pair) => Some(Pairs {
                pair,
                rows: range(offsets, self.row),
                value: None,
            }),
            _ => None,
        }
    }

    fn seq<V: Visitor<'de>>(self, length: Option<usize>, visitor: V) -> Result<V::Value, Failure> {
        if self.is_null() {
            return Err(self.null(&visitor));
        }
        let fits = |found: usize, visitor: &V| match length {
            Some(length) if length != found => Err(Failure::invalid_length(found, visitor)),
            _ => Ok(()),
        };
        let number = self.bytes_of_number();
        if let Some(bytes) = self.bytes().or(number.as_ref().map(|bytes| &bytes[..])) {
            fits(bytes.len(), &visitor)?;
            return visitor.visit_seq(SeqDeserializer::new(bytes.iter().copied()));
        }
        match &self.column.values {
            Values::List(..) | Values::FixedList(..) => {
                let items = self.items();
                fits(items.rows.len(), &visitor)?;
                visitor.visit_seq(items)
            }
            Values::Tuple {
                elements,
                is_json: false,
                ..
            } => {
                fits(elements.len(), &visitor)?;
                match self.elements() {
                    Some(elements) => visitor.visit_seq(elements),
                    None => self.deserialize_any(visitor),
                }
            }
            Values::Map(..) => match self.pairs() {
                Some(pairs) => {
                    fits(pairs.rows.len(), &visitor)?;
                    visitor.visit_seq(pairs)
                }
                None => self.deserialize_any(visitor),
            },
            _ => self.deserialize_any(visitor),
        }
    }
}

macro_rules! forward {
    ($how:ident: $($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
            self.resolved().$how(visitor)
        }
    )*};
}

impl<'de> Deserializer<'de> for Value<'de> {
    type Error = Failure;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        let value = self.resolved();
        let row = value.row;
        if value.is_null() {
            return visitor.visit_unit();
        }
        match &value.column.values {
            Values::UInt64(values) => visitor.visit_u64(at(values, row)),
            Values::Int64(values) => visitor.visit_i64(at(values, row)),
            Values::UInt8(values) => visitor.visit_u8(at(values, row)),
            Values::UInt16(values) => visitor.visit_u16(at(values, row)),
            Values::UInt32(values) => visitor.visit_u32(at(values, row)),
            Values::Int8(values) => visitor.visit_i8(at(values, row)),
            Values::Int16(values) => visitor.visit_i16(at(values, row)),
            Values::Int32(values) => visitor.visit_i32(at(values, row)),
            Values::Float32(values) => visitor.visit_f32(at(values, row)),
            Values::Float64(values) => visitor.visit_f64(at(values, row)),
            Values::Int128(values) => integer(at(values, row), visitor),
            Values::Int256(..) => visitor.visit_string(value.digits()),
            Values::Bool(values) => visitor.visit_bool(values.value(row)),
            Values::Text(texts) => visitor.visit_borrowed_str(texts.value(row)),
            Values::Bytes(_) | Values::Fixed(_) => {
                let bytes = value.bytes().unwrap_or_default();
                match std::str::from_utf8(bytes) {
                    Ok(text) => visitor.visit_borrowed_str(text),
                    Err(_) => visitor.visit_borrowed_bytes(bytes),
                }
            }
            Values::Decimal(units, scale) => visitor.visit_string(text::decimal(units.unit(row), *scale)),
            Values::Date(days) => visitor.visit_string(text::date(at(days, row).into())),
            Values::Instant(ticks) => visitor.visit_string(text::instant(ticks.tick(row), ticks.digits)),
            Values::Duration(ticks) => visitor.visit_string(text::duration(ticks.tick(row), ticks.digits)),
            Values::Uuid(bytes) => visitor.visit_string(text::uuid(array16(bytes.value(row)))),
            Values::Ipv4(numbers) => visitor.visit_string(Ipv4Addr::from(at(numbers, row)).to_string()),
            Values::Ipv6(bytes) => visitor.visit_string(Ipv6Addr::from(array16(bytes.value(row))).to_string()),
            Values::Enum { keys, names, .. } => {
                let key = at(keys, row);
                visitor.visit_borrowed_str(if key < names.len() { names.value(key) } else { "" })
            }
            Values::List(..) | Values::FixedList(..) => visitor.visit_seq(value.items()),
            Values::Map(..) => match value.pairs() {
                Some(pairs) => visitor.visit_map(pairs),
                None => visitor.visit_unit(),
            },
            Values::Tuple { .. } => match value.elements() {
                Some(elements) if elements.is_named => visitor.visit_map(elements),
                Some(elements) => visitor.visit_seq(elements),
                None => visitor.visit_unit(),
            },
            Values::Null | Values::Dictionary(..) | Values::Union { .. } => visitor.visit_unit(),
        }
    }

    forward!(number: deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128);
    forward!(float: deserialize_f32 deserialize_f64);
    forward!(str: deserialize_str deserialize_string deserialize_char deserialize_identifier);

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        let value = self.resolved();
        match &value.column.values {
            _ if value.is_null() => Err(value.null(&visitor)),
            // What servers without `Bool` have.
            Values::UInt8(numbers) if at(numbers, value.row) <= 1 => visitor.visit_bool(at(numbers, value.row) == 1),
            _ => value.deserialize_any(visitor),
        }
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        let value = self.resolved();
        if value.is_null() {
            return Err(value.null(&visitor));
        }
        match (value.bytes(), value.bytes_of_number()) {
            (Some(bytes), _) => visitor.visit_borrowed_bytes(bytes),
            (None, Some(bytes)) => visitor.visit_bytes(&bytes),
            (None, None) => value.seq(None, visitor),
        }
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        self.deserialize_bytes(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        if self.resolved().is_null() {
            visitor.visit_none()
        } else {
            // Not what it resolves to: an enum may want to know the member of a union.
            visitor.visit_some(self)
        }
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        self.deserialize_any(visitor)
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Failure> {
        self.deserialize_any(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Failure> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        self.resolved().seq(None, visitor)
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value, Failure> {
        self.resolved().seq(Some(length), visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, Failure> {
        self.resolved().seq(Some(length), visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        let value = self.resolved();
        match value.elements() {
            _ if value.is_null() => Err(value.null(&visitor)),
            Some(elements) => visitor.visit_map(elements),
            None => value.deserialize_any(visitor),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Failure> {
        let value = self.resolved();
        match value.elements() {
            _ if value.is_null() => Err(value.null(&visitor)),
            // Names that are no more than numbers are for nobody's fields, unless they are asked for.
            Some(elements) if !elements.is_named && !fields.contains(&"1") => value.seq(Some(fields.len()), visitor),
            Some(elements) => visitor.visit_map(elements),
            None => value.deserialize_any(visitor),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Failure> {
        if let Some((column, row)) = self.column.member(self.row) {
            let value = Value { column, row };
            if value.is_null() {
                return Err(value.null(&visitor));
            }
            return visitor.visit_enum(Member(value));
        }
        let value = self.resolved();
        match &value.column.values {
            _ if value.is_null() => Err(value.null(&visitor)),
            Values::Enum { keys, names, .. } if at(keys, value.row) < names.len() => {
                visitor.visit_enum(BorrowedStrDeserializer::new(names.value(at(keys, value.row))))
            }
            Values::Text(_) | Values::Bytes(_) | Values::Fixed(_) => match value.bytes().map(std::str::from_utf8) {
                Some(Ok(text)) => visitor.visit_enum(BorrowedStrDeserializer::new(text)),
                _ => value.str(visitor),
            },
            _ => value.deserialize_any(visitor),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        visitor.visit_unit()
    }
}

/// As the smallest type that has it: visitors of larger ones take it too.
fn integer<'de, V: Visitor<'de>>(number: i256, visitor: V) -> Result<V::Value, Failure> {
    let Some(wide) = number.to_i128() else {
        return match number.to_parts() {
            (low, 0) => visitor.visit_u128(low),
            _ => Err(too_large(number.to_string(), &visitor)),
        };
    };
    match (i64::try_from(wide), u64::try_from(wide)) {
        (Ok(number), _) => visitor.visit_i64(number),
        (_, Ok(number)) => visitor.visit_u64(number),
        _ => visitor.visit_i128(wide),
    }
}

fn too_large(digits: String, expected: &dyn serde::de::Expected) -> Failure {
    Failure::invalid_value(Unexpected::Other(&digits), expected)
}

fn array16(bytes: &[u8]) -> [u8; 16] {
    bytes.try_into().unwrap_or_default()
}

fn array32(bytes: &[u8]) -> [u8; 32] {
    bytes.try_into().unwrap_or_default()
}

/// The items of a list.
struct Items<'de> {
    column: &'de Column,
    rows: std::ops::Range<usize>,
}

impl<'de> SeqAccess<'de> for Items<'de> {
    type Error = Failure;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Failure> {
        let column = self.column;
        self.rows
            .next()
            .map(|row| seed.deserialize(Value { column, row }))
            .transpose()
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.rows.len())
    }
}

/// The elements of a tuple.
struct Elements<'de> {
    left: std::slice::Iter<'de, Column>,
    row: usize,
    is_named: bool,
    is_json: bool,
    /// The value to the key before.
    value: Option<Value<'de>>,
}

impl<'de> SeqAccess<'de> for Elements<'de> {
    type Error = Failure;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Failure> {
        let row = self.row;
        self.left
            .next()
            .map(|column| seed.deserialize(Value { column, row }))
            .transpose()
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.left.len())
    }
}

impl<'de> MapAccess<'de> for Elements<'de> {
    type Error = Failure;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Failure> {
        let row = self.row;
        let is_json = self.is_json;
        let there = |column: &&Column| !(is_json && is_absent(Value { column, row }));
        let Some(column) = self.left.find(there) else {
            return Ok(None);
        };
        self.value = Some(Value { column, row });
        seed.deserialize(BorrowedStrDeserializer::new(&column.name)).map(Some)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Failure> {
        match self.value.take() {
            Some(value) => seed.deserialize(value),
            None => Err(Failure::custom("a value was asked for before its key")),
        }
    }
}

/// Whether a path is not in this row's object, or there are no further paths.
fn is_absent(value: Value<'_>) -> bool {
    let value = value.resolved();
    value.is_null() || value.pairs().is_some_and(|pairs| pairs.rows.is_empty())
}

/// The pairs of a map.
struct Pairs<'de> {
    pair: &'de [Column; 2],
    rows: std::ops::Range<usize>,
    value: Option<Value<'de>>,
}

impl<'de> MapAccess<'de> for Pairs<'de> {
    type Error = Failure;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Failure> {
        let [key, value] = self.pair;
        let Some(row) = self.rows.next() else { return Ok(None) };
        self.value = Some(Value { column: value, row });
        seed.deserialize(Value { column: key, row }).map(Some)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Failure> {
        match self.value.take() {
            Some(value) => seed.deserialize(value),
            None => Err(Failure::custom("a value was asked for before its key")),
        }
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.rows.len())
    }
}

impl<'de> SeqAccess<'de> for Pairs<'de> {
    type Error = Failure;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Failure> {
        let pair = self.pair;
        self.rows
            .next()
            .map(|row| seed.deserialize(Pair { pair, row }))
            .transpose()
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.rows.len())
    }
}

/// A pair of a map, as a tuple.
struct Pair<'de> {
    pair: &'de [Column; 2],
    row: usize,
}

impl<'de> Deserializer<'de> for Pair<'de> {
    type Error = Failure;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        visitor.visit_seq(Elements {
            left: self.pair.iter(),
            row: self.row,
            is_named: false,
            is_json: false,
            value: None,
        })
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

/// A member of a union, as a variant that is named as its type.
struct Member<'de>(Value<'de>);

impl<'de> EnumAccess<'de> for Member<'de> {
    type Error = Failure;
    type Variant = Self;

    fn variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<(T::Value, Self), Failure> {
        let name = BorrowedStrDeserializer::<Failure>::new(&self.0.column.name);
        Ok((seed.deserialize(name)?, self))
    }
}

impl<'de> VariantAccess<'de> for Member<'de> {
    type Error = Failure;

    fn unit_variant(self) -> Result<(), Failure> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Failure> {
        seed.deserialize(self.0)
    }

    fn tuple_variant<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value, Failure> {
        self.0.deserialize_tuple(length, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(self, fields: &'static [&'static str], visitor: V) -> Result<V::Value, Failure> {
        self.0.deserialize_struct("", fields, visitor)
    }
}
