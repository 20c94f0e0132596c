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
    assert_eq!(
        verify,
        "{\"file\": \"standard input\", \"records\": 300, \"damaged\": []}\n"
    );
    let copy = piped(&folder, &["copy", "-", "copy.tfrecord"], file.clone());
    assert_eq!(copy.code, Some(0), "{}", copy.stderr);
    let back = folder.run(&["cat", "copy.tfrecord", "--format", "framed"]);
    assert!(back.stdout == expected);
    let query = piped(&folder, &["sql", "SELECT COUNT(*) AS n FROM '-'"], file);
    assert_eq!(query.done(), "{\"n\":300}\n");
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
        text.starts_with("text.tfrecord: 299 good records, damaged in 1 place\n  bytes 0 to "),
        "{text}"
    );
    assert!(text.contains(": checksum of the record is "), "{text}");
    let records = |args: &[&str]| folder.run(&[&["sql", "SELECT COUNT(*) AS n FROM 'text.tfrecord'"], args].concat());
    let error = records(&[]).failed();
    assert!(
        error.contains("the record at byte 0: checksum of the record is "),
        "{error}"
    );
    let recovered = records(&["--recover", "--format", "csv"]);
    assert!(
        recovered.stderr.contains("text.tfrecord: skipped region [0, "),
        "{}",
        recovered.stderr
    );
    assert_eq!(recovered.done(), "n\n299\n");
}

/// Where each record of a TFRecord file begins.
fn begins(file: &[u8]) -> Vec<usize> {
    let mut begins = vec![0];
    while let Some(length) = file.get(begins[begins.len() - 1]..).and_then(|left| left.first_chunk()) {
        let length = usize::try_from(u64::from_le_bytes(*length)).expect("a short record");
        begins.push(begins[begins.len() - 1] + 16 + length);
    }
    begins
}

#[test]
fn records_of_a_tfrecord_file_are_salvaged_from_behind_damage() {
    let folder = Folder::with(&["riegeli/cpp/text.simple_zstd.riegeli"]);
    folder
        .run(&["copy", "text.simple_zstd.riegeli", "text.tfrecord"])
        .done();
    let sound = fs::read(folder.file("text.tfrecord")).expect("the copy");
    let begins = begins(&sound);
    assert_eq!(begins.len(), 301);
    let framed = |name: &str| folder.run(&["cat", name, "--format", "framed"]).stdout;
    let expected = |left_out: &[usize]| {
        let kept = (0..300).filter(|record| !left_out.contains(record));
        let framed = |record| {
            let bytes = &sound[begins[record] + 12..begins[record + 1] - 4];
            [&u32::try_from(bytes.len()).expect("short").to_le_bytes(), bytes].concat()
        };
        kept.flat_map(framed).collect::<Vec<u8>>()
    };
    assert!(framed("text.tfrecord") == expected(&[]));
    for (name, at) in [
        ("a length", begins[7]),
        ("the checksum of a length", begins[7] + 9),
        ("a record", begins[7] + 12),
        ("the checksum of a record", begins[8] - 1),
    ] {
        let mut damaged = sound.clone();
        damaged[at] ^= 4;
        // And in the last record.
        damaged[begins[299] + 12] ^= 1;
        fs::write(folder.file("damaged.tfrecord"), &damaged).expect("written");
        let run = folder.run(&["salvage", "damaged.tfrecord", "good.tfrecord", "--overwrite"]);
        assert_eq!(run.code, Some(1), "{name}: {}", run.stderr);
        let region = format!("damaged.tfrecord: skipped region [{}, {}): ", begins[7], begins[8]);
        assert!(run.stderr.contains(&region), "{name}: {}", run.stderr);
        let saved = "298 records saved, damaged places left out: 2";
        assert!(run.stderr.contains(saved), "{name}: {}", run.stderr);
        assert!(framed("good.tfrecord") == expected(&[7, 299]), "{name}");
        let piped = piped(&folder, &["salvage", "-", "piped.riegeli", "--overwrite"], damaged);
        assert_eq!(piped.code, Some(1), "{name}: {}", piped.stderr);
        assert!(framed("piped.riegeli") == expected(&[7, 299]), "{name}");
    }
    let cut = &sound[..begins[20] + 5];
    fs::write(folder.file("cut.tfrecord"), cut).expect("written");
    let run = folder.run(&["salvage", "cut.tfrecord", "cut.riegeli"]);
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    assert!(framed("cut.riegeli") == expected(&Vec::from_iter(20..300)));
}

#[test]
fn other_files_of_records_may_come_through_a_pipe() {
    let folder = Folder::with(&["riegeli/cpp/text.simple_zstd.riegeli"]);
    folder
        .run(&["copy", "text.simple_zstd.riegeli", "text.tfrecord"])
        .done();
    folder
        .run(&["copy", "text.simple_zstd.riegeli", "text.array_record"])
        .done();
    let expected = corpus_bytes("riegeli/datasets/text.recs");
    let rows = folder.run(&["cat", "text.tfrecord", "--format", "jsonl"]).done();
    for (name, format) in [("text.tfrecord", "tfrecord"), ("text.array_record", "array_record")] {
        let file = fs::read(folder.file(name)).expect("the copy");
        let cat = piped(&folder, &["cat", "-", "--format", "framed"], file.clone());
        assert_eq!(cat.code, Some(0), "{name}: {}", cat.stderr);
        assert!(cat.stdout == expected, "{name}");
        let cat = piped(&folder, &["cat", "-", "--format", "jsonl"], file.clone());
        assert!(cat.done() == rows, "{name}");
        let verify = piped(&folder, &["verify", "-", "--format", "json"], file.clone()).done();
        assert_eq!(
            verify, "{\"file\": \"standard input\", \"records\": 300, \"damaged\": []}\n",
            "{name}"
        );
        let size = file.len();
        let inspect = piped(&folder, &["inspect", "-", "--format", "json"], file).done();
        let beginning = format!("{{\"file\":\"standard input\",\"format\":\"{format}\",\"bytes\":{size}");
        assert!(inspect.starts_with(&beginning), "{inspect}");
        assert!(inspect.contains("\"columns\":[{\"name\":\"record\""), "{inspect}");
    }
}

#[test]
fn an_array_record_file_is_described_and_salvaged_without_its_footer() {
    let folder = Folder::with(&["riegeli/cpp/text.simple_zstd.riegeli"]);
    let copy = [
        "copy",
        "text.simple_zstd.riegeli",
        "text.array_record",
        "--array-record",
        "group_size:40,zstd:3",
    ];
    folder.run(&copy).done();
    let text = folder.run(&["inspect", "text.array_record"]).done();
    assert_snapshot!(text);
    let json = folder.run(&["inspect", "text.array_record", "--format", "json"]).done();
    assert!(
        json.starts_with("{\"file\":\"text.array_record\",\"format\":\"array_record\",\"bytes\":"),
        "{json}"
    );
    assert!(json.contains("\"records\":300,"), "{json}");

    let expected = corpus_bytes("riegeli/datasets/text.recs");
    let file = fs::read(folder.file("text.array_record")).expect("the copy");
    let postscript = file.len() - 65_536;
    // Cut off in front of the postscript and inside it, and damaged there.
    let mut damaged = file.clone();
    damaged[postscript + 70] ^= 1;
    for (name, bytes, code) in [
        ("cut", &file[..postscript], 1),
        ("torn", &file[..postscript + 30], 1),
        ("damaged", &damaged[..], 1),
    ] {
        let (name, saved) = (format!("{name}.array_record"), format!("{name}.riegeli"));
        fs::write(folder.file(&name), bytes).expect("written");
        let run = folder.run(&["salvage", &name, &saved]);
        assert_eq!(run.code, Some(code), "{name}: {}", run.stderr);
        assert!(run.stderr.contains("300 records saved"), "{name}: {}", run.stderr);
        let cat = folder.run(&["cat", &saved, "--format", "framed"]);
        assert!(cat.stdout == expected, "{name}");
    }
}
