//! Tables that are yet to be made.

use arrow_schema::Schema;

use crate::arrow_type;
use crate::data_type::{Size, Type};
use crate::error::{Error, Result};
use crate::sql_text::{literal, quoted};

/// A table that is yet to be made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewTable {
    /// Its columns.
    pub columns: Vec<NewColumn>,
    /// The columns of its primary key, which take no NULL. Default: it has none.
    pub primary_key: Vec<String>,
    /// Its indexes beside that of the primary key. Default: none.
    pub indexes: Vec<NewIndex>,
    /// What is said of it (`COMMENT`). Default: nothing.
    pub comment: Option<String>,
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
    /// Whether new rows get the next number by themselves (`AUTO_INCREMENT`). A column that is no whole number, or is not the first of the
    /// primary key, does not count.
    pub counts: bool,
    /// What is said of it (`COMMENT`).
    pub comment: Option<String>,
}

/// An index of a table that is yet to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewIndex {
    /// Its columns. Of texts and blobs without a short limit the first [`NewTable::PREFIX`] letters or bytes are in the index.
    pub columns: Vec<String>,
    /// Whether no two rows may have the same values there.
    pub is_unique: bool,
}

impl NewTable {
    /// How many letters or bytes of a `text` or a `blob` are in an index, and how long the values of such a column may be in a primary key
    /// or a unique index: there it is made a `varchar` or `varbinary` of this length.
    pub const PREFIX: u32 = 191;

    /// A table with the columns of a schema, of the types of [`arrow_type::column_type`], without keys and indexes.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] for a column that MySQL has no type for.
    pub fn of_schema(schema: &Schema) -> Result<Self> {
        let columns = schema.fields().iter().map(|field| {
            Ok(NewColumn {
                name: field.name().clone(),
                typ: arrow_type::column_type(field)?,
                is_nullable: field.is_nullable(),
                counts: false,
                comment: None,
            })
        });
        Ok(Self {
            columns: columns.collect::<Result<_>>()?,
            ..Self::default()
        })
    }

    /// The statement that makes the table with its primary key, without its other indexes, which are made when its rows are there. The name
    /// stands in it as it is: [`quoted`]. Texts are compared by their letters' numbers (`utf8mb4_bin`).
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] for a table without columns, and for a key with a column that is none of the table's, or longer than InnoDB's are.
    pub fn create(&self, name: &str) -> Result<String> {
        let table = self.settled()?;
        if table.columns.is_empty() {
            return Err(Error::Unsupported {
                what: "a table without columns".to_owned(),
                hint: "MySQL has none: give it one".to_owned(),
            });
        }
        let mut lines: Vec<String> = table
            .columns
            .iter()
            .map(|column| {
                // A TIMESTAMP that says nothing takes no NULL on some servers.
                let null = if column.is_nullable { "NULL" } else { "NOT NULL" };
                let is_first = table.primary_key.first() == Some(&column.name);
                let counts = match column.typ {
                    Type::Integer(..) if column.counts && is_first => " AUTO_INCREMENT",
                    _ => "",
                };
                let comment = comment(column.comment.as_ref());
                format!("{} {} {null}{counts}{comment}", quoted(&column.name), column.typ)
            })
            .collect();
        if !table.primary_key.is_empty() {
            lines.push(format!("PRIMARY KEY ({})", table.key(&table.primary_key)?));
        }
        Ok(format!(
            "CREATE TABLE {name} (\n    {}\n) ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin{}",
            lines.join(",\n    "),
            comment(table.comment.as_ref())
        ))
    }

    /// The statement that makes the indexes of the table, where it has any.
    pub(crate) fn add_indexes(&self, name: &str) -> Result<Option<String>> {
        let indexes = self.indexes.iter().map(|index| {
            let kind = if index.is_unique { "UNIQUE INDEX" } else { "INDEX" };
            Ok(format!("ADD {kind} ({})", self.key(&index.columns)?))
        });
        let indexes = indexes.collect::<Result<Vec<_>>>()?;
        Ok((!indexes.is_empty()).then(|| format!("ALTER TABLE {name} {}", indexes.join(", "))))
    }

    /// The table with the types that its columns get, and NULL where they take it.
    pub(crate) fn settled(&self) -> Result<Self> {
        let mut table = self.clone();
        let letters = |name: &str| name.chars().count();
        if let Some(column) = self.columns.iter().find(|column| letters(&column.name) > LONGEST_NAME) {
            let (begin, count) = (column.name.chars().take(20).collect::<String>(), letters(&column.name));
            return Err(Error::Unsupported {
                what: format!(
                    "column {begin}…, whose name has {count} letters where MySQL has at most {LONGEST_NAME},"
                ),
                hint: "give it another name with a SELECT".to_owned(),
            });
        }
        let unique = self
            .indexes
            .iter()
            .filter(|index| index.is_unique)
            .map(|index| &index.columns);
        let whole: Vec<&String> = unique.chain([&self.primary_key]).flatten().collect();
        for column in &mut table.columns {
            column.is_nullable &= !self.primary_key.contains(&column.name);
            let is_whole = whole.contains(&&column.name);
            column.typ = match &column.typ {
                Type::Text(_) | Type::Json if is_whole => Type::VarChar(Self::PREFIX),
                Type::Blob(_) if is_whole => Type::VarBinary(Self::PREFIX),
                // A row has 64 KiB beside its texts and blobs, and a letter has 4 bytes.
                Type::VarChar(length) if *length > LONGEST_VARCHAR => Type::Text(Size::Long),
                Type::VarBinary(length) if *length > LONGEST_VARCHAR => Type::Blob(Size::Long),
                typ => typ.clone(),
            };
        }
        // Indexes are looked at before rows are sent.
        table.add_indexes("t")?;
        Ok(table)
    }

    /// The columns of an index as a statement lists them.
    fn key(&self, columns: &[String]) -> Result<String> {
        let mut bytes = 0;
        let mut parts = Vec::new();
        for name in columns {
            let Some(column) = self.columns.iter().find(|column| column.name == *name) else {
                return Err(Error::Unsupported {
                    what: format!("a key with the column {name}, which the table does not have,"),
                    hint: "name columns of the table".to_owned(),
                });
            };
            let (length, is_cut) = key_bytes(&column.typ);
            bytes += length;
            parts.push(match is_cut {
                true => format!("{}({})", quoted(name), Self::PREFIX),
                false => quoted(name),
            });
        }
        match bytes <= LONGEST_KEY {
            true => Ok(parts.join(", ")),
            false => Err(Error::Unsupported {
                what: format!("a key of {bytes} bytes ({})", columns.join(", ")),
                hint: format!(
                    "InnoDB's have at most {LONGEST_KEY}, with 4 for each letter; leave columns out or make them shorter"
                ),
            }),
        }
    }
}

/// How many bytes of an index a column takes, and whether it is the begin of its values only.
fn key_bytes(typ: &Type) -> (u32, bool) {
    match typ {
        Type::Char(length) | Type::VarChar(length) if *length <= LONGEST_KEY / 4 => (length * 4, false),
        Type::Binary(length) | Type::VarBinary(length) if *length <= LONGEST_KEY => (*length, false),
        Type::Char(_) | Type::VarChar(_) | Type::Text(_) | Type::Json => (NewTable::PREFIX * 4, true),
        Type::Binary(_) | Type::VarBinary(_) | Type::Blob(_) | Type::Geometry(_) => (NewTable::PREFIX, true),
        Type::Decimal(..) => (30, false),
        Type::Other(_) => (16, false),
        _ => (8, false),
    }
}

/// The begin of a name, of so many letters at most.
pub(crate) fn shortened(name: &str, longest: usize) -> &str {
    match name.char_indices().nth(longest) {
        Some((end, _)) => name.get(..end).unwrap_or(name),
        None => name,
    }
}

/// Of InnoDB, in bytes ("InnoDB Limits").
const LONGEST_KEY: u32 = 3072;
/// Letters of a name ("Identifier Length Limits").
const LONGEST_NAME: usize = 64;
/// In letters of 4 bytes.
const LONGEST_VARCHAR: u32 = 16_000;

fn comment(text: Option<&String>) -> String {
    text.map(|text| format!(" COMMENT {}", literal(text)))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

    use arrow_schema::{DataType, Field};

    use super::*;

    fn index(columns: &[&str], is_unique: bool) -> NewIndex {
        NewIndex {
            columns: columns.iter().map(|name| (*name).to_owned()).collect(),
            is_unique,
        }
    }

    fn table() -> NewTable {
        let schema = Schema::new(vec![
            Field::new("Id", DataType::Int32, true),
            Field::new("say `hi`", DataType::Utf8, true),
            Field::new("code", DataType::Utf8, true),
            Field::new("data", DataType::Binary, true),
        ]);
        NewTable::of_schema(&schema).unwrap()
    }

    #[test]
    fn statements_make_table_and_keys() {
        let mut table = table();
        table.primary_key = vec!["code".to_owned(), "Id".to_owned()];
        table.indexes = vec![index(&["say `hi`", "Id"], false), index(&["data"], true)];
        assert_eq!(
            table.create("t").unwrap(),
            "CREATE TABLE t (\n    `Id` int NOT NULL,\n    `say ``hi``` longtext NULL,\n    `code` varchar(191) NOT NULL,\n    \
             `data` varbinary(191) NULL,\n    PRIMARY KEY (`code`, `Id`)\n) ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"
        );
        assert_eq!(
            table.settled().unwrap().add_indexes("t").unwrap().unwrap(),
            "ALTER TABLE t ADD INDEX (`say ``hi```(191), `Id`), ADD UNIQUE INDEX (`data`)"
        );
    }

    #[test]
    fn columns_count_where_they_are_the_key_and_have_comments() {
        let mut table = table();
        table.comment = Some("it's".to_owned());
        (table.columns[0].counts, table.columns[1].counts) = (true, true);
        table.columns[2].comment = Some("CODE".to_owned());
        assert!(!table.create("t").unwrap().contains("AUTO_INCREMENT"));
        table.primary_key = vec!["Id".to_owned()];
        assert_eq!(
            table.create("t").unwrap(),
            "CREATE TABLE t (\n    `Id` int NOT NULL AUTO_INCREMENT,\n    `say ``hi``` longtext NULL,\n    \
             `code` longtext NULL COMMENT 'CODE',\n    `data` longblob NULL,\n    PRIMARY KEY (`Id`)\n) \
             ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin COMMENT 'it''s'"
        );
    }

    #[test]
    fn keys_that_are_too_long_or_of_no_column_are_refused() {
        let mut table = table();
        table.columns[1].typ = Type::VarChar(500);
        table.columns[2].typ = Type::VarChar(500);
        table.indexes = vec![index(&["say `hi`", "code"], false)];
        let error = table.create("t").unwrap_err().to_string();
        assert!(error.contains("4000 bytes") && error.contains("3072"), "{error}");
        table.indexes = vec![index(&["nowhere"], false)];
        assert!(table.create("t").unwrap_err().to_string().contains("nowhere"));
    }
}
