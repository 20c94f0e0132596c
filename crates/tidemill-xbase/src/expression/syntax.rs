//! The tree of an expression, as it was written: names are not yet looked up.
//!
//! `Display` writes the tree back in one spelling (`.AND.`, `<>`, capital names), with no more parentheses than the
//! precedences need; parsing that gives an equal tree, but for one whose new parentheses nest deeper than
//! [`MAX_NESTING`](super::MAX_NESTING).
//!
//! Types and values are not known here: see `program`.

use std::fmt;

/// A node of the tree. Two nodes are equal when they mean the same; where they stood in the text does not count.
#[derive(Debug, Clone)]
pub struct Syntax {
    /// What it is.
    pub kind: SyntaxKind,
    /// The character of the text at which it begins (an operation: its operator), counted from 1.
    pub column: u32,
}

/// What a node is.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum SyntaxKind {
    /// A value written out.
    Literal(Literal),
    /// A field of the table.
    Field {
        /// What stands before `->`, in capitals.
        alias: Option<String>,
        /// The name in capitals.
        name: String,
    },
    /// An operation of one operand.
    Unary(UnaryOperator, Box<Syntax>),
    /// An operation of two operands.
    Binary(BinaryOperator, Box<Syntax>, Box<Syntax>),
    /// A function and its arguments.
    Call {
        /// The name in capitals, as it was written (names may be abbreviated).
        name: String,
        /// The arguments.
        arguments: Vec<Syntax>,
    },
}

/// A value written out.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Literal {
    /// Digits, with a point among them or not.
    Number(String),
    /// Text between quotes or brackets.
    Text(String),
    /// `.T.`, `.F.`.
    Logical(bool),
    /// `{^2024-01-31}`, `0d20240131`; days since 1970-01-01, `None` for `{}`.
    Date(Option<i32>),
    /// `{^2024-01-31 12:00:00}`: milliseconds since 1970-01-01 00:00.
    Timestamp(i64),
    /// `NIL`, `.NULL.`, `NULL`.
    Null,
}

/// An operation of one operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnaryOperator {
    /// `-`.
    Minus,
    /// `.NOT.`, `!`, `NOT`.
    Not,
}

/// An operation of two operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BinaryOperator {
    /// `.OR.`
    Or,
    /// `.AND.`
    And,
    /// `=`, which compares text as SET EXACT says.
    Equal,
    /// `==`
    ExactlyEqual,
    /// `<>`, `#`, `!=`: not `=`.
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
    /// `$`: the left text is in the right one.
    Contains,
    /// `+`
    Plus,
    /// `-`; of texts: the left one's trailing blanks go to the end.
    Minus,
    /// `*`
    Times,
    /// `/`
    Divide,
    /// `%`
    Modulo,
    /// `^`, `**`
    Power,
}

impl BinaryOperator {
    /// Whether it compares its operands, or looks for one in the other.
    pub(super) fn compares(self) -> bool {
        matches!(
            self,
            Self::Equal
                | Self::ExactlyEqual
                | Self::NotEqual
                | Self::Less
                | Self::LessOrEqual
                | Self::Greater
                | Self::GreaterOrEqual
                | Self::Contains
        )
    }

    /// How strongly it binds; all are left-associative. As in Harbour's `macro.y`: `=` and its kin bind weaker than `<`.
    pub(crate) fn precedence(self) -> u8 {
        match self {
            Self::Or => 1,
            Self::And => 2,
            Self::Equal | Self::ExactlyEqual | Self::NotEqual => 4,
            Self::Less | Self::LessOrEqual | Self::Greater | Self::GreaterOrEqual | Self::Contains => 5,
            Self::Plus | Self::Minus => 6,
            Self::Times | Self::Divide | Self::Modulo => 7,
            Self::Power => 8,
        }
    }

    /// Its usual spelling.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Or => ".OR.",
            Self::And => ".AND.",
            Self::Equal => "=",
            Self::ExactlyEqual => "==",
            Self::NotEqual => "<>",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
            Self::Contains => "$",
            Self::Plus => "+",
            Self::Minus => "-",
            Self::Times => "*",
            Self::Divide => "/",
            Self::Modulo => "%",
            Self::Power => "^",
        }
    }
}

impl UnaryOperator {
    pub(crate) fn precedence(self) -> u8 {
        match self {
            Self::Not => 3,
            // -2^2 is 4: the sign belongs to the number.
            Self::Minus => 9,
        }
    }
}

impl PartialEq for Syntax {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind
    }
}

impl Syntax {
    fn precedence(&self) -> u8 {
        match &self.kind {
            SyntaxKind::Unary(operator, _) => operator.precedence(),
            SyntaxKind::Binary(operator, ..) => operator.precedence(),
            _ => u8::MAX,
        }
    }

    fn operand(&self, f: &mut fmt::Formatter<'_>, needs_parentheses: bool) -> fmt::Result {
        if needs_parentheses {
            write!(f, "({self})")
        } else {
            write!(f, "{self}")
        }
    }
}

impl fmt::Display for Syntax {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            SyntaxKind::Literal(literal) => literal.fmt(f),
            SyntaxKind::Field { alias: None, name } => f.write_str(name),
            SyntaxKind::Field {
                alias: Some(alias),
                name,
            } => write!(f, "{alias}->{name}"),
            SyntaxKind::Unary(operator, operand) => {
                f.write_str(match operator {
                    UnaryOperator::Minus => "-",
                    UnaryOperator::Not => ".NOT. ",
                })?;
                operand.operand(f, operand.precedence() < operator.precedence())
            }
            SyntaxKind::Binary(operator, left, right) => {
                // `.NOT.` on the left would take the whole operation as its operand.
                left.operand(f, left.precedence() < operator.precedence())?;
                write!(f, " {} ", operator.symbol())?;
                right.operand(f, right.precedence() <= operator.precedence())
            }
            SyntaxKind::Call { name, arguments } => {
                write!(f, "{name}(")?;
                for (i, argument) in arguments.iter().enumerate() {
                    if i > 0 {
                        f.write_str(", ")?;
                    }
                    argument.fmt(f)?;
                }
                f.write_str(")")
            }
        }
    }
}

impl fmt::Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(digits) => f.write_str(digits),
            Self::Text(text) => match ["''", "\"\"", "[]"].iter().find(|q| !text.contains(&q[1..])) {
                Some(quotes) => write!(f, "{}{text}{}", &quotes[..1], &quotes[1..]),
                // A text with all three closing quotes cannot be written as one literal, nor come from one.
                None => write!(f, "'{text}'"),
            },
            Self::Logical(true) => f.write_str(".T."),
            Self::Logical(false) => f.write_str(".F."),
            Self::Date(None) => f.write_str("{}"),
            Self::Date(Some(days)) => {
                let (year, month, day) = crate::julian::civil_from_unix_days(*days);
                write!(f, "{{^{year:04}-{month:02}-{day:02}}}")
            }
            Self::Timestamp(ms) => {
                let days = i32::try_from(ms.div_euclid(86_400_000)).unwrap_or_default();
                let (year, month, day) = crate::julian::civil_from_unix_days(days);
                let ms = ms.rem_euclid(86_400_000);
                let (hour, minute, second) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1000 % 60);
                let ms = ms % 1000;
                write!(
                    f,
                    "{{^{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}.{ms:03}}}"
                )
            }
            Self::Null => f.write_str(".NULL."),
        }
    }
}
