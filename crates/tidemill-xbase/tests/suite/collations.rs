//! Orders whose collation is found by their keys, named by the file, or known to nobody.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use tidemill_xbase::index::{
    Collation, Direction, End, Index, IndexBuilder, IndexDialect, IndexFault, IndexOptions, KeyType, KeyValue,
    OrderSpec,
};
use tidemill_xbase::{
    CivilDate, CodePage, CreateOptions, EditOptions, Error, FieldSpec, KeySettings, OpenMode, OpenOptions, Table,
    TableEditor, TableIndex, TableWriter, Value, build_index,
};

const TODAY: CivilDate = CivilDate {
    year: 2026,
    month: 11,
    day: 26,
};

/// Letters in an order that no country has.
const CAPITAL: &str = "ABCÖDEFGHÄIJKLMNOPQRSÜTUVWXYZ";
const SMALL: &str = "abcödefghäijklmnopqrsütuvwxyz";

const WORDS: [&str; 13] = [
    "zebra", "öre", "Öl", "Äpfel", "apfel", "Üb", "tag", "Dach", "cent", "ähre", "igel", "halt", "dorf",
];

fn table(folder: &Path, name: &str, words: &[&str], page: CodePage) -> PathBuf {
    let path = folder.join(name).with_extension("dbf");
    write(&path, page, vec![("WORD", words.to_vec())]);
    path
}

fn write(path: &Path, page: CodePage, columns: Vec<(&str, Vec<&str>)>) {
    let fields: Vec<FieldSpec> = columns
        .iter()
        .map(|(name, _)| FieldSpec::new(*name, 'C', 8, 0))
        .collect();
    let mut options = CreateOptions::new(TODAY);
    options.codepage = page;
    let mut writer = TableWriter::create(path, &fields, &options).unwrap();
    let columns = columns.into_iter().map(|(name, texts)| {
        let column: ArrayRef = Arc::new(StringArray::from(texts));
        (name, column)
    });
    writer
        .write(&RecordBatch::try_from_iter(columns).unwrap(), None)
        .unwrap();
    writer.finish().unwrap();
}

fn open(path: &Path) -> Arc<Table> {
    Arc::new(Table::open(path, &OpenOptions::new()).unwrap())
}

/// An index over the word and its capitals, and the words in its order.
fn indexed(path: &Path, extension: &str, settings: &KeySettings) -> PathBuf {
    let index = path.with_extension(extension);
    let table = open(path);
    let mut orders = vec![OrderSpec::new("WORD", "WORD")];
    if extension == "cdx" {
        orders.push(OrderSpec::new("DOWN", "WORD").descending(true));
        orders.push(OrderSpec::new("UP", "UPPER(WORD)"));
    }
    build_index(&index, &table, &orders, settings).unwrap();
    index
}

fn records(index: &TableIndex, order: &str) -> Vec<u32> {
    let order = index.order(order).unwrap().order();
    order
        .walk(Direction::Forward)
        .map(|entry| entry.unwrap().recno())
        .collect()
}

fn is_unknown(error: &Error) -> bool {
    match error {
        Error::Order { source, .. } => is_unknown(source),
        error => matches!(error, Error::UnknownCollation),
    }
}

fn own_settings() -> KeySettings {
    KeySettings::new(CodePage::Cp850).collation(Collation::from_alphabet(CodePage::Cp850, CAPITAL, SMALL))
}

#[test]
fn an_order_of_an_alphabet_that_nobody_knows_is_walked_and_nothing_is_sought_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = table(folder.path(), "words", &WORDS, CodePage::Cp850);
    for extension in ["cdx", "ntx"] {
        let file = indexed(&path, extension, &own_settings());
        let table = open(&path);
        let settings = KeySettings::of_index(&file, None, &table);
        assert!(!settings.is_known(), "{extension}");
        let index = TableIndex::open(&file, &table, &settings).unwrap();
        let truth = TableIndex::open(&file, &table, &own_settings()).unwrap();
        let name = index.orders()[0].order().tag().name.clone();
        assert_eq!(records(&index, &name), records(&truth, &name));
        assert_eq!(records(&index, &name).len(), WORDS.len());

        let order = index.order(&name).unwrap().order();
        assert!(!order.is_known());
        let key = order.key(&KeyValue::Character(b"tag")).unwrap();
        let mut cursor = order.cursor();
        assert!(is_unknown(&cursor.seek(&key, End::First, false).unwrap_err()));
        cursor.set_scope(Some(key), None);
        assert!(is_unknown(&cursor.go_first().unwrap_err()));
        // A record's entry is found, and the walk goes on from there.
        let mut cursor = order.cursor();
        assert!(cursor.seek_record(b"", 7).unwrap());
        let place = cursor.key_no().unwrap().unwrap();
        assert_eq!(records(&index, &name)[usize::try_from(place).unwrap() - 1], 7);

        let findings = index.verify(&table).unwrap();
        assert!(findings.iter().all(|finding| finding.is_unknown()), "{findings:?}");
        assert!(
            findings[0].to_string().contains("collation not known"),
            "{}",
            findings[0]
        );
        assert_eq!(truth.verify(&table).unwrap(), []);
    }
}

#[test]
fn a_table_with_an_order_that_nobody_knows_is_changed_where_that_is_no_matter() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("two.dbf");
    let others = vec!["x"; WORDS.len()];
    write(
        &path,
        CodePage::Cp850,
        vec![("WORD", WORDS.to_vec()), ("OTHER", others)],
    );
    let file = indexed(&path, "cdx", &own_settings());
    let before = std::fs::read(&file).unwrap();

    let unknown = KeySettings::of_index(&file, None, &open(&path));
    let options = EditOptions::new(TODAY).mode(OpenMode::Exclusive).keys(unknown);
    let mut editor = TableEditor::open(&path, &options).unwrap();
    editor.replace(3, &[(1, Value::Text("y"))]).unwrap();
    let refused = editor.replace(3, &[(0, Value::Text("neu"))]);
    assert!(is_unknown(&refused.unwrap_err()));
    let refused = editor.append_values(&[(0, Value::Text("neu"))]);
    assert!(is_unknown(&refused.unwrap_err()));
    assert!(is_unknown(&editor.pack().unwrap_err()));
    assert!(is_unknown(&editor.zap().unwrap_err()));
    drop(editor);
    assert_eq!(std::fs::read(&file).unwrap(), before);
    let table = open(&path);
    assert_eq!(table.record_count(), u32::try_from(WORDS.len()).unwrap());
    assert_eq!(
        TableIndex::open(&file, &table, &own_settings())
            .unwrap()
            .verify(&table)
            .unwrap(),
        []
    );
}

#[test]
fn the_alphabet_of_an_index_is_found_among_all_that_are_known() {
    let folder = tempfile::tempdir().unwrap();
    for (name, words) in [
        (
            "FRWIN",
            &["été", "etat", "étage", "etz", "Éclair", "zoo", "ça", "cb", "ca"][..],
        ),
        (
            "PL852",
            &["łan", "lz", "ma", "Ćma", "cz", "Cz", "da", "żaba", "zz", "źle"],
        ),
        ("CSWIN", &["chyba", "hz", "ia", "cz", "čas", "d", "CHYBA", "HZ", "IA"]),
        ("SVWIN", &["åka", "zoo", "äta", "öl", "été", "ete", "eté", "Åka", "Zoo"]),
        ("CS852C", &["a", "B", "b", "A", "á", "Á", "c", "č"]),
        ("ELWIN", &["άλφα", "αλφα", "βήτα", "Ωμέγα", "ώρα", "ως"]),
    ] {
        let page = Collation::modules().find(|(known, _)| *known == name).unwrap().1;
        let path = table(folder.path(), name, words, page);
        for extension in ["cdx", "ntx"] {
            let settings = KeySettings::language(page, name).unwrap();
            let file = indexed(&path, extension, &settings);
            let table = open(&path);
            let found = KeySettings::of_index(&file, None, &table);
            assert!(found.is_known(), "{name}");
            let index = TableIndex::open(&file, &table, &found).unwrap();
            assert_eq!(index.verify(&table).unwrap(), [], "{name}");
            // And each record is found by its key.
            for order in index.orders() {
                let mut cursor = order.order().cursor();
                for entry in order.order().walk(Direction::Forward) {
                    let entry = entry.unwrap();
                    assert!(
                        cursor.seek_record(entry.key(), entry.recno()).unwrap(),
                        "{name} {entry:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn an_order_that_nobody_knows_is_made_anew_in_a_collation_that_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = table(folder.path(), "anew", &WORDS, CodePage::Cp850);
    let file = indexed(&path, "cdx", &own_settings());
    let options = EditOptions::new(TODAY).production_index(false);
    let mut editor = TableEditor::open(&path, &options).unwrap();
    let unknown = KeySettings::of_index(&file, None, &open(&path));
    assert!(is_unknown(&editor.reindex(&file, &unknown).unwrap_err()));
    for language in ["EN", "machine", "de"] {
        let settings = KeySettings::language(CodePage::Cp850, language).unwrap();
        editor.reindex(&file, &settings).unwrap();
        let table = open(&path);
        let index = TableIndex::open(&file, &table, &settings).unwrap();
        assert_eq!(index.verify(&table).unwrap(), [], "{language}");
        assert!(KeySettings::of_index(&file, None, &table).is_known(), "{language}");
    }
}

#[test]
fn keys_that_no_alphabet_sorts_so_are_damage() {
    let folder = tempfile::tempdir().unwrap();
    let path = table(folder.path(), "plain", &["b", "a", "c", "a"], CodePage::Cp437);
    let file = path.with_extension("cdx");
    let options = OrderSpec::new("WORD", "WORD").keys(KeyType::Character, 8);
    // Keys of other records than those that have them.
    let mut builder = IndexBuilder::new(IndexDialect::Cdx, 4, CodePage::Cp437);
    let mut sorter = builder.keys(&options.clone().collation(reversed())).unwrap();
    for (recno, key) in [(1, b"b       "), (2, b"a       "), (3, b"c       "), (4, b"a       ")] {
        sorter.push(key, recno).unwrap();
    }
    builder.add(&options.collation(reversed()), sorter).unwrap();
    std::fs::write(&file, builder.finish().unwrap()).unwrap();
    let table = open(&path);
    let settings = KeySettings::of_index(&file, None, &table);
    assert!(settings.is_known());
    let index = TableIndex::open(&file, &table, &settings).unwrap();
    let findings = index.verify(&table).unwrap();
    assert!(
        findings
            .iter()
            .any(|finding| matches!(finding.what, IndexFault::OutOfOrder { .. })),
        "{findings:?}"
    );
}

fn reversed() -> Collation {
    Collation::from_alphabet(
        CodePage::Cp437,
        "ZYXWVUTSRQPONMLKJIHGFEDCBA",
        "zyxwvutsrqponmlkjihgfedcba",
    )
}

/// A CDX of Visual FoxPro with one order, whose tag header was changed in some bytes.
fn changed_tag(path: &Path, expression: &str, changes: &[(usize, &[u8])]) -> PathBuf {
    let file = path.with_extension("cdx");
    let table = open(path);
    let orders = [OrderSpec::new("T", expression)];
    build_index(&file, &table, &orders, &KeySettings::new(table.codepage())).unwrap();
    let mut bytes = std::fs::read(&file).unwrap();
    let header = 1024 + 512;
    // Visual FoxPro counts keys where Harbour has the lengths of header and page.
    bytes[header + 16..header + 32].fill(0);
    for (at, new) in changes {
        bytes[header + at..header + at + new.len()].copy_from_slice(new);
    }
    std::fs::write(&file, bytes).unwrap();
    file
}

#[test]
fn a_collation_that_foxpro_names_is_not_known_and_no_damage() {
    let folder = tempfile::tempdir().unwrap();
    let path = table(folder.path(), "general", &["b", "a", "c"], CodePage::Cp1252);
    let file = changed_tag(&path, "WORD", &[(15, &[2]), (494, b"GENERAL\0")]);
    let table = open(&path);
    let index = TableIndex::open(&file, &table, &KeySettings::of_index(&file, None, &table)).unwrap();
    let order = index.order("T").unwrap();
    assert_eq!(order.order().tag().collation.as_deref(), Some("GENERAL"));
    assert_eq!(records(&index, "T"), [2, 1, 3]);
    assert!(is_unknown(&order.order().key(&KeyValue::Character(b"a")).unwrap_err()));
    let findings = index.verify(&table).unwrap();
    assert!(findings.iter().all(|finding| finding.is_unknown()), "{findings:?}");
    assert!(
        findings[0].to_string().contains("collation not known (GENERAL)"),
        "{}",
        findings[0]
    );

    let before = std::fs::read(&file).unwrap();
    let options = EditOptions::new(TODAY).mode(OpenMode::Exclusive);
    let mut editor = TableEditor::open(&path, &options).unwrap();
    assert!(is_unknown(&editor.append_values(&[(0, Value::Text("d"))]).unwrap_err()));
    let settings = KeySettings::new(CodePage::Cp1252);
    assert!(is_unknown(&editor.reindex(&file, &settings).unwrap_err()));
    drop(editor);
    assert_eq!(std::fs::read(&file).unwrap(), before);
}

#[test]
fn a_binary_index_of_visual_foxpro_is_not_known_and_no_damage() {
    let folder = tempfile::tempdir().unwrap();
    let path = table(folder.path(), "bits", &["b", "a", "c"], CodePage::Cp1252);
    let file = changed_tag(&path, "DELETED()", &[(15, &[5])]);
    let mut bytes = std::fs::read(&file).unwrap();
    let index = Index::open(&file, &IndexOptions::new()).unwrap();
    assert!(index.tags()[0].is_bitmap);
    // Its only page has bits where others have entries.
    let root = bytes.len() - 512;
    bytes[root + 12..].fill(0);
    bytes[root + 16] = 0b1110;
    std::fs::write(&file, bytes).unwrap();
    let table = open(&path);
    let settings = KeySettings::of_index(&file, None, &table);
    let index = TableIndex::open(&file, &table, &settings).unwrap();
    let order = index.order("T").unwrap().order();
    assert!(order.walk(Direction::Forward).next().unwrap().is_err());
    assert!(order.key_count().is_err());
    let findings = index.verify(&table).unwrap();
    assert!(findings.len() == 1 && findings[0].is_unknown(), "{findings:?}");
    let mut editor = TableEditor::open(&path, &EditOptions::new(TODAY)).unwrap();
    assert!(editor.append_values(&[(0, Value::Text("d"))]).is_err());
    editor.replace(1, &[(0, Value::Text("d"))]).unwrap();
}
