//! Filling a table in one transaction.
//!
//! Rows go by `LOAD DATA LOCAL INFILE` where the server takes it (`local_infile`), else by `INSERT`s of many rows. A LOAD DATA LOCAL makes
//! warnings of what are errors elsewhere, and leaves out rows whose key is there (MySQL's manual, "LOAD DATA Statement", "Duplicate-Key and
//! Error Handling"): with any warning nothing is kept.

use std::sync::Arc;
use std::time::SystemTime;

use arrow_array::RecordBatch;
use arrow_schema::{Field, Schema, SchemaRef};

use crate::arrow_type;
use crate::client::{Client, Lease};
use crate::connection::{Answer, Done};
use crate::data_type::Type;
use crate::draft::{draft_name, remove_abandoned};
use crate::encode::{Encoder, Syntax, Target};
use crate::error::{Error, Fault, Result};
use crate::new_table::NewTable;
use crate::sql_text::{list, literal, quoted};
use crate::table::{Table, TableKind, listed};

/// Rows on their way into a table. Others see them, and a table that is made for them, when [`Fill::finish`] has returned. When this is
/// dropped before, or the connection breaks, nothing is left of the rows in tables of engines that have transactions; of a program that
/// is killed, a table that was being made stays under another name, `NAME_tidemill_…`, until the next copy to NAME an hour later.
pub struct Fill {
    client: Client,
    /// Until the end.
    lease: Option<Lease>,
    way: Way,
    targets: Vec<Target>,
    schema: SchemaRef,
    buffer: Vec<u8>,
    /// Rows that are in the buffer.
    buffered: u64,
    rows: u64,
    /// Rows that are there already, of which errors count on.
    before: u64,
    place: String,
    end: End,
}

/// How rows are sent.
enum Way {
    /// As the file of a LOAD DATA, which runs.
    File,
    /// By INSERTs that begin so, and have so many bytes at most.
    Insert { head: String, longest: usize },
}

/// What is done when all rows have come.
#[derive(Default)]
struct End {
    /// In the transaction: from a temporary table into the table.
    merge: Option<String>,
    /// Behind it.
    draft: Option<Draft>,
}

/// A table that has another name until the end.
struct Draft {
    database: String,
    name: String,
    /// The name that it gets.
    as_name: String,
    indexes: Option<String>,
    replaces: bool,
}

/// What becomes of a table that is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IfThere {
    /// Its rows stay, and new ones are added.
    Append,
    /// A row takes the place of the one with the same primary key, or with the same values in a unique index, in the columns that are
    /// written; others are added. Of rows with one key in one fill the last one stays.
    Update,
    /// Its rows are removed (`DELETE`, since a `TRUNCATE` cannot be taken back): columns, indexes, rights and whatever else depends on it
    /// stay, and others see the old rows until the end.
    Empty,
}

impl Fill {
    /// Begins to fill a table that is there, in the columns that are named, which the batches then have in this order; without names in
    /// all but the generated ones.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] for a column that the table does not have, [`Error::Unsupported`] for a generated one, and for emptying or
    /// updating a table whose engine has no transactions; [`Error::Server`] when the server refuses.
    pub async fn begin(client: &Client, table: &Table, columns: &[String], there: IfThere) -> Result<Self> {
        let place = format!("{}.{}", table.database, table.name);
        let targets = targets_of(table, columns, &place)?;
        let name = table.quoted_name();
        if there != IfThere::Append {
            needs_transactions(client, table, &place).await?;
        }
        let mut begin = vec!["START TRANSACTION".to_owned()];
        let mut end = End::default();
        let into = match there {
            IfThere::Append => name,
            IfThere::Empty => {
                begin.push(format!("DELETE FROM {name}"));
                name
            }
            IfThere::Update => {
                if table.primary_key.is_empty() {
                    return Err(Error::Unsupported {
                        what: format!("{place}: replacing rows of a table without a primary key"),
                        hint: "give it one with ALTER TABLE ... ADD PRIMARY KEY".to_owned(),
                    });
                }
                let stage = format!(
                    "{}.{}",
                    quoted(&table.database),
                    quoted(&draft_name("stage", SystemTime::now()))
                );
                let names = list(targets.iter().map(|target| target.name.as_str()));
                begin.push(format!(
                    "CREATE TEMPORARY TABLE {stage} ENGINE=InnoDB AS SELECT {names} FROM {name} LIMIT 0"
                ));
                let set = targets
                    .iter()
                    .map(|target| format!("{0} = VALUES({0})", quoted(&target.name)));
                let set = set.collect::<Vec<_>>().join(", ");
                end.merge = Some(format!(
                    "INSERT INTO {name} ({names}) SELECT {names} FROM {stage} ON DUPLICATE KEY UPDATE {set}"
                ));
                stage
            }
        };
        Self::start(client, place, &into, targets, begin, end).await
    }

    /// Makes a table under another name and begins to fill it; without a database, in that of [`Options`](crate::Options). At the end it
    /// gets its name.
    ///
    /// # Errors
    ///
    /// [`Error::Exists`] when there is a table of this name, also at the end; [`Error::Unsupported`] for keys that InnoDB does not have;
    /// [`Error::Server`] when the server refuses.
    pub async fn create(client: &Client, database: Option<&str>, name: &str, table: &NewTable) -> Result<Self> {
        Self::make(client, database, name, table, false).await
    }

    /// Makes a table under another name and begins to fill it. At the end it takes the place of the one that has the name, if there is
    /// one, in one `RENAME TABLE`: until then others read that. Foreign keys that refer to the old table are an error; its triggers are
    /// gone; rights and views go by the name, and stay.
    ///
    /// # Errors
    ///
    /// Those of [`Fill::create`], but for [`Error::Exists`]; [`Error::Unsupported`] where a view has the name.
    pub async fn replace(client: &Client, database: Option<&str>, name: &str, table: &NewTable) -> Result<Self> {
        Self::make(client, database, name, table, true).await
    }

    /// Gives a table that was made with [`NewTable::create`] under the name `draft`, and filled, its indexes and its own name. If it
    /// `replaces` one, it takes the place of a table that has the name, as [`Fill::replace`] does.
    ///
    /// # Errors
    ///
    /// Those of [`Fill::create`] and [`Fill::replace`].
    pub async fn publish(
        client: &Client,
        database: Option<&str>,
        draft: &str,
        name: &str,
        table: &NewTable,
        replaces: bool,
    ) -> Result<()> {
        let database = client.database(database)?.to_owned();
        let place = format!("{database}.{name}");
        let doing = format!("{place}: publishing");
        let quoted_draft = format!("{}.{}", quoted(&database), quoted(draft));
        let mut draft = Draft {
            database,
            name: draft.to_owned(),
            as_name: name.to_owned(),
            indexes: table.settled()?.add_indexes(&quoted_draft)?,
            replaces,
        };
        let mut lease = client.lease().await?;
        // A run that was killed before the draft was renamed may have made all of the indexes.
        let made = format!(
            "SELECT 1 FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = {} AND TABLE_NAME = {} AND INDEX_NAME <> 'PRIMARY' LIMIT 1",
            literal(&draft.database),
            literal(&draft.name)
        );
        if !lease.texts(client, &doing, &made).await?.is_empty() {
            draft.indexes = None;
        }
        draft.publish(client, &mut lease, &place, &doing).await?;
        lease.done();
        Ok(())
    }

    async fn make(
        client: &Client,
        database: Option<&str>,
        name: &str,
        table: &NewTable,
        replaces: bool,
    ) -> Result<Self> {
        let database = client.database(database)?.to_owned();
        let place = format!("{database}.{name}");
        match client.table(Some(&database), name).await {
            Ok(found) if found.name == name && !replaces => return Err(Error::Exists { name: place }),
            Ok(found) if found.name == name => may_go(client, &found, &place).await?,
            Ok(_) | Err(Error::NotFound { .. }) => {}
            Err(error) => return Err(error),
        }
        let table = table.settled()?;
        remove_abandoned(client, &database, name).await;
        let draft = draft_name(name, SystemTime::now());
        let quoted_draft = format!("{}.{}", quoted(&database), quoted(&draft));
        let begin = vec![
            format!("DO GET_LOCK({}, 0)", literal(&draft)),
            table.create(&quoted_draft)?,
            "START TRANSACTION".to_owned(),
        ];
        let targets = table.columns.iter().map(|column| Target {
            name: column.name.clone(),
            typ: column.typ.clone(),
            is_nullable: column.is_nullable,
        });
        let targets = targets.collect();
        let end = End {
            merge: None,
            draft: Some(Draft {
                database,
                name: draft,
                as_name: name.to_owned(),
                indexes: table.add_indexes(&quoted_draft)?,
                replaces,
            }),
        };
        Self::start(client, place, &quoted_draft, targets, begin, end).await
    }

    async fn start(
        client: &Client,
        place: String,
        into: &str,
        targets: Vec<Target>,
        begin: Vec<String>,
        end: End,
    ) -> Result<Self> {
        let doing = format!("{place}: filling");
        let (takes_files, longest) = limits(client, &doing).await?;
        let fields = targets
            .iter()
            .map(|target| arrow_type::field(&target.name, &target.typ, target.is_nullable));
        let schema = Arc::new(Schema::new(fields.collect::<Vec<Field>>()));
        let names = list(targets.iter().map(|target| target.name.as_str()));
        let mut fill = Self {
            client: client.clone(),
            lease: Some(client.lease().await?),
            way: Way::Insert {
                head: format!("INSERT INTO {into} ({names}) VALUES "),
                longest,
            },
            targets,
            schema,
            buffer: Vec::new(),
            buffered: 0,
            rows: 0,
            before: 0,
            place,
            end,
        };
        for statement in begin {
            fill.lease()?.execute(&doing, &statement).await?;
        }
        if takes_files {
            let load = load(into, &fill.targets);
            let connection = fill.lease()?.connection()?;
            match client.within(&doing, connection.query(&load)).await {
                Ok(Answer::File) => fill.way = Way::File,
                Ok(_) => {
                    return Err(Error::of(
                        doing,
                        Fault::Protocol("expected that the file is asked for".to_owned()),
                    ));
                }
                Err(error) if error.code().is_some_and(|code| NO_LOCAL_FILES.contains(&code)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(fill)
    }

    /// Counts rows behind so many others in errors.
    #[must_use]
    pub fn behind(mut self, rows: u64) -> Self {
        self.before = rows;
        self
    }

    /// The columns that batches have, in order, in the types in which a [`Read`](crate::Read) gives them. Batches may have any types
    /// that [`accepts`](crate::accepts) takes for them.
    #[must_use]
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// How many rows were written.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Sends the rows of a batch, whose columns are those of [`Fill::schema`] by their places. After an error the fill is of no more
    /// use: drop it.
    ///
    /// What the server finds wrong with a row is mostly told by [`Fill::finish`].
    ///
    /// # Errors
    ///
    /// [`Error::Value`] for a value that the column does not hold exactly, [`Error::Unsupported`] for a column of another kind, and for a
    /// row that is longer than the server's `max_allowed_packet` where it takes no files; [`Error::Server`], [`Error::Count`],
    /// [`Error::Broken`] and [`Error::Timeout`].
    pub async fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        if batch.num_columns() != self.targets.len() {
            return Err(Error::Unsupported {
                what: format!(
                    "{}: {} columns for {}",
                    self.place,
                    batch.num_columns(),
                    self.targets.len()
                ),
                hint: "name the columns that the rows are for".to_owned(),
            });
        }
        let mut begin = 0;
        while begin < batch.num_rows() {
            begin = self.encode(batch, begin)?;
            if self.buffer.len() >= PIECE {
                self.send().await?;
            }
        }
        Ok(())
    }

    /// Appends rows to the buffer, from the one that is told, until it is full or they end; returns where they end.
    fn encode(&mut self, batch: &RecordBatch, begin: usize) -> Result<usize> {
        let (syntax, most) = match &self.way {
            Way::File => (Syntax::File, usize::MAX),
            Way::Insert { head, longest } => (Syntax::Insert, longest.saturating_sub(head.len())),
        };
        let encoder = Encoder::new(batch, &self.targets, syntax, &self.place)?;
        for row in begin..batch.num_rows() {
            let before = self.buffer.len();
            if syntax == Syntax::Insert && before > 0 {
                self.buffer.push(b',');
            }
            encoder.row(row, self.before + self.rows + 1, &self.place, &mut self.buffer)?;
            if self.buffer.len() > most {
                if before == 0 {
                    return Err(too_long(
                        &self.place,
                        self.before + self.rows + 1,
                        self.buffer.len(),
                        most,
                    ));
                }
                // It goes with the next ones.
                self.buffer.truncate(before);
                return Ok(row);
            }
            self.buffered += 1;
            self.rows += 1;
            if self.buffer.len() >= PIECE {
                return Ok(row + 1);
            }
        }
        Ok(batch.num_rows())
    }

    /// Sends what is in the buffer.
    async fn send(&mut self) -> Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let doing = format!("{}: writing", self.place);
        let lease = self.lease.as_mut().ok_or_else(|| ended(&self.place))?;
        let connection = lease.connection()?;
        match &self.way {
            Way::File => self.client.within(&doing, connection.send(&self.buffer)).await?,
            Way::Insert { head, .. } => {
                // Every value was UTF-8, or digits.
                let text = String::from_utf8_lossy(&self.buffer);
                let statement = format!("{head}{text}");
                let done = self.client.within(&doing, connection.execute(&statement)).await?;
                check(&self.client, lease, &self.place, done, self.buffered).await?;
            }
        }
        self.buffer.clear();
        self.buffered = 0;
        Ok(())
    }

    /// Waits until the server has all rows, makes indexes, and has others see all of it. Returns the number of rows.
    ///
    /// # Errors
    ///
    /// [`Error::Count`] with the server's first warning, when it would keep fewer rows than were written or other values; [`Error::Server`],
    /// as for rows with the same key; [`Error::Exists`], [`Error::Broken`] and [`Error::Timeout`]. When the connection breaks while the server
    /// commits, nobody knows whether it did.
    pub async fn finish(mut self) -> Result<u64> {
        let doing = format!("{}: filling", self.place);
        // Of an INSERT this is the rest, and so it is of a file that is short.
        while !self.buffer.is_empty() {
            self.send().await?;
        }
        let (client, rows, place) = (self.client.clone(), self.rows, self.place.clone());
        if matches!(self.way, Way::File) {
            let lease = self.lease()?;
            let connection = lease.connection()?;
            let done = client.within(&doing, async {
                connection.send(&[]).await?;
                match connection.answer().await? {
                    Answer::Done(done) => Ok(done),
                    _ => Err(Fault::Protocol("expected the end of LOAD DATA".to_owned())),
                }
            });
            let done = done.await?;
            check(&client, lease, &place, done, rows).await?;
        }
        let merge = self.end.merge.take();
        let lease = self.lease()?;
        if let Some(merge) = merge {
            lease.execute(&doing, &merge).await?;
        }
        lease.execute(&doing, "COMMIT").await?;
        if let Some(draft) = &self.end.draft {
            let lease = self.lease.as_mut().ok_or_else(|| ended(&place))?;
            draft.publish(&client, lease, &place, &doing).await?;
            let unlock = format!("DO RELEASE_LOCK({})", literal(&draft.name));
            lease.execute(&doing, &unlock).await?;
        }
        self.end.draft = None;
        if let Some(lease) = self.lease.take() {
            lease.done();
        }
        Ok(rows)
    }

    /// Leaves nothing of the rows, nor of a table that was being made, and waits until the server has done so. Dropping it does
    /// the same: the rows go in the background, for a table that was being made the thread waits 20 s at most.
    pub async fn give_up(mut self) {
        let undo = self.undo();
        if let Some(lease) = self.lease.take() {
            lease.end(undo).await;
        }
    }

    /// The statement that removes a table that was being made.
    fn undo(&mut self) -> Option<String> {
        let draft = self.end.draft.take()?;
        Some(format!("DROP TABLE IF EXISTS {}", draft.quoted_name()))
    }

    fn lease(&mut self) -> Result<&mut Lease> {
        self.lease.as_mut().ok_or_else(|| ended(&self.place))
    }
}

impl Drop for Fill {
    fn drop(&mut self) {
        let undo = self.undo();
        if let (Some(lease), Some(undo)) = (self.lease.take(), undo) {
            lease.end_now(undo);
        }
    }
}

impl std::fmt::Debug for Fill {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fill")
            .field("place", &self.place)
            .field("rows", &self.rows)
            .finish_non_exhaustive()
    }
}

impl Draft {
    fn quoted_name(&self) -> String {
        format!("{}.{}", quoted(&self.database), quoted(&self.name))
    }

    /// Makes its indexes and gives it its name.
    async fn publish(&self, client: &Client, lease: &mut Lease, place: &str, doing: &str) -> Result<()> {
        if let Some(indexes) = &self.indexes {
            lease.execute(doing, indexes).await?;
        }
        let (draft, name) = (
            self.quoted_name(),
            format!("{}.{}", quoted(&self.database), quoted(&self.as_name)),
        );
        let found = match self.replaces {
            true => client.table(Some(&self.database), &self.as_name).await.ok(),
            false => None,
        };
        let Some(found) = found.filter(|found| found.name == self.as_name) else {
            let renamed = lease.execute(doing, &format!("RENAME TABLE {draft} TO {name}")).await;
            return match renamed {
                Err(error) if error.code() == Some(TABLE_EXISTS) => Err(Error::Exists { name: place.to_owned() }),
                renamed => renamed.map(drop),
            };
        };
        may_go(client, &found, place).await?;
        let old = format!(
            "{}.{}",
            quoted(&self.database),
            quoted(&draft_name(&self.as_name, SystemTime::now()))
        );
        let rename = format!("RENAME TABLE {name} TO {old}, {draft} TO {name}");
        lease.execute(doing, &rename).await?;
        lease.execute(doing, &format!("DROP TABLE {old}")).await.map(drop)
    }
}

impl Client {
    /// Waits until no transaction is under way that changes a table.
    ///
    /// # Errors
    ///
    /// [`Error::Server`] for somebody who may not lock it, [`Error::Timeout`], [`Error::Broken`].
    pub async fn wait_for_writers(&self, table: &Table) -> Result<()> {
        let doing = format!("{}.{}: waiting for who writes to it", table.database, table.name);
        let mut lease = self.lease().await?;
        let lock = format!("LOCK TABLES {} WRITE", table.quoted_name());
        lease.execute(&doing, &lock).await?;
        lease.execute(&doing, "UNLOCK TABLES").await?;
        lease.done();
        Ok(())
    }
}

/// The columns of a table that rows are for.
fn targets_of(table: &Table, names: &[String], place: &str) -> Result<Vec<Target>> {
    let all = table.columns.iter().filter(|column| !column.is_generated);
    let columns = match names.is_empty() {
        true => all.collect::<Vec<_>>(),
        false => {
            let found = names.iter().map(|name| {
                let column = table.columns.iter().find(|column| column.name == *name);
                column.ok_or_else(|| {
                    let names: Vec<String> = table.columns.iter().map(|column| column.name.clone()).collect();
                    Error::NotFound {
                        kind: "column",
                        name: format!("{place}: {name}"),
                        hint: listed(&names),
                    }
                })
            });
            found.collect::<Result<_>>()?
        }
    };
    if let Some(column) = columns.iter().find(|column| column.is_generated) {
        return Err(Error::Unsupported {
            what: format!("{place}: writing to the generated column {}", column.name),
            hint: "leave it out: the server computes its values".to_owned(),
        });
    }
    let targets = columns.into_iter().map(|column| Target {
        name: column.name.clone(),
        typ: column.typ.clone(),
        is_nullable: column.is_nullable,
    });
    Ok(targets.collect())
}

/// The statement that asks for the rows as a file. Bytes come as hexadecimal digits, and bits as numbers: as text they would be read in a
/// character set.
fn load(into: &str, targets: &[Target]) -> String {
    let mut names = Vec::new();
    let mut set = Vec::new();
    for (index, target) in targets.iter().enumerate() {
        let (name, variable) = (quoted(&target.name), format!("@tidemill_{index}"));
        let value = match target.typ {
            Type::Binary(_) | Type::VarBinary(_) | Type::Blob(_) | Type::Geometry(_) => format!("UNHEX({variable})"),
            Type::Bit(_) => format!("CAST({variable} AS UNSIGNED)"),
            _ => {
                names.push(name);
                continue;
            }
        };
        names.push(variable);
        set.push(format!("{name} = {value}"));
    }
    let set = match set.is_empty() {
        true => String::new(),
        false => format!(" SET {}", set.join(", ")),
    };
    format!(
        "LOAD DATA LOCAL INFILE 'tidemill' INTO TABLE {into} CHARACTER SET utf8mb4 FIELDS TERMINATED BY '\\t' ENCLOSED BY '' \
         ESCAPED BY '\\\\' LINES STARTING BY '' TERMINATED BY '\\n' ({}){set}",
        names.join(", ")
    )
}

/// Whether the server takes files, and how long a statement may be.
async fn limits(client: &Client, doing: &str) -> Result<(bool, usize)> {
    let rows = client
        .texts(doing, "SELECT @@local_infile, @@max_allowed_packet")
        .await?;
    let mut cells = rows.into_iter().flatten().flatten();
    let takes_files = cells.next().is_some_and(|text| text == "1");
    let longest = cells
        .next()
        .and_then(|text| text.parse::<usize>().ok())
        .unwrap_or(1 << 20);
    // The command is a byte of the packet too.
    Ok((takes_files, longest.saturating_sub(64)))
}

/// That the server kept all rows, as they were sent.
async fn check(client: &Client, lease: &mut Lease, place: &str, done: Done, rows: u64) -> Result<()> {
    if done.affected == rows && done.warnings == 0 {
        return Ok(());
    }
    let warning = warning(client, lease, place).await;
    Err(Error::Count {
        place: place.to_owned(),
        expected: rows,
        found: done.affected,
        why: warning.unwrap_or_else(|error| error.to_string()),
    })
}

/// The first warning of the last statement of a connection.
async fn warning(client: &Client, lease: &mut Lease, place: &str) -> Result<String> {
    let rows = lease
        .texts(client, &format!("{place}: reading warnings"), "SHOW WARNINGS LIMIT 1")
        .await?;
    let row = rows.into_iter().next().unwrap_or_default();
    let words: Vec<String> = row.into_iter().flatten().collect();
    Ok(match words.as_slice() {
        [_, code, message] => format!("{} (warning {code})", crate::error::shown(message.as_bytes())),
        _ => "the server tells no warning".to_owned(),
    })
}

async fn needs_transactions(client: &Client, table: &Table, place: &str) -> Result<()> {
    let engine = table.engine.as_deref().unwrap_or_default();
    let query = format!(
        "SELECT TRANSACTIONS FROM information_schema.ENGINES WHERE ENGINE = {}",
        literal(engine)
    );
    let rows = client.texts(place, &query).await?;
    match rows.into_iter().flatten().flatten().next().as_deref() {
        Some("YES") => Ok(()),
        _ => Err(Error::Unsupported {
            what: format!("{place}: changing all rows at once of a table whose engine ({engine}) has no transactions"),
            hint: "replace the table, or make it one of InnoDB".to_owned(),
        }),
    }
}

/// Whether another table may take the place of this one.
async fn may_go(client: &Client, table: &Table, place: &str) -> Result<()> {
    let refused = |what: String, hint: &str| {
        Err(Error::Unsupported {
            what: format!("{place}: {what}"),
            hint: hint.to_owned(),
        })
    };
    if table.kind != TableKind::Table {
        return refused("replacing what is no table".to_owned(), "drop it first");
    }
    let query = format!(
        "SELECT DISTINCT CONCAT(TABLE_SCHEMA, '.', TABLE_NAME) FROM information_schema.KEY_COLUMN_USAGE \
         WHERE REFERENCED_TABLE_SCHEMA = {0} AND REFERENCED_TABLE_NAME = {1} AND NOT (TABLE_SCHEMA = {0} AND TABLE_NAME = {1})",
        literal(&table.database),
        literal(&table.name)
    );
    let rows = client.texts(place, &query).await?;
    match rows.into_iter().flatten().flatten().next() {
        None => Ok(()),
        Some(other) => refused(
            format!("replacing a table that a foreign key of {other} refers to"),
            "empty it instead, or drop the foreign key",
        ),
    }
}

fn too_long(place: &str, row: u64, length: usize, most: usize) -> Error {
    Error::Unsupported {
        what: format!("{place}: row {row}: {length} bytes in a statement of {most}"),
        hint: "the server's local_infile=1 or a larger max_allowed_packet allows more".to_owned(),
    }
}

fn ended(place: &str) -> Error {
    Error::Broken {
        doing: format!("{place}: filling"),
        what: "it has ended".to_owned(),
    }
}

/// Bytes that are sent at a time.
const PIECE: usize = 256 << 10;
/// `ER_TABLE_EXISTS_ERROR`.
const TABLE_EXISTS: u16 = 1050;
/// `ER_NOT_ALLOWED_COMMAND`, `ER_CLIENT_LOCAL_FILES_DISABLED` of MySQL, `ER_LOAD_INFILE_CAPABILITY_DISABLED` of MariaDB.
const NO_LOCAL_FILES: [u16; 3] = [1148, 3948, 4166];
