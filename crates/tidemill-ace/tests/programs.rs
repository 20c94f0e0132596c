//! Programs in C over `libace.so`: linked with another library of the name.
//!
//! What a machine lacks of these is left out, and the test says so.

mod built;

use std::fs;
use std::process::{Command, Output};

/// SAP's library has the soname `libace.so.12.00` and symbols of version `ADS_ACE`, and so has the one that the program is
/// linked with here.
#[test]
fn programs_that_were_linked_with_another_library_run() {
    if !exists("cc") || !ace::versions::PRESENT {
        return eprintln!("no C compiler here, or no symbol versions: not tried");
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name);
    let write = |name: &str, text: &str| fs::write(path(name), text).expect("the file is written");
    write(
        "other.c",
        "unsigned AdsDDClose(unsigned long a) { return (unsigned) a; }",
    );
    write("other.map", "ADS_ACE { global: Ads*; local: *; };");
    write(
        "program.c",
        "unsigned AdsDDClose(unsigned long); int main(void) { return AdsDDClose(3) == 5042 ? 7 : 1; }",
    );
    let cc = |arguments: &[&str]| {
        let output = Command::new("cc").args(arguments).current_dir(folder.path()).output();
        let output = output.expect("cc runs");
        assert!(output.status.success(), "{}", said(&output));
    };
    cc(&[
        "-shared",
        "-fPIC",
        "other.c",
        "-Wl,--version-script=other.map",
        "-Wl,-soname,libace.so.12.00",
        "-o",
        "libace.so",
    ]);
    cc(&["program.c", "-L.", "-lace", "-o", "program"]);
    fs::remove_file(path("libace.so")).expect("the other library goes");
    std::os::unix::fs::symlink(built::library(), path("libace.so.12.00")).expect("a link is made");

    let output = Command::new(path("program"))
        .env("LD_LIBRARY_PATH", folder.path())
        .output();
    let output = output.expect("the program runs");
    assert_eq!(output.status.code(), Some(7), "{}", said(&output));
    assert_eq!(said(&output), "", "the loader warns");
}

fn said(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}

fn exists(program: &str) -> bool {
    let output = Command::new(program).arg("--version").output();
    output.is_ok_and(|output| output.status.success())
}
