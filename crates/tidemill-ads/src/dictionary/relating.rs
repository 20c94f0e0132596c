//! Relations that programs make, drop and ask about.

use tidemill_xbase::index::Tag;

use super::administration::{found, invalid_name, invalid_property, put_text, set_text, text_at};
use super::indexes::{index_of, number_of_key};
use super::object::{Kind, Object, place};
use super::property::PropertyValue;
use super::relations::RelationRule;
use super::values::Values;
use crate::connection::Connection;
use crate::error::{Error, ErrorCode, Result};
use crate::settings::Settings;
use crate::work_area::{FieldType, TableOptions, WorkArea};

/// A relation that a dictionary is to have.
#[derive(Debug, Clone, Copy)]
pub struct NewRelation<'r> {
    /// Its name.
    pub name: &'r str,
    /// The table that is referred to.
    pub parent: &'r str,
    /// The order of its primary key; empty for the one that the dictionary has.
    pub parent_order: &'r str,
    /// The table that refers, and may be the same.
    pub child: &'r str,
    /// The order of its foreign key.
    pub child_order: &'r str,
    /// What happens to records that refer to a key when it changes.
    pub on_update: RelationRule,
    /// What happens to records that refer to a record when it is deleted.
    pub on_delete: RelationRule,
    /// What is said where no record has the key that one refers to; empty for nothing.
    pub no_parent: &'r str,
    /// What is said where a change cannot be carried on; empty for nothing.
    pub no_cascade: &'r str,
}

/// An end of a relation: the order, the object of its file, and the types and widths of its fields.
struct End {
    tag: Tag,
    index: Object,
    fields: Vec<(FieldType, usize)>,
}

impl Connection {
    /// Makes a relation. It holds for tables that are opened from now on, and for those that this connection has open.
    ///
    /// # Errors
    /// [`ErrorCode::RiRuleExists`] for a name that there is; [`ErrorCode::InvalidObjectName`] for a table or an order that there is not;
    /// [`ErrorCode::RiFailed`] for a parent without this primary key, keys of other fields, tables that are no ADT, and a record that refers
    /// to none; [`ErrorCode::IllegalCommandDuringTransaction`].
    pub fn create_relation(&mut self, new: &NewRelation<'_>, settings: &Settings) -> Result<()> {
        self.outside_of_transactions("making a relation")?;
        self.close_cached_cursors();
        let dictionary = self.dictionary_mut()?;
        dictionary.renew()?;
        let failed = |why: String| Error::new(ErrorCode::RiFailed, format!("relation {}: {why}", new.name));
        if dictionary
            .of_kind(Kind::Relation)
            .iter()
            .any(|known| known.is_called(new.name))
        {
            let what = format!("the data dictionary has a relation {} already", new.name);
            return Err(Error::new(ErrorCode::RiRuleExists, what));
        }
        let (parent, child) = (
            dictionary.table(new.parent)?.number,
            dictionary.table(new.child)?.number,
        );
        let primary = dictionary.primary_key(dictionary.table(new.parent)?);
        let primary = primary.ok_or_else(|| failed(format!("{} has no primary key", new.parent)))?;
        let (primary, key_number) = (primary.name.clone(), primary.number);
        if !new.parent_order.is_empty() && !primary.eq_ignore_ascii_case(new.parent_order) {
            return Err(failed(format!(
                "{} is not the primary key of {}",
                new.parent_order, new.parent
            )));
        }
        let (parent_end, child_end) = (
            self.end_of(new.parent, &primary, settings)?,
            self.end_of(new.child, new.child_order, settings)?,
        );
        if parent_end.fields != child_end.fields {
            return Err(failed(
                "the fields of both keys have not the same types and lengths".to_owned(),
            ));
        }
        let (parent_key, child_key) = ((new.parent, primary.as_str()), (new.child, new.child_order));
        self.check_references(new.name, parent_key, child_key, false, settings)?;
        self.dictionary_to_change()?.change(settings, |changing| {
            let child_key = number_of_key(changing, child, (&child_end.index, &child_end.tag))?;
            let rule = |rule: RelationRule| [u8::try_from(rule.number()).unwrap_or_default()];
            let values = Values::default()
                .with(place::RELATION_PARENT, parent.to_le_bytes())
                .with(place::RELATION_PARENT_KEY, key_number.to_le_bytes())
                .with(place::RELATION_CHILD, child.to_le_bytes())
                .with(place::RELATION_CHILD_KEY, child_key.to_le_bytes())
                .with(place::RELATION_UPDATE, rule(new.on_update))
                .with(place::RELATION_DELETE, rule(new.on_delete));
            let database = found(changing, |object| object.kind == Kind::Database, "the database")?.number;
            let mut relation = Object::new(Kind::Relation, database, new.name).values(values);
            put_text(&mut relation, place::RELATION_NO_PARENT, new.no_parent);
            put_text(&mut relation, place::RELATION_NO_CASCADE, new.no_cascade);
            let number = changing.add(relation)?;
            // Tables that are related, through others too, are one graph, which has the number of a relation.
            let mut relation = found(changing, |object| object.number == number, new.name)?;
            let ends = [parent, child].map(|end| found(changing, |object| object.number == end, new.name));
            let mut graph = number;
            for mut table in ends.into_iter().collect::<Result<Vec<_>>>()? {
                graph = table.values.number(place::TABLE_GRAPH).unwrap_or(graph);
                table.values.set(place::TABLE_GRAPH, Some(graph.to_le_bytes().to_vec()));
                changing.replace(&table)?;
            }
            relation = relation.info(graph);
            changing.replace(&relation)
        })?;
        self.hold_to_new_rules(settings)
    }

    /// Drops a relation.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidObjectName`] for one that there is not; [`ErrorCode::IllegalCommandDuringTransaction`].
    pub fn drop_relation(&mut self, name: &str, settings: &Settings) -> Result<()> {
        self.outside_of_transactions("dropping a relation")?;
        self.close_cached_cursors();
        self.dictionary_to_change()?.change(settings, |changing| {
            let is_it = |object: &Object| object.kind == Kind::Relation && object.is_called(name);
            let relation = found(changing, is_it, name)?;
            changing.remove(relation.number)?;
            for place in [place::RELATION_PARENT, place::RELATION_CHILD] {
                let table = relation.values.number(place);
                let is_related = changing.objects().iter().any(|object| {
                    let mut ends = [place::RELATION_PARENT, place::RELATION_CHILD].into_iter();
                    object.kind == Kind::Relation && ends.any(|end| object.values.number(end) == table)
                });
                let known = found(changing, |object| Some(object.number) == table, name);
                if let (false, Ok(mut table)) = (is_related, known) {
                    table.values.set(place::TABLE_GRAPH, None);
                    changing.replace(&table)?;
                }
            }
            Ok(())
        })?;
        self.hold_to_new_rules(settings)
    }

    /// A property of a relation by its number (`ADS_DD_RI_PRIMARY_TABLE` and its like).
    ///
    /// # Errors
    /// [`ErrorCode::InvalidObjectName`] for a relation that there is not, [`ErrorCode::InvalidPropertyId`],
    /// [`ErrorCode::PropertyNotSet`].
    pub fn relation_property(&mut self, name: &str, property: u16) -> Result<PropertyValue> {
        let dictionary = self.dictionary_mut()?;
        dictionary.renew()?;
        let relations = dictionary.of_kind(Kind::Relation);
        let relation = relations.into_iter().find(|relation| relation.is_called(name));
        let relation = relation.ok_or_else(|| invalid_name(name))?;
        let name_of = |place| {
            let number = relation.values.number(place);
            let found = dictionary.objects.iter().find(|object| Some(object.number) == number);
            found.map_or_else(|| Err(invalid_name(name)), |object| set_text(&object.name))
        };
        let rule = |place| {
            let rule = relation.values.number(place).and_then(|rule| u16::try_from(rule).ok());
            Ok(PropertyValue::Short(rule.unwrap_or_default()))
        };
        match property {
            501 => name_of(place::RELATION_PARENT),
            502 => name_of(place::RELATION_PARENT_KEY),
            503 => name_of(place::RELATION_CHILD),
            504 => name_of(place::RELATION_CHILD_KEY),
            505 => rule(place::RELATION_UPDATE),
            506 => rule(place::RELATION_DELETE),
            507 => text_at(relation, place::RELATION_NO_PARENT),
            508 => text_at(relation, place::RELATION_NO_CASCADE),
            _ => Err(invalid_property()),
        }
    }

    /// A table of the dictionary with all its orders, to read.
    pub(super) fn area_to_relate(&self, table: &str, settings: &Settings) -> Result<WorkArea> {
        let dictionary = self.dictionary()?;
        let path = dictionary.path(table).transpose()?.unwrap_or_default();
        let mut area = WorkArea::open(&path, &TableOptions::default().read_only(), settings)?;
        for index in dictionary.indexes(&path) {
            if !area.is_production(&index) && index.is_file() {
                area.open_index(&index)?;
            }
        }
        Ok(area)
    }

    fn end_of(&self, table: &str, order: &str, settings: &Settings) -> Result<End> {
        let area = self.area_to_relate(table, settings)?;
        if !area.is_adt() {
            return Err(Error::new(
                ErrorCode::RiFailed,
                format!("{table} is no ADT, and relations are between those"),
            ));
        }
        let Ok(found) = area.order_named(order.trim()) else {
            return Err(Error::new(
                ErrorCode::InvalidObjectName,
                format!("{table} has no order {order}"),
            ));
        };
        let tag = area.order_tag(found)?;
        let parts = tag.expression.split(';').map(str::trim);
        let fields = parts.map(|part| {
            let field = area.fields().iter().find(|field| field.name.eq_ignore_ascii_case(part));
            let field = field.map(|field| (FieldType::of(field, area.dialect()), field.width));
            field.ok_or_else(|| {
                Error::new(
                    ErrorCode::RiFailed,
                    format!("{part} of order {order} is no field of {table}"),
                )
            })
        });
        Ok(End {
            index: index_of(area.index_path(found)?, self.dictionary()?),
            fields: fields.collect::<Result<_>>()?,
            tag,
        })
    }

    /// Refuses a relation in which a record refers to none.
    pub(super) fn check_references(
        &mut self,
        relation: &str,
        (parent_table, primary): (&str, &str),
        (child_table, foreign): (&str, &str),
        alone: bool,
        settings: &Settings,
    ) -> Result<()> {
        let is_own = parent_table.eq_ignore_ascii_case(child_table);
        let (mut parent, mut child) = match alone {
            false => (
                Some(self.area_to_relate(parent_table, settings)?),
                self.area_to_relate(child_table, settings)?,
            ),
            // A table that refers to itself is open once.
            true if is_own => (None, self.area_alone(child_table, settings)?),
            true => (
                Some(self.area_alone(parent_table, settings)?),
                self.area_alone(child_table, settings)?,
            ),
        };
        let count = child.editor_to_read().refresh()?;
        for record in 1..=count {
            let editor = child.editor_to_read();
            let bytes = editor.record_bytes(record)?;
            if editor.is_deleted(record)? {
                continue;
            }
            let Some(key) = super::relations::key_of(editor, foreign, (record, &bytes))? else {
                continue;
            };
            let parent = parent.as_mut().unwrap_or(&mut child).editor_to_read();
            if parent.records_of_key(primary, &key)?.is_empty() {
                let what = format!(
                    "relation {relation}: record {record} of {child_table} refers to no record of {parent_table}"
                );
                return Err(Error::new(ErrorCode::RiFailed, what));
            }
        }
        Ok(())
    }
}
