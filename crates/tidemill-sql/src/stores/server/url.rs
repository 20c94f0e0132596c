//! URLs of databases and their tables, which never show a password.

use std::fmt;
use std::path::Path;

use tidemill_trust::{SecretUrl, without_secrets};

use super::{Address, ServerKind};
use crate::{Error, Result};

/// A server, a user, and settings: `clickhouse://user:password@host:9000/database/table?compression=lz4`,
/// `cql://user:password@host:9042/keyspace/table?dc=east`. Or the file of a database, `sqlite:shop.db/table`, or the options of a driver:
/// `adbc:table=orders;driver=snowflake;uri=...`.
///
/// In the URL of a file, the database ends at the first path component that is a file or has a known extension (`.db`), and the table
/// follows; two slashes end any file. In the table's name and in the path, `%2F` is a slash, `%3F` a question mark and `%25` a percent
/// sign.
///
/// [`fmt::Display`] and [`fmt::Debug`] omit the password.
#[derive(Clone, PartialEq, Eq)]
pub struct ServerUrl {
    kind: ServerKind,
    url: SecretUrl,
}

impl ServerUrl {
    /// Parses the URL of a server of a kind in this build; `None` for any other text.
    pub fn new(text: &str) -> Option<Self> {
        let (scheme, rest) = text.split_once(':')?;
        let kind = ServerKind::of_scheme(scheme)?;
        let rest = match (kind.address(), rest.strip_prefix("//")) {
            (Address::Host, None) => return None,
            // `sqlite:///srv/shop.db` is `/srv/shop.db`.
            (Address::File(_), Some(path)) => path,
            _ => rest,
        };
        Some(Self::of(kind, &format!("{}:{rest}", kind.0.scheme)))
    }

    /// Refuses the URL of a server with missing slashes: `clickhouse:/host/database/table`.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`].
    pub(crate) fn refuse_without_slashes(text: &str) -> Result<()> {
        let kind = text
            .split_once(':')
            .and_then(|(scheme, _)| ServerKind::of_scheme(scheme));
        match kind.filter(|_| Self::new(text).is_none()) {
            Some(kind) => Err(Error::Unsupported {
                what: format!("{}: a URL without two slashes behind its scheme", without_secrets(text)),
                hint: format!("write {}", kind.example()),
            }),
            None => Ok(()),
        }
    }

    fn of(kind: ServerKind, url: &str) -> Self {
        Self {
            kind,
            url: SecretUrl::new(url),
        }
    }

    /// The kind of the server.
    pub(crate) fn kind(&self) -> ServerKind {
        self.kind
    }

    /// The URL of a table in the same database, which is the user's own if the URL names none.
    #[must_use]
    pub fn with_table(&self, table: &str) -> Self {
        let Parts {
            server,
            database,
            query,
            ..
        } = self.parts();
        let name = escaped(table);
        let query = query.map(|query| format!("?{query}")).unwrap_or_default();
        let url = match self.kind.address() {
            Address::Host => format!("{server}/{database}/{name}{query}"),
            Address::File(extensions) => match file_and_table(&format!("{server}/t"), extensions) {
                (_, Some(_)) => format!("{server}/{name}{query}"),
                // A file that does not exist yet, without a known extension.
                (_, None) => format!("{server}//{name}{query}"),
            },
            Address::Options => {
                format!("{}:table={name};{server}", self.kind.0.scheme)
            }
        };
        Self::of(self.kind, &url)
    }

    /// The URL of another table in the same schema.
    pub(crate) fn beside(&self, table: &str) -> Self {
        let Parts {
            server,
            database,
            table: own,
            query,
        } = self.parts();
        let within = own.and_then(|own| own.rsplit_once('/')).map(|(schema, _)| schema);
        match (self.kind.address(), within) {
            (Address::Host, Some(schema)) => {
                let query = query.map(|query| format!("?{query}")).unwrap_or_default();
                let name = escaped(table);
                Self::of(self.kind, &format!("{server}/{database}/{schema}/{name}{query}"))
            }
            _ => self.with_table(table),
        }
    }

    /// The name of the table, or else of the database, without its schema.
    pub(crate) fn table_name(&self) -> String {
        let last = self.last_part();
        let name = match self.kind.address() {
            Address::Host => last.rsplit('/').next().unwrap_or(last),
            _ => last,
        };
        percent_encoding::percent_decode_str(name)
            .decode_utf8_lossy()
            .into_owned()
    }

    /// Whether the URL names a table, rather than a database or a server.
    pub fn names_table(&self) -> bool {
        self.parts().table.is_some()
    }

    /// The table, if the URL names one, or else the database.
    pub(crate) fn last_part(&self) -> &str {
        let Parts { database, table, .. } = self.parts();
        table.unwrap_or(database)
    }

    /// The URL with its password, but without a table, to connect a client.
    #[cfg(any(
        feature = "adbc",
        feature = "cassandra",
        feature = "clickhouse",
        feature = "mysql",
        feature = "postgres"
    ))]
    pub(crate) fn client(&self) -> String {
        let Parts {
            server,
            database,
            query,
            ..
        } = self.parts();
        format!("{server}/{database}?{}", query.unwrap_or_default())
    }

    /// The server with user, password and settings: tables with the same one can occur in one statement.
    #[cfg(any(feature = "clickhouse", feature = "flight"))]
    pub(crate) fn server(&self) -> String {
        let Parts { server, query, .. } = self.parts();
        format!("{server}?{}", query.unwrap_or_default())
    }

    /// The file of the database and its settings, for kinds whose databases are files.
    #[cfg(any(feature = "adbc", feature = "sqlite"))]
    pub(crate) fn file(&self) -> (std::path::PathBuf, &str) {
        let Parts { server, query, .. } = self.parts();
        let path = server.split_once(':').map_or(server, |(_, path)| path);
        let path = percent_encoding::percent_decode_str(path)
            .decode_utf8_lossy()
            .into_owned();
        (path.into(), query.unwrap_or_default())
    }

    /// The options of a driver, as `name=value`.
    #[cfg(feature = "adbc")]
    pub(crate) fn options(&self) -> Vec<(&str, &str)> {
        let Parts { server, query, .. } = self.parts();
        let (text, between) = match self.kind.address() {
            Address::Options => (server, ';'),
            _ => (query.unwrap_or_default(), '&'),
        };
        let mut options = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            // A `;` within a value does not end it.
            let is_option = |text: &str| {
                let name = text
                    .split('=')
                    .next()
                    .filter(|name| name.len() < text.len())
                    .unwrap_or_default();
                !name.is_empty()
                    && name
                        .chars()
                        .all(|letter| letter.is_ascii_alphanumeric() || "._-".contains(letter))
            };
            let mut ends = rest.match_indices(between).map(|(at, _)| at);
            let end = ends.find(|at| is_option(&rest[at + 1..]) || rest.len() == at + 1);
            let (option, left) = match end {
                Some(end) => (&rest[..end], &rest[end + 1..]),
                None => (rest, ""),
            };
            options.push(option.split_once('=').unwrap_or((option, "")));
            rest = left;
        }
        options
    }

    /// With the password.
    pub(crate) fn as_str(&self) -> &str {
        self.url.expose()
    }

    fn parts(&self) -> Parts<'_> {
        if self.kind.address() == Address::Options {
            let url = self.as_str();
            let named = url.split_once(":table=").and_then(|(_, rest)| rest.split_once(';'));
            let (table, server) = match named {
                Some((table, options)) => (Some(table), options),
                None => (None, url.split_once(':').map_or("", |(_, options)| options)),
            };
            return Parts {
                server,
                database: "",
                table,
                query: None,
            };
        }
        let (place, query) = match self.as_str().split_once('?') {
            Some((place, query)) => (place, Some(query)),
            None => (self.as_str(), None),
        };
        if let Address::File(extensions) = self.kind.address() {
            let (server, table) = file_and_table(place, extensions);
            return Parts {
                server,
                database: "",
                table,
                query,
            };
        }
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

/// Escapes the characters in a table's name that have a meaning in a URL.
fn escaped(table: &str) -> String {
    let mut name = String::new();
    for letter in table.chars() {
        match letter {
            '%' | '/' | '?' | '#' | '&' | ';' | '\0'..='\x1f' | '\x7f' => {
                name.push_str(&format!("%{:02X}", u32::from(letter)))
            }
            other => name.push(other),
        }
    }
    name
}

/// Splits the file of a database, with the scheme, from its table.
fn file_and_table<'a>(place: &'a str, extensions: &[&str]) -> (&'a str, Option<&'a str>) {
    let place = place.trim_end_matches('/');
    let path = place.find(':').map_or(0, |at| at + 1);
    let is_file = |end: &usize| {
        let path = Path::new(&place[path..*end]);
        let has_extension = || {
            let extension = path.extension().and_then(|extension| extension.to_str());
            extension.is_some_and(|extension| extensions.iter().any(|known| known.eq_ignore_ascii_case(extension)))
        };
        path.is_file() || (!path.is_dir() && has_extension())
    };
    let ends = place.char_indices().filter(|&(at, letter)| at > path && letter == '/');
    let ends: Vec<usize> = ends.map(|(at, _)| at).collect();
    let is_doubled = |end: &usize| place[*end..].starts_with("//");
    let end = ends.iter().find(|end| is_doubled(end) || is_file(end));
    match end.copied() {
        Some(end) => (&place[..end], Some(place[end + 1..].trim_start_matches('/'))),
        None => (place, None),
    }
}

/// `server/database/table?query`, where the server includes its scheme and the user. For a driver, the server is its options, without a
/// scheme.
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

#[cfg(all(test, feature = "clickhouse", feature = "cassandra", feature = "sqlite"))]
mod tests {
    use super::*;

    #[test]
    fn a_database_in_a_file_ends_where_the_file_does() {
        let folder = tempfile::tempdir().expect("a folder");
        let plain = folder.path().join("shop");
        std::fs::write(&plain, "").expect("written");
        let plain = plain.to_str().expect("a path");
        std::fs::create_dir(folder.path().join("of.db")).expect("a folder");
        let within = format!("{}/of.db/shop.sqlite3", folder.path().display());
        for (text, file, table) in [
            ("sqlite:shop.db", "shop.db", None),
            ("sqlite:shop.db/orders?timeout=1", "shop.db", Some("orders")),
            ("SQLite:///srv/shop.DB3/a%2Fb", "/srv/shop.DB3", Some("a%2Fb")),
            ("sqlite:100%25.db/t", "100%.db", Some("t")),
            ("sqlite:data/shop", "data/shop", None),
            (&format!("sqlite:{plain}/orders"), plain, Some("orders")),
            (&format!("sqlite:{within}/orders"), &within, Some("orders")),
        ] {
            let url = ServerUrl::new(text).expect(text);
            assert_eq!(url.kind().to_string(), "sqlite");
            let (found, _) = url.file();
            assert_eq!(found.to_str(), Some(file), "{text}");
            assert_eq!(url.names_table().then(|| url.last_part()), table, "{text}");
            let of_table = url.with_table("x/y");
            assert_eq!((of_table.file(), of_table.last_part()), (url.file(), "x%2Fy"), "{text}");
        }
    }

    #[test]
    fn a_url_without_slashes_is_refused() {
        for text in ["clickhouse:/u:geheim@h/d/t", "clickhouse:u:geheim@h/d/t"] {
            let error = ServerUrl::refuse_without_slashes(text).expect_err(text).to_string();
            assert!(!error.contains("geheim"), "{error}");
            assert!(error.ends_with("write clickhouse://host/database/table"), "{error}");
        }
        for text in ["clickhouse://h/d/t", "sqlite:shop.db/t", "orders.dbf", "c:/orders.dbf"] {
            ServerUrl::refuse_without_slashes(text).expect(text);
        }
    }

    #[test]
    fn the_password_is_not_shown() {
        let url = ServerUrl::new("ClickHouse://u:secret@h/d").expect("a server");
        assert_eq!(url.to_string(), "clickhouse://u:***@h/d");
        assert!(!format!("{url:?}").contains("secret"));
    }

    #[cfg(feature = "adbc")]
    #[test]
    fn a_driver_has_options() {
        let url = ServerUrl::new("adbc:driver=/x/lib.so;uri=odbc:Server=a;password=ge;heim").expect("a database");
        assert!(!url.names_table());
        let expected = [
            ("driver", "/x/lib.so"),
            ("uri", "odbc:Server=a"),
            ("password", "ge;heim"),
        ];
        assert_eq!(url.options(), expected);
        let table = url.with_table("a;b").with_table("c;d");
        assert_eq!((table.last_part(), table.options()), ("c%3Bd", expected.to_vec()));
        assert_eq!(table.client(), url.client());
        assert!(!table.to_string().contains("heim"), "{table}");
        let file = ServerUrl::new("duckdb:shop.duckdb/t?driver=x&threads=1").expect("a database");
        assert_eq!(file.options(), [("driver", "x"), ("threads", "1")]);
    }

    #[cfg(all(feature = "mysql", feature = "postgres"))]
    #[test]
    fn a_table_beside_another_is_in_its_schema() {
        for (text, name, beside) in [
            (
                "postgres://h/d/s/a%2Fb?sslmode=off",
                "a/b",
                "postgres://h/d/s/x%3Fy?sslmode=off",
            ),
            ("postgres://h/d/orders", "orders", "postgres://h/d/x%3Fy"),
            (
                "mysql://u:p@h/d/orders?timeout=1",
                "orders",
                "mysql://u:p@h/d/x%3Fy?timeout=1",
            ),
            ("sqlite:shop.db/a%2Fb", "a/b", "sqlite:shop.db/x%3Fy"),
        ] {
            let url = ServerUrl::new(text).expect(text);
            assert_eq!((url.table_name().as_str(), url.beside("x?y").as_str()), (name, beside));
        }
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
