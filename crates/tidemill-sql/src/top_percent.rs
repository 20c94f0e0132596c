//! `TOP n PERCENT`: a limit that depends on the number of all rows.
//!
//! DataFusion has no such limit. It is written as `LIMIT "top percent"(n)`, which becomes a plan node that buffers all rows until their
//! number is known.

use std::fmt;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::DataType;
use datafusion::catalog::Session;
use datafusion::common::tree_node::{Transformed, TreeNodeRecursion};
use datafusion::common::{DFSchemaRef, DataFusionError, Result, ScalarValue, not_impl_err, plan_err};
use datafusion::execution::context::QueryPlanner;
use datafusion::execution::memory_pool::MemoryConsumer;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::physical_planning_context::PhysicalPlanningContext;
use datafusion::logical_expr::{
    Expr, Extension, LogicalPlan, LogicalPlanBuilder, ScalarUDF, UserDefinedLogicalNode, UserDefinedLogicalNodeCore,
    Volatility, create_udf,
};
use datafusion::physical_expr::{Distribution, LexOrdering, OrderingRequirements, Partitioning, PhysicalExpr};
use datafusion::physical_plan::execution_plan::EmissionType;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    ChildrenPropertiesMode, DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties as _,
    InputDistributionRequirements, PlanProperties, ReplaceChildrenOptions,
};
use datafusion::physical_planner::{DefaultPhysicalPlanner, ExtensionPlanner, PhysicalPlanner};
use futures::{StreamExt as _, TryStreamExt as _};
use sqlparser::ast::{self, Ident, ObjectName};

/// The space in the name keeps statements from calling it.
const NAME: &str = "top percent";

/// The limit of a query to this percentage of its rows.
pub(crate) fn limit(percent: ast::Expr) -> ast::Expr {
    ast::Expr::Function(ast::Function {
        name: ObjectName::from(vec![Ident::with_quote('"', NAME)]),
        uses_odbc_syntax: false,
        parameters: ast::FunctionArguments::None,
        args: ast::FunctionArguments::List(ast::FunctionArgumentList {
            duplicate_treatment: None,
            args: vec![ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(percent))],
            clauses: Vec::new(),
        }),
        filter: None,
        null_treatment: None,
        over: None,
        within_group: Vec::new(),
    })
}

/// The function in such limits, until [`placed`] replaces it.
pub(crate) fn function() -> ScalarUDF {
    let is_no_value = |_: &[_]| not_impl_err!("{NAME} stands in a limit alone");
    create_udf(
        NAME,
        vec![DataType::Int64],
        DataType::Int64,
        Volatility::Immutable,
        Arc::new(is_no_value),
    )
}

/// Replaces such limits in a plan by nodes.
pub(crate) fn placed(plan: LogicalPlan) -> Result<LogicalPlan> {
    let placed = plan.transform_up_with_subqueries(|node| {
        let LogicalPlan::Limit(limit) = &node else {
            return Ok(Transformed::no(node));
        };
        let Some(Expr::ScalarFunction(call)) = limit.fetch.as_deref() else {
            return Ok(Transformed::no(node));
        };
        if call.name() != NAME {
            return Ok(Transformed::no(node));
        }
        let top = TopPercent {
            percent: whole(call.args.first())?.min(100),
            offset: limit.skip.as_deref().map_or(Ok(0), |skip| whole(Some(skip)))?,
            input: LogicalPlan::clone(&limit.input),
        };
        let top = LogicalPlan::Extension(Extension { node: Arc::new(top) });
        // DataFusion's rules prune columns only through its own nodes, so that a projection selects all of them.
        let columns = top.schema().columns().into_iter().map(Expr::Column);
        let columns = columns.collect::<Vec<_>>();
        Ok(Transformed::yes(
            LogicalPlanBuilder::from(top).project(columns)?.build()?,
        ))
    })?;
    Ok(placed.data)
}

fn whole(expr: Option<&Expr>) -> Result<usize> {
    let number = match expr {
        Some(Expr::Literal(ScalarValue::Int64(Some(number)), _)) => usize::try_from(*number).ok(),
        Some(Expr::Literal(ScalarValue::UInt64(Some(number)), _)) => usize::try_from(*number).ok(),
        _ => None,
    };
    match number {
        Some(number) => Ok(number),
        None => plan_err!("TOP takes a whole number of percent and of rows that are passed over"),
    }
}

/// The node that returns a percentage of its input's rows.
#[derive(Debug, PartialEq, Eq, PartialOrd, Hash)]
struct TopPercent {
    percent: usize,
    /// How many rows are skipped.
    offset: usize,
    input: LogicalPlan,
}

impl UserDefinedLogicalNodeCore for TopPercent {
    fn name(&self) -> &'static str {
        "TopPercent"
    }

    fn inputs(&self) -> Vec<&LogicalPlan> {
        vec![&self.input]
    }

    fn schema(&self) -> &DFSchemaRef {
        self.input.schema()
    }

    fn expressions(&self) -> Vec<Expr> {
        Vec::new()
    }

    fn fmt_for_explain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { percent, offset, .. } = self;
        write!(f, "TopPercent: percent={percent}, skip={offset}")
    }

    fn with_exprs_and_inputs(&self, _: Vec<Expr>, mut inputs: Vec<LogicalPlan>) -> Result<Self> {
        match inputs.pop() {
            Some(input) => Ok(Self { input, ..*self }),
            None => plan_err!("TopPercent has one input"),
        }
    }

    fn necessary_children_exprs(&self, columns: &[usize]) -> Option<Vec<Vec<usize>>> {
        Some(vec![columns.to_vec()])
    }
}

/// DataFusion's planner, extended by this node.
#[derive(Debug)]
pub(crate) struct Planner;

#[async_trait::async_trait]
impl QueryPlanner for Planner {
    async fn create_physical_plan(&self, plan: &LogicalPlan, session: &dyn Session) -> Result<Arc<dyn ExecutionPlan>> {
        let planner = DefaultPhysicalPlanner::with_extension_planners(vec![Arc::new(Self)]);
        planner.create_physical_plan(plan, session).await
    }
}

#[async_trait::async_trait]
impl ExtensionPlanner for Planner {
    async fn plan_extension(
        &self,
        _: &dyn PhysicalPlanner,
        node: &dyn UserDefinedLogicalNode,
        _: &[&LogicalPlan],
        inputs: &[Arc<dyn ExecutionPlan>],
        _: &dyn Session,
        _: &PhysicalPlanningContext,
    ) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        let (Some(node), [input]) = (node.as_any().downcast_ref::<TopPercent>(), inputs) else {
            return Ok(None);
        };
        let order = input.output_ordering().cloned();
        let exec = TopPercentExec::new(node.percent, node.offset, order, Arc::clone(input));
        Ok(Some(Arc::new(exec)))
    }
}

#[derive(Debug)]
struct TopPercentExec {
    percent: usize,
    offset: usize,
    /// The required order of the input: without it, DataFusion may drop the sort.
    order: Option<LexOrdering>,
    input: Arc<dyn ExecutionPlan>,
    properties: Arc<PlanProperties>,
}

impl TopPercentExec {
    fn new(percent: usize, offset: usize, order: Option<LexOrdering>, input: Arc<dyn ExecutionPlan>) -> Self {
        let properties = PlanProperties::new(
            input.properties().equivalence_properties().clone(),
            Partitioning::UnknownPartitioning(1),
            EmissionType::Final,
            input.properties().boundedness,
        );
        Self {
            percent,
            offset,
            order,
            input,
            properties: Arc::new(properties),
        }
    }
}

impl DisplayAs for TopPercentExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { percent, offset, .. } = self;
        write!(f, "TopPercentExec: percent={percent}, skip={offset}")
    }
}

impl ExecutionPlan for TopPercentExec {
    fn name(&self) -> &'static str {
        "TopPercentExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn input_distribution_requirements(&self) -> InputDistributionRequirements {
        InputDistributionRequirements::new(vec![Distribution::SinglePartition])
    }

    fn required_input_distribution(&self) -> Vec<Distribution> {
        self.input_distribution_requirements().into_per_child()
    }

    fn required_input_ordering(&self) -> Vec<Option<OrderingRequirements>> {
        vec![self.order.clone().map(OrderingRequirements::from)]
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
            [input] => Ok(Arc::new(Self::new(
                self.percent,
                self.offset,
                self.order.clone(),
                Arc::clone(input),
            ))),
            _ => plan_err!("TopPercentExec has one input"),
        }
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let (percent, offset) = (self.percent, self.offset);
        let schema = self.schema();
        let mut input = self.input.execute(partition, Arc::clone(&context))?;
        let held = MemoryConsumer::new("TopPercentExec").register(context.memory_pool());
        let shown = async move {
            let mut batches = Vec::new();
            while let Some(batch) = input.try_next().await? {
                held.try_grow(batch.get_array_memory_size())?;
                batches.push(batch);
            }
            let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
            let mut left = rows.saturating_mul(percent).div_ceil(100);
            let mut passed = offset;
            let shown = batches.into_iter().map(move |batch| {
                held.shrink(batch.get_array_memory_size());
                let from = passed.min(batch.num_rows());
                let taken = left.min(batch.num_rows() - from);
                (passed, left) = (passed - from, left - taken);
                Ok(batch.slice(from, taken))
            });
            Ok::<_, DataFusionError>(futures::stream::iter(shown))
        };
        let batches = futures::stream::once(shown).try_flatten();
        let batches = batches.try_filter(|batch| std::future::ready(batch.num_rows() > 0));
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, batches.boxed())))
    }
}
