//! Values of Rust as literals of SQL.

use std::{
    borrow::Cow,
    fmt::Write,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    sync::Arc,
};

use super::{name, string};

/// A value that can stand in the text of a statement, in the place of a `?` of [`Request::bind`](crate::client::Request::bind).
///
/// | Rust | SQL |
/// |---|---|
/// | integers up to 64 bits | `7`, `(-7)`: no `-` meets another, which would begin a comment |
/// | `i128`, `u128` | `CAST('7' AS Int128)` |
/// | `f32`, `f64` | `0.5`, `1.0`, `nan`, `(-inf)` |
/// | `bool` | `1`, `0`, which old servers know as well |
/// | `str`, `String`, `char` | `'it\'s'` |
/// | [`Bytes`] | `'\xD1\xCE'`: a string of any bytes |
/// | `Uuid`, IP addresses | their text as a string |
/// | `Option` | the value or `NULL` |
/// | slices, arrays, `Vec` | `[1, 2]` |
/// | tuples | `tuple(1, 'a')` |
/// | [`Identifier`] | a name in backquotes |
pub trait SqlValue {
    /// Writes the literal after what is in `sql`.
    fn write_sql(&self, sql: &mut String);
}

/// The name of a table, column or database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identifier<'a>(pub &'a str);

/// A string of any bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bytes<'a>(pub &'a [u8]);

impl SqlValue for Identifier<'_> {
    fn write_sql(&self, sql: &mut String) {
        sql.push_str(&name(self.0));
    }
}

impl SqlValue for Bytes<'_> {
    fn write_sql(&self, sql: &mut String) {
        sql.push('\'');
        for byte in self.0 {
            match byte {
                b'\'' | b'\\' => sql.extend(['\\', char::from(*byte)]),
                b' '..=b'~' => sql.push(char::from(*byte)),
                // A `String` takes whatever is written.
                _ => drop(write!(sql, "\\x{byte:02X}")),
            }
        }
        sql.push('\'');
    }
}

macro_rules! numbers {
    ($($kind:ty: $is_negative:expr,)*) => {$(
        impl SqlValue for $kind {
            fn write_sql(&self, sql: &mut String) {
                let is_negative: fn($kind) -> bool = $is_negative;
                let _ = match is_negative(*self) {
                    true => write!(sql, "({self:?})"),
                    false => write!(sql, "{self:?}"),
                };
            }
        }
    )*};
}

numbers! {
    u8: |_| false,
    u16: |_| false,
    u32: |_| false,
    u64: |_| false,
    usize: |_| false,
    i8: |value| value < 0,
    i16: |value| value < 0,
    i32: |value| value < 0,
    i64: |value| value < 0,
    isize: |value| value < 0,
}

macro_rules! floats {
    ($($kind:ty)*) => {$(
        impl SqlValue for $kind {
            fn write_sql(&self, sql: &mut String) {
                let _ = match (self.is_nan(), self.is_sign_negative()) {
                    (true, _) => write!(sql, "nan"),
                    (_, true) => write!(sql, "({self:?})"),
                    (_, false) => write!(sql, "{self:?}"),
                };
            }
        }
    )*};
}

floats! { f32 f64 }

macro_rules! wide_integers {
    ($($kind:ty: $name:literal,)*) => {$(
        impl SqlValue for $kind {
            fn write_sql(&self, sql: &mut String) {
                let _ = write!(sql, "CAST('{self}' AS {})", $name);
            }
        }
    )*};
}

wide_integers! {
    i128: "Int128",
    u128: "UInt128",
}

macro_rules! texts {
    ($($kind:ty)*) => {$(
        impl SqlValue for $kind {
            fn write_sql(&self, sql: &mut String) {
                sql.push_str(&string(&self.to_string()));
            }
        }
    )*};
}

texts! { str String char Cow<'_, str> uuid::Uuid IpAddr Ipv4Addr Ipv6Addr }

impl SqlValue for bool {
    fn write_sql(&self, sql: &mut String) {
        sql.push(if *self { '1' } else { '0' });
    }
}

impl<T: SqlValue> SqlValue for Option<T> {
    fn write_sql(&self, sql: &mut String) {
        match self {
            Some(value) => value.write_sql(sql),
            None => sql.push_str("NULL"),
        }
    }
}

impl<T: SqlValue> SqlValue for [T] {
    fn write_sql(&self, sql: &mut String) {
        sql.push('[');
        for (at, item) in self.iter().enumerate() {
            sql.push_str(if at > 0 { ", " } else { "" });
            item.write_sql(sql);
        }
        sql.push(']');
    }
}

impl<T: SqlValue, const N: usize> SqlValue for [T; N] {
    fn write_sql(&self, sql: &mut String) {
        self.as_slice().write_sql(sql);
    }
}

macro_rules! pointers {
    ($($kind:ty)*) => {$(
        impl<T: SqlValue + ?Sized> SqlValue for $kind {
            fn write_sql(&self, sql: &mut String) {
                (**self).write_sql(sql);
            }
        }
    )*};
}

pointers! { &T Box<T> Arc<T> }

impl<T: SqlValue> SqlValue for Vec<T> {
    fn write_sql(&self, sql: &mut String) {
        self.as_slice().write_sql(sql);
    }
}

macro_rules! tuples {
    ($(($first:ident $($more:ident)*))*) => {$(
        impl<$first: SqlValue, $($more: SqlValue),*> SqlValue for ($first, $($more,)*) {
            fn write_sql(&self, sql: &mut String) {
                #[expect(non_snake_case, reason = "the values are called as their types")]
                let ($first, $($more,)*) = self;
                sql.push_str("tuple(");
                $first.write_sql(sql);
                $(
                    sql.push_str(", ");
                    $more.write_sql(sql);
                )*
                sql.push(')');
            }
        }
    )*};
}

tuples! { (A) (A B) (A B C) (A B C D) (A B C D E) (A B C D E F) (A B C D E F G) (A B C D E F G H) }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_their_literals() {
        let check = |value: &dyn SqlValue, expected: &str| {
            let mut sql = String::new();
            value.write_sql(&mut sql);
            assert_eq!(sql, expected);
        };
        check(&7_u8, "7");
        check(&-7_i64, "(-7)");
        check(&u64::MAX, "18446744073709551615");
        check(&-1_i128, "CAST('-1' AS Int128)");
        check(&1.0_f64, "1.0");
        check(&-1e300_f64, "(-1e300)");
        check(&f32::NAN, "nan");
        check(&f64::NEG_INFINITY, "(-inf)");
        check(&true, "1");
        check(&"it's a \\ \n", r"'it\'s a \\ \n'");
        check(&Bytes(b"a'\xD1\0"), r"'a\'\xD1\x00'");
        check(&Identifier("a`b"), r"`a\`b`");
        check(&None::<u8>, "NULL");
        check(&vec![Some("x"), None], "['x', NULL]");
        check(&(1, "a"), "tuple(1, 'a')");
        check(&Ipv4Addr::LOCALHOST, "'127.0.0.1'");
        check(&uuid::Uuid::nil(), "'00000000-0000-0000-0000-000000000000'");
    }
}
