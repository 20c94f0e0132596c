//! Columns merged by NATURAL and USING.

use sqlparser::ast::{JoinConstraint, TableFactor, TableWithJoins};
use tidemill_ads::sql::join_constraint;

use super::{Binder, Relation, same_but_for_case, text};

impl Binder<'_> {
    /// Checks that columns merged by NATURAL and USING have the same spelling: the planner merges no others.
    pub(super) fn check_merged_columns(&self, table: &TableWithJoins) -> Result<(), String> {
        let columns = |factor: &TableFactor| {
            let alone = TableWithJoins {
                relation: factor.clone(),
                joins: Vec::new(),
            };
            self.relations_of(&[alone], &self.with_queries.queries)
        };
        let mut left = columns(&table.relation);
        for join in &table.joins {
            let right = columns(&join.relation);
            let merged: Vec<String> = match join_constraint(&join.join_operator) {
                Some(JoinConstraint::Using(names)) => names.iter().map(text).collect(),
                Some(JoinConstraint::Natural) => right.iter().flat_map(|table| table.columns.clone()).collect(),
                _ => Vec::new(),
            };
            let spelled = |tables: &[Relation], name: &str| {
                tables.iter().find_map(|table| {
                    let column = same_but_for_case(&table.columns, name)?;
                    Some((table.given.clone(), column.to_owned()))
                })
            };
            for name in merged {
                if let (Some((one, a)), Some((other, b))) = (spelled(&left, &name), spelled(&right, &name))
                    && a != b
                {
                    return Err(format!(
                        "columns {one}.{a} and {other}.{b} are spelled differently, and NATURAL and USING merge columns of one spelling; \
                         write JOIN … ON {one}.{a} = {other}.{b}"
                    ));
                }
            }
            left.extend(right);
        }
        Ok(())
    }
}
