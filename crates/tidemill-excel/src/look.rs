//! What a sheet is: where its table begins, its columns and their types.

use std::collections::{BTreeMap, HashSet};
use std::io::{Read, Seek};
use std::ops::ControlFlow;
use std::sync::Arc;

use arrow_schema::{DataType, Field, Fields, Schema, SchemaRef, TimeUnit};
use calamine::Data;

use crate::cells::Workbook;
use crate::error::{Error, Result};
use crate::{MAX_COLUMNS, MAX_ROWS};

/// What the user says of a sheet.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SheetOptions {
    /// Whether the first row has the names of the columns. Default: where all of its cells are text.
    pub header: Option<bool>,
    /// Rows at the beginning that are no part of the table, such as a title.
    pub skip: u32,
}

/// What a sheet is found to be.
#[derive(Debug, Clone)]
pub struct SheetLook {
    /// Its columns: names that differ from each other, and types that hold all cells.
    pub columns: SchemaRef,
    /// Whether the first row has their names.
    pub has_header: bool,
    /// The mean length of a row in bytes.
    pub row_bytes: u64,
    /// The first row with a value, from 0.
    pub(crate) first_row: u32,
    /// The columns of the sheet that have values, from 0.
    pub(crate) places: Vec<u32>,
}

/// What a cell may be of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Nothing,
    Boolean,
    Whole,
    Number,
    Date,
    Moment,
    Time,
    Text,
}

impl Kind {
    pub(crate) fn of(value: &Data) -> Self {
        match value {
            Data::Empty | Data::Error(_) => Self::Nothing,
            Data::Bool(_) => Self::Boolean,
            Data::Int(_) => Self::Whole,
            Data::Float(number) if number.fract() == 0.0 && number.abs() < EXACT => Self::Whole,
            Data::Float(_) => Self::Number,
            Data::DateTime(moment) if moment.is_duration() => Self::Text,
            Data::DateTime(moment) => match moment.as_f64() {
                days if (0.0..1.0).contains(&days) => Self::Time,
                days if days.fract() == 0.0 => Self::Date,
                _ => Self::Moment,
            },
            Data::String(_) | Data::DateTimeIso(_) | Data::DurationIso(_) => Self::Text,
        }
    }

    fn and(self, other: Self) -> Self {
        use Kind as K;
        match (self, other) {
            (one, other) if one == other => one,
            (K::Nothing, kind) | (kind, K::Nothing) => kind,
            (K::Whole, K::Number) | (K::Number, K::Whole) => K::Number,
            (K::Date, K::Moment) | (K::Moment, K::Date) => K::Moment,
            _ => K::Text,
        }
    }

    fn data_type(self) -> DataType {
        match self {
            Self::Nothing | Self::Text => DataType::Utf8,
            Self::Boolean => DataType::Boolean,
            Self::Whole => DataType::Int64,
            Self::Number => DataType::Float64,
            Self::Date => DataType::Date32,
            Self::Moment => DataType::Timestamp(TimeUnit::Millisecond, None),
            Self::Time => DataType::Time32(TimeUnit::Millisecond),
        }
    }
}

/// Whole numbers below this are exact in floating point.
pub(crate) const EXACT: f64 = 9_007_199_254_740_992.0;

/// What a cell takes that is no text.
const NUMBER: u64 = 8;

/// A column while the sheet is read.
struct Column {
    first: Kind,
    name: String,
    below: Kind,
}

impl<R: Read + Seek> Workbook<R> {
    /// Looks at a whole sheet; `sheet` is its number from 0.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`], [`Error::NoSheet`].
    pub fn look(&mut self, sheet: usize, options: &SheetOptions) -> Result<SheetLook> {
        let mut first_row = None;
        let mut columns: BTreeMap<u32, Column> = BTreeMap::new();
        let mut is_too_large = false;
        let (mut rows, mut last_row, mut bytes) = (0, None, 0);
        self.each_cell(sheet, &mut |(row, place, value)| {
            if row < options.skip {
                return ControlFlow::Continue(());
            }
            if row >= MAX_ROWS || place >= MAX_COLUMNS {
                is_too_large = true;
                return ControlFlow::Break(());
            }
            if last_row.replace(row) != Some(row) {
                rows += 1;
            }
            bytes += match &value {
                Data::String(text) => text.len() as u64,
                _ => NUMBER,
            };
            let first_row = *first_row.get_or_insert(row);
            let column = columns.entry(place).or_insert(Column {
                first: Kind::Nothing,
                name: String::new(),
                below: Kind::Nothing,
            });
            match row == first_row {
                true => {
                    column.first = Kind::of(&value);
                    column.name = text(&value);
                }
                false => column.below = column.below.and(Kind::of(&value)),
            }
            ControlFlow::Continue(())
        })?;
        if is_too_large {
            return Err(Error::Damaged(format!(
                "a cell beyond {MAX_ROWS} rows or {MAX_COLUMNS} columns"
            )));
        }
        let are_names = columns
            .values()
            .all(|column| matches!(column.first, Kind::Text | Kind::Nothing));
        let has_header = options.header.unwrap_or(are_names);
        let mut names = Names::default();
        let fields = columns.values().enumerate().map(|(number, column)| {
            let name = if has_header { column.name.trim() } else { "" };
            let kind = match has_header {
                true => column.below,
                false => column.first.and(column.below),
            };
            Field::new(names.unique(name, number), kind.data_type(), true)
        });
        Ok(SheetLook {
            columns: Arc::new(Schema::new(fields.collect::<Fields>())),
            has_header,
            row_bytes: bytes / rows.max(1),
            first_row: first_row.unwrap_or_default(),
            places: columns.keys().copied().collect(),
        })
    }
}

/// Names that differ from each other, whatever their case: `column3` where there is none, `name_2` for the second of the same.
#[derive(Default)]
struct Names(HashSet<String>);

impl Names {
    fn unique(&mut self, name: &str, number: usize) -> String {
        let name = match name {
            "" => format!("column{}", number + 1),
            name => name.to_owned(),
        };
        let mut unique = name.clone();
        let mut again = 2;
        while !self.0.insert(unique.to_lowercase()) {
            unique = format!("{name}_{again}");
            again += 1;
        }
        unique
    }
}

/// A cell as text.
pub(crate) fn text(value: &Data) -> String {
    match value {
        Data::Empty | Data::Error(_) => String::new(),
        Data::Bool(value) => value.to_string(),
        Data::Int(value) => value.to_string(),
        Data::Float(value) => value.to_string(),
        Data::String(value) | Data::DateTimeIso(value) | Data::DurationIso(value) => value.clone(),
        Data::DateTime(moment) if moment.is_duration() => {
            let seconds = moment.as_duration().map_or(0, |length| length.num_seconds());
            format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
        }
        Data::DateTime(moment) => match (Kind::of(value), moment.as_datetime()) {
            (Kind::Date, Some(at)) => at.date().to_string(),
            (Kind::Time, Some(at)) => at.time().to_string(),
            (_, Some(at)) => at.to_string(),
            (_, None) => moment.as_f64().to_string(),
        },
    }
}
