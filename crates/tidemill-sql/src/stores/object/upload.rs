//! Uploads files to network stores.
//!
//! A file that fits into one part is uploaded by one request, which creates the object completely or not at all. A larger one is uploaded
//! in parts: the object becomes visible with the last request, and after an error the parts are aborted ([`abort_uploads`] for a program
//! that ends). The store keeps the parts of a killed program until its own rules remove them.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use futures::{StreamExt, TryStreamExt, stream};
use object_store_remote::multipart::MultipartStore;
use object_store_remote::path::Path as ObjectPath;
use object_store_remote::{MultipartId, ObjectStore, ObjectStoreExt, PutMode, PutOptions};
use tidemill_riegeli::{FileSource, Source};
use tidemill_xbase::Existing;
use tokio::runtime::Runtime;

use super::{bridge, refused, remote};
use crate::location::ObjectUrl;
use crate::{Error, Result};

/// Uploads a file, and returns its size as the store reports it. If the object must not be replaced, the store itself checks that it does
/// not exist; for an upload in parts, this is checked before the first and before the last request.
///
/// # Errors
///
/// [`Error::Exists`]; [`Error::Io`] with the store's error, or if the size differs afterwards.
pub(crate) async fn put(file: &Path, url: &ObjectUrl, existing: Existing) -> Result<u64> {
    Upload::of(url, existing)?.put(file, SMALLEST_PART).await
}

/// Checks that an object may be created.
///
/// # Errors
///
/// [`Error::Exists`]; [`Error::Io`] if the store does not answer; [`Error::Unsupported`] for a store that cannot be written to.
pub(crate) async fn check_place(url: &ObjectUrl, existing: Existing) -> Result<()> {
    if ["http", "https"].contains(&url.url().scheme()) && !remote::is_of_a_service(url.url()) {
        return Err(Error::Unsupported {
            what: format!("{url}: writing to a web server"),
            hint: "name an object of s3://, gs:// or az://, or a file".to_owned(),
        });
    }
    Upload::of(url, existing)?.is_free().await
}

/// A store that accepts whole objects and parts.
pub(crate) trait Writable: ObjectStore + MultipartStore {}

impl<S: ObjectStore + MultipartStore> Writable for S {}

/// Creates a client of the store.
type Open = Arc<dyn Fn() -> object_store_remote::Result<(Arc<dyn Writable>, ObjectPath)> + Send + Sync>;

struct Upload<'u> {
    open: Open,
    store: Arc<dyn Writable>,
    path: ObjectPath,
    url: &'u ObjectUrl,
    existing: Existing,
}

impl<'u> Upload<'u> {
    fn of(url: &'u ObjectUrl, existing: Existing) -> Result<Self> {
        let of_url = url.clone();
        Self::by(Arc::new(move || remote::open_to_write(of_url.url())), url, existing)
    }

    fn by(open: Open, url: &'u ObjectUrl, existing: Existing) -> Result<Self> {
        let (store, path) = open().map_err(of_store(url, "open"))?;
        Ok(Self {
            open,
            store,
            path,
            url,
            existing,
        })
    }

    async fn put(&self, file: &Path, smallest_part: u64) -> Result<u64> {
        let source = File::open(file).map_err(Error::io(file, "open"))?;
        let source = FileSource::new(source);
        let size = source.size().map_err(Error::io(file, "read"))?;
        if size <= smallest_part {
            let bytes = fs::read(file).map_err(Error::io(file, "read"))?;
            let mode = match self.existing {
                Existing::Refuse => PutMode::Create,
                Existing::Replace => PutMode::Overwrite,
            };
            let options = PutOptions::from(mode);
            match self.store.put_opts(&self.path, bytes.into(), options).await {
                Err(object_store_remote::Error::AlreadyExists { .. }) => return Err(self.exists()),
                put => drop(put.map_err(of_store(self.url, "write"))?),
            }
        } else {
            self.is_free().await?;
            self.put_parts(&Arc::new(source), size, smallest_part).await?;
        }
        let found = self.store.head(&self.path).await.map_err(of_store(self.url, "find"))?;
        match found.size == size {
            true => Ok(size),
            false => Err(Error::io(self.url.to_string(), "write")(io::Error::other(format!(
                "{size} bytes were sent, and the store has {}",
                found.size
            )))),
        }
    }

    async fn put_parts(&self, source: &Arc<FileSource>, size: u64, smallest_part: u64) -> Result<()> {
        let part_size = smallest_part.max(size.div_ceil(MOST_PARTS).next_multiple_of(1 << 20));
        let (open, url) = (Arc::clone(&self.open), self.url.clone());
        let begun = tokio::task::spawn_blocking(move || Begun::begin(&open, &url)).await;
        let begun = begun.map_err(|panic| Error::io(self.url.to_string(), "write")(panic.into()))?;
        let mut begun = begun.map_err(of_store(self.url, "write"))?;
        let id = begun.1.clone();
        let parts = (0..size.div_ceil(part_size)).map(|part| {
            let begin = part * part_size;
            let length = part_size.min(size - begin);
            let (source, id) = (Arc::clone(source), &id);
            async move {
                let bytes = tokio::task::spawn_blocking(move || read(&source, begin, length)).await;
                let bytes = bytes.map_err(io::Error::from).flatten();
                let bytes = bytes.map_err(Error::io(self.url.to_string(), "read the draft of"))?;
                let number = usize::try_from(part).unwrap_or(usize::MAX);
                let put = self.store.put_part(&self.path, id, number, bytes.into()).await;
                put.map_err(of_store(self.url, "write"))
            }
        });
        let sent = stream::iter(parts).buffered(PARTS_AT_ONCE).try_collect().await;
        let completed = match sent {
            Ok(parts) => match self.is_free().await {
                Ok(()) => {
                    let completed = self.store.complete_multipart(&self.path, &id, parts).await;
                    completed.map(drop).map_err(of_store(self.url, "write"))
                }
                Err(error) => Err(error),
            },
            Err(error) => Err(error),
        };
        begun.ended();
        if completed.is_err() {
            // The first error is reported.
            let _ = self.store.abort_multipart(&self.path, &id).await;
        }
        completed
    }

    async fn is_free(&self) -> Result<()> {
        if self.existing == Existing::Replace {
            return Ok(());
        }
        match self.store.head(&self.path).await {
            Ok(_) => Err(self.exists()),
            Err(object_store_remote::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(of_store(self.url, "find")(error)),
        }
    }

    fn exists(&self) -> Error {
        Error::Exists {
            place: self.url.to_string(),
        }
    }
}

fn read(source: &FileSource, begin: u64, length: u64) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(length).map_err(io::Error::other)?];
    let mut filled = 0;
    while let Some(room) = bytes.get_mut(filled..).filter(|room| !room.is_empty()) {
        match source.read_at(begin + filled as u64, room)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            read => filled += read,
        }
    }
    Ok(bytes)
}

fn of_store(url: &ObjectUrl, action: &'static str) -> impl FnOnce(object_store_remote::Error) -> Error {
    let refused = refused(url, action);
    move |error| refused(bridge::of_remote(error))
}

/// The uploads in progress, whose parts the stores keep.
static BEGUN: Mutex<Vec<(ObjectUrl, MultipartId)>> = Mutex::new(Vec::new());

fn all_begun() -> MutexGuard<'static, Vec<(ObjectUrl, MultipartId)>> {
    BEGUN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An upload in progress; [`abort_uploads`] knows it until it has ended.
struct Begun(ObjectUrl, MultipartId);

/// The number of uploads that are requested but have no ID yet.
static BEGINNING: AtomicUsize = AtomicUsize::new(0);

impl Begun {
    /// Begins an upload, on a thread that cannot be cancelled: without its ID, an upload cannot be aborted.
    fn begin(open: &Open, url: &ObjectUrl) -> object_store_remote::Result<Self> {
        BEGINNING.fetch_add(1, Ordering::SeqCst);
        let begun = own_runtime().and_then(|runtime| {
            let (store, path) = open()?;
            let id = runtime.block_on(store.create_multipart(&path))?;
            all_begun().push((url.clone(), id.clone()));
            Ok(Self(url.clone(), id))
        });
        BEGINNING.fetch_sub(1, Ordering::SeqCst);
        begun
    }

    /// The upload stays registered if the waiting task is dropped.
    fn ended(&mut self) {
        all_begun().retain(|(url, id)| (url, id) != (&self.0, &self.1));
    }
}

/// Aborts all uploads of this process, for a program that ends. Waits for at most two seconds, and as long again for uploads that are just
/// beginning.
pub(crate) fn abort_uploads() {
    let asked = Instant::now();
    while BEGINNING.load(Ordering::SeqCst) > 0 && asked.elapsed() < LAST_WORDS {
        thread::sleep(Duration::from_millis(5));
    }
    let begun = std::mem::take(&mut *all_begun());
    if begun.is_empty() {
        return;
    }
    let Ok(runtime) = own_runtime() else { return };
    runtime.block_on(async {
        let aborted = stream::iter(begun).for_each_concurrent(PARTS_AT_ONCE, |(url, id)| async move {
            if let Ok((store, path)) = remote::open_to_write(url.url()) {
                let _ = store.abort_multipart(&path, &id).await;
            }
        });
        let _ = tokio::time::timeout(LAST_WORDS, aborted).await;
    });
}

/// The runtime in which an upload began may be gone, with its connections.
fn own_runtime() -> object_store_remote::Result<Runtime> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| object_store_remote::Error::Generic {
        store: "remote",
        source: error.into(),
    })
}

/// How long a program that ends waits for a store.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// Stores require parts of at least 5 MiB, except for the last.
const SMALLEST_PART: u64 = 8 << 20;
/// S3 allows 10,000.
const MOST_PARTS: u64 = 9_000;
/// The most parts in flight, each of them in memory.
const PARTS_AT_ONCE: usize = 4;

#[cfg(test)]
mod tests {
    use std::io::Write;

    use object_store_remote::memory::InMemory;
    use url::Url;

    use super::*;

    fn file_of(bytes: &[u8]) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().expect("a file");
        file.write_all(bytes).expect("written");
        file
    }

    #[tokio::test]
    async fn a_file_goes_up_whole_or_in_parts_and_replaces_nothing_unasked() {
        let store: Arc<dyn Writable> = Arc::new(InMemory::new());
        let url = ObjectUrl::from(Url::parse("s3://bucket/a.csv").expect("a URL"));
        let bytes: Vec<u8> = (0..=255).cycle().take(10_007).collect();
        let file = file_of(&bytes);
        for (name, smallest_part) in [("whole", 1 << 20), ("parts", 1000)] {
            let path = ObjectPath::from(name);
            let opened = (Arc::clone(&store), path.clone());
            let open: Open = Arc::new(move || Ok(opened.clone()));
            let mut upload = Upload::by(open, &url, Existing::Refuse).expect("a store");
            let put = upload.put(file.path(), smallest_part).await.expect("put");
            assert_eq!(put, bytes.len() as u64);
            let found = store.get(&path).await.expect("there").bytes().await.expect("read");
            assert!(found == bytes, "{name}");
            let again = upload.put(file.path(), smallest_part).await;
            assert!(matches!(again, Err(Error::Exists { .. })), "{name}");
            upload.existing = Existing::Replace;
            upload.put(file.path(), smallest_part).await.expect("replaced");
        }
        assert!(all_begun().is_empty());
    }
}
