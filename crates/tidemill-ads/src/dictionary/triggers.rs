//! Triggers that a dictionary has of its tables and views: which there are, when they fire, and how they are made and removed.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use super::administration::{found, not_completed, put_text};
use super::object::{Kind, Object, place};
use super::programs::{new_object, text_or_empty};
use super::{Dictionary, file};
use crate::connection::Connection;
use crate::error::{Error, ErrorCode, Result};
use crate::settings::Settings;
use crate::sql::check_script;
use crate::work_area::TableOptions;

/// What fires a trigger, with the number of `ace.h`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TriggerEvent {
    /// A new record.
    Insert = 1,
    /// A record that is changed.
    Update = 2,
    /// A record that is deleted.
    Delete = 3,
}

/// When a trigger fires, with the number of `ace.h`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TriggerMoment {
    /// Before the change, which it can refuse.
    Before = 1,
    /// In the place of the change.
    InsteadOf = 2,
    /// After the change, which it can still refuse.
    After = 4,
    /// Where a change that comes by replication does not fit.
    OnConflict = 8,
}

/// What a trigger or a procedure is written in, with the number of `ace.h`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TriggerContainer {
    /// A function of a library.
    Library = 1,
    /// A function of a COM object or a .NET assembly.
    Com = 2,
    /// An SQL script.
    Script = 3,
}

impl TriggerEvent {
    /// The event of a number.
    pub fn from_number(number: u32) -> Option<Self> {
        [Self::Insert, Self::Update, Self::Delete]
            .into_iter()
            .find(|known| *known as u32 == number)
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Insert => "INSERT",
            Self::Update => "UPDATE",
            Self::Delete => "DELETE",
        }
    }
}

impl TriggerMoment {
    /// The moment of a number.
    pub fn from_number(number: u32) -> Option<Self> {
        [Self::Before, Self::InsteadOf, Self::After, Self::OnConflict]
            .into_iter()
            .find(|known| *known as u32 == number)
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Before => "BEFORE",
            Self::InsteadOf => "INSTEAD OF",
            Self::After => "AFTER",
            Self::OnConflict => "CONFLICT ON",
        }
    }
}

impl TriggerContainer {
    /// The kind of a number.
    pub fn from_number(number: u32) -> Option<Self> {
        [Self::Library, Self::Com, Self::Script]
            .into_iter()
            .find(|known| *known as u32 == number)
    }
}

/// A trigger that a table is to have.
#[derive(Debug, Clone, Copy)]
pub struct NewTrigger<'t> {
    /// Its name, which no other trigger of the table has.
    pub name: &'t str,
    /// The table, or the view.
    pub table: &'t str,
    /// What fires it.
    pub event: TriggerEvent,
    /// When.
    pub moment: TriggerMoment,
    /// What it is written in.
    pub kind: TriggerContainer,
    /// The script, or the name of the library or the object.
    pub container: &'t str,
    /// The function of a library.
    pub function: &'t str,
    /// Those of a lower priority fire first.
    pub priority: u32,
    /// `ADS_TRIGOPTIONS_…` of `ace.h`.
    pub options: u32,
    /// What it is about.
    pub comment: &'t str,
}

/// A trigger.
#[derive(Debug)]
pub(crate) struct Trigger {
    pub(crate) number: u32,
    pub(crate) name: String,
    pub(crate) event: TriggerEvent,
    pub(crate) moment: TriggerMoment,
    pub(crate) kind: TriggerContainer,
    /// The script, or the name of what holds the function.
    pub(crate) container: Arc<str>,
    pub(crate) function: String,
    priority: u32,
    options: u32,
}

/// The triggers of a table that fire here, in the order in which they do. Those of conflicts are replication's.
#[derive(Debug)]
pub(crate) struct TableTriggers {
    /// Its name.
    pub(crate) table: String,
    is_view: bool,
    triggers: Vec<Trigger>,
}

impl TableTriggers {
    pub(crate) fn of(&self, event: TriggerEvent, moment: TriggerMoment) -> impl Iterator<Item = &Trigger> {
        let is_it = move |trigger: &&Trigger| trigger.event == event && trigger.moment == moment;
        self.triggers.iter().filter(is_it)
    }

    /// The first that an event fires.
    pub(crate) fn first(&self, event: TriggerEvent) -> Option<&Trigger> {
        self.triggers.iter().find(|trigger| trigger.event == event)
    }

    /// What they belong to, for messages.
    pub(crate) fn parent(&self) -> &'static str {
        if self.is_view { "view" } else { "table" }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.triggers.is_empty()
    }

    /// Whether those of an event want the values of the record, and whether they want its memos.
    pub(crate) fn wants(&self, event: TriggerEvent) -> (bool, bool) {
        let of_event = self.triggers.iter().filter(|trigger| trigger.event == event);
        let options = of_event.fold(0, |options, trigger| options | trigger.options);
        (options & (WANT_VALUES | WANT_MEMOS) != 0, options & WANT_MEMOS != 0)
    }
}

impl Dictionary {
    /// The triggers of each table that are on.
    ///
    /// # Errors
    /// By the number of the table, which of its triggers is not understood.
    pub(super) fn triggers_of(objects: &[Object]) -> BTreeMap<u32, Result<Arc<TableTriggers>, String>> {
        let mut all: BTreeMap<u32, Result<TableTriggers, String>> = BTreeMap::new();
        let is_off = |object: &Object| object.has_triggers_off();
        if objects
            .iter()
            .any(|object| object.kind == Kind::Database && is_off(object))
        {
            return BTreeMap::new();
        }
        let triggers = objects.iter().filter(|object| object.kind == Kind::Trigger);
        for object in triggers.filter(|trigger| !is_off(trigger)) {
            let Some(table) = objects
                .iter()
                .find(|table| table.has_triggers() && table.number == object.parent && !is_off(table))
            else {
                continue;
            };
            let none = || {
                Ok(TableTriggers {
                    table: table.name.clone(),
                    is_view: table.kind == Kind::View,
                    triggers: Vec::new(),
                })
            };
            let known = all.entry(table.number).or_insert_with(none);
            match (&mut *known, Trigger::of(object)) {
                (Ok(known), Ok(trigger)) if trigger.moment != TriggerMoment::OnConflict => known.triggers.push(trigger),
                (Ok(_), Err(why)) => *known = Err(why),
                _ => {}
            }
        }
        let sorted = all.into_iter().map(|(table, known)| {
            let known = known.map(|mut known| {
                known.triggers.sort_by_key(|trigger| (trigger.priority, trigger.number));
                Arc::new(known)
            });
            (table, known)
        });
        sorted.collect()
    }

    /// The triggers of the table of a file; `None` for one without.
    pub(crate) fn triggers_at(&self, path: &Path) -> Option<Arc<TableTriggers>> {
        let table = self.table_at(path)?;
        let known = self.triggers.get(&table.number)?.as_ref().ok()?;
        (!known.triggers.is_empty()).then(|| Arc::clone(known))
    }

    /// The triggers of a view that are on; `None` for one without, and where there is no such view.
    ///
    /// # Errors
    /// [`ErrorCode::TriggerFailed`] for one that is not understood.
    pub(crate) fn triggers_of_view(&self, name: &str) -> Result<Option<Arc<TableTriggers>>> {
        let mut views = self.objects.iter().filter(|object| object.kind == Kind::View);
        let Some(known) = views
            .find(|view| !self.triggers.is_empty() && view.is_called(name))
            .and_then(|view| self.triggers.get(&view.number))
        else {
            return Ok(None);
        };
        match known {
            Ok(known) => Ok(Some(Arc::clone(known)).filter(|known| !known.is_empty())),
            Err(why) => Err(Error::new(ErrorCode::TriggerFailed, format!("view {name} has {why}"))),
        }
    }

    /// The file of the dictionary.
    pub(crate) fn file(&self) -> &Path {
        &self.file
    }
}

impl Trigger {
    pub(super) fn of(object: &Object) -> Result<Self, String> {
        let number = |place| object.values.number(place);
        let damaged = |what: &str| format!("{object}, of which {what} is not known,");
        let event = number(place::TRIGGER_EVENT).and_then(TriggerEvent::from_number);
        let moment = number(place::TRIGGER_MOMENT).and_then(TriggerMoment::from_number);
        let kind = number(place::TRIGGER_CONTAINER_KIND).and_then(TriggerContainer::from_number);
        Ok(Self {
            number: object.number,
            name: object.name.clone(),
            event: event.ok_or_else(|| damaged("the event"))?,
            moment: moment.ok_or_else(|| damaged("the moment"))?,
            kind: kind.ok_or_else(|| damaged("the kind of container"))?,
            container: text_or_empty(object, place::TRIGGER_CONTAINER).into(),
            function: text_or_empty(object, place::TRIGGER_FUNCTION),
            priority: number(place::TRIGGER_PRIORITY).unwrap_or(1),
            options: number(place::TRIGGER_OPTIONS).unwrap_or(WANT_VALUES | WANT_MEMOS),
        })
    }
}

impl Connection {
    /// Gives a table or a view a trigger, or another definition to the one of its name. It is no part of a transaction.
    ///
    /// # Errors
    /// [`ErrorCode::TriggerNotMade`] for one that cannot be, or cannot be beside those that there are; [`ErrorCode::TriggerOnLiveView`]; [`ErrorCode::DdRequestNotCompleted`] for a name that
    /// another has; [`ErrorCode::InvalidObjectName`] for a table, or one to replace, that is not there; [`ErrorCode::Statement`] for a script
    /// that is none; when the dictionary cannot be written.
    pub fn create_trigger(&mut self, trigger: &NewTrigger<'_>, replaces: bool, settings: &Settings) -> Result<()> {
        let mut object = new_object(Kind::Trigger, trigger.name)?;
        if trigger.kind == TriggerContainer::Script {
            check_script(trigger.container)?;
        }
        check_kind(trigger)?;
        if let Some(select) = self.dictionary_to_change()?.view(trigger.table) {
            self.check_view_trigger(trigger, &select, settings)?;
        }
        for (place, number) in [
            (place::TRIGGER_EVENT, trigger.event as u32),
            (place::TRIGGER_MOMENT, trigger.moment as u32),
            (place::TRIGGER_CONTAINER_KIND, trigger.kind as u32),
            (place::TRIGGER_PRIORITY, trigger.priority),
            (place::TRIGGER_OPTIONS, trigger.options),
        ] {
            object.values.set(place, Some(number.to_le_bytes().to_vec()));
        }
        put_text(&mut object, place::TRIGGER_CONTAINER, trigger.container);
        put_text(&mut object, place::TRIGGER_FUNCTION, trigger.function);
        trigger.comment.clone_into(&mut object.comment);
        self.dictionary_to_change()?.change(settings, |changing| {
            let is_table = |known: &Object| known.has_triggers() && known.is_called(trigger.table);
            let table = found(changing, is_table, trigger.table)?.number;
            let is_it = |known: &Object| known.is(Kind::Trigger, table) && known.is_called(trigger.name);
            let known = changing.objects().iter().find(|known| is_it(known)).cloned();
            match (known, replaces) {
                (Some(known), false) => {
                    return Err(not_completed(&format!("{} has a {known} already", trigger.table)));
                }
                (None, true) => return Err(super::administration::invalid_name(trigger.name)),
                (None, false) => {
                    let parent = table;
                    changing.add(Object { parent, ..object }.info(table))?;
                }
                (Some(known), true) => changing.replace(&Object {
                    values: object.values,
                    ..known
                })?,
            }
            note(changing, table)
        })?;
        self.hold_to_new_triggers(settings)
    }

    /// A view has INSTEAD OF triggers, and is rows of its own.
    fn check_view_trigger(&mut self, trigger: &NewTrigger<'_>, select: &str, settings: &Settings) -> Result<()> {
        let (view, moment) = (trigger.table, trigger.moment);
        if moment != TriggerMoment::InsteadOf {
            let what = format!(
                "view {view} has INSTEAD OF triggers alone, and {} is {}",
                trigger.name,
                moment.name()
            );
            return Err(Error::new(ErrorCode::TriggerNotMade, what));
        }
        let shown = self.open_view(select, &TableOptions::default().read_only(), settings)?;
        let is_live = !self.area(shown)?.is_in_memory();
        self.close_table(shown)?;
        match is_live {
            true => Err(live_view(view)),
            false => Ok(()),
        }
    }

    /// Takes a trigger from a table or a view. It is no part of a transaction.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidObjectName`] for one that is not there; when the dictionary cannot be written.
    pub fn drop_trigger(&mut self, table: &str, name: &str, settings: &Settings) -> Result<()> {
        self.dictionary_to_change()?.change(settings, |changing| {
            let tables: Vec<u32> = changing
                .objects()
                .iter()
                .filter(|known| known.has_triggers() && (table.is_empty() || known.is_called(table)))
                .map(|table| table.number)
                .collect();
            let is_it =
                |known: &Object| known.kind == Kind::Trigger && tables.contains(&known.parent) && known.is_called(name);
            let trigger = found(changing, is_it, name)?;
            changing.remove(trigger.number)?;
            note(changing, trigger.parent)
        })?;
        self.hold_to_new_triggers(settings)
    }

    pub(super) fn hold_to_new_triggers(&mut self, settings: &Settings) -> Result<()> {
        self.statements.forget_names();
        self.hold_to_new_rules(settings)
    }
}

/// Refuses what no trigger is.
fn check_kind(trigger: &NewTrigger<'_>) -> Result<()> {
    match (trigger.moment, trigger.event) {
        (TriggerMoment::OnConflict, TriggerEvent::Insert) => {
            let what = format!(
                "trigger {}: a record that replication inserts is in conflict with none, so that CONFLICT ON is UPDATE or DELETE, and not INSERT",
                trigger.name
            );
            Err(Error::new(ErrorCode::TriggerNotMade, what))
        }
        _ => Ok(()),
    }
}

/// What is said of a view that has triggers and is a cursor over its table.
pub(crate) fn live_view(view: &str) -> Error {
    let what = format!(
        "view {view} is a cursor over the table that it shows, and is changed there: give that table the trigger, or select {{static}} rows"
    );
    Error::new(ErrorCode::TriggerOnLiveView, what)
}

/// Notes at a table which triggers it has, and refuses those that cannot be beside one another.
fn note(changing: &mut file::Changing, table: u32) -> Result<()> {
    let mut table = found(changing, |known| known.number == table, "table")?;
    let parent = if table.kind == Kind::View { "view" } else { "table" };
    let (mut kinds, mut options) = (0, 0);
    let mut seen: Vec<(TriggerEvent, TriggerMoment)> = Vec::new();
    for object in changing.objects() {
        if !object.is(Kind::Trigger, table.number) {
            continue;
        }
        let Ok(trigger) = Trigger::of(object) else { continue };
        let (event, moment) = (trigger.event, trigger.moment);
        let mut others = seen.iter().filter(|(known, _)| *known == event);
        let refused = others.find(|(_, other)| {
            let both = [moment, *other];
            both == [TriggerMoment::InsteadOf; 2]
                || both.contains(&TriggerMoment::InsteadOf) && both.contains(&TriggerMoment::Before)
        });
        if let Some((_, other)) = refused {
            let (table, event) = (&table.name, event.name());
            let what = format!(
                "{parent} {table} has a trigger {} {event} and can have none {} {event} beside it",
                other.name(),
                moment.name()
            );
            return Err(Error::new(ErrorCode::TriggerNotMade, what));
        }
        seen.push((event, moment));
        kinds |= kind_bit(event, moment);
        options |= (trigger.options & 0xF) << (4 * (event as u32 - 1));
    }
    if table.kind == Kind::View {
        // Where a view would note them is not known.
        return Ok(());
    }
    for (place, number) in [(place::TABLE_TRIGGERS, kinds), (place::TABLE_TRIGGER_OPTIONS, options)] {
        let value = (!seen.is_empty()).then(|| number.to_le_bytes().to_vec());
        table.values.set(place, value);
    }
    changing.replace(&table)
}

/// The bit of a kind of trigger in the value of its table. Those of conflicts were in no file at hand.
fn kind_bit(event: TriggerEvent, moment: TriggerMoment) -> u32 {
    let shift = 3 * (event as u32 - 1);
    match moment {
        TriggerMoment::Before => 1 << shift,
        TriggerMoment::InsteadOf => 2 << shift,
        TriggerMoment::After => 4 << shift,
        TriggerMoment::OnConflict => match event {
            // There is none.
            TriggerEvent::Insert => 0,
            TriggerEvent::Update => 0x200,
            TriggerEvent::Delete => 0x400,
        },
    }
}

/// `ADS_TRIGOPTIONS_WANT_VALUES` and `ADS_TRIGOPTIONS_WANT_MEMOS_AND_BLOBS` of `ace.h`.
const WANT_VALUES: u32 = 1;
const WANT_MEMOS: u32 = 2;
