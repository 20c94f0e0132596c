//! Whether case counts where texts are compared: "Comparison Operators and Coercion" in ADS's help.
//!
//! A CICharacter column ignores case, other columns do not, and a literal takes the case as what it is compared with. A function of texts
//! takes it as its arguments; where these differ, it ignores case. Two columns that differ are compared only with COLLATE.

use super::Scope;
use crate::sql::arithmetic::Operator;
use crate::sql::error::{Error, Kind, Result};
use crate::sql::expression::{Column, Expr};
use crate::sql::value::Type;

/// How a text takes the case of letters, and who says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::sql) enum Coercion {
    /// As what it is compared with.
    None,
    /// Its column says that case counts.
    Counts,
    /// Its column says that case is ignored.
    Ignored,
    /// `COLLATE ads_default_cs`: case counts, whatever the other side is.
    Explicit,
}

impl Coercion {
    pub(in crate::sql) fn ignores_case(self) -> bool {
        self == Self::Ignored
    }

    /// That of a text that is made of two.
    fn joined(self, other: Self) -> Self {
        match (self, other) {
            (Self::Explicit, _) | (_, Self::Explicit) => Self::Explicit,
            (Self::Ignored, _) | (_, Self::Ignored) => Self::Ignored,
            (Self::Counts, _) | (_, Self::Counts) => Self::Counts,
            (Self::None, Self::None) => Self::None,
        }
    }
}

impl Expr {
    /// That of the expression over these columns; none of what is no text.
    pub(in crate::sql) fn coercion(&self, columns: &[Column]) -> Coercion {
        let of = |expr: &Self| expr.coercion(columns);
        let all = |exprs: &[Self]| exprs.iter().map(of).fold(Coercion::None, Coercion::joined);
        match self {
            Self::Column(index) => match columns.get(*index) {
                Some(column) if column.ignores_case => Coercion::Ignored,
                Some(column) if column.type_of.is_text() => Coercion::Counts,
                _ => Coercion::None,
            },
            Self::CaseCounts(_) => Coercion::Explicit,
            Self::Small(text) => of(text),
            _ if !self.type_of(columns, &[]).is_text() => Coercion::None,
            Self::Cast(text, _) => of(text),
            Self::Arithmetic(Operator::Plus, left, right) => of(left).joined(of(right)),
            Self::Case(branches, otherwise) => {
                let values = branches.iter().map(|(_, value)| of(value));
                values.fold(of(otherwise), Coercion::joined)
            }
            Self::Coalesce(parts) | Self::Call(_, parts) => all(parts),
            _ => Coercion::None,
        }
    }
}

impl Scope<'_> {
    fn coercion_of(&self, expr: &Expr) -> Coercion {
        match &self.grouping {
            None => expr.coercion(self.columns),
            Some(grouping) => expr.coercion(&grouping.columns(self.columns, &[])),
        }
    }

    /// What rows are grouped and put in order by.
    pub(in crate::sql) fn sort_key(&self, expr: Expr) -> Expr {
        match self.coercion_of(&expr).ignores_case() {
            true => Expr::Small(Box::new(expr)),
            false => expr,
        }
    }

    /// Whether a value is one of a list.
    pub(super) fn within(&self, value: Expr, list: Vec<Expr>) -> Result<Expr> {
        let all = std::iter::once(value).chain(list).collect();
        let mut all = self.all_in_one_case(all)?.into_iter();
        match all.next() {
            Some(value) => Ok(Expr::In(Box::new(value), all.collect())),
            None => Err(Error::new(Kind::NoFunction, "IN compares a value")),
        }
    }

    /// As [`Self::all_in_one_case`].
    pub(super) fn in_one_case<const N: usize>(&self, sides: [Expr; N]) -> Result<[Expr; N]> {
        let is_ignored = self.ignores_case(&sides)?;
        Ok(sides.map(|side| if is_ignored { self.small(side) } else { side }))
    }

    /// What is compared, in small letters where case does not count.
    ///
    /// # Errors
    /// [`Kind::Type`] where one side says that it counts, and another that it does not.
    pub(super) fn all_in_one_case(&self, sides: Vec<Expr>) -> Result<Vec<Expr>> {
        match self.ignores_case(&sides)? {
            true => Ok(sides.into_iter().map(|side| self.small(side)).collect()),
            false => Ok(sides),
        }
    }

    fn ignores_case(&self, sides: &[Expr]) -> Result<bool> {
        let (mut counts, mut ignored) = (false, false);
        for side in sides {
            match self.coercion_of(side) {
                Coercion::Explicit => return Ok(false),
                Coercion::Ignored => ignored = true,
                // A text in capitals is one whose case does not count.
                Coercion::Counts => counts |= !is_in_one_case(side),
                Coercion::None => {}
            }
        }
        match (counts, ignored) {
            (true, true) => {
                let why = "Collations do not match: one side of the comparison ignores case, the other does not. Add COLLATE ads_default_ci to it";
                Err(Error::new(Kind::Type, why))
            }
            (_, ignored) => Ok(ignored),
        }
    }

    /// A text in small letters; what is known to be no text stays.
    fn small(&self, side: Expr) -> Expr {
        let type_of = self.type_of(&side);
        match type_of.is_text() || type_of == Type::Unknown {
            true => Expr::Small(Box::new(side)),
            false => side,
        }
    }
}

/// Whether a function compares its arguments, and gives no text of them.
pub(super) fn compares(function: &str) -> bool {
    matches!(
        function,
        "AT" | "ATNUM" | "INSTR" | "LOCATE" | "OCCURS" | "POSITION" | "RAT"
    )
}

fn is_in_one_case(expr: &Expr) -> bool {
    matches!(expr, Expr::Call(function, _) if matches!(function.name, "LCASE" | "LOWER" | "UCASE" | "UPPER"))
}
