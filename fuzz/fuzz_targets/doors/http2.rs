//! As much of HTTP/2 ([RFC 9113](https://www.rfc-editor.org/rfc/rfc9113)) and of gRPC over it as a client needs that knows what it asks.
//! Headers that come are not decoded: a request that has failed is answered without a message.

/// What a client says first: windows so large that no answer waits for them, and that it has heard the server's settings.
pub(crate) fn opening() -> Vec<u8> {
    // SETTINGS_INITIAL_WINDOW_SIZE
    let windows = [&4_u16.to_be_bytes()[..], &WINDOW.to_be_bytes()].concat();
    [
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(),
        frame(SETTINGS, 0, 0, &windows),
        frame(WINDOW_UPDATE, 0, 0, &WINDOW.to_be_bytes()),
        frame(SETTINGS, ACK, 0, b""),
    ]
    .concat()
}

/// A frame of less than 16 MiB.
pub(crate) fn frame(kind: u8, flags: u8, stream: u32, content: &[u8]) -> Vec<u8> {
    let length = u32::try_from(content.len()).expect("short");
    let [_, length @ ..] = length.to_be_bytes();
    [&length[..], &[kind, flags], &stream.to_be_bytes(), content].concat()
}

/// A question that is answered as soon as the frames before it were read.
pub(crate) fn ping() -> Vec<u8> {
    frame(PING, 0, 0, PING_CONTENT)
}

/// Whether it was answered.
pub(crate) fn is_pong(heard: &[u8]) -> bool {
    Frames(heard).any(|frame| frame.kind == PING && frame.flags & ACK != 0 && frame.content == PING_CONTENT)
}

/// A call of a method of Flight, with further headers, which are encoded already ([RFC 7541](https://www.rfc-editor.org/rfc/rfc7541)).
pub(crate) fn call(stream: u32, method: &str, headers: &[u8], messages: &[Vec<u8>]) -> Vec<u8> {
    let path = format!("/arrow.flight.protocol.FlightService/{method}");
    // Of the static table: `:method: POST`, `:scheme: http`; `:path`, `:authority` and `content-type` with values of their own.
    let mut block = vec![0x83, 0x86];
    for (name, value) in [
        (&[0x04][..], path.as_str()),
        (&[0x01][..], "localhost"),
        (&[0x0f, 0x10][..], "application/grpc"),
    ] {
        block.extend_from_slice(name);
        block.push(u8::try_from(value.len()).expect("short"));
        block.extend_from_slice(value.as_bytes());
    }
    block.extend_from_slice(b"\0\x02te\x08trailers");
    block.extend_from_slice(headers);
    let mut call = frame(HEADERS, END_HEADERS, stream, &block);
    for message in messages {
        let length = u32::try_from(message.len()).expect("short");
        let content = [&[0][..], &length.to_be_bytes(), message].concat();
        // No frame has more than 16 KiB unless the server says so.
        for content in content.chunks(1 << 14) {
            call.extend(frame(DATA, 0, stream, content));
        }
    }
    call.extend(frame(DATA, END_STREAM, stream, b""));
    call
}

/// Whether a call is answered to its end.
pub(crate) fn is_over(heard: &[u8], stream: u32) -> bool {
    let ends = |frame: &Frame<'_>| match frame.kind {
        DATA | HEADERS => frame.flags & END_STREAM != 0,
        kind => kind == RST_STREAM,
    };
    Frames(heard).any(|frame| frame.stream == stream && ends(&frame))
}

/// The messages that answer a call.
pub(crate) fn messages(heard: &[u8], stream: u32) -> Vec<Vec<u8>> {
    let frames = Frames(heard).filter(|frame| frame.stream == stream && frame.kind == DATA);
    let data: Vec<u8> = frames.flat_map(|frame| frame.content).copied().collect();
    let (mut messages, mut rest) = (Vec::new(), &data[..]);
    while let [_, a, b, c, d, behind @ ..] = rest {
        let length = usize::try_from(u32::from_be_bytes([*a, *b, *c, *d])).expect("64 bits");
        let Some((message, behind)) = behind.split_at_checked(length) else {
            break;
        };
        messages.push(message.to_vec());
        rest = behind;
    }
    messages
}

/// Whether bytes are frames to the last.
pub(crate) fn is_whole(heard: &[u8]) -> bool {
    let mut frames = Frames(heard);
    while frames.next().is_some() {}
    frames.0.is_empty()
}

struct Frame<'a> {
    kind: u8,
    flags: u8,
    stream: u32,
    content: &'a [u8],
}

/// The whole frames at the beginning of some bytes.
struct Frames<'a>(&'a [u8]);

impl<'a> Iterator for Frames<'a> {
    type Item = Frame<'a>;

    fn next(&mut self) -> Option<Frame<'a>> {
        let [a, b, c, kind, flags, s, t, r, m, rest @ ..] = self.0 else {
            return None;
        };
        let length = usize::try_from(u32::from_be_bytes([0, *a, *b, *c])).ok()?;
        let (content, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some(Frame {
            kind: *kind,
            flags: *flags,
            stream: u32::from_be_bytes([*s & 0x7f, *t, *r, *m]),
            content,
        })
    }
}

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const WINDOW_UPDATE: u8 = 8;

const ACK: u8 = 1;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

const WINDOW: u32 = 16 << 20;
const PING_CONTENT: &[u8] = b"tidemill";
