//! The records that Riegeli libraries are measured with. They are those of the benchmarks of the crate riegeli, so that
//! figures can be laid side by side: `small` and `large` of its `head_to_head.rs`, `proto1k` of `throughput.rs`, and the wide
//! and the nested message of `transpose_projection_bench.rs`.

/// Records to write, with a name.
pub struct Payload {
    /// As the tables print it.
    pub name: &'static str,
    /// The records in order.
    pub records: Vec<Vec<u8>>,
}

impl Payload {
    /// 10,000 records of 100 bytes that begin like JSON and go on with a pattern of bytes.
    pub fn small() -> Self {
        Self::of("small", 10_000, |record| json_like(record, 100))
    }

    /// 10,000 records of 10 KiB, made like the small ones.
    pub fn large() -> Self {
        Self::of("large", 10_000, |record| json_like(record, 10 << 10))
    }

    /// 10,000 messages of 1 KiB: a number and a string of bytes.
    pub fn proto1k() -> Self {
        Self::of("proto1k", 10_000, |record| {
            let mut message = varint_field(1, record);
            let content = 1_024 - message.len() - 4;
            let pattern = [
                byte(record, 0),
                byte(record, 8),
                0xaa,
                0x55,
                byte(record, 0),
                0xbb,
                0x33,
                byte(record, 4),
            ];
            let content: Vec<u8> = pattern.into_iter().cycle().take(content).collect();
            message.extend(bytes_field(2, &content));
            message.resize(1_024, 0);
            message
        })
    }

    /// 20,000 messages of 25 fields of all wire types, about 227 bytes each.
    pub fn wide20k() -> Self {
        Self::of("wide20k", 20_000, |record| {
            (1..=25)
                .flat_map(|number| field_of(number, record, 1_000, "field_{}_seed_{}"))
                .collect()
        })
    }

    /// 2,000 messages of 25 fields, one of them a message three levels deep.
    pub fn nested2k() -> Self {
        Self::of("nested2k", 2_000, |record| {
            let fixed = fixed32_field(2, record as u32);
            let third = [varint_field(1, record * 7), fixed.clone()].concat();
            let second = [varint_field(1, record * 3), bytes_field(5, &third), fixed.clone()].concat();
            let first = [varint_field(1, record * 2), bytes_field(3, &second), fixed].concat();
            let mut message = varint_field(1, record);
            message.extend(bytes_field(2, &first));
            message.extend((3..=25).flat_map(|number| field_of(number, record, 100, "pad_{}_{}")));
            message
        })
    }

    /// `count` records of 100 bytes that begin with their number in ten digits, so that they are sorted.
    pub fn sorted(count: u64) -> Self {
        Self::of("sorted", count, |record| {
            let mut line = format!("{record:010} ").into_bytes();
            line.extend(json_like(record, 89));
            line
        })
    }

    /// The records lie one behind the other in memory, as those of a file that was read: how long one waits for memory is not
    /// what is measured.
    fn of(name: &'static str, count: u64, mut record: impl FnMut(u64) -> Vec<u8>) -> Self {
        let mut ends = Vec::new();
        let mut bytes = Vec::new();
        for number in 0..count {
            bytes.extend(record(number));
            ends.push(bytes.len());
        }
        let begins = std::iter::once(&0).chain(&ends);
        Self {
            name,
            records: begins
                .zip(&ends)
                .map(|(&begin, &end)| bytes[begin..end].to_vec())
                .collect(),
        }
    }

    /// The length of all records.
    pub fn bytes(&self) -> u64 {
        self.records.iter().map(|record| record.len() as u64).sum()
    }
}

fn json_like(record: u64, size: usize) -> Vec<u8> {
    let head = format!(
        r#"{{"id":{record},"seq":{},"tag":"bench-record","data":""#,
        record * 7 + 13
    );
    let pattern = [
        byte(record, 0),
        byte(record, 8),
        0xaa,
        0x55,
        byte(record, 0),
        0xbb,
        0x33,
        byte(record, 4),
        0xde,
        0xad,
        byte(record, 0) & 0x3f,
        0xbe,
        0xef,
        byte(record, 2),
        0xca,
        0xfe,
    ];
    let fill = pattern.into_iter().cycle().take((size - 2).saturating_sub(head.len()));
    let mut line: Vec<u8> = head.bytes().chain(fill).collect();
    line.extend(b"\"}");
    line.resize(size, b' ');
    line
}

/// The field of the wide messages that has this number: its type goes with the number.
fn field_of(number: u32, record: u64, step: u64, text: &str) -> Vec<u8> {
    match number % 4 {
        1 => varint_field(number, record * u64::from(number)),
        2 => fixed32_field(number, (record as u32).wrapping_add(number)),
        3 => {
            let mut field = tag(number, 1);
            field.extend((record + u64::from(number) * step).to_le_bytes());
            field
        }
        _ => {
            let text = text.replacen("{}", &number.to_string(), 1);
            bytes_field(number, text.replacen("{}", &record.to_string(), 1).as_bytes())
        }
    }
}

fn varint_field(number: u32, value: u64) -> Vec<u8> {
    let mut field = tag(number, 0);
    field.extend(varint(value));
    field
}

fn fixed32_field(number: u32, value: u32) -> Vec<u8> {
    let mut field = tag(number, 5);
    field.extend(value.to_le_bytes());
    field
}

fn bytes_field(number: u32, content: &[u8]) -> Vec<u8> {
    let mut field = tag(number, 2);
    field.extend(varint(content.len() as u64));
    field.extend(content);
    field
}

fn tag(number: u32, wire_type: u64) -> Vec<u8> {
    varint(u64::from(number) << 3 | wire_type)
}

fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push(byte(value, 0) | 0x80);
        value >>= 7;
    }
    bytes.push(byte(value, 0));
    bytes
}

fn byte(number: u64, shift: u32) -> u8 {
    (number >> shift) as u8
}
