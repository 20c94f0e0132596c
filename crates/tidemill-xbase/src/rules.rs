//! Rules that records are held to beyond the types of their fields: those of a data dictionary of Advantage, and those of a database
//! container of Visual FoxPro.
//!
//! Whoever opens a table compiles them ([`Rules::new`]) and gives them to its editor
//! ([`TableEditor::set_rules`](crate::TableEditor::set_rules)), so that they hold for every change that goes through it.
//!
//! A value of a rule is an expression without fields, or, where that cannot be one, the text itself: `10`, `'A'`, `A`, `TRUE`, `now()` (SAP's help,
//! `AdsDDSetFieldProperty`). Numbers are compared as doubles, texts by their bytes without the blanks at their ends, and those of fields
//! that know no case in small letters. A field that is NULL has no least and no greatest value. A condition that is NULL is not fulfilled, as
//! filters leave such records out (the help, "Null Field Values").
//!
//! In a container, default values are expressions only. Where one is not understood, new records have to be given a value. A field's
//! condition is checked when a record is inserted and when the value of the field changes, and the record's condition with every change
//! ("Knowing When Field-Level Rules Are Checked" of Visual FoxPro's documentation). A condition that is NULL is not fulfilled (Microsoft's
//! article Q135753).
//!
//! # What this module does not do
//!
//! What a change does to other tables is not said here.

use std::cmp::Ordering;

use crate::adt::AdtType;
use crate::error::{BrokenRule, Error, Result, RuleKind};
use crate::expression::{
    BinaryOperator, DAY_MS, Environment, Literal, Program, Record, RecordBytes, Syntax, SyntaxKind, Type,
    UnaryOperator, Value, parse, type_of,
};
use crate::field::{Field, FieldKind};
use crate::header::Dialect;
use crate::orders::{numbered, numbered_fields};
use crate::table::Table;

/// The rules of a table as they are written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RuleTexts {
    /// Those of fields.
    pub fields: Vec<FieldRuleTexts>,
    /// What every record fulfils. Default: nothing.
    pub condition: Option<String>,
    /// What is said where a record does not fulfil it.
    pub message: Option<String>,
    /// Whose rules they are.
    pub origin: RuleOrigin,
}

impl RuleTexts {
    /// Those that a table's database container has for it; `None` where it has none, or there is no container.
    pub fn of_container(table: &Table) -> Option<Self> {
        let known = table.container().table()?;
        let fields = table.fields().iter().zip(&known.fields);
        let fields = fields.filter(|(_, known)| known.default.is_some() || known.rule.is_some());
        let fields = fields.map(|(field, known)| FieldRuleTexts {
            field: field.name.clone(),
            default: known.default.clone(),
            condition: known.rule.clone(),
            message: known.rule_text.as_deref().and_then(spoken),
            ..FieldRuleTexts::default()
        });
        let texts = Self {
            fields: fields.collect(),
            condition: known.rule.clone(),
            message: known.rule_text.as_deref().and_then(spoken),
            origin: RuleOrigin::Container,
        };
        (!texts.fields.is_empty() || texts.condition.is_some()).then_some(texts)
    }
}

/// What keeps rules, which decides how they are read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum RuleOrigin {
    /// A data dictionary of Advantage: a value may be a bare text, and `= NULL` asks whether something is NULL.
    #[default]
    Dictionary,
    /// A database container of Visual FoxPro: a value is an expression, and what is compared with NULL is NULL.
    Container,
}

/// The rules of a field as they are written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FieldRuleTexts {
    /// The field.
    pub field: String,
    /// The value that a new record gets. Default: none.
    pub default: Option<String>,
    /// Whether it may not be NULL. Default: it may.
    pub is_required: bool,
    /// The least value.
    pub minimum: Option<String>,
    /// The greatest value.
    pub maximum: Option<String>,
    /// What its value fulfils in new records and wherever it changes: an expression over the fields of the record. Default: nothing.
    pub condition: Option<String>,
    /// What is said where a value does not fit.
    pub message: Option<String>,
}

/// The rules of a table, compiled.
#[derive(Debug, Clone)]
pub struct Rules {
    fields: Vec<FieldRules>,
    condition: Option<Formula>,
    message: Option<String>,
    environment: Environment,
    clock: fn() -> i64,
}

#[derive(Debug, Clone)]
struct FieldRules {
    field: usize,
    default: Option<Formula>,
    /// A default value that is not understood: new records have to be given one.
    unknown_default: Option<String>,
    is_required: bool,
    minimum: Option<Formula>,
    maximum: Option<Formula>,
    condition: Option<Formula>,
    message: Option<String>,
}

/// An expression, and how it was written.
#[derive(Debug, Clone)]
struct Formula {
    text: String,
    syntax: Syntax,
    program: Program,
}

impl Rules {
    /// Compiles the rules of a table. Expressions are compiled under `environment`, and those that depend on the time are asked anew
    /// whenever they are needed: `clock` gives milliseconds since 1970-01-01 00:00, local time.
    ///
    /// # Errors
    /// [`Error::Misuse`] with the rule for a field that is not there, for an expression that is none or has another type than its field, and
    /// for one that needs the memo file; not for a default value of a container.
    pub fn new(texts: &RuleTexts, table: &Table, environment: &Environment, clock: fn() -> i64) -> Result<Self> {
        let fields = table.fields();
        let compiled = texts.fields.iter().map(|rule| {
            let known = fields
                .iter()
                .position(|field| field.name.eq_ignore_ascii_case(&rule.field));
            let Some((index, field)) = known.and_then(|index| Some((index, fields.get(index)?))) else {
                return Err(refused(table, &rule.field, "there is no such field"));
            };
            let value = |what: &str, text: &Option<String>| {
                let value = text
                    .as_ref()
                    .map(|text| Formula::of_value(text, texts.origin, field, environment));
                value
                    .transpose()
                    .map_err(|why| refused(table, &format!("{what} of {}", field.name), &why))
            };
            let condition = rule.condition.as_ref().map(|text| {
                let formula = Formula::of_condition(text, texts.origin, table, environment);
                formula.map_err(|why| refused(table, &format!("the condition {text} of {}", field.name), &why))
            });
            let default = value("the default value", &rule.default);
            // One that calls a stored procedure, say, stops no change of records that are there.
            let is_unknown = default.is_err() && texts.origin == RuleOrigin::Container;
            let (default, unknown_default) = match is_unknown {
                true => (None, rule.default.clone()),
                false => (default?, None),
            };
            Ok(FieldRules {
                field: index,
                condition: condition.transpose()?,
                default,
                unknown_default,
                is_required: rule.is_required,
                minimum: value("the least value", &rule.minimum)?,
                maximum: value("the greatest value", &rule.maximum)?,
                message: rule.message.clone(),
            })
        });
        let fields = compiled.collect::<Result<Vec<_>>>()?;
        let condition = texts.condition.as_ref().map(|text| {
            let formula = Formula::of_condition(text, texts.origin, table, environment);
            formula.map_err(|why| refused(table, &format!("the condition {text}"), &why))
        });
        Ok(Self {
            fields,
            condition: condition.transpose()?,
            message: texts.message.clone(),
            environment: environment.clone(),
            clock,
        })
    }

    /// The values that a new record gets, by the places of their fields.
    ///
    /// # Errors
    /// As [`Program::evaluate_record`].
    pub(crate) fn defaults(&self) -> Result<Vec<(usize, Value<'static>)>> {
        let with_default = self
            .fields
            .iter()
            .filter_map(|rule| Some((rule.field, rule.default.as_ref()?)));
        with_default
            .map(|(field, value)| Ok((field, self.value(value)?)))
            .collect()
    }

    /// The places of the fields that have a default value.
    pub(crate) fn with_default(&self) -> Vec<usize> {
        let with_default = self.fields.iter().filter(|rule| rule.default.is_some());
        with_default.map(|rule| rule.field).collect()
    }

    /// Refuses a record that breaks a rule; `blank` is one without values, and `before` what the record was.
    ///
    /// # Errors
    /// [`Error::Rule`]; what evaluating finds.
    pub(crate) fn check(
        &self,
        table: &Table,
        record_no: u32,
        (bytes, blank): (&[u8], &[u8]),
        before: Option<&[u8]>,
    ) -> Result<()> {
        let record = RecordBytes::new(table, record_no, bytes);
        let broken = |rule, field: Option<&Field>, message: &Option<String>| {
            Err(Error::Rule(Box::new(BrokenRule {
                path: table.path().to_owned(),
                record: record_no,
                field: field.map(|field| field.name.clone()),
                rule,
                message: message.clone(),
            })))
        };
        for rules in &self.fields {
            let Some(field) = table.fields().get(rules.field) else {
                continue;
            };
            if let Some(default) = &rules.unknown_default
                && before.is_none()
                && !is_other(table, field, (bytes, blank))
            {
                return broken(RuleKind::Default(default.clone()), Some(field), &None);
            }
            if let Some(condition) = &rules.condition
                && before.is_none_or(|before| is_other(table, field, (bytes, before)))
                && !self.is_met(condition, table, &record)?
            {
                return broken(RuleKind::Condition(condition.text.clone()), Some(field), &rules.message);
            }
            if is_null(table, field, (bytes, blank)) {
                match rules.is_required {
                    true => return broken(RuleKind::Required, Some(field), &rules.message),
                    false => continue,
                }
            }
            let sides = [(&rules.minimum, Ordering::Less), (&rules.maximum, Ordering::Greater)];
            for (limit, beyond) in sides
                .into_iter()
                .filter_map(|(limit, beyond)| Some((limit.as_ref()?, beyond)))
            {
                if self.compared(&record.value(rules.field)?, &self.value(limit)?, field) == Some(beyond) {
                    let text = limit.text.clone();
                    let rule = match beyond {
                        Ordering::Less => RuleKind::Minimum(text),
                        _ => RuleKind::Maximum(text),
                    };
                    return broken(rule, Some(field), &rules.message);
                }
            }
        }
        match &self.condition {
            Some(condition) if !self.is_met(condition, table, &record)? => {
                broken(RuleKind::Condition(condition.text.clone()), None, &self.message)
            }
            _ => Ok(()),
        }
    }

    /// Whether a record fulfils a condition.
    fn is_met(&self, condition: &Formula, table: &Table, record: &RecordBytes<'_>) -> Result<bool> {
        match condition.program.is_volatile() {
            false => condition.program.matches(record),
            true => self.now(condition, &named_fields(table))?.matches(record),
        }
    }

    /// The value of a rule, now.
    fn value(&self, formula: &Formula) -> Result<Value<'static>> {
        let program = match formula.program.is_volatile() {
            true => &self.now(formula, &[])?,
            false => &formula.program,
        };
        Ok(program.evaluate_record(&NoRecord)?.into_owned())
    }

    fn now(&self, formula: &Formula, fields: &[Field]) -> Result<Program> {
        let environment = self.environment.clone().now((self.clock)());
        Program::from_syntax(&formula.syntax, fields, &environment)
    }

    /// How a value lies to a limit; `None` where one of them is NULL.
    fn compared(&self, value: &Value<'_>, limit: &Value<'_>, field: &Field) -> Option<Ordering> {
        match (value, limit) {
            (Value::Number(value), Value::Number(limit)) => value.partial_cmp(limit),
            (Value::Logical(value), Value::Logical(limit)) => Some(value.cmp(limit)),
            (Value::Date(value), Value::Date(limit)) => Some(value.cmp(limit)),
            (Value::Character(value), Value::Character(limit)) => {
                let folded = |bytes: &[u8]| match field.adt_type {
                    Some(AdtType::CiCharacter) => {
                        let lower = self.environment.letters.lower();
                        bytes.iter().map(|byte| lower[usize::from(*byte)]).collect()
                    }
                    _ => bytes.to_vec(),
                };
                Some(folded(value.trim_ascii_end()).cmp(&folded(limit.trim_ascii_end())))
            }
            _ => Some(moment(value)?.cmp(&moment(limit)?)),
        }
    }
}

/// Milliseconds of a date or a moment.
fn moment(value: &Value<'_>) -> Option<i64> {
    match value {
        Value::Timestamp(ms) => Some(*ms),
        Value::Date(day) => Some(day.saturating_mul(DAY_MS)),
        _ => None,
    }
}

/// Whether a field has no value, in tables without NULL too.
fn is_null(table: &Table, field: &Field, (bytes, blank): (&[u8], &[u8])) -> bool {
    if let Some(null) = table.fields.null_test(field) {
        return null.is_null(bytes);
    }
    let place = field.offset..field.offset + field.width;
    let has_blank = !matches!(
        field.kind,
        FieldKind::Integer | FieldKind::Double | FieldKind::Currency | FieldKind::Counter
    );
    has_blank && bytes.get(place.clone()) == blank.get(place)
}

/// Whether a field has another value than it had.
fn is_other(table: &Table, field: &Field, (bytes, before): (&[u8], &[u8])) -> bool {
    let place = field.offset..field.offset + field.width;
    let is_null = |bytes| table.fields.null_test(field).is_some_and(|null| null.is_null(bytes));
    bytes.get(place.clone()) != before.get(place) || is_null(bytes) != is_null(before)
}

/// What a rule's text says: a container keeps it as an expression. What is more than a text in quotation marks is not evaluated.
fn spoken(text: &str) -> Option<String> {
    match parse(text.trim()).ok()?.kind {
        SyntaxKind::Literal(Literal::Text(text)) => Some(text),
        _ => None,
    }
}

fn refused(table: &Table, what: &str, why: &str) -> Error {
    Error::Misuse(format!(
        "{}: a rule cannot be enforced: {what}: {why}",
        table.path().display()
    ))
}

impl Formula {
    /// A value of a field: an expression without fields, or in a dictionary the text itself.
    fn of_value(text: &str, origin: RuleOrigin, field: &Field, environment: &Environment) -> Result<Self, String> {
        let text = text.trim();
        let wanted = type_of(field.kind);
        let fits = |program: &Program| match (wanted, program.type_of()) {
            (_, Type::Null) => true,
            (Type::Date | Type::Timestamp, Type::Date | Type::Timestamp) => true,
            (wanted, found) => wanted == found,
        };
        let compiled = parse(text).and_then(|syntax| {
            let program = Program::from_syntax(&syntax, &[], environment)?;
            Ok((syntax, program))
        });
        let expected = format!(
            "expected a value of field {} of type {}, found {text}",
            field.name, field.letter
        );
        let (syntax, program) = match (compiled, wanted) {
            (Ok((syntax, program)), _) if fits(&program) => (syntax, program),
            (Err(error), _) if origin == RuleOrigin::Container => return Err(format!("{text}: {error}")),
            _ if origin == RuleOrigin::Container => return Err(expected),
            (_, Type::Character) => literal(Literal::Text(text.to_owned()), environment).ok_or(expected)?,
            (_, Type::Logical) => {
                let is_true = text.eq_ignore_ascii_case("true");
                if !is_true && !text.eq_ignore_ascii_case("false") {
                    return Err(expected);
                }
                literal(Literal::Logical(is_true), environment).ok_or(expected)?
            }
            _ => return Err(expected),
        };
        Ok(Self {
            text: text.to_owned(),
            syntax,
            program,
        })
    }

    /// A condition over the fields of a table, whose names may have blanks.
    fn of_condition(text: &str, origin: RuleOrigin, table: &Table, environment: &Environment) -> Result<Self, String> {
        let fields = named_fields(table);
        let named = match table.header().dialect {
            Dialect::Adt => numbered(text, table.fields()),
            _ => text.to_owned(),
        };
        let compiled = parse(&named).and_then(|syntax| {
            let syntax = match origin {
                RuleOrigin::Dictionary => with_null_tests(syntax),
                RuleOrigin::Container => syntax,
            };
            let program = Program::from_syntax(&syntax, &fields, environment)?;
            Ok((syntax, program))
        });
        let (syntax, program) = compiled.map_err(|error| error.to_string())?;
        if program.type_of() != Type::Logical {
            return Err(format!(
                "expected a condition, found an expression of type {}",
                program.type_of().letter()
            ));
        }
        let used = program.fields();
        let mut used = used.iter().filter_map(|field| table.fields().get(*field));
        if let Some(memo) = used.find(|field| field.kind.uses_memo()) {
            return Err(format!("the values of {} are in the memo file", memo.name));
        }
        Ok(Self {
            text: text.to_owned(),
            syntax,
            program,
        })
    }
}

/// The fields under the names that conditions have for them.
fn named_fields(table: &Table) -> Vec<Field> {
    match table.header().dialect {
        Dialect::Adt => numbered_fields(table.fields()),
        _ => table.fields().to_vec(),
    }
}

fn literal(literal: Literal, environment: &Environment) -> Option<(Syntax, Program)> {
    let syntax = Syntax {
        kind: SyntaxKind::Literal(literal),
        column: 1,
    };
    let program = Program::from_syntax(&syntax, &[], environment).ok()?;
    Some((syntax, program))
}

/// A tree in which `= NULL` and `<> NULL` ask whether something is NULL, as ADS has it.
fn with_null_tests(syntax: Syntax) -> Syntax {
    let Syntax { kind, column } = syntax;
    let node = |kind| Syntax { kind, column };
    let is_null = |side: &Syntax| side.kind == SyntaxKind::Literal(Literal::Null);
    match kind {
        SyntaxKind::Binary(
            operator @ (BinaryOperator::Equal | BinaryOperator::ExactlyEqual | BinaryOperator::NotEqual),
            left,
            right,
        ) if is_null(&left) != is_null(&right) => {
            let asked = if is_null(&right) { left } else { right };
            let test = node(SyntaxKind::Call {
                name: "ISNULL".to_owned(),
                arguments: vec![with_null_tests(*asked)],
            });
            match operator {
                BinaryOperator::NotEqual => node(SyntaxKind::Unary(UnaryOperator::Not, Box::new(test))),
                _ => test,
            }
        }
        SyntaxKind::Binary(operator, left, right) => node(SyntaxKind::Binary(
            operator,
            Box::new(with_null_tests(*left)),
            Box::new(with_null_tests(*right)),
        )),
        SyntaxKind::Unary(operator, operand) => node(SyntaxKind::Unary(operator, Box::new(with_null_tests(*operand)))),
        SyntaxKind::Call { name, arguments } => node(SyntaxKind::Call {
            name,
            arguments: arguments.into_iter().map(with_null_tests).collect(),
        }),
        kind => node(kind),
    }
}

/// What an expression without fields is asked over.
struct NoRecord;

impl Record for NoRecord {
    fn value(&self, _: usize) -> Result<Value<'_>> {
        Ok(Value::Null)
    }

    fn record_no(&self) -> u32 {
        0
    }

    fn is_deleted(&self) -> bool {
        false
    }
}
