//! Code pages: the bytes of character fields to and from text.
//!
//! A single-byte page is a table from the upper 128 bytes to UTF-8; ASCII never meets it. Multi-byte pages and UTF-8 go
//! through `encoding_rs`. A byte that a page leaves undefined, or that is not well formed, decodes to U+FFFD.
//!
//! Sources: tables of `oem_cp` (Microsoft's OEM pages) and `encoding_rs` (WHATWG Encoding); Mazovia and Kamenický
//! (cp895) after their published charts; the language byte after "Table File Structure (.dbc, .dbf, .frx, …)" of the
//! Visual FoxPro documentation and the list in the dBASE IV and ESRI documentation of LDIDs.
//!
//! This module does not collate: orders of national alphabets belong to the indexes.

use std::fmt;
use std::str::FromStr;
use std::sync::OnceLock;

use encoding_rs::Encoding;
use oem_cp::code_table::DECODING_TABLE_CP_MAP;
use oem_cp::code_table_type::TableType;

use crate::codepage_guess::Guess;
use crate::error::{Error, Result};

macro_rules! code_pages {
    ($($variant:ident, $name:literal, [$($alias:literal),*], $language:expr, $doc:literal;)*) => {
        /// How the bytes of a table's text are to be read.
        ///
        /// Names are parsed without regard to case, `-`, `_` and blanks: `cp850`, `850`, `IBM-850` and `ibm850` are one.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum CodePage { $(#[doc = $doc] $variant,)* }

        const PAGES: &[Page] = &[$(Page {
            page: CodePage::$variant, name: $name, aliases: &[$($alias),*], language: $language,
        },)*];
    };
}

struct Page {
    page: CodePage,
    name: &'static str,
    aliases: &'static [&'static str],
    /// The language byte to write, where there is one.
    language: Option<u8>,
}

code_pages! {
    Cp437, "cp437", ["437", "ibm437", "oem437"], Some(0x01), "US MS-DOS.";
    Cp737, "cp737", ["737", "ibm737", "cp437g"], Some(0x6A), "Greek MS-DOS.";
    Cp775, "cp775", ["775", "ibm775"], None, "Baltic MS-DOS.";
    Cp850, "cp850", ["850", "ibm850", "oem850"], Some(0x02), "Western European MS-DOS.";
    Cp852, "cp852", ["852", "ibm852", "oem852"], Some(0x64), "Central European MS-DOS.";
    Cp855, "cp855", ["855", "ibm855"], None, "Cyrillic MS-DOS.";
    Cp857, "cp857", ["857", "ibm857"], Some(0x6B), "Turkish MS-DOS.";
    Cp858, "cp858", ["858", "ibm858"], None, "Western European MS-DOS with the euro sign.";
    Cp860, "cp860", ["860", "ibm860"], Some(0x24), "Portuguese MS-DOS.";
    Cp861, "cp861", ["861", "ibm861"], Some(0x67), "Icelandic MS-DOS.";
    Cp862, "cp862", ["862", "ibm862"], None, "Hebrew MS-DOS.";
    Cp863, "cp863", ["863", "ibm863"], Some(0x6C), "Canadian French MS-DOS.";
    Cp864, "cp864", ["864", "ibm864"], None, "Arabic MS-DOS.";
    Cp865, "cp865", ["865", "ibm865"], Some(0x66), "Nordic MS-DOS.";
    Cp866, "cp866", ["866", "ibm866", "oem866"], Some(0x65), "Russian MS-DOS.";
    Cp869, "cp869", ["869", "ibm869"], None, "Modern Greek MS-DOS.";
    Cp874, "cp874", ["874", "windows874", "885911", "iso885911", "tis620"], Some(0x7C), "Thai Windows.";
    Cp895, "cp895", ["895", "kamenicky"], Some(0x68), "Kamenický, Czech MS-DOS.";
    Mazovia, "mazovia", ["cp620", "620", "cp790", "cp667"], Some(0x69), "Mazovia, Polish MS-DOS.";
    Cp1250, "cp1250", ["1250", "windows1250"], Some(0xC8), "Central European Windows.";
    Cp1251, "cp1251", ["1251", "windows1251"], Some(0xC9), "Cyrillic Windows.";
    Cp1252, "cp1252", ["1252", "windows1252", "ansi"], Some(0x03), "Western European Windows.";
    Cp1253, "cp1253", ["1253", "windows1253"], Some(0xCB), "Greek Windows.";
    Cp1254, "cp1254", ["1254", "windows1254", "88599", "iso88599", "latin5"], Some(0xCA), "Turkish Windows, which includes ISO 8859-9.";
    Cp1255, "cp1255", ["1255", "windows1255"], Some(0x7D), "Hebrew Windows.";
    Cp1256, "cp1256", ["1256", "windows1256"], Some(0x7E), "Arabic Windows.";
    Cp1257, "cp1257", ["1257", "windows1257"], Some(0xCC), "Baltic Windows.";
    Cp1258, "cp1258", ["1258", "windows1258"], None, "Vietnamese Windows.";
    Koi8R, "koi8-r", ["koi8"], None, "Russian Unix.";
    Koi8U, "koi8-u", [], None, "Ukrainian Unix.";
    Iso8859_1, "iso-8859-1", ["latin1", "88591", "isolatin1"], None, "Latin 1: every byte is the code point of its value.";
    Iso8859_2, "iso-8859-2", ["latin2", "88592"], None, "Latin 2, Central European.";
    Iso8859_3, "iso-8859-3", ["latin3", "88593"], None, "Latin 3, South European.";
    Iso8859_4, "iso-8859-4", ["latin4", "88594"], None, "Latin 4, North European.";
    Iso8859_5, "iso-8859-5", ["88595"], None, "Latin/Cyrillic.";
    Iso8859_6, "iso-8859-6", ["88596"], None, "Latin/Arabic.";
    Iso8859_7, "iso-8859-7", ["88597"], None, "Latin/Greek.";
    Iso8859_8, "iso-8859-8", ["88598"], None, "Latin/Hebrew.";
    Iso8859_10, "iso-8859-10", ["latin6", "885910"], None, "Latin 6, Nordic.";
    Iso8859_13, "iso-8859-13", ["latin7", "885913"], None, "Latin 7, Baltic Rim.";
    Iso8859_14, "iso-8859-14", ["latin8", "885914"], None, "Latin 8, Celtic.";
    Iso8859_15, "iso-8859-15", ["latin9", "885915"], None, "Latin 9, Latin 1 with the euro sign.";
    Iso8859_16, "iso-8859-16", ["latin10", "885916"], None, "Latin 10, South-Eastern European.";
    Macintosh, "macintosh", ["cp10000", "10000", "macroman"], Some(0x04), "Macintosh Roman.";
    MacCyrillic, "x-mac-cyrillic", ["cp10007", "10007", "maccyrillic"], Some(0x96), "Macintosh Cyrillic.";
    Utf8, "utf-8", ["cp65001", "65001"], None, "UTF-8.";
    Cp932, "cp932", ["932", "shiftjis", "sjis", "windows31j"], Some(0x7B), "Japanese Shift-JIS.";
    EucJp, "euc-jp", ["cp20932", "20932", "cp51932", "51932"], None, "Japanese EUC.";
    Cp936, "cp936", ["936", "gbk", "gb2312", "gb18030"], Some(0x7A), "Simplified Chinese GBK.";
    Cp949, "cp949", ["949", "euckr", "uhc"], Some(0x79), "Korean.";
    Cp950, "cp950", ["950", "big5"], Some(0x78), "Traditional Chinese Big5.";
}

impl CodePage {
    /// Every code page, in the order of their declaration.
    pub fn all() -> impl Iterator<Item = Self> {
        PAGES.iter().map(|page| page.page)
    }

    /// The canonical name, which [`FromStr`] reads back.
    pub fn name(self) -> &'static str {
        self.page().name
    }

    /// The code page that a table's language byte (offset 29 of the header) stands for; `None` for 0 and unknown bytes.
    pub fn from_language_byte(byte: u8) -> Option<Self> {
        Some(match byte {
            0x01 | 0x09 | 0x0B | 0x0D | 0x0F | 0x11 | 0x15 | 0x18 | 0x19 | 0x1B => Self::Cp437,
            0x02 | 0x0A | 0x0E | 0x10 | 0x12 | 0x14 | 0x16 | 0x1A | 0x1D | 0x25 | 0x37 => Self::Cp850,
            0x03 | 0x57 | 0x58 | 0x59 => Self::Cp1252,
            0x04 => Self::Macintosh,
            0x08 | 0x17 | 0x66 => Self::Cp865,
            0x13 | 0x7B => Self::Cp932,
            0x1C | 0x6C => Self::Cp863,
            0x1F | 0x22 | 0x23 | 0x40 | 0x64 | 0x87 => Self::Cp852,
            0x24 => Self::Cp860,
            0x26 | 0x65 => Self::Cp866,
            0x4D | 0x7A => Self::Cp936,
            0x4E | 0x79 => Self::Cp949,
            0x4F | 0x78 => Self::Cp950,
            0x50 | 0x7C => Self::Cp874,
            0x67 => Self::Cp861,
            0x68 => Self::Cp895,
            0x69 => Self::Mazovia,
            0x6A | 0x86 => Self::Cp737,
            0x6B | 0x88 => Self::Cp857,
            0x7D => Self::Cp1255,
            0x7E => Self::Cp1256,
            0x96 => Self::MacCyrillic,
            0xC8 => Self::Cp1250,
            0xC9 => Self::Cp1251,
            0xCA => Self::Cp1254,
            0xCB => Self::Cp1253,
            0xCC => Self::Cp1257,
            _ => return None,
        })
    }

    /// The language byte that a new table of this code page carries; `None` where no byte is published.
    pub fn language_byte(self) -> Option<u8> {
        self.page().language
    }

    /// The text of `bytes`. What is undefined in the code page becomes U+FFFD.
    pub fn decode(self, bytes: &[u8]) -> String {
        let mut text = Vec::with_capacity(bytes.len());
        self.decoder().decode_into(bytes, &mut text);
        String::from_utf8_lossy(&text).into_owned()
    }

    /// Appends the bytes of `text`.
    ///
    /// # Errors
    /// The first character that the code page does not have; `out` then holds what came before it.
    pub fn encode(self, text: &str, out: &mut Vec<u8>) -> Result<(), char> {
        if text.is_ascii() {
            out.extend_from_slice(text.as_bytes());
            return Ok(());
        }
        match self.decoder() {
            Decoder::Utf8 => out.extend_from_slice(text.as_bytes()),
            Decoder::Single(table) => {
                for c in text.chars() {
                    out.push(table.encode(c).ok_or(c)?);
                }
            }
            Decoder::Multi(encoding) => {
                let mut utf8 = [0; 4];
                for c in text.chars() {
                    let (bytes, _, unmappable) = encoding.encode(c.encode_utf8(&mut utf8));
                    if unmappable {
                        return Err(c);
                    }
                    out.extend_from_slice(&bytes);
                }
            }
        }
        Ok(())
    }

    /// Whether letters may be of several bytes.
    ///
    /// ```
    /// use tidemill_xbase::CodePage;
    ///
    /// assert!(CodePage::Cp932.is_multibyte());
    /// assert!(!CodePage::Cp850.is_multibyte());
    /// ```
    pub fn is_multibyte(self) -> bool {
        !matches!(self.decoder(), Decoder::Single(_))
    }

    /// The code page of texts that are not ASCII, by the look of their letters: UTF-8, or the page of Windows or DOS in which they make
    /// words; `usual` where that does not decide.
    ///
    /// ```
    /// use tidemill_xbase::CodePage;
    ///
    /// let words: [&[u8]; 3] = [b"M\x81ller", b"Stra\xE1e", b"K\x94ln"];
    /// assert_eq!(CodePage::guess(&words, CodePage::Cp1252), CodePage::Cp437);
    /// ```
    pub fn guess(texts: &[&[u8]], usual: Self) -> Self {
        Guess::of_texts(texts, usual).page(usual).0
    }

    pub(crate) fn decoder(self) -> Decoder {
        static TABLES: [OnceLock<Box<SingleByte>>; PAGES.len()] = [const { OnceLock::new() }; PAGES.len()];
        match self {
            Self::Utf8 => Decoder::Utf8,
            Self::Cp932 => Decoder::Multi(encoding_rs::SHIFT_JIS),
            Self::EucJp => Decoder::Multi(encoding_rs::EUC_JP),
            Self::Cp936 => Decoder::Multi(encoding_rs::GBK),
            Self::Cp949 => Decoder::Multi(encoding_rs::EUC_KR),
            Self::Cp950 => Decoder::Multi(encoding_rs::BIG5),
            _ => Decoder::Single(TABLES[self as usize].get_or_init(|| Box::new(SingleByte::new(self)))),
        }
    }

    fn page(self) -> &'static Page {
        &PAGES[self as usize]
    }
}

impl FromStr for CodePage {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let wanted = squeeze(name);
        PAGES
            .iter()
            .find(|page| squeeze(page.name) == wanted || page.aliases.contains(&wanted.as_str()))
            .map(|page| page.page)
            .ok_or_else(|| Error::UnknownCodePage { name: name.to_owned() })
    }
}

impl fmt::Display for CodePage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A code page made ready for a column.
#[derive(Clone, Copy)]
pub(crate) enum Decoder {
    Utf8,
    Single(&'static SingleByte),
    Multi(&'static Encoding),
}

impl Decoder {
    /// Appends the UTF-8 of `bytes`, which should not be all ASCII: callers have a faster way for that.
    pub(crate) fn decode_into(self, bytes: &[u8], out: &mut Vec<u8>) {
        match self {
            Self::Single(table) => table.decode_into(bytes, out),
            Self::Utf8 => match std::str::from_utf8(bytes) {
                Ok(text) => out.extend_from_slice(text.as_bytes()),
                Err(_) => out.extend_from_slice(String::from_utf8_lossy(bytes).as_bytes()),
            },
            Self::Multi(encoding) => {
                out.extend_from_slice(encoding.decode_without_bom_handling(bytes).0.as_bytes());
            }
        }
    }
}

/// The upper half of a single-byte page: UTF-8 in three bytes, its length in the fourth.
pub(crate) struct SingleByte {
    high: [[u8; 4]; 128],
    back: Vec<(char, u8)>,
}

impl SingleByte {
    fn new(page: CodePage) -> Self {
        let mut high = [[0; 4]; 128];
        let mut back = Vec::with_capacity(128);
        for (slot, byte) in high.iter_mut().zip(128..=255u8) {
            let c = high_char(page, byte);
            let mut utf8 = [0; 4];
            let len = c.encode_utf8(&mut utf8).len();
            *slot = [utf8[0], utf8[1], utf8[2], u8::try_from(len).unwrap_or(3)];
            if c != char::REPLACEMENT_CHARACTER {
                back.push((c, byte));
            }
        }
        back.sort_unstable();
        Self { high, back }
    }

    fn encode(&self, c: char) -> Option<u8> {
        if c.is_ascii() {
            return u8::try_from(c).ok();
        }
        let at = self.back.binary_search_by_key(&c, |entry| entry.0).ok()?;
        self.back.get(at).map(|entry| entry.1)
    }

    fn decode_into(&self, bytes: &[u8], out: &mut Vec<u8>) {
        // Each byte stores four and keeps one to three, so the end needs room for one byte more than the longest text.
        let start = out.len();
        out.resize(start + bytes.len() * 3 + 1, 0);
        let mut at = start;
        for &byte in bytes {
            let [a, b, c, len] = match byte {
                0..=0x7F => [byte, 0, 0, 1],
                _ => self.high[usize::from(byte & 0x7F)],
            };
            if let Some(slot) = out.get_mut(at..at + 4) {
                slot.copy_from_slice(&[a, b, c, 0]);
            }
            at += usize::from(len);
        }
        out.truncate(at);
    }
}

/// The character of a byte from 128 to 255.
fn high_char(page: CodePage, byte: u8) -> char {
    let overrides = match page {
        CodePage::Mazovia => MAZOVIA,
        CodePage::Cp895 => KAMENICKY,
        _ => &[],
    };
    if let Some(&(_, c)) = overrides.iter().find(|(at, _)| *at == byte) {
        return c;
    }
    if page == CodePage::Iso8859_1 {
        return char::from(byte);
    }
    if let Some(encoding) = encoding(page) {
        return encoding
            .decode_without_bom_handling(&[byte])
            .0
            .chars()
            .next()
            .unwrap_or(char::REPLACEMENT_CHARACTER);
    }
    let number = page
        .name()
        .trim_start_matches("cp")
        .parse()
        .ok()
        .filter(|_| overrides.is_empty())
        .unwrap_or(437u16);
    let at = usize::from(byte & 0x7F);
    match DECODING_TABLE_CP_MAP.get(&number) {
        Some(TableType::Complete(table)) => table[at],
        Some(TableType::Incomplete(table)) => table[at].unwrap_or(char::REPLACEMENT_CHARACTER),
        None => char::REPLACEMENT_CHARACTER,
    }
}

fn encoding(page: CodePage) -> Option<&'static Encoding> {
    Some(match page {
        CodePage::Cp874 => encoding_rs::WINDOWS_874,
        CodePage::Cp1250 => encoding_rs::WINDOWS_1250,
        CodePage::Cp1251 => encoding_rs::WINDOWS_1251,
        CodePage::Cp1252 => encoding_rs::WINDOWS_1252,
        CodePage::Cp1253 => encoding_rs::WINDOWS_1253,
        CodePage::Cp1254 => encoding_rs::WINDOWS_1254,
        CodePage::Cp1255 => encoding_rs::WINDOWS_1255,
        CodePage::Cp1256 => encoding_rs::WINDOWS_1256,
        CodePage::Cp1257 => encoding_rs::WINDOWS_1257,
        CodePage::Cp1258 => encoding_rs::WINDOWS_1258,
        CodePage::Koi8R => encoding_rs::KOI8_R,
        CodePage::Koi8U => encoding_rs::KOI8_U,
        CodePage::Iso8859_2 => encoding_rs::ISO_8859_2,
        CodePage::Iso8859_3 => encoding_rs::ISO_8859_3,
        CodePage::Iso8859_4 => encoding_rs::ISO_8859_4,
        CodePage::Iso8859_5 => encoding_rs::ISO_8859_5,
        CodePage::Iso8859_6 => encoding_rs::ISO_8859_6,
        CodePage::Iso8859_7 => encoding_rs::ISO_8859_7,
        CodePage::Iso8859_8 => encoding_rs::ISO_8859_8,
        CodePage::Iso8859_10 => encoding_rs::ISO_8859_10,
        CodePage::Iso8859_13 => encoding_rs::ISO_8859_13,
        CodePage::Iso8859_14 => encoding_rs::ISO_8859_14,
        CodePage::Iso8859_15 => encoding_rs::ISO_8859_15,
        CodePage::Iso8859_16 => encoding_rs::ISO_8859_16,
        CodePage::Macintosh => encoding_rs::MACINTOSH,
        CodePage::MacCyrillic => encoding_rs::X_MAC_CYRILLIC,
        _ => return None,
    })
}

fn squeeze(name: &str) -> String {
    name.chars()
        .filter(|c| !matches!(c, '-' | '_' | ' '))
        .flat_map(char::to_lowercase)
        .collect()
}

/// Where Mazovia differs from code page 437 (0x9B, "zł", has no single character and stays ¢).
const MAZOVIA: &[(u8, char)] = &[
    (0x86, 'ą'),
    (0x8D, 'ć'),
    (0x8F, 'Ą'),
    (0x90, 'Ę'),
    (0x91, 'ę'),
    (0x92, 'ł'),
    (0x95, 'Ć'),
    (0x98, 'Ś'),
    (0x9C, 'Ł'),
    (0x9E, 'ś'),
    (0xA0, 'Ź'),
    (0xA1, 'Ż'),
    (0xA3, 'Ó'),
    (0xA4, 'ń'),
    (0xA5, 'Ń'),
    (0xA6, 'ź'),
    (0xA7, 'ż'),
];

/// Where Kamenický differs from code page 437.
const KAMENICKY: &[(u8, char)] = &[
    (0x80, 'Č'),
    (0x83, 'ď'),
    (0x85, 'Ď'),
    (0x86, 'Ť'),
    (0x87, 'č'),
    (0x88, 'ě'),
    (0x89, 'Ě'),
    (0x8A, 'Ĺ'),
    (0x8B, 'Í'),
    (0x8C, 'ľ'),
    (0x8D, 'ĺ'),
    (0x8F, 'Á'),
    (0x91, 'ž'),
    (0x92, 'Ž'),
    (0x95, 'Ó'),
    (0x96, 'ů'),
    (0x97, 'Ú'),
    (0x98, 'ý'),
    (0x9B, 'Š'),
    (0x9C, 'Ľ'),
    (0x9D, 'Ý'),
    (0x9E, 'Ř'),
    (0x9F, 'ť'),
    (0xA4, 'ň'),
    (0xA5, 'Ň'),
    (0xA6, 'Ů'),
    (0xA7, 'Ô'),
    (0xA8, 'š'),
    (0xA9, 'ř'),
    (0xAA, 'ŕ'),
    (0xAB, 'Ŕ'),
    (0xAD, '§'),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_decode_to_the_text_of_their_page() {
        for (page, bytes, text) in [
            ("cp437", b"\x81\x8e\xe1\xff".as_slice(), "üÄß\u{a0}"),
            ("CP850", b"M\x81ller \x9b", "Müller ø"),
            ("852", b"\x88\xa9", "łę"),
            ("ibm-866", b"\x8f\xe0\xa8\xa2\xa5\xe2", "Привет"),
            ("windows-1251", b"\xcf\xf0\xe8", "При"),
            ("cp858", b"\xd5", "€"),
            ("latin1", b"\x80\xe4", "\u{80}ä"),
            ("mazovia", b"\x86\x92\xa7", "ąłż"),
            ("cp895", b"\x80\x87\xa8", "Ččš"),
            ("koi8-r", b"\xf0\xd2", "Пр"),
            ("gbk", b"\xc4\xe3\xba\xc3", "你好"),
            ("shift_jis", b"\x93\xfa\x96\x7b", "日本"),
            ("cp949", b"\xc7\xd1", "한"),
            ("cp950", b"\xa4\xa4", "中"),
            ("utf-8", "größe".as_bytes(), "größe"),
            ("utf-8", b"a\xff", "a\u{fffd}"),
            ("cp857", b"a\xd5", "a\u{fffd}"),
        ] {
            assert_eq!(page.parse::<CodePage>().unwrap().decode(bytes), text, "{page}");
        }
    }

    #[test]
    fn every_page_has_a_name_that_parses_back_and_encodes_what_it_decodes() {
        for page in CodePage::all() {
            assert_eq!(page.to_string().parse::<CodePage>().unwrap(), page);
            if let Some(byte) = page.language_byte() {
                assert_eq!(CodePage::from_language_byte(byte), Some(page), "{page}");
            }
            if let Decoder::Single(_) = page.decoder() {
                for byte in 0..=255u8 {
                    let text = page.decode(&[byte]);
                    if text != "\u{fffd}" {
                        let mut back = Vec::new();
                        page.encode(&text, &mut back).unwrap();
                        assert_eq!(page.decode(&back), text, "{page} {byte:#x}");
                    }
                }
            }
        }
    }

    #[test]
    fn what_a_page_lacks_is_named() {
        for (page, text, lacking) in [("cp437", "a€", '€'), ("cp1252", "ф", 'ф'), ("gbk", "a😀", '😀')] {
            assert_eq!(
                page.parse::<CodePage>().unwrap().encode(text, &mut Vec::new()),
                Err(lacking)
            );
        }
        assert!("cp4711".parse::<CodePage>().unwrap_err().to_string().contains("cp4711"));
    }
}
