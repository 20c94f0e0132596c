//! The sorting key of a new ClickHouse table.
//!
//! A sorting key does not accept nullable columns unless the server allows it (`allow_nullable_key` of MergeTree, which old servers lack),
//! and neither do engines for their versions and signs (`ReplacingMergeTree(version)`, `CollapsingMergeTree(sign)`). So such columns are
//! created as not nullable; a NULL in one is an error with its row.

use arrow_schema::Schema;
use datafusion::sql::sqlparser::dialect::ClickHouseDialect;
use datafusion::sql::sqlparser::tokenizer::{Token, Tokenizer, Whitespace};

use tidemill_clickhouse::sql_text;

use crate::stores::server::TableOptions;

/// Whether the engine of a table sorts its rows.
pub(super) fn is_ordered(options: &TableOptions) -> bool {
    options.engine.contains("MergeTree")
}

/// The options with the names of the key and of the engine's arguments in the columns' spelling. A name that matches no column, or more
/// than one, is unchanged.
pub(super) fn spelled(options: &TableOptions, schema: &Schema) -> TableOptions {
    TableOptions {
        order_by: spelled_names(&options.order_by, schema),
        engine: spelled_names(&options.engine, schema),
        ..options.clone()
    }
}

fn spelled_names(key: &str, schema: &Schema) -> String {
    let Ok(tokens) = Tokenizer::new(&ClickHouseDialect {}, key).tokenize() else {
        return key.to_owned();
    };
    let names: Vec<&String> = schema.fields().iter().map(|field| field.name()).collect();
    let mut text = String::new();
    for (place, token) in tokens.iter().enumerate() {
        let mut behind = tokens.iter().skip(place + 1).filter(|token| !is_space(token));
        let column = match token {
            Token::Word(word) if behind.next() != Some(&Token::LParen) => {
                let mut fitting = names.iter().filter(|name| name.eq_ignore_ascii_case(&word.value));
                match (names.contains(&&word.value), fitting.next(), fitting.next()) {
                    (false, Some(only), None) => Some(only),
                    _ => None,
                }
            }
            _ => None,
        };
        match column {
            Some(column) => text += &sql_text::name(column),
            None => text += &token.to_string(),
        }
    }
    text
}

/// The schema in which the columns of the key, and those of the engine's arguments, are not nullable.
pub(super) fn with_key(schema: &Schema, options: &TableOptions) -> Schema {
    let mut never_null = Vec::new();
    if is_ordered(options) {
        never_null = columns(&options.order_by);
        let tells_apart = ["ReplacingMergeTree", "CollapsingMergeTree"];
        if tells_apart.iter().any(|engine| options.engine.contains(engine)) {
            never_null.extend(columns(&options.engine));
        }
    }
    let fields = schema.fields().iter().map(|field| {
        let is_nullable = field.is_nullable() && !never_null.contains(field.name());
        field.as_ref().clone().with_nullable(is_nullable)
    });
    Schema::new_with_metadata(fields.collect::<Vec<_>>(), schema.metadata().clone())
}

/// The names in a key or in an engine's arguments, without those of functions. The server reports an invalid key.
fn columns(key: &str) -> Vec<String> {
    let tokens = Tokenizer::new(&ClickHouseDialect {}, key)
        .tokenize()
        .unwrap_or_default();
    let tokens: Vec<_> = tokens.into_iter().filter(|token| !is_space(token)).collect();
    let names = tokens.iter().enumerate().filter_map(|(place, token)| match token {
        Token::Word(word) if tokens.get(place + 1) != Some(&Token::LParen) => Some(word.value.clone()),
        _ => None,
    });
    names.collect()
}

fn is_space(token: &Token) -> bool {
    matches!(
        token,
        Token::Whitespace(Whitespace::Space | Whitespace::Newline | Whitespace::Tab)
    )
}

#[cfg(test)]
mod tests {
    use arrow_schema::{DataType, Field};

    use super::*;

    #[test]
    fn names_of_a_key_may_be_in_any_case() {
        let fields = ["ORDER_NO", "at", "AT", "A b"].map(|name| Field::new(name, DataType::Int64, true));
        let schema = Schema::new(fields.to_vec());
        for (key, expected) in [
            ("order_no", "`ORDER_NO`"),
            ("(Order_No, at)", "(`ORDER_NO`, at)"),
            ("intHash32(`order_no`), \"a B\"", "intHash32(`ORDER_NO`), `A b`"),
            ("At, none, 'order_no', order_no(1)", "At, none, 'order_no', order_no(1)"),
            ("tuple()", "tuple()"),
            ("'", "'"),
        ] {
            assert_eq!(spelled_names(key, &schema), expected, "{key}");
        }
    }

    #[test]
    fn columns_of_a_key_are_never_null() {
        let fields = ["id", "ID", "at", "a b", "city"].map(|name| Field::new(name, DataType::Int64, true));
        let schema = Schema::new(fields.to_vec());
        let check = |engine: &str, key: &str, expected: &[&str]| {
            let options = TableOptions {
                engine: engine.to_owned(),
                order_by: key.to_owned(),
                ..TableOptions::default()
            };
            let schema = with_key(&schema, &options);
            let names = schema.fields().iter().filter(|field| !field.is_nullable());
            assert_eq!(
                names.map(|field| field.name().as_str()).collect::<Vec<_>>(),
                expected,
                "{key}"
            );
        };
        check("MergeTree", "tuple()", &[]);
        check("MergeTree", "id", &["id"]);
        check("ReplacingMergeTree(at)", "(city, toYYYYMM(at))", &["at", "city"]);
        check("ReplacingMergeTree(at)", "city", &["at", "city"]);
        check(
            "ReplicatedVersionedCollapsingMergeTree('/id', 'x', ID, at)",
            "city",
            &["ID", "at", "city"],
        );
        check("SummingMergeTree(at)", "city", &["city"]);
        check("MergeTree", "(`a b`, \"ID\", concat('city', 'id'))", &["ID", "a b"]);
        check("MergeTree", "intHash32 (id)", &["id"]);
        check("MergeTree", "'", &[]);
        check("Memory", "id", &[]);
    }
}
