//! Checks on every request: the user, the origin, and the headers that restrict what a browser may do with the response.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{ConnectInfo, Request, State};
use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use super::{Peer, Problem};
use crate::server::Shared;
use crate::users::{Refused, Rights, credentials};

/// The user of a request.
#[derive(Clone, Debug)]
pub(super) struct Sender {
    pub(super) user: String,
    pub(super) rights: Rights,
}

/// Headers of every response that does not set them itself: nothing is loaded from other sites, and no other page may embed this one.
const HEADERS: [(HeaderName, &str); 6] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; \
         frame-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'",
    ),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::CACHE_CONTROL, "no-store"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

pub(super) async fn headers(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    for (name, value) in HEADERS {
        let of_answer = response.headers_mut().entry(name);
        of_answer.or_insert(HeaderValue::from_static(value));
    }
    response
}

/// Refuses requests that another page makes a browser send, and host names of other sites that resolve to this machine.
pub(super) async fn origin(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    let headers = request.headers();
    let host = request
        .uri()
        .host()
        .map(str::to_owned)
        .or_else(|| text(headers, header::HOST).map(str::to_owned));
    // Without users, a page of another site could read tables through a name that resolves to this machine (DNS rebinding).
    let is_known = shared.users.is_some() || host.as_deref().is_some_and(is_of_this_machine);
    if !is_known {
        return Problem::new(
            StatusCode::FORBIDDEN,
            "42501",
            "the header Host names no address of this machine",
        )
        .into_response();
    }
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        let is_foreign = |origin: &str| origin.split_once("://").map(|(_, origin)| origin) != host.as_deref();
        let site = text(headers, HeaderName::from_static("sec-fetch-site"));
        if text(headers, header::ORIGIN).is_some_and(is_foreign) || matches!(site, Some("cross-site" | "same-site")) {
            return Problem::new(StatusCode::FORBIDDEN, "42501", "another page has sent this request").into_response();
        }
    }
    next.run(request).await
}

fn is_of_this_machine(host: &str) -> bool {
    let bare = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    bare.eq_ignore_ascii_case("localhost") || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

fn text(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok()
}

/// Authenticates users by their passwords; without users, every local client is accepted.
pub(super) async fn login(
    State(shared): State<Arc<Shared>>,
    ConnectInfo(Peer(peer)): ConnectInfo<Peer>,
    mut request: Request,
    next: Next,
) -> Response {
    let known = match &shared.users {
        None => Ok(Some((String::new(), Rights::of_everybody()))),
        Some(_) => {
            let given = text(request.headers(), header::AUTHORIZATION).and_then(credentials);
            shared.login(peer.ip(), given).await
        }
    };
    let sender = match known {
        Ok(known) => known.map(|(user, rights)| Sender { user, rights }),
        Err(refused @ Refused::TooMany(_)) => {
            return Problem::new(StatusCode::TOO_MANY_REQUESTS, "28000", refused.to_string()).into_response();
        }
    };
    let Some(sender) = sender else {
        let mut refused =
            Problem::new(StatusCode::UNAUTHORIZED, "28P01", "a name and a password are needed").into_response();
        let ask = HeaderValue::from_static("Basic realm=\"tidemill\", charset=\"UTF-8\"");
        refused.headers_mut().insert(header::WWW_AUTHENTICATE, ask);
        return refused;
    };
    request.extensions_mut().insert(sender);
    next.run(request).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_this_machine_are_known() {
        for host in ["localhost:8080", "LOCALHOST", "127.0.0.1:1", "127.0.0.2", "[::1]:80"] {
            assert!(is_of_this_machine(host), "{host}");
        }
        for host in [
            "evil.example",
            "localhost.evil.example",
            "10.0.0.1",
            "127.0.0.1.evil.example",
            "",
        ] {
            assert!(!is_of_this_machine(host), "{host}");
        }
    }
}
