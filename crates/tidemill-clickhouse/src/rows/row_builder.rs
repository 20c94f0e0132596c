//! Rows of Rust values for the columns of a block.

use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchOptions};
use arrow_schema::{Field, Schema};
use serde::{
    Serialize, Serializer,
    ser::{Impossible, SerializeMap, SerializeSeq, SerializeStruct, SerializeTuple, SerializeTupleStruct},
};

use super::{
    Failure,
    builder::{Builder, Data},
};
#[cfg(feature = "client")]
use crate::insert_text::Literal;
use crate::{Block, BlockInfo, DataType, Result};

/// Makes blocks of rows: each row is a struct or a map, whose fields are the columns, a tuple of as many elements, or the
/// value of the only column.
///
/// ```
/// use serde::Serialize;
/// use tidemill_clickhouse::rows::RowsBuilder;
///
/// #[derive(Serialize)]
/// struct Row<'a> {
///     n: u8,
///     name: &'a str,
/// }
///
/// let columns = [("n".to_owned(), "UInt8".parse()?), ("name".to_owned(), "String".parse()?)];
/// let mut rows = RowsBuilder::new(columns)?;
/// rows.push(&Row { n: 7, name: "tide" })?;
/// rows.push(&(8, "ebb"))?;
/// assert!(rows.push(&(300, "flow")).is_err());
/// assert_eq!(rows.finish()?.rows(), 2);
/// # Ok::<(), tidemill_clickhouse::Error>(())
/// ```
pub struct RowsBuilder {
    names: Vec<String>,
    types: Vec<DataType>,
    columns: Vec<Builder>,
    rows: usize,
    before: u64,
}

impl RowsBuilder {
    /// Begins with no rows, for columns of these names and types.
    ///
    /// # Errors
    ///
    /// [`Error::Row`](crate::Error::Row) for a type that has no values of its own.
    pub fn new(columns: impl IntoIterator<Item = (String, DataType)>) -> Result<Self> {
        let (names, types): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
        let columns = names.iter().zip(&types).map(|(name, data_type)| {
            Builder::new(data_type).map_err(|failure| failure.at::<()>(name, data_type).in_row::<()>(0))
        });
        Ok(Self {
            columns: columns.collect::<Result<_>>()?,
            names,
            types,
            rows: 0,
            before: 0,
        })
    }

    /// Adds a row.
    ///
    /// # Errors
    ///
    /// [`Error::Row`](crate::Error::Row) when a value does not fit its column, a column has none, or a field has no column.
    /// Then nothing of the row is added.
    pub fn push<T: ?Sized + Serialize>(&mut self, row: &T) -> Result<()> {
        let mut result = row.serialize(RowSerializer(self));
        if result.is_ok() {
            result = self.is_complete();
        }
        if let Err(failure) = result {
            self.columns.iter_mut().for_each(|column| column.truncate(self.rows));
            return Err(failure.in_row::<T>(self.before + self.rows as u64));
        }
        self.rows += 1;
        Ok(())
    }

    /// Adds a row of values whose text was read, in the order of the columns. `zone` is that of instants without one of their own.
    ///
    /// # Errors
    ///
    /// Those of [`RowsBuilder::push`].
    #[cfg(feature = "client")]
    pub(crate) fn push_literals(&mut self, row: &[Literal], zone: &str) -> Result<()> {
        let mut result = match row.len() == self.columns.len() {
            true => Ok(()),
            false => Err(Failure::new(format!(
                "{} values for {} columns",
                row.len(),
                self.columns.len()
            ))),
        };
        for ((column, name), literal) in self.columns.iter_mut().zip(&self.names).zip(row) {
            if result.is_ok() {
                let pushed = column.push_literal(literal, zone);
                result = pushed.map_err(|failure| failure.at::<Literal>(name, &column.data_type));
            }
        }
        if let Err(failure) = result {
            self.columns.iter_mut().for_each(|column| column.truncate(self.rows));
            return Err(failure.in_row_of_text(self.before + self.rows as u64));
        }
        self.rows += 1;
        Ok(())
    }

    /// The number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// About how many bytes the rows take.
    #[must_use]
    pub fn size(&self) -> usize {
        self.columns.iter().map(Builder::size).sum()
    }

    /// The rows as a block; the builder has none then.
    ///
    /// Text is [`Binary`](arrow_schema::DataType::Binary).
    ///
    /// # Errors
    ///
    /// Those of Arrow, when columns do not hold together.
    pub fn finish(&mut self) -> Result<Block> {
        let mut fields = Vec::with_capacity(self.columns.len());
        let mut arrays = Vec::with_capacity(self.columns.len());
        for (column, name) in self.columns.iter_mut().zip(&self.names) {
            let array = column.finish()?;
            fields.push(Field::new(name, array.data_type().clone(), true));
            arrays.push(array);
        }
        self.before += self.rows as u64;
        let rows = std::mem::take(&mut self.rows);
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        Ok(Block {
            batch: RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays, &options)?,
            types: self.types.clone(),
            info: BlockInfo::default(),
        })
    }

    fn is_complete(&self) -> Result<(), Failure> {
        for (column, name) in self.columns.iter().zip(&self.names) {
            if column.len() != self.rows + 1 {
                let problem = if column.len() == self.rows {
                    "the row has no such field"
                } else {
                    "the row has it twice"
                };
                return Err(Failure::new(problem).at::<()>(name, &column.data_type));
            }
        }
        Ok(())
    }

    fn put<T: ?Sized + Serialize>(&mut self, position: usize, value: &T) -> Result<(), Failure> {
        let (Some(column), Some(name)) = (self.columns.get_mut(position), self.names.get(position)) else {
            return Err(Failure::new(format!("there are {} columns", self.columns.len())));
        };
        value
            .serialize(&mut *column)
            .map_err(|failure| failure.at::<T>(name, &column.data_type))
    }

    fn position(&self, name: &str, likely: usize) -> Option<usize> {
        if self.names.get(likely).is_some_and(|next| next == name) {
            return Some(likely);
        }
        self.names.iter().position(|other| other == name)
    }
}

impl std::fmt::Debug for RowsBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RowsBuilder")
            .field("names", &self.names)
            .field("types", &self.types)
            .field("rows", &self.rows)
            .finish_non_exhaustive()
    }
}

/// The names of the fields of a row, if it is a struct or a map of text.
pub(crate) fn field_names<T: ?Sized + Serialize>(row: &T) -> Vec<String> {
    let mut names = Names(Vec::new());
    match row.serialize(&mut names) {
        Ok(()) => names.0,
        Err(_) => Vec::new(),
    }
}

struct RowSerializer<'a>(&'a mut RowsBuilder);

macro_rules! only_column {
    ($($method:ident($kind:ty))*) => {$(
        fn $method(self, value: $kind) -> Result<(), Failure> {
            self.only(&value)
        }
    )*};
}

impl RowSerializer<'_> {
    fn only<T: ?Sized + Serialize>(self, value: &T) -> Result<(), Failure> {
        match self.0.columns.len() {
            1 => self.0.put(0, value),
            columns => Err(Failure::new(format!("one value for {columns} columns"))),
        }
    }
}

impl<'a> Serializer for RowSerializer<'a> {
    type Ok = ();
    type Error = Failure;
    type SerializeSeq = Parts<'a>;
    type SerializeTuple = Parts<'a>;
    type SerializeTupleStruct = Parts<'a>;
    type SerializeTupleVariant = Impossible<(), Failure>;
    type SerializeMap = Parts<'a>;
    type SerializeStruct = Parts<'a>;
    type SerializeStructVariant = Impossible<(), Failure>;

    only_column! {
        serialize_bool(bool) serialize_i8(i8) serialize_i16(i16) serialize_i32(i32) serialize_i64(i64)
        serialize_i128(i128) serialize_u8(u8) serialize_u16(u16) serialize_u32(u32) serialize_u64(u64)
        serialize_u128(u128) serialize_f32(f32) serialize_f64(f64) serialize_char(char) serialize_str(&str)
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), Failure> {
        self.only(value)
    }

    fn serialize_none(self) -> Result<(), Failure> {
        self.only(&None::<()>)
    }

    fn serialize_some<T: ?Sized + Serialize>(self, value: &T) -> Result<(), Failure> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Failure> {
        self.only(&())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Failure> {
        self.only(&())
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<(), Failure> {
        self.only(variant)
    }

    fn serialize_newtype_struct<T: ?Sized + Serialize>(self, _: &'static str, value: &T) -> Result<(), Failure> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: ?Sized + Serialize>(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Failure> {
        self.only(&Variant {
            name,
            index,
            variant,
            value,
        })
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Parts<'a>, Failure> {
        Ok(Parts { rows: self.0, at: 0 })
    }

    fn serialize_tuple(self, _: usize) -> Result<Parts<'a>, Failure> {
        Ok(Parts { rows: self.0, at: 0 })
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Parts<'a>, Failure> {
        Ok(Parts { rows: self.0, at: 0 })
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Impossible<(), Failure>, Failure> {
        Err(Failure::new("a row is no variant of an enum"))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Parts<'a>, Failure> {
        Ok(Parts { rows: self.0, at: 0 })
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Parts<'a>, Failure> {
        Ok(Parts { rows: self.0, at: 0 })
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Impossible<(), Failure>, Failure> {
        Err(Failure::new("a row is no variant of an enum"))
    }
}

/// A variant with a value, as it came.
struct Variant<'a, T: ?Sized> {
    name: &'static str,
    index: u32,
    variant: &'static str,
    value: &'a T,
}

impl<T: ?Sized + Serialize> Serialize for Variant<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_newtype_variant(self.name, self.index, self.variant, self.value)
    }
}

/// The values of a row, one after another.
struct Parts<'a> {
    rows: &'a mut RowsBuilder,
    /// The column that is most likely next.
    at: usize,
}

impl Parts<'_> {
    fn next<T: ?Sized + Serialize>(&mut self, value: &T) -> Result<(), Failure> {
        self.at += 1;
        self.rows.put(self.at - 1, value)
    }

    fn find(&mut self, name: &str) -> Result<(), Failure> {
        match self.rows.position(name, self.at) {
            Some(position) => {
                self.at = position;
                Ok(())
            }
            None => Err(Failure::no_column(name)),
        }
    }
}

impl SerializeSeq for Parts<'_> {
    type Ok = ();
    type Error = Failure;

    fn serialize_element<T: ?Sized + Serialize>(&mut self, value: &T) -> Result<(), Failure> {
        self.next(value)
    }

    fn end(self) -> Result<(), Failure> {
        Ok(())
    }
}

impl SerializeTuple for Parts<'_> {
    type Ok = ();
    type Error = Failure;

    fn serialize_element<T: ?Sized + Serialize>(&mut self, value: &T) -> Result<(), Failure> {
        self.next(value)
    }

    fn end(self) -> Result<(), Failure> {
        Ok(())
    }
}

impl SerializeTupleStruct for Parts<'_> {
    type Ok = ();
    type Error = Failure;

    fn serialize_field<T: ?Sized + Serialize>(&mut self, value: &T) -> Result<(), Failure> {
        self.next(value)
    }

    fn end(self) -> Result<(), Failure> {
        Ok(())
    }
}

impl SerializeMap for Parts<'_> {
    type Ok = ();
    type Error = Failure;

    fn serialize_key<T: ?Sized + Serialize>(&mut self, key: &T) -> Result<(), Failure> {
        self.find(&text_of(key)?)
    }

    fn serialize_value<T: ?Sized + Serialize>(&mut self, value: &T) -> Result<(), Failure> {
        self.next(value)
    }

    fn end(self) -> Result<(), Failure> {
        Ok(())
    }
}

impl SerializeStruct for Parts<'_> {
    type Ok = ();
    type Error = Failure;

    fn serialize_field<T: ?Sized + Serialize>(&mut self, name: &'static str, value: &T) -> Result<(), Failure> {
        self.find(name)?;
        self.next(value)
    }

    fn end(self) -> Result<(), Failure> {
        Ok(())
    }
}

/// A key of a map as text.
fn text_of<T: ?Sized + Serialize>(key: &T) -> Result<String, Failure> {
    let mut text = Builder::new(&DataType::String)?;
    key.serialize(&mut text)?;
    match text.data {
        Data::Bytes { bytes, .. } => String::from_utf8(bytes).map_err(|_| Failure::new("a name that is not UTF-8")),
        _ => Err(Failure::new("a name that is no text")),
    }
}

/// Takes the names of fields, and none of their values.
struct Names(Vec<String>);

macro_rules! nameless {
    ($($method:ident($($argument:ty),*))*) => {$(
        fn $method(self $(, _: $argument)*) -> Result<(), Failure> {
            Ok(())
        }
    )*};
}

impl<'a> Serializer for &'a mut Names {
    type Ok = ();
    type Error = Failure;
    type SerializeSeq = Impossible<(), Failure>;
    type SerializeTuple = Impossible<(), Failure>;
    type SerializeTupleStruct = Impossible<(), Failure>;
    type SerializeTupleVariant = Impossible<(), Failure>;
    type SerializeMap = &'a mut Names;
    type SerializeStruct = &'a mut Names;
    type SerializeStructVariant = Impossible<(), Failure>;

    nameless! {
        serialize_bool(bool) serialize_i8(i8) serialize_i16(i16) serialize_i32(i32) serialize_i64(i64)
        serialize_i128(i128) serialize_u8(u8) serialize_u16(u16) serialize_u32(u32) serialize_u64(u64)
        serialize_u128(u128) serialize_f32(f32) serialize_f64(f64) serialize_char(char) serialize_str(&str)
        serialize_bytes(&[u8]) serialize_none() serialize_unit() serialize_unit_struct(&'static str)
        serialize_unit_variant(&'static str, u32, &'static str)
    }

    fn serialize_some<T: ?Sized + Serialize>(self, value: &T) -> Result<(), Failure> {
        value.serialize(self)
    }

    fn serialize_newtype_struct<T: ?Sized + Serialize>(self, _: &'static str, value: &T) -> Result<(), Failure> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: ?Sized + Serialize>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        value: &T,
    ) -> Result<(), Failure> {
        value.serialize(self)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Self::SerializeSeq, Failure> {
        Err(nameless())
    }

    fn serialize_tuple(self, _: usize) -> Result<Self::SerializeTuple, Failure> {
        Err(nameless())
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Self::SerializeTupleStruct, Failure> {
        Err(nameless())
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant, Failure> {
        Err(nameless())
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self, Failure> {
        Ok(self)
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self, Failure> {
        Ok(self)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStructVariant, Failure> {
        Err(nameless())
    }
}

fn nameless() -> Failure {
    Failure::new("elements without names")
}

impl SerializeMap for &mut Names {
    type Ok = ();
    type Error = Failure;

    fn serialize_key<T: ?Sized + Serialize>(&mut self, key: &T) -> Result<(), Failure> {
        self.0.push(text_of(key)?);
        Ok(())
    }

    fn serialize_value<T: ?Sized + Serialize>(&mut self, _: &T) -> Result<(), Failure> {
        Ok(())
    }

    fn end(self) -> Result<(), Failure> {
        Ok(())
    }
}

impl SerializeStruct for &mut Names {
    type Ok = ();
    type Error = Failure;

    fn serialize_field<T: ?Sized + Serialize>(&mut self, name: &'static str, _: &T) -> Result<(), Failure> {
        self.0.push(name.to_owned());
        Ok(())
    }

    fn end(self) -> Result<(), Failure> {
        Ok(())
    }

    fn skip_field(&mut self, name: &'static str) -> Result<(), Failure> {
        self.0.push(name.to_owned());
        Ok(())
    }
}
