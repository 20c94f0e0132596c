//! Statements and procedures that make and change data dictionaries.

use std::str::FromStr;

use crate::dictionary::{
    DatabaseProperty, FieldProperty, LinkOptions, NewFunction, NewLink, NewProcedure, NewRelation, NewTable,
    NewTrigger, ObjectKind, PropertyShape, PropertyValue, RelationRule, Rights, TableProperty, TriggerContainer,
    TriggerScope, Validation,
};
use crate::sql::error::{Error, Kind};
use crate::sql::procedure::Arguments;
use crate::sql::statement::{Body, Definition, TableName};
use crate::sql::value::Value;
use crate::{Connection, ErrorCode, Result, Settings, TableType};

/// Makes a dictionary, whose name need not end with `.add`.
pub(super) fn create(
    connection: &Connection,
    path: &TableName,
    (description, password): (&str, &str),
    settings: &Settings,
) -> Result<()> {
    let path = path.to_string();
    let is_whole = path.to_ascii_lowercase().ends_with(".add");
    let path = if is_whole { path } else { format!("{path}.add") };
    let path = settings.paths.resolve(&path, connection.folder())?;
    let mut made = Connection::create_dictionary(path, description, settings)?;
    match password.is_empty() {
        true => Ok(()),
        false => {
            let password = PropertyValue::Text(password.to_owned());
            made.set_database_property(DatabaseProperty::AdminPassword, &password, settings)
        }
    }
}

/// A property as a value; NULL for one that is not set.
pub(super) fn shown(property: Result<PropertyValue>) -> Value {
    match property {
        Ok(PropertyValue::Text(text) | PropertyValue::Wide(text)) => Value::Text(text),
        Ok(PropertyValue::Short(number)) => Value::Integer(number.into()),
        Ok(PropertyValue::Long(number)) => Value::Integer(number.into()),
        Ok(PropertyValue::Bytes(bytes)) => Value::Bytes(bytes),
        Err(_) => Value::Null,
    }
}

/// The relations, as `system.relations` has them.
pub(super) fn relations(connection: &mut Connection) -> Result<Vec<[Value; 9]>> {
    if !connection.has_dictionary() {
        return Ok(Vec::new());
    }
    let names = connection.dictionary_objects(ObjectKind::Relation, "")?;
    let relations = names.into_iter().map(|name| {
        let properties = RELATION_PROPERTIES.map(|property| shown(connection.relation_property(&name, property)));
        let [
            parent,
            parent_order,
            child,
            child_order,
            on_update,
            on_delete,
            no_parent,
            no_cascade,
        ] = properties;
        let name = Value::Text(name);
        [
            name,
            parent,
            parent_order,
            child,
            child_order,
            on_update,
            on_delete,
            no_parent,
            no_cascade,
        ]
    });
    Ok(relations.collect())
}

/// Makes, changes or drops an object.
pub(super) fn define(connection: &mut Connection, definition: &Definition, settings: &Settings) -> Result<()> {
    match definition {
        Definition::Trigger(trigger) => {
            let (kind, container, function) = container(&trigger.body);
            let new = NewTrigger {
                name: &trigger.name,
                table: &trigger.table,
                event: trigger.event,
                moment: trigger.moment,
                kind,
                container,
                function,
                priority: trigger.priority,
                options: trigger.options,
                comment: "",
            };
            connection.create_trigger(&new, trigger.replaces, settings)
        }
        Definition::DropTrigger { table, name } => connection.drop_trigger(table, name, settings),
        Definition::Procedure(procedure) => {
            let (kind, container, function) = container(&procedure.body);
            let new = NewProcedure {
                name: &procedure.name,
                // Of a procedure the script is no third kind, but a bit.
                kind: if kind == TriggerContainer::Script {
                    4
                } else {
                    kind as u32
                },
                container,
                function,
                input: &procedure.input,
                output: &procedure.output,
                comment: "",
            };
            connection.create_procedure(&new, procedure.replaces, settings)
        }
        Definition::DropProcedure(name) => connection.drop_procedure(name, settings),
        Definition::Function(function) => {
            let new = NewFunction {
                name: &function.name,
                parameters: (function.parameters.0, &function.parameters.1),
                returns: &function.returns,
                script: &function.script,
                comment: &function.comment,
            };
            connection.create_function(&new, function.replaces, settings)
        }
        Definition::DropFunction(name) => connection.drop_function(name, settings),
        Definition::Package { name, comment } => connection.create_package(name, comment, settings),
        Definition::DropPackage(name) => connection.drop_package(name, settings),
        Definition::Rights {
            rights,
            object,
            grantee,
            grants,
        } => {
            let kinds = [
                ObjectKind::Table,
                ObjectKind::View,
                ObjectKind::Procedure,
                ObjectKind::Function,
                ObjectKind::Package,
                ObjectKind::Link,
            ];
            let mut names = kinds.into_iter();
            let kind = names.find(|kind| {
                let names = connection.dictionary_objects(*kind, "").unwrap_or_default();
                names.iter().any(|name| name.eq_ignore_ascii_case(object))
            });
            let kind = kind.unwrap_or(ObjectKind::Table);
            let rights = rights.unwrap_or(Rights::ALL);
            connection.set_rights((kind, object), grantee, rights, *grants, settings)
        }
        Definition::IndexInFile(index) => connection.create_index_in(index, settings),
    }
}

fn container(body: &Body) -> (TriggerContainer, &str, &str) {
    match body {
        Body::Script(script) => (TriggerContainer::Script, script, ""),
        Body::Library {
            function,
            library,
            is_com: false,
        } => (TriggerContainer::Library, library, function),
        Body::Library { function, library, .. } => (TriggerContainer::Com, library, function),
    }
}

/// The rows of a table of `system`: the properties of each object of a kind, behind its name.
pub(super) fn rows(connection: &mut Connection, table: &str) -> Result<Vec<Vec<Value>>> {
    let (kind, listed, properties): (_, _, &[u16]) = match table {
        "triggers" => (
            ObjectKind::Trigger,
            ObjectKind::QualifiedTrigger,
            &[1408, 1401, 1402, 1403, 1404, 1405, 1406, 1407, 1],
        ),
        "storedprocedures" => (
            ObjectKind::Procedure,
            ObjectKind::Procedure,
            &[800, 801, 802, 803, 1, 804, 805],
        ),
        "dictionary" => return Ok(database(connection).into_iter().collect()),
        "functions" => return functions(connection),
        "links" => return links(connection),
        "packages" => return packages(connection),
        "publications" | "articles" | "publicationarticles" | "subscriptions" => {
            return super::replication::rows(connection, table);
        }
        "users" | "usergroups" | "usergroupmembers" | "permissions" | "effectivepermissions" => {
            return grantees(connection, table);
        }
        _ => return Ok(Vec::new()),
    };
    if !connection.has_dictionary() {
        return Ok(Vec::new());
    }
    let names = connection.dictionary_objects(listed, "")?;
    let rows = names.into_iter().map(|qualified| {
        let name = qualified.rsplit("::").next().unwrap_or_default().to_owned();
        let properties = properties.iter();
        let values = properties.map(|number| shown(connection.object_property(kind, ("", &qualified), *number)));
        let values: Vec<Value> = values.collect();
        std::iter::once(Value::Text(name)).chain(values).collect()
    });
    Ok(rows.collect())
}

/// The one row of `system.dictionary`; `None` without a dictionary. What none has here is off or NULL.
fn database(connection: &mut Connection) -> Option<Vec<Value>> {
    if !connection.has_dictionary() {
        return None;
    }
    let mut told = |property| shown(connection.database_property(property));
    let is_on = |flag: Value| Value::Logical(flag == Value::Integer(1));
    let (off, null) = (Value::Logical(false), Value::Null);
    Some(vec![
        told(DatabaseProperty::VersionMajor),
        told(DatabaseProperty::VersionMinor),
        told(DatabaseProperty::DefaultTablePath),
        told(DatabaseProperty::TempTablePath),
        is_on(told(DatabaseProperty::LogInRequired)),
        is_on(told(DatabaseProperty::VerifyAccessRights)),
        // No password and no encryption of tables, no Internet, no limit of attempts, and logins.
        null.clone(),
        off.clone(),
        off.clone(),
        Value::Integer(0),
        null.clone(),
        off.clone(),
        null.clone(),
        told(DatabaseProperty::Comment),
        told(DatabaseProperty::UserDefined),
        // No words of its own for full text, no encryption.
        null.clone(),
        null.clone(),
        null.clone(),
        null,
        off.clone(),
        off.clone(),
        off,
    ])
}

/// The functions, as `system.functions` has them.
fn functions(connection: &mut Connection) -> Result<Vec<Vec<Value>>> {
    let rows = connection.function_texts()?.into_iter().map(|(texts, comment)| {
        let text = |text: String| {
            if text.is_empty() {
                Value::Null
            } else {
                Value::Text(text)
            }
        };
        let [name, package, returns] = [texts.name, texts.package, texts.returns].map(text);
        let parameters = text(texts.parameters);
        vec![name, package, returns, parameters, text(texts.script), text(comment)]
    });
    Ok(rows.collect())
}

/// The packages, as `system.packages` has them.
fn packages(connection: &mut Connection) -> Result<Vec<Vec<Value>>> {
    if !connection.has_dictionary() {
        return Ok(Vec::new());
    }
    let names = connection.dictionary_objects(ObjectKind::Package, "")?;
    let rows = names.into_iter().map(|name| {
        let comment = shown(connection.object_property(ObjectKind::Package, ("", &name), 1));
        let own = shown(connection.object_property(ObjectKind::Package, ("", &name), USER_DEFINED));
        vec![Value::Text(name), Value::Null, comment, own]
    });
    Ok(rows.collect())
}

/// The links that are kept, as `system.links` has them.
fn links(connection: &mut Connection) -> Result<Vec<Vec<Value>>> {
    if !connection.has_dictionary() {
        return Ok(Vec::new());
    }
    let names = connection.dictionary_objects(ObjectKind::Link, "")?;
    let rows = names.into_iter().map(|name| {
        let values = LINK_PROPERTIES.map(|property| shown(connection.link_property(&name, property)));
        std::iter::once(Value::Text(name)).chain(values).collect()
    });
    Ok(rows.collect())
}

/// Users, groups and their rights, as tables of `system` have them.
fn grantees(connection: &mut Connection, table: &str) -> Result<Vec<Vec<Value>>> {
    if !connection.has_dictionary() {
        return Ok(Vec::new());
    }
    let text = Value::Text;
    let users = connection.dictionary_objects(ObjectKind::User, "")?;
    let groups = connection.dictionary_objects(ObjectKind::UserGroup, "")?;
    let mut rows = Vec::new();
    match table {
        "users" => {
            for user in users {
                let property = |connection: &mut Connection, number| {
                    shown(connection.object_property(ObjectKind::User, ("", &user), number))
                };
                let (comment, own) = (property(connection, 1), property(connection, USER_DEFINED));
                rows.push(vec![text(user), Value::Logical(false), comment, own]);
            }
        }
        "usergroups" => {
            for group in groups {
                let property = |connection: &mut Connection, number| {
                    shown(connection.object_property(ObjectKind::UserGroup, ("", &group), number))
                };
                let (comment, own) = (property(connection, 1), property(connection, USER_DEFINED));
                rows.push(vec![text(group), comment, own]);
            }
        }
        "usergroupmembers" => {
            for user in users {
                for group in connection.groups_of(&user)? {
                    rows.push(vec![text(user.clone()), text(group)]);
                }
            }
        }
        _ => {
            let is_effective = table == "effectivepermissions";
            let kinds = [
                (ObjectKind::Table, 1),
                (ObjectKind::View, 6),
                (ObjectKind::Procedure, 10),
                (ObjectKind::Function, 18),
                (ObjectKind::Package, 19),
                (ObjectKind::Link, 12),
            ];
            for (kind, number) in kinds {
                let possible = Rights::of(kind);
                for object in connection.dictionary_objects(kind, "")? {
                    for grantee in users.iter().chain(&groups) {
                        let rights = connection.rights_of(grantee, (kind, &object), is_effective)?;
                        let shown = |right: Rights| match possible.has(right) {
                            true => Value::Integer(rights.has(right).into()),
                            false => Value::Null,
                        };
                        let mut row = vec![
                            text(object.clone()),
                            Value::Integer(number),
                            Value::Null,
                            text(grantee.clone()),
                        ];
                        row.extend(
                            [
                                Rights::READ,
                                Rights::UPDATE,
                                Rights::INSERT,
                                Rights::DELETE,
                                Rights::EXECUTE,
                            ]
                            .map(shown),
                        );
                        row.extend([Value::Null, shown(Rights::INHERIT)]);
                        rows.push(row);
                    }
                }
            }
        }
    }
    Ok(rows)
}

/// `ADS_DD_USER_DEFINED_PROP`.
const USER_DEFINED: u16 = 3;

/// `ADS_DD_LINK_PATH` to `ADS_DD_LINK_USERNAME`, in the order of the columns.
const LINK_PROPERTIES: [u16; 3] = [1300, 1301, 1302];

/// `ADS_DD_RI_PRIMARY_TABLE` to `ADS_DD_RI_CASCADE_ERROR`, in the order of the columns.
const RELATION_PROPERTIES: [u16; 8] = [501, 502, 503, 504, 505, 506, 507, 508];

/// Runs a procedure of dictionaries; `false` for another one.
pub(super) fn procedure(
    connection: &mut Connection,
    name: &str,
    arguments: &Arguments<'_>,
    settings: &Settings,
) -> Result<bool> {
    let text = |place| arguments.text(place);
    let needed = |place| arguments.needed(place, name);
    match name.to_ascii_lowercase().as_str() {
        "sp_addtabletodatabase" => {
            let (table, path, indexes, comment) = (needed(0)?, needed(1)?, text(4), text(5));
            let table_type = TableType::from_number(text(2).parse().unwrap_or_default());
            let Some(table_type) = table_type else {
                let what = format!("{} is no type of table: 1 to 4 are", text(2));
                return Err(crate::Error::new(ErrorCode::InvalidTableType, what));
            };
            let table = NewTable {
                name: &table,
                path: &path,
                table_type,
                indexes: &indexes,
                comment: &comment,
            };
            connection.add_dictionary_table(&table, settings)?;
        }
        "sp_modifydatabase" => {
            let property = kept(DatabaseProperty::from_name(&needed(0)?), &needed(0)?)?;
            let value = match property {
                DatabaseProperty::VersionMajor | DatabaseProperty::VersionMinor => {
                    PropertyValue::Short(number(&needed(0)?, &text(1))?)
                }
                _ if property.is_flag() => PropertyValue::Short(is_true(&text(1))?.into()),
                _ => PropertyValue::Text(text(1)),
            };
            connection.set_database_property(property, &value, settings)?;
        }
        "sp_modifytableproperty" => {
            let property = kept(TableProperty::from_name(&needed(1)?), &needed(1)?)?;
            let rule = (property, validated(&text(3))?);
            let value = match property {
                TableProperty::Caching => PropertyValue::Short(number(&needed(1)?, &text(2))?),
                _ if property.is_flag() => PropertyValue::Short(is_true(&text(2))?.into()),
                _ => PropertyValue::Text(text(2)),
            };
            connection.set_table_property(&needed(0)?, rule, &value, settings)?;
        }
        "sp_modifyfieldproperty" => {
            let property = kept(FieldProperty::from_name(&needed(2)?), &needed(2)?)?;
            let rule = (property, validated(&text(4))?);
            let value = match (property, text(3)) {
                (FieldProperty::CanBeNull, value) => PropertyValue::Short(is_true(&value)?.into()),
                (_, value) => PropertyValue::Text(value),
            };
            connection.set_field_property((&needed(0)?, &needed(1)?), rule, &value, settings)?;
        }
        "sp_addindexfiletodatabase" => connection.add_index_file(&needed(0)?, &needed(1)?, &text(2), settings)?,
        "sp_removeindexfile" => {
            let deletes = is_true(&text(2)).unwrap_or(false);
            connection.remove_index_file(&needed(0)?, &needed(1)?, deletes, settings)?;
        }
        "sp_modifyindexproperty" => {
            let property = match needed(2)? {
                comment if comment.eq_ignore_ascii_case("COMMENT") => 1,
                other => kept(None, &other)?,
            };
            let (table, index, value) = (needed(0)?, needed(1)?, PropertyValue::Text(text(3)));
            connection.set_index_property(&table, &index, property, &value, settings)?;
        }
        "sp_renameddobject" => {
            let kind = kind_of(&needed(2)?)?;
            let keeps_files = match text(3).as_str() {
                "" | "0" => false,
                "1" => true,
                other => return Err(no_option(other)),
            };
            connection.rename_object(kind, &needed(0)?, &needed(1)?, keeps_files, settings)?;
        }
        "sp_moveddobjectfile" => {
            if !["", "0"].contains(&text(5).as_str()) {
                return Err(no_option(&text(5)));
            }
            match kind_of(&needed(0)?)? {
                ObjectKind::Table => connection.move_table_file(&needed(1)?, &needed(2)?, &text(3), settings)?,
                ObjectKind::IndexFile => {
                    connection.move_index_file(&needed(4)?, &needed(1)?, &needed(2)?, settings)?;
                }
                _ => {
                    let what = "files of tables (1) and index files (3) are moved";
                    return Err(crate::Error::new(ErrorCode::InvalidObjectType, what));
                }
            }
        }
        "sp_createreferentialintegrity" => {
            let rule = |place| {
                let rule = RelationRule::from_number(text(place).parse().unwrap_or_default());
                rule.ok_or_else(|| {
                    let what = format!("{} is no rule of a relation: 1 to 4 are", text(place));
                    crate::Error::new(ErrorCode::InvalidOption, what)
                })
            };
            if !text(6).is_empty() {
                let why = "records that refer to none are not moved away: leave the table for them out";
                return Err(Error::new(Kind::Unsupported, why).into());
            }
            let [relation, parent, child, child_order] = [needed(0)?, needed(1)?, needed(2)?, needed(3)?];
            let relation = NewRelation {
                name: &relation,
                parent: &parent,
                parent_order: "",
                child: &child,
                child_order: &child_order,
                on_update: rule(4)?,
                on_delete: rule(5)?,
                no_parent: &text(7),
                no_cascade: &text(8),
            };
            connection.create_relation(&relation, settings)?;
        }
        "sp_createlink" | "sp_modifylink" => {
            let is_new = name.eq_ignore_ascii_case("sp_createlink");
            let flag = |place| is_true(&text(place)).unwrap_or(false);
            // A new link says before the others whether it is kept.
            let rest = if is_new { 3 } else { 2 };
            let options = [
                (!is_new || flag(2), LinkOptions::GLOBAL),
                (flag(rest), LinkOptions::STATIC_PATH),
                (flag(rest + 1), LinkOptions::ACTIVE_USER),
            ];
            let options = options.into_iter().filter(|(is_set, _)| *is_set);
            let options = LinkOptions(options.fold(0, |all, (_, option)| all | option.0));
            let [alias, path] = [needed(0)?, needed(1)?];
            let link = NewLink {
                alias: &alias,
                path: &path,
                user: (&text(rest + 2), &text(rest + 3)),
                options,
            };
            match is_new {
                true => connection.create_link(&link, settings)?,
                false => connection.modify_link(&link, settings)?,
            }
        }
        "sp_droplink" => connection.drop_link(&needed(0)?, is_true(&text(1)).unwrap_or(false), settings)?,
        "sp_modifyviewproperty" => modify(
            connection,
            ObjectKind::View,
            ("", &needed(0)?),
            &needed(1)?,
            &text(2),
            settings,
        )?,
        "sp_modifyprocedureproperty" => {
            let (procedure, property) = (needed(0)?, needed(1)?);
            modify(
                connection,
                ObjectKind::Procedure,
                ("", &procedure),
                &property,
                &text(2),
                settings,
            )?;
        }
        "sp_createuser" => connection.create_user((&needed(0)?, &text(1)), "", &text(2), settings)?,
        "sp_dropuser" => connection.remove_grantee(ObjectKind::User, &needed(0)?, settings)?,
        "sp_creategroup" => connection.create_group(&needed(0)?, &text(1), settings)?,
        "sp_dropgroup" => connection.remove_grantee(ObjectKind::UserGroup, &needed(0)?, settings)?,
        "sp_addusertogroup" => connection.set_membership(&needed(0)?, &needed(1)?, true, settings)?,
        "sp_removeuserfromgroup" => connection.set_membership(&needed(0)?, &needed(1)?, false, settings)?,
        "sp_changecurrentuserpassword" => connection.change_own_password(&text(0), &text(1), settings)?,
        "sp_modifyuserproperty" => {
            let (user, property) = (needed(0)?, needed(1)?);
            match property.eq_ignore_ascii_case("USER_PASSWORD") {
                true => connection.set_password(&user, &text(2), settings)?,
                false => modify(connection, ObjectKind::User, ("", &user), &property, &text(2), settings)?,
            }
        }
        "sp_modifygroupproperty" => {
            let (group, property) = (needed(0)?, needed(1)?);
            modify(
                connection,
                ObjectKind::UserGroup,
                ("", &group),
                &property,
                &text(2),
                settings,
            )?;
        }
        "sp_disabletriggers" | "sp_enabletriggers" => {
            if !["", "0"].contains(&text(3).as_str()) {
                return Err(no_option(&text(3)));
            }
            let (object, parent, is_all) = (text(0), text(1), is_true(&text(2)).unwrap_or(false));
            let is_on = name.eq_ignore_ascii_case("sp_enabletriggers");
            connection.switch_triggers(TriggerScope::of(&object, &parent, is_all)?, is_on, settings)?;
        }
        "sp_dropreferentialintegrity" => connection.drop_relation(&needed(0)?, settings)?,
        name => return super::replication::procedure(connection, name, arguments, settings),
    }
    Ok(true)
}

/// A kind of object by its number.
fn kind_of(number: &str) -> Result<ObjectKind> {
    let kind = number.parse().ok().and_then(ObjectKind::from_number);
    kind.ok_or_else(|| {
        let what = format!("objects of the type {number} are not kept in data dictionaries here");
        crate::Error::new(ErrorCode::InvalidObjectType, what)
    })
}

pub(super) fn no_option(option: &str) -> crate::Error {
    crate::Error::new(ErrorCode::InvalidOption, format!("there is no option {option}"))
}

/// Sets a property of an object by its name, such as `VIEW_STMT`.
pub(super) fn modify(
    connection: &mut Connection,
    kind: ObjectKind,
    object: (&str, &str),
    property: &str,
    value: &str,
    settings: &Settings,
) -> Result<()> {
    let known = kept(kind.property_named(property), property)?;
    let value = match kind.shape_of(known) {
        Some(PropertyShape::Long) => PropertyValue::Long(number(property, value)?),
        Some(PropertyShape::Short) => PropertyValue::Short(is_true(value)?.into()),
        _ => PropertyValue::Text(value.to_owned()),
    };
    connection.set_object_property(kind, object, known, &value, settings)
}

/// The number that a property is given as text.
fn number<T: FromStr>(property: &str, value: &str) -> Result<T> {
    value.trim().parse().map_err(|_| {
        let what = format!("{property} is a number, and {value:?} is given");
        crate::Error::new(ErrorCode::InvalidProperty, what)
    })
}

fn kept<T>(property: Option<T>, name: &str) -> Result<T> {
    property.ok_or_else(|| {
        let what = format!("the property {name} is not kept in data dictionaries here");
        crate::Error::new(ErrorCode::InvalidPropertyId, what)
    })
}

/// What is done about records that do not fulfil a rule.
fn validated(option: &str) -> Result<Validation> {
    Validation::from_name(option).ok_or_else(|| {
        let what = format!("{option} does not say what is done about records that break a new rule");
        crate::Error::new(ErrorCode::InvalidProperty, what)
    })
}

pub(super) fn is_true(value: &str) -> Result<bool> {
    match value.to_ascii_uppercase().as_str() {
        "TRUE" | "1" => Ok(true),
        "FALSE" | "0" => Ok(false),
        _ => {
            let what = format!("the property is TRUE or FALSE, and {value:?} is given");
            Err(crate::Error::new(ErrorCode::InvalidProperty, what))
        }
    }
}
