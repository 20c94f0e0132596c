//! Indexes of words: a change of a record takes out the words that it has no more, and puts in those that it has now.
//!
//! Which words a record had is read from its text. That of a memo is still there when its record changes, since a new text does not take
//! the place of an old one in the memo file where an index has its words; PACK gives the space back.

use super::{Change, Changes, TableEditor};
use crate::error::Result;
use crate::expression::RecordBytes;
use crate::field::Field;
use crate::full_text::{FieldText, WordKeys};
use crate::memo::Memo;
use crate::orders::OrderKeys;
use crate::source::Source;

impl TableEditor {
    /// The indexes of words that follow changes.
    fn words(&self) -> impl Iterator<Item = &WordKeys> {
        let orders = self.orders.files.iter().flat_map(|file| &file.keys);
        orders
            .filter_map(OrderKeys::words)
            .filter(|words| !words.options.is_fixed)
    }

    /// The memo file as it is now, where an index has words of it.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io).
    pub(super) fn memo_of_words(&self) -> Result<Option<Memo>> {
        match &self.memo {
            Some(memo) if self.words().any(|words| words.reads_memo(&self.fields.visible)) => {
                Memo::named(Source::edited(memo.file())?, &self.header).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Whether an index has the words of a field.
    pub(in crate::table_editor) fn has_words_of(&self, field: &Field) -> bool {
        let fields = &self.fields.visible;
        let mut used = self.words().filter_map(|words| fields.get(words.field));
        used.any(|used| used.offset == field.offset)
    }
}

impl Changes {
    /// Adds what becomes of the words of a record, of which the bytes before and after the change are given as far as it is there.
    ///
    /// # Errors
    /// As [`FieldText::read`].
    pub(super) fn of_words(
        &mut self,
        (file, order): (usize, usize),
        words: &WordKeys,
        [before, after]: [Option<&RecordBytes<'_>>; 2],
        memo: Option<&Memo>,
        text: &mut FieldText,
    ) -> Result<()> {
        let mut keys_of = |record: Option<&RecordBytes<'_>>| {
            let mut keys = Vec::new();
            if let Some(record) = record {
                words.put_keys(record, memo, text, &mut keys)?;
            }
            Ok::<_, crate::Error>(keys)
        };
        let (old, new) = (keys_of(before)?, keys_of(after)?);
        let len = words.key_len().max(1);
        let (old_keys, new_keys): (Vec<_>, Vec<_>) = (old.chunks_exact(len).collect(), new.chunks_exact(len).collect());
        for (keys, others, is_insertion, record) in [
            (&old_keys, &new_keys, false, before),
            (&new_keys, &old_keys, true, after),
        ] {
            let Some(record) = record else { continue };
            for key in keys.iter().filter(|key| others.binary_search(key).is_err()) {
                let begin = self.keys.len();
                self.keys.extend_from_slice(key);
                self.changes.push(Change {
                    file,
                    order,
                    key: begin..self.keys.len(),
                    recno: crate::expression::Record::record_no(record),
                    is_insertion,
                });
            }
        }
        Ok(())
    }
}
