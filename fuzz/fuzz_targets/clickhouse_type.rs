//! Names of ClickHouse types, a line each: what is understood is written so that it is understood again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tidemill_clickhouse::DataType;

fuzz_target!(|input: &str| {
    for line in input.lines() {
        if let Ok(data_type) = line.parse::<DataType>() {
            let text = data_type.to_string();
            let again: DataType = text.parse().expect("a type that was written");
            assert_eq!(again, data_type, "{text}");
        }
    }
});
