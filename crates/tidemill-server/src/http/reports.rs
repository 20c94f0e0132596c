//! `GET /reports` and `GET /reports/NAME`: the reports of load tests in a folder, as pages.

use std::fs::{self, Metadata};
use std::path::PathBuf;
use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::{HeaderName, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use chrono::{DateTime, SecondsFormat, Utc};
use serde_json::json;

use super::{Problem, json_answer};
use crate::server::Shared;

/// Converts a report file to one self-contained page. The error says what is wrong with the file.
pub type ReportPage = fn(&std::path::Path) -> Result<String, String>;

/// The folder of load-test reports, and how a report becomes a page.
#[derive(Clone, Debug)]
pub struct Reports {
    /// The folder, whose files named `.json` are reports.
    pub folder: PathBuf,
    /// Converts one to a page.
    pub page: ReportPage,
}

impl Reports {
    /// The reports, the newest first. Only regular files are listed, no links.
    fn list(&self) -> std::io::Result<Vec<(String, Metadata)>> {
        let mut reports = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            let is_report = entry.path().extension().is_some_and(|extension| extension == "json");
            let (Ok(name), Ok(about)) = (entry.file_name().into_string(), entry.metadata()) else {
                continue;
            };
            if is_report && about.is_file() {
                reports.push((name, about));
            }
        }
        reports.sort_by_cached_key(|(name, about)| std::cmp::Reverse((about.modified().ok(), name.clone())));
        Ok(reports)
    }
}

/// A report contains its own images and styles, and runs no script. Only the web page may embed it in a frame.
const HEADERS: [(HeaderName, &str); 3] = [
    (header::CONTENT_TYPE, "text/html; charset=utf-8"),
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri 'none'; \
         frame-ancestors 'self'; sandbox",
    ),
    (header::X_FRAME_OPTIONS, "SAMEORIGIN"),
];

pub(super) async fn list(State(shared): State<Arc<Shared>>) -> Result<Response, Problem> {
    let reports = match shared.reports.clone() {
        Some(reports) => blocking(move || reports.list().map_err(|error| unreadable(&reports, &error))).await?,
        None => Vec::new(),
    };
    let reports = reports.iter().map(|(name, about)| {
        let modified = about.modified().ok().map(DateTime::<Utc>::from);
        let modified = modified.map(|at| at.to_rfc3339_opts(SecondsFormat::Secs, true));
        json!({ "name": name, "bytes": about.len(), "modified": modified })
    });
    Ok(json_answer(&json!({ "reports": reports.collect::<Vec<_>>() })))
}

pub(super) async fn one(State(shared): State<Arc<Shared>>, Path(name): Path<String>) -> Result<Response, Problem> {
    let reports = shared.reports.clone();
    let page = blocking(move || {
        let missing = || Problem::new(StatusCode::NOT_FOUND, "42704", format!("{name}: no such report"));
        let reports = reports.ok_or_else(missing)?;
        let known = reports.list().map_err(|error| unreadable(&reports, &error))?;
        if !known.iter().any(|(known, _)| *known == name) {
            return Err(missing());
        }
        let page = (reports.page)(&reports.folder.join(&name));
        page.map_err(|what| Problem::new(StatusCode::BAD_REQUEST, "22023", what))
    });
    Ok((HEADERS, page.await?).into_response())
}

/// Runs work that reads files on a blocking thread.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T, Problem> + Send + 'static) -> Result<T, Problem> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| {
        Err(Problem::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "XX000",
            error.to_string(),
        ))
    })
}

fn unreadable(reports: &Reports, error: &std::io::Error) -> Problem {
    let what = format!("{}: cannot list the reports: {error}", reports.folder.display());
    Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "58030", what)
}
