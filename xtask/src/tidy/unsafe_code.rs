//! `unsafe` only in files that are listed with a reason, and each block with the argument why it is sound.

use super::{
    Breach,
    code::{code_of, lines_with},
    sources::{Exception, Files, gone},
};

pub(super) fn listed(files: &Files, exceptions: &[Exception]) -> Vec<Breach> {
    let mut breaches = Vec::new();
    for (path, text) in files.rust() {
        let code = code_of(text);
        let mut found = lines_with(&code, "unsafe");
        if path.starts_with(C_ABI) {
            let exports = |line: &usize| code.lines().nth(line - 1).is_some_and(|line| line.trim() == EXPORT);
            found.retain(|line| !exports(line));
        }
        let excepted = exceptions.iter().any(|(name, _)| *name == path);
        if !excepted {
            breaches.extend(
                found
                    .iter()
                    .map(|line| Breach::new(format!("{path}:{line}"), "unsafe in a file that is not listed")),
            );
        } else if found.is_empty() {
            breaches.push(Breach::new(path, "is listed for unsafe code and has none"));
        } else {
            let unexplained = found
                .iter()
                .filter(|line| needs_argument(&code, **line) && !explained(text, **line));
            breaches.extend(
                unexplained.map(|line| Breach::new(format!("{path}:{line}"), "unsafe without a SAFETY comment")),
            );
        }
    }
    breaches.extend(gone(files, exceptions));
    breaches
}

/// The crate whose functions C finds by their names: exporting them is what it is for.
const C_ABI: &str = "crates/tidemill-ace/src/";
const EXPORT: &str = "#[unsafe(no_mangle)]";

/// A block or an implementation claims soundness; a function or a type that is `unsafe` to use only asks for it.
fn needs_argument(code: &str, line: usize) -> bool {
    let from_here = code.lines().skip(line - 1).collect::<Vec<_>>().join(" ");
    from_here.match_indices("unsafe").next().is_some_and(|(at, word)| {
        let behind = from_here[at + word.len()..].trim_start();
        behind.starts_with('{') || behind.starts_with("impl")
    })
}

/// A comment with `SAFETY:` on this line, or in the lines right above it that are comments, attributes, or the beginning
/// of the same statement.
fn explained(text: &str, line: usize) -> bool {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let argued = |line: &str| {
        line.split_once("//")
            .is_some_and(|(_, comment)| comment.contains("SAFETY:"))
    };
    if lines.get(line - 1).is_some_and(|line| argued(line)) {
        return true;
    }
    for above in lines[..line - 1].iter().rev() {
        if argued(above) {
            return true;
        }
        let comment = above.starts_with("//") || above.starts_with("#[");
        if !comment && (above.is_empty() || above.ends_with([';', '{', '}'])) {
            return false;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(source: &str, breaches: usize) {
        let files = Files::of(&[("a.rs", source)]);
        assert_eq!(listed(&files, &[("a.rs", "maps a file")]).len(), breaches, "{source}");
    }

    #[test]
    fn only_in_listed_files() {
        let files = Files::of(&[
            ("a.rs", "fn a() {\n    // SAFETY: so\n    unsafe { b() }\n}"),
            ("b.rs", "// unsafe\nlet unsafe_x = 1;"),
        ]);
        assert_eq!(
            listed(&files, &[]),
            [Breach::new("a.rs:3", "unsafe in a file that is not listed")]
        );
        assert_eq!(listed(&files, &[("a.rs", "maps a file")]), []);
        let stale = listed(&files, &[("a.rs", "maps a file"), ("b.rs", "none"), ("c.rs", "gone")]);
        assert_eq!(
            stale.iter().map(|breach| breach.place.as_str()).collect::<Vec<_>>(),
            ["b.rs", "c.rs"]
        );
    }

    #[test]
    fn the_c_interface_exports_names() {
        let export = "#[unsafe(no_mangle)]\npub extern \"C\" fn AdsSkip() {}";
        let files = Files::of(&[("crates/tidemill-ace/src/movement.rs", export)]);
        assert_eq!(listed(&files, &[]), []);
        assert_eq!(listed(&Files::of(&[("a.rs", export)]), &[]).len(), 1);
        let block = format!("{export}\nunsafe {{ x() }}");
        let files = Files::of(&[("crates/tidemill-ace/src/movement.rs", &block)]);
        assert_eq!(listed(&files, &[]).len(), 1);
    }

    #[test]
    fn each_block_is_explained() {
        check("// SAFETY: checked above\nunsafe { x() }", 0);
        check(
            "// SAFETY: checked above,\n// at length\n#[rustfmt::skip]\nlet y = unsafe { x() };",
            0,
        );
        check("// SAFETY: checked\nlet y =\n    unsafe { x() };", 0);
        check("let y = unsafe { x() }; // SAFETY: checked", 0);
        check("unsafe { x() }", 1);
        check("// because\nunsafe { x() }", 1);
        check("// SAFETY: of another\nx();\nunsafe { x() }", 1);
        check("// SAFETY: of another\n\nunsafe { x() }", 1);
        check("unsafe impl Send for X {}", 1);
        check("/// # Safety\n/// Never twice.\nunsafe fn x() {}", 0);
        check("unsafe extern \"C\" {\n}", 0);
    }
}
