//! Blocks of any type, made by hand: a second and much simpler writer of `FORMAT Native`, of random values.

use tidemill_clickhouse::{DataType, data_type::IntervalKind};

/// A file of one block: columns `c0`, `c1`, … of these types.
pub(crate) fn file(types: &[DataType], rows: usize, seed: u64) -> Vec<u8> {
    let mut random = Random(seed | 1);
    let mut bytes = Vec::new();
    varint(&mut bytes, types.len());
    varint(&mut bytes, rows);
    for (index, data_type) in types.iter().enumerate() {
        string(&mut bytes, format!("c{index}").as_bytes());
        string(&mut bytes, data_type.to_string().as_bytes());
        // Not even a prefix where there are no rows.
        if rows > 0 {
            prefix(&mut bytes, data_type);
        }
        values(&mut bytes, data_type, rows, &mut random);
    }
    bytes
}

/// Numbers that look random.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() >> 33) as usize % bound
    }
}

fn prefix(bytes: &mut Vec<u8>, data_type: &DataType) {
    match data_type {
        DataType::LowCardinality(_) => bytes.extend(1_u64.to_le_bytes()),
        DataType::Array(inner) | DataType::Nullable(inner) => prefix(bytes, inner),
        DataType::Map(key, value) => {
            prefix(bytes, key);
            prefix(bytes, value);
        }
        DataType::Tuple(elements) => elements.iter().for_each(|element| prefix(bytes, &element.data_type)),
        DataType::Variant(types) => {
            bytes.extend(0_u64.to_le_bytes());
            types.iter().for_each(|inner| prefix(bytes, inner));
        }
        _ => {}
    }
}

fn values(bytes: &mut Vec<u8>, data_type: &DataType, rows: usize, random: &mut Random) {
    if rows == 0 {
        return;
    }
    match data_type {
        DataType::Bool => bytes.extend((0..rows).map(|_| random.below(2) as u8)),
        DataType::String => (0..rows).for_each(|_| text(bytes, random)),
        DataType::Enum8(names) => pick(bytes, rows, random, names.pairs(), |number| {
            number.to_le_bytes().to_vec()
        }),
        DataType::Enum16(names) => pick(bytes, rows, random, names.pairs(), |number| {
            number.to_le_bytes().to_vec()
        }),
        // Ticks that can be multiplied.
        DataType::DateTime64(4, _) | DataType::Time64(5) => {
            (0..rows).for_each(|_| bytes.extend(((random.next() as i64) >> 20).to_le_bytes()));
        }
        DataType::Nothing => bytes.extend(vec![b'0'; rows]),
        DataType::Point => (0..2 * rows).for_each(|_| bytes.extend((random.below(1000) as f64 / 8.0).to_le_bytes())),
        DataType::Nullable(inner) => {
            bytes.extend((0..rows).map(|_| random.below(2) as u8));
            values(bytes, inner, rows, random);
        }
        DataType::Array(item) => {
            let items = ends(bytes, rows, random);
            values(bytes, item, items, random);
        }
        DataType::Map(key, value) => {
            let items = ends(bytes, rows, random);
            values(bytes, key, items, random);
            values(bytes, value, items, random);
        }
        DataType::Tuple(elements) => {
            elements
                .iter()
                .for_each(|element| values(bytes, &element.data_type, rows, random));
        }
        DataType::LowCardinality(inner) => low_cardinality(bytes, inner, rows, random),
        DataType::Variant(types) => {
            let mut counts = vec![0; types.len()];
            for _ in 0..rows {
                let member = random.below(types.len() + 1);
                bytes.push(if member == types.len() { 255 } else { member as u8 });
                if let Some(count) = counts.get_mut(member) {
                    *count += 1;
                }
            }
            types
                .iter()
                .zip(counts)
                .for_each(|(inner, count)| values(bytes, inner, count, random));
        }
        other => (0..rows * width(other)).for_each(|_| bytes.push(random.next() as u8)),
    }
}

/// A dictionary of different values, all of which are used, the default before them; and `NULL` before it.
fn low_cardinality(bytes: &mut Vec<u8>, inner: &DataType, rows: usize, random: &mut Random) {
    let (value, nulls) = match inner {
        DataType::Nullable(value) => (&**value, 1),
        value => (value, 0),
    };
    let count = rows.min(5);
    bytes.extend(0x600_u64.to_le_bytes());
    bytes.extend(((count + 1 + nulls) as u64).to_le_bytes());
    for number in 0..=count + nulls {
        let number = number.saturating_sub(nulls);
        match value {
            DataType::String if number == 0 => bytes.push(0),
            DataType::String => string(bytes, format!("v{number}").as_bytes()),
            _ => bytes.extend((number as u16).to_le_bytes()),
        }
    }
    bytes.extend((rows as u64).to_le_bytes());
    // Every value in its order, so that ClickHouse finds them in the same order, and then any.
    bytes.extend((0..rows).map(|row| if row < count { row + 1 + nulls } else { random.below(count + 1 + nulls) } as u8));
}

fn pick<N: Copy>(
    bytes: &mut Vec<u8>,
    rows: usize,
    random: &mut Random,
    pairs: &[(std::sync::Arc<str>, N)],
    write: impl Fn(N) -> Vec<u8>,
) {
    (0..rows).for_each(|_| bytes.extend(write(pairs[random.below(pairs.len())].1)));
}

fn ends(bytes: &mut Vec<u8>, rows: usize, random: &mut Random) -> usize {
    let mut end = 0;
    for _ in 0..rows {
        end += random.below(4);
        bytes.extend((end as u64).to_le_bytes());
    }
    end
}

fn text(bytes: &mut Vec<u8>, random: &mut Random) {
    let length = if random.below(20) == 0 {
        random.below(300)
    } else {
        random.below(8)
    };
    let letters: String = (0..length)
        .map(|_| ["a", "b", "ü", "\n", "€"][random.below(5)])
        .collect();
    string(bytes, letters.as_bytes());
}

fn string(bytes: &mut Vec<u8>, text: &[u8]) {
    varint(bytes, text.len());
    bytes.extend(text);
}

fn varint(bytes: &mut Vec<u8>, mut number: usize) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn width(data_type: &DataType) -> usize {
    match data_type {
        DataType::Int8 | DataType::UInt8 => 1,
        DataType::Int16 | DataType::UInt16 | DataType::BFloat16 | DataType::Date => 2,
        DataType::Int32
        | DataType::UInt32
        | DataType::Float32
        | DataType::Date32
        | DataType::DateTime(_)
        | DataType::Time
        | DataType::Ipv4 => 4,
        DataType::Int64
        | DataType::UInt64
        | DataType::Float64
        | DataType::DateTime64(..)
        | DataType::Time64(_)
        | DataType::Interval(IntervalKind::Day) => 8,
        DataType::Int128 | DataType::UInt128 | DataType::Uuid | DataType::Ipv6 => 16,
        DataType::Int256 | DataType::UInt256 => 32,
        DataType::FixedString(length) => *length as usize,
        DataType::Decimal { precision: 9, .. } => 4,
        DataType::Decimal { precision: 18, .. } => 8,
        DataType::Decimal { precision: 38, .. } => 16,
        DataType::Decimal { .. } => 32,
        other => panic!("no width for {other}"),
    }
}
