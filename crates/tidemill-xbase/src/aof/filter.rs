//! A condition compiled for a table.

use std::sync::Arc;

use crate::bitmap::Bitmap;
use crate::error::{Error, Result};
use crate::expression::{BinaryOperator, Environment, Program, RecordBytes, Syntax, SyntaxKind, Type, UnaryOperator, parse};
use crate::kernels::Block;
use crate::table::Table;

use super::evaluate::{evaluate, uses_memo};
use super::leaf::Leaf;

/// A condition compiled for the fields of a table. It is `Send` and `Sync`, and good for every handle of that table.
#[derive(Debug, Clone)]
pub struct Filter {
    program: Program,
    plan: Plan,
}

/// The condition, cut at its logical operators.
#[derive(Debug, Clone)]
pub(super) enum Plan {
    Leaf(Leaf),
    Not(Box<Plan>),
    And(Box<Plan>, Box<Plan>),
    Or(Box<Plan>, Box<Plan>),
}

impl Filter {
    /// Compiles a text.
    ///
    /// # Errors
    /// [`Error::Expression`] with the column of the fault: what does not parse, names no field or function, has operands of
    /// a type that does not fit, or is no condition.
    pub fn new(text: &str, table: &Table, environment: &Environment) -> Result<Self> {
        Self::from_syntax(&parse(text)?, table, environment)
    }

    /// Compiles a tree.
    ///
    /// # Errors
    /// As [`Filter::new`].
    pub fn from_syntax(syntax: &Syntax, table: &Table, environment: &Environment) -> Result<Self> {
        let program = Program::from_syntax(syntax, table.fields(), environment)?;
        if !matches!(program.type_of(), Type::Logical | Type::Null) {
            let found = format!("a value of type {}", program.type_of().letter());
            return Err(Error::expression(1, "a condition", found));
        }
        let plan = Plan::new(syntax, table, environment)?;
        Ok(Self { program, plan })
    }

    /// The whole condition for one record at a time.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The records that fulfil the condition, deleted ones too, by one pass over the table.
    ///
    /// # Errors
    /// When the table cannot be read, and for a field whose bytes are none of its values.
    pub fn bitmap(&self, table: &Arc<Table>) -> Result<Bitmap> {
        let mut words = Vec::with_capacity((table.record_count() as usize).div_ceil(64));
        table.visit_blocks(0..table.record_count(), |block| {
            words.extend(evaluate(&self.plan, table, &block)?.is_true);
            Ok(())
        })?;
        Ok(Bitmap::from_words(words, table.record_count()))
    }

    /// Whether one record fulfils the condition, given its bytes, which begin with the deletion flag.
    ///
    /// # Errors
    /// As [`Filter::bitmap`], and [`Error::Misuse`] for bytes that are not as long as a record.
    pub fn matches(&self, table: &Arc<Table>, recno: u32, bytes: &[u8]) -> Result<bool> {
        if bytes.len() != table.stride() {
            let (expected, found) = (table.stride(), bytes.len());
            return Err(Error::Misuse(format!("a record has {expected} bytes, not {found}")));
        }
        if !uses_memo(&self.program, table) {
            return self.program.matches(&RecordBytes::new(table, recno, bytes));
        }
        let block = Block {
            bytes,
            stride: table.stride(),
            first: recno.saturating_sub(1),
            len: 1,
        };
        let bits = evaluate(&self.plan, table, &block)?;
        Ok(bits.is_true.first().is_some_and(|word| word & 1 != 0))
    }
}

impl Plan {
    fn new(syntax: &Syntax, table: &Table, environment: &Environment) -> Result<Self> {
        Ok(match &syntax.kind {
            SyntaxKind::Unary(UnaryOperator::Not, operand) => Self::Not(Box::new(Self::new(operand, table, environment)?)),
            SyntaxKind::Binary(operator @ (BinaryOperator::And | BinaryOperator::Or), left, right) => {
                let left = Self::new(left, table, environment)?;
                let right = Self::new(right, table, environment)?;
                match operator {
                    BinaryOperator::Or => Self::Or(Box::new(left), Box::new(right)),
                    _ => left.and(right),
                }
            }
            _ => Self::Leaf(Leaf::new(syntax, table, environment)?),
        })
    }

    /// Both: one leaf where they are bounds of the same field.
    fn and(self, other: Self) -> Self {
        if let (Self::Leaf(left), Self::Leaf(right)) = (&self, &other)
            && let Some(both) = left.narrowed_by(right)
        {
            return Self::Leaf(both);
        }
        Self::And(Box::new(self), Box::new(other))
    }
}
