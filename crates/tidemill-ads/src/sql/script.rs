//! Scripts: variables, branches, loops, cursors and exceptions around statements.
//!
//! Statements are bound when they are first met and kept for the next time. A step limit keeps a loop that never ends from running for
//! ever.

mod answered;

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use sqlparser::ast;

use super::answer::Answer;
use super::bind::{Parameters, Scope};
use super::change::rows_of;
use super::error::{Error, Kind, Result};
use super::evaluate::evaluate_alone;
use super::parser::Parsed;
use super::prepared::{Facts, Prepared};
use super::statement::{Condition, Declaration, Script, Statement, StatementKind};
use super::structure::variable_type;
use super::tables::{Tables, reading};
use super::user_functions::UserFunctions;
use super::value::{Type, Value};
use super::work::Work;

/// How many statements a script may run.
const MAX_STEPS: u64 = 100_000_000;
/// How deep EXECUTE IMMEDIATE may call itself.
const MAX_DEPTH: usize = 16;
/// How deep procedures and functions of a data dictionary may call one another.
const MAX_CALLS: usize = 32;
/// The system variable that a script has of its own.
const UPDATE_COUNT: &str = "::stmt.UpdateCount";

/// Who is given what each statement answers, and says whether the script goes on.
pub(super) type Take<'t> = &'t mut dyn FnMut(Answer) -> ControlFlow<()>;

/// A script that runs.
pub(super) struct Interpreter<'p, 't> {
    given: &'p [Value],
    names: &'p [String],
    variables: HashMap<String, (Value, Type, usize)>,
    cursors: HashMap<String, Cursor>,
    bound: HashMap<usize, (Work, Vec<String>)>,
    raised: Vec<Error>,
    steps: u64,
    answer: Answer,
    returned: Option<Value>,
    functions: Arc<UserFunctions>,
    changed: u64,
    /// Who is given what each statement answers; else the last rows are the answer.
    take: Option<Take<'t>>,
}

/// What a script finds around it.
#[derive(Debug, Default)]
pub(super) struct Given {
    /// Cursors that stand at a row.
    pub(super) rows: Vec<Row>,
    /// Variables: name in capitals, value and type.
    pub(super) variables: Vec<(String, Value, Type)>,
}

/// A cursor that stands at a row and is not moved.
#[derive(Debug)]
pub(super) struct Row {
    /// In capitals.
    pub(super) name: String,
    pub(super) columns: Vec<String>,
    pub(super) values: Vec<Value>,
}

/// Whether a text can be a script.
///
/// # Errors
/// [`Kind::Syntax`]; [`Kind::Unsupported`] for one with parameters.
pub(crate) fn check(text: &str) -> Result<()> {
    match Parsed::of(text)?.parameters.is_empty() {
        true => Ok(()),
        false => Err(Error::new(
            Kind::Unsupported,
            "A script that a data dictionary keeps has no parameters",
        )),
    }
}

/// Runs a script of a data dictionary.
///
/// # Errors
/// As [`check`]; the first fault that no CATCH took.
pub(super) fn run(text: &str, given: Given, tables: &mut dyn Tables) -> Result<(Answer, Option<Value>)> {
    let parsed = Parsed::of(text)?;
    let mut interpreter = Interpreter::new(&[], &parsed.parameters, None);
    for row in given.rows {
        let cursor = Cursor {
            columns: row.columns,
            row: row.values,
            is_given: true,
            ..Cursor::default()
        };
        interpreter.cursors.insert(row.name, cursor);
    }
    for (name, value, type_of) in given.variables {
        interpreter.variables.insert(name, (value, type_of, 0));
    }
    interpreter
        .run_all(&parsed.statements, tables, false)
        .map_err(|error| error.within(text))
}

/// A cursor: what it shows, and its rows while it is open.
#[derive(Debug, Default)]
struct Cursor {
    select: Option<Statement>,
    columns: Vec<String>,
    rows: Option<std::vec::IntoIter<Vec<Value>>>,
    row: Vec<Value>,
    /// Whether it stands at a row that the script was given.
    is_given: bool,
}

/// How a block ended.
enum Flow {
    Next,
    Leave,
    Continue,
    Return,
}

/// Runs a program of the data dictionary; those that call one another too deep are refused.
///
/// # Errors
/// [`Kind::Limit`]; as `work`.
pub(super) fn called<T>(name: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    thread_local! {
        static DEPTH: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
    }
    let depth = DEPTH.get();
    if depth >= MAX_CALLS {
        let why = format!("{name}: procedures and functions call one another more than {MAX_CALLS} deep");
        return Err(Error::new(Kind::Limit, why));
    }
    DEPTH.set(depth + 1);
    let done = work();
    DEPTH.set(depth);
    done
}

/// Runs a text from within a script.
pub(super) fn immediate(text: &str, tables: &mut dyn Tables, allows_live: bool) -> Result<Answer> {
    thread_local! {
        static DEPTH: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
    }
    let depth = DEPTH.get();
    if depth >= MAX_DEPTH {
        let why = format!("EXECUTE IMMEDIATE calls itself more than {MAX_DEPTH} deep");
        return Err(Error::new(Kind::Limit, why));
    }
    DEPTH.set(depth + 1);
    let answer = Prepared::new(text, tables).and_then(|prepared| match allows_live {
        true => prepared.run(tables, &[]),
        false => prepared.run_static(tables, &[]),
    });
    DEPTH.set(depth);
    answer
}

impl<'p, 't> Interpreter<'p, 't> {
    pub(super) fn new(given: &'p [Value], names: &'p [String], take: Option<Take<'t>>) -> Self {
        Self {
            given,
            names,
            variables: HashMap::new(),
            cursors: HashMap::new(),
            bound: HashMap::new(),
            raised: Vec::new(),
            steps: 0,
            answer: Answer::Done,
            returned: None,
            functions: Arc::default(),
            changed: 0,
            take,
        }
    }

    /// # Errors
    /// The first fault that no CATCH took.
    pub(super) fn run(self, statements: &[Statement], tables: &mut dyn Tables, allows_live: bool) -> Result<Answer> {
        self.run_all(statements, tables, allows_live).map(|(answer, _)| answer)
    }

    /// What it answers, and what it returned.
    fn run_all(
        mut self,
        statements: &[Statement],
        tables: &mut dyn Tables,
        allows_live: bool,
    ) -> Result<(Answer, Option<Value>)> {
        self.functions = tables.functions();
        self.block(statements, tables, allows_live)?;
        let answer = match self.answer {
            Answer::Done if self.changed > 0 => Answer::Changed(self.changed),
            answer => answer,
        };
        Ok((answer, self.returned))
    }

    fn block(&mut self, statements: &[Statement], tables: &mut dyn Tables, allows_live: bool) -> Result<Flow> {
        for statement in statements {
            tables.watch().check()?;
            self.steps += 1;
            if self.steps > MAX_STEPS {
                let why = format!("The script ran {MAX_STEPS} statements and did not end");
                return Err(Error::new(Kind::Limit, why));
            }
            let flow = self.statement(statement, tables, allows_live);
            match flow.map_err(|error| error.at(statement.location))? {
                Flow::Next => {}
                other => return Ok(other),
            }
        }
        Ok(Flow::Next)
    }

    fn statement(&mut self, statement: &Statement, tables: &mut dyn Tables, allows_live: bool) -> Result<Flow> {
        let StatementKind::Script(script) = &statement.kind else {
            let answer = self.work(statement, tables, allows_live)?;
            tables.affected(answer.affected());
            self.changed += answer.affected().unwrap_or(0);
            match (&mut self.take, answer) {
                (Some(take), answer) => {
                    if take(answer).is_break() {
                        return Err(Error::new(Kind::Stopped, "Nobody wants further answers"));
                    }
                }
                (None, Answer::Changed(_) | Answer::Done) => {}
                (None, rows) => self.answer = rows,
            }
            return Ok(Flow::Next);
        };
        match &**script {
            Script::Declare(declarations) => self.declare(declarations)?,
            Script::Assign { variable, value } => {
                let name = variable.value.to_ascii_uppercase();
                let Some((_, type_of, length)) = self.variables.get(&name).cloned() else {
                    let why = format!("Variable not found: {}", variable.value);
                    return Err(Error::new(Kind::NoColumn, why).at(variable.span.start));
                };
                let value = fitted(self.value(value, tables)?, type_of, length)?;
                self.variables.insert(name, (value, type_of, length));
            }
            Script::If { branches, otherwise } => {
                for (condition, body) in branches {
                    if self.holds(condition, tables)? {
                        return self.block(body, tables, allows_live);
                    }
                }
                return self.block(otherwise, tables, allows_live);
            }
            Script::While { condition, body } => {
                while self.holds(condition, tables)? {
                    self.steps += 1;
                    if self.steps > MAX_STEPS {
                        let why = format!("The script ran {MAX_STEPS} statements and did not end");
                        return Err(Error::new(Kind::Limit, why));
                    }
                    match self.block(body, tables, allows_live)? {
                        Flow::Next | Flow::Continue => {}
                        Flow::Leave => break,
                        Flow::Return => return Ok(Flow::Return),
                    }
                }
            }
            Script::Open { cursor, select } => self.open(&cursor.value, select.as_deref(), tables)?,
            Script::Close(cursor) => {
                let cursor = self.cursor(&cursor.value)?;
                (cursor.rows, cursor.row) = (None, Vec::new());
            }
            Script::Fetch(cursor) => {
                self.fetch(&cursor.value)?;
            }
            Script::Try { body, catches, finally } => return self.attempt(body, catches, finally, tables, allows_live),
            Script::Raise(None) => {
                let again = self.raised.pop();
                return Err(again.unwrap_or_else(|| Error::new(Kind::Unsupported, "There is nothing to raise again")));
            }
            Script::Raise(Some(raised)) => {
                let (class, code, text) = &**raised;
                let (code, text) = (self.value(code, tables)?, self.value(text, tables)?);
                let kind = Kind::Raised {
                    class: class.value.clone(),
                    code: code.to_i64().unwrap_or(0),
                };
                return Err(Error::new(kind, text.to_text().into_owned()));
            }
            Script::Return(value) => {
                if let Some(value) = value {
                    self.returned = Some(self.value(value, tables)?);
                }
                return Ok(Flow::Return);
            }
            Script::Leave => return Ok(Flow::Leave),
            Script::Continue => return Ok(Flow::Continue),
            Script::CachePrepare => {}
        }
        Ok(Flow::Next)
    }

    fn attempt(
        &mut self,
        body: &[Statement],
        catches: &[(Option<ast::Ident>, Vec<Statement>)],
        finally: &[Statement],
        tables: &mut dyn Tables,
        allows_live: bool,
    ) -> Result<Flow> {
        let mut flow = self.block(body, tables, allows_live);
        if let Err(error) = flow {
            // A step limit is no exception of the script, nor is being stopped.
            let class = match error.kind() {
                Kind::Limit | Kind::Stopped => return Err(error),
                Kind::Raised { class, .. } => class.clone(),
                _ => "ADS_SCRIPT_EXCEPTION".to_owned(),
            };
            let takes = |catch: &&(Option<ast::Ident>, Vec<Statement>)| {
                catch
                    .0
                    .as_ref()
                    .is_none_or(|wanted| wanted.value.eq_ignore_ascii_case(&class))
            };
            flow = match catches.iter().find(takes) {
                None => Err(error),
                Some((_, handler)) => {
                    let text = |value: &str| Value::Text(value.to_owned());
                    let facts = [
                        ("__ERRCLASS", text(&class), Type::Text(0)),
                        ("__ERRCODE", Value::Integer(error.native_code()), Type::Integer),
                        ("__ERRTEXT", text(error.message()), Type::Text(0)),
                    ];
                    for (name, value, type_of) in facts {
                        self.variables.insert(name.to_owned(), (value, type_of, 0));
                    }
                    // Statements that were bound before did not know these variables.
                    self.bound.clear();
                    self.raised.push(error);
                    let handled = self.block(handler, tables, allows_live);
                    if handled.is_ok() {
                        self.raised.pop();
                    }
                    handled
                }
            };
        }
        match self.block(finally, tables, allows_live)? {
            Flow::Next => flow,
            other => Ok(other),
        }
    }

    fn declare(&mut self, declarations: &[Declaration]) -> Result<()> {
        for declaration in declarations {
            match declaration {
                Declaration::Variable { name, type_of } => {
                    let length = match type_of.name.value.to_ascii_uppercase().as_str() {
                        "CHAR" | "CHARACTER" | "CICHAR" | "VARCHAR" => type_of.length.unwrap_or(0),
                        _ => 0,
                    };
                    let length = usize::try_from(length).unwrap_or(0).min(65_535);
                    let entry = (Value::Null, variable_type(type_of)?, length);
                    self.variables.insert(name.value.to_ascii_uppercase(), entry);
                }
                Declaration::Cursor { name, select } => {
                    let cursor = Cursor {
                        select: select.as_deref().cloned(),
                        ..Cursor::default()
                    };
                    self.cursors.insert(name.value.to_ascii_uppercase(), cursor);
                }
            }
        }
        self.bound.clear();
        Ok(())
    }

    fn cursor(&mut self, name: &str) -> Result<&mut Cursor> {
        let cursor = self.cursors.get_mut(&name.to_ascii_uppercase());
        if cursor.as_ref().is_some_and(|cursor| cursor.is_given) {
            let why = format!("{name} stands at a row already, and is not opened, fetched or closed");
            return Err(Error::new(Kind::Unsupported, why));
        }
        cursor.ok_or_else(|| Error::new(Kind::NoColumn, format!("Cursor not found: {name}")))
    }

    fn open(&mut self, name: &str, select: Option<&Statement>, tables: &mut dyn Tables) -> Result<()> {
        let cursor = self.cursor(name)?;
        if cursor.rows.is_some() {
            return Err(Error::new(
                Kind::Unsupported,
                format!("The cursor {name} is open already"),
            ));
        }
        if let Some(select) = select {
            cursor.select = Some(select.clone());
        }
        let Some(select) = cursor.select.clone() else {
            return Err(Error::new(
                Kind::Unsupported,
                format!("The cursor {name} has no statement"),
            ));
        };
        let (work, names) = self.bind(&select, tables)?;
        let Answer::Rows(rows) = self.run_work(&work, &names, tables, false)? else {
            return Err(Error::new(
                Kind::Unsupported,
                format!("The statement of the cursor {name} gives no rows"),
            ));
        };
        let values = rows_of(&rows)?;
        let cursor = self.cursor(name)?;
        cursor.columns = rows.columns.iter().map(|column| column.name.clone()).collect();
        cursor.row = vec![Value::Null; cursor.columns.len()];
        cursor.rows = Some(values.into_iter());
        // The columns of the cursor are names from now on.
        self.bound.clear();
        Ok(())
    }

    /// Whether there was another row.
    fn fetch(&mut self, name: &str) -> Result<bool> {
        let cursor = self.cursor(name)?;
        let Some(rows) = &mut cursor.rows else {
            return Err(Error::new(Kind::Unsupported, format!("The cursor {name} is not open")));
        };
        match rows.next() {
            Some(row) => {
                cursor.row = row;
                Ok(true)
            }
            None => Ok(false),
        }
    }

    fn holds(&mut self, condition: &Condition, tables: &mut dyn Tables) -> Result<bool> {
        match condition {
            Condition::Fetch(cursor) => self.fetch(&cursor.value),
            Condition::NotFetch(cursor) => Ok(!self.fetch(&cursor.value)?),
            Condition::Expression(expr) => match self.value(expr, tables)? {
                Value::Logical(value) => Ok(value),
                Value::Null => Ok(false),
                other => {
                    let why = format!("A condition is logical, and this is {}", other.type_of().noun());
                    Err(Error::new(Kind::Type, why))
                }
            },
        }
    }

    /// The value of an expression; a query in parentheses gives its only value.
    fn value(&mut self, expr: &ast::Expr, tables: &mut dyn Tables) -> Result<Value> {
        match expr {
            ast::Expr::Subquery(query) => {
                let rows = self.rows_of_query(query, tables)?.into_iter();
                let values = rows.map(|row| row.into_iter().next().unwrap_or_default());
                Ok(values.into_iter().next().unwrap_or_default())
            }
            _ => {
                let answered = self.with_answers(expr, tables)?;
                let mut parameters = self.parameters();
                let bound = Scope::new(&[], Vec::new(), &mut parameters).bind(answered.as_ref().unwrap_or(expr))?;
                let values = self.values(&parameters.names)?;
                let facts = Facts::of(tables);
                evaluate_alone(&bound, &facts.session(&values))
            }
        }
    }

    fn work(&mut self, statement: &Statement, tables: &mut dyn Tables, allows_live: bool) -> Result<Answer> {
        let place = std::ptr::from_ref(statement).addr();
        let (work, names) = match self.bound.remove(&place) {
            Some(known) => known,
            None => self.bind(statement, tables)?,
        };
        let answer = self.run_work(&work, &names, tables, allows_live);
        match work.changes_structure() {
            true => {
                self.bound.clear();
                self.functions = tables.functions();
            }
            false => {
                self.bound.insert(place, (work, names));
            }
        }
        answer
    }

    fn bind(&self, statement: &Statement, tables: &mut dyn Tables) -> Result<(Work, Vec<String>)> {
        let mut parameters = self.parameters();
        let work = Work::bind(statement, tables, &mut parameters)?;
        Ok((work, parameters.names))
    }

    fn run_work(&self, work: &Work, names: &[String], tables: &mut dyn Tables, allows_live: bool) -> Result<Answer> {
        let values = self.values(names)?;
        let facts = Facts::of(tables);
        reading(tables, |tables| work.run(tables, &facts.session(&values), allows_live))
    }

    /// The names that a statement may use.
    fn parameters(&self) -> Parameters {
        let mut variables: Vec<String> = self.variables.keys().cloned().collect();
        for (name, cursor) in &self.cursors {
            variables.extend(cursor.columns.iter().map(|column| format!("{name}.{column}")));
        }
        variables.push(UPDATE_COUNT.to_owned());
        Parameters {
            names: Vec::new(),
            variables,
            functions: Arc::clone(&self.functions),
        }
    }

    /// The values of what a statement used.
    fn values(&self, names: &[String]) -> Result<Vec<Value>> {
        let value = |name: &String| {
            let Some(variable) = name.strip_prefix("@@") else {
                let place = self.names.iter().position(|known| known == name);
                let value = place.and_then(|place| self.given.get(place)).cloned();
                return value.ok_or_else(|| Error::new(Kind::Parameter, format!("Parameter {name} has no value")));
            };
            if let Some((value, ..)) = self.variables.get(variable) {
                return Ok(value.clone());
            }
            if variable.eq_ignore_ascii_case(UPDATE_COUNT) {
                return Ok(Value::Integer(i64::try_from(self.changed).unwrap_or(i64::MAX)));
            }
            let of_cursor = variable.split_once('.').and_then(|(cursor, column)| {
                let cursor = self.cursors.get(cursor)?;
                let place = cursor
                    .columns
                    .iter()
                    .position(|known| known.eq_ignore_ascii_case(column))?;
                cursor.row.get(place).cloned()
            });
            Ok(of_cursor.unwrap_or_default())
        };
        names.iter().map(value).collect()
    }
}

/// A value as a variable keeps it: CHAR(n) is always n characters long.
pub(super) fn fitted(value: Value, type_of: Type, length: usize) -> Result<Value> {
    Ok(match value.cast(type_of)? {
        Value::Text(text) if length > 0 => {
            let cut: String = text.chars().take(length).collect();
            let missing = length.saturating_sub(cut.chars().count());
            Value::Text(cut + &" ".repeat(missing))
        }
        other => other,
    })
}
