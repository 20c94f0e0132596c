//! Bitmap filters: they say of each record what the condition says of it.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod conditions;
mod tables;

use std::sync::Arc;

use proptest::prelude::*;
use tidemill_xbase::aof::Filter;
use tidemill_xbase::expression::{Environment, Letters, Program, RecordBytes};
use tidemill_xbase::{CodePage, OpenOptions, Table};

use tables::{Random, RandomTable};

fn open(source: &RandomTable) -> Arc<Table> {
    let options = OpenOptions::new().codepage(CodePage::Cp437);
    Arc::new(Table::from_bytes(source.bytes.clone(), None, &options).unwrap())
}

fn environment(random: &mut Random) -> Environment {
    let page = CodePage::Cp437;
    let mut weights: [u8; 256] = std::array::from_fn(|i| u8::try_from(i).unwrap());
    // ä stands behind a.
    weights[0x84] = b'b';
    let weights = (random.below(4) == 0).then(|| Arc::new(weights));
    let letters = *random.pick(&[false, true]);
    Environment::new(page)
        .exact(random.below(2) == 0)
        .letters(if letters { Letters::of(page) } else { Letters::ascii() })
        .weights(weights)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_bitmap_says_of_every_record_what_the_condition_says(seed: u64) {
        let mut random = Random::new(seed);
        let random = &mut random;
        let source = RandomTable::new(random, 200, false);
        let table = open(&source);
        for _ in 0..8 {
            let environment = environment(random);
            let text = source.condition(random, 3);
            let program = Program::compile(&text, table.fields(), &environment).unwrap();
            let filter = Filter::new(&text, &table, &environment).unwrap();
            let bitmap = filter.bitmap(&table).unwrap();
            prop_assert_eq!(bitmap.len(), source.rows);
            for (recno, bytes) in source.records() {
                let expected = program.matches(&RecordBytes::new(&table, recno, bytes)).unwrap();
                prop_assert_eq!(bitmap.contains(recno), expected, "{} for record {}: {:x?}", &text, recno, bytes);
                prop_assert_eq!(filter.matches(&table, recno, bytes).unwrap(), expected);
            }
        }
    }

    #[test]
    fn a_leaf_is_an_error_when_its_field_cannot_be_read(seed: u64) {
        let mut random = Random::new(seed);
        let random = &mut random;
        let source = RandomTable::new(random, 60, true);
        let table = open(&source);
        for _ in 0..8 {
            let environment = environment(random);
            let text = source.leaf(random);
            let program = Program::compile(&text, table.fields(), &environment).unwrap();
            let expected: Result<Vec<bool>, _> = source
                .records()
                .map(|(recno, bytes)| program.matches(&RecordBytes::new(&table, recno, bytes)))
                .collect();
            let bitmap = Filter::new(&text, &table, &environment).unwrap().bitmap(&table);
            match (bitmap, expected) {
                (Ok(bitmap), Ok(expected)) => {
                    let found: Vec<bool> = (1..=source.rows).map(|recno| bitmap.contains(recno)).collect();
                    prop_assert_eq!(found, expected, "{}", &text);
                }
                (Err(found), Err(expected)) => prop_assert_eq!(found.to_string(), expected.to_string(), "{}", &text),
                (found, expected) => prop_assert!(false, "{}: {:?} {:?}", &text, found, expected),
            }
        }
    }
}
