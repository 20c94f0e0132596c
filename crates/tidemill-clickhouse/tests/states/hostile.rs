//! States, and types of states, that mean harm.

use arrow_array::cast::AsArray;
use tidemill_clickhouse::{Error, wire::put_varint};

use crate::decode;

/// A file of one state.
fn file(data_type: &str, state: &[u8]) -> Vec<u8> {
    let mut file = vec![1, 1, 1, b'c'];
    put_varint(&mut file, data_type.len() as u64);
    file.extend(data_type.bytes());
    file.extend(state);
    file
}

#[test]
fn a_hostile_state_ends_in_an_error() {
    let endless = [vec![0xff; 9], vec![1; 40]].concat();
    for (data_type, bytes) in [
        ("count", vec![0x80; 4096]),
        // Numbers of 65 and of 70 bits.
        ("count", [vec![0xff; 9], vec![0x02]].concat()),
        ("count", [vec![0x80; 9], vec![0x7e]].concat()),
        ("groupArray, UInt64", endless.clone()),
        ("groupArray, String", endless.clone()),
        ("max, String", [0x7f; 40].to_vec()),
        ("uniqCombined, UInt64", vec![4; 40]),
        ("uniqCombined, UInt64", [vec![2], endless.clone()].concat()),
        ("uniqHLL12, UInt64", vec![1; 40]),
        ("quantile, UInt64", vec![0xff; 4096]),
        ("quantileTiming, UInt64", vec![2; 40]),
        ("quantileTiming, UInt64", [vec![3], vec![0; 4096]].concat()),
        ("quantileDD(0.1, 0.5), UInt64", vec![0x0c; 4096]),
        ("rankCorr, UInt64, UInt64", [endless.clone(), endless.clone()].concat()),
        ("topK(3), String", endless.clone()),
        ("any, Variant(String, UInt64)", vec![1, 2]),
        ("any, Array(Array(Array(String)))", [vec![1], endless.clone()].concat()),
        ("any, Array(Tuple())", [vec![1], vec![0xff; 40]].concat()),
        ("sumForEach, Array(UInt64)", vec![0xff; 40]),
        ("anyForEach, Array(Tuple())", vec![0xff; 40]),
        ("sumMap, Map(String, UInt64)", endless.clone()),
        ("sumResample(0, 1000000, 1), UInt64, UInt64", vec![0; 4096]),
    ] {
        let data_type = format!("AggregateFunction({data_type})");
        let read = decode(&file(&data_type, &bytes));
        let is_told = matches!(&read, Err(error) if !error.to_string().contains("only ClickHouse knows"));
        assert!(is_told, "{data_type}: {read:?}");
    }
}

#[test]
fn a_hostile_type_of_a_state_is_refused() {
    for data_type in [
        format!("sum{}, UInt64", "OrNull".repeat(10_000)),
        format!("sum{}, UInt64", "If".repeat(10_000)),
        "sumResample(0, 170141183460469231731687303715884105727, 1), UInt64, UInt64".to_owned(),
        "sumResample(-170141183460469231731687303715884105728, 1, 1), UInt64, UInt64".to_owned(),
        "sumResample(0, 10, 0), UInt64, UInt64".to_owned(),
        "sumResample(10, 0, 1), UInt64, UInt64".to_owned(),
        "sumResample, UInt64, UInt64".to_owned(),
        "uniqCombined(64), UInt64".to_owned(),
        "uniqUpTo(1000), UInt64".to_owned(),
        "2, sumMap, Array(UInt64), Array(UInt64)".to_owned(),
        "18446744073709551615, uniq, UInt64".to_owned(),
        // Whose states take no bytes, however many there are.
        "sumTuple, Tuple()".to_owned(),
        "sumTupleResample(0, 10, 1), Tuple(), UInt64".to_owned(),
        "sumTupleResampleForEach(0, 10, 1), Array(Tuple()), Array(UInt64)".to_owned(),
    ] {
        let data_type = format!("AggregateFunction({data_type})");
        let read = decode(&file(&data_type, &[0xff; 4096]));
        let is_told = matches!(
            &read,
            Err(Error::Unsupported { .. } | Error::Limit { .. } | Error::Block(_))
        );
        assert!(is_told, "{data_type:.100}: {read:?}");
    }
}

/// Whatever the bytes: of a few kinds, so that counts of any size are among them.
#[test]
fn states_of_any_bytes_are_read_or_refused() {
    let types = [
        "uniqCombined, UInt64",
        "uniqHLL12, String",
        "uniqUpTo(3), String",
        "quantile, UInt8",
        "1, quantileDeterministic, UInt8, UInt64",
        "quantileTiming, UInt64",
        "quantileDD(0.01, 0.5), Float64",
        "quantileGK(100, 0.5), UInt8",
        "groupBitmap, UInt8",
        "groupArrayInsertAt, Array(Nullable(String)), UInt8",
        "groupConcat(',', 3), String",
        "topK(3), String",
        "any, Map(String, Array(Variant(String, UInt8)))",
        "1, sumMapForEach, Array(Array(UInt8)), Array(Array(Nullable(UInt8)))",
        "uniqResampleArgMaxIf(0, 3, 1), UInt8, UInt8, String, UInt8",
        "rankCorr, UInt64, UInt64",
    ];
    let mut random = 0x9E37_79B9_7F4A_7C15_u64;
    for round in 0..4000_usize {
        let data_type = format!("AggregateFunction({})", types[round % types.len()]);
        let bytes: Vec<u8> = (0..200)
            .map(|_| {
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                let byte = random.to_le_bytes()[7];
                if byte < 200 { byte % 4 } else { byte }
            })
            .collect();
        let read = decode(&file(&data_type, &bytes));
        let is_told = match &read {
            Ok(block) => block.batch.column(0).as_binary::<i32>().value(0).len() <= bytes.len(),
            Err(error) => !matches!(error, Error::Unsupported { .. }),
        };
        assert!(is_told, "{data_type}, {bytes:?}: {read:?}");
    }
}
