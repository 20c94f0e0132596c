//! The text that says how to connect: `Data Source=folder;TableType=ADT;…` (SAP's help, "AdsConnect101").

use tidemill_ads::{DateFormat, ErrorCode, Result, by_bytes};

use crate::call::refuse;
use crate::connection::table_of_its_own;
use crate::constants::*;
use crate::handle::{Handle, Session};
use crate::pointers::Out;
use crate::settings::{MOST_DECIMALS, change};

/// How [`AdsOpenTable101`](crate::AdsOpenTable101) opens tables of a connection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Opening {
    pub(crate) table_type: u16,
    pub(crate) char_type: u16,
    pub(crate) lock_type: u16,
    pub(crate) mode: u32,
    /// Whether trailing blanks of texts are removed.
    pub(crate) trims: bool,
}

impl Default for Opening {
    fn default() -> Self {
        Self {
            table_type: ADS_DEFAULT,
            char_type: ADS_ANSI,
            lock_type: ADS_COMPATIBLE_LOCKING,
            mode: ADS_SHARED,
            trims: false,
        }
    }
}

/// What the text of a connection asks for.
#[derive(Debug)]
pub(crate) struct Wishes {
    opening: Opening,
    date_format: Option<DateFormat>,
    is_exact: Option<bool>,
    sql_timeout: Option<u32>,
    application: Option<String>,
    decimals: Option<u16>,
    epoch: Option<u16>,
    shows_deleted: Option<bool>,
}

impl Wishes {
    /// Fulfils them. Decimals, the epoch and whether deleted records are shown are those of the program (SAP's help, "AdsSetEpoch"), the
    /// others the connection's own.
    pub(crate) fn fulfil(self, session: &mut Session) {
        session.opening = self.opening;
        if let Some(format) = self.date_format {
            session.settings.set_date_format(format);
        }
        if let Some(is_exact) = self.is_exact {
            session.settings.set_exact(is_exact);
        }
        if let Some(seconds) = self.sql_timeout {
            session.sql_timeout = seconds;
        }
        if let Some(application) = &self.application {
            session.connection.set_application(application);
        }
        if self.decimals.is_some() || self.epoch.is_some() || self.shows_deleted.is_some() {
            change(|settings| {
                settings.decimals = self.decimals.unwrap_or(settings.decimals);
                settings.epoch = self.epoch.unwrap_or(settings.epoch);
                settings.show_deleted = self.shows_deleted.unwrap_or(settings.show_deleted);
            });
        }
    }
}

/// The names and values of a text, in its order.
#[derive(Debug)]
pub(crate) struct ConnectString(Vec<(String, String)>);

impl ConnectString {
    /// Takes a text apart. A value in single or double quotes may have semicolons and quotes of the other kind; so may a part of one that
    /// stands behind `=` or a comma.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidOption`] for what has no `=`, and for a quote that does not end.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let mut parts = Vec::new();
        let mut rest = text;
        while !rest.trim_start().is_empty() {
            let len = length_of_part(rest)?;
            let part = rest.get(..len).unwrap_or_default().trim();
            rest = rest.get(len + 1..).unwrap_or_default();
            match part.split_once('=') {
                Some((name, value)) => parts.push((name.trim().to_owned(), unquoted(value.trim()).to_owned())),
                None if part.is_empty() => {}
                None => {
                    let what = format!("{part:?} in the text of the connection is no name with = and a value");
                    return refuse(ErrorCode::InvalidOption, what);
                }
            }
        }
        Ok(Self(parts))
    }

    /// A value. Neither case nor blanks of names matter, and of several values of a name the last one counts.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let (_, value) = self.0.iter().rev().find(|(known, _)| is_name(known, name))?;
        Some(value)
    }

    /// A value that is TRUE or FALSE.
    pub(crate) fn flag(&self, name: &str) -> Result<Option<bool>> {
        let yes_or_no = |value: &str| match value.trim().to_ascii_uppercase().as_str() {
            "TRUE" | "YES" | "1" => Ok(Some(true)),
            "FALSE" | "NO" | "0" | "" => Ok(Some(false)),
            _ => self.wrong(name, "TRUE or FALSE"),
        };
        self.get(name).map_or(Ok(None), yes_or_no)
    }

    fn number<T: std::str::FromStr>(&self, name: &str) -> Result<Option<T>> {
        match self.get(name).map(|value| value.trim().parse()) {
            None => Ok(None),
            Some(Ok(number)) => Ok(Some(number)),
            Some(Err(_)) => self.wrong(name, "a number"),
        }
    }

    /// One of some words, which may have `ADS_` before them.
    fn word(&self, name: &str, words: &[(&str, u16)]) -> Result<Option<u16>> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let value = value.trim().to_ascii_uppercase();
        let value = value.strip_prefix("ADS_").unwrap_or(&value);
        match words.iter().find(|(word, _)| *word == value) {
            Some((_, number)) => Ok(Some(*number)),
            None => {
                let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
                self.wrong(name, &words.join(", "))
            }
        }
    }

    fn wrong<T>(&self, name: &str, wanted: &str) -> Result<T> {
        let value = self.get(name).unwrap_or_default();
        refuse(
            ErrorCode::InvalidOption,
            format!("{name}={value} in the text of the connection: it must be {wanted}"),
        )
    }

    /// What it asks for besides the place and the user.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidOption`] for values that cannot be; [`ErrorCode::UnsupportedCollation`]; [`ErrorCode::NotImplemented`] for what
    /// protects tables and is not served; as [`DateFormat::new`].
    pub(crate) fn wishes(&self) -> Result<Wishes> {
        if self
            .get("EncryptionPassword")
            .is_some_and(|password| !password.is_empty())
        {
            let what = "EncryptionPassword in the text of the connection: tables are not encrypted here";
            return refuse(ErrorCode::NotImplemented, what);
        }
        if self.flag("CheckFreeTableAccess")? == Some(true) {
            let what = "CheckFreeTableAccess=TRUE in the text of the connection: free tables are not kept from a connection to a dictionary";
            return refuse(ErrorCode::NotImplemented, what);
        }
        by_bytes(self.get("Collation").filter(|name| !name.trim().is_empty()))?;
        let decimals = self.number("Decimals")?;
        if decimals.is_some_and(|decimals: u16| decimals > MOST_DECIMALS) {
            return self.wrong("Decimals", "at most 20");
        }
        Ok(Wishes {
            opening: self.opening()?,
            date_format: self.get("DateFormat").map(DateFormat::new).transpose()?,
            is_exact: self.flag("Exact")?,
            sql_timeout: self.number("SQLTimeout")?,
            application: self.get("ApplicationID").map(str::to_owned),
            decimals,
            epoch: self.number("Epoch")?,
            shows_deleted: self.flag("ShowDeleted")?,
        })
    }

    fn opening(&self) -> Result<Opening> {
        let default = Opening::default();
        let types = [
            ("ADT", ADS_ADT),
            ("VFP", ADS_VFP),
            ("CDX", ADS_CDX),
            ("NTX", ADS_NTX),
            ("DEFAULT", ADS_DEFAULT),
            ("", ADS_DEFAULT),
        ];
        let locks = [
            ("COMPATIBLE", ADS_COMPATIBLE_LOCKING),
            ("PROPRIETARY", ADS_PROPRIETARY_LOCKING),
        ];
        let char_type = match self.get("CharType").map(unprefixed) {
            None | Some("") => default.char_type,
            Some(name) if name.eq_ignore_ascii_case("OEM") => ADS_OEM,
            Some(name) if name.eq_ignore_ascii_case("ANSI") => ADS_ANSI,
            Some(collation) => by_bytes(Some(collation)).map(|()| default.char_type)?,
        };
        let is_read_only = self.flag("ReadOnly")?.unwrap_or(false);
        let is_shared = self.flag("Shared")?.unwrap_or(true);
        Ok(Opening {
            table_type: self.word("TableType", &types)?.unwrap_or(default.table_type),
            char_type,
            lock_type: self.word("LockMode", &locks)?.unwrap_or(default.lock_type),
            mode: match (is_read_only, is_shared) {
                (true, _) => ADS_READONLY,
                (false, true) => ADS_SHARED,
                (false, false) => ADS_EXCLUSIVE,
            },
            trims: self.flag("TrimTrailingSpaces")?.unwrap_or(default.trims),
        })
    }

    /// A table in memory with a record for each option, on a connection of its own that is closed with it.
    pub(crate) fn table(&self, answer: Out<Handle>) -> Result<()> {
        table_of_its_own("options", "Name,Character,50;Value,Memo", answer, |table, settings| {
            for (name, value) in &self.0 {
                table.append_record()?;
                table.set_text(0, name.as_bytes(), settings)?;
                table.set_text(1, value.as_bytes(), settings)?;
                table.write_record()?;
            }
            Ok(())
        })
    }
}

fn is_name(given: &str, name: &str) -> bool {
    let letters = |text: &str| -> Vec<char> {
        text.chars()
            .filter(|letter| !letter.is_whitespace())
            .map(|letter| letter.to_ascii_uppercase())
            .collect()
    };
    letters(given) == letters(name)
}

fn unprefixed(value: &str) -> &str {
    let value = value.trim();
    match value.get(..4) {
        Some(prefix) if prefix.eq_ignore_ascii_case("ADS_") => value.get(4..).unwrap_or_default(),
        _ => value,
    }
}

/// How long a part is that ends with a semicolon or the text.
fn length_of_part(text: &str) -> Result<usize> {
    let (mut quote, mut before) = (None, ' ');
    for (at, letter) in text.char_indices() {
        match (quote, letter) {
            (None, ';') => return Ok(at),
            (None, '\'' | '"') if matches!(before, '=' | ',') => quote = Some(letter),
            (Some(open), _) if letter == open => quote = None,
            _ => {}
        }
        if !letter.is_whitespace() {
            before = letter;
        }
    }
    match quote {
        None => Ok(text.len()),
        Some(quote) => {
            let what = format!("a quote ({quote}) in the text of the connection does not end");
            refuse(ErrorCode::InvalidOption, what)
        }
    }
}

fn unquoted(value: &str) -> &str {
    let between = |quote| value.strip_prefix(quote)?.strip_suffix(quote);
    between('"').or_else(|| between('\'')).unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str, name: &str) -> Option<String> {
        let parsed = ConnectString::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        parsed.get(name).map(str::to_owned)
    }

    #[test]
    fn values_are_taken_out_of_their_text() {
        for (text, name, expected) in [
            (
                "Data Source=/srv/data;ServerType=LOCAL",
                "Data Source",
                Some("/srv/data"),
            ),
            (" data  source = /srv/data ;", "Data Source", Some("/srv/data")),
            ("DATASOURCE=/srv/data", "Data Source", Some("/srv/data")),
            (
                "Data Source='/srv/a;b';ServerType=LOCAL",
                "Data Source",
                Some("/srv/a;b"),
            ),
            ("Data Source='/srv/a;b';ServerType=LOCAL", "ServerType", Some("LOCAL")),
            ("Password=\"it's\"", "Password", Some("it's")),
            ("Password='say \"x;y\"'", "Password", Some("say \"x;y\"")),
            (
                "Data Source=/srv/o'brien;User ID=me",
                "Data Source",
                Some("/srv/o'brien"),
            ),
            ("Data Source=/srv/o'brien;User ID=me", "User ID", Some("me")),
            ("Password=a=b", "Password", Some("a=b")),
            ("TableType=CDX;TableType=ADT", "TableType", Some("ADT")),
            (
                "EncryptionPassword=a=\"x;y\",b='z;';ReadOnly=TRUE",
                "EncryptionPassword",
                Some("a=\"x;y\",b='z;'"),
            ),
            (
                "EncryptionPassword=a=\"x;y\",b='z;';ReadOnly=TRUE",
                "ReadOnly",
                Some("TRUE"),
            ),
            ("Password=", "Password", Some("")),
            (";;Password=x;;", "Password", Some("x")),
            ("Password=ü;User ID=é", "User ID", Some("é")),
            ("", "Password", None),
        ] {
            assert_eq!(value(text, name).as_deref(), expected, "{name} of {text}");
        }
    }

    #[test]
    fn texts_that_are_none_are_refused() {
        for text in ["Data Source", "Data Source='/srv", "Password=\"x';ReadOnly=TRUE"] {
            let error = ConnectString::parse(text).expect_err(text);
            assert_eq!(error.code(), ErrorCode::InvalidOption, "{text}");
        }
    }

    #[test]
    fn options_say_how_tables_are_opened() {
        let opening = |text: &str| {
            ConnectString::parse(text)
                .and_then(|parsed| parsed.wishes())
                .map(|wishes| wishes.opening)
        };
        let opened = opening("TableType=ADS_adt;CharType=OEM;LockMode=Proprietary;ReadOnly=TRUE").expect("it is one");
        assert_eq!(
            (opened.table_type, opened.char_type, opened.lock_type, opened.mode),
            (ADS_ADT, ADS_OEM, ADS_PROPRIETARY_LOCKING, ADS_READONLY)
        );
        assert_eq!(opening("Shared=FALSE").expect("it is one").mode, ADS_EXCLUSIVE);
        assert_eq!(opening("Shared=TRUE").expect("it is one").mode, ADS_SHARED);
        for (text, code) in [
            ("TableType=DBF", ErrorCode::InvalidOption),
            ("ReadOnly=perhaps", ErrorCode::InvalidOption),
            ("LockMode=x", ErrorCode::InvalidOption),
            ("CharType=GERMAN_VFP_CI_AS_1252", ErrorCode::UnsupportedCollation),
            ("Collation=GERMAN_VFP_CI_AS_1252", ErrorCode::UnsupportedCollation),
            ("EncryptionPassword=x", ErrorCode::NotImplemented),
            ("CheckFreeTableAccess=TRUE", ErrorCode::NotImplemented),
        ] {
            assert_eq!(opening(text).expect_err(text).code(), code, "{text}");
        }
    }
}
