//! Search conditions ("Full Text Search Conditions" in ADS's help).
//!
//! | condition | holds where |
//! |---|---|
//! | `a b`, `a AND b` | both words are in the text |
//! | `a OR b`, `NOT a` | either is, a is not |
//! | `a NEAR b`, `a NEAR(15) b` | both are, at most 8 or so many words apart |
//! | `word*`, `*word`, `*word*` | a word begins, ends or has it |
//! | `"two words"` | they stand one after the other |
//!
//! Words that are too short or noise count neither in texts nor in conditions.

use super::words::Tokenizer;

/// A search condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchCondition {
    pub(crate) condition: Condition,
}

/// What is wrong with a search condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SearchFault {
    /// 7103 of ADS.
    #[error("is empty")]
    Empty,
    /// 7094 of ADS.
    #[error("has a phrase that does not end")]
    OpenPhrase,
    /// 7095 of ADS.
    #[error("has a parenthesis that does not close")]
    OpenParenthesis,
    /// 7096 of ADS: it ends too early.
    #[error("ends where a word is needed")]
    EndsEarly,
    /// 7096 of ADS.
    #[error("has an operator where a word is needed")]
    Operator,
    /// 7097 of ADS: there is more than a condition.
    #[error("has a parenthesis that nothing opens")]
    NotOpened,
    /// 7097 of ADS: it has too many parentheses within one another.
    #[error("nests too deeply")]
    TooDeep,
    /// 7099 of ADS.
    #[error("has a NEAR whose distance is no number")]
    Distance,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Condition {
    /// Of noise words alone: it holds everywhere.
    Nothing,
    Term(Term),
    Not(Box<Condition>),
    And(Vec<Condition>),
    Or(Vec<Condition>),
    Near(Box<Condition>, usize, Box<Condition>),
}

/// What a condition looks for among the words of a text, which are written as a [`Tokenizer`] gives them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Term {
    /// This word.
    Word(String),
    /// A word that begins so.
    Beginning(String),
    /// A word that ends so.
    End(String),
    /// A word that has this in it.
    Part(String),
    /// These words, one behind the other.
    Phrase(Vec<String>),
}

/// How deep conditions nest.
const MAX_DEPTH: usize = 40;
/// How far words stand apart where NEAR says nothing.
const NEAR: usize = 8;

impl SearchCondition {
    /// Reads a condition.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str, tokenizer: &Tokenizer) -> Result<Self, SearchFault> {
        let tokens = tokens(text).ok_or(SearchFault::OpenPhrase)?;
        if tokens.is_empty() {
            return Err(SearchFault::Empty);
        }
        let mut parser = Parser {
            tokens: &tokens,
            tokenizer,
            depth: 0,
        };
        let condition = parser.or()?;
        match parser.tokens {
            [] => Ok(Self { condition }),
            _ => Err(SearchFault::NotOpened),
        }
    }

    /// Whether it holds for a text of these words.
    pub fn holds(&self, words: &[String]) -> bool {
        self.condition.found(words).is_some()
    }

    /// Whether it holds for a record of several texts: a word may be in any of them, and those of NEAR and of a phrase are in one
    /// ("Full Text Search Scalar Functions" in ADS's help).
    pub fn holds_among(&self, texts: &[Vec<String>]) -> bool {
        self.condition.holds_among(texts)
    }

    /// SCORE(): how often the words that it looks for are among these; `is_distinct`, as of SCOREDISTINCT(), how many of them are.
    /// Those behind NOT do not count.
    pub fn score(&self, words: &[String], is_distinct: bool) -> usize {
        let count = |term: &Term| match (term.places(words).len(), is_distinct) {
            (0, true) => 0,
            (_, true) => 1,
            (count, false) => count,
        };
        self.scored().iter().map(count).sum()
    }

    /// A condition that holds for the texts whose score is not 0; `None` where there are none.
    pub fn of_any_scored(&self) -> Option<String> {
        let written = self.scored().into_iter().map(|term| match term {
            Term::Word(word) => format!("\"{}\"", word.replace('"', "\"\"")),
            Term::Beginning(part) => format!("{part}*"),
            Term::End(part) => format!("*{part}"),
            Term::Part(part) => format!("*{part}*"),
            Term::Phrase(words) => format!("\"{}\"", words.join(" ")),
        });
        let written: Vec<String> = written.collect();
        (!written.is_empty()).then(|| written.join(" OR "))
    }

    /// What is counted, each word of a phrase on its own ("Full Text Search Scoring").
    fn scored(&self) -> Vec<Term> {
        let mut scored = Vec::new();
        for term in self.condition.terms() {
            match term {
                Term::Phrase(words) => scored.extend(words.iter().cloned().map(Term::Word)),
                other => scored.push(other.clone()),
            }
        }
        scored
    }
}

impl Condition {
    fn holds_among(&self, texts: &[Vec<String>]) -> bool {
        match self {
            Self::Nothing => true,
            Self::Not(condition) => !condition.holds_among(texts),
            Self::And(all) => all.iter().all(|condition| condition.holds_among(texts)),
            Self::Or(any) => any.iter().any(|condition| condition.holds_among(texts)),
            Self::Term(_) | Self::Near(..) => texts.iter().any(|words| self.found(words).is_some()),
        }
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
            Self::Nothing | Self::Not(_) => Vec::new(),
            Self::Term(term) => vec![term],
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
            _ if is_space(c) => {}
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
                while let Some(c) = chars.next_if(|c| !is_space(*c) && !matches!(c, '(' | ')' | '"')) {
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
    tokenizer: &'t Tokenizer,
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

    fn or(&mut self) -> Result<Condition, SearchFault> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(SearchFault::TooDeep);
        }
        let mut any = vec![self.and()?];
        while self.take(&Token::Or) {
            any.push(self.and()?);
        }
        self.depth -= 1;
        Ok(one_or(any, Condition::Or))
    }

    fn and(&mut self) -> Result<Condition, SearchFault> {
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

    fn not(&mut self) -> Result<Condition, SearchFault> {
        match self.take(&Token::Not) {
            true => match self.near()? {
                Condition::Nothing => Ok(Condition::Nothing),
                condition => Ok(Condition::Not(Box::new(condition))),
            },
            false => self.near(),
        }
    }

    fn near(&mut self) -> Result<Condition, SearchFault> {
        let mut left = self.value()?;
        while self.take(&Token::Near) {
            let mut distance = NEAR;
            if self.take(&Token::Open) {
                if let Some((Token::Word(number), rest)) = self.tokens.split_first() {
                    distance = number.parse().map_err(|_| SearchFault::Distance)?;
                    self.tokens = rest;
                }
                if !self.take(&Token::Close) {
                    return Err(SearchFault::Distance);
                }
            }
            let right = self.value()?;
            left = Condition::Near(Box::new(left), distance, Box::new(right));
        }
        Ok(left)
    }

    fn value(&mut self) -> Result<Condition, SearchFault> {
        let Some((first, rest)) = self.tokens.split_first() else {
            return Err(SearchFault::EndsEarly);
        };
        self.tokens = rest;
        match first {
            Token::Open => {
                let inner = self.or()?;
                match self.take(&Token::Close) {
                    true => Ok(inner),
                    false => Err(SearchFault::OpenParenthesis),
                }
            }
            Token::Phrase(phrase) => Ok(match self.tokenizer.words(phrase) {
                words if words.is_empty() => Condition::Nothing,
                words => Condition::Term(Term::Phrase(words)),
            }),
            Token::Word(written) => Ok(word(written, self.tokenizer)),
            Token::Close | Token::And | Token::Or | Token::Not | Token::Near => Err(SearchFault::Operator),
        }
    }
}

fn word(written: &str, tokenizer: &Tokenizer) -> Condition {
    let inner = written.trim_matches('*');
    let (begins, ends) = (written.ends_with('*'), written.starts_with('*'));
    let part = tokenizer.cleaned(inner);
    if part.is_empty() {
        return Condition::Nothing;
    }
    Condition::Term(match (begins, ends) {
        (true, false) => Term::Beginning(part),
        (false, true) => Term::End(part),
        (true, true) => Term::Part(part),
        (false, false) if !tokenizer.counts(&part) => return Condition::Nothing,
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

/// What parts the words of a condition, whatever the delimiters of texts are.
fn is_space(c: char) -> bool {
    matches!(c, '\0' | ' ' | '\x08'..='\x0D')
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "Skiing and Mountain-Climbing: the doctor's notes (2nd edition), seen by a medical student of Oslo.";

    #[test]
    fn conditions_hold_as_the_page_says() {
        let tokenizer = Tokenizer::default();
        let words = tokenizer.words(TEXT);
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
            let parsed = SearchCondition::parse(condition, &tokenizer).expect(condition);
            assert_eq!(parsed.holds(&words), expected, "{condition}: {parsed:?}");
        }
    }

    #[test]
    fn wrong_conditions_are_told() {
        let tokenizer = Tokenizer::default();
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
            let told = SearchCondition::parse(condition, &tokenizer)
                .expect_err(condition)
                .to_string();
            assert!(told.contains(why), "{condition}: {told}");
        }
    }

    #[test]
    fn scores_are_those_of_the_page() {
        // "Full Text Search Scoring".
        let text = "Both medical doctors and doctors of veterinary medicine require extensive schooling.";
        let tokenizer = Tokenizer::default();
        let words = tokenizer.words(text);
        for (condition, score, distinct) in [
            ("medical and doctor*", 3, 2),
            ("medical or doctor*", 3, 2),
            ("medical near doctor*", 3, 2),
            ("\"medical doctors\"", 3, 2),
            ("medical and not doctor*", 1, 1),
            ("nurse", 0, 0),
        ] {
            let parsed = SearchCondition::parse(condition, &tokenizer).expect(condition);
            assert_eq!(
                (parsed.score(&words, false), parsed.score(&words, true)),
                (score, distinct),
                "{condition}"
            );
            let any = SearchCondition::parse(&parsed.of_any_scored().unwrap(), &tokenizer).unwrap();
            assert_eq!(any.holds(&words), score > 0, "{condition}");
        }
    }
}
