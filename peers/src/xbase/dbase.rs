//! The crate dbase: every question is a pass over all records, of which it makes structures.

use std::io::{Cursor, Read, Seek};

use dbase::{FieldIterator, ReadableRecord, Reader};

use super::{Line, Question, Reference, Spread};

struct Row {
    tag: String,
    amount: f64,
}

impl ReadableRecord for Row {
    fn read_using<S: Read + Seek, M: Read + Seek>(
        fields: &mut FieldIterator<'_, S, M>,
    ) -> Result<Self, dbase::FieldError> {
        let _: dbase::FieldValue = fields.read_next_field()?.value;
        Ok(Self {
            tag: fields.read_next_field_as()?.value,
            amount: fields.read_next_field_as()?.value,
        })
    }
}

/// Counts, filters and adds up.
#[must_use]
pub fn ask(reference: &Reference, repeats: usize) -> Vec<Line> {
    let rows = |dbf: &[u8], mut visit: Box<dyn FnMut(Row) + '_>| {
        let mut reader = Reader::new(Cursor::new(dbf)).expect("a table");
        reader
            .iter_records_as::<Row>()
            .for_each(|row| visit(row.expect("a record")));
    };
    let count = |dbf: &[u8], keep: fn(&Row) -> bool| {
        let mut count = 0;
        rows(dbf, Box::new(|row| count += i64::from(keep(&row))));
        vec![count]
    };
    let sum = |dbf: &[u8]| {
        let (mut sum, mut min, mut max, mut count) = (0, i64::MAX, i64::MIN, 0);
        rows(
            dbf,
            Box::new(|row| {
                let cents = (row.amount * 100.0).round() as i64;
                (sum, min, max, count) = (sum + cents, min.min(cents), max.max(cents), count + 1);
            }),
        );
        vec![sum, count, min, max]
    };
    type Answering<'a> = &'a dyn Fn(&[u8]) -> Vec<i64>;
    let questions: [(Question, Answering<'_>); 4] = [
        (Question::Count, &|dbf| count(dbf, |_| true)),
        (Question::Filter, &|dbf| count(dbf, |row| row.tag == "AAAA")),
        (Question::Sum, &sum),
        (Question::Between, &|dbf| {
            count(dbf, |row| (100.0..=500.0).contains(&row.amount))
        }),
    ];
    let lines = questions.into_iter().map(|(question, run)| Line {
        question,
        filter: None,
        engine: "dbase 0.8.0".to_owned(),
        times: Spread::measure(
            repeats.min(5),
            &reference.answer(question),
            || reference.dbf.as_slice(),
            run,
        ),
        units: reference.rows.len(),
        calls: 0,
        note: String::new(),
    });
    lines.collect()
}
