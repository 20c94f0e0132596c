//! Index files that are sound and do not have the keys of their table: it was changed without them.

use std::fmt;

use super::verify::{FINDINGS_MAX, Finding, IndexFault};

/// How an index tag that is sound in itself differs from its table. To rebuild it is all that it takes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct OutOfDate {
    /// How many keys are not there.
    pub missing: u64,
    /// How many keys are there of records that the table does not have, that the FOR expression leaves out, or that have another one.
    pub surplus: u64,
    /// How many keys are there that their records do not have any more.
    pub changed: u64,
    /// The first record that is concerned.
    pub first: u32,
    /// Whether there may be more than these: a list of findings has an end.
    pub has_more: bool,
}

impl OutOfDate {
    /// What the findings of a check of one file say of a tag. `None` where nothing is wrong with it, and where it is damaged.
    pub fn of(findings: &[Finding], tag: &str) -> Option<Self> {
        let is_of_tag = |finding: &&Finding| finding.tag.as_deref() == Some(tag);
        let found = findings.iter().filter(is_of_tag);
        let found: Vec<_> = found.filter(|f| !f.is_note() && !f.is_unknown()).collect();
        if !found.iter().all(|finding| finding.is_out_of_date()) {
            return None;
        }
        let mut out = Self {
            first: found.iter().filter_map(|finding| finding.first_record()).min()?,
            has_more: findings.len() >= FINDINGS_MAX,
            ..Self::default()
        };
        let mut repeated = 0;
        for finding in found {
            match &finding.what {
                IndexFault::MissingKeys { count, .. } => out.missing += u64::from(*count),
                IndexFault::MissingWord { .. } => out.missing += 1,
                IndexFault::WrongKey { expected: Some(_), .. } => out.changed += 1,
                IndexFault::RepeatedRecord { .. } => repeated += 1,
                _ => out.surplus += 1,
            }
        }
        // One of the keys of such a record is surplus, whatever its value is.
        out.surplus += repeated;
        out.changed = out.changed.saturating_sub(repeated);
        Some(out)
    }
}

impl fmt::Display for OutOfDate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = [
            (self.missing, "key missing", "keys missing"),
            (self.surplus, "key surplus", "keys surplus"),
            (
                self.changed,
                "key not that of its record",
                "keys not those of their records",
            ),
        ];
        let counts = counts.into_iter().filter(|(count, ..)| *count > 0);
        let said = counts.map(|(count, one, many)| format!("{count} {}", if count == 1 { one } else { many }));
        let said: Vec<_> = said.collect();
        let least = if self.has_more { "at least " } else { "" };
        let (said, first) = (said.join(", "), self.first);
        write!(f, "out of date: {least}{said}; the first is that of record {first}")
    }
}
