//! Runs queries in the planner: from a statement to a plan, and from the plan to rows.

use std::collections::HashMap;
use std::sync::Arc;

use datafusion::catalog::TableProvider;
use datafusion::common::TableReference;
use datafusion::common::config::ConfigNonZeroUsize;
use datafusion::execution::SessionState;
use datafusion::physical_plan::{ExecutionPlan, execute_stream};
use sqlparser::ast::Statement;
use tidemill_ads::sql::Type;

use crate::ads_connection::blocking;
use crate::answer::Answer;
use crate::format::Format;
use crate::information_schema::View;
use crate::location::{Location, Place};
use crate::options::SessionOptions;
use crate::plan_cache::{Key, PlanCache, Planned, Providers};
use crate::scope::{self, Bound, Renamed};
use crate::session::{Session, Tables, plan};
#[cfg(feature = "workers")]
use crate::workers;
use crate::{Error, Result, faults, panics, stores};

/// A planned query.
enum Prepared {
    Here(Box<Ready>),
    /// The answer of workers, which run it.
    #[cfg_attr(
        not(feature = "workers"),
        expect(dead_code, reason = "a build without workers has no others")
    )]
    Elsewhere(Answer),
}

/// A plan to run here.
struct Ready {
    physical: Arc<dyn ExecutionPlan>,
    state: SessionState,
    /// Whether the answer has the types of ADS SQL.
    settles: bool,
    renamed: Vec<Renamed>,
}

fn with_names(answer: Answer, renamed: &[Renamed]) -> Result<Answer> {
    match renamed.is_empty() {
        true => Ok(answer),
        false => answer.renamed(renamed),
    }
}

impl Session {
    /// Runs a query in the planner, over tables of this session or lent tables.
    pub(crate) async fn run(
        &self,
        statement: Statement,
        sql: &str,
        options: &SessionOptions,
        tables: Tables<'_>,
    ) -> Result<Answer> {
        // With other options, tables may accept other conditions.
        let plans = std::ptr::eq(options, &raw const self.options).then_some(&self.plans);
        self.planned(&statement, sql, &options.of_statements(), tables, plans)
            .await
    }

    async fn planned(
        &self,
        statement: &Statement,
        sql: &str,
        options: &SessionOptions,
        from: Tables<'_>,
        plans: Option<&PlanCache>,
    ) -> Result<Answer> {
        let ready = match panics::caught(self.prepared(statement, sql, options, from, plans)).await? {
            Prepared::Elsewhere(answer) => return Ok(answer),
            Prepared::Here(ready) => *ready,
        };
        if self.options.are_scans_counted() {
            self.run_plans.add(&ready.physical);
        }
        let stream = execute_stream(ready.physical, ready.state.task_ctx());
        let stream = stream.map_err(|error| faults::of_planning(Error::from(error), statement, None, sql))?;
        let stream = panics::caught_in(stream);
        let answer = match ready.settles {
            true => Answer::settled(stream),
            false => Answer::streamed(stream),
        };
        with_names(answer, &ready.renamed)
    }

    /// The physical plan of a query over tables of this session; `None` if workers run it.
    pub(crate) async fn physical_plan(
        &self,
        statement: &Statement,
        sql: &str,
        options: &SessionOptions,
    ) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        let options = options.of_statements();
        let prepared = self.prepared(statement, sql, &options, Tables::named(), None);
        Ok(match prepared.await? {
            Prepared::Here(ready) => Some(ready.physical),
            Prepared::Elsewhere(_) => None,
        })
    }

    /// The plan of a query, or its answer if workers run it.
    async fn prepared(
        &self,
        statement: &Statement,
        sql: &str,
        options: &SessionOptions,
        from: Tables<'_>,
        plans: Option<&PlanCache>,
    ) -> Result<Prepared> {
        let mut state = match from {
            Tables::Lent(_) => self.state_without_files()?,
            Tables::Named(_) => self.state(),
        };
        let (mut tables, mut providers) = (HashMap::new(), Providers::new());
        #[cfg(feature = "workers")]
        let (mut files, mut are_files) = (HashMap::new(), true);
        for (written, place) in scope::relations(statement) {
            let (registered, alias, is_xbase, provider) = match &from {
                Tables::Lent(source) => {
                    let alias = scope::table_name(&written).to_owned();
                    (written.clone(), alias, true, stores::lent::open(&written, source)?)
                }
                Tables::Named(_) if let Some(view) = View::named(&written) => {
                    let alias = scope::table_name(&written).to_owned();
                    (written.clone(), alias, false, self.information(view).await?)
                }
                Tables::Named(located) => {
                    let location = match located.get(&written) {
                        Some(location) => Ok(location.clone()),
                        None => self.locate(&written).await,
                    };
                    let location = location.map_err(|error| faults::absent(error, place, sql))?;
                    let provider = self.table(&location, options, &state).await?;
                    let is_xbase = location.format == Format::Xbase;
                    #[cfg(feature = "workers")]
                    {
                        are_files &= workers::can_travel(&location, options);
                        files.insert(location.to_string(), location.clone());
                    }
                    (location.to_string(), location.table_name(), is_xbase, provider)
                }
            };
            let schema = provider.schema();
            let fields = schema.fields().iter();
            let columns = fields.clone().map(|field| field.name().clone()).collect();
            let types = fields.map(|field| Type::of_arrow(field.data_type(), None)).collect();
            providers.insert(registered.clone(), provider);
            tables.insert(
                written,
                Bound {
                    alias,
                    registered,
                    columns,
                    types,
                    is_xbase,
                },
            );
        }
        if let Some(rows) = providers
            .values()
            .filter_map(|table| stores::batch_rows(&**table))
            .min()
        {
            let execution = &mut state.config_mut().options_mut().execution;
            execution.batch_size = execution.batch_size.min(ConfigNonZeroUsize::try_new(rows.max(1))?);
        }
        #[cfg(feature = "workers")]
        let team = match self.options.get_workers() {
            Some(workers) if are_files && files.len() == providers.len() && !files.is_empty() => {
                let (team, absent) = workers::Team::gathered(workers).await?;
                absent.into_iter().for_each(|line| self.note(line));
                for (name, location) in &files {
                    if let Some(provider) = providers.get_mut(name) {
                        *provider = workers::travelling(location, Arc::clone(provider), options).await?;
                    }
                }
                Some(team)
            }
            _ => None,
        };
        #[cfg(feature = "workers")]
        let plans = plans.filter(|_| team.is_none());
        let settles = options.has_types_of_ads() && tables.values().any(|table| table.is_xbase);
        let key = Key::new(statement, &tables, &providers);
        let known = plans.map_or(Ok(None), |plans| plans.find(&key, &providers))?;
        let Planned {
            plan,
            keeps_order,
            renamed,
        } = match known {
            Some(known) => known,
            None => {
                for (name, provider) in &providers {
                    let schema = state.schema_for_ref(TableReference::bare(name.as_str()))?;
                    schema.register_table(name.clone(), Arc::clone(provider))?;
                }
                let planned = plan(statement.clone(), &tables, &providers, &mut state).await;
                let (planned, lasts) = match planned {
                    Ok(planned) => planned,
                    Err(error) => {
                        let mut search = faults::Search::new(statement, &error);
                        while let Some(part) = search.next() {
                            let told = plan(part, &tables, &providers, &mut state).await.err();
                            search.hear(told.as_ref());
                        }
                        return Err(faults::of_planning(error, statement, search.found().as_ref(), sql));
                    }
                };
                if let (Some(plans), true) = (plans, lasts) {
                    plans.keep(key, &planned)?;
                }
                planned
            }
        };
        if keeps_order {
            let execution = &mut state.config_mut().options_mut().execution;
            execution.target_partitions = 1;
            // With statistics, a LIMIT could skip files and return other rows than the first.
            execution.collect_statistics = false;
        }
        let fault = |error| faults::of_planning(Error::from(error), statement, None, sql);
        #[cfg(feature = "workers")]
        if let Some(team) = team
            && !keeps_order
            && workers::can_run(&plan, &state)?
        {
            let state = team.state(state).map_err(fault)?;
            let answer = Answer::streamed(team.run(plan, state).await.map_err(fault)?);
            return Ok(Prepared::Elsewhere(with_names(answer, &renamed)?));
        }
        let physical = state.query_planner().create_physical_plan(&plan, &state).await;
        Ok(Prepared::Here(Box::new(Ready {
            physical: physical.map_err(fault)?,
            state,
            settles,
            renamed,
        })))
    }

    /// A table of a statement, as the open transaction sees it.
    async fn table(
        &self,
        location: &Location,
        options: &SessionOptions,
        state: &SessionState,
    ) -> Result<Arc<dyn TableProvider>> {
        if let (Format::Xbase, Place::File(file)) = (location.format, &location.place)
            && self.connection.is_in_transaction()
        {
            let (connection, file, given) = (self.connection.clone(), file.clone(), options.clone());
            if let Some(table) = blocking(move || connection.table(&file, &given)).await? {
                return stores::of_table(location, table, options, &self.damage);
            }
        }
        self.opened(location, options, state).await
    }

    pub(crate) async fn opened(
        &self,
        location: &Location,
        options: &SessionOptions,
        state: &SessionState,
    ) -> Result<Arc<dyn TableProvider>> {
        stores::open(location, options, &self.damage, &self.servers, state).await
    }
}
