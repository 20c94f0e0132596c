//! The grammar of option strings, which the writers of Riegeli/records and ArrayRecord files share.
//!
//! Options are separated by commas, with nothing between two of them as well. A key is followed by a colon and its value; no
//! value and an empty one are the same. Numbers may stand between white space and have a sign.
//!
//! Source: google/riegeli, `doc/record_writer_options.md` and `riegeli/base/options_parser.cc`.

use std::ops::RangeInclusive;

use crate::{Compression, Error, Result};

/// An option of a string, `key` or `key:value`.
#[derive(Clone, Copy)]
pub(crate) struct GivenOption<'a> {
    text: &'a str,
    pub(crate) key: &'a str,
    /// Empty if there is none.
    pub(crate) value: &'a str,
}

/// Returns the options of a string in their order.
///
/// # Errors
/// [`Error::Option`] for an option that is there twice, a second codec, and a `default` after another option or with a value.
pub(crate) fn options(text: &str) -> Result<Vec<GivenOption<'_>>> {
    let mut options: Vec<GivenOption<'_>> = Vec::new();
    for text in text.split(',').filter(|text| !text.is_empty()) {
        let (key, value) = text.split_once(':').unwrap_or((text, ""));
        let option = GivenOption { text, key, value };
        if options.iter().any(|before| before.key == key) {
            return Err(option.expected("each option once"));
        }
        if option.is_codec() && options.iter().any(GivenOption::is_codec) {
            return Err(option.expected("one codec"));
        }
        if key == "default" && !(options.is_empty() && value.is_empty()) {
            return Err(option.expected("`default` before all others, without a value"));
        }
        options.push(option);
    }
    Ok(options)
}

impl GivenOption<'_> {
    fn is_codec(&self) -> bool {
        matches!(self.key, "uncompressed" | "brotli" | "zstd" | "snappy")
    }

    /// Returns the error that another value was expected.
    pub(crate) fn expected(&self, expected: &str) -> Error {
        Error::Option {
            option: self.text.to_owned(),
            expected: expected.to_owned(),
        }
    }

    /// Returns the codec that the option names, without a window of its own; `None` for another option.
    ///
    /// # Errors
    /// [`Error::Option`] for a level that the codec does not have.
    pub(crate) fn codec(&self) -> Result<Option<Compression>> {
        let level = |default: i64, levels: RangeInclusive<i64>, expected: &str| match self.value {
            "" => Ok(default),
            _ => self.int(levels).ok_or_else(|| self.expected(expected)),
        };
        Ok(Some(match self.key {
            "uncompressed" if self.value.is_empty() => Compression::None,
            "uncompressed" => return Err(self.expected("no value")),
            "brotli" => {
                let quality = level(6, 0..=11, "brotli:0 to brotli:11")?;
                Compression::brotli(u32::try_from(quality).unwrap_or(6))
            }
            "zstd" => {
                let level = level(3, -131_072..=22, "zstd:-131072 to zstd:22")?;
                Compression::zstd(i32::try_from(level).unwrap_or(3))
            }
            "snappy" => match level(1, 1..=2, "snappy:1 or snappy:2")? {
                1 => Compression::Snappy,
                _ => Compression::SnappyDense,
            },
            _ => return Ok(None),
        }))
    }

    /// Returns the logarithm of the window, `None` for `auto`.
    ///
    /// # Errors
    /// [`Error::Option`] for what is no number. Whether the codec has such a window is another question.
    pub(crate) fn window_log(&self) -> Result<Option<u32>> {
        if self.value == "auto" {
            return Ok(None);
        }
        let log = self
            .int(0..=i64::from(u32::MAX))
            .and_then(|log| u32::try_from(log).ok());
        log.map(Some)
            .ok_or_else(|| self.expected("auto, or a number from 10 to 31"))
    }

    /// Returns whether the option is on, which `key` and `key:true` say for `transpose`.
    pub(crate) fn bool(&self, without_value: bool) -> Result<bool> {
        match self.value {
            "" => Ok(without_value),
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(self.expected(&format!("{0}, {0}:true or {0}:false", self.key))),
        }
    }

    /// Returns the value as an integer, if it is one of the range.
    pub(crate) fn int(&self, range: RangeInclusive<i64>) -> Option<i64> {
        let number = self.value.trim_matches(is_white_space).parse().ok()?;
        Some(number).filter(|number| range.contains(number))
    }

    /// Returns the value as a real, if it is one of the range.
    pub(crate) fn real(&self, range: RangeInclusive<f64>) -> Option<f64> {
        real(self.value).filter(|number| range.contains(number))
    }

    /// Returns the value as a number of bytes, at least 1: a real with an optional unit, rounded, halves away from zero. More
    /// than an `u64` holds is the most that it holds.
    pub(crate) fn bytes(&self) -> Option<u64> {
        let shift = match self.value.as_bytes().last()? {
            b'B' => Some(0),
            b'k' | b'K' => Some(10),
            b'M' => Some(20),
            b'G' => Some(30),
            b'T' => Some(40),
            b'P' => Some(50),
            b'E' => Some(60),
            _ => None,
        };
        let mut digits = self.value.chars();
        if shift.is_some() {
            digits.next_back();
        }
        let scale = (1_u64 << shift.unwrap_or_default()) as f64;
        let bytes = (real(digits.as_str())? * scale).round();
        // A cast keeps within bounds. What is not a number is 0.
        Some(bytes as u64).filter(|&bytes| bytes > 0)
    }
}

/// Returns a real as C++ reads it, which is as Rust does, but for white space around it.
fn real(text: &str) -> Option<f64> {
    text.trim_matches(is_white_space).parse().ok()
}

fn is_white_space(character: char) -> bool {
    matches!(character, ' ' | '\t'..='\r')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(value: &str) -> GivenOption<'_> {
        GivenOption {
            text: value,
            key: "key",
            value,
        }
    }

    #[test]
    fn bytes_are_reals_with_a_unit() {
        for (text, bytes) in [
            ("1", Some(1)),
            ("1B", Some(1)),
            ("1.5M", Some(3 << 19)),
            (".5k", Some(512)),
            ("2.K", Some(2_048)),
            ("1e3", Some(1_000)),
            ("1e3k", Some(1_024_000)),
            ("1E", Some(1 << 60)),
            ("1E1E", Some(10 << 60)),
            ("0.25G", Some(1 << 28)),
            ("0.5T", Some(1 << 39)),
            ("3P", Some(3 << 50)),
            // Half a byte is rounded up, less than that is none.
            ("0.5", Some(1)),
            ("2.5", Some(3)),
            ("0.49", None),
            ("0.0004k", None),
            ("+7", Some(7)),
            (" 7\t", Some(7)),
            ("7 M", Some(7 << 20)),
            ("16E", Some(u64::MAX)),
            ("99999999999E", Some(u64::MAX)),
            ("1e400", Some(u64::MAX)),
            ("inf", Some(u64::MAX)),
            ("nan", None),
            ("0", None),
            ("-1", None),
            ("-inf", None),
            ("", None),
            ("k", None),
            ("B", None),
            ("auto", None),
            // One unit, as in the original.
            ("1MB", None),
            ("1m", None),
            ("0x10", None),
            ("1,5", None),
            ("+-1", None),
            ("1é", None),
        ] {
            assert_eq!(value(text).bytes(), bytes, "{text:?}");
        }
    }

    #[test]
    fn numbers_stand_between_white_space() {
        for (text, int, real) in [
            ("3", Some(3), Some(3.0)),
            ("+3", Some(3), Some(3.0)),
            (" -3\n", Some(-3), Some(-3.0)),
            ("3.0", None, Some(3.0)),
            (".5", None, Some(0.5)),
            ("1e1", None, Some(10.0)),
            ("11", None, None),
            ("- 3", None, None),
            ("\u{a0}3", None, None),
            ("nan", None, None),
            ("", None, None),
        ] {
            assert_eq!(value(text).int(-10..=10), int, "{text:?}");
            assert_eq!(value(text).real(-10.0..=10.0), real, "{text:?}");
        }
    }

    #[test]
    fn options_have_nothing_between_them_or_a_value() {
        for (text, expected) in [
            ("", &[][..]),
            (",,", &[]),
            (",a,,b:,c:d:e,", &[("a", ""), ("b", ""), ("c", "d:e")]),
            (":5", &[("", "5")]),
            (",default,a", &[("default", ""), ("a", "")]),
        ] {
            let options = options(text).expect(text);
            let options: Vec<_> = options.iter().map(|option| (option.key, option.value)).collect();
            assert_eq!(options, expected, "{text:?}");
        }
    }
}
