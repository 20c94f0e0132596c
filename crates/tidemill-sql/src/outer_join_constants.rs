//! Constant columns below outer joins.
//!
//! A column that has one value in the input of an outer join, as `v.k` in `a LEFT JOIN v ON v.i = a.i AND v.k = 1`, has NULL as well above the
//! join. DataFusion takes it for constant there too, and leaves it out of the keys of sorts: `ORDER BY v.k, a.i` sorts by `a.i` alone. So while
//! the rules run that put sorts into the plan and take them out, such an input has a node above it that does not tell the constants.

use std::fmt;
use std::sync::Arc;

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult as _, TreeNode as _, TreeNodeRecursion};
use datafusion::common::{JoinType, Result, Statistics, plan_err};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_optimizer::ensure_requirements::EnsureRequirements;
use datafusion::physical_optimizer::pushdown_sort::PushdownSort;
use datafusion::physical_plan::joins::{HashJoinExec, NestedLoopJoinExec, SortMergeJoinExec};
use datafusion::physical_plan::statistics::{ChildStats, StatisticsArgs};
use datafusion::physical_plan::{
    ChildrenPropertiesMode, DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties, ReplaceChildrenOptions,
};

type Rule = Arc<dyn PhysicalOptimizerRule + Send + Sync>;

/// Replaces DataFusion's rules that put sorts into a plan or take them out by the same rules without constants below outer joins.
pub(crate) fn replace(rules: &mut [Rule]) {
    let of_sorts = [
        EnsureRequirements::new().name().to_owned(),
        PushdownSort::new().name().to_owned(),
    ];
    for rule in rules
        .iter_mut()
        .filter(|rule| of_sorts.iter().any(|name| name == rule.name()))
    {
        *rule = Arc::new(WithoutConstants(Arc::clone(rule)));
    }
}

/// A rule of DataFusion, with [`Unknown`] nodes.
#[derive(Debug)]
struct WithoutConstants(Rule);

impl PhysicalOptimizerRule for WithoutConstants {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, config: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        let hidden = plan.transform_up(hide)?;
        let optimized = self.0.optimize(hidden.data, config)?;
        if !hidden.transformed {
            return Ok(optimized);
        }
        optimized
            .transform_up(|node| {
                Ok(match node.downcast_ref::<Unknown>() {
                    Some(unknown) => Transformed::yes(Arc::clone(&unknown.input)),
                    None => Transformed::no(node),
                })
            })
            .data()
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// Hides the constants of the inputs whose columns an outer join fills with NULL.
fn hide(node: Arc<dyn ExecutionPlan>) -> Result<Transformed<Arc<dyn ExecutionPlan>>> {
    let join_type = if let Some(join) = node.downcast_ref::<HashJoinExec>() {
        *join.join_type()
    } else if let Some(join) = node.downcast_ref::<NestedLoopJoinExec>() {
        *join.join_type()
    } else if let Some(join) = node.downcast_ref::<SortMergeJoinExec>() {
        join.join_type()
    } else {
        return Ok(Transformed::no(node));
    };
    let is_filled = match join_type {
        JoinType::Left => [false, true],
        JoinType::Right => [true, false],
        JoinType::Full => [true, true],
        _ => return Ok(Transformed::no(node)),
    };
    let mut is_changed = false;
    let children = node.children().into_iter().zip(is_filled).map(|(child, is_filled)| {
        let has_constants = !child.properties().equivalence_properties().constants().is_empty();
        match is_filled && has_constants {
            true => {
                is_changed = true;
                Arc::new(Unknown::new(Arc::clone(child))) as _
            }
            false => Arc::clone(child),
        }
    });
    let children = children.collect::<Vec<_>>();
    match is_changed {
        true => {
            let options = ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute);
            node.replace_children(children, options).map(Transformed::yes)
        }
        false => Ok(Transformed::no(node)),
    }
}

/// A node that does not tell which columns of its input are constant. It is never executed.
#[derive(Debug)]
struct Unknown {
    input: Arc<dyn ExecutionPlan>,
    properties: Arc<PlanProperties>,
}

impl Unknown {
    fn new(input: Arc<dyn ExecutionPlan>) -> Self {
        let known = input.properties();
        let orderings = known.equivalence_properties().oeq_class().iter().cloned();
        let equivalences = EquivalenceProperties::new_with_orderings(input.schema(), orderings);
        let properties = PlanProperties::clone(known).with_eq_properties(equivalences);
        Self {
            properties: Arc::new(properties),
            input,
        }
    }
}

impl DisplayAs for Unknown {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl ExecutionPlan for Unknown {
    fn name(&self) -> &'static str {
        "WithoutConstants"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![true]
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        let options = ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute);
        self.replace_children(children, options)
    }

    fn replace_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
        _: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        match children.as_slice() {
            [input] => Ok(Arc::new(Self::new(Arc::clone(input)))),
            _ => plan_err!("{} has one input", self.name()),
        }
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        self.input.execute(partition, context)
    }

    fn child_stats_requests(&self, partition: Option<usize>) -> Vec<ChildStats> {
        vec![ChildStats::At(partition)]
    }

    fn statistics_from_inputs(&self, inputs: &[Arc<Statistics>], _: &StatisticsArgs) -> Result<Arc<Statistics>> {
        match inputs {
            [input] => Ok(Arc::clone(input)),
            _ => Ok(Arc::new(Statistics::new_unknown(&self.schema()))),
        }
    }
}
