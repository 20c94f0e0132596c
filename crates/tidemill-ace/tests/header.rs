//! The header for C and the constants for Rust have the same names and numbers, and C compilers accept the header.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use ace::constants;

#[test]
fn header_and_constants_have_the_same_numbers() {
    let header: BTreeMap<String, i64> = numbers(&header());
    let rust: BTreeMap<String, i64> = constants::all().map(|(name, value)| (name.to_owned(), value)).collect();

    assert!(header.len() > 850, "the header defines {} numbers only", header.len());
    assert_eq!(rust.len(), constants::all().count(), "a name has two constants");
    for (name, value) in &rust {
        assert_eq!(header.get(name), Some(value), "{name} of ace.h");
    }
    for name in header.keys() {
        assert!(rust.contains_key(name), "ace.h alone defines {name}");
    }
}

#[test]
fn header_and_constants_have_the_same_texts() {
    let texts = texts(&header());
    let expected = [
        ("ADS_ENCRYPT_STRING_RC4", constants::ADS_ENCRYPT_STRING_RC4),
        ("ADS_ENCRYPT_STRING_AES128", constants::ADS_ENCRYPT_STRING_AES128),
        ("ADS_ENCRYPT_STRING_AES256", constants::ADS_ENCRYPT_STRING_AES256),
        ("ADS_CIPHER_SUITE_STRING_RC4", constants::ADS_CIPHER_SUITE_STRING_RC4),
        (
            "ADS_CIPHER_SUITE_STRING_AES128",
            constants::ADS_CIPHER_SUITE_STRING_AES128,
        ),
        (
            "ADS_CIPHER_SUITE_STRING_AES256",
            constants::ADS_CIPHER_SUITE_STRING_AES256,
        ),
        ("ADS_ROOT_DD_ALIAS", constants::ADS_ROOT_DD_ALIAS),
    ];
    let expected = expected.map(|(name, text)| (name.to_owned(), text.to_owned()));
    assert_eq!(texts, BTreeMap::from(expected));
}

/// Numbers that programs were compiled with years ago: some of each kind, so that a slip in both files shows.
#[test]
fn numbers_are_those_of_the_sdk() {
    let all: BTreeMap<&str, i64> = constants::all().collect();
    for (name, value) in [
        ("ADS_ANSI", 1),
        ("ADS_OEM", 2),
        ("ADS_NTX", 1),
        ("ADS_CDX", 2),
        ("ADS_ADT", 3),
        ("ADS_VFP", 4),
        ("ADS_COMPATIBLE_LOCKING", 0),
        ("ADS_PROPRIETARY_LOCKING", 1),
        ("ADS_SOFTSEEK", 1),
        ("ADS_HARDSEEK", 2),
        ("ADS_SEEKGT", 4),
        ("ADS_RAWKEY", 1),
        ("ADS_STRINGKEY", 2),
        ("ADS_DOUBLEKEY", 4),
        ("ADS_TOP", 1),
        ("ADS_BOTTOM", 2),
        ("ADS_RESPECTFILTERS", 1),
        ("ADS_IGNOREFILTERS", 2),
        ("ADS_RESPECTSCOPES", 3),
        ("ADS_EXCLUSIVE", 1),
        ("ADS_READONLY", 2),
        ("ADS_SHARED", 4),
        ("ADS_UNIQUE", 1),
        ("ADS_COMPOUND", 2),
        ("ADS_CUSTOM", 4),
        ("ADS_DESCENDING", 8),
        ("ADS_CANDIDATE", 0x800),
        ("ADS_BINARY_INDEX", 0x1000),
        ("ADS_OPTIMIZED_NONE", 3),
        ("ADS_LOGICAL", 1),
        ("ADS_MEMO", 5),
        ("ADS_GUID", 29),
        ("AE_INVALID_HANDLE", 5018),
        ("AE_INVALID_WORKAREA", 5026),
        ("AE_LOCK_FAILED", 5035),
        ("AE_NO_SCOPE", 5038),
        ("AE_NO_CURRENT_RECORD", 5068),
        ("AE_FUNCTION_NOT_AVAILABLE", 5042),
        ("ADS_DD_TABLE_OBJECT", 1),
        ("ADS_DD_SUBSCR_CONNECTION_STR", 1716),
        ("ADS_PERMISSION_ALL", 0xffff_ffff),
        ("BOSNIAN_ADS_CS_AS_775", 118),
    ] {
        assert_eq!(all.get(name), Some(&value), "{name}");
    }
}

/// Structures have the sizes of the SDK's, which packs them; no way to read the header gives a warning.
#[test]
fn compilers_accept_the_header() {
    let program = r#"
#include "ace.h"
#define HOLDS(name, what) typedef char name[(what) ? 1 : -1]
HOLDS(handle, sizeof(ADSHANDLE) == sizeof(void *));
HOLDS(unsigned32, sizeof(UNSIGNED32) == 4);
HOLDS(wide, sizeof(WCHAR) == 2);
HOLDS(comm_stats, sizeof(ADS_MGMT_COMM_STATS) == 48);
HOLDS(config_params, sizeof(ADS_MGMT_CONFIG_PARAMS) == 864);
HOLDS(config_memory, sizeof(ADS_MGMT_CONFIG_MEMORY) == 56);
HOLDS(install_info, sizeof(ADS_MGMT_INSTALL_INFO) == 144);
HOLDS(activity_info, sizeof(ADS_MGMT_ACTIVITY_INFO) == 172);
HOLDS(user_info, sizeof(ADS_MGMT_USER_INFO) == 288);
HOLDS(table_info, sizeof(ADS_MGMT_TABLE_INFO) == 262);
HOLDS(index_info, sizeof(ADS_MGMT_INDEX_INFO) == 260);
HOLDS(record_info, sizeof(ADS_MGMT_RECORD_INFO) == 4);
HOLDS(thread_activity, sizeof(ADS_MGMT_THREAD_ACTIVITY) == 110);
HOLDS(guid, sizeof(ADS_GUID_DATA) == 16);
HOLDS(field_desc, sizeof(ADD_FIELD_DESC) == 6);
struct unpacked { char one; double eight; };
HOLDS(packing_ends, sizeof(struct unpacked) > 9);
VOID use(DOUBLE number, UNSIGNED8 *field);
VOID use(DOUBLE number, UNSIGNED8 *field) { (void) number; (void) field; }
int main(void) { use(0, ADSFIELD(1)); return AE_SUCCESS; }
"#;
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (compiler, file, standards) in [
        ("cc", "program.c", &["gnu90", "c99", "c11", "gnu17"][..]),
        ("c++", "program.cc", &["c++11", "gnu++17"][..]),
    ] {
        if !exists(compiler) {
            tidemill_testkit::lacks(&format!("no {compiler} here"));
            continue;
        }
        let source = folder.path().join(file);
        std::fs::write(&source, program).expect("the program is written");
        for standard in standards {
            let output = Command::new(compiler)
                .arg(format!("-std={standard}"))
                .args(["-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I"])
                .arg(include_folder())
                .arg(&source)
                .output()
                .expect("the compiler runs");
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{compiler} -std={standard}: {said}");
        }
    }
}

fn header() -> String {
    std::fs::read_to_string(include_folder().join("ace.h")).expect("ace.h is there")
}

fn include_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("include")
}

fn exists(compiler: &str) -> bool {
    let output = Command::new(compiler).arg("--version").output();
    output.is_ok_and(|output| output.status.success())
}

/// What the header defines, as written.
fn definitions(header: &str) -> BTreeMap<String, String> {
    let defines = header
        .lines()
        .filter_map(|line| line.trim_start().strip_prefix("#define "));
    let pairs = defines.filter_map(|define| define.trim().split_once(char::is_whitespace));
    pairs
        .map(|(name, value)| (name.to_owned(), value.trim().to_owned()))
        .collect()
}

/// Definitions that are numbers or that name one.
fn numbers(header: &str) -> BTreeMap<String, i64> {
    let definitions = definitions(header);
    let of = |value: &str| number(definitions.get(value).map_or(value, String::as_str));
    let numbers = definitions
        .iter()
        .filter_map(|(name, value)| Some((name.clone(), of(value)?)));
    numbers.collect()
}

fn texts(header: &str) -> BTreeMap<String, String> {
    let texts = definitions(header).into_iter().filter_map(|(name, value)| {
        let text = value.strip_prefix('"')?.strip_suffix('"')?;
        Some((name, text.to_owned()))
    });
    texts.collect()
}

fn number(value: &str) -> Option<i64> {
    if value == "( ( UNSIGNED16 ) -1 )" {
        return Some(i64::from(u16::MAX));
    }
    let bare = value.trim_matches(['(', ')', ' ']);
    match bare.strip_prefix("0x") {
        Some(hexadecimal) => i64::from_str_radix(hexadecimal, 16).ok(),
        None => bare.parse().ok(),
    }
}
