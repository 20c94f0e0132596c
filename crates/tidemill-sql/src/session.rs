//! A session: the settings of a person's work, and statements run under them.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Display;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_schema::SchemaRef;
use datafusion::catalog::TableProvider;
use datafusion::common::TableReference;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::execution::{SendableRecordBatchStream, SessionState};
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::execute_stream;
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion::sql::parser::Statement as PlannerStatement;
use futures::StreamExt;
use sqlparser::ast::Statement;
use tidemill_xbase::{Blank, CodePage, Deleted};

use crate::location::Location;
use crate::names::Names;
use crate::scope::{self, Bound};
use crate::{Error, Result, dialect, stores};

/// The settings of a [`Session`].
#[derive(Clone, Debug, Default)]
pub struct SessionOptions {
    names: Names,
    xbase: tidemill_xbase::OpenOptions,
    deleted: Deleted,
    recover: bool,
    threads: Option<usize>,
}

impl SessionOptions {
    /// The folder whose tables may be named without path and extension. Default: the current folder.
    #[must_use]
    pub fn dir(mut self, dir: impl Into<PathBuf>) -> Self {
        self.names.set_dir(dir);
        self
    }

    /// Gives the table at `place` a name of its own.
    #[must_use]
    pub fn attach(mut self, name: impl Into<String>, place: impl Into<String>) -> Self {
        self.names.attach(name, place);
        self
    }

    /// Maps a Windows drive letter to a folder.
    #[must_use]
    pub fn drive(mut self, letter: char, folder: impl Into<PathBuf>) -> Self {
        self.names.map_drive(letter, folder);
        self
    }

    /// The code page of xBase tables, over what they say themselves. Default: what they say.
    #[must_use]
    pub fn codepage(mut self, codepage: CodePage) -> Self {
        self.xbase = self.xbase.codepage(codepage);
        self
    }

    /// What a blank number or logical of an xBase table is. Default: null.
    #[must_use]
    pub fn blank(mut self, blank: Blank) -> Self {
        self.xbase = self.xbase.blank(blank);
        self
    }

    /// Which records of xBase tables are rows. Default: those that are not marked as deleted.
    #[must_use]
    pub fn deleted(mut self, deleted: Deleted) -> Self {
        self.deleted = deleted;
        self
    }

    /// Whether to go on behind damage, leaving out what can't be read. Default: no, damage is an error.
    #[must_use]
    pub fn recover(mut self, recover: bool) -> Self {
        self.recover = recover;
        self.xbase = self.xbase.recover(recover);
        self
    }

    /// How many threads a statement may use. Default: as many as there are processors.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads.max(1));
        self
    }

    pub(crate) fn xbase_options(&self) -> &tidemill_xbase::OpenOptions {
        &self.xbase
    }

    pub(crate) fn deleted_records(&self) -> Deleted {
        self.deleted
    }

    pub(crate) fn recovers(&self) -> bool {
        self.recover
    }
}

/// Runs statements over stores. Cheap to make; holds no file open between statements.
pub struct Session {
    options: SessionOptions,
    config: SessionConfig,
    damage: DamageLog,
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
        }
    }

    /// What recovery has left out of the tables that were read so far, a line each: the file, the range, and why.
    pub fn damage(&self) -> Vec<String> {
        self.damage.lines()
    }

    /// The rules by which this session finds tables.
    pub fn names(&self) -> &Names {
        &self.options.names
    }

    /// Runs one statement. Rows come as the answer is read; a statement that neither sorts nor groups gives its table's
    /// rows in the table's order.
    ///
    /// # Errors
    ///
    /// [`Error::Parse`], [`Error::NotFound`] and whatever the tables' engines or the planner find wrong.
    pub async fn query(&self, sql: &str) -> Result<Answer> {
        let mut statement = dialect::parse(sql)?;
        if !matches!(
            statement,
            Statement::Query(_) | Statement::Explain { .. } | Statement::ExplainTable { .. }
        ) {
            return Err(Error::Unsupported {
                what: "a statement other than SELECT, WITH, VALUES or EXPLAIN".to_owned(),
                hint: "tables are read here; copy writes new ones".to_owned(),
            });
        }
        let context = SessionContext::new_with_config(self.config.clone());
        let mut tables = HashMap::new();
        for written in scope::relations(&statement) {
            let location = self.options.names.table(&written)?;
            let provider = stores::open(&location, &self.options, &self.damage, &context.state()).await?;
            let registered = location.path.display().to_string();
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
            state.config_mut().options_mut().execution.target_partitions = 1;
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

    /// All rows of one table, in the table's order.
    pub(crate) async fn read(&self, location: &Location) -> Result<Answer> {
        let mut state = SessionContext::new_with_config(self.config.clone().with_target_partitions(1)).state();
        state.config_mut().options_mut().execution.collect_statistics = false;
        let provider = stores::open(location, &self.options, &self.damage, &state).await?;
        let physical = provider.scan(&state, None, &[], None).await?;
        Ok(Answer {
            stream: execute_stream(physical, state.task_ctx())?,
        })
    }

    /// How many rows a reader of the table finds.
    pub(crate) async fn count(&self, location: &Location) -> Result<u64> {
        let state = SessionContext::new_with_config(self.config.clone().with_target_partitions(1)).state();
        let provider = stores::open(location, &self.options, &self.damage, &state).await?;
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

    async fn open(&self, location: &Location) -> Result<Arc<dyn TableProvider>> {
        let state: SessionState = SessionContext::new_with_config(self.config.clone()).state();
        stores::open(location, &self.options, &self.damage, &state).await
    }
}

/// The rows that a statement gives, batch by batch.
pub struct Answer {
    stream: SendableRecordBatchStream,
}

impl Answer {
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

/// What the scans of a session left out. Parts of one table are read side by side and see the same damage: it counts once.
#[derive(Clone, Debug, Default)]
pub(crate) struct DamageLog(Arc<Mutex<BTreeSet<String>>>);

impl DamageLog {
    pub(crate) fn add(&self, file: &str, damage: impl IntoIterator<Item: Display>) {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lines.extend(damage.into_iter().map(|damage| format!("{file}: {damage}")));
    }

    fn lines(&self) -> Vec<String> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .iter()
            .cloned()
            .collect()
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
