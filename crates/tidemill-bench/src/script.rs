//! Workloads: scripts in Rune, as Latte has them.
//!
//! A script is compiled once ([`Program::load`]) and copied for each worker ([`Program::unshare`]), so that no two threads
//! count references to the same memory. [`Limits`] stop a script that never ends.

mod binary;
mod call;
mod compiled;
mod data;
mod files;
mod fs;
mod generate;
mod limits;
mod numbers;
mod parameter;
mod resources;
mod search_path;
mod uuid;

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use rune::alloc::clone::TryClone;
use rune::compile::meta::Kind;
use rune::compile::{CompileVisitor, MetaError, MetaRef};
use rune::runtime::RuntimeContext;
use rune::termcolor::Buffer;
use rune::{Diagnostics, Hash, Module, Options, Source, Sources, Unit, Vm};

pub(crate) use call::Called;
pub(crate) use compiled::Compiled;
pub(crate) use data::Data;
pub(crate) use limits::Limits;
pub(crate) use search_path::find_workload;
pub(crate) use uuid::Uuid;

use self::files::Files;
use crate::context;
use crate::error::{Error, Result};

/// A compiled workload.
#[derive(Debug, Clone)]
pub(crate) struct Program {
    sources: Arc<Sources>,
    runtime: Arc<RuntimeContext>,
    unit: Arc<Unit>,
    functions: Arc<HashSet<String>>,
    limits: Limits,
}

/// A function of a workload: its name, and the hash that finds it without looking at the name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Function {
    /// Its name in the script.
    pub name: String,
    hash: Hash,
}

impl Program {
    /// Compiles the script at `path`, and `lib.rn` next to it if there is one: what that defines the script can use without a
    /// module's name. `parameters` are the values of `latte::param!`, `target` is what `latte::target()` gives.
    ///
    /// # Errors
    /// [`Error::Script`] when a file cannot be read or the script is not Rune, with the lines at fault.
    pub(crate) fn load(
        path: &Path,
        parameters: &[(String, String)],
        target: &'static str,
        limits: Limits,
    ) -> Result<Self> {
        let files = Arc::new(Files::of(path, parameters, limits.any_file));
        let context = rune_context(parameters, target, &files).map_err(|e| Error::Script {
            script: path.to_owned(),
            what: e.to_string(),
        })?;
        let mut functions = Functions::default();
        let mut diagnostics = Diagnostics::new();
        let mut sources = sources(path)?;
        let mut options = Options::default();
        options.debug_info(true);
        let unit = rune::prepare(&mut sources)
            .with_context(&context)
            .with_options(&options)
            .with_diagnostics(&mut diagnostics)
            .with_visitor(&mut functions)
            .map_err(|e| script_error(path, e))?
            .build();
        let unit = unit.map_err(|_| script_error(path, render(&diagnostics, &sources)))?;
        let runtime = context.runtime().map_err(|e| script_error(path, e))?;
        Ok(Self {
            sources: Arc::new(sources),
            runtime: Arc::new(runtime),
            unit: Arc::new(unit),
            functions: Arc::new(functions.0),
            limits,
        })
    }

    /// A copy that shares nothing which is counted when the script runs.
    ///
    /// # Errors
    /// [`Error::Script`] without memory.
    pub(crate) fn unshare(&self) -> Result<Self> {
        let copy = |e: rune::alloc::Error| script_error(Path::new(self.script()), e);
        Ok(Self {
            sources: Arc::clone(&self.sources),
            runtime: Arc::new(RuntimeContext::try_clone(&self.runtime).map_err(copy)?),
            unit: Arc::new(Unit::try_clone(&self.unit).map_err(copy)?),
            functions: Arc::clone(&self.functions),
            limits: self.limits,
        })
    }

    /// The function of that name, when the script has it.
    pub(crate) fn function(&self, name: &str) -> Option<Function> {
        self.functions.contains(name).then(|| Function {
            name: name.to_owned(),
            hash: Hash::type_hash([name]),
        })
    }

    /// A machine to run the script in, one call at a time. It is worth keeping.
    pub(crate) fn machine(&self) -> Vm {
        Vm::new(Arc::clone(&self.runtime), Arc::clone(&self.unit))
    }

    fn script(&self) -> &str {
        (0..)
            .map_while(|index| self.sources.get(rune::SourceId::new(index)))
            .last()
            .map_or("", |source| source.name())
    }
}

fn script_error(path: &Path, what: impl ToString) -> Error {
    Error::Script {
        script: path.to_owned(),
        what: what.to_string(),
    }
}

/// The script, after the library next to it.
fn sources(path: &Path) -> Result<Sources> {
    let mut sources = Sources::new();
    if let Some(text) = search_path::bundled(path) {
        let source = Source::new(path.to_string_lossy(), text).map_err(|e| script_error(path, e))?;
        sources.insert(source).map_err(|e| script_error(path, e))?;
        return Ok(sources);
    }
    let library = path.with_file_name("lib.rn");
    let files = [library.is_file().then_some(library.as_path()), Some(path)];
    for file in files.into_iter().flatten() {
        let source = Source::from_path(file).map_err(|e| script_error(file, e))?;
        sources.insert(source).map_err(|e| script_error(file, e))?;
    }
    Ok(sources)
}

fn rune_context(
    parameters: &[(String, String)],
    target: &'static str,
    files: &Arc<Files>,
) -> Result<rune::Context, rune::ContextError> {
    let mut context = rune::Context::with_default_modules()?;
    let mut latte = Module::with_crate("latte")?;
    parameter::install(&mut latte, parameters)?;
    generate::install(&mut latte, target)?;
    numbers::install(&mut latte)?;
    context.install(&latte)?;
    context.install(uuid::module()?)?;
    context.install(fs::module(files)?)?;
    context.install(fs::types_module()?)?;
    context.install(context::module()?)?;
    Ok(context)
}

fn render(diagnostics: &Diagnostics, sources: &Sources) -> String {
    let mut text = Buffer::no_color();
    match diagnostics.emit(&mut text, sources) {
        Ok(()) => String::from_utf8_lossy(text.as_slice()).trim_end().to_owned(),
        Err(e) => e.to_string(),
    }
}

/// The names of the functions that a script defines at its top.
#[derive(Debug, Default)]
struct Functions(HashSet<String>);

impl CompileVisitor for Functions {
    fn register_meta(&mut self, meta: MetaRef<'_>) -> Result<(), MetaError> {
        if let (Kind::Function { .. }, false) = (meta.kind, meta.context) {
            self.0.insert(meta.item.to_string());
        }
        Ok(())
    }
}
