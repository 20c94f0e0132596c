//! Partitions of different sizes.
//!
//! A preset deals out `rows` rows to partitions of a few sizes, and says for each row's number which partition it is in. Numbers that follow
//! each other lie in partitions that have nothing to do with each other, and in each round of `rows` numbers every partition comes up
//! exactly as often as it has rows.

use rune::runtime::{Ref, VmResult};
use rune::{Any, ContextError, Module};

use super::{Context, Failure, FailureKind};

/// Rows dealt out to partitions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Preset {
    rows: u64,
    /// Has no divisor in common with `rows`: its multiples visit every row once.
    stride: u64,
    groups: Vec<Group>,
}

/// Partitions of one size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Group {
    partitions: u64,
    size: u64,
}

/// A partition, as scripts get it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Any)]
#[rune(item = ::latte)]
pub(super) struct Partition {
    #[rune(get, set, copy, add_assign, sub_assign)]
    idx: i64,
    #[rune(get, copy)]
    rows_num: i64,
}

impl Preset {
    /// `sizes` is `"70:1,20:2.5,10:3.5"`: 70 percent of the partitions have `base` rows, 20 percent 2.5 times as many, and so on. What is left
    /// over is one more partition.
    fn new(rows: i64, base: i64, sizes: &str) -> Result<Self, String> {
        let rows = u64::try_from(rows)
            .ok()
            .filter(|rows| *rows > 0)
            .ok_or("there must be rows")?;
        let base = u64::try_from(base)
            .ok()
            .filter(|base| *base > 0)
            .ok_or("a partition must have rows")?;
        let sizes = if sizes.trim().is_empty() { "100:1" } else { sizes };
        let shares = sizes.split(',').map(share).collect::<Result<Vec<_>, _>>()?;
        let total: f64 = shares.iter().map(|(percent, _)| percent).sum();
        if (total - 100.0).abs() > 0.01 {
            return Err(format!(
                "the percentages of {sizes:?} add up to {total}, 100 is expected"
            ));
        }
        let size = |factor: f64| ((base as f64 * factor) as u64).max(1);
        let mean: f64 = shares
            .iter()
            .map(|(percent, factor)| percent / 100.0 * size(*factor) as f64)
            .sum();
        let partitions = rows as f64 / mean;
        let mut left = rows;
        let mut groups = Vec::new();
        for (percent, factor) in shares {
            let size = size(factor);
            let count = ((partitions * percent / 100.0).round() as u64).min(left / size);
            left -= count * size;
            groups.push(Group {
                partitions: count,
                size,
            });
        }
        // What rounding left goes to more partitions of the most frequent size, and the rest of that to one.
        if let Some(group) = groups.iter_mut().max_by_key(|group| group.partitions) {
            group.partitions += left / group.size;
            left %= group.size;
        }
        if left > 0 {
            groups.push(Group {
                partitions: 1,
                size: left,
            });
        }
        groups.retain(|group| group.partitions > 0);
        Ok(Self {
            rows,
            stride: stride(rows),
            groups,
        })
    }

    fn partition(&self, index: i64) -> Partition {
        let index = index.cast_unsigned() % self.rows;
        let product = u128::from(index) * u128::from(self.stride) % u128::from(self.rows);
        // Less than `rows`, so it fits.
        let mut place = u64::try_from(product).unwrap_or_default();
        let mut first = 0;
        for group in &self.groups {
            let rows = group.partitions * group.size;
            if place < rows {
                return Partition {
                    idx: (first + place % group.partitions).cast_signed(),
                    rows_num: group.size.cast_signed(),
                };
            }
            place -= rows;
            first += group.partitions;
        }
        Partition { idx: 0, rows_num: 0 }
    }
}

fn share(text: &str) -> Result<(f64, f64), String> {
    let wrong = || format!("{text:?} is not percent:factor, both above 0");
    let (percent, factor) = text.split_once(':').ok_or_else(wrong)?;
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|n| n.is_finite() && *n > 0.0);
    Ok((number(percent).ok_or_else(wrong)?, number(factor).ok_or_else(wrong)?))
}

/// The number nearest to the golden section of `rows` that has no divisor in common with it: its multiples spread most evenly.
fn stride(rows: u64) -> u64 {
    let golden = (rows as f64 * 0.618_033_988_749_894_9) as u64;
    (0..rows)
        .flat_map(|distance| [golden.saturating_sub(distance), golden.saturating_add(distance)])
        .find(|candidate| (1..rows.max(2)).contains(candidate) && greatest_common_divisor(*candidate, rows) == 1)
        .unwrap_or(1)
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

#[rune::function(instance)]
async fn init_partition_row_distribution_preset(
    ctx: Ref<Context>,
    name: Ref<str>,
    rows: i64,
    rows_per_partition: i64,
    sizes: Ref<str>,
) -> Result<(), Failure> {
    let preset = Preset::new(rows, rows_per_partition, &sizes)
        .map_err(|why| Failure::new(FailureKind::Misuse, format!("preset {}: {why}", &*name)))?;
    ctx.presets.borrow_mut().insert(name.to_owned(), preset);
    Ok(())
}

fn find(ctx: &Context, name: &str, index: i64) -> VmResult<Partition> {
    match ctx.presets.borrow().get(name) {
        Some(preset) => VmResult::Ok(preset.partition(index)),
        None => VmResult::panic(format!("there is no preset {name:?}")),
    }
}

#[rune::function(instance)]
async fn get_partition_info(ctx: Ref<Context>, name: Ref<str>, index: i64) -> VmResult<Partition> {
    find(&ctx, &name, index)
}

#[rune::function(instance)]
async fn get_partition_idx(ctx: Ref<Context>, name: Ref<str>, index: i64) -> VmResult<i64> {
    match find(&ctx, &name, index) {
        VmResult::Ok(partition) => VmResult::Ok(partition.idx),
        VmResult::Err(error) => VmResult::Err(error),
    }
}

pub(super) fn install(module: &mut Module) -> Result<(), ContextError> {
    module.ty::<Partition>()?;
    module.function_meta(init_partition_row_distribution_preset)?;
    module.function_meta(get_partition_info)?;
    module.function_meta(get_partition_idx)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    fn sizes(preset: &Preset) -> HashMap<i64, (u64, i64)> {
        let mut seen: HashMap<i64, (u64, i64)> = HashMap::new();
        for index in 0..preset.rows.cast_signed() {
            let Partition { idx, rows_num } = preset.partition(index);
            let entry = seen.entry(idx).or_insert((0, rows_num));
            entry.0 += 1;
            assert_eq!(entry.1, rows_num);
        }
        seen
    }

    #[test]
    fn every_partition_has_exactly_its_rows() {
        for (rows, base, text) in [
            (1000, 25, "100:1"),
            (1000, 13, ""),
            (1000, 6, "50:1,30:2,20:4"),
            (9973, 10, "70:1, 20:2.5, 10:3.5"),
            (1, 1, "100:1"),
            (5, 100, "100:1"),
        ] {
            let preset = Preset::new(rows, base, text).unwrap();
            let seen = sizes(&preset);
            assert_eq!(seen.values().map(|(rows, _)| rows).sum::<u64>(), preset.rows);
            for (partition, (found, expected)) in &seen {
                assert_eq!(
                    found.cast_signed(),
                    *expected,
                    "{rows} {base} {text:?}: partition {partition}"
                );
            }
            let partitions: u64 = preset.groups.iter().map(|group| group.partitions).sum();
            assert_eq!(seen.len() as u64, partitions);
            assert_eq!(preset.partition(3), preset.partition(3 + rows));
        }
    }

    #[test]
    fn sizes_have_their_shares() {
        let preset = Preset::new(1_000_000, 100, "70:1,20:2.5,10:3.5").unwrap();
        let shares: Vec<f64> = preset.groups.iter().map(|group| group.partitions as f64).collect();
        let total: f64 = shares.iter().sum();
        for (share, expected) in shares.iter().zip([0.7, 0.2, 0.1]) {
            assert!((share / total - expected).abs() < 0.001, "{shares:?}");
        }
    }

    #[test]
    fn refuses_what_makes_no_sense() {
        for (rows, base, text) in [
            (0, 1, "100:1"),
            (1, 0, "100:1"),
            (1, -1, "100:1"),
            (9, 1, "90:1"),
            (9, 1, "100"),
            (9, 1, "100:0"),
            (9, 1, "100:inf"),
            (9, 1, "-100:1,200:1"),
        ] {
            assert!(Preset::new(rows, base, text).is_err(), "{rows} {base} {text:?}");
        }
    }
}
