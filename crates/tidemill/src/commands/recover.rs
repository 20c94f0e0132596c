//! `tidemill recover`.

use std::fs;
use std::path::{Path, PathBuf};

use tidemill_xbase::{PendingLog, pending_logs, recover_folders};

use crate::Outcome;
use crate::args::RecoverArgs;
use crate::terminal::{say, tell};

pub(crate) fn run(args: RecoverArgs) -> anyhow::Result<Outcome> {
    let folders = match args.folders {
        folders if folders.is_empty() => vec![PathBuf::from(".")],
        folders => folders,
    };
    let mut outcome = Outcome::Done;
    let (mut waiting, mut begun) = (0, 0);
    for folder in &folders {
        for log in pending_logs(folder)? {
            match (&log.refused, log.in_use) {
                _ if is_only_begun(&log) => begun += 1,
                (Some(why), _) => {
                    tell!("{why}");
                    outcome = Outcome::Negative;
                }
                (None, true) => tell!("{}: a program is working with it", log.path.display()),
                (None, false) => {
                    waiting += 1;
                    say!("{}", described(&log))?;
                }
            }
        }
    }
    if waiting == 0 && outcome == Outcome::Done {
        tell!("nothing to recover in {}", listed(&folders));
    }
    if args.dry_run || waiting + begun == 0 {
        return Ok(outcome);
    }
    for recovered in recover_folders(&folders)? {
        let log = recovered.log.display();
        let (done, discarded) = (recovered.transactions, recovered.discarded);
        match discarded {
            0 => say!("{log}: {} redone in {}", counted(done), listed(&recovered.files))?,
            _ => say!(
                "{log}: {} redone, {} forgotten that not all folders have",
                counted(done),
                counted(discarded)
            )?,
        }
    }
    Ok(outcome)
}

/// Whether a program died before it had written anything into its log, so that there is nothing to recover: a log has its first
/// transaction behind 1 KiB (docs/formats/tidemill-log.md).
pub(crate) fn is_only_begun(log: &PendingLog) -> bool {
    const FIRST_TRANSACTION: u64 = 1024;
    log.files.is_empty() && fs::metadata(&log.path).is_ok_and(|found| found.len() <= FIRST_TRANSACTION)
}

/// What a log has for its files.
pub(crate) fn described(log: &PendingLog) -> String {
    let mut text = format!(
        "{}: {} for {}",
        log.path.display(),
        counted(log.groups),
        listed(&log.files)
    );
    if !log.other_folders.is_empty() {
        text += &format!(", with parts in {}", listed(&log.other_folders));
    }
    text
}

fn counted(transactions: usize) -> String {
    match transactions {
        1 => "1 transaction".to_owned(),
        many => format!("{many} transactions"),
    }
}

fn listed(paths: &[impl AsRef<Path>]) -> String {
    let paths: Vec<String> = paths.iter().map(|path| path.as_ref().display().to_string()).collect();
    paths.join(", ")
}
