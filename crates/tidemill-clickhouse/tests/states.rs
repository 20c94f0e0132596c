//! States of aggregate functions, as ClickHouse of today and ClickHouse 18.16 write them: each ends where the server ends it.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a panic is how a test fails")]

use std::fs;

use arrow_array::{BinaryArray, RecordBatch, cast::AsArray};
use tidemill_clickhouse::{Block, BlockDecoder, BlockEncoder, Revision, client::Client, source::SliceSource};
use tidemill_testkit::{Chdb, ClickHouse};

/// What both versions know, as arguments of `…State(`, by `n`, a number.
const OLD: &[&str] = &[
    "count()",
    "count(n)",
    "count(toNullable(n))",
    "sum(n)",
    "sum(toFloat32(n))",
    "sum(toNullable(n))",
    "sum(toDecimal32(n, 2))",
    "avg(n)",
    "avg(toNullable(n))",
    "avg(toFloat64(n))",
    "min(n)",
    "max(toString(n))",
    "any(toNullable(n))",
    "anyLast(toDate(n))",
    "anyLast(toUInt16(n))",
    "any(toDateTime(n))",
    "min(toUUID('61f0c404-5cb3-11e7-907b-a6006ad3dba0'))",
    "max(toNullable(toString(n)))",
    "argMin(n, toFloat32(n))",
    "argMax(toString(n), n)",
    "anyHeavy(n)",
    "anyHeavy(toString(n))",
    "groupBitAnd(toUInt8(n))",
    "groupBitOr(toUInt16(n))",
    "groupBitXor(toUInt32(n))",
    "groupBitAnd(n)",
    "groupBitOr(toNullable(n))",
    "varPop(n)",
    "varSamp(toFloat32(n))",
    "stddevPop(toFloat64(n))",
    "stddevSamp(n)",
    "varPop(toNullable(n))",
    "covarPop(n, n)",
    "covarSamp(toFloat32(n), toFloat32(n))",
    "covarSamp(toFloat32(n), n)",
    "corr(n, n)",
    "corr(toFloat32(n), toFloat32(n))",
    "covarPop(toNullable(n), n)",
    "uniqExact(n)",
    "uniqExact(toString(n))",
    "uniqExact(toDate(n))",
    "uniqExact(toNullable(n))",
    "groupArray(n)",
    "groupArray(toUInt8(n))",
    "groupArray(toString(n))",
    "groupArray(2)(n)",
    "groupUniqArray(n)",
    "groupUniqArray(toString(n))",
    "groupUniqArray(toDate(n))",
    "quantileExact(n)",
    "quantileExact(toUInt8(n))",
    "quantileTDigest(n)",
    "countIf(n > 1)",
    "sumIf(n, n > 1)",
    "avgIf(n, n > 1)",
    "varPopIf(n, n > 1)",
    "groupBitAndIf(n, n > 1)",
    "sumIf(toNullable(n), n > 1)",
    "maxIf(toNullable(toString(n)), n > 1)",
    "sumArray([n])",
    "avgArray([n, n])",
    "countArray([n])",
    "sumArrayIf([n], n > 1)",
];

/// What only ClickHouse of today knows.
const NEW: &[&str] = &[
    "sum(toInt128(n))",
    "sum(toUInt256(n))",
    "sum(toDecimal256(n, 2))",
    "sum(toBool(n))",
    "sum(toBFloat16(n))",
    "sumKahan(toFloat64(n))",
    "sumKahan(toFloat32(n))",
    "sumKahan(toNullable(n))",
    "sumCount(n)",
    "sumCount(toFloat32(n))",
    "sumCount(toDecimal32(n, 2))",
    "sumCount(toInt128(n))",
    "avg(toInt128(n))",
    "avg(toInt256(n))",
    "avg(toBFloat16(n))",
    "avg(toDate(n))",
    "avg(toDateTime(n))",
    "avg(toDateTime64(n, 3))",
    "avg(toDecimal256(n, 2))",
    "avgWeighted(n, n)",
    "avgWeighted(n, toFloat64(n))",
    "avgWeighted(toFloat64(n), toUInt8(n))",
    "avgWeighted(toInt8(n), toInt8(-n))",
    "min(toFixedString('ab', 2))",
    "min(toTime(n))",
    "min(toTime64(n, 3))",
    "min(toDate32(n))",
    "min(toDateTime64(n, 3))",
    "min(toIntervalDay(n))",
    "min(toIPv4('1.2.3.4'))",
    "max(toIPv6('::1'))",
    "min(toBFloat16(n))",
    "min(toBool(n))",
    "min(CAST('a', 'Enum8(\\'a\\' = 1)'))",
    "argMax(toFixedString('ab', 2), n)",
    "argMin(toNullable(n), n)",
    "argMin(n, toNullable(n))",
    "singleValueOrNull(n)",
    "singleValueOrNull(toString(n))",
    "groupBitAnd(toInt256(n))",
    "groupBitOr(toInt128(n))",
    "groupBitAnd(toBool(n))",
    "varPop(toDecimal128(n, 2))",
    "varSamp(toInt128(n))",
    "varPop(toBFloat16(n))",
    "varPopStable(n)",
    "varSampStable(toFloat32(n))",
    "stddevPopStable(n)",
    "stddevSampStable(toNullable(n))",
    "covarPopStable(n, n)",
    "covarSampStable(toFloat32(n), toFloat32(n))",
    "corrStable(n, n)",
    "skewPop(n)",
    "skewSamp(toFloat32(n))",
    "kurtPop(toNullable(n))",
    "kurtSamp(toFloat32(n))",
    "deltaSum(n)",
    "deltaSum(toFloat32(n))",
    "deltaSum(toNullable(n))",
    "deltaSumTimestamp(n, toUInt32(n))",
    "deltaSumTimestamp(toFloat32(n), toDateTime(n))",
    "deltaSumTimestamp(toInt8(n), toDate(n))",
    "boundingRatio(n, n)",
    "boundingRatioIf(n, n, n > 4)",
    "boundingRatio(toNullable(n), n)",
    "simpleLinearRegression(n, n)",
    "simpleLinearRegression(toFloat32(n), toFloat32(n))",
    "exponentialMovingAverage(5)(n, n)",
    "studentTTest(n, n % 2)",
    "welchTTest(n, n % 2)",
    "meanZTest(1., 1., 0.95)(n, n % 2)",
    "retention(n = 1, n = 2)",
    "uniqExact(toUInt8(n))",
    "uniqExact(toFloat64(n))",
    "groupArray(toDate(n))",
    "groupArray(toFloat32(n))",
    "quantilesExact(0.1, 0.9)(n)",
    "quantilesTDigest(0.1, 0.9)(toFloat32(n))",
    "sumOrNull(n)",
    "sumOrDefault(n)",
    "avgOrNull(n)",
    "countOrNull()",
    "sumOrNullIf(n, n > 4)",
    "sumIfOrNull(n, n > 4)",
    "minOrNullIf(toString(n), n > 4)",
    "varPopArray([toFloat32(n)])",
];

/// What is refused: its length cannot be told, or differs between versions.
const UNKNOWN: &[&str] = &[
    "uniq(n)",
    // As wide as its argument now, and wider in 18.16.
    "sumWithOverflow(toUInt8(n))",
    "quantile(n)",
    "sumMap([n], [n])",
    "topK(3)(n)",
    "sumCount(toNullable(n))",
    "sumOrNull(toNullable(n))",
    "countIf(toNullable(n > 1))",
    "groupArray(toDecimal32(n, 2))",
    "quantileDeterministic(n, n)",
    "groupBitmap(n)",
];

/// `nameState(parameters)(arguments)` of `name(parameters)(arguments)`.
fn state(function: &str) -> String {
    function.replacen('(', "State(", 1)
}

/// The states of five groups, one of them of a single row, by `select`.
fn query(function: &str, select: &str) -> String {
    format!(
        "SELECT {select} FROM (SELECT {} AS x FROM (SELECT number AS n FROM system.numbers LIMIT 41) \
         GROUP BY intDiv(n, 10) ORDER BY intDiv(n, 10))",
        state(function)
    )
}

fn hex(states: &BinaryArray) -> Vec<String> {
    let hex = |state: &[u8]| state.iter().map(|byte| format!("{byte:02X}")).collect();
    states.iter().map(|state| hex(state.unwrap())).collect()
}

fn decode(bytes: &[u8]) -> tidemill_clickhouse::Result<Block> {
    BlockDecoder::default().decode_blocking(&mut SliceSource::new(bytes), Revision::FILE)
}

/// What is wrong with the states of a function in files of ClickHouse of today.
fn check_today(chdb: &mut Chdb, function: &str) -> Result<(), String> {
    let path = chdb.folder().join("states.native");
    let mut ask = |query: &str, format: &str| {
        let query = format!("{query} SETTINGS enable_time_time64_type=1");
        chdb.query(&query, format).map_err(|error| error.to_string())
    };
    let answer = ask(&query(function, "x"), "Native")?;
    let block = decode(&answer).map_err(|error| error.to_string())?;
    let shown = String::from_utf8(ask(&query(function, "hex(x)"), "TabSeparated")?).unwrap();
    let (shown, found) = (
        shown.lines().collect::<Vec<_>>(),
        hex(block.batch.column(0).as_binary()),
    );
    if found != shown || found.len() != 5 {
        return Err(format!("{found:?} for {shown:?}"));
    }
    let mut written = Vec::new();
    let encoded = BlockEncoder::default().encode(&block, Revision::FILE, &mut written);
    encoded.map_err(|error| error.to_string())?;
    if written != answer {
        return Err("it is written as something else".to_owned());
    }
    fs::write(&path, &written).unwrap();
    let mut read = ask(&format!("SELECT * FROM file('{}', Native)", path.display()), "Native")?;
    let mut expected = answer.clone();
    if function.contains("niq") {
        // Values of a set come in any order.
        read.sort_unstable();
        expected.sort_unstable();
    }
    if read != expected {
        return Err("ClickHouse reads it as something else".to_owned());
    }
    match (1..answer.len()).find(|end| decode(&answer[..*end]).is_ok()) {
        Some(end) => Err(format!("cut off at byte {end} it is not refused")),
        None => Ok(()),
    }
}

#[test]
fn states_of_clickhouse_of_today_are_told_apart() {
    let Some(mut chdb) = Chdb::need() else { return };
    let mut wrong = Vec::new();
    for function in OLD.iter().chain(NEW) {
        if let Err(what) = check_today(&mut chdb, function) {
            wrong.push(format!("{function}: {what}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn other_states_are_refused() {
    let Some(mut chdb) = Chdb::need() else { return };
    for function in UNKNOWN {
        let answer = chdb.query(&query(function, "x"), "Native").unwrap();
        let error = decode(&answer).expect_err(function).to_string();
        assert!(
            error.contains("whose length only ClickHouse knows"),
            "{function}: {error}"
        );
    }
}

/// What is wrong with the states of a function on a connection: those of all groups are those of each.
async fn check_old(client: &Client, function: &str) -> tidemill_clickhouse::Result<Option<String>> {
    let states = |batches: &[RecordBatch]| {
        let states = batches.iter().flat_map(|batch| hex(batch.column(0).as_binary()));
        states.collect::<Vec<_>>()
    };
    let together = client.query(query(function, "x")).collect().await?;
    let mut single = Vec::new();
    for group in 0..5 {
        let of_group = format!("LIMIT 41) WHERE intDiv(n, 10) = {group} ");
        let query = query(function, "x").replace("LIMIT 41) ", &of_group);
        single.extend(states(&client.query(query).collect().await?));
    }
    let together = states(&together);
    let is_right = together == single && single.len() == 5;
    Ok((!is_right).then(|| format!("{together:?} and one by one {single:?}")))
}

#[tokio::test]
async fn states_of_an_old_server_are_told_apart() {
    let Some(server) = ClickHouse::need() else { return };
    let client = Client::connect(&format!("clickhouse://{}", server.native()))
        .await
        .unwrap();
    let mut wrong = Vec::new();
    for function in OLD {
        match check_old(&client, function).await {
            Ok(None) => {}
            Ok(Some(what)) => wrong.push(format!("{function}: {what}")),
            Err(error) => wrong.push(format!("{function}: {error}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_hostile_state_ends_in_an_error() {
    for (data_type, bytes) in [
        ("AggregateFunction(count)", vec![0x80; 4096]),
        (
            "AggregateFunction(groupArray, UInt64)",
            [vec![0xff; 9], vec![1; 40]].concat(),
        ),
        (
            "AggregateFunction(groupArray, String)",
            [vec![0xff; 9], vec![1; 40]].concat(),
        ),
        ("AggregateFunction(max, String)", [0x7f; 40].to_vec()),
    ] {
        let mut block = vec![1, 1, 1, b'c', u8::try_from(data_type.len()).unwrap()];
        block.extend(data_type.bytes());
        block.extend(bytes);
        let read = decode(&block);
        let is_told = matches!(&read, Err(error) if !error.to_string().contains("only ClickHouse knows"));
        assert!(is_told, "{data_type}: {read:?}");
    }
}
