//! CSV files: what is read with the types that the beginning tells is written again, and is the same. Parts of a file that divides have
//! the rows of the whole.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tidemill_csv::{CsvOptions, CsvReader, CsvWriter, Look, Packing, WriteDialect, divides};

fuzz_target!(|input: &[u8]| {
    let Ok(look) = Look::at(input, &CsvOptions::NONE, b',') else {
        return;
    };
    let all: Vec<usize> = (0..look.columns.fields().len()).collect();
    let Ok(reader) = CsvReader::new(input, &look, &all, 64) else {
        return;
    };
    let batches: Vec<_> = reader.map_while(Result::ok).take(64).collect();
    let dialect = WriteDialect::new(&CsvOptions::NONE, Packing::None, b',').expect("no options");
    let mut writer = CsvWriter::new(&look.columns, dialect, Vec::new()).expect("flat columns");
    for batch in &batches {
        writer.write(batch).expect("memory");
    }
    let written = writer.finish().expect("memory");
    let mut again = Look::at(
        &written[..],
        &CsvOptions::parse("delim=,&header=yes&encoding=utf-8").expect("options"),
        b',',
    );
    if let Ok(again) = &mut again
        && again.columns.fields().len() == all.len()
    {
        again.columns = look.columns.clone();
        let rows = |batches: &[arrow_array::RecordBatch]| {
            batches.iter().map(arrow_array::RecordBatch::num_rows).sum::<usize>()
        };
        let read: Result<Vec<_>, _> = CsvReader::new(&written[..], again, &all, 64)
            .expect("a header")
            .collect();
        assert_eq!(rows(&read.expect("what was written")), rows(&batches));
    }
    if divides(input, &look.dialect).expect("memory") && batches.len() < 64 {
        let size = input.len() as u64;
        let middle = look.begin + (size - look.begin) / 2;
        let count = |reader: CsvReader<'_>| {
            reader
                .map(|batch| batch.map(|batch| batch.num_rows()))
                .sum::<Result<usize, _>>()
        };
        let whole = CsvReader::new(input, &look, &[], 64).map(count);
        let first = CsvReader::new(input, &look, &[], 64).map(|reader| count(reader.until(middle)));
        let rest = &input[usize::try_from(middle.saturating_sub(1)).expect("small")..];
        let second = CsvReader::of_part(rest, size - middle, &look, &[], 64).map(count);
        if let (Ok(Ok(whole)), Ok(Ok(first)), Ok(Ok(second))) = (whole, first, second)
            && middle > 0
        {
            assert_eq!(whole, first + second);
        }
    }
});
