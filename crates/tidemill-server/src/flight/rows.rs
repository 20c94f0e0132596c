//! Results as messages of Flight.

use std::sync::Arc;

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

use super::status;
use crate::failure::Failure;
use crate::statement::Statement;

/// Messages for a client.
pub(super) type Messages = BoxStream<'static, Result<FlightData, Status>>;

/// The parameter values of each run.
type Runs = Box<dyn Iterator<Item = tidemill_sql::Result<Vec<Value>>> + Send>;

/// The rows of a statement, which runs once for each row of parameter values; the rows of all runs are concatenated.
pub(super) struct Rows {
    session: Arc<Session>,
    pub(super) statement: Statement,
    answer: Option<Answer>,
    runs: Runs,
    /// The columns, as clients see them.
    pub(super) schema: SchemaRef,
}

impl Rows {
    /// Runs a query until its first rows. Without batches of values, it has no parameters.
    ///
    /// # Errors
    ///
    /// What is wrong with the statement or its values.
    pub(super) async fn begin(
        session: Arc<Session>,
        mut statement: Statement,
        values: Vec<RecordBatch>,
    ) -> Result<Self, Failure> {
        match Self::first(&session, &mut statement, values).await {
            Ok((schema, answer, runs)) => Ok(Self {
                session,
                statement,
                answer,
                runs,
                schema: for_programs(&schema),
            }),
            Err(failure) => Err(statement.failed(failure)),
        }
    }

    async fn first(
        session: &Session,
        statement: &mut Statement,
        values: Vec<RecordBatch>,
    ) -> Result<(SchemaRef, Option<Answer>, Runs), Failure> {
        let text = Arc::clone(&statement.text);
        // A NULL has no type. Stand-in values make the columns the same for all runs.
        let stand_ins = values.first().map(|batch| stand_ins(batch.columns())).transpose();
        let described = match stand_ins.map_err(|error| statement.failure(&error))?.flatten() {
            Some(values) => Some(statement.read(session.query_with(&text, &values)).await?.schema()),
            None => None,
        };
        let mut runs: Runs = match values.is_empty() {
            true => Box::new(std::iter::once(Ok(Vec::new()))),
            false => Box::new(runs(values)),
        };
        let answer = match runs.next().transpose().map_err(|error| statement.failure(&error))? {
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

    /// The rows of a result that exists already.
    pub(super) fn of_answer(session: Arc<Session>, statement: Statement, answer: Answer) -> Self {
        Self {
            session,
            statement,
            schema: for_programs(&answer.schema()),
            answer: Some(answer),
            runs: Box::new(std::iter::empty()),
        }
    }

    /// The next rows; `None` at the end.
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
            let values = self.runs.next().transpose();
            let Some(values) = values.map_err(|error| self.statement.failure(&error))? else {
                return Ok(None);
            };
            let text = Arc::clone(&self.statement.text);
            let run = self.session.query_with(&text, &values);
            self.answer = Some(self.statement.read(run).await?);
        }
    }

    /// Streams the rows as they are read. Dropping the stream stops the scan.
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

/// Converts batches to messages.
pub(super) fn messages(schema: SchemaRef, batches: BoxStream<'static, Result<RecordBatch, FlightError>>) -> Messages {
    let encoder = FlightDataEncoderBuilder::new().with_schema(schema).build(batches);
    encoder.map_err(Status::from).boxed()
}

/// The parameter values of each run, one run per row.
pub(super) fn runs(
    values: Vec<RecordBatch>,
) -> impl Iterator<Item = tidemill_sql::Result<Vec<Value>>> + Send + 'static {
    let runs = |batch: RecordBatch| match values_of(batch.columns(), batch.num_rows()) {
        Ok(rows) => rows.into_iter().map(Ok).collect(),
        Err(error) => vec![Err(error)],
    };
    values.into_iter().flat_map(runs)
}

/// The columns of a query, planned with NULL for its parameters.
///
/// # Errors
///
/// What is wrong with the statement.
pub(super) async fn describe(session: &Session, statement: &mut Statement) -> Result<SchemaRef, Failure> {
    let text = Arc::clone(&statement.text);
    let parameters = tidemill_ads::sql::parameters(&text).map_err(|error| statement.failure(&error.into()))?;
    let values = vec![Value::Null; parameters.len()];
    Ok(statement.read(session.query_with(&text, &values)).await?.schema())
}
