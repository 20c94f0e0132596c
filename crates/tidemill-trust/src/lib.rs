//! What is never shown, and how errors and what others send are shown.
//!
//! - [`SecretUrl`] is a URL whose password cannot be printed. [`without_secrets`] does the same for URLs in a text.
//! - [`printable`] is the one way by which text of files, servers and clients reaches a terminal, an error or a report.
//! - [`with_causes`] is the text of an error and of what caused it.
//!
//! ```
//! use tidemill_trust::{SecretUrl, printable};
//!
//! let url = SecretUrl::new("clickhouse://ann:geheim@host/shop");
//! assert_eq!(url.to_string(), "clickhouse://ann:***@host/shop");
//! assert_eq!(url.expose(), "clickhouse://ann:geheim@host/shop");
//! assert_eq!(printable("red: \x1b[31m"), r"red: \x1b[31m");
//! ```
//!
//! Not here: how passwords are kept in memory, and which of a server's settings are secrets that its URL does not name so.

mod causes;
mod foreign_text;
mod secret_url;

pub use causes::with_causes;
pub use foreign_text::{TerminalWriter, printable};
pub use secret_url::{SecretUrl, without_secrets};
