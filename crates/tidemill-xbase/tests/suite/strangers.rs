//! What somebody else put beside a table: nothing of it is waited for, obeyed or overwritten.

#![cfg(target_os = "linux")]
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc;
use std::time::Duration;

use tempfile::TempDir;
use tidemill_xbase::index::OrderSpec;
use tidemill_xbase::{
    CivilDate, CreateOptions, EditOptions, Error, FieldSpec, KeySettings, OpenMode, OpenOptions, Scan, Table,
    TableEditor, TableIndex, TableSet, TableWriter, Value, build_index,
};

const TODAY: CivilDate = CivilDate {
    year: 2026,
    month: 11,
    day: 26,
};

/// A folder with the table `people`, its memo file and its index, and a file of the user outside.
struct Folder {
    root: TempDir,
}

impl Folder {
    fn new() -> Self {
        let root = TempDir::new().unwrap();
        std::fs::create_dir(root.path().join("data")).unwrap();
        std::fs::write(root.path().join("victim.conf"), b"precious").unwrap();
        let folder = Self { root };
        folder.table("people.dbf");
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join("data").join(name)
    }

    fn victim(&self) -> PathBuf {
        self.root.path().join("victim.conf")
    }

    fn table(&self, name: &str) {
        let path = self.path(name);
        create(&path, &fields()).unwrap();
        let mut editor = TableEditor::open(&path, &edit()).unwrap();
        for name in ["ann", "bob"] {
            let values = [(0, Value::Text(name)), (1, Value::Text("a note"))];
            editor.append_values(&values).unwrap();
        }
        drop(editor);
        let table = Table::open(&path, &OpenOptions::new()).unwrap();
        let settings = KeySettings::new(table.codepage());
        build_index(
            path.with_extension("cdx"),
            &table,
            &[OrderSpec::new("NAME", "NAME")],
            &settings,
        )
        .unwrap();
    }

    /// Every name in the folder with its bytes.
    fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let entries = std::fs::read_dir(self.path(""))
            .unwrap()
            .map(|entry| entry.unwrap().path());
        let mut files: Vec<_> = entries
            .map(|path| (path.clone(), std::fs::read(path).unwrap()))
            .collect();
        files.sort();
        files
    }
}

fn fields() -> [FieldSpec; 2] {
    [FieldSpec::new("NAME", 'C', 8, 0), FieldSpec::new("NOTE", 'M', 10, 0)]
}

fn edit() -> EditOptions {
    EditOptions::new(TODAY)
}

fn create(path: &Path, fields: &[FieldSpec]) -> Result<u32, Error> {
    TableWriter::create(path, fields, &CreateOptions::new(TODAY))?.finish()
}

fn pipe(path: &Path) {
    let _ = std::fs::remove_file(path);
    nix::unistd::mkfifo(path, nix::sys::stat::Mode::S_IRWXU).unwrap();
}

/// What the work comes to, or a failed test when it waits for something.
fn within_a_second<T: Send + 'static>(what: &str, work: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || sender.send(work()));
    let done = receiver.recv_timeout(Duration::from_secs(1));
    done.unwrap_or_else(|_| panic!("{what} waits"))
}

fn read(path: &Path, options: &OpenOptions) -> Result<usize, Error> {
    let table = Arc::new(Table::open(path, options)?);
    let rows: usize = table
        .scan(Scan::new())?
        .map(|batch| Ok(batch?.num_rows()))
        .sum::<Result<_, Error>>()?;
    TableIndex::production(&table, &KeySettings::new(table.codepage()))?;
    Ok(rows)
}

#[test]
fn a_pipe_or_a_device_beside_a_table_is_an_error_that_names_it() {
    for name in ["people.cpg", "people.CPG", "people.fpt", "people.cdx", "people.dbf"] {
        for mode in [
            None,
            Some(OpenMode::ReadOnly),
            Some(OpenMode::Shared),
            Some(OpenMode::Exclusive),
        ] {
            let folder = Folder::new();
            let strange = folder.path(name);
            pipe(&strange);
            let table = folder.path("people.dbf");
            let refused = within_a_second(&format!("{name} in {mode:?}"), move || match mode {
                None => read(&table, &OpenOptions::new()).map(drop),
                Some(mode) => TableEditor::open(&table, &edit().mode(mode)).map(drop),
            });
            let said = format!("{}: expected a regular file, found a named pipe", strange.display());
            assert_eq!(refused.unwrap_err().to_string(), said, "{mode:?}");
        }
    }
    let folder = Folder::new();
    symlink("/dev/zero", folder.path("people.cpg")).unwrap();
    let table = folder.path("people.dbf");
    for options in [OpenOptions::new(), OpenOptions::new().recover(true)] {
        let path = table.clone();
        let refused = within_a_second("a code page without an end", move || read(&path, &options));
        assert!(
            refused
                .unwrap_err()
                .to_string()
                .ends_with("people.cpg: expected a regular file, found a symbolic link out of the table's folder")
        );
    }
}

#[test]
fn a_code_page_that_cannot_be_read_is_no_other_code_page() {
    let folder = Folder::new();
    let (table, cpg) = (folder.path("people.dbf"), folder.path("people.cpg"));
    std::fs::write(&cpg, "cp1251".repeat(1000)).unwrap();
    let refused = read(&table, &OpenOptions::new()).unwrap_err();
    assert!(
        refused
            .to_string()
            .contains("people.cpg: code page at byte 0: expected at most 4096 bytes"),
        "{refused}"
    );
    // A link to where it really is may be read.
    std::fs::remove_file(&cpg).unwrap();
    std::fs::write(folder.path("page"), "cp1251\r\n").unwrap();
    symlink(folder.path("page"), &cpg).unwrap();
    let opened = Table::open(&table, &OpenOptions::new()).unwrap();
    assert_eq!(opened.codepage().name(), "cp1251");
    symlink(folder.path("none"), folder.path("people.CPG")).unwrap();
    std::fs::remove_file(&cpg).unwrap();
    std::fs::create_dir(&cpg).unwrap();
    let refused = read(&table, &OpenOptions::new()).unwrap_err();
    assert!(
        refused
            .to_string()
            .ends_with("people.cpg: expected a regular file, found a folder"),
        "{refused}"
    );
}

#[test]
fn nothing_is_written_through_a_link_beside_a_table() {
    for name in ["people.fpt", "people.cdx"] {
        let folder = Folder::new();
        let (linked, there) = (folder.path(name), folder.path("elsewhere"));
        std::fs::rename(&linked, &there).unwrap();
        symlink(&there, &linked).unwrap();
        let before = folder.files();
        let table = folder.path("people.dbf");
        assert_eq!(read(&table, &OpenOptions::new()).unwrap(), 2);
        assert!(TableEditor::open(&table, &edit().mode(OpenMode::ReadOnly)).is_ok());
        for mode in [OpenMode::Shared, OpenMode::Exclusive] {
            let refused = TableEditor::open(&table, &edit().mode(mode)).unwrap_err();
            let said = format!("{}: expected a regular file, found a symbolic link", linked.display());
            assert_eq!(refused.to_string(), said);
        }
        assert_eq!(folder.files(), before);
    }
    // The table itself may be named by a link, and stays where it is.
    let folder = Folder::new();
    let link = folder.root.path().join("people.dbf");
    create(&folder.path("plain.dbf"), &fields()[..1]).unwrap();
    symlink(folder.path("plain.dbf"), &link).unwrap();
    let mut editor = TableEditor::open(&link, &edit()).unwrap();
    let record = editor.append_values(&[(0, Value::Text("eve"))]).unwrap();
    editor.delete(record).unwrap();
    editor.append_values(&[(0, Value::Text("zoe"))]).unwrap();
    assert_eq!(editor.pack().unwrap(), 1);
    drop(editor);
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(read(&folder.path("plain.dbf"), &OpenOptions::new()).unwrap(), 1);
}

#[test]
fn what_belongs_to_a_table_belongs_to_a_link_to_it() {
    let folder = Folder::new();
    // Under another name, and in a folder of its own.
    let (links, table) = (folder.root.path().join("links"), folder.path("people.dbf"));
    std::fs::create_dir(&links).unwrap();
    let link = links.join("they.dbf");
    symlink(&table, &link).unwrap();
    std::fs::write(folder.path("people.cpg"), "cp850").unwrap();
    let read = Arc::new(Table::open(&link, &OpenOptions::new()).unwrap());
    assert_eq!(
        read.codepage(),
        Table::open(&table, &OpenOptions::new()).unwrap().codepage()
    );
    assert_eq!(
        read.scan(Scan::new())
            .unwrap()
            .map(|batch| batch.unwrap().num_rows())
            .sum::<usize>(),
        2
    );

    let mut editor = TableEditor::open(&link, &edit()).unwrap();
    editor
        .append_values(&[(0, Value::Text("cid")), (1, Value::Text("new"))])
        .unwrap();
    editor.lock_record(1).unwrap();
    editor.replace(1, &[(0, Value::Text("zoe"))]).unwrap();
    editor.unlock_record(1).unwrap();
    editor
        .create_order(&OrderSpec::new("BACK", "NAME").descending(true))
        .unwrap();
    drop(editor);
    assert_eq!(std::fs::read_dir(&links).unwrap().count(), 1);
    let table = Arc::new(Table::open(&table, &OpenOptions::new()).unwrap());
    let index = TableIndex::production(&table, &KeySettings::new(table.codepage()))
        .unwrap()
        .unwrap();
    assert_eq!(index.orders().len(), 2);
    assert!(index.verify(&table).unwrap().is_empty());

    // Where somebody put such files beside the link, they are the link's.
    let home = TableSet::home(&link).unwrap();
    assert_eq!(home, folder.path("people.dbf").canonicalize().unwrap());
    for (name, remove) in [
        ("they.fpt", false),
        ("people.cdx", true),
        ("people.fpt", true),
        ("people.cpg", true),
    ] {
        match remove {
            true => std::fs::remove_file(folder.path(name)).unwrap(),
            false => std::fs::write(links.join(name), b"").unwrap(),
        }
    }
    assert_eq!(TableSet::home(&link).unwrap(), link);
    let nowhere = links.join("nowhere.dbf");
    symlink(links.join("none"), &nowhere).unwrap();
    assert!(matches!(TableSet::home(&nowhere), Err(Error::Io { .. })));
    assert_eq!(TableSet::home(&links.join("new.dbf")).unwrap(), links.join("new.dbf"));
}

#[test]
fn a_new_index_takes_no_file_of_the_users_name_and_no_place_of_a_link() {
    let folder = Folder::new();
    let drafts = ["people.cdx.new", "people.dbf.new", "people.fpt.new"];
    for name in drafts {
        symlink(folder.victim(), folder.path(name)).unwrap();
    }
    let before = folder.files().len();
    let mut editor = TableEditor::open(folder.path("people.dbf"), &edit()).unwrap();
    let settings = KeySettings::new(tidemill_xbase::CodePage::Cp1252);
    editor.reindex(folder.path("people.cdx"), &settings).unwrap();
    editor.delete(1).unwrap();
    assert_eq!(editor.pack().unwrap(), 1);
    drop(editor);
    assert_eq!(std::fs::read(folder.victim()).unwrap(), b"precious");
    for name in drafts {
        assert!(
            std::fs::symlink_metadata(folder.path(name)).unwrap().is_symlink(),
            "{name}"
        );
    }
    assert_eq!(folder.files().len(), before);

    let cdx = folder.path("people.cdx");
    std::fs::remove_file(&cdx).unwrap();
    symlink(folder.victim(), &cdx).unwrap();
    let table = Table::open(folder.path("people.dbf"), &OpenOptions::new()).unwrap();
    let refused = build_index(&cdx, &table, &[OrderSpec::new("NAME", "NAME")], &settings).unwrap_err();
    assert!(
        refused
            .to_string()
            .ends_with("people.cdx: expected a regular file, found a symbolic link")
    );
    assert!(std::fs::symlink_metadata(&cdx).unwrap().is_symlink());
    assert_eq!(std::fs::read(folder.victim()).unwrap(), b"precious");
}

#[test]
fn a_new_table_takes_no_file_of_a_stranger() {
    for name in ["t.fpt", "t.dbt", "T.FPT", "t.cdx", "t.cpg"] {
        let folder = Folder::new();
        std::fs::write(folder.path(name), b"somebody's notes").unwrap();
        let before = folder.files();
        let refused = create(&folder.path("t.dbf"), &fields()).unwrap_err();
        assert_eq!(
            refused.to_string(),
            format!("{} already exists", folder.path(name).display())
        );
        assert_eq!(folder.files(), before);
    }
    // Through a link to nothing neither.
    let folder = Folder::new();
    symlink(folder.root.path().join("new"), folder.path("t.fpt")).unwrap();
    assert!(matches!(
        create(&folder.path("t.dbf"), &fields()),
        Err(Error::Exists { .. })
    ));
    assert!(!folder.root.path().join("new").exists());
}

#[test]
fn a_table_that_is_written_over_leaves_nothing_of_the_old_one() {
    let folder = Folder::new();
    let table = folder.path("people.dbf");
    assert_eq!(TableSet::of(&table).files().unwrap().len(), 3);
    create(&table, &fields()[..1]).unwrap();
    assert_eq!(TableSet::of(&table).files().unwrap(), std::slice::from_ref(&table));
    assert_eq!(read(&table, &OpenOptions::new()).unwrap(), 0);
    // Beside a table without memos a memo file is a stranger's.
    std::fs::write(folder.path("people.fpt"), b"somebody's notes").unwrap();
    let before = folder.files();
    assert!(matches!(create(&table, &fields()), Err(Error::Exists { .. })));
    assert_eq!(folder.files(), before);
}
