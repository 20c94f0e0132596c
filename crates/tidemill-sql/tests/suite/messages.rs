//! Riegeli files of protobuf messages, as other programs write them: columns by their descriptors.

use std::path::Path;

use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{DescriptorProto, FieldDescriptorProto, FileDescriptorProto, FileDescriptorSet};
use tidemill_riegeli::{RecordType, RecordWriter, RecordsMetadata, WriterOptions};
use tidemill_sql::{Session, SessionOptions};

/// `message Order { optional int64 id = 1; optional string city = 2; repeated Line lines = 3; optional Buyer buyer = 4; }`,
/// `message Line { optional string item = 1; optional double price = 2; }`,
/// `message Buyer { optional string name = 1; optional Home home = 2; }` and
/// `message Home { optional string street = 1; optional int32 zip = 2; }`, of package shop.
fn descriptors() -> FileDescriptorSet {
    let field = |name: &str, number, r#type: Type, label: Label, type_name: Option<&str>| FieldDescriptorProto {
        name: Some(name.to_owned()),
        number: Some(number),
        r#type: Some(r#type.into()),
        label: Some(label.into()),
        type_name: type_name.map(str::to_owned),
        ..Default::default()
    };
    let message = |name: &str, field| DescriptorProto {
        name: Some(name.to_owned()),
        field,
        ..Default::default()
    };
    FileDescriptorSet {
        file: vec![FileDescriptorProto {
            name: Some("shop.proto".to_owned()),
            package: Some("shop".to_owned()),
            message_type: vec![
                message(
                    "Order",
                    vec![
                        field("id", 1, Type::Int64, Label::Optional, None),
                        field("city", 2, Type::String, Label::Optional, None),
                        field("lines", 3, Type::Message, Label::Repeated, Some(".shop.Line")),
                        field("buyer", 4, Type::Message, Label::Optional, Some(".shop.Buyer")),
                    ],
                ),
                message(
                    "Line",
                    vec![
                        field("item", 1, Type::String, Label::Optional, None),
                        field("price", 2, Type::Double, Label::Optional, None),
                    ],
                ),
                message(
                    "Buyer",
                    vec![
                        field("name", 1, Type::String, Label::Optional, None),
                        field("home", 2, Type::Message, Label::Optional, Some(".shop.Home")),
                    ],
                ),
                message(
                    "Home",
                    vec![
                        field("street", 1, Type::String, Label::Optional, None),
                        field("zip", 2, Type::Int32, Label::Optional, None),
                    ],
                ),
            ],
            ..Default::default()
        }],
    }
}

/// Orders 0 to 999: every third has no city, order n has n % 3 lines of 10.5 each. Of four orders one has no buyer, one an empty
/// buyer, one a buyer with an empty home, and one Ann, whose zip is n % 128.
fn write(path: &Path, options: &str, described: bool) {
    let mut options = options.parse::<WriterOptions>().expect("options");
    if described {
        let mut metadata = RecordsMetadata::default();
        metadata.set_record_type(RecordType {
            name: "shop.Order".to_owned(),
            descriptors: descriptors(),
        });
        options = options.metadata(&metadata);
    }
    let mut writer = RecordWriter::create(path, options).expect("a file");
    for id in 0..1_000_u64 {
        let mut message = vec![0x08, (id & 0x7f) as u8 | 0x80, (id >> 7) as u8];
        if id % 3 > 0 {
            message.extend(b"\x12\x04Roma");
        }
        for _ in 0..id % 3 {
            message.extend(b"\x1a\x0e\x0a\x03nut\x11");
            message.extend(10.5_f64.to_le_bytes());
        }
        match id % 4 {
            0 => {}
            1 => message.extend(b"\x22\x00"),
            2 => {
                message.extend(b"\x22\x0e\x0a\x03Ann\x12\x07\x0a\x03Via\x10");
                message.push((id & 0x7f) as u8);
            }
            _ => message.extend(b"\x22\x02\x12\x00"),
        }
        writer.write_record(&message).expect("written");
    }
    writer.close().expect("closed");
}

async fn answer(session: &Session, sql: &str) -> String {
    let batches = session.query(sql).await.expect(sql).collect().await.expect(sql);
    let mut out = Vec::new();
    let mut writer = arrow_csv::WriterBuilder::new().with_header(false).build(&mut out);
    for batch in &batches {
        writer.write(batch).expect(sql);
    }
    drop(writer);
    String::from_utf8(out).expect("UTF-8")
}

#[tokio::test]
async fn messages_are_asked_by_their_fields() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let session = Session::new(SessionOptions::default().dir(folder.path()));
    for (name, options) in [
        ("simple", "zstd,chunk_size:4k"),
        ("transposed", "transpose,zstd,chunk_size:4k,bucket_fraction:0"),
    ] {
        write(&folder.path().join(name).with_extension("riegeli"), options, true);
        for (sql, expected) in [
            ("SELECT COUNT(*), COUNT(city), MAX(id) FROM {}", "1000,666,999\n"),
            ("SELECT id, city FROM {} WHERE id % 500 = 1", "1,Roma\n501,\n"),
            ("SELECT city, id FROM {} LIMIT 2", ",0\nRoma,1\n"),
            (
                "SELECT COUNT(*), SUM(get_field(line, 'price')) FROM (SELECT unnest(lines) AS line FROM {})",
                "999,10489.5\n",
            ),
            (
                "SELECT id, array_length(lines), get_field(array_element(lines, 1), 'item') FROM {} WHERE city IS NOT NULL AND id < 3",
                "1,1,nut\n2,2,nut\n",
            ),
            (
                "SELECT id, get_field(buyer, 'home', 'zip'), get_field(buyer, 'name') FROM {} WHERE id < 4",
                "0,,\n1,,\n2,2,Ann\n3,,\n",
            ),
            (
                "SELECT COUNT(*), SUM(get_field(buyer, 'home', 'zip')) FROM {} WHERE get_field(buyer, 'name') = 'Ann'",
                "250,15688\n",
            ),
            (
                "SELECT COUNT(buyer), COUNT(get_field(buyer, 'home')), COUNT(get_field(buyer, 'home', 'street')) FROM {}",
                "750,500,250\n",
            ),
            (
                "SELECT id FROM {} WHERE get_field(buyer, 'home') IS NOT NULL AND get_field(buyer, 'home', 'zip') IS NULL LIMIT 2",
                "3\n7\n",
            ),
            (
                "SELECT upper(get_field(buyer, 'name')) AS who, COUNT(*) FROM {} GROUP BY who ORDER BY 2",
                "ANN,250\n,750\n",
            ),
        ] {
            let sql = sql.replace("{}", name);
            assert_eq!(answer(&session, &sql).await, expected, "{sql}");
        }
    }
}

#[tokio::test]
async fn a_scan_decodes_the_columns_that_are_asked_for() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let session = Session::new(SessionOptions::default().dir(folder.path()));
    let path = folder.path().join("orders.riegeli");
    write(&path, "transpose,uncompressed,chunk_size:1M,bucket_fraction:0", true);
    let plan = session
        .explain("SELECT id FROM orders WHERE id > 3 LIMIT 5")
        .await
        .expect("a plan");
    assert!(plan.contains("columns=[id], filter=id@0 > 3, limit=5"), "{plan}");
    let plan = session
        .explain("SELECT city FROM orders LIMIT 5")
        .await
        .expect("a plan");
    assert!(plan.contains("columns=[city], limit=5"), "{plan}");
    for (sql, columns) in [
        (
            "SELECT get_field(buyer, 'home', 'zip') AS zip FROM orders",
            "[buyer.home.zip]",
        ),
        (
            "SELECT SUM(get_field(buyer, 'home', 'zip')) FROM orders GROUP BY id",
            "[id, buyer.home.zip]",
        ),
        ("SELECT get_field(buyer, 'name'), buyer FROM orders", "[buyer]"),
        (
            "SELECT id FROM orders WHERE get_field(buyer, 'name') = 'Ann'",
            "[id], filter=",
        ),
    ] {
        let plan = session.explain(sql).await.expect("a plan");
        assert!(plan.contains(&format!("columns={columns}")), "{sql}: {plan}");
    }
}

#[tokio::test]
async fn files_that_tell_no_type_are_asked_by_given_descriptors() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    write(&folder.path().join("orders.riegeli"), "transpose,brotli:1", false);
    let raw = Session::new(SessionOptions::default().dir(folder.path()));
    assert_eq!(answer(&raw, "SELECT COUNT(record) FROM orders").await, "1000\n");

    let options = SessionOptions::default().dir(folder.path()).descriptors(descriptors());
    let error = match Session::new(options.clone()).query("SELECT * FROM orders").await {
        Ok(_) => panic!("one of two types was chosen"),
        Err(error) => error.to_string(),
    };
    assert!(
        error.contains("--message names one of shop.Order, shop.Line, shop.Buyer, shop.Home"),
        "{error}"
    );
    let given = Session::new(options.clone().message("shop.Order"));
    assert_eq!(answer(&given, "SELECT MAX(id) FROM orders").await, "999\n");
    let error = match Session::new(options.message("shop.Other"))
        .query("SELECT * FROM orders")
        .await
    {
        Ok(_) => panic!("a type that is not there"),
        Err(error) => error.to_string(),
    };
    assert!(error.contains("shop.Other"), "{error}");
}
