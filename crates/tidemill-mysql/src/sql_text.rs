//! Names and texts in statements.

/// A name as it is spelt: `` `Order ``x` ``.
#[must_use]
pub fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

/// Names with commas between.
pub(crate) fn list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    names.into_iter().map(quoted).collect::<Vec<_>>().join(", ")
}

/// A text as a constant, as it is read without `NO_BACKSLASH_ESCAPES`, which this crate's connections turn off: `'it''s'`.
#[must_use]
pub fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
}
