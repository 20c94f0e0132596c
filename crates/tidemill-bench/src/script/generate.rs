//! The functions of `latte::` that make data.
//!
//! Each is pure: the same arguments give the same value, so that what one run wrote another can read. `hash`, `hash2`,
//! `hash_range`, `hash_select` and `uuid` give what Latte gives. The others draw from a generator that their first argument seeds,
//! the same as Latte's and in the same way, so that their values are Latte's too.

use std::hash::{Hash as _, Hasher as _};

use metrohash::MetroHash64;
use rand_of_latte::{Rng as _, SeedableRng as _, distributions::Distribution as _, rngs::SmallRng};
use rune::runtime::{Bytes, Function, VmResult};
use rune::{ContextError, Module, Value, vm_try};
use statrs::distribution::{Normal, Uniform};

use super::uuid::Uuid;

/// More than a script can want of one value, and less than takes the machine down.
const LONGEST: usize = 64 << 20;

pub(super) fn install(latte: &mut Module, target: &'static str) -> Result<(), ContextError> {
    latte.function_meta(blob)?;
    latte.function_meta(text)?;
    latte.function_meta(vector)?;
    latte.function_meta(join)?;
    latte.function_meta(now_timestamp)?;
    latte.function_meta(hash)?;
    latte.function_meta(hash2)?;
    latte.function_meta(hash_range)?;
    latte.function_meta(hash_select)?;
    latte.function_meta(uuid)?;
    latte.function_meta(normal)?;
    latte.function_meta(normal_f32)?;
    latte.function_meta(normal_vec)?;
    latte.function_meta(uniform)?;
    latte.function_meta(uniform_vec)?;
    latte.function_meta(is_none)?;
    latte.function("target", move || target).build()?;
    Ok(())
}

/// A number that is not negative.
fn positive(hash: u64) -> i64 {
    (hash & (u64::MAX >> 1)).cast_signed()
}

fn hash_of(number: i64) -> i64 {
    let mut hash = MetroHash64::new();
    number.hash(&mut hash);
    positive(hash.finish())
}

#[rune::function]
fn hash(i: i64) -> i64 {
    hash_of(i)
}

#[rune::function]
fn hash2(a: i64, b: i64) -> i64 {
    let mut hash = MetroHash64::new();
    a.hash(&mut hash);
    b.hash(&mut hash);
    positive(hash.finish())
}

#[rune::function]
fn hash_range(i: i64, max: i64) -> VmResult<i64> {
    match hash_of(i).checked_rem(max) {
        Some(value) => VmResult::Ok(value),
        None => VmResult::panic("hash_range: the range must not be empty"),
    }
}

#[rune::function]
fn hash_select(i: i64, collection: &[Value]) -> VmResult<Value> {
    let Ok(length @ 1..) = i64::try_from(collection.len()) else {
        return VmResult::panic("hash_select: the collection is empty");
    };
    let chosen = usize::try_from(hash_of(i) % length)
        .ok()
        .and_then(|at| collection.get(at));
    match chosen {
        Some(value) => VmResult::Ok(value.clone()),
        None => VmResult::panic("hash_select: the collection is empty"),
    }
}

#[rune::function]
fn uuid(i: i64) -> Uuid {
    Uuid::of(i)
}

fn seeded(seed: i64) -> SmallRng {
    SmallRng::seed_from_u64(seed.cast_unsigned())
}

fn length(function: &str, length: i64) -> VmResult<usize> {
    match usize::try_from(length) {
        Ok(length) if length <= LONGEST => VmResult::Ok(length),
        _ => VmResult::panic(format!(
            "{function}: a length of {length}, and 0 to {LONGEST} is possible"
        )),
    }
}

fn normal_distribution(mean: f64, std_dev: f64) -> VmResult<Normal> {
    match Normal::new(mean, std_dev) {
        Ok(distribution) => VmResult::Ok(distribution),
        Err(e) => VmResult::panic(format!("normal: {e}")),
    }
}

fn uniform_distribution(min: f64, max: f64) -> VmResult<Uniform> {
    match Uniform::new(min, max) {
        // Drawing panics where the width is beyond the numbers.
        Ok(distribution) if (max - min).is_finite() => VmResult::Ok(distribution),
        Ok(_) => VmResult::panic(format!("uniform: {min}..{max}: the range is too wide")),
        Err(e) => VmResult::panic(format!("uniform: {min}..{max}: {e}")),
    }
}

#[rune::function]
fn normal(i: i64, mean: f64, std_dev: f64) -> VmResult<f64> {
    let distribution = vm_try!(normal_distribution(mean, std_dev));
    VmResult::Ok(distribution.sample(&mut seeded(i)))
}

#[rune::function]
fn normal_f32(i: i64, mean: f64, std_dev: f64) -> VmResult<f64> {
    let distribution = vm_try!(normal_distribution(mean, std_dev));
    VmResult::Ok(f64::from(distribution.sample(&mut seeded(i)) as f32))
}

#[rune::function]
fn normal_vec(i: i64, len: i64, mean: f64, std_dev: f64) -> VmResult<Value> {
    let distribution = vm_try!(normal_distribution(mean, std_dev));
    let mut random = seeded(i);
    floats("normal_vec", len, || distribution.sample(&mut random))
}

#[rune::function]
fn uniform(i: i64, min: f64, max: f64) -> VmResult<f64> {
    VmResult::Ok(vm_try!(uniform_distribution(min, max)).sample(&mut seeded(i)))
}

#[rune::function]
fn uniform_vec(i: i64, len: i64, min: f64, max: f64) -> VmResult<Value> {
    vm_try!(uniform_distribution(min, max));
    let mut random = seeded(i);
    floats("uniform_vec", len, || random.gen_range(min..max))
}

fn floats(function: &str, len: i64, mut draw: impl FnMut() -> f64) -> VmResult<Value> {
    let len = vm_try!(length(function, len));
    let mut values = vm_try!(rune::alloc::Vec::try_with_capacity(len));
    for _ in 0..len {
        vm_try!(values.try_push(Value::from(draw())));
    }
    VmResult::Ok(vm_try!(Value::vec(values)))
}

#[rune::function]
fn blob(seed: i64, len: i64) -> VmResult<Bytes> {
    let len = vm_try!(length("blob", len));
    let mut bytes = vm_try!(rune::alloc::Vec::try_with_capacity(len));
    let mut random = seeded(seed);
    for _ in 0..len {
        vm_try!(bytes.try_push(random.r#gen::<u8>()));
    }
    VmResult::Ok(Bytes::from_vec(bytes))
}

/// The characters of `text`: no quotation marks that SQL would need doubled, but the apostrophe.
const CHARACTERS: &[u8; 90] =
    b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!@#$%^&*()_+-=[]{}|;:',.<>?/";

#[rune::function]
fn text(seed: i64, len: i64) -> VmResult<rune::alloc::String> {
    let len = vm_try!(length("text", len));
    let mut text = vm_try!(rune::alloc::String::try_with_capacity(len));
    let mut random = seeded(seed);
    for _ in 0..len {
        let at = random.gen_range(0..CHARACTERS.len());
        vm_try!(text.try_push(char::from(CHARACTERS[at])));
    }
    VmResult::Ok(text)
}

#[rune::function]
fn vector(len: i64, generator: Function) -> VmResult<Value> {
    let len = vm_try!(length("vector", len));
    let mut values = rune::alloc::Vec::new();
    for index in 0..len {
        vm_try!(values.try_push(vm_try!(generator.call((index,)))));
    }
    VmResult::Ok(vm_try!(Value::vec(values)))
}

#[rune::function]
fn join(collection: &[Value], separator: &str) -> VmResult<rune::alloc::String> {
    let mut joined = rune::alloc::String::new();
    for (index, value) in collection.iter().enumerate() {
        if index > 0 {
            vm_try!(joined.try_push_str(separator));
        }
        vm_try!(joined.try_push_str(&vm_try!(value.borrow_string_ref())));
    }
    VmResult::Ok(joined)
}

/// Seconds since 1970.
#[rune::function]
fn now_timestamp() -> i64 {
    chrono::Utc::now().timestamp()
}

#[rune::function]
fn is_none(value: Value) -> bool {
    value.borrow_ref::<Option<Value>>().is_ok_and(|option| option.is_none())
}
