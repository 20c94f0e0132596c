//! The checker with the records beside it: does each record have the key that its fields give?

use std::cmp::Ordering;

use crate::error::{Error, Result};
use crate::expression::Record;
use crate::full_text::WordKeys;
use crate::index::{
    FINDINGS_MAX, Finding, IndexDialect, IndexFault, KeyEncoding, KeySorter, OrderSpec, TreePath, shown, unreadable,
};
use crate::table::Table;

use super::{TableIndex, TableOrder};

impl TableIndex {
    /// Checks every page as [`Index::verify`](crate::index::Index::verify) does, and in the orders whose trees are sound each
    /// entry against its record: keys that are missing, that the fields do not give, and records that the FOR expression
    /// leaves out. A sound index gives an empty list.
    ///
    /// Entries of a custom order are the program's business, and are not compared. A candidate index need not have those of deleted
    /// records, whose appending may have been given up. Keys may be missing in a UNIQUE order
    /// that is sound: when the record that stands for a key gets another one, Clipper, FoxPro and Harbour put no other record
    /// in its place.
    ///
    /// # Errors
    /// Only when the table cannot be read, not for what the files hold.
    pub fn verify(&self, table: &Table) -> Result<Vec<Finding>> {
        let orders = self.orders.iter().chain(&self.words);
        let orders: Vec<_> = orders.map(|order| order.order.clone()).collect();
        let mut findings = self
            .index
            .verify(&orders, self.may_be_of_table().then(|| table.record_count()))?;
        for order in self.orders.iter().chain(&self.words) {
            let tag = order.order.tag();
            if let Some(why) = order.keys.why_not_compiled() {
                let mut check = Check {
                    order,
                    findings: &mut findings,
                };
                let why = why.to_owned();
                check.add(tag.header, IndexFault::UnknownExpression { why });
            }
            let is_sound = findings.iter().all(|finding| {
                finding.is_unknown() || finding.is_out_of_date() || finding.tag.as_ref() != Some(&tag.name)
            });
            if is_sound && !tag.is_custom && order.keys.can_be_made() {
                let mut check = Check {
                    order,
                    findings: &mut findings,
                };
                let checked = match order.keys.words() {
                    Some(words) => check.words(words, table),
                    None => check.run(table),
                };
                if let Err(e) = checked {
                    check.unreadable(e)?;
                }
            }
        }
        Ok(findings)
    }

    /// Whether the file is of this table as far as is known. Programs name a file of one order as they like: where its expression names
    /// other fields than the table has, its records are those of another table.
    fn may_be_of_table(&self) -> bool {
        let is_single = matches!(
            self.index.dialect(),
            IndexDialect::Ntx | IndexDialect::Ndx | IndexDialect::Idx
        );
        !is_single || self.orders.iter().any(|order| order.keys.why_not_compiled().is_none())
    }
}

fn surplus(words: &WordKeys, (key, recno): (&[u8], u32)) -> IndexFault {
    let word = words.word(key);
    IndexFault::SurplusWord { recno, word }
}

/// Neighbours among the records of an order that have no key.
struct Run {
    /// That of the last one among these records.
    place: usize,
    first: u32,
    last: u32,
    count: u32,
}

struct Check<'a> {
    order: &'a TableOrder,
    findings: &'a mut Vec<Finding>,
}

impl Check<'_> {
    fn run(&mut self, table: &Table) -> Result<()> {
        let (keys, mut bytes, mut recnos) = (&self.order.keys, Vec::new(), Vec::new());
        let (is_candidate, mut may_be_missing) = (self.order.order.tag().is_candidate, Vec::new());
        table.each_record(|record| {
            if keys.put_key(record, &mut bytes)? {
                recnos.push(record.record_no());
                may_be_missing.push(is_candidate && record.is_deleted());
            }
            Ok(())
        })?;
        // The key of each record, `None` where it is not in the order.
        let mut expected: Vec<Option<&[u8]>> = vec![None; table.record_count() as usize];
        for (key, recno) in bytes.chunks_exact(keys.key_len().max(1)).zip(recnos.iter().copied()) {
            if let Some(slot) = expected.get_mut(recno as usize - 1) {
                *slot = Some(key);
            }
        }
        let tree = &self.order.order.tree;
        // Letters that nobody knows have capitals that nobody knows.
        let knows_letters = self.order.order.is_known();
        let is_of_letters = |key: &[u8], own: &[u8]| {
            let mut pairs = key.iter().zip(own).filter(|(a, b)| a != b);
            pairs.all(|(a, b)| !a.is_ascii() && !b.is_ascii())
        };
        let (mut unknown, mut first_unknown) = (0, 0);
        let mut is_there = vec![false; expected.len()];
        let mut path = TreePath::default();
        let mut found = path.first(tree)?;
        while let Some(step) = path.entry().filter(|_| found) {
            let (key, recno) = (step.node.key(step.slot), step.node.recno(step.slot));
            let at = (recno as usize).wrapping_sub(1);
            let own = expected.get(at).copied().flatten();
            if let Some(is_there) = is_there.get_mut(at) {
                *is_there = true;
            }
            // That there is no such record was found before.
            if at >= expected.len() {
                found = path.next(tree)?;
                continue;
            }
            let is_own = own.is_some_and(|own| self.order.order.codec.are_alike(own, key));
            if !knows_letters && !is_own && own.is_some_and(|own| is_of_letters(key, own)) {
                if unknown == 0 {
                    first_unknown = recno;
                }
                unknown += 1;
            } else if !is_own {
                let (key, expected) = (shown(key), own.map(shown));
                self.add(tree.offset(step.page), IndexFault::WrongKey { recno, key, expected });
            }
            found = path.next(tree)?;
        }
        if unknown > 0 {
            let (count, recno) = (unknown, first_unknown);
            let header = self.order.order.tag().header;
            self.add(header, IndexFault::UnknownLetters { count, recno });
        }
        if self.order.order.tag().is_unique {
            return Ok(());
        }
        let is_missing = |(place, recno): &(usize, u32)| {
            is_there.get(*recno as usize - 1) == Some(&false) && may_be_missing.get(*place) == Some(&false)
        };
        // Neighbours among the records of the order are told as one.
        let mut run: Option<Run> = None;
        for (place, recno) in recnos.iter().copied().enumerate().filter(is_missing) {
            run = match run {
                Some(run) if run.place + 1 == place => Some(Run {
                    place,
                    last: recno,
                    count: run.count + 1,
                    ..run
                }),
                other => {
                    self.missing(other);
                    Some(Run {
                        place,
                        first: recno,
                        last: recno,
                        count: 1,
                    })
                }
            };
        }
        self.missing(run);
        Ok(())
    }

    /// Compares the words of an index with those of the texts. One that is not maintained may have any.
    fn words(&mut self, words: &WordKeys, table: &Table) -> Result<()> {
        if words.options.is_fixed {
            return Ok(());
        }
        let order = &self.order.order;
        let dialect = match order.codec.encoding {
            KeyEncoding::Adi(_) => IndexDialect::Adi,
            _ => IndexDialect::Cdx,
        };
        let spec = OrderSpec::from(order.tag());
        let mut sorter = KeySorter::new(&spec, dialect, table.record_count())?;
        self.order.keys.sort(table, &mut sorter)?;
        let tree = &self.order.order.tree;
        let mut path = TreePath::default();
        let mut found = path.first(tree)?;
        sorter.each(|key, recno| {
            while let Some(step) = path.entry().filter(|_| found) {
                let entry = (step.node.key(step.slot), step.node.recno(step.slot));
                match entry.cmp(&(key, recno)) {
                    Ordering::Less => self.add(tree.offset(step.page), surplus(words, entry)),
                    Ordering::Equal => {
                        found = path.next(tree)?;
                        return Ok(());
                    }
                    Ordering::Greater => break,
                }
                found = path.next(tree)?;
            }
            let word = words.word(key);
            self.add(self.order.order.tag().header, IndexFault::MissingWord { recno, word });
            Ok(())
        })?;
        while let Some(step) = path.entry().filter(|_| found) {
            let entry = (step.node.key(step.slot), step.node.recno(step.slot));
            self.add(tree.offset(step.page), surplus(words, entry));
            found = path.next(tree)?;
        }
        Ok(())
    }

    fn missing(&mut self, run: Option<Run>) {
        if let Some(Run { first, last, count, .. }) = run {
            let what = IndexFault::MissingKeys { first, last, count };
            self.add(self.order.order.tag().header, what);
        }
    }

    /// What a record holds or a page is a finding; a file that cannot be read is an error.
    fn unreadable(&mut self, e: Error) -> Result<()> {
        if let Error::Io { .. } = e {
            return Err(e);
        }
        self.add(self.order.order.tag().header, unreadable(&e));
        Ok(())
    }

    fn add(&mut self, page: u64, what: IndexFault) {
        if self.findings.len() < FINDINGS_MAX {
            let order = &self.order.order;
            self.findings.push(Finding {
                path: order.tree.source.path().to_owned(),
                page,
                tag: Some(order.tag().name.clone()),
                what,
            });
        }
    }
}
