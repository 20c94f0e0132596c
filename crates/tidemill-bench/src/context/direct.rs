//! Requests of cycles that are run without a machine.

use std::task;
use std::time::Instant;

use rune::Value;

use super::{Context, Failure, Statement};
use crate::target::{Answer, Begun, Ended, Parameters, Session as _, Wanted};

impl Context {
    /// The statement that was prepared as `key`.
    pub(crate) fn prepared(&self, key: &str) -> Option<Statement> {
        self.statements.borrow().get(key).copied()
    }

    /// Begins a request for a cycle.
    #[inline]
    pub(crate) fn begin(&self, statement: Statement, parameters: Parameters<'_>, cycle: u32, now: Instant) -> Begun {
        let begun = self.session.begin(statement.number, parameters, cycle, now);
        if let Begun::Sent | Begun::Ended(_) = begun {
            self.recorder.borrow_mut().request_started(now);
        }
        begun
    }

    /// Gives the requests of cycles that have ended.
    pub(crate) fn poll(&self, context: &mut task::Context<'_>, ended: &mut Vec<(u32, Ended)>) {
        self.session.poll(context, ended);
    }

    /// Records a request of a cycle that is over.
    ///
    /// # Errors
    /// What came of it, when there is more to do: [`Context::go_on`] does it.
    #[inline]
    pub(crate) fn over(
        &self,
        key: &str,
        statement: Statement,
        sent: Instant,
        now: Instant,
        ended: Ended,
    ) -> Result<Result<(), Failure>, Ended> {
        let (rows, outcome) = match &ended {
            Ended::Over(Ok(rows)) => (*rows, Ok(())),
            Ended::Over(Err(failure)) if self.policy.retries == 0 || !self.retries(failure.kind) => {
                (0, Err(failure.kind.name()))
            }
            Ended::Over(Err(_)) | Ended::Unfinished(_) => return Err(ended),
        };
        self.recorder
            .borrow_mut()
            .request(statement.id, sent, now, rows, 0, outcome);
        if let Ended::Over(Err(failure)) = &ended {
            let kind = failure.kind.name();
            self.recorder.borrow_mut().error_text(kind, || failure.to_string());
        }
        match ended {
            Ended::Over(Err(failure)) => Ok(Err(failure.about(&self.text_of(key)))),
            Ended::Over(Ok(_)) | Ended::Unfinished(_) => Ok(Ok(())),
        }
    }

    /// Continues with a request of a cycle, and records it.
    pub(crate) async fn go_on(
        &self,
        key: &str,
        statement: Statement,
        parameters: &Value,
        sent: Instant,
        ended: Ended,
    ) -> Result<(), Failure> {
        let first = match ended {
            Ended::Over(rows) => rows.map(|rows| Answer {
                rows,
                ..Answer::default()
            }),
            Ended::Unfinished(rest) => self.session.finish(statement.number, parameters, rest).await,
        };
        let attempt = || {
            self.session
                .execute_prepared(statement.number, parameters, Wanted::Count)
        };
        self.settle(statement.id, None, sent, first, attempt)
            .await
            .map(drop)
            .map_err(|failure| failure.about(&self.text_of(key)))
    }

    /// Makes a request that could not be begun.
    pub(crate) async fn ask(&self, key: &str, parameters: &Value) -> Result<(), Failure> {
        self.execute_statement(key, parameters, Wanted::Count, None)
            .await
            .map(drop)
    }
}
