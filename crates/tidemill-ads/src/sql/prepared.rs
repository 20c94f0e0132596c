//! Statements that are parsed and bound once and run often.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::answer::{Answer, Rows};
use super::bind::Parameters;
use super::error::{Error, Kind, Result};
use super::evaluate::{ConnectionFacts, Session};
use super::parser::Parsed;
use super::script::{Interpreter, Take};
use super::select::{Plan, Query};
use super::statement::StatementKind;
use super::tables::{Tables, reading};
use super::tokens::Tokens;
use super::value::Value;
use super::watch::Watch;
use super::work::Work;

/// A text, parsed, and bound if it is one statement; a script binds each statement when it gets there. It is `Send` and `Sync`.
#[derive(Debug)]
pub struct Prepared {
    text: Arc<str>,
    content: Content,
    /// As `tokens` names them.
    names: Vec<String>,
    parameters: Vec<Option<String>>,
}

#[derive(Debug)]
enum Content {
    One(Work),
    Script(Arc<Parsed>),
}

impl Prepared {
    /// Parses a text and binds its names.
    ///
    /// # Errors
    /// [`Kind::Syntax`] and what binding finds, with the place of the fault.
    pub fn new(text: &str, tables: &mut dyn Tables) -> Result<Self> {
        let parsed = Parsed::of(text)?;
        let names = parsed.parameters.clone();
        let mut parameters = Parameters {
            names: names.clone(),
            functions: tables.functions(),
            ..Parameters::default()
        };
        let content = match parsed.statements.as_slice() {
            [] => return Err(Error::new(Kind::Syntax, "There is no statement")),
            [only] if !matches!(only.kind, StatementKind::Script(_)) => {
                let work = Work::bind(only, tables, &mut parameters);
                Content::One(work.map_err(|error| error.at(only.location).within(text))?)
            }
            _ => Content::Script(parsed),
        };
        Ok(Self {
            text: text.into(),
            content,
            parameters: names
                .iter()
                .map(|name| (!name.starts_with('?')).then(|| name.clone()))
                .collect(),
            names,
        })
    }

    /// One SELECT that was not written as a text.
    pub(super) fn of_plan(plan: Plan) -> Self {
        Self {
            text: "".into(),
            content: Content::One(Work::Select(Query::One(Box::new(plan)))),
            names: Vec::new(),
            parameters: Vec::new(),
        }
    }

    /// The parameters in the order in which values are given: `None` for `?`, the name in capitals for `:name`.
    pub fn parameters(&self) -> &[Option<String>] {
        &self.parameters
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Runs it. Of a script the last SELECT is the answer.
    ///
    /// # Errors
    /// [`Kind::Parameter`] for too few values or too many, and what the tables say.
    pub fn run(&self, tables: &mut dyn Tables, parameters: &[Value]) -> Result<Answer> {
        self.run_as(tables, parameters, true)
    }

    /// Runs it, and gives rows where [`Prepared::run`] would give a live cursor.
    ///
    /// # Errors
    /// As [`Prepared::run`].
    pub fn run_static(&self, tables: &mut dyn Tables, parameters: &[Value]) -> Result<Answer> {
        self.run_as(tables, parameters, false)
    }

    /// The rows of a statement that asks for the records of one table whose field has a value, where an order finds them; `None` for
    /// other statements, and where more has to be read.
    ///
    /// # Errors
    /// As [`Prepared::run`].
    pub fn look_up(&self, tables: &mut dyn Tables, parameters: &[Value]) -> Result<Option<Rows>> {
        self.check(parameters)?;
        let Some(plan) = self.plan() else { return Ok(None) };
        let rows = reading(tables, |tables| plan.look_up(tables, parameters));
        let rows = rows.map_err(|error| error.within(&self.text))?;
        if rows.is_some() {
            tables.affected(None);
        }
        Ok(rows)
    }

    /// The plan, where it is one SELECT.
    pub(super) fn plan(&self) -> Option<&Plan> {
        match &self.content {
            Content::One(Work::Select(Query::One(plan))) => Some(plan),
            _ => None,
        }
    }

    /// # Errors
    /// [`Kind::Parameter`] for too few values, and for too many.
    pub(super) fn check(&self, parameters: &[Value]) -> Result<()> {
        let (given, wanted) = (parameters.len(), self.names.len());
        if given == wanted {
            return Ok(());
        }
        let why = format!("The statement has {wanted} parameters, and {given} values were given");
        Err(Error::new(Kind::Parameter, why))
    }

    fn run_as(&self, tables: &mut dyn Tables, parameters: &[Value], allows_live: bool) -> Result<Answer> {
        self.check(parameters)?;
        let answer = self.run_content(tables, parameters, allows_live, None);
        let answer = answer.map_err(|error| error.within(&self.text))?;
        tables.affected(answer.affected());
        Ok(answer)
    }

    /// Runs a script, and gives what each of its statements answers to `take`, in order; returns whether it is one. When `take` wants no more it
    /// is [`Kind::Stopped`].
    ///
    /// # Errors
    /// As [`Prepared::run`].
    pub(super) fn run_script(&self, tables: &mut dyn Tables, parameters: &[Value], take: Take<'_>) -> Result<bool> {
        let Content::Script(_) = &self.content else {
            return Ok(false);
        };
        self.check(parameters)?;
        let run = self.run_content(tables, parameters, false, Some(take));
        run.map_err(|error| error.within(&self.text))?;
        Ok(true)
    }

    fn run_content(
        &self,
        tables: &mut dyn Tables,
        parameters: &[Value],
        allows_live: bool,
        take: Option<Take<'_>>,
    ) -> Result<Answer> {
        match &self.content {
            Content::One(Work::Select(query)) => {
                if !allows_live && let Some(rows) = query.look_up(tables, parameters)? {
                    return Ok(Answer::Rows(rows));
                }
                let facts = Facts::of(tables);
                // A live cursor reads its table itself, later: no commit has to wait until it is known.
                if allows_live && let Some(live) = query.live_unread(tables, &facts.session(parameters))? {
                    return Ok(Answer::Live(Box::new(live)));
                }
                reading(tables, |tables| {
                    query.run(tables, &facts.session(parameters), allows_live)
                })
            }
            Content::One(work) => {
                let _changing = tables.changing();
                let facts = Facts::of(tables);
                reading(tables, |tables| {
                    work.run(tables, &facts.session(parameters), allows_live)
                })
            }
            Content::Script(parsed) => {
                let _changing = tables.changing();
                Interpreter::new(parameters, &self.names, take).run(&parsed.statements, tables, allows_live)
            }
        }
    }
}

/// The parameters of a text, in the order in which values are given: as [`Prepared::parameters`] names them.
///
/// # Errors
/// [`Kind::Syntax`] for a text that cannot be taken apart.
pub fn parameters(text: &str) -> Result<Vec<Option<String>>> {
    let names = Tokens::of(text)?.parameters.into_iter();
    Ok(names.map(|name| (!name.starts_with('?')).then_some(name)).collect())
}

/// What a connection says of itself, copied so that the tables can be changed meanwhile.
#[derive(Debug, Clone)]
pub(super) struct Facts {
    environment: tidemill_xbase::expression::Environment,
    clock: super::tables::Clock,
    user: String,
    database: String,
    application: String,
    last_autoincrement: Option<i64>,
    connection: ConnectionFacts,
    watch: Watch,
}

impl Facts {
    /// Of no connection.
    pub(super) fn alone(environment: tidemill_xbase::expression::Environment, clock: super::tables::Clock) -> Self {
        Self {
            environment,
            clock,
            user: String::new(),
            database: String::new(),
            application: String::new(),
            last_autoincrement: None,
            connection: ConnectionFacts::default(),
            watch: Watch::default(),
        }
    }

    pub(super) fn of(tables: &dyn Tables) -> Self {
        tables.ready_functions();
        Self {
            environment: tables.environment().clone(),
            clock: tables.clock(),
            user: tables.user().to_owned(),
            database: tables.database().to_owned(),
            application: tables.application().to_owned(),
            last_autoincrement: tables.last_autoincrement(),
            connection: tables.connection(),
            watch: tables.watch(),
        }
    }

    /// For threads other than the one that runs the statement, which nobody may ask.
    pub(super) fn unwatched(&self) -> Self {
        Self {
            watch: Watch::default(),
            ..self.clone()
        }
    }

    /// Whether somebody has stopped the statement.
    pub(super) fn is_stopped(&self) -> bool {
        self.watch.check().is_err()
    }

    pub(super) fn session<'s>(&'s self, parameters: &'s [Value]) -> Session<'s> {
        Session {
            parameters,
            environment: &self.environment,
            now: self.clock.local,
            utc_offset: self.clock.utc_offset,
            user: &self.user,
            database: &self.database,
            application: &self.application,
            last_autoincrement: self.last_autoincrement,
            connection: self.connection,
            watch: &self.watch,
        }
    }
}

/// Prepared statements by their text, for a connection that is given the same texts again and again. It is `Send` and `Sync`.
///
/// A statement that was bound to another structure of a table is bound anew.
#[derive(Debug)]
pub struct Statements {
    known: Mutex<HashMap<Arc<str>, Arc<Prepared>>>,
    limit: usize,
}

impl Statements {
    /// A cache of at most so many statements.
    pub fn new(limit: usize) -> Self {
        Self {
            known: Mutex::default(),
            limit,
        }
    }

    /// The statement of a text.
    ///
    /// # Errors
    /// As [`Prepared::new`].
    pub fn prepare(&self, text: &str, tables: &mut dyn Tables) -> Result<Arc<Prepared>> {
        if let Some(known) = self.lock().get(text) {
            return Ok(Arc::clone(known));
        }
        let prepared = Arc::new(Prepared::new(text, tables)?);
        let mut known = self.lock();
        if known.len() >= self.limit {
            known.clear();
        }
        if self.limit > 0 {
            known.insert(Arc::clone(&prepared.text), Arc::clone(&prepared));
        }
        Ok(prepared)
    }

    /// Runs a text.
    ///
    /// # Errors
    /// As [`Prepared::new`] and [`Prepared::run`].
    pub fn run(&self, text: &str, tables: &mut dyn Tables, parameters: &[Value]) -> Result<Answer> {
        let mut prepared = self.prepare(text, tables)?;
        let mut answer = prepared.run(tables, parameters);
        if let Err(error) = &answer
            && *error.kind() == Kind::StructureChanged
        {
            self.lock().remove(text);
            prepared = self.prepare(text, tables)?;
            answer = prepared.run(tables, parameters);
        }
        let changes_structure = match &prepared.content {
            Content::One(work) => work.changes_structure(),
            Content::Script(_) => true,
        };
        if changes_structure {
            self.clear();
        }
        answer
    }

    /// Forgets all statements.
    pub fn clear(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<Arc<str>, Arc<Prepared>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for Statements {
    /// 200 statements.
    fn default() -> Self {
        Self::new(200)
    }
}
