//! Workbooks that ask for more than they have.

use std::io::{Cursor, Read, Write};
use std::ops::ControlFlow;

use tidemill_excel::{Error, SheetOptions, Workbook};
use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

/// A workbook of two texts, with one part changed.
fn workbook(part: &str, change: impl Fn(String) -> String) -> Cursor<Vec<u8>> {
    let mut made = rust_xlsxwriter::Workbook::new();
    let sheet = made.add_worksheet();
    sheet.write(0, 0, "name").expect("a cell");
    sheet.write(1, 0, "Anna").expect("a cell");
    let file = made.save_to_buffer().expect("a file");
    let mut from = ZipArchive::new(Cursor::new(file)).expect("an archive");
    let mut into = ZipWriter::new(Cursor::new(Vec::new()));
    let mut is_changed = false;
    for number in 0..from.len() {
        let mut entry = from.by_index(number).expect("a part");
        let (mut text, name) = (String::new(), entry.name().expect("a name").into_owned());
        entry.read_to_string(&mut text).expect("text");
        if name == part {
            (text, is_changed) = (change(text), true);
        }
        into.start_file(name, SimpleFileOptions::default()).expect("a part");
        into.write_all(text.as_bytes()).expect("text");
    }
    assert!(is_changed, "{part}");
    into.finish().expect("an archive")
}

fn refused(file: Cursor<Vec<u8>>) -> Error {
    let opened = Workbook::open(file, 1 << 24).and_then(|mut workbook| workbook.look(0, &SheetOptions::default()));
    opened.expect_err("a refusal")
}

const TEXTS: &str = "xl/sharedStrings.xml";
const SHEET: &str = "xl/worksheets/sheet1.xml";

#[test]
fn more_texts_than_a_file_can_have_are_not_believed() {
    for announced in ["4000000000", "99999999999999999999"] {
        let file = workbook(TEXTS, |text| {
            text.replace("uniqueCount=\"2\"", &format!("uniqueCount=\"{announced}\""))
        });
        let error = refused(file).to_string();
        assert!(error.contains("texts are announced, more than fit into the"), "{error}");
    }
}

#[test]
fn texts_are_held_up_to_the_limit() {
    let long = "<si><t>x</t></si>".repeat(1 << 20);
    let error = refused(workbook(TEXTS, |text| text.replace("</sst>", &format!("{long}</sst>"))));
    assert!(matches!(error, Error::TooLarge { .. }), "{error}");
}

#[test]
fn a_text_without_end_is_damage() {
    let long = "x".repeat(3 << 20);
    for (part, end) in [(TEXTS, "</sst>"), (SHEET, "</sheetData>")] {
        let error = refused(workbook(part, |text| text.replace(end, &format!("{long}{end}")))).to_string();
        assert!(error.contains("without a tag"), "{part}: {error}");
    }
}

/// A stream of an `.xls` file: records of a number and a body.
fn records(records: &[(u16, &[u8])]) -> Cursor<Vec<u8>> {
    let mut file = cfb::CompoundFile::create(Cursor::new(Vec::new())).expect("a file");
    let mut stream = file.create_stream("/Workbook").expect("a stream");
    for (number, body) in records {
        let length = u16::try_from(body.len()).expect("a short record");
        stream
            .write_all(&[number.to_le_bytes(), length.to_le_bytes()].concat())
            .expect("a head");
        stream.write_all(body).expect("a body");
    }
    drop(stream);
    file.into_inner()
}

#[test]
fn more_cells_than_memory_holds_are_refused() {
    let beginning: (u16, &[u8]) = (0x0809, &[0; 16]);
    let last_row = [0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFE, 0, 0, 0xFF, 0xFF, 0, 0];
    let inverted = [9, 0, 0, 0, 1, 0, 0, 0, 0, 0, 9, 0, 0, 0];
    for dimensions in [last_row, inverted] {
        let error = refused(records(&[beginning, (0x0200, &dimensions)]));
        assert!(matches!(error, Error::TooLarge { .. }), "{error}");
    }
    let (first, last) = ([0; 14], [0xFF, 0xFF, 0xFF, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    let error = refused(records(&[beginning, (0x0203, &first), (0x0203, &last)]));
    assert!(matches!(error, Error::TooLarge { .. }), "{error}");
}

#[test]
fn batches_of_long_texts_have_fewer_rows() {
    let mut made = rust_xlsxwriter::Workbook::new();
    let sheet = made.add_worksheet();
    sheet.write(0, 0, "text").expect("a cell");
    for row in 1..=300 {
        sheet
            .write(row, 0, format!("{row}{}", "x".repeat(20_000)))
            .expect("a cell");
    }
    let file = Cursor::new(made.save_to_buffer().expect("a file"));
    let mut workbook = Workbook::open(file, 1 << 30).expect("a workbook");
    let look = workbook.look(0, &SheetOptions::default()).expect("a sheet");
    let mut rows = Vec::new();
    let read = workbook.read(0, &look, &[0], 8192, &mut |batch| {
        rows.push(batch.num_rows());
        ControlFlow::Continue(())
    });
    read.expect("rows");
    assert_eq!(rows.iter().sum::<usize>(), 300);
    assert!(rows.iter().all(|rows| *rows < 250), "{rows:?}");
}
