//! A server process: started with a folder and a log of its own, waited for, killed when dropped.

use std::{
    fs::{self, File},
    hash::{BuildHasher, RandomState},
    io::{self, Read, Seek, SeekFrom},
    net::{Ipv4Addr, SocketAddr, TcpListener},
    ops::Range,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use tempfile::TempDir;

use crate::error::ServerError;

/// A running server. Its folder goes when it is dropped, except when the test that held it panics: then it stays and
/// its path is printed.
#[derive(Debug)]
pub(crate) struct Process {
    name: &'static str,
    child: Child,
    folder: Option<TempDir>,
}

impl Process {
    /// Starts `command` with its output in `folder/server.log`.
    pub(crate) fn start(name: &'static str, folder: TempDir, command: &mut Command) -> Result<Self, ServerError> {
        let child = spawn(folder.path(), command)?;
        Ok(Self {
            name,
            child,
            folder: Some(folder),
        })
    }

    /// Kills the process and starts `command` in the same folder, with a new log.
    ///
    /// # Errors
    ///
    /// [`ServerError::Io`] when it cannot be killed or started.
    pub(crate) fn restart(&mut self, command: &mut Command) -> Result<(), ServerError> {
        let Some(folder) = &self.folder else { return Ok(()) };
        let killing = || ServerError::io(format!("killing {}", self.name));
        self.child.kill().map_err(killing())?;
        self.child.wait().map_err(killing())?;
        self.child = spawn(folder.path(), command)?;
        Ok(())
    }

    /// Tells the process to end at once, with the processes that it started (SIGQUIT), and waits until it has or the time is over.
    pub(crate) fn quit(&mut self, limit: Duration) {
        let mut kill = Command::new("kill");
        let told = kill.arg("-QUIT").arg(self.child.id().to_string()).status();
        let begun = Instant::now();
        while told.as_ref().is_ok_and(|status| status.success())
            && begun.elapsed() < limit
            && matches!(self.child.try_wait(), Ok(None))
        {
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Makes the process stand still, as one whose machine is out of reach, or lets it go on.
    ///
    /// # Errors
    ///
    /// [`ServerError::Io`] when it cannot be told so.
    pub(crate) fn pause(&self, still: bool) -> Result<(), ServerError> {
        let mut kill = Command::new("kill");
        kill.arg(if still { "-STOP" } else { "-CONT" });
        let status = kill.arg(self.child.id().to_string()).status();
        let told = status.and_then(|status| match status.success() {
            true => Ok(()),
            false => Err(io::Error::other(status.to_string())),
        });
        told.map_err(ServerError::io(format!("pausing {}", self.name)))
    }

    /// Calls `answers` until it returns true.
    ///
    /// # Errors
    ///
    /// [`ServerError::Ended`] or [`ServerError::Silent`], with the end of the log.
    pub(crate) fn wait_for(&mut self, limit: Duration, answers: impl Fn() -> bool) -> Result<(), ServerError> {
        let start = Instant::now();
        loop {
            let status = self
                .child
                .try_wait()
                .map_err(ServerError::io(format!("waiting for {}", self.name)))?;
            if let Some(status) = status {
                return Err(ServerError::Ended {
                    server: self.name,
                    status: status.to_string(),
                    log: self.log(),
                });
            }
            if answers() {
                return Ok(());
            }
            if start.elapsed() > limit {
                return Err(ServerError::Silent {
                    server: self.name,
                    waited: limit,
                    log: self.log(),
                });
            }
            thread::sleep(Duration::from_millis(50));
        }
    }

    fn log(&self) -> String {
        let path = self.folder.as_ref().map(|folder| folder.path().join(LOG));
        path.and_then(|path| tail(&path).ok()).unwrap_or_default()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if let Some(folder) = self.folder.take().filter(|_| thread::panicking()) {
            eprintln!("{}'s folder is kept: {}", self.name, folder.keep().display());
        }
    }
}

fn spawn(folder: &Path, command: &mut Command) -> Result<Child, ServerError> {
    let path = folder.join(LOG);
    let log = File::create(&path).map_err(ServerError::io(path.display().to_string()))?;
    let also = log.try_clone().map_err(ServerError::io(path.display().to_string()))?;
    let child = command
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(log)
        .stderr(also)
        .spawn();
    child.map_err(ServerError::io(format!(
        "starting {}",
        command.get_program().to_string_lossy()
    )))
}

/// Loopback ports that nothing listens on now, all different.
///
/// None is among those that the kernel gives to connections on their way out (32,768 and up: `ip_local_port_range`): a server
/// may bind its port ten seconds from now, or again after a restart, and would then find it taken by any client of this machine.
/// What is left is another process that takes the same one of 20,000 in between; the server then ends, and its start fails.
pub(crate) fn free_ports<const N: usize>() -> Result<[u16; N], ServerError> {
    let mut held = Vec::with_capacity(N);
    let mut ports = [0; N];
    for port in &mut ports {
        let listener = free_port().map_err(ServerError::io("looking for a free port"))?;
        *port = listener
            .local_addr()
            .map_err(ServerError::io("looking for a free port"))?
            .port();
        held.push(listener);
    }
    Ok(ports)
}

fn free_port() -> io::Result<TcpListener> {
    let width = u64::from(PORTS.end - PORTS.start);
    let mut tries = PORT_TRIES;
    loop {
        // Each RandomState has keys of its own.
        let random = RandomState::new().hash_one(()) % width;
        let port = PORTS.start + u16::try_from(random).unwrap_or_default();
        match TcpListener::bind(loopback(port)) {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse && tries > 0 => tries -= 1,
            result => return result,
        }
    }
}

const PORTS: Range<u16> = 12_000..32_000;
const PORT_TRIES: u32 = 100;

/// A port of this machine.
pub(crate) fn loopback(port: u16) -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, port))
}

/// A folder for one run of a server.
pub(crate) fn run_folder(name: &str) -> Result<TempDir, ServerError> {
    tempfile::Builder::new()
        .prefix(&format!("tidemill-{name}-"))
        .tempdir()
        .map_err(ServerError::io("a temporary folder"))
}

/// Writes a configuration file.
pub(crate) fn write(path: PathBuf, text: &str) -> Result<(), ServerError> {
    fs::write(&path, text).map_err(ServerError::io(path.display().to_string()))
}

fn tail(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES)))?;
    let mut bytes = Vec::new();
    file.take(TAIL_BYTES).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

const LOG: &str = "server.log";
const TAIL_BYTES: u64 = 1 << 13;

/// Runs a program to its end, and returns what it printed; when it fails, its last line says why.
pub(crate) fn run(command: &mut Command, what: &str) -> Result<String, String> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("{what}: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let last = said.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
    Err(format!("{what}: {}: {last}", output.status))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_ends_is_reported_with_its_last_words() {
        let folder = run_folder("test").expect("a folder");
        let mut process = Process::start(
            "sh",
            folder,
            Command::new("sh").args(["-c", "echo no such config; exit 3"]),
        )
        .expect("sh");
        let error = process
            .wait_for(Duration::from_secs(10), || false)
            .expect_err("it ended");
        assert!(
            error.to_string().contains("exit status: 3") && error.to_string().contains("no such config"),
            "{error}"
        );
    }

    #[test]
    fn a_server_that_is_silent_is_reported_and_killed() {
        let folder = run_folder("test").expect("a folder");
        let path = folder.path().to_owned();
        let mut process = Process::start("sleep", folder, Command::new("sleep").arg("60")).expect("sleep");
        let error = process
            .wait_for(Duration::from_millis(1), || false)
            .expect_err("it says nothing");
        assert!(matches!(error, ServerError::Silent { .. }), "{error}");
        let running = PathBuf::from(format!("/proc/{}", process.child.id()));
        let linux = running.exists();
        drop(process);
        assert!(!path.exists(), "its folder goes with it");
        assert!(!linux || !running.exists(), "so does the process");
    }

    #[test]
    fn ports_differ_and_no_client_is_given_one() {
        let [a, b, c] = free_ports().expect("three ports");
        assert!(a != b && b != c && a != c);
        assert!([a, b, c].iter().all(|port| PORTS.contains(port)));
    }
}
