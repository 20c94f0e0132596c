//! Parameters in the text of a statement: `$1`, or `?` and `:name`, which become `$1`.

/// A statement as the server takes it, and the names of its parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Marked {
    /// With `$1`, `$2` and so on.
    pub(super) text: String,
    /// By number. Those of `?` are called as the server calls them.
    names: Vec<String>,
}

impl Marked {
    /// A text with `$1` in it is left as it is: there `?` is an operator.
    pub(super) fn parse(text: &str) -> Self {
        let pieces = pieces(text);
        let mut marked = Self {
            text: text.to_owned(),
            names: Vec::new(),
        };
        if pieces.iter().any(|piece| matches!(piece, Piece::Number)) {
            return marked;
        }
        marked.text.clear();
        for piece in pieces {
            let number = match piece {
                Piece::Text(text) => {
                    marked.text.push_str(text);
                    continue;
                }
                Piece::Named(name) => match marked.names.iter().position(|known| known == name) {
                    Some(at) => at + 1,
                    None => {
                        marked.names.push(name.to_owned());
                        marked.names.len()
                    }
                },
                Piece::Mark | Piece::Number => {
                    marked.names.push(format!("${}", marked.names.len() + 1));
                    marked.names.len()
                }
            };
            marked.text.push_str(&format!("${number}"));
        }
        marked
    }

    /// The names of as many parameters as the server found.
    pub(super) fn names_of(&self, count: usize) -> Vec<String> {
        let name = |at: usize| self.names.get(at).cloned().unwrap_or_else(|| format!("${}", at + 1));
        (0..count).map(name).collect()
    }
}

enum Piece<'t> {
    Text(&'t str),
    Mark,
    Named(&'t str),
    Number,
}

/// Parameters outside quotes and comments, and what is between them.
fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut found = Vec::new();
    let (mut begin, mut at) = (0, 0);
    while let Some(first) = text.get(at..).and_then(|rest| rest.chars().next()) {
        let rest = &text[at..];
        let before = text[..at].chars().next_back();
        let is_in_word = before.is_some_and(|c| c.is_alphanumeric() || c == '_');
        let mut length = first.len_utf8();
        let mut piece = None;
        match first {
            '\'' | '"' => {
                let has_escapes = first == '\'' && before.is_some_and(|c| c.eq_ignore_ascii_case(&'e'));
                length = quoted(rest, first, has_escapes);
            }
            '-' if rest.starts_with("--") => length = rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => length = rest.find("*/").map_or(rest.len(), |end| end + 2),
            '$' if !is_in_word => match rest[1..].chars().next() {
                Some(c) if c.is_ascii_digit() => piece = Some((Piece::Number, 1)),
                _ => length = dollars(rest),
            },
            '?' => piece = Some((Piece::Mark, 1)),
            // A cast, or an assignment.
            ':' if rest.starts_with("::") || rest.starts_with(":=") => length = 2,
            ':' if !is_in_word => {
                let name = &rest[1..];
                let end = name
                    .find(|c: char| !c.is_alphanumeric() && c != '_')
                    .unwrap_or(name.len());
                if name.starts_with(|c: char| c.is_alphabetic() || c == '_') {
                    piece = Some((Piece::Named(&name[..end]), 1 + end));
                }
            }
            _ => {}
        }
        if let Some((piece, taken)) = piece {
            found.push(Piece::Text(&text[begin..at]));
            found.push(piece);
            begin = at + taken;
            length = taken;
        }
        at += length;
    }
    found.push(Piece::Text(&text[begin..]));
    found
}

/// To after the mark that ends it. One that is doubled begins another.
fn quoted(text: &str, mark: char, has_escapes: bool) -> usize {
    let mut letters = text.char_indices().skip(1);
    while let Some((at, letter)) = letters.next() {
        if letter == '\\' && has_escapes {
            letters.next();
        } else if letter == mark {
            return at + 1;
        }
    }
    text.len()
}

/// `$tag$ … $tag$`, or the sign alone.
fn dollars(text: &str) -> usize {
    let Some(end) = text[1..].find('$').map(|at| at + 2) else {
        return 1;
    };
    let (tag, body) = text.split_at(end);
    if !tag.trim_matches('$').chars().all(|c| c.is_alphanumeric() || c == '_') {
        return 1;
    }
    body.find(tag).map_or(text.len(), |at| end + at + tag.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_and_names_become_numbers() {
        for (text, expected, names) in [
            ("SELECT ? + ?", "SELECT $1 + $2", &["$1", "$2"][..]),
            ("SELECT :a::int, :b, :a", "SELECT $1::int, $2, $1", &["a", "b"]),
            (
                "SELECT '?', \"?:a\", E'\\'?', $x$ ? $x$ -- ?\n/* :a */, ?",
                "SELECT '?', \"?:a\", E'\\'?', $x$ ? $x$ -- ?\n/* :a */, $1",
                &["$1"],
            ),
            ("SELECT a ? 'x' WHERE b = $1", "SELECT a ? 'x' WHERE b = $1", &[]),
            ("SELECT a[1:2], 'it''s ?'", "SELECT a[1:2], 'it''s ?'", &[]),
            ("SELECT '?", "SELECT '?", &[]),
            ("é ? $", "é $1 $", &["$1"]),
        ] {
            let marked = Marked::parse(text);
            assert_eq!(
                (marked.text.as_str(), marked.names.as_slice()),
                (expected, &names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>()[..])
            );
        }
        assert_eq!(Marked::parse("SELECT $1, $2").names_of(2), ["$1", "$2"]);
    }
}
