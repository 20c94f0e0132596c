//! Look-ups: `SELECT fields FROM t WHERE field = value`, where an order knows the records.
//!
//! The general lane compiles the condition for each value, makes a set of all records and plans a scan. Here the order is asked, the
//! records are read one by one, and what the answer looks like is kept. The answers are the same; whatever is not certain to be is
//! left to the general lane.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use tidemill_xbase::index::KeyValue;
use tidemill_xbase::{Blank, Deleted, FieldKind, Table};

use super::plan::{Plan, Source};
use crate::sql::answer::{ColumnDescription, Rows};
use crate::sql::condition::{exact, is_exact};
use crate::sql::error::Result;
use crate::sql::expression::{Comparison, Expr};
use crate::sql::prepared::Facts;
use crate::sql::tables::{Clock, Snapshot};
use crate::sql::value::{Value, trimmed};

/// The most records that are read one by one.
const FEW: usize = 64;

/// A query that is a look-up.
#[derive(Debug)]
pub(in crate::sql) struct Point {
    field: usize,
    value: Expr,
    /// The fields that it shows.
    fields: Vec<usize>,
    shown: Mutex<Option<Shown>>,
}

/// What the answer looks like.
#[derive(Debug, Clone)]
struct Shown {
    /// For which table. As long as this is kept, no other one has its address.
    table: Weak<Table>,
    schema: SchemaRef,
    columns: Vec<ColumnDescription>,
}

impl Point {
    /// The look-up that a plan is.
    pub(super) fn of(plan: &Plan) -> Option<Self> {
        let is_plain = plan.grouping.is_none()
            && plan.having.is_none()
            && !plan.is_distinct
            && plan.top.is_none()
            && plan.offset.is_none()
            && plan.order.is_empty();
        let (Source::Table(..), true) = (&plan.source, is_plain) else {
            return None;
        };
        let Some(Expr::Compare(Comparison::Equal, left, right)) = &plan.selection else {
            return None;
        };
        let (field, value) = match (&**left, &**right) {
            (Expr::Column(field), value) | (value, Expr::Column(field)) => (*field, value),
            _ => return None,
        };
        if !matches!(value, Expr::Parameter(_) | Expr::Value(_)) {
            return None;
        }
        let fields = plan.items.iter().map(|item| match (&item.expr, item.field) {
            (Expr::Column(index), Some(field)) if *index == field => Some(field),
            _ => None,
        });
        Some(Self {
            field,
            value: value.clone(),
            fields: fields.collect::<Option<Vec<_>>>()?,
            shown: Mutex::default(),
        })
    }

    /// The rows; `None` where the general lane has to find them.
    ///
    /// # Errors
    /// When the table or its index cannot be read.
    pub(super) fn rows(
        &self,
        plan: &Plan,
        snapshot: &Snapshot,
        parameters: &[Value],
        shows_deleted: bool,
    ) -> Result<Option<Rows>> {
        let (table, shows_deleted) = (snapshot.table(), snapshot.shows_deleted(shows_deleted));
        let value = match &self.value {
            Expr::Parameter(place) => parameters.get(*place),
            Expr::Value(value) => Some(value),
            _ => None,
        };
        let (Some(field), Some(value)) = (table.fields().get(self.field), value) else {
            return Ok(None);
        };
        let padded;
        let key = match (field.kind, value) {
            (FieldKind::Character, Value::Text(text)) => {
                let text = trimmed(text);
                if !text.is_ascii() || text.len() > field.width {
                    return Ok(None);
                }
                padded = format!("{text:<width$}", width = field.width);
                KeyValue::Character(padded.as_bytes())
            }
            _ if is_exact(field) => match exact(value) {
                // A blank has the key of 0.
                Some(0.0) if table.blank() == Blank::Null => return Ok(None),
                Some(number) => KeyValue::Number(number),
                None => return Ok(None),
            },
            _ => return Ok(None),
        };
        let has_memo = |index: &usize| table.fields().get(*index).is_none_or(|field| field.kind.uses_memo());
        if self.fields.iter().any(has_memo) {
            return Ok(None);
        }
        let orders = snapshot.filter_orders()?;
        let Some(records) = orders.records_with(table, self.field, &key, FEW)? else {
            return Ok(None);
        };
        let deleted = match shows_deleted {
            true => Deleted::Include,
            false => Deleted::Skip,
        };
        let arrays = snapshot.single_records().columns(&records, &self.fields, deleted)?;
        let shown = self.shown(plan, snapshot);
        Ok(Some(Rows {
            columns: shown.columns,
            batches: vec![RecordBatch::try_new(shown.schema, arrays)?],
        }))
    }

    fn shown(&self, plan: &Plan, snapshot: &Snapshot) -> Shown {
        let mut known = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        let table = snapshot.table();
        if let Some(shown) = known
            .as_ref()
            .filter(|shown| shown.table.as_ptr() == Arc::as_ptr(table))
        {
            return shown.clone();
        }
        // Its columns are fields, to which neither the clock nor parameters matter.
        let facts = Facts::alone(snapshot.environment().clone(), Clock::default());
        let session = facts.session(&[]);
        let shown = Shown {
            table: Arc::downgrade(table),
            schema: plan.schema(Some(snapshot), &session),
            columns: plan.descriptions(Some(snapshot), &session),
        };
        known.insert(shown).clone()
    }
}
