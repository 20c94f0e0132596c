//! The parts of columns that expressions read: whole columns, or members of structs.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_schema::{DataType, Schema};
use datafusion::physical_expr::expressions::{Column, Literal};
use datafusion::physical_expr::{PhysicalExpr, ScalarFunctionExpr};

/// Columns of which only some members are read, by index, with the paths of names to the members.
pub(crate) type Members = BTreeMap<usize, Vec<Vec<String>>>;

/// The parts of each column that are read; `None` is the whole column.
#[derive(Default)]
pub(super) struct Reads(BTreeMap<usize, Option<Vec<Vec<String>>>>);

impl Reads {
    /// Adds a whole column.
    pub(super) fn add_column(&mut self, column: usize) {
        self.0.insert(column, None);
    }

    /// Adds what `expr` reads of the columns of `schema`; `number` converts their indices.
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

    /// The columns that are not read as a whole.
    pub(super) fn members(self) -> Members {
        let some = self.0.into_iter();
        some.filter_map(|(column, paths)| Some((column, paths?))).collect()
    }
}

/// The column and the path of names, if the expression is a member of a struct.
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
    // The value of a map's key is not a member.
    let mut within = schema.fields().get(column)?.data_type();
    for name in &path {
        let DataType::Struct(fields) = within else { return None };
        within = fields.find(name)?.1.data_type();
    }
    Some((column, path))
}
