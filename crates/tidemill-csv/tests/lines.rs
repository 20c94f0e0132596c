//! Lines that are no rows: one with another number of fields is an error, and Excel's `sep=;` is the delimiter.

use tidemill_csv::{CsvOptions, CsvReader, CsvWriter, Look, Packing, WriteDialect};

fn look(text: &str) -> Look {
    Look::at(text.as_bytes(), &CsvOptions::NONE, b',').expect("a look")
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

#[test]
fn a_line_with_another_number_of_fields_is_told() {
    let told = |text: &str, options: &str| {
        let options = CsvOptions::parse(options).expect("options");
        let error = Look::at(text.as_bytes(), &options, b',').expect_err(text);
        error.to_string()
    };
    let less = "an empty field is NULL, but its delimiter must be there; an end of a line within a field must stand in quotes; if the \
                delimiter is another one ('tidemill inspect FILE.csv' tells), say so: 'FILE.csv?delim=;'";
    let more = "a field that has the delimiter in it must stand in quotes; if the delimiter is another one ('tidemill inspect FILE.csv' \
                tells), say so: 'FILE.csv?delim=;'";
    assert_eq!(
        told("a,b,c\n1,2,3\n\n3,4\n", "delim=,"),
        format!("line 4: 2 fields, and the header has 3; {less}")
    );
    assert_eq!(
        told("a,b\n1,2\n3\n", ""),
        format!("line 3: 1 field, and the header has 2; {less}")
    );
    assert_eq!(
        told("1,2\n1,2\n3,4,5\n", ""),
        format!("line 3: 3 fields, and the first line has 2; {more}")
    );
    assert_eq!(
        told("a,b\n1,2,3\n", "header=no"),
        format!("line 2: 3 fields, and the first line has 2; {more}")
    );
    // Behind what is looked at.
    let text = format!("a,b\n{}1,2,3\n", "1,2\n".repeat(20_000));
    let error = copied(&text).expect_err("uneven").to_string();
    assert_eq!(error, format!("line 20002: 3 fields, and the header has 2; {more}"));
}

#[test]
fn a_first_line_of_excel_is_the_delimiter() {
    for (text, dialect, rows) in [
        (
            "sep=;\na;b,c\n1;2\n",
            "delimiter ;, sep= line, header, utf-8",
            "a,\"b,c\"\n1,2\n",
        ),
        (
            "sep=,\r\na,b;c;d\r\n1,2;3;4\r\n",
            "delimiter ,, sep= line, header, utf-8",
            "a,b;c;d\n1,2;3;4\n",
        ),
        (
            "\u{FEFF}sep=\t\na\tb\n1\t2,5\n",
            "delimiter tab, decimal comma, sep= line, header, utf-8",
            "a,b\n1,2.5\n",
        ),
        (
            "sep=^\n1^2\n3^4\n",
            "delimiter ^, sep= line, no header, utf-8",
            "column1,column2\n1,2\n3,4\n",
        ),
        ("sep=;", "delimiter ;, sep= line, header, utf-8", "\n"),
        // Names of columns.
        ("sep=\n1\n", "delimiter ,, header, utf-8", "\"sep=\"\n1\n"),
        ("sep=ab\n1\n", "delimiter ,, header, utf-8", "sep=ab\n1\n"),
        ("sep=\"\n1\n", "delimiter ,, header, utf-8", "\"sep=\"\"\"\n1\n"),
        ("a\nsep=;\n", "delimiter ,, header, utf-8", "a\n\"sep=;\"\n"),
    ] {
        assert_eq!(look(text).dialect.to_string(), dialect, "{text:?}");
        assert_eq!(copied(text).expect(text), rows, "{text:?}");
    }
    // What the user says goes before it.
    let options = CsvOptions::parse("delim=|").expect("options");
    let text = "sep=;\na|b\n1|2\n";
    let said = Look::at(text.as_bytes(), &options, b',').expect("a look");
    assert_eq!(said.dialect.to_string(), "delimiter |, sep= line, header, utf-8");
    // Lines are counted from it, and parts begin behind the header.
    assert_eq!(look("sep=;\na;b\n1;2\n").begin, 10);
    assert_eq!(look("sep=;\n1;2\n3;4\n").begin, 6);
    let error = Look::at(&b"sep=;\na;b\n1\n"[..], &CsvOptions::NONE, b',').expect_err("uneven");
    assert!(error.to_string().starts_with("line 3: 1 field, "), "{error}");
}

#[test]
fn a_name_like_that_line_is_written_in_quotes() {
    let text = "\"sep=;\"\n1\n";
    assert_eq!(look(text).columns.field(0).name(), "sep=;");
    assert_eq!(copied(text).expect("rows"), text);
}
