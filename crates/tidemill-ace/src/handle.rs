//! Handles: numbers that stand for connections, tables, orders and searches.
//!
//! A handle is a place in one list and how often the place was given away before, so that one that was closed is not taken for
//! the next. It fits into 32 bits, because old programs keep handles so.

use std::cell::RefCell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::{Duration, Instant};

use tidemill_ads::{AreaId, Connection, Error, ErrorCode, OrderId, Result, WorkArea};

use crate::analytical::SharedEngine;
use crate::call::refuse;
use crate::connect_string::Opening;
use crate::find::Search;
use crate::process_exit;
use crate::settings::{self, SeenSettings};
use crate::statement::Statement;

/// A handle as C has it; 0 is none.
pub type Handle = u64;

/// A connection and the handles of what is open on it.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) connection: Connection,
    pub(crate) handle: Handle,
    tables: Vec<(AreaId, Handle)>,
    indexes: Vec<(AreaId, OrderId, Handle)>,
    /// The orders that the handles of tables stand for ([`AdsSetIndexOrder`](crate::AdsSetIndexOrder)).
    leading: Vec<(AreaId, OrderId)>,
    /// The cursors of statements, and the statements.
    cursors: Vec<(AreaId, Handle)>,
    /// How many calls it has served.
    operations: u64,
    pub(crate) settings: SeenSettings,
    /// How many seconds a statement may take that has no time of its own; 0 is any.
    pub(crate) sql_timeout: u32,
    /// The name of the collation of tables that are opened without one.
    pub(crate) collation: String,
    /// How tables are opened that nothing more is said of.
    pub(crate) opening: Opening,
    /// Whether it was opened for one table, and is closed with it.
    pub(crate) is_of_table: bool,
}

/// What a handle stands for.
#[derive(Debug, Clone)]
pub(crate) enum Object {
    Connection(Arc<Mutex<Session>>),
    Table(Arc<Mutex<Session>>, AreaId),
    Index(Arc<Mutex<Session>>, AreaId, OrderId),
    Search(Arc<Mutex<Search>>),
    Statement(Arc<Mutex<Statement>>),
}

#[derive(Debug)]
struct Place {
    /// How often it was given away, from 1.
    turn: u16,
    object: Option<Object>,
    /// What the program keeps with it.
    number: Option<u32>,
}

#[derive(Debug)]
struct Registry {
    places: Vec<Place>,
    free: Vec<usize>,
    connections: Usage,
    tables: Usage,
    statements: Usage,
    /// The calls that closed connections have served.
    operations: u64,
    /// When the first handle was given away.
    since: Option<Instant>,
}

/// How many of a kind are open, and were at most.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Usage {
    pub(crate) in_use: u32,
    pub(crate) most: u32,
}

impl Registry {
    /// The count that an object belongs to.
    fn usage(&mut self, object: &Object) -> Option<&mut Usage> {
        match object {
            Object::Connection(_) => Some(&mut self.connections),
            Object::Table(..) => Some(&mut self.tables),
            Object::Statement(_) => Some(&mut self.statements),
            _ => None,
        }
    }
}

/// The handles of one process. A forked child starts with an empty table, numbered after its parent's handles: another thread
/// may have been in the middle of a change when it was forked, and what stands there is the parent's.
struct Process {
    forks: u32,
    /// How many places the parent had given.
    inherited: usize,
    /// How many places there are.
    places: AtomicUsize,
    registry: RwLock<Registry>,
    /// The connection of tables that are opened without one.
    default: Mutex<Handle>,
    child: OnceLock<Box<Process>>,
}

static FIRST: Process = Process::new(0, 0);

impl Process {
    const fn new(forks: u32, inherited: usize) -> Self {
        Self {
            forks,
            inherited,
            places: AtomicUsize::new(inherited),
            registry: RwLock::new(Registry {
                places: Vec::new(),
                free: Vec::new(),
                connections: Usage { in_use: 0, most: 0 },
                tables: Usage { in_use: 0, most: 0 },
                statements: Usage { in_use: 0, most: 0 },
                operations: 0,
                since: None,
            }),
            default: Mutex::new(0),
            child: OnceLock::new(),
        }
    }

    /// This one.
    fn this() -> &'static Self {
        let (forks, mut process) = (process_exit::forks(), &FIRST);
        while process.forks < forks {
            let places = process.places.load(Ordering::Acquire);
            process = process
                .child
                .get_or_init(|| Box::new(Self::new(process.forks + 1, places)));
        }
        process
    }

    fn read(&self) -> RwLockReadGuard<'_, Registry> {
        self.registry.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Registry> {
        self.registry.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// The index of a handle's place among those of this process.
    fn index_of(&self, handle: Handle) -> Option<usize> {
        place_of(handle)?.checked_sub(self.inherited)
    }
}

/// Lets a forked child look every handle up again.
pub(crate) fn forget_recent() {
    CHANGES.fetch_add(1, Ordering::Release);
}

/// What is wrong with a handle that is none.
pub(crate) fn unknown(handle: Handle, what: &str) -> String {
    match place_of(handle).is_some_and(|place| place < Process::this().inherited) {
        true => format!(
            "{handle} is a handle of the process that this one was forked from, whose connections it cannot use; connect again"
        ),
        false => format!("{handle} is no handle of {what}"),
    }
}

/// How often handles were given away or taken back.
static CHANGES: AtomicU64 = AtomicU64::new(0);

/// The bits of a handle that are its place.
const PLACE_BITS: u32 = 20;
/// What handles of statements have, so that giving fields their values need not ask for each whether it is one.
const STATEMENT: u64 = 1 << 31;
/// How many turns a place has.
const TURNS: u16 = (1 << 11) - 1;

/// How many handles there can be at once.
pub(crate) const MOST: u32 = 1 << PLACE_BITS;

/// Gives an object a handle.
pub(crate) fn add(object: Object) -> Result<Handle> {
    process_exit::watch_process();
    let process = Process::this();
    let mut registry = process.write();
    registry.since.get_or_insert_with(Instant::now);
    let at = match registry.free.pop() {
        Some(at) => at,
        None if process.inherited + registry.places.len() >= 1 << PLACE_BITS => {
            return refuse(ErrorCode::InternalError, "a million handles are open");
        }
        None => {
            registry.places.push(Place {
                turn: 0,
                object: None,
                number: None,
            });
            process.places.fetch_add(1, Ordering::Release);
            registry.places.len() - 1
        }
    };
    let Some(place) = registry.places.get_mut(at) else {
        return refuse(ErrorCode::InternalError, "a place is gone");
    };
    CHANGES.fetch_add(1, Ordering::Release);
    place.turn = if place.turn >= TURNS { 1 } else { place.turn + 1 };
    let mark = match &object {
        Object::Statement(_) => STATEMENT,
        _ => 0,
    };
    let handle = mark | u64::from(place.turn) << PLACE_BITS | (process.inherited + at) as u64;
    place.object = Some(object.clone());
    place.number = None;
    if let Some(usage) = registry.usage(&object) {
        usage.in_use += 1;
        usage.most = usage.most.max(usage.in_use);
    }
    Ok(handle)
}

/// Whether a handle is that of a statement, as far as the number tells.
pub(crate) fn is_statement(handle: Handle) -> bool {
    handle & STATEMENT != 0
}

/// What a handle stands for.
pub(crate) fn object(handle: Handle) -> Option<Object> {
    let process = Process::this();
    let registry = process.read();
    let place = registry.places.get(process.index_of(handle)?)?;
    let is_current = u64::from(place.turn) == (handle & !STATEMENT) >> PLACE_BITS;
    place.object.clone().filter(|_| is_current)
}

/// Takes a handle back.
pub(crate) fn remove(handle: Handle) -> Option<Object> {
    let process = Process::this();
    let mut registry = process.write();
    let at = process.index_of(handle)?;
    let place = registry.places.get_mut(at)?;
    if u64::from(place.turn) != (handle & !STATEMENT) >> PLACE_BITS {
        return None;
    }
    let object = place.object.take()?;
    if let Some(usage) = registry.usage(&object) {
        usage.in_use -= 1;
    }
    CHANGES.fetch_add(1, Ordering::Release);
    registry.free.push(at);
    Some(object)
}

fn place_of(handle: Handle) -> Option<usize> {
    let is_handle = handle >> PLACE_BITS != 0;
    usize::try_from(handle & ((1 << PLACE_BITS) - 1))
        .ok()
        .filter(|_| is_handle)
}

/// Keeps a number with a handle.
pub(crate) fn keep_number(handle: Handle, number: u32) -> Result<()> {
    if object(handle).is_none() {
        return refuse(ErrorCode::InvalidHandle, unknown(handle, "anything"));
    }
    let process = Process::this();
    let mut registry = process.write();
    if let Some(place) = process.index_of(handle).and_then(|at| registry.places.get_mut(at)) {
        place.number = Some(number);
    }
    Ok(())
}

/// The number that was kept with a handle.
pub(crate) fn kept_number(handle: Handle) -> Option<u32> {
    object(handle)?;
    let process = Process::this();
    let registry = process.read();
    registry.places.get(process.index_of(handle)?)?.number
}

/// What is open, and what was done since the first handle was given away.
pub(crate) struct Activity {
    pub(crate) connections: Usage,
    pub(crate) tables: Usage,
    pub(crate) statements: Usage,
    /// How many calls connections have served, closed ones too.
    pub(crate) operations: u64,
    pub(crate) since: Duration,
}

pub(crate) fn activity() -> Activity {
    let open = all().into_iter().filter_map(|(_, object)| match object {
        Object::Connection(session) => Some(lock(&session).operations),
        _ => None,
    });
    let operations: u64 = open.sum();
    let registry = Process::this().read();
    let since = registry.since.map_or(Duration::ZERO, |since| since.elapsed());
    Activity {
        connections: registry.connections,
        tables: registry.tables,
        statements: registry.statements,
        operations: operations + registry.operations,
        since,
    }
}

/// Every object that is open, with its handle.
pub(crate) fn all() -> Vec<(Handle, Object)> {
    let process = Process::this();
    let registry = process.read();
    let places = registry.places.iter().zip(process.inherited as u64..);
    let open = places.filter_map(|(place, at)| {
        let handle = u64::from(place.turn) << PLACE_BITS | at;
        Some((handle, place.object.clone()?))
    });
    open.collect()
}

/// Locks something that a thread may have left in the middle of a call: every call leaves it whole.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether no connection is opened any more.
static NO_LOCAL_CONNECTIONS: AtomicBool = AtomicBool::new(false);

/// Lets the process open no connection to the local server any more.
pub(crate) fn disable_local_connections() {
    NO_LOCAL_CONNECTIONS.store(true, Ordering::Relaxed);
}

/// Opens a connection and gives it a handle.
pub(crate) fn add_connection(mut connection: Connection) -> Result<Handle> {
    if NO_LOCAL_CONNECTIONS.load(Ordering::Relaxed) {
        return refuse(
            ErrorCode::NoConnection,
            "connections to the local server are switched off (AdsDisableLocalConnections), and there is no other server",
        );
    }
    connection.set_analytical(Some(Arc::new(SharedEngine)));
    let session = Arc::new(Mutex::new(Session {
        connection,
        handle: 0,
        tables: Vec::new(),
        indexes: Vec::new(),
        leading: Vec::new(),
        cursors: Vec::new(),
        operations: 0,
        settings: SeenSettings::new(),
        sql_timeout: 0,
        collation: String::new(),
        opening: Opening::default(),
        is_of_table: false,
    }));
    let handle = add(Object::Connection(Arc::clone(&session)))?;
    lock(&session).handle = handle;
    Ok(handle)
}

/// The session of a connection's handle; 0 is the connection to the current folder.
pub(crate) fn session(handle: Handle) -> Result<Arc<Mutex<Session>>> {
    if handle != 0 {
        return match object(handle) {
            Some(Object::Connection(session)) => Ok(session),
            _ => refuse(ErrorCode::InvalidConnectionHandle, unknown(handle, "a connection")),
        };
    }
    let mut default = lock(&Process::this().default);
    if let Some(Object::Connection(session)) = object(*default) {
        return Ok(session);
    }
    *default = add_connection(Connection::open(".")?)?;
    match object(*default) {
        Some(Object::Connection(session)) => Ok(session),
        _ => refuse(ErrorCode::InternalError, "the connection is closed already"),
    }
}

/// Does something with a connection.
pub(crate) fn with_connection<T>(handle: Handle, work: impl FnOnce(&mut Session) -> Result<T>) -> Result<T> {
    work(&mut serving(&*session(handle)?))
}

/// Locks a session for a call, which is counted.
fn serving(session: &Mutex<Session>) -> Entered<'_> {
    let mut session = entered(session);
    session.operations += 1;
    session
}

/// A session that a call is about, whose settings are those of the thread meanwhile.
pub(crate) struct Entered<'s> {
    session: MutexGuard<'s, Session>,
    has_settings: bool,
}

/// Locks a session, and makes its settings those of the thread.
pub(crate) fn entered(session: &Mutex<Session>) -> Entered<'_> {
    let mut session = lock(session);
    let has_settings = session.settings.has_own();
    if has_settings {
        settings::enter(session.settings.own());
    }
    Entered { session, has_settings }
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        if self.has_settings {
            settings::enter(None);
        }
    }
}

impl Deref for Entered<'_> {
    type Target = Session;

    fn deref(&self) -> &Session {
        &self.session
    }
}

impl DerefMut for Entered<'_> {
    fn deref_mut(&mut self) -> &mut Session {
        &mut self.session
    }
}

/// A table or an order that this thread used last.
struct Recent {
    handle: Handle,
    /// How often handles had been given away or taken back then.
    changes: u64,
    session: Arc<Mutex<Session>>,
    area: AreaId,
    order: Option<OrderId>,
}

thread_local! {
    /// The last two, because programs walk an order and ask its table: what is found here needs no look into the list.
    static RECENT: RefCell<[Option<Recent>; 2]> = const { RefCell::new([None, None]) };
}

/// Does something with a table, by its handle or one of its orders'.
pub(crate) fn with_any<T>(
    handle: Handle,
    work: impl FnOnce(&mut Session, AreaId, Option<OrderId>) -> Result<T>,
) -> Result<T> {
    with_known(handle, no_table, |session, area, order| {
        let order = order.or_else(|| session.leading_order(area));
        work(session, area, order)
    })
}

/// As [`with_any`]; `unknown` is the error for what is neither.
fn with_known<T>(
    handle: Handle,
    unknown: fn(Handle) -> Error,
    work: impl FnOnce(&mut Session, AreaId, Option<OrderId>) -> Result<T>,
) -> Result<T> {
    let changes = CHANGES.load(Ordering::Acquire);
    RECENT.with(|places| {
        if let Ok(recent) = places.try_borrow()
            && let Some(known) = recent
                .iter()
                .flatten()
                .find(|known| known.handle == handle && known.changes == changes)
        {
            return work(&mut serving(&known.session), known.area, known.order);
        }
        let (session, area, order) = remembered(places, handle, changes).ok_or_else(|| unknown(handle))?;
        work(&mut serving(&session), area, order)
    })
}

/// Looks up a table or an order, and remembers it.
#[cold]
#[inline(never)]
fn remembered(
    places: &RefCell<[Option<Recent>; 2]>,
    handle: Handle,
    changes: u64,
) -> Option<(Arc<Mutex<Session>>, AreaId, Option<OrderId>)> {
    let known = looked_up(handle, changes)?;
    let found = (Arc::clone(&known.session), known.area, known.order);
    if let Ok(mut recent) = places.try_borrow_mut() {
        recent.swap(0, 1);
        recent[0] = Some(known);
    }
    Some(found)
}

#[cold]
fn looked_up(handle: Handle, changes: u64) -> Option<Recent> {
    let (session, area, order) = match object(handle)? {
        Object::Table(session, area) => (session, area, None),
        Object::Index(session, area, order) => (session, area, Some(order)),
        _ => return None,
    };
    Some(Recent {
        handle,
        changes,
        session,
        area,
        order,
    })
}

#[cold]
fn no_table(handle: Handle) -> Error {
    Error::new(ErrorCode::InvalidTableHandle, unknown(handle, "a table or an order"))
}

#[cold]
fn no_order(handle: Handle) -> Error {
    Error::new(ErrorCode::InvalidIndexHandle, unknown(handle, "an order"))
}

/// Does something with a table, by its handle or one of its orders'.
pub(crate) fn with_area<T>(handle: Handle, work: impl FnOnce(&mut WorkArea) -> Result<T>) -> Result<T> {
    with_any(handle, |session, area, _| work(session.connection.area(area)?))
}

/// Does something with an order.
pub(crate) fn with_order<T>(
    handle: Handle,
    work: impl FnOnce(&mut Session, AreaId, OrderId) -> Result<T>,
) -> Result<T> {
    with_known(handle, no_order, |session, area, order| match order {
        Some(order) => work(session, area, order),
        None => Err(no_order(handle)),
    })
}

/// As [`with_order`], or with the order that a table's handle stands for.
pub(crate) fn with_led_order<T>(
    handle: Handle,
    work: impl FnOnce(&mut Session, AreaId, OrderId) -> Result<T>,
) -> Result<T> {
    with_known(handle, no_order, |session, area, order| {
        match order.or_else(|| session.leading_order(area)) {
            Some(order) => work(session, area, order),
            None => Err(no_order(handle)),
        }
    })
}

impl Session {
    /// The handle of a table.
    pub(crate) fn table_handle(&mut self, area: AreaId) -> Result<Handle> {
        if let Some((_, handle)) = self.tables.iter().find(|(known, _)| *known == area) {
            return Ok(*handle);
        }
        let handle = add(Object::Table(self.this()?, area))?;
        self.tables.push((area, handle));
        Ok(handle)
    }

    /// The handle of a statement's cursor.
    pub(crate) fn cursor_handle(&mut self, area: AreaId, statement: Handle) -> Result<Handle> {
        let handle = self.table_handle(area)?;
        self.cursors.push((area, statement));
        Ok(handle)
    }

    /// The statement that a cursor came of.
    pub(crate) fn statement_of(&self, area: AreaId) -> Option<Handle> {
        let found = self.cursors.iter().find(|(known, _)| *known == area);
        found.map(|(_, statement)| *statement)
    }

    fn this(&self) -> Result<Arc<Mutex<Self>>> {
        match object(self.handle) {
            Some(Object::Connection(this)) => Ok(this),
            _ => refuse(ErrorCode::InvalidConnectionHandle, "the connection is closed"),
        }
    }

    /// The handle of an order.
    pub(crate) fn index_handle(&mut self, area: AreaId, order: OrderId) -> Result<Handle> {
        let is_known = |(known, its, _): &&(AreaId, OrderId, Handle)| (*known, *its) == (area, order);
        if let Some((_, _, handle)) = self.indexes.iter().find(is_known) {
            return Ok(*handle);
        }
        let handle = add(Object::Index(self.this()?, area, order))?;
        self.indexes.push((area, order, handle));
        Ok(handle)
    }

    /// Lets the handle of a table stand for an order, or for the table alone again.
    pub(crate) fn lead(&mut self, area: AreaId, order: Option<OrderId>) {
        self.leading.retain(|(known, _)| *known != area);
        self.leading.extend(order.map(|order| (area, order)));
    }

    fn leading_order(&self, area: AreaId) -> Option<OrderId> {
        let found = self.leading.iter().find(|(known, _)| *known == area);
        found.map(|(_, order)| *order)
    }

    /// Takes the handles of orders back that are not open any more.
    pub(crate) fn forget_orders(&mut self, area: AreaId) {
        let open: Vec<OrderId> = self
            .connection
            .area(area)
            .map(|area| area.orders().chain(area.full_text_orders()).collect())
            .unwrap_or_default();
        self.leading
            .retain(|(known, order)| *known != area || open.contains(order));
        self.indexes.retain(|(known, order, handle)| {
            let is_open = *known != area || open.contains(order);
            if !is_open {
                remove(*handle);
            }
            is_open
        });
    }

    /// Closes a table and takes its handles back.
    pub(crate) fn close_table(&mut self, area: AreaId) -> Result<()> {
        let closed = self.connection.close_table(area);
        self.forget_table(area);
        closed
    }

    /// Takes the handles of a table back that is closed.
    pub(crate) fn forget_table(&mut self, area: AreaId) {
        self.forget_orders(area);
        self.cursors.retain(|(known, _)| *known != area);
        self.settings.forget_table(area);
        self.tables.retain(|(known, handle)| {
            if *known == area {
                remove(*handle);
            }
            *known != area
        });
    }

    /// Counts the calls that it has served to those of closed connections.
    pub(crate) fn retire(&mut self) {
        let operations = std::mem::take(&mut self.operations);
        Process::this().write().operations += operations;
    }

    /// Closes everything that is open on the connection.
    pub(crate) fn close_all(&mut self) -> Result<()> {
        let open: Vec<AreaId> = self.connection.areas().map(|(area, _)| area).collect();
        let closed = open.into_iter().map(|area| self.close_table(area));
        let closed = closed.fold(Ok(()), Result::and);
        closed.and(self.connection.close_all())
    }

    pub(crate) fn table_handles(&self) -> impl Iterator<Item = Handle> {
        self.tables.iter().map(|(_, handle)| *handle)
    }
}
