//! How requests are retried and validated.

use std::str::FromStr;
use std::time::Duration;

use clap::ValueEnum;

use crate::args::parse_duration_or_seconds;

/// What is done about requests that fail.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Policy {
    /// How often a request is tried again.
    pub retries: u32,
    /// How long it waits before that.
    pub delay: RetryDelay,
    /// Whether it is tried again whatever the failure is.
    pub on_all_errors: bool,
    /// What is done about rows that are not as expected.
    pub validation: Validation,
}

/// What is done when a script finds rows that are not as it expects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Validation {
    /// End the run.
    #[default]
    FailFast,
    /// Retry the request or the cycle.
    Retry,
    /// Count it and continue.
    Ignore,
}

/// The wait before a request is tried again: the first one, and the most that doubling takes it to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryDelay {
    min: Duration,
    max: Duration,
}

impl RetryDelay {
    /// The wait before attempt `attempt` (the first repetition is 1). `jitter` is from 0 to 1: half the first wait up or down, so that
    /// those that failed together do not come back together.
    pub fn before(&self, attempt: u32, jitter: f64) -> Duration {
        let doubled = self.min.as_secs_f64() * 2_f64.powi(attempt.saturating_sub(1).min(64).cast_signed());
        let wait = doubled + (jitter - 0.5) * self.min.as_secs_f64();
        Duration::try_from_secs_f64(wait.min(self.max.as_secs_f64())).unwrap_or(self.max)
    }
}

impl FromStr for RetryDelay {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (min, max) = text.split_once(',').unwrap_or((text, text));
        let (min, max) = (parse_duration_or_seconds(min)?, parse_duration_or_seconds(max)?);
        if min > max {
            return Err(format!("the first wait, {min:?}, is longer than the longest, {max:?}"));
        }
        Ok(Self { min, max })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_the_longest() {
        let delay: RetryDelay = "100ms,5s".parse().unwrap();
        let waits = |attempt| delay.before(attempt, 0.5).as_millis();
        assert_eq!([1, 2, 3, 6, 7, 1000].map(waits), [100, 200, 400, 3200, 5000, 5000]);
        assert_eq!(delay.before(1, 0.0).as_millis(), 50);
    }

    #[test]
    fn one_wait_is_the_same_every_time() {
        let delay: RetryDelay = "20ms".parse().unwrap();
        assert_eq!(delay.before(9, 0.5).as_millis(), 20);
    }

    #[test]
    fn refuses_waits_that_shrink() {
        assert_eq!(
            "2s,1s".parse::<RetryDelay>().unwrap_err(),
            "the first wait, 2s, is longer than the longest, 1s"
        );
        assert!("soon".parse::<RetryDelay>().is_err());
    }
}
