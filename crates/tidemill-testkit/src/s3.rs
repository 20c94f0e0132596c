//! An object store that speaks S3's protocol: moto, which AWS's own SDK is tested with, in a process of its own.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::process::{Child, Stdio};

use crate::Python;

/// A store with one bucket, [`S3::BUCKET`], which is gone with this value.
#[derive(Debug)]
pub struct S3 {
    server: Child,
    address: SocketAddr,
}

impl S3 {
    /// The bucket that is there.
    pub const BUCKET: &str = "bucket";

    /// Starts a store, or returns `None` after noting that the calling test does not run and why.
    ///
    /// # Panics
    ///
    /// When the server is there and does not start.
    #[must_use]
    #[track_caller]
    pub fn need() -> Option<Self> {
        let python = Python::need(&["moto[s3,server]==5.2.5"])?;
        Some(Self::start(&python).unwrap_or_else(|error| panic!("moto: {error}")))
    }

    fn start(python: &Python) -> io::Result<Self> {
        let mut command = python.command();
        command.args(["-c", SCRIPT, Self::BUCKET]);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut server = command.spawn()?;
        let mut line = String::new();
        let stdout = server.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
        BufReader::new(stdout).read_line(&mut line)?;
        let port: u16 = line.trim().parse().map_err(io::Error::other)?;
        Ok(Self {
            server,
            address: (Ipv4Addr::LOCALHOST, port).into(),
        })
    }

    /// What a program finds in its environment that uses the store.
    #[must_use]
    pub fn variables(&self) -> [(&'static str, String); 4] {
        [
            ("AWS_ENDPOINT", format!("http://{}", self.address)),
            ("AWS_REGION", "us-east-1".to_owned()),
            ("AWS_ACCESS_KEY_ID", "key".to_owned()),
            ("AWS_SECRET_ACCESS_KEY", "secret".to_owned()),
        ]
    }

    /// The answer to a GET, such as `/bucket?uploads`, which lists the uploads that were begun and not ended.
    ///
    /// # Errors
    ///
    /// What the connection meets.
    pub fn get(&self, path: &str) -> io::Result<String> {
        let mut stream = TcpStream::connect(self.address)?;
        write!(stream, "GET {path} HTTP/1.0\r\nHost: {}\r\n\r\n", self.address)?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    }
}

impl Drop for S3 {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// Serves until its standard input ends, and prints its port.
const SCRIPT: &str = r"
import sys
import boto3
from moto.server import ThreadedMotoServer

server = ThreadedMotoServer(ip_address='127.0.0.1', port=0, verbose=False)
server.start()
host, port = server.get_host_and_port()
boto3.client('s3', endpoint_url=f'http://{host}:{port}', region_name='us-east-1', aws_access_key_id='key',
             aws_secret_access_key='secret').create_bucket(Bucket=sys.argv[1])
print(port, flush=True)
sys.stdin.read()
";
