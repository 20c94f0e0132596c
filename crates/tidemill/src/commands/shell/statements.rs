//! Where a statement ends.

/// An input at the prompt.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Input<'t> {
    Nothing,
    /// A command of the shell, which begins with a backslash.
    Meta(&'t str),
    Statement(&'t str),
}

impl<'t> Input<'t> {
    pub(super) fn of(text: &'t str) -> Self {
        match text.trim() {
            "" | ";" => Self::Nothing,
            text if text.starts_with('\\') => Self::Meta(text),
            text => Self::Statement(text),
        }
    }
}

/// The first words of scripts, which contain semicolons.
const SCRIPTS: [&str; 6] = ["DECLARE", "IF", "WHILE", "TRY", "FOR", "OPEN"];

/// Whether an input is complete: a command of the shell at the end of its line, a statement at the semicolon that ends its last line, and a
/// script at an empty line.
pub(super) fn is_complete(text: &str) -> bool {
    let (begin, ends_with_line) = (text.trim_start(), text.ends_with("\n\n") || text.ends_with("\n\r\n"));
    let first = begin
        .split(|letter: char| !letter.is_ascii_alphabetic())
        .next()
        .unwrap_or_default();
    if begin.is_empty() || begin.starts_with('\\') || ends_with_line {
        return true;
    }
    let is_script = SCRIPTS.iter().any(|word| word.eq_ignore_ascii_case(first));
    !is_script && ends_statement(text)
}

/// Whether a text, apart from comments, ends in a semicolon outside of quotes.
fn ends_statement(text: &str) -> bool {
    let mut letters = text.chars().peekable();
    let mut last = ' ';
    while let Some(letter) = letters.next() {
        match (letter, letters.peek()) {
            ('-', Some('-')) | ('/', Some('/')) => while letters.next_if(|letter| *letter != '\n').is_some() {},
            ('/', Some('*')) => {
                let mut before = ' ';
                let is_closed = letters.by_ref().skip(1).any(|letter| {
                    let is_end = before == '*' && letter == '/';
                    before = letter;
                    is_end
                });
                if !is_closed {
                    return false;
                }
            }
            ('\'' | '"' | '[', _) => {
                let end = if letter == '[' { ']' } else { letter };
                if !letters.by_ref().any(|letter| letter == end) {
                    return false;
                }
                last = end;
            }
            (letter, _) if letter.is_whitespace() => {}
            (letter, _) => last = letter,
        }
    }
    last == ';'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_end_at_semicolons() {
        for (text, expected) in [
            ("", true),
            ("\\d orders", true),
            ("SELECT 1", false),
            ("SELECT 1;", true),
            ("SELECT 1; -- done", true),
            ("SELECT 1 -- ;", false),
            ("SELECT 1 /* ; */", false),
            ("SELECT 1 /* ;", false),
            ("SELECT ';", false),
            ("SELECT 'it''s;';", true),
            ("SELECT [a;b]", false),
            ("SELECT \"a;\nb\";\n", true),
            ("SELECT 1\n\n", true),
            ("DECLARE @a INTEGER;", false),
            ("DECLARE @a INTEGER;\n@a = 1;\n\n", true),
        ] {
            assert_eq!(is_complete(text), expected, "{text:?}");
        }
        assert_eq!(Input::of(" ; "), Input::Nothing);
        assert_eq!(Input::of(" \\q "), Input::Meta("\\q"));
    }
}
