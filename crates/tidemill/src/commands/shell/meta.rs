//! The commands of the shell itself, which begin with a backslash.

use std::path::PathBuf;

use anyhow::{anyhow, bail};
use clap::ValueEnum;

use crate::args::{AnswerFormat, name_and_place};

pub(super) const HELP: &str = "\
\\d              list the tables
\\d TABLE        list the columns of a table
\\explain SQL    show the plan of a statement
\\attach N=PLACE give a table, a folder or a database a name
\\o FILE         copy the next answer to a file, whose name tells the format
\\i FILE         run the statements of a file
\\format NAME    show answers as table, markdown, csv, json or jsonl
\\rows N|all     how many rows of a table to show
\\wide           show whole texts and all columns, or shorten them again
\\timing         tell how long statements take, or stop telling
\\q              leave
Statements end with a semicolon, scripts (DECLARE, IF, WHILE, TRY) with an empty line.
Ctrl-C stops a statement. Tab completes names.";

/// A command of the shell.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Meta {
    Quit,
    Help,
    Tables,
    Describe(String),
    Explain(String),
    Attach(String, String),
    Into(String),
    Run(PathBuf),
    Format(AnswerFormat),
    Rows(Option<Option<usize>>),
    Wide,
    Timing,
}

impl Meta {
    /// # Errors
    ///
    /// An unknown command, or an invalid argument.
    pub(super) fn of(line: &str) -> anyhow::Result<Self> {
        let (command, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim().trim_end_matches(';').trim_end();
        let needed = |what: &str| match rest {
            "" => Err(anyhow!("{command} needs {what}; \\? lists the commands")),
            rest => Ok(rest),
        };
        Ok(match command {
            "\\q" | "\\quit" => Self::Quit,
            "\\?" | "\\h" | "\\help" => Self::Help,
            "\\d" | "\\dt" | "\\d+" if rest.is_empty() => Self::Tables,
            "\\d" | "\\d+" => Self::Describe(rest.to_owned()),
            "\\explain" => Self::Explain(needed("a statement")?.to_owned()),
            "\\attach" => {
                let (name, place) = name_and_place(needed("NAME=PLACE")?).map_err(|why| anyhow!("\\attach: {why}"))?;
                Self::Attach(name, place)
            }
            "\\o" => Self::Into(needed("a file")?.to_owned()),
            "\\i" => Self::Run(PathBuf::from(needed("a file")?)),
            "\\format" => {
                let name = needed("the name of a format")?;
                Self::Format(AnswerFormat::from_str(name, true).map_err(|_| anyhow!("\\format: there is no {name}"))?)
            }
            "\\rows" => Self::Rows(match needed("a number, or all")? {
                "all" => Some(None),
                "auto" => None,
                number => Some(Some(
                    number
                        .parse()
                        .map_err(|_| anyhow!("\\rows needs a number, all or auto"))?,
                )),
            }),
            "\\wide" => Self::Wide,
            "\\timing" => Self::Timing,
            other => bail!("there is no command {other}; \\? lists them"),
        })
    }
}

/// A table's name as a statement needs it: paths are quoted.
pub(super) fn as_name(table: &str) -> String {
    let is_plain = table
        .chars()
        .all(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '.' | '#'));
    let is_quoted = table.starts_with(['\'', '"', '[']);
    match is_plain && !table.contains('/') || is_quoted {
        true => table.to_owned(),
        false => format!("'{}'", table.replace('\'', "''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_read_or_refused() {
        for (line, expected) in [
            ("\\q", Meta::Quit),
            ("\\d", Meta::Tables),
            ("\\d  orders;", Meta::Describe("orders".to_owned())),
            ("\\attach b=books/", Meta::Attach("b".to_owned(), "books/".to_owned())),
            ("\\rows all", Meta::Rows(Some(None))),
            ("\\rows 5", Meta::Rows(Some(Some(5)))),
            ("\\format CSV", Meta::Format(AnswerFormat::Csv)),
            ("\\explain SELECT 1;", Meta::Explain("SELECT 1".to_owned())),
        ] {
            assert_eq!(Meta::of(line).expect(line), expected);
        }
        for (line, part) in [
            ("\\x", "there is no command \\x"),
            ("\\o", "\\o needs a file"),
            ("\\attach books", "NAME=PATH"),
            ("\\rows many", "\\rows needs a number"),
            ("\\format xml", "there is no xml"),
        ] {
            let error = Meta::of(line).expect_err(line).to_string();
            assert!(error.contains(part), "{error}");
        }
        assert_eq!(as_name("orders"), "orders");
        assert_eq!(as_name("data/o'rders.dbf"), "'data/o''rders.dbf'");
    }
}
