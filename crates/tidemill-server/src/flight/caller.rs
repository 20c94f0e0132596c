//! Who sends a request, and the sessions of a connection.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tidemill_sql::Session;
use tonic::transport::server::Connected;
use tonic::{Request, Status};

use crate::listener::Stream;
use crate::server::Shared;
use crate::users::{Rights, credentials, keyed, random};

/// A connection, and the session of each user who has sent requests over it.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(super) peer: SocketAddr,
    sessions: Mutex<HashMap<String, Opened>>,
}

/// A session; the type exists for its `Debug`.
struct Opened(Arc<Session>);

impl std::fmt::Debug for Opened {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Session")
    }
}

impl Connected for Stream {
    type ConnectInfo = Arc<Connection>;

    fn connect_info(&self) -> Arc<Connection> {
        Arc::new(Connection {
            peer: self.peer,
            sessions: Mutex::default(),
        })
    }
}

/// Who sends a request.
#[derive(Clone, Debug)]
pub(super) struct Caller {
    pub(super) user: String,
    pub(super) rights: Rights,
    pub(super) connection: Arc<Connection>,
}

impl Caller {
    /// # Errors
    ///
    /// `UNAUTHENTICATED` without a valid token or password.
    pub(super) async fn of<T>(request: &Request<T>, shared: &Shared) -> Result<Self, Status> {
        let connection = request.extensions().get::<Arc<Connection>>();
        let connection = Arc::clone(connection.ok_or_else(|| Status::internal("a request without a connection"))?);
        let Some(users) = &shared.users else {
            return Ok(Self {
                user: String::new(),
                rights: Rights::of_everybody(),
                connection,
            });
        };
        let header = authorization(request).unwrap_or_default();
        if let Some(token) = bearer(header) {
            let user = shared.tokens.user(&shared.secret, token);
            let user = user.and_then(|name| users.find(&name));
            let user = user.ok_or_else(|| Status::unauthenticated("the token is not known here, or is too old"))?;
            return Ok(Self {
                user: user.name.clone(),
                rights: user.rights.clone(),
                connection,
            });
        }
        Self::by_password(shared, connection, credentials(header)).await
    }

    /// As [`Caller::of`], but with a name and a password.
    pub(super) async fn by_password(
        shared: &Shared,
        connection: Arc<Connection>,
        given: Option<(String, String)>,
    ) -> Result<Self, Status> {
        let known = shared.login(connection.peer.ip(), given).await;
        match known.map_err(|refused| Status::resource_exhausted(refused.to_string()))? {
            Some((user, rights)) => Ok(Self {
                user,
                rights,
                connection,
            }),
            None => Err(Status::unauthenticated("a name and a password are needed")),
        }
    }

    /// The session of the user's requests over this connection.
    pub(super) fn session(&self, shared: &Shared) -> Arc<Session> {
        let mut sessions = self.connection.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let opened = sessions
            .entry(self.user.clone())
            .or_insert_with(|| Opened(Arc::new(shared.stores.session(&self.rights))));
        Arc::clone(&opened.0)
    }

    /// Ends that session. Statements in flight continue.
    pub(super) fn end_session(&self) {
        let mut sessions = self.connection.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.remove(&self.user);
    }
}

/// The header `authorization` of a request.
pub(super) fn authorization<T>(request: &Request<T>) -> Option<&str> {
    request.metadata().get("authorization")?.to_str().ok()
}

fn bearer(header: &str) -> Option<&str> {
    let (scheme, token) = header.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// The tokens that stand for a login, stored as keyed hashes.
#[derive(Debug, Default)]
pub(crate) struct Tokens(Mutex<HashMap<[u8; 32], Token>>);

#[derive(Debug)]
struct Token {
    user: String,
    last: Instant,
}

/// An unused token expires after this time.
const OLDEST: Duration = Duration::from_secs(12 * 3600);
/// The most valid tokens; beyond them, the one unused for longest is dropped.
const TOKENS: usize = 10_000;

impl Tokens {
    /// Creates a token for a user.
    pub(super) fn new_token(&self, secret: &[u8; 32], user: &str) -> String {
        let token = STANDARD.encode(random::<32>());
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= TOKENS {
            known.retain(|_, token| token.last.elapsed() < OLDEST);
        }
        if known.len() >= TOKENS {
            let oldest = known.iter().min_by_key(|(_, token)| token.last).map(|(key, _)| *key);
            oldest.map(|key| known.remove(&key));
        }
        let (user, last) = (user.to_owned(), Instant::now());
        known.insert(keyed(secret, token.as_bytes()), Token { user, last });
        token
    }

    /// The user of a token.
    fn user(&self, secret: &[u8; 32], token: &str) -> Option<String> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let token = known.get_mut(&keyed(secret, token.as_bytes()))?;
        if token.last.elapsed() > OLDEST {
            return None;
        }
        token.last = Instant::now();
        Some(token.user.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_known_until_there_are_too_many() {
        let (tokens, secret) = (Tokens::default(), [7; 32]);
        let first = tokens.new_token(&secret, "ann");
        assert_eq!(tokens.user(&secret, &first).as_deref(), Some("ann"));
        assert_eq!(tokens.user(&[8; 32], &first), None);
        assert_eq!(tokens.user(&secret, "x"), None);
        for _ in 0..TOKENS {
            tokens.new_token(&secret, "bob");
        }
        assert_eq!(tokens.user(&secret, &first), None, "the oldest goes first");
    }
}
