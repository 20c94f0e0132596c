//! CONTAINS, SCORE and SCOREDISTINCT over texts as they are, without an index ("Full Text Search Conditions" and "Full Text Search Index
//! Options" in ADS's help, with the default options).
//!
//! | condition | holds where |
//! |---|---|
//! | `a b`, `a AND b` | both words are in the text |
//! | `a OR b`, `NOT a` | either is, a is not |
//! | `a NEAR b`, `a NEAR(15) b` | both are, at most 8 or so many words apart |
//! | `word*`, `*word`, `*word*` | a word begins, ends or has it |
//! | `"two words"` | they stand one after the other |
//!
//! Letters are the same in either case. Words of fewer than three characters and noise words count neither in texts nor in conditions.

use arrow_array::{BooleanArray, Int64Array};

use super::{Body, Call, Function, Gives, argument};
use crate::sql::error::{Error, Kind, Result};
use crate::sql::value::{Type, Value};
use crate::sql::vector::Vector;

#[rustfmt::skip]
pub(super) const FUNCTIONS: &[Function] = &[
    Function { name: "CONTAINS", takes: "CC", gives: Gives::Is(Type::Logical), body: Body::Columns(contains) },
    Function { name: "SCORE", takes: "CC", gives: Gives::Is(Type::Integer), body: Body::Columns(|call, a| counted(call, a, false)) },
    Function { name: "SCOREDISTINCT", takes: "CC", gives: Gives::Is(Type::Integer), body: Body::Columns(|call, a| counted(call, a, true)) },
];

fn contains(call: &Call<'_>, arguments: &[Vector]) -> Result<Vector> {
    let mut conditions = Conditions::default();
    let holds = (0..call.rows).map(|row| {
        let Some((text, condition)) = conditions.of(arguments, row)? else {
            return Ok(None);
        };
        Ok(Some(condition.holds(&words(&text))))
    });
    Ok(Vector::Logical(holds.collect::<Result<BooleanArray>>()?))
}

/// How often the words of a condition are in the text, or how many of them are.
fn counted(call: &Call<'_>, arguments: &[Vector], is_distinct: bool) -> Result<Vector> {
    let mut conditions = Conditions::default();
    let scores = (0..call.rows).map(|row| {
        let Some((text, condition)) = conditions.of(arguments, row)? else {
            return Ok(None);
        };
        let words = words(&text);
        let count = |term: &Term| match (term.places(&words).len(), is_distinct) {
            (0, true) => 0,
            (_, true) => 1,
            (count, false) => count,
        };
        let score: usize = condition.terms().into_iter().map(count).sum();
        Ok(Some(i64::try_from(score).unwrap_or(i64::MAX)))
    });
    Ok(Vector::Integer(scores.collect::<Result<Int64Array>>()?))
}

/// The condition that was read last, for the rows that have the same.
#[derive(Default)]
struct Conditions(Option<(String, Condition)>);

impl Conditions {
    /// The text of a row and its condition; `None` where either is NULL.
    fn of(&mut self, arguments: &[Vector], row: usize) -> Result<Option<(String, &Condition)>> {
        let place = |vector: &Vector| match vector {
            Vector::Constant(value) => value.clone(),
            vector => vector.value(row),
        };
        let (text, written) = (place(argument(arguments, 0)), place(argument(arguments, 1)));
        if text.is_null() || written.is_null() {
            return Ok(None);
        }
        let written = written.to_text().into_owned();
        if self.0.as_ref().is_none_or(|(known, _)| *known != written) {
            let condition = Condition::parse(&written)?;
            self.0 = Some((written, condition));
        }
        let text = match text {
            Value::Text(text) => text,
            other => other.to_text().into_owned(),
        };
        Ok(self.0.as_ref().map(|(_, condition)| (text, condition)))
    }
}

/// A search condition.
#[derive(Debug, PartialEq)]
enum Condition {
    /// Of noise words alone: it holds everywhere.
    Nothing,
    Term(Term),
    Not(Box<Condition>),
    And(Vec<Condition>),
    Or(Vec<Condition>),
    Near(Box<Condition>, usize, Box<Condition>),
}

#[derive(Debug, PartialEq)]
enum Term {
    Word(String),
    Beginning(String),
    End(String),
    Part(String),
    Phrase(Vec<String>),
}

/// How deep conditions nest.
const MAX_DEPTH: usize = 40;
/// How far words stand apart where NEAR says nothing.
const NEAR: usize = 8;
/// The fewest characters of a word.
const SHORTEST: usize = 3;
const DROPPED: [char; 3] = ['"', '\'', '`'];
/// Dropped at the ends of a word.
const CONDITIONAL: &str = ",.?!;:@#$%^&()-_";

/// Words that are passed over.
const NOISE: &str = "about after all also and another any are because been before being between both but came can come could did does each \
    else for from get got had has have her here him himself his how into its just like make many might more most much must never now only \
    other our out over said same see should since some still such take than that the their them then there these they this those through \
    too under use very want was way well were what when where which while who will with would you your";

impl Condition {
    fn parse(text: &str) -> Result<Self> {
        let wrong = |what: &str| Error::new(Kind::Value, format!("The search condition {text:?} {what}"));
        let tokens = tokens(text).ok_or_else(|| wrong("has a phrase that does not end"))?;
        if tokens.is_empty() {
            return Err(wrong("is empty"));
        }
        let mut parser = Parser {
            tokens: &tokens,
            depth: 0,
        };
        let condition = parser.or().map_err(wrong)?;
        match parser.tokens {
            [] => Ok(condition),
            _ => Err(wrong("has a parenthesis that nothing opens")),
        }
    }

    fn holds(&self, words: &[String]) -> bool {
        self.found(words).is_some()
    }

    /// Where its words stand, in their order; `None` where it does not hold.
    fn found(&self, words: &[String]) -> Option<Vec<usize>> {
        let merged = |all: Vec<Vec<usize>>| {
            let mut places = all.concat();
            places.sort_unstable();
            places
        };
        match self {
            Self::Nothing => Some(Vec::new()),
            Self::Term(term) => Some(term.places(words)).filter(|places| !places.is_empty()),
            Self::Not(condition) => match condition.found(words) {
                None => Some(Vec::new()),
                Some(_) => None,
            },
            Self::And(all) => {
                let found: Option<Vec<_>> = all.iter().map(|condition| condition.found(words)).collect();
                found.map(merged)
            }
            Self::Or(any) => {
                let found: Vec<_> = any.iter().filter_map(|condition| condition.found(words)).collect();
                (!found.is_empty()).then(|| merged(found))
            }
            Self::Near(left, distance, right) => {
                let (left, right) = (left.found(words)?, right.found(words)?);
                let is_near = |place: &usize| {
                    let from = right.partition_point(|other| *other < place.saturating_sub(*distance));
                    right
                        .get(from)
                        .is_some_and(|other| *other <= place.saturating_add(*distance))
                };
                left.iter().any(is_near).then(|| merged(vec![left, right]))
            }
        }
    }

    fn terms(&self) -> Vec<&Term> {
        match self {
            Self::Nothing => Vec::new(),
            Self::Term(term) => vec![term],
            Self::Not(condition) => condition.terms(),
            Self::And(all) | Self::Or(all) => all.iter().flat_map(Self::terms).collect(),
            Self::Near(left, _, right) => [left.terms(), right.terms()].concat(),
        }
    }
}

impl Term {
    fn places(&self, words: &[String]) -> Vec<usize> {
        let of = |is_it: &dyn Fn(&String) -> bool| {
            let places = words.iter().enumerate().filter(|(_, word)| is_it(word));
            places.map(|(place, _)| place).collect()
        };
        match self {
            Self::Word(wanted) => of(&|word| word == wanted),
            Self::Beginning(part) => of(&|word| word.starts_with(part)),
            Self::End(part) => of(&|word| word.ends_with(part)),
            Self::Part(part) => of(&|word| word.contains(part)),
            Self::Phrase(phrase) => {
                let windows = words.windows(phrase.len().max(1)).enumerate();
                let places = windows.filter(|(_, window)| window == phrase);
                places.map(|(place, _)| place).collect()
            }
        }
    }
}

#[derive(Debug, PartialEq)]
enum Token {
    Open,
    Close,
    And,
    Or,
    Not,
    Near,
    Word(String),
    Phrase(String),
}

/// `None` where a phrase does not end.
fn tokens(text: &str) -> Option<Vec<Token>> {
    let (mut tokens, mut chars) = (Vec::new(), text.chars().peekable());
    while let Some(c) = chars.next() {
        match c {
            _ if is_delimiter(c) => {}
            '(' => tokens.push(Token::Open),
            ')' => tokens.push(Token::Close),
            '"' => {
                let mut phrase = String::new();
                loop {
                    match chars.next()? {
                        '"' if chars.peek() == Some(&'"') => phrase.extend(chars.next()),
                        '"' => break,
                        c => phrase.push(c),
                    }
                }
                tokens.push(Token::Phrase(phrase));
            }
            c => {
                let mut word = String::from(c);
                while let Some(c) = chars.next_if(|c| !is_delimiter(*c) && !matches!(c, '(' | ')' | '"')) {
                    word.push(c);
                }
                tokens.push(match word.to_ascii_uppercase().as_str() {
                    "AND" => Token::And,
                    "OR" => Token::Or,
                    "NOT" => Token::Not,
                    "NEAR" => Token::Near,
                    _ => Token::Word(word),
                });
            }
        }
    }
    Some(tokens)
}

struct Parser<'t> {
    tokens: &'t [Token],
    depth: usize,
}

impl Parser<'_> {
    fn take(&mut self, token: &Token) -> bool {
        match self.tokens.split_first() {
            Some((first, rest)) if first == token => {
                self.tokens = rest;
                true
            }
            _ => false,
        }
    }

    fn or(&mut self) -> Result<Condition, &'static str> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err("nests too deeply");
        }
        let mut any = vec![self.and()?];
        while self.take(&Token::Or) {
            any.push(self.and()?);
        }
        self.depth -= 1;
        Ok(one_or(any, Condition::Or))
    }

    fn and(&mut self) -> Result<Condition, &'static str> {
        let mut all = vec![self.not()?];
        loop {
            let is_said = self.take(&Token::And);
            match self.tokens.first() {
                None | Some(Token::Or | Token::Close) if !is_said => break,
                _ => all.push(self.not()?),
            }
        }
        // What is noise alone says nothing.
        all.retain(|one| *one != Condition::Nothing);
        match all.is_empty() {
            true => Ok(Condition::Nothing),
            false => Ok(one_or(all, Condition::And)),
        }
    }

    fn not(&mut self) -> Result<Condition, &'static str> {
        match self.take(&Token::Not) {
            true => match self.near()? {
                Condition::Nothing => Ok(Condition::Nothing),
                condition => Ok(Condition::Not(Box::new(condition))),
            },
            false => self.near(),
        }
    }

    fn near(&mut self) -> Result<Condition, &'static str> {
        let mut left = self.value()?;
        while self.take(&Token::Near) {
            let mut distance = NEAR;
            if self.take(&Token::Open) {
                if let Some((Token::Word(number), rest)) = self.tokens.split_first() {
                    distance = number.parse().map_err(|_| "has a NEAR whose distance is no number")?;
                    self.tokens = rest;
                }
                if !self.take(&Token::Close) {
                    return Err("has a NEAR whose distance is no number");
                }
            }
            let right = self.value()?;
            left = Condition::Near(Box::new(left), distance, Box::new(right));
        }
        Ok(left)
    }

    fn value(&mut self) -> Result<Condition, &'static str> {
        let Some((first, rest)) = self.tokens.split_first() else {
            return Err("ends where a word is needed");
        };
        self.tokens = rest;
        match first {
            Token::Open => {
                let inner = self.or()?;
                match self.take(&Token::Close) {
                    true => Ok(inner),
                    false => Err("has a parenthesis that does not close"),
                }
            }
            Token::Phrase(phrase) => Ok(match words(phrase) {
                words if words.is_empty() => Condition::Nothing,
                words => Condition::Term(Term::Phrase(words)),
            }),
            Token::Word(written) => Ok(word(written)),
            Token::Close | Token::And | Token::Or | Token::Not | Token::Near => {
                Err("has an operator where a word is needed")
            }
        }
    }
}

fn word(written: &str) -> Condition {
    let inner = written.trim_matches('*');
    let (begins, ends) = (written.ends_with('*'), written.starts_with('*'));
    let part = cleaned(inner);
    if part.is_empty() {
        return Condition::Nothing;
    }
    Condition::Term(match (begins, ends) {
        (true, false) => Term::Beginning(part),
        (false, true) => Term::End(part),
        (true, true) => Term::Part(part),
        (false, false) if !counts(&part) => return Condition::Nothing,
        (false, false) => Term::Word(part),
    })
}

fn one_or(mut all: Vec<Condition>, many: fn(Vec<Condition>) -> Condition) -> Condition {
    match (all.len(), all.pop()) {
        (1, Some(only)) => only,
        (_, last) => {
            all.extend(last);
            many(all)
        }
    }
}

fn is_delimiter(c: char) -> bool {
    matches!(c, '\0' | ' ' | '\x08'..='\x0D')
}

/// A word without what does not belong to it, in small letters.
fn cleaned(word: &str) -> String {
    let word = word.trim_matches(|c| CONDITIONAL.contains(c) || DROPPED.contains(&c));
    word.chars()
        .filter(|c| !DROPPED.contains(c))
        .flat_map(char::to_lowercase)
        .collect()
}

/// Whether a word is long enough, and no noise.
fn counts(word: &str) -> bool {
    word.chars().count() >= SHORTEST && NOISE.split_whitespace().all(|noise| noise != word)
}

/// The words of a text.
fn words(text: &str) -> Vec<String> {
    let words = text.split(is_delimiter).map(cleaned);
    words.filter(|word| counts(word)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "Skiing and Mountain-Climbing: the doctor's notes (2nd edition), seen by a medical student of Oslo.";

    #[test]
    fn conditions_hold_as_the_page_says() {
        let words = words(TEXT);
        let many_near = vec!["oslo"; 500].join(" near ");
        for (condition, expected) in [
            ("skiing", true),
            ("SKIING oslo", true),
            ("skiing AND rome", false),
            ("skiing OR rome", true),
            ("rome or paris or oslo", true),
            ("NOT rome", true),
            ("skiing not oslo", false),
            ("ski*", true),
            ("*bing", true),
            ("*tain-cli*", true),
            ("ski", false),
            ("doctors", true),
            ("doctor's", true),
            ("\"medical student\"", true),
            ("\"student medical\"", false),
            ("\"skiing and mountain-climbing\"", true),
            ("edition (rome or \"doctor's notes\")", true),
            ("doctor* near student", true),
            ("skiing near(2) student", false),
            ("skiing near() (oslo or doctors)", true),
            ("the skiing of a", true),
            ("skiing near rome near oslo", false),
            (&many_near, true),
            ("(skiing rome) or (medical oslo)", true),
        ] {
            let parsed = Condition::parse(condition).expect(condition);
            assert_eq!(parsed.holds(&words), expected, "{condition}: {parsed:?}");
        }
    }

    #[test]
    fn wrong_conditions_are_told() {
        let deep = "(".repeat(100) + "a" + &")".repeat(100);
        for (condition, why) in [
            ("", "is empty"),
            ("\"open", "does not end"),
            ("(skiing", "does not close"),
            ("skiing)", "nothing opens"),
            ("skiing or", "ends where"),
            ("and skiing", "an operator"),
            ("a near(x) b", "no number"),
            (&deep, "nests too deeply"),
        ] {
            let told = Condition::parse(condition).expect_err(condition).to_string();
            assert!(told.contains(why), "{condition}: {told}");
        }
    }
}
