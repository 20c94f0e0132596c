//! `clickhouse client`, the program that comes with the server.

use std::{env, fs, path::PathBuf, process::Command};

use tidemill_clickhouse::{Block, NativeWriter};
use tidemill_testkit::Installation;

use super::{Compression, INSERT_BLOCKS, SELECT, TABLE, Work, tidemill};
use crate::process::Program;

/// The program of an installed server, and what it needs: files of the questions and of the rows.
#[derive(Debug)]
pub struct OfficialClient {
    program: PathBuf,
    libraries: std::ffi::OsString,
    folder: PathBuf,
}

impl OfficialClient {
    /// Prepares `folder` for the program of `installation`.
    ///
    /// # Errors
    ///
    /// When the files cannot be written.
    pub fn new(installation: &Installation, folder: PathBuf) -> Result<Self, Box<dyn std::error::Error>> {
        let ours = installation
            .libraries
            .iter()
            .map(|library| installation.root.join(library));
        let more = env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
        let libraries =
            env::join_paths(ours.chain(env::split_paths(&more).filter(|path| !path.as_os_str().is_empty())))?;
        let mut file = NativeWriter::new(fs::File::create(folder.join("rows.native"))?);
        let block = Block::new(tidemill::batch()?)?;
        for _ in 0..INSERT_BLOCKS {
            file.write(&block)?;
        }
        file.into_inner();
        Ok(Self {
            program: installation.root.join("usr/bin/clickhouse-client"),
            libraries,
            folder,
        })
    }

    /// The program with the arguments for `work`.
    ///
    /// # Errors
    ///
    /// When a file cannot be written.
    pub fn program(&self, address: &str, work: Work) -> Result<Program, Box<dyn std::error::Error>> {
        let (host, port) = address.rsplit_once(':').ok_or("no port")?;
        let mut command = Command::new(&self.program);
        command.env("LD_LIBRARY_PATH", &self.libraries);
        command.args(["--host", host, "--port", port]);
        let (compression, input) = match work {
            Work::Small(small, count) => {
                let path = self.folder.join("questions.sql");
                fs::write(&path, format!("{};\n", small.sql()).repeat(count as usize))?;
                command.args(["--multiquery", "--format", "Null"]);
                (Compression::None, Some(path))
            }
            Work::Select(compression) => {
                command.args(["--query", SELECT, "--format", "Null"]);
                (compression, None)
            }
            Work::Insert(compression) => {
                command.args(["--query", &format!("INSERT INTO {TABLE} FORMAT Native")]);
                (compression, Some(self.folder.join("rows.native")))
            }
        };
        match compression {
            Compression::None => command.args(["--compression", "0"]),
            Compression::Lz4 => command.args(["--compression", "1"]),
            Compression::Zstd => command.args(["--compression", "1", "--network_compression_method", "zstd"]),
        };
        Ok(Program { command, input })
    }
}
