//! ClickHouse's data types, with the text that ClickHouse itself writes for them.
//!
//! [`DataType`] is parsed from that text and written back as it: the order of `Variant`s, the spacing of parameters and
//! the quoting of names are ClickHouse's. The text is the only description of a type on the wire, so what is not
//! understood here (a time zone, a parameter of an aggregate function) is kept as it was written.
//!
//! Aliases that ClickHouse accepts in `CREATE TABLE` and never writes (`INT`, `VARCHAR`) are not types here.

mod parse;

use std::{fmt, sync::Arc};

/// A data type of ClickHouse.
///
/// Sources: <https://clickhouse.com/docs/sql-reference/data-types>, and the texts that ClickHouse 26.9 writes.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum DataType {
    /// Signed integer of 8 bits.
    Int8,
    /// Signed integer of 16 bits.
    Int16,
    /// Signed integer of 32 bits.
    Int32,
    /// Signed integer of 64 bits.
    Int64,
    /// Signed integer of 128 bits.
    Int128,
    /// Signed integer of 256 bits.
    Int256,
    /// Unsigned integer of 8 bits.
    UInt8,
    /// Unsigned integer of 16 bits.
    UInt16,
    /// Unsigned integer of 32 bits.
    UInt32,
    /// Unsigned integer of 64 bits.
    UInt64,
    /// Unsigned integer of 128 bits.
    UInt128,
    /// Unsigned integer of 256 bits.
    UInt256,
    /// IEEE 754 number of 32 bits.
    Float32,
    /// IEEE 754 number of 64 bits.
    Float64,
    /// The upper half of a [`DataType::Float32`].
    BFloat16,
    /// True or false.
    Bool,
    /// Bytes, most often text in UTF-8.
    String,
    /// Exactly so many bytes.
    FixedString(u32),
    /// Days since 1970-01-01, up to 2149-06-06.
    Date,
    /// Days since 1970-01-01, from 1900-01-01 to 2299-12-31.
    Date32,
    /// Seconds since 1970-01-01 00:00:00 UTC, and the time zone that shows them, if not the server's.
    DateTime(Option<Arc<str>>),
    /// Ticks of 10^-precision seconds since 1970-01-01 00:00:00 UTC; precision 0 to 9; a time zone as in
    /// [`DataType::DateTime`].
    DateTime64(u8, Option<Arc<str>>),
    /// Seconds, less than 1000 hours in either direction.
    Time,
    /// Ticks of 10^-precision seconds, less than 1000 hours in either direction; precision 0 to 9.
    Time64(u8),
    /// A count of a unit of time.
    Interval(IntervalKind),
    /// 16 bytes.
    Uuid,
    /// An address of 4 bytes.
    Ipv4,
    /// An address of 16 bytes.
    Ipv6,
    /// Names for numbers of 8 bits.
    Enum8(Arc<Enum<i8>>),
    /// Names for numbers of 16 bits.
    Enum16(Arc<Enum<i16>>),
    /// A decimal number.
    Decimal {
        /// Digits altogether, 1 to 76. They decide the width: 32 bits up to 9, 64 up to 18, 128 up to 38, else 256.
        precision: u8,
        /// Digits after the point, at most `precision`.
        scale: u8,
    },
    /// Lists.
    Array(Arc<DataType>),
    /// Values, or `NULL`.
    Nullable(Arc<DataType>),
    /// Values of several types together. Either all elements have names or none has.
    Tuple(Arc<[Element]>),
    /// Lists of named tuples.
    Nested(Arc<[Element]>),
    /// Pairs of key and value.
    Map(Arc<DataType>, Arc<DataType>),
    /// The same as the inner type, sent as a dictionary.
    LowCardinality(Arc<DataType>),
    /// No value at all: the type of the elements of `[]`.
    Nothing,
    /// A pair of [`DataType::Float64`].
    Point,
    /// A closed line of [`DataType::Point`]s.
    Ring,
    /// An open line of [`DataType::Point`]s.
    LineString,
    /// Several [`DataType::LineString`]s.
    MultiLineString,
    /// A [`DataType::Ring`] and the rings of its holes.
    Polygon,
    /// Several [`DataType::Polygon`]s.
    MultiPolygon,
    /// Any of the six shapes.
    Geometry,
    /// A value of one of these types, or `NULL`. Sorted by their texts, no type twice.
    Variant(Arc<[DataType]>),
    /// A value of any type, or `NULL`.
    Dynamic {
        /// How many types have a column of their own; the rest share one. ClickHouse's default: 32.
        max_types: u8,
    },
    /// A JSON object.
    Json(Arc<Json>),
    /// A vector of numbers, stored by their bits.
    QBit(Arc<DataType>, u32),
    /// A value of the type of the first argument, and the function that merges two of them.
    SimpleAggregateFunction(Arc<AggregateFunction>),
    /// The state of an aggregate function.
    AggregateFunction(Arc<AggregateFunction>),
}

/// An element of a [`DataType::Tuple`] or [`DataType::Nested`].
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Element {
    /// The name, where elements have names.
    pub name: Option<Arc<str>>,
    /// The type.
    pub data_type: DataType,
}

/// The names of an enumeration, in the order of their numbers.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Enum<N>(Box<[(Arc<str>, N)]>);

impl<N: Copy + Ord> Enum<N> {
    /// Puts pairs of name and number in order. `None` when there are none, or a name or number is there twice.
    pub fn new(mut pairs: Vec<(Arc<str>, N)>) -> Option<Self> {
        pairs.sort_by_key(|(_, number)| *number);
        if pairs.is_empty() || pairs.windows(2).any(|pair| matches!(pair, [a, b] if a.1 == b.1)) {
            return None;
        }
        let mut names: Vec<&str> = pairs.iter().map(|(name, _)| &**name).collect();
        names.sort_unstable();
        if names.windows(2).any(|pair| matches!(pair, [a, b] if a == b)) {
            return None;
        }
        Some(Self(pairs.into()))
    }

    /// The names and their numbers, in the order of the numbers.
    pub fn pairs(&self) -> &[(Arc<str>, N)] {
        &self.0
    }
}

/// The parameters of [`DataType::Json`].
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Json {
    /// How many types of a path have a column of their own. ClickHouse's default: 32.
    pub max_dynamic_types: u8,
    /// How many paths have a column of their own. ClickHouse's default: 1024.
    pub max_dynamic_paths: u32,
    /// Paths whose type is known, sorted by path.
    pub typed_paths: Vec<(Arc<str>, DataType)>,
    /// Paths that are left out, sorted.
    pub skip: Vec<Arc<str>>,
    /// Regular expressions of paths that are left out.
    pub skip_regexp: Vec<Arc<str>>,
}

impl Default for Json {
    fn default() -> Self {
        Self {
            max_dynamic_types: DataType::DEFAULT_MAX_DYNAMIC_TYPES,
            max_dynamic_paths: Self::DEFAULT_MAX_DYNAMIC_PATHS,
            typed_paths: Vec::new(),
            skip: Vec::new(),
            skip_regexp: Vec::new(),
        }
    }
}

impl Json {
    /// What is not written when it is the value of [`Json::max_dynamic_paths`].
    pub const DEFAULT_MAX_DYNAMIC_PATHS: u32 = 1024;
}

/// An aggregate function with its parameters and arguments.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct AggregateFunction {
    /// The version of the state, where it is written.
    pub version: Option<u64>,
    /// The name, such as `quantiles`.
    pub name: Arc<str>,
    /// The parameters as they are written between parentheses, such as `0.5, 0.9`.
    pub parameters: Option<Arc<str>>,
    /// The types of the arguments.
    pub arguments: Vec<DataType>,
}

/// The unit of a [`DataType::Interval`].
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum IntervalKind {
    Nanosecond,
    Microsecond,
    Millisecond,
    Second,
    Minute,
    Hour,
    Day,
    Week,
    Month,
    Quarter,
    Year,
}

impl IntervalKind {
    /// All kinds, in the order of ClickHouse's own enumeration.
    pub const ALL: [Self; 11] = [
        Self::Nanosecond,
        Self::Microsecond,
        Self::Millisecond,
        Self::Second,
        Self::Minute,
        Self::Hour,
        Self::Day,
        Self::Week,
        Self::Month,
        Self::Quarter,
        Self::Year,
    ];

    /// The name of the type, such as `IntervalDay`.
    pub fn type_name(self) -> &'static str {
        match self {
            Self::Nanosecond => "IntervalNanosecond",
            Self::Microsecond => "IntervalMicrosecond",
            Self::Millisecond => "IntervalMillisecond",
            Self::Second => "IntervalSecond",
            Self::Minute => "IntervalMinute",
            Self::Hour => "IntervalHour",
            Self::Day => "IntervalDay",
            Self::Week => "IntervalWeek",
            Self::Month => "IntervalMonth",
            Self::Quarter => "IntervalQuarter",
            Self::Year => "IntervalYear",
        }
    }
}

impl DataType {
    /// How deep types may nest. ClickHouse itself stops at 1000.
    pub const MAX_DEPTH: usize = 128;
    /// What is not written when it is the number of types of a [`DataType::Dynamic`].
    pub const DEFAULT_MAX_DYNAMIC_TYPES: u8 = 32;

    /// A `Variant` of these types: sorted by their texts, each once.
    pub fn variant(mut types: Vec<Self>) -> Self {
        types.sort_by_cached_key(Self::to_string);
        types.dedup();
        Self::Variant(types.into())
    }

    /// The type that has the same bytes and no name of its own: tuples and arrays for shapes, an array of tuples for
    /// `Nested`, the argument's type for `SimpleAggregateFunction`. `None` for types that are their own.
    pub fn underlying(&self) -> Option<Self> {
        let point = || Self::Tuple([Self::Float64, Self::Float64].map(Element::unnamed).into());
        let array = |inner| Self::Array(Arc::new(inner));
        match self {
            Self::Point => Some(point()),
            Self::Ring | Self::LineString => Some(array(Self::Point)),
            Self::MultiLineString => Some(array(Self::LineString)),
            Self::Polygon => Some(array(Self::Ring)),
            Self::MultiPolygon => Some(array(Self::Polygon)),
            Self::Geometry => Some(Self::Variant(
                // In the order of their names.
                [
                    Self::LineString,
                    Self::MultiLineString,
                    Self::MultiPolygon,
                    Self::Point,
                    Self::Polygon,
                    Self::Ring,
                ]
                .into(),
            )),
            Self::Nested(elements) => Some(array(Self::Tuple(Arc::clone(elements)))),
            Self::SimpleAggregateFunction(function) => function.arguments.first().cloned(),
            _ => None,
        }
    }

    /// The width of the values of a decimal of `precision` digits, in bytes.
    pub(crate) fn decimal_width(precision: u8) -> usize {
        match precision {
            ..=9 => 4,
            10..=18 => 8,
            19..=38 => 16,
            _ => 32,
        }
    }

    /// How many types are in one another, this one included.
    pub(crate) fn depth(&self) -> usize {
        let deepest = match self {
            Self::Array(inner) | Self::Nullable(inner) | Self::LowCardinality(inner) => inner.depth(),
            Self::Map(key, value) => key.depth().max(value.depth()),
            Self::Tuple(elements) | Self::Nested(elements) => elements
                .iter()
                .map(|element| element.data_type.depth())
                .max()
                .unwrap_or_default(),
            Self::Variant(types) => types.iter().map(Self::depth).max().unwrap_or_default(),
            Self::Json(json) => json
                .typed_paths
                .iter()
                .map(|(_, inner)| inner.depth())
                .max()
                .unwrap_or_default(),
            Self::SimpleAggregateFunction(function) => {
                function.arguments.iter().map(Self::depth).max().unwrap_or_default()
            }
            // Shapes are lists of lists of pairs of numbers at the most.
            Self::MultiPolygon | Self::MultiLineString | Self::Polygon | Self::Geometry => 4,
            _ => 0,
        };
        1 + deepest
    }

    /// Whether it has states of aggregate functions in it.
    pub(crate) fn has_states(&self) -> bool {
        match self {
            Self::AggregateFunction(_) => true,
            Self::Array(inner) | Self::Nullable(inner) | Self::LowCardinality(inner) => inner.has_states(),
            Self::Map(key, value) => key.has_states() || value.has_states(),
            Self::Tuple(elements) | Self::Nested(elements) => {
                elements.iter().any(|element| element.data_type.has_states())
            }
            Self::Variant(types) => types.iter().any(Self::has_states),
            Self::Json(json) => json.typed_paths.iter().any(|(_, inner)| inner.has_states()),
            Self::SimpleAggregateFunction(function) => function.arguments.iter().any(Self::has_states),
            _ => false,
        }
    }

    /// The same type as servers older than `LowCardinality` know it.
    pub(crate) fn without_low_cardinality(&self) -> Self {
        let inner = |inner: &Arc<Self>| Arc::new(inner.without_low_cardinality());
        let elements = |elements: &Arc<[Element]>| {
            let without = elements.iter().map(|element| Element {
                name: element.name.clone(),
                data_type: element.data_type.without_low_cardinality(),
            });
            without.collect()
        };
        match self {
            Self::LowCardinality(dictionary) => (**dictionary).clone(),
            Self::Array(item) => Self::Array(inner(item)),
            Self::Tuple(tuple) => Self::Tuple(elements(tuple)),
            Self::Nested(nested) => Self::Nested(elements(nested)),
            Self::Map(key, value) => Self::Map(inner(key), inner(value)),
            other => other.clone(),
        }
    }
}

impl Element {
    /// An element without a name.
    pub fn unnamed(data_type: DataType) -> Self {
        Self { name: None, data_type }
    }

    /// An element with a name.
    pub fn named(name: impl Into<Arc<str>>, data_type: DataType) -> Self {
        Self {
            name: Some(name.into()),
            data_type,
        }
    }
}

impl fmt::Display for DataType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(name) = self.simple_name() {
            return f.write_str(name);
        }
        match self {
            Self::FixedString(length) => write!(f, "FixedString({length})"),
            Self::DateTime(None) => f.write_str("DateTime"),
            Self::DateTime(Some(zone)) => write!(f, "DateTime({})", Quoted(zone)),
            Self::DateTime64(precision, None) => write!(f, "DateTime64({precision})"),
            Self::DateTime64(precision, Some(zone)) => write!(f, "DateTime64({precision}, {})", Quoted(zone)),
            Self::Time64(precision) => write!(f, "Time64({precision})"),
            Self::Enum8(names) => write_enum(f, "Enum8", names.pairs()),
            Self::Enum16(names) => write_enum(f, "Enum16", names.pairs()),
            Self::Decimal { precision, scale } => write!(f, "Decimal({precision}, {scale})"),
            Self::Array(item) => write!(f, "Array({item})"),
            Self::Nullable(inner) => write!(f, "Nullable({inner})"),
            Self::Tuple(elements) => write_elements(f, "Tuple", elements),
            Self::Nested(elements) => write_elements(f, "Nested", elements),
            Self::Map(key, value) => write!(f, "Map({key}, {value})"),
            Self::LowCardinality(inner) => write!(f, "LowCardinality({inner})"),
            Self::Variant(types) => write_list(f, "Variant", types.iter()),
            Self::Dynamic { max_types } if *max_types == Self::DEFAULT_MAX_DYNAMIC_TYPES => f.write_str("Dynamic"),
            Self::Dynamic { max_types } => write!(f, "Dynamic(max_types={max_types})"),
            Self::Json(json) => json.fmt(f),
            Self::QBit(number, dimension) => write!(f, "QBit({number}, {dimension})"),
            Self::SimpleAggregateFunction(function) => write!(f, "SimpleAggregateFunction({function})"),
            Self::AggregateFunction(function) => write!(f, "AggregateFunction({function})"),
            // `simple_name` has a name for each of the others.
            _ => Ok(()),
        }
    }
}

/// Makes the two directions between the types without parameters and their names.
macro_rules! simple_types {
    ($($name:literal => $data_type:ident,)*) => {
        impl DataType {
            /// The type without parameters that has this name.
            fn simple(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(Self::$data_type),)*
                    _ => IntervalKind::ALL.into_iter().find(|kind| kind.type_name() == name).map(Self::Interval),
                }
            }

            /// The name of a type without parameters.
            fn simple_name(&self) -> Option<&'static str> {
                match self {
                    $(Self::$data_type => Some($name),)*
                    Self::Interval(kind) => Some(kind.type_name()),
                    _ => None,
                }
            }
        }

        #[cfg(test)]
        const SIMPLE: &[DataType] = &[$(DataType::$data_type,)*];
    };
}

simple_types! {
    "Int8" => Int8,
    "Int16" => Int16,
    "Int32" => Int32,
    "Int64" => Int64,
    "Int128" => Int128,
    "Int256" => Int256,
    "UInt8" => UInt8,
    "UInt16" => UInt16,
    "UInt32" => UInt32,
    "UInt64" => UInt64,
    "UInt128" => UInt128,
    "UInt256" => UInt256,
    "Float32" => Float32,
    "Float64" => Float64,
    "BFloat16" => BFloat16,
    "Bool" => Bool,
    "String" => String,
    "Date" => Date,
    "Date32" => Date32,
    "Time" => Time,
    "UUID" => Uuid,
    "IPv4" => Ipv4,
    "IPv6" => Ipv6,
    "Nothing" => Nothing,
    "Point" => Point,
    "Ring" => Ring,
    "LineString" => LineString,
    "MultiLineString" => MultiLineString,
    "Polygon" => Polygon,
    "MultiPolygon" => MultiPolygon,
    "Geometry" => Geometry,
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")?;
        let mut separator = "(";
        let mut begin = |f: &mut fmt::Formatter<'_>| {
            let written = f.write_str(separator);
            separator = ", ";
            written
        };
        if self.max_dynamic_types != DataType::DEFAULT_MAX_DYNAMIC_TYPES {
            begin(f)?;
            write!(f, "max_dynamic_types={}", self.max_dynamic_types)?;
        }
        if self.max_dynamic_paths != Self::DEFAULT_MAX_DYNAMIC_PATHS {
            begin(f)?;
            write!(f, "max_dynamic_paths={}", self.max_dynamic_paths)?;
        }
        for (path, data_type) in &self.typed_paths {
            begin(f)?;
            write!(f, "{} {data_type}", Path(path))?;
        }
        for path in &self.skip {
            begin(f)?;
            write!(f, "SKIP {}", Path(path))?;
        }
        for expression in &self.skip_regexp {
            begin(f)?;
            write!(f, "SKIP REGEXP {}", Quoted(expression))?;
        }
        f.write_str(if separator == "(" { "" } else { ")" })
    }
}

impl fmt::Display for AggregateFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(version) = self.version {
            write!(f, "{version}, ")?;
        }
        f.write_str(&self.name)?;
        if let Some(parameters) = &self.parameters {
            write!(f, "({parameters})")?;
        }
        self.arguments.iter().try_for_each(|argument| write!(f, ", {argument}"))
    }
}

fn write_list<'a>(
    f: &mut fmt::Formatter<'_>,
    name: &str,
    mut types: impl Iterator<Item = &'a DataType>,
) -> fmt::Result {
    write!(f, "{name}(")?;
    if let Some(first) = types.next() {
        write!(f, "{first}")?;
    }
    types.try_for_each(|data_type| write!(f, ", {data_type}"))?;
    f.write_str(")")
}

fn write_elements(f: &mut fmt::Formatter<'_>, name: &str, elements: &[Element]) -> fmt::Result {
    write!(f, "{name}(")?;
    for (index, element) in elements.iter().enumerate() {
        f.write_str(if index == 0 { "" } else { ", " })?;
        if let Some(name) = &element.name {
            write!(f, "{} ", Identifier(name))?;
        }
        write!(f, "{}", element.data_type)?;
    }
    f.write_str(")")
}

fn write_enum<N: fmt::Display>(f: &mut fmt::Formatter<'_>, name: &str, pairs: &[(Arc<str>, N)]) -> fmt::Result {
    write!(f, "{name}(")?;
    for (index, (name, number)) in pairs.iter().enumerate() {
        f.write_str(if index == 0 { "" } else { ", " })?;
        write!(f, "{} = {number}", Quoted(name))?;
    }
    f.write_str(")")
}

/// Text in single quotes, with the escapes of ClickHouse's `writeAnyEscapedString`.
struct Quoted<'a>(&'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_quoted(f, self.0, '\'')
    }
}

/// A name, in backquotes unless it is plain.
struct Identifier<'a>(&'a str);

impl fmt::Display for Identifier<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if is_identifier(self.0) {
            f.write_str(self.0)
        } else {
            write_quoted(f, self.0, '`')
        }
    }
}

/// A path of JSON: identifiers with dots between.
struct Path<'a>(&'a str);

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, part) in self.0.split('.').enumerate() {
            f.write_str(if index == 0 { "" } else { "." })?;
            write!(f, "{}", Identifier(part))?;
        }
        Ok(())
    }
}

fn is_identifier(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        // Words that mean something else where a name is expected.
        && !["DISTINCT", "ALL", "TABLE", "SELECT", "FROM", "NULL"].iter().any(|word| word.eq_ignore_ascii_case(name))
}

fn write_quoted(f: &mut fmt::Formatter<'_>, text: &str, quote: char) -> fmt::Result {
    fmt::Write::write_char(f, quote)?;
    for letter in text.chars() {
        match letter {
            '\u{8}' => f.write_str("\\b")?,
            '\u{c}' => f.write_str("\\f")?,
            '\n' => f.write_str("\\n")?,
            '\r' => f.write_str("\\r")?,
            '\t' => f.write_str("\\t")?,
            '\0' => f.write_str("\\0")?,
            '\\' => f.write_str("\\\\")?,
            letter if letter == quote => write!(f, "\\{quote}")?,
            letter => fmt::Write::write_char(f, letter)?,
        }
    }
    fmt::Write::write_char(f, quote)
}
