//! Classifies a statement: SQL for the session, or a command of the protocol, such as SET and COPY.

use std::sync::OnceLock;

use sqlparser::ast::{Expr, ObjectName, Statement};
use sqlparser::dialect::PostgreSqlDialect;
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan, Tokenizer, Word};
use tidemill_ads::sql::limit_nesting;
use tidemill_sql::is_query;

use super::column_names::ColumnNames;
use super::copy::{self, CopyStatement};
use super::failure::{error, hinted, of_session};
use super::prepared_by_name::{self, PrepareStatement};
use super::settings::{READS_ONLY, READS_ONLY_BY_DEFAULT};
use super::standard_sql::in_standard_words;
use super::{catalog, parameters};
use pgwire::error::PgWireError;

/// A parsed statement of a client.
#[derive(Debug)]
pub(crate) struct Prepared {
    /// The client's text, in which EXECUTE is replaced.
    pub(crate) text: String,
    pub(crate) command: Command,
    /// The types of `$1` and so on.
    pub(crate) types: Vec<tidemill_postgres::Type>,
    /// Whether it may return rows; computed on first use.
    gives_rows: OnceLock<bool>,
    /// The names of its columns; computed on first use.
    names: OnceLock<Option<ColumnNames>>,
}

/// What a statement does.
#[derive(Debug)]
pub(crate) enum Command {
    Begin {
        /// Whether the transaction is read-only, if the statement says so.
        reads_only: Option<bool>,
    },
    Commit,
    Rollback,
    /// Sets a savepoint, rolls back to one, or releases one; `sql` is for the session.
    Savepoint {
        sql: String,
        tag: &'static str,
    },
    Set {
        name: String,
        value: Option<String>,
        /// Whether it holds until the transaction ends.
        is_local: bool,
    },
    Reset(Option<String>),
    Show(String),
    ShowAll,
    /// DISCARD: settings, cursors and prepared statements are reset, whatever its object is.
    Discard,
    /// Stores a statement under a name, to be run by EXECUTE.
    Prepare(Box<PrepareStatement>),
    /// Runs a stored statement with values that are SQL expressions.
    Execute {
        name: String,
        values: Vec<Expr>,
    },
    Deallocate(Option<String>),
    /// Statements without effect here, with the command tag of the response.
    Nothing(&'static str),
    /// Opens a cursor.
    Declare {
        name: String,
        /// Whether the cursor stays open after COMMIT.
        holds: bool,
        query: Sql,
    },
    Fetch {
        name: String,
        rows: Option<u64>,
        shows: bool,
    },
    CloseCursor(Option<String>),
    Copy(Box<CopyStatement>),
    /// It reads PostgreSQL's catalogue.
    Catalog(Box<Statement>),
    Sql(Sql),
}

/// A statement for the session.
#[derive(Debug, Clone)]
pub(crate) struct Sql {
    /// With `:pg1` in place of `$1`.
    pub(crate) text: String,
    /// For each value that the session needs, in its order: the index of the client's value, from 0.
    pub(crate) places: Vec<usize>,
    /// The command tag of the answer, without the number of rows: `SELECT`, `INSERT 0`, `CREATE TABLE`.
    pub(crate) tag: String,
    /// Whether it only reads; computed on first use.
    reads: OnceLock<bool>,
}

/// The name prefix of a parameter.
pub(super) const PARAMETER: &str = "PG";

/// The most bytes of a statement.
const LONGEST: usize = 16 << 20;

/// Splits a text into its statements, at semicolons. A script of ADS SQL is one statement.
///
/// # Errors
///
/// SQLSTATE 54000 for a text that is too long.
pub(crate) fn split(text: &str) -> Result<Vec<String>, PgWireError> {
    Ok(split_with_places(text)?.into_iter().map(|(_, part)| part).collect())
}

/// As [`split`], each with the number of characters before it.
///
/// # Errors
///
/// As [`split`].
pub(super) fn split_with_places(text: &str) -> Result<Vec<(usize, String)>, PgWireError> {
    if text.len() > LONGEST {
        return Err(error(
            "54000",
            format!("a statement of {} bytes; at most {LONGEST} are read", text.len()),
        ));
    }
    // The session reports errors of the tokenizer.
    let Ok(tokens) = tokens(text) else {
        return Ok(vec![(0, text.to_owned())]);
    };
    if is_script(&tokens) {
        return Ok(vec![(0, text.to_owned())]);
    }
    let ends = tokens.iter().filter(|token| token.token == Token::SemiColon);
    let starts = Starts::of(text);
    let mut parts = Vec::new();
    let mut begin = 0;
    for end in ends.map(|token| starts.byte(token)).chain([text.len()]) {
        let part = text.get(begin..end).unwrap_or_default();
        if tokens_of(part).next().is_some() {
            let before = text.get(..begin).map_or(0, |before| before.chars().count());
            parts.push((before, part.to_owned()));
        }
        begin = end + 1;
    }
    Ok(parts)
}

pub(super) fn tokens(text: &str) -> Result<Vec<TokenWithSpan>, sqlparser::tokenizer::TokenizerError> {
    let all = Tokenizer::new(&PostgreSqlDialect {}, text).tokenize_with_location()?;
    let is_shown = |token: &TokenWithSpan| !matches!(token.token, Token::Whitespace(_) | Token::EOF);
    Ok(all.into_iter().filter(is_shown).collect())
}

fn tokens_of(text: &str) -> impl Iterator<Item = Token> {
    let tokens = tokens(text).unwrap_or_default().into_iter();
    tokens.map(|token| token.token)
}

/// The starts of lines, to locate tokens.
pub(super) struct Starts<'t> {
    text: &'t str,
    lines: Vec<usize>,
}

impl<'t> Starts<'t> {
    pub(super) fn of(text: &'t str) -> Self {
        let lines = [0].into_iter().chain(text.match_indices('\n').map(|(at, _)| at + 1));
        Self {
            text,
            lines: lines.collect(),
        }
    }

    /// The byte offset of a token.
    pub(super) fn byte(&self, token: &TokenWithSpan) -> usize {
        let place = |number: u64| usize::try_from(number.saturating_sub(1)).unwrap_or(0);
        let start = token.span.start;
        let line = self.lines.get(place(start.line)).copied().unwrap_or(self.text.len());
        let rest = self.text.get(line..).unwrap_or_default();
        let within = rest.char_indices().nth(place(start.column));
        line + within.map_or(rest.len(), |(at, _)| at)
    }
}

/// Whether a text is a script of ADS SQL, whose statements belong together.
fn is_script(tokens: &[TokenWithSpan]) -> bool {
    let mut words = tokens.iter().map(|token| match &token.token {
        Token::Word(word) => word.value.to_uppercase(),
        other => other.to_string(),
    });
    match words.next().as_deref() {
        Some("TRY" | "IF" | "WHILE") => true,
        Some("DECLARE") => {
            !words
                .take_while(|word| word != "FOR" && word != ";")
                .any(|word| word == "CURSOR")
                || {
                    // PostgreSQL writes `DECLARE … CURSOR FOR`, ADS `DECLARE … CURSOR AS`.
                    !tokens
                        .iter()
                        .any(|token| matches!(&token.token, Token::Word(word) if word.keyword == Keyword::FOR))
                }
        }
        _ => false,
    }
}

/// Parses a statement.
///
/// # Errors
///
/// SQLSTATE 42601 for a text that is not a statement, 54000 for one that is too long or nested too deeply.
pub(crate) fn parse(text: &str) -> Result<Command, PgWireError> {
    if text.len() > LONGEST {
        return Err(error(
            "54000",
            format!("a statement of {} bytes; at most {LONGEST} are read", text.len()),
        ));
    }
    let Ok(tokens) = tokens(text) else {
        return Ok(Command::Sql(Sql::plain(text)?));
    };
    // Checked before parsing: deep nesting overflows the stack.
    limit_nesting(&tokens).map_err(|error| of_session(&error.into(), text))?;
    let tokens: Vec<Token> = tokens
        .into_iter()
        .map(|token| token.token)
        .filter(|token| *token != Token::SemiColon)
        .collect();
    let mut words = Words { tokens: &tokens };
    if let Some(command) = words.command(text)? {
        return Ok(command);
    }
    if let Some(statement) = catalog::statement(text, &tokens) {
        return Ok(Command::Catalog(Box::new(statement)));
    }
    Ok(Command::Sql(Sql::new(text, &tokens)?))
}

/// The remaining words of a statement.
struct Words<'t> {
    tokens: &'t [Token],
}

impl<'t> Words<'t> {
    fn word(&self) -> String {
        match self.tokens.first() {
            Some(Token::Word(Word {
                value,
                quote_style: None,
                ..
            })) => value.to_uppercase(),
            _ => String::new(),
        }
    }

    fn take(&mut self, wanted: &str) -> bool {
        let is_it = self.word() == wanted;
        if is_it {
            self.skip();
        }
        is_it
    }

    fn skip(&mut self) {
        self.tokens = self.tokens.get(1..).unwrap_or_default();
    }

    /// A name, or a quoted string.
    fn name(&mut self) -> Option<String> {
        let name = match self.tokens.first()? {
            Token::Word(word) => word.value.clone(),
            Token::SingleQuotedString(text) => text.clone(),
            _ => return None,
        };
        self.skip();
        Some(name)
    }

    fn is_at_end(&self) -> bool {
        self.tokens.is_empty()
    }

    /// A command of the protocol; `None` for other statements.
    fn command(&mut self, text: &str) -> Result<Option<Command>, PgWireError> {
        let first = self.word();
        let mut rest = Words {
            tokens: self.tokens.get(1..).unwrap_or_default(),
        };
        let incomplete = || error("42601", format!("{first}: the statement is not complete"));
        Ok(Some(match first.as_str() {
            "BEGIN" | "START" => {
                let is_block = rest.is_at_end()
                    || ["TRANSACTION", "WORK", "ISOLATION", "READ", "NOT", "DEFERRABLE"]
                        .contains(&rest.word().as_str());
                if !is_block {
                    return Ok(None);
                }
                Command::Begin {
                    reads_only: rest.reads_only(),
                }
            }
            "COMMIT" | "END" => Command::Commit,
            "ROLLBACK" | "ABORT" => {
                let _ = rest.take("TRANSACTION") || rest.take("WORK");
                if !rest.take("TO") {
                    return Ok(Some(Command::Rollback));
                }
                rest.take("SAVEPOINT");
                let name = rest.name().ok_or_else(incomplete)?;
                Command::Savepoint {
                    sql: format!("ROLLBACK TO SAVEPOINT {}", quoted(&name)),
                    tag: "ROLLBACK",
                }
            }
            "SAVEPOINT" => Command::Savepoint {
                sql: format!("SAVEPOINT {}", quoted(&rest.name().ok_or_else(incomplete)?)),
                tag: "SAVEPOINT",
            },
            "RELEASE" => {
                rest.take("SAVEPOINT");
                Command::Savepoint {
                    sql: format!("RELEASE SAVEPOINT {}", quoted(&rest.name().ok_or_else(incomplete)?)),
                    tag: "RELEASE",
                }
            }
            "SET" => return rest.set(),
            "RESET" => match rest.word().as_str() {
                "ALL" => Command::Reset(None),
                _ => Command::Reset(Some(rest.setting().ok_or_else(incomplete)?)),
            },
            "SHOW" => match rest.word().as_str() {
                "ALL" => Command::ShowAll,
                "TIME" => Command::Show("TimeZone".to_owned()),
                "TRANSACTION" => Command::Show("transaction_isolation".to_owned()),
                // SHOW statements of the session.
                word if [
                    "TABLES",
                    "COLUMNS",
                    "FUNCTIONS",
                    "CREATE",
                    "SCHEMAS",
                    "DATABASES",
                    "FULL",
                ]
                .contains(&word) =>
                {
                    return Ok(None);
                }
                _ => match rest.setting() {
                    Some(name) => Command::Show(name),
                    None => return Ok(None),
                },
            },
            "DISCARD" => Command::Discard,
            "DEALLOCATE" => {
                rest.take("PREPARE");
                match rest.word().as_str() {
                    "ALL" => Command::Deallocate(None),
                    _ => Command::Deallocate(Some(rest.name().ok_or_else(incomplete)?)),
                }
            }
            "PREPARE" => match prepared_by_name::prepare(text)? {
                Some(prepare) => Command::Prepare(Box::new(prepare)),
                None => return Ok(None),
            },
            "EXECUTE" => match prepared_by_name::execute(text)? {
                Some((name, values)) => Command::Execute { name, values },
                // EXECUTE PROCEDURE of ADS SQL.
                None => return Ok(None),
            },
            "UNLISTEN" => Command::Nothing("UNLISTEN"),
            "DECLARE" => {
                let name = rest.name().ok_or_else(incomplete)?;
                let mut options = Vec::new();
                while !rest.is_at_end() && rest.word() != "FOR" {
                    options.push(rest.word());
                    rest.skip();
                }
                if !rest.take("FOR") {
                    return Ok(None);
                }
                let holds = holds(&options)?;
                let query = behind(text, "FOR").unwrap_or_default();
                Command::Declare {
                    name,
                    holds,
                    query: Sql::new(&query, rest.tokens)?,
                }
            }
            "FETCH" | "MOVE" => {
                let shows = first == "FETCH";
                let _ = rest.take("FORWARD") || rest.take("NEXT");
                let backward = |what: &str| {
                    hinted(
                        "55000",
                        format!("{first} {what}: cursors go forward only"),
                        "declare the cursor again to read its rows from the first",
                    )
                };
                let rows = match rest.tokens.first() {
                    Some(Token::Minus) => return Err(backward("of a number below 0")),
                    Some(Token::Number(digits, _)) => {
                        let rows = digits.parse();
                        let rows =
                            rows.map_err(|_| error("22023", format!("{first} {digits}: not a number of rows")))?;
                        rest.skip();
                        Some(rows)
                    }
                    _ if rest.take("ALL") => None,
                    _ if ["BACKWARD", "PRIOR", "FIRST", "LAST", "ABSOLUTE", "RELATIVE"]
                        .contains(&rest.word().as_str()) =>
                    {
                        return Err(backward(&rest.word()));
                    }
                    _ => Some(1),
                };
                let _ = rest.take("FROM") || rest.take("IN");
                Command::Fetch {
                    name: rest.name().ok_or_else(incomplete)?,
                    rows,
                    shows,
                }
            }
            "CLOSE" => match rest.word().as_str() {
                "ALL" => Command::CloseCursor(None),
                _ => Command::CloseCursor(Some(rest.name().ok_or_else(incomplete)?)),
            },
            "COPY" => Command::Copy(Box::new(copy::parse(text)?)),
            _ => return Ok(None),
        }))
    }

    /// Whether the transaction modes include READ ONLY; `None` if they do not say.
    fn reads_only(&self) -> Option<bool> {
        match (self.has("READ", "ONLY"), self.has("READ", "WRITE")) {
            (true, _) => Some(true),
            (false, true) => Some(false),
            (false, false) => None,
        }
    }

    fn has(&self, first: &str, second: &str) -> bool {
        let words: Vec<String> = self
            .tokens
            .iter()
            .map(|token| token.to_string().to_uppercase())
            .collect();
        words
            .windows(2)
            .any(|pair| matches!(pair, [one, two] if one == first && two == second))
    }

    /// The name of a setting, which may have dots.
    fn setting(&mut self) -> Option<String> {
        let mut name = self.name()?;
        while self.tokens.first() == Some(&Token::Period) {
            self.skip();
            name = format!("{name}.{}", self.name()?);
        }
        Some(name)
    }

    fn set(&mut self) -> Result<Option<Command>, PgWireError> {
        let is_local = self.take("LOCAL");
        self.take("SESSION");
        match self.word().as_str() {
            // CHARACTERISTICS set the defaults of later transactions.
            scope @ ("TRANSACTION" | "CHARACTERISTICS") => {
                let is_local = scope == "TRANSACTION";
                let name = if is_local { READS_ONLY } else { READS_ONLY_BY_DEFAULT };
                return Ok(Some(match self.reads_only() {
                    Some(reads_only) => Command::Set {
                        name: name.to_owned(),
                        value: Some(if reads_only { "on" } else { "off" }.to_owned()),
                        is_local,
                    },
                    None => Command::Nothing("SET"),
                }));
            }
            "TIME" => {
                self.skip();
                self.skip();
                return Ok(Some(Command::Set {
                    name: "TimeZone".to_owned(),
                    value: self.value(),
                    is_local,
                }));
            }
            "NAMES" => {
                self.skip();
                return Ok(Some(Command::Set {
                    name: "client_encoding".to_owned(),
                    value: self.value(),
                    is_local,
                }));
            }
            "ROLE" | "AUTHORIZATION" => {
                return Err(error("42501", "SET ROLE: a connection stays that of its user"));
            }
            _ => {}
        }
        let Some(name) = self.setting() else { return Ok(None) };
        if !self.take("TO") && self.tokens.first() != Some(&Token::Eq) {
            return Ok(None);
        }
        if self.tokens.first() == Some(&Token::Eq) {
            self.skip();
        }
        Ok(Some(Command::Set {
            name,
            value: self.value(),
            is_local,
        }))
    }

    /// The value of SET, which may be a list; `None` for DEFAULT.
    fn value(&self) -> Option<String> {
        if self.word() == "DEFAULT" || self.word() == "LOCAL" {
            return None;
        }
        let words = self.tokens.iter().map(|token| match token {
            Token::SingleQuotedString(text) => text.clone(),
            Token::Comma => ", ".to_owned(),
            other => other.to_string(),
        });
        Some(words.collect::<String>())
    }
}

/// Whether the options of a cursor say WITH HOLD.
///
/// # Errors
///
/// SQLSTATE 0A000 for a cursor that can scroll, whose rows would have to be stored.
fn holds(options: &[String]) -> Result<bool, PgWireError> {
    let has = |words: &[&str]| options.windows(words.len()).any(|window| window == words);
    if has(&["SCROLL"]) && !has(&["NO", "SCROLL"]) {
        let hint = "declare it without SCROLL: its rows are read forward";
        return Err(hinted("0A000", "a cursor SCROLL is not supported", hint));
    }
    Ok(has(&["WITH", "HOLD"]))
}

/// The text after the first occurrence of a word.
fn behind(text: &str, word: &str) -> Option<String> {
    let starts = Starts::of(text);
    let tokens = tokens(text).ok()?;
    let mut behind = tokens
        .iter()
        .skip_while(|token| !token.token.to_string().eq_ignore_ascii_case(word));
    behind.next()?;
    text.get(starts.byte(behind.next()?)..).map(str::to_owned)
}

/// A name as the session takes it, without quotes.
pub(super) fn plain_name(name: &ObjectName) -> String {
    let parts = name.0.iter().map(|part| match part.as_ident() {
        Some(ident) => ident.value.clone(),
        None => part.to_string(),
    });
    parts.collect::<Vec<_>>().join(".")
}

/// Whether only PostgreSQL has the word. TABLE is one only at the start (`TABLE t`).
fn is_foreign_word(word: &Word, is_first: bool) -> bool {
    let is = |known: &str| word.quote_style.is_none() && word.value.eq_ignore_ascii_case(known);
    is("GENERATE_SERIES") || is("LOCALTIMESTAMP") || (is_first && is("TABLE"))
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

impl Sql {
    /// A statement that cannot be tokenized, which has no parameters.
    fn plain(text: &str) -> Result<Self, PgWireError> {
        Self::new(text, &[])
    }

    /// A statement with these tokens.
    fn new(text: &str, tokens: &[Token]) -> Result<Self, PgWireError> {
        let is_foreign = |(place, token): (usize, &Token)| match token {
            Token::Word(word) => is_foreign_word(word, place == 0),
            Token::DoubleColon
            | Token::EscapedStringLiteral(_)
            | Token::UnicodeStringLiteral(_)
            | Token::Caret
            | Token::Sharp => true,
            _ => false,
        };
        let has_parameters = tokens.iter().any(|token| number_of(token).is_some());
        let mut written = text.to_owned();
        if tokens.iter().enumerate().any(is_foreign)
            && let Some(rewritten) = in_standard_words(text)
        {
            written = rewritten;
        } else if has_parameters {
            written = with_names(text)?;
        }
        let places = match has_parameters {
            true => places(&written)?,
            false => Vec::new(),
        };
        Ok(Self {
            tag: tag(tokens),
            text: written,
            places,
            reads: OnceLock::new(),
        })
    }

    /// Whether it only reads.
    ///
    /// # Errors
    ///
    /// As [`is_query`].
    pub(crate) fn reads(&self) -> tidemill_sql::Result<bool> {
        match self.reads.get() {
            Some(reads) => Ok(*reads),
            None => is_query(&self.text).map(|reads| *self.reads.get_or_init(|| reads)),
        }
    }

    /// How many parameters the client gives.
    pub(crate) fn parameters(&self) -> usize {
        self.places.iter().max().map_or(0, |most| most + 1)
    }
}

/// The number of a parameter token.
pub(super) fn number_of(token: &Token) -> Option<usize> {
    match token {
        Token::Placeholder(text) => text.strip_prefix('$')?.parse().ok().filter(|number| *number > 0),
        _ => None,
    }
}

/// The text with `:pg1` in place of `$1`.
fn with_names(text: &str) -> Result<String, PgWireError> {
    let wrong = |what: &dyn std::fmt::Display| error("42601", what.to_string());
    let starts = Starts::of(text);
    let (mut written, mut begin) = (String::new(), 0);
    for token in tokens(text).map_err(|error| wrong(&error))? {
        if let Some(number) = number_of(&token.token) {
            let at = starts.byte(&token);
            written.push_str(text.get(begin..at).unwrap_or_default());
            written.push_str(&format!(":{PARAMETER}{number}"));
            begin = at + token.token.to_string().len();
        }
    }
    written.push_str(text.get(begin..).unwrap_or_default());
    Ok(written)
}

/// For each value that the session needs, in its order: the index of the client's value, from 0.
pub(super) fn places(text: &str) -> Result<Vec<usize>, PgWireError> {
    let names = tidemill_ads::sql::parameters(text).map_err(|fault| error("42601", fault.message()))?;
    let place = |name: Option<String>| {
        let number = name
            .as_deref()
            .and_then(|name| name.strip_prefix(PARAMETER)?.parse::<usize>().ok());
        number
            .and_then(|number| number.checked_sub(1))
            .ok_or_else(|| error("42601", "parameters are written $1, $2 and so on"))
    };
    names.into_iter().map(place).collect()
}

/// The command tag of a statement.
fn tag(tokens: &[Token]) -> String {
    let words = Words { tokens };
    // The kind of object that is created, after its modifiers.
    let second = || {
        let mut words = tokens.iter().skip(1).map(|token| token.to_string().to_uppercase());
        let is_how = |word: &String| {
            matches!(
                word.as_str(),
                "OR" | "REPLACE" | "TEMP" | "TEMPORARY" | "GLOBAL" | "LOCAL" | "UNLOGGED" | "UNIQUE"
            )
        };
        words.find(|word| !is_how(word)).unwrap_or_default()
    };
    match words.word().as_str() {
        "INSERT" => "INSERT 0".to_owned(),
        word @ ("UPDATE" | "DELETE" | "MERGE") => word.to_owned(),
        "TRUNCATE" => "TRUNCATE TABLE".to_owned(),
        word @ ("CREATE" | "DROP" | "ALTER") => format!("{word} {}", second()),
        "EXPLAIN" => "EXPLAIN".to_owned(),
        _ => "SELECT".to_owned(),
    }
}

impl Prepared {
    pub(crate) fn new(text: &str, command: Command, types: Vec<tidemill_postgres::Type>) -> Self {
        Self {
            text: text.to_owned(),
            command,
            types,
            gives_rows: OnceLock::new(),
            names: OnceLock::new(),
        }
    }

    /// The names of its columns, if it is a query.
    pub(crate) fn names(&self) -> Option<&ColumnNames> {
        self.names.get_or_init(|| ColumnNames::of(&self.text)).as_ref()
    }

    /// Whether it may return rows, judged by its keywords.
    pub(crate) fn gives_rows(&self) -> bool {
        *self.gives_rows.get_or_init(|| match &self.command {
            Command::Catalog(_) | Command::Show(_) | Command::ShowAll => true,
            Command::Fetch { shows, .. } => *shows,
            Command::Sql(sql) => tidemill_sql::is_query(&sql.text).unwrap_or(true),
            _ => false,
        })
    }

    /// The types of the parameters, as far as the client gave them.
    pub(crate) fn types_told(
        command: &Command,
        told: &[Option<pgwire::api::Type>],
    ) -> Vec<Option<tidemill_postgres::Type>> {
        let wanted = match command {
            Command::Sql(sql) | Command::Declare { query: sql, .. } => sql.parameters(),
            Command::Catalog(statement) => parameters::count(statement),
            _ => 0,
        };
        let count = wanted.max(told.len());
        let told = |number: usize| {
            let told = told.get(number)?.as_ref()?;
            tidemill_postgres::Type::of_oid(told.oid()).filter(|_| *told != pgwire::api::Type::UNKNOWN)
        };
        (0..count).map(told).collect()
    }
}

#[cfg(test)]
mod tests;
