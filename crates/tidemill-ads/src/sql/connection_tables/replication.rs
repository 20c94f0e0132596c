//! What statements see of the replication that a dictionary keeps: tables of `system`, and procedures.

use super::dictionary::{is_true, modify, no_option, shown};
use crate::connection::Connection;
use crate::dictionary::{NewArticle, NewSubscription, ObjectKind, PropertyShape};
use crate::error::Result;
use crate::settings::Settings;
use crate::sql::procedure::Arguments;
use crate::sql::value::Value;

/// The rows of `publications`, `articles`, which is `publicationarticles`, and `subscriptions`.
pub(super) fn rows(connection: &mut Connection, table: &str) -> Result<Vec<Vec<Value>>> {
    if !connection.has_dictionary() {
        return Ok(Vec::new());
    }
    let mut rows = Vec::new();
    let publications = connection.dictionary_objects(ObjectKind::Publication, "")?;
    match table {
        "publications" => {
            for name in publications {
                let values = of(connection, ObjectKind::Publication, ("", &name), &[1, 1500, 3]);
                rows.push(std::iter::once(Value::Text(name)).chain(values).collect());
            }
        }
        "subscriptions" => {
            for name in connection.dictionary_objects(ObjectKind::Subscription, "")? {
                let numbers = [1700, 1701, 1702, 1706, 1704, 1705, 1, 1707, 3, 1709, 1710, 1712, 1713];
                let values = of(connection, ObjectKind::Subscription, ("", &name), &numbers);
                rows.push(std::iter::once(Value::Text(name)).chain(values).collect());
            }
        }
        _ => {
            for publication in publications {
                for name in connection.dictionary_objects(ObjectKind::Article, &publication)? {
                    let numbers = [1601, 1600, 1604, 1605, 1608, 1607];
                    let values = of(connection, ObjectKind::Article, (&publication, &name), &numbers);
                    let names = [Value::Text(name), Value::Text(publication.clone())];
                    rows.push(names.into_iter().chain(values).collect());
                }
            }
        }
    }
    Ok(rows)
}

/// Properties of an object; numbers of two bytes say whether something is so.
fn of(connection: &mut Connection, kind: ObjectKind, names: (&str, &str), properties: &[u16]) -> Vec<Value> {
    let values = properties.iter().map(|number| {
        let value = shown(connection.object_property(kind, names, *number));
        match (kind.shape_of(*number), value) {
            (Some(PropertyShape::Short), Value::Integer(number)) => Value::Logical(number != 0),
            (_, value) => value,
        }
    });
    values.collect()
}

/// Runs a procedure of replication; `false` for another one. Its name is in small letters.
pub(super) fn procedure(
    connection: &mut Connection,
    name: &str,
    arguments: &Arguments<'_>,
    settings: &Settings,
) -> Result<bool> {
    let text = |place| arguments.text(place);
    let needed = |place| arguments.needed(place, name);
    let options = |place, known: u32| match text(place).trim() {
        "" => Ok(0),
        given => match given.parse() {
            Ok(options) if options & !known == 0 => Ok(options),
            _ => Err(no_option(given)),
        },
    };
    match name {
        "sp_createpublication" => {
            options(2, 0)?;
            connection.create_publication(&needed(0)?, &text(1), settings)?;
        }
        "sp_droppublication" => connection.drop_publication(&needed(0)?, settings)?,
        "sp_createarticle" => {
            let options = options(4, 3)?;
            let table = needed(1)?;
            let article = NewArticle {
                table: &table,
                id_columns: &text(2),
                filter: &text(3),
                by_primary_key: options & 1 != 0,
                by_all: options & 2 != 0,
            };
            connection.create_article(&needed(0)?, &article, settings)?;
        }
        "sp_droparticle" => connection.drop_article(&needed(0)?, &needed(1)?, settings)?,
        "sp_createsubscription" => {
            let [subscription, publication, target, queue] = [needed(0)?, needed(1)?, needed(2)?, needed(5)?];
            let new = NewSubscription {
                name: &subscription,
                publication: &publication,
                target: &target,
                user: &text(3),
                password: &text(4),
                queue: &queue,
                forwards: is_true(&text(6)).unwrap_or(false),
                comment: &text(7),
                options: options(8, 0xF)?,
            };
            connection.create_subscription(&new, settings)?;
        }
        "sp_dropsubscription" => connection.drop_subscription(&needed(0)?, settings)?,
        "sp_modifypublicationproperty" | "sp_modifysubscriptionproperty" => {
            let kind = match name {
                "sp_modifypublicationproperty" => ObjectKind::Publication,
                _ => ObjectKind::Subscription,
            };
            modify(connection, kind, ("", &needed(0)?), &needed(1)?, &text(2), settings)?;
        }
        "sp_modifyarticleproperty" => {
            let (publication, article) = (needed(0)?, needed(1)?);
            let names = (publication.as_str(), article.as_str());
            modify(connection, ObjectKind::Article, names, &needed(2)?, &text(3), settings)?;
        }
        _ => return Ok(false),
    }
    Ok(true)
}
