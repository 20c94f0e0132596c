//! The formats that DataFusion reads: Parquet and Arrow IPC.

mod expansion;
mod merged;
mod messages;
mod pages;
mod rows;

use std::collections::{BTreeSet, HashMap};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_schema::extension::EXTENSION_TYPE_NAME_KEY;
use arrow_schema::{DataType, Fields, Schema, SchemaRef};
use datafusion::catalog::TableProvider;
use datafusion::common::stats::Precision;
use datafusion::common::{DataFusionError, Statistics};
use datafusion::datasource::TableType;
use datafusion::datasource::file_format::FileFormat;
use datafusion::datasource::file_format::arrow::ArrowFormat;
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::listing::{ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl};
use datafusion::datasource::physical_plan::parquet::metadata::DFParquetMetadata;
use datafusion::datasource::physical_plan::{FileGroup, FileScanConfig, FileScanConfigBuilder, ParquetSource};
use datafusion::datasource::source::DataSourceExec;
use datafusion::execution::SessionState;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown};
use datafusion::physical_plan::ExecutionPlan;
use futures::{StreamExt as _, TryStreamExt as _};
use object_store::ObjectStoreExt as _;
use parquet::arrow::parquet_to_arrow_schema;
use parquet::basic::LogicalType;
use parquet::file::metadata::ParquetMetaData;
use tidemill_ads::sql::joined_in_pairs;
use tidemill_riegeli::SharedSource;
use url::Url;

use self::merged::{merged, same};
use super::decimals::widened;
use super::object::Object;
use crate::ads_connection::blocking;
use crate::format::Format;
use crate::location::{Location, Place, SourceReader};
use crate::options::SessionOptions;
use crate::{Error, Result};

/// How many files' schemas are read concurrently.
const FOOTERS_AT_ONCE: usize = 8;

pub(super) async fn open(
    location: &Location,
    options: &SessionOptions,
    state: &SessionState,
) -> Result<Arc<dyn TableProvider>> {
    let parts = location.parts().await?;
    // All parts are in the same store.
    let first = match parts.first().map(|part| &part.place) {
        Some(Place::Object(url)) => Some(Object::open(url)?),
        _ => None,
    };
    let (mut urls, mut names, mut paths) = (Vec::new(), HashMap::new(), Vec::new());
    for part in &parts {
        let url = match (&part.place, &first) {
            (Place::Object(url), Some(first)) => first.url_in_store(url)?,
            _ => file_url(part.file()?)?,
        };
        let url = ListingTableUrl::try_new(url, None)?;
        names.insert(url.prefix().clone(), part.to_string());
        if matches!(part.place, Place::File(_)) {
            paths.push((url.clone(), part.file()?.to_path_buf()));
        }
        urls.push(url);
    }
    if let (Some(object), Some(url)) = (first, urls.first()) {
        state.runtime_env().register_object_store(url.get_url(), object.store);
    }
    let a_file = urls.first().cloned();
    let path = urls.first().map(|url| url.prefix().to_string()).unwrap_or_default();
    for part in &parts {
        check(part, options).await?;
    }
    let extension = Path::new(&path)
        .extension()
        .map_or_else(String::new, |extension| extension.to_string_lossy().into_owned());
    let format = format(location.format);
    let listing = ListingOptions::new(format).with_file_extension(extension);
    let files = urls.iter().cloned().zip(parts.iter().cloned());
    let schemas = files.map(|(url, part)| {
        let listing = &listing;
        async move {
            let schema = listing.infer_schema(state, &url).await;
            let schema = schema.map_err(|error| named(&part, error))?;
            Ok::<_, Error>((part.to_string(), schema))
        }
    });
    let schemas: Vec<_> = futures::stream::iter(schemas)
        .buffered(FOOTERS_AT_ONCE)
        .try_collect()
        .await?;
    let schema = match (location.format, &a_file) {
        (Format::Parquet, Some(first)) => {
            for (url, part) in urls.iter().zip(&parts) {
                let metadata = metadata_of(url, state).await?;
                let columns = metadata
                    .file_metadata()
                    .schema_descr()
                    .root_schema()
                    .get_fields()
                    .iter();
                refuse_repeated(part, columns.map(|column| column.name()))?;
            }
            Arc::new(described(&*merged(&schemas)?, first, state).await?)
        }
        // DataFusion's reader of Arrow files uses the columns of the first file only.
        _ => same(&schemas)?,
    };
    let config = ListingTableConfig::new_with_multi_paths(urls)
        .with_listing_options(listing)
        .with_schema(widened(&schema));
    let table = ListingTable::try_new(config)?;
    let scans = match location.format {
        Format::Parquet => Scans::Bounded {
            max_expansion: options.expansion(),
            names: Arc::new(names),
            batch_rows: batch_rows(location, paths, state).await?,
        },
        _ => Scans::Plain,
    };
    Ok(Arc::new(FileTable { table, scans }))
}

/// DataFusion finds columns by name, and would read the first of two with the same name twice, or neither.
fn refuse_repeated<'n>(file: &Location, names: impl Iterator<Item = &'n str>) -> Result<()> {
    let mut known = BTreeSet::new();
    let mut repeated = names.filter(|name| !known.insert(*name));
    match repeated.next() {
        Some(name) => Err(Error::Unsupported {
            what: format!("{file}: a file with two columns {name}"),
            hint: "write it anew with columns of different names".to_owned(),
        }),
        None => Ok(()),
    }
}

/// Checks that no part of a file exceeds the memory limit, however small the file is. The pages of Parquet are checked when they are read
/// ([`pages`]).
async fn check(file: &Location, options: &SessionOptions) -> Result<()> {
    let source = match file.place {
        Place::File(_) => file.source().await?,
        _ => None,
    };
    let Some(source) = source else { return Ok(()) };
    let (place, format, max_expansion) = (file.to_string(), file.format, options.expansion());
    if source.size().map_err(Error::io(&place, "read"))? == 0 {
        let why = "the file has no bytes, and not even its columns";
        return Err(Error::io(&place, "read")(io::Error::other(why)));
    }
    let file = file.clone();
    blocking(move || {
        if format == Format::Arrow {
            let repeated = messages::repeated_name(Arc::clone(&source));
            let repeated = repeated.map_err(Error::io(&place, "read"))?;
            if let Some(name) = repeated {
                refuse_repeated(&file, [name.as_str(), name.as_str()].into_iter())?;
            }
        }
        let what = match format {
            Format::Parquet => check_footer(&source).map(|()| None),
            _ => messages::look(source, max_expansion),
        };
        match what.map_err(Error::io(&place, "read"))? {
            Some(what) => Err(Error::TooLarge {
                place,
                what: what.to_string(),
            }),
            None => Ok(()),
        }
    })
    .await
}

/// Checks that the footer of a Parquet file lies within the file, which the reader does not.
fn check_footer(source: &SharedSource) -> io::Result<()> {
    /// The footer's length and the magic bytes. Source: README of the Parquet format, "File format".
    const END: u64 = 8;
    let size = source.size()?;
    let Some(begin) = size.checked_sub(END) else {
        return Ok(());
    };
    let mut end = [0; 8];
    SourceReader::from(Arc::clone(source), begin).read_exact(&mut end)?;
    let [a, b, c, d, magic @ ..] = end;
    let length = u32::from_le_bytes([a, b, c, d]);
    match &magic == b"PAR1" && u64::from(length) > begin {
        true => Err(io::Error::other(format!(
            "its footer is said to take {length} bytes, and the file has {size}"
        ))),
        false => Ok(()),
    }
}

/// Adds the file's name to an error of DataFusion.
fn named(location: &Location, error: DataFusionError) -> Error {
    let text = match error.find_root() {
        DataFusionError::External(inner) if inner.is::<Error>() => return error.into(),
        DataFusionError::ObjectStore(_) => return error.into(),
        DataFusionError::Internal(what) | DataFusionError::Execution(what) => what.clone(),
        found => found.to_string(),
    };
    // Each layer repeats the prefix.
    let text = text.trim_start_matches("Parquet error: ");
    Error::io(location.to_string(), "read")(io::Error::other(text.to_owned()))
}

/// Files that DataFusion lists and reads.
#[derive(Debug)]
pub(super) struct FileTable {
    table: ListingTable,
    scans: Scans,
}

/// How DataFusion's scans are modified.
#[derive(Clone, Debug)]
enum Scans {
    /// Not at all.
    Plain,
    Bounded {
        /// How many bytes the pages of Parquet may expand to, beyond their size.
        max_expansion: u64,
        /// The files by their paths in their store.
        names: Arc<HashMap<object_store::path::Path, String>>,
        batch_rows: usize,
    },
}

impl Scans {
    /// The modified configuration of a scan; `None` if it is unchanged.
    fn of(&self, config: &FileScanConfig) -> Option<FileScanConfig> {
        let mut config = config.clone();
        match self {
            Self::Plain => return None,
            Self::Bounded {
                max_expansion,
                names,
                batch_rows,
            } => {
                let source = config.file_source.downcast_ref::<ParquetSource>()?;
                let bounded = Arc::new(pages::Bounded {
                    inner: Arc::clone(source.parquet_file_reader_factory()?),
                    names: Arc::clone(names),
                    max_expansion: *max_expansion,
                });
                config.file_source = Arc::new(source.clone().with_parquet_file_reader_factory(bounded));
                config.batch_size = Some(*batch_rows);
            }
        }
        Some(config)
    }
}

impl FileTable {
    /// The most rows of a batch, if rows are long.
    pub(super) fn batch_rows(&self) -> Option<usize> {
        match self.scans {
            Scans::Bounded { batch_rows, .. } => Some(batch_rows),
            Scans::Plain => None,
        }
    }
}

#[async_trait::async_trait]
impl TableProvider for FileTable {
    fn schema(&self) -> SchemaRef {
        self.table.schema()
    }

    fn table_type(&self) -> TableType {
        self.table.table_type()
    }

    fn statistics(&self) -> Option<Statistics> {
        self.table.statistics()
    }

    fn supports_filters_pushdown(
        &self,
        filters: &[&Expr],
    ) -> Result<Vec<TableProviderFilterPushDown>, DataFusionError> {
        self.table.supports_filters_pushdown(filters)
    }

    async fn scan(
        &self,
        state: &dyn datafusion::catalog::Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>, DataFusionError> {
        let filter = joined_in_pairs(filters.to_vec(), Expr::and);
        let plan = self.table.scan(state, projection, filter.as_slice(), limit).await?;
        let config = plan
            .downcast_ref::<DataSourceExec>()
            .and_then(|scan| scan.data_source().downcast_ref::<FileScanConfig>());
        Ok(match config.and_then(|config| self.scans.of(config)) {
            Some(config) => DataSourceExec::from_data_source(without_bounds_of_floats(config, &self.table.schema())),
            None => plan,
        })
    }
}

/// Removes the minimum and maximum of floating-point columns from a Parquet scan: in the files they ignore NaN (README of the Parquet
/// format, `ColumnOrder` in `parquet.thrift`), which is greater than all numbers here.
fn without_bounds_of_floats(config: FileScanConfig, schema: &Schema) -> FileScanConfig {
    let floats = schema.fields().iter().enumerate();
    let floats = floats.filter_map(|(place, field)| field.data_type().is_floating().then_some(place));
    let floats: Vec<usize> = floats.collect();
    if floats.is_empty() {
        return config;
    }
    let without = |statistics: &Statistics| {
        let mut statistics = statistics.clone();
        for place in &floats {
            if let Some(column) = statistics.column_statistics.get_mut(*place) {
                (column.min_value, column.max_value) = (Precision::Absent, Precision::Absent);
            }
        }
        statistics
    };
    let of_group = |group: &FileGroup| {
        let files = group.iter().cloned().map(|mut file| {
            file.statistics = file.statistics.map(|statistics| Arc::new(without(&statistics)));
            file
        });
        let files = FileGroup::new(files.collect());
        match group.file_statistics(None) {
            Some(statistics) => files.with_statistics(Arc::new(without(statistics))),
            None => files,
        }
    };
    let groups = config.file_groups.iter().map(of_group).collect();
    let statistics = without(&config.statistics());
    FileScanConfigBuilder::from(config)
        .with_file_groups(groups)
        .with_statistics(statistics)
        .build()
}

/// Adds the metadata of the first file's columns to the schema, such as the types of the source database, and which columns are UUIDs.
/// DataFusion omits it, since it may differ between the files of a table.
async fn described(schema: &Schema, first: &ListingTableUrl, state: &SessionState) -> Result<Schema> {
    let metadata = metadata_of(first, state).await?;
    let file = metadata.file_metadata();
    let own = parquet_to_arrow_schema(file.schema_descr(), file.key_value_metadata())?;
    let uuids = file.schema_descr().root_schema().get_fields().iter();
    let uuids: BTreeSet<&str> = uuids
        .filter(|column| column.get_basic_info().logical_type_ref() == Some(&LogicalType::Uuid))
        .map(|column| column.name())
        .collect();
    let fields = schema.fields().iter().map(|field| {
        let Ok(own) = own.field_with_name(field.name()) else {
            return Arc::clone(field);
        };
        let mut metadata = own.metadata().clone();
        if uuids.contains(field.name().as_str()) && *field.data_type() == DataType::FixedSizeBinary(16) {
            metadata.insert(EXTENSION_TYPE_NAME_KEY.to_owned(), "arrow.uuid".to_owned());
        }
        Arc::new(field.as_ref().clone().with_metadata(metadata))
    });
    Ok(Schema::new(fields.collect::<Fields>()))
}

/// The footer of a Parquet file, which the session caches.
async fn metadata_of(file: &ListingTableUrl, state: &SessionState) -> Result<Arc<ParquetMetaData>> {
    let store = state.runtime_env().object_store(file)?;
    let object = store.head(file.prefix()).await.map_err(DataFusionError::from)?;
    let cache = state.runtime_env().cache_manager.get_file_metadata_cache();
    let metadata = DFParquetMetadata::new(&*store, &object).with_file_metadata_cache(Some(cache));
    Ok(metadata.fetch_metadata().await?)
}

/// The rows per batch of local Parquet files: fewer if rows are long. Objects would be requested one by one.
async fn batch_rows(
    location: &Location,
    files: Vec<(ListingTableUrl, PathBuf)>,
    state: &SessionState,
) -> Result<usize> {
    let mut rows = state.config().batch_size();
    for (url, path) in files {
        let metadata = metadata_of(&url, state).await?;
        let most = rows;
        let found = blocking(move || Ok(rows::of_a_batch(&metadata, &path, most))).await?;
        rows = found.map_err(|error| named(location, DataFusionError::ParquetError(Box::new(error))))?;
    }
    Ok(rows)
}

/// Converts a path to a URL, so that brackets and stars in it are not patterns.
fn file_url(path: &Path) -> Result<Url> {
    let path = std::path::absolute(path).map_err(Error::io(path, "find"))?;
    // DataFusion does not resolve `..`. The last component is kept, even if it is a link.
    let path = match (path.parent().map(Path::canonicalize), path.file_name()) {
        (Some(Ok(folder)), Some(name)) => folder.join(name),
        _ => path,
    };
    Url::from_file_path(&path).map_err(|()| Error::Unsupported {
        what: format!("{}: this path as a URL", path.display()),
        hint: "rename the file or its folder".to_owned(),
    })
}

fn format(format: Format) -> Arc<dyn FileFormat> {
    match format {
        Format::Parquet => Arc::new(ParquetFormat::default().with_force_view_types(false)),
        _ => Arc::new(ArrowFormat),
    }
}
