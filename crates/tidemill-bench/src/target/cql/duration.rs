//! CQL's durations: months, days and nanoseconds, none of which is so many of another.

use scylla::value::CqlDuration;

/// Reads `1y2mo3w4d5h6m7s8ms9us10ns`: any of the units, each once, in any order, and a minus before the whole.
pub(super) fn parse(text: &str) -> Option<CqlDuration> {
    let (sign, mut rest) = match text.trim().strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.trim()),
    };
    let (mut months, mut days, mut nanoseconds) = (0_i64, 0_i64, 0_i64);
    let mut seen = Vec::new();
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit())?;
        let (number, behind) = rest.split_at(end);
        let end = behind.find(|c: char| c.is_ascii_digit()).unwrap_or(behind.len());
        let (unit, behind) = behind.split_at(end);
        let number: i64 = number.parse().ok()?;
        let (sum, factor) = match unit.to_ascii_lowercase().as_str() {
            "y" => (&mut months, 12),
            "mo" => (&mut months, 1),
            "w" => (&mut days, 7),
            "d" => (&mut days, 1),
            "h" => (&mut nanoseconds, 3_600_000_000_000),
            "m" => (&mut nanoseconds, 60_000_000_000),
            "s" => (&mut nanoseconds, 1_000_000_000),
            "ms" => (&mut nanoseconds, 1_000_000),
            "us" | "µs" => (&mut nanoseconds, 1_000),
            "ns" => (&mut nanoseconds, 1),
            _ => return None,
        };
        *sum = sum.checked_add(number.checked_mul(factor)?)?;
        if seen.contains(&unit) {
            return None;
        }
        seen.push(unit);
        rest = behind;
    }
    Some(CqlDuration {
        months: i32::try_from(sign * months).ok()?,
        days: i32::try_from(sign * days).ok()?,
        nanoseconds: sign * nanoseconds,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds_up_units() {
        for (text, expected) in [
            ("2y3mo2w6d23h59m", (27, 20, 86_340_000_000_000)),
            ("0mo0d0h0m0s", (0, 0, 0)),
            ("1h30ns", (0, 0, 3_600_000_000_030)),
            ("-1mo1d", (-1, -1, 0)),
            ("12MO", (12, 0, 0)),
        ] {
            let CqlDuration {
                months,
                days,
                nanoseconds,
            } = parse(text).unwrap();
            assert_eq!((months, days, nanoseconds), expected, "{text}");
        }
    }

    #[test]
    fn refuses_what_is_no_duration() {
        for text in [
            "",
            " ",
            "-",
            "1",
            "m1",
            "1mm",
            "1mom",
            "fake",
            "1d2h3m4h",
            "99999999999999999999y",
            "999999999999y",
        ] {
            assert!(parse(text).is_none(), "{text:?}");
        }
    }
}
