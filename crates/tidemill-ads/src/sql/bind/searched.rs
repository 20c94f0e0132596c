//! CONTAINS(), SCORE() and SCOREDISTINCT() of `*`: of all texts of a record that have a full-text index.

use std::ops::ControlFlow;

use sqlparser::ast::{self, FunctionArg, FunctionArgExpr, FunctionArguments};
use tidemill_xbase::aof::FilterOrders;

use super::Scope;
use crate::ErrorCode;
use crate::sql::error::Result;
use crate::sql::expression::Expr;
use crate::sql::functions;
use crate::sql::statement::TableName;
use crate::sql::tables::Tables;
use crate::sql::value::Value;
use crate::sql::walk::{self, Tree};

impl Scope<'_> {
    /// A search whose words may be in any of the texts; one that is NULL has none ("Full Text Search Null Handling" in ADS's help).
    ///
    /// # Errors
    /// [`ErrorCode::NoFullTextIndex`] where there are no such texts, and as [`Scope::bind`].
    pub(super) fn search_over_all(&mut self, name: &str, condition: &ast::Expr) -> Result<Expr> {
        let condition = self.bind(condition)?;
        let (function, texts) = match (self.searched.as_slice(), functions::find_over_all(name)) {
            // An index answers what one text is asked for.
            ([only], _) => (functions::find(name), vec![Expr::Column(*only)]),
            (several, function) => {
                let texts = several
                    .iter()
                    .map(|column| Expr::Coalesce(vec![Expr::Column(*column), Expr::Value(Value::Text("".into()))]));
                (function, texts.collect())
            }
        };
        let (Some(function), false) = (function, texts.is_empty()) else {
            let why = format!("{name}( *, … ) searches the fields that have a full text index, and the table has none");
            return Err(crate::Error::new(ErrorCode::NoFullTextIndex, why).into());
        };
        let arguments: Vec<Expr> = texts.into_iter().chain([condition]).collect();
        let types: Vec<_> = arguments.iter().map(|argument| self.type_of(argument)).collect();
        function.check(&types)?;
        Ok(Expr::Call(function, arguments))
    }
}

/// The condition of a search over `*`.
pub(super) fn condition_over_all<'f>(name: &str, arguments: &'f [FunctionArg]) -> Option<&'f ast::Expr> {
    functions::find_over_all(name)?;
    match arguments {
        [
            FunctionArg::Unnamed(FunctionArgExpr::Wildcard | FunctionArgExpr::QualifiedWildcard(_)),
            FunctionArg::Unnamed(FunctionArgExpr::Expr(condition)),
        ] => Some(condition),
        _ => None,
    }
}

/// The columns of a table that `*` stands for in a search of a statement; none where it has no such search.
///
/// # Errors
/// As [`Tables::snapshot`], and when the indexes cannot be read.
pub(in crate::sql) fn searched_columns(
    tree: &impl Tree,
    table: &TableName,
    tables: &mut dyn Tables,
) -> Result<Vec<usize>> {
    let searches = walk::expressions(tree, &mut |expr| match expr {
        ast::Expr::Function(function) => match (function.name.0.as_slice(), &function.args) {
            ([part], FunctionArguments::List(list))
                if part
                    .as_ident()
                    .is_some_and(|ident| condition_over_all(&ident.value, &list.args).is_some()) =>
            {
                ControlFlow::Break(())
            }
            _ => ControlFlow::Continue(()),
        },
        _ => ControlFlow::Continue(()),
    });
    if searches.is_continue() {
        return Ok(Vec::new());
    }
    let snapshot = tables.snapshot(table)?;
    let orders = snapshot.word_orders()?;
    let fields = 0..snapshot.table().fields().len();
    let is_searched = |field: &usize| orders.iter().any(|order| FilterOrders::answers_words(order, *field));
    Ok(fields.filter(is_searched).collect())
}
