//! Random tables in memory, with every kind of field that lies in the record.

/// Random numbers from a seed that a failing test prints.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed | 1)
    }

    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        // xorshift64*
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % limit
    }

    pub(crate) fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        let at = self.below(items.len() as u64);
        &items[usize::try_from(at).unwrap()]
    }
}

pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) letter: u8,
    pub(crate) width: usize,
    pub(crate) decimals: u8,
    nullable: bool,
}

/// A table of Visual FoxPro and its bytes.
pub(crate) struct RandomTable {
    pub(crate) columns: Vec<Column>,
    pub(crate) bytes: Vec<u8>,
    pub(crate) header_len: usize,
    pub(crate) stride: usize,
    pub(crate) rows: u32,
}

impl RandomTable {
    /// A table of up to `rows` records. With `damage` some cells hold bytes that are none of their type's.
    pub(crate) fn new(random: &mut Random, rows: u64, damage: bool) -> Self {
        let rows = u32::try_from(random.below(rows + 1)).unwrap();
        let columns: Vec<Column> = (0..=random.below(7)).map(|i| column(random, i)).collect();
        let null_count = columns.iter().filter(|c| c.nullable).count();
        let flags = null_count.div_ceil(8);
        let stride = 1 + columns.iter().map(|c| c.width).sum::<usize>() + flags;
        let fields = columns.len() + usize::from(flags > 0);
        let header_len = 32 + 32 * fields + 1 + 263;
        let mut bytes = vec![0x30, 124, 1, 31];
        bytes.extend(rows.to_le_bytes());
        bytes.extend(u16::try_from(header_len).unwrap().to_le_bytes());
        bytes.extend(u16::try_from(stride).unwrap().to_le_bytes());
        bytes.resize(32, 0);
        bytes[29] = 3;
        let mut offset = 1;
        let mut describe = |name: &str, letter, width: usize, decimals, flags: u8| {
            let mut descriptor = [0; 32];
            descriptor[..name.len()].copy_from_slice(name.as_bytes());
            descriptor[11] = letter;
            descriptor[12..16].copy_from_slice(&u32::try_from(offset).unwrap().to_le_bytes());
            descriptor[16] = u8::try_from(width).unwrap();
            (descriptor[17], descriptor[18]) = (decimals, flags);
            bytes.extend(descriptor);
            offset += width;
        };
        for column in &columns {
            let flags = if column.nullable { 2 } else { 0 };
            describe(&column.name, column.letter, column.width, column.decimals, flags);
        }
        if flags > 0 {
            describe("_NullFlags", b'0', flags, 0, 5);
        }
        bytes.push(0x0D);
        bytes.resize(header_len, 0);
        for _ in 0..rows {
            bytes.push(if random.below(5) == 0 { b'*' } else { b' ' });
            for column in &columns {
                let is_damaged = damage && random.below(60) == 0;
                let cell = cell(random, column, is_damaged);
                assert_eq!(cell.len(), column.width, "{} {}", column.letter, column.width);
                bytes.extend(cell);
            }
            let nulls = (0..flags * 8).map(|i| i < null_count && random.below(4) == 0);
            let nulls: Vec<bool> = nulls.collect();
            bytes.extend(nulls.chunks(8).map(|bits| {
                let bits = bits.iter().enumerate();
                bits.fold(0_u8, |byte, (i, is_null)| byte | u8::from(*is_null) << i)
            }));
        }
        Self {
            columns,
            bytes,
            header_len,
            stride,
            rows,
        }
    }

    /// The records with their numbers.
    pub(crate) fn records(&self) -> impl Iterator<Item = (u32, &[u8])> {
        (1..).zip(self.bytes[self.header_len..].chunks_exact(self.stride))
    }
}

fn column(random: &mut Random, i: u64) -> Column {
    let letter = *random.pick(b"CCCNNNFLDIBYT");
    let width = match letter {
        b'C' => 1 + random.below(20),
        b'N' | b'F' => 1 + random.below(20),
        b'L' => 1,
        b'I' => 4,
        _ => 8,
    };
    let decimals = match letter {
        b'N' | b'F' if width > 2 => random.below((width - 1).min(5)),
        b'B' => 2,
        b'Y' => 4,
        _ => 0,
    };
    Column {
        name: format!("F{i}"),
        letter,
        width: usize::try_from(width).unwrap(),
        decimals: u8::try_from(decimals).unwrap(),
        nullable: random.below(4) == 0,
    }
}

fn cell(random: &mut Random, column: &Column, damage: bool) -> Vec<u8> {
    let width = column.width;
    let mut cell = match column.letter {
        b'C' => text(random, width),
        b'N' | b'F' => {
            let text = match random.below(12) {
                0 => String::new(),
                1 => "*".repeat(width),
                2 if column.letter == b'F' && width > 4 => "1e2".to_owned(),
                3 => format!("{} ", number(random, width - 1, 0)),
                _ => number(random, width, column.decimals),
            };
            format!("{text:>width$}").into_bytes()
        }
        b'L' => vec![*random.pick(b"TtYyFfNn? \0")],
        b'D' => date(random).unwrap_or("        ".to_owned()).into_bytes(),
        b'I' => i32::try_from(random.below(9))
            .map(|n| (n - 4).to_le_bytes().to_vec())
            .unwrap(),
        b'B' => match random.below(8) {
            0 => f64::NAN.to_le_bytes().to_vec(),
            1 => (-0.0_f64).to_le_bytes().to_vec(),
            2 => f64::INFINITY.to_le_bytes().to_vec(),
            n => (f64::from(u32::try_from(n).unwrap()) / 2.0 - 2.0)
                .to_le_bytes()
                .to_vec(),
        },
        b'Y' => i64::try_from(random.below(40_000))
            .map(|n| (n / 5000 * 5000 - 20_000).to_le_bytes().to_vec())
            .unwrap(),
        _ => match random.below(5) {
            0 => vec![0; 8],
            n => {
                let (day, ms) = (
                    2_460_000 + u32::try_from(n).unwrap(),
                    u32::try_from(random.below(3)).unwrap() * 43_200_000,
                );
                [day.to_le_bytes(), ms.to_le_bytes()].concat()
            }
        },
    };
    if damage {
        let at = usize::try_from(random.below(width as u64)).unwrap();
        cell[at] = *random.pick(b"xX.-9\0\xFF");
    }
    cell
}

fn text(random: &mut Random, width: usize) -> Vec<u8> {
    let letters = usize::try_from(random.below(width as u64 + 1)).unwrap();
    let mut text: Vec<u8> = (0..letters).map(|_| *random.pick(b"aAbB \x84\x8E\x01")).collect();
    text.resize(width, b' ');
    text
}

/// A number that often occurs, in at most `width` characters.
pub(crate) fn number(random: &mut Random, width: usize, decimals: u8) -> String {
    let text = match random.below(4) {
        0 => format!("{:.*}", usize::from(decimals), 0.0),
        1 => format!("-{:.*}", usize::from(decimals), 1.5),
        _ => format!("{:.*}", usize::from(decimals), random.below(40) as f64 / 4.0),
    };
    if text.len() <= width {
        text
    } else {
        "1".repeat(width.min(1))
    }
}

pub(crate) fn date(random: &mut Random) -> Option<String> {
    let day = *random.pick(&[
        "20240131", "20240229", "19991231", "20000101", "00010101", "99991231", "",
    ]);
    (!day.is_empty()).then(|| day.to_owned())
}
