//! Calls of a script's functions.

use std::fmt;
use std::path::Path;

use rune::alloc::limit;
use rune::runtime::{Args, VmError, budget};
use rune::{Value, Vm};

use super::{Function, Program, search_path};
use crate::context::Failure;

/// What came of a call that gave no value.
#[derive(Debug)]
pub(crate) enum Called {
    /// The function returned the error of a request, or one that it signalled.
    Failed(Failure),
    /// The function returned another error.
    Returned(String),
    /// The script panicked or went beyond its limits. The text begins with file, line and column.
    Stopped(String),
}

impl fmt::Display for Called {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(failure) => failure.fmt(f),
            Self::Returned(text) | Self::Stopped(text) => f.write_str(text),
        }
    }
}

impl Program {
    /// Calls a function and waits for it.
    ///
    /// # Errors
    /// [`Called`], when it gives no value.
    pub(crate) async fn call(
        &self,
        machine: &mut Vm,
        function: &Function,
        arguments: impl Args,
    ) -> Result<Value, Called> {
        let mut execution = machine
            .execute(function.hash, arguments)
            .map_err(|e| self.stopped(function, None, &e))?;
        let limits = self.limits;
        let called = budget::with(
            limits.instructions,
            limit::with(limits.memory, execution.async_complete()),
        )
        .await;
        match called.into_result() {
            Ok(value) => returned(value, machine),
            Err(error) => {
                let place = execution.vm().last_ip();
                Err(self.stopped(function, Some(place), &error))
            }
        }
    }

    /// Says why a script was stopped, and on which line.
    fn stopped(&self, function: &Function, place: Option<usize>, error: &VmError) -> Called {
        let place = error.first_location().map(|location| location.ip).or(place);
        let at = place.and_then(|ip| self.position(ip)).unwrap_or_default();
        let message = error.to_string();
        // The machine's own words for a spent budget do not say which limit it was.
        let why = if message.contains("limited") {
            format!(
                "more than {} instructions in one call; is this loop endless?",
                self.limits.instructions
            )
        } else if message.contains("emory") {
            format!("{message}; one call may hold {} bytes", self.limits.memory)
        } else if message.starts_with(MISSING_FIELD) {
            match place.and_then(|ip| self.expression(ip)) {
                Some(text) => missing_field(&text),
                None => "there is no such field".to_owned(),
            }
        } else {
            message
        };
        Called::Stopped(format!("{at}function {}: {why}", function.name))
    }

    /// The text of the expression that an instruction is of. A source keeps its text to itself, so it is read again.
    fn expression(&self, ip: usize) -> Option<String> {
        let instruction = self.unit.debug_info()?.instruction_at(ip)?;
        let source = self.sources.get(instruction.source_id)?;
        let text = match source.path() {
            Some(path) => std::fs::read_to_string(path).ok()?,
            None => search_path::bundled(Path::new(source.name()))?.to_owned(),
        };
        let span = instruction.span;
        text.get(span.start.into_usize()..span.end.into_usize())
            .map(str::to_owned)
    }

    fn position(&self, ip: usize) -> Option<String> {
        let instruction = self.unit.debug_info()?.instruction_at(ip)?;
        let source = self.sources.get(instruction.source_id)?;
        let (line, column) = source.pos_to_utf8_linecol(instruction.span.start.into_usize());
        let name = source
            .path()
            .map_or_else(|| source.name().to_owned(), |path| path.display().to_string());
        Some(format!("{name}:{}:{}: ", line + 1, column + 1))
    }
}

/// The machine's own words for a field that an object does not have name the number of a constant, and not the field.
const MISSING_FIELD: &str = "Missing index by static string slot";

/// Says which field of what there is not, from the expression that asks for it.
fn missing_field(expression: &str) -> String {
    let text = expression.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.rsplit_once('.') {
        Some((object, field)) => format!("there is no field {} in {}", field.trim(), object.trim()),
        None => format!("there is no such field: {text}"),
    }
}

/// A function that returns `Err` has failed, whatever it ran.
fn returned(value: Value, machine: &Vm) -> Result<Value, Called> {
    let error = match value.borrow_ref::<Result<Value, Value>>().as_deref() {
        Ok(Err(error)) => error.clone(),
        _ => return Ok(value),
    };
    if let Ok(failure) = error.borrow_ref::<Failure>() {
        return Err(Called::Failed(failure.clone()));
    }
    if let Ok(text) = error.borrow_string_ref() {
        return Err(Called::Returned(text.to_owned()));
    }
    if let Ok(error) = error.borrow_ref::<std::io::Error>() {
        return Err(Called::Returned(error.to_string()));
    }
    // The script's own types print themselves in a machine.
    Err(Called::Returned(machine.with(|| format!("{error:?}"))))
}
