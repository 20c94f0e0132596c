//! Passwords are stored and checked as in PostgreSQL: by SCRAM-SHA-256 ([RFC 5802], [RFC 7677]), in the format of its table `pg_authid`,
//! whose verifiers can be copied. A verifier is not enough to log in.
//!
//! [RFC 5802]: https://www.rfc-editor.org/rfc/rfc5802
//! [RFC 7677]: https://www.rfc-editor.org/rfc/rfc7677

use std::borrow::Cow;
use std::fmt;
use std::num::NonZeroU32;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::{digest, hmac, pbkdf2, rand};
use subtle::ConstantTimeEq as _;

/// The verifier of a password: `SCRAM-SHA-256$ITERATIONS:SALT$STORED_KEY:SERVER_KEY`.
#[derive(Clone, PartialEq, Eq)]
pub struct Verifier {
    iterations: NonZeroU32,
    salt: Vec<u8>,
    stored_key: [u8; KEY],
    server_key: [u8; KEY],
}

impl Verifier {
    /// Creates the verifier of a password, with a random salt.
    #[must_use]
    pub fn of_password(password: &str) -> Self {
        Self::with_salt(password, random::<SALT>().to_vec(), ITERATIONS)
    }

    fn with_salt(password: &str, salt: Vec<u8>, iterations: NonZeroU32) -> Self {
        let salted = salted(password, &salt, iterations);
        let client_key = keyed(&salted, b"Client Key");
        Self {
            iterations,
            salt,
            stored_key: hashed(&client_key),
            server_key: keyed(&salted, b"Server Key"),
        }
    }

    /// Parses a verifier.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let parts = || {
            let rest = text.strip_prefix("SCRAM-SHA-256$")?;
            let (salting, keys) = rest.split_once('$')?;
            let (iterations, salt) = salting.split_once(':')?;
            let (stored_key, server_key) = keys.split_once(':')?;
            let key = |text| STANDARD.decode(text).ok()?.try_into().ok();
            let iterations = iterations
                .parse()
                .ok()
                .filter(|count: &NonZeroU32| count.get() <= MOST_ITERATIONS)?;
            Some(Self {
                iterations,
                salt: STANDARD.decode(salt).ok()?,
                stored_key: key(stored_key)?,
                server_key: key(server_key)?,
            })
        };
        parts().ok_or_else(|| {
            "expected a verifier such as SCRAM-SHA-256$4096:SALT$STORED_KEY:SERVER_KEY, as `tidemill user add` and PostgreSQL write it"
                .to_owned()
        })
    }

    /// Whether this is the password. Takes some milliseconds.
    pub(crate) fn is_of(&self, password: &str) -> bool {
        let tried = Self::with_salt(password, self.salt.clone(), self.iterations);
        is_equal(&tried.stored_key, &self.stored_key)
    }

    /// A verifier that no password matches. It is always the same for a name, so that a login does not reveal which names exist.
    pub(crate) fn of_nobody(name: &str, secret: &[u8]) -> Self {
        let salt = keyed(secret, name.as_bytes());
        Self {
            iterations: ITERATIONS,
            salt: salt.get(..SALT).unwrap_or(&salt).to_vec(),
            stored_key: random(),
            server_key: random(),
        }
    }
}

impl fmt::Display for Verifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [salt, stored, server] =
            [&self.salt[..], &self.stored_key, &self.server_key].map(|bytes| STANDARD.encode(bytes));
        write!(f, "SCRAM-SHA-256${}:{salt}${stored}:{server}", self.iterations)
    }
}

impl fmt::Debug for Verifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Verifier(…)")
    }
}

/// The server's side of a login, between its first message and the client's last.
#[derive(Debug)]
pub(crate) struct Exchange {
    verifier: Verifier,
    /// The required start of the client's last message: the channel binding and both nonces.
    begins: String,
    /// The part of the signed message that is known so far.
    signed: String,
}

impl Exchange {
    /// Processes the client's first message, and returns the server's.
    pub(crate) fn begin(verifier: Verifier, client_first: &[u8]) -> Option<(Self, String)> {
        let text = std::str::from_utf8(client_first).ok()?;
        // "n" and "y" mean no channel binding; the mechanism with channel binding is not offered.
        let bare_at = ["n,,", "y,,"]
            .iter()
            .find(|head| text.starts_with(**head))
            .map(|head| head.len())?;
        let (head, bare) = text.split_at_checked(bare_at)?;
        // The name is ignored; the startup message had it.
        let mut attributes = bare.split(',');
        let nonce = attributes
            .nth(1)?
            .strip_prefix("r=")
            .filter(|nonce| !nonce.is_empty())?;
        let nonce = format!("{nonce}{}", STANDARD.encode(random::<NONCE>()));
        let salt = STANDARD.encode(&verifier.salt);
        let server_first = format!("r={nonce},s={salt},i={}", verifier.iterations);
        let exchange = Self {
            verifier,
            begins: format!("c={},r={nonce}", STANDARD.encode(head)),
            signed: format!("{bare},{server_first}"),
        };
        Some((exchange, server_first))
    }

    /// Processes the client's last message, and returns the server's; `None` for a wrong password.
    pub(crate) fn finish(&self, client_final: &[u8]) -> Option<String> {
        let text = std::str::from_utf8(client_final).ok()?;
        let (without_proof, proof) = text.rsplit_once(",p=")?;
        if without_proof != self.begins {
            return None;
        }
        let proof: [u8; KEY] = STANDARD.decode(proof).ok()?.try_into().ok()?;
        let signed = format!("{},{without_proof}", self.signed);
        let signature = keyed(&self.verifier.stored_key, signed.as_bytes());
        let mut client_key = [0; KEY];
        for (place, (proof, signature)) in client_key.iter_mut().zip(proof.iter().zip(signature)) {
            *place = proof ^ signature;
        }
        is_equal(&hashed(&client_key), &self.verifier.stored_key).then(|| {
            let signature = keyed(&self.verifier.server_key, signed.as_bytes());
            format!("v={}", STANDARD.encode(signature))
        })
    }
}

fn salted(password: &str, salt: &[u8], iterations: NonZeroU32) -> [u8; KEY] {
    // As in PostgreSQL: a password that SASLprep rejects is used unchanged.
    let prepared = stringprep::saslprep(password).unwrap_or(Cow::Borrowed(password));
    let mut salted = [0; KEY];
    pbkdf2::derive(
        pbkdf2::PBKDF2_HMAC_SHA256,
        iterations,
        salt,
        prepared.as_bytes(),
        &mut salted,
    );
    salted
}

pub(crate) fn keyed(key: &[u8], message: &[u8]) -> [u8; KEY] {
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), message);
    tag.as_ref().try_into().unwrap_or([0; KEY])
}

fn hashed(bytes: &[u8]) -> [u8; KEY] {
    digest::digest(&digest::SHA256, bytes)
        .as_ref()
        .try_into()
        .unwrap_or([0; KEY])
}

fn is_equal(one: &[u8], other: &[u8]) -> bool {
    one.ct_eq(other).into()
}

/// Random bytes for secrets.
///
/// # Panics
///
/// If the system has no source of randomness.
#[expect(clippy::expect_used, reason = "going on with known bytes would let everybody in")]
pub(crate) fn random<const N: usize>() -> [u8; N]
where
    [u8; N]: rand::RandomlyConstructable,
{
    let random = rand::generate(&rand::SystemRandom::new()).expect("the system's source of randomness");
    random.expose()
}

/// The size of a key, which is that of the hash.
const KEY: usize = 32;
const SALT: usize = 16;
const NONCE: usize = 16;
/// PostgreSQL's default.
const ITERATIONS: NonZeroU32 = NonZeroU32::new(4096).unwrap();
/// A login with more would take seconds.
const MOST_ITERATIONS: u32 = 1_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exchange_is_that_of_the_rfc() {
        // RFC 7677, section 3: user "user", password "pencil".
        let salt = STANDARD.decode("W22ZaJ0SNY7soEsUEjb6gQ==").expect("base64");
        let verifier = Verifier::with_salt("pencil", salt, ITERATIONS);
        let nonce = "rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0";
        let exchange = Exchange {
            verifier,
            begins: format!("c=biws,r={nonce}"),
            signed: format!("n=user,r=rOprNGfwEbeRWgbNEkqO,r={nonce},s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"),
        };
        let proof = "dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=";
        let answer = exchange.finish(format!("c=biws,r={nonce},p={proof}").as_bytes());
        assert_eq!(
            answer.as_deref(),
            Some("v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=")
        );
        let wrong = proof.replace("dHz", "eHz");
        for last in [
            format!("c=biws,r={nonce},p={wrong}"),
            format!("c=eSws,r={nonce},p={proof}"),
            format!("c=biws,r={nonce}x,p={proof}"),
            format!("c=biws,r={nonce}"),
            String::new(),
        ] {
            assert_eq!(exchange.finish(last.as_bytes()), None, "{last}");
        }
    }

    #[test]
    fn a_verifier_is_read_back_and_knows_its_password() {
        let verifier = Verifier::of_password("pencil");
        assert_eq!(Verifier::parse(&verifier.to_string()), Ok(verifier.clone()));
        assert!(verifier.is_of("pencil") && !verifier.is_of("pen"));
        assert!(!Verifier::of_nobody("x", b"secret").is_of(""));
        assert!(!format!("{verifier:?}").contains('='));
        for bad in [
            "",
            "SCRAM-SHA-256$0:YQ==$YQ==:YQ==",
            "SCRAM-SHA-256$4096:YQ==$YQ==:YQ==",
            "md5abc",
        ] {
            assert!(Verifier::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn other_first_messages_are_refused() {
        let verifier = || Verifier::of_password("x");
        for first in ["n,,n=,r=abc", "y,,n=ann,r=abc"] {
            let (_, answer) = Exchange::begin(verifier(), first.as_bytes()).expect(first);
            assert!(answer.starts_with("r=abc"), "{answer}");
        }
        for first in [
            "",
            "n,,n=,r=",
            "p=tls-unique,,n=,r=abc",
            "n,a=b,n=,r=abc",
            "n,,r=abc",
            "\u{e4}",
        ] {
            assert!(Exchange::begin(verifier(), first.as_bytes()).is_none(), "{first}");
        }
    }
}
