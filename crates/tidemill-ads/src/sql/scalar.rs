//! Expressions of ADS SQL for engines that plan queries themselves: bound and evaluated as in the direct lanes, over columns that
//! the engine has.

use arrow_array::{ArrayRef, new_null_array};
use arrow_schema::DataType;
use sqlparser::ast;
use tidemill_xbase::expression::Environment;

use super::bind::{Parameters, Scope};
use super::error::{Error, Kind, Result};
use super::evaluate::{self, Evaluation};
use super::expression::{Blank, Column, Expr};
use super::prepared::Facts;
use super::tables::Clock;
use super::value::Type;
use super::vector::{Vector, data_type};

/// A column that an expression is over.
#[derive(Debug, Clone, PartialEq)]
pub struct ScalarColumn {
    /// Its name in the expression.
    pub name: String,
    /// Its type.
    pub type_of: Type,
    /// Whether `IS NULL` holds for a blank, as of a field of an xBase table.
    pub blank_is_null: bool,
}

/// An expression, bound to columns.
///
/// A blank date is [`EMPTY_DATE`](super::EMPTY_DATE) in what goes in and comes out, and a blank timestamp
/// [`EMPTY_TIMESTAMP`](super::EMPTY_TIMESTAMP).
#[derive(Debug)]
pub struct Scalar {
    expr: Expr,
    columns: Vec<Column>,
    facts: Facts,
    type_of: Type,
}

impl Scalar {
    /// Binds an expression. It knows the clock as it is given here, no parameters and no records.
    ///
    /// # Errors
    /// [`Kind::NoColumn`], [`Kind::NoFunction`], [`Kind::Type`]; [`Kind::NeedsAnalytical`] for aggregates, windows and subqueries.
    pub fn bind(expr: &ast::Expr, columns: &[ScalarColumn], environment: Environment, clock: Clock) -> Result<Self> {
        let columns = columns.iter().map(|column| Column {
            name: column.name.clone(),
            short_name: String::new(),
            type_of: column.type_of,
            blank: match column.blank_is_null {
                true => Blank::Null,
                false => Blank::Apart,
            },
            ignores_case: false,
        });
        let columns: Vec<Column> = columns.collect();
        let mut parameters = Parameters::default();
        let expr = Scope::new(&columns, Vec::new(), &mut parameters).bind(expr)?;
        if let Some(parameter) = parameters.names.first() {
            return Err(Error::new(
                Kind::Parameter,
                format!("There is no value for {parameter}"),
            ));
        }
        Ok(Self {
            type_of: expr.type_of(&columns, &[]),
            expr,
            columns,
            facts: Facts::alone(environment, clock),
        })
    }

    /// The type of its values.
    pub fn type_of(&self) -> Type {
        self.type_of
    }

    /// Whether it gives the same for the same values.
    pub fn is_volatile(&self) -> bool {
        let mut is_volatile = false;
        self.expr.visit(&mut |part| {
            is_volatile |= match part {
                Expr::Call(function, _) => function.is_volatile(),
                Expr::User(..) => true,
                _ => false,
            };
        });
        is_volatile
    }

    /// Its values over so many rows of the columns, which have the types of [`Type::data_type`].
    ///
    /// # Errors
    /// [`Kind::Value`] for values that cannot be converted, [`Kind::Type`] for a column of another type.
    pub fn evaluate(&self, arrays: &[ArrayRef], rows: usize) -> Result<ArrayRef> {
        let columns = self.columns.iter().zip(arrays);
        let vectors = columns.map(|(column, array)| {
            let width = match column.type_of {
                Type::Text(width) => width as usize,
                _ => 0,
            };
            Vector::of_column(array, width, Blank::Apart)
        });
        let frame = evaluate::Rows {
            rows,
            columns: &self.columns,
            vectors: vectors.collect::<Result<Vec<_>>>()?,
        };
        let session = self.facts.session(&[]);
        let made = Evaluation::new(&frame, &session).settled(&self.expr)?;
        match made.is_null() {
            true => Ok(new_null_array(&data_type(self.type_of), rows)),
            false => made.cast(self.type_of, rows)?.into_plain(rows),
        }
    }
}

impl Type {
    /// The type of values that an Arrow array holds; text of at most `width` characters, where that is known. `None` for types that
    /// ADS SQL has not.
    pub fn of_arrow(data_type: &DataType, width: Option<u32>) -> Option<Self> {
        Some(match data_type {
            DataType::Null => Self::Unknown,
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Self::Text(width.unwrap_or(0)),
            DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::Int64 => Self::Integer,
            DataType::UInt8 | DataType::UInt16 | DataType::UInt32 | DataType::UInt64 => Self::Integer,
            DataType::Float16 | DataType::Float32 | DataType::Float64 => Self::Double,
            DataType::Decimal32(_, scale) | DataType::Decimal64(_, scale) | DataType::Decimal128(_, scale) => {
                Self::Decimal(u8::try_from(*scale).ok()?)
            }
            DataType::Boolean => Self::Logical,
            DataType::Date32 => Self::Date,
            DataType::Time32(_) | DataType::Time64(_) => Self::Time,
            DataType::Timestamp(_, None) => Self::Timestamp,
            DataType::Binary | DataType::LargeBinary | DataType::BinaryView => Self::Bytes,
            _ => return None,
        })
    }

    /// The Arrow type of its values.
    pub fn data_type(self) -> DataType {
        data_type(self)
    }
}
