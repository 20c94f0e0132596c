//! What a dictionary keeps as SQL: views, triggers and procedures. Programs make them, remove them, and ask and set their properties by number.

use super::administration::{
    found, given_flag, given_text, invalid_name, invalid_property, not_completed, not_set, put_text, put_user_defined,
    set_text, text_at, user_defined,
};
use super::object::{Kind, Object, place};
use super::packages::{parent_of, parts_of};
use super::property::{ObjectKind, PropertyShape, PropertyValue};
use super::replication::{no_password, publication_named};
use super::switching::TriggerScope;
use super::{Dictionary, file};
use crate::connection::{AreaId, Connection};
use crate::error::{Error, ErrorCode, Result};
use crate::settings::Settings;
use crate::sql::{FunctionTexts, StatementOptions, StoredProgram, check_function, check_script, definitions, view_of};
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
    /// Whether the trigger is switched off.
    TriggersOff,
    /// The number of what the object belongs to, and its name.
    ParentNumber,
    ParentName,
    /// What the program keeps there for itself.
    UserDefined,
    /// A number of two bytes that says whether something is so.
    Flag(usize),
    /// As `Flag`, of a network, of which a subscription uses one.
    Network(usize),
    /// A text that may not be empty.
    Needed(usize),
    /// A text that takes the place of that of another one.
    Instead(usize, usize),
    /// The name of the publication that a subscription uses.
    PublicationName,
    /// What is not kept.
    Password,
}

/// A procedure that a dictionary is to have.
#[derive(Debug, Clone, Copy)]
pub struct NewProcedure<'p> {
    /// Its name.
    pub name: &'p str,
    /// How it is called: 1 a library, 2 a COM object or an assembly, 4 an SQL script.
    pub kind: u32,
    /// The script, or the name of the library or object.
    pub container: &'p str,
    /// The function of a library.
    pub function: &'p str,
    /// What it takes, as in `AdsCreateTable`.
    pub input: &'p str,
    /// The columns that it gives, in the same way.
    pub output: &'p str,
    /// What it is about.
    pub comment: &'p str,
}

/// A function that a dictionary is to have.
#[derive(Debug, Clone, Copy)]
pub struct NewFunction<'f> {
    /// Its name.
    pub name: &'f str,
    /// How many parameters it takes, and these as they are written: `a INTEGER, b CHAR(20)`.
    pub parameters: (usize, &'f str),
    /// The type of what it returns.
    pub returns: &'f str,
    /// The script.
    pub script: &'f str,
    /// What it is about.
    pub comment: &'f str,
}

/// Numbers of `ace.h`, the names of the `sp_Modify…` procedures, and where the values are.
type Properties = &'static [(u16, &'static str, At)];

const OF_VIEW: Properties = &[
    (1, "COMMENT", At::Comment),
    (3, "USER_DEFINED_PROP", At::UserDefined),
    (700, "VIEW_STMT", At::Text(place::VIEW_STATEMENT)),
    (701, "VIEW_STMT_LEN", At::LengthOf(place::VIEW_STATEMENT)),
    (704, "VIEW_STMT_W", At::Wide(place::VIEW_STATEMENT)),
];

const OF_PROCEDURE: Properties = &[
    (1, "COMMENT", At::Comment),
    (3, "USER_DEFINED_PROP", At::UserDefined),
    (800, "PROC_INPUT", At::Text(place::PROCEDURE_INPUT)),
    (801, "PROC_OUTPUT", At::Text(place::PROCEDURE_OUTPUT)),
    (802, "PROC_DLL_NAME", At::Text(place::PROCEDURE_LIBRARY)),
    (803, "PROC_DLL_FUNCTION_NAME", At::Text(place::PROCEDURE_FUNCTION)),
    (804, "PROC_INVOKE_OPTION", At::Fixed(place::PROCEDURE_KIND)),
    (805, "PROC_SCRIPT", At::Text(place::PROCEDURE_SCRIPT)),
    (806, "PROC_SCRIPT_W", At::Wide(place::PROCEDURE_SCRIPT)),
];

/// Of functions, packages, users and groups.
const OF_ANY: Properties = &[(1, "COMMENT", At::Comment), (3, "USER_DEFINED_PROP", At::UserDefined)];

const OF_PUBLICATION: Properties = &[
    (1, "COMMENT", At::Comment),
    (3, "USER_DEFINED_PROP", At::UserDefined),
    (1500, "PUBLICATION_OPTIONS", At::Fixed(place::PUBLICATION_OPTIONS)),
];

const OF_ARTICLE: Properties = &[
    (1, "COMMENT", At::Comment),
    (1600, "ARTICLE_FILTER", At::Text(place::ARTICLE_FILTER)),
    (1601, "ARTICLE_ID_COLUMNS", At::Needed(place::ARTICLE_ID_COLUMNS)),
    (
        1604,
        "ARTICLE_INCLUDE_COLUMNS",
        At::Instead(place::ARTICLE_INCLUDED, place::ARTICLE_EXCLUDED),
    ),
    (
        1605,
        "ARTICLE_EXCLUDE_COLUMNS",
        At::Instead(place::ARTICLE_EXCLUDED, place::ARTICLE_INCLUDED),
    ),
    (1607, "ARTICLE_INSERT_MERGE", At::Flag(place::ARTICLE_INSERT_MERGE)),
    (1608, "ARTICLE_UPDATE_MERGE", At::Flag(place::ARTICLE_UPDATE_MERGE)),
    (1609, "ARTICLE_FILTER_W", At::Wide(place::ARTICLE_FILTER)),
];

const OF_SUBSCRIPTION: Properties = &[
    (1, "COMMENT", At::Comment),
    (3, "USER_DEFINED_PROP", At::UserDefined),
    (1700, "SUBSCR_PUBLICATION_NAME", At::PublicationName),
    (1701, "SUBSCR_TARGET", At::Needed(place::SUBSCRIPTION_TARGET)),
    (1702, "SUBSCR_USERNAME", At::Text(place::SUBSCRIPTION_USER)),
    (1703, "SUBSCR_PASSWORD", At::Password),
    (1704, "SUBSCR_FORWARD", At::Flag(place::SUBSCRIPTION_FORWARD)),
    (1705, "SUBSCR_ENABLED", At::Flag(place::SUBSCRIPTION_ENABLED)),
    (1706, "SUBSCR_QUEUE_NAME", At::Needed(place::SUBSCRIPTION_QUEUE)),
    (1707, "SUBSCR_OPTIONS", At::Long(place::SUBSCRIPTION_OPTIONS)),
    (1709, "SUBSCR_PAUSED", At::Flag(place::SUBSCRIPTION_PAUSED)),
    (1710, "SUBSCR_COMM_TCP_IP", At::Network(place::SUBSCRIPTION_NETWORKS[0])),
    (1712, "SUBSCR_COMM_UDP_IP", At::Network(place::SUBSCRIPTION_NETWORKS[1])),
    (1713, "SUBSCR_COMM_IPX", At::Network(place::SUBSCRIPTION_NETWORKS[2])),
    (1715, "SUBSCR_COMM_TLS", At::Network(place::SUBSCRIPTION_NETWORKS[3])),
    (1716, "SUBSCR_CONNECTION_STR", At::Text(place::SUBSCRIPTION_CONNECTION)),
];

const OF_TRIGGER: Properties = &[
    (1, "COMMENT", At::Comment),
    (3, "USER_DEFINED_PROP", At::UserDefined),
    (5, "TRIGGERS_DISABLED", At::TriggersOff),
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
            Self::Procedure => OF_PROCEDURE,
            Self::Function | Self::Package | Self::User | Self::UserGroup => OF_ANY,
            Self::Publication => OF_PUBLICATION,
            Self::Article => OF_ARTICLE,
            Self::Subscription => OF_SUBSCRIPTION,
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
            At::Comment
            | At::Text(_)
            | At::ParentName
            | At::Needed(_)
            | At::Instead(..)
            | At::PublicationName
            | At::Password => PropertyShape::Text,
            At::Wide(_) => PropertyShape::Wide,
            At::TriggersOff | At::Flag(_) | At::Network(_) => PropertyShape::Short,
            At::UserDefined => PropertyShape::Bytes,
            At::LengthOf(_) | At::Long(_) | At::Fixed(_) | At::ParentNumber => PropertyShape::Long,
        })
    }

    pub(super) fn kind(self) -> Kind {
        match self {
            Self::View => Kind::View,
            Self::Trigger => Kind::Trigger,
            Self::Procedure => Kind::StoredProc,
            Self::Function => Kind::Function,
            Self::Package => Kind::Package,
            Self::User => Kind::User,
            Self::UserGroup => Kind::Group,
            Self::Table => Kind::Table,
            Self::Relation => Kind::Relation,
            Self::Link => Kind::Link,
            Self::Publication => Kind::Publication,
            Self::Article => Kind::Article,
            Self::Subscription => Kind::Subscription,
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
            At::Text(place) | At::Needed(place) | At::Instead(place, _) => text_at(object, place),
            At::UserDefined => user_defined(object),
            At::Flag(place) | At::Network(place) => {
                let is_so = object.values.number(place).is_some_and(|number| number != 0);
                Ok(PropertyValue::Short(is_so.into()))
            }
            At::PublicationName => match dictionary.publication_of(object) {
                Some(publication) => set_text(&publication.name),
                None => Err(not_set()),
            },
            At::Password => Err(invalid_property()),
            At::Wide(place) => match text_at(object, place)? {
                PropertyValue::Text(text) => Ok(PropertyValue::Wide(text)),
                other => Ok(other),
            },
            At::Long(place) | At::Fixed(place) => {
                let number = object.values.number(place).ok_or_else(not_set)?;
                Ok(PropertyValue::Long(number))
            }
            At::TriggersOff => Ok(PropertyValue::Short(object.has_triggers_off().into())),
            At::ParentNumber => Ok(PropertyValue::Long(object.parent)),
            At::ParentName => {
                let parent = dictionary.trigger_parent(object);
                parent.map_or_else(|| Err(not_set()), set_text)
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
        if let At::TriggersOff = at {
            let table = dictionary.trigger_parent(&object).map(str::to_owned);
            let (table, name) = (table.unwrap_or_default(), object.name.as_str());
            let scope = TriggerScope::Trigger { table: &table, name };
            return self.switch_triggers(scope, given_flag(value)? == 0, settings);
        }
        match at {
            At::Comment => given_text(value)?.clone_into(&mut object.comment),
            At::Text(place) | At::Wide(place) => put_text(&mut object, place, given_text(value)?),
            At::Needed(place) => match given_text(value)? {
                "" => return Err(Error::new(ErrorCode::InvalidProperty, "the property may not be empty")),
                text => put_text(&mut object, place, text),
            },
            At::Instead(place, other) => {
                let text = given_text(value)?;
                put_text(&mut object, place, text);
                if !text.is_empty() {
                    object.values.set(other, None);
                }
            }
            At::UserDefined => put_user_defined(&mut object, value)?,
            At::Flag(place) | At::Network(place) => {
                let is_so = given_flag(value)? != 0;
                if is_so && matches!(at, At::Network(_)) {
                    for network in place::SUBSCRIPTION_NETWORKS {
                        object.values.set(network, None);
                    }
                }
                object.values.set(place, Some(u16::from(is_so).to_le_bytes().to_vec()));
            }
            At::PublicationName => object = object.info(publication_named(dictionary, given_text(value)?)?),
            At::Password if given_text(value)?.is_empty() => {}
            At::Password => return Err(no_password()),
            At::Long(place) => match value {
                PropertyValue::Long(number) => object.values.set(place, Some(number.to_le_bytes().to_vec())),
                _ => return Err(Error::new(ErrorCode::InvalidProperty, "the property is a number")),
            },
            At::LengthOf(_) | At::Fixed(_) | At::TriggersOff | At::ParentNumber | At::ParentName => {
                return Err(invalid_property());
            }
        }
        check(&object)?;
        let number = object.number;
        self.dictionary_to_change()?.change(settings, |changing| {
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

    /// Adds a procedure to the dictionary, or gives the one of its name another definition. It is no part of a transaction.
    ///
    /// # Errors
    /// [`ErrorCode::DdRequestNotCompleted`] for a name that another has; [`ErrorCode::InvalidObjectName`] for one to replace that is not
    /// there; [`ErrorCode::InvalidFieldDefinition`]; [`ErrorCode::InvalidOption`] for a kind that there is not; [`ErrorCode::Statement`] for a
    /// script that is none; when the dictionary cannot be written.
    pub fn create_procedure(
        &mut self,
        procedure: &NewProcedure<'_>,
        replaces: bool,
        settings: &Settings,
    ) -> Result<()> {
        if ![1, 2, SCRIPT_PROCEDURE].contains(&procedure.kind) {
            let what = format!("{} is no kind of procedure: 1, 2 and 4 are", procedure.kind);
            return Err(Error::new(ErrorCode::InvalidOption, what));
        }
        let mut object = new_object(Kind::StoredProc, procedure.name)?;
        procedure.comment.clone_into(&mut object.comment);
        put_text(&mut object, place::PROCEDURE_INPUT, procedure.input);
        put_text(&mut object, place::PROCEDURE_OUTPUT, procedure.output);
        let (container, function) = match procedure.kind {
            SCRIPT_PROCEDURE => (place::PROCEDURE_SCRIPT, ""),
            _ => (place::PROCEDURE_LIBRARY, procedure.function),
        };
        put_text(&mut object, container, procedure.container);
        put_text(&mut object, place::PROCEDURE_FUNCTION, function);
        let kind = procedure.kind.to_le_bytes().to_vec();
        object.values.set(place::PROCEDURE_KIND, Some(kind));
        match replaces {
            true => self.replace_object((ObjectKind::Procedure, ""), object, settings),
            false => self.add_object(object, &[Kind::StoredProc], settings),
        }
    }

    /// Removes a procedure from the dictionary. It is no part of a transaction.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidObjectName`] for one that is not there; when the dictionary cannot be written.
    pub fn drop_procedure(&mut self, name: &str, settings: &Settings) -> Result<()> {
        self.remove_object(ObjectKind::Procedure, ("", name), settings)
    }

    /// Adds a function to the dictionary, or gives the one of its name another definition. It is no part of a transaction.
    ///
    /// # Errors
    /// As [`Connection::create_procedure`].
    pub fn create_function(&mut self, function: &NewFunction<'_>, replaces: bool, settings: &Settings) -> Result<()> {
        let (package, name) = parts_of(function.name);
        let mut object = new_object(Kind::Function, name)?;
        function.comment.clone_into(&mut object.comment);
        put_text(&mut object, place::FUNCTION_RETURNS, function.returns);
        put_text(&mut object, place::FUNCTION_PARAMETERS, function.parameters.1);
        put_text(&mut object, place::FUNCTION_SCRIPT, function.script);
        object.info = [None, i32::try_from(function.parameters.0).ok()];
        match replaces {
            true => self.replace_object((ObjectKind::Function, package), object, settings),
            false => self.add_object_to(package, object, &[Kind::Function], settings),
        }
    }

    /// Removes a function from the dictionary. It is no part of a transaction.
    ///
    /// # Errors
    /// As [`Connection::drop_procedure`].
    pub fn drop_function(&mut self, name: &str, settings: &Settings) -> Result<()> {
        self.remove_object(ObjectKind::Function, ("", name), settings)
    }

    /// The functions, and what they are about.
    pub(crate) fn function_texts(&mut self) -> Result<Vec<(FunctionTexts, String)>> {
        if !self.has_dictionary() {
            return Ok(Vec::new());
        }
        let dictionary = self.dictionary_mut()?;
        dictionary.renew()?;
        let comments = dictionary
            .of_kind(Kind::Function)
            .into_iter()
            .map(|function| function.comment.clone());
        Ok(dictionary.functions().zip(comments).collect())
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
        self.statements.lent_rights += 1;
        let shown = self.execute(select, &[], settings, &options);
        self.statements.lent_rights -= 1;
        match shown? {
            Executed::Cursor(area) => Ok(area),
            Executed::Changed(_) | Executed::Done => {
                Err(Error::new(ErrorCode::InternalError, "a view has no rows to show"))
            }
        }
    }

    /// Adds an object of the dictionary itself, unless one of these kinds has its name.
    fn add_object(&mut self, object: Object, others: &[Kind], settings: &Settings) -> Result<()> {
        self.add_object_to("", object, others, settings)
    }

    /// As [`Connection::add_object`], to a package where one is named.
    fn add_object_to(&mut self, package: &str, object: Object, others: &[Kind], settings: &Settings) -> Result<()> {
        check(&object)?;
        self.dictionary_to_change()?.change(settings, |changing| {
            let parent = parent_of(changing, package)?;
            let mut known = changing.objects().iter();
            let has_name = |known: &&Object| {
                let is_beside = known.kind != Kind::Function || known.parent == parent;
                others.contains(&known.kind) && is_beside && known.is_called(&object.name)
            };
            if let Some(known) = known.find(has_name) {
                return Err(not_completed(&format!("the data dictionary has a {known} already")));
            }
            changing.add(Object { parent, ..object })
        })?;
        self.statements.forget_names();
        Ok(())
    }

    /// Gives the object of a name what another one has; its comment stays where the other has none.
    fn replace_object(
        &mut self,
        (kind, package): (ObjectKind, &str),
        object: Object,
        settings: &Settings,
    ) -> Result<()> {
        check(&object)?;
        self.dictionary_to_change()?.change(settings, |changing| {
            let parent = parent_of(changing, package)?;
            let is_it = |known: &Object| known.is(kind.kind(), parent) && known.is_called(&object.name);
            let known = found(changing, is_it, &object.name)?;
            let comment = if object.comment.is_empty() {
                known.comment.clone()
            } else {
                object.comment
            };
            changing.replace(&Object {
                values: object.values,
                info: object.info,
                comment,
                ..known
            })
        })?;
        self.statements.forget_names();
        Ok(())
    }

    fn remove_object(&mut self, kind: ObjectKind, object: (&str, &str), settings: &Settings) -> Result<()> {
        let dictionary = self.dictionary_to_change()?;
        dictionary.renew()?;
        let number = dictionary.object(kind, object)?.number;
        dictionary.change(settings, |changing| changing.remove(number))?;
        self.statements.forget_names();
        Ok(())
    }
}

impl Dictionary {
    /// An object by the name of its table, where it has one, and its own; `table::name` is both.
    pub(super) fn object(&self, kind: ObjectKind, (parent, name): (&str, &str)) -> Result<&Object> {
        if kind == ObjectKind::Function {
            let (package, name) = parts_of(name);
            return self.function(if package.is_empty() { parent } else { package }, name);
        }
        let (parent, name) = match name.split_once("::") {
            Some((parent, name)) if kind == ObjectKind::Trigger => (parent, name),
            _ => (parent, name),
        };
        let parent = match parent.trim() {
            "" => None,
            parent if kind == ObjectKind::Trigger => Some(self.with_triggers(parent)?.number),
            parent if kind == ObjectKind::Article => Some(self.object(ObjectKind::Publication, ("", parent))?.number),
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

    /// A procedure.
    pub(crate) fn procedure(&self, name: &str) -> Option<StoredProgram> {
        let mut procedures = self.objects.iter().filter(|object| object.kind == Kind::StoredProc);
        let procedure = procedures.find(|procedure| procedure.is_called(name))?;
        let text = |place| text_or_empty(procedure, place);
        Some(StoredProgram {
            name: procedure.name.clone(),
            input: text(place::PROCEDURE_INPUT),
            output: text(place::PROCEDURE_OUTPUT),
            body: match procedure.values.number(place::PROCEDURE_KIND) {
                Some(SCRIPT_PROCEDURE) => Ok(text(place::PROCEDURE_SCRIPT)),
                _ => Err([text(place::PROCEDURE_LIBRARY), text(place::PROCEDURE_FUNCTION)]),
            },
        })
    }

    /// Its functions.
    pub(crate) fn functions(&self) -> impl Iterator<Item = FunctionTexts> {
        let functions = self.objects.iter().filter(|object| object.kind == Kind::Function);
        functions.map(|function| FunctionTexts {
            package: self.package_of(function).to_owned(),
            ..function_of(function)
        })
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

/// `ADS_TRIG_SCRIPT` and `ADS_SCRIPT_PROC` of `ace.h`.
const SCRIPT: u32 = 3;
const SCRIPT_PROCEDURE: u32 = 4;

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
        Kind::StoredProc => {
            definitions(&text_or_empty(object, place::PROCEDURE_INPUT))?;
            definitions(&text_or_empty(object, place::PROCEDURE_OUTPUT))?;
            Ok(check_script(&text_or_empty(object, place::PROCEDURE_SCRIPT))?)
        }
        Kind::Function => Ok(check_function(&function_of(object))?),
        _ => Ok(()),
    }
}

fn function_of(object: &Object) -> FunctionTexts {
    FunctionTexts {
        package: String::new(),
        name: object.name.clone(),
        parameters: text_or_empty(object, place::FUNCTION_PARAMETERS),
        returns: text_or_empty(object, place::FUNCTION_RETURNS),
        script: text_or_empty(object, place::FUNCTION_SCRIPT),
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
