//! Running a workload: threads, each with its own runtime, session and context, that call the script's functions on a schedule.
//!
//! [`Workers`] connect once and then run one phase after another: the warm-up, the run, its repetitions. Within a worker, a fixed
//! number of slots take one cycle after another; a slot keeps its virtual machine, and nothing is allocated again for each cycle.

mod chooser;
mod cycles;
mod direct;
mod interrupt;
mod pace;
mod setup;
mod timer;
mod worker;
mod workers;

pub(crate) use chooser::Chooser;
pub(crate) use cycles::Cycles;
pub(crate) use interrupt::Interrupt;
pub(crate) use pace::{Pace, Schedule};
pub(crate) use setup::{Prepared, Stage};
pub(crate) use worker::Phase;
pub(crate) use workers::{Ended, Workers};
