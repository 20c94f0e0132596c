//! Bitmap filters that orders answer, and the walk along an order.

use std::path::PathBuf;
use std::sync::Arc;

use proptest::prelude::*;
use tidemill_xbase::aof::{Aof, Customize, Filter, FilterOrders, OptimizationLevel, OrderedRecords};
use tidemill_xbase::expression::{
    BinaryOperator, Environment, Letters, Literal, Program, Record, RecordBytes, Syntax, SyntaxKind, Value, parse,
};
use tidemill_xbase::index::{Collation, Direction, OrderSpec};
use tidemill_xbase::{Bitmap, CodePage, KeySettings, OpenOptions, Table, TableIndex, build_index};

use crate::tables::{Random, RandomTable};

const OPERATORS: [BinaryOperator; 7] = [
    BinaryOperator::Equal,
    BinaryOperator::ExactlyEqual,
    BinaryOperator::NotEqual,
    BinaryOperator::Less,
    BinaryOperator::LessOrEqual,
    BinaryOperator::Greater,
    BinaryOperator::GreaterOrEqual,
];

#[test]
fn the_orders_of_harbour_answer_what_a_pass_over_the_records_answers() {
    let mut answered = 0;
    for (table, index, page, language) in [
        ("ord_cdx", "ord_cdx.cdx", CodePage::Cp437, None),
        ("ord_nsx", "ord_nsx.nsx", CodePage::Cp437, None),
        ("ord_ntx", "ord_ntx_ID.ntx", CodePage::Cp437, None),
        ("ord_ntx", "ord_ntx_NUM.ntx", CodePage::Cp437, None),
        ("ord_ntx", "ord_ntx_NUMD.ntx", CodePage::Cp437, None),
        ("ord_ntx", "ord_ntx_DAT.ntx", CodePage::Cp437, None),
        ("ord_ntx", "ord_ntx_LOG.ntx", CodePage::Cp437, None),
        ("ord_ntx", "ord_ntx_CODED.ntx", CodePage::Cp437, None),
        ("cp850de", "cp850de.cdx", CodePage::Cp850, Some("de")),
        ("cp1252es", "cp1252es.cdx", CodePage::Cp1252, Some("es")),
        ("cp866", "cp866.cdx", CodePage::Cp866, Some("ru")),
    ] {
        let (table, environment, index) = golden(table, index, page, language);
        let orders = FilterOrders::new(&table, index.orders()).unwrap();
        for order in index.orders() {
            let expression = parse(&order.order().tag().expression).unwrap();
            let values = values(&table, &expression, &environment);
            for (i, value) in values.iter().step_by(values.len() / 12 + 1).enumerate() {
                for operator in OPERATORS {
                    let Some(literal) = literal(value, page, i + 1) else {
                        continue;
                    };
                    let sides = [expression.clone(), syntax(SyntaxKind::Literal(literal))].map(Box::new);
                    let [left, right] = sides;
                    let condition = syntax(SyntaxKind::Binary(operator, left, right));
                    // An order in another collation than the condition's cannot answer what comes before what.
                    for environment in [environment.clone(), environment.clone().weights(None)] {
                        let filter = Filter::from_syntax(&condition, &table, &environment).unwrap();
                        let expected = filter.bitmap(&table).unwrap();
                        let found = filter.bitmap_by(&table, &orders).unwrap();
                        assert_eq!(found, expected, "{}: {condition}", order.order());
                        answered += u32::from(filter.level(&table, &orders) == OptimizationLevel::Full);
                    }
                }
            }
        }
    }
    assert!(answered > 2000, "{answered}");
}

#[test]
fn levels_follow_the_rules_of_ads() {
    use OptimizationLevel::{Full, None, Part};
    let (table, environment, index) = golden("ord_cdx", "ord_cdx.cdx", CodePage::Cp437, Option::None);
    let all = FilterOrders::new(&table, index.orders()).unwrap();
    let by_code = FilterOrders::new(&table, index.order("T_CODE")).unwrap();
    // CODE has an order, NUM has none here.
    let (full, none) = ("CODE = 'B'", "NUM > 0");
    let part = format!("({full} .AND. {none})");
    for (text, expected) in [
        (full.to_owned(), Full),
        (none.to_owned(), None),
        (part.clone(), Part),
        (format!("{full} .AND. {full}"), Full),
        (format!("{full} .AND. {part}"), Part),
        (format!("{part} .AND. {part}"), Part),
        (format!("{part} .AND. {none}"), Part),
        (format!("{none} .AND. {none}"), None),
        (format!("{full} .OR. {full}"), Full),
        (format!("{full} .OR. {none}"), None),
        (format!("{full} .OR. {part}"), Part),
        (format!("{part} .OR. {part}"), Part),
        (format!("{part} .OR. {none}"), None),
        (format!("{none} .OR. {none}"), None),
        (format!(".NOT. {full}"), Full),
        (format!(".NOT. {part}"), None),
        (format!(".NOT. {none}"), None),
        ("NAME $ 'abc'".to_owned(), None),
    ] {
        let filter = Filter::new(&text, &table, &environment).unwrap();
        assert_eq!(filter.level(&table, &by_code), expected, "{text}");
        assert_eq!(filter.level(&table, &FilterOrders::none()), None, "{text}");
        let bitmap = filter.bitmap(&table).unwrap();
        assert_eq!(filter.bitmap_by(&table, &by_code).unwrap(), bitmap, "{text}");
        assert_eq!(filter.bitmap_by(&table, &all).unwrap(), bitmap, "{text}");
    }
}

#[test]
fn an_order_that_the_table_outgrew_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("grown.dbf");
    let mut bytes = std::fs::read(corpus("ord_cdx.dbf")).unwrap();
    std::fs::write(&path, &bytes).unwrap();
    let settings = KeySettings::new(CodePage::Cp437);
    let before = Table::open(&path, &OpenOptions::new()).unwrap();
    let made = folder.path().join("grown.cdx");
    build_index(&made, &before, &[OrderSpec::new("ID", "ID")], &settings).unwrap();
    let header = before.header().header_len as usize;
    let stride = before.header().record_len as usize;
    let record = bytes[header..header + stride].to_vec();
    let end = header + stride * before.record_count() as usize;
    bytes.truncate(end);
    bytes.extend(record);
    bytes[4..8].copy_from_slice(&(before.record_count() + 1).to_le_bytes());
    std::fs::write(&path, &bytes).unwrap();
    let table = Table::open(&path, &OpenOptions::new()).unwrap();
    let index = TableIndex::open(&made, &table, &settings).unwrap();
    let orders = FilterOrders::new(&table, index.orders()).unwrap();
    let filter = Filter::new("ID > 5", &table, &Environment::new(CodePage::Cp437)).unwrap();
    let error = filter.bitmap_by(&Arc::new(table), &orders).unwrap_err().to_string();
    assert!(
        error.contains("grown.cdx") && error.contains("expected 601 keys") && error.contains("found 600"),
        "{error}"
    );
}

#[test]
fn an_order_that_names_a_record_which_the_table_has_not_got_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.dbf");
    let mut bytes = std::fs::read(corpus("ord_cdx.dbf")).unwrap();
    std::fs::write(&path, &bytes).unwrap();
    let settings = KeySettings::new(CodePage::Cp437);
    let before = Table::open(&path, &OpenOptions::new()).unwrap();
    let made = folder.path().join("cut.cdx");
    build_index(
        &made,
        &before,
        &[OrderSpec::new("SOME", "ID").condition("ID > 0")],
        &settings,
    )
    .unwrap();
    bytes[4..8].copy_from_slice(&300_u32.to_le_bytes());
    std::fs::write(&path, &bytes).unwrap();
    let table = Arc::new(Table::open(&path, &OpenOptions::new()).unwrap());
    let index = TableIndex::open(&made, &table, &settings).unwrap();
    let orders = FilterOrders::new(&table, index.orders()).unwrap();
    let filter = Filter::new("ID > 0", &table, &Environment::new(CodePage::Cp437)).unwrap();
    assert_eq!(filter.bitmap(&table).unwrap().count(), 300);
    let by_order = filter.bitmap_by(&table, &orders).unwrap_err();
    let walk = OrderedRecords::new(&Bitmap::full(300), index.orders()[0].order()).unwrap_err();
    for error in [by_order, walk] {
        let error = error.to_string();
        assert!(
            error.contains("cut.cdx") && error.contains("expected 1 to 300"),
            "{error}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn orders_answer_what_records_do_and_are_walked(seed: u64) {
        let mut random = Random::new(seed);
        let random = &mut random;
        let source = RandomTable::new(random, 300, false);
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("t.dbf"), &source.bytes).unwrap();
        let page = CodePage::Cp437;
        let table = Table::open(folder.path().join("t.dbf"), &OpenOptions::new().codepage(page)).unwrap();
        let table = Arc::new(table);
        let settings = KeySettings::new(page);
        let path = folder.path().join("made.cdx");
        build_index(&path, &table, &specs(&source, random), &settings).unwrap();
        let index = TableIndex::open(&path, &table, &settings).unwrap();
        let orders = FilterOrders::new(&table, index.orders()).unwrap();
        for _ in 0..12 {
            let environment = Environment::new(page).exact(random.below(3) == 0);
            let text = source.condition(random, 3);
            let filter = Filter::new(&text, &table, &environment).unwrap();
            let mut aof = Aof::new(&table, filter.clone(), &orders).unwrap();
            prop_assert_eq!(aof.records(), &filter.bitmap(&table).unwrap(), "{}", &text);
            let order = random.pick(index.orders()).order();
            let walked: Vec<u32> = order.walk(Direction::Forward).map(|entry| entry.unwrap().recno()).collect();
            check_walk(&aof.in_order(order).unwrap(), aof.records(), &walked, random)?;
            if source.rows > 0 {
                let whole = Program::compile(&text, table.fields(), &environment).unwrap();
                check_changes((&mut aof, &whole), &source, &table, random)?;
            }
        }
    }
}

/// Orders over the columns of a table.
fn specs(source: &RandomTable, random: &mut Random) -> Vec<OrderSpec> {
    let mut specs = vec![
        OrderSpec::new("DELETED", "DELETED()"),
        OrderSpec::new("SOME", "RECNO()").condition("RECNO() > 20"),
        OrderSpec::new("UNIQUE", "RECNO() % 7").unique(true),
    ];
    for (i, column) in source.columns.iter().enumerate() {
        let (name, letter) = (&column.name, column.letter);
        let expression = match (letter, random.below(4)) {
            // A double that is no number has no key.
            (b'B', _) => continue,
            (b'C', 0) => format!("UPPER({name})"),
            (b'C', 1) => format!("{name} + STR(RECNO())"),
            _ => name.clone(),
        };
        specs.push(OrderSpec::new(format!("ORDER{i}"), expression).descending(random.below(3) == 0));
    }
    specs
}

/// A walk goes through the members in the order of the entries.
fn check_walk(
    ordered: &OrderedRecords,
    set: &Bitmap,
    walked: &[u32],
    random: &mut Random,
) -> Result<(), TestCaseError> {
    let expected: Vec<u32> = walked.iter().copied().filter(|recno| set.contains(*recno)).collect();
    prop_assert_eq!(ordered.iter().collect::<Vec<_>>(), expected.clone());
    prop_assert_eq!(ordered.count() as usize, expected.len());
    prop_assert_eq!(
        (ordered.first(), ordered.last()),
        (expected.first().copied(), expected.last().copied())
    );
    for (number, recno) in (1..).zip(&expected) {
        prop_assert_eq!(
            (ordered.key_no(*recno), ordered.nth(number)),
            (Some(number), Some(*recno))
        );
    }
    for _ in 0..20 {
        if walked.is_empty() {
            break;
        }
        // From any entry, in the set or not.
        let from = *random.pick(walked);
        let at = walked.iter().position(|recno| *recno == from).unwrap();
        let count = usize::try_from(random.below(9)).unwrap();
        let is_member = |recno: &&u32| set.contains(**recno);
        let (behind, before) = match count {
            0 => (set.contains(from).then_some(&from), set.contains(from).then_some(&from)),
            _ => (
                walked[at + 1..].iter().filter(is_member).nth(count - 1),
                walked[..at].iter().rev().filter(is_member).nth(count - 1),
            ),
        };
        let count = i64::try_from(count).unwrap();
        prop_assert_eq!(ordered.skip(from, count), behind.copied());
        prop_assert_eq!(ordered.skip(from, -count), before.copied());
    }
    Ok(())
}

/// A filter follows what is written and what is done by hand.
fn check_changes(
    (aof, whole): (&mut Aof, &Program),
    source: &RandomTable,
    table: &Arc<Table>,
    random: &mut Random,
) -> Result<(), TestCaseError> {
    let mut expected: Vec<bool> = (1..=source.rows).map(|recno| aof.records().contains(recno)).collect();
    let mut by_hand = vec![false; expected.len()];
    for _ in 0..10 {
        let recno = 1 + u32::try_from(random.below(expected.len() as u64)).unwrap();
        let at = recno as usize - 1;
        if random.below(3) == 0 {
            let change = *random.pick(&[Customize::Add, Customize::Remove, Customize::Toggle]);
            aof.customize(change, &[recno]).unwrap();
            expected[at] = match change {
                Customize::Add => true,
                Customize::Remove => false,
                Customize::Toggle => !expected[at],
            };
            by_hand[at] = true;
        } else {
            // Another record's bytes, at the end or in the place of one that is there.
            let recno = if random.below(3) == 0 {
                aof.records().len() + 1
            } else {
                recno
            };
            let at = recno as usize - 1;
            let (_, bytes) = source
                .records()
                .nth(usize::try_from(random.below(u64::from(source.rows))).unwrap())
                .unwrap();
            let matches = whole.matches(&RecordBytes::new(table, recno, bytes)).unwrap();
            if at == expected.len() {
                expected.push(matches);
                by_hand.push(false);
            } else if !by_hand[at] {
                expected[at] = matches;
            }
            prop_assert_eq!(aof.record_changed(recno, bytes).unwrap(), expected[at]);
        }
        let found: Vec<bool> = (1..=aof.records().len())
            .map(|recno| aof.records().contains(recno))
            .collect();
        prop_assert_eq!(&found, &expected);
    }
    let beyond = aof.records().len() + 1;
    prop_assert!(aof.customize(Customize::Add, &[1, beyond]).is_err());
    prop_assert!(
        aof.record_changed(beyond + 1, source.records().next().unwrap().1)
            .is_err()
    );
    Ok(())
}

fn corpus(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../corpus/xbase")
        .join(name)
}

/// A table of the corpus, its settings, and the index file.
fn golden(table: &str, index: &str, page: CodePage, language: Option<&str>) -> (Arc<Table>, Environment, TableIndex) {
    let table = Table::open(corpus(&format!("{table}.dbf")), &OpenOptions::new().codepage(page)).unwrap();
    let (mut environment, mut settings) = (Environment::new(page), KeySettings::new(page));
    if let Some(language) = language {
        settings = KeySettings::language(page, language).unwrap();
        let collation = Collation::national(language, page).unwrap();
        environment = environment
            .letters(Letters::national(page, &Collation::letters(language).unwrap()))
            .weights(collation.weights().cloned());
    }
    let index = TableIndex::open(corpus(index), &table, &settings).unwrap();
    (Arc::new(table), environment, index)
}

/// What an expression is for each record.
fn values(table: &Arc<Table>, expression: &Syntax, environment: &Environment) -> Vec<Value<'static>> {
    let program = Program::from_syntax(expression, table.fields(), environment).unwrap();
    let bytes = std::fs::read(table.path()).unwrap();
    let records = bytes[table.header().header_len as usize..].chunks_exact(table.header().record_len as usize);
    let records = (1..=table.record_count()).zip(records);
    records
        .map(|(recno, bytes)| {
            let record = RecordBytes::new(table, recno, bytes);
            assert_eq!(record.record_no(), recno);
            program.evaluate_record(&record).unwrap().into_owned()
        })
        .collect()
}

/// A value as it is written, a text cut.
fn literal(value: &Value<'_>, page: CodePage, cut: usize) -> Option<Literal> {
    Some(match value {
        Value::Character(text) => {
            let text = text.get(..cut).unwrap_or(text);
            Literal::Text(page.decode(text))
        }
        Value::Number(number) if *number >= 0.0 => Literal::Number(number.to_string()),
        Value::Logical(value) => Literal::Logical(*value),
        Value::Date(_) => Literal::Date(value.unix_days()),
        _ => return None,
    })
}

fn syntax(kind: SyntaxKind) -> Syntax {
    Syntax { kind, column: 1 }
}
