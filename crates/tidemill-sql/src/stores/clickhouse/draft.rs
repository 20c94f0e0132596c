//! A table in the making, under a name of its own.
//!
//! It is renamed when it is whole, so that nobody sees a part of it. Its rows are counted first where the engine keeps each. What a copy
//! that was killed has left is dropped by the next copy to the same table.

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

/// What stands between a table's name and the rest of a draft's: when it was made, and a number.
const MARK: &str = "_tidemill_";

/// A draft that no query has named for so long is nobody's. A copy begins to fill its draft at once and renames it at once when it is
/// filled; clocks may differ.
const ABANDONED: Duration = Duration::from_secs(60 * 60);

/// How long a program that gives a table up waits for it to go.
const WAITED: Duration = Duration::from_secs(10);

/// How often the server is asked whether it still makes a table that was given up.
const ASKED_EACH: Duration = Duration::from_millis(50);

/// A table in the making, and whether it replaces another.
pub(super) struct Draft {
    /// In the text of a statement.
    name: String,
    replaces: bool,
    /// Whether the server has said that the table is made.
    is_made: bool,
    /// Whether the engine keeps each row that it is given, so that they can be counted.
    keeps_rows: bool,
    /// How the server is reached where this is given up without a runtime; `None` once the draft has its name or is dropped.
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
        // Before the statement that makes it: a copy may be interrupted while the server works on that.
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

    /// Its name in the text of a statement.
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

    /// What went wrong before is what is told; a server that is gone keeps the draft, which a later copy removes.
    pub(super) async fn drop(mut self, table: &ServerTable) {
        let _ = table.execute(&format!("DROP TABLE IF EXISTS {}", self.name)).await;
        self.server = None;
    }
}

impl Drop for Draft {
    /// A copy that is interrupted has no runtime to wait for: the table goes by a thread of its own, which is waited for.
    fn drop(&mut self) {
        let Some(server) = self.server.take() else { return };
        let (name, is_made) = (std::mem::take(&mut self.name), self.is_made);
        let (done, waiting) = mpsc::channel();
        let work = move || {
            if let Ok(runtime) = Builder::new_current_thread().enable_all().build() {
                let _ = runtime.block_on(remove(server, &name, is_made));
            }
            // Nobody may wait any more.
            let _ = done.send(());
        };
        if thread::Builder::new().spawn(work).is_ok() {
            let _ = waiting.recv_timeout(WAITED);
        }
    }
}

/// Drops a draft. One that the server may still be making is dropped again when it no longer does.
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

/// Whether a query is under way whose text has this name in it.
async fn is_asked_for(client: &Client, name: &str) -> tidemill_clickhouse::Result<bool> {
    // In two parts, so that this query does not have it.
    let half = name.len() - name.len().min(8);
    let (begin, end) = name.split_at(name.floor_char_boundary(half));
    let (begin, end) = (sql_text::string(begin), sql_text::string(end));
    let query = format!("SELECT 1 FROM system.processes WHERE position(query, concat({begin}, {end})) > 0 LIMIT 1");
    let found = client.query(query).collect().await?;
    Ok(found.iter().any(|batch| batch.num_rows() > 0))
}

/// A name for a draft of a table that is made now, or for the table that it replaces.
fn name_apart(table: &str, now: SystemTime) -> String {
    let seconds = now.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let (number, _) = Uuid::new_v4().as_u64_pair();
    format!("{table}{MARK}{seconds:08x}_{number:016x}")
}

/// When the draft of a table was made that has this name; `None` of another table.
fn made_at(name: &str, table: &str) -> Option<SystemTime> {
    let (seconds, number) = name.strip_prefix(table)?.strip_prefix(MARK)?.split_once('_')?;
    let is_hex = |text: &str| text.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'));
    if seconds.len() != 8 || number.len() != 16 || !is_hex(seconds) || !is_hex(number) {
        return None;
    }
    let seconds = u64::from_str_radix(seconds, 16).ok()?;
    UNIX_EPOCH.checked_add(Duration::from_secs(seconds))
}

/// Drops drafts of this table that copies have left which were killed. What can't be asked or dropped stays: the copy that begins does
/// not depend on it.
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
