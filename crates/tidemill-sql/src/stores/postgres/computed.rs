//! Expressions that PostgreSQL computes with exactly the same results.
//!
//! - Dates and times are computed in UTC: an instant is first converted to local time there.
//! - The year before 1 is 0 here and -1 there.
//! - Texts of a CASE are compared by their bytes, as those of columns are.
//! - UPPER and LOWER are not pushed down: they depend on the collation there.

use arrow_schema::{DataType as ArrowType, Field};
use tidemill_postgres::Type;
use tidemill_postgres::arrow_type::column_type;
use tidemill_postgres::sql_text::literal;

use super::dialect::{BYTEWISE, PostgresSql, Typed, value as constant_of};
use crate::stores::server::computed::{Computed, Part, Value};
use crate::stores::server::condition::text;
use crate::stores::server::select::{Expression, Row};

pub(super) fn computed(value: &Computed, row: &Row<'_, PostgresSql>) -> Option<Expression<Typed>> {
    match &value.value {
        Value::Column(_) => row.value(value),
        Value::Literal(constant) => {
            let typ = type_of(&value.data_type)?;
            let text = match typ {
                Type::Text => format!(
                    "{}{BYTEWISE}",
                    literal(text(constant).filter(|text| !text.contains('\0'))?)
                ),
                _ => constant_of(&typ, constant)?,
            };
            Some(typed(format!("CAST({text} AS {typ})"), typ))
        }
        Value::Begin(period, of) => {
            let of = row.value(of)?;
            let begin = format!("date_trunc('{}', {})", period.name(), wall_clock(&of)?);
            Some(match of.data_type.typ {
                Type::TimestampTz => typed(format!("({begin} AT TIME ZONE 'UTC')"), Type::TimestampTz),
                _ => typed(begin, Type::Timestamp),
            })
        }
        Value::Part(part, of) => {
            let moment = wall_clock(&row.value(of)?)?;
            let found = format!("extract({} FROM {moment})", part.name());
            let found = match part {
                Part::Year => format!("({found} + CASE WHEN {found} < 0 THEN 1 ELSE 0 END)"),
                _ => found,
            };
            Some(typed(format!("CAST({found} AS integer)"), Type::Int4))
        }
        Value::Day(of) => {
            let moment = wall_clock(&row.value(of)?)?;
            Some(typed(format!("CAST({moment} AS date)"), Type::Date))
        }
        Value::Arithmetic(operator, left, right) => {
            let typ = type_of(&value.data_type)?;
            let wide = if typ == Type::Int8 {
                Type::Int8
            } else {
                Type::Numeric(None)
            };
            let operand = |value: &Computed| Some(converted(row.value(value)?, &wide).text);
            let (left, right) = (operand(left)?, operand(right)?);
            let result = typed(format!("({left} {} {right})", operator.sign()), wide);
            Some(converted(result, &typ))
        }
        Value::Characters(of) => {
            let of = row.value(of)?;
            of.data_type
                .is_text()
                .then(|| typed(format!("char_length({})", of.text), Type::Int4))
        }
        Value::Choice(branches, otherwise) => {
            let typ = type_of(&value.data_type)?;
            let value = |value: &Computed| Some(converted(row.value(value)?, &typ).text);
            let branches = branches
                .iter()
                .map(|(test, then)| Some(format!("WHEN {} THEN {}", row.test(test)?, value(then)?)));
            let branches = branches.collect::<Option<Vec<_>>>()?.join(" ");
            let otherwise = match otherwise {
                Some(otherwise) => format!(" ELSE {}", value(otherwise)?),
                None => String::new(),
            };
            let collation = if typ == Type::Text { BYTEWISE } else { "" };
            Some(typed(format!("(CASE {branches}{otherwise} END){collation}"), typ))
        }
    }
}

/// A nullable value of a type.
fn typed(text: String, typ: Type) -> Expression<Typed> {
    Expression {
        text,
        data_type: Typed {
            // Texts have the encoding of the database; they are not sorted.
            is_utf8: typ != Type::Text,
            typ,
            is_nullable: true,
        },
    }
}

/// A value converted to a type that holds it.
fn converted(of: Expression<Typed>, typ: &Type) -> Expression<Typed> {
    match of.data_type.typ == *typ {
        true => of,
        false => typed(format!("CAST({} AS {typ})", of.text), typ.clone()),
    }
}

/// A date or a timestamp as a timestamp without time zone.
fn wall_clock(of: &Expression<Typed>) -> Option<String> {
    let text = &of.text;
    Some(match of.data_type.typ {
        Type::Date => format!("CAST({text} AS timestamp)"),
        Type::Timestamp => text.clone(),
        Type::TimestampTz => format!("({text} AT TIME ZONE 'UTC')"),
        _ => return None,
    })
}

/// The type for logicals, whole numbers, decimals, dates and texts; `None` for others.
fn type_of(data_type: &ArrowType) -> Option<Type> {
    let typ = column_type(&Field::new("", data_type.clone(), true)).ok()?;
    let is_taken = matches!(
        typ,
        Type::Bool | Type::Int2 | Type::Int4 | Type::Int8 | Type::Numeric(_) | Type::Date | Type::Text
    );
    is_taken.then_some(typ)
}
