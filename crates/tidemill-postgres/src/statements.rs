//! Statements with `;` between, told apart by PostgreSQL's rules of texts, names and comments (its manual, "Lexical Structure").

/// The statements of a text, without the `;` behind them. Those that have nothing but blanks and comments are left out.
pub(crate) fn split(text: &str) -> Vec<&str> {
    let mut statements = Vec::new();
    let mut begin = 0;
    let mut has_words = false;
    // Behind BEGIN ATOMIC of a function in SQL there are statements up to its END.
    let mut bodies = Bodies::default();
    let mut end_of = |end: usize, has_words: bool, begin: usize| {
        if has_words && let Some(statement) = text.get(begin..end) {
            statements.push(statement.trim());
        }
    };
    for Token { kind, begin: at, end } in Tokens::of(text) {
        match kind {
            Kind::Semicolon if bodies.depth == 0 => {
                end_of(at, has_words, begin);
                (begin, has_words) = (end, false);
                bodies = Bodies::default();
            }
            Kind::Comment | Kind::Blank => {}
            Kind::Word => {
                has_words = true;
                bodies.word(text.get(at..end).unwrap_or_default());
            }
            Kind::Semicolon | Kind::Other => has_words = true,
        }
    }
    end_of(text.len(), has_words, begin);
    statements
}

/// The first word of a statement, in lower case, behind comments and parentheses.
pub(crate) fn keyword(statement: &str) -> String {
    words(statement).next().unwrap_or_default().to_ascii_lowercase()
}

/// Whether one of the words, which are in lower case, stands in a statement outside of texts, names and comments.
pub(crate) fn has_word(statement: &str, sought: &[&str]) -> bool {
    words(statement).any(|word| sought.iter().any(|sought| word.eq_ignore_ascii_case(sought)))
}

fn words(statement: &str) -> impl Iterator<Item = &str> {
    Tokens::of(statement)
        .filter(|token| token.kind == Kind::Word)
        .filter_map(|token| statement.get(token.begin..token.end))
}

/// How deep the body of a function is nested.
#[derive(Default)]
struct Bodies {
    depth: usize,
    is_begin: bool,
}

impl Bodies {
    fn word(&mut self, word: &str) {
        let is = |sought: &str| word.eq_ignore_ascii_case(sought);
        match self.depth {
            0 if self.is_begin && is("atomic") => self.depth = 1,
            0 => {}
            // An END of a CASE is its own.
            _ if is("case") => self.depth += 1,
            _ if is("end") => self.depth -= 1,
            _ => {}
        }
        self.is_begin = is("begin");
    }
}

struct Token {
    kind: Kind,
    begin: usize,
    end: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Semicolon,
    Comment,
    Blank,
    Word,
    /// Texts, names in quotation marks, numbers, signs.
    Other,
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
        let (kind, length) = match first {
            ';' => (Kind::Semicolon, 1),
            '-' if rest.starts_with("--") => (Kind::Comment, rest.find('\n').unwrap_or(rest.len())),
            '/' if rest.starts_with("/*") => (Kind::Comment, comment(rest)),
            '\'' => (Kind::Other, quoted(rest, '\'', false)),
            '"' => (Kind::Other, quoted(rest, '"', false)),
            // E'it\'s'
            'e' | 'E' if rest[1..].starts_with('\'') => (Kind::Other, 1 + quoted(&rest[1..], '\'', true)),
            '$' => (Kind::Other, dollars(rest)),
            first if first.is_whitespace() => (Kind::Blank, first.len_utf8()),
            first if is_of_word(first) && !first.is_ascii_digit() => (Kind::Word, word(rest)),
            // The letters behind a number belong to it.
            first if first.is_ascii_digit() => (Kind::Other, word(rest)),
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
    letter.is_alphanumeric() || letter == '_' || !letter.is_ascii()
}

fn word(text: &str) -> usize {
    text.find(|letter: char| !is_of_word(letter) && letter != '$')
        .unwrap_or(text.len())
}

/// To behind the mark that ends it; one that is doubled does not.
fn quoted(text: &str, mark: char, has_escapes: bool) -> usize {
    let mut letters = text.char_indices().skip(1).peekable();
    while let Some((at, letter)) = letters.next() {
        if letter == '\\' && has_escapes {
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

/// `$tag$ … $tag$`, or the sign alone, as of `$1`.
fn dollars(text: &str) -> usize {
    let Some(tag_end) = text.get(1..).and_then(|rest| rest.find('$')).map(|at| at + 2) else {
        return 1;
    };
    let (tag, body) = text.split_at(tag_end);
    let name = tag.trim_matches('$');
    if name.starts_with(|letter: char| letter.is_ascii_digit()) || !name.chars().all(is_of_word) {
        return 1;
    }
    body.find(tag).map_or(text.len(), |at| tag_end + at + tag.len())
}

/// Comments nest.
fn comment(text: &str) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while let Some(rest) = text.get(at..) {
        let next = match (rest.find("/*"), rest.find("*/")) {
            (Some(open), Some(close)) if open < close => Some((open, true)),
            (_, Some(close)) => Some((close, false)),
            _ => None,
        };
        let Some((found, opens)) = next else { break };
        at += found + 2;
        depth = if opens { depth + 1 } else { depth.saturating_sub(1) };
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn statements_end_where_a_semicolon_is_one() {
        for (text, expected) in [
            ("", vec![]),
            (" ; -- nothing;\n;/* ; */", vec![]),
            ("SELECT 1", vec!["SELECT 1"]),
            ("SELECT ';' ; SELECT \";\";", vec!["SELECT ';'", "SELECT \";\""]),
            ("SELECT 'it''s;'; x", vec!["SELECT 'it''s;'", "x"]),
            ("SELECT E'it\\';'; x", vec!["SELECT E'it\\';'", "x"]),
            ("SELECT 'a\\'; x", vec!["SELECT 'a\\'", "x"]),
            ("DO $$ BEGIN a; END $$; x", vec!["DO $$ BEGIN a; END $$", "x"]),
            ("DO $f$ $$;$$ $f$; x", vec!["DO $f$ $$;$$ $f$", "x"]),
            ("SELECT $1; SELECT $2", vec!["SELECT $1", "SELECT $2"]),
            ("SELECT a$b; SELECT c$d", vec!["SELECT a$b", "SELECT c$d"]),
            ("/* a /* b; */ ; */ x", vec!["/* a /* b; */ ; */ x"]),
            ("BEGIN; x; END; y", vec!["BEGIN", "x", "END", "y"]),
            (
                "CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT CASE WHEN a THEN 1 END; SELECT 2; END; x",
                vec![
                    "CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT CASE WHEN a THEN 1 END; SELECT 2; END",
                    "x",
                ],
            ),
            ("SELECT 'open; x", vec!["SELECT 'open; x"]),
            ("é;ü", vec!["é", "ü"]),
        ] {
            assert_eq!(split(text), expected, "{text}");
        }
    }

    #[test]
    fn the_first_word_says_what_a_statement_is() {
        for (text, expected) in [
            ("  /* a */ -- b\n Select 1", "select"),
            ("((VALUES (1)))", "values"),
            ("'select'", ""),
            ("1", ""),
        ] {
            assert_eq!(keyword(text), expected, "{text}");
        }
        assert!(has_word("COPY t FROM StdIn", &["stdin"]));
        assert!(!has_word("COPY t FROM 'stdin' -- stdin", &["stdin"]));
    }

    proptest! {
        #[test]
        fn no_text_is_lost(text in "[;'\"$ae1é\\\\/*\\- \n]{0,40}") {
            let mut at = 0;
            for statement in split(&text) {
                let found = text.get(at..).and_then(|rest| rest.find(statement));
                prop_assert!(found.is_some());
                at += found.unwrap_or_default() + statement.len();
            }
            prop_assert_eq!(Tokens::of(&text).last().map_or(0, |token| token.end), text.len());
        }
    }
}
