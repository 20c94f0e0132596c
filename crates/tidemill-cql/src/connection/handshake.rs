//! How a connection begins.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;

use scylla_cql::frame::SerializedRequest;
use scylla_cql::frame::request::Startup;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::answers::{VERSION, invalid};
use super::{HEADER, reply};

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
    read_ready(&mut stream).await?;
    Ok(stream)
}

/// Reads the answer to STARTUP. Of the driver's readers the one of frames takes memory for any length that it is told.
async fn read_ready(stream: &mut (impl AsyncRead + Unpin)) -> io::Result<()> {
    let mut header = [0; HEADER];
    stream.read_exact(&mut header).await?;
    let [version, flags, _, _, opcode, length @ ..] = header;
    if version != VERSION {
        return Err(invalid(format!(
            "expected version {VERSION:#04x}, found {version:#04x}"
        )));
    }
    let length = u32::from_be_bytes(length) as usize;
    if length > LONGEST {
        return Err(invalid(format!(
            "the answer to STARTUP has {length} bytes, more than {LONGEST}"
        )));
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await?;
    match opcode {
        READY => Ok(()),
        other => match reply::parse(flags, other, &body) {
            Err(fault) => Err(io::Error::other(fault)),
            Ok(_) => Err(invalid(format!("expected READY, found opcode {other:#04x}"))),
        },
    }
}

const READY: u8 = 0x02;
/// READY has no body, and an error says why.
const LONGEST: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(opcode: u8, length: u32, body: &[u8]) -> Vec<u8> {
        [&[VERSION, 0, 0, 0, opcode], length.to_be_bytes().as_slice(), body].concat()
    }

    #[tokio::test]
    async fn ready_is_heard_and_all_else_says_why() {
        let mut late = frame(READY, 0, b"behind").as_slice().to_vec();
        read_ready(&mut &late[..]).await.unwrap();
        late[0] = 0x83;
        for (bytes, why) in [
            (late, "expected version 0x84, found 0x83"),
            (frame(0x00, 17, b"\0\0\x01\0\0\x0bno password"), "no password"),
            (frame(0x03, 0, b""), "opcode 0x03"),
            (frame(0x08, 4, &[0, 0, 0, 1]), "expected READY"),
            (frame(READY, u32::MAX, b""), "4294967295 bytes"),
            (frame(READY, 4, b"abc"), "eof"),
            (vec![VERSION], "eof"),
        ] {
            let error = read_ready(&mut &bytes[..]).await.unwrap_err();
            assert!(error.to_string().contains(why), "{error}: {why}");
        }
    }
}
