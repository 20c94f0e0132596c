//! Which tables and types there are, and what the server can do.

use std::collections::HashSet;
use std::sync::{Arc, LazyLock};

use arrow_array::cast::AsArray as _;
use arrow_array::{Int32Array, RecordBatch, StringArray};
use arrow_flight::sql::metadata::{
    SqlInfoData, SqlInfoDataBuilder, XdbcTypeInfo, XdbcTypeInfoData, XdbcTypeInfoDataBuilder,
};
use arrow_flight::sql::{
    CommandGetCatalogs, CommandGetDbSchemas, CommandGetPrimaryKeys, CommandGetSqlInfo, CommandGetTableTypes,
    CommandGetTables, CommandGetXdbcTypeInfo, Nullable, Searchable, SqlInfo, SqlNullOrdering,
    SqlSupportedCaseSensitivity, SqlSupportedTransaction, XdbcDataType,
};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use tidemill_sql::{Session, for_programs};
use tonic::Status;

use super::status;
use crate::failure::Failure;
use crate::stores::tables_of;

/// The only catalog.
pub(super) const CATALOG: &str = "tidemill";
/// The only type of tables.
pub(super) const TABLE: &str = "TABLE";

/// The requested schemas.
pub(super) fn schemas(asked: CommandGetDbSchemas, names: &[String]) -> Result<RecordBatch, Status> {
    let mut builder = asked.into_builder();
    for name in names {
        builder.append(CATALOG, name);
    }
    builder.build().map_err(Status::from)
}

/// The requested tables. A table that cannot be opened has no columns.
pub(super) async fn tables(asked: CommandGetTables, session: &Session) -> Result<RecordBatch, Status> {
    let failed = |error| status(&Failure::of(&error, ""));
    let tables = tables_of(session).await.map_err(failed)?;
    let mut names = CommandGetTables {
        include_schema: false,
        ..asked.clone()
    }
    .into_builder();
    for table in &tables {
        names.append(CATALOG, &table.schema, &table.name, TABLE, &Schema::empty())?;
    }
    let names = names.build()?;
    if !asked.include_schema {
        return Ok(names);
    }
    // Only requested tables are opened.
    let text = |place: usize| names.column(place).as_string::<i32>();
    let (schemas, bare) = (text(1), text(2));
    let wanted: HashSet<(&str, &str)> = schemas.iter().flatten().zip(bare.iter().flatten()).collect();
    let mut builder = asked.into_builder();
    for table in tables {
        if wanted.contains(&(table.schema.as_str(), table.name.as_str())) {
            let schema = session.schema(&table.location).await.ok();
            let schema = schema.map_or_else(|| Schema::empty().into(), |schema| for_programs(&schema));
            builder.append(CATALOG, &table.schema, &table.name, TABLE, &schema)?;
        }
    }
    Ok(builder.build()?)
}

/// The properties of the server.
pub(super) fn sql_info() -> Result<&'static SqlInfoData, Status> {
    static INFO: LazyLock<Result<SqlInfoData, String>> = LazyLock::new(|| {
        let mut info = SqlInfoDataBuilder::new();
        info.append(SqlInfo::FlightSqlServerName, "Tidemill");
        info.append(SqlInfo::FlightSqlServerVersion, env!("CARGO_PKG_VERSION"));
        info.append(SqlInfo::FlightSqlServerArrowVersion, "59");
        info.append(SqlInfo::FlightSqlServerReadOnly, false);
        info.append(SqlInfo::FlightSqlServerSql, true);
        info.append(SqlInfo::FlightSqlServerSubstrait, false);
        info.append(
            SqlInfo::FlightSqlServerTransaction,
            SqlSupportedTransaction::Savepoint as i32,
        );
        info.append(SqlInfo::FlightSqlServerCancel, true);
        info.append(SqlInfo::FlightSqlServerBulkIngestion, true);
        info.append(SqlInfo::FlightSqlServerIngestTransactionsSupported, true);
        info.append(SqlInfo::FlightSqlServerStatementTimeout, 0_i32);
        info.append(SqlInfo::FlightSqlServerTransactionTimeout, 3_600_000_i32);
        info.append(SqlInfo::SqlDdlCatalog, false);
        info.append(SqlInfo::SqlDdlSchema, false);
        info.append(SqlInfo::SqlDdlTable, true);
        let insensitive = SqlSupportedCaseSensitivity::SqlCaseSensitivityCaseInsensitive as i32;
        info.append(SqlInfo::SqlIdentifierCase, insensitive);
        info.append(SqlInfo::SqlQuotedIdentifierCase, insensitive);
        info.append(SqlInfo::SqlIdentifierQuoteChar, "\"");
        info.append(SqlInfo::SqlAllTablesAreSelectable, true);
        info.append(SqlInfo::SqlNullOrdering, SqlNullOrdering::SqlNullsSortedLow as i32);
        info.append(SqlInfo::SqlTransactionsSupported, true);
        info.build().map_err(|error| error.to_string())
    });
    INFO.as_ref().map_err(Status::internal)
}

/// The requested properties; all if none is named.
pub(super) fn info(asked: CommandGetSqlInfo) -> Result<RecordBatch, Status> {
    let batch = asked.into_builder(sql_info()?).build();
    batch.map_err(Status::from)
}

/// The requested types.
pub(super) fn type_info(asked: CommandGetXdbcTypeInfo) -> Result<RecordBatch, Status> {
    let batch = asked.into_builder(types()?).build();
    batch.map_err(Status::from)
}

/// The types of columns.
pub(super) fn types() -> Result<&'static XdbcTypeInfoData, Status> {
    static TYPES: LazyLock<Result<XdbcTypeInfoData, String>> = LazyLock::new(|| {
        use XdbcDataType as X;
        let mut types = XdbcTypeInfoDataBuilder::new();
        for (name, data_type, size, quote, radix) in [
            ("BOOLEAN", X::XdbcBit, 1, "", None),
            ("BIGINT", X::XdbcBigint, 19, "", Some(10)),
            ("INTEGER", X::XdbcInteger, 10, "", Some(10)),
            ("SMALLINT", X::XdbcSmallint, 5, "", Some(10)),
            ("DECIMAL", X::XdbcDecimal, 38, "", Some(10)),
            ("DOUBLE", X::XdbcDouble, 53, "", Some(2)),
            ("VARCHAR", X::XdbcVarchar, i32::MAX, "'", None),
            ("VARBINARY", X::XdbcVarbinary, i32::MAX, "'", None),
            ("DATE", X::XdbcDate, 10, "'", None),
            ("TIME", X::XdbcTime, 15, "'", None),
            ("TIMESTAMP", X::XdbcTimestamp, 26, "'", None),
        ] {
            let quote = (!quote.is_empty()).then(|| quote.to_owned());
            types.append(XdbcTypeInfo {
                type_name: name.to_owned(),
                data_type,
                column_size: Some(size),
                literal_prefix: quote.clone(),
                literal_suffix: quote,
                create_params: (data_type == X::XdbcDecimal).then(|| vec!["precision".to_owned(), "scale".to_owned()]),
                nullable: Nullable::NullabilityNullable,
                case_sensitive: data_type == X::XdbcVarchar,
                searchable: Searchable::Full,
                unsigned_attribute: radix.map(|_| false),
                fixed_prec_scale: false,
                auto_increment: None,
                local_type_name: Some(name.to_owned()),
                minimum_scale: (data_type == X::XdbcDecimal).then_some(0),
                maximum_scale: (data_type == X::XdbcDecimal).then_some(38),
                sql_data_type: data_type,
                datetime_subcode: None,
                num_prec_radix: radix,
                interval_precision: None,
            });
        }
        types.build().map_err(|error| error.to_string())
    });
    TYPES.as_ref().map_err(Status::internal)
}

/// The columns of a result about primary keys ("Flight SQL Metadata" of the protocol).
pub(super) fn primary_keys() -> SchemaRef {
    schema(&[
        ("catalog_name", DataType::Utf8, true),
        ("db_schema_name", DataType::Utf8, true),
        ("table_name", DataType::Utf8, false),
        ("column_name", DataType::Utf8, false),
        ("key_sequence", DataType::Int32, false),
        ("key_name", DataType::Utf8, true),
    ])
}

/// The primary key of a table; without a schema, of every table of this name.
pub(super) async fn primary_key(asked: &CommandGetPrimaryKeys, session: &Session) -> Result<RecordBatch, Status> {
    let is_asked = |asked: &Option<String>, name: &str| asked.as_ref().is_none_or(|asked| asked == name);
    let (mut schemas, mut tables, mut columns, mut places) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let failed = |error| status(&Failure::of(&error, ""));
    for table in tables_of(session).await.map_err(failed)? {
        if table.name != asked.table || !is_asked(&asked.db_schema, &table.schema) || !is_asked(&asked.catalog, CATALOG)
        {
            continue;
        }
        let keys = session.keys_of(&table.location).map_err(failed)?;
        for (place, column) in (1..).zip(keys.primary_key) {
            schemas.push(table.schema.clone());
            tables.push(table.name.clone());
            columns.push(column);
            places.push(place);
        }
    }
    let names = tables.iter().map(|table| format!("{table}_pkey"));
    let names: StringArray = names.map(Some).collect();
    RecordBatch::try_new(
        primary_keys(),
        vec![
            Arc::new(StringArray::from(vec![CATALOG; tables.len()])),
            Arc::new(StringArray::from(schemas)),
            Arc::new(StringArray::from(tables)),
            Arc::new(StringArray::from(columns)),
            Arc::new(Int32Array::from(places)),
            Arc::new(names),
        ],
    )
    .map_err(|error| Status::internal(error.to_string()))
}

/// The columns of a result about foreign keys. It has no rows: only `pg_catalog` shows foreign keys.
pub(super) fn foreign_keys() -> SchemaRef {
    schema(&[
        ("pk_catalog_name", DataType::Utf8, true),
        ("pk_db_schema_name", DataType::Utf8, true),
        ("pk_table_name", DataType::Utf8, false),
        ("pk_column_name", DataType::Utf8, false),
        ("fk_catalog_name", DataType::Utf8, true),
        ("fk_db_schema_name", DataType::Utf8, true),
        ("fk_table_name", DataType::Utf8, false),
        ("fk_column_name", DataType::Utf8, false),
        ("key_sequence", DataType::Int32, false),
        ("fk_key_name", DataType::Utf8, true),
        ("pk_key_name", DataType::Utf8, true),
        ("update_rule", DataType::UInt8, false),
        ("delete_rule", DataType::UInt8, false),
    ])
}

fn schema(columns: &[(&str, DataType, bool)]) -> SchemaRef {
    let fields = columns
        .iter()
        .map(|(name, data_type, is_nullable)| Field::new(*name, data_type.clone(), *is_nullable));
    Schema::new(fields.collect::<Vec<_>>()).into()
}

/// The types of tables.
pub(super) fn table_types(asked: CommandGetTableTypes) -> Result<RecordBatch, Status> {
    let mut builder = asked.into_builder();
    builder.append(TABLE);
    builder.build().map_err(Status::from)
}

/// The catalogs.
pub(super) fn catalogs(asked: CommandGetCatalogs) -> Result<RecordBatch, Status> {
    let mut builder = asked.into_builder();
    builder.append(CATALOG);
    builder.build().map_err(Status::from)
}
