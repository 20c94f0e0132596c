//! What a process that died left beside the tables of a connection: reading tells of it, and changing brings it in.

use std::path::{Path, PathBuf};

use tempfile::TempDir;
use tidemill_ads::sql::StatementOptions;
use tidemill_ads::{Connection, Error, Executed, Settings, TableOptions};
use tidemill_xbase::{
    CivilDate, Durability, EditOptions, LogOptions, TableEditor, TransactionLog, Value, pending_logs,
};

const TODAY: CivilDate = CivilDate {
    year: 2026,
    month: 11,
    day: 26,
};

/// A folder with a table in a folder below it, of which a transaction is in a log alone.
struct Shop {
    folder: TempDir,
}

impl Shop {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("sub")).unwrap();
        let shop = Self { folder };
        shop.run("CREATE TABLE [sub/people] ( id Integer )").unwrap();
        shop.run("INSERT INTO [sub/people] ( id ) VALUES ( 1 )").unwrap();
        let before = std::fs::read(shop.table()).unwrap();
        let options = LogOptions::new().durability(Durability::Group(9));
        let log = TransactionLog::open(shop.log(), &options).unwrap();
        let mut table = TableEditor::open(shop.table(), &EditOptions::new(TODAY).log(&log)).unwrap();
        table.append_values(&[(0, Value::Integer(2))]).unwrap();
        let bytes = std::fs::read(shop.log()).unwrap();
        drop((table, log));
        std::fs::write(shop.table(), before).unwrap();
        std::fs::write(shop.log(), bytes).unwrap();
        shop
    }

    fn table(&self) -> PathBuf {
        self.folder.path().join("sub/people.dbf")
    }

    fn log(&self) -> PathBuf {
        self.folder.path().join("sub/tidemill-7.tmlog")
    }

    fn run(&self, text: &str) -> Result<Executed, Error> {
        let mut connection = Connection::open(self.folder.path()).unwrap();
        connection.execute(text, &[], &Settings::default(), &StatementOptions::default())
    }

    fn is_pending(&self) -> bool {
        !pending_logs(self.table().parent().unwrap()).unwrap().is_empty()
    }
}

fn logs(folder: &Path) -> usize {
    let names = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name());
    names.filter(|name| name.to_string_lossy().ends_with(".tmlog")).count()
}

#[test]
fn a_statement_that_reads_changes_nothing_and_tells_of_the_log() {
    let shop = Shop::new();
    let before = (std::fs::read(shop.table()).unwrap(), std::fs::read(shop.log()).unwrap());
    shop.run("SELECT 1 AS a FROM system.iota").unwrap();
    let told = shop.run("SELECT COUNT(*) FROM [sub/people]").unwrap_err();
    assert!(
        told.to_string()
            .contains("has committed changes that are not in the table yet"),
        "{told}"
    );
    let mut connection = Connection::open(shop.folder.path()).unwrap();
    let read_only = TableOptions::default().read_only();
    assert!(
        connection
            .open_table("sub/people", &read_only, &Settings::default())
            .is_err()
    );
    assert_eq!(
        (std::fs::read(shop.table()).unwrap(), std::fs::read(shop.log()).unwrap()),
        before
    );
}

#[test]
fn a_statement_that_changes_the_table_brings_it_in_first() {
    let changes = [
        ("UPDATE [sub/people] SET id = id + 10", 2),
        ("DELETE FROM [sub/people] WHERE id = 2", 2),
        ("INSERT INTO [sub/people] ( id ) VALUES ( 3 )", 3),
        ("CREATE INDEX id ON [sub/people] ( id )", 2),
    ];
    for (change, records) in changes {
        let shop = Shop::new();
        shop.run(change).unwrap();
        assert!(!shop.is_pending() && !shop.log().exists(), "{change}");
        let table = TableEditor::open(shop.table(), &EditOptions::new(TODAY)).unwrap();
        assert_eq!(table.record_count(), records, "{change}");
        shop.run("SELECT COUNT(*) FROM [sub/people]").unwrap();
        // Nothing stays behind in either folder.
        assert_eq!((logs(shop.folder.path()), logs(shop.table().parent().unwrap())), (0, 0));
    }
    let shop = Shop::new();
    let mut connection = Connection::open(shop.folder.path()).unwrap();
    connection
        .open_table("sub/people", &TableOptions::default(), &Settings::default())
        .unwrap();
    assert!(!shop.is_pending());
}

#[test]
fn a_log_that_names_a_file_elsewhere_is_obeyed_by_nobody() {
    let shop = Shop::new();
    let outside = shop.folder.path().join("victim.dbf");
    std::fs::write(&outside, b"of another folder").unwrap();
    let mut log = std::fs::read(shop.log()).unwrap();
    let at = log.windows(10).position(|bytes| bytes == b"people.dbf").unwrap();
    // As long as the name was; the checksum is put right.
    log[at..at + 10].copy_from_slice(b"../vic.dbf");
    let sum = crc32c::crc32c(&log[1032..]);
    log[1028..1032].copy_from_slice(&sum.to_le_bytes());
    std::fs::write(shop.log(), &log).unwrap();
    std::fs::rename(&outside, shop.folder.path().join("vic.dbf")).unwrap();
    shop.run("SELECT COUNT(*) FROM [sub/people]").unwrap();
    shop.run("UPDATE [sub/people] SET id = 5").unwrap();
    assert_eq!(
        std::fs::read(shop.folder.path().join("vic.dbf")).unwrap(),
        b"of another folder"
    );
    assert_eq!(std::fs::read(shop.log()).unwrap(), log);
    let refused = tidemill_xbase::recover(shop.table().parent().unwrap()).unwrap_err();
    assert!(
        refused
            .to_string()
            .contains("../vic.dbf: expected the name of a file in the log's own folder"),
        "{refused}"
    );
}
