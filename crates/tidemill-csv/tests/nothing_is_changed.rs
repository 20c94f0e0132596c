//! What stands in a file is what comes out: a type that would change values is not chosen, and a later value that does not fit is an error
//! that says why.

use tidemill_csv::{CsvOptions, CsvReader, CsvWriter, Look, Packing, WriteDialect};

fn look(text: &str) -> Look {
    Look::at(text.as_bytes(), &CsvOptions::NONE, b',').expect("a look")
}

/// The types of the columns.
fn types(text: &str) -> String {
    let look = look(text);
    let fields = look.columns.fields().iter();
    let types: Vec<String> = fields.map(|field| field.data_type().to_string()).collect();
    types.join(" ")
}

/// The rows as they are written again, with a decimal point and commas between values.
fn copied(text: &str) -> Result<String, tidemill_csv::Error> {
    let look = look(text);
    let all: Vec<usize> = (0..look.columns.fields().len()).collect();
    let dialect = WriteDialect::new(&CsvOptions::NONE, Packing::None, b',')?;
    let mut writer = CsvWriter::new(&look.columns, dialect, Vec::new())?;
    for batch in CsvReader::new(text.as_bytes(), &look, &all, 1000)? {
        writer.write(&batch?)?;
    }
    Ok(String::from_utf8(writer.finish()?).expect("UTF-8"))
}

/// The message of a value behind the lines that are looked at, without its line and the hint.
fn late(usual: &str, value: &str) -> String {
    let text = format!("{}\n{value}\n", late_lines(usual));
    let error = copied(&text).expect_err(value).to_string();
    let what = error.strip_prefix("line 10002: column a: ").expect(&error);
    let hint = "; 'FILE.csv?types=text' reads all columns as text";
    what.strip_suffix(hint).expect(&error).to_owned()
}

fn late_lines(usual: &str) -> String {
    let lines: Vec<&str> = std::iter::once("a").chain(std::iter::repeat_n(usual, 10_000)).collect();
    lines.join("\n")
}

#[test]
fn numbers_keep_all_their_digits() {
    for (text, expected) in [
        (
            "acct,rate\n1,0.1234567890123456789\n2,99999999999999999.99\n",
            "Int64 Decimal128(38, 19)",
        ),
        ("a\n99999999999999999.99\n0.5\n-3\n", "Decimal128(38, 2)"),
        ("a\n0.5\n9007199254740993\n", "Decimal128(38, 1)"),
        ("a\n0.5\n12345678901234567890\n", "Decimal128(38, 1)"),
        ("a\n9007199254740993\n", "Int64"),
        ("a\n0.5\nNaN\n-inf\n", "Float64"),
        ("inf,nan\n1,2\n", "Int64 Int64"),
        ("inf,nan\n1,2\nnan,3\n", "Float64 Int64"),
        ("name\nNan\nInf\n", "Utf8"),
        // What a double gives back stays one.
        ("a\n0.5\n9007199254740992\n", "Float64"),
        ("a\n0.123456789012345\n-98765432109.8765\n", "Float64"),
        ("a\n0.30000000000000004\n0.10000000000000001\n", "Float64"),
        ("a\n0.50000000000000000000000\n", "Float64"),
        ("a\n1.234567890123456789e-01\n0.5\n", "Float64"),
        ("a\n123456789012345680000.0\n", "Float64"),
        // More digits than there is room for, and exponents, are text.
        ("a\n99999999999999999999.5\n0.1234567890123456789\n", "Utf8"),
        ("a\n0.1234567890123456789\n1e5\n", "Utf8"),
        ("a\n9007199254740993\n1e5\n", "Utf8"),
        ("a\n12345678901234567890\n1e5\n", "Utf8"),
        ("a\n1.5\n1e400\n", "Utf8"),
        ("a\n-1e400\n", "Utf8"),
        ("a\n1e-400\n", "Utf8"),
        ("a\n0e-400\n5e-324\n", "Float64"),
        ("b;a\nx;0,1234567890123456789\ny;2,5\n", "Utf8 Decimal128(38, 19)"),
        ("b;a\nx;0,123456789\ny;2,5\n", "Utf8 Float64"),
        ("b;a\nx;1,5\ny;1e400\n", "Utf8 Utf8"),
    ] {
        assert_eq!(types(text), expected, "{text:?}");
    }
    for (text, expected) in [
        (
            "acct,rate\n1,0.1234567890123456789\n2,-99999999999999999.99\n3,\n4,7\n",
            "acct,rate\n1,0.1234567890123456789\n2,-99999999999999999.9900000000000000000\n3,\n4,7.0000000000000000000\n",
        ),
        (
            "a\n99999999999999999.99\n.5\n-5.\n",
            "a\n99999999999999999.99\n0.50\n-5.00\n",
        ),
        ("b;a\nx;0,1234567890123456789\n", "b,a\nx,0.1234567890123456789\n"),
        ("a\n.5\n5.\n-.25\n", "a\n0.5\n5.0\n-0.25\n"),
        ("a\n1.5\n1e400\n", "a\n1.5\n1e400\n"),
        ("a\nnan\n1\n-Infinity\n", "a\nNaN\n1.0\n-inf\n"),
    ] {
        assert_eq!(copied(text).expect(text), expected, "{text:?}");
    }
}

#[test]
fn a_later_number_with_more_digits_is_an_error() {
    for (usual, value, message) in [
        (
            "1.5",
            "0.1234567890123456789",
            "'0.1234567890123456789' has more digits than the 64-bit floating point numbers of this column keep",
        ),
        (
            "1.5",
            "9007199254740993",
            "'9007199254740993' has more digits than the 64-bit floating point numbers of this column keep",
        ),
        (
            "1.5",
            "1e400",
            "'1e400' is too large for a 64-bit floating point number",
        ),
        (
            "1.5",
            "1e-400",
            "'1e-400' is too small for a 64-bit floating point number, which would be 0",
        ),
        ("1.5", "x", "'x' is not a number"),
        (
            "99999999999999999.99",
            "0.125",
            "'0.125' has 3 decimals, and Decimal128(38, 2), the type of this column, has room for 2",
        ),
        (
            "99999999999999999.99",
            "1234567890123456789012345678901234567.5",
            "'1234567890123456789012345678901234567.5' has 37 digits before the decimals, and Decimal128(38, 2), the type of this column, \
             has room for 36",
        ),
        (
            "99999999999999999.99",
            "1e3",
            "'1e3' has an exponent, and Decimal128(38, 2), the type of this column, is for numbers without one",
        ),
        ("99999999999999999.99", "x", "'x' is not a number"),
    ] {
        assert_eq!(late(usual, value), message);
    }
    for (usual, value) in [
        ("1.5", "0.30000000000000004"),
        ("1.5", "0.0000"),
        ("1.5", "123456789012345.000000"),
        ("99999999999999999.99", "0.5000"),
        ("99999999999999999.99", "999999999999999999999999999999999999.99"),
    ] {
        let text = format!("{}\n{value}\n", late_lines(usual));
        copied(&text).expect(value);
    }
}

#[test]
fn times_that_nanoseconds_have_no_room_for_are_text() {
    for (text, expected) in [
        ("t\n2024-01-01 10:00:00.1234567\n9999-12-31 23:59:59.9999999\n", "Utf8"),
        ("t\n2024-01-01 10:00:00.1234567\n1600-01-01\n", "Utf8"),
        ("t\n1600-01-01\n2024-01-01 10:00:00.1234567\n", "Utf8"),
        ("t\n0001-01-01T00:00:00.0000001Z\n", "Utf8"),
        ("t\n2024-01-01 10:00:00.1234567\n2262-04-11\n", "Timestamp(ns)"),
        (
            "t\n2024-01-01 10:00:00.123456\n9999-12-31 23:59:59.999999\n",
            "Timestamp(µs)",
        ),
        ("t\n2024-01-01 10:00:00\n9999-12-31\n", "Timestamp(ms)"),
        ("t\n2024-01-01\n9999-12-31\n", "Date32"),
    ] {
        assert_eq!(types(text), expected, "{text:?}");
        copied(text).expect(text);
    }
}

#[test]
fn a_later_value_that_does_not_fit_is_an_error_that_says_why() {
    for (usual, value, message) in [
        (
            "2024-01-01 10:00:00.1234567",
            "9999-12-31 23:59:59",
            "'9999-12-31 23:59:59' is outside of 1677 to 2262, the years that nanoseconds have room for",
        ),
        (
            "2024-01-01 10:00:00.1234567",
            "1600-01-01",
            "'1600-01-01' is outside of 1677 to 2262, the years that nanoseconds have room for",
        ),
        (
            "2024-01-01 10:00:00",
            "2024-01-01 10:00:00.123456",
            "'2024-01-01 10:00:00.123456' has more than 3 decimals, and none of the first lines has (up to 10,000 are looked at)",
        ),
        (
            "2024-01-01 10:00:00.123456",
            "2024-01-01 10:00:00.1234567",
            "'2024-01-01 10:00:00.1234567' has more than 6 decimals, and none of the first lines has (up to 10,000 are looked at)",
        ),
        (
            "2024-01-01 10:00:00",
            "2024-01-01 10:00:00Z",
            "'2024-01-01 10:00:00Z' has a zone, and the first lines have none (up to 10,000 are looked at)",
        ),
        (
            "2024-01-01 10:00:00",
            "noon",
            "'noon' is not a time as 2026-11-27 10:00:00",
        ),
        (
            "5",
            "9223372036854775808",
            "'9223372036854775808' is a whole number too large for 64 bits",
        ),
        (
            "5",
            "-9223372036854775809",
            "'-9223372036854775809' is a whole number too large for 64 bits",
        ),
        (
            "5",
            "123456789012345678901234567890123456789012",
            "'123456789012345678901234567890123456789012' is a whole number too large for 64 bits",
        ),
        (
            "5",
            "1e5",
            "'1e5' has an exponent, and Int64, the type of this column, is for numbers without one",
        ),
        ("5", "1.5", "'1.5' is not a whole number"),
        ("5", "007", "'007' begins with zeros, which a number would lose"),
        ("1.5", "-007.5", "'-007.5' begins with zeros, which a number would lose"),
        ("5", "n/a", "'n/a' is not a whole number"),
    ] {
        assert_eq!(late(usual, value), message);
    }
}
