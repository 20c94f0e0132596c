//! Stubs for network stores in a build without them: each use is an error that says how to enable them.

use std::path::Path;
use std::sync::Arc;

use object_store::ObjectStore;
use object_store::path::Path as ObjectPath;
use tidemill_xbase::Existing;

use crate::location::ObjectUrl;
use crate::{Error, Result};

pub(super) fn open(url: &ObjectUrl) -> Result<(Arc<dyn ObjectStore>, ObjectPath)> {
    Err(absent(url))
}

pub(crate) async fn put(_file: &Path, url: &ObjectUrl, _existing: Existing) -> Result<u64> {
    Err(absent(url))
}

pub(crate) async fn check_place(url: &ObjectUrl, _existing: Existing) -> Result<()> {
    Err(absent(url))
}

/// There are none.
pub(crate) fn abort_uploads() {}

fn absent(url: &ObjectUrl) -> Error {
    Error::Unsupported {
        what: format!("{url}: objects on the network"),
        hint: "this build has no objects: build it with --features objects".to_owned(),
    }
}
