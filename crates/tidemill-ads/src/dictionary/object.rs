//! The records of a dictionary: an object each.

use std::fmt;

use super::values::Values;

/// What an object is, with the name that the file has for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Database,
    Table,
    Index,
    Field,
    Key,
    Relation,
    Trigger,
    View,
    StoredProc,
    Function,
    User,
    Group,
    Permission,
    Link,
    Package,
    Publication,
    Article,
    Subscription,
    /// Another one, which is not looked at.
    Other,
}

/// The kinds that are known, and their names.
const NAMES: [(Kind, &str); 18] = [
    (Kind::Database, "Database"),
    (Kind::Table, "Table"),
    (Kind::Index, "Index"),
    (Kind::Field, "Field"),
    (Kind::Key, "Key"),
    (Kind::Relation, "Relation"),
    (Kind::Trigger, "Trigger"),
    (Kind::View, "View"),
    (Kind::StoredProc, "StoredProc"),
    (Kind::Function, "Function"),
    (Kind::User, "User"),
    (Kind::Group, "Group"),
    (Kind::Permission, "Permission"),
    (Kind::Link, "Link"),
    (Kind::Package, "Package"),
    (Kind::Publication, "Publicatn"),
    (Kind::Article, "Article"),
    (Kind::Subscription, "Subscriptn"),
];

impl Kind {
    pub(super) fn of(name: &str) -> Self {
        let known = NAMES.iter().find(|(_, known)| *known == name);
        known.map_or(Self::Other, |(kind, _)| *kind)
    }

    /// What the file calls it.
    pub(super) fn name(self) -> &'static str {
        let known = NAMES.iter().find(|(kind, _)| *kind == self);
        known.map_or("", |(_, name)| name)
    }
}

/// An object.
#[derive(Debug, Clone)]
pub(crate) struct Object {
    /// The record that it is in; 0 before it is written.
    pub(super) record: u32,
    /// Its number in the dictionary; 0 before it is written.
    pub(crate) number: u32,
    /// The number of the object that it belongs to.
    pub(crate) parent: u32,
    pub(crate) kind: Kind,
    /// What the file calls its kind.
    pub(super) type_name: String,
    pub(crate) name: String,
    pub(crate) values: Values,
    /// `Info1` and `Info2`, of which each kind makes its own.
    pub(crate) info: [Option<i32>; 2],
    pub(crate) comment: String,
}

impl Object {
    /// A new one.
    pub(super) fn new(kind: Kind, parent: u32, name: &str) -> Self {
        Self {
            record: 0,
            number: 0,
            parent,
            kind,
            type_name: kind.name().to_owned(),
            name: name.to_owned(),
            values: Values::default(),
            info: [None; 2],
            comment: String::new(),
        }
    }

    #[must_use]
    pub(super) fn values(mut self, values: Values) -> Self {
        self.values = values;
        self
    }

    #[must_use]
    pub(super) fn info(mut self, first: u32) -> Self {
        self.info = [Some(first.cast_signed()), self.info[1]];
        self
    }

    /// `Info1` where it is the number of another object.
    pub(crate) fn refers_to(&self) -> Option<u32> {
        self.info[0].map(i32::cast_unsigned).filter(|number| *number != 0)
    }

    pub(crate) fn is(&self, kind: Kind, parent: u32) -> bool {
        self.kind == kind && self.parent == parent
    }

    pub(crate) fn is_called(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name.trim())
    }
}

impl fmt::Display for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.type_name, self.name)
    }
}

/// The places of values in the list of an object, by its kind. Those that no file at hand has a value in follow from the numbers that
/// `ace.h` gives the properties, which are in the order of the places as far as they are known (docs/formats/adt.md).
pub(crate) mod place {
    /// Of a dictionary: the folder of its tables, and that of temporary ones.
    pub(crate) const DATABASE_PATHS: [usize; 2] = [2, 3];
    /// Of a dictionary: a password and a digest.
    pub(crate) const DATABASE_SECRETS: [usize; 2] = [0, 1];
    /// Of a dictionary: whether users have to log in, and whether their rights are checked. No file at hand has either.
    pub(crate) const DATABASE_LOG_IN_REQUIRED: usize = 4;
    pub(crate) const DATABASE_VERIFY_RIGHTS: usize = 5;
    /// Of a user of our own: the hash of his password, and the numbers of his groups.
    pub(crate) const USER_PASSWORD: usize = 0;
    pub(crate) const USER_GROUPS: usize = 1;
    /// Of a permission of our own: its bits.
    pub(crate) const PERMISSION_RIGHTS: usize = 0;
    /// Of a table, an index and a link: the path of its file.
    pub(crate) const PATH: usize = 0;
    /// Of a table: the condition that its records fulfil, and what is said where one does not. No file at hand has one.
    pub(crate) const TABLE_VALIDATION: usize = 1;
    pub(crate) const TABLE_MESSAGE: usize = 2;
    pub(crate) const TABLE_FIELD_COUNT: usize = 4;
    /// Of a table: the number of the graph of relations that it belongs to.
    pub(crate) const TABLE_GRAPH: usize = 5;
    pub(crate) const TABLE_DEFAULT_INDEX: usize = 8;
    /// Of a table: which kinds of triggers it has, and which options those of each event have.
    pub(crate) const TABLE_TRIGGERS: usize = 9;
    pub(crate) const TABLE_TRIGGER_OPTIONS: usize = 10;
    /// Of a table: those whose meaning is known, the graph of relations and the kinds and options of triggers among them.
    pub(crate) const TABLE_KNOWN: [usize; 13] = [
        0,
        1,
        2,
        4,
        5,
        8,
        9,
        10,
        TRIGGERS_DISABLED,
        USER_DEFINED,
        TABLE_CACHING,
        TABLE_WEB_DELTA,
        TABLE_CONCURRENCY,
    ];
    /// Of a dictionary, a table and a trigger: that no trigger fires there. Where Advantage keeps it is not known, so it is far behind the
    /// places that files at hand have.
    pub(crate) const TRIGGERS_DISABLED: usize = 40;
    /// Of any object: what the program keeps there for itself. Where Advantage keeps it is not known either.
    pub(crate) const USER_DEFINED: usize = 41;
    /// Of a table: numbers of two bytes that are kept and told, and nothing more. Where Advantage keeps them is not known either.
    pub(crate) const TABLE_CACHING: usize = 42;
    pub(crate) const TABLE_WEB_DELTA: usize = 43;
    pub(crate) const TABLE_CONCURRENCY: usize = 44;
    /// Of a dictionary: its version, as the program numbers it. No file at hand has one.
    pub(crate) const DATABASE_VERSION: [usize; 2] = [12, 13];
    /// Of a publication, an article and a subscription of our own. No file at hand has one that is not deleted.
    pub(crate) const PUBLICATION_OPTIONS: usize = 0;
    pub(crate) const ARTICLE_FILTER: usize = 0;
    pub(crate) const ARTICLE_ID_COLUMNS: usize = 1;
    pub(crate) const ARTICLE_INCLUDED: usize = 5;
    pub(crate) const ARTICLE_EXCLUDED: usize = 6;
    pub(crate) const ARTICLE_INSERT_MERGE: usize = 8;
    pub(crate) const ARTICLE_UPDATE_MERGE: usize = 9;
    pub(crate) const SUBSCRIPTION_TARGET: usize = 1;
    pub(crate) const SUBSCRIPTION_USER: usize = 2;
    pub(crate) const SUBSCRIPTION_FORWARD: usize = 4;
    pub(crate) const SUBSCRIPTION_ENABLED: usize = 5;
    pub(crate) const SUBSCRIPTION_QUEUE: usize = 6;
    pub(crate) const SUBSCRIPTION_OPTIONS: usize = 7;
    pub(crate) const SUBSCRIPTION_PAUSED: usize = 9;
    /// Whether it uses TCP/IP, UDP/IP, IPX or TLS, of which it uses one.
    pub(crate) const SUBSCRIPTION_NETWORKS: [usize; 4] = [10, 12, 13, 15];
    pub(crate) const SUBSCRIPTION_CONNECTION: usize = 16;
    /// Of a field: the value of new records.
    pub(crate) const FIELD_DEFAULT: usize = 0;
    /// Of a field: a value without bytes where it may not be NULL.
    pub(crate) const FIELD_NOT_NULL: usize = 1;
    /// Of a field: least and greatest value, and what is said where a value does not fit. No file at hand has one.
    pub(crate) const FIELD_MINIMUM: usize = 2;
    pub(crate) const FIELD_MAXIMUM: usize = 3;
    pub(crate) const FIELD_MESSAGE: usize = 4;
    /// Of a field: type, width and decimals, of two bytes each.
    pub(crate) const FIELD_DEFINITION: usize = 5;
    pub(crate) const FIELD_OPTIONS: usize = 6;
    /// Of an index file: a number that is always 1, and the length of a page.
    pub(crate) const INDEX_KIND: usize = 1;
    pub(crate) const INDEX_PAGE: usize = 2;
    /// Of a relation: numbers of tables and keys, the rules of changes and deletions, and what is said where one fails; no file at hand has
    /// such a text.
    pub(crate) const RELATION_PARENT: usize = 0;
    pub(crate) const RELATION_PARENT_KEY: usize = 1;
    pub(crate) const RELATION_CHILD: usize = 2;
    pub(crate) const RELATION_CHILD_KEY: usize = 3;
    pub(crate) const RELATION_UPDATE: usize = 4;
    pub(crate) const RELATION_DELETE: usize = 5;
    pub(crate) const RELATION_NO_PARENT: usize = 6;
    pub(crate) const RELATION_NO_CASCADE: usize = 7;
    /// Of a trigger: event, moment, kind of container, container, function, priority and options.
    pub(crate) const TRIGGER_EVENT: usize = 0;
    pub(crate) const TRIGGER_MOMENT: usize = 1;
    pub(crate) const TRIGGER_CONTAINER_KIND: usize = 2;
    pub(crate) const TRIGGER_CONTAINER: usize = 3;
    pub(crate) const TRIGGER_FUNCTION: usize = 4;
    pub(crate) const TRIGGER_PRIORITY: usize = 5;
    pub(crate) const TRIGGER_OPTIONS: usize = 6;
    /// Of a procedure: what it takes and gives, its library and function, how it is called, and its script.
    pub(crate) const PROCEDURE_INPUT: usize = 0;
    pub(crate) const PROCEDURE_OUTPUT: usize = 1;
    pub(crate) const PROCEDURE_LIBRARY: usize = 2;
    pub(crate) const PROCEDURE_FUNCTION: usize = 3;
    pub(crate) const PROCEDURE_KIND: usize = 4;
    pub(crate) const PROCEDURE_SCRIPT: usize = 5;
    /// Of a function: what it returns and takes, as it is written, and its script.
    pub(crate) const FUNCTION_RETURNS: usize = 4;
    pub(crate) const FUNCTION_PARAMETERS: usize = 5;
    pub(crate) const FUNCTION_SCRIPT: usize = 6;
    /// Of a link of our own: how it is kept, and who reads. No file at hand has a link.
    pub(crate) const LINK_OPTIONS: usize = 1;
    pub(crate) const LINK_USER: usize = 2;
    /// Of a view: its SELECT. No file at hand has one.
    pub(crate) const VIEW_STATEMENT: usize = 0;
    /// Of a key, that is, an order of an index.
    pub(crate) const KEY_EXPRESSION: usize = 0;
    pub(crate) const KEY_CONDITION: usize = 1;
    pub(crate) const KEY_OPTIONS: usize = 2;
    pub(crate) const KEY_LENGTH: usize = 3;
    pub(crate) const KEY_TYPE: usize = 4;
    pub(crate) const KEY_COLLATION: usize = 10;
}
