//! Files that may break a rule, each with the reason. An entry that is not needed any more breaks the rule itself.

use super::sources::Exception;

/// Files with `unsafe` code.
pub(super) const UNSAFE: &[Exception] = &[
    (
        "crates/tidemill-ace/src/analytical.rs",
        "asks the loader where this library is, beside which the engine is looked for",
    ),
    (
        "crates/tidemill-ace/src/pointers.rs",
        "follows the pointers that C programs pass, in this one place of the library",
    ),
    (
        "crates/tidemill-ace/src/process_exit.rs",
        "asks the C library to call back when the process ends, so that what waits in memory is written",
    ),
    (
        "crates/tidemill-adbc/src/analytical.rs",
        "exports the function that libace.so calls",
    ),
    (
        "crates/tidemill-adbc/src/export.rs",
        "exports the functions that driver managers call, and streams whose errors can be asked for",
    ),
    (
        "crates/tidemill-analytical/src/abi.rs",
        "says the types of functions that are called across the interface",
    ),
    (
        "crates/tidemill-analytical/src/entry.rs",
        "takes what another library hands over",
    ),
    (
        "crates/tidemill-analytical/src/fault.rs",
        "reads and frees what another library allocated",
    ),
    (
        "crates/tidemill-analytical/src/library.rs",
        "loads another library and calls it",
    ),
    (
        "crates/tidemill-analytical/src/tables.rs",
        "is called by another library, and calls it",
    ),
    (
        "crates/tidemill-bench/src/heap.rs",
        "tells the C library how many heaps to make, by which a run takes half a megabyte less",
    ),
    (
        "crates/tidemill-clickhouse/src/column/low_cardinality.rs",
        "makes a dictionary of keys that were compared with its size, which saves Arrow's slower pass over them",
    ),
    (
        "crates/tidemill-riegeli/src/codec/brotli.rs",
        "binds Brotli's C library, which decodes up to twice as fast as the crate written in Rust",
    ),
    (
        "crates/tidemill-riegeli/src/codec/brotli/memory.rs",
        "is called back by Brotli's C library, whose tables would be fresh pages for every section",
    ),
    (
        "crates/tidemill-riegeli/src/codec/snappy/encoder.rs",
        "reads and writes whole words without bounds checks, which makes compression 1.1 to 1.4 times as fast",
    ),
    (
        "crates/tidemill-riegeli/src/hash/avx2.rs",
        "loads vectors and calls functions that need them, which hashes 1.3 times as fast as the crate highway",
    ),
    (
        "crates/tidemill-riegeli/tests/memory.rs",
        "counts what is allocated, and the trait of allocators is unsafe",
    ),
    (
        "crates/tidemill-xbase/src/process.rs",
        "has a page cleared in forked processes, which saves a tenth of a look-up by an index; its test forks",
    ),
    (
        "crates/tidemill-xbase/src/source.rs",
        "maps a file for a caller who owns it, which saves the copy of every window",
    ),
    (
        "peers/src/codec_limit/brotli.rs",
        "calls Brotli's C library alone, to measure how much of the time is its",
    ),
    (
        "peers/src/xbase/abi.rs",
        "calls libace.so as a C program does, to measure what that costs",
    ),
    (
        "peers/src/xbase/abi_sql.rs",
        "calls libace.so as a C program does, to measure what that costs",
    ),
];

/// Rust files of more than 800 lines.
pub(super) const LONG: &[Exception] = &[];
