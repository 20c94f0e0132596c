//! Arrays as parameters. The session has no array values, so that they are written into the statement: `x = ANY($1)` becomes `x IN (…)`,
//! `FROM unnest($1)` becomes `FROM (VALUES …)`, and `$1` elsewhere `make_array(…)`.

use std::ops::ControlFlow;
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::{Array, ArrayRef, ListArray, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use datafusion::arrow::buffer::OffsetBuffer;
use datafusion::arrow::compute::concat;
use pgwire::error::PgWireError;
use sqlparser::ast::{
    ArrayElemTypeDef, BinaryOperator, Expr, Ident, Insert, SelectItem, SetExpr, Statement, TableFactor, Value,
    VisitorMut,
};
use sqlparser::dialect::PostgreSqlDialect;
use sqlparser::parser::Parser;
use tidemill_ads::sql::walk;
use tidemill_postgres::Type;
use tidemill_postgres::arrow_type::field;
use tidemill_postgres::wire::{self, ValueFormat};

use super::command::{self, PARAMETER};
use super::failure::{self, error, hinted};
use super::standard_sql;

/// How many elements are read at once.
const PIECE: usize = 1000;

/// Parses the text of an array ([Array Input and Output Syntax][docs]) to a column of one row.
///
/// [docs]: https://www.postgresql.org/docs/15/arrays.html#ARRAYS-IO
///
/// # Errors
///
/// SQLSTATE 22P02 for a text that is not an array of this type, 0A000 for an array of arrays.
pub(super) fn of_text(element: &Type, text: &str) -> Result<ArrayRef, PgWireError> {
    let of_value = |fault: tidemill_postgres::Error| failure::of_value(&fault);
    let wrong = |fault: arrow_schema::ArrowError| error("22P02", fault.to_string());
    let elements = elements(text)?;
    // An empty array needs a type too.
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

/// A statement in which arrays are replaced by lists.
pub(super) struct Written {
    pub(super) text: String,
    pub(super) places: Vec<usize>,
    pub(super) values: RecordBatch,
}

/// Writes `x IN (…)` for `x = ANY($1)`, `x NOT IN (…)` for `x <> ALL($1)`, and a list of the elements for other arrays; `None` if no value
/// is an array.
///
/// # Errors
///
/// SQLSTATE 0A000 for a statement that cannot be parsed.
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
            "arrays are taken in `x = ANY($1)`, `x <> ALL($1)` and `unnest($1)`",
        )
    };
    let mut statements = Parser::parse_sql(&PostgreSqlDialect {}, text).map_err(|_| unknown())?;
    let [statement] = statements.as_mut_slice() else {
        return Err(unknown());
    };
    let elsewhere = Elsewhere::new(values);
    let never = constant("1 = 0").ok_or_else(unknown)?;
    let always = constant("1 = 1").ok_or_else(unknown)?;
    let unknown_answer = constant("1 = NULL").ok_or_else(unknown)?;
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
            None => unknown_answer.clone(),
            Some(items) => {
                let mut names = Vec::new();
                // Beside NULL, an element that is not found is neither there nor missing.
                if items.null_count() > 0 {
                    names.push(Expr::value(Value::Null));
                }
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
    elsewhere.write(statement, &mut columns);
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

/// The arrays outside of comparisons.
struct Elsewhere<'v> {
    values: &'v RecordBatch,
}

impl<'v> Elsewhere<'v> {
    fn new(values: &'v RecordBatch) -> Self {
        Self { values }
    }

    /// Replaces the arrays by their elements, whose values are appended to the columns.
    fn write(&self, statement: &mut Statement, columns: &mut Vec<ArrayRef>) {
        let _ = walk::change(
            statement,
            &mut Unnested {
                arrays: self,
                columns: &mut *columns,
            },
        );
        values_alone(statement);
        let _ = walk::expressions_mut(statement, &mut |expression| {
            let is_bare = matches!(expression, Expr::Value(_));
            if !is_bare {
                return ControlFlow::Continue(());
            }
            if let Some(array) = self.written(expression, columns) {
                *expression = array;
            }
            ControlFlow::<()>::Continue(())
        });
    }

    fn array(&self, expression: &Expr) -> Option<&'v ListArray> {
        let column = self.values.columns().get(number(expression)?.checked_sub(1)?)?;
        column.as_list_opt::<i32>().filter(|list| list.len() == 1)
    }

    /// NULL of the type of an array's elements.
    fn null(&self, expression: &Expr) -> Expr {
        match self.array(expression) {
            Some(list) => typed("NULL", &list.value_type()),
            None => Expr::value(Value::Null),
        }
    }

    /// An array as an expression; `None` if the expression is not an array parameter.
    fn written(&self, expression: &Expr, columns: &mut Vec<ArrayRef>) -> Option<Expr> {
        let list = self.array(expression)?;
        let elements = self.elements(expression, columns)?;
        let elements: Vec<String> = elements.iter().map(ToString::to_string).collect();
        match (list.is_null(0), elements.is_empty()) {
            // Its type would be unknown otherwise.
            (true, _) => constant(&format!("arrow_cast(NULL, 'List({})')", list.value_type())),
            (false, true) => constant(&format!("arrow_cast(make_array(), 'List({})')", list.value_type())),
            (false, false) => constant(&format!("make_array({})", elements.join(", "))),
        }
    }

    /// The elements of an array, each a new parameter or NULL; `None` if the expression is not an array parameter.
    fn elements(&self, expression: &Expr, columns: &mut Vec<ArrayRef>) -> Option<Vec<Expr>> {
        let list = self.array(expression)?;
        if list.is_null(0) {
            return Some(Vec::new());
        }
        let items = list.value(0);
        let elements = (0..items.len()).map(|place| match items.is_valid(place) {
            true => {
                columns.push(items.slice(place, 1));
                typed(&format!(":{PARAMETER}{}", columns.len()), items.data_type())
            }
            false => typed("NULL", items.data_type()),
        });
        Some(elements.collect())
    }
}

/// Replaces `unnest($1, $2)` by its rows, as many as the longest array has elements.
struct Unnested<'a, 'v> {
    arrays: &'a Elsewhere<'v>,
    columns: &'a mut Vec<ArrayRef>,
}

impl VisitorMut for Unnested<'_, '_> {
    type Break = ();

    fn pre_visit_table_factor(&mut self, table: &mut TableFactor) -> ControlFlow<()> {
        let TableFactor::UNNEST {
            alias,
            array_exprs,
            with_offset: false,
            with_ordinality: false,
            ..
        } = table
        else {
            return ControlFlow::Continue(());
        };
        // Checks that all are arrays before any is replaced.
        let mut unused = Vec::new();
        if !array_exprs
            .iter()
            .all(|array| self.arrays.elements(array, &mut unused).is_some())
        {
            return ControlFlow::Continue(());
        }
        let arrays = array_exprs.iter();
        let arrays: Vec<Vec<Expr>> = arrays
            .filter_map(|array| self.arrays.elements(array, self.columns))
            .collect();
        let nulls: Vec<String> = array_exprs
            .iter()
            .map(|array| self.arrays.null(array).to_string())
            .collect();
        let rows = (0..arrays.iter().map(Vec::len).max().unwrap_or(0)).map(|row| {
            let cells = arrays.iter().zip(&nulls).map(|(array, null)| match array.get(row) {
                Some(cell) => cell.to_string(),
                None => null.clone(),
            });
            format!("({})", cells.collect::<Vec<_>>().join(", "))
        });
        let rows = rows.collect::<Vec<_>>().join(", ");
        let named = alias.as_ref().map(|alias| alias.columns.iter());
        let mut named = named.into_iter().flatten().map(|column| column.name.clone());
        let alias_name = alias
            .as_ref()
            .map_or_else(|| Ident::new("unnest"), |alias| alias.name.clone());
        let names: Vec<String> = (0..arrays.len())
            .map(|place| match named.next() {
                Some(name) => name.to_string(),
                None if place == 0 => alias_name.to_string(),
                None => format!("{alias_name}_{place}"),
            })
            .collect();
        let names = names.join(", ");
        let rows = match rows.is_empty() {
            true => format!(
                "SELECT * FROM (VALUES ({})) AS {alias_name} ({names}) WHERE 1 = 0",
                nulls.join(", ")
            ),
            false => format!("VALUES {rows}"),
        };
        if let Some(derived) = derived(&format!("SELECT * FROM ({rows}) AS {alias_name} ({names})")) {
            *table = derived;
        }
        ControlFlow::Continue(())
    }
}

/// A query as a derived table.
fn derived(query: &str) -> Option<TableFactor> {
    let mut statements = Parser::parse_sql(&PostgreSqlDialect {}, query).ok()?;
    let Some(Statement::Query(query)) = statements.pop() else {
        return None;
    };
    let SetExpr::Select(mut select) = *query.body else {
        return None;
    };
    select.from.pop().map(|table| table.relation)
}

/// Simplifies `INSERT … SELECT * FROM (VALUES …)` to `INSERT … VALUES …`.
fn values_alone(statement: &mut Statement) {
    let Statement::Insert(Insert {
        source: Some(source), ..
    }) = statement
    else {
        return;
    };
    let SetExpr::Select(select) = &*source.body else { return };
    let ([SelectItem::Wildcard(_)], [table], None) =
        (select.projection.as_slice(), select.from.as_slice(), &select.selection)
    else {
        return;
    };
    let TableFactor::Derived { subquery, .. } = &table.relation else {
        return;
    };
    if table.joins.is_empty() && matches!(*subquery.body, SetExpr::Values(_)) {
        let mut values = subquery.clone();
        if let SetExpr::Values(rows) = &mut *values.body {
            for cell in rows.rows.iter_mut().flat_map(|row| row.content.iter_mut()) {
                // The types of the table's columns apply.
                if let Expr::Cast { expr, .. } = cell {
                    *cell = Expr::clone(expr);
                }
            }
        }
        *source = values;
    }
}

/// Converts the text of an array to an expression with elements of this type; `None` if it is not such a text.
pub(super) fn written(text: &Value, of: &ArrayElemTypeDef) -> Option<Expr> {
    let Value::SingleQuotedString(text) = text else {
        return None;
    };
    let (ArrayElemTypeDef::SquareBracket(of, _)
    | ArrayElemTypeDef::AngleBracket(of)
    | ArrayElemTypeDef::Parenthesis(of)) = of
    else {
        return None;
    };
    let of = standard_sql::standard_type(of).unwrap_or_else(|| (**of).clone());
    let elements = elements(text).ok()?;
    let items = elements.iter().map(|element| match element {
        Some(text) => format!("CAST('{}' AS {of})", text.replace('\'', "''")),
        None => format!("CAST(NULL AS {of})"),
    });
    // An empty array would have no type.
    let items = items.collect::<Vec<_>>();
    (!items.is_empty()).then(|| constant(&format!("ARRAY[{}]", items.join(", "))))?
}

/// A cast of a parameter or NULL to a type; it describes the columns before values are known.
fn typed(text: &str, data_type: &DataType) -> Expr {
    let typed = name_of(data_type).and_then(|name| constant(&format!("CAST({text} AS {name})")));
    typed
        .or_else(|| constant(text))
        .unwrap_or_else(|| Expr::value(Value::Null))
}

/// The session's name for a type; `None` where it has none.
fn name_of(data_type: &DataType) -> Option<String> {
    Some(match data_type {
        DataType::Boolean => "BOOLEAN".to_owned(),
        DataType::Int16 => "SMALLINT".to_owned(),
        DataType::Int32 => "INTEGER".to_owned(),
        DataType::Int64 => "BIGINT".to_owned(),
        DataType::Float32 => "REAL".to_owned(),
        DataType::Float64 => "DOUBLE PRECISION".to_owned(),
        DataType::Utf8 => "VARCHAR".to_owned(),
        DataType::Date32 => "DATE".to_owned(),
        DataType::Timestamp(_, None) => "TIMESTAMP".to_owned(),
        DataType::Decimal128(precision, scale) => format!("DECIMAL({precision}, {scale})"),
        _ => return None,
    })
}

pub(super) fn constant(text: &str) -> Option<Expr> {
    let mut parser = Parser::new(&PostgreSqlDialect {}).try_with_sql(text).ok()?;
    parser.parse_expr().ok()
}

/// The number of a session's parameter, also within a cast.
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
                "SELECT a FROM t WHERE a IN (NULL, :PG2, :PG3)",
                vec![1, 2],
            ),
            (
                &array,
                "SELECT a FROM t WHERE a <> ALL(:PG1)",
                "SELECT a FROM t WHERE a NOT IN (NULL, :PG2, :PG3)",
                vec![1, 2],
            ),
            (
                &none,
                "SELECT a FROM t WHERE a = ANY(CAST(:PG1 AS INT[]))",
                "SELECT a FROM t WHERE 1 = 0",
                vec![],
            ),
            (
                &array,
                "SELECT unnest(:PG1) AS a",
                "SELECT unnest(make_array(CAST(:PG2 AS INTEGER), CAST(NULL AS INTEGER), CAST(:PG3 AS INTEGER))) AS a",
                vec![1, 2],
            ),
            (
                &array,
                "SELECT * FROM unnest(:PG1, :PG1) AS t (a, b)",
                "SELECT * FROM (VALUES (CAST(:PG2 AS INTEGER), CAST(:PG4 AS INTEGER)), (CAST(NULL AS INTEGER), CAST(NULL AS INTEGER)), (CAST(:PG3 AS INTEGER), CAST(:PG5 AS INTEGER))) AS t (a, b)",
                vec![1, 3, 2, 4],
            ),
            (
                &array,
                "INSERT INTO t (a) SELECT * FROM unnest(:PG1)",
                "INSERT INTO t (a) VALUES (:PG2), (NULL), (:PG3)",
                vec![1, 2],
            ),
            (
                &none,
                "SELECT unnest(:PG1) AS a",
                "SELECT unnest(arrow_cast(make_array(), 'List(Int32)')) AS a",
                vec![],
            ),
            (
                &none,
                "SELECT * FROM unnest(:PG1) AS t (a)",
                "SELECT * FROM (SELECT * FROM (VALUES (CAST(NULL AS INTEGER))) AS t (a) WHERE 1 = 0) AS t (a)",
                vec![],
            ),
        ] {
            let values = RecordBatch::try_from_iter([("$1", Arc::clone(array))]).expect("a batch");
            let written = written_out(text, &values).expect(text).expect("an array");
            assert_eq!((written.text.as_str(), written.places), (expected, places), "{text}");
        }
    }
}
