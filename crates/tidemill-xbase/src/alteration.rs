//! How the structure of a table is to change.
//!
//! This module knows fields by name and nothing of records: [`TableEditor::alter`](crate::TableEditor::alter) does the work.

use crate::error::{Error, Result};
use crate::field::Field;
use crate::field_spec::FieldSpec;
use crate::memo::MemoDialect;

/// A new structure for a table, said as changes to the one it has.
///
/// ```
/// use tidemill_xbase::{Alteration, CivilDate, CreateOptions, EditOptions, FieldSpec, TableEditor, TableWriter, Value};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("items.dbf");
/// let today = CivilDate { year: 2026, month: 11, day: 21 };
/// let fields = [FieldSpec::new("CODE", 'C', 6, 0), FieldSpec::new("OLD", 'L', 1, 0)];
/// TableWriter::create(&path, &fields, &CreateOptions::new(today))?.finish()?;
/// let mut table = TableEditor::open(&path, &EditOptions::new(today))?;
/// table.append_values(&[(0, Value::Text("42"))])?;
///
/// let alteration = Alteration::of(table.fields())
///     .change_field("CODE", FieldSpec::new("NUMBER", 'N', 5, 0))?
///     .drop_field("OLD")?
///     .add_field(FieldSpec::new("NAME", 'C', 4, 0));
/// table.alter(&alteration)?;
/// assert_eq!(table.record_bytes(1)?, b"    42    ");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Alteration {
    pub(crate) columns: Vec<AlteredColumn>,
    pub(crate) memo: Option<MemoDialect>,
    /// Whether an ADT stays in its data dictionary.
    pub(crate) keeps_dictionary: bool,
}

/// A field of the new structure.
#[derive(Debug, Clone)]
pub(crate) struct AlteredColumn {
    pub(crate) name: String,
    /// The name in the header, of a field that has a longer one.
    short_name: Option<String>,
    /// The field of the old structure whose values it gets, by its index; `None` for a new field.
    pub(crate) from: Option<usize>,
    /// What it is to be; `None` where it stays what it was.
    pub(crate) spec: Option<FieldSpec>,
}

impl Alteration {
    /// The structure with these fields as they are.
    pub fn of(fields: &[Field]) -> Self {
        let kept = |(index, field): (usize, &Field)| AlteredColumn {
            name: field.name.clone(),
            short_name: Some(field.short_name.clone()),
            from: Some(index),
            spec: None,
        };
        Self {
            columns: fields.iter().enumerate().map(kept).collect(),
            memo: None,
            keeps_dictionary: false,
        }
    }

    /// Adds a field behind the others. It is blank in every record, or their numbers where it counts.
    #[must_use]
    pub fn add_field(mut self, spec: FieldSpec) -> Self {
        self.columns.push(AlteredColumn::new(spec));
        self
    }

    /// Adds a field before the one of this name.
    ///
    /// # Errors
    /// [`Error::Misuse`] when there is no such field.
    pub fn insert_field(mut self, before: &str, spec: FieldSpec) -> Result<Self> {
        let at = self.find(before)?;
        self.columns.insert(at, AlteredColumn::new(spec));
        Ok(self)
    }

    /// Drops a field with its values.
    ///
    /// # Errors
    /// As [`Alteration::insert_field`].
    pub fn drop_field(mut self, name: &str) -> Result<Self> {
        let at = self.find(name)?;
        self.columns.remove(at);
        Ok(self)
    }

    /// Gives a field another name.
    ///
    /// # Errors
    /// As [`Alteration::insert_field`].
    pub fn rename_field(mut self, name: &str, to: &str) -> Result<Self> {
        let at = self.find(name)?;
        if let Some(column) = self.columns.get_mut(at) {
            to.clone_into(&mut column.name);
        }
        Ok(self)
    }

    /// Makes a field what `spec` says, its name included; its values are converted.
    ///
    /// # Errors
    /// As [`Alteration::insert_field`].
    pub fn change_field(mut self, name: &str, spec: FieldSpec) -> Result<Self> {
        let at = self.find(name)?;
        if let Some(column) = self.columns.get_mut(at) {
            column.name.clone_from(&spec.name);
            column.spec = Some(spec);
        }
        Ok(self)
    }

    /// How the table keeps memos when it gets its first memo field. Default: DBT in dBASE IV tables, ADM in an ADT, FPT in all others.
    #[must_use]
    pub fn memo(mut self, dialect: MemoDialect) -> Self {
        self.memo = Some(dialect);
        self
    }

    /// Moves fields to places in the new structure, counted from 1; one behind the last is the last place. The other fields keep their
    /// order.
    ///
    /// # Errors
    /// As [`Alteration::insert_field`].
    pub fn place_fields(mut self, places: &[(String, usize)]) -> Result<Self> {
        let mut placed = Vec::with_capacity(places.len());
        for (name, place) in places {
            let at = self.find(name)?;
            placed.push((*place, self.columns.remove(at)));
        }
        placed.sort_by_key(|(place, _)| *place);
        for (place, column) in placed {
            let at = place.saturating_sub(1).min(self.columns.len());
            self.columns.insert(at, column);
        }
        Ok(self)
    }

    /// Lets an ADT belong to its data dictionary as before: the caller has the dictionary describe the new fields. Default: such a table
    /// is refused.
    #[must_use]
    pub fn within_dictionary(mut self) -> Self {
        self.keeps_dictionary = true;
        self
    }

    /// The fields of the new structure in their order: the name of each, the field of the old structure that it was, by its index, and
    /// what it is to be, where it does not stay what it was.
    pub fn fields(&self) -> impl Iterator<Item = (&str, Option<usize>, Option<&FieldSpec>)> {
        self.columns
            .iter()
            .map(|column| (column.name.as_str(), column.from, column.spec.as_ref()))
    }

    fn find(&self, name: &str) -> Result<usize> {
        let is_short = |column: &AlteredColumn| {
            let short = column.short_name.as_ref();
            short.is_some_and(|short| short.eq_ignore_ascii_case(name))
        };
        let by_name = self
            .columns
            .iter()
            .position(|column| column.name.eq_ignore_ascii_case(name));
        let found = by_name.or_else(|| self.columns.iter().position(is_short));
        found.ok_or_else(|| {
            let names: Vec<_> = self.columns.iter().map(|column| column.name.as_str()).collect();
            Error::Misuse(format!("no field {name} among {}", names.join(", ")))
        })
    }
}

impl AlteredColumn {
    fn new(spec: FieldSpec) -> Self {
        Self {
            name: spec.name.clone(),
            short_name: None,
            from: None,
            spec: Some(spec),
        }
    }
}
