//! Copies rows into a table of a server, and resumes such a copy.

use arrow_array::RecordBatch;

use super::checksum::Checksums;
use super::{Copied, Writing, insert};
use crate::answer::Answer;
use crate::error::Left;
use crate::location::{Location, Place};
use crate::stores::server::resuming::{DraftNames, Resumable, ResumableSink};
use crate::stores::server::{Filling, IfThere, ServerStore, ServerUrl, TableChange};
use crate::{Error, Result};

/// Called for each batch, with the number of rows so far.
pub(super) type Step<'a> = dyn FnMut(&RecordBatch, u64, &mut Option<Checksums>) -> Result<()> + Send + 'a;

impl Writing<'_> {
    pub(super) async fn fill_table(
        &self,
        url: &ServerUrl,
        mut answer: Answer,
        mut sums: Option<Checksums>,
        step: &mut Step<'_>,
    ) -> Result<Copied> {
        let (resume, overwrite) = (self.options.resume, self.options.overwrite);
        let server = self.session.servers.of(url)?;
        if let (true, Some(transactions)) = (resume, server.transactions()) {
            let server = (server, transactions);
            return self.in_transactions(server, url, answer, sums, step).await;
        }
        if resume && !server.resumes() {
            return Err(Error::Unsupported {
                what: format!(
                    "{}: --resume, which is for tables of ClickHouse, MySQL, PostgreSQL and SQLite,",
                    self.destination
                ),
                hint:
                    "copy again with --create --overwrite; into Cassandra without either, where a row takes the place \
                       of the one with its key"
                        .to_owned(),
            });
        }
        if resume && overwrite {
            return Err(Error::Unsupported {
                what: format!(
                    "{}: --resume with --overwrite, for a table that is filled under its own name",
                    self.destination
                ),
                hint: "drop the table and leave out --overwrite".to_owned(),
            });
        }
        let there = match (resume, overwrite) {
            (true, _) => IfThere::GoOn,
            (false, true) => IfThere::Replace,
            (false, false) => IfThere::Refuse,
        };
        let making = &self.options.table;
        let job = self.name.map(|name| format!("tidemill copy {name} "));
        if let (true, Some(job)) = (resume, &job) {
            // The inserts of a killed run may still be in flight.
            server.end_predecessors(url, job).await?;
        }
        let adds = resume || !making.create;
        let is_there = adds && self.session.is_there(self.destination).await?;
        if is_there {
            let table = self.session.schema(self.destination).await?;
            sums = sums.map(|sums| sums.reading_text_as(&table));
        }
        // Existing rows of the table are not part of the copy.
        let before = match &sums {
            Some(sums) if is_there => Some(self.found(self.destination, sums).await?),
            _ => None,
        };
        if resume && is_there {
            let rows = match &before {
                Some((rows, _)) => *rows,
                None => self.session.count_under(self.destination, &self.reading()).await?,
            };
            let sums_before = before.as_ref().map(|(_, sums)| sums);
            answer = self.rest(answer, (rows, sums_before), sums.as_ref()).await?;
        }
        let filling = Filling {
            columns: &[],
            making,
            there,
            job: job.as_deref(),
            rows_before: 0,
        };
        let sink = server.fill(url, &answer.schema(), &filling).await?;
        let rows = insert(answer, sink, |batch, rows| step(batch, rows, &mut sums)).await?;
        if let Some(sums) = &sums {
            self.compare_sums(self.destination, sums, before, rows).await?;
        }
        Ok(self.copied(rows, 0, sums.as_ref()))
    }

    /// Copies in multiple transactions, and continues after the rows that an earlier run committed.
    async fn in_transactions(
        &self,
        (server, transactions): (&dyn ServerStore, &dyn Resumable),
        url: &ServerUrl,
        answer: Answer,
        mut sums: Option<Checksums>,
        step: &mut Step<'_>,
    ) -> Result<Copied> {
        let (making, overwrite) = (&self.options.table, self.options.overwrite);
        let schema = answer.schema();
        let names = DraftNames::new(url, self.name.unwrap_or_default(), self.state, &schema);
        let is_there = self.session.is_there(self.destination).await?;
        let draft = match making.create && (overwrite || !is_there) {
            true => Some(names.draft(url)),
            false => None,
        };
        let filled = Location {
            place: Place::Server(draft.as_ref().unwrap_or(url).clone()),
            format: self.destination.format,
        };
        let filled_url = draft.as_ref().unwrap_or(url);
        if let Some(draft) = &draft
            && !self.session.is_there(&filled).await?
        {
            let tables = match server.tables_of(url).await {
                Ok(tables) => tables,
                // Creating the draft creates the database.
                Err(Error::NotFound { .. }) => Vec::new(),
                Err(error) => return Err(error),
            };
            for outdated in tables.iter().filter(|name| names.is_outdated(name)) {
                let drop = TableChange::Drop { if_exists: true };
                server.change(&url.beside(outdated), drop).await?;
            }
            transactions.make_draft(draft, url, &schema, making).await?;
        }
        if draft.is_none() {
            let table = self.session.schema(self.destination).await?;
            sums = sums.map(|sums| sums.reading_text_as(&table));
        }
        transactions.wait_for_writers(filled_url).await?;
        let before = match &sums {
            Some(sums) => Some(self.found(&filled, sums).await?),
            None => None,
        };
        let rows_before = match &before {
            Some((rows, _)) => *rows,
            None => self.rows_of(server, &filled, filled_url).await?,
        };
        let sums_before = before.as_ref().map(|(_, sums)| sums);
        let mut answer = self.rest(answer, (rows_before, sums_before), sums.as_ref()).await?;
        if making.create && draft.is_none() {
            // A table that has all rows is the result of a finished copy; otherwise it is another table.
            while let Some(batch) = answer.next().await? {
                if batch.num_rows() > 0 {
                    return Err(Error::Exists {
                        place: self.destination.to_string(),
                    });
                }
            }
            return Ok(self.copied(0, 0, sums.as_ref()));
        }
        let foreign_keys = draft.as_ref().map_or(&[][..], |_| &making.foreign_keys);
        let sink = ResumableSink::begin(server, filled_url, &schema, rows_before, foreign_keys).await?;
        let rows = insert(answer, Box::new(sink), |batch, rows| step(batch, rows, &mut sums)).await?;
        match &sums {
            Some(sums) => self.compare_sums(&filled, sums, before, rows).await?,
            None => {
                let found = self.rows_of(server, &filled, filled_url).await?;
                let same = self.compare(rows_before + rows, found);
                same.map_err(Error::of_kept_copy)?;
            }
        }
        if let Some(draft) = &draft {
            transactions
                .publish_draft(draft, url, &schema, making, overwrite)
                .await?;
        }
        Ok(self.copied(rows, 0, sums.as_ref()))
    }

    /// The number of rows of a table.
    async fn rows_of(&self, server: &dyn ServerStore, table: &Location, url: &ServerUrl) -> Result<u64> {
        match server.kept_rows(url).await? {
            Some(rows) => Ok(rows),
            None => self.session.count_under(table, &self.reading()).await,
        }
    }

    /// Compares the written rows with those of the table, without the rows that were there before.
    async fn compare_sums(
        &self,
        table: &Location,
        sums: &Checksums,
        before: Option<(u64, Checksums)>,
        rows: u64,
    ) -> Result<()> {
        let (mut found_rows, mut found) = self.found(table, sums).await?;
        if let Some((rows_before, before)) = before {
            found_rows = found_rows.saturating_sub(rows_before);
            found = found.since(&before);
        }
        let same = self.compare(rows, found_rows);
        let same = same.and_then(|()| sums.compare(&found, &self.destination.to_string()));
        same.map_err(Error::of_kept_copy)
    }

    /// The rows after those that the table already has; checksums confirm that these are the first rows of the source.
    async fn rest(
        &self,
        mut answer: Answer,
        (rows, there): (u64, Option<&Checksums>),
        sums: Option<&Checksums>,
    ) -> Result<Answer> {
        if !self.in_order {
            return Err(Error::Unsupported {
                what: "resuming a copy of rows that may come in another order: those of a statement, or of a table of a server"
                    .to_owned(),
                hint: "copy a file, or start again without --resume".to_owned(),
            });
        }
        let place = self.destination.to_string();
        let mut first = sums.cloned();
        let (mut left, mut remainder) = (rows, None);
        while left > 0 {
            let Some(batch) = answer.next().await? else { break };
            let passed = usize::try_from(left).unwrap_or(usize::MAX).min(batch.num_rows());
            if let Some(first) = &mut first {
                first.add(&batch.slice(0, passed), &place)?;
            }
            left -= passed as u64;
            remainder = Some(batch.slice(passed, batch.num_rows() - passed));
        }
        if left > 0 {
            return Err(Error::RowCount {
                place,
                written: rows - left,
                found: rows,
                left: Left::Kept,
            });
        }
        if let (Some(first), Some(there)) = (first, there) {
            first.compare(there, &place).map_err(Error::of_kept_copy)?;
        }
        Ok(match remainder {
            Some(batch) => answer.behind(batch),
            None => answer,
        })
    }
}
