//! The reference table.

use std::fmt::Write as _;

use super::Question;

/// The length of a record.
pub const STRIDE: usize = 21;

/// The rows and the files that are made of them.
#[derive(Debug)]
pub struct Reference {
    /// TAG's letter and AMT in hundredths, by ID less one.
    pub rows: Vec<(u8, u32)>,
    /// The table: dBASE III, version byte 3.
    pub dbf: Vec<u8>,
}

impl Reference {
    /// A table of so many rows.
    #[must_use]
    pub fn new(count: usize) -> Self {
        let mut random = 20_261_121_u32;
        let mut next = || {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            random >> 8
        };
        let rows: Vec<_> = (0..count)
            .map(|_| (b'A' + u8::try_from(next() % 26).unwrap_or_default(), next() % 100_000))
            .collect();
        let mut dbf = vec![0x03, 124, 1, 31];
        dbf.extend(u32::try_from(count).unwrap_or(u32::MAX).to_le_bytes());
        dbf.extend([129, 0, 21, 0]);
        dbf.resize(32, 0);
        for (name, kind, width, decimals) in [("ID", b'N', 8, 0), ("TAG", b'C', 4, 0), ("AMT", b'N', 8, 2)] {
            let mut field = [0; 32];
            field[..name.len()].copy_from_slice(name.as_bytes());
            (field[11], field[16], field[17]) = (kind, width, decimals);
            dbf.extend(field);
        }
        dbf.push(0x0d);
        for (id, (tag, cents)) in (1..).zip(&rows) {
            let tag = char::from(*tag);
            let (whole, rest) = (cents / 100, cents % 100);
            dbf.extend(format!(" {id:>8}{tag}{tag}{tag}{tag}{whole:>5}.{rest:02}").as_bytes());
        }
        dbf.push(0x1a);
        Self { rows, dbf }
    }

    /// The records alone.
    #[must_use]
    pub fn records(&self) -> &[u8] {
        &self.dbf[129..129 + self.rows.len() * STRIDE]
    }

    /// The rows as text: ID, TAG, cents.
    #[must_use]
    pub fn csv(&self) -> String {
        let mut csv = String::from("ID,TAG,CENTS\n");
        for (id, (tag, cents)) in (1..).zip(&self.rows) {
            let tag = char::from(*tag);
            let _ = writeln!(csv, "{id},{tag}{tag}{tag}{tag},{cents}");
        }
        csv
    }

    /// The answer to a question, as numbers.
    #[must_use]
    pub fn answer(&self, question: Question) -> Vec<i64> {
        let rows = || self.rows.iter().map(|(tag, cents)| (*tag, i64::from(*cents)));
        let count =
            |keep: &dyn Fn(u8, i64) -> bool| vec![rows().filter(|(tag, cents)| keep(*tag, *cents)).count() as i64];
        let tags = || (b'A'..=b'Z').map(|tag| rows().filter(|row| row.0 == tag).count() as i64);
        match question {
            Question::Sum | Question::SumAgain => vec![
                rows().map(|row| row.1).sum(),
                self.rows.len() as i64,
                rows().map(|row| row.1).min().unwrap_or_default(),
                rows().map(|row| row.1).max().unwrap_or_default(),
            ],
            Question::Group => tags().filter(|count| *count > 0).collect(),
            Question::Distinct => vec![tags().filter(|count| *count > 0).count() as i64],
            Question::Top10 => {
                let mut by_cents: Vec<_> = (1..).zip(rows()).map(|(id, row)| (-row.1, id)).collect();
                by_cents.sort_unstable();
                by_cents.into_iter().take(10).map(|(_, id)| id).collect()
            }
            Question::Between => count(&|_, cents| (10_000..=50_000).contains(&cents)),
            Question::AofBetween | Question::AofBetweenFirst => count(&|tag, _| tag <= b'C'),
            Question::Count | Question::CountAgain => vec![self.rows.len() as i64],
            _ => count(&|tag, _| tag == b'A'),
        }
    }
}
