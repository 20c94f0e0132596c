//! What an index file has of an order in another form than programs: names of fields, and the length of its pages.

use std::path::Path;

use tidemill_xbase::index::{Index, IndexDialect, IndexOptions};
use tidemill_xbase::{named_expression, numbered_expression};

use super::{OrderId, WorkArea};
use crate::error::{ErrorCode, Result};

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

    /// Refuses a new index file whose name says nothing of its format.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidIndexName`].
    pub(super) fn check_index_name(&self, index: &Path) -> Result<()> {
        match IndexDialect::from_path(index) {
            Some(_) => Ok(()),
            None => {
                let why = "an index is called .cdx, .ntx, .nsx, .mdx, .ndx, .idx or .adi";
                self.refuse(ErrorCode::InvalidIndexName, format!("{}: {why}", index.display()))
            }
        }
    }

    /// How many bytes a page of the index file of an order has.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidIndexHandle`]; when the file cannot be read.
    pub fn index_page_len(&self, order: OrderId) -> Result<u64> {
        Ok(Index::open(self.index_path(order)?, &IndexOptions::new())?.page_len())
    }
}
