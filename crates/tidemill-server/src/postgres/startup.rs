//! The login.

use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;
use futures::{Sink, SinkExt as _};
use pgwire::api::auth::{StartupHandler, protocol_negotiation, save_startup_parameters_to_metadata};
use pgwire::api::{ClientInfo, METADATA_USER, PgWireConnectionState};
use pgwire::error::{PgWireError, PgWireResult};
use pgwire::messages::response::{ReadyForQuery, TransactionStatus};
use pgwire::messages::startup::{Authentication, BackendKeyData, ParameterStatus, SecretKey};
use pgwire::messages::{PgWireBackendMessage, PgWireFrontendMessage, ProtocolVersion};

use super::client::Client;
use super::door::Door;
use super::failure::fatal;
use super::settings::Settings;
use crate::users::{Exchange, Rights, random};

/// The only authentication mechanism.
const MECHANISM: &str = "SCRAM-SHA-256";

/// The state of a login.
#[derive(Debug, Default)]
pub(crate) enum Login {
    /// The client's first SCRAM message is expected.
    #[default]
    Begun,
    /// The client's proof of the password is expected.
    Asked(Box<Exchange>),
}

#[async_trait]
impl StartupHandler for Door {
    async fn on_startup<C>(&self, client: &mut C, message: PgWireFrontendMessage) -> PgWireResult<()>
    where
        C: ClientInfo + Sink<PgWireBackendMessage> + Unpin + Send + Sync,
        C::Error: Debug,
        PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
    {
        match message {
            PgWireFrontendMessage::Startup(startup) => {
                protocol_negotiation(client, &startup).await?;
                save_startup_parameters_to_metadata(client, &startup);
                if self.shared.users.is_none() {
                    return self.let_in(client, Rights::of_everybody()).await;
                }
                if let Some(wait) = self.shared.throttle.wait(self.peer.ip()) {
                    let seconds = wait.as_secs_f64();
                    return Err(fatal(
                        "28000",
                        format!("too many wrong passwords; try again in {seconds:.1} s"),
                    ));
                }
                client.set_state(PgWireConnectionState::AuthenticationInProgress);
                let mechanisms = Authentication::SASL(vec![MECHANISM.to_owned()]);
                client.send(PgWireBackendMessage::Authentication(mechanisms)).await?;
                Ok(())
            }
            PgWireFrontendMessage::PasswordMessageFamily(message) => {
                let login = std::mem::take(&mut *self.login.lock().await);
                let name = client.metadata().get(METADATA_USER).cloned().unwrap_or_default();
                let wrong = || fatal("28P01", format!("password authentication failed for user {name:?}"));
                match login {
                    Login::Begun => {
                        let first = message.into_sasl_initial_response()?;
                        if first.auth_method != MECHANISM {
                            return Err(fatal(
                                "28000",
                                format!("logins are by {MECHANISM}, not {}", first.auth_method),
                            ));
                        }
                        let data = first.data.unwrap_or_default();
                        let begun = Exchange::begin(self.shared.verifier(&name), &data);
                        let (exchange, answer) =
                            begun.ok_or_else(|| fatal("08P01", format!("the message is none of {MECHANISM}")))?;
                        *self.login.lock().await = Login::Asked(Box::new(exchange));
                        let answer = Authentication::SASLContinue(answer.into());
                        client.send(PgWireBackendMessage::Authentication(answer)).await?;
                        Ok(())
                    }
                    Login::Asked(exchange) => {
                        let last = message.into_sasl_response()?;
                        let address = self.peer.ip();
                        let known = self.shared.users.as_ref().and_then(|users| users.find(&name));
                        let (Some(answer), Some(user)) = (exchange.finish(&last.data), known) else {
                            self.shared.throttle.wrong(address);
                            tracing::warn!(user = %tidemill_trust::printable(&name), %address, "wrong password");
                            return Err(wrong());
                        };
                        self.shared.throttle.right(address);
                        let answer = Authentication::SASLFinal(answer.into());
                        client.feed(PgWireBackendMessage::Authentication(answer)).await?;
                        self.let_in(client, user.rights.clone()).await
                    }
                }
            }
            _ => Err(fatal("08P01", "expected a login")),
        }
    }
}

impl Door {
    async fn let_in<C>(&self, client: &mut C, rights: Rights) -> PgWireResult<()>
    where
        C: ClientInfo + Sink<PgWireBackendMessage> + Unpin + Send + Sync,
        C::Error: Debug,
        PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
    {
        let user = client.metadata().get(METADATA_USER).cloned().unwrap_or_default();
        let settings = Settings::of_startup(client.metadata())?;
        let key = match client.protocol_version() {
            ProtocolVersion::PROTOCOL3_0 => SecretKey::I32(i32::from_be_bytes(random())),
            _ => SecretKey::Bytes(random::<32>().to_vec().into()),
        };
        let number = self.shared.running.add(key.clone(), self.canceller.clone());
        client.set_pid_and_secret_key(number, key.clone());
        self.number.store(number, std::sync::atomic::Ordering::Relaxed);
        client
            .feed(PgWireBackendMessage::Authentication(Authentication::Ok))
            .await?;
        for (name, value) in settings.reported(&user) {
            let status = ParameterStatus::new(name.to_owned(), value);
            client.feed(PgWireBackendMessage::ParameterStatus(status)).await?;
        }
        let opened = Client::new(&self.shared, user, rights, settings, self.canceller.clone());
        // The state of the connection excludes a second startup message.
        let _ = self.client.set(Arc::new(opened));
        let key = BackendKeyData::new(number, key);
        client.feed(PgWireBackendMessage::BackendKeyData(key)).await?;
        let ready = ReadyForQuery::new(TransactionStatus::Idle);
        client.send(PgWireBackendMessage::ReadyForQuery(ready)).await?;
        client.set_state(PgWireConnectionState::ReadyForQuery);
        Ok(())
    }
}
