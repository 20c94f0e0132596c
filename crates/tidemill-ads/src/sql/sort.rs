//! Rows in an order.
//!
//! Every key becomes a column of words that compare as its values do, texts by their rank among the distinct ones; so the sort itself
//! knows no types. NULL comes first. Rows that are equal keep the order of the table.

use sqlparser::ast;

use super::error::{Error, Result};
use super::interner::Interner;
use super::value::{Value, decimal_to_f64, trimmed};
use super::vector::Vector;

const SIGN: u64 = 1 << 63;

/// Whether a key of an order descends. NULL comes before every value, as in ADS.
///
/// # Errors
/// [`Kind::NeedsAnalytical`](super::error::Kind::NeedsAnalytical) where NULL is to come elsewhere.
pub(super) fn descends(term: &ast::OrderByExpr) -> Result<bool> {
    let descends = term.options.asc == Some(false);
    match term.options.nulls_first {
        Some(is_first) if is_first == descends => {
            let place = if is_first { "FIRST" } else { "LAST" };
            Err(Error::needs_analytical(format_args!("NULLS {place}")))
        }
        _ => Ok(descends),
    }
}

/// The first `limit` rows in the order of the keys, each ascending or (`true`) descending.
pub(super) fn sorted(keys: &[(Vec<u64>, bool)], rows: usize, limit: Option<usize>) -> Vec<u32> {
    let count = u32::try_from(rows).unwrap_or(u32::MAX);
    let limit = limit.unwrap_or(rows).min(rows);
    if let [(words, descending)] = keys {
        let turn = if *descending { u64::MAX } else { 0 };
        let mut pairs: Vec<(u64, u32)> = words.iter().map(|word| word ^ turn).zip(0..count).collect();
        if limit < rows && limit > 0 {
            pairs.select_nth_unstable(limit - 1);
        }
        pairs.truncate(limit);
        pairs.sort_unstable();
        return pairs.into_iter().map(|(_, row)| row).collect();
    }
    let word = |row: u32, (words, descending): &(Vec<u64>, bool)| {
        let word = words.get(row as usize).copied().unwrap_or(0);
        if *descending { !word } else { word }
    };
    let compare = |a: &u32, b: &u32| {
        let keys = keys.iter().map(|key| word(*a, key).cmp(&word(*b, key)));
        keys.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then)
            .then(a.cmp(b))
    };
    let mut order: Vec<u32> = (0..count).collect();
    if limit < rows && limit > 0 {
        order.select_nth_unstable_by(limit - 1, compare);
    }
    order.truncate(limit);
    order.sort_unstable_by(compare);
    order
}

/// Words that compare as the values of a column do.
pub(super) fn keys(vector: &Vector, rows: usize) -> Vec<u64> {
    let mut words = match vector {
        Vector::Text(array, _) => {
            let mut texts = Interner::default();
            let numbers: Vec<u32> = (0..rows).map(|row| texts.text(trimmed(array.value(row)))).collect();
            let ranks = ranks(texts.texts());
            let rank = |number: &u32| ranks.get(*number as usize).copied().unwrap_or(0) + 1;
            numbers.iter().map(rank).collect()
        }
        Vector::Bytes(array) => {
            let mut order: Vec<&[u8]> = (0..rows).map(|row| array.value(row)).collect();
            order.sort_unstable();
            let rank = |row: usize| order.partition_point(|other| *other < array.value(row)) as u64 + 1;
            (0..rows).map(rank).collect()
        }
        other => self::words(other, rows),
    };
    if let Some(nulls) = vector.nulls() {
        for (row, word) in words.iter_mut().enumerate() {
            *word = if nulls.is_null(row) { 0 } else { (*word).max(1) };
        }
    }
    words
}

/// Words of values other than texts that compare as the values do; those of NULL say nothing.
pub(super) fn words(vector: &Vector, rows: usize) -> Vec<u64> {
    let integer = |number: i64| number.cast_unsigned() ^ SIGN;
    match vector {
        Vector::Integer(array) => array.values().iter().map(|number| integer(*number)).collect(),
        Vector::Decimal(array, scale) => {
            let numbers = array.values();
            match numbers.iter().all(|number| i64::try_from(*number).is_ok()) {
                true => numbers
                    .iter()
                    .map(|number| integer(i64::try_from(*number).unwrap_or(0)))
                    .collect(),
                // Beyond 18 digits neighbours may fall together.
                false => numbers
                    .iter()
                    .map(|number| double(decimal_to_f64(*number, *scale)))
                    .collect(),
            }
        }
        Vector::Double(array) => array.values().iter().map(|number| double(*number)).collect(),
        Vector::Logical(array) => (0..rows).map(|row| u64::from(array.value(row)) + 1).collect(),
        Vector::Date(array) => array.values().iter().map(|day| integer(i64::from(*day))).collect(),
        Vector::Time(array) => array.values().iter().map(|ms| integer(i64::from(*ms))).collect(),
        Vector::Timestamp(array) => array.values().iter().map(|ms| integer(*ms)).collect(),
        Vector::Constant(Value::Null) => vec![0; rows],
        Vector::Constant(_) | Vector::Text(..) | Vector::Bytes(_) => vec![1; rows],
    }
}

/// The order of doubles as that of words.
fn double(number: f64) -> u64 {
    // Both zeros are one number.
    let bits = (number + 0.0).to_bits();
    if bits & SIGN != 0 { !bits } else { bits | SIGN }
}

/// The place of each text among all of them.
fn ranks(texts: &[Box<str>]) -> Vec<u64> {
    let mut order: Vec<usize> = (0..texts.len()).collect();
    order.sort_unstable_by(|a, b| texts.get(*a).cmp(&texts.get(*b)));
    let mut ranks = vec![0; texts.len()];
    for (rank, place) in (0..).zip(order) {
        if let Some(slot) = ranks.get_mut(place) {
            *slot = rank;
        }
    }
    ranks
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn words_compare_as_doubles_do(a in any::<f64>(), b in any::<f64>()) {
            prop_assume!(!a.is_nan() && !b.is_nan());
            prop_assert_eq!(double(a).cmp(&double(b)), a.partial_cmp(&b).unwrap_or(std::cmp::Ordering::Equal));
        }

        #[test]
        fn a_limit_gives_the_beginning_of_the_whole_order(
            words in prop::collection::vec((0_u64..5, 0_u64..3), 0..60),
            limit in 0_usize..70,
            descending in any::<bool>(),
        ) {
            let (a, b): (Vec<u64>, Vec<u64>) = words.iter().copied().unzip();
            let rows = words.len();
            let keys = [(a, descending), (b, false)];
            for keys in [&keys[..], &keys[..1]] {
                let whole = sorted(keys, rows, None);
                prop_assert_eq!(&sorted(keys, rows, Some(limit)), &whole[..limit.min(rows)]);
            }
        }
    }
}
