//! Tables in memory, which end with their editor.

use std::path::Path;

use super::{EditOptions, OpenMode, TableEditor};
use crate::error::Result;
use crate::field_spec::FieldSpec;
use crate::lock::FileLocks;
use crate::memo_editor::MemoEditor;
use crate::memo_writer;
use crate::storage::DataFile;
use crate::table::Table;
use crate::table_writer::{CreateOptions, Layout, memo_dialect};
use crate::transaction::KeptLocks;

impl TableEditor {
    /// A table in memory without records, as an answer needs it that is to be walked as a table is. Nobody else can have it,
    /// transactions pass it by, and indexes are not made of it. Errors call it `name`.
    ///
    /// # Errors
    /// [`Error::Misuse`](crate::Error::Misuse) for a structure that the format does not allow.
    ///
    /// ```
    /// use tidemill_xbase::{CivilDate, CreateOptions, EditOptions, FieldSpec, TableEditor, Value};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let today = CivilDate { year: 2026, month: 11, day: 22 };
    /// let fields = [FieldSpec::new("TAG", 'C', 4, 0), FieldSpec::new("NOTE", 'M', 10, 0)];
    /// let create = CreateOptions::new(today);
    /// let mut table = TableEditor::in_memory("answer", &fields, &create, &EditOptions::new(today))?;
    /// table.append_values(&[(0, Value::Text("AAAA")), (1, Value::Text("a memo"))])?;
    /// assert_eq!(table.table()?.record_count(), 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn in_memory(name: &str, fields: &[FieldSpec], create: &CreateOptions, options: &EditOptions) -> Result<Self> {
        let path = Path::new(name);
        let layout = Layout::new(fields, create)?;
        let dialect = memo_dialect(create)?;
        let file = DataFile::scratch(path, layout.header(create)?);
        let memo = layout
            .has_memos()
            .then(|| DataFile::scratch(&dialect.beside(path), memo_writer::empty(dialect)));
        let table = Table::edited(&file, memo.as_ref(), None, create.codepage, &options.open)?;
        let locks = KeptLocks::of_table(FileLocks::in_memory(path), None);
        let memo = memo.map(|file| MemoEditor::created(file, dialect));
        let mut options = options.clone().mode(OpenMode::Exclusive);
        options.log = None;
        let mut editor = Self::of(table, file, memo, locks, &options);
        editor.is_in_memory = true;
        Ok(editor)
    }

    /// Whether this is a table in memory.
    pub fn is_in_memory(&self) -> bool {
        self.is_in_memory
    }

    /// What a table in memory has no files for.
    pub(super) fn in_files(&self, what: &str) -> Result<()> {
        match self.is_in_memory {
            true => Err(self.misuse(&format!("{what} needs files, and the table is in memory"))),
            false => Ok(()),
        }
    }
}
