//! Where the parameters of a statement are.

/// A statement, by how its parameters get into it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Statement {
    /// `INSERT INTO table (columns) VALUES`: parameters are a row.
    Insert {
        /// The table as the text has it.
        table: String,
        /// The columns that are named; all of the table when there are none.
        columns: Vec<String>,
    },
    /// `{name:Type}`: parameters travel beside the text.
    Server {
        /// The text.
        text: String,
        /// The names in the order of their first places.
        names: Vec<String>,
    },
    /// `?`: parameters become literals between the pieces.
    Literals {
        /// The text between them.
        pieces: Vec<String>,
    },
}

impl Statement {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        if let Some(insert) = insert(text)? {
            return Ok(insert);
        }
        let places = places(text);
        let mut names: Vec<String> = Vec::new();
        let mut marks = Vec::new();
        for place in places {
            match place {
                Place::Mark(at) => marks.push(at),
                Place::Name(name) if !names.iter().any(|known| known == name) => names.push(name.to_owned()),
                Place::Name(_) => {}
            }
        }
        if names.is_empty() {
            let mut pieces = Vec::new();
            let mut rest = 0;
            for at in marks {
                pieces.push(text[rest..at].to_owned());
                rest = at + 1;
            }
            pieces.push(text[rest..].to_owned());
            return Ok(Self::Literals { pieces });
        }
        if !marks.is_empty() {
            return Err("a statement has either ? or {name:Type}, not both".to_owned());
        }
        let text = text.to_owned();
        Ok(Self::Server { text, names })
    }
}

enum Place<'t> {
    Mark(usize),
    Name(&'t str),
}

/// Parameters outside quotes and comments.
fn places(text: &str) -> Vec<Place<'_>> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\'' | b'"' | b'`' => {
                at += 1;
                while let Some(&inner) = bytes.get(at) {
                    if inner == byte {
                        break;
                    }
                    at += if inner == b'\\' { 2 } else { 1 };
                }
            }
            b'-' if bytes.get(at + 1) == Some(&b'-') => {
                at += text[at..].find('\n').unwrap_or(text.len() - at);
            }
            b'/' if bytes.get(at + 1) == Some(&b'*') => {
                at += text[at..].find("*/").map_or(text.len() - at, |end| end + 1);
            }
            b'?' => found.push(Place::Mark(at)),
            b'{' => {
                let name = text[at + 1..].split_once(':').map(|(name, _)| name.trim());
                if let Some(name) = name.filter(|name| is_name(name)) {
                    found.push(Place::Name(name));
                }
            }
            _ => {}
        }
        at += 1;
    }
    found
}

fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// An INSERT of values: `INSERT INTO [TABLE] name [(column, …)] [VALUES …]`.
fn insert(text: &str) -> Result<Option<Statement>, String> {
    let mut rest = text.trim().trim_end_matches(';');
    let mut word = |expected: &str| {
        let found = rest
            .get(..expected.len())
            .is_some_and(|word| word.eq_ignore_ascii_case(expected));
        let ends = rest[expected.len().min(rest.len())..].starts_with(char::is_whitespace);
        if found && ends {
            rest = rest[expected.len()..].trim_start();
        }
        found && ends
    };
    if !word("insert") || !word("into") {
        return Ok(None);
    }
    word("table");
    let end = table_end(rest);
    let (table, behind) = rest.split_at(end);
    let behind = behind.trim_start();
    let (columns, behind) = match behind.strip_prefix('(') {
        None => (Vec::new(), behind),
        Some(list) => {
            let (list, behind) = list.split_once(')').ok_or("the list of columns has no end")?;
            let columns = list
                .split(',')
                .map(|column| column.trim().trim_matches(['`', '"']).to_owned());
            (columns.collect(), behind.trim_start())
        }
    };
    let is_values = behind.is_empty() || behind.get(..6).is_some_and(|word| word.eq_ignore_ascii_case("values"));
    if !is_values {
        // INSERT … SELECT is a statement as any other.
        return Ok(None);
    }
    if table.is_empty() || columns.iter().any(String::is_empty) {
        return Err("expected INSERT INTO table (column, …) VALUES".to_owned());
    }
    Ok(Some(Statement::Insert {
        table: table.to_owned(),
        columns,
    }))
}

/// Where a name that may be quoted and have a database before it ends.
fn table_end(text: &str) -> usize {
    let mut quote = None;
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (None, '`' | '"') => quote = Some(c),
            (Some(open), c) if open == c => quote = None,
            (None, c) if c.is_whitespace() || c == '(' => return at,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_insert_is_a_table_and_its_columns() {
        for (text, table, columns) in [
            ("INSERT INTO t VALUES", "t", &[][..]),
            ("insert into db.t (id, `a b`) values (?, ?);", "db.t", &["id", "a b"]),
            ("INSERT INTO TABLE `my table`(id)", "`my table`", &["id"]),
        ] {
            let expected = Statement::Insert {
                table: table.to_owned(),
                columns: columns.iter().map(|c| (*c).to_owned()).collect(),
            };
            assert_eq!(Statement::parse(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn parameters_are_outside_quotes_and_comments() {
        let text = "SELECT '?', `{a:b}` -- ?\n/* ? */ FROM t WHERE x = {x:UInt8} AND y = {y:String} AND z = {x:UInt8}";
        let expected = Statement::Server {
            text: text.to_owned(),
            names: vec!["x".to_owned(), "y".to_owned()],
        };
        assert_eq!(Statement::parse(text), Ok(expected));
        let pieces = |text: &str| match Statement::parse(text) {
            Ok(Statement::Literals { pieces }) => pieces,
            other => panic!("{other:?}"),
        };
        assert_eq!(pieces("SELECT ? + ?"), ["SELECT ", " + ", ""]);
        assert_eq!(pieces("SELECT 'it\\'s ?' || ?"), ["SELECT 'it\\'s ?' || ", ""]);
        assert_eq!(pieces("INSERT INTO t SELECT ?"), ["INSERT INTO t SELECT ", ""]);
        assert_eq!(pieces("SELECT '?"), ["SELECT '?"]);
    }

    #[test]
    fn refuses_what_is_half_a_statement() {
        assert!(Statement::parse("SELECT ? + {a:UInt8}").is_err());
        assert!(Statement::parse("INSERT INTO t (a, b").is_err());
        assert!(Statement::parse("INSERT INTO t (a,,b) VALUES").is_err());
    }
}
