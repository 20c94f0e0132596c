//! Tables that are yet to be made.

use arrow_schema::Schema;

use crate::arrow_type;
use crate::data_type::Type;
use crate::error::Result;
use crate::sql_text::{list, quoted};

/// A table that is yet to be made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewTable {
    /// Its columns.
    pub columns: Vec<NewColumn>,
    /// The columns of its primary key, which take no NULL. Default: it has none.
    pub primary_key: Vec<String>,
    /// Its indexes beside that of the primary key. Default: none.
    pub indexes: Vec<NewIndex>,
}

/// A column of a table that is yet to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewColumn {
    /// Its name.
    pub name: String,
    /// Its type.
    pub typ: Type,
    /// Whether it takes NULL.
    pub is_nullable: bool,
}

/// An index of a table that is yet to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewIndex {
    /// Its columns.
    pub columns: Vec<String>,
    /// Whether no two rows may have the same values there.
    pub is_unique: bool,
}

impl NewTable {
    /// A table with the columns of a schema, of the types of [`arrow_type::column_type`], without keys and indexes.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`](crate::Error::Unsupported) for a column that PostgreSQL has no type for.
    pub fn of_schema(schema: &Schema) -> Result<Self> {
        let columns = schema.fields().iter().map(|field| {
            Ok(NewColumn {
                name: field.name().clone(),
                typ: arrow_type::column_type(field)?,
                is_nullable: field.is_nullable(),
            })
        });
        Ok(Self {
            columns: columns.collect::<Result<_>>()?,
            ..Self::default()
        })
    }

    /// The statement that makes the table, without its keys and indexes, which are made when its rows are there. The name stands in
    /// it as it is: [`quoted`].
    #[must_use]
    pub fn create(&self, name: &str) -> String {
        let columns = self.columns.iter().map(|column| {
            let not_null = if column.is_nullable { "" } else { " NOT NULL" };
            format!("\n    {} {}{not_null}", quoted(&column.name), column.typ)
        });
        format!("CREATE TABLE {name} ({}\n)", columns.collect::<Vec<_>>().join(","))
    }

    /// The statements that make key and indexes of a table with this name, and the end of the name that each index has when the table
    /// has its own.
    pub(crate) fn keys(&self, name: &str, prefix: &str) -> Vec<(String, Key)> {
        let mut statements = Vec::new();
        let columns = |columns: &[String]| list(columns.iter().map(String::as_str));
        if !self.primary_key.is_empty() {
            let key = Key::new(prefix, 0, "pkey".to_owned());
            let columns = columns(&self.primary_key);
            let text = format!(
                "ALTER TABLE {name} ADD CONSTRAINT {} PRIMARY KEY ({columns})",
                quoted(&key.draft)
            );
            statements.push((text, key));
        }
        for (number, index) in self.indexes.iter().enumerate() {
            let key = Key::new(prefix, number + 1, format!("{}_idx", index.columns.join("_")));
            let unique = if index.is_unique { "UNIQUE " } else { "" };
            let columns = columns(&index.columns);
            let text = format!("CREATE {unique}INDEX {} ON {name} ({columns})", quoted(&key.draft));
            statements.push((text, key));
        }
        statements
    }
}

/// The names of an index.
pub(crate) struct Key {
    /// Until its table has its name.
    pub(crate) draft: String,
    /// What follows the table's name in the name that PostgreSQL would have given it.
    pub(crate) ending: String,
}

impl Key {
    fn new(prefix: &str, number: usize, ending: String) -> Self {
        Self {
            draft: format!("{prefix}_{number}"),
            ending,
        }
    }

    /// The name of the index of a table with this name.
    pub(crate) fn name(&self, table: &str) -> String {
        shortened(&format!("{table}_{}", self.ending), LONGEST_NAME).to_owned()
    }
}

/// The begin of a name, of so many bytes at most.
pub(crate) fn shortened(name: &str, longest: usize) -> &str {
    let end = (0..=longest).rev().find(|end| name.is_char_boundary(*end));
    end.and_then(|end| name.get(..end)).unwrap_or(name)
}

/// In bytes: `NAMEDATALEN` with the NUL at its end.
const LONGEST_NAME: usize = 63;

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

    use arrow_schema::{DataType, Field};

    use super::*;

    #[test]
    fn statements_make_table_and_keys() {
        let schema = Schema::new(vec![
            Field::new("Id", DataType::Int32, false),
            Field::new("say \"hi\"", DataType::Utf8, true),
        ]);
        let mut table = NewTable::of_schema(&schema).unwrap();
        assert_eq!(
            table.create("t"),
            "CREATE TABLE t (\n    \"Id\" integer NOT NULL,\n    \"say \"\"hi\"\"\" text\n)"
        );
        table.primary_key = vec!["Id".to_owned()];
        table.indexes = vec![NewIndex {
            columns: vec!["a".to_owned(), "b".to_owned()],
            is_unique: true,
        }];
        let keys = table.keys("t", "d");
        let texts: Vec<&str> = keys.iter().map(|(text, _)| text.as_str()).collect();
        assert_eq!(
            texts,
            [
                "ALTER TABLE t ADD CONSTRAINT \"d_0\" PRIMARY KEY (\"Id\")",
                "CREATE UNIQUE INDEX \"d_1\" ON t (\"a\", \"b\")",
            ]
        );
        let names: Vec<String> = keys.iter().map(|(_, key)| key.name("t")).collect();
        assert_eq!(names, ["t_pkey", "t_a_b_idx"]);
    }

    #[test]
    fn names_end_before_a_letter_that_does_not_fit() {
        assert_eq!(
            (shortened("äö", 3), shortened("abc", 9), shortened("", 9)),
            ("ä", "abc", "")
        );
    }
}
