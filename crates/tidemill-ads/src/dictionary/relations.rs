//! Relations between the tables of a dictionary: what a change of one table does to others, or why it cannot be.
//!
//! A table that has relations is changed through a log, so that a change and what follows from it are made as a whole or not at all. The other
//! tables are opened when they are needed first, beside others, and closed with the change, or with the transaction that it is in.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use tidemill_xbase::expression::{Record as _, RecordBytes, Value};
use tidemill_xbase::{
    BrokenRule, Error, Follower, KeySettings, OpenMode, OpenOptions, RecordChange, Result, RuleKind, RuleTexts,
    TableEditor,
};

use super::Dictionary;
use super::object::{Kind, Object, place};
use super::rules;
use crate::settings::Settings;
use crate::triggers::Runner;
use crate::work_area::{TableOptions, edit_options};

/// What a change of a key does to the records that refer to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RelationRule {
    /// They are changed, or deleted, too.
    Cascade,
    /// It is refused where there are any.
    Restrict,
    /// They refer to nothing.
    SetNull,
    /// They refer to the default values of their fields.
    SetDefault,
}

impl RelationRule {
    /// The rule of a number (`ADS_DD_RI_CASCADE` and its like).
    pub fn from_number(number: u32) -> Option<Self> {
        [Self::Cascade, Self::Restrict, Self::SetNull, Self::SetDefault]
            .into_iter()
            .find(|rule| rule.number() == number)
    }

    /// Its number.
    pub fn number(self) -> u32 {
        match self {
            Self::Cascade => 1,
            Self::Restrict => 2,
            Self::SetNull => 3,
            Self::SetDefault => 4,
        }
    }
}

/// The relations of a dictionary, and the tables that they are between.
#[derive(Debug)]
struct Graph {
    relations: Vec<Relation>,
    tables: BTreeMap<u32, GraphTable>,
    settings: Settings,
    /// Says whether they are kept now.
    runner: Arc<Runner>,
}

#[derive(Debug)]
struct GraphTable {
    path: PathBuf,
    indexes: Vec<PathBuf>,
    texts: RuleTexts,
}

#[derive(Debug)]
struct Relation {
    name: String,
    /// The number of a table, and its order.
    parent: (u32, String),
    child: (u32, String),
    on_update: RelationRule,
    on_delete: RelationRule,
    no_parent: Option<String>,
    no_cascade: Option<String>,
}

/// Who keeps the relations of a table.
#[derive(Debug)]
struct Keeper {
    graph: Arc<Graph>,
    table: u32,
    open: BTreeMap<u32, TableEditor>,
    /// How many changes led here.
    depth: usize,
}

/// How far a change is carried on.
const MAX_DEPTH: usize = 32;

impl Dictionary {
    /// Who keeps the relations of a table; nobody for one without.
    ///
    /// # Errors
    /// Why they cannot be kept.
    pub(super) fn keeper(
        &self,
        table: u32,
        runner: &Arc<Runner>,
        settings: &Settings,
    ) -> Result<Option<Box<dyn Follower>>, String> {
        if self.relations_of(table).next().is_none() {
            return Ok(None);
        }
        let relations = self.of_kind(Kind::Relation).into_iter();
        let relations = relations
            .map(|object| self.relation(object))
            .collect::<Result<Vec<_>, _>>()?;
        let mut tables = BTreeMap::new();
        for number in relations
            .iter()
            .flat_map(|relation| [relation.parent.0, relation.child.0])
        {
            let known = self.tables.iter().find(|table| table.number == number);
            let known = known.ok_or_else(|| format!("a relation of table {number}, which is not there,"))?;
            if let Some(rule) = self.unenforced(known) {
                return Err(format!("{rule} of {}, which is related,", known.name));
            }
            let path = known.file.clone().map_err(|(_, why)| why)?;
            tables.insert(
                number,
                GraphTable {
                    path,
                    indexes: known.indexes.clone(),
                    texts: rules::texts_of(&self.objects, number),
                },
            );
        }
        self.check_carried_on(table, &relations)?;
        let graph = Graph {
            relations,
            tables,
            settings: settings.clone(),
            runner: Arc::clone(runner),
        };
        Ok(Some(Box::new(Keeper {
            graph: Arc::new(graph),
            table,
            open: BTreeMap::new(),
            depth: 0,
        })))
    }

    /// Refuses to carry changes of a table on to one that has triggers: they would not fire.
    fn check_carried_on(&self, table: u32, relations: &[Relation]) -> Result<(), String> {
        let mut reached = vec![table];
        let mut next = 0;
        while let Some(parent) = reached.get(next).copied() {
            next += 1;
            for relation in relations.iter().filter(|relation| relation.parent.0 == parent) {
                if [relation.on_update, relation.on_delete] == [RelationRule::Restrict; 2] {
                    continue;
                }
                if self.fires_any(relation.child.0) {
                    return Err(format!(
                        "relation {}, which carries changes on to a table whose triggers would have to fire,",
                        relation.name
                    ));
                }
                if !reached.contains(&relation.child.0) {
                    reached.push(relation.child.0);
                }
            }
        }
        Ok(())
    }

    fn relation(&self, object: &Object) -> Result<Relation, String> {
        let damaged = |what: &str| format!("{object}, of which {what} is not known,");
        let number = |place, what| object.values.number(place).ok_or_else(|| damaged(what));
        let order = |place, what| {
            let number = object.values.number(place);
            let mut keys = self.objects.iter().filter(|object| object.kind == Kind::Key);
            let key = keys.find(|key| Some(key.number) == number);
            key.map(|key| key.name.clone()).ok_or_else(|| damaged(what))
        };
        let rule = |place, what| {
            let rule = object.values.number(place).and_then(RelationRule::from_number);
            rule.ok_or_else(|| damaged(what))
        };
        let text = |place| {
            let text = object.values.text(place).filter(|text| !text.is_empty());
            text.map(|text| super::file::CODEPAGE.decode(text))
        };
        Ok(Relation {
            name: object.name.clone(),
            parent: (
                number(place::RELATION_PARENT, "the parent")?,
                order(place::RELATION_PARENT_KEY, "the primary key")?,
            ),
            child: (
                number(place::RELATION_CHILD, "the child")?,
                order(place::RELATION_CHILD_KEY, "the foreign key")?,
            ),
            on_update: rule(place::RELATION_UPDATE, "the rule of changes")?,
            on_delete: rule(place::RELATION_DELETE, "the rule of deletions")?,
            no_parent: text(place::RELATION_NO_PARENT),
            no_cascade: text(place::RELATION_NO_CASCADE),
        })
    }
}

impl Follower for Keeper {
    fn follow(&mut self, table: &mut TableEditor, change: RecordChange<'_>) -> Result<()> {
        match self.graph.runner.keeps_relations() {
            true => self.keep(table, change),
            false => Ok(()),
        }
    }

    fn let_go(&mut self) {
        self.open.clear();
    }
}

/// Who lets changes pass while the connection keeps no relations, and none once it does: these cannot be kept.
#[derive(Debug)]
struct Unkept {
    why: String,
    runner: Arc<Runner>,
}

/// Stands for relations that cannot be kept, on a connection that keeps none for now.
pub(super) fn unkept(rule: String, runner: &Arc<Runner>) -> Box<dyn Follower> {
    Box::new(Unkept {
        why: format!("{rule} is not enforced"),
        runner: Arc::clone(runner),
    })
}

impl Follower for Unkept {
    fn follow(&mut self, _: &mut TableEditor, _: RecordChange<'_>) -> Result<()> {
        match self.runner.keeps_relations() {
            true => Err(Error::Misuse(self.why.clone())),
            false => Ok(()),
        }
    }

    fn let_go(&mut self) {}
}

impl Keeper {
    fn keep(&mut self, table: &mut TableEditor, change: RecordChange<'_>) -> Result<()> {
        let (graph, own) = (Arc::clone(&self.graph), self.table);
        for relation in graph.relations.iter().filter(|relation| relation.child.0 == own) {
            let [old, new] = keys_of(table, &relation.child.1, change)?;
            let Some(new) = new.filter(|new| old.as_ref() != Some(new)) else {
                continue;
            };
            let found = self.with(relation.parent.0, table, |parent| {
                parent.records_of_key(&relation.parent.1, &new)
            })?;
            if found.is_empty() {
                return broken(
                    table,
                    change.record,
                    RuleKind::Parent(relation.name.clone()),
                    &relation.no_parent,
                );
            }
        }
        for relation in graph.relations.iter().filter(|relation| relation.parent.0 == own) {
            let [old, new] = keys_of(table, &relation.parent.1, change)?;
            let Some(old) = old.filter(|old| new.as_ref() != Some(old)) else {
                continue;
            };
            let children = self.with(relation.child.0, table, |child| {
                child.records_of_key(&relation.child.1, &old)
            })?;
            let rule = match change.after {
                Some(_) => relation.on_update,
                None => relation.on_delete,
            };
            if rule == RelationRule::Restrict && !children.is_empty() {
                return broken(table, change.record, RuleKind::Restricted(relation.name.clone()), &None);
            }
            for child in children {
                let done = self.carry_on(relation, rule, table, (child, change));
                if let Err(error @ Error::Rule(_)) = done {
                    let rule = RuleKind::Cascade(relation.name.clone(), error.to_string());
                    return broken(table, change.record, rule, &relation.no_cascade);
                }
                done?;
            }
        }
        Ok(())
    }

    /// Does to a record what a rule says of a change of the record that it refers to.
    fn carry_on(
        &mut self,
        relation: &Relation,
        rule: RelationRule,
        table: &mut TableEditor,
        (record, change): (u32, RecordChange<'_>),
    ) -> Result<()> {
        if self.depth >= MAX_DEPTH {
            let why = format!(
                "relation {}: a change is carried on more than {MAX_DEPTH} times",
                relation.name
            );
            return Err(Error::Misuse(why));
        }
        let sources = key_fields(table, &relation.parent.1)?;
        let cells: Vec<Vec<u8>> = sources
            .iter()
            .filter_map(|source| {
                let field = table.fields().get(*source)?;
                let cell = change.after?.get(field.offset..field.offset + field.width)?;
                Some(cell.to_vec())
            })
            .collect();
        let changed = |child: &mut TableEditor| {
            let targets = key_fields(child, &relation.child.1)?;
            let had_lock = child.is_record_locked(record);
            child.lock_record(record)?;
            let before = child.record_bytes(record)?;
            let done = match (rule, change.after) {
                (RelationRule::Cascade, None) => child.delete(record),
                (RelationRule::Cascade, Some(_)) => {
                    let mut bytes = before.clone();
                    for (target, cell) in targets.iter().zip(&cells) {
                        let field = child.fields().get(*target);
                        let place = field.map_or(0..0, |field| field.offset..field.offset + field.width);
                        if let Some(own) = bytes.get_mut(place).filter(|own| own.len() == cell.len()) {
                            own.copy_from_slice(cell);
                        }
                    }
                    child.replace_bytes(record, &bytes, &[])
                }
                (RelationRule::SetNull | RelationRule::Restrict, _) => {
                    let nothing: Vec<_> = targets
                        .iter()
                        .map(|field| (*field, tidemill_xbase::Value::Null))
                        .collect();
                    child.replace(record, &nothing)
                }
                (RelationRule::SetDefault, _) => child.replace_with_defaults(record, &targets),
            };
            if !had_lock {
                child.unlock_record(record)?;
            }
            done.map(|()| before)
        };
        if relation.child.0 != self.table {
            return self.with(relation.child.0, table, changed).map(drop);
        }
        // Nobody but this one follows the table itself.
        let before = changed(table)?;
        let after = table.record_bytes(record)?;
        self.depth += 1;
        let is_deleted = table.is_deleted(record)?;
        let followed = self.keep(
            table,
            RecordChange {
                record,
                before: Some(&before),
                after: Some(after.as_slice()).filter(|_| !is_deleted),
            },
        );
        self.depth -= 1;
        followed
    }

    /// Does something with a table of the graph, which goes through the log of `own`.
    fn with<T>(
        &mut self,
        table: u32,
        own: &mut TableEditor,
        work: impl FnOnce(&mut TableEditor) -> Result<T>,
    ) -> Result<T> {
        if table == self.table {
            return work(own);
        }
        if !self.open.contains_key(&table) {
            let editor = self.opened(table, own)?;
            self.open.insert(table, editor);
        }
        match self.open.get_mut(&table) {
            Some(editor) => work(editor),
            None => Err(Error::Misuse("a related table is open no more".to_owned())),
        }
    }

    fn opened(&self, number: u32, own: &TableEditor) -> Result<TableEditor> {
        let (graph, log) = (&self.graph, own.log());
        let (Some(known), Some(log)) = (graph.tables.get(&number), log) else {
            return Err(Error::Misuse("relations are kept in a transaction".to_owned()));
        };
        let options = TableOptions {
            mode: OpenMode::Shared,
            ..TableOptions::default()
        };
        let edit = edit_options(&options, &graph.settings, OpenOptions::new()).log(log);
        let mut editor = TableEditor::open(&known.path, &edit)?;
        for index in known.indexes.iter().filter(|index| index.is_file()) {
            let keys = KeySettings::of_index(index, None, editor.opened());
            editor.open_index_with(index, &keys)?;
        }
        let rules = rules::compiled(&known.texts, editor.opened(), &graph.settings);
        editor.set_rules(Some(rules?));
        editor.set_follower(Some(Box::new(Self {
            graph: Arc::clone(graph),
            table: number,
            open: BTreeMap::new(),
            depth: self.depth + 1,
        })));
        Ok(editor)
    }
}

/// The keys of a record in an order before and after a change.
fn keys_of(table: &mut TableEditor, order: &str, change: RecordChange<'_>) -> Result<[Option<Vec<u8>>; 2]> {
    let mut key = |bytes: Option<&[u8]>| match bytes {
        Some(bytes) => key_of(table, order, (change.record, bytes)),
        None => Ok(None),
    };
    Ok([key(change.before)?, key(change.after)?])
}

/// The key of a record in an order; none for one that is deleted, and where a part of the key is NULL.
pub(super) fn key_of(table: &mut TableEditor, order: &str, (number, bytes): (u32, &[u8])) -> Result<Option<Vec<u8>>> {
    let order = table.order(order)?;
    let record = RecordBytes::new(table.opened(), number, bytes);
    for field in order.keys().parts().into_iter().flat_map(|(fields, _)| fields) {
        if record.value(field)? == Value::Null {
            return Ok(None);
        }
    }
    order.keys().key(&record)
}

/// The fields that the keys of an order are made of.
fn key_fields(table: &mut TableEditor, order: &str) -> Result<Vec<usize>> {
    let parts = table.order(order)?.keys().parts();
    Ok(parts.into_iter().flat_map(|(fields, _)| fields).collect())
}

fn broken(table: &TableEditor, record: u32, rule: RuleKind, message: &Option<String>) -> Result<()> {
    Err(Error::Rule(Box::new(BrokenRule {
        path: table.path().to_owned(),
        record,
        field: None,
        rule,
        message: message.clone(),
    })))
}
