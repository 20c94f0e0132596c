//! The formats that DataFusion reads by itself: Parquet, Arrow IPC, CSV, JSON.

mod csv;

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::sync::Arc;

use arrow_schema::extension::EXTENSION_TYPE_NAME_KEY;
use arrow_schema::{DataType, Fields, Schema};
use datafusion::catalog::TableProvider;
use datafusion::common::DataFusionError;
use datafusion::datasource::file_format::FileFormat;
use datafusion::datasource::file_format::arrow::ArrowFormat;
use datafusion::datasource::file_format::csv::CsvFormat;
use datafusion::datasource::file_format::json::JsonFormat;
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::listing::{ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl};
use datafusion::datasource::physical_plan::parquet::metadata::DFParquetMetadata;
use datafusion::execution::SessionState;
use object_store::ObjectStoreExt as _;
use parquet::arrow::parquet_to_arrow_schema;
use parquet::basic::LogicalType;
use url::Url;

use super::decimals::widened;
use super::object::Object;
use crate::format::Format;
use crate::location::{Location, Place};
use crate::{Error, Result};

pub(super) async fn open(location: &Location, state: &SessionState) -> Result<Arc<dyn TableProvider>> {
    let parts = location.parts().await?;
    // All parts are in one store.
    let first = match parts.first().map(|part| &part.place) {
        Some(Place::Object(url)) => Some(Object::open(url)?),
        _ => None,
    };
    let mut urls = Vec::new();
    for part in &parts {
        let url = match (&part.place, &first) {
            (Place::Object(url), Some(first)) => first.url_in_store(url)?,
            _ => file_url(part.file()?)?,
        };
        urls.push(ListingTableUrl::try_new(url, None)?);
    }
    if let (Some(object), Some(url)) = (first, urls.first()) {
        state.runtime_env().register_object_store(url.get_url(), object.store);
    }
    let a_file = urls.first().cloned();
    let path = urls.first().map(|url| url.prefix().to_string()).unwrap_or_default();
    let extension = Path::new(&path)
        .extension()
        .map_or_else(String::new, |extension| extension.to_string_lossy().into_owned());
    let delimiter = csv::delimiter(Path::new(&path));
    let format: Arc<dyn FileFormat> = match location.format {
        Format::Csv => Arc::new(
            CsvFormat::default()
                .with_has_header(true)
                .with_newlines_in_values(!csv::is_divisible(&parts).await?)
                .with_delimiter(delimiter),
        ),
        other => format(other, parts.first())?,
    };
    let options = ListingOptions::new(format).with_file_extension(extension);
    let config = ListingTableConfig::new_with_multi_paths(urls).with_listing_options(options);
    let mut config = match location.format {
        Format::Csv => config.with_schema(Arc::new(csv::schema(&parts, delimiter).await?)),
        _ => config.infer_schema(state).await?,
    };
    if let Some(schema) = config.file_schema.clone() {
        let schema = match (location.format, a_file) {
            (Format::Parquet, Some(first)) => Arc::new(described(&schema, &first, state).await?),
            _ => schema,
        };
        config = config.with_schema(widened(&schema));
    }
    Ok(Arc::new(ListingTable::try_new(config)?))
}

/// The schema with what the first file says of its columns: their Arrow metadata, such as the types of the database that they come
/// from, and which of them are UUIDs. The engine leaves it out, since files of one table may differ in it.
async fn described(schema: &Schema, first: &ListingTableUrl, state: &SessionState) -> Result<Schema> {
    let store = state.runtime_env().object_store(first)?;
    let object = store.head(first.prefix()).await.map_err(DataFusionError::from)?;
    let cache = state.runtime_env().cache_manager.get_file_metadata_cache();
    let metadata = DFParquetMetadata::new(&*store, &object).with_file_metadata_cache(Some(cache));
    let metadata = metadata.fetch_metadata().await?;
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

/// A path goes through a URL, not as text: brackets and stars in it are letters, not patterns.
fn file_url(path: &Path) -> Result<Url> {
    let path = std::path::absolute(path).map_err(Error::io(path, "find"))?;
    // The engine knows no `..`. The file keeps its own name, though it be a link.
    let path = match (path.parent().map(Path::canonicalize), path.file_name()) {
        (Some(Ok(folder)), Some(name)) => folder.join(name),
        _ => path,
    };
    Url::from_file_path(&path).map_err(|()| Error::Unsupported {
        what: format!("{}: this path as a URL", path.display()),
        hint: "rename the file or its folder".to_owned(),
    })
}

fn format(format: Format, first: Option<&Location>) -> Result<Arc<dyn FileFormat>> {
    Ok(match format {
        Format::Parquet => Arc::new(ParquetFormat::default().with_force_view_types(false)),
        Format::Arrow => Arc::new(ArrowFormat),
        _ => {
            let one_array = match first.map(|part| &part.place) {
                Some(Place::File(path)) => starts_with_bracket(path)?,
                _ => false,
            };
            Arc::new(JsonFormat::default().with_newline_delimited(!one_array))
        }
    })
}

/// Whether a JSON file is one array of objects rather than an object a line.
fn starts_with_bracket(path: &Path) -> Result<bool> {
    let mut file = BufReader::new(File::open(path).map_err(Error::io(path, "open"))?);
    loop {
        let buffer = file.fill_buf().map_err(Error::io(path, "read"))?;
        match buffer.iter().position(|byte| !byte.is_ascii_whitespace()) {
            Some(at) => return Ok(buffer[at] == b'['),
            None if buffer.is_empty() => return Ok(false),
            None => {
                let passed = buffer.len();
                file.consume(passed);
            }
        }
    }
}
