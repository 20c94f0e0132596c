//! Ours: the table mapped, its pages resident, one thread.

use std::{path::Path, sync::Arc};

use arrow_array::{Decimal128Array, Int64Array, RecordBatch, StringArray};
use tidemill_xbase::{
    Access, CivilDate, ColumnCache, Columns, CreateOptions, Dialect, FieldSpec, KeySettings, OpenOptions, Sharing,
    Table, TableIndex, TableOrder, TableWriter,
    aggregate::{Quantity, Selected, Summary, Top},
    aof::{Aof, Filter, FilterOrders},
    build_index,
    expression::Environment,
    index::{Direction, End, Key, KeyValue, OrderSpec},
};

use super::{Answering, Line, Question, Reference, Spread};

/// What the lines of this engine are called.
pub const ENGINE: &str = "tidemill";
const SEEKS: usize = 100_000;
type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

/// Puts every question.
///
/// # Errors
///
/// What the engine says.
pub fn ask(reference: &Reference, repeats: usize, folder: &Path) -> Outcome<Vec<Line>> {
    let path = folder.join("bench.dbf");
    std::fs::write(&path, &reference.dbf)?;
    let table = Arc::new(Table::open(&path, &OpenOptions::new().access(Access::Mapped))?);
    let mut bench = Bench {
        reference,
        repeats,
        folder,
        environment: Environment::new(table.codepage()),
        settings: KeySettings::new(table.codepage()),
        table,
        lines: Vec::new(),
    };
    bench.writes()?;
    bench.aggregates()?;
    bench.filters_by_records()?;
    bench.filters_by_order()?;
    bench.seeks()?;
    Ok(bench.lines)
}

struct Bench<'a> {
    reference: &'a Reference,
    repeats: usize,
    folder: &'a Path,
    table: Arc<Table>,
    environment: Environment,
    settings: KeySettings,
    lines: Vec<Line>,
}

impl Bench<'_> {
    fn writes(&mut self) -> Outcome {
        let fields = [
            FieldSpec::new("ID", 'N', 8, 0),
            FieldSpec::new("TAG", 'C', 4, 0),
            FieldSpec::new("AMT", 'N', 8, 2),
        ];
        let batch = self.batch()?;
        let path = self.folder.join("staged.dbf");
        let date = CivilDate {
            year: 2024,
            month: 1,
            day: 31,
        };
        let mut options = CreateOptions::new(date);
        options.format = Dialect::Dbase3;
        let times = self.measure(
            || (),
            |()| {
                let mut writer = TableWriter::create(&path, &fields, &options).expect("a table");
                writer.write(&batch, None).expect("written rows");
                writer.finish().expect("a whole table");
            },
        );
        self.line(
            Question::Stage,
            times,
            self.reference.rows.len(),
            "from Arrow columns, to the file",
        );
        let index = self.folder.join("made.cdx");
        let specs = [OrderSpec::new("ID", "ID")];
        let times = self.measure(
            || (),
            |()| {
                build_index(&index, &self.table, &specs, &self.settings).expect("an index");
            },
        );
        self.line(
            Question::CreateIndex,
            times,
            self.reference.rows.len(),
            "synced and renamed",
        );
        Ok(())
    }

    fn aggregates(&mut self) -> Outcome {
        let columns = |table: &Arc<Table>| {
            let cache = ColumnCache::new(64 << 20);
            Columns::new(table, &cache, Sharing::Exclusive).expect("columns")
        };
        let questions: [(Question, Answering<Columns>); 5] = [
            (Question::Count, count),
            (Question::Sum, sum),
            (Question::Group, group),
            (Question::Distinct, |columns| vec![group(columns).len() as i64]),
            (Question::Top10, top),
        ];
        for (question, run) in questions {
            let answer = self.reference.answer(question);
            let table = &self.table;
            let times = Spread::measure(self.repeats, &answer, || columns(table), |columns| run(&columns));
            self.line(question, times, self.reference.rows.len(), "empty cache");
        }
        let warm = columns(&self.table);
        for (question, run) in [
            (Question::CountAgain, questions[0].1),
            (Question::SumAgain, questions[1].1),
        ] {
            let answer = self.reference.answer(question);
            let times = Spread::measure(self.repeats, &answer, || (), |()| run(&warm));
            self.line(question, times, self.reference.rows.len(), "");
        }
        Ok(())
    }

    fn filters_by_records(&mut self) -> Outcome {
        for (question, condition) in [
            (Question::Filter, "TAG = 'AAAA'"),
            (Question::Between, "AMT >= 100 .AND. AMT <= 500"),
        ] {
            let filter = self.filter(condition)?;
            let answer = self.reference.answer(question);
            let times = Spread::measure(
                self.repeats,
                &answer,
                || (),
                |()| vec![i64::from(filter.bitmap(&self.table).expect("a bitmap").count())],
            );
            self.line(question, times, self.reference.rows.len(), "to a bitmap");
        }
        Ok(())
    }

    /// Filters with an order of ID active, and with those of TAG and ID open.
    fn filters_by_order(&mut self) -> Outcome {
        let path = self.folder.join("bench.cdx");
        let specs = ["ID", "TAG"].map(|field| OrderSpec::new(field, field));
        build_index(&path, &self.table, &specs, &self.settings)?;
        let equal = "TAG = 'AAAA'";
        let between = "TAG >= 'AAAA' .AND. TAG <= 'CCCC'";
        self.filter_by_order(Question::AofByRecords, equal, &["ID"], true)?;
        self.walks(Question::AofByRecords, equal, &["ID"])?;
        self.filter_by_order(Question::AofByOrderFirst, equal, &["ID", "TAG"], true)?;
        self.filter_by_order(Question::AofByOrder, equal, &["ID", "TAG"], false)?;
        self.walks(Question::AofByOrder, equal, &["ID", "TAG"])?;
        self.filter_by_order(Question::AofBetweenFirst, between, &["TAG"], true)?;
        self.filter_by_order(Question::AofBetween, between, &["TAG"], false)?;
        self.walks(Question::AofBetween, between, &["ID", "TAG"])
    }

    fn filter_by_order(&mut self, question: Question, condition: &str, tags: &[&str], is_first: bool) -> Outcome {
        let filter = self.filter(condition)?;
        let answer = self.reference.answer(question);
        let kept = self.orders(tags)?;
        let prepare = || match is_first {
            true => self.orders(tags).expect("orders"),
            false => kept.clone(),
        };
        let times = Spread::measure(self.repeats, &answer, prepare, |orders| {
            let aof = Aof::new(&self.table, filter.clone(), &orders).expect("a filter");
            vec![i64::from(aof.records().count())]
        });
        let level = format!("level {:?}", filter.level(&self.table, &kept));
        self.line(question, times, self.reference.rows.len(), &level);
        Ok(())
    }

    fn walks(&mut self, filter: Question, condition: &str, tags: &[&str]) -> Outcome {
        let (table, repeats) = (Arc::clone(&self.table), self.repeats);
        let aof = Aof::new(&table, self.filter(condition)?, &self.orders(tags)?)?;
        let records = aof.records();
        let count = usize::try_from(self.reference.answer(filter)[0])?;
        let times = Spread::measure(
            repeats,
            &count,
            || (),
            |()| std::iter::successors(records.first(), |recno| records.skip(*recno, 1)).count(),
        );
        self.line(Question::Walk, times, count, "one record at a time");
        let index = self.index()?;
        let by_id = index.order("ID").ok_or("no order of ID")?;
        let walk = |order: &TableOrder| {
            let ordered = aof.in_order(order.order()).expect("a walk");
            std::iter::successors(ordered.first(), |recno| ordered.skip(*recno, 1)).count()
        };
        let opened = || self.index().expect("an index");
        let times = Spread::measure(repeats, &count, opened, |index| {
            walk(index.order("ID").expect("an order"))
        });
        self.line(Question::WalkOrderFirst, times, count, "reads the order once");
        let times = Spread::measure(repeats, &count, || (), |()| walk(by_id));
        self.line(Question::WalkOrder, times, count, "one record at a time");
        let walks = self.lines.iter_mut().rev().take(3);
        walks.for_each(|line| line.filter = Some(filter));
        Ok(())
    }

    fn seeks(&mut self) -> Outcome {
        let index = self.index()?;
        let order = index.order("ID").ok_or("no order of ID")?.order();
        let rows = self.reference.rows.len() as u64;
        let mut random = 1_u64;
        let keys: Vec<Key> = std::iter::repeat_with(|| {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            order.key(&KeyValue::Integer(((random >> 33) % rows + 1).cast_signed()))
        })
        .take(SEEKS)
        .collect::<Result<_, _>>()?;
        let mut cursor = order.cursor();
        let times = Spread::measure(
            self.repeats,
            &SEEKS,
            || (),
            |()| {
                keys.iter()
                    .filter(|key| cursor.seek(key, End::First, false).expect("a seek"))
                    .count()
            },
        );
        self.line(Question::Seek, times, SEEKS, "");
        let tag = index.order("TAG").ok_or("no order of TAG")?.order();
        let key = tag.key(&KeyValue::Character(b"AAAA"))?;
        let mut cursor = tag.cursor();
        cursor.set_scope(Some(key.clone()), Some(key));
        let answer = self.reference.answer(Question::ScopeWalk);
        let times = Spread::measure(
            self.repeats,
            &answer,
            || (),
            |()| {
                let recnos = cursor
                    .walk(Direction::Forward)
                    .map(|entry| entry.expect("an entry").recno());
                vec![recnos.count() as i64]
            },
        );
        self.line(Question::ScopeWalk, times, usize::try_from(answer[0])?, "");
        Ok(())
    }

    fn batch(&self) -> Outcome<RecordBatch> {
        let rows = &self.reference.rows;
        let ids = Int64Array::from_iter_values((1..).take(rows.len()));
        let tags = StringArray::from_iter_values(rows.iter().map(|row| String::from(char::from(row.0)).repeat(4)));
        let amounts = Decimal128Array::from_iter_values(rows.iter().map(|row| i128::from(row.1)));
        let amounts = amounts.with_precision_and_scale(10, 2)?;
        let columns: [(_, Arc<dyn arrow_array::Array>); 3] = [
            ("ID", Arc::new(ids)),
            ("TAG", Arc::new(tags)),
            ("AMT", Arc::new(amounts)),
        ];
        Ok(RecordBatch::try_from_iter(columns)?)
    }

    fn index(&self) -> Outcome<TableIndex> {
        Ok(TableIndex::open(
            self.folder.join("bench.cdx"),
            &self.table,
            &self.settings,
        )?)
    }

    fn orders(&self, tags: &[&str]) -> Outcome<FilterOrders> {
        let index = self.index()?;
        Ok(FilterOrders::new(
            &self.table,
            tags.iter().filter_map(|tag| index.order(tag)),
        )?)
    }

    fn filter(&self, condition: &str) -> Outcome<Filter> {
        Ok(Filter::new(condition, &self.table, &self.environment)?)
    }

    fn measure<P>(&self, prepare: impl FnMut() -> P, run: impl FnMut(P)) -> Spread {
        Spread::measure(self.repeats, &(), prepare, run)
    }

    fn line(&mut self, question: Question, times: Spread, units: usize, note: &str) {
        self.lines.push(Line {
            question,
            filter: None,
            engine: ENGINE.to_owned(),
            times,
            units,
            calls: 0,
            note: note.to_owned(),
        });
    }
}

fn count(columns: &Columns) -> Vec<i64> {
    vec![columns.count(Selected::Undeleted).expect("a count").cast_signed()]
}

fn sum(columns: &Columns) -> Vec<i64> {
    let Summary {
        count, sum, min, max, ..
    } = columns.summary(2, Selected::Undeleted).expect("a sum");
    let number = |quantity| match quantity {
        Quantity::Decimal { unscaled, .. } => i64::try_from(unscaled).expect("a small number"),
        Quantity::Double(number) => panic!("{number}"),
    };
    vec![
        number(sum),
        count.cast_signed(),
        min.map_or(0, number),
        max.map_or(0, number),
    ]
}

fn group(columns: &Columns) -> Vec<i64> {
    let mut groups = columns.groups(1, None, Selected::Undeleted).expect("groups");
    groups.sort_unstable_by(|a, b| a.text.cmp(&b.text));
    groups.into_iter().map(|group| group.count.cast_signed()).collect()
}

fn top(columns: &Columns) -> Vec<i64> {
    let top = columns
        .top(2, 10, Top::Greatest, Selected::Undeleted)
        .expect("a top list");
    top.into_iter().map(i64::from).collect()
}
