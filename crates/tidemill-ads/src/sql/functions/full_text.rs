//! CONTAINS, SCORE and SCOREDISTINCT over texts as they are ("Full Text Search Conditions", "CONTAINS()" and "Full Text Search Scoring" in
//! ADS's help, with the default options). What an index of words answers of a condition does not come here.

use arrow_array::{BooleanArray, Int64Array};
use tidemill_xbase::full_text::{SearchCondition, Tokenizer};

use super::{Body, Call, Function, Gives};
use crate::sql::error::{Error, Kind, Result};
use crate::sql::value::{Type, Value};
use crate::sql::vector::Vector;

#[rustfmt::skip]
pub(super) const FUNCTIONS: &[Function] = &[
    Function { name: "CONTAINS", takes: "CC", gives: Gives::Is(Type::Logical), body: Body::Columns(contains) },
    Function { name: "SCORE", takes: "CC", gives: Gives::Is(Type::Integer), body: Body::Columns(|call, a| counted(call, a, false)) },
    Function { name: "SCOREDISTINCT", takes: "CC", gives: Gives::Is(Type::Integer), body: Body::Columns(|call, a| counted(call, a, true)) },
];

/// Over all texts of a record that have an index of words: what `*` stands for. The condition is the last argument.
#[rustfmt::skip]
pub(super) const OVER_ALL: &[Function] = &[
    Function { name: "CONTAINS", takes: "CC+", gives: Gives::Is(Type::Logical), body: Body::Columns(contains) },
    Function { name: "SCORE", takes: "CC+", gives: Gives::Is(Type::Integer), body: Body::Columns(|call, a| counted(call, a, false)) },
    Function { name: "SCOREDISTINCT", takes: "CC+", gives: Gives::Is(Type::Integer), body: Body::Columns(|call, a| counted(call, a, true)) },
];

fn contains(call: &Call<'_>, arguments: &[Vector]) -> Result<Vector> {
    let mut conditions = Conditions::default();
    let holds = (0..call.rows).map(|row| {
        let Some((texts, condition)) = conditions.of(arguments, row)? else {
            return Ok(None);
        };
        Ok(Some(condition.holds_among(&texts)))
    });
    Ok(Vector::Logical(holds.collect::<Result<BooleanArray>>()?))
}

/// How often the words of a condition are in the text, or how many of them are.
fn counted(call: &Call<'_>, arguments: &[Vector], is_distinct: bool) -> Result<Vector> {
    let mut conditions = Conditions::default();
    let scores = (0..call.rows).map(|row| {
        let Some((texts, condition)) = conditions.of(arguments, row)? else {
            return Ok(None);
        };
        let score = condition.score(&texts.concat(), is_distinct);
        Ok(Some(i64::try_from(score).unwrap_or(i64::MAX)))
    });
    Ok(Vector::Integer(scores.collect::<Result<Int64Array>>()?))
}

/// The words of each text of a row.
type Texts = Vec<Vec<String>>;

/// The condition that was read last, for the rows that have the same.
#[derive(Default)]
struct Conditions {
    tokenizer: Tokenizer,
    last: Option<(String, SearchCondition)>,
}

impl Conditions {
    /// The words of a row's texts and their condition; `None` where one of these is NULL.
    fn of(&mut self, arguments: &[Vector], row: usize) -> Result<Option<(Texts, &SearchCondition)>> {
        let place = |vector: &Vector| match vector {
            Vector::Constant(value) => value.clone(),
            vector => vector.value(row),
        };
        let Some((written, texts)) = arguments.split_last() else {
            return Ok(None);
        };
        let written = place(written);
        let texts: Vec<Value> = texts.iter().map(place).collect();
        if written.is_null() || texts.iter().any(Value::is_null) {
            return Ok(None);
        }
        let written = written.to_text().into_owned();
        if self.last.as_ref().is_none_or(|(known, _)| *known != written) {
            let parsed = SearchCondition::parse(&written, &self.tokenizer);
            let wrong = |fault| Error::new(Kind::Value, format!("The search condition {written:?} {fault}"));
            let condition = parsed.map_err(wrong)?;
            self.last = Some((written, condition));
        }
        let words = texts.iter().map(|text| match text {
            Value::Text(text) => self.tokenizer.words(text),
            other => self.tokenizer.words(&other.to_text()),
        });
        let words = words.collect();
        Ok(self.last.as_ref().map(|(_, condition)| (words, condition)))
    }
}
