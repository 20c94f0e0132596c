//! Values of Rust for a column, by serde: which of [`push`](super::push) each is for, and values that have others in them.

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
    builder::{Builder, Data},
    push::Done,
};
use crate::DataType;

impl Builder {
    /// Begins a value that has others in it.
    fn begin(&mut self, what: &'static str, shape: Shape) -> Result<Compound<'_>, Failure> {
        let data_type = self.plain_type().clone();
        let is_bytes = match (&self.data, shape) {
            (Data::Bytes { .. } | Data::Fixed(..), Shape::List) => !matches!(data_type, DataType::Json(_)),
            (Data::UInt32(_), Shape::List) => data_type == DataType::Ipv4,
            _ => false,
        };
        if is_bytes {
            return Ok(Compound::Bytes {
                items: Self::new(&DataType::UInt8)?,
                target: self,
            });
        }
        if shape != Shape::List && matches!(data_type, DataType::Json(_)) {
            return Ok(Compound::json(self, "}"));
        }
        if let Data::Union { members, .. } = &self.data {
            let takes = |member: &Self| {
                let is_json = matches!(member.plain_type(), DataType::Json(_));
                (is_json && shape != Shape::List)
                    || matches!(
                        (&member.data, shape),
                        (Data::List { .. } | Data::Tuple { .. }, Shape::List)
                            | (Data::Map { .. }, Shape::Map)
                            | (Data::Tuple { .. }, Shape::Struct)
                    )
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

    /// Begins an object of `JSON` whose only key is the variant of an enum.
    fn begin_variant(&mut self, variant: &str, [begin, end]: [&'static str; 2]) -> Result<Compound<'_>, Failure> {
        let mut text = vec![b'{'];
        Compound::json_key(&mut text, variant)?;
        text.extend_from_slice(begin.as_bytes());
        let target = self;
        Ok(Compound::Json { text, end, target })
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
        if matches!(self.plain_type(), DataType::Json(_)) {
            let mut object = self.begin_variant(variant, ["", "}"])?;
            object.item(value)?;
            return object.done();
        }
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
        if matches!(self.plain_type(), DataType::Json(_)) {
            return self.begin_variant(variant, ["[", "]}"]);
        }
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
        if matches!(self.plain_type(), DataType::Json(_)) {
            return self.begin_variant(variant, ["{", "}}"]);
        }
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
        /// How many items there are after it.
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
    /// The text of an object, which grows.
    Json {
        text: Vec<u8>,
        end: &'static str,
        target: &'a mut Builder,
    },
}

impl<'a> Compound<'a> {
    fn json(target: &'a mut Builder, end: &'static str) -> Self {
        Self::Json {
            text: vec![b'{'],
            end,
            target,
        }
    }

    /// Adds what separates parts of an object's text, and the next part.
    fn json_part<T: ?Sized + Serialize>(text: &mut Vec<u8>, part: &T) -> Done {
        if !matches!(text.last(), Some(b'{' | b'[' | b':')) {
            text.push(b',');
        }
        serde_json::to_writer(text, part).map_err(|error| Failure::new(error.to_string()))
    }

    fn json_key<T: ?Sized + Serialize>(text: &mut Vec<u8>, key: &T) -> Done {
        Self::json_part(text, key)?;
        if text.last() != Some(&b'"') {
            return Err(Failure::new("the keys of JSON are text"));
        }
        text.push(b':');
        Ok(())
    }

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
            Self::Json { text, .. } => Self::json_part(text, value),
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
            Self::Json { text, .. } => {
                Self::json_key(text, name)?;
                Self::json_part(text, value)
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
            Self::Json { mut text, end, target } => {
                text.extend_from_slice(end.as_bytes());
                return target.push_bytes(&text);
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
            Self::Json { text, .. } => Self::json_key(text, name),
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
