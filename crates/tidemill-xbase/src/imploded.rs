//! Compressed tables of DATASUS (`.dbc`): the header of a dBASE III table as it is, and its records imploded.
//!
//! Behind the header there are a checksum (4 bytes, little-endian: CRC-32 of the header and the expanded records) and the stream of
//! PKWare's Data Compression Library: a byte that says whether literals are coded, one with the bits of short distances, and then, lowest
//! bit first, literals (a 0 bit) and copies of what came before (a 1 bit, a length, a distance). Lengths, distances and coded
//! literals have fixed prefix codes, whose bits are turned around. Sources: "Format of the data produced by PKWARE's Data Compression
//! Library" (Ben Rudiak-Gould, comp.compression, 13 August 2001); the header and the checksum by two files of the package `read.dbc`.
//!
//! A database container of Visual FoxPro has the same extension and another version byte.
//!
//! Not here: making such files, and changing them.

use crate::error::{Error, Result};
use crate::header::Header;
use crate::source::Source;

/// The bytes of the table in a compressed one; `None` for a file that is none.
///
/// # Errors
/// [`Error::Corrupt`] for a stream that ends early, refers to what is not there, or has another checksum than it says;
/// [`Error::Io`].
pub(crate) fn expanded(source: &Source, header: &Header) -> Result<Option<Vec<u8>>> {
    let header_len = u64::from(header.header_len);
    let records = u64::from(header.record_count) * u64::from(header.record_len);
    let packed = source.len().saturating_sub(header_len + CHECKSUM_LEN);
    // A whole table is longer, and one that was cut off has a record here.
    if header.version != VERSION || packed < STREAM_LEAST || source.len() >= header_len + records {
        return Ok(None);
    }
    let begin = header_len + CHECKSUM_LEN;
    let mut window = Vec::new();
    let settings = source.read("settings of the imploded records", begin, 2, &mut window)?;
    if !matches!(settings, [0 | 1, 4..=6]) {
        return Ok(None);
    }
    let too_large = |len: u64| {
        let expected = format!("records of at most {EXPANDED_MOST} bytes");
        Error::corrupt(
            source.path(),
            "imploded records",
            header_len,
            expected,
            format!("{len} bytes"),
        )
    };
    // A byte more ends a table, and some have records that are not counted.
    let limit = usize::try_from(records + BEHIND_MOST)
        .ok()
        .filter(|_| records <= EXPANDED_MOST);
    let limit = limit.ok_or_else(|| too_large(records))?;
    let packed = usize::try_from(packed).map_err(|_| too_large(packed))?;
    let mut window = Vec::new();
    let stream = source.read("imploded records", begin, packed, &mut window)?.to_vec();
    let expanded = explode(&stream, limit).map_err(|fault| {
        let at = begin + fault.at as u64;
        Error::corrupt(source.path(), "imploded records", at, fault.expected, fault.found)
    })?;
    let mut window = Vec::new();
    let front = usize::try_from(begin).map_err(|_| too_large(begin))?;
    let front = source.read("table header", 0, front, &mut window)?;
    let (head, said) = front.split_last_chunk::<4>().unwrap_or((front, &[0; 4]));
    let mut table = Vec::with_capacity(head.len() + expanded.len());
    table.extend_from_slice(head);
    table.extend_from_slice(&expanded);
    let (said, found) = (u32::from_le_bytes(*said), crc32fast::hash(&table));
    if said != found {
        let (expected, found) = (format!("{said:08x}"), format!("{found:08x}"));
        return Err(Error::corrupt(
            source.path(),
            "checksum of the expanded table",
            header_len,
            expected,
            found,
        ));
    }
    Ok(Some(table))
}

/// The version byte of the tables that are compressed so.
const VERSION: u8 = 0x03;
const CHECKSUM_LEN: u64 = 4;
/// Settings, and the code of the end.
const STREAM_LEAST: u64 = 4;
/// More than any such table has: memory holds it whole.
const EXPANDED_MOST: u64 = 2 << 30;

/// How many bytes there may be behind the records.
const BEHIND_MOST: u64 = 64 << 10;

/// Why a stream cannot be expanded, and at which of its bytes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) at: usize,
    expected: String,
    found: &'static str,
}

/// Expands a stream to at most `limit` bytes. What is behind its end is not looked at.
///
/// # Errors
/// For a stream that ends early, has settings that there are not, refers to bytes before the first, or gives more than `limit`.
pub(crate) fn explode(stream: &[u8], limit: usize) -> Result<Vec<u8>, Fault> {
    let mut bits = Bits { stream, at: 0 };
    let (literals, dictionary) = (bits.take(8)?, bits.take(8)?);
    if literals > 1 || !(4..=6).contains(&dictionary) {
        return Err(bits.fault(
            "literals of kind 0 or 1 and 4 to 6 bits of a distance".to_owned(),
            "others",
        ));
    }
    let codes = Codes::new();
    let mut out: Vec<u8> = Vec::new();
    loop {
        if bits.take(1)? == 0 {
            let literal = match literals {
                0 => bits.take(8)?,
                _ => bits.symbol(&codes.literals)?,
            };
            if out.len() >= limit {
                return Err(bits.fault(format!("at most {limit} bytes of records"), "more"));
            }
            out.push(literal as u8);
            continue;
        }
        let symbol = bits.symbol(&codes.lengths)? as usize;
        let (base, extra) = LENGTHS.get(symbol).copied().unwrap_or_default();
        let len = base + bits.take(extra)? as usize;
        if len == END {
            return Ok(out);
        }
        let low = if len == 2 { 2 } else { dictionary };
        let distance = ((bits.symbol(&codes.distances)? << low) + bits.take(low)?) as usize + 1;
        let Some(from) = out.len().checked_sub(distance) else {
            return Err(bits.fault(format!("a distance of at most {}", out.len()), "a longer one"));
        };
        if limit - out.len() < len {
            return Err(bits.fault(format!("at most {limit} bytes of records"), "more"));
        }
        // The copy may run into itself, and then repeats.
        for at in from..from + len {
            let byte = out.get(at).copied().unwrap_or_default();
            out.push(byte);
        }
    }
}

/// The length that ends a stream.
const END: usize = 519;

/// The least length of each symbol, and how many bits are added to it.
const LENGTHS: [(usize, u32); 16] = [
    (3, 0),
    (2, 0),
    (4, 0),
    (5, 0),
    (6, 0),
    (7, 0),
    (8, 0),
    (9, 0),
    (10, 1),
    (12, 2),
    (16, 3),
    (24, 4),
    (40, 5),
    (72, 6),
    (136, 7),
    (264, 8),
];

/// The bits of the code of each length, in the order of [`LENGTHS`].
const LENGTH_BITS: [u8; 16] = [2, 3, 3, 3, 4, 4, 4, 5, 5, 5, 5, 6, 6, 6, 7, 7];

/// How many of the 64 distances have codes of how many bits, from the shortest distance on.
const DISTANCE_BITS: [(u8, usize); 6] = [(2, 1), (4, 2), (5, 4), (6, 15), (7, 26), (8, 16)];

/// The bits of the code of each literal.
#[rustfmt::skip]
const LITERAL_BITS: [u8; 256] = [
    11, 12, 12, 12, 12, 12, 12, 12, 12,  8,  7, 12, 12,  7, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 13, 12, 12, 12, 12, 12,
     4, 10,  8, 12, 10, 12, 10,  8,  7,  7,  8,  9,  7,  6,  7,  8,  7,  6,  7,  7,  7,  7,  8,  7,  7,  8,  8, 12, 11,  7,  9, 11,
    12,  6,  7,  6,  6,  5,  7,  8,  8,  6, 11,  9,  6,  7,  6,  6,  7, 11,  6,  6,  6,  7,  9,  8,  9,  9, 11,  8, 11,  9, 12,  8,
    12,  5,  6,  6,  6,  5,  6,  6,  6,  5, 11,  7,  5,  6,  5,  5,  6, 10,  5,  5,  5,  5,  8,  7,  8,  8, 10, 11, 11, 12, 12, 12,
    13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13,
    13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12,
    12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12,
    13, 12, 13, 13, 13, 12, 13, 13, 13, 12, 13, 13, 13, 13, 12, 13, 13, 13, 12, 12, 12, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13,
];

struct Codes {
    literals: Code,
    lengths: Code,
    distances: Code,
}

impl Codes {
    fn new() -> Self {
        let distances = DISTANCE_BITS
            .iter()
            .flat_map(|(bits, count)| std::iter::repeat_n(*bits, *count));
        Self {
            literals: Code::new(&LITERAL_BITS),
            lengths: Code::new(&LENGTH_BITS),
            distances: Code::new(&distances.collect::<Vec<_>>()),
        }
    }
}

/// The most bits of a code.
const BITS_MOST: usize = 13;

/// A prefix code in which shorter codes come first, and of those of one length lower symbols.
struct Code {
    /// How many codes there are of each length.
    counts: [u32; BITS_MOST + 1],
    /// The symbols in the order of their codes.
    symbols: Vec<u16>,
}

impl Code {
    fn new(bits: &[u8]) -> Self {
        let mut counts = [0; BITS_MOST + 1];
        for bits in bits {
            if let Some(count) = counts.get_mut(usize::from(*bits)) {
                *count += 1;
            }
        }
        let mut symbols: Vec<(u8, u16)> = bits.iter().copied().zip(0..).collect();
        symbols.sort_unstable();
        Self {
            counts,
            symbols: symbols.into_iter().map(|(_, symbol)| symbol).collect(),
        }
    }
}

/// The bits of a stream, the lowest of each byte first.
struct Bits<'s> {
    stream: &'s [u8],
    /// In bits.
    at: usize,
}

impl Bits<'_> {
    fn bit(&mut self) -> Result<u32, Fault> {
        let byte = self.stream.get(self.at / 8).copied();
        let byte = byte.ok_or_else(|| self.fault("the code of the end".to_owned(), "the end of the file"))?;
        let bit = byte >> (self.at % 8) & 1;
        self.at += 1;
        Ok(u32::from(bit))
    }

    /// A number of so many bits, at most 8, the lowest first.
    fn take(&mut self, bits: u32) -> Result<u32, Fault> {
        (0..bits).try_fold(0, |number, at| Ok(number | self.bit()? << at))
    }

    /// A symbol by its code, whose bits come turned around, the highest first.
    fn symbol(&mut self, code: &Code) -> Result<u32, Fault> {
        let (mut bits, mut first, mut before) = (0, 0, 0);
        for count in code.counts.iter().skip(1) {
            bits |= self.bit()? ^ 1;
            if bits - first < *count {
                let symbol = code.symbols.get((before + bits - first) as usize);
                return symbol.copied().map(u32::from).ok_or_else(|| self.no_code());
            }
            before += count;
            first = (first + count) << 1;
            bits <<= 1;
        }
        Err(self.no_code())
    }

    #[cold]
    fn no_code(&self) -> Fault {
        self.fault("a code that there is".to_owned(), "another")
    }

    #[cold]
    fn fault(&self, expected: String, found: &'static str) -> Fault {
        Fault {
            at: self.at / 8,
            expected,
            found,
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A part of a stream.
    #[derive(Debug, Clone)]
    pub(crate) enum Token {
        Literal(u8),
        /// A length from 2 to 518, and a distance that is cut to what is there.
        Copy(usize, usize),
    }

    struct Writer {
        bytes: Vec<u8>,
        bits: usize,
    }

    impl Writer {
        fn put(&mut self, number: usize, bits: u32) {
            for at in 0..bits {
                if self.bits.is_multiple_of(8) {
                    self.bytes.push(0);
                }
                *self.bytes.last_mut().unwrap() |= ((number >> at & 1) as u8) << (self.bits % 8);
                self.bits += 1;
            }
        }

        fn symbol(&mut self, lengths: &[u8], symbol: usize) {
            // The codes of shorter symbols, and of lower ones of this length, come before.
            let own = lengths[symbol];
            let mut code = 0_usize;
            for len in 1..=own {
                code <<= 1;
                let many = |symbols: &[u8]| symbols.iter().filter(|other| **other == len).count();
                code += if len == own {
                    many(&lengths[..symbol])
                } else {
                    many(lengths)
                };
            }
            for at in (0..u32::from(own)).rev() {
                self.put(code >> at & 1 ^ 1, 1);
            }
        }
    }

    /// A stream of these parts, and what it stands for.
    pub(crate) fn imploded(tokens: &[Token], is_coded: bool, dictionary: u32) -> (Vec<u8>, Vec<u8>) {
        let distances: Vec<u8> = DISTANCE_BITS
            .iter()
            .flat_map(|(bits, count)| vec![*bits; *count])
            .collect();
        let mut writer = Writer {
            bytes: vec![u8::from(is_coded), dictionary as u8],
            bits: 16,
        };
        let length = |writer: &mut Writer, len: usize| {
            let fits = |(base, extra): &(usize, u32)| (*base..base + (1 << extra)).contains(&len);
            let symbol = LENGTHS.iter().position(fits).unwrap();
            writer.put(1, 1);
            writer.symbol(&LENGTH_BITS, symbol);
            writer.put(len - LENGTHS[symbol].0, LENGTHS[symbol].1);
        };
        let mut out: Vec<u8> = Vec::new();
        for token in tokens {
            match *token {
                Token::Copy(len, distance) if !out.is_empty() => {
                    let low = if len == 2 { 2 } else { dictionary };
                    let distance = distance.clamp(1, out.len().min(64 << low));
                    length(&mut writer, len);
                    writer.symbol(&distances, (distance - 1) >> low);
                    writer.put((distance - 1) & ((1 << low) - 1), low);
                    for _ in 0..len {
                        out.push(out[out.len() - distance]);
                    }
                }
                Token::Literal(_) | Token::Copy(..) => {
                    let byte = if let Token::Literal(byte) = token { *byte } else { b'x' };
                    writer.put(0, 1);
                    match is_coded {
                        true => writer.symbol(&LITERAL_BITS, usize::from(byte)),
                        false => writer.put(usize::from(byte), 8),
                    }
                    out.push(byte);
                }
            }
        }
        length(&mut writer, END);
        (writer.bytes, out)
    }

    #[test]
    fn the_published_example_is_expanded() {
        let stream = [0x00, 0x04, 0x82, 0x24, 0x25, 0x8F, 0x80, 0x7F];
        assert_eq!(explode(&stream, 13).unwrap(), b"AIAIAIAIAIAIA");
        assert!(explode(&stream, 12).is_err());
        for cut in 0..stream.len() {
            assert!(explode(&stream[..cut], 13).is_err(), "{cut}");
        }
    }

    #[test]
    fn codes_leave_no_room() {
        let distances: Vec<u8> = DISTANCE_BITS
            .iter()
            .flat_map(|(bits, count)| vec![*bits; *count])
            .collect();
        for bits in [&LITERAL_BITS[..], &LENGTH_BITS, &distances] {
            let room: f64 = bits.iter().map(|bits| 0.5_f64.powi(i32::from(*bits))).sum();
            assert!((room - 1.0).abs() < 1e-12, "{room}");
        }
    }

    #[test]
    fn what_no_stream_has_is_refused() {
        for stream in [&[][..], &[0], &[2, 6, 0], &[0, 3, 0], &[0, 7, 0], &[0, 6, 0xFF, 0xFF]] {
            assert!(explode(stream, 100).is_err(), "{stream:?}");
        }
        // A copy of what is before the first byte.
        let (mut stream, _) = imploded(&[Token::Literal(0), Token::Copy(2, 1)], false, 6);
        assert!(explode(&stream, 100).is_ok());
        stream[2] |= 1;
        assert!(explode(&stream, 100).is_err());
    }

    proptest! {
        #[test]
        fn what_was_imploded_is_expanded(
            tokens in prop::collection::vec(
                prop_oneof![any::<u8>().prop_map(Token::Literal), (2..519_usize, 1..5000_usize).prop_map(|(l, d)| Token::Copy(l, d))],
                0..60,
            ),
            is_coded: bool,
            dictionary in 4..7_u32,
        ) {
            let (stream, out) = imploded(&tokens, is_coded, dictionary);
            prop_assert_eq!(explode(&stream, out.len()).unwrap(), out.clone());
            if let Some(less) = out.len().checked_sub(1) {
                prop_assert!(explode(&stream, less).is_err());
            }
            for cut in 0..stream.len() {
                prop_assert!(explode(&stream[..cut], out.len()).is_err());
            }
        }

        #[test]
        fn any_bytes_are_expanded_within_the_limit_or_refused(stream in prop::collection::vec(any::<u8>(), 0..200), limit in 0..500_usize) {
            if let Ok(out) = explode(&stream, limit) {
                prop_assert!(out.len() <= limit);
            }
        }
    }
}
