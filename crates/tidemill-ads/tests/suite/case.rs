//! CICharacter columns in statements: they ignore case, with an index and without one.

use tidemill_ads::sql::Statements;
use tidemill_ads::{Connection, Durability, Executed, TableType};

use crate::dictionaries::rows_of;
use crate::rivals::Random;
use crate::sql_rows::{run, with_the_clock};

const LETTERS: [&str; 9] = ["a", "A", "b", "B", "ä", "Ä", "_", " ", "z"];

fn some_name(random: &mut Random) -> String {
    let name: String = (0..=random.below(3)).map(|_| random.of(&LETTERS)).collect();
    name.trim_end().to_owned()
}

type Row = (usize, Option<String>, Option<String>);
type Test = Box<dyn Fn(&str) -> bool>;

/// A condition over one column, and what it is for a row.
struct Condition {
    text: String,
    is_any: bool,
    is: Test,
}

impl Condition {
    fn of(random: &mut Random) -> Self {
        let is_any = random.below(2) == 0;
        let mut ignores_case = is_any;
        let mut column = if is_any { "any_case" } else { "exact" }.to_owned();
        match random.below(6) {
            0 => {
                ignores_case = true;
                column += " COLLATE ads_default_ci";
            }
            1 => {
                ignores_case = false;
                column += " COLLATE ads_default_cs";
            }
            _ => {}
        }
        // Small letters, in whose order texts are where case does not count. In capitals `_` would be elsewhere.
        let folded = move |text: &str| {
            if ignores_case {
                text.to_lowercase()
            } else {
                text.to_owned()
            }
        };
        let (a, b) = (some_name(random), some_name(random));
        let (x, y) = (folded(&a), folded(&b));
        let has_order = ignores_case == is_any && !column.contains("_ci");
        let (text, is): (String, Test) = match random.below(if has_order { 8 } else { 4 }) {
            0 => (format!("{column} = '{a}'"), Box::new(move |text| folded(text) == x)),
            1 => (format!("{column} <> '{a}'"), Box::new(move |text| folded(text) != x)),
            2 => (
                format!("{column} IN ( '{a}', '{b}' )"),
                Box::new(move |text| folded(text) == x || folded(text) == y),
            ),
            3 => {
                let begin: String = a.chars().filter(|letter| *letter != '_').take(1).collect();
                let (begin, folded_begin) = (begin.trim().to_owned(), folded(begin.trim()));
                (
                    format!("{column} LIKE '{begin}%'"),
                    Box::new(move |text| folded(text).starts_with(&folded_begin)),
                )
            }
            4 => (format!("{column} < '{a}'"), Box::new(move |text| folded(text) < x)),
            5 => (format!("{column} >= '{a}'"), Box::new(move |text| folded(text) >= x)),
            6 => (
                format!("{column} BETWEEN '{a}' AND '{b}'"),
                Box::new(move |text| folded(text) >= x && folded(text) <= y),
            ),
            _ => (
                format!("POSITION( '{a}' IN {column} ) > 0"),
                Box::new(move |text| !x.is_empty() && format!("{:<6}", folded(text)).contains(&x)),
            ),
        };
        Self { text, is_any, is }
    }

    fn holds(&self, row: &Row) -> Option<bool> {
        let text = if self.is_any { &row.1 } else { &row.2 };
        text.as_ref().map(|text| (self.is)(text))
    }
}

#[test]
fn conditions_groups_and_orders_ignore_case_with_and_without_an_index() {
    for seed in 1..=8 {
        let folder = tempfile::tempdir().unwrap();
        let mut connection = Connection::open(folder.path()).unwrap();
        let (settings, mut options) = with_the_clock();
        options.table.table_type = TableType::Adt;
        options.durability = Durability::None;
        let mut tables = connection.tables(&settings, &options);
        let statements = Statements::default();
        let mut random = Random(seed);
        let mut rows: Vec<Row> = Vec::new();
        for id in 1..=60 {
            let mut name = || (random.below(10) > 0).then(|| some_name(&mut random));
            rows.push((id, name(), name()));
        }
        let text = |text: &Option<String>| text.as_ref().map_or("NULL".to_owned(), |text| format!("'{text}'"));
        for table in ["bare", "known"] {
            let create = format!("CREATE TABLE {table} ( id Integer, any_case CIChar(6), exact Char(6) )");
            run(&mut tables, &statements, &create);
            let values = rows
                .iter()
                .map(|(id, any, exact)| format!("( {id}, {}, {} )", text(any), text(exact)));
            let insert = format!("INSERT INTO {table} VALUES {}", values.collect::<Vec<_>>().join(", "));
            run(&mut tables, &statements, &insert);
        }
        run(&mut tables, &statements, "CREATE INDEX a ON known ( any_case )");
        run(&mut tables, &statements, "CREATE INDEX b ON known ( exact )");
        run(&mut tables, &statements, "CREATE INDEX c ON known ( exact, any_case )");
        for _ in 0..50 {
            let (one, other) = (Condition::of(&mut random), Condition::of(&mut random));
            let form = random.below(4);
            let condition = match form {
                0 => format!("{} AND {}", one.text, other.text),
                1 => format!("{} OR {}", one.text, other.text),
                2 => format!("NOT ( {} OR {} )", one.text, other.text),
                _ => one.text.clone(),
            };
            let holds = |row: &&Row| {
                let (a, b) = (one.holds(row), other.holds(row));
                let either = match (a, b) {
                    (Some(true), _) | (_, Some(true)) => Some(true),
                    (Some(false), Some(false)) => Some(false),
                    _ => None,
                };
                match form {
                    0 => a == Some(true) && b == Some(true),
                    1 => either == Some(true),
                    2 => either == Some(false),
                    _ => a == Some(true),
                }
            };
            let found: Vec<&Row> = rows.iter().filter(holds).collect();
            let ids: Vec<String> = found.iter().map(|row| row.0.to_string()).collect();
            let mut groups: Vec<(String, String, usize)> = Vec::new();
            for (_, any, _) in &found {
                let (key, shown) = match any {
                    Some(any) => (format!("x{}", any.to_lowercase()), any.clone()),
                    None => (String::new(), "NULL".to_owned()),
                };
                match groups.iter_mut().find(|(known, ..)| *known == key) {
                    Some((_, _, count)) => *count += 1,
                    None => groups.push((key, shown, 1)),
                }
            }
            groups.sort();
            let groups: Vec<String> = groups
                .iter()
                .map(|(_, shown, count)| format!("{shown}|{count}"))
                .collect();
            let mut sorted = found.clone();
            sorted.sort_by_key(|(_, any, _)| any.as_ref().map(|any| any.to_lowercase()));
            let sorted: Vec<String> = sorted.iter().map(|row| row.0.to_string()).collect();
            for table in ["bare", "known"] {
                for (sql, expected) in [
                    (format!("SELECT id FROM {table} WHERE {condition}"), &ids),
                    (
                        format!(
                            "SELECT any_case, COUNT(*) FROM {table} WHERE {condition} GROUP BY any_case ORDER BY any_case"
                        ),
                        &groups,
                    ),
                    (
                        format!("SELECT id FROM {table} WHERE {condition} ORDER BY any_case"),
                        &sorted,
                    ),
                ] {
                    assert_eq!(run(&mut tables, &statements, &sql), *expected, "seed {seed}: {sql}");
                }
            }
            let sql = format!("SELECT DISTINCT any_case FROM bare WHERE {condition}");
            assert_eq!(
                run(&mut tables, &statements, &sql).len(),
                groups.len(),
                "seed {seed}: {sql}"
            );
        }
    }
}

#[test]
fn filters_of_work_areas_ignore_case() {
    let folder = tempfile::tempdir().unwrap();
    let mut connection = Connection::open(folder.path()).unwrap();
    let (settings, mut options) = with_the_clock();
    options.table.table_type = TableType::Adt;
    for sql in [
        "CREATE TABLE t ( any_case CIChar(6), exact Char(6) )",
        "INSERT INTO t VALUES ( 'Ab', 'Ab' ), ( 'aB', 'aB' ), ( 'c', 'c' )",
        "CREATE INDEX a ON t ( any_case )",
    ] {
        connection.execute(sql, &[], &settings, &options).unwrap();
    }
    for (condition, rows) in [
        ("any_case = 'AB'", 2),
        ("exact = 'aB'", 1),
        ("exact = 'AB'", 0),
        ("COLLATE( any_case, 'ads_default_cs' ) = 'Ab'", 1),
        ("COLLATE( exact, 'ads_default_ci' ) = 'AB'", 2),
        ("'B' $ any_case .AND. any_case >= 'A'", 2),
    ] {
        for is_aof in [false, true] {
            let opened = connection.execute("SELECT * FROM t", &[], &settings, &options).unwrap();
            let Executed::Cursor(area) = opened else {
                panic!("a cursor");
            };
            let known = connection.area(area).unwrap();
            match is_aof {
                false => known.set_filter(condition, &settings).unwrap(),
                true => known.set_aof(condition, &settings).unwrap(),
            }
            let found = rows_of(&mut connection, area, &settings).len();
            assert_eq!(found, rows, "{condition}, AOF: {is_aof}");
        }
    }
}
