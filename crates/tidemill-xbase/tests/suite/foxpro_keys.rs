//! Keys that Visual FoxPro makes otherwise than Clipper and Harbour: of stars, of `STR()` without a width, of moments between two seconds,
//! and those of candidate indexes whose field can be NULL.
//!
//! They are those of public tables that Visual FoxPro wrote; the bytes here are laid out by hand.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::TempDir;
use tidemill_xbase::aof::{Filter, FilterOrders};
use tidemill_xbase::expression::{DateOrder, Environment};
use tidemill_xbase::index::{Direction, End, KeyValue, OrderSpec};
use tidemill_xbase::{
    CivilDate, CreateOptions, Dialect, EditOptions, FieldSpec, KeySettings, OpenOptions, Table, TableEditor,
    TableIndex, TableWriter, Value, build_index,
};

use super::nullable_keys::index_of;

const TODAY: CivilDate = CivilDate {
    year: 2026,
    month: 11,
    day: 29,
};
const INFINITY: [u8; 8] = [0xFF, 0xF0, 0, 0, 0, 0, 0, 0];

#[test]
fn stars_are_higher_than_every_number() {
    for (expression, two) in [("N", 2.0), ("N+M", 3.0)] {
        let folder = TempDir::new().unwrap();
        let fields = [FieldSpec::new("N", 'N', 4, 0), FieldSpec::new("M", 'N', 3, 0)];
        let path = table(folder.path(), Dialect::VisualFoxPro, &fields);
        append(&path, &[(0, Value::Integer(7)), (1, Value::Integer(1))]);
        append(&path, &[(0, Value::Integer(2)), (1, Value::Integer(1))]);
        put(&path, 1, 1, b"****");
        let keys = [(number(two), 2), (INFINITY.to_vec(), 1)];
        std::fs::write(
            path.with_extension("cdx"),
            index_of(expression, 0x60, 8, &narrow(&keys)),
        )
        .unwrap();
        set_flag(&path);
        assert_eq!(entries(&path), keys, "{expression}");

        // The entry of a record with stars follows it, and one that gets them has such a key.
        let mut editor = TableEditor::open(&path, &EditOptions::new(TODAY)).unwrap();
        editor.replace(1, &[(0, Value::Integer(9))]).unwrap();
        drop(editor);
        assert_eq!(entries(&path).len(), 2, "{expression}");
        put(&path, 2, 1, b"****");
        rebuild(&path);
        assert_eq!(entries(&path)[1], (INFINITY.to_vec(), 2), "{expression}");
    }
}

#[test]
fn an_order_with_stars_answers_no_comparison() {
    let folder = TempDir::new().unwrap();
    let path = table(folder.path(), Dialect::VisualFoxPro, &[FieldSpec::new("N", 'N', 4, 0)]);
    for number in 1..=50 {
        append(&path, &[(0, Value::Integer(number))]);
    }
    put(&path, 20, 1, b"****");
    rebuild(&path);
    let table = Arc::new(Table::open(&path, &OpenOptions::new()).unwrap());
    let settings = KeySettings::of_index(&path.with_extension("cdx"), None, &table);
    let index = TableIndex::production(&table, &settings).unwrap().unwrap();
    let orders = FilterOrders::new(&table, index.orders()).unwrap();
    let environment = Environment::new(table.codepage());
    for condition in ["N > 30", "N <= 30", "N <> 7", "N < 1"] {
        let filter = Filter::new(condition, &table, &environment).unwrap();
        let by_order = filter.bitmap_by(&table, &orders).unwrap();
        assert_eq!(by_order, filter.bitmap(&table).unwrap(), "{condition}");
    }
}

#[test]
fn stars_in_tables_of_others_are_zero() {
    let folder = TempDir::new().unwrap();
    let path = table(folder.path(), Dialect::FoxPro2, &[FieldSpec::new("N", 'N', 4, 0)]);
    append(&path, &[(0, Value::Integer(7))]);
    put(&path, 1, 1, b"****");
    rebuild(&path);
    assert_eq!(entries(&path), [(number(0.0), 1)]);
}

#[test]
fn the_length_of_the_keys_tells_whose_str_they_are_of() {
    // Of three digits and two decimals FoxPro makes ten characters without decimals, and Harbour six.
    let fields = [FieldSpec::new("N", 'N', 6, 2), FieldSpec::new("C", 'C', 2, 0)];
    let of_foxpro = |number: &str, text: &str| format!("{number:>10}{text}").into_bytes();
    let of_harbour = |number: &str, text: &str| format!("{number:>6}{text}").into_bytes();
    for (dialect, expected) in [
        (Dialect::VisualFoxPro, of_foxpro("2", "b ")),
        (Dialect::FoxPro2, of_harbour("1.50", "b ")),
    ] {
        let both = [(12, of_foxpro("2", "b ")), (8, of_harbour("1.50", "b "))];
        for (key_len, key) in both {
            let folder = TempDir::new().unwrap();
            let path = table(folder.path(), dialect, &fields);
            append(&path, &[(0, Value::Double(1.5)), (1, Value::Text("b"))]);
            let keys = [(key, 1)];
            std::fs::write(
                path.with_extension("cdx"),
                index_of("STR(N)+C", 0x60, key_len, &narrow(&keys)),
            )
            .unwrap();
            set_flag(&path);
            assert_eq!(entries(&path), keys);
            let mut editor = TableEditor::open(&path, &EditOptions::new(TODAY)).unwrap();
            editor.append_values(&[(0, Value::Double(100.0))]).unwrap();
            drop(editor);
            assert_eq!(entries(&path).len(), 2);
        }
        // A new order is made as the program does whose table it is.
        let folder = TempDir::new().unwrap();
        let path = table(folder.path(), dialect, &fields);
        append(&path, &[(0, Value::Double(1.5)), (1, Value::Text("b"))]);
        make(&path, &[OrderSpec::new("V", "STR(N)+C")]);
        assert_eq!(entries(&path), [(expected, 1)]);
    }
}

#[test]
fn str_leaves_decimals_out_that_do_not_fit() {
    let folder = TempDir::new().unwrap();
    let path = table(folder.path(), Dialect::VisualFoxPro, &[FieldSpec::new("N", 'N', 8, 2)]);
    append(&path, &[(0, Value::Double(314.15))]);
    make(&path, &[OrderSpec::new("V", "STR(N,5,2)")]);
    assert_eq!(entries(&path), [(b"314.2".to_vec(), 1)]);
}

#[test]
fn moments_in_keys_are_whole_seconds() {
    const NINE: i64 = 1_268_910_000_000;
    let folder = TempDir::new().unwrap();
    let path = table(folder.path(), Dialect::VisualFoxPro, &[FieldSpec::new("T", 'T', 8, 0)]);
    append(&path, &[(0, Value::Timestamp(NINE + 9_999))]);
    append(&path, &[(0, Value::Timestamp(NINE + 9_499))]);
    make(&path, &[OrderSpec::new("V", "TTOC(T,1)")]);
    assert_eq!(
        entries(&path),
        [(b"20100318110009".to_vec(), 2), (b"20100318110010".to_vec(), 1)]
    );
}

#[test]
fn the_form_of_dates_in_keys_is_found() {
    let fields = [FieldSpec::new("N", 'N', 4, 0), FieldSpec::new("D", 'D', 8, 0)];
    for dialect in [Dialect::VisualFoxPro, Dialect::FoxPro2] {
        for (order, separator, century, key) in [
            (DateOrder::DayMonthYear, b'/', true, "26/11/1999"),
            (DateOrder::DayMonthYear, b'.', false, "26.11.99"),
            (DateOrder::YearMonthDay, b'-', true, "1999-11-26"),
            (DateOrder::MonthDayYear, b'/', false, "11/26/99"),
        ] {
            let folder = TempDir::new().unwrap();
            let path = table(folder.path(), dialect, &fields);
            for day in [10_921, 11_000, 12_345] {
                append(&path, &[(0, Value::Integer(1)), (1, Value::Date(day))]);
            }
            let opened = Arc::new(Table::open(&path, &OpenOptions::new()).unwrap());
            let environment = Environment::new(opened.codepage()).date_format(order, separator, century);
            let settings = KeySettings::new(opened.codepage()).environment(environment);
            let cdx = path.with_extension("cdx");
            let orders = [OrderSpec::new("V", "STR(N,4)+DTOC(D)"), OrderSpec::new("N", "N")];
            build_index(&cdx, &opened, &orders, &settings).unwrap();
            let found = KeySettings::of_index(&cdx, None, &opened);
            let index = TableIndex::open(&cdx, &opened, &found).unwrap();
            assert_eq!(index.verify(&opened).unwrap(), [], "{key}");
            let order = index.order("V").unwrap().order();
            let text = format!("   1{key}");
            let sought = order.key(&KeyValue::Character(text.as_bytes())).unwrap();
            assert!(order.cursor().seek(&sought, End::First, false).unwrap(), "{key}");
        }
    }
}

/// A type of field with its width, the length of its keys, three values and their keys.
type Case = (char, u16, u16, [Value<'static>; 3], [Vec<u8>; 3]);

#[test]
fn keys_of_a_candidate_index_have_room_for_null() {
    let cases: [Case; 4] = [
        (
            'I',
            4,
            5,
            [Value::Integer(-1), Value::Integer(2), Value::Integer(9)],
            [
                vec![0x7F, 0xFF, 0xFF, 0xFF, 0],
                vec![0x80, 0, 0, 2, 0],
                vec![0x80, 0, 0, 9, 0],
            ],
        ),
        (
            'N',
            5,
            9,
            [Value::Integer(-1), Value::Integer(2), Value::Integer(9)],
            [-1.0, 2.0, 9.0].map(|n| [number(n), vec![0]].concat()),
        ),
        (
            'D',
            8,
            9,
            [Value::Date(0), Value::Date(1), Value::Date(20)],
            [2_440_588.0, 2_440_589.0, 2_440_608.0].map(|n| [number(n), vec![0]].concat()),
        ),
        (
            'C',
            2,
            3,
            [Value::Text("a"), Value::Text("b"), Value::Text("cc")],
            [b"a  ".to_vec(), b"b  ".to_vec(), b"cc ".to_vec()],
        ),
    ];
    for (letter, width, key_len, values, keys) in cases {
        let folder = TempDir::new().unwrap();
        let field = FieldSpec::new("V", letter, width, 0).nullable(true);
        let path = table(folder.path(), Dialect::VisualFoxPro, &[field]);
        append(&path, &[(0, values[1])]);
        append(&path, &[(0, values[0])]);
        let old = [(keys[0].clone(), 2), (keys[1].clone(), 1)];
        std::fs::write(path.with_extension("cdx"), index_of("V", 0x64, key_len, &narrow(&old))).unwrap();
        set_flag(&path);
        assert_eq!(entries(&path), old, "{letter}");

        let mut editor = TableEditor::open(&path, &EditOptions::new(TODAY)).unwrap();
        editor.append_values(&[(0, values[2])]).unwrap();
        assert!(editor.append_values(&[(0, values[1])]).is_err(), "{letter}");
        assert!(editor.append_values(&[(0, Value::Null)]).is_err(), "{letter}");
        let order = editor.order("V").unwrap();
        let sought = match values[1] {
            Value::Integer(n) => KeyValue::Integer(n),
            Value::Date(days) => KeyValue::Date(Some(days)),
            Value::Text(text) => KeyValue::Character(text.as_bytes()),
            _ => continue,
        };
        let key = order.order().key(&sought).unwrap();
        let mut cursor = order.order().cursor();
        assert!(cursor.seek(&key, End::First, false).unwrap(), "{letter}");
        assert_eq!(cursor.recno(), Some(1), "{letter}");
        let stored = order.order().stored_key(&sought).unwrap();
        let is_found = match order.order().value(&stored).unwrap() {
            KeyValue::Number(number) => number == 2.0,
            KeyValue::Character(text) => text == b"b  ",
            value => value == sought,
        };
        assert!(is_found, "{letter}");
        drop((cursor, order, editor));
        let new = [(keys[0].clone(), 2), (keys[1].clone(), 1), (keys[2].clone(), 3)];
        assert_eq!(entries(&path), new, "{letter}");

        let mut editor = TableEditor::open(&path, &EditOptions::new(TODAY)).unwrap();
        editor.reindex(path.with_extension("cdx"), &settings(&path)).unwrap();
        drop(editor);
        assert_eq!(entries(&path), new, "{letter}");

        // One that is made has no such byte: Visual FoxPro makes both.
        make(&path, &[OrderSpec::new("V", "V").candidate(true)]);
        let made: Vec<_> = entries(&path);
        let len = usize::from(key_len) - 1;
        assert!(made.iter().all(|(key, _)| key.len() == len), "{letter}: {made:?}");
    }
}

#[test]
fn new_orders_have_keys_of_the_length_that_visual_foxpro_gives_them() {
    for (letter, width, decimals, expression, key_len) in [
        ('I', 4, 0, "V", 4),
        ('I', 4, 0, "V+1", 8),
        ('N', 5, 1, "V", 8),
        ('B', 8, 2, "V", 8),
        ('C', 5, 0, "UPPER(V)", 5),
        ('D', 8, 0, "V", 8),
        ('L', 1, 0, "V", 1),
    ] {
        for can_be_null in [false, true] {
            let folder = TempDir::new().unwrap();
            let field = FieldSpec::new("V", letter, width, decimals).nullable(can_be_null);
            let path = table(folder.path(), Dialect::VisualFoxPro, &[field]);
            append(&path, &[]);
            if can_be_null {
                append(&path, &[(0, Value::Null)]);
            }
            make(&path, &[OrderSpec::new("V", expression)]);
            let len = key_len + usize::from(can_be_null);
            assert!(
                entries(&path).iter().all(|(key, _)| key.len() == len),
                "{letter} {expression}"
            );
        }
    }
}

fn narrow(keys: &[(Vec<u8>, u32)]) -> Vec<(Vec<u8>, u8)> {
    let keys = keys.iter();
    keys.map(|(key, recno)| (key.clone(), u8::try_from(*recno).unwrap()))
        .collect()
}

fn number(n: f64) -> Vec<u8> {
    let bits = n.to_bits();
    (if n < 0.0 { !bits } else { bits | 1 << 63 }).to_be_bytes().to_vec()
}

fn table(folder: &Path, dialect: Dialect, fields: &[FieldSpec]) -> PathBuf {
    let path = folder.join("t.dbf");
    let mut options = CreateOptions::new(TODAY);
    options.format = dialect;
    TableWriter::create(&path, fields, &options).unwrap().finish().unwrap();
    path
}

fn append(path: &Path, values: &[(usize, Value<'_>)]) {
    let mut editor = TableEditor::open(path, &EditOptions::new(TODAY).production_index(false)).unwrap();
    editor.append_values(values).unwrap();
}

/// Writes bytes of a record behind everything's back.
fn put(path: &Path, record: usize, at: usize, cell: &[u8]) {
    let mut bytes = std::fs::read(path).unwrap();
    let number = |at: usize| usize::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]));
    let begin = number(8) + (record - 1) * number(10) + at;
    bytes[begin..begin + cell.len()].copy_from_slice(cell);
    std::fs::write(path, bytes).unwrap();
}

/// Says in the header that there is a production index.
fn set_flag(path: &Path) {
    let mut bytes = std::fs::read(path).unwrap();
    bytes[28] |= 1;
    std::fs::write(path, bytes).unwrap();
}

fn settings(path: &Path) -> KeySettings {
    KeySettings::new(Table::open(path, &OpenOptions::new()).unwrap().codepage())
}

fn rebuild(path: &Path) {
    let expression = match std::fs::read(path.with_extension("cdx")) {
        Ok(_) => {
            let mut editor = TableEditor::open(path, &EditOptions::new(TODAY).production_index(false)).unwrap();
            return editor.reindex(path.with_extension("cdx"), &settings(path)).unwrap();
        }
        Err(_) => "N",
    };
    make(path, &[OrderSpec::new("V", expression)]);
}

fn make(path: &Path, orders: &[OrderSpec]) {
    let table = Table::open(path, &OpenOptions::new()).unwrap();
    build_index(path.with_extension("cdx"), &table, orders, &settings(path)).unwrap();
    set_flag(path);
}

/// The keys of the order and their records, of an index that is sound.
fn entries(path: &Path) -> Vec<(Vec<u8>, u32)> {
    let table = Arc::new(Table::open(path, &OpenOptions::new()).unwrap());
    let cdx = path.with_extension("cdx");
    for settings in [settings(path), KeySettings::of_index(&cdx, None, &table)] {
        let index = TableIndex::production(&table, &settings).unwrap().unwrap();
        assert_eq!(index.verify(&table).unwrap(), []);
    }
    let index = TableIndex::production(&table, &settings(path)).unwrap().unwrap();
    let entries = index.order("V").unwrap().order().walk(Direction::Forward);
    let entries = entries.map(Result::unwrap);
    entries.map(|entry| (entry.key().to_vec(), entry.recno())).collect()
}
