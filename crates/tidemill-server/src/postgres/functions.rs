//! PostgreSQL's functions about a connection, and `pg_sleep`: `current_setting`, `set_config` and others.
//!
//! They are called in statements that read no table, or only the catalogue.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::Duration;

use arrow_array::cast::AsArray as _;
use arrow_array::types::Float64Type;
use arrow_array::{Array as _, ArrayRef, Int32Array, StringArray};
use arrow_schema::{DataType, Field};
use async_trait::async_trait;
use datafusion::arrow::compute::cast;
use datafusion::common::{DataFusionError, ScalarValue};
use datafusion::logical_expr::async_udf::{AsyncScalarUDF, AsyncScalarUDFImpl};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, SimpleScalarUDF, TypeSignature, Volatility,
};
use pgwire::error::PgWireError;
use sqlparser::ast::{Expr, Statement};
use tidemill_ads::sql::walk;
use tidemill_postgres::arrow_type::column_type;

use super::failure::error;
use super::settings::{READS_ONLY, Settings};

/// Functions with side effects.
const ACTS: [&str; 2] = ["set_config", "pg_sleep"];

/// Whether a statement calls a function with side effects, so that it must not run before Execute.
pub(super) fn acts(statement: &Statement) -> bool {
    let found = walk::expressions(statement, &mut |expression| match expression {
        Expr::Function(function) => {
            let name = function.name.to_string().to_lowercase();
            let bare = name.rsplit('.').next().unwrap_or_default().trim_matches('"');
            match ACTS.contains(&bare) {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        }
        _ => ControlFlow::Continue(()),
    });
    found.is_break()
}

/// The functions of a connection with these settings.
pub(super) fn functions(settings: &Arc<Mutex<Settings>>) -> Vec<ScalarUDF> {
    let shown = Arc::clone(settings);
    let changed = Arc::clone(settings);
    let name = TypeSignature::Exact(vec![DataType::Utf8]);
    let name_and_switch = TypeSignature::Exact(vec![DataType::Utf8, DataType::Boolean]);
    let setting = DataType::Utf8;
    vec![
        of_texts(
            "current_setting",
            Signature::one_of(vec![name, name_and_switch], Volatility::Volatile),
            move |given| current_setting(&shown, given),
        ),
        of_texts(
            "set_config",
            Signature::exact(vec![setting.clone(), setting, DataType::Boolean], Volatility::Volatile),
            move |given| set_config(&changed, given),
        ),
        of_texts("quote_literal", Signature::any(1, Volatility::Immutable), |given| {
            Ok(given.first().copied().flatten().map(quote_literal))
        }),
        of_texts(
            "format",
            Signature::variadic_any(Volatility::Immutable),
            |given| match given.split_first() {
                Some((Some(template), values)) => format(template, values).map(Some),
                _ => Ok(None),
            },
        ),
        ScalarUDF::from(SimpleScalarUDF::new_with_signature(
            "to_regtype",
            Signature::exact(vec![DataType::Utf8], Volatility::Stable),
            DataType::Int32,
            Arc::new(to_regtype),
        )),
        ScalarUDF::from(SimpleScalarUDF::new_with_signature(
            "pg_typeof",
            Signature::any(1, Volatility::Stable),
            DataType::Utf8,
            Arc::new(|given: &[ColumnarValue]| {
                let name = given.first().map(|value| type_name(&value.data_type()));
                Ok(ColumnarValue::Scalar(ScalarValue::Utf8(name)))
            }),
        )),
        // There are no advisory locks, so that none is released.
        ScalarUDF::from(SimpleScalarUDF::new_with_signature(
            "pg_advisory_unlock_all",
            Signature::exact(Vec::new(), Volatility::Stable),
            DataType::Utf8,
            Arc::new(|_: &[ColumnarValue]| Ok(ColumnarValue::Scalar(nothing()))),
        )),
        AsyncScalarUDF::new(Arc::new(Sleep(Signature::exact(
            vec![DataType::Float64],
            Volatility::Volatile,
        ))))
        .into_scalar_udf(),
    ]
}

/// The value of a function that returns `void`, which PostgreSQL sends as an empty text.
fn nothing() -> ScalarValue {
    ScalarValue::Utf8(Some(String::new()))
}

fn type_name(data_type: &DataType) -> String {
    match data_type {
        DataType::Null => "unknown".to_owned(),
        other => match column_type(&Field::new("", other.clone(), true)) {
            Ok(typ) => typ.to_string(),
            Err(_) => other.to_string(),
        },
    }
}

/// The OID of a type by its name; NULL if it is unknown.
fn to_regtype(given: &[ColumnarValue]) -> Result<ColumnarValue, DataFusionError> {
    let mut numbers = Vec::new();
    for array in ColumnarValue::values_to_arrays(given)? {
        let names = cast(&array, &DataType::Utf8)?;
        numbers = names
            .as_string::<i32>()
            .iter()
            .map(|name| name.and_then(type_number))
            .collect();
    }
    match (given, numbers.as_slice()) {
        ([ColumnarValue::Scalar(_)], [only]) => Ok(ColumnarValue::Scalar(ScalarValue::Int32(*only))),
        _ => Ok(ColumnarValue::Array(Arc::new(Int32Array::from(numbers)))),
    }
}

fn type_number(name: &str) -> Option<i32> {
    let name = name.trim().to_lowercase().replace('"', "");
    let name = name.strip_prefix("pg_catalog.").unwrap_or(&name);
    let (bare, prefix) = match name.strip_suffix("[]") {
        Some(element) => (element, "_"),
        None => (name, ""),
    };
    // Names of the SQL standard, which the catalogue does not have.
    let known = match bare {
        "boolean" => "bool",
        "smallint" => "int2",
        "int" | "integer" => "int4",
        "bigint" => "int8",
        "real" => "float4",
        "double precision" => "float8",
        "decimal" => "numeric",
        "character varying" => "varchar",
        "character" => "bpchar",
        "time without time zone" => "time",
        "time with time zone" => "timetz",
        "timestamp without time zone" => "timestamp",
        "timestamp with time zone" => "timestamptz",
        other => other,
    };
    TYPES.get(&format!("{prefix}{known}")).copied()
}

/// The predefined types and their OIDs.
static TYPES: LazyLock<HashMap<String, i32>> = LazyLock::new(|| {
    let types = (1..=LAST_TYPE).filter_map(|oid| {
        let found = pgwire::api::Type::from_oid(oid)?;
        Some((found.name().to_owned(), i32::try_from(oid).ok()?))
    });
    types.collect()
});

/// Predefined types have smaller OIDs; those below ten thousand are assigned manually (`transam.h`).
const LAST_TYPE: u32 = 9999;

/// `format(template, values…)`: `%s` inserts a value, `%I` a quoted name, `%L` a quoted literal.
fn format(template: &str, values: &[Option<&str>]) -> Result<String, DataFusionError> {
    let wrong = |what: &str| refused(error("22023", format!("format(): {what}")));
    let (mut written, mut letters) = (String::new(), template.chars());
    let mut values = values.iter();
    while let Some(letter) = letters.next() {
        if letter != '%' {
            written.push(letter);
            continue;
        }
        let kind = letters
            .next()
            .ok_or_else(|| wrong("unterminated format() type specifier"))?;
        if kind == '%' {
            written.push('%');
            continue;
        }
        let value = *values.next().ok_or_else(|| wrong("too few arguments"))?;
        match (kind, value) {
            ('s', value) => written.push_str(value.unwrap_or_default()),
            ('I', Some(value)) => written.push_str(&quote_name(value)),
            ('I', None) => return Err(wrong("null values cannot be formatted as an SQL identifier")),
            ('L', value) => written.push_str(&value.map_or_else(|| "NULL".to_owned(), quote_literal)),
            (kind, _) => return Err(wrong(&format!("unrecognized type specifier {kind:?}"))),
        }
    }
    Ok(written)
}

/// The text as a name of SQL, quoted if necessary.
pub(super) fn quote_name(text: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_';
    match text.chars().all(is_plain) && !text.starts_with(|letter: char| letter.is_ascii_digit()) && !text.is_empty() {
        true => text.to_owned(),
        false => format!("\"{}\"", text.replace('"', "\"\"")),
    }
}

/// A function whose arguments and result are texts.
pub(super) fn of_texts(
    name: &str,
    signature: Signature,
    answer: impl Fn(&[Option<&str>]) -> Result<Option<String>, DataFusionError> + Send + Sync + 'static,
) -> ScalarUDF {
    let of_columns = move |given: &[ColumnarValue]| -> Result<ColumnarValue, DataFusionError> {
        let is_one = given.iter().all(|value| matches!(value, ColumnarValue::Scalar(_)));
        let mut columns = Vec::new();
        for array in ColumnarValue::values_to_arrays(given)? {
            columns.push(cast(&array, &DataType::Utf8)?);
        }
        let texts: Vec<&StringArray> = columns
            .iter()
            .filter_map(|array| array.as_string_opt::<i32>())
            .collect();
        let mut answers = Vec::new();
        for row in 0..columns.first().map_or(0, |array| array.len()) {
            let given: Vec<Option<&str>> = texts
                .iter()
                .map(|array| array.is_valid(row).then(|| array.value(row)))
                .collect();
            answers.push(answer(&given)?);
        }
        match (is_one, answers.as_mut_slice()) {
            (true, [only]) => Ok(ColumnarValue::Scalar(ScalarValue::Utf8(only.take()))),
            _ => Ok(ColumnarValue::Array(Arc::new(StringArray::from(answers)) as ArrayRef)),
        }
    };
    ScalarUDF::from(SimpleScalarUDF::new_with_signature(
        name,
        signature,
        DataType::Utf8,
        Arc::new(of_columns),
    ))
}

/// Wraps an error with a SQLSTATE to pass it through the planner.
fn refused(error: PgWireError) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}

fn current_setting(settings: &Mutex<Settings>, given: &[Option<&str>]) -> Result<Option<String>, DataFusionError> {
    let Some(name) = given.first().copied().flatten() else {
        return Ok(None);
    };
    let settings = settings.lock().unwrap_or_else(PoisonError::into_inner);
    let may_be_missing = given.get(1).copied().flatten() == Some("true");
    match settings.get(name) {
        Some(value) => Ok(Some(value.to_owned())),
        None if may_be_missing => Ok(None),
        None => Err(refused(error(
            "42704",
            format!("unrecognized configuration parameter {name:?}"),
        ))),
    }
}

fn set_config(settings: &Mutex<Settings>, given: &[Option<&str>]) -> Result<Option<String>, DataFusionError> {
    let Some(name) = given.first().copied().flatten() else {
        return Ok(None);
    };
    let value = given.get(1).copied().flatten();
    let is_local = given.get(2).copied().flatten() == Some("true") || name.eq_ignore_ascii_case(READS_ONLY);
    let mut settings = settings.lock().unwrap_or_else(PoisonError::into_inner);
    match value {
        Some(value) if is_local => settings.set_local(name, value).map_err(refused)?,
        Some(value) => {
            settings.set(name, value).map_err(refused)?;
        }
        None => {
            settings.reset(name);
        }
    }
    Ok(settings.get(name).map(str::to_owned))
}

/// The text as a literal of SQL.
fn quote_literal(text: &str) -> String {
    let doubled = text.replace('\'', "''");
    match doubled.contains('\\') {
        true => format!("E'{}'", doubled.replace('\\', "\\\\")),
        false => format!("'{doubled}'"),
    }
}

/// `pg_sleep(seconds)`. It blocks no thread, and stops with its statement.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Sleep(Signature);

impl ScalarUDFImpl for Sleep {
    fn name(&self) -> &str {
        "pg_sleep"
    }

    fn signature(&self) -> &Signature {
        &self.0
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType, DataFusionError> {
        Ok(DataType::Utf8)
    }

    fn invoke_with_args(&self, _: ScalarFunctionArgs) -> Result<ColumnarValue, DataFusionError> {
        Err(DataFusionError::NotImplemented("pg_sleep in this place".to_owned()))
    }
}

#[async_trait]
impl AsyncScalarUDFImpl for Sleep {
    async fn invoke_async_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue, DataFusionError> {
        let mut answers: Vec<Option<String>> = Vec::with_capacity(args.number_rows);
        let mut total = Duration::ZERO;
        if let Some(seconds) = args.args.first() {
            let seconds = seconds.to_array(args.number_rows)?;
            for seconds in seconds.as_primitive_opt::<Float64Type>().into_iter().flatten() {
                answers.push(seconds.map(|_| String::new()));
                // A negative time is no wait, and one that the clock cannot represent does not end.
                let time = seconds.filter(|seconds| *seconds > 0.0);
                let time = time.map(|seconds| Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX));
                total = total.saturating_add(time.unwrap_or_default());
            }
        }
        tokio::time::sleep(total).await;
        Ok(ColumnarValue::Array(Arc::new(StringArray::from(answers)) as ArrayRef))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_told_and_changed() {
        let settings = Mutex::new(Settings::default());
        let changed = set_config(&settings, &[Some("myapp.user"), Some("7"), Some("false")]).expect("set");
        assert_eq!(changed.as_deref(), Some("7"));
        for (given, expected) in [
            (&[Some("myapp.user")][..], Some("7")),
            (&[Some("no_such_thing"), Some("true")], None),
            (&[None], None),
        ] {
            let found = current_setting(&settings, given).expect("told");
            assert_eq!(found.as_deref(), expected, "{given:?}");
        }
        assert!(current_setting(&settings, &[Some("no_such_thing")]).is_err());
        assert!(set_config(&settings, &[Some("datestyle"), Some("german"), Some("false")]).is_err());
    }

    #[test]
    fn templates_are_filled() {
        for (template, values, expected) in [
            ("%s", &[Some("a")][..], Some("a")),
            (
                "%I.%I",
                &[Some("public"), Some("Or\"ders")],
                Some("public.\"Or\"\"ders\""),
            ),
            ("100%%, %L, %L", &[Some("it's"), None], Some("100%, 'it''s', NULL")),
            ("%s", &[], None),
            ("%", &[], None),
            ("%I", &[None], None),
            ("%x", &[Some("a")], None),
        ] {
            assert_eq!(format(template, values).ok().as_deref(), expected, "{template}");
        }
    }

    #[test]
    fn types_are_found_by_their_names() {
        for (name, expected) in [
            ("int4", Some(23)),
            ("Integer", Some(23)),
            ("pg_catalog.text[]", Some(1009)),
            ("double precision", Some(701)),
            ("hstore", None),
            ("", None),
        ] {
            assert_eq!(type_number(name), expected, "{name}");
        }
    }

    #[test]
    fn constants_are_quoted() {
        for (text, expected) in [("a", "'a'"), ("it's", "'it''s'"), ("a\\b'", "E'a\\\\b'''")] {
            assert_eq!(quote_literal(text), expected);
        }
    }
}
