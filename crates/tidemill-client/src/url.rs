//! URLs of servers, taken apart: `scheme://user:password@host:port/names?key=value`.
//!
//! `%2F` is a slash in a name, `%40` an at sign. No error has a password in it: where a part may be one, it is not shown.

use std::fmt;
use std::time::Duration;

use percent_encoding::percent_decode_str;

use crate::keys;

/// What the URLs of a kind of server look like.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    /// The schemes, in lower case, of which the first one is shown.
    pub schemes: &'static [&'static str],
    /// What is after the scheme, as errors show it: `host/database/table`.
    pub path: &'static str,
    /// The keys that the query may have, without aliases.
    pub keys: &'static [&'static str],
    /// The key that a name stands for.
    pub canonical: fn(&str) -> &str,
    /// The port where none is named.
    pub port: u16,
}

/// The parts of a URL, decoded.
#[derive(Clone)]
pub struct Parts {
    /// Who asks, where somebody is named.
    pub user: Option<String>,
    /// The password after the user.
    pub password: Option<String>,
    /// The host, with its port.
    pub host: Option<(String, u16)>,
    /// What is after the host.
    pub names: Vec<String>,
    /// The query: its keys as they are spelt, with their values. A key without a value is `true`.
    pub pairs: Vec<(String, String)>,
}

/// What is wrong with a URL: the part, what was expected and what was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(pub String);

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

impl Form {
    /// Takes a URL apart.
    ///
    /// # Errors
    ///
    /// [`Error`] for another scheme, for a password whose letters mean something in a URL, for several hosts, and for a query that is not
    /// made of keys.
    pub fn parse(&self, url: &str) -> Result<Parts, Error> {
        let is_known = |scheme: &str| self.schemes.iter().any(|known| scheme.eq_ignore_ascii_case(known));
        let rest = url.split_once("://").filter(|(scheme, _)| is_known(scheme));
        let (_, rest) = rest.ok_or_else(|| wrong(format!("expected {self}")))?;
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, path) = place.split_once('/').unwrap_or((place, ""));
        let mut keys = query.split('&').map(|pair| pair.split('=').next().unwrap_or_default());
        if path.contains('@') || keys.any(|key| key.contains(['@', '/'])) {
            // What is in front of it may be a password.
            return Err(wrong(format!(
                "expected {}://user:password@{}; a / in a name is %2F, a ? is %3F, an @ is %40",
                self.scheme(),
                self.path
            )));
        }
        let (who, host) = match authority.rsplit_once('@') {
            Some((who, host)) => (Some(who), host),
            None => (None, authority),
        };
        let (user, password) = match who.map(|who| who.split_once(':').ok_or(who)) {
            Some(Ok((user, password))) => (decoded(user)?, Some(decoded(password)?)),
            Some(Err(user)) => (decoded(user)?, None),
            None => (String::new(), None),
        };
        let names = path.trim_end_matches('/').split('/').filter(|name| !name.is_empty());
        let pairs = query.split('&').filter(|pair| !pair.is_empty());
        Ok(Parts {
            user: Some(user).filter(|user| !user.is_empty()),
            password,
            host: match host {
                "" => None,
                host => Some(self.host_and_port(host)?),
            },
            names: names.map(decoded).collect::<Result<_, _>>()?,
            pairs: pairs.map(|pair| self.pair(pair)).collect::<Result<_, _>>()?,
        })
    }

    /// A key that there is not, with what was meant.
    #[must_use]
    pub fn unknown(&self, key: &str) -> Error {
        let hint = match keys::meant(key, self.keys.iter().copied()) {
            Some(meant) => format!("{meant} is one"),
            None => format!("there are {}", self.keys.join(", ")),
        };
        wrong(format!("there is no option {key:?}; {hint}"))
    }

    fn scheme(&self) -> &'static str {
        self.schemes.first().copied().unwrap_or_default()
    }

    fn pair(&self, pair: &str) -> Result<(String, String), Error> {
        match pair.split_once('=') {
            Some((key, value)) => Ok((key.to_owned(), decoded(value)?)),
            None if self.keys.contains(&(self.canonical)(pair)) => Ok((pair.to_owned(), "true".to_owned())),
            // It may be a part of a password.
            None => Err(wrong("expected KEY=VALUE after the ?; an & in a value is %26")),
        }
    }

    fn host_and_port(&self, text: &str) -> Result<(String, u16), Error> {
        if text.contains(',') {
            return Err(wrong(format!("expected one host, found {text:?}")));
        }
        let (host, rest) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((host, rest)) => (host.to_owned(), rest),
            None => {
                let at = text.find(':').unwrap_or(text.len());
                let (host, rest) = text.split_at(at);
                (decoded(host)?, rest)
            }
        };
        match rest.strip_prefix(':') {
            _ if host.is_empty() => Err(wrong(format!("expected a host, found {text:?}"))),
            Some(number) => Ok((host, port(number)?)),
            None if rest.is_empty() => Ok((host, self.port)),
            None => Err(wrong(format!("expected host:port, found {text:?}"))),
        }
    }
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.scheme(), self.path)
    }
}

/// A port.
///
/// # Errors
///
/// [`Error`] for what is no number from 1 to 65535.
pub fn port(value: &str) -> Result<u16, Error> {
    let port = value.parse().ok().filter(|port| *port != 0);
    port.ok_or_else(|| unexpected("port", value, "a number from 1 to 65535"))
}

/// The truth value of a key, as [`keys::truth`] reads it.
///
/// # Errors
///
/// [`Error`] for any other value.
pub fn truth(key: &str, value: &str) -> Result<bool, Error> {
    keys::truth(value).ok_or_else(|| unexpected(key, value, "true or false"))
}

/// The time of a key, as [`keys::limit`] reads it.
///
/// # Errors
///
/// [`Error`] for any other value.
pub fn limit(key: &str, value: &str) -> Result<Duration, Error> {
    keys::limit(value).ok_or_else(|| unexpected(key, value, "seconds above 0, or a duration such as 1m30s"))
}

/// A value that a key does not have.
#[must_use]
pub fn unexpected(key: &str, value: &str, expected: &str) -> Error {
    wrong(format!("option {key}: expected {expected}, found {value:?}"))
}

fn decoded(text: &str) -> Result<String, Error> {
    let decoded = percent_decode_str(text).decode_utf8();
    // The text may be a password.
    let decoded = decoded.map_err(|_| wrong("expected UTF-8 after the % of the URL"))?;
    match decoded.contains('\0') {
        true => Err(wrong("expected no NUL (%00) in the URL")),
        false => Ok(decoded.into_owned()),
    }
}

fn wrong(what: impl Into<String>) -> Error {
    Error(what.into())
}

/// The password is not shown.
impl fmt::Debug for Parts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parts")
            .field("user", &self.user)
            .field("host", &self.host)
            .field("names", &self.names)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORM: Form = Form {
        schemes: &["mysql", "mariadb"],
        path: "host/database/table",
        keys: &["secure", "timeout"],
        canonical: keys::canonical,
        port: 3306,
    };

    #[test]
    fn parts_are_decoded_and_passwords_not_shown() {
        let parts = FORM.parse("MariaDB://a%40b:p%2F%3As@[::1]:5433/My%20Shop//t%2Fx/?ssl&timeout=1%20s");
        let parts = parts.expect("a URL");
        assert_eq!(
            (parts.user.as_deref(), parts.password.as_deref()),
            (Some("a@b"), Some("p/:s"))
        );
        assert_eq!(parts.host, Some(("::1".to_owned(), 5433)));
        assert_eq!(parts.names, ["My Shop", "t/x"]);
        let pairs = [("ssl", "true"), ("timeout", "1 s")].map(|(key, value)| (key.to_owned(), value.to_owned()));
        assert_eq!(parts.pairs, pairs);
        assert!(!format!("{parts:?}").contains("p/:s"));
        let parts = FORM.parse("mysql:///d").expect("a URL");
        assert_eq!((parts.user, parts.host), (None, None));
        let parts = FORM.parse("mysql://%2Ftmp%2Fs/d").expect("a URL");
        assert_eq!(parts.host, Some(("/tmp/s".to_owned(), 3306)));
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (url, named) in [
            ("postgres://h/d", "expected mysql://host/database/table"),
            ("mysql://h,i/d", "one host"),
            ("mysql://h:0/d", "65535"),
            ("mysql://[::1]x/d", "host:port"),
            ("mysql://u:sec/ret@h/d", "%2F"),
            ("mysql://h/d?password=sec&ret", "%26"),
            ("mysql://u:sec%ffret@h/d", "UTF-8"),
            ("mysql://u:sec%00ret@h/d", "NUL"),
        ] {
            let error = FORM.parse(url).expect_err(url).to_string();
            assert!(error.contains(named) && !error.contains("ret"), "{url}: {error}");
        }
        assert_eq!(
            FORM.unknown("secur").to_string(),
            "there is no option \"secur\"; secure is one"
        );
        assert!(FORM.unknown("x").to_string().ends_with("there are secure, timeout"));
        assert!(truth("secure", "perhaps").is_err() && limit("timeout", "0").is_err());
    }
}
