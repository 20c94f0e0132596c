//! What is written is read again; what a sheet cannot hold is refused.

use std::io::Cursor;
use std::ops::ControlFlow;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Decimal128Array, Float64Array, Int64Array, RecordBatch, StringArray,
    Time32MillisecondArray, TimestampMillisecondArray,
};
use arrow_schema::{DataType, Field, Schema};
use tidemill_excel::{SheetLook, SheetOptions, SheetWriter, Workbook};

fn written(batches: &[RecordBatch]) -> Vec<u8> {
    let mut writer = SheetWriter::new(&batches[0].schema()).expect("columns");
    for batch in batches {
        writer.write(batch).expect("rows");
    }
    writer.finish(Vec::new()).expect("a file")
}

fn read(file: Vec<u8>, options: &SheetOptions) -> (SheetLook, Vec<RecordBatch>) {
    let mut workbook = Workbook::open(Cursor::new(file), 1 << 20).expect("a workbook");
    let look = workbook.look(0, options).expect("a sheet");
    let all: Vec<usize> = (0..look.columns.fields().len()).collect();
    let mut batches = Vec::new();
    let take = &mut |batch| {
        batches.push(batch);
        ControlFlow::Continue(())
    };
    workbook.read(0, &look, &all, 1000, take).expect("rows");
    (look, batches)
}

#[test]
fn every_type_comes_back() {
    let batch = RecordBatch::try_from_iter_with_nullable([
        (
            "whole",
            Arc::new(Int64Array::from(vec![Some(-1), None, Some(123_456_789_012_345)])) as ArrayRef,
            true,
        ),
        (
            "number",
            Arc::new(Float64Array::from(vec![Some(0.5), Some(-1e300), None])),
            true,
        ),
        (
            "flag",
            Arc::new(BooleanArray::from(vec![Some(true), Some(false), None])),
            true,
        ),
        (
            "day",
            Arc::new(Date32Array::from(vec![Some(20_000), Some(-20_000), None])),
            true,
        ),
        (
            "at",
            Arc::new(TimestampMillisecondArray::from(vec![
                Some(1_700_000_000_123),
                None,
                Some(1),
            ])),
            true,
        ),
        (
            "clock",
            Arc::new(Time32MillisecondArray::from(vec![Some(0), Some(86_399_999), None])),
            true,
        ),
        (
            "text",
            Arc::new(StringArray::from(vec![Some("ä\nb"), Some("=1+1"), None])),
            true,
        ),
    ])
    .expect("a batch");
    let (look, batches) = read(written(std::slice::from_ref(&batch)), &SheetOptions::default());
    assert!(look.has_header);
    assert_eq!(batches, [batch]);
}

#[test]
fn numbers_of_many_digits_are_text() {
    let whole: ArrayRef = Arc::new(Int64Array::from(vec![1, i64::MAX]));
    let exact = Decimal128Array::from(vec![12_345, 1])
        .with_precision_and_scale(38, 2)
        .expect("a decimal");
    let batch = RecordBatch::try_from_iter([("whole", whole), ("exact", Arc::new(exact))]).expect("a batch");
    let (look, batches) = read(written(&[batch]), &SheetOptions::default());
    assert_eq!(look.columns.field(0).data_type(), &DataType::Utf8);
    assert_eq!(look.columns.field(1).data_type(), &DataType::Float64);
    let expected: ArrayRef = Arc::new(StringArray::from(vec!["1", "9223372036854775807"]));
    assert_eq!(batches[0].column(0), &expected);
}

#[test]
fn tables_are_found_where_they_begin() {
    let mut workbook = rust_xlsxwriter::Workbook::new();
    let sheet = workbook.add_worksheet();
    sheet.write_string(0, 0, "Report of 2026").expect("a title");
    for (column, name) in ["Name", "Price", "Price", ""].iter().enumerate() {
        sheet.write_string(2, column as u16 + 1, *name).expect("a name");
    }
    for (column, value) in [1.0, 2.5, 3.0].iter().enumerate() {
        sheet.write_number(3, column as u16 + 2, *value).expect("a value");
    }
    sheet.write_string(5, 1, "after an empty row").expect("a value");
    let file = workbook.save_to_buffer().expect("a file");
    let (look, batches) = read(file.clone(), &SheetOptions { skip: 2, header: None });
    let names: Vec<&str> = look
        .columns
        .fields()
        .iter()
        .map(|field| field.name().as_str())
        .collect();
    assert_eq!(names, ["Name", "Price", "Price_2", "column4"]);
    assert_eq!(batches[0].num_rows(), 2);
    let (look, batches) = read(
        file,
        &SheetOptions {
            skip: 2,
            header: Some(false),
        },
    );
    assert_eq!(look.columns.field(0).name(), "column1");
    assert_eq!(batches[0].num_rows(), 3);
}

#[test]
fn sheets_are_named_or_numbered() {
    let mut workbook = rust_xlsxwriter::Workbook::new();
    workbook.add_worksheet().set_name("First").expect("a name");
    workbook.add_worksheet().set_name("Prices").expect("a name");
    let workbook =
        Workbook::open(Cursor::new(workbook.save_to_buffer().expect("a file")), 1 << 20).expect("a workbook");
    assert_eq!(workbook.sheet("prices").expect("named"), 1);
    assert_eq!(workbook.sheet("2").expect("numbered"), 1);
    let error = workbook.sheet("3").expect_err("two sheets").to_string();
    assert_eq!(error, "sheet 3 not found; the sheets are First, Prices");
}

#[test]
fn what_a_sheet_cannot_hold_is_refused() {
    let bytes = Schema::new(vec![Field::new("photo", DataType::Binary, true)]);
    let error = SheetWriter::new(&bytes).err().expect("bytes").to_string();
    assert!(error.starts_with("column photo: Binary in a sheet"), "{error}");
    let long: ArrayRef = Arc::new(StringArray::from(vec!["x".repeat(40_000)]));
    let batch = RecordBatch::try_from_iter([("long", long)]).expect("a batch");
    let error = SheetWriter::new(&batch.schema())
        .expect("columns")
        .write(&batch)
        .expect_err("long")
        .to_string();
    assert!(error.starts_with("row 2: a text of more than 32767 letters"), "{error}");
}

#[test]
fn damaged_files_are_errors() {
    let column: ArrayRef = Arc::new(Int64Array::from_iter_values(0..1000));
    let file = written(&[RecordBatch::try_from_iter([("n", column)]).expect("a batch")]);
    for len in (0..file.len()).step_by(97) {
        let Ok(mut workbook) = Workbook::open(Cursor::new(file[..len].to_vec()), 1 << 20) else {
            continue;
        };
        assert!(workbook.look(0, &SheetOptions::default()).is_err(), "cut at {len}");
    }
    assert!(Workbook::open(Cursor::new(b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1".to_vec()), 1 << 20).is_err());
    for at in (0..file.len()).step_by(13) {
        let mut bent = file.clone();
        bent[at] ^= 0x55;
        if let Ok(mut workbook) = Workbook::open(Cursor::new(bent), 1 << 20) {
            let _ = workbook.look(0, &SheetOptions::default());
        }
    }
}
