//! What CSV files say of their columns, and whether they can be divided at the ends of their lines.
//!
//! DataFusion looks for the end of a line in each piece of a file as it comes, and finds line breaks within quotes. So the types are
//! inferred here, from the first records, and a file that has such line breaks is read by one thread.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use arrow_csv::reader::Format as CsvReaderFormat;
use arrow_schema::{DataType, Field, Fields, Schema};
use memchr::{memchr, memchr2};
use tidemill_riegeli::{SharedSource, Source};

use crate::ads_connection::blocking;
use crate::location::{Location, Place};
use crate::{Error, Result, shards};

/// Smaller files are not divided: `repartition_file_min_size` of datafusion-common 55.
const DIVIDED_FROM: u64 = 1 << 20;

/// Records of each file that its types are inferred from: as many as DataFusion takes.
const LOOKED_AT: usize = 1000;

/// The delimiter of a file of this name, which may be a shard: `x.tsv-00000-of-00002`.
pub(super) fn delimiter(path: &Path) -> u8 {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let (name, _) = shards::without_number(&name);
    match Path::new(name)
        .extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("tsv"))
    {
        true => b'\t',
        false => b',',
    }
}

/// The columns of all files together, with types that hold the values of each.
pub(super) async fn schema(files: &[Location], delimiter: u8) -> Result<Schema> {
    let mut whole: Option<Schema> = None;
    for file in files {
        let Some(source) = file.source().await? else { continue };
        let name = file.to_string();
        let format = CsvReaderFormat::default().with_header(true).with_delimiter(delimiter);
        // Sources wait, which a thread of the runtime must not do.
        let inferred = tokio::task::spawn_blocking(move || {
            let mut bytes = Bytes {
                source,
                at: 0,
                failed: None,
            };
            let inferred = format.infer_schema(BufReader::with_capacity(1 << 16, &mut bytes), Some(LOOKED_AT));
            (inferred, bytes.failed)
        });
        let (inferred, failed) = inferred.await.map_err(|panic| Error::io(&name, "read")(panic.into()))?;
        if let Some(error) = failed {
            return Err(Error::io(&name, "read")(error));
        }
        let (found, _) = inferred.map_err(|error| Error::NotATable {
            place: name.clone(),
            what: format!("a CSV file that cannot be read ({error})"),
            hint: "its first line must have the names of its columns, and each line as many values".to_owned(),
        })?;
        whole = Some(match whole {
            Some(whole) => merged(&whole, &found),
            None => found,
        });
    }
    Ok(whole.unwrap_or_else(Schema::empty))
}

fn merged(one: &Schema, other: &Schema) -> Schema {
    let columns = one.fields().iter().map(|field| {
        let data_type = match other.field_with_name(field.name()) {
            Ok(other) => held_by_both(field.data_type(), other.data_type()),
            Err(_) => field.data_type().clone(),
        };
        Field::new(field.name(), data_type, true)
    });
    let more = other
        .fields()
        .iter()
        .filter(|field| one.index_of(field.name()).is_err());
    Schema::new(
        columns
            .chain(more.map(|field| field.as_ref().clone()))
            .collect::<Fields>(),
    )
}

fn held_by_both(one: &DataType, other: &DataType) -> DataType {
    match (one, other) {
        _ if one == other => one.clone(),
        // A column without values.
        (DataType::Null, kind) | (kind, DataType::Null) => kind.clone(),
        (DataType::Int64, DataType::Float64) | (DataType::Float64, DataType::Int64) => DataType::Float64,
        _ => DataType::Utf8,
    }
}

/// Whether no line break stands within quotes, so that parts of the files can begin behind the end of any line. Objects are not looked at,
/// nor files that are not divided.
pub(super) async fn is_divisible(files: &[Location]) -> Result<bool> {
    let mut paths = Vec::new();
    for file in files {
        let Place::File(path) = &file.place else {
            return Ok(false);
        };
        paths.push(path.clone());
    }
    blocking(move || {
        for path in &paths {
            if has_quoted_line_break(path)? {
                return Ok(false);
            }
        }
        Ok(true)
    })
    .await
}

fn has_quoted_line_break(path: &Path) -> Result<bool> {
    let mut file = File::open(path).map_err(Error::io(path, "open"))?;
    if file.metadata().map_err(Error::io(path, "open"))?.len() < DIVIDED_FROM {
        return Ok(false);
    }
    let (mut buffer, mut is_quoted) = (vec![0; 1 << 18], false);
    loop {
        let read = match file.read(&mut buffer) {
            Ok(0) => return Ok(false),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(Error::io(path, "read")(error)),
        };
        let mut rest = &buffer[..read];
        loop {
            let found = match is_quoted {
                true => memchr2(b'"', b'\n', rest),
                false => memchr(b'"', rest),
            };
            let Some(at) = found else { break };
            if rest[at] == b'\n' {
                return Ok(true);
            }
            is_quoted = !is_quoted;
            rest = &rest[at + 1..];
        }
    }
}

/// The bytes of a source from its beginning.
struct Bytes {
    source: SharedSource,
    at: u64,
    /// Why it could not be read: the reader of CSV tells it as a fault of the text.
    failed: Option<io::Error>,
}

impl Read for Bytes {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.source.read_at(self.at, buffer) {
            Ok(read) => {
                self.at += read as u64;
                Ok(read)
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Err(error),
            Err(error) => {
                self.failed = Some(error);
                Err(io::Error::other("reading failed"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn quoted_line_breaks_are_found() {
        let mut file = tempfile::NamedTempFile::new().expect("a file");
        let line = "1,\"it is \"\"so\"\"\",2\n";
        file.write_all(line.repeat(60_000).as_bytes()).expect("written");
        assert!(!has_quoted_line_break(file.path()).expect("read"));
        file.write_all(b"1,\"two\nlines\",3\n").expect("written");
        assert!(has_quoted_line_break(file.path()).expect("read"));
    }

    #[test]
    fn the_name_tells_the_delimiter() {
        for (name, expected) in [
            ("x.csv", b','),
            ("x.TSV", b'\t'),
            ("x.tsv-00000-of-00002", b'\t'),
            ("x-00000-of-00002.tsv", b'\t'),
            ("tsv", b','),
        ] {
            assert_eq!(delimiter(Path::new(name)), expected, "{name}");
        }
    }

    #[test]
    fn a_column_of_several_files_has_a_type_for_all() {
        let of = |kinds: [DataType; 2]| {
            let [a, b] = kinds;
            Schema::new(vec![Field::new("a", a, true), Field::new("b", b, true)])
        };
        let found = merged(
            &of([DataType::Int64, DataType::Null]),
            &of([DataType::Float64, DataType::Date32]),
        );
        assert_eq!(found, of([DataType::Float64, DataType::Date32]));
        assert_eq!(held_by_both(&DataType::Boolean, &DataType::Int64), DataType::Utf8);
    }
}
