//! What a statement can reach: the seam between SQL and whoever holds tables open.

mod fired_change;

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use tidemill_xbase::aof::FilterOrders;
use tidemill_xbase::expression::Environment;
use tidemill_xbase::index::IndexDialect;
use tidemill_xbase::{
    Alteration, Blank, Columns, Dialect, Field, FieldSpec, KeySettings, SingleRecords, Table, TableEditor, TableIndex,
    TableOrder, production_path,
};

pub use fired_change::FiredChange;

use super::analytical::Analytical;
use super::answer::{Answer, Rows};
use super::connection_tables::LastRead;
use super::error::{Error, Kind, Result};
use super::evaluate::ConnectionFacts;
use super::statement::{Definition, RuleChange, Select, TableName};
use super::user_functions::UserFunctions;
use super::value::Value;
use super::watch::Watch;
use crate::sole_use::Changing;
use crate::{FieldProperty, Rights, TableProperty, TableType, TriggerEvent};

/// A table as a statement sees it, with its columns and its open orders.
///
/// What blanks are to statements is what they were opened as ([`Table::blank`]): values, as ADS has them, or NULL. It is shared between
/// statements for as long as the table is what it was.
#[derive(Debug)]
pub struct Snapshot {
    table: Arc<Table>,
    columns: Columns,
    /// Whether the orders are those of the production index, which is looked for and opened when one is asked for.
    has_index: bool,
    orders: OnceLock<OpenOrders>,
    environment: Environment,
    filter_orders: OnceLock<FilterOrders>,
    single_records: Mutex<SingleRecords>,
    structure: Structure,
}

/// The orders of a snapshot.
#[derive(Debug, Default)]
struct OpenOrders {
    records: Vec<TableOrder>,
    words: Vec<TableOrder>,
}

impl From<&TableIndex> for OpenOrders {
    fn from(index: &TableIndex) -> Self {
        Self {
            records: index.orders().to_vec(),
            words: index.word_orders().to_vec(),
        }
    }
}

/// What the names and types of a table's fields are, and what their blanks are, so that a statement notices when they are not those
/// that it was bound to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Structure {
    fields: u64,
    blank: Blank,
}

impl Structure {
    fn of(table: &Table) -> Self {
        Self {
            fields: hash_of(table.fields()),
            blank: table.blank(),
        }
    }

    /// As [`Structure::check`], of fields alone.
    ///
    /// # Errors
    /// As [`Structure::check`].
    pub(super) fn check_fields(self, fields: &[Field], name: &TableName) -> Result<()> {
        let fields = hash_of(fields);
        self.check(Self { fields, ..self }, name)
    }

    /// # Errors
    /// [`Kind::StructureChanged`] when the fields or their blanks are others.
    pub(super) fn check(self, now: Self, name: &TableName) -> Result<()> {
        if self == now {
            return Ok(());
        }
        let why = format!("The structure of {name} has changed since the statement was prepared");
        Err(Error::new(Kind::StructureChanged, why))
    }
}

fn hash_of(fields: &[Field]) -> u64 {
    let mut hasher = DefaultHasher::new();
    for field in fields {
        (&field.name, field.letter, field.width, field.decimals).hash(&mut hasher);
        (field.offset, field.nullable).hash(&mut hasher);
    }
    hasher.finish()
}

impl Snapshot {
    /// A table, its columns, and with `has_index` the orders of its production index. Conditions are compiled under `environment`, of
    /// which SET EXACT does not count.
    pub fn new(columns: Columns, has_index: bool, environment: Environment) -> Self {
        Self {
            table: Arc::clone(columns.table()),
            structure: Structure::of(columns.table()),
            single_records: Mutex::new(SingleRecords::new(columns.table())),
            columns,
            has_index,
            orders: OnceLock::new(),
            environment: environment.exact(false),
            filter_orders: OnceLock::new(),
        }
    }

    /// With orders that are open already, and indexes of words.
    #[must_use]
    pub fn with_orders(mut self, records: Vec<TableOrder>, words: Vec<TableOrder>) -> Self {
        self.orders = OnceLock::from(OpenOrders { records, words });
        self
    }

    pub(super) fn structure(&self) -> Structure {
        self.structure
    }

    /// The table.
    pub fn table(&self) -> &Arc<Table> {
        &self.table
    }

    /// Whether deleted records are shown, where that is `asked` for: those of an ADT never are.
    pub(super) fn shows_deleted(&self, asked: bool) -> bool {
        asked && self.table.header().dialect != Dialect::Adt
    }

    /// Its columns.
    pub fn columns(&self) -> &Columns {
        &self.columns
    }

    /// Its orders.
    ///
    /// # Errors
    /// As [`TableIndex::open`].
    pub fn orders(&self) -> Result<&[TableOrder]> {
        Ok(&self.open_orders()?.records)
    }

    /// Its indexes of words.
    ///
    /// # Errors
    /// As [`TableIndex::open`].
    pub fn word_orders(&self) -> Result<&[TableOrder]> {
        Ok(&self.open_orders()?.words)
    }

    fn open_orders(&self) -> Result<&OpenOrders> {
        if let Some(orders) = self.orders.get() {
            return Ok(orders);
        }
        let index = match self.has_index {
            // One that the header names and that is gone is no error, as in other programs.
            true => production_path(&self.table).ok().flatten(),
            false => None,
        };
        let orders = match index {
            Some(path) => {
                let settings = KeySettings::of_index(&path, None, &self.table);
                match IndexDialect::from_path(&path) {
                    // What of dBASE's and Advantage's is not known is not used.
                    Some(IndexDialect::Mdx | IndexDialect::Adi) => {
                        TableIndex::open_known(&path, &self.table, &settings)
                            .map(|(index, _)| OpenOrders::from(&index))
                            .unwrap_or_default()
                    }
                    _ => OpenOrders::from(&TableIndex::open(&path, &self.table, &settings)?),
                }
            }
            None => OpenOrders::default(),
        };
        Ok(self.orders.get_or_init(|| orders))
    }

    /// What conditions are compiled under.
    pub fn environment(&self) -> &Environment {
        &self.environment
    }

    /// The records that look-ups read.
    pub(super) fn single_records(&self) -> MutexGuard<'_, SingleRecords> {
        self.single_records.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The orders that conditions can be answered from.
    ///
    /// # Errors
    /// As [`FilterOrders::new`] and [`Snapshot::orders`].
    pub fn filter_orders(&self) -> Result<&FilterOrders> {
        if let Some(orders) = self.filter_orders.get() {
            return Ok(orders);
        }
        let orders = FilterOrders::new(&self.table, self.orders()?)?.with_words(self.word_orders()?);
        Ok(self.filter_orders.get_or_init(|| orders))
    }
}

/// A table that a program has open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableInUse {
    /// Its file.
    pub path: PathBuf,
    /// How it is locked: `CDX` or `NTX`, and the number of that (`ADS_MGMT_CDX_LOCKING`).
    pub locking: (&'static str, i64),
    /// The index files that are open with it.
    pub indexes: Vec<PathBuf>,
    /// Whether the whole table is locked.
    pub is_locked: bool,
    /// The records that are locked.
    pub records: Vec<u32>,
}

/// What the clock shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Clock {
    /// Milliseconds since 1970-01-01 00:00, local time.
    pub local: i64,
    /// How far that is before universal time, in milliseconds.
    pub utc_offset: i64,
}

/// Reads, with every table as one commit has left it.
///
/// # Errors
/// As `work`.
pub(super) fn reading<T>(tables: &mut dyn Tables, work: impl FnOnce(&mut dyn Tables) -> Result<T>) -> Result<T> {
    tables.begin_reading();
    let done = work(tables);
    tables.end_reading();
    done
}

/// What a statement can reach. Names are found without regard to case.
pub trait Tables {
    /// A table for reading, with what the open transaction has changed.
    ///
    /// # Errors
    /// [`Kind::NoTable`], [`Kind::Engine`].
    fn snapshot(&mut self, name: &TableName) -> Result<Arc<Snapshot>>;

    /// As [`Tables::snapshot`], for who does not ask its orders: they may be those of an earlier moment. Default: they are not.
    ///
    /// # Errors
    /// As [`Tables::snapshot`].
    fn snapshot_without_orders(&mut self, name: &TableName) -> Result<Arc<Snapshot>> {
        self.snapshot(name)
    }

    /// A table as it was read last, for callers that read a few records of it without a lock and check afterwards that it has not changed
    /// since. Default: there is none.
    ///
    /// # Errors
    /// As [`Tables::snapshot`].
    fn read_last(&mut self, name: &TableName) -> Result<Option<LastRead>> {
        let _ = name;
        Ok(None)
    }

    /// Begins to read: until [`Tables::end_reading`], each table that a snapshot is asked of stays what it is, as far as commits go,
    /// and they wait. Within another it only counts. Default: nothing waits.
    fn begin_reading(&mut self) {}

    /// Ends what [`Tables::begin_reading`] began.
    fn end_reading(&mut self) {}

    /// A table for writing. It is shared, so records are locked before they are changed.
    ///
    /// # Errors
    /// As [`Tables::snapshot`].
    fn editor(&mut self, name: &TableName) -> Result<&mut TableEditor>;

    /// Refuses what the user may not do with a table. Default: he may do all.
    ///
    /// # Errors
    /// [`Kind::Engine`] with the code of the server.
    fn may(&mut self, name: &TableName, wanted: Rights) -> Result<()> {
        let _ = (name, wanted);
        Ok(())
    }

    /// Begins to do something with the rights of a view or a procedure, or ends it.
    fn lend_rights(&mut self, begins: bool) {
        let _ = begins;
    }

    /// Refuses who may not change the data dictionary and the structure of tables. Default: everybody may.
    ///
    /// # Errors
    /// [`Kind::Engine`] with the code of the client.
    fn may_administer(&self) -> Result<()> {
        Ok(())
    }

    /// Whether an event fires a trigger of a table. Default: it does not.
    ///
    /// # Errors
    /// As [`Tables::snapshot`].
    fn fires(&mut self, name: &TableName, event: TriggerEvent) -> Result<bool> {
        let _ = (name, event);
        Ok(false)
    }

    /// Makes a change of a record, within what [`Tables::begin_statement`] began, and fires the triggers that it fires. Default: there are
    /// none.
    ///
    /// # Errors
    /// As [`Tables::editor`]; what the triggers say.
    fn change_record(&mut self, name: &TableName, change: &FiredChange<'_>) -> Result<()> {
        change.make(self.editor(name)?).map(drop)
    }

    /// Takes note that a statement changed a table: the next snapshot is another.
    fn changed(&mut self, name: &TableName);

    /// Does something to a table that nobody else has open meanwhile: what ALTER TABLE, CREATE INDEX and packing need.
    ///
    /// # Errors
    /// As [`Tables::snapshot`], and when others have it open.
    fn exclusively(&mut self, name: &TableName, work: &mut dyn FnMut(&mut TableEditor) -> Result<()>) -> Result<()>;

    /// Makes the production index of a table anew, also one that is damaged; nothing happens where there is none.
    ///
    /// # Errors
    /// As [`Tables::exclusively`], and when the headers of the index cannot be read.
    fn reindex(&mut self, name: &TableName) -> Result<()> {
        Err(Error::new(
            Kind::Unsupported,
            format!("The index of {name} is not rebuilt here"),
        ))
    }

    /// Makes a table without records. The names of a temporary one's fields may have up to 128 characters.
    ///
    /// # Errors
    /// [`Kind::Exists`], [`Kind::Engine`].
    fn create_table(&mut self, name: &TableName, fields: &[FieldSpec]) -> Result<()>;

    /// Takes a table that was made just now into the data dictionary, with its only unique order as the primary key where it has one.
    ///
    /// # Errors
    /// [`Kind::Unsupported`] without a dictionary: the default; what the dictionary says.
    fn take_in(&mut self, name: &TableName, has_primary_key: bool) -> Result<()> {
        let _ = has_primary_key;
        Err(Error::new(
            Kind::Unsupported,
            format!("There is no data dictionary that {name} could be taken into"),
        ))
    }

    /// Whether a table was made in the open transaction, and has not been changed in it: nothing of it is in the log then, so it can
    /// be had alone. Default: no.
    fn is_made_in_transaction(&mut self, name: &TableName) -> bool {
        let _ = name;
        false
    }

    /// Whether tables are made as SQL has them: columns can be NULL unless NOT NULL is said, and keep the names that they are given.
    /// Default: no, as ADS makes them.
    fn makes_standard_tables(&self) -> bool {
        false
    }

    /// The type that tables are made of. Default: Visual FoxPro's.
    fn made_type(&self, _: &TableName) -> TableType {
        TableType::Vfp
    }

    /// Whether the data dictionary takes in tables of who is here unless something else is said. Default: there is none.
    fn takes_in(&mut self) -> bool {
        false
    }

    /// Whether a data dictionary keeps rules for a table. Default: there is none.
    ///
    /// # Errors
    /// [`Kind::NoTable`].
    fn keeps_rules_of(&mut self, _name: &TableName) -> Result<bool> {
        Ok(false)
    }

    /// Changes the rules that the data dictionary keeps for a table, all or none; records that break one refuse it.
    ///
    /// # Errors
    /// What the dictionary says. Default: nothing happens.
    fn set_rules(&mut self, _name: &TableName, _rules: &[RuleChange]) -> Result<()> {
        Ok(())
    }

    /// Removes a table and the files that belong to it, or takes it out of its data dictionary alone.
    ///
    /// # Errors
    /// As [`Tables::snapshot`].
    fn drop_table(&mut self, name: &TableName, keeps_files: bool) -> Result<()>;

    /// Has the data dictionary know the orders that the files of a table have now. Default: there is none.
    ///
    /// # Errors
    /// When it cannot be written.
    fn note_orders(&mut self, name: &TableName) -> Result<()> {
        let _ = name;
        Ok(())
    }

    /// Refuses to drop an order that a primary key or a relation needs. Default: none does.
    ///
    /// # Errors
    /// [`Kind::Engine`] with the code of the client.
    fn may_drop_order(&mut self, name: &TableName, order: &str) -> Result<()> {
        let _ = (name, order);
        Ok(())
    }

    /// Gives a table that nobody else has open another structure, which `make` tells for its fields. Before, the rules that the data
    /// dictionary has for it become `rules`, and what they were where the structure stays as it was.
    ///
    /// # Errors
    /// As [`Tables::exclusively`] and [`Tables::set_rules`].
    fn alter(
        &mut self,
        name: &TableName,
        rules: &[RuleChange],
        make: &mut dyn FnMut(&[Field]) -> Result<Alteration>,
    ) -> Result<()>;

    /// Whether the fields of a table have names that its file has not, as those of a temporary one may. Default: no.
    fn has_own_names(&mut self, name: &TableName) -> bool {
        let _ = name;
        false
    }

    /// The names of the tables.
    ///
    /// # Errors
    /// [`Kind::Engine`] when the folder cannot be read.
    fn table_names(&mut self) -> Result<Vec<String>>;

    /// Whether a transaction is under way.
    fn in_transaction(&self) -> bool;

    /// Begins a transaction of this connection; within another it only counts, as does its end.
    ///
    /// # Errors
    /// [`Kind::Engine`].
    fn begin(&mut self) -> Result<()>;

    /// Ends the transaction and keeps what it did.
    ///
    /// # Errors
    /// [`Kind::Transaction`] without one, [`Kind::Engine`].
    fn commit(&mut self) -> Result<()>;

    /// Ends the transaction and takes back what it did.
    ///
    /// # Errors
    /// As [`Tables::commit`].
    fn rollback(&mut self) -> Result<()>;

    /// Sets a point to go back to, or moves it here.
    ///
    /// # Errors
    /// As [`Tables::commit`].
    fn savepoint(&mut self, name: &str) -> Result<()>;

    /// Takes back what was done since a point.
    ///
    /// # Errors
    /// As [`Tables::commit`], and [`Kind::Transaction`] for a point that there is not.
    fn rollback_to(&mut self, name: &str) -> Result<()>;

    /// Forgets a point.
    ///
    /// # Errors
    /// As [`Tables::rollback_to`].
    fn release(&mut self, name: &str) -> Result<()>;

    /// Takes note that a statement is about to change a table: what a process that died left of it is brought in first.
    /// Default: there is nothing.
    ///
    /// # Errors
    /// [`Kind::Engine`].
    fn ready_to_write(&mut self, _name: &TableName) -> Result<()> {
        Ok(())
    }

    /// Begins what a statement does as a whole or not at all, within the transaction or alone.
    ///
    /// # Errors
    /// [`Kind::Engine`].
    fn begin_statement(&mut self) -> Result<()>;

    /// Keeps what was done since [`Tables::begin_statement`], or takes it back.
    ///
    /// # Errors
    /// As [`Tables::commit`]; nothing is kept then.
    fn end_statement(&mut self, keeps: bool) -> Result<()>;

    /// Takes note that a statement changes something until what comes back is dropped. Default: nobody counts changes.
    fn changing(&self) -> Changing {
        Changing::uncounted()
    }

    /// Takes note of how many records the statement that has run now changed; `None` for one that changes none. Default: nobody asks.
    fn affected(&mut self, records: Option<u64>) {
        let _ = records;
    }

    /// The clock.
    fn clock(&self) -> Clock;

    /// Decides whether the statement continues. Default: it always does.
    fn watch(&self) -> Watch {
        Watch::default()
    }

    /// What expressions without a table are compiled under.
    fn environment(&self) -> &Environment;

    /// Whether records that are marked as deleted are shown. Default: they are not.
    fn shows_deleted(&self) -> bool {
        false
    }

    /// How many records a query sorts or groups here; of more it is [`Kind::Large`](super::Kind::Large). Default: any number.
    fn most_sorted(&self) -> Option<usize> {
        None
    }

    /// The user, for `USER()`. Default: none.
    fn user(&self) -> &str {
        ""
    }

    /// The database, for `DATABASE()`. Default: none.
    fn database(&self) -> &str {
        ""
    }

    /// The application, for `APPLICATIONID()`. Default: none.
    fn application(&self) -> &str {
        ""
    }

    /// The last value that a counter gave on this connection, for `LASTAUTOINC()`. Default: none.
    fn last_autoincrement(&self) -> Option<i64> {
        None
    }

    /// What the connection has done, for system variables. Default: nothing.
    fn connection(&self) -> ConnectionFacts {
        ConnectionFacts::default()
    }

    /// The views of this connection and of its data dictionary: name, statement and comment. Default: none.
    fn views(&self) -> Vec<[String; 3]> {
        Vec::new()
    }

    /// The names of the temporary tables. Default: none.
    fn temporary_names(&self) -> Vec<String> {
        Vec::new()
    }

    /// The tables that the program has open through this connection. Default: none.
    fn open_tables(&self) -> Vec<TableInUse> {
        Vec::new()
    }

    /// A check sum of a record, memos included. Default: none.
    ///
    /// # Errors
    /// [`Kind::Unsupported`] where records are not opened one by one; as [`Tables::snapshot`].
    fn check_sum(&mut self, name: &TableName, record: u32) -> Result<u32> {
        let why = format!("Record {record} of {name} has no check sum here");
        Err(Error::new(Kind::Unsupported, why))
    }

    /// Takes note of what the program calls itself. Default: nobody asks.
    fn set_application(&mut self, name: &str) {
        let _ = name;
    }

    /// Makes, changes or drops an object of the data dictionary. Default: there is none.
    ///
    /// # Errors
    /// [`Kind::Unsupported`] without a dictionary; what the dictionary says.
    fn define(&mut self, definition: &Definition) -> Result<()> {
        let _ = definition;
        Err(Error::new(Kind::Unsupported, "There is no data dictionary here"))
    }

    /// The rows of a `system` table about the data dictionary. Default: none.
    ///
    /// # Errors
    /// When the dictionary cannot be read.
    fn dictionary_rows(&mut self, table: &str) -> Result<Vec<Vec<Value>>> {
        let _ = table;
        Ok(Vec::new())
    }

    /// The functions of the data dictionary. Default: there are none.
    fn functions(&mut self) -> Arc<UserFunctions> {
        Arc::default()
    }

    /// Lets the functions of the data dictionary see what the transaction has changed that is under way.
    fn ready_functions(&self) {}

    /// A procedure of the data dictionary, as rows that it might give: none, of its columns. Default: there is none.
    ///
    /// # Errors
    /// [`Kind::Unsupported`] for one that gives no rows.
    fn procedure_shape(&mut self, name: &str) -> Result<Option<Rows>> {
        let _ = name;
        Ok(None)
    }

    /// Has a view that has triggers be a table in memory, which is what the view shows, until [`Tables::hide_view`]; its changes are what the
    /// triggers make of them. Returns whether that is so, and was not before. Default: no view has triggers.
    ///
    /// # Errors
    /// As [`Tables::view`], and what the view says.
    fn show_view(&mut self, name: &TableName) -> Result<bool> {
        let _ = name;
        Ok(false)
    }

    /// Ends what [`Tables::show_view`] began.
    fn hide_view(&mut self, name: &TableName) {
        let _ = name;
    }

    /// What a view shows; `None` where there is none of this name. Default: there is none.
    ///
    /// # Errors
    /// [`Kind::Syntax`] for a view of a data dictionary that cannot be understood.
    fn view(&mut self, name: &TableName) -> Result<Option<Select>> {
        let _ = name;
        Ok(None)
    }

    /// Makes a view, in the data dictionary where the connection is to one; `text` is its SELECT as it is written. Default: it is refused.
    ///
    /// # Errors
    /// [`Kind::Exists`]; as [`Tables::view`]; when the dictionary cannot be written.
    fn create_view(&mut self, name: &TableName, select: &Select, text: &str) -> Result<()> {
        let _ = (select, text);
        Err(Error::new(
            Kind::Unsupported,
            format!("There are no views here: {name}"),
        ))
    }

    /// Removes a view; returns whether there was one. Default: there is none.
    ///
    /// # Errors
    /// When the dictionary cannot be written.
    fn drop_view(&mut self, name: &TableName) -> Result<bool> {
        let _ = name;
        Ok(false)
    }

    /// A table of `system` that only the connection knows. Default: none.
    ///
    /// # Errors
    /// What the connection says.
    fn system(&mut self, name: &str) -> Result<Option<Rows>> {
        let _ = name;
        Ok(None)
    }

    /// Makes a data dictionary.
    ///
    /// # Errors
    /// [`Kind::Unsupported`] where none is made; what the connection says.
    fn create_database(&mut self, path: &TableName, (description, password): (&str, &str)) -> Result<()> {
        let _ = (description, password);
        Err(Error::new(
            Kind::Unsupported,
            format!("No data dictionary is made here: {path}"),
        ))
    }

    /// What a data dictionary says of a field; NULL where it says nothing. Default: there is none.
    fn field_rule(&mut self, table: &str, field: &str, property: FieldProperty) -> Value {
        let (_, _, _) = (table, field, property);
        Value::Null
    }

    /// What a data dictionary says of a table; NULL where it says nothing. Default: there is none.
    fn table_rule(&mut self, table: &str, property: TableProperty) -> Value {
        let (_, _) = (table, property);
        Value::Null
    }

    /// The relations of a data dictionary: the columns of `system.relations`. Default: there are none.
    ///
    /// # Errors
    /// What the connection says.
    fn relations(&mut self) -> Result<Vec<[Value; 9]>> {
        Ok(Vec::new())
    }

    /// A procedure that only the connection knows. Default: none.
    ///
    /// # Errors
    /// What the connection says.
    fn procedure(&mut self, name: &str, arguments: &[Value]) -> Result<Option<Answer>> {
        let (_, _) = (name, arguments);
        Ok(None)
    }

    /// The engine for joins, subqueries and windows. Default: none.
    fn analytical(&self) -> Option<Arc<dyn Analytical>> {
        None
    }
}
