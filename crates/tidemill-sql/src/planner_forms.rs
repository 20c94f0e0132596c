//! Forms of expressions that the planner does not take, as others that mean the same.
//!
//! `SUBSTRING(a, 1, 2)` has a node of its own, which the planner gives to the function of text whatever the value is; as a call it is
//! found by its name. A name behind a subscript, as in `map['key'].member`, is a subscript by a text.

use std::ops::ControlFlow;

use sqlparser::ast::{
    AccessExpr, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentList, FunctionArguments, Ident,
    ObjectName, Statement, Value, VisitMut as _, VisitorMut,
};

/// Gives expressions of a statement these forms.
pub(crate) fn put(statement: &mut Statement) {
    let _: ControlFlow<()> = statement.visit(&mut Forms);
}

struct Forms;

impl VisitorMut for Forms {
    type Break = ();

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        match expr {
            Expr::Substring {
                expr: text,
                substring_from: Some(from),
                substring_for,
                ..
            } => {
                let args = [Some(text), Some(from), substring_for.as_mut()];
                let args = args.into_iter().flatten().map(|arg| (**arg).clone());
                *expr = call("substr", args);
            }
            Expr::CompoundFieldAccess { access_chain, .. } => {
                // Names in front of the first subscript are those of a table, a column and its members.
                let is_name = |access: &&mut AccessExpr| matches!(access, AccessExpr::Dot(_));
                for access in access_chain.iter_mut().skip_while(is_name) {
                    if let AccessExpr::Dot(Expr::Identifier(name)) = access {
                        let name = Value::SingleQuotedString(name.value.clone()).with_span(name.span);
                        *access = AccessExpr::Dot(Expr::Value(name));
                    }
                }
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

fn call(name: &str, args: impl Iterator<Item = Expr>) -> Expr {
    let args = args.map(|arg| FunctionArg::Unnamed(FunctionArgExpr::Expr(arg)));
    Expr::Function(Function {
        name: ObjectName::from(vec![Ident::new(name)]),
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(FunctionArgumentList {
            duplicate_treatment: None,
            args: args.collect(),
            clauses: Vec::new(),
        }),
        filter: None,
        null_treatment: None,
        over: None,
        within_group: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect;

    #[test]
    fn forms_mean_the_same() {
        for (written, put_so) in [
            (
                "SELECT SUBSTRING(a FROM 2 FOR 3) FROM t",
                "SELECT substr(a, 2, 3) FROM t",
            ),
            ("SELECT SUBSTR(a, 2) FROM t", "SELECT substr(a, 2) FROM t"),
            ("SELECT a.b['c'].d FROM t", "SELECT a.b['c'].'d' FROM t"),
        ] {
            let mut statement = dialect::parse(written).expect(written);
            put(&mut statement);
            assert_eq!(statement.to_string(), put_so);
        }
    }
}
