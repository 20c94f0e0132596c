//! A compiled expression: names bound to fields, types checked, constants folded.

use arrow_array::{ArrayRef, RecordBatch};

use super::coercion::{self, Coercion};
use super::environment::Environment;
use super::format::Shape;
use super::functions::{self, Function};
use super::letters::Letters;
use super::operators;
use super::parser::parse;
use super::record::{BlankRecord, Record, full_width, type_of};
use super::syntax::{BinaryOperator, Literal, Syntax, SyntaxKind, UnaryOperator};
use super::value::{Type, Value};
use crate::error::{Error, Result};
use crate::field::{Field, FieldKind};

/// The longest text that a function may make out of shorter ones: Clipper's limit.
pub(super) const MAX_MADE: usize = 65_535;

/// An expression compiled for the fields of a table. It is `Send` and `Sync`.
#[derive(Debug, Clone)]
pub struct Program {
    pub(crate) root: Node,
    pub(crate) slots: Vec<Slot>,
    pub(crate) environment: Environment,
    is_volatile: bool,
    blank: Value<'static>,
}

/// A field that the program uses.
#[derive(Debug, Clone)]
pub(crate) struct Slot {
    pub(super) name: String,
    /// Its place among the fields of the table.
    pub(crate) index: usize,
    pub(crate) nullable: bool,
    /// How long every text is, or 0.
    pub(super) width: usize,
}

/// A typed node.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(crate) kind: NodeKind,
    pub(crate) type_of: Type,
    pub(super) shape: Shape,
    /// How it takes the case of letters where it is compared.
    pub(super) coercion: Coercion,
    pub(super) column: u32,
}

#[derive(Debug, Clone)]
pub(crate) enum NodeKind {
    Constant(Value<'static>),
    /// By its slot.
    Field(usize),
    RecordNo,
    Deleted,
    Minus(Box<Node>),
    Not(Box<Node>),
    /// A text in small letters, as it is compared where case does not count.
    Small(Box<Node>),
    Binary(BinaryOperator, Box<Node>, Box<Node>),
    If(Box<[Node; 3]>),
    Call(&'static Function, Vec<Node>),
}

impl Program {
    /// Compiles a text for a table with these fields, for a filter or another use once.
    ///
    /// # Errors
    /// [`Error::Expression`] with the column of the fault: what does not parse, names no field or function, or has
    /// operands of a type that does not fit.
    pub fn compile(text: &str, fields: &[Field], environment: &Environment) -> Result<Self> {
        let syntax = parse(text)?;
        Self::from_syntax(&syntax, fields, environment)
    }

    /// Compiles a text for the key or the condition of an index, which must give the same for the same record whenever it
    /// is asked.
    ///
    /// # Errors
    /// As [`Program::compile`], and for `DATE()`, `TIME()` and their like, and for an expression that is always `.NULL.`.
    pub fn compile_key(text: &str, fields: &[Field], environment: &Environment) -> Result<Self> {
        let program = Self::compile(text, fields, environment)?;
        if program.is_volatile {
            let expected = "an expression that depends on the record alone";
            return Err(Error::expression(1, expected, "one that depends on the clock"));
        }
        if program.root.type_of == Type::Null {
            return Err(Error::expression(1, "an expression with a value", ".NULL."));
        }
        Ok(program)
    }

    /// Compiles a tree.
    ///
    /// # Errors
    /// As [`Program::compile`].
    pub fn from_syntax(syntax: &Syntax, fields: &[Field], environment: &Environment) -> Result<Self> {
        let mut compiler = Compiler {
            fields,
            environment,
            slots: Vec::new(),
            is_volatile: false,
        };
        let root = compiler.node(syntax)?;
        let (slots, is_volatile) = (compiler.slots, compiler.is_volatile);
        let mut program = Self {
            root,
            slots,
            environment: environment.clone(),
            is_volatile,
            blank: Value::Null,
        };
        program.blank = program.evaluate_record(&BlankRecord { fields })?.into_owned();
        Ok(program)
    }

    /// The type of the result.
    pub fn type_of(&self) -> Type {
        self.root.type_of
    }

    /// The fields that the expression uses, as places among the fields it was compiled for; a scan's projection.
    pub fn fields(&self) -> Vec<usize> {
        self.slots.iter().map(|slot| slot.index).collect()
    }

    /// Whether it is a field and nothing more.
    pub(crate) fn is_field(&self) -> bool {
        matches!(self.root.kind, NodeKind::Field(_))
    }

    /// Whether the result depends on the clock of the [`Environment`].
    pub fn is_volatile(&self) -> bool {
        self.is_volatile
    }

    /// The result for a blank record, as an append makes it.
    pub fn blank(&self) -> &Value<'static> {
        &self.blank
    }

    /// The bytes of a key: for a text its length over a blank record, as Clipper, FoxPro and Harbour size keys; 8 for
    /// numbers, dates and timestamps, 1 for logicals (the sizes of CDX; an NTX key of a number is as wide as
    /// [`Program::number_width`] says).
    pub fn key_len(&self) -> usize {
        match self.type_of() {
            Type::Character => self.blank.bytes().len(),
            Type::Logical => 1,
            _ => 8,
        }
    }

    /// Width and decimals of the text that `STR()` makes of the result without being told: the field's for a field, else
    /// 10 digits and what the operations leave of decimals.
    pub fn number_width(&self) -> (usize, u8) {
        let text = super::format::shaped(0.0, self.root.shape);
        (text.len(), self.root.shape.decimals)
    }

    /// The result for one record. The type is [`Program::type_of`], or the value is [`Value::Null`].
    ///
    /// # Errors
    /// What the record gives as an error, and [`Error::Expression`] for a text that grows too long.
    pub fn evaluate_record<'r>(&'r self, record: &'r dyn Record) -> Result<Value<'r>> {
        self.root.evaluate(Scope {
            slots: &self.slots,
            environment: &self.environment,
            record,
        })
    }

    /// Whether a record fulfils a condition: the result is true, not false and not `.NULL.`.
    ///
    /// # Errors
    /// As [`Program::evaluate_record`].
    pub fn matches(&self, record: &dyn Record) -> Result<bool> {
        Ok(self.evaluate_record(record)?.logical())
    }

    /// The result for every row of a batch, as an array of its length: Utf8, Float64, Boolean, Date32, Timestamp(ms) or
    /// Null by the type. Empty dates are null. `.NULL.` is null in every type.
    ///
    /// The batch has the columns of the fields (found by name, in any order, with or without trailing blanks, text as
    /// Utf8 or as bytes of the code page), and `_recno` and `_deleted` where the expression uses `RECNO()` and
    /// `DELETED()`.
    ///
    /// # Errors
    /// [`Error::Misuse`] for a column that is missing or has another type, [`Error::Expression`] for a text that grows
    /// too long.
    pub fn evaluate(&self, batch: &RecordBatch) -> Result<ArrayRef> {
        let vector = super::batch::evaluate(self, batch)?;
        vector.into_array(batch.num_rows(), Some(self.environment.codepage))
    }

    /// As [`Program::evaluate`], with texts as Binary: the bytes of the table's code page, which keys are made of.
    ///
    /// # Errors
    /// As [`Program::evaluate`].
    pub fn evaluate_bytes(&self, batch: &RecordBatch) -> Result<ArrayRef> {
        let vector = super::batch::evaluate(self, batch)?;
        vector.into_array(batch.num_rows(), None)
    }
}

impl Node {
    /// The value of a constant.
    pub(crate) fn constant(&self) -> Option<&Value<'static>> {
        match &self.kind {
            NodeKind::Constant(value) => Some(value),
            _ => None,
        }
    }

    /// The operations are functions of their own, so that the frames of this recursion stay small.
    fn evaluate<'r>(&'r self, scope: Scope<'r>) -> Result<Value<'r>> {
        match &self.kind {
            NodeKind::Constant(value) => Ok(borrowed(value)),
            NodeKind::Field(slot) => scope.field(*slot),
            NodeKind::RecordNo => Ok(Value::Number(f64::from(scope.record.record_no()))),
            NodeKind::Deleted => Ok(Value::Logical(scope.record.is_deleted())),
            NodeKind::Minus(operand) | NodeKind::Not(operand) => Ok(turned(operand.evaluate(scope)?)),
            NodeKind::Small(operand) => Ok(scope.small(operand.evaluate(scope)?)),
            NodeKind::Binary(operator, left, right) => scope.binary(*operator, left, right),
            NodeKind::If(parts) => scope.choose(parts)?.evaluate(scope),
            NodeKind::Call(function, arguments) => scope.call(function, arguments, self.column),
        }
    }
}

/// Where a node is evaluated.
#[derive(Clone, Copy)]
struct Scope<'r> {
    slots: &'r [Slot],
    environment: &'r Environment,
    record: &'r dyn Record,
}

impl<'r> Scope<'r> {
    fn field(self, slot: usize) -> Result<Value<'r>> {
        match self.slots.get(slot) {
            Some(slot) if self.environment.is_foxpro => self.record.foxpro_value(slot.index),
            Some(slot) => self.record.value(slot.index),
            None => Ok(Value::Null),
        }
    }

    fn binary(self, operator: BinaryOperator, left: &'r Node, right: &'r Node) -> Result<Value<'r>> {
        let left = left.evaluate(self)?;
        match (operator, &left) {
            (BinaryOperator::And, Value::Logical(false)) | (BinaryOperator::Or, Value::Logical(true)) => Ok(left),
            _ => Ok(operators::binary(
                operator,
                left,
                right.evaluate(self)?,
                self.environment,
            )),
        }
    }

    fn small(self, text: Value<'r>) -> Value<'r> {
        let letters = Letters::of(self.environment.codepage);
        match text {
            Value::Character(bytes) => {
                let small = bytes.iter().map(|byte| letters.lower()[usize::from(*byte)]);
                Value::text(small.collect::<Vec<u8>>())
            }
            other => other,
        }
    }

    fn choose(self, [condition, then, otherwise]: &'r [Node; 3]) -> Result<&'r Node> {
        let is_true = condition.evaluate(self)?.logical();
        Ok(if is_true { then } else { otherwise })
    }

    fn call(self, function: &Function, arguments: &'r [Node], column: u32) -> Result<Value<'r>> {
        let mut values = Vec::with_capacity(arguments.len());
        for argument in arguments {
            values.push(argument.evaluate(self)?);
        }
        let call = Call::new(self.environment, arguments);
        function.apply(&call, &mut values).map_err(|e| e.at(column))
    }
}

/// A number with the other sign, the other truth value.
fn turned(value: Value<'_>) -> Value<'_> {
    match value {
        Value::Number(n) => Value::Number(-n),
        Value::Logical(l) => Value::Logical(!l),
        _ => Value::Null,
    }
}

/// What a function knows beyond the values of its arguments.
pub(super) struct Call<'c> {
    pub(super) environment: &'c Environment,
    arguments: &'c [Node],
}

impl<'c> Call<'c> {
    pub(super) fn new(environment: &'c Environment, arguments: &'c [Node]) -> Self {
        Self { environment, arguments }
    }

    /// How `STR()` would show an argument.
    pub(super) fn shape(&self, argument: usize) -> Shape {
        self.arguments.get(argument).map_or(Shape::INTEGER, |a| a.shape)
    }
}

/// A text that would be longer than it may be.
pub(super) struct TooLong(pub(super) usize);

impl TooLong {
    pub(super) fn at(self, column: u32) -> Error {
        let expected = format!("a text of at most {MAX_MADE} bytes beyond its parts");
        Error::expression(column, expected, format!("{} bytes", self.0))
    }
}

/// The same value without a copy.
pub(super) fn borrowed<'a>(value: &'a Value<'_>) -> Value<'a> {
    match value {
        Value::Null => Value::Null,
        Value::Character(bytes) => Value::text(&**bytes),
        Value::Number(n) => Value::Number(*n),
        Value::Logical(l) => Value::Logical(*l),
        Value::Date(d) => Value::Date(*d),
        Value::Timestamp(t) => Value::Timestamp(*t),
    }
}

struct Compiler<'a> {
    fields: &'a [Field],
    environment: &'a Environment,
    slots: Vec<Slot>,
    is_volatile: bool,
}

impl Compiler<'_> {
    fn node(&mut self, syntax: &Syntax) -> Result<Node> {
        let column = syntax.column;
        let node = match &syntax.kind {
            SyntaxKind::Literal(literal) => self.literal(literal, column)?,
            SyntaxKind::Field { alias, name } => self.field(alias.as_deref(), name, column)?,
            SyntaxKind::Unary(operator, operand) => unary(*operator, self.node(operand)?, column)?,
            SyntaxKind::Binary(operator, left, right) => {
                let operands = (self.boxed(left)?, self.boxed(right)?);
                self.binary(*operator, operands, column)?
            }
            SyntaxKind::Call { name, arguments } => {
                let arguments = arguments.iter().map(|a| self.node(a)).collect::<Result<Vec<_>>>()?;
                self.call(name, arguments, column)?
            }
        };
        self.fold(node)
    }

    fn boxed(&mut self, syntax: &Syntax) -> Result<Box<Node>> {
        self.node(syntax).map(Box::new)
    }

    fn literal(&self, literal: &Literal, column: u32) -> Result<Node> {
        let mut shape = Shape::INTEGER;
        let value = match literal {
            Literal::Number(digits) => {
                let decimals = digits.split_once('.').map_or(0, |(_, fraction)| fraction.len());
                shape.decimals = u8::try_from(decimals).unwrap_or(u8::MAX).min(30);
                Value::Number(digits.parse().unwrap_or(0.0))
            }
            Literal::Text(text) => {
                let mut bytes = Vec::with_capacity(text.len());
                let expected = || format!("characters of {}", self.environment.codepage);
                let encoded = self.environment.codepage.encode(text, &mut bytes);
                encoded.map_err(|c| Error::expression(column, expected(), format!("{c:?}")))?;
                Value::text(bytes)
            }
            Literal::Logical(l) => Value::Logical(*l),
            Literal::Date(days) => days.map_or(Value::Date(0), Value::from_unix_days),
            Literal::Timestamp(ms) => Value::from_unix_ms(*ms),
            Literal::Null => Value::Null,
        };
        Ok(Node {
            type_of: value.type_of(),
            kind: NodeKind::Constant(value),
            shape,
            coercion: Coercion::None,
            column,
        })
    }

    fn field(&mut self, alias: Option<&str>, name: &str, column: u32) -> Result<Node> {
        if let Some(alias) = alias {
            let ours = match &self.environment.alias {
                Some(ours) => alias == ours,
                None => !matches!(alias, "M" | "MEMVAR"),
            };
            if !ours && !matches!(alias, "FIELD" | "_FIELD") {
                let expected = self.environment.alias.as_deref().unwrap_or("a field of the table");
                return Err(Error::expression(column, expected, format!("{alias}->{name}")));
            }
        }
        let found = Field::find(self.fields, name).or_else(|| match self.environment.is_foxpro {
            true => Field::find_shortened(self.fields, name),
            false => None,
        });
        let Some((index, field)) = found.and_then(|index| Some((index, self.fields.get(index)?))) else {
            return Err(Error::expression(column, "the name of a field", name));
        };
        let slot = match self.slots.iter().position(|slot| slot.index == index) {
            Some(slot) => slot,
            None => {
                self.slots.push(Slot {
                    name: field.name.clone(),
                    index,
                    nullable: field.nullable,
                    width: full_width(field),
                });
                self.slots.len() - 1
            }
        };
        Ok(Node {
            kind: NodeKind::Field(slot),
            type_of: type_of(field.kind),
            shape: shape_of(field),
            coercion: Coercion::of(field),
            column,
        })
    }

    fn binary(&self, operator: BinaryOperator, (left, right): (Box<Node>, Box<Node>), column: u32) -> Result<Node> {
        use BinaryOperator as B;
        use Type::{Character, Date, Logical, Null, Number, Timestamp};
        let (l, r) = (left.type_of, right.type_of);
        let type_of = match operator {
            B::And | B::Or => {
                demand(&left, &[Logical])?;
                demand(&right, &[Logical])?;
                Logical
            }
            B::Contains => {
                demand(&left, &[Character])?;
                demand(&right, &[Character])?;
                Logical
            }
            B::Times | B::Divide | B::Modulo | B::Power => {
                demand(&left, &[Number])?;
                demand(&right, &[Number])?;
                Number
            }
            B::Plus => {
                demand(&left, &[Character, Number, Date, Timestamp])?;
                match (l, r) {
                    (Number, Date | Timestamp) => r,
                    (Date | Timestamp, _) => {
                        demand(&right, &[Number])?;
                        l
                    }
                    (Null, _) => r,
                    _ => {
                        demand(&right, &[l])?;
                        l
                    }
                }
            }
            B::Minus => {
                demand(&left, &[Character, Number, Date, Timestamp])?;
                match (l, r) {
                    (Date | Timestamp, Date | Timestamp) => Number,
                    (Date | Timestamp, _) => {
                        demand(&right, &[Number])?;
                        l
                    }
                    (Null, _) => r,
                    _ => {
                        demand(&right, &[l])?;
                        l
                    }
                }
            }
            _ => {
                match (l, r) {
                    (Null, _) | (Date | Timestamp, Date | Timestamp) => {}
                    _ => demand(&right, &[l])?,
                }
                Logical
            }
        };
        let coercion = match type_of {
            Character => left.coercion.joined(right.coercion),
            _ => Coercion::None,
        };
        let (left, right) = match operator.compares() {
            true => self.in_one_case(left, right, column)?,
            false => (left, right),
        };
        let (a, b) = (left.shape.decimals, right.shape.decimals);
        let decimals = match operator {
            // A difference of timestamps has a fraction of a day.
            B::Minus if l == Timestamp || r == Timestamp => 8,
            B::Plus | B::Minus => a.max(b),
            B::Times => a.saturating_add(b).min(30),
            _ => self.environment.decimals,
        };
        let shape = Shape { whole: None, decimals };
        // Nothing comes of .NULL. but .NULL.
        let is_null = [l, r].contains(&Null) && !matches!(operator, B::And | B::Or);
        let kind = if is_null {
            NodeKind::Constant(Value::Null)
        } else {
            NodeKind::Binary(operator, left, right)
        };
        Ok(Node {
            kind,
            type_of: if is_null { Null } else { type_of },
            shape,
            coercion,
            column,
        })
    }

    /// What is compared, in one case where case does not count.
    fn in_one_case(&self, left: Box<Node>, right: Box<Node>, column: u32) -> Result<(Box<Node>, Box<Node>)> {
        match coercion::compared([left.coercion, right.coercion], column)? {
            true => Ok((Box::new(self.small(*left)?), Box::new(self.small(*right)?))),
            false => Ok((left, right)),
        }
    }

    /// A text in small letters.
    fn small(&self, node: Node) -> Result<Node> {
        if node.type_of != Type::Character {
            return Ok(node);
        }
        let (shape, coercion, column) = (node.shape, node.coercion, node.column);
        self.fold(Node {
            kind: NodeKind::Small(Box::new(node)),
            type_of: Type::Character,
            shape,
            coercion,
            column,
        })
    }

    fn call(&mut self, name: &str, mut arguments: Vec<Node>, column: u32) -> Result<Node> {
        let Some(function) = functions::find(name) else {
            return Err(Error::expression(column, "the name of a function", format!("{name}()")));
        };
        if let ("COLLATE", [_, _]) = (function.name, arguments.as_slice()) {
            return coercion::explicit(arguments, column);
        }
        function.check(&arguments, column)?;
        let type_of = function.result_type(&arguments);
        let shape = function.shape(&arguments, self.environment);
        self.is_volatile |= function.is_volatile(arguments.len());
        let coercions = arguments.iter().map(|argument| argument.coercion);
        let coercion = match type_of {
            Type::Character => coercions.clone().fold(Coercion::None, Coercion::joined),
            _ => Coercion::None,
        };
        if coercion::compares(function.name) && coercion::compared(coercions, column)? {
            let small = arguments.into_iter().map(|argument| self.small(argument));
            arguments = small.collect::<Result<Vec<_>>>()?;
        }
        let kind = match (function.name, <[Node; 3]>::try_from(arguments)) {
            ("RECNO", _) => NodeKind::RecordNo,
            ("DELETED", _) => NodeKind::Deleted,
            ("IIF" | "IF", Ok(parts)) => NodeKind::If(Box::new(parts)),
            (_, Ok(parts)) => NodeKind::Call(function, parts.into()),
            (_, Err(arguments)) => NodeKind::Call(function, arguments),
        };
        Ok(Node {
            kind,
            type_of,
            shape,
            coercion,
            column,
        })
    }

    /// A node whose operands are constants becomes one.
    fn fold(&self, node: Node) -> Result<Node> {
        let is_constant = |node: &Node| node.constant().is_some();
        let foldable = match &node.kind {
            NodeKind::Minus(operand) | NodeKind::Not(operand) | NodeKind::Small(operand) => is_constant(operand),
            NodeKind::Binary(_, left, right) => is_constant(left) && is_constant(right),
            NodeKind::If(parts) => parts.iter().all(is_constant),
            NodeKind::Call(_, arguments) => arguments.iter().all(is_constant),
            _ => false,
        };
        if !foldable {
            return Ok(node);
        }
        let (shape, coercion, column, type_of) = (node.shape, node.coercion, node.column, node.type_of);
        let scope = Scope {
            slots: &[],
            environment: self.environment,
            record: &BlankRecord { fields: &[] },
        };
        let value = node.evaluate(scope)?.into_owned();
        Ok(Node {
            kind: NodeKind::Constant(value),
            type_of,
            shape,
            coercion,
            column,
        })
    }
}

fn unary(operator: UnaryOperator, operand: Node, column: u32) -> Result<Node> {
    let (wanted, shape) = match operator {
        UnaryOperator::Minus => (Type::Number, operand.shape),
        UnaryOperator::Not => (Type::Logical, Shape::INTEGER),
    };
    demand(&operand, &[wanted])?;
    let kind = match operator {
        UnaryOperator::Minus => NodeKind::Minus(Box::new(operand)),
        UnaryOperator::Not => NodeKind::Not(Box::new(operand)),
    };
    Ok(Node {
        kind,
        type_of: wanted,
        shape,
        coercion: Coercion::None,
        column,
    })
}

/// Refuses a node of another type; `.NULL.` is of every type.
pub(super) fn demand(node: &Node, types: &[Type]) -> Result<()> {
    if node.type_of == Type::Null || types.contains(&node.type_of) {
        return Ok(());
    }
    let expected: Vec<&str> = types.iter().map(|t| t.noun()).collect();
    Err(Error::expression(
        node.column,
        expected.join(" or "),
        node.type_of.noun(),
    ))
}

fn shape_of(field: &Field) -> Shape {
    let decimals = field.decimals;
    let whole = match field.kind {
        FieldKind::Numeric | FieldKind::Float | FieldKind::NumericDouble => {
            let fraction = if decimals > 0 { usize::from(decimals) + 1 } else { 0 };
            u16::try_from(field.width.saturating_sub(fraction)).ok()
        }
        _ => None,
    };
    let decimals = if field.kind == FieldKind::Currency { 4 } else { decimals };
    Shape { whole, decimals }
}
