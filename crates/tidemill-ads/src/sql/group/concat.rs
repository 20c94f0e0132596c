//! GROUP_CONCAT: the texts of a group one after the other ("Supported Aggregate (column) Functions" in ADS's help).

use std::cmp::Ordering;

use crate::sql::error::{Error, Kind, Result};
use crate::sql::expression::Expr;
use crate::sql::value::{Type, Value};
use crate::sql::vector::Vector;

/// The most characters that GROUP_CONCAT gives where the statement says nothing.
pub const DEFAULT_LENGTH: usize = 1024;
/// The most that it may ask for.
pub(in crate::sql) const MAX_LENGTH: usize = 3200;

/// How texts are joined.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::sql) struct Concat {
    /// What they are ordered by, and whether it descends.
    pub(in crate::sql) order: Vec<(Expr, bool)>,
    pub(in crate::sql) separator: String,
    pub(in crate::sql) max_length: usize,
}

/// The texts of all groups, each with what it is ordered by.
#[derive(Debug, Default)]
pub(super) struct Texts(Vec<Vec<(Vec<Value>, String)>>);

impl Texts {
    pub(super) fn reserve(&mut self, groups: usize) {
        self.0.resize_with(groups, Vec::new);
    }

    /// Adds these rows of a column to their groups.
    pub(super) fn add(&mut self, groups: &[u32], texts: &Vector, order: &[Vector], rows: &[usize]) {
        for row in rows {
            let group = groups.get(*row).map_or(0, |group| *group as usize);
            if let Some(known) = self.0.get_mut(group) {
                let keys = order.iter().map(|key| key.value(*row)).collect();
                known.push((keys, texts.value(*row).to_text().into_owned()));
            }
        }
    }

    /// The joined texts; NULL of a group without any.
    ///
    /// # Errors
    /// [`Kind::Value`] for one that is longer than it may be.
    pub(super) fn finish(self, how: &Concat) -> Result<Vector> {
        let joined = self.0.into_iter().map(|mut texts| {
            if texts.is_empty() {
                return Ok(Value::Null);
            }
            texts.sort_by(|(a, _), (b, _)| compared(a, b, &how.order));
            let texts: Vec<String> = texts.into_iter().map(|(_, text)| text).collect();
            let text = texts.join(&how.separator);
            match text.chars().count() {
                length if length > how.max_length => {
                    let most = how.max_length;
                    let why = format!("GROUP_CONCAT() gives {length} characters, and MAX_LENGTH allows {most}");
                    Err(Error::new(Kind::Value, why))
                }
                _ => Ok(Value::Text(text)),
            }
        });
        Ok(Vector::of_values(joined.collect::<Result<_>>()?, Type::Text(0)))
    }
}

/// NULL comes first.
fn compared(a: &[Value], b: &[Value], order: &[(Expr, bool)]) -> Ordering {
    let pairs = a.iter().zip(b).zip(order);
    let pairs = pairs.map(|((a, b), (_, descends))| {
        let ordering = match (a.is_null(), b.is_null()) {
            (false, false) => a.compare(b).unwrap_or(Ordering::Equal),
            (a, b) => b.cmp(&a),
        };
        if *descends { ordering.reverse() } else { ordering }
    });
    pairs.fold(Ordering::Equal, Ordering::then)
}
