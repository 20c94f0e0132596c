//! Views, triggers, procedures and functions: what a dictionary keeps as SQL.

use tidemill_ads::{
    ErrorCode, NewFunction, NewProcedure, NewTrigger, ObjectKind, PropertyShape, Result, TriggerContainer,
    TriggerEvent, TriggerMoment,
};

use super::{given, put};
use crate::call::{call, refuse};
use crate::constants::{ADS_ENCODE_UTF8, ADS_ENCODE_UTF16};
use crate::handle::{Handle, with_connection};
use crate::pointers::{Bytes, Name, Out, WideName};
use crate::settings::settings;

/// Adds a view to a dictionary.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDAddView(connection: Handle, name: Name, comment: Name, statement: Name) -> u32 {
    call(|| add_view(connection, name, comment, &statement.needed()?))
}

/// As [`AdsDDAddView`], with the statement in UTF-16.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDAddView100(connection: Handle, name: Name, comment: Name, statement: WideName) -> u32 {
    call(|| add_view(connection, name, comment, &statement.needed()?))
}

fn add_view(connection: Handle, name: Name, comment: Name, statement: &str) -> Result<()> {
    let (name, comment) = (name.needed()?, comment.text()?.unwrap_or_default());
    with_connection(connection, |session| {
        session.connection.add_view(&name, &comment, statement, &settings())
    })
}

/// Removes a view from a dictionary.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDRemoveView(connection: Handle, name: Name) -> u32 {
    call(|| {
        let name = name.needed()?;
        with_connection(connection, |session| session.connection.remove_view(&name, &settings()))
    })
}

/// A property of a view.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDGetViewProperty(
    connection: Handle,
    name: Name,
    property: u16,
    value: Bytes,
    len: Out<u16>,
) -> u32 {
    call(|| {
        get(
            connection,
            ObjectKind::View,
            ("", &name.needed()?),
            property,
            (value, len),
        )
    })
}

/// Sets a property of a view.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDSetViewProperty(connection: Handle, name: Name, property: u16, value: Bytes, len: u16) -> u32 {
    call(|| {
        set(
            connection,
            ObjectKind::View,
            ("", &name.needed()?),
            property,
            (value, len),
        )
    })
}

/// Gives a table a trigger.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDCreateTrigger(
    connection: Handle,
    name: Name,
    table: Name,
    moment: u32,
    event: u32,
    kind: u32,
    container: Name,
    function: Name,
    priority: u32,
    comment: Name,
    options: u32,
) -> u32 {
    call(|| {
        let names = (name, table, function, comment);
        let container = container.text()?.unwrap_or_default();
        create_trigger(
            connection,
            names,
            (moment, event, kind),
            &container,
            (priority, options),
        )
    })
}

/// As [`AdsDDCreateTrigger`], with the container in UTF-16.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDCreateTrigger100(
    connection: Handle,
    name: Name,
    table: Name,
    moment: u32,
    event: u32,
    kind: u32,
    container: WideName,
    function: Name,
    priority: u32,
    comment: Name,
    options: u32,
) -> u32 {
    call(|| {
        let names = (name, table, function, comment);
        let container = container.needed()?;
        create_trigger(
            connection,
            names,
            (moment, event, kind),
            &container,
            (priority, options),
        )
    })
}

fn create_trigger(
    connection: Handle,
    (name, table, function, comment): (Name, Name, Name, Name),
    (moment, event, kind): (u32, u32, u32),
    container: &str,
    (priority, options): (u32, u32),
) -> Result<()> {
    let Some(table) = table.text()?.filter(|table| !table.trim().is_empty()) else {
        return refuse(
            ErrorCode::NotImplemented,
            "triggers of the database itself are not fired; give the table of the trigger",
        );
    };
    let (name, function) = (name.needed()?, function.text()?.unwrap_or_default());
    let comment = comment.text()?.unwrap_or_default();
    let trigger = NewTrigger {
        name: &name,
        table: &table,
        event: numbered(TriggerEvent::from_number(event), event, "event of triggers")?,
        moment: numbered(TriggerMoment::from_number(moment), moment, "type of triggers")?,
        kind: numbered(TriggerContainer::from_number(kind), kind, "type of containers")?,
        container,
        function: &function,
        priority,
        options,
        comment: &comment,
    };
    with_connection(connection, |session| {
        session.connection.create_trigger(&trigger, false, &settings())
    })
}

pub(super) fn numbered<T>(known: Option<T>, number: u32, what: &str) -> Result<T> {
    match known {
        Some(known) => Ok(known),
        None => refuse(ErrorCode::InvalidOption, format!("{number} is no {what}")),
    }
}

/// Takes a trigger from a table; the name is `table::trigger`.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDRemoveTrigger(connection: Handle, name: Name) -> u32 {
    call(|| {
        let name = name.needed()?;
        let (table, name) = name.split_once("::").unwrap_or(("", &name));
        with_connection(connection, |session| {
            session.connection.drop_trigger(table, name, &settings())
        })
    })
}

/// A property of a trigger.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDGetTriggerProperty(
    connection: Handle,
    name: Name,
    property: u16,
    value: Bytes,
    len: Out<u16>,
) -> u32 {
    call(|| {
        get(
            connection,
            ObjectKind::Trigger,
            ("", &name.needed()?),
            property,
            (value, len),
        )
    })
}

/// Sets a property of a trigger.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDSetTriggerProperty(
    connection: Handle,
    name: Name,
    property: u16,
    value: Bytes,
    len: u16,
) -> u32 {
    call(|| {
        set(
            connection,
            ObjectKind::Trigger,
            ("", &name.needed()?),
            property,
            (value, len),
        )
    })
}

/// Adds a procedure to a dictionary.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDAddProcedure(
    connection: Handle,
    name: Name,
    container: Name,
    function: Name,
    kind: u32,
    input: Name,
    output: Name,
    comment: Name,
) -> u32 {
    call(|| {
        let container = container.needed()?;
        add_procedure(connection, (name, function, comment), kind, &container, (input, output))
    })
}

/// As [`AdsDDAddProcedure`], with the container in UTF-16.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDAddProcedure100(
    connection: Handle,
    name: Name,
    container: WideName,
    function: Name,
    kind: u32,
    input: Name,
    output: Name,
    comment: Name,
) -> u32 {
    call(|| {
        let container = container.needed()?;
        add_procedure(connection, (name, function, comment), kind, &container, (input, output))
    })
}

pub(crate) fn add_procedure(
    connection: Handle,
    (name, function, comment): (Name, Name, Name),
    kind: u32,
    container: &str,
    (input, output): (Name, Name),
) -> Result<()> {
    let given = |name: Name| Ok::<_, tidemill_ads::Error>(name.text()?.unwrap_or_default());
    let procedure = NewProcedure {
        name: &name.needed()?,
        kind,
        container,
        function: &given(function)?,
        input: &given(input)?,
        output: &given(output)?,
        comment: &given(comment)?,
    };
    with_connection(connection, |session| {
        session.connection.create_procedure(&procedure, false, &settings())
    })
}

/// Removes a procedure from a dictionary.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDRemoveProcedure(connection: Handle, name: Name) -> u32 {
    call(|| {
        let name = name.needed()?;
        with_connection(connection, |session| {
            session.connection.drop_procedure(&name, &settings())
        })
    })
}

/// A property of a procedure.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDGetProcedureProperty(
    connection: Handle,
    name: Name,
    property: u16,
    value: Bytes,
    len: Out<u16>,
) -> u32 {
    call(|| {
        get(
            connection,
            ObjectKind::Procedure,
            ("", &name.needed()?),
            property,
            (value, len),
        )
    })
}

/// Sets a property of a procedure.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDSetProcedureProperty(
    connection: Handle,
    name: Name,
    property: u16,
    value: Bytes,
    len: u16,
) -> u32 {
    call(|| {
        set(
            connection,
            ObjectKind::Procedure,
            ("", &name.needed()?),
            property,
            (value, len),
        )
    })
}

/// Adds a function to a dictionary.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDCreateFunction(
    connection: Handle,
    name: Name,
    returns: Name,
    count: u16,
    parameters: Name,
    script: Name,
    comment: Name,
) -> u32 {
    call(|| {
        add_function(
            connection,
            (name, returns, comment),
            (count, parameters),
            &script.needed()?,
        )
    })
}

/// As [`AdsDDCreateFunction`]; `encoding` says whether the script is in UTF-16 (`ADS_ENCODE_UTF16`).
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDCreateFunction100(
    connection: Handle,
    name: Name,
    returns: Name,
    count: u16,
    parameters: Name,
    script: Name,
    comment: Name,
    encoding: u32,
    options: u32,
) -> u32 {
    call(|| {
        if options != 0 {
            return refuse(
                ErrorCode::InvalidOption,
                format!("{options:#x} is no option of a function"),
            );
        }
        let script = match encoding {
            ADS_ENCODE_UTF16 => script.wide().needed()?,
            0 | ADS_ENCODE_UTF8 => script.needed()?,
            other => return refuse(ErrorCode::InvalidOption, format!("{other:#x} is no encoding of a text")),
        };
        add_function(connection, (name, returns, comment), (count, parameters), &script)
    })
}

fn add_function(
    connection: Handle,
    (name, returns, comment): (Name, Name, Name),
    (count, parameters): (u16, Name),
    script: &str,
) -> Result<()> {
    let given = |name: Name| Ok::<_, tidemill_ads::Error>(name.text()?.unwrap_or_default());
    let function = NewFunction {
        name: &name.needed()?,
        parameters: (count.into(), &given(parameters)?),
        returns: &returns.needed()?,
        script,
        comment: &given(comment)?,
    };
    with_connection(connection, |session| {
        session.connection.create_function(&function, false, &settings())
    })
}

/// Removes a function from a dictionary.
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDDropFunction(connection: Handle, name: Name) -> u32 {
    call(|| {
        let name = name.needed()?;
        with_connection(connection, |session| {
            session.connection.drop_function(&name, &settings())
        })
    })
}

/// Makes a package of functions (SAP's help, "CREATE PACKAGE").
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDCreatePackage(connection: Handle, name: Name, comment: Name) -> u32 {
    call(|| {
        let (name, comment) = (name.needed()?, comment.text()?.unwrap_or_default());
        with_connection(connection, |session| {
            session.connection.create_package(&name, &comment, &settings())
        })
    })
}

/// Removes a package and its functions (SAP's help, "DROP PACKAGE").
#[unsafe(no_mangle)]
pub extern "C" fn AdsDDDropPackage(connection: Handle, name: Name) -> u32 {
    call(|| {
        let name = name.needed()?;
        with_connection(connection, |session| {
            session.connection.drop_package(&name, &settings())
        })
    })
}

/// A property of an object, which is named with its parent.
pub(super) fn get(
    connection: Handle,
    kind: ObjectKind,
    object: (&str, &str),
    property: u16,
    (value, len): (Bytes, Out<u16>),
) -> Result<()> {
    with_connection(connection, |session| {
        put(&session.connection.object_property(kind, object, property)?, value, len)
    })
}

/// Sets a property of an object.
pub(super) fn set(
    connection: Handle,
    kind: ObjectKind,
    object: (&str, &str),
    property: u16,
    (value, len): (Bytes, u16),
) -> Result<()> {
    let value = given(kind.shape_of(property).unwrap_or(PropertyShape::Text), value, len)?;
    with_connection(connection, |session| {
        session
            .connection
            .set_object_property(kind, object, property, &value, &settings())
    })
}
