//! Serves the stores over protocols that programs know: PostgreSQL's protocol, Arrow Flight SQL, and HTTP with a web page.
//!
//! A [`Server`] listens where its [`ServerOptions`] say, and gives each client a session of `tidemill-sql`: the same SQL, the same
//! names, the same errors as `tidemill sql`. This crate turns messages into calls of a session and Arrow into rows of a protocol; it has
//! no SQL of its own.
//!
//! ```no_run
//! # async fn example() -> Result<(), tidemill_server::Error> {
//! use tidemill_server::{Server, ServerOptions};
//!
//! let options = ServerOptions {
//!     folders: vec!["books".into()],
//!     postgres: Some(([127, 0, 0, 1], 5433).into()),
//!     ..ServerOptions::default()
//! };
//! let server = Server::bind(options).await?;
//! println!("psql -h 127.0.0.1 -p {}", server.postgres().expect("it listens").port());
//! server.run(std::future::pending()).await
//! # }
//! ```
//!
//! Clients may name only tables of the served folders and stores: no path, no URL, no symbolic link out of a folder. Without [`Users`], the
//! server listens only on addresses of this machine.

mod error;
mod failure;
mod flight;
mod http;
mod listener;
mod postgres;
mod server;
mod statement;
mod stores;
mod users;

pub use error::{Error, Result};
pub use http::{ReportPage, Reports};
pub use server::{Server, ServerOptions, TlsFiles};
pub use users::{Rights, User, Users, Verifier};
