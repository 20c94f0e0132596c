//! The tables of a connection, as statements see them.
//!
//! What is only read is opened when it is first named, with its production index, and read through one cache of columns for as long
//! as the file stays what it was. What is written goes through the connection's log, so that a statement is made as a whole or not
//! at all: through the work area that has the table open, whose locks it shares then, or else through an editor beside others,
//! which is closed at the end of the statement or of the transaction in which it is.

mod dictionary;
mod editing;
mod events;
mod finding;
mod firing;
mod functions;
mod gates;
mod making;
mod options;
mod reading;
mod replication;
mod shown;
mod state;
mod surroundings;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use making::Making;
pub use options::StatementOptions;
pub use reading::LastRead;
use shown::ShownViews;
pub(crate) use shown::no_trigger;
use surroundings::{FileState, program, read_only};
use tidemill_xbase::expression::Environment;
use tidemill_xbase::{
    Blank, CodePage, ColumnCache, CommitGate, Durability, FieldSpec, KeySettings, OpenMode, OpenOptions, Savepoint,
    Table, TableEditor, TableSet, Transaction, TransactionLog, production_path,
};

use super::analytical::Analytical;
use super::answer::{Answer, Rows};
use super::error::{Error, Kind, Result};
use super::evaluate::ConnectionFacts;
use super::given::GivenTables;
use super::prepared::Statements;
use super::procedure::Arguments;
use super::statement::{Definition, RuleChange, Select, TableName};
use super::stored::{self, StoredProgram};
use super::tables::{Clock, FiredChange, Snapshot, TableInUse, Tables};
use super::user_functions::UserFunctions;
use super::value::Value;
use super::watch::Watch;
use crate::dictionary::{Dictionary, ObjectKind, Rights, TableProperty};
use crate::progress::Work;
use crate::sole_use::{Changing, SoleUse};
use crate::transactions::Transactions;
use crate::work_area::open_without_index;
use crate::{Connection, ErrorCode, FieldProperty, Paths, Settings, TableType, TriggerEvent, WorkArea};

/// What the statements of a connection have open, and what they remember.
#[derive(Debug)]
pub(crate) struct StatementTables {
    open: BTreeMap<Arc<Path>, OpenTable>,
    /// Where tables were found, by their names, and the settings by which they were.
    found: HashMap<TableName, Arc<Path>>,
    paths: Paths,
    cache: Arc<ColumnCache>,
    views: HashMap<String, Select>,
    /// Tables in memory that a script was given.
    pub(crate) given: GivenTables,
    /// What the views show that a statement changes.
    shown: ShownViews,
    /// The functions of the data dictionary, once they were asked for.
    functions: Option<Arc<UserFunctions>>,
    pub(crate) known: Arc<Statements>,
    /// What a statement outside of a program's transaction does as a whole.
    statement: Option<Transaction>,
    /// Behind the editors, which give it back first: the log of such statements.
    own: Transactions,
    /// Where a statement within a program's transaction goes back to.
    point: Option<Savepoint>,
    /// The tables that were made since the transaction began, and that nothing of it has changed.
    made: HashSet<Arc<Path>>,
    pub(crate) last_autoincrement: Option<i64>,
    /// That of the run that is under way, or of the last one.
    pub(crate) run_autoincrement: Option<u32>,
    /// What the program calls itself.
    pub(crate) application: String,
    /// How many records the last statement changed, if it changes any.
    pub(crate) affected: Option<u64>,
    /// How many reads are under way, one within another.
    reads: usize,
    /// How many views and procedures are being run, whose rights count and not the user's.
    pub(crate) lent_rights: usize,
    /// How many statements were run.
    runs: u64,
    /// Cursors that were closed, the last one last, and how many of them are kept.
    #[expect(
        clippy::vec_box,
        reason = "they go to and fro between here and the open areas, and are large"
    )]
    cursors: Vec<Box<WorkArea>>,
    cached_cursors: usize,
    /// That of the table that was read last.
    codepage: Option<CodePage>,
    environment: Environment,
}

#[derive(Debug, Default)]
struct OpenTable {
    snapshot: Option<Arc<Snapshot>>,
    /// The index file, if there is one, as it was when the orders of the snapshot were asked first; `None` while they were not.
    index: Option<Option<Arc<FileState>>>,
    /// How many changes there had been when it certainly was what it is, where they are counted.
    seen: Option<u64>,
    editor: Option<TableEditor>,
    /// Where commits are kept out while the table is read.
    gate: Option<CommitGate>,
    /// Whether what is under way has changed it.
    is_changed: bool,
}

/// Whether a caller needs the orders of a table, which must then be current.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Orders {
    Asked,
    Unasked,
}

/// Bytes of decoded columns that are kept.
const CACHE: usize = 256 << 20;

impl Default for StatementTables {
    fn default() -> Self {
        Self {
            open: BTreeMap::new(),
            found: HashMap::new(),
            paths: Paths::default(),
            cache: ColumnCache::new(CACHE),
            views: HashMap::new(),
            given: GivenTables::default(),
            shown: ShownViews::default(),
            functions: None,
            known: Arc::default(),
            statement: None,
            own: Transactions::default(),
            point: None,
            made: HashSet::new(),
            last_autoincrement: None,
            run_autoincrement: None,
            application: program(),
            affected: None,
            reads: 0,
            lent_rights: 0,
            runs: 0,
            cursors: Vec::new(),
            cached_cursors: 0,
            codepage: None,
            environment: Environment::with_all_letters(CodePage::Cp1252),
        }
    }
}

/// The tables of a connection, as statements see them: what [`Connection::tables`] lends.
#[derive(Debug)]
pub struct ConnectionTables<'c> {
    connection: &'c mut Connection,
    settings: &'c Settings,
    options: &'c StatementOptions,
}

impl Connection {
    /// The tables of the folder and of those below it, as statements see them.
    pub fn tables<'c>(&'c mut self, settings: &'c Settings, options: &'c StatementOptions) -> ConnectionTables<'c> {
        if self.statements.paths != settings.paths {
            self.statements.paths.clone_from(&settings.paths);
            self.statements.found.clear();
        }
        ConnectionTables {
            connection: self,
            settings,
            options,
        }
    }
}

impl ConnectionTables<'_> {
    fn state(&mut self) -> &mut StatementTables {
        &mut self.connection.statements
    }

    /// The code page that the program is given the text of rows in.
    pub(crate) fn codepage(&self) -> CodePage {
        match (self.options.table.is_oem, self.connection.statements.codepage) {
            (false, Some(codepage)) => codepage,
            _ => CodePage::Cp1252,
        }
    }

    /// The file of a table, looked for once.
    pub(crate) fn path(&mut self, name: &TableName) -> Result<Arc<Path>> {
        if let Some(path) = self.connection.statements.found.get(name) {
            return Ok(Arc::clone(path));
        }
        let path: Arc<Path> = TableSet::home(&self.find(name)?)?.into();
        self.state().found.insert(name.clone(), Arc::clone(&path));
        Ok(path)
    }

    /// A table that is not there any more is looked for again.
    fn opened_file<T>(&mut self, name: &TableName, opened: crate::Result<T>) -> Result<T> {
        opened.map_err(|error| {
            if error.code() == ErrorCode::FileNotFound {
                self.state().found.remove(name);
            }
            error.into()
        })
    }

    /// How a statement reads a table.
    fn read_options(&self, path: &Path) -> OpenOptions {
        self.open_options(path).blank(self.options.blanks)
    }

    /// How a table is opened to be changed: what blanks are to who asks does not matter to its indexes.
    fn open_options(&self, path: &Path) -> OpenOptions {
        let names = self.connection.temporary.field_names(path);
        let options = OpenOptions::new()
            .blank(Blank::Zero)
            .access(self.options.access)
            .look_at_text(self.options.table.looks_at_text)
            .field_names(names);
        match self.options.table.codepage {
            Some(codepage) => options.codepage(codepage),
            None => options,
        }
    }

    /// How many changes of the folder's tables there have been, where they are counted and none is under way.
    fn changes(&self) -> Option<u64> {
        self.connection.sole_use.as_ref().and_then(SoleUse::changes)
    }

    fn is_under_way(&self) -> bool {
        self.connection.transactions.is_under_way() || self.connection.statements.statement.is_some()
    }

    /// The log that changes go through: that of the open transaction, or that of statements alone.
    fn log(&mut self) -> TransactionLog {
        let (settings, durability) = (self.settings, self.options.durability);
        match self.connection.transactions.is_under_way() {
            true => self.connection.transactions.opened(settings, Durability::Commit),
            false => self.connection.statements.own.opened(settings, durability),
        }
    }

    /// Whether the file alone does not say what the table holds.
    fn has_more_than_its_file(&self, path: &Path) -> bool {
        let statements = &self.connection.statements;
        // In a program's transaction its work areas may have changed it.
        self.connection.transactions.is_under_way()
            || statements.open.get(path).is_some_and(|open| open.is_changed)
            || self
                .connection
                .areas
                .iter()
                .any(|(_, area)| area.path() == path && area.options().mode == OpenMode::Exclusive)
    }

    /// Nobody else may have it open, and nothing is under way.
    fn alone(&mut self, name: &TableName, what: &str) -> Result<Arc<Path>> {
        self.connection.check_process()?;
        let path = self.path(name)?;
        if self.connection.linked_rights(&path).is_some() {
            self.connection.check_rights_at(&path, Rights::WRITE)?;
        }
        if self.is_under_way() && !self.connection.statements.made.contains(&path) {
            return Err(Error::new(Kind::Transaction, format!("{what} in a transaction")));
        }
        self.state().close(&path);
        Ok(path)
    }

    /// Closes what a statement has changed, unless a transaction goes on with it.
    fn settle(&mut self) {
        if !self.is_under_way() {
            self.state().close_editors();
        }
    }

    fn stored_procedure(&self, name: &str) -> Option<StoredProgram> {
        self.connection.dictionary.as_ref()?.procedure(name)
    }

    /// Gives a script tables, and returns those that were given before.
    pub(super) fn give(&mut self, given: GivenTables) -> GivenTables {
        std::mem::replace(&mut self.connection.statements.given, given)
    }

    fn savepoints(&mut self) -> Result<&mut Transaction> {
        self.connection.transactions.current().ok_or_else(none)
    }
}

impl Tables for ConnectionTables<'_> {
    fn snapshot(&mut self, name: &TableName) -> Result<Arc<Snapshot>> {
        self.snapshot_with(name, Orders::Asked)
    }

    fn snapshot_without_orders(&mut self, name: &TableName) -> Result<Arc<Snapshot>> {
        self.snapshot_with(name, Orders::Unasked)
    }

    fn read_last(&mut self, name: &TableName) -> Result<Option<LastRead>> {
        self.last_read(name)
    }

    fn begin_reading(&mut self) {
        self.state().begin_reading();
    }

    fn end_reading(&mut self) {
        self.state().end_reading();
    }

    fn may(&mut self, name: &TableName, wanted: Rights) -> Result<()> {
        if self.connection.dictionary.is_none() || self.state().given.get(name).is_some() {
            return Ok(());
        }
        if self.state().shown.has(name) {
            return self.may_change_view(name, wanted);
        }
        let path = self.path(name)?;
        Ok(self.connection.check_rights_at(&path, wanted)?)
    }

    fn lend_rights(&mut self, begins: bool) {
        let lent = &mut self.state().lent_rights;
        *lent = if begins { *lent + 1 } else { lent.saturating_sub(1) };
    }

    fn may_administer(&self) -> Result<()> {
        Ok(self.connection.check_administrator()?)
    }

    fn editor(&mut self, name: &TableName) -> Result<&mut TableEditor> {
        if self.connection.dictionary.is_some() && !self.state().has_in_memory(name) {
            let path = self.path(name)?;
            if !self.connection.rights_at(&path).has_any(Rights::WRITE) {
                self.connection.check_rights_at(&path, Rights::WRITE)?;
            }
        }
        let enforcement = self.connection.enforcement;
        self.state().let_commits_in();
        let editor = self.editor_of(name)?;
        editor.release_read_orders()?;
        enforcement.apply(editor);
        // What was counted before is not the statement's.
        let _ = editor.take_counted();
        Ok(editor)
    }

    fn fires(&mut self, name: &TableName, event: TriggerEvent) -> Result<bool> {
        self.fires_at(name, event)
    }

    fn change_record(&mut self, name: &TableName, change: &FiredChange<'_>) -> Result<()> {
        self.change_and_fire(name, change)
    }

    fn changed(&mut self, name: &TableName) {
        if self.state().has_in_memory(name) {
            return;
        }
        let is_under_way = self.is_under_way();
        let Ok(path) = self.path(name) else { return };
        let statements = &mut self.connection.statements;
        statements.made.remove(&path);
        if let Some(open) = statements.open.get_mut(&path) {
            open.is_changed |= is_under_way;
        }
        let counted = match self.area_to_change(&path) {
            Some(area) => area.editor_to_read().take_counted(),
            None => {
                let open = self.connection.statements.open.get_mut(&path);
                open.and_then(|open| open.editor.as_mut()?.take_counted())
            }
        };
        if let Some(value) = counted {
            let statements = &mut self.connection.statements;
            statements.last_autoincrement = Some(value.into());
            statements.run_autoincrement = Some(value);
        }
        self.settle();
    }

    fn exclusively(&mut self, name: &TableName, work: &mut dyn FnMut(&mut TableEditor) -> Result<()>) -> Result<()> {
        let mut editor = self.open_alone(name)?;
        work(&mut editor)?;
        editor.sync()?;
        Ok(())
    }

    fn reindex(&mut self, name: &TableName) -> Result<()> {
        self.connection.check_administrator()?;
        let path = self.alone(name, "An index is not rebuilt")?;
        self.connection.ready_to_write(&path)?;
        let table = Table::open(&path, &self.open_options(&path))?;
        let Some(index) = production_path(&table)? else {
            return Ok(());
        };
        let keys = KeySettings::of_index(&index, None, &table);
        let options = self.options.table.clone().exclusive();
        let read = (self.open_options(&path), &Work::default());
        let opened = open_without_index(&path, &options, self.settings, read, None);
        let mut editor = opened.map_err(|error| read_only(&path, error))?;
        Ok(editor.reindex(&index, &keys)?)
    }

    fn create_table(&mut self, name: &TableName, fields: &[FieldSpec]) -> Result<()> {
        self.make(name, fields)
    }

    fn take_in(&mut self, name: &TableName, has_primary_key: bool) -> Result<()> {
        self.take_into_dictionary(name, has_primary_key)
    }

    fn is_made_in_transaction(&mut self, name: &TableName) -> bool {
        let path = self.path(name);
        path.is_ok_and(|path| self.connection.statements.made.contains(&path))
    }

    fn drop_table(&mut self, name: &TableName, keeps_files: bool) -> Result<()> {
        if self.connection.temporary.path(&name.to_string()).is_none() {
            self.connection.check_administrator()?;
        }
        self.remove(name, keeps_files)
    }

    fn note_orders(&mut self, name: &TableName) -> Result<()> {
        self.note_orders_of(name)
    }

    fn may_drop_order(&mut self, name: &TableName, order: &str) -> Result<()> {
        self.check_order_unused(name, order)
    }

    fn alter(&mut self, name: &TableName, rules: &[RuleChange], make: &mut Making<'_>) -> Result<()> {
        self.alter_fields(name, rules, make)
    }

    fn makes_standard_tables(&self) -> bool {
        self.options.standard_tables && self.options.table.table_type == TableType::Vfp
    }

    fn made_type(&self, name: &TableName) -> TableType {
        match name.to_string().to_ascii_lowercase().ends_with(".adt") {
            true => TableType::Adt,
            false => self.options.table.table_type,
        }
    }

    fn takes_in(&mut self) -> bool {
        self.connection.has_dictionary() && self.connection.check_administrator().is_ok()
    }

    fn keeps_rules_of(&mut self, name: &TableName) -> Result<bool> {
        let path = self.path(name)?;
        Ok(self.connection.dictionary_name(&path).is_some())
    }

    fn set_rules(&mut self, name: &TableName, rules: &[RuleChange]) -> Result<()> {
        self.put_rules(name, rules)
    }

    fn has_own_names(&mut self, name: &TableName) -> bool {
        let path = self.path(name);
        path.is_ok_and(|path| self.connection.temporary.field_names(&path).is_some())
    }

    fn table_names(&mut self) -> Result<Vec<String>> {
        if let Some(dictionary) = &self.connection.dictionary {
            return Ok(dictionary.names().map(str::to_owned).collect());
        }
        let mut files = self.connection.find_files("*.dbf", self.settings)?;
        files.extend(self.connection.find_files("*.adt", self.settings)?);
        let stem = |file: &String| {
            Path::new(file)
                .file_stem()
                .map(|stem| stem.to_string_lossy().into_owned())
        };
        let mut names: Vec<String> = files.iter().filter_map(stem).collect();
        names.sort();
        // A statement finds one of two that have a name.
        names.dedup_by(|a, b| a.eq_ignore_ascii_case(b));
        Ok(names)
    }

    fn in_transaction(&self) -> bool {
        self.connection.transactions.is_under_way()
    }

    fn begin(&mut self) -> Result<()> {
        Ok(self.connection.begin_transaction(self.settings)?)
    }

    fn commit(&mut self) -> Result<()> {
        if !self.in_transaction() {
            return Err(none());
        }
        Ok(self.connection.commit_transaction()?)
    }

    fn rollback(&mut self) -> Result<()> {
        if !self.in_transaction() {
            return Err(none());
        }
        Ok(self.connection.rollback_transaction()?)
    }

    fn savepoint(&mut self, name: &str) -> Result<()> {
        self.savepoints()?;
        Ok(self.connection.create_savepoint(name)?)
    }

    fn rollback_to(&mut self, name: &str) -> Result<()> {
        self.savepoints()?;
        Ok(self.connection.rollback_to_savepoint(name)?)
    }

    fn release(&mut self, name: &str) -> Result<()> {
        self.savepoints()?;
        Ok(self.connection.release_savepoint(name)?)
    }

    fn ready_to_write(&mut self, name: &TableName) -> Result<()> {
        if self.state().has_in_memory(name) {
            return Ok(());
        }
        // A table that is not there is told of by who wants it.
        match self.path(name) {
            Ok(path) => Ok(self.connection.ready_to_write(&path)?),
            Err(_) => Ok(()),
        }
    }

    fn begin_statement(&mut self) -> Result<()> {
        if self.in_transaction() {
            let point = self.savepoints()?.savepoint()?;
            self.state().point = Some(point);
            return Ok(());
        }
        let log = self.log();
        self.state().statement = Some(log.begin()?);
        Ok(())
    }

    fn end_statement(&mut self, keeps: bool) -> Result<()> {
        self.state().let_commits_in();
        if let Some(transaction) = self.state().statement.take() {
            let ended = match keeps {
                true => transaction.commit(),
                false => transaction.rollback(),
            };
            self.state().close_editors();
            let mut areas = self.connection.areas.iter_mut().map(|(_, area)| area);
            let laid_down = areas.try_for_each(|area| match area.has_log() {
                true => area.use_log(None).and_then(|()| area.read_anew()),
                false => Ok(()),
            });
            ended?;
            return Ok(laid_down?);
        }
        let Some(point) = self.state().point.take() else {
            return Ok(());
        };
        let transaction = self.savepoints()?;
        if !keeps {
            transaction.rollback_to(point)?;
        }
        transaction.release(point)?;
        match keeps {
            true => Ok(()),
            false => Ok(self.connection.read_anew()?),
        }
    }

    fn changing(&self) -> Changing {
        SoleUse::changing(self.connection.sole_use.as_ref())
    }

    fn affected(&mut self, records: Option<u64>) {
        self.state().affected = records;
    }

    fn clock(&self) -> Clock {
        (self.options.clock)()
    }

    fn watch(&self) -> Watch {
        self.options.watch.clone()
    }

    fn environment(&self) -> &Environment {
        &self.connection.statements.environment
    }

    fn shows_deleted(&self) -> bool {
        self.settings.show_deleted
    }

    fn most_sorted(&self) -> Option<usize> {
        self.options.most_sorted.filter(|_| !self.in_transaction())
    }

    fn application(&self) -> &str {
        &self.connection.statements.application
    }

    fn set_application(&mut self, name: &str) {
        name.clone_into(&mut self.state().application);
    }

    fn views(&self) -> Vec<[String; 3]> {
        let views = self.connection.statements.views.iter();
        let views = views.map(|(name, select)| [name.clone(), select.query.to_string(), String::new()]);
        let kept = self.connection.dictionary.iter().flat_map(Dictionary::views);
        let mut views: Vec<_> = views.chain(kept).collect();
        views.sort();
        views
    }

    fn temporary_names(&self) -> Vec<String> {
        self.connection
            .temporary_tables()
            .map(|table| table.name.to_owned())
            .collect()
    }

    fn open_tables(&self) -> Vec<TableInUse> {
        self.connection.areas().map(|(_, area)| TableInUse::of(area)).collect()
    }

    fn check_sum(&mut self, name: &TableName, record: u32) -> Result<u32> {
        let path = self.path(name)?;
        let options = self.options.table.clone().read_only();
        let mut area = self.connection.area_over(&path, &options, self.settings)?;
        area.go_to(record)?;
        Ok(area.check_sum(true)?)
    }

    fn user(&self) -> &str {
        self.connection.user_name()
    }

    fn database(&self) -> &str {
        self.connection.folder().to_str().unwrap_or_default()
    }

    fn connection(&self) -> ConnectionFacts {
        ConnectionFacts {
            number: self.connection.number,
            transactions: i64::try_from(self.connection.transaction_count()).unwrap_or(i64::MAX),
            operations: i64::try_from(self.connection.statements.runs).unwrap_or(i64::MAX),
        }
    }

    fn last_autoincrement(&self) -> Option<i64> {
        self.connection.statements.last_autoincrement
    }

    fn analytical(&self) -> Option<Arc<dyn Analytical>> {
        self.connection.analytical.clone()
    }

    fn create_database(&mut self, path: &TableName, about: (&str, &str)) -> Result<()> {
        Ok(dictionary::create(self.connection, path, about, self.settings)?)
    }

    fn field_rule(&mut self, table: &str, field: &str, property: FieldProperty) -> Value {
        dictionary::shown(self.connection.field_property(table, field, property))
    }

    fn table_rule(&mut self, table: &str, property: TableProperty) -> Value {
        dictionary::shown(self.connection.table_property(table, property))
    }

    fn relations(&mut self) -> Result<Vec<[Value; 9]>> {
        Ok(dictionary::relations(self.connection)?)
    }

    fn procedure(&mut self, name: &str, arguments: &[Value]) -> Result<Option<Answer>> {
        if let Some(procedure) = self.stored_procedure(name) {
            self.connection
                .check_rights_to(ObjectKind::Procedure, name, Rights::EXECUTE)?;
            self.lend_rights(true);
            let answer = stored::run(&procedure, arguments, self);
            self.lend_rights(false);
            return answer.map(Some);
        }
        if let Some(answer) = self.event_procedure(name, arguments)? {
            return Ok(Some(answer));
        }
        let done = dictionary::procedure(self.connection, name, &Arguments(arguments), self.settings)?;
        Ok(done.then_some(Answer::Done))
    }

    fn define(&mut self, definition: &Definition) -> Result<()> {
        if !self.connection.has_dictionary() {
            let why = format!(
                "{} needs a data dictionary, and the connection is to a folder of tables",
                definition.verb()
            );
            return Err(Error::new(Kind::Unsupported, why));
        }
        Ok(dictionary::define(self.connection, definition, self.settings)?)
    }

    fn dictionary_rows(&mut self, table: &str) -> Result<Vec<Vec<Value>>> {
        Ok(dictionary::rows(self.connection, table)?)
    }

    fn functions(&mut self) -> Arc<UserFunctions> {
        self.functions_of_dictionary()
    }

    fn ready_functions(&self) {
        if let Some(functions) = &self.connection.statements.functions {
            functions.join(self.connection.transactions.log());
        }
    }

    fn procedure_shape(&mut self, name: &str) -> Result<Option<Rows>> {
        match self.stored_procedure(name) {
            Some(procedure) => stored::shape_of(&procedure, self).map(Some),
            None => Ok(None),
        }
    }

    fn show_view(&mut self, name: &TableName) -> Result<bool> {
        self.show(name)
    }

    fn hide_view(&mut self, name: &TableName) {
        self.state().shown.remove(name);
    }

    fn view(&mut self, name: &TableName) -> Result<Option<Select>> {
        self.view_called(name)
    }

    fn create_view(&mut self, name: &TableName, select: &Select, text: &str) -> Result<()> {
        let written = name.to_string();
        if self.connection.has_dictionary() {
            return Ok(self.connection.add_view(&written, "", text, self.settings)?);
        }
        let (key, views) = (written.to_ascii_lowercase(), &mut self.connection.statements.views);
        if views.contains_key(&key) {
            return Err(Error::new(Kind::Exists, format!("View already exists: {name}")));
        }
        views.insert(key, select.clone());
        Ok(())
    }

    fn drop_view(&mut self, name: &TableName) -> Result<bool> {
        let written = name.to_string();
        if self.state().views.remove(&written.to_ascii_lowercase()).is_some() {
            return Ok(true);
        }
        match self.connection.has_dictionary_view(&written) {
            true => self.connection.remove_view(&written, self.settings)?,
            false => return Ok(false),
        }
        Ok(true)
    }
}

fn none() -> Error {
    Error::new(Kind::Transaction, "No transaction is open")
}
