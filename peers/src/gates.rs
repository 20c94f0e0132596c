//! Gates: what a figure has to be at least, or at most, for the project to keep its word. They are about figures of one run.

use std::fmt;

/// Gates as they are measured.
#[derive(Default)]
pub struct Gates(Vec<Gate>);

struct Gate {
    what: String,
    bound: Bound,
    found: f64,
}

/// What a gate asks for.
#[derive(Clone, Copy, Debug)]
pub enum Bound {
    /// This much or more.
    Least(f64),
    /// This much or less.
    Most(f64),
}

impl Bound {
    fn is_met(self, found: f64) -> bool {
        match self {
            Self::Least(least) => found >= least,
            Self::Most(most) => found <= most,
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Least(least) => write!(f, "at least {least:.2}"),
            Self::Most(most) => write!(f, "at most {most:.2}"),
        }
    }
}

impl Gates {
    /// Adds a figure that a gate is about.
    pub fn add(&mut self, what: impl Into<String>, bound: Bound, found: f64) {
        self.0.push(Gate {
            what: what.into(),
            bound,
            found,
        });
    }

    /// Prints each gate with what was found, and how many were met. Nothing of gates whose cells were not run.
    pub fn print(&self) {
        let met = self.0.iter().filter(|gate| gate.bound.is_met(gate.found)).count();
        println!("\ngates met: {met} of {} that were measured", self.0.len());
        for Gate { what, bound, found } in &self.0 {
            let verdict = if bound.is_met(*found) { "met" } else { "MISSED" };
            println!("{what:<76}{:>16} {found:>8.2}  {verdict}", bound.to_string());
        }
    }
}
