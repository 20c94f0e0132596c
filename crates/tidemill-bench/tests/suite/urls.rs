//! The keys in the URLs of Cassandra and ClickHouse that mean the same: both clients take the same spellings and refuse the same values.

use std::time::Duration;

use tidemill_clickhouse::client::Options as ClickHouse;
use tidemill_cql::Options as Cassandra;

/// What both clients make of a query: whether connections are encrypted, whether any certificate is taken, and two limits.
type Meant = (bool, bool, Option<Duration>, Duration);

fn cassandra(query: &str) -> Result<Meant, String> {
    let (options, _) = Cassandra::parse(&format!("cql://h?{query}")).map_err(|error| error.to_string())?;
    let any = options.tls.as_ref().is_some_and(|tls| !tls.verify);
    Ok((
        options.tls.is_some(),
        any,
        Some(options.timeout),
        options.connect_timeout,
    ))
}

fn clickhouse(query: &str) -> Result<Meant, String> {
    let options: ClickHouse = format!("clickhouse://h?{query}")
        .parse()
        .map_err(|error: tidemill_clickhouse::Error| error.to_string())?;
    let any = options.tls.as_ref().is_some_and(|tls| tls.accepts_any_certificate);
    Ok((options.tls.is_some(), any, options.deadline, options.connect_timeout))
}

#[test]
fn keys_of_urls_mean_the_same_for_both_servers() {
    let folder = tempfile::tempdir().unwrap();
    let pem = folder.path().join("a.pem");
    std::fs::write(&pem, "PEM").unwrap();
    let pem = pem.to_str().unwrap();
    // Who has no limit of a statement of its own has another default.
    let second = Duration::from_secs(1);
    let limits = "timeout=90&connect_timeout=1";
    for (query, is_encrypted, takes_any) in [
        ("secure=true", true, false),
        ("secure=1", true, false),
        ("secure", true, false),
        ("ssl=true", true, false),
        ("tls=1", true, false),
        ("secure=false", false, false),
        ("verify=true", false, false),
        ("verify=false", true, true),
        ("verify=0&secure=1", true, true),
        ("skip_verify=true", true, true),
        ("skip_verify=false", false, false),
        ("ca=PEM", true, false),
        ("ca_certificate=PEM", true, false),
        ("ca_certs=PEM", true, false),
        ("cafile=PEM", true, false),
        ("cert=PEM&key=PEM", true, false),
        ("client_key=PEM&client_certificate=PEM", true, false),
        ("certfile=PEM&keyfile=PEM&secure=true", true, false),
        ("compression=lz4", false, false),
        ("compression=LZ4", false, false),
        ("compress=true", false, false),
        ("compression=none", false, false),
        ("compression=0", false, false),
        ("username=ann&password=secret", false, false),
    ] {
        let query = format!("{query}&{limits}").replace("PEM", pem);
        let expected = Ok((is_encrypted, takes_any, Some(90 * second), second));
        assert_eq!(cassandra(&query), expected, "cql, {query}");
        assert_eq!(clickhouse(&query), expected, "clickhouse, {query}");
    }
    for query in ["timeout=1m30s&dial_timeout=1s", "timeout=90.0&connect_timeout=1000ms"] {
        assert_eq!(cassandra(query), clickhouse(query), "{query}");
    }
    for (query, named) in [
        ("secure=perhaps", "true or false"),
        ("verify=maybe", "true or false"),
        ("secure=false&ca=PEM", "secure=true"),
        ("ca=PEM&secure=false", "secure=true"),
        ("verify=false&secure=0", "secure=true"),
        ("cert=PEM", "go together"),
        ("key=PEM&secure=true", "go together"),
        ("timeout=0", "above 0"),
        ("timeout=soon", "1m30s"),
        ("connect_timeout=0s", "above 0"),
        ("compression=lzma", "lz4"),
        ("verfy=false", "verify"),
        ("vreify=false", "verify"),
        ("Secure=true", "secure"),
        ("frobnicate=1", "connect_timeout"),
    ] {
        let query = query.replace("PEM", pem);
        for error in [cassandra(&query), clickhouse(&query)] {
            let error = error.expect_err(&query);
            assert!(error.contains(named), "{query}: {error}");
        }
    }
}
