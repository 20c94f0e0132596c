//! Many queries, few connections, and servers that come and go.

use std::{env, fs, net::SocketAddr, process::Command, sync::Arc, thread, time::Duration};

use arrow_array::{
    ArrayRef, RecordBatch, UInt64Array,
    cast::AsArray,
    types::{UInt8Type, UInt64Type},
};
use tidemill_clickhouse::{
    Compression, Error, blocking,
    client::{Client, Options, QueryStream},
};
use tidemill_testkit::ClickHouse;
use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
    sync::watch,
};

fn options(server: &ClickHouse) -> Options {
    let mut options = Options::new(&server.native().to_string()).unwrap();
    options.connect_timeout = Duration::from_secs(5);
    options.read_timeout = Duration::from_secs(20);
    options
}

async fn one(client: &Client) -> Result<u8, Error> {
    let batches = client.query("SELECT 1").collect().await?;
    Ok(batches[0].column(0).as_primitive::<UInt8Type>().value(0))
}

const SHORT: &str = "SELECT number FROM system.numbers LIMIT 1000000";
const ENDLESS: &str = "SELECT number FROM system.numbers";

/// So many queries that run at the same time, each over a connection of its own.
async fn running(client: &Client, count: usize, sql: &str) -> Vec<QueryStream> {
    let mut streams = Vec::new();
    for _ in 0..count {
        streams.push(client.query(sql).await.unwrap());
    }
    streams
}

async fn finish(streams: Vec<QueryStream>) {
    for mut stream in streams {
        while stream.next().await.unwrap().is_some() {}
    }
}

#[tokio::test]
async fn connections_that_died_while_nobody_used_them_are_replaced() {
    let Some(mut server) = ClickHouse::need() else { return };
    let mut options = options(&server);
    options.pool_size = 3;
    let client = Client::with_options(options).await.unwrap();
    client.execute("CREATE TABLE t (n UInt64) ENGINE = Log").await.unwrap();
    let batch = RecordBatch::try_from_iter([("n", Arc::new(UInt64Array::from(vec![1])) as ArrayRef)]).unwrap();
    for restart in 1..=3 {
        finish(running(&client, 3, SHORT).await).await;
        server.restart().unwrap();
        match restart {
            // Nothing of these may be done twice, so none may be sent over a connection that is closed.
            1 => {
                let mut insert = client.insert("t").await.unwrap();
                insert.write(&batch).await.unwrap();
                insert.finish().await.unwrap();
            }
            2 => drop(client.execute("INSERT INTO t SELECT 1").await.unwrap()),
            _ => client.ping().await.unwrap(),
        }
        assert_eq!(one(&client).await.unwrap(), 1);
    }
    let rows = client.query("SELECT count() FROM t").collect().await.unwrap();
    assert_eq!(rows[0].column(0).as_primitive::<UInt64Type>().value(0), 2);
}

#[tokio::test]
async fn a_select_is_sent_again_when_its_connection_had_died_unseen() {
    let Some(mut server) = ClickHouse::need() else { return };
    let client = Client::with_options(options(&server)).await.unwrap();
    finish(running(&client, 4, SHORT).await).await;
    // The runtime does not look at its sockets in between.
    server.restart().unwrap();
    assert_eq!(one(&client).await.unwrap(), 1);
}

#[tokio::test]
async fn connections_take_turns_among_servers_and_pass_over_those_that_are_silent() {
    let (Some(first), Some(second)) = (ClickHouse::need(), ClickHouse::need()) else {
        return;
    };
    first.query("CREATE TABLE here (n UInt8) ENGINE = Memory").unwrap();
    let mut options = options(&first);
    options.endpoints.push(second.native().to_string().parse().unwrap());
    let client = Client::with_options(options.clone()).await.unwrap();
    let held = running(&client, 6, ENDLESS).await;
    for (server, expected) in [(&first, 3), (&second, 3)] {
        let sql =
            "SELECT count() FROM system.processes WHERE query LIKE '%system.numbers%' AND query NOT LIKE '%processes%'";
        assert_eq!(server.query(sql).unwrap().trim(), expected.to_string());
    }
    drop(held);

    // One that takes connections and says nothing, and one that takes none.
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let nobody = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    options.endpoints = [silent.local_addr().unwrap(), nobody, first.native()]
        .map(|address| address.to_string().parse().unwrap())
        .into();
    options.connect_timeout = Duration::from_millis(500);
    let client = Client::with_options(options).await.unwrap();
    for stream in running(&client, 4, ENDLESS).await {
        drop(stream);
    }
    let answer = client.query("EXISTS TABLE here").collect().await.unwrap();
    assert_eq!(answer[0].column(0).as_primitive::<UInt8Type>().value(0), 1);
}

/// Passes on what comes, until the connections of that time are forgotten: they stay open, and nothing comes through.
async fn forgetful_proxy(server: SocketAddr) -> (SocketAddr, watch::Sender<bool>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (forget, forgotten) = watch::channel(false);
    tokio::spawn(async move {
        while let Ok((mut near, _)) = listener.accept().await {
            let mut forgotten = forgotten.clone();
            forgotten.mark_unchanged();
            tokio::spawn(async move {
                let mut far = TcpStream::connect(server).await.unwrap();
                tokio::select! {
                    _ = copy_bidirectional(&mut near, &mut far) => {}
                    _ = forgotten.changed() => tokio::time::sleep(Duration::from_secs(60)).await,
                }
            });
        }
    });
    (address, forget)
}

#[tokio::test]
async fn connections_that_were_idle_for_long_are_asked_whether_they_still_work() {
    let Some(server) = ClickHouse::need() else { return };
    let (address, forget) = forgetful_proxy(server.native()).await;
    let mut options = options(&server);
    options.endpoints = vec![address.to_string().parse().unwrap()];
    options.connect_timeout = Duration::from_millis(500);
    options.idle_timeout = Duration::from_millis(50);
    let client = Client::with_options(options.clone()).await.unwrap();
    assert_eq!(one(&client).await.unwrap(), 1);
    forget.send(true).unwrap();
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(one(&client).await.unwrap(), 1);

    // Where nobody asks, the query finds out.
    options.idle_timeout = Duration::from_secs(100);
    options.read_timeout = Duration::from_millis(300);
    let client = Client::with_options(options).await.unwrap();
    forget.send(true).unwrap();
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(matches!(one(&client).await, Err(Error::Timeout { .. })));
    assert_eq!(one(&client).await.unwrap(), 1);
}

/// Nobody looks at the sockets of a blocking client between its calls.
#[test]
fn a_blocking_client_is_shared_by_threads_and_finds_what_died() {
    let Some(mut server) = ClickHouse::need() else { return };
    let mut options = options(&server);
    options.pool_size = 3;
    let client = blocking::Client::with_options(options).unwrap();
    thread::scope(|scope| {
        for count in 1..=5_u64 {
            let client = &client;
            scope.spawn(move || {
                for _ in 0..3 {
                    let sql = format!("SELECT number FROM system.numbers LIMIT {count}00000");
                    let rows: usize = client.query(sql).unwrap().map(|batch| batch.unwrap().num_rows()).sum();
                    assert_eq!(rows as u64, 100_000 * count);
                    // Left in the middle.
                    assert!(client.query(ENDLESS).unwrap().next().unwrap().is_ok());
                }
            });
        }
    });
    client.execute("CREATE TABLE t (n UInt64) ENGINE = Log").unwrap();
    for restart in 1..=3 {
        server.restart().unwrap();
        // Not to be sent twice, so not over a connection that is closed.
        client.execute("INSERT INTO t SELECT 1").unwrap();
        let count = client.query_as::<u64>("SELECT count() FROM t").fetch_one().unwrap();
        assert_eq!(count, restart);
    }
}

/// The kernel shows for each socket which timer runs, and in how many hundredths of a second it rings.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn connections_are_kept_alive() {
    let Some(server) = ClickHouse::need() else { return };
    let remote = format!(":{:04X}", server.native().port());
    let timers = || {
        let sockets = fs::read_to_string("/proc/self/net/tcp").unwrap();
        let sockets = sockets
            .lines()
            .skip(1)
            .map(|line| line.split_whitespace().collect::<Vec<_>>());
        // Established ones to the server; the other ends are the server's.
        let ours = sockets.filter(|socket| socket[2].ends_with(&remote) && socket[3] == "01");
        ours.map(|socket| socket[5].to_owned()).collect::<Vec<_>>()
    };
    let mut options = options(&server);
    for (keep_alive, expected) in [(290, 28_900..=29_000), (7, 600..=700), (0, 0..=0)] {
        options.keep_alive = Duration::from_secs(keep_alive);
        let client = Client::with_options(options.clone()).await.unwrap();
        assert_eq!(one(&client).await.unwrap(), 1);
        let timers = timers();
        let [timer] = &timers[..] else { panic!("{timers:?}") };
        let (kind, rings) = timer.split_once(':').unwrap();
        assert_eq!(kind, if keep_alive == 0 { "00" } else { "02" }, "{timer}");
        let rings = u64::from_str_radix(rings, 16).unwrap();
        assert!(expected.contains(&rings), "{timer} for {keep_alive} seconds");
    }
}

#[tokio::test]
async fn a_server_that_is_late_is_tried_again() {
    let Some(server) = ClickHouse::need() else { return };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let mut options = options(&server);
    options.endpoints = vec![address.to_string().parse().unwrap()];
    options.connect_rounds = 1;
    assert!(matches!(
        Client::with_options(options.clone()).await,
        Err(Error::Io { .. })
    ));
    options.connect_rounds = 8;
    let native = server.native();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(250)).await;
        let listener = TcpListener::bind(address).await.unwrap();
        while let Ok((mut near, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut far = TcpStream::connect(native).await.unwrap();
                let _ = copy_bidirectional(&mut near, &mut far).await;
            });
        }
    });
    let client = Client::with_options(options).await.unwrap();
    assert_eq!(one(&client).await.unwrap(), 1);
}

#[tokio::test]
async fn a_query_waits_for_a_connection_and_not_for_ever() {
    let Some(server) = ClickHouse::need() else { return };
    let mut options = options(&server);
    options.pool_size = 1;
    options.pool_timeout = Duration::from_millis(300);
    let client = Client::with_options(options).await.unwrap();
    let held = running(&client, 1, SHORT).await;
    let waited = one(&client).await.unwrap_err();
    let action = "wait for a free connection";
    assert!(
        matches!(&waited, Error::Timeout { action: found, .. } if *found == action),
        "{waited:?}"
    );

    // Its own deadline, if that is nearer.
    let request = client.query("SELECT 1").deadline(Duration::from_millis(50));
    let waited = request.collect().await.unwrap_err();
    assert!(
        matches!(
            waited,
            Error::Timeout {
                action: "the query",
                ..
            }
        ),
        "{waited:?}"
    );

    let other = client.clone();
    let waiting = tokio::spawn(async move { one(&other).await });
    tokio::time::sleep(Duration::from_millis(50)).await;
    finish(held).await;
    assert_eq!(waiting.await.unwrap().unwrap(), 1);
}

/// The most memory that this process had, in kibibytes, without the pages of its own program: tests are programs without
/// optimisation, and large. Source: proc(5), `status`.
fn peak_memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let field = |name: &str| {
        let line = status.lines().find(|line| line.starts_with(name)).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap()
    };
    field("VmHWM:") - field("RssFile:")
}

/// Memory is that of a process: the test calls itself.
#[test]
fn a_hundred_million_rows_take_sixteen_megabytes() {
    const ADDRESS: &str = "TIDEMILL_TEST_ADDRESS";
    const COMPRESSION: &str = "TIDEMILL_TEST_COMPRESSION";
    const COUNT: &str = "TIDEMILL_TEST_ROWS";
    const ROWS: u64 = 100_000_000;
    if let (Ok(address), Ok(compression), Ok(count)) = (env::var(ADDRESS), env::var(COMPRESSION), env::var(COUNT)) {
        let count: u64 = count.parse().unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let mut options = Options::new(&address).unwrap();
            options.compression = compression.parse().unwrap();
            let client = Client::with_options(options).await.unwrap();
            let sql = format!("SELECT number FROM system.numbers_mt LIMIT {count}");
            let mut stream = client.query(sql).await.unwrap();
            let (mut rows, mut sum) = (0, 0_u64);
            while let Some(batch) = stream.next().await.unwrap() {
                rows += batch.num_rows() as u64;
                // One of a batch: adding up all takes minutes without optimisation.
                sum += batch.column(0).as_primitive::<UInt64Type>().value(0);
            }
            assert_eq!(rows, count);
            assert!(sum > 0);
        });
        let peak = peak_memory();
        println!("{compression}: {peak} KiB");
        assert!(peak < 16 << 10, "{peak} KiB");
        return;
    }
    let Some(server) = ClickHouse::need() else { return };
    // A third of them by ZSTD, which takes its time without optimisation.
    for (compression, rows) in [
        (Compression::None, ROWS),
        (Compression::Lz4, ROWS),
        (Compression::Zstd(1), ROWS / 3),
    ] {
        let mut itself = Command::new(env::current_exe().unwrap());
        itself.args([
            "--exact",
            "client_pool::a_hundred_million_rows_take_sixteen_megabytes",
            "--nocapture",
        ]);
        itself.env(ADDRESS, server.native().to_string());
        itself.env(COMPRESSION, compression.to_string());
        itself.env(COUNT, rows.to_string());
        let output = itself.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{compression}: {said}");
        print!("{}", String::from_utf8_lossy(&output.stdout));
    }
}
