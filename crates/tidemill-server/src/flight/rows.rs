//! Answers as messages of Flight.

use std::sync::{Arc, PoisonError};
use std::vec::IntoIter;

use arrow_array::RecordBatch;
use arrow_flight::FlightData;
use arrow_flight::encode::FlightDataEncoderBuilder;
use arrow_flight::error::FlightError;
use arrow_schema::SchemaRef;
use futures::stream::{self, BoxStream};
use futures::{StreamExt as _, TryStreamExt as _};
use tidemill_ads::sql::Value;
use tidemill_sql::{Answer, Session, cast_batch, for_programs, stand_ins, values_of};
use tonic::Status;

use super::caller::Caller;
use super::kept::Kept;
use super::status;
use crate::failure::Failure;
use crate::statement::{Canceller, Statement};
use crate::users::random;

/// Messages for a client.
pub(super) type Messages = BoxStream<'static, Result<FlightData, Status>>;

/// An answer that another request can cancel until this is dropped.
pub(super) struct Running {
    kept: Arc<Kept>,
    pub(super) handle: [u8; 16],
}

impl Running {
    pub(super) fn begin(kept: &Arc<Kept>, caller: &Caller, canceller: &Canceller) -> Self {
        let handle = random();
        let mut running = kept.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.insert(handle, (caller.user.clone(), canceller.clone()));
        drop(running);
        let kept = Arc::clone(kept);
        Self { kept, handle }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let mut running = self.kept.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.remove(&self.handle);
    }
}

/// The rows of a statement: those of each run behind one another, one run for each row of values.
pub(super) struct Rows {
    session: Arc<Session>,
    pub(super) statement: Statement,
    answer: Option<Answer>,
    runs: IntoIter<Vec<Value>>,
    /// The columns, as clients see them.
    pub(super) schema: SchemaRef,
    _running: Running,
}

impl Rows {
    /// Runs a query as far as its first rows. Without batches of values it has no parameters.
    ///
    /// # Errors
    ///
    /// What is wrong with the statement or its values.
    pub(super) async fn begin(
        session: Arc<Session>,
        mut statement: Statement,
        values: &[RecordBatch],
        running: Running,
    ) -> Result<Self, Failure> {
        let begun = Self::first(&session, &mut statement, values).await;
        let (schema, answer, runs) = match begun {
            Ok(begun) => begun,
            failed => {
                statement.end(failed.map(|_| ()))?;
                return Err(Failure::new("XX000", "a query without an end"));
            }
        };
        Ok(Self {
            session,
            statement,
            answer,
            runs,
            schema: for_programs(&schema),
            _running: running,
        })
    }

    async fn first(
        session: &Session,
        statement: &mut Statement,
        values: &[RecordBatch],
    ) -> Result<(SchemaRef, Option<Answer>, IntoIter<Vec<Value>>), Failure> {
        let text = statement.text.clone();
        let mut runs = runs(values).map_err(|error| statement.failure(&error))?.into_iter();
        // A NULL has no type: values stand in for it, so that the columns are those of all runs.
        let stand_ins = values.first().map(|batch| stand_ins(batch.columns())).transpose();
        let described = match stand_ins.map_err(|error| statement.failure(&error))?.flatten() {
            Some(values) => Some(statement.read(session.query_with(&text, &values)).await?.schema()),
            None => None,
        };
        let answer = match runs.next() {
            Some(values) => Some(statement.read(session.query_with(&text, &values)).await?),
            None => None,
        };
        let described = described.or_else(|| answer.as_ref().map(Answer::schema));
        let schema = match described {
            Some(schema) => schema,
            None => describe(session, statement).await?,
        };
        Ok((schema, answer, runs))
    }

    /// Of an answer that is there.
    pub(super) fn of_answer(session: Arc<Session>, statement: Statement, answer: Answer, running: Running) -> Self {
        Self {
            session,
            statement,
            schema: for_programs(&answer.schema()),
            answer: Some(answer),
            runs: Vec::new().into_iter(),
            _running: running,
        }
    }

    /// The next rows; `None` behind the last.
    async fn next(&mut self) -> Result<Option<RecordBatch>, Failure> {
        loop {
            if let Some(answer) = &mut self.answer {
                if let Some(batch) = self.statement.read(answer.next()).await? {
                    self.statement.count(batch.num_rows() as u64)?;
                    let batch = cast_batch(&batch, &self.schema);
                    return batch.map(Some).map_err(|error| self.statement.failure(&error));
                }
                self.answer = None;
            }
            let Some(values) = self.runs.next() else {
                return Ok(None);
            };
            let text = self.statement.text.clone();
            let run = self.session.query_with(&text, &values);
            self.answer = Some(self.statement.read(run).await?);
        }
    }

    /// The rows, as they are read. The scan behind them ends when nobody takes them any more.
    pub(super) fn into_messages(self) -> Messages {
        let schema = Arc::clone(&self.schema);
        let batches = stream::unfold(Some(self), |rows| async {
            let mut rows = rows?;
            match rows.next().await {
                Ok(Some(batch)) => Some((Ok(batch), Some(rows))),
                done => match rows.statement.end(done) {
                    Ok(_) => None,
                    Err(failure) => Some((Err(FlightError::Tonic(Box::new(status(&failure)))), None)),
                },
            }
        });
        messages(schema, batches.boxed())
    }
}

/// Batches as messages.
pub(super) fn messages(schema: SchemaRef, batches: BoxStream<'static, Result<RecordBatch, FlightError>>) -> Messages {
    let encoder = FlightDataEncoderBuilder::new().with_schema(schema).build(batches);
    encoder.map_err(Status::from).boxed()
}

/// The values of each run.
fn runs(values: &[RecordBatch]) -> tidemill_sql::Result<Vec<Vec<Value>>> {
    if values.is_empty() {
        return Ok(vec![Vec::new()]);
    }
    let mut runs = Vec::new();
    for batch in values {
        runs.extend(values_of(batch.columns(), batch.num_rows())?);
    }
    Ok(runs)
}

/// The columns of a query. Its parameters are NULL.
///
/// # Errors
///
/// What is wrong with the statement.
pub(super) async fn describe(session: &Session, statement: &mut Statement) -> Result<SchemaRef, Failure> {
    let text = statement.text.clone();
    let parameters = tidemill_ads::sql::parameters(&text).map_err(|error| statement.failure(&error.into()))?;
    let values = vec![Value::Null; parameters.len()];
    Ok(statement.read(session.query_with(&text, &values)).await?.schema())
}
