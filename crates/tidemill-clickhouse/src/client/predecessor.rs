//! Ends the queries that a killed client left running on the server.
//!
//! The server continues such a query for a while: an INSERT stores the rows that it received. A new client that counts the stored rows
//! to resume the job would count too early. So all queries of a job have identifiers with the same prefix, and the new client ends the
//! queries with this prefix before it counts.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::{Client, Options, clocks};
use crate::{Error, Result, sql_text};

impl Client {
    /// Stops every query whose name begins with `prefix`, on every server of the options, and waits until none of them is left.
    /// Returns how many there were. What they have stored is there, and nothing is added to it later.
    ///
    /// ```no_run
    /// # async fn example(client: tidemill_clickhouse::client::Client) -> tidemill_clickhouse::Result<()> {
    /// # use std::time::Duration;
    /// // Who may have done the job before has called its inserts so, too.
    /// let job = "nightly-load-of-tides/";
    /// client.end_queries(job, Duration::from_secs(60)).await?;
    /// let stored: u64 = client.query_as("SELECT count() FROM tides").fetch_one().await?;
    /// let insert = client.insert("tides").query_id(format!("{job}from row {stored}")).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Names are compared by their bytes. It takes the right to kill the queries, which are the user's own if the user is the
    /// same. Rows that a server collects for later (`async_insert` without waiting, tables with the engines `Buffer` and
    /// `Distributed`) belong to no query any more.
    ///
    /// # Errors
    ///
    /// [`Error::Option`] for an empty prefix, [`Error::Timeout`] when some are left after `limit` (before 19 servers cannot stop
    /// the INSERT of a process that lives), and those of
    /// [`Request::execute`](super::Request::execute): also when one of several servers cannot be reached, for nobody knows what
    /// it does.
    pub async fn end_queries(&self, prefix: &str, limit: Duration) -> Result<usize> {
        if prefix.is_empty() {
            return Err(Error::Option {
                option: "prefix".to_owned(),
                expected: "the beginning of the names of the queries to stop; it is empty".to_owned(),
            });
        }
        let until = Instant::now() + limit.min(clocks::LONGEST);
        let mut ended = 0;
        for endpoint in &self.options().endpoints {
            let client = match self.options().endpoints.len() {
                1 => self.clone(),
                _ => Self::with_manager(self.0.manager().with_options(Options {
                    endpoints: vec![endpoint.clone()],
                    ..self.options().clone()
                }))?,
            };
            ended += client.end_queries_there(prefix, until, limit).await?;
        }
        Ok(ended)
    }

    async fn end_queries_there(&self, prefix: &str, until: Instant, limit: Duration) -> Result<usize> {
        let late = Error::Timeout {
            action: "wait for the end of queries that were left running",
            limit,
        };
        let left = || until.saturating_duration_since(Instant::now());
        let text = sql_text::string(prefix);
        let condition = format!("substring(query_id, 1, {}) = {text}", prefix.len());
        // Without SYNC, which has no bound of its own; and which of them 18.16 waits for depends on what they do.
        let kill = format!("KILL QUERY WHERE {condition} ASYNC");
        let count = format!("SELECT count() FROM system.processes WHERE {condition}");
        let mut most = 0;
        let mut pause = FIRST_PAUSE;
        loop {
            let counting = self.query_as::<u64>(&count).with(|request| request.deadline(left()));
            let running = counting.fetch_one().await?;
            most = most.max(usize::try_from(running).unwrap_or(usize::MAX));
            if running == 0 {
                return Ok(most);
            }
            if left().is_zero() {
                return Err(late);
            }
            // One that had not begun, or was in the middle of something, is told again.
            match self.query(&kill).deadline(left()).execute().await {
                // Servers before 19 cannot stop an INSERT, which ends by itself when its client is gone.
                Err(Error::Server(exception)) if exception.code == CANNOT_KILL => {}
                told => drop(told?),
            }
            sleep(pause.min(left())).await;
            pause = (pause * 2).min(LAST_PAUSE);
        }
    }
}

/// `ErrorCodes::CANNOT_KILL`.
const CANNOT_KILL: i32 = 380;
const FIRST_PAUSE: Duration = Duration::from_millis(5);
const LAST_PAUSE: Duration = Duration::from_millis(500);
