//! Index files and their orders: opened, made, sought in, bounded.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use tidemill_xbase::expression::{Program, RecordBytes, Value};
use tidemill_xbase::index::{IndexDialect, Key, KeyType, KeyValue, Order, OrderSpec, Tag};
use tidemill_xbase::{KeySettings, OpenMode, OrderKeys, TableCursor, build_index_with, named_expression};

use super::{AreaOrder, TableType, Way, WorkArea, open_own_index};
use crate::bookmark::Bookmark;
use crate::date_format::{DateFormat, time_of};
use crate::dictionary::Rights;
use crate::error::{Error, ErrorCode, Result};
use crate::settings::Settings;

/// An open order of a work area. No two of one area are the same, also not one after another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OrderId(pub(super) u32);

/// What kind of order to make.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct IndexOptions {
    /// Only the first record of each key.
    pub is_unique: bool,
    /// No two records may have one key (Visual FoxPro).
    pub is_candidate: bool,
    /// From the highest key to the lowest.
    pub is_descending: bool,
    /// Filled by the program.
    pub is_custom: bool,
}

/// What is looked for, as programs give it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SeekKey<'a> {
    /// Text as programs see it, or a value written as text.
    Text(&'a [u8]),
    /// A number, or a Julian day number.
    Number(f64),
    /// Bytes as the order stores them.
    Raw(&'a [u8]),
}

/// Where a seek ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SeekKind {
    /// At the first record of the key, or behind the last record.
    Hard,
    /// At the first record of the key or behind it.
    Soft,
    /// At the first record behind the key.
    Behind,
    /// At the last record of the key, or behind the last record.
    Last,
}

impl WorkArea {
    /// The open orders: those of the production index first, then as their files were opened.
    pub fn orders(&self) -> impl Iterator<Item = OrderId> {
        self.ways.iter().map(|order| order.id)
    }

    /// An open order by its name, in any case.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidIndexOrderName`].
    pub fn order_named(&self, name: &str) -> Result<OrderId> {
        let name = name.trim();
        let orders = self.ways.iter().map(|order| (order.id, &order.name));
        let words = self.words.iter().map(|words| (words.id, &words.name));
        let found = orders.chain(words).find(|(_, known)| known.eq_ignore_ascii_case(name));
        match found {
            Some((id, _)) => Ok(id),
            None => self.refuse(
                ErrorCode::InvalidIndexOrderName,
                format!("no open order is called {name:?}"),
            ),
        }
    }

    /// What the header of an order says.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidIndexHandle`] when it is not open.
    pub fn order_tag(&self, order: OrderId) -> Result<Tag> {
        let (index, name) = self.place_of(order)?;
        let mut tags = self.editor.orders_of_files();
        match tags.find(|(path, tag)| *path == index && tag.name == name) {
            Some((_, tag)) if self.is_adt() => {
                let named = |text: &str| named_expression(text, self.fields());
                let mut written = tag.clone();
                written.expression = named(&tag.expression);
                written.condition = tag.condition.as_deref().map(named);
                written.is_unique |= tag.is_candidate;
                Ok(written)
            }
            Some((_, tag)) => Ok(tag.clone()),
            None => self.refuse(ErrorCode::InvalidIndexHandle, "the index file is open no more"),
        }
    }

    /// The type of an order's keys.
    ///
    /// # Errors
    /// As [`WorkArea::order_tag`].
    pub fn key_type(&self, order: OrderId) -> Result<KeyType> {
        Ok(self.keys(order)?.key_type())
    }

    /// What the keys of an order are made of.
    pub(super) fn keys(&self, order: OrderId) -> Result<&OrderKeys> {
        let order = self.order(order)?;
        match order.way.as_ref().and_then(|way| way.order.as_ref()) {
            Some(order) => Ok(order.keys()),
            None => self.refuse(ErrorCode::InvalidIndexHandle, "the order is not open"),
        }
    }

    /// The index file of an order.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidIndexHandle`].
    pub fn index_path(&self, order: OrderId) -> Result<&Path> {
        Ok(self.place_of(order)?.0)
    }

    /// The file and the name of an order or a full-text index.
    fn place_of(&self, id: OrderId) -> Result<(&Path, &str)> {
        match self.words.iter().find(|words| words.id == id) {
            Some(words) => Ok((&words.index, &words.name)),
            None => self.order(id).map(|order| (order.index.as_path(), order.name.as_str())),
        }
    }

    /// The open index files.
    pub(crate) fn index_files(&self) -> Vec<PathBuf> {
        let orders = self.ways.iter().map(|order| &order.index);
        let mut files: Vec<PathBuf> = orders
            .chain(self.words.iter().map(|words| &words.index))
            .cloned()
            .collect();
        files.sort();
        files.dedup();
        files
    }

    /// Whether an index file opened with the table.
    pub fn is_production(&self, index: &Path) -> bool {
        self.options.table_type != TableType::Ntx
            && index.extension().is_some_and(|extension| {
                ["cdx", "mdx", "adi"]
                    .iter()
                    .any(|own| extension.eq_ignore_ascii_case(own))
            })
            && index.file_stem() == self.path().file_stem()
            && index.parent() == self.path().parent()
    }

    /// Opens an index file, and returns its orders.
    ///
    /// # Errors
    /// [`ErrorCode::IndexAlreadyOpen`]; as [`TableEditor::open_index`](tidemill_xbase::TableEditor::open_index).
    pub fn open_index(&mut self, index: &Path) -> Result<Vec<OrderId>> {
        self.write_record()?;
        if self.index_files().iter().any(|open| open == index) {
            return self.refuse(
                ErrorCode::IndexAlreadyOpen,
                format!("{} is open already", index.display()),
            );
        }
        let settings = KeySettings::of_index(index, None, &self.table);
        let opened = self.editor.open_index_with(index, &settings);
        opened.map_err(Error::of_opening)?;
        self.list_orders()?;
        Ok(self.orders_of(index))
    }

    /// The open orders of an index file.
    pub fn orders_of(&self, index: &Path) -> Vec<OrderId> {
        let is_same = |order: &&AreaOrder| order.index == index;
        self.ways.iter().filter(is_same).map(|order| order.id).collect()
    }

    /// Closes an index file.
    ///
    /// # Errors
    /// [`ErrorCode::AutoOpenIndex`] for the one that opens with the table; [`ErrorCode::InvalidIndexHandle`].
    pub fn close_index(&mut self, order: OrderId) -> Result<()> {
        let index = self.place_of(order)?.0.to_owned();
        if self.is_production(&index) {
            let why = format!("{} opens and closes with its table", index.display());
            return self.refuse(ErrorCode::AutoOpenIndex, why);
        }
        self.write_record()?;
        self.editor.close_index(&index)?;
        self.list_orders()
    }

    /// Closes every index file but the one that opens with the table.
    ///
    /// # Errors
    /// As [`WorkArea::close_index`].
    pub fn close_all_indexes(&mut self) -> Result<()> {
        self.write_record()?;
        for index in self.index_files() {
            if !self.is_production(&index) {
                self.editor.close_index(&index)?;
            }
        }
        self.list_orders()
    }

    /// Makes an order and opens it. Without a file it belongs to the index that opens with the table.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidExpression`] with the column of the fault; [`ErrorCode::IndexExists`] for the name of an order that
    /// is open; [`ErrorCode::LockFailed`] when others hold records; [`ErrorCode::CandidateNotMade`] when two records have one key,
    /// [`ErrorCode::InvalidOption`] for a candidate index of a table that is not Visual FoxPro's.
    pub fn create_index(
        &mut self,
        index: Option<&Path>,
        name: &str,
        expression: &str,
        condition: Option<&str>,
        options: &IndexOptions,
        settings: &Settings,
    ) -> Result<OrderId> {
        self.may(Rights::ALL)?;
        self.write_record()?;
        if options.is_candidate && !self.is_adt() && !self.table.header().dialect.has_candidate_indexes() {
            let why = "only tables of Visual FoxPro have candidate indexes";
            return self.refuse(ErrorCode::InvalidOption, why);
        }
        self.look_for_records()?;
        if self.is_adt() {
            let keys = self.key_settings();
            OrderKeys::compile(expression, condition, IndexDialect::Adi, self.editor.fields(), &keys)?;
        } else {
            let environment = self.environment(settings);
            for text in [Some(expression), condition].into_iter().flatten() {
                Program::compile(text, self.editor.fields(), &environment)?;
            }
        }
        let index = self.index_for(index, name);
        self.check_index_name(&index)?;
        let name = self.name_for(name, &index);
        let mut order = OrderSpec::new(&name, expression)
            .unique(options.is_unique && !self.is_adt())
            // An ADI knows no other kind of unique one (SAP's help, `AdsCreateIndex61`).
            .candidate(options.is_candidate || options.is_unique && self.is_adt())
            .descending(options.is_descending)
            .custom(options.is_custom);
        if let Some(condition) = condition.filter(|text| !text.trim().is_empty()) {
            order = order.condition(condition);
        }
        let made = self.at_length(settings, |area| area.make_order(&index, &order));
        made.map_err(Error::of_making)?;
        self.list_orders()?;
        let orders = self.orders_of(&index);
        let found = orders.into_iter().find(|id| {
            self.order(*id)
                .is_ok_and(|order| order.name.eq_ignore_ascii_case(&name))
        });
        match found {
            Some(order) => Ok(order),
            None => self.refuse(
                ErrorCode::InternalError,
                format!("order {name} was made and is not there"),
            ),
        }
    }

    /// The index file of a new order: the one that is given, or the one that opens with the table.
    pub(super) fn index_for(&self, index: Option<&Path>, name: &str) -> PathBuf {
        let production = self.path().with_extension(self.options.table_type.index_extension());
        let is_same = |index: &Path| {
            let names = [index, &production].map(|path| path.file_name().map(|name| name.to_ascii_lowercase()));
            names[0] == names[1] && index.parent() == production.parent()
        };
        match index {
            // It is made under one name, in whatever letters a program gives it.
            Some(index) if self.options.table_type != TableType::Ntx && is_same(index) && !index.exists() => production,
            Some(index) => index.to_owned(),
            None if self.options.table_type == TableType::Ntx => production.with_file_name(format!("{name}.ntx")),
            None => self
                .index_files()
                .into_iter()
                .find(|path| self.is_production(path))
                .unwrap_or(production),
        }
    }

    /// The name of a new order: the one that is given, or that of its file.
    pub(super) fn name_for(&self, name: &str, index: &Path) -> String {
        let stem = || index.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let name = if name.is_empty() {
            stem().unwrap_or_default()
        } else {
            name.to_owned()
        };
        name.to_uppercase()
    }

    /// Makes an order in an index file, which may have to be made too. An order of the same name gives way to it at the end.
    pub(super) fn make_order(&mut self, index: &Path, order: &OrderSpec) -> Result<()> {
        let is_open = self.index_files().iter().any(|open| open == index);
        let is_ntx = self.options.table_type == TableType::Ntx;
        if is_ntx || (!is_open && !self.is_production(index)) {
            self.let_go(index)?;
            // A crash must not leave an index that knows more records than the table has.
            self.editor.flush()?;
            let table = std::sync::Arc::new(self.editor.table()?);
            let (orders, settings) = (std::slice::from_ref(order), self.key_settings());
            let built = build_index_with(index, &table, orders, &settings, &self.work.build_options());
            if built.is_ok() || is_open {
                self.open_again(index, &settings)?;
            }
            built?;
        } else if !is_open {
            self.editor.create_order(order)?;
        } else {
            self.editor.replace_order_in(index, order)?;
        }
        // One of the same name is another order, which may have keys of another type.
        self.ways
            .retain(|old| old.index != index || !old.name.eq_ignore_ascii_case(order.name()));
        Ok(())
    }

    /// Lets go of an index file, so that it can be closed and opened again.
    fn let_go(&mut self, index: &Path) -> Result<()> {
        for words in self.words.iter_mut().filter(|words| words.index == index) {
            words.order = None;
        }
        for place in self.ways.iter_mut().filter(|place| place.index == index) {
            if let Some(way) = &mut place.way {
                way.order = None;
                way.cursor.set_order(None)?;
            }
        }
        self.editor.close_index(index)?;
        Ok(())
    }

    /// Opens an index file that was let go of. Its orders have the scopes that they had.
    fn open_again(&mut self, index: &Path, settings: &KeySettings) -> Result<()> {
        self.editor.open_index_with(index, settings)?;
        let tags = self.editor.orders_of_files().filter(|(path, _)| *path == index);
        let tags: Vec<String> = tags.map(|(_, tag)| tag.name.clone()).collect();
        for id in self.orders_of(index) {
            let name = self.order(id)?.name.clone();
            if !tags.contains(&name) {
                continue;
            }
            let order = self.editor.order_in(index, &name)?;
            if let Some(way) = &mut self.order_mut(id)?.way {
                way.cursor.set_order(Some(&order))?;
                (way.order, way.filter) = (Some(order), 0);
            }
            self.put_scope(id)?;
        }
        Ok(())
    }

    /// Drops an order, and with the last one its file.
    ///
    /// # Errors
    /// [`ErrorCode::LockFailed`]; as [`TableEditor::drop_order`](tidemill_xbase::TableEditor::drop_order).
    pub fn delete_index(&mut self, order: OrderId) -> Result<()> {
        self.may(Rights::ALL)?;
        self.write_record()?;
        self.drop_order(order)
    }

    fn drop_order(&mut self, order: OrderId) -> Result<()> {
        let name = self.place_of(order)?.1.to_owned();
        self.editor.drop_order(&name)?;
        self.list_orders()
    }

    /// Makes all orders of the open index files anew; text stays sorted as it was.
    ///
    /// # Errors
    /// [`ErrorCode::IndexCreationAborted`] when it is stopped, and [`ErrorCode::DuplicateKey`] when two records have one key in a
    /// candidate index: files that were not finished are as they were. [`ErrorCode::TableNotExclusive`]; as
    /// [`TableEditor::reindex`](tidemill_xbase::TableEditor::reindex).
    pub fn reindex(&mut self, settings: &Settings) -> Result<()> {
        if self.has_damaged_index {
            self.alone_to_reindex()?;
            self.remake_damaged_index(settings)?;
        }
        self.reindex_files(&self.index_files(), settings)
    }

    /// Refuses what only a table that is open exclusively allows.
    fn alone_to_reindex(&mut self) -> Result<()> {
        self.may(Rights::ALL)?;
        self.write_record()?;
        if self.options.mode != OpenMode::Exclusive {
            return self.refuse(
                ErrorCode::TableNotExclusive,
                "index tags cannot be rebuilt while others have the table open",
            );
        }
        Ok(())
    }

    /// Makes the orders of index files anew.
    pub(super) fn reindex_files(&mut self, files: &[PathBuf], settings: &Settings) -> Result<()> {
        self.alone_to_reindex()?;
        self.at_length(settings, |area| {
            files.iter().try_for_each(|index| {
                let settings = KeySettings::of_index(index, None, &area.table);
                area.let_go(index)?;
                let rebuilt = area.editor.reindex(index, &settings);
                area.open_again(index, &settings)?;
                Ok(rebuilt?)
            })
        })
    }

    /// Makes a production index anew by what its headers say, and opens it.
    fn remake_damaged_index(&mut self, settings: &Settings) -> Result<()> {
        if let Some(index) = tidemill_xbase::production_path(&self.table)? {
            let keys = KeySettings::of_index(&index, None, &self.table);
            self.at_length(settings, |area| Ok(area.editor.reindex(&index, &keys)?))?;
        }
        open_own_index(&mut self.editor)?;
        self.has_damaged_index = false;
        self.list_orders()
    }

    /// Walks an order the other way round, or again as it is.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidIndexHandle`].
    pub fn set_direction(&mut self, order: OrderId, is_reversed: bool) -> Result<()> {
        let order = self.order_mut(order)?;
        if order.is_reversed != is_reversed {
            order.is_reversed = is_reversed;
            order.scope.swap(0, 1);
        }
        Ok(())
    }

    /// Whether an order runs from the highest key to the lowest, as it is walked.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidIndexHandle`].
    pub fn is_descending(&self, order: OrderId) -> Result<bool> {
        Ok(self.order_tag(order)?.is_descending != self.order(order)?.is_reversed)
    }

    pub(crate) fn seek(
        &mut self,
        order: OrderId,
        key: SeekKey<'_>,
        kind: SeekKind,
        settings: &Settings,
    ) -> Result<bool> {
        // Its memory is that of the last one.
        let mut sought = std::mem::take(&mut self.sought);
        let made = self.put_key(order, key, settings, &mut sought);
        let found = made.and_then(|()| self.seek_in(order, &sought, kind, settings));
        self.sought = sought;
        found
    }

    /// The current record's key in an order, as it would be stored.
    ///
    /// # Errors
    /// [`ErrorCode::NoCurrentRecord`]; that of the key's expression.
    pub fn extract_key(&mut self, order: OrderId) -> Result<Vec<u8>> {
        let record = self.current()?;
        let keys = self.keys(order)?.clone();
        let bytes = RecordBytes::new(&self.table, record, &self.record.bytes);
        Ok(keys.key_whatever_the_condition(&bytes)?)
    }

    /// Whether the key of an order is NULL where the fields are that can be.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidIndexHandle`]; that of the key's expression.
    pub fn is_nullable(&self, order: OrderId) -> Result<bool> {
        let blank = self.editor.blank_record();
        Ok(self.keys(order)?.is_null(&RecordBytes::new(&self.table, 1, &blank))?)
    }

    /// Whether an order can be made of an expression.
    pub fn is_valid_key(&self, expression: &str) -> bool {
        let dialect = match self.options.table_type {
            TableType::Ntx => IndexDialect::Ntx,
            TableType::Cdx | TableType::Vfp => IndexDialect::Cdx,
            TableType::Adt => IndexDialect::Adi,
        };
        OrderKeys::compile(expression, None, dialect, self.fields(), &self.key_settings()).is_ok()
    }

    /// The key that a record of these bytes has in an order, whatever the order's condition says.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidRecordLength`]; that of the key's expression.
    pub fn key_of_bytes(&self, order: OrderId, bytes: &[u8]) -> Result<Vec<u8>> {
        if bytes.len() != self.record.bytes.len() {
            let (given, wanted) = (bytes.len(), self.record.bytes.len());
            return self.refuse(
                ErrorCode::InvalidRecordLength,
                format!("{given} bytes for a record of {wanted}"),
            );
        }
        Ok(self
            .keys(order)?
            .key_whatever_the_condition(&RecordBytes::new(&self.table, 1, bytes))?)
    }

    /// The place of the current record, in an order or in the table.
    ///
    /// # Errors
    /// [`ErrorCode::NoCurrentRecord`]; that of the key's expression.
    pub fn bookmark(&mut self, order: Option<OrderId>) -> Result<Bookmark> {
        let record = self.current()?;
        let key = order
            .map(|order| self.extract_key(order))
            .transpose()?
            .unwrap_or_default();
        Ok(Bookmark { record, key })
    }

    /// Bounds an order from above or below; the bound's own records are within.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidDataType`] for a key of another type.
    pub fn set_scope(&mut self, order: OrderId, is_top: bool, key: SeekKey<'_>, settings: &Settings) -> Result<()> {
        let bound = self.key(order, key, settings)?;
        self.bound(order, is_top, Some(bound.as_bytes().to_vec()))
    }

    /// Takes a bound away; [`ErrorCode::NoScope`] when there is none.
    ///
    /// # Errors
    /// [`ErrorCode::NoScope`], [`ErrorCode::InvalidIndexHandle`].
    pub fn clear_scope(&mut self, order: OrderId, is_top: bool) -> Result<()> {
        self.scope(order, is_top)?;
        self.bound(order, is_top, None)
    }

    /// A bound of an order as it is stored.
    ///
    /// # Errors
    /// [`ErrorCode::NoScope`] when none is set.
    pub fn scope(&self, order: OrderId, is_top: bool) -> Result<&[u8]> {
        let [top, bottom] = &self.order(order)?.scope;
        match if is_top { top } else { bottom } {
            Some(key) => Ok(key),
            None => self.refuse(ErrorCode::NoScope, "the order has no such scope"),
        }
    }

    pub(super) fn has_scope(&self, order: OrderId) -> Result<bool> {
        Ok(self.order(order)?.scope.iter().any(Option::is_some))
    }

    /// Takes both bounds of an order away.
    pub(super) fn clear_both_scopes(&mut self, order: OrderId) -> Result<()> {
        self.order_mut(order)?.scope = [None, None];
        self.put_scope(order)
    }

    fn bound(&mut self, order: OrderId, is_top: bool, key: Option<Vec<u8>>) -> Result<()> {
        let place = self.order_mut(order)?;
        let [top, bottom] = &mut place.scope;
        *(if is_top { top } else { bottom }) = key;
        self.put_scope(order)
    }

    /// Gives the scope to the order's cursor, which may have to walk the order as it is now.
    fn put_scope(&mut self, order: OrderId) -> Result<()> {
        let place = self.order(order)?;
        let [mut top, mut bottom] = place.scope.clone().map(|key| key.map(Key::raw));
        if place.is_reversed {
            std::mem::swap(&mut top, &mut bottom);
        }
        if place.way.is_none() {
            return Ok(());
        }
        self.moving(Some(order), |_, cursor, _| Ok(cursor.set_scope(top, bottom)?))
    }

    /// Puts the current record into an order that programs fill, or takes it out.
    ///
    /// # Errors
    /// As [`TableEditor::add_custom_key`](tidemill_xbase::TableEditor::add_custom_key).
    pub fn change_custom_key(&mut self, order: OrderId, is_added: bool) -> Result<()> {
        let record = self.current()?;
        self.write_record()?;
        let name = self.order(order)?.name.clone();
        if !self.order_tag(order)?.is_custom {
            let why = format!("index tag {name} is not custom; its entries follow the records");
            return self.refuse(ErrorCode::InvalidIndexHandle, why);
        }
        if is_added {
            self.editor.add_custom_key(&name, record, None)?;
        } else {
            self.editor.drop_custom_key(&name, record, None)?;
        }
        Ok(())
    }

    /// What a program looks for, as the order compares it.
    fn key(&self, order: OrderId, key: SeekKey<'_>, settings: &Settings) -> Result<Key> {
        let mut made = Key::default();
        self.put_key(order, key, settings, &mut made)?;
        Ok(made)
    }

    fn put_key(&self, order: OrderId, key: SeekKey<'_>, settings: &Settings, made: &mut Key) -> Result<()> {
        let place = self.order(order)?;
        let Some(open) = place.way.as_ref().and_then(|way| way.order.as_ref()) else {
            return self.refuse(ErrorCode::InvalidIndexHandle, "the order is not open");
        };
        let (keys, open) = (open.keys(), open.order());
        let (text, letters, folded);
        let value = match (open.key_type(), key) {
            (_, SeekKey::Raw(bytes)) if open.key_type() != KeyType::Character => {
                made.set_raw(bytes);
                return Ok(());
            }
            (_, SeekKey::Text(b"")) => {
                made.set_raw(b"");
                return Ok(());
            }
            (KeyType::Character, SeekKey::Text(bytes) | SeekKey::Raw(bytes)) => {
                letters = match key {
                    SeekKey::Text(_) => self.to_table(bytes),
                    _ => Cow::Borrowed(bytes),
                };
                let len = letters.len().min(open.tag().key_len);
                let given = letters.get(..len).unwrap_or(&letters);
                folded = match key {
                    SeekKey::Text(_) => keys.folded(given),
                    _ => Cow::Borrowed(given),
                };
                KeyValue::Character(&folded)
            }
            (KeyType::Character, SeekKey::Number(number)) => {
                text = number.to_string();
                KeyValue::Character(text.as_bytes())
            }
            (KeyType::Number, SeekKey::Number(number)) => KeyValue::Number(number),
            (KeyType::Number, SeekKey::Text(bytes)) => match std::str::from_utf8(bytes)
                .ok()
                .and_then(|text| text.trim().parse().ok())
            {
                Some(number) => KeyValue::Number(number),
                None => return self.refuse(ErrorCode::InvalidDataType, "the order has numbers, and text is sought"),
            },
            (KeyType::Date | KeyType::Timestamp, SeekKey::Number(number)) => moment_of_number(open, number)?,
            (KeyType::Date | KeyType::Timestamp, SeekKey::Text(bytes)) => {
                moment_of_text(open, &String::from_utf8_lossy(bytes), settings)?
            }
            (KeyType::Logical, SeekKey::Text(bytes)) => {
                KeyValue::Logical(matches!(bytes.first(), Some(b'1' | b'T' | b't' | b'Y' | b'y')))
            }
            (KeyType::Logical, SeekKey::Number(number)) => KeyValue::Logical(number != 0.0),
            (_, SeekKey::Raw(bytes)) => {
                made.set_raw(bytes);
                return Ok(());
            }
        };
        Ok(open.put_key(&value, made)?)
    }

    fn order(&self, id: OrderId) -> Result<&AreaOrder> {
        match self.ways.iter().find(|order| order.id == id) {
            Some(order) => Ok(order),
            None if self.words.iter().any(|words| words.id == id) => {
                let why = "a full text index has words and no order of records: it answers CONTAINS()";
                self.refuse(ErrorCode::InvalidIndexHandle, why)
            }
            None => self.refuse(ErrorCode::InvalidIndexHandle, "the order is not open"),
        }
    }

    pub(super) fn order_mut(&mut self, id: OrderId) -> Result<&mut AreaOrder> {
        let alias = &self.alias;
        let found = self.ways.iter_mut().find(|order| order.id == id);
        found.ok_or_else(|| Error::new(ErrorCode::InvalidIndexHandle, format!("{alias}: the order is not open")))
    }

    /// Brings the list of orders up to what the editor has open. Those that stay keep their place and scope.
    pub(super) fn list_orders(&mut self) -> Result<()> {
        self.list_words();
        let open: Vec<(PathBuf, String)> = self
            .editor
            .orders_of_files()
            // One of words is no order of records.
            .filter(|(_, tag)| !tag.is_full_text)
            .map(|(path, tag)| (path.to_owned(), tag.name.clone()))
            .collect();
        self.ways.retain(|order| {
            open.iter()
                .any(|(path, name)| *path == order.index && *name == order.name)
        });
        for (index, name) in open {
            if self.ways.iter().any(|order| order.index == index && order.name == name) {
                continue;
            }
            let order = self.editor.order_to_hold(&index, &name)?;
            let mut cursor = TableCursor::new(&self.table);
            cursor.set_order(Some(&order))?;
            let way = Way {
                cursor,
                order: Some(order),
                filter: 0,
            };
            let id = OrderId(self.next_order);
            self.next_order += 1;
            let is_production = self.is_production(&index);
            let at = match is_production {
                // Behind the other orders of its file.
                true => self
                    .ways
                    .iter()
                    .rposition(|order| order.index == index)
                    .map_or(0, |at| at + 1),
                false => self.ways.len(),
            };
            let order = AreaOrder {
                id,
                index,
                is_production,
                name,
                is_reversed: false,
                scope: [None, None],
                way: Some(Box::new(way)),
            };
            self.ways.insert(at, order);
        }
        Ok(())
    }
}

/// A number as a key: milliseconds since midnight in an order of times, else a Julian day with a part of a day behind the point.
#[expect(
    clippy::cast_possible_truncation,
    reason = "days of a calendar are small, and others have none"
)]
fn moment_of_number(order: &Order, number: f64) -> Result<KeyValue<'static>> {
    if order.is_of_times() {
        let ms = number.round() as i64;
        return match (0..DAY_MS).contains(&ms) {
            true => Ok(KeyValue::Timestamp(Some(ms))),
            false => Err(Error::new(
                ErrorCode::InvalidValue,
                format!("no day has {number} milliseconds"),
            )),
        };
    }
    let of_day = ((number - number.floor()) * DAY_MS as f64).round();
    Ok(moment(order, number.floor() as i64, of_day as i64))
}

/// A text as a key: a time in an order of times, otherwise a date. A time may follow the date if the keys have one.
fn moment_of_text(order: &Order, text: &str, settings: &Settings) -> Result<KeyValue<'static>> {
    if order.is_of_times() {
        return Ok(KeyValue::Timestamp(Some(time_of(text)?)));
    }
    let (day, ms) = match DateFormat::new("CCYYMMDD")?.parse(text, settings.epoch) {
        Ok(day) if text.trim().len() == 8 => (day, 0),
        _ if order.key_type() == KeyType::Timestamp => settings.date_format.parse_moment(text, settings.epoch)?,
        _ => (settings.date_format.parse(text, settings.epoch)?, 0),
    };
    Ok(moment(order, day, ms))
}

/// A Julian day number and the milliseconds of the day as a key.
fn moment(order: &Order, day: i64, ms: i64) -> KeyValue<'static> {
    let unix = Value::Date(day).unix_days();
    match order.key_type() {
        KeyType::Date => KeyValue::Date(unix),
        _ => KeyValue::Timestamp(unix.map(|days| i64::from(days) * DAY_MS + ms)),
    }
}

/// Milliseconds of a day.
const DAY_MS: i64 = 86_400_000;
