//! What an index file has of an order in another form than programs: names of fields, and the length of its pages.

use tidemill_xbase::index::{Index, IndexOptions};
use tidemill_xbase::{named_expression, numbered_expression};

use super::{OrderId, WorkArea};
use crate::error::Result;

impl WorkArea {
    /// An expression with the short names that index files of ADTs have for fields, `F` and the number of the field. Other tables have
    /// one name for each field, and the expression stays as it is.
    pub fn with_short_names(&self, expression: &str) -> String {
        match self.is_adt() {
            true => numbered_expression(expression, self.fields()),
            false => expression.to_owned(),
        }
    }

    /// An expression with the names of fields for their short ones: what [`WorkArea::with_short_names`] undoes.
    pub fn with_long_names(&self, expression: &str) -> String {
        match self.is_adt() {
            true => named_expression(expression, self.fields()),
            false => expression.to_owned(),
        }
    }

    /// How many bytes a page of the index file of an order has.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidIndexHandle`](crate::ErrorCode::InvalidIndexHandle); when the file cannot be read.
    pub fn index_page_len(&self, order: OrderId) -> Result<u64> {
        Ok(Index::open(self.index_path(order)?, &IndexOptions::new())?.page_len())
    }
}
