//! Cursors of statements: the columns, the condition and the order of a SELECT over a table, or rows in memory.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_schema::DataType;
use tidemill_xbase::aof::Filter;
use tidemill_xbase::expression::{BinaryOperator, Syntax, SyntaxKind};
use tidemill_xbase::{
    CodePage, CreateOptions, Dialect, EditOptions, Field, FieldSpec, OpenMode, OpenOptions, TableEditor, TransactionLog,
};

use super::{AreaTriggers, OrderId, TableOptions, WorkArea};
use crate::FieldType;
use crate::error::{ErrorCode, Result};
use crate::progress::Work;
use crate::settings::{Settings, today};
use crate::sql::{Live, Rows};

/// What a cursor shows of its table.
#[derive(Debug, Default)]
pub(super) struct Cursor {
    /// The names of its columns, and the fields that they are.
    columns: Arc<[(String, usize)]>,
    /// The condition of the statement, beside which a program may set filters.
    condition: Option<Arc<Syntax>>,
    /// The order that it is walked in where the program names none.
    order: Option<OrderId>,
    /// What records have to be that are written through it.
    constraint: Option<Filter>,
    /// Whether the fields of the table are its columns for now.
    shows_base: bool,
}

/// What errors call the rows of a statement.
const ROWS: &str = "the rows of a statement";

impl WorkArea {
    /// Rows in memory, to be walked as a table and not to be changed.
    pub(crate) fn of_rows(rows: &Rows, codepage: CodePage, settings: &Settings) -> Result<Self> {
        let editor = rows_in_memory(rows, codepage)?;
        let options = TableOptions {
            mode: OpenMode::ReadOnly,
            codepage: Some(codepage),
            ..TableOptions::default()
        };
        let mut area = Self::over((editor, Work::default()), &options, String::new(), settings)?;
        let columns = rows.columns.iter().map(|column| column.name.clone()).zip(0..);
        area.cursor = Some(Cursor {
            columns: columns.collect(),
            ..Cursor::default()
        });
        Ok(area)
    }

    /// Lets rows in memory be changed that are what a view shows, by the triggers of the view. Changes go through `current`, or outside of
    /// transactions through `resting`.
    pub(crate) fn change_by_triggers(
        &mut self,
        triggers: AreaTriggers,
        current: Option<&TransactionLog>,
        resting: &TransactionLog,
    ) -> Result<()> {
        self.options.mode = OpenMode::Shared;
        self.set_triggers(Some(AreaTriggers {
            view: Some(None),
            ..triggers
        }));
        self.rest_in(Some(resting))?;
        self.use_log(current)
    }

    /// Shows what a statement has asked for, and goes to its first record.
    ///
    /// With `constrains`, records that are changed have to be such as the condition shows.
    pub(crate) fn show(&mut self, live: Live, constrains: bool, settings: &Settings) -> Result<()> {
        let order = match &live.order {
            Some((name, is_backwards)) => {
                let order = self.order_named(name)?;
                self.set_direction(order, *is_backwards)?;
                Some(order)
            }
            None => None,
        };
        self.cursor = Some(Cursor {
            columns: live.columns,
            condition: live.filter,
            order,
            constraint: live.compiled.clone().filter(|_| constrains),
            shows_base: false,
        });
        self.show_only(live.compiled, Some(live.snapshot.columns()))?;
        self.go_known_top(settings)
    }

    /// Takes back what a program has set on a cursor over a table, so that another statement can show it; `false` when it cannot be
    /// that again.
    pub(crate) fn rest(&mut self) -> Result<bool> {
        if self.is_in_memory() || self.has_log() {
            return Ok(false);
        }
        self.is_file_locked = false;
        self.locked.clear();
        self.editor.unlock_all()?;
        (self.filter, self.aof, self.cursor) = (None, None, None);
        let orders: Vec<OrderId> = self.orders().collect();
        for order in orders {
            self.set_direction(order, false)?;
            if self.has_scope(order)? {
                self.clear_both_scopes(order)?;
            }
        }
        // What a program opened beside the production index is not for the next statement.
        Ok(self.ways.iter().all(|order| order.is_production))
    }

    /// Whether it is the answer of a statement.
    pub fn is_cursor(&self) -> bool {
        self.cursor.is_some()
    }

    /// Whether it is rows in memory.
    pub fn is_in_memory(&self) -> bool {
        self.editor.is_in_memory()
    }

    /// Lets the fields of its table be the columns of a cursor for now, or those of its SELECT again. Rows in memory and tables have no others.
    pub fn show_base(&mut self, shows_base: bool) {
        if let Some(cursor) = self.cursor.as_mut() {
            cursor.shows_base = shows_base;
        }
    }

    /// The columns of a SELECT, and the fields that they are; `None` where they are those of the table.
    fn columns_of_cursor(&self) -> Option<&[(String, usize)]> {
        let cursor = self.cursor.as_ref().filter(|cursor| !cursor.shows_base)?;
        Some(&cursor.columns)
    }

    /// How many columns there are: the fields of a table, or what a SELECT names.
    pub fn column_count(&self) -> usize {
        match self.columns_of_cursor() {
            Some(columns) => columns.len(),
            None => self.fields().len(),
        }
    }

    /// The columns that tell a record from every other, with semicolons between them: those of the candidate indexes all of whose
    /// fields are columns, or else the counter, or else the row version (SAP's help, `AdsGetKeyColumn`).
    ///
    /// # Errors
    /// [`ErrorCode::InvalidExpression`] for an index whose key cannot be read.
    pub fn key_columns(&self) -> Result<String> {
        let named = |field: usize| match &self.cursor {
            Some(cursor) => {
                let column = cursor.columns.iter().find(|(_, known)| *known == field);
                column.map(|(name, _)| name.as_str())
            }
            None => self.fields().get(field).map(|field| field.name.as_str()),
        };
        let mut names: Vec<&str> = Vec::new();
        for order in self.orders() {
            if self.order_tag(order)?.is_candidate {
                let fields = self.fields_of_key(order)?;
                let columns: Option<Vec<_>> = fields.into_iter().map(named).collect();
                names.extend(columns.unwrap_or_default());
            }
        }
        let given: [fn(&Field) -> bool; 2] = [|field| field.autoincrement.is_some(), |field| field.letter == '^'];
        for is_given in given {
            if names.is_empty() {
                let fields = (0..).zip(self.fields()).filter(|(_, field)| is_given(field));
                names.extend(fields.filter_map(|(place, _)| named(place)));
            }
        }
        Ok(names.join(";"))
    }

    /// The name of a column by its place, from 0.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidFieldNumber`].
    pub fn column_name(&self, column: usize) -> Result<&str> {
        let name = match self.columns_of_cursor() {
            Some(columns) => columns.get(column).map(|(name, _)| name),
            None => self.fields().get(column).map(|field| &field.name),
        };
        match name {
            Some(name) => Ok(name),
            None => self.no_column(column),
        }
    }

    /// The field that a column is, by its place, from 0.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidFieldNumber`].
    pub fn column(&self, column: usize) -> Result<usize> {
        let field = match self.columns_of_cursor() {
            Some(columns) => columns.get(column).map(|(_, field)| *field),
            None => Some(column).filter(|column| *column < self.fields().len()),
        };
        match field {
            Some(field) => Ok(field),
            None => self.no_column(column),
        }
    }

    /// The field that a column is, by its name in any case.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidFieldName`].
    pub fn column_named(&self, name: &str) -> Result<usize> {
        let Some(columns) = self.columns_of_cursor() else {
            return self.field_named(name);
        };
        let is_it = |(known, _): &&(String, usize)| known.eq_ignore_ascii_case(name.trim());
        match columns.iter().find(is_it) {
            Some((_, field)) => Ok(*field),
            None => self.refuse(ErrorCode::InvalidFieldName, format!("there is no column {name:?}")),
        }
    }

    #[cold]
    fn no_column<T>(&self, column: usize) -> Result<T> {
        self.refuse(
            ErrorCode::InvalidFieldNumber,
            format!("there is no field {}", column.saturating_add(1)),
        )
    }

    /// The order that is meant where none is named.
    pub(super) fn order_or_own(&self, order: Option<OrderId>) -> Option<OrderId> {
        order.or_else(|| self.cursor.as_ref().and_then(|cursor| cursor.order))
    }

    /// Whether the changes of the current record may be written.
    ///
    /// # Errors
    /// [`ErrorCode::RecordConstraintViolation`] when the cursor would not show it any more, and is to hold on to what it shows.
    pub(super) fn keep_within_constraint(&self) -> Result<()> {
        let Some(constraint) = self.cursor.as_ref().and_then(|cursor| cursor.constraint.as_ref()) else {
            return Ok(());
        };
        match constraint.matches(&self.table, self.record.number, &self.record.bytes)? {
            true => Ok(()),
            false => self.refuse(
                ErrorCode::RecordConstraintViolation,
                "the record would not fulfil the condition of the statement any more",
            ),
        }
    }

    /// The condition of the statement.
    pub(super) fn statement_condition(&self) -> Option<&Syntax> {
        self.cursor.as_ref().and_then(|cursor| cursor.condition.as_deref())
    }
}

/// A condition of a statement together with one of a program.
pub(super) fn both(own: &Syntax, condition: Syntax) -> Syntax {
    Syntax {
        column: condition.column,
        kind: SyntaxKind::Binary(BinaryOperator::And, Box::new(own.clone()), Box::new(condition)),
    }
}

/// A table in memory of rows, whose fields are called as their columns.
pub(crate) fn rows_in_memory(rows: &Rows, codepage: CodePage) -> Result<TableEditor> {
    let mut create = CreateOptions::new(today());
    (create.format, create.codepage) = (Dialect::VisualFoxPro, codepage);
    let names = rows.columns.iter().map(|column| column.name.clone()).collect();
    let open = OpenOptions::new()
        .keep_trailing_blanks(true)
        .codepage(codepage)
        .field_names(Some(names));
    let edit = EditOptions::new(today()).open(open);
    let mut editor = TableEditor::in_memory(ROWS, &fields_of(rows), &create, &edit)?;
    for batch in &rows.batches {
        editor.append_batch(batch)?;
    }
    Ok(editor)
}

/// The fields of a table in memory that holds rows.
fn fields_of(rows: &Rows) -> Vec<FieldSpec> {
    let columns = rows.columns.iter().enumerate();
    columns
        .map(|(at, column)| {
            let name = format!("C{at}");
            let length = u16::try_from(column.length).unwrap_or(u16::MAX);
            let decimals = u8::try_from(column.decimals).unwrap_or(0);
            let spec = match column.field_type {
                FieldType::Logical => FieldSpec::new(name, 'L', 1, 0),
                FieldType::Numeric => FieldSpec::new(name, 'N', length.clamp(1, 32), decimals),
                FieldType::Date => FieldSpec::new(name, 'D', 8, 0),
                FieldType::String | FieldType::VarcharFox if (1..=254).contains(&length) => {
                    FieldSpec::new(name, 'C', length, 0)
                }
                FieldType::Double => FieldSpec::new(name, 'B', 8, 4),
                FieldType::Integer | FieldType::Autoincrement => {
                    FieldSpec::new(name, 'I', if is_long(rows, at) { 8 } else { 4 }, 0)
                }
                FieldType::LongLong => FieldSpec::new(name, 'I', 8, 0),
                FieldType::CaseInsensitiveString | FieldType::NChar if (1..=254).contains(&length) => {
                    FieldSpec::new(name, 'C', length, 0)
                }
                FieldType::CaseInsensitiveString | FieldType::NChar | FieldType::NMemo => {
                    FieldSpec::new(name, 'M', 4, 0)
                }
                FieldType::ShortInteger => FieldSpec::new(name, 'I', if is_short(rows, at) { 2 } else { 4 }, 0),
                FieldType::RowVersion => FieldSpec::new(name, 'I', 8, 0),
                FieldType::CurrencyDouble => FieldSpec::new(name, 'B', 8, 4),
                FieldType::ModificationTime => FieldSpec::new(name, 'T', 8, 0),
                FieldType::Time => FieldSpec::new(name, 'T', 4, 0),
                FieldType::Timestamp => FieldSpec::new(name, 'T', 8, 0),
                FieldType::Money => FieldSpec::new(name, 'Y', 8, 4),
                FieldType::String | FieldType::VarcharFox | FieldType::Memo => FieldSpec::new(name, 'M', 4, 0),
                _ => FieldSpec::new(name, 'W', 4, 0),
            };
            spec.nullable(true)
        })
        .collect()
}

/// Whether all numbers of a column have 16 bits, in arrays that can be written to a field of so many.
fn is_short(rows: &Rows, column: usize) -> bool {
    let mut columns = rows.batches.iter().map(|batch| batch.column(column));
    columns.all(|column| match column.data_type() {
        DataType::Int64 => {
            let numbers = column.as_primitive::<Int64Type>();
            numbers.iter().flatten().all(|number| i16::try_from(number).is_ok())
        }
        DataType::Int32 => {
            let numbers = column.as_primitive::<Int32Type>();
            numbers.iter().flatten().all(|number| i16::try_from(number).is_ok())
        }
        _ => false,
    })
}

/// Whether a column has whole numbers beyond 32 bits.
fn is_long(rows: &Rows, column: usize) -> bool {
    let mut columns = rows.batches.iter().map(|batch| batch.column(column));
    columns.any(|column| match column.data_type() {
        DataType::Int64 => {
            let numbers = column.as_primitive::<Int64Type>();
            numbers.iter().flatten().any(|number| i32::try_from(number).is_err())
        }
        _ => false,
    })
}
