//! Orders whose keys are read and not made: words of full-text search, and numbers of Numeric fields, in an ADI.
//!
//! They stay in their file. What would leave one stale is refused: a record that is new or deleted, and a change of a field that its
//! keys are made of. Of records this is seen by their bytes; of memos it is asked here.

use super::TableEditor;
use crate::error::{Error, Result};
use crate::field::Field;

impl TableEditor {
    /// Refuses a new value of a memo that an order reads whose keys are not known: nothing in the record tells of it.
    ///
    /// # Errors
    /// [`Error::Order`] with [`Error::UnknownKeys`].
    pub(in crate::table_editor) fn check_memo(&self, field: &Field) -> Result<()> {
        let fields = &self.fields.visible;
        for file in &self.orders.files {
            for (keys, tag) in file.keys.iter().zip(file.index.tags()) {
                if !keys.are_known() && keys.reads(fields, field) {
                    let known = keys.check_known();
                    return known.map_err(|e| Error::order(file.index.path(), &tag.name, e));
                }
            }
        }
        Ok(())
    }
}
