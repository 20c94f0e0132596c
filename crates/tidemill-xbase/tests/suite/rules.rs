//! Rules of records: default values, what must be there, least and greatest values, conditions.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use tidemill_xbase::expression::Environment;
use tidemill_xbase::{
    AdtType, CivilDate, CreateOptions, Dialect, EditOptions, Error, FieldRuleTexts, FieldSpec, OpenMode, RuleKind,
    RuleTexts, Rules, TableEditor, TableWriter, Value,
};

const DAY: CivilDate = CivilDate {
    year: 2026,
    month: 11,
    day: 27,
};
/// 2026-11-27 12:00.
const NOW: i64 = 1_795_780_800_000;

/// A table NAME, N, D of a format, held to rules.
fn table(folder: &std::path::Path, format: Dialect, texts: &RuleTexts) -> Result<TableEditor, Error> {
    let is_adt = format == Dialect::Adt;
    let path = folder.join(if is_adt { "t.adt" } else { "t.dbf" });
    let fields = match is_adt {
        true => [
            FieldSpec::of_adt("NAME", AdtType::CiCharacter, 10, 0),
            FieldSpec::of_adt("N", AdtType::Integer, 4, 0),
            FieldSpec::of_adt("D", AdtType::Date, 4, 0),
        ],
        false => [
            FieldSpec::new("NAME", 'C', 10, 0),
            FieldSpec::new("N", 'N', 8, 0),
            FieldSpec::new("D", 'D', 8, 0),
        ],
    };
    let mut options = CreateOptions::new(DAY);
    options.format = format;
    TableWriter::create(&path, &fields, &options)?.finish()?;
    let mut editor = TableEditor::open(&path, &EditOptions::new(DAY).mode(OpenMode::Exclusive))?;
    let environment = Environment::new(editor.opened().codepage());
    let rules = Rules::new(texts, editor.opened(), &environment, || NOW)?;
    editor.set_rules(Some(rules));
    Ok(editor)
}

fn of(field: &str, change: impl FnOnce(&mut FieldRuleTexts)) -> FieldRuleTexts {
    let mut rules = FieldRuleTexts {
        field: field.to_owned(),
        ..FieldRuleTexts::default()
    };
    change(&mut rules);
    rules
}

fn rules() -> RuleTexts {
    RuleTexts {
        fields: vec![
            of("name", |name| {
                (name.is_required, name.minimum) = (true, Some("b".to_owned()));
                name.message = Some("a name".to_owned());
            }),
            of("N", |n| {
                (n.default, n.maximum) = (Some("7".to_owned()), Some("99".to_owned()));
            }),
            of("D", |d| {
                (d.default, d.maximum) = (Some("date()".to_owned()), Some("date()".to_owned()));
            }),
        ],
        condition: Some("N <> 13 .OR. NAME = 'luck'".to_owned()),
        ..RuleTexts::default()
    }
}

fn broken(result: Result<impl Sized, Error>) -> Option<RuleKind> {
    match result {
        Err(Error::Rule(broken)) => Some(broken.rule),
        Err(error) => panic!("{error}"),
        Ok(_) => None,
    }
}

#[test]
fn records_are_held_to_rules_in_every_format() {
    let name = |text| (0, Value::Text(text));
    let number = |n| (1, Value::Integer(n));
    for format in [Dialect::Dbase3, Dialect::FoxPro2, Dialect::VisualFoxPro, Dialect::Adt] {
        let folder = tempfile::tempdir().unwrap();
        let mut editor = table(folder.path(), format, &rules()).unwrap();
        let condition = RuleKind::Condition("N <> 13 .OR. NAME = 'luck'".to_owned());
        for (values, rule) in [
            (&[number(1)][..], RuleKind::Required),
            (&[name("a")], RuleKind::Minimum("b".to_owned())),
            (&[name("c"), number(100)], RuleKind::Maximum("99".to_owned())),
            (
                &[name("c"), (2, Value::Date(20_785))],
                RuleKind::Maximum("date()".to_owned()),
            ),
            (&[name("c"), number(13)], condition.clone()),
        ] {
            assert_eq!(
                broken(editor.append_values(values)),
                Some(rule.clone()),
                "{format} {values:?}"
            );
            assert_eq!(
                broken(editor.append_complete(values)),
                Some(rule),
                "{format} {values:?}"
            );
        }
        assert_eq!(editor.record_count(), 0);
        let record = editor.append_values(&[name("luck"), number(13)]).unwrap();
        assert_eq!(broken(editor.replace(record, &[name("lack")])), Some(condition));
        assert_eq!(broken(editor.replace(record, &[number(14)])), None);
        let today = editor.append_values(&[name("c")]).unwrap();
        let bytes = editor.record_bytes(today).unwrap();
        match format {
            Dialect::Adt => assert_eq!(bytes[15..23], [7, 0, 0, 0, 0xBC, 0x8E, 0x25, 0]),
            _ => assert_eq!(&bytes[11..], b"       720261127"),
        }
        // One that is appended to be filled is held to them when it is finished.
        let mut buffer = vec![0; bytes.len()];
        let blank = editor.append_record(&mut buffer).unwrap();
        assert_eq!(broken(editor.finish_appended(blank)), Some(RuleKind::Required));
        editor.delete(blank).unwrap();
        editor.delete(record).unwrap();

        let batch = |names: &[&str]| {
            let columns = [
                ("NAME", names.to_vec()),
                ("N", vec!["5"; names.len()]),
                ("D", vec![""; names.len()]),
            ];
            let arrays = columns.map(|(name, values)| {
                let values = values.into_iter().map(|value| (!value.is_empty()).then_some(value));
                (name, Arc::new(StringArray::from_iter(values)) as ArrayRef)
            });
            RecordBatch::try_from_iter_with_nullable(arrays.map(|(name, array)| (name, array, true))).unwrap()
        };
        let before = editor.record_count();
        assert_eq!(
            broken(editor.append_batch(&batch(&["d", "", "e"]))),
            Some(RuleKind::Required),
            "{format}"
        );
        assert_eq!(editor.record_count(), before);
        assert_eq!(broken(editor.append_batch(&batch(&["d", "e"]))), None);
        assert_eq!(broken(editor.check_records()), None);
        editor.set_rules(None);
        editor.append_values(&[]).unwrap();
        assert!(!editor.has_rules());
    }
}

#[test]
fn a_message_comes_first_and_the_place_behind_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut editor = table(folder.path(), Dialect::Adt, &rules()).unwrap();
    let error = editor.append_values(&[]).unwrap_err().to_string();
    assert!(error.starts_with("a name (/"), "{error}");
    assert!(
        error.ends_with("t.adt: record 1, field NAME: expected a value, found NULL)"),
        "{error}"
    );
}

#[test]
fn rules_that_mean_nothing_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let with = |field: FieldRuleTexts| RuleTexts {
        fields: vec![field],
        ..RuleTexts::default()
    };
    let deep = format!("{}1{} = 1", "(".repeat(5000), ")".repeat(5000));
    let condition = |text: &str| RuleTexts {
        condition: Some(text.to_owned()),
        ..RuleTexts::default()
    };
    for (texts, part) in [
        (with(of("X", |x| x.is_required = true)), "X: there is no such field"),
        (
            with(of("N", |n| n.default = Some("'1'".to_owned()))),
            "expected a value of field N",
        ),
        (
            with(of("N", |n| n.minimum = Some("one".to_owned()))),
            "the least value of N",
        ),
        (with(of("D", |d| d.maximum = Some("1".to_owned()))), "found 1"),
        (condition("N"), "expected a condition"),
        (condition("M = 1"), "M"),
        (condition(&deep), "column"),
        (condition(""), "column 1"),
    ] {
        let error = table(folder.path(), Dialect::Adt, &texts).unwrap_err().to_string();
        assert!(
            error.contains("t.adt: a rule cannot be enforced") && error.contains(part),
            "{error}"
        );
    }
    // Texts need no quotes, and truth no points.
    let texts = with(of("NAME", |name| name.default = Some("plain text".to_owned())));
    let mut editor = table(folder.path(), Dialect::FoxPro2, &texts).unwrap();
    editor.append().unwrap();
    assert_eq!(&editor.record_bytes(1).unwrap()[1..11], b"plain text");
}

/// What a container says of the fields of `ruled.dbf`: default value, rule and the text of the rule.
const RULED: [(&str, &str, &str, &str); 4] = [
    ("customerName", "", "!EMPTY(customerName)", "\"A customer has a name.\""),
    ("creditLimit", "100", "creditLimit >= 0", ""),
    ("since", "DATE()", "", ""),
    ("active", ".T.", "", ""),
];
const RULE: &str = "creditLimit <= 1000 OR active";

/// A table in `folder` whose container has rules, laid into its memo file as Visual FoxPro keeps them.
fn ruled(folder: &Path) -> PathBuf {
    let path = folder.join("ruled.dbf");
    let fields = [
        FieldSpec::new("customerName", 'C', 20, 0),
        FieldSpec::new("creditLimit", 'N', 10, 2).nullable(true),
        FieldSpec::new("since", 'D', 8, 0),
        FieldSpec::new("active", 'L', 1, 0),
    ];
    let mut options = CreateOptions::new(DAY);
    (options.format, options.long_names) = (Dialect::VisualFoxPro, true);
    TableWriter::create(&path, &fields, &options).unwrap().finish().unwrap();
    let said = RULED.map(|(name, default, rule, text)| (name, vec![(0x0B, default), (0x09, rule), (0x0A, text)]));
    say(&path, "ruled", &[(0x09, RULE)]);
    for (name, properties) in said {
        say(&path, name, &properties);
    }
    path
}

/// Adds properties to an object of the table's container.
fn say(table: &Path, object: &str, properties: &[(u8, &str)]) {
    let options = EditOptions::new(DAY).mode(OpenMode::Exclusive);
    let mut container = TableEditor::open(table.with_extension("dbc"), &options).unwrap();
    let place = |name: &str| container.opened().field_index(name).unwrap();
    let (name_at, values_at) = (place("OBJECTNAME"), place("PROPERTY"));
    let name = container.opened().fields()[name_at].clone();
    let wanted = format!("{object:<128}").to_lowercase();
    let record = (1..=container.record_count())
        .rev()
        .find(|record| {
            let bytes = container.record_bytes(*record).unwrap();
            let found = &bytes[name.offset..name.offset + name.width];
            found.eq_ignore_ascii_case(wanted.as_bytes())
        })
        .unwrap();
    let mut bytes = match object {
        "ruled" => [&b"\x08\0\0\0\x01\0\x02\x01\x11\0\0\0\x01\0\x01ruled.dbf\0"[..]].concat(),
        _ => Vec::new(),
    };
    for (number, text) in properties.iter().filter(|(_, text)| !text.is_empty()) {
        bytes.extend(u32::try_from(text.len() + 8).unwrap().to_le_bytes());
        bytes.extend([1, 0, *number]);
        bytes.extend(text.as_bytes());
        bytes.push(0);
    }
    container.replace(record, &[(values_at, Value::Bytes(&bytes))]).unwrap();
}

/// Holds the table of a file to what its container says.
fn held(path: &Path) -> Result<TableEditor, Error> {
    let mut editor = TableEditor::open(path, &EditOptions::new(DAY).mode(OpenMode::Exclusive))?;
    let environment = Environment::new(editor.opened().codepage());
    let texts = RuleTexts::of_container(editor.opened()).unwrap();
    let rules = Rules::new(&texts, editor.opened(), &environment, || NOW)?;
    editor.set_rules(Some(rules));
    Ok(editor)
}

#[test]
fn a_container_holds_its_table_to_rules() {
    let folder = tempfile::tempdir().unwrap();
    let path = ruled(folder.path());
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/xbase/containers");
    for extension in ["dbf", "dbc", "dct", "dcx"] {
        let made = path.with_extension(extension);
        let kept = corpus.join(made.file_name().unwrap());
        assert!(
            std::fs::read(made).unwrap() == std::fs::read(kept).unwrap(),
            "ruled.{extension}"
        );
    }
    let mut editor = held(&path).unwrap();
    let (name, credit, active) = (
        |text| (0, Value::Text(text)),
        |n| (1, Value::Integer(n)),
        |is| (3, Value::Logical(is)),
    );
    // New records begin with the default values.
    let record = editor.append_values(&[name("Anna")]).unwrap();
    assert_eq!(
        editor.record_bytes(record).unwrap().get(1..40),
        Some(&b"Anna                    100.0020261127T"[..])
    );
    let broken = |result: Result<_, Error>| match result {
        Err(Error::Rule(broken)) => broken,
        Err(error) => panic!("{error}"),
        Ok(()) => panic!("it is taken"),
    };
    let nameless = broken(editor.append_values(&[credit(1)]).map(drop));
    assert_eq!(
        (nameless.field.as_deref(), nameless.message.as_deref()),
        (Some("customerName"), Some("A customer has a name."))
    );
    let text = nameless.to_string();
    assert!(
        text.ends_with("record 2, field customerName: expected !EMPTY(customerName), which it does not fulfil)"),
        "{text}"
    );
    let negative = broken(editor.replace(record, &[credit(-1)]));
    assert_eq!(negative.rule, RuleKind::Condition("creditLimit >= 0".to_owned()));
    // What is unknown is not fulfilled.
    broken(editor.replace(record, &[(1, Value::Null)]));
    let whole = broken(editor.replace(record, &[credit(2000), active(false)]));
    assert_eq!((whole.field, whole.rule), (None, RuleKind::Condition(RULE.to_owned())));
    editor.replace(record, &[credit(2000)]).unwrap();
    broken(editor.replace(record, &[active(false)]));
    drop(editor);

    // A field that keeps its value is not looked at.
    let mut free = TableEditor::open(&path, &EditOptions::new(DAY).mode(OpenMode::Exclusive)).unwrap();
    free.replace(record, &[credit(-5)]).unwrap();
    drop(free);
    let mut editor = held(&path).unwrap();
    editor.replace(record, &[name("Berta")]).unwrap();
    broken(editor.replace(record, &[credit(-6)]));
    broken(editor.append_values(&[name("Carl"), credit(-5)]).map(drop));
    editor.delete(record).unwrap();
}

#[test]
fn rules_of_a_container_that_are_not_understood_are_refused() {
    for (object, property, text, part) in [
        (
            "creditLimit",
            0x09,
            "checked(creditLimit)",
            "the condition checked(creditLimit) of creditLimit",
        ),
        (
            "ruled",
            0x09,
            "limits.most > creditLimit",
            "the condition limits.most > creditLimit",
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = ruled(folder.path());
        say(&path, object, &[(property, text)]);
        let error = held(&path).err().unwrap().to_string();
        assert!(
            error.contains("ruled.dbf: a rule cannot be enforced") && error.contains(part),
            "{error}"
        );
    }
    // Where a default value is not understood, new records have to be given one.
    for default in ["newid('ruled')", "plain text", "creditLimit"] {
        let folder = tempfile::tempdir().unwrap();
        let path = ruled(folder.path());
        say(&path, "customerName", &[(0x0B, default)]);
        let mut editor = held(&path).unwrap();
        match editor.append_values(&[]) {
            Err(Error::Rule(broken)) => assert_eq!(broken.rule, RuleKind::Default(default.to_owned())),
            other => panic!("{other:?}"),
        }
        let record = editor.append_values(&[(0, Value::Text("Anna"))]).unwrap();
        editor.replace(record, &[(0, Value::Text(""))]).unwrap();
    }
    // A text that is more than a text in quotation marks is not shown.
    let folder = tempfile::tempdir().unwrap();
    let path = ruled(folder.path());
    say(&path, "customerName", &[(0x09, ".F."), (0x0A, "message(1)")]);
    match held(&path).unwrap().append_values(&[]) {
        Err(Error::Rule(broken)) => assert_eq!(broken.message, None),
        other => panic!("{other:?}"),
    }
}
