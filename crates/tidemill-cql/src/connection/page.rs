//! A page of rows, with the description of its columns, as [`Execute::with_rows`](super::Execute::with_rows) asks for it.

use std::error::Error;

use bytes::Bytes;
use scylla::frame::response::result::ColumnSpec;
use scylla::value::Row;
use scylla_cql::frame::protocol_features::ProtocolFeatures;
use scylla_cql::frame::response::result::{self, DeserializedMetadataAndRawRows};
use tidemill_client::with_causes;

use super::columns::check_result;

/// A page of rows as it came. Its columns were looked through: there are as many as it says, and no more rows than it has room for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// What the next page is asked with, when there is one.
    pub paging_state: Option<Box<[u8]>>,
    /// The body of a RESULT of the kind ROWS.
    body: Bytes,
}

/// The rows of a [`Page`], and their columns.
#[derive(Debug)]
pub struct PageRows(DeserializedMetadataAndRawRows);

impl Page {
    /// A page whose paging state was read.
    ///
    /// # Errors
    /// What makes no sense of its columns and its number of rows.
    pub(super) fn new(body: &[u8], paging_state: Option<Box<[u8]>>) -> Result<Self, String> {
        check_result(body, false)?;
        Ok(Self {
            paging_state,
            body: Bytes::copy_from_slice(body),
        })
    }

    /// Reads the description of the columns.
    ///
    /// # Errors
    /// A page without one, in words.
    pub fn into_rows(self) -> Result<PageRows, String> {
        let text = |error: &dyn Error| with_causes(error);
        let read = result::deserialize_with_features(self.body, None, &ProtocolFeatures::default());
        match read.map_err(|error| text(&error))? {
            result::Result::Rows((rows, _)) if rows.no_metadata() => {
                Err("rows without a description of their columns".to_owned())
            }
            result::Result::Rows((rows, _)) => {
                let rows = rows.deserialize_metadata().map_err(|error| text(&error))?;
                Ok(PageRows(rows))
            }
            _ => Err("no rows".to_owned()),
        }
    }
}

impl PageRows {
    /// The columns.
    pub fn columns(&self) -> &[ColumnSpec<'_>] {
        self.0.metadata().col_specs()
    }

    /// How many rows there are.
    pub fn count(&self) -> usize {
        self.0.rows_count()
    }

    /// The rows, each with a value for each of the columns, `None` for NULL.
    ///
    /// # Errors
    /// A value that is invalid for its column's type, as a message. It ends the page.
    pub fn rows(&self) -> impl Iterator<Item = Result<Row, String>> + '_ {
        let rows = self.0.rows_iter::<Row>().map_err(|error| with_causes(&error));
        let (rows, refused) = match rows {
            Ok(rows) => (Some(rows), None),
            Err(error) => (None, Some(Err(error))),
        };
        let rows = rows.into_iter().flatten();
        refused
            .into_iter()
            .chain(rows.map(|row| row.map_err(|error| with_causes(&error))))
    }
}

#[cfg(test)]
mod tests {
    use scylla::value::CqlValue;

    use super::*;

    /// Two rows of an int and a text, the second of NULL and an empty text.
    fn body() -> Vec<u8> {
        let head = [2_i32, 1, 2].map(i32::to_be_bytes).concat();
        let columns = b"\0\x02ks\0\x01t\0\x01a\0\x09\0\x01b\0\x0d";
        let cells = b"\0\0\0\x02\0\0\0\x04\0\0\0\x07\0\0\0\x02hi\xff\xff\xff\xff\0\0\0\0";
        [&head[..], columns, cells].concat()
    }

    #[test]
    fn rows_have_the_values_of_their_columns() {
        let rows = Page::new(&body(), None).unwrap().into_rows().unwrap();
        let names: Vec<_> = rows.columns().iter().map(ColumnSpec::name).collect();
        assert_eq!((names, rows.count()), (vec!["a", "b"], 2));
        let values: Vec<_> = rows.rows().map(|row| row.unwrap().columns).collect();
        let text = |text: &str| Some(CqlValue::Text(text.to_owned()));
        assert_eq!(values, [vec![Some(CqlValue::Int(7)), text("hi")], vec![None, text("")]]);
    }

    #[test]
    fn rows_that_are_not_there_are_an_error() {
        let whole = body();
        for length in 0..whole.len() {
            let page = Page::new(&whole[..length], None);
            let read = page.and_then(Page::into_rows);
            assert!(
                read.is_err() || read.is_ok_and(|rows| rows.rows().any(|row| row.is_err())),
                "{length}"
            );
        }
        let undescribed = [2_i32, 4, 1, 0].map(i32::to_be_bytes).concat();
        let error = Page::new(&undescribed, None).unwrap().into_rows().unwrap_err();
        assert!(error.contains("without a description"), "{error}");
    }
}
