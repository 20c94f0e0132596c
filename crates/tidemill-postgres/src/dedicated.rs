//! A connection of one's own for statements that are prepared once and run many times, as load tests do.

use std::error::Error as StdError;
use std::fmt;
use std::pin::pin;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use bytes::BytesMut;
use futures::StreamExt as _;
use tokio_postgres::Statement;
use tokio_postgres::types::{Format, IsNull, ToSql, Type as WireType};

use crate::client::{Client, Lease};
use crate::data_type::Type;
use crate::decode::Decoder;
use crate::error::{Error, Result};
use crate::read::{schema_of, types};
use crate::session::{bytes, shortened};

/// A connection on which one statement runs at a time. Dropping it, also while a statement runs, has the server cancel what runs, and
/// closes the connection.
pub struct Dedicated {
    client: Client,
    lease: Lease,
}

/// A statement of one [`Dedicated`] connection. The server forgets it when this is dropped.
#[derive(Clone)]
pub struct Prepared {
    statement: Statement,
    parameters: Vec<Type>,
    schema: SchemaRef,
    place: String,
}

/// The value of a parameter, as it is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Parameter {
    /// NULL.
    Null,
    /// The bytes of the type's binary format.
    Binary(Vec<u8>),
    /// The type's text, which the server reads.
    Text(String),
}

/// What came of a statement.
#[derive(Debug, Default)]
pub struct Outcome {
    /// How many rows came or were changed.
    pub rows: u64,
    /// The rows, where they are wanted.
    pub batch: Option<RecordBatch>,
}

impl Client {
    /// A connection of one's own.
    ///
    /// # Errors
    ///
    /// [`Error::Connect`] when the server lets nobody in.
    pub async fn dedicated(&self) -> Result<Dedicated> {
        Ok(Dedicated {
            client: self.clone(),
            lease: self.lease().await?,
        })
    }
}

impl Dedicated {
    /// Whether the connection has ended, so that nothing runs on it any more.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.lease.driver().is_closed()
    }

    /// Prepares a statement, whose parameters are `$1`, `$2` and so on.
    ///
    /// # Errors
    ///
    /// [`Error::Server`] when the server refuses it, [`Error::Broken`] without a connection.
    pub async fn prepare(&self, text: &str) -> Result<Prepared> {
        let place = shortened(text);
        let statement = self.client.within(&place, self.lease.driver().prepare(text)).await?;
        let parameters = statement.params().iter().map(|typ| Type::of_wire(typ, -1));
        Ok(Prepared {
            parameters: parameters.collect(),
            schema: schema_of(&statement),
            statement,
            place,
        })
    }

    /// Runs a statement that this connection prepared, to its last row. Rows are kept only where they are wanted.
    ///
    /// # Errors
    ///
    /// [`Error::Server`] when the server refuses it, [`Error::Broken`] without a connection, [`Error::Unsupported`] for another number of
    /// values than it has parameters, and columns of types that Arrow does not have.
    pub async fn run(&self, prepared: &Prepared, parameters: &[Parameter], wants_rows: bool) -> Result<Outcome> {
        let Prepared { statement, place, .. } = prepared;
        if parameters.len() != prepared.parameters.len() {
            let (needed, found) = (prepared.parameters.len(), parameters.len());
            return Err(Error::Unsupported {
                what: format!("{place}: {found} values for {needed} parameters"),
                hint: "give one value for each of $1, $2 and so on".to_owned(),
            });
        }
        let mut decoder = match wants_rows && !statement.columns().is_empty() {
            true => Some(Decoder::new(
                Arc::clone(&prepared.schema),
                &types(statement),
                place.clone(),
                self.client.options().unrepresentable,
            )?),
            false => None,
        };
        let driver = self.lease.driver();
        let mut stream = pin!(
            self.client
                .within(place, driver.query_raw(statement, parameters))
                .await?
        );
        let mut rows = 0;
        while let Some(row) = stream.next().await.transpose().map_err(|e| Error::of(place, &e))? {
            rows += 1;
            if let Some(decoder) = &mut decoder {
                decoder.values((0..row.len()).map(|index| bytes(&row, index, place)))?;
            }
        }
        if statement.columns().is_empty() {
            rows = stream.rows_affected().unwrap_or_default();
        }
        Ok(Outcome {
            rows,
            batch: decoder.map(|mut decoder| decoder.batch()).transpose()?,
        })
    }

    /// Runs a statement that has neither parameters nor rows, such as BEGIN.
    ///
    /// # Errors
    ///
    /// As [`Dedicated::run`].
    pub async fn command(&self, text: &str) -> Result<()> {
        self.client.within(text, self.lease.driver().batch_execute(text)).await
    }
}

impl Prepared {
    /// The types of its parameters.
    #[must_use]
    pub fn parameters(&self) -> &[Type] {
        &self.parameters
    }
}

impl ToSql for Parameter {
    fn to_sql(&self, _: &WireType, out: &mut BytesMut) -> Result<IsNull, Box<dyn StdError + Sync + Send>> {
        match self {
            Self::Null => return Ok(IsNull::Yes),
            Self::Binary(bytes) => out.extend_from_slice(bytes),
            Self::Text(text) => out.extend_from_slice(text.as_bytes()),
        }
        Ok(IsNull::No)
    }

    fn accepts(_: &WireType) -> bool {
        true
    }

    fn encode_format(&self, _: &WireType) -> Format {
        match self {
            Self::Text(_) => Format::Text,
            _ => Format::Binary,
        }
    }

    fn to_sql_checked(&self, typ: &WireType, out: &mut BytesMut) -> Result<IsNull, Box<dyn StdError + Sync + Send>> {
        self.to_sql(typ, out)
    }
}

impl fmt::Debug for Dedicated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dedicated")
            .field("client", &self.client)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Prepared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prepared")
            .field("statement", &self.place)
            .finish_non_exhaustive()
    }
}
