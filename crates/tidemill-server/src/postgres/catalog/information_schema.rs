//! `information_schema`, as PostgreSQL's [documentation][docs] lists its columns.
//!
//! Views over `pg_catalog` show what the stores report. Tables about views, routines and the like are empty.
//!
//! [docs]: https://www.postgresql.org/docs/15/information-schema.html

use std::sync::Arc;

use datafusion::catalog::{MemorySchemaProvider, SchemaProvider as _};
use datafusion::common::DataFusionError;
use datafusion::datasource::ViewTable;
use datafusion::prelude::SessionContext;

use super::tables::without_rows;

/// The schema for a user, over the `pg_catalog` that a context already has.
pub(super) async fn schema(context: &SessionContext, user: &str) -> Result<MemorySchemaProvider, DataFusionError> {
    let schema = MemorySchemaProvider::new();
    let user = format!("'{}'", user.replace('\'', "''"));
    for (name, query) in VIEWS {
        let query = query.replace("{user}", &user);
        let plan = context.state().create_logical_plan(&query).await?;
        let view = ViewTable::new(plan, Some(query));
        schema.register_table((*name).to_owned(), Arc::new(view))?;
    }
    for (name, columns) in EMPTY {
        schema.register_table((*name).to_owned(), without_rows(columns))?;
    }
    Ok(schema)
}

/// Names and queries; `{user}` stands for the user.
const VIEWS: &[(&str, &str)] = &[
    (
        "information_schema_catalog_name",
        "SELECT current_database() AS catalog_name",
    ),
    (
        "character_sets",
        "SELECT CAST(NULL AS VARCHAR) AS character_set_catalog, CAST(NULL AS VARCHAR) AS character_set_schema, \
         'UTF8' AS character_set_name, 'UCS' AS character_repertoire, 'UTF8' AS form_of_use, \
         current_database() AS default_collate_catalog, CAST(NULL AS VARCHAR) AS default_collate_schema, \
         CAST(NULL AS VARCHAR) AS default_collate_name",
    ),
    (
        "schemata",
        "SELECT current_database() AS catalog_name, n.nspname AS schema_name, \
         pg_get_userbyid(n.nspowner) AS schema_owner, CAST(NULL AS VARCHAR) AS default_character_set_catalog, \
         CAST(NULL AS VARCHAR) AS default_character_set_schema, CAST(NULL AS VARCHAR) AS default_character_set_name, \
         CAST(NULL AS VARCHAR) AS sql_path \
         FROM pg_catalog.pg_namespace n",
    ),
    (
        "tables",
        "SELECT current_database() AS table_catalog, n.nspname AS table_schema, c.relname AS table_name, \
         CASE c.relkind WHEN 'v' THEN 'VIEW' WHEN 'f' THEN 'FOREIGN' ELSE 'BASE TABLE' END AS table_type, \
         CAST(NULL AS VARCHAR) AS self_referencing_column_name, CAST(NULL AS VARCHAR) AS reference_generation, \
         CAST(NULL AS VARCHAR) AS user_defined_type_catalog, CAST(NULL AS VARCHAR) AS user_defined_type_schema, \
         CAST(NULL AS VARCHAR) AS user_defined_type_name, \
         CASE c.relkind WHEN 'r' THEN 'YES' ELSE 'NO' END AS is_insertable_into, \
         'NO' AS is_typed, CAST(NULL AS VARCHAR) AS commit_action \
         FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
         WHERE c.relkind IN ('r', 'v', 'f', 'p')",
    ),
    (
        "columns",
        "SELECT current_database() AS table_catalog, n.nspname AS table_schema, c.relname AS table_name, \
         a.attname AS column_name, CAST(a.attnum AS INT) AS ordinal_position, CAST(NULL AS VARCHAR) AS column_default, \
         CASE WHEN a.attnotnull THEN 'NO' ELSE 'YES' END AS is_nullable, \
         CASE WHEN t.typelem <> 0 AND t.typlen = -1 THEN 'ARRAY' ELSE format_type(a.atttypid, NULL) END AS data_type, \
         CAST(NULL AS INT) AS character_maximum_length, \
         CAST(CASE t.typname WHEN 'text' THEN 1073741824 END AS INT) AS character_octet_length, \
         CAST(CASE t.typname WHEN 'int2' THEN 16 WHEN 'int4' THEN 32 WHEN 'int8' THEN 64 WHEN 'float4' THEN 24 \
         WHEN 'float8' THEN 53 WHEN 'numeric' THEN CASE WHEN a.atttypmod >= 4 THEN ((a.atttypmod - 4) >> 16) & 65535 END \
         END AS INT) AS numeric_precision, \
         CAST(CASE WHEN t.typname IN ('int2', 'int4', 'int8', 'float4', 'float8') THEN 2 WHEN t.typname = 'numeric' THEN 10 \
         END AS INT) AS numeric_precision_radix, \
         CAST(CASE WHEN t.typname IN ('int2', 'int4', 'int8') THEN 0 WHEN t.typname = 'numeric' AND a.atttypmod >= 4 \
         THEN (a.atttypmod - 4) & 2047 END AS INT) AS numeric_scale, \
         CAST(CASE WHEN t.typname IN ('time', 'timestamp', 'timestamptz', 'interval') THEN 6 WHEN t.typname = 'date' THEN 0 \
         END AS INT) AS datetime_precision, \
         CAST(NULL AS VARCHAR) AS interval_type, CAST(NULL AS INT) AS interval_precision, \
         CAST(NULL AS VARCHAR) AS character_set_catalog, CAST(NULL AS VARCHAR) AS character_set_schema, \
         CAST(NULL AS VARCHAR) AS character_set_name, CAST(NULL AS VARCHAR) AS collation_catalog, \
         CAST(NULL AS VARCHAR) AS collation_schema, CAST(NULL AS VARCHAR) AS collation_name, \
         CAST(NULL AS VARCHAR) AS domain_catalog, CAST(NULL AS VARCHAR) AS domain_schema, \
         CAST(NULL AS VARCHAR) AS domain_name, current_database() AS udt_catalog, 'pg_catalog' AS udt_schema, \
         t.typname AS udt_name, CAST(NULL AS VARCHAR) AS scope_catalog, CAST(NULL AS VARCHAR) AS scope_schema, \
         CAST(NULL AS VARCHAR) AS scope_name, CAST(NULL AS INT) AS maximum_cardinality, \
         CAST(a.attnum AS VARCHAR) AS dtd_identifier, 'NO' AS is_self_referencing, 'NO' AS is_identity, \
         CAST(NULL AS VARCHAR) AS identity_generation, CAST(NULL AS VARCHAR) AS identity_start, \
         CAST(NULL AS VARCHAR) AS identity_increment, CAST(NULL AS VARCHAR) AS identity_maximum, \
         CAST(NULL AS VARCHAR) AS identity_minimum, 'NO' AS identity_cycle, 'NEVER' AS is_generated, \
         CAST(NULL AS VARCHAR) AS generation_expression, \
         CASE c.relkind WHEN 'r' THEN 'YES' ELSE 'NO' END AS is_updatable \
         FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_class c ON c.oid = a.attrelid \
         JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
         LEFT JOIN pg_catalog.pg_type t ON t.oid = a.atttypid \
         WHERE a.attnum > 0 AND NOT a.attisdropped AND c.relkind IN ('r', 'v', 'f', 'p')",
    ),
    (
        "table_privileges",
        "SELECT pg_get_userbyid(n.nspowner) AS grantor, {user} AS grantee, current_database() AS table_catalog, \
         n.nspname AS table_schema, c.relname AS table_name, 'SELECT' AS privilege_type, 'NO' AS is_grantable, \
         'YES' AS with_hierarchy \
         FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
         WHERE c.relkind IN ('r', 'v', 'f', 'p')",
    ),
    ("enabled_roles", "SELECT {user} AS role_name"),
    (
        "table_constraints",
        "SELECT current_database() AS constraint_catalog, n.nspname AS constraint_schema, k.conname AS constraint_name, \
         current_database() AS table_catalog, n.nspname AS table_schema, c.relname AS table_name, \
         CASE k.contype WHEN 'f' THEN 'FOREIGN KEY' ELSE 'PRIMARY KEY' END AS constraint_type, 'NO' AS is_deferrable, 'NO' AS initially_deferred, 'YES' AS enforced, \
         CAST(NULL AS VARCHAR) AS nulls_distinct \
         FROM pg_catalog.pg_constraint k JOIN pg_catalog.pg_class c ON c.oid = k.conrelid \
         JOIN pg_catalog.pg_namespace n ON n.oid = k.connamespace",
    ),
    (
        "key_column_usage",
        "SELECT current_database() AS constraint_catalog, n.nspname AS constraint_schema, k.conname AS constraint_name, \
         current_database() AS table_catalog, n.nspname AS table_schema, c.relname AS table_name, \
         a.attname AS column_name, CAST(k.ordinal AS INT) AS ordinal_position, \
         CAST(NULL AS INT) AS position_in_unique_constraint \
         FROM (SELECT conname, connamespace, conrelid, unnest(conkey) AS place, \
         unnest(range(1, CAST(array_length(conkey) AS BIGINT) + 1)) AS ordinal FROM pg_catalog.pg_constraint) k \
         JOIN pg_catalog.pg_class c ON c.oid = k.conrelid JOIN pg_catalog.pg_namespace n ON n.oid = k.connamespace \
         JOIN pg_catalog.pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = k.place",
    ),
    (
        "constraint_column_usage",
        "SELECT current_database() AS table_catalog, n.nspname AS table_schema, c.relname AS table_name, \
         a.attname AS column_name, current_database() AS constraint_catalog, n.nspname AS constraint_schema, \
         k.conname AS constraint_name \
         FROM (SELECT conname, connamespace, CASE contype WHEN 'f' THEN confrelid ELSE conrelid END AS used, \
         unnest(CASE contype WHEN 'f' THEN confkey ELSE conkey END) AS place FROM pg_catalog.pg_constraint) k \
         JOIN pg_catalog.pg_class c ON c.oid = k.used JOIN pg_catalog.pg_namespace n ON n.oid = k.connamespace \
         JOIN pg_catalog.pg_attribute a ON a.attrelid = k.used AND a.attnum = k.place",
    ),
    (
        "referential_constraints",
        "SELECT current_database() AS constraint_catalog, n.nspname AS constraint_schema, k.conname AS constraint_name, \
         current_database() AS unique_constraint_catalog, n.nspname AS unique_constraint_schema, \
         i.relname AS unique_constraint_name, 'NONE' AS match_option, \
         CASE k.confupdtype WHEN 'c' THEN 'CASCADE' ELSE 'NO ACTION' END AS update_rule, \
         CASE k.confdeltype WHEN 'c' THEN 'CASCADE' ELSE 'NO ACTION' END AS delete_rule \
         FROM pg_catalog.pg_constraint k JOIN pg_catalog.pg_class i ON i.oid = k.conindid \
         JOIN pg_catalog.pg_namespace n ON n.oid = k.connamespace WHERE k.contype = 'f'",
    ),
    (
        "constraint_table_usage",
        "SELECT current_database() AS table_catalog, n.nspname AS table_schema, c.relname AS table_name, \
         current_database() AS constraint_catalog, n.nspname AS constraint_schema, k.conname AS constraint_name \
         FROM (SELECT conname, connamespace, CASE contype WHEN 'f' THEN confrelid ELSE conrelid END AS used \
         FROM pg_catalog.pg_constraint) k JOIN pg_catalog.pg_class c ON c.oid = k.used \
         JOIN pg_catalog.pg_namespace n ON n.oid = k.connamespace",
    ),
];

/// Names and columns.
const EMPTY: &[(&str, &str)] = &[
    (
        "check_constraints",
        "constraint_catalog, constraint_schema, constraint_name, check_clause",
    ),
    (
        "views",
        "table_catalog, table_schema, table_name, view_definition, check_option, is_updatable, is_insertable_into, \
         is_trigger_updatable, is_trigger_deletable, is_trigger_insertable_into",
    ),
    (
        "view_table_usage",
        "view_catalog, view_schema, view_name, table_catalog, table_schema, table_name",
    ),
    (
        "view_column_usage",
        "view_catalog, view_schema, view_name, table_catalog, table_schema, table_name, column_name",
    ),
    (
        "routines",
        "specific_catalog, specific_schema, specific_name, routine_catalog, routine_schema, routine_name, routine_type, \
         module_catalog, module_schema, module_name, udt_catalog, udt_schema, udt_name, data_type, \
         character_maximum_length int, character_octet_length int, character_set_catalog, character_set_schema, \
         character_set_name, collation_catalog, collation_schema, collation_name, numeric_precision int, \
         numeric_precision_radix int, numeric_scale int, datetime_precision int, interval_type, interval_precision int, \
         type_udt_catalog, type_udt_schema, type_udt_name, scope_catalog, scope_schema, scope_name, \
         maximum_cardinality int, dtd_identifier, routine_body, routine_definition, external_name, external_language, \
         parameter_style, is_deterministic, sql_data_access, is_null_call, sql_path, schema_level_routine, \
         max_dynamic_result_sets int, is_user_defined_cast, is_implicitly_invocable, security_type, \
         to_sql_specific_catalog, to_sql_specific_schema, to_sql_specific_name, as_locator, created instant, \
         last_altered instant, new_savepoint_level, is_udt_dependent, result_cast_from_data_type, \
         result_cast_as_locator, result_cast_char_max_length int, result_cast_char_octet_length int, \
         result_cast_char_set_catalog, result_cast_char_set_schema, result_cast_char_set_name, \
         result_cast_collation_catalog, result_cast_collation_schema, result_cast_collation_name, \
         result_cast_numeric_precision int, result_cast_numeric_precision_radix int, result_cast_numeric_scale int, \
         result_cast_datetime_precision int, result_cast_interval_type, result_cast_interval_precision int, \
         result_cast_type_udt_catalog, result_cast_type_udt_schema, result_cast_type_udt_name, \
         result_cast_scope_catalog, result_cast_scope_schema, result_cast_scope_name, \
         result_cast_maximum_cardinality int, result_cast_dtd_identifier",
    ),
    (
        "parameters",
        "specific_catalog, specific_schema, specific_name, ordinal_position int, parameter_mode, is_result, as_locator, \
         parameter_name, data_type, character_maximum_length int, character_octet_length int, character_set_catalog, \
         character_set_schema, character_set_name, collation_catalog, collation_schema, collation_name, \
         numeric_precision int, numeric_precision_radix int, numeric_scale int, datetime_precision int, interval_type, \
         interval_precision int, udt_catalog, udt_schema, udt_name, scope_catalog, scope_schema, scope_name, \
         maximum_cardinality int, dtd_identifier, parameter_default",
    ),
    (
        "sequences",
        "sequence_catalog, sequence_schema, sequence_name, data_type, numeric_precision int, \
         numeric_precision_radix int, numeric_scale int, start_value, minimum_value, maximum_value, increment, \
         cycle_option",
    ),
    (
        "triggers",
        "trigger_catalog, trigger_schema, trigger_name, event_manipulation, event_object_catalog, event_object_schema, \
         event_object_table, action_order int, action_condition, action_statement, action_orientation, action_timing, \
         action_reference_old_table, action_reference_new_table, action_reference_old_row, action_reference_new_row, \
         created instant",
    ),
    (
        "column_privileges",
        "grantor, grantee, table_catalog, table_schema, table_name, column_name, privilege_type, is_grantable",
    ),
    (
        "routine_privileges",
        "grantor, grantee, specific_catalog, specific_schema, specific_name, routine_catalog, routine_schema, \
         routine_name, privilege_type, is_grantable",
    ),
    (
        "usage_privileges",
        "grantor, grantee, object_catalog, object_schema, object_name, object_type, privilege_type, is_grantable",
    ),
    ("applicable_roles", "grantee, role_name, is_grantable"),
    (
        "collations",
        "collation_catalog, collation_schema, collation_name, pad_attribute",
    ),
    (
        "domains",
        "domain_catalog, domain_schema, domain_name, data_type, character_maximum_length int, \
         character_octet_length int, character_set_catalog, character_set_schema, character_set_name, \
         collation_catalog, collation_schema, collation_name, numeric_precision int, numeric_precision_radix int, \
         numeric_scale int, datetime_precision int, interval_type, interval_precision int, domain_default, udt_catalog, \
         udt_schema, udt_name, scope_catalog, scope_schema, scope_name, maximum_cardinality int, dtd_identifier",
    ),
    (
        "element_types",
        "object_catalog, object_schema, object_name, object_type, collection_type_identifier, data_type, \
         character_maximum_length int, character_octet_length int, character_set_catalog, character_set_schema, \
         character_set_name, collation_catalog, collation_schema, collation_name, numeric_precision int, \
         numeric_precision_radix int, numeric_scale int, datetime_precision int, interval_type, interval_precision int, \
         domain_default, udt_catalog, udt_schema, udt_name, scope_catalog, scope_schema, scope_name, \
         maximum_cardinality int, dtd_identifier",
    ),
];
