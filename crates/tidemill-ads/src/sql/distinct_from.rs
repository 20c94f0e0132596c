//! `a IS [NOT] DISTINCT FROM b`, whose right side ends where that of any other comparison does.
//!
//! sqlparser takes all that follows for the right side: `a IS DISTINCT FROM b AND c` is to it `a IS DISTINCT FROM (b AND c)`
//! (`Parser::parse_infix` of version 0.62). So the words become one operator before a text is parsed, which binds as `IS` does, and
//! the operator becomes the expression afterwards.

use sqlparser::ast::{BinaryOperator, Expr, Value};
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan};

const DISTINCT: &str = "IS DISTINCT FROM";
const NOT_DISTINCT: &str = "IS NOT DISTINCT FROM";

/// Makes one operator of the words.
pub fn join_distinct_from(tokens: &mut Vec<TokenWithSpan>) {
    let mut at = 0;
    while at < tokens.len() {
        if is_word(&tokens[at], Keyword::IS)
            && let Some((operator, end)) = operator(tokens, at)
        {
            tokens[at].token = Token::CustomBinaryOperator(operator.to_owned());
            tokens.drain(at + 1..end);
        }
        at += 1;
    }
}

/// The operator whose first word stands at a place, and the place behind its last word.
fn operator(tokens: &[TokenWithSpan], at: usize) -> Option<(&'static str, usize)> {
    let mut words = (at..tokens.len()).filter(|at| !matches!(tokens[*at].token, Token::Whitespace(_)));
    words.next();
    let second = words.next()?;
    let (operator, third) = match is_word(&tokens[second], Keyword::NOT) {
        true => (NOT_DISTINCT, words.next()?),
        false => (DISTINCT, second),
    };
    let last = words.next()?;
    let is_it = is_word(&tokens[third], Keyword::DISTINCT) && is_word(&tokens[last], Keyword::FROM);
    is_it.then_some((operator, last + 1))
}

fn is_word(token: &TokenWithSpan, keyword: Keyword) -> bool {
    matches!(&token.token, Token::Word(word) if word.keyword == keyword && word.quote_style.is_none())
}

/// Makes the expression of the operator. Others stay as they are.
pub(super) fn part_distinct_from(expr: &mut Expr) {
    let Expr::BinaryOp {
        left,
        op: BinaryOperator::Custom(operator),
        right,
    } = expr
    else {
        return;
    };
    let is_not = match operator.as_str() {
        DISTINCT => false,
        NOT_DISTINCT => true,
        _ => return,
    };
    let none = || Box::new(Expr::value(Value::Null));
    let (left, right) = (std::mem::replace(left, none()), std::mem::replace(right, none()));
    *expr = match is_not {
        false => Expr::IsDistinctFrom(left, right),
        true => Expr::IsNotDistinctFrom(left, right),
    };
}

#[cfg(test)]
mod tests {
    use sqlparser::dialect::GenericDialect;
    use sqlparser::parser::Parser;
    use sqlparser::tokenizer::Tokenizer;

    use super::*;
    use crate::sql::balance_conditions;
    use crate::sql::dialect::Ads;

    /// The expression with its parts in parentheses.
    fn grouped(expr: &Expr) -> String {
        match expr {
            Expr::BinaryOp { left, op, right } => format!("({} {op} {})", grouped(left), grouped(right)),
            Expr::UnaryOp { op, expr } => format!("({op} {})", grouped(expr)),
            Expr::IsDistinctFrom(left, right) => format!("({} <> {})", grouped(left), grouped(right)),
            Expr::IsNotDistinctFrom(left, right) => format!("({} == {})", grouped(left), grouped(right)),
            other => other.to_string(),
        }
    }

    #[test]
    fn the_right_side_ends_before_and_and_or() {
        for (text, expected) in [
            ("a IS DISTINCT FROM b AND c", "((a <> b) AND c)"),
            ("x AND a IS NOT DISTINCT FROM b OR c", "((x AND (a == b)) OR c)"),
            ("NOT a is  distinct\nfrom b AND c", "((NOT (a <> b)) AND c)"),
            ("a IS DISTINCT FROM b + 1 AND c", "((a <> (b + 1)) AND c)"),
            ("a IS DISTINCT FROM (b AND c)", "(a <> (b AND c))"),
            ("a IS NOT NULL AND b", "(a IS NOT NULL AND b)"),
        ] {
            let mut tokens = Tokenizer::new(&Ads, text).tokenize_with_location().expect(text);
            join_distinct_from(&mut tokens);
            for parser in [Parser::new(&Ads), Parser::new(&GenericDialect {})] {
                let mut parser = parser.with_tokens_with_locations(tokens.clone());
                let mut expr = parser.parse_expr().expect(text);
                balance_conditions(&mut expr);
                assert_eq!(grouped(&expr), expected, "{text}");
            }
        }
    }
}
