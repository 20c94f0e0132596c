//! From names to what they mean: columns, parameters, functions, aggregates.

mod case;
mod cast;
mod coercion;
mod concat;
mod forms;
mod grouping;
mod literals;
mod null_test;
mod operands;
mod searched;

use std::sync::Arc;

pub(super) use searched::searched_columns;
use sqlparser::ast::{
    self, BinaryOperator as B, CastKind, DuplicateTreatment, FunctionArg, FunctionArgExpr, FunctionArguments, Ident,
    Spanned, UnaryOperator as U,
};
use sqlparser::tokenizer::Location;

use super::arithmetic::Operator;
use super::collate::{is_sensitive, upper};
use super::error::{Error, Kind, Result};
use super::expression::{Column, Comparison, Expr};
use super::functions;
use super::group::{Aggregate, AggregateKind, aggregate_of_engine};
use super::nesting::joined_in_pairs;
use super::user_functions::UserFunctions;
use super::value::{Type, Value};
use cast::{conversion, typed_literal};
use concat::orders_of;
use forms::disobeyed;
pub use forms::has_form;
pub use literals::literal_of_type;

/// How deep a bound expression nests.
const MAX_DEPTH: usize = 60;
/// The most operators of a chain like `a + b + c`.
const MAX_CHAIN: usize = 100;

/// What names mean while expressions are bound.
#[derive(Debug)]
pub(super) struct Scope<'s> {
    pub(super) columns: &'s [Column],
    /// What may stand before the point of a column's name.
    pub(super) qualifiers: Vec<String>,
    pub(super) parameters: &'s mut Parameters,
    /// Columns of groups, while what a grouped query shows is bound.
    pub(super) grouping: Option<Grouping>,
    /// The columns that have an index of words, where a search is over `*`.
    pub(super) searched: Vec<usize>,
    depth: usize,
}

/// The keys that rows are grouped by, and the aggregates that were met.
#[derive(Debug, Default, Clone)]
pub(super) struct Grouping {
    pub(super) keys: Vec<Expr>,
    pub(super) aggregates: Vec<Aggregate>,
}

/// The parameters of a statement: `?` by place, `:name` by name, and the variables of a script around it.
#[derive(Debug, Default, Clone)]
pub(super) struct Parameters {
    /// The names in capitals; `?1`, `?2`, … for those without.
    pub(super) names: Vec<String>,
    /// Names that stand for values of the script: variables, and columns of its cursors (`CURSOR.COLUMN`).
    pub(super) variables: Vec<String>,
    /// The functions of the data dictionary.
    pub(super) functions: Arc<UserFunctions>,
}

impl Parameters {
    pub(super) fn named(&mut self, name: &str) -> usize {
        let name = name.to_ascii_uppercase();
        let known = self.names.iter().position(|known| *known == name);
        known.unwrap_or_else(|| {
            self.names.push(name);
            self.names.len() - 1
        })
    }

    pub(super) fn variable(&mut self, name: &str) -> Option<usize> {
        let is_known = self.variables.iter().any(|known| known.eq_ignore_ascii_case(name));
        is_known.then(|| self.named(&format!("@@{name}")))
    }
}

impl<'s> Scope<'s> {
    pub(super) fn new(columns: &'s [Column], qualifiers: Vec<String>, parameters: &'s mut Parameters) -> Self {
        Self {
            columns,
            qualifiers,
            parameters,
            grouping: None,
            searched: Vec::new(),
            depth: 0,
        }
    }

    /// Binds an expression.
    ///
    /// # Errors
    /// [`Kind::NoColumn`], [`Kind::NoFunction`], [`Kind::Type`], [`Kind::Grouping`], [`Kind::NeedsAnalytical`] for subqueries and
    /// windows.
    pub(super) fn bind(&mut self, expr: &ast::Expr) -> Result<Expr> {
        if self.depth > MAX_DEPTH {
            return Err(Error::new(Kind::Limit, "The expression nests too deeply"));
        }
        self.depth += 1;
        let bound = self.bind_one(expr);
        self.depth -= 1;
        bound.map_err(|error| match (error.line_and_column(), error.kind()) {
            // Finding the place of an expression walks all of it.
            (Some(_), _) | (None, Kind::Limit) => error,
            (None, _) => error.at(expr.span().start),
        })
    }

    fn bind_one(&mut self, expr: &ast::Expr) -> Result<Expr> {
        if let Some(key) = self.group_key(expr) {
            return Ok(key);
        }
        if let Some(clause) = disobeyed(expr) {
            return Err(Error::new(
                Kind::Unsupported,
                format!("{clause} is not supported in ADS SQL"),
            ));
        }
        Ok(match expr {
            ast::Expr::Identifier(ident) => self.identifier(ident)?,
            ast::Expr::CompoundIdentifier(parts) => self.qualified(parts)?,
            ast::Expr::Nested(inner) => self.bind(inner)?,
            ast::Expr::Value(value) => self.value(&value.value)?,
            ast::Expr::BinaryOp { left, op, right } => self.binary(left, op, right)?,
            ast::Expr::Function(function) => self.function(function)?,
            ast::Expr::TypedString(_) | ast::Expr::UnaryOp { .. } => self.signed(expr)?,
            ast::Expr::Case { .. }
            | ast::Expr::Cast { .. }
            | ast::Expr::Convert { .. }
            | ast::Expr::Extract { .. }
            | ast::Expr::Ceil { .. }
            | ast::Expr::Floor { .. }
            | ast::Expr::Position { .. }
            | ast::Expr::Substring { .. }
            | ast::Expr::Trim { .. } => self.written_call(expr)?,
            other => self.predicate(other)?,
        })
    }

    // What follows is apart from the above so that the frames of this recursion stay small.

    fn signed(&mut self, expr: &ast::Expr) -> Result<Expr> {
        Ok(match expr {
            ast::Expr::TypedString(typed) => {
                let text = match &typed.value.value {
                    ast::Value::SingleQuotedString(text) => text,
                    _ => return Err(Error::new(Kind::Syntax, "Expected a literal in quotes")),
                };
                Expr::Value(typed_literal(&typed.data_type, text)?)
            }
            ast::Expr::UnaryOp { op, expr } => {
                let operand = self.bind(expr)?;
                match (op, operand) {
                    (U::Plus, operand) => operand,
                    (U::Minus, Expr::Value(literal)) if literal.type_of().is_number() => Expr::Value(literal.negated()),
                    (U::Minus, operand) => {
                        self.expect(&operand, Type::is_number, "numeric")?;
                        Expr::Negate(Box::new(operand))
                    }
                    (U::Not, operand) => Expr::Not(Box::new(self.condition(operand)?)),
                    (U::BitwiseNot, operand) => Expr::Arithmetic(
                        Operator::Xor,
                        Box::new(operand),
                        Box::new(Expr::Value(Value::Integer(-1))),
                    ),
                    (op, _) => return Err(Error::new(Kind::Unsupported, format!("There is no operator {op} here"))),
                }
            }
            other => return Err(unknown(other)),
        })
    }

    /// Functions and conversions that have a grammar of their own.
    fn written_call(&mut self, expr: &ast::Expr) -> Result<Expr> {
        Ok(match expr {
            ast::Expr::Case {
                operand,
                conditions,
                else_result,
                ..
            } => self.case(operand.as_deref(), conditions, else_result.as_deref())?,
            ast::Expr::Cast {
                kind, expr, data_type, ..
            } => {
                let is_try = matches!(kind, CastKind::TryCast | CastKind::SafeCast);
                Expr::Cast(Box::new(self.bind(expr)?), Box::new(conversion(data_type, is_try)?))
            }
            ast::Expr::Convert {
                expr,
                data_type: Some(data_type),
                ..
            } => Expr::Cast(Box::new(self.bind(expr)?), Box::new(conversion(data_type, false)?)),
            ast::Expr::Extract { field, expr, .. } => {
                let argument = self.bind(expr)?;
                self.call(&forms::function_of_part(field), vec![argument])?
            }
            ast::Expr::Ceil { expr, .. } => {
                let argument = self.bind(expr)?;
                self.call("CEILING", vec![argument])?
            }
            ast::Expr::Floor { expr, .. } => {
                let argument = self.bind(expr)?;
                self.call("FLOOR", vec![argument])?
            }
            ast::Expr::Position { expr, r#in } => {
                let arguments = vec![self.bind(expr)?, self.bind(r#in)?];
                self.call("POSITION", arguments)?
            }
            ast::Expr::Substring {
                expr,
                substring_from,
                substring_for,
                ..
            } => {
                let mut arguments = vec![self.bind(expr)?];
                arguments.push(match substring_from {
                    Some(from) => self.bind(from)?,
                    None => Expr::Value(Value::Integer(1)),
                });
                if let Some(length) = substring_for {
                    arguments.push(self.bind(length)?);
                }
                self.call("SUBSTRING", arguments)?
            }
            ast::Expr::Trim {
                expr,
                trim_where,
                trim_what,
                ..
            } => {
                let text = self.bind(expr)?;
                let what = trim_what.as_deref().map(|what| self.bind(what)).transpose()?;
                let what = what.unwrap_or(Expr::Value(Value::Text(" ".to_owned())));
                match trim_where {
                    Some(ast::TrimWhereField::Leading) => self.call("TRIM_LEADING", vec![what, text])?,
                    Some(ast::TrimWhereField::Trailing) => self.call("TRIM_TRAILING", vec![what, text])?,
                    _ if trim_what.is_none() => self.call("TRIM", vec![text])?,
                    _ => self.call("TRIM_BOTH", vec![what, text])?,
                }
            }
            other => return Err(unknown(other)),
        })
    }

    fn predicate(&mut self, expr: &ast::Expr) -> Result<Expr> {
        Ok(match expr {
            ast::Expr::Between {
                expr,
                negated,
                low,
                high,
            } => {
                let value = self.bind(expr)?;
                let (low, high) = (self.compared(low, &value)?, self.compared(high, &value)?);
                let sides = self.in_one_case([value, low, high])?;
                negated_if(*negated, Expr::Between(Box::new(sides)))
            }
            ast::Expr::InList { expr, list, negated } => {
                let value = self.bind(expr)?;
                let list = list.iter().map(|item| self.compared(item, &value));
                let list = list.collect::<Result<Vec<_>>>()?;
                negated_if(*negated, self.within(value, list)?)
            }
            ast::Expr::IsTrue(operand) => self.is_truth(operand, true)?,
            ast::Expr::IsFalse(operand) => self.is_truth(operand, false)?,
            ast::Expr::Like {
                negated,
                expr,
                pattern,
                escape_char,
                ..
            } => {
                let escape = match escape_char.as_ref().map(|escape| &escape.value) {
                    None => None,
                    Some(ast::Value::SingleQuotedString(text)) if text.chars().nth(1).is_none() => text.chars().next(),
                    Some(_) => return Err(Error::new(Kind::Syntax, "Expected a character after ESCAPE")),
                };
                let (value, pattern) = (self.bind(expr)?, self.bind(pattern)?);
                self.expect(&value, Type::is_text, "character")?;
                self.expect(&pattern, Type::is_text, "character")?;
                let [value, pattern] = self.in_one_case([value, pattern])?;
                let escape = match value {
                    // It stands in the pattern, which is in small letters.
                    Expr::Small(_) => escape.and_then(|escape| escape.to_lowercase().next()),
                    _ => escape,
                };
                let like = Expr::Like {
                    value: Box::new(value),
                    pattern: Box::new(pattern),
                    escape,
                };
                negated_if(*negated, like)
            }
            ast::Expr::ILike {
                negated,
                any,
                expr,
                pattern,
                escape_char,
            } => self.bind(&ast::Expr::Like {
                negated: *negated,
                any: *any,
                expr: Box::new(upper(expr.as_ref().clone())),
                pattern: Box::new(upper(pattern.as_ref().clone())),
                escape_char: escape_char.clone(),
            })?,
            ast::Expr::Subquery(_)
            | ast::Expr::InSubquery { .. }
            | ast::Expr::Exists { .. }
            | ast::Expr::AnyOp { .. }
            | ast::Expr::AllOp { .. } => {
                return Err(Error::needs_analytical("A subquery"));
            }
            // The other collation is written out when a statement is read.
            ast::Expr::Collate { expr, collation } if is_sensitive(collation) => {
                let text = self.bind(expr)?;
                self.expect(&text, Type::is_text, "character")?;
                Expr::CaseCounts(Box::new(text))
            }
            other => self.null_test(other)?,
        })
    }

    /// In a grouped query, what rows are grouped by is a column of the groups.
    fn group_key(&mut self, expr: &ast::Expr) -> Option<Expr> {
        let mut grouping = self.grouping.take()?;
        let key = self.bind_one(expr).ok().and_then(|bound| grouping.shown(&bound));
        self.grouping = Some(grouping);
        key
    }

    fn identifier(&mut self, ident: &Ident) -> Result<Expr> {
        let at = |error: Error| error.at(ident.span.start);
        let name = ident.value.as_str();
        if name.starts_with('@') || name.starts_with("::") {
            return self.variable(name).map_err(at);
        }
        let column = Column::find(self.columns, name);
        let variable = self.parameters.variable(name);
        match (column, variable) {
            (Some(_), Some(_)) => {
                let why = format!("Ambiguous reference: {name} is a column and a variable");
                Err(at(Error::new(Kind::Ambiguous, why)))
            }
            (None, Some(place)) => Ok(Expr::Parameter(place)),
            (Some(column), None) if self.grouping.is_some() => {
                let why = format!(
                    "Column {} is not grouped by",
                    self.columns.get(column).map_or(name, |c| &c.name)
                );
                Err(at(Error::new(Kind::Grouping, why)))
            }
            (Some(column), None) => Ok(Expr::Column(column)),
            (None, None) if name.to_ascii_uppercase().starts_with("SQL_TSI_") => {
                Ok(Expr::Value(Value::Text(name.to_ascii_uppercase())))
            }
            (None, None) => match name.to_ascii_uppercase().as_str() {
                "USER" | "CURRENT_DATE" | "CURRENT_TIME" | "CURRENT_TIMESTAMP" => self.call(name, Vec::new()),
                "ROWID" => Ok(Expr::RowId),
                _ if self.is_error_variable(name) => self.variable(name).map_err(at),
                _ => Err(at(self.no_column(name))),
            },
        }
    }

    fn no_column(&self, name: &str) -> Error {
        Error::no_column(name, self.columns.iter().map(|column| column.name.clone()))
    }

    fn is_error_variable(&self, name: &str) -> bool {
        ["__errclass", "__errcode", "__errtext"]
            .iter()
            .any(|known| known.eq_ignore_ascii_case(name))
    }

    fn variable(&mut self, name: &str) -> Result<Expr> {
        match self.parameters.variable(name) {
            Some(place) => Ok(Expr::Parameter(place)),
            None => match functions::find_variable(name) {
                Some(variable) => Ok(Expr::Call(variable, Vec::new())),
                None => Err(Error::new(Kind::NoColumn, format!("Variable not found: {name}"))),
            },
        }
    }

    fn qualified(&mut self, parts: &[Ident]) -> Result<Expr> {
        let Some((last, qualifier)) = parts.split_last() else {
            return Err(Error::new(Kind::NoColumn, "Column not found"));
        };
        let joined: Vec<&str> = qualifier.iter().map(|part| part.value.as_str()).collect();
        let joined = joined.join(".");
        if self.qualifiers.iter().any(|known| known.eq_ignore_ascii_case(&joined)) {
            return self.identifier(last);
        }
        let name = format!("{joined}.{}", last.value);
        match self.parameters.variable(&name) {
            Some(place) => Ok(Expr::Parameter(place)),
            None => Err(self
                .no_column(&name)
                .at(parts.first().map_or(Location::empty(), |part| part.span.start))),
        }
    }

    fn value(&mut self, value: &ast::Value) -> Result<Expr> {
        Ok(match value {
            ast::Value::Number(digits, _) => match Value::number(digits) {
                Some(number) => Expr::Value(number),
                None => return Err(Error::new(Kind::Syntax, format!("Invalid number: {digits}"))),
            },
            ast::Value::SingleQuotedString(text) | ast::Value::NationalStringLiteral(text) => {
                Expr::Value(Value::Text(text.clone()))
            }
            ast::Value::HexStringLiteral(digits) => {
                let digits: String = digits.chars().filter(|c| *c != ' ').collect();
                let bytes = (0..digits.len()).step_by(2).map(|at| {
                    digits
                        .get(at..at + 2)
                        .and_then(|pair| u8::from_str_radix(pair, 16).ok())
                });
                match bytes.collect::<Option<Vec<u8>>>() {
                    Some(bytes) => Expr::Value(Value::Bytes(bytes)),
                    None => return Err(Error::new(Kind::Syntax, "Expected pairs of hexadecimal digits")),
                }
            }
            ast::Value::Boolean(value) => Expr::Value(Value::Logical(*value)),
            ast::Value::Null => Expr::Value(Value::Null),
            ast::Value::Placeholder(name) => {
                let name = name.strip_prefix(':').unwrap_or(name).trim_matches('"');
                Expr::Parameter(self.parameters.named(name))
            }
            other => {
                return Err(Error::new(
                    Kind::Unsupported,
                    format!("ADS SQL has no literal like {other}"),
                ));
            }
        })
    }

    /// `a AND b AND c …` as a tree that is as flat as it can be, however long the chain is.
    fn chain(&mut self, left: &ast::Expr, op: &B, right: &ast::Expr) -> Result<Expr> {
        let (mut operands, mut rest) = (vec![right], left);
        while let ast::Expr::BinaryOp { left, op: same, right } = rest
            && same == op
        {
            operands.push(right);
            rest = left;
        }
        operands.push(rest);
        operands.reverse();
        let mut bound = Vec::with_capacity(operands.len());
        for operand in operands {
            let operand = self.bind(operand)?;
            bound.push(self.condition(operand)?);
        }
        let both: fn(Box<Expr>, Box<Expr>) -> Expr = if *op == B::And { Expr::And } else { Expr::Or };
        let whole = joined_in_pairs(bound, |left, right| both(Box::new(left), Box::new(right)));
        Ok(whole.unwrap_or(Expr::Value(Value::Null)))
    }

    /// `a + b * c - d`: the operators of one chain after another, not one within another.
    fn binary(&mut self, left: &ast::Expr, op: &B, right: &ast::Expr) -> Result<Expr> {
        if matches!(op, B::And | B::Or) {
            return self.chain(left, op, right);
        }
        let (mut links, mut first) = (vec![(op, right)], left);
        while let ast::Expr::BinaryOp { left, op, right } = first
            && !matches!(op, B::And | B::Or)
            && self.grouping.is_none()
        {
            if links.len() >= MAX_CHAIN {
                let why = format!("More than {MAX_CHAIN} operators in a row");
                return Err(Error::new(Kind::Limit, why));
            }
            links.push((op, right));
            first = left;
        }
        let mut bound = self.bind(first)?;
        for (op, right) in links.into_iter().rev() {
            let right = self.bind(right)?;
            bound = self.operation(bound, op, right)?;
        }
        Ok(bound)
    }

    fn operation(&mut self, left: Expr, op: &B, right: Expr) -> Result<Expr> {
        let (left, right) = match op {
            B::StringConcat => (left, right),
            _ => self.beside_each_other(left, right),
        };
        let comparison = match op {
            B::Eq => Some(Comparison::Equal),
            B::NotEq => Some(Comparison::NotEqual),
            B::Lt => Some(Comparison::Less),
            B::LtEq => Some(Comparison::LessOrEqual),
            B::Gt => Some(Comparison::Greater),
            B::GtEq => Some(Comparison::GreaterOrEqual),
            _ => None,
        };
        if let Some(comparison) = comparison {
            return self.comparison(comparison, left, right);
        }
        let operator = match op {
            B::StringConcat => {
                return self.call("CONCAT", vec![left, right]);
            }
            B::Plus => Operator::Plus,
            B::Minus => Operator::Minus,
            B::Multiply => Operator::Times,
            B::Divide => Operator::Divide,
            B::Modulo => Operator::Modulo,
            B::BitwiseAnd => Operator::And,
            B::BitwiseOr => Operator::Or,
            B::BitwiseXor => Operator::Xor,
            B::PGBitwiseShiftLeft => Operator::ShiftLeft,
            B::PGBitwiseShiftRight => Operator::ShiftRight,
            other => {
                return Err(Error::new(
                    Kind::Unsupported,
                    format!("There is no operator {other} here"),
                ));
            }
        };
        self.computable(operator, &left, &right)?;
        Ok(Expr::Arithmetic(operator, Box::new(left), Box::new(right)))
    }

    fn function(&mut self, function: &ast::Function) -> Result<Expr> {
        let name = match function.name.0.as_slice() {
            [part] => part
                .as_ident()
                .map_or_else(String::new, |ident| ident.value.to_ascii_uppercase()),
            parts => {
                let names = parts
                    .iter()
                    .map(|part| part.as_ident().map_or("", |ident| ident.value.as_str()));
                names.collect::<Vec<_>>().join(".")
            }
        };
        if function.over.is_some() {
            return Err(Error::needs_analytical("A window function"));
        }
        let (list, is_distinct): (&[FunctionArg], bool) = match &function.args {
            FunctionArguments::None => (&[], false),
            FunctionArguments::List(list) => (
                &list.args,
                list.duplicate_treatment == Some(DuplicateTreatment::Distinct),
            ),
            FunctionArguments::Subquery(_) => {
                return Err(Error::needs_analytical("A subquery"));
            }
        };
        if let Some(kind) = AggregateKind::of(&name) {
            return self.aggregate(kind, list, orders_of(&function.args), is_distinct);
        }
        // Another engine may have it, whatever its arguments are.
        if !is_operation(&name) && functions::find(&name).is_none() && self.parameters.functions.find(&name).is_none() {
            return Err(aggregate_of_engine(&name).unwrap_or_else(|| no_function(&name)));
        }
        if let Some(condition) = searched::condition_over_all(&name, list) {
            return self.search_over_all(&name, condition);
        }
        let mut arguments = Vec::with_capacity(list.len());
        for argument in list {
            match argument {
                FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => {
                    // Names that only functions know: LASTAUTOINC( STATEMENT ).
                    if name == "LASTAUTOINC" {
                        continue;
                    }
                    arguments.push(self.bind(expr)?);
                }
                _ => return Err(Error::new(Kind::NoFunction, format!("Invalid argument of {name}()"))),
            }
        }
        self.call(&name, arguments)
    }

    /// A function that is an operation of its own, or one of the list.
    fn call(&mut self, name: &str, mut arguments: Vec<Expr>) -> Result<Expr> {
        if name.eq_ignore_ascii_case("CONCAT") {
            let texts = arguments.into_iter().map(|argument| self.as_text(argument));
            arguments = texts.collect::<Result<_>>()?;
        }
        let wrong = |takes: &str| {
            let why = format!("{name}() takes {takes}, not {} arguments", arguments.len());
            Error::new(Kind::NoFunction, why)
        };
        Ok(match (name.to_ascii_uppercase().as_str(), arguments.as_slice()) {
            ("IIF" | "IF", [condition, then, otherwise]) => {
                let condition = self.condition(condition.clone())?;
                Expr::Case(vec![(condition, then.clone())], Box::new(otherwise.clone()))
            }
            ("IIF" | "IF", _) => return Err(wrong("a condition and two values")),
            ("IFNULL" | "ISNULL", [_, _]) | ("COALESCE", [_, ..]) => Expr::Coalesce(arguments),
            ("IFNULL" | "ISNULL", _) => return Err(wrong("two values")),
            ("NULLIF", [a, b]) => {
                let equal = self.equal(a.clone(), b.clone())?;
                Expr::Case(vec![(equal, Expr::Value(Value::Null))], Box::new(a.clone()))
            }
            ("EMPTY", [operand]) => Expr::IsEmpty(Box::new(operand.clone())),
            ("INLIST", [value, list @ ..]) => self.within(value.clone(), list.to_vec())?,
            ("DELETED", []) => Expr::IsDeleted,
            ("RECNO", []) => Expr::RecordNumber,
            ("ROWID", []) => Expr::RowId,
            ("ROWNUM", []) => Expr::RowNumber,
            (name, _) => {
                let Some(function) = functions::find(name) else {
                    if let Some(function) = self.parameters.functions.find(name) {
                        function.check(arguments.len())?;
                        return Ok(Expr::User(Arc::clone(function), arguments));
                    }
                    return Err(no_function(name));
                };
                let types: Vec<Type> = arguments.iter().map(|argument| self.type_of(argument)).collect();
                function.check(&types)?;
                if coercion::compares(function.name) {
                    arguments = self.all_in_one_case(arguments)?;
                }
                Expr::Call(function, arguments)
            }
        })
    }

    fn aggregate(
        &mut self,
        kind: AggregateKind,
        list: &[FunctionArg],
        order: &[ast::OrderByExpr],
        is_distinct: bool,
    ) -> Result<Expr> {
        let Some(mut grouping) = self.grouping.take() else {
            return Err(Error::new(Kind::Grouping, "An aggregate cannot stand here"));
        };
        let bound = match list {
            [FunctionArg::Unnamed(FunctionArgExpr::Wildcard)] if kind == AggregateKind::Count => Ok(None),
            [FunctionArg::Unnamed(FunctionArgExpr::Expr(expr))] => self.bind(expr).map(Some),
            [FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)), _, _] if kind == AggregateKind::Concat => {
                self.bind(expr).map(Some)
            }
            _ => Err(Error::new(Kind::NoFunction, "An aggregate takes one argument")),
        };
        let checked = bound.and_then(|argument| {
            if let (AggregateKind::Sum | AggregateKind::Average, Some(argument)) = (kind, &argument) {
                self.expect(argument, Type::is_number, "numeric")?;
            }
            let concat = match kind {
                AggregateKind::Concat => Some(self.concat(list, order)?),
                _ => None,
            };
            Ok((argument, concat))
        });
        let place = checked.map(|(argument, concat)| {
            let compares = is_distinct || matches!(kind, AggregateKind::Least | AggregateKind::Greatest);
            let compared = argument.as_ref().filter(|_| compares);
            let compared = compared.filter(|argument| argument.coercion(self.columns).ignores_case());
            grouping.place(Aggregate {
                kind,
                compared: compared.map(|argument| Expr::Small(Box::new(argument.clone()))),
                argument,
                is_distinct,
                concat,
            })
        });
        self.grouping = Some(grouping);
        place.map(Expr::Column)
    }

    /// The type of a bound expression, over the table or over groups.
    pub(super) fn type_of(&self, expr: &Expr) -> Type {
        match &self.grouping {
            None => expr.type_of(self.columns, &[]),
            Some(grouping) => expr.type_of(&grouping.columns(self.columns, &[]), &[]),
        }
    }

    pub(super) fn condition(&self, expr: Expr) -> Result<Expr> {
        self.expect(
            &expr,
            |type_of| matches!(type_of, Type::Logical | Type::Unknown),
            "logical",
        )?;
        Ok(expr)
    }

    fn expect(&self, expr: &Expr, fits: impl Fn(Type) -> bool, wanted: &str) -> Result<()> {
        let found = self.type_of(expr);
        match fits(found) {
            true => Ok(()),
            false => {
                let why = format!("Invalid operand: expected {wanted}, found {}", found.noun());
                Err(Error::new(Kind::Type, why))
            }
        }
    }
}

/// Whether [`Scope::call`] makes an operation of a function of this name.
fn is_operation(name: &str) -> bool {
    [
        "COALESCE", "DELETED", "EMPTY", "IF", "IFNULL", "IIF", "INLIST", "ISNULL", "NULLIF", "RECNO", "ROWID", "ROWNUM",
    ]
    .contains(&name)
}

fn no_function(name: &str) -> Error {
    Error::new(Kind::NoFunction, format!("Scalar function not found: {name}"))
}

fn unknown(expr: &ast::Expr) -> Error {
    Error::new(Kind::NoExpression, format!("ADS SQL has no expression like {expr}"))
}

fn negated_if(negated: bool, expr: Expr) -> Expr {
    match negated {
        true => Expr::Not(Box::new(expr)),
        false => expr,
    }
}
