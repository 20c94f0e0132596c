//! Changes the fields of a table, and has the dictionary describe the new ones.

use std::path::Path;

use tidemill_xbase::{AdtType, Alteration, Field, FieldSpec, TableEditor};

use super::administration::{definition_of, found};
use super::indexes::Indexes;
use super::object::{Kind, Object, place};
use super::{Dictionary, file};
use crate::connection::Connection;
use crate::error::{Error, ErrorCode, Result};
use crate::settings::Settings;

impl Connection {
    /// Gives a table that is open exclusively another structure; the dictionary that has it describes the new one. Constraints and
    /// default values stay with their fields. [`Connection::note_keys`] follows when the table is closed.
    ///
    /// # Errors
    /// [`ErrorCode::PermissionDenied`]; [`ErrorCode::RestructureFailed`] for what a relation or a constraint forbids; as
    /// [`TableEditor::alter`]; when the dictionary cannot be written.
    pub(crate) fn alter(
        &mut self,
        editor: &mut TableEditor,
        alteration: Alteration,
        settings: &Settings,
    ) -> Result<()> {
        let Some(name) = self.dictionary_name(editor.path()) else {
            return Ok(editor.alter(&alteration)?);
        };
        let dictionary = self.dictionary_to_change()?;
        dictionary.renew()?;
        let number = dictionary.table(&name)?.number;
        let old = editor.fields().to_vec();
        dictionary.check_alteration(number, &old, &alteration)?;
        let alteration = alteration.within_dictionary();
        dictionary.change(settings, |changing| {
            editor.alter(&alteration)?;
            describe(changing, number, (&old, &alteration), editor)
        })?;
        self.statements.forget_names();
        Ok(())
    }

    /// Has the dictionary know the keys that the orders of a table have after its fields were changed.
    ///
    /// # Errors
    /// When the table cannot be read, or the dictionary cannot be written.
    pub(crate) fn note_keys(&mut self, path: &Path, settings: &Settings) -> Result<()> {
        let Some(name) = self.dictionary_name(path) else {
            return Ok(());
        };
        let now = Indexes::of(&self.area_to_relate(&name, settings)?, self.dictionary()?)?;
        let dictionary = self.dictionary_to_change()?;
        let number = dictionary.table(&name)?.number;
        dictionary.change(settings, |changing| now.renew(changing, number))
    }
}

impl Dictionary {
    /// Refuses a change after which a relation or a constraint would no longer fit the fields (SAP's help, `AdsRestructureTable`).
    ///
    /// # Errors
    /// [`ErrorCode::RestructureFailed`].
    fn check_alteration(&self, table: u32, old: &[Field], alteration: &Alteration) -> Result<()> {
        let refused = |what: String| Err(Error::new(ErrorCode::RestructureFailed, what));
        let condition = self.objects.iter().find(|object| object.number == table);
        let condition = condition.and_then(|object| object.values.text(place::TABLE_VALIDATION));
        let condition = condition.map(|text| file::CODEPAGE.decode(text)).unwrap_or_default();
        for (place, field) in old.iter().enumerate() {
            let mut fields = alteration.fields();
            let new = fields.find(|(_, from, _)| *from == Some(place));
            let spec = new.and_then(|(_, _, spec)| spec);
            let is_renamed = new.is_none_or(|(name, ..)| !name.eq_ignore_ascii_case(&field.name));
            let is_changed = new.is_none() || spec.is_some_and(|spec| !has_shape(field, spec));
            let relation = self.relation_over(table, &field.name).filter(|_| is_changed);
            if let Some(relation) = relation {
                return refused(format!(
                    "field {} is in a key of {relation}: drop that first",
                    field.name
                ));
            }
            let object = self
                .objects
                .iter()
                .find(|object| object.is(Kind::Field, table) && object.is_called(&field.name));
            let has_values = object.is_some_and(|object| RULES.iter().any(|place| object.values.get(*place).is_some()));
            let is_other = spec.is_some_and(|spec| Class::of_spec(spec) != Class::of(field));
            if has_values && is_other {
                return refused(format!(
                    "field {} would have another type, and it has constraints or a default value: remove them first",
                    field.name
                ));
            }
            if is_renamed && mentions(&condition, &field.name) {
                return refused(format!(
                    "field {} is in the condition that records of the table fulfil: remove that first",
                    field.name
                ));
            }
        }
        Ok(())
    }

    /// A relation that has a field of a table in one of its keys.
    fn relation_over(&self, table: u32, field: &str) -> Option<&Object> {
        let ends = [
            (place::RELATION_PARENT, place::RELATION_PARENT_KEY),
            (place::RELATION_CHILD, place::RELATION_CHILD_KEY),
        ];
        self.relations_of(table).find(|relation| {
            ends.iter().any(|(end, key)| {
                let key = relation.values.number(*key);
                let key = self
                    .objects
                    .iter()
                    .find(|object| object.kind == Kind::Key && Some(object.number) == key);
                let expression = key.and_then(|key| key.values.text(place::KEY_EXPRESSION));
                relation.values.number(*end) == Some(table)
                    && expression.is_some_and(|text| mentions(&file::CODEPAGE.decode(text), field))
            })
        })
    }
}

/// Describes the new fields of a table.
fn describe(
    changing: &mut file::Changing,
    table: u32,
    (old, alteration): (&[Field], &Alteration),
    editor: &TableEditor,
) -> Result<()> {
    let known = |field: &Field| {
        let mut objects = changing.objects().iter();
        let object = objects.find(|object| object.is(Kind::Field, table) && object.is_called(&field.name));
        object.cloned()
    };
    let before: Vec<Option<Object>> = old.iter().map(known).collect();
    let dialect = editor.header().dialect;
    let mut kept = Vec::new();
    for (number, (field, (_, from, _))) in (1..).zip(editor.fields().iter().zip(alteration.fields())) {
        let object = from.and_then(|from| before.get(from)?.clone());
        let is_new = object.is_none();
        let mut object = object.unwrap_or_else(|| {
            let mut object = Object::new(Kind::Field, table, &field.name);
            object.values.set(place::FIELD_OPTIONS, Some(vec![0; 4]));
            object
        });
        object.name.clone_from(&field.name);
        object
            .values
            .set(place::FIELD_DEFINITION, Some(definition_of(field, dialect)));
        let object = object.info(number);
        match is_new {
            true => _ = changing.add(object)?,
            false => {
                kept.push(object.number);
                changing.replace(&object)?;
            }
        }
    }
    let gone = before.into_iter().flatten().map(|object| object.number);
    gone.filter(|number| !kept.contains(number))
        .try_for_each(|number| changing.remove(number))?;
    let count = u16::try_from(editor.fields().len()).unwrap_or(u16::MAX);
    let mut object = found(changing, |object| object.number == table, "table")?;
    object
        .values
        .set(place::TABLE_FIELD_COUNT, Some(count.to_le_bytes().to_vec()));
    changing.replace(&object)
}

/// Of a field: what depends on its type.
const RULES: [usize; 3] = [place::FIELD_DEFAULT, place::FIELD_MINIMUM, place::FIELD_MAXIMUM];

/// Whether a field is what `spec` says already.
fn has_shape(field: &Field, spec: &FieldSpec) -> bool {
    match (field.adt_type, spec.in_adt) {
        (Some(own), Some(new)) => {
            let has_width = own.fixed_width().is_none();
            own == new.adt_type
                && (!has_width || field.width == usize::from(new.width))
                && field.decimals == new.decimals
        }
        _ => field.letter == spec.letter && field.width == usize::from(spec.width) && field.decimals == spec.decimals,
    }
}

/// Types whose values the same constraints fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Text,
    Number,
    Moment,
    Logical,
    Other,
}

impl Class {
    fn of(field: &Field) -> Self {
        match field.adt_type {
            Some(adt_type) => Self::of_adt(adt_type),
            None => Self::of_letter(field.letter),
        }
    }

    fn of_spec(spec: &FieldSpec) -> Self {
        match spec.in_adt {
            Some(field) => Self::of_adt(field.adt_type),
            None => Self::of_letter(spec.letter),
        }
    }

    fn of_letter(letter: char) -> Self {
        match letter {
            'C' | 'M' | 'V' => Self::Text,
            'N' | 'F' | 'I' | 'B' | 'Y' | '+' => Self::Number,
            'D' | 'T' | '@' | '=' => Self::Moment,
            'L' => Self::Logical,
            _ => Self::Other,
        }
    }

    fn of_adt(adt_type: AdtType) -> Self {
        match adt_type {
            AdtType::Character | AdtType::CiCharacter | AdtType::Memo | AdtType::VarCharFox => Self::Text,
            AdtType::NChar | AdtType::NVarChar | AdtType::NMemo => Self::Text,
            AdtType::Numeric | AdtType::Double | AdtType::CurDouble | AdtType::Money => Self::Number,
            AdtType::Integer | AdtType::ShortInteger | AdtType::LongInteger | AdtType::AutoIncrement => Self::Number,
            AdtType::Date | AdtType::Timestamp | AdtType::ModTime => Self::Moment,
            AdtType::Logical => Self::Logical,
            _ => Self::Other,
        }
    }
}

/// Whether an expression names a field, in any case.
fn mentions(expression: &str, field: &str) -> bool {
    let (expression, field) = (expression.to_lowercase(), field.to_lowercase());
    let is_part = |letter: Option<char>| letter.is_some_and(|letter| letter.is_alphanumeric() || letter == '_');
    expression.match_indices(&field).any(|(at, _)| {
        let before = expression.get(..at).and_then(|text| text.chars().next_back());
        let after = expression.get(at + field.len()..).and_then(|text| text.chars().next());
        !field.is_empty() && !is_part(before) && !is_part(after)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_named_as_a_word() {
        for (expression, field, is_named) in [
            ("pay > 0 .AND. Last Name <> NULL", "last name", true),
            ("PAY > 0", "pay", true),
            ("repay > payment", "pay", false),
            ("pay_1 > 0", "pay", false),
            ("upper(town)", "Town", true),
            ("a;b", "b", true),
            ("", "b", false),
        ] {
            assert_eq!(mentions(expression, field), is_named, "{field} in {expression}");
        }
    }
}
