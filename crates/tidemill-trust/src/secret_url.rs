//! URLs whose secrets are never shown.
//!
//! A secret is the password between user and host, and the value of a parameter that is named like one. People do not escape their
//! passwords, so that a `/`, `?`, `#`, `@`, `:` or a blank in one makes a URL that is none. Where it is not clear what belongs to a
//! password, more is hidden rather than less.

use std::borrow::Cow;
use std::fmt;

use percent_encoding::percent_decode_str;

/// A URL or an address, or what was meant to be one. [`fmt::Display`] and [`fmt::Debug`] show it without its secrets: `clickhouse://ann:***@host`,
/// `?password=***`.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretUrl(String);

impl SecretUrl {
    /// Takes any text: what is wrong with it is found by whoever uses it.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The URL with its secrets, for whoever connects by it.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// A text of somebody who was given this URL, such as a library's error, without its secrets.
    pub fn scrub(&self, text: &str) -> String {
        let mut shown = text.replace(&self.0, &self.to_string());
        let mut secrets = secrets(&self.0);
        let decoded: Vec<String> = secrets
            .iter()
            .map(|secret| percent_decode_str(secret).decode_utf8_lossy().into_owned())
            .collect();
        secrets.extend(decoded);
        // A shorter one could be a part of any word; it is hidden where a URL shows it.
        const SHORTEST: usize = 3;
        for secret in secrets.iter().filter(|secret| secret.len() >= SHORTEST) {
            shown = shown.replace(secret.as_str(), HIDDEN);
        }
        without_secrets(&shown).into_owned()
    }
}

impl fmt::Display for SecretUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hidden(&self.0))
    }
}

impl fmt::Debug for SecretUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SecretUrl({self})")
    }
}

/// A text in which every URL is without its secrets.
///
/// A blank ends a URL, unless a password begins before it and an `@` follows. `clickhouse:/ann:secret@host` was meant to be one.
pub fn without_secrets(text: &str) -> Cow<'_, str> {
    if !text.contains("://") && !text.contains(['=', '@']) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let begin = at + "://".len();
        let scheme = rest[..at]
            .rfind(|letter: char| !letter.is_ascii_alphanumeric() && !matches!(letter, '+' | '-' | '.'))
            .map_or(0, |before| {
                before + rest[before..].chars().next().map_or(1, char::len_utf8)
            });
        let end = begin + end_of_url(&rest[begin..]);
        shown.push_str(&without_mistyped(&without_parameters(&rest[..scheme], Extent::Text)));
        shown.push_str(&hidden(&rest[scheme..end]));
        rest = &rest[end..];
    }
    shown.push_str(&without_mistyped(&without_parameters(rest, Extent::Text)));
    Cow::Owned(shown)
}

/// A text in which words such as `clickhouse:/ann:secret@host` and `postgres//ann:secret@host` are without their secrets.
fn without_mistyped(text: &str) -> String {
    let ends_word = |letter: char| letter.is_whitespace() || matches!(letter, '\'' | '"' | '`' | '(' | ')' | ',');
    let word_without = |word: &str| {
        let at = word.rfind('@')?;
        let user = &word[..at];
        // Behind the scheme, whatever separates it.
        let begin = user.rfind("//").map_or(0, |slashes| slashes + 2);
        let (scheme, _) = user[begin..].split_once(':')?;
        let scheme_end = begin + scheme.len() + 1;
        let rest = user[scheme_end..].trim_start_matches('/');
        let colon = match rest.split_once(':') {
            // `clickhouse:/ann:secret`
            Some((ann, _)) => user.len() - rest.len() + ann.len() + 1,
            // `ann:secret`
            None => scheme_end,
        };
        Some(format!("{}{HIDDEN}{}", &word[..colon], &word[at..]))
    };
    let words = text.split_inclusive(ends_word).map(|word| match word_without(word) {
        Some(shown) => Cow::Owned(shown),
        None => Cow::Borrowed(word),
    });
    words.collect()
}

/// Where the URL ends of which the text begins behind `://`.
fn end_of_url(text: &str) -> usize {
    // The next URL's scheme is cut short at worst.
    let next = text.find("://").unwrap_or(text.len());
    let line = text.find(['\n', '\r']).unwrap_or(text.len());
    let limit = next.min(line);
    let word = text.find(char::is_whitespace).unwrap_or(text.len()).min(limit);
    let authority = authority(&text[..word]);
    let begins_password = match authority.split_once(':') {
        Some((_, port)) => !text[..word].contains('@') && !is_port(port),
        None => false,
    };
    match text[..limit].rfind('@').filter(|_| begins_password) {
        Some(at) => {
            let host = at + text[at..].find(char::is_whitespace).unwrap_or(text.len() - at);
            host.min(limit).max(word)
        }
        None => word,
    }
}

fn is_port(text: &str) -> bool {
    text.is_empty() || text.bytes().all(|byte| byte.is_ascii_digit())
}

fn authority(text: &str) -> &str {
    text.split(['/', '?', '#']).next().unwrap_or_default()
}

/// One URL without its secrets.
fn hidden(url: &str) -> String {
    let shown = without_parameters(url, Extent::Url);
    // An address may have none.
    let scheme = shown.find("://").map_or(0, |at| at + "://".len());
    let (scheme, rest) = shown.split_at(scheme);
    match password(rest) {
        Some((begin, end)) => format!("{scheme}{}{HIDDEN}{}", &rest[..begin], &rest[end..]),
        None => shown,
    }
}

/// Where the password is in what follows the scheme: from the first colon to the last `@`, though it were a port, a path and a
/// parameter.
fn password(rest: &str) -> Option<(usize, usize)> {
    // A slash too many does not show it.
    let begin = rest.len() - rest.trim_start_matches('/').len();
    let colon = begin + authority(&rest[begin..]).find(':')? + 1;
    let at = rest.rfind('@')?;
    (colon <= at).then_some((colon, at))
}

/// The secrets of one URL, as they stand in it.
fn secrets(url: &str) -> Vec<String> {
    let mut found = Vec::new();
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    if let Some((begin, end)) = password(rest) {
        found.push(rest[begin..end].to_owned());
    }
    for_each_parameter(url, Extent::Url, |_, value| found.push(value.to_owned()));
    found.retain(|secret| !secret.is_empty());
    // A part of a longer one must not be replaced first.
    found.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
    found
}

/// What surrounds a parameter.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    /// A URL alone: a blank may be a part of a value.
    Url,
    /// A text, in which a blank ends a value.
    Text,
}

fn without_parameters(text: &str, extent: Extent) -> String {
    let mut shown = String::with_capacity(text.len());
    let rest = for_each_parameter(text, extent, |before, _| {
        shown.push_str(before);
        shown.push_str(HIDDEN);
    });
    shown.push_str(rest);
    shown
}

/// Calls `visit` with each secret parameter: what stands before its value, from the end of the one before, and its value. Returns what
/// follows the last one.
fn for_each_parameter<'a>(text: &'a str, extent: Extent, mut visit: impl FnMut(&'a str, &'a str)) -> &'a str {
    let (mut rest, mut from) = (text, 0);
    while let Some(at) = rest[from..].find('=').map(|at| from + at) {
        let name = rest[..at]
            .rfind(|letter: char| !letter.is_ascii_alphanumeric() && !matches!(letter, '-' | '_' | '.' | '%'))
            .map_or(0, |before| {
                before + rest[before..].chars().next().map_or(1, char::len_utf8)
            });
        if !is_secret(&rest[name..at], extent) {
            from = at + 1;
            continue;
        }
        let (before, value) = rest.split_at(at + 1);
        let end = end_of_value(value, extent);
        if end > 0 {
            visit(before, &value[..end]);
            rest = &value[end..];
            from = 0;
        } else {
            from = at + 1;
        }
    }
    rest
}

/// Where a value ends: at a `&` that another parameter follows, or with the text. Whatever else is not escaped may be a part of it.
fn end_of_value(value: &str, extent: Extent) -> usize {
    let end = match extent {
        Extent::Url => value.len(),
        Extent::Text => value.find(char::is_whitespace).unwrap_or(value.len()),
    };
    let value = &value[..end];
    let mut ends = value.match_indices('&').map(|(at, _)| at);
    let begins_parameter = |at: &usize| {
        let next = &value[at + 1..];
        let name = next
            .find(|letter: char| !letter.is_ascii_alphanumeric() && !matches!(letter, '-' | '_' | '.' | '%'))
            .unwrap_or(next.len());
        name > 0 && next[name..].starts_with('=')
    };
    ends.find(begins_parameter).unwrap_or(end)
}

/// Whether a parameter of this name is a secret: `password`, `Password`, `X-Amz-Signature`, `sig`. In a text, shorter names may be those of
/// columns.
fn is_secret(name: &str, extent: Extent) -> bool {
    let name = percent_decode_str(name).decode_utf8_lossy().to_ascii_lowercase();
    // One that is misspelt is one too.
    let is_short = || extent == Extent::Url && (SHORT_SECRET_NAMES.contains(&name.as_str()) || name.starts_with("pas"));
    is_short() || SECRET_NAMES.iter().any(|part| name.contains(part))
}

const SHORT_SECRET_NAMES: [&str; 5] = ["sig", "pass", "auth", "key", "jwt"];

const SECRET_NAMES: [&str; 12] = [
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "secret",
    "token",
    "signature",
    "credential",
    "access_key",
    "accesskey",
    "api_key",
    "apikey",
];
const HIDDEN: &str = "***";

#[cfg(test)]
mod tests {
    use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn passwords_of_urls_are_hidden() {
        for (url, shown) in [
            ("clickhouse://u:secret@h:9000/d/t", "clickhouse://u:***@h:9000/d/t"),
            ("https://u:geheim@127.0.0.1:1/x.csv", "https://u:***@127.0.0.1:1/x.csv"),
            ("clickhouse://u:ge heim@h/d/t", "clickhouse://u:***@h/d/t"),
            (
                "clickhouse://u@h/d/t?Password=geheim",
                "clickhouse://u@h/d/t?Password=***",
            ),
            (
                "clickhouse://odd:p@ss:w/o%rd #?&ü+@h:9300/default",
                "clickhouse://odd:***@h:9300/default",
            ),
            ("cql://ann:hunter5@h:9042", "cql://ann:***@h:9042"),
            ("clickhouse://u:p@ss/word@h/d", "clickhouse://u:***@h/d"),
            ("clickhouse://u@h/d?secure=1", "clickhouse://u@h/d?secure=1"),
            (
                "clickhouse://h?password=secret&secure=1",
                "clickhouse://h?password=***&secure=1",
            ),
            ("clickhouse://h?pass%77ord=s&a=b", "clickhouse://h?pass%77ord=***&a=b"),
            ("clickhouse://h?password=se'c#r et&x&y", "clickhouse://h?password=***"),
            (
                "https://h/a?X-Amz-Signature=abc&X-Amz-Date=1",
                "https://h/a?X-Amz-Signature=***&X-Amz-Date=1",
            ),
            ("s3://bucket/a@b:c", "s3://bucket/a@b:c"),
            ("clickhouse://h/d?mail=a@b", "clickhouse://h/d?mail=a@b"),
            ("http://[::1]:80/x", "http://[::1]:80/x"),
            ("u:geheim@h", "u:***@h"),
            ("h:9042", "h:9042"),
            ("no url", "no url"),
        ] {
            assert_eq!(SecretUrl::new(url).to_string(), shown);
        }
    }

    #[test]
    fn passwords_in_a_text_are_hidden() {
        for (text, shown) in [
            (
                "clickhouse://u:se@cr:et@h1,h2:9001/d",
                "clickhouse://u:***@h1,h2:9001/d",
            ),
            (
                "found: 'clickhouse://u:sec'ret@h/t' AND \"s3://a:secret@b\"",
                "found: 'clickhouse://u:***@h/t' AND \"s3://a:***@b\"",
            ),
            ("clickhouse://u:s?e#cret@h/d", "clickhouse://u:***@h/d"),
            ("clickhouse://u:se#c@r:et@h/d x@y", "clickhouse://u:***@h/d x@y"),
            ("clickhouse://u:ge heim@h/d is away", "clickhouse://u:***@h/d is away"),
            (
                "clickhouse://h:9000/d to cql://u:secret@h/k",
                "clickhouse://h:9000/d to cql://u:***@h/k",
            ),
            ("at http://h:80/d, ask a@b", "at http://h:80/d, ask a@b"),
            ("with password=geheim and user=u", "with password=*** and user=u"),
            ("no url: a@b", "no url: a@b"),
            (
                "clickhouse:/u:secret@h/d: no such file",
                "clickhouse:/u:***@h/d: no such file",
            ),
            (
                "'postgres:u:sec/r@et@h': no such file",
                "'postgres:u:***@h': no such file",
            ),
            (
                "postgres//u:secret@h/d: no such table",
                "postgres//u:***@h/d: no such table",
            ),
            ("u:secret@h/d: no such table", "u:***@h/d: no such table"),
            ("mysql:/ /u:secret@h: no such table", "mysql:/ /u:***@h: no such table"),
            ("postgres:///u:secret@h/d", "postgres:///u:***@h/d"),
        ] {
            assert_eq!(without_secrets(text), shown);
        }
    }

    #[test]
    fn a_librarys_error_is_scrubbed_of_this_urls_secrets() {
        let url = SecretUrl::new("https://ann:ge%20heim@h/x.csv?token=abcd");
        for text in [
            "cannot get https://ann:ge%20heim@h/x.csv?token=abcd",
            "basic auth with ge heim failed",
            "abcd is no token",
        ] {
            let shown = url.scrub(text);
            assert!(
                !shown.contains("heim") && !shown.contains("abcd"),
                "{text} became {shown}"
            );
        }
    }

    proptest! {
        #[test]
        fn no_password_is_ever_shown(
            scheme in "clickhouse|cql|https?|s3|postgres",
            user in "[a-z]{1,5}",
            password in "[ -~äß]{4,16}",
            host in "[a-z]{1,5}(\\.[a-z]{1,3})?(:[0-9]{1,5})?",
            path in "(/[a-z]{0,4}){0,3}",
            escaped in any::<bool>(),
            parameter in "password|Password|PASSWORD|token|client_secret",
            before in "[a-z ]{0,8}",
        ) {
            // Marked, so that it is no part of anything else. Unescaped, these two mean something else.
            let password = match escaped {
                true => format!("Q7{password}7Q"),
                false => format!("Q7{}7Q", password.replace(['&', '%'], "+")),
            };
            let written = match escaped {
                true => utf8_percent_encode(&password, NON_ALPHANUMERIC).to_string(),
                false => password.clone(),
            };
            for url in [
                format!("{scheme}://{user}:{written}@{host}{path}"),
                format!("{scheme}://{user}@{host}{path}?a=b&{parameter}={written}"),
            ] {
                let secret = SecretUrl::new(url.as_str());
                let scrubbed = secret.scrub(&format!("cannot open {url}: {password} is wrong"));
                for shown in [secret.to_string(), format!("{secret:?}"), scrubbed] {
                    prop_assert!(!shown.contains("Q7") && !shown.contains("7Q"), "{} shows {}", url, shown);
                }
                if escaped {
                    let shown = without_secrets(&format!("{before} {url} ")).into_owned();
                    prop_assert!(!shown.contains("Q7") && !shown.contains("7Q"), "{} shows {}", url, shown);
                }
            }
        }
    }
}
