//! `tidemill recover`.

use std::path::{Path, PathBuf};

use tidemill_xbase::{PendingLog, Recovered, pending_logs, recover_folders};

use crate::Outcome;
use crate::args::RecoverArgs;
use crate::commands::changing::{Change, Changing};
use crate::commands::counted;
use crate::terminal::{note, say, tell};

pub(crate) fn run(args: RecoverArgs) -> anyhow::Result<Outcome> {
    let folders = match args.folders {
        folders if folders.is_empty() => vec![PathBuf::from(".")],
        folders => folders,
    };
    let mut outcome = Outcome::Done;
    let mut waiting = 0;
    for folder in &folders {
        for log in pending_logs(folder)? {
            match (&log.refused, log.in_use) {
                (Some(why), _) => {
                    tell!("{why}");
                    outcome = Outcome::Negative;
                }
                (None, true) => tell!("{}: in use by another program", log.path.display()),
                (None, false) => {
                    waiting += 1;
                    say!("{}", described(&log))?;
                }
            }
        }
    }
    if waiting == 0 && outcome == Outcome::Done {
        note!("nothing to recover in {}", listed(&folders));
    }
    if args.dry_run {
        return Ok(outcome);
    }
    let _changing = Changing::begin(Change {
        is_undone: false,
        advice: "run recover again: it goes on where it stopped",
    });
    let recovered = match recover_folders(&folders) {
        // The reason for the refusal was reported above.
        Err(_) if outcome == Outcome::Negative => return Ok(outcome),
        recovered => recovered?,
    };
    for recovered in recovered {
        say!("{}", redone(&recovered))?;
    }
    Ok(outcome)
}

/// Describes how a log was recovered.
pub(crate) fn redone(recovered: &Recovered) -> String {
    let log = recovered.log.display();
    let done = counted(recovered.transactions as u64, "transaction");
    match recovered.discarded {
        0 => format!("{log}: {done} redone in {}", listed(&recovered.files)),
        discarded => format!(
            "{log}: {done} redone, {} forgotten that not all folders have",
            counted(discarded as u64, "transaction")
        ),
    }
}

/// Describes the pending changes of a log.
pub(crate) fn described(log: &PendingLog) -> String {
    let mut text = format!(
        "{}: {} for {}",
        log.path.display(),
        counted(log.groups as u64, "transaction"),
        listed(&log.files)
    );
    if !log.other_folders.is_empty() {
        text += &format!(", with parts in {}", listed(&log.other_folders));
    }
    text
}

fn listed(paths: &[impl AsRef<Path>]) -> String {
    let paths: Vec<String> = paths.iter().map(|path| path.as_ref().display().to_string()).collect();
    paths.join(", ")
}
