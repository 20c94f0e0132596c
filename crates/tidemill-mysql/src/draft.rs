//! Names of tables in the making, and what programs that were killed have left of them.
//!
//! The connection that makes such a table has a lock of its name (`GET_LOCK`), which the server takes back when the connection ends.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::client::Client;
use crate::new_table::shortened;
use crate::sql_text::{literal, quoted};

/// What stands between a table's name and the rest of a draft's: when it was made, and a number.
const MARK: &str = "_tidemill_";

/// The most letters of the table's name that are kept, so that the whole has at most 64.
const KEPT: usize = 24;

/// A draft that nobody has locked for so long is nobody's: other servers of a cluster do not see a lock.
const ABANDONED: Duration = Duration::from_secs(60 * 60);

/// A name for a draft of a table that is made now: nothing else has it.
pub(crate) fn draft_name(table: &str, now: SystemTime) -> String {
    static DRAFTS: AtomicU64 = AtomicU64::new(0);
    let number = DRAFTS.fetch_add(1, Ordering::Relaxed);
    let time = now.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
    format!("{}{MARK}{time:016x}_{number:x}", shortened(table, KEPT))
}

/// When the draft of a table was made that has this name; `None` of another table.
fn made_at(name: &str, table: &str) -> Option<SystemTime> {
    let rest = name.strip_prefix(shortened(table, KEPT))?.strip_prefix(MARK)?;
    let (time, number) = rest.split_once('_')?;
    let is_hex = |text: &str| !text.is_empty() && text.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'));
    if time.len() != 16 || !is_hex(time) || !is_hex(number) {
        return None;
    }
    UNIX_EPOCH.checked_add(Duration::from_nanos(u64::from_str_radix(time, 16).ok()?))
}

/// Drops drafts of this table that programs have left which were killed. What can't be asked or dropped stays: the copy that begins does not
/// depend on it.
pub(crate) async fn remove_abandoned(client: &Client, database: &str, table: &str) {
    let Some(latest) = SystemTime::now().checked_sub(ABANDONED) else {
        return;
    };
    let Ok(names) = client.tables(Some(database)).await else {
        return;
    };
    let old = |name: &&String| made_at(name, table).is_some_and(|made| made < latest);
    for name in names.iter().filter(old) {
        let free = format!("SELECT CAST(IS_FREE_LOCK({}) AS CHAR)", literal(name));
        let free = client.texts("looking for a lock", &free).await.unwrap_or_default();
        let is_free = free.first().and_then(|row| row.first()).and_then(Option::as_deref) == Some("1");
        if is_free {
            let drop = format!("DROP TABLE IF EXISTS {}.{}", quoted(database), quoted(name));
            let _ = client.execute(&drop).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drafts_are_known_by_their_names_alone() {
        let now = SystemTime::now();
        for table in ["orders", "a name that is longer than the part of it that is kept"] {
            let name = draft_name(table, now);
            assert!(name.chars().count() <= 64, "{name}");
            let made = made_at(&name, table).expect("a draft");
            assert!(now.duration_since(made).expect("before") < Duration::from_secs(1));
            assert_ne!(name, draft_name(table, now));
        }
        for other in [
            "orders",
            "orders_tidemill_",
            "orders_18a3_0",
            "orders_tidemill_18a3_0",
            "orders_tidemill_18A3f00d12345678_0",
            "orders_tidemill_18a3f00d12345678_",
            "my_orders_tidemill_18a3f00d12345678_0",
        ] {
            assert_eq!(made_at(other, "orders"), None, "{other}");
        }
        assert!(made_at("orders_tidemill_18a3f00d12345678_0", "orders").is_some());
    }
}
