//! Full-text indexes as statements and work areas use them: the answers are those of the texts.

use tidemill_ads::sql::{Answer, ConnectionTables, Statements};
use tidemill_ads::{
    Connection, Counted, Durability, ErrorCode, IndexOptions, OptimizationLevel, Settings, TableOptions, TableType,
};
use tidemill_xbase::Blank;
use tidemill_xbase::full_text::{FullTextOptions, Listed};

use crate::rivals::Random;
use crate::sql_rows::{run, with_the_clock};

const WORDS: [&str; 16] = [
    "ski",
    "skiing",
    "skier",
    "the",
    "about",
    "doctor",
    "doctor''s",
    "doctors",
    "x",
    "mountain-climbing",
    "größe",
    "GRÖSSE",
    "rome,",
    "pneumonoultramicroscopicsilicovolcanoconiosis",
    // As long as keys.
    "docto",
    "pneumonoultramicroscopicsilico",
];

fn some_text(random: &mut Random) -> String {
    let count = random.below(6);
    let words: Vec<&str> = (0..count).map(|_| random.of(&WORDS)).collect();
    words.join(" ")
}

fn some_condition(random: &mut Random, depth: u32) -> String {
    let word = random.of(&WORDS);
    let begin: String = word.chars().take(3).collect();
    let end: String = word.chars().skip(2).collect();
    match random.below(if depth == 0 { 6 } else { 10 }) {
        0 => format!("{}*", begin.trim_end_matches('\'')),
        1 => format!("*{}", end.replace('\'', "")),
        2 => format!("*{}*", begin.trim_end_matches('\'')),
        3 => format!("\"{word} ski\""),
        4 | 5 => word.to_owned(),
        6 => format!(
            "({} {})",
            some_condition(random, depth - 1),
            some_condition(random, depth - 1)
        ),
        7 => format!(
            "({} or {})",
            some_condition(random, depth - 1),
            some_condition(random, depth - 1)
        ),
        8 => format!(
            "({} near(2) {})",
            some_condition(random, depth - 1),
            some_condition(random, depth - 1)
        ),
        _ => format!("(not {})", some_condition(random, depth - 1)),
    }
}

/// A condition of a statement over the two texts.
fn some_selection(random: &mut Random) -> String {
    let contains = |random: &mut Random| {
        let field = random.of(&["title", "note"]);
        format!("CONTAINS( {field}, '{}' )", some_condition(random, 2))
    };
    let (one, other) = (contains(random), contains(random));
    match random.below(7) {
        0 => format!("NOT {one}"),
        1 => format!("{one} AND {other}"),
        2 => format!("{one} OR {other}"),
        3 => format!("NOT ( {one} OR id = 3 )"),
        4 => format!("SCORE( note, '{}' ) > 1 AND {one}", some_condition(random, 1)),
        5 => format!("SCOREDISTINCT( title, '{}' ) >= 1", some_condition(random, 1)),
        _ => one,
    }
}

#[test]
fn statements_have_the_same_answers_with_and_without_an_index() {
    let mut asked = 0;
    for (table_type, blanks) in [
        (TableType::Cdx, Blank::Zero),
        (TableType::Cdx, Blank::Null),
        (TableType::Vfp, Blank::Zero),
        (TableType::Adt, Blank::Null),
    ] {
        for seed in 1..8 {
            let folder = tempfile::tempdir().unwrap();
            let mut connection = Connection::open(folder.path()).unwrap();
            let (settings, mut options) = with_the_clock();
            (options.blanks, options.table.table_type) = (blanks, table_type);
            options.durability = Durability::None;
            let mut tables = connection.tables(&settings, &options);
            let statements = Statements::default();
            let mut random = Random(seed);
            for name in ["bare", "known"] {
                run(
                    &mut tables,
                    &statements,
                    &format!("CREATE TABLE {name} ( id Integer, title Char(240), note Memo )"),
                );
            }
            run(&mut tables, &statements, "CREATE INDEX notes ON known ( note ) CONTENT");
            run(
                &mut tables,
                &statements,
                "CREATE INDEX titles ON known ( title ) CONTENT MIN WORD 1 MAX WORD 5 NEW NOISE 'x'",
            );
            for id in 1..30 {
                let note = match random.below(5) {
                    0 => "''".to_owned(),
                    _ => format!("'{}'", some_text(&mut random)),
                };
                let title = some_text(&mut random);
                let change = match random.below(if id < 8 { 1 } else { 4 }) {
                    0 => format!("INSERT INTO @ VALUES ( {id}, '{title}', {note} )"),
                    1 => format!("UPDATE @ SET note = {note} WHERE id = {}", 1 + random.below(id)),
                    2 => format!(
                        "UPDATE @ SET title = '{title}', note = {note} WHERE id > {}",
                        random.below(id)
                    ),
                    _ => format!("DELETE FROM @ WHERE id = {}", 1 + random.below(id)),
                };
                let is_rolled_back = random.below(6) == 0;
                for name in ["bare", "known"] {
                    if is_rolled_back {
                        run(&mut tables, &statements, "BEGIN TRANSACTION");
                    }
                    run(&mut tables, &statements, &change.replace('@', name));
                    if is_rolled_back {
                        run(&mut tables, &statements, "ROLLBACK");
                    }
                }
                for _ in 0..2 {
                    let selection = some_selection(&mut random);
                    let scores = some_condition(&mut random, 1);
                    let [bare, known] = ["bare", "known"].map(|name| {
                        let sql =
                            format!("SELECT id, SCORE( note, '{scores}' ) FROM {name} WHERE {selection} ORDER BY id");
                        run(&mut tables, &statements, &sql)
                    });
                    assert_eq!(known, bare, "{table_type:?} {blanks:?} seed {seed}: {selection}");
                    asked += 1;
                }
            }
        }
    }
    assert!(asked > 1500, "{asked}");
}

/// What a statement found of an index is not used any more once the index is another, though the table is the same.
#[test]
fn an_index_that_comes_or_goes_between_two_statements_is_noticed() {
    for table_type in [TableType::Cdx, TableType::Adt] {
        let folder = tempfile::tempdir().unwrap();
        let mut connection = Connection::open(folder.path()).unwrap();
        let (settings, mut options) = with_the_clock();
        options.table.table_type = table_type;
        let mut tables = connection.tables(&settings, &options);
        let statements = Statements::default();
        run(
            &mut tables,
            &statements,
            "CREATE TABLE docs ( id Integer, title Char(40), note Memo )",
        );
        for id in 1..=40 {
            let insert = format!(
                "INSERT INTO docs VALUES ( {id}, 'title{id}', 'skiing number{id} of many{}' )",
                id % 7
            );
            run(&mut tables, &statements, &insert);
        }
        let sql = "SELECT id FROM docs WHERE CONTAINS( note, 'many3 OR number5' )";
        let is_lowered = |tables: &mut ConnectionTables<'_>| match statements.run(sql, tables, &[]).unwrap() {
            Answer::Live(live) => live.filter.is_some(),
            _ => false,
        };
        let expected = run(&mut tables, &statements, sql);
        assert_eq!(expected.len(), 7);
        assert!(!is_lowered(&mut tables), "{table_type:?}");
        for _ in 0..3 {
            run(&mut tables, &statements, "CREATE INDEX notes ON docs ( note ) CONTENT");
            assert!(is_lowered(&mut tables), "{table_type:?}");
            assert_eq!(run(&mut tables, &statements, sql), expected, "{table_type:?}");
            run(&mut tables, &statements, "DROP INDEX docs.notes");
            run(
                &mut tables,
                &statements,
                "CREATE INDEX titles ON docs ( title ) CONTENT",
            );
            assert!(!is_lowered(&mut tables), "{table_type:?}");
            assert_eq!(run(&mut tables, &statements, sql), expected, "{table_type:?}");
            run(&mut tables, &statements, "DROP INDEX docs.titles");
        }
    }
}

#[test]
fn a_work_area_makes_tells_and_drops_full_text_indexes_and_answers_filters_by_them() {
    for table_type in [TableType::Cdx, TableType::Adt] {
        let folder = tempfile::tempdir().unwrap();
        let mut connection = Connection::open(folder.path()).unwrap();
        let settings = Settings::default();
        let options = TableOptions {
            table_type,
            ..TableOptions::default()
        };
        let number = if table_type == TableType::Adt {
            "Integer"
        } else {
            "Numeric,6,0"
        };
        let fields = format!("ID,{number};NOTE,Memo");
        let area = connection.create_table("docs", &fields, &options, &settings).unwrap();
        for (id, note) in [
            (1.0, "Skiing in Oslo"),
            (2.0, "A doctor of medicine"),
            (3.0, "Doctors skiing"),
        ] {
            connection.append(area, &settings).unwrap();
            let known = connection.area(area).unwrap();
            known.set_number(0, id).unwrap();
            known.set_text(1, note.as_bytes(), &settings).unwrap();
            known.write_record().unwrap();
        }
        let known = connection.area(area).unwrap();
        known
            .create_index(None, "BYID", "ID", None, &IndexOptions::default(), &settings)
            .unwrap();
        known.set_aof("CONTAINS(NOTE, 'skiing')", &settings).unwrap();
        assert_eq!(known.aof_level().unwrap(), OptimizationLevel::None);
        known.clear_aof(&settings).unwrap();
        let words = FullTextOptions {
            keeps_score: true,
            noise: Listed {
                with_defaults: true,
                own: "oslo".to_owned(),
            },
            ..FullTextOptions::default()
        };
        let made = known
            .create_full_text_index(None, "words", "Note", &words, &settings)
            .unwrap();
        assert_eq!(known.full_text_orders().collect::<Vec<_>>(), [made]);
        assert_eq!(known.orders().count(), 1, "words are no order of records");
        assert_eq!(known.order_named("Words").unwrap(), made);
        assert_eq!(known.full_text_options(made).unwrap(), words);
        let tag = known.order_tag(made).unwrap();
        assert_eq!(
            (tag.name.as_str(), tag.expression.to_uppercase().as_str()),
            ("WORDS", "NOTE")
        );
        // One whose words are fewer than those of the texts is not asked.
        known.set_aof("CONTAINS(NOTE, 'skiing')", &settings).unwrap();
        assert_eq!(known.aof_level().unwrap(), OptimizationLevel::None);
        known.clear_aof(&settings).unwrap();
        let made = known
            .create_full_text_index(None, "words", "Note", &FullTextOptions::default(), &settings)
            .unwrap();
        for (condition, level, count) in [
            ("CONTAINS(NOTE, 'skiing')", OptimizationLevel::Full, 2),
            ("CONTAINS(NOTE, 'doctor*')", OptimizationLevel::Full, 2),
            (
                "CONTAINS(NOTE, 'doctors near skiing') .AND. ID > 1",
                OptimizationLevel::Part,
                1,
            ),
            ("ID = 1 .OR. CONTAINS(NOTE, 'medicine')", OptimizationLevel::Full, 2),
        ] {
            let known = connection.area(area).unwrap();
            known.set_aof(condition, &settings).unwrap();
            assert_eq!(known.aof_level().unwrap(), level, "{table_type:?} {condition}");
            let found = connection.count(area, None, Counted::Shown, &settings).unwrap();
            assert_eq!(found, count, "{table_type:?} {condition}");
        }
        let known = connection.area(area).unwrap();
        known.clear_aof(&settings).unwrap();
        assert_eq!(
            known
                .set_aof("CONTAINS(NOTE, 'a near(x) b')", &settings)
                .unwrap_err()
                .code(),
            ErrorCode::InvalidExpression
        );
        assert_eq!(known.key_type(made).unwrap_err().code(), ErrorCode::InvalidIndexHandle);
        let by_id = known.order_named("BYID").unwrap();
        assert_eq!(
            known.full_text_options(by_id).unwrap_err().code(),
            ErrorCode::InvalidIndexHandle
        );
        let wrong = FullTextOptions {
            min_word: 9,
            max_word: 3,
            ..FullTextOptions::default()
        };
        assert_eq!(
            known
                .create_full_text_index(None, "wrong", "Note", &wrong, &settings)
                .unwrap_err()
                .code(),
            ErrorCode::InvalidOption
        );
        assert!(
            known
                .create_full_text_index(None, "wrong", "Id", &words, &settings)
                .is_err()
        );
        // A file with nothing but words.
        let other = folder.path().join(if table_type == TableType::Adt {
            "other.adi"
        } else {
            "other.cdx"
        });
        let own = known
            .create_full_text_index(Some(&other), "own", "Note", &words, &settings)
            .unwrap();
        assert_eq!(known.index_path(own).unwrap(), other);
        let more = known
            .create_full_text_index(Some(&other), "more", "Note", &words, &settings)
            .unwrap();
        assert_eq!(known.full_text_orders().count(), 3);
        known.reindex_full_text(&settings).unwrap();
        known.reindex(&settings).unwrap();
        assert_eq!(
            known.open_index(&other).unwrap_err().code(),
            ErrorCode::IndexAlreadyOpen
        );
        known.delete_index(more).unwrap();
        known.close_index(own).unwrap();
        assert_eq!(known.full_text_orders().collect::<Vec<_>>(), [made]);
        known.open_index(&other).unwrap();
        assert_eq!(known.full_text_orders().count(), 2);
        known.delete_index(made).unwrap();
        assert_eq!(known.full_text_orders().count(), 1);
        connection.close_table(area).unwrap();
    }
}
