//! INSERT, UPDATE, DELETE and MERGE: records of one table.
//!
//! A statement is made as a whole or not at all. Values of an UPDATE are all computed before the first record is written, so that it sees
//! the table as it was.

mod firing;
mod from;
mod merge;
pub(super) mod null;
mod picked;

use std::sync::Arc;

use sqlparser::ast::{self, Ident};
use tidemill_xbase as xbase;
use tidemill_xbase::{Field, FieldKind};

use self::from::{by_alias, joined};
use self::merge::Merging;
use self::picked::Picking;
use super::analytical::{Template, direct_or_engine};
use super::answer::Rows;
use super::bind::{Parameters, Scope, searched_columns};
use super::error::{Error, Kind, Result};
use super::evaluate::{Evaluation, Session, evaluate_alone};
use super::expression::{Blank, Column, Expr};
use super::frames::{self, Reader};
use super::select::{Compiled, Query};
use super::statement::{Delete, Insert, InsertSource, Merge, Select, TableName, Update};
use super::system::is_untranslated;
use super::tables::{Snapshot, Structure, Tables};
use super::value::{EMPTY_DATE, EMPTY_TIMESTAMP, Type, Value};
use super::vector::Vector;
use crate::{Rights, TriggerEvent};

/// A bound statement that changes records.
#[derive(Debug)]
pub(super) struct Change {
    table: TableName,
    structure: Structure,
    fields: Vec<Column>,
    /// Whether its values may be those of a source's columns.
    is_in_merge: bool,
    kind: ChangeKind,
}

#[derive(Debug)]
enum ChangeKind {
    Insert {
        columns: Vec<usize>,
        source: Source,
        is_deleted: bool,
    },
    Update {
        columns: Vec<usize>,
        values: Vec<Expr>,
        selection: Option<Expr>,
        compiled: Compiled,
        deletion: Option<bool>,
    },
    Delete {
        selection: Option<Expr>,
        compiled: Compiled,
    },
    Merge(Box<Merging>),
    Picked(Box<Picking>),
}

#[derive(Debug)]
enum Source {
    /// Rows of values; `None` is the default.
    Values(Vec<Vec<Option<Expr>>>),
    /// Each with the columns that it fills.
    Queries(Vec<(Vec<usize>, Query)>),
}

/// What columns of a record become, by their places.
type NewValues = Vec<(usize, Value)>;

impl Change {
    /// # Errors
    /// [`Kind::NoTable`], [`Kind::NoColumn`], and as [`Scope::bind`].
    pub(super) fn insert(insert: &Insert, tables: &mut dyn Tables, parameters: &mut Parameters) -> Result<Self> {
        over_view(&insert.table, tables, |tables| {
            Self::shown_insert(insert, tables, parameters)
        })
    }

    fn shown_insert(insert: &Insert, tables: &mut dyn Tables, parameters: &mut Parameters) -> Result<Self> {
        let (structure, fields) = open(&insert.table, tables)?;
        let columns = match insert.columns.as_slice() {
            [] => (0..fields.len()).collect(),
            columns => places(columns, &fields)?,
        };
        let source = match &insert.source {
            InsertSource::Default => Source::Values(vec![vec![None; columns.len()]]),
            InsertSource::Values(rows) => direct_or_engine(
                tables,
                parameters,
                |_, parameters| Self::direct_values(rows, columns.len(), parameters),
                |tables, parameters| Self::queried_values(rows, &columns, tables, parameters),
            )?,
            InsertSource::Select(select) => {
                let query = Query::bind_any(select, tables, parameters)?;
                if !matches!(query, Query::Analytical(_)) {
                    check_count(query.columns().len(), columns.len())?;
                }
                Source::Queries(vec![(columns.clone(), query)])
            }
        };
        Ok(Self {
            table: insert.table.clone(),
            structure,
            fields,
            is_in_merge: false,
            kind: ChangeKind::Insert {
                columns,
                source,
                is_deleted: insert.is_deleted,
            },
        })
    }

    fn direct_values(rows: &[Vec<Option<ast::Expr>>], columns: usize, parameters: &mut Parameters) -> Result<Source> {
        let mut scope = Scope::new(&[], Vec::new(), parameters);
        let row = |row: &Vec<Option<ast::Expr>>| {
            check_values(row.len(), columns)?;
            let values = row
                .iter()
                .map(|value| value.as_ref().map(|value| scope.bind(value)).transpose());
            values.collect()
        };
        Ok(Source::Values(rows.iter().map(row).collect::<Result<Vec<_>>>()?))
    }

    /// Rows of values that hold subqueries, each as the query that it is.
    fn queried_values(
        rows: &[Vec<Option<ast::Expr>>],
        columns: &[usize],
        tables: &mut dyn Tables,
        parameters: &mut Parameters,
    ) -> Result<Source> {
        let row = |row: &Vec<Option<ast::Expr>>| {
            check_values(row.len(), columns.len())?;
            let given = columns.iter().zip(row);
            let given = given.filter_map(|(column, value)| Some((*column, value.clone()?)));
            let (columns, values): (Vec<_>, Vec<_>) = given.unzip();
            let template = Template::bind(&values_alone(values)?, tables, parameters)?;
            Ok((columns, Query::Analytical(Box::new(template))))
        };
        Ok(Source::Queries(rows.iter().map(row).collect::<Result<_>>()?))
    }

    /// # Errors
    /// As [`Change::insert`], and [`Kind::NeedsAnalytical`] for an update from more than one other table, or with a subquery, where the
    /// connection has no engine for it.
    pub(super) fn update(update: &Update, tables: &mut dyn Tables, parameters: &mut Parameters) -> Result<Self> {
        let renamed = by_alias(&update.table, update.from.as_deref()).map(|(table, alias)| Update {
            table,
            alias: Some(alias),
            ..update.clone()
        });
        let update = renamed.as_ref().unwrap_or(update);
        over_view(&update.table, tables, |tables| {
            direct_or_engine(
                tables,
                parameters,
                |tables, parameters| Self::direct_update(update, tables, parameters),
                |tables, parameters| Self::picked_update(update, tables, parameters),
            )
        })
    }

    fn direct_update(update: &Update, tables: &mut dyn Tables, parameters: &mut Parameters) -> Result<Self> {
        if let Some(from) = &update.from {
            let mut merge = joined((&update.table, update.alias.as_ref()), from, update.selection.as_ref())?;
            merge.update = Some(update.assignments.clone());
            return Self::from_rows(&merge, update.deletion, tables, parameters);
        }
        let (structure, fields) = open(&update.table, tables)?;
        let searched = match &update.selection {
            Some(selection) => searched_columns(selection, &update.table, tables)?,
            None => Vec::new(),
        };
        let mut scope = Scope::new(&fields, qualifiers(&update.table, update.alias.as_ref()), parameters);
        scope.searched = searched;
        let (columns, values) = assignments(&update.assignments, &fields, &mut scope)?;
        let selection = condition(update.selection.as_ref(), &mut scope)?;
        Ok(Self {
            table: update.table.clone(),
            structure,
            fields,
            is_in_merge: false,
            kind: ChangeKind::Update {
                columns,
                values,
                selection,
                compiled: Compiled::default(),
                deletion: update.deletion,
            },
        })
    }

    /// # Errors
    /// As [`Change::update`].
    pub(super) fn delete(delete: &Delete, tables: &mut dyn Tables, parameters: &mut Parameters) -> Result<Self> {
        let renamed = by_alias(&delete.table, delete.from.as_deref()).map(|(table, alias)| Delete {
            table,
            alias: Some(alias),
            ..delete.clone()
        });
        let delete = renamed.as_ref().unwrap_or(delete);
        over_view(&delete.table, tables, |tables| {
            direct_or_engine(
                tables,
                parameters,
                |tables, parameters| Self::direct_delete(delete, tables, parameters),
                |tables, parameters| Self::picked_delete(delete, tables, parameters),
            )
        })
    }

    fn direct_delete(delete: &Delete, tables: &mut dyn Tables, parameters: &mut Parameters) -> Result<Self> {
        if let Some(from) = &delete.from {
            let mut merge = joined((&delete.table, delete.alias.as_ref()), from, delete.selection.as_ref())?;
            merge.update = Some(Vec::new());
            return Self::from_rows(&merge, Some(true), tables, parameters);
        }
        let (structure, fields) = open(&delete.table, tables)?;
        let searched = match &delete.selection {
            Some(selection) => searched_columns(selection, &delete.table, tables)?,
            None => Vec::new(),
        };
        let mut scope = Scope::new(&fields, qualifiers(&delete.table, delete.alias.as_ref()), parameters);
        scope.searched = searched;
        let selection = condition(delete.selection.as_ref(), &mut scope)?;
        Ok(Self {
            table: delete.table.clone(),
            structure,
            fields,
            is_in_merge: false,
            kind: ChangeKind::Delete {
                selection,
                compiled: Compiled::default(),
            },
        })
    }

    /// An UPDATE or a DELETE from another table: each record that a row of it matches is changed once.
    fn from_rows(
        merge: &Merge,
        deletion: Option<bool>,
        tables: &mut dyn Tables,
        parameters: &mut Parameters,
    ) -> Result<Self> {
        let mut change = Self::direct_merge(merge, tables, parameters)?;
        if let ChangeKind::Merge(merging) = &mut change.kind {
            (merging.is_once, merging.deletion) = (true, deletion);
        }
        Ok(change)
    }

    /// Runs it and returns how many records were changed.
    ///
    /// # Errors
    /// [`Kind::Value`] for values that do not fit, and when the table cannot be read or written; nothing is changed then.
    pub(super) fn run(&self, tables: &mut dyn Tables, session: &Session<'_>) -> Result<u64> {
        over_view(&self.table, tables, |tables| self.run_shown(tables, session))
    }

    fn run_shown(&self, tables: &mut dyn Tables, session: &Session<'_>) -> Result<u64> {
        tables.may(&self.table, self.rights())?;
        tables.ready_to_write(&self.table)?;
        if let ChangeKind::Insert {
            columns,
            source: Source::Values(rows),
            is_deleted: false,
        } = &self.kind
            && let [row] = rows.as_slice()
            && !tables.fires(&self.table, TriggerEvent::Insert)?
        {
            // One record is one change anyway.
            let row = self.row(columns, row, session)?;
            self.append(&[row], false, tables)?;
            return Ok(1);
        }
        as_one(tables, |tables| self.run_within(tables, session))
    }

    /// What who runs it has to be allowed.
    fn rights(&self) -> Rights {
        let changed = |deletion: Option<bool>| match deletion {
            None => Rights::UPDATE,
            Some(_) => Rights(Rights::UPDATE.0 | Rights::DELETE.0),
        };
        match &self.kind {
            ChangeKind::Insert { is_deleted: false, .. } => Rights::INSERT,
            ChangeKind::Insert { .. } => Rights(Rights::INSERT.0 | Rights::DELETE.0),
            ChangeKind::Update { deletion, .. } => changed(*deletion),
            ChangeKind::Delete { .. } => Rights::DELETE,
            ChangeKind::Merge(merging) => merging.rights(),
            ChangeKind::Picked(picking) => picking.rights(),
        }
    }

    fn run_within(&self, tables: &mut dyn Tables, session: &Session<'_>) -> Result<u64> {
        match &self.kind {
            ChangeKind::Insert {
                columns,
                source,
                is_deleted,
            } => {
                let rows = match source {
                    Source::Values(rows) => {
                        let rows = rows.iter().map(|row| self.row(columns, row, session));
                        rows.collect::<Result<Vec<_>>>()?
                    }
                    Source::Queries(queries) => {
                        let mut all = Vec::new();
                        for (columns, query) in queries {
                            let rows = query.rows(tables, session)?;
                            check_count(rows.columns.len(), columns.len())?;
                            all.extend(self.queried(columns, &rows)?);
                        }
                        all
                    }
                };
                self.append(&rows, *is_deleted, tables)
            }
            ChangeKind::Update {
                columns,
                values,
                selection,
                compiled,
                deletion,
            } => {
                let (snapshot, records) = self.locked(selection.as_ref(), compiled, tables, session)?;
                let changes = self.values(&snapshot, &records, values, columns, session)?;
                self.replace(&records, columns, &changes, *deletion, tables)
            }
            ChangeKind::Delete { selection, compiled } => {
                let (_, records) = self.locked(selection.as_ref(), compiled, tables, session)?;
                if tables.fires(&self.table, TriggerEvent::Delete)? {
                    return self.delete_firing(&records, tables);
                }
                let (watch, table) = (tables.watch(), tables.editor(&self.table)?);
                for record in &records {
                    watch.check()?;
                    table.delete(*record)?;
                }
                tables.changed(&self.table);
                Ok(records.len() as u64)
            }
            ChangeKind::Merge(merging) => self.merge_rows(merging, tables, session),
            ChangeKind::Picked(picking) => self.change_picked(picking, tables, session),
        }
    }

    /// The values of one row of VALUES; a default is blank.
    fn row(&self, columns: &[usize], row: &[Option<Expr>], session: &Session<'_>) -> Result<NewValues> {
        let mut values = Vec::with_capacity(columns.len());
        for (column, expr) in columns.iter().zip(row) {
            if let Some(expr) = expr {
                let value = match expr.constant(session.parameters) {
                    Some(constant) => constant.clone(),
                    None => evaluate_alone(expr, session)?,
                };
                values.push((*column, self.fitted(*column, value)?));
            }
        }
        Ok(values)
    }

    fn queried(&self, columns: &[usize], rows: &Rows) -> Result<Vec<NewValues>> {
        let rows = rows_of(rows)?.into_iter().map(|row| {
            let values = columns.iter().zip(row);
            values
                .map(|(column, value)| Ok((*column, self.fitted(*column, value)?)))
                .collect()
        });
        rows.collect()
    }

    /// A value of the type of its column.
    fn fitted(&self, column: usize, value: Value) -> Result<Value> {
        let Some(described) = self.fields.get(column) else {
            return Ok(value);
        };
        let named = |error: Error| {
            Error::new(
                error.kind().clone(),
                format!("Column {}: {}", described.name, error.message()),
            )
        };
        match (described.type_of, &value) {
            // Whole numbers are rounded, not cut.
            (Type::Integer, Value::Decimal { .. } | Value::Double(_)) => {
                let rounded = value.cast(Type::Decimal(0)).map_err(named)?;
                rounded.cast(Type::Integer).map_err(named)
            }
            // The field decides how text is stored.
            (Type::Bytes, Value::Text(_)) => Ok(value),
            (type_of, _) => value.cast(type_of).map_err(named),
        }
    }

    fn append(&self, rows: &[NewValues], is_deleted: bool, tables: &mut dyn Tables) -> Result<u64> {
        if tables.fires(&self.table, TriggerEvent::Insert)? {
            return self.append_firing(rows, is_deleted, tables);
        }
        let (watch, table) = (tables.watch(), tables.editor(&self.table)?);
        self.structure.check_fields(table.fields(), &self.table)?;
        self.check_nulls(table, rows)?;
        for row in rows {
            watch.check()?;
            let fields = table.fields();
            let values: Vec<_> = row
                .iter()
                .filter_map(|(column, value)| Some((*column, fields.get(*column)?, value)))
                // A counter gives the next number for NULL, too.
                .filter(|(_, field, value)| !(value.is_null() && field.autoincrement.is_some()))
                .filter_map(|(column, field, value)| Some((column, stored(value, field)?)))
                .collect();
            let record = table.append_complete(&values)?;
            if is_deleted {
                table.lock_record(record)?;
                table.delete(record)?;
                table.unlock_record(record)?;
            }
        }
        tables.changed(&self.table);
        Ok(rows.len() as u64)
    }

    /// The records that fulfil a condition, locked.
    fn locked(
        &self,
        selection: Option<&Expr>,
        compiled: &Compiled,
        tables: &mut dyn Tables,
        session: &Session<'_>,
    ) -> Result<(Arc<Snapshot>, Vec<u32>)> {
        let shows_deleted = tables.shows_deleted();
        // From here on the table is seen as it is written.
        tables.editor(&self.table)?;
        let select = |snapshot: &Snapshot| {
            let reader = Reader::new(snapshot, &self.fields);
            let condition = compiled.get(selection, snapshot, session)?;
            Ok::<_, Error>(condition.select(&reader, session, shows_deleted)?.records(snapshot))
        };
        let snapshot = tables.snapshot(&self.table)?;
        self.structure.check(snapshot.structure(), &self.table)?;
        let records = select(&snapshot)?;
        tables
            .editor(&self.table)?
            .lock_records_or_file(records.iter().copied())?;
        // Between looking and locking others may have written.
        tables.changed(&self.table);
        let snapshot = tables.snapshot(&self.table)?;
        let now = select(&snapshot)?;
        let still = records.into_iter().filter(|record| now.binary_search(record).is_ok());
        Ok((snapshot, still.collect()))
    }

    /// What columns become in each record.
    fn values(
        &self,
        snapshot: &Snapshot,
        records: &[u32],
        values: &[Expr],
        columns: &[usize],
        session: &Session<'_>,
    ) -> Result<Vec<Vector>> {
        let reader = Reader::new(snapshot, &self.fields);
        let frame = reader.picked(records.to_vec());
        let evaluation = Evaluation::new(&frame, session);
        let computed = values.iter().zip(columns).map(|(value, column)| {
            let vector = evaluation.vector(value)?;
            let type_of = self.fields.get(*column).map_or(Type::Unknown, |field| field.type_of);
            match (type_of, vector.type_of()) {
                // Rounded as in new rows, also a constant.
                (Type::Integer, Type::Decimal(_) | Type::Double) => vector
                    .cast(Type::Decimal(0), records.len())?
                    .cast(Type::Integer, records.len()),
                (Type::Bytes, _) if vector.type_of().is_text() => Ok(vector),
                (type_of, _) => vector.cast(type_of, records.len()),
            }
        });
        computed.collect()
    }

    fn replace(
        &self,
        records: &[u32],
        columns: &[usize],
        values: &[Vector],
        deletion: Option<bool>,
        tables: &mut dyn Tables,
    ) -> Result<u64> {
        let changes = records.iter().enumerate().map(|(row, record)| {
            let values = columns.iter().copied().zip(values.iter().map(|v| v.value(row)));
            (*record, values.collect::<Vec<_>>())
        });
        self.write(changes, deletion, tables)
    }

    /// Writes what columns become, record by record.
    fn write(
        &self,
        changes: impl Iterator<Item = (u32, NewValues)>,
        deletion: Option<bool>,
        tables: &mut dyn Tables,
    ) -> Result<u64> {
        let event = match deletion {
            Some(true) => TriggerEvent::Delete,
            _ => TriggerEvent::Update,
        };
        if tables.fires(&self.table, event)? {
            return self.write_firing(changes, deletion, tables);
        }
        let (watch, table) = (tables.watch(), tables.editor(&self.table)?);
        let mut count = 0;
        for (record, values) in changes {
            watch.check()?;
            self.check_nulls(table, [&values])?;
            let fields = table.fields();
            let new: Vec<_> = values
                .iter()
                .filter_map(|(column, value)| Some((*column, stored(value, fields.get(*column)?)?)))
                .collect();
            table.replace(record, &new)?;
            match deletion {
                Some(true) => table.delete(record)?,
                Some(false) => table.recall(record)?,
                None => {}
            }
            count += 1;
        }
        tables.changed(&self.table);
        Ok(count)
    }
}

/// Does something as a whole or not at all.
pub(super) fn as_one<T>(tables: &mut dyn Tables, work: impl FnOnce(&mut dyn Tables) -> Result<T>) -> Result<T> {
    tables.begin_statement()?;
    let done = work(tables);
    let ended = tables.end_statement(done.is_ok());
    // The first error is returned.
    let done = done?;
    ended.map(|()| done)
}

/// Does something with what a view shows as a table, where it is a view that has triggers.
pub(super) fn over_view<T>(
    name: &TableName,
    tables: &mut dyn Tables,
    work: impl FnOnce(&mut dyn Tables) -> Result<T>,
) -> Result<T> {
    let is_shown = tables.show_view(name).map_err(|error| error.at(name.location.0))?;
    let done = work(tables);
    if is_shown {
        tables.hide_view(name);
    }
    done
}

/// A value as a field keeps it; `None` for what it keeps already: nothing.
fn stored<'v>(value: &'v Value, field: &Field) -> Option<xbase::Value<'v>> {
    Some(match value {
        Value::Null if field.nullable => xbase::Value::Null,
        Value::Null => match field.kind {
            FieldKind::Integer | FieldKind::IntegerDbase7 | FieldKind::Currency => xbase::Value::Integer(0),
            FieldKind::Double | FieldKind::DoubleDbase7 | FieldKind::NumericDouble => xbase::Value::Double(0.0),
            FieldKind::Time => xbase::Value::Time(0),
            _ => xbase::Value::Null,
        },
        // A field that is exempt from code page translation takes text, too, in the page of the table.
        Value::Text(text) => match field.data_type() {
            arrow_schema::DataType::Binary if !is_untranslated(field) || field.adt_type.is_some() => {
                xbase::Value::Bytes(text.as_bytes())
            }
            _ => xbase::Value::Text(match field.kind {
                FieldKind::Character | FieldKind::CharacterBinary => super::value::trimmed(text),
                _ => text,
            }),
        },
        Value::Integer(number) => xbase::Value::Integer(*number),
        Value::Decimal { unscaled, scale } => xbase::Value::Decimal {
            unscaled: *unscaled,
            scale: *scale,
        },
        Value::Double(number) => xbase::Value::Double(*number),
        Value::Logical(value) => xbase::Value::Logical(*value),
        Value::Date(EMPTY_DATE) | Value::Timestamp(EMPTY_TIMESTAMP) => xbase::Value::Null,
        Value::Date(days) => xbase::Value::Date(*days),
        Value::Time(ms) => xbase::Value::Time(*ms),
        Value::Timestamp(ms) => xbase::Value::Timestamp(*ms),
        Value::Bytes(bytes) => xbase::Value::Bytes(bytes),
    })
}

fn open(name: &TableName, tables: &mut dyn Tables) -> Result<(Structure, Vec<Column>)> {
    if tables.view(name).map_err(|error| error.at(name.location.0))?.is_some() {
        let why = format!("{name} is a view, and records are changed in the table that it shows");
        return Err(Error::new(Kind::Unsupported, why).at(name.location.0));
    }
    // Who may only add records may see what they are made of.
    tables.lend_rights(true);
    let snapshot = tables.snapshot_without_orders(name);
    tables.lend_rights(false);
    let snapshot = snapshot.map_err(|error| error.at(name.location.0))?;
    let columns = frames::columns(&snapshot);
    Ok((snapshot.structure(), columns))
}

fn check_count(given: usize, wanted: usize) -> Result<()> {
    match given == wanted {
        true => Ok(()),
        false => Err(Error::new(Kind::Value, format!("{given} columns for {wanted} columns"))),
    }
}

fn check_values(given: usize, wanted: usize) -> Result<()> {
    match given == wanted {
        true => Ok(()),
        false => Err(Error::new(Kind::Value, format!("{given} values for {wanted} columns"))),
    }
}

/// A query of one row.
fn values_alone(values: Vec<ast::Expr>) -> Result<Select> {
    let mut select = all_of(&TableName::new("nothing"))?;
    if let ast::SetExpr::Select(only) = &mut *select.query.body {
        only.from.clear();
        only.projection = picked::named_items(values);
    }
    Ok(select)
}

pub(super) fn all_of(name: &TableName) -> Result<Select> {
    let quoted: Vec<String> = name
        .parts
        .iter()
        .map(|part| format!("\"{}\"", part.replace('"', "\"\"")))
        .collect();
    let statements = super::parser::parse(&format!("SELECT {{static}} * FROM {}", quoted.join(".")))?;
    match statements.into_iter().next().map(|statement| statement.kind) {
        Some(super::statement::StatementKind::Select(select)) => Ok(*select),
        _ => Err(Error::new(Kind::Syntax, format!("Invalid table name: {name}"))),
    }
}

fn qualifiers(table: &TableName, alias: Option<&Ident>) -> Vec<String> {
    match alias {
        Some(alias) => vec![alias.value.clone()],
        None => vec![table.to_string(), table.last().to_owned()],
    }
}

fn places(columns: &[Ident], fields: &[Column]) -> Result<Vec<usize>> {
    let place = |column: &Ident| {
        let found = Column::find(fields, &column.value);
        found.ok_or_else(|| {
            Error::no_column(&column.value, fields.iter().map(|field| field.name.clone())).at(column.span.start)
        })
    };
    let places = columns.iter().map(place).collect::<Result<Vec<usize>>>()?;
    for (at, column) in columns.iter().enumerate() {
        if places[..at].contains(&places[at]) {
            let why = format!("Column {} is given two values", column.value);
            return Err(Error::new(Kind::Ambiguous, why).at(column.span.start));
        }
    }
    Ok(places)
}

fn assignments(
    assignments: &[(Ident, ast::Expr)],
    fields: &[Column],
    scope: &mut Scope<'_>,
) -> Result<(Vec<usize>, Vec<Expr>)> {
    let names: Vec<Ident> = assignments.iter().map(|(column, _)| column.clone()).collect();
    let columns = places(&names, fields)?;
    let values = assignments.iter().map(|(_, value)| scope.bind(value));
    Ok((columns, values.collect::<Result<Vec<_>>>()?))
}

fn condition(selection: Option<&ast::Expr>, scope: &mut Scope<'_>) -> Result<Option<Expr>> {
    let bound = selection.map(|selection| {
        let bound = scope.bind(selection)?;
        scope.condition(bound)
    });
    bound.transpose()
}

/// The values of rows in memory, row by row.
pub(super) fn rows_of(rows: &Rows) -> Result<Vec<Vec<Value>>> {
    let mut values = Vec::with_capacity(rows.count());
    for batch in &rows.batches {
        let vectors = batch
            .columns()
            .iter()
            .map(|array| Vector::of_column(array, 0, Blank::Apart));
        let vectors = vectors.collect::<Result<Vec<_>>>()?;
        values.extend((0..batch.num_rows()).map(|row| vectors.iter().map(|vector| vector.value(row)).collect()));
    }
    Ok(values)
}
