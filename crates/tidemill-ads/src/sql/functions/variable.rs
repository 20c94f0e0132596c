//! System variables ("System Variables" in ADS's help): `::conn.TransactionCount` and its like, which every statement can ask.
//!
//! Those of a trigger are NULL, for there are no triggers. `::stmt.UpdateCount` is 0 outside of a script.

use super::{Function, session};
use crate::machine::{host_name, login_name};
use crate::sql::value::{Type, Value};

#[rustfmt::skip]
pub(super) const VARIABLES: &[Function] = &[
    session("::conn.Name", Type::Text(0), |session| Value::Text(format!("Connection {}", session.connection.number))),
    session("::conn.TransactionCount", Type::Integer, |session| Value::Integer(session.connection.transactions)),
    session("::conn.OperationCount", Type::Integer, |session| Value::Integer(session.connection.operations)),
    session("::conn.OSUserLoginName", Type::Text(0), |_| Value::Text(login_name())),
    session("::conn.ClientHostName", Type::Text(0), |_| Value::Text(host_name())),
    session("::conn.NetworkAddress", Type::Text(0), |_| Value::Text(String::new())),
    session("::conn.TerminalClientAddress", Type::Text(0), |_| Value::Text(String::new())),
    session("::conn.IsRoot", Type::Logical, |_| Value::Logical(false)),
    session("::conn.Collation", Type::Text(0), |_| Value::Text(String::new())),
    session("::stmt.Collation", Type::Text(0), |_| Value::Text(String::new())),
    session("::stmt.UpdateCount", Type::Integer, |_| Value::Integer(0)),
    session("::stmt.TrigRecNo", Type::Integer, |_| Value::Null),
    session("::stmt.TrigRowid", Type::Text(18), |_| Value::Null),
    session("::stmt.TrigName", Type::Text(0), |_| Value::Null),
    session("::stmt.TrigTableName", Type::Text(0), |_| Value::Null),
    session("::stmt.TrigEventType", Type::Integer, |_| Value::Null),
    session("::stmt.TrigType", Type::Integer, |_| Value::Null),
];
