//! Expressions whose names are bound: columns of a frame, parameters, functions.

use std::sync::Arc;

use tidemill_xbase as xbase;
use tidemill_xbase::{Dialect, Field, Table};

use super::arithmetic::Operator;
use super::conversion::Conversion;
use super::functions::Function;
use super::user_functions::UserFunction;
use super::value::{Type, Value};

/// A bound expression.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Expr {
    Value(Value),
    /// A parameter by its place, from 0.
    Parameter(usize),
    /// A column of the frame.
    Column(usize),
    RecordNumber,
    /// The 18 characters of ROWID.
    RowId,
    /// The number of the row in the answer, from 1.
    RowNumber,
    IsDeleted,
    Negate(Box<Expr>),
    Not(Box<Expr>),
    Arithmetic(Operator, Box<Expr>, Box<Expr>),
    Compare(Comparison, Box<Expr>, Box<Expr>),
    And(Box<Expr>, Box<Expr>),
    Or(Box<Expr>, Box<Expr>),
    Between(Box<[Expr; 3]>),
    In(Box<Expr>, Vec<Expr>),
    IsNull(Box<Expr>),
    /// Whether it is blank, or NULL.
    IsEmpty(Box<Expr>),
    Like {
        value: Box<Expr>,
        pattern: Box<Expr>,
        escape: Option<char>,
    },
    /// Conditions and values; the last value is that of `ELSE`.
    Case(Vec<(Expr, Expr)>, Box<Expr>),
    /// The first that is not NULL.
    Coalesce(Vec<Expr>),
    Cast(Box<Expr>, Box<Conversion>),
    /// A text in small letters, as it is compared where case does not count.
    Small(Box<Expr>),
    /// A text whose case counts wherever it is compared: `COLLATE ads_default_cs`.
    CaseCounts(Box<Expr>),
    Call(&'static Function, Vec<Expr>),
    /// A function of the data dictionary.
    User(Arc<UserFunction>, Vec<Expr>),
}

/// How two values are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Comparison {
    pub(super) fn holds(self, ordering: std::cmp::Ordering) -> bool {
        match self {
            Self::Equal => ordering.is_eq(),
            Self::NotEqual => ordering.is_ne(),
            Self::Less => ordering.is_lt(),
            Self::LessOrEqual => ordering.is_le(),
            Self::Greater => ordering.is_gt(),
            Self::GreaterOrEqual => ordering.is_ge(),
        }
    }

    /// What holds where it does not.
    pub(super) fn negated(self) -> Self {
        match self {
            Self::Equal => Self::NotEqual,
            Self::NotEqual => Self::Equal,
            Self::Less => Self::GreaterOrEqual,
            Self::LessOrEqual => Self::Greater,
            Self::Greater => Self::LessOrEqual,
            Self::GreaterOrEqual => Self::Less,
        }
    }

    /// With the sides exchanged.
    pub(super) fn turned(self) -> Self {
        match self {
            Self::Less => Self::Greater,
            Self::LessOrEqual => Self::GreaterOrEqual,
            Self::Greater => Self::Less,
            Self::GreaterOrEqual => Self::LessOrEqual,
            same => same,
        }
    }
}

/// A column of a frame, as binding sees it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Column {
    pub(super) name: String,
    /// Another name of a field, which its table's header has for it; empty where there is none.
    pub(super) short_name: String,
    pub(super) type_of: Type,
    pub(super) blank: Blank,
    /// Whether case does not count where it is compared: a CICharacter field.
    pub(super) ignores_case: bool,
}

impl Column {
    /// The place of a column by its name, in any case, or else by its short one.
    pub(super) fn find(columns: &[Self], name: &str) -> Option<usize> {
        let named = |of: fn(&Self) -> &str| columns.iter().position(|column| of(column).eq_ignore_ascii_case(name));
        named(|column| &column.name).or_else(|| named(|column| &column.short_name).filter(|_| !name.is_empty()))
    }
}

/// What the blank of a column is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Blank {
    /// The column can hold NULL, and a blank is none, or is NULL already where the table is read.
    Apart,
    /// The field cannot hold NULL, and `IS NULL` takes its blank for it: in tables of xBase.
    Null,
    /// The field was made without NULL and is never NULL: in tables of Visual FoxPro.
    Value,
}

impl Blank {
    /// That of a field ("NULL Values" in the help of ADS).
    pub(super) fn of(field: &Field, table: &Table) -> Self {
        match (field.nullable, table.header().dialect) {
            _ if table.blank() == xbase::Blank::Null => Self::Apart,
            (true, _) => Self::Apart,
            // Only what the table gives itself is never NULL in an ADT.
            (false, Dialect::VisualFoxPro | Dialect::Adt) => Self::Value,
            (false, _) => Self::Null,
        }
    }
}

impl Expr {
    /// Its type over a frame with these columns; a parameter has that of its value where there are values.
    pub(super) fn type_of(&self, columns: &[Column], parameters: &[Value]) -> Type {
        let of = |expr: &Self| expr.type_of(columns, parameters);
        match self {
            Self::Value(value) => value.type_of(),
            Self::Parameter(place) => parameters.get(*place).map_or(Type::Unknown, Value::type_of),
            Self::Column(index) => columns.get(*index).map_or(Type::Unknown, |column| column.type_of),
            Self::RecordNumber | Self::RowNumber => Type::Integer,
            Self::RowId => Type::Text(18),
            Self::Negate(operand) | Self::Small(operand) | Self::CaseCounts(operand) => of(operand),
            Self::IsDeleted
            | Self::Not(_)
            | Self::Compare(..)
            | Self::And(..)
            | Self::Or(..)
            | Self::Between(_)
            | Self::In(..)
            | Self::IsNull(_)
            | Self::IsEmpty(_)
            | Self::Like { .. } => Type::Logical,
            Self::Arithmetic(operator, left, right) => computed(*operator, of(left), of(right)),
            Self::Case(branches, otherwise) => branches
                .iter()
                .map(|(_, value)| of(value))
                .fold(of(otherwise), |all, one| all.with(one).unwrap_or(all)),
            Self::Coalesce(values) => values
                .iter()
                .map(of)
                .fold(Type::Unknown, |all, one| all.with(one).unwrap_or(all)),
            Self::Cast(_, conversion) => conversion.type_of(),
            Self::Call(function, arguments) => {
                let types: Vec<Type> = arguments.iter().map(of).collect();
                function.type_of(&types, arguments)
            }
            Self::User(function, _) => function.returns(),
        }
    }

    /// Calls `visit` for this expression and all that are in it.
    pub(super) fn visit(&self, visit: &mut impl FnMut(&Self)) {
        visit(self);
        match self {
            Self::Value(_)
            | Self::Parameter(_)
            | Self::Column(_)
            | Self::RecordNumber
            | Self::RowId
            | Self::RowNumber
            | Self::IsDeleted => {}
            Self::Negate(a)
            | Self::Not(a)
            | Self::IsNull(a)
            | Self::IsEmpty(a)
            | Self::Cast(a, ..)
            | Self::Small(a)
            | Self::CaseCounts(a) => {
                a.visit(visit);
            }
            Self::Arithmetic(_, a, b) | Self::Compare(_, a, b) | Self::And(a, b) | Self::Or(a, b) => {
                a.visit(visit);
                b.visit(visit);
            }
            Self::Like { value, pattern, .. } => {
                value.visit(visit);
                pattern.visit(visit);
            }
            Self::Between(parts) => parts.iter().for_each(|part| part.visit(visit)),
            Self::In(value, list) => {
                value.visit(visit);
                list.iter().for_each(|item| item.visit(visit));
            }
            Self::Case(branches, otherwise) => {
                for (condition, value) in branches {
                    condition.visit(visit);
                    value.visit(visit);
                }
                otherwise.visit(visit);
            }
            Self::Coalesce(values) | Self::Call(_, values) | Self::User(_, values) => {
                values.iter().for_each(|value| value.visit(visit))
            }
        }
    }

    /// The value, where it is a literal or a parameter that has one.
    pub(super) fn constant<'v>(&'v self, parameters: &'v [Value]) -> Option<&'v Value> {
        match self {
            Self::Value(value) => Some(value),
            Self::Parameter(place) => parameters.get(*place),
            _ => None,
        }
    }
}

pub(super) fn computed(operator: Operator, left: Type, right: Type) -> Type {
    use Type as T;
    match (operator, left, right) {
        (Operator::Plus, T::Text(0), T::Text(_)) | (Operator::Plus, T::Text(_), T::Text(0)) => T::Text(0),
        (Operator::Plus, T::Text(a), T::Text(b)) => T::Text(a.saturating_add(b)),
        (Operator::Plus, left, right) if left != T::Unknown && (left.is_text() || right == T::Memo) => T::Text(0),
        (Operator::Minus, T::Date, T::Date) => T::Integer,
        (Operator::Minus, T::Timestamp, T::Timestamp | T::Date) => T::Double,
        (_, T::Date | T::Timestamp, _) => left,
        (Operator::Plus, _, T::Date | T::Timestamp) => right,
        (Operator::Divide, ..) => T::Double,
        (Operator::Times, T::Decimal(a), T::Decimal(b)) if a.saturating_add(b) <= 30 => T::Decimal(a + b),
        (Operator::Times, T::Decimal(_), T::Decimal(_)) => T::Double,
        (_, left, right) => left.with(right).unwrap_or(T::Double),
    }
}
