//! The figures of a run beside those of the C++ library: where we are slower, what limits us there, and which gates are met.

use crate::gates::{Bound, Gates};

/// What was timed in a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Writing into memory that is taken for it.
    WriteNew,
    /// Writing into memory that was written to before.
    WriteUsed,
    /// Reading records that are lent.
    ReadLent,
    /// Reading each record into a vector of its own.
    ReadOwned,
    /// Reading what a projection on these fields leaves.
    Projected(&'static str),
}

/// How fast we are in a cell.
struct Figure {
    payload: &'static str,
    options: &'static str,
    work: Work,
    /// Times as fast as the C++ library.
    to_cpp: f64,
    /// The part of our time that the codec and the hash alone take for the same chunks, where that was measured.
    limit: Option<f64>,
}

/// The figures of a run.
#[derive(Default)]
pub struct Figures(Vec<Figure>);

impl Figures {
    /// Adds a figure, and returns its column: we and C++ to the crate, we to C++.
    pub fn add(
        &mut self,
        (payload, options): (&'static str, &'static str),
        work: Work,
        [we, cpp]: [f64; 2],
        limit: Option<f64>,
    ) -> String {
        self.0.push(Figure {
            payload,
            options,
            work,
            to_cpp: we / cpp,
            limit,
        });
        let mark = if we < cpp { '<' } else { ' ' };
        format!("{we:>8.2} {cpp:>8.2} {:>7.2}{mark} ", we / cpp)
    }

    /// Prints the figures where C++ is faster, the worst first.
    pub fn print_below(&self) {
        let mut below: Vec<&Figure> = self.0.iter().filter(|figure| figure.to_cpp < 1.0).collect();
        below.sort_by(|a, b| a.to_cpp.total_cmp(&b.to_cpp));
        println!("\nslower than C++, marked <: {} of {}", below.len(), self.0.len());
        for figure in below {
            let limit = match figure.limit {
                Some(limit) => format!("codec and hash are {:.0} % of our time", 100.0 * limit),
                None => String::new(),
            };
            println!("{:<66}{:>6.2}  {limit}", figure.name(), figure.to_cpp);
        }
    }

    /// The gates on the figures that there are.
    pub fn gates(&self) -> Gates {
        let mut gates = Gates::default();
        for figure in &self.0 {
            let options = figure.options.trim_end_matches(",chunk_size:1M");
            let transposed = figure.options.starts_with("transpose");
            let to_cpp = |least| (format!("{}, to C++", figure.name()), Bound::Least(least), figure.to_cpp);
            let gate = match (figure.payload, options, figure.work) {
                ("small" | "proto1k", "uncompressed", Work::WriteUsed) => {
                    if let Some(limit) = figure.limit {
                        gates.add(
                            format!("{}, to the hash alone", figure.name()),
                            Bound::Least(0.5),
                            limit,
                        );
                    }
                    to_cpp(2.0)
                }
                ("large", "uncompressed", Work::WriteUsed) => to_cpp(1.3),
                ("wide20k", _, Work::ReadLent) if transposed => to_cpp(1.5),
                ("wide20k", _, Work::WriteUsed) if transposed => to_cpp(1.3),
                ("wide20k", _, Work::Projected("5" | "2.3.5")) => to_cpp(1.0),
                _ => continue,
            };
            let (what, bound, found) = gate;
            gates.add(what, bound, found);
        }
        if !self.0.is_empty() {
            let slowest = self.0.iter().map(|figure| figure.to_cpp).fold(f64::INFINITY, f64::min);
            gates.add("the slowest cell of all, to C++", Bound::Least(1.0), slowest);
        }
        gates
    }
}

impl Figure {
    fn name(&self) -> String {
        let work = match self.work {
            Work::WriteNew => "write, new memory".to_owned(),
            Work::WriteUsed => "write, used memory".to_owned(),
            Work::ReadLent => "read, lent".to_owned(),
            Work::ReadOwned => "read, owned".to_owned(),
            Work::Projected("") => "read, no field".to_owned(),
            Work::Projected(field) => format!("read, field {field}"),
        };
        format!("{} {}: {work}", self.payload, self.options)
    }
}
