//! Tables whose scans can be sent to workers.

use std::sync::Arc;

use arrow_schema::SchemaRef;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::{DataFusionError, Result as EngineResult, Statistics};
use datafusion::datasource::TableType;
use datafusion::execution::SessionState;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown};
use datafusion::physical_plan::ExecutionPlan;
use tidemill_clickhouse::arrow_type::StringType;

use super::scan::{Question, Travelling, TravellingFile, TravellingPlace, WorkerScan};
use crate::format::Format;
use crate::location::{Location, Place};
use crate::options::SessionOptions;
use crate::planned_scan::planned_scan;
use crate::{Error, Result};

/// The formats that workers read, by their serialized names.
pub(super) const FORMATS: [(&str, Format); 7] = [
    ("parquet", Format::Parquet),
    ("arrow", Format::Arrow),
    ("riegeli", Format::Riegeli),
    ("array_record", Format::ArrayRecord),
    ("tfrecord", Format::TfRecord),
    ("native", Format::Native(StringType::ByContent)),
    ("jsonl", Format::JsonLines),
];

fn format_name(format: Format) -> Option<&'static str> {
    FORMATS
        .iter()
        .find(|(_, known)| *known == format)
        .map(|(name, _)| *name)
}

/// Whether workers can read a table with this session's options.
pub(crate) fn can_travel(location: &Location, options: &SessionOptions) -> bool {
    let is_file = matches!(
        location.place,
        Place::File(_) | Place::Shards { .. } | Place::Object(_) | Place::Objects(_)
    );
    is_file && format_name(location.format).is_some() && options.can_travel()
}

/// A table whose scans can be sent to workers.
///
/// # Errors
///
/// If the length of a file cannot be determined.
pub(crate) async fn travelling(
    location: &Location,
    provider: Arc<dyn TableProvider>,
    options: &SessionOptions,
) -> Result<Arc<dyn TableProvider>> {
    let table = WorkerTable {
        travelling: Arc::new(of_location(location, options).await?),
        provider,
    };
    Ok(Arc::new(table))
}

/// The serializable description of a table.
pub(super) async fn of_location(location: &Location, options: &SessionOptions) -> Result<Travelling> {
    let absolute = |path: &std::path::Path| -> Result<String> {
        let path = std::path::absolute(path).map_err(Error::io(path, "find"))?;
        match path.to_str() {
            Some(path) => Ok(path.to_owned()),
            None => Err(Error::Unsupported {
                what: format!("{}: a path that is no UTF-8, on workers,", path.display()),
                hint: "leave --workers out".to_owned(),
            }),
        }
    };
    let place = match &location.place {
        Place::File(path) => TravellingPlace::File(absolute(path)?),
        Place::Shards { pattern, files } => TravellingPlace::Shards {
            pattern: pattern.clone(),
            files: files.iter().map(|file| absolute(file)).collect::<Result<_>>()?,
        },
        Place::Object(url) => TravellingPlace::Object(url.url().to_string()),
        Place::Objects(url) => TravellingPlace::Objects(url.url().to_string()),
        place => {
            return Err(Error::Unsupported {
                what: format!("{place} on workers"),
                hint: "leave --workers out".to_owned(),
            });
        }
    };
    Ok(Travelling {
        place,
        format: format_name(location.format).unwrap_or_default().to_owned(),
        files: files(location).await?,
        message: options.message_name().map(str::to_owned),
        max_expansion: options.expansion_limit(),
    })
}

/// The files of a table, with their lengths. Folders are omitted: other machines may reach them through a link.
async fn files(location: &Location) -> Result<Vec<TravellingFile>> {
    let mut files = Vec::new();
    for (file, source) in location.sources().await? {
        let name = file.to_string();
        let bytes = match source {
            Some(source) => {
                let place = name.clone();
                crate::ads_connection::blocking(move || source.size().map_err(Error::io(place, "read"))).await?
            }
            None => 0,
        };
        let name = name.rsplit('/').next().unwrap_or_default().to_owned();
        files.push(TravellingFile { name, bytes });
    }
    Ok(files)
}

#[derive(Debug)]
struct WorkerTable {
    travelling: Arc<Travelling>,
    provider: Arc<dyn TableProvider>,
}

impl WorkerTable {
    fn plan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> EngineResult<Arc<dyn ExecutionPlan>> {
        let all = || (0..self.schema().fields().len()).collect();
        let question = Question {
            projection: projection.map_or_else(all, Clone::clone),
            filters: filters.to_vec(),
            limit,
        };
        let Some(state) = state.as_any().downcast_ref::<SessionState>() else {
            return Err(DataFusionError::Internal("a session of another kind".to_owned()));
        };
        let (travelling, provider) = (Arc::clone(&self.travelling), Arc::clone(&self.provider));
        Ok(Arc::new(WorkerScan::new(
            travelling,
            provider,
            state.clone(),
            question,
        )?))
    }
}

#[async_trait::async_trait]
impl TableProvider for WorkerTable {
    fn schema(&self) -> SchemaRef {
        self.provider.schema()
    }

    fn table_type(&self) -> TableType {
        self.provider.table_type()
    }

    planned_scan!();

    fn statistics(&self) -> Option<Statistics> {
        self.provider.statistics()
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> EngineResult<Vec<TableProviderFilterPushDown>> {
        self.provider.supports_filters_pushdown(filters)
    }
}
