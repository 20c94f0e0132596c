//! The text of an expression: what parses is written and parsed again, and evaluated over three records in both forms.
//!
//! Fields for it: NAME C(6), NUM N(8,2), LOG L, DAT D.

#![no_main]

use std::sync::{Arc, LazyLock};

use libfuzzer_sys::fuzz_target;
use tidemill_xbase::expression::{Environment, Program, RecordBytes, parse};
use tidemill_xbase::{Deleted, OpenOptions, Scan, Table};

const RECORDS: [&[u8; 24]; 3] = [
    b" Smith    12.50T20240229",
    b"*              ?        ",
    b" \x81b  a -9999.99F99991231",
];

static TABLE: LazyLock<Arc<Table>> = LazyLock::new(|| {
    let mut bytes = vec![3, 124, 1, 31, 3, 0, 0, 0, 161, 0, 24, 0];
    bytes.resize(32, 0);
    for (name, letter, width, decimals) in [
        (b"NAME", b'C', 6, 0),
        (b"NUM\0", b'N', 8, 2),
        (b"LOG\0", b'L', 1, 0),
        (b"DAT\0", b'D', 8, 0),
    ] {
        let mut descriptor = [0; 32];
        descriptor[..4].copy_from_slice(name);
        (descriptor[11], descriptor[16], descriptor[17]) = (letter, width, decimals);
        bytes.extend(descriptor);
    }
    bytes.push(0x0D);
    RECORDS.iter().for_each(|record| bytes.extend(*record));
    Arc::new(Table::from_bytes(bytes, None, &OpenOptions::new()).expect("a sound table"))
});

fuzz_target!(|input: &[u8]| {
    let text = String::from_utf8_lossy(input);
    let Ok(tree) = parse(&text) else {
        return;
    };
    match parse(&tree.to_string()) {
        Ok(again) => assert_eq!(again, tree),
        // Parentheses that the text did without may nest one level too deep.
        Err(e) => assert!(
            e.to_string().contains("at most 60 deep"),
            "what was written cannot be read: {e}"
        ),
    }
    for exact in [false, true] {
        let environment = Environment::new(TABLE.codepage()).exact(exact);
        let Ok(program) = Program::from_syntax(&tree, TABLE.fields(), &environment) else {
            continue;
        };
        for (record, number) in RECORDS.iter().zip(1..) {
            let _ = program.evaluate_record(&RecordBytes::new(&TABLE, number, *record));
        }
        let scan = Scan::new().deleted(Deleted::Include).system_columns(true);
        for batch in TABLE.scan(scan).expect("a scan") {
            let _ = program.evaluate(&batch.expect("a batch"));
        }
    }
});
