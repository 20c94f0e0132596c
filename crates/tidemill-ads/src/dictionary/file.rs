//! The file of a dictionary: its objects are read all at once, and changed together.

use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type, UInt32Type};
use arrow_array::{Array, RecordBatch};
use tidemill_xbase::index::OrderSpec;
use tidemill_xbase::{
    AdtType, CodePage, CreateOptions, Dialect, EditOptions, Existing, FieldSpec, KeySettings, LogOptions, OpenMode,
    OpenOptions, Scan, Table, TableEditor, TableWriter, Transaction, TransactionLog, Value, build_index,
};

use super::object::{Kind, Object};
use super::values::Values;
use crate::error::{Error, ErrorCode, Result};
use crate::settings::{Settings, today};

/// The fields of a dictionary with their widths, in the order of the files at hand.
const FIELDS: [(&str, AdtType, u16); 9] = [
    ("Object ID", AdtType::AutoIncrement, 4),
    ("Parent ID", AdtType::Integer, 4),
    ("Object Type", AdtType::Character, 10),
    ("Object Name", AdtType::Character, 200),
    ("Property", AdtType::Raw, 275),
    ("More Property", AdtType::Binary, 9),
    ("Info1", AdtType::Integer, 4),
    ("Info2", AdtType::Integer, 4),
    ("Comment", AdtType::Memo, 9),
];
/// Places in [`FIELDS`].
const NUMBER: usize = 0;
const PARENT: usize = 1;
const TYPE: usize = 2;
const NAME: usize = 3;
const PROPERTY: usize = 4;
const MORE: usize = 5;
const INFO: [usize; 2] = [6, 7];
const COMMENT: usize = 8;

/// The text of dictionaries is in the code page of Windows.
pub(super) const CODEPAGE: CodePage = CodePage::Cp1252;
/// What the part of a list is filled up with that is in the record.
const FILLER: u8 = 0xFF;

/// Makes a dictionary without tables.
///
/// # Errors
/// [`ErrorCode::DictionaryExists`]; when the file cannot be made.
pub(super) fn create(file: &Path) -> Result<()> {
    let fields = FIELDS.map(|(name, adt_type, width)| FieldSpec::of_adt(name, adt_type, width, 0));
    let mut options = CreateOptions::new(today());
    options.format = Dialect::Adt;
    options.codepage = CODEPAGE;
    options.memo_block_size = Some(8);
    options.is_dictionary = true;
    options.existing = Existing::Refuse;
    let made = TableWriter::create(file, &fields, &options).and_then(TableWriter::finish);
    made.map_err(|error| match error {
        tidemill_xbase::Error::Exists { .. } => Error::new(ErrorCode::DictionaryExists, error.to_string()),
        error => error.into(),
    })?;
    // As all files at hand: an index file without orders.
    let table = Table::open(file, &open_options())?;
    let index = file.with_extension(if file.extension().is_some_and(|own| own == "ADD") {
        "AI"
    } else {
        "ai"
    });
    Ok(build_index(
        index,
        &table,
        &[] as &[OrderSpec],
        &KeySettings::new(CODEPAGE),
    )?)
}

/// The objects of a dictionary, in the order of their numbers.
///
/// # Errors
/// [`ErrorCode::InvalidDictionaryFile`] for a file that is none; [`ErrorCode::CorruptTable`] for an object that is damaged; as
/// [`Table::open`].
pub(super) fn read(file: &Path) -> Result<Vec<Object>> {
    objects_of(&Arc::new(Table::open(file, &open_options())?))
}

fn open_options() -> OpenOptions {
    OpenOptions::new().codepage(CODEPAGE)
}

fn objects_of(table: &Arc<Table>) -> Result<Vec<Object>> {
    let file = table.path();
    let is_one = table.header().adt.as_ref().is_some_and(|adt| adt.is_dictionary);
    let places = FIELDS.map(|(name, ..)| table.fields().iter().position(|field| field.name == name));
    let Some(places) = places.into_iter().collect::<Option<Vec<_>>>().filter(|_| is_one) else {
        let what = format!("{} is no data dictionary", file.display());
        return Err(Error::new(ErrorCode::InvalidDictionaryFile, what));
    };
    let mut objects = Vec::new();
    for batch in table.scan(Scan::new().projection(places).system_columns(true))? {
        let batch = batch?;
        for row in 0..batch.num_rows() {
            let damaged = |what: &str| {
                let what = format!("{}: row {row} of the objects: expected {what}", file.display());
                Error::new(ErrorCode::CorruptTable, what)
            };
            objects.push(object(&batch, row).map_err(|expected| damaged(&expected))?);
        }
    }
    // A new one has the place of one that was removed.
    objects.sort_by_key(|object| object.number);
    Ok(objects)
}

/// An object by its row; what was expected where one is damaged.
fn object(batch: &RecordBatch, row: usize) -> Result<Object, String> {
    let column = |place: usize| batch.columns().get(place).filter(|column| column.is_valid(row));
    let text = |place| Some(column(place)?.as_string_opt::<i32>()?.value(row).trim_end().to_owned());
    let bytes = |place| Some(column(place)?.as_binary_opt::<i32>()?.value(row));
    let whole = |place| Some(column(place)?.as_primitive_opt::<Int32Type>()?.value(row));
    let number =
        column(NUMBER).and_then(|column| u32::try_from(column.as_primitive_opt::<Int64Type>()?.value(row)).ok());
    let record = column(FIELDS.len()).and_then(|column| Some(column.as_primitive_opt::<UInt32Type>()?.value(row)));
    let type_name: String = text(TYPE).ok_or("a type of object")?;
    let kind = Kind::of(&type_name);
    let list = [bytes(PROPERTY).unwrap_or_default(), bytes(MORE).unwrap_or_default()].concat();
    let values = match (Values::parse(&list), kind) {
        (Ok(values), _) => values,
        // What users, procedures and the like have is not looked at.
        (Err(_), Kind::Other | Kind::User | Kind::Group | Kind::Permission | Kind::Link | Kind::Package) => {
            Values::default()
        }
        (Err(expected), _) => return Err(format!("{expected} in the properties of {type_name}")),
    };
    Ok(Object {
        record: record.ok_or("the number of a record")?,
        number: number.ok_or("the number of an object")?,
        parent: whole(PARENT).unwrap_or_default().cast_unsigned(),
        kind,
        type_name,
        name: text(NAME).unwrap_or_default(),
        values,
        info: INFO.map(whole),
        comment: text(COMMENT).unwrap_or_default().trim_end_matches('\0').to_owned(),
    })
}

/// A dictionary that is being changed: its file is locked, and what is done to it is done as a whole or not at all.
#[derive(Debug)]
pub(super) struct Changing {
    /// Before the log, which it belongs to.
    editor: TableEditor,
    transaction: Transaction,
    objects: Vec<Object>,
}

impl Changing {
    /// Locks a dictionary and reads it.
    ///
    /// # Errors
    /// [`ErrorCode::LockFailed`]; as [`read`] and [`TableEditor::open`].
    pub(super) fn begin(file: &Path, settings: &Settings) -> Result<Self> {
        let log = TransactionLog::beside_tables(&LogOptions::new().lock_timeout(settings.lock_timeout));
        let options = EditOptions::new(today())
            .mode(OpenMode::Shared)
            .lock_timeout(settings.lock_timeout)
            .open(open_options())
            .production_index(false)
            .log(&log);
        let mut editor = TableEditor::open(file, &options)?;
        let transaction = log.begin()?;
        editor.lock_file()?;
        editor.refresh()?;
        let objects = objects_of(&Arc::new(editor.table()?))?;
        Ok(Self {
            editor,
            transaction,
            objects,
        })
    }

    /// The objects as they are now.
    pub(super) fn objects(&self) -> &[Object] {
        &self.objects
    }

    /// Adds an object and returns its number.
    ///
    /// # Errors
    /// [`ErrorCode::DataTooLong`] for a name or a value that has no room.
    pub(super) fn add(&mut self, object: Object) -> Result<u32> {
        let stored = Stored::of(&object)?;
        let record = self.editor.append_complete(&stored.values(&object))?;
        let number = self.editor.take_counted();
        let number = number.ok_or_else(|| Error::new(ErrorCode::CorruptTable, "the dictionary counts no objects"))?;
        self.objects.push(Object {
            record,
            number,
            ..object
        });
        Ok(number)
    }

    /// Replaces the object of a number.
    ///
    /// # Errors
    /// As [`Changing::add`].
    pub(super) fn replace(&mut self, object: &Object) -> Result<()> {
        let stored = Stored::of(object)?;
        self.editor.replace(object.record, &stored.values(object))?;
        if let Some(known) = self.objects.iter_mut().find(|known| known.number == object.number) {
            known.clone_from(object);
        }
        Ok(())
    }

    /// Removes an object and all that belong to it.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(super) fn remove(&mut self, number: u32) -> Result<()> {
        let children = self
            .objects
            .iter()
            .filter(|object| object.parent == number && number != 0);
        let children: Vec<u32> = children.map(|object| object.number).collect();
        if let Some(at) = self.objects.iter().position(|object| object.number == number) {
            let object = self.objects.remove(at);
            self.editor.delete(object.record)?;
        }
        children.into_iter().try_for_each(|child| self.remove(child))
    }

    /// Writes what was done.
    ///
    /// # Errors
    /// When it cannot be written; nothing is done then.
    pub(super) fn commit(self) -> Result<()> {
        self.transaction.commit()?;
        Ok(())
    }
}

/// What a record has of an object beside its texts.
struct Stored {
    property: Vec<u8>,
    more: Vec<u8>,
}

impl Stored {
    fn of(object: &Object) -> Result<Self> {
        let list = object.values.list();
        let too_long = || {
            Error::new(
                ErrorCode::DataTooLong,
                format!("{object}: a property has at most 65,534 bytes"),
            )
        };
        let mut property = list.ok_or_else(too_long)?;
        let width = FIELDS[PROPERTY].2.into();
        let more = property.split_off(property.len().min(width));
        property.resize(width, FILLER);
        Ok(Self { property, more })
    }

    fn values<'v>(&'v self, object: &'v Object) -> Vec<(usize, Value<'v>)> {
        let whole = |number: Option<i32>| number.map_or(Value::Null, |number| Value::Integer(number.into()));
        let memo = |is_empty, value| if is_empty { Value::Null } else { value };
        vec![
            (PARENT, Value::Integer(object.parent.into())),
            (TYPE, Value::Text(&object.type_name)),
            (NAME, Value::Text(&object.name)),
            (PROPERTY, Value::Bytes(&self.property)),
            (MORE, memo(self.more.is_empty(), Value::Bytes(&self.more))),
            (INFO[0], whole(object.info[0])),
            (INFO[1], whole(object.info[1])),
            (COMMENT, memo(object.comment.is_empty(), Value::Text(&object.comment))),
        ]
    }
}
