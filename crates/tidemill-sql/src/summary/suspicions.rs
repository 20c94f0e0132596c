//! Suspicious values of a column: text that consists of numbers or dates, text in another code page, unlikely dates.

use arrow_array::ArrayRef;
use arrow_array::cast::AsArray as _;
use arrow_array::types::Date32Type;
use arrow_cast::cast;
use arrow_schema::DataType;

use crate::Result;

/// What was found so far.
#[derive(Default)]
pub(super) struct Suspicions {
    is_text: bool,
    is_date: bool,
    /// Texts that are not empty.
    texts: u64,
    numbers: u64,
    dates: u64,
    /// Numbers with a leading zero, which a numeric type would lose.
    codes: u64,
    padded: u64,
    undecoded: u64,
    misread: u64,
    controls: u64,
    old: u64,
    far: u64,
}

/// Days from 1970-01-01 to 1900-01-01 and to 2100-01-01.
const YEAR_1900: i32 = -25_567;
const YEAR_2100: i32 = 47_482;

impl Suspicions {
    pub(super) fn of(data_type: &DataType) -> Self {
        Self {
            is_text: matches!(
                data_type,
                DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Dictionary(..)
            ),
            is_date: matches!(data_type, DataType::Date32 | DataType::Date64 | DataType::Timestamp(..)),
            ..Self::default()
        }
    }

    /// Adds values, none of which is NULL.
    pub(super) fn add(&mut self, values: &ArrayRef) -> Result<()> {
        if self.is_text {
            let texts = cast(values, &DataType::Utf8)?;
            for text in texts.as_string::<i32>().iter().flatten() {
                self.add_text(text);
            }
        } else if self.is_date {
            let dates = cast(values, &DataType::Date32)?;
            for date in dates.as_primitive::<Date32Type>().iter().flatten() {
                self.old += u64::from(date < YEAR_1900);
                self.far += u64::from(date >= YEAR_2100);
            }
        }
        Ok(())
    }

    fn add_text(&mut self, text: &str) {
        let trimmed = text.trim();
        if trimmed.is_empty() {
            return;
        }
        self.texts += 1;
        self.padded += u64::from(trimmed.len() != text.trim_end().len());
        if is_number(trimmed) {
            self.numbers += 1;
            let digits = trimmed.trim_start_matches(['-', '+']);
            self.codes += u64::from(digits.len() > 1 && digits.starts_with('0') && !digits.starts_with("0."));
        }
        self.dates += u64::from(is_date(trimmed));
        self.undecoded += u64::from(text.contains('\u{fffd}'));
        self.misread += u64::from(is_misread(text));
        let is_control = |letter: char| letter.is_control() && !matches!(letter, '\n' | '\r' | '\t');
        self.controls += u64::from(text.contains(is_control));
    }

    pub(super) fn finish(&self, rows: u64, values: u64, distinct: Option<u64>) -> Vec<String> {
        let mut found = Vec::new();
        let mut say = |is_so: bool, what: String| {
            if is_so {
                found.push(what);
            }
        };
        say(rows > 0 && values == 0, "no values: every row is NULL".to_owned());
        say(
            values > 1 && distinct == Some(1),
            "the same value in every row that has one".to_owned(),
        );
        say(
            self.is_text && values > 0 && self.texts == 0,
            "every text is empty or blank".to_owned(),
        );
        let all = |number: u64| self.texts > 0 && number == self.texts;
        say(
            all(self.numbers) && self.codes == 0,
            "every text is a number".to_owned(),
        );
        say(
            all(self.numbers) && self.codes > 0,
            "every text is a number; as numbers, some would lose leading zeros".to_owned(),
        );
        say(all(self.dates), "every text is a date".to_owned());
        for (number, what) in [
            (self.padded, "begin with blanks"),
            (self.undecoded, "have letters that could not be decoded (U+FFFD)"),
            (
                self.misread,
                "look like UTF-8 that was read in another code page (--codepage, or ?encoding= of a CSV file, overrides it)",
            ),
            (self.controls, "have control characters"),
        ] {
            say(number > 0, format!("{number} of {} texts {what}", self.texts));
        }
        say(self.old > 0, format!("{} of {values} dates are before 1900", self.old));
        say(self.far > 0, format!("{} of {values} dates are after 2099", self.far));
        found
    }
}

/// A number as users write it: digits, one point or comma, perhaps a sign.
fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let mut marks = 0;
    let is_of_number = |byte: u8| {
        marks += usize::from(byte == b'.' || byte == b',');
        byte.is_ascii_digit() || byte == b'.' || byte == b','
    };
    digits.starts_with(|first: char| first.is_ascii_digit()) && digits.bytes().all(is_of_number) && marks <= 1
}

/// `2024-02-29`, `29.02.2024`, `2/29/2024`.
fn is_date(text: &str) -> bool {
    let separator = text.chars().find(|letter| !letter.is_ascii_digit());
    let Some(separator @ ('-' | '.' | '/')) = separator else {
        return false;
    };
    let parts: Vec<&str> = text.split(separator).collect();
    let has_digits = |part: &&str, lengths: &[usize]| {
        lengths.contains(&part.len()) && part.bytes().all(|digit| digit.is_ascii_digit())
    };
    match parts.as_slice() {
        [year, month, day] if year.len() == 4 => {
            has_digits(year, &[4]) && has_digits(month, &[1, 2]) && has_digits(day, &[1, 2])
        }
        [day, month, year] => has_digits(day, &[1, 2]) && has_digits(month, &[1, 2]) && has_digits(year, &[2, 4]),
        _ => false,
    }
}

/// Whether a text has two characters where UTF-8 has one: `Ã©` for é, `â€“` for a dash (in Windows-1252), `├®` (in code page 850).
fn is_misread(text: &str) -> bool {
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let next = letters.peek().copied().unwrap_or(' ');
        let is_pair = match letter {
            'Ã' | 'Â' => {
                ('\u{80}'..='\u{bf}').contains(&next)
                    || matches!(
                        next,
                        '€' | '‚'
                            | 'ƒ'
                            | '„'
                            | '…'
                            | '†'
                            | '‡'
                            | 'Š'
                            | 'Œ'
                            | 'Ž'
                            | '™'
                            | 'š'
                            | 'œ'
                            | 'ž'
                            | 'Ÿ'
                    )
            }
            'â' => matches!(next, '€' | '‚' | '„'),
            '├' | '┬' => {
                next.is_alphabetic()
                    || matches!(
                        next,
                        '®' | '©' | '¬' | '¡' | '¢' | '£' | '½' | '¼' | 'º' | 'ª' | '╝' | '╣' | '║' | '╗'
                    )
            }
            _ => false,
        };
        if is_pair {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_told_apart() {
        for (text, expected) in [
            ("12", true),
            ("-1.5", true),
            ("1,5", true),
            ("1.2.3", false),
            ("", false),
            ("12a", false),
            (".", false),
            ("1e5", false),
        ] {
            assert_eq!(is_number(text), expected, "{text}");
        }
        for (text, expected) in [
            ("2024-02-29", true),
            ("29.02.2024", true),
            ("2/29/24", true),
            ("1.5", false),
            ("2024", false),
            ("1-2-3", false),
            ("a-b-c", false),
        ] {
            assert_eq!(is_date(text), expected, "{text}");
        }
        for (text, expected) in [
            ("GarcÃ\u{ad}a", true),
            ("caf├®", true),
            ("â€“", true),
            ("García", false),
            ("SÃO PAULO", false),
            ("├──", false),
            ("Ârvore", false),
        ] {
            assert_eq!(is_misread(text), expected, "{text}");
        }
    }
}
