//! The text of a query's parameter.
//!
//! A server undoes two layers. It takes the value out of quotes as it does a string of SQL (`TCPHandler.cpp`,
//! `convertToQueryParameters`), and then reads it as a field of TSV (`Interpreters/ReplaceQueryParameterVisitor.cpp`,
//! `deserializeTextEscaped`), where a backslash begins an escape and `\N` is NULL. The quotes are the protocol's business; the
//! field of TSV is made here.
//!
//! Arrays, tuples and maps are themselves in a field of TSV, with their strings in quotes, and a name is taken as it is: these are
//! not escaped again. Which of them a parameter is, its place in the query says: `{name:Array(String)}`.

/// What stands in a field of TSV for `value`, which takes the place of `{name:…}` in `sql`.
pub(super) fn field(sql: &str, name: &str, value: &str) -> String {
    let data_type = data_type(sql, name).unwrap_or_default();
    if AS_THEY_ARE.iter().any(|begin| data_type.starts_with(begin)) {
        return value.to_owned();
    }
    let mut field = String::with_capacity(value.len());
    for character in value.chars() {
        match character {
            '\\' => field.push_str("\\\\"),
            '\t' => field.push_str("\\t"),
            '\n' => field.push_str("\\n"),
            '\r' => field.push_str("\\r"),
            '\0' => field.push_str("\\0"),
            other => field.push(other),
        }
    }
    field
}

/// The value that [`field`] made the text of a field of.
pub(super) fn text(field: &str, data_type: &str) -> String {
    if AS_THEY_ARE.iter().any(|begin| data_type.starts_with(begin)) {
        return field.to_owned();
    }
    let mut text = String::with_capacity(field.len());
    let mut letters = field.chars();
    while let Some(letter) = letters.next() {
        text.push(match letter {
            '\\' => match letters.next() {
                Some('t') => '\t',
                Some('n') => '\n',
                Some('r') => '\r',
                Some('0') => '\0',
                Some('b') => '\u{8}',
                Some('f') => '\u{c}',
                Some(other) => other,
                None => '\\',
            },
            other => other,
        });
    }
    text
}

/// The type of the first `{name:Type}`.
fn data_type<'a>(sql: &'a str, name: &str) -> Option<&'a str> {
    sql.split('{').skip(1).find_map(|rest| {
        let (found, rest) = rest.split_once(':')?;
        (found.trim() == name).then(|| rest.trim_start())
    })
}

/// NULL in a field of TSV.
pub(super) const NULL: &str = "\\N";

/// How the types begin whose text is no escaped one.
const AS_THEY_ARE: [&str; 5] = ["Array", "Tuple", "Map", "Nested", "Identifier"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped_where_the_type_reads_escapes() {
        for (sql, value, expected) in [
            ("SELECT {p:String}", r"C:\temp\new", r"C:\\temp\\new"),
            ("SELECT { p : Nullable(String) }", r"\N", r"\\N"),
            ("SELECT {p:String}", "it's\ta \"tab\"", r#"it's\ta "tab""#),
            ("SELECT {p:FixedString(3)}", "\0\r\n", r"\0\r\n"),
            (
                "SELECT {q:String}, {p:Array(String)}",
                r"['it\'s', 'a\\b']",
                r"['it\'s', 'a\\b']",
            ),
            ("SELECT {p:Map(String, String)}", r"{'a':'\t'}", r"{'a':'\t'}"),
            ("SELECT * FROM {p:Identifier}", r"a\b", r"a\b"),
            ("SELECT 1", "\\", r"\\"),
        ] {
            assert_eq!(field(sql, "p", value), expected, "{sql}");
            let data_type = data_type(sql, "p").unwrap_or_default();
            assert_eq!(text(expected, data_type), value, "{sql}");
        }
    }
}
