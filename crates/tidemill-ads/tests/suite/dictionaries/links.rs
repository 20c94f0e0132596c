//! Links to another dictionary: who reads its tables, by which names, and what a link may lead to.

use std::sync::Arc;

use tidemill_ads::sql::{Analytical, AnalyticalQuery, Rows, TableScan, TableSource};
use tidemill_ads::{LinkOptions, NewLink, Rights};

use super::triggers::{refused, run};
use super::*;

/// A house, and an archive below it whose table `patrons` has two records.
fn with_archive() -> House {
    let house = House::with_tables();
    let folder = house.folder.path().join("old");
    std::fs::create_dir(&folder).unwrap();
    let mut free = Connection::open(&folder).unwrap();
    for sql in [
        "CREATE TABLE persons ( name Char(10), town Char(4) )",
        "CREATE INDEX name ON persons ( name )",
        "INSERT INTO persons VALUES ( 'Ada', 'A' ), ( 'Ben', 'B' )",
    ] {
        free.execute(sql, &[], &house.settings, &house.options).unwrap();
    }
    free.end_transactions().unwrap();
    let mut archive = Connection::create_dictionary(folder.join("archive.add"), "", &house.settings).unwrap();
    let table = NewTable {
        name: "patrons",
        path: "persons",
        table_type: TableType::Adt,
        ..NewTable::default()
    };
    archive.add_dictionary_table(&table, &house.settings).unwrap();
    house
}

fn link<'l>(alias: &'l str, path: &'l str, options: LinkOptions) -> NewLink<'l> {
    NewLink {
        alias,
        path,
        user: ("", ""),
        options,
    }
}

const OWN: LinkOptions = LinkOptions(0);

#[test]
fn statements_read_tables_of_a_linked_dictionary() {
    let mut house = with_archive();
    let settings = house.settings.clone();
    assert!(house.connection.active_links().is_empty());
    run(
        &mut house,
        &["EXECUTE PROCEDURE sp_CreateLink( 'old', 'old/archive.add', FALSE, FALSE, FALSE, NULL, NULL )"],
    );
    let names = "SELECT name FROM OLD.Patrons WHERE town = 'B'";
    assert_eq!(house.rows(names), ["Ben"]);
    assert_eq!(
        house.rows("SELECT name FROM [old].patrons ORDER BY name DESC"),
        ["Ben", "Ada"]
    );
    run(&mut house, &["CREATE VIEW linked AS SELECT * FROM old.patrons"]);
    assert_eq!(house.rows("SELECT COUNT(*) AS n FROM linked"), ["2"]);
    let active = house.connection.active_links();
    assert!(
        active.len() == 1 && active[0].starts_with("old;;") && active[0].ends_with("archive.add"),
        "{active:?}"
    );
    // Within a transaction too, and what others change there is seen.
    run(
        &mut house,
        &["BEGIN TRANSACTION", "INSERT INTO towns ( code ) VALUES ( 'X' )"],
    );
    assert_eq!(house.rows(names), ["Ben"]);
    run(&mut house, &["COMMIT"]);
    let archive = house.folder.path().join("old/archive.add");
    let mut other = Connection::open_dictionary(&archive, false, &settings).unwrap();
    other
        .execute(
            "INSERT INTO patrons VALUES ( 'Cid', 'B' )",
            &[],
            &settings,
            &house.options,
        )
        .unwrap();
    assert_eq!(house.rows(names), ["Ben", "Cid"]);
    // Nothing is changed there.
    for sql in [
        "INSERT INTO old.patrons VALUES ( 'Dan', 'D' )",
        "UPDATE old.patrons SET town = 'D'",
        "DELETE FROM old.patrons",
        "CREATE INDEX town ON old.patrons ( town )",
        "ALTER TABLE old.patrons ADD COLUMN x Integer",
        "DROP TABLE old.patrons",
    ] {
        let error = refused(&mut house, sql);
        assert!(error.contains("read through a link"), "{sql}: {error}");
    }
    assert_eq!(house.rows("SELECT COUNT(*) AS n FROM old.patrons"), ["3"]);
    let error = refused(&mut house, "SELECT * FROM old.persons");
    assert!(error.contains("there is no table persons"), "{error}");
    run(&mut house, &["EXECUTE PROCEDURE sp_DropLink( 'old', FALSE )"]);
    let error = refused(&mut house, names);
    assert!(error.contains("could not find the specified file"), "{error}");
    let gone = house.connection.drop_link("old", false, &settings);
    assert_eq!(gone.unwrap_err().code(), ErrorCode::InvalidObjectName);
    // By its path, which opens a link that has no name.
    let path = archive.display();
    assert_eq!(
        house.rows(&format!("SELECT name FROM [{path}].patrons WHERE town = 'A'")),
        ["Ada"]
    );
    assert!(house.connection.active_links()[0].starts_with(";"));
    house.connection.drop_link(&path.to_string(), false, &settings).unwrap();
    assert!(house.connection.active_links().is_empty());
}

#[test]
fn links_are_kept_for_everybody() {
    let mut house = with_archive();
    let settings = house.settings.clone();
    run(
        &mut house,
        &["EXECUTE PROCEDURE sp_CreateLink( 'old', 'old\\archive.add', TRUE, FALSE, FALSE, NULL, NULL )"],
    );
    assert_eq!(house.names(ObjectKind::Link, ""), ["old"]);
    assert_eq!(house.names(ObjectKind::TableViewOrLink, ""), ["Staff", "old", "towns"]);
    assert!(house.connection.active_links().is_empty());
    let mut other = house.another();
    let Executed::Cursor(_) = other
        .execute("SELECT * FROM old.patrons", &[], &settings, &house.options)
        .unwrap()
    else {
        panic!("no rows")
    };
    assert_eq!(other.active_links().len(), 1);
    assert_eq!(other.link_property("OLD", 1303).unwrap(), text(".\\old\\archive.add"));
    assert_eq!(other.link_property("old", 1301).unwrap(), PropertyValue::Long(1));
    assert_eq!(
        other.link_property("old", 1302).unwrap_err().code(),
        ErrorCode::PropertyNotSet
    );
    assert_eq!(
        other.link_property("old", 1).unwrap_err().code(),
        ErrorCode::InvalidPropertyId
    );
    drop(other);
    let system = "SELECT Name, Link_Options FROM system.links";
    assert_eq!(house.rows(system), ["old|1"]);
    assert_eq!(
        house.rows("SELECT LinkAlias FROM ( EXECUTE PROCEDURE sp_GetLinks() ) l"),
        ["old"]
    );
    run(
        &mut house,
        &["EXECUTE PROCEDURE sp_ModifyLink( 'old', 'old/archive.add', TRUE, TRUE, NULL, NULL )"],
    );
    assert_eq!(house.rows(system), ["old|7"]);
    let whole = house.folder.path().canonicalize().unwrap().join("old/archive.add");
    assert_eq!(
        house.connection.link_property("old", 1300).unwrap(),
        text(&whole.to_string_lossy())
    );
    run(
        &mut house,
        &["EXECUTE PROCEDURE sp_RenameDDObject( 'old', 'archive', 12, 0 )"],
    );
    assert_eq!(house.rows("SELECT name FROM archive.patrons WHERE town = 'A'"), ["Ada"]);
    // The dictionary's own name may stand before a table, and no other name.
    assert_eq!(
        house.rows("SELECT COUNT(*) FROM house.towns"),
        house.rows("SELECT COUNT(*) FROM towns")
    );
    let error = house
        .connection
        .execute("SELECT * FROM nosuch.towns", &[], &settings, &house.options);
    assert!(error.is_err_and(|error| error.to_string().contains("nosuch.towns")));
    run(&mut house, &["EXECUTE PROCEDURE sp_DropLink( 'archive', TRUE )"]);
    assert!(house.connection.active_links().is_empty());
    assert_eq!(house.names(ObjectKind::Link, ""), [""; 0]);
}

#[test]
fn what_cannot_be_a_link_is_refused() {
    let mut house = with_archive();
    let settings = house.settings.clone();
    let elsewhere = tempfile::tempdir().unwrap();
    let outside = elsewhere.path().join("far.add");
    drop(Connection::create_dictionary(&outside, "", &settings).unwrap());
    let outside = outside.display().to_string();
    let (global, own) = (LinkOptions::GLOBAL, OWN);
    house
        .connection
        .create_link(&link("old", "old/archive.add", own), &settings)
        .unwrap();
    for (alias, path, options, code) in [
        ("OLD", "old/archive.add", own, ErrorCode::InvalidObjectName),
        ("old", "old/archive.add", global, ErrorCode::InvalidObjectName),
        ("staff", "old/archive.add", global, ErrorCode::InvalidObjectName),
        ("system", "old/archive.add", own, ErrorCode::InvalidObjectName),
        ("", "old/archive.add", own, ErrorCode::InvalidObjectName),
        ("x", "old/none.add", own, ErrorCode::LinkActivationFailed),
        ("x", "old/persons.adt", own, ErrorCode::LinkActivationFailed),
        ("x", "old/none.add", global, ErrorCode::FileNotFound),
        // A dictionary leads to no file out of its folder; a program does.
        ("x", &outside, global, ErrorCode::InvalidPath),
        (
            "x",
            "old/archive.add",
            LinkOptions::STATIC_PATH,
            ErrorCode::InvalidOption,
        ),
    ] {
        let made = house.connection.create_link(&link(alias, path, options), &settings);
        assert_eq!(made.unwrap_err().code(), code, "{alias} {path} {options:?}");
    }
    house
        .connection
        .create_link(&link("far", &outside, own), &settings)
        .unwrap();
    let with_password = NewLink {
        user: ("ann", "secret"),
        ..link("x", "old/archive.add", global)
    };
    let made = house.connection.create_link(&with_password, &settings);
    assert_eq!(made.unwrap_err().code(), ErrorCode::NotImplemented);
    let made = house
        .connection
        .modify_link(&link("old", "old/archive.add", global), &settings);
    assert_eq!(made.unwrap_err().code(), ErrorCode::InvalidObjectName);
    let mut free = Connection::open(house.folder.path()).unwrap();
    let made = free.create_link(&link("x", "old/archive.add", own), &settings);
    assert_eq!(made.unwrap_err().code(), ErrorCode::InvalidDictionaryHandle);
}

#[test]
fn the_linked_dictionary_says_who_may_read() {
    let mut house = with_archive();
    let settings = house.settings.clone();
    let archive = house.folder.path().join("old/archive.add");
    let mut own = Connection::open_dictionary_as(&archive, ("ADSSYS", ""), false, &settings).unwrap();
    for (user, password) in [("ann", "a"), ("bob", "b")] {
        own.create_user((user, password), "", "", &settings).unwrap();
    }
    own.set_rights((ObjectKind::Table, "patrons"), "ann", Rights::READ, true, &settings)
        .unwrap();
    for property in [DatabaseProperty::VerifyAccessRights, DatabaseProperty::LogInRequired] {
        own.set_database_property(property, &PropertyValue::Short(1), &settings)
            .unwrap();
    }
    let read = "SELECT name FROM old.patrons WHERE town = 'A'";
    for (user, expected) in [
        (("ann", "a"), Ok(())),
        (("bob", "b"), Err("READ")),
        (("ann", "b"), Err("5174")),
        (("", ""), Err("5174")),
    ] {
        let new = NewLink {
            user,
            ..link("old", "old/archive.add", OWN)
        };
        let made = house.connection.create_link(&new, &settings);
        let done = match made {
            Ok(()) => house.execute(read).map(drop).map_err(|error| error.to_string()),
            Err(error) => Err(error.code().number().to_string()),
        };
        match (done, expected) {
            (Ok(()), Ok(())) => {}
            (Err(said), Err(expected)) => assert!(said.contains(expected), "{user:?}: {said}"),
            other => panic!("{user:?}: {other:?}"),
        }
        house.connection.close_all().unwrap();
        let _ = house.connection.drop_link("old", false, &settings);
    }
    // The user of the connection, who is known there too, and may use the link.
    house.connection.create_user(("ann", "a"), "", "", &settings).unwrap();
    house.connection.create_user(("bob", "b"), "", "", &settings).unwrap();
    let options = LinkOptions(LinkOptions::GLOBAL.0 | LinkOptions::ACTIVE_USER.0);
    house
        .connection
        .create_link(&link("old", "old/archive.add", options), &settings)
        .unwrap();
    let verify = DatabaseProperty::VerifyAccessRights;
    house
        .connection
        .set_database_property(verify, &PropertyValue::Short(1), &settings)
        .unwrap();
    let mut ann = Connection::open_dictionary_as(house.file(), ("ann", "a"), false, &settings).unwrap();
    let error = ann
        .execute(read, &[], &settings, &house.options)
        .unwrap_err()
        .to_string();
    assert!(error.contains("LINK_ACCESS"), "{error}");
    house
        .connection
        .set_rights((ObjectKind::Link, "old"), "ann", Rights::LINK, true, &settings)
        .unwrap();
    ann.execute(read, &[], &settings, &house.options).unwrap();
    let error = ann.link_property("old", 1300).unwrap_err();
    assert_eq!(error.code(), ErrorCode::PermissionDenied);
    let error = ann.create_link(&link("other", "old/archive.add", LinkOptions::GLOBAL), &settings);
    assert_eq!(error.unwrap_err().code(), ErrorCode::PermissionDenied);
    // What is revoked there holds from then on.
    own.set_rights((ObjectKind::Table, "patrons"), "ann", Rights::READ, false, &settings)
        .unwrap();
    let error = ann
        .execute(read, &[], &settings, &house.options)
        .unwrap_err()
        .to_string();
    assert!(error.contains("READ"), "{error}");
}

#[test]
fn scripts_are_nobody_in_another_dictionary() {
    let mut house = with_archive();
    let settings = house.settings.clone();
    let archive = house.folder.path().join("old/archive.add");
    let mut own = Connection::open_dictionary_as(&archive, ("ADSSYS", ""), false, &settings).unwrap();
    own.set_database_property(
        DatabaseProperty::VerifyAccessRights,
        &PropertyValue::Short(1),
        &settings,
    )
    .unwrap();
    let script = format!(
        "CREATE TRIGGER sly ON towns AFTER INSERT BEGIN INSERT INTO staff ( [last name] ) SELECT name FROM [{}].patrons; END",
        archive.display()
    );
    run(&mut house, &[&script]);
    let error = refused(&mut house, "INSERT INTO towns ( code ) VALUES ( 'X' )");
    assert!(error.contains("READ"), "{error}");
}

/// Answers a join with the first column of the table `old.patrons`, as it is lent.
#[derive(Debug)]
struct Scanner;

impl Analytical for Scanner {
    fn run(&self, query: Arc<AnalyticalQuery>) -> Result<Rows, tidemill_ads::sql::Error> {
        let answer = query.scan(&TableScan {
            table: "old.patrons".to_owned(),
            columns: vec![0],
            ..TableScan::default()
        })?;
        let schema = answer.schema();
        Ok(Rows::of_batches(&schema, answer.collect::<Result<_, _>>()?))
    }
}

#[test]
fn an_engine_for_joins_is_lent_linked_tables() {
    let mut house = with_archive();
    let settings = house.settings.clone();
    house
        .connection
        .create_link(&link("old", "old/archive.add", OWN), &settings)
        .unwrap();
    house.connection.set_analytical(Some(Arc::new(Scanner)));
    let joined = "SELECT p.name FROM old.patrons p INNER JOIN towns t ON p.town = t.code";
    assert_eq!(house.rows(joined), ["Ada", "Ben"]);
    house.connection.drop_link("old", false, &settings).unwrap();
    let error = refused(&mut house, joined);
    assert!(error.contains("could not find the specified file"), "{error}");
}
