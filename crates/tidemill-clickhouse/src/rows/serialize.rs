//! Values of Rust for a column, by serde.

use std::net::{Ipv4Addr, Ipv6Addr};

use arrow_buffer::i256;
use serde::{
    Serialize, Serializer,
    ser::{
        SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple, SerializeTupleStruct,
        SerializeTupleVariant,
    },
};

use super::{
    Failure,
    builder::{Builder, Data, NULL_ID},
    text,
};
use crate::{
    DataType,
    arrow_type::{StringType, arrow_type, precision},
};

type Done = Result<(), Failure>;

impl Builder {
    /// Says that the value that was pushed is one.
    fn valid(&mut self) -> Done {
        if let Some(validity) = &mut self.validity {
            validity.push(true);
        }
        Ok(())
    }

    fn unfit(&self, found: impl std::fmt::Display) -> Failure {
        Failure::new(format!("{found} does not fit {}", self.data_type))
    }

    fn push_null(&mut self) -> Done {
        match &self.data {
            _ if self.validity.is_some() => {}
            Data::Union { .. } | Data::Nothing(_) => {}
            _ => return Err(self.unfit("NULL")),
        }
        self.push_default();
        Ok(())
    }

    /// An integer; `natural` is the type of ClickHouse that is the same.
    fn push_integer(&mut self, number: i128, natural: DataType) -> Done {
        macro_rules! checked {
            ($values:ident) => {
                match number.try_into() {
                    Ok(number) => $values.push(number),
                    Err(_) => return Err(self.unfit(number)),
                }
            };
        }
        let data_type = self.plain_type().clone();
        match &mut self.data {
            Data::Int8(values) => checked!(values),
            Data::Int16(values) => checked!(values),
            Data::Int32(values) => checked!(values),
            Data::Int64(values) => checked!(values),
            Data::UInt8(values) => checked!(values),
            Data::UInt16(values) => checked!(values),
            Data::UInt32(values) => checked!(values),
            Data::UInt64(values) => checked!(values),
            Data::Bool(values) if number == 0 || number == 1 => values.push(number == 1),
            Data::Float64(values) if number.unsigned_abs() <= 1 << 53 => values.push(number as f64),
            Data::Float32(values) if number.unsigned_abs() <= 1 << 24 => values.push(number as f32),
            Data::Int128(_) | Data::Decimal(_) => return self.push_wide(i256::from_i128(number)),
            Data::Fixed(..) if matches!(data_type, DataType::Int256 | DataType::UInt256) => {
                if number < 0 && data_type == DataType::UInt256 {
                    return Err(self.unfit(number));
                }
                return self.push_bytes(&i256::from_i128(number).to_le_bytes());
            }
            Data::Days(_) => return self.push_days(number.try_into().map_err(|_| self.unfit(number))?),
            Data::Ticks(_) => return self.push_ticks(number.try_into().map_err(|_| self.unfit(number))?),
            Data::Enum(keys) => {
                let key = match &data_type {
                    DataType::Enum8(names) => names.pairs().iter().position(|(_, found)| i128::from(*found) == number),
                    DataType::Enum16(names) => names.pairs().iter().position(|(_, found)| i128::from(*found) == number),
                    _ => None,
                };
                match key.and_then(|key| i32::try_from(key).ok()) {
                    Some(key) => keys.push(key),
                    None => return Err(self.unfit(number)),
                }
            }
            Data::Union { .. } => {
                return self.push_member(natural, |member, natural| member.push_integer(number, natural));
            }
            _ => return Err(self.unfit(format_args!("the integer {number}"))),
        }
        self.valid()
    }

    /// An integer of 128 bits or the units of a decimal.
    fn push_wide(&mut self, number: i256) -> Done {
        let data_type = self.plain_type().clone();
        match &mut self.data {
            Data::Int128(values) => {
                let fits = match data_type {
                    DataType::Int128 => number.to_i128().is_some(),
                    _ => matches!(number.to_parts(), (_, 0)),
                };
                if !fits {
                    return Err(self.unfit(number));
                }
                values.push(number);
            }
            Data::Decimal(units) => {
                let digits = match data_type {
                    DataType::Decimal { precision, .. } => precision,
                    _ => 0,
                };
                let length = number.to_string().trim_start_matches('-').len();
                if length > usize::from(digits) {
                    return Err(self.unfit(format_args!("a number of {length} digits")));
                }
                units.push(number);
            }
            _ => return Err(self.unfit(number)),
        }
        self.valid()
    }

    fn push_days(&mut self, days: i32) -> Done {
        // `Date` is an unsigned number of 16 bits, `Date32` is from 1900-01-01 to 2299-12-31.
        let range = match self.plain_type() {
            DataType::Date => 0..=65_535,
            _ => -25_567..=120_529,
        };
        match &mut self.data {
            Data::Days(values) if range.contains(&days) => values.push(days),
            _ => return Err(self.unfit(text::date(days.into()))),
        }
        self.valid()
    }

    fn push_ticks(&mut self, ticks: i64) -> Done {
        let fits = match self.plain_type() {
            DataType::DateTime(_) => u32::try_from(ticks).is_ok(),
            DataType::Time => i32::try_from(ticks).is_ok(),
            DataType::DateTime64(digits, _) | DataType::Time64(digits) => {
                let unit = match arrow_type(self.plain_type(), StringType::Binary) {
                    arrow_schema::DataType::Timestamp(unit, _) | arrow_schema::DataType::Duration(unit) => {
                        precision(unit)
                    }
                    _ => 0,
                };
                let scale = 10_i64.pow(unit.saturating_sub(*digits).into());
                ticks.checked_mul(scale).is_some()
            }
            _ => false,
        };
        match &mut self.data {
            Data::Ticks(values) if fits => values.push(ticks),
            _ => return Err(self.unfit(format_args!("{ticks} ticks"))),
        }
        self.valid()
    }

    fn push_float(&mut self, number: f64, natural: DataType) -> Done {
        match &mut self.data {
            Data::Float64(values) => values.push(number),
            // Rounded, as `as` does: who has a column of less digits wants less.
            Data::Float32(values) => values.push(number as f32),
            Data::Union { .. } => {
                return self.push_member(natural, |member, natural| member.push_float(number, natural));
            }
            Data::Decimal(_) => return self.push_text(&number.to_string()),
            _ => return Err(self.unfit(format_args!("the number {number}"))),
        }
        self.valid()
    }

    fn push_bool(&mut self, value: bool) -> Done {
        match &mut self.data {
            Data::Bool(values) => values.push(value),
            Data::UInt8(values) => values.push(value.into()),
            Data::Union { .. } => return self.push_member(DataType::Bool, |member, _| member.push_bool(value)),
            _ => return Err(self.unfit(value)),
        }
        self.valid()
    }

    fn push_text(&mut self, value: &str) -> Done {
        if let Data::Bytes { .. } = self.data {
            return self.push_bytes(value.as_bytes());
        }
        let data_type = self.plain_type().clone();
        let unfit = || Failure::new(format!("{value:?} does not fit {data_type}"));
        match &mut self.data {
            Data::Fixed(..) => match &data_type {
                DataType::Uuid => {
                    let uuid = uuid::Uuid::try_parse(value).map_err(|_| unfit())?;
                    return self.push_bytes(uuid.as_bytes());
                }
                DataType::Ipv6 => {
                    let address: Ipv6Addr = match value.parse() {
                        Ok(address) => address,
                        Err(_) => value.parse::<Ipv4Addr>().map_err(|_| unfit())?.to_ipv6_mapped(),
                    };
                    return self.push_bytes(&address.octets());
                }
                DataType::Int256 | DataType::UInt256 => {
                    let bytes = text::parse256(value, data_type == DataType::Int256).ok_or_else(unfit)?;
                    return self.push_bytes(&bytes);
                }
                _ => return self.push_bytes(value.as_bytes()),
            },
            Data::UInt32(values) if data_type == DataType::Ipv4 => {
                let address: Ipv4Addr = value.parse().map_err(|_| unfit())?;
                values.push(address.to_bits());
            }
            Data::Int128(_) => {
                let number = text::parse_decimal(value, 0).ok_or_else(unfit)?;
                return self.push_wide(number);
            }
            Data::Decimal(_) => {
                let scale = match data_type {
                    DataType::Decimal { scale, .. } => scale,
                    _ => 0,
                };
                let units = text::parse_decimal(value, scale).ok_or_else(unfit)?;
                return self.push_wide(units);
            }
            Data::Days(_) => {
                let days = text::parse_date(value).and_then(|days| i32::try_from(days).ok());
                return self.push_days(days.ok_or_else(unfit)?);
            }
            Data::Ticks(_) => {
                let ticks = match &data_type {
                    DataType::DateTime(_) => text::parse_instant(value, 0),
                    DataType::DateTime64(digits, _) => text::parse_instant(value, *digits),
                    DataType::Time64(digits) => text::parse_duration(value, *digits),
                    _ => text::parse_duration(value, 0),
                };
                return self.push_ticks(ticks.ok_or_else(unfit)?);
            }
            Data::Enum(keys) => {
                let key = match &data_type {
                    DataType::Enum8(names) => names.pairs().iter().position(|(name, _)| **name == *value),
                    DataType::Enum16(names) => names.pairs().iter().position(|(name, _)| **name == *value),
                    _ => None,
                };
                let key = key.and_then(|key| i32::try_from(key).ok());
                keys.push(key.ok_or_else(unfit)?);
            }
            Data::Union { .. } => return self.push_member(DataType::String, |member, _| member.push_text(value)),
            _ => return Err(unfit()),
        }
        self.valid()
    }

    fn push_bytes(&mut self, value: &[u8]) -> Done {
        if let Data::Bytes { ends, bytes } = &mut self.data {
            let Ok(end) = i32::try_from(bytes.len() + value.len()) else {
                return Err(Failure::new("a block has no more than 2 GiB of a column's bytes"));
            };
            bytes.extend_from_slice(value);
            ends.push(end);
            return self.valid();
        }
        let data_type = self.plain_type().clone();
        match &mut self.data {
            Data::Fixed(width, bytes) => {
                let is_padded = matches!(data_type, DataType::FixedString(_));
                match width.checked_sub(value.len()) {
                    Some(missing) if missing == 0 || is_padded => {
                        bytes.extend_from_slice(value);
                        bytes.resize(bytes.len() + missing, 0);
                    }
                    _ => return Err(self.unfit(format_args!("a value of {} bytes", value.len()))),
                }
            }
            Data::UInt32(values) if data_type == DataType::Ipv4 => match value.try_into() {
                Ok(bytes) => values.push(u32::from_be_bytes(bytes)),
                Err(_) => return Err(self.unfit(format_args!("a value of {} bytes", value.len()))),
            },
            Data::Union { .. } => return self.push_member(DataType::String, |member, _| member.push_bytes(value)),
            _ => return Err(self.unfit("a value of bytes")),
        }
        self.valid()
    }

    /// A value for the member of a union that is of the value's own type, or else for the first that takes it.
    fn push_member(&mut self, natural: DataType, push: impl Fn(&mut Self, DataType) -> Done) -> Done {
        let refused = self.unfit(format_args!("a value of type {natural}"));
        let Data::Union { members, is_open, .. } = &self.data else {
            return Err(refused);
        };
        let own = members.iter().position(|member| *member.plain_type() == natural);
        let taken = match own {
            None if *is_open => Some(self.add_member(&natural)?),
            Some(own) => Some(own),
            None => None,
        };
        let all = match &self.data {
            Data::Union { members, .. } => members.len(),
            _ => 0,
        };
        let candidates = taken.into_iter().chain((0..all).filter(|_| own.is_none()));
        for candidate in candidates {
            let done = self.begin_member(candidate, |member| push(member, natural.clone()));
            if done.is_ok() {
                return Ok(());
            }
        }
        Err(refused)
    }

    /// The position of the new member.
    fn add_member(&mut self, data_type: &DataType) -> Result<usize, Failure> {
        let member = Self::new(data_type)?;
        match &mut self.data {
            // One number is for `NULL`.
            Data::Union { members, .. } if members.len() < 126 => {
                members.push(member);
                Ok(members.len() - 1)
            }
            _ => Err(Failure::new("a block has no more than 126 types of a Dynamic")),
        }
    }

    /// Makes a row of a member's value.
    fn begin_member<T>(
        &mut self,
        position: usize,
        push: impl FnOnce(&mut Self) -> Result<T, Failure>,
    ) -> Result<T, Failure>
    where
        T: Sized,
    {
        let Data::Union {
            ids, offsets, members, ..
        } = &mut self.data
        else {
            return Err(Failure::new("no union"));
        };
        let (Some(member), Ok(id)) = (members.get_mut(position), i8::try_from(position)) else {
            return Err(Failure::new("no such member"));
        };
        let offset = member.len();
        let done = push(member)?;
        ids.push(id.min(NULL_ID - 1));
        offsets.push(i32::try_from(offset).unwrap_or(i32::MAX));
        Ok(done)
    }

    /// The member of a union that is named as this type.
    fn named_member(&mut self, name: &str) -> Result<usize, Failure> {
        let Data::Union { members, is_open, .. } = &self.data else {
            return Err(self.unfit(format_args!("a variant `{name}` with a value")));
        };
        match members.iter().position(|member| member.data_type.to_string() == name) {
            Some(position) => Ok(position),
            None if *is_open => match name.parse() {
                Ok(data_type) => self.add_member(&data_type),
                Err(_) => Err(self.unfit(format_args!("the variant `{name}`, which is no type,"))),
            },
            None => Err(self.unfit(format_args!("the variant `{name}`"))),
        }
    }

    /// Begins a value that has others in it.
    fn begin(&mut self, what: &'static str, shape: Shape) -> Result<Compound<'_>, Failure> {
        let data_type = self.plain_type().clone();
        let is_bytes = match (&self.data, shape) {
            (Data::Bytes { .. } | Data::Fixed(..), Shape::List) => true,
            (Data::UInt32(_), Shape::List) => data_type == DataType::Ipv4,
            _ => false,
        };
        if is_bytes {
            return Ok(Compound::Bytes {
                items: Self::new(&DataType::UInt8)?,
                target: self,
            });
        }
        if let Data::Union { members, .. } = &self.data {
            let takes = |member: &Self| match (&member.data, shape) {
                (Data::List { .. } | Data::Tuple { .. }, Shape::List)
                | (Data::Map { .. }, Shape::Map)
                | (Data::Tuple { .. }, Shape::Struct) => true,
                _ => false,
            };
            let Some(position) = members.iter().position(takes) else {
                return Err(self.unfit(what));
            };
            return self.begin_in_member(position, what, shape);
        }
        let refused = self.unfit(what);
        let validity = self.validity.as_mut();
        match (&mut self.data, shape) {
            (Data::List { ends, items } | Data::Map { ends, pairs: items }, Shape::List) => {
                Ok(Compound::List { ends, items, validity })
            }
            (Data::Map { ends, pairs }, Shape::Map | Shape::Struct) => Ok(Compound::Map { ends, pairs, validity }),
            (Data::FixedList { length, items, rows }, Shape::List) => Ok(Compound::FixedList {
                end: (*rows + 1) * *length,
                items,
                rows,
                validity,
            }),
            (Data::Tuple { names, elements, rows }, _) => Ok(Compound::Tuple {
                names,
                elements,
                rows,
                at: 0,
                validity,
                data_type,
            }),
            _ => Err(refused),
        }
    }

    fn begin_in_member(&mut self, position: usize, what: &'static str, shape: Shape) -> Result<Compound<'_>, Failure> {
        // A row of the union whose value comes; if it never does the row is taken back.
        let Data::Union {
            ids, offsets, members, ..
        } = &mut self.data
        else {
            return Err(Failure::new("no union"));
        };
        let (Some(member), Ok(id)) = (members.get_mut(position), i8::try_from(position)) else {
            return Err(Failure::new("no such member"));
        };
        ids.push(id);
        offsets.push(i32::try_from(member.len()).unwrap_or(i32::MAX));
        member.begin(what, shape)
    }
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Shape {
    /// A sequence or a tuple.
    List,
    Map,
    Struct,
}

impl<'a> Serializer for &'a mut Builder {
    type Ok = ();
    type Error = Failure;
    type SerializeSeq = Compound<'a>;
    type SerializeTuple = Compound<'a>;
    type SerializeTupleStruct = Compound<'a>;
    type SerializeTupleVariant = Compound<'a>;
    type SerializeMap = Compound<'a>;
    type SerializeStruct = Compound<'a>;
    type SerializeStructVariant = Compound<'a>;

    fn serialize_bool(self, value: bool) -> Done {
        self.push_bool(value)
    }

    fn serialize_i8(self, value: i8) -> Done {
        self.push_integer(value.into(), DataType::Int8)
    }

    fn serialize_i16(self, value: i16) -> Done {
        self.push_integer(value.into(), DataType::Int16)
    }

    fn serialize_i32(self, value: i32) -> Done {
        self.push_integer(value.into(), DataType::Int32)
    }

    fn serialize_i64(self, value: i64) -> Done {
        if let (Data::Int64(values), None) = (&mut self.data, &self.validity) {
            values.push(value);
            return Ok(());
        }
        self.push_integer(value.into(), DataType::Int64)
    }

    fn serialize_i128(self, value: i128) -> Done {
        self.push_integer(value, DataType::Int128)
    }

    fn serialize_u8(self, value: u8) -> Done {
        self.push_integer(value.into(), DataType::UInt8)
    }

    fn serialize_u16(self, value: u16) -> Done {
        self.push_integer(value.into(), DataType::UInt16)
    }

    fn serialize_u32(self, value: u32) -> Done {
        self.push_integer(value.into(), DataType::UInt32)
    }

    fn serialize_u64(self, value: u64) -> Done {
        if let (Data::UInt64(values), None) = (&mut self.data, &self.validity) {
            values.push(value);
            return Ok(());
        }
        self.push_integer(value.into(), DataType::UInt64)
    }

    fn serialize_u128(self, value: u128) -> Done {
        match (i128::try_from(value), &self.data) {
            (Ok(value), _) => self.push_integer(value, DataType::UInt128),
            (Err(_), Data::Fixed(32, _)) => {
                let number = i256::from_parts(value, 0);
                self.push_bytes(&number.to_le_bytes())
            }
            (Err(_), Data::Union { .. }) => self.push_member(DataType::UInt128, |member, _| {
                member.push_wide(i256::from_parts(value, 0))
            }),
            (Err(_), _) => self.push_wide(i256::from_parts(value, 0)),
        }
    }

    fn serialize_f32(self, value: f32) -> Done {
        if let Data::Float32(values) = &mut self.data {
            values.push(value);
            return self.valid();
        }
        if let Data::Decimal(_) = self.data {
            return self.push_text(&value.to_string());
        }
        self.push_float(value.into(), DataType::Float32)
    }

    fn serialize_f64(self, value: f64) -> Done {
        self.push_float(value, DataType::Float64)
    }

    fn serialize_char(self, value: char) -> Done {
        self.push_text(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, value: &str) -> Done {
        self.push_text(value)
    }

    fn serialize_bytes(self, value: &[u8]) -> Done {
        self.push_bytes(value)
    }

    fn serialize_none(self) -> Done {
        self.push_null()
    }

    fn serialize_some<T: ?Sized + Serialize>(self, value: &T) -> Done {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Done {
        self.push_null()
    }

    fn serialize_unit_struct(self, _: &'static str) -> Done {
        self.push_null()
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Done {
        self.push_text(variant)
    }

    fn serialize_newtype_struct<T: ?Sized + Serialize>(self, _: &'static str, value: &T) -> Done {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: ?Sized + Serialize>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Done {
        let position = self.named_member(variant)?;
        self.begin_member(position, |member| value.serialize(member))
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Compound<'a>, Failure> {
        self.begin("a sequence", Shape::List)
    }

    fn serialize_tuple(self, _: usize) -> Result<Compound<'a>, Failure> {
        self.begin("a tuple", Shape::List)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Compound<'a>, Failure> {
        self.begin("a tuple", Shape::List)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Compound<'a>, Failure> {
        let position = self.named_member(variant)?;
        self.begin_in_member(position, "a tuple", Shape::List)
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Compound<'a>, Failure> {
        self.begin("a map", Shape::Map)
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Compound<'a>, Failure> {
        self.begin("a struct", Shape::Struct)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Compound<'a>, Failure> {
        let position = self.named_member(variant)?;
        self.begin_in_member(position, "a struct", Shape::Struct)
    }
}

/// A value whose parts come.
pub(super) enum Compound<'a> {
    /// Bytes, one by one.
    Bytes { items: Builder, target: &'a mut Builder },
    List {
        ends: &'a mut Vec<i32>,
        items: &'a mut Builder,
        validity: Option<&'a mut Vec<bool>>,
    },
    FixedList {
        /// How many items there are behind it.
        end: usize,
        items: &'a mut Builder,
        rows: &'a mut usize,
        validity: Option<&'a mut Vec<bool>>,
    },
    Map {
        ends: &'a mut Vec<i32>,
        pairs: &'a mut Builder,
        validity: Option<&'a mut Vec<bool>>,
    },
    Tuple {
        names: &'a [String],
        elements: &'a mut [Builder],
        rows: &'a mut usize,
        /// The element that is most likely next.
        at: usize,
        validity: Option<&'a mut Vec<bool>>,
        data_type: DataType,
    },
}

impl Compound<'_> {
    fn item<T: ?Sized + Serialize>(&mut self, value: &T) -> Done {
        match self {
            Self::Bytes { items, .. } => value.serialize(items),
            Self::List { items, .. } | Self::FixedList { items, .. } => value.serialize(&mut **items),
            Self::Tuple {
                elements,
                at,
                data_type,
                ..
            } => match elements.get_mut(*at) {
                Some(element) => {
                    *at += 1;
                    value.serialize(element)
                }
                None => Err(Failure::new(format!(
                    "more than {} elements do not fit {data_type}",
                    elements.len()
                ))),
            },
            Self::Map { .. } => Err(Failure::new("a map has pairs")),
        }
    }

    fn named<T: ?Sized + Serialize>(&mut self, name: &str, value: &T) -> Done {
        match self {
            Self::Tuple {
                names,
                elements,
                at,
                data_type,
                ..
            } => {
                let is_next = names.get(*at).is_some_and(|next| next == name);
                let position = if is_next {
                    Some(*at)
                } else {
                    names.iter().position(|other| other == name)
                };
                let element = position.and_then(|position| Some((position, elements.get_mut(position)?)));
                match element {
                    Some((position, element)) => {
                        *at = position + 1;
                        value.serialize(element)
                    }
                    // Names of fields for elements without names: by position.
                    None if names.iter().zip(1..).all(|(name, number)| *name == number.to_string()) => self.item(value),
                    None => Err(Failure::new(format!("the field `{name}` does not fit {data_type}"))),
                }
            }
            Self::Map { pairs, .. } => {
                key(pairs, name)?;
                map_value(pairs, value)
            }
            _ => self.item(value),
        }
    }

    fn done(self) -> Done {
        let validity = match self {
            Self::Bytes { items, target } => {
                return match &items.data {
                    Data::UInt8(bytes) => target.push_bytes(bytes),
                    _ => Err(Failure::new("no bytes")),
                };
            }
            Self::List { ends, items, validity }
            | Self::Map {
                ends,
                pairs: items,
                validity,
            } => {
                match i32::try_from(items.len()) {
                    Ok(end) => ends.push(end),
                    Err(_) => return Err(Failure::new("a block has no more than 2^31 - 1 items of a column")),
                }
                validity
            }
            Self::FixedList {
                end,
                items,
                rows,
                validity,
            } => {
                if items.len() != end {
                    return Err(Failure::new("the vector has another length than the column"));
                }
                *rows += 1;
                validity
            }
            Self::Tuple {
                names,
                elements,
                rows,
                validity,
                data_type,
                ..
            } => {
                *rows += 1;
                for (element, name) in elements.iter().zip(names) {
                    if element.len() != *rows {
                        return Err(Failure::new(format!("{data_type} needs `{name}` once")));
                    }
                }
                validity
            }
        };
        if let Some(validity) = validity {
            validity.push(true);
        }
        Ok(())
    }
}

/// Adds the key of a pair whose value is next.
fn key<T: ?Sized + Serialize>(pairs: &mut Builder, name: &T) -> Done {
    match &mut pairs.data {
        Data::Tuple { elements, .. } => match elements.first_mut() {
            Some(keys) => name.serialize(keys),
            None => Ok(()),
        },
        _ => Err(Failure::new("no map")),
    }
}

fn map_value<T: ?Sized + Serialize>(pairs: &mut Builder, value: &T) -> Done {
    match &mut pairs.data {
        Data::Tuple { elements, rows, .. } => {
            if let Some(values) = elements.get_mut(1) {
                value.serialize(values)?;
            }
            *rows += 1;
            Ok(())
        }
        _ => Err(Failure::new("no map")),
    }
}

impl SerializeSeq for Compound<'_> {
    type Ok = ();
    type Error = Failure;

    fn serialize_element<T: ?Sized + Serialize>(&mut self, value: &T) -> Done {
        self.item(value)
    }

    fn end(self) -> Done {
        self.done()
    }
}

impl SerializeTuple for Compound<'_> {
    type Ok = ();
    type Error = Failure;

    fn serialize_element<T: ?Sized + Serialize>(&mut self, value: &T) -> Done {
        self.item(value)
    }

    fn end(self) -> Done {
        self.done()
    }
}

impl SerializeTupleStruct for Compound<'_> {
    type Ok = ();
    type Error = Failure;

    fn serialize_field<T: ?Sized + Serialize>(&mut self, value: &T) -> Done {
        self.item(value)
    }

    fn end(self) -> Done {
        self.done()
    }
}

impl SerializeTupleVariant for Compound<'_> {
    type Ok = ();
    type Error = Failure;

    fn serialize_field<T: ?Sized + Serialize>(&mut self, value: &T) -> Done {
        self.item(value)
    }

    fn end(self) -> Done {
        self.done()
    }
}

impl SerializeMap for Compound<'_> {
    type Ok = ();
    type Error = Failure;

    fn serialize_key<T: ?Sized + Serialize>(&mut self, name: &T) -> Done {
        match self {
            Self::Map { pairs, .. } => key(pairs, name),
            // The keys of a map that is a tuple: in the order of its elements.
            Self::Tuple { names, at, .. } => {
                let mut names_of_keys = Builder::new(&DataType::String)?;
                name.serialize(&mut names_of_keys)?;
                let Data::Bytes { bytes, .. } = &names_of_keys.data else {
                    return Err(Failure::new("no text"));
                };
                match names.iter().position(|other| other.as_bytes() == *bytes) {
                    Some(position) => {
                        *at = position;
                        Ok(())
                    }
                    None => Err(Failure::new(format!(
                        "there is no element `{}`",
                        String::from_utf8_lossy(bytes)
                    ))),
                }
            }
            _ => Err(Failure::new("a sequence has no keys")),
        }
    }

    fn serialize_value<T: ?Sized + Serialize>(&mut self, value: &T) -> Done {
        match self {
            Self::Map { pairs, .. } => map_value(pairs, value),
            _ => self.item(value),
        }
    }

    fn end(self) -> Done {
        self.done()
    }
}

impl SerializeStruct for Compound<'_> {
    type Ok = ();
    type Error = Failure;

    fn serialize_field<T: ?Sized + Serialize>(&mut self, name: &'static str, value: &T) -> Done {
        self.named(name, value)
    }

    fn end(self) -> Done {
        self.done()
    }
}

impl SerializeStructVariant for Compound<'_> {
    type Ok = ();
    type Error = Failure;

    fn serialize_field<T: ?Sized + Serialize>(&mut self, name: &'static str, value: &T) -> Done {
        self.named(name, value)
    }

    fn end(self) -> Done {
        self.done()
    }
}
