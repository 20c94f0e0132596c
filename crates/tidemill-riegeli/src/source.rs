//! Where a reader gets its bytes: memory, anything that can be read at a position, or a stream.
//!
//! Memory is borrowed, never copied as a whole. Files are read at positions, so several readers may share one, and a file that
//! another program shortens ends early instead of stopping the process, as a mapping would. Who owns the file and wants the
//! mapping reads it as memory: [`BytesSource`] takes whatever is a slice.
//!
//! Nothing is buffered here; the reader keeps a window.

use std::{
    cell::RefCell,
    fs::File,
    io::{self, Read},
    sync::Arc,
};

/// Bytes that are read at positions.
pub trait Source {
    /// Returns the number of bytes there are. Not called for a stream.
    ///
    /// # Errors
    /// What the system says.
    fn size(&self) -> io::Result<u64>;

    /// Reads bytes from `pos` on into `buffer` and returns how many: 0 only at the end, or for an empty buffer. From a stream
    /// the reader asks for no other bytes than the next ones.
    ///
    /// # Errors
    /// What the system says.
    fn read_at(&self, pos: u64, buffer: &mut [u8]) -> io::Result<usize>;

    /// Returns whether the bytes can be read only once, from the first to the last. Default: false.
    fn is_stream(&self) -> bool {
        false
    }

    /// Returns all bytes when they are in memory. Then the two other methods are not called. Default: `None`.
    fn bytes(&self) -> Option<&[u8]> {
        None
    }
}

/// A source of whatever kind that several threads read from.
pub type SharedSource = Arc<dyn Source + Send + Sync>;

/// What points to a source is one.
macro_rules! source_behind {
    ($pointer:ty) => {
        impl<S: Source + ?Sized> Source for $pointer {
            fn size(&self) -> io::Result<u64> {
                (**self).size()
            }

            fn read_at(&self, pos: u64, buffer: &mut [u8]) -> io::Result<usize> {
                (**self).read_at(pos, buffer)
            }

            fn is_stream(&self) -> bool {
                (**self).is_stream()
            }

            fn bytes(&self) -> Option<&[u8]> {
                (**self).bytes()
            }
        }
    };
}

source_behind!(&S);
source_behind!(Arc<S>);

/// Bytes in memory: a slice, a vector, a mapping. Records of uncompressed chunks are borrowed from them.
#[derive(Clone, Debug)]
pub struct BytesSource<B>(pub B);

impl<B: AsRef<[u8]>> Source for BytesSource<B> {
    fn size(&self) -> io::Result<u64> {
        Ok(self.0.as_ref().len() as u64)
    }

    fn read_at(&self, pos: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.0.as_ref();
        let left = usize::try_from(pos)
            .ok()
            .and_then(|pos| bytes.get(pos..))
            .unwrap_or_default();
        let length = left.len().min(buffer.len());
        buffer[..length].copy_from_slice(&left[..length]);
        Ok(length)
    }

    fn bytes(&self) -> Option<&[u8]> {
        Some(self.0.as_ref())
    }
}

/// An open file. Clones read the same file.
#[derive(Clone, Debug)]
pub struct FileSource(Arc<File>);

impl FileSource {
    /// Reads from `file`, wherever its own position is.
    pub fn new(file: File) -> Self {
        Self(Arc::new(file))
    }
}

impl Source for FileSource {
    fn size(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    fn read_at(&self, pos: u64, buffer: &mut [u8]) -> io::Result<usize> {
        retry(|| {
            #[cfg(unix)]
            let result = std::os::unix::fs::FileExt::read_at(&*self.0, buffer, pos);
            #[cfg(windows)]
            let result = std::os::windows::fs::FileExt::seek_read(&*self.0, buffer, pos);
            result
        })
    }
}

/// What can only be read from its beginning to its end: standard input, a socket, a decoder.
///
/// Readers of a stream go forwards only, do not know its size, and cannot search. They read in pieces of up to 128 KiB, so
/// the stream needs no buffer of its own.
#[derive(Debug)]
pub struct StreamSource<R>(RefCell<Stream<R>>);

#[derive(Debug)]
struct Stream<R> {
    reader: R,
    pos: u64,
}

impl<R: Read> StreamSource<R> {
    /// Reads from `reader`, whose next byte is the first of the file.
    pub fn new(reader: R) -> Self {
        Self(RefCell::new(Stream { reader, pos: 0 }))
    }
}

impl<R: Read> Source for StreamSource<R> {
    fn size(&self) -> io::Result<u64> {
        Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "the size of a stream is not known",
        ))
    }

    fn is_stream(&self) -> bool {
        true
    }

    fn read_at(&self, pos: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let mut stream = self.0.borrow_mut();
        if stream.pos != pos {
            return Err(io::Error::new(
                io::ErrorKind::Unsupported,
                format!("a stream at byte {} cannot go to byte {pos}", stream.pos),
            ));
        }
        let length = retry(|| stream.reader.read(buffer))?.min(buffer.len());
        stream.pos += length as u64;
        Ok(length)
    }
}

/// Reads a source from its beginning to its end.
#[derive(Debug)]
pub struct SourceReader<S> {
    source: S,
    pos: u64,
}

impl<S: Source> SourceReader<S> {
    /// Reads `source` from its first byte on.
    pub fn new(source: S) -> Self {
        Self { source, pos: 0 }
    }
}

impl<S: Source> Read for SourceReader<S> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = match self.source.bytes() {
            Some(bytes) => {
                let left = usize::try_from(self.pos).ok().and_then(|pos| bytes.get(pos..));
                left.unwrap_or_default().read(buffer)?
            }
            None => self.source.read_at(self.pos, buffer)?,
        };
        self.pos += read as u64;
        Ok(read)
    }
}

/// Repeats a call that a signal interrupted.
fn retry(mut call: impl FnMut() -> io::Result<usize>) -> io::Result<usize> {
    loop {
        match call() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}
