//! Blocks with dictionaries of their own, in one file of Arrow.

use std::{io::Cursor, sync::Arc};

use arrow_array::{Array, ArrayRef, DictionaryArray, RecordBatch, cast::AsArray, types::Int8Type, types::Int32Type};
use arrow_ipc::{
    reader::FileReader,
    writer::{DictionaryHandling, FileWriter, IpcWriteOptions},
};
use arrow_schema::DataType as ArrowType;
use tidemill_clickhouse::{
    BlockDecoder, DataType, Error, Revision,
    dictionaries::{GrowingDictionaries, plain_batch, plain_schema},
    source::SliceSource,
};

/// Blocks of the same types and other values.
fn blocks(types: &[&str], count: u64) -> Vec<RecordBatch> {
    let types: Vec<DataType> = types.iter().map(|text| text.parse().unwrap()).collect();
    let block = |seed| {
        let mut bytes = crate::generate::file(&types, 30, seed);
        // The words of its dictionaries are the same each time.
        for at in 1..bytes.len() {
            if bytes[at - 1] == b'v' && (b'1'..=b'5').contains(&bytes[at]) {
                bytes[at - 1] = b'a' + u8::try_from(seed).unwrap();
            }
        }
        let decoded = BlockDecoder::default().decode_blocking(&mut SliceSource::new(&bytes), Revision::FILE);
        decoded.unwrap().batch
    };
    (1..=count).map(block).collect()
}

fn written(batches: &[RecordBatch]) -> Result<Vec<u8>, String> {
    let options = IpcWriteOptions::default().with_dictionary_handling(DictionaryHandling::Delta);
    let mut writer = FileWriter::try_new_with_options(Vec::new(), &batches[0].schema(), options).unwrap();
    for batch in batches {
        writer.write(batch).map_err(|error| error.to_string())?;
    }
    writer.into_inner().map_err(|error| error.to_string())
}

fn read(bytes: Vec<u8>) -> Vec<RecordBatch> {
    let batches = FileReader::try_new(Cursor::new(bytes), None).unwrap();
    batches.map(Result::unwrap).collect()
}

const TYPES: [&str; 11] = [
    "LowCardinality(String)",
    "LowCardinality(Nullable(String))",
    "LowCardinality(UInt16)",
    "LowCardinality(Nullable(Date))",
    "Enum8('a' = -1, 'b' = 2)",
    "Array(LowCardinality(Nullable(String)))",
    "Map(LowCardinality(String), LowCardinality(String))",
    "Map(String, Array(LowCardinality(String)))",
    "Tuple(a LowCardinality(String), b UInt8)",
    "Array(Tuple(LowCardinality(Nullable(UInt16)), Enum16('a' = -1000, 'b' = 1000)))",
    "UInt64",
];

#[test]
fn growing_dictionaries_and_plain_values_are_the_same_rows() {
    let blocks = blocks(&TYPES, 5);
    // As they come, they do not go into one file.
    assert!(written(&blocks).is_err_and(|error| error.contains("ictionary")));

    let mut dictionaries = GrowingDictionaries::new(1 << 20);
    let grown: Vec<RecordBatch> = blocks.iter().map(|block| dictionaries.grow(block).unwrap()).collect();
    let plain: Vec<RecordBatch> = blocks.iter().map(|block| plain_batch(block).unwrap()).collect();
    for ((block, grown), plain) in blocks.iter().zip(&grown).zip(&plain) {
        assert_eq!(block.schema(), grown.schema());
        assert_eq!(plain.schema(), plain_schema(&block.schema()));
        assert!(!format!("{:?}", plain.schema()).contains("Dictionary("));
        assert_eq!(plain_batch(grown).unwrap(), *plain);
    }
    for columns in grown.windows(2) {
        let [before, after] = [0, 1].map(|at| columns[at].column(0).as_dictionary::<Int32Type>().values().clone());
        assert!(after.len() >= before.len());
        assert_eq!(after.slice(0, before.len()).to_data(), before.to_data());
    }
    let back = read(written(&grown).unwrap());
    assert_eq!(back.len(), blocks.len());
    for (back, plain) in back.iter().zip(&plain) {
        assert_eq!(plain_batch(back).unwrap(), *plain);
    }
    let back = read(written(&plain).unwrap());
    assert_eq!(back, plain);
}

#[test]
fn values_that_are_there_already_take_nothing() {
    let blocks = blocks(&["LowCardinality(String)"], 1);
    let mut dictionaries = GrowingDictionaries::new(1 << 20);
    let values = |batch: &RecordBatch| Arc::clone(batch.column(0).as_dictionary::<Int32Type>().values());
    let first = dictionaries.grow(&blocks[0]).unwrap();
    let again = dictionaries.grow(&blocks[0]).unwrap();
    assert!(Arc::ptr_eq(&values(&first), &values(&again)));
    assert_eq!(first, again);
}

#[test]
fn dictionaries_grow_to_a_limit() {
    let block = |number: u32| {
        let words = |column: u32| -> ArrayRef {
            let words: Vec<String> = (0..10).map(|row| format!("{column} {number} {row}")).collect();
            Arc::new(words.iter().map(String::as_str).collect::<DictionaryArray<Int32Type>>())
        };
        RecordBatch::try_from_iter([("a", words(1)), ("b", words(2))]).unwrap()
    };
    let mut dictionaries = GrowingDictionaries::new(20_000);
    let mut grown = (0..1000).map(|number| dictionaries.grow(&block(number)));
    let error = grown.find_map(Result::err).unwrap();
    let Error::Limit { limit, found, .. } = error else {
        panic!("{error}")
    };
    assert!(limit == 20_000 && found > limit, "{error}");
    assert!(error.to_string().contains("dictionaries of several blocks"), "{error}");
}

#[test]
fn other_dictionaries_are_refused_or_made_plain() {
    let keys: DictionaryArray<Int8Type> = ["a", "b"].into_iter().collect();
    let batch = RecordBatch::try_from_iter([("c", Arc::new(keys) as ArrayRef)]).unwrap();
    let error = GrowingDictionaries::new(1 << 20).grow(&batch).unwrap_err();
    assert!(error.to_string().contains("make it plain"), "{error}");
    let plain = plain_batch(&batch).unwrap();
    assert_eq!(*plain.schema().field(0).data_type(), ArrowType::Utf8);
    assert_eq!(plain.column(0).as_string::<i32>().value(1), "b");
}
