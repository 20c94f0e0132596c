//! Typed rows: what goes in comes out, and any protobuf tool can read it.

use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, Float32Array, Float64Array, Int8Array,
    Int16Array, Int32Array, Int64Array, LargeStringArray, RecordBatch, StringArray, StringViewArray, Time32SecondArray,
    TimestampMillisecondArray, UInt8Array, UInt32Array, UInt64Array, cast::AsArray, types::Int64Type,
};
use arrow_schema::{DataType, Field, Schema, SchemaRef, TimeUnit};
use proptest::prelude::*;
use prost::Message;
use prost_reflect::{DescriptorPool, DynamicMessage, Value};
use tidemill_riegeli::{
    BytesSource, CHUNK_HEADER_SIZE, ChunkHeader, Compression, Error, ReaderOptions, RecordReader, RecordWriter,
    WriterOptions, hash,
    rows::{RowDecoder, RowFile, RowFilter, RowScan, RowWriter},
};

const NUM_TYPES: usize = 17;

/// A column of `rows` values of a type, from a generator of numbers; null where `null` says so.
fn column(kind: usize, rows: usize, mut next: impl FnMut() -> u64, null: impl Fn(u64) -> bool) -> ArrayRef {
    let mut numbers = || -> Vec<Option<u64>> {
        (0..rows)
            .map(|_| {
                let (number, coin) = (next(), next());
                // Small numbers are as common as large ones.
                let number = number >> (coin >> 58);
                (!null(coin)).then_some(number)
            })
            .collect()
    };
    macro_rules! numeric {
        ($array:ty, $native:ty) => {
            Arc::new(
                numbers()
                    .into_iter()
                    .map(|n| n.map(|n| n as $native))
                    .collect::<$array>(),
            )
        };
    }
    let text = |number: u64| format!("{}é{number}", "x".repeat((number % 40) as usize));
    match kind {
        0 => Arc::new(
            numbers()
                .into_iter()
                .map(|n| n.map(|n| n % 2 == 1))
                .collect::<BooleanArray>(),
        ),
        1 => numeric!(Int8Array, i8),
        2 => numeric!(Int16Array, i16),
        3 => numeric!(Int32Array, i32),
        4 => numeric!(Int64Array, i64),
        5 => numeric!(UInt8Array, u8),
        6 => numeric!(UInt32Array, u32),
        7 => numeric!(UInt64Array, u64),
        8 => numeric!(Float32Array, f32),
        9 => numeric!(Float64Array, f64),
        10 => Arc::new(numbers().into_iter().map(|n| n.map(text)).collect::<StringArray>()),
        11 => Arc::new(numbers().into_iter().map(|n| n.map(text)).collect::<LargeStringArray>()),
        12 => Arc::new(numbers().into_iter().map(|n| n.map(text)).collect::<StringViewArray>()),
        13 => {
            let values: Vec<Option<Vec<u8>>> = numbers()
                .into_iter()
                .map(|n| n.map(|n| n.to_le_bytes()[..(n % 9) as usize].to_vec()))
                .collect();
            Arc::new(BinaryArray::from_iter(values))
        }
        14 => Arc::new(
            numbers()
                .into_iter()
                .map(|n| n.map(|n| i128::from(n as i64 % 1_000_000_000_000_000_000)))
                .collect::<Decimal128Array>()
                .with_precision_and_scale(18, 4)
                .expect("a decimal"),
        ),
        15 => Arc::new(
            numbers()
                .into_iter()
                .map(|n| n.map(|n| i128::from(n as i64) * 10_000_000_000))
                .collect::<Decimal128Array>()
                .with_precision_and_scale(38, 10)
                .expect("a decimal"),
        ),
        _ => numeric!(TimestampMillisecondArray, i64),
    }
}

fn batch(columns: &[(usize, bool)], rows: usize, seed: u64) -> RecordBatch {
    let mut state = seed | 1;
    let mut next = move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        state ^ (state >> 29)
    };
    let arrays: Vec<ArrayRef> = columns
        .iter()
        .map(|&(kind, nullable)| column(kind, rows, &mut next, |coin| nullable && coin % 4 == 0))
        .collect();
    let fields: Vec<Field> = arrays
        .iter()
        .zip(columns)
        .enumerate()
        .map(|(index, (array, &(_, nullable)))| Field::new(format!("c {index}"), array.data_type().clone(), nullable))
        .collect();
    let options = arrow_array::RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays, &options).expect("a batch")
}

fn write(batches: &[RecordBatch], options: WriterOptions) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().expect("a file");
    let mut writer = RowWriter::create(file.path(), batches[0].schema(), options).expect("a writer");
    for batch in batches {
        writer.write(batch).expect("writes");
    }
    let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
    assert_eq!(writer.finish().expect("finishes"), rows as u64);
    file
}

fn scan(file: &tempfile::NamedTempFile, scan: RowScan) -> Vec<RecordBatch> {
    let file = Arc::new(RowFile::open(file.path(), &ReaderOptions::new()).expect("opens"));
    let batches = file.scan(scan).expect("scans");
    batches.collect::<Result<_, _>>().expect("reads")
}

fn options(compression: Compression, chunk_size: u64) -> WriterOptions {
    WriterOptions::new().compression(compression).chunk_size(chunk_size)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn rows_come_back(
        columns in prop::collection::vec((0..NUM_TYPES, any::<bool>()), 0..8),
        rows in 0_usize..300,
        seed in any::<u64>(),
        batch_rows in 1_usize..200,
        chunk_size in 1_u64..5_000,
        limit in prop::option::of(0_usize..300),
        projection_seed in any::<prop::sample::Index>(),
    ) {
        let written = batch(&columns, rows, seed);
        let file = write(std::slice::from_ref(&written), options(Compression::zstd(1), chunk_size));
        let opened = Arc::new(RowFile::open(file.path(), &ReaderOptions::new()).expect("opens"));
        prop_assert_eq!(opened.schema(), written.schema());
        prop_assert_eq!(opened.row_count().expect("counts"), rows as u64);
        let mut projection: Vec<usize> = (0..columns.len()).collect();
        if !projection.is_empty() {
            let first = projection_seed.index(projection.len());
            projection.rotate_left(first);
            projection.truncate(columns.len().div_ceil(2));
        }
        let request = RowScan { projection: Some(projection.clone()), batch_rows, limit, row_filter: None };
        let mut at = 0;
        for found in opened.scan(request).expect("scans") {
            let found = found.expect("a batch");
            prop_assert!(found.num_rows() > 0 && found.num_rows() <= batch_rows);
            let expected = written.slice(at, found.num_rows()).project(&projection).expect("columns");
            prop_assert_eq!(&found, &expected);
            at += found.num_rows();
        }
        prop_assert_eq!(at, limit.map_or(rows, |limit| limit.min(rows)));
    }

    #[test]
    fn any_bytes_are_a_row_or_an_error(record in prop::collection::vec(any::<u8>(), 0..60)) {
        let schema = batch(&(0..NUM_TYPES).map(|kind| (kind, true)).collect::<Vec<_>>(), 0, 1).schema();
        let all: Vec<usize> = (0..NUM_TYPES).collect();
        let mut decoder = RowDecoder::new(&schema, &all).expect("a decoder");
        let rows = usize::from(decoder.push(&record).is_ok());
        prop_assert_eq!(decoder.finish().expect("a batch").num_rows(), rows);
    }
}

#[test]
fn any_protobuf_tool_reads_the_records() {
    let schema = Arc::new(Schema::new(vec![
        Field::new("CUST NO", DataType::Int32, false),
        Field::new("Straße", DataType::Utf8, true),
        Field::new("cust_no", DataType::Decimal128(10, 2), true),
        Field::new("2nd", DataType::Decimal128(30, 2), true),
        Field::new("day", DataType::Date32, true),
        Field::new("at", DataType::Timestamp(TimeUnit::Millisecond, None), true),
        Field::new("time", DataType::Time32(TimeUnit::Second), true),
        Field::new("ok", DataType::Boolean, true),
        Field::new("ratio", DataType::Float64, true),
        Field::new("big", DataType::UInt64, true),
        Field::new("raw", DataType::Binary, true),
    ]));
    let decimal = |values: Vec<Option<i128>>, precision| -> ArrayRef {
        let array = Decimal128Array::from(values);
        Arc::new(array.with_precision_and_scale(precision, 2).expect("a decimal"))
    };
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Int32Array::from(vec![-1, 0])),
        Arc::new(StringArray::from(vec![Some("Gänsemarkt 1"), None])),
        decimal(vec![Some(-1_050), None], 10),
        decimal(vec![Some(-2), None], 30),
        Arc::new(Date32Array::from(vec![Some(-1), None])),
        Arc::new(TimestampMillisecondArray::from(vec![Some(1_700_000_000_123), None])),
        Arc::new(Time32SecondArray::from(vec![Some(86_399), None])),
        Arc::new(BooleanArray::from(vec![Some(false), None])),
        Arc::new(Float64Array::from(vec![Some(0.0), None])),
        Arc::new(UInt64Array::from(vec![Some(u64::MAX), None])),
        Arc::new(BinaryArray::from_opt_vec(vec![Some(&b"\0\xff"[..]), None])),
    ];
    let batch = RecordBatch::try_new(schema, columns).expect("a batch");
    let file = write(&[batch], options(Compression::None, 4_096));

    let mut reader = RecordReader::open(file.path(), &ReaderOptions::new()).expect("opens");
    let metadata = reader.records_metadata().expect("metadata");
    let mut pool = DescriptorPool::new();
    pool.add_file_descriptor_protos(metadata.file_descriptor.iter().map(|file| {
        prost_reflect::prost_types::FileDescriptorProto::decode(&file.encode_to_vec()[..]).expect("a descriptor")
    }))
    .expect("a sound descriptor");
    let name = metadata.record_type_name.expect("a type");
    let message = pool.get_message_by_name(&name).expect("the type of the records");
    let names: Vec<String> = message.fields().map(|field| field.name().to_owned()).collect();
    assert_eq!(
        names,
        [
            "CUST_NO",
            "Stra_e",
            "cust_no_2",
            "_2nd",
            "day",
            "at",
            "time",
            "ok",
            "ratio",
            "big",
            "raw"
        ]
    );
    assert_eq!(message.get_field(4).expect("a field").json_name(), "2nd");

    let record = reader.read_record().expect("reads").expect("a record");
    let row = DynamicMessage::decode(message.clone(), record).expect("a message");
    let mut minus_two = vec![0xff; 16];
    minus_two[15] = 0xfe;
    for (number, expected) in [
        (1, Value::I32(-1)),
        (2, Value::String("Gänsemarkt 1".to_owned())),
        (3, Value::I64(-1_050)),
        (4, Value::Bytes(minus_two.into())),
        (5, Value::I32(-1)),
        (6, Value::I64(1_700_000_000_123)),
        (7, Value::I32(86_399)),
        (8, Value::Bool(false)),
        (9, Value::F64(0.0)),
        (10, Value::U64(u64::MAX)),
        (11, Value::Bytes(vec![0, 0xff].into())),
    ] {
        let field = message.get_field(number).expect("a field");
        assert!(row.has_field(&field), "{}", field.name());
        assert_eq!(*row.get_field(&field), expected, "{}", field.name());
    }
    let record = reader.read_record().expect("reads").expect("a record");
    assert_eq!(record, [8, 0], "nulls are absent, and zero is not null");
}

#[test]
fn a_filter_picks_rows_by_columns_that_are_not_returned() {
    let written = batch(&[(4, true), (10, true), (0, false)], 5_000, 7);
    let file = write(std::slice::from_ref(&written), options(Compression::Snappy, 10_000));
    let picks = |n: Option<i64>| n.map(|n| n % 3 == 0);
    let expected: Vec<Option<&str>> = (0..written.num_rows())
        .filter(|&row| {
            let keys = written.column(0).as_primitive::<Int64Type>();
            picks(keys.is_valid(row).then(|| keys.value(row))) == Some(true)
        })
        .map(|row| {
            let names = written.column(1).as_string::<i32>();
            names.is_valid(row).then(|| names.value(row))
        })
        .collect();
    assert!(expected.len() > 500);
    for limit in [None, Some(0), Some(1), Some(333)] {
        let filter = RowFilter::new(
            vec![0],
            Box::new(move |batch| {
                assert_eq!(batch.num_columns(), 1);
                Ok(batch.column(0).as_primitive::<Int64Type>().iter().map(picks).collect())
            }),
        );
        let request = RowScan {
            projection: Some(vec![1]),
            batch_rows: 100,
            limit,
            row_filter: Some(filter),
        };
        let found = scan(&file, request);
        let found: Vec<Option<&str>> = found
            .iter()
            .flat_map(|batch| batch.column(0).as_string::<i32>().iter())
            .collect();
        assert_eq!(found, expected[..limit.unwrap_or(expected.len())], "limit {limit:?}");
    }
}

#[test]
fn a_scan_of_transposed_rows_decompresses_its_columns_only() {
    let written = batch(&[(10, false), (4, true)], 2_000, 9);
    let rows = options(Compression::zstd(3), 1 << 20)
        .transpose(true)
        .bucket_fraction(0.0);
    let mut writer = RowWriter::new(Vec::new(), written.schema(), rows).expect("a writer");
    writer.write(&written).expect("writes");
    let mut bytes = writer.into_dest().expect("memory");
    let mut reader = RecordReader::new(BytesSource(&bytes), &ReaderOptions::new()).expect("opens");
    let chunk = reader.list_chunks().expect("chunks").pop().expect("a chunk of rows");
    // The text is most of the chunk and numbers are smaller, so they come first.
    let header = usize::try_from(chunk.begin).expect("a small file");
    let stored = bytes[header..].first_chunk::<CHUNK_HEADER_SIZE>().expect("a header");
    let mut header_fields = ChunkHeader::from_bytes(stored);
    let data = header + CHUNK_HEADER_SIZE..header + CHUNK_HEADER_SIZE + header_fields.data_size as usize;
    assert!(data.end < 1 << 16, "the chunk has a block header inside");
    let middle_of_the_text = data.start + data.len() * 3 / 5;
    bytes[middle_of_the_text] ^= 0x55;
    header_fields.data_hash = hash(&bytes[data]);
    header_fields.header_hash = header_fields.computed_hash();
    bytes[header..][..CHUNK_HEADER_SIZE].copy_from_slice(&header_fields.to_bytes());

    let source = Arc::new(BytesSource(bytes));
    let file = Arc::new(RowFile::from_source(source, "rows", &ReaderOptions::new()).expect("opens"));
    let scan = |projection: Vec<usize>| -> Result<RecordBatch, Error> {
        let request = RowScan {
            projection: Some(projection),
            ..RowScan::default()
        };
        file.scan(request)?.next().expect("a batch")
    };
    assert_eq!(scan(vec![1]).expect("sound"), written.project(&[1]).expect("a column"));
    assert!(scan(vec![0]).is_err());
    assert!(scan(vec![0, 1]).is_err());
    assert_eq!(scan(vec![]).expect("only a number of rows").num_rows(), 2_000);
}

#[test]
fn a_file_without_a_schema_has_one_column() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    let mut writer = RecordWriter::create(file.path(), WriterOptions::new()).expect("a writer");
    for record in [&b"one"[..], b"", b"three"] {
        writer.write_record(record).expect("writes");
    }
    writer.close().expect("closes");
    let found = scan(&file, RowScan::default());
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].schema().field(0).name(), "record");
    let records: Vec<_> = found[0].column(0).as_binary::<i32>().iter().flatten().collect();
    assert_eq!(records, [&b"one"[..], b"", b"three"]);
    assert_eq!(
        scan(
            &file,
            RowScan {
                projection: Some(vec![]),
                ..RowScan::default()
            }
        )[0]
        .num_rows(),
        3
    );
}

fn decode(record: &[u8]) -> Result<RecordBatch, String> {
    let schema: SchemaRef = Arc::new(Schema::new(vec![
        Field::new("n", DataType::Int8, true),
        Field::new("s", DataType::Utf8, true),
        Field::new("x", DataType::Float32, true),
        Field::new("f", DataType::FixedSizeBinary(2), true),
        Field::new("must", DataType::Boolean, false),
    ]));
    let mut decoder = RowDecoder::new(&schema, &[0, 1, 2, 3, 4]).expect("a decoder");
    decoder
        .push(record)
        .map_err(|(column, problem)| format!("{column:?} {problem}"))?;
    Ok(decoder.finish().expect("a batch"))
}

#[test]
fn fields_come_in_any_order_and_the_last_one_wins() {
    let record = [
        &[0x28, 1][..],         // must: true
        &[0x12, 1, b'a'],       // s
        &[0x08, 3],             // n: -2
        &[0xf8, 1, 0x96, 1],    // field 31, unknown
        &[0x5b, 0x08, 1, 0x5c], // group 11, unknown
        &[0x12, 2, b'b', b'c'], // s again
    ]
    .concat();
    let batch = decode(&record).expect("a row");
    assert_eq!(
        batch.column(0).as_primitive::<arrow_array::types::Int8Type>().value(0),
        -2
    );
    assert_eq!(batch.column(1).as_string::<i32>().value(0), "bc");
    assert!(batch.column(2).is_null(0) && batch.column(3).is_null(0));
    for cut in 0..record.len() {
        // Every cut is a row of fewer fields or an error; without `must` it is one.
        let found = decode(&record[..cut]);
        assert!(found.is_ok() || cut < record.len(), "cut to {cut}");
        assert_eq!(found.is_ok(), [2, 5, 7, 11, 15].contains(&cut), "cut to {cut}");
    }
}

#[test]
fn records_that_are_not_rows_say_why() {
    for (record, expected) in [
        (&[][..], "Some(4) no value in a column that is not nullable"),
        (&[0x28], "Some(4) the message ends inside the field at byte 0"),
        (
            &[0x28, 1, 0x12, 5, b'a'],
            "Some(1) the message ends inside the field at byte 2",
        ),
        (
            &[0x28, 1, 0x0d, 0, 0, 0, 0],
            "Some(0) field 1 has wire type 5, expected 0",
        ),
        (
            &[0x28, 1, 0x08, 0x80, 2],
            "Some(0) the value does not fit the type of the column",
        ),
        (&[0x28, 1, 0x12, 1, 0xff], "Some(1) the text is not UTF-8"),
        (
            &[0x28, 1, 0x22, 1, 0],
            "Some(3) the value does not fit the type of the column",
        ),
        (&[0x28, 1, 0x00], "None invalid protobuf tag at byte 2"),
        (&[0x28, 1, 0x0c], "None invalid protobuf tag at byte 2"),
        (&[0x28, 1, 0x5b, 0x64], "None invalid protobuf tag at byte 2"),
        (&[0x5b; 200], "None groups nested deeper than 100"),
    ] {
        assert_eq!(decode(record).expect_err("an error"), expected, "{record:?}");
    }
}

#[test]
fn errors_name_the_record_and_the_column() {
    let written = batch(&[(10, true)], 2, 3);
    let file = tempfile::NamedTempFile::new().expect("a file");
    let rows = RowWriter::new(Vec::new(), written.schema(), options(Compression::None, 100)).expect("a writer");
    let bytes = rows.into_dest().expect("memory");
    let pos = bytes.len() as u64;
    let mut writer = RecordWriter::new_at(bytes, pos, options(Compression::None, 100)).expect("a writer");
    writer.write_record(&[0x0a, 1, b'x']).expect("memory");
    writer.write_record(&[0x0a, 9, b'x']).expect("memory");
    std::fs::write(file.path(), writer.close().expect("memory")).expect("writes");
    let opened = Arc::new(RowFile::open(file.path(), &ReaderOptions::new()).expect("opens"));
    let mut batches = opened.scan(RowScan::default()).expect("scans");
    let error = batches.next().expect("an answer").expect_err("an error").to_string();
    assert_eq!(
        error,
        format!(
            "{}: record {pos}/1, column `c 0`: the message ends inside the field at byte 0",
            file.path().display()
        )
    );
    assert!(batches.next().is_none());
}

#[test]
fn columns_without_a_mapping_are_named() {
    let list = DataType::List(Arc::new(Field::new("item", DataType::Float16, true)));
    let schema = Arc::new(Schema::new(vec![Field::new("tags", list, true)]));
    let error = RowWriter::new(Vec::new(), schema, WriterOptions::new())
        .err()
        .expect("an error");
    let Error::ColumnType { column, data_type, .. } = &error else {
        panic!("{error}")
    };
    assert_eq!((&column[..], data_type), ("tags", &DataType::Float16));
}

#[test]
fn nulls_of_a_wide_column_do_not_take_all_memory() {
    let wide = Field::new("wide", DataType::FixedSizeBinary(i32::MAX), true);
    let schema: SchemaRef = Arc::new(Schema::new(vec![wide]));
    let mut decoder = RowDecoder::new(&schema, &[0]).expect("a decoder");
    assert!(decoder.push(&[]).is_err());
}

#[test]
fn rows_are_added_to_a_file_with_the_same_columns_alone() {
    let folder = tempfile::tempdir().expect("a file of rows");
    let path = folder.path().join("rows.riegeli");
    let batch = |numbers: &[i64]| {
        let numbers: ArrayRef = Arc::new(Int64Array::from(numbers.to_vec()));
        RecordBatch::try_from_iter_with_nullable([("n", numbers, true)]).expect("a file of rows")
    };
    let mut writer = RowWriter::create(&path, batch(&[]).schema(), WriterOptions::default()).expect("a file of rows");
    writer.write(&batch(&[1, 2])).expect("a file of rows");
    writer.finish().expect("a file of rows");
    let mut writer = RowWriter::append(&path, batch(&[]).schema(), WriterOptions::default()).expect("a file of rows");
    writer.write(&batch(&[3])).expect("a file of rows");
    assert_eq!(writer.finish().expect("a file of rows"), 1);
    let before = std::fs::read(&path).expect("a file of rows");
    for (name, nullable) in [("m", true), ("n", false)] {
        let schema = Arc::new(Schema::new(vec![Field::new(name, DataType::Int64, nullable)]));
        let refused = RowWriter::append(&path, schema, WriterOptions::default()).map(drop);
        let refused = refused.expect_err("other columns").to_string();
        assert!(
            refused.contains("rows.riegeli") && refused.contains("not of"),
            "{refused}"
        );
    }
    let two = [
        Field::new("n", DataType::Int64, true),
        Field::new("m", DataType::Int64, true),
    ];
    assert!(RowWriter::append(&path, Arc::new(Schema::new(two.to_vec())), WriterOptions::default()).is_err());
    assert_eq!(
        std::fs::read(&path).expect("a file of rows"),
        before,
        "a file that is refused is left alone"
    );
    let rows = RowFile::open(&path, &ReaderOptions::new()).expect("a file of rows");
    assert_eq!(rows.row_count().expect("a file of rows"), 3);
}
