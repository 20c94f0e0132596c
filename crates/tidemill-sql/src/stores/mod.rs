//! One module a store: from a [`Location`] to a table that the planner can scan.

mod files;
mod riegeli;
mod xbase;

use std::sync::Arc;

use datafusion::catalog::TableProvider;
use datafusion::execution::SessionState;

use crate::Result;
use crate::location::{Format, Location};
use crate::session::{DamageLog, SessionOptions};

/// Opens the table at `location`.
pub(crate) async fn open(
    location: &Location,
    options: &SessionOptions,
    damage: &DamageLog,
    state: &SessionState,
) -> Result<Arc<dyn TableProvider>> {
    match location.format {
        Format::Xbase => xbase::open(&location.path, options, damage),
        Format::Riegeli => riegeli::open(&location.path, options, damage),
        Format::Parquet | Format::Arrow | Format::Csv | Format::JsonLines => files::open(location, state).await,
    }
}
