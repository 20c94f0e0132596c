//! `tidemill shell`: runs statements from a prompt or from a pipe.

mod completion;
mod meta;
mod statements;

use std::io::{self, BufRead, IsTerminal};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use anyhow::bail;
use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;
use rustyline::{CompletionType, Config, Editor};
use tidemill_sql::{CopyOptions, Location, Session, SessionOptions};

use self::completion::Prompt;
use self::meta::Meta;
use self::statements::{Input, is_complete};
use crate::Outcome;
use crate::args::{AnswerFormat, RowCount, ScreenArgs, ShellArgs};
use crate::commands::sql::with_place;
use crate::output::{Screen, default_format, report_damage, write_answers};
use crate::terminal::{say, tell};

/// The session and the settings of the shell.
struct Shell {
    session: Arc<Session>,
    options: SessionOptions,
    format: AnswerFormat,
    screen: ScreenArgs,
    is_timed: bool,
    /// The file that the next result is copied to.
    next_into: Option<Location>,
}

pub(crate) async fn run(args: ShellArgs) -> anyhow::Result<Outcome> {
    let options = args.tables.options();
    let mut shell = Shell {
        session: Arc::new(Session::new(options.clone())),
        options,
        format: args.format.unwrap_or_else(default_format),
        screen: args.screen,
        is_timed: io::stderr().is_terminal(),
        next_into: None,
    };
    match io::stdin().is_terminal() {
        true => shell.talk().await,
        false => shell.read_all().await,
    }
}

impl Shell {
    /// Reads statements from the prompt until the user quits.
    async fn talk(&mut self) -> anyhow::Result<Outcome> {
        tell!(
            "Tidemill {}. \\? lists the commands, \\d the tables; end a statement with ; and the shell with \\q.",
            env!("CARGO_PKG_VERSION")
        );
        let config = Config::builder()
            .completion_type(CompletionType::List)
            .max_history_size(HISTORY)?
            .auto_add_history(true)
            .build();
        let mut editor: Editor<Prompt, FileHistory> = Editor::with_config(config)?;
        let history = history_file();
        if let Some(file) = &history {
            // The file is missing the first time.
            let _ = editor.load_history(file);
        }
        loop {
            editor.set_helper(Some(Prompt::new(Arc::clone(&self.session))));
            let read;
            (editor, read) = tokio::task::spawn_blocking(move || {
                let read = editor.readline("tidemill> ");
                (editor, read)
            })
            .await?;
            match read {
                Ok(text) => {
                    if let Some(file) = &history {
                        let _ = editor.append_history(file);
                    }
                    match self.take(&text).await {
                        Ok(true) => {}
                        Ok(false) => return Ok(Outcome::Done),
                        // An error ends only its statement.
                        Err(error) => tell!("{error:#}"),
                    }
                }
                Err(ReadlineError::Interrupted) => {}
                Err(ReadlineError::Eof) => return Ok(Outcome::Done),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Runs the statements of standard input until one fails.
    async fn read_all(&mut self) -> anyhow::Result<Outcome> {
        let mut text = String::new();
        let mut lines = io::stdin()
            .lock()
            .lines()
            .map_while(Result::ok)
            .collect::<Vec<_>>()
            .into_iter();
        loop {
            let line = lines.next();
            if let Some(line) = &line {
                text.push_str(line);
                text.push('\n');
            }
            if line.is_none() || is_complete(&text) {
                let more = self.take(&std::mem::take(&mut text)).await?;
                if line.is_none() || !more {
                    return Ok(Outcome::Done);
                }
            }
        }
    }

    /// Runs one input; `false` if it quits the shell.
    async fn take(&mut self, text: &str) -> anyhow::Result<bool> {
        match Input::of(text) {
            Input::Nothing => {}
            Input::Meta(line) => return self.obey(&Meta::of(line)?).await,
            Input::Statement(statement) => self.interruptible(statement).await?,
        }
        Ok(true)
    }

    /// Runs a statement until it ends, or Ctrl-C stops it.
    async fn interruptible(&mut self, statement: &str) -> anyhow::Result<()> {
        let session = Arc::clone(&self.session);
        let (into, format, screen, is_timed) = (self.next_into.take(), self.format, self.screen, self.is_timed);
        let started = Instant::now();
        let with_place = |error| with_place(error, statement);
        let work = async {
            if let Some(file) = into {
                let copied = session
                    .copy_query(statement, &file, &CopyOptions::default(), |_| ())
                    .await;
                return Ok::<u64, anyhow::Error>(copied.map_err(with_place)?.rows);
            }
            let answers = session.query_all(statement).await.map_err(with_place)?;
            write_answers(answers, format, Screen::of(screen)).await
        };
        let done = tokio::select! {
            done = work => done,
            interrupted = tokio::signal::ctrl_c() => {
                interrupted?;
                bail!("the statement was stopped");
            }
        };
        report_damage(&self.session);
        let rows = done?;
        if is_timed {
            tell!("{rows} rows in {:.3} s", started.elapsed().as_secs_f64());
        }
        Ok(())
    }

    async fn obey(&mut self, meta: &Meta) -> anyhow::Result<bool> {
        match meta {
            Meta::Quit => return Ok(false),
            Meta::Help => say!("{}", meta::HELP)?,
            Meta::Tables => Box::pin(self.interruptible("SHOW TABLES")).await?,
            Meta::Describe(table) => {
                let statement = format!("DESCRIBE {}", meta::as_name(table));
                Box::pin(self.interruptible(&statement)).await?;
            }
            Meta::Explain(statement) => {
                let plan = self.session.explain(statement).await;
                say!("{}", plan.map_err(|error| with_place(error, statement))?.trim_end())?;
            }
            Meta::Timing => {
                self.is_timed = !self.is_timed;
                tell!("timing is {}", if self.is_timed { "on" } else { "off" });
            }
            Meta::Wide => {
                self.screen.wide = !self.screen.wide;
                tell!("wide tables are {}", if self.screen.wide { "on" } else { "off" });
            }
            Meta::Rows(rows) => self.screen.rows = rows.map(RowCount),
            Meta::Format(format) => self.format = *format,
            Meta::Into(file) => self.next_into = Some(Location::destination(file)?),
            Meta::Run(file) => {
                let text =
                    std::fs::read_to_string(file).map_err(|error| anyhow::anyhow!("{}: {error}", file.display()))?;
                Box::pin(self.interruptible(&text)).await?;
            }
            Meta::Attach(name, place) => {
                if self.session.is_in_transaction() {
                    bail!("a transaction is under way: COMMIT or ROLLBACK it first");
                }
                let options = self.options.clone().attach(name, place);
                self.session = Arc::new(Session::new(options.clone()));
                self.options = options;
            }
        }
        Ok(true)
    }
}

/// The most statements in the history.
const HISTORY: usize = 10_000;

/// The file of the history, in the state folder of the XDG Base Directory Specification.
fn history_file() -> Option<PathBuf> {
    let state = std::env::var_os("XDG_STATE_HOME")
        .map(PathBuf::from)
        .filter(|path| path.is_absolute());
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".local/state"));
    let folder = state.or_else(home)?.join("tidemill");
    std::fs::create_dir_all(&folder).ok()?;
    Some(folder.join("history"))
}
