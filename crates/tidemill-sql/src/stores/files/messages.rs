//! Checks the compressed buffers of Arrow IPC before they are decompressed: the first eight bytes of each contain its decompressed length,
//! which the reader allocates.
//!
//! Source: the Arrow columnar format's specification, "IPC Streaming Format", "IPC File Format" and "Compression"; `Message.fbs`.

use std::collections::BTreeSet;
use std::io::{self, Read as _, Seek as _, SeekFrom};

use arrow_ipc::{Block, RecordBatch, root_as_footer, root_as_message};
use tidemill_riegeli::SharedSource;

use super::expansion::Expansion;
use crate::location::SourceReader;

const MAGIC: &[u8] = b"ARROW1";
/// Precedes the length of a message's metadata since version 0.15.
const CONTINUATION: u32 = u32::MAX;

/// The first batch whose buffers exceed the limit. Invalid messages are left to the reader.
pub(super) fn look(source: SharedSource, max_expansion: u64) -> io::Result<Option<Expansion>> {
    let mut messages = Messages {
        size: source.size()?,
        file: SourceReader::new(source),
        max_expansion,
    };
    let mut magic = [0; MAGIC.len()];
    match messages.file.read_exact(&mut magic) {
        Ok(()) if magic == MAGIC => messages.of_file(),
        _ => messages.of_stream(),
    }
    .or_else(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => Ok(None),
        _ => Err(error),
    })
}

/// A duplicate column name of a file. A stream is left to the reader.
pub(super) fn repeated_name(source: SharedSource) -> io::Result<Option<String>> {
    let mut messages = Messages {
        size: source.size()?,
        file: SourceReader::new(source),
        max_expansion: 0,
    };
    let Some(footer) = messages.footer()? else {
        return Ok(None);
    };
    let Ok(footer) = root_as_footer(&footer) else {
        return Ok(None);
    };
    let fields = footer.schema().and_then(|schema| schema.fields());
    let names = fields.into_iter().flatten().filter_map(|field| field.name());
    let mut known = BTreeSet::new();
    let repeated = { names }.find(|name| !known.insert(name.to_owned()));
    Ok(repeated.map(str::to_owned))
}

struct Messages {
    file: SourceReader,
    size: u64,
    max_expansion: u64,
}

impl Messages {
    /// Checks the batches listed in the footer.
    fn of_file(&mut self) -> io::Result<Option<Expansion>> {
        let Some(footer) = self.footer()? else {
            return Ok(None);
        };
        let Ok(footer) = root_as_footer(&footer) else {
            return Ok(None);
        };
        let blocks = footer.dictionaries().into_iter().chain(footer.recordBatches());
        for block in blocks.flatten() {
            if let Some(expansion) = self.of_block(block)? {
                return Ok(Some(expansion));
            }
        }
        Ok(None)
    }

    /// The bytes of the footer, if the file is long enough for one.
    fn footer(&mut self) -> io::Result<Option<Vec<u8>>> {
        const END: u64 = 4 + MAGIC.len() as u64;
        let Some(end) = self.size.checked_sub(END) else {
            return Ok(None);
        };
        let length = self.integer(end)?;
        let Some(begin) = end.checked_sub(u64::from(length)) else {
            return Ok(None);
        };
        self.bytes(begin, u64::from(length)).map(Some)
    }

    fn of_block(&mut self, block: &Block) -> io::Result<Option<Expansion>> {
        match u64::try_from(block.offset()) {
            Ok(offset) => Ok(self.of_message(offset)?.and_then(|(_, expansion)| expansion)),
            Err(_) => Ok(None),
        }
    }

    /// Checks one message after another.
    fn of_stream(&mut self) -> io::Result<Option<Expansion>> {
        let mut at = 0;
        while let Some((next, expansion)) = self.of_message(at)? {
            if expansion.is_some() {
                return Ok(expansion);
            }
            at = next;
        }
        Ok(None)
    }

    /// The end of a message, and its excess; `None` at the end, and if there is no message.
    fn of_message(&mut self, at: u64) -> io::Result<Option<(u64, Option<Expansion>)>> {
        let (begin, length) = match self.integer(at)? {
            CONTINUATION => (at.saturating_add(8), self.integer(at.saturating_add(4))?),
            length => (at.saturating_add(4), length),
        };
        let body = begin.saturating_add(u64::from(length));
        if length == 0 || body > self.size {
            return Ok(None);
        }
        let metadata = self.bytes(begin, u64::from(length))?;
        let Ok(message) = root_as_message(&metadata) else {
            return Ok(None);
        };
        let stored = u64::try_from(message.bodyLength()).unwrap_or_default();
        let end = body.saturating_add(stored);
        let batch = match message.header_as_dictionary_batch() {
            Some(dictionary) => dictionary.data(),
            None => message.header_as_record_batch(),
        };
        let needed = match batch {
            Some(batch) if batch.compression().is_some() => self.expanded(&batch, body)?,
            _ => 0,
        };
        let expansion = Expansion::of(at, stored.min(self.size), needed, self.max_expansion);
        Ok(Some((end, expansion)))
    }

    /// The decompressed size of all buffers of a batch.
    fn expanded(&mut self, batch: &RecordBatch<'_>, body: u64) -> io::Result<u64> {
        let mut sum: u64 = 0;
        for buffer in batch.buffers().into_iter().flatten() {
            let place = u64::try_from(buffer.offset())
                .ok()
                .and_then(|offset| body.checked_add(offset));
            let (Some(place), 1..) = (place, buffer.length()) else {
                continue;
            };
            let length = self.bytes(place, 8)?;
            let length = length.as_slice().try_into().map_or(0, i64::from_le_bytes);
            // -1 marks an uncompressed buffer.
            sum = sum.saturating_add(u64::try_from(length).unwrap_or_default());
        }
        Ok(sum)
    }

    fn integer(&mut self, at: u64) -> io::Result<u32> {
        let bytes = self.bytes(at, 4)?;
        Ok(bytes.as_slice().try_into().map_or(0, u32::from_le_bytes))
    }

    fn bytes(&mut self, at: u64, length: u64) -> io::Result<Vec<u8>> {
        if at.checked_add(length).is_none_or(|end| end > self.size) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.file.seek(SeekFrom::Start(at))?;
        let mut bytes = Vec::new();
        self.file.by_ref().take(length).read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, RecordBatch, StringArray};
    use arrow_ipc::CompressionType;
    use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
    use tidemill_riegeli::BytesSource;

    use super::*;

    #[test]
    fn what_expands_is_found_in_files_and_streams() {
        let texts: ArrayRef = Arc::new(StringArray::from(vec!["x".repeat(1 << 20)]));
        let batch = RecordBatch::try_from_iter([("a", texts)]).expect("a batch");
        for compression in [None, Some(CompressionType::LZ4_FRAME), Some(CompressionType::ZSTD)] {
            let options = IpcWriteOptions::default()
                .try_with_compression(compression)
                .expect("a compression");
            let mut file =
                FileWriter::try_new_with_options(Vec::new(), &batch.schema(), options.clone()).expect("a file");
            file.write(&batch).expect("written");
            let mut stream =
                StreamWriter::try_new_with_options(Vec::new(), &batch.schema(), options).expect("a stream");
            stream.write(&batch).expect("written");
            for bytes in [
                file.into_inner().expect("a file"),
                stream.into_inner().expect("a stream"),
            ] {
                for (limit, is_met) in [(2 << 20, false), (1 << 19, compression.is_some())] {
                    let found = look(Arc::new(BytesSource(bytes.clone())), limit).expect("memory");
                    assert_eq!(found.is_some(), is_met, "{compression:?}, {limit}: {found:?}");
                }
                // A truncated file is left to the reader.
                for length in 0..bytes.len().min(2000) {
                    let cut = look(Arc::new(BytesSource(bytes[..length].to_vec())), 2 << 20);
                    assert!(cut.expect("memory").is_none(), "{length} bytes");
                }
            }
        }
    }
}
