//! The settings that expressions depend on: what `SET …` sets in a program.

use std::sync::Arc;

use super::letters::Letters;
use crate::codepage::CodePage;

/// In which order a date is written: `SET DATE`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DateOrder {
    /// `MM/DD/YY`: AMERICAN. Default.
    #[default]
    MonthDayYear,
    /// `DD/MM/YY`: BRITISH, FRENCH; GERMAN and ITALIAN with another separator.
    DayMonthYear,
    /// `YY/MM/DD`: ANSI, JAPAN.
    YearMonthDay,
}

/// The settings under which an expression is compiled.
#[derive(Debug, Clone, PartialEq)]
pub struct Environment {
    pub(crate) codepage: CodePage,
    pub(crate) exact: bool,
    pub(super) decimals: u8,
    pub(super) epoch: i32,
    pub(super) date_order: DateOrder,
    pub(super) date_separator: u8,
    pub(super) century: bool,
    pub(crate) letters: Letters,
    pub(crate) weights: Option<Arc<[u8; 256]>>,
    pub(super) now: i64,
    pub(super) alias: Option<String>,
    /// Whether the keys of an index are made as Visual FoxPro makes them.
    pub(crate) is_foxpro: bool,
}

impl Environment {
    /// Every setting at its default, for a table whose text is in this code page.
    pub fn new(codepage: CodePage) -> Self {
        Self {
            codepage,
            exact: false,
            decimals: 2,
            epoch: 1900,
            date_order: DateOrder::default(),
            date_separator: b'/',
            century: false,
            letters: Letters::ascii(),
            weights: None,
            now: 0,
            alias: None,
            is_foxpro: false,
        }
    }

    /// As [`Environment::new`], with all letters of the code page, as FoxPro and ADS know them.
    pub fn with_all_letters(codepage: CodePage) -> Self {
        Self::new(codepage).letters(Letters::of(codepage))
    }

    /// The code page.
    pub fn codepage(&self) -> CodePage {
        self.codepage
    }

    /// The capital of a letter, which is of the code page if the letter is; what has none stays.
    pub fn capital(&self, letter: char) -> char {
        self.letters.capital(self.codepage, letter)
    }

    /// The small letter of a capital, as [`Self::capital`].
    pub fn small(&self, letter: char) -> char {
        self.letters.small(self.codepage, letter)
    }

    /// `SET EXACT`: whether `=` compares whole texts. Default: false.
    #[must_use]
    pub fn exact(mut self, exact: bool) -> Self {
        self.exact = exact;
        self
    }

    /// `SET DECIMALS`: the digits after the point that `STR()` shows of quotients, powers and roots, at most 15.
    /// Default: 2.
    #[must_use]
    pub fn decimals(mut self, decimals: u8) -> Self {
        self.decimals = decimals.min(15);
        self
    }

    /// `SET EPOCH`: the first of the hundred years that a year of two digits can mean. Default: 1900.
    #[must_use]
    pub fn epoch(mut self, year: u16) -> Self {
        self.epoch = i32::from(year.min(9900));
        self
    }

    /// `SET DATE` and `SET CENTURY`: how `DTOC()` writes and `CTOD()` reads. Default: `MM/DD/YY`.
    #[must_use]
    pub fn date_format(mut self, order: DateOrder, separator: u8, century: bool) -> Self {
        (self.date_order, self.date_separator, self.century) = (order, separator, century);
        self
    }

    /// What `UPPER()`, `LOWER()` and `ISALPHA()` know as letters. Default: ASCII, as Clipper and Harbour's `EN`.
    #[must_use]
    pub fn letters(mut self, letters: Letters) -> Self {
        self.letters = letters;
        self
    }

    /// The place of each byte in the collation, for `<`, `>` and their kin, `MAX` and `COLLATE()`. Bytes of equal weight
    /// are not equal texts: they then compare by value. Default: none, by bytes.
    #[must_use]
    pub fn weights(mut self, weights: Option<Arc<[u8; 256]>>) -> Self {
        self.weights = weights;
        self
    }

    /// The name that fields of this table may have before `->`; under another one they are refused. `FIELD` and `_FIELD`
    /// are always understood. Default: none, every alias but `M` and `MEMVAR` means this table.
    #[must_use]
    pub fn alias(mut self, alias: &str) -> Self {
        self.alias = Some(alias.to_ascii_uppercase());
        self
    }

    /// Whether keys are made as Visual FoxPro makes them: `STR(n)` has 10 digits whatever the width of the field, and fewer decimals where
    /// those asked for do not fit; moments are whole seconds; stars in a number are higher than every number. Default: false, as Clipper
    /// and Harbour.
    #[must_use]
    pub(crate) fn foxpro(mut self, is_foxpro: bool) -> Self {
        self.is_foxpro = is_foxpro;
        self
    }

    /// The clock, in milliseconds since 1970-01-01 00:00 local time, for `DATE()`, `TIME()` and `NOW()`: it is asked for
    /// here, so that all records see the same. Default: 1970-01-01 00:00.
    #[must_use]
    pub fn now(mut self, unix_ms: i64) -> Self {
        self.now = unix_ms;
        self
    }
}
