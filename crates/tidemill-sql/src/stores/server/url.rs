//! URLs of servers, which never show their password.

use std::fmt;

use tidemill_trust::SecretUrl;

use super::ServerKind;

/// Where a server is, who asks it, and how: `clickhouse://user:password@host:9000/database/table?compression=lz4`,
/// `cql://user:password@host:9042/keyspace/table?dc=east`.
///
/// Shown without the password, by [`fmt::Display`] and [`fmt::Debug`] alike.
#[derive(Clone, PartialEq, Eq)]
pub struct ServerUrl {
    kind: ServerKind,
    url: SecretUrl,
}

impl ServerUrl {
    /// The URL of a server that has tables, of a kind that this build has; `None` for any other text.
    pub fn new(text: &str) -> Option<Self> {
        let (scheme, _) = text.split_once("://")?;
        let kind = ServerKind::of_scheme(scheme)?;
        let url = SecretUrl::new(format!("{}{}", kind.0.scheme, &text[scheme.len()..]));
        Some(Self { kind, url })
    }

    /// What speaks there.
    pub(crate) fn kind(&self) -> ServerKind {
        self.kind
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
                '%' | '/' | '?' | '#' | '&' | '\0'..='\x1f' | '\x7f' => {
                    url.push_str(&format!("%{:02X}", u32::from(letter)))
                }
                other => url.push(other),
            }
        }
        if let Some(query) = query {
            url.push('?');
            url.push_str(query);
        }
        Self {
            kind: self.kind,
            url: SecretUrl::new(url),
        }
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
    #[cfg(any(feature = "cassandra", feature = "clickhouse"))]
    pub(crate) fn client(&self) -> String {
        let Parts {
            server,
            database,
            query,
            ..
        } = self.parts();
        format!("{server}/{database}?{}", query.unwrap_or_default())
    }

    /// The server, with the user, the password and the settings: what tables that one statement can name have in common.
    #[cfg(feature = "clickhouse")]
    pub(crate) fn server(&self) -> String {
        let Parts { server, query, .. } = self.parts();
        format!("{server}?{}", query.unwrap_or_default())
    }

    /// With the password.
    pub(crate) fn as_str(&self) -> &str {
        self.url.expose()
    }

    fn parts(&self) -> Parts<'_> {
        let (place, query) = match self.as_str().split_once('?') {
            Some((place, query)) => (place, Some(query)),
            None => (self.as_str(), None),
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
        self.url.fmt(f)
    }
}

impl fmt::Debug for ServerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ServerUrl({self})")
    }
}

#[cfg(all(test, feature = "clickhouse", feature = "cassandra"))]
mod tests {
    use super::*;

    #[test]
    fn the_password_is_not_shown() {
        let url = ServerUrl::new("ClickHouse://u:secret@h/d").expect("a server");
        assert_eq!(url.to_string(), "clickhouse://u:***@h/d");
        assert!(!format!("{url:?}").contains("secret"));
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
        assert_eq!(url.kind().to_string(), "clickhouse");
        let cluster = ServerUrl::new("CQL://h/k").expect("a server");
        assert_eq!(cluster.kind().to_string(), "cassandra");
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
