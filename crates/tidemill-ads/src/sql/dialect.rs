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

    fn parse_infix(&self, parser: &mut Parser<'_>, expr: &Expr, _: u8) -> Option<Result<Expr, ParserError>> {
        let negated = in_list(parser)?;
        let mut parse = || {
            let _ = parser.parse_keyword(Keyword::NOT);
            parser.expect_keyword_is(Keyword::IN)?;
            parser.expect_token(&Token::LParen)?;
            let list = parser.parse_comma_separated(Parser::parse_expr)?;
            parser.expect_token(&Token::RParen)?;
            Ok(Expr::InList {
                expr: Box::new(expr.clone()),
                list,
                negated,
            })
        };
        Some(parse())
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

/// Whether `[NOT] IN` is negated, if its list begins with an expression in parentheses that another follows, as in
/// `a IN ((SELECT MAX(b) FROM t), 5)`. sqlparser takes the first for the whole list.
fn in_list(parser: &Parser<'_>) -> Option<bool> {
    let tokens = (parser.index()..).map(|place| &parser.token_at(place).token);
    let mut tokens = tokens.filter(|token| !matches!(token, Token::Whitespace(_)));
    let is_word = |token: &Token, keyword: Keyword| matches!(token, Token::Word(word) if word.keyword == keyword);
    let mut operator = tokens.next()?;
    let is_negated = is_word(operator, Keyword::NOT);
    if is_negated {
        operator = tokens.next()?;
    }
    let opens_twice =
        is_word(operator, Keyword::IN) && *tokens.next()? == Token::LParen && *tokens.next()? == Token::LParen;
    if !opens_twice {
        return None;
    }
    let mut depth = 1;
    while depth > 0 {
        match tokens.next()? {
            Token::LParen => depth += 1,
            Token::RParen => depth -= 1,
            Token::EOF => return None,
            _ => {}
        }
    }
    (*tokens.next()? == Token::Comma).then_some(is_negated)
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
