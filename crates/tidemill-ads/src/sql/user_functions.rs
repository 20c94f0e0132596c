//! Functions that a data dictionary keeps as scripts, and expressions call.
//!
//! A script runs in a connection of its own to the dictionary: it sees what is committed, and what the transaction of the program that is
//! under way has changed.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tidemill_xbase::TransactionLog;

use super::StatementOptions;
use super::error::{Error, Kind, Result};
use super::parser::signature_of;
use super::script::{self, Given, fitted};
use super::statement::TypeName;
use super::structure::variable_type;
use super::value::{Type, Value};
use crate::transactions::Transactions;
use crate::{Connection, Settings};

/// The functions of a data dictionary.
#[derive(Debug, Default)]
pub struct UserFunctions {
    functions: Vec<Arc<UserFunction>>,
    caller: Option<Arc<Caller>>,
}

/// A function as the dictionary has it: its name, what it takes and returns, and its script.
#[derive(Debug, Clone)]
pub(crate) struct FunctionTexts {
    /// The package that it is in; empty for none.
    pub(crate) package: String,
    pub(crate) name: String,
    pub(crate) parameters: String,
    pub(crate) returns: String,
    pub(crate) script: String,
}

/// A function.
#[derive(Debug)]
pub(super) struct UserFunction {
    texts: FunctionTexts,
    /// Or why it cannot be understood.
    signature: Result<Signature, String>,
    caller: Arc<Caller>,
}

#[derive(Debug)]
struct Signature {
    /// Names in capitals.
    parameters: Vec<(String, VariableType)>,
    returns: VariableType,
}

/// A type, and how long its text always is; 0 where it varies.
type VariableType = (Type, usize);

/// What functions run in.
#[derive(Debug)]
struct Caller {
    /// The file of the dictionary.
    dictionary: PathBuf,
    /// The user of the connection.
    user: String,
    settings: Settings,
    options: StatementOptions,
    inner: Mutex<Option<Box<Connection>>>,
    /// The log of the program's transaction.
    log: Mutex<Option<TransactionLog>>,
}

impl PartialEq for UserFunction {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl UserFunctions {
    pub(crate) fn new(
        texts: impl Iterator<Item = FunctionTexts>,
        may: impl Fn(&FunctionTexts) -> Result<(), String>,
        (dictionary, user): (PathBuf, String),
        settings: &Settings,
        options: &StatementOptions,
    ) -> Self {
        let caller = Arc::new(Caller {
            dictionary,
            user,
            settings: settings.clone(),
            options: options.clone(),
            inner: Mutex::default(),
            log: Mutex::default(),
        });
        let function = |texts: FunctionTexts| {
            let signature = may(&texts);
            let signature = signature.and_then(|()| Signature::of(&texts).map_err(|error| error.message().to_owned()));
            Arc::new(UserFunction {
                texts,
                signature,
                caller: Arc::clone(&caller),
            })
        };
        Self {
            functions: texts.map(function).collect(),
            caller: Some(Arc::clone(&caller)),
        }
    }

    /// Lets functions see what a transaction has changed, where one is under way.
    pub(crate) fn join(&self, log: Option<&TransactionLog>) {
        if let Some(caller) = &self.caller {
            *locked(&caller.log) = log.cloned();
        }
    }

    /// The function of a name, in any case, with its package before it where it is in one.
    pub(super) fn find(&self, name: &str) -> Option<&Arc<UserFunction>> {
        let (package, name) = name.split_once('.').unwrap_or(("", name));
        let mut functions = self.functions.iter().map(|function| (function, &function.texts));
        let found = functions
            .find(|(_, texts)| texts.package.eq_ignore_ascii_case(package) && texts.name.eq_ignore_ascii_case(name));
        found.map(|(function, _)| function)
    }
}

/// Whether texts can be a function.
///
/// # Errors
/// [`Kind::Syntax`], [`Kind::Type`].
pub(crate) fn check(texts: &FunctionTexts) -> Result<()> {
    Signature::of(texts)?;
    script::check(&texts.script)
}

impl Signature {
    fn of(texts: &FunctionTexts) -> Result<Self> {
        let (parameters, returns) = signature_of(&texts.parameters, &texts.returns)?;
        let parameters = parameters.into_iter().map(|(name, type_of)| {
            let type_of = type_named(&type_of)?;
            Ok((name.value.to_ascii_uppercase(), type_of))
        });
        Ok(Self {
            parameters: parameters.collect::<Result<_>>()?,
            returns: type_named(&returns)?,
        })
    }
}

fn type_named(written: &TypeName) -> Result<VariableType> {
    let type_of = variable_type(written)?;
    let is_fixed = matches!(
        written.name.value.to_ascii_uppercase().as_str(),
        "CHAR" | "CHARACTER" | "CICHAR"
    );
    let length = usize::try_from(written.length.unwrap_or(0)).unwrap_or(0).min(65_535);
    Ok((type_of, if is_fixed { length } else { 0 }))
}

impl UserFunction {
    /// The type of what it returns.
    pub(super) fn returns(&self) -> Type {
        match &self.signature {
            Ok(Signature {
                returns: (Type::Text(_), length),
                ..
            }) => Type::Text(u32::try_from(*length).unwrap_or(0)),
            Ok(signature) => signature.returns.0,
            Err(_) => Type::Unknown,
        }
    }

    fn signature(&self) -> Result<&Signature> {
        let signature = self.signature.as_ref();
        signature.map_err(|why| Error::new(Kind::NoFunction, format!("Function {}: {why}", self.texts.name)))
    }

    /// # Errors
    /// [`Kind::NoFunction`] for another number of arguments, and for a function that cannot be understood.
    pub(super) fn check(&self, arguments: usize) -> Result<()> {
        let takes = self.signature()?.parameters.len();
        if takes == arguments {
            return Ok(());
        }
        let why = format!(
            "{}() takes {takes} arguments, and {arguments} are given",
            self.texts.name
        );
        Err(Error::new(Kind::NoFunction, why))
    }

    /// What it returns for these arguments; NULL where its script returns nothing.
    ///
    /// # Errors
    /// [`Kind::Limit`] for functions that call one another too deep; the first fault that the script does not catch.
    pub(super) fn call(&self, arguments: Vec<Value>) -> Result<Value> {
        let signature = self.signature()?;
        let parameters = signature.parameters.iter().zip(arguments);
        let variables = parameters
            .map(|((name, (type_of, length)), value)| Ok((name.clone(), fitted(value, *type_of, *length)?, *type_of)));
        let given = Given {
            variables: variables.collect::<Result<_>>()?,
            ..Given::default()
        };
        let returned = script::called(&self.texts.name, || self.caller.run(&self.texts.script, given))?;
        let (type_of, length) = signature.returns;
        match returned {
            None | Some(Value::Null) => Ok(Value::Null),
            Some(value) => fitted(value, type_of, length),
        }
    }
}

impl Caller {
    fn run(&self, script: &str, given: Given) -> Result<Option<Value>> {
        let log = locked(&self.log).clone().filter(TransactionLog::is_under_way);
        let mut inner = locked(&self.inner);
        let connection = match &mut *inner {
            Some(known) => known,
            none => none.insert(Box::new(Connection::open_dictionary(
                &self.dictionary,
                true,
                &self.settings,
            )?)),
        };
        connection.acts_for = Some(self.user.clone());
        if let Some(log) = &log {
            connection.transactions = Transactions::joined(log)?;
        }
        connection.renew_dictionary()?;
        let mut tables = connection.tables(&self.settings, &self.options);
        let done = script::run(script, given, &mut tables);
        let laid_down = connection.statements.lay_down();
        if log.is_some() {
            connection.transactions = Transactions::default();
        }
        let (_, returned) = done?;
        laid_down?;
        Ok(returned)
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
