//! Computed keys of windows and of grouping sets, as columns of a projection below.
//!
//! DataFusion keeps the name of an expression that a rule rewrites by an alias. For `ROLLUP (ROUND(n, 1))` that is an alias of the whole
//! set, whose columns are then not found. And it takes the order of a computed key from that of its arguments, so that it refuses its own
//! plan for `PARTITION BY ABS(LEAST(n, n))`. A constant by which a window is partitioned does nothing, and is left out.

use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TransformedResult as _, TreeNode as _, TreeNodeRecursion};
use datafusion::common::{Column, Result};
use datafusion::logical_expr::expr::{Alias, GroupingSet};
use datafusion::logical_expr::{Aggregate, Expr, LogicalPlan, Projection, Window};

/// Moves the computed keys of windows and grouping sets into projections, before any rule rewrites them.
pub(crate) fn put(plan: LogicalPlan) -> Result<LogicalPlan> {
    let changed = plan.transform_up_with_subqueries(|node| match node {
        LogicalPlan::Aggregate(aggregate) => of_grouping_sets(aggregate),
        LogicalPlan::Window(window) => of_windows(window),
        other => Ok(Transformed::no(other)),
    });
    changed.data()
}

/// The computed keys of a plan node, and the columns that replace them.
struct Keys<'p> {
    input: &'p Arc<LogicalPlan>,
    computed: Vec<(Expr, String)>,
}

impl<'p> Keys<'p> {
    fn new(input: &'p Arc<LogicalPlan>) -> Self {
        let computed = Vec::new();
        Self { input, computed }
    }

    /// Replaces a computed key by a column. `name` is what the column is called, unless the input has a column of this name.
    fn take(&mut self, key: &mut Expr, name: impl Fn(&Expr) -> String) -> Result<()> {
        let is_left = matches!(key, Expr::Column(_) | Expr::Literal(..) | Expr::Alias(_))
            || key.is_volatile()
            || key.contains_outer()
            || has_subquery(key)?;
        if is_left {
            return Ok(());
        }
        let known = self.computed.iter().find(|(known, _)| known == key);
        let name = match known {
            Some((_, name)) => name.clone(),
            None => {
                let name = name(key);
                if self.input.schema().has_column_with_unqualified_name(&name) {
                    return Ok(());
                }
                self.computed.push((key.clone(), name.clone()));
                name
            }
        };
        *key = Expr::Column(Column::new_unqualified(name));
        Ok(())
    }

    /// The input with the columns; `None` if there are none.
    fn projected(&self) -> Result<Option<Arc<LogicalPlan>>> {
        if self.computed.is_empty() {
            return Ok(None);
        }
        let columns = self.input.schema().columns().into_iter().map(Expr::Column);
        let computed = self.computed.iter().map(|(key, name)| key.clone().alias(name));
        let projection = Projection::try_new(columns.chain(computed).collect(), Arc::clone(self.input))?;
        Ok(Some(Arc::new(LogicalPlan::Projection(projection))))
    }
}

fn has_subquery(expr: &Expr) -> Result<bool> {
    expr.exists(|part| {
        Ok(matches!(
            part,
            Expr::ScalarSubquery(_) | Expr::InSubquery(_) | Expr::Exists(_) | Expr::SetComparison(_)
        ))
    })
}

fn of_grouping_sets(aggregate: Aggregate) -> Result<Transformed<LogicalPlan>> {
    let mut keys = Keys::new(&aggregate.input);
    let mut group_expr = aggregate.group_expr.clone();
    for expr in &mut group_expr {
        let Expr::GroupingSet(sets) = expr else {
            continue;
        };
        let sets: Vec<&mut Expr> = match sets {
            GroupingSet::Rollup(keys) | GroupingSet::Cube(keys) => keys.iter_mut().collect(),
            GroupingSet::GroupingSets(sets) => sets.iter_mut().flatten().collect(),
        };
        for key in sets {
            // The column of the result keeps its name.
            keys.take(key, |key| key.schema_name().to_string())?;
        }
    }
    let Some(input) = keys.projected()? else {
        return Ok(Transformed::no(LogicalPlan::Aggregate(aggregate)));
    };
    let mut aggr_expr = aggregate.aggr_expr.clone();
    for expr in &mut aggr_expr {
        // GROUPING names the key.
        let named = std::mem::take(expr).transform_down(|part| match part {
            Expr::AggregateFunction(mut call) if call.func.name() == "grouping" => {
                for argument in &mut call.params.args {
                    if let Some((_, name)) = keys.computed.iter().find(|(key, _)| key == argument) {
                        *argument = Expr::Column(Column::new_unqualified(name));
                    }
                }
                let call = Expr::AggregateFunction(call);
                Ok(Transformed::new(call, true, TreeNodeRecursion::Jump))
            }
            part => Ok(Transformed::no(part)),
        })?;
        *expr = named.data;
    }
    let changed = Aggregate::try_new(input, group_expr, aggr_expr)?;
    let is_same = changed.schema.columns() == aggregate.schema.columns();
    Ok(Transformed::new_transformed(
        LogicalPlan::Aggregate(if is_same { changed } else { aggregate }),
        is_same,
    ))
}

fn of_windows(window: Window) -> Result<Transformed<LogicalPlan>> {
    let mut keys = Keys::new(&window.input);
    let mut window_expr = window.window_expr.clone();
    let mut is_changed = false;
    for expr in &mut window_expr {
        let name = expr.schema_name().to_string();
        let is_named = matches!(expr, Expr::Alias(_));
        let call = match &mut *expr {
            Expr::Alias(Alias { expr: inner, .. }) => &mut **inner,
            call => call,
        };
        let Expr::WindowFunction(call) = call else {
            continue;
        };
        let params = &mut call.params;
        let before = params.partition_by.len() + keys.computed.len();
        params.partition_by.retain(|key| !matches!(key, Expr::Literal(..)));
        let order = params.order_by.iter_mut().map(|term| &mut term.expr);
        let mut has_keys = before != params.partition_by.len() + keys.computed.len();
        for key in params.partition_by.iter_mut().chain(order) {
            let was = key.clone();
            keys.take(key, |key| format!("window key {}", key.schema_name()))?;
            has_keys |= was != *key;
        }
        if has_keys && !is_named {
            *expr = std::mem::take(expr).alias(name);
        }
        is_changed |= has_keys;
    }
    if !is_changed {
        return Ok(Transformed::no(LogicalPlan::Window(window)));
    }
    let input = keys.projected()?.unwrap_or_else(|| Arc::clone(&window.input));
    let columns = window.schema.columns().into_iter().map(Expr::Column).collect();
    let changed = Arc::new(LogicalPlan::Window(Window::try_new(window_expr, input)?));
    let projection = Projection::try_new(columns, changed)?;
    Ok(Transformed::yes(LogicalPlan::Projection(projection)))
}
