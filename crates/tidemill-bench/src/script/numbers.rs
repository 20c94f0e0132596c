//! Methods of numbers: conversions to the widths that a column has, and `clamp`.
//!
//! Rune knows one width of whole numbers and one of floats. Values are fitted to their column when they are bound, so what these
//! give is an ordinary number again: rounded, saturated or refused here, where the script says so.

use rune::{ContextError, Module};

pub(super) fn install(latte: &mut Module) -> Result<(), ContextError> {
    latte.function_meta(integer::to_i8)?;
    latte.function_meta(integer::to_i16)?;
    latte.function_meta(integer::to_i32)?;
    latte.function_meta(integer::to_f32)?;
    latte.function_meta(integer::clamp)?;
    latte.function_meta(float::to_i8)?;
    latte.function_meta(float::to_i16)?;
    latte.function_meta(float::to_i32)?;
    latte.function_meta(float::to_f32)?;
    latte.function_meta(float::clamp)?;
    Ok(())
}

mod integer {
    use rune::runtime::VmResult;

    /// The number, or `None` beyond -128..=127.
    #[rune::function(instance)]
    pub(super) fn to_i8(value: i64) -> Option<i64> {
        i8::try_from(value).ok().map(i64::from)
    }

    /// The number, or `None` beyond 16 bits.
    #[rune::function(instance)]
    pub(super) fn to_i16(value: i64) -> Option<i64> {
        i16::try_from(value).ok().map(i64::from)
    }

    /// The number, or `None` beyond 32 bits.
    #[rune::function(instance)]
    pub(super) fn to_i32(value: i64) -> Option<i64> {
        i32::try_from(value).ok().map(i64::from)
    }

    /// The nearest float of 32 bits.
    #[rune::function(instance)]
    pub(super) fn to_f32(value: i64) -> f64 {
        f64::from(value as f32)
    }

    /// The number, or the bound that it is beyond.
    #[rune::function(instance)]
    pub(super) fn clamp(value: i64, min: i64, max: i64) -> VmResult<i64> {
        if min > max {
            return VmResult::panic(format!("clamp: the least, {min}, is above the most, {max}"));
        }
        VmResult::Ok(value.clamp(min, max))
    }
}

mod float {
    use rune::runtime::VmResult;

    /// The number without its fraction, or the nearest of 8 bits.
    #[rune::function(instance)]
    pub(super) fn to_i8(value: f64) -> i64 {
        i64::from(value as i8)
    }

    /// The number without its fraction, or the nearest of 16 bits.
    #[rune::function(instance)]
    pub(super) fn to_i16(value: f64) -> i64 {
        i64::from(value as i16)
    }

    /// The number without its fraction, or the nearest of 32 bits.
    #[rune::function(instance)]
    pub(super) fn to_i32(value: f64) -> i64 {
        i64::from(value as i32)
    }

    /// The nearest float of 32 bits.
    #[rune::function(instance)]
    pub(super) fn to_f32(value: f64) -> f64 {
        f64::from(value as f32)
    }

    /// The number, or the bound that it is beyond.
    #[rune::function(instance)]
    pub(super) fn clamp(value: f64, min: f64, max: f64) -> VmResult<f64> {
        if min > max || min.is_nan() || max.is_nan() {
            return VmResult::panic(format!("clamp: the least, {min}, is not below the most, {max}"));
        }
        VmResult::Ok(value.clamp(min, max))
    }
}
