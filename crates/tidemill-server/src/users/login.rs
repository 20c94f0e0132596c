//! Password logins of HTTP and Flight SQL. PostgreSQL's protocol has its own exchange.

use std::net::IpAddr;
use std::time::Duration;

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::{Rights, keyed};
use crate::server::Shared;

/// Base64 with or without padding: Arrow's clients for Go omit it.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Why a login is refused before the password is checked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Refused {
    /// Too many passwords from this address were wrong.
    #[error("too many wrong passwords; try again in {:.1} s", .0.as_secs_f64())]
    TooMany(Duration),
}

/// Name and password of a header `Authorization` ([RFC 7617](https://www.rfc-editor.org/rfc/rfc7617)).
pub(crate) fn credentials(header: &str) -> Option<(String, String)> {
    let (scheme, encoded) = header.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let decoded = String::from_utf8(BASE64.decode(encoded.trim()).ok()?).ok()?;
    let (name, password) = decoded.split_once(':')?;
    Some((name.to_owned(), password.to_owned()))
}

impl Shared {
    /// The user of a name and a password, with the user's rights; `None` if they are wrong or missing.
    ///
    /// # Errors
    ///
    /// [`Refused`] while the address has to wait.
    pub(crate) async fn login(
        &self,
        address: IpAddr,
        given: Option<(String, String)>,
    ) -> Result<Option<(String, Rights)>, Refused> {
        if let Some(wait) = self.throttle.wait(address) {
            return Err(Refused::TooMany(wait));
        }
        let (Some(users), Some((name, password))) = (&self.users, given) else {
            return Ok(None);
        };
        let login = keyed(&self.secret, format!("{name}\0{password}").as_bytes());
        let is_right = self.logins.has(&login) || {
            let verifier = self.verifier(&name);
            // It takes some milliseconds, by design.
            let checked = tokio::task::spawn_blocking(move || verifier.is_of(&password)).await;
            checked.unwrap_or(false)
        };
        match users.find(&name).filter(|_| is_right) {
            Some(user) => {
                self.logins.add(login);
                self.throttle.right(address);
                Ok(Some((user.name.clone(), user.rights.clone())))
            }
            None => {
                self.throttle.wrong(address);
                tracing::warn!(user = %tidemill_trust::printable(&name), %address, "wrong password");
                Ok(None)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_passwords_are_read_with_and_without_padding() {
        let given = |text: &str| credentials(text).map(|(name, password)| format!("{name} {password}"));
        for header in ["Basic YW5uOng=", "basic YW5uOng", "BASIC  YW5uOng= "] {
            assert_eq!(given(header).as_deref(), Some("ann x"), "{header}");
        }
        for header in ["", "Basic", "Basic YW5u", "Basic %", "Bearer YW5uOng="] {
            assert_eq!(given(header), None, "{header}");
        }
    }
}
