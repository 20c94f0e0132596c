//! Which function a cycle calls.

use crate::args::WeightedFunction;
use crate::error::{Error, Result};
use crate::script::{Function, Program};

/// Functions and how often they are called. The same cycle always calls the same function.
#[derive(Debug, Clone)]
pub(crate) struct Chooser {
    functions: Vec<Function>,
    /// Where each function's share of all hashes ends. The last one is the greatest.
    ends: Vec<u64>,
}

impl Chooser {
    /// The functions of a script by their names and weights.
    ///
    /// # Errors
    /// [`Error::Misuse`] when the script does not have one, or no weight is above 0.
    pub(crate) fn new(program: &Program, functions: &[WeightedFunction]) -> Result<Self> {
        let total: f64 = functions.iter().map(|function| function.weight).sum();
        // Also when it is no number.
        if !(total > 0.0 && total.is_finite()) {
            return Err(Error::Misuse("no function has a weight above 0".to_owned()));
        }
        let mut sum = 0.0;
        let ends = functions.iter().map(|function| {
            sum += function.weight;
            // A float beyond the range becomes the last number.
            (sum / total * 2_f64.powi(64)) as u64
        });
        Ok(Self {
            ends: ends.collect(),
            functions: functions
                .iter()
                .map(|function| {
                    let found = program.function(&function.name);
                    found.ok_or_else(|| Error::Misuse(format!("the script has no function {}", function.name)))
                })
                .collect::<Result<_>>()?,
        })
    }

    /// The number of the function that a cycle calls.
    pub(crate) fn choose(&self, cycle: i64) -> usize {
        if let [_] = self.ends.as_slice() {
            return 0;
        }
        let hash = mixed(cycle.cast_unsigned());
        let chosen = self.ends.partition_point(|end| *end <= hash);
        // The greatest hash is beyond the last end.
        chosen.min(self.functions.len() - 1)
    }

    /// The function of that number.
    pub(crate) fn function(&self, number: usize) -> Option<&Function> {
        self.functions.get(number)
    }

    /// The names, in order.
    pub(crate) fn names(&self) -> Vec<String> {
        self.functions.iter().map(|function| function.name.clone()).collect()
    }
}

/// The finalizer of SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014): numbers that follow each other
/// come apart.
fn mixed(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
