//! NULL for a column that cannot hold it: a field of a Visual FoxPro table that was made without NULL ("CREATE TABLE" in the help of ADS).
//!
//! A column that a statement gives no value keeps its blank, as the help says ("Null Field Values"); NULL itself is refused. Where rows do
//! not tell a blank from NULL, as those of a query have it for dates, and where who asks takes blanks for NULL, the blank is kept.

use tidemill_xbase::{Dialect, Field, TableEditor};

use super::{Change, ChangeKind, NewValues, Source};
use crate::ErrorCode;
use crate::sql::error::{Error, Result};
use crate::sql::expression::Blank;

/// Where the values of a change come from.
#[derive(Clone, Copy, PartialEq)]
enum Origin {
    /// They are written in the statement.
    Statement,
    /// Columns of the table itself: a blank is none of NULL's.
    Columns,
    /// Rows, in which a blank date is NULL.
    Rows,
}

impl Change {
    /// Refuses NULL where the field cannot hold it.
    ///
    /// # Errors
    /// [`Kind::Engine`](crate::sql::Kind::Engine) with [`ErrorCode::NotNullable`], the column and the table.
    pub(super) fn check_nulls<'v>(
        &self,
        table: &TableEditor,
        rows: impl IntoIterator<Item = &'v NewValues>,
    ) -> Result<()> {
        if table.header().dialect != Dialect::VisualFoxPro {
            return Ok(());
        }
        let origin = self.origin();
        for (column, value) in rows.into_iter().flatten() {
            let Some(field) = table.fields().get(*column).filter(|_| value.is_null()) else {
                continue;
            };
            if self.refuses_null(*column, field, origin) {
                return Err(null_refused(field, &self.table.to_string()));
            }
        }
        Ok(())
    }

    fn origin(&self) -> Origin {
        match &self.kind {
            ChangeKind::Insert {
                source: Source::Values(_),
                ..
            } if !self.is_in_merge => Origin::Statement,
            ChangeKind::Insert {
                source: Source::Queries(_),
                ..
            }
            | ChangeKind::Picked(_) => Origin::Rows,
            ChangeKind::Merge(merging) if merging.is_picked() => Origin::Rows,
            _ => Origin::Columns,
        }
    }

    fn refuses_null(&self, column: usize, field: &Field, origin: Origin) -> bool {
        if can_be_null(field) {
            return false;
        }
        // Else a field without NULL has blanks that are values.
        let is_blank_null = self.fields.get(column).is_some_and(|known| known.blank == Blank::Apart);
        match (origin, is_blank_null) {
            // These have no blank, or one that is a value: an empty text.
            (_, true) => !field.has_blank(),
            (Origin::Rows, false) => !matches!(field.letter, 'D' | 'T'),
            (Origin::Statement | Origin::Columns, false) => true,
        }
    }
}

/// Whether NULL is a value of the field, or asks for its next number.
pub(in crate::sql) fn can_be_null(field: &Field) -> bool {
    field.nullable || field.autoincrement.is_some()
}

/// The error of NULL for a field that cannot hold it.
pub(in crate::sql) fn null_refused(field: &Field, table: &str) -> Error {
    let what = format!(
        "Column {} of {table} was made without NULL: expected a value, found NULL",
        field.name
    );
    crate::Error::new(ErrorCode::NotNullable, what).into()
}
