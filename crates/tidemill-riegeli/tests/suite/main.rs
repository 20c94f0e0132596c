//! The tests of tidemill-riegeli in one program, which is compiled and linked once.

#![expect(clippy::expect_used, reason = "a panic is how a test fails")]

mod array_record;
mod array_record_python;
mod columns;
mod columns_existence;
mod counting;
mod crate_riegeli;
mod damage;
mod golden;
mod reader;
mod records;
mod rows;
mod rows_nested;
mod tensorflow_example;
mod tfrecord_python;
mod transposed;
mod transposed_writing;
mod writer;
