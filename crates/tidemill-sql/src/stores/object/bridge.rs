//! Adapts a network store to DataFusion's version of the object store trait, and checks its responses.
//!
//! A range must have the requested length, and an object that is read as a whole the size that the store reported before.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt, stream};
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetRange, GetResult, GetResultPayload, ListResult, MultipartUpload, ObjectMeta,
    ObjectStore, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};
use object_store_remote as remote;

use super::{refused, remote as store};
use crate::location::ObjectUrl;

/// The store of an object, and the object's path in it.
pub(super) fn open(url: &ObjectUrl) -> crate::Result<(Arc<dyn ObjectStore>, Path)> {
    let (store, path) = store::open(url.url()).map_err(|error| refused(url, "open")(of_remote(error)))?;
    let path = Path::parse(path.as_ref()).map_err(|error| refused(url, "open")(error.into()))?;
    Ok((Arc::new(Bridge::new(store)), path))
}

/// A read-only network store.
#[derive(Debug)]
pub(super) struct Bridge {
    store: Arc<dyn remote::ObjectStore>,
    /// The reported sizes and tags of objects.
    told: Mutex<HashMap<Path, Told>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Told {
    size: u64,
    e_tag: Option<String>,
}

impl Bridge {
    fn new(store: Arc<dyn remote::ObjectStore>) -> Self {
        Self {
            store,
            told: Mutex::default(),
        }
    }

    /// Records the metadata of an object, and compares it with that recorded before.
    fn hold(&self, path: &Path, meta: &remote::ObjectMeta) -> Result<()> {
        let now = Told {
            size: meta.size,
            e_tag: meta.e_tag.clone(),
        };
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(before) = told.get(path) else {
            if told.len() < MOST_TOLD {
                told.insert(path.clone(), now);
            }
            return Ok(());
        };
        if before.size != now.size {
            return Err(broken(format!(
                "{path}: the store told {} bytes before and tells {} now: the object was changed, or comes short",
                before.size, now.size
            )));
        }
        if before.e_tag.is_some() && now.e_tag.is_some() && before.e_tag != now.e_tag {
            return Err(broken(format!("{path}: the object was changed while it was read")));
        }
        Ok(())
    }
}

impl fmt::Display for Bridge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.store.fmt(f)
    }
}

#[async_trait]
impl ObjectStore for Bridge {
    async fn put_opts(&self, _: &Path, _: PutPayload, _: PutOptions) -> Result<PutResult> {
        Err(read_only("put"))
    }

    async fn put_multipart_opts(&self, _: &Path, _: PutMultipartOptions) -> Result<Box<dyn MultipartUpload>> {
        Err(read_only("put_multipart"))
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        let asked = options.range.clone();
        let is_head = options.head;
        let found = self.store.get_opts(&to_remote(location)?, options_of(options)).await;
        let found = found.map_err(of_remote)?;
        self.hold(location, &found.meta)?;
        let (meta, range) = (of_meta(found.meta), found.range);
        let wanted = match asked {
            Some(GetRange::Bounded(asked)) => asked.start..asked.end.min(meta.size),
            Some(GetRange::Offset(offset)) => offset..meta.size,
            Some(GetRange::Suffix(length)) => meta.size.saturating_sub(length)..meta.size,
            None => 0..meta.size,
        };
        if range != wanted && !is_head {
            return Err(broken(format!(
                "{location}: bytes {} to {} were asked for, and the store sends {} to {}",
                wanted.start, wanted.end, range.start, range.end
            )));
        }
        let payload = match found.payload {
            // A network store returns no files.
            remote::GetResultPayload::Stream(stream) if !is_head => {
                GetResultPayload::Stream(counted(stream, location.clone(), range.clone()))
            }
            _ => GetResultPayload::Stream(stream::empty().boxed()),
        };
        Ok(GetResult {
            payload,
            meta,
            range,
            attributes: object_store::Attributes::new(),
        })
    }

    fn delete_stream(&self, _: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        stream::once(async { Err(read_only("delete")) }).boxed()
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        let prefix = match prefix.map(to_remote).transpose() {
            Ok(prefix) => prefix,
            Err(error) => return stream::once(async { Err(error) }).boxed(),
        };
        let found = self.store.list(prefix.as_ref());
        found.map_ok(of_meta).map_err(of_remote).boxed()
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        let prefix = prefix.map(to_remote).transpose()?;
        let found = self
            .store
            .list_with_delimiter(prefix.as_ref())
            .await
            .map_err(of_remote)?;
        Ok(ListResult {
            common_prefixes: found.common_prefixes.iter().map(of_path).collect(),
            objects: found.objects.into_iter().map(of_meta).collect(),
        })
    }

    async fn copy_opts(&self, _: &Path, _: &Path, _: CopyOptions) -> Result<()> {
        Err(read_only("copy"))
    }
}

/// The bytes of a range; the stream ends with an error if they are fewer or more.
fn counted(
    stream: BoxStream<'static, remote::Result<Bytes>>,
    path: Path,
    range: Range<u64>,
) -> BoxStream<'static, Result<Bytes>> {
    let length = range.end.saturating_sub(range.start);
    let bytes = stream.map_err(of_remote).map(Some).chain(stream::iter([None]));
    let counted = bytes.scan(0, move |came, bytes| {
        let checked = match bytes {
            Some(Ok(bytes)) => {
                *came += bytes.len() as u64;
                match *came <= length {
                    true => Some(Ok(bytes)),
                    false => Some(Err(broken(format!(
                        "{path}: more than the {length} bytes came that were promised"
                    )))),
                }
            }
            Some(error) => Some(error),
            None if *came < length => Some(Err(broken(format!(
                "{path}: {came} of the {length} bytes came that were promised"
            )))),
            None => None,
        };
        futures::future::ready(checked)
    });
    counted.boxed()
}

fn broken(why: String) -> Error {
    Error::Generic {
        store: "remote",
        source: why.into(),
    }
}

fn read_only(operation: &str) -> Error {
    Error::NotImplemented {
        operation: operation.to_owned(),
        implementer: "a store that is read".to_owned(),
    }
}

fn to_remote(path: &Path) -> Result<remote::path::Path> {
    remote::path::Path::parse(path.as_ref()).map_err(|error| of_remote(error.into()))
}

fn of_path(path: &remote::path::Path) -> Path {
    // Both versions accept the same paths.
    Path::parse(path.as_ref()).unwrap_or_else(|_| Path::from(path.as_ref()))
}

fn of_meta(meta: remote::ObjectMeta) -> ObjectMeta {
    ObjectMeta {
        location: of_path(&meta.location),
        last_modified: meta.last_modified,
        size: meta.size,
        e_tag: meta.e_tag,
        version: meta.version,
    }
}

fn options_of(options: GetOptions) -> remote::GetOptions {
    remote::GetOptions {
        if_match: options.if_match,
        if_none_match: options.if_none_match,
        if_modified_since: options.if_modified_since,
        if_unmodified_since: options.if_unmodified_since,
        range: options.range.map(|range| match range {
            GetRange::Bounded(range) => remote::GetRange::Bounded(range),
            GetRange::Offset(offset) => remote::GetRange::Offset(offset),
            GetRange::Suffix(length) => remote::GetRange::Suffix(length),
        }),
        version: options.version,
        head: options.head,
        extensions: options.extensions,
    }
}

/// Converts an error to the one with the same name.
pub(super) fn of_remote(error: remote::Error) -> Error {
    use remote::Error as Remote;
    match error {
        Remote::NotFound { path, source } => Error::NotFound { path, source },
        Remote::NotSupported { source } => Error::NotSupported { source },
        Remote::AlreadyExists { path, source } => Error::AlreadyExists { path, source },
        Remote::Precondition { path, source } => Error::Precondition { path, source },
        Remote::NotModified { path, source } => Error::NotModified { path, source },
        Remote::PermissionDenied { path, source } => Error::PermissionDenied { path, source },
        Remote::Unauthenticated { path, source } => Error::Unauthenticated { path, source },
        Remote::Generic { store, source } => Error::Generic { store, source },
        other => Error::Generic {
            store: "remote",
            source: Box::new(other),
        },
    }
}

/// The most recorded objects, of some hundred bytes each.
const MOST_TOLD: usize = 100_000;
