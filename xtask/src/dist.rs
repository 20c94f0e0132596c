//! `cargo xtask dist`: what ships without DataFusion, each in the profile that is made for it.
//!
//! `tidemill-bench` is linked twice where valgrind is installed. Linux maps a program's file in pieces of 64 KiB around each page
//! that is touched, so functions that lie far apart take many times their own memory. The first program is run under
//! valgrind against each target that is at hand, and the second has the functions that ran one after the other.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
    fs,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, Result, bail};
use clap::Args as ClapArgs;
use tidemill_testkit::{Cassandra, ClickHouse, Installation, Server};

use crate::{
    cargo::{cargo, host, run as run_command},
    workspace::Workspace,
};

/// Where to.
#[derive(ClapArgs)]
pub(crate) struct Args {
    /// The folder that gets the files. Default: `dist` in the target folder.
    #[arg(long)]
    out: Option<PathBuf>,
}

/// Builds and tells sizes; true when everything was built as it should ship.
pub(crate) fn run(workspace: &Workspace, args: &Args) -> Result<bool> {
    let out = args.out.clone().unwrap_or_else(|| workspace.target.join("dist"));
    fs::create_dir_all(&out).with_context(|| out.display().to_string())?;
    let library = ["build", "--locked", "--profile", "libace", "-p", "tidemill-ace"];
    if !run_command(cargo(&workspace.root).args(library))? {
        return Ok(false);
    }
    ship(&workspace.target.join("libace/libace.so"), &out)?;
    let program = workspace.target.join(BENCH).join(BENCH);
    let laid_out = match functions_that_run(workspace, &program) {
        Ok(functions) => {
            // Cargo links again when the name is another one, not when the file is.
            let mut hasher = DefaultHasher::new();
            functions.hash(&mut hasher);
            let order = out.join(format!("{BENCH}-{:016x}.order", hasher.finish()));
            fs::write(&order, functions).with_context(|| order.display().to_string())?;
            let link = [
                format!("-Clink-arg=-Wl,--symbol-ordering-file={}", order.display()),
                "-Clink-arg=-Wl,--no-warn-symbol-ordering".to_owned(),
            ];
            if !link_bench(workspace, &link)? {
                return Ok(false);
            }
            fs::remove_file(&order)?;
            true
        }
        Err(why) => {
            println!("the functions of tidemill-bench are left as they lie: {why:#}");
            if !link_bench(workspace, &[])? {
                return Ok(false);
            }
            false
        }
    };
    ship(&program, &out)?;
    Ok(laid_out)
}

fn ship(file: &Path, out: &Path) -> Result<()> {
    let name = file.file_name().context("a file without a name")?;
    let to = out.join(name);
    let size = fs::copy(file, &to).with_context(|| file.display().to_string())?;
    println!("{}: {:.1} MB", to.display(), size as f64 / 1e6);
    Ok(())
}

/// Links the program with `flags` for the compiler, which leave the names of its functions as they are: another profile would
/// change them, and build all that it depends on anew.
fn link_bench(workspace: &Workspace, flags: &[String]) -> Result<bool> {
    let program = [
        "rustc",
        "--locked",
        "--profile",
        BENCH,
        "-p",
        BENCH,
        "--bin",
        BENCH,
        "--",
    ];
    run_command(cargo(&workspace.root).args(program).args(flags))
}

/// The symbols of the functions that run while the key-value workload does, a line each.
fn functions_that_run(workspace: &Workspace, program: &Path) -> Result<String> {
    if host()? != "x86_64-unknown-linux-gnu" {
        bail!("only the linker of x86_64-unknown-linux-gnu is known to take their order");
    }
    let valgrind = Command::new("valgrind").arg("--version").stdout(Stdio::null()).status();
    if !valgrind.is_ok_and(|status| status.success()) {
        bail!("valgrind is not installed");
    }
    if !link_bench(workspace, &["-Cstrip=none".to_owned()])? {
        bail!("it cannot be built");
    }
    // Kept until the workload has run.
    let cassandra = Installation::find(Server::Cassandra)
        .ok()
        .map(|found| Cassandra::start(&found));
    let cassandra = cassandra.transpose()?;
    let clickhouse = Installation::find(Server::ClickHouse)
        .ok()
        .map(|found| ClickHouse::start(&found));
    let clickhouse = clickhouse.transpose()?;
    let mut targets = vec!["mem:".to_owned()];
    targets.extend(cassandra.iter().map(|node| node.native().to_string()));
    targets.extend(
        clickhouse
            .iter()
            .map(|server| format!("clickhouse://{}", server.native())),
    );
    if targets.len() < 3 {
        bail!("servers are missing: cargo xtask provision");
    }
    let trace = workspace.target.join(BENCH).join("callgrind.out");
    let report = workspace.target.join(BENCH).join("report.json");
    let mut functions: BTreeMap<String, u32> = BTreeMap::new();
    for (number, target) in targets.iter().enumerate() {
        let workload = |command: &str, mut runner: Command, options: &[&str]| -> Result<()> {
            let common = [command, "key_value.rn", "-P", "rows=1000"];
            if !run_command(runner.args(common).args(options).arg(target).stdout(Stdio::null()))? {
                bail!("{command} of key_value.rn fails with {target}");
            }
            Ok(())
        };
        if target != "mem:" {
            workload("schema", Command::new(program), &[])?;
            workload("load", Command::new(program), &[])?;
        }
        let mut traced = Command::new("valgrind");
        traced.args(["--quiet", "--tool=callgrind", "--demangle=no"]);
        traced
            .arg(format!("--callgrind-out-file={}", trace.display()))
            .arg(program);
        let output = report.display().to_string();
        let options = ["-q", "-f", "read:0.8,write:0.2", "-d", "2000", "-o", &output];
        workload("run", traced, &options)?;
        let text = fs::read_to_string(&trace).with_context(|| trace.display().to_string())?;
        for function in functions_of(&text, BENCH) {
            *functions.entry(function.to_owned()).or_default() |= 1 << number;
        }
        fs::remove_file(&trace)?;
        fs::remove_file(&report)?;
    }
    if functions.len() < LEAST {
        bail!("valgrind saw {} functions only", functions.len());
    }
    // What every target needs comes first, and what one alone needs lies together.
    let mut functions: Vec<_> = functions
        .into_iter()
        .map(|(name, runs)| (Reverse(runs.count_ones()), runs, name))
        .collect();
    functions.sort();
    Ok(functions.into_iter().map(|(_, _, name)| name + "\n").collect())
}

/// The functions of a program in a profile of callgrind, whose format its manual has: `ob=(number) file` tells where those behind it
/// are from, `fn=(number) name` names each when it is first met, be it as one that is called.
fn functions_of<'a>(profile: &'a str, program: &str) -> impl Iterator<Item = &'a str> {
    let mut ours = BTreeSet::new();
    let (mut object, mut callee) = (false, None);
    profile.lines().filter_map(move |line| {
        let (key, value) = line.split_once('=')?;
        let (number, name) = value.split_once(' ').unwrap_or((value, ""));
        match key {
            "ob" | "cob" => {
                if name.ends_with(program) {
                    ours.insert(number);
                }
                let is_ours = ours.contains(number);
                if key == "ob" {
                    object = is_ours;
                } else {
                    callee = Some(is_ours);
                }
                None
            }
            "fn" | "cfn" => {
                let is_ours = if key == "fn" {
                    object
                } else {
                    callee.take().unwrap_or(object)
                };
                // Behind the quotation mark is how deep a recursion is.
                let name = name.split('\'').next().unwrap_or_default();
                (is_ours && !name.is_empty()).then_some(name)
            }
            _ => None,
        }
    })
}

const BENCH: &str = "tidemill-bench";
/// Fewer functions than start any program of this size are no trace.
const LEAST: usize = 1000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_those_of_the_program_and_named_once() {
        let profile = "\
events: Ir
ob=(1) /usr/lib/ld.so
fn=(1) _start
0 5
cob=(2) /target/tidemill-bench
cfn=(2) _ZN4main17h0E
calls=1 0
ob=(2)
fn=(2)
3 4
cfn=(3) _ZN3run17h1E'2
calls=1 0
cob=(1)
cfn=(4) memcpy
calls=1 0
fn=(5) _ZN4stop17h2E
";
        let functions: Vec<_> = functions_of(profile, BENCH).collect();
        assert_eq!(functions, ["_ZN4main17h0E", "_ZN3run17h1E", "_ZN4stop17h2E"]);
    }
}
