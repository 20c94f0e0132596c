//! A session: the settings of a person's work, and statements run under them.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use arrow_array::cast::AsArray;
use arrow_schema::SchemaRef;
use datafusion::catalog::{
    CatalogProvider as _, CatalogProviderList as _, MemoryCatalogProvider, MemoryCatalogProviderList,
    MemorySchemaProvider, TableProvider,
};
use datafusion::execution::memory_pool::FairSpillPool;
use datafusion::execution::runtime_env::RuntimeEnv;
use datafusion::execution::{FunctionRegistry as _, SessionState, SessionStateBuilder};
use datafusion::physical_optimizer::optimizer::PhysicalOptimizer;
use datafusion::physical_plan::execute_stream;
use datafusion::physical_plan::limit::GlobalLimitExec;
use datafusion::prelude::SessionConfig;
use datafusion::sql::parser::Statement as PlannerStatement;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use sqlparser::ast::Statement;
use tidemill_ads::sql::{Kind, Select, StatementKind, StatementOptions, TableSource, Value};
use tidemill_riegeli::RecordType;

use crate::ads::{self, TextKind};
use crate::ads_connection::AdsConnection;
use crate::analysis;
use crate::answer::Answer;
use crate::checked_arithmetic::CheckedArithmetic;
use crate::damage::DamageLog;
use crate::engine::Offsets;
use crate::format::Format;
use crate::information_schema::View;
use crate::location::{Location, Place};
use crate::lowering::Parameters;
use crate::names::{KnownNames, Names};
use crate::opaque::Opaque;
use crate::options::SessionOptions;
use crate::parquet_conditions::ParquetConditions;
use crate::plan_cache::{self, PlanCache, Planned, Providers, keeps_table_order};
use crate::route::{self, Route};
use crate::scalars::{self, Surroundings};
use crate::scan_counts::RunPlans;
use crate::scope::{self, Bound};
use crate::stores::key_lookup::{KeyLookups, ServersLast};
use crate::stores::server::push_down::PushDown;
use crate::stores::server::{ServerUrl, Servers, TableChange, is_draft};
use crate::subqueries::{correlated_names, marks, three_valued};
use crate::yielding::YieldingJoins;
use crate::{
    Error, Result, declared_types, faults, filter_pushdown, key_columns, lowering, outer_join_constants, planner_forms,
    stores, top_percent, top_rows,
};

/// Runs statements over stores. Cheap to make. Between statements it keeps open the connections to the servers that it queried, and the
/// xBase tables that it read: transactions, temporary tables and views last until it is dropped.
pub struct Session {
    pub(crate) options: SessionOptions,
    config: SessionConfig,
    /// What bounds the memory of all statements together.
    memory: Option<Arc<FairSpillPool>>,
    without_files: OnceLock<Opaque<SessionState>>,
    pub(crate) damage: DamageLog,
    notes: DamageLog,
    pub(crate) servers: Servers,
    pub(crate) connection: AdsConnection,
    pub(crate) known_names: KnownNames,
    pub(crate) plans: PlanCache,
    pub(crate) run_plans: RunPlans,
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
        // As ADS SQL sorts.
        settings.sql_parser.default_null_ordering = "nulls_min".to_owned();
        if let Some(bytes) = options.memory {
            // Sorts can write to files, tables of hashes cannot. Each sort keeps as much back to merge what it wrote.
            settings.optimizer.prefer_hash_join = false;
            // A join has three sorts for each thread.
            let sorts = 4 * settings.execution.target_partitions.max(1);
            settings.execution.sort_spill_reservation_bytes = (bytes / sorts).min(10 << 20);
        }
        Self {
            memory: options.memory.map(|bytes| Arc::new(FairSpillPool::new(bytes))),
            without_files: OnceLock::new(),
            options,
            config,
            damage: DamageLog::default(),
            notes: DamageLog::default(),
            servers: Servers::default(),
            connection: AdsConnection::default(),
            known_names: KnownNames::default(),
            plans: PlanCache::default(),
            run_plans: RunPlans::default(),
        }
    }

    /// What a statement is planned and run with. What the engine remembers of files is gone with it.
    pub(crate) fn state(&self) -> SessionState {
        let mut runtime = RuntimeEnv::default();
        if let Some(memory) = &self.memory {
            runtime.memory_pool = Arc::clone(memory) as _;
        }
        let mut rules = PhysicalOptimizer::new().rules;
        filter_pushdown::replace(&mut rules);
        outer_join_constants::replace(&mut rules);
        top_rows::place(&mut rules);
        // Before anything is distributed or sorted.
        rules.insert(0, Arc::new(PushDown));
        rules.insert(1, Arc::new(ServersLast));
        rules.insert(2, Arc::new(CheckedArithmetic));
        let state = SessionStateBuilder::new()
            .with_config(self.config.clone())
            .with_runtime_env(Arc::new(runtime))
            .with_default_features()
            .with_query_planner(Arc::new(top_percent::Planner))
            .with_analyzer_rules(analysis::rules())
            .with_optimizer_rules(marks::rules())
            .with_physical_optimizer_rules(rules)
            .with_physical_optimizer_rule(Arc::new(Offsets))
            .with_physical_optimizer_rule(Arc::new(KeyLookups))
            .with_physical_optimizer_rule(Arc::new(YieldingJoins))
            .with_physical_optimizer_rule(Arc::new(ParquetConditions));
        let mut state = state.build();
        analysis::register(&mut state, self.options.has_blanks());
        state.mark_start_execution();
        state
    }

    /// As [`Session::state`], for a statement that reads no file: a copy of a cached state, with its own tables.
    pub(crate) fn state_without_files(&self) -> Result<SessionState> {
        let mut state = SessionState::clone(self.without_files.get_or_init(|| Opaque::new(self.state())));
        let names = &state.config_options().catalog;
        let (catalog, schema) = (names.default_catalog.clone(), names.default_schema.clone());
        let (catalogs, schemas) = (MemoryCatalogProviderList::new(), MemoryCatalogProvider::new());
        schemas.register_schema(&schema, Arc::new(MemorySchemaProvider::new()))?;
        catalogs.register_catalog(catalog, Arc::new(schemas));
        state.register_catalog_list(Arc::new(catalogs));
        state.mark_start_execution();
        Ok(state)
    }

    /// As [`Session::state`] for rows in the order of their table.
    fn state_in_order(&self) -> SessionState {
        let mut state = self.state();
        state.config_mut().options_mut().execution.target_partitions = 1;
        state
    }

    /// What recovery has left out of the tables that were read so far, a line each: the file, the range, and why.
    pub fn damage(&self) -> Vec<String> {
        self.damage.lines()
    }

    /// What a user would want to know of the tables that were read so far, though nothing is wrong with them, a line each.
    pub fn notes(&self) -> Vec<String> {
        self.notes.lines()
    }

    /// Whether a transaction over xBase tables is under way.
    pub fn is_in_transaction(&self) -> bool {
        self.connection.is_in_transaction()
    }

    /// Keeps a line for [`Session::notes`], once.
    pub(crate) fn note(&self, line: String) {
        self.notes.add_line(line);
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

    /// The rules by which this session finds tables.
    pub fn names(&self) -> &Names {
        &self.options.names
    }

    /// Runs one statement. Rows come as the answer is read; a statement that neither sorts nor groups gives its table's
    /// rows in the table's order.
    ///
    /// `INSERT INTO` adds rows to a table of a server, or to an xBase table, before this returns. Its answer is one row with their
    /// number. UPDATE, DELETE, TRUNCATE TABLE and DROP TABLE change a table of PostgreSQL, MySQL or SQLite on its server. Other
    /// statements that change xBase tables, and scripts, are those of [ADS SQL](tidemill_ads::sql).
    ///
    /// # Errors
    ///
    /// [`Error::Parse`], [`Error::NotFound`] and whatever the tables' engines or the planner find wrong.
    pub fn query<'a>(&'a self, sql: &'a str) -> BoxFuture<'a, Result<Answer>> {
        self.answer(sql, &self.options).boxed()
    }

    /// As [`Session::query`], for one query that changes nothing.
    ///
    /// # Errors
    ///
    /// As [`Session::query`]; [`Error::Unsupported`] for anything else, of which nothing is run.
    pub fn rows_of<'a>(&'a self, sql: &'a str) -> BoxFuture<'a, Result<Answer>> {
        async {
            route::check_query(sql)?;
            self.answer(sql, &self.options).await
        }
        .boxed()
    }

    /// As [`Session::query`], with values for its parameters, in the order of [`parameters`](tidemill_ads::sql::parameters).
    ///
    /// # Errors
    ///
    /// As [`Session::query`]; [`Error::Ads`] for too few values or too many.
    pub fn query_with<'a>(&'a self, sql: &'a str, values: &'a [Value]) -> BoxFuture<'a, Result<Answer>> {
        self.answer_with(sql, values, &self.options).boxed()
    }

    /// Runs a text and gives what each of its statements answers, in order: the rows of every SELECT, and how many rows every other one
    /// changed. Statements that stand in loops answer once a turn. The rows of a text with several statements are in memory.
    ///
    /// # Errors
    ///
    /// As [`Session::query`]. What the statements before the fault have changed stays.
    pub fn query_all<'a>(&'a self, sql: &'a str) -> BoxFuture<'a, Result<Vec<Answer>>> {
        self.answers(sql).boxed()
    }

    async fn answers(&self, sql: &str) -> Result<Vec<Answer>> {
        match Box::pin(self.route(sql)).await? {
            Route::Ads { kind, files } => ads::run_all(sql, kind, &self.options, files, &self.connection).await,
            Route::Several(parts) => {
                let mut answers = Vec::new();
                for part in parts {
                    let answer = self.query(&part).await?;
                    answers.push(match answer.changed() {
                        Some(_) => answer,
                        // The next statement may change what is not read yet.
                        None => answer.in_memory().await?,
                    });
                }
                Ok(answers)
            }
            _ => Ok(vec![self.query(sql).await?]),
        }
    }

    /// Has a server run a statement in its own SQL. Rows come as the server sends them.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] for a server of another kind; what the client and the server find wrong.
    pub fn ask_server<'a>(&'a self, server: &'a ServerUrl, sql: &'a str) -> BoxFuture<'a, Result<Answer>> {
        async { self.servers.of(server)?.answer(server, sql).await }.boxed()
    }

    /// Answers a query over tables that another program lends for it. Nothing else is read.
    ///
    /// # Errors
    ///
    /// As [`Session::query`]; [`Error::Unsupported`] for what is not a query.
    pub fn query_lent<'a>(&'a self, sql: &'a str, tables: Arc<dyn TableSource>) -> BoxFuture<'a, Result<Answer>> {
        self.answer_lent(sql, tables).boxed()
    }

    async fn answer_lent(&self, sql: &str, tables: Arc<dyn TableSource>) -> Result<Answer> {
        let statement = match tidemill_ads::sql::parse(sql)?.as_slice() {
            [only] => match &only.kind {
                StatementKind::Select(select) => lowering::statement(select, false, &Parameters::default())?,
                _ => return Err(not_a_query()),
            },
            _ => return Err(not_a_query()),
        };
        self.run(statement, sql, &self.options, Tables::Lent(&tables)).await
    }

    /// [`Session::query`] under these settings of tables.
    pub(crate) async fn answer(&self, sql: &str, options: &SessionOptions) -> Result<Answer> {
        self.answer_with(sql, &[], options).await
    }

    async fn answer_with(&self, sql: &str, values: &[Value], options: &SessionOptions) -> Result<Answer> {
        if let Some(answer) = ads::looked_up(self, sql, values, options) {
            return Ok(answer);
        }
        let text = |kind| ads::Text {
            sql,
            values,
            kind,
            types: None,
        };
        // Futures within futures are large, and deep for the compiler.
        match Box::pin(self.route(sql)).await? {
            Route::Query { select, explains } => {
                let types = declared_types::of(&select).filter(|_| !explains);
                let text = ads::Text {
                    types: types.as_deref(),
                    ..text(TextKind::Query)
                };
                let answer = Box::pin(self.select(&text, &select, explains, options)).await?;
                Ok(match types {
                    Some(types) => answer.in_types(&types),
                    None => answer,
                })
            }
            Route::Planner(mut statement) => {
                lowering::bind(&mut statement, &Parameters::of(sql, values)?)?;
                Box::pin(self.run(*statement, sql, options, Tables::named())).await
            }
            // Values would have to be told which of the statements they are for.
            Route::Several(_) if !values.is_empty() => Err(Error::Unsupported {
                what: "a text of several statements that reads a table which is not of xBase and has parameters"
                    .to_owned(),
                hint: "run its statements one by one".to_owned(),
            }),
            Route::Several(parts) => {
                let (mut rows, mut last) = (None, Answer::counted(None)?);
                for part in parts {
                    let answer = Box::pin(self.answer_with(&part, &[], options)).await?;
                    match answer.changed() {
                        Some(_) => last = answer,
                        None => rows = Some(answer.in_memory().await?),
                    }
                }
                Ok(rows.unwrap_or(last))
            }
            Route::Insert(insert) => Box::pin(self.insert(*insert, sql, values, options)).await,
            Route::Into(select) => Box::pin(self.select_into(*select, sql, values, options)).await,
            Route::Truncate(name) => Box::pin(self.truncate(&name, options)).await,
            Route::ChangeRows { server, change } => {
                Box::pin(self.change_rows(&server, *change, (sql, values), options)).await
            }
            Route::DropOnServer { server, if_exists } => {
                Box::pin(self.change_on_server(&server, TableChange::Drop { if_exists })).await
            }
            Route::Ads { kind, files } => ads::run(&text(kind), options, files, &self.connection).await,
        }
    }

    /// Runs a statement that changes tables once for each list of values, and returns how many rows it changed: `None` of a statement
    /// that changes no rows. With autocommit on, an xBase table has all of the changes afterwards or none. The iterator is read on
    /// another thread.
    ///
    /// # Errors
    ///
    /// As [`Session::query_with`]; what the iterator says.
    pub fn change_each<'a>(
        &'a self,
        sql: &'a str,
        runs: impl Iterator<Item = Result<Vec<Value>>> + Send + 'static,
    ) -> BoxFuture<'a, Result<Option<u64>>> {
        self.change_by(sql, Box::new(runs)).boxed()
    }

    async fn change_by(&self, sql: &str, runs: ads::Runs) -> Result<Option<u64>> {
        match self.route(sql).await? {
            Route::Ads { kind, files } => ads::run_each(sql, kind, runs, &self.options, files, &self.connection).await,
            _ => {
                let mut changed = None;
                for values in runs {
                    let answer = self.query_with(sql, &values?).await?;
                    if let Some(rows) = answer.changed().and_then(|changed| changed.rows) {
                        changed = Some(changed.unwrap_or(0) + rows);
                    }
                }
                Ok(changed)
            }
        }
    }

    /// Runs a query over xBase tables in the lanes of ADS SQL. What these do not support, large sorts and groups, and queries over other
    /// tables go to the planner.
    async fn select(
        &self,
        text: &ads::Text<'_>,
        select: &Select,
        explains: bool,
        options: &SessionOptions,
    ) -> Result<Answer> {
        let sql = text.sql;
        let (mut files, mut located) = (Vec::new(), Located::new());
        let (mut other, mut own, mut system) = (None, None, None);
        let relations = scope::relations(&*select.query);
        let are_several = scope::names_several(&select.query);
        for (name, place) in relations {
            if route::is_system(&name) {
                system = Some(name);
                continue;
            }
            if View::named(&name).is_some() {
                other = Some(name);
                continue;
            }
            if self.connection.has(&name) {
                own = Some(name);
                continue;
            }
            let location = self.locate(&name).await;
            let location = location.map_err(|error| faults::absent(error, place, sql))?;
            match (location.format, &location.place) {
                (Format::Xbase, Place::File(path)) => files.push((name.clone(), path.clone())),
                _ => other = Some(name.clone()),
            }
            located.insert(name, location);
        }
        let made = || system.or_else(|| scope::procedure(&select.query));
        if let Some(own) = own.or_else(|| are_several.then(made).flatten()) {
            // Only the connection has this table; it passes joins to the planner itself.
            return match other {
                None => {
                    let text = ads::Text {
                        kind: TextKind::OwnQuery,
                        ..*text
                    };
                    ads::run(&text, options, files, &self.connection).await
                }
                Some(other) => Err(Error::Unsupported {
                    what: format!(
                        "{own}, which only this connection has, and {other}, which is not of xBase, in one query"
                    ),
                    hint: format!("SELECT * INTO #other FROM {other}, and name #other here"),
                }),
            };
        }
        let mut refused = None;
        if other.is_none() && options.suits_ads() {
            match ads::run(text, options, files, &self.connection).await {
                Err(error) => match (ads::left_to_others(&error), ads::fault_of_index(&error)) {
                    (Some(kind), _) => refused = Some((kind, error)),
                    // The planner reads the records without the index.
                    (None, Some(fault)) => self
                        .damage
                        .add_line(format!("{fault}; the records were read without it")),
                    (None, None) => return Err(error),
                },
                answered => return answered,
            }
        }
        let statement = lowering::statement(select, explains, &Parameters::of(sql, text.values)?)?;
        let answer = self.run(statement, sql, options, Tables::Named(located)).await;
        match (answer, refused) {
            // The planner failed too: the lanes sort and group in memory, without their limit.
            (Err(_), Some((Kind::Large, _))) => {
                let options = options.clone().most_sorted(None);
                Box::pin(self.select(text, select, explains, &options)).await
            }
            // If neither engine has a function, the lanes' error is reported; if the planner has it but fails otherwise, the planner's.
            (Err(told @ Error::Unsupported { .. }), Some((Kind::NoFunction, _))) => Err(told),
            (Err(told), Some((Kind::NoFunction, first)))
                if ads::absent_function(&first).is_some_and(|name| ads::absent_function(&told) != Some(name)) =>
            {
                Err(told)
            }
            (Err(_), Some((kind, error))) if kind != Kind::NeedsAnalytical => Err(error),
            (answer, _) => answer,
        }
    }

    /// How a statement would be answered, as indented lines: what is scanned, with which columns, filters and limits.
    ///
    /// # Errors
    ///
    /// As [`Session::query`].
    pub async fn explain(&self, sql: &str) -> Result<String> {
        route::check_one(sql)?;
        let mut answer = self.query(&format!("EXPLAIN {sql}")).await?;
        let mut plan = String::new();
        while let Some(batch) = answer.next().await? {
            let texts = |column: usize| {
                batch
                    .columns()
                    .get(column)
                    .and_then(|texts| texts.as_string_opt::<i32>())
            };
            let (Some(kinds), Some(texts)) = (texts(0), texts(1)) else {
                return Err(Error::Unsupported {
                    what: "the plan of this statement".to_owned(),
                    hint: "queries and changes of tables have plans".to_owned(),
                });
            };
            for (kind, text) in kinds.iter().zip(texts) {
                let text = text.unwrap_or_default();
                let begin = if text.contains('\n') { '\n' } else { ' ' };
                plan.push_str(&format!("{}:{begin}{text}\n", kind.unwrap_or_default()));
            }
        }
        Ok(plan)
    }

    /// The rows of one table, or the first of them, in the table's order.
    ///
    /// # Errors
    ///
    /// What opening the table meets.
    pub fn read<'a>(&'a self, location: &'a Location, limit: Option<usize>) -> BoxFuture<'a, Result<Answer>> {
        self.read_under(location, limit, &self.options).boxed()
    }

    /// [`Session::read`] under these settings of tables.
    pub(crate) async fn read_under(
        &self,
        location: &Location,
        limit: Option<usize>,
        options: &SessionOptions,
    ) -> Result<Answer> {
        self.scan_under(location, None, limit, options).await
    }

    /// Some columns of a table, by their places, under these settings of tables.
    pub(crate) async fn read_columns_under(
        &self,
        location: &Location,
        places: &Vec<usize>,
        options: &SessionOptions,
    ) -> Result<Answer> {
        self.scan_under(location, Some(places), None, options).await
    }

    async fn scan_under(
        &self,
        location: &Location,
        places: Option<&Vec<usize>>,
        limit: Option<usize>,
        options: &SessionOptions,
    ) -> Result<Answer> {
        let mut state = self.state_in_order();
        state.config_mut().options_mut().execution.collect_statistics = false;
        let provider = stores::open(location, options, &self.damage, &self.servers, &state).await?;
        let mut physical = provider.scan(&state, places, &[], limit).await?;
        if limit.is_some() {
            physical = Arc::new(GlobalLimitExec::new(physical, 0, limit));
        }
        Ok(Answer::streamed(execute_stream(physical, state.task_ctx())?))
    }

    /// How many rows a reader of the table finds under these settings.
    pub(crate) async fn count_under(&self, location: &Location, options: &SessionOptions) -> Result<u64> {
        let state = self.state_in_order();
        let provider = stores::open(location, options, &self.damage, &self.servers, &state).await?;
        let physical = provider.scan(&state, Some(&Vec::new()), &[], None).await?;
        let mut answer = Answer::streamed(execute_stream(physical, state.task_ctx())?);
        let mut rows = 0;
        while let Some(batch) = answer.next().await? {
            rows += batch.num_rows() as u64;
        }
        Ok(rows)
    }

    /// How many rows a read of the table will give, where the table says so without being read.
    pub(crate) async fn expected_rows(&self, location: &Location) -> Result<Option<u64>> {
        // Of text they are estimated, by its first lines.
        if matches!(location.format, Format::Csv(_) | Format::JsonLines) {
            return Ok(None);
        }
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
    pub fn schema<'a>(&'a self, location: &'a Location) -> BoxFuture<'a, Result<SchemaRef>> {
        async { Ok(self.open(location).await?.schema()) }.boxed()
    }

    /// The tables of a server's database, sorted by name. Drafts of unfinished copies are left out, and listed by [`Self::notes`].
    ///
    /// # Errors
    ///
    /// [`Error::Server`] when the server can't be asked.
    pub fn tables_of<'a>(&'a self, database: &'a ServerUrl) -> BoxFuture<'a, Result<Vec<Location>>> {
        async move {
            let names = self.servers.of(database)?.tables_of(database).await?;
            let (drafts, tables): (Vec<_>, Vec<_>) = names.into_iter().partition(|name| is_draft(name));
            if !drafts.is_empty() {
                self.note(format!(
                    "{database}: {} of copies that have not ended: {}; the same copy with --resume goes on with its own, a copy into the \
                     same ClickHouse table drops what is older than an hour",
                    if drafts.len() == 1 { "a table" } else { "tables" },
                    drafts.join(", ")
                ));
            }
            let tables = tables.iter().map(|name| Location::server(database.with_table(name)));
            tables.collect()
        }
        .boxed()
    }

    /// The place from which a table can be read more than once: standard input as a temporary file, others unchanged.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] where standard input may not be read; [`Error::NotATable`]; [`Error::Io`].
    pub fn spooled<'a>(&'a self, location: &'a Location) -> BoxFuture<'a, Result<Location>> {
        async { self.options.spooled(location).await.cloned() }.boxed()
    }

    async fn open(&self, location: &Location) -> Result<Arc<dyn TableProvider>> {
        let state = self.state();
        stores::open(location, &self.options, &self.damage, &self.servers, &state).await
    }
}

/// Tables by the names that a statement gives them.
pub(crate) type Located = HashMap<String, Location>;

/// Where the tables of a statement are.
pub(crate) enum Tables<'t> {
    /// Another program lends them.
    Lent(&'t Arc<dyn TableSource>),
    /// They are found by their names, some already.
    Named(Located),
}

impl Tables<'_> {
    pub(crate) fn named() -> Self {
        Self::Named(Located::new())
    }
}

pub(crate) fn not_a_query() -> Error {
    Error::Unsupported {
        what: "a statement that is not one query, over tables that are lent,".to_owned(),
        hint: "whoever has the tables changes them".to_owned(),
    }
}

/// The optimised plan of a statement over tables that the state knows, and whether it can be kept.
pub(crate) async fn plan(
    mut statement: Statement,
    tables: &HashMap<String, Bound>,
    providers: &Providers,
    state: &mut SessionState,
) -> Result<(Planned, bool)> {
    let renamed = scope::bind(&mut statement, tables)?;
    let written = statement.clone();
    let around = Surroundings::new(tables.values(), state, (StatementOptions::default().clock)());
    for function in scalars::lower(&mut statement, around)? {
        state.register_udf(Arc::new(function))?;
    }
    planner_forms::put(&mut statement)?;
    state.register_udf(Arc::new(top_percent::function()))?;
    let plan = state
        .statement_to_plan(PlannerStatement::Statement(Box::new(statement)))
        .await?;
    let plan = three_valued::put(top_percent::placed(plan)?)?;
    let plan = key_columns::put(correlated_names::put(plan)?)?;
    let lasts = plan_cache::is_lasting(&written, &plan, providers)?;
    let planned = Planned {
        keeps_order: keeps_table_order(&plan)?,
        plan: state.optimize(&plan)?,
        renamed,
    };
    Ok((planned, lasts))
}
