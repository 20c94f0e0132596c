//! A MariaDB server of one's own.

use std::{
    fs::{self, File},
    net::{SocketAddr, TcpStream},
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    time::Duration,
};

use crate::{
    clickhouse::ServerPem,
    error::ServerError,
    installation::{Installation, Server},
    need::need,
    process::{Process, free_ports, loopback, run_folder, write},
};

/// A running MariaDB server with an empty database: on a loopback port and on a Unix socket in its folder, the user
/// [`MariaDb::USER`] with a password (`mysql_native_password`), who may do everything.
///
/// It is killed when this is dropped, and its folder is deleted unless the test panics.
#[derive(Debug)]
pub struct MariaDb {
    process: Process,
    command: Command,
    installation: Installation,
    folder: PathBuf,
    address: SocketAddr,
}

impl MariaDb {
    /// The superuser, and the password.
    pub const USER: (&str, &str) = ("ferrywoman", "open/sesame?");

    /// The database that is there.
    pub const DATABASE: &str = "shop";

    /// A server, or `None` after noting that the calling test does not run (see [`need`]).
    ///
    /// # Panics
    ///
    /// When a server is installed and does not start.
    #[must_use]
    #[track_caller]
    pub fn need() -> Option<Self> {
        let installation = need(Server::MariaDb)?;
        Some(Self::start(installation, None).unwrap_or_else(|error| error.fail()))
    }

    /// A server that encrypts connections where the client asks. With an authority of clients it lets in only those who show a
    /// certificate that it signed. Otherwise as [`MariaDb::need`].
    ///
    /// # Panics
    ///
    /// When a server is installed and does not start.
    #[must_use]
    #[track_caller]
    pub fn need_encrypted(pem: &ServerPem) -> Option<Self> {
        let installation = need(Server::MariaDb)?;
        Some(Self::start(installation, Some(pem)).unwrap_or_else(|error| error.fail()))
    }

    fn start(installation: Installation, pem: Option<&ServerPem>) -> Result<Self, ServerError> {
        let run = run_folder("mariadb")?;
        let folder = run.path().to_owned();
        let [port] = free_ports()?;
        make_system_tables(&installation, &folder)?;
        let asks_for_certificate = pem.is_some_and(|pem| pem.client_authority.is_some());
        write(folder.join("init.sql"), &init(asks_for_certificate))?;

        let mut command = server(&installation, &folder);
        command
            .args(["--bind-address=127.0.0.1", &format!("--port={port}")])
            .arg(format!("--socket={}", folder.join("socket").display()))
            .arg(format!("--pid-file={}", folder.join("pid").display()))
            .arg(format!("--init-file={}", folder.join("init.sql").display()));
        if let Some(pem) = pem {
            encrypt(&mut command, &folder, pem)?;
        }
        let process = Process::start(NAME, run, &mut command)?;
        let mut server = Self {
            process,
            command,
            installation,
            folder,
            address: loopback(port),
        };
        server.wait()?;
        Ok(server)
    }

    /// Kills the server and starts it again, with its data and at the same address.
    ///
    /// # Errors
    ///
    /// [`ServerError`] when it does not come up again.
    pub fn restart(&mut self) -> Result<(), ServerError> {
        self.process.restart(&mut self.command)?;
        self.wait()
    }

    /// Makes the server stand still, as one whose machine is out of reach, or lets it go on.
    ///
    /// # Errors
    ///
    /// [`ServerError::Io`] when it cannot be told so.
    pub fn pause(&self, still: bool) -> Result<(), ServerError> {
        self.process.pause(still)
    }

    fn wait(&mut self) -> Result<(), ServerError> {
        let (address, installation, folder) = (self.address, self.installation.clone(), self.folder.clone());
        self.process.wait_for(START_LIMIT, || {
            TcpStream::connect(address).is_ok()
                && ask(&installation, &folder, "SELECT 1").is_ok_and(|answer| answer == "1\n")
        })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its Unix socket.
    #[must_use]
    pub fn socket(&self) -> PathBuf {
        self.folder.join("socket")
    }

    /// The URL of its database for [`MariaDb::USER`], over TCP.
    #[must_use]
    pub fn url(&self) -> String {
        let (user, password) = Self::USER;
        let password = password.replace('/', "%2F").replace('?', "%3F");
        format!("mysql://{user}:{password}@{}/{}", self.address, Self::DATABASE)
    }

    /// What the program `mariadb` answers to statements: rows without a head, columns apart by tabs, NULL as `NULL`.
    ///
    /// # Errors
    ///
    /// [`ServerError::Answer`] with its words when the server refuses one, [`ServerError::Io`] when the program does not start.
    pub fn query(&self, statements: &str) -> Result<String, ServerError> {
        ask(&self.installation, &self.folder, statements)
    }

    /// The program `mariadb`, connected to the server's database.
    #[must_use]
    pub fn client(&self) -> Command {
        client(&self.installation, &self.folder)
    }
}

fn ask(installation: &Installation, folder: &Path, statements: &str) -> Result<String, ServerError> {
    let mut command = client(installation, folder);
    command.args(["--batch", "--skip-column-names", "--execute", statements]);
    let output = finished(&mut command, "mariadb")?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn client(installation: &Installation, folder: &Path) -> Command {
    let mut command = with_libraries(installation, "usr/bin/mariadb");
    command
        .args(["--no-defaults", "--default-character-set=utf8mb4", "--user"])
        .arg(MariaDb::USER.0)
        .arg(format!("--password={}", MariaDb::USER.1))
        .arg("--socket")
        .arg(folder.join("socket"))
        .args(["--database", MariaDb::DATABASE]);
    command
}

/// The server, with what both making its system tables and running it need. Nothing that is here outlives the machine, so nothing is
/// synchronised.
fn server(installation: &Installation, folder: &Path) -> Command {
    let mut command = with_libraries(installation, "usr/sbin/mariadbd");
    let share = installation.root.join("usr/share/mysql");
    command
        // By address and not by name, over TCP, users are told apart.
        .args(["--no-defaults", "--user=root", "--skip-name-resolve"])
        .arg(format!("--datadir={}", folder.join("data").display()))
        .arg(format!("--tmpdir={}", folder.display()))
        .arg(format!("--lc-messages-dir={}", share.display()))
        .arg(format!("--character-sets-dir={}", share.join("charsets").display()))
        .args([
            "--character-set-server=utf8mb4",
            "--innodb-flush-method=nosync",
            "--innodb-flush-log-at-trx-commit=2",
            "--innodb-use-native-aio=0",
            "--innodb-buffer-pool-size=128M",
            "--innodb-log-file-size=64M",
            "--loose-innodb-buffer-pool-load-at-startup=0",
        ]);
    command
}

fn with_libraries(installation: &Installation, program: &str) -> Command {
    let mut command = Command::new(installation.root.join(program));
    if let Some(path) = installation.library_path() {
        command.env("LD_LIBRARY_PATH", path);
    }
    command
}

/// What `mariadb-install-db` does, without its users.
fn make_system_tables(installation: &Installation, folder: &Path) -> Result<(), ServerError> {
    let data = folder.join("data");
    fs::create_dir(&data).map_err(ServerError::io(data.display().to_string()))?;
    let share = installation.root.join("usr/share/mysql");
    let mut text = "CREATE DATABASE mysql;\nUSE mysql;\nSET @auth_root_socket = NULL;\n".to_owned();
    for name in [
        "mysql_system_tables.sql",
        "mysql_performance_tables.sql",
        "mysql_system_tables_data.sql",
    ] {
        let path = share.join(name);
        text += &fs::read_to_string(&path).map_err(ServerError::io(path.display().to_string()))?;
    }
    let script = folder.join("system.sql");
    write(script.clone(), &text)?;
    let script = File::open(&script).map_err(ServerError::io("opening the script of the system tables"))?;
    let mut command = server(installation, folder);
    finished(command.arg("--bootstrap").stdin(script), "mariadbd --bootstrap").map(drop)
}

fn init(asks_for_certificate: bool) -> String {
    let (user, password) = MariaDb::USER;
    let require = if asks_for_certificate { "X509" } else { "NONE" };
    // Over the Unix socket the client of the tests shows no certificate.
    format!(
        "CREATE DATABASE IF NOT EXISTS {database};
CREATE USER IF NOT EXISTS '{user}'@'localhost' IDENTIFIED BY '{password}';
GRANT ALL ON *.* TO '{user}'@'localhost' WITH GRANT OPTION;
CREATE USER IF NOT EXISTS '{user}'@'127.0.0.1' IDENTIFIED BY '{password}' REQUIRE {require};
GRANT ALL ON *.* TO '{user}'@'127.0.0.1' WITH GRANT OPTION;
",
        database = MariaDb::DATABASE
    )
}

fn encrypt(command: &mut Command, folder: &Path, pem: &ServerPem) -> Result<(), ServerError> {
    let mut file = |option: &str, name: &str, text: &str| {
        let path = folder.join(name);
        command.arg(format!("--{option}={}", path.display()));
        write(path, text)
    };
    file("ssl-cert", "server.crt", &pem.certificate)?;
    file("ssl-key", "server.key", &pem.key)?;
    match &pem.client_authority {
        Some(authority) => file("ssl-ca", "clients.crt", authority),
        None => Ok(()),
    }
}

fn finished(command: &mut Command, name: &'static str) -> Result<Output, ServerError> {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().map_err(ServerError::io(format!("starting {name}")))?;
    let output = child.wait_with_output().map_err(ServerError::io(name))?;
    match output.status.success() {
        true => Ok(output),
        false => Err(ServerError::Answer {
            server: NAME,
            expected: "success",
            found: String::from_utf8_lossy(&output.stderr).into_owned(),
        }),
    }
}

const NAME: &str = "MariaDB";
const START_LIMIT: Duration = Duration::from_secs(60);
