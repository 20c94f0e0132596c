//! Values that are put into the text of a statement before it is sent: those of `?`, and those of `{name:Type}` for servers that
//! have no parameters.

use std::borrow::Cow;

use super::parameter;
use crate::{
    Error, Result, Revision,
    packet::client::Query,
    sql_text::{self, Token, Tokens},
};

/// The text with literals for each `?` that stands for a value. `??` is a question mark, as in `a ?? b : c`.
///
/// # Errors
///
/// [`Error::Option`] when there are more or fewer of them than values.
pub(super) fn positional(sql: &str, values: &[String]) -> Result<String> {
    let mut tokens = Tokens::new(sql, 0);
    let mut text = String::with_capacity(sql.len());
    let (mut copied, mut used) = (0, 0);
    while let Some(token) = tokens.next() {
        if token.text != "?" {
            continue;
        }
        text.push_str(sql.get(copied..token.begin).unwrap_or_default());
        if sql.get(tokens.at..).is_some_and(|rest| rest.starts_with('?')) {
            text.push('?');
            tokens.at += 1;
        } else {
            text.push_str(values.get(used).map_or("", String::as_str));
            used += 1;
        }
        copied = tokens.at;
    }
    text.push_str(sql.get(copied..).unwrap_or_default());
    if used != values.len() {
        return Err(Error::Option {
            option: "bind".to_owned(),
            expected: format!(
                "as many values as there are `?` in the text: {used}, found {}",
                values.len()
            ),
        });
    }
    Ok(text)
}

/// The query for a server of `revision`: as it is, or, where the server has no parameters, with their values in the text, cast to
/// their types.
///
/// # Errors
///
/// [`Error::Option`] when a place has no value.
pub(super) fn for_revision(query: &Query, revision: Revision) -> Result<Cow<'_, Query>> {
    if query.parameters.is_empty() || revision >= Revision::PARAMETERS {
        return Ok(Cow::Borrowed(query));
    }
    let mut query = query.clone();
    query.text = named(&query.text, &query.parameters)?;
    query.parameters.clear();
    Ok(Cow::Owned(query))
}

fn named(sql: &str, fields: &[(String, String)]) -> Result<String> {
    let mut tokens = Tokens::new(sql, 0);
    let mut text = String::with_capacity(sql.len());
    let mut copied = 0;
    // Old servers take nothing but a plain number there.
    let mut is_limit = false;
    while let Some(token) = tokens.next() {
        let Some((name, data_type, end)) = place(sql, &tokens, &token) else {
            is_limit = token.is("LIMIT") || token.is("OFFSET") || (is_limit && token.text == ",");
            continue;
        };
        let field = fields.iter().rev().find(|(found, _)| found == name);
        let Some((_, field)) = field else {
            return Err(Error::Option {
                option: name.to_owned(),
                expected: "a value for the parameter of this name".to_owned(),
            });
        };
        text.push_str(sql.get(copied..token.begin).unwrap_or_default());
        match is_limit && !field.is_empty() && field.bytes().all(|byte| byte.is_ascii_digit()) {
            true => text.push_str(field),
            false => text.push_str(&literal(field, data_type)),
        }
        tokens.at = end;
        copied = end;
    }
    text.push_str(sql.get(copied..).unwrap_or_default());
    Ok(text)
}

/// The name and the type of a `{name:Type}` that begins with `token`, and where it ends.
fn place<'a>(sql: &'a str, behind: &Tokens<'a>, token: &Token<'a>) -> Option<(&'a str, &'a str, usize)> {
    if token.text != "{" {
        return None;
    }
    let mut tokens = behind.clone();
    let name = tokens.next().filter(Token::is_name)?.text;
    tokens.next().filter(|token| token.text == ":")?;
    let begin = tokens.at;
    let end = tokens.find(&["}"])?;
    let data_type = sql.get(begin..end)?.trim();
    // A map such as `{k : 1}` has no word there.
    data_type
        .starts_with(|first: char| first.is_alphabetic())
        .then_some((name, data_type, end + 1))
}

/// A field of TSV as a value of this type.
fn literal(field: &str, data_type: &str) -> String {
    match field {
        parameter::NULL => format!("CAST(NULL AS {data_type})"),
        field if data_type.eq_ignore_ascii_case("Identifier") => sql_text::name(field),
        field => {
            let text = parameter::text(field, data_type);
            format!("CAST({} AS {data_type})", sql_text::string(&text))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_take_the_places_of_question_marks() {
        let values = |values: &[&str]| values.iter().map(|value| (*value).to_owned()).collect::<Vec<_>>();
        for (sql, bound, expected) in [
            ("SELECT ?, ?", &["1", "'?'"][..], "SELECT 1, '?'"),
            (
                "SELECT '?', `?`, \"?\" -- ?\n, /* ? */ ? # ?",
                &["7"],
                "SELECT '?', `?`, \"?\" -- ?\n, /* ? */ 7 # ?",
            ),
            ("SELECT a ?? ? : 1", &["2"], "SELECT a ? 2 : 1"),
            ("SELECT x-?", &["(-1)"], "SELECT x-(-1)"),
            ("SELECT 'ü?', ?", &["2"], "SELECT 'ü?', 2"),
        ] {
            assert_eq!(positional(sql, &values(bound)).unwrap(), expected);
        }
        for (sql, bound) in [("SELECT ?", &[][..]), ("SELECT ?", &["1", "2"]), ("SELECT '?'", &["1"])] {
            assert!(
                matches!(positional(sql, &values(bound)), Err(Error::Option { .. })),
                "{sql}"
            );
        }
    }

    #[test]
    fn old_servers_get_parameters_in_the_text() {
        let fields = [
            ("p", r"it's\t\\"),
            ("q", r"\N"),
            ("t", "a`b"),
            ("a", r"['it\'s']"),
            ("n", "5"),
        ];
        let fields = fields.map(|(name, field)| (name.to_owned(), field.to_owned()));
        for (sql, expected) in [
            (
                "SELECT {p:String}, '{p:String}'",
                r"SELECT CAST('it\'s\t\\' AS String), '{p:String}'",
            ),
            ("SELECT { q : Nullable(UInt8) }", "SELECT CAST(NULL AS Nullable(UInt8))"),
            ("SELECT * FROM {t:Identifier}", r"SELECT * FROM `a\`b`"),
            (
                "SELECT {a:Array(String)}",
                r"SELECT CAST('[\'it\\\'s\']' AS Array(String))",
            ),
            ("SELECT {'k': 1}, {k: 1}", "SELECT {'k': 1}, {k: 1}"),
            (
                "SELECT {n:UInt8} LIMIT {n:UInt8}, {n:UInt8}",
                "SELECT CAST('5' AS UInt8) LIMIT 5, 5",
            ),
        ] {
            assert_eq!(named(sql, &fields).unwrap(), expected, "{sql}");
        }
        assert!(named("SELECT {x:UInt8}", &fields).is_err());
    }
}
