//! Records as rows of a batch.

use std::{fmt, sync::Arc};

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::SchemaRef;

use super::{
    ExampleError, ExampleProblem, ExampleSchema,
    column::{Column, Mark},
    message::{Part, Section, is_unset, visit_entries},
};
use crate::{Error, Result};

/// Turns records into batches of rows, with a column for each feature.
#[derive(Debug)]
pub struct ExampleDecoder {
    schema: ExampleSchema,
    projected: SchemaRef,
    /// The columns of the batch, with their numbers in the schema.
    columns: Vec<(usize, Column)>,
    /// What the current record has for each column of the schema.
    parts: Vec<Part>,
    marks: Vec<Mark>,
    /// The column of each entry of the record before: records of a program often have the same order.
    order: Vec<usize>,
    rows: usize,
    bytes: usize,
}

impl ExampleDecoder {
    /// Decodes all columns.
    #[must_use]
    pub fn new(schema: &ExampleSchema) -> Self {
        let projected = schema.arrow_schema();
        Self::with_columns(schema, projected, 0..schema.columns().len())
    }

    /// Decodes the columns of these numbers, in this order. Records must fit the schema in the names of their features all the same.
    ///
    /// # Errors
    /// [`Error::Arrow`] for a number that the schema does not have.
    pub fn with_projection(schema: &ExampleSchema, columns: &[usize]) -> Result<Self> {
        let projected = Arc::new(schema.arrow_schema().project(columns)?);
        Ok(Self::with_columns(schema, projected, columns.iter().copied()))
    }

    fn with_columns(schema: &ExampleSchema, projected: SchemaRef, columns: impl Iterator<Item = usize>) -> Self {
        let columns = columns.filter_map(|number| {
            let column = schema.columns().get(number)?;
            Some((number, Column::new(column.kind, column.shape)))
        });
        Self {
            columns: columns.collect(),
            projected,
            parts: vec![Part::Absent; schema.columns().len()],
            schema: schema.clone(),
            marks: Vec::new(),
            order: Vec::new(),
            rows: 0,
            bytes: 0,
        }
    }

    /// Returns the schema of the batches.
    #[must_use]
    pub fn arrow_schema(&self) -> SchemaRef {
        Arc::clone(&self.projected)
    }

    /// Returns the number of rows since the last batch.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Returns whether there are no rows since the last batch.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Returns whether it is time to take a batch: it has 8,192 rows, or about 16 MiB.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.rows >= FULL_ROWS || self.bytes >= FULL_BYTES
    }

    /// Adds a record, which errors call `place`, such as "train.tfrecord: record 17". After an error the rows before are as they were.
    ///
    /// # Errors
    /// [`Error::Example`] for a record that is not such a message or does not fit the schema: it has a feature that no record of the
    /// sample had, values of another type, or not one value where all records of the sample had one.
    pub fn append(&mut self, record: &[u8], place: impl fmt::Display) -> Result<()> {
        self.parts.fill(Part::Absent);
        let mut feature = None;
        let (schema, parts, order) = (&self.schema, &mut self.parts, &mut self.order);
        let mut entry = 0;
        let found = visit_entries(schema.kind(), record, |section, name, part| {
            feature = Some(name);
            let number = find(schema, order, entry, section, name);
            entry += 1;
            match number.and_then(|number| parts.get_mut(number)) {
                Some(place) => *place = part,
                // One that was never set has no column.
                None if is_unset(section, part.bytes(record).unwrap_or_default())? => {}
                None => return Err(ExampleProblem::Unknown),
            }
            feature = None;
            Ok(())
        });
        found.map_err(|problem| ExampleError::of(&place, feature, problem))?;

        self.marks.clear();
        self.marks.extend(self.columns.iter().map(|(_, column)| column.mark()));
        if let Err((number, problem)) = self.append_parts(record) {
            for ((_, column), mark) in self.columns.iter_mut().zip(&self.marks) {
                column.go_back(*mark);
            }
            let feature = self.schema.columns().get(number).map(|column| &*column.name);
            return Err(ExampleError::of(place, feature, problem));
        }
        self.rows += 1;
        // An offset, a byte of validity and perhaps a value each.
        let room = self.columns.len().saturating_mul(13);
        self.bytes = self.bytes.saturating_add(record.len()).saturating_add(room);
        Ok(())
    }

    /// Adds the parts of the record to their columns. An error has the number of its column.
    fn append_parts(&mut self, record: &[u8]) -> Result<(), (usize, ExampleProblem)> {
        for (number, column) in &mut self.columns {
            let part = self.parts.get(*number).and_then(|part| part.bytes(record));
            let section = self.schema.columns().get(*number).map(|column| column.section);
            let appended = match (part, section) {
                (Some(feature), Some(Section::Features)) => column.append_feature(feature),
                (Some(list), Some(Section::FeatureLists)) => column.append_feature_list(list),
                _ => column.append_null(),
            };
            appended.map_err(|problem| (*number, problem))?;
        }
        Ok(())
    }

    /// Returns the rows since the last batch, which may be none.
    ///
    /// # Errors
    /// [`Error::Arrow`], which would be an error of this library.
    pub fn finish(&mut self) -> Result<RecordBatch> {
        let arrays = self.columns.iter_mut().map(|(_, column)| column.finish());
        let arrays: Vec<ArrayRef> = arrays.collect::<Result<_, _>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(self.rows));
        (self.rows, self.bytes) = (0, 0);
        RecordBatch::try_new_with_options(self.arrow_schema(), arrays, &options).map_err(Error::Arrow)
    }
}

/// Returns the column of the entry of this number: first of all the one that it was in the record before.
#[inline]
fn find(schema: &ExampleSchema, order: &mut Vec<usize>, entry: usize, section: Section, name: &str) -> Option<usize> {
    let before = order.get(entry).copied();
    let is_same = |number: &usize| {
        let column = schema.columns().get(*number);
        column.is_some_and(|column| column.section == section && column.name == name)
    };
    if let Some(number) = before.filter(is_same) {
        return Some(number);
    }
    let found = schema.find(section, name)?;
    if let Some(before) = order.get_mut(entry) {
        *before = found;
    } else if entry == order.len() && entry < schema.columns().len() {
        order.push(found);
    }
    Some(found)
}

const FULL_ROWS: usize = 8_192;
const FULL_BYTES: usize = 16 << 20;
