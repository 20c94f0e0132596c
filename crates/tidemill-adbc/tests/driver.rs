//! The driver through the traits that driver managers call.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::path::Path;
use std::sync::Arc;

use adbc_core::error::{Error, Status};
use adbc_core::options::{OptionConnection, OptionDatabase, OptionStatement, OptionValue};
use adbc_core::{Connection as _, Database as _, Driver as _, Optionable as _, Statement as _};
use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{ArrayRef, Int64Array, RecordBatch, RecordBatchIterator, RecordBatchReader, StringArray};
use tidemill_adbc::{TidemillConnection, TidemillDatabase, TidemillDriver};
use tidemill_testkit::ClickHouse;

fn database(options: &[(&str, &str)]) -> Result<TidemillDatabase, Error> {
    let options = options
        .iter()
        .map(|(key, value)| (OptionDatabase::from(*key), OptionValue::from(*value)));
    TidemillDriver.new_database_with_opts(options)
}

fn connection(folder: &Path) -> TidemillConnection {
    let database = database(&[("uri", folder.to_str().unwrap())]).unwrap();
    database.new_connection().unwrap()
}

fn update(connection: &mut TidemillConnection, sql: &str) -> Option<i64> {
    let mut statement = connection.new_statement().unwrap();
    statement.set_sql_query(sql).unwrap();
    statement.execute_update().unwrap()
}

fn query(connection: &mut TidemillConnection, sql: &str) -> RecordBatch {
    let mut statement = connection.new_statement().unwrap();
    statement.set_sql_query(sql).unwrap();
    whole(statement.execute().unwrap())
}

fn whole(rows: Box<dyn RecordBatchReader + Send>) -> RecordBatch {
    let schema = rows.schema();
    let batches: Vec<RecordBatch> = rows.map(Result::unwrap).collect();
    arrow_select::concat::concat_batches(&schema, &batches).unwrap()
}

fn batch(ids: &[i64], names: &[&str]) -> RecordBatch {
    let ids: ArrayRef = Arc::new(Int64Array::from(ids.to_vec()));
    let names: ArrayRef = Arc::new(StringArray::from(names.to_vec()));
    RecordBatch::try_from_iter([("id", ids), ("name", names)]).unwrap()
}

fn ingest(connection: &mut TidemillConnection, table: &str, mode: &str, rows: RecordBatch) -> Result<i64, Error> {
    let mut statement = connection.new_statement().unwrap();
    statement
        .set_option(OptionStatement::TargetTable, table.into())
        .unwrap();
    let mode = format!("adbc.ingest.mode.{mode}");
    statement
        .set_option(OptionStatement::IngestMode, mode.as_str().into())
        .unwrap();
    let schema = rows.schema();
    statement
        .bind_stream(Box::new(RecordBatchIterator::new([Ok(rows)], schema)))
        .unwrap();
    Ok(statement.execute_update()?.unwrap())
}

#[test]
fn changes_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let mut connection = connection(folder.path());
    assert_eq!(
        update(&mut connection, "CREATE TABLE t ( id Integer, name Char(8) )"),
        None
    );
    assert_eq!(
        update(&mut connection, "INSERT INTO t VALUES ( 1, 'a' ), ( 2, 'b' )"),
        Some(2)
    );
    assert_eq!(update(&mut connection, "SELECT * FROM t"), None);
    // The number goes beside the rows, of which there are none: `export.rs`.
    let changed = query(&mut connection, "UPDATE t SET name = 'c'");
    assert_eq!((changed.num_columns(), changed.num_rows()), (0, 0));
    connection
        .set_option(OptionConnection::ReadOnly, "true".into())
        .unwrap();
    let mut statement = connection.new_statement().unwrap();
    statement.set_sql_query("DELETE FROM t").unwrap();
    let refused = statement.execute_update().unwrap_err();
    assert_eq!(refused.status, Status::InvalidState);
    assert!(ingest(&mut connection, "u", "create", batch(&[1], &["a"])).is_err());
    assert_eq!(query(&mut connection, "SELECT * FROM t").num_rows(), 2);
}

#[test]
fn a_failed_run_takes_those_before_it_back() {
    let folder = tempfile::tempdir().unwrap();
    let mut connection = connection(folder.path());
    update(&mut connection, "CREATE TABLE t ( id Integer, name Char(3) )");
    let mut statement = connection.new_statement().unwrap();
    statement
        .set_sql_query("INSERT INTO t ( id, name ) VALUES ( :id, :name )")
        .unwrap();
    statement.bind(batch(&[1, 2], &["a", "too long"])).unwrap();
    assert_eq!(statement.execute_update().unwrap_err().status, Status::InvalidData);
    statement.bind(batch(&[1, 2], &["a", "b"])).unwrap();
    assert_eq!(statement.execute_update().unwrap(), Some(2));
    // A batch that is bound stays bound.
    assert_eq!(statement.execute_update().unwrap(), Some(2));
    let found = query(&mut connection, "SELECT COUNT(*), MAX(id) FROM t");
    assert_eq!(found.column(0).as_primitive::<Int64Type>().values(), &[4]);
    assert_eq!(
        connection.get_option_string(OptionConnection::AutoCommit).unwrap(),
        "true"
    );
}

#[test]
fn a_transaction_takes_appended_rows_back() {
    let folder = tempfile::tempdir().unwrap();
    let (mut connection, mut other) = (connection(folder.path()), connection(folder.path()));
    update(
        &mut connection,
        "CREATE TABLE t ( id Integer, name Char(8), more Memo )",
    );
    connection
        .set_option(OptionConnection::AutoCommit, "false".into())
        .unwrap();
    assert_eq!(
        ingest(&mut connection, "t", "append", batch(&[1, 2], &["a", "b"])),
        Ok(2)
    );
    let join = "SELECT a.id FROM t a JOIN t b ON b.id = a.id ORDER BY 1";
    assert_eq!(
        query(&mut connection, join)
            .column(0)
            .as_primitive::<Int32Type>()
            .values(),
        &[1, 2]
    );
    assert_eq!(query(&mut other, join).num_rows(), 0);
    connection.rollback().unwrap();
    assert_eq!(query(&mut connection, join).num_rows(), 0);
    ingest(&mut connection, "t", "append", batch(&[3], &["c"])).unwrap();
    // Turning autocommit on commits.
    connection
        .set_option(OptionConnection::AutoCommit, "true".into())
        .unwrap();
    assert_eq!(query(&mut other, join).num_rows(), 1);
    assert_eq!(connection.commit().unwrap_err().status, Status::InvalidState);
}

#[test]
fn what_there_is_not_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let mut connection = connection(folder.path());
    let refused = database(&[("username", "me")]).unwrap_err();
    assert_eq!(refused.status, Status::NotImplemented);
    assert_eq!(
        database(&[("tidemill.drive.CD", "/")]).unwrap_err().status,
        Status::InvalidArguments
    );
    let mut statement = connection.new_statement().unwrap();
    assert_eq!(statement.execute().map(drop).unwrap_err().status, Status::InvalidState);
    assert_eq!(
        statement.set_substrait_plan([]).unwrap_err().status,
        Status::NotImplemented
    );
    statement.set_sql_query("SELECT 1").unwrap();
    assert_eq!(
        statement.execute_partitions().map(drop).unwrap_err().status,
        Status::NotImplemented
    );
    assert_eq!(
        connection.read_partition([]).map(drop).unwrap_err().status,
        Status::NotImplemented
    );
    let isolation = connection.set_option(OptionConnection::IsolationLevel, "serializable".into());
    assert_eq!(isolation.unwrap_err().status, Status::NotImplemented);
}

#[test]
fn rows_go_to_tables_of_a_server_too() {
    let Some(server) = ClickHouse::need() else { return };
    let url = format!("clickhouse://{}/default", server.native());
    let folder = tempfile::tempdir().unwrap();
    let options = [("uri", folder.path().to_str().unwrap()), ("tidemill.attach.shop", &url)];
    let mut connection = database(&options).unwrap().new_connection().unwrap();
    let rows = || batch(&[1, 2], &["a", "b"]);
    assert_eq!(ingest(&mut connection, "shop.t", "create", rows()), Ok(2));
    assert_eq!(ingest(&mut connection, "shop.t", "append", rows()), Ok(2));
    assert_eq!(ingest(&mut connection, "shop.t", "create_append", rows()), Ok(2));
    assert!(ingest(&mut connection, "shop.t", "create", rows()).is_err());
    let found = query(&mut connection, "SELECT COUNT(*) FROM shop.t WHERE id = 1");
    assert_eq!(found.column(0).as_primitive::<Int64Type>().values(), &[3]);
    assert_eq!(ingest(&mut connection, "shop.t", "replace", rows()), Ok(2));
    let depth = adbc_core::options::ObjectDepth::Tables;
    let objects = whole(
        connection
            .get_objects(depth, None, Some("shop"), None, None, None)
            .unwrap(),
    );
    let text = arrow_cast::display::array_value_to_string(objects.column(1), 0).unwrap();
    assert!(
        text.contains("db_schema_name: shop") && text.contains("table_name: t"),
        "{text}"
    );
}
