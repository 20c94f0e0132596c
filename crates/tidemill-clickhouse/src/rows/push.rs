//! Single values of Rust for a column: whether they fit its type, and in which form they are kept.
//!
//! A value that does not fit is refused before any of it is in the column.

use std::net::{Ipv4Addr, Ipv6Addr};

use arrow_buffer::i256;

use super::{
    Failure,
    builder::{Builder, Data, NULL_ID},
    text,
};
use crate::{
    DataType,
    arrow_type::{StringType, arrow_type, precision},
};

pub(super) type Done = Result<(), Failure>;

impl Builder {
    /// Says that the value that was pushed is one.
    pub(super) fn valid(&mut self) -> Done {
        if let Some(validity) = &mut self.validity {
            validity.push(true);
        }
        Ok(())
    }

    pub(super) fn unfit(&self, found: impl std::fmt::Display) -> Failure {
        Failure::new(format!("{found} does not fit {}", self.data_type))
    }

    pub(super) fn push_null(&mut self) -> Done {
        match &self.data {
            _ if self.validity.is_some() => {}
            Data::Union { .. } | Data::Nothing(_) => {}
            _ => return Err(self.unfit("NULL")),
        }
        self.push_default();
        Ok(())
    }

    /// An integer; `natural` is the type of ClickHouse that is the same.
    pub(super) fn push_integer(&mut self, number: i128, natural: DataType) -> Done {
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
    pub(super) fn push_wide(&mut self, number: i256) -> Done {
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

    pub(super) fn push_days(&mut self, days: i32) -> Done {
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

    pub(super) fn push_ticks(&mut self, ticks: i64) -> Done {
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

    pub(super) fn push_float(&mut self, number: f64, natural: DataType) -> Done {
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

    pub(super) fn push_bool(&mut self, value: bool) -> Done {
        match &mut self.data {
            Data::Bool(values) => values.push(value),
            Data::UInt8(values) => values.push(value.into()),
            Data::Union { .. } => return self.push_member(DataType::Bool, |member, _| member.push_bool(value)),
            _ => return Err(self.unfit(value)),
        }
        self.valid()
    }

    pub(super) fn push_text(&mut self, value: &str) -> Done {
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

    pub(super) fn push_bytes(&mut self, value: &[u8]) -> Done {
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
    pub(super) fn push_member(&mut self, natural: DataType, push: impl Fn(&mut Self, DataType) -> Done) -> Done {
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
    pub(super) fn add_member(&mut self, data_type: &DataType) -> Result<usize, Failure> {
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
    pub(super) fn begin_member<T>(
        &mut self,
        position: usize,
        push: impl FnOnce(&mut Self) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
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
        let done = match push(member) {
            Ok(done) => done,
            Err(failure) => {
                // No row of the union knows of what was begun.
                member.truncate(offset);
                return Err(failure);
            }
        };
        ids.push(id.min(NULL_ID - 1));
        offsets.push(i32::try_from(offset).unwrap_or(i32::MAX));
        Ok(done)
    }

    /// The member of a union that is named as this type.
    pub(super) fn named_member(&mut self, name: &str) -> Result<usize, Failure> {
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
}
