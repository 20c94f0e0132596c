//! `TRANSFORM(value, picture)`: a value as a picture shows it.
//!
//! A picture is a function (`@` and letters, up to a blank) or a template or both. After Harbour's `transfrm.c` and the
//! CA-Clipper 5.2 reference ("TRANSFORM()", "@...GET"): of the functions `! ( ) B C D E L 0 R S X Z`.

use super::super::environment::Environment;
use super::super::format;
use super::super::program::{Call, MAX_MADE, TooLong};
use super::super::value::{Type, Value};
use super::{Function, Gives, date, function};

pub(super) const FUNCTIONS: &[Function] = &[function("TRANSFORM", "*[C", Gives::Is(Type::Character), |call, a| {
    let picture = Picture::parse(a.get(1).map_or(&[], Value::bytes));
    let environment = call.environment;
    let mut out = match &a[0] {
        Value::Character(text) => picture.text(text, environment),
        Value::Number(n) => picture.number(*n, call),
        Value::Logical(l) => picture.logical(*l),
        Value::Date(day) => format::date(*day, &picture.date_environment(environment)),
        moment => date::show(moment, &picture.date_environment(environment)),
    };
    if picture.has(b'B') {
        let blanks = out.iter().take_while(|b| **b == b' ').count();
        out.rotate_left(blanks);
    }
    if let Some(width) = picture.width {
        if width > MAX_MADE.max(out.len()) {
            return Err(TooLong(width));
        }
        out.resize(width, b' ');
    }
    Ok(Value::text(out))
})];

/// A picture taken apart.
struct Picture<'p> {
    /// The letters behind `@`, in capitals.
    functions: Vec<u8>,
    template: &'p [u8],
    /// Of `@S`.
    width: Option<usize>,
}

impl<'p> Picture<'p> {
    fn parse(picture: &'p [u8]) -> Self {
        let Some(rest) = picture.strip_prefix(b"@") else {
            return Self {
                functions: Vec::new(),
                template: picture,
                width: None,
            };
        };
        let end = rest
            .iter()
            .position(|b| matches!(b, b' ' | b'\t'))
            .unwrap_or(rest.len());
        let (letters, template) = rest.split_at(end);
        let mut functions = letters.to_ascii_uppercase();
        let mut width = None;
        if let Some(at) = functions.iter().position(|b| *b == b'S') {
            let digits = functions.iter().skip(at + 1).take_while(|b| b.is_ascii_digit()).count();
            // These digits are no function of their own, as another 0 is.
            let digits: Vec<u8> = functions.drain(at + 1..=at + digits).collect();
            width = format::digits(&digits).and_then(|n| usize::try_from(n).ok());
        }
        Self {
            functions,
            template: template.get(1..).unwrap_or_default(),
            width: width.filter(|w| *w > 0),
        }
    }

    fn has(&self, function: u8) -> bool {
        self.functions.contains(&function)
    }

    /// `@E` is the British order, whatever SET DATE says.
    fn date_environment(&self, environment: &Environment) -> Environment {
        let mut environment = environment.clone();
        if self.has(b'E') {
            environment.date_order = super::super::environment::DateOrder::DayMonthYear;
        }
        environment
    }

    /// Letters of the template take a character each, others stand for themselves: instead of one, with `@R` beside it.
    fn text(&self, text: &[u8], environment: &Environment) -> Vec<u8> {
        let upper = |b: u8| environment.letters.upper()[usize::from(b)];
        let all_upper = self.has(b'!');
        let cased = |b: u8| if all_upper { upper(b) } else { b };
        if self.template.is_empty() {
            return text.iter().map(|b| cased(*b)).collect();
        }
        let keeps_all = self.has(b'R');
        let mut rest = text.iter().copied();
        let mut out = Vec::with_capacity(self.template.len());
        for &sign in self.template {
            let takes = matches!(
                sign.to_ascii_uppercase(),
                b'!' | b'#' | b'9' | b'A' | b'L' | b'N' | b'X' | b'Y'
            );
            if !takes && keeps_all {
                out.push(sign);
                continue;
            }
            match (rest.next(), sign) {
                (Some(b), b'!') => out.push(upper(b)),
                (Some(b), b'y' | b'Y') => out.push(if matches!(b, b't' | b'T' | b'y' | b'Y') {
                    b'Y'
                } else {
                    b'N'
                }),
                (Some(b), _) => out.push(if takes { cased(b) } else { sign }),
                (None, _) if keeps_all => out.push(b' '),
                (None, _) => break,
            }
        }
        out
    }

    fn logical(&self, value: bool) -> Vec<u8> {
        let (letters, yes) = (
            if value { b"TY" } else { b"FN" },
            self.template.iter().position(|b| b"yYlL#".contains(b)),
        );
        match yes {
            None if self.template.is_empty() => {
                if value {
                    b".T.".to_vec()
                } else {
                    b".F.".to_vec()
                }
            }
            None => self.template.to_vec(),
            Some(at) => {
                let mut out = self.template.to_vec();
                let is_yes = matches!(self.template.get(at), Some(b'y' | b'Y'));
                if let Some(slot) = out.get_mut(at) {
                    *slot = letters[usize::from(is_yes)];
                }
                out
            }
        }
    }

    fn number(&self, n: f64, call: &Call<'_>) -> Vec<u8> {
        let is_digit = |b: &&u8| matches!(b, b'9' | b'#' | b'$' | b'*');
        let (whole, fraction) = match self.template.iter().position(|b| *b == b'.') {
            Some(point) => self.template.split_at(point),
            None => (self.template, &[][..]),
        };
        let whole = whole.iter().filter(is_digit).count();
        let decimals = u8::try_from(fraction.iter().filter(is_digit).count().min(200)).unwrap_or_default();
        let is_turned = n < 0.0 && [b'(', b')', b'X'].iter().any(|f| self.has(*f));
        let shown = if is_turned { -n } else { n };
        let mut digits = match (whole, decimals) {
            (0, 0) => format::shaped(shown, call.shape(0)),
            (whole, 0) => format::number(shown, whole, 0),
            (0, decimals) => {
                // No place before the point: the 0 that stands there is left out, and another digit does not fit.
                let text = format::number(shown, usize::from(decimals) + 2, decimals);
                match text.split_first() {
                    Some((b'0', rest)) => rest.to_vec(),
                    _ => [b".".to_vec(), vec![b'*'; usize::from(decimals)]].concat(),
                }
            }
            (whole, decimals) => format::number(shown, whole + 1 + usize::from(decimals), decimals),
        };
        if n == 0.0 && self.has(b'Z') {
            digits.fill(b' ');
        }
        if self.has(b'L') || self.has(b'0') {
            fill_with_zeros(&mut digits);
        }
        let mut out = if self.template.is_empty() {
            if self.has(b'E') {
                digits.iter_mut().filter(|b| **b == b'.').for_each(|b| *b = b',');
            }
            digits
        } else {
            self.place(&digits)
        };
        if n < 0.0 {
            self.mark_negative(&mut out);
        } else if n > 0.0 && self.has(b'C') {
            out.extend_from_slice(b" CR");
        }
        out
    }

    /// The digits at the places of the template, with commas only between digits.
    fn place(&self, digits: &[u8]) -> Vec<u8> {
        let (point, comma) = if self.has(b'E') { (b',', b'.') } else { (b'.', b',') };
        let mut rest = digits.iter().copied();
        let mut out: Vec<u8> = Vec::with_capacity(self.template.len());
        for (i, &sign) in self.template.iter().enumerate() {
            let before = out.last().copied();
            let next = match sign {
                b'9' | b'#' => rest.next().unwrap_or(b' '),
                b'$' | b'*' => match rest.next() {
                    Some(b' ') => sign,
                    other => other.unwrap_or(b' '),
                },
                b'.' if rest.next().is_some() => point,
                b',' if i > 0 && rest.len() > 0 => match before {
                    Some(b) if b.is_ascii_digit() => comma,
                    Some(b'-') => {
                        // The sign moves up to the digits.
                        if let Some(slot) = out.last_mut() {
                            *slot = b' ';
                        }
                        b'-'
                    }
                    Some(b) => b,
                    None => b',',
                },
                _ => sign,
            };
            out.push(next);
        }
        out
    }

    fn mark_negative(&self, out: &mut Vec<u8>) {
        if self.has(b')') {
            let blanks = out.iter().take_while(|b| **b == b' ').count();
            if let Some(slot) = blanks.checked_sub(1).and_then(|at| out.get_mut(at)) {
                *slot = b'(';
                out.push(b')');
            } else {
                overflow(out);
            }
        } else if self.has(b'(') {
            match out.first_mut() {
                Some(slot @ b' ') => {
                    *slot = b'(';
                    out.push(b')');
                }
                _ => overflow(out),
            }
        }
        if self.has(b'X') {
            out.extend_from_slice(b" DB");
        }
    }
}

/// There is no place for the parenthesis: stars instead of the digits behind it.
fn overflow(out: &mut Vec<u8>) {
    out.iter_mut()
        .skip(1)
        .filter(|b| b.is_ascii_digit())
        .for_each(|b| *b = b'*');
    if let Some(first) = out.first_mut() {
        *first = b'(';
    }
    out.push(b')');
}

/// Zeros instead of the leading blanks; the sign stays in front.
fn fill_with_zeros(digits: &mut [u8]) {
    let blanks = digits.iter().take_while(|b| **b == b' ').count();
    digits.iter_mut().take(blanks).for_each(|b| *b = b'0');
    if blanks > 0 && digits.get(blanks) == Some(&b'-') {
        digits.swap(0, blanks);
    }
}
