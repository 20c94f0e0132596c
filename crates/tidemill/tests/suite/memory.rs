//! A copy's memory is bounded, however large the table.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use crate::run::{Folder, Run};

const RECORDS: u32 = 1_600_000;

#[test]
#[cfg(target_os = "linux")]
fn a_copy_of_300_megabytes_stays_below_200() {
    let folder = Folder::with(&[]);
    write_table(&folder.file("BIG.DBF"));
    for copy in ["big.riegeli", "big.parquet"] {
        let mut child = folder
            .command(&["copy", "BIG.DBF", copy])
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("started");
        let mut peak_kib = 0;
        while child.try_wait().expect("a child").is_none() {
            peak_kib = peak_resident_kib(child.id()).unwrap_or(0).max(peak_kib);
            std::thread::sleep(Duration::from_millis(5));
        }
        let run = Run::of(child.wait_with_output().expect("ended"));
        assert!(run.stderr.contains("1,600,000 rows"), "{}", run.stderr);
        run.done();
        assert!((10_000..200_000).contains(&peak_kib), "{copy}: {peak_kib} KiB");
    }
}

/// `VmHWM` of proc_pid_status(5): the most that was resident so far.
fn peak_resident_kib(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// A table of dBASE III, laid out by hand.
fn write_table(path: &Path) {
    let fields: [(&str, u8, u8, u8); 5] = [
        ("ID", b'N', 10, 0),
        ("NAME", b'C', 60, 0),
        ("AMOUNT", b'N', 12, 2),
        ("BORN", b'D', 8, 0),
        ("NOTE", b'C', 100, 0),
    ];
    let record_len = 1 + fields.iter().map(|field| u16::from(field.2)).sum::<u16>();
    let header_len = 32 * (fields.len() as u16 + 1) + 1;
    let mut header = vec![0x03, 124, 6, 30];
    header.extend(RECORDS.to_le_bytes());
    header.extend(header_len.to_le_bytes());
    header.extend(record_len.to_le_bytes());
    header.resize(32, 0);
    for (name, letter, width, decimals) in fields {
        let mut descriptor = name.as_bytes().to_vec();
        descriptor.resize(11, 0);
        descriptor.extend([letter, 0, 0, 0, 0, width, decimals]);
        descriptor.resize(32, 0);
        header.extend(descriptor);
    }
    header.push(0x0D);
    let mut file = BufWriter::with_capacity(1 << 20, File::create(path).expect("created"));
    file.write_all(&header).expect("written");
    for id in 0..RECORDS {
        let name = format!("Customer of street {} in town {}", id % 7_919, id % 331);
        let note = format!(
            "ordered {} times, last {}",
            id % 17,
            id.wrapping_mul(2_654_435_761) % 10_007
        );
        write!(
            file,
            " {id:>10}{name:<60}{:>9}.{:02}199{}0{}{}{note:<100}",
            id % 100_000,
            id % 100,
            id % 10,
            id % 9 + 1,
            id % 18 + 10
        )
        .expect("written");
    }
    file.flush().expect("written");
}
