//! SELECT over one table.
//!
//! A query is bound once: names to columns, what is grouped and aggregated to columns of the groups. It runs over the columns of
//! the selected records, and the questions that applications ask all day go straight to the kernels of `tidemill-xbase`
//! ([`direct`]).
//!
//! What it does not do: joins, subqueries, windows. They go to the [`Analytical`](super::Analytical) engine, if there is one.

mod direct;
mod plan;
mod point;
mod row_numbers;
mod union;

use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::{ArrayRef, Int64Array, RecordBatch, RecordBatchOptions, UInt32Array};
use arrow_schema::{Field as ArrowField, Schema, SchemaRef};
use tidemill_xbase as xbase;
use tidemill_xbase::TableOrder;
use tidemill_xbase::aof::OptimizationLevel;

use super::answer::{Answer, ColumnDescription, Live, Rows};
use super::condition::Condition;
use super::error::{Error, Kind, Result};
use super::evaluate::{self, Evaluation, Frame, Session, evaluate_alone};
use super::expression::{Blank, Column, Expr};
use super::frames::{Reader, Selection};
use super::group::{Argument, Groups};
use super::interner::Keys;
use super::procedure;
use super::sort;
use super::tables::{Snapshot, Tables};
use super::value::{Type, Value};
use super::vector::{Vector, data_type, into_type};

pub(super) use plan::{
    Item, Plan, Source, Top, columns_of_system, only_select, procedure_shape, system_rows, table_name,
};
pub(super) use union::Query;

use crate::FieldType;

/// The condition of the last run, which the next one can use when its parameters have the same values.
#[derive(Debug, Default)]
pub(super) struct Compiled(Mutex<Option<(Vec<Value>, Arc<Condition>)>>);

impl Compiled {
    pub(super) fn get(
        &self,
        selection: Option<&Expr>,
        snapshot: &Snapshot,
        session: &Session<'_>,
    ) -> Result<Arc<Condition>> {
        // What depends on the clock or on the session is compiled anew.
        let mut is_stable = true;
        if let Some(selection) = selection {
            selection.visit(&mut |part| is_stable &= !matches!(part, Expr::Call(..) | Expr::User(..)));
        }
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((parameters, condition)) = &*known
            && is_stable
            && parameters == session.parameters
        {
            return Ok(Arc::clone(condition));
        }
        let condition = Arc::new(Condition::new(selection, snapshot, session)?);
        if is_stable {
            *known = Some((session.parameters.to_vec(), Arc::clone(&condition)));
        }
        Ok(condition)
    }
}

impl Plan {
    /// Whether an index of words may answer some of its condition.
    fn searches_texts(&self) -> bool {
        let mut does = false;
        if let Some(selection) = &self.selection {
            selection.visit(&mut |part| {
                does |= matches!(part, Expr::Call(function, _) if matches!(function.name, "CONTAINS" | "SCORE" | "SCOREDISTINCT"));
            });
        }
        does
    }

    /// Runs it: to a live cursor where it can be one and `allows_live`, else to rows.
    ///
    /// # Errors
    /// As [`evaluate`](super::evaluate::evaluate), and when the table cannot be read.
    pub(super) fn run(&self, tables: &mut dyn Tables, session: &Session<'_>, allows_live: bool) -> Result<Answer> {
        match &self.source {
            Source::Table(name, structure) => {
                if allows_live && self.live_columns.is_some() {
                    // Its work area has orders of its own, but an order that it is walked in is looked for here, and an index of words.
                    let snapshot = match self.needs_no_orders() {
                        true => tables.snapshot_without_orders(name)?,
                        false => tables.snapshot(name)?,
                    };
                    structure.check(snapshot.structure(), name)?;
                    if let Some(live) = self.live(&snapshot, session)? {
                        return Ok(Answer::Live(Box::new(live)));
                    }
                }
                let snapshot = tables.snapshot(name)?;
                structure.check(snapshot.structure(), name)?;
                let rows = self.over_table(&snapshot, session, tables.shows_deleted(), tables.most_sorted())?;
                self.numbered(rows).map(Answer::Rows)
            }
            Source::Rows(rows) => self.answer(rows, session),
            Source::System(name) => {
                let rows = system_rows(name, tables)?;
                self.answer(&rows, session)
            }
            Source::Procedure(name, arguments) => {
                let arguments = arguments.iter().map(|argument| evaluate_alone(argument, session));
                let arguments = arguments.collect::<Result<Vec<_>>>()?;
                match procedure::run(name, &arguments, tables)? {
                    Answer::Rows(rows) => self.answer(&rows, session),
                    _ => Err(Error::new(Kind::Unsupported, format!("{name} gave no rows"))),
                }
            }
            Source::View(query) => {
                tables.lend_rights(true);
                let rows = query.rows(tables, session);
                tables.lend_rights(false);
                self.answer(&rows?, session)
            }
            Source::Query(query) => {
                let rows = query.rows(tables, session)?;
                self.answer(&rows, session)
            }
        }
    }

    /// The live cursor that is the answer, where nothing of the table is read to know that.
    ///
    /// # Errors
    /// As [`Plan::run`].
    pub(super) fn live_unread(&self, tables: &mut dyn Tables, session: &Session<'_>) -> Result<Option<Live>> {
        let (Source::Table(name, structure), true) =
            (&self.source, self.live_columns.is_some() && self.needs_no_orders())
        else {
            return Ok(None);
        };
        let snapshot = tables.snapshot_without_orders(name)?;
        structure.check(snapshot.structure(), name)?;
        self.live(&snapshot, session)
    }

    /// Whether a live cursor is had without the orders of its table.
    fn needs_no_orders(&self) -> bool {
        self.order.is_empty() && !self.searches_texts()
    }

    fn answer(&self, rows: &Rows, session: &Session<'_>) -> Result<Answer> {
        self.numbered(self.over_rows(rows, session)?).map(Answer::Rows)
    }

    /// Whether a column is the number of its row.
    pub(super) fn has_row_numbers(&self) -> bool {
        self.items.iter().any(|item| item.expr == Expr::RowNumber)
    }

    /// The rows with their numbers, where a column is these.
    fn numbered(&self, mut rows: Rows) -> Result<Rows> {
        if !self.has_row_numbers() {
            return Ok(rows);
        }
        let mut next = 1_i64;
        for batch in &mut rows.batches {
            let behind = next.saturating_add(i64::try_from(batch.num_rows()).unwrap_or(i64::MAX));
            let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(next..behind));
            next = behind;
            let columns = batch.columns().iter().zip(&self.items);
            let columns = columns.map(|(column, item)| match item.expr {
                Expr::RowNumber => Arc::clone(&numbers),
                _ => Arc::clone(column),
            });
            *batch = RecordBatch::try_new(batch.schema(), columns.collect())?;
        }
        Ok(rows)
    }

    /// The answer of a look-up; `None` for other queries, and where the general lane has to find it.
    ///
    /// # Errors
    /// As [`Plan::run`].
    pub(super) fn look_up(&self, tables: &mut dyn Tables, parameters: &[Value]) -> Result<Option<Rows>> {
        let (Some(point), Source::Table(name, structure), false) = (&self.point, &self.source, self.has_row_numbers())
        else {
            return Ok(None);
        };
        let shows_deleted = tables.shows_deleted();
        if let Some(last) = tables.read_last(name)?
            && structure.check(last.snapshot().structure(), name).is_ok()
        {
            // An error may come from a file that has just changed. If it is real, the locked read below reports it.
            match point.rows(self, last.snapshot(), parameters, shows_deleted) {
                Ok(None) => return Ok(None),
                Ok(rows) if last.is_still() => return Ok(rows),
                _ => {}
            }
        }
        let snapshot = tables.snapshot(name)?;
        structure.check(snapshot.structure(), name)?;
        point.rows(self, &snapshot, parameters, shows_deleted)
    }

    /// What [`Plan::live_columns`] are.
    fn own_columns(&self) -> Option<Arc<[(String, usize)]>> {
        if self.grouping.is_some() || self.top.is_some() || self.offset.is_some() || self.is_static {
            return None;
        }
        let fields = self.items.iter().map(|item| match item.expr {
            Expr::Column(index) => Some((item.name.clone(), index)),
            _ => None,
        });
        fields.collect()
    }

    /// The columns that it is ordered by, where it is by nothing else and by all of them the same way.
    fn columns_of_order(&self) -> Option<Vec<usize>> {
        let (_, descends) = self.order.first()?;
        // The keys of a field that ignores case do so, too.
        let columns = self.order.iter().map(|(expr, descending)| match expr {
            Expr::Small(field) => match **field {
                Expr::Column(index) if descending == descends => Some(index),
                _ => None,
            },
            Expr::Column(index) if descending == descends => Some(*index),
            _ => None,
        });
        columns.collect()
    }

    /// The live cursor that the answer can be: one table, its own columns, a condition that is a filter, an order of an index.
    pub(super) fn live(&self, snapshot: &Arc<Snapshot>, session: &Session<'_>) -> Result<Option<Live>> {
        // A work area shows blanks as ADS does, and its orders sort them so.
        let shows_all = snapshot.table().blank() == xbase::Blank::Zero;
        let Some(columns) = self.live_columns.as_ref().filter(|_| shows_all) else {
            return Ok(None);
        };
        let order = match self.order.first() {
            None => None,
            Some((_, descending)) => {
                let found = self.columns_of_order().map(|columns| order_of(snapshot, &columns));
                let Some((name, is_descending)) = found.transpose()?.flatten() else {
                    return Ok(None);
                };
                Some((name, is_descending != *descending))
            }
        };
        let condition = self.compiled.get(self.selection.as_ref(), snapshot, session)?;
        if !condition.rest.is_empty() {
            return Ok(None);
        }
        Ok(Some(Live {
            snapshot: Arc::clone(snapshot),
            filter: condition.syntax.clone(),
            compiled: condition.compiled(snapshot)?,
            order,
            columns: Arc::clone(columns),
        }))
    }

    fn over_table(
        &self,
        snapshot: &Snapshot,
        session: &Session<'_>,
        shows_deleted: bool,
        most_sorted: Option<usize>,
    ) -> Result<Rows> {
        if let Some(rows) = direct::count_all(self, snapshot, session, shows_deleted)? {
            return Ok(rows);
        }
        let reader = Reader::new(snapshot, &self.columns);
        let selection = self.matching(&reader, session, shows_deleted)?;
        let is_large = most_sorted.is_some_and(|most| selection.count(snapshot) > most);
        if let Some(grouping) = &self.grouping {
            let columns = grouping.columns(&self.columns, session.parameters);
            let (rows, vectors) = match direct::groups(grouping, snapshot, &selection)? {
                Some(groups) => groups,
                None if is_large => return Err(large("group")),
                None => self.groups(&reader, &selection, session)?,
            };
            let frame = evaluate::Rows {
                rows,
                columns: &columns,
                vectors,
            };
            return self.assemble(&frame, session, Some(snapshot));
        }
        let (offset, limit) = self.limits(selection.count(snapshot), session)?;
        let records = match self.order.is_empty() {
            true if offset == 0 && limit.is_none() => return self.project(&reader, &selection, session),
            true => {
                let records = selection.records(snapshot);
                let rows = records.into_iter().skip(offset);
                rows.take(limit.unwrap_or(usize::MAX)).collect()
            }
            false => {
                let wanted = limit.map(|limit| limit.saturating_add(offset));
                let mut records = match direct::top(self, snapshot, &selection, wanted)? {
                    Some(records) => records,
                    None if is_large => return Err(large("sort")),
                    None => self.ordered(&reader, &selection, session, wanted)?,
                };
                records.drain(..offset.min(records.len()));
                records
            }
        };
        let frame = reader.picked(records);
        let batch = self.batch(&frame, session, snapshot)?;
        Ok(self.rows_of(snapshot, session, vec![batch]))
    }

    /// For EXPLAIN: refuses what [`Plan::run`] refuses as too large, without its sorting and grouping.
    ///
    /// # Errors
    /// [`Kind::Large`], and as [`Plan::run`].
    pub(super) fn check_size(&self, snapshot: &Snapshot, session: &Session<'_>, tables: &dyn Tables) -> Result<()> {
        let Some(most) = tables.most_sorted() else {
            return Ok(());
        };
        let what = match &self.grouping {
            Some(grouping) if !direct::knows_groups(grouping, snapshot) => "group",
            None if !self.order.is_empty() => "sort",
            _ => return Ok(()),
        };
        let reader = Reader::new(snapshot, &self.columns);
        let count = self.matching(&reader, session, tables.shows_deleted())?.count(snapshot);
        if self.grouping.is_none() {
            let (offset, limit) = self.limits(count, session)?;
            let wanted = limit.map(|limit| limit.saturating_add(offset));
            if direct::top_field(self, snapshot, wanted).is_some() {
                return Ok(());
            }
        }
        if count > most { Err(large(what)) } else { Ok(()) }
    }

    /// The records that fulfil the condition.
    fn matching(&self, reader: &Reader<'_>, session: &Session<'_>, shows_deleted: bool) -> Result<Selection> {
        let condition = self.compiled.get(self.selection.as_ref(), reader.snapshot, session)?;
        condition.select(reader, session, shows_deleted)
    }

    /// The records of a query without an order: those that fulfil the condition, within its limits.
    pub(super) fn selected(
        &self,
        snapshot: &Snapshot,
        session: &Session<'_>,
        shows_deleted: bool,
    ) -> Result<Selection> {
        let reader = Reader::new(snapshot, &self.columns);
        let selection = self.matching(&reader, session, shows_deleted)?;
        let (offset, limit) = self.limits(selection.count(snapshot), session)?;
        Ok(selection.limited(snapshot, offset, limit))
    }

    /// Every selected record, in the order of the table.
    fn project(&self, reader: &Reader<'_>, selection: &Selection, session: &Session<'_>) -> Result<Rows> {
        let mut batches = Vec::new();
        for frame in reader.frames(selection) {
            batches.push(self.batch(&frame, session, reader.snapshot)?);
        }
        if batches.is_empty() {
            batches.push(RecordBatch::new_empty(self.schema(Some(reader.snapshot), session)));
        }
        Ok(self.rows_of(reader.snapshot, session, batches))
    }

    /// The first records in the order of the query, or all.
    fn ordered(
        &self,
        reader: &Reader<'_>,
        selection: &Selection,
        session: &Session<'_>,
        wanted: Option<usize>,
    ) -> Result<Vec<u32>> {
        let (mut records, mut keys) = (Vec::new(), vec![Vec::new(); self.order.len()]);
        for frame in reader.frames(selection) {
            let evaluation = Evaluation::new(&frame, session);
            for ((expr, _), key) in self.order.iter().zip(&mut keys) {
                key.push((evaluation.settled(expr)?, frame.rows()));
            }
            records.extend(frame.records());
        }
        let keys = self.sort_keys(keys, records.len())?;
        let rows = sort::sorted(&keys, records.len(), wanted);
        let record = |row: u32| records.get(row as usize).copied().unwrap_or_default();
        Ok(rows.into_iter().map(record).collect())
    }

    fn sort_keys(&self, keys: Vec<Vec<(Vector, usize)>>, rows: usize) -> Result<Vec<(Vec<u64>, bool)>> {
        let keys = keys.into_iter().zip(&self.order).map(|(parts, (_, descending))| {
            let whole = Vector::concatenated(parts)?;
            Ok((sort::keys(&whole, rows), *descending))
        });
        keys.collect()
    }

    fn groups(
        &self,
        reader: &Reader<'_>,
        selection: &Selection,
        session: &Session<'_>,
    ) -> Result<(usize, Vec<Vector>)> {
        let frames = reader.frames(selection);
        let frames: Vec<&dyn Frame> = frames.iter().map(|frame| frame as &dyn Frame).collect();
        self.grouped(&frames, session)
    }

    fn grouped(&self, frames: &[&dyn Frame], session: &Session<'_>) -> Result<(usize, Vec<Vector>)> {
        let Some(grouping) = &self.grouping else {
            return Ok((0, Vec::new()));
        };
        let mut groups = Groups::new(grouping.keys.len(), &grouping.aggregates);
        for frame in frames {
            let evaluation = Evaluation::new(*frame, session);
            let keys = grouping.keys.iter().map(|key| evaluation.settled(key));
            let keys = keys.collect::<Result<Vec<_>>>()?;
            let arguments = grouping.aggregates.iter().map(|aggregate| {
                let argument = aggregate.argument.as_ref();
                let argument = argument.map(|argument| evaluation.settled(argument)).transpose()?;
                let order = aggregate.concat.iter().flat_map(|concat| &concat.order);
                let order = order.map(|(key, _)| evaluation.settled(key));
                let compared = aggregate.compared.as_ref();
                Ok(Argument {
                    value: argument,
                    compared: compared.map(|compared| evaluation.settled(compared)).transpose()?,
                    order: order.collect::<Result<Vec<_>>>()?,
                })
            });
            let arguments = arguments.collect::<Result<Vec<_>>>()?;
            groups.add(&keys, &arguments, frame.rows())?;
        }
        let types = grouping
            .keys
            .iter()
            .map(|key| key.type_of(&self.columns, session.parameters));
        let types: Vec<Type> = types.collect();
        groups.finish(&types)
    }

    /// Rows that are in memory, as a whole.
    pub(super) fn over_rows(&self, rows: &Rows, session: &Session<'_>) -> Result<Rows> {
        let mut vectors = Vec::with_capacity(self.columns.len());
        let count = rows.count();
        for (index, Column { blank, .. }) in self.columns.iter().enumerate() {
            let blank = *blank;
            let parts = rows.batches.iter().filter_map(|batch| {
                let array = batch.columns().get(index)?;
                Some(Vector::of_column(array, 0, blank).map(|vector| (vector, array.len())))
            });
            vectors.push(Vector::concatenated(parts.collect::<Result<Vec<_>>>()?)?);
        }
        let mut frame = evaluate::Rows {
            rows: count,
            columns: &self.columns,
            vectors,
        };
        if let Some(selection) = &self.selection {
            let mask = Evaluation::new(&frame, session).logical(selection)?;
            let kept = frame
                .vectors
                .iter()
                .map(|vector| vector.clone().into_rows(count).keep(&mask));
            let vectors = kept.collect::<Result<Vec<_>>>()?;
            let rows = (0..mask.len()).filter(|row| is_true(&mask, *row)).count();
            frame = evaluate::Rows {
                rows,
                columns: &self.columns,
                vectors,
            };
        }
        let Some(grouping) = &self.grouping else {
            return self.assemble(&frame, session, None);
        };
        let columns = grouping.columns(&self.columns, session.parameters);
        let (rows, vectors) = self.grouped(&[&frame], session)?;
        let groups = evaluate::Rows {
            rows,
            columns: &columns,
            vectors,
        };
        self.assemble(&groups, session, None)
    }

    /// HAVING, DISTINCT, ORDER BY and LIMIT over a frame in memory.
    fn assemble(&self, frame: &evaluate::Rows<'_>, session: &Session<'_>, snapshot: Option<&Snapshot>) -> Result<Rows> {
        let evaluation = Evaluation::new(frame, session);
        let mut rows: Vec<u32> = (0..u32::try_from(frame.rows).unwrap_or(u32::MAX)).collect();
        if let Some(having) = &self.having {
            let holds = evaluation.logical(having)?;
            rows.retain(|row| is_true(&holds, *row as usize));
        }
        let picked = UInt32Array::from(rows.clone());
        let take = |expr: &Expr| -> Result<Vector> {
            let vector = evaluation.settled(expr)?;
            match picked.len() == frame.rows {
                true => Ok(vector),
                false => vector.take(&picked),
            }
        };
        let items = self
            .items
            .iter()
            .map(|item| take(&item.expr))
            .collect::<Result<Vec<_>>>()?;
        let count = rows.len();
        let mut order: Vec<u32> = (0..u32::try_from(count).unwrap_or(u32::MAX)).collect();
        if !self.order.is_empty() {
            let keys = self.order.iter().map(|(expr, _)| Ok(vec![(take(expr)?, count)]));
            let keys = self.sort_keys(keys.collect::<Result<Vec<_>>>()?, count)?;
            let has_all = self.is_distinct || self.top.is_none();
            let wanted = match has_all {
                true => None,
                false => {
                    let (offset, limit) = self.limits(count, session)?;
                    limit.map(|limit| limit.saturating_add(offset))
                }
            };
            order = sort::sorted(&keys, count, wanted);
        }
        if self.is_distinct {
            let told_apart = self.items.iter().zip(&items).map(|(item, shown)| {
                match item.expr.coercion(frame.columns).ignores_case() {
                    true => take(&Expr::Small(Box::new(item.expr.clone()))),
                    false => Ok(shown.clone()),
                }
            });
            let told_apart = told_apart.collect::<Result<Vec<_>>>()?;
            let mut keys = Keys::new(told_apart.len());
            let numbers = keys.number(&told_apart, count);
            let mut is_met = vec![false; keys.len()];
            order.retain(|row| {
                let number = numbers.get(*row as usize).map_or(0, |number| *number as usize);
                is_met.get_mut(number).is_some_and(|met| !std::mem::replace(met, true))
            });
        }
        let (offset, limit) = self.limits(order.len(), session)?;
        let shown = order.into_iter().skip(offset).take(limit.unwrap_or(usize::MAX));
        let shown: UInt32Array = shown.map(Some).collect();
        let types = self.types(session);
        let mut columns = Vec::with_capacity(items.len());
        for (item, type_of) in items.into_iter().zip(&types) {
            let item = item.into_rows(count).take(&shown)?;
            columns.push(item.into_answer(*type_of, shown.len())?);
        }
        let descriptions = self.descriptions(snapshot, session);
        let batch = batch_in(&self.schema(snapshot, session), columns, shown.len())?;
        Ok(Rows {
            columns: descriptions,
            batches: vec![batch],
        })
    }

    pub(super) fn batch(&self, frame: &dyn Frame, session: &Session<'_>, snapshot: &Snapshot) -> Result<RecordBatch> {
        let evaluation = Evaluation::new(frame, session);
        let types = self.types(session);
        let schema = self.schema(Some(snapshot), session);
        let mut columns = Vec::with_capacity(self.items.len());
        for ((item, type_of), field) in self.items.iter().zip(types).zip(schema.fields()) {
            // A field that is shown as it is needs no look at its values.
            let stored = match item.field {
                Some(index) => frame.stored(index)?,
                None => None,
            };
            columns.push(match stored.filter(|array| array.data_type() == field.data_type()) {
                Some(array) => array,
                None => evaluation.settled(&item.expr)?.into_answer(type_of, frame.rows())?,
            });
        }
        batch_in(&schema, columns, frame.rows())
    }

    /// The columns of the answer: a field that is shown as it is has the type that it has in the table, and its metadata.
    pub(super) fn schema(&self, snapshot: Option<&Snapshot>, session: &Session<'_>) -> SchemaRef {
        let items = self.items.iter().zip(self.types(session));
        let fields = items.map(|(item, type_of)| {
            let table = snapshot.map(|snapshot| snapshot.table());
            match item
                .field
                .zip(table)
                .and_then(|(field, table)| table.fields().get(field))
            {
                Some(field) => field.arrow_field().with_name(&item.name),
                None => ArrowField::new(&item.name, data_type(type_of), true),
            }
        });
        Arc::new(Schema::new(fields.collect::<Vec<_>>()))
    }

    fn rows_of(&self, snapshot: &Snapshot, session: &Session<'_>, batches: Vec<RecordBatch>) -> Rows {
        Rows {
            columns: self.describe(snapshot, session),
            batches,
        }
    }

    /// How many rows are passed over, and how many are shown.
    fn limits(&self, rows: usize, session: &Session<'_>) -> Result<(usize, Option<usize>)> {
        let whole = |expr: &Expr| -> Result<usize> {
            let value = evaluate_alone(expr, session)?;
            let number = value.to_i64().and_then(|number| usize::try_from(number).ok());
            number.ok_or_else(|| Error::new(Kind::Value, "A number of rows is not negative"))
        };
        let offset = self.offset.as_ref().map(whole).transpose()?.unwrap_or(0);
        let limit = match &self.top {
            None => None,
            Some(Top::Rows(count)) => Some(whole(count)?),
            Some(Top::Percent(percent)) => {
                let percent = whole(percent)?.min(100);
                Some(rows.saturating_mul(percent).div_ceil(100))
            }
        };
        Ok((offset, limit))
    }

    /// The types of the items.
    pub(super) fn types(&self, session: &Session<'_>) -> Vec<Type> {
        let columns = match &self.grouping {
            None => self.columns.clone(),
            Some(grouping) => grouping.columns(&self.columns, session.parameters),
        };
        let items = self.items.iter();
        items
            .map(|item| item.expr.type_of(&columns, session.parameters))
            .collect()
    }

    fn describe(&self, snapshot: &Snapshot, session: &Session<'_>) -> Vec<ColumnDescription> {
        self.descriptions(Some(snapshot), session)
    }

    pub(super) fn descriptions(&self, snapshot: Option<&Snapshot>, session: &Session<'_>) -> Vec<ColumnDescription> {
        let items = self.items.iter().zip(self.types(session));
        items
            .map(|(item, type_of)| {
                let table = snapshot.map(|snapshot| snapshot.table());
                let field = item
                    .field
                    .zip(table)
                    .and_then(|(field, table)| Some((table.fields().get(field)?, table)));
                match field {
                    Some((field, table)) => ColumnDescription::of_field(item.name.clone(), field, table),
                    None => ColumnDescription::of_type(item.name.clone(), type_of),
                }
            })
            .collect()
    }

    /// How far orders answer the condition, for EXPLAIN.
    ///
    /// # Errors
    /// As [`Condition::level`].
    pub(super) fn level(
        &self,
        snapshot: &Snapshot,
        session: &Session<'_>,
    ) -> Result<(OptimizationLevel, Arc<Condition>)> {
        let condition = self.compiled.get(self.selection.as_ref(), snapshot, session)?;
        Ok((condition.level(snapshot)?, condition))
    }
}

/// The refusal of more records than the caller leaves here.
fn large(what: &str) -> Error {
    Error::new(
        Kind::Large,
        format!("There are more records to {what} than are left to these lanes"),
    )
}

fn is_true(mask: &arrow_array::BooleanArray, row: usize) -> bool {
    use arrow_array::Array as _;
    mask.is_valid(row) && mask.value(row)
}

pub(super) fn batch_of(columns: &[ColumnDescription], arrays: Vec<ArrayRef>, rows: usize) -> Result<RecordBatch> {
    let fields = columns.iter().zip(&arrays);
    let fields = fields.map(|(column, array)| ArrowField::new(&column.name, array.data_type().clone(), true));
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    Ok(RecordBatch::try_new_with_options(schema, arrays, &options)?)
}

/// Columns of an answer as their schema has them.
fn batch_in(schema: &SchemaRef, arrays: Vec<ArrayRef>, rows: usize) -> Result<RecordBatch> {
    let columns = schema.fields().iter().zip(arrays);
    let columns = columns.map(|(field, array)| into_type(array, field.data_type()));
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    Ok(RecordBatch::try_new_with_options(
        Arc::clone(schema),
        columns.collect::<Result<Vec<_>>>()?,
        &options,
    )?)
}

/// The order whose keys are these fields and nothing else, and whether it runs from the greatest. Several make the keys of an ADT alone.
fn order_of(snapshot: &Snapshot, columns: &[usize]) -> Result<Option<(String, bool)>> {
    let table = snapshot.table();
    let fields = columns.iter().map(|column| table.fields().get(*column));
    let Some(fields) = fields.collect::<Option<Vec<_>>>() else {
        return Ok(None);
    };
    let is_adt = table.header().dialect == xbase::Dialect::Adt;
    if fields.len() > 1 && !is_adt {
        return Ok(None);
    }
    let names: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
    let wanted = names.join(";");
    // The orders of an ADT name fields by number.
    let is_wanted = |expression: &str| match is_adt {
        true => xbase::named_expression(expression, table.fields()).eq_ignore_ascii_case(&wanted),
        false => expression.trim().eq_ignore_ascii_case(&wanted),
    };
    let records = table.record_count();
    let found = snapshot.orders()?.iter().map(TableOrder::order).find(|order| {
        let tag = order.tag();
        let is_whole = tag.condition.is_none() && !tag.is_unique && !tag.is_custom;
        // A candidate index need not have every record; a damaged one is not followed.
        let has_all = || !tag.is_candidate || order.has_each(records).unwrap_or(false);
        is_whole && is_wanted(&tag.expression) && order.is_known() && has_all()
    });
    Ok(found.map(|order| (order.tag().name.clone(), order.tag().is_descending)))
}

/// The columns of rows in memory.
pub(super) fn columns_of(rows: &Rows) -> Vec<Column> {
    let batch = rows.batches.first();
    let columns = rows.columns.iter().enumerate();
    columns
        .map(|(index, column)| Column {
            name: column.name.clone(),
            short_name: String::new(),
            type_of: batch
                .and_then(|batch| batch.columns().get(index))
                .and_then(|array| Vector::of_column(array, 0, Blank::Apart).ok())
                .map_or(Type::Unknown, |vector| match vector.type_of() {
                    Type::Text(_) => Type::Text(column.length),
                    other => other,
                }),
            blank: Blank::Apart,
            ignores_case: column.field_type == FieldType::CaseInsensitiveString,
        })
        .collect()
}

/// Rows of no columns and one row: what a query without FROM is over.
pub(super) fn one_row() -> Rows {
    let options = RecordBatchOptions::new().with_row_count(Some(1));
    let batch = RecordBatch::try_new_with_options(Arc::new(Schema::empty()), Vec::new(), &options);
    Rows {
        columns: Vec::new(),
        batches: batch.into_iter().collect(),
    }
}
