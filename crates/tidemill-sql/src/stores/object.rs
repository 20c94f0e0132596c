//! Objects of network stores, read in ranges and written as a whole (`upload.rs`).
//!
//! Settings come from the environment, with the names of the stores' own tools: `AWS_ACCESS_KEY_ID`, `AWS_REGION`, `AWS_ENDPOINT`,
//! `GOOGLE_SERVICE_ACCOUNT`, `AZURE_STORAGE_ACCOUNT_NAME` and so on. Source of the names: object_store, the `from_env` functions of its
//! builders.

#[cfg(not(feature = "objects"))]
mod absent;
#[cfg(feature = "objects")]
mod bridge;
#[cfg(feature = "objects")]
mod budget;
#[cfg(feature = "objects")]
mod remote;
#[cfg(feature = "objects")]
mod upload;

use std::collections::HashSet;
use std::future::ready;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt, TryStreamExt, stream};
use glob::{MatchOptions, Pattern};
use object_store::path::Path as ObjectPath;
use object_store::{ObjectMeta, ObjectStore, ObjectStoreExt};
use tidemill_riegeli::{SharedSource, Source};
use tokio::runtime::Handle;
use url::Url;

#[cfg(not(feature = "objects"))]
use self::absent::open;
#[cfg(not(feature = "objects"))]
pub(crate) use self::absent::{abort_uploads, check_place, put};
#[cfg(feature = "objects")]
use self::bridge::open;
#[cfg(feature = "objects")]
pub(crate) use self::upload::{abort_uploads, check_place, put};
use crate::format::Format;
use crate::location::ObjectUrl;
use crate::{Error, Result, shards};

/// The objects that match a pattern or a number of shards, by name, through one client of their store. All shards must exist. If the name
/// determines the shards, the store is not asked to list them: not every server supports lists.
///
/// # Errors
///
/// [`Error::NotFound`] if nothing matches, or a shard is missing; [`Error::Io`].
pub(crate) async fn all_of(pattern: &ObjectUrl) -> Result<Vec<Object>> {
    let open = Object::open(pattern)?;
    let container = open.container();
    let Object { store, path, .. } = open;
    let object = |path: ObjectPath, size: Option<u64>| {
        let mut url = pattern.url().clone();
        url.set_path(&container);
        if let Ok(mut segments) = url.path_segments_mut() {
            segments
                .pop_if_empty()
                .extend(path.parts().map(|part| part.as_ref().to_owned()));
        }
        Object {
            store: Arc::clone(&store),
            path,
            url: url.into(),
            size,
        }
    };
    if let Some(shards) = shards::all_of(Path::new(path.as_ref())) {
        let objects = shards.iter().map(|shard| {
            let path = ObjectPath::parse(shard.to_string_lossy());
            let path = path.map_err(|error| refused(pattern, "open")(error.into()))?;
            Ok(object(path, None))
        });
        return objects.collect();
    }
    let not_found = |hint: String| Error::NotFound {
        name: pattern.to_string(),
        hint,
    };
    let fits = Pattern::new(path.as_ref()).map_err(|error| not_found(format!("not a pattern: {error}")))?;
    let options = MatchOptions {
        require_literal_separator: true,
        ..MatchOptions::default()
    };
    let folder: ObjectPath = path
        .parts()
        .take_while(|part| !part.as_ref().contains(shards::PATTERN))
        .collect();
    let fitting = store
        .list(Some(&folder))
        .try_filter(|object| ready(fits.matches_with(object.location.as_ref(), options)));
    let found: std::result::Result<Vec<ObjectMeta>, _> = fitting.take(MOST_OBJECTS + 1).try_collect().await;
    let mut found = found.map_err(refused(pattern, "list"))?;
    if found.len() > MOST_OBJECTS {
        return Err(Error::Unsupported {
            what: format!("{pattern}: a table of more than {MOST_OBJECTS} objects"),
            hint: "name fewer by a narrower pattern".to_owned(),
        });
    }
    found.sort_by(|one, other| one.location.cmp(&other.location));
    if found.is_empty() {
        return Err(not_found("no object fits the pattern".to_owned()));
    }
    let names: HashSet<&Path> = found.iter().map(|object| Path::new(object.location.as_ref())).collect();
    if let Some(family) = shards::siblings(names.iter().copied())
        && let Some(missing) = family.iter().find(|shard| !names.contains(shard.as_path()))
    {
        return Err(not_found(format!("{} is missing", missing.display())));
    }
    let found = found.into_iter();
    Ok(found.map(|one| object(one.location, Some(one.size))).collect())
}

/// The bytes of each object. Unknown sizes are requested concurrently.
pub(crate) async fn sources(objects: Vec<Object>) -> Result<Vec<(ObjectUrl, SharedSource)>> {
    let source = |object: Object| async move {
        let url = object.url.clone();
        Ok((url, Arc::new(object.source().await?) as SharedSource))
    };
    let sources: Vec<BoxFuture<'static, _>> = objects.into_iter().map(|object| source(object).boxed()).collect();
    stream::iter(sources).buffered(AT_ONCE).try_collect().await
}

/// Detects the format of an object, by its bytes and its name.
pub(crate) async fn detect(object: Object) -> Result<Format> {
    let name = object.url.to_string();
    detect_source(name, Arc::new(object.source().await?)).await
}

/// Detects the format of an object with this name.
pub(crate) async fn detect_source(name: String, source: SharedSource) -> Result<Format> {
    let place = name.clone();
    // Reading blocks, which is not allowed on a thread of the runtime.
    let work = tokio::task::spawn_blocking(move || {
        let path = name.split(['?', '#']).next().unwrap_or(&name);
        Format::detect(Path::new(path), &source, &name)
    });
    work.await.map_err(|panic| Error::io(place, "read")(panic.into()))?
}

/// An object and its store.
pub(crate) struct Object {
    pub(crate) store: Arc<dyn ObjectStore>,
    path: ObjectPath,
    pub(crate) url: ObjectUrl,
    /// The size in a listing.
    size: Option<u64>,
}

impl Object {
    pub(crate) fn open(url: &ObjectUrl) -> Result<Self> {
        let (store, path) = open(url)?;
        Ok(Self {
            store,
            path,
            url: url.clone(),
            size: None,
        })
    }

    /// What precedes the object's path in its URL: the name of a container, for services that have one there, or nothing.
    fn container(&self) -> String {
        let segments: Vec<&str> = self.url.url().path_segments().into_iter().flatten().collect();
        segments[..segments.len().saturating_sub(self.path.parts().count())].join("/")
    }

    /// The URL of an object in the same store, whose path is the object's own, for code that derives object paths from URLs: the name of a
    /// container is part of the host in it.
    ///
    /// It has no user and no parameters: the store knows them, and plans display the URL.
    pub(crate) fn url_in_store(&self, url: &ObjectUrl) -> Result<Url> {
        let (container, mut url) = (self.container(), url.url().clone());
        // Only a URL without a host refuses, which has no user.
        let _ = (url.set_password(None), url.set_username(""));
        url.set_query(None);
        url.set_fragment(None);
        let path = url.path().strip_prefix(&format!("/{container}/")).map(str::to_owned);
        let Some(path) = path.filter(|_| !container.is_empty()) else {
            return Ok(url);
        };
        let host = format!("{}.{}", container.replace('/', "."), url.host_str().unwrap_or_default());
        url.set_host(Some(&host)).map_err(|error| Error::Unsupported {
            what: format!("{}: {error}: a container of this name", self.url),
            hint: "name the object by a URL that begins with s3://, az:// or gs://".to_owned(),
        })?;
        url.set_path(&path);
        Ok(url)
    }

    /// The object as a source of bytes for threads that may block.
    pub(crate) async fn source(self) -> Result<ObjectSource> {
        let size = match self.size {
            Some(size) => size,
            None => {
                let found = self.store.head(&self.path).await;
                let found = found.map_err(|error| match error {
                    object_store::Error::NotFound { .. } => Error::NotFound {
                        name: self.url.to_string(),
                        hint: "the store has no such object".to_owned(),
                    },
                    error => refused(&self.url, "find")(error),
                });
                found?.size
            }
        };
        Ok(ObjectSource {
            object: self,
            size,
            runtime: Handle::current(),
            ahead: Mutex::default(),
        })
    }
}

/// Reads an object at any position, from threads outside the runtime.
pub(crate) struct ObjectSource {
    object: Object,
    size: u64,
    runtime: Handle,
    ahead: Mutex<Ahead>,
}

/// The last fetched range. Sequential reads fetch growing ranges, to reduce the number of requests.
#[derive(Default)]
struct Ahead {
    begin: u64,
    bytes: Bytes,
}

impl Source for ObjectSource {
    fn size(&self) -> io::Result<u64> {
        Ok(self.size)
    }

    fn read_at(&self, pos: u64, buffer: &mut [u8]) -> io::Result<usize> {
        if pos >= self.size || buffer.is_empty() {
            return Ok(0);
        }
        let mut ahead = self.ahead.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = ahead.at(pos) {
            let length = found.len().min(buffer.len());
            buffer[..length].copy_from_slice(&found[..length]);
            return Ok(length);
        }
        let reads_on = pos == ahead.begin + ahead.bytes.len() as u64;
        let last = ahead.bytes.len() as u64;
        let wanted = match reads_on {
            true => (last * 2).clamp(FIRST_FETCH, LARGEST_FETCH),
            false => FIRST_FETCH,
        };
        let end = pos.saturating_add(wanted.max(buffer.len() as u64)).min(self.size);
        let fetch = self.object.store.get_range(&self.object.path, pos..end);
        let bytes = self.runtime.block_on(fetch).map_err(io::Error::other)?;
        if bytes.len() as u64 != end - pos {
            let short = format!("{} of {} bytes came from byte {pos} on", bytes.len(), end - pos);
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, short));
        }
        *ahead = Ahead { begin: pos, bytes };
        let length = ahead.bytes.len().min(buffer.len());
        buffer[..length].copy_from_slice(&ahead.bytes[..length]);
        Ok(length)
    }
}

impl Ahead {
    fn at(&self, pos: u64) -> Option<&[u8]> {
        let offset = usize::try_from(pos.checked_sub(self.begin)?).ok()?;
        self.bytes.get(offset..).filter(|found| !found.is_empty())
    }
}

/// The most objects of a pattern.
const MOST_OBJECTS: usize = 100_000;

/// The most objects that are requested or opened concurrently.
pub(super) const AT_ONCE: usize = 16;

/// A chunk header and its surroundings; a request costs as much as about 100 KiB of data.
const FIRST_FETCH: u64 = 64 << 10;
const LARGEST_FETCH: u64 = 8 << 20;

/// Converts an error of the store, and removes the secrets of the URL, which a library may have included.
fn refused(url: &ObjectUrl, action: &'static str) -> impl FnOnce(object_store::Error) -> Error {
    let refused = Error::io(url.to_string(), action);
    let url = url.secret();
    move |error| {
        refused(io::Error::other(
            url.scrub(&tidemill_trust::with_causes(&error).to_string()),
        ))
    }
}

#[cfg(all(test, feature = "objects"))]
mod tests {
    use super::*;

    #[test]
    fn a_container_in_the_path_is_no_part_of_an_objects_own() {
        for (url, in_store) in [
            ("s3://bucket/a/b%20c.parquet", "s3://bucket/a/b%20c.parquet"),
            ("http://127.0.0.1:8080/a/b.parquet", "http://127.0.0.1:8080/a/b.parquet"),
            ("https://u:p@h/b.parquet?sig=s", "https://h/b.parquet"),
            (
                "https://account.blob.core.windows.net/box/a/b.parquet",
                "https://box.account.blob.core.windows.net/a/b.parquet",
            ),
            (
                "https://s3.eu-west-1.amazonaws.com/bucket/b%20c.parquet",
                "https://bucket.s3.eu-west-1.amazonaws.com/b%20c.parquet",
            ),
        ] {
            let url = Url::parse(url).expect(url);
            let url = ObjectUrl::from(url);
            let object = Object::open(&url).expect(in_store);
            assert_eq!(object.url_in_store(&url).expect(in_store).as_str(), in_store);
        }
    }
}
