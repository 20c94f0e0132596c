//! Standard input as a file, for what goes back in it: rows, descriptions.

use std::io;

use anyhow::Context;
use tempfile::NamedTempFile;
use tidemill_sql::{Error, Location, standard_input};

/// A file of what came by standard input, which is there as long as this value.
pub(crate) struct Spooled {
    _file: NamedTempFile,
    pub(crate) location: Location,
}

impl Spooled {
    /// Reads standard input to its end.
    pub(crate) async fn read() -> anyhow::Result<Self> {
        tokio::task::spawn_blocking(Self::read_here).await?
    }

    fn read_here() -> anyhow::Result<Self> {
        let (_, mut stream) = standard_input()?;
        let mut file = tempfile::Builder::new().prefix("tidemill-input-").tempfile()?;
        io::copy(&mut stream, &mut file).context("cannot keep standard input in a temporary file")?;
        // With its end it is known whether it is an ArrayRecord file.
        let location = Location::existing(file.path()).map_err(|error| match error {
            Error::NotATable { what, hint, .. } => Error::NotATable {
                place: "standard input".to_owned(),
                what,
                hint,
            },
            error => error,
        })?;
        Ok(Self { _file: file, location })
    }
}
