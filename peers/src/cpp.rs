//! What the C++ library reached beside the crate riegeli 0.2.1 in one run: processor time, one thread, MB of records a second.
//!
//! The C++ library is not built here. Its figures were taken with the loops and payloads of these benchmarks, google/riegeli at
//! bc17eea7 (brotli 1.1.0, zstd 1.5.4, snappy 1.2.1), g++ 12.2, on 2 vCPU of an AMD EPYC (Zen 4); two runs of a cell differ
//! by 3 % (median) to 35 %. The crate ran beside it, so the ratio of the two carries over to another machine and another day,
//! where the crate runs beside us.

/// A cell of the matrix.
pub struct Cell {
    /// The name of the payload.
    pub payload: &'static str,
    /// The options of the writer, as the C++ library spells them.
    pub options: &'static str,
    speeds: [f64; 5],
}

impl Cell {
    /// Returns the cell of these options, if it was measured.
    pub fn find(payload: &str, options: &str) -> Option<&'static Self> {
        CELLS
            .iter()
            .find(|cell| cell.payload == payload && cell.options == options)
    }

    /// How many times as fast as the crate C++ writes.
    pub fn write(&self) -> f64 {
        let [cpp, rival, ..] = self.speeds;
        cpp / rival
    }

    /// How many times as fast C++ lends records as the crate gives them away, which is the one way it has.
    pub fn read_lent(&self) -> f64 {
        let [_, _, lent, _, rival] = self.speeds;
        lent / rival
    }

    /// How many times as fast as the crate C++ copies records out.
    pub fn read_owned(&self) -> f64 {
        let [_, _, _, owned, rival] = self.speeds;
        owned / rival
    }
}

const fn cell(payload: &'static str, options: &'static str, speeds: [f64; 5]) -> Cell {
    Cell {
        payload,
        options,
        speeds,
    }
}

/// MB/s: C++ writes, the crate writes, C++ lends, C++ copies, the crate copies.
static CELLS: &[Cell] = &[
    cell("small", "uncompressed", [3128.0, 531.0, 4863.0, 2485.0, 1748.0]),
    cell("small", "brotli:6", [42.1, 34.8, 759.0, 697.0, 483.0]),
    cell("small", "zstd:3", [455.0, 394.0, 1587.0, 1192.0, 1036.0]),
    cell("small", "snappy", [1237.0, 694.0, 1151.0, 953.0, 1367.0]),
    cell("small", "transpose,uncompressed", [987.0, 851.0, 1916.0, 1366.0, 838.0]),
    cell("small", "transpose,brotli:6", [65.4, 34.8, 836.0, 718.0, 401.0]),
    cell("small", "transpose,zstd:3", [387.0, 320.0, 1461.0, 1101.0, 712.0]),
    cell("small", "transpose,snappy", [819.0, 552.0, 1047.0, 899.0, 893.0]),
    cell("large", "uncompressed", [2817.0, 454.0, 5716.0, 4998.0, 3354.0]),
    cell("large", "brotli:6", [1885.0, 252.0, 1448.0, 1404.0, 1119.0]),
    cell("large", "zstd:3", [3194.0, 2738.0, 4471.0, 4065.0, 3859.0]),
    cell("large", "snappy", [6758.0, 3915.0, 4591.0, 4706.0, 4786.0]),
    cell(
        "large",
        "transpose,uncompressed",
        [2183.0, 995.0, 3272.0, 3279.0, 2192.0],
    ),
    cell("large", "transpose,brotli:6", [1861.0, 255.0, 1353.0, 1388.0, 885.0]),
    cell("large", "transpose,zstd:3", [2710.0, 2264.0, 3691.0, 3786.0, 2065.0]),
    cell("large", "transpose,snappy", [5482.0, 3470.0, 4220.0, 4323.0, 2462.0]),
    cell("proto1k", "uncompressed", [2274.0, 2428.0, 5531.0, 4271.0, 1714.0]),
    cell("proto1k", "brotli:6", [884.0, 184.0, 1249.0, 1234.0, 994.0]),
    cell("proto1k", "zstd:3", [2008.0, 1869.0, 7764.0, 6106.0, 5125.0]),
    cell("proto1k", "snappy", [5600.0, 2691.0, 2267.0, 2256.0, 3016.0]),
    cell(
        "proto1k",
        "transpose,uncompressed",
        [691.0, 1335.0, 1481.0, 1209.0, 1772.0],
    ),
    cell("proto1k", "transpose,brotli:6", [715.0, 178.0, 1039.0, 900.0, 766.0]),
    cell("proto1k", "transpose,zstd:3", [1121.0, 1260.0, 4595.0, 2292.0, 1803.0]),
    cell("proto1k", "transpose,snappy", [1722.0, 1810.0, 1793.0, 1424.0, 1634.0]),
    cell("wide20k", "uncompressed", [3433.0, 1912.0, 5477.0, 3775.0, 2523.0]),
    cell("wide20k", "brotli:6", [34.5, 23.4, 568.0, 541.0, 358.0]),
    cell("wide20k", "zstd:3", [343.0, 306.0, 1429.0, 1281.0, 1148.0]),
    cell("wide20k", "snappy", [1257.0, 846.0, 1144.0, 1095.0, 1708.0]),
    cell("wide20k", "transpose,uncompressed", [231.0, 172.0, 481.0, 457.0, 226.0]),
    cell("wide20k", "transpose,brotli:6", [67.4, 36.2, 482.0, 451.0, 166.0]),
    cell("wide20k", "transpose,zstd:3", [254.0, 142.0, 532.0, 502.0, 208.0]),
    cell("wide20k", "transpose,snappy", [359.0, 164.0, 504.0, 478.0, 214.0]),
    cell(
        "small",
        "uncompressed,chunk_size:1M",
        [1429.0, 531.0, 5612.0, 2840.0, 1748.0],
    ),
    cell(
        "small",
        "transpose,uncompressed,chunk_size:1M",
        [1711.0, 851.0, 4687.0, 2420.0, 838.0],
    ),
    cell(
        "proto1k",
        "uncompressed,chunk_size:1M",
        [2707.0, 2428.0, 4800.0, 6106.0, 1714.0],
    ),
    cell(
        "proto1k",
        "transpose,uncompressed,chunk_size:1M",
        [1475.0, 1335.0, 2790.0, 2143.0, 1772.0],
    ),
    cell(
        "large",
        "uncompressed,chunk_size:1M",
        [3442.0, 454.0, 5517.0, 5818.0, 3354.0],
    ),
    cell(
        "large",
        "transpose,uncompressed,chunk_size:1M",
        [3480.0, 995.0, 5328.0, 5194.0, 2192.0],
    ),
    cell(
        "wide20k",
        "uncompressed,chunk_size:1M",
        [4968.0, 1912.0, 5509.0, 4421.0, 2523.0],
    ),
    cell(
        "wide20k",
        "transpose,uncompressed,chunk_size:1M",
        [427.0, 172.0, 751.0, 694.0, 226.0],
    ),
];

/// A projection of a payload in transposed chunks: how many times as fast as the crate C++ lends what is left of the records.
/// `fields` are as the command line writes them.
pub fn projection(payload: &str, options: &str, fields: &str) -> Option<f64> {
    let mut found = PROJECTIONS.iter();
    let (.., [cpp, rival]) = found.find(|known| (known.0, known.1, known.2) == (payload, options, fields))?;
    Some(cpp / rival)
}

/// MB/s of the whole records: C++, the crate.
static PROJECTIONS: &[(&str, &str, &str, [f64; 2])] = &[
    ("wide20k", "transpose,uncompressed", "root", [482.0, 230.0]),
    ("wide20k", "transpose,uncompressed", "5", [1028.0, 407.0]),
    ("wide20k", "transpose,uncompressed", "2.3.5", [1038.0, 379.0]),
    ("wide20k", "transpose,uncompressed", "4.0", [1064.0, 433.0]),
    ("wide20k", "transpose,uncompressed", "", [1107.0, 1332.0]),
    ("nested2k", "transpose,uncompressed", "root", [388.0, 156.0]),
    ("nested2k", "transpose,uncompressed", "5", [873.0, 352.0]),
    ("nested2k", "transpose,uncompressed", "2.3.5", [688.0, 186.0]),
    ("nested2k", "transpose,uncompressed", "4.0", [937.0, 385.0]),
    ("nested2k", "transpose,uncompressed", "", [942.0, 995.0]),
    ("wide20k", "transpose,brotli:6", "root", [485.0, 169.0]),
    ("wide20k", "transpose,brotli:6", "5", [1829.0, 246.0]),
    ("wide20k", "transpose,brotli:6", "2.3.5", [3116.0, 243.0]),
    ("wide20k", "transpose,brotli:6", "4.0", [3760.0, 382.0]),
    ("wide20k", "transpose,brotli:6", "", [3908.0, 1658.0]),
    ("nested2k", "transpose,brotli:6", "root", [419.0, 124.0]),
    ("nested2k", "transpose,brotli:6", "5", [1287.0, 215.0]),
    ("nested2k", "transpose,brotli:6", "2.3.5", [1048.0, 138.0]),
    ("nested2k", "transpose,brotli:6", "4.0", [2155.0, 283.0]),
    ("nested2k", "transpose,brotli:6", "", [2536.0, 1025.0]),
    ("wide20k", "transpose,zstd:3", "root", [544.0, 211.0]),
    ("wide20k", "transpose,zstd:3", "5", [2951.0, 342.0]),
    ("wide20k", "transpose,zstd:3", "2.3.5", [3577.0, 341.0]),
    ("wide20k", "transpose,zstd:3", "4.0", [3821.0, 420.0]),
    ("wide20k", "transpose,zstd:3", "", [4034.0, 1656.0]),
    ("nested2k", "transpose,zstd:3", "root", [467.0, 145.0]),
    ("nested2k", "transpose,zstd:3", "5", [1972.0, 305.0]),
    ("nested2k", "transpose,zstd:3", "2.3.5", [1658.0, 172.0]),
    ("nested2k", "transpose,zstd:3", "4.0", [2439.0, 346.0]),
    ("nested2k", "transpose,zstd:3", "", [2650.0, 1040.0]),
    (
        "wide20k",
        "transpose,uncompressed,chunk_size:1M",
        "root",
        [747.0, 230.0],
    ),
    ("wide20k", "transpose,uncompressed,chunk_size:1M", "5", [2816.0, 407.0]),
    (
        "wide20k",
        "transpose,uncompressed,chunk_size:1M",
        "2.3.5",
        [2842.0, 379.0],
    ),
    (
        "wide20k",
        "transpose,uncompressed,chunk_size:1M",
        "4.0",
        [2881.0, 433.0],
    ),
    ("wide20k", "transpose,uncompressed,chunk_size:1M", "", [3025.0, 1332.0]),
];
