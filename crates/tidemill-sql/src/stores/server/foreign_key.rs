//! Foreign keys between tables of one database.

use super::ServerUrl;
use crate::Result;

/// A foreign key of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignKey {
    /// The columns of the table.
    pub columns: Vec<String>,
    /// The name of the table that they refer to.
    pub parent: String,
    /// The columns of that table: a primary key, or those of a unique index.
    pub parent_columns: Vec<String>,
    /// Whether a changed key of the parent is changed here too. Else it cannot be changed while rows refer to it.
    pub cascades_updates: bool,
    /// Whether rows are deleted with that of the parent. Else it cannot be deleted while rows refer to it.
    pub cascades_deletes: bool,
}

impl ForeignKey {
    /// The key as a statement has it behind the columns: `REFERENCES parent (a, b) ON DELETE CASCADE`, of names that are quoted.
    #[cfg_attr(
        not(any(feature = "mysql", feature = "postgres", feature = "sqlite")),
        expect(dead_code, reason = "no server of this build has foreign keys")
    )]
    pub(crate) fn references(&self, parent: &str, parent_columns: &[String]) -> String {
        let mut written = format!("REFERENCES {parent} ({})", parent_columns.join(", "));
        for (does, what) in [(self.cascades_updates, "UPDATE"), (self.cascades_deletes, "DELETE")] {
            if does {
                written += &format!(" ON {what} CASCADE");
            }
        }
        written
    }
}

/// The columns of a key as a table spells them; else the error.
#[cfg(any(feature = "mysql", feature = "postgres"))]
pub(crate) fn spelled<'t>(
    names: &[String],
    columns: impl Iterator<Item = &'t str> + Clone,
    quoted: fn(&str) -> String,
    place: &str,
) -> Result<Vec<String>> {
    let spelled = names.iter().map(|name| {
        let exactly = columns.clone().find(|column| column == name);
        let found = exactly.or_else(|| columns.clone().find(|column| column.eq_ignore_ascii_case(name)));
        found
            .map(quoted)
            .ok_or_else(|| super::fitting::unfit(place, name, "there is no such column".to_owned()))
    });
    spelled.collect()
}

/// A kind of server whose tables have foreign keys.
#[async_trait::async_trait]
pub(crate) trait Relating: Send + Sync {
    /// Makes a foreign key of a table that is filled. Returns how many rows refer to none, where the key is there all the same.
    async fn make_foreign_key(&self, table: &ServerUrl, parent: &ServerUrl, key: &ForeignKey) -> Result<u64>;

    /// Drops the foreign keys between tables. Those that are not there have none.
    async fn drop_foreign_keys(&self, tables: &[ServerUrl]) -> Result<()>;
}
