//! What a workbook says of its size, and what it would take in memory, before a reader believes it.
//!
//! The readers of `calamine` hold the texts that cells share, its styles and its list of sheets, make room for as many texts as the workbook
//! announces, and for all cells between the first and the last of an `.xls` sheet. A workbook of a few kilobytes can ask for any amount.

use std::io::{self, BufRead, BufReader, Read, Seek};

use quick_xml_of_calamine::Reader;
use quick_xml_of_calamine::events::Event;
use zip::ZipArchive;

use crate::error::{Error, Result};

/// The most bytes between two tags. A text of a cell has at most 32,767 letters, each of at most 10 bytes.
const MAX_RUN: usize = 1 << 20;

/// Every text takes at least as many bytes as `<si/>`.
const LEAST_TEXT: u64 = 5;

/// What a cell of an `.xls` sheet takes in memory.
const CELL: u64 = 32;

/// Checks a workbook of Excel 2007 and later, which is an archive of XML files.
pub(crate) fn archive(file: impl Read + Seek, max_held: u64) -> Result<()> {
    // The reader tells what is wrong with the archive itself.
    let Ok(mut archive) = ZipArchive::new(file) else {
        return Ok(());
    };
    let mut held = 0;
    for number in 0..archive.len() {
        let Ok(part) = archive.by_index(number) else { continue };
        let Ok(name) = part.name() else { continue };
        let name = name.replace('\\', "/").to_lowercase();
        // A workbook may keep its sheets under any name.
        let is_xml = name.ends_with(".xml");
        let is_held = [".rels", "sharedstrings.xml", "styles.xml", "workbook.xml"]
            .iter()
            .any(|end| name.ends_with(end));
        if !is_xml && !is_held {
            continue;
        }
        let text = BufReader::with_capacity(1 << 16, part);
        let length = match name.ends_with("sharedstrings.xml") {
            true => shared_texts(text, max_held - held)?,
            false => runs(text, if is_held { max_held - held } else { u64::MAX })?,
        };
        held += if is_held { length } else { 0 };
    }
    Ok(())
}

/// Reads the texts that cells share. Returns their length.
fn shared_texts(mut text: impl BufRead, max_held: u64) -> Result<u64> {
    let mut beginning = Vec::new();
    let from_beginning = text.by_ref().take(MAX_RUN as u64).read_to_end(&mut beginning);
    from_beginning.map_err(damaged)?;
    let mut xml = Reader::from_reader(&*beginning);
    let announced = loop {
        match xml.read_event() {
            Ok(Event::Start(tag)) if tag.local_name().as_ref() == "sst" => {
                let count = tag.try_get_attribute("uniqueCount").ok().flatten();
                break count.map(|count| count.value.parse().unwrap_or(u64::MAX));
            }
            Ok(Event::Eof) | Err(_) => return Err(damaged("xl/sharedStrings.xml does not begin with <sst>")),
            Ok(_) => {}
        }
    };
    let length = runs(io::Cursor::new(beginning).chain(text), max_held)?;
    match announced {
        Some(announced) if announced > length / LEAST_TEXT => Err(Error::Damaged(format!(
            "{announced} texts are announced, more than fit into the {length} bytes of xl/sharedStrings.xml"
        ))),
        _ => Ok(length),
    }
}

/// Reads an XML file. Returns its length.
fn runs(mut text: impl BufRead, max_held: u64) -> Result<u64> {
    let (mut length, mut run) = (0_u64, 0_usize);
    loop {
        let bytes = text.fill_buf().map_err(damaged)?;
        if bytes.is_empty() {
            return Ok(length);
        }
        // A buffer is shorter than a run may be: only those at its ends can be too long.
        let longest = match memchr::memchr(b'<', bytes) {
            Some(tag) => run + tag,
            None => run + bytes.len(),
        };
        run = match memchr::memrchr(b'<', bytes) {
            Some(tag) => bytes.len() - tag - 1,
            None => longest,
        };
        let taken = bytes.len();
        text.consume(taken);
        length += taken as u64;
        if longest > MAX_RUN {
            return Err(Error::Damaged(format!(
                "more than {MAX_RUN} bytes without a tag, {length} bytes into an XML file"
            )));
        }
        if length > max_held {
            return Err(Error::TooLarge { limit: max_held });
        }
    }
}

/// Checks a workbook of Excel 97: a compound file whose stream `Workbook` or `Book` has records, each with its number and its length.
pub(crate) fn compound_file(file: impl Read + Seek, max_held: u64) -> Result<()> {
    // The reader tells what is wrong with the compound file itself.
    let Ok(mut file) = cfb::CompoundFile::open(file) else {
        return Ok(());
    };
    let name = if file.is_stream("/Workbook") {
        "/Workbook"
    } else {
        "/Book"
    };
    let Ok(stream) = file.open_stream(name) else {
        return Ok(());
    };
    let mut stream = BufReader::with_capacity(1 << 16, stream);
    let (mut sheet, mut cells, mut body) = (Bounds::default(), 0_u64, Vec::new());
    loop {
        let mut head = [0; 4];
        if stream.read_exact(&mut head).is_err() {
            break;
        }
        let [id, length] = [[head[0], head[1]], [head[2], head[3]]].map(u16::from_le_bytes);
        body.clear();
        if stream.by_ref().take(u64::from(length)).read_to_end(&mut body).is_err() {
            break;
        }
        match id {
            // The beginning of a sheet.
            0x0809 => {
                cells += sheet.cells();
                sheet = Bounds::default();
            }
            0x0200 => cells = cells.max(announced(&body)),
            0x0006 | 0x00BD | 0x00D6 | 0x00FD | 0x0203..=0x0205 | 0x027E => sheet.add(&body),
            _ => {}
        }
        if cells.saturating_add(sheet.cells()).saturating_mul(CELL) > max_held {
            return Err(Error::TooLarge { limit: max_held });
        }
    }
    Ok(())
}

/// The cells that a sheet announces, by its first and last row and column.
fn announced(body: &[u8]) -> u64 {
    let wide = |at: usize| {
        body.get(at..at + 4)
            .map(|bytes| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    };
    let short = |at: usize| {
        body.get(at..at + 2)
            .map(|bytes| u32::from(u16::from_le_bytes([bytes[0], bytes[1]])))
    };
    let bounds = match body.len() {
        ..14 => (short(0), short(2), short(6)),
        _ => (wide(0), wide(4), short(10)),
    };
    let (Some(first), Some(end), Some(columns)) = bounds else {
        return 0;
    };
    match end {
        0 => 0,
        // A sheet that ends before it begins has no end for the reader.
        end => u64::from(end.checked_sub(first).unwrap_or(u32::MAX)) * u64::from(columns),
    }
}

/// The first and the last row and column of cells.
#[derive(Default)]
struct Bounds(Option<[(u16, u16); 2]>);

impl Bounds {
    fn add(&mut self, body: &[u8]) {
        let &[row, row_high, column, column_high, ..] = body else {
            return;
        };
        let at = [
            u16::from_le_bytes([row, row_high]),
            u16::from_le_bytes([column, column_high]),
        ];
        let bounds = self.0.get_or_insert([(at[0], at[0]), (at[1], at[1])]);
        for ((first, last), at) in bounds.iter_mut().zip(at) {
            (*first, *last) = ((*first).min(at), (*last).max(at));
        }
    }

    fn cells(&self) -> u64 {
        self.0.map_or(0, |bounds| {
            bounds.iter().map(|(first, last)| u64::from(last - first) + 1).product()
        })
    }
}

fn damaged(error: impl std::fmt::Display) -> Error {
    Error::Damaged(error.to_string())
}
