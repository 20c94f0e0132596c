//! Links the program to a fixed place in memory where that is known to work: with GCC or Clang as the linker's driver, on 64-bit Linux with
//! glibc. Otherwise the pointers in its constant tables are written at each start, and all pages that hold them are memory of its own.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |name: &str, expected: &str| env::var(name).is_ok_and(|value| value == expected);
    let is_known = is("CARGO_CFG_TARGET_OS", "linux")
        && is("CARGO_CFG_TARGET_ENV", "gnu")
        && (is("CARGO_CFG_TARGET_ARCH", "x86_64") || is("CARGO_CFG_TARGET_ARCH", "aarch64"));
    // A program without shared libraries is begun by other code.
    let is_static =
        env::var("CARGO_CFG_TARGET_FEATURE").is_ok_and(|features| features.split(',').any(|one| one == "crt-static"));
    if is_known && !is_static {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
