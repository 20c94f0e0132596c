//! Tables that are not one file: shards, patterns, objects on the network, and files of records.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use tidemill_riegeli::{ReaderOptions, RecordReader};
use tidemill_sql::{CopyOptions, Location, Records, Session, SessionOptions};
use tidemill_testkit::corpus;

use crate::destination;

/// Three shards of numbers, in the format that the extension tells: 0 to 9, 10 to 19, 20 to 29.
async fn shards(folder: &Path, extension: &str) {
    let session = Session::new(SessionOptions::default().dir(folder));
    for shard in 0..3 {
        let file = folder.join(format!("numbers-0000{shard}-of-00003.{extension}"));
        let first = shard * 10;
        let sql = format!(
            "SELECT CAST(value AS BIGINT) AS n FROM (VALUES {}) AS t(value)",
            (first..first + 10)
                .map(|n| format!("({n})"))
                .collect::<Vec<_>>()
                .join(", ")
        );
        let copied = session
            .copy_query(&sql, &destination(&file), &CopyOptions::default(), |_| ())
            .await;
        copied.unwrap_or_else(|error| panic!("{extension}: {error}"));
    }
}

async fn numbers(session: &Session, sql: &str) -> Vec<i64> {
    let batches = session.query(sql).await.expect(sql).collect().await.expect(sql);
    let columns = batches.iter().map(|batch| batch.column(0).as_primitive::<Int64Type>());
    columns.flat_map(|column| column.values().to_vec()).collect()
}

#[tokio::test]
async fn shards_are_one_table() {
    for extension in ["riegeli", "dbf", "native", "parquet", "arrow"] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        shards(folder.path(), extension).await;
        let session = Session::new(SessionOptions::default().dir(folder.path()).threads(2));
        let all: Vec<i64> = (0..30).collect();
        for name in ["numbers@3", "numbers-*-of-00003", "numbers-0000[0-2]*"] {
            let table = format!("'{name}.{extension}'");
            assert_eq!(
                numbers(&session, &format!("SELECT CAST(n AS BIGINT) FROM {table}")).await,
                all,
                "{table}"
            );
            let few = numbers(&session, &format!("SELECT CAST(n AS BIGINT) FROM {table} LIMIT 13")).await;
            assert_eq!(few, all[..13], "{table}");
            let sum = numbers(
                &session,
                &format!("SELECT CAST(SUM(n) AS BIGINT) FROM {table} WHERE n > 4"),
            )
            .await;
            assert_eq!(sum, [435 - 10], "{table}");
            let count = numbers(&session, &format!("SELECT COUNT(*) FROM {table}")).await;
            assert_eq!(count, [30], "{table}");
        }
    }
}

#[tokio::test]
async fn a_missing_shard_is_named() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    shards(folder.path(), "riegeli").await;
    fs::remove_file(folder.path().join("numbers-00001-of-00003.riegeli")).expect("removed");
    let session = Session::new(SessionOptions::default().dir(folder.path()));
    for name in ["numbers@3.riegeli", "numbers-*-of-00003.riegeli"] {
        let error = match session.query(&format!("SELECT * FROM '{name}'")).await {
            Ok(_) => panic!("{name}: two of three shards are a table"),
            Err(error) => error.to_string(),
        };
        assert!(error.contains("numbers-00001-of-00003.riegeli is missing"), "{error}");
    }
}

#[tokio::test]
async fn shards_of_other_columns_are_no_table() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let session = Session::new(SessionOptions::default().dir(folder.path()));
    for (name, column) in [("a1", "n"), ("a2", "m")] {
        let file = folder.path().join(name).with_extension("riegeli");
        let sql = format!("SELECT 1 AS {column}");
        session
            .copy_query(&sql, &destination(&file), &CopyOptions::default(), |_| ())
            .await
            .expect("copied");
    }
    let error = match session.query("SELECT * FROM 'a*.riegeli'").await {
        Ok(_) => panic!("two schemas are a table"),
        Err(error) => error.to_string(),
    };
    assert!(
        error.contains("a1.riegeli and ") && error.contains("a2.riegeli, which have other columns"),
        "{error}"
    );
}

#[tokio::test]
async fn records_go_from_file_to_file_as_they_are() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let session = Session::new(SessionOptions::default());
    let original = corpus("riegeli/cpp/text.simple_zstd.riegeli");
    let expected = fs::read(corpus("riegeli/datasets/text.recs")).expect("the data set");
    let mut source = Location::existing(&original).expect("a location");
    for (name, options) in [
        ("a.tfrecord", ""),
        ("b.riegeli", "brotli:3,chunk_size:1k"),
        ("c.tfrecords", ""),
        ("e.array_record", ""),
        ("d.riegeli", "uncompressed"),
    ] {
        let file = folder.path().join(name);
        let mut how = CopyOptions::default();
        how.file.riegeli = options.parse().expect("options");
        session
            .copy(&source, &destination(&file), &how, |_| ())
            .await
            .expect(name);
        source = Location::existing(&file).expect("a location");
        assert!(framed(&source).await == expected, "{name}");
        let count = numbers(&session, &format!("SELECT COUNT(record) FROM '{}'", file.display())).await;
        assert_eq!(count, [300], "{name}");
    }
}

#[tokio::test]
async fn a_copy_of_records_keeps_the_metadata() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let session = Session::new(SessionOptions::default().dir(folder.path()));
    shards(folder.path(), "riegeli").await;
    let first = folder.path().join("numbers-00000-of-00003.riegeli");
    let copy = folder.path().join("copy.riegeli");
    let source = Location::existing(&first).expect("a location");
    session
        .copy(&source, &destination(&copy), &CopyOptions::default(), |_| ())
        .await
        .expect("copied");
    let metadata = |path: &PathBuf| {
        let mut reader = RecordReader::open(path, &ReaderOptions::default()).expect("a file");
        reader.metadata().expect("metadata").map(<[u8]>::to_vec)
    };
    assert!(metadata(&first).is_some_and(|metadata| !metadata.is_empty()));
    assert_eq!(metadata(&copy), metadata(&first));
    assert_eq!(
        numbers(&session, "SELECT n FROM copy").await,
        (0..10).collect::<Vec<_>>()
    );
}

/// The records, each behind its length.
async fn framed(location: &Location) -> Vec<u8> {
    let records = Records::open(location, &ReaderOptions::default())
        .await
        .expect("records");
    let read = || {
        let mut framed = Vec::new();
        records
            .read(|record| {
                framed.extend(u32::try_from(record.len()).expect("short").to_le_bytes());
                framed.extend_from_slice(record);
                Ok(ControlFlow::Continue(()))
            })
            .expect("read");
        framed
    };
    read()
}

/// Serves the files of a folder by HTTP, whole or in ranges, and notes how many bytes were asked for, of a size alone 0. Tells what
/// is in a folder by WebDAV (RFC 4918, PROPFIND).
struct WebServer {
    address: String,
    served: Arc<Mutex<Vec<usize>>>,
}

impl WebServer {
    fn of(folder: PathBuf) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address").to_string();
        let served = Arc::new(Mutex::new(Vec::new()));
        let notes = Arc::clone(&served);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (folder, notes) = (folder.clone(), Arc::clone(&notes));
                thread::spawn(move || answer(stream.expect("a connection"), &folder, &notes));
            }
        });
        Self { address, served }
    }
}

fn answer(mut stream: std::net::TcpStream, folder: &Path, notes: &Mutex<Vec<usize>>) {
    let mut lines = BufReader::new(stream.try_clone().expect("a handle")).lines();
    while let Some(Ok(request)) = lines.next() {
        let headers: Vec<String> = lines
            .by_ref()
            .map_while(Result::ok)
            .take_while(|line| !line.is_empty())
            .collect();
        let mut words = request.split(' ');
        let (method, path) = (words.next().expect("a method"), words.next().expect("a path"));
        let letters = [("%20", " "), ("%5B", "["), ("%5D", "]")];
        let decoded = letters
            .iter()
            .fold(path.to_owned(), |path, (number, letter)| path.replace(number, letter));
        let file = folder.join(decoded.trim_start_matches('/'));
        let bytes = match method {
            "PROPFIND" => listing(&file, path).into_bytes(),
            _ => fs::read(&file).unwrap_or_default(),
        };
        let range = headers.iter().find_map(|line| {
            let (first, last) = line
                .to_ascii_lowercase()
                .strip_prefix("range: bytes=")?
                .split_once('-')
                .map(|(a, b)| (a.to_owned(), b.to_owned()))?;
            Some((
                first.parse::<usize>().expect("a number"),
                last.parse::<usize>().expect("a number") + 1,
            ))
        });
        let (status, body, more) = match range {
            Some((first, end)) => (
                "206 Partial Content",
                &bytes[first..end.min(bytes.len())],
                format!(
                    "Content-Range: bytes {first}-{}/{}\r\n",
                    end.min(bytes.len()) - 1,
                    bytes.len()
                ),
            ),
            None if method == "PROPFIND" => ("207 Multi-Status", &bytes[..], String::new()),
            None if !file.exists() => ("404 Not Found", &bytes[..], String::new()),
            None => ("200 OK", &bytes[..], String::new()),
        };
        let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n{more}\r\n", body.len());
        let body = if method == "HEAD" { &[][..] } else { body };
        notes.lock().expect("notes").push(body.len());
        let sent = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body));
        if sent.is_err() {
            return;
        }
    }
}

fn listing(folder: &Path, path: &str) -> String {
    let mut listing = String::from("<?xml version=\"1.0\"?><D:multistatus xmlns:D=\"DAV:\">");
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let entry = entry.expect("an entry");
        let about = entry.metadata().expect("about it");
        listing += &format!(
            "<D:response><D:href>{}/{}</D:href><D:propstat><D:prop>\
             <D:getlastmodified>Fri, 01 Mar 2024 10:00:00 GMT</D:getlastmodified>\
             <D:getcontentlength>{}</D:getcontentlength><D:resourcetype>{}</D:resourcetype>\
             </D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response>",
            path.trim_end_matches('/'),
            entry.file_name().to_string_lossy(),
            about.len(),
            if about.is_dir() { "<D:collection/>" } else { "" }
        );
    }
    listing + "</D:multistatus>"
}

#[tokio::test(flavor = "multi_thread")]
async fn objects_that_fit_a_pattern_are_one_table() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = folder.path().join("the data");
    fs::create_dir_all(data.join("numbers-deeper")).expect("a folder");
    for extension in ["riegeli", "parquet", "dbf"] {
        shards(&data, extension).await;
    }
    fs::copy(
        data.join("numbers-00001-of-00003.riegeli"),
        data.join("more[1].riegeli"),
    )
    .expect("copied");
    let server = WebServer::of(folder.path().to_path_buf());
    let url = format!("http://{}/the%20data", server.address);
    let session = Session::new(SessionOptions::default().threads(1));
    for (pattern, expected) in [
        ("numbers@3.riegeli", 0..30),
        ("numbers-*-of-00003.riegeli", 0..30),
        ("numbers-*.riegeli", 0..30),
        ("*-0000[0-2]-*.riegeli", 0..30),
        ("numbers-*.parquet", 0..30),
        ("m*.riegeli", 10..20),
        ("more%5B1%5D.riegeli", 10..20),
    ] {
        let found = numbers(&session, &format!("SELECT n FROM '{url}/{pattern}' ORDER BY n")).await;
        assert_eq!(found, expected.collect::<Vec<_>>(), "{pattern}");
    }
    for (pattern, sizes) in [("numbers-*.riegeli", 0), ("numbers@3.riegeli", 4)] {
        server.served.lock().expect("notes").clear();
        numbers(&session, &format!("SELECT COUNT(*) FROM '{url}/{pattern}'")).await;
        let served = server.served.lock().expect("notes").clone();
        let asked = served.into_iter().filter(|size| *size == 0).count();
        assert_eq!(
            asked, sizes,
            "{pattern}: the first is asked for its format, and what a listing told is not asked for"
        );
    }

    fs::remove_file(data.join("numbers-00002-of-00003.riegeli")).expect("removed");
    for (pattern, expected) in [
        ("numbers-0*.riegeli", "numbers-00002-of-00003.riegeli is missing"),
        ("numbers@3.riegeli", "numbers-00002-of-00003.riegeli"),
        ("none*.riegeli", "none*.riegeli not found; no object fits the pattern"),
        ("a**b.riegeli", "not a pattern"),
        ("numbers@3.dbf", "reading xbase from there"),
    ] {
        match session.query(&format!("SELECT COUNT(*) FROM '{url}/{pattern}'")).await {
            Ok(_) => panic!("{pattern}"),
            Err(error) => assert!(error.to_string().contains(expected), "{error}"),
        }
    }
}

/// The rows before an offset are not read, whatever the records are, in one file and in several.
#[tokio::test(flavor = "multi_thread")]
async fn an_offset_begins_at_its_row() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    shards(folder.path(), "riegeli").await;
    let session = Session::new(SessionOptions::default().dir(folder.path()).threads(1));
    let mut options = CopyOptions::default();
    options.file.array_record = "group_size:7".parse().expect("options");
    options.file.riegeli = "chunk_size:500".parse().expect("options");
    for (source, copy) in [
        ("SELECT n FROM 'numbers@3.riegeli'", "typed.riegeli"),
        (
            "SELECT arrow_cast(CAST(n AS VARCHAR), 'Binary') AS record FROM 'numbers@3.riegeli'",
            "bytes.array_record",
        ),
        (
            "SELECT arrow_cast(CAST(n AS VARCHAR), 'Binary') AS record FROM 'numbers@3.riegeli'",
            "bytes.tfrecord",
        ),
    ] {
        let there = destination(&folder.path().join(copy));
        session.copy_query(source, &there, &options, |_| ()).await.expect(copy);
    }
    for (table, column, skips) in [
        ("numbers@3.riegeli", "n", true),
        ("typed.riegeli", "n", true),
        ("bytes.array_record", "CAST(arrow_cast(record, 'Utf8') AS BIGINT)", true),
        ("bytes.tfrecord", "CAST(arrow_cast(record, 'Utf8') AS BIGINT)", false),
    ] {
        let select = format!("SELECT {column} AS n FROM '{table}'");
        let all = numbers(&session, &select).await;
        assert_eq!(all.len(), 30, "{table}");
        for (limit, offset) in [
            (1, 0),
            (1, 1),
            (5, 6),
            (3, 7),
            (12, 9),
            (30, 10),
            (2, 19),
            (4, 20),
            (1, 29),
            (9, 30),
            (9, 31),
        ] {
            let some = numbers(&session, &format!("{select} LIMIT {limit} OFFSET {offset}")).await;
            let expected: Vec<i64> = all.iter().copied().skip(offset).take(limit).collect();
            assert_eq!(some, expected, "{table}, {limit} rows from {offset}");
        }
        let rest = numbers(&session, &format!("{select} OFFSET 13")).await;
        assert_eq!(rest, all[13..], "{table}");
        let even = numbers(
            &session,
            &format!("SELECT n FROM ({select}) AS t WHERE n % 2 = 0 LIMIT 2 OFFSET 3"),
        )
        .await;
        let expected: Vec<i64> = all.iter().copied().filter(|n| n % 2 == 0).skip(3).take(2).collect();
        assert_eq!(even, expected, "{table}");
        let plan = session
            .query(&format!("EXPLAIN {select} LIMIT 2 OFFSET 8"))
            .await
            .expect(table);
        let plan = plan.collect().await.expect(table);
        let plan = arrow_cast::pretty::pretty_format_batches(&plan)
            .expect("a text")
            .to_string();
        assert_eq!(plan.contains("offset=8"), skips, "{plan}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn objects_on_the_network_are_read_in_ranges() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    shards(folder.path(), "parquet").await;
    fs::copy(
        corpus("riegeli/cpp/text.simple_zstd.riegeli"),
        folder.path().join("text.riegeli"),
    )
    .expect("copied");
    // A file of 5 MB, of which a count reads chunk headers only.
    let session = Session::new(SessionOptions::default().dir(folder.path()));
    let mut options = CopyOptions::default();
    options.file.riegeli = "uncompressed,chunk_size:1M".parse().expect("options");
    let rows = "SELECT value AS n, 'some text that makes the rows longer' AS t FROM generate_series(1, 100000)";
    let large = folder.path().join("large.riegeli");
    session
        .copy_query(rows, &destination(&large), &options, |_| ())
        .await
        .expect("copied");
    let size = fs::metadata(&large).expect("a file").len() as usize;
    assert!(size > 4_000_000);

    let server = WebServer::of(folder.path().to_path_buf());
    let url = format!("http://{}", server.address);
    let session = Session::new(SessionOptions::default().threads(1));
    let sum = numbers(
        &session,
        &format!("SELECT CAST(SUM(n) AS BIGINT) FROM '{url}/numbers-00001-of-00003.parquet'"),
    )
    .await;
    assert_eq!(sum, [145]);
    let sum = numbers(&session, &format!("SELECT SUM(n) FROM '{url}/large.riegeli'")).await;
    assert_eq!(sum, [100_000 * 100_001 / 2]);

    server.served.lock().expect("notes").clear();
    let count = numbers(&session, &format!("SELECT COUNT(*) FROM '{url}/large.riegeli'")).await;
    assert_eq!(count, [100_000]);
    let served: usize = server.served.lock().expect("notes").iter().sum();
    assert!(served < size / 4, "{served} of {size} bytes for the chunk headers");

    server.served.lock().expect("notes").clear();
    let rows = numbers(
        &session,
        &format!("SELECT n FROM '{url}/large.riegeli' LIMIT 2 OFFSET 95000"),
    )
    .await;
    assert_eq!(rows, [95_001, 95_002]);
    let served: usize = server.served.lock().expect("notes").iter().sum();
    // Headers, and the chunk of the rows with what is read ahead.
    assert!(served < size / 2, "{served} of {size} bytes for two rows");

    let text = Location::existing(&folder.path().join("text.riegeli")).expect("a location");
    for name in ["text.tfrecord", "text.array_record"] {
        let copy = destination(&folder.path().join(name));
        session
            .copy(&text, &copy, &CopyOptions::default(), |_| ())
            .await
            .expect("copied");
    }
    // The last record damaged.
    let mut damaged = fs::read(folder.path().join("text.tfrecord")).expect("the copy");
    *damaged.last_mut().expect("a byte") ^= 1;
    fs::write(folder.path().join("damaged.tfrecord"), damaged).expect("written");
    for (name, regions) in [
        ("text.riegeli", 0),
        ("text.tfrecord", 0),
        ("text.array_record", 0),
        ("damaged.tfrecord", 1),
    ] {
        let text = session.locate(&format!("{url}/{name}")).await.expect("a location");
        let options = ReaderOptions::default().recover(true);
        let records = Records::open(&text, &options).await.expect("records");
        let mut bytes = 0;
        tokio::task::spawn_blocking(move || {
            let skipped = records
                .read(|record| {
                    bytes += record.len() as u64 + 4;
                    Ok(ControlFlow::Continue(()))
                })
                .expect("read");
            assert_eq!(skipped.len(), regions, "{name}");
            let expected = fs::metadata(corpus("riegeli/datasets/text.recs"))
                .expect("the data set")
                .len();
            assert!(bytes == expected || regions > 0, "{name}");
        })
        .await
        .expect("read");
        if regions == 0 {
            let count = numbers(
                &session,
                &format!("SELECT COUNT(*) FROM '{url}/{name}' WHERE record IS NOT NULL"),
            )
            .await;
            assert_eq!(count, [300], "{name}");
        }
    }
    let recovering = Session::new(SessionOptions::default().threads(1).recover(true));
    let count = numbers(&recovering, &format!("SELECT COUNT(*) FROM '{url}/damaged.tfrecord'")).await;
    assert_eq!(count, [299]);
    assert_eq!(recovering.damage().len(), 1);

    // The name tells nothing, and the bytes do.
    fs::write(folder.path().join("letter.doc"), "Dear Sir").expect("written");
    fs::copy(&large, folder.path().join("large.doc")).expect("copied");
    let count = numbers(&session, &format!("SELECT COUNT(*) FROM '{url}/large.doc'")).await;
    assert_eq!(
        count,
        numbers(&session, &format!("SELECT COUNT(*) FROM '{url}/large.riegeli'")).await
    );
    // Nor is a name believed that tells something else.
    for name in ["records.csv", "records.json", "records.parquet", "records.dbf"] {
        fs::copy(folder.path().join("text.tfrecord"), folder.path().join(name)).expect("copied");
        let count = numbers(&session, &format!("SELECT COUNT(*) FROM '{url}/{name}'")).await;
        assert_eq!(count, [300], "{name}");
    }
    for name in ["page.csv", "page.parquet", "page.jsonl"] {
        fs::write(folder.path().join(name), "<!DOCTYPE html><html>404</html>").expect("written");
    }
    for (name, expected) in [
        ("letter.doc", "letter.doc: a file of a format that is not known"),
        ("page.csv", "an HTML page"),
        ("page.parquet", "an HTML page"),
        ("page.jsonl", "an HTML page"),
    ] {
        let error = match session.query(&format!("SELECT * FROM '{url}/{name}'")).await {
            Ok(_) => panic!("{name}"),
            Err(error) => error.to_string(),
        };
        assert!(error.contains(expected), "{error}");
    }
}
