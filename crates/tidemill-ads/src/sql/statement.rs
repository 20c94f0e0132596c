//! What a text says, before any table is looked at.
//!
//! Queries and expressions are sqlparser's trees, with the hints that it does not know beside them; everything else is small enough
//! to be said here in ADS's own terms.

use std::fmt;

use sqlparser::ast::{Expr, Ident, Query};
use sqlparser::tokenizer::Location;
use tidemill_xbase::full_text::FullTextOptions;

use crate::{IndexOptions, Rights, TriggerEvent, TriggerMoment};

/// One statement of a text.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    /// What it says.
    pub kind: StatementKind,
    /// Where it begins.
    pub location: Location,
}

/// What a statement says.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum StatementKind {
    /// `SELECT …`, also several joined by `UNION`.
    Select(Box<Select>),
    /// `INSERT INTO …`.
    Insert(Box<Insert>),
    /// `UPDATE …`.
    Update(Box<Update>),
    /// `DELETE FROM …`.
    Delete(Box<Delete>),
    /// `MERGE …`.
    Merge(Box<Merge>),
    /// `CREATE TABLE …`.
    CreateTable(Box<CreateTable>),
    /// `ALTER TABLE …`.
    AlterTable {
        /// The table.
        table: TableName,
        /// What is done to it, in this order.
        changes: Vec<TableChange>,
    },
    /// `DROP TABLE [IF EXISTS] … [FROM DATABASE [NO_DELETE]]`.
    DropTable {
        /// The table.
        table: TableName,
        /// Whether it is no fault when there is none.
        if_exists: bool,
        /// Whether it is only taken out of its data dictionary.
        keeps_files: bool,
    },
    /// `CREATE INDEX …`.
    CreateIndex(Box<CreateIndex>),
    /// `DROP INDEX table.order`.
    DropIndex {
        /// The table.
        table: TableName,
        /// The order.
        index: Ident,
    },
    /// `CREATE DATABASE …`.
    CreateDatabase {
        /// The file of the data dictionary.
        path: TableName,
        /// `DESCRIPTION …`: what it is about; empty for nothing.
        description: String,
        /// `PASSWORD …`: that of ADSSYS; empty for none.
        password: String,
    },
    /// `CREATE VIEW …`.
    CreateView {
        /// Its name.
        name: TableName,
        /// What it shows.
        select: Box<Select>,
        /// The SELECT as it is written.
        text: String,
    },
    /// `DROP VIEW [IF EXISTS] …`.
    DropView {
        /// Its name.
        name: TableName,
        /// Whether it is no fault when there is none.
        if_exists: bool,
    },
    /// What makes, changes or drops an object of a data dictionary.
    Define(Box<Definition>),
    /// `BEGIN TRANSACTION`.
    Begin,
    /// `COMMIT WORK`.
    Commit,
    /// `ROLLBACK WORK`, or back to a savepoint.
    Rollback(Option<Ident>),
    /// `SAVEPOINT name`.
    Savepoint(Ident),
    /// `RELEASE SAVEPOINT name`.
    Release(Ident),
    /// `SET TRANSACTION AUTOCOMMIT_ON`, `AUTOCOMMIT_OFF`, `EXPLICIT`.
    SetTransaction(TransactionMode),
    /// `EXECUTE PROCEDURE name( … )`.
    Execute {
        /// The procedure.
        name: Ident,
        /// Its arguments.
        arguments: Vec<Expr>,
    },
    /// `EXECUTE IMMEDIATE text`.
    ExecuteImmediate(Box<Expr>),
    /// `EXPLAIN …`.
    Explain(Box<Statement>),
    /// A statement of a script.
    Script(Box<Script>),
}

impl StatementKind {
    /// The table whose records or structure it changes; `None` for one that changes no table, and for scripts.
    pub fn changed_table(&self) -> Option<&TableName> {
        match self {
            Self::Insert(insert) => Some(&insert.table),
            Self::Update(update) => Some(&update.table),
            Self::Delete(delete) => Some(&delete.table),
            Self::Merge(merge) => Some(&merge.table),
            Self::CreateIndex(index) => Some(&index.table),
            Self::AlterTable { table, .. } | Self::DropIndex { table, .. } | Self::DropTable { table, .. } => {
                Some(table)
            }
            _ => None,
        }
    }
}

/// What makes, changes or drops an object of a data dictionary.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Definition {
    /// `CREATE TRIGGER …`, `ALTER TRIGGER …`.
    Trigger(TriggerDefinition),
    /// `DROP TRIGGER table.name`.
    DropTrigger {
        /// The table; empty where none is said.
        table: String,
        /// The trigger.
        name: String,
    },
    /// `CREATE PROCEDURE …`, `ALTER PROCEDURE …`.
    Procedure(ProcedureDefinition),
    /// `DROP PROCEDURE name`.
    DropProcedure(String),
    /// `CREATE FUNCTION …`, `ALTER FUNCTION …`.
    Function(FunctionDefinition),
    /// `DROP FUNCTION name`.
    DropFunction(String),
    /// `CREATE PACKAGE name [DESCRIPTION text]`.
    Package {
        /// Its name.
        name: String,
        /// What it is about; empty for nothing.
        comment: String,
    },
    /// `DROP PACKAGE name`.
    DropPackage(String),
    /// `GRANT … ON … TO …`, `REVOKE … ON … FROM …`.
    Rights {
        /// Those that are granted or revoked; all that the object has for `ALL`.
        rights: Option<Rights>,
        /// The table, view, procedure or function.
        object: String,
        /// The user or group.
        grantee: String,
        /// Whether they are granted.
        grants: bool,
    },
    /// `CREATE INDEX … IN FILE file`, `sp_CreateIndex` with a file.
    IndexInFile(IndexInFile),
}

/// An index tag in an index file that is not the one that opens with its table by itself.
#[derive(Debug, Clone, PartialEq)]
pub struct IndexInFile {
    /// The table.
    pub table: String,
    /// The index file, with or without an extension.
    pub file: String,
    /// Its name.
    pub name: String,
    /// What its keys are made of; of the words of a field, its name.
    pub expression: String,
    /// Which records it has; empty for all.
    pub condition: String,
    /// What kind of order it is.
    pub options: IndexOptions,
    /// How the words are made whose entries it has.
    pub words: Option<FullTextOptions>,
    /// Whether the table may be none of the dictionary. Nothing opens the file by itself then.
    pub may_be_free: bool,
}

impl Definition {
    /// What it does, in the words of the statement.
    pub fn verb(&self) -> &'static str {
        match self {
            Self::Trigger(_) => "CREATE TRIGGER",
            Self::DropTrigger { .. } => "DROP TRIGGER",
            Self::Procedure(_) => "CREATE PROCEDURE",
            Self::DropProcedure(_) => "DROP PROCEDURE",
            Self::Function(_) => "CREATE FUNCTION",
            Self::DropFunction(_) => "DROP FUNCTION",
            Self::Package { .. } => "CREATE PACKAGE",
            Self::DropPackage(_) => "DROP PACKAGE",
            Self::Rights { grants: true, .. } => "GRANT",
            Self::Rights { .. } => "REVOKE",
            Self::IndexInFile(_) => "CREATE INDEX … IN FILE",
        }
    }
}

/// `[CREATE | ALTER] TRIGGER name ON table …`.
#[derive(Debug, Clone, PartialEq)]
pub struct TriggerDefinition {
    /// Its name.
    pub name: String,
    /// The table.
    pub table: String,
    /// What fires it.
    pub event: TriggerEvent,
    /// When.
    pub moment: TriggerMoment,
    /// What it is written in.
    pub body: Body,
    /// `PRIORITY n`. Default: 1.
    pub priority: u32,
    /// What `NO VALUES`, `NO MEMOS` and `NO TRANSACTION` leave of the options.
    pub options: u32,
    /// `ALTER`: whether it replaces the one of its name.
    pub replaces: bool,
}

/// `[CREATE | ALTER] PROCEDURE name ( parameters ) …`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcedureDefinition {
    /// Its name.
    pub name: String,
    /// What it takes, as in `AdsCreateTable`: `a,INTEGER;b,CHAR,20;`.
    pub input: String,
    /// The columns that it gives, in the same way.
    pub output: String,
    /// What it is written in.
    pub body: Body,
    /// `ALTER`: whether it replaces the one of its name.
    pub replaces: bool,
}

/// `[CREATE | ALTER] FUNCTION name ( parameters ) RETURNS type …`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FunctionDefinition {
    /// Its name.
    pub name: String,
    /// How many parameters it takes, and these as they are written.
    pub parameters: (usize, String),
    /// The type of what it returns, as it is written.
    pub returns: String,
    /// What stands between BEGIN and END.
    pub script: String,
    /// `DESCRIPTION …`; empty for none.
    pub comment: String,
    /// `ALTER`: whether it replaces the one of its name.
    pub replaces: bool,
}

/// What an object of a data dictionary is written in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    /// `BEGIN … END`: what stands between them.
    Script(String),
    /// `FUNCTION … IN …`.
    Library {
        /// The function.
        function: String,
        /// The file, object or assembly.
        library: String,
        /// Whether it is a COM object or a .NET assembly.
        is_com: bool,
    },
}

/// A statement that only scripts have.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Script {
    /// `DECLARE name type, name CURSOR [AS SELECT …]`.
    Declare(Vec<Declaration>),
    /// `name = value`, `SET name = value`.
    Assign {
        /// The variable.
        variable: Ident,
        /// Its new value.
        value: Expr,
    },
    /// `IF … THEN … ELSEIF … ELSE … END [IF]`.
    If {
        /// Conditions and what is done where the first of them holds.
        branches: Vec<(Condition, Vec<Statement>)>,
        /// What is done where none does.
        otherwise: Vec<Statement>,
    },
    /// `WHILE … DO … END [WHILE]`.
    While {
        /// As long as this holds.
        condition: Condition,
        /// What is done.
        body: Vec<Statement>,
    },
    /// `OPEN cursor [AS SELECT …]`.
    Open {
        /// The cursor.
        cursor: Ident,
        /// What it is to show from now on.
        select: Option<Box<Statement>>,
    },
    /// `CLOSE cursor`.
    Close(Ident),
    /// `FETCH cursor`.
    Fetch(Ident),
    /// `TRY … CATCH … FINALLY … END [TRY]`.
    Try {
        /// What is tried.
        body: Vec<Statement>,
        /// The class that is caught (`None`: all) and what is done then.
        catches: Vec<(Option<Ident>, Vec<Statement>)>,
        /// What is done in any case.
        finally: Vec<Statement>,
    },
    /// `RAISE class( code, text )`, or the caught one again.
    Raise(Option<Box<(Ident, Expr, Expr)>>),
    /// `RETURN [value]`.
    Return(Option<Expr>),
    /// `LEAVE`: out of the loop.
    Leave,
    /// `CONTINUE`: on with the loop.
    Continue,
    /// `CACHE PREPARE ON | OFF | DEFAULT`: without effect, as bound statements are kept anyway.
    CachePrepare,
}

/// A condition of a script.
#[derive(Debug, Clone, PartialEq)]
pub enum Condition {
    /// An expression.
    Expression(Box<Expr>),
    /// `FETCH cursor`: whether there was another row.
    Fetch(Ident),
    /// `NOT FETCH cursor`.
    NotFetch(Ident),
}

/// What `DECLARE` makes.
#[derive(Debug, Clone, PartialEq)]
pub enum Declaration {
    /// A variable.
    Variable {
        /// Its name.
        name: Ident,
        /// Its type.
        type_of: TypeName,
    },
    /// A cursor.
    Cursor {
        /// Its name.
        name: Ident,
        /// What it shows.
        select: Option<Box<Statement>>,
    },
}

/// A query and the hints that were written in it.
#[derive(Debug, Clone, PartialEq)]
pub struct Select {
    /// The query.
    pub query: Box<Query>,
    /// `{static}`: the answer does not follow the table.
    pub is_static: bool,
    /// `START AT`: the first row of the answer, counted from 1.
    pub start_at: Option<u64>,
}

/// `INSERT INTO table [(columns)] …`.
#[derive(Debug, Clone, PartialEq)]
pub struct Insert {
    /// The table.
    pub table: TableName,
    /// The columns; none are all.
    pub columns: Vec<Ident>,
    /// The rows.
    pub source: InsertSource,
    /// `WITH DELETE`: the new records are marked as deleted.
    pub is_deleted: bool,
}

/// Where inserted rows come from.
#[derive(Debug, Clone, PartialEq)]
pub enum InsertSource {
    /// `VALUES (…), (…)`; `None` is `DEFAULT`.
    Values(Vec<Vec<Option<Expr>>>),
    /// `SELECT …`.
    Select(Box<Select>),
    /// `DEFAULT VALUES`.
    Default,
}

/// `UPDATE table SET column = value … [WHERE …]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Update {
    /// The table.
    pub table: TableName,
    /// The name that the table has in the statement.
    pub alias: Option<Ident>,
    /// Columns and their values.
    pub assignments: Vec<(Ident, Expr)>,
    /// `FROM …`: other tables.
    pub from: Option<Vec<sqlparser::ast::TableWithJoins>>,
    /// Which records.
    pub selection: Option<Expr>,
    /// `WITH DELETE`, `WITH RECALL`: what becomes of the mark of deletion.
    pub deletion: Option<bool>,
}

/// `DELETE FROM table [FROM …] [WHERE …]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Delete {
    /// The table.
    pub table: TableName,
    /// The name that the table has in the statement.
    pub alias: Option<Ident>,
    /// `FROM …`: another table, which it is joined with.
    pub from: Option<Vec<sqlparser::ast::TableWithJoins>>,
    /// Which records.
    pub selection: Option<Expr>,
}

/// `MERGE [INTO] table [USING source] ON … WHEN …`.
#[derive(Debug, Clone, PartialEq)]
pub struct Merge {
    /// The table.
    pub table: TableName,
    /// The name that the table has in the statement.
    pub alias: Option<Ident>,
    /// `USING table [alias]`.
    pub source: Option<(TableName, Option<Ident>)>,
    /// When rows match.
    pub on: Expr,
    /// Columns and their values for records that match.
    pub update: Option<Vec<(Ident, Expr)>>,
    /// Columns and their values where none does.
    pub insert: Option<(Vec<Ident>, InsertSource)>,
}

/// `CREATE TABLE [IF NOT EXISTS] name ( columns )`.
#[derive(Debug, Clone, PartialEq)]
pub struct CreateTable {
    /// Its name.
    pub name: TableName,
    /// Whether nothing is done when there is one of this name.
    pub if_not_exists: bool,
    /// Its columns.
    pub columns: Vec<ColumnSpec>,
    /// `PRIMARY KEY`: name and columns.
    pub primary_key: Option<(Option<Ident>, Vec<IndexColumn>)>,
    /// `UNIQUE`: names and columns.
    pub unique: Vec<(Option<Ident>, Vec<IndexColumn>)>,
    /// `AS SELECT …`.
    pub select: Option<Box<Select>>,
    /// `IN DATABASE` or `AS FREE TABLE`: whether the data dictionary takes it in; `None` where nothing is said.
    pub in_database: Option<bool>,
}

impl CreateTable {
    pub(super) fn add_key(&mut self, key: (Option<Ident>, Vec<IndexColumn>), is_primary: bool) {
        match is_primary {
            true => self.primary_key = Some(key),
            false => self.unique.push(key),
        }
    }
}

/// A column that is made.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnSpec {
    /// Its name.
    pub name: Ident,
    /// Its type.
    pub type_of: TypeName,
    /// `NULL` or `NOT NULL`: whether it can hold NULL, in tables of Visual FoxPro; `None` where nothing is said.
    pub nullable: Option<bool>,
    /// `NOCPTRANS`: bytes, not text.
    pub binary: bool,
    /// `CONSTRAINT …` and `DEFAULT …`.
    pub rules: Vec<(ColumnRule, String)>,
}

/// What a data dictionary keeps for a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnRule {
    /// `CONSTRAINT NOT NULL`.
    NotNull,
    /// `CONSTRAINT MINIMUM`.
    Minimum,
    /// `CONSTRAINT MAXIMUM`.
    Maximum,
    /// `CONSTRAINT ERROR MESSAGE`.
    Message,
    /// `DEFAULT`.
    Default,
}

/// A type as it is written: `Char(20)`, `Numeric(10,2)`.
#[derive(Debug, Clone, PartialEq)]
pub struct TypeName {
    /// The name.
    pub name: Ident,
    /// Length or digits.
    pub length: Option<u64>,
    /// Digits behind the point.
    pub decimals: Option<u64>,
}

/// What a data dictionary is to keep for a table.
#[derive(Debug, Clone, PartialEq)]
pub struct RuleChange {
    /// The column; empty for the primary key.
    pub column: Ident,
    /// Its rule; `None` for the primary key, which is let go.
    pub rule: Option<ColumnRule>,
    /// What it becomes; `None` for nothing.
    pub value: Option<String>,
}

/// What `ALTER TABLE` does.
#[derive(Debug, Clone, PartialEq)]
pub enum TableChange {
    /// `ADD [COLUMN]`, at a position of the new structure, counted from 1.
    Add(ColumnSpec, Option<u64>),
    /// `ALTER [COLUMN] old new type`, and the position that it moves to, counted from 1.
    Alter(Ident, ColumnSpec, Option<u64>),
    /// `DROP [COLUMN]`.
    Drop(Ident),
    /// `ALTER [COLUMN] column DROP constraint`.
    DropRule(Ident, ColumnRule),
    /// `DROP [CONSTRAINT] PRIMARY KEY`: the index stays.
    DropPrimaryKey,
}

/// `CREATE [UNIQUE] INDEX name ON table ( columns ) [CANDIDATE] [NOTDELETED] [CONTENT …] [IN FILE file]`.
#[derive(Debug, Clone, PartialEq)]
pub struct CreateIndex {
    /// Its name.
    pub name: Ident,
    /// The table.
    pub table: TableName,
    /// What its keys are made of.
    pub columns: Vec<IndexColumn>,
    /// Whether each key is there once.
    pub is_unique: bool,
    /// Whether a second record with a key is refused.
    pub is_candidate: bool,
    /// Whether records that are marked as deleted are left out.
    pub is_without_deleted: bool,
    /// Whether records are left out that are NULL in one of the columns, as a UNIQUE of SQL has it.
    pub is_without_null: bool,
    /// `CONTENT`: the words of the column, and how they are made.
    pub words: Option<Box<FullTextOptions>>,
    /// The index file; none is the one that opens with the table.
    pub file: Option<String>,
}

/// A column of an index.
#[derive(Debug, Clone, PartialEq)]
pub struct IndexColumn {
    /// The column.
    pub name: Ident,
    /// `DESC`.
    pub is_descending: bool,
}

/// `SET TRANSACTION …`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransactionMode {
    /// Each statement that changes something is a transaction.
    AutocommitOn,
    /// A transaction begins with the first change and ends when it is told to.
    AutocommitOff,
    /// As it is told. Default.
    Explicit,
}

/// The name of a table as it is written: `orders`, `orders.dbf`, `system.tables`, a path in quotes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TableName {
    /// What stands between the points.
    pub parts: Vec<String>,
    /// Where it stands.
    pub location: Place,
}

/// A place that does not count when names are compared.
#[derive(Debug, Clone, Copy)]
pub struct Place(pub Location);

impl PartialEq for Place {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Place {}

impl std::hash::Hash for Place {
    fn hash<H: std::hash::Hasher>(&self, _: &mut H) {}
}

impl TableName {
    /// A name without a place.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            parts: vec![name.into()],
            location: Place(Location::empty()),
        }
    }

    /// The part behind the last point that is not within quotes.
    pub fn last(&self) -> &str {
        self.parts.last().map_or("", String::as_str)
    }

    /// The name of a table of the dictionary `system`, in small letters.
    pub fn system(&self) -> Option<String> {
        match self.parts.as_slice() {
            [schema, name] if schema.eq_ignore_ascii_case("system") => Some(name.to_ascii_lowercase()),
            _ => None,
        }
    }
}

impl fmt::Display for TableName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.parts.join("."))
    }
}
