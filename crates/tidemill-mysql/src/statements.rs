//! Statements of the user's own, and how those of one text are told apart (MySQL's manual, "Language Structure").

use crate::client::Client;
use crate::connection::Answer as First;
use crate::error::{Error, Fault, Result};
use crate::read::Read;

/// What a statement gives.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "there is one of a text")]
pub enum Answer {
    /// Rows.
    Rows(Read),
    /// How many rows it changed; `None` of a statement that changes none, such as CREATE TABLE.
    Changed(Option<u64>),
}

impl Client {
    /// Runs statements with `;` between on a connection of their own, each when the one before has ended, and gives what the last one gives.
    /// Rows of those before are left out. Each is a transaction of its own, unless there is a BEGIN; one that is open at the end is
    /// undone. A statement that makes a procedure, a function, a trigger or an event with a body takes the rest of the text.
    ///
    /// # Errors
    ///
    /// [`Error::Server`] of the first statement that fails: those behind it do not run. [`Error::Unsupported`] for LOAD DATA of a file of
    /// this machine, and for rows of a statement that the server does not prepare.
    pub async fn run(&self, text: &str) -> Result<Answer> {
        let mut lease = self.lease().await?;
        let mut statements = split(text);
        let last = statements.pop().unwrap_or_default();
        for statement in statements {
            let place = shortened(statement);
            let connection = lease.connection()?;
            let first = self.within(&place, connection.query(statement)).await?;
            match first {
                First::Done(done) => drop(self.within(&place, connection.skip_further(done)).await?),
                First::Columns(_) => drop(self.within(&place, connection.skip()).await?),
                First::File => return Err(local_file(&place)),
            }
        }
        let place = shortened(last);
        let connection = lease.connection()?;
        let run = async {
            match connection.prepare(last).await {
                Ok(statement) => connection.run(&statement).await.map(|first| (first, true)),
                Err(Fault::Server(error)) if error.code == NOT_PREPARED => {
                    connection.query(last).await.map(|first| (first, false))
                }
                Err(fault) => Err(fault),
            }
        };
        let (first, is_prepared) = self.within(&place, run).await?;
        match first {
            First::Done(done) => {
                self.within(&place, connection.skip_further(done)).await?;
                lease.close();
                let counts = ["insert", "update", "delete", "replace", "load", "with"];
                let is_counted = counts.contains(&keyword(last).as_str());
                Ok(Answer::Changed(is_counted.then_some(done.affected)))
            }
            First::Columns(columns) if is_prepared => Ok(Answer::Rows(
                Read::of_columns(self, lease, &place, &columns, None)?.closing(),
            )),
            First::Columns(_) => Err(Error::Unsupported {
                what: format!("{place}: reading rows of a statement that the server does not prepare"),
                hint: "the program mysql shows them".to_owned(),
            }),
            First::File => Err(local_file(&place)),
        }
    }
}

fn local_file(place: &str) -> Error {
    Error::Unsupported {
        what: format!("{place}: LOAD DATA of a file of this machine"),
        hint: "tidemill copy fills tables".to_owned(),
    }
}

/// The begin of a statement, as errors name it.
fn shortened(statement: &str) -> String {
    const LONGEST: usize = 60;
    let words = statement.split_whitespace().collect::<Vec<_>>().join(" ");
    match words.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", words.get(..end).unwrap_or_default()),
        None => words,
    }
}

/// The statements of a text, without the `;` behind them. Those that have nothing but blanks and comments are left out.
fn split(text: &str) -> Vec<&str> {
    let mut statements = Vec::new();
    let mut begin = 0;
    let mut words: Vec<String> = Vec::new();
    let mut is_empty = true;
    for token in Tokens::of(text) {
        match token.kind {
            Kind::Semicolon if !has_body(&words) => {
                if !is_empty && let Some(statement) = text.get(begin..token.begin) {
                    statements.push(statement.trim());
                }
                (begin, is_empty) = (token.end, true);
                words.clear();
            }
            Kind::Blank => {}
            Kind::Word => {
                is_empty = false;
                words.push(
                    text.get(token.begin..token.end)
                        .unwrap_or_default()
                        .to_ascii_lowercase(),
                );
            }
            Kind::Semicolon | Kind::Other => is_empty = false,
        }
    }
    if !is_empty && let Some(statement) = text.get(begin..) {
        statements.push(statement.trim());
    }
    statements
}

/// Whether a statement that begins with these words has statements within it.
fn has_body(words: &[String]) -> bool {
    let has = |sought: &[&str]| words.iter().any(|word| sought.contains(&word.as_str()));
    match words.first().map(String::as_str) {
        Some("create" | "alter") => {
            has(&["procedure", "function", "trigger", "event", "package"]) && has(&["begin", "package"])
        }
        // BEGIN NOT ATOMIC of MariaDB.
        Some("begin") => words.get(1).is_some_and(|word| word == "not"),
        _ => false,
    }
}

/// The first word of a statement, in lower case, behind comments and parentheses.
fn keyword(statement: &str) -> String {
    let word = Tokens::of(statement).find(|token| token.kind == Kind::Word);
    let word = word.and_then(|token| statement.get(token.begin..token.end));
    word.unwrap_or_default().to_ascii_lowercase()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Semicolon,
    /// Blanks and comments.
    Blank,
    Word,
    /// Texts, names in quotation marks, numbers, signs, comments that the server runs.
    Other,
}

struct Token {
    kind: Kind,
    begin: usize,
    end: usize,
}

struct Tokens<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Tokens<'a> {
    fn of(text: &'a str) -> Self {
        Self { text, at: 0 }
    }
}

impl Iterator for Tokens<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        let begin = self.at;
        let rest = self.text.get(begin..)?;
        let first = rest.chars().next()?;
        let line = || rest.find('\n').unwrap_or(rest.len());
        let (kind, length) = match first {
            ';' => (Kind::Semicolon, 1),
            '#' => (Kind::Blank, line()),
            // `5--1` is a difference.
            '-' if is_dashes(rest) => (Kind::Blank, line()),
            '/' if rest.starts_with("/*!") || rest.starts_with("/*M!") => (Kind::Other, comment(rest)),
            '/' if rest.starts_with("/*") => (Kind::Blank, comment(rest)),
            '\'' | '"' | '`' => (Kind::Other, quoted(rest, first)),
            first if first.is_whitespace() => (Kind::Blank, first.len_utf8()),
            first if is_of_word(first) => {
                let length = rest.find(|letter: char| !is_of_word(letter)).unwrap_or(rest.len());
                let kind = if first.is_ascii_digit() {
                    Kind::Other
                } else {
                    Kind::Word
                };
                (kind, length)
            }
            first => (Kind::Other, first.len_utf8()),
        };
        self.at = begin + length;
        Some(Token {
            kind,
            begin,
            end: self.at,
        })
    }
}

fn is_of_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_' || letter == '$' || !letter.is_ascii()
}

fn is_dashes(text: &str) -> bool {
    let behind = text.strip_prefix("--").map(|rest| rest.chars().next());
    behind.is_some_and(|next| next.is_none_or(|next| next.is_whitespace() || next.is_control()))
}

fn comment(text: &str) -> usize {
    let end = text.get(2..).and_then(|rest| rest.find("*/"));
    end.map_or(text.len(), |end| end + 4)
}

/// To behind the mark that ends it; one that is doubled does not, nor one behind a backslash, but in a name.
fn quoted(text: &str, mark: char) -> usize {
    let mut letters = text.char_indices().skip(1).peekable();
    while let Some((at, letter)) = letters.next() {
        if letter == '\\' && mark != '`' {
            letters.next();
        } else if letter == mark {
            match letters.peek() {
                Some((_, next)) if *next == mark => drop(letters.next()),
                _ => return at + mark.len_utf8(),
            }
        }
    }
    text.len()
}

/// `ER_UNSUPPORTED_PS`.
const NOT_PREPARED: u16 = 1295;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_end_where_the_server_ends_them() {
        for (text, expected) in [
            ("", vec![]),
            (" ; -- nothing\n;", vec![]),
            ("SELECT 1; SELECT 2;", vec!["SELECT 1", "SELECT 2"]),
            (r"SELECT 'a;\';b'; x", vec![r"SELECT 'a;\';b'", "x"]),
            ("SELECT `a\\`; x", vec!["SELECT `a\\`", "x"]),
            (
                "SELECT 'it''s;', \"q;\"\";\"; x",
                vec!["SELECT 'it''s;', \"q;\"\";\"", "x"],
            ),
            ("SELECT 5--1; x", vec!["SELECT 5--1", "x"]),
            ("SELECT 5-- 1; x\n; y", vec!["SELECT 5-- 1; x", "y"]),
            ("SELECT 1 # ; x\n; y", vec!["SELECT 1 # ; x", "y"]),
            (
                "/* ; */ SELECT 1; /*! SET x = 1; */; y",
                vec!["/* ; */ SELECT 1", "/*! SET x = 1; */", "y"],
            ),
            (
                "BEGIN; INSERT INTO t VALUES (1); COMMIT",
                vec!["BEGIN", "INSERT INTO t VALUES (1)", "COMMIT"],
            ),
            (
                "SELECT 1; CREATE PROCEDURE p() BEGIN SELECT 1; SELECT 2; END",
                vec!["SELECT 1", "CREATE PROCEDURE p() BEGIN SELECT 1; SELECT 2; END"],
            ),
            ("CREATE TABLE a (n int); b", vec!["CREATE TABLE a (n int)", "b"]),
            ("SELECT 'ü;", vec!["SELECT 'ü;"]),
        ] {
            assert_eq!(split(text), expected, "{text}");
        }
        assert_eq!(keyword("/* x */ (SELECT 1)"), "select");
    }
}
