//! The thin pass before the parser: what ADS writes and sqlparser cannot read is read here, token by token.
//!
//! | written | becomes |
//! |---|---|
//! | `// to the end of the line` | blanks |
//! | `{static}` | nothing, and a hint |
//! | `TOP 10 START AT 11` | `TOP 10`, and a hint |
//! | `{escape '\'}`, `{oj … }` | the same without braces |
//! | `{fn LEFT( name, 3 )}` | the same without braces |
//! | `dir\table` | one name |
//! | `::conn.TransactionCount` | one name |
//! | `FROM 'orders.dbf'` | a name in quotes |
//! | `FROM (EXECUTE PROCEDURE sp_x( … )) p` | `FROM sp_x( … ) p` |
//! | `GROUP_CONCAT( a ORDER BY b SEPARATOR ';' MAX_LENGTH 50 )` | `GROUP_CONCAT( a , ';' , 50 ORDER BY b )` |
//! | `TOP 10 DISTINCT` | `DISTINCT TOP 10` |
//! | `IS DISTINCT FROM` | one operator |
//! | `?` | `?1`, `?2`, … |
//!
//! Every token keeps its place, so that faults are told where they are.

use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Location, Span, Token, TokenWithSpan, Tokenizer, Word};

use super::dialect::Ads;
use super::distinct_from::join_distinct_from;
use super::error::{Error, Kind, Result};
use super::group::DEFAULT_LENGTH;
use super::nesting::limit_nesting;

/// The longest text that is read.
pub(super) const MAX_TEXT: usize = 1 << 20;

/// A statement's tokens, and what was taken out of them.
#[derive(Debug, Default)]
pub(super) struct Tokens {
    pub(super) tokens: Vec<TokenWithSpan>,
    /// Where `{static}` stood.
    pub(super) statics: Vec<Location>,
    /// Where `START AT` stood, and the row.
    pub(super) starts: Vec<(Location, u64)>,
    /// The parameters as they stand in the text: `?1`, `?2`, …, and names in capitals, each once.
    pub(super) parameters: Vec<String>,
}

impl Tokens {
    /// # Errors
    /// [`Kind::Syntax`] for text that has no tokens (an open quote), [`Kind::Limit`] for too long a text.
    pub(super) fn of(text: &str) -> Result<Self> {
        if text.len() > MAX_TEXT {
            let why = format!("a statement of {} bytes, and at most {MAX_TEXT} are read", text.len());
            return Err(Error::new(Kind::Limit, why));
        }
        let plain = without_comments(text);
        let tokens = Tokenizer::new(&Ads, &plain)
            .tokenize_with_location()
            .map_err(|error| Error::new(Kind::Syntax, error.message.clone()).at(error.location))?;
        let is_space = |token: &TokenWithSpan| matches!(token.token, Token::Whitespace(_));
        let mut tokens: Vec<_> = tokens.into_iter().filter(|token| !is_space(token)).collect();
        join_distinct_from(&mut tokens);
        limit_nesting(&tokens)?;
        let mut reader = Reader {
            rest: &tokens,
            read: Self::default(),
            braces: Vec::new(),
        };
        while reader.step()? {}
        match reader.braces.into_iter().find_map(|open| open) {
            None => Ok(reader.read),
            Some(open) => Err(Error::new(Kind::Syntax, "Expected lexical element not found: }").at(open)),
        }
    }
}

struct Reader<'t> {
    rest: &'t [TokenWithSpan],
    read: Tokens,
    /// The braces that are open; of a function, where.
    braces: Vec<Option<Location>>,
}

impl<'t> Reader<'t> {
    /// Takes one token or one of the forms above.
    fn step(&mut self) -> Result<bool> {
        let rest = self.rest;
        let Some((first, after)) = rest.split_first() else {
            return Ok(false);
        };
        let mut taken = 1;
        match (&first.token, after) {
            (Token::LBrace, [word, close, ..]) if is_word(word, "static") && close.token == Token::RBrace => {
                self.read.statics.push(first.span.start);
                taken = 3;
            }
            (Token::LBrace, [word, string, close, ..]) if is_word(word, "escape") && close.token == Token::RBrace => {
                self.read.tokens.extend([word.clone(), string.clone()]);
                taken = 4;
            }
            (Token::LBrace, [word, ..]) if is_word(word, "oj") => taken = self.without_braces()?,
            (Token::LBrace, [word, ..]) if is_word(word, "fn") => {
                self.braces.push(Some(first.span.start));
                taken = 2;
            }
            (Token::LBrace, _) => {
                self.braces.push(None);
                self.read.tokens.push(first.clone());
            }
            (Token::RBrace, _) => {
                if self.braces.pop().flatten().is_none() {
                    self.read.tokens.push(first.clone());
                }
            }
            (Token::Word(_), [at, number, ..])
                if is_word(first, "start") && is_word(at, "at") && self.follows_top() =>
            {
                let Token::Number(digits, _) = &number.token else {
                    return Err(Error::new(Kind::Syntax, "Expected a row number after START AT").at(number.span.start));
                };
                let row = digits.parse().ok().filter(|row| *row > 0);
                let row = row.ok_or_else(|| {
                    Error::new(Kind::Syntax, "START AT takes a row number, counted from 1").at(number.span.start)
                })?;
                self.read.starts.push((first.span.start, row));
                taken = 3;
            }
            (Token::LParen, [execute, rest @ ..]) if is_word(execute, "execute") && self.follows_source() => {
                taken = self.procedure(rest)?;
            }
            (Token::Word(_), [open, inner @ ..]) if is_word(first, "group_concat") && open.token == Token::LParen => {
                self.read.tokens.extend([first.clone(), open.clone()]);
                taken = 2 + self.concatenation(inner)?;
            }
            (Token::Word(_), _) if is_word(first, "distinct") && self.follows_top() => {
                // sqlparser wants it before.
                let percent = self.read.tokens.last().is_some_and(|last| is_word(last, "percent"));
                let top = self.read.tokens.len().saturating_sub(if percent { 3 } else { 2 });
                self.read.tokens.insert(top, first.clone());
            }
            // `TRIM( LEADING FROM c )` takes blanks away, which sqlparser wants to read.
            (Token::Word(_), [from, ..]) if is_word(from, "from") && is_side(first) && self.opens_trim() => {
                let blank = Token::SingleQuotedString(" ".to_owned());
                self.read
                    .tokens
                    .extend([first.clone(), TokenWithSpan::new(blank, first.span)]);
            }
            (Token::DoubleColon, [scope, dot, name, ..]) if dot.token == Token::Period => {
                let (Token::Word(scope), Token::Word(member)) = (&scope.token, &name.token) else {
                    return Err(Error::new(Kind::Syntax, "Expected a system variable after ::").at(first.span.start));
                };
                let span = Span::new(first.span.start, name.span.end);
                self.push_name(format!("::{}.{}", scope.value, member.value), span);
                taken = 4;
            }
            (Token::Word(word), [slash, ..]) if slash.token == Token::Backslash => {
                let mut path = word.value.clone();
                let mut end = first.span.end;
                for pair in after.chunks(2) {
                    let [slash, name] = pair else { break };
                    let (Token::Backslash, Token::Word(part)) = (&slash.token, &name.token) else {
                        break;
                    };
                    path = format!("{path}\\{}", part.value);
                    (taken, end) = (taken + 2, name.span.end);
                }
                self.push_name(path, Span::new(first.span.start, end));
            }
            (Token::Placeholder(mark), _) if mark == "?" => {
                let marks = self.read.parameters.iter().filter(|name| name.starts_with('?'));
                let name = format!("?{}", marks.count() + 1);
                self.read
                    .tokens
                    .push(TokenWithSpan::new(Token::Placeholder(name.clone()), first.span));
                self.read.parameters.push(name);
            }
            (Token::Colon, [name, ..]) if matches!(name.token, Token::Word(_)) => {
                if let Token::Word(word) = &name.token {
                    let name = word.value.to_ascii_uppercase();
                    if !self.read.parameters.contains(&name) {
                        self.read.parameters.push(name);
                    }
                }
                self.read.tokens.push(first.clone());
            }
            (Token::SingleQuotedString(path), _) if self.follows_table_keyword() => {
                self.push_name(path.clone(), first.span);
            }
            _ => self.read.tokens.push(first.clone()),
        }
        self.rest = rest.get(taken..).unwrap_or_default();
        Ok(true)
    }

    /// `{oj a LEFT OUTER JOIN b ON …}` without its braces; how many tokens it had.
    fn without_braces(&mut self) -> Result<usize> {
        let close = self.rest.iter().position(|token| token.token == Token::RBrace);
        let (Some(close), Some(open)) = (close, self.rest.first()) else {
            let place = self.rest.first().map_or(Location::empty(), |token| token.span.start);
            return Err(Error::new(Kind::Syntax, "Expected } after {oj").at(place));
        };
        let inner = self.rest.get(2..close).unwrap_or_default();
        if inner.iter().any(|token| token.token == Token::LBrace) {
            return Err(Error::new(Kind::Syntax, "Braces within {oj … } are not read").at(open.span.start));
        }
        self.read.tokens.extend(inner.iter().cloned());
        Ok(close + 1)
    }

    /// `(EXECUTE PROCEDURE name( … ))` as a function that gives a table; `rest` begins behind EXECUTE. How many tokens it had.
    fn procedure(&mut self, rest: &'t [TokenWithSpan]) -> Result<usize> {
        let place = self.rest.first().map_or(Location::empty(), |token| token.span.start);
        let wrong = |what: &str| Error::new(Kind::Syntax, format!("Expected {what} after (EXECUTE")).at(place);
        let [procedure, name, arguments @ ..] = rest else {
            return Err(wrong("PROCEDURE and a name"));
        };
        if !is_word(procedure, "procedure") || !matches!(name.token, Token::Word(_)) {
            return Err(wrong("PROCEDURE and a name"));
        }
        let (mut depth, mut close) = (0_usize, None);
        for (place, token) in arguments.iter().enumerate() {
            match token.token {
                Token::LParen => depth += 1,
                Token::RParen if depth == 0 => {
                    close = Some(place);
                    break;
                }
                Token::RParen => depth -= 1,
                _ => {}
            }
        }
        let close = close.ok_or_else(|| wrong("the end of the parentheses"))?;
        let given = arguments.get(..close).unwrap_or_default();
        self.read.tokens.push(name.clone());
        match given.is_empty() {
            true => {
                let span = name.span;
                let both = [Token::LParen, Token::RParen];
                self.read
                    .tokens
                    .extend(both.map(|token| TokenWithSpan::new(token, span)));
            }
            false => {
                // What stands in the arguments is read as elsewhere.
                let behind = self.rest;
                self.rest = given;
                while self.step()? {}
                self.rest = behind;
            }
        }
        Ok(4 + close + 1)
    }

    /// What stands within the parentheses of GROUP_CONCAT, with SEPARATOR and MAX_LENGTH as arguments. How many tokens these were, without
    /// the parenthesis at the end.
    fn concatenation(&mut self, inner: &'t [TokenWithSpan]) -> Result<usize> {
        let (mut depth, mut close, mut parts) = (0_usize, inner.len(), Vec::new());
        for (place, token) in inner.iter().enumerate() {
            match token.token {
                Token::LParen => depth += 1,
                Token::RParen if depth == 0 => {
                    close = place;
                    break;
                }
                Token::RParen => depth -= 1,
                _ => {}
            }
            let is_part = ["order", "separator", "max_length"]
                .iter()
                .any(|word| is_word(token, word));
            if depth == 0 && is_part {
                parts.push(place);
            }
        }
        let (mut order, mut separator, mut length): (&[TokenWithSpan], _, _) = (&[], None, None);
        for (nth, from) in parts.iter().enumerate() {
            let part = inner.get(*from..parts.get(nth + 1).copied().unwrap_or(close));
            match part.unwrap_or_default() {
                [word, value] if is_word(word, "separator") => separator = Some(value),
                [word, value] if is_word(word, "max_length") => length = Some(value),
                part @ [word, ..] if is_word(word, "order") => order = part,
                [word, ..] => {
                    let what = format!("Expected one value after {}", word.token);
                    return Err(Error::new(Kind::Syntax, what).at(word.span.start));
                }
                [] => {}
            }
        }
        let behind = self.rest;
        self.rest = inner.get(..parts.first().copied().unwrap_or(close)).unwrap_or_default();
        while self.step()? {}
        if let Some(place) = separator.or(length) {
            let of = |token| TokenWithSpan::new(token, place.span);
            let default = || of(Token::SingleQuotedString(",".to_owned()));
            let most = || of(Token::Number(DEFAULT_LENGTH.to_string(), false));
            let separator = separator.cloned().unwrap_or_else(default);
            let length = length.cloned().unwrap_or_else(most);
            let behind = [of(Token::Comma), separator, of(Token::Comma), length];
            self.read.tokens.extend(behind);
        }
        self.rest = order;
        while self.step()? {}
        self.rest = behind;
        Ok(close)
    }

    /// Whether a table may stand here: behind FROM, JOIN, or a comma.
    fn follows_source(&self) -> bool {
        self.read.tokens.last().is_some_and(|last| match &last.token {
            Token::Comma => true,
            _ => is_word(last, "from") || is_word(last, "join"),
        })
    }

    /// Whether what was read last is `TOP n`.
    fn follows_top(&self) -> bool {
        let tokens = self.read.tokens.as_slice();
        let tokens = match tokens {
            [before @ .., percent] if is_word(percent, "percent") => before,
            tokens => tokens,
        };
        matches!(tokens, [.., top, number] if is_word(top, "top") && matches!(number.token, Token::Number(..)))
    }

    fn opens_trim(&self) -> bool {
        let before = self.read.tokens.as_slice();
        matches!(before, [.., trim, open] if is_word(trim, "trim") && open.token == Token::LParen)
    }

    fn follows_table_keyword(&self) -> bool {
        let Some((last, before)) = self.read.tokens.split_last() else {
            return false;
        };
        let Token::Word(word) = &last.token else {
            return false;
        };
        match word.keyword {
            _ if word.quote_style.is_some() => false,
            Keyword::JOIN | Keyword::INTO | Keyword::UPDATE | Keyword::TABLE => true,
            // `a IS DISTINCT FROM 'text'` names no table.
            Keyword::FROM => !before.last().is_some_and(|word| is_word(word, "distinct")) && !is_in_call(before),
            _ => false,
        }
    }

    fn push_name(&mut self, value: String, span: Span) {
        let word = Word {
            value,
            quote_style: Some('"'),
            keyword: Keyword::NoKeyword,
        };
        self.read.tokens.push(TokenWithSpan::new(Token::Word(word), span));
    }
}

/// Whether the last parenthesis that is open belongs to a function, as in `TRIM( LEADING 'x' FROM`.
fn is_in_call(tokens: &[TokenWithSpan]) -> bool {
    let mut closed = 0_usize;
    for (place, token) in tokens.iter().enumerate().rev() {
        match token.token {
            Token::RParen => closed += 1,
            Token::LParen if closed > 0 => closed -= 1,
            Token::LParen => {
                let before = place.checked_sub(1).and_then(|place| tokens.get(place));
                return before.is_some_and(|word| is_word(word, "trim") || is_word(word, "extract"));
            }
            Token::SemiColon => return false,
            _ => {}
        }
    }
    false
}

/// Whether a word says at which end TRIM takes away.
fn is_side(token: &TokenWithSpan) -> bool {
    ["leading", "trailing", "both"].iter().any(|side| is_word(token, side))
}

pub(super) fn is_word(token: &TokenWithSpan, text: &str) -> bool {
    matches!(&token.token, Token::Word(word) if word.quote_style.is_none() && word.value.eq_ignore_ascii_case(text))
}

/// The text with blanks for `//` comments, which sqlparser would take for two divisions.
fn without_comments(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    let mut quote = None;
    while let Some(c) = chars.next() {
        match (quote, c) {
            (None, '\'' | '"') => quote = Some(c),
            (None, '[') => quote = Some(']'),
            (Some(end), _) if c == end => quote = None,
            (None, '/') if chars.peek() == Some(&'/') => {
                plain.push(' ');
                while let Some(_comment) = chars.next_if(|c| *c != '\n') {
                    plain.push(' ');
                }
                continue;
            }
            // The tokenizer knows these comments; a quote in them opens nothing.
            (None, '-') if chars.peek() == Some(&'-') => {
                plain.push(c);
                while let Some(comment) = chars.next_if(|c| *c != '\n') {
                    plain.push(comment);
                }
                continue;
            }
            (None, '/') if chars.peek() == Some(&'*') => {
                plain.push(c);
                let mut last = ' ';
                for comment in chars.by_ref() {
                    plain.push(comment);
                    if (last, comment) == ('*', '/') {
                        break;
                    }
                    last = comment;
                }
                continue;
            }
            _ => {}
        }
        plain.push(c);
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> String {
        let tokens = Tokens::of(text).expect(text).tokens;
        let words: Vec<_> = tokens.iter().map(|token| token.token.to_string()).collect();
        words.join(" ")
    }

    #[test]
    fn what_sqlparser_cannot_read_is_taken_out() {
        for (text, expected) in [
            ("SELECT {static} * FROM t", "SELECT * FROM t"),
            ("SELECT TOP 10 START AT 11 * FROM t", "SELECT TOP 10 * FROM t"),
            ("SELECT start, at FROM t", "SELECT start , at FROM t"),
            ("a LIKE 'x' {escape '!'}", "a LIKE 'x' escape '!'"),
            ("FROM {oj a LEFT OUTER JOIN b ON x}", "FROM a LEFT OUTER JOIN b ON x"),
            ("FROM dir\\sub\\t", "FROM \"dir\\sub\\t\""),
            ("FROM 'orders.dbf'", "FROM \"orders.dbf\""),
            ("TRIM(LEADING (1) FROM 'x')", "TRIM ( LEADING ( 1 ) FROM 'x' )"),
            ("TRIM(LEADING FROM c)", "TRIM ( LEADING ' ' FROM c )"),
            ("SELECT ::conn.Name", "SELECT \"::conn.Name\""),
            ("SELECT 1 // it's one\n, '//' -- it's\n, [//]", "SELECT 1 , '//' , [//]"),
            ("SELECT /* it's // */ 1", "SELECT 1"),
        ] {
            assert_eq!(words(text), expected);
        }
    }

    #[test]
    fn hints_are_kept_with_their_places() {
        let tokens = Tokens::of("SELECT {static}\nTOP 5 START AT 3 * FROM t").expect("tokens");
        assert_eq!(tokens.statics, [Location { line: 1, column: 8 }]);
        assert_eq!(tokens.starts, [(Location { line: 2, column: 7 }, 3)]);
    }

    #[test]
    fn an_open_quote_is_told_with_its_place() {
        let error = Tokens::of("SELECT 'abc").expect_err("an open quote");
        assert_eq!(error.line_and_column(), Some((1, 8)));
    }
}
