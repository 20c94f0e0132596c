//! As much of [Protocol Buffers](https://protobuf.dev/programming-guides/encoding/) as requests and the handles in answers need.

/// A field of bytes, a text or a message.
pub(crate) fn field(number: u32, content: &[u8]) -> Vec<u8> {
    let mut field = Vec::new();
    put_varint(&mut field, (u64::from(number) << 3) | 2);
    put_varint(&mut field, content.len() as u64);
    field.extend_from_slice(content);
    field
}

/// The first such field of a message with this number; `None` in what is no message.
pub(crate) fn find(mut message: &[u8], number: u32) -> Option<&[u8]> {
    while !message.is_empty() {
        let key = varint(&mut message)?;
        let length = match key & 7 {
            0 => {
                varint(&mut message)?;
                0
            }
            1 => 8,
            2 => usize::try_from(varint(&mut message)?).ok()?,
            5 => 4,
            _ => return None,
        };
        let (content, rest) = message.split_at_checked(length)?;
        if key == (u64::from(number) << 3) | 2 {
            return Some(content);
        }
        message = rest;
    }
    None
}

fn put_varint(bytes: &mut Vec<u8>, mut value: u64) {
    loop {
        let [low, ..] = value.to_le_bytes();
        value >>= 7;
        if value == 0 {
            return bytes.push(low);
        }
        bytes.push(low | 0x80);
    }
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}
