//! The error of a statement, in a short form for users.
//!
//! Programs for ADS parse its error messages, so that `libace.so` returns them verbatim. Users at a terminal and other programs get a short
//! message with a hint.

use std::fmt;

use tidemill_ads::sql::Kind;
use tidemill_trust::with_causes;

use crate::error::is_of_damaged_index;

/// What to do about an index file that is damaged.
pub const FOR_DAMAGED_INDEX: &str = "tidemill reindex builds its tags again; where that says the same, move the file away, \
                                     and make the tags with CREATE INDEX";

/// The error of a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plain {
    /// What is wrong.
    pub what: String,
    /// A hint, if there is one.
    pub hint: Option<String>,
    /// Line and column of the error in the statement, from 1.
    pub place: Option<(u64, u64)>,
}

impl Plain {
    pub(crate) fn of(error: &tidemill_ads::Error) -> Self {
        let plain = match error {
            tidemill_ads::Error::Statement(fault) => Self::of_statement(fault),
            error => Self {
                what: with_causes(error),
                hint: None,
                place: None,
            },
        };
        let advice = is_of_damaged_index(error).then(|| FOR_DAMAGED_INDEX.to_owned());
        Self {
            hint: plain.hint.or(advice),
            ..plain
        }
    }

    /// The short form of an error of the parser or of the lanes of ADS SQL.
    pub(crate) fn of_statement(fault: &tidemill_ads::sql::Error) -> Self {
        let message = fault.message();
        let (what, hint) = match fault.kind() {
            Kind::NoColumn => match message.strip_prefix("Column not found: ") {
                Some(name) => (format!("column {name} not found"), of_columns(name, fault.columns())),
                None => (message.to_owned(), None),
            },
            Kind::NoTable => match message.split_once("Table name: ") {
                Some((_, named)) => {
                    let (name, hint) = named
                        .split_once("; ")
                        .map_or((named, None), |(name, hint)| (name, Some(hint)));
                    (format!("table {name} not found"), hint.map(str::to_owned))
                }
                None => (message.to_owned(), None),
            },
            Kind::Syntax => match message.strip_prefix("Expected lexical element not found: ") {
                Some(expected) => (format!("expected {expected}"), None),
                None => (message.to_owned(), None),
            },
            Kind::Raised { class, .. } => (format!("{class}: {message}"), None),
            _ => (message.to_owned(), None),
        };
        Self {
            what,
            hint,
            place: fault.line_and_column(),
        }
    }
}

impl fmt::Display for Plain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        if let Some(hint) = &self.hint {
            write!(f, "; {hint}")?;
        }
        match self.place {
            Some((line, column)) => write!(f, " (line {line}, column {column})"),
            None => Ok(()),
        }
    }
}

/// The most similar column, or the existing columns.
fn of_columns(name: &str, columns: &[String]) -> Option<String> {
    /// The most columns that are listed.
    const LISTED: usize = 12;
    let last = name.rsplit('.').next().unwrap_or(name).to_lowercase();
    if let Some(meant) = nearest(&last, columns) {
        return Some(format!("did you mean {meant}?"));
    }
    let mut listed: Vec<&str> = Vec::new();
    for column in columns {
        if !listed.contains(&column.as_str()) {
            listed.push(column);
        }
    }
    let more = listed.len().saturating_sub(LISTED);
    listed.truncate(LISTED);
    match (listed.is_empty(), more) {
        (true, _) => None,
        (_, 0) => Some(format!("the columns are {}", listed.join(", "))),
        (_, more) => Some(format!("the columns are {}, and {more} more", listed.join(", "))),
    }
}

/// The most similar name, with at most one different character in three.
fn nearest<'n>(name: &str, names: &'n [String]) -> Option<&'n str> {
    let most = (name.chars().count() / 3).max(1);
    let distance = |known: &String| strsim::damerau_levenshtein(name, &known.to_lowercase());
    let distances = names.iter().map(|known| (distance(known), known));
    let (least, known) = distances.min_by_key(|(distance, _)| *distance)?;
    (least <= most).then_some(known.as_str())
}

#[cfg(test)]
mod tests {
    use tidemill_ads::sql::Error;

    use super::*;

    #[test]
    fn faults_are_told_in_plain_words() {
        let columns = ["ORDER_NO", "CUST_NO", "TOTAL"];
        for (fault, expected) in [
            (
                Error::no_column("totl", columns),
                "column totl not found; did you mean TOTAL?",
            ),
            (
                Error::no_column("o.custno", columns),
                "column o.custno not found; did you mean CUST_NO?",
            ),
            (
                Error::no_column("price", columns),
                "column price not found; the columns are ORDER_NO, CUST_NO, TOTAL",
            ),
            (Error::no_column("x", Vec::<String>::new()), "column x not found"),
            (
                Error::new(
                    Kind::NoTable,
                    "Either … the file.  Table name: ordrs; this folder has ORDERS",
                ),
                "table ordrs not found; this folder has ORDERS",
            ),
            (
                Error::new(
                    Kind::Syntax,
                    "Expected lexical element not found: a statement, found selec",
                ),
                "expected a statement, found selec",
            ),
            (
                Error::new(Kind::Type, "An operand does not fit"),
                "An operand does not fit",
            ),
        ] {
            assert_eq!(Plain::of(&fault.into()).to_string(), expected);
        }
        let many: Vec<String> = (0..20).map(|number| format!("FIELD{number:02}")).collect();
        let hint = of_columns("price", &many).expect("a hint");
        assert!(hint.ends_with("FIELD11, and 8 more"), "{hint}");
    }
}
