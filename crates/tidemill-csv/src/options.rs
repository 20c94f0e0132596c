//! What the user says of a file.

use percent_encoding::percent_decode_str;

use crate::error::{Error, Result};
use crate::{Encoding, encoding};

/// What the user says of a file; the rest is found out by [`Look::at`](crate::Look::at).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CsvOptions {
    /// The byte between two values.
    pub delimiter: Option<u8>,
    /// The byte around values that have delimiters or ends of lines in them; `Some(None)` for a file whose quotes are letters.
    pub quote: Option<Option<u8>>,
    /// Whether the first record has the names of the columns.
    pub header: Option<bool>,
    /// How letters are stored.
    pub encoding: Option<encoding::Encoding>,
    /// The byte before the fraction of a number: `.` or `,`.
    pub decimal: Option<u8>,
    /// Whether every column is text.
    pub all_text: bool,
}

impl CsvOptions {
    /// Nothing is said.
    pub const NONE: Self = Self {
        delimiter: None,
        quote: None,
        header: None,
        encoding: None,
        decimal: None,
        all_text: false,
    };

    /// Reads options as they stand behind a file's name: `delim=;&encoding=cp1252&header=no&quote=none&decimal=,&types=text`. Values may
    /// be percent-encoded: `delim=%26` is `&`.
    ///
    /// # Errors
    ///
    /// [`Error::Option`].
    ///
    /// ```
    /// use tidemill_csv::CsvOptions;
    ///
    /// let options = CsvOptions::parse("delim=tab&header=no")?;
    /// assert_eq!((options.delimiter, options.header), (Some(b'\t'), Some(false)));
    /// assert!(CsvOptions::parse("colour=red").is_err());
    /// # Ok::<(), tidemill_csv::Error>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self> {
        let mut options = Self::NONE;
        for pair in text.split('&').filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            let value = percent_decode_str(value).decode_utf8_lossy();
            let refused = |expected: &str| Error::Option {
                what: format!("{key}={value}: a value that this option of CSV does not take"),
                hint: format!("it takes {expected}"),
            };
            match key.to_ascii_lowercase().as_str() {
                "delim" | "delimiter" | "sep" => {
                    options.delimiter = Some(delimiter(&value).ok_or_else(|| refused("one ASCII letter, or tab"))?);
                }
                "quote" => {
                    options.quote = Some(match value.as_bytes() {
                        [] | b"none" => None,
                        [quote] if quote.is_ascii() => Some(*quote),
                        _ => return Err(refused("one ASCII letter, or none")),
                    });
                }
                "header" => options.header = Some(yes_or_no(&value).ok_or_else(|| refused("yes or no"))?),
                "encoding" => {
                    let encoding = value.parse::<Encoding>();
                    let expected = "utf-8, utf-16, or the name of a code page such as cp1252";
                    options.encoding = Some(encoding.map_err(|()| refused(expected))?);
                }
                "decimal" => {
                    options.decimal = Some(match value.as_bytes() {
                        b"." | b"point" => b'.',
                        b"," | b"comma" => b',',
                        _ => return Err(refused("point or comma")),
                    });
                }
                "types" => {
                    options.all_text = match &*value {
                        "text" => true,
                        "auto" => false,
                        _ => return Err(refused("text or auto")),
                    }
                }
                _ => {
                    return Err(Error::Option {
                        what: format!("{key}: an option that CSV files do not have"),
                        hint: "they have delim, quote, header, encoding, decimal and types".to_owned(),
                    });
                }
            }
        }
        let delimiter = options.delimiter;
        if delimiter.is_some()
            && (delimiter == options.quote.flatten() || delimiter == options.decimal.filter(|at| *at == b','))
        {
            return Err(Error::Option {
                what: format!("{text}: one letter with two meanings"),
                hint: "delim, quote and decimal must differ".to_owned(),
            });
        }
        Ok(options)
    }
}

fn delimiter(value: &str) -> Option<u8> {
    match value.as_bytes() {
        b"tab" | b"\\t" => Some(b'\t'),
        [byte] if byte.is_ascii() && !matches!(byte, b'\n' | b'\r' | b'"') => Some(*byte),
        _ => None,
    }
}

fn yes_or_no(value: &str) -> Option<bool> {
    match value.to_ascii_lowercase().as_str() {
        "yes" | "true" | "1" | "" => Some(true),
        "no" | "false" | "0" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_or_refused() {
        let all = CsvOptions::parse("delim=;&quote='&header=no&encoding=cp850&decimal=,&types=text").expect("options");
        assert_eq!(
            all,
            CsvOptions {
                delimiter: Some(b';'),
                quote: Some(Some(b'\'')),
                header: Some(false),
                encoding: "cp850".parse().ok(),
                decimal: Some(b','),
                all_text: true,
            }
        );
        assert_eq!(CsvOptions::parse("").expect("none"), CsvOptions::NONE);
        assert_eq!(CsvOptions::parse("delim=%26").expect("one").delimiter, Some(b'&'));
        for (text, part) in [
            ("delim=ab", "one ASCII letter"),
            ("delim=ü", "one ASCII letter"),
            ("quote=''", "or none"),
            ("header=perhaps", "yes or no"),
            ("encoding=martian", "code page"),
            ("decimal=;", "point or comma"),
            ("types=int", "text or auto"),
            ("separator=;", "they have delim"),
            ("delim=,&decimal=,", "two meanings"),
            ("delim=|&quote=|", "two meanings"),
        ] {
            let error = CsvOptions::parse(text).expect_err(text).to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
