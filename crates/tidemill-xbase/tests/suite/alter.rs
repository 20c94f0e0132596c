//! Tables of another structure: what is kept stays, what changes is converted or refused, and nothing else happens.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_cast::display::array_value_to_string;
use proptest::prelude::*;
use tempfile::TempDir;
use tidemill_xbase::{
    Alteration, Blank, CivilDate, CreateOptions, Deleted, Dialect, Durability, EditOptions, Error, FieldKind,
    FieldSpec, KeySettings, LogOptions, MemoDialect, OpenMode, OpenOptions, Scan, Table, TableEditor, TableIndex,
    TableWriter, TransactionLog, Value,
};

const TODAY: CivilDate = CivilDate {
    year: 2026,
    month: 11,
    day: 21,
};

/// New numbers for the records that are there, and counting on behind them; deleted records have theirs too.
#[test]
fn a_counter_that_is_added_numbers_the_records_and_counts_on() {
    for format in [Dialect::VisualFoxPro, Dialect::FoxPro2] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.dbf");
        let options = CreateOptions {
            format,
            ..CreateOptions::new(TODAY)
        };
        let fields = [FieldSpec::new("OLD", 'I', 4, 0), FieldSpec::new("NAME", 'C', 5, 0)];
        TableWriter::create(&path, &fields, &options).unwrap().finish().unwrap();
        let mut table = TableEditor::open(&path, &EditOptions::new(TODAY)).unwrap();
        for old in [7, -3, 40, 12] {
            table
                .append_values(&[(0, Value::Integer(old)), (1, Value::Text("n"))])
                .unwrap();
        }
        table.delete(2).unwrap();
        let counter = |name: &str| FieldSpec::new(name, '+', 4, 0).autoincrement(true);
        let added = Alteration::of(table.fields())
            .insert_field("NAME", counter("ID"))
            .unwrap();
        table.alter(&added).unwrap();
        let numbers = |table: &mut TableEditor, field: usize| -> Vec<i64> {
            let table = Arc::new(table.table().unwrap());
            let mut numbers = Vec::new();
            for batch in table
                .scan(Scan::new().projection(vec![field]).deleted(Deleted::Include))
                .unwrap()
            {
                let batch = batch.unwrap();
                let texts = (0..batch.num_rows()).map(|row| array_value_to_string(batch.column(0), row).unwrap());
                numbers.extend(texts.map(|text| text.parse::<i64>().unwrap()));
            }
            numbers
        };
        assert_eq!(numbers(&mut table, 1), [1, 2, 3, 4], "{format}");
        assert_eq!(numbers(&mut table, 0), [7, -3, 40, 12]);
        table.append_values(&[(0, Value::Integer(1))]).unwrap();
        assert_eq!(numbers(&mut table, 1), [1, 2, 3, 4, 5]);

        // A field of integers keeps its values, and one that counts what it has counted.
        table.delete(3).unwrap();
        table.pack().unwrap();
        let becomes = Alteration::of(table.fields())
            .change_field("OLD", counter("OLD"))
            .unwrap();
        let becomes = becomes.change_field("ID", counter("ID")).unwrap();
        table.alter(&becomes).unwrap();
        table.append().unwrap();
        assert_eq!(numbers(&mut table, 0), [7, 12, 1, 13], "{format}");
        assert_eq!(numbers(&mut table, 1), [1, 4, 5, 6]);
        drop(table);
        let table = Table::open(&path, &OpenOptions::new()).unwrap();
        let version = if format == Dialect::VisualFoxPro { 0x31 } else { 0x03 };
        assert_eq!(table.header().version, version);
        assert_eq!(table.fields()[0].autoincrement.map(|counter| counter.next), Some(14));
        assert_eq!(Arc::new(table).verify().unwrap().damage, []);
    }
}

#[test]
fn every_golden_keeps_its_values_when_fields_around_them_come_go_and_are_renamed() {
    let mut refused = 0;
    for name in goldens() {
        let copy = Copy::of(&name);
        let (before, fields) = (copy.rows(), copy.table().fields().to_vec());
        let mut table = copy.edit();
        let dropped = fields.len() / 2;
        let alteration = Alteration::of(&fields)
            .insert_field(&fields[0].name, FieldSpec::new("FIRST", 'N', 7, 2))
            .unwrap()
            .rename_field(&fields[0].name, "RENAMED")
            .unwrap();
        let dropped_name = if dropped == 0 { "RENAMED" } else { &fields[dropped].name };
        let alteration = alteration
            .drop_field(dropped_name)
            .unwrap()
            .add_field(FieldSpec::new("LAST", 'C', 300, 0));
        if table.header().dialect == Dialect::VisualFoxPro {
            assert!(
                matches!(table.alter(&alteration), Err(Error::Misuse(_))),
                "254 bytes at most"
            );
            drop(table);
            assert_eq!(copy.rows(), before);
            continue;
        }
        match table.alter(&alteration) {
            Ok(()) => {}
            // An order needs the field that would go.
            Err(Error::Order { .. }) => {
                refused += 1;
                drop(table);
                assert_eq!(copy.rows(), before);
                copy.assert_orders();
                continue;
            }
            Err(e) => panic!("{name}: {e}"),
        }
        assert_eq!(table.fields()[0].name, "FIRST");
        let appended = table.append_values(&[(0, Value::Integer(5))]).unwrap();
        assert_eq!(appended as usize, before.num_rows() + 1);
        drop(table);
        let table = copy.table();
        assert_eq!(table.verify().unwrap().damage, [], "{name}");
        assert_eq!(table.header().last_update, Some(TODAY));
        let after = copy.rows();
        let kept: Vec<usize> = (0..fields.len()).filter(|index| *index != dropped).collect();
        assert_eq!(after.num_columns(), kept.len() + 2);
        let head = after.slice(0, before.num_rows());
        for (new, old) in kept.iter().enumerate() {
            assert_eq!(
                head.column(new + 1),
                before.column(*old),
                "{name}: {}",
                fields[*old].name
            );
        }
        assert_eq!(head.column(0).null_count(), before.num_rows());
        copy.assert_only_files();
        copy.assert_orders();
    }
    assert!(refused > 0);
}

#[test]
fn orders_follow_their_fields_to_new_places_and_types() {
    for name in ["ord_cdx", "upd_cdx"] {
        let copy = Copy::of(name);
        let mut table = copy.edit();
        let alteration = Alteration::of(table.fields())
            .insert_field("ID", FieldSpec::new("FIRST", 'C', 30, 0))
            .unwrap()
            .change_field("NAME", FieldSpec::new("NAME", 'C', 35, 0))
            .unwrap();
        table.alter(&alteration).unwrap();
        table.append_values(&[(0, Value::Text("new"))]).unwrap();
        table.delete(3).unwrap();
        drop(table);
        copy.assert_orders();
    }
}

#[test]
fn an_alteration_that_changes_nothing_leaves_every_byte_of_the_records() {
    for name in goldens() {
        let copy = Copy::of(&name);
        let before = std::fs::read(&copy.path).unwrap();
        let (first, count) = {
            let table = copy.table();
            (table.header().header_len as usize, table.record_count() as usize)
        };
        let mut table = copy.edit();
        table.alter(&Alteration::of(table.fields())).unwrap();
        let (header_len, stride) = (table.header().header_len as usize, table.header().record_len as usize);
        drop(table);
        let after = std::fs::read(&copy.path).unwrap();
        assert_eq!(
            after[header_len..][..count * stride],
            before[first..][..count * stride],
            "{name}"
        );
        assert_eq!(after.len(), header_len + count * stride + 1);
        // Descriptors count on: autoincrement and row versions.
        let descriptors = |bytes: &[u8], end: usize| bytes[32..end.min(bytes.len())].to_vec();
        let end = before[32..].chunks(32).position(|d| d[0] == 0x0D).unwrap() * 32 + 32;
        assert_eq!(descriptors(&after, end), descriptors(&before, end), "{name}");
    }
}

#[test]
fn values_are_converted_and_the_first_that_does_not_fit_is_refused_with_its_record() {
    let fields = [
        FieldSpec::new("CODE", 'C', 8, 0),
        FieldSpec::new("AMT", 'N', 8, 2),
        FieldSpec::new("DAY", 'D', 8, 0),
        FieldSpec::new("PAID", 'L', 1, 0),
        FieldSpec::new("NOTE", 'M', 10, 0),
    ];
    let shop = New::with(&fields, Dialect::FoxPro2);
    let amount = |unscaled| Value::Decimal { unscaled, scale: 2 };
    let mut table = shop.edit();
    for (code, amt, day, paid, note) in [("12", 1250, 20_000, true, "short"), ("", -700, 19_999, false, "")] {
        let values = [
            (0, Value::Text(code)),
            (1, amount(amt)),
            (2, Value::Date(day)),
            (3, Value::Logical(paid)),
            (4, Value::Text(note)),
        ];
        table.append_values(&values).unwrap();
    }
    table.append().unwrap();
    table.delete(2).unwrap();
    table.flush().unwrap();

    let spec = FieldSpec::new;
    let before = shop.files();
    let bytes: Vec<_> = before.iter().map(|path| std::fs::read(path).unwrap()).collect();
    for (field, to, message) in [
        (
            "AMT",
            spec("AMT", 'N', 4, 0),
            "record 1, field AMT: expected a number with at most 0 decimals",
        ),
        (
            "AMT",
            spec("AMT", 'D', 8, 0),
            "record 1, field AMT: expected a date, found 12.50",
        ),
        (
            "CODE",
            spec("CODE", 'I', 1, 0),
            "record 2, field CODE: expected a value: the type has no blank",
        ),
        (
            "DAY",
            spec("DAY", 'C', 7, 0),
            "record 1, field DAY: expected at most 7 bytes, found \"20241004\"",
        ),
        (
            "NOTE",
            spec("NOTE", 'C', 4, 0),
            "record 1, field NOTE: expected at most 4 bytes, found \"short\"",
        ),
        (
            "NOTE",
            spec("NOTE", 'L', 1, 0),
            "record 1, field NOTE: expected T, F, Y or N, found \"short\"",
        ),
    ] {
        let alteration = Alteration::of(table.fields()).change_field(field, to).unwrap();
        let refused = table.alter(&alteration).unwrap_err();
        assert!(matches!(refused, Error::Value(_)), "{refused}");
        assert!(refused.to_string().contains(message), "{refused}");
        assert_eq!(shop.files().len(), before.len());
        assert_eq!(
            before
                .iter()
                .map(|path| std::fs::read(path).unwrap())
                .collect::<Vec<_>>(),
            bytes
        );
    }
    let alteration = Alteration::of(table.fields())
        .change_field("CODE", spec("NUMBER", 'N', 5, 1))
        .unwrap()
        .change_field("AMT", spec("TEXT", 'C', 8, 0))
        .unwrap()
        .change_field("DAY", spec("MOMENT", 'T', 8, 0))
        .unwrap()
        .change_field("PAID", spec("LETTER", 'M', 10, 0))
        .unwrap()
        .change_field("NOTE", spec("WORD", 'C', 5, 0))
        .unwrap();
    table.alter(&alteration).unwrap();
    table
        .append_values(&[(0, Value::Integer(1)), (3, Value::Text("again"))])
        .unwrap();
    drop(table);
    assert_eq!(
        shop.rows(),
        [
            " 12.0|12.50|2024-10-04T00:00:00|T|short",
            "*|-7.00|2024-10-03T00:00:00|F|",
            " ||||",
            " 1.0|||again|"
        ]
    );
}

/// Also where a program sees them as 0 and false.
#[test]
fn blank_numbers_and_logicals_stay_blank() {
    let fields = [
        FieldSpec::new("QTY", 'N', 5, 0),
        FieldSpec::new("AMT", 'F', 8, 2),
        FieldSpec::new("PAID", 'L', 1, 0),
    ];
    for format in [Dialect::Dbase3, Dialect::FoxPro2, Dialect::VisualFoxPro] {
        for blank in [Blank::Zero, Blank::Null] {
            let shop = New::with(&fields, format);
            let options = EditOptions::new(TODAY).open(OpenOptions::new().blank(blank));
            let mut table = TableEditor::open(&shop.path, &options).unwrap();
            table.append_values(&[(0, Value::Integer(7))]).unwrap();
            table.append_values(&[(2, Value::Logical(true))]).unwrap();
            let altered = Alteration::of(table.fields())
                .change_field("QTY", FieldSpec::new("QTY", 'N', 9, 2))
                .unwrap()
                .change_field("AMT", FieldSpec::new("AMT", 'C', 10, 0))
                .unwrap()
                .change_field("PAID", FieldSpec::new("IS_PAID", 'C', 1, 0))
                .unwrap();
            table.alter(&altered).unwrap();
            drop(table);
            assert_eq!(shop.rows(), [" 7.00||", " ||T"], "{format} {blank:?}");
        }
    }
}

#[test]
fn memos_come_with_their_first_field_and_go_with_their_last() {
    for (format, memo, extension, with, without) in [
        (Dialect::Dbase3, None, "fpt", 0xF5, 0x03),
        (Dialect::Dbase3, Some(MemoDialect::Dbt3), "dbt", 0x83, 0x03),
        (Dialect::FoxPro2, Some(MemoDialect::FptSix), "fpt", 0xF5, 0x03),
        (Dialect::FoxPro2, Some(MemoDialect::Smt), "smt", 0xE5, 0x03),
        (Dialect::VisualFoxPro, None, "fpt", 0x30, 0x30),
    ] {
        let shop = New::with(&[FieldSpec::new("NAME", 'C', 10, 0)], format);
        let log = TransactionLog::open(
            shop.path.with_extension("tmlog"),
            &LogOptions::new().durability(Durability::None),
        );
        let log = log.unwrap();
        let mut table = TableEditor::open(&shop.path, &EditOptions::new(TODAY).log(&log)).unwrap();
        for name in ["one", "two", ""] {
            table.append_values(&[(0, Value::Text(name))]).unwrap();
        }
        let mut alteration = Alteration::of(table.fields()).add_field(FieldSpec::new("NOTE", 'M', 10, 0));
        if let Some(memo) = memo {
            alteration = alteration.memo(memo);
        }
        let transaction = log.begin().unwrap();
        assert!(
            matches!(table.alter(&alteration), Err(Error::Misuse(_))),
            "not in a transaction"
        );
        drop(transaction);
        table.alter(&alteration).unwrap();
        table.replace(2, &[(1, Value::Text("a note"))]).unwrap();
        let long = "long ".repeat(500);
        table
            .append_values(&[(0, Value::Text("four")), (1, Value::Text(&long))])
            .unwrap();
        let shown = [
            " one|".to_owned(),
            " two|a note".to_owned(),
            " |".to_owned(),
            format!(" four|{long}"),
        ];
        log.checkpoint().unwrap();
        assert_eq!(shop.rows(), shown, "{format}");
        assert_eq!(std::fs::read(&shop.path).unwrap()[0], with, "{format} {memo:?}");
        assert!(shop.path.with_extension(extension).exists());

        let alteration = Alteration::of(table.fields())
            .change_field("NAME", FieldSpec::new("NAME", 'M', 10, 0))
            .unwrap();
        table.alter(&alteration).unwrap();
        log.checkpoint().unwrap();
        assert_eq!(shop.rows(), shown, "{format}");

        let alteration = Alteration::of(table.fields())
            .change_field("NAME", FieldSpec::new("NAME", 'C', 4, 0))
            .unwrap();
        table.alter(&alteration.drop_field("NOTE").unwrap()).unwrap();
        table.append_values(&[(0, Value::Text("five"))]).unwrap();
        drop(table);
        assert_eq!(shop.rows(), [" one", " two", " ", " four", " five"]);
        assert_eq!(std::fs::read(&shop.path).unwrap()[0], without);
        assert_eq!(shop.files().len(), 2, "the table and the log");
    }
}

#[test]
fn orders_follow_with_keys_as_long_as_their_fields_are_now() {
    let copy = Copy::of("ord_cdx");
    let mut table = copy.edit();
    let alteration = Alteration::of(table.fields())
        .change_field("CODE", FieldSpec::new("CODE", 'C', 9, 0))
        .unwrap();
    table.alter(&alteration).unwrap();
    let record = table.append_values(&[(2, Value::Text("ZZZZZZZZZ"))]).unwrap();
    table.delete(5).unwrap();
    table.sync().unwrap();
    drop(table);
    let table = copy.table();
    let index = TableIndex::production(&table, &KeySettings::new(table.codepage()))
        .unwrap()
        .unwrap();
    assert_eq!(index.verify(&table).unwrap(), []);
    assert_eq!(index.orders().len(), 22);
    let by_code = index.order("T_CODE").unwrap();
    assert_eq!(by_code.keys().key_len(), 9);
    let mut cursor = by_code.order().cursor();
    assert!(cursor.go_last().unwrap());
    assert_eq!((cursor.key(), cursor.recno()), (Some(&b"ZZZZZZZZZ"[..]), Some(record)));
}

#[test]
fn what_no_table_can_be_is_refused() {
    let shop = New::with(
        &[FieldSpec::new("NAME", 'C', 10, 0), FieldSpec::new("B", 'L', 1, 0)],
        Dialect::Dbase3,
    );
    let mut table = shop.edit();
    table.append().unwrap();
    table.flush().unwrap();
    let before = std::fs::read(&shop.path).unwrap();
    let fields = table.fields().to_vec();
    let same = || Alteration::of(&fields);
    assert!(matches!(same().drop_field("C"), Err(Error::Misuse(_))));
    for alteration in [
        same().drop_field("NAME").unwrap().drop_field("B").unwrap(),
        same().rename_field("NAME", "B").unwrap(),
        same().rename_field("NAME", "ELEVENBYTES").unwrap(),
        same().add_field(FieldSpec::new("X", '?', 1, 0)),
        same().add_field(FieldSpec::new("X", 'C', 65535, 0)),
        same()
            .add_field(FieldSpec::new("X", 'M', 10, 0))
            .memo(MemoDialect::Dbt4),
    ] {
        assert!(
            matches!(table.alter(&alteration), Err(Error::Misuse(_))),
            "{alteration:?}"
        );
    }
    // A memo file of somebody else is not overwritten.
    std::fs::write(shop.path.with_extension("fpt"), b"mine").unwrap();
    assert!(matches!(
        table.alter(&same().add_field(FieldSpec::new("X", 'M', 10, 0))),
        Err(Error::Misuse(_))
    ));
    assert_eq!(std::fs::read(shop.path.with_extension("fpt")).unwrap(), b"mine");
    drop(table);
    assert_eq!(std::fs::read(&shop.path).unwrap(), before);
    assert_eq!(shop.files().len(), 2);
    let mut shared = TableEditor::open(&shop.path, &EditOptions::new(TODAY).mode(OpenMode::Shared)).unwrap();
    assert!(matches!(shared.alter(&same()), Err(Error::Misuse(_))));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_fields_that_are_left_have_their_values_whichever_go(name in 0usize..3, keep in proptest::collection::vec(any::<bool>(), 40)) {
        let copy = Copy::of(["types_vfp", "types_cdx", "memo_smt"][name]);
        let (before, fields) = (copy.rows(), copy.table().fields().to_vec());
        let kept: Vec<usize> = (0..fields.len()).filter(|index| keep[*index] || *index == 0).collect();
        let mut alteration = Alteration::of(&fields);
        for (index, field) in fields.iter().enumerate() {
            if !kept.contains(&index) {
                alteration = alteration.drop_field(&field.name).unwrap();
            }
        }
        let mut table = copy.edit();
        // An order may need a field that goes.
        let altered = table.alter(&alteration);
        prop_assume!(!matches!(altered, Err(Error::Order { .. })));
        altered.unwrap();
        drop(table);
        let after = copy.rows();
        prop_assert_eq!(after.num_columns(), kept.len());
        for (new, old) in kept.iter().enumerate() {
            prop_assert_eq!(after.column(new), before.column(*old), "{}", &fields[*old].name);
        }
        let has_memos = kept.iter().any(|index| fields[*index].kind.uses_memo());
        prop_assert_eq!(copy.table().memo().is_some(), has_memos);
    }
}

/// A new table in a folder of its own.
struct New {
    folder: TempDir,
    path: PathBuf,
}

impl New {
    fn with(fields: &[FieldSpec], format: Dialect) -> Self {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("t.dbf");
        let mut options = CreateOptions::new(TODAY);
        options.format = format;
        TableWriter::create(&path, fields, &options).unwrap().finish().unwrap();
        Self { folder, path }
    }

    fn edit(&self) -> TableEditor {
        TableEditor::open(&self.path, &EditOptions::new(TODAY)).unwrap()
    }

    fn files(&self) -> Vec<PathBuf> {
        std::fs::read_dir(self.folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect()
    }

    /// Deletion flag and values of each record.
    fn rows(&self) -> Vec<String> {
        let rows = all(&self.path);
        let bytes = std::fs::read(&self.path).unwrap();
        let table = Table::open(&self.path, &OpenOptions::new()).unwrap();
        let (header, stride) = (table.header().header_len as usize, table.header().record_len as usize);
        let row = |row: usize| {
            let cells: Vec<_> = rows
                .columns()
                .iter()
                .map(|c| array_value_to_string(c, row).unwrap())
                .collect();
            format!("{}{}", char::from(bytes[header + row * stride]), cells.join("|"))
        };
        (0..rows.num_rows()).map(row).collect()
    }
}

/// A golden in a folder of its own.
struct Copy {
    folder: TempDir,
    path: PathBuf,
    files: usize,
}

impl Copy {
    fn of(name: &str) -> Self {
        let folder = TempDir::new().unwrap();
        let mut files = 0;
        // The other indexes are sorted as their languages do.
        let index = ["ord_cdx", "upd_cdx", "types_vfp"].contains(&name).then_some("cdx");
        for extension in ["dbf", "dbt", "fpt", "smt"].into_iter().chain(index) {
            let from = corpus().join(format!("{name}.{extension}"));
            if from.is_file() {
                std::fs::copy(&from, folder.path().join(format!("{name}.{extension}"))).unwrap();
                files += 1;
            }
        }
        let path = folder.path().join(format!("{name}.dbf"));
        Self { folder, path, files }
    }

    fn edit(&self) -> TableEditor {
        TableEditor::open(&self.path, &EditOptions::new(TODAY)).unwrap()
    }

    fn table(&self) -> Arc<Table> {
        Arc::new(Table::open(&self.path, &OpenOptions::new()).unwrap())
    }

    fn rows(&self) -> RecordBatch {
        all(&self.path)
    }

    fn assert_orders(&self) {
        let table = self.table();
        if self.path.with_extension("cdx").exists() {
            let index = TableIndex::production(&table, &KeySettings::new(table.codepage()))
                .unwrap()
                .unwrap();
            assert_eq!(index.verify(&table).unwrap(), []);
        }
    }

    fn assert_only_files(&self) {
        let left = std::fs::read_dir(self.folder.path()).unwrap().count();
        let memo_gone =
            self.table().memo().is_none() && !self.table().fields().iter().any(|f| f.kind == FieldKind::Memo);
        assert!(
            left == self.files || (memo_gone && left < self.files),
            "{left} of {}",
            self.files
        );
    }
}

fn all(path: &Path) -> RecordBatch {
    let table = Arc::new(Table::open(path, &OpenOptions::new()).unwrap());
    assert_eq!(table.verify().unwrap().damage, [], "{}", path.display());
    let scan = table.scan(Scan::new().deleted(Deleted::Include)).unwrap();
    let batches: Vec<_> = scan.map(Result::unwrap).collect();
    arrow_select::concat::concat_batches(&table.schema(), &batches).unwrap()
}

fn goldens() -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(corpus())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "dbf") && !path.ends_with("big_cdx.dbf"))
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    names.sort();
    assert!(names.len() >= 26, "{names:?}");
    names
}

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/xbase")
}
