//! Rules of a database container of Visual FoxPro, in each way that a table is changed.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use tempfile::TempDir;
use tidemill_ads::sql::{StatementOptions, TableName};
use tidemill_ads::{Connection, ErrorCode, Executed, Settings, TableOptions, TableType};

use crate::dictionaries::rows_of;

struct House {
    folder: TempDir,
    connection: Connection,
    settings: Settings,
    options: StatementOptions,
}

impl House {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for extension in ["dbf", "dbc", "dct", "dcx"] {
            let name = format!("ruled.{extension}");
            let from = tidemill_testkit::corpus(format!("xbase/containers/{name}"));
            std::fs::copy(from, folder.path().join(name)).unwrap();
        }
        let connection = Connection::open(folder.path()).unwrap();
        let table = TableOptions {
            table_type: TableType::Vfp,
            ..TableOptions::default()
        };
        Self {
            folder,
            connection,
            settings: Settings::default(),
            options: StatementOptions {
                table,
                ..StatementOptions::default()
            },
        }
    }

    fn run(&mut self, sql: &str) -> Result<Executed, String> {
        let done = self.connection.execute(sql, &[], &self.settings, &self.options);
        done.map_err(|error| error.to_string())
    }

    /// Name, limit and state of each customer.
    fn rows(&mut self) -> Vec<String> {
        let sql = "SELECT [customerName], [creditLimit], active FROM ruled";
        let Executed::Cursor(id) = self.run(sql).unwrap() else {
            panic!("no rows")
        };
        rows_of(&mut self.connection, id, &self.settings)
    }

    fn append(&mut self, columns: &[(&str, &str)]) -> Result<u64, String> {
        let columns = columns.iter().map(|(name, value)| {
            let values: ArrayRef = Arc::new(StringArray::from(vec![*value]));
            (*name, values)
        });
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let mut tables = self.connection.tables(&self.settings, &self.options);
        let appended = tables.append(&TableName::new("ruled"), &batch);
        appended.map_err(|error| error.to_string())
    }
}

#[test]
fn statements_and_batches_keep_the_rules() {
    let mut house = House::new();
    house.run("INSERT INTO ruled ([customerName]) VALUES ('Anna')").unwrap();
    house
        .run("INSERT INTO ruled ([customerName], [creditLimit]) VALUES ('Berta', 900)")
        .unwrap();
    house.append(&[("customerName", "Carl")]).unwrap();
    let kept = ["Anna|100.00|T", "Berta|900.00|T", "Carl|100.00|T"];
    assert_eq!(house.rows(), kept);
    for (sql, part) in [
        ("INSERT INTO ruled ([creditLimit]) VALUES (1)", "A customer has a name."),
        (
            "UPDATE ruled SET [creditLimit] = [creditLimit] - 200",
            "creditLimit >= 0",
        ),
        ("UPDATE ruled SET [creditLimit] = NULL", "creditLimit >= 0"),
        ("UPDATE ruled SET [creditLimit] = 1001, active = FALSE", "OR active"),
        (
            "MERGE ruled ON ([customerName] = 'Anna') WHEN MATCHED THEN UPDATE SET [creditLimit] = -1",
            "creditLimit >= 0",
        ),
    ] {
        let error = house.run(sql).unwrap_err();
        assert!(
            error.contains("NativeError = 51") && error.contains(part),
            "{sql}: {error}"
        );
        assert_eq!(house.rows(), kept, "{sql}");
    }
    let error = house.append(&[("creditLimit", "1")]).unwrap_err();
    assert!(error.contains("A customer has a name."), "{error}");
    assert_eq!(house.rows(), kept);
}

#[test]
fn record_functions_keep_the_rules() {
    let mut house = House::new();
    let settings = house.settings.clone();
    let options = house.options.table.clone();
    let id = house.connection.open_table("ruled.dbf", &options, &settings).unwrap();
    let area = house.connection.area(id).unwrap();
    let [name, credit] = ["customerName", "creditLimit"].map(|field| area.field_named(field).unwrap());
    area.append_record().unwrap();
    area.set_number(credit, 5.0).unwrap();
    let error = area.write_record().unwrap_err();
    assert_eq!(error.code(), ErrorCode::RecordConstraintViolation, "{error}");
    area.set_text(name, b"Anna", &settings).unwrap();
    area.write_record().unwrap();
    area.set_number(credit, -5.0).unwrap();
    assert!(
        area.write_record()
            .unwrap_err()
            .to_string()
            .contains("creditLimit >= 0")
    );
    area.cancel_update().unwrap();
    house.connection.close_table(id).unwrap();
    assert_eq!(house.rows(), ["Anna|5.00|T"]);
}

#[test]
fn a_table_with_a_rule_that_is_not_understood_is_only_read() {
    let mut house = House::new();
    let container = house.folder.path().join("ruled.dct");
    let mut bytes = std::fs::read(&container).unwrap();
    let rule = b"creditLimit >= 0";
    let at = bytes.windows(rule.len()).position(|window| window == rule).unwrap();
    bytes[at..at + rule.len()].copy_from_slice(b"okay(creditLimi)");
    std::fs::write(&container, bytes).unwrap();
    for sql in [
        "INSERT INTO ruled ([customerName]) VALUES ('Anna')",
        "DELETE FROM ruled",
    ] {
        let error = house.run(sql).unwrap_err();
        for part in ["NativeError = 5072", "ruled.dbf", "okay(creditLimi)"] {
            assert!(error.contains(part), "{error}");
        }
    }
    assert_eq!(house.rows(), [""; 0]);
    let (settings, options) = (house.settings.clone(), house.options.table.clone());
    let id = house.connection.open_table("ruled.dbf", &options, &settings).unwrap();
    let error = house.connection.area(id).unwrap().append_record().unwrap_err();
    assert_eq!(error.code(), ErrorCode::TableReadOnly, "{error}");
    // Without its container the table is a free one.
    house.connection.close_table(id).unwrap();
    // By now a change of the files shows in their times, so that what was read may be kept.
    std::thread::sleep(std::time::Duration::from_millis(50));
    assert_eq!(house.rows(), [""; 0]);
    for extension in ["dbc", "dct", "dcx"] {
        std::fs::remove_file(house.folder.path().join("ruled").with_extension(extension)).unwrap();
    }
    house.run("INSERT INTO ruled (customerna) VALUES ('Anna')").unwrap();
}
