//! Tables put into an object store, and asked there.

use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tidemill_testkit::S3;

use crate::run::{Folder, Run};

fn command(folder: &Folder, store: &S3, args: &[&str]) -> Command {
    let mut command = folder.command(args);
    command.envs(store.variables());
    command
}

fn run(folder: &Folder, store: &S3, args: &[&str]) -> Run {
    Run::of(command(folder, store, args).output().expect("ended"))
}

/// Uploads that were begun and neither ended nor given up.
fn uploads(store: &S3) -> usize {
    let listed = store.get("/bucket?uploads").expect("an answer");
    listed.matches("<UploadId>").count()
}

#[test]
fn tables_go_up_in_every_format_that_is_read_there() {
    let Some(store) = S3::need() else { return };
    let folder = Folder::with(&[]);
    fs::write(folder.file("three.csv"), "id,name\n1,one\n2,two\n3,three\n").expect("written");
    for name in [
        "a b.parquet",
        "x.arrow",
        "x.jsonl",
        "x.riegeli",
        "x.array_record-00000-of-00001",
        "x.tfrecord.gz",
    ] {
        let url = format!("s3://bucket/deep/{name}");
        // Formats of records have one binary column.
        let source = match name.contains("record") {
            true => "SELECT arrow_cast(name, 'Binary') AS record FROM 'three.csv'",
            false => "three.csv",
        };
        let verify = match name.ends_with("jsonl") {
            true => "counts",
            false => "full",
        };
        let copied = run(&folder, &store, &["copy", source, &url, "--verify", verify]);
        assert_eq!(copied.code, Some(0), "{name}: {}", copied.stderr);
        let count = run(&folder, &store, &["sql", &format!("SELECT COUNT(*) n FROM '{url}'")]);
        assert_eq!(count.done(), "{\"n\":3}\n", "{name}");
        let again = run(&folder, &store, &["copy", source, &url]).failed();
        assert!(again.contains("already exists; --overwrite replaces it"), "{again}");
        run(&folder, &store, &["copy", source, &url, "--overwrite"]).done();
    }
    // Records go as they are.
    let from = "s3://bucket/deep/x.tfrecord.gz";
    run(
        &folder,
        &store,
        &["copy", from, "s3://bucket/y.riegeli", "--verify", "full"],
    )
    .done();
    let verified = run(&folder, &store, &["verify", "s3://bucket/y.riegeli"]).done();
    assert!(verified.contains("3 records, no damage"), "{verified}");
    run(
        &folder,
        &store,
        &["salvage", "s3://bucket/y.riegeli", "s3://bucket/z.riegeli"],
    )
    .done();
    let missing = run(&folder, &store, &["verify", "s3://bucket/none.riegeli"]).failed();
    assert!(missing.contains("the store has no such object"), "{missing}");
    for (destination, why) in [
        ("s3://bucket/x.dbf", "xbase as an object is not supported"),
        ("s3://bucket/x", "writing a file of this name is not supported"),
        (
            "s3://bucket/x.tfrecord@2",
            "writing several objects at once is not supported",
        ),
        ("http://127.0.0.1:1/x.csv", "writing to a web server is not supported"),
        ("s3://nowhere/x.parquet", "s3://nowhere/x.parquet: cannot write"),
    ] {
        let said = run(&folder, &store, &["copy", "three.csv", destination]).failed();
        assert!(said.contains(why), "{said}");
    }
}

#[test]
fn a_folder_goes_up_below_a_prefix() {
    let Some(store) = S3::need() else { return };
    let folder = Folder::with(&[]);
    fs::create_dir(folder.file("d")).expect("made");
    fs::write(folder.file("d/sales 2023.csv"), "a\n1\n").expect("written");
    fs::write(folder.file("d/sales.2024.csv"), "a\n2\n").expect("written");
    run(&folder, &store, &["copy", "d", "s3://bucket/sales/", "--to", "parquet"]).done();
    assert!(!folder.file("s3:").exists());
    let sum = run(
        &folder,
        &store,
        &["sql", "SELECT SUM(a) AS a FROM 's3://bucket/sales/*.parquet'"],
    );
    assert_eq!(sum.done(), "{\"a\":3}\n");
}

/// A copy that a signal ends has the store give up what was sent.
#[test]
fn an_upload_that_is_ended_leaves_nothing_in_the_store() {
    let Some(store) = S3::need() else { return };
    let folder = Folder::with(&[]);
    let rows: String = (0..6_000_000).map(|row| format!("{row},{}\n", row * 7919)).collect();
    fs::write(folder.file("big.csv"), format!("a,b\n{rows}")).expect("written");
    let url = "s3://bucket/big.csv";
    let mut ended = false;
    for _ in 0..5 {
        let mut copy = command(&folder, &store, &["copy", "big.csv", url, "--overwrite"]);
        let mut copy = copy
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("started");
        let begun = Instant::now();
        while uploads(&store) == 0 && copy.try_wait().expect("asked").is_none() {
            assert!(begun.elapsed() < Duration::from_secs(60), "nothing is sent");
        }
        let signalled = Command::new("kill").arg(copy.id().to_string()).status().expect("kill");
        let status = copy.wait().expect("ended");
        // A store that is busy does what it was asked a little later.
        let given_up = Instant::now();
        while uploads(&store) > 0 {
            assert!(
                given_up.elapsed() < Duration::from_secs(20),
                "the store keeps the parts"
            );
        }
        ended = signalled.success() && status.code() == Some(143);
        if ended {
            break;
        }
    }
    assert!(ended, "each copy was done before the signal came");
    // One that is let alone goes up in parts, too.
    run(&folder, &store, &["copy", "big.csv", url, "--overwrite"]).done();
    assert_eq!(uploads(&store), 0);
    let count = run(&folder, &store, &["sql", &format!("SELECT COUNT(*) n FROM '{url}'")]);
    assert_eq!(count.done(), "{\"n\":6000000}\n");
}
