//! The module `fs` of scripts: text and bytes from files, and text from the program's resources.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, ErrorKind};
use std::sync::Arc;

use rune::runtime::Mut;
use rune::{Any, ContextError, Module, Value};

use super::binary::{self, BIG_ENDIAN, BinaryFile, LITTLE_ENDIAN};
use super::files::Files;
use super::resources::resource;

pub(super) fn module(files: &Arc<Files>) -> Result<Module, ContextError> {
    let mut module = Module::with_crate("fs")?;
    let of = || Arc::clone(files);
    let files = of();
    module
        .function("read_to_string", move |file: &str| files.text(file))
        .build()?;
    let files = of();
    module
        .function("read_lines", move |file: &str| read_lines(&files, file))
        .build()?;
    let files = of();
    module
        .function("read_words", move |file: &str| {
            files.text(file).map(|text| words(&text))
        })
        .build()?;
    let files = of();
    module
        .function("read_split_lines_iter", move |file: &str, options: Vec<Value>| {
            read_split_lines_iter(&files, file, &options)
        })
        .build()?;
    let files = of();
    module
        .function("open_binary", move |file: &str| BinaryFile::open(&files, file))
        .build()?;
    module.constant("LE", LITTLE_ENDIAN).build()?;
    module.constant("BE", BIG_ENDIAN).build()?;
    module.function_meta(read_resource_to_string)?;
    module.function_meta(read_resource_lines)?;
    module.function_meta(read_resource_words)?;
    Ok(module)
}

/// The types behind `read_split_lines_iter` and `open_binary`.
pub(super) fn types_module() -> Result<Module, ContextError> {
    let mut module = Module::with_item(["fs"])?;
    module.ty::<SplitLines>()?;
    module.function_meta(SplitLines::next)?;
    binary::install(&mut module)?;
    Ok(module)
}

fn about(file: &str) -> impl Fn(io::Error) -> io::Error {
    move |e| io::Error::new(e.kind(), format!("{file}: {e}"))
}

fn words(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphabetic())
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

fn read_lines(files: &Files, file: &str) -> io::Result<Vec<String>> {
    Ok(files.text(file)?.lines().map(str::to_owned).collect())
}

fn named(name: &str) -> io::Result<&'static str> {
    resource(name).ok_or_else(|| io::Error::new(ErrorKind::NotFound, format!("there is no resource {name}")))
}

#[rune::function]
fn read_resource_to_string(name: &str) -> io::Result<String> {
    named(name).map(str::to_owned)
}

#[rune::function]
fn read_resource_lines(name: &str) -> io::Result<Vec<String>> {
    Ok(named(name)?.lines().map(str::to_owned).collect())
}

#[rune::function]
fn read_resource_words(name: &str) -> io::Result<Vec<String>> {
    named(name).map(words)
}

/// The lines of a file, each split where a separator is, read one at a time.
#[derive(Debug, Any)]
#[rune(item = ::fs)]
struct SplitLines {
    file: String,
    lines: BufReader<File>,
    separator: String,
    pieces: usize,
    trims: bool,
    skips_empty: bool,
}

impl SplitLines {
    #[rune::function(instance, path = Self::next)]
    fn next(mut this: Mut<Self>) -> Option<io::Result<Vec<String>>> {
        let mut line = String::new();
        match this.lines.read_line(&mut line).map_err(about(&this.file)) {
            Ok(0) => return None,
            Ok(_) => {}
            Err(error) => return Some(Err(error)),
        }
        let pieces = line
            .splitn(this.pieces, this.separator.as_str())
            .map(|piece| if this.trims { piece.trim() } else { piece })
            .filter(|piece| !(this.skips_empty && piece.is_empty()))
            .map(str::to_owned);
        Some(Ok(pieces.collect()))
    }
}

/// `options` are, as far as they are given: the separator (a text), how often to split at most (a number, below 0 without end), whether
/// pieces are trimmed, and whether empty ones are left out (both true unless said otherwise). Pieces that are not trimmed are all that is in
/// the file: the last one ends with the line's end.
fn read_split_lines_iter(files: &Files, file: &str, options: &[Value]) -> io::Result<SplitLines> {
    let mut split = SplitLines {
        file: file.to_owned(),
        lines: BufReader::new(files.open(file)?),
        separator: " ".to_owned(),
        pieces: usize::MAX,
        trims: true,
        skips_empty: true,
    };
    let mut flags = 0;
    for (place, option) in options.iter().enumerate() {
        if let (Ok(separator), 0) = (option.borrow_string_ref(), place) {
            split.separator = separator.to_owned();
        } else if let (Ok(splits), 0..=1, 0) = (option.as_signed(), place, flags) {
            split.pieces = usize::try_from(splits).map_or(usize::MAX, |splits| splits.saturating_add(1));
        } else if let (Ok(flag), 0..=1) = (option.as_bool(), flags) {
            *[&mut split.trims, &mut split.skips_empty][flags] = flag;
            flags += 1;
        } else {
            let why =
                format!("{file}: option {place} of read_split_lines_iter is none of separator, splits, trim, skip");
            return Err(io::Error::new(ErrorKind::InvalidInput, why));
        }
    }
    Ok(split)
}
