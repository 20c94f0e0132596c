//! Orders with their expressions: the keys of Harbour's index files are those that the records give.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tidemill_xbase::index::{
    Collation, Direction, Index, IndexBuilder, IndexDialect, IndexFault, IndexOptions, KeyType, OrderSpec,
};
use tidemill_xbase::{
    CivilDate, CodePage, EditOptions, Error, KeySettings, OpenOptions, Table, TableEditor, TableIndex, Value,
    build_index, production_path,
};

/// Index files of the corpus, their table, code page and language.
fn goldens() -> Vec<(PathBuf, PathBuf, CodePage, Option<&'static str>)> {
    let mut goldens = Vec::new();
    for entry in fs::read_dir(corpus("")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let Some((stem, "cdx" | "ntx" | "nsx")) = name.split_once('.') else {
            continue;
        };
        let table = match stem.strip_prefix("ord_ntx") {
            Some(_) => "ord_ntx",
            None => stem
                .trim_end_matches("_t")
                .trim_end_matches("_u")
                .trim_end_matches("_head"),
        };
        let (page, language) = match table.trim_end_matches('n') {
            "cp850de" => (CodePage::Cp850, Some("de")),
            "cp850es" => (CodePage::Cp850, Some("es")),
            "cp1252de" => (CodePage::Cp1252, Some("de")),
            "cp1252es" => (CodePage::Cp1252, Some("es")),
            "cp866" => (CodePage::Cp866, Some("ru")),
            "cp1251" => (CodePage::Cp1251, Some("ru")),
            _ => (CodePage::Cp437, None),
        };
        goldens.push((path, corpus(&format!("{table}.dbf")), page, language));
    }
    goldens
}

#[test]
fn every_index_of_harbour_has_the_keys_of_its_records() {
    let goldens = goldens();
    assert_eq!(goldens.len(), 48);
    for (path, table, page, language) in goldens {
        let (table, settings) = open(&table, page, language);
        let index = TableIndex::open(&path, &table, &settings).unwrap();
        assert!(!index.orders().is_empty(), "{}", path.display());
        let findings = index.verify(&table).unwrap();
        assert!(findings.is_empty(), "{}: {:?}", path.display(), findings.first());
        for order in index.orders() {
            assert_eq!(order.keys().key_len(), order.order().tag().key_len, "{}", order.order());
        }
    }
}

#[test]
fn an_index_made_anew_is_the_one_that_harbour_made() {
    for (name, page, language) in [
        ("ord_cdx", CodePage::Cp437, None),
        ("cp437", CodePage::Cp437, None),
        ("cp850de", CodePage::Cp850, Some("de")),
    ] {
        let (table, settings) = open(&corpus(&format!("{name}.dbf")), page, language);
        let golden = production_path(&table).unwrap().unwrap();
        let index = TableIndex::open(&golden, &table, &settings).unwrap();
        let specs: Vec<OrderSpec> = index.index().tags().iter().map(OrderSpec::from).collect();
        let folder = tempfile::tempdir().unwrap();
        let made = folder.path().join("made.cdx");
        build_index(&made, &table, &specs, &settings).unwrap();
        assert!(fs::read(&made).unwrap() == fs::read(&golden).unwrap(), "{name}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "{name}");
    }
}

#[test]
fn a_table_that_changed_without_its_index_is_told_record_by_record() {
    let folder = tempfile::tempdir().unwrap();
    let (path, cdx) = (folder.path().join("t.dbf"), folder.path().join("T.CDX"));
    fs::copy(corpus("ord_cdx.dbf"), &path).unwrap();
    fs::copy(corpus("ord_cdx.cdx"), &cdx).unwrap();
    let mut editor = TableEditor::open(&path, &EditOptions::new(TODAY).production_index(false)).unwrap();
    let id = editor.fields().iter().position(|field| field.name == "ID").unwrap();
    editor.replace(7, &[(id, Value::Integer(9_999))]).unwrap();
    for _ in 0..3 {
        editor.append().unwrap();
    }
    editor.sync().unwrap();
    drop(editor);

    let (table, settings) = open(&path, CodePage::Cp437, None);
    let index = TableIndex::production(&table, &settings).unwrap().unwrap();
    assert_eq!(index.index().path(), cdx);
    let findings = index.verify(&table).unwrap();
    let of = |name: &str| -> Vec<&IndexFault> {
        findings
            .iter()
            .filter(|finding| finding.tag.as_deref() == Some(name))
            .map(|finding| &finding.what)
            .collect()
    };
    let missing = IndexFault::MissingKeys {
        first: 601,
        last: 603,
        count: 3,
    };
    let found = of("T_ID");
    assert!(
        matches!(
            found[0],
            IndexFault::WrongKey {
                recno: 7,
                expected: Some(_),
                ..
            }
        ),
        "{found:?}"
    );
    assert_eq!(found[1..], [&missing]);
    assert_eq!(of("T_NAME"), [&missing]);
    // A FOR expression that leaves the new records out.
    assert_eq!(of("T_FOR"), Vec::<&IndexFault>::new());
    // No program keeps all keys in such an order.
    assert_eq!(of("T_CODEU"), Vec::<&IndexFault>::new());

    let mut editor = TableEditor::open(&path, &EditOptions::new(TODAY).production_index(false)).unwrap();
    editor.reindex(&cdx, &settings).unwrap();
    let index = TableIndex::production(&table, &settings).unwrap().unwrap();
    assert_eq!(index.verify(&table).unwrap(), []);
}

#[test]
fn entries_of_a_custom_order_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.dbf");
    fs::copy(corpus("ord_cdx.dbf"), &path).unwrap();
    let cdx = folder.path().join("t.cdx");
    let mut builder = IndexBuilder::new(IndexDialect::Cdx, 700, CodePage::Cp437);
    let chosen = OrderSpec::new("CHOSEN", "CODE")
        .keys(KeyType::Character, 6)
        .custom(true);
    let mut keys = builder.keys(&chosen).unwrap();
    for (key, recno) in [(b"zzzzzz", 1), (b"aaaaaa", 600), (b"cccccc", 700)] {
        keys.push(key, recno).unwrap();
    }
    builder.add(&chosen, keys).unwrap();
    fs::write(&cdx, builder.finish().unwrap()).unwrap();

    let (table, settings) = open(&path, CodePage::Cp437, None);
    let mut editor = TableEditor::open(&path, &EditOptions::new(TODAY).production_index(false)).unwrap();
    editor.reindex(&cdx, &settings).unwrap();
    let index = TableIndex::production(&table, &settings).unwrap().unwrap();
    let order = index.orders()[0].order();
    assert!(order.tag().is_custom);
    let kept: Vec<_> = order
        .walk(Direction::Forward)
        .map(|entry| entry.unwrap().recno())
        .collect();
    assert_eq!(kept, [600, 1]);
    assert_eq!(index.verify(&table).unwrap(), []);

    // A new one is empty.
    build_index(&cdx, &table, &[OrderSpec::from(order.tag())], &settings).unwrap();
    let index = TableIndex::production(&table, &settings).unwrap().unwrap();
    assert_eq!(index.orders()[0].order().key_count().unwrap(), 0);
}

#[test]
fn settings_of_another_language_are_told() {
    let (table, _) = open(&corpus("cp850de.dbf"), CodePage::Cp850, None);
    let english = KeySettings::new(CodePage::Cp850);
    let index = TableIndex::production(&table, &english).unwrap().unwrap();
    let findings = index.verify(&table).unwrap();
    assert!(findings.iter().any(|f| matches!(f.what, IndexFault::OutOfOrder { .. })));
    let error = KeySettings::language(CodePage::Cp850, "tlh").unwrap_err().to_string();
    assert!(error.contains("\"tlh\"") && error.contains("de"), "{error}");
}

#[test]
fn an_index_that_cannot_be_had_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.dbf");
    fs::copy(corpus("types_vfp.dbf"), &path).unwrap();
    fs::copy(corpus("types_vfp.fpt"), folder.path().join("t.fpt")).unwrap();
    let (table, settings) = open(&path, CodePage::Cp1252, None);
    assert!(table.header().production_index);
    let error = TableIndex::production(&table, &settings).unwrap_err().to_string();
    assert!(error.contains("t.cdx"), "{error}");

    let made = folder.path().join("t.cdx");
    let memo = table.fields().iter().find(|field| field.kind.uses_memo()).unwrap();
    for (expression, why) in [
        (memo.name.as_str(), "memo file"),
        ("NOSUCH", "NOSUCH"),
        ("DATE()", "clock"),
        ("1 +", "column"),
    ] {
        let error = build_index(&made, &table, &[OrderSpec::new("A_TAG", expression)], &settings).unwrap_err();
        let Error::Order { path, order, source } = &error else {
            panic!("{error:?}")
        };
        assert_eq!((path, order.as_str()), (&made, "A_TAG"));
        assert!(source.to_string().contains(why), "{source}");
        assert!(!made.exists());
    }
    let by_number = OrderSpec::new("A", "RECNO()").condition("RECNO()");
    let error = build_index(&made, &table, &[by_number], &settings).unwrap_err();
    assert!(
        std::error::Error::source(&error)
            .unwrap()
            .to_string()
            .contains("type L")
    );
    for name in ["t.abc", "t"] {
        let error = build_index(folder.path().join(name), &table, &[], &settings).unwrap_err();
        assert!(error.to_string().contains(".cdx"), "{error}");
    }
}

#[test]
fn an_order_of_no_record_and_a_table_of_none_have_indexes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.dbf");
    fs::copy(corpus("ord_cdx.dbf"), &path).unwrap();
    let (full, settings) = open(&path, CodePage::Cp437, None);
    let made = folder.path().join("t.cdx");
    let specs = [
        OrderSpec::new("NONE", "ID").condition(".F."),
        OrderSpec::new("ALL", "ID"),
    ];
    build_index(&made, &full, &specs, &settings).unwrap();
    let index = TableIndex::production(&full, &settings).unwrap().unwrap();
    let count = |name: &str| index.order(name).unwrap().order().key_count().unwrap();
    assert_eq!((count("none"), count("all")), (0, 600));
    assert_eq!(index.verify(&full).unwrap(), []);
    assert!(index.order("other").is_none());

    TableEditor::open(&path, &EditOptions::new(TODAY).production_index(false))
        .unwrap()
        .zap()
        .unwrap();
    let (empty, _) = open(&path, CodePage::Cp437, None);
    build_index(&made, &empty, &specs, &settings).unwrap();
    let index = Index::open(&made, &IndexOptions::new()).unwrap();
    let order = index.order("ALL", KeyType::Number, &Collation::binary()).unwrap();
    assert_eq!(order.walk(Direction::Forward).count(), 0);
}

const TODAY: CivilDate = CivilDate {
    year: 2026,
    month: 11,
    day: 21,
};

fn open(path: &Path, page: CodePage, language: Option<&str>) -> (Arc<Table>, KeySettings) {
    let table = Table::open(path, &OpenOptions::new().codepage(page)).unwrap();
    let settings = match language {
        Some(language) => KeySettings::language(page, language).unwrap(),
        None => KeySettings::new(page),
    };
    (Arc::new(table), settings)
}

fn corpus(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../corpus/xbase")
        .join(file)
}
