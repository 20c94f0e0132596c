//! Which data dictionary an ADT belongs to, as its header says.
//!
//! Seen in 32 tables of one dictionary: version 2, a flag, the name of the dictionary's file from the table's folder and the number that
//! the table has there (docs/formats/adt.md). The digest at 56 is zero in two of them, and in ours.

use super::TableEditor;
use crate::adt;
use crate::error::Result;
use crate::header::u16_at;

impl TableEditor {
    /// Writes into the header of an ADT which data dictionary it belongs to, as the name of its file seen from the table's folder, and
    /// which number it has there; `None` that it belongs to none.
    ///
    /// # Errors
    /// [`Error::Misuse`](crate::Error::Misuse) for another table, for a name of more than 259 bytes, and unless the table is open
    /// exclusively; [`Error::Io`](crate::Error::Io).
    pub fn bind_to_dictionary(&mut self, dictionary: Option<(&str, u32)>) -> Result<()> {
        self.alone("binding a table to a data dictionary")?;
        if !self.is_adt() {
            return Err(self.misuse("only an ADT says which data dictionary it belongs to"));
        }
        let (file, number) = dictionary.unwrap_or_default();
        let mut name = [0; adt::DICTIONARY_LEN];
        match name.get_mut(..file.len()) {
            Some(slot) if file.len() < adt::DICTIONARY_LEN => slot.copy_from_slice(file.as_bytes()),
            _ => {
                let why = format!(
                    "{file:?}: the name of a dictionary has at most {} bytes",
                    adt::DICTIONARY_LEN - 1
                );
                return Err(self.misuse(&why));
            }
        }
        let mut flags = [0; 2];
        self.file.read("flags", adt::FLAGS_AT as u64, &mut flags)?;
        let flags = u16_at(&flags, 0).unwrap_or_default() & !adt::FLAG_IN_DICTIONARY;
        if dictionary.is_some() {
            self.file.write(adt::VERSION_AT as u64, &2_u32.to_le_bytes())?;
        }
        let flags = flags | dictionary.map_or(0, |_| adt::FLAG_IN_DICTIONARY);
        self.file.write(adt::FLAGS_AT as u64, &flags.to_le_bytes())?;
        self.file.write(adt::DICTIONARY_AT as u64, &name)?;
        self.file.write(adt::OBJECT_AT as u64, &number.to_le_bytes())
    }
}
