//! The bytes of an answer, without a server.

use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use arrow_array::RecordBatch;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::connection::{Answer, Connection, Sent};
use crate::decode::Decoder;
use crate::error::{Error, Fault, Result};
use crate::options::Unrepresentable;
use crate::read::schema_of;

/// The rows of a server's answer to a prepared statement (`COM_STMT_EXECUTE`), as it is sent: the packets of its columns and rows, of which
/// the first has the number 1. The bytes are taken in pieces of at most `piece`; the rows do not depend on it.
///
/// # Errors
///
/// [`Error::Broken`] for bytes that are no answer or end too early, [`Error::Server`] for an error that was sent, [`Error::Corrupt`] and
/// [`Error::Value`] for rows that are none; [`Error::Unsupported`] for an answer without rows.
///
/// ```
/// // One column of the type int, `n`, and the row 7.
/// let answer = b"\x01\0\0\x01\x01\x17\0\0\x02\x03def\0\0\0\x01n\0\x0c\x3f\0\x0b\0\0\0\x03\0\0\0\0\0\
///     \x06\0\0\x03\0\0\x07\0\0\0\x07\0\0\x04\xfe\0\0\x02\0\0\0";
/// let rows = tidemill_mysql::rows_of_answer(answer, 1024)?;
/// assert_eq!((rows.num_rows(), rows.schema().field(0).name().as_str()), (1, "n"));
/// # Ok::<(), tidemill_mysql::Error>(())
/// ```
pub fn rows_of_answer(bytes: &[u8], piece: usize) -> Result<RecordBatch> {
    let pieces = Pieces {
        bytes: bytes.to_vec(),
        at: 0,
        piece: piece.max(1),
    };
    let rows = pin!(rows(Connection::of_answer(Box::new(pieces))));
    match rows.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(rows) => rows,
        Poll::Pending => Err(broken(Fault::Protocol("bytes that never come".to_owned()))),
    }
}

async fn rows(mut connection: Connection) -> Result<RecordBatch> {
    let Answer::Columns(columns) = connection.answer().await.map_err(broken)? else {
        return Err(Error::Unsupported {
            what: format!("{PLACE}: reading the rows of a statement that gives none"),
            hint: "take an answer with rows".to_owned(),
        });
    };
    let schema = schema_of(&columns);
    let mut decoder = Decoder::new(schema, &columns, PLACE.to_owned(), Unrepresentable::Error)?;
    loop {
        match connection.sent().map_err(broken)? {
            Some(Sent::Row(payload)) => decoder.row(payload)?,
            Some(Sent::End(_)) => return decoder.batch(),
            None => connection.fill().await.map_err(broken)?,
        }
    }
}

fn broken(fault: Fault) -> Error {
    Error::of("reading an answer", fault)
}

const PLACE: &str = "an answer";

/// Bytes that come in pieces.
struct Pieces {
    bytes: Vec<u8>,
    at: usize,
    piece: usize,
}

impl AsyncRead for Pieces {
    fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let rest = this.bytes.get(this.at..).unwrap_or_default();
        let length = rest.len().min(this.piece).min(buffer.remaining());
        buffer.put_slice(rest.get(..length).unwrap_or_default());
        this.at += length;
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Pieces {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
