//! An index file from bytes: the last 16 bytes are what is sought in its orders, the others are the file.

use tidemill_xbase::index::{Collation, Direction, End, Index, IndexDialect, IndexOptions, Key, KeyType};

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
        if findings.is_ok_and(|findings| findings.is_empty()) {
            // What the checker finds no fault with is walked to its end.
            let counted = order.key_count().ok().and_then(|count| usize::try_from(count).ok());
            assert_eq!((Some(forward), Some(backward)), (counted, counted));
        }
        let mut cursor = order.cursor();
        for end in [End::First, End::Last] {
            let _ = cursor.seek(&Key::raw(key), end, true);
            let _ = cursor.skip(3);
            let _ = cursor.key_no();
        }
        let _ = cursor.go_key_no(u64::from(key[0]));
    }
}
