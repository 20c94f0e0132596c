//! Completion by the Tab key: keywords, functions, tables, and the columns of the statement's tables.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use rustyline::completion::{Completer, Pair};
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Context, Helper};
use tidemill_sql::{Location, Session};
use tokio::runtime::Handle;

use super::statements::is_complete;

/// The helper of the line editor.
pub(super) struct Prompt {
    session: Arc<Session>,
    runtime: Handle,
    /// The tables with their locations, by names in lower case; listed on first use.
    tables: Mutex<Option<HashMap<String, (String, Location)>>>,
}

impl Prompt {
    /// Must be called in a runtime, which it uses for queries of names.
    pub(super) fn new(session: Arc<Session>) -> Self {
        Self {
            session,
            runtime: Handle::current(),
            tables: Mutex::new(None),
        }
    }

    /// Names of tables, and of the columns of the tables in the line.
    fn names(&self, line: &str) -> Vec<String> {
        let mut tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        let tables = tables.get_or_insert_with(|| {
            let found = self.runtime.block_on(self.session.all_tables()).unwrap_or_default();
            let named = found.into_iter().flat_map(|(schema, tables)| {
                tables.into_iter().map(move |(name, location)| match &schema {
                    Some(schema) => (format!("{schema}.{name}"), location),
                    None => (name, location),
                })
            });
            named
                .map(|(name, location)| (name.to_lowercase(), (name, location)))
                .collect()
        });
        let mut names: Vec<String> = tables.values().map(|(name, _)| name.clone()).collect();
        let words = line.split(|letter: char| !letter.is_alphanumeric() && !matches!(letter, '_' | '.'));
        for (_, location) in words.filter_map(|word| tables.get(&word.to_lowercase())) {
            if let Ok(schema) = self.runtime.block_on(self.session.schema(location)) {
                names.extend(schema.fields().iter().map(|field| field.name().clone()));
            }
        }
        names
    }
}

impl Completer for Prompt {
    type Candidate = Pair;

    fn complete(&self, line: &str, pos: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<Pair>)> {
        let before = line.get(..pos).unwrap_or_default();
        let is_part = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '.' | '#');
        let begin = before.trim_end_matches(is_part).len();
        let typed = before.get(begin..).unwrap_or_default();
        if typed.is_empty() {
            return Ok((pos, Vec::new()));
        }
        let fits = |name: &str| {
            let start = name.get(..typed.len());
            start.is_some_and(|start| start.eq_ignore_ascii_case(typed))
        };
        let is_upper = typed.chars().all(|letter| !letter.is_lowercase());
        let words = KEYWORDS.iter().copied().chain(tidemill_sql::function_names());
        let words = words.map(|word| if is_upper { word.to_owned() } else { word.to_lowercase() });
        let mut names: Vec<String> = self
            .names(line)
            .into_iter()
            .chain(words)
            .filter(|name| fits(name))
            .collect();
        names.sort_by_key(|name| name.to_lowercase());
        names.dedup();
        let pair = |name: String| Pair {
            display: name.clone(),
            replacement: name,
        };
        Ok((begin, names.into_iter().map(pair).collect()))
    }
}

impl Validator for Prompt {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        Ok(match is_complete(context.input()) {
            true => ValidationResult::Valid(None),
            false => ValidationResult::Incomplete,
        })
    }
}

impl Hinter for Prompt {
    type Hint = String;
}

impl Highlighter for Prompt {}

impl Helper for Prompt {}

const KEYWORDS: [&str; 56] = [
    "ALTER", "AND", "AS", "ASC", "AVG", "BEGIN", "BETWEEN", "BY", "CASE", "CAST", "COMMIT", "COUNT", "CREATE",
    "DELETE", "DESC", "DESCRIBE", "DISTINCT", "DROP", "ELSE", "END", "EXISTS", "EXPLAIN", "FROM", "FULL", "GROUP",
    "HAVING", "IN", "INDEX", "INNER", "INSERT", "INTO", "IS", "JOIN", "LEFT", "LIKE", "LIMIT", "MAX", "MERGE", "MIN",
    "NOT", "NULL", "OFFSET", "ON", "OR", "ORDER", "OVER", "ROLLBACK", "SELECT", "SET", "SHOW", "SUM", "TABLE", "THEN",
    "UNION", "UPDATE", "WHERE",
];
