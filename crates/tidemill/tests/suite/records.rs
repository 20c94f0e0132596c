//! Files of records: standard input, projections, salvage, TFRecord.

use std::fs;
use std::io::Write;
use std::process::Stdio;

use insta::assert_snapshot;
use tidemill_testkit::{corpus, corpus_bytes};

use crate::run::{Folder, Run};

/// Runs `tidemill` with `input` on its standard input.
fn piped(folder: &Folder, args: &[&str], input: Vec<u8>) -> Run {
    let mut command = folder.command(args);
    let command = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().expect("started");
    let mut stdin = child.stdin.take().expect("a pipe");
    let writer = std::thread::spawn(move || {
        // Who has read enough closes the pipe.
        let _ = stdin.write_all(&input);
    });
    let output = child.wait_with_output().expect("ended");
    writer.join().expect("written");
    Run::of(output)
}

#[test]
fn a_riegeli_file_may_come_through_a_pipe() {
    let folder = Folder::with(&[]);
    let file = corpus_bytes("riegeli/cpp/text.simple_zstd.riegeli");
    let expected = corpus_bytes("riegeli/datasets/text.recs");
    let cat = piped(&folder, &["cat", "-", "--format", "framed"], file.clone());
    assert_eq!(cat.code, Some(0), "{}", cat.stderr);
    assert!(cat.stdout == expected);
    let verify = piped(&folder, &["verify", "-", "--format", "json"], file.clone()).done();
    assert_eq!(verify, "{\"records\": 300, \"damaged\": []}\n");
    let copy = piped(&folder, &["copy", "-", "copy.tfrecord"], file.clone());
    assert_eq!(copy.code, Some(0), "{}", copy.stderr);
    let back = folder.run(&["cat", "copy.tfrecord", "--format", "framed"]);
    assert!(back.stdout == expected);
    let query = piped(&folder, &["sql", "SELECT * FROM '-'"], file).failed();
    assert!(
        query.contains("a statement over standard input is not supported; copy it to a file"),
        "{query}"
    );
}

#[test]
fn what_each_field_takes_is_told() {
    let folder = Folder::with(&["riegeli/cpp/nested.transpose_zstd.riegeli"]);
    let text = folder.run(&["inspect", "nested.transpose_zstd.riegeli"]).done();
    assert_snapshot!(text);
    let file = corpus_bytes("riegeli/cpp/nested.transpose_zstd.riegeli");
    let json = piped(&folder, &["inspect", "-", "--format", "json"], file).done();
    assert!(
        json.starts_with("{\"file\":\"standard input\",\"format\":\"riegeli\""),
        "{json}"
    );
    assert!(json.contains("\"fields\":[{\"path\":\""), "{json}");
}

#[test]
fn raw_records_follow_one_another() {
    let folder = Folder::with(&["riegeli/cpp/text.simple_zstd.riegeli"]);
    let framed = corpus_bytes("riegeli/datasets/text.recs");
    let mut expected = Vec::new();
    let mut left = &framed[..];
    for _ in 0..2 {
        let (length, rest) = left.split_first_chunk().expect("a length");
        let (record, rest) = rest.split_at(u32::from_le_bytes(*length) as usize);
        expected.extend_from_slice(record);
        left = rest;
    }
    let run = folder.run(&["cat", "text.simple_zstd.riegeli", "--format", "raw", "--limit", "2"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(run.stdout == expected);
}

#[test]
fn a_projection_keeps_the_fields_that_it_names() {
    let folder = Folder::with(&["riegeli/cpp/wide.transpose_zstd.riegeli"]);
    let sizes = ["root", "5", "4.0", "2,3,25", ""].map(|fields| {
        let run = folder.run(&[
            "cat",
            "wide.transpose_zstd.riegeli",
            "--format",
            "framed",
            "--project",
            fields,
        ]);
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        format!("{fields:?}: {} bytes", run.stdout.len())
    });
    assert_snapshot!(sizes.join("\n"));
    let wrong = folder.run(&[
        "cat",
        "wide.transpose_zstd.riegeli",
        "--project",
        "x",
        "--format",
        "raw",
    ]);
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.stderr.contains("--project"), "{}", wrong.stderr);
}

#[test]
fn a_projection_chooses_the_columns_of_messages() {
    let folder = Folder::with(&[]);
    let csv = "id,city,price\n1,Roma,2.5\n2,,3.5\n";
    fs::write(folder.file("orders.csv"), csv).expect("written");
    folder
        .run(&["copy", "orders.csv", "orders.riegeli", "--riegeli", "transpose,zstd"])
        .done();
    let rows = |fields: &str| {
        folder
            .run(&["cat", "orders.riegeli", "--format", "jsonl", "--project", fields])
            .done()
    };
    assert_eq!(rows("1,3"), "{\"id\":1,\"price\":2.5}\n{\"id\":2,\"price\":3.5}\n");
    assert_eq!(rows("2"), "{\"city\":\"Roma\"}\n{\"city\":null}\n");
    let existing = "{\"id\":1,\"city\":true}\n{\"id\":2,\"city\":false}\n";
    assert_eq!(rows("2.0,1"), existing);
    folder
        .run(&["copy", "orders.csv", "simple.riegeli", "--riegeli", "zstd"])
        .done();
    let simple = ["cat", "simple.riegeli", "--format", "jsonl", "--project", "1,2.0"];
    assert_eq!(folder.run(&simple).done(), existing);
    assert_eq!(rows("0"), "{}\n{}\n");
    assert!(rows("root").starts_with("{\"id\":1,\"city\":\"Roma\",\"price\":2.5}\n"));
}

#[test]
fn what_is_sound_is_salvaged_and_the_rest_is_named() {
    let folder = Folder::with(&["riegeli/cpp/bad.chunk_data_first.riegeli"]);
    let args = ["salvage", "bad.chunk_data_first.riegeli", "good.riegeli"];
    let run = folder.run(&args);
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    assert_snapshot!(run.stderr);
    let verify = folder.run(&["verify", "good.riegeli", "--format", "json"]).done();
    assert!(verify.ends_with("\"damaged\": []}\n"), "{verify}");
    let again = folder.run(&args).failed();
    assert!(again.contains("already exists"), "{again}");

    fs::copy(
        corpus("riegeli/cpp/text.simple_zstd.riegeli"),
        folder.file("sound.riegeli"),
    )
    .expect("copied");
    let run = folder.run(&["salvage", "sound.riegeli", "same.riegeli"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
}

#[test]
fn a_copy_recompresses_and_transposes() {
    let folder = Folder::with(&["riegeli/cpp/wide.simple_zstd.riegeli"]);
    let source = folder.run(&["cat", "wide.simple_zstd.riegeli", "--format", "framed"]);
    for options in ["transpose,brotli:6", "uncompressed", "snappy,chunk_size:4k"] {
        let copy = [
            "copy",
            "wide.simple_zstd.riegeli",
            "copy.riegeli",
            "--overwrite",
            "--riegeli",
            options,
        ];
        let run = folder.run(&copy);
        assert_eq!(run.code, Some(0), "{options}: {}", run.stderr);
        let back = folder.run(&["cat", "copy.riegeli", "--format", "framed"]);
        assert!(back.stdout == source.stdout, "{options}");
    }
}

#[test]
fn tfrecord_files_are_tables_of_records() {
    let folder = Folder::with(&["riegeli/cpp/text.simple_zstd.riegeli"]);
    folder
        .run(&["copy", "text.simple_zstd.riegeli", "text.tfrecord"])
        .done();
    let sql = "SELECT COUNT(*) AS n, COUNT(DISTINCT record) AS different FROM 'text.tfrecord'";
    let expected = "SELECT COUNT(*) AS n, COUNT(DISTINCT record) AS different FROM 'text.simple_zstd.riegeli'";
    let count = folder.run(&["sql", sql]).done();
    assert_eq!(count, folder.run(&["sql", expected]).done());
    assert!(count.contains("300"), "{count}");
    let inspect = folder.run(&["inspect", "text.tfrecord", "--format", "json"]).done();
    assert!(inspect.contains("\"format\":\"tfrecord\""), "{inspect}");

    let mut bytes = fs::read(folder.file("text.tfrecord")).expect("the copy");
    bytes[20] ^= 1;
    fs::write(folder.file("text.tfrecord"), bytes).expect("damaged");
    let run = folder.run(&["verify", "text.tfrecord"]);
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    let text = String::from_utf8(run.stdout).expect("UTF-8");
    assert!(
        text.contains("the record at byte 0: checksum of the record is "),
        "{text}"
    );
}
