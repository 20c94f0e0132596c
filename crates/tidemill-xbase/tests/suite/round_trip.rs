//! What the writer writes, the reader reads.

use std::sync::Arc;

use arrow_array::builder::BinaryBuilder;
use arrow_array::{
    Array, ArrayRef, BooleanArray, Date32Array, Decimal128Array, Float64Array, Int32Array, Int64Array, RecordBatch,
    StringArray, Time32MillisecondArray, TimestampMillisecondArray,
};
use arrow_schema::{DataType, Field, Schema};
use arrow_select::concat::concat_batches;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use tidemill_xbase::{
    CivilDate, CodePage, CreateOptions, Deleted, Dialect, FieldSpec, OpenOptions, Scan, Table, TableWriter,
};

const DAY: CivilDate = CivilDate {
    year: 2026,
    month: 11,
    day: 21,
};

/// A field, what is given to it and what comes back.
#[derive(Debug, Clone)]
struct Column {
    spec: FieldSpec,
    given: ArrayRef,
    expected: ArrayRef,
}

fn column(format: Dialect, rows: usize) -> impl Strategy<Value = Column> {
    let vfp = format == Dialect::VisualFoxPro;
    let spec = |letter, width, decimals| FieldSpec::new("X", letter, width, decimals);
    prop_oneof![
        (1u16..80, any::<bool>()).prop_flat_map(move |(width, nullable)| {
            values(text(width), rows).prop_map(move |given| {
                let keep = vfp && nullable;
                let trimmed = |v: &Option<String>| match v {
                    Some(v) => Some(v.trim_end_matches(' ').to_owned()),
                    None => (!keep).then(String::new),
                };
                let expected: StringArray = given.iter().map(trimmed).collect();
                Column {
                    spec: spec('C', width, 0).nullable(nullable),
                    given: Arc::new(StringArray::from(given)),
                    expected: Arc::new(expected),
                }
            })
        }),
        (1u16..60, any::<bool>()).prop_flat_map(move |(width, nullable)| {
            values(text(width), rows).prop_map(move |given| {
                // Outside Visual FoxPro this becomes a field of type C.
                let expected = |v: &Option<String>| match v {
                    Some(v) if vfp => Some(v.clone()),
                    Some(v) => Some(v.trim_end_matches(' ').to_owned()),
                    None => (!(vfp && nullable)).then(String::new),
                };
                let expected: StringArray = given.iter().map(expected).collect();
                Column {
                    spec: spec('V', width, 0).nullable(nullable),
                    given: Arc::new(StringArray::from(given)),
                    expected: Arc::new(expected),
                }
            })
        }),
        (
            values(vec(any::<u8>(), 0..200), rows),
            any::<bool>(),
            proptest::sample::select(vec!['M', 'G', 'P', 'W'])
        )
            .prop_map(move |(given, nullable, letter)| {
                let keep = vfp && nullable;
                let expected: Vec<_> = given
                    .iter()
                    .map(|v| v.clone().or_else(|| (!keep).then(Vec::new)))
                    .collect();
                // Memos of dBASE III hold text only.
                let letter = if format == Dialect::Dbase3 { 'Q' } else { letter };
                if letter == 'Q' {
                    let short: Vec<_> = given.iter().map(|v| Some(v.clone().unwrap_or_default())).collect();
                    return same(spec('Q', 201, 0), binary(&short));
                }
                Column {
                    spec: spec(letter, 10, 0).nullable(nullable).binary(letter == 'M'),
                    given: binary(&given),
                    expected: binary(&expected),
                }
            }),
        (values("[a-zäöü \r\n]{0,900}", rows), any::<bool>()).prop_map(move |(given, nullable)| {
            let keep = vfp && nullable;
            let expected: StringArray = given
                .iter()
                .map(|v| v.clone().or_else(|| (!keep).then(String::new)))
                .collect();
            Column {
                spec: spec('M', 10, 0).nullable(nullable),
                given: Arc::new(StringArray::from(given)),
                expected: Arc::new(expected),
            }
        }),
        (2u16..=18).prop_flat_map(move |width| {
            let most = 10i64.pow(u32::from(width) - 1) - 1;
            values(-most..=most, rows)
                .prop_map(move |given| same(spec('N', width, 0), Arc::new(Int64Array::from(given))))
        }),
        (3u16..=30, 1u8..10, any::<bool>()).prop_flat_map(move |(width, decimals, float)| {
            let width = width.max(u16::from(decimals) + 2);
            let most = 10i128.pow(u32::from(width) - 2) - 1;
            values(-most..=most, rows).prop_map(move |given| {
                let spec = spec(if float { 'F' } else { 'N' }, width, decimals);
                let precision = u8::try_from(width).unwrap().saturating_add(decimals).min(38);
                let array = Decimal128Array::from(given)
                    .with_precision_and_scale(precision, decimals as i8)
                    .unwrap();
                same(spec, Arc::new(array))
            })
        }),
        values(any::<bool>(), rows).prop_map(move |given| same(spec('L', 1, 0), Arc::new(BooleanArray::from(given)))),
        values(-719_162..=2_932_896, rows)
            .prop_map(move |given| same(spec('D', 8, 0), Arc::new(Date32Array::from(given)))),
        values(-62_135_596_800_000i64..=253_402_300_799_999, rows)
            .prop_map(move |given| same(spec('T', 8, 0), Arc::new(TimestampMillisecondArray::from(given)))),
        filled(vfp, any::<i32>(), rows).prop_map(move |(nullable, given)| {
            same(spec('I', 4, 0).nullable(nullable), Arc::new(Int32Array::from(given)))
        }),
        filled(vfp, any::<i64>(), rows).prop_map(move |(nullable, given)| {
            same(spec('I', 8, 0).nullable(nullable), Arc::new(Int64Array::from(given)))
        }),
        filled(vfp, -8_388_608i32..=8_388_607, rows).prop_map(move |(nullable, given)| {
            same(spec('I', 3, 0).nullable(nullable), Arc::new(Int32Array::from(given)))
        }),
        filled(vfp, any::<f64>(), rows).prop_map(move |(nullable, given)| {
            same(spec('B', 8, 0).nullable(nullable), Arc::new(Float64Array::from(given)))
        }),
        filled(vfp, any::<i64>(), rows).prop_map(move |(nullable, given)| {
            let given: Decimal128Array = given.into_iter().map(|v| v.map(i128::from)).collect();
            same(
                spec('Y', 8, 4).nullable(nullable),
                Arc::new(given.with_precision_and_scale(19, 4).unwrap()),
            )
        }),
        filled(vfp, 0..86_400_000i32, rows).prop_map(move |(nullable, given)| {
            same(
                spec('T', 4, 0).nullable(nullable),
                Arc::new(Time32MillisecondArray::from(given)),
            )
        }),
        filled(vfp, vec(any::<u8>(), 0..=20), rows)
            .prop_map(move |(nullable, given)| { same(spec('Q', 20, 0).nullable(nullable), binary(&given)) }),
    ]
}

/// Fields whose type has no blank: null only where a bit keeps it.
fn filled<T: Strategy>(vfp: bool, value: T, rows: usize) -> impl Strategy<Value = (bool, Vec<Option<T::Value>>)> {
    let value = (value, 0..5).prop_map(move |(value, chance)| (!vfp || chance > 0).then_some(value));
    vec(value, rows).prop_map(move |values| (vfp, values))
}

fn values<T: Strategy>(value: T, rows: usize) -> impl Strategy<Value = Vec<Option<T::Value>>> {
    vec(option::weighted(0.8, value), rows)
}

fn text(width: u16) -> impl Strategy<Value = String> {
    vec(
        prop_oneof![Just('ä'), Just('ß'), Just(' '), proptest::char::range('!', '~')],
        0..=usize::from(width),
    )
    .prop_map(|chars| chars.into_iter().collect())
}

fn same(spec: FieldSpec, given: ArrayRef) -> Column {
    Column {
        spec,
        expected: Arc::clone(&given),
        given,
    }
}

fn binary(values: &[Option<Vec<u8>>]) -> ArrayRef {
    let mut builder = BinaryBuilder::new();
    values.iter().for_each(|v| builder.append_option(v.as_deref()));
    Arc::new(builder.finish())
}

fn table() -> impl Strategy<Value = (Dialect, Vec<Column>, Vec<bool>)> {
    let formats = [
        Dialect::Dbase3,
        Dialect::Dbase4,
        Dialect::FoxPro2,
        Dialect::VisualFoxPro,
    ];
    (proptest::sample::select(formats.to_vec()), 0usize..30)
        .prop_flat_map(|(format, rows)| (Just(format), vec(column(format, rows), 1..8), vec(any::<bool>(), rows)))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn tables_come_back((format, columns, deleted) in table(), cut in 0usize..30) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("T.DBF");
        let specs: Vec<FieldSpec> = columns
            .iter()
            .enumerate()
            .map(|(i, c)| { let mut spec = c.spec.clone(); spec.name = format!("F{i}"); spec })
            .collect();
        let fields: Vec<Field> = columns.iter().map(|c| Field::new("x", c.given.data_type().clone(), true)).collect();
        let given = columns.iter().map(|c| Arc::clone(&c.given)).collect();
        let given = RecordBatch::try_new(Arc::new(Schema::new(fields)), given).unwrap();
        let mut writer = TableWriter::create(&path, &specs, &CreateOptions { codepage: CodePage::Cp850, format, ..CreateOptions::new(DAY) }).unwrap();
        let flags = BooleanArray::from(deleted.clone());
        let cut = cut.min(given.num_rows());
        let rest = given.num_rows() - cut;
        writer.write(&given.slice(0, cut), Some(&flags.slice(0, cut))).unwrap();
        writer.write(&given.slice(cut, rest), Some(&flags.slice(cut, rest))).unwrap();
        prop_assert_eq!(writer.finish().unwrap() as usize, deleted.len());

        let table = Arc::new(Table::open(&path, &OpenOptions::new()).unwrap());
        prop_assert_eq!(table.codepage(), CodePage::Cp850);
        prop_assert_eq!(table.header().last_update, Some(DAY));
        prop_assert_eq!(table.deleted_count().unwrap() as usize, deleted.iter().filter(|d| **d).count());
        let names: Vec<_> = table.fields().iter().map(|f| f.name.clone()).collect();
        prop_assert_eq!(names, specs.iter().map(|s| s.name.clone()).collect::<Vec<_>>());
        let scan = Scan::new().deleted(Deleted::Include).batch_rows(11);
        let batches: Vec<RecordBatch> = table.scan(scan).unwrap().map(Result::unwrap).collect();
        let read = concat_batches(&table.schema(), &batches).unwrap();
        for ((field, column), read) in table.fields().iter().zip(&columns).zip(read.columns()) {
            prop_assert_eq!(&field.data_type(), column.expected.data_type());
            prop_assert_eq!(read, &column.expected, "{:?} {:?}", format, &column.spec);
        }
        let verification = table.verify().unwrap();
        prop_assert_eq!((verification.good_records, verification.damage), (table.record_count(), vec![]));

        // A copy made from the schema that was read has the same fields.
        let again = FieldSpec::from_schema(&table.schema()).unwrap();
        let copy = folder.path().join("copy.dbf");
        TableWriter::create(&copy, &again, &CreateOptions { codepage: CodePage::Cp850, format, ..CreateOptions::new(DAY) }).unwrap().finish().unwrap();
        let copy = Table::open(&copy, &OpenOptions::new()).unwrap();
        let types = |t: &Table| t.fields().iter().map(|f| (f.data_type(), f.name.clone())).collect::<Vec<_>>();
        prop_assert_eq!(types(&copy), types(&table));
    }
}

#[test]
fn copies_of_the_goldens_hold_the_same_values() {
    for (name, format) in [
        ("types_cdx", Dialect::FoxPro2),
        ("types_vfp", Dialect::VisualFoxPro),
        ("memo_smt", Dialect::Dbase3),
        ("memo_fptflex", Dialect::Dbase4),
        ("upd_cdx", Dialect::Dbase3),
        ("cp850de", Dialect::FoxPro2),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/xbase/");
        let golden = Table::open(
            format!("{golden}{name}.dbf"),
            &OpenOptions::new().codepage(CodePage::Iso8859_1),
        );
        let golden = Arc::new(golden.unwrap());
        let specs = FieldSpec::from_schema(&golden.schema()).unwrap();
        let options = CreateOptions {
            codepage: CodePage::Iso8859_1,
            format,
            ..CreateOptions::new(DAY)
        };
        let path = folder.path().join("copy.dbf");
        let mut writer = TableWriter::create(&path, &specs, &options).unwrap();
        let read = |table: &Arc<Table>| -> Vec<RecordBatch> {
            table
                .scan(Scan::new().deleted(Deleted::Include))
                .unwrap()
                .map(Result::unwrap)
                .collect()
        };
        read(&golden)
            .iter()
            .for_each(|batch| writer.write(batch, None).unwrap());
        assert_eq!(writer.finish().unwrap(), golden.record_count());
        let copy = Arc::new(Table::open(&path, &OpenOptions::new()).unwrap());
        for (copy, golden) in read(&copy).iter().zip(read(&golden)) {
            for (i, column) in golden.columns().iter().enumerate() {
                assert_eq!(copy.column(i), column, "{name} {}", golden.schema().field(i).name());
            }
        }
    }
}

#[test]
fn what_does_not_fit_is_named() {
    let text: ArrayRef = Arc::new(StringArray::from(vec!["ok", "too long"]));
    let foreign: ArrayRef = Arc::new(StringArray::from(vec!["ok", "€"]));
    let number: ArrayRef = Arc::new(Int64Array::from(vec![1, 1000]));
    let fraction: ArrayRef = Arc::new(StringArray::from(vec!["1", "x"]));
    let missing: ArrayRef = Arc::new(Int32Array::from(vec![Some(1), None]));
    let end: ArrayRef = Arc::new(StringArray::from(vec!["ok", "a\u{1a}b"]));
    for (letter, width, array, expected) in [
        ('C', 4, text, "expected at most 4 bytes, found \"too long\""),
        (
            'C',
            4,
            foreign,
            "expected characters of cp850, which has no '€', found \"€\"",
        ),
        ('N', 3, number, "expected at most 3 characters, found 1000"),
        ('N', 3, fraction, "expected a number, found \"x\""),
        ('I', 4, missing, "expected a value (this type has no blank"),
        ('M', 10, end, "expected a text without 1a"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.dbf");
        let options = CreateOptions {
            codepage: CodePage::Cp850,
            format: Dialect::Dbase3,
            ..CreateOptions::new(DAY)
        };
        let mut writer = TableWriter::create(&path, &[FieldSpec::new("A", letter, width, 0)], &options).unwrap();
        let batch = RecordBatch::try_from_iter([("a", array)]).unwrap();
        writer.write(&batch.slice(0, 1), None).unwrap();
        let error = writer.write(&batch.slice(1, 1), None).unwrap_err().to_string();
        assert!(
            error.contains("t.dbf: record 2, field A: ") && error.contains(expected),
            "{error}"
        );
    }
}

#[test]
fn structures_that_a_format_lacks_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (format, fields, expected) in [
        (
            Dialect::Dbase3,
            vec![],
            "0 columns of 1 bytes a record: a table has 1 to 2046 columns",
        ),
        (
            Dialect::Dbase3,
            vec![FieldSpec::new("ELEVENCHARS", 'L', 1, 0)],
            "1 to 10 bytes",
        ),
        (
            Dialect::Dbase3,
            vec![FieldSpec::new("A", 'L', 1, 0), FieldSpec::new("a", 'L', 1, 0)],
            "must be unique",
        ),
        (Dialect::Dbase3, vec![FieldSpec::new("A", 'W', 10, 0)], "text only"),
        (
            Dialect::VisualFoxPro,
            vec![FieldSpec::new("A", 'C', 255, 0)],
            "column A: text of 255 bytes, and such a field of a Visual FoxPro table has at most 254; make it a memo (M)",
        ),
        (Dialect::FoxPro2, vec![FieldSpec::new("A", 'N', 3, 3)], "decimals"),
        (
            Dialect::FoxPro2,
            vec![FieldSpec::new("A", 'N', 300, 2)],
            "column A: a number of 298 digits, 2 of them decimals, needs 300 characters, and a field has 1 to 255; cast it",
        ),
        (
            Dialect::FoxPro2,
            vec![FieldSpec::new("A", 'X', 3, 0)],
            "no such type as 'X'",
        ),
        (Dialect::Dbase7, vec![FieldSpec::new("A", 'C', 3, 0)], "not written"),
    ] {
        let options = CreateOptions {
            codepage: CodePage::Cp850,
            format,
            ..CreateOptions::new(DAY)
        };
        let error = TableWriter::create(folder.path().join("t.dbf"), &fields, &options)
            .unwrap_err()
            .to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn columns_of_other_arrow_types_are_cast_and_code_pages_without_a_byte_get_a_cpg_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.dbf");
    let text = arrow_array::StringViewArray::from(vec!["grün", "日本"]);
    let codes: arrow_array::DictionaryArray<arrow_array::types::Int8Type> = ["x", "x"].into_iter().collect();
    let numbers = arrow_array::UInt16Array::from(vec![7, 65_535]);
    let batch = RecordBatch::try_from_iter([
        ("name", Arc::new(text) as ArrayRef),
        ("code", Arc::new(codes) as ArrayRef),
        ("number", Arc::new(numbers) as ArrayRef),
    ])
    .unwrap();
    let specs = FieldSpec::from_schema(&batch.schema()).unwrap();
    let options = CreateOptions {
        memo: None,
        codepage: CodePage::Utf8,
        ..CreateOptions::new(DAY)
    };
    let mut writer = TableWriter::create(&path, &specs, &options).unwrap();
    writer.write(&batch, None).unwrap();
    writer.finish().unwrap();
    let table = Arc::new(Table::open(&path, &OpenOptions::new()).unwrap());
    assert_eq!(table.codepage(), CodePage::Utf8);
    let read = table.scan(Scan::new()).unwrap().next().unwrap().unwrap();
    assert_eq!(
        read.column(0).as_ref(),
        &StringArray::from(vec!["grün", "日本"]) as &dyn Array
    );
    assert_eq!(
        read.column(1).as_ref(),
        &StringArray::from(vec!["x", "x"]) as &dyn Array
    );
    assert_eq!(
        read.column(2).as_ref(),
        &Int64Array::from(vec![7, 65_535]) as &dyn Array
    );
    assert_eq!(read.column(2).data_type(), &DataType::Int64);
}
