//! The SQL text, parsed.
//!
//! The grammar is sqlparser's generic one, with one thing that ADS and Access users write every day: `[bracketed names]`.
//! They are told at the level of tokens; so an array is written `make_array(1, 2)`, not `[1, 2]`.

use sqlparser::ast::Statement;
use sqlparser::dialect::{Dialect, GenericDialect};
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Token, Tokenizer};
use tidemill_ads::sql::{Reader, balance_conditions, limit_nesting, refuse_ignored};
use tidemill_trust::without_secrets;

use crate::{Error, Result};

/// Parses exactly one statement; semicolons at its end are passed over.
///
/// # Errors
///
/// [`Error::Parse`] for anything else.
pub(crate) fn parse(sql: &str) -> Result<Statement> {
    let tokens = Tokenizer::new(&BracketedNames, sql)
        .tokenize_with_location()
        .map_err(|error| wrong(&error.to_string()))?;
    limit_nesting(&tokens).map_err(|error| wrong(&error.to_string()))?;
    let mut parser = Parser::new(&GenericDialect {}).with_tokens_with_locations(tokens);
    let mut statement = parser.parse_statement().map_err(parse_error)?;
    balance_conditions(&mut statement);
    refuse_ignored(&statement, Reader::Planner).map_err(|error| wrong(&error.to_string()))?;
    while parser.consume_token(&Token::SemiColon) {}
    match &parser.peek_token_ref().token {
        Token::EOF => Ok(statement),
        _ => Err(wrong(&format!(
            "expected the end of the statement, found {}{}",
            parser.peek_token_ref().token,
            parser.peek_token_ref().span.start
        ))),
    }
}

fn parse_error(error: ParserError) -> Error {
    match error {
        ParserError::TokenizerError(message) | ParserError::ParserError(message) => wrong(&message),
        ParserError::RecursionLimitExceeded => wrong("it nests too deeply"),
    }
}

/// The parser cites the statement, and a table in it may be named with its server's password.
fn wrong(message: &str) -> Error {
    Error::Parse {
        message: without_secrets(message).into_owned(),
    }
}

#[derive(Debug)]
struct BracketedNames;

impl Dialect for BracketedNames {
    fn is_delimited_identifier_start(&self, ch: char) -> bool {
        matches!(ch, '"' | '`' | '[')
    }

    fn is_identifier_start(&self, ch: char) -> bool {
        GenericDialect {}.is_identifier_start(ch)
    }

    fn is_identifier_part(&self, ch: char) -> bool {
        GenericDialect {}.is_identifier_part(ch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_may_be_named_in_every_kind_of_quotes() {
        for sql in [
            "SELECT * FROM 'orders.dbf'",
            "SELECT * FROM \"orders.dbf\" o",
            "SELECT [a b] FROM [orders.dbf] AS o;",
            "SELECT * FROM orders.dbf;;",
        ] {
            parse(sql).expect(sql);
        }
    }

    #[test]
    fn a_second_statement_and_nonsense_are_errors_with_a_place() {
        for (sql, says) in [
            (
                "SELECT 1; SELECT 2",
                "expected the end of the statement, found SELECT at Line: 1, Column: 11",
            ),
            ("SELEC 1", "Line: 1, Column: 1"),
            ("SELECT 'x", "Unterminated"),
            ("", "EOF"),
            (
                "SELECT 1 FROM a b 'clickhouse://u:secret@h/d/t'",
                "clickhouse://u:***@h/d/t",
            ),
        ] {
            let error = parse(sql).expect_err(sql).to_string();
            assert!(error.contains(says), "{sql}: {error}");
        }
        let deep = format!("SELECT {}1{}", "(".repeat(5_000), ")".repeat(5_000));
        assert!(
            parse(&deep)
                .expect_err("too deep")
                .to_string()
                .contains("nests too deeply")
        );
    }
}
