//! The web page, which is built from `console/` and embedded in the program.

use axum::http::header;
use axum::response::{IntoResponse, Response};

/// A file of the page.
#[derive(Clone, Copy)]
pub(super) struct File {
    kind: &'static str,
    bytes: &'static [u8],
}

pub(super) const INDEX: File = File {
    kind: "text/html; charset=utf-8",
    bytes: include_bytes!("../../console/dist/index.html"),
};
pub(super) const SCRIPT: File = File {
    kind: "text/javascript; charset=utf-8",
    bytes: include_bytes!("../../console/dist/console.js"),
};
pub(super) const STYLE: File = File {
    kind: "text/css; charset=utf-8",
    bytes: include_bytes!("../../console/dist/console.css"),
};
/// The description of the API, for programs.
pub(super) const OPENAPI: File = File {
    kind: "application/json",
    bytes: include_bytes!("openapi.json"),
};

impl IntoResponse for File {
    fn into_response(self) -> Response {
        ([(header::CONTENT_TYPE, self.kind)], self.bytes).into_response()
    }
}
