//! Riegeli/records files of typed rows; a file of other records is a table of one binary column, `record`.

use std::sync::Arc;

use arrow_schema::SchemaRef;
use datafusion::catalog::TableProvider;
use datafusion::common::stats::Precision;
use tidemill_riegeli::ReaderOptions;
use tidemill_riegeli::rows::{RowBatches, RowFile, RowFilter, RowScan};

use super::Reading;
use crate::damage::DamageLog;
use crate::engine::{Batches, Engine, EngineTable, Request};
use crate::location::Location;
use crate::options::SessionOptions;
use crate::{Error, Result};

pub(super) async fn open(
    location: &Location,
    options: &SessionOptions,
    damage: &DamageLog,
) -> Result<Arc<dyn TableProvider>> {
    let mut engines = Vec::new();
    for part in location.parts() {
        let path = part.to_string();
        let reading = ReaderOptions::default().recover(options.recovers());
        let recovers = options.recovers();
        let damage = damage.clone();
        let Some(source) = part.source().await? else { continue };
        let open = move || {
            let file = RowFile::from_source(source, &path, &reading)?;
            // Recovery leaves out what is damaged, so only a scan knows how much is left.
            let rows = match recovers {
                true => Precision::Absent,
                false => Precision::Exact(usize::try_from(file.row_count()?).unwrap_or(usize::MAX)),
            };
            Ok::<_, Error>(RiegeliEngine {
                file: Arc::new(file),
                path,
                rows,
                damage,
            })
        };
        // Objects are waited for, which a thread of the runtime must not do.
        engines.push(tokio::task::spawn_blocking(open).await.map_err(|panic| Error::Io {
            path: location.to_string().into(),
            action: "open",
            source: panic.into(),
        })??);
    }
    Ok(Arc::new(EngineTable::new(location.to_string(), engines)?))
}

struct RiegeliEngine {
    file: Arc<RowFile>,
    path: String,
    rows: Precision<usize>,
    damage: DamageLog,
}

impl Engine for RiegeliEngine {
    fn scan_name(&self) -> &'static str {
        "RiegeliScan"
    }

    fn file(&self) -> String {
        self.path.clone()
    }

    fn schema(&self) -> SchemaRef {
        self.file.schema()
    }

    fn row_count(&self) -> Precision<usize> {
        self.rows
    }

    fn divisible(&self) -> bool {
        false
    }

    fn scan(&self, request: Request) -> Result<Batches> {
        let scan = RowScan {
            projection: Some(request.projection),
            batch_rows: request.batch_rows,
            limit: request.limit,
            row_filter: request
                .filter
                .map(|filter| RowFilter::new(filter.columns, filter.predicate)),
        };
        let batches = self.file.scan(scan)?;
        let (path, damage) = (self.path.clone(), self.damage.clone());
        let say_damage = move |batches: &RowBatches| damage.add(&path, batches.skipped());
        Ok(Box::new(Reading { batches, say_damage }))
    }
}
