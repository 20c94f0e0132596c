//! Statements without their comments.

/// A statement without its comments: `-- …` and `// …` to the end of the line, `/* … */`, which leaves a blank. What stands in quotes or
/// brackets stays. It is never longer than it was.
pub fn without_comments(text: &[u8]) -> Vec<u8> {
    let (mut plain, mut rest) = (Vec::with_capacity(text.len()), text);
    while let Some((first, after)) = rest.split_first() {
        let end = match (first, after.first()) {
            (b'-', Some(b'-')) | (b'/', Some(b'/')) => {
                rest = rest
                    .iter()
                    .position(|byte| *byte == b'\n')
                    .map_or(&[], |end| rest.get(end..).unwrap_or_default());
                continue;
            }
            (b'/', Some(b'*')) => {
                let inner = rest.get(2..).unwrap_or_default();
                let end = inner.windows(2).position(|pair| pair == b"*/");
                rest = end.map_or(&[], |end| inner.get(end + 2..).unwrap_or_default());
                plain.push(b' ');
                continue;
            }
            (b'\'' | b'"', _) => Some(first),
            (b'[', _) => Some(&b']'),
            _ => None,
        };
        let quoted = end.map(|end| {
            after
                .iter()
                .position(|byte| byte == end)
                .map_or(after.len(), |at| at + 1)
        });
        let (taken, left) = rest.split_at(1 + quoted.unwrap_or(0));
        plain.extend_from_slice(taken);
        rest = left;
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_go_and_all_else_stays() {
        for (text, expected) in [
            ("SELECT 1 -- one\nFROM t", "SELECT 1 \nFROM t"),
            ("a // b -- c", "a "),
            ("a/* b\n '*/c", "a c"),
            ("a /* open", "a  "),
            ("'-- no' \"// no\" [/* no */] -- yes", "'-- no' \"// no\" [/* no */] "),
            ("'it''s -- no' - - /", "'it''s -- no' - - /"),
            ("'open -- no", "'open -- no"),
            ("", ""),
        ] {
            assert_eq!(
                String::from_utf8_lossy(&without_comments(text.as_bytes())),
                expected,
                "{text:?}"
            );
        }
    }
}
