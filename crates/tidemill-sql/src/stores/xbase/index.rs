//! Narrows the records that a condition may select, by the table's production index.
//!
//! If orders answer a comparison of a field with a literal, only the records that they name are read, and the condition is checked again
//! for each. So orders may name too many: for a text they name every text that begins with it, blanks are values, and for long numbers they
//! use the nearest double. For other comparisons, and with an unreadable index, all records are read. Comparisons of doubles are not
//! answered: their total order here, with NaN at its ends and -0 below 0, is another one.

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

/// An index is used for at most this share of the records: for more, reading all is faster.
const ONE_OF: u32 = 8;

/// The most values of an IN in one expression.
const VALUES: usize = 16;

/// The most values of an IN.
const MOST_VALUES: usize = 1_000;

/// A table's production index.
pub(super) struct ProductionIndex {
    path: PathBuf,
    snapshot: Snapshot,
}

impl ProductionIndex {
    /// `None` if the table has none.
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

    /// The records that may satisfy all of these conditions; `None` if orders cannot answer them, or too many records remain.
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

    /// The records that may satisfy a condition; `None` if orders cannot answer it.
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

    /// An xBase expression that is true for all records that satisfy a condition.
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
            // Numbers that differ here may be equal as doubles.
            Operator::Lt | Operator::LtEq => "<=",
            Operator::Gt | Operator::GtEq => ">=",
            _ => return None,
        };
        let literal = match (field.kind, value) {
            // The collation of texts depends on the program that created the index.
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
    // Trailing blanks of a text are ignored.
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

/// A date literal, for years of four digits.
fn day_literal(days: i32) -> Option<String> {
    let (year, month, day) = tidemill_xbase::julian::civil_from_unix_days(days);
    (1..=9999)
        .contains(&year)
        .then(|| format!("{{^{year:04}-{month:02}-{day:02}}}"))
}
