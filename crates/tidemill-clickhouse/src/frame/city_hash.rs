//! CityHash128 as ClickHouse has it: version 1.0.2, which later versions of CityHash do not agree with.
//!
//! Source: `contrib/cityhash102` of ClickHouse, described in Google's CityHash 1.0.2. The value is written low half first.
//!
//! Only the 128-bit function is here; nothing else of CityHash is on the wire.

/// Returns the hash of `bytes`, the low half in the low 64 bits.
pub fn city_hash_128(bytes: &[u8]) -> u128 {
    let (low, high) = if let Some((head, rest)) = bytes.split_first_chunk::<16>() {
        seeded(rest, fetch(head, 0) ^ K3, fetch(head, 8))
    } else if bytes.len() >= 8 {
        let length = bytes.len() as u64;
        let low = fetch(bytes, 0) ^ length.wrapping_mul(K0);
        seeded(&[], low, fetch(bytes, bytes.len() - 8) ^ K1)
    } else {
        seeded(bytes, K0, K1)
    };
    u128::from(high) << 64 | u128::from(low)
}

fn seeded(bytes: &[u8], low: u64, high: u64) -> (u64, u64) {
    if bytes.len() < 128 {
        return short(bytes, low, high);
    }
    let mut x = low;
    let mut y = high;
    let mut z = (bytes.len() as u64).wrapping_mul(K1);
    let mut v = (0, 0);
    v.0 = multiply_rotated(y ^ K1, 49, K1).wrapping_add(fetch(bytes, 0));
    v.1 = multiply_rotated(v.0, 42, K1).wrapping_add(fetch(bytes, 8));
    let mut w = (
        multiply_rotated(y.wrapping_add(z), 35, K1).wrapping_add(x),
        multiply_rotated(x.wrapping_add(fetch(bytes, 88)), 53, K1),
    );

    let pairs = bytes.chunks_exact(128);
    let rest = pairs.remainder();
    for pair in pairs {
        for half in pair.as_chunks::<64>().0 {
            x = x.wrapping_add(y).wrapping_add(v.0).wrapping_add(fetch(half, 16));
            x = multiply_rotated(x, 37, K1) ^ w.1;
            y = y.wrapping_add(v.1).wrapping_add(fetch(half, 48));
            y = multiply_rotated(y, 42, K1) ^ v.0;
            z = (z ^ w.0).rotate_right(33);
            v = weak(half, 0, v.1.wrapping_mul(K1), x.wrapping_add(w.0));
            w = weak(half, 32, z.wrapping_add(w.1), y);
            (x, z) = (z, x);
        }
    }

    y = y.wrapping_add(multiply_rotated(w.0, 37, K0)).wrapping_add(z);
    x = x.wrapping_add(multiply_rotated(v.0.wrapping_add(z), 49, K0));
    // Up to four pieces of 32 bytes from the end; the last of them reaches back into what was hashed.
    for piece in 1..=rest.len().div_ceil(32) {
        let begin = bytes.len() - piece * 32;
        y = multiply_rotated(y.wrapping_sub(x), 42, K0).wrapping_add(v.1);
        w.0 = w.0.wrapping_add(fetch(bytes, begin + 16));
        x = x.rotate_right(49).wrapping_mul(K0).wrapping_add(w.0);
        w.0 = w.0.wrapping_add(v.0);
        v = weak(bytes, begin, v.0, v.1);
    }
    x = mix(x, v.0);
    y = mix(y, w.0);
    (
        mix(x.wrapping_add(v.1), w.1).wrapping_add(y),
        mix(x.wrapping_add(w.1), y.wrapping_add(v.1)),
    )
}

fn short(bytes: &[u8], low: u64, high: u64) -> (u64, u64) {
    let length = bytes.len();
    let (mut a, mut b) = (low, high);
    let (mut c, mut d);
    if length <= 16 {
        a = shift_mix(a.wrapping_mul(K1)).wrapping_mul(K1);
        c = b.wrapping_mul(K1).wrapping_add(up_to_16(bytes));
        d = shift_mix(a.wrapping_add(if length >= 8 { fetch(bytes, 0) } else { c }));
    } else {
        c = mix(fetch(bytes, length - 8).wrapping_add(K1), a);
        d = mix(b.wrapping_add(length as u64), c.wrapping_add(fetch(bytes, length - 16)));
        a = a.wrapping_add(d);
        for begin in (0..length - 16).step_by(16) {
            a = (a ^ shift_mix(fetch(bytes, begin).wrapping_mul(K1)).wrapping_mul(K1)).wrapping_mul(K1);
            b ^= a;
            c = (c ^ shift_mix(fetch(bytes, begin + 8).wrapping_mul(K1)).wrapping_mul(K1)).wrapping_mul(K1);
            d ^= c;
        }
    }
    a = mix(a, c);
    b = mix(d, b);
    (a ^ b, mix(b, a))
}

fn up_to_16(bytes: &[u8]) -> u64 {
    let length = bytes.len();
    if length > 8 {
        let (a, b) = (fetch(bytes, 0), fetch(bytes, length - 8));
        // The length is at most 16, so the shift is less than 64.
        return mix(a, b.wrapping_add(length as u64).rotate_right(length as u32)) ^ b;
    }
    if length >= 4 {
        let a = u64::from(fetch_32(bytes, 0));
        return mix(
            (length as u64).wrapping_add(a << 3),
            u64::from(fetch_32(bytes, length - 4)),
        );
    }
    let (Some(first), Some(middle), Some(last)) = (bytes.first(), bytes.get(length / 2), bytes.last()) else {
        return K2;
    };
    let y = u64::from(*first) + (u64::from(*middle) << 8);
    let z = length as u64 + (u64::from(*last) << 2);
    shift_mix(y.wrapping_mul(K2) ^ z.wrapping_mul(K3)).wrapping_mul(K2)
}

/// A weak hash of 32 bytes.
#[inline(always)]
fn weak(bytes: &[u8], begin: usize, a: u64, b: u64) -> (u64, u64) {
    let a = a.wrapping_add(fetch(bytes, begin));
    let z = fetch(bytes, begin + 24);
    let b = b.wrapping_add(a).wrapping_add(z).rotate_right(21);
    let sum = a
        .wrapping_add(fetch(bytes, begin + 8))
        .wrapping_add(fetch(bytes, begin + 16));
    (
        sum.wrapping_add(z),
        b.wrapping_add(sum.rotate_right(44)).wrapping_add(a),
    )
}

/// Two words to one.
fn mix(u: u64, v: u64) -> u64 {
    const MULTIPLIER: u64 = 0x9ddf_ea08_eb38_2d69;
    let a = shift_mix((u ^ v).wrapping_mul(MULTIPLIER));
    shift_mix((v ^ a).wrapping_mul(MULTIPLIER)).wrapping_mul(MULTIPLIER)
}

#[inline(always)]
fn multiply_rotated(value: u64, right: u32, multiplier: u64) -> u64 {
    value.rotate_right(right).wrapping_mul(multiplier)
}

#[inline(always)]
fn shift_mix(value: u64) -> u64 {
    value ^ (value >> 47)
}

/// Eight bytes from `at`, which callers keep within `bytes`.
#[inline(always)]
fn fetch(bytes: &[u8], at: usize) -> u64 {
    let word = bytes.get(at..).and_then(<[u8]>::first_chunk);
    u64::from_le_bytes(word.copied().unwrap_or_default())
}

fn fetch_32(bytes: &[u8], at: usize) -> u32 {
    let word = bytes.get(at..).and_then(<[u8]>::first_chunk);
    u32::from_le_bytes(word.copied().unwrap_or_default())
}

const K0: u64 = 0xc3a5_c85c_97cb_3127;
const K1: u64 = 0xb492_b66f_be98_f273;
const K2: u64 = 0x9ae1_6a3b_2f90_404f;
const K3: u64 = 0xc949_d7c7_509e_6557;

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers of ClickHouse's own C++ code, in the PyPI package clickhouse-cityhash 1.0.2, for the bytes
    /// `(i * 7 + length) % 251`. They have the low half in front.
    const KNOWN: [(usize, u128); 29] = [
        (0, 0x3df0_9dfc_64c0_9a2b_3cb5_40c3_92e5_1e29),
        (1, 0x5a03_ab4f_802b_3f6c_58a8_8a3c_8a31_e91a),
        (3, 0x3108_fa6b_1da1_6986_3230_1bf0_c250_612d),
        (4, 0x2b36_229b_a99a_a334_25e1_c052_f640_8d75),
        (7, 0x4d69_55e1_bc46_24e3_252e_8c01_5f4c_9bd0),
        (8, 0x9feb_346c_e8e3_5a98_f2f9_f118_5545_d8ba),
        (9, 0x8088_5008_a99d_77f2_0854_364f_e84a_ef88),
        (15, 0x1443_b647_0aa1_c7ff_70f9_9883_5a68_4c59),
        (16, 0x4e7e_2890_890c_933d_9b65_11d6_4404_77c7),
        (17, 0xf0e9_ed04_b1c7_f44e_8a17_c6d0_4d54_31ae),
        (24, 0x3a34_086b_235e_cfbb_0cb6_5080_ace6_058f),
        (25, 0x7396_cd4e_d292_081b_d338_3823_f829_f861),
        (31, 0x99f1_8511_2aa9_cd7e_d427_62ed_f050_8928),
        (32, 0xadf0_df93_5f46_a6c9_45c6_069d_82f7_b2fc),
        (33, 0xd551_3023_ba6c_fa27_0794_3a16_a875_7b14),
        (48, 0x9f72_d659_7fa5_4484_91ec_40ec_a51b_02c3),
        (49, 0x0ed8_8d75_28ad_753e_15f6_7759_eb7a_7510),
        (127, 0x4f13_561d_5be0_76e7_38f8_d0cd_e624_97c7),
        (128, 0xcf62_d3c7_adbc_75a9_74ba_dcfa_53f7_ac90),
        (143, 0xd9e0_dedd_250a_44da_6c7e_b8fd_5e5b_d6a8),
        (144, 0xfbce_3da5_a8ff_2dd6_e0db_dd04_42ed_57e6),
        (145, 0x35ce_7b64_5ec7_b243_78e4_0e98_1b9f_c775),
        (160, 0xbd37_c4b8_4e04_b399_5566_571c_bbc0_bfba),
        (176, 0x6734_8e58_0675_7cdd_a92c_ebdc_71a9_f3af),
        (255, 0x147d_9632_c518_1971_9c20_fcd1_cadc_ee63),
        (256, 0xe0c8_f7a8_97d3_f971_dce1_bd59_7828_2bd6),
        (257, 0xc90c_8b49_75ef_6e28_5154_49e2_4b4c_ce3b),
        (272, 0xbc8c_72b2_36c4_4673_a3ea_8207_cfd9_b709),
        (1000, 0x9a28_140d_db6b_3c9c_680d_7ac7_9273_16dd),
    ];

    #[test]
    fn hashes_are_those_of_clickhouse() {
        for (length, known) in KNOWN {
            let bytes: Vec<u8> = (0..length)
                .map(|at| u8::try_from((at * 7 + length) % 251).unwrap())
                .collect();
            assert_eq!(city_hash_128(&bytes).rotate_left(64), known, "{length} bytes");
        }
    }
}
