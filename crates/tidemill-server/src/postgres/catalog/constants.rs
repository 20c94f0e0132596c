//! Functions of PostgreSQL that return the same value here for all arguments.

use std::sync::Arc;

use datafusion::common::ScalarValue;
use datafusion::logical_expr::{ColumnarValue, ScalarUDF, Signature, SimpleScalarUDF, TypeSignature, Volatility};

use super::super::settings::VERSION;

/// The functions, for a user.
pub(super) fn constants(user: &str) -> Vec<ScalarUDF> {
    let version = format!("PostgreSQL {VERSION}");
    let text = |value: &str| ScalarValue::Utf8(Some(value.to_owned()));
    let mut functions = vec![
        constant("version", text(&version)),
        constant("current_user", text(user)),
        constant("session_user", text(user)),
        constant("pg_size_pretty", text("0 bytes")),
        constant("pg_client_encoding", text("UTF8")),
        constant("getdatabaseencoding", text("UTF8")),
        constant("pg_char_to_encoding", ScalarValue::Int32(Some(6))),
        constant("pg_my_temp_schema", ScalarValue::Int32(Some(0))),
        // A bit mask: rows can be inserted (8), updated (4) and deleted (16).
        constant("pg_relation_is_updatable", ScalarValue::Int32(Some(28))),
    ];
    let of = |names: &[&str], value: &ScalarValue| {
        let made = names.iter().map(|name| constant(name, value.clone()));
        made.collect::<Vec<_>>()
    };
    functions.extend(of(&TRUE, &ScalarValue::Boolean(Some(true))));
    functions.extend(of(&FALSE, &ScalarValue::Boolean(Some(false))));
    functions.extend(of(&UNKNOWN_TEXTS, &ScalarValue::Utf8(None)));
    functions.extend(of(&ZERO, &ScalarValue::Int64(Some(0))));
    functions
}

/// Everything is visible and usable; a forbidden use is refused when it is tried.
const TRUE: [&str; 23] = [
    "pg_type_is_visible",
    "pg_function_is_visible",
    "pg_opclass_is_visible",
    "pg_opfamily_is_visible",
    "pg_operator_is_visible",
    "pg_conversion_is_visible",
    "pg_collation_is_visible",
    "pg_ts_config_is_visible",
    "pg_ts_dict_is_visible",
    "pg_ts_parser_is_visible",
    "pg_ts_template_is_visible",
    "pg_statistics_obj_is_visible",
    "pg_column_is_updatable",
    "pg_has_role",
    "has_column_privilege",
    "has_any_column_privilege",
    "has_function_privilege",
    "has_sequence_privilege",
    "has_language_privilege",
    "has_type_privilege",
    "has_tablespace_privilege",
    "has_foreign_data_wrapper_privilege",
    "has_server_privilege",
];

const FALSE: [&str; 3] = ["pg_is_in_recovery", "pg_is_other_temp_schema", "row_security_active"];

const UNKNOWN_TEXTS: [&str; 20] = [
    "pg_get_function_result",
    "pg_get_function_arguments",
    "pg_get_function_identity_arguments",
    "pg_get_functiondef",
    "pg_get_function_sqlbody",
    "obj_description",
    "col_description",
    "shobj_description",
    "pg_get_viewdef",
    "pg_get_ruledef",
    "pg_get_triggerdef",
    "pg_get_serial_sequence",
    "pg_get_statisticsobjdef",
    "pg_get_statisticsobjdef_expressions",
    "pg_get_partition_constraintdef",
    "pg_tablespace_location",
    "pg_relation_filepath",
    "pg_describe_object",
    "inet_client_addr",
    "inet_server_addr",
];

/// Sizes and counts, which are not recorded.
const ZERO: [&str; 7] = [
    "pg_database_size",
    "pg_tablespace_size",
    "pg_indexes_size",
    "pg_table_size",
    "pg_stat_get_live_tuples",
    "pg_stat_get_dead_tuples",
    "txid_current",
];

/// A function of any arguments.
fn constant(name: &str, value: ScalarValue) -> ScalarUDF {
    let (typ, value) = (value.data_type(), ColumnarValue::Scalar(value));
    let any = vec![TypeSignature::Nullary, TypeSignature::VariadicAny];
    ScalarUDF::from(SimpleScalarUDF::new_with_signature(
        name,
        Signature::one_of(any, Volatility::Stable),
        typ,
        Arc::new(move |_: &[ColumnarValue]| Ok(value.clone())),
    ))
}
