//! A web server that breaks its promises, for what a real store won't do on demand.

use std::io::{self, BufRead, BufReader, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

/// How a server misbehaves. It serves one object, or the list of a bucket, whatever is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misbehaviour {
    /// It promises 8,000 bytes of CSV and sends 10, as if these were what was asked for.
    Short,
    /// It promises 100 GB and sends zeros as long as anybody reads.
    FalseLength,
    /// It promises 1,000 bytes, and sends more without end.
    Longer,
    /// It sends a byte a second.
    Drip,
    /// It takes the request and answers nothing.
    Silent,
    /// A page of a list of a bucket that does not end.
    EndlessPage,
    /// A list of pages without end.
    EndlessPages,
    /// A list whose first element has 200,000 attributes (RUSTSEC-2026-0194).
    ManyAttributes,
    /// An error of a server whose text would move the cursor of a terminal.
    Escapes,
}

/// A server that misbehaves until the process ends.
#[derive(Debug)]
pub struct HostileHttp {
    address: SocketAddr,
}

impl HostileHttp {
    /// Starts one on a free port of this machine.
    ///
    /// # Errors
    ///
    /// Whatever the system says of listening.
    pub fn start(misbehaviour: Misbehaviour) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // Whoever it talks to goes away in the middle, mostly.
                thread::spawn(move || drop(converse(&stream, misbehaviour)));
            }
        });
        Ok(Self { address })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

fn converse(stream: &TcpStream, misbehaviour: Misbehaviour) -> io::Result<()> {
    let mut requests = BufReader::new(stream);
    loop {
        let mut request = String::new();
        if requests.read_line(&mut request)? == 0 {
            return Ok(());
        }
        loop {
            let mut header = String::new();
            if requests.read_line(&mut header)? == 0 || header == "\r\n" {
                break;
            }
        }
        answer(stream, request.starts_with("HEAD"), misbehaviour)?;
    }
}

fn answer(mut out: &TcpStream, is_head: bool, misbehaviour: Misbehaviour) -> io::Result<()> {
    const MODIFIED: &str = "Last-Modified: Wed, 21 Oct 2015 07:28:00 GMT\r\nAccept-Ranges: bytes\r\n";
    let status = match is_head {
        true => "200 OK",
        false => "206 Partial Content",
    };
    let mut begin = |length: &str, range: &str| {
        write!(
            out,
            "HTTP/1.1 {status}\r\n{MODIFIED}Content-Length: {length}\r\nContent-Range: bytes {range}\r\n\r\n"
        )
    };
    let endless = |mut out: &TcpStream, block: &[u8]| -> io::Result<()> {
        loop {
            out.write_all(block)?;
        }
    };
    match misbehaviour {
        Misbehaviour::Silent => thread::sleep(Duration::from_secs(3600)),
        Misbehaviour::Short if is_head => begin("8000", "0-7999/8000")?,
        Misbehaviour::Short => {
            begin("10", "0-9/8000")?;
            out.write_all(b"a,b\n1,2\n1,")?;
        }
        Misbehaviour::FalseLength => {
            begin("100000000000", "0-99999999999/100000000000")?;
            if !is_head {
                endless(out, &[0; 1 << 16])?;
            }
        }
        Misbehaviour::Longer if is_head => begin("1000", "0-999/1000")?,
        Misbehaviour::Longer => {
            write!(
                out,
                "HTTP/1.1 {status}\r\n{MODIFIED}Transfer-Encoding: chunked\r\nContent-Range: bytes 0-999/1000\r\n\r\n"
            )?;
            let mut chunk = b"10000\r\n".to_vec();
            chunk.resize(7 + (1 << 16), b'A');
            chunk.extend(b"\r\n");
            endless(out, &chunk)?;
        }
        Misbehaviour::Drip => {
            begin("1000", "0-999/1000")?;
            for _ in 0..1000 {
                if is_head {
                    break;
                }
                out.write_all(b"a")?;
                thread::sleep(Duration::from_secs(1));
            }
        }
        Misbehaviour::EndlessPage => {
            out.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n12\r\n<ListBucketResult>\r\n")?;
            let mut chunk = b"10000\r\n".to_vec();
            chunk.resize(7 + (1 << 16), b' ');
            chunk.extend(b"\r\n");
            endless(out, &chunk)?;
        }
        Misbehaviour::EndlessPages => {
            list(
                out,
                "",
                "<IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken>",
            )?;
        }
        Misbehaviour::ManyAttributes => {
            let attributes: String = (0..200_000).map(|number| format!(" a{number}=\"1\"")).collect();
            list(out, &attributes, "")?;
        }
        Misbehaviour::Escapes => {
            let body = "<Error><Code>X</Code><Message>\x1b[31mred\x1b]0;title\x07</Message></Error>";
            write!(
                out,
                "HTTP/1.1 403 Forbidden\r\nContent-Length: {}\r\n\r\n{}",
                body.len(),
                if is_head { "" } else { body }
            )?;
        }
    }
    Ok(())
}

/// A page of S3's ListObjectsV2 with one object.
fn list(mut out: &TcpStream, attributes: &str, more: &str) -> io::Result<()> {
    let body = format!(
        "<ListBucketResult{attributes}><Name>b</Name>{more}<Contents><Key>logs/a.csv</Key><Size>5</Size>\
         <LastModified>2015-10-21T07:28:00.000Z</LastModified><ETag>\"x\"</ETag></Contents></ListBucketResult>"
    );
    write!(out, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}
