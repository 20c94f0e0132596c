//! The binary `tidemill-bench`.

fn main() {}
