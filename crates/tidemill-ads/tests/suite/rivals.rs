//! Generated statements, and the other programs that answer them.

use std::io::Write as _;
use std::process::{Command, Stdio};

/// A generator of small numbers, the same for each seed.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    pub(crate) fn of<'t>(&mut self, items: &[&'t str]) -> &'t str {
        let place = usize::try_from(self.below(items.len() as u64)).expect("a place");
        items[place]
    }
}

/// Runs a program that reads `input` and prints the rows of each answer, then a line of two dashes. Zeros have no sign.
pub(crate) fn answers(command: &mut Command, input: String) -> Vec<Vec<String>> {
    let mut running = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a program");
    let mut stdin = running.stdin.take().expect("a pipe");
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = running.wait_with_output().expect("an answer");
    writer.join().expect("a writer").expect("a script written");
    assert!(output.status.success(), "{command:?} failed");
    let text = String::from_utf8(output.stdout).expect("text");
    let answers = text.split_terminator("--\n");
    answers
        .map(|answer| {
            let lines = answer.lines();
            lines.map(|line| line.replace("-0.000000", "0.000000")).collect()
        })
        .collect()
}
