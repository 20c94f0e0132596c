//! What is asked, and how fast the answer is to be.

use std::fmt;

/// A question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Question {
    /// Write the table.
    Stage,
    /// Make an index of ID.
    CreateIndex,
    /// How many records are not deleted?
    Count,
    /// The same once more.
    CountAgain,
    /// Which records have TAG = 'AAAA'?
    Filter,
    /// Sum, mean, least and greatest of AMT.
    Sum,
    /// The same once more.
    SumAgain,
    /// How many records has each TAG?
    Group,
    /// Which TAGs are there?
    Distinct,
    /// The ten greatest AMTs.
    Top10,
    /// How many records have AMT from 100 to 500?
    Between,
    /// A bitmap filter on TAG = 'AAAA' without an index.
    AofByRecords,
    /// The same from an order that was just opened, and once more.
    AofByOrderFirst,
    /// The same once more.
    AofByOrder,
    /// A bitmap filter on TAG from 'AAAA' to 'CCCC', from an order that was just opened.
    AofBetweenFirst,
    /// The same once more.
    AofBetween,
    /// A walk through the filter's records in the order of the table.
    Walk,
    /// A walk in the order of ID that was just opened: the order is read once.
    WalkOrderFirst,
    /// A walk in the order of ID.
    WalkOrder,
    /// 100,000 seeks of random IDs.
    Seek,
    /// A walk through the records with TAG = 'AAAA' of the order of TAG, by scope.
    ScopeWalk,
}

impl Question {
    /// The limit of issue 5 for 100,000 rows, in nanoseconds for each of `units`.
    #[must_use]
    pub fn gate_ns(self, units: usize) -> Option<f64> {
        let whole_us = match self {
            Self::Stage => 10_000.0,
            Self::CreateIndex => 20_000.0,
            Self::Count => 60.0,
            Self::CountAgain => 5.0,
            Self::Filter => 100.0,
            Self::Sum | Self::Group => 160.0,
            Self::SumAgain => 40.0,
            Self::Between => 180.0,
            Self::AofByRecords => 150.0,
            Self::AofByOrder => 50.0,
            Self::AofBetween => 100.0,
            Self::Walk | Self::WalkOrder => return Some(50.0),
            Self::Seek => return Some(1000.0),
            _ => return None,
        };
        Some(whole_us * 1e3 / units as f64)
    }

    /// The questions of SQL.
    #[must_use]
    pub fn sql(self) -> Option<&'static str> {
        Some(match self {
            Self::Count => "SELECT COUNT(*) FROM t",
            Self::Filter => "SELECT COUNT(*) FROM t WHERE TAG = 'AAAA'",
            Self::Sum => "SELECT SUM(CENTS), COUNT(CENTS), MIN(CENTS), MAX(CENTS) FROM t",
            Self::Group => "SELECT COUNT(*) FROM t GROUP BY TAG ORDER BY TAG",
            Self::Distinct => "SELECT COUNT(*) FROM (SELECT DISTINCT TAG FROM t) AS d",
            Self::Top10 => "SELECT ID FROM t ORDER BY CENTS DESC, ID LIMIT 10",
            Self::Between => "SELECT COUNT(*) FROM t WHERE CENTS BETWEEN 10000 AND 50000",
            _ => return None,
        })
    }

    /// Those that SQL can be asked.
    pub const SQL: [Self; 7] = [
        Self::Count,
        Self::Filter,
        Self::Sum,
        Self::Group,
        Self::Distinct,
        Self::Top10,
        Self::Between,
    ];
}

impl fmt::Display for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Stage => "stage",
            Self::CreateIndex => "create index ID",
            Self::Count => "count",
            Self::CountAgain => "count, warm",
            Self::Filter => "filter TAG",
            Self::Sum => "sum avg min max AMT",
            Self::SumAgain => "sum avg min max AMT, warm",
            Self::Group => "group by TAG",
            Self::Distinct => "distinct TAG",
            Self::Top10 => "top 10 AMT",
            Self::Between => "AMT between",
            Self::AofByRecords => "AOF TAG, no index",
            Self::AofByOrderFirst => "AOF TAG, index, first",
            Self::AofByOrder => "AOF TAG, index",
            Self::AofBetweenFirst => "AOF TAG between, index, first",
            Self::AofBetween => "AOF TAG between, index",
            Self::Walk => "  walk",
            Self::WalkOrderFirst => "  walk by ID, first",
            Self::WalkOrder => "  walk by ID",
            Self::Seek => "100,000 seeks of ID",
            Self::ScopeWalk => "scope walk TAG",
        })
    }
}

/// What answers a question, from a table of this kind.
pub(crate) type Answering<T> = fn(&T) -> Vec<i64>;
