//! What programs ask of the objects of a dictionary, by the numbers of `ace.h` and the names of the `sp_Modify…` procedures.

use super::object::place;

/// A kind of object that is listed, by its number (`ADS_DD_TABLE_OBJECT` and its like).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is the constant of its name")]
pub enum ObjectKind {
    Table,
    Relation,
    IndexFile,
    Field,
    Index,
    View,
    /// Views and tables.
    ViewOrTable,
    /// Views, tables and links.
    TableViewOrLink,
    Link,
    User,
    UserGroup,
    Procedure,
    Function,
    /// Functions with a name space of their own.
    Package,
    Trigger,
    Publication,
    /// A table of a publication.
    Article,
    Subscription,
    /// Triggers with the names of their tables before them: `table::trigger`.
    QualifiedTrigger,
}

impl ObjectKind {
    /// The kind of a number; `None` for one that is not listed.
    pub fn from_number(number: u16) -> Option<Self> {
        Some(match number {
            1 => Self::Table,
            2 => Self::Relation,
            3 => Self::IndexFile,
            4 => Self::Field,
            5 => Self::Index,
            6 => Self::View,
            7 => Self::ViewOrTable,
            8 => Self::User,
            9 => Self::UserGroup,
            10 => Self::Procedure,
            12 => Self::Link,
            13 => Self::TableViewOrLink,
            14 => Self::Trigger,
            15 => Self::Publication,
            16 => Self::Article,
            17 => Self::Subscription,
            18 => Self::Function,
            19 => Self::Package,
            20 => Self::QualifiedTrigger,
            _ => return None,
        })
    }
}

/// The value of a property.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PropertyValue {
    /// A text; empty for none.
    Text(String),
    /// A text that programs have in UTF-16.
    Wide(String),
    /// A number of two bytes, or whether something is so.
    Short(u16),
    /// A number of four bytes.
    Long(u32),
    /// What a program keeps for itself; empty for none.
    Bytes(Vec<u8>),
}

/// What a program gives for a property.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PropertyShape {
    /// A text.
    Text,
    /// A text in UTF-16.
    Wide,
    /// A number of two bytes that says whether something is so.
    Short,
    /// A number of four bytes.
    Long,
    /// Bytes of the program's own.
    Bytes,
}

/// A property of a dictionary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is the constant of its name")]
pub enum DatabaseProperty {
    Comment,
    DefaultTablePath,
    TempTablePath,
    AdminPassword,
    LogInRequired,
    VerifyAccessRights,
    TriggersDisabled,
    UserDefined,
    VersionMajor,
    VersionMinor,
}

/// A property of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is the constant of its name")]
pub enum TableProperty {
    Comment,
    ObjectId,
    ValidationExpression,
    ValidationMessage,
    PrimaryKey,
    Type,
    Path,
    FieldCount,
    IsParent,
    RelativePath,
    DefaultIndex,
    TriggersDisabled,
    UserDefined,
    /// How much of it Advantage's server keeps in memory: kept and told, and nothing more.
    Caching,
    /// What Advantage's web service looks at: kept and told, and nothing more.
    WebDelta,
    /// As [`Self::WebDelta`].
    ConcurrencyEnabled,
    /// Something that tables can have with Advantage, and none has here: files that are made when they are missing, and no part in
    /// transactions.
    Absent,
}

/// A property of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is the constant of its name")]
pub enum FieldProperty {
    Comment,
    DefaultValue,
    CanBeNull,
    Minimum,
    Maximum,
    ValidationMessage,
    Type,
    Length,
    Decimals,
    Number,
    UserDefined,
}

/// What happens to records that break a new rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Validation {
    /// They are not looked for.
    None,
    /// The rule is refused.
    ReturnError,
    /// They would leave the table, which is not done: the rule is refused, as with [`Validation::ReturnError`].
    Remove,
}

const DATABASE: &[(u16, &str, DatabaseProperty)] = &[
    (1, "COMMENT", DatabaseProperty::Comment),
    (3, "USER_DEFINED_PROP", DatabaseProperty::UserDefined),
    (5, "TRIGGERS_DISABLED", DatabaseProperty::TriggersDisabled),
    (100, "DEFAULT_TABLE_PATH", DatabaseProperty::DefaultTablePath),
    (101, "ADMIN_PASSWORD", DatabaseProperty::AdminPassword),
    (102, "TEMP_TABLE_PATH", DatabaseProperty::TempTablePath),
    (103, "LOG_IN_REQUIRED", DatabaseProperty::LogInRequired),
    (104, "VERIFY_ACCESS_RIGHTS", DatabaseProperty::VerifyAccessRights),
    (111, "VERSION_MAJOR", DatabaseProperty::VersionMajor),
    (112, "VERSION_MINOR", DatabaseProperty::VersionMinor),
];

const TABLE: &[(u16, &str, TableProperty)] = &[
    (1, "COMMENT", TableProperty::Comment),
    (3, "USER_DEFINED_PROP", TableProperty::UserDefined),
    (5, "TRIGGERS_DISABLED", TableProperty::TriggersDisabled),
    (6, "OBJECT_ID", TableProperty::ObjectId),
    (200, "TABLE_VALIDATION_EXPR", TableProperty::ValidationExpression),
    (201, "TABLE_VALIDATION_MSG", TableProperty::ValidationMessage),
    (202, "TABLE_PRIMARY_KEY", TableProperty::PrimaryKey),
    (203, "TABLE_AUTO_CREATE", TableProperty::Absent),
    (204, "TABLE_TYPE", TableProperty::Type),
    (205, "TABLE_PATH", TableProperty::Path),
    (206, "TABLE_FIELD_COUNT", TableProperty::FieldCount),
    (208, "TABLE_OBJ_ID", TableProperty::ObjectId),
    (210, "TABLE_IS_RI_PARENT", TableProperty::IsParent),
    (211, "TABLE_RELATIVE_PATH", TableProperty::RelativePath),
    (213, "TABLE_DEFAULT_INDEX", TableProperty::DefaultIndex),
    (219, "TABLE_CACHING", TableProperty::Caching),
    (220, "TABLE_TRANS_FREE", TableProperty::Absent),
    (222, "TABLE_WEB_DELTA", TableProperty::WebDelta),
    (223, "TABLE_CONCURRENCY_ENABLED", TableProperty::ConcurrencyEnabled),
];

const FIELD: &[(u16, &str, FieldProperty)] = &[
    (1, "COMMENT", FieldProperty::Comment),
    (3, "USER_DEFINED_PROP", FieldProperty::UserDefined),
    (300, "FIELD_DEFAULT_VALUE", FieldProperty::DefaultValue),
    (301, "FIELD_CAN_BE_NULL", FieldProperty::CanBeNull),
    (302, "FIELD_MIN_VALUE", FieldProperty::Minimum),
    (303, "FIELD_MAX_VALUE", FieldProperty::Maximum),
    (304, "FIELD_VALIDATION_MSG", FieldProperty::ValidationMessage),
    (306, "FIELD_TYPE", FieldProperty::Type),
    (307, "FIELD_LENGTH", FieldProperty::Length),
    (308, "FIELD_DECIMAL", FieldProperty::Decimals),
    (309, "FIELD_NUM", FieldProperty::Number),
];

/// Gives a kind of property its numbers and names.
macro_rules! numbered {
    ($($property:ident in $list:ident;)*) => {$(
        impl $property {
            /// The property of a number; `None` for one that is not kept.
            pub fn from_number(number: u16) -> Option<Self> {
                $list.iter().find(|(known, ..)| *known == number).map(|(.., property)| *property)
            }

            /// The property of a name in any case; `None` for one that is not kept.
            pub fn from_name(name: &str) -> Option<Self> {
                let found = $list.iter().find(|(_, known, _)| known.eq_ignore_ascii_case(name.trim()));
                found.map(|(.., property)| *property)
            }
        }
    )*};
}

numbered! {
    DatabaseProperty in DATABASE;
    TableProperty in TABLE;
    FieldProperty in FIELD;
}

impl Validation {
    /// What a number means (`ADS_NO_VALIDATE` and its like); `None` for another one.
    pub fn from_number(number: u16) -> Option<Self> {
        match number {
            0 => Some(Self::None),
            1..=3 => Some(Self::Remove),
            4 => Some(Self::ReturnError),
            _ => None,
        }
    }

    /// As [`Validation::from_number`], by name.
    pub fn from_name(name: &str) -> Option<Self> {
        let name = name.trim().to_ascii_uppercase();
        match name.strip_prefix("VALIDATE_").unwrap_or(&name) {
            "" | "NO_VALIDATE" => Some(Self::None),
            "APPEND_FAIL" | "WRITE_FAIL" | "NO_SAVE" => Some(Self::Remove),
            "RETURN_ERROR" => Some(Self::ReturnError),
            _ => None,
        }
    }
}

impl DatabaseProperty {
    /// Whether it is a number that says whether something is so.
    pub fn is_flag(self) -> bool {
        matches!(
            self,
            Self::LogInRequired | Self::VerifyAccessRights | Self::TriggersDisabled
        )
    }

    /// What a program gives for it.
    pub fn shape(self) -> PropertyShape {
        match self {
            Self::VersionMajor | Self::VersionMinor => PropertyShape::Short,
            Self::UserDefined => PropertyShape::Bytes,
            _ if self.is_flag() => PropertyShape::Short,
            _ => PropertyShape::Text,
        }
    }
}

impl TableProperty {
    /// Whether it is a number that says whether something is so, and can be set.
    pub fn is_flag(self) -> bool {
        matches!(
            self,
            Self::TriggersDisabled | Self::Absent | Self::WebDelta | Self::ConcurrencyEnabled
        )
    }

    /// What a program gives for it.
    pub fn shape(self) -> PropertyShape {
        match self {
            Self::Caching => PropertyShape::Short,
            _ if self.is_flag() => PropertyShape::Short,
            Self::UserDefined => PropertyShape::Bytes,
            _ => PropertyShape::Text,
        }
    }

    /// Of one that is kept as a number, and has no effect: its place, and the greatest number that it has.
    pub(super) fn number_kept(self) -> Option<(usize, u16)> {
        match self {
            Self::Caching => Some((place::TABLE_CACHING, 2)),
            Self::WebDelta => Some((place::TABLE_WEB_DELTA, 1)),
            Self::ConcurrencyEnabled => Some((place::TABLE_CONCURRENCY, 1)),
            _ => None,
        }
    }

    /// Whether it is a rule of records.
    pub(super) fn is_rule(self) -> bool {
        self == Self::ValidationExpression
    }
}

impl FieldProperty {
    /// What a program gives for it.
    pub fn shape(self) -> PropertyShape {
        match self {
            Self::CanBeNull => PropertyShape::Short,
            Self::UserDefined => PropertyShape::Bytes,
            _ => PropertyShape::Text,
        }
    }

    /// Whether it is a rule of records.
    pub(super) fn is_rule(self) -> bool {
        matches!(
            self,
            Self::DefaultValue | Self::CanBeNull | Self::Minimum | Self::Maximum
        )
    }
}
