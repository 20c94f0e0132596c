//! Index files that other programs write in ways of their own: names with accents, names that a container has longer, one order in a
//! file called `.cdx`, blank moments in texts.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::TempDir;
use tidemill_xbase::index::{Finding, IndexDialect, OrderSpec};
use tidemill_xbase::{
    CivilDate, CodePage, CreateOptions, Dialect, EditOptions, FieldSpec, KeySettings, OpenOptions, Table, TableEditor,
    TableIndex, TableWriter, Value, build_index,
};

use super::nullable_keys::index_of;

const TODAY: CivilDate = CivilDate {
    year: 2026,
    month: 12,
    day: 1,
};

fn table(folder: &Path, fields: &[FieldSpec]) -> PathBuf {
    let path = folder.join("t.dbf");
    let mut options = CreateOptions::new(TODAY);
    (options.format, options.codepage) = (Dialect::VisualFoxPro, CodePage::Cp1252);
    TableWriter::create(&path, fields, &options).unwrap().finish().unwrap();
    path
}

fn append(path: &Path, values: &[(usize, Value<'_>)]) {
    let mut editor = TableEditor::open(path, &EditOptions::new(TODAY).production_index(false)).unwrap();
    editor.append_values(values).unwrap();
}

fn opened(path: &Path) -> Arc<Table> {
    Arc::new(Table::open(path, &OpenOptions::new()).unwrap())
}

/// What `verify` finds in an index over a table.
fn verified(path: &Path, index: &Path) -> Vec<Finding> {
    let table = opened(path);
    let settings = KeySettings::of_index(index, None, &table);
    let index = TableIndex::open(index, &table, &settings).unwrap();
    index.verify(&table).unwrap()
}

#[test]
fn an_expression_names_a_field_with_accents_in_any_case() {
    let folder = TempDir::new().unwrap();
    let path = table(
        folder.path(),
        &[FieldSpec::new("C\u{d3}DIGO", 'C', 4, 0), FieldSpec::new("A", 'C', 4, 0)],
    );
    append(&path, &[(0, Value::Text("17"))]);
    let keys = [(b"17  ".to_vec(), 1)];
    let cdx = path.with_extension("cdx");
    // FoxPro writes expressions in small letters, in the table's code page.
    let mut file = index_of("c?digo", 0x60, 4, &keys);
    let at = file.windows(6).position(|text| text == b"c?digo").unwrap();
    file[at + 1] = 0xF3;
    std::fs::write(&cdx, file).unwrap();
    assert_eq!(verified(&path, &cdx), []);
    assert!(opened(&path).field_index("c\u{f3}digo").is_some());
}

#[test]
fn an_expression_names_a_field_as_a_container_that_is_not_there() {
    let folder = TempDir::new().unwrap();
    let long = |names: &[&str], expression: &str| {
        let fields: Vec<_> = names.iter().map(|name| FieldSpec::new(*name, 'C', 4, 0)).collect();
        let path = table(folder.path(), &fields);
        append(&path, &[(0, Value::Text("17"))]);
        let cdx = path.with_extension("cdx");
        std::fs::write(&cdx, index_of(expression, 0x60, 4, &[(b"17  ".to_vec(), 1)])).unwrap();
        let findings = verified(&path, &cdx);
        for name in ["t.dbf", "t.cdx"] {
            std::fs::remove_file(folder.path().join(name)).unwrap();
        }
        findings
    };
    assert_eq!(long(&["IDCATEGORI", "OTHER"], "idcategoria"), []);
    assert_eq!(long(&["IDCATEGORI", "IDCAT9"], "idcategoria"), []);
    // Where digits tell short names apart, the beginning does not say which one is meant.
    for names in [
        ["IDCATEGORI", "IDCATEGOR2"],
        ["OTHER", "IDCATEGOR1"],
        ["OTHER", "IDCATEG"],
    ] {
        let findings = long(&names, "idcategoria");
        assert!(findings.len() == 1 && findings[0].is_unknown(), "{findings:?}");
    }
}

#[test]
fn a_blank_moment_in_a_key_is_zeros() {
    let folder = TempDir::new().unwrap();
    let path = table(
        folder.path(),
        &[FieldSpec::new("ID", 'C', 4, 0), FieldSpec::new("T", 'T', 8, 0)],
    );
    append(&path, &[(0, Value::Text("a"))]);
    let cdx = path.with_extension("cdx");
    let keys = [(b"a   00000000000000".to_vec(), 1)];
    std::fs::write(&cdx, index_of("id+TTOC(t,1)", 0x60, 18, &keys)).unwrap();
    assert_eq!(verified(&path, &cdx), []);
}

#[test]
fn an_index_of_one_order_may_be_called_cdx() {
    let folder = TempDir::new().unwrap();
    let path = table(folder.path(), &[FieldSpec::new("NAME", 'C', 15, 0)]);
    for name in ["Webber", "Abbott", "Dean"] {
        append(&path, &[(0, Value::Text(name))]);
    }
    let (made, cdx) = (folder.path().join("x.idx"), folder.path().join("names.cdx"));
    let table = opened(&path);
    let settings = KeySettings::new(table.codepage());
    build_index(&made, &table, &[OrderSpec::new("X", "NAME")], &settings).unwrap();
    std::fs::rename(&made, &cdx).unwrap();
    assert_eq!(verified(&path, &cdx), []);
    let index = TableIndex::open(&cdx, &table, &settings).unwrap();
    assert_eq!(index.index().dialect(), IndexDialect::Idx);
    assert_eq!(index.orders()[0].order().tag().name, "names");
}

#[test]
fn an_order_of_windows_is_not_known_and_no_damage() {
    let folder = TempDir::new().unwrap();
    let path = table(folder.path(), &[FieldSpec::new("NAME", 'C', 10, 0)]);
    // By the Windows of Visual Objects: capitals are letters as small ones are, and hyphens lower than blanks.
    let names = [
        "Dickens",
        "DiFrances",
        "Dill",
        "Jean-Pier",
        "Jean",
        "Lake",
        "LaPier",
        "Lemons",
        "LeMont",
        "O'Hara",
        "Oates",
    ];
    let mut keys = Vec::new();
    for (name, record) in names.into_iter().zip(1..) {
        append(&path, &[(0, Value::Text(name))]);
        keys.push((format!("{name:10}").into_bytes(), record));
    }
    let cdx = path.with_extension("cdx");
    std::fs::write(&cdx, index_of("NAME", 0x60, 10, &keys)).unwrap();
    let findings = verified(&path, &cdx);
    assert!(findings.len() == 1 && findings[0].is_unknown(), "{findings:?}");
    // Keys that Windows does not sort so are damage.
    keys.swap(0, 5);
    std::fs::write(&cdx, index_of("NAME", 0x60, 10, &keys)).unwrap();
    let findings = verified(&path, &cdx);
    assert!(findings.iter().any(|finding| !finding.is_unknown()), "{findings:?}");
}

#[test]
fn what_an_index_tells_with_one_table_is_not_taken_for_another() {
    let folder = TempDir::new().unwrap();
    let fields = [FieldSpec::new("D", 'D', 8, 0)];
    let path = table(folder.path(), &fields);
    append(&path, &[(0, Value::Date(10_921))]);
    let (other, cdx) = (folder.path().join("other.dbf"), path.with_extension("cdx"));
    std::fs::copy(&path, &other).unwrap();
    append(&path, &[(0, Value::Date(11_000))]);
    let mut emptied = TableEditor::open(&other, &EditOptions::new(TODAY).production_index(false)).unwrap();
    emptied.replace(1, &[(0, Value::Date(0))]).unwrap();
    drop(emptied);
    let keys = [(b"26.11.99".to_vec(), 1), (b"13.02.00".to_vec(), 2)];
    let keys: Vec<_> = keys.into_iter().rev().collect();
    std::fs::write(&cdx, index_of("DTOC(D)", 0x60, 8, &keys)).unwrap();
    // Only files that are at rest are remembered.
    std::thread::sleep(std::time::Duration::from_millis(100));
    assert_ne!(verified(&other, &cdx), []);
    assert_eq!(verified(&path, &cdx), []);
}
