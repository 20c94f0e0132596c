//! Converts errors of statements to the form that programs for ADS parse, whichever component reports them.

use std::ops::ControlFlow;

use datafusion::common::{Column, DataFusionError, SchemaError};
use sqlparser::ast::{Expr, Ident, Query, Spanned as _, Statement, Value, Visitor, VisitorMut};
use sqlparser::tokenizer::Location;
use tidemill_ads::sql::{Error as SqlError, Kind, walk};
use tidemill_trust::without_secrets;

use crate::Error;
use crate::error::plain;

/// The error of a name that is not a table, with the tables that exist.
pub(crate) fn absent(error: Error, place: Location, sql: &str) -> Error {
    match error {
        Error::NotFound { name, hint } => {
            let why = format!(
                "Either ACE could not find the specified file, or you do not have sufficient rights to access the file.  \
                 Table name: {name}; {hint}"
            );
            SqlError::new(Kind::NoTable, why).at(place).within(sql).into()
        }
        other => other,
    }
}

/// The error of a statement that was found before it runs, with the faulty expression if it is known.
pub(crate) fn of_planning(error: Error, statement: &Statement, faulty: Option<&Expr>, sql: &str) -> Error {
    let Some((kind, message, named)) = told(&error, faulty, statement) else {
        return error;
    };
    let columns = columns_of(&error);
    let place = named.or_else(|| Some(faulty?.span().start).filter(|place| place.line > 0));
    let place = place.or_else(|| place_of(&error));
    let fault = SqlError::new(kind, without_secrets(&message)).among(columns);
    fault.at(place.unwrap_or_else(|| begin(sql))).within(sql).into()
}

/// The columns that the planner, or a lane, had to choose from.
fn columns_of(error: &Error) -> Vec<String> {
    match error {
        Error::Engine(engine) => match engine.find_root() {
            DataFusionError::SchemaError(found, _) => match &**found {
                SchemaError::FieldNotFound { valid_fields, .. } => {
                    valid_fields.iter().map(|column| column.name.clone()).collect()
                }
                _ => Vec::new(),
            },
            _ => Vec::new(),
        },
        Error::Ads(fault) => match &**fault {
            tidemill_ads::Error::Statement(fault) => fault.columns().to_vec(),
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

/// The position that an error contains.
fn place_of(error: &Error) -> Option<Location> {
    let Error::Ads(fault) = error else { return None };
    let tidemill_ads::Error::Statement(fault) = &**fault else {
        return None;
    };
    let (line, column) = fault.line_and_column()?;
    Some(Location::new(line, column))
}

/// The kind, the message and, if known, the position of an error of planning. `None` for others.
fn told(error: &Error, faulty: Option<&Expr>, statement: &Statement) -> Option<(Kind, String, Option<Location>)> {
    let engine = match error {
        Error::Engine(engine) => engine,
        // Errors of expressions that were rewritten before the lanes of ADS SQL bound them.
        Error::Ads(fault) => match &**fault {
            tidemill_ads::Error::Statement(fault) if *fault.kind() != Kind::Engine => {
                return Some((fault.kind().clone(), fault.message().to_owned(), None));
            }
            _ => return None,
        },
        _ => return None,
    };
    Some(match engine.find_root() {
        DataFusionError::SchemaError(found, _) => match &**found {
            SchemaError::FieldNotFound { field, valid_fields } => match faulty {
                Some(Expr::CompoundIdentifier(parts)) if !is_qualifier(parts, valid_fields) => {
                    let name: Vec<&str> = parts.iter().map(|part| part.value.as_str()).collect();
                    (Kind::NoColumn, format!("Column not found: {}", name.join(".")), None)
                }
                _ => of_column(Kind::NoColumn, "Column not found", field.name(), faulty, statement),
            },
            SchemaError::AmbiguousReference { field } => {
                of_column(Kind::Ambiguous, "Ambiguous reference", field.name(), faulty, statement)
            }
            other => (Kind::Ambiguous, other.to_string(), None),
        },
        DataFusionError::SQL(parser, _) => (Kind::Syntax, parser.to_string(), None),
        DataFusionError::NotImplemented(what) => (Kind::Unsupported, of_unsupported(what), None),
        DataFusionError::Plan(what) => of_plan(what, faulty, statement),
        _ => return None,
    })
}

/// The position of a statement's first word.
fn begin(sql: &str) -> Location {
    let before = &sql[..sql.len() - sql.trim_start().len()];
    let lines = before.matches('\n').count();
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count();
    Location::new(lines as u64 + 1, column as u64 + 1)
}

/// An error about a column, in the statement's spelling.
fn of_column(
    kind: Kind,
    what: &str,
    column: &str,
    faulty: Option<&Expr>,
    statement: &Statement,
) -> (Kind, String, Option<Location>) {
    match faulty
        .and_then(named)
        .cloned()
        .or_else(|| mention_of(column, statement))
    {
        Some(Ident { value, span, .. }) => (kind, format!("{what}: {value}"), Some(span.start)),
        None => (kind, format!("{what}: {column}"), None),
    }
}

/// Whether the qualifier of a column is one of the tables that have these columns.
fn is_qualifier(parts: &[Ident], columns: &[Column]) -> bool {
    let Some((_, [.., qualifier])) = parts.split_last() else {
        return true;
    };
    let mut tables = columns.iter().filter_map(|column| column.relation.as_ref());
    tables.any(|table| table.table().eq_ignore_ascii_case(&qualifier.value))
}

/// The column, if the expression is one.
fn named(expr: &Expr) -> Option<&Ident> {
    match expr {
        Expr::Identifier(ident) => Some(ident),
        Expr::CompoundIdentifier(parts) => parts.last(),
        _ => None,
    }
}

/// The planner cannot evaluate a subquery that it could not turn into a join with its outer row.
fn of_unsupported(what: &str) -> String {
    let is_subquery = |kind: &str| what.contains(kind);
    if what.starts_with("Physical plan does not support")
        && ["ScalarSubquery(", "Exists(", "InSubquery(", "OuterReferenceColumn("]
            .into_iter()
            .any(is_subquery)
    {
        return "A subquery that depends on its outer row by other than =, or has a LIMIT, is not supported here: write it as a join".to_owned();
    }
    // The planner's message contains its own data structure.
    match what.strip_prefix("Unsupported ast node in sqltorel: ") {
        Some(node) => {
            let name = node.split([' ', '(', '{']).next().unwrap_or(node);
            format!("{} is not supported here", name.to_uppercase())
        }
        None => what.to_owned(),
    }
}

/// The planner's errors differ only in their text.
fn of_plan(what: &str, faulty: Option<&Expr>, statement: &Statement) -> (Kind, String, Option<Location>) {
    let quoted = |quote: char| what.split(quote).nth(1).unwrap_or_default();
    if what.contains("must appear in the GROUP BY clause") {
        let column = quoted('"').rsplit('.').next().unwrap_or_default();
        let why = format!("Column {column} is not grouped by");
        let ident = faulty.and_then(named).cloned();
        let ident = ident.or_else(|| mention_of(column, statement));
        (Kind::Grouping, why, ident.map(|ident| ident.span.start))
    } else if what.starts_with("Aggregate functions are not allowed") {
        (Kind::Grouping, "An aggregate cannot stand here".to_owned(), None)
    } else if what.starts_with("Invalid function") {
        let (name, place) = function_of(quoted('\''), statement);
        (Kind::NoFunction, format!("Scalar function not found: {name}"), place)
    } else {
        (Kind::Type, plain(what), None)
    }
}

/// A function in the statement's spelling, and its position.
fn function_of(name: &str, statement: &Statement) -> (String, Option<Location>) {
    let found = walk::expressions(statement, &mut |expr| match expr {
        Expr::Function(function) if function.name.to_string().eq_ignore_ascii_case(name) => {
            ControlFlow::Break((function.name.to_string(), Some(function.name.span().start)))
        }
        _ => ControlFlow::Continue(()),
    });
    match found {
        ControlFlow::Break(found) => found,
        ControlFlow::Continue(()) => (name.to_owned(), None),
    }
}

/// The first mention of a column in a statement.
fn mention_of(column: &str, statement: &Statement) -> Option<Ident> {
    let found = walk::expressions(statement, &mut |expr| match named(expr) {
        Some(ident) if ident.value.eq_ignore_ascii_case(column) => ControlFlow::Break(ident.clone()),
        _ => ControlFlow::Continue(()),
    });
    match found {
        ControlFlow::Break(ident) => Some(ident),
        ControlFlow::Continue(()) => None,
    }
}

/// The most expressions that are tried, each of which is planned.
const MAX_PARTS: usize = 100;

/// Finds the innermost expression of a statement that causes an error, for errors without a position.
///
/// An expression causes the error if the error disappears when the expression is replaced. A part of it causes the error if the same error
/// remains when the part replaces the whole. Each such statement has to be planned.
pub(crate) struct Search<'s> {
    statement: &'s Statement,
    fault: String,
    parts: Vec<Part>,
    /// The index of the current part.
    at: usize,
    /// Whether the part is faulty if the next statement has the same error; otherwise, if it has not.
    shows: bool,
    found: Option<usize>,
}

impl<'s> Search<'s> {
    pub(crate) fn new(statement: &'s Statement, fault: &Error) -> Self {
        let mut parts = Parts::default();
        let _ = walk::look_at(statement, &mut parts);
        if parts.all.len() > MAX_PARTS {
            parts.all.clear();
        }
        Self {
            statement,
            fault: Self::words(fault, statement),
            parts: parts.all,
            at: 0,
            shows: false,
            found: None,
        }
    }

    /// The text by which errors are compared.
    fn words(fault: &Error, statement: &Statement) -> String {
        match told(fault, None, statement) {
            Some((kind, message, _)) => format!("{kind:?} {message}"),
            None => fault.to_string(),
        }
    }

    /// The next statement to plan.
    pub(crate) fn next(&mut self) -> Option<Statement> {
        while self.parts.get(self.at)?.within != self.found {
            self.at += 1;
        }
        let part = self.parts.get(self.at)?;
        let around = self.found.and_then(|around| Some((around, self.parts.get(around)?)));
        let (place, instead) = match around {
            Some((around, whole)) if whole.query == part.query => (around, part.expr.clone()),
            _ => (self.at, Expr::value(Value::Null)),
        };
        self.shows = place != self.at;
        Some(replaced(self.statement, place, instead))
    }

    /// Takes the result of planning that statement.
    pub(crate) fn hear(&mut self, told: Option<&Error>) {
        let is_same = told.is_some_and(|told| Self::words(told, self.statement) == self.fault);
        if is_same == self.shows {
            self.found = Some(self.at);
        }
        self.at += 1;
    }

    pub(crate) fn found(self) -> Option<Expr> {
        let part = self.parts.into_iter().nth(self.found?)?;
        Some(part.expr)
    }
}

/// The expressions of a statement, in preorder.
#[derive(Default)]
struct Parts {
    all: Vec<Part>,
    /// The enclosing expressions.
    around: Vec<usize>,
    queries: usize,
    within: Vec<usize>,
}

struct Part {
    expr: Expr,
    /// The enclosing expression.
    within: Option<usize>,
    /// The enclosing query.
    query: Option<usize>,
}

impl Visitor for Parts {
    type Break = ();

    fn pre_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        self.queries += 1;
        self.within.push(self.queries);
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        self.within.pop();
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        if self.all.len() > MAX_PARTS {
            return ControlFlow::Break(());
        }
        self.all.push(Part {
            expr: expr.clone(),
            within: self.around.last().copied(),
            query: self.within.last().copied(),
        });
        self.around.push(self.all.len() - 1);
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, _: &Expr) -> ControlFlow<()> {
        self.around.pop();
        ControlFlow::Continue(())
    }
}

/// The statement with one expression replaced.
fn replaced(statement: &Statement, place: usize, instead: Expr) -> Statement {
    let mut statement = statement.clone();
    let mut replacing = Replacing {
        before: place,
        instead: Some(instead),
    };
    let _ = walk::change(&mut statement, &mut replacing);
    statement
}

struct Replacing {
    /// The number of expressions before it.
    before: usize,
    instead: Option<Expr>,
}

impl VisitorMut for Replacing {
    type Break = ();

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        if self.before > 0 {
            self.before -= 1;
            return ControlFlow::Continue(());
        }
        if let Some(instead) = self.instead.take() {
            *expr = instead;
        }
        ControlFlow::Break(())
    }
}
