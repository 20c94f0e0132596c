//! Records of a table as frames: whole chunks of cached columns, or a few records read on their own.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, BooleanArray, Int64Array, UInt32Array};
use arrow_buffer::BooleanBuffer;
use arrow_select::concat::concat;
use arrow_select::filter::filter;
use arrow_select::take::take;
use tidemill_xbase::{AdtType, Bitmap, Deleted, FieldKind, RowFilter, Scan};

use super::error::{Error, Kind, Result};
use super::evaluate::Frame;
use super::expression::{Blank, Column};
use super::row_id;
use super::tables::Snapshot;
use super::value::Type;
use super::vector::Vector;

/// Records of a chunk of cached columns.
const CHUNK: u32 = 1 << 16;
/// So few records are read on their own rather than through whole columns.
const FEW: usize = 256;

/// The columns of a table, as expressions see them.
pub(super) fn columns(snapshot: &Snapshot) -> Vec<Column> {
    let fields = snapshot.table().fields().iter();
    fields
        .map(|field| Column {
            name: field.name.clone(),
            short_name: field.short_name.clone(),
            type_of: match field.kind {
                FieldKind::Character | FieldKind::Varchar => Type::Text(u32::try_from(field.width).unwrap_or(0)),
                FieldKind::CharacterWide => Type::Text(u32::try_from(field.width / 2).unwrap_or(0)),
                FieldKind::Memo | FieldKind::MemoWide | FieldKind::Variant => Type::Memo,
                _ => match field.data_type() {
                    arrow_schema::DataType::Int32 | arrow_schema::DataType::Int64 => Type::Integer,
                    arrow_schema::DataType::Decimal128(_, scale) => Type::Decimal(u8::try_from(scale).unwrap_or(0)),
                    arrow_schema::DataType::Float64 => Type::Double,
                    arrow_schema::DataType::Boolean => Type::Logical,
                    arrow_schema::DataType::Date32 => Type::Date,
                    arrow_schema::DataType::Time32(_) => Type::Time,
                    arrow_schema::DataType::Timestamp(..) => Type::Timestamp,
                    _ => Type::Bytes,
                },
            },
            blank: Blank::of(field, snapshot.table()),
            ignores_case: field.adt_type == Some(AdtType::CiCharacter),
        })
        .collect()
}

/// Which records of a table.
#[derive(Debug, Clone)]
pub(super) enum Selection {
    All,
    Set(Bitmap),
}

impl Selection {
    pub(super) fn count(&self, snapshot: &Snapshot) -> usize {
        match self {
            Self::All => snapshot.table().record_count() as usize,
            Self::Set(set) => set.count() as usize,
        }
    }

    /// The records, counted from 1.
    pub(super) fn records(&self, snapshot: &Snapshot) -> Vec<u32> {
        match self {
            Self::All => (1..=snapshot.table().record_count()).collect(),
            Self::Set(set) => set.iter().collect(),
        }
    }
}

/// Columns that were read, by field.
#[derive(Debug)]
pub(super) struct Reader<'s> {
    pub(super) snapshot: &'s Snapshot,
    pub(super) columns: &'s [Column],
    whole: RefCell<HashMap<usize, Vec<ArrayRef>>>,
}

impl<'s> Reader<'s> {
    pub(super) fn new(snapshot: &'s Snapshot, columns: &'s [Column]) -> Self {
        Self {
            snapshot,
            columns,
            whole: RefCell::default(),
        }
    }

    /// The chunks of a field's column.
    fn whole(&self, field: usize) -> Result<Vec<ArrayRef>> {
        if let Some(known) = self.whole.borrow().get(&field) {
            return Ok(known.clone());
        }
        let chunks = self.snapshot.columns().column(field)?;
        self.whole.borrow_mut().insert(field, chunks.clone());
        Ok(chunks)
    }

    fn vector(&self, field: usize, array: &ArrayRef) -> Result<Vector> {
        let described = self.snapshot.table().fields().get(field);
        let Some(described) = described else {
            return Err(Error::new(Kind::NoColumn, format!("There is no field {field}")));
        };
        let width = match described.kind {
            FieldKind::Character => described.width,
            _ => 0,
        };
        Vector::of_column(array, width, Blank::of(described, self.snapshot.table()))
    }

    fn uses_memo(&self, field: usize) -> bool {
        self.snapshot
            .table()
            .fields()
            .get(field)
            .is_some_and(|field| field.kind.uses_memo())
    }

    /// The records in the order of the table, as frames.
    pub(super) fn frames<'r>(&'r self, selection: &Selection) -> Vec<RecordFrame<'r, 's>> {
        let count = self.snapshot.table().record_count();
        let few = match selection {
            Selection::Set(set) if (set.count() as usize) <= FEW && count as usize > 4 * FEW => true,
            Selection::Set(_) | Selection::All => false,
        };
        if few {
            return vec![self.picked(selection.records(self.snapshot))];
        }
        let chunks =
            (0..count.div_ceil(CHUNK)).map(|chunk| chunk * CHUNK..(chunk + 1).saturating_mul(CHUNK).min(count));
        chunks
            .enumerate()
            .filter_map(|(chunk, records)| {
                let mask = match selection {
                    Selection::All => None,
                    Selection::Set(set) => Some(mask_of(set, &records)),
                };
                let rows = mask.as_ref().map_or(records.len(), BooleanArray::true_count);
                (rows > 0).then_some(RecordFrame {
                    reader: self,
                    rows,
                    which: Which::Chunk { chunk, records, mask },
                })
            })
            .collect()
    }

    /// These records, counted from 1, in this order.
    pub(super) fn picked<'r>(&'r self, records: Vec<u32>) -> RecordFrame<'r, 's> {
        RecordFrame {
            reader: self,
            rows: records.len(),
            which: Which::Records(records),
        }
    }
}

fn mask_of(set: &Bitmap, records: &Range<u32>) -> BooleanArray {
    let from = records.start as usize / 64;
    let words = set.words().get(from..).unwrap_or_default();
    let len = records.len();
    let words = words.iter().take(len.div_ceil(64)).copied().collect::<Vec<u64>>();
    BooleanArray::new(BooleanBuffer::new(words.into(), 0, len), None)
}

/// Some records of a table.
#[derive(Debug)]
pub(super) struct RecordFrame<'r, 's> {
    reader: &'r Reader<'s>,
    rows: usize,
    which: Which,
}

#[derive(Debug)]
enum Which {
    /// Records of one chunk, counted from 0, all of them or those of a mask.
    Chunk {
        chunk: usize,
        records: Range<u32>,
        mask: Option<BooleanArray>,
    },
    Records(Vec<u32>),
}

impl RecordFrame<'_, '_> {
    /// The numbers of the records, counted from 1.
    pub(super) fn records(&self) -> Vec<u32> {
        match &self.which {
            Which::Records(records) => records.clone(),
            Which::Chunk {
                records, mask: None, ..
            } => records.clone().map(|record| record + 1).collect(),
            Which::Chunk {
                records,
                mask: Some(mask),
                ..
            } => {
                let first = records.start + 1;
                let rows = mask.values().set_indices();
                rows.map(|row| first + u32::try_from(row).unwrap_or(0)).collect()
            }
        }
    }

    fn read(&self, field: usize) -> Result<ArrayRef> {
        match &self.which {
            Which::Chunk { chunk, records, mask } => {
                if self.reader.uses_memo(field) {
                    return self.scanned(field, records, mask.as_ref());
                }
                let chunks = self.reader.whole(field)?;
                let missing = || Error::new(Kind::Engine, "a column has fewer chunks than its table");
                let array = chunks.get(*chunk).ok_or_else(missing)?;
                match mask {
                    None => Ok(Arc::clone(array)),
                    Some(mask) => Ok(filter(array, mask)?),
                }
            }
            Which::Records(records) if records.len() <= FEW || self.reader.uses_memo(field) => {
                self.read_few(field, records)
            }
            Which::Records(records) => {
                let chunks = self.reader.whole(field)?;
                let arrays: Vec<&dyn Array> = chunks.iter().map(|array| &**array).collect();
                let whole = match arrays.as_slice() {
                    [] => {
                        return Ok(arrow_array::new_empty_array(&type_of_field(
                            self.reader.snapshot,
                            field,
                        )));
                    }
                    [only] => only.slice(0, only.len()),
                    arrays => concat(arrays)?,
                };
                let rows = UInt32Array::from_iter_values(records.iter().map(|record| record.saturating_sub(1)));
                Ok(take(&whole, &rows, None)?)
            }
        }
    }

    /// By runs of neighbouring records.
    fn read_few(&self, field: usize, records: &[u32]) -> Result<ArrayRef> {
        let mut order: Vec<u32> = records.to_vec();
        order.sort_unstable();
        order.dedup();
        let mut arrays: Vec<ArrayRef> = Vec::new();
        let mut rest = order.as_slice();
        while let Some(first) = rest.first() {
            let run = rest
                .iter()
                .zip(*first..)
                .take_while(|(record, expected)| *record == expected)
                .count();
            let begin = first.saturating_sub(1);
            let end = begin.saturating_add(u32::try_from(run).unwrap_or(u32::MAX));
            arrays.push(self.scanned(field, &(begin..end), None)?);
            rest = rest.get(run..).unwrap_or_default();
        }
        let parts: Vec<&dyn Array> = arrays.iter().map(|array| &**array).collect();
        let read = match parts.as_slice() {
            [] => {
                return Ok(arrow_array::new_empty_array(&type_of_field(
                    self.reader.snapshot,
                    field,
                )));
            }
            [only] => only.slice(0, only.len()),
            parts => concat(parts)?,
        };
        if order == records {
            return Ok(read);
        }
        let places = records.iter().map(|record| order.binary_search(record).unwrap_or(0));
        let places = UInt32Array::from_iter_values(places.map(|place| u32::try_from(place).unwrap_or(0)));
        Ok(take(&read, &places, None)?)
    }

    /// A field of a range of records, counted from 0, all or those of a mask.
    fn scanned(&self, field: usize, records: &Range<u32>, mask: Option<&BooleanArray>) -> Result<ArrayRef> {
        let mut arrays = scanned(self.reader.snapshot, &[field], records, mask)?;
        let missing = || Error::new(Kind::Engine, "a scan gave no column");
        arrays.pop().ok_or_else(missing)
    }
}

/// Records of a range, with the fields that were asked for read in one pass.
#[derive(Debug)]
pub(super) struct ScannedFrame<'r, 's> {
    records: RecordFrame<'r, 's>,
    fields: Vec<usize>,
    arrays: Vec<ArrayRef>,
}

impl<'r, 's> ScannedFrame<'r, 's> {
    /// Reads the selected ones of these records, counted from 0 and beginning at a multiple of 64; `None` when there are none.
    ///
    /// # Errors
    /// When the table cannot be read.
    pub(super) fn read(
        reader: &'r Reader<'s>,
        selection: &Selection,
        records: Range<u32>,
        fields: &[usize],
        kept: &mut KeptChunk,
    ) -> Result<Option<Self>> {
        let mask = match selection {
            Selection::All => None,
            Selection::Set(set) => Some(mask_of(set, &records)),
        };
        let rows = mask.as_ref().map_or(records.len(), BooleanArray::true_count);
        if rows == 0 {
            return Ok(None);
        }
        let arrays = match (
            fields.is_empty(),
            kept.read(reader.snapshot, fields, &records, selection)?,
        ) {
            (true, _) => Vec::new(),
            (false, Some(arrays)) => match &mask {
                Some(mask) => arrays
                    .iter()
                    .map(|array| filter(array, mask))
                    .collect::<Result<_, _>>()?,
                None => arrays,
            },
            (false, None) => scanned(reader.snapshot, fields, &records, mask.as_ref())?,
        };
        let which = Which::Chunk {
            chunk: 0,
            records,
            mask,
        };
        Ok(Some(Self {
            records: RecordFrame { reader, rows, which },
            fields: fields.to_vec(),
            arrays,
        }))
    }
}

/// The chunk of cached columns that a scan is in, for tables that are asked again and again.
#[derive(Debug, Default)]
pub(super) struct KeptChunk {
    /// Whether columns are kept at all.
    pub(super) keeps: bool,
    /// Its number, and the columns; none where the scan does better without them.
    chunk: Option<(u32, Option<Vec<ArrayRef>>)>,
}

impl KeptChunk {
    /// Fields of a range of records within one chunk, where they are kept.
    fn read(
        &mut self,
        snapshot: &Snapshot,
        fields: &[usize],
        records: &Range<u32>,
        selection: &Selection,
    ) -> Result<Option<Vec<ArrayRef>>> {
        if !self.keeps || fields.is_empty() {
            return Ok(None);
        }
        let chunk = records.start / CHUNK;
        if self.chunk.as_ref().is_none_or(|(known, _)| *known != chunk) {
            let columns = Self::columns(snapshot, fields, chunk, selection)?;
            self.chunk = Some((chunk, columns));
        }
        let columns = self.chunk.as_ref().and_then(|(_, columns)| columns.as_ref());
        let from = (records.start % CHUNK) as usize;
        Ok(columns.map(|columns| columns.iter().map(|array| array.slice(from, records.len())).collect()))
    }

    fn columns(
        snapshot: &Snapshot,
        fields: &[usize],
        chunk: u32,
        selection: &Selection,
    ) -> Result<Option<Vec<ArrayRef>>> {
        let table = snapshot.table();
        let mut described = fields.iter().filter_map(|field| table.fields().get(*field));
        if described.any(|field| field.kind.uses_memo()) {
            return Ok(None);
        }
        let begin = chunk * CHUNK;
        let records = begin..begin.saturating_add(CHUNK).min(table.record_count());
        // Of a few records no whole columns are made.
        let is_worth = match selection {
            Selection::All => true,
            Selection::Set(set) => mask_of(set, &records).true_count() >= records.len() / 4,
        };
        Ok(snapshot.columns().chunk(chunk, fields, is_worth)?)
    }
}

impl Frame for ScannedFrame<'_, '_> {
    fn rows(&self) -> usize {
        self.records.rows
    }

    fn columns(&self) -> &[Column] {
        self.records.columns()
    }

    fn column(&self, index: usize) -> Result<Vector> {
        let place = self.fields.iter().position(|field| *field == index);
        match place.and_then(|place| self.arrays.get(place)) {
            Some(array) => self.records.reader.vector(index, array),
            None => Err(Error::new(Kind::NoColumn, format!("The field {index} was not read"))),
        }
    }

    fn stored(&self, index: usize) -> Result<Option<ArrayRef>> {
        let place = self.fields.iter().position(|field| *field == index);
        Ok(place.and_then(|place| self.arrays.get(place)).cloned())
    }

    fn record_numbers(&self) -> Result<Int64Array> {
        self.records.record_numbers()
    }

    fn row_id_prefix(&self) -> Result<String> {
        self.records.row_id_prefix()
    }

    fn deleted(&self) -> Result<BooleanArray> {
        self.records.deleted()
    }
}

/// Fields of a range of records, counted from 0, all or those of a mask.
fn scanned(
    snapshot: &Snapshot,
    fields: &[usize],
    records: &Range<u32>,
    mask: Option<&BooleanArray>,
) -> Result<Vec<ArrayRef>> {
    let mut scan = Scan::new().projection(fields.to_vec()).deleted(Deleted::Include);
    scan = match mask {
        Some(mask) => scan.records(of_mask(records, mask)),
        None => scan.records(records.clone()),
    };
    if let Some(mask) = mask {
        let (mask, mut next) = (mask.clone(), mask.values().set_indices().next().unwrap_or(0));
        scan = scan.row_filter(RowFilter::new(Vec::new(), move |batch| {
            let rows = batch.num_rows().min(mask.len().saturating_sub(next));
            let part = mask.slice(next, rows);
            next += rows;
            Ok(part)
        }));
    }
    let batches = snapshot.table().scan(scan)?.collect::<Result<Vec<_>, _>>()?;
    let column = |(place, field): (usize, &usize)| -> Result<ArrayRef> {
        let parts = batches.iter().filter_map(|batch| batch.columns().get(place));
        let parts: Vec<&dyn Array> = parts.map(|array| &**array).collect();
        Ok(match parts.as_slice() {
            [] => arrow_array::new_empty_array(&type_of_field(snapshot, *field)),
            [only] => only.slice(0, only.len()),
            parts => concat(parts)?,
        })
    };
    fields.iter().enumerate().map(column).collect()
}

/// The records from the first to the last of a mask, so that a look-up reads one record and not its chunk.
fn of_mask(records: &Range<u32>, mask: &BooleanArray) -> Range<u32> {
    let at = |place: usize| records.start + u32::try_from(place).unwrap_or(u32::MAX);
    let mut places = mask.values().set_indices();
    match places.next() {
        Some(first) => at(first)..at(places.last().unwrap_or(first)) + 1,
        None => records.start..records.start,
    }
}

fn type_of_field(snapshot: &Snapshot, field: usize) -> arrow_schema::DataType {
    let fields = snapshot.table().fields();
    fields
        .get(field)
        .map_or(arrow_schema::DataType::Null, tidemill_xbase::Field::data_type)
}

impl Frame for RecordFrame<'_, '_> {
    fn rows(&self) -> usize {
        self.rows
    }

    fn columns(&self) -> &[Column] {
        self.reader.columns
    }

    fn column(&self, index: usize) -> Result<Vector> {
        self.reader.vector(index, &self.read(index)?)
    }

    fn stored(&self, index: usize) -> Result<Option<ArrayRef>> {
        self.read(index).map(Some)
    }

    fn row_id_prefix(&self) -> Result<String> {
        Ok(row_id::prefix(self.reader.snapshot.table().path()))
    }

    fn record_numbers(&self) -> Result<Int64Array> {
        Ok(self
            .records()
            .into_iter()
            .map(|record| Some(i64::from(record)))
            .collect())
    }

    fn deleted(&self) -> Result<BooleanArray> {
        let snapshot = self.reader.snapshot;
        let deleted = super::condition::deleted(snapshot)?;
        Ok(self
            .records()
            .into_iter()
            .map(|record| Some(deleted.contains(record)))
            .collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_mask_leaves_out_at_both_ends_is_not_read() {
        let mask = |chosen: &[usize]| BooleanArray::from_iter((0..100).map(|place| Some(chosen.contains(&place))));
        for (chosen, expected) in [
            (&[40][..], 1064..1065),
            (&[0, 99], 1024..1124),
            (&[7, 9, 20], 1031..1045),
            (&[], 1024..1024),
        ] {
            assert_eq!(of_mask(&(1024..1124), &mask(chosen)), expected, "{chosen:?}");
        }
    }
}
