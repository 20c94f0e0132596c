//! Parses SQL.
//!
//! The grammar is sqlparser's generic one, with the `[bracketed names]` of ADS and Access. They are recognised among the tokens, so that an
//! array is written `ARRAY[1, 2]`, not `[1, 2]`. Brackets directly after a name, without a blank, are a subscript: `features['label']`,
//! `list[1]`.

use sqlparser::ast::Statement;
use sqlparser::dialect::{Dialect, GenericDialect};
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Token, TokenWithSpan, Tokenizer};
use tidemill_ads::sql::{Reader, balance_conditions, join_distinct_from, limit_nesting, refuse_ignored};
use tidemill_trust::without_secrets;

use crate::{Error, Result};

/// Parses exactly one statement; trailing semicolons are ignored.
///
/// # Errors
///
/// [`Error::Parse`] for anything else.
pub(crate) fn parse(sql: &str) -> Result<Statement> {
    let mut tokens = with_subscripts(tokens_of(sql)?)?;
    join_distinct_from(&mut tokens);
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

/// Whether a statement has a subscript or an array, which ADS SQL lacks: it would read brackets as a column name.
pub(crate) fn has_subscripts(sql: &str) -> bool {
    sql.contains('[') && tokens_of(sql).is_ok_and(|tokens| (1..tokens.len()).any(|at| is_subscript(&tokens, at)))
}

fn tokens_of(sql: &str) -> Result<Vec<TokenWithSpan>> {
    let tokens = Tokenizer::new(&BracketedNames, sql).tokenize_with_location();
    tokens.map_err(|error| wrong(&error.to_string()))
}

/// Whether the token is a string or number in brackets directly after a name or another subscript, or anything in brackets after ARRAY.
fn is_subscript(tokens: &[TokenWithSpan], at: usize) -> bool {
    let Some(Token::Word(word)) = tokens.get(at).map(|token| &token.token) else {
        return false;
    };
    let is_of_one =
        word.value.starts_with('\'') || word.value.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    let follows = at.checked_sub(1).and_then(|before| tokens.get(before));
    let is_array = follows.is_some_and(|before| match &before.token {
        Token::Word(before) => before.quote_style.is_none() && before.value.eq_ignore_ascii_case("ARRAY"),
        _ => false,
    });
    if is_array {
        return word.quote_style == Some('[');
    }
    let follows = follows.is_some_and(|before| matches!(before.token, Token::Word(_) | Token::RParen));
    word.quote_style == Some('[') && !word.value.is_empty() && is_of_one && follows
}

/// Merges the tokens of subscripts.
fn with_subscripts(tokens: Vec<TokenWithSpan>) -> Result<Vec<TokenWithSpan>> {
    let mut all = Vec::with_capacity(tokens.len());
    for (at, token) in tokens.iter().enumerate() {
        let within = match &token.token {
            Token::Word(word) if is_subscript(&tokens, at) => &word.value,
            _ => {
                all.push(token.clone());
                continue;
            }
        };
        let with_place = |part: Token| TokenWithSpan::new(part, token.span);
        all.push(with_place(Token::LBracket));
        all.extend(tokens_of(within)?.into_iter().map(|part| with_place(part.token)));
        all.push(with_place(Token::RBracket));
    }
    Ok(all)
}

fn parse_error(error: ParserError) -> Error {
    match error {
        ParserError::TokenizerError(message) | ParserError::ParserError(message) => wrong(&message),
        ParserError::RecursionLimitExceeded => wrong("it nests too deeply"),
    }
}

/// Hides secrets in the parser's message: it quotes the statement, in which a URL may contain a password.
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
    fn what_stands_right_behind_a_name_is_a_subscript() {
        for (sql, has_subscripts) in [
            ("SELECT a['b'] FROM t", true),
            ("SELECT a.b['c']['d'] FROM t", true),
            ("SELECT f(a)[1] FROM t", true),
            ("SELECT [a b] FROM [t]", false),
            ("SELECT ARRAY[1, 2] FROM t", true),
            ("SELECT b FROM t WHERE a = ANY(array[c, 'd'])", true),
            ("SELECT array [b] FROM t", false),
            ("SELECT a [b] FROM t", false),
            ("SELECT a[b] FROM t", false),
            ("SELECT '[1]', \"a['b']\" FROM t", false),
        ] {
            assert_eq!(super::has_subscripts(sql), has_subscripts, "{sql}");
            let shown = parse(sql).expect(sql).to_string();
            assert_eq!(shown.contains("['c']['d']"), sql.contains("['c']['d']"), "{shown}");
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
