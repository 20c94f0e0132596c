//! Full-text indexes of a work area. They are listed, created and dropped like orders, and answer filters, but do not give records an order.

use std::path::{Path, PathBuf};

use tidemill_xbase::TableOrder;
use tidemill_xbase::full_text::{FullTextOptions, Tokenizer};
use tidemill_xbase::index::OrderSpec;

use super::{OrderId, WorkArea};
use crate::TableType;
use crate::dictionary::Rights;
use crate::error::{Error, ErrorCode, Result};
use crate::settings::Settings;

/// An open index of words.
#[derive(Debug)]
pub(super) struct AreaWords {
    pub(super) id: OrderId,
    pub(super) index: PathBuf,
    pub(super) name: String,
    /// As it was when a filter was answered last.
    pub(super) order: Option<TableOrder>,
}

impl WorkArea {
    /// The open full-text indexes, in the order of [`WorkArea::orders`].
    pub fn full_text_orders(&self) -> impl Iterator<Item = OrderId> {
        self.words.iter().map(|words| words.id)
    }

    /// The options of a full-text index. For an index made by Advantage these are the default options, because where Advantage stores the
    /// options is unknown.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidIndexHandle`] for what is none.
    pub fn full_text_options(&self, order: OrderId) -> Result<FullTextOptions> {
        let tag = self.order_tag(order)?;
        match (tag.is_full_text, tag.full_text) {
            (true, Some(options)) => Ok(*options),
            (true, None) => Ok(FullTextOptions {
                max_word: u16::try_from(tag.key_len).unwrap_or(u16::MAX),
                ..FullTextOptions::default()
            }),
            (false, _) => self.refuse(
                ErrorCode::InvalidIndexHandle,
                format!("index tag {} is no full text index", tag.name),
            ),
        }
    }

    /// Makes a full-text index of a field, as [`WorkArea::create_index`] makes an order ("AdsCreateFTSIndex" in ADS's help).
    ///
    /// # Errors
    /// As [`WorkArea::create_index`]; [`ErrorCode::InvalidOption`] for lengths that leave no words.
    pub fn create_full_text_index(
        &mut self,
        index: Option<&Path>,
        name: &str,
        field: &str,
        options: &FullTextOptions,
        settings: &Settings,
    ) -> Result<OrderId> {
        self.may(Rights::ALL)?;
        self.write_record()?;
        if self.options.table_type == TableType::Ntx && !self.is_adt() {
            let why = "tables of Clipper (ADS_NTX) have no full text indexes";
            return self.refuse(ErrorCode::NotImplemented, why);
        }
        if options.min_word > options.max_word || options.max_word == 0 {
            let why = format!("words of {} to {} letters are none", options.min_word, options.max_word);
            return self.refuse(ErrorCode::InvalidOption, why);
        }
        self.look_for_records()?;
        let index = self.index_for(index, name);
        self.check_index_name(&index)?;
        let name = self.name_for(name, &index);
        let order = OrderSpec::new(&name, field.trim()).full_text(options.clone());
        let made = self.at_length(settings, |area| area.make_order(&index, &order));
        made.map_err(Error::of_making)?;
        self.list_orders()?;
        let mut words = self.words.iter();
        match words.find(|words| words.index == index && words.name.eq_ignore_ascii_case(&name)) {
            Some(words) => Ok(words.id),
            None => self.refuse(
                ErrorCode::InternalError,
                format!("index tag {name} was made and is not there"),
            ),
        }
    }

    /// How often a word is in a record's text, as the index has words: the word itself, or words that begin so.
    ///
    /// # Errors
    /// As [`WorkArea::full_text_options`]; [`ErrorCode::InvalidRecordNumber`]; as for reading the record.
    pub fn full_text_score(&mut self, order: OrderId, record: u32, word: &str, is_beginning: bool) -> Result<usize> {
        let tokenizer = Tokenizer::new(&self.full_text_options(order)?);
        let name = self.order_tag(order)?.expression;
        self.write_record()?;
        self.look_for_records()?;
        if record == 0 || record > self.editor.record_count() {
            let why = format!("there is no record {record}");
            return self.refuse(ErrorCode::InvalidRecordNumber, why);
        }
        let field = self
            .fields()
            .iter()
            .position(|field| field.name.eq_ignore_ascii_case(&name));
        let Some((place, field)) = field.and_then(|place| Some((place, self.fields().get(place)?))) else {
            return self.refuse(ErrorCode::InvalidFieldName, format!("there is no field {name}"));
        };
        let bytes = self.editor.record_bytes(record)?;
        let text = match field.kind.uses_memo() {
            true => self.editor.memo_bytes(record, &bytes, place)?,
            false => bytes
                .get(field.offset..field.offset + field.width)
                .unwrap_or_default()
                .to_vec(),
        };
        let (wanted, mut count) = (tokenizer.cleaned(word), 0);
        tokenizer.each_word(&self.table.codepage().decode(&text), |word| {
            count += usize::from(word == wanted || is_beginning && word.starts_with(&wanted));
        });
        Ok(count)
    }

    /// Brings the list of full-text indexes up to what the editor has open.
    pub(super) fn list_words(&mut self) {
        let open = self.editor.orders_of_files().filter(|(_, tag)| tag.is_full_text);
        let open: Vec<(PathBuf, String)> = open.map(|(path, tag)| (path.to_owned(), tag.name.clone())).collect();
        let mut known = std::mem::take(&mut self.words);
        for (index, name) in open {
            let place = known
                .iter()
                .position(|words| words.index == index && words.name == name);
            let words = match place {
                Some(place) => known.swap_remove(place),
                None => {
                    let id = OrderId(self.next_order);
                    self.next_order += 1;
                    AreaWords {
                        id,
                        index,
                        name,
                        order: None,
                    }
                }
            };
            self.words.push(words);
        }
    }

    /// Brings the full-text indexes whose words are known up to this moment, and holds them until they are released.
    pub(super) fn hold_words(&mut self) -> Result<()> {
        let known = self.editor.orders_of_files().filter(|(_, tag)| tag.full_text.is_some());
        let known: Vec<(PathBuf, String)> = known.map(|(path, tag)| (path.to_owned(), tag.name.clone())).collect();
        for words in &mut self.words {
            if !known
                .iter()
                .any(|(path, name)| *path == words.index && *name == words.name)
            {
                words.order = None;
                continue;
            }
            let order = match &mut words.order {
                Some(order) => order,
                none => none.insert(self.editor.order_to_hold(&words.index, &words.name)?),
            };
            self.editor.hold_order(order)?;
        }
        Ok(())
    }

    /// Rebuilds the index files that contain only full-text indexes ("AdsReindexFTS" in ADS's help).
    ///
    /// # Errors
    /// As [`WorkArea::reindex`].
    pub fn reindex_full_text(&mut self, settings: &Settings) -> Result<()> {
        let has_orders = |index: &Path| self.ways.iter().any(|order| order.index == index);
        let files = self.words.iter().map(|words| words.index.clone());
        let mut files: Vec<PathBuf> = files.filter(|index| !has_orders(index)).collect();
        files.dedup();
        self.reindex_files(&files, settings)
    }
}
