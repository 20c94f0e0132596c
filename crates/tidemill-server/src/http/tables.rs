//! `GET /tables` and `GET /tables/NAME`: the served tables.

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::Int64Type;
use axum::extract::{Extension, Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use serde_json::json;
use tidemill_sql::{Format, Session};

use super::guard::Sender;
use super::{Problem, answers, json_answer};
use crate::failure::Failure;
use crate::server::Shared;
use crate::stores::{PUBLIC, TargetKind, formats, tables_of};

pub(super) async fn list(
    State(shared): State<Arc<Shared>>,
    Extension(sender): Extension<Sender>,
) -> Result<Response, Problem> {
    let session = shared.stores.session(&sender.rights);
    let tables = tables_of(&session).await.map_err(problem)?;
    let mut schemas = Vec::new();
    for name in shared.stores.schemas(&sender.rights) {
        // Tables that are attached by a name of their own are among those of the first folder.
        let own = tables.iter().filter(|table| table.schema == name);
        let own: Vec<_> = own
            .map(|table| json!({ "name": table.name, "format": table.location.format.to_string() }))
            .collect();
        let target = shared.stores.target(&sender.rights, &name).map(TargetKind::name);
        schemas.push(json!({ "name": name, "tables": own, "target": target }));
    }
    let version = env!("CARGO_PKG_VERSION");
    Ok(json_answer(
        &json!({ "version": version, "default": PUBLIC, "formats": formats(), "schemas": schemas }),
    ))
}

pub(super) async fn one(
    State(shared): State<Arc<Shared>>,
    Extension(sender): Extension<Sender>,
    Path(name): Path<String>,
) -> Result<Response, Problem> {
    let session = shared.stores.session(&sender.rights);
    let location = session.locate(&name).await.map_err(|error| match error {
        tidemill_sql::Error::NotFound { .. } | tidemill_sql::Error::Denied { .. } => {
            Problem::new(StatusCode::NOT_FOUND, "42P01", format!("{name}: no such table"))
        }
        other => problem(other),
    })?;
    let schema = session.schema(&location).await.map_err(problem)?;
    let columns = answers::columns(&schema);
    let schemas = shared.stores.schemas(&sender.rights);
    let (of_schema, bare) = match name.split_once('.') {
        Some((first, bare)) if schemas.iter().any(|known| known.eq_ignore_ascii_case(first)) => (first, bare),
        _ => (PUBLIC, name.as_str()),
    };
    let bytes = location.bytes().ok().flatten();
    let rows = match location.format {
        // Their headers or footers contain the count.
        Format::Xbase | Format::Parquet | Format::Riegeli => count(&session, &name).await,
        _ => None,
    };
    let records = match location.format {
        // The header counts deleted records too.
        Format::Xbase => count(&shared.stores.session_with_deleted(&sender.rights), &name).await,
        _ => None,
    };
    let mut about = vec![
        format!("format: {}", location.format),
        format!("columns: {}", schema.fields().len()),
    ];
    about.extend(rows.map(|rows| format!("rows: {rows}")));
    about.extend(bytes.map(|bytes| format!("bytes: {bytes}")));
    about.extend(session.notes());
    Ok(json_answer(&json!({
        "name": bare,
        "schema": of_schema,
        "format": location.format.to_string(),
        "columns": columns,
        "rows": rows,
        "records": records,
        "bytes": bytes,
        "inspect": about.join("\n"),
    })))
}

/// The number of rows of a table; `None` if it cannot be counted.
async fn count(session: &Session, name: &str) -> Option<i64> {
    let parts = name.split('.').map(|part| format!("\"{}\"", part.replace('"', "\"\"")));
    let name = parts.collect::<Vec<_>>().join(".");
    let answer = session.query(&format!("SELECT COUNT(*) FROM {name}")).await.ok()?;
    let batches = answer.collect().await.ok()?;
    let column =
        datafusion::arrow::compute::cast(batches.first()?.columns().first()?, &arrow_schema::DataType::Int64).ok()?;
    Some(column.as_primitive::<Int64Type>().value(0))
}

fn problem(error: tidemill_sql::Error) -> Problem {
    Failure::of(&error, "").into()
}
