//! SQL statements: prepared, given values, run. What a SELECT gives is a handle as a table's.

use std::borrow::Cow;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tidemill_ads::sql::{StatementOptions, Value, without_comments};
use tidemill_ads::{AreaId, ErrorCode, Executed, Result, TableType};
use tidemill_xbase::{Durability, OpenMode};

use crate::call::{call, refuse};
use crate::callback::watch;
use crate::constants::*;
use crate::handle::{self, Handle, Object, Session, entered, is_statement, lock, session, with_any, with_connection};
use crate::pointers::{Bytes, Field, Name, Out, WideName, text_of};
use crate::settings::settings;
use crate::table::sorted_by_bytes;

/// A statement of a connection.
#[derive(Debug)]
pub(crate) struct Statement {
    session: Arc<Mutex<Session>>,
    text: Option<String>,
    /// The names of its parameters in capitals; `None` for `?`.
    names: Vec<Option<String>>,
    values: Vec<Option<Value>>,
    options: StatementOptions,
    cursors: Vec<AreaId>,
    /// The cursor that what is prepared gave last.
    current: Option<AreaId>,
    /// How many records it changed last.
    changed: u64,
    /// The last value of an autoincrement field that it gave out; 0 for none.
    pub(crate) last_autoincrement: u32,
    /// How many seconds it may take; 0 is what the connection says.
    timeout: u32,
}

impl Statement {
    fn new(session: Arc<Mutex<Session>>) -> Self {
        let mut options = StatementOptions {
            // What is written record by record is not brought to the disk at once either.
            durability: Durability::None,
            ..StatementOptions::default()
        };
        options.table.is_oem = lock(&session).opening.char_type == ADS_OEM;
        Self {
            session,
            text: None,
            names: Vec::new(),
            values: Vec::new(),
            options,
            cursors: Vec::new(),
            current: None,
            changed: 0,
            last_autoincrement: 0,
            timeout: 0,
        }
    }

    /// Does something with its connection.
    pub(crate) fn with_session<T>(&self, work: impl FnOnce(&mut Session) -> T) -> T {
        work(&mut entered(&self.session))
    }

    fn prepare(&mut self, text: String) -> Result<()> {
        let prepared = entered(&self.session)
            .connection
            .prepare(&text, &settings(), &self.options)?;
        self.names = prepared.parameters().to_vec();
        self.values = vec![None; self.names.len()];
        self.text = Some(text);
        self.current = None;
        Ok(())
    }

    /// Gives a parameter a value.
    pub(crate) fn set(&mut self, parameter: Field, value: Value) -> Result<()> {
        *self.slot(parameter)? = Some(value);
        Ok(())
    }

    /// The value of a parameter.
    fn slot(&mut self, parameter: Field) -> Result<&mut Option<Value>> {
        let count = self.values.len();
        let place = match parameter.parameter()? {
            Parameter::Number(number) => number.checked_sub(1).filter(|place| *place < count),
            Parameter::Name(name) => {
                let name = name.trim_start_matches(':');
                let is_it =
                    |known: &Option<String>| known.as_deref().is_some_and(|known| known.eq_ignore_ascii_case(name));
                let found = self.names.iter().position(is_it);
                if found.is_none() {
                    let what = format!("the statement has no parameter {name:?}");
                    return refuse(ErrorCode::InvalidParameterName, what);
                }
                found
            }
        };
        match place.and_then(|place| self.values.get_mut(place)) {
            Some(slot) => Ok(slot),
            None => refuse(
                ErrorCode::InvalidParameterNumber,
                format!("the statement has {count} parameters"),
            ),
        }
    }

    /// Gives a parameter a part of a binary value; the parts come in the order of their offsets.
    pub(crate) fn set_part(&mut self, parameter: Field, offset: u32, part: &[u8]) -> Result<()> {
        if offset == 0 {
            return self.set(parameter, Value::Bytes(part.to_vec()));
        }
        match self.slot(parameter)? {
            Some(Value::Bytes(bytes)) if bytes.len() == offset as usize => {
                bytes.extend_from_slice(part);
                Ok(())
            }
            _ => refuse(
                ErrorCode::InvalidBinaryOffset,
                format!("the part at offset {offset} does not follow the one before"),
            ),
        }
    }

    /// Runs what is prepared, and returns the handle of its cursor or 0.
    fn execute(&mut self, own: Handle) -> Result<Handle> {
        let Some(text) = &self.text else {
            return refuse(ErrorCode::NotPrepared, "no statement was prepared");
        };
        if let Some(place) = self.values.iter().position(Option::is_none) {
            let name = self.names.get(place).cloned().flatten();
            let name = name.map_or_else(
                || format!("parameter {}", place + 1),
                |name| format!("parameter :{name}"),
            );
            return refuse(ErrorCode::InvalidParameterNumber, format!("{name} has no value"));
        }
        let values: Vec<Value> = self.values.iter().flatten().cloned().collect();
        let mut session = entered(&self.session);
        let seconds = [self.timeout, session.sql_timeout]
            .into_iter()
            .find(|seconds| *seconds > 0);
        let time = seconds.map(|seconds| Duration::from_secs(seconds.into()));
        let mut options = match watch(time) {
            Some(watch) => Cow::Owned(StatementOptions {
                watch,
                ..self.options.clone()
            }),
            None => Cow::Borrowed(&self.options),
        };
        if session.connection.syncs_updates() {
            options.to_mut().durability = Durability::Commit;
        }
        let executed = session.connection.execute(text, &values, &settings(), &options);
        if let Some(value) = session.connection.run_autoincrement() {
            self.last_autoincrement = value;
        }
        let executed = executed?;
        self.changed = 0;
        match executed {
            Executed::Cursor(area) => {
                let open = |area: &AreaId| session.connection.is_open(*area);
                self.cursors.retain(open);
                self.cursors.push(area);
                self.current = Some(area);
                session.cursor_handle(area, own)
            }
            Executed::Changed(count) => {
                self.changed = count;
                Ok(0)
            }
            Executed::Done => Ok(0),
        }
    }

    /// Runs the query again that gave a cursor, and closes that; the new one has the rows that there are now.
    fn refresh(&mut self, area: AreaId, own: Handle) -> Result<Handle> {
        let text = text_of(&without_comments(self.text.as_deref().unwrap_or_default().as_bytes()));
        let first = text.split_whitespace().next().unwrap_or_default();
        if self.current != Some(area) {
            return refuse(
                ErrorCode::NotPrepared,
                "the statement was prepared or run again since it gave the cursor",
            );
        }
        if !["SELECT", "WITH"].iter().any(|query| first.eq_ignore_ascii_case(query)) {
            return refuse(
                ErrorCode::NotImplemented,
                format!("the cursor is of {first}, which could change something if it ran again"),
            );
        }
        let cursor = self.execute(own)?;
        lock(&self.session).close_table(area)?;
        Ok(cursor)
    }

    /// How many records it changed when it ran last.
    pub(crate) fn changed(&self) -> u64 {
        self.changed
    }

    /// Closes its cursors.
    fn close(&mut self) -> Result<()> {
        let mut session = lock(&self.session);
        let open = std::mem::take(&mut self.cursors).into_iter();
        let open: Vec<AreaId> = open.filter(|area| session.connection.is_open(*area)).collect();
        open.into_iter()
            .map(|area| session.close_table(area))
            .fold(Ok(()), Result::and)
    }
}

/// Takes the handles of a session's statements back, when it ends.
pub(crate) fn forget_all_of(session: &Mutex<Session>) {
    for (handle, object) in handle::all() {
        if let Object::Statement(statement) = object
            && std::ptr::eq(Arc::as_ptr(&lock(&statement).session), session)
        {
            handle::remove(handle);
        }
    }
}

/// A parameter as C names it.
pub(crate) enum Parameter {
    /// By its number, from 1.
    Number(usize),
    /// By its name.
    Name(String),
}

/// Does something with a statement.
pub(crate) fn with_statement<T>(statement: Handle, work: impl FnOnce(&mut Statement) -> Result<T>) -> Result<T> {
    match handle::object(statement) {
        Some(Object::Statement(statement)) => work(&mut lock(&statement)),
        _ => {
            let what = handle::unknown(statement, "a statement");
            refuse(ErrorCode::InvalidStatementHandle, what)
        }
    }
}

/// Opens a statement on a connection.
#[unsafe(no_mangle)]
pub extern "C" fn AdsCreateSQLStatement(connection: Handle, answer: Out<Handle>) -> u32 {
    call(|| {
        let statement = Statement::new(session(connection)?);
        answer.set(handle::add(Object::Statement(Arc::new(Mutex::new(statement))))?)
    })
}

/// Closes a statement and its cursors.
#[unsafe(no_mangle)]
pub extern "C" fn AdsCloseSQLStatement(statement: Handle) -> u32 {
    call(|| {
        let closed = with_statement(statement, Statement::close);
        if !matches!(&closed, Err(error) if error.code() == ErrorCode::InvalidStatementHandle) {
            handle::remove(statement);
        }
        closed
    })
}

/// Parses a statement and looks up what it names.
#[unsafe(no_mangle)]
pub extern "C" fn AdsPrepareSQL(statement: Handle, text: Name) -> u32 {
    call(|| with_statement(statement, |statement| statement.prepare(text.needed()?)))
}

/// As [`AdsPrepareSQL`].
#[unsafe(no_mangle)]
pub extern "C" fn AdsPrepareSQLW(statement: Handle, text: WideName) -> u32 {
    call(|| with_statement(statement, |statement| statement.prepare(text.needed()?)))
}

/// Opens a statement and prepares it.
#[unsafe(no_mangle)]
pub extern "C" fn AdsCachePrepareSQL(connection: Handle, text: Name, answer: Out<Handle>) -> u32 {
    call(|| prepared(connection, text.needed()?, answer))
}

/// As [`AdsCachePrepareSQL`].
#[unsafe(no_mangle)]
pub extern "C" fn AdsCachePrepareSQLW(connection: Handle, text: WideName, answer: Out<Handle>) -> u32 {
    call(|| prepared(connection, text.needed()?, answer))
}

fn prepared(connection: Handle, text: String, answer: Out<Handle>) -> Result<()> {
    let mut statement = Statement::new(session(connection)?);
    statement.prepare(text)?;
    answer.set(handle::add(Object::Statement(Arc::new(Mutex::new(statement))))?)
}

/// Runs what is prepared; the cursor is 0 where there are no rows.
#[unsafe(no_mangle)]
pub extern "C" fn AdsExecuteSQL(statement: Handle, cursor: Out<Handle>) -> u32 {
    call(|| with_statement(statement, |known| give(cursor, known.execute(statement)?)))
}

/// Prepares a statement and runs it.
#[unsafe(no_mangle)]
pub extern "C" fn AdsExecuteSQLDirect(statement: Handle, text: Name, cursor: Out<Handle>) -> u32 {
    call(|| {
        with_statement(statement, |known| {
            known.prepare(text.needed()?)?;
            give(cursor, known.execute(statement)?)
        })
    })
}

/// As [`AdsExecuteSQLDirect`].
#[unsafe(no_mangle)]
pub extern "C" fn AdsExecuteSQLDirectW(statement: Handle, text: WideName, cursor: Out<Handle>) -> u32 {
    call(|| {
        with_statement(statement, |known| {
            known.prepare(text.needed()?)?;
            give(cursor, known.execute(statement)?)
        })
    })
}

/// Runs the query again that gave a cursor, with the values that its parameters have now. The new cursor takes the place of the old one, which
/// is closed.
#[unsafe(no_mangle)]
pub extern "C" fn AdsRefreshView(cursor: Out<Handle>) -> u32 {
    call(|| {
        let old = cursor.get()?;
        let (area, statement) = with_any(old, |session, area, _| Ok((area, session.statement_of(area))))?;
        match statement {
            Some(statement) => with_statement(statement, |known| cursor.set(known.refresh(area, statement)?)),
            None => refuse(
                ErrorCode::InvalidHandle,
                format!("{old} is the handle of a table and no cursor of a statement"),
            ),
        }
    })
}

/// Who runs a statement without rows need not have a place for a cursor.
fn give(place: Out<Handle>, cursor: Handle) -> Result<()> {
    match place.is_null() && cursor == 0 {
        true => Ok(()),
        false => place.set(cursor),
    }
}

/// Whether a text is a statement; names are not looked up.
#[unsafe(no_mangle)]
pub extern "C" fn AdsVerifySQL(statement: Handle, text: Name) -> u32 {
    call(|| with_statement(statement, |_| verify(&text.needed()?)))
}

/// As [`AdsVerifySQL`].
#[unsafe(no_mangle)]
pub extern "C" fn AdsVerifySQLW(statement: Handle, text: WideName) -> u32 {
    call(|| with_statement(statement, |_| verify(&text.needed()?)))
}

fn verify(text: &str) -> Result<()> {
    tidemill_ads::sql::parse(text)?;
    Ok(())
}

/// How many parameters a statement has.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetNumParams(statement: Handle, answer: Out<u16>) -> u32 {
    call(|| {
        with_statement(statement, |statement| {
            answer.set(u16::try_from(statement.values.len()).unwrap_or(u16::MAX))
        })
    })
}

/// Takes the values of all parameters away.
#[unsafe(no_mangle)]
pub extern "C" fn AdsClearSQLParams(statement: Handle) -> u32 {
    call(|| {
        with_statement(statement, |statement| {
            statement.values.fill(None);
            Ok(())
        })
    })
}

/// The text of a statement, by its handle or its cursor's.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetSQLStatement(statement: Handle, text: Bytes, len: Out<u16>) -> u32 {
    call(|| {
        let statement = match handle::object(statement) {
            Some(Object::Statement(_)) => statement,
            _ => of_cursor(statement)?,
        };
        with_statement(statement, |statement| match &statement.text {
            Some(sql) => text.put(sql.as_bytes(), len),
            None => refuse(ErrorCode::NotPrepared, "no statement was prepared"),
        })
    })
}

/// The statement of a cursor.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetSQLStatementHandle(cursor: Handle, answer: Out<Handle>) -> u32 {
    call(|| answer.set(of_cursor(cursor)?))
}

pub(crate) fn of_cursor(cursor: Handle) -> Result<Handle> {
    let found = with_any(cursor, |session, area, _| Ok(session.statement_of(area)))?;
    match found {
        Some(statement) => Ok(statement),
        None => refuse(ErrorCode::InvalidHandle, format!("{cursor} is no handle of a cursor")),
    }
}

/// Whether a cursor shows the table itself, and not rows in memory.
#[unsafe(no_mangle)]
pub extern "C" fn AdsSqlPeekStatement(cursor: Handle, answer: Out<u8>) -> u32 {
    call(|| {
        of_cursor(cursor)?;
        handle::with_area(cursor, |area| answer.set((!area.is_in_memory()).into()))
    })
}

/// What type the tables of a statement are of.
#[unsafe(no_mangle)]
pub extern "C" fn AdsStmtSetTableType(statement: Handle, table_type: u16) -> u32 {
    call(|| {
        with_statement(statement, |statement| {
            statement.options.table.table_type = match table_type {
                ADS_NTX => TableType::Ntx,
                ADS_CDX => TableType::Cdx,
                ADS_VFP | ADS_DEFAULT => TableType::Vfp,
                ADS_ADT => TableType::Adt,
                other => return refuse(ErrorCode::InvalidTableType, format!("{other} is no type of a table")),
            };
            Ok(())
        })
    })
}

/// Whether the tables of a statement hold text in the code page of DOS.
#[unsafe(no_mangle)]
pub extern "C" fn AdsStmtSetTableCharType(statement: Handle, char_type: u16) -> u32 {
    call(|| {
        with_statement(statement, |statement| {
            statement.options.table.is_oem = match char_type {
                ADS_OEM => true,
                ADS_ANSI => false,
                other => return refuse(ErrorCode::InvalidOption, format!("{other} is no type of characters")),
            };
            Ok(())
        })
    })
}

/// Which locks the tables of a statement are locked with: the same ones either way here.
#[unsafe(no_mangle)]
pub extern "C" fn AdsStmtSetTableLockType(statement: Handle, lock_type: u16) -> u32 {
    call(|| {
        with_statement(statement, |_| match lock_type {
            ADS_COMPATIBLE_LOCKING | ADS_PROPRIETARY_LOCKING => Ok(()),
            other => refuse(ErrorCode::InvalidOption, format!("{other} is no way to lock")),
        })
    })
}

/// Whether cursors over tables may be written through.
#[unsafe(no_mangle)]
pub extern "C" fn AdsStmtSetTableReadOnly(statement: Handle, read_only: u16) -> u32 {
    call(|| {
        with_statement(statement, |statement| {
            statement.options.table.mode = match read_only {
                ADS_CURSOR_READONLY => OpenMode::ReadOnly,
                ADS_CURSOR_READWRITE => OpenMode::Shared,
                other => return refuse(ErrorCode::InvalidOption, format!("{other} is no kind of cursor")),
            };
            Ok(())
        })
    })
}

/// Whether rights are checked: the operating system does that whatever is set.
#[unsafe(no_mangle)]
pub extern "C" fn AdsStmtSetTableRights(statement: Handle, rights: u16) -> u32 {
    call(|| {
        with_statement(statement, |_| match rights {
            ADS_CHECKRIGHTS | ADS_IGNORERIGHTS => Ok(()),
            other => refuse(ErrorCode::InvalidOption, format!("{other} is no way to check rights")),
        })
    })
}

/// Whether all columns of a record are read at once: they always are.
#[unsafe(no_mangle)]
pub extern "C" fn AdsStmtReadAllColumns(statement: Handle, _reads: u16) -> u32 {
    call(|| with_statement(statement, |_| Ok(())))
}

/// Forgets the passwords of tables: there are none.
#[unsafe(no_mangle)]
pub extern "C" fn AdsStmtClearTablePasswords(statement: Handle) -> u32 {
    call(|| with_statement(statement, |_| Ok(())))
}

/// New tables of the statement are not encrypted: no table is.
#[unsafe(no_mangle)]
pub extern "C" fn AdsStmtDisableEncryption(statement: Handle) -> u32 {
    call(|| with_statement(statement, |_| Ok(())))
}

/// How many seconds a statement may take, or every statement of a connection that has no time of its own; 0 is any. What takes
/// longer is stopped with 7209 and has changed nothing; of a script, what was done before stays.
#[unsafe(no_mangle)]
pub extern "C" fn AdsSetSQLTimeout(object: Handle, seconds: u32) -> u32 {
    call(|| match is_statement(object) {
        true => with_statement(object, |statement| {
            statement.timeout = seconds;
            Ok(())
        }),
        false => with_connection(object, |session| {
            session.sql_timeout = seconds;
            Ok(())
        }),
    })
}

/// Whether records that are written through the cursors that a statement gives from now on must stay in them: those that would not
/// fulfil its condition any more are refused with 5150.
#[unsafe(no_mangle)]
pub extern "C" fn AdsStmtConstrainUpdates(statement: Handle, option: u16) -> u32 {
    call(|| {
        with_statement(statement, |statement| {
            statement.options.constrains = match option {
                ADS_CONSTRAIN => true,
                ADS_NO_CONSTRAIN => false,
                other => {
                    return refuse(
                        ErrorCode::InvalidConstrainType,
                        format!("{other} is no kind of constraint"),
                    );
                }
            };
            Ok(())
        })
    })
}

/// The collation of the tables of a statement, which must be that of bytes.
#[unsafe(no_mangle)]
pub extern "C" fn AdsStmtSetTableCollation(statement: Handle, collation: Name) -> u32 {
    call(|| with_statement(statement, |_| sorted_by_bytes(collation)))
}

/// Takes the comments out of a statement, in its place.
#[unsafe(no_mangle)]
pub extern "C" fn AdsRemoveSQLComments(text: Bytes) -> u32 {
    call(|| replace(text, |text| Ok(without_comments(text))))
}

/// Puts the parameters of a statement in its place, each once: `:A :B`, in capitals and with blanks between them.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetSQLStmtParams(text: Bytes) -> u32 {
    call(|| {
        replace(text, |text| {
            let parameters = tidemill_ads::sql::parameters(&text_of(text))?.into_iter();
            let written = parameters.map(|name| name.map_or_else(|| "?".to_owned(), |name| format!(":{name}")));
            Ok(written.collect::<Vec<_>>().join(" ").into_bytes())
        })
    })
}

/// Puts a text in the place of another, which is at least as long.
fn replace(place: Bytes, work: impl FnOnce(&[u8]) -> Result<Vec<u8>>) -> Result<()> {
    let Some(text) = place.read_text() else {
        return refuse(
            ErrorCode::InvalidPointer,
            "a statement must be given, and the pointer is null",
        );
    };
    let (room, text) = (text.len() + 1, work(text)?);
    if text.len() >= room {
        return refuse(ErrorCode::InsufficientBuffer, "the answer is longer than the statement");
    }
    place.write(&text, room)
}
