//! How a connection begins.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;

use scylla_cql::frame::request::Startup;
use scylla_cql::frame::response::ResponseOpcode;
use scylla_cql::frame::response::error::Error as ErrorFrame;
use scylla_cql::frame::{FrameParams, SerializedRequest, protocol_features::ProtocolFeatures, read_response_frame};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

/// Connects and says STARTUP: version 4 of the protocol, without compression.
///
/// # Errors
/// When nobody listens, and when the server wants more than that, such as a password.
pub(super) async fn connect(address: SocketAddr) -> io::Result<TcpStream> {
    let mut stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let options = HashMap::from([(Cow::from("CQL_VERSION"), Cow::from("3.0.0"))]);
    let startup = SerializedRequest::make(&Startup { options }, None, false).map_err(io::Error::other)?;
    stream.write_all(startup.get_data()).await?;
    let (FrameParams { .. }, opcode, body) = read_response_frame(&mut stream).await.map_err(io::Error::other)?;
    // Nothing else is read: the driver's readers trust what a server says of lengths.
    match opcode {
        ResponseOpcode::Ready => Ok(stream),
        ResponseOpcode::Error => {
            let error = ErrorFrame::deserialize(&ProtocolFeatures::default(), &mut &*body);
            let ErrorFrame { error, reason } = error.map_err(io::Error::other)?;
            Err(io::Error::other(format!("{error}: {reason}")))
        }
        other => Err(io::Error::other(format!(
            "expected {:?}, found {other:?}",
            ResponseOpcode::Ready
        ))),
    }
}
