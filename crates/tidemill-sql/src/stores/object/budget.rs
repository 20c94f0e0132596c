//! An HTTP client with budgets, which limit how much a network store may send.
//!
//! Every response of every store passes here. A range of an object has the requested length; a list, an error or any other response that is
//! read into memory as a whole has at most [`LARGEST_ANSWER`] bytes; and a list has at most [`MOST_PAGES`] pages.

use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll, ready};

use async_trait::async_trait;
use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use object_store_remote::ClientOptions;
use object_store_remote::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpResponseBody, HttpService,
    ReqwestConnector,
};

/// Creates HTTP clients whose responses have budgets.
#[derive(Debug, Default)]
pub(super) struct Budgeted {
    connector: ReqwestConnector,
}

impl HttpConnector for Budgeted {
    fn connect(&self, options: &ClientOptions) -> object_store_remote::Result<HttpClient> {
        let client = self.connector.connect(options)?;
        Ok(HttpClient::new(BudgetedClient {
            client,
            pages: AtomicU32::new(0),
        }))
    }
}

#[derive(Debug)]
struct BudgetedClient {
    client: HttpClient,
    /// How many pages of lists were requested.
    pages: AtomicU32,
}

#[async_trait]
impl HttpService for BudgetedClient {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let is_get = request.method() == "GET";
        let is_list = is_list(request.uri().query().unwrap_or_default());
        let range = request.headers().get("range");
        let asked = range.and_then(|range| length_of_range(range.to_str().ok()?));
        if is_list && self.pages.fetch_add(1, Ordering::Relaxed) >= MOST_PAGES {
            return Err(exceeded(format!("a list of more than {MOST_PAGES} pages")));
        }
        let (parts, body) = self.client.execute(request).await?.into_parts();
        let limit = match (parts.status.is_success(), is_get && !is_list, asked) {
            (true, true, Some(asked)) => asked,
            // Streamed to the reader of the whole object, which counts the bytes.
            (true, true, None) => u64::MAX,
            _ => LARGEST_ANSWER,
        };
        let body = HttpResponseBody::new(BudgetedBody {
            body,
            limit,
            left: limit,
        });
        Ok(HttpResponse::from_parts(parts, body))
    }
}

/// The body of a response, which ends with an error if it exceeds its budget.
struct BudgetedBody {
    body: HttpResponseBody,
    limit: u64,
    left: u64,
}

impl Body for BudgetedBody {
    type Data = Bytes;
    type Error = HttpError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        let data = frame.as_ref().and_then(|frame| frame.as_ref().ok()?.data_ref());
        let length = data.map_or(0, |data| data.len() as u64);
        match self.left.checked_sub(length) {
            Some(left) => self.left = left,
            None => return Poll::Ready(Some(Err(exceeded(format!("more than {} bytes", self.limit))))),
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    /// The promised size determines an allocation: it is limited to the budget.
    fn size_hint(&self) -> SizeHint {
        let hint = self.body.size_hint();
        let mut bounded = SizeHint::new();
        bounded.set_lower(hint.lower().min(self.left).min(LARGEST_ANSWER));
        if let Some(upper) = hint.upper() {
            bounded.set_upper(upper.max(bounded.lower()));
        }
        bounded
    }
}

/// Whether a request is for a page of a list: the parameter of S3 and Google, or that of Azure.
fn is_list(query: &str) -> bool {
    query
        .split('&')
        .any(|parameter| parameter.starts_with("list-type=") || parameter == "comp=list")
}

/// The length of a range header: 100 for `bytes=0-99`, 100 for `bytes=-100`; `None` for one without an end.
fn length_of_range(header: &str) -> Option<u64> {
    let (first, last) = header.strip_prefix("bytes=")?.split_once('-')?;
    let last: u64 = last.parse().ok()?;
    match first {
        "" => Some(last),
        first => last.checked_sub(first.parse().ok()?)?.checked_add(1),
    }
}

fn exceeded(what: String) -> HttpError {
    HttpError::new(HttpErrorKind::Decode, Exceeded(what))
}

/// A response exceeds its budget.
#[derive(Debug, thiserror::Error)]
#[error("the store sends {0}")]
struct Exceeded(String);

/// The largest response that is read into memory as a whole. A page of a list has at most 1,000 names of 1 KiB (S3) or 5,000 (Azure).
const LARGEST_ANSWER: u64 = 16 << 20;
/// Ten million objects.
const MOST_PAGES: u32 = 10_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_ranges() {
        for (header, length) in [
            ("bytes=0-99", Some(100)),
            ("bytes=5-5", Some(1)),
            ("bytes=-100", Some(100)),
            ("bytes=7-", None),
            ("bytes=7-3", None),
            ("bytes=0-18446744073709551615", None),
            ("lines=0-1", None),
        ] {
            assert_eq!(length_of_range(header), length, "{header}");
        }
    }

    #[test]
    fn lists_are_known_by_their_parameters() {
        assert!(is_list("list-type=2&prefix=a"));
        assert!(is_list("restype=container&comp=list"));
        assert!(!is_list("prefix=list-type"));
        assert!(!is_list(""));
    }
}
