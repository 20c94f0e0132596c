//! Steps of concurrency: runs of one report that are told apart.

use std::process::Command;

use crate::common::{Bench, Ran};

/// Runs the program in the folder of `bench`.
fn tool(bench: &Bench, arguments: &[&str]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tidemill-bench"));
    let folder = bench.file("");
    Ran::from(
        command
            .current_dir(folder)
            .args(arguments)
            .output()
            .expect("the program"),
    )
}

#[test]
fn each_step_is_a_run_of_its_own() {
    let bench = Bench::new("mem:");
    // Two requests are under way at once where two cycles may be.
    bench.write(
        "w.rn",
        "pub async fn schema(ctx) { ctx.execute(\"CREATE TABLE t (id Integer)\").await?; }
         pub async fn run(ctx, i) { ctx.execute(\"SELECT id FROM t\").await?; }",
    );
    for report in ["one.json", "two.json"] {
        let line = [
            "run", "w.rn", "-p", "1,4,16", "-d", "60", "-t", "2", "--repeat", "2", "-q", "-o", report,
        ];
        let ran = bench.run(&line).good();
        assert!(ran.err.contains("With 16 at once in each thread"), "{}", ran.err);
        assert!(ran.out.contains("STEPS OF CONCURRENCY"), "{}", ran.out);
        let rows = ran.out.lines().skip_while(|line| !line.starts_with("STEPS")).skip(2);
        let steps: Vec<&str> = rows.map_while(|line| line.split_whitespace().next()).collect();
        assert_eq!(steps, ["1", "4", "16"], "{}", ran.out);
    }
    let results = bench.results("one.json");
    let limits: Vec<_> = results.iter().map(|run| run["concurrency_limit"].as_u64()).collect();
    assert_eq!(limits, [1, 4, 16, 1, 4, 16].map(Some));
    assert!(results.iter().all(|run| run["cycles"] == 60));

    let shown = tool(&bench, &["show", "one.json", "-b", "two.json"]).good();
    assert_eq!(
        shown.out.matches("compared with the baseline: cycles/s").count(),
        3,
        "{}",
        shown.out
    );
    let rows = tool(&bench, &["show", "one.json", "-b", "two.json", "--format", "jsonl"]).good();
    let rows: Vec<serde_json::Value> = rows.out.lines().map(|row| serde_json::from_str(row).unwrap()).collect();
    let of = |step: u64| {
        let row = rows
            .iter()
            .find(|row| row["concurrency_limit"] == step && row["quantity"] == "cycles_per_s");
        row.unwrap_or_else(|| panic!("{step}"))
    };
    // Each step beside its own, and by the runs of both.
    for step in [1, 4, 16] {
        assert_eq!((&of(step)["basis"], of(step)["value"].is_f64()), (&"runs".into(), true));
    }
    let page = tool(&bench, &["export", "--html", "one.json"]).good().out;
    assert!(
        page.contains("run, 16 at once") && page.contains("2 × 1,4,16"),
        "{page}"
    );
    let listed = tool(&bench, &["list", "--format", "jsonl"]).good();
    assert_eq!(listed.out.lines().count(), 2, "{}", listed.out);
    tool(&bench, &["plot", "one.json", "two.json", "-o", "p.svg"]).good();
    tool(
        &bench,
        &["export", "--merge", "one.json", "two.json", "-o", "both.json"],
    )
    .good();
    assert_eq!(bench.results("both.json")[2]["concurrency_limit"], 16);

    bench
        .run(&[
            "run",
            "w.rn",
            "-p",
            "1,4,8",
            "-d",
            "60",
            "-q",
            "--repeat",
            "2",
            "-o",
            "three.json",
        ])
        .good();
    tool(
        &bench,
        &["export", "--merge", "one.json", "three.json", "-o", "both.json"],
    )
    .fails(2, "have other steps of concurrency");
    bench
        .run(&["run", "w.rn", "-p", "1,2", "--find-max", "--p99", "1s", "-d", "100ms"])
        .fails(2, "--find-max searches with one concurrency");
    // One step is a run as any.
    bench
        .run(&["run", "w.rn", "-p", "4", "-d", "60", "-q", "-o", "one.json"])
        .good();
    assert!(bench.results("one.json")[0].get("concurrency_limit").is_none());
}
