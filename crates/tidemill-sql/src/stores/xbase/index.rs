//! Which records of a table a condition leaves at most, from the table's production index.
//!
//! Where orders answer a comparison of a field with a literal, only the records that they name are read, and the condition is looked
//! at again for each of them. So orders may name too many: those of a text name every text that begins with it, blanks are values
//! to them, and of long numbers they know the nearest double. What they do not answer, and an index that cannot be read, leaves all
//! records. Doubles are in a total order here, with NaN at its ends and -0 below 0, and in another there: they are not told.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::types::{Decimal128Type, DecimalType};
use datafusion::common::ScalarValue;
use datafusion::logical_expr::expr::{Between, InList};
use datafusion::logical_expr::{BinaryExpr, Expr, Operator};
use tidemill_ads::sql::Snapshot;
use tidemill_xbase::aof::{Filter, FilterOrders, OptimizationLevel};
use tidemill_xbase::expression::Environment;
use tidemill_xbase::{Bitmap, ColumnCache, Columns, FieldKind, Sharing, Table, production_path};

/// Of so many records one may be read by an order: of more, all are read faster.
const ONE_OF: u32 = 8;

/// So many values of an IN are told at once.
const VALUES: usize = 16;

/// The most values of an IN that are told.
const MOST_VALUES: usize = 1_000;

/// A table's production index.
pub(super) struct ProductionIndex {
    path: PathBuf,
    snapshot: Snapshot,
}

impl ProductionIndex {
    /// `None` where there is none.
    pub(super) fn of(table: &Arc<Table>) -> Option<Self> {
        let path = production_path(table).ok().flatten()?;
        let columns = Columns::new(table, &ColumnCache::new(0), Sharing::Shared).ok()?;
        let environment = Environment::with_all_letters(table.codepage());
        Some(Self {
            snapshot: Snapshot::new(columns, true, environment),
            path,
        })
    }

    /// The file.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The records that can fulfil all of these conditions; `None` where orders do not tell, or too many are left.
    pub(super) fn records(&self, conditions: &[Expr]) -> Option<Bitmap> {
        let orders = self.snapshot.filter_orders().ok()?;
        let mut records: Option<Bitmap> = None;
        for set in conditions.iter().filter_map(|condition| self.set(condition, orders)) {
            match &mut records {
                Some(records) => records.intersect(&set),
                None => records = Some(set),
            }
        }
        let table = self.snapshot.table();
        records.filter(|records| records.count() <= table.record_count() / ONE_OF)
    }

    /// The records that can fulfil a condition; `None` where orders do not tell.
    fn set(&self, condition: &Expr, orders: &FilterOrders) -> Option<Bitmap> {
        if let Expr::InList(InList {
            expr,
            list,
            negated: false,
        }) = condition
            && (VALUES + 1..=MOST_VALUES).contains(&list.len())
        {
            let parts = list.chunks(VALUES).map(|values| {
                let part = expr.as_ref().clone().in_list(values.to_vec(), false);
                self.set(&part, orders)
            });
            return parts.reduce(|all, part| {
                let mut all = all?;
                all.unite(&part?);
                Some(all)
            })?;
        }
        let (table, environment) = (self.snapshot.table(), self.snapshot.environment());
        let filter = Filter::new(&self.told(condition)?, table, environment).ok()?;
        let is_told = filter.level(table, orders) == OptimizationLevel::Full;
        is_told.then(|| filter.bitmap_by(table, orders).ok()).flatten()
    }

    /// A condition as an expression of xBase that leaves out no record which fulfils it.
    fn told(&self, condition: &Expr) -> Option<String> {
        match condition {
            Expr::BinaryExpr(BinaryExpr { left, op, right }) => match op {
                Operator::And => match (self.told(left), self.told(right)) {
                    (Some(left), Some(right)) => Some(format!("({left}) .AND. ({right})")),
                    (one, other) => one.or(other),
                },
                Operator::Or => Some(format!("({}) .OR. ({})", self.told(left)?, self.told(right)?)),
                _ => match (left.as_ref(), right.as_ref()) {
                    (Expr::Literal(value, _), column) => self.compared(column, op.swap()?, value),
                    (column, Expr::Literal(value, _)) => self.compared(column, *op, value),
                    _ => None,
                },
            },
            Expr::Between(Between {
                expr,
                negated: false,
                low,
                high,
            }) => {
                let (Expr::Literal(low, _), Expr::Literal(high, _)) = (low.as_ref(), high.as_ref()) else {
                    return None;
                };
                let (low, high) = (
                    self.compared(expr, Operator::GtEq, low)?,
                    self.compared(expr, Operator::LtEq, high)?,
                );
                Some(format!("{low} .AND. {high}"))
            }
            Expr::InList(InList {
                expr,
                list,
                negated: false,
            }) if list.len() <= VALUES => {
                let values = list.iter().map(|value| match value {
                    Expr::Literal(value, _) => self.compared(expr, Operator::Eq, value),
                    _ => None,
                });
                Some(values.collect::<Option<Vec<_>>>()?.join(" .OR. "))
            }
            _ => None,
        }
    }

    fn compared(&self, column: &Expr, op: Operator, value: &ScalarValue) -> Option<String> {
        let Expr::Column(column) = column else { return None };
        let mut fields = self.snapshot.table().fields().iter();
        let field = fields.find(|field| field.name == column.name)?;
        let mut letters = field.name.chars();
        let is_name = letters
            .next()
            .is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
            && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
        let sign = match op {
            Operator::Eq => "=",
            // Numbers that differ here may be the same double there.
            Operator::Lt | Operator::LtEq => "<=",
            Operator::Gt | Operator::GtEq => ">=",
            _ => return None,
        };
        let literal = match (field.kind, value) {
            // In which order texts are is the program's choice that made the index.
            (
                FieldKind::Character,
                ScalarValue::Utf8(Some(text)) | ScalarValue::LargeUtf8(Some(text)) | ScalarValue::Utf8View(Some(text)),
            ) if op == Operator::Eq => text_literal(text)?,
            (kind, value) if kind.is_exact_number() => number_literal(value)?,
            (FieldKind::Date, ScalarValue::Date32(Some(days))) => day_literal(*days)?,
            _ => return None,
        };
        is_name.then(|| format!("{} {sign} {literal}", field.name))
    }
}

fn text_literal(text: &str) -> Option<String> {
    // A text ends before its blanks.
    let text = text.trim_end_matches(' ');
    let is_plain = |letter: u8| matches!(letter, b' '..=b'~') && letter != b'"';
    (!text.is_empty() && text.bytes().all(is_plain)).then(|| format!("\"{text}\""))
}

fn number_literal(value: &ScalarValue) -> Option<String> {
    Some(match value {
        ScalarValue::Int8(Some(number)) => number.to_string(),
        ScalarValue::Int16(Some(number)) => number.to_string(),
        ScalarValue::Int32(Some(number)) => number.to_string(),
        ScalarValue::Int64(Some(number)) => number.to_string(),
        ScalarValue::Decimal128(Some(unscaled), precision, scale) => {
            Decimal128Type::format_decimal(*unscaled, *precision, *scale)
        }
        _ => return None,
    })
}

/// A day of four digits of a year.
fn day_literal(days: i32) -> Option<String> {
    let (year, month, day) = tidemill_xbase::julian::civil_from_unix_days(days);
    (1..=9999)
        .contains(&year)
        .then(|| format!("{{^{year:04}-{month:02}-{day:02}}}"))
}
