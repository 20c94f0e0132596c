//! `cargo xtask command-line`: the reference of the command line, from what the program prints.
//!
//! `docs/command-line.md` has the help of each command and of the commands below it. Nothing in it is written by hand: a
//! test of the crate `tidemill` compares it with the program.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use clap::Args as ClapArgs;

use crate::cargo::{cargo, run as run_command};
use crate::workspace::Workspace;

/// Which program is asked.
#[derive(ClapArgs)]
pub(crate) struct Args {
    /// A `tidemill` that is built already. Default: one is built in the release profile.
    #[arg(long, value_name = "PATH")]
    program: Option<PathBuf>,
}

/// Writes the page; true when it is written.
pub(crate) fn run(workspace: &Workspace, args: &Args) -> Result<bool> {
    let program = match &args.program {
        Some(program) => program.clone(),
        None => {
            if !run_command(cargo(&workspace.root).args(["build", "--release", "-p", "tidemill"]))? {
                return Ok(false);
            }
            workspace.target.join("release/tidemill")
        }
    };
    let page = page(&|command| help(&program, command))?;
    let path = workspace.root.join("docs/command-line.md");
    fs::write(&path, page).with_context(|| path.display().to_string())?;
    println!("{}", path.display());
    Ok(true)
}

/// What `tidemill COMMAND… --help` prints, at 80 columns.
fn help(program: &Path, command: &[String]) -> Result<String> {
    let mut asked = Command::new(program);
    asked.args(command).arg("--help");
    // Values of variables would be shown, and a terminal would decide the width.
    asked.env_clear().env("COLUMNS", "80");
    asked.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let output = asked.output().with_context(|| program.display().to_string())?;
    if !output.status.success() {
        bail!(
            "{} {} --help: {}",
            program.display(),
            command.join(" "),
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    String::from_utf8(output.stdout).context("the help is not UTF-8")
}

/// The page: a section for the program, then one for each command, each before the commands below it.
fn page(help: &dyn Fn(&[String]) -> Result<String>) -> Result<String> {
    let mut page = PREAMBLE.to_owned();
    // The next one is the last.
    let mut waiting = vec![Vec::new()];
    while let Some(command) = waiting.pop() {
        let text = help(&command)?;
        let name = [&["tidemill".to_owned()], command.as_slice()].concat().join(" ");
        page.push_str(&format!("\n## `{name}`\n\n```text\n"));
        for line in text.trim_end().lines() {
            page.push_str(line.trim_end());
            page.push('\n');
        }
        page.push_str("```\n");
        for below in commands(&text).into_iter().rev() {
            waiting.push([command.as_slice(), &[below]].concat());
        }
    }
    Ok(page)
}

/// The commands that a help lists, but for `help` itself.
fn commands(help: &str) -> Vec<String> {
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let listed = listed.take_while(|line| !line.is_empty());
    let names = listed.filter_map(|line| line.strip_prefix("  ").filter(|line| !line.starts_with(' ')));
    let names = names.filter_map(|line| line.split_whitespace().next());
    names.filter(|name| *name != "help").map(str::to_owned).collect()
}

const PREAMBLE: &str = "# Command line

<!-- Written by `cargo xtask command-line`. Do not edit. -->

Every command with its options, as `tidemill COMMAND --help` prints it.
[exit-codes.md](exit-codes.md) lists the exit codes.
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_stand_before_those_below_them() {
        let help = |command: &[String]| {
            Ok(match command.join(" ").as_str() {
                "" => {
                    "Tidemill\n\nUsage: x\n\nCommands:\n  bench  Load tests,\n         of servers\n  sql    SQL\n  help   Print\n\nOptions:\n  -h\n"
                }
                "bench" => "Usage: x\n\nCommands:\n  run  \n",
                other => return Ok(format!("{other}  \n\n")),
            }
            .to_owned())
        };
        let page = page(&help).unwrap();
        let sections: Vec<&str> = page.lines().filter(|line| line.starts_with("## ")).collect();
        let expected = [
            "## `tidemill`",
            "## `tidemill bench`",
            "## `tidemill bench run`",
            "## `tidemill sql`",
        ];
        assert_eq!(sections, expected);
        assert!(page.ends_with("\n```text\nsql\n```\n"), "{page}");
    }
}
