//! The functions: what they are called, what they take, what they give.
//!
//! Each function is one line in one of the tables below and one Rust function over the values of one record; the column
//! form calls the same one for each row, except where `kernels` has a faster way.
//!
//! Sources: the pages of the Advantage Expression Engine in ADS's help (9.1 and 12) for which functions there are and for
//! NULL; for what they do with odd arguments Harbour's `src/rtl` (`substr.c`, `str.c`, `strzero.c`, `descend.c`, …), which
//! follows Clipper 5.2; the Visual FoxPro reference for those that only FoxPro has.

mod character;
mod date;
mod number;
mod transform;
mod value;

pub(super) use character::substring;
pub(crate) use character::substring_of;

use super::environment::Environment;
use super::format::Shape;
use super::program::{Call, Node, TooLong, demand};
use super::value::{Type, Value};
use crate::error::{Error, Result};

/// What a function gives, or why not.
pub(super) type Answer<'a> = Result<Value<'a>, TooLong>;

/// A function over the values of its arguments, which it may take out.
type Body = for<'a> fn(&Call<'_>, &mut [Value<'a>]) -> Answer<'a>;

/// A function of the language.
pub(crate) struct Function {
    pub(crate) name: &'static str,
    /// One letter an argument: C N L, T (date or timestamp), K (what keys can be turned around: C N L D), * (any type), ~ (the type of
    /// the argument before it). What follows `[` can be left out; `+` at the end allows more of the last.
    takes: &'static str,
    gives: Gives,
    nature: Nature,
    body: Body,
}

/// The type of the result, and how `STR()` shows it if it is a number.
#[derive(Clone, Copy)]
enum Gives {
    Is(Type),
    /// A whole number of so many digits.
    Whole(u16),
    /// A number with the decimals of SET DECIMALS.
    Fraction,
    /// A number of the first argument's whole digits, without decimals.
    Cut,
    /// A number with as many decimals as the second argument says.
    Rounded,
    /// What the argument with this index is; of several such, the one that is not `.NULL.`.
    Argument(usize),
    /// What the argument is, but for a date a number.
    Descended,
}

/// What is special about a function.
#[derive(Clone, Copy, PartialEq)]
enum Nature {
    /// `.NULL.` if an argument is.
    Plain,
    /// Knows what to do with `.NULL.`.
    TakesNull,
    /// Depends on the clock when it has no argument.
    Clock,
}

/// One line of a table.
const fn function(name: &'static str, takes: &'static str, gives: Gives, body: Body) -> Function {
    Function {
        name,
        takes,
        gives,
        nature: Nature::Plain,
        body,
    }
}

impl Function {
    const fn nature(mut self, nature: Nature) -> Self {
        self.nature = nature;
        self
    }

    /// The result for these arguments.
    pub(super) fn apply<'a>(&self, call: &Call<'_>, arguments: &mut [Value<'a>]) -> Answer<'a> {
        if self.nature != Nature::TakesNull && arguments.iter().any(Value::is_null) {
            return Ok(Value::Null);
        }
        (self.body)(call, arguments)
    }

    pub(super) fn is_volatile(&self, arguments: usize) -> bool {
        self.nature == Nature::Clock && arguments == 0
    }

    /// Checks number and types of the arguments.
    pub(super) fn check(&self, arguments: &[Node], column: u32) -> Result<()> {
        let (takes, repeats) = match self.takes.strip_suffix('+') {
            Some(takes) => (takes, true),
            None => (self.takes, false),
        };
        let needed = takes.find('[').unwrap_or(takes.len());
        let letters: Vec<u8> = takes.bytes().filter(|b| *b != b'[').collect();
        let most = if repeats { usize::MAX } else { letters.len() };
        if !(needed..=most).contains(&arguments.len()) {
            let expected = match (needed, most) {
                (n, m) if n == m => format!("{n} arguments of {}()", self.name),
                (n, usize::MAX) => format!("at least {n} arguments of {}()", self.name),
                (n, m) => format!("{n} to {m} arguments of {}()", self.name),
            };
            return Err(Error::expression(column, expected, arguments.len().to_string()));
        }
        let mut before = Type::Null;
        for (i, argument) in arguments.iter().enumerate() {
            match letters.get(i).or(letters.last()) {
                Some(b'C') => demand(argument, &[Type::Character])?,
                Some(b'N') => demand(argument, &[Type::Number])?,
                Some(b'L') => demand(argument, &[Type::Logical])?,
                Some(b'K') => demand(argument, &[Type::Character, Type::Number, Type::Logical, Type::Date])?,
                Some(b'T') => demand(argument, &[Type::Date, Type::Timestamp])?,
                Some(b'~') if before != Type::Null => demand(argument, &[before])?,
                _ => before = argument.type_of,
            }
        }
        Ok(())
    }

    pub(super) fn result_type(&self, arguments: &[Node]) -> Type {
        match self.gives {
            Gives::Is(type_of) => type_of,
            Gives::Argument(from) => {
                let types = arguments.iter().skip(from).map(|a| a.type_of);
                types.into_iter().find(|t| *t != Type::Null).unwrap_or(Type::Null)
            }
            Gives::Descended => match arguments.first().map_or(Type::Null, |a| a.type_of) {
                Type::Date => Type::Number,
                other => other,
            },
            Gives::Whole(_) | Gives::Fraction | Gives::Cut | Gives::Rounded => Type::Number,
        }
    }

    pub(super) fn shape(&self, arguments: &[Node], environment: &Environment) -> Shape {
        let first = arguments.first().map_or(Shape::INTEGER, |a| a.shape);
        match self.gives {
            Gives::Is(_) => Shape::INTEGER,
            Gives::Descended => first,
            Gives::Whole(digits) => Shape {
                whole: Some(digits),
                decimals: 0,
            },
            Gives::Fraction => Shape {
                whole: None,
                decimals: environment.decimals,
            },
            Gives::Cut => Shape { decimals: 0, ..first },
            Gives::Rounded => {
                let decimals = arguments.get(1).and_then(Node::constant).map_or(0, |n| n.integer());
                Shape {
                    whole: None,
                    decimals: u8::try_from(decimals.clamp(0, 30)).unwrap_or_default(),
                }
            }
            Gives::Argument(from) => {
                let shapes = arguments.iter().skip(from).map(|a| a.shape);
                shapes
                    .max_by_key(|s| (s.decimals, s.whole.is_none(), s.whole))
                    .unwrap_or(first)
            }
        }
    }
}

impl std::fmt::Debug for Function {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// The function of a name in capitals, which may be cut to four letters or more where that is still one function's.
pub(super) fn find(name: &str) -> Option<&'static Function> {
    if let Some(function) = all().find(|f| f.name == name) {
        return Some(function);
    }
    let mut candidates = all().filter(|f| name.len() >= 4 && f.name.starts_with(name));
    let first = candidates.next()?;
    candidates.next().is_none().then_some(first)
}

/// The names of all functions, in capitals.
pub fn function_names() -> impl Iterator<Item = &'static str> {
    all().map(|f| f.name)
}

fn all() -> impl Iterator<Item = &'static Function> {
    [
        character::FUNCTIONS,
        number::FUNCTIONS,
        date::FUNCTIONS,
        transform::FUNCTIONS,
        value::FUNCTIONS,
    ]
    .into_iter()
    .flatten()
}
