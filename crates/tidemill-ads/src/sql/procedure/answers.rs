//! Procedures that tell something: `sp_Get…` of tables and columns, `sp_mgGet…` of what the connection has open.
//!
//! Management tells of the connection that asks, as one user of the local server. The functions `AdsMg…` of ACE tell of all connections of the
//! program.

use tidemill_xbase::{Deleted, Field, FieldKind, Scan};

use super::definitions::KEYWORDS;
use super::metadata;
use crate::FieldType;
use crate::connection::up_time;
use crate::machine::{host_name, login_name};
use crate::sql::answer::ColumnDescription;
use crate::sql::error::{Error, Kind, Result};
use crate::sql::like::Pattern;
use crate::sql::listing::{Listing, number, text};
use crate::sql::statement::TableName;
use crate::sql::system;
use crate::sql::tables::{TableInUse, Tables};
use crate::sql::value::Value;

/// The answer of `sp_mgSetConfigValue` where a setting cannot be changed.
const NOT_SUPPORTED: i64 = 3;

/// What a procedure is given.
pub(in crate::sql) struct Arguments<'a>(pub(in crate::sql) &'a [Value]);

impl Arguments<'_> {
    /// A text without the blanks around it; empty for NULL and for one that is not given.
    pub(in crate::sql) fn text(&self, place: usize) -> String {
        match self.0.get(place) {
            None | Some(Value::Null) => String::new(),
            Some(value) => value.to_text().trim().to_owned(),
        }
    }

    /// A text that has to be given.
    ///
    /// # Errors
    /// [`Kind::NoFunction`].
    pub(in crate::sql) fn needed(&self, place: usize, procedure: &str) -> Result<String> {
        match self.text(place) {
            text if text.is_empty() => {
                let why = format!("Argument {} of {procedure} is a text", place + 1);
                Err(Error::new(Kind::NoFunction, why))
            }
            text => Ok(text),
        }
    }

    /// Whether it is true.
    pub(in crate::sql) fn is_true(&self, place: usize) -> bool {
        match self.0.get(place) {
            Some(Value::Logical(is_true)) => *is_true,
            Some(Value::Text(text)) => matches!(text.trim().to_uppercase().as_str(), "TRUE" | "T" | "1"),
            Some(other) => other.to_i64().is_some_and(|number| number != 0),
            None => false,
        }
    }

    fn pattern(&self, place: usize) -> Pattern {
        match self.text(place) {
            text if text.is_empty() => Pattern::new("%", None),
            text => Pattern::new(&text.to_lowercase(), None),
        }
    }
}

/// Adds the rows of a procedure, whose name is in small letters, to a listing of its columns.
///
/// # Errors
/// [`Kind::NoFunction`] without a needed argument; what the tables say.
pub(super) fn fill(
    listing: &mut Listing,
    name: &str,
    arguments: &Arguments<'_>,
    tables: &mut dyn Tables,
) -> Result<()> {
    let (no, null) = (Value::Logical(false), Value::Null);
    match name {
        "sp_getapplicationid" => listing.row([text(tables.application())]),
        "sp_gettables" => of_tables(listing, arguments, tables)?,
        "sp_getcolumns" => of_columns(listing, arguments, tables)?,
        "sp_getcatalogs" => listing.row([metadata::catalog(tables)]),
        "sp_getprimarykeys" => metadata::primary_keys(listing, arguments, tables)?,
        "sp_getindexinfo" => metadata::indexes(listing, arguments, tables)?,
        "sp_getbestrowidentifier" => metadata::row_identifiers(listing, arguments, tables)?,
        "sp_getimportedkeys" => metadata::foreign_keys(listing, true, arguments, tables)?,
        "sp_getforeignkeycolumns" => metadata::foreign_keys(listing, false, arguments, tables)?,
        "sp_getprocedures" => metadata::procedures(listing, arguments, tables)?,
        "sp_getprocedurecolumns" => metadata::procedure_columns(listing, arguments, tables)?,
        "sp_getsqlkeywords" => KEYWORDS.split_whitespace().for_each(|word| listing.row([text(word)])),
        "sp_gettablesizeinfo" => sizes(listing, &TableName::new(arguments.needed(0, name)?), tables)?,
        "sp_gettableencryptiontype" => {
            // A table that is encrypted does not open.
            tables.snapshot_without_orders(&TableName::new(arguments.needed(0, name)?))?;
            listing.row([null]);
        }
        // A connection runs one statement at a time, and no error, crash or query is logged.
        "sp_getsqlstatements"
        | "sp_mggetcrashdumpinfo"
        | "sp_mggeterrorlog"
        | "sp_viewquerylogging"
        | "sp_getqueryloggingresults" => {}
        "sp_allowmultiplecollations" => listing.row([text("There is no collation of this name")]),
        "sp_mgsetconfigvalue" => {
            arguments.needed(0, name)?;
            let why = "A server alone has this setting, and there is none";
            listing.row([null, number(NOT_SUPPORTED), text(why)]);
        }
        "sp_getsecurityinfo" => listing.row([no.clone(), null, no, text("LOCAL")]),
        "sp_getrecordcrc" => {
            let table = TableName::new(arguments.needed(0, name)?);
            let record = arguments.0.get(1).and_then(Value::to_i64);
            let record = record
                .and_then(|record| u32::try_from(record).ok())
                .filter(|record| *record > 0);
            let record = record.ok_or_else(|| {
                Error::new(
                    Kind::NoFunction,
                    format!("Argument 2 of {name} is the number of a record, from 1"),
                )
            })?;
            let sum = tables.check_sum(&table, record)?;
            listing.row([number(sum), text(sum.to_string())]);
        }
        "sp_mggetactivityinfo" => {
            let seconds = up_time().as_secs();
            let (days, hours) = (seconds / 86_400, seconds / 3600 % 24);
            let up = format!(
                "{days} Days {hours} Hours {} Minutes {} Seconds",
                seconds / 60 % 60,
                seconds % 60
            );
            let operations = Value::Integer(tables.connection().operations);
            listing.row([operations, number(0), text(up), number(0), number(0), number(0)]);
        }
        "sp_mggetcommstats" => {
            let zeros = std::iter::repeat_n(number(0), 10);
            listing.row(std::iter::once(Value::Double(0.0)).chain(zeros));
        }
        "sp_mggetconfiginfo" => CONFIGURED.iter().for_each(|item| listing.row([text(*item), text("0")])),
        "sp_mggetconfigmemory" => MEMORY
            .iter()
            .for_each(|item| listing.row([text(*item), number(0), number(0)])),
        "sp_mggetinstallinfo" => {
            let empty = || text("");
            listing.row([
                empty(),
                empty(),
                number(0),
                text(VERSION),
                empty(),
                empty(),
                text("cp1252"),
                text("cp850"),
                no,
                number(0),
                number(0),
            ]);
        }
        "sp_mggetservertype" => listing.row([text("Local Server"), number(LOCAL_SERVER)]),
        "sp_mggetusageinfo" => usage(listing, tables),
        "sp_mggetconnectedusers" => {
            let application = text(tables.application());
            listing.row(user(tables).into_iter().chain([application, number(0)]));
        }
        "sp_mggetalltables" | "sp_mggetusertables" => {
            let open = of_user(name, arguments.text(0), tables);
            let mut shown: Vec<_> = open.iter().map(|table| (table.path.clone(), table.locking)).collect();
            shown.sort();
            shown.dedup();
            for (path, locking) in shown {
                listing.row([text(path.to_string_lossy()), text(locking.0), number(locking.1)]);
            }
        }
        "sp_mggetallindexes" | "sp_mggetuserindexes" | "sp_mggettableindexes" => {
            let open = match name {
                "sp_mggettableindexes" => of_table(&arguments.needed(0, name)?, tables)?,
                _ => of_user(name, arguments.text(0), tables),
            };
            let mut shown: Vec<_> = open.into_iter().flat_map(|table| table.indexes).collect();
            shown.sort();
            shown.dedup();
            shown
                .iter()
                .for_each(|path| listing.row([text(path.to_string_lossy())]));
        }
        "sp_mggetalllocks" | "sp_mggetuserlocks" => {
            let is_meant = name == "sp_mggetalllocks" || is_user(&arguments.text(1));
            let mut open = of_table(&arguments.needed(0, name)?, tables)?;
            open.retain(|_| is_meant);
            let mut locked: Vec<u32> = open.iter().flat_map(|table| table.records.iter().copied()).collect();
            if open.iter().any(|table| table.is_locked) {
                // The whole table is record 0.
                locked = vec![0];
            }
            locked.sort_unstable();
            locked.dedup();
            locked.into_iter().for_each(|record| listing.row([number(record)]));
        }
        "sp_mggetlockowner" => {
            let record = arguments.0.get(1).and_then(Value::to_i64).unwrap_or(0);
            let open = of_table(&arguments.needed(0, name)?, tables)?;
            let has = |table: &TableInUse| table.records.iter().any(|locked| i64::from(*locked) == record);
            let kind = match open.iter().any(|table| table.is_locked) {
                true => "File Lock",
                false if open.iter().any(has) => "Record Lock",
                false => "No Lock",
            };
            let [user, number, dictionary, address, login, terminal] = match kind {
                "No Lock" => [const { Value::Null }; 6],
                _ => user(tables),
            };
            listing.row([user, number, dictionary, address, text(kind), login, terminal]);
        }
        "sp_mggettableusers" | "sp_mggetindexusers" => {
            let wanted = arguments.needed(0, name)?;
            let is_open = match name {
                "sp_mggettableusers" => !of_table(&wanted, tables)?.is_empty(),
                _ => {
                    let has = |table: &TableInUse| table.indexes.iter().any(|path| path.to_string_lossy() == wanted);
                    tables.open_tables().iter().any(has)
                }
            };
            if is_open {
                listing.row(user(tables));
            }
        }
        "sp_getlinks" => tables
            .dictionary_rows("links")?
            .into_iter()
            .for_each(|link| listing.row(link.into_iter().take(2))),
        // Collations that can be loaded and threads of a server: there are none.
        _ => {}
    }
    Ok(())
}

/// `ADS_MGMT_LOCAL_SERVER` of `ace.h`.
const LOCAL_SERVER: i64 = 3;
/// The version of ADS whose functions these are.
const VERSION: &str = "12.00";

const CONFIGURED: &[&str] = &[
    "Stat Dump Interval",
    "Error Log Max",
    "Error Log Path",
    "Burst Packets",
    "Sort Buffer",
    "Sent IP Port",
    "Receive IP Port",
    "Ghost Timeout",
    "Flush Frequency",
    "Keep Alive Timeout",
    "Internet Port",
    "Max Conn Failures",
    "Internet Keep Alive",
    "Compression Level",
    "Use IP",
    "Flush Every Update",
    "NetWare Login Names",
    "Use Semaphore Files",
    "Semaphore File Path",
    "Use Dynamic AOFs",
    "Use Internet",
    "Transaction Log Path",
    "Receive SSL Port",
    "SQL Statement Limit",
    "User SQL Statement Limit",
];

const MEMORY: &[&str] = &[
    "Connections",
    "Work Areas",
    "Tables",
    "Indexes",
    "Locks",
    "User Buffer Size",
    "TPS Header Elems",
    "TPS Visibility Elems",
    "TPS Memo Elems",
    "Receive ECBs",
    "Send ECBs",
    "Worker Threads",
    "Total Memory",
];

/// The connection as a user: the machine, its number, and who runs the program.
fn user(tables: &dyn Tables) -> [Value; 6] {
    let connection = number(tables.connection().number);
    let machine = text(host_name());
    [machine, connection, text(""), text(""), text(login_name()), text("")]
}

/// Whether a name is that of this machine, perhaps with that of the user behind a backslash.
fn is_user(name: &str) -> bool {
    let (machine, login) = name.split_once('\\').unwrap_or((name, ""));
    machine.eq_ignore_ascii_case(&host_name()) && (login.is_empty() || login == login_name())
}

/// The tables that are open, or those of a user where the procedure names one.
fn of_user(procedure: &str, user: String, tables: &dyn Tables) -> Vec<TableInUse> {
    match procedure.contains("user") && !is_user(&user) {
        true => Vec::new(),
        false => tables.open_tables(),
    }
}

/// The handles of a table.
fn of_table(name: &str, tables: &mut dyn Tables) -> Result<Vec<TableInUse>> {
    let snapshot = tables.snapshot_without_orders(&TableName::new(name))?;
    let path = snapshot.table().path().to_owned();
    let mut open = tables.open_tables();
    open.retain(|table| table.path == path);
    Ok(open)
}

fn usage(listing: &mut Listing, tables: &dyn Tables) {
    let open = tables.open_tables();
    let count = |number_of: &dyn Fn(&TableInUse) -> usize| open.iter().map(number_of).sum::<usize>();
    let items = [
        ("Users", 1),
        ("Connections", 1),
        ("Work Areas", open.len()),
        ("Tables", open.len()),
        ("Indexes", count(&|table| table.indexes.len())),
        (
            "Locks",
            count(&|table| table.records.len() + usize::from(table.is_locked)),
        ),
        ("TPS Header Elems", 0),
        ("TPS Visibility Elems", 0),
        ("TPS Memo Elems", 0),
        ("Worker Threads", 0),
        ("Stateful Users", 1),
        ("Stateless Users", 0),
    ];
    for (item, used) in items {
        listing.row([text(item), number(used), number(used), number(0), number(0)]);
    }
}

/// The kinds of tables of `sp_GetTables`; none given are all but those of `system`.
fn of_tables(listing: &mut Listing, arguments: &Arguments<'_>, tables: &mut dyn Tables) -> Result<()> {
    let (pattern, types) = (arguments.pattern(2), arguments.text(3).to_uppercase());
    let wanted: Vec<&str> = types
        .split(';')
        .map(str::trim)
        .filter(|kind| !kind.is_empty())
        .collect();
    let is_wanted = |kind: &str| match wanted.is_empty() {
        true => kind != "SYSTEM TABLE",
        false => wanted.contains(&kind),
    };
    let views = tables.views().into_iter().map(|[name, ..]| name).collect();
    let all = [
        ("LOCAL TEMPORARY", tables.temporary_names()),
        (
            "SYSTEM TABLE",
            system::names().map(|name| format!("system.{name}")).collect(),
        ),
        ("TABLE", tables.table_names()?),
        ("VIEW", views),
    ];
    for (kind, mut names) in all {
        names.retain(|name| is_wanted(kind) && pattern.matches(&name.to_lowercase()));
        names.sort();
        for name in names {
            let catalog = match kind {
                "SYSTEM TABLE" => text("system"),
                _ => metadata::catalog(tables),
            };
            listing.row([catalog, Value::Null, text(name), text(kind)]);
        }
    }
    Ok(())
}

fn of_columns(listing: &mut Listing, arguments: &Arguments<'_>, tables: &mut dyn Tables) -> Result<()> {
    let (tables_like, columns_like) = (arguments.pattern(2), arguments.pattern(3));
    let mut names = tables.temporary_names();
    names.extend(tables.table_names()?);
    names.retain(|name| tables_like.matches(&name.to_lowercase()));
    names.sort();
    for name in names {
        let snapshot = tables.snapshot_without_orders(&TableName::new(name.clone()))?;
        let table = snapshot.table();
        let can_be_null = |field: &Field| field.nullable || system::type_of(table) != 4;
        for (place, field) in (1_i64..).zip(table.fields()) {
            if !columns_like.matches(&field.name.to_lowercase()) {
                continue;
            }
            let column = ColumnDescription::of_field(field.name.clone(), field, table);
            let (code, type_name, is_number) = odbc_type(column.field_type);
            let (null, width) = (Value::Null, i64::try_from(field.width).unwrap_or(i64::MAX));
            let is_day = matches!(
                field.kind,
                FieldKind::Date | FieldKind::Timestamp | FieldKind::TimestampDbase7
            );
            let is_text = !is_number && !is_day && column.field_type != FieldType::Logical;
            listing.row([
                metadata::catalog(tables),
                null.clone(),
                text(name.as_str()),
                text(column.name),
                number(code),
                text(type_name),
                number(width),
                number(width),
                if is_number {
                    number(column.decimals)
                } else {
                    null.clone()
                },
                if is_number { number(10) } else { null.clone() },
                number(i64::from(can_be_null(field))),
                null.clone(),
                null.clone(),
                number(code),
                null.clone(),
                if is_text { number(width) } else { null },
                number(place),
                text(if can_be_null(field) { "YES" } else { "NO" }),
                number(i64::from(system::is_untranslated(field))),
            ]);
        }
    }
    Ok(())
}

/// The type of ODBC (`sql.h`, `sqlext.h`), its name, and whether it is a number.
pub(super) fn odbc_type(field_type: FieldType) -> (i64, &'static str, bool) {
    use FieldType as F;
    match field_type {
        F::Logical => (-7, "LOGICAL", false),
        F::Numeric => (2, "NUMERIC", true),
        F::Date | F::CompactDate => (91, "DATE", false),
        F::Memo => (-1, "MEMO", false),
        F::NChar => (-8, "NCHAR", false),
        F::NVarchar => (-9, "NVARCHAR", false),
        F::NMemo => (-10, "NMEMO", false),
        F::Binary | F::Image => (-4, "BLOB", false),
        F::Double | F::CurrencyDouble => (8, "DOUBLE", true),
        F::Integer => (4, "INTEGER", true),
        F::Autoincrement => (4, "AUTOINC", true),
        F::ShortInteger => (5, "SHORT", true),
        F::LongLong => (-5, "LONGINT", true),
        F::Money => (2, "MONEY", true),
        F::Time => (92, "TIME", false),
        F::Timestamp | F::ModificationTime => (93, "TIMESTAMP", false),
        F::Raw => (-2, "RAW", false),
        F::VarbinaryFox => (-3, "VARBINARY", false),
        F::Varchar | F::VarcharFox => (12, "VARCHAR", false),
        F::RowVersion => (-5, "ROWVERSION", true),
        F::String | F::CaseInsensitiveString | F::System => (1, "CHAR", false),
    }
}

fn sizes(listing: &mut Listing, table: &TableName, tables: &mut dyn Tables) -> Result<()> {
    let snapshot = tables.snapshot_without_orders(table)?;
    let table = snapshot.table();
    let deleted = table.scan(Scan::new().projection(Vec::new()).deleted(Deleted::Only))?;
    let deleted = deleted.map(|batch| Ok(batch?.num_rows())).sum::<Result<usize>>()?;
    let (header, records) = (table.header(), number(table.record_count()));
    let memo = table.memo().map(|memo| {
        let size = u64::from(memo.block_size()).max(1);
        [
            number(MEMO_HEADER),
            number(size),
            number(memo.file_len().div_ceil(size)),
        ]
    });
    let sizes = [
        number(header.header_len),
        number(header.record_len),
        records,
        number(deleted),
    ];
    listing.row(sizes.into_iter().chain(memo.unwrap_or([const { Value::Null }; 3])));
    Ok(())
}

/// The length of a memo file's header.
const MEMO_HEADER: i64 = 512;
