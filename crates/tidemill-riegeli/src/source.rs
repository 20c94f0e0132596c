//! Where a reader gets its bytes: anything that can be read at a position.
//!
//! Files are read at positions, so several readers may share one, and a file that another program shortens ends early
//! instead of stopping the process, as a mapping would.
//!
//! Streams without positions are not sources.

use std::{fs::File, io, sync::Arc};

/// Bytes that can be read at any position, by several readers at once.
pub trait Source {
    /// Returns the number of bytes there are.
    ///
    /// # Errors
    /// What the system says.
    fn size(&self) -> io::Result<u64>;

    /// Reads bytes from `pos` on into `buffer` and returns how many: 0 only at the end, or for an empty buffer.
    ///
    /// # Errors
    /// What the system says.
    fn read_at(&self, pos: u64, buffer: &mut [u8]) -> io::Result<usize>;
}

/// A source of whatever kind that several threads read from.
pub type SharedSource = Arc<dyn Source + Send + Sync>;

impl<S: Source + ?Sized> Source for Arc<S> {
    fn size(&self) -> io::Result<u64> {
        (**self).size()
    }

    fn read_at(&self, pos: u64, buffer: &mut [u8]) -> io::Result<usize> {
        (**self).read_at(pos, buffer)
    }
}

/// Bytes in memory: a slice, a vector, a mapping.
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
        loop {
            #[cfg(unix)]
            let result = std::os::unix::fs::FileExt::read_at(&*self.0, buffer, pos);
            #[cfg(windows)]
            let result = std::os::windows::fs::FileExt::seek_read(&*self.0, buffer, pos);
            match result {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => return other,
            }
        }
    }
}
