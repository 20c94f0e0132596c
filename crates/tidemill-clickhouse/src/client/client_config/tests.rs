use std::collections::HashMap;

use tempfile::TempDir;

use super::*;

/// A folder that stands for all places where a client looks, and an environment.
struct World {
    folder: TempDir,
    environment: HashMap<&'static str, String>,
}

impl World {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let home = folder.path().join("home").display().to_string();
        Self {
            folder,
            environment: HashMap::from([("HOME", home)]),
        }
    }

    fn with(mut self, name: &'static str, value: &str) -> Self {
        self.environment.insert(name, value.to_owned());
        self
    }

    fn write(&self, file: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    fn options(&self, path: Option<&Path>, connection: Option<&str>) -> Result<Options> {
        let places = Places {
            here: self.folder.path().join("here"),
            system: self.folder.path().join("etc"),
            environment: &|name| self.environment.get(name).cloned(),
        };
        places.options(path, connection)
    }

    fn of(&self, ending: &str, text: &str, connection: Option<&str>) -> Result<Options> {
        let path = self.write(&format!("given.{ending}"), text);
        self.options(Some(&path), connection)
    }
}

fn host(options: &Options) -> (&str, u16) {
    let endpoint = &options.endpoints[0];
    (&endpoint.host, options.port(endpoint))
}

/// As the package of ClickHouse installs it, with the settings that its comments propose.
const FULL: &str = r#"<!-- Put it into /etc/clickhouse-client/ -->
<config>
    <openSSL>
        <client> <!-- for the secure port -->
            <loadDefaultCAFile>true</loadDefaultCAFile>
            <cacheSessions>true</cacheSessions>
            <disableProtocols>sslv2,sslv3</disableProtocols>
            <preferServerCiphers>true</preferServerCiphers>
            <caConfig>CA</caConfig>
            <certificateFile>CERTIFICATE</certificateFile>
            <privateKeyFile>KEY</privateKeyFile>
            <invalidCertificateHandler><name>RejectCertificateHandler</name></invalidCertificateHandler>
        </client>
    </openSSL>
    <prompt_by_server_display_name>
        <default>{display_name} :) </default>
        <test>{display_name} \x01\e[1;32m\x02:)\x01\e[0m\x02 </test>
    </prompt_by_server_display_name>
    <host>db.example.com</host>
    <port>9441</port>
    <secure>1</secure>
    <user>dbuser</user>
    <password>p&lt;&amp;&#65;<![CDATA[<>]]> w</password>
    <database>default2</database>
    <quota_key>key</quota_key>
    <connect_timeout>3</connect_timeout>
    <receive_timeout>2.5</receive_timeout>
    <tcp_keep_alive_timeout>60</tcp_keep_alive_timeout>
    <send_timeout>7</send_timeout>
    <network_compression_method>ZSTD</network_compression_method>
    <tls-sni-override>inner.example.com</tls-sni-override>
    <format>PrettyCompactMonoBlock</format>
    <multiline/>
    <history_file>/home/user/history.log</history_file>
    <connections_credentials>
        <connection>
            <name>staging</name>
            <hostname>staging.example.com</hostname>
            <port>9000</port>
            <secure>0</secure>
            <user>tester</user>
            <password>test secret</password>
            <database>playground</database>
            <history_file>/dev/null</history_file>
        </connection>
        <connection><name>db.example.com</name><user>by host</user></connection>
        <connection><name>cloud</name><hostname>x.eu.clickhouse.cloud</hostname><secure>0</secure></connection>
        <connection><name>self-signed</name><port>9440</port><accept-invalid-certificate>yes</accept-invalid-certificate></connection>
    </connections_credentials>
</config>
"#;

fn full(world: &World) -> String {
    let file = |name: &str| world.write(name, name).display().to_string();
    FULL.replace("CERTIFICATE", &file("client.pem"))
        .replace("KEY", &file("client.key"))
        .replace(">CA<", &format!(">{}<", file("ca.pem")))
}

#[test]
fn all_that_a_file_says_is_taken() {
    let world = World::new();
    let text = full(&world).replace("<name>db.example.com</name>", "<name>other</name>");
    let options = world.of("xml", &text, None).unwrap();
    assert_eq!(host(&options), ("db.example.com", 9441));
    assert_eq!(
        (options.user.as_str(), options.password.as_str()),
        ("dbuser", "p<&A<> w")
    );
    assert_eq!(
        (options.database.as_str(), options.quota_key.as_str()),
        ("default2", "key")
    );
    let seconds = |seconds| Duration::from_secs_f64(seconds);
    assert_eq!(options.connect_timeout, seconds(3.0));
    assert_eq!(
        (options.read_timeout, options.write_timeout),
        (seconds(2.5), seconds(7.0))
    );
    assert_eq!(options.keep_alive, seconds(60.0));
    assert_eq!(options.compression, "zstd".parse().unwrap());
    let tls = options.tls.unwrap();
    assert_eq!(tls.trusted_pem.as_deref(), Some(&b"ca.pem"[..]));
    assert_eq!(tls.server_name.as_deref(), Some("inner.example.com"));
    let client = tls.client_pem.unwrap();
    assert_eq!(
        (client.certificates, client.key),
        (b"client.pem".to_vec(), b"client.key".to_vec())
    );
    assert!(!tls.accepts_any_certificate);
}

#[test]
fn a_connection_goes_over_the_file_and_the_file_over_the_environment() {
    let world = World::new()
        .with("CLICKHOUSE_HOST", "env host")
        .with("CLICKHOUSE_USER", "env user")
        .with("CLICKHOUSE_PASSWORD", "env password");
    let options = world.of("xml", &full(&world), Some("staging")).unwrap();
    assert_eq!(host(&options), ("staging.example.com", 9000));
    assert_eq!(
        (options.user.as_str(), options.password.as_str()),
        ("tester", "test secret")
    );
    assert_eq!(options.database, "playground");
    assert!(options.tls.is_none());
    // The connection that is named as the host, when none is asked for.
    let options = world.of("xml", &full(&world), None).unwrap();
    assert_eq!(
        (options.user.as_str(), options.password.as_str()),
        ("by host", "p<&A<> w")
    );
    assert_eq!(host(&options), ("db.example.com", 9441));

    let options = world
        .of("xml", "<clickhouse><user>file</user></clickhouse>", None)
        .unwrap();
    assert_eq!(
        (options.user.as_str(), options.password.as_str()),
        ("file", "env password")
    );
    assert_eq!(host(&options), ("env host", 9000));
    let options = world.options(None, None).unwrap();
    assert_eq!(
        (options.user.as_str(), host(&options)),
        ("env user", ("env host", 9000))
    );
    let options = World::new().options(None, None).unwrap();
    assert_eq!(
        (options.user.as_str(), host(&options)),
        ("default", ("localhost", 9000))
    );

    let unknown = world.of("xml", &full(&world), Some("nowhere")).unwrap_err();
    assert!(unknown.to_string().contains("connection=nowhere"), "{unknown}");
}

#[test]
fn connections_are_encrypted_where_they_would_be() {
    let world = World::new();
    let is_secure = |elements: &str| {
        world
            .of("xml", &format!("<c>{elements}</c>"), None)
            .unwrap()
            .tls
            .is_some()
    };
    assert!(is_secure("<secure>yes</secure>"));
    assert!(is_secure("<port>9440</port>"));
    assert!(is_secure("<host>abc.clickhouse.cloud</host>"));
    assert!(!is_secure("<host>abc.clickhouse.cloud</host><no-secure>1</no-secure>"));
    assert!(!is_secure("<secure>false</secure><port>9000</port>"));
    let port = |elements: &str| {
        let options = world.of("xml", &format!("<c>{elements}</c>"), None).unwrap();
        host(&options).1
    };
    assert_eq!(port("<tcp_port>1</tcp_port><tcp_port_secure>2</tcp_port_secure>"), 1);
    assert_eq!(
        port("<tcp_port>1</tcp_port><tcp_port_secure>2</tcp_port_secure><secure>1</secure>"),
        2
    );
    assert_eq!(port("<secure>1</secure>"), 9440);

    let tls = |connection| world.of("xml", &full(&world), Some(connection)).unwrap().tls.unwrap();
    assert!(!tls("cloud").accepts_any_certificate);
    assert!(tls("self-signed").accepts_any_certificate);
    for element in [
        "<verificationMode>none</verificationMode>",
        "<invalidCertificateHandler><name>AcceptCertificateHandler</name></invalidCertificateHandler>",
    ] {
        let text = format!("<c><secure>1</secure><openSSL><client>{element}</client></openSSL></c>");
        let options = world.of("xml", &text, None).unwrap();
        assert!(options.tls.unwrap().accepts_any_certificate, "{element}");
    }
}

#[test]
fn yaml_says_the_same() {
    let world = World::new().with("SECRET", "from the environment");
    let text = "
# As the documentation has it.
user: username
password: ' pass:word '
secure: true
port: 9441
openSSL:
  client:
    caConfig: 'CA'
    invalidCertificateHandler: {name: AcceptCertificateHandler}
multiline: ~
connections_credentials:
  connection:
    - name: one
      hostname: one.example.com
      password: {\"@from_env\": SECRET}
    - name: two
      hostname: two.example.com
      user:
        \"#text\": second
"
    .replace("CA", &world.write("ca.pem", "certificates").display().to_string());
    let options = world.of("yaml", &text, None).unwrap();
    assert_eq!(host(&options), ("localhost", 9441));
    assert_eq!(
        (options.user.as_str(), options.password.as_str()),
        ("username", " pass:word ")
    );
    let tls = options.tls.unwrap();
    assert_eq!(tls.trusted_pem.as_deref(), Some(&b"certificates"[..]));
    assert!(tls.accepts_any_certificate);
    let options = world.of("yml", &text, Some("one")).unwrap();
    assert_eq!(
        (host(&options).0, options.password.as_str()),
        ("one.example.com", "from the environment")
    );
    let options = world.of("yml", &text, Some("two")).unwrap();
    assert_eq!((host(&options).0, options.user.as_str()), ("two.example.com", "second"));
    assert_eq!(host(&world.of("yaml", "", None).unwrap()), ("localhost", 9000));
}

#[test]
fn text_may_come_from_the_environment() {
    let world = World::new().with("SECRET", "hidden");
    let options = world.of("xml", "<c><password from_env=\"SECRET\"/></c>", None).unwrap();
    assert_eq!(options.password, "hidden");
    let missing = world.of("xml", "<c><password from_env='NONE'/></c>", None).unwrap_err();
    assert!(missing.to_string().contains("from_env=NONE"), "{missing}");
    let elsewhere = world.of("xml", "<c><password from_zk='/p'/></c>", None).unwrap_err();
    assert!(matches!(elsewhere, Error::Unsupported { .. }), "{elsewhere:?}");
}

#[test]
fn the_first_file_that_exists_is_taken() {
    let mut world = World::new();
    // From the last to the first.
    let files = [
        "etc/clickhouse-client/config.yml",
        "etc/clickhouse-client/config.xml",
        "home/.clickhouse-client/config.yaml",
        "home/.clickhouse-client/config.xml",
        "home/.config/clickhouse/config.yml",
        "home/.config/clickhouse/config.xml",
        "here/clickhouse-client.yml",
        "here/clickhouse-client.yaml",
        "here/clickhouse-client.xml",
    ];
    for file in files {
        let text = if file.ends_with("xml") {
            format!("<c><user>{file}</user></c>")
        } else {
            format!("user: {file}")
        };
        world.write(file, &text);
        assert_eq!(world.options(None, None).unwrap().user, file);
    }
    let folder = world.folder.path().join("xdg");
    world = world.with("XDG_CONFIG_HOME", &folder.display().to_string());
    world.write("xdg/clickhouse/config.xml", "<c><user>xdg</user></c>");
    for file in files.iter().rev().take(3) {
        fs::remove_file(world.folder.path().join(file)).unwrap();
    }
    assert_eq!(world.options(None, None).unwrap().user, "xdg");
}

#[test]
fn what_cannot_be_is_refused_without_the_password() {
    let world = World::new();
    let deep = format!("<c>{}", "<a>".repeat(100_000));
    let many = format!("<c>{}</c>", "<a/>".repeat(20_000));
    let lists = format!("a: {}", "[".repeat(100_000));
    for (ending, text) in [
        ("xml", "<c><password>secret</password><port>many</port></c>"),
        ("xml", "<c><password>secret</password><port>65536</port></c>"),
        ("xml", "<c><password>secret</password><secure>perhaps</secure></c>"),
        (
            "xml",
            "<c><password>secret</password><connect_timeout>-1</connect_timeout></c>",
        ),
        (
            "xml",
            "<c><password>secret</password><network_compression_method>rar</network_compression_method></c>",
        ),
        ("xml", "<c><password>secret</user></c>"),
        ("xml", "<c><password>secret&unknown;</password></c>"),
        (
            "xml",
            "<!DOCTYPE c [<!ENTITY a 'secret'>]><c><password>&a;</password></c>",
        ),
        (
            "xml",
            "<c><password>secret</password><secure>1</secure><openSSL><client><caConfig>/none</caConfig></client></openSSL></c>",
        ),
        ("xml", &deep),
        ("xml", &many),
        ("xml", &format!("<c>{}</c>", " ".repeat(2 << 20))),
        ("yaml", "password: secret\nport: many"),
        ("yaml", "password: &a secret\nuser: *a"),
        ("yaml", "password: secret\n---\nuser: other"),
        ("yaml", "- secret"),
        ("yaml", "secret"),
        ("yaml", "{password: secret}: 1"),
        ("yaml", "password: 'secret"),
        ("yaml", &lists),
    ] {
        let error = world.of(ending, text, None).unwrap_err();
        assert!(
            matches!(error, Error::Option { .. } | Error::Limit { .. }),
            "{error:?} of {}",
            &text[..text.len().min(100)]
        );
        assert!(!format!("{error} {error:?}").contains("secret"), "{error:?}");
    }
    let missing = world.options(Some(Path::new("/no/such/file.xml")), None).unwrap_err();
    assert!(missing.to_string().contains("/no/such/file.xml"), "{missing}");
}

#[test]
fn files_cut_anywhere_do_no_harm() {
    let nothing = |_: &str| None;
    let full = full(&World::new());
    let begin = full.find("<config>").unwrap();
    for end in 0..full.trim_end().len() {
        let parsed = xml::parse(&full[..end], &nothing);
        assert!(parsed.is_err() || end <= begin, "cut at {end}");
    }
    let text = "a:\n  - b: 'c'\n  - {d: [e, f], \"@g\": \"h\\n\"}\n# i\nj: |\n  k\n";
    assert!(yaml::parse(text, &nothing).is_ok());
    for end in 0..text.len() {
        let _ = yaml::parse(&text[..end], &nothing);
    }
}
