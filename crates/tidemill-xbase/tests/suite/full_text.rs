//! Indexes of words: made, kept, checked, and asked instead of the texts.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use proptest::prelude::*;
use tidemill_xbase::aof::{Filter, FilterOrders, OptimizationLevel};
use tidemill_xbase::expression::Environment;
use tidemill_xbase::full_text::{FullTextOptions, Listed, Tokenizer};
use tidemill_xbase::index::{Direction, IndexFault, OrderSpec};
use tidemill_xbase::{
    AdtType, Alteration, CivilDate, CodePage, CreateOptions, Dialect, EditOptions, Error, FieldSpec, KeySettings,
    OpenMode, OpenOptions, Table, TableEditor, TableIndex, TableWriter, Value,
};

use crate::tables::Random;

const TODAY: CivilDate = CivilDate {
    year: 2026,
    month: 11,
    day: 27,
};

const ID: usize = 0;
const TITLE: usize = 1;
const NOTE: usize = 2;

const TEXTS: [&str; 5] = [
    "Skiing and Mountain-Climbing: the doctor's notes",
    "A medical student of Oslo, seen by a doctor in Rome",
    "",
    "Skiing skiing SKIING. Pneumonoultramicroscopicsilicovolcanoconiosis",
    "Ärzte in Köln",
];

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Adt,
    Fox,
}

fn fields(kind: Kind) -> [FieldSpec; 3] {
    match kind {
        Kind::Adt => [
            FieldSpec::of_adt("Id", AdtType::Integer, 0, 0),
            FieldSpec::of_adt("Title", AdtType::Character, 240, 0),
            FieldSpec::of_adt("Note", AdtType::Memo, 0, 0),
        ],
        Kind::Fox => [
            FieldSpec::new("ID", 'N', 8, 0),
            FieldSpec::new("TITLE", 'C', 240, 0),
            FieldSpec::new("NOTE", 'M', 10, 0),
        ],
    }
}

fn edit_options(mode: OpenMode) -> EditOptions {
    EditOptions::new(TODAY)
        .keys(KeySettings::new(CodePage::Cp1252))
        .mode(mode)
}

/// An empty table with indexes of the words of both texts.
fn table(kind: Kind, folder: &Path, options: &FullTextOptions) -> PathBuf {
    let path = folder.join(if kind == Kind::Adt { "t.adt" } else { "t.dbf" });
    let mut create = CreateOptions::new(TODAY);
    create.codepage = CodePage::Cp1252;
    create.format = if kind == Kind::Adt {
        Dialect::Adt
    } else {
        Dialect::FoxPro2
    };
    TableWriter::create(&path, &fields(kind), &create)
        .unwrap()
        .finish()
        .unwrap();
    let mut editor = TableEditor::open(&path, &edit_options(OpenMode::Exclusive)).unwrap();
    editor.create_order(&OrderSpec::new("BYID", "Id")).unwrap();
    for (name, field) in [("TITLES", "Title"), ("NOTES", "Note")] {
        editor
            .create_order(&OrderSpec::new(name, field).full_text(options.clone()))
            .unwrap();
    }
    path
}

fn append(editor: &mut TableEditor, id: i64, title: &str, note: &str) {
    let values = [
        (ID, Value::Integer(id)),
        (TITLE, Value::Text(title)),
        (NOTE, Value::Text(note)),
    ];
    editor.append_values(&values).unwrap();
}

fn opened(path: &Path) -> (Arc<Table>, TableIndex) {
    let table = Arc::new(Table::open(path, &OpenOptions::new().codepage(CodePage::Cp1252)).unwrap());
    let index = TableIndex::production(&table, &KeySettings::new(table.codepage()))
        .unwrap()
        .unwrap();
    (table, index)
}

fn assert_sound(path: &Path, why: &str) {
    let (table, index) = opened(path);
    assert_eq!(index.verify(&table).unwrap(), [], "{why}");
    assert_eq!(index.word_orders().len(), 2, "{why}");
    assert_eq!(index.orders().len(), 1, "{why}");
}

/// The words of an index and how many records have each.
fn words(path: &Path, name: &str) -> Vec<(String, usize)> {
    let (_, index) = opened(path);
    let order = index
        .word_orders()
        .iter()
        .find(|order| order.order().tag().name == name)
        .unwrap();
    let mut words: Vec<(String, usize)> = Vec::new();
    for entry in order.order().walk(Direction::Forward) {
        let entry = entry.unwrap();
        let word = CodePage::Cp1252.decode(entry.key()).trim_end().to_owned();
        match words.last_mut() {
            Some((last, count)) if *last == word => *count += 1,
            _ => words.push((word, 1)),
        }
    }
    words
}

fn names(words: &[(String, usize)]) -> Vec<&str> {
    words.iter().map(|(word, _)| word.as_str()).collect()
}

#[test]
fn an_index_has_each_word_of_each_record_once_and_follows_every_change() {
    for kind in [Kind::Adt, Kind::Fox] {
        for mode in [OpenMode::Exclusive, OpenMode::Shared] {
            let folder = tempfile::tempdir().unwrap();
            let path = table(kind, folder.path(), &FullTextOptions::default());
            let mut editor = TableEditor::open(&path, &edit_options(mode)).unwrap();
            for (id, text) in (1..).zip(TEXTS) {
                append(&mut editor, id, "Title of it", text);
            }
            editor.unlock_all().unwrap();
            editor.flush().unwrap();
            assert_sound(&path, "appended");
            let all = words(&path, "NOTES");
            assert_eq!(
                names(&all),
                [
                    "doctor",
                    "doctors",
                    "köln",
                    "medical",
                    "mountain-climbing",
                    "notes",
                    "oslo",
                    "pneumonoultramicroscopicsilico",
                    "rome",
                    "seen",
                    "skiing",
                    "student",
                    "ärzte"
                ],
                "{kind:?}"
            );
            assert_eq!(all.iter().find(|(word, _)| word == "skiing").unwrap().1, 2);
            assert_eq!(words(&path, "TITLES"), [("title".to_owned(), 5)]);

            editor.lock_record(2).unwrap();
            // As long as the old one, so that another program's memo file would have it in its place.
            editor
                .replace(
                    2,
                    &[(
                        NOTE,
                        Value::Text("A surgical student of Bonn, seen by a doctor in Rome"),
                    )],
                )
                .unwrap();
            editor
                .replace(2, &[(ID, Value::Integer(20)), (TITLE, Value::Text("Renamed"))])
                .unwrap();
            editor.unlock_all().unwrap();
            editor.flush().unwrap();
            assert_sound(&path, "replaced");
            let all = words(&path, "NOTES");
            assert!(names(&all).contains(&"surgical") && !names(&all).contains(&"medical"));
            assert_eq!(
                words(&path, "TITLES"),
                [("renamed".to_owned(), 1), ("title".to_owned(), 4)]
            );

            editor.lock_record(1).unwrap();
            editor.delete(1).unwrap();
            editor.lock_record(5).unwrap();
            editor.replace(5, &[(NOTE, Value::Text(""))]).unwrap();
            editor.unlock_all().unwrap();
            editor.flush().unwrap();
            assert_sound(&path, "deleted");
            let all = words(&path, "NOTES");
            // What is deleted from an ADT is gone.
            assert_eq!(names(&all).contains(&"doctors"), kind == Kind::Fox);
            assert!(!names(&all).contains(&"köln"));
            // An ADT uses the place again.
            append(&mut editor, 6, "Sixth", "Again a doctor");
            editor.unlock_all().unwrap();
            editor.flush().unwrap();
            assert_sound(&path, "appended again");
        }
    }
}

#[test]
fn packing_altering_zapping_and_reindexing_make_an_index_anew() {
    for kind in [Kind::Adt, Kind::Fox] {
        let folder = tempfile::tempdir().unwrap();
        let path = table(kind, folder.path(), &FullTextOptions::default());
        let mut editor = TableEditor::open(&path, &edit_options(OpenMode::Exclusive)).unwrap();
        for (id, text) in (1..).zip(TEXTS) {
            append(&mut editor, id, "Title", text);
        }
        editor.delete(1).unwrap();
        assert_eq!(editor.pack().unwrap(), 4);
        assert_sound(&path, "packed");
        assert!(!names(&words(&path, "NOTES")).contains(&"doctors"));

        let alteration = Alteration::of(editor.fields()).drop_field(if kind == Kind::Adt { "Id" } else { "ID" });
        editor.drop_order("BYID").unwrap();
        editor.alter(&alteration.unwrap()).unwrap();
        editor.create_order(&OrderSpec::new("BYID", "Title")).unwrap();
        editor.flush().unwrap();
        assert_sound(&path, "altered");
        assert!(names(&words(&path, "NOTES")).contains(&"ärzte"));
        editor.replace(1, &[(1, Value::Text("Fresh words"))]).unwrap();
        editor.flush().unwrap();
        assert_sound(&path, "changed after altering");
        let dropped = Alteration::of(editor.fields()).drop_field(if kind == Kind::Adt { "Note" } else { "NOTE" });
        let told = editor.alter(&dropped.unwrap()).unwrap_err();
        assert!(format!("{told:?}").contains("NOTES"), "{told:?}");

        let index = path.with_extension(if kind == Kind::Adt { "adi" } else { "cdx" });
        editor.reindex(&index, &KeySettings::new(CodePage::Cp1252)).unwrap();
        assert_sound(&path, "reindexed");
        assert!(names(&words(&path, "NOTES")).contains(&"fresh"));
        editor.zap().unwrap();
        editor.flush().unwrap();
        assert_sound(&path, "zapped");
        assert_eq!(words(&path, "NOTES"), []);
        editor.drop_order("NOTES").unwrap();
        editor.flush().unwrap();
        let (_, index) = opened(&path);
        assert_eq!(index.word_orders().len(), 1);
    }
}

#[test]
fn options_are_kept_and_one_that_is_not_maintained_is_made_anew_by_reindexing_alone() {
    for kind in [Kind::Adt, Kind::Fox] {
        let folder = tempfile::tempdir().unwrap();
        let options = FullTextOptions {
            min_word: 1,
            max_word: 5,
            delimiters: Listed {
                with_defaults: true,
                own: "-:".to_owned(),
            },
            noise: Listed {
                with_defaults: false,
                own: "skiing".to_owned(),
            },
            drop_chars: Listed {
                with_defaults: true,
                own: "x".to_owned(),
            },
            conditionals: Listed {
                with_defaults: true,
                own: "[]".to_owned(),
            },
            is_case_sensitive: true,
            keeps_score: true,
            is_fixed: true,
            protects_numbers: true,
        };
        let path = table(kind, folder.path(), &options);
        let mut editor = TableEditor::open(&path, &edit_options(OpenMode::Exclusive)).unwrap();
        append(&mut editor, 1, "Skiing-a:[Bxx]", "Note");
        editor.flush().unwrap();
        // It says that it need not be right.
        assert_sound(&path, "not maintained");
        assert_eq!(words(&path, "TITLES"), []);
        let index = path.with_extension(if kind == Kind::Adt { "adi" } else { "cdx" });
        editor.reindex(&index, &KeySettings::new(CodePage::Cp1252)).unwrap();
        assert_eq!(names(&words(&path, "TITLES")), ["B", "a"]);
        let (_, index) = opened(&path);
        let told = index.word_orders()[0].order().tag().full_text.clone();
        assert_eq!(told.as_deref(), Some(&options));
    }
}

#[test]
fn what_no_index_of_words_can_be_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = table(Kind::Adt, folder.path(), &FullTextOptions::default());
    let mut editor = TableEditor::open(&path, &edit_options(OpenMode::Exclusive)).unwrap();
    let with = |change: fn(&mut FullTextOptions)| {
        let mut options = FullTextOptions::default();
        change(&mut options);
        OrderSpec::new("MORE", "Title").full_text(options)
    };
    for (spec, why) in [
        (
            OrderSpec::new("MORE", "Id").full_text(FullTextOptions::default()),
            "Id, whose values are others",
        ),
        (
            OrderSpec::new("MORE", "None").full_text(FullTextOptions::default()),
            "the name of a field",
        ),
        (
            OrderSpec::new("MORE", "UPPER(Title)").full_text(FullTextOptions::default()),
            "the name of a field",
        ),
        (with(|options| options.max_word = 2000), "2000 bytes"),
        (with(|options| options.max_word = 0), "keys of 0 bytes"),
        (
            with(|options| options.noise.own = "word ".repeat(400)),
            "more than its header has room for",
        ),
        (with(|options| options.noise.own = "слово".to_owned()), "has no"),
        (with(|_| ()).descending(true), "neither unique"),
        (with(|_| ()).condition("Id > 1"), "no FOR expression"),
    ] {
        let told = editor.create_order(&spec).unwrap_err();
        let told = format!(
            "{told} {}",
            std::error::Error::source(&told).map_or(String::new(), ToString::to_string)
        );
        assert!(told.contains(why), "{told}");
    }
    editor.flush().unwrap();
    assert_sound(&path, "nothing was made");
}

#[test]
fn words_that_are_missing_or_too_many_are_found() {
    for kind in [Kind::Adt, Kind::Fox] {
        let folder = tempfile::tempdir().unwrap();
        let path = table(kind, folder.path(), &FullTextOptions::default());
        let mut editor = TableEditor::open(&path, &edit_options(OpenMode::Exclusive)).unwrap();
        append(&mut editor, 1, "zebra", "first");
        append(&mut editor, 2, "zebra", "second");
        drop(editor);
        // A title in the table becomes another, behind the back of the index.
        let mut bytes = std::fs::read(&path).unwrap();
        let at = bytes.windows(5).rposition(|window| window == b"zebra").unwrap();
        bytes[at..at + 5].copy_from_slice(b"horse");
        std::fs::write(&path, bytes).unwrap();
        let (table, index) = opened(&path);
        let found: Vec<_> = index
            .verify(&table)
            .unwrap()
            .into_iter()
            .map(|finding| (finding.tag, finding.what))
            .collect();
        let tag = Some("TITLES".to_owned());
        let expected = [
            (
                tag.clone(),
                IndexFault::MissingWord {
                    recno: 2,
                    word: "horse".to_owned(),
                },
            ),
            (
                tag,
                IndexFault::SurplusWord {
                    recno: 2,
                    word: "zebra".to_owned(),
                },
            ),
        ];
        assert_eq!(found, expected, "{kind:?}");
    }
}

#[test]
fn forged_options_are_refused_and_those_of_advantage_keep_the_table_from_changes() {
    let folder = tempfile::tempdir().unwrap();
    let path = table(Kind::Adt, folder.path(), &FullTextOptions::default());
    let mut editor = TableEditor::open(&path, &edit_options(OpenMode::Exclusive)).unwrap();
    append(&mut editor, 1, "zebra", "first");
    drop(editor);
    let index = path.with_extension("adi");
    let sound = std::fs::read(&index).unwrap();
    let at = sound.windows(4).position(|window| window == b"TMFT").unwrap();
    let open = |bytes: &[u8]| {
        std::fs::write(&index, bytes).unwrap();
        let table = Table::open(&path, &OpenOptions::new().codepage(CodePage::Cp1252)).unwrap();
        TableIndex::production(&table, &KeySettings::new(table.codepage()))
    };
    for (offset, byte, why) in [
        (8, 0, "lengths of words"),
        (11, 0xFF, "at most"),
        (15, 0x80, "at most"),
        (8, 31, "keys of 30"),
    ] {
        let mut bytes = sound.clone();
        bytes[at + offset] = byte;
        let told = open(&bytes).unwrap_err();
        let told = format!(
            "{told} {}",
            std::error::Error::source(&told).map_or(String::new(), ToString::to_string)
        );
        assert!(told.contains(why) && told.contains("t.adi"), "{told}");
    }
    for (offset, byte) in [(0, 0), (4, 2)] {
        let mut bytes = sound.clone();
        bytes[at + offset] = byte;
        std::fs::write(&index, bytes).unwrap();
        let mut editor = TableEditor::open(&path, &edit_options(OpenMode::Exclusive)).unwrap();
        assert!(
            editor
                .orders()
                .filter(|tag| tag.is_full_text && tag.full_text.is_none())
                .count()
                == 1
        );
        let refused = editor.append_values(&[(TITLE, Value::Text("more"))]).unwrap_err();
        assert!(matches!(refused, Error::Order { .. }), "{refused:?}");
    }
    // Whatever the bytes of the header are, they are an error or an index.
    let mut random = Random::new(39);
    for _ in 0..300 {
        let mut bytes = sound.clone();
        for _ in 0..1 + random.below(6) {
            let place = at - 32 + random.below(1024) as usize;
            bytes[place] = random.below(256) as u8;
        }
        if let Ok(Some(index)) = open(&bytes) {
            let table = Table::open(&path, &OpenOptions::new().codepage(CodePage::Cp1252)).unwrap();
            let _ = index.verify(&table);
        }
    }
}

/// The words of texts and conditions: some are alike, some noise, some longer than keys.
const VOCABULARY: [&str; 18] = [
    "ski",
    "skiing",
    "skier",
    "the",
    "about",
    "doctor",
    "doctor's",
    "doctors",
    "x",
    "mountain-climbing",
    "köln",
    "KÖLN",
    "rome,",
    "pneumonoultramicroscopicsilicovolcanoconiosis",
    "pneumonoultramicroscopicsilicovolcano",
    "3.5",
    // As long as keys.
    "doct",
    "pneumonoultramicroscopicsilico",
];

fn some_text() -> impl Strategy<Value = String> {
    proptest::collection::vec(0..VOCABULARY.len(), 0..6)
        .prop_map(|words| words.iter().map(|word| VOCABULARY[*word]).collect::<Vec<_>>().join(" "))
}

fn some_condition() -> impl Strategy<Value = String> {
    let word = (0..VOCABULARY.len(), 0..6_u8).prop_map(|(word, form)| {
        let word = VOCABULARY[word];
        let middle: String = word.chars().skip(1).take(3).collect();
        let begin: String = word.chars().take(3).collect();
        let end: String = word.chars().skip(2).collect();
        match form {
            0 => format!("{begin}*"),
            1 => format!("*{end}"),
            2 => format!("*{middle}*"),
            3 => format!("\"{word} ski\""),
            _ => word.to_owned(),
        }
    });
    word.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a} {b})")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a} OR {b})")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a} NEAR(2) {b})")),
            inner.prop_map(|a| format!("(NOT {a})")),
        ]
    })
}

fn some_change() -> impl Strategy<Value = (u8, usize, String)> {
    (0..4_u8, 0..100_usize, some_text())
}

/// Does some changes, and leaves the others to who opens the table next.
fn change(editor: &mut TableEditor, changes: &[(u8, usize, String)]) {
    for (kind, place, text) in changes {
        let count = editor.record_count();
        let record = 1 + u32::try_from(*place).unwrap() % count.max(1);
        if *kind == 0 || count == 0 {
            append(editor, 7, text, text);
        } else if !editor.is_deleted(record).unwrap() {
            match kind {
                1 => editor.replace(record, &[(NOTE, Value::Text(text))]).unwrap(),
                2 => editor
                    .replace(record, &[(TITLE, Value::Text(text)), (NOTE, Value::Null)])
                    .unwrap(),
                _ => editor.delete(record).unwrap(),
            }
        }
    }
    editor.flush().unwrap();
}

fn check(
    kind: Kind,
    options: &FullTextOptions,
    texts: &[String],
    changes: &[(u8, usize, String)],
    conditions: &[String],
) {
    let folder = tempfile::tempdir().unwrap();
    let path = table(kind, folder.path(), options);
    let mut editor = TableEditor::open(&path, &edit_options(OpenMode::Exclusive)).unwrap();
    for text in texts {
        append(&mut editor, 1, text, text);
    }
    editor.flush().unwrap();
    for half in changes.chunks(changes.len().div_ceil(2).max(1)) {
        change(&mut editor, half);
        assert_sound(&path, "changed");
        let (table, index) = opened(&path);
        let environment = Environment::with_all_letters(CodePage::Cp1252);
        let orders = FilterOrders::new(&table, index.orders())
            .unwrap()
            .with_words(index.word_orders());
        for condition in conditions {
            for (field, outer) in [("TITLE", false), ("NOTE", false), ("NOTE", true)] {
                let not = if outer { ".NOT. " } else { "" };
                let text = format!(
                    "{not}CONTAINS({field}, '{}') .AND. .NOT. DELETED()",
                    condition.replace('\'', "' + \"'\" + '")
                );
                let filter = Filter::new(&text, &table, &environment).unwrap();
                let expected = filter.bitmap(&table).unwrap();
                assert_eq!(
                    filter.bitmap_by(&table, &orders).unwrap(),
                    expected,
                    "{kind:?} {text} {texts:?} {changes:?}"
                );
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn conditions_have_the_same_answers_by_an_index_and_by_the_texts(
        texts in proptest::collection::vec(some_text(), 1..12),
        changes in proptest::collection::vec(some_change(), 0..10),
        conditions in proptest::collection::vec(some_condition(), 1..5),
    ) {
        for kind in [Kind::Adt, Kind::Fox] {
            check(kind, &FullTextOptions::default(), &texts, &changes, &conditions);
            // One with more words, and one whose keys are short.
            let more = FullTextOptions {
                min_word: 1,
                max_word: 4,
                noise: Listed { with_defaults: false, own: String::new() },
                ..FullTextOptions::default()
            };
            check(kind, &more, &texts, &changes, &conditions);
        }
    }
}

#[test]
fn how_far_an_index_answers_is_told() {
    for kind in [Kind::Adt, Kind::Fox] {
        let folder = tempfile::tempdir().unwrap();
        let path = table(kind, folder.path(), &FullTextOptions::default());
        let mut editor = TableEditor::open(&path, &edit_options(OpenMode::Exclusive)).unwrap();
        for (id, text) in (1..).zip(TEXTS) {
            append(&mut editor, id, "Title", text);
        }
        drop(editor);
        let (table, index) = opened(&path);
        let environment = Environment::with_all_letters(CodePage::Cp1252);
        let orders = FilterOrders::new(&table, index.orders())
            .unwrap()
            .with_words(index.word_orders());
        let not = if kind == Kind::Adt {
            OptimizationLevel::Part
        } else {
            OptimizationLevel::Full
        };
        for (condition, level) in [
            ("CONTAINS(NOTE, 'skiing')", OptimizationLevel::Full),
            ("CONTAINS(NOTE, 'ski* or *ome')", OptimizationLevel::Full),
            ("CONTAINS(NOTE, 'medical near student')", OptimizationLevel::Part),
            ("CONTAINS(NOTE, '\"medical student\"')", OptimizationLevel::Part),
            (
                "CONTAINS(NOTE, 'pneumonoultramicroscopicsilicovolcanoconiosis')",
                OptimizationLevel::Part,
            ),
            // An ADT has texts that are NULL, of which an index does not know.
            ("CONTAINS(NOTE, 'not skiing')", not),
            ("CONTAINS(NOTE, 'skiing') .OR. ID = 3", OptimizationLevel::Full),
            ("CONTAINS(NOTE, 'skiing') .AND. EMPTY(TITLE)", OptimizationLevel::Part),
            ("EMPTY(TITLE)", OptimizationLevel::None),
        ] {
            let filter = Filter::new(condition, &table, &environment).unwrap();
            assert_eq!(filter.level(&table, &orders), level, "{kind:?} {condition}");
            assert_eq!(
                filter.bitmap_by(&table, &orders).unwrap(),
                filter.bitmap(&table).unwrap(),
                "{condition}"
            );
        }
        let told = Filter::new("CONTAINS(NOTE, '\"open')", &table, &environment).unwrap_err();
        assert!(told.to_string().contains("a phrase that does not end"), "{told}");
    }
}

#[test]
fn an_index_that_other_options_made_is_not_asked() {
    let folder = tempfile::tempdir().unwrap();
    let options = FullTextOptions {
        is_case_sensitive: true,
        ..FullTextOptions::default()
    };
    let path = table(Kind::Fox, folder.path(), &options);
    let (table, index) = opened(&path);
    let environment = Environment::with_all_letters(CodePage::Cp1252);
    let orders = FilterOrders::new(&table, index.orders())
        .unwrap()
        .with_words(index.word_orders());
    let filter = Filter::new("CONTAINS(NOTE, 'skiing')", &table, &environment).unwrap();
    assert_eq!(filter.level(&table, &orders), OptimizationLevel::None);
    assert!(!orders.has_words_of(NOTE));
    let tokens: BTreeSet<String> = Tokenizer::default().words("Skiing skiing").into_iter().collect();
    assert_eq!(tokens.len(), 1);
}
