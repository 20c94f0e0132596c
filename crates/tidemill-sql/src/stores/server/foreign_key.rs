//! Foreign keys between tables of one database.

use super::ServerUrl;
#[cfg(any(feature = "mysql", feature = "postgres"))]
use super::fitting::unfit;
use crate::Result;

/// A foreign key of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignKey {
    /// The columns of the table.
    pub columns: Vec<String>,
    /// The name of the referenced table.
    pub parent: String,
    /// The referenced columns: a primary key, or those of a unique index.
    pub parent_columns: Vec<String>,
    /// Whether a change of the parent's key is applied here too. Otherwise it cannot change while rows refer to it.
    pub cascades_updates: bool,
    /// Whether rows are deleted with their parent. Otherwise it cannot be deleted while rows refer to it.
    pub cascades_deletes: bool,
}

#[cfg(any(feature = "mysql", feature = "postgres", feature = "sqlite"))]
impl ForeignKey {
    /// The clause of the key, with quoted names: `FOREIGN KEY (a) REFERENCES parent (b) ON DELETE CASCADE`.
    pub(crate) fn clause(&self, columns: &[String], parent: &str, parent_columns: &[String]) -> String {
        let (columns, parent_columns) = (columns.join(", "), parent_columns.join(", "));
        let mut written = format!("FOREIGN KEY ({columns}) REFERENCES {parent} ({parent_columns})");
        for (does, what) in [(self.cascades_updates, "UPDATE"), (self.cascades_deletes, "DELETE")] {
            if does {
                written += &format!(" ON {what} CASCADE");
            }
        }
        written
    }

    /// The statement that adds the key to a table.
    ///
    /// # Errors
    ///
    /// [`Error::UnfitColumn`](crate::Error::UnfitColumn) for a missing column.
    #[cfg(any(feature = "mysql", feature = "postgres"))]
    pub(crate) fn statement(&self, table: &KeyTable<'_>, parent: &KeyTable<'_>) -> Result<String> {
        let columns = table.spelled(&self.columns)?;
        let clause = self.clause(&columns, &parent.name, &parent.spelled(&self.parent_columns)?);
        Ok(format!("ALTER TABLE {} ADD {clause}", table.name))
    }
}

/// A table, for a statement that adds a key.
#[cfg(any(feature = "mysql", feature = "postgres"))]
pub(crate) struct KeyTable<'t> {
    /// Its name in a statement.
    pub(crate) name: String,
    /// The names of its columns.
    pub(crate) columns: Vec<&'t str>,
    /// Quotes a name.
    pub(crate) quoted: fn(&str) -> String,
    /// The URL without its password.
    pub(crate) place: &'t str,
}

#[cfg(any(feature = "mysql", feature = "postgres"))]
impl KeyTable<'_> {
    /// Columns in the table's spelling, quoted.
    fn spelled(&self, names: &[String]) -> Result<Vec<String>> {
        let spelled = names.iter().map(|name| {
            let mut columns = self.columns.iter();
            let exactly = columns.find(|column| *column == name);
            let found = exactly.or_else(|| self.columns.iter().find(|column| column.eq_ignore_ascii_case(name)));
            let found = found.ok_or_else(|| unfit(self.place, name, "there is no such column"))?;
            Ok((self.quoted)(found))
        });
        spelled.collect()
    }
}

/// A kind of server whose tables have foreign keys.
#[async_trait::async_trait]
pub(crate) trait Relating: Send + Sync {
    /// Adds a foreign key to a filled table. Returns how many rows have no parent, if the key is created in spite of them.
    async fn make_foreign_key(&self, table: &ServerUrl, parent: &ServerUrl, key: &ForeignKey) -> Result<u64>;

    /// Drops the foreign keys between tables. Missing tables are ignored.
    async fn drop_foreign_keys(&self, tables: &[ServerUrl]) -> Result<()>;
}
