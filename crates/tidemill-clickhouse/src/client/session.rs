//! What a connection remembers between queries: the roles of its user; and what a query takes for that of its session: its time
//! zone.
//!
//! A query of the native protocol has a list of roles, but a server takes it only from another server that knows the secret
//! of their cluster (`Server/TCPHandler.cpp`, `received_extra_roles`). A client changes roles as a person does, by `SET ROLE`,
//! which holds for the session, and a session is a connection. So a connection knows which roles it has, and is told others
//! only when a query wants others than the query before.
//!
//! The time zone is the setting [`TIME_ZONE`] of each query. Servers say it back only to `input()` (`sendTimezone` in the same
//! file).
//!
//! What statements of the caller change is not kept track of (`SET`, `SET ROLE`, `USE`, temporary tables): a pool gives any of
//! its connections to any query. [`Client::session`](super::Client::session) makes a pool of one connection, which is never replaced.

use super::{cancel::CancelHandle, transport::Transport};
use crate::{
    Compression, Error, Result,
    packet::{
        client::{Query, Setting, SettingValue},
        server::ServerPacket,
    },
    sql_text,
};

/// The setting that says what instants without a time zone of their own are in, since 23.6 (pull request 44149 of ClickHouse).
pub(super) const TIME_ZONE: &str = "session_timezone";

/// The time zone that these settings ask for.
pub(super) fn time_zone(settings: &[Setting]) -> Option<&str> {
    let setting = settings.iter().rev().find(|setting| setting.name == TIME_ZONE)?;
    match &setting.value {
        SettingValue::Text(zone) => Some(zone.as_str()).filter(|zone| !zone.is_empty()),
        SettingValue::Number(_) => None,
    }
}

/// Gives the session of `connection` these roles, unless it has them. None: those that the user has by default.
///
/// # Errors
///
/// [`Error::Server`] when the user may not have them, or the server knows no roles, and those of sending and reading.
pub(super) async fn take_roles(connection: &mut Transport, roles: &[String]) -> Result<()> {
    if connection.roles == roles {
        return Ok(());
    }
    // Its state is large, and would be a part of that of every query.
    Box::pin(set_roles(connection, roles)).await
}

async fn set_roles(connection: &mut Transport, roles: &[String]) -> Result<()> {
    connection.watch(CancelHandle::new(), None);
    let action = "set the roles of a session";
    connection
        .in_time(action, async |connection| say_roles(connection, roles).await)
        .await?;
    roles.clone_into(&mut connection.roles);
    Ok(())
}

async fn say_roles(connection: &mut Transport, roles: &[String]) -> Result<()> {
    let query = Query {
        text: set_role(roles),
        ..Query::default()
    };
    connection.protocol.query(&query, Compression::None)?;
    connection.protocol.end_data()?;
    connection.flush().await?;
    loop {
        match connection.receive().await? {
            ServerPacket::Block { kind, .. } => drop(connection.block(kind).await?),
            ServerPacket::Exception(exception) => return Err(Error::Server(exception)),
            ServerPacket::EndOfStream => return Ok(()),
            _ => {}
        }
    }
}

fn set_role(roles: &[String]) -> String {
    if roles.is_empty() {
        return "SET ROLE DEFAULT".to_owned();
    }
    let roles: Vec<_> = roles.iter().map(|role| sql_text::name(role)).collect();
    format!("SET ROLE {}", roles.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_are_written_as_names_whatever_is_in_them() {
        for (roles, text) in [
            (&[][..], "SET ROLE DEFAULT"),
            (&["a"], "SET ROLE `a`"),
            (&["a b", "ALL", "x`; DROP"], "SET ROLE `a b`, `ALL`, `x\\`; DROP`"),
        ] {
            let roles: Vec<_> = roles.iter().map(|role| (*role).to_owned()).collect();
            assert_eq!(set_role(&roles), text);
        }
    }
}
