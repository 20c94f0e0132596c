//! The page, in a real browser.

use std::process::{Command, Stdio};

use tidemill_testkit::{Browser, corpus, npm_package};

use super::Served;
use crate::run::{Folder, Run};

/// The tables that the page's tests look at.
const TABLES: [&str; 6] = [
    "xbase/upd_cdx.dbf",
    "xbase/memo_dbt.dbf",
    "xbase/memo_dbt.dbt",
    "xbase/types_vfp.dbf",
    "xbase/types_vfp.fpt",
    "xbase/big_cdx.dbf",
];

#[test]
fn every_feature_of_the_page_works_in_a_browser() {
    let (Some(playwright), Some(browser)) = (npm_package("playwright-core@1.65.1"), Browser::need()) else {
        return;
    };
    let folder = Folder::with(&[]);
    for name in ["tables", "out", "reports"] {
        std::fs::create_dir(folder.file(name)).expect("made");
    }
    let report = corpus("bench/reports/own_repeated.json");
    std::fs::copy(report, folder.file("reports/books.json")).expect("copied");
    for table in TABLES {
        let from = corpus(table);
        let name = from.file_name().expect("a name");
        std::fs::copy(&from, folder.file("tables").join(name)).expect("copied");
    }
    let served = Served::with(folder, &["tables", "--attach", "out=out", "--reports", "reports"]);
    let modules = served.path().join("node_modules");
    std::fs::create_dir(&modules).expect("made");
    std::os::unix::fs::symlink(playwright, modules.join("playwright-core")).expect("linked");
    for (name, script) in [
        (
            "console.test.mjs",
            include_str!("../../../../tidemill-server/console/tests/console.test.mjs"),
        ),
        (
            "page_checks.mjs",
            include_str!("../../../../tidemill-server/console/tests/page_checks.mjs"),
        ),
    ] {
        std::fs::write(served.path().join(name), script).expect("written");
    }
    let mut node = Command::new("node");
    browser.prepare(&mut node);
    let output = node
        .args(["--test", "--test-reporter=spec", "console.test.mjs"])
        .env("TIDEMILL_URL", format!("http://{}/", served.http.expect("it listens")))
        .current_dir(served.path())
        .stdin(Stdio::null())
        .output();
    let run = Run::of(output.expect("node"));
    assert_eq!(
        run.code,
        Some(0),
        "{}\n{}",
        String::from_utf8_lossy(&run.stdout),
        run.stderr
    );
}
