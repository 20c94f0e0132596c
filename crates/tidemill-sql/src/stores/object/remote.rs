//! The store that a URL names, with the settings of the environment.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use object_store_remote::aws::AmazonS3Builder;
use object_store_remote::azure::MicrosoftAzureBuilder;
use object_store_remote::gcp::GoogleCloudStorageBuilder;
use object_store_remote::http::HttpBuilder;
use object_store_remote::path::Path as ObjectPath;
use object_store_remote::{ClientOptions, Error, HeaderMap, HeaderValue, ObjectStore, ObjectStoreScheme, Result};
use percent_encoding::percent_decode_str;
use url::{Position, Url};

use super::budget::Budgeted;

/// The store of a URL and the object's path in it.
pub(super) fn open(url: &Url) -> Result<(Arc<dyn ObjectStore>, ObjectPath)> {
    // Whoever comes first chooses for the process; the others speak TLS by the same functions.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut settings: Vec<(String, String)> = std::env::vars()
        .filter(|(name, _)| SETTINGS.iter().any(|prefix| name.starts_with(prefix)))
        .map(|(name, value)| (name.to_ascii_lowercase(), value))
        .collect();
    if url.scheme() == "http" {
        settings.push(("allow_http".to_owned(), "true".to_owned()));
    }
    let (scheme, path) = ObjectStoreScheme::parse(url)?;
    macro_rules! build {
        ($builder:expr) => {{
            let builder = settings
                .into_iter()
                .fold($builder, |builder, (key, value)| match key.parse() {
                    Ok(key) => builder.with_config(key, value),
                    Err(_) => builder,
                });
            Arc::new(builder.with_http_connector(Budgeted::default()).build()?) as Arc<dyn ObjectStore>
        }};
    }
    let store = match scheme {
        ObjectStoreScheme::AmazonS3 => build!(AmazonS3Builder::new().with_url(url.as_str())),
        ObjectStoreScheme::GoogleCloudStorage => build!(GoogleCloudStorageBuilder::new().with_url(url.as_str())),
        ObjectStoreScheme::MicrosoftAzure => build!(MicrosoftAzureBuilder::new().with_url(url.as_str())),
        ObjectStoreScheme::Http => {
            let (server, options) = http_client(url)?;
            build!(HttpBuilder::new().with_url(server).with_client_options(options))
        }
        other => {
            return Err(Error::NotSupported {
                source: format!("a store of the kind {other:?}").into(),
            });
        }
    };
    Ok((store, path))
}

/// A server without the user and password of its URL, which go into a header instead (RFC 7617): no error shows them there.
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

/// Beginnings of the names of settings in the environment.
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
