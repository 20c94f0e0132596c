//! A session: the settings of a person's work, and statements run under them.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, RecordBatch, UInt64Array};
use arrow_schema::{Schema, SchemaRef};
use datafusion::catalog::TableProvider;
use datafusion::common::TableReference;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::execution::{SendableRecordBatchStream, SessionState};
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::execute_stream;
use datafusion::physical_plan::limit::GlobalLimitExec;
use datafusion::physical_plan::memory::MemoryStream;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion::sql::parser::Statement as PlannerStatement;
use futures::StreamExt;
use sqlparser::ast::{Insert, Statement, TableObject};
use tidemill_riegeli::RecordType;

use crate::copy;
use crate::damage::DamageLog;
use crate::location::{Format, Location, Place};
use crate::names::Names;
use crate::options::SessionOptions;
use crate::scope::{self, Bound};
use crate::server_url::ServerUrl;
use crate::sink::{ClickHouseSink, IfThere};
use crate::stores::clickhouse::Clients;
use crate::{Error, Result, ads, dialect, stores};

/// Runs statements over stores. Cheap to make; holds no file open between statements, and connections to the servers that it asked.
pub struct Session {
    options: SessionOptions,
    config: SessionConfig,
    damage: DamageLog,
    pub(crate) clients: Clients,
}

impl Session {
    /// A session with these settings.
    pub fn new(options: SessionOptions) -> Self {
        let mut config = SessionConfig::new();
        if let Some(threads) = options.threads {
            config = config.with_target_partitions(threads);
        }
        let settings = config.options_mut();
        // Names are bound before planning (see `scope`), to the letter.
        settings.sql_parser.enable_ident_normalization = false;
        // One text type in every store, so that a copy has its source's types.
        settings.execution.parquet.schema_force_view_types = false;
        settings.sql_parser.map_string_types_to_utf8view = false;
        Self {
            options,
            config,
            damage: DamageLog::default(),
            clients: Clients::default(),
        }
    }

    /// What recovery has left out of the tables that were read so far, a line each: the file, the range, and why.
    pub fn damage(&self) -> Vec<String> {
        self.damage.lines()
    }

    pub(crate) fn note_damage(&self, file: &str, damage: &impl std::fmt::Display) {
        self.damage.add(file, [damage]);
    }

    /// The record type that the session's settings give the records of a file, which says itself that they are messages of
    /// type `named`; `None` when there are no such settings.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] when the descriptors have several types and none is chosen.
    pub fn record_type(&self, named: Option<&str>) -> Result<Option<RecordType>> {
        self.options.record_type(named)
    }

    pub(crate) fn recovers(&self) -> bool {
        self.options.recovers()
    }

    /// The rules by which this session finds tables.
    pub fn names(&self) -> &Names {
        &self.options.names
    }

    /// Runs one statement. Rows come as the answer is read; a statement that neither sorts nor groups gives its table's
    /// rows in the table's order.
    ///
    /// `INSERT INTO` adds rows to a table of a server, or to an xBase table, before this returns. Its answer is one row with their
    /// number. Other statements that change xBase tables, and scripts, are those of [ADS SQL](tidemill_ads::sql).
    ///
    /// # Errors
    ///
    /// [`Error::Parse`], [`Error::NotFound`] and whatever the tables' engines or the planner find wrong.
    pub async fn query(&self, sql: &str) -> Result<Answer> {
        match dialect::parse(sql) {
            Ok(statement @ (Statement::Query(_) | Statement::Explain { .. } | Statement::ExplainTable { .. })) => {
                self.run(statement).await
            }
            Ok(Statement::Insert(insert)) if !self.adds_to_xbase(&insert) => self.insert(insert).await,
            Ok(statement) => {
                self.only_xbase(&statement)?;
                ads::run(sql, &self.options)
            }
            Err(_) if ads::knows(sql) => ads::run(sql, &self.options),
            Err(error) => Err(error),
        }
    }

    /// Other statements are for xBase tables alone.
    fn only_xbase(&self, statement: &Statement) -> Result<()> {
        let named = scope::relations(statement);
        let found = named.iter().filter_map(|name| self.options.names.table(name).ok());
        match found.into_iter().find(|location| location.format != Format::Xbase) {
            Some(location) => Err(Error::Unsupported {
                what: format!("{location}: changing a table that is not of xBase"),
                hint: "INSERT INTO adds rows to tables of servers; copy writes new ones".to_owned(),
            }),
            None => Ok(()),
        }
    }

    /// Whether rows are added to an xBase table.
    fn adds_to_xbase(&self, insert: &Insert) -> bool {
        let TableObject::TableName(name) = &insert.table else {
            return false;
        };
        let location = self.options.names.table(&scope::text(name));
        location.is_ok_and(|location| location.format == Format::Xbase)
    }

    /// Adds the rows of a query to a table of a server.
    async fn insert(&self, insert: Insert) -> Result<Answer> {
        let (TableObject::TableName(name), Some(source)) = (&insert.table, insert.source) else {
            return Err(Error::Unsupported {
                what: "an INSERT INTO without the name of a table and a query for its rows".to_owned(),
                hint: "write INSERT INTO table SELECT ...".to_owned(),
            });
        };
        let location = self.options.names.table(&scope::text(name))?;
        let Place::Server(url) = &location.place else {
            return Err(Error::Unsupported {
                what: format!("{location}: adding rows to a table that is a file"),
                hint: "copy writes new files; INSERT INTO adds to tables of servers".to_owned(),
            });
        };
        let columns: Vec<String> = insert.columns.iter().map(scope::text).collect();
        let mut answer = self.run(Statement::Query(source)).await?;
        let making = &self.options.making;
        if making.create && !columns.is_empty() {
            answer = answer.named(&columns)?;
        }
        let sink = ClickHouseSink::begin(url, &self.clients, &answer.schema(), &columns, making, IfThere::Add).await?;
        // Columns go by their places, whatever the query calls them.
        let answer = answer.named(&sink.columns())?;
        let rows = copy::insert(answer, sink, |_| {}).await?;
        let rows = UInt64Array::from(vec![rows]);
        Answer::of(RecordBatch::try_from_iter([("rows", Arc::new(rows) as ArrayRef)])?)
    }

    async fn run(&self, mut statement: Statement) -> Result<Answer> {
        let context = SessionContext::new_with_config(self.config.clone());
        let mut tables = HashMap::new();
        for written in scope::relations(&statement) {
            let location = self.options.names.table(&written)?;
            let provider =
                stores::open(&location, &self.options, &self.damage, &self.clients, &context.state()).await?;
            let registered = location.to_string();
            let columns = provider
                .schema()
                .fields()
                .iter()
                .map(|field| field.name().clone())
                .collect();
            context.register_table(TableReference::bare(registered.as_str()), provider)?;
            tables.insert(
                written,
                Bound {
                    alias: location.table_name(),
                    registered,
                    columns,
                },
            );
        }
        scope::bind(&mut statement, &tables)?;
        let mut state = context.state();
        let plan = state
            .statement_to_plan(PlannerStatement::Statement(Box::new(statement)))
            .await?;
        if keeps_table_order(&plan)? {
            let execution = &mut state.config_mut().options_mut().execution;
            execution.target_partitions = 1;
            // Of several files, a LIMIT takes by their statistics whichever answer first.
            execution.collect_statistics = false;
        }
        let physical = state.create_physical_plan(&plan).await?;
        Ok(Answer {
            stream: execute_stream(physical, state.task_ctx())?,
        })
    }

    /// How a statement would be answered, as indented lines: what is scanned, with which columns, filters and limits.
    ///
    /// # Errors
    ///
    /// As [`Session::query`].
    pub async fn explain(&self, sql: &str) -> Result<String> {
        let mut answer = self.query(&format!("EXPLAIN {sql}")).await?;
        let mut plan = String::new();
        while let Some(batch) = answer.next().await? {
            for (kind, text) in batch
                .column(0)
                .as_string::<i32>()
                .iter()
                .zip(batch.column(1).as_string::<i32>())
            {
                plan.push_str(&format!(
                    "{}:\n{}\n",
                    kind.unwrap_or_default(),
                    text.unwrap_or_default()
                ));
            }
        }
        Ok(plan)
    }

    /// The rows of one table, or the first of them, in the table's order.
    ///
    /// # Errors
    ///
    /// What opening the table meets.
    pub async fn read(&self, location: &Location, limit: Option<usize>) -> Result<Answer> {
        let mut state = SessionContext::new_with_config(self.config.clone().with_target_partitions(1)).state();
        state.config_mut().options_mut().execution.collect_statistics = false;
        let provider = stores::open(location, &self.options, &self.damage, &self.clients, &state).await?;
        let mut physical = provider.scan(&state, None, &[], limit).await?;
        if limit.is_some() {
            physical = Arc::new(GlobalLimitExec::new(physical, 0, limit));
        }
        Ok(Answer {
            stream: execute_stream(physical, state.task_ctx())?,
        })
    }

    /// How many rows a reader of the table finds.
    pub(crate) async fn count(&self, location: &Location) -> Result<u64> {
        let state = SessionContext::new_with_config(self.config.clone().with_target_partitions(1)).state();
        let provider = stores::open(location, &self.options, &self.damage, &self.clients, &state).await?;
        let physical = provider.scan(&state, Some(&Vec::new()), &[], None).await?;
        let mut answer = Answer {
            stream: execute_stream(physical, state.task_ctx())?,
        };
        let mut rows = 0;
        while let Some(batch) = answer.next().await? {
            rows += batch.num_rows() as u64;
        }
        Ok(rows)
    }

    /// How many rows a read of the table will give, where the table says so without being read.
    pub(crate) async fn expected_rows(&self, location: &Location) -> Result<Option<u64>> {
        let statistics = self.open(location).await?.statistics();
        Ok(statistics
            .and_then(|known| known.num_rows.get_value().copied())
            .map(|rows| rows as u64))
    }

    /// The schema of a table.
    ///
    /// # Errors
    ///
    /// What opening the table meets.
    pub async fn schema(&self, location: &Location) -> Result<SchemaRef> {
        Ok(self.open(location).await?.schema())
    }

    /// The tables of a server's database, in the order of their names.
    ///
    /// # Errors
    ///
    /// [`Error::ClickHouse`] when the server can't be asked.
    pub async fn tables_of(&self, database: &ServerUrl) -> Result<Vec<Location>> {
        stores::clickhouse::tables_of(database, &self.clients).await
    }

    async fn open(&self, location: &Location) -> Result<Arc<dyn TableProvider>> {
        let state: SessionState = SessionContext::new_with_config(self.config.clone()).state();
        stores::open(location, &self.options, &self.damage, &self.clients, &state).await
    }
}

/// The rows that a statement gives, batch by batch.
pub struct Answer {
    stream: SendableRecordBatchStream,
}

impl Answer {
    fn of(batch: RecordBatch) -> Result<Self> {
        Self::of_all(batch.schema(), vec![batch])
    }

    pub(crate) fn of_all(schema: SchemaRef, batches: Vec<RecordBatch>) -> Result<Self> {
        Ok(Self {
            stream: Box::pin(MemoryStream::try_new(batches, schema, None)?),
        })
    }

    /// The same rows under other names of their columns, in order.
    fn named(self, names: &[String]) -> Result<Self> {
        let schema = self.schema();
        if schema.fields().len() != names.len() {
            return Err(Error::Parse {
                message: format!("rows of {} columns for {} columns", schema.fields().len(), names.len()),
            });
        }
        let fields = schema.fields().iter().zip(names);
        let fields = fields.map(|(field, name)| field.as_ref().clone().with_name(name));
        let renamed = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let batches = self.stream.map({
            let renamed = Arc::clone(&renamed);
            move |batch| Ok(RecordBatch::try_new(Arc::clone(&renamed), batch?.columns().to_vec())?)
        });
        Ok(Self {
            stream: Box::pin(RecordBatchStreamAdapter::new(renamed, batches)),
        })
    }

    /// The columns of the answer, spelled as their tables or aliases spell them.
    pub fn schema(&self) -> SchemaRef {
        self.stream.schema()
    }

    /// The next batch, or `None` behind the last. A batch may be empty.
    ///
    /// # Errors
    ///
    /// What reading or evaluating meets; nothing comes after an error.
    pub async fn next(&mut self) -> Result<Option<RecordBatch>> {
        Ok(self.stream.next().await.transpose()?)
    }

    /// All batches. For answers that fit in memory.
    ///
    /// # Errors
    ///
    /// As [`Answer::next`].
    pub async fn collect(mut self) -> Result<Vec<RecordBatch>> {
        let mut batches = Vec::new();
        while let Some(batch) = self.next().await? {
            batches.push(batch);
        }
        Ok(batches)
    }
}

/// Whether nothing in the plan mixes rows, so that they should come in the table's order.
fn keeps_table_order(plan: &LogicalPlan) -> Result<bool> {
    let mut keeps = true;
    plan.apply(|node| {
        if matches!(
            node,
            LogicalPlan::Aggregate(_)
                | LogicalPlan::Join(_)
                | LogicalPlan::Sort(_)
                | LogicalPlan::Window(_)
                | LogicalPlan::Distinct(_)
                | LogicalPlan::Union(_)
        ) {
            keeps = false;
            return Ok(TreeNodeRecursion::Stop);
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(keeps)
}
