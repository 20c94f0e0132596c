//! Rows as lines of text, and the clock that tests of SQL see.

use std::time::Duration;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, Float64Type, Int32Type, Int64Type, Time32MillisecondType, TimestampMillisecondType,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use tidemill_ads::Settings;
use tidemill_ads::sql::{Answer, Clock, ConnectionTables, Prepared, Rows, StatementOptions, Statements};

/// Runs a statement and gives its rows, also of one that has a live cursor.
pub(crate) fn run(tables: &mut ConnectionTables<'_>, statements: &Statements, sql: &str) -> Vec<String> {
    let answer = statements
        .run(sql, tables, &[])
        .unwrap_or_else(|error| panic!("{sql}: {error}"));
    let answer = match answer {
        Answer::Live(_) => Prepared::new(sql, tables)
            .and_then(|prepared| prepared.run_static(tables, &[]))
            .unwrap(),
        other => other,
    };
    match answer {
        Answer::Rows(rows) => lines_of(&rows),
        _ => Vec::new(),
    }
}

/// 2024-01-31 13:05:09, an hour before universal time.
fn clock() -> Clock {
    Clock {
        local: 1_706_706_309_000,
        utc_offset: 3_600_000,
    }
}

/// What tests of SQL run under: that clock, and records that are marked as deleted are not shown.
pub(crate) fn with_the_clock() -> (Settings, StatementOptions) {
    let settings = Settings {
        show_deleted: false,
        // A process that another test starts has the locks of this one until it is its own program.
        lock_timeout: Duration::from_secs(5),
        ..Settings::default()
    };
    let options = StatementOptions {
        clock,
        ..StatementOptions::default()
    };
    (settings, options)
}

/// Values with `|` between them.
pub(crate) fn lines_of(rows: &Rows) -> Vec<String> {
    let mut lines = Vec::new();
    for batch in &rows.batches {
        for row in 0..batch.num_rows() {
            let cells: Vec<String> = batch.columns().iter().map(|column| cell(column, row)).collect();
            // A line that is empty would end the answer.
            lines.push(match cells.join("|") {
                line if line.is_empty() => "''".to_owned(),
                line => line,
            });
        }
    }
    lines
}

fn cell(column: &ArrayRef, row: usize) -> String {
    if column.is_null(row) {
        return "NULL".to_owned();
    }
    match column.data_type() {
        DataType::Utf8 => column.as_string::<i32>().value(row).to_owned(),
        DataType::Int32 => column.as_primitive::<Int32Type>().value(row).to_string(),
        DataType::Int64 => column.as_primitive::<Int64Type>().value(row).to_string(),
        DataType::Float64 => column.as_primitive::<Float64Type>().value(row).to_string(),
        DataType::Decimal128(..) => column.as_primitive::<Decimal128Type>().value_as_string(row),
        DataType::Boolean => column.as_boolean().value(row).to_string(),
        DataType::Date32 => {
            let date = column.as_primitive::<Date32Type>().value(row);
            days(i64::from(date))
        }
        DataType::Time32(_) => clock_text(i64::from(column.as_primitive::<Time32MillisecondType>().value(row))),
        DataType::Timestamp(..) => {
            let ms = column.as_primitive::<TimestampMillisecondType>().value(row);
            format!(
                "{} {}",
                days(ms.div_euclid(86_400_000)),
                clock_text(ms.rem_euclid(86_400_000))
            )
        }
        DataType::Binary => column
            .as_binary::<i32>()
            .value(row)
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect(),
        other => panic!("a column of the type {other}"),
    }
}

/// A day as SQL writes it, by counting years and months.
fn days(mut days: i64) -> String {
    let (mut year, mut month) = (1970, 1);
    let is_leap = |year: i64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = |year: i64, month: i64| match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    while days < 0 {
        (year, month) = if month == 1 { (year - 1, 12) } else { (year, month - 1) };
        days += length(year, month);
    }
    while days >= length(year, month) {
        days -= length(year, month);
        (year, month) = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
    }
    format!("{year:04}-{month:02}-{:02}", days + 1)
}

fn clock_text(ms: i64) -> String {
    format!("{:02}:{:02}:{:02}", ms / 3_600_000, ms / 60_000 % 60, ms / 1000 % 60)
}
