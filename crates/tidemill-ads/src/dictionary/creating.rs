//! Creates missing files of tables and orders, empty, as the dictionary describes them.

use std::path::Path;

use tidemill_xbase::{AdtType, Existing, FieldSpec, TableSet, TableWriter};

use super::administration::{invalid_name, not_completed};
use super::object::{Kind, Object, place};
use super::programs::text_or_empty;
use crate::connection::{Connection, delete_file};
use crate::error::{Error, ErrorCode, Result};
use crate::field_definitions;
use crate::settings::{Settings, today};
use crate::work_area::{IndexOptions, TableOptions, TableType, WorkArea};

impl Connection {
    /// Makes the file of a table, empty, with the fields and orders that the dictionary has of it (`AdsDDAutoCreateTable`, of which the
    /// header tells the parameters). A DBF gets the format of its index files; what Visual FoxPro alone has is refused.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidObjectName`] for a table that is not there; [`ErrorCode::DdRequestNotCompleted`] for one whose file is;
    /// [`ErrorCode::InvalidFieldDefinition`]; [`ErrorCode::IllegalCommandDuringTransaction`]; when files cannot be made.
    pub fn auto_create_table(&mut self, name: &str, settings: &Settings) -> Result<()> {
        self.check_administrator()?;
        self.outside_of_transactions("making a table of a data dictionary")?;
        let dictionary = self.dictionary_mut()?;
        dictionary.renew()?;
        let table = dictionary.table(name)?.clone();
        let path = dictionary.path(name).transpose()?.unwrap_or_default();
        if path.symlink_metadata().is_ok() {
            return Err(not_completed(&format!("{} is there already", path.display())));
        }
        let table_type = self.described_type(&table, &path)?;
        let fields = self.described_fields(&table, table_type)?;
        let options = TableOptions {
            table_type,
            ..TableOptions::default()
        };
        let mut create = options.create_options(today());
        create.existing = Existing::Refuse;
        TableWriter::create(&path, &fields, &create).and_then(TableWriter::finish)?;
        let made = self.complete_table(&table, &path, options, settings);
        if made.is_err() {
            for file in TableSet::of(&path).files().unwrap_or_default() {
                let _ = delete_file(&file);
            }
        }
        self.statements.forget_names();
        made
    }

    /// Makes an index file with the orders that the dictionary has in it, or one of its orders (`AdsDDAutoCreateIndex`, of which the header
    /// tells the parameters).
    ///
    /// # Errors
    /// [`ErrorCode::InvalidObjectName`] for a table, an index file or an order that is not there; [`ErrorCode::IndexExists`] where nothing
    /// lacks; [`ErrorCode::FileInUse`] for a table that others have open; [`ErrorCode::IllegalCommandDuringTransaction`]; as
    /// [`WorkArea::create_index`].
    pub fn auto_create_index(&mut self, table: &str, name: &str, settings: &Settings) -> Result<()> {
        self.check_administrator()?;
        self.outside_of_transactions("making an index file of a data dictionary")?;
        let dictionary = self.dictionary_mut()?;
        dictionary.renew()?;
        let number = dictionary.table(table)?.number;
        let mut keys: Vec<Object> = match dictionary.index_file(number, name) {
            Ok(index) => dictionary.keys_in(index).cloned().collect(),
            Err(_) => vec![dictionary.key(number, name).map_err(|_| invalid_name(name))?.clone()],
        };
        let mut area = self.area_alone(table, settings)?;
        keys.retain(|key| area.order_named(&key.name).is_err());
        if keys.is_empty() {
            let what = format!("all orders of {name} are there already");
            return Err(Error::new(ErrorCode::IndexExists, what));
        }
        keys.iter()
            .try_for_each(|key| self.make_order_of(&mut area, key, settings))?;
        drop(area);
        self.statements.forget_names();
        Ok(())
    }

    /// Binds a new table to the dictionary, and makes its orders.
    fn complete_table(&self, table: &Object, path: &Path, options: TableOptions, settings: &Settings) -> Result<()> {
        let dictionary = self.dictionary()?;
        let mut area = WorkArea::open(path, &options.exclusive(), settings)?;
        if area.is_adt() {
            let own = dictionary.own_name();
            area.editor()?.bind_to_dictionary(Some((&own, table.number)))?;
        }
        let keys = dictionary.children(Kind::Key, table.number).into_iter();
        keys.map(|key| self.make_order_of(&mut area, key, settings))
            .fold(Ok(()), Result::and)
    }

    fn make_order_of(&self, area: &mut WorkArea, key: &Object, settings: &Settings) -> Result<()> {
        let dictionary = self.dictionary()?;
        let mut files = dictionary.children(Kind::Index, key.parent).into_iter();
        let index = files.find(|index| key.refers_to() == Some(index.number));
        let index = index.ok_or_else(|| not_completed(&format!("the order {} has no index file", key.name)))?;
        let file = dictionary.path_of_index(index)?;
        let has = |bit| key.values.number(place::KEY_OPTIONS).unwrap_or_default() & bit != 0;
        let options = IndexOptions {
            is_unique: has(UNIQUE),
            is_candidate: has(CANDIDATE),
            is_descending: has(DESCENDING),
            is_custom: has(CUSTOM),
        };
        let condition = text_or_empty(key, place::KEY_CONDITION);
        let condition = Some(condition.as_str()).filter(|condition| !condition.is_empty());
        let file = Some(file.as_path()).filter(|file| !area.is_production(file));
        let expression = text_or_empty(key, place::KEY_EXPRESSION);
        area.create_index(file, &key.name, &expression, condition, &options, settings)?;
        Ok(())
    }

    /// What kind of table a dictionary describes.
    fn described_type(&self, table: &Object, path: &Path) -> Result<TableType> {
        let has = |file: &str, extension: &str| file.to_ascii_lowercase().ends_with(extension);
        let indexes = self.dictionary()?.children(Kind::Index, table.number);
        Ok(match () {
            () if has(&path.to_string_lossy(), ".adt") => TableType::Adt,
            () if indexes.iter().any(|index| has(&index.name, ".ntx")) => TableType::Ntx,
            () => TableType::Cdx,
        })
    }

    fn described_fields(&self, table: &Object, table_type: TableType) -> Result<Vec<FieldSpec>> {
        let mut fields = self.dictionary()?.children(Kind::Field, table.number);
        fields.sort_by_key(|field| field.info[0]);
        let spec = |field: &Object| {
            let damaged = || {
                let what = format!("{field} of {}, whose type is not known", table.name);
                Error::new(ErrorCode::InvalidFieldDefinition, what)
            };
            let bytes = field.values.get(place::FIELD_DEFINITION).ok_or_else(damaged)?;
            let mut numbers = bytes.chunks_exact(2).filter_map(|pair| pair.try_into().ok());
            let mut next = || numbers.next().map(u16::from_le_bytes).ok_or_else(damaged);
            let (number, width, decimals) = (next()?, next()?, next()?);
            let decimals = u8::try_from(decimals).map_err(|_| damaged())?;
            match table_type {
                TableType::Adt => {
                    let adt_type = AdtType::from_code(number).ok_or_else(damaged)?;
                    Ok(FieldSpec::of_adt(&field.name, adt_type, width, decimals))
                }
                _ => field_definitions::field_of_number(&field.name, number, (width, decimals)).ok_or_else(damaged),
            }
        };
        fields.into_iter().map(spec).collect()
    }
}

/// Options of orders, as in `ace.h`.
const UNIQUE: u32 = 1;
const CUSTOM: u32 = 4;
const DESCENDING: u32 = 8;
const CANDIDATE: u32 = 0x800;
