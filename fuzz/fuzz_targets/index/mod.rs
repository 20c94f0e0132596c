//! An index file from bytes: the last 16 bytes are what is sought in its orders and put into them, the others are the file.

use tidemill_xbase::Bitmap;
use tidemill_xbase::aof::OrderedRecords;
use tidemill_xbase::index::{Collation, Direction, End, Index, IndexDialect, IndexEditor, IndexOptions, Key, KeyType};

/// No record of a sound file is higher.
const RECORDS: u32 = 5000;

pub(crate) fn run(input: &[u8], dialect: IndexDialect) {
    let Some((file, key)) = input.split_last_chunk::<16>() else {
        return;
    };
    // A small cache makes pages go and come back.
    let options = IndexOptions::new().cache_bytes(4096);
    let Ok(index) = Index::from_bytes(file.to_vec(), dialect, &options) else {
        return;
    };
    let mut orders = Vec::new();
    // The type of the keys is the caller's to say: every one that the key length allows.
    for tag in index.tags().iter().take(4) {
        for key_type in [KeyType::Character, KeyType::Number] {
            orders.extend(index.order(&tag.name, key_type, &Collation::binary()));
        }
    }
    for order in &orders {
        let forward = order.walk(Direction::Forward).take_while(Result::is_ok).count();
        let backward = order.walk(Direction::Backward).take_while(Result::is_ok).count();
        let findings = index.verify(std::slice::from_ref(order), None);
        let ordered = OrderedRecords::new(&Bitmap::full(RECORDS), order);
        if findings.is_ok_and(|findings| findings.is_empty()) {
            // What the checker finds no fault with is walked to its end.
            let counted = order.key_count().ok().and_then(|count| usize::try_from(count).ok());
            assert_eq!((Some(forward), Some(backward)), (counted, counted));
            // Read without the keys, the records are the same ones.
            if let Ok(ordered) = ordered {
                let walked = order.walk(Direction::Forward).flatten().map(|entry| entry.recno());
                assert!(ordered.iter().eq(walked));
            }
        }
        let mut cursor = order.cursor();
        for end in [End::First, End::Last] {
            let _ = cursor.seek(&Key::raw(key), end, true);
            let _ = cursor.skip(3);
            let _ = cursor.key_no();
        }
        let _ = cursor.go_key_no(u64::from(key[0]));
    }
    for tag in index.tags().iter().take(4) {
        for key_type in [KeyType::Character, KeyType::Number] {
            let _ = change(file, dialect, &tag.name, key_type, key);
        }
    }
}

/// Puts entries in, takes some out, and flushes. Whatever the file holds, this ends.
fn change(
    file: &[u8],
    dialect: IndexDialect,
    tag: &str,
    key_type: KeyType,
    random: &[u8; 16],
) -> Result<(), tidemill_xbase::Error> {
    let mut index = IndexEditor::from_bytes(file.to_vec(), dialect, &IndexOptions::new())?;
    let order = index.order(tag, key_type, &Collation::binary())?;
    let key_len = index.tags()[order].key_len;
    let key = |recno: u32| -> Vec<u8> {
        (0..key_len)
            .map(|at| random[at % 16].wrapping_mul(recno as u8) ^ (recno >> 3) as u8)
            .collect()
    };
    for recno in 1..=60 {
        index.insert(order, &key(recno), recno)?;
    }
    for recno in (1..=80).step_by(2) {
        index.remove(order, &key(recno), recno)?;
    }
    index.flush()
}
