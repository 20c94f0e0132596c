//! When cycles are due.
//!
//! A schedule is absolute: it says when cycle 0, 1, 2, … are due whatever became of those before. A cycle that begins late counts its wait.

use std::f64::consts::TAU;
use std::time::Duration;

use rand::rngs::SmallRng;
use rand::{Rng as _, SeedableRng as _};

use crate::args::{Arrivals, PaceArgs};

/// How the rate goes over time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Pace {
    curve: Curve,
    arrivals: Arrivals,
    /// Cycles that are later than this are left out. Default: none are.
    patience: Option<Duration>,
}

/// As late as this may begin a cycle that is not made up for: timers are, and the burst after them is short. Or by the time between two
/// cycles, where that is longer.
const PATIENCE: Duration = Duration::from_millis(10);

/// The rate, in cycles a second.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Curve {
    Constant {
        rate: f64,
    },
    /// Straight from one to the other, and then the other.
    Ramp {
        from: f64,
        to: f64,
        seconds: f64,
    },
    Sine {
        rate: f64,
        amplitude: f64,
        period: f64,
    },
}

impl Pace {
    /// A constant rate, evenly.
    pub(crate) fn constant(rate: f64) -> Self {
        Self {
            curve: Curve::Constant { rate },
            arrivals: Arrivals::Even,
            patience: None,
        }
    }

    /// What the command line says, or `None` for as fast as possible. `duration` is how long a ramp takes unless that is said.
    pub(crate) fn of(args: &PaceArgs, duration: Option<Duration>) -> Option<Self> {
        let rate = args.rate?;
        let ramp_time = args.ramp_time.or(duration).unwrap_or(Duration::from_secs(60));
        let curve = match (args.ramp_to, args.rate_sine_amplitude) {
            (Some(to), _) => Curve::Ramp {
                from: rate,
                to,
                seconds: ramp_time.as_secs_f64().max(1e-9),
            },
            (None, Some(amplitude)) => Curve::Sine {
                rate,
                amplitude,
                period: args.rate_sine_period.as_secs_f64().max(1e-3),
            },
            (None, None) => Curve::Constant { rate },
        };
        let between = Duration::try_from_secs_f64(1.0 / curve.highest()).unwrap_or(Duration::MAX);
        Some(Self {
            curve,
            arrivals: args.arrivals,
            patience: args.no_catch_up.then(|| PATIENCE.max(between)),
        })
    }

    /// When so many cycles have had their time: the next one would be due. `None` where that is left to chance.
    pub(crate) fn time_of_all(self, cycles: u64) -> Option<Duration> {
        match self.arrivals {
            Arrivals::Even => Duration::try_from_secs_f64(self.curve.time_of(cycles as f64)).ok(),
            Arrivals::Poisson => None,
        }
    }

    /// The same with another rate.
    #[must_use]
    pub(crate) fn at_rate(self, rate: f64) -> Self {
        Self {
            curve: Curve::Constant { rate },
            ..self
        }
    }
}

impl Curve {
    fn highest(self) -> f64 {
        match self {
            Self::Constant { rate } => rate,
            Self::Ramp { from, to, .. } => from.max(to),
            Self::Sine { rate, amplitude, .. } => rate * (1.0 + amplitude),
        }
    }

    /// How many cycles are due until a time, when it is known how to count.
    fn due(self, seconds: f64) -> f64 {
        match self {
            Self::Constant { rate } => rate * seconds,
            Self::Ramp {
                from,
                to,
                seconds: ramp,
            } => {
                let within = seconds.min(ramp);
                from * within + (to - from) * within * within / (2.0 * ramp) + to * (seconds - within)
            }
            Self::Sine {
                rate,
                amplitude,
                period,
            } => {
                let turn = TAU / period;
                rate * (seconds + amplitude / turn * (1.0 - (turn * seconds).cos()))
            }
        }
    }

    /// When so many cycles are due: the inverse of [`Curve::due`], which never falls.
    fn time_of(self, cycles: f64) -> f64 {
        if let Self::Constant { rate } = self {
            return cycles / rate;
        }
        let mut high = 1.0;
        while self.due(high) < cycles {
            high *= 2.0;
        }
        let mut low = 0.0;
        // Halving an interval of less than 2^40 seconds to a nanosecond takes fewer steps.
        for _ in 0..80 {
            let middle = (low + high) / 2.0;
            if self.due(middle) < cycles {
                low = middle
            } else {
                high = middle
            }
        }
        high
    }
}

/// The times of one worker's cycles.
#[derive(Debug)]
pub(crate) struct Schedule {
    pace: Pace,
    /// The next cycle's place among those of all workers, and the distance to the one after it.
    place: f64,
    step: f64,
    random: SmallRng,
}

impl Schedule {
    /// The schedule of one of so many workers, who take turns.
    pub(crate) fn new(pace: Pace, worker: usize, workers: usize, seed: u64) -> Self {
        let mut schedule = Self {
            pace,
            place: worker as f64,
            step: workers as f64,
            random: SmallRng::seed_from_u64(seed.wrapping_add(worker as u64)),
        };
        if pace.arrivals == Arrivals::Poisson {
            schedule.place = schedule.gap();
        }
        schedule
    }

    /// When the next cycle is due, since the start.
    pub(crate) fn next_due(&mut self) -> Duration {
        let seconds = self.pace.curve.time_of(self.place);
        self.place += match self.pace.arrivals {
            Arrivals::Even => self.step,
            Arrivals::Poisson => self.gap(),
        };
        Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
    }

    /// When the next cycle is due, since the start, and how many were left out before it that would have begun too late. `now` is no later than
    /// the end of the phase.
    pub(crate) fn next_in_time(&mut self, now: Duration) -> (Duration, u64) {
        let due = self.next_due();
        match self.pace.patience.and_then(|patience| now.checked_sub(patience)) {
            Some(from) if due < from => {
                let left_out = self.skip_before(from);
                (self.next_due(), left_out + 1)
            }
            _ => (due, 0),
        }
    }

    /// Leaves out what is due before `end`, and says how many cycles that are; of random ones how many are to be expected.
    pub(crate) fn skip_before(&mut self, end: Duration) -> u64 {
        let left = (self.pace.curve.due(end.as_secs_f64()) - self.place) / self.step;
        let left = match self.pace.arrivals {
            // A billionth for what rounding makes of a cycle that is due at the very end.
            Arrivals::Even => (left - 1e-9).ceil(),
            Arrivals::Poisson => left.round(),
        };
        let left = left.max(0.0);
        self.place += left * self.step;
        left as u64
    }

    /// The gaps of a Poisson process are exponential; processes of all workers add up to one of the whole rate.
    fn gap(&mut self) -> f64 {
        let uniform: f64 = self.random.random();
        -(1.0 - uniform).ln() * self.step
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pace(curve: Curve, arrivals: Arrivals) -> Pace {
        Pace {
            curve,
            arrivals,
            patience: None,
        }
    }

    /// The times of all workers up to an end, in order.
    fn times(pace: Pace, workers: usize, end: f64) -> Vec<f64> {
        let mut all = Vec::new();
        for worker in 0..workers {
            let mut schedule = Schedule::new(pace, worker, workers, 7);
            all.extend(std::iter::from_fn(|| Some(schedule.next_due().as_secs_f64())).take_while(|t| *t < end));
        }
        all.sort_by(f64::total_cmp);
        all
    }

    #[test]
    fn a_constant_rate_is_even_over_all_workers() {
        let times = times(Pace::constant(1000.0), 3, 2.0);
        assert_eq!(times.len(), 2000);
        for (index, time) in times.iter().enumerate() {
            assert!((time - index as f64 / 1000.0).abs() < 2e-9, "{index}: {time}");
        }
    }

    #[test]
    fn what_is_left_is_counted_as_it_would_have_come() {
        let ramp = Curve::Ramp {
            from: 100.0,
            to: 300.0,
            seconds: 10.0,
        };
        for curve in [Curve::Constant { rate: 7.0 }, Curve::Constant { rate: 1000.0 }, ramp] {
            for begun in [0, 1, 5] {
                for worker in 0..3 {
                    let new = || {
                        let mut schedule = Schedule::new(pace(curve, Arrivals::Even), worker, 3, 7);
                        (0..begun).for_each(|_| _ = schedule.next_due());
                        schedule
                    };
                    let end = Duration::from_secs(4);
                    let mut one_by_one = new();
                    let dues = std::iter::from_fn(|| Some(one_by_one.next_due())).take_while(|due| *due < end);
                    let mut at_once = new();
                    assert_eq!(
                        at_once.skip_before(end),
                        dues.count() as u64,
                        "{curve:?} {worker} {begun}"
                    );
                    assert_eq!(at_once.skip_before(end), 0);
                }
            }
        }
        let mut random = Schedule::new(pace(Curve::Constant { rate: 1000.0 }, Arrivals::Poisson), 0, 2, 7);
        assert!(random.skip_before(Duration::from_secs(10)).abs_diff(5_000) < 5);
    }

    #[test]
    fn what_is_too_late_is_left_out_where_nothing_is_made_up_for() {
        let pace = Pace {
            patience: Some(Duration::from_millis(10)),
            ..Pace::constant(1000.0)
        };
        let ms = Duration::from_millis;
        let mut schedule = Schedule::new(pace, 0, 1, 7);
        assert_eq!(schedule.next_in_time(ms(0)), (ms(0), 0));
        // In time, and a little late.
        assert_eq!(schedule.next_in_time(ms(0)), (ms(1), 0));
        assert_eq!(schedule.next_in_time(ms(9)), (ms(2), 0));
        // A stall of half a second: from 3 to 489 ms.
        assert_eq!(schedule.next_in_time(ms(500)), (ms(490), 487));
        assert_eq!(schedule.next_in_time(ms(500)), (ms(491), 0));
        let mut catches_up = Schedule::new(Pace::constant(1000.0), 0, 1, 7);
        assert_eq!(catches_up.next_in_time(ms(500)), (ms(0), 0));
    }

    #[test]
    fn all_cycles_have_had_their_time_when_the_next_is_due() {
        assert_eq!(Pace::constant(2.0).time_of_all(8), Some(Duration::from_secs(4)));
        assert_eq!(
            pace(Curve::Constant { rate: 2.0 }, Arrivals::Poisson).time_of_all(8),
            None
        );
        assert_eq!(Pace::constant(1e-300).time_of_all(u64::MAX), None);
    }

    #[test]
    fn a_ramp_has_the_cycles_below_its_line() {
        let curve = Curve::Ramp {
            from: 100.0,
            to: 300.0,
            seconds: 10.0,
        };
        let times = times(pace(curve, Arrivals::Even), 2, 15.0);
        // (100 + 300) / 2 for 10 s, and 300 for 5 s.
        assert_eq!(times.len(), 2000 + 1500);
        let until = |end: f64| times.iter().filter(|t| **t < end).count();
        assert_eq!(until(5.0), 100 * 5 + 20 * 25 / 2);
        let falling = Curve::Ramp {
            from: 300.0,
            to: 100.0,
            seconds: 10.0,
        };
        assert_eq!(self::times(pace(falling, Arrivals::Even), 1, 10.0).len(), 2000);
    }

    #[test]
    fn a_sine_comes_back_to_its_mean_each_period() {
        let curve = Curve::Sine {
            rate: 1000.0,
            amplitude: 1.0,
            period: 4.0,
        };
        let times = times(pace(curve, Arrivals::Even), 2, 8.0);
        let within = |from: f64, to: f64| times.iter().filter(|t| (from..to).contains(*t)).count();
        assert!(times.len().abs_diff(8000) <= 2, "{}", times.len());
        assert!(within(0.0, 4.0).abs_diff(4000) <= 2);
        // The half above the mean: rate * (2 s + amplitude * period / π).
        let expected = 1000.0 * (2.0 + 4.0 / std::f64::consts::PI);
        assert!((within(0.0, 2.0) as f64 - expected).abs() < 2.0);
    }

    #[test]
    fn random_arrivals_have_the_gaps_of_a_poisson_process() {
        let times = times(pace(Curve::Constant { rate: 1000.0 }, Arrivals::Poisson), 3, 100.0);
        let gaps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        // Mean and deviation of an exponential distribution are the same; 100,000 gaps give them to 1 percent and better.
        assert!((mean * 1000.0 - 1.0).abs() < 0.015, "{mean}");
        assert!((variance.sqrt() / mean - 1.0).abs() < 0.02, "{variance}");
        let beyond = gaps.iter().filter(|gap| **gap > mean).count() as f64 / gaps.len() as f64;
        assert!((beyond - (-1.0_f64).exp()).abs() < 0.01, "{beyond}");
    }
}
