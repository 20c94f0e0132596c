//! The store of a URL, with the settings of the environment.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use object_store_remote::aws::AmazonS3Builder;
use object_store_remote::azure::MicrosoftAzureBuilder;
use object_store_remote::gcp::GoogleCloudStorageBuilder;
use object_store_remote::http::HttpBuilder;
use object_store_remote::path::Path as ObjectPath;
use object_store_remote::{
    ClientOptions, Error, HeaderMap, HeaderValue, ObjectStore, ObjectStoreScheme, Result, RetryConfig,
};
use percent_encoding::percent_decode_str;
use url::{Position, Url};

use super::budget::Budgeted;
use super::upload::Writable;

/// Builds a store with the settings of the environment.
macro_rules! build {
    ($url:expr, $builder:expr) => {{
        let builder = settings($url)
            .into_iter()
            .fold($builder, |builder, (key, value)| match key.parse() {
                Ok(key) => builder.with_config(key, value),
                Err(_) => builder,
            });
        Arc::new(
            builder
                .with_http_connector(Budgeted::default())
                .with_retry(retries())
                .build()?,
        )
    }};
}

/// A request that is not answered within 30 seconds (the default of `ClientOptions`) is not retried: with a silent server, that would take
/// minutes.
fn retries() -> RetryConfig {
    RetryConfig {
        retry_timeout: Duration::from_secs(30),
        ..RetryConfig::default()
    }
}

/// The store of a URL and the object's path in it.
pub(super) fn open(url: &Url) -> Result<(Arc<dyn ObjectStore>, ObjectPath)> {
    let (scheme, path) = ObjectStoreScheme::parse(url)?;
    let store = match scheme {
        ObjectStoreScheme::Http => {
            let (server, options) = http_client(url)?;
            build!(url, HttpBuilder::new().with_url(server).with_client_options(options))
        }
        scheme => return Ok((service(&scheme, url)?, path)),
    };
    Ok((store, path))
}

/// The store of a URL for writing, and the object's path in it.
///
/// # Errors
///
/// [`Error::NotSupported`] for a web server.
pub(super) fn open_to_write(url: &Url) -> Result<(Arc<dyn Writable>, ObjectPath)> {
    let (scheme, path) = ObjectStoreScheme::parse(url)?;
    Ok((service(&scheme, url)?, path))
}

/// Whether a URL names an object of a service, not of a web server.
pub(super) fn is_of_a_service(url: &Url) -> bool {
    ObjectStoreScheme::parse(url).is_ok_and(|(scheme, _)| scheme != ObjectStoreScheme::Http)
}

fn service(scheme: &ObjectStoreScheme, url: &Url) -> Result<Arc<dyn Writable>> {
    Ok(match scheme {
        ObjectStoreScheme::AmazonS3 => build!(url, AmazonS3Builder::new().with_url(url.as_str())),
        ObjectStoreScheme::GoogleCloudStorage => build!(url, GoogleCloudStorageBuilder::new().with_url(url.as_str())),
        ObjectStoreScheme::MicrosoftAzure => build!(url, MicrosoftAzureBuilder::new().with_url(url.as_str())),
        other => {
            return Err(Error::NotSupported {
                source: format!("a store of the kind {other:?}").into(),
            });
        }
    })
}

/// The stores' settings in the environment.
fn settings(url: &Url) -> Vec<(String, String)> {
    // The first provider is chosen for the process; the others are equivalent.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut settings: Vec<(String, String)> = std::env::vars()
        .filter(|(name, _)| SETTINGS.iter().any(|prefix| name.starts_with(prefix)))
        .map(|(name, value)| (name.to_ascii_lowercase(), value))
        .collect();
    // An endpoint given as http:// is intended.
    let is_plain = |(name, value): &(String, String)| name.contains("endpoint") && value.starts_with("http://");
    if url.scheme() == "http" || settings.iter().any(is_plain) {
        settings.push(("allow_http".to_owned(), "true".to_owned()));
    }
    settings
}

/// An HTTP server. The user and password of its URL are sent in a header (RFC 7617), so that errors do not contain them.
fn http_client(url: &Url) -> Result<(String, ClientOptions)> {
    let mut server = url.clone();
    let refused = |()| Error::NotSupported {
        source: "a URL with a user, but without a server".into(),
    };
    server.set_password(None).map_err(refused)?;
    server.set_username("").map_err(refused)?;
    let mut options = ClientOptions::new();
    if !url.username().is_empty() || url.password().is_some() {
        let mut who: Vec<u8> = percent_decode_str(url.username()).collect();
        who.push(b':');
        who.extend(percent_decode_str(url.password().unwrap_or_default()));
        let value = format!("Basic {}", STANDARD.encode(who));
        let mut value = HeaderValue::from_str(&value).map_err(|error| Error::NotSupported { source: error.into() })?;
        value.set_sensitive(true);
        let mut headers = HeaderMap::new();
        headers.insert("authorization", value);
        options = options.with_default_headers(headers);
    }
    Ok((server[..Position::BeforePath].to_owned(), options))
}

/// Prefixes of the settings in the environment.
const SETTINGS: [&str; 3] = ["AWS_", "GOOGLE_", "AZURE_"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_asks_a_web_server_stands_in_no_url() {
        let url = Url::parse("https://ann:ge%20heim@h:8443/a/b.csv?x=1").expect("a URL");
        let (server, _) = http_client(&url).expect("a server");
        assert_eq!(server, "https://h:8443");
    }
}
