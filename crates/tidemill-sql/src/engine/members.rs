//! What expressions read of columns: all of one, or some members of the structs in it.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_schema::{DataType, Schema};
use datafusion::physical_expr::expressions::{Column, Literal};
use datafusion::physical_expr::{PhysicalExpr, ScalarFunctionExpr};

/// Columns of which some members alone are read, by their number, with the paths of names that lead to these.
pub(crate) type Members = BTreeMap<usize, Vec<Vec<String>>>;

/// What is read of each column; `None` is all of it.
#[derive(Default)]
pub(super) struct Reads(BTreeMap<usize, Option<Vec<Vec<String>>>>);

impl Reads {
    /// Adds a column as a whole.
    pub(super) fn add_column(&mut self, column: usize) {
        self.0.insert(column, None);
    }

    /// Adds what `expr` reads of the columns of `schema`, which have the numbers `number` gives them.
    pub(super) fn add(&mut self, expr: &Arc<dyn PhysicalExpr>, schema: &Schema, number: &impl Fn(usize) -> usize) {
        if let Some((column, path)) = member(expr, schema) {
            let read = self.0.entry(number(column)).or_insert_with(|| Some(Vec::new()));
            if let Some(paths) = read.as_mut().filter(|paths| !paths.contains(&path)) {
                paths.push(path);
            }
        } else if let Some(column) = expr.downcast_ref::<Column>() {
            self.add_column(number(column.index()));
        } else {
            expr.children()
                .into_iter()
                .for_each(|child| self.add(child, schema, number));
        }
    }

    /// The columns of which not all is read.
    pub(super) fn members(self) -> Members {
        let some = self.0.into_iter();
        some.filter_map(|(column, paths)| Some((column, paths?))).collect()
    }
}

/// The column whose structs the expression takes one member of, and the names that lead there.
fn member(expr: &Arc<dyn PhysicalExpr>, schema: &Schema) -> Option<(usize, Vec<String>)> {
    let call = expr.downcast_ref::<ScalarFunctionExpr>()?;
    let (of, names) = call.args().split_first()?;
    if call.fun().name() != "get_field" || names.is_empty() {
        return None;
    }
    let (column, mut path) = match of.downcast_ref::<Column>() {
        Some(column) => (column.index(), Vec::new()),
        None => member(of, schema)?,
    };
    for name in names {
        let name = name.downcast_ref::<Literal>()?.value().try_as_str()??;
        path.push(name.to_owned());
    }
    // What is taken of a map is no member.
    let mut within = schema.fields().get(column)?.data_type();
    for name in &path {
        let DataType::Struct(fields) = within else { return None };
        within = fields.find(name)?.1.data_type();
    }
    Some((column, path))
}
