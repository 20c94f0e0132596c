//! Records that are messages: TensorFlow's examples, with a column for each feature, and types of a descriptor file, in every format of
//! records.

use std::fs;

use prost::Message as _;
use tidemill_riegeli::tensorflow_example::ExampleKind;
use tidemill_riegeli::tfrecord::TfRecordWriter;

use crate::run::Folder;

/// A field of a message: its number, and bytes.
fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    let length = u8::try_from(bytes.len()).expect("a short field");
    [&[number << 3 | 2, length], bytes].concat()
}

/// `{"label": [label…], "name": [name]}`.
fn example(labels: &[u8], name: &str) -> Vec<u8> {
    let feature = |name: &str, value: Vec<u8>| field(1, &[field(1, name.as_bytes()), field(2, &value)].concat());
    let labels = field(3, &field(1, labels));
    let names = field(1, &field(1, name.as_bytes()));
    field(1, &[feature("label", labels), feature("name", names)].concat())
}

fn folder(records: &[Vec<u8>]) -> Folder {
    let folder = Folder::with(&[]);
    let mut writer = TfRecordWriter::create(folder.file("train.tfrecord")).expect("made");
    for record in records {
        writer.write_record(record).expect("written");
    }
    writer.close().expect("closed");
    let types = ExampleKind::Example.record_type().descriptors.encode_to_vec();
    fs::write(folder.file("types.desc"), types).expect("written");
    folder
}

#[test]
fn features_are_columns_in_every_format_of_records() {
    let folder = folder(&[example(&[1], "one"), example(&[2], "two"), example(&[3], "three")]);
    for name in ["train.array_record", "train.riegeli", "train.tfrecord.gz"] {
        folder.run(&["copy", "train.tfrecord", name]).done();
    }
    for name in [
        "train.tfrecord",
        "train.array_record",
        "train.riegeli",
        "train.tfrecord.gz",
    ] {
        let sql = |statement: &str, options: &[&str]| {
            let statement = statement.replace("TABLE", &format!("'{name}'"));
            folder.run(&[&["sql", statement.as_str()], options].concat())
        };
        let some = sql(
            "SELECT ENCODE(name, 'hex') AS name, label FROM TABLE WHERE label > 1 ORDER BY label LIMIT 1",
            &[],
        );
        assert_eq!(some.done(), "{\"name\":\"74776f\",\"label\":2}\n", "{name}");
        assert_eq!(sql("SELECT COUNT(*) n FROM TABLE", &[]).done(), "{\"n\":3}\n", "{name}");
        let asked = sql("SELECT MAX(label) m FROM TABLE", &["--message", "tensorflow.Example"]);
        assert_eq!(asked.done(), "{\"m\":3}\n", "{name}");
        let plain = sql("SELECT LENGTH(record) AS l FROM TABLE LIMIT 1", &["--message", "none"]);
        assert_eq!(
            plain.done(),
            format!("{{\"l\":{}}}\n", example(&[1], "one").len()),
            "{name}"
        );
        let described = ["--descriptor", "types.desc", "--message", "tensorflow.Example"];
        let label = "SELECT features.feature['label'].int64_list.value[1] AS label FROM TABLE LIMIT 2";
        assert_eq!(
            sql(label, &described).done(),
            "{\"label\":1}\n{\"label\":2}\n",
            "{name}"
        );
    }
    // A file that says itself what its records are.
    let described = [
        "copy",
        "train.tfrecord",
        "said.riegeli",
        "--message",
        "tensorflow.Example",
    ];
    drop(folder.run(&described).done());
    let sum = folder.run(&["sql", "SELECT SUM(label) AS s FROM 'said.riegeli'"]);
    assert_eq!(sum.done(), "{\"s\":6}\n");
    folder
        .run(&["copy", "train.tfrecord", "train.parquet", "--verify", "full"])
        .done();
    let sum = folder.run(&["sql", "SELECT SUM(label) AS s FROM 'train.parquet'"]);
    assert_eq!(sum.done(), "{\"s\":6}\n");
}

#[test]
fn a_copy_keeps_the_type_that_is_said() {
    let folder = folder(&[example(&[1], "one")]);
    let types: [&[&str]; 2] = [
        &["--message", "tensorflow.Example"],
        &["--descriptor", "types.desc", "--message", "tensorflow.Example"],
    ];
    for types in types {
        let copy = ["copy", "train.tfrecord", "typed.riegeli", "--overwrite"];
        folder.run(&[&copy, types].concat()).done();
        let inspected = folder.run(&["inspect", "typed.riegeli"]).done();
        assert!(inspected.contains("record type   tensorflow.Example"), "{inspected}");
        let copy = ["copy", "train.tfrecord", "typed.tfrecord"];
        let said = folder.run(&[&copy, types].concat()).failed();
        assert!(
            said.contains("a record type in a file of tfrecord is not supported"),
            "{said}"
        );
    }
}

#[test]
fn what_does_not_fit_is_told_with_its_place() {
    let mut records: Vec<Vec<u8>> = (0..1200).map(|_| example(&[1], "one")).collect();
    records.push(example(&[1, 2], "two"));
    let folder = folder(&records);
    let failed = |args: &[&str]| {
        let run = folder.run(args);
        assert_eq!(run.code, Some(2), "{}", run.stderr);
        run.stderr
    };
    let said = failed(&["sql", "SELECT SUM(label) FROM 'train.tfrecord'"]);
    assert!(said.contains("train.tfrecord: record 1200, feature `label`"), "{said}");
    let said = failed(&["sql", "SELECT * FROM 'train.tfrecord'", "--message", "some.Type"]);
    assert!(said.contains("--message some.Type without the descriptors"), "{said}");
    fs::write(folder.file("three.csv"), "a\n1\n").expect("written");
    folder
        .run(&[
            "copy",
            "SELECT arrow_cast('no message', 'Binary') AS r FROM 'three.csv'",
            "text.tfrecord",
        ])
        .done();
    let said = failed(&[
        "sql",
        "SELECT * FROM 'text.tfrecord'",
        "--message",
        "tensorflow.Example",
    ]);
    assert!(said.contains("text.tfrecord: record 0"), "{said}");
    let described = ["--descriptor", "types.desc", "--message", "tensorflow.Example"];
    let said = failed(&[&["sql", "SELECT features FROM 'text.tfrecord'"], &described[..]].concat());
    assert!(said.contains("text.tfrecord: record 0"), "{said}");
}
