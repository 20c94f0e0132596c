//! A draft: a table that is filled under another name.
//!
//! It is renamed when it is complete, so that no partial table is visible. Its rows are counted first if the engine keeps every row. The
//! draft of a killed copy is dropped by the next copy to the same table.

use std::sync::mpsc;
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use arrow_schema::SchemaRef;
use tidemill_clickhouse::client::{Client, Options};
use tidemill_clickhouse::sql_text;
use tokio::runtime::Builder;
use uuid::Uuid;

use super::sink::{keeps_rows, make_table};
use super::table::ServerTable;
use crate::error::Left;
use crate::stores::server::{IfThere, TableOptions};
use crate::{Error, Result};

/// Separates a table's name from the rest of a draft's: the time of its creation, and a random number.
const MARK: &str = "_tidemill_";

/// A draft is abandoned if it is older than this and no running query names it. A copy starts to fill its draft at once, and renames it as
/// soon as it is filled; clocks may differ.
const ABANDONED: Duration = Duration::from_secs(60 * 60);

/// How long a program that aborts a copy waits for the draft to be dropped.
const WAITED: Duration = Duration::from_secs(10);

/// The interval at which the server is asked whether it is still creating an aborted table.
const ASKED_EACH: Duration = Duration::from_millis(50);

/// A draft, and whether it replaces a table.
pub(super) struct Draft {
    /// Quoted for statements.
    name: String,
    replaces: bool,
    /// Whether the server has confirmed its creation.
    is_made: bool,
    /// Whether the engine keeps every row, so that they can be counted.
    keeps_rows: bool,
    /// How to reach the server if the draft is dropped without a runtime; `None` once it is renamed or dropped.
    server: Option<Options>,
}

impl Draft {
    pub(super) async fn make(
        table: &ServerTable,
        schema: &SchemaRef,
        options: &TableOptions,
        there: IfThere,
    ) -> Result<Self> {
        let replaces = table.exists().await?;
        if replaces && there != IfThere::Replace {
            return Err(Error::Exists {
                place: table.place().to_owned(),
            });
        }
        remove_abandoned(table).await;
        let name = table.sibling(&name_apart(table.table(), SystemTime::now()));
        // Created before the statement runs: a copy may be interrupted meanwhile.
        let mut draft = Self {
            name,
            replaces,
            is_made: false,
            keeps_rows: keeps_rows(&options.engine),
            server: Some(table.client().options().clone()),
        };
        match make_table(table, &draft.name, schema, options).await {
            Ok(()) => {
                draft.is_made = true;
                Ok(draft)
            }
            Err(error) => {
                draft.drop(table).await;
                Err(error)
            }
        }
    }

    /// Its quoted name.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) async fn publish(&mut self, table: &ServerTable, rows: u64) -> Result<()> {
        if self.keeps_rows {
            let found = table.number(&format!("SELECT count() FROM {}", self.name)).await?;
            if found != rows {
                return Err(Error::RowCount {
                    place: table.place().to_owned(),
                    written: rows,
                    found,
                    left: Left::Removed,
                });
            }
        }
        let name = table.name();
        if !self.replaces {
            table.execute(&format!("RENAME TABLE {} TO {name}", self.name)).await?;
            self.server = None;
            return Ok(());
        }
        let old = table.sibling(&name_apart(table.table(), SystemTime::now()));
        let renamed = format!("RENAME TABLE {name} TO {old}, {} TO {name}", self.name);
        table.execute(&renamed).await?;
        self.name = old;
        table.execute(&format!("DROP TABLE {}", self.name)).await?;
        self.server = None;
        Ok(())
    }

    /// The first error is reported; if the server is unreachable, the draft remains, and a later copy removes it.
    pub(super) async fn drop(mut self, table: &ServerTable) {
        let _ = table.execute(&format!("DROP TABLE IF EXISTS {}", self.name)).await;
        self.server = None;
    }
}

impl Drop for Draft {
    /// An interrupted copy may have no runtime: a separate thread drops the table, and is waited for.
    fn drop(&mut self) {
        let Some(server) = self.server.take() else { return };
        let (name, is_made) = (std::mem::take(&mut self.name), self.is_made);
        let (done, waiting) = mpsc::channel();
        let work = move || {
            if let Ok(runtime) = Builder::new_current_thread().enable_all().build() {
                let _ = runtime.block_on(remove(server, &name, is_made));
            }
            // The receiver may have stopped waiting.
            let _ = done.send(());
        };
        if thread::Builder::new().spawn(work).is_ok() {
            let _ = waiting.recv_timeout(WAITED);
        }
    }
}

/// Drops a draft. If the server may still be creating it, drops it again afterwards.
async fn remove(server: Options, name: &str, is_made: bool) -> tidemill_clickhouse::Result<()> {
    let client = Client::with_options(server).await?;
    let statement = format!("DROP TABLE IF EXISTS {name}");
    client.execute(&statement).await?;
    if is_made {
        return Ok(());
    }
    while is_asked_for(&client, name).await? {
        tokio::time::sleep(ASKED_EACH).await;
    }
    client.execute(statement).await?;
    Ok(())
}

/// Whether a running query contains this name.
async fn is_asked_for(client: &Client, name: &str) -> tidemill_clickhouse::Result<bool> {
    // Split in two, so that this query does not contain it.
    let half = name.len() - name.len().min(8);
    let (begin, end) = name.split_at(name.floor_char_boundary(half));
    let (begin, end) = (sql_text::string(begin), sql_text::string(end));
    let query = format!("SELECT 1 FROM system.processes WHERE position(query, concat({begin}, {end})) > 0 LIMIT 1");
    let found = client.query(query).collect().await?;
    Ok(found.iter().any(|batch| batch.num_rows() > 0))
}

/// A unique name for a draft that is created now, or for the table that it replaces.
fn name_apart(table: &str, now: SystemTime) -> String {
    let seconds = now.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let (number, _) = Uuid::new_v4().as_u64_pair();
    format!("{table}{MARK}{seconds:08x}_{number:016x}")
}

/// The creation time of a table's draft; `None` for other tables.
fn made_at(name: &str, table: &str) -> Option<SystemTime> {
    let (seconds, number) = name.strip_prefix(table)?.strip_prefix(MARK)?.split_once('_')?;
    let is_hex = |text: &str| text.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'));
    if seconds.len() != 8 || number.len() != 16 || !is_hex(seconds) || !is_hex(number) {
        return None;
    }
    let seconds = u64::from_str_radix(seconds, 16).ok()?;
    UNIX_EPOCH.checked_add(Duration::from_secs(seconds))
}

/// Drops the drafts of this table that killed copies have left. Errors are ignored: the new copy does not depend on it.
async fn remove_abandoned(table: &ServerTable) {
    let Some(latest) = SystemTime::now().checked_sub(ABANDONED) else {
        return;
    };
    let Ok(names) = table.siblings().await else { return };
    let old = |name: &&String| made_at(name, table.table()).is_some_and(|made| made < latest);
    for name in names.iter().filter(old) {
        if let Ok(false) = is_asked_for(table.client(), name).await {
            let _ = table
                .execute(&format!("DROP TABLE IF EXISTS {}", table.sibling(name)))
                .await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drafts_are_known_by_their_names_alone() {
        let now = SystemTime::now();
        let name = name_apart("orders", now);
        let made = made_at(&name, "orders").expect("a draft");
        assert!(now.duration_since(made).expect("before") < Duration::from_secs(1));
        assert_ne!(name, name_apart("orders", now));
        for other in [
            "orders",
            "orders_tidemill_",
            "orders_tidemill_1",
            "orders_0123456789abcdef0123456789abcdef",
            "orders_tidemill_6923f00d_0123456789ABCDEF",
            "orders_tidemill_6923f00d_0123456789abcdef0",
            "my_orders_tidemill_6923f00d_0123456789abcdef",
        ] {
            assert_eq!(made_at(other, "orders"), None, "{other}");
        }
        assert!(made_at("orders_tidemill_6923f00d_0123456789abcdef", "orders").is_some());
    }
}
