//! One bound statement: which lane it takes, and its way there.

use sqlparser::ast;

use super::answer::{Answer, Rows};
use super::bind::Parameters;
use super::change::{Change, as_one};
use super::error::{Error, Kind, Result};
use super::evaluate::{Session, evaluate_alone};
use super::explain;
use super::expression::Expr;
use super::procedure;
use super::select::{Query, table_name};
use super::statement::{
    CreateIndex, Definition, Select, Statement, StatementKind, TableChange, TableName, TransactionMode,
};
use super::structure;
use super::tables::Tables;
use super::value::Value;

/// A bound statement.
#[derive(Debug)]
pub(super) enum Work {
    Select(Query),
    /// `SELECT … INTO`, `CREATE TABLE … AS`.
    Into(TableName, Query),
    /// What is there already, or is not there: nothing is done.
    Nothing,
    Change(Box<Change>),
    CreateTable(Box<super::statement::CreateTable>),
    AlterTable(TableName, Vec<TableChange>),
    DropTable {
        table: TableName,
        if_exists: bool,
        keeps_files: bool,
    },
    CreateIndex(Box<CreateIndex>),
    DropIndex(TableName, sqlparser::ast::Ident),
    /// And what it is about, and the password of ADSSYS.
    CreateDatabase(TableName, String, String),
    /// The SELECT, and its text.
    CreateView(TableName, Box<Select>, String),
    /// And whether it is no fault when there is none.
    DropView(TableName, bool),
    Define(Box<Definition>),
    Transaction(Transactional),
    Procedure(String, Vec<Expr>),
    Immediate(Expr),
    Explain(Box<Work>),
}

/// What is done to the transaction.
#[derive(Debug)]
pub(super) enum Transactional {
    Begin,
    Commit,
    Rollback,
    RollbackTo(String),
    Savepoint(String),
    Release(String),
    Mode(TransactionMode),
}

impl Work {
    /// # Errors
    /// What binding finds.
    pub(super) fn bind(statement: &Statement, tables: &mut dyn Tables, parameters: &mut Parameters) -> Result<Self> {
        let alone = |expr: &sqlparser::ast::Expr, parameters: &mut Parameters| {
            super::bind::Scope::new(&[], Vec::new(), parameters).bind(expr)
        };
        // Whatever rules a table has, it can be dropped.
        let is_dropped = matches!(statement.kind, StatementKind::DropTable { .. });
        if let Some(table) = statement.kind.changed_table().filter(|_| !is_dropped) {
            tables.ready_to_write(table)?;
        }
        Ok(match &statement.kind {
            StatementKind::Select(select) => Self::select(select, tables, parameters)?,
            StatementKind::Insert(insert) => Self::Change(Box::new(Change::insert(insert, tables, parameters)?)),
            StatementKind::Update(update) => Self::Change(Box::new(Change::update(update, tables, parameters)?)),
            StatementKind::Delete(delete) => Self::Change(Box::new(Change::delete(delete, tables, parameters)?)),
            StatementKind::Merge(merge) => Self::Change(Box::new(Change::merge(merge, tables, parameters)?)),
            // A query for a table that is there already is not looked at.
            StatementKind::CreateTable(table) if table.if_not_exists && is_there(&table.name, tables) => Self::Nothing,
            StatementKind::CreateTable(table) => match &table.select {
                Some(select) => Self::Into(table.name.clone(), Query::bind_any(select, tables, parameters)?),
                None => Self::CreateTable(table.clone()),
            },
            StatementKind::AlterTable { table, changes } => Self::AlterTable(table.clone(), changes.clone()),
            StatementKind::DropTable {
                table,
                if_exists,
                keeps_files,
            } => Self::DropTable {
                table: table.clone(),
                if_exists: *if_exists,
                keeps_files: *keeps_files,
            },
            StatementKind::CreateIndex(index) => Self::CreateIndex(index.clone()),
            StatementKind::DropIndex { table, index } => Self::DropIndex(table.clone(), index.clone()),
            StatementKind::CreateDatabase {
                path,
                description,
                password,
            } => Self::CreateDatabase(path.clone(), description.clone(), password.clone()),
            StatementKind::CreateView { name, select, text } => {
                // A view that could not be asked is refused now.
                Query::bind_any(select, tables, parameters)?;
                Self::CreateView(name.clone(), select.clone(), text.clone())
            }
            StatementKind::DropView { name, if_exists } => Self::DropView(name.clone(), *if_exists),
            StatementKind::Define(definition) => Self::Define(definition.clone()),
            StatementKind::Begin => Self::Transaction(Transactional::Begin),
            StatementKind::Commit => Self::Transaction(Transactional::Commit),
            StatementKind::Rollback(None) => Self::Transaction(Transactional::Rollback),
            StatementKind::Rollback(Some(name)) => Self::Transaction(Transactional::RollbackTo(name.value.clone())),
            StatementKind::Savepoint(name) => Self::Transaction(Transactional::Savepoint(name.value.clone())),
            StatementKind::Release(name) => Self::Transaction(Transactional::Release(name.value.clone())),
            StatementKind::SetTransaction(mode) => Self::Transaction(Transactional::Mode(*mode)),
            StatementKind::Execute { name, arguments } => {
                let arguments = arguments
                    .iter()
                    .map(|argument| match (alone(argument, parameters), argument) {
                        // A procedure has no columns, and programs write names of tables in double quotes.
                        (Err(error), ast::Expr::Identifier(name))
                            if *error.kind() == Kind::NoColumn && name.quote_style == Some('"') =>
                        {
                            Ok(Expr::Value(Value::Text(name.value.clone())))
                        }
                        (bound, _) => bound,
                    });
                Self::Procedure(name.value.clone(), arguments.collect::<Result<Vec<_>>>()?)
            }
            StatementKind::ExecuteImmediate(text) => Self::Immediate(alone(text, parameters)?),
            StatementKind::Explain(inner) => Self::Explain(Box::new(Self::bind(inner, tables, parameters)?)),
            StatementKind::Script(_) => {
                return Err(Error::new(Kind::Unsupported, "A statement of a script stands alone"));
            }
        })
    }

    fn select(select: &Select, tables: &mut dyn Tables, parameters: &mut Parameters) -> Result<Self> {
        let into = super::select::only_select(&select.query.body).and_then(|only| only.into.as_ref());
        let into = into.map(|into| table_name(&into.name));
        let query = Query::bind_any(select, tables, parameters)?;
        Ok(match into {
            Some(name) => Self::Into(name, query),
            None => Self::Select(query),
        })
    }

    /// The table that is made, dropped, or given another structure.
    fn restructured(&self) -> Option<&TableName> {
        match self {
            Self::Into(table, _)
            | Self::AlterTable(table, _)
            | Self::DropTable { table, .. }
            | Self::DropIndex(table, _) => Some(table),
            Self::CreateTable(made) => Some(&made.name),
            Self::CreateIndex(index) => Some(&index.table),
            _ => None,
        }
    }

    /// Whether statements that were bound before may mean something else afterwards.
    pub(super) fn changes_structure(&self) -> bool {
        matches!(
            self,
            Self::Into(..)
                | Self::CreateTable(_)
                | Self::AlterTable(..)
                | Self::DropTable { .. }
                | Self::Nothing
                | Self::CreateIndex(_)
                | Self::DropIndex(..)
                | Self::CreateView(..)
                | Self::DropView(..)
                | Self::Define(_)
                | Self::Immediate(_)
                | Self::Procedure(..)
        )
    }

    /// # Errors
    /// What the statement finds.
    pub(super) fn run(&self, tables: &mut dyn Tables, session: &Session<'_>, allows_live: bool) -> Result<Answer> {
        if let Some(table) = self.restructured().filter(|table| !table.last().starts_with('#')) {
            tables.may_administer().map_err(|error| error.at(table.location.0))?;
        }
        match self {
            Self::Select(query) => query.run(tables, session, allows_live),
            Self::Into(name, query) => {
                let rows = query.rows(tables, session)?;
                fill(name, &rows, tables).map(Answer::Changed)
            }
            Self::Change(change) => change.run(tables, session).map(Answer::Changed),
            Self::Nothing => Ok(Answer::Done),
            Self::CreateTable(table) if table.if_not_exists && is_there(&table.name, tables) => Ok(Answer::Done),
            Self::CreateTable(table) => {
                structure::create_table(table, tables)?;
                Ok(Answer::Done)
            }
            Self::AlterTable(table, changes) => {
                structure::alter_table(table, changes, tables)?;
                Ok(Answer::Done)
            }
            Self::DropTable {
                table, if_exists: true, ..
            } if !is_there(table, tables) => Ok(Answer::Done),
            Self::DropTable { table, keeps_files, .. } => {
                let dropped = tables.drop_table(table, *keeps_files);
                dropped.map_err(|error| error.at(table.location.0))?;
                Ok(Answer::Done)
            }
            Self::CreateIndex(index) => {
                structure::create_index(index, tables)?;
                Ok(Answer::Done)
            }
            Self::DropIndex(table, index) => {
                structure::drop_index(table, index, tables)?;
                Ok(Answer::Done)
            }
            Self::CreateDatabase(path, description, password) => {
                tables.create_database(path, (description, password))?;
                Ok(Answer::Done)
            }
            Self::CreateView(name, select, text) => {
                tables.create_view(name, select, text)?;
                Ok(Answer::Done)
            }
            Self::DropView(name, is_optional) => {
                if !tables.drop_view(name)? && !is_optional {
                    return Err(Error::new(Kind::NoTable, format!("View not found: {name}")).at(name.location.0));
                }
                Ok(Answer::Done)
            }
            Self::Define(definition) => {
                tables.define(definition)?;
                Ok(Answer::Done)
            }
            Self::Transaction(what) => {
                what.run(tables)?;
                Ok(Answer::Done)
            }
            Self::Procedure(name, arguments) => {
                let arguments = arguments.iter().map(|argument| evaluate_alone(argument, session));
                procedure::run(name, &arguments.collect::<Result<Vec<_>>>()?, tables)
            }
            Self::Immediate(text) => {
                let text = evaluate_alone(text, session)?;
                super::script::immediate(&text.to_text(), tables, allows_live)
            }
            Self::Explain(work) => explain::rows(work, tables, session).map(Answer::Rows),
        }
    }
}

/// Whether there is a table of a name; one that cannot be read is there.
fn is_there(name: &TableName, tables: &mut dyn Tables) -> bool {
    match tables.snapshot_without_orders(name) {
        Ok(_) => true,
        Err(error) => *error.kind() != Kind::NoTable,
    }
}

impl Transactional {
    fn run(&self, tables: &mut dyn Tables) -> Result<()> {
        match self {
            Self::Begin => tables.begin(),
            Self::Commit => tables.commit(),
            Self::Rollback => tables.rollback(),
            Self::RollbackTo(name) => tables.rollback_to(name),
            Self::Savepoint(name) => tables.savepoint(name),
            Self::Release(name) => tables.release(name),
            Self::Mode(TransactionMode::AutocommitOff) => {
                let why = "A transaction starts with BEGIN TRANSACTION";
                Err(Error::new(Kind::Unsupported, why))
            }
            // Every statement that changes records is a transaction anyway.
            Self::Mode(TransactionMode::AutocommitOn | TransactionMode::Explicit) => Ok(()),
        }
    }
}

/// A new table with these rows.
fn fill(name: &TableName, rows: &Rows, tables: &mut dyn Tables) -> Result<u64> {
    let fields = structure::fields_of(rows, name, tables)?;
    tables.create_table(name, &fields)?;
    let count = as_one(tables, |tables| {
        let table = tables.editor(name)?;
        let mut count = 0;
        for batch in &rows.batches {
            let appended = table.append_batch(batch)?;
            count += u64::from(appended.end - appended.start);
        }
        tables.changed(name);
        Ok(count)
    });
    if count.is_err() {
        // A table that could not be filled is not left behind.
        let _ = tables.drop_table(name, false);
    }
    count
}
