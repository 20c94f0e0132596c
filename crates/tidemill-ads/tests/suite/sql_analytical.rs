//! What an analytical engine is given: the text of a query, and the tables that it names.

use std::sync::{Arc, Mutex};

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_cast::display::array_value_to_string;
use tempfile::TempDir;
use tidemill_ads::sql::{
    Analytical, AnalyticalQuery, BLANK_IS_NULL, Error, Kind, RECORD_COUNT, Rows, Statement, StatementKind,
    StatementOptions, TableScan, TableSource, Value, parse,
};
use tidemill_ads::{Connection, Executed, Settings};
use tidemill_xbase::Blank;

/// Keeps the query that it is given, and answers with the first two columns of the table `orders`.
#[derive(Debug, Default)]
struct Listener(Mutex<Option<Arc<AnalyticalQuery>>>);

impl Analytical for Listener {
    fn run(&self, query: Arc<AnalyticalQuery>) -> Result<Rows, Error> {
        *self.0.lock().unwrap() = Some(Arc::clone(&query));
        rows_of(query.scan(&TableScan {
            table: "orders".to_owned(),
            columns: vec![0, 1],
            ..TableScan::default()
        })?)
    }
}

fn rows_of(answer: Box<dyn RecordBatchReader + Send>) -> Result<Rows, Error> {
    let schema = answer.schema();
    Ok(Rows::of_batches(&schema, answer.collect::<Result<_, _>>()?))
}

struct Shop {
    _folder: TempDir,
    connection: Connection,
    listener: Arc<Listener>,
}

impl Shop {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut connection = Connection::open(folder.path()).unwrap();
        let listener = Arc::<Listener>::default();
        connection.set_analytical(Some(listener.clone()));
        let mut shop = Self {
            _folder: folder,
            connection,
            listener,
        };
        shop.run(
            "CREATE TABLE orders ( id Integer, cust Integer, paid Date, [a b] Char(4) )",
            &[],
        );
        shop.run("CREATE INDEX id ON orders ( id )", &[]);
        shop.run("CREATE TABLE customers ( cust Integer, name Char(8) )", &[]);
        shop.run(
            "INSERT INTO orders ( id, cust ) VALUES ( 1, 1 ), ( 2, 1 ), ( 3, 2 )",
            &[],
        );
        shop
    }

    fn try_run(&mut self, text: &str, values: &[Value]) -> tidemill_ads::Result<Executed> {
        let (settings, options) = (Settings::default(), StatementOptions::default());
        self.connection.execute(text, values, &settings, &options)
    }

    #[track_caller]
    fn run(&mut self, text: &str, values: &[Value]) -> Executed {
        self.try_run(text, values)
            .unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    /// What the engine is given for a statement.
    #[track_caller]
    fn asked(&mut self, text: &str, values: &[Value]) -> Arc<AnalyticalQuery> {
        self.run(text, values);
        self.listener.0.lock().unwrap().take().expect("the engine was asked")
    }
}

const JOIN: &str = "FROM orders o JOIN customers c ON c.cust = o.cust";

#[test]
fn the_text_has_the_values_of_parameters() {
    let mut shop = Shop::new();
    let rows = [
        (Value::Text("O'Hara".to_owned()), "'O''Hara'"),
        (Value::Integer(-5), "-5"),
        (Value::Double(0.5), "5e-1"),
        (Value::Date(19_000), "{d '2022-01-08'}"),
        (Value::Logical(true), "true"),
        (Value::Null, "NULL"),
        (Value::Bytes(vec![0, 255]), "X'00FF'"),
        (
            Value::Decimal {
                unscaled: -125,
                scale: 2,
            },
            "-1.25",
        ),
    ];
    for (value, written) in rows {
        for mark in ["?", ":given"] {
            let text = shop.asked(
                &format!("SELECT o.id {JOIN} WHERE c.name = {mark}"),
                std::slice::from_ref(&value),
            );
            assert_eq!(text.text(), format!("SELECT o.id {JOIN} WHERE c.name = {written}"));
        }
    }
    let nan = shop.try_run(
        &format!("SELECT o.id {JOIN} WHERE c.name = ?"),
        &[Value::Double(f64::NAN)],
    );
    assert!(nan.is_err());
}

#[test]
fn what_only_ads_writes_is_written_otherwise() {
    let mut shop = Shop::new();
    let query = shop.asked(
        "SELECT TOP 2 START AT 3 [o].[a b] FROM [orders] [o], customers WHERE [o].id = 1",
        &[],
    );
    assert_eq!(
        query.text(),
        "SELECT TOP 2 \"o\".\"a b\" FROM \"orders\" [o], customers WHERE \"o\".id = 1 OFFSET 2"
    );
}

/// The engine reads the text that the tree is written as: it must be the same tree.
#[test]
fn queries_are_written_as_they_were_read() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/slt");
    let mut count = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        for record in text.split("\n\n") {
            let sql: String = record
                .lines()
                .filter(|line| !line.starts_with('#'))
                .collect::<Vec<_>>()
                .join("\n");
            let sql = sql.split_once('\n').map_or("", |(_, rest)| rest);
            let sql = sql.split("\n----").next().unwrap_or_default();
            let Ok(statements) = parse(sql) else { continue };
            for statement in statements {
                let StatementKind::Select(select) = statement.kind else {
                    continue;
                };
                let written = select.query.to_string();
                let again = parse(&written).unwrap_or_else(|error| panic!("{sql}\n{written}\n{error}"));
                let [
                    Statement {
                        kind: StatementKind::Select(again),
                        ..
                    },
                ] = again.as_slice()
                else {
                    panic!("{written}");
                };
                assert_eq!(again.query, select.query, "{sql}\n{written}");
                count += 1;
            }
        }
    }
    assert!(count > 100, "{count}");
}

#[test]
fn variables_of_scripts_are_values_but_do_not_hide_columns() {
    let mut shop = Shop::new();
    let script = format!("DECLARE x Integer, id Integer; x = 2; id = 9; SELECT o.id {JOIN} WHERE id = x;");
    let query = shop.asked(&script, &[]);
    assert_eq!(query.text(), format!("SELECT o.id {JOIN} WHERE id = 2"));
    // A column of the script's own cursor is one, whatever the tables have.
    let script = format!(
        "DECLARE k CURSOR AS SELECT id FROM orders; OPEN k; FETCH k; SELECT o.id {JOIN} WHERE o.id = k.id; CLOSE k;"
    );
    let query = shop.asked(&script, &[]);
    assert_eq!(query.text(), format!("SELECT o.id {JOIN} WHERE o.id = 1"));
}

#[test]
fn system_variables_are_values() {
    let mut shop = Shop::new();
    shop.run("BEGIN TRANSACTION; BEGIN TRANSACTION;", &[]);
    let text = shop.asked(&format!("SELECT o.id {JOIN} WHERE o.id = ::conn.TransactionCount"), &[]);
    assert!(text.text().ends_with("WHERE o.id = 2"), "{}", text.text());
}

#[test]
fn schemas_say_what_scans_give() {
    let mut shop = Shop::new();
    let query = shop.asked(&format!("SELECT o.id {JOIN}"), &[]);
    let schema = query.schema("orders").unwrap();
    assert_eq!(schema.metadata()[RECORD_COUNT], "3");
    assert!(schema.field(2).metadata().contains_key(BLANK_IS_NULL));
    assert_eq!(*query.schema("nothing").unwrap_err().kind(), Kind::NoTable);
}

#[test]
fn scans_take_columns_conditions_and_limits() {
    let mut shop = Shop::new();
    let query = shop.asked(&format!("SELECT o.id {JOIN}"), &[]);
    let scan = |columns: &[usize], filter: Option<&str>, limit| {
        let scan = TableScan {
            table: "orders".to_owned(),
            columns: columns.to_vec(),
            filter: filter.map(str::to_owned),
            limit,
        };
        let rows = query.scan(&scan)?;
        let schema = rows.schema();
        let batches: Vec<RecordBatch> = rows.map(Result::unwrap).collect();
        assert!(batches.iter().all(|batch| batch.schema() == schema));
        let cell = |batch: &RecordBatch, row| {
            let cells = batch
                .columns()
                .iter()
                .map(|column| array_value_to_string(column, row).unwrap());
            cells.collect::<Vec<_>>().join(",")
        };
        let rows = batches
            .iter()
            .flat_map(|batch| (0..batch.num_rows()).map(move |row| cell(batch, row)));
        Ok::<_, Error>(rows.collect::<Vec<_>>())
    };
    assert_eq!(scan(&[1, 0], None, None).unwrap(), ["1,1", "1,2", "2,3"]);
    assert_eq!(scan(&[0], Some("\"CUST\" = 1 AND \"ID\" > 1"), None).unwrap(), ["2"]);
    assert_eq!(scan(&[0], Some("\"CUST\" < 9"), Some(2)).unwrap(), ["1", "2"]);
    assert_eq!(scan(&[], Some("\"ID\" >= 2"), None).unwrap(), ["", ""]);
    // A blank day comes before every other, and is NULL outside.
    assert_eq!(scan(&[2], Some("\"PAID\" < {d '2000-01-01'}"), Some(1)).unwrap(), [""]);
    assert_eq!(*scan(&[9], None, None).unwrap_err().kind(), Kind::NoColumn);
    assert_eq!(
        *scan(&[0], Some("\"ID\" = 1 1"), None).unwrap_err().kind(),
        Kind::Syntax
    );
    assert_eq!(*scan(&[0], Some("\"ID\""), None).unwrap_err().kind(), Kind::Type);
}

#[test]
fn tables_are_as_the_connection_sees_them() {
    let mut shop = Shop::new();
    shop.run("BEGIN TRANSACTION", &[]);
    shop.run("DELETE FROM orders WHERE id < 3", &[]);
    shop.run("INSERT INTO orders ( id, cust ) VALUES ( 4, 4 )", &[]);
    let sql = format!("SELECT o.id {JOIN}");
    let count = |query: &AnalyticalQuery| {
        let scan = TableScan {
            table: "orders".to_owned(),
            columns: vec![0],
            filter: Some("\"ID\" > 2".to_owned()),
            ..TableScan::default()
        };
        rows_of(query.scan(&scan).unwrap()).unwrap().count()
    };
    assert_eq!(count(&shop.asked(&sql, &[])), 2);
    shop.run("ROLLBACK WORK", &[]);
    assert_eq!(count(&shop.asked(&sql, &[])), 1);
}

#[test]
fn a_with_query_may_have_the_name_of_a_table_that_it_reads() {
    let mut shop = Shop::new();
    for (sql, lent, not_lent) in [
        (
            "WITH customers AS (SELECT cust FROM customers) SELECT 1 FROM orders o JOIN customers c ON 1 = 1",
            "customers",
            "c",
        ),
        (
            "WITH w AS (SELECT cust FROM orders), orders AS (SELECT cust FROM w) SELECT * FROM orders JOIN w ON 1 = 1",
            "orders",
            "w",
        ),
        (
            "WITH w AS (WITH customers AS (SELECT id FROM orders) SELECT id FROM customers) SELECT 1 FROM w JOIN orders ON 1 = 1",
            "orders",
            "customers",
        ),
    ] {
        let asked = shop.asked(sql, &[]);
        assert!(asked.schema(lent).is_ok(), "{sql}");
        assert!(asked.schema(not_lent).is_err(), "{sql}");
    }
}

#[test]
fn blanks_that_are_null_are_lent_as_null() {
    let mut shop = Shop::new();
    shop.run("INSERT INTO orders ( id, paid ) VALUES ( 4, '2024-02-29' )", &[]);
    let settings = Settings::default();
    let options = StatementOptions {
        blanks: Blank::Null,
        ..StatementOptions::default()
    };
    let sql = format!("SELECT o.id {JOIN}");
    shop.connection.execute(&sql, &[], &settings, &options).unwrap();
    let query = shop.listener.0.lock().unwrap().take().expect("the engine was asked");
    let schema = query.schema("orders").unwrap();
    assert!(
        schema
            .fields()
            .iter()
            .all(|field| !field.metadata().contains_key(BLANK_IS_NULL))
    );
    let count = |filter: &str| {
        let scan = TableScan {
            table: "orders".to_owned(),
            columns: vec![2],
            filter: Some(filter.to_owned()),
            ..TableScan::default()
        };
        rows_of(query.scan(&scan).unwrap()).unwrap().count()
    };
    assert_eq!(count("\"PAID\" < {d '2025-01-01'}"), 1);
    assert_eq!(count("NOT \"PAID\" > {d '2025-01-01'}"), 1);
    assert_eq!(count("\"PAID\" IS NULL"), 3);
}

#[test]
fn views_and_system_tables_are_rows() {
    let mut shop = Shop::new();
    shop.run("CREATE VIEW big AS SELECT id, cust FROM orders WHERE id > 1", &[]);
    let query = shop.asked(
        "SELECT b.id FROM big b JOIN system.tables t ON t.name = 'x' JOIN orders ON 1 = 1",
        &[],
    );
    let scan = |table: &str, filter: &str| {
        let scan = TableScan {
            table: table.to_owned(),
            columns: vec![0],
            filter: Some(filter.to_owned()),
            ..TableScan::default()
        };
        rows_of(query.scan(&scan).unwrap()).unwrap().count()
    };
    assert_eq!(scan("big", "\"CUST\" = 1"), 1);
    assert_eq!(scan("system.tables", "\"Name\" = 'orders'"), 1);
}

#[test]
fn what_procedures_give_is_rows() {
    let mut shop = Shop::new();
    let query = shop.asked(
        "SELECT a.INDEX_NAME, b.TABLE_NAME FROM (EXECUTE PROCEDURE sp_GetIndexInfo( NULL, NULL, :name, False, True )) a
         LEFT OUTER JOIN (EXECUTE PROCEDURE sp_GetIndexInfo( NULL, NULL, 'cust' + 'omers', False, True )) b
         ON a.INDEX_NAME = b.INDEX_NAME LEFT OUTER JOIN (EXECUTE PROCEDURE sp_GetCatalogs()) ON 1 = 1 JOIN orders ON 1 = 1
         WHERE a.TYPE <> 0",
        &[Value::Text("orders".to_owned())],
    );
    for part in [
        "FROM \"sp_GetIndexInfo\" a ",
        "JOIN \"sp_GetIndexInfo 2\" b ",
        "JOIN \"sp_GetCatalogs\" ON",
    ] {
        assert!(query.text().contains(part), "{}", query.text());
    }
    let count = |table: &str, filter: Option<&str>| {
        let scan = TableScan {
            table: table.to_owned(),
            columns: vec![2],
            filter: filter.map(str::to_owned),
            ..TableScan::default()
        };
        rows_of(query.scan(&scan).unwrap()).unwrap().count()
    };
    assert_eq!(count("sp_GetIndexInfo", None), 2);
    assert_eq!(count("sp_GetIndexInfo", Some("\"INDEX_NAME\" = 'ID'")), 1);
    assert_eq!(count("sp_GetIndexInfo 2", Some("\"TABLE_NAME\" = 'customers'")), 1);
    assert_eq!(query.schema("sp_GetCatalogs").unwrap().fields().len(), 1);
    for sql in [
        "SELECT * FROM (EXECUTE PROCEDURE sp_PackTable( 'orders' )) p JOIN orders ON 1 = 1",
        "SELECT * FROM (EXECUTE PROCEDURE sp_Weather()) p JOIN orders ON 1 = 1",
    ] {
        let error = shop.try_run(sql, &[]).unwrap_err().to_string();
        assert!(error.contains("NativeError = 2134"), "{sql}: {error}");
    }
}

#[test]
fn answers_go_where_they_are_wanted() {
    let mut shop = Shop::new();
    let make = format!("SELECT o.id, o.cust INTO made {JOIN}");
    assert_eq!(shop.run(&make, &[]), Executed::Changed(3));
    let asked = shop.listener.0.lock().unwrap().take().unwrap();
    assert_eq!(asked.text(), format!("SELECT o.id, o.cust {JOIN}"));
    assert_eq!(
        shop.run(&format!("INSERT INTO made SELECT o.id, o.cust {JOIN}"), &[]),
        Executed::Changed(3)
    );
    let one = shop.try_run(&format!("INSERT INTO made ( id ) SELECT o.id {JOIN}"), &[]);
    assert!(one.unwrap_err().to_string().contains("2 columns for 1 columns"));
    assert_eq!(shop.run("UPDATE made SET id = 7", &[]), Executed::Changed(6));
}

#[test]
fn aggregates_over_windows_group_nothing() {
    let mut shop = Shop::new();
    for text in [
        "SELECT id, SUM(cust) OVER (PARTITION BY paid) AS total FROM orders",
        "SELECT t.id FROM (SELECT id, MAX(cust) OVER (ORDER BY id) AS most FROM orders) AS t WHERE t.most > 1",
    ] {
        assert_eq!(shop.asked(text, &[]).text(), text);
    }
}

#[test]
fn without_an_engine_joins_are_refused() {
    let mut shop = Shop::new();
    shop.connection.set_analytical(None);
    let refused = shop.try_run(&format!("SELECT o.id {JOIN}"), &[]).unwrap_err();
    assert!(refused.to_string().contains("NativeError = 2208"), "{refused}");
}

#[test]
fn records_that_the_engine_picks_are_changed() {
    let mut shop = Shop::new();
    // The engine here answers with the first two columns of the table: records 1, 2, 3 with what becomes of a column.
    let update =
        "UPDATE orders SET id = ? + (SELECT MAX(c.cust) FROM customers c) WHERE cust IN (SELECT cust FROM customers)";
    let asked = shop.asked(update, &[Value::Integer(7)]);
    assert_eq!(
        asked.text(),
        "SELECT \"orders\".ROWID AS V0, 7 + (SELECT MAX(c.cust) FROM customers c) AS V1 FROM \"orders\" AS \"orders\" \
         WHERE cust IN (SELECT cust FROM customers)"
    );
    let schema = asked.schema("orders").unwrap();
    assert_eq!(schema.fields().last().unwrap().name(), "ROWID");
    let scan = TableScan {
        table: "orders".to_owned(),
        columns: vec![4, 0],
        filter: Some("\"ID\" = 2".to_owned()),
        ..TableScan::default()
    };
    // By now the third record alone has this value.
    let rows = rows_of(asked.scan(&scan).unwrap()).unwrap();
    let row_id = array_value_to_string(rows.batches[0].column(0), 0).unwrap();
    assert!(row_id.len() == 18 && row_id.ends_with("AAAAAD"), "{row_id}");
    assert_eq!(
        shop.run("DELETE FROM orders WHERE id = 1 AND cust = 1", &[]),
        Executed::Changed(2)
    );
    assert_eq!(
        shop.run("DELETE FROM orders WHERE id = 2 AND cust = 2", &[]),
        Executed::Changed(1)
    );

    for (change, text) in [
        (
            "DELETE FROM orders o WHERE EXISTS (SELECT * FROM customers c WHERE c.cust = o.cust)",
            "SELECT o.ROWID AS V0 FROM \"orders\" AS o WHERE EXISTS (SELECT * FROM customers c WHERE c.cust = o.cust)",
        ),
        (
            "UPDATE orders SET cust = b.cust FROM orders LEFT JOIN customers b ON b.cust = orders.id WHERE b.name = 'x'",
            "SELECT \"orders\".ROWID AS V0, b.cust AS V1 FROM orders LEFT JOIN customers b ON b.cust = orders.id \
             WHERE b.name = 'x'",
        ),
        (
            "UPDATE o SET cust = b.cust FROM orders o, customers b, customers c WHERE b.cust = c.cust",
            "SELECT o.ROWID AS V0, b.cust AS V1 FROM orders o, customers b, customers c WHERE b.cust = c.cust",
        ),
    ] {
        let mut shop = Shop::new();
        assert_eq!(shop.asked(change, &[]).text(), text);
        shop.connection.set_analytical(None);
        let refused = shop.try_run(change, &[]).unwrap_err().to_string();
        assert!(refused.contains("NativeError = 2208"), "{refused}");
    }
}

#[test]
fn a_merge_asks_the_engine_for_what_holds_subqueries() {
    let mut shop = Shop::new();
    shop.run("INSERT INTO customers VALUES ( 5, 'Ada' )", &[]);
    // The engine here answers with three records for the one row of the source.
    let merge = "MERGE orders o USING customers c ON o.cust = c.cust AND o.id < (SELECT MAX(x.id) FROM orders x) \
                 WHEN MATCHED THEN UPDATE SET id = c.cust + ? WHEN NOT MATCHED THEN INSERT ( id ) VALUES ( c.cust )";
    let asked = shop.asked(merge, &[Value::Integer(7)]);
    assert_eq!(
        asked.text(),
        "SELECT o.ROWID AS V0, 5 + 7 AS V1 FROM \"orders\" AS o \
         WHERE o.cust = 5 AND o.id < (SELECT MAX(x.id) FROM orders x)"
    );
    let mut shop = Shop::new();
    let insert =
        "INSERT INTO customers VALUES ( (SELECT MAX(id) FROM orders), DEFAULT ), ( ?, (SELECT 'x' FROM orders) )";
    shop.connection.set_analytical(None);
    let refused = shop.try_run(insert, &[Value::Integer(7)]).unwrap_err().to_string();
    assert!(refused.contains("NativeError = 2208"), "{refused}");
    shop.connection.set_analytical(Some(shop.listener.clone()));
    // It answers with two columns, and the first row gives one value.
    let refused = shop.try_run(insert, &[Value::Integer(7)]).unwrap_err().to_string();
    assert!(refused.contains("2 columns for 1 columns"), "{refused}");
    let asked = shop.listener.0.lock().unwrap().take().unwrap();
    assert_eq!(asked.text(), "SELECT (SELECT MAX(id) FROM orders) AS V0");
}

/// The engine compares with regard to case, so that columns that do not are written in small letters.
#[test]
fn columns_that_ignore_case_are_written_in_small_letters() {
    let mut shop = Shop::new();
    shop.run("CREATE TABLE places ( cust Integer, place Char(8) )", &[]);
    shop.connection
        .execute(
            "CREATE TABLE people ( cust Integer, name CIChar(8) )",
            &[],
            &Settings::default(),
            &StatementOptions {
                table: tidemill_ads::TableOptions {
                    table_type: tidemill_ads::TableType::Adt,
                    ..tidemill_ads::TableOptions::default()
                },
                ..StatementOptions::default()
            },
        )
        .unwrap();
    let from = "FROM orders o JOIN people p ON p.cust = o.cust";
    for (text, written) in [
        (
            format!("SELECT o.id {from} WHERE p.name = 'Smith'"),
            "WHERE LOWER(p.name) = 'smith'",
        ),
        (
            format!("SELECT o.id {from} WHERE TRIM( name ) LIKE 'S%' ORDER BY name, id"),
            "WHERE LOWER(TRIM(name)) LIKE 's%' ORDER BY LOWER(name), id",
        ),
        (
            format!("SELECT o.id {from} WHERE p.name IN ( 'a', 'b' ) AND p.name COLLATE ads_default_cs <> 'x'"),
            "WHERE LOWER(p.name) IN ('a', 'b') AND p.name COLLATE ads_default_cs <> 'x'",
        ),
        (
            "SELECT o.id FROM orders o WHERE 'x' IN ( SELECT name FROM people )".to_owned(),
            "WHERE 'x' IN (SELECT LOWER(name) FROM people)",
        ),
        (
            "SELECT o.id FROM orders o JOIN people p ON p.name = o.[a b]".to_owned(),
            "ON LOWER(p.name) = LOWER(o.\"a b\")",
        ),
        (
            format!(
                "SELECT COUNT( DISTINCT p.name ), COUNT( DISTINCT o.[a b] ) {from} WHERE p.name LIKE 'AX%' ESCAPE 'X'"
            ),
            "SELECT COUNT(DISTINCT LOWER(p.name)), COUNT(DISTINCT o.\"a b\") FROM orders o JOIN people p ON p.cust = o.cust WHERE LOWER(p.name) LIKE 'ax%' ESCAPE 'x'",
        ),
        (
            format!("SELECT o.id {from} WHERE LENGTH( p.name ) = 5 AND o.[a b] = 'x'"),
            "WHERE LENGTH(p.name) = 5 AND o.\"a b\" = 'x'",
        ),
        (
            "SELECT o.id FROM orders o JOIN system.tables t ON t.name = 'ORDERS'".to_owned(),
            "ON LOWER(t.name) = 'orders'",
        ),
    ] {
        let asked = shop.asked(&text, &[]);
        assert!(asked.text().contains(written), "{text}: {}", asked.text());
    }
}
