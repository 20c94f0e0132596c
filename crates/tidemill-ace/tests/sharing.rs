//! Programs that share a table: threads and processes over `libace.so`, and programs beside it that know nothing of it. Nothing
//! that one of them has written is lost.

mod built;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

const ROUNDS: usize = 12;
const THREADS: usize = 8;
const PROCESSES: usize = 4;
/// A deletion flag, a name and a number.
const RECORD: usize = 1 + 12 + 8;
const HEADER: usize = 32 + 2 * 32 + 1;

#[test]
fn eight_threads_of_four_processes_lose_nothing() {
    let Some(programs) = Programs::new() else { return };
    programs.table();
    for table_type in ["cdx", "adt"] {
        // A process of its own: a file that is open while another thread starts a program would stay locked for a moment.
        ended(programs.start("sharing", &programs.folder(), table_type, 0, &[0, 0]));
        let running: Vec<Child> = (0..PROCESSES)
            .map(|process| programs.start("sharing", &programs.folder(), table_type, process, &[THREADS, ROUNDS]))
            .collect();
        running.into_iter().for_each(ended);
        let library = programs.command("sharing");
        let look = [
            programs.folder().display().to_string(),
            table_type.to_owned(),
            PROCESSES.to_string(),
            format!("-{THREADS}"),
            ROUNDS.to_string(),
        ];
        ended(start(library, &look));
    }
}

#[test]
fn programs_that_take_harbours_locks_and_lose_nothing_beside_libace() {
    let Some(programs) = Programs::new() else { return };
    for scheme in ["ntx", "cdx"] {
        programs.table();
        let table = programs.folder().join("shared.dbf");
        let mut running = Vec::new();
        for process in 0..2 {
            running.push(programs.start("sharing", &programs.folder(), scheme, process, &[2, ROUNDS * 4]));
            running.push(programs.start("foreign", &table, scheme, process, &[ROUNDS * 8]));
        }
        running.into_iter().for_each(ended);

        let mut names: BTreeMap<String, usize> = BTreeMap::new();
        let bytes = fs::read(&table).expect("the table is there");
        let records: Vec<&[u8]> = bytes[HEADER..].chunks_exact(RECORD).collect();
        for record in &records[1..] {
            let text = String::from_utf8_lossy(&record[1..]).into_owned();
            let (name, number) = text.split_at(12);
            let round = &name[name.len() - 4..];
            assert_eq!(
                round.parse::<u32>().ok(),
                number.trim().parse().ok(),
                "{scheme}: {text}"
            );
            *names.entry(name.to_owned()).or_default() += 1;
        }
        let expected = 2 * 2 * ROUNDS * 4 + 2 * ROUNDS * 8;
        assert_eq!(names.len(), expected, "{scheme}: records were lost");
        assert!(names.values().all(|count| *count == 1), "{scheme}: {names:?}");
        assert_eq!(records.len(), expected + 1, "{scheme}");
        let counted = u32::from_le_bytes([bytes[4], bytes[5], bytes[6], bytes[7]]);
        assert_eq!(counted as usize, expected + 1, "{scheme}: the header");
        let number = String::from_utf8_lossy(&records[0][13..]).trim().parse::<usize>();
        assert_eq!(number.ok(), Some(expected), "{scheme}: a count was lost");
    }
}

/// The two programs, compiled in a folder that holds the table too.
struct Programs {
    folder: tempfile::TempDir,
}

impl Programs {
    /// None if there is no C compiler.
    fn new() -> Option<Self> {
        let version = Command::new("cc").arg("--version").output();
        if !version.is_ok_and(|output| output.status.success()) {
            tidemill_testkit::lacks("no C compiler here");
            return None;
        }
        let folder = tempfile::tempdir().expect("a temporary folder");
        let own = Path::new(env!("CARGO_MANIFEST_DIR"));
        for (name, is_linked) in [("sharing", true), ("foreign", false)] {
            let mut command = Command::new("cc");
            command
                .args(["-std=gnu99", "-Wall", "-Wextra", "-Werror", "-pthread", "-I"])
                .arg(own.join("include"))
                .arg(own.join(format!("tests/c/{name}.c")))
                .arg("-o")
                .arg(folder.path().join(name));
            if is_linked {
                command.arg("-L").arg(libraries()).arg("-lace");
            }
            let output = command.output().expect("cc runs");
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{name}: {said}");
        }
        Some(Self { folder })
    }

    fn folder(&self) -> PathBuf {
        self.folder.path().to_owned()
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.folder.path().join(program));
        command.env("LD_LIBRARY_PATH", libraries());
        command
    }

    fn start(&self, program: &str, at: &Path, scheme: &str, process: usize, numbers: &[usize]) -> Child {
        let mut arguments = vec![at.display().to_string(), scheme.to_owned(), process.to_string()];
        arguments.extend(numbers.iter().map(usize::to_string));
        start(self.command(program), &arguments)
    }

    /// Makes the table with one record.
    fn table(&self) {
        let header =
            |offset: usize, bytes: &[u8], file: &mut [u8]| file[offset..offset + bytes.len()].copy_from_slice(bytes);
        let mut file = vec![0; HEADER];
        header(0, &[3, 126, 1, 1, 1], &mut file);
        header(8, &(HEADER as u16).to_le_bytes(), &mut file);
        header(10, &(RECORD as u16).to_le_bytes(), &mut file);
        for (at, name, letter, width) in [(32, "NAME", b'C', 12), (64, "COUNT", b'N', 8)] {
            header(at, name.as_bytes(), &mut file);
            header(at + 11, &[letter], &mut file);
            header(at + 16, &[width], &mut file);
        }
        header(HEADER - 1, &[13], &mut file);
        file.extend(b" counter            0");
        fs::write(self.folder.path().join("shared.dbf"), file).expect("the table is written");
    }
}

fn start(mut command: Command, arguments: &[String]) -> Child {
    let command = command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("the program starts")
}

fn ended(child: Child) {
    let output = child.wait_with_output().expect("the program ends");
    let said = String::from_utf8_lossy(&output.stderr);
    let end: String = said.lines().take(20).collect::<Vec<_>>().join("\n");
    assert!(output.status.success(), "{}: {end}", output.status);
}

fn libraries() -> PathBuf {
    let library = built::library();
    library.parent().expect("the library is in a folder").to_owned()
}
