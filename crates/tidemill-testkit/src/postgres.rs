//! A PostgreSQL server of one's own.

use std::{
    fs,
    net::{SocketAddr, TcpStream},
    os::unix::fs::{PermissionsExt, chown},
    panic::Location,
    path::{Path, PathBuf},
    process::{Command, Output},
    time::Duration,
};

use crate::{
    clickhouse::ServerPem,
    error::ServerError,
    need::not_run,
    process::{Process, free_ports, loopback, run_folder, write},
};

/// A running PostgreSQL server with an empty cluster: on a loopback port and on a Unix socket in its folder, the user
/// [`Postgres::USER`] with a password (SCRAM), who may do everything.
///
/// It is the system's own installation in `/usr/lib/postgresql`. It is killed when this is dropped, and its folder is deleted unless
/// the test panics.
#[derive(Debug)]
pub struct Postgres {
    process: Process,
    command: Command,
    programs: PathBuf,
    folder: PathBuf,
    address: SocketAddr,
}

impl Postgres {
    /// The superuser, and the password.
    pub const USER: (&str, &str) = ("ferrywoman", "open/sesame?");

    /// The database that is there.
    pub const DATABASE: &str = "postgres";

    /// A server, or `None` after noting that the calling test does not run (see [`need`](crate::need)).
    ///
    /// # Panics
    ///
    /// When a server is installed and does not start.
    #[must_use]
    #[track_caller]
    pub fn need() -> Option<Self> {
        Self::need_with(None)
    }

    /// A server that encrypts connections where the client asks. With an authority of clients it lets in over TCP only those who
    /// show a certificate that it signed. Otherwise as [`Postgres::need`].
    ///
    /// # Panics
    ///
    /// When a server is installed and does not start.
    #[must_use]
    #[track_caller]
    pub fn need_encrypted(pem: &ServerPem) -> Option<Self> {
        Self::need_with(Some(pem))
    }

    #[track_caller]
    fn need_with(pem: Option<&ServerPem>) -> Option<Self> {
        let Some(programs) = programs(Path::new(INSTALLATIONS)) else {
            not_run(
                "no PostgreSQL in /usr/lib/postgresql; the package postgresql has it",
                Location::caller(),
            );
            return None;
        };
        Some(Self::start(programs, pem).unwrap_or_else(|error| error.fail()))
    }

    fn start(programs: PathBuf, pem: Option<&ServerPem>) -> Result<Self, ServerError> {
        let run = run_folder(NAME)?;
        let folder = run.path().to_owned();
        let [port] = free_ports()?;
        let owner = Owner::of_server()?;
        let data = folder.join("data");
        write(folder.join("password"), Self::USER.1)?;
        owner.give(&folder)?;
        let mut initdb = owner.command(&programs.join("initdb"));
        initdb.args([
            "--auth=scram-sha-256",
            "--encoding=UTF8",
            "--locale=C.UTF-8",
            "--no-sync",
            "--username",
        ]);
        initdb.arg(Self::USER.0).arg("--pwfile").arg(folder.join("password"));
        finished(initdb.arg("--pgdata").arg(&data).current_dir(&folder), "initdb")?;

        let config = config(&folder, port, pem.is_some());
        write(data.join("postgresql.conf"), &config)?;
        if let Some(pem) = pem {
            encrypt(&data, pem)?;
        }
        owner.give(&folder)?;
        let mut command = owner.command(&programs.join("postgres"));
        command.arg("-D").arg(&data);
        let process = Process::start(NAME, run, &mut command)?;
        let mut server = Self {
            process,
            command,
            programs,
            folder,
            address: loopback(port),
        };
        server.wait()?;
        Ok(server)
    }

    /// Ends the server as a crash does, and starts it again with its data and at the same address.
    ///
    /// # Errors
    ///
    /// [`ServerError`] when it does not come up again.
    pub fn restart(&mut self) -> Result<(), ServerError> {
        self.process.quit(QUIT_LIMIT);
        self.process.restart(&mut self.command)?;
        self.wait()
    }

    fn wait(&mut self) -> Result<(), ServerError> {
        let (address, programs, folder) = (self.address, self.programs.clone(), self.folder.clone());
        self.process.wait_for(START_LIMIT, || {
            let psql = || psql(&programs, &folder, address.port(), "SELECT 1");
            TcpStream::connect(address).is_ok() && psql().is_ok_and(|answer| answer == "1\n")
        })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The folder of its Unix socket.
    #[must_use]
    pub fn socket_folder(&self) -> &Path {
        &self.folder
    }

    /// The URL of its database for [`Postgres::USER`], over TCP.
    #[must_use]
    pub fn url(&self) -> String {
        let (user, password) = Self::USER;
        let password = password.replace('/', "%2F").replace('?', "%3F");
        format!("postgres://{user}:{password}@{}/{}", self.address, Self::DATABASE)
    }

    /// psql's answer to statements: rows without a head, columns apart by `|`.
    ///
    /// # Errors
    ///
    /// [`ServerError::Answer`] with its words when the server refuses one, [`ServerError::Io`] when psql does not start.
    pub fn psql(&self, statements: &str) -> Result<String, ServerError> {
        psql(&self.programs, &self.folder, self.address.port(), statements)
    }
}

/// Killed alone, it would leave processes that write to the folder that is deleted.
impl Drop for Postgres {
    fn drop(&mut self) {
        self.process.quit(QUIT_LIMIT);
    }
}

fn psql(programs: &Path, folder: &Path, port: u16, statements: &str) -> Result<String, ServerError> {
    let mut command = Command::new(programs.join("psql"));
    command
        .args([
            "--no-psqlrc",
            "--quiet",
            "--tuples-only",
            "--no-align",
            "--set=ON_ERROR_STOP=1",
        ])
        .args(["--username", Postgres::USER.0, "--dbname", Postgres::DATABASE, "--port"])
        .arg(port.to_string())
        .arg("--host")
        .arg(folder)
        .args(["--command", statements])
        .env("PGPASSWORD", Postgres::USER.1)
        .env("PGCLIENTENCODING", "UTF8");
    let output = finished(&mut command, "psql")?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn finished(command: &mut Command, name: &'static str) -> Result<Output, ServerError> {
    let output = command.output().map_err(ServerError::io(format!("starting {name}")))?;
    match output.status.success() {
        true => Ok(output),
        false => Err(ServerError::Answer {
            server: NAME,
            expected: "success",
            found: String::from_utf8_lossy(&output.stderr).into_owned(),
        }),
    }
}

/// Who the server runs as: whoever runs the tests, but for root, whom the server refuses.
struct Owner(Option<(u32, u32)>);

impl Owner {
    fn of_server() -> Result<Self, ServerError> {
        if id(&["-u"])? != 0 {
            return Ok(Self(None));
        }
        let found = ["postgres", "nobody"]
            .into_iter()
            .find_map(|name| Some((id(&["-u", name]).ok()?, id(&["-g", name]).ok()?)));
        Ok(Self(found))
    }

    fn command(&self, program: &Path) -> Command {
        let Some((user, group)) = self.0 else {
            return Command::new(program);
        };
        let mut command = Command::new("setpriv");
        command.args([format!("--reuid={user}"), format!("--regid={group}")]);
        command.arg("--clear-groups").arg(program);
        command
    }

    /// Gives a folder to the server, and what is in it.
    fn give(&self, path: &Path) -> Result<(), ServerError> {
        let Some((user, group)) = self.0 else { return Ok(()) };
        let at = || ServerError::io(path.display().to_string());
        chown(path, Some(user), Some(group)).map_err(at())?;
        if path.is_dir() {
            for entry in fs::read_dir(path).map_err(at())? {
                self.give(&entry.map_err(at())?.path())?;
            }
        }
        Ok(())
    }
}

fn id(arguments: &[&str]) -> Result<u32, ServerError> {
    let output = finished(Command::new("id").args(arguments), "id")?;
    let found = String::from_utf8_lossy(&output.stdout).into_owned();
    found.trim().parse().map_err(|_| ServerError::Answer {
        server: NAME,
        expected: "the number of a user",
        found,
    })
}

/// The programs of the newest installation in the folder.
fn programs(installations: &Path) -> Option<PathBuf> {
    let entries = fs::read_dir(installations).ok()?;
    let versions = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    let found = versions.filter_map(|version| {
        let programs = installations.join(version.to_string()).join("bin");
        let is_whole = ["initdb", "postgres", "psql"]
            .iter()
            .all(|name| programs.join(name).exists());
        is_whole.then_some((version, programs))
    });
    found.max().map(|(_, programs)| programs)
}

/// Nothing that is here outlives the machine, so nothing is synchronised.
fn config(folder: &Path, port: u16, is_encrypted: bool) -> String {
    let encryption = match is_encrypted {
        true => "ssl = on\nssl_cert_file = 'server.crt'\nssl_key_file = 'server.key'\n",
        false => "",
    };
    format!(
        "listen_addresses = '127.0.0.1'
port = {port}
unix_socket_directories = '{}'
fsync = off
full_page_writes = off
max_connections = 40
shared_buffers = 64MB
max_wal_size = 4GB
timezone = 'UTC'
{encryption}",
        folder.display()
    )
}

fn encrypt(data: &Path, pem: &ServerPem) -> Result<(), ServerError> {
    write(data.join("server.crt"), &pem.certificate)?;
    let key = data.join("server.key");
    write(key.clone(), &pem.key)?;
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).map_err(ServerError::io(key.display().to_string()))?;
    let Some(authority) = &pem.client_authority else {
        return Ok(());
    };
    write(data.join("clients.crt"), authority)?;
    let config = data.join("postgresql.conf");
    let text = fs::read_to_string(&config).map_err(ServerError::io(config.display().to_string()))?;
    write(config, &format!("{text}ssl_ca_file = 'clients.crt'\n"))?;
    write(
        data.join("pg_hba.conf"),
        "local all all scram-sha-256\nhostssl all all 127.0.0.1/32 scram-sha-256 clientcert=verify-ca\n",
    )
}

const NAME: &str = "PostgreSQL";
const INSTALLATIONS: &str = "/usr/lib/postgresql";
const START_LIMIT: Duration = Duration::from_secs(60);
const QUIT_LIMIT: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_whole_installation_is_taken() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let install = |version: &str, names: &[&str]| {
            let programs = folder.path().join(version).join("bin");
            fs::create_dir_all(&programs).expect("a folder");
            for name in names {
                fs::write(programs.join(name), "").expect("a file");
            }
            programs
        };
        assert_eq!(programs(folder.path()), None);
        let whole = ["initdb", "postgres", "psql"];
        install("9", &whole);
        let expected = install("15", &whole);
        install("17", &["psql"]);
        install("common", &whole);
        assert_eq!(programs(folder.path()), Some(expected));
    }
}
