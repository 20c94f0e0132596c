//! The text of values that a program sends as a server, beside that of a real server.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use arrow_array::Array as _;
use arrow_array::cast::AsArray;
use tidemill_postgres::wire::{ValueFormat, WireRows};
use tidemill_postgres::{Answer, Client, Options, arrow_type};
use tidemill_testkit::Postgres;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn texts_are_those_of_the_server() {
    let Some(server) = Postgres::need() else { return };
    let (options, _) = Options::parse(&format!("{}?timeout=20", server.url())).unwrap();
    let session = Client::connect(options).await.unwrap().session().await.unwrap();
    session.run("SET timezone = 'UTC'").await.unwrap();
    for (typ, values) in [
        ("boolean", "true, false, NULL"),
        ("smallint", "-32768, 0, 32767"),
        ("bigint", "-9223372036854775808, 9223372036854775807"),
        (
            "real",
            "0, 0.1, -1.5, 123456, 1234567, 1e-4, 1e-5, 3.4028235e38, 1e-45, 'NaN', 'Infinity', '-0'",
        ),
        (
            "double precision",
            "0, 0.1, 1e14, 123456789012345, 1e15, 1e16, 1.5e300, 1e-4, 1e-5, 5e-324, -2.5, 100, '-Infinity'",
        ),
        ("numeric(12,4)", "0, 1, -1.5, 99999999.9999, 0.0001, -0.0100"),
        ("numeric(30,0)", "0, 123456789012345678901234567890, -1"),
        (
            "date",
            "'2000-01-01', '1999-12-31', '0001-01-01', '0001-12-31 BC', '4714-11-24 BC', '2024-02-29', '1900-03-01', '294276-12-31'",
        ),
        ("time", "'00:00', '23:59:59.999999', '12:30:00.1'"),
        (
            "timestamp",
            "'2000-01-01', '1999-12-31 23:59:59.999999', '0044-03-15 12:00 BC', '2024-02-29 00:00:00.000001', '12345-01-01'",
        ),
        ("timestamptz", "'2024-07-01 12:00+02', '1969-12-31 23:59:59Z'"),
        (
            "interval",
            "'1 year', '14 mons', '-1 day', '1 day -01:00', '-1 day +01:00', '3 mons 2 days 00:00:01.5', '0', '-1 mon +1 day', '-00:00:00.5'",
        ),
        ("uuid", "'67e55044-10b1-426f-9247-bb680e5fe0c8'"),
        ("bytea", "'\\x', '\\x00ff61'"),
        ("jsonb", "'{\"a\":[1,null]}'"),
        ("text", "'', 'a\"b', 'ä€😀'"),
        ("char(3)", "'a', 'abc'"),
    ] {
        let rows = format!(
            "SELECT v, CASE WHEN v IS NOT NULL THEN format('%s', v) END AS t FROM unnest(ARRAY[{values}]::{typ}[]) v"
        );
        check(&session, &rows).await;
    }
    for array in [
        "ARRAY[1, NULL, 3]",
        "ARRAY[]::int[]",
        "ARRAY['a', 'b c', '', 'null', 'x,y', 'q\"q', 'b\\s', '{}', NULL]",
        "ARRAY[1.50, 2]::numeric(5,2)[]",
        "ARRAY['2024-01-01']::date[]",
        "ARRAY['\\x00']::bytea[]",
        "ARRAY[true]",
    ] {
        check(&session, &format!("SELECT {array} AS v, ({array})::text AS t")).await;
    }
}

async fn check(session: &tidemill_postgres::Session, sql: &str) {
    let Answer::Rows(mut rows) = session.run(sql).await.unwrap() else {
        panic!("{sql}: no rows")
    };
    let schema = rows.schema().clone();
    let columns: Vec<_> = schema
        .fields()
        .iter()
        .map(|field| (arrow_type::column_type(field).unwrap(), ValueFormat::Text))
        .collect();
    let mut seen = 0;
    while let Some(batch) = rows.next().await.unwrap() {
        let written = WireRows::new(&batch, &columns).unwrap();
        for row in 0..batch.num_rows() {
            let (mut text, expected) = (Vec::new(), batch.column(1).as_string::<i32>());
            let has_value = written.write_text(row, 0, &mut text).unwrap();
            let found = has_value.then(|| String::from_utf8(text).unwrap());
            let expected = expected.is_valid(row).then(|| expected.value(row).to_owned());
            // The blanks at the end of a char(n) are no part of its text.
            let trimmed = |text: Option<String>| text.map(|text| text.trim_end().to_owned());
            assert_eq!(trimmed(found), trimmed(expected), "{sql}");
            seen += 1;
        }
    }
    assert!(seen > 0, "{sql}");
}
