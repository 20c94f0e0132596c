//! Pushes conditions on the key of a table down to the cluster.
//!
//! Cassandra finds rows by their partitions. So conditions are pushed down if they name, by `=` and IN, values of every column of the
//! partition key; then those on the columns of the clustering key follow, in order, up to and including the first with a range instead of
//! values. All pushed-down conditions are exact. Each combination of values is a separate statement, which one replica answers. Other
//! conditions are evaluated here: the cluster would read as much to answer them (ALLOW FILTERING).
//!
//! Conditions on floating-point numbers, decimals and addresses are evaluated here too, because equality differs; UUIDs are compared by `=`
//! only, because their order differs.

use std::cmp::Ordering;
use std::ops::Bound;

use chrono::NaiveDate;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::expr::{Between, InList};
use datafusion::logical_expr::{BinaryExpr, Expr, Operator};
use tidemill_cql::{ColumnType, NativeType, Table, cql_text};
use uuid::Uuid;

/// The columns of a table's key.
pub(super) struct Key {
    /// The columns of the partition key, then those of the clustering key.
    columns: Vec<KeyColumn>,
    /// How many columns the partition key has.
    partition: usize,
}

struct KeyColumn {
    /// In the schema's spelling.
    name: String,
    /// In CQL's spelling.
    text: String,
    typ: NativeType,
}

/// The pushed-down conditions of a scan.
#[derive(Debug, PartialEq)]
pub(super) struct Restriction {
    /// Which conditions are pushed down.
    pub(super) taken: Vec<bool>,
    /// The WHERE clause of each combination of values; `None` for all rows.
    pub(super) parts: Option<Vec<String>>,
}

/// A value of a key's column: its position in the order, and its text in statements.
#[derive(Clone, Debug, PartialEq)]
struct Value {
    order: Order,
    text: String,
}

#[derive(Clone, Debug, PartialEq, PartialOrd)]
enum Order {
    Number(i128),
    Bytes(Vec<u8>),
}

/// What one condition requires of one column.
#[derive(Clone, Debug)]
enum Said {
    /// One of these values, or no value.
    Values(Vec<Value>),
    /// A range.
    Range(Bound<Value>, Bound<Value>),
}

impl Key {
    pub(super) fn new(table: &Table) -> Self {
        let partition = table.partition_key();
        let all = partition.iter().copied().chain(table.clustering_key());
        let schema = table.schema();
        let columns = all.map_while(|place| {
            let column = &table.columns()[place];
            match &column.typ {
                ColumnType::Native(native) => Some(KeyColumn {
                    name: schema.field(place).name().clone(),
                    text: cql_text::name(&column.name).into_owned(),
                    typ: native.clone(),
                }),
                _ => None,
            }
        });
        Self {
            columns: columns.collect(),
            partition: partition.len(),
        }
    }

    /// Whether the cluster orders the values of a column as here.
    pub(super) fn is_ordered(table: &Table, column: usize) -> bool {
        let column = table.columns().get(column);
        column.is_some_and(|column| {
            matches!(
                column.typ,
                ColumnType::Native(
                    NativeType::Ascii
                        | NativeType::Text
                        | NativeType::TinyInt
                        | NativeType::SmallInt
                        | NativeType::Int
                        | NativeType::BigInt
                        | NativeType::Date
                        | NativeType::Timestamp
                )
            )
        })
    }

    /// The most restrictive pushed-down form of `filters`.
    pub(super) fn restrict(&self, filters: &[&Expr]) -> Restriction {
        const STATEMENTS: usize = 10_000;
        let said: Vec<Option<(usize, Said)>> = filters.iter().map(|filter| self.said(filter)).collect();
        let nothing = || Restriction {
            taken: vec![false; filters.len()],
            parts: None,
        };
        let mut taken = vec![false; filters.len()];
        let mut parts = vec![String::new()];
        for (place, column) in self.columns.iter().enumerate() {
            let of_column = || {
                said.iter()
                    .flatten()
                    .filter(move |(about, _)| *about == place)
                    .map(|(_, said)| said)
            };
            let take = |taken: &mut Vec<bool>| {
                for (taken, said) in taken.iter_mut().zip(&said) {
                    *taken |= matches!(said, Some((about, _)) if *about == place);
                }
            };
            let mut values: Option<Vec<Value>> = None;
            for said in of_column() {
                if let Said::Values(more) = said {
                    values = Some(match values {
                        Some(values) => values.into_iter().filter(|value| more.contains(value)).collect(),
                        None => more.clone(),
                    });
                }
            }
            let ranges = || {
                of_column().filter_map(|said| match said {
                    Said::Range(low, high) => Some((low, high)),
                    Said::Values(_) => None,
                })
            };
            if let Some(mut values) = values {
                values.retain(|value| ranges().all(|(low, high)| is_above(value, low) && is_below(value, high)));
                // No row has an empty partition key.
                values.retain(|value| self.partition > 1 || place > 0 || value.order != Order::Bytes(Vec::new()));
                values.sort_by(|a, b| a.order.partial_cmp(&b.order).unwrap_or(Ordering::Equal));
                values.dedup();
                if parts.len().saturating_mul(values.len()) > STATEMENTS {
                    match place < self.partition {
                        true => return nothing(),
                        false => break,
                    }
                }
                parts = parts
                    .iter()
                    .flat_map(|part| {
                        values
                            .iter()
                            .map(move |value| and(part, &format!("{} = {}", column.text, value.text)))
                    })
                    .collect();
                take(&mut taken);
                continue;
            }
            if place < self.partition {
                return nothing();
            }
            let mut range = None;
            for (low, high) in ranges() {
                range = Some(match range {
                    None => (low, high),
                    Some((low_before, high_before)) => (higher(low_before, low), lower(high_before, high)),
                });
            }
            if let Some((low, high)) = range {
                let mut text = String::new();
                for (bound, sign) in [(low, ">"), (high, "<")] {
                    match bound {
                        Bound::Included(value) => text = and(&text, &format!("{} {sign}= {}", column.text, value.text)),
                        Bound::Excluded(value) => text = and(&text, &format!("{} {sign} {}", column.text, value.text)),
                        Bound::Unbounded => {}
                    }
                }
                parts = parts.iter().map(|part| and(part, &text)).collect();
                take(&mut taken);
            }
            break;
        }
        if self.columns.len() < self.partition {
            return nothing();
        }
        Restriction {
            taken,
            parts: Some(parts),
        }
    }

    /// The column of the key and its restriction, if the condition consists of only that.
    fn said(&self, filter: &Expr) -> Option<(usize, Said)> {
        match filter {
            Expr::BinaryExpr(BinaryExpr { left, op, right }) => match (op, left.as_ref(), right.as_ref()) {
                (Operator::Or, left, right) => match (self.said(left)?, self.said(right)?) {
                    ((one, Said::Values(mut values)), (other, Said::Values(more))) if one == other => {
                        values.extend(more);
                        Some((one, Said::Values(values)))
                    }
                    _ => None,
                },
                (op, Expr::Column(column), Expr::Literal(value, _)) => self.compared(&column.name, *op, value),
                (op, Expr::Literal(value, _), Expr::Column(column)) => self.compared(&column.name, op.swap()?, value),
                _ => None,
            },
            Expr::Between(Between {
                expr,
                negated: false,
                low,
                high,
            }) => {
                let (Expr::Column(column), Expr::Literal(low, _), Expr::Literal(high, _)) =
                    (expr.as_ref(), low.as_ref(), high.as_ref())
                else {
                    return None;
                };
                let (place, low) = self.compared(&column.name, Operator::GtEq, low)?;
                let (_, high) = self.compared(&column.name, Operator::LtEq, high)?;
                match (low, high) {
                    (Said::Range(low, _), Said::Range(_, high)) => Some((place, Said::Range(low, high))),
                    _ => None,
                }
            }
            Expr::InList(InList {
                expr,
                list,
                negated: false,
            }) => {
                let Expr::Column(column) = expr.as_ref() else {
                    return None;
                };
                let place = self.place(&column.name)?;
                let mut values = Vec::new();
                for value in list {
                    let Expr::Literal(value, _) = value else { return None };
                    values.extend(value_of(&self.columns[place].typ, value)?);
                }
                Some((place, Said::Values(values)))
            }
            _ => None,
        }
    }

    fn place(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    fn compared(&self, name: &str, op: Operator, value: &ScalarValue) -> Option<(usize, Said)> {
        let place = self.place(name)?;
        let typ = &self.columns[place].typ;
        let value = value_of(typ, value)?;
        if op == Operator::Eq {
            return Some((place, Said::Values(value.into_iter().collect())));
        }
        let value = value.filter(|_| !matches!(typ, NativeType::Uuid | NativeType::Timeuuid))?;
        let unbounded = Bound::Unbounded;
        let range = match op {
            Operator::Gt => Said::Range(Bound::Excluded(value), unbounded),
            Operator::GtEq => Said::Range(Bound::Included(value), unbounded),
            Operator::Lt => Said::Range(unbounded, Bound::Excluded(value)),
            Operator::LtEq => Said::Range(unbounded, Bound::Included(value)),
            _ => return None,
        };
        Some((place, range))
    }
}

fn and(part: &str, more: &str) -> String {
    match part.is_empty() {
        true => more.to_owned(),
        false => format!("{part} AND {more}"),
    }
}

fn is_above(value: &Value, low: &Bound<Value>) -> bool {
    match low {
        Bound::Included(low) => value.order >= low.order,
        Bound::Excluded(low) => value.order > low.order,
        Bound::Unbounded => true,
    }
}

fn is_below(value: &Value, high: &Bound<Value>) -> bool {
    match high {
        Bound::Included(high) => value.order <= high.order,
        Bound::Excluded(high) => value.order < high.order,
        Bound::Unbounded => true,
    }
}

/// The more restrictive of two lower bounds.
fn higher<'a>(one: &'a Bound<Value>, other: &'a Bound<Value>) -> &'a Bound<Value> {
    match other {
        Bound::Included(value) | Bound::Excluded(value) if !is_above(value, one) => one,
        Bound::Included(value) if matches!(one, Bound::Included(one) if one.order == value.order) => one,
        Bound::Unbounded => one,
        _ => other,
    }
}

/// The more restrictive of two upper bounds.
fn lower<'a>(one: &'a Bound<Value>, other: &'a Bound<Value>) -> &'a Bound<Value> {
    match other {
        Bound::Included(value) | Bound::Excluded(value) if !is_below(value, one) => one,
        Bound::Unbounded => one,
        _ => other,
    }
}

/// A value of a column of type `typ`; `Some(None)` if no value of the column equals it, `None` if that is unknown.
fn value_of(typ: &NativeType, value: &ScalarValue) -> Option<Option<Value>> {
    let number = |number: i128| {
        Some(Value {
            order: Order::Number(number),
            text: number.to_string(),
        })
    };
    let bytes = |bytes: &[u8], text: String| {
        Some(Value {
            order: Order::Bytes(bytes.to_vec()),
            text,
        })
    };
    let value = match value {
        ScalarValue::Dictionary(_, value) => value.as_ref(),
        value => value,
    };
    Some(match typ {
        NativeType::TinyInt | NativeType::SmallInt | NativeType::Int | NativeType::BigInt | NativeType::Varint => {
            let whole = whole_number(value)?;
            let fits = match typ {
                NativeType::TinyInt => i8::try_from(whole).is_ok(),
                NativeType::SmallInt => i16::try_from(whole).is_ok(),
                NativeType::Int => i32::try_from(whole).is_ok(),
                NativeType::BigInt => i64::try_from(whole).is_ok(),
                _ => true,
            };
            if fits { number(whole) } else { return None }
        }
        NativeType::Boolean => match value {
            ScalarValue::Boolean(Some(value)) => Some(Value {
                order: Order::Number(i128::from(*value)),
                text: value.to_string(),
            }),
            _ => return None,
        },
        NativeType::Text => {
            let text = text(value)?;
            bytes(text.as_bytes(), cql_text::string(text))
        }
        NativeType::Ascii => {
            let text = text(value).filter(|text| text.is_ascii())?;
            bytes(text.as_bytes(), cql_text::string(text))
        }
        NativeType::Uuid | NativeType::Timeuuid => {
            let text = text(value)?;
            // Columns have UUIDs in lower case, with dashes.
            let uuid = Uuid::try_parse(text).ok().filter(|uuid| uuid.to_string() == text);
            let uuid = uuid.filter(|uuid| *typ == NativeType::Uuid || uuid.get_version_num() == 1);
            uuid.and_then(|uuid| bytes(uuid.as_bytes(), text.to_owned()))
        }
        NativeType::Blob => match value {
            ScalarValue::Binary(Some(value)) | ScalarValue::LargeBinary(Some(value)) => {
                let hex: String = value.iter().map(|byte| format!("{byte:02x}")).collect();
                bytes(value, format!("0x{hex}"))
            }
            _ => return None,
        },
        NativeType::Date => match value {
            ScalarValue::Date32(Some(days)) => Some(Value {
                order: Order::Number(i128::from(*days)),
                text: date_text(*days),
            }),
            _ => return None,
        },
        NativeType::Time => match value {
            ScalarValue::Time64Nanosecond(Some(nanos)) => number(i128::from(*nanos)),
            _ => return None,
        },
        NativeType::Timestamp => match value {
            ScalarValue::TimestampMillisecond(Some(millis), _) => number(i128::from(*millis)),
            _ => return None,
        },
        _ => return None,
    })
}

fn whole_number(value: &ScalarValue) -> Option<i128> {
    Some(match value {
        ScalarValue::Int8(Some(value)) => i128::from(*value),
        ScalarValue::Int16(Some(value)) => i128::from(*value),
        ScalarValue::Int32(Some(value)) => i128::from(*value),
        ScalarValue::Int64(Some(value)) => i128::from(*value),
        ScalarValue::UInt8(Some(value)) => i128::from(*value),
        ScalarValue::UInt16(Some(value)) => i128::from(*value),
        ScalarValue::UInt32(Some(value)) => i128::from(*value),
        ScalarValue::UInt64(Some(value)) => i128::from(*value),
        _ => return None,
    })
}

fn text(value: &ScalarValue) -> Option<&str> {
    match value {
        ScalarValue::Utf8(Some(text)) | ScalarValue::LargeUtf8(Some(text)) | ScalarValue::Utf8View(Some(text)) => {
            Some(text)
        }
        _ => None,
    }
}

/// A date as text; for years without exactly four digits, the number of its day, with 2^31 for 1970-01-01.
fn date_text(days: i32) -> String {
    const FROM_YEAR_1_TO_1970: i32 = 719_163;
    let date = days.checked_add(FROM_YEAR_1_TO_1970);
    match date.and_then(NaiveDate::from_num_days_from_ce_opt) {
        Some(date) if (1..=9999).contains(&chrono::Datelike::year(&date)) => format!("'{date}'"),
        _ => (i64::from(days) + (1 << 31)).to_string(),
    }
}
