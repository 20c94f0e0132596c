//! Caches plans of repeated statements: each is planned and optimised once.
//!
//! The key of a plan is the statement's text with the values of its parameters, and the schemas of its tables. The cached plan holds no
//! tables: each run inserts the current ones. Statements whose result changes between runs, such as those that ask for the time, are not
//! cached, since the optimiser puts the value into the plan.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_schema::SchemaRef;
use datafusion::catalog::TableProvider;
use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::datasource::provider_as_source;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalTableSource, Volatility};
use sqlparser::ast::Statement;
use tidemill_ads::sql::{changes_between_statements, walk};

use crate::opaque::Opaque;
use crate::scope::{Bound, Renamed};

/// The most cached plans.
const PLANS: usize = 64;

/// The tables of a statement, by their names in the plan.
pub(crate) type Providers = HashMap<String, Arc<dyn TableProvider>>;

/// The cached plans of a session.
#[derive(Debug, Default)]
pub(crate) struct PlanCache {
    /// The most recently used plan is last.
    plans: Mutex<Vec<(Key, Opaque<Planned>)>>,
}

/// What identifies a plan.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Key {
    text: String,
    /// Sorted by name: the name in the statement, the name in the plan, and the schema.
    tables: Vec<(String, String, SchemaRef)>,
}

/// An optimised plan.
#[derive(Debug, Clone)]
pub(crate) struct Planned {
    pub(crate) plan: LogicalPlan,
    /// Whether its rows must be in the table's order.
    pub(crate) keeps_order: bool,
    /// Columns that are renamed in the answer.
    pub(crate) renamed: Vec<Renamed>,
}

impl Key {
    pub(crate) fn new(statement: &Statement, tables: &HashMap<String, Bound>, providers: &Providers) -> Self {
        let tables = tables.iter().filter_map(|(written, bound)| {
            let provider = providers.get(&bound.registered)?;
            Some((written.clone(), bound.registered.clone(), provider.schema()))
        });
        let mut tables: Vec<_> = tables.collect();
        tables.sort_by(|a, b| a.0.cmp(&b.0));
        Self {
            text: statement.to_string(),
            tables,
        }
    }
}

impl PlanCache {
    /// Finds a plan, and inserts these tables.
    pub(crate) fn find(&self, key: &Key, providers: &Providers) -> Result<Option<Planned>> {
        let known = {
            let mut plans = self.plans.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(place) = plans.iter().position(|(known, _)| known == key) else {
                return Ok(None);
            };
            let known = plans.remove(place);
            let planned = Planned::clone(&known.1);
            plans.push(known);
            planned
        };
        Ok(Some(Planned {
            plan: over(known.plan, Some(providers))?,
            keeps_order: known.keeps_order,
            renamed: known.renamed,
        }))
    }

    /// Stores a plan without its tables.
    pub(crate) fn keep(&self, key: Key, planned: &Planned) -> Result<()> {
        let planned = Planned {
            plan: over(planned.plan.clone(), None)?,
            keeps_order: planned.keeps_order,
            renamed: planned.renamed.clone(),
        };
        let mut plans = self.plans.lock().unwrap_or_else(PoisonError::into_inner);
        plans.retain(|(known, _)| *known != key);
        if plans.len() == PLANS {
            plans.remove(0);
        }
        plans.push((key, Opaque::new(planned)));
        Ok(())
    }
}

/// Whether an unoptimised plan can be cached: it reads only these tables, and its result depends on nothing else.
pub(crate) fn is_lasting(statement: &Statement, plan: &LogicalPlan, providers: &Providers) -> Result<bool> {
    let asks_anew = walk::expressions(statement, &mut |expr| match expr {
        sqlparser::ast::Expr::Function(function) if changes_between_statements(&function.name.to_string()) => {
            ControlFlow::Break(())
        }
        _ => ControlFlow::Continue(()),
    });
    let mut lasts = matches!(statement, Statement::Query(_)) && asks_anew.is_continue();
    plan.apply_with_subqueries(|node| {
        if let LogicalPlan::TableScan(scan) = node {
            lasts &= providers.contains_key(scan.table_name.table());
        }
        node.apply_expressions(|expr| {
            expr.apply(|part| {
                if let Expr::ScalarFunction(call) = part {
                    lasts &= call.func.signature().volatility == Volatility::Immutable;
                }
                Ok(TreeNodeRecursion::Continue)
            })
        })
    })?;
    Ok(lasts)
}

/// Whether no node of the plan reorders or combines rows, so that they must be in the table's order.
pub(crate) fn keeps_table_order(plan: &LogicalPlan) -> Result<bool> {
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

/// The plan with these tables, or without tables.
fn over(plan: LogicalPlan, providers: Option<&Providers>) -> Result<LogicalPlan> {
    let placed = plan.transform_up_with_subqueries(|node| {
        let LogicalPlan::TableScan(mut scan) = node else {
            return Ok(Transformed::no(node));
        };
        scan.source = match providers.and_then(|providers| providers.get(scan.table_name.table())) {
            Some(provider) => provider_as_source(Arc::clone(provider)),
            None => Arc::new(LogicalTableSource::new(scan.source.schema())),
        };
        Ok(Transformed::yes(LogicalPlan::TableScan(scan)))
    })?;
    Ok(placed.data)
}

#[cfg(test)]
mod tests {
    use crate::{Session, SessionOptions};

    #[tokio::test]
    async fn plans_are_kept_once_and_not_without_end() {
        let folder = tempfile::tempdir().expect("a folder");
        let session = Session::new(SessionOptions::default().dir(folder.path()));
        let run = async |sql: &str| {
            let answer = session.query(sql).await.expect("an answer");
            answer.collect().await.expect("rows");
            session.plans.plans.lock().expect("no panic").len()
        };
        run("CREATE TABLE t ( id Integer )").await;
        let join = "SELECT a.id FROM t a JOIN t b ON a.id = b.id";
        assert_eq!((run(join).await, run(join).await), (1, 1));
        assert_eq!(run(&format!("{join} WHERE a.id < SECOND( NOW() )")).await, 1);
        assert_eq!(run(&format!("EXPLAIN {join}")).await, 1);
        for id in 0..70 {
            run(&format!("{join} WHERE a.id = {id}")).await;
        }
        assert_eq!(run(join).await, 64);
    }
}
