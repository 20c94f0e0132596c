//! Tables copied into new ones, of another type too, and into others.

use std::ops::Range;
use std::path::Path;

use tidemill_xbase::{AdtType, CreateOptions, Field, FieldKind, FieldSpec, TableWriter};

use crate::connection::{AreaId, Connection};
use crate::error::{Error, ErrorCode, Result};
use crate::settings::{Settings, today};
use crate::work_area::{Counted, OrderId, TableOptions, TableType, WorkArea};

impl Connection {
    /// Copies records into a new table with the same fields, in an order.
    ///
    /// # Errors
    /// When the new table cannot be made or written, or the copy is stopped ([`ErrorCode::CopyAborted`]): nothing is left of it.
    pub fn copy_table(
        &mut self,
        from: AreaId,
        order: Option<OrderId>,
        path: &Path,
        counted: Counted,
        settings: &Settings,
    ) -> Result<()> {
        self.outside_of_transactions("copying a table")?;
        let area = self.area(from)?;
        area.write_record()?;
        let options = area.options().clone();
        area.table()?.copy_structure(path)?;
        self.fill_new((from, order), path, options, counted, settings)
    }

    /// Copies records into a new table of another type, in an order. Fields that the type has not got become those that hold the
    /// same: whole numbers and amounts are digits there, times are text.
    ///
    /// # Errors
    /// As [`Connection::copy_table`].
    pub fn convert_table(
        &mut self,
        from: AreaId,
        order: Option<OrderId>,
        path: &Path,
        table_type: TableType,
        counted: Counted,
        settings: &Settings,
    ) -> Result<()> {
        self.outside_of_transactions("converting a table")?;
        let area = self.area(from)?;
        area.write_record()?;
        if path.exists() {
            let what = format!("{} already exists", path.display());
            return Err(Error::new(ErrorCode::FileError, what));
        }
        let mut create = CreateOptions::new(today());
        create.format = TableType::dialect(table_type);
        create.codepage = area.codepage();
        let fields = area.fields().iter();
        let fields: Vec<FieldSpec> = fields.map(|field| field_for(field, table_type)).collect();
        let options = TableOptions {
            table_type,
            ..area.options().clone()
        };
        TableWriter::create(path, &fields, &create)?.finish()?;
        self.fill_new((from, order), path, options, counted, settings)
    }

    /// Appends the records of a table to another, in an order. Values go into fields of the same name; what has none is left
    /// out.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidRelation`] for a table and itself; when a value does not fit; [`ErrorCode::CopyAborted`] when it is
    /// stopped. What was appended before stays.
    pub fn copy_contents(
        &mut self,
        from: (AreaId, Option<OrderId>),
        to: AreaId,
        counted: Counted,
        settings: &Settings,
    ) -> Result<()> {
        self.copy_some(from, to, (counted, &ALL), settings)
    }

    /// Appends some of the records that filters and scopes show to another table, in an order: those whose numbers, from 0, are in
    /// `copied`.
    ///
    /// # Errors
    /// As [`Connection::copy_contents`].
    pub fn copy_top(
        &mut self,
        from: (AreaId, Option<OrderId>),
        to: AreaId,
        copied: &Range<u64>,
        settings: &Settings,
    ) -> Result<()> {
        self.copy_some(from, to, (Counted::Shown, copied), settings)
    }

    fn copy_some(
        &mut self,
        (from, order): (AreaId, Option<OrderId>),
        to: AreaId,
        copied: (Counted, &Range<u64>),
        settings: &Settings,
    ) -> Result<()> {
        let at = self.areas.iter().position(|(known, _)| *known == to);
        let Some(at) = at.filter(|_| from != to) else {
            return Err(Error::new(
                ErrorCode::InvalidRelation,
                "a table is not copied into itself",
            ));
        };
        let (id, mut target) = self.areas.remove(at);
        let copied = self.copy_records((from, order), &mut target, copied, settings);
        self.areas.insert(at, (id, target));
        copied
    }

    /// Fills a table that was made just now, or removes it.
    fn fill_new(
        &mut self,
        (from, order): (AreaId, Option<OrderId>),
        path: &Path,
        options: TableOptions,
        counted: Counted,
        settings: &Settings,
    ) -> Result<()> {
        let options = TableOptions {
            alias: None,
            ..options.exclusive()
        };
        let filled = WorkArea::open(path, &options, settings).and_then(|mut copy| {
            // A copy has the numbers of its original.
            let has_own = copy.is_adt();
            copy.editor_to_read().enforce_autoincrement(!has_own);
            self.copy_records((from, order), &mut copy, (counted, &ALL), settings)?;
            Ok(copy.editor()?.flush()?)
        });
        if filled.is_err() {
            for extension in ["dbt", "fpt", "smt", "adm", "DBT", "FPT", "SMT", "ADM"] {
                // There is at most one of these.
                let _ = std::fs::remove_file(path.with_extension(extension));
            }
            crate::delete_file(path)?;
        }
        filled
    }

    fn copy_records(
        &mut self,
        (from, order): (AreaId, Option<OrderId>),
        target: &mut WorkArea,
        copied: (Counted, &Range<u64>),
        settings: &Settings,
    ) -> Result<()> {
        let source = self.area(from)?;
        let back = source.record_number()?;
        let pairs: Vec<(usize, usize)> = (0..source.fields().len())
            .filter_map(|field| Some((field, target.field_named(&source.fields().get(field)?.name).ok()?)))
            .collect();
        let copied = source.copy_into(target, &pairs, order, copied, settings);
        self.area(from)?.go_back(back)?;
        self.moved(from, settings)?;
        copied
    }
}

/// The numbers of all records.
const ALL: Range<u64> = 0..u64::MAX;

/// The field of a type of table that holds what a field holds.
fn field_for(field: &Field, table_type: TableType) -> FieldSpec {
    if table_type == TableType::Adt {
        return field_of_adt(field);
    }
    let spec = |letter, width: usize, decimals| {
        let width = u16::try_from(width).unwrap_or(u16::MAX);
        FieldSpec::new(&field.name, letter, width, decimals)
    };
    let is_vfp = table_type == TableType::Vfp;
    let spec = match field.kind {
        FieldKind::Numeric | FieldKind::Float => spec('N', field.width, field.decimals),
        FieldKind::Logical => spec('L', 1, 0),
        FieldKind::Date | FieldKind::DateBinary | FieldKind::DatePacked => spec('D', 8, 0),
        FieldKind::Memo | FieldKind::MemoWide => spec('M', if is_vfp { 4 } else { 10 }, 0),
        FieldKind::Counter => spec('N', 10, 0),
        FieldKind::CharacterWide => spec('C', field.width / 2, 0),
        FieldKind::MemoBinary if table_type == TableType::Ntx => spec('M', 10, 0),
        FieldKind::MemoBinary => spec('G', if is_vfp { 4 } else { 10 }, 0),
        FieldKind::Integer | FieldKind::IntegerDbase7 if is_vfp && field.width == 4 && field.decimals == 0 => {
            spec('I', 4, 0)
        }
        // A sign, the digits and the point.
        FieldKind::Integer | FieldKind::IntegerDbase7 => {
            let digits = match field.width {
                0..=2 => 6,
                3..=4 => 11,
                _ => 20,
            };
            spec('N', digits + usize::from(field.decimals > 0), field.decimals)
        }
        FieldKind::Double | FieldKind::DoubleDbase7 | FieldKind::NumericDouble if is_vfp => {
            spec('B', 8, field.decimals)
        }
        // Files seldom say how many decimals a double is shown with.
        FieldKind::Double | FieldKind::DoubleDbase7 | FieldKind::NumericDouble if field.decimals == 0 => {
            spec('N', 20, 6)
        }
        FieldKind::Double | FieldKind::DoubleDbase7 | FieldKind::NumericDouble => spec('N', 20, field.decimals),
        FieldKind::Currency if is_vfp => spec('Y', 8, 4),
        FieldKind::Currency => spec('N', 20, 4),
        FieldKind::Timestamp | FieldKind::TimestampDbase7 if is_vfp => spec('T', 8, 0),
        FieldKind::Timestamp | FieldKind::TimestampDbase7 | FieldKind::Time => spec('C', 25, 0),
        FieldKind::Varchar if is_vfp => spec('V', field.width, 0),
        FieldKind::Varbinary if is_vfp => spec('Q', field.width, 0),
        _ => spec('C', field.width, 0),
    };
    let is_nullable = field.nullable && is_vfp;
    spec.nullable(is_nullable)
        .binary(field.binary || field.kind == FieldKind::MemoBinary)
}

/// The field of an ADT that holds what a field holds.
fn field_of_adt(field: &Field) -> FieldSpec {
    let spec = |adt_type, width: usize, decimals| {
        FieldSpec::of_adt(
            &field.name,
            adt_type,
            u16::try_from(width).unwrap_or(u16::MAX),
            decimals,
        )
    };
    if let Some(adt_type) = field.adt_type {
        return spec(adt_type, field.width, field.decimals);
    }
    match field.kind {
        _ if field.autoincrement.is_some() => spec(AdtType::AutoIncrement, 4, 0),
        FieldKind::Numeric | FieldKind::Float | FieldKind::NumericDouble => {
            spec(AdtType::Numeric, field.width.clamp(2, 32), field.decimals)
        }
        FieldKind::Logical => spec(AdtType::Logical, 1, 0),
        FieldKind::Date | FieldKind::DateBinary | FieldKind::DatePacked => spec(AdtType::Date, 4, 0),
        FieldKind::Memo | FieldKind::Variant => spec(AdtType::Memo, 9, 0),
        FieldKind::MemoBinary if field.letter == 'P' => spec(AdtType::Image, 9, 0),
        FieldKind::MemoBinary => spec(AdtType::Binary, 9, 0),
        FieldKind::MemoWide => spec(AdtType::NMemo, 9, 0),
        FieldKind::Integer | FieldKind::IntegerDbase7 if field.decimals > 0 => {
            spec(AdtType::Numeric, 20, field.decimals)
        }
        FieldKind::Integer if field.width == 8 => spec(AdtType::LongInteger, 8, 0),
        FieldKind::Integer if field.width < 3 => spec(AdtType::ShortInteger, 2, 0),
        FieldKind::Integer | FieldKind::IntegerDbase7 => spec(AdtType::Integer, 4, 0),
        FieldKind::Counter => spec(AdtType::LongInteger, 8, 0),
        FieldKind::Double | FieldKind::DoubleDbase7 => spec(AdtType::Double, 8, field.decimals),
        FieldKind::Currency => spec(AdtType::Money, 8, 4),
        FieldKind::Time => spec(AdtType::Time, 4, 0),
        FieldKind::Timestamp | FieldKind::TimestampDbase7 => spec(AdtType::Timestamp, 8, 0),
        FieldKind::CharacterWide => spec(AdtType::NChar, field.width, 0),
        FieldKind::Character | FieldKind::Varchar => spec(AdtType::Character, field.width, 0),
        _ => spec(AdtType::Raw, field.width, 0),
    }
}
