//! The formats that DataFusion reads by itself: Parquet, Arrow IPC, CSV, JSON.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::sync::Arc;

use datafusion::catalog::TableProvider;
use datafusion::datasource::file_format::FileFormat;
use datafusion::datasource::file_format::arrow::ArrowFormat;
use datafusion::datasource::file_format::csv::CsvFormat;
use datafusion::datasource::file_format::json::JsonFormat;
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::listing::{ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl};
use datafusion::execution::SessionState;
use url::Url;

use crate::location::{Format, Location};
use crate::{Error, Result};

pub(super) async fn open(location: &Location, state: &SessionState) -> Result<Arc<dyn TableProvider>> {
    let path = std::path::absolute(&location.path).map_err(Error::io(&location.path, "find"))?;
    // A path goes through a URL, not as text: brackets and stars in it are letters, not patterns.
    let url = Url::from_file_path(&path).map_err(|()| Error::Unsupported {
        what: format!("{}: this path as a URL", path.display()),
        hint: "rename the file or its folder".to_owned(),
    })?;
    let extension = path
        .extension()
        .map_or_else(String::new, |extension| extension.to_string_lossy().into_owned());
    let options = ListingOptions::new(format(location)?).with_file_extension(extension);
    let config = ListingTableConfig::new(ListingTableUrl::try_new(url, None)?).with_listing_options(options);
    let config = config.infer_schema(state).await?;
    Ok(Arc::new(ListingTable::try_new(config)?))
}

fn format(location: &Location) -> Result<Arc<dyn FileFormat>> {
    Ok(match location.format {
        Format::Parquet => Arc::new(ParquetFormat::default().with_force_view_types(false)),
        Format::Arrow => Arc::new(ArrowFormat),
        Format::JsonLines => {
            Arc::new(JsonFormat::default().with_newline_delimited(!starts_with_bracket(&location.path)?))
        }
        _ => {
            let tabs = location
                .path
                .extension()
                .is_some_and(|extension| extension.eq_ignore_ascii_case("tsv"));
            Arc::new(
                CsvFormat::default()
                    .with_has_header(true)
                    .with_delimiter(if tabs { b'\t' } else { b',' }),
            )
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
