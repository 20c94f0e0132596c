//! Tables that contradict their format in ways that leave no doubt where the records are: read, and told in notes.
//!
//! Each kind was met in real files, which GDAL and dbfread read: see the comments. The bytes are laid out here.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_cast::display::array_value_to_string;
use tidemill_xbase::aggregate::Selected;
use tidemill_xbase::expression::{Environment, Program, RecordBytes};
use tidemill_xbase::{
    CivilDate, ColumnCache, Columns, CreateOptions, Deleted, EditOptions, FieldSpec, OpenOptions, Scan, Sharing, Table,
    TableEditor, TableWriter, Value,
};

/// A field: name, letter, width, decimals, displacement.
type Described = (&'static str, u8, u8, u8, u32);

struct Layout<'a> {
    version: u8,
    fields: &'a [Described],
    end: u8,
    record_len: u16,
    count: u32,
    records: &'a [u8],
}

impl Layout<'_> {
    fn bytes(&self) -> Vec<u8> {
        let backlink = if self.version == 0x30 { 263 } else { 0 };
        let header_len = u16::try_from(32 + 32 * self.fields.len() + 1 + backlink).unwrap();
        let mut bytes = vec![self.version, 126, 11, 26];
        bytes.extend(self.count.to_le_bytes());
        bytes.extend(header_len.to_le_bytes());
        bytes.extend(self.record_len.to_le_bytes());
        bytes.resize(32, 0);
        for (name, letter, width, decimals, displacement) in self.fields {
            let mut descriptor = [0; 32];
            descriptor[..name.len()].copy_from_slice(name.as_bytes());
            descriptor[11] = *letter;
            descriptor[12..16].copy_from_slice(&displacement.to_le_bytes());
            (descriptor[16], descriptor[17]) = (*width, *decimals);
            bytes.extend(descriptor);
        }
        bytes.push(self.end);
        bytes.resize(usize::from(header_len), 0);
        bytes.extend(self.records);
        bytes.push(0x1A);
        bytes
    }

    fn open(&self, options: &OpenOptions) -> tidemill_xbase::Result<Arc<Table>> {
        Table::from_bytes(self.bytes(), None, options).map(Arc::new)
    }
}

impl Default for Layout<'_> {
    fn default() -> Self {
        Self {
            version: 3,
            fields: &[],
            end: 0x0D,
            record_len: 1,
            count: 1,
            records: b"",
        }
    }
}

#[test]
fn contradictions_that_leave_no_doubt_are_notes() {
    let check = |layout: Layout<'_>, rows: &[&str], notes: &[&str]| {
        let table = layout.open(&OpenOptions::new()).unwrap();
        assert_eq!(self::rows(&table), rows);
        let found: Vec<_> = table.notes().iter().map(ToString::to_string).collect();
        assert_eq!(found, notes);
        let verified = table.verify().unwrap();
        assert_eq!((verified.damage, verified.notes), (vec![], table.notes()));
        let strict = layout.open(&OpenOptions::new().strict(true));
        if table.notes().iter().any(|note| note.record.is_none()) {
            let refused = strict.unwrap_err().to_string();
            assert!(refused.contains(notes[0].split(": ").next().unwrap()), "{refused}");
        } else {
            strict.unwrap();
        }
    };
    // Shapelib's samples end their descriptors in 0A.
    check(
        Layout {
            fields: &[("Z", b'N', 2, 0, 0)],
            end: 0x0A,
            record_len: 3,
            count: 2,
            records: b"  0  7",
            ..Layout::default()
        },
        &["0", "7"],
        &["end of the field descriptors: expected 0d or 32 bytes, found 1 bytes up to the end of the header"],
    );
    // Widths that a type does not have, where it is known where the fields are.
    check(
        Layout {
            fields: &[("W", b'W', 2, 0, 0), ("Y", b'Y', 1, 0, 0), ("Z", b'N', 2, 0, 0)],
            record_len: 6,
            count: 2,
            records: b" ab\x01 7 cd\x02 8",
            ..Layout::default()
        },
        &["6162|01|7", "6364|02|8"],
        &[
            "type of field W: expected a width of 4 or 10, found 'W' of 2 bytes, which are read as they are",
            "type of field Y: expected a width of 8, found 'Y' of 1 bytes, which are read as they are",
        ],
    );
    // Where it is not known, they are refused, and so are types that nobody knows.
    for (letter, record_len) in [(b'W', 6), (b'X', 5)] {
        let layout = Layout {
            fields: &[("X", letter, 2, 0, 0), ("Z", b'N', 2, 0, 0)],
            record_len,
            records: b" ab 7 ",
            ..Layout::default()
        };
        let refused = layout.open(&OpenOptions::new()).unwrap_err().to_string();
        assert!(refused.contains("type of a field at byte 32"), "{refused}");
    }
    // Days of ten bytes, logicals of three, fields of none.
    check(
        Layout {
            fields: &[("D", b'D', 10, 0, 0), ("L", b'L', 3, 0, 0), ("B", b'N', 2, 0, 0)],
            record_len: 16,
            records: b" 20261126  T   5",
            ..Layout::default()
        },
        &["2026-11-26|true|5"],
        &[
            "field D: expected a width of 8, found 10, the rest is not read",
            "field L: expected a width of 1, found 3, the rest is not read",
        ],
    );
    for letter in *b"CNFIDL" {
        check(
            Layout {
                fields: &[("A", b'C', 2, 0, 0), ("Z", letter, 0, 0, 0), ("B", b'N', 2, 0, 0)],
                record_len: 5,
                records: b" ab 5",
                ..Layout::default()
            },
            &["ab||5"],
            &["field Z: expected a width of at least 1, found 0: it is null"],
        );
    }
    // Displacements from 0 in tables with Visual FoxPro's version.
    check(
        Layout {
            version: 0x30,
            fields: &[("A", b'C', 3, 0, 0), ("B", b'N', 2, 0, 3)],
            record_len: 6,
            records: b" abc 5",
            ..Layout::default()
        },
        &["abc|5"],
        &["displacement of field B: expected 4, found 3"],
    );
    // A record length with bytes to spare, and one too few.
    check(
        Layout {
            fields: &[("A", b'C', 3, 0, 0)],
            record_len: 6,
            count: 2,
            records: b" abc   def  ",
            ..Layout::default()
        },
        &["abc", "def"],
        &["record length: expected 4, the flag byte and the widths of the fields, found 6: the rest is not read"],
    );
    check(
        Layout {
            fields: &[("A", b'C', 3, 0, 0), ("B", b'C', 3, 0, 0)],
            record_len: 6,
            count: 2,
            records: b" abcde fghij",
            ..Layout::default()
        },
        &["abc|de", "fgh|ij"],
        &["end of field B: expected at most the record length, 6, found 7"],
    );
    // No fields at all.
    check(
        Layout {
            count: 2,
            records: b" *",
            ..Layout::default()
        },
        &["", ""],
        &["field descriptors: expected at least one field, found none"],
    );
    // More records than the header counts.
    check(
        Layout {
            fields: &[("A", b'C', 2, 0, 0)],
            record_len: 3,
            records: b" a0 a1*a2",
            ..Layout::default()
        },
        &["a0"],
        &["the header counts 1 records, but more follow (2 records, the first is 2)"],
    );
}

#[test]
fn what_cannot_be_placed_is_still_refused() {
    for layout in [
        Layout {
            fields: &[("A", b'C', 3, 0, 0), ("B", b'C', 3, 0, 0)],
            record_len: 5,
            ..Layout::default()
        },
        Layout {
            version: 0x30,
            fields: &[("A", b'C', 3, 0, 1), ("B", b'N', 2, 0, 5)],
            record_len: 7,
            ..Layout::default()
        },
        Layout {
            fields: &[("A", b'X', 3, 0, 0)],
            record_len: 4,
            ..Layout::default()
        },
    ] {
        assert!(layout.open(&OpenOptions::new()).is_err());
    }
}

#[test]
fn values_in_more_forms_are_read_and_others_are_null_and_counted() {
    let layout = Layout {
        fields: &[("N", b'N', 9, 2, 0), ("L", b'L', 1, 0, 0), ("D", b'D', 8, 0, 0)],
        record_len: 19,
        count: 7,
        ..Layout::default()
    };
    let mut records = Vec::new();
    for (number, logical, date) in [
        ("1,200.00", "1", "20240229"),
        ("79,68", "0", "       0"),
        ("1,50", "?", "  /  /  "),
        ("1,234,567", "N", "0   0   "),
        ("0.00**", "T", "20261126"),
        ("0   .", "2", "  -  -  "),
        ("1,2345.6", "F", "20230230"),
    ] {
        records.extend(format!(" {number:>9}{logical}{date}").into_bytes());
    }
    let layout = Layout {
        records: &records,
        ..layout
    };
    let strict = layout.open(&OpenOptions::new()).unwrap();
    let refused = strict
        .scan(Scan::new())
        .unwrap()
        .next()
        .unwrap()
        .unwrap_err()
        .to_string();
    assert!(refused.contains("record 5, field N: expected a number"), "{refused}");
    let table = layout.open(&OpenOptions::new().null_for_bad_values(true)).unwrap();
    assert_eq!(
        rows(&table),
        [
            "1200.00|true|2024-02-29",
            "79.68|false|",
            "1.50||",
            "1234567.00|false|",
            "|true|2026-11-26",
            "0.00||",
            "|false|",
        ]
    );
    let notes: Vec<_> = table.notes().iter().map(ToString::to_string).collect();
    assert_eq!(
        notes,
        [
            "field N: null, for it is not a number (2 records, the first is 5)",
            "field L: null, for it is not one of T Y 1 F N 0 ? or a blank (record 6)",
            "field D: null, for it is not a day of the calendar (record 7)",
        ]
    );
}

fn rows(table: &Arc<Table>) -> Vec<String> {
    let scan = Scan::new().deleted(Deleted::Include);
    let columns = 0..table.fields().len();
    let mut rows = Vec::new();
    for batch in table.scan(scan.projection(columns.collect())).unwrap() {
        let batch = batch.unwrap();
        rows.extend((0..batch.num_rows()).map(|row| {
            let values = batch
                .columns()
                .iter()
                .map(|column| array_value_to_string(column, row).unwrap());
            values.collect::<Vec<_>>().join("|")
        }));
    }
    rows
}

#[test]
fn numbers_keep_the_digits_that_their_field_does_not_declare() {
    // ESRI's F(19,11), shapelib's F(13,3), and N with exponents or more decimals.
    for (letter, width, decimals, texts, expected) in [
        (
            b'F',
            19,
            11,
            ["123456.789012", "-1.23456789012e-005", ""],
            ["123456.789012", "-0.0000123456789012", ""],
        ),
        (b'F', 13, 3, ["1.3945052E+02", "1.5", "*"], ["139.45052", "1.5", ""]),
        (
            b'N',
            18,
            4,
            ["7.519495394960E+02", "1.0", ""],
            ["751.949539496", "1.0", ""],
        ),
        (b'N', 8, 1, ["1.2345", "1.20", "-0.001"], ["1.2345", "1.2", "-0.001"]),
        // These are what the field declares.
        (b'F', 8, 2, ["1.5E+03", "1.50", ""], ["1500.00", "1.50", ""]),
    ] {
        let usize_width = usize::from(width);
        let records: String = texts.iter().map(|text| format!(" {text:>usize_width$}")).collect();
        let fields = [("V", letter, width, decimals, 0)];
        let layout = Layout {
            fields: &fields,
            record_len: u16::from(width) + 1,
            count: 3,
            records: records.as_bytes(),
            ..Layout::default()
        };
        let table = layout.open(&OpenOptions::new()).unwrap();
        let found: Vec<_> = rows(&table).iter().map(|text| number(text)).collect();
        let expected: Vec<_> = expected.iter().map(|text| number(text)).collect();
        assert_eq!(found, expected, "{texts:?}");
        assert_eq!(table.verify().unwrap().damage, []);
    }
}

#[test]
fn a_number_of_more_decimals_behind_the_first_records_is_rounded() {
    let fields = [("P", b'N', 8, 2, 0), ("Q", b'N', 6, 0, 0)];
    let mut records = vec!["     1.50     7".to_owned(); 300];
    for (record, text) in [
        (200, "   1.235     7"),
        (201, "-1.23499   2.5"),
        (250, "1.5E-001   -.5"),
        (299, "  99e300     7"),
    ] {
        records[record] = format!(" {text}");
    }
    let records = records.concat();
    let layout = Layout {
        fields: &fields,
        record_len: 15,
        count: 300,
        records: records.as_bytes(),
        ..Layout::default()
    };
    let strict = layout.open(&OpenOptions::new().strict(true)).unwrap();
    let refused = strict
        .scan(Scan::new())
        .unwrap()
        .find_map(Result::err)
        .unwrap()
        .to_string();
    assert!(
        refused.contains("record 201, field P: expected no more decimals than the field has"),
        "{refused}"
    );
    // What no decimal holds is no number of the field, rounded or not.
    let first = layout.open(&OpenOptions::new()).unwrap();
    let refused = first
        .scan(Scan::new())
        .unwrap()
        .find_map(Result::err)
        .unwrap()
        .to_string();
    assert!(refused.contains("record 300, field P"), "{refused}");
    let table = layout.open(&OpenOptions::new().null_for_bad_values(true)).unwrap();
    let found = rows(&table);
    assert_eq!((&*found[0], &*found[200]), ("1.50|7", "1.24|7"));
    assert_eq!((&*found[201], &*found[250]), ("-1.23|3", "0.15|-1"));
    assert_eq!(found[299], "|7");
    let notes: Vec<_> = table.notes().iter().map(ToString::to_string).collect();
    assert_eq!(
        notes,
        [
            "field P: rounded to the 2 decimals that it declares, for it has more (2 records, the first is 201)",
            "field Q: rounded to the 0 decimals that it declares, for it has more (2 records, the first is 202)",
            "field P: null, for it is not at most 38 digits (record 300)",
        ]
    );
    // Conditions over records and over columns see the same number.
    let table = layout.open(&OpenOptions::new().null_for_bad_values(true)).unwrap();
    let (bytes, environment) = (layout.bytes(), Environment::new(table.codepage()));
    let begin = table.header().header_len as usize;
    let scan = Scan::new().records(0..299).batch_rows(299);
    let batch = table.scan(scan).unwrap().next().unwrap().unwrap();
    for (condition, expected) in [("P = 1.24", 1), ("P = 1.235", 0), ("Q = 3", 1), ("P < 0 .OR. Q < 0", 2)] {
        let program = Program::compile(condition, table.fields(), &environment).unwrap();
        let by_record = (0..299_u32).filter(|record| {
            let at = begin + *record as usize * 15;
            let record = RecordBytes::new(&table, record + 1, &bytes[at..at + 15]);
            let value = program.evaluate_record(&record).unwrap();
            matches!(value, tidemill_xbase::expression::Value::Logical(true))
        });
        assert_eq!(by_record.count(), expected, "{condition}");
        let by_column = program.evaluate(&batch).unwrap();
        assert_eq!(by_column.as_boolean().true_count(), expected, "{condition}");
    }
    // Sums too, where bad values are passed over and where they are not.
    let sound = records.len() - 15;
    let layout = Layout {
        count: 299,
        records: &records.as_bytes()[..sound],
        ..layout
    };
    for passes_over in [true, false] {
        let table = layout
            .open(&OpenOptions::new().null_for_bad_values(passes_over))
            .unwrap();
        let columns = Columns::new(&table, &ColumnCache::new(1 << 20), Sharing::Exclusive).unwrap();
        for (field, expected) in [(0, 444.16), (1, 2081.0)] {
            let summary = columns.summary(field, Selected::All).unwrap();
            assert_eq!((summary.count, summary.sum.to_f64()), (299, expected), "{passes_over}");
        }
    }
}

/// Of a decimal its text, of a double its value.
fn number(text: &str) -> (bool, Option<f64>) {
    (text.is_empty(), text.parse().ok())
}

#[test]
fn a_table_of_doubles_as_text_is_copied_and_changed_with_all_their_digits() {
    let layout = Layout {
        fields: &[("V", b'F', 19, 11, 0)],
        record_len: 20,
        records: b" -1.23456789012e-005",
        ..Layout::default()
    };
    let table = layout.open(&OpenOptions::new()).unwrap();
    let batch = table.scan(Scan::new()).unwrap().next().unwrap().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("copy.dbf");
    let today = CivilDate {
        year: 2026,
        month: 11,
        day: 26,
    };
    let fields = FieldSpec::from_schema(&batch.schema()).unwrap();
    let mut writer = TableWriter::create(&path, &fields, &CreateOptions::new(today)).unwrap();
    writer.write(&batch, None).unwrap();
    writer.finish().unwrap();
    let mut editor = TableEditor::open(&path, &EditOptions::new(today)).unwrap();
    assert_eq!(editor.fields()[0].letter, 'F');
    editor.append_values(&[(0, Value::Double(1e-300))]).unwrap();
    editor.append_values(&[(0, Value::Integer(12))]).unwrap();
    editor.append_values(&[(0, Value::Null)]).unwrap();
    drop(editor);
    let copy = Arc::new(Table::open(&path, &OpenOptions::new()).unwrap());
    let values: Vec<_> = rows(&copy).iter().map(|text| text.parse::<f64>().ok()).collect();
    assert_eq!(values, [Some(-1.234_567_890_12e-5), Some(1e-300), Some(12.0), None]);
    let columns = Columns::new(&copy, &ColumnCache::new(1 << 20), Sharing::Exclusive).unwrap();
    assert_eq!(columns.summary(0, Selected::All).unwrap().count, 3);
}
