//! Functions over texts.

use std::borrow::Cow;
use std::cell::RefCell;

use super::super::operators::find;
use super::super::program::{Call, MAX_MADE, TooLong};
use super::super::value::{Type, Value};
use super::super::{format, letters::Letters};
use super::{Answer, Function, Gives, function};
use crate::full_text::{SearchCondition, Tokenizer};

const TEXT: Gives = Gives::Is(Type::Character);
const TRUTH: Gives = Gives::Is(Type::Logical);
const COUNT: Gives = Gives::Is(Type::Number);

pub(super) const FUNCTIONS: &[Function] = &[
    function("ALLTRIM", "C", TEXT, |_, a| {
        trim(a, |t| without_blanks_at_end(without_space_at_start(t)))
    }),
    function("ASC", "C", COUNT, |_, a| {
        Ok(Value::Number(a[0].bytes().first().map_or(0.0, |b| f64::from(*b))))
    }),
    function("AT", "CC[N", COUNT, |_, a| {
        let nth = a.get(2).map_or(1, Value::integer);
        Ok(count(occurrence(a[0].bytes(), a[1].bytes(), nth)))
    }),
    function("ATNUM", "CC[N", COUNT, |_, a| {
        let (needle, text) = (a[0].bytes(), a[1].bytes());
        Ok(count(match a.get(2).map_or(0, Value::integer) {
            0 => last(needle, text),
            nth => occurrence(needle, text, nth),
        }))
    }),
    function("CHR", "N", TEXT, |_, a| {
        let code = u8::try_from(a[0].integer().rem_euclid(256)).unwrap_or_default();
        Ok(Value::text(vec![code]))
    }),
    function("CHRTRAN", "CCC", TEXT, |_, a| {
        let (from, to) = (a[1].bytes(), a[2].bytes());
        let replaced = a[0]
            .bytes()
            .iter()
            .filter_map(|b| match from.iter().position(|f| f == b) {
                Some(at) => to.get(at).copied(),
                None => Some(*b),
            });
        Ok(Value::text(replaced.collect::<Vec<u8>>()))
    }),
    function("COLLATE", "C", TEXT, |call, a| match &call.environment.weights {
        Some(weights) => map(a, weights),
        None => Ok(std::mem::take(&mut a[0])),
    }),
    function("CONTAINS", "CC", TRUTH, |call, a| Ok(contains(call, a))),
    function("ISALPHA", "C", TRUTH, |call, a| {
        first(a, |b| call.environment.letters.is_letter(b))
    }),
    function("ISDIGIT", "C", TRUTH, |_, a| first(a, |b| b.is_ascii_digit())),
    function("ISLOWER", "C", TRUTH, |call, a| {
        first(a, |b| call.environment.letters.is_lower(b))
    }),
    function("ISUPPER", "C", TRUTH, |call, a| {
        first(a, |b| call.environment.letters.is_upper(b))
    }),
    function("LEFT", "CN", TEXT, |_, a| {
        let len = position(&a[1]);
        trim(a, |t| t.get(..len).unwrap_or(t))
    }),
    function("LEN", "C", COUNT, |_, a| Ok(Value::Number(length(a[0].bytes())))),
    function("LOWER", "C", TEXT, |call, a| map(a, call.environment.letters.lower())),
    function("LTRIM", "C", TEXT, |_, a| trim(a, without_space_at_start)),
    function("OCCURS", "CC", COUNT, |_, a| {
        let (needle, mut text, mut n) = (a[0].bytes(), a[1].bytes(), 0.0);
        while let Some(at) = find(needle, text) {
            text = text.get(at + needle.len()..).unwrap_or_default();
            n += 1.0;
        }
        Ok(Value::Number(n))
    }),
    function("PAD", "*N[C", TEXT, |call, a| pad(call, a, Side::Right)),
    function("PADC", "*N[C", TEXT, |call, a| pad(call, a, Side::Both)),
    function("PADL", "*N[C", TEXT, |call, a| pad(call, a, Side::Left)),
    function("PADR", "*N[C", TEXT, |call, a| pad(call, a, Side::Right)),
    function("PROPER", "C", TEXT, |call, a| {
        Ok(Value::text(proper(a[0].bytes(), &call.environment.letters)))
    }),
    function("RAT", "CC", COUNT, |_, a| Ok(count(last(a[0].bytes(), a[1].bytes())))),
    function("REPLICATE", "CN", TEXT, |_, a| repeat(a[0].bytes(), position(&a[1]))),
    function("REVERSE", "C", TEXT, |_, a| {
        Ok(Value::text(a[0].bytes().iter().rev().copied().collect::<Vec<u8>>()))
    }),
    function("RIGHT", "CN", TEXT, |_, a| {
        let len = position(&a[1]);
        trim(a, |t| t.get(t.len().saturating_sub(len)..).unwrap_or(t))
    }),
    function("RTRIM", "C", TEXT, |_, a| trim(a, without_blanks_at_end)),
    function("SOUNDEX", "C", TEXT, |_, a| {
        Ok(Value::text(soundex(a[0].bytes()).to_vec()))
    }),
    function("SPACE", "N", TEXT, |_, a| repeat(b" ", position(&a[0]))),
    function("STRTRAN", "CC[CNN", TEXT, |_, a| replace(a)),
    function("STUFF", "CNNC", TEXT, |_, a| stuff(a)),
    function("SUBSTR", "CN[N", TEXT, |_, a| {
        let (from, len) = (a[1].integer(), a.get(2).map_or(i64::MAX, Value::integer));
        trim(a, |t| substring(t, from, len))
    }),
    function("TRIM", "C", TEXT, |_, a| trim(a, without_blanks_at_end)),
    function("UPPER", "C", TEXT, |call, a| map(a, call.environment.letters.upper())),
];

/// Where padding goes.
enum Side {
    Left,
    Right,
    Both,
}

/// A part of the first argument, without a copy where it was borrowed.
/// Whether a search condition holds for a text, by the default options of full-text search; `.NULL.` for what is no condition, which
/// is refused where it is a constant.
fn contains<'a>(call: &Call<'_>, arguments: &[Value<'a>]) -> Value<'a> {
    thread_local! {
        /// The condition that was read last: it is mostly the same for every record.
        static LAST: RefCell<Option<(Vec<u8>, Option<SearchCondition>)>> = const { RefCell::new(None) };
        static TOKENIZER: Tokenizer = Tokenizer::default();
    }
    let [text, written] = arguments else { return Value::Null };
    let codepage = call.environment.codepage;
    let words = TOKENIZER.with(|tokenizer| tokenizer.words(&codepage.decode(text.bytes())));
    LAST.with_borrow_mut(|last| {
        if last.as_ref().is_none_or(|(known, _)| known != written.bytes()) {
            let parse =
                |tokenizer: &Tokenizer| SearchCondition::parse(&codepage.decode(written.bytes()), tokenizer).ok();
            *last = Some((written.bytes().to_vec(), TOKENIZER.with(parse)));
        }
        match last {
            Some((_, Some(condition))) => Value::Logical(condition.holds(&words)),
            _ => Value::Null,
        }
    })
}

fn trim<'a>(arguments: &mut [Value<'a>], part: impl Fn(&[u8]) -> &[u8]) -> Answer<'a> {
    Ok(Value::Character(match arguments[0].take_bytes() {
        Cow::Borrowed(bytes) => Cow::Borrowed(part(bytes)),
        Cow::Owned(bytes) => Cow::Owned(part(&bytes).to_vec()),
    }))
}

/// Every byte through a table.
fn map<'a>(arguments: &mut [Value<'a>], table: &[u8; 256]) -> Answer<'a> {
    let mut bytes = arguments[0].take_bytes().into_owned();
    for byte in &mut bytes {
        *byte = table[usize::from(*byte)];
    }
    Ok(Value::text(bytes))
}

/// A test of the first byte; an empty text fails it.
fn first<'a>(arguments: &[Value<'_>], test: impl Fn(u8) -> bool) -> Answer<'a> {
    Ok(Value::Logical(arguments[0].bytes().first().is_some_and(|b| test(*b))))
}

/// Blanks, tabulators and line ends, as Harbour's `LTRIM()` takes away.
fn without_space_at_start(text: &[u8]) -> &[u8] {
    let space = text.iter().take_while(|b| matches!(b, b' ' | 9..=13)).count();
    text.get(space..).unwrap_or_default()
}

/// Blanks and nothing else, as Clipper's `RTRIM()` takes away.
pub(super) fn without_blanks_at_end(text: &[u8]) -> &[u8] {
    let blanks = text.iter().rev().take_while(|b| **b == b' ').count();
    text.get(..text.len() - blanks).unwrap_or_default()
}

/// From a position that counts from 1, or from the end when negative; beyond the end there is nothing.
pub(in super::super) fn substring(text: &[u8], from: i64, len: i64) -> &[u8] {
    text.get(substring_of(text.len(), from, len)).unwrap_or_default()
}

/// Where `SUBSTR()` takes its bytes from a text of `size` bytes.
pub(crate) fn substring_of(size: usize, from: i64, len: i64) -> std::ops::Range<usize> {
    let size = i64::try_from(size).unwrap_or(i64::MAX);
    let start = match from {
        1.. => from - 1,
        0 => 0,
        _ => from.saturating_add(size).max(0),
    };
    let end = start.saturating_add(len).min(size);
    match (usize::try_from(start), usize::try_from(end)) {
        (Ok(start), Ok(end)) if start <= end => start..end,
        _ => 0..0,
    }
}

/// A number as a length: none below 0.
fn position(n: &Value<'_>) -> usize {
    usize::try_from(n.integer()).unwrap_or(0)
}

#[expect(clippy::cast_precision_loss, reason = "lengths are far below 2^53")]
fn length(text: &[u8]) -> f64 {
    text.len() as f64
}

/// A place as programs count: from 1, and 0 for none.
#[expect(clippy::cast_precision_loss, reason = "lengths are far below 2^53")]
fn count<'a>(place: Option<usize>) -> Value<'a> {
    Value::Number(place.map_or(0.0, |at| at as f64 + 1.0))
}

/// Where the nth occurrence begins; they do not overlap.
fn occurrence(needle: &[u8], text: &[u8], nth: i64) -> Option<usize> {
    let mut from = 0;
    for _ in 1..nth {
        from += find(needle, text.get(from..)?)? + needle.len();
    }
    (nth > 0)
        .then(|| find(needle, text.get(from..)?))
        .flatten()
        .map(|at| from + at)
}

/// Where the last occurrence begins.
fn last(needle: &[u8], text: &[u8]) -> Option<usize> {
    if needle.is_empty() {
        return None;
    }
    text.windows(needle.len()).rposition(|w| w == needle)
}

fn repeat<'a>(text: &[u8], times: usize) -> Answer<'a> {
    let len = text.len().saturating_mul(times);
    if len > MAX_MADE {
        return Err(TooLong(len));
    }
    Ok(Value::text(text.repeat(times)))
}

/// Fills up or cuts to a length. A number is shown without blanks, a date as `DTOC()` does; what is too long loses its end.
fn pad<'a>(call: &Call<'_>, a: &mut [Value<'a>], side: Side) -> Answer<'a> {
    let len = position(&a[1]);
    let text = match &a[0] {
        Value::Number(n) => format::shaped(*n, call.shape(0)).trim_ascii_start().to_vec(),
        Value::Date(day) => format::date(*day, call.environment),
        Value::Timestamp(_) => super::date::show(&a[0], call.environment),
        Value::Logical(_) | Value::Null => Vec::new(),
        Value::Character(text) => text.to_vec(),
    };
    if len > MAX_MADE.max(text.len()) {
        return Err(TooLong(len));
    }
    let fill = a.get(2).and_then(|f| f.bytes().first()).copied().unwrap_or(b' ');
    let missing = len.saturating_sub(text.len());
    let before = match side {
        Side::Left => missing,
        Side::Both => missing / 2,
        Side::Right => 0,
    };
    let mut out = vec![fill; before];
    out.extend_from_slice(text.get(..len).unwrap_or(&text));
    out.resize(len, fill);
    Ok(Value::text(out))
}

/// The first letter of each word large, all others small.
fn proper(text: &[u8], letters: &Letters) -> Vec<u8> {
    let mut is_inside = false;
    let cased = text.iter().map(|b| {
        let table = if is_inside { letters.lower() } else { letters.upper() };
        is_inside = letters.is_letter(*b);
        table[usize::from(*b)]
    });
    cased.collect()
}

/// Of ASCII letters alone; between two of the same code even a vowel does not make them two codes' worth, as a vowel is
/// itself remembered (Harbour's `soundex.c`).
fn soundex(text: &[u8]) -> [u8; 4] {
    const CODES: &[u8; 26] = b"01230120022455012623010202";
    let mut out = *b"0000";
    let (mut used, mut previous) = (0, b'0');
    for letter in text.iter().map(u8::to_ascii_uppercase).filter(u8::is_ascii_uppercase) {
        let code = CODES[usize::from(letter - b'A')];
        let sign = if used == 0 {
            Some(letter)
        } else {
            (code != b'0' && code != previous).then_some(code)
        };
        if let (Some(sign), Some(slot)) = (sign, out.get_mut(used)) {
            *slot = sign;
            used += 1;
        }
        previous = code;
    }
    out
}

/// `STRTRAN(text, needle, replacement, first, count)`.
fn replace<'a>(a: &mut [Value<'a>]) -> Answer<'a> {
    let first = a.get(3).map_or(1, Value::integer);
    let mut left = a.get(4).map_or(-1, Value::integer);
    if first == 0 || left == 0 {
        return Ok(Value::text(Vec::new()));
    }
    let (text, needle) = (a[0].bytes(), a[1].bytes());
    let replacement = a.get(2).map_or(&[][..], Value::bytes);
    if first < 0 || find(needle, text).is_none() {
        return Ok(std::mem::take(&mut a[0]));
    }
    let limit = MAX_MADE + text.len() + replacement.len();
    let (mut out, mut rest, mut nth) = (Vec::with_capacity(text.len()), text, 0);
    while left != 0
        && let Some(at) = find(needle, rest)
    {
        let (before, found) = rest.split_at(at);
        let (found, behind) = found.split_at(needle.len());
        nth += 1;
        let is_wanted = nth >= first;
        left -= i64::from(is_wanted);
        out.extend_from_slice(before);
        out.extend_from_slice(if is_wanted { replacement } else { found });
        if out.len() > limit {
            return Err(TooLong(out.len()));
        }
        rest = behind;
    }
    out.extend_from_slice(rest);
    Ok(Value::text(out))
}

/// `STUFF(text, position, delete, insert)`; beyond its end the text is only appended to.
fn stuff<'a>(a: &mut [Value<'a>]) -> Answer<'a> {
    let text = a[0].bytes();
    let at = match a[1].integer() {
        0 => 0,
        n => usize::try_from(n - 1).unwrap_or(usize::MAX).min(text.len()),
    };
    let (before, behind) = text.split_at(at);
    let delete = match a[2].integer() {
        0.. => position(&a[2]).min(behind.len()),
        _ => behind.len(),
    };
    let behind = behind.get(delete..).unwrap_or_default();
    Ok(Value::text([before, a[3].bytes(), behind].concat()))
}
