//! `tidemill serve`, asked by real clients.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use tidemill_testkit::{GoModule, Postgres, PsqlOdbc, Python, jar, java, npm_package};

use crate::run::{Folder, Run};

mod as_postgres;
mod catalog;
pub(crate) mod certificates;
mod copies;
mod flight;
mod hostile;
mod http;
mod page;

/// A server over two folders, `books` and `more`.
pub(crate) struct Served {
    folder: Folder,
    child: Child,
    pub(crate) postgres: Option<SocketAddr>,
    pub(crate) flight: Option<SocketAddr>,
    pub(crate) http: Option<SocketAddr>,
}

/// Orders and customers, a thousand numbers, and a table of a second folder.
pub(crate) fn books() -> Folder {
    let folder = Folder::with(&[]);
    for name in ["books", "more"] {
        std::fs::create_dir(folder.file(name)).expect("made");
    }
    let numbers: String = (0..1000).map(|number| format!("{number}\n")).collect();
    std::fs::write(folder.file("books/numbers.csv"), format!("n\n{numbers}")).expect("written");
    std::fs::write(folder.file("more/words.csv"), "w\nä\n").expect("written");
    std::fs::write(folder.file("secret.csv"), "s\n1\n").expect("written");
    for statement in [
        "CREATE TABLE 'books/orders.dbf' (order_no Integer, cust_no Integer, day Date, total Numeric(10, 2))",
        "CREATE TABLE 'books/customers.dbf' (cust_no Integer, name Char(20) NULL, city Char(20))",
        "INSERT INTO 'books/customers.dbf' VALUES (1, 'Ann', 'York'), (2, 'Olav', 'Oslo')",
        "INSERT INTO 'books/orders.dbf' VALUES (1, 1, '2024-02-29', 10.5), (2, 2, '2024-03-01', 20), (3, 2, '2024-03-01', 30)",
        "CREATE INDEX order_no ON 'books/orders.dbf' (order_no)",
    ] {
        drop(folder.run(&["sql", statement]).done());
    }
    folder
}

/// Adds a user to the file `users` of a folder.
pub(crate) fn add_user(folder: &Folder, name: &str, password: &str, rights: &[&str]) {
    let mut command = folder.command(&["user", "add", name, "--users", "users"]);
    let child = command.args(rights).stdin(Stdio::piped()).stdout(Stdio::null()).spawn();
    let mut child = child.expect("started");
    let mut input = child.stdin.take().expect("piped");
    input.write_all(format!("{password}\n").as_bytes()).expect("written");
    drop(input);
    assert!(child.wait().expect("ended").success());
}

impl Served {
    /// Serves what [`books`] made.
    pub(crate) fn begin() -> Self {
        Self::with(books(), &["books", "more"])
    }

    /// Serves with these arguments, on ports that are free.
    pub(crate) fn with(folder: Folder, args: &[&str]) -> Self {
        let mut all = vec!["serve", "--quiet"];
        for door in ["--postgres", "--flight", "--http"] {
            all.extend([door, "127.0.0.1:0"]);
        }
        all.extend(args);
        let mut child = folder
            .command(&all)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("started");
        let (mut postgres, mut flight, mut http) = (None, None, None);
        let lines = BufReader::new(child.stdout.take().expect("piped")).lines();
        for line in lines.map(|line| line.expect("UTF-8")) {
            if let Some(rest) = line.strip_prefix("PostgreSQL  psql \"host=") {
                let (host, rest) = rest.split_once(" port=").expect("a port");
                let port = rest.split([' ', '"']).next().expect("a port");
                postgres = Some(format!("{host}:{port}").parse().expect("an address"));
            } else if let Some(rest) = line.strip_prefix("Flight SQL  grpc") {
                let address = rest.trim_start_matches("+tls").trim_start_matches("://");
                flight = Some(address.parse().expect("an address"));
            } else if let Some(rest) = line.strip_prefix("Page        http") {
                let address = rest
                    .trim_start_matches("s://")
                    .trim_start_matches("://")
                    .trim_end_matches('/');
                http = Some(address.parse().expect("an address"));
            } else {
                assert!(line.starts_with("Press Ctrl-C"), "{line}");
                return Self {
                    folder,
                    child,
                    postgres,
                    flight,
                    http,
                };
            }
        }
        let output = child.wait_with_output().expect("ended");
        panic!("{}", String::from_utf8_lossy(&output.stderr));
    }

    pub(crate) fn port(&self) -> String {
        self.postgres.expect("it listens").port().to_string()
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn folder(&self) -> &Folder {
        &self.folder
    }

    /// Runs psql with a text of statements, which may have its own commands too.
    pub(crate) fn psql(&self, text: &str) -> Run {
        let file = self.folder.file("statements.sql");
        std::fs::write(&file, text).expect("written");
        Run::of(self.psql_of(&file).output().expect("psql, which postgresql-client has"))
    }

    /// psql with a file of statements.
    pub(crate) fn psql_of(&self, file: &Path) -> Command {
        let mut psql = Command::new("psql");
        psql.args([
            "-X",
            "-At",
            "-h",
            "127.0.0.1",
            "-U",
            "ann",
            "-d",
            "tidemill",
            "-p",
            &self.port(),
            "-f",
        ])
        .arg(file)
        .env("PGPASSWORD", "secret")
        .current_dir(self.folder.path())
        .stdin(Stdio::null());
        psql
    }

    /// Runs a program of Java with a driver of JDBC.
    fn java(&self, driver: &str, options: &[&str], args: &[&str]) {
        self.java_of(
            "JdbcClient.java",
            include_str!("serve/JdbcClient.java"),
            driver,
            options,
            args,
        );
    }

    /// The same, with another program.
    fn java_of(&self, name: &str, text: &str, driver: &str, options: &[&str], args: &[&str]) {
        let (Some(java), Some(driver)) = (java(), jar(driver)) else {
            return;
        };
        let file = self.folder.file(name);
        std::fs::write(&file, text).expect("written");
        let output = Command::new(java)
            .args(options)
            .arg("-cp")
            .arg(driver)
            .arg(&file)
            .args(args)
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .output();
        let run = Run::of(output.expect("started"));
        assert!(run.stdout == b"done\n", "{}", run.stderr);
    }

    fn python(&self, packages: &[&str], script: &str, args: &[&str]) {
        let Some(python) = Python::need(packages) else { return };
        let file = self.folder.file("client.py");
        std::fs::write(&file, script).expect("written");
        let output = python
            .command()
            .arg(&file)
            .args(args)
            .current_dir(self.folder.path())
            .output();
        let run = Run::of(output.expect("started"));
        assert!(run.stdout == b"done\n", "{}", run.stderr);
    }

    /// Kills it, and gives its folder back.
    pub(crate) fn kill(mut self) -> Folder {
        self.child.kill().expect("killed");
        self.child.wait().expect("ended");
        std::mem::replace(&mut self.folder, Folder::with(&[]))
    }

    /// Ends it as a person does, and shows how it ended.
    pub(crate) fn end(mut self) -> Option<i32> {
        let told = Command::new("kill").arg(self.child.id().to_string()).status();
        assert!(told.expect("kill").success());
        self.child.wait().expect("ended").code()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[track_caller]
fn check(served: &Served, statements: &str, expected: &str) {
    let run = served.psql(statements);
    let found = String::from_utf8(run.stdout).expect("UTF-8") + &run.stderr;
    assert_eq!(found.trim(), expected.trim(), "{statements}");
}

#[test]
fn psql_asks_and_changes() {
    // The server's package has psql.
    let Some(_) = Postgres::need() else { return };
    let served = Served::begin();
    for (statements, expected) in [
        ("SELECT city FROM customers ORDER BY 1", "Oslo\nYork"),
        (
            "SELECT public.orders.total FROM public.orders WHERE order_no = 1;",
            "10.50",
        ),
        ("SELECT w FROM more.words", "ä"),
        (
            "SELECT c.city, SUM(o.total) AS total FROM orders o JOIN customers c ON c.cust_no = o.cust_no GROUP BY c.city ORDER BY 1",
            "Oslo|50.00\nYork|10.50",
        ),
        ("SELECT 1; SELECT 'x;y'; ;", "1\nx;y"),
        (
            "BEGIN; INSERT INTO orders (order_no) VALUES (9); SELECT COUNT(*) FROM orders; ROLLBACK; SELECT COUNT(*) FROM orders",
            "BEGIN\nINSERT 0 1\n4\nROLLBACK\n3",
        ),
        (
            "BEGIN;\nINSERT INTO orders (order_no) VALUES (9);\nSAVEPOINT a;\nDELETE FROM orders;\nROLLBACK TO a;\nSELECT COUNT(*) FROM orders;\nROLLBACK;",
            "BEGIN\nINSERT 0 1\nSAVEPOINT\nDELETE 4\nROLLBACK\n4\nROLLBACK",
        ),
        // A savepoint that is released hides an older one of its name no longer.
        (
            "BEGIN; SAVEPOINT a; INSERT INTO orders (order_no) VALUES (9); SAVEPOINT a; DELETE FROM orders; RELEASE SAVEPOINT a; ROLLBACK TO a; SELECT COUNT(*) FROM orders; RELEASE a; ROLLBACK",
            "BEGIN\nSAVEPOINT\nINSERT 0 1\nSAVEPOINT\nDELETE 4\nRELEASE\nROLLBACK\n3\nRELEASE\nROLLBACK",
        ),
        (
            "UPDATE orders SET total = total + 1 WHERE order_no = 3; UPDATE orders SET total = total - 1 WHERE order_no = 3",
            "UPDATE 1\nUPDATE 1",
        ),
        (
            "CREATE TABLE made (a Integer, b Char(5)); INSERT INTO made VALUES (1, 'x'); DROP TABLE made",
            "CREATE TABLE\nINSERT 0 1\nDROP TABLE",
        ),
        (
            "\\copy (SELECT order_no, total FROM orders ORDER BY 1) TO STDOUT WITH (FORMAT csv)",
            "1,10.50\n2,20.00\n3,30.00",
        ),
        (
            "COPY customers (cust_no, name) FROM STDIN;\n30\tBo\\ttab\n31\t\\N\n\\.\nSELECT cust_no, name FROM customers WHERE cust_no >= 30 ORDER BY 1;\nDELETE FROM customers WHERE cust_no >= 30;",
            "COPY 2\n30|Bo\ttab\n31|\nDELETE 2",
        ),
        (
            "BEGIN; DECLARE c CURSOR FOR SELECT n FROM numbers; FETCH 2 FROM c; MOVE 5 FROM c; FETCH 1 FROM c; CLOSE c; COMMIT",
            "BEGIN\nDECLARE CURSOR\n0\n1\nMOVE 5\n7\nCLOSE CURSOR\nCOMMIT",
        ),
        (
            "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY; SHOW transaction_read_only; BEGIN READ WRITE; SHOW transaction_read_only; COMMIT; RESET ALL; BEGIN READ ONLY; SHOW transaction_read_only; ROLLBACK; SHOW transaction_read_only",
            "SET\non\nBEGIN\noff\nCOMMIT\nRESET\nBEGIN\non\nROLLBACK\noff",
        ),
        (
            "CLOSE ALL; UNLISTEN *; RESET ALL; DEALLOCATE ALL",
            "CLOSE CURSOR ALL\nUNLISTEN\nRESET\nDEALLOCATE ALL",
        ),
        (
            "SELECT set_config('a.b', 'c', false); SELECT current_setting('a.b'), current_setting('no.such', true) IS NULL, quote_literal('it''s')",
            "c\nc|t|'it''s'",
        ),
        (
            "\\copy (SELECT order_no, city FROM orders o JOIN customers c ON c.cust_no = o.cust_no WHERE order_no = 1) TO STDOUT WITH (FORMAT csv, FORCE_QUOTE *)",
            "\"1\",\"York\"",
        ),
        (
            "SHOW search_path; SET search_path TO public; SHOW server_encoding",
            "\"$user\", public\nSET\nUTF8",
        ),
        ("SELECT current_database(), current_user", "tidemill|ann"),
        (
            "BEGIN; SET LOCAL statement_timeout = '7s'; SHOW statement_timeout; SET client_min_messages = 'error'; ROLLBACK; SHOW statement_timeout; SHOW client_min_messages",
            "BEGIN\nSET\n7s\nSET\nROLLBACK\n0\nnotice",
        ),
        (
            "PREPARE of (int, text) AS SELECT order_no FROM orders WHERE cust_no = $1 AND day > $2 ORDER BY 1; EXECUTE of (2, '2024-01-01'); EXECUTE of (1 + 0, '2024-01-01'); DEALLOCATE of",
            "PREPARE\n2\n3\n1\nDEALLOCATE",
        ),
        (
            "PREPARE add AS INSERT INTO orders (order_no, total) VALUES ($1, $2); EXECUTE add(60, 1.5); EXECUTE add(61, NULL); DELETE FROM orders WHERE order_no >= 60",
            "PREPARE\nINSERT 0 1\nINSERT 0 1\nDELETE 2",
        ),
        (
            "TABLE more.words; SELECT U&'\\00E4'; SELECT generate_series(1, 2) AS n",
            "ä\nä\n1\n2",
        ),
        (
            "SELECT 7::int8 AS n, '2024-01-01'::date AS d, E'a\\tb' AS t",
            "7|2024-01-01|a\tb",
        ),
    ] {
        check(&served, statements, expected);
    }
    for (statements, state) in [
        ("EXECUTE nothing", "26000"),
        ("PREPARE a AS SELECT $1 + 1; EXECUTE a", "08P01"),
        ("PREPARE b AS SELECT 1; PREPARE b AS SELECT 2", "42P05"),
        ("PREPARE c AS DROP TABLE orders", "42601"),
        ("PREPARE d AS SELECT $1; EXECUTE d($1)", "42P02"),
    ] {
        let run = served.psql(&format!("\\set VERBOSITY verbose\n{statements};\n"));
        assert!(
            run.stderr.contains(&format!("ERROR:  {state}")),
            "{statements}: {}",
            run.stderr
        );
    }
    let errors = served.psql(
        "SELECT totl FROM orders;\nSELECT * FROM ordes;\nSELECT * FROM 'secret.csv';\nSELECT * FROM \"../secret.csv\";\nINSERT INTO orders SELECT 1, 2, 'x' FROM \"/etc/passwd\";\nCREATE TABLE \"../evil\" (a Integer);\nSELECT * INTO \"../evil\" FROM orders;\nSELECT * FROM 'https://localhost/x.csv';\n",
    );
    let told: Vec<&str> = errors.stderr.lines().filter(|line| line.contains("ERROR")).collect();
    assert_eq!(told.len(), 8, "{}", errors.stderr);
    assert!(
        errors
            .stderr
            .contains("LINE 1: SELECT totl FROM orders;\n               ^"),
        "{}",
        errors.stderr
    );
    assert!(!served.path().join("evil.dbf").exists() && errors.stdout.is_empty());
    assert_eq!(served.end(), Some(0));
}

#[test]
fn paths_that_the_administrator_allows_are_tables() {
    let Some(_) = Postgres::need() else { return };
    let folder = books();
    std::fs::create_dir(folder.file("extra")).expect("made");
    std::fs::write(folder.file("extra/x.csv"), "x\n7\n").expect("written");
    std::os::unix::fs::symlink(folder.file("secret.csv"), folder.file("extra/link.csv")).expect("linked");
    let at = |name: &str| folder.file(name).to_string_lossy().into_owned();
    let (extra, made, link, secret) = (
        at("extra/x.csv"),
        at("extra/made.dbf"),
        at("extra/link.csv"),
        at("secret.csv"),
    );
    let evil = at("evil.dbf");
    let served = Served::with(folder, &["books", "--allow-paths", "extra"]);
    check(&served, &format!("SELECT x FROM '{extra}'"), "7");
    check(
        &served,
        &format!("CREATE TABLE '{made}' (a Integer); INSERT INTO '{made}' VALUES (5); SELECT a FROM '{made}'"),
        "CREATE TABLE\nINSERT 0 1\n5",
    );
    let statements = [&link, &secret, "extra/x.csv"].map(|path| format!("SELECT * FROM '{path}';\n"));
    let errors = served.psql(&format!("{}CREATE TABLE '{evil}' (a Integer);\n", statements.concat()));
    assert_eq!(errors.stderr.matches("ERROR").count(), 4, "{}", errors.stderr);
    assert!(errors.stdout.is_empty() && !Path::new(&evil).exists());
}

#[test]
fn psql_looks_at_the_tables() {
    let Some(_) = Postgres::need() else { return };
    let served = Served::begin();
    let tables = served.psql("\\dt").done();
    for name in ["public|customers|table", "public|numbers|table", "public|orders|table"] {
        assert!(tables.contains(name), "{tables}");
    }
    assert!(served.psql("\\dt more.*").done().contains("more|words|table"));
    assert!(served.psql("\\dn").done().contains("more|"));
    let columns = served.psql("\\d orders").done().to_lowercase();
    for column in ["order_no|integer", "day|date", "total|numeric"] {
        assert!(columns.contains(column), "{columns}");
    }
    // psql makes names small, those of files in capital letters too.
    let columns = served.psql("\\d \"Orders\"").done().to_lowercase();
    assert!(columns.contains("order_no|integer"), "{columns}");
    for command in [
        "\\dt+",
        "\\d",
        "\\d+ customers",
        "\\l",
        "\\du",
        "\\df nothing",
        "\\di",
        "\\dv",
    ] {
        let run = served.psql(command);
        assert!(!run.stderr.contains("ERROR"), "{command}: {}", run.stderr);
    }
}

#[test]
fn psycopg_asks_and_changes() {
    let served = Served::begin();
    let info = format!("host=127.0.0.1 port={} user=ann dbname=tidemill", served.port());
    served.python(
        &["psycopg[binary]==3.2.10"],
        include_str!("serve/psycopg_client.py"),
        &[&info],
    );
}

#[test]
fn odbc_programs_look_ask_and_change() {
    let (Some(driver), Some(python)) = (PsqlOdbc::need(), Python::need(&["pyodbc==5.5.0"])) else {
        return;
    };
    let served = Served::begin();
    let file = served.folder.file("client.py");
    std::fs::write(&file, include_str!("serve/odbc_client.py")).expect("written");
    let (library, port) = (driver.library(), served.port());
    let to = format!(
        "Driver={};Server=127.0.0.1;Port={port};Database=tidemill;Uid=ann;",
        library.display()
    );
    let mut client = python.command();
    let run = Run::of(
        client
            .arg(&file)
            .arg(to)
            .env("LD_LIBRARY_PATH", driver.library_path())
            .output()
            .expect("started"),
    );
    assert!(run.stdout == b"done\n", "{}", run.stderr);
}

#[test]
fn asyncpg_asks_and_changes() {
    let served = Served::begin();
    served.python(
        &["asyncpg==0.30.0"],
        include_str!("serve/asyncpg_client.py"),
        &["127.0.0.1", &served.port()],
    );
}

#[test]
fn sqlalchemy_knows_the_tables() {
    let served = Served::begin();
    let address = format!("127.0.0.1:{}", served.port());
    served.python(
        &["psycopg[binary]==3.2.10", "sqlalchemy==2.0.43"],
        include_str!("serve/sqlalchemy_client.py"),
        &[&address],
    );
}

#[test]
fn pgx_asks_and_changes() {
    let module = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite/serve/pgx");
    let Some(module) = GoModule::need(&module) else { return };
    let served = Served::begin();
    let url = format!("postgres://ann@127.0.0.1:{}/tidemill?sslmode=disable", served.port());
    let output = module.tests().env("TIDEMILL_POSTGRES", url).output();
    let run = Run::of(output.expect("go"));
    assert_eq!(
        run.code,
        Some(0),
        "{}{}",
        String::from_utf8_lossy(&run.stdout),
        run.stderr
    );
}

#[test]
fn pgjdbc_asks_and_changes() {
    let served = Served::begin();
    let url = format!("jdbc:postgresql://127.0.0.1:{}/tidemill?user=ann", served.port());
    served.java("org.postgresql:postgresql:42.7.10", &[], &[&url, "transactions"]);
}

#[test]
fn node_postgres_asks_and_changes() {
    let packages = [
        ("pg", "pg@8.16.3"),
        ("pg-connection-string", "pg-connection-string@2.9.1"),
        ("pg-pool", "pg-pool@3.10.1"),
        ("pg-protocol", "pg-protocol@1.10.3"),
        ("pg-types", "pg-types@2.2.0"),
        ("pgpass", "pgpass@1.0.5"),
        ("pg-int8", "pg-int8@1.0.1"),
        ("postgres-array", "postgres-array@2.0.0"),
        ("postgres-bytea", "postgres-bytea@1.0.0"),
        ("postgres-date", "postgres-date@1.0.7"),
        ("postgres-interval", "postgres-interval@1.2.0"),
        ("split2", "split2@4.2.0"),
        ("xtend", "xtend@4.0.2"),
    ];
    let served = Served::begin();
    let modules = served.path().join("node_modules");
    std::fs::create_dir(&modules).expect("made");
    for (name, package) in packages {
        let Some(folder) = npm_package(package) else { return };
        // Their places are looked for among the packages that stand beside them.
        let copied = Command::new("cp")
            .arg("-r")
            .arg(folder)
            .arg(modules.join(name))
            .status();
        assert!(copied.expect("cp").success());
    }
    std::fs::write(served.path().join("client.cjs"), include_str!("serve/pg_client.cjs")).expect("written");
    let output = Command::new("node")
        .args(["client.cjs", &served.port()])
        .current_dir(served.path())
        .stdin(Stdio::null())
        .output();
    let run = Run::of(output.expect("node"));
    assert!(run.stdout == b"done\n", "{}", run.stderr);
}
