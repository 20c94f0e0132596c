//! What happens once, before the workers: `schema`, `prepare`, `erase`.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use rune::Value;
use tokio::runtime::{Builder, Runtime};

use crate::args::WeightedFunction;
use crate::context::{Context, Policy, Setup};
use crate::error::{Error, Result};
use crate::script::{Called, Data, Program};
use crate::stats::Recorder;
use crate::target::{About, AnySession, AnyTarget, Session as _};

/// The place where a workload is set up: a session and a context of its own.
pub(crate) struct Stage {
    runtime: Runtime,
    program: Program,
    session: Rc<AnySession>,
    context: Value,
}

/// What the workers start from.
#[derive(Debug, Clone)]
pub(crate) struct Prepared {
    /// The script.
    pub program: Program,
    /// The store.
    pub target: Arc<AnyTarget>,
    /// Statements, data and the rest of the context.
    pub setup: Setup,
}

impl Stage {
    /// Connects to the target.
    ///
    /// # Errors
    /// [`Error::Connect`].
    pub(crate) fn new(target: &AnyTarget, program: &Program, policy: Policy) -> Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let session = Rc::new(runtime.block_on(target.connect())?);
        let recorder = Rc::new(RefCell::new(Recorder::new(&[], Instant::now())));
        let context = Context::new(Rc::clone(&session), recorder, policy).map_err(memory)?;
        Ok(Self {
            runtime,
            program: program.clone(),
            session,
            context: Value::new(context).map_err(memory)?,
        })
    }

    /// What the store says of itself, when it says something.
    pub(crate) fn about(&self) -> About {
        self.runtime.block_on(self.session.about()).unwrap_or_default()
    }

    /// The script.
    pub(crate) fn program(&self) -> &Program {
        &self.program
    }

    /// Whether the script has a function.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.program.function(name).is_some()
    }

    /// Gives `ctx.data.functions_to_invoke` the names and weights, as the forks do.
    ///
    /// # Errors
    /// Without memory.
    pub(crate) fn tell_functions(&self, functions: &[WeightedFunction]) -> Result<()> {
        let list = functions
            .iter()
            .map(|function| Data::Tuple(vec![Data::Text(function.name.clone()), Data::Float(function.weight)]));
        if let Ok(mut context) = self.context.borrow_mut::<Context>() {
            context
                .set_data("functions_to_invoke", Data::Vec(list.collect()))
                .map_err(memory)?;
        }
        Ok(())
    }

    /// Calls a function of the script, when it has it. Says whether.
    ///
    /// # Errors
    /// [`Error::Function`].
    pub(crate) fn call(&self, name: &str) -> Result<bool> {
        let Some(function) = self.program.function(name) else {
            return Ok(false);
        };
        let mut machine = self.program.machine();
        let call = self.program.call(&mut machine, &function, (self.context.clone(),));
        let called = self.runtime.block_on(call);
        let value = called.map_err(|called| function_error(name, called))?;
        if let Ok(context) = self.context.borrow_ref::<Context>() {
            context.drop_returned(value);
            for (method, count) in context.take_unawaited() {
                eprintln!(
                    "warning: {count} calls of {method} in {name} were not awaited, so that they asked nothing: is an .await missing?"
                );
            }
        }
        Ok(true)
    }

    /// What the workers need of what the script did here.
    ///
    /// # Errors
    /// [`Error::Function`] when `ctx.data` holds what cannot be copied.
    pub(crate) fn finish(self, target: Arc<AnyTarget>) -> Result<Prepared> {
        let wrong = |what: String| Error::Function {
            function: "prepare".to_owned(),
            what,
        };
        let context = self.context.borrow_ref::<Context>().map_err(|e| wrong(e.to_string()))?;
        Ok(Prepared {
            setup: context.setup().map_err(wrong)?,
            program: self.program.clone(),
            target,
        })
    }
}

/// Why a function ended without a value, as an error.
pub(super) fn function_error(name: &str, called: Called) -> Error {
    Error::Function {
        function: name.to_owned(),
        what: match called {
            Called::Failed(failure) => failure.to_string(),
            Called::Returned(what) | Called::Stopped(what) => what,
        },
    }
}

pub(super) fn memory(error: rune::alloc::Error) -> Error {
    Error::Misuse(format!("no memory for values: {error}"))
}
