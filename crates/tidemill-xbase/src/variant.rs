//! Fields of any type of SIx and Harbour (`V` of 6 bytes and more), as text.

use crate::column::date_packed;
use crate::julian;
use crate::memo::{Fault, Memo, MemoReader};

/// A field of any type (SIx, Harbour `V` of 6 bytes and more) as text: the last two bytes say what the first are.
pub(crate) fn read(memos: &mut MemoReader, memo: Option<&Memo>, cell: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
    let Some((value, code)) = cell.split_last_chunk::<2>() else {
        return Ok(());
    };
    let code = u16::from_le_bytes(*code);
    let cut = || Fault::new(0, "a value within the field", format!("{} bytes", value.len()));
    match code {
        0..=63_999 => {
            let len = usize::from(code);
            if let Some(text) = value.get(..len) {
                out.extend_from_slice(text);
                return Ok(());
            }
            // The beginning is in the field; the block number of the rest is in its last four bytes.
            let (text, block) = value.split_last_chunk::<4>().ok_or_else(cut)?;
            let memo = memo.ok_or_else(|| Fault::new(0, "a memo file with the rest of the text", "none"))?;
            let offset = u64::from(u32::from_le_bytes(*block)) * u64::from(memo.block_size());
            out.extend_from_slice(text);
            memos.append(memo, offset, (len - text.len()) as u64, out)
        }
        64_001 => {
            let days = date_packed(value.get(..3).ok_or_else(cut)?).map_err(|e| Fault::new(0, e, "none"))?;
            if let Some((year, month, day)) = days.map(julian::civil_from_unix_days) {
                out.extend_from_slice(format!("{year:04}-{month:02}-{day:02}").as_bytes());
            }
            Ok(())
        }
        64_002 => {
            let value = value.first_chunk().ok_or_else(cut)?;
            out.extend_from_slice(i32::from_le_bytes(*value).to_string().as_bytes());
            Ok(())
        }
        64_003 => {
            let value = value.first().ok_or_else(cut)?;
            out.extend_from_slice(if *value == 0 { b"false" } else { b"true" });
            Ok(())
        }
        64_004 | 64_007 => {
            let value = value.first_chunk().ok_or_else(cut)?;
            out.extend_from_slice(f64::from_le_bytes(*value).to_string().as_bytes());
            Ok(())
        }
        _ => Err(Fault::new(
            0,
            "text, a date, a number or a logical (0 to 64004)",
            format!("type {code}"),
        )),
    }
}
