//! A Rust source without its comments and literals, so that a rule about code does not stumble over words.

/// The source with every character of comments, strings and character literals turned into a blank; line ends stay, so
/// that line numbers do.
pub(super) fn code_of(source: &str) -> String {
    let mut code = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(c) = rest.chars().next() {
        let skip = comment(rest).or_else(|| text(rest, &code)).or_else(|| character(rest));
        let length = skip.unwrap_or(c.len_utf8());
        let (piece, behind) = rest.split_at(length);
        match skip {
            Some(_) => code.extend(piece.chars().map(|c| if c == '\n' { '\n' } else { ' ' })),
            None => code.push(c),
        }
        rest = behind;
    }
    code
}

/// Numbers, from 1, of the lines that hold `word` as a word of its own.
pub(super) fn lines_with(code: &str, word: &str) -> Vec<usize> {
    let in_word = |c: char| c.is_alphanumeric() || c == '_';
    let holds = |line: &str| {
        line.match_indices(word).any(|(at, _)| {
            let before = line[..at].chars().next_back();
            let behind = line[at + word.len()..].chars().next();
            !(before.is_some_and(in_word) || word.ends_with(in_word) && behind.is_some_and(in_word))
        })
    };
    code.lines()
        .enumerate()
        .filter(|(_, line)| holds(line))
        .map(|(index, _)| index + 1)
        .collect()
}

/// Length of the comment that `rest` begins with.
fn comment(rest: &str) -> Option<usize> {
    if rest.starts_with("//") {
        return Some(rest.find('\n').unwrap_or(rest.len()));
    }
    let mut depth = 0_usize;
    let mut at = 0;
    loop {
        let here = rest.get(at..)?;
        if here.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if depth == 0 {
            return None;
        } else if here.starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return Some(at);
            }
        } else {
            at += here.chars().next().map_or(1, char::len_utf8);
            if at >= rest.len() {
                return Some(rest.len());
            }
        }
    }
}

/// Length of the string that `rest` begins with, raw or not, its prefix included.
fn text(rest: &str, before: &str) -> Option<usize> {
    let prefix = ["br", "cr", "r", "b", "c", ""].into_iter().find(|prefix| {
        rest.strip_prefix(prefix)
            .is_some_and(|rest| rest.trim_start_matches('#').starts_with('"'))
    })?;
    if !prefix.is_empty() && before.ends_with(|c: char| c.is_alphanumeric() || c == '_') {
        return None;
    }
    let body = &rest[prefix.len()..];
    let hashes = body.len() - body.trim_start_matches('#').len();
    let start = prefix.len() + hashes + 1;
    if prefix.ends_with('r') {
        let end = format!("\"{}", "#".repeat(hashes));
        return Some(rest[start..].find(&end).map_or(rest.len(), |at| start + at + end.len()));
    }
    if hashes > 0 {
        return None;
    }
    Some(quoted(rest, start, '"'))
}

/// Length of the character literal that `rest` begins with; a lifetime is none.
fn character(rest: &str) -> Option<usize> {
    let mut chars = rest.strip_prefix('\'')?.chars();
    match chars.next()? {
        '\\' => Some(quoted(rest, 1, '\'')),
        c => (chars.next()? == '\'').then_some(2 + c.len_utf8()),
    }
}

/// Where a literal that begins before `start` ends, behind its closing quote.
fn quoted(rest: &str, start: usize, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in rest[start..].char_indices() {
        if escaped {
            escaped = false;
        } else if c == '\\' {
            escaped = true;
        } else if c == quote {
            return start + at + 1;
        }
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_literals_go_and_lines_stay() {
        // What stands between « and » must go.
        let rows = [
            "a «// b»\nc",
            "«/* a /* b */ c */»d",
            "x(«\"a\\\"b\"», c)",
            "«r#\"a\"b\"#» c",
            "«br\"\\\"» d",
            "«'a'» 'b: «'\\''» e",
            "for«'\"'»x",
            "bar«\"x\"»y",
            "«\"a\nb\"» c",
            "r#type x",
            "«\"ä\"»ö",
            "«/* open»",
            "«\"open»",
        ];
        for marked in rows {
            let mut gone = false;
            let mut expected = String::new();
            for c in marked.chars() {
                match c {
                    '«' | '»' => gone = c == '«',
                    '\n' => expected.push(c),
                    _ => expected.push(if gone { ' ' } else { c }),
                }
            }
            assert_eq!(code_of(&marked.replace(['«', '»'], "")), expected, "{marked}");
        }
    }

    #[test]
    fn words_are_whole() {
        let code = "unsafe {\nunsafe_code\nx.unsafe()\nnot_unsafe";
        assert_eq!(lines_with(code, "unsafe"), [1, 3]);
        assert_eq!(lines_with("dbg!(x)\nmy_dbg!(x)", "dbg!"), [1]);
    }
}
