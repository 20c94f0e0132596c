//! Filter pushdown through nodes with duplicate column names.
//!
//! DataFusion's [`FilterPushdown`] looks up the columns of a filter in the child node by name: if both tables of `a JOIN b` have a column `y`, a
//! filter on `b.y` becomes one on `a.y`. So while the rule runs, each such node has a [`Barrier`] above it. Only filters on columns with unique
//! names pass it.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use arrow_schema::SchemaRef;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult as _, TreeNode as _, TreeNodeRecursion};
use datafusion::common::{Result, plan_err};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_optimizer::filter_pushdown::FilterPushdown;
use datafusion::physical_plan::filter_pushdown::{ChildFilterDescription, FilterDescription, FilterPushdownPhase};
use datafusion::physical_plan::{
    ChildrenPropertiesMode, DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties, ReplaceChildrenOptions,
};

/// Replaces DataFusion's rules by the same rules with barriers.
pub(crate) fn replace(rules: &mut [Arc<dyn PhysicalOptimizerRule + Send + Sync>]) {
    for rule in rules {
        for of_engine in [FilterPushdown::new(), FilterPushdown::new_post_optimization()] {
            if rule.name() == of_engine.name() {
                *rule = Arc::new(FilterPushdownByPlace(of_engine));
            }
        }
    }
}

/// DataFusion's rule, with barriers.
#[derive(Debug)]
struct FilterPushdownByPlace(FilterPushdown);

impl PhysicalOptimizerRule for FilterPushdownByPlace {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, config: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        let guarded = plan.transform_up(|node| {
            let schema = node.schema();
            let unique = unique_names(&schema).len();
            Ok(match unique == schema.fields().len() {
                true => Transformed::no(node),
                false => Transformed::yes(Arc::new(Barrier { input: node }) as _),
            })
        })?;
        let pushed = self.0.optimize(guarded.data, config)?;
        if !guarded.transformed {
            return Ok(pushed);
        }
        pushed
            .transform_up(|node| {
                Ok(match node.downcast_ref::<Barrier>() {
                    Some(barrier) => Transformed::yes(Arc::clone(&barrier.input)),
                    None => Transformed::no(node),
                })
            })
            .data()
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// The indices of the columns with unique names.
fn unique_names(schema: &SchemaRef) -> Vec<usize> {
    let mut columns = HashMap::new();
    for field in schema.fields() {
        *columns.entry(field.name()).or_insert(0) += 1;
    }
    let fields = schema.fields().iter().enumerate();
    let unique = fields.filter(|(_, field)| columns.get(field.name()) == Some(&1));
    unique.map(|(place, _)| place).collect()
}

/// A node that only filters on columns with unique names pass. It is never executed.
#[derive(Debug)]
struct Barrier {
    input: Arc<dyn ExecutionPlan>,
}

impl DisplayAs for Barrier {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl ExecutionPlan for Barrier {
    fn name(&self) -> &'static str {
        "Barrier"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.input.properties()
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![true]
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
            [input] => Ok(Arc::new(Self {
                input: Arc::clone(input),
            })),
            _ => plan_err!("{} has one input", self.name()),
        }
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        self.input.execute(partition, context)
    }

    fn gather_filters_for_pushdown(
        &self,
        _: FilterPushdownPhase,
        parent_filters: Vec<Arc<dyn PhysicalExpr>>,
        _: &ConfigOptions,
    ) -> Result<FilterDescription> {
        let unique = unique_names(&self.schema()).into_iter().collect();
        let passed = ChildFilterDescription::from_child_with_allowed_indices(&parent_filters, unique, &self.input)?;
        Ok(FilterDescription::new().with_child(passed))
    }
}
