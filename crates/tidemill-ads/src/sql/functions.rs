//! ADS's scalar functions: what they are called, what they take, what they give.
//!
//! A function that means the same in the expression language of xBase is that function: its arguments become the columns of a batch and
//! the program of `tidemill-xbase` is evaluated over them. The others are loops over Arrow arrays here.
//!
//! Sources: the pages "String Functions", "Math Functions", "Date/Time Functions" and "Miscellaneous Functions" of ADS's help, 12.
//!
//! What is not here: what only a data dictionary knows.

mod full_text;
mod kernel;
mod moment;
mod number;
mod other;
mod text;
mod variable;

use arrow_buffer::NullBuffer;

use super::arithmetic::Operator;
use super::error::{Error, Kind, Result};
use super::evaluate::Session;
use super::expression::{Expr, computed};
use super::value::{Type, Value};
use super::vector::Vector;

pub(super) use kernel::run as run_kernel;
pub(super) use text::small;

/// A scalar function.
pub(super) struct Function {
    pub(super) name: &'static str,
    /// A letter an argument: C text, N number, D date or timestamp, T a time of day, L logical, `*` anything. What follows `[` can be left out;
    /// `+` at the end allows more of the last.
    takes: &'static str,
    gives: Gives,
    body: Body,
}

/// The type of a result.
#[derive(Clone, Copy)]
enum Gives {
    Is(Type),
    /// That of this argument.
    Argument(usize),
    /// What the operator gives for the first two arguments.
    Computed(Operator),
    /// Text as long as this argument.
    TextOf(usize),
    /// Text as long as the number that this argument is.
    Counted(usize),
}

enum Body {
    /// Over columns; NULL where an argument is.
    Columns(fn(&Call<'_>, &[Vector]) -> Result<Vector>),
    /// As `Columns`, and it changes from call to call.
    Volatile(fn(&Call<'_>, &[Vector]) -> Result<Vector>),
    /// What a statement knows, whatever the row.
    Session(fn(&Session<'_>) -> Value),
    /// An xBase expression over the arguments T1 (text), N1 (number), D1 (date), S1 (timestamp), …; one for each number of
    /// arguments, the fewest first.
    Kernel(&'static [&'static str]),
}

/// What a function is called with, beside its arguments.
pub(super) struct Call<'c> {
    pub(super) rows: usize,
    pub(super) session: &'c Session<'c>,
    pub(super) name: &'static str,
}

const fn columns(
    name: &'static str,
    takes: &'static str,
    gives: Gives,
    body: fn(&Call<'_>, &[Vector]) -> Result<Vector>,
) -> Function {
    Function {
        name,
        takes,
        gives,
        body: Body::Columns(body),
    }
}

const fn kernel(name: &'static str, takes: &'static str, gives: Gives, texts: &'static [&'static str]) -> Function {
    Function {
        name,
        takes,
        gives,
        body: Body::Kernel(texts),
    }
}

const fn session(name: &'static str, type_of: Type, body: fn(&Session<'_>) -> Value) -> Function {
    Function {
        name,
        takes: "",
        gives: Gives::Is(type_of),
        body: Body::Session(body),
    }
}

impl Function {
    /// Whether it gives the same for the same arguments.
    pub(super) fn is_volatile(&self) -> bool {
        matches!(self.body, Body::Volatile(_))
    }

    /// Whether it has so many arguments.
    fn takes_number(&self, arguments: usize) -> bool {
        let (takes, repeats) = match self.takes.strip_suffix('+') {
            Some(takes) => (takes, true),
            None => (self.takes, false),
        };
        let least = takes.find('[').unwrap_or(takes.len());
        let most = takes.chars().filter(|letter| *letter != '[').count();
        arguments >= least && (repeats || arguments <= most)
    }

    /// # Errors
    /// [`Kind::NoFunction`] for another number of arguments, [`Kind::Type`] for one of another type.
    pub(super) fn check(&self, types: &[Type]) -> Result<()> {
        let letters: Vec<char> = self.takes.chars().filter(|letter| !"[+".contains(*letter)).collect();
        if !self.takes_number(types.len()) {
            let why = format!("{}() takes {} arguments, not {}", self.name, letters.len(), types.len());
            return Err(Error::new(Kind::NoFunction, why));
        }
        let expected = letters.iter().chain(letters.last().into_iter().cycle());
        for (place, (type_of, letter)) in types.iter().zip(expected).enumerate() {
            let fits = match letter {
                'C' => type_of.is_text() || *type_of == Type::Bytes,
                'N' => type_of.is_number(),
                'D' | 'T' => matches!(type_of, Type::Date | Type::Timestamp | Type::Time) || type_of.is_text(),
                'L' => matches!(type_of, Type::Logical | Type::Unknown),
                _ => true,
            };
            if !fits {
                let (name, noun) = (self.name, type_of.noun());
                let why = format!("Invalid argument {} of {name}(): {noun}", place + 1);
                return Err(Error::new(Kind::Type, why));
            }
        }
        Ok(())
    }

    pub(super) fn type_of(&self, types: &[Type], arguments: &[Expr]) -> Type {
        match self.gives {
            Gives::Is(type_of) => type_of,
            Gives::Argument(place) => types.get(place).copied().unwrap_or(Type::Unknown),
            Gives::Computed(operator) => match types {
                [left, right, ..] => computed(operator, *left, *right),
                _ => Type::Unknown,
            },
            Gives::TextOf(place) => match types.get(place) {
                Some(Type::Text(length)) => Type::Text(*length),
                _ => Type::Text(0),
            },
            Gives::Counted(place) => {
                let length = arguments
                    .get(place)
                    .and_then(|argument| argument.constant(&[]))
                    .and_then(Value::to_i64);
                Type::Text(
                    length
                        .and_then(|length| u32::try_from(length).ok())
                        .unwrap_or(0)
                        .min(65_535),
                )
            }
        }
    }

    /// # Errors
    /// [`Kind::Value`] for arguments that it cannot use.
    pub(super) fn apply(&self, call: &Call<'_>, arguments: &[Vector]) -> Result<Vector> {
        let are_constant = arguments.iter().all(|argument| matches!(argument, Vector::Constant(_)));
        let body = match &self.body {
            Body::Session(body) => return Ok(Vector::Constant(body(call.session))),
            Body::Volatile(body) => return body(call, arguments),
            _ if arguments.iter().any(Vector::is_null) => return Ok(Vector::Constant(Value::Null)),
            Body::Kernel(texts) => {
                let least = self.takes.find('[').unwrap_or(self.takes.len());
                let text = texts
                    .get(arguments.len().saturating_sub(least))
                    .copied()
                    .unwrap_or_default();
                let rows = if are_constant { 1 } else { call.rows };
                let made = kernel::run(text, arguments, rows, call.session)?;
                return Ok(if are_constant {
                    Vector::Constant(made.value(0))
                } else {
                    made
                });
            }
            Body::Columns(body) => body,
        };
        if !are_constant {
            return body(call, arguments)?.null_where(nulls(arguments), call.rows);
        }
        let one = Call { rows: 1, ..*call };
        Ok(Vector::Constant(body(&one, arguments)?.value(0)))
    }
}

impl PartialEq for Function {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl std::fmt::Debug for Function {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// The function of a name, in whichever case.
pub(super) fn find(name: &str) -> Option<&'static Function> {
    all().find(|function| function.name.eq_ignore_ascii_case(name))
}

/// The function of a search over all texts of a record.
pub(super) fn find_over_all(name: &str) -> Option<&'static Function> {
    let mut functions = full_text::OVER_ALL.iter();
    functions.find(|function| function.name.eq_ignore_ascii_case(name))
}

/// The system variable of a name like `::conn.Name`, in whichever case.
pub(super) fn find_variable(name: &str) -> Option<&'static Function> {
    let mut variables = variable::VARIABLES.iter();
    variables.find(|variable| variable.name.eq_ignore_ascii_case(name))
}

/// The names of all scalar functions, in capitals.
pub fn function_names() -> impl Iterator<Item = &'static str> {
    all().map(|function| function.name).chain([
        "CAST", "COALESCE", "CONVERT", "DELETED", "EMPTY", "EXTRACT", "IF", "IFNULL", "IIF", "INLIST", "ISNULL",
        "NULLIF", "RECNO",
    ])
}

/// Whether a function of this name, in whichever case, may have so many arguments; `true` for forms of their own, such as CAST.
pub fn function_takes(name: &str, arguments: usize) -> bool {
    find(name).is_none_or(|function| function.takes_number(arguments))
}

/// Whether a function of this name, in whichever case, changes from call to call.
pub fn is_volatile(name: &str) -> bool {
    find(name).is_some_and(Function::is_volatile)
}

/// Whether a function of this name, in whichever case, may give something else in another statement: the time, the user.
pub fn changes_between_statements(name: &str) -> bool {
    find(name).is_some_and(|function| matches!(function.body, Body::Volatile(_) | Body::Session(_)))
}

fn all() -> impl Iterator<Item = &'static Function> {
    [
        text::FUNCTIONS,
        number::FUNCTIONS,
        moment::FUNCTIONS,
        other::FUNCTIONS,
        full_text::FUNCTIONS,
    ]
    .into_iter()
    .flatten()
}

/// Where any argument is NULL.
fn nulls(arguments: &[Vector]) -> Option<NullBuffer> {
    arguments
        .iter()
        .fold(None, |all, argument| NullBuffer::union(all.as_ref(), argument.nulls()))
}

fn argument(arguments: &[Vector], place: usize) -> &Vector {
    const NULL: &Vector = &Vector::Constant(Value::Null);
    arguments.get(place).unwrap_or(NULL)
}
