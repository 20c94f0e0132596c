//! Connections to servers, and the metadata of their tables.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use arrow_array::cast::AsArray as _;
use arrow_array::types::Int64Type;
use arrow_array::{Array as _, RecordBatch};
use arrow_cast::cast;
use arrow_flight::decode::FlightRecordBatchStream;
use arrow_flight::error::FlightError;
use arrow_flight::flight_service_client::FlightServiceClient;
use arrow_flight::sql::client::FlightSqlServiceClient;
use arrow_flight::sql::{CommandGetTables, SqlInfo};
use arrow_flight::{FlightInfo, IpcMessage};
use arrow_schema::{DataType, Schema, SchemaRef};
use futures::TryStreamExt as _;
use tidemill_client::keys;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint, Identity};
use url::Url;

use super::error_at;
use crate::stores::server::ServerUrl;
use crate::{Error, Result};

/// The port of `tidemill serve`.
const PORT: u16 = 8815;
/// The default schema.
const SCHEMA: &str = "public";
/// The connection timeout.
const CONNECTING: Duration = Duration::from_secs(10);
/// The most bytes of a server's message.
const LARGEST: usize = 256 << 20;

/// The clients of a session, by server and user.
#[derive(Debug, Default)]
pub(super) struct Clients(tokio::sync::Mutex<HashMap<String, Client>>);

/// A connection and its login.
#[derive(Clone, Debug)]
pub(super) struct Client {
    channel: Channel,
    token: Option<String>,
    /// Whether the server is a Tidemill, which has the same semantics.
    pub(super) is_tidemill: bool,
}

/// A table of a server; with an empty name, a schema.
#[derive(Clone, Debug)]
pub(super) struct NamedTable {
    pub(super) client: Client,
    /// The server and the user.
    pub(super) server: String,
    /// The URL, without its password.
    pub(super) place: String,
    pub(super) schema: String,
    pub(super) table: String,
}

/// A table in the server's catalogue.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) schema: String,
    pub(super) name: String,
    pub(super) columns: SchemaRef,
}

impl Found {
    /// The quoted name for statements.
    pub(super) fn quoted(&self) -> String {
        format!("{}.{}", quoted(&self.schema), quoted(&self.name))
    }
}

/// A quoted name.
pub(super) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn decoded(part: &str) -> String {
    percent_encoding::percent_decode_str(part)
        .decode_utf8_lossy()
        .into_owned()
}

impl Clients {
    pub(super) async fn table(&self, url: &ServerUrl) -> Result<NamedTable> {
        let (place, server) = (url.to_string(), url.server());
        let settings = Settings::of(url)?;
        // `flight://host//table` has no schema.
        let path = settings.url.path();
        let mut path = path.strip_prefix('/').unwrap_or(path).splitn(2, '/').map(decoded);
        let schema = path.next().filter(|name| !name.is_empty());
        let table = path.next().unwrap_or_default();
        let mut clients = self.0.lock().await;
        let client = match clients.get(&server) {
            Some(client) => client.clone(),
            None => {
                let client = settings.connect(&place).await?;
                clients.insert(server.clone(), client.clone());
                client
            }
        };
        Ok(NamedTable {
            client,
            server,
            place,
            schema: schema.unwrap_or_else(|| SCHEMA.to_owned()),
            table,
        })
    }
}

/// The settings of a connection.
struct Settings {
    url: Url,
    secure: bool,
    ca: Option<String>,
    /// The files of the client's certificate and its key.
    cert: Option<String>,
    key: Option<String>,
    timeout: Option<Duration>,
}

impl Settings {
    fn of(url: &ServerUrl) -> Result<Self> {
        let wrong = |what: String, hint: &str| Error::Unsupported {
            what: format!("{url}: {what}"),
            hint: hint.to_owned(),
        };
        let parsed =
            Url::parse(url.as_str()).map_err(|error| wrong(error.to_string(), "write flight://host:port/schema"))?;
        let mut settings = Self {
            secure: false,
            ca: None,
            cert: None,
            key: None,
            timeout: None,
            url: parsed.clone(),
        };
        let mut secure = None;
        for (name, value) in parsed.query_pairs() {
            match keys::canonical(&name) {
                "secure" => {
                    let truth = keys::truth(&value);
                    secure = Some(truth.ok_or_else(|| wrong(format!("secure={value}"), "secure is 1 or 0"))?);
                }
                "ca" => settings.ca = Some(value.into_owned()),
                "cert" => settings.cert = Some(value.into_owned()),
                "key" => settings.key = Some(value.into_owned()),
                "timeout" => {
                    let time = keys::limit(&value);
                    let wrong = || wrong(format!("timeout={value}"), "timeout is a number of seconds above 0");
                    settings.timeout = Some(time.ok_or_else(wrong)?);
                }
                other => {
                    return Err(wrong(
                        format!("the setting {other}"),
                        "the settings are secure, ca, cert, key and timeout",
                    ));
                }
            }
        }
        let of_tls = [("ca", &settings.ca), ("cert", &settings.cert), ("key", &settings.key)];
        let named = of_tls.into_iter().find(|(_, file)| file.is_some());
        if let (Some(false), Some((name, _))) = (secure, named) {
            return Err(wrong(format!("{name} with secure=0"), "leave one of them out"));
        }
        settings.secure = secure.unwrap_or(named.is_some());
        if settings.cert.is_some() != settings.key.is_some() {
            return Err(wrong(
                "one of cert and key without the other".to_owned(),
                "give the certificate and its key",
            ));
        }
        Ok(settings)
    }

    async fn connect(&self, place: &str) -> Result<Client> {
        let failed = |error: tonic::transport::Error| {
            let status = tonic::Status::unavailable(crate::with_causes(&error));
            error_at(place)(FlightError::Tonic(Box::new(status)))
        };
        let host = self.url.host_str().unwrap_or("127.0.0.1");
        let port = self.url.port().unwrap_or(PORT);
        let scheme = if self.secure { "https" } else { "http" };
        let endpoint = Endpoint::from_shared(format!("{scheme}://{host}:{port}")).map_err(failed)?;
        let mut endpoint = endpoint.connect_timeout(CONNECTING).tcp_nodelay(true);
        if let Some(timeout) = self.timeout {
            endpoint = endpoint.timeout(timeout);
        }
        if self.secure {
            let read = |file: &String| {
                std::fs::read(file).map_err(|source| Error::Io {
                    path: file.into(),
                    action: "read",
                    source,
                })
            };
            let mut tls = match &self.ca {
                None => ClientTlsConfig::new().with_native_roots(),
                Some(file) => ClientTlsConfig::new().ca_certificate(Certificate::from_pem(read(file)?)),
            };
            if let (Some(cert), Some(key)) = (&self.cert, &self.key) {
                tls = tls.identity(Identity::from_pem(read(cert)?, read(key)?));
            }
            endpoint = endpoint.tls_config(tls).map_err(failed)?;
        }
        let channel = endpoint.connect().await.map_err(failed)?;
        let mut client = Client {
            channel,
            token: None,
            is_tidemill: false,
        };
        if !self.url.username().is_empty() {
            let (name, password) = (
                decoded(self.url.username()),
                decoded(self.url.password().unwrap_or_default()),
            );
            client.token = Some(client.login(&name, &password).await.map_err(error_at(place))?);
        }
        client.is_tidemill = client.vendor().await.map_err(error_at(place))? == "Tidemill";
        Ok(client)
    }
}

impl Client {
    pub(super) fn sql(&self) -> FlightSqlServiceClient<Channel> {
        let inner = FlightServiceClient::new(self.channel.clone()).max_decoding_message_size(LARGEST);
        let mut client = FlightSqlServiceClient::new_from_inner(inner);
        if let Some(token) = &self.token {
            client.set_token(token.clone());
        }
        client
    }

    /// Exchanges a name and a password for a token.
    async fn login(&self, name: &str, password: &str) -> Result<String, FlightError> {
        let mut client = self.sql();
        let payload = client.handshake(name, password).await.map_err(|error| {
            // The client crate has reworded the server's error.
            FlightError::Tonic(Box::new(tonic::Status::unauthenticated(error.to_string())))
        })?;
        Ok(match client.token() {
            Some(token) => token.clone(),
            None => String::from_utf8_lossy(&payload).into_owned(),
        })
    }

    /// The server's vendor name; empty if it does not report one.
    async fn vendor(&self) -> Result<String, FlightError> {
        let info = match self.sql().get_sql_info(vec![SqlInfo::FlightSqlServerName]).await {
            Ok(info) => info,
            Err(error) => match tonic_code(&error) {
                Some(tonic::Code::Unauthenticated | tonic::Code::Unavailable) => return Err(error),
                _ => return Ok(String::new()),
            },
        };
        let batches: Vec<RecordBatch> = self.fetch(info).await?.try_collect().await?;
        let name = batches.iter().find_map(|batch| {
            let values = batch
                .columns()
                .get(1)?
                .as_any()
                .downcast_ref::<arrow_array::UnionArray>()?;
            let first = (!values.is_empty()).then(|| values.value(0))?;
            Some(first.as_string_opt::<i32>()?.value(0).to_owned())
        });
        Ok(name.unwrap_or_default())
    }

    /// The rows of a result.
    pub(super) async fn fetch(&self, info: FlightInfo) -> Result<FlightRecordBatchStream, FlightError> {
        let ticket = info.endpoint.into_iter().find_map(|endpoint| endpoint.ticket);
        let ticket = ticket.ok_or_else(|| FlightError::protocol("the server's answer has no ticket"))?;
        self.sql().do_get(ticket).await
    }
}

/// The status code of the server, if known.
fn tonic_code(error: &FlightError) -> Option<tonic::Code> {
    match error {
        FlightError::Tonic(status) => Some(status.code()),
        _ => None,
    }
}

impl NamedTable {
    /// The tables of the schema, or those with a name, without regard to case.
    pub(super) async fn list(&self, name: Option<&str>, columns: bool) -> Result<Vec<Found>> {
        let asked = CommandGetTables {
            catalog: None,
            db_schema_filter_pattern: Some(pattern(&self.schema)),
            table_name_filter_pattern: name.map(pattern),
            table_types: Vec::new(),
            include_schema: columns,
        };
        let list = async {
            let info = self.client.sql().get_tables(asked).await?;
            let batches: Vec<RecordBatch> = self.client.fetch(info).await?.try_collect().await?;
            Ok(batches)
        };
        let mut found = Vec::new();
        for batch in list.await.map_err(error_at(&self.place))? {
            let texts = |column: &str| {
                batch
                    .column_by_name(column)
                    .and_then(|texts| texts.as_string_opt::<i32>())
            };
            let (Some(schemas), Some(names)) = (texts("db_schema_name"), texts("table_name")) else {
                return Err(error_at(&self.place)(FlightError::protocol(
                    "a list of tables without names",
                )));
            };
            let encoded = batch
                .column_by_name("table_schema")
                .and_then(|bytes| bytes.as_binary_opt::<i32>());
            for row in 0..batch.num_rows() {
                let is_own = schemas.value(row).eq_ignore_ascii_case(&self.schema);
                let is_wanted = name.is_none_or(|name| names.value(row).eq_ignore_ascii_case(name));
                if !is_own || !is_wanted {
                    continue;
                }
                let columns = match encoded {
                    None => Schema::empty(),
                    Some(bytes) => {
                        let message = IpcMessage(bytes.value(row).to_vec().into());
                        let schema = Schema::try_from(message);
                        schema.map_err(|error| error_at(&self.place)(FlightError::Arrow(error)))?
                    }
                };
                found.push(Found {
                    schema: schemas.value(row).to_owned(),
                    name: names.value(row).to_owned(),
                    columns: columns.into(),
                });
            }
        }
        found.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(found)
    }

    /// Finds the table, whose name may differ in case.
    pub(super) async fn found(&self) -> Result<Found> {
        let mut tables = self.list(Some(&self.table), true).await?;
        let exact = tables.iter().position(|found| found.name == self.table).unwrap_or(0);
        if exact < tables.len() {
            return Ok(tables.swap_remove(exact));
        }
        let known = self.list(None, false).await?;
        let names: Vec<&str> = known.iter().take(20).map(|found| found.name.as_str()).collect();
        Err(Error::NotFound {
            name: format!("{}: {}", self.place, self.table),
            hint: match names.is_empty() {
                true => format!("the schema {} has no tables for this user", self.schema),
                false => format!("the schema {} has {}", self.schema, names.join(", ")),
            },
        })
    }

    /// The rows of a query.
    pub(super) async fn query(&self, query: &str) -> Result<FlightRecordBatchStream> {
        let run = async {
            let info = self.client.sql().execute(query.to_owned(), None).await?;
            self.client.fetch(info).await
        };
        run.await.map_err(error_at(&self.place))
    }

    pub(super) async fn execute(&self, statement: String) -> Result<()> {
        let done = self.client.sql().execute_update(statement, None).await;
        done.map(drop).map_err(error_at(&self.place))
    }

    /// The result of a query that returns a single number.
    pub(super) async fn number(&self, query: &str) -> Result<u64> {
        let batches: Vec<RecordBatch> = self
            .query(query)
            .await?
            .try_collect()
            .await
            .map_err(error_at(&self.place))?;
        let first = batches.iter().find(|batch| batch.num_rows() > 0);
        let number = first.and_then(|batch| {
            let column = cast(batch.columns().first()?, &DataType::Int64).ok()?;
            u64::try_from(column.as_primitive::<Int64Type>().value(0)).ok()
        });
        number.ok_or_else(|| error_at(&self.place)(FlightError::protocol(format!("no number to {query}"))))
    }
}

/// A LIKE pattern that matches this name in any case, and others of the same length. Servers differ in how they escape wildcards, and in
/// case sensitivity.
fn pattern(name: &str) -> String {
    let any = |letter: char| if letter.is_ascii_digit() { letter } else { '_' };
    name.chars().map(any).collect()
}

/// Converts an error of the stream.
pub(super) fn failed(place: &Arc<str>) -> impl Fn(FlightError) -> Error + use<> {
    let place = Arc::clone(place);
    move |error| error_at(&place)(error)
}
