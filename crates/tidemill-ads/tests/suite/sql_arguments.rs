//! Scalar functions with arguments of every type: a number is the same number in whichever type it comes, NULL gives NULL, and what a function does
//! not take is refused.

use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use tidemill_ads::sql::{Answer, ConnectionTables, Error, Kind, Prepared, Rows, function_names};
use tidemill_ads::{Connection, FieldType};

use crate::sql_rows::{lines_of, with_the_clock};

fn run(sql: &str, tables: &mut ConnectionTables<'_>) -> Result<Rows, Error> {
    let prepared = Prepared::new(sql, tables)?;
    match prepared.run_static(tables, &[])? {
        Answer::Rows(rows) => Ok(rows),
        _ => Ok(Rows {
            columns: Vec::new(),
            batches: Vec::new(),
        }),
    }
}

/// The types that a number comes in: what its column is called, and how a constant of it is written.
const FORMS: [(&str, &str); 5] = [
    ("i", "CAST( @ AS SQL_INTEGER )"),
    ("n", "CAST( @ AS SQL_NUMERIC(12,2) )"),
    ("w", "@.0"),
    ("b", "CAST( @ AS SQL_DOUBLE )"),
    ("y", "CAST( @ AS SQL_MONEY )"),
];

/// Functions of numbers; `#` is where one stands.
const OF_NUMBERS: &[&str] = &[
    "ABS( # )",
    "ATAN( # )",
    "ATAN2( #, # )",
    "CEILING( # )",
    "COALESCE( NULL, #, # )",
    "COS( # )",
    "CREATETIMESTAMP( 2000 + #, #, 12, #, 0, 0, 0 )",
    "DEGREES( # )",
    "EXP( # )",
    "FLOOR( # )",
    "IFNULL( NULL, # )",
    "IIF( # > #, #, # )",
    "INLIST( #, #, 2, # )",
    "INSERT( 'abcdefghijklmnop', #, #, 'X' )",
    "INT( # )",
    "LEFT( 'abcdefghijklmnop', # )",
    "LOCATE( 'b', 'abcabcabcabcb', # )",
    "LOG( # )",
    "MOD( #, # )",
    "MOD( # * 10, # + 1 )",
    "NULLIF( #, # )",
    "PADL( 'abc', #, '*' )",
    "PADR( 'abc', # )",
    "POWER( #, # )",
    "REPEAT( 'ab', # )",
    "RIGHT( 'abcdefghijklmnop', # )",
    "ROUND( #, # )",
    "ROUND( # * 1000 / 7, # )",
    "SIGN( # )",
    "SIN( # )",
    "SPACE( # ) + '.'",
    "SQRT( # )",
    "STR( #, 12, 3 )",
    "STR( #, #, 0 )",
    "STRZERO( #, 8, 2 )",
    "SUBSTRING( 'abcdefghijklmnop', #, # )",
    "TIMESTAMPADD( SQL_TSI_DAY, #, {ts '2024-02-28 10:00:00'} )",
    "TIMESTAMPADD( SQL_TSI_MONTH, #, {d '2024-02-28'} )",
    "TRUNCATE( #, # )",
    "TRUNCATE( # * 1000 / 7, # )",
    "# + #",
    "# - #",
    "# * #",
    "# / #",
    "- #",
    "# BETWEEN # AND #",
    "# IN ( #, 12 )",
    "CASE # WHEN # THEN # ELSE # END",
];

const NUMBERS: [i64; 6] = [-7, -1, 0, 2, 3, 12];

/// A text that is the same for numbers that are equal.
fn comparable(cell: &str) -> String {
    match cell.parse::<f64>() {
        Ok(number) if number.abs() < 1e-12 => "0".to_owned(),
        Ok(number) => format!("{number:.9e}"),
        Err(_) => cell.to_owned(),
    }
}

#[test]
fn a_number_is_the_same_in_every_type() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut connection = Connection::open(folder.path()).expect("a connection");
    let (settings, options) = with_the_clock();
    let mut tables = connection.tables(&settings, &options);
    let mut columns = Vec::new();
    for letter in ["p", "q"] {
        columns.push(format!(
            "{letter}i Integer, {letter}n Numeric(12,2), {letter}w Numeric(8,1), {letter}b Double, {letter}y Money"
        ));
    }
    let made = Prepared::new(&format!("CREATE TABLE t ( {} )", columns.join(", ")), &mut tables);
    made.and_then(|made| made.run(&mut tables, &[])).expect("a table");
    for p in NUMBERS {
        for q in NUMBERS {
            let values = format!("{p}, {p}, {p}, {p}, {p}, {q}, {q}, {q}, {q}, {q}");
            let made = Prepared::new(&format!("INSERT INTO t VALUES ( {values} )"), &mut tables);
            made.and_then(|made| made.run(&mut tables, &[])).expect("a record");
        }
    }
    let mut wrong = Vec::new();
    for template in OF_NUMBERS {
        // The first argument in each type with the others in each.
        let mut items = Vec::new();
        for (first, _) in FORMS {
            for (others, _) in FORMS {
                let mut written = String::new();
                for (place, part) in template.split('#').enumerate() {
                    match place {
                        0 => {}
                        1 => written.push_str(&format!("p{first}")),
                        _ => written.push_str(&format!("q{others}")),
                    }
                    written.push_str(part);
                }
                items.push(written);
            }
        }
        items.dedup();
        let rows = match run(&format!("SELECT {} FROM t", items.join(", ")), &mut tables) {
            Ok(rows) => rows,
            Err(error) => {
                wrong.push(format!("{template}: {error}"));
                continue;
            }
        };
        check_types(template, &rows, &mut wrong);
        let lines = lines_of(&rows);
        let mut constants = Vec::new();
        for (row, line) in lines.iter().enumerate() {
            let cells: Vec<String> = line.split('|').map(comparable).collect();
            if let Some(place) = cells.iter().position(|cell| *cell != cells[0]) {
                let (p, q) = (NUMBERS[row / NUMBERS.len()], NUMBERS[row % NUMBERS.len()]);
                wrong.push(format!(
                    "{} of {p}, {q} is {}, and {} is {}",
                    items[0], cells[0], items[place], cells[place]
                ));
                break;
            }
            constants.push(cells[0].clone());
        }
        // The same of constants.
        let mut items = Vec::new();
        for row in 0..constants.len() {
            let (p, q) = (NUMBERS[row / NUMBERS.len()], NUMBERS[row % NUMBERS.len()]);
            let forms = (FORMS[row % FORMS.len()].1, FORMS[row / FORMS.len() % FORMS.len()].1);
            let (first, others) = (
                forms.0.replace('@', &p.to_string()),
                forms.1.replace('@', &q.to_string()),
            );
            let mut parts = template.split('#');
            let mut written = parts.next().unwrap_or_default().to_owned();
            for (place, part) in parts.enumerate() {
                written.push_str(if place == 0 { &first } else { &others });
                written.push_str(part);
            }
            items.push(written);
        }
        match run(&format!("SELECT {} FROM system.iota", items.join(", ")), &mut tables) {
            Ok(rows) => {
                let line = lines_of(&rows).join("");
                let mut cells = line.split('|').map(comparable).zip(&constants).enumerate();
                if let Some((place, (found, expected))) = cells.find(|(_, (found, expected))| found != *expected) {
                    wrong.push(format!("{} is {found}, and of columns {expected}", items[place]));
                }
            }
            Err(error) => wrong.push(format!("{template} of constants: {error}")),
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// A column is described as what its values are.
fn check_types(template: &str, rows: &Rows, wrong: &mut Vec<String>) {
    for batch in &rows.batches {
        for (column, array) in rows.columns.iter().zip(batch.columns()) {
            if !is_described(column.field_type, array) {
                wrong.push(format!(
                    "{template}: a column of {:?} has values of {}",
                    column.field_type,
                    array.data_type()
                ));
                return;
            }
        }
    }
}

fn is_described(field_type: FieldType, array: &ArrayRef) -> bool {
    match array.data_type() {
        _ if array.null_count() == array.len() => true,
        DataType::Utf8 | DataType::Binary => !matches!(
            field_type,
            FieldType::Integer | FieldType::Double | FieldType::Numeric | FieldType::Date | FieldType::Logical
        ),
        DataType::Decimal128(..) => matches!(field_type, FieldType::Numeric | FieldType::Money | FieldType::LongLong),
        DataType::Int32 | DataType::Int64 => matches!(field_type, FieldType::Integer | FieldType::LongLong),
        DataType::Float64 => matches!(field_type, FieldType::Double | FieldType::CurrencyDouble),
        DataType::Boolean => field_type == FieldType::Logical,
        DataType::Date32 => field_type == FieldType::Date,
        DataType::Timestamp(..) => field_type == FieldType::Timestamp,
        DataType::Time32(_) => field_type == FieldType::Time,
        _ => true,
    }
}

/// A value of each type.
const VALUES: [&str; 13] = [
    "5",
    "-5",
    "2.50",
    "CAST( 1.5 AS SQL_DOUBLE )",
    "CAST( 7.25 AS SQL_MONEY )",
    "NULL",
    "'text'",
    "''",
    "{d '2024-02-29'}",
    "{ts '2024-02-29 13:05:09'}",
    "{t '13:05:09'}",
    "TRUE",
    "CAST( 'ab' AS SQL_BINARY )",
];

/// What NULL among their arguments does not make NULL.
const WITH_NULLS: &[&str] = &[
    "COALESCE",
    "EMPTY",
    "IF",
    "IFNULL",
    "IIF",
    "INLIST",
    "ISNULL",
    "NULLIF",
    "RAND",
    "NEWIDSTRING",
];

#[test]
fn no_argument_is_taken_for_what_it_is_not() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut connection = Connection::open(folder.path()).expect("a connection");
    let (settings, options) = with_the_clock();
    let mut tables = connection.tables(&settings, &options);
    let (mut wrong, mut count) = (Vec::new(), 0);
    // Those with forms of their own stand in the other test and on the page of functions.
    let special = [
        "CAST",
        "CONVERT",
        "EXTRACT",
        "DELETED",
        "RECNO",
        "LASTAUTOINC",
        "POSITION",
    ];
    for name in function_names().filter(|name| !special.contains(name) && !name.starts_with("TRIM_")) {
        for places in 0..=7_usize {
            // The others are what the place takes, as far as one of two goes.
            let (mut bases, mut is_known) = (Vec::new(), false);
            for base in ["3", "'abc'", "{d '2024-02-29'}"] {
                let sql = format!("SELECT {name}( {} ) FROM system.iota", vec![base; places].join(", "));
                match Prepared::new(&sql, &mut tables) {
                    Ok(_) => bases = vec![base],
                    Err(error) => {
                        is_known |= *error.kind() == Kind::Type;
                        continue;
                    }
                }
                break;
            }
            if bases.is_empty() && is_known {
                bases = vec!["3", "'abc'"];
            }
            for base in bases {
                for place in 0..places {
                    for value in VALUES {
                        let mut arguments = vec![base; places];
                        arguments[place] = value;
                        let call = format!("{name}( {} )", arguments.join(", "));
                        count += 1;
                        match run(&format!("SELECT {call} FROM system.iota"), &mut tables) {
                            Ok(rows) => {
                                check_types(&call, &rows, &mut wrong);
                                let found = lines_of(&rows).join("");
                                if value == "NULL" && found != "NULL" && !WITH_NULLS.contains(&name) {
                                    wrong.push(format!("{call} is {found}"));
                                }
                            }
                            Err(error) => {
                                let is_refused = matches!(
                                    error.kind(),
                                    Kind::Type | Kind::NoFunction | Kind::Value | Kind::Syntax | Kind::Limit
                                );
                                if !is_refused {
                                    wrong.push(format!("{call}: {error}"));
                                }
                            }
                        }
                    }
                }
            }
        }
    }
    assert!(count > 1000, "only {count} calls");
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}
