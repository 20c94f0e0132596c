//! `tidemill user`: the file of users that `tidemill serve --users` reads.

use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, bail};
use clap::Subcommand;
use tidemill_server::{Rights, User, Users, Verifier};

use crate::Outcome;
use crate::args::{bytes, seconds};
use crate::terminal::say;

/// Add and remove users of `tidemill serve`.
#[derive(Debug, clap::Args)]
pub(crate) struct UserArgs {
    #[command(subcommand)]
    command: UserCommand,
}

#[derive(Debug, Subcommand)]
enum UserCommand {
    /// Add a user to a file, or change one. The password is asked for, or read from standard input.
    ///
    /// The file holds SCRAM-SHA-256 verifiers in the form of PostgreSQL's pg_authid, and no passwords.
    Add {
        /// The name of the user.
        name: String,
        /// The file of users. It is created if it does not exist.
        #[arg(long, value_name = "FILE")]
        users: PathBuf,
        /// Let the user change tables.
        #[arg(long)]
        write: bool,
        /// The schemas whose tables the user can name; `public` is the first folder. Default: all.
        #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
        schemas: Option<Vec<String>>,
        /// The longest time for a statement.
        #[arg(long, value_name = "SECONDS", value_parser = seconds)]
        time: Option<Duration>,
        /// Memory for sorting, grouping and joining, for example 256M.
        #[arg(long, value_name = "SIZE", value_parser = bytes)]
        memory: Option<usize>,
        /// The most rows of an answer.
        #[arg(long, value_name = "N")]
        rows: Option<u64>,
    },
    /// Remove a user from a file.
    Remove {
        /// The name of the user.
        name: String,
        /// The file of users.
        #[arg(long, value_name = "FILE")]
        users: PathBuf,
    },
}

pub(crate) fn run(args: UserArgs) -> anyhow::Result<Outcome> {
    match args.command {
        UserCommand::Add {
            name,
            users: file,
            write,
            schemas,
            time,
            memory,
            rows,
        } => {
            if name.is_empty() || name.starts_with('#') || name.chars().any(char::is_whitespace) {
                bail!("{name:?}: a user's name has no blanks, and does not begin with #");
            }
            let mut users = match file.exists() {
                true => Users::read(&file)?,
                false => Users::default(),
            };
            let password = password()?;
            users.put(User {
                name: name.clone(),
                verifier: Verifier::of_password(&password),
                rights: Rights {
                    may_write: write,
                    schemas,
                    statement_time: time,
                    memory,
                    rows,
                },
            });
            write_users(&users, &file)?;
            let may = if write { "read and write" } else { "read" };
            say!("{}: {name} may {may}", file.display())?;
        }
        UserCommand::Remove { name, users: file } => {
            let mut users = Users::read(&file)?;
            if !users.remove(&name) {
                bail!("{}: there is no user {name:?}", file.display());
            }
            write_users(&users, &file)?;
            say!("{}: {name} removed", file.display())?;
        }
    }
    Ok(Outcome::Done)
}

/// Asks for a password twice on a terminal; else it is the first line of standard input.
fn password() -> anyhow::Result<String> {
    let password = match std::io::stdin().is_terminal() {
        true => {
            let first = rpassword::prompt_password("Password: ")?;
            if rpassword::prompt_password("Again: ")? != first {
                bail!("the two passwords differ; nothing was changed");
            }
            first
        }
        false => {
            let mut line = String::new();
            std::io::stdin()
                .read_line(&mut line)
                .context("cannot read the password from standard input")?;
            line.trim_end_matches(['\r', '\n']).to_owned()
        }
    };
    match password.is_empty() {
        true => bail!("the password is empty; nothing was changed"),
        false => Ok(password),
    }
}

/// Only its owner can read the file, which is whole at any time.
fn write_users(users: &Users, file: &Path) -> anyhow::Result<()> {
    let folder = match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let cannot = || format!("{}: cannot write the users", file.display());
    let mut draft = tempfile::NamedTempFile::new_in(folder).with_context(cannot)?;
    draft.write_all(users.to_text().as_bytes()).with_context(cannot)?;
    draft.as_file().sync_all().with_context(cannot)?;
    draft.persist(file).with_context(cannot)?;
    Ok(())
}
