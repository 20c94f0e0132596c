//! Partitions of different sizes.
//!
//! A preset deals out `rows` rows to partitions of a few sizes, and says for each row's number which partition it is in. Numbers that follow
//! each other lie in partitions that have nothing to do with each other, and in each round of `rows` numbers every partition comes up
//! exactly as often as it has rows.
//!
//! With a size of batches it also says for each batch's number which rows of one partition are in it: first some rows of every partition, the
//! partitions in an order that mixes their sizes, then the next ones of those that have more.

use rune::runtime::{Ref, VmResult};
use rune::{Any, ContextError, Module, Value};

use super::{Context, Failure, FailureKind};

/// Rows dealt out to partitions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Preset {
    rows: u64,
    /// Has no divisor in common with `rows`: its multiples visit every row once.
    stride: u64,
    groups: Vec<Group>,
    batches: Option<Batches>,
}

/// How rows of a preset are dealt out to batches.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Batches {
    /// The most rows of a batch.
    size: u64,
    /// How many there are until every row was in one.
    total: u64,
    /// By how many batches a partition has, in ascending order.
    stretches: Vec<Stretch>,
}

/// Rounds in which the same partitions have a batch each.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Stretch {
    /// The numbers of the rounds: the first, and that after the last.
    rounds: (u64, u64),
    /// How many partitions have a batch in each of them.
    partitions: u64,
    /// Has no divisor in common with `partitions`.
    stride: u64,
}

/// More statements than this no batch of CQL has: they are counted in 16 bits.
const MOST_IN_BATCH: i64 = 65_535;

/// Partitions of one size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Group {
    partitions: u64,
    size: u64,
}

/// A batch of rows of one partition, as scripts get it.
#[derive(Debug, Any)]
#[rune(item = ::latte)]
pub(super) struct PartitionBatch {
    #[rune(get, set, copy, add_assign, sub_assign)]
    idx: i64,
    #[rune(get)]
    rows: Value,
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
            batches: None,
        })
    }

    /// Deals rows out to batches of so many rows at most. Says how many batches there are.
    fn set_batch_size(&mut self, size: i64) -> Result<u64, String> {
        let size = Some(size).filter(|size| (1..=MOST_IN_BATCH).contains(size));
        let size = size
            .ok_or_else(|| format!("a batch has from 1 to {MOST_IN_BATCH} rows"))?
            .unsigned_abs();
        let rounds = |group: &Group| group.size.div_ceil(size);
        let mut ends: Vec<u64> = self.groups.iter().map(rounds).collect();
        ends.sort_unstable();
        ends.dedup();
        let mut stretches = Vec::new();
        let (mut begin, mut total) = (0, 0_u64);
        for end in ends {
            let has_more = self.groups.iter().filter(|group| rounds(group) >= end);
            // There are no more batches than rows.
            let partitions: u64 = has_more.map(|group| group.partitions).sum();
            total += (end - begin) * partitions;
            stretches.push(Stretch {
                rounds: (begin, end),
                partitions,
                stride: stride(partitions),
            });
            begin = end;
        }
        self.batches = Some(Batches { size, total, stretches });
        Ok(total)
    }

    /// The partition of a batch, and the numbers of its rows.
    fn batch(&self, index: i64) -> Option<(u64, Vec<i64>)> {
        let batches = self.batches.as_ref()?;
        let mut left = index.cast_unsigned() % batches.total.max(1);
        let stretch = batches.stretches.iter().find(|stretch| {
            let count = (stretch.rounds.1 - stretch.rounds.0) * stretch.partitions;
            let is_here = left < count;
            if !is_here {
                left -= count;
            }
            is_here
        })?;
        let round = stretch.rounds.0 + left / stretch.partitions;
        let mut place = times(left % stretch.partitions, stretch.stride, stretch.partitions);
        // The first row and the first partition of the group.
        let (mut row, mut first) = (0, 0);
        for group in &self.groups {
            if group.size.div_ceil(batches.size) >= stretch.rounds.1 {
                if place < group.partitions {
                    let from = round * batches.size;
                    let rows = from..(from + batches.size).min(group.size);
                    let inverse = inverse(self.stride, self.rows);
                    let number =
                        |nth: u64| times(row + place + nth * group.partitions, inverse, self.rows).cast_signed();
                    return Some((first + place, rows.map(number).collect()));
                }
                place -= group.partitions;
            }
            row += group.partitions * group.size;
            first += group.partitions;
        }
        None
    }

    fn partition(&self, index: i64) -> Partition {
        let index = index.cast_unsigned() % self.rows;
        let mut place = times(index, self.stride, self.rows);
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

/// The remainder of a product.
fn times(left: u64, right: u64, divisor: u64) -> u64 {
    let product = u128::from(left) * u128::from(right) % u128::from(divisor.max(1));
    // Less than the divisor, so it fits.
    u64::try_from(product).unwrap_or_default()
}

/// What a number is multiplied with to leave a remainder of 1: the two have no divisor in common (Euclid, extended).
fn inverse(number: u64, divisor: u64) -> u64 {
    let (mut old, mut new) = (i128::from(number), i128::from(divisor));
    let (mut old_factor, mut factor) = (1_i128, 0_i128);
    while new != 0 {
        let quotient = old / new;
        (old, new) = (new, old - quotient * new);
        (old_factor, factor) = (factor, old_factor - quotient * factor);
    }
    u64::try_from(old_factor.rem_euclid(i128::from(divisor.max(1)))).unwrap_or_default()
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

/// Deals the rows of a preset out to batches of one partition each, and says how many there are.
#[rune::function(instance)]
async fn set_partition_batch_size(ctx: Ref<Context>, name: Ref<str>, size: i64) -> Result<(), Failure> {
    let misuse = |why: String| Failure::new(FailureKind::Misuse, why);
    let mut presets = ctx.presets.borrow_mut();
    let preset = presets.get_mut(&*name);
    let preset = preset.ok_or_else(|| misuse(format!("there is no preset {:?}", &*name)))?;
    let total = preset
        .set_batch_size(size)
        .map_err(|why| misuse(format!("preset {}: {why}", &*name)))?;
    if ctx.is_setup() {
        eprintln!(
            "info: Preset {}: {total} batches of at most {size} rows have every row once",
            &*name
        );
    }
    Ok(())
}

#[rune::function(instance)]
async fn get_partition_batch(
    ctx: Ref<Context>,
    name: Ref<str>,
    index: i64,
) -> VmResult<Result<PartitionBatch, Failure>> {
    let presets = ctx.presets.borrow();
    let misuse = |why: String| VmResult::Ok(Err(Failure::new(FailureKind::Misuse, why)));
    let Some(preset) = presets.get(&*name) else {
        return misuse(format!("there is no preset {:?}", &*name));
    };
    let Some((partition, rows)) = preset.batch(index) else {
        return misuse(format!(
            "preset {}: set_partition_batch_size comes before get_partition_batch",
            &*name
        ));
    };
    let list = || {
        let mut list = rune::alloc::Vec::try_with_capacity(rows.len())?;
        for row in rows {
            list.try_push(Value::from(row))?;
        }
        Value::vec(list)
    };
    match list() {
        Ok(rows) => VmResult::Ok(Ok(PartitionBatch {
            idx: partition.cast_signed(),
            rows,
        })),
        Err(error) => VmResult::err(error),
    }
}

pub(super) fn install(module: &mut Module) -> Result<(), ContextError> {
    module.ty::<Partition>()?;
    module.ty::<PartitionBatch>()?;
    module.function_meta(set_partition_batch_size)?;
    module.function_meta(get_partition_batch)?;
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
    fn batches_have_every_row_once_and_rows_of_one_partition() {
        for (rows, base, text, size) in [
            (10_000, 1, "50:4,50:6", 2),
            (1000, 25, "100:1", 10),
            (9973, 10, "70:1, 20:2.5, 10:3.5", 7),
            (1000, 6, "50:1,30:2,20:4", 1),
            (100, 30, "100:1", 65_535),
            (1, 1, "", 3),
        ] {
            let mut preset = Preset::new(rows, base, text).unwrap();
            assert_eq!(preset.batch(0), None);
            let total = preset.set_batch_size(size).unwrap();
            let mut seen = vec![false; rows as usize];
            let mut begun = HashMap::new();
            for index in 0..total.cast_signed() {
                let (partition, batch) = preset.batch(index).unwrap();
                assert!((1..=size as usize).contains(&batch.len()));
                for row in batch {
                    assert_eq!(preset.partition(row).idx, partition.cast_signed(), "{text} {index}");
                    assert!(
                        !std::mem::replace(&mut seen[row as usize], true),
                        "{text}: row {row} again"
                    );
                }
                *begun.entry(partition).or_insert(0) += 1;
                // All partitions come up before one comes up again.
                let partitions: u64 = preset.groups.iter().map(|group| group.partitions).sum();
                assert!(
                    index.unsigned_abs() >= partitions || begun[&partition] == 1,
                    "{text} {index}"
                );
            }
            assert!(seen.into_iter().all(|seen| seen), "{text}");
            assert_eq!(preset.batch(0), preset.batch(total.cast_signed()));
        }
        // Of the page of the fork: 1000 partitions in three batches and 1000 in two.
        let mut preset = Preset::new(10_000, 1, "50:4,50:6").unwrap();
        assert_eq!(preset.set_batch_size(2), Ok(5_000));
        // The first batches are a sample of both sizes.
        let large = (0..200).filter(|index| {
            let (_, rows) = preset.batch(*index).unwrap();
            preset.partition(rows[0]).rows_num == 6
        });
        assert!((80..=120).contains(&large.count()));
        for wrong in [0, -1, 65_536] {
            assert!(preset.set_batch_size(wrong).is_err());
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
