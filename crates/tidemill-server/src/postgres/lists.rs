//! Arrays as parameters. The session has no values that are arrays: `x = ANY($1)` becomes `x IN (…)` once the values are known.

use std::ops::ControlFlow;
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::{Array, ArrayRef, ListArray, RecordBatch};
use arrow_schema::{Field, Schema};
use datafusion::arrow::buffer::OffsetBuffer;
use datafusion::arrow::compute::concat;
use pgwire::error::PgWireError;
use sqlparser::ast::{BinaryOperator, Expr, Value};
use sqlparser::dialect::PostgreSqlDialect;
use sqlparser::parser::Parser;
use tidemill_ads::sql::walk;
use tidemill_postgres::Type;
use tidemill_postgres::arrow_type::field;
use tidemill_postgres::wire::{self, ValueFormat};

use super::command::{self, PARAMETER};
use super::failure::{self, error, hinted};

/// How many elements are read at once.
const PIECE: usize = 1000;

/// The array whose text is given ([Array Input and Output Syntax][docs]), as a column of one row.
///
/// [docs]: https://www.postgresql.org/docs/15/arrays.html#ARRAYS-IO
///
/// # Errors
///
/// SQLSTATE 22P02 for a text that is no array of this type, 0A000 for an array of arrays.
pub(super) fn of_text(element: &Type, text: &str) -> Result<ArrayRef, PgWireError> {
    let of_value = |fault: tidemill_postgres::Error| failure::of_value(&fault);
    let wrong = |fault: arrow_schema::ArrowError| error("22P02", fault.to_string());
    let elements = elements(text)?;
    // An array without elements has a type too.
    let none = wire::parameters(&[(element.clone(), ValueFormat::Text, None)]).map_err(of_value)?;
    let mut columns: Vec<ArrayRef> = none.columns().iter().map(|column| column.slice(0, 0)).collect();
    for piece in elements.chunks(PIECE) {
        let values = piece.iter().map(|value| {
            let bytes = value.as_ref().map(|text| text.as_bytes());
            (element.clone(), ValueFormat::Text, bytes)
        });
        let batch = wire::parameters(&values.collect::<Vec<_>>()).map_err(of_value)?;
        columns.extend(batch.columns().iter().cloned());
    }
    let columns: Vec<&dyn Array> = columns.iter().map(|column| &**column).collect();
    let values = concat(&columns).map_err(wrong)?;
    let item = Arc::new(field(Field::LIST_FIELD_DEFAULT_NAME, element, true));
    let offsets = OffsetBuffer::from_lengths([values.len()]);
    Ok(Arc::new(
        ListArray::try_new(item, offsets, values, None).map_err(wrong)?,
    ))
}

/// The elements of an array's text; `None` for NULL.
fn elements(text: &str) -> Result<Vec<Option<String>>, PgWireError> {
    let wrong = || error("22P02", format!("malformed array literal: {text:?}"));
    let inner = text.trim().strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
    let inner = inner.ok_or_else(wrong)?;
    let mut elements = Vec::new();
    if inner.trim().is_empty() {
        return Ok(elements);
    }
    let mut letters = inner.chars();
    loop {
        let (mut value, mut was_quoted, mut is_quoted, mut is_last) = (String::new(), false, false, true);
        while let Some(letter) = letters.next() {
            match letter {
                '\\' => value.push(letters.next().ok_or_else(wrong)?),
                '"' => {
                    is_quoted = !is_quoted;
                    was_quoted = true;
                }
                ',' if !is_quoted => {
                    is_last = false;
                    break;
                }
                '{' | '}' if !is_quoted => return Err(error("0A000", "an array of arrays is not supported")),
                letter if letter.is_whitespace() && !is_quoted && (was_quoted || value.is_empty()) => {}
                letter => value.push(letter),
            }
        }
        if is_quoted {
            return Err(wrong());
        }
        let bare = if was_quoted { value.as_str() } else { value.trim_end() };
        match (bare, was_quoted) {
            ("", false) => return Err(wrong()),
            (null, false) if null.eq_ignore_ascii_case("null") => elements.push(None),
            (value, _) => elements.push(Some(value.to_owned())),
        }
        if is_last {
            return Ok(elements);
        }
    }
}

/// A statement with lists in place of its arrays.
pub(super) struct Written {
    pub(super) text: String,
    pub(super) places: Vec<usize>,
    pub(super) values: RecordBatch,
}

/// Writes `x IN (…)` for `x = ANY($1)` and `x NOT IN (…)` for `x <> ALL($1)`; `None` where no value is an array.
///
/// # Errors
///
/// SQLSTATE 0A000 for a statement that is not understood.
pub(super) fn written_out(text: &str, values: &RecordBatch) -> Result<Option<Written>, PgWireError> {
    if !values
        .columns()
        .iter()
        .any(|column| column.as_list_opt::<i32>().is_some())
    {
        return Ok(None);
    }
    let unknown = || {
        hinted(
            "0A000",
            "an array as a parameter is not supported in this statement",
            "arrays are taken in `x = ANY($1)` and `x <> ALL($1)`",
        )
    };
    let mut statements = Parser::parse_sql(&PostgreSqlDialect {}, text).map_err(|_| unknown())?;
    let [statement] = statements.as_mut_slice() else {
        return Err(unknown());
    };
    let never = constant("1 = 0").ok_or_else(unknown)?;
    let always = constant("1 = 1").ok_or_else(unknown)?;
    let mut columns = values.columns().to_vec();
    let _ = walk::expressions_mut(statement, &mut |expression| {
        let (left, right, is_all) = match &*expression {
            Expr::AnyOp {
                left,
                compare_op: BinaryOperator::Eq,
                right,
                ..
            } => (left, right, false),
            Expr::AllOp {
                left,
                compare_op: BinaryOperator::NotEq,
                right,
            } => (left, right, true),
            _ => return ControlFlow::<()>::Continue(()),
        };
        let list = number(right)
            .and_then(|number| values.columns().get(number.checked_sub(1)?))
            .and_then(|column| column.as_list_opt::<i32>());
        let Some(list) = list else {
            return ControlFlow::Continue(());
        };
        let items = (list.len() == 1 && list.is_valid(0)).then(|| list.value(0));
        let replacement = match items {
            // What is compared with NULL is not known, which is not true.
            None => never.clone(),
            Some(items) if is_all && items.null_count() > 0 => never.clone(),
            Some(items) => {
                let mut names = Vec::new();
                for place in (0..items.len()).filter(|place| items.is_valid(*place)) {
                    columns.push(items.slice(place, 1));
                    names.push(Expr::value(Value::Placeholder(format!(
                        ":{PARAMETER}{}",
                        columns.len()
                    ))));
                }
                match (names.is_empty(), is_all) {
                    (true, true) => always.clone(),
                    (true, false) => never.clone(),
                    (false, negated) => Expr::InList {
                        expr: left.clone(),
                        list: names,
                        negated,
                    },
                }
            }
        };
        *expression = replacement;
        ControlFlow::Continue(())
    });
    let text = statement.to_string();
    let fields = columns.iter().enumerate().map(|(place, column)| {
        let name = format!("${}", place + 1);
        Field::new(name, column.data_type().clone(), true)
    });
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    let values = RecordBatch::try_new(schema, columns).map_err(|fault| error("XX000", fault.to_string()))?;
    let places = command::places(&text)?;
    Ok(Some(Written { text, places, values }))
}

fn constant(text: &str) -> Option<Expr> {
    let mut parser = Parser::new(&PostgreSqlDialect {}).try_with_sql(text).ok()?;
    parser.parse_expr().ok()
}

/// The number of a parameter of the session, which a cast may be around.
fn number(expression: &Expr) -> Option<usize> {
    match expression {
        Expr::Nested(inner) => number(inner),
        Expr::Cast { expr, .. } => number(expr),
        Expr::Value(value) => match &value.value {
            Value::Placeholder(name) => name.strip_prefix(':')?.strip_prefix(PARAMETER)?.parse().ok(),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_arrays_are_read() {
        let some = |text: &str| Some(text.to_owned());
        for (text, expected) in [
            ("{}", vec![]),
            ("{1,2}", vec![some("1"), some("2")]),
            (" { a b , NULL,\"NULL\" } ", vec![some("a b"), None, some("NULL")]),
            (r#"{"a\"b,\\",""}"#, vec![some("a\"b,\\"), some("")]),
        ] {
            assert_eq!(elements(text).expect(text), expected, "{text}");
        }
        for text in ["", "1,2", "{1,}", "{\"a}", "{{1},{2}}"] {
            assert!(elements(text).is_err(), "{text}");
        }
        for typ in [
            Type::Int2,
            Type::Int4,
            Type::Int8,
            Type::Float8,
            Type::Text,
            Type::Numeric(Some((10, 2))),
        ] {
            let array = of_text(&typ, "{1,NULL,2}").expect("an array");
            assert_eq!(array.as_list::<i32>().value(0).null_count(), 1, "{typ}");
            let array = of_text(&typ, "{}").expect("an array");
            assert_eq!(array.as_list::<i32>().value(0).len(), 0, "{typ}");
        }
        assert!(of_text(&Type::Int4, "{x}").is_err());
    }

    #[test]
    fn arrays_are_written_out_as_lists() {
        let array = of_text(&Type::Int4, "{7,NULL,9}").expect("an array");
        let none = of_text(&Type::Int4, "{}").expect("an array");
        for (array, text, expected, places) in [
            (
                &array,
                "SELECT a FROM t WHERE a = ANY(:PG1)",
                "SELECT a FROM t WHERE a IN (:PG2, :PG3)",
                vec![1, 2],
            ),
            (
                &array,
                "SELECT a FROM t WHERE a <> ALL(:PG1)",
                "SELECT a FROM t WHERE 1 = 0",
                vec![],
            ),
            (
                &none,
                "SELECT a FROM t WHERE a = ANY(CAST(:PG1 AS INT[]))",
                "SELECT a FROM t WHERE 1 = 0",
                vec![],
            ),
        ] {
            let values = RecordBatch::try_from_iter([("$1", Arc::clone(array))]).expect("a batch");
            let written = written_out(text, &values).expect(text).expect("an array");
            assert_eq!((written.text.as_str(), written.places), (expected, places), "{text}");
        }
    }
}
