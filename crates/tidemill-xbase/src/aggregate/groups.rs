//! The texts of a character field and how many records have each.

use std::collections::HashMap;

use super::{Group, Selected, decimals, is_member, summary};
use crate::column_cache::{Held, Voucher, What};
use crate::columns::Columns;
use crate::digits::{Number, trim};
use crate::error::{Error, Result};
use crate::field::{Field, FieldKind};
use crate::kernels::Block;
use crate::kernels::group::Texts;
use crate::kernels::summary::Tally;
use crate::kernels::text::TextCell;
use crate::null_test::NullTest;

/// The most groups of a chunk that are kept.
const KEPT: usize = 4096;

/// The records of a chunk, or of a table, that have one text.
#[derive(Debug, Clone)]
pub(crate) struct Counted {
    /// `None` for NULL.
    text: Option<Vec<u8>>,
    count: u64,
    /// The numbers of these records, added up.
    tally: Tally,
}

impl Counted {
    /// The bytes that it takes.
    pub(crate) fn bytes(&self) -> usize {
        size_of::<Self>() + self.text.as_ref().map_or(0, Vec::len)
    }
}

impl Columns {
    /// The texts of a character field in the order in which they occur, how many records have each, and with `sum_of` a
    /// numeric field of these records, added up. NULL comes last.
    ///
    /// # Errors
    /// As [`Columns::summary`], and [`Error::Misuse`] for a field that is not of the kinds `C`.
    pub fn groups(&self, field: usize, sum_of: Option<usize>, selected: Selected<'_>) -> Result<Vec<Group>> {
        let described = self.field(field)?;
        if !matches!(described.kind, FieldKind::Character | FieldKind::CharacterBinary) {
            return Err(Error::Misuse(format!(
                "field {} has no texts of one length",
                described.name
            )));
        }
        let summed = match sum_of {
            Some(field) => Some((field, self.numeric(field)?)),
            None => None,
        };
        let counted = match self.kept_groups((field, described), summed, selected)? {
            Some(counted) => counted,
            None => self.counted(described, summed, 0..self.table().record_count(), selected)?,
        };
        let groups = counted.into_iter().map(|group| Group {
            text: group.text,
            count: group.count,
            summary: summed.map(|(_, field)| summary(&group.tally, decimals(field))),
        });
        Ok(groups.collect())
    }

    /// The groups of the chunks together, each of which is kept; `None` for a set of one's own, and where there are too many.
    fn kept_groups(
        &self,
        (field, described): (usize, &Field),
        summed: Option<(usize, &Field)>,
        selected: Selected<'_>,
    ) -> Result<Option<Vec<Counted>>> {
        let with_deleted = match selected {
            Selected::Of(_) => return Ok(None),
            Selected::All => true,
            Selected::Undeleted => false,
        };
        let voucher = self.voucher()?;
        if matches!(voucher, Voucher::Nothing) {
            return Ok(None);
        }
        let what = What::Groups {
            field,
            sum_of: summed.map(|(field, _)| field),
            with_deleted,
        };
        let mut merged = Merged::default();
        for (chunk, records) in self.chunks() {
            let make = || {
                let groups = self.counted(described, summed, records.clone(), selected)?;
                Ok(Held::Groups((groups.len() <= KEPT).then(|| groups.into())))
            };
            match self.held(what, chunk, &records, &voucher, make)? {
                Held::Groups(Some(groups)) => groups.iter().for_each(|group| merged.add(group.clone())),
                _ => return Ok(None),
            }
        }
        Ok(Some(merged.finish()))
    }

    fn counted(
        &self,
        field: &Field,
        summed: Option<(usize, &Field)>,
        records: std::ops::Range<u32>,
        selected: Selected<'_>,
    ) -> Result<Vec<Counted>> {
        let cell = TextCell {
            at: field.offset,
            len: field.width,
            map: None,
        };
        let mut grouping = Grouping {
            columns: self,
            texts: Texts::new(cell, self.table().stride()),
            sums: Vec::new(),
            null: self.null_test(field),
            nulls: (0, Tally::default()),
            summed,
        };
        let deletion = self.table().deletion();
        self.table().visit_blocks(records, |block| match selected {
            Selected::All => grouping.add(&block, |_, _| true),
            Selected::Undeleted => grouping.add(&block, |_, record| !deletion.is_deleted(record)),
            Selected::Of(set) => grouping.add(&block, |i, _| is_member(set, &block, i)),
        })?;
        Ok(grouping.finish(field))
    }
}

/// Groups that are put together.
#[derive(Default)]
struct Merged {
    places: HashMap<Vec<u8>, usize>,
    groups: Vec<Counted>,
    null: Option<Counted>,
}

impl Merged {
    fn add(&mut self, group: Counted) {
        let known = match &group.text {
            None => self.null.as_mut(),
            Some(text) => self.places.get(text).and_then(|place| self.groups.get_mut(*place)),
        };
        match (known, &group.text) {
            (Some(known), _) => {
                known.count += group.count;
                known.tally.merge(&group.tally);
            }
            (None, Some(text)) => {
                self.places.insert(text.clone(), self.groups.len());
                self.groups.push(group);
            }
            (None, None) => self.null = Some(group),
        }
    }

    fn finish(mut self) -> Vec<Counted> {
        self.groups.extend(self.null);
        self.groups
    }
}

struct Grouping<'c> {
    columns: &'c Columns,
    texts: Texts,
    /// By the numbers of the texts.
    sums: Vec<Tally>,
    null: Option<NullTest>,
    /// The records whose text is NULL.
    nulls: (u64, Tally),
    summed: Option<(usize, &'c Field)>,
}

impl Grouping<'_> {
    fn add(&mut self, block: &Block<'_>, selects: impl Fn(usize, &[u8]) -> bool) -> Result<()> {
        let Self {
            columns,
            texts,
            sums,
            null,
            nulls,
            summed,
        } = self;
        let Some((index, field)) = summed else {
            if let Some(null) = *null {
                let is_null = |i: usize, record: &[u8]| selects(i, record) && null.is_null(record);
                nulls.0 += block
                    .records()
                    .enumerate()
                    .filter(|(i, record)| is_null(*i, record))
                    .count() as u64;
                texts.count(block, |i, record| selects(i, record) && !null.is_null(record));
            } else {
                texts.count(block, selects);
            }
            return Ok(());
        };
        let (cell, sum_null, blank) = (
            columns.number_cell(field),
            columns.null_test(field),
            columns.blank_counts(),
        );
        let Some(cell) = cell else {
            let name = &field.name;
            return Err(Error::Misuse(format!(
                "field {name}: doubles are not added up by groups"
            )));
        };
        let recovers = columns.table().options.passes_over();
        let mut fault = None;
        let mut number = |record: &[u8]| {
            if sum_null.is_some_and(|null| null.is_null(record)) {
                return None;
            }
            match cell.read(record) {
                Number::Value(number) => Some(i128::from(number)),
                Number::Blank => blank.then_some(0),
                Number::Other => match cell.exact(record) {
                    Ok(number) => number,
                    Err(()) if recovers => None,
                    Err(()) => {
                        fault.get_or_insert_with(|| record.to_vec());
                        None
                    }
                },
            }
        };
        if let Some(null) = *null {
            let records = block.records().enumerate();
            for (_, record) in records.filter(|(i, record)| selects(*i, record) && null.is_null(record)) {
                nulls.0 += 1;
                number(record).into_iter().for_each(|number| nulls.1.add(number));
            }
        }
        let has_text = |i: usize, record: &[u8]| selects(i, record) && null.is_none_or(|null| !null.is_null(record));
        texts.visit(block, has_text, |text, record| {
            // Texts are numbered in the order in which they are met.
            if sums.len() == text as usize {
                sums.push(Tally::default());
            }
            if let (Some(tally), Some(number)) = (sums.get_mut(text as usize), number(record)) {
                tally.add(number);
            }
        });
        match fault {
            None => Ok(()),
            Some(record) => {
                let place = block.records().position(|other| other == record).unwrap_or_default();
                let recno = block.first + 1 + u32::try_from(place).unwrap_or(u32::MAX);
                Err(columns.unreadable(*index, recno, &record))
            }
        }
    }

    fn finish(self, field: &Field) -> Vec<Counted> {
        let keeps = self.columns.table().options.keep_trailing_blanks || field.kind == FieldKind::CharacterBinary;
        // What differs in blanks at the end only is one text.
        let mut merged = Merged::default();
        let sums = self.sums.into_iter().chain(std::iter::repeat(Tally::default()));
        for ((text, count), tally) in self.texts.into_counts().zip(sums) {
            let text = match keeps {
                true => text.into_vec(),
                false => without_end(&text).to_vec(),
            };
            merged.add(Counted {
                text: Some(text),
                count,
                tally,
            });
        }
        if let (count @ 1.., tally) = self.nulls {
            let text = None;
            merged.add(Counted { text, count, tally });
        }
        merged.finish()
    }
}

fn without_end(text: &[u8]) -> &[u8] {
    let begin = text.len() - text.iter().skip_while(|byte| matches!(byte, b' ' | 0)).count();
    let rest = trim(text).len();
    if rest == 0 {
        &[]
    } else {
        text.get(..begin + rest).unwrap_or(text)
    }
}
