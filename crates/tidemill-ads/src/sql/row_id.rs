//! ROWID: 18 characters that tell a record from all others ("ROWID" in ADS's help): six for the folder, six for the file, six for the record.
//!
//! Each six are a number in the digits A-Z, a-z, 0-9, +, /. Those of folder and file are made of their names.

use std::path::Path;

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
/// The characters of a number.
const WIDTH: usize = 6;

/// What the ROWIDs of a table begin with.
pub fn prefix(table: &Path) -> String {
    let number = |bytes: &[u8]| encoded(u64::from(crc32c::crc32c(bytes)));
    let folder = table.parent().unwrap_or(Path::new("")).as_os_str();
    let file = table.file_stem().unwrap_or_default();
    number(folder.as_encoded_bytes()) + &number(file.as_encoded_bytes())
}

/// The ROWID of a record.
pub(super) fn of(prefix: &str, record: u32) -> String {
    format!("{prefix}{}", encoded(u64::from(record)))
}

/// What stands before the number of the record, and the number; `None` of what is no ROWID.
pub(super) fn parted(row_id: &str) -> Option<(&str, u32)> {
    let (prefix, digits) = row_id.trim_end().split_at_checked(2 * WIDTH)?;
    if digits.len() != WIDTH {
        return None;
    }
    let number = digits.bytes().try_fold(0_u64, |number, digit| {
        let value = DIGITS.iter().position(|known| *known == digit)?;
        Some(number << 6 | u64::try_from(value).ok()?)
    })?;
    Some((prefix, u32::try_from(number).ok()?))
}

fn encoded(number: u64) -> String {
    let digit = |place: usize| {
        let value = number >> (6 * (WIDTH - 1 - place)) & 63;
        let digit = usize::try_from(value).ok().and_then(|value| DIGITS.get(value));
        char::from(digit.copied().unwrap_or(b'A'))
    };
    (0..WIDTH).map(digit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back() {
        let prefix = prefix(Path::new("/data/shop/orders.dbf"));
        assert_eq!(prefix.len(), 12);
        for (record, digits) in [(1, "AAAAAB"), (64, "AAAABA"), (u32::MAX, "D/////")] {
            let row_id = of(&prefix, record);
            assert_eq!(row_id.get(12..), Some(digits));
            assert_eq!(parted(&row_id), Some((prefix.as_str(), record)));
        }
        for wrong in [
            "",
            "AAAAAA",
            "AAAAAAAAAAAAAAAAA!",
            "AAAAAAAAAAAA//////",
            "AAAAAAAAAAAAAAAAAAA",
        ] {
            assert_eq!(parted(wrong), None, "{wrong}");
        }
    }
}
