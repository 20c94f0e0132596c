//! What a dictionary keeps as SQL: views. Programs make them, remove them, and ask and set their properties by number.

use super::administration::{
    found, given_text, invalid_name, invalid_property, not_completed, not_set, put_text, set_text, text_at,
};
use super::object::{Kind, Object, place};
use super::property::{ObjectKind, PropertyShape, PropertyValue};
use super::{Dictionary, file};
use crate::connection::{AreaId, Connection};
use crate::error::{Error, ErrorCode, Result};
use crate::settings::Settings;
use crate::sql::{StatementOptions, check_script, view_of};
use crate::statements::Executed;
use crate::work_area::TableOptions;

/// Where an object keeps a property.
#[derive(Debug, Clone, Copy)]
enum At {
    Comment,
    Text(usize),
    /// As `Text`, in UTF-16.
    Wide(usize),
    /// How many bytes the text of a place has.
    LengthOf(usize),
    /// A number of four bytes, which can be set.
    Long(usize),
    /// A number of four bytes, which decides what the object is.
    Fixed(usize),
    /// The number of what the object belongs to, and its name.
    ParentNumber,
    ParentName,
}

/// Numbers of `ace.h`, the names of the `sp_Modify…` procedures, and where the values are.
type Properties = &'static [(u16, &'static str, At)];

const OF_VIEW: Properties = &[
    (1, "COMMENT", At::Comment),
    (700, "VIEW_STMT", At::Text(place::VIEW_STATEMENT)),
    (701, "VIEW_STMT_LEN", At::LengthOf(place::VIEW_STATEMENT)),
    (704, "VIEW_STMT_W", At::Wide(place::VIEW_STATEMENT)),
];

const OF_TRIGGER: Properties = &[
    (1, "COMMENT", At::Comment),
    (1400, "TRIG_TABLEID", At::ParentNumber),
    (1401, "TRIG_EVENT_TYPE", At::Fixed(place::TRIGGER_EVENT)),
    (1402, "TRIG_TRIGGER_TYPE", At::Fixed(place::TRIGGER_MOMENT)),
    (1403, "TRIG_CONTAINER_TYPE", At::Fixed(place::TRIGGER_CONTAINER_KIND)),
    (1404, "TRIG_CONTAINER", At::Text(place::TRIGGER_CONTAINER)),
    (1405, "TRIG_FUNCTION_NAME", At::Text(place::TRIGGER_FUNCTION)),
    (1406, "TRIG_PRIORITY", At::Long(place::TRIGGER_PRIORITY)),
    (1407, "TRIG_OPTIONS", At::Fixed(place::TRIGGER_OPTIONS)),
    (1408, "TRIG_TABLENAME", At::ParentName),
    (1409, "TRIG_CONTAINER_W", At::Wide(place::TRIGGER_CONTAINER)),
];

impl ObjectKind {
    fn properties(self) -> Properties {
        match self {
            Self::View => OF_VIEW,
            Self::Trigger => OF_TRIGGER,
            _ => &[],
        }
    }

    fn at(self, number: u16) -> Result<At> {
        let found = self.properties().iter().find(|(known, ..)| *known == number);
        found.map(|(.., at)| *at).ok_or_else(|| {
            let what = format!("the property {number} is not kept in data dictionaries here");
            Error::new(ErrorCode::InvalidPropertyId, what)
        })
    }

    /// The number of a property of objects of this kind, by the name that the `sp_Modify…` procedures have for it.
    pub fn property_named(self, name: &str) -> Option<u16> {
        let mut known = self.properties().iter();
        let found = known.find(|(_, known, _)| known.eq_ignore_ascii_case(name.trim()));
        found.map(|(number, ..)| *number)
    }

    /// What a program gives for a property; `None` for one that is not kept.
    pub fn shape_of(self, number: u16) -> Option<PropertyShape> {
        Some(match self.at(number).ok()? {
            At::Comment | At::Text(_) | At::ParentName => PropertyShape::Text,
            At::Wide(_) => PropertyShape::Wide,
            At::LengthOf(_) | At::Long(_) | At::Fixed(_) | At::ParentNumber => PropertyShape::Long,
        })
    }

    fn kind(self) -> Kind {
        match self {
            Self::View => Kind::View,
            Self::Trigger => Kind::Trigger,
            _ => Kind::Other,
        }
    }
}

impl Connection {
    /// A property of an object, by the name of its parent, where it has one, and its own.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidObjectName`] for an object that is not there, [`ErrorCode::InvalidPropertyId`] for a property that it has not,
    /// [`ErrorCode::PropertyNotSet`].
    pub fn object_property(&mut self, kind: ObjectKind, object: (&str, &str), number: u16) -> Result<PropertyValue> {
        let at = kind.at(number)?;
        let dictionary = self.dictionary_mut()?;
        dictionary.renew()?;
        let object = dictionary.object(kind, object)?;
        match at {
            At::Comment => set_text(&object.comment),
            At::Text(place) => text_at(object, place),
            At::Wide(place) => match text_at(object, place)? {
                PropertyValue::Text(text) => Ok(PropertyValue::Wide(text)),
                other => Ok(other),
            },
            At::Long(place) | At::Fixed(place) => {
                let number = object.values.number(place).ok_or_else(not_set)?;
                Ok(PropertyValue::Long(number))
            }
            At::ParentNumber => Ok(PropertyValue::Long(object.parent)),
            At::ParentName => {
                let parent = dictionary.tables.iter().find(|table| table.number == object.parent);
                parent.map_or_else(|| Err(not_set()), |parent| set_text(&parent.name))
            }
            At::LengthOf(place) => {
                let len = object.values.text(place).map(<[u8]>::len).ok_or_else(not_set)?;
                Ok(PropertyValue::Short(u16::try_from(len).unwrap_or(u16::MAX)))
            }
        }
    }

    /// Sets a property of an object; an empty text removes it.
    ///
    /// # Errors
    /// As [`Connection::object_property`]; [`ErrorCode::Statement`] for an SQL text that cannot be one; [`ErrorCode::DataTooLong`]; when the
    /// dictionary cannot be written.
    pub fn set_object_property(
        &mut self,
        kind: ObjectKind,
        object: (&str, &str),
        number: u16,
        value: &PropertyValue,
        settings: &Settings,
    ) -> Result<()> {
        let at = kind.at(number)?;
        let dictionary = self.dictionary_mut()?;
        dictionary.renew()?;
        let mut object = dictionary.object(kind, object)?.clone();
        match at {
            At::Comment => given_text(value)?.clone_into(&mut object.comment),
            At::Text(place) | At::Wide(place) => put_text(&mut object, place, given_text(value)?),
            At::Long(place) => match value {
                PropertyValue::Long(number) => object.values.set(place, Some(number.to_le_bytes().to_vec())),
                _ => return Err(Error::new(ErrorCode::InvalidProperty, "the property is a number")),
            },
            At::LengthOf(_) | At::Fixed(_) | At::ParentNumber | At::ParentName => return Err(invalid_property()),
        }
        check(&object)?;
        let number = object.number;
        self.dictionary_mut()?.change(settings, |changing| {
            // Others may have changed it, or removed it, since.
            let now = found(changing, |known| known.number == number, &object.name)?;
            let object = Object {
                record: now.record,
                ..object
            };
            changing.replace(&object)
        })?;
        self.statements.forget_names();
        self.hold_to_new_rules(settings)
    }

    /// Adds a view to the dictionary. It is no part of a transaction.
    ///
    /// # Errors
    /// [`ErrorCode::DdRequestNotCompleted`] for a name that a table or a view has; [`ErrorCode::Statement`] for a text that is not one SELECT
    /// without parameters and ORDER BY; when the dictionary cannot be written.
    pub fn add_view(&mut self, name: &str, comment: &str, select: &str, settings: &Settings) -> Result<()> {
        let mut view = new_object(Kind::View, name)?;
        comment.clone_into(&mut view.comment);
        put_text(&mut view, place::VIEW_STATEMENT, select);
        self.add_object(view, &[Kind::Table, Kind::View], settings)
    }

    /// Removes a view from the dictionary. It is no part of a transaction.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidObjectName`] for a view that is not there; when the dictionary cannot be written.
    pub fn remove_view(&mut self, name: &str, settings: &Settings) -> Result<()> {
        self.remove_object(ObjectKind::View, ("", name), settings)
    }

    /// Whether the dictionary has a view of this name, in any case.
    pub(crate) fn has_dictionary_view(&self, name: &str) -> bool {
        self.dictionary
            .as_ref()
            .is_some_and(|dictionary| dictionary.view(name).is_some())
    }

    /// The SELECT of a view of the dictionary.
    pub(crate) fn view_text(&self, name: &str) -> Option<String> {
        self.dictionary.as_ref()?.view(name)
    }

    /// Opens what a view shows.
    pub(crate) fn open_view(&mut self, select: &str, options: &TableOptions, settings: &Settings) -> Result<AreaId> {
        let options = StatementOptions {
            table: options.clone(),
            ..StatementOptions::default()
        };
        match self.execute(select, &[], settings, &options)? {
            Executed::Cursor(area) => Ok(area),
            Executed::Changed(_) | Executed::Done => {
                Err(Error::new(ErrorCode::InternalError, "a view has no rows to show"))
            }
        }
    }

    /// Adds an object of the dictionary itself, unless one of these kinds has its name.
    fn add_object(&mut self, object: Object, others: &[Kind], settings: &Settings) -> Result<()> {
        check(&object)?;
        self.dictionary_mut()?.change(settings, |changing| {
            let mut known = changing.objects().iter();
            let has_name = |known: &&Object| others.contains(&known.kind) && known.is_called(&object.name);
            if let Some(known) = known.find(has_name) {
                return Err(not_completed(&format!("the data dictionary has a {known} already")));
            }
            let database = found(changing, |known| known.kind == Kind::Database, "database")?;
            let parent = database.number;
            changing.add(Object { parent, ..object })
        })?;
        self.statements.forget_names();
        Ok(())
    }

    fn remove_object(&mut self, kind: ObjectKind, object: (&str, &str), settings: &Settings) -> Result<()> {
        let dictionary = self.dictionary_mut()?;
        dictionary.renew()?;
        let number = dictionary.object(kind, object)?.number;
        dictionary.change(settings, |changing| changing.remove(number))?;
        self.statements.forget_names();
        Ok(())
    }
}

impl Dictionary {
    /// An object by the name of its table, where it has one, and its own; `table::name` is both.
    fn object(&self, kind: ObjectKind, (parent, name): (&str, &str)) -> Result<&Object> {
        let (parent, name) = match name.split_once("::") {
            Some((parent, name)) if kind == ObjectKind::Trigger => (parent, name),
            _ => (parent, name),
        };
        let parent = match parent.trim() {
            "" => None,
            parent => Some(self.table(parent)?.number),
        };
        let is_below = |object: &&Object| parent.is_none_or(|parent| object.parent == parent);
        let objects = self.objects.iter().filter(|object| object.kind == kind.kind());
        let mut objects = objects.filter(is_below);
        objects
            .find(|object| object.is_called(name))
            .ok_or_else(|| invalid_name(name))
    }

    /// The SELECT of a view.
    pub(crate) fn view(&self, name: &str) -> Option<String> {
        let mut views = self.objects.iter().filter(|object| object.kind == Kind::View);
        let view = views.find(|view| view.is_called(name))?;
        Some(text_or_empty(view, place::VIEW_STATEMENT))
    }

    /// The names, statements and comments of its views.
    pub(crate) fn views(&self) -> impl Iterator<Item = [String; 3]> {
        let views = self.objects.iter().filter(|object| object.kind == Kind::View);
        views.map(|view| {
            let statement = text_or_empty(view, place::VIEW_STATEMENT);
            [view.name.clone(), statement, view.comment.clone()]
        })
    }
}

/// `ADS_TRIG_SCRIPT` of `ace.h`.
const SCRIPT: u32 = 3;

/// Whether the SQL that an object keeps can be what it is to be.
fn check(object: &Object) -> Result<()> {
    match object.kind {
        Kind::View => {
            view_of(&text_or_empty(object, place::VIEW_STATEMENT))?;
            Ok(())
        }
        Kind::Trigger if object.values.number(place::TRIGGER_CONTAINER_KIND) == Some(SCRIPT) => {
            Ok(check_script(&text_or_empty(object, place::TRIGGER_CONTAINER))?)
        }
        _ => Ok(()),
    }
}

pub(super) fn new_object(kind: Kind, name: &str) -> Result<Object> {
    match name.trim() {
        "" => Err(Error::new(
            ErrorCode::InvalidObjectName,
            "an object of a data dictionary has a name",
        )),
        name => Ok(Object::new(kind, 0, name)),
    }
}

pub(super) fn text_or_empty(object: &Object, place: usize) -> String {
    let text = object.values.text(place);
    text.map_or_else(String::new, |text| file::CODEPAGE.decode(text))
}
