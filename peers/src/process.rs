//! A program as a child of its own: its processor time, its peak of memory, and the time on the wall.
//!
//! The system adds up the time of all children that were waited for, and keeps the largest of their peaks. So there is a
//! process in between that has no other child: this program, started with the word [`MEASURE`].

use std::{
    error::Error,
    fs::File,
    os::unix::process::ExitStatusExt,
    path::PathBuf,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use nix::sys::{
    resource::{Resource, UsageWho, getrusage, setrlimit},
    signal::Signal,
};

/// What to start, and what it reads.
#[derive(Debug)]
pub struct Program {
    /// The program with its arguments.
    pub command: Command,
    /// The file that is its standard input.
    pub input: Option<PathBuf>,
}

/// What one run took.
#[derive(Clone, Copy, Debug, Default)]
pub struct Usage {
    /// Time of the processor, the kernel's with it.
    pub cpu: Duration,
    /// Time on the wall.
    pub wall: Duration,
    /// The peak of memory, in bytes. Not less than that of this program when it has just begun.
    pub peak: u64,
}

/// The first argument of the process in between.
pub const MEASURE: &str = "measure";

/// Runs `program` and waits for it.
///
/// # Errors
///
/// When it does not start or does not end well: what it said.
pub fn measure(program: &Program) -> Result<Usage, Box<dyn Error>> {
    let mut between = Command::new(std::env::current_exe()?);
    between.arg(MEASURE).arg(program.command.get_program());
    between.args(program.command.get_args());
    for (name, value) in program.command.get_envs() {
        between.env(name, value.unwrap_or_default());
    }
    between.stdin(match &program.input {
        Some(path) => Stdio::from(File::open(path)?),
        None => Stdio::null(),
    });
    let output = between.output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let numbers = text.lines().last().map(|line| line.split(' ').collect::<Vec<_>>());
    let Some([cpu, wall, peak]) = numbers.as_deref().filter(|_| output.status.success()) else {
        let said = String::from_utf8_lossy(&output.stderr);
        let said = said.lines().next().unwrap_or("it said nothing");
        // As programs in Rust say what `main` fails with.
        return Err(said.trim_start_matches("Error: ").trim_matches('"').into());
    };
    // What a contender counted by itself.
    let counted = text.lines().find_map(|line| line.strip_prefix("processor "));
    Ok(Usage {
        cpu: Duration::from_secs_f64(counted.unwrap_or(cpu).parse()?),
        wall: Duration::from_secs_f64(wall.parse()?),
        peak: peak.parse()?,
    })
}

/// The process in between: runs `arguments` and prints what [`measure`] reads.
///
/// # Errors
///
/// When the program does not start or does not end well.
pub fn in_between(arguments: &[String]) -> Result<(), Box<dyn Error>> {
    let [program, arguments @ ..] = arguments else {
        return Err("no program".into());
    };
    // For clients that go round in circles. The signal is another than that of a system without memory.
    setrlimit(Resource::RLIMIT_CPU, CPU_SECONDS, CPU_SECONDS + 1)?;
    let begin = Instant::now();
    let status = Command::new(program).args(arguments).status()?;
    let wall = begin.elapsed();
    if status.signal() == Some(Signal::SIGXCPU as i32) {
        return Err(format!("stopped after {CPU_SECONDS} s of processor time").into());
    }
    if !status.success() {
        return Err(format!("ended with {status}").into());
    }
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let seconds = |time: nix::sys::time::TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6;
    let cpu = seconds(usage.user_time()) + seconds(usage.system_time());
    // Kilobytes.
    println!("\n{cpu} {} {}", wall.as_secs_f64(), usage.max_rss() * 1024);
    Ok(())
}

/// More than any contender needs for its work.
const CPU_SECONDS: u64 = 20;
