//! What arrow-json's type inference loses: the order of members, and numbers that a floating-point number cannot represent.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use arrow_schema::{DataType, Field, FieldRef, Fields};
use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use crate::sink::DENORMALS;

/// From here on arrow-json infers floating-point for whole numbers.
const BEYOND_64_BITS: f64 = 9_223_372_036_854_775_808.0;

/// The limit of a decimal of 38 digits.
const DECIMAL_MAX: f64 = 1e38;

/// The type of whole numbers beyond 64 bits.
const WIDE: DataType = DataType::Decimal128(38, 0);

/// The properties of the values at one path.
#[derive(Debug, Default)]
pub(super) struct Shape {
    /// The members of objects, in order of appearance.
    names: Vec<String>,
    members: HashMap<String, Shape>,
    /// The elements of arrays.
    elements: Option<Box<Shape>>,
    has_wide_number: bool,
    /// Whether there is a number with a fraction, or one too large for a decimal.
    has_fraction: bool,
    has_number: bool,
    /// Whether there is a NaN or an infinity, which are written as text.
    has_denormal: bool,
    has_text: bool,
}

impl Shape {
    /// Merges another shape. Returns how many members were added.
    pub(super) fn add(&mut self, other: Self) -> usize {
        let mut members = other.members;
        let mut added = 0;
        for name in other.names {
            let Some(member) = members.remove(&name) else { continue };
            added += self.add_member(name, member);
        }
        if let Some(elements) = other.elements {
            added += self.elements.get_or_insert_default().add(*elements);
        }
        self.has_wide_number |= other.has_wide_number;
        self.has_fraction |= other.has_fraction;
        self.has_number |= other.has_number;
        self.has_denormal |= other.has_denormal;
        self.has_text |= other.has_text;
        added
    }

    fn add_member(&mut self, name: String, member: Self) -> usize {
        match self.members.get_mut(&name) {
            Some(known) => known.add(member),
            None => {
                let added = 1 + member.member_count();
                self.names.push(name.clone());
                self.members.insert(name, member);
                added
            }
        }
    }

    fn member_count(&self) -> usize {
        let members = self.members.values().map(|member| 1 + member.member_count());
        members.sum::<usize>() + self.elements.as_ref().map_or(0, |elements| elements.member_count())
    }

    fn of_float(value: f64) -> Self {
        let is_wide = value.abs() >= BEYOND_64_BITS && value.abs() < DECIMAL_MAX;
        Self {
            has_wide_number: is_wide,
            has_fraction: !is_wide,
            has_number: true,
            ..Self::default()
        }
    }

    fn of_whole(is_wide: bool) -> Self {
        Self {
            has_wide_number: is_wide,
            has_number: true,
            ..Self::default()
        }
    }

    /// The inferred fields, in the order of the members, with types that hold every value.
    pub(super) fn fields(&self, inferred: &Fields) -> Fields {
        let mut places: Vec<usize> = (0..inferred.len()).collect();
        let order: HashMap<&str, usize> = self
            .names
            .iter()
            .enumerate()
            .map(|(place, name)| (name.as_str(), place))
            .collect();
        places.sort_by_key(|place| order.get(inferred[*place].name().as_str()));
        let fields = places.into_iter().map(|place| self.field_of(&inferred[place]));
        fields.collect()
    }

    fn field_of(&self, inferred: &FieldRef) -> FieldRef {
        match self.members.get(inferred.name()) {
            Some(member) => member.field(inferred),
            None => Arc::clone(inferred),
        }
    }

    fn field(&self, inferred: &FieldRef) -> FieldRef {
        let data_type = match inferred.data_type() {
            DataType::Struct(fields) => DataType::Struct(self.fields(fields)),
            DataType::List(element) => match &self.elements {
                Some(elements) => DataType::List(elements.field(element)),
                None => return Arc::clone(inferred),
            },
            DataType::Float64 if self.has_wide_number && !self.has_fraction => WIDE,
            DataType::Utf8 if self.has_number && self.has_denormal && !self.has_text => DataType::Float64,
            _ => return Arc::clone(inferred),
        };
        Arc::new(Field::clone(inferred).with_data_type(data_type))
    }
}

/// How many previous elements of an array are compared with a new one, to drop duplicates.
const LOOKED_BACK: usize = 4;

/// A value with its shape. The value is a representative of its type, so that a large array of numbers becomes small.
pub(super) struct Shaped {
    pub(super) value: Value,
    pub(super) shape: Shape,
}

impl Shaped {
    fn new(value: impl Into<Value>, shape: Shape) -> Self {
        Self {
            value: value.into(),
            shape,
        }
    }
}

impl<'de> Deserialize<'de> for Shaped {
    fn deserialize<D: Deserializer<'de>>(text: D) -> Result<Self, D::Error> {
        text.deserialize_any(Any)
    }
}

/// An object.
pub(super) struct Record(pub(super) Shaped);

impl<'de> Deserialize<'de> for Record {
    fn deserialize<D: Deserializer<'de>>(text: D) -> Result<Self, D::Error> {
        text.deserialize_map(Object).map(Self)
    }
}

struct Object;

impl<'de> Visitor<'de> for Object {
    type Value = Shaped;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<Shaped, A::Error> {
        Any.visit_map(members)
    }
}

struct Any;

impl<'de> Visitor<'de> for Any {
    type Value = Shaped;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E: Error>(self) -> Result<Shaped, E> {
        Ok(Shaped::new(Value::Null, Shape::default()))
    }

    fn visit_bool<E: Error>(self, _value: bool) -> Result<Shaped, E> {
        Ok(Shaped::new(false, Shape::default()))
    }

    fn visit_i64<E: Error>(self, _value: i64) -> Result<Shaped, E> {
        Ok(Shaped::new(0, Shape::of_whole(false)))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Shaped, E> {
        let is_wide = i64::try_from(value).is_err();
        let value = if is_wide { u64::MAX } else { 0 };
        Ok(Shaped::new(value, Shape::of_whole(is_wide)))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Shaped, E> {
        Ok(Shaped::new(0.5, Shape::of_float(value)))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Shaped, E> {
        let has_denormal = DENORMALS.contains(&value);
        let shape = Shape {
            has_denormal,
            has_text: !has_denormal,
            ..Shape::default()
        };
        Ok(Shaped::new("", shape))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Shaped, A::Error> {
        let (mut values, mut all) = (Vec::new(), Shape::default());
        while let Some(Shaped { value, shape }) = elements.next_element()? {
            let mut last = values.iter().rev().take(LOOKED_BACK);
            if !last.any(|known| *known == value) {
                values.push(value);
            }
            all.add(shape);
        }
        let shape = Shape {
            elements: Some(Box::new(all)),
            ..Shape::default()
        };
        Ok(Shaped::new(values, shape))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Shaped, A::Error> {
        let (mut values, mut all) = (Map::new(), Shape::default());
        while let Some((name, Shaped { value, shape })) = members.next_entry::<String, Shaped>()? {
            all.add_member(name.clone(), shape);
            values.insert(name, value);
        }
        Ok(Shaped::new(Value::Object(values), all))
    }
}

#[cfg(test)]
mod tests {
    use arrow_json::reader::infer_json_schema_from_iterator;

    use super::*;

    /// The columns of records, and their types.
    fn columns(records: &str) -> Vec<String> {
        let mut shape = Shape::default();
        let records = serde_json::Deserializer::from_str(records).into_iter::<Record>();
        let values: Vec<_> = records
            .map(|record| {
                let Record(Shaped { value, shape: found }) = record.expect("a record");
                shape.add(found);
                Ok(value)
            })
            .collect();
        let inferred = infer_json_schema_from_iterator(values.into_iter()).expect("columns");
        let fields = shape.fields(inferred.fields());
        fields
            .iter()
            .map(|field| format!("{}: {}", field.name(), field.data_type()))
            .collect()
    }

    #[test]
    fn whole_numbers_beyond_64_bits_are_decimals() {
        assert_eq!(columns(r#"{"n":9223372036854775807}"#), ["n: Int64"]);
        for wide in [
            "9223372036854775808",
            "-9223372036854775809",
            "18446744073709551616",
            "12345678901234567890123456789012345678",
        ] {
            assert_eq!(
                columns(&format!(r#"{{"n":1}}{{"n":{wide}}}"#)),
                ["n: Decimal128(38, 0)"],
                "{wide}"
            );
            let fraction = format!(r#"{{"n":{wide}}}{{"n":1.5}}"#);
            assert_eq!(columns(&fraction), ["n: Float64"], "{wide}");
        }
        assert_eq!(columns(r#"{"n":1e300}"#), ["n: Float64"]);
        assert_eq!(
            columns(r#"{"l":[1,18446744073709551615],"s":{"n":18446744073709551615}}"#),
            ["l: List(Decimal128(38, 0))", "s: Struct(\"n\": Decimal128(38, 0))"]
        );
    }

    #[test]
    fn an_array_keeps_one_element_of_a_type() {
        let record = r#"{"a":[1,2,"x",3,"y",null,[1.5,2.5],[2.5],{"b":1},{"b":2}]}"#;
        let Record(Shaped { value, .. }) = serde_json::from_str(record).expect("a record");
        assert_eq!(value.to_string(), r#"{"a":[0,"",null,[0.5],{"b":0}]}"#);
    }

    #[test]
    fn members_are_in_their_order() {
        assert_eq!(
            columns(r#"{"z":1,"s":{"y":1,"b":2}}{"a":[{"q":1,"c":2}],"s":{"a":1}}"#),
            [
                "z: Int64",
                "s: Struct(\"y\": Int64, \"b\": Int64, \"a\": Int64)",
                "a: List(Struct(\"q\": Int64, \"c\": Int64))"
            ]
        );
    }

    #[test]
    fn texts_of_floating_point_numbers_are_numbers_among_numbers() {
        assert_eq!(columns(r#"{"n":1.5}{"n":"NaN"}{"n":"-Infinity"}"#), ["n: Float64"]);
        assert_eq!(columns(r#"{"n":1.5}{"n":"nan"}"#), ["n: Utf8"]);
        assert_eq!(columns(r#"{"n":"NaN"}"#), ["n: Utf8"]);
    }
}
