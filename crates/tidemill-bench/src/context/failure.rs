//! Why a request failed.

use std::fmt;

use rune::alloc::fmt::TryWrite as _;
use rune::runtime::{Formatter, VmResult};
use rune::{Any, ContextError, Module, vm_write};

/// Why a request failed. Scripts get it as the error of their calls; it prints as its message.
#[derive(Debug, Clone, PartialEq, Eq, Any)]
#[rune(item = ::latte)]
pub struct Failure {
    /// What sort of failure.
    pub kind: FailureKind,
    /// What happened, and to which statement.
    pub message: String,
}

/// The sorts of failure. Reports count by them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FailureKind {
    /// No answer in time.
    Timeout,
    /// The store has too much to do.
    Overloaded,
    /// Too few replicas are up.
    Unavailable,
    /// The connection broke, or there is none.
    Connection,
    /// Another had the record or the table.
    Locked,
    /// The store failed at the request, by its own words, which are no judgement of the statement.
    Server,
    /// The store does not take the statement.
    Refused,
    /// Values that do not fit the statement.
    Parameters,
    /// The target has no such thing.
    Unsupported,
    /// Rows are not as the script expects them.
    Validation,
    /// The script signalled a failure.
    Signalled,
    /// The script asks for what there is not.
    Misuse,
}

impl FailureKind {
    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::Overloaded => "overloaded",
            Self::Unavailable => "unavailable",
            Self::Connection => "connection",
            Self::Locked => "locked",
            Self::Server => "server",
            Self::Refused => "refused",
            Self::Parameters => "parameters",
            Self::Unsupported => "unsupported",
            Self::Validation => "validation",
            Self::Signalled => "signalled",
            Self::Misuse => "misuse",
        }
    }

    /// Whether a later attempt may succeed: such failures are counted, and the run continues. All others end it.
    pub fn is_passing(self) -> bool {
        matches!(
            self,
            Self::Timeout | Self::Overloaded | Self::Unavailable | Self::Connection | Self::Locked | Self::Server
        )
    }

    /// Whether the request is tried again without being asked to: as in Latte, after timeouts and when there is too much to do.
    pub fn is_retried(self) -> bool {
        matches!(self, Self::Timeout | Self::Overloaded | Self::Locked)
    }
}

impl Failure {
    /// A failure.
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
        }
    }

    /// The script's limit of memory, or the machine's.
    pub fn memory(error: rune::alloc::Error) -> Self {
        Self::new(FailureKind::Misuse, format!("no memory for values: {error}"))
    }

    /// Says which statement it was.
    #[must_use]
    pub fn about(mut self, statement: &str) -> Self {
        const LONGEST: usize = 200;
        let text = statement.trim();
        let end = text.char_indices().nth(LONGEST).map_or(text.len(), |(at, _)| at);
        let dots = if end < text.len() { "…" } else { "" };
        self.message = format!("{}: {}{dots}", self.message, &text[..end]);
        self
    }

    #[rune::function(instance, protocol = DISPLAY_FMT)]
    fn display(&self, f: &mut Formatter) -> VmResult<()> {
        vm_write!(f, "{}", self)
    }

    #[rune::function(instance, protocol = DEBUG_FMT)]
    fn debug(&self, f: &mut Formatter) -> VmResult<()> {
        vm_write!(f, "{}", self)
    }

    /// The name of its kind: `"timeout"`, `"overloaded"`, …
    #[rune::function(instance, path = Self::kind)]
    fn kind_name(&self) -> &'static str {
        self.kind.name()
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind.name(), self.message)
    }
}

impl std::error::Error for Failure {}

pub(super) fn install(module: &mut Module) -> Result<(), ContextError> {
    module.ty::<Failure>()?;
    module.function_meta(Failure::display)?;
    module.function_meta(Failure::debug)?;
    module.function_meta(Failure::kind_name)?;
    Ok(())
}
