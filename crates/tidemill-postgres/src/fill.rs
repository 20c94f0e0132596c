//! Filling a table in one transaction.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use arrow_array::RecordBatch;
use arrow_schema::{Field, Schema, SchemaRef};
use bytes::Bytes;
use futures::SinkExt;
use tokio_postgres::CopyInSink;

use crate::arrow_type;
use crate::client::{Client, Lease};
use crate::data_type::Type;
use crate::encode::{HEADER, Limit, TRAILER, Target, encode};
use crate::error::{Error, Result};
use crate::new_table::{NewTable, shortened};
use crate::sql_text::{list, literal, quoted};
use crate::table::{Column, Table, shown};

/// Rows on their way into a table. All of them are in one transaction: others see them, and the table that they are for, when
/// [`Fill::finish`] has returned, and nothing is left of them when this is dropped before, the connection breaks or the program ends.
pub struct Fill {
    client: Client,
    lease: Lease,
    sink: Pin<Box<CopyInSink<Bytes>>>,
    targets: Vec<Target>,
    schema: SchemaRef,
    buffer: Vec<u8>,
    rows: u64,
    /// Rows that are there already, of which errors count on.
    before: u64,
    place: String,
    end: Vec<Step>,
}

/// What is done when all rows have come.
enum Step {
    Run(String),
    /// Gives an index the name, when nothing else in the schema has it.
    Rename {
        schema: String,
        from: String,
        to: String,
    },
    /// Lets a column count by itself from its highest value on, when it has no NULL.
    Count {
        table: String,
        column: String,
    },
}

/// What becomes of a table that is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IfThere {
    /// Its rows stay, and new ones are added.
    Append,
    /// A row takes the place of the one with the same primary key; others are added. Of rows with one key in one fill the server refuses the
    /// second.
    Update,
    /// Its rows are removed (`TRUNCATE`): columns, indexes, rights and whatever else depends on it stay. Others cannot read it until the
    /// end.
    Empty,
}

impl Fill {
    /// Begins to fill a table that is there, in the columns that are named, which the batches then have in this order; without names in
    /// all but the generated ones.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] for a column that the table does not have, [`Error::Unsupported`] for a generated one, [`Error::Server`] when the server refuses.
    pub async fn begin(client: &Client, table: &Table, columns: &[String], there: IfThere) -> Result<Self> {
        let place = shown(Some(&table.schema_name), &table.name);
        let mut targets = Vec::new();
        for column in table
            .columns
            .iter()
            .filter(|column| columns.is_empty() && !column.is_generated)
        {
            targets.push((column.declared.clone(), column_target(column)));
        }
        for name in columns {
            let Some(column) = table.columns.iter().find(|column| column.name == *name) else {
                let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
                return Err(Error::NotFound {
                    kind: "column",
                    name: format!("{place}: {name}"),
                    hint: format!("there are {}", names.join(", ")),
                });
            };
            if column.is_generated {
                return Err(Error::Unsupported {
                    what: format!("{place}: writing to the generated column {name}"),
                    hint: "leave it out: the server computes its values".to_owned(),
                });
            }
            targets.push((column.declared.clone(), column_target(column)));
        }
        let name = table.quoted_name();
        let begin = match there {
            IfThere::Append | IfThere::Update => Vec::new(),
            IfThere::Empty => vec![format!("TRUNCATE TABLE {name}")],
        };
        let conflict = match there {
            IfThere::Update => Some(update(table, &targets)?),
            IfThere::Append | IfThere::Empty => None,
        };
        Self::start(
            client,
            place,
            &name,
            targets,
            begin,
            Vec::new(),
            Rows::Into { conflict },
        )
        .await
    }

    /// Makes a table and begins to fill it; without a schema, in the first one of the session's search path.
    ///
    /// # Errors
    ///
    /// [`Error::Exists`] when there is a table of this name, [`Error::Server`] when the server refuses.
    pub async fn create(client: &Client, schema: Option<&str>, name: &str, table: &NewTable) -> Result<Self> {
        let place = shown(schema, name);
        let schema = client.schema(schema).await?;
        let quoted_name = format!("{}.{}", quoted(&schema), quoted(name));
        let draft = draft(name);
        let begin = vec![table.create(&quoted_name)];
        let mut end = Vec::new();
        for (text, key) in table.keys(&quoted_name, &draft) {
            end.push(Step::Run(text));
            end.push(rename(&schema, &key.draft, key.name(name)));
        }
        end.extend(last_steps(&quoted_name, table));
        Self::start(client, place, &quoted_name, targets(table), begin, end, Rows::New).await
    }

    /// Makes a table under another name and begins to fill it. At the end it takes the place of the one that has the name, if there is
    /// one: until then others read that. Views and foreign keys that depend on the old table are an error then, and what was
    /// granted on it is gone: [`IfThere::Empty`] keeps all that.
    ///
    /// # Errors
    ///
    /// [`Error::Server`] when the server refuses.
    pub async fn replace(client: &Client, schema: Option<&str>, name: &str, table: &NewTable) -> Result<Self> {
        let place = shown(schema, name);
        let schema = client.schema(schema).await?;
        let draft = draft(name);
        let new = format!("{}.{}", quoted(&schema), quoted(&draft));
        let begin = vec![table.create(&new)];
        let end = publish(&schema, &draft, name, table, true);
        Self::start(client, place, &new, targets(table), begin, end, Rows::New).await
    }

    /// Gives a table that was made with [`NewTable::create`] under the name `draft`, and filled, its keys, indexes and comments and its
    /// own name, in one transaction. If it `replaces` one, it takes the place of a table that has the name, as [`Fill::replace`] does.
    ///
    /// # Errors
    ///
    /// [`Error::Exists`] for a table that is not replaced, [`Error::Server`] when the server refuses.
    pub async fn publish(
        client: &Client,
        schema: Option<&str>,
        draft: &str,
        name: &str,
        table: &NewTable,
        replaces: bool,
    ) -> Result<()> {
        let place = shown(schema, name);
        let doing = format!("{place}: publishing");
        let schema = client.schema(schema).await?;
        let lease = client.lease().await?;
        client.within(&doing, lease.driver().batch_execute("BEGIN")).await?;
        for step in publish(&schema, draft, name, table, replaces) {
            let done = run(client, &lease, &doing, &step).await;
            done.map_err(|error| exists(error, &place))?;
        }
        let commit = lease.driver().batch_execute("COMMIT");
        client.within(&format!("{place}: committing"), commit).await?;
        lease.done();
        Ok(())
    }

    async fn start(
        client: &Client,
        place: String,
        name: &str,
        columns: Vec<(String, Target)>,
        begin: Vec<String>,
        mut end: Vec<Step>,
        kind: Rows,
    ) -> Result<Self> {
        let doing = format!("{place}: filling");
        let lease = client.lease().await?;
        client.within(&doing, lease.driver().batch_execute("BEGIN")).await?;
        for statement in begin {
            let run = client.within(&doing, lease.driver().batch_execute(&statement)).await;
            run.map_err(|error| exists(error, &place))?;
        }
        let names = list(columns.iter().map(|(_, target)| target.name.as_str()));
        let fields = columns
            .iter()
            .map(|(_, target)| arrow_type::field(&target.name, &target.typ, target.is_nullable));
        let schema = Arc::new(Schema::new(fields.collect::<Vec<Field>>()));
        let conflict = match &kind {
            Rows::Into { conflict } => conflict.as_deref(),
            Rows::New => None,
        };
        let is_staged = conflict.is_some() || columns.iter().any(|(_, target)| staged(&target.typ).is_some());
        let copy = if is_staged {
            // What has no form of bytes here goes into texts, and from there into the table.
            let stage = quoted(&draft("stage"));
            let made = columns.iter().map(|(_, target)| {
                let typ = staged(&target.typ).map_or_else(|| target.typ.to_string(), |typ| typ.to_string());
                format!("{} {typ}", quoted(&target.name))
            });
            let made = made.collect::<Vec<_>>().join(", ");
            let make = format!("CREATE TEMPORARY TABLE {stage} ({made}) ON COMMIT DROP");
            client.within(&doing, lease.driver().batch_execute(&make)).await?;
            let values = columns.iter().map(|(declared, target)| cast(declared, target));
            let values = values.collect::<Vec<_>>().join(", ");
            let conflict = conflict.unwrap_or_default();
            let insert = format!(
                "INSERT INTO {name} ({names}) OVERRIDING SYSTEM VALUE SELECT {values} FROM pg_temp.{stage}{conflict}"
            );
            end.insert(0, Step::Run(insert));
            format!("COPY pg_temp.{stage} ({names}) FROM STDIN (FORMAT binary)")
        } else if matches!(kind, Rows::New) {
            // The rows are visible to nobody before the table is.
            format!("COPY {name} ({names}) FROM STDIN (FORMAT binary, FREEZE)")
        } else {
            format!("COPY {name} ({names}) FROM STDIN (FORMAT binary)")
        };
        // Rows without columns have no names to list.
        let copy = copy.replace(" () FROM STDIN", " FROM STDIN");
        let sink = client.within(&doing, lease.driver().copy_in(&copy)).await?;
        let targets = columns.into_iter().map(|(_, target)| Target {
            typ: staged(&target.typ).unwrap_or(target.typ),
            ..target
        });
        Ok(Self {
            client: client.clone(),
            lease,
            sink: Box::pin(sink),
            targets: targets.collect(),
            schema,
            buffer: HEADER.to_vec(),
            rows: 0,
            before: 0,
            place,
            end,
        })
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
    /// What the server finds wrong with a row is told by [`Fill::finish`].
    ///
    /// # Errors
    ///
    /// [`Error::Value`] for a value that the column does not hold exactly, [`Error::Unsupported`] for a column of another kind,
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
            let rows = SLICE.min(batch.num_rows() - begin);
            encode(
                &batch.slice(begin, rows),
                &self.targets,
                &self.place,
                self.before + self.rows,
                &mut self.buffer,
            )?;
            begin += rows;
            self.rows += rows as u64;
            if self.buffer.len() >= PIECE {
                self.send().await?;
            }
        }
        Ok(())
    }

    async fn send(&mut self) -> Result<()> {
        let bytes = Bytes::from(std::mem::replace(
            &mut self.buffer,
            Vec::with_capacity(PIECE + PIECE / 4),
        ));
        let doing = format!("{}: writing", self.place);
        self.client.within(&doing, self.sink.send(bytes)).await
    }

    /// Waits until the server has all rows, makes keys and indexes, and has others see all of it. Returns the number of rows.
    ///
    /// # Errors
    ///
    /// [`Error::Server`], as for a second row of the same key: nothing is left of the rows then. When the connection breaks with the last
    /// request ([`Error::Broken`]: committing), either all of them are there or none.
    pub async fn finish(mut self) -> Result<u64> {
        self.buffer.extend_from_slice(TRAILER);
        self.send().await?;
        let Self {
            client,
            lease,
            mut sink,
            rows,
            place,
            end,
            ..
        } = self;
        let doing = format!("{place}: filling");
        let written = client.within(&doing, sink.as_mut().finish()).await?;
        drop(sink);
        if written != rows {
            return Err(Error::Broken {
                doing,
                what: format!("the server counts {written} rows where {rows} were sent"),
            });
        }
        for step in &end {
            run(&client, &lease, &doing, step).await?;
        }
        let commit = lease.driver().batch_execute("COMMIT");
        client.within(&format!("{place}: committing"), commit).await?;
        lease.done();
        Ok(rows)
    }
}

impl std::fmt::Debug for Fill {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("Fill");
        shown
            .field("place", &self.place)
            .field("rows", &self.rows)
            .finish_non_exhaustive()
    }
}

async fn run(client: &Client, lease: &Lease, doing: &str, step: &Step) -> Result<()> {
    match step {
        Step::Run(statement) => client.within(doing, lease.driver().batch_execute(statement)).await,
        Step::Rename { schema, from, to } => {
            let in_schema = |name: &str| format!("{}.{}", quoted(schema), quoted(name));
            let query = "SELECT pg_catalog.to_regclass($1) IS NULL";
            let (to_name, from_name) = (in_schema(to), in_schema(from));
            let rows = client.within(doing, lease.driver().query(query, &[&to_name])).await?;
            let is_free = rows.first().and_then(|row| row.try_get(0).ok()).unwrap_or(false);
            if !is_free {
                return Ok(());
            }
            let statement = format!("ALTER INDEX {from_name} RENAME TO {}", quoted(to));
            client.within(doing, lease.driver().batch_execute(&statement)).await
        }
        Step::Count { table, column } => {
            let name = quoted(column);
            let query = format!("SELECT 1 FROM {table} WHERE {name} IS NULL LIMIT 1");
            if !client
                .within(doing, lease.driver().query(&query, &[]))
                .await?
                .is_empty()
            {
                return Ok(());
            }
            let sequence = format!(
                "pg_catalog.pg_get_serial_sequence({}, {})",
                literal(table),
                literal(column)
            );
            let statements = format!(
                "ALTER TABLE {table} ALTER COLUMN {name} SET NOT NULL; \
                 ALTER TABLE {table} ALTER COLUMN {name} ADD GENERATED BY DEFAULT AS IDENTITY; \
                 SELECT pg_catalog.setval({sequence}, MAX({name})) FROM {table} HAVING MAX({name}) > 0"
            );
            client.within(doing, lease.driver().batch_execute(&statements)).await
        }
    }
}

/// The steps by which a table that is filled takes its own name.
fn publish(schema: &str, draft: &str, name: &str, table: &NewTable, replaces: bool) -> Vec<Step> {
    let in_schema = |name: &str| format!("{}.{}", quoted(schema), quoted(name));
    let (old, new) = (in_schema(name), in_schema(draft));
    let keys = table.keys(&new, draft);
    let mut steps: Vec<Step> = keys.iter().map(|(text, _)| Step::Run(text.clone())).collect();
    if replaces {
        steps.push(Step::Run(format!("DROP TABLE IF EXISTS {old}")));
    }
    steps.push(Step::Run(format!("ALTER TABLE {new} RENAME TO {}", quoted(name))));
    steps.extend(keys.iter().map(|(_, key)| rename(schema, &key.draft, key.name(name))));
    steps.extend(last_steps(&old, table));
    steps
}

fn exists(error: Error, place: &str) -> Error {
    match error.sqlstate() {
        // `duplicate_table`
        Some("42P07") => Error::Exists { name: place.to_owned() },
        _ => error,
    }
}

impl Client {
    /// Waits until no transaction is under way that changes a table.
    ///
    /// # Errors
    ///
    /// [`Error::Server`] for somebody who may read the table only, [`Error::Timeout`], [`Error::Broken`].
    pub async fn wait_for_writers(&self, table: &Table) -> Result<()> {
        let doing = format!("{}: waiting for who writes to it", table.quoted_name());
        let lock = format!(
            "BEGIN; LOCK TABLE {} IN SHARE ROW EXCLUSIVE MODE; COMMIT",
            table.quoted_name()
        );
        let lease = self.lease().await?;
        self.within(&doing, lease.driver().batch_execute(&lock)).await?;
        lease.done();
        Ok(())
    }

    /// The schema, or the first of the search path.
    async fn schema(&self, schema: Option<&str>) -> Result<String> {
        if let Some(schema) = schema {
            return Ok(schema.to_owned());
        }
        let doing = "looking for the current schema";
        let rows = self
            .rows(doing, "SELECT pg_catalog.current_schema()::text", &[])
            .await?;
        let found = rows
            .first()
            .and_then(|row| row.try_get::<_, Option<String>>(0).ok().flatten());
        found.ok_or_else(|| Error::NotFound {
            kind: "schema",
            name: "the search path".to_owned(),
            hint: "name a schema in the URL: postgres://host/database/schema/table".to_owned(),
        })
    }
}

/// What rows go into.
enum Rows {
    /// A table that nobody else sees yet.
    New,
    /// A table that is there, and what is done with a row whose key it has.
    Into { conflict: Option<String> },
}

/// The end of an INSERT by which rows take the place of those with the same primary key.
fn update(table: &Table, targets: &[(String, Target)]) -> Result<String> {
    if table.primary_key.is_empty() {
        return Err(Error::Unsupported {
            what: format!(
                "{}: replacing rows of a table without a primary key",
                table.quoted_name()
            ),
            hint: "give it one with ALTER TABLE ... ADD PRIMARY KEY".to_owned(),
        });
    }
    let key = list(table.primary_key.iter().map(String::as_str));
    let others = targets.iter().map(|(_, target)| &target.name);
    let others = others.filter(|name| !table.primary_key.contains(name));
    let set: Vec<String> = others.map(|name| format!("{0} = EXCLUDED.{0}", quoted(name))).collect();
    Ok(match set.is_empty() {
        true => format!(" ON CONFLICT ({key}) DO NOTHING"),
        false => format!(" ON CONFLICT ({key}) DO UPDATE SET {}", set.join(", ")),
    })
}

fn column_target(column: &Column) -> Target {
    Target {
        name: column.name.clone(),
        typ: column.typ.clone(),
        is_nullable: column.is_nullable,
        limit: Limit::of(&column.typ, column.modifier),
    }
}

fn targets(table: &NewTable) -> Vec<(String, Target)> {
    let columns = table.columns.iter().map(|column| {
        let is_nullable = column.is_nullable && !table.primary_key.contains(&column.name);
        let target = Target {
            name: column.name.clone(),
            typ: column.typ.clone(),
            is_nullable,
            limit: Limit::of(&column.typ, -1),
        };
        (column.typ.to_string(), target)
    });
    columns.collect()
}

/// The type whose values are turned into those of a type by a cast, where their bytes are not known here.
fn staged(typ: &Type) -> Option<Type> {
    match typ {
        Type::Array(element) if matches!(**element, Type::Enum(_)) => Some(Type::Array(Box::new(Type::Text))),
        typ if !typ.is_known() => Some(Type::Text),
        _ => None,
    }
}

/// The value of a column as one of its type, from the table that rows come to first.
fn cast(declared: &str, target: &Target) -> String {
    let name = quoted(&target.name);
    match &target.typ {
        // Which sign is the point of a text is for `lc_monetary` to say; a number has one point on every server.
        Type::Other(typ) if typ == "money" => {
            format!(
                "CASE WHEN {name} ~ '^[+-]?[0-9]*[.]?[0-9]+$' THEN {name}::numeric::money ELSE {name}::money END::{declared}"
            )
        }
        _ => format!("{name}::{declared}"),
    }
}

/// What comes when a table has its name.
fn last_steps(name: &str, table: &NewTable) -> Vec<Step> {
    let counts = table.identities().map(|column| Step::Count {
        table: name.to_owned(),
        column: column.to_owned(),
    });
    counts.chain(table.comments(name).map(Step::Run)).collect()
}

fn rename(schema: &str, from: &str, to: String) -> Step {
    Step::Rename {
        schema: schema.to_owned(),
        from: from.to_owned(),
        to,
    }
}

/// A name that nothing else has.
fn draft(name: &str) -> String {
    static DRAFTS: AtomicU64 = AtomicU64::new(0);
    let number = DRAFTS.fetch_add(1, Ordering::Relaxed);
    let time = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_nanos());
    // With an ending for its keys it has at most 63 bytes.
    format!("{}_{time:x}_{number:x}", shortened(name, 30))
}

/// Rows that are encoded before the buffer is looked at.
const SLICE: usize = 1024;
/// Bytes that are sent at a time.
const PIECE: usize = 256 << 10;
