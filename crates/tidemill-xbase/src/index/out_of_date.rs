//! Index files that are sound but lack keys of their table, because the table was changed without them.

use std::fmt;

use super::verify::{FINDINGS_MAX, Finding, IndexFault};

/// How a sound index tag differs from its table. Rebuilding the index mends it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct OutOfDate {
    /// The number of missing keys.
    pub missing: u64,
    /// The number of surplus keys: of records that do not exist, that the FOR expression excludes, or that have another key too.
    pub surplus: u64,
    /// The number of keys that differ from those of their records.
    pub changed: u64,
    /// The first record with a difference.
    pub first: u32,
    /// Whether the list of findings was full, so that there may be more.
    pub has_more: bool,
}

impl OutOfDate {
    /// The differences of a tag, from the findings of its file. `None` if it has none, or if it is damaged.
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
