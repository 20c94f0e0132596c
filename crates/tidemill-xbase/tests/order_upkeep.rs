//! Orders that follow the changes of their table.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::fs;
use std::path::{Path, PathBuf};

use tidemill_xbase::index::{Direction, Index, IndexOptions, OrderSpec};
use tidemill_xbase::{CivilDate, CreateOptions, EditOptions, FieldSpec, TableEditor, TableWriter, Value};

const TODAY: CivilDate = CivilDate {
    year: 2026,
    month: 11,
    day: 21,
};

/// The generator that the golden files were made with: its product was a double.
struct Harbour(f64);

impl Harbour {
    fn rnd(&mut self, below: i64) -> i64 {
        self.0 = (self.0 * 1_103_515_245.0 + 12_345.0) % 2_147_483_648.0;
        (self.0 / 65_536.0) as i64 % below
    }

    fn word(&mut self, most: i64) -> String {
        let letters = 1 + self.rnd(most);
        (0..letters)
            .map(|_| {
                let base = if self.rnd(4) == 0 { b'A' } else { b'a' };
                char::from(base + u8::try_from(self.rnd(26)).unwrap())
            })
            .collect()
    }

    fn code(&mut self) -> String {
        let mut letter = || char::from(b'A' + u8::try_from(self.rnd(6)).unwrap());
        let (first, second) = (letter(), letter());
        format!("{first}{second}{}.", self.rnd(10))
    }

    fn amount(&mut self) -> Value<'static> {
        Value::Decimal {
            unscaled: i128::from(self.rnd(30_000) - 15_000),
            scale: 2,
        }
    }

    /// A row's values, and whether it is deleted.
    fn row(&mut self, id: i64) -> (String, String, Vec<(usize, Value<'static>)>, bool) {
        let mut values = vec![(0, Value::Integer(id))];
        let name = if self.rnd(20) == 0 {
            String::new()
        } else {
            self.word(15)
        };
        let code = self.code();
        if self.rnd(25) != 0 {
            values.push((3, self.amount()));
        }
        if self.rnd(15) != 0 {
            // Days from 1999-01-01.
            values.push((4, Value::Date(10_592 + i32::try_from(self.rnd(4000)).unwrap())));
        }
        values.push((5, Value::Logical(self.rnd(2) == 0)));
        (name, code, values, self.rnd(12) == 0)
    }
}

fn fields() -> [FieldSpec; 6] {
    [
        FieldSpec::new("ID", 'N', 8, 0),
        FieldSpec::new("NAME", 'C', 15, 0),
        FieldSpec::new("CODE", 'C', 4, 0),
        FieldSpec::new("NUM", 'N', 10, 2),
        FieldSpec::new("DAT", 'D', 8, 0),
        FieldSpec::new("LOG", 'L', 1, 0),
    ]
}

fn orders() -> Vec<OrderSpec> {
    vec![
        OrderSpec::new("T_NAME", "NAME"),
        OrderSpec::new("T_CODE", "CODE"),
        OrderSpec::new("T_CODEU", "CODE").unique(true),
        OrderSpec::new("T_NUM", "NUM").descending(true),
        OrderSpec::new("T_DAT", "DAT"),
        OrderSpec::new("T_FOR", "UPPER(NAME)").condition("NUM > 0"),
    ]
}

#[test]
fn the_changes_that_harbour_made_give_the_orders_that_harbour_has() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("upd_cdx.dbf");
    TableWriter::create(&path, &fields(), &CreateOptions::new(TODAY))
        .unwrap()
        .finish()
        .unwrap();
    let mut table = TableEditor::open(&path, &EditOptions::new(TODAY)).unwrap();
    for order in orders() {
        table.create_order(&order).unwrap();
    }
    let mut random = Harbour(99.0);
    for n in 1..=3000 {
        let choice = random.rnd(10);
        if choice < 5 || table.record_count() < 50 {
            let (name, code, mut values, is_deleted) = random.row(n);
            values.extend([(1, Value::Text(&name)), (2, Value::Text(&code))]);
            let record = table.append_values(&values).unwrap();
            if is_deleted {
                table.delete(record).unwrap();
            }
            continue;
        }
        let record = 1 + u32::try_from(random.rnd(table.record_count().into())).unwrap();
        if choice < 9 {
            let (name, amount, code) = (random.word(15), random.amount(), random.code());
            let values = [(1, Value::Text(&name)), (3, amount), (2, Value::Text(&code))];
            table.replace(record, &values).unwrap();
        } else if table.is_deleted(record).unwrap() {
            table.recall(record).unwrap();
        } else {
            table.delete(record).unwrap();
        }
    }
    let golden = fs::read(corpus("upd_cdx.dbf")).unwrap();
    let header_len = usize::from(u16::from_le_bytes([golden[8], golden[9]]));
    let stride = table.header().record_len as usize;
    assert_eq!(table.record_count(), 1595);
    for record in 1..=table.record_count() {
        let expected = &golden[header_len + (record as usize - 1) * stride..][..stride];
        assert_eq!(table.record_bytes(record).unwrap(), expected, "record {record}");
    }
    table.sync().unwrap();
    let made = Index::open(folder.path().join("upd_cdx.cdx"), &IndexOptions::new()).unwrap();
    let golden = Index::open(corpus("upd_cdx.cdx"), &IndexOptions::new()).unwrap();
    let mut entries = 0;
    for tag in golden.tags() {
        let order = table.order(&tag.name).unwrap();
        let (key_type, collation) = (order.keys().key_type(), Default::default());
        let walk = |index: &Index| -> Vec<(Vec<u8>, u32)> {
            let order = index.order(&tag.name, key_type, &collation).unwrap();
            assert_eq!(index.verify(&[order.clone()], Some(table.record_count())).unwrap(), []);
            let walk = order.walk(Direction::Forward).map(Result::unwrap);
            walk.map(|entry| (entry.key().to_vec(), entry.recno())).collect()
        };
        let (made, golden) = (walk(&made), walk(&golden));
        assert!(
            made == golden,
            "{}: {} entries, not {}",
            tag.name,
            made.len(),
            golden.len()
        );
        entries += made.len();
    }
    assert_eq!(entries, 7279, "entries of all six orders");
}

fn corpus(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../corpus/xbase")
        .join(file)
}
