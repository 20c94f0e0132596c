//! What a statement gives back.

use std::sync::Arc;

use arrow_array::RecordBatch;
use tidemill_xbase::aof::Filter;
use tidemill_xbase::expression::Syntax;

use super::tables::Snapshot;
use super::value::Type;
use crate::FieldType;

/// What a statement gives back.
#[derive(Debug)]
#[non_exhaustive]
pub enum Answer {
    /// Rows in memory: a static cursor.
    Rows(Rows),
    /// A table, a filter and an order: a live cursor.
    Live(Box<Live>),
    /// So many records were changed.
    Changed(u64),
    /// It is done, and there is nothing to say.
    Done,
}

impl Answer {
    /// How many records were changed, by a statement that changes some.
    pub(super) fn affected(&self) -> Option<u64> {
        match self {
            Self::Changed(count) => Some(*count),
            _ => None,
        }
    }
}

/// Rows in memory.
#[derive(Debug, Clone)]
pub struct Rows {
    /// The columns.
    pub columns: Vec<ColumnDescription>,
    /// The rows; each batch has the columns in their order.
    pub batches: Vec<RecordBatch>,
}

impl Rows {
    /// How many rows there are.
    pub fn count(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }
}

/// The description of a column that clients get.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnDescription {
    /// Its name.
    pub name: String,
    /// Its type.
    pub field_type: FieldType,
    /// Its width in bytes, as a field of a DBF has one; 0 for memos.
    pub length: u32,
    /// The digits behind the point.
    pub decimals: u16,
}

/// A live cursor: the records of one table that fulfil a condition, in an order. What is written through it, and what others write, shows
/// in it.
#[derive(Debug)]
pub struct Live {
    /// The table as it was when the statement ran.
    pub snapshot: Arc<Snapshot>,
    /// The condition as an xBase expression, for [`Filter::from_syntax`](tidemill_xbase::aof::Filter::from_syntax); `None`: all records.
    /// Records that are marked as deleted are left to the connection.
    pub filter: Option<Arc<Syntax>>,
    /// The same, compiled for tables of this structure.
    pub compiled: Option<Filter>,
    /// The order by its name, and whether it is walked from its end.
    pub order: Option<(String, bool)>,
    /// The columns that it shows: their names, and the fields of the table by their place.
    pub columns: Arc<[(String, usize)]>,
}

impl ColumnDescription {
    /// A field of a table under a name.
    pub(super) fn of_field(name: String, field: &tidemill_xbase::Field, table: &tidemill_xbase::Table) -> Self {
        let field_type = FieldType::of(field, table.header().dialect);
        let is_memo = matches!(
            field_type,
            FieldType::Memo | FieldType::Binary | FieldType::Image | FieldType::NMemo
        );
        let width = match field_type {
            FieldType::NChar => field.width / 2,
            _ => field.width,
        };
        Self {
            name,
            field_type,
            length: if is_memo {
                0
            } else {
                u32::try_from(width).unwrap_or(u32::MAX)
            },
            decimals: u16::from(field.decimals),
        }
    }

    /// A computed column.
    pub(super) fn of_type(name: String, type_of: Type) -> Self {
        let (field_type, length, decimals) = match type_of {
            Type::Text(0) | Type::Memo => (FieldType::Memo, 0, 0),
            Type::Text(length) => (FieldType::String, length, 0),
            Type::Integer => (FieldType::Integer, 4, 0),
            Type::Decimal(scale) => (FieldType::Numeric, 20, u16::from(scale)),
            Type::Double => (FieldType::Double, 8, 4),
            Type::Unknown | Type::Logical => (FieldType::Logical, 1, 0),
            Type::Date => (FieldType::Date, 4, 0),
            Type::Time => (FieldType::Time, 4, 0),
            Type::Timestamp => (FieldType::Timestamp, 8, 0),
            Type::Bytes => (FieldType::Binary, 0, 0),
        };
        Self {
            name,
            field_type,
            length,
            decimals,
        }
    }
}
