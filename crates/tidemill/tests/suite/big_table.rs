//! A table that takes a while to copy.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

/// A table of dBASE III, laid out by hand.
pub(crate) fn write(path: &Path, records: u32) {
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
    header.extend(records.to_le_bytes());
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
    for id in 0..records {
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
