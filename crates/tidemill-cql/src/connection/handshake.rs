//! How a connection begins.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::io;
use std::sync::Arc;

use scylla_cql::frame::request::{AuthResponse, SerializableRequest, Startup};
use scylla_cql::frame::{Compression, SerializedRequest};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio_rustls::rustls::ClientConfig;

use super::HEADER;
use super::answers::{VERSION, invalid};
use super::reply;
use super::stream::Stream;
use crate::relay::Node;

/// What a connection is agreed on with.
#[derive(Clone, Debug, Default)]
pub struct Handshake {
    /// Who asks, where the cluster wants to know. Default: nobody.
    pub login: Option<Login>,
    /// How connections are encrypted. Default: not.
    pub tls: Option<Arc<ClientConfig>>,
    /// How bodies of frames are made shorter. Default: not.
    pub compression: Option<Compression>,
}

/// A user and the password, which is not shown.
#[derive(Clone)]
pub struct Login {
    /// The user's name.
    pub user: String,
    /// The user's password.
    pub password: String,
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Login")
            .field("user", &self.user)
            .finish_non_exhaustive()
    }
}

impl Handshake {
    /// Connects to a node, and agrees on version 4 of the protocol.
    ///
    /// # Errors
    /// When nobody listens, when the certificate is not one to trust, and when the server wants what is not here.
    pub(super) async fn connect(&self, node: &Node) -> io::Result<Stream> {
        let mut stream = node.connect(self.tls.as_ref()).await?;
        self.agree(&mut stream).await?;
        Ok(stream)
    }

    /// STARTUP, and where the server asks for it the password: sections 4.1.1, 4.1.2 and 4.2.3 of the protocol.
    async fn agree(&self, stream: &mut (impl AsyncRead + AsyncWrite + Unpin)) -> io::Result<()> {
        let mut options = HashMap::from([(Cow::from("CQL_VERSION"), Cow::from("3.0.0"))]);
        if let Some(compression) = self.compression {
            options.insert("COMPRESSION".into(), compression.as_str().into());
        }
        write(stream, &Startup { options }).await?;
        match read(stream, self.compression).await? {
            READY => return Ok(()),
            AUTHENTICATE => {}
            other => return Err(invalid(format!("expected READY, found opcode {other:#04x}"))),
        }
        let Some(Login { user, password }) = &self.login else {
            return Err(invalid("the server wants a password, and there is none".to_owned()));
        };
        // RFC 4616: no other identity, the user, the password.
        let response = Some(["", user, password].join("\0").into_bytes());
        write(stream, &AuthResponse { response }).await?;
        match read(stream, self.compression).await? {
            AUTH_SUCCESS => Ok(()),
            other => Err(invalid(format!("expected AUTH_SUCCESS, found opcode {other:#04x}"))),
        }
    }
}

async fn write(stream: &mut (impl AsyncWrite + Unpin), request: &impl SerializableRequest) -> io::Result<()> {
    let frame = SerializedRequest::make(request, None, false).map_err(io::Error::other)?;
    stream.write_all(frame.get_data()).await?;
    stream.flush().await
}

/// Reads what the server says of the handshake: READY, AUTHENTICATE or AUTH_SUCCESS. Of the driver's readers the one of frames takes memory
/// for any length that it is given.
async fn read(stream: &mut (impl AsyncRead + Unpin), compression: Option<Compression>) -> io::Result<u8> {
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
            "an answer of the handshake has {length} bytes, more than {LONGEST}"
        )));
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await?;
    match opcode {
        READY | AUTHENTICATE | AUTH_SUCCESS => Ok(opcode),
        other => match reply::parse(flags, other, &body, compression, false) {
            Err(fault) => Err(io::Error::other(fault)),
            Ok(_) => Err(invalid(format!("expected READY, found opcode {other:#04x}"))),
        },
    }
}

const READY: u8 = 0x02;
const AUTHENTICATE: u8 = 0x03;
const AUTH_SUCCESS: u8 = 0x10;
/// READY has no body, a class of passwords has a name, and an error says why.
const LONGEST: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(opcode: u8, length: u32, body: &[u8]) -> Vec<u8> {
        [&[VERSION, 0, 0, 0, opcode], length.to_be_bytes().as_slice(), body].concat()
    }

    /// The result of a handshake in which the server sends these bytes, and the bytes that it received.
    async fn exchange(handshake: &Handshake, says: &[u8]) -> (io::Result<()>, Vec<u8>) {
        let (mut ours, mut server) = tokio::io::duplex(4096);
        server.write_all(says).await.unwrap();
        server.shutdown().await.unwrap();
        let end = handshake.agree(&mut ours).await;
        drop(ours);
        let mut received = Vec::new();
        server.read_to_end(&mut received).await.unwrap();
        (end, received)
    }

    #[tokio::test]
    async fn ready_is_accepted_and_all_else_is_explained() {
        let nobody = Handshake::default();
        let mut late = frame(READY, 0, b"behind");
        exchange(&nobody, &late).await.0.unwrap();
        late[0] = 0x83;
        for (bytes, why) in [
            (late, "expected version 0x84, found 0x83"),
            (frame(0x00, 17, b"\0\0\x01\0\0\x0bno password"), "no password"),
            (frame(AUTHENTICATE, 2, b"\0\0"), "wants a password"),
            (frame(0x08, 4, &[0, 0, 0, 1]), "expected READY"),
            (frame(AUTH_SUCCESS, 0, b""), "expected READY"),
            (frame(READY, u32::MAX, b""), "4294967295 bytes"),
            (frame(READY, 4, b"abc"), "eof"),
            (vec![VERSION], "eof"),
        ] {
            let error = exchange(&nobody, &bytes).await.0.unwrap_err();
            assert!(error.to_string().contains(why), "{error}: {why}");
        }
    }

    #[tokio::test]
    async fn a_password_is_given_where_it_is_asked_for() {
        let login = Login {
            user: "ann".to_owned(),
            password: "secret".to_owned(),
        };
        assert!(!format!("{login:?}").contains("secret"));
        let ann = Handshake {
            login: Some(login),
            compression: Some(Compression::Lz4),
            ..Handshake::default()
        };
        let asked = frame(AUTHENTICATE, 3, b"\0\x01x");
        let says = [asked.clone(), frame(AUTH_SUCCESS, 4, &[0xff; 4])].concat();
        let (end, received) = exchange(&ann, &says).await;
        end.unwrap();
        assert!(
            received.ends_with(b"\x04\0\0\0\x0f\0\0\0\x0f\0\0\0\x0b\0ann\0secret"),
            "{received:?}"
        );
        assert!(
            received.windows(14).any(|part| part == b"COMPRESSION\0\x03l"),
            "{received:?}"
        );
        let refused = [asked, frame(0x00, 10, b"\0\0\x01\0\0\x04away")].concat();
        let error = exchange(&ann, &refused).await.0.unwrap_err();
        assert!(error.to_string().contains("away"), "{error}");
        let (end, received) = exchange(&ann, &frame(READY, 0, b"")).await;
        end.unwrap();
        assert!(!received.windows(6).any(|part| part == b"secret"));
    }
}
