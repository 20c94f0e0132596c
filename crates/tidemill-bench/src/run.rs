//! Running a workload: threads, each with its own runtime, session and context, that call the script's functions on a schedule.
//!
//! A [`Crew`] connects once and then works off phases: the warm-up, the run, its repetitions. Within a worker a fixed number of slots
//! take one cycle after another; a slot keeps its virtual machine, and nothing is made anew for a cycle.

mod chooser;
mod crew;
mod cycles;
mod direct;
mod interrupt;
mod pace;
mod setup;
mod timer;
mod worker;

pub use chooser::Chooser;
pub use crew::{Crew, Ended};
pub use cycles::Cycles;
pub use interrupt::Interrupt;
pub use pace::{Pace, Schedule};
pub use setup::{Prepared, Stage};
pub use worker::Phase;
