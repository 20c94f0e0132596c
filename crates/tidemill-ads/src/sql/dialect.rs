//! What the parser has to know of ADS SQL: which characters names are made of, and functions that are keywords elsewhere.

use sqlparser::ast::{
    Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentList, FunctionArguments, ObjectName,
};
use sqlparser::dialect::{Dialect, GenericDialect, Precedence};
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::Token;

/// The grammar of ADS, as far as a dialect can say it; `tokens` does the rest.
#[derive(Debug)]
pub(super) struct Ads;

impl Dialect for Ads {
    fn is_delimited_identifier_start(&self, ch: char) -> bool {
        matches!(ch, '"' | '[')
    }

    /// `@` begins variables, `#` temporary tables.
    fn is_identifier_start(&self, ch: char) -> bool {
        ch.is_alphabetic() || matches!(ch, '_' | '@' | '#')
    }

    fn is_identifier_part(&self, ch: char) -> bool {
        ch.is_alphanumeric() || matches!(ch, '_' | '@' | '#' | '$')
    }

    /// IN, BETWEEN and LIKE bind tighter than comparisons, and these tighter than IS, as in standard SQL: `a = b IN (c)` is
    /// `a = (b IN (c))`.
    fn prec_value(&self, precedence: Precedence) -> u8 {
        match precedence {
            Precedence::Eq => 18,
            Precedence::Between | Precedence::Like => 20,
            other => GenericDialect {}.prec_value(other),
        }
    }

    fn supports_group_by_expr(&self) -> bool {
        true
    }

    fn supports_boolean_literals(&self) -> bool {
        true
    }

    fn supports_bitwise_shift_operators(&self) -> bool {
        true
    }

    fn supports_parens_around_table_factor(&self) -> bool {
        true
    }

    fn parse_prefix(&self, parser: &mut Parser<'_>) -> Option<Result<Expr, ParserError>> {
        let [first, second] = parser.peek_tokens_ref();
        let Token::Word(word) = &first.token else {
            return None;
        };
        let is_plain = word.quote_style.is_none();
        if is_plain && second.token == Token::LParen && is_call(word.keyword) {
            return Some(call(parser));
        }
        // A column may be called DATE or TIME; `DATE '…'` stays a literal.
        let is_type = matches!(word.keyword, Keyword::DATE | Keyword::TIME | Keyword::TIMESTAMP);
        if is_plain && is_type && matches!(second.token, Token::SingleQuotedString(_)) {
            return None;
        }
        (is_plain && word.keyword == Keyword::USER).then(|| {
            let ident = parser.parse_identifier()?;
            Ok(function(ObjectName::from(vec![ident]), Vec::new()))
        })
    }
}

/// Functions of ADS whose names begin something else in sqlparser.
fn is_call(keyword: Keyword) -> bool {
    matches!(
        keyword,
        Keyword::CEIL
            | Keyword::CURRENT_DATE
            | Keyword::CURRENT_TIME
            | Keyword::CURRENT_TIMESTAMP
            | Keyword::DATE
            | Keyword::FLOOR
            | Keyword::IF
            | Keyword::INSERT
            | Keyword::LEFT
            | Keyword::REPLACE
            | Keyword::RIGHT
            | Keyword::TIME
            | Keyword::TRUNCATE
            | Keyword::USER
            | Keyword::CHAR
            | Keyword::DATABASE
            | Keyword::MOD
    )
}

fn call(parser: &mut Parser<'_>) -> Result<Expr, ParserError> {
    let ident = parser.parse_identifier()?;
    parser.expect_token(&Token::LParen)?;
    let arguments = match parser.consume_token(&Token::RParen) {
        true => Vec::new(),
        false => {
            let arguments = parser.parse_comma_separated(Parser::parse_expr)?;
            parser.expect_token(&Token::RParen)?;
            arguments
        }
    };
    Ok(function(ObjectName::from(vec![ident]), arguments))
}

fn function(name: ObjectName, arguments: Vec<Expr>) -> Expr {
    let args = arguments
        .into_iter()
        .map(|argument| FunctionArg::Unnamed(FunctionArgExpr::Expr(argument)))
        .collect();
    Expr::Function(Function {
        name,
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(FunctionArgumentList {
            duplicate_treatment: None,
            args,
            clauses: Vec::new(),
        }),
        filter: None,
        null_treatment: None,
        over: None,
        within_group: Vec::new(),
    })
}
