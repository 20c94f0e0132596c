//! Creates, describes and rebuilds full-text indexes ("AdsCreateFTSIndex" and the related pages of SAP's help).

use tidemill_ads::{Error, ErrorCode, OrderId, Result, WorkArea};
use tidemill_xbase::full_text::{
    DEFAULT_CONDITIONALS, DEFAULT_DELIMITERS, DEFAULT_DROP_CHARS, DEFAULT_NOISE, FullTextOptions, Listed,
};

use crate::call::{call, refuse};
use crate::callback::watched;
use crate::connection::put_all;
use crate::constants::*;
use crate::handle::{Handle, Session, with_any, with_area, with_order};
use crate::pointers::{Bytes, Name, Out};
use crate::settings::settings;
use crate::table::sorted_by_bytes;

/// Makes a full-text index of a field. The page size is the format's own, and words are sorted by their bytes.
#[unsafe(no_mangle)]
pub extern "C" fn AdsCreateFTSIndex(
    table: Handle,
    file: Name,
    tag: Name,
    field: Name,
    _page_size: u32,
    min_word: u32,
    max_word: u32,
    with_delimiters: u16,
    delimiters: Bytes,
    with_noise: u16,
    noise: Bytes,
    with_drop_chars: u16,
    drop_chars: Bytes,
    with_conditionals: u16,
    conditionals: Bytes,
    collation: Name,
    _reserved: Name,
    options: u32,
) -> u32 {
    call(|| {
        sorted_by_bytes(collation)?;
        let mut words = given_words(options & !ADS_COMPOUND)?;
        with_any(table, |session, area, _| {
            let codepage = session.connection.area(area)?.program_codepage();
            let listed = |with_defaults: u16, text: Bytes| {
                let own = match options & (ADS_FTS_ENCODE_UTF8 | ADS_FTS_ENCODE_UTF16) {
                    _ if text.is_null() => String::new(),
                    ADS_FTS_ENCODE_UTF8 => utf8(text.read_text().unwrap_or_default())?,
                    ADS_FTS_ENCODE_UTF16 => text.as_wide_name().needed()?,
                    0 => codepage.decode(text.read_text().unwrap_or_default()),
                    _ => return refuse(ErrorCode::InvalidOption, "a text is either UTF-8 or UTF-16"),
                };
                Ok(Listed {
                    with_defaults: with_defaults != 0,
                    own,
                })
            };
            words.delimiters = listed(with_delimiters, delimiters)?;
            words.noise = listed(with_noise, noise)?;
            words.drop_chars = listed(with_drop_chars, drop_chars)?;
            words.conditionals = listed(with_conditionals, conditionals)?;
            let length = |length: u32| {
                let why = move |_| Error::new(ErrorCode::InvalidOption, format!("no word has {length} letters"));
                u16::try_from(length).map_err(why)
            };
            (words.min_word, words.max_word) = (length(min_word)?, length(max_word)?);
            let tag = tag.text()?.unwrap_or_default();
            create(session, area, (file, &tag), &field.needed()?, &words).map(drop)
        })
    })
}

/// The options that bits of [`AdsCreateFTSIndex`] say.
pub(crate) fn given_words(options: u32) -> Result<FullTextOptions> {
    const TAKEN: u32 = ADS_FTS_INDEX
        | ADS_FTS_FIXED
        | ADS_FTS_CASE_SENSITIVE
        | ADS_FTS_KEEP_SCORE
        | ADS_FTS_PROTECT_NUMBERS
        | ADS_FTS_ENCODE_UTF8
        | ADS_FTS_ENCODE_UTF16
        | ADS_ONLINE;
    match options & !TAKEN {
        0 => Ok(FullTextOptions {
            is_fixed: options & ADS_FTS_FIXED != 0,
            is_case_sensitive: options & ADS_FTS_CASE_SENSITIVE != 0,
            keeps_score: options & ADS_FTS_KEEP_SCORE != 0,
            protects_numbers: options & ADS_FTS_PROTECT_NUMBERS != 0,
            ..FullTextOptions::default()
        }),
        bits => refuse(
            ErrorCode::InvalidOption,
            format!("{bits:#x} is no option of a full text index"),
        ),
    }
}

/// Makes a full-text index in the file of this name, or the one that opens with the table.
pub(crate) fn create(
    session: &mut Session,
    area: tidemill_ads::AreaId,
    (file, tag): (Name, &str),
    field: &str,
    words: &FullTextOptions,
) -> Result<OrderId> {
    let settings = settings();
    let known = session.connection.area(area)?;
    let (extension, beside) = (known.options().table_type.index_extension(), known.path().to_owned());
    let path = match file.text()?.filter(|file| !file.trim().is_empty()) {
        Some(file) => Some(session.connection.index_path(&file, extension, &beside, &settings)?),
        None => None,
    };
    let known = session.connection.area(area)?;
    let made = known.create_full_text_index(path.as_deref(), tag.trim(), field.trim(), words, &watched());
    session.forget_orders(area);
    made
}

fn utf8(bytes: &[u8]) -> Result<String> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(text.trim_start_matches('\u{FEFF}').to_owned()),
        Err(_) => refuse(ErrorCode::InvalidValue, "the text is no UTF-8"),
    }
}

/// How many full-text indexes are open.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetNumFTSIndexes(table: Handle, answer: Out<u16>) -> u32 {
    call(|| {
        with_area(table, |area| {
            let count = area.full_text_orders().count();
            answer.set(u16::try_from(count).unwrap_or(u16::MAX))
        })
    })
}

/// The open full-text indexes.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetFTSIndexes(table: Handle, indexes: Out<Handle>, len: Out<u16>) -> u32 {
    call(|| {
        with_any(table, |session, area, _| {
            let open: Vec<OrderId> = session.connection.area(area)?.full_text_orders().collect();
            let handles = open.into_iter().map(|order| session.index_handle(area, order));
            put_all(&handles.collect::<Result<Vec<_>>>()?, indexes, len)
        })
    })
}

/// What a full-text index is made of: the name of its field, its delimiters, noise words, drop characters and conditional ones.
struct Info {
    texts: [String; 5],
    min_word: u32,
    max_word: u32,
    options: u32,
}

impl Info {
    fn of(area: &WorkArea, order: OrderId) -> Result<Self> {
        let words = area.full_text_options(order)?;
        let tag = area.order_tag(order)?;
        Ok(Self {
            texts: [
                tag.expression,
                words.delimiters.characters(DEFAULT_DELIMITERS),
                words.noise.words(DEFAULT_NOISE),
                words.drop_chars.characters(DEFAULT_DROP_CHARS),
                words.conditionals.characters(DEFAULT_CONDITIONALS),
            ],
            min_word: words.min_word.into(),
            max_word: words.max_word.into(),
            options: words.option_bits(),
        })
    }

    /// Writes the numbers that are asked for.
    fn put_numbers(&self, min_word: Out<u32>, max_word: Out<u32>, options: Out<u32>) -> Result<()> {
        for (place, number) in [
            (min_word, self.min_word),
            (max_word, self.max_word),
            (options, self.options),
        ] {
            if !place.is_null() {
                place.set(number)?;
            }
        }
        Ok(())
    }
}

/// Stores where each text begins. A null pointer is skipped.
fn point<T: Copy>(places: [Out<T>; 5], begins: [T; 5]) -> Result<()> {
    for (place, begin) in places.into_iter().zip(begins) {
        if !place.is_null() {
            place.set(begin)?;
        }
    }
    Ok(())
}

/// The offsets of texts that follow one another, each ended by a zero.
fn begins<T>(texts: &[Vec<T>; 5]) -> [usize; 5] {
    let mut end = 0;
    texts.each_ref().map(|text| {
        let begin = end;
        end += text.len() + 1;
        begin
    })
}

/// How the words of a full-text index are made. All texts stand in one buffer, and the pointers lead there.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetFTSIndexInfo(
    index: Handle,
    output: Bytes,
    len: Out<u32>,
    field: Out<Bytes>,
    min_word: Out<u32>,
    max_word: Out<u32>,
    delimiters: Out<Bytes>,
    noise: Out<Bytes>,
    drop_chars: Out<Bytes>,
    conditionals: Out<Bytes>,
    _reserved1: Out<Bytes>,
    _reserved2: Out<Bytes>,
    options: Out<u32>,
) -> u32 {
    call(|| {
        with_order(index, |session, area, order| {
            let area = session.connection.area(area)?;
            let info = Info::of(area, order)?;
            info.put_numbers(min_word, max_word, options)?;
            let codepage = area.program_codepage();
            let texts = info.texts.each_ref().map(|text| {
                let mut bytes = Vec::new();
                // What is in the header of the tag came of the table's code page.
                for letter in text.chars() {
                    if codepage.encode(letter.encode_utf8(&mut [0; 4]), &mut bytes).is_err() {
                        bytes.push(b'?');
                    }
                }
                bytes
            });
            let begins = begins(&texts).map(|begin| output.at(begin));
            output.put(&texts.map(|text| [text, vec![0]].concat()).concat(), len)?;
            point([field, delimiters, noise, drop_chars, conditionals], begins)
        })
    })
}

/// As [`AdsGetFTSIndexInfo`], in UTF-16: the length is that of units.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetFTSIndexInfoW(
    index: Handle,
    output: Out<u16>,
    len: Out<u32>,
    field: Out<Out<u16>>,
    min_word: Out<u32>,
    max_word: Out<u32>,
    delimiters: Out<Out<u16>>,
    noise: Out<Out<u16>>,
    drop_chars: Out<Out<u16>>,
    conditionals: Out<Out<u16>>,
    _reserved1: Out<Out<u16>>,
    _reserved2: Out<Out<u16>>,
    options: Out<u32>,
) -> u32 {
    call(|| {
        with_order(index, |session, area, order| {
            let info = Info::of(session.connection.area(area)?, order)?;
            info.put_numbers(min_word, max_word, options)?;
            let texts = info
                .texts
                .each_ref()
                .map(|text| text.encode_utf16().collect::<Vec<u16>>());
            let begins = begins(&texts).map(|begin| output.at(begin));
            Bytes::put_wide(output, &texts.map(|text| [text, vec![0]].concat()).concat(), len)?;
            point([field, delimiters, noise, drop_chars, conditionals], begins)
        })
    })
}

/// Rebuilds the index files that contain only full-text indexes. The format sets the page size.
#[unsafe(no_mangle)]
pub extern "C" fn AdsReindexFTS(object: Handle, _page_size: u32) -> u32 {
    call(|| with_area(object, |area| area.reindex_full_text(&watched())))
}

/// How often a word is in the text of a record: by `ADS_SOFTSEEK` one that begins so. Its page is not in the help, and what it gives
/// follows from its parameters.
#[unsafe(no_mangle)]
pub extern "C" fn AdsGetFTSScore(
    index: Handle,
    record: u32,
    key: Bytes,
    key_len: u16,
    data_type: u16,
    seek_type: u16,
    score: Out<u32>,
) -> u32 {
    call(|| {
        let bytes = key.read(key_len.into())?;
        if !matches!(data_type, ADS_STRINGKEY | ADS_RAWKEY) {
            return refuse(
                ErrorCode::InvalidOption,
                format!("{data_type} is no type of a word: ADS_STRINGKEY is"),
            );
        }
        let is_beginning = match seek_type {
            ADS_HARDSEEK => false,
            ADS_SOFTSEEK => true,
            other => {
                return refuse(
                    ErrorCode::InvalidOption,
                    format!("{other} is no way to look for a word"),
                );
            }
        };
        with_order(index, |session, area, order| {
            let area = session.connection.area(area)?;
            let word = area.program_codepage().decode(bytes);
            let count = area.full_text_score(order, record, &word, is_beginning)?;
            score.set(u32::try_from(count).unwrap_or(u32::MAX))
        })
    })
}
