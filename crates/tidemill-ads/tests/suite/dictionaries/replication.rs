//! Publications, articles and subscriptions by procedures, and what programs keep in objects for themselves.

use super::triggers::{refused, run};
use super::*;

#[test]
fn procedures_keep_publications_and_subscriptions() {
    let mut house = House::with_tables();
    run(
        &mut house,
        &[
            "EXECUTE PROCEDURE sp_CreatePublication( 'all', 'for branches', 0 )",
            "EXECUTE PROCEDURE sp_CreatePublication( 'some', NULL, NULL )",
            "EXECUTE PROCEDURE sp_CreateArticle( 'all', 'towns', NULL, NULL, 2 )",
            "EXECUTE PROCEDURE sp_ModifyArticleProperty( 'all', 'towns', 'ARTICLE_FILTER', 'Name = ''x''' )",
            "EXECUTE PROCEDURE sp_ModifyPublicationProperty( 'some', 'USER_DEFINED_PROP', 'ours' )",
            "EXECUTE PROCEDURE sp_CreateSubscription( 'north', 'all', 'far/shop.add', 'rep', NULL, 'queue.adt', TRUE, 'cold', 4 )",
            "EXECUTE PROCEDURE sp_ModifySubscriptionProperty( 'north', 'SUBSCR_PUBLICATION_NAME', 'some' )",
            "EXECUTE PROCEDURE sp_ModifySubscriptionProperty( 'north', 'SUBSCR_PAUSED', 'TRUE' )",
            "EXECUTE PROCEDURE sp_ModifyDatabase( 'VERSION_MAJOR', '12' )",
            "EXECUTE PROCEDURE sp_ModifyTableProperty( 'towns', 'USER_DEFINED_PROP', 'of the table', NULL, NULL )",
        ],
    );
    assert_eq!(
        house.rows("SELECT Name, Comment, Options, User_Defined_Prop FROM system.publications ORDER BY Name"),
        ["all|for branches|0|", "some||0|ours"]
    );
    assert_eq!(
        house.rows("SELECT Name, Parent, Filter FROM system.publicationarticles"),
        ["towns|all|Name = 'x'"]
    );
    assert_eq!(
        house.rows("SELECT Name, Publication, Target, Forward, Enabled, Paused, Options FROM system.subscriptions"),
        ["north|some|far/shop.add|T|T|T|4"]
    );
    for (wrong, said) in [
        ("sp_CreatePublication( 'all', NULL, 0 )", "already"),
        ("sp_CreatePublication( 'more', NULL, 9 )", "no option 9"),
        ("sp_CreateArticle( 'all', 'none', NULL, NULL, 2 )", "no none there"),
        ("sp_CreateArticle( 'all', 'towns', NULL, NULL, 2 )", "already"),
        ("sp_DropPublication( 'some' )", "uses the publication"),
        ("sp_DropSubscription( 'south' )", "no south there"),
        (
            "sp_CreateSubscription( 's', 'all', 't', 'u', 'secret', 'q', FALSE, NULL, 0 )",
            "password",
        ),
        (
            "sp_ModifySubscriptionProperty( 'north', 'SUBSCR_PASSWORD', 'secret' )",
            "password",
        ),
        ("sp_ModifyDatabase( 'VERSION_MINOR', 'new' )", "is a number"),
    ] {
        let error = refused(&mut house, &format!("EXECUTE PROCEDURE {wrong}"));
        assert!(error.contains(said), "{wrong}: {error}");
    }
    run(
        &mut house,
        &[
            "EXECUTE PROCEDURE sp_DropSubscription( 'north' )",
            "EXECUTE PROCEDURE sp_DropArticle( 'all', 'towns' )",
            "EXECUTE PROCEDURE sp_DropPublication( 'all' )",
            "EXECUTE PROCEDURE sp_DropPublication( 'some' )",
        ],
    );
    for table in ["publications", "articles", "subscriptions"] {
        assert_eq!(
            house.rows(&format!("SELECT Name FROM system.{table}")),
            [""; 0],
            "{table}"
        );
    }
}

/// Table properties that are not supported here read as off, and cannot be switched on.
#[test]
fn properties_that_no_table_has_are_off() {
    let mut house = House::with_tables();
    let property = TableProperty::from_name("TABLE_TRANS_FREE").unwrap();
    assert_eq!(
        house.connection.table_property("towns", property).unwrap(),
        PropertyValue::Short(0)
    );
    let mut set = |value| {
        let rule = (property, Validation::None);
        let value = PropertyValue::Short(value);
        house
            .connection
            .set_table_property("towns", rule, &value, &house.settings)
    };
    set(0).unwrap();
    assert_eq!(set(1).unwrap_err().code(), ErrorCode::NotImplemented);
    assert!(house.connection.table_property("none", property).is_err());
}

/// What a server alone does something with is kept and told, and leaves the table as it is.
#[test]
fn properties_for_a_server_are_kept() {
    let mut house = House::with_tables();
    for (name, values, too_much) in [
        ("TABLE_CACHING", vec![1, 2, 0, 2], 3),
        ("TABLE_WEB_DELTA", vec![1, 0, 1], 2),
        ("TABLE_CONCURRENCY_ENABLED", vec![1], 2),
    ] {
        let property = TableProperty::from_name(name).unwrap();
        let get = |house: &mut House| house.connection.table_property("towns", property).unwrap();
        let set = |house: &mut House, value| {
            let (rule, value) = ((property, Validation::None), PropertyValue::Short(value));
            house
                .connection
                .set_table_property("towns", rule, &value, &house.settings)
        };
        assert_eq!(get(&mut house), PropertyValue::Short(0), "{name}");
        for value in values {
            set(&mut house, value).unwrap();
            assert_eq!(get(&mut house), PropertyValue::Short(value), "{name}");
        }
        let refused = set(&mut house, too_much).unwrap_err();
        assert_eq!(refused.code(), ErrorCode::InvalidProperty, "{name}");
    }
    let shown =
        "SELECT Table_Caching, Table_WEB_Delta, Table_Concurrency_Enabled FROM system.tables WHERE Name = 'towns'";
    assert_eq!(house.rows(shown), ["2|T|T"]);
    house
        .execute("EXECUTE PROCEDURE sp_ModifyTableProperty( 'towns', 'TABLE_CACHING', '1', NULL, NULL )")
        .unwrap();
    assert_eq!(house.rows(shown), ["1|T|T"]);
    // The table is one whose rules are all known, and can be changed.
    house.execute("DELETE FROM towns WHERE 1 = 0").unwrap();
}
