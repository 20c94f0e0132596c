//! The rules that a dictionary has for its tables: which of them there are, and that they hold.

use std::path::Path;
use std::sync::Arc;

use tidemill_xbase::expression::Letters;
use tidemill_xbase::{FieldRuleTexts, OpenOptions, RuleTexts, Rules, Table, TableEditor};

use super::file::CODEPAGE;
use super::object::{Kind, Object, place};
use super::property::Validation;
use super::{Dictionary, DictionaryTable};
use crate::error::{Error, ErrorCode, Result};
use crate::settings::{Settings, local_now};
use crate::triggers::{Guard, Runner};
use crate::work_area::{TableOptions, edit_options};

impl Dictionary {
    /// Holds one of its tables to its rules.
    ///
    /// # Errors
    /// [`ErrorCode::TableReadOnly`] for a rule that cannot be enforced.
    pub(crate) fn enforce(&self, editor: &mut TableEditor, runner: &Arc<Runner>, settings: &Settings) -> Result<()> {
        let Some(table) = self.table_at(editor.path()) else {
            return Ok(());
        };
        self.check_known(table)?;
        let texts = texts_of(&self.objects, table.number);
        let rules = match texts == RuleTexts::default() {
            true => None,
            false => {
                let rules = compiled(&texts, editor.opened(), settings);
                Some(rules.map_err(|error| self.read_only(&table.name, &error.to_string()))?)
            }
        };
        let keeper = match self.keeper(table.number, runner, settings) {
            Err(rule) if !runner.keeps_relations() => Some(super::relations::unkept(rule, runner)),
            keeper => keeper.map_err(|rule| self.read_only(&table.name, &format!("{rule} is not enforced")))?,
        };
        editor.set_rules(rules);
        editor.set_follower(match self.triggers_at(editor.path()) {
            Some(triggers) => Some(Box::new(Guard::new(triggers, runner, keeper))),
            None => keeper,
        });
        Ok(())
    }

    /// Refuses to change a table with rules that are not known.
    ///
    /// # Errors
    /// [`ErrorCode::TableReadOnly`], with the rule.
    pub(super) fn check_known(&self, table: &DictionaryTable) -> Result<()> {
        match self.unenforced(table) {
            None => Ok(()),
            Some(rule) => Err(self.read_only(&table.name, &format!("{rule} is not enforced"))),
        }
    }

    fn read_only(&self, table: &str, why: &str) -> Error {
        let what = format!(
            "table {table} of the data dictionary {} is read and not changed: {why}",
            self.file.display()
        );
        Error::new(ErrorCode::TableReadOnly, what)
    }

    /// A rule of a table that is not enforced.
    pub(super) fn unenforced(&self, table: &DictionaryTable) -> Option<String> {
        let object = self.objects.iter().find(|object| object.number == table.number)?;
        if let Some(Err(trigger)) = self.triggers.get(&table.number) {
            return Some(trigger.clone());
        }
        if let Some(place) = object.values.places().find(|place| !place::TABLE_KNOWN.contains(place)) {
            return Some(format!("the property at place {place}, which is not known,"));
        }
        let fields = self.children(Kind::Field, table.number);
        let unknown = fields.into_iter().find_map(|field| {
            let place = field
                .values
                .places()
                .find(|place| *place > place::FIELD_OPTIONS && *place != place::USER_DEFINED)?;
            Some(format!("the property at place {place} of {field}, which is not known,"))
        });
        if unknown.is_some() {
            return unknown;
        }
        let key = self.primary_key(object)?;
        let index = key.refers_to()?;
        let has_file = self
            .objects
            .iter()
            .any(|object| object.is(Kind::Index, table.number) && object.number == index);
        let is_there = table.indexes.iter().all(|index| index.is_file());
        (!has_file || !is_there).then(|| format!("the primary key {}, whose index file is missing,", key.name))
    }
}

impl Dictionary {
    /// The rules of the table of a file, for records that are on their way to it in another table of the same fields.
    ///
    /// # Errors
    /// As [`Dictionary::enforce`].
    pub(crate) fn rules_for(&self, path: &Path, table: &Table, settings: &Settings) -> Result<Option<Rules>> {
        let Some(known) = self.table_at(path) else {
            return Ok(None);
        };
        let texts = texts_of(&self.objects, known.number);
        match texts == RuleTexts::default() {
            true => Ok(None),
            false => Ok(Some(compiled(&texts, table, settings)?)),
        }
    }
}

/// Compiles rules of a table.
pub(crate) fn compiled(texts: &RuleTexts, table: &Table, settings: &Settings) -> Result<Rules, tidemill_xbase::Error> {
    let codepage = table.codepage();
    let stem = table.path().file_stem().unwrap_or_default().to_string_lossy();
    let environment = settings.environment(codepage, &Letters::of(codepage), &stem);
    Rules::new(texts, table, &environment, local_now)
}

/// Whether rules that a table is to have can be enforced, and where that is asked for, whether its records fulfil them.
///
/// # Errors
/// [`ErrorCode::InvalidConstraint`] for a rule that cannot; [`ErrorCode::ConstraintValidation`] for a record that does not.
pub(super) fn check(texts: &RuleTexts, path: &Path, validation: Validation, settings: &Settings) -> Result<()> {
    let options = TableOptions::default().read_only();
    let mut editor = TableEditor::open(path, &edit_options(&options, settings, OpenOptions::new()))?;
    let rules = compiled(texts, editor.opened(), settings);
    let rules = rules.map_err(|error| Error::new(ErrorCode::InvalidConstraint, error.to_string()))?;
    if validation == Validation::None {
        return Ok(());
    }
    editor.set_rules(Some(rules));
    editor.check_records().map_err(|error| match error {
        tidemill_xbase::Error::Rule(_) => {
            let kept = match validation {
                Validation::Remove => "; records that break a new rule are not removed",
                _ => "",
            };
            Error::new(ErrorCode::ConstraintValidation, format!("{error}{kept}"))
        }
        error => error.into(),
    })
}

/// The rules of a table as they are written.
pub(super) fn texts_of(objects: &[Object], table: u32) -> RuleTexts {
    let text = |object: &Object, place| {
        let text = object.values.text(place).filter(|text| !text.is_empty());
        text.map(|text| CODEPAGE.decode(text))
    };
    let table_object = objects
        .iter()
        .find(|object| object.kind == Kind::Table && object.number == table);
    let fields = objects
        .iter()
        .filter(|object| object.is(Kind::Field, table))
        .map(|field| FieldRuleTexts {
            field: field.name.clone(),
            default: text(field, place::FIELD_DEFAULT),
            is_required: field.values.get(place::FIELD_NOT_NULL).is_some(),
            minimum: text(field, place::FIELD_MINIMUM),
            maximum: text(field, place::FIELD_MAXIMUM),
            message: text(field, place::FIELD_MESSAGE),
            ..FieldRuleTexts::default()
        });
    let has_rule = |rules: &FieldRuleTexts| {
        rules.is_required || rules.default.is_some() || rules.minimum.is_some() || rules.maximum.is_some()
    };
    RuleTexts {
        fields: fields.filter(has_rule).collect(),
        condition: table_object.and_then(|table| text(table, place::TABLE_VALIDATION)),
        message: table_object.and_then(|table| text(table, place::TABLE_MESSAGE)),
        ..RuleTexts::default()
    }
}
