//! Cached connections to workers, with the session's token; a connection that does not answer is dropped.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use datafusion::common::{DataFusionError, Result};
use datafusion_distributed::grpc::{BoxCloneSyncChannel, create_worker_client};
use datafusion_distributed::{ChannelResolver, WorkerChannel};
use tonic::codegen::http::HeaderValue;
use tonic::codegen::http::header::AUTHORIZATION;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint, Identity};
use tower::ServiceExt as _;
use url::Url;

/// The timeout to connect, and to answer a ping on an idle connection.
const CONNECT_LIMIT: Duration = Duration::from_secs(5);
const PING_LIMIT: Duration = Duration::from_secs(10);

/// The connections of a session, and their settings.
#[derive(Clone, Default)]
pub(super) struct Channels {
    token: Option<String>,
    tls: ClientTlsConfig,
    open: Arc<Mutex<HashMap<Url, Channel>>>,
}

impl Channels {
    pub(super) fn with_token(self, token: String) -> Self {
        Self {
            token: Some(token),
            ..self
        }
    }

    pub(super) fn with_ca(self, pem: Vec<u8>) -> Self {
        Self {
            tls: self.tls.ca_certificate(Certificate::from_pem(pem)),
            ..self
        }
    }

    pub(super) fn with_identity(self, certificate: Vec<u8>, key: Vec<u8>) -> Self {
        Self {
            tls: self.tls.identity(Identity::from_pem(certificate, key)),
            ..self
        }
    }

    fn channel(&self, url: &Url) -> Result<Channel> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(channel) = open.get(url) {
            return Ok(channel.clone());
        }
        let failed = |error: tonic::transport::Error| DataFusionError::External(error.into());
        let mut endpoint = Endpoint::from_shared(url.to_string())
            .map_err(failed)?
            .connect_timeout(CONNECT_LIMIT)
            .http2_keep_alive_interval(CONNECT_LIMIT)
            .keep_alive_timeout(PING_LIMIT)
            .keep_alive_while_idle(true)
            .tcp_nodelay(true);
        if url.scheme() == "https" {
            choose_tls();
            let tls = self.tls.clone().with_enabled_roots();
            endpoint = endpoint.tls_config(tls).map_err(failed)?;
        }
        let channel = endpoint.connect_lazy();
        open.insert(url.clone(), channel.clone());
        Ok(channel)
    }
}

/// Chooses the TLS provider of the process, which has more than one. The first choice wins.
pub(super) fn choose_tls() {
    let _ = rustls::crypto::ring::default_provider().install_default();
}

/// Omits the token.
impl fmt::Debug for Channels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Channels").finish_non_exhaustive()
    }
}

#[async_trait::async_trait]
impl ChannelResolver for Channels {
    async fn get_worker_client_for_url(&self, url: &Url) -> Result<Box<dyn WorkerChannel>> {
        let authorization = self
            .token
            .as_ref()
            .map(|token| HeaderValue::from_str(&format!("Bearer {token}")));
        let mut authorization = authorization
            .transpose()
            .map_err(|_| DataFusionError::Configuration("a token has letters that no header can have".to_owned()))?;
        if let Some(value) = &mut authorization {
            value.set_sensitive(true);
        }
        let channel = self.channel(url)?;
        let channel = channel.map_request(move |mut request: tonic::codegen::http::Request<tonic::body::Body>| {
            if let Some(value) = &authorization {
                request.headers_mut().insert(AUTHORIZATION, value.clone());
            }
            request
        });
        Ok(create_worker_client(BoxCloneSyncChannel::new(channel)))
    }
}
