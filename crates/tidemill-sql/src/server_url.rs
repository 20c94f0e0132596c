//! URLs of servers, which never show their password.

use std::fmt;

/// Where a server is, who asks it, and how: `clickhouse://user:password@host:9000/database/table?compression=lz4`,
/// `cql://user:password@host:9042/keyspace/table?dc=east`.
///
/// Shown without the password, by [`fmt::Display`] and [`fmt::Debug`] alike.
#[derive(Clone, PartialEq, Eq)]
pub struct ServerUrl(String);

/// The kinds of servers that have tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ServerKind {
    /// `clickhouse://`
    ClickHouse,
    /// `cql://`
    Cassandra,
}

impl ServerUrl {
    /// The URL of a server that has tables; `None` for any other text.
    pub fn new(text: &str) -> Option<Self> {
        let (scheme, _) = text.split_once("://")?;
        let known = SCHEMES.iter().find(|(known, _)| scheme.eq_ignore_ascii_case(known));
        known.map(|(known, _)| Self(format!("{known}{}", &text[scheme.len()..])))
    }

    /// What speaks there.
    pub(crate) fn kind(&self) -> ServerKind {
        let scheme = self.0.split_once("://").map_or("", |(scheme, _)| scheme);
        let known = SCHEMES.iter().find(|(known, _)| *known == scheme);
        known.map_or(ServerKind::ClickHouse, |(_, kind)| *kind)
    }

    /// The URL of a table in this URL's database, which is the user's own where the URL names none.
    #[must_use]
    pub fn with_table(&self, table: &str) -> Self {
        let Parts {
            server,
            database,
            query,
            ..
        } = self.parts();
        let mut url = format!("{server}/{database}/");
        // What would end the path or be taken for a number of a letter.
        for letter in table.chars() {
            match letter {
                '%' | '/' | '?' | '#' | '&' => url.push_str(&format!("%{:02X}", u32::from(letter))),
                other => url.push(other),
            }
        }
        if let Some(query) = query {
            url.push('?');
            url.push_str(query);
        }
        Self(url)
    }

    /// Whether the URL names a table, rather than a database or a server.
    pub fn names_table(&self) -> bool {
        self.parts().table.is_some()
    }

    /// The last part of the path: the table, where the URL names one, or else the database.
    pub(crate) fn last_part(&self) -> &str {
        let Parts { database, table, .. } = self.parts();
        table.unwrap_or(database)
    }

    /// The URL, with its password, without a table: what a client is made of.
    pub(crate) fn client(&self) -> String {
        let Parts {
            server,
            database,
            query,
            ..
        } = self.parts();
        format!("{server}/{database}?{}", query.unwrap_or_default())
    }

    /// With the password.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    fn parts(&self) -> Parts<'_> {
        let (place, query) = match self.0.split_once('?') {
            Some((place, query)) => (place, Some(query)),
            None => (self.0.as_str(), None),
        };
        let host = place.find("://").map_or(0, |at| at + "://".len());
        let (server, path) = match place[host..].find('/') {
            Some(at) => (&place[..host + at], &place[host + at + 1..]),
            None => (place, ""),
        };
        let path = path.trim_end_matches('/');
        let (database, table) = match path.split_once('/') {
            Some((database, table)) => (database, Some(table)),
            None => (path, None),
        };
        Parts {
            server,
            database,
            table,
            query,
        }
    }
}

/// `server/database/table?query`, where the server has its scheme and who asks.
struct Parts<'a> {
    server: &'a str,
    database: &'a str,
    table: Option<&'a str>,
    query: Option<&'a str>,
}

impl fmt::Display for ServerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&without_passwords(&self.0))
    }
}

impl fmt::Debug for ServerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ServerUrl({self})")
    }
}

/// A text with every password in a URL replaced: `clickhouse://reader:***@host`, `?password=***`.
///
/// A password may hold a `/`, `?` or `#` that nobody escaped, so that the URL is none: from the first colon to the last `@` of
/// a word nothing is shown, though it were a port and a path.
pub fn without_passwords(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("://") {
        shown.push_str(before);
        shown.push_str("://");
        let word = after.find(char::is_whitespace).unwrap_or(after.len());
        let next = after.find("://").unwrap_or(after.len());
        let (word, _) = after.split_at(word.min(next));
        let authority = word.split(['/', '?', '#']).next().unwrap_or_default();
        let is_whole = authority.contains('@') || !authority.contains(':');
        let who = if is_whole { authority } else { word };
        rest = match who.rfind('@').zip(who.find(':')).filter(|(at, colon)| colon < at) {
            Some((at, colon)) => {
                shown.push_str(&format!("{}:{HIDDEN}", &who[..colon]));
                &after[at..]
            }
            None => after,
        };
    }
    shown.push_str(rest);
    without_password_parameters(&shown)
}

fn without_password_parameters(text: &str) -> String {
    const PARAMETER: &str = "password=";
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(PARAMETER) {
        let (before, after) = rest.split_at(at + PARAMETER.len());
        shown.push_str(before);
        // Whatever else is not escaped may be a part of it.
        let end = after
            .find(|letter: char| letter.is_whitespace() || letter == '&')
            .unwrap_or(after.len());
        if end > 0 {
            shown.push_str(HIDDEN);
        }
        rest = &after[end..];
    }
    shown.push_str(rest);
    shown
}

const SCHEMES: [(&str, ServerKind); 2] = [("clickhouse", ServerKind::ClickHouse), ("cql", ServerKind::Cassandra)];
const HIDDEN: &str = "***";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_not_shown() {
        for (text, shown) in [
            ("clickhouse://u:secret@h:9000/d/t", "clickhouse://u:***@h:9000/d/t"),
            (
                "clickhouse://u:se@cr:et@h1,h2:9001/d",
                "clickhouse://u:***@h1,h2:9001/d",
            ),
            ("clickhouse://u@h/d?secure=1", "clickhouse://u@h/d?secure=1"),
            (
                "clickhouse://h?password=secret&secure=1",
                "clickhouse://h?password=***&secure=1",
            ),
            (
                "found: 'clickhouse://u:sec'ret@h/t' AND \"s3://a:secret@b\"",
                "found: 'clickhouse://u:***@h/t' AND \"s3://a:***@b\"",
            ),
            ("clickhouse://u:sec/ret@h:9000/d", "clickhouse://u:***@h:9000/d"),
            ("clickhouse://u:s/e/cret@h:9000/d", "clickhouse://u:***@h:9000/d"),
            ("clickhouse://u:s?e#cret@h/d", "clickhouse://u:***@h/d"),
            ("clickhouse://u:se#c@r:et@h/d x@y", "clickhouse://u:***@h/d x@y"),
            (
                "clickhouse://h?password=se'c#r\"et]&a=b",
                "clickhouse://h?password=***&a=b",
            ),
            ("clickhouse://h/d?mail=a@b", "clickhouse://h/d?mail=a@b"),
            (
                "clickhouse://h:9000/d to cql://u:secret@h/k",
                "clickhouse://h:9000/d to cql://u:***@h/k",
            ),
            ("no url: a@b", "no url: a@b"),
        ] {
            assert_eq!(without_passwords(text), shown);
        }
        let url = ServerUrl::new("ClickHouse://u:secret@h/d").expect("a server");
        assert!(!format!("{url} {url:?}").contains("secret"));
    }

    #[test]
    fn a_table_is_named_behind_its_database() {
        let url = ServerUrl::new("clickhouse://u:p@h:9000/shop/?secure=1").expect("a server");
        assert!(!url.names_table());
        let table = url.with_table("a/b");
        assert_eq!(table.as_str(), "clickhouse://u:p@h:9000/shop/a%2Fb?secure=1");
        assert!(table.names_table());
        assert_eq!(table.last_part(), "a%2Fb");
        assert_eq!(table.client(), url.client());
        assert_eq!(
            table.with_table("c").as_str(),
            "clickhouse://u:p@h:9000/shop/c?secure=1"
        );
        assert_eq!(url.client(), "clickhouse://u:p@h:9000/shop?secure=1");
        assert_eq!(url.kind(), ServerKind::ClickHouse);
        assert_eq!(
            ServerUrl::new("CQL://h/k").map(|url| url.kind()),
            Some(ServerKind::Cassandra)
        );
        assert!(ServerUrl::new("http://h/d/t").is_none());

        for (url, table) in [
            ("clickhouse://h", "clickhouse://h//t"),
            ("clickhouse:///?secure=1", "clickhouse:////t?secure=1"),
            ("clickhouse:///shop", "clickhouse:///shop/t"),
            ("clickhouse://h//other", "clickhouse://h//t"),
        ] {
            let url = ServerUrl::new(url).expect("a server");
            let of_table = url.with_table("t");
            assert_eq!(of_table.as_str(), table);
            assert!(of_table.names_table());
            assert_eq!((of_table.last_part(), of_table.client()), ("t", url.client()));
        }
    }
}
