//! From tokens to statements.
//!
//! Queries and expressions are read by sqlparser. The frame around them, data definition and scripts, is read here: ADS's grammar for
//! these ("Advantage SQL Grammar", "SQL Script Overview" in its help) is small and has words that sqlparser has not.

mod definition;
mod objects;
mod script;

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};

use sqlparser::ast::{Expr, Ident, TableWithJoins};
use sqlparser::parser::{Parser as Grammar, ParserError};
use sqlparser::tokenizer::{Location, Token, TokenWithSpan};
use tidemill_xbase::stamp::locked_soon;

use super::clauses::{Reader, refuse_ignored};
use super::collate::without_collations;
use super::dialect::Ads;
use super::error::{Error, Kind, Result};
use super::nesting::balance_conditions;
use super::quantified::{write_out, write_out_value};
use super::scores;
use super::statement::{
    Delete, Insert, InsertSource, Merge, Place, Select, Statement, StatementKind, TableName, TransactionMode, TypeName,
    Update,
};
use super::tokens::{Tokens, is_word};

/// How deep statements and expressions nest.
const MAX_DEPTH: usize = 40;

/// The statements of a text, which are separated by semicolons.
///
/// # Errors
/// [`Kind::Syntax`] with the place of the fault.
pub fn parse(text: &str) -> Result<Vec<Statement>> {
    Ok(Parsed::new(text)?.statements)
}

/// The statements of a text, and its parameters.
#[derive(Debug)]
pub(super) struct Parsed {
    pub(super) statements: Vec<Statement>,
    /// As [`Tokens`] names them.
    pub(super) parameters: Vec<String>,
}

impl Parsed {
    fn new(text: &str) -> Result<Self> {
        let mut tokens = Tokens::of(text)?;
        let parameters = std::mem::take(&mut tokens.parameters);
        let statements = parser_of(text, tokens).statements(&[]);
        Ok(Self {
            statements: statements.map_err(|error| error.within(text))?,
            parameters,
        })
    }

    /// As [`parse`], once for all connections of the process that ask the same: what a text says depends on nothing else.
    ///
    /// # Errors
    /// As [`parse`].
    pub(super) fn of(text: &str) -> Result<Arc<Self>> {
        /// How many texts are known, and how long they may be.
        const MOST: usize = 200;
        const LONGEST: usize = 4096;
        static KNOWN: LazyLock<Mutex<HashMap<Box<str>, Arc<Parsed>>>> = LazyLock::new(Mutex::default);
        if let Some(known) = locked_soon(&KNOWN)
            && let Some(parsed) = known.get(text)
        {
            return Ok(Arc::clone(parsed));
        }
        let parsed = Arc::new(Self::new(text)?);
        if text.len() <= LONGEST
            && let Some(mut known) = locked_soon(&KNOWN)
        {
            if known.len() >= MOST {
                known.clear();
            }
            known.insert(text.into(), Arc::clone(&parsed));
        }
        Ok(parsed)
    }
}

fn parser_of(text: &str, tokens: Tokens) -> Parser<'_> {
    Parser {
        text,
        grammar: Grammar::new(&Ads)
            .with_recursion_limit(MAX_DEPTH)
            .with_tokens_with_locations(tokens.tokens),
        statics: tokens.statics,
        starts: tokens.starts,
        depth: 0,
    }
}

/// The expression of a text.
///
/// # Errors
/// As [`parse`].
pub(super) fn parse_expression(text: &str) -> Result<Expr> {
    let mut parser = parser_of(text, Tokens::of(text)?);
    let expression = parser.expression();
    match expression {
        Ok(expression) if parser.is_end() => Ok(expression),
        Ok(_) => Err(parser.unexpected("the end of the expression").within(text)),
        Err(error) => Err(error.within(text)),
    }
}

/// What the parameters of a function, `a INTEGER, b CHAR(20)`, and the type of what it returns say.
///
/// # Errors
/// As [`parse`].
pub(super) fn signature_of(parameters: &str, returns: &str) -> Result<(Vec<(Ident, TypeName)>, TypeName)> {
    let mut parser = parser_of(parameters, Tokens::of(parameters)?);
    let parsed = parser.parameters().map_err(|error| error.within(parameters))?;
    if !parser.is_end() {
        return Err(parser.unexpected("the end of the parameters").within(parameters));
    }
    let mut parser = parser_of(returns, Tokens::of(returns)?);
    let type_of = parser.type_name().map_err(|error| error.within(returns))?;
    match parser.is_end() {
        true => Ok((parsed, type_of)),
        false => Err(parser.unexpected("the end of the type").within(returns)),
    }
}

struct Parser<'t> {
    text: &'t str,
    grammar: Grammar<'static>,
    statics: Vec<Location>,
    starts: Vec<(Location, u64)>,
    depth: usize,
}

impl Parser<'_> {
    /// Statements up to one of these words, which is left, or the end of the text.
    fn statements(&mut self, ends: &[&str]) -> Result<Vec<Statement>> {
        let mut statements = Vec::new();
        loop {
            while self.grammar.consume_token(&Token::SemiColon) {}
            if self.is_end() || ends.iter().any(|end| self.is_next(end)) {
                return Ok(statements);
            }
            statements.push(self.statement()?);
            let closes = ends.iter().any(|end| self.is_next(end));
            if !self.is_end() && !closes && !self.is_token(&Token::SemiColon) {
                return Err(self.unexpected("the end of the statement"));
            }
        }
    }

    fn statement(&mut self) -> Result<Statement> {
        if self.depth >= MAX_DEPTH {
            return Err(self.fault(format!("Statements nest more than {MAX_DEPTH} deep")));
        }
        self.depth += 1;
        let location = self.place();
        let kind = self.kind();
        self.depth -= 1;
        Ok(Statement { kind: kind?, location })
    }

    fn kind(&mut self) -> Result<StatementKind> {
        let Token::Word(word) = &self.grammar.peek_token_ref().token else {
            if self.is_token(&Token::LParen) {
                return self.select().map(|select| StatementKind::Select(Box::new(select)));
            }
            return Err(self.unexpected("a statement"));
        };
        let is_plain = word.quote_style.is_none();
        let name = word.value.to_ascii_uppercase();
        if !is_plain {
            return self.script_statement(&name);
        }
        match name.as_str() {
            "SELECT" | "WITH" | "VALUES" => Ok(StatementKind::Select(Box::new(self.select()?))),
            "INSERT" => self.insert(),
            "UPDATE" => self.update(),
            "DELETE" => self.delete(),
            "MERGE" => self.merge(),
            "CREATE" => self.create(),
            "ALTER" => self.alter(),
            "DROP" => self.drop_object(),
            "BEGIN" => {
                self.skip();
                self.take_any(&["TRANSACTION", "TRAN", "WORK"]);
                Ok(StatementKind::Begin)
            }
            "COMMIT" => {
                self.skip();
                self.take_any(&["TRANSACTION", "TRAN", "WORK"]);
                Ok(StatementKind::Commit)
            }
            "ROLLBACK" => {
                self.skip();
                self.take_any(&["TRANSACTION", "TRAN", "WORK"]);
                let savepoint = match self.take("TO") {
                    true => {
                        self.take("SAVEPOINT");
                        Some(self.ident()?)
                    }
                    false => None,
                };
                Ok(StatementKind::Rollback(savepoint))
            }
            "SAVEPOINT" => {
                self.skip();
                Ok(StatementKind::Savepoint(self.ident()?))
            }
            "RELEASE" => {
                self.skip();
                self.take("SAVEPOINT");
                Ok(StatementKind::Release(self.ident()?))
            }
            "GRANT" => self.rights(true),
            "REVOKE" => self.rights(false),
            "EXECUTE" => self.execute(),
            "EXPLAIN" => {
                self.skip();
                Ok(StatementKind::Explain(Box::new(self.statement()?)))
            }
            "SET" if self.is_nth(1, "TRANSACTION") || self.is_nth(1, "TRAN") => {
                self.skip();
                self.skip();
                let mode = match self.take_any(&["AUTOCOMMIT_ON", "AUTOCOMMIT_OFF", "EXPLICIT"]) {
                    Some(0) => TransactionMode::AutocommitOn,
                    Some(1) => TransactionMode::AutocommitOff,
                    Some(_) => TransactionMode::Explicit,
                    None => return Err(self.unexpected("AUTOCOMMIT_ON, AUTOCOMMIT_OFF or EXPLICIT")),
                };
                Ok(StatementKind::SetTransaction(mode))
            }
            _ => self.script_statement(&name),
        }
    }

    /// A query with the hints that stood in it.
    fn select(&mut self) -> Result<Select> {
        let begin = self.place();
        let mut query = self.grammar.parse_query().map_err(|error| self.wrong(error))?;
        balance_conditions(&mut query);
        without_collations(&mut query)?;
        write_out(&mut query)?;
        scores::write_out(&mut query)?;
        refuse_ignored(&query, Reader::Lanes)?;
        let end = self.place();
        let is_within = |place: &Location| *place >= begin && (*place < end || end.line == 0);
        Ok(Select {
            query,
            is_static: self.statics.iter().any(is_within),
            start_at: self
                .starts
                .iter()
                .find(|(place, _)| is_within(place))
                .map(|(_, row)| *row),
        })
    }

    fn insert(&mut self) -> Result<StatementKind> {
        self.skip();
        self.take("INTO");
        let table = self.table_name()?;
        let mut is_deleted = false;
        if self.is_next("WITH") && self.is_nth(1, "DELETE") {
            self.skip();
            self.skip();
            is_deleted = true;
        }
        let (columns, source) = self.inserted()?;
        Ok(StatementKind::Insert(Box::new(Insert {
            table,
            columns,
            source,
            is_deleted,
        })))
    }

    /// What stands behind INSERT: `[(columns)] VALUES …`, `DEFAULT VALUES` or a query.
    fn inserted(&mut self) -> Result<(Vec<Ident>, InsertSource)> {
        let is_list = self.is_token(&Token::LParen) && !self.is_nth(1, "SELECT") && !self.is_nth(1, "WITH");
        let columns = match is_list {
            true => self.in_parentheses(Self::ident)?,
            false => Vec::new(),
        };
        let source = if self.take("DEFAULT") {
            self.expect("VALUES")?;
            InsertSource::Default
        } else if self.take("VALUES") {
            let mut rows = vec![self.values()?];
            while self.grammar.consume_token(&Token::Comma) {
                rows.push(self.values()?);
            }
            InsertSource::Values(rows)
        } else {
            InsertSource::Select(Box::new(self.select()?))
        };
        Ok((columns, source))
    }

    /// `(value, DEFAULT, …)`.
    fn values(&mut self) -> Result<Vec<Option<Expr>>> {
        self.in_parentheses(|parser| match parser.take("DEFAULT") {
            true => Ok(None),
            false => parser.value().map(Some),
        })
    }

    fn value(&mut self) -> Result<Expr> {
        let mut value = self.expression()?;
        write_out_value(&mut value)?;
        Ok(value)
    }

    fn update(&mut self) -> Result<StatementKind> {
        self.skip();
        let table = self.table_name()?;
        let alias = self.alias(&["SET", "WITH"])?;
        let deletion = match self.take("WITH") {
            true => match self.take_any(&["DELETE", "RECALL"]) {
                Some(which) => Some(which == 0),
                None => return Err(self.unexpected("DELETE or RECALL")),
            },
            false => None,
        };
        self.expect("SET")?;
        let assignments = self.assignments()?;
        let from = self.others()?;
        let selection = self.selection()?;
        Ok(StatementKind::Update(Box::new(Update {
            table,
            alias,
            assignments,
            from,
            selection,
            deletion,
        })))
    }

    fn delete(&mut self) -> Result<StatementKind> {
        self.skip();
        self.take("FROM");
        let table = self.table_name()?;
        let alias = self.alias(&["FROM", "WHERE"])?;
        let from = self.others()?;
        let selection = self.selection()?;
        Ok(StatementKind::Delete(Box::new(Delete {
            table,
            alias,
            from,
            selection,
        })))
    }

    /// `FROM …` of a statement that changes another table.
    fn others(&mut self) -> Result<Option<Vec<TableWithJoins>>> {
        if !self.take("FROM") {
            return Ok(None);
        }
        let others = self.grammar.parse_comma_separated(Grammar::parse_table_and_joins);
        let mut others = others.map_err(|error| self.wrong(error))?;
        balance_conditions(&mut others);
        without_collations(&mut others)?;
        refuse_ignored(&others, Reader::Lanes)?;
        Ok(Some(others))
    }

    fn merge(&mut self) -> Result<StatementKind> {
        self.skip();
        self.take("INTO");
        let table = self.table_name()?;
        let alias = self.alias(&["USING", "ON"])?;
        let source = match self.take("USING") {
            true => Some((self.table_name()?, self.alias(&["ON"])?)),
            false => None,
        };
        self.expect("ON")?;
        let on = self.expression()?;
        let (mut update, mut insert) = (None, None);
        while self.take("WHEN") {
            let matches = !self.take("NOT");
            self.expect("MATCHED")?;
            self.expect("THEN")?;
            if matches {
                self.expect("UPDATE")?;
                self.expect("SET")?;
                update = Some(self.assignments()?);
            } else {
                self.expect("INSERT")?;
                insert = Some(self.inserted()?);
            }
        }
        if update.is_none() && insert.is_none() {
            return Err(self.unexpected("WHEN"));
        }
        Ok(StatementKind::Merge(Box::new(Merge {
            table,
            alias,
            source,
            on,
            update,
            insert,
        })))
    }

    fn assignments(&mut self) -> Result<Vec<(Ident, Expr)>> {
        let mut assignments = Vec::new();
        loop {
            let mut column = self.ident()?;
            if self.grammar.consume_token(&Token::Period) {
                column = self.ident()?;
            }
            self.expect_token(&Token::Eq)?;
            assignments.push((column, self.value()?));
            if !self.grammar.consume_token(&Token::Comma) {
                return Ok(assignments);
            }
        }
    }

    fn selection(&mut self) -> Result<Option<Expr>> {
        match self.take("WHERE") {
            true => self.expression().map(Some),
            false => Ok(None),
        }
    }

    fn execute(&mut self) -> Result<StatementKind> {
        self.skip();
        if self.take("IMMEDIATE") {
            return Ok(StatementKind::ExecuteImmediate(Box::new(self.expression()?)));
        }
        self.expect("PROCEDURE")?;
        let name = self.ident()?;
        let arguments = match self.is_token(&Token::LParen) {
            true if self.grammar.peek_nth_token_ref(1).token == Token::RParen => {
                self.skip();
                self.skip();
                Vec::new()
            }
            true => self.in_parentheses(Self::expression)?,
            false => Vec::new(),
        };
        Ok(StatementKind::Execute { name, arguments })
    }

    fn expression(&mut self) -> Result<Expr> {
        let mut expression = self.grammar.parse_expr().map_err(|error| self.wrong(error))?;
        balance_conditions(&mut expression);
        without_collations(&mut expression)?;
        refuse_ignored(&expression, Reader::Lanes)?;
        Ok(expression)
    }

    /// A name of a table, with what stands before its points.
    fn table_name(&mut self) -> Result<TableName> {
        let location = self.place();
        let mut parts = vec![self.ident()?.value];
        while self.grammar.consume_token(&Token::Period) {
            parts.push(self.ident()?.value);
        }
        Ok(TableName {
            parts,
            location: Place(location),
        })
    }

    fn alias(&mut self, ends: &[&str]) -> Result<Option<Ident>> {
        if self.take("AS") {
            return self.ident().map(Some);
        }
        let is_name = matches!(self.grammar.peek_token_ref().token, Token::Word(_));
        match is_name && !ends.iter().any(|end| self.is_next(end)) {
            true => self.ident().map(Some),
            false => Ok(None),
        }
    }

    fn in_parentheses<T>(&mut self, item: impl Fn(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        self.expect_token(&Token::LParen)?;
        let mut items = vec![item(self)?];
        while self.grammar.consume_token(&Token::Comma) {
            items.push(item(self)?);
        }
        self.expect_token(&Token::RParen)?;
        Ok(items)
    }

    fn ident(&mut self) -> Result<Ident> {
        self.grammar.parse_identifier().map_err(|error| self.wrong(error))
    }

    fn number(&mut self) -> Result<u64> {
        self.grammar.parse_literal_uint().map_err(|error| self.wrong(error))
    }

    fn skip(&mut self) {
        self.grammar.advance_token();
    }

    fn is_end(&self) -> bool {
        self.is_token(&Token::EOF)
    }

    fn is_token(&self, token: &Token) -> bool {
        self.grammar.peek_token_ref().token == *token
    }

    fn is_next(&self, word: &str) -> bool {
        is_word(self.grammar.peek_token_ref(), word)
    }

    fn is_nth(&self, n: usize, word: &str) -> bool {
        is_word(self.grammar.peek_nth_token_ref(n), word)
    }

    fn take(&mut self, word: &str) -> bool {
        let is_next = self.is_next(word);
        if is_next {
            self.skip();
        }
        is_next
    }

    /// Takes one of these words; its place among them.
    fn take_any(&mut self, words: &[&str]) -> Option<usize> {
        words.iter().position(|word| self.take(word))
    }

    fn expect(&mut self, word: &str) -> Result<()> {
        match self.take(word) {
            true => Ok(()),
            false => Err(self.unexpected(word)),
        }
    }

    fn expect_token(&mut self, token: &Token) -> Result<()> {
        match self.grammar.consume_token(token) {
            true => Ok(()),
            false => Err(self.unexpected(&token.to_string())),
        }
    }

    /// What is written from a place to the last token that was taken.
    fn written_from(&self, begin: Location) -> String {
        let end = self.end_of_last();
        let (Some(begin), Some(end)) = (self.offset_of(begin), end.and_then(|end| self.offset_of(end))) else {
            return String::new();
        };
        self.text.get(begin..end).unwrap_or_default().trim().to_owned()
    }

    /// The byte that a place is at.
    fn offset_of(&self, place: Location) -> Option<usize> {
        let line = usize::try_from(place.line).ok()?.checked_sub(1)?;
        let column = usize::try_from(place.column).ok()?.checked_sub(1)?;
        let before: usize = self.text.split_inclusive('\n').take(line).map(str::len).sum();
        let rest = self.text.get(before..)?;
        let within: usize = rest.chars().take(column).map(char::len_utf8).sum();
        Some(before + within)
    }

    /// Where the last token that was taken ends.
    fn end_of_last(&self) -> Option<Location> {
        let mut behind = (0..self.grammar.index())
            .rev()
            .map(|index| self.grammar.token_at(index).span.end);
        behind.find(|place| place.line > 0)
    }

    fn place(&self) -> Location {
        self.grammar.peek_token_ref().span.start
    }

    fn unexpected(&self, expected: &str) -> Error {
        let TokenWithSpan { token, .. } = self.grammar.peek_token_ref();
        self.fault(match token {
            Token::EOF => format!("Expected lexical element not found: {expected}, at the end of the statement"),
            found => format!("Expected lexical element not found: {expected}, found {found}"),
        })
    }

    /// A fault at the next token, or at the end of the text behind the last one.
    fn fault(&self, message: impl Into<String>) -> Error {
        let error = Error::new(Kind::Syntax, message);
        if self.is_end() {
            // The end itself has no place.
            return error.at(self.end_of_last().unwrap_or(Location { line: 1, column: 1 }));
        }
        error.at(self.place())
    }

    /// What sqlparser says, with the place out of its text.
    fn wrong(&self, error: ParserError) -> Error {
        let message = match error {
            ParserError::TokenizerError(message) | ParserError::ParserError(message) => message,
            ParserError::RecursionLimitExceeded => return self.fault("The statement nests too deeply"),
        };
        let (said, place) = match message.rsplit_once(" at Line: ") {
            Some((said, place)) => (said, place.split_once(", Column: ")),
            None => (message.as_str(), None),
        };
        let said = if let Some(rest) = said.strip_prefix("Expected: ") {
            format!("Expected lexical element not found: {rest}")
        } else if let Some(word) = unknown_operator(said) {
            format!("Expected lexical element not found: an operator, found {word}")
        } else {
            said.to_owned()
        };
        let place = place.and_then(|(line, column)| {
            Some(Location {
                line: line.trim().parse().ok()?,
                column: column.trim().parse().ok()?,
            })
        });
        match place {
            Some(place) if place.line > 0 => Error::new(Kind::Syntax, said).at(place),
            _ => self.fault(said),
        }
    }
}

/// The word that stands where sqlparser expects an operator, of which it shows its own structure.
fn unknown_operator(said: &str) -> Option<&str> {
    let token = said.strip_prefix("No infix parser for token ")?;
    let word = token.split_once("value: \"").map_or(token, |(_, value)| value);
    word.split('"').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_for_an_operator_is_named() {
        let error = parse("SELECT 5 DIV 2 FROM t").expect_err("no operator");
        assert_eq!(
            error.message(),
            "Expected lexical element not found: an operator, found DIV"
        );
        assert_eq!(error.line_and_column(), Some((1, 10)));
    }

    #[test]
    fn what_is_missing_at_the_end_is_missed_behind_the_last_word() {
        for (text, place) in [
            ("SELECT a FROM t JOIN", (1, 21)),
            ("SELECT a\nFROM t WHERE  ", (2, 13)),
            ("DELETE FROM", (1, 12)),
        ] {
            let error = parse(text).expect_err(text);
            assert_eq!(error.line_and_column(), Some(place), "{text}: {error}");
        }
    }
}
