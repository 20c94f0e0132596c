//! Columns of every Arrow type go into the fields that are made for them, and come back as Arrow casts them.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, Float64Array, Int64Array, NullArray, RecordBatch, StringArray, new_null_array};
use arrow_cast::cast;
use arrow_schema::{DataType, Field, IntervalUnit, TimeUnit};
use tempfile::TempDir;
use tidemill_xbase::{
    CivilDate, CreateOptions, Dialect, EditOptions, Error, FieldSpec, OpenOptions, Scan, Table, TableEditor,
    TableWriter,
};

const DAY: CivilDate = CivilDate {
    year: 2026,
    month: 11,
    day: 24,
};

/// A table in a folder of its own.
fn table(fields: &[FieldSpec]) -> (TempDir, TableWriter) {
    let folder = tempfile::tempdir().unwrap();
    let mut options = CreateOptions::new(DAY);
    options.format = Dialect::VisualFoxPro;
    let writer = TableWriter::create(folder.path().join("t.dbf"), fields, &options).unwrap();
    (folder, writer)
}

fn column(name: &str, array: &ArrayRef) -> RecordBatch {
    RecordBatch::try_from_iter([(name, Arc::clone(array))]).unwrap()
}

fn read(folder: &TempDir) -> ArrayRef {
    let table = Arc::new(Table::open(folder.path().join("t.dbf"), &OpenOptions::new()).unwrap());
    let mut batches = table.scan(Scan::new()).unwrap();
    Arc::clone(batches.next().unwrap().unwrap().column(0))
}

fn of_numbers(data_type: &DataType) -> ArrayRef {
    let numbers: ArrayRef = Arc::new(Int64Array::from(vec![Some(86), None, Some(0), Some(7), Some(86)]));
    cast(&numbers, data_type).unwrap()
}

fn of_texts(data_type: &DataType) -> ArrayRef {
    let texts: ArrayRef = Arc::new(StringArray::from(vec![
        Some("lantern"),
        None,
        Some("weir and sluice gate"),
        Some("lantern"),
    ]));
    cast(&texts, data_type).unwrap()
}

/// Values of the type, among them NULL and one that comes twice.
fn values(data_type: &DataType) -> ArrayRef {
    let wide = |unit| cast(&of_numbers(&DataType::Int64), &DataType::Timestamp(unit, None)).unwrap();
    match data_type {
        DataType::Boolean => cast(&of_numbers(&DataType::Int64), data_type).unwrap(),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Binary => of_texts(data_type),
        DataType::LargeBinary | DataType::BinaryView => of_texts(data_type),
        DataType::FixedSizeBinary(width) => {
            let mut builder = arrow_array::builder::FixedSizeBinaryBuilder::new(*width);
            builder.append_value([1, 0, 255]).unwrap();
            builder.append_null();
            builder.append_value([32, 32, 32]).unwrap();
            Arc::new(builder.finish())
        }
        DataType::Date32 | DataType::Time32(_) => {
            let small = cast(&of_numbers(&DataType::Int64), &DataType::Int32).unwrap();
            cast(&small, data_type).unwrap()
        }
        DataType::Date64 => cast(&values(&DataType::Date32), data_type).unwrap(),
        DataType::Timestamp(unit, Some(_)) => cast(&wide(*unit), data_type).unwrap(),
        DataType::Float16 | DataType::Float32 | DataType::Float64 => {
            let halves: ArrayRef = Arc::new(Float64Array::from(vec![Some(-0.5), None, Some(1024.0)]));
            cast(&halves, data_type).unwrap()
        }
        DataType::Dictionary(_, of) => cast(&values(of), data_type).unwrap(),
        DataType::RunEndEncoded(_, of) => cast(&values(of.data_type()), data_type).unwrap(),
        _ => of_numbers(data_type),
    }
}

#[test]
fn every_type_comes_back_as_it_is_cast() {
    let dictionary = |key, of| DataType::Dictionary(Box::new(key), Box::new(of));
    let runs = |ends, of| {
        let ends = Field::new("run_ends", ends, false);
        DataType::RunEndEncoded(Arc::new(ends), Arc::new(Field::new("values", of, true)))
    };
    let utc = || Some("+00:00".into());
    let types = [
        DataType::Boolean,
        DataType::Int8,
        DataType::Int16,
        DataType::Int32,
        DataType::Int64,
        DataType::UInt8,
        DataType::UInt16,
        DataType::UInt32,
        DataType::UInt64,
        DataType::Float16,
        DataType::Float32,
        DataType::Float64,
        DataType::Decimal32(9, 2),
        DataType::Decimal64(18, 3),
        DataType::Decimal128(30, 4),
        DataType::Decimal128(5, -1),
        DataType::Utf8,
        DataType::LargeUtf8,
        DataType::Utf8View,
        DataType::Binary,
        DataType::LargeBinary,
        DataType::BinaryView,
        DataType::FixedSizeBinary(3),
        DataType::Date32,
        DataType::Date64,
        DataType::Time32(TimeUnit::Second),
        DataType::Time32(TimeUnit::Millisecond),
        DataType::Time64(TimeUnit::Microsecond),
        DataType::Time64(TimeUnit::Nanosecond),
        DataType::Timestamp(TimeUnit::Second, None),
        DataType::Timestamp(TimeUnit::Millisecond, utc()),
        DataType::Timestamp(TimeUnit::Microsecond, None),
        DataType::Timestamp(TimeUnit::Nanosecond, utc()),
        dictionary(DataType::UInt8, DataType::Utf8),
        dictionary(DataType::Int64, DataType::Decimal128(12, 2)),
        runs(DataType::Int16, DataType::Utf8),
        runs(DataType::Int32, DataType::Int64),
        runs(DataType::Int64, DataType::Int32),
    ];
    for data_type in types {
        let given = values(&data_type);
        assert!(given.logical_null_count() > 0 && given.len() >= 3, "{data_type}");
        let spec = FieldSpec::from_arrow(&Field::new("A", data_type.clone(), true)).unwrap();
        let (folder, mut writer) = table(&[spec]);
        writer.write(&column("A", &given), None).unwrap();
        // A part of an array is another place in its buffers.
        let part = given.slice(1, 2);
        writer.write(&column("A", &part), None).unwrap();
        assert_eq!(writer.finish().unwrap() as usize, given.len() + 2);
        let mut editor = TableEditor::open(folder.path().join("t.dbf"), &EditOptions::new(DAY)).unwrap();
        editor.append_batch(&column("A", &given)).unwrap();
        drop(editor);

        let found = read(&folder);
        let expected = match &data_type {
            DataType::Dictionary(_, of) => cast(&given, of).unwrap(),
            DataType::RunEndEncoded(_, of) => cast(&given, of.data_type()).unwrap(),
            _ => Arc::clone(&given),
        };
        let expected = cast(&expected, found.data_type()).unwrap();
        let rows = given.len();
        for (place, expected) in [
            (0, expected.slice(0, rows)),
            (rows, expected.slice(1, 2)),
            (rows + 2, expected),
        ] {
            assert_eq!(&found.slice(place, expected.len()), &expected, "{data_type}");
        }
    }
}

#[test]
fn values_of_another_type_are_converted_or_refused_by_their_record() {
    let texts: ArrayRef = Arc::new(StringArray::from(vec![" 12.50", "", "-3"]));
    let doubles: ArrayRef = Arc::new(Float64Array::from(vec![12.5, 0.25, -3.0]));
    let decimals = cast(&doubles, &DataType::Decimal128(10, 2)).unwrap();
    let spec = |letter, width, decimals| FieldSpec::new("A", letter, width, decimals).nullable(true);
    for (spec, given, expected) in [
        (spec('N', 8, 2), &texts, ["12.50", "", "-3.00"]),
        (spec('C', 8, 0), &doubles, ["12.5", "0.25", "-3"]),
        (spec('B', 8, 0), &decimals, ["12.5", "0.25", "-3.0"]),
        (spec('Y', 8, 4), &doubles, ["12.5000", "0.2500", "-3.0000"]),
        (spec('N', 8, 1), &doubles, ["12.5", "0.2", "-3.0"]),
    ] {
        let (folder, mut writer) = table(&[spec]);
        writer.write(&column("A", given), None).unwrap();
        writer.finish().unwrap();
        let found = cast(&read(&folder), &DataType::Utf8).unwrap();
        let expected: StringArray = expected
            .map(|text| (!text.is_empty()).then_some(text))
            .into_iter()
            .collect();
        assert_eq!(found.to_data(), expected.to_data());
    }
    for (spec, given, expected) in [
        (
            spec('I', 4, 0),
            &doubles,
            "record 1, field A: expected a number with at most 0 decimals, found 12.5",
        ),
        (
            spec('L', 1, 0),
            &doubles,
            "record 1, field A: expected a logical value, found 12.5",
        ),
        (
            spec('D', 8, 0),
            &texts,
            "record 1, field A: expected a date as YYYYMMDD or YYYY-MM-DD, found \" 12.50\"",
        ),
        (
            spec('N', 4, 0),
            &decimals,
            "record 1, field A: expected a number with at most 0 decimals that fits, found 12.50",
        ),
    ] {
        let (folder, mut writer) = table(&[spec]);
        let refused = writer.write(&column("A", given), None).unwrap_err().to_string();
        assert!(refused.contains(expected), "{refused}");
        writer.finish().unwrap();
        let mut editor = TableEditor::open(folder.path().join("t.dbf"), &EditOptions::new(DAY)).unwrap();
        let refused = editor.append_batch(&column("A", given)).unwrap_err().to_string();
        assert!(refused.contains(expected), "{refused}");
        assert_eq!(editor.record_count(), 0);
    }
}

#[test]
fn a_type_without_a_field_is_refused_by_its_column() {
    let nothing: ArrayRef = Arc::new(NullArray::new(2));
    let spans = new_null_array(&DataType::Interval(IntervalUnit::DayTime), 2);
    let (folder, mut writer) = table(&[FieldSpec::new("A", 'C', 8, 0)]);
    writer.write(&column("x", &nothing), None).unwrap();
    let refused = writer.write(&column("x", &spans), None).unwrap_err();
    assert!(
        matches!(&refused, Error::Misuse(why) if why.contains("column A") && why.contains("Interval")),
        "{refused}"
    );
    assert_eq!(writer.finish().unwrap(), 2);
    let mut editor = TableEditor::open(folder.path().join("t.dbf"), &EditOptions::new(DAY)).unwrap();
    assert!(matches!(
        editor.append_batch(&column("x", &spans)),
        Err(Error::Misuse(_))
    ));
    assert_eq!(editor.append_batch(&column("x", &nothing)).unwrap(), 3..5);
}
