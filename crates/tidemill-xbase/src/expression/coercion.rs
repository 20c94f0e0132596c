//! Whether case counts where texts are compared: "Case Insensitive Field Type" and "COLLATE()" in the help of ADS.
//!
//! A CICharacter field ignores case, other fields do not, and a literal takes the case as what it is compared with. A function of texts
//! takes it as its arguments; where these differ, it ignores case, as the keys of an ADI do. `COLLATE()` says how, and counts before all
//! else. Two fields that differ are not compared without it.

use super::program::Node;
use super::value::{Type, Value};
use crate::adt::AdtType;
use crate::error::{Error, Result};
use crate::field::Field;

/// How a text takes the case of letters, and who says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Coercion {
    /// As what it is compared with.
    None,
    /// A field says so.
    Implicit(Case),
    /// `COLLATE()` says so.
    Explicit(Case),
}

/// Whether case counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Case {
    Counts,
    IsIgnored,
}

impl Coercion {
    /// That of a field.
    pub(super) fn of(field: &Field) -> Self {
        match super::record::type_of(field.kind) {
            Type::Character if field.adt_type == Some(AdtType::CiCharacter) => Self::Implicit(Case::IsIgnored),
            Type::Character => Self::Implicit(Case::Counts),
            _ => Self::None,
        }
    }

    /// That of a text that is made of two.
    pub(super) fn joined(self, other: Self) -> Self {
        match (self, other) {
            (Self::Explicit(a), Self::Explicit(b)) => Self::Explicit(a.or(b)),
            (explicit @ Self::Explicit(_), _) | (_, explicit @ Self::Explicit(_)) => explicit,
            (Self::Implicit(a), Self::Implicit(b)) => Self::Implicit(a.or(b)),
            (Self::None, other) | (other, Self::None) => other,
        }
    }
}

impl Case {
    fn or(self, other: Self) -> Self {
        if self == Self::IsIgnored { self } else { other }
    }
}

/// Whether a comparison of these ignores case.
///
/// # Errors
/// [`Error::Expression`] where one says so and another says the opposite.
pub(super) fn compared(sides: impl IntoIterator<Item = Coercion>, column: u32) -> Result<bool> {
    let (mut implicit, mut explicit) = (Found::default(), Found::default());
    for side in sides {
        match side {
            Coercion::None => {}
            Coercion::Implicit(case) => implicit.add(case),
            Coercion::Explicit(case) => explicit.add(case),
        }
    }
    let found = if explicit.is_any() { explicit } else { implicit };
    match (found.counts, found.is_ignored) {
        (true, true) => {
            let expected = "fields that compare in one way, or COLLATE( …, \"ads_default_ci\" )";
            Err(Error::expression(
                column,
                expected,
                "one that ignores case and one that does not",
            ))
        }
        (_, is_ignored) => Ok(is_ignored),
    }
}

#[derive(Debug, Default)]
struct Found {
    counts: bool,
    is_ignored: bool,
}

impl Found {
    fn add(&mut self, case: Case) {
        match case {
            Case::Counts => self.counts = true,
            Case::IsIgnored => self.is_ignored = true,
        }
    }

    fn is_any(&self) -> bool {
        self.counts || self.is_ignored
    }
}

/// Whether a function compares its arguments, and gives no text of them.
pub(super) fn compares(function: &str) -> bool {
    matches!(function, "AT" | "ATNUM" | "BETWEEN" | "INLIST" | "OCCURS" | "RAT")
}

/// `COLLATE( text, language )`: the text as it is, to be compared in this way.
///
/// # Errors
/// [`Error::Expression`] for what is no text, or another language than the two.
pub(super) fn explicit(mut arguments: Vec<Node>, column: u32) -> Result<Node> {
    let language = match arguments.pop().as_ref().and_then(Node::constant) {
        Some(Value::Character(bytes)) => String::from_utf8_lossy(bytes).to_ascii_lowercase(),
        _ => String::new(),
    };
    let case = match language.as_str() {
        "ads_default_ci" => Case::IsIgnored,
        "ads_default_cs" => Case::Counts,
        _ => {
            let expected = "\"ads_default_ci\" or \"ads_default_cs\" in COLLATE()";
            return Err(Error::expression(column, expected, format!("{language:?}")));
        }
    };
    let Some(text) = arguments.pop() else {
        return Err(Error::expression(column, "a text in COLLATE()", "nothing"));
    };
    super::program::demand(&text, &[Type::Character])?;
    Ok(Node {
        coercion: Coercion::Explicit(case),
        ..text
    })
}
