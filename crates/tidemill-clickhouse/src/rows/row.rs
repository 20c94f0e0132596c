//! A row for serde: its columns by name or by position.

use serde::{
    Deserializer,
    de::{DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor, value::BorrowedStrDeserializer},
};

use super::{Failure, column::Column, value::Value};

/// What was learned from the row before.
///
/// A struct whose every name is that of a column, and which took them all, has these fields and no others under other names:
/// had two of them been one field, serde would have refused the second. So further rows are given by position, in the order
/// of the fields, and no name is compared.
#[derive(Default)]
pub(crate) struct Plan {
    fields: &'static [&'static str],
    /// The column of each field, once that is sure.
    order: Vec<usize>,
    is_learned: bool,
    is_refused: bool,
}

impl Plan {
    /// Goes back to names, for good. Whether that is another way.
    pub(super) fn forget(&mut self) -> bool {
        self.is_refused |= self.is_learned;
        std::mem::take(&mut self.is_learned)
    }

    /// Takes note that the columns of the next block may stand in another order.
    pub(crate) fn begin_block(&mut self) {
        self.is_learned = false;
    }

    fn knows(&self, fields: &'static [&'static str]) -> bool {
        self.is_learned && std::ptr::eq(self.fields, fields)
    }

    fn learn(&mut self, fields: &'static [&'static str], columns: &[Column]) {
        if self.is_refused {
            return;
        }
        let position = |field: &&str| columns.iter().position(|column| *column.name == **field);
        if let Some(order) = fields.iter().map(position).collect::<Option<Vec<_>>>() {
            (self.fields, self.order, self.is_learned) = (fields, order, true);
        }
    }
}

/// A row of a block.
pub(super) struct Row<'de, 'p> {
    columns: &'de [Column],
    row: usize,
    plan: &'p mut Plan,
}

impl<'de, 'p> Row<'de, 'p> {
    pub(super) fn new(columns: &'de [Column], row: usize, plan: &'p mut Plan) -> Self {
        Self { columns, row, plan }
    }

    /// The only column.
    fn only(&self) -> Option<Only<'de>> {
        match self.columns {
            [column] => Some(Only(Value { column, row: self.row })),
            _ => None,
        }
    }

    fn one(&self) -> Result<Only<'de>, Failure> {
        let refused = || Failure::new(format!("one column is needed, and there are {}", self.columns.len()));
        self.only().ok_or_else(refused)
    }

    fn by_name(&self) -> ByName<'de> {
        ByName {
            left: self.columns.iter(),
            row: self.row,
            value: None,
        }
    }

    fn by_position(&self) -> ByPosition<'de, std::slice::Iter<'de, Column>> {
        ByPosition {
            left: self.columns.iter(),
            row: self.row,
        }
    }
}

macro_rules! forward_to_the_only_column {
    ($($method:ident($($argument:ident: $kind:ty),*))*) => {$(
        fn $method<V: Visitor<'de>>(self, $($argument: $kind,)* visitor: V) -> Result<V::Value, Failure> {
            let only = self.one()?;
            only.placed::<V::Value>(only.0.$method($($argument,)* visitor))
        }
    )*};
}

impl<'de> Deserializer<'de> for Row<'de, '_> {
    type Error = Failure;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        visitor.visit_map(self.by_name())
    }

    forward_to_the_only_column! {
        deserialize_bool() deserialize_i8() deserialize_i16() deserialize_i32() deserialize_i64() deserialize_i128()
        deserialize_u8() deserialize_u16() deserialize_u32() deserialize_u64() deserialize_u128()
        deserialize_f32() deserialize_f64() deserialize_char() deserialize_str() deserialize_string()
        deserialize_bytes() deserialize_byte_buf() deserialize_option() deserialize_identifier()
        deserialize_enum(name: &'static str, variants: &'static [&'static str])
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        visitor.visit_unit()
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Failure> {
        visitor.visit_unit()
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Failure> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        match self.only() {
            Some(only) => only.placed::<V::Value>(only.0.deserialize_seq(visitor)),
            None => visitor.visit_seq(self.by_position()),
        }
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value, Failure> {
        match self.only() {
            Some(only) if length != 1 => only.placed::<V::Value>(only.0.deserialize_tuple(length, visitor)),
            _ if length == self.columns.len() => visitor.visit_seq(self.by_position()),
            _ => Err(Failure::new(format!(
                "there are {} columns for {length} elements",
                self.columns.len()
            ))),
        }
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, Failure> {
        self.deserialize_tuple(length, visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        visitor.visit_map(self.by_name())
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Failure> {
        if self.plan.knows(fields) {
            let columns = self.columns;
            return visitor.visit_seq(ByPosition {
                left: self.plan.order.iter().filter_map(|column| columns.get(*column)),
                row: self.row,
            });
        }
        let value = visitor.visit_map(self.by_name())?;
        self.plan.learn(fields, self.columns);
        Ok(value)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        visitor.visit_unit()
    }
}

/// The value of the only column.
struct Only<'de>(Value<'de>);

impl Only<'_> {
    fn placed<T>(&self, result: Result<T, Failure>) -> Result<T, Failure> {
        result.map_err(|failure| failure.at::<T>(&self.0.column.name, &self.0.column.data_type))
    }
}

struct ByName<'de> {
    left: std::slice::Iter<'de, Column>,
    row: usize,
    value: Option<&'de Column>,
}

impl<'de> MapAccess<'de> for ByName<'de> {
    type Error = Failure;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Failure> {
        let Some(column) = self.left.next() else {
            return Ok(None);
        };
        self.value = Some(column);
        seed.deserialize(BorrowedStrDeserializer::new(&column.name)).map(Some)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Failure> {
        match self.value.take() {
            Some(column) => cell(column, self.row, seed),
            None => Err(Failure::custom("a value was asked for before its key")),
        }
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.left.len())
    }
}

struct ByPosition<'de, I: Iterator<Item = &'de Column>> {
    left: I,
    row: usize,
}

impl<'de, I: Iterator<Item = &'de Column>> SeqAccess<'de> for ByPosition<'de, I> {
    type Error = Failure;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Failure> {
        let row = self.row;
        self.left.next().map(|column| cell(column, row, seed)).transpose()
    }
}

/// The value of a column, whose name errors have.
fn cell<'de, T: DeserializeSeed<'de>>(column: &'de Column, row: usize, seed: T) -> Result<T::Value, Failure> {
    seed.deserialize(Value { column, row })
        .map_err(|failure| failure.at::<T::Value>(&column.name, &column.data_type))
}
