//! From tokens to the tree: precedence climbing, with a bound on depth.
//!
//! Every walk over the tree is recursive, so its depth is what is bounded, chains of operators included.

use super::lexer::{Lexer, Token, TokenKind};
use super::syntax::{BinaryOperator, Syntax, SyntaxKind, UnaryOperator};
use crate::error::{Error, Result};

/// The longest text, in bytes. Clipper stops at 255, ADS at some thousands.
pub const MAX_TEXT: usize = 16 * 1024;
/// The deepest tree; each operator of a chain such as `A + B + C` is one step deeper.
pub const MAX_DEPTH: usize = 200;
/// How deep parentheses, functions and signs may stand in each other.
pub const MAX_NESTING: usize = 60;

/// Parses a text.
///
/// # Errors
/// [`Error::Expression`] with the column of the first token that cannot stand where it stands; for a text longer than
/// [`MAX_TEXT`] and a tree deeper than [`MAX_DEPTH`] or nested more than [`MAX_NESTING`] too.
pub fn parse(text: &str) -> Result<Syntax> {
    if text.len() > MAX_TEXT {
        let found = format!("{} bytes", text.len());
        return Err(Error::expression(1, format!("at most {MAX_TEXT} bytes of text"), found));
    }
    let mut lexer = Lexer::new(text);
    let next = lexer.next()?;
    let mut parser = Parser { lexer, next };
    let (tree, _) = parser.expression(0, 0)?;
    match parser.next.kind {
        TokenKind::End => Ok(tree),
        _ => Err(parser.unexpected("an operator or the end")),
    }
}

struct Parser<'a> {
    lexer: Lexer<'a>,
    next: Token,
}

impl Parser<'_> {
    /// An expression of operators that bind stronger than `above`, and the depth of its tree; `outer` is how deep it
    /// stands in others.
    fn expression(&mut self, above: u8, outer: usize) -> Result<(Syntax, usize)> {
        let (mut left, mut depth) = self.operand(outer + 1)?;
        while let TokenKind::Operator(operator) = self.next.kind
            && operator.precedence() > above
        {
            let column = self.advance()?.column;
            let (right, right_depth) = self.expression(operator.precedence(), outer + 1)?;
            depth = depth.max(right_depth) + 1;
            check(depth, MAX_DEPTH, column)?;
            let kind = SyntaxKind::Binary(operator, Box::new(left), Box::new(right));
            left = Syntax { kind, column };
        }
        Ok((left, depth))
    }

    fn operand(&mut self, outer: usize) -> Result<(Syntax, usize)> {
        check(outer, MAX_NESTING, self.next.column)?;
        let column = self.next.column;
        let unary = |operator, operand: (Syntax, usize)| {
            let kind = SyntaxKind::Unary(operator, Box::new(operand.0));
            (Syntax { kind, column }, operand.1 + 1)
        };
        match &self.next.kind {
            TokenKind::Open => {
                self.advance()?;
                let inner = self.expression(0, outer)?;
                self.close()?;
                Ok(inner)
            }
            TokenKind::Not => {
                self.advance()?;
                let operand = self.expression(UnaryOperator::Not.precedence(), outer)?;
                Ok(unary(UnaryOperator::Not, operand))
            }
            TokenKind::Operator(BinaryOperator::Minus) => {
                self.advance()?;
                let operand = self.operand(outer + 1)?;
                Ok(unary(UnaryOperator::Minus, operand))
            }
            TokenKind::Operator(BinaryOperator::Plus) => {
                self.advance()?;
                self.operand(outer + 1)
            }
            TokenKind::Literal(_) | TokenKind::Name(_) => match self.advance()?.kind {
                TokenKind::Literal(literal) => {
                    let kind = SyntaxKind::Literal(literal);
                    Ok((Syntax { kind, column }, 1))
                }
                TokenKind::Name(name) => self.named(name, column, outer),
                _ => Err(self.unexpected("a value")),
            },
            _ => Err(self.unexpected("a value, a field or a function")),
        }
    }

    /// A field, an alias with its field, or a function.
    fn named(&mut self, name: String, column: u32, outer: usize) -> Result<(Syntax, usize)> {
        match self.next.kind {
            TokenKind::Open => {
                self.advance()?;
                let (mut arguments, mut depth) = (Vec::new(), 0);
                if self.next.kind != TokenKind::Close {
                    loop {
                        let (argument, argument_depth) = self.expression(0, outer)?;
                        arguments.push(argument);
                        depth = depth.max(argument_depth);
                        if self.next.kind != TokenKind::Comma {
                            break;
                        }
                        self.advance()?;
                    }
                }
                self.close()?;
                let kind = SyntaxKind::Call { name, arguments };
                Ok((Syntax { kind, column }, depth + 1))
            }
            TokenKind::Arrow => {
                self.advance()?;
                let TokenKind::Name(field) = self.next.kind.clone() else {
                    return Err(self.unexpected("the name of a field"));
                };
                self.advance()?;
                let kind = SyntaxKind::Field {
                    alias: Some(name),
                    name: field,
                };
                Ok((Syntax { kind, column }, 1))
            }
            _ => Ok((
                Syntax {
                    kind: SyntaxKind::Field { alias: None, name },
                    column,
                },
                1,
            )),
        }
    }

    fn close(&mut self) -> Result<()> {
        match self.next.kind {
            TokenKind::Close => self.advance().map(drop),
            _ => Err(self.unexpected("an operator or )")),
        }
    }

    fn advance(&mut self) -> Result<Token> {
        let next = self.lexer.next()?;
        Ok(std::mem::replace(&mut self.next, next))
    }

    fn unexpected(&self, expected: &str) -> Error {
        let found = match &self.next.kind {
            TokenKind::Literal(literal) => literal.to_string(),
            TokenKind::Name(name) => name.clone(),
            TokenKind::Operator(operator) => operator.symbol().to_owned(),
            TokenKind::Not => ".NOT.".to_owned(),
            TokenKind::Open => "(".to_owned(),
            TokenKind::Close => ")".to_owned(),
            TokenKind::Comma => "a comma".to_owned(),
            TokenKind::Arrow => "->".to_owned(),
            TokenKind::End => "the end".to_owned(),
        };
        Error::expression(self.next.column, expected, found)
    }
}

fn check(depth: usize, limit: usize, column: u32) -> Result<()> {
    if depth <= limit {
        return Ok(());
    }
    let expected = format!("operations at most {limit} deep");
    Err(Error::expression(column, expected, "a deeper one"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn precedences_are_those_of_clipper() {
        for (text, expected) in [
            ("a+b*c", "A + B * C"),
            ("(a+b)*c", "(A + B) * C"),
            ("a-b-c", "A - B - C"),
            ("a-(b-c)", "A - (B - C)"),
            ("2^3**2", "2 ^ 3 ^ 2"),
            ("-2^2", "-2 ^ 2"),
            ("-(2^2)", "-(2 ^ 2)"),
            ("a=1.and.b#2.or.!c", "A = 1 .AND. B <> 2 .OR. .NOT. C"),
            ("not a = b and c", ".NOT. A = B .AND. C"),
            ("(.not. a) = b", "(.NOT. A) = B"),
            ("a < b = c > d", "A < B = C > D"),
            ("'x' $ [it's] + \"y\"", "'x' $ \"it's\" + 'y'"),
            ("orders->name + FIELD->x + o.z", "ORDERS->NAME + FIELD->X + O->Z"),
            ("{^2024-01-31}", "{^2024-01-31}"),
            ("{^2024/1/31 1:05 PM}", "{^2024-01-31 13:05:00.000}"),
            ("0d20240131 - { / / }", "{^2024-01-31} - {}"),
            ("iif(.t.,nil,.Null.)", "IIF(.T., .NULL., .NULL.)"),
            ("1.and..5", "1 .AND. .5"),
            ("f( )", "F()"),
        ] {
            let tree = parse(text).unwrap();
            assert_eq!(tree.to_string(), expected, "{text}");
            assert_eq!(parse(expected).unwrap(), tree, "{text}");
        }
    }

    #[test]
    fn faults_name_their_column() {
        for (text, expected) in [
            ("", "column 1: expected a value, a field or a function, found the end"),
            (
                "NAME = ",
                "column 8: expected a value, a field or a function, found the end",
            ),
            ("NAME 'x'", "column 6: expected an operator or the end, found 'x'"),
            ("UPPER(NAME", "column 11: expected an operator or ), found the end"),
            ("A + * B", "column 5: expected a value, a field or a function, found *"),
            ("'abc", "column 1: expected a text that ends with ', found the end"),
            (
                "a .xor. b",
                "column 3: expected .AND., .OR., .NOT., .T., .F. or .NULL., found .XOR",
            ),
            ("a ? b", "column 3: expected an operator, a name or a value, found '?'"),
            (
                "{^2024-02-30}",
                "column 1: expected {^YYYY-MM-DD}, {^YYYY-MM-DD hh:mm:ss} or {}, found {^2024-02-30}",
            ),
            (
                "1 + {^2024-01-01 25:00}",
                "column 5: expected {^YYYY-MM-DD}, {^YYYY-MM-DD hh:mm:ss} or {}, found {^2024-01-01 25:00}",
            ),
            ("0d2024", "column 1: expected a day as 0dYYYYMMDD, found 0d2024"),
            ("a->1", "column 4: expected the name of a field, found 1"),
        ] {
            assert_eq!(parse(text).unwrap_err().to_string(), expected, "{text}");
        }
    }

    #[test]
    fn depth_and_length_are_bounded() {
        let chain = |count: usize| format!("1{}", "+1".repeat(count));
        assert!(parse(&chain(MAX_DEPTH - 1)).is_ok());
        assert!(parse(&chain(MAX_DEPTH)).is_err());
        for (open, middle, close) in [
            ("(", "1", ")"),
            ("-", "1", ""),
            ("! ", "A", ""),
            ("F(", "", ")"),
            ("1+", "1", ""),
        ] {
            for (count, is_fine) in [(50, true), (201, false), (3000, false)] {
                let text = format!("{}{middle}{}", open.repeat(count), close.repeat(count));
                assert_eq!(parse(&text).is_ok(), is_fine, "{open} {count}");
            }
        }
        assert!(parse(&"1".repeat(MAX_TEXT)).is_ok());
        assert!(parse(&"1".repeat(MAX_TEXT + 1)).is_err());
    }

    #[test]
    fn a_text_cut_anywhere_is_an_error_or_an_expression() {
        let text = "IIF(LOG .AND. NAME $ [abc], {^2024-01-31 12:00:00.5}, 0d20240131) <> 1.5 ** -2 .OR. \"ö\" == 'x'";
        for (end, _) in text.char_indices() {
            if let Ok(tree) = parse(&text[..end]) {
                assert_eq!(parse(&tree.to_string()).unwrap(), tree);
            }
        }
    }
}
