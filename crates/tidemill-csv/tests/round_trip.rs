//! What is written is read again.

use std::io::Read;
use std::sync::Arc;

use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, Float64Array, PrimitiveArray, RecordBatch, StringArray};
use proptest::prelude::*;
use tidemill_csv::{CsvOptions, CsvReader, CsvWriter, Look, Packing, WriteDialect, divides};

fn written(batch: &RecordBatch, options: &CsvOptions, packing: Packing) -> Vec<u8> {
    let dialect = WriteDialect::new(options, packing, b',').expect("a dialect");
    let mut writer = CsvWriter::new(&batch.schema(), dialect, Vec::new()).expect("a header");
    writer.write(batch).expect("rows");
    writer.finish().expect("an end")
}

fn read(bytes: &[u8], options: &CsvOptions, columns: &RecordBatch) -> RecordBatch {
    let mut look = Look::at(bytes, options, b',').expect("a look");
    assert_eq!(look.columns.fields().len(), columns.num_columns());
    // Types of few values are a matter of taste.
    look.columns = columns.schema();
    let all: Vec<usize> = (0..columns.num_columns()).collect();
    let batches = CsvReader::new(bytes, &look, &all, 3).expect("a reader");
    let batches: Vec<RecordBatch> = batches.collect::<Result<_, _>>().expect("rows");
    let empty = RecordBatch::new_empty(columns.schema());
    arrow_select_concat(&[vec![empty], batches].concat())
}

fn arrow_select_concat(batches: &[RecordBatch]) -> RecordBatch {
    let schema = batches[0].schema();
    let columns = (0..schema.fields().len()).map(|column| {
        let parts: Vec<&dyn arrow_array::Array> = batches.iter().map(|batch| batch.column(column).as_ref()).collect();
        arrow_select::concat::concat(&parts).expect("one array")
    });
    RecordBatch::try_new(schema.clone(), columns.collect()).expect("a batch")
}

fn texts() -> impl Strategy<Value = Option<String>> {
    prop_oneof![
        Just(None),
        Just(Some(String::new())),
        "[a-c,;\"'\n\r\t|é ]{0,6}".prop_map(Some),
        "[0-9.,-]{1,5}".prop_map(Some),
    ]
}

proptest! {
    #[test]
    fn rows_come_back(
        rows in prop::collection::vec((texts(), any::<Option<i64>>(), any::<Option<f64>>()), 0..12),
        delimiter in prop::sample::select(vec![b',', b';', b'\t', b'|']),
        encoding in prop::sample::select(vec!["utf-8", "cp1252", "utf-16", "utf-16be"]),
        packing in prop::sample::select(vec![Packing::None, Packing::Gzip, Packing::Zstd]),
        header in any::<bool>(),
    ) {
        let batch = RecordBatch::try_from_iter_with_nullable([
            ("text", Arc::new(rows.iter().map(|row| row.0.as_deref()).collect::<StringArray>()) as ArrayRef, true),
            ("whole", Arc::new(rows.iter().map(|row| row.1).collect::<PrimitiveArray<Int64Type>>()), true),
            ("number", Arc::new(rows.iter().map(|row| row.2.filter(|number| number.is_finite())).collect::<Float64Array>()), true),
        ]).expect("a batch");
        // Without a header nothing tells how many columns an empty file has.
        let header = header || rows.is_empty();
        let decimal = if delimiter == b',' { b'.' } else { b',' };
        let options = CsvOptions {
            delimiter: Some(delimiter),
            encoding: encoding.parse().ok(),
            header: Some(header),
            decimal: Some(decimal),
            ..CsvOptions::NONE
        };
        let bytes = written(&batch, &options, packing);
        prop_assert_eq!(read(&bytes, &options, &batch), batch);
    }

    #[test]
    fn one_column_keeps_its_nulls(rows in prop::collection::vec(texts(), 0..6)) {
        let column = rows.iter().map(Option::as_deref).collect::<StringArray>();
        let batch = RecordBatch::try_from_iter_with_nullable([("text", Arc::new(column) as ArrayRef, true)]).expect("a batch");
        let options = CsvOptions { delimiter: Some(b','), header: Some(true), encoding: "utf-8".parse().ok(), ..CsvOptions::NONE };
        let bytes = written(&batch, &options, Packing::None);
        prop_assert_eq!(read(&bytes, &options, &batch), batch);
    }

    /// Parts have the rows of the whole, wherever they are cut.
    #[test]
    fn parts_have_all_rows(
        lines in prop::collection::vec(("[a-bé日,\"]{0,3}", any::<u8>()), 1..30),
        end in prop::sample::select(vec!["\n", "\r\n", "\r"]),
        parts in 1_u64..6,
        blank in 0_usize..4,
        sep in any::<bool>(),
    ) {
        let sep = if sep { format!("sep=,{end}") } else { String::new() };
        let mut text = format!("{sep}{}name,number{end}", end.repeat(blank));
        for (name, number) in &lines {
            // Empty lines are no records.
            text.push_str(&end.repeat(usize::from(number % 3)));
            text.push_str(&format!("\"{}\",{number}{end}", name.replace('"', "\"\"")));
        }
        let look = Look::at(text.as_bytes(), &CsvOptions::parse("delim=,").expect("options"), b',').expect("a look");
        prop_assert!(divides(text.as_bytes(), &look.dialect).expect("read"));
        let whole: Vec<_> = CsvReader::new(text.as_bytes(), &look, &[0, 1], 100).expect("a reader").map(|batch| batch.expect("rows")).collect();
        let size = text.len() as u64;
        let mut found = Vec::new();
        for part in 0..parts {
            let at = |part: u64| look.begin + (size - look.begin) * part / parts;
            let (begin, end) = (at(part), at(part + 1));
            let reader = match part {
                0 => CsvReader::new(text.as_bytes(), &look, &[0, 1], 100).expect("a reader").until(end),
                _ if begin == 0 => continue,
                _ => CsvReader::of_part(&text.as_bytes()[begin as usize - 1..], end - begin, &look, &[0, 1], 100).expect("a reader"),
            };
            found.extend(reader.map(|batch| batch.expect("rows")));
        }
        prop_assert_eq!(arrow_select_concat(&found), arrow_select_concat(&whole));
    }

    /// Whatever stands in a file, it is rows or an error.
    #[test]
    fn bytes_are_rows_or_an_error(bytes in prop::collection::vec(prop::sample::select(b"a,;\"\n\r\t0.-\xE9\xFF\x00\x1F\x8B".to_vec()), 0..60)) {
        if let Ok(look) = Look::at(bytes.as_slice(), &CsvOptions::NONE, b',') {
            let all: Vec<usize> = (0..look.columns.fields().len()).collect();
            if let Ok(reader) = CsvReader::new(bytes.as_slice(), &look, &all, 4) {
                reader.take_while(Result::is_ok).for_each(drop);
            }
            let _ = divides(bytes.as_slice(), &look.dialect);
        }
    }
}

#[test]
fn a_later_value_of_another_type_is_an_error_with_its_line() {
    let mut text = "a,b\n".to_owned();
    (0..20_000).for_each(|row| text.push_str(&format!("{row},x\n")));
    text.push_str("n/a,x\n");
    let look = Look::at(text.as_bytes(), &CsvOptions::default(), b',').expect("a look");
    let reader = CsvReader::new(text.as_bytes(), &look, &[0], 1000).expect("a reader");
    let error = reader
        .map(|batch| batch.map(drop))
        .collect::<Result<Vec<()>, _>>()
        .expect_err("no number")
        .to_string();
    assert_eq!(
        error,
        "line 20002: column a: 'n/a' is not a whole number; 'FILE.csv?types=text' reads all columns as text"
    );
}

#[test]
fn damaged_archives_are_errors() {
    let text = "a,b\n1,2\n".repeat(100_000);
    for packing in [Packing::Gzip, Packing::Zstd] {
        let mut out = packing.packed(Vec::new()).expect("an encoder");
        std::io::Write::write_all(&mut out, text.as_bytes()).expect("packed");
        let packed = out.finish().expect("an end");
        let mut again = String::new();
        packing
            .unpacked(packed.as_slice())
            .expect("a decoder")
            .read_to_string(&mut again)
            .expect("unpacked");
        assert_eq!(again, text);
        let cut = &packed[..packed.len() - 5];
        let look = Look::at(cut, &CsvOptions::default(), b',');
        let rows = look.and_then(|look| {
            CsvReader::new(cut, &look, &[0], 1000)?
                .map(|batch| batch.map(drop))
                .collect::<Result<Vec<()>, _>>()
        });
        assert!(rows.is_err(), "{packing:?}");
    }
}

#[test]
fn whole_numbers_of_many_digits_keep_them() {
    let text = "n\n12345678901234567890\n-1\n";
    let look = Look::at(text.as_bytes(), &CsvOptions::default(), b',').expect("a look");
    let batch = CsvReader::new(text.as_bytes(), &look, &[0], 10)
        .expect("a reader")
        .next()
        .expect("rows")
        .expect("rows");
    assert_eq!(written(&batch, &CsvOptions::default(), Packing::None), text.as_bytes());
}

#[test]
fn files_whose_text_is_not_their_bytes_are_not_divided() {
    for (bytes, expected) in [
        (&b"a,b\n\xC3\xA9,2\n"[..], true),
        (b"\xEF\xBB\xBFa,b\n1,2\n", false),
        (b"name,b\nM\xFCller,2\nJ\xE4ger,3\n", false),
    ] {
        let look = Look::at(bytes, &CsvOptions::NONE, b',').expect("a look");
        assert_eq!(divides(bytes, &look.dialect).expect("read"), expected, "{bytes:?}");
    }
}
