//! Types from their texts.

use std::{str::FromStr, sync::Arc};

use super::{AggregateFunction, DataType, Element, Enum, Json};
use crate::{Error, Result};

impl FromStr for DataType {
    type Err = Error;

    /// Parses the text of a type as ClickHouse writes it.
    ///
    /// # Errors
    ///
    /// [`Error::Type`] says where reading stopped and why: an unknown name, a parameter that is missing or out of range,
    /// text after the end, or more than [`DataType::MAX_DEPTH`] types in one another.
    fn from_str(text: &str) -> Result<Self> {
        let mut parser = Parser { text, at: 0, depth: 0 };
        let parsed = parser.data_type().and_then(|data_type| {
            parser.blank();
            if parser.at == text.len() {
                Ok(data_type)
            } else {
                Err("expected the end")
            }
        });
        parsed.map_err(|problem| Error::Type {
            text: shortened(text).into(),
            offset: parser.at,
            problem,
        })
    }
}

type Parsed<T> = Result<T, &'static str>;

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl Parser<'_> {
    fn data_type(&mut self) -> Parsed<DataType> {
        if self.depth == DataType::MAX_DEPTH {
            return Err("types nest too deeply");
        }
        self.depth += 1;
        let parsed = self.data_type_here();
        self.depth -= 1;
        parsed
    }

    fn data_type_here(&mut self) -> Parsed<DataType> {
        self.blank();
        let begin = self.at;
        let name = self.word()?.to_owned();
        if let Some(data_type) = DataType::simple(&name) {
            return Ok(data_type);
        }
        // Types whose parameters may be missing altogether.
        let with_parameters = self.take('(');
        match name.as_str() {
            "DateTime" if !with_parameters => return Ok(DataType::DateTime(None)),
            "Dynamic" if !with_parameters => {
                return Ok(DataType::Dynamic {
                    max_types: DataType::DEFAULT_MAX_DYNAMIC_TYPES,
                });
            }
            "JSON" if !with_parameters => return Ok(DataType::Json(Arc::default())),
            "Tuple" if !with_parameters => return Ok(DataType::Tuple([].into())),
            _ if !with_parameters => return self.unknown(begin),
            _ => {}
        }
        let data_type = match name.as_str() {
            "FixedString" => match self.number()? {
                length @ 1..=MAX_FIXED_STRING => DataType::FixedString(length),
                _ => return Err("expected a length from 1 to 16777215"),
            },
            "DateTime" => DataType::DateTime(Some(self.quoted('\'')?.into())),
            "DateTime64" => {
                let precision = self.precision()?;
                let zone = if self.take(',') {
                    Some(self.quoted('\'')?.into())
                } else {
                    None
                };
                DataType::DateTime64(precision, zone)
            }
            "Time64" => DataType::Time64(self.precision()?),
            "Enum8" => DataType::Enum8(Arc::new(
                Enum::new(self.enumeration()?).ok_or("expected each name and number once")?,
            )),
            "Enum16" => DataType::Enum16(Arc::new(
                Enum::new(self.enumeration()?).ok_or("expected each name and number once")?,
            )),
            "Decimal" => {
                let precision = self.number()?;
                let scale = if self.take(',') { self.number()? } else { 0 };
                decimal(precision, scale)?
            }
            "Decimal32" => decimal(9, self.number()?)?,
            "Decimal64" => decimal(18, self.number()?)?,
            "Decimal128" => decimal(38, self.number()?)?,
            "Decimal256" => decimal(76, self.number()?)?,
            "Array" => DataType::Array(Arc::new(self.data_type()?)),
            "Nullable" => DataType::Nullable(Arc::new(self.nullable()?)),
            "Tuple" => DataType::Tuple(self.elements()?.into()),
            "Nested" => {
                let elements = self.elements()?;
                if elements.is_empty() || elements.iter().any(|element| element.name.is_none()) {
                    return Err("expected names and types");
                }
                DataType::Nested(elements.into())
            }
            "Map" => {
                let key = self.data_type()?;
                self.expect(',')?;
                DataType::Map(Arc::new(key), Arc::new(self.data_type()?))
            }
            "LowCardinality" => DataType::LowCardinality(Arc::new(self.low_cardinality()?)),
            "Variant" => {
                let mut types = Vec::new();
                loop {
                    types.push(self.data_type()?);
                    if types.len() > MAX_VARIANTS {
                        return Err("expected at most 255 types");
                    }
                    if !self.take(',') {
                        break;
                    }
                }
                if types.iter().any(|inner| {
                    matches!(
                        inner,
                        DataType::Nullable(_) | DataType::Variant(_) | DataType::Dynamic { .. }
                    )
                }) {
                    return Err("expected no Nullable, Variant or Dynamic inside");
                }
                DataType::variant(types)
            }
            "Dynamic" => {
                if self.word()? != "max_types" {
                    return Err("expected max_types");
                }
                self.expect('=')?;
                DataType::Dynamic {
                    max_types: self.max_types()?,
                }
            }
            "JSON" => DataType::Json(Arc::new(self.json()?)),
            "QBit" => {
                let number = self.data_type()?;
                if !matches!(number, DataType::BFloat16 | DataType::Float32 | DataType::Float64) {
                    return Err("expected BFloat16, Float32 or Float64");
                }
                self.expect(',')?;
                match self.number()? {
                    dimension @ 1..=MAX_QBIT => DataType::QBit(Arc::new(number), dimension),
                    _ => return Err("expected a dimension from 1 to 16777215"),
                }
            }
            "SimpleAggregateFunction" => {
                let function = self.aggregate_function()?;
                if function.arguments.is_empty() {
                    return Err("expected the type of the value");
                }
                DataType::SimpleAggregateFunction(Arc::new(function))
            }
            "AggregateFunction" => DataType::AggregateFunction(Arc::new(self.aggregate_function()?)),
            _ => return self.unknown(begin),
        };
        self.expect(')')?;
        Ok(data_type)
    }

    fn unknown(&mut self, begin: usize) -> Parsed<DataType> {
        self.at = begin;
        Err("unknown type")
    }

    /// What `Nullable` may hold: everything that is one value, and tuples.
    fn nullable(&mut self) -> Parsed<DataType> {
        match self.data_type()? {
            DataType::Nullable(_)
            | DataType::Array(_)
            | DataType::Map(..)
            | DataType::Nested(_)
            | DataType::LowCardinality(_)
            | DataType::Variant(_)
            | DataType::Dynamic { .. }
            | DataType::AggregateFunction(_)
            | DataType::Ring
            | DataType::LineString
            | DataType::MultiLineString
            | DataType::Polygon
            | DataType::MultiPolygon
            | DataType::Geometry => Err("a type that cannot be Nullable"),
            inner => Ok(inner),
        }
    }

    /// What `LowCardinality` may hold: numbers, dates, strings, and `Nullable`s of them.
    fn low_cardinality(&mut self) -> Parsed<DataType> {
        let inner = self.data_type()?;
        let value = match &inner {
            DataType::Nullable(value) => value,
            value => value,
        };
        match value {
            DataType::Array(_)
            | DataType::Tuple(_)
            | DataType::Map(..)
            | DataType::Nested(_)
            | DataType::LowCardinality(_)
            | DataType::Variant(_)
            | DataType::Dynamic { .. }
            | DataType::Json(_)
            | DataType::QBit(..)
            | DataType::AggregateFunction(_)
            | DataType::SimpleAggregateFunction(_)
            | DataType::Nothing
            | DataType::Point
            | DataType::Ring
            | DataType::LineString
            | DataType::MultiLineString
            | DataType::Polygon
            | DataType::MultiPolygon
            | DataType::Geometry => Err("a type that cannot be of LowCardinality"),
            _ => Ok(inner),
        }
    }

    fn elements(&mut self) -> Parsed<Vec<Element>> {
        let mut elements: Vec<Element> = Vec::new();
        if self.peek() == Some(')') {
            return Ok(elements);
        }
        loop {
            let begin = self.at;
            // `name Type` or `Type`: a name is followed by something else than a separator or parenthesis.
            let name = self.name()?;
            let element = match self.peek() {
                None | Some(',' | ')' | '(') => {
                    self.at = begin;
                    Element::unnamed(self.data_type()?)
                }
                Some(_) => Element::named(name, self.data_type()?),
            };
            if elements
                .first()
                .is_some_and(|first| first.name.is_some() != element.name.is_some())
            {
                return Err("expected names for all elements or for none");
            }
            elements.push(element);
            if !self.take(',') {
                return Ok(elements);
            }
        }
    }

    fn enumeration<N: FromStr>(&mut self) -> Parsed<Vec<(Arc<str>, N)>> {
        let mut pairs = Vec::new();
        loop {
            let name = self.quoted('\'')?;
            self.expect('=')?;
            self.blank();
            let rest = self.rest();
            let digits = rest
                .trim_start_matches('-')
                .bytes()
                .take_while(u8::is_ascii_digit)
                .count();
            let length = digits + usize::from(rest.starts_with('-'));
            let number = rest.get(..length).and_then(|text| text.parse().ok());
            pairs.push((
                name.into(),
                number.ok_or("expected a number of the enumeration's width")?,
            ));
            self.at += length;
            if !self.take(',') {
                return Ok(pairs);
            }
        }
    }

    fn json(&mut self) -> Parsed<Json> {
        let mut json = Json::default();
        if self.peek() == Some(')') {
            return Ok(json);
        }
        loop {
            let begin = self.at;
            let name = if self.peek() == Some('`') {
                String::new()
            } else {
                self.word()?.to_owned()
            };
            match name.as_str() {
                "max_dynamic_types" if self.take('=') => json.max_dynamic_types = self.max_types()?,
                "max_dynamic_paths" if self.take('=') => json.max_dynamic_paths = self.number()?,
                "SKIP" if self.peek().is_some_and(|next| next != '.') => {
                    let begin = self.at;
                    if self.peek() != Some('`') && self.word()? == "REGEXP" && self.peek() == Some('\'') {
                        json.skip_regexp.push(self.quoted('\'')?.into());
                    } else {
                        self.at = begin;
                        json.skip.push(self.path()?.into());
                    }
                }
                _ => {
                    self.at = begin;
                    let path = self.path()?;
                    json.typed_paths.push((path.into(), self.data_type()?));
                }
            }
            if !self.take(',') {
                break;
            }
        }
        json.typed_paths.sort_by(|(a, _), (b, _)| a.cmp(b));
        if json
            .typed_paths
            .windows(2)
            .any(|pair| matches!(pair, [a, b] if a.0 == b.0))
        {
            return Err("expected each path once");
        }
        json.skip.sort();
        json.skip.dedup();
        Ok(json)
    }

    fn path(&mut self) -> Parsed<String> {
        let mut path = self.name()?;
        while self.rest().starts_with('.') {
            self.at += 1;
            path.push('.');
            path.push_str(&self.name()?);
        }
        Ok(path)
    }

    fn aggregate_function(&mut self) -> Parsed<AggregateFunction> {
        let version = if self.peek().is_some_and(|next| next.is_ascii_digit()) {
            let version = self.number()?;
            self.expect(',')?;
            Some(version)
        } else {
            None
        };
        let name: Arc<str> = self.word()?.into();
        let parameters = if self.take('(') {
            let begin = self.at;
            self.skip_parameters()?;
            let parameters = self.text.get(begin..self.at).unwrap_or_default();
            self.expect(')')?;
            Some(parameters.into())
        } else {
            None
        };
        let mut arguments = Vec::new();
        while self.take(',') {
            arguments.push(self.data_type()?);
        }
        Ok(AggregateFunction {
            version,
            name,
            parameters,
            arguments,
        })
    }

    /// Goes to the parenthesis that closes the one before, past literals.
    fn skip_parameters(&mut self) -> Parsed<()> {
        let mut open = 0_usize;
        loop {
            let next = self.rest().chars().next().ok_or("expected )")?;
            match next {
                ')' if open == 0 => return Ok(()),
                ')' => open -= 1,
                '(' => open += 1,
                '\'' => {
                    self.quoted('\'')?;
                    continue;
                }
                _ => {}
            }
            self.at += next.len_utf8();
        }
    }

    fn precision(&mut self) -> Parsed<u8> {
        match self.number()? {
            precision @ 0..=9 => Ok(precision),
            _ => Err("expected a precision from 0 to 9"),
        }
    }

    fn max_types(&mut self) -> Parsed<u8> {
        match self.number()? {
            types @ 0..=254 => Ok(types),
            _ => Err("expected a number from 0 to 254"),
        }
    }

    fn number<N: FromStr>(&mut self) -> Parsed<N> {
        self.blank();
        let length = self.rest().bytes().take_while(u8::is_ascii_digit).count();
        let number = self
            .rest()
            .get(..length)
            .and_then(|text| text.parse().ok())
            .ok_or("expected a number")?;
        self.at += length;
        Ok(number)
    }

    /// A plain word or one in backquotes.
    fn name(&mut self) -> Parsed<String> {
        match self.peek() {
            Some('`') => self.quoted('`'),
            _ => self.word().map(str::to_owned),
        }
    }

    fn word(&mut self) -> Parsed<&str> {
        self.blank();
        let rest = self.text.get(self.at..).unwrap_or_default();
        let length = rest
            .bytes()
            .take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
            .count();
        match rest.get(..length) {
            Some(word) if length > 0 => {
                self.at += length;
                Ok(word)
            }
            _ => Err("expected a name"),
        }
    }

    fn quoted(&mut self, quote: char) -> Parsed<String> {
        self.expect(quote)?;
        let mut text = String::new();
        loop {
            let letter = self.letter()?;
            if letter == quote {
                // A doubled quote is a quote.
                if !self.rest().starts_with(quote) {
                    return Ok(text);
                }
                self.at += letter.len_utf8();
                text.push(quote);
            } else if letter == '\\' {
                text.push(match self.letter()? {
                    'b' => '\u{8}',
                    'f' => '\u{c}',
                    'n' => '\n',
                    'r' => '\r',
                    't' => '\t',
                    '0' => '\0',
                    'a' => '\u{7}',
                    'v' => '\u{b}',
                    'e' => '\u{1b}',
                    other => other,
                });
            } else {
                text.push(letter);
            }
        }
    }

    fn letter(&mut self) -> Parsed<char> {
        let letter = self.rest().chars().next().ok_or("expected a closing quote")?;
        self.at += letter.len_utf8();
        Ok(letter)
    }

    fn expect(&mut self, expected: char) -> Parsed<()> {
        if self.take(expected) {
            return Ok(());
        }
        Err(match expected {
            '(' => "expected (",
            ')' => "expected )",
            ',' => "expected a comma",
            '=' => "expected =",
            _ => "expected a quote",
        })
    }

    fn take(&mut self, expected: char) -> bool {
        let there = self.peek() == Some(expected);
        if there {
            self.at += expected.len_utf8();
        }
        there
    }

    fn peek(&mut self) -> Option<char> {
        self.blank();
        self.rest().chars().next()
    }

    fn blank(&mut self) {
        self.at += self.rest().bytes().take_while(u8::is_ascii_whitespace).count();
    }

    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }
}

fn decimal(precision: u8, scale: u8) -> Parsed<DataType> {
    if !(1..=76).contains(&precision) {
        return Err("expected a precision from 1 to 76");
    }
    if scale > precision {
        return Err("expected a scale up to the precision");
    }
    Ok(DataType::Decimal { precision, scale })
}

/// The beginning of a text that may be too long for an error.
fn shortened(text: &str) -> &str {
    let mut end = text.len().min(MAX_SHOWN);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

const MAX_FIXED_STRING: u32 = 0xFF_FFFF;
const MAX_QBIT: u32 = 0xFF_FFFF;
const MAX_VARIANTS: usize = 255;
const MAX_SHOWN: usize = 200;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{
        super::{IntervalKind, SIMPLE},
        *,
    };

    fn parse(text: &str) -> Result<DataType> {
        text.parse()
    }

    #[test]
    fn texts_of_clickhouse_come_back_unchanged() {
        for text in [
            "Int8",
            "UInt256",
            "BFloat16",
            "FixedString(16)",
            "DateTime",
            "DateTime('Asia/Tokyo')",
            "DateTime64(3)",
            "DateTime64(3, 'Fixed/UTC+05:30:00')",
            "DateTime('No/Such_Zone')",
            "Time64(6)",
            "IntervalQuarter",
            "Enum8('b \\' x' = -2, 'a' = 1)",
            "Enum16('' = -32768, 'ü\\n\\\\' = 32767)",
            "Decimal(76, 38)",
            "Array(Array(Nullable(String)))",
            "Tuple()",
            "Tuple(UInt8, String)",
            "Tuple(a UInt8, `b c` Nullable(String))",
            "Nested(a UInt8, b Array(String))",
            "Map(LowCardinality(String), Array(UInt8))",
            "LowCardinality(Nullable(FixedString(2)))",
            "Array(Nothing)",
            "Variant(Array(UInt8), String, UInt8)",
            "Dynamic",
            "Dynamic(max_types=2)",
            "JSON",
            "JSON(max_dynamic_types=3, max_dynamic_paths=7, a.b UInt8, `c d`.e Nullable(String), SKIP x.y, SKIP REGEXP 'z\\'.*')",
            "QBit(BFloat16, 9)",
            "Geometry",
            "SimpleAggregateFunction(sumMap, Map(String, UInt64))",
            "AggregateFunction(1, quantiles(0.5, 0.9), UInt64)",
            "AggregateFunction(count)",
            "AggregateFunction(sumMapFiltered([1, (2)], ')'), Array(UInt64), Array(UInt8))",
            "Nullable(Tuple(a UInt8))",
        ] {
            assert_eq!(parse(text).expect(text).to_string(), text);
        }
    }

    #[test]
    fn other_texts_become_those_of_clickhouse() {
        for (text, canonical) in [
            (
                "Variant(UInt8,String,Array(UInt8),String)",
                "Variant(Array(UInt8), String, UInt8)",
            ),
            ("Enum8('a'=1,'b'=-2)", "Enum8('b' = -2, 'a' = 1)"),
            ("Decimal32(2)", "Decimal(9, 2)"),
            ("Decimal(5)", "Decimal(5, 0)"),
            ("JSON(max_dynamic_paths=1024, SKIP x)", "JSON(SKIP x)"),
            ("JSON(b UInt8, a UInt8)", "JSON(a UInt8, b UInt8)"),
            ("JSON()", "JSON"),
            ("Dynamic(max_types=32)", "Dynamic"),
            ("Tuple", "Tuple()"),
        ] {
            assert_eq!(parse(text).expect(text).to_string(), canonical);
        }
    }

    #[test]
    fn errors_say_where_and_why() {
        for (text, message) in [
            ("Int7", "`Int7` is not a data type: unknown type at byte 0"),
            (
                "Array(Int7)",
                "`Array(Int7)` is not a data type: unknown type at byte 6",
            ),
            ("Array(Int8", "`Array(Int8` is not a data type: expected ) at byte 10"),
            ("Int8)", "`Int8)` is not a data type: expected the end at byte 4"),
            ("", "`` is not a data type: expected a name at byte 0"),
            (
                "FixedString(0)",
                "`FixedString(0)` is not a data type: expected a length from 1 to 16777215 at byte 13",
            ),
            (
                "DateTime64(10)",
                "`DateTime64(10)` is not a data type: expected a precision from 0 to 9 at byte 13",
            ),
            (
                "Decimal(5, 6)",
                "`Decimal(5, 6)` is not a data type: expected a scale up to the precision at byte 12",
            ),
            (
                "Nullable(Array(Int8))",
                "`Nullable(Array(Int8))` is not a data type: a type that cannot be Nullable at byte 20",
            ),
            (
                "Enum8('a' = 128)",
                "`Enum8('a' = 128)` is not a data type: expected a number of the enumeration's width at byte 12",
            ),
            (
                "Enum8('a' = 1, 'a' = 2)",
                "`Enum8('a' = 1, 'a' = 2)` is not a data type: expected each name and number once at byte 22",
            ),
            (
                "DateTime('x",
                "`DateTime('x` is not a data type: expected a closing quote at byte 11",
            ),
            (
                "Tuple(a UInt8, UInt8)",
                "`Tuple(a UInt8, UInt8)` is not a data type: expected names for all elements or for none at byte 20",
            ),
        ] {
            assert_eq!(parse(text).expect_err(text).to_string(), message);
        }
    }

    #[test]
    fn depth_is_bounded() {
        let nested = |depth| format!("{}Int8{}", "Array(".repeat(depth), ")".repeat(depth));
        assert!(parse(&nested(DataType::MAX_DEPTH - 1)).is_ok());
        let error = parse(&nested(100_000)).expect_err("too deep");
        assert!(
            error.to_string().ends_with("types nest too deeply at byte 768"),
            "{error}"
        );
    }

    /// Any type, a few levels deep.
    pub(crate) fn any_type() -> impl Strategy<Value = DataType> {
        let name = "[a-z`'\\\\. \nü]{0,4}";
        let simple = SIMPLE.to_vec();
        let leaf = prop_oneof![
            prop::sample::select(simple),
            prop::sample::select(IntervalKind::ALL.to_vec()).prop_map(DataType::Interval),
            (1_u32..100).prop_map(DataType::FixedString),
            prop::option::of(name).prop_map(|zone| DataType::DateTime(zone.map(Into::into))),
            (0_u8..=9, prop::option::of(name)).prop_map(|(p, zone)| DataType::DateTime64(p, zone.map(Into::into))),
            (1_u8..=76, 0_u8..=76).prop_map(|(precision, scale)| DataType::Decimal {
                precision,
                scale: scale.min(precision)
            }),
            prop::collection::btree_map(any::<i8>(), name, 1..4).prop_filter_map("names once", |names| {
                let pairs = names.into_iter().map(|(number, name)| (name.into(), number)).collect();
                Some(DataType::Enum8(Arc::new(Enum::new(pairs)?)))
            }),
            (0_u8..=254).prop_map(|max_types| DataType::Dynamic { max_types }),
        ];
        leaf.prop_recursive(4, 16, 4, move |inner| {
            prop_oneof![
                inner.clone().prop_map(|item| DataType::Array(Arc::new(item))),
                prop::collection::vec(inner.clone(), 0..4)
                    .prop_map(|types| DataType::Tuple(types.into_iter().map(Element::unnamed).collect())),
                prop::collection::vec((name, inner.clone()), 1..4).prop_map(|elements| DataType::Tuple(
                    elements
                        .into_iter()
                        .map(|(name, inner)| Element::named(name, inner))
                        .collect()
                )),
                (inner.clone(), inner.clone()).prop_map(|(key, value)| DataType::Map(Arc::new(key), Arc::new(value))),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_type_is_parsed_from_its_text(data_type in any_type()) {
            prop_assert_eq!(parse(&data_type.to_string()).expect("its own text"), data_type);
        }

        #[test]
        fn any_text_is_parsed_or_refused(text in "(Array|Tuple|Enum8|JSON|Variant|DateTime64|AggregateFunction|[(),'`= a0.\\\\]){0,12}") {
            if let Ok(data_type) = parse(&text) {
                prop_assert_eq!(parse(&data_type.to_string()).expect("its own text"), data_type);
            }
        }
    }
}
