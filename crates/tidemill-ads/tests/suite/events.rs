//! Events: what connections of one database tell each other.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use tidemill_ads::sql::StatementOptions;
use tidemill_ads::{Connection, Error, Executed, Settings};

use crate::dictionaries::rows_of;

struct Client(Connection);

impl Client {
    fn of(folder: &Path) -> Self {
        Self(Connection::open(folder).unwrap())
    }

    fn execute(&mut self, sql: &str) -> Result<Executed, Error> {
        self.0
            .execute(sql, &[], &Settings::default(), &StatementOptions::default())
    }

    #[track_caller]
    fn run(&mut self, sql: &str) {
        self.execute(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }

    #[track_caller]
    fn rows(&mut self, sql: &str) -> Vec<String> {
        match self.execute(sql) {
            Ok(Executed::Cursor(area)) => rows_of(&mut self.0, area, &Settings::default()),
            other => panic!("{sql}: {other:?}"),
        }
    }
}

const CHECK: &str = "EXECUTE PROCEDURE sp_WaitForEvent( 'Changed', 0, 0, 0 )";

#[test]
fn signals_reach_those_who_have_created_the_event() {
    let folder = tempfile::tempdir().unwrap();
    let (mut one, mut other) = (Client::of(folder.path()), Client::of(folder.path()));
    let elsewhere = tempfile::tempdir().unwrap();
    let mut stranger = Client::of(elsewhere.path());
    for client in [&mut one, &mut stranger] {
        assert!(client.execute(CHECK).is_err(), "it is not created");
        client.run("EXECUTE PROCEDURE sp_CreateEvent( 'Changed', 0 )");
        assert_eq!(client.rows(CHECK), ["Changed|0|"]);
    }
    for _ in 0..3 {
        other.run("EXECUTE PROCEDURE sp_SignalEvent( 'CHANGED', FALSE, 0 )");
    }
    other.run("EXECUTE PROCEDURE sp_SignalEvent( 'Unknown', FALSE, 0, 'x' )");
    assert_eq!(one.rows(CHECK), ["Changed|3|"]);
    assert_eq!(one.rows(CHECK), ["Changed|0|"]);
    assert_eq!(stranger.rows(CHECK), ["Changed|0|"]);
    one.run("EXECUTE PROCEDURE sp_DropEvent( 'changed', 0 )");
    assert!(one.execute(CHECK).is_err());
    assert!(one.execute("EXECUTE PROCEDURE sp_DropEvent( 'changed', 0 )").is_err());
    one.run("EXECUTE PROCEDURE sp_DropAllEvents( 0 )");
}

#[test]
fn data_comes_signal_by_signal() {
    let folder = tempfile::tempdir().unwrap();
    let (mut one, mut other) = (Client::of(folder.path()), Client::of(folder.path()));
    one.run("EXECUTE PROCEDURE sp_CreateEvent( 'Told', 2 )");
    one.run("EXECUTE PROCEDURE sp_CreateEvent( 'Counted', 0 )");
    let any = "EXECUTE PROCEDURE sp_WaitForAnyEvent( 0, 0, 0 )";
    assert_eq!(one.rows(any), ["|0|"]);
    other.run("EXECUTE PROCEDURE sp_SignalEvent( 'Told', FALSE, 0, 'first' )");
    other.run("EXECUTE PROCEDURE sp_SignalEvent( 'Told', FALSE, 0, 'second' )");
    other.run("EXECUTE PROCEDURE sp_SignalEvent( 'Counted', FALSE, 0, 'nobody asks' )");
    let mut told = one.rows(any);
    told.extend(one.rows(any));
    told.sort();
    assert_eq!(told, ["Counted|1|", "Told|1|first", "Told|2|second"]);
    assert_eq!(one.rows(any), ["|0|"]);
}

#[test]
fn who_waits_is_woken_and_a_wait_ends() {
    let folder = tempfile::tempdir().unwrap();
    let mut one = Client::of(folder.path());
    one.run("EXECUTE PROCEDURE sp_CreateEvent( 'Changed', 0 )");
    let begun = Instant::now();
    assert_eq!(
        one.rows("EXECUTE PROCEDURE sp_WaitForEvent( 'Changed', 120, 0, 0 )"),
        ["Changed|0|"]
    );
    assert!(begun.elapsed() >= Duration::from_millis(120));
    let path = folder.path().to_owned();
    let other = thread::spawn(move || {
        thread::sleep(Duration::from_millis(100));
        Client::of(&path).run("EXECUTE PROCEDURE sp_SignalEvent( 'Changed', FALSE, 0 )");
    });
    assert_eq!(
        one.rows("EXECUTE PROCEDURE sp_WaitForEvent( 'Changed', -1, 0, 0 )"),
        ["Changed|1|"]
    );
    other.join().unwrap();
}

#[test]
fn a_signal_waits_for_the_transaction_if_it_is_told_to() {
    let folder = tempfile::tempdir().unwrap();
    let (mut one, mut other) = (Client::of(folder.path()), Client::of(folder.path()));
    one.run("EXECUTE PROCEDURE sp_CreateEvent( 'Changed', 0 )");
    for (ending, count) in [("ROLLBACK", 1), ("COMMIT WORK", 2)] {
        other.run("BEGIN TRANSACTION");
        other.run("EXECUTE PROCEDURE sp_SignalEvent( 'Changed', TRUE, 0 )");
        other.run("EXECUTE PROCEDURE sp_SignalEvent( 'Changed', FALSE, 0 )");
        assert_eq!(one.rows(CHECK), ["Changed|1|"], "{ending}");
        other.run(ending);
        assert_eq!(one.rows(CHECK), [format!("Changed|{}|", count - 1)], "{ending}");
    }
}
