//! The keys in the query of a server's URL that mean the same for every server, and their values.
//!
//! | key | aliases | value |
//! |---|---|---|
//! | `user`, `password` | `username` | who asks |
//! | `secure` | `ssl`, `tls` | `true`, `false`: whether connections are encrypted |
//! | `ca` | `ca_certificate`, `ca_certs`, `cafile` | a file of certificates (PEM) that are trusted instead of the system's |
//! | `cert` | `client_certificate`, `certfile` | a file of the client's certificate and those that sign it (PEM) |
//! | `key` | `client_key`, `keyfile` | a file of its key (PEM) |
//! | `verify` | `skip_verify`, the opposite | `false`: any certificate of the server is taken |
//! | `timeout` | | how long a request may take, above 0: seconds, or a duration such as `1m30s` |
//! | `connect_timeout` | `dial_timeout` | how long connecting may take, above 0 |
//! | `compression` | `compress` | a method, `true` for the usual one, `false` for none |
//!
//! `ca`, `cert`, `key` and `verify=false` make connections encrypted. With `secure=false` they are an error. `cert` and `key` go together.

use std::time::Duration;

/// The key that a name stands for: itself, if it is no alias.
#[must_use]
pub fn canonical(name: &str) -> &str {
    ALIASES
        .iter()
        .find(|(alias, _)| *alias == name)
        .map_or(name, |(_, key)| key)
}

/// A truth value: `true`, `1`, `false` or `0`.
#[must_use]
pub fn truth(value: &str) -> Option<bool> {
    match value {
        "1" | "true" => Some(true),
        "0" | "false" => Some(false),
        _ => None,
    }
}

/// Seconds, with a fraction or without, or a duration as Go writes it: `10s`, `1m30s`, `500ms`. At most a hundred years, so that it can be
/// added to a time.
#[must_use]
pub fn duration(value: &str) -> Option<Duration> {
    let seconds = value.parse().ok().or_else(|| go_seconds(value))?;
    let duration = Duration::try_from_secs_f64(seconds).ok()?;
    (duration <= LONGEST).then_some(duration)
}

/// A [`duration`] above 0. With a limit of 0 nothing would ever be done in time.
#[must_use]
pub fn limit(value: &str) -> Option<Duration> {
    duration(value).filter(|duration| !duration.is_zero())
}

fn go_seconds(value: &str) -> Option<f64> {
    let (mut rest, mut seconds) = (value, 0.0);
    while !rest.is_empty() {
        let digits = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.')?;
        let (number, behind) = rest.split_at(digits);
        let unit = behind
            .find(|letter: char| letter.is_ascii_digit())
            .unwrap_or(behind.len());
        let (unit, behind) = behind.split_at(unit);
        let of_unit = match unit {
            "h" => 3600.0,
            "m" => 60.0,
            "s" => 1.0,
            "ms" => 1e-3,
            "us" | "µs" => 1e-6,
            "ns" => 1e-9,
            _ => return None,
        };
        seconds += number.parse::<f64>().ok()? * of_unit;
        rest = behind;
    }
    Some(seconds).filter(|_| !value.is_empty())
}

/// The one of `known` that `name` differs from by a letter, two that changed places, capitals or hyphens: what was meant, most
/// likely.
pub fn meant<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let plain = name.to_ascii_lowercase().replace('-', "_");
    known
        .into_iter()
        .find(|key| *key != name && is_near(plain.as_bytes(), key.as_bytes()))
}

/// Whether two names are equal but for one letter, or for two neighbours that changed places.
fn is_near(one: &[u8], other: &[u8]) -> bool {
    let same = one.iter().zip(other).take_while(|(a, b)| a == b).count();
    let (one, other) = (
        one.get(same..).unwrap_or_default(),
        other.get(same..).unwrap_or_default(),
    );
    match (one, other) {
        ([], []) => true,
        ([a, b, one @ ..], [c, d, other @ ..]) if a == d && b == c && one == other => true,
        ([_, one_rest @ ..], [_, other_rest @ ..]) => one_rest == other_rest || one_rest == other || one == other_rest,
        ([_], []) | ([], [_]) => true,
        _ => false,
    }
}

/// A hundred years.
const LONGEST: Duration = Duration::from_secs(36_500 * 86_400);

const ALIASES: [(&str, &str); 13] = [
    ("username", "user"),
    ("ssl", "secure"),
    ("tls", "secure"),
    ("ca_certificate", "ca"),
    ("ca_certs", "ca"),
    ("cafile", "ca"),
    ("client_certificate", "cert"),
    ("certfile", "cert"),
    ("client_key", "key"),
    ("keyfile", "key"),
    ("dial_timeout", "connect_timeout"),
    ("compress", "compression"),
    ("server_hostname", "server_name"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aliases_stand_for_keys() {
        for (name, key) in [
            ("secure", "secure"),
            ("ssl", "secure"),
            ("ca_certificate", "ca"),
            ("other", "other"),
        ] {
            assert_eq!(canonical(name), key);
        }
    }

    #[test]
    fn durations_are_seconds_or_as_go_writes_them() {
        for (value, millis) in [
            ("2", 2000),
            ("0.5", 500),
            ("1m30s", 90_000),
            ("1h", 3_600_000),
            ("250ms", 250),
            ("876000h", 3_153_600_000_000),
        ] {
            assert_eq!(duration(value), Some(Duration::from_millis(millis)), "{value}");
        }
        for wrong in ["", "-1", "10x", "s", "1s2", "inf", "nan", "1e300", "1e10", "1000000h"] {
            assert_eq!(duration(wrong), None, "{wrong}");
        }
        assert_eq!(
            (duration("0"), limit("0"), limit("0s")),
            (Some(Duration::ZERO), None, None)
        );
        assert_eq!(limit("0.5"), Some(Duration::from_millis(500)));
    }

    #[test]
    fn what_was_meant_is_a_letter_away() {
        for (name, expected) in [
            ("verfy", Some("verify")),
            ("verrify", Some("verify")),
            ("Verify", Some("verify")),
            ("vreify", Some("verify")),
            ("connect-timeout", Some("connect_timeout")),
            ("connect_timeouts", Some("connect_timeout")),
            ("send_timeout", None),
            ("verify", None),
            ("", None),
            ("é", None),
        ] {
            assert_eq!(meant(name, ["verify", "connect_timeout"]), expected, "{name}");
        }
    }
}
