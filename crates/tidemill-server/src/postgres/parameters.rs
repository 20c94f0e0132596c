//! Types and values of parameters.
//!
//! A client may leave the type of a parameter open, and ask for it. It is derived from the statement: from the column that the parameter is
//! compared with, inserted into or assigned to, or from its cast. Otherwise the parameter is a text, which the session converts as needed.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::{Array as _, ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use datafusion::arrow::compute;
use pgwire::api::portal::Format;
use pgwire::error::PgWireError;
use sqlparser::ast::{AssignmentTarget, Expr, LimitClause, Query, SetExpr, Statement, TableObject, Value};
use sqlparser::dialect::{GenericDialect, PostgreSqlDialect};
use sqlparser::parser::Parser;
use sqlparser::tokenizer::{Token, Tokenizer};
use tidemill_ads::sql::{Value as SqlValue, walk};
use tidemill_postgres::Type;
use tidemill_postgres::arrow_type::{column_type, field};
use tidemill_postgres::wire::{self, ValueFormat};
use tidemill_sql::{Session, values_of};

use super::rows::format_of;
use super::{command, failure, lists};

/// The number of parameters of a statement.
pub(super) fn count(statement: &Statement) -> usize {
    let mut most = 0;
    let _ = walk::expressions(statement, &mut |expression| {
        most = most.max(placeholder(expression).unwrap_or(0));
        ControlFlow::<()>::Continue(())
    });
    most
}

/// The types that a statement casts its parameters to, by parameter number.
pub(super) fn cast(statement: &Statement) -> HashMap<usize, Type> {
    let mut types = HashMap::new();
    let _ = walk::expressions(statement, &mut |expression| {
        if let Expr::Cast { expr, data_type, .. } = expression
            && let Some(number) = placeholder(expr)
            && let Some(typ) = named(&data_type.to_string())
        {
            types.entry(number).or_insert(typ);
        }
        ControlFlow::<()>::Continue(())
    });
    types
}

/// The number of a parameter, counted from 1.
pub(super) fn placeholder(expression: &Expr) -> Option<usize> {
    match expression {
        Expr::Value(value) => match &value.value {
            Value::Placeholder(name) => name.strip_prefix('$')?.parse().ok().filter(|number| *number > 0),
            _ => None,
        },
        Expr::Nested(inner) => placeholder(inner),
        _ => None,
    }
}

/// The types of a statement's parameters. The client gives some; the others are derived from the statement.
pub(super) async fn types(session: &Session, text: &str, told: Vec<Option<Type>>) -> Vec<Type> {
    let mut said = HashMap::new();
    if told.iter().any(Option::is_none)
        && let Ok(statements) = Parser::parse_sql(&PostgreSqlDialect {}, text)
    {
        for statement in &statements {
            let columns = columns(session, statement).await;
            said.extend(Said::of(statement, &columns));
        }
    }
    let types = told.into_iter().enumerate();
    types
        .map(|(place, told)| told.or_else(|| said.remove(&(place + 1))).unwrap_or(Type::Text))
        .collect()
}

/// The types of the parameters of a statement with `?` placeholders; text if unknown.
pub(crate) async fn types_of_marks(session: &Session, text: &str, count: usize) -> Vec<DataType> {
    let mut types = vec![DataType::Utf8; count];
    let Ok(mut tokens) = Tokenizer::new(&GenericDialect {}, text).tokenize() else {
        return types;
    };
    let mut number = 0;
    for token in &mut tokens {
        if matches!(token, Token::Placeholder(mark) if mark == "?") {
            number += 1;
            *token = Token::Placeholder(format!("${number}"));
        }
    }
    let statements = Parser::new(&PostgreSqlDialect {})
        .with_tokens(tokens)
        .parse_statements();
    for statement in statements.iter().flatten() {
        let columns = columns(session, statement).await;
        for (number, typ) in Said::of(statement, &columns) {
            if let Some(place) = number.checked_sub(1).and_then(|place| types.get_mut(place)) {
                *place = field("", &typ, true).data_type().clone();
            }
        }
    }
    types
}

/// The types of the columns of a statement's tables, by names in lower case.
type Columns = HashMap<String, Type>;

async fn columns(session: &Session, statement: &Statement) -> Columns {
    let mut names = Vec::new();
    let _ = walk::relations(statement, &mut |name| {
        names.push(command::plain_name(name));
        ControlFlow::<()>::Continue(())
    });
    let mut columns = Columns::new();
    for name in names {
        // The session reports an unknown table when the statement runs.
        let Ok(location) = session.locate(&name).await else {
            continue;
        };
        let Ok(schema) = session.schema(&location).await else {
            continue;
        };
        for field in schema.fields() {
            if let Ok(typ) = column_type(field) {
                columns.entry(field.name().to_lowercase()).or_insert(typ);
            }
        }
        let order = schema
            .fields()
            .iter()
            .map(|field| column_type(field).unwrap_or(Type::Text));
        for (place, typ) in order.enumerate() {
            // For an INSERT without a column list.
            columns.entry(format!("{place}\0")).or_insert(typ);
        }
    }
    columns
}

/// The types of parameters that a statement implies.
struct Said<'c> {
    columns: &'c Columns,
    types: HashMap<usize, Type>,
}

impl<'c> Said<'c> {
    fn of(statement: &Statement, columns: &'c Columns) -> HashMap<usize, Type> {
        let mut said = Self {
            columns,
            types: HashMap::new(),
        };
        said.statement(statement);
        let _ = walk::expressions(statement, &mut |expression| {
            said.expression(expression);
            ControlFlow::<()>::Continue(())
        });
        said.types
    }

    fn say(&mut self, expression: &Expr, typ: Option<&Type>) {
        if let (Some(number), Some(typ)) = (placeholder(expression), typ) {
            self.types.entry(number).or_insert_with(|| typ.clone());
        }
    }

    /// The type of a column, or of a cast.
    fn type_of(&self, expression: &Expr) -> Option<Type> {
        match expression {
            Expr::Identifier(name) => self.columns.get(&name.value.to_lowercase()).cloned(),
            Expr::CompoundIdentifier(names) => self.columns.get(&names.last()?.value.to_lowercase()).cloned(),
            Expr::Nested(inner) => self.type_of(inner),
            Expr::Cast { data_type, .. } => named(&data_type.to_string()),
            _ => None,
        }
    }

    fn expression(&mut self, expression: &Expr) {
        match expression {
            Expr::BinaryOp { left, right, .. } => {
                let (one, other) = (self.type_of(left), self.type_of(right));
                self.say(left, other.as_ref());
                self.say(right, one.as_ref());
            }
            Expr::Between { expr, low, high, .. } => {
                let typ = self.type_of(expr);
                self.say(low, typ.as_ref());
                self.say(high, typ.as_ref());
            }
            Expr::AnyOp { left, right, .. } | Expr::AllOp { left, right, .. } => {
                let typ = self.type_of(left).map(|typ| Type::Array(Box::new(typ)));
                self.say(right, typ.as_ref());
            }
            Expr::InList { expr, list, .. } => {
                let typ = self.type_of(expr);
                for item in list {
                    self.say(item, typ.as_ref());
                }
            }
            Expr::Like { pattern, .. } | Expr::ILike { pattern, .. } => self.say(pattern, Some(&Type::Text)),
            Expr::Cast { expr, data_type, .. } => {
                let typ = named(&data_type.to_string());
                self.say(expr, typ.as_ref());
            }
            _ => {}
        }
    }

    fn statement(&mut self, statement: &Statement) {
        match statement {
            Statement::Query(query) => self.query(query),
            Statement::Insert(insert) => {
                let is_table = matches!(insert.table, TableObject::TableName(_));
                let Some(SetExpr::Values(values)) =
                    insert.source.as_ref().map(|query| &*query.body).filter(|_| is_table)
                else {
                    return;
                };
                for row in &values.rows {
                    for (place, value) in row.iter().enumerate() {
                        let name = match insert.columns.get(place) {
                            Some(column) => column.to_string().replace('"', "").to_lowercase(),
                            None => format!("{place}\0"),
                        };
                        let typ = self.columns.get(&name).cloned();
                        self.say(value, typ.as_ref());
                    }
                }
            }
            Statement::Update(update) => {
                for assignment in &update.assignments {
                    if let AssignmentTarget::ColumnName(name) = &assignment.target {
                        let name = name
                            .0
                            .last()
                            .map(|part| part.to_string().replace('"', "").to_lowercase());
                        let typ = name.and_then(|name| self.columns.get(&name).cloned());
                        self.say(&assignment.value, typ.as_ref());
                    }
                }
            }
            _ => {}
        }
    }

    fn query(&mut self, query: &Query) {
        if let Some(LimitClause::LimitOffset { limit, offset, .. }) = &query.limit_clause {
            let counts = limit.iter().chain(offset.iter().map(|offset| &offset.value));
            for count in counts {
                self.say(count, Some(&Type::Int8));
            }
        }
    }
}

/// A type by its name in a cast.
fn named(name: &str) -> Option<Type> {
    let name = name.to_lowercase();
    if let Some(element) = name.strip_suffix("[]") {
        return named(element).map(|element| Type::Array(Box::new(element)));
    }
    let bare = name.split_once('(').map_or(name.as_str(), |(bare, _)| bare).trim();
    Some(match bare {
        "bool" | "boolean" => Type::Bool,
        "int2" | "smallint" => Type::Int2,
        "int4" | "int" | "integer" => Type::Int4,
        "int8" | "bigint" => Type::Int8,
        "float4" | "real" => Type::Float4,
        "float8" | "double precision" | "double" | "float" => Type::Float8,
        "numeric" | "decimal" => Type::Numeric(None),
        "text" | "varchar" | "character varying" | "char" | "character" | "name" => Type::Text,
        "date" => Type::Date,
        "time" => Type::Time,
        "timestamp" | "timestamp without time zone" => Type::Timestamp,
        "timestamptz" | "timestamp with time zone" => Type::TimestampTz,
        "bytea" => Type::Bytea,
        "uuid" => Type::Uuid,
        "oid" | "regclass" | "regtype" => Type::Oid,
        _ => return None,
    })
}

/// Decodes the client's values for parameters of these types, as a batch of one row.
///
/// # Errors
///
/// SQLSTATE 08P01 for a wrong number of values, 22P02 for bytes that are not a value of their type.
pub(super) fn given(
    types: &[Type],
    format: &Format,
    values: &[Option<bytes::Bytes>],
) -> Result<RecordBatch, PgWireError> {
    if values.len() != types.len() {
        let (given, wanted) = (values.len(), types.len());
        return Err(failure::error(
            "08P01",
            format!("{given} values for {wanted} parameters"),
        ));
    }
    // Arrays sent as text, by their positions.
    let mut arrays = Vec::new();
    let mut taken = Vec::with_capacity(values.len());
    for (place, (value, typ)) in values.iter().zip(types).enumerate() {
        let format = format_of(format, place);
        let value = match (value.as_deref(), format, typ) {
            (Some(bytes), ValueFormat::Text, Type::Array(element)) => {
                let text = std::str::from_utf8(bytes).map_err(|error| failure::error("22021", error.to_string()))?;
                arrays.push((place, lists::of_text(element, text)?));
                None
            }
            (Some(bytes), ValueFormat::Text, typ) => Some(without_zone(typ, bytes)),
            (value, ..) => value,
        };
        taken.push((typ.clone(), format, value));
    }
    let mut batch = wire::parameters(&taken).map_err(|error| failure::of_value(&error))?;
    for (place, array) in arrays {
        batch = with_column(&batch, place, array).map_err(|error| failure::error("22P02", error.to_string()))?;
    }
    with_scales(&batch, types).map_err(|error| failure::error("22P02", error.to_string()))
}

/// The text of a value without the time zone; PostgreSQL ignores it in a date, time or timestamp without time zone.
fn without_zone<'b>(typ: &Type, bytes: &'b [u8]) -> &'b [u8] {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return bytes;
    };
    let text = text.trim();
    let bare = match typ {
        // A date may be followed by a time, or only by a zone.
        Type::Date => text.split([' ', 'T']).next().filter(|day| day.contains('-')),
        Type::Timestamp | Type::Time => text.find(':').and_then(|colon| {
            let zone = text.get(colon..)?.find(['+', '-', 'Z', 'z'])?;
            let (bare, zone) = text.split_at_checked(colon.checked_add(zone)?)?;
            let is_zone = matches!(zone, "Z" | "z")
                || zone
                    .get(1..)?
                    .chars()
                    .all(|letter| letter.is_ascii_digit() || letter == ':');
            is_zone.then_some(bare.trim_end())
        }),
        _ => None,
    };
    bare.map_or(bytes, str::as_bytes)
}

/// The row with one column replaced.
fn with_column(batch: &RecordBatch, place: usize, array: ArrayRef) -> Result<RecordBatch, ArrowError> {
    let mut columns = batch.columns().to_vec();
    if let Some(column) = columns.get_mut(place) {
        *column = array;
    }
    let schema = batch.schema();
    let fields = schema.fields().iter().zip(&columns);
    let fields: Vec<_> = fields
        .map(|(field, column)| Field::new(field.name(), column.data_type().clone(), true))
        .collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)
}

/// Gives each NUMERIC without a declared scale, sent as text, the scale of its digits.
fn with_scales(batch: &RecordBatch, types: &[Type]) -> Result<RecordBatch, ArrowError> {
    let columns = batch.columns().iter().zip(types);
    let columns: Vec<_> = columns
        .map(|(column, typ)| match (typ, column.as_string_opt::<i32>()) {
            (Type::Numeric(None), Some(texts)) if column.null_count() == 0 && column.len() == 1 => {
                let digits = texts.value(0).split_once('.').map_or(0, |(_, digits)| digits.len());
                let scale = i8::try_from(digits).ok().filter(|scale| *scale <= 38);
                let number = match scale {
                    Some(scale) => compute::cast(column, &DataType::Decimal128(38, scale))?,
                    None => compute::cast(column, &DataType::Float64)?,
                };
                match number.null_count() {
                    0 => Ok(number),
                    // It has too many digits, or is not finite.
                    _ => compute::cast(column, &DataType::Float64),
                }
            }
            _ => Ok(Arc::clone(column)),
        })
        .collect::<Result<_, _>>()?;
    let schema = batch.schema();
    let fields = schema.fields().iter().zip(&columns);
    let fields: Vec<_> = fields
        .map(|(field, column)| Field::new(field.name(), column.data_type().clone(), true))
        .collect();
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), columns, &options)
}

/// The values in the order that the session needs.
///
/// # Errors
///
/// SQLSTATE 0A000 for a type that the session has no values of, such as an array.
pub(super) fn in_order(batch: &RecordBatch, places: &[usize]) -> Result<Vec<SqlValue>, PgWireError> {
    let columns: Vec<_> = places
        .iter()
        .filter_map(|place| batch.columns().get(*place))
        .cloned()
        .collect();
    if columns.len() != places.len() {
        return Err(failure::error("42P02", "there is no value for one of the parameters"));
    }
    let mut rows = values_of(&columns, 1).map_err(|error| failure::of_session(&error, ""))?;
    Ok(rows.pop().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_are_passed_over_where_the_type_has_none() {
        for (typ, text, expected) in [
            (Type::Timestamp, "2023-01-01 00:00:00+00", "2023-01-01 00:00:00"),
            (Type::Timestamp, "2023-01-01 10:20:30.5 -05:30", "2023-01-01 10:20:30.5"),
            (Type::Timestamp, "2023-01-01T10:20:30Z", "2023-01-01T10:20:30"),
            (Type::Timestamp, "2023-01-01", "2023-01-01"),
            (Type::Date, "2024-02-29 +00", "2024-02-29"),
            (Type::Time, "10:20:30+01", "10:20:30"),
            (Type::TimestampTz, "2023-01-01 00:00:00+00", "2023-01-01 00:00:00+00"),
            (Type::Text, "12:00+1", "12:00+1"),
        ] {
            assert_eq!(without_zone(&typ, text.as_bytes()), expected.as_bytes(), "{text}");
        }
    }

    #[test]
    fn arrays_are_taken_as_text_and_in_binary() {
        use arrow_array::types::Int16Type;
        let types = [Type::Array(Box::new(Type::Int2))];
        let binary: Vec<u8> = [1, 0, 21, 2, 1, 2].map(i32::to_be_bytes).concat();
        let binary = [&binary[..], &[0, 1, 0, 0, 0, 2, 0, 2]].concat();
        for (format, bytes) in [
            (Format::UnifiedText, b"{1,2}".to_vec()),
            (Format::UnifiedBinary, binary),
        ] {
            let batch = given(&types, &format, &[Some(bytes.into())]).expect("a value");
            let list = batch.column(0).as_list::<i32>().value(0);
            assert_eq!(list.as_primitive::<Int16Type>().values().to_vec(), [1, 2]);
        }
    }
}
