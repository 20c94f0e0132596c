//! The object that a script's functions get as `ctx` or `db`.
//!
//! Every worker has one, on its own session. It retries, validates and records; what a statement means is the target's.

mod direct;
mod failure;
mod options;
mod presets;
mod requests;
mod unawaited;
mod validation;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use std::time::Instant;

use rune::runtime::{Object, Ref, VmResult};
use rune::{Any, ContextError, Module, TypeHash as _, Value};

pub(crate) use failure::{Failure, FailureKind};
pub(crate) use options::{Policy, RetryDelay, Validation};

use crate::script::Data;
use crate::stats::{Counts, Recorder, StatementId};
use crate::target::{AnySession, Session as _, StatementOptions};
use presets::Preset;
use unawaited::Unawaited;

/// What a script sees of the store and of the run.
#[derive(Debug, Any)]
#[rune(item = ::latte)]
pub struct Context {
    session: Rc<AnySession>,
    recorder: Rc<RefCell<Recorder>>,
    policy: Policy,
    statements: RefCell<HashMap<String, Statement>>,
    /// What was prepared, in order, so that workers can prepare it too.
    prepared: RefCell<Vec<Prepared>>,
    unprepared: StatementId,
    presets: RefCell<HashMap<String, Preset>>,
    started: Cell<Instant>,
    role: Cell<Role>,
    unawaited: Rc<Unawaited>,
    metrics: RefCell<BTreeMap<String, Direction>>,
    fields: RefCell<BTreeMap<String, String>>,
    #[rune(get, set, add_assign, copy)]
    load_cycle_count: i64,
    #[rune(get, set)]
    data: Value,
}

/// Which functions have the context at the moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// `schema`, `prepare`, `erase`: what they leave is for all workers.
    Setup,
    /// `prepare_worker`: what it leaves is for this worker.
    PrepareWorker,
    /// Those that are measured.
    Measured,
}

/// A prepared statement: the session's number for it, and the recorder's.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Statement {
    number: usize,
    id: StatementId,
}

/// A statement as the script prepared it.
#[derive(Debug, Clone)]
struct Prepared {
    key: String,
    text: String,
    options: StatementOptions,
}

/// Whether more of a metric is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// More is better.
    Higher,
    /// Less is better.
    Lower,
}

/// What the setup of a run left in its context, for the contexts of the workers.
#[derive(Debug, Clone)]
pub struct Setup {
    data: Data,
    prepared: Vec<Prepared>,
    presets: HashMap<String, Preset>,
    policy: Policy,
    /// How many cycles `load` has.
    pub load_cycle_count: i64,
    /// What the script wants said in the report.
    pub fields: BTreeMap<String, String>,
    /// The metrics that the script declared.
    pub metrics: BTreeMap<String, Direction>,
}

impl Setup {
    /// What is done about requests that fail.
    pub fn policy(&self) -> Policy {
        self.policy
    }
}

impl Context {
    /// The context of the functions that run once: `schema`, `prepare`, `erase`.
    ///
    /// # Errors
    /// Without memory.
    pub fn new(
        session: Rc<AnySession>,
        recorder: Rc<RefCell<Recorder>>,
        policy: Policy,
    ) -> Result<Self, rune::alloc::Error> {
        let unprepared = recorder.borrow_mut().statement("unprepared");
        Ok(Self {
            session,
            recorder,
            policy,
            statements: RefCell::default(),
            prepared: RefCell::default(),
            unprepared,
            presets: RefCell::default(),
            started: Cell::new(Instant::now()),
            role: Cell::new(Role::Setup),
            unawaited: Rc::default(),
            metrics: RefCell::default(),
            fields: RefCell::default(),
            load_cycle_count: 0,
            data: Value::new(Object::new())?,
        })
    }

    /// The context of a worker: the same statements on its own session, and a copy of the data.
    ///
    /// # Errors
    /// What the target says when it prepares the statements.
    pub async fn for_worker(
        session: Rc<AnySession>,
        recorder: Rc<RefCell<Recorder>>,
        setup: &Setup,
    ) -> Result<Self, Failure> {
        let mut context = Self::new(session, recorder, setup.policy).map_err(Failure::memory)?;
        for prepared in &setup.prepared {
            context
                .prepare(&prepared.key, &prepared.text, prepared.options.clone())
                .await?;
        }
        context.presets = RefCell::new(setup.presets.clone());
        context.load_cycle_count = setup.load_cycle_count;
        context.data = setup.data.clone().into_value().map_err(Failure::memory)?;
        context.role.set(Role::PrepareWorker);
        Ok(context)
    }

    fn is_setup(&self) -> bool {
        self.role.get() == Role::Setup
    }

    /// From now on the functions that are measured have it.
    pub fn begin_measuring(&self) {
        self.role.set(Role::Measured);
    }

    /// The calls since the last time that nobody awaited, by the names of the methods.
    pub fn take_unawaited(&self) -> Counts {
        self.unawaited.take()
    }

    /// Drops what a function of the script returned. When that is a future, nobody has awaited it.
    pub(crate) fn drop_returned(&self, value: Value) {
        if value.type_hash() != rune::runtime::Future::HASH {
            return;
        }
        let before = self.unawaited.total();
        // The machine may hold the value too, and not what was in it.
        drop(value.downcast::<rune::runtime::Future>());
        if self.unawaited.total() == before {
            // A function of the script's own, whose calls have not been made either.
            self.unawaited.count("a function of the script");
        }
    }

    /// What workers need of this context.
    ///
    /// # Errors
    /// Data that cannot be copied.
    pub fn setup(&self) -> Result<Setup, String> {
        Ok(Setup {
            data: Data::of(&self.data).map_err(|why| format!("ctx.data: {why}"))?,
            prepared: self.prepared.borrow().clone(),
            presets: self.presets.borrow().clone(),
            policy: self.policy,
            load_cycle_count: self.load_cycle_count,
            fields: self.fields.borrow().clone(),
            metrics: self.metrics.borrow().clone(),
        })
    }

    /// Lets `elapsed_secs` count from `start`.
    pub fn restart(&self, start: Instant) {
        self.started.set(start);
    }

    /// Gives `ctx.data` a field before the script runs.
    ///
    /// # Errors
    /// Without memory.
    pub fn set_data(&mut self, name: &str, value: Data) -> Result<(), rune::alloc::Error> {
        let value = value.into_value()?;
        if let Ok(mut object) = self.data.borrow_mut::<Object>() {
            object.insert(rune::alloc::String::try_from(name)?, value)?;
        }
        Ok(())
    }

    async fn prepare(&self, key: &str, text: &str, options: StatementOptions) -> Result<(), Failure> {
        let number = self.session.prepare(text, &options).await.map_err(|f| f.about(text))?;
        let id = self.recorder.borrow_mut().statement(key);
        self.statements
            .borrow_mut()
            .insert(key.to_owned(), Statement { number, id });
        let mut prepared = self.prepared.borrow_mut();
        prepared.retain(|known| known.key != key);
        prepared.push(Prepared {
            key: key.to_owned(),
            text: text.to_owned(),
            options,
        });
        Ok(())
    }

    fn statement(&self, key: &str) -> Result<Statement, Failure> {
        self.statements.borrow().get(key).copied().ok_or_else(|| {
            let why = format!("no statement was prepared as {key:?}");
            Failure::new(FailureKind::Misuse, why)
        })
    }

    /// The text of a prepared statement, for messages.
    fn text_of(&self, key: &str) -> String {
        let prepared = self.prepared.borrow();
        let found = prepared.iter().find(|known| known.key == key);
        found.map_or_else(|| key.to_owned(), |known| known.text.clone())
    }

    #[rune::function(instance)]
    fn elapsed_secs(&self) -> f64 {
        self.started.get().elapsed().as_secs_f64()
    }

    #[rune::function(instance, path = Self::now_timestamp)]
    fn now_timestamp(&self) -> i64 {
        chrono::Utc::now().timestamp()
    }

    #[rune::function(instance)]
    fn get_datacenters(&self) -> Vec<String> {
        self.session.data_centres()
    }

    #[rune::function(instance)]
    fn set_report_field(&self, key: Ref<str>, value: Ref<str>) -> VmResult<()> {
        if !self.is_setup() {
            return VmResult::panic("set_report_field is for schema, erase and prepare: a worker's fields go nowhere");
        }
        self.fields.borrow_mut().insert(key.to_owned(), value.to_owned());
        VmResult::Ok(())
    }

    #[rune::function(instance)]
    fn declare_metric(&self, name: Ref<str>, direction: Ref<str>) -> VmResult<()> {
        if !self.is_setup() {
            return VmResult::panic("declare_metric is for schema, erase and prepare: a worker's metrics go nowhere");
        }
        let direction = match &*direction {
            "higher" => Direction::Higher,
            "lower" => Direction::Lower,
            other => {
                return VmResult::panic(format!(
                    "declare_metric: \"higher\" or \"lower\" is better, found {other:?}"
                ));
            }
        };
        self.metrics.borrow_mut().insert(name.to_owned(), direction);
        VmResult::Ok(())
    }

    #[rune::function(instance)]
    fn record_metric(&self, name: Ref<str>, value: Value) -> VmResult<()> {
        if self.role.get() != Role::Measured {
            return VmResult::panic("record_metric is for the functions that are measured");
        }
        let number = match (value.as_float(), value.as_signed()) {
            (Ok(float), _) if float.is_finite() => float,
            (_, Ok(integer)) => integer as f64,
            _ => return VmResult::panic(format!("record_metric: {}: a finite number is expected", &*name)),
        };
        self.recorder.borrow_mut().metric(&name, number);
        VmResult::Ok(())
    }
}

/// The type, its methods and the errors that they give.
pub(crate) fn module() -> Result<Module, ContextError> {
    let mut module = Module::with_item(["latte"])?;
    module.ty::<Context>()?;
    module.function_meta(Context::elapsed_secs)?;
    module.function_meta(Context::now_timestamp)?;
    module.function_meta(Context::get_datacenters)?;
    module.function_meta(Context::set_report_field)?;
    module.function_meta(Context::declare_metric)?;
    module.function_meta(Context::record_metric)?;
    failure::install(&mut module)?;
    requests::install(&mut module)?;
    presets::install(&mut module)?;
    Ok(module)
}
