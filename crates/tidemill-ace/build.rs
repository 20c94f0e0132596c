//! Gives every function of the library the symbol version that it has in SAP's, `ADS_ACE`: a program that was linked with
//! that library asks for it, and the loader refuses a library that has versions but not this one.
//!
//! rustc lists what a library exports in a version script of its own, without a version, and a symbol has one version at
//! most in one place. So a second symbol of the same name, with the version, jumps to the first. LLD, which is what rustc
//! links with on this target, takes two version scripts; other linkers do not, and there the feature `symbol-versions`
//! has to be off.

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=functions.csv");
    println!("cargo::rustc-check-cfg=cfg(versioned_symbols)");

    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    let wanted = env::var_os("CARGO_FEATURE_SYMBOL_VERSIONS").is_some();
    let linker_can = is("CARGO_CFG_TARGET_OS", "linux")
        && is("CARGO_CFG_TARGET_ENV", "gnu")
        && is("CARGO_CFG_TARGET_ARCH", "x86_64");
    if !(wanted && linker_can) {
        return;
    }

    let list = fs::read_to_string("functions.csv").expect("functions.csv is beside build.rs");
    let names = list.lines().skip(1).filter_map(|row| Some(row.split_once(',')?.0));
    let mut assembly = String::from(".pushsection .text.ads_ace,\"ax\",@progbits\n");
    for name in names {
        let symbol = format!("tidemill_ace_{name}");
        write!(
            assembly,
            ".globl {symbol}\n.type {symbol},@function\n{symbol}:\n    jmp {name}@PLT\n\
             .size {symbol}, . - {symbol}\n.symver {symbol}, {name}@ADS_ACE, remove\n"
        )
        .expect("a string takes everything");
    }
    assembly.push_str(".popsection\n");

    let folder = env::var_os("OUT_DIR").expect("Cargo gives a folder");
    let script = Path::new(&folder).join("versions.map");
    fs::write(&script, "ADS_ACE { };\n").expect("the version script is written");
    fs::write(Path::new(&folder).join("versions.s"), assembly).expect("the assembly is written");
    println!("cargo::rustc-cfg=versioned_symbols");
    println!("cargo::rustc-cdylib-link-arg=-Wl,--version-script={}", script.display());
}
