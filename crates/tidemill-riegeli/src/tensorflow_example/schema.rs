//! Which columns there are, by a sample of records.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    fmt,
    sync::Arc,
};

use arrow_schema::{Field, Schema, SchemaRef};

use super::{
    ExampleError, ExampleKind, ExampleProblem, FeatureKind, MAX_FEATURES,
    column::{Shape, data_type},
    message::{Feature, Part, Section, visit_entries, visit_features},
};
use crate::{Error, Result};

/// Finds the columns of records: one for each feature that some record of a sample has. See the [module](super) for their types.
#[derive(Clone, Debug)]
pub struct ExampleSampler {
    kind: ExampleKind,
    features: BTreeMap<Section, BTreeMap<String, Seen>>,
    records: usize,
}

/// What the records of a sample have for a feature.
#[derive(Clone, Copy, Debug)]
struct Seen {
    /// The type of the values; of an empty list, as long as there are no others.
    kind: Option<FeatureKind>,
    has_values: bool,
    /// Whether each list of values has one.
    is_single: bool,
}

impl ExampleSampler {
    /// Begins with no records.
    #[must_use]
    pub fn new(kind: ExampleKind) -> Self {
        Self {
            kind,
            features: BTreeMap::new(),
            records: 0,
        }
    }

    /// Returns how many records were looked at.
    #[must_use]
    pub fn len(&self) -> usize {
        self.records
    }

    /// Returns whether no records were looked at.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.records == 0
    }

    /// Looks at a record, which errors call `place`, such as "record 17".
    ///
    /// # Errors
    /// [`Error::Example`] for a record that is not such a message, whose feature has values of another type than in records before,
    /// and when there are more than [`MAX_FEATURES`] features.
    pub fn add(&mut self, record: &[u8], place: impl fmt::Display) -> Result<()> {
        self.records += 1;
        let mut feature = None;
        let added = visit_entries(self.kind, record, |section, name, part| {
            feature = Some(name);
            self.see(section, name, &part, record)?;
            feature = None;
            Ok(())
        });
        added.map_err(|problem| ExampleError::of(place, feature, problem))
    }

    fn see(&mut self, section: Section, name: &str, part: &Part, record: &[u8]) -> Result<(), ExampleProblem> {
        let features = self.features.entry(section).or_default();
        let is_full = features.len() >= MAX_FEATURES;
        let bytes = part.bytes(record).unwrap_or_default();
        let seen = match features.get_mut(name) {
            Some(seen) => seen,
            None if is_full => return Err(ExampleProblem::TooMany { limit: MAX_FEATURES }),
            None => features.entry(name.to_owned()).or_insert(Seen {
                kind: None,
                has_values: false,
                is_single: true,
            }),
        };
        match section {
            // One that is not set counts as absent.
            Section::Features => match Feature::new(bytes)? {
                feature if feature.kind.is_some() => seen.see(&feature),
                _ => Ok(()),
            },
            Section::FeatureLists => visit_features(bytes, |feature| seen.see(&feature)),
        }
    }

    /// Returns the columns. A feature that never has a type, since it is never set, has none.
    #[must_use]
    pub fn finish(self) -> ExampleSchema {
        let mut columns = Vec::new();
        let mut names = HashSet::new();
        let mut fields = Vec::new();
        for (section, features) in self.features {
            for (name, seen) in features {
                let Some(kind) = seen.kind else { continue };
                let shape = match (section, seen.is_single) {
                    (Section::Features, true) => Shape::Value,
                    (Section::Features, false) | (Section::FeatureLists, true) => Shape::List,
                    (Section::FeatureLists, false) => Shape::ListOfLists,
                };
                let mut column = name.clone();
                while !names.insert(column.clone()) {
                    column.insert_str(0, "feature_lists.");
                }
                fields.push(Field::new(column, data_type(kind, shape), true));
                columns.push(FeatureColumn {
                    section,
                    name,
                    kind,
                    shape,
                });
            }
        }
        let by_name = |section: Section| {
            let of_section = columns
                .iter()
                .enumerate()
                .filter(|(_, column): &(_, &FeatureColumn)| column.section == section);
            of_section
                .map(|(number, column)| (column.name.clone(), number))
                .collect()
        };
        ExampleSchema(Arc::new(Inner {
            kind: self.kind,
            schema: Arc::new(Schema::new(fields)),
            features: by_name(Section::Features),
            feature_lists: by_name(Section::FeatureLists),
            columns,
        }))
    }
}

impl Seen {
    fn see(&mut self, feature: &Feature<'_>) -> Result<(), ExampleProblem> {
        let count = feature.count()?;
        self.is_single &= count == 1;
        match (self.kind, feature.kind) {
            (Some(expected), Some(found)) if count > 0 && self.has_values && expected != found => {
                return Err(ExampleProblem::Kind { expected, found });
            }
            (_, Some(found)) if count > 0 || self.kind.is_none() => self.kind = Some(found),
            _ => {}
        }
        self.has_values |= count > 0;
        Ok(())
    }
}

/// The columns of records that are examples. Clones share them.
#[derive(Clone, Debug)]
pub struct ExampleSchema(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    kind: ExampleKind,
    schema: SchemaRef,
    columns: Vec<FeatureColumn>,
    features: HashMap<String, usize>,
    feature_lists: HashMap<String, usize>,
}

/// A column, and the feature that it has.
#[derive(Debug)]
pub(super) struct FeatureColumn {
    pub(super) section: Section,
    pub(super) name: String,
    pub(super) kind: FeatureKind,
    pub(super) shape: Shape,
}

impl ExampleSchema {
    /// Finds the columns by these records, which errors call by their numbers.
    ///
    /// # Errors
    /// As [`ExampleSampler::add`].
    pub fn from_records<R: AsRef<[u8]>>(kind: ExampleKind, records: impl IntoIterator<Item = R>) -> Result<Self> {
        let mut sampler = ExampleSampler::new(kind);
        for (number, record) in records.into_iter().enumerate() {
            sampler.add(record.as_ref(), format_args!("record {number}"))?;
        }
        Ok(sampler.finish())
    }

    /// Returns which of the messages the records are.
    #[must_use]
    pub fn kind(&self) -> ExampleKind {
        self.0.kind
    }

    /// Returns the Arrow schema: a column for each feature, all of them nullable.
    #[must_use]
    pub fn arrow_schema(&self) -> SchemaRef {
        Arc::clone(&self.0.schema)
    }

    pub(super) fn columns(&self) -> &[FeatureColumn] {
        &self.0.columns
    }

    pub(super) fn find(&self, section: Section, name: &str) -> Option<usize> {
        let by_name = match section {
            Section::Features => &self.0.features,
            Section::FeatureLists => &self.0.feature_lists,
        };
        by_name.get(name).copied()
    }
}

impl ExampleError {
    /// Returns the error of the record that is called `place`.
    pub(super) fn of(place: impl fmt::Display, feature: Option<&str>, problem: ExampleProblem) -> Error {
        Error::Example(Box::new(Self {
            place: place.to_string(),
            feature: feature.map(str::to_owned),
            problem,
        }))
    }
}
