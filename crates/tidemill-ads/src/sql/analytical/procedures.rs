//! Procedures among the tables of a query, `FROM (EXECUTE PROCEDURE …) a LEFT JOIN (EXECUTE PROCEDURE …) b`: they run before the engine is
//! asked, and to it their rows are tables.

use std::ops::ControlFlow;

use sqlparser::ast::{self, Query as SqlQuery};

use super::{Answer, Error, Kind, Parameters, Result, Rows, Scope, Session, TableName, Tables, evaluate_alone};
use crate::sql::procedure;
use crate::sql::select::table_name;
use crate::sql::walk;

/// Runs the procedures of a query in which values stand for parameters, and writes names of tables in their places. Returns these names,
/// which no other `relations` have, and the rows.
///
/// # Errors
/// What the procedures say.
pub(super) fn run(
    query: &mut SqlQuery,
    relations: &[TableName],
    tables: &mut dyn Tables,
    session: &Session<'_>,
) -> Result<Vec<(String, Rows)>> {
    let mut runner = Runner {
        relations,
        tables,
        session,
        done: Vec::new(),
    };
    walk::change(query, &mut runner)?;
    Ok(runner.done)
}

struct Runner<'r, 's> {
    relations: &'r [TableName],
    tables: &'r mut dyn Tables,
    session: &'r Session<'s>,
    done: Vec<(String, Rows)>,
}

impl Runner<'_, '_> {
    fn rows(&mut self, name: &TableName, arguments: &ast::TableFunctionArgs) -> Result<Rows> {
        let mut parameters = Parameters {
            functions: self.tables.functions(),
            ..Parameters::default()
        };
        let arguments = arguments.args.iter().map(|argument| match argument {
            ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(expr)) => {
                let bound = Scope::new(&[], Vec::new(), &mut parameters).bind(expr)?;
                evaluate_alone(&bound, self.session)
            }
            _ => Err(Error::new(Kind::NoFunction, format!("Invalid argument of {name}"))),
        });
        let arguments = arguments.collect::<Result<Vec<_>>>()?;
        match procedure::run(name.last(), &arguments, self.tables)? {
            Answer::Rows(rows) => Ok(rows),
            _ => Err(Error::new(Kind::Unsupported, format!("{name} gave no rows"))),
        }
    }

    /// The name of a procedure, followed by a number if the name is taken.
    fn free_name(&self, procedure: &str) -> String {
        let is_taken = |name: &str| {
            let mut taken = self.done.iter().map(|(known, _)| known.as_str());
            let mut relations = self.relations.iter();
            taken.any(|known| known.eq_ignore_ascii_case(name))
                || relations.any(|known| known.to_string().eq_ignore_ascii_case(name))
        };
        let (mut name, mut number) = (procedure.to_owned(), 1);
        while is_taken(&name) {
            number += 1;
            name = format!("{procedure} {number}");
        }
        name
    }
}

impl ast::VisitorMut for Runner<'_, '_> {
    type Break = Error;

    fn post_visit_table_factor(&mut self, factor: &mut ast::TableFactor) -> ControlFlow<Error> {
        let ast::TableFactor::Table { name, args, .. } = factor else {
            return ControlFlow::Continue(());
        };
        let Some(arguments) = args.take() else {
            return ControlFlow::Continue(());
        };
        let called = table_name(name);
        let rows = match self.rows(&called, &arguments) {
            Ok(rows) => rows,
            Err(error) => return ControlFlow::Break(error.at(called.location.0)),
        };
        let own = self.free_name(called.last());
        *name = ast::ObjectName::from(vec![ast::Ident::with_quote('"', own.as_str())]);
        self.done.push((own, rows));
        ControlFlow::Continue(())
    }
}
