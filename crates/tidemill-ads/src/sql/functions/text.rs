//! Functions of texts. Positions and lengths count characters from 1; blanks that fill a field up belong to its text.

use std::cell::RefCell;
use std::collections::HashMap;

use arrow_array::builder::StringBuilder;
use arrow_array::{BooleanArray, Int64Array};
use arrow_buffer::BooleanBuffer;
use tidemill_xbase::expression::Environment;

use super::{Call, Function, Gives, argument, columns, kernel, nulls};
use crate::sql::arithmetic::Numbers;
use crate::sql::error::{Error, Kind, Result};
use crate::sql::evaluate::Session;
use crate::sql::value::{Type, f64_to_i64};
use crate::sql::vector::{Texts, Vector};

const TEXT: Gives = Gives::Is(Type::Text(0));
const COUNT: Gives = Gives::Is(Type::Integer);
const TRUTH: Gives = Gives::Is(Type::Logical);

/// The longest text that a function makes.
const MAX_MADE: usize = 1 << 20;

#[rustfmt::skip]
pub(super) const FUNCTIONS: &[Function] = &[
    columns("ASCII", "C", COUNT, |call, a| count(call, a, |text| text.chars().next().map_or(0, |c| i64::from(u32::from(c))))),
    columns("AT", "CC[N", COUNT, locate),
    columns("BIT_LENGTH", "C", COUNT, |call, a| count(call, a, |text| as_count(text.len()) * 8)),
    columns("CHAR", "N", Gives::Is(Type::Text(1)), character),
    columns("CHARACTER_LENGTH", "C", COUNT, |call, a| count(call, a, |text| as_count(text.chars().count()))),
    columns("CHAR_LENGTH", "C", COUNT, |call, a| count(call, a, |text| as_count(text.chars().count()))),
    columns("CHR", "N", Gives::Is(Type::Text(1)), character),
    columns("CONCAT", "CC+", TEXT, |call, a| made(call, a, |texts, row, text| {
        texts.iter().for_each(|part| part.push_padded(row, text));
    })),
    columns("ENDSWITH", "CC", TRUTH, |call, a| holds(call, a, |a, b| a.ends_with(b))),
    columns("INSERT", "CNNC", TEXT, |call, a| {
        let (starts, lengths) = (numbers(call, a, 1)?, numbers(call, a, 2)?);
        made(call, a, |texts, row, text| {
            let whole = whole(&texts[0], row);
            let (start, length) = (position(starts[row]), position(lengths[row]));
            let start = start.saturating_sub(1);
            text.extend(whole.chars().take(start));
            texts[3].push_padded(row, text);
            text.extend(whole.chars().skip(start.saturating_add(length)));
        })
    }),
    columns("LCASE", "C", Gives::TextOf(0), |call, a| in_letters(call, a, str::make_ascii_lowercase, Environment::small)),
    columns("LEFT", "CN", Gives::Counted(1), |call, a| {
        let lengths = numbers(call, a, 1)?;
        made(call, a, |texts, row, text| text.extend(whole(&texts[0], row).chars().take(position(lengths[row]))))
    }),
    columns("LEN", "C", COUNT, |call, a| count(call, a, |text| as_count(text.chars().count()))),
    columns("LENGTH", "C", COUNT, |call, a| count(call, a, |text| as_count(text.trim_end_matches(' ').chars().count()))),
    columns("LOCATE", "CC[N", COUNT, locate),
    columns("LOWER", "C", Gives::TextOf(0), |call, a| in_letters(call, a, str::make_ascii_lowercase, Environment::small)),
    columns("LTRIM", "C", Gives::TextOf(0), |call, a| made(call, a, |texts, row, text| {
        text.push_str(whole(&texts[0], row).trim_start_matches(' '));
    })),
    columns("OCTET_LENGTH", "C", COUNT, |call, a| count(call, a, |text| as_count(text.len()))),
    columns("PAD", "CN[C", Gives::Counted(1), |call, a| pad(call, a, |_| 0)),
    columns("PADC", "CN[C", Gives::Counted(1), |call, a| pad(call, a, |missing| missing / 2)),
    columns("PADL", "CN[C", Gives::Counted(1), |call, a| pad(call, a, |missing| missing)),
    columns("PADR", "CN[C", Gives::Counted(1), |call, a| pad(call, a, |_| 0)),
    columns("POSITION", "CC[N", COUNT, locate),
    columns("RAT", "CC", COUNT, last),
    columns("REPEAT", "CN", TEXT, |call, a| {
        let times = numbers(call, a, 1)?;
        check_length(call, a, |texts, row| whole(&texts[0], row).len().saturating_mul(position(times[row])))?;
        made(call, a, |texts, row, text| {
            let part = whole(&texts[0], row);
            let times = position(times[row]);
            text.extend(std::iter::repeat_n(part.as_str(), times));
        })
    }),
    columns("REPLACE", "CCC", TEXT, |call, a| made(call, a, |texts, row, text| {
        let (whole, what, with) = (whole(&texts[0], row), texts[1].stored(row), texts[2].stored(row));
        if what.is_empty() {
            text.push_str(&whole);
        } else {
            text.push_str(&whole.replace(what, with));
        }
    })),
    columns("REVERSE", "C", Gives::TextOf(0), |call, a| made(call, a, |texts, row, text| {
        text.extend(whole(&texts[0], row).chars().rev());
    })),
    columns("RIGHT", "CN", Gives::Counted(1), |call, a| {
        let lengths = numbers(call, a, 1)?;
        made(call, a, |texts, row, text| {
            let whole = whole(&texts[0], row);
            let skipped = whole.chars().count().saturating_sub(position(lengths[row]));
            text.extend(whole.chars().skip(skipped));
        })
    }),
    columns("RTRIM", "C", Gives::TextOf(0), |call, a| made(call, a, |texts, row, text| text.push_str(texts[0].trimmed(row)))),
    kernel("SOUNDEX", "C", Gives::Is(Type::Text(4)), &["SOUNDEX(T1)"]),
    columns("SPACE", "N", Gives::Counted(0), |call, a| {
        let lengths = numbers(call, a, 0)?;
        check_length(call, a, |_, row| position(lengths[row]))?;
        made(call, a, |_, row, text| text.extend(std::iter::repeat_n(' ', position(lengths[row]))))
    }),
    columns("STARTSWITH", "CC", TRUTH, |call, a| holds(call, a, |a, b| a.starts_with(b))),
    kernel("STR", "N[NN", TEXT, &["STR(N1)", "STR(N1,N2)", "STR(N1,N2,N3)"]),
    kernel("STRZERO", "N[NN", TEXT, &["STRZERO(N1)", "STRZERO(N1,N2)", "STRZERO(N1,N2,N3)"]),
    columns("SUBSTR", "CN[N", Gives::TextOf(0), substring),
    columns("SUBSTRING", "CN[N", Gives::TextOf(0), substring),
    columns("SUBSTRINGOF", "CC", TRUTH, |call, a| holds(call, a, |a, b| b.contains(a))),
    columns("TRIM", "C", Gives::TextOf(0), |call, a| made(call, a, |texts, row, text| text.push_str(texts[0].trimmed(row).trim_start_matches(' ')))),
    columns("TRIM_BOTH", "CC", Gives::TextOf(1), |call, a| trimmed_of(call, a, true, true)),
    columns("TRIM_LEADING", "CC", Gives::TextOf(1), |call, a| trimmed_of(call, a, true, false)),
    columns("TRIM_TRAILING", "CC", Gives::TextOf(1), |call, a| trimmed_of(call, a, false, true)),
    columns("UCASE", "C", Gives::TextOf(0), |call, a| in_letters(call, a, str::make_ascii_uppercase, Environment::capital)),
    columns("UPPER", "C", Gives::TextOf(0), |call, a| in_letters(call, a, str::make_ascii_uppercase, Environment::capital)),
    kernel("VAL", "C", Gives::Is(Type::Double), &["VAL(T1)"]),
];

fn as_count(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// A number as a length or position: not below 0.
fn position(number: i64) -> usize {
    usize::try_from(number.max(0)).unwrap_or(usize::MAX)
}

fn whole(texts: &Texts<'_>, row: usize) -> String {
    let mut text = String::with_capacity(texts.width());
    texts.push_padded(row, &mut text);
    text
}

/// Texts in small letters, as a CICharacter field is compared: all letters of the code page are letters, as in keys.
///
/// # Errors
/// [`Kind::Value`](crate::sql::error::Kind::Value) for a text that is too long.
pub(in crate::sql) fn small(texts: &Vector, rows: usize, session: &Session<'_>) -> Result<Vector> {
    let all = Environment::with_all_letters(session.environment.codepage());
    let call = Call {
        rows,
        session,
        name: "LOWER",
    };
    in_letters(
        &call,
        std::slice::from_ref(texts),
        str::make_ascii_lowercase,
        |_, letter| all.small(letter),
    )
}

/// In other letters, those of ASCII by a function of their own; the blanks that fill a field up stay unwritten.
fn in_letters(
    call: &Call<'_>,
    arguments: &[Vector],
    ascii: fn(&mut str),
    other: impl Fn(&Environment, char) -> char,
) -> Result<Vector> {
    let width = match argument(arguments, 0) {
        Vector::Text(_, width) => *width,
        _ => 0,
    };
    let known = RefCell::new(HashMap::new());
    let made = made(call, arguments, |texts, row, text| {
        let stored = texts[0].stored(row);
        if stored.is_ascii() {
            text.push_str(stored);
            return ascii(text);
        }
        let mut known = known.borrow_mut();
        let letters = stored.chars().map(|letter| {
            let known = known.entry(letter);
            *known.or_insert_with(|| other(call.session.environment, letter))
        });
        text.extend(letters);
    })?;
    Ok(match made {
        Vector::Text(array, _) => Vector::Text(array, width),
        other => other,
    })
}

/// A text of a length: cut off, or with so many of the missing letters before it and the others behind.
fn pad(call: &Call<'_>, arguments: &[Vector], before: fn(usize) -> usize) -> Result<Vector> {
    let lengths = numbers(call, arguments, 1)?;
    check_length(call, arguments, |_, row| position(lengths[row]))?;
    made(call, arguments, |texts, row, text| {
        let (whole, length) = (whole(&texts[0], row), position(lengths[row]));
        let fill = texts
            .get(2)
            .and_then(|fill| fill.stored(row).chars().next())
            .unwrap_or(' ');
        let missing = length.saturating_sub(whole.chars().count());
        text.extend(std::iter::repeat_n(fill, before(missing)));
        text.extend(whole.chars().take(length));
        text.extend(std::iter::repeat_n(fill, missing - before(missing)));
    })
}

/// Where a text stands last in another.
fn last(call: &Call<'_>, arguments: &[Vector]) -> Result<Vector> {
    let (what, within) = (
        argument(arguments, 0).texts(call.rows),
        argument(arguments, 1).texts(call.rows),
    );
    let find = |row: usize| {
        let (what, within) = (whole(&what, row), whole(&within, row));
        let before = within.rfind(&what).and_then(|at| within.get(..at));
        before
            .filter(|_| !what.is_empty())
            .map_or(0, |before| as_count(before.chars().count()) + 1)
    };
    let values = (0..call.rows).map(find).collect();
    Ok(Vector::Integer(Int64Array::new(values, nulls(arguments))))
}

/// The whole numbers of an argument, cut at the point.
fn numbers(call: &Call<'_>, arguments: &[Vector], place: usize) -> Result<Vec<i64>> {
    let vector = argument(arguments, place);
    match Numbers::of(vector).map(Numbers::doubles) {
        Some(numbers) => Ok((0..call.rows)
            .map(|row| f64_to_i64(numbers.get(row)).unwrap_or(0))
            .collect()),
        None => Err(Error::new(
            Kind::Type,
            format!("Argument {} of {}() is a number", place + 1, call.name),
        )),
    }
}

fn count(call: &Call<'_>, arguments: &[Vector], of: impl Fn(&str) -> i64) -> Result<Vector> {
    let texts = argument(arguments, 0).texts(call.rows);
    let values = (0..call.rows).map(|row| of(&whole(&texts, row))).collect();
    Ok(Vector::Integer(Int64Array::new(values, nulls(arguments))))
}

fn holds(call: &Call<'_>, arguments: &[Vector], test: impl Fn(&str, &str) -> bool) -> Result<Vector> {
    let (a, b) = (
        argument(arguments, 0).texts(call.rows),
        argument(arguments, 1).texts(call.rows),
    );
    let values = BooleanBuffer::collect_bool(call.rows, |row| test(a.trimmed(row), b.trimmed(row)));
    Ok(Vector::Logical(BooleanArray::new(values, nulls(arguments))))
}

/// A text for every row.
fn made(call: &Call<'_>, arguments: &[Vector], make: impl Fn(&[Texts<'_>], usize, &mut String)) -> Result<Vector> {
    let texts: Vec<Texts<'_>> = arguments.iter().map(|argument| argument.texts(call.rows)).collect();
    let nulls = nulls(arguments);
    let mut builder = StringBuilder::with_capacity(call.rows, call.rows.saturating_mul(8));
    let (mut text, mut total) = (String::new(), 0_usize);
    for row in 0..call.rows {
        if nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
            builder.append_null();
            continue;
        }
        text.clear();
        make(&texts, row, &mut text);
        total = total.saturating_add(text.len());
        if total > i32::MAX as usize {
            return Err(Error::new(
                Kind::Limit,
                format!("{}() makes more text than an answer holds", call.name),
            ));
        }
        builder.append_value(&text);
    }
    Ok(Vector::Text(builder.finish(), 0))
}

/// Checks how long the texts become before they are made.
///
/// # Errors
/// [`Kind::Limit`].
fn check_length(call: &Call<'_>, arguments: &[Vector], length: impl Fn(&[Texts<'_>], usize) -> usize) -> Result<()> {
    let texts: Vec<Texts<'_>> = arguments.iter().map(|argument| argument.texts(call.rows)).collect();
    let nulls = nulls(arguments);
    let is_null = |row: usize| nulls.as_ref().is_some_and(|nulls| nulls.is_null(row));
    match (0..call.rows).find(|row| !is_null(*row) && length(&texts, *row) > MAX_MADE) {
        Some(_) => {
            let why = format!("{}() makes a text of more than {MAX_MADE} bytes", call.name);
            Err(Error::new(Kind::Limit, why))
        }
        None => Ok(()),
    }
}

fn substring(call: &Call<'_>, arguments: &[Vector]) -> Result<Vector> {
    let starts = numbers(call, arguments, 1)?;
    let lengths = match arguments.len() {
        2 => vec![i64::MAX; call.rows],
        _ => numbers(call, arguments, 2)?,
    };
    made(call, arguments, |texts, row, text| {
        let (start, length) = (starts[row], position(lengths[row]));
        let skipped = position(start).saturating_sub(1);
        text.extend(whole(&texts[0], row).chars().skip(skipped).take(length));
    })
}

/// Where the first text is in the second one, from a place on; 0 where it is not.
fn locate(call: &Call<'_>, arguments: &[Vector]) -> Result<Vector> {
    let (what, within) = (
        argument(arguments, 0).texts(call.rows),
        argument(arguments, 1).texts(call.rows),
    );
    let starts = match arguments.len() {
        2 => vec![1; call.rows],
        _ => numbers(call, arguments, 2)?,
    };
    let find = |row: usize| {
        let (what, within) = (what.stored(row), whole(&within, row));
        let skipped = position(starts[row]).saturating_sub(1);
        let from = within.char_indices().nth(skipped).map_or(within.len(), |(at, _)| at);
        let rest = within.get(from..).unwrap_or_default();
        match rest.find(what) {
            Some(at) if !what.is_empty() => {
                as_count(skipped.saturating_add(rest.get(..at).map_or(0, |begin| begin.chars().count())) + 1)
            }
            _ => 0,
        }
    };
    let values = (0..call.rows).map(find).collect();
    Ok(Vector::Integer(Int64Array::new(values, nulls(arguments))))
}

fn character(call: &Call<'_>, arguments: &[Vector]) -> Result<Vector> {
    let codes = numbers(call, arguments, 0)?;
    made(call, arguments, |_, row, text| {
        text.extend(u32::try_from(codes[row]).ok().and_then(char::from_u32));
    })
}

/// `TRIM(LEADING what FROM text)`: the argument before is what is taken away.
fn trimmed_of(call: &Call<'_>, arguments: &[Vector], leading: bool, trailing: bool) -> Result<Vector> {
    made(call, arguments, |texts, row, text| {
        let (what, whole) = (texts[0].stored(row), whole(&texts[1], row));
        let mut rest = whole.as_str();
        while leading && !what.is_empty() {
            let Some(shorter) = rest.strip_prefix(what) else { break };
            rest = shorter;
        }
        while trailing && !what.is_empty() {
            let Some(shorter) = rest.strip_suffix(what) else { break };
            rest = shorter;
        }
        text.push_str(rest);
    })
}
