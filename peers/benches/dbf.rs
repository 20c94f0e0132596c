//! How long does it take to have every value of a table? 100,000 records of N(8,0), C(4), N(8,2), in memory.
//!
//! tidemill-xbase gives Arrow columns, dbase gives records: into its own map, and into a structure of the caller's, which
//! is its fastest way. Each answer is checked by the sums of both numbers and the length of all texts.

use std::{
    io::{Cursor, Read, Seek},
    sync::Arc,
};

use arrow_array::{
    cast::AsArray,
    types::{Decimal128Type, Int64Type},
};
use dbase::{FieldIterator, FieldValue, ReadableRecord, Reader};
use tidemill_peers::Comparison;
use tidemill_xbase::{OpenOptions, Scan, Table};

const RECORDS: u32 = 100_000;

/// Sum of ID, length of all CODEs, sum of AMOUNT in hundredths.
type Answer = (i64, usize, i128);

fn main() {
    let (table, answer) = table();
    let mut comparison = Comparison::new("every value of a table", RECORDS.into(), table.len() as u64);
    comparison.contender("tidemill-xbase, Arrow columns", &answer, || table.clone(), ours);
    comparison.contender("dbase 0.8, records as maps", &answer, || table.clone(), dbase_records);
    comparison.contender(
        "dbase 0.8, records as a structure",
        &answer,
        || table.clone(),
        dbase_structures,
    );
}

fn ours(table: Vec<u8>) -> Answer {
    let table = Arc::new(Table::from_bytes(table, None, &OpenOptions::default()).expect("a table"));
    let mut answer = (0, 0, 0);
    for batch in table.scan(Scan::default()).expect("a scan") {
        let batch = batch.expect("a batch");
        answer.0 += batch.column(0).as_primitive::<Int64Type>().values().iter().sum::<i64>();
        answer.1 += batch.column(1).as_string::<i32>().values().len();
        answer.2 += batch
            .column(2)
            .as_primitive::<Decimal128Type>()
            .values()
            .iter()
            .sum::<i128>();
    }
    answer
}

fn dbase_records(table: Vec<u8>) -> Answer {
    let mut reader = Reader::new(Cursor::new(table)).expect("a table");
    let mut answer = (0, 0, 0);
    for record in reader.iter_records() {
        let record = record.expect("a record");
        let (
            Some(FieldValue::Numeric(Some(id))),
            Some(FieldValue::Character(Some(code))),
            Some(FieldValue::Numeric(Some(amount))),
        ) = (record.get("ID"), record.get("CODE"), record.get("AMOUNT"))
        else {
            panic!("{record:?}")
        };
        add(&mut answer, *id, code, *amount);
    }
    answer
}

struct Row {
    id: f64,
    code: String,
    amount: f64,
}

impl ReadableRecord for Row {
    fn read_using<S: Read + Seek, M: Read + Seek>(
        fields: &mut FieldIterator<'_, S, M>,
    ) -> Result<Self, dbase::FieldError> {
        Ok(Self {
            id: fields.read_next_field_as()?.value,
            code: fields.read_next_field_as()?.value,
            amount: fields.read_next_field_as()?.value,
        })
    }
}

fn dbase_structures(table: Vec<u8>) -> Answer {
    let mut reader = Reader::new(Cursor::new(table)).expect("a table");
    let mut answer = (0, 0, 0);
    for row in reader.iter_records_as::<Row>() {
        let Row { id, code, amount } = row.expect("a record");
        add(&mut answer, id, &code, amount);
    }
    answer
}

fn add(answer: &mut Answer, id: f64, code: &str, amount: f64) {
    answer.0 += id as i64;
    answer.1 += code.len();
    answer.2 += (amount * 100.0).round() as i128;
}

/// A dBASE III table (version byte 3, header of 32 bytes and 32 for each field, a terminator, then the records).
fn table() -> (Vec<u8>, Answer) {
    const FIELDS: [(&str, u8, u8, u8); 3] = [("ID", b'N', 8, 0), ("CODE", b'C', 4, 0), ("AMOUNT", b'N', 8, 2)];
    let mut bytes = vec![0; 32];
    bytes[..4].copy_from_slice(&[0x03, 124, 1, 31]);
    bytes[4..8].copy_from_slice(&RECORDS.to_le_bytes());
    bytes[8..10].copy_from_slice(&129_u16.to_le_bytes());
    bytes[10..12].copy_from_slice(&21_u16.to_le_bytes());
    for (name, kind, width, decimals) in FIELDS {
        let mut field = [0; 32];
        field[..name.len()].copy_from_slice(name.as_bytes());
        (field[11], field[16], field[17]) = (kind, width, decimals);
        bytes.extend(field);
    }
    bytes.push(0x0d);
    let mut answer = (0, 0, 0);
    for record in 0..RECORDS {
        let (id, code, cents) = (record + 1, format!("C{:03}", record % 1000), record * 7919 % 9_999_999);
        bytes.extend(format!(" {id:>8}{code}{:>5}.{:02}", cents / 100, cents % 100).into_bytes());
        answer.0 += i64::from(id);
        answer.1 += code.len();
        answer.2 += i128::from(cents);
    }
    bytes.push(0x1a);
    (bytes, answer)
}
