//! The report: one self-contained HTML page.

use std::fmt::Write;

use super::questions::Question;
use super::{Asked, Report, verdict};

pub(super) fn page(report: &Report, questions: &[Question], answers: &[Asked]) -> String {
    let mut body = String::new();
    let class = if report.agree { "good" } else { "bad" };
    let _ = writeln!(
        body,
        "<p class=\"{class}\">{}</p>",
        escape(&verdict(report.agree, questions.len()))
    );

    let sizes = report
        .sizes
        .iter()
        .map(|(what, bytes)| (what.as_str(), *bytes as f64 / 1e6))
        .collect::<Vec<_>>();
    body += &chart("Size of the tables and their copies", "MB", &sizes);
    let times = report
        .times
        .iter()
        .map(|(what, time)| (what.as_str(), time.as_secs_f64()))
        .collect::<Vec<_>>();
    body += &chart("Time of each step", "s", &times);

    if !report.load_test.is_empty() {
        let _ = writeln!(
            body,
            "<h2>The books under load</h2>\n<div class=\"plot\">\n{}</div>",
            report.load_test
        );
    }

    body += "<h2>Questions and answers</h2>\n";
    for (question, answer) in questions.iter().zip(answers) {
        let _ = writeln!(body, "<h3>{}</h3>", escape(&question.title));
        let _ = writeln!(body, "<pre class=\"sql\">{}</pre>", escape(&question.sql));
        let _ = writeln!(body, "<pre>{}</pre>", escape(&answer.text));
        let _ = write!(body, "<p>tables {:.0} ms", answer.elapsed.as_secs_f64() * 1e3);
        for (format, elapsed, same) in &answer.copies {
            let same = if *same { "the same answer" } else { "ANOTHER ANSWER" };
            let _ = write!(body, " · {format} {:.0} ms, {same}", elapsed.as_secs_f64() * 1e3);
        }
        body += "</p>\n";
    }
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>Tidemill tour</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<h1>Tidemill tour</h1>\n\
         <p>{:.1} s in all, tidemill {}.</p>\n{body}</body>\n</html>\n",
        report.total.as_secs_f64(),
        env!("CARGO_PKG_VERSION"),
    )
}

/// A bar chart: one bar per row, with its value.
fn chart(title: &str, unit: &str, rows: &[(&str, f64)]) -> String {
    const ROW: usize = 30;
    const LABEL: f64 = 260.0;
    const BARS: f64 = 420.0;
    let largest = rows.iter().map(|(_, value)| *value).fold(f64::MIN_POSITIVE, f64::max);
    let mut svg = format!(
        "<h2>{}</h2>\n<div class=\"bars\">\n<svg viewBox=\"0 0 800 {}\" role=\"img\" aria-label=\"{}\">\n",
        escape(title),
        rows.len() * ROW,
        escape(title)
    );
    for (index, (label, value)) in rows.iter().enumerate() {
        let top = index * ROW;
        let width = (value / largest * BARS).max(1.0);
        let _ = writeln!(
            svg,
            "<text x=\"{:.0}\" y=\"{}\" text-anchor=\"end\">{}</text>\
             <rect x=\"{LABEL:.0}\" y=\"{}\" width=\"{width:.1}\" height=\"{}\"/>\
             <text x=\"{:.1}\" y=\"{}\">{value:.2} {unit}</text>",
            LABEL - 10.0,
            top + 20,
            escape(label),
            top + 5,
            ROW - 10,
            LABEL + width + 8.0,
            top + 20,
        );
    }
    svg += "</svg>\n</div>\n";
    svg
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

const STYLE: &str = "\
body { font: 16px/1.5 system-ui, sans-serif; max-width: 860px; margin: 2rem auto; padding: 0 1rem; color: #1b2a33; }
h1, h2, h3 { line-height: 1.2; }
pre { overflow-x: auto; font-size: 13px; line-height: 1.25; }
pre.sql { white-space: pre-wrap; background: #eef3f5; padding: .6rem; }
svg { display: block; width: 100%; height: auto; font-size: 14px; }
.bars, .plot { overflow-x: auto; }
.bars svg { min-width: 600px; }
.bars text { fill: currentColor; }
.bars rect { fill: #2d7d9a; }
.plot { width: min(1200px, 100vw - 2rem); margin-left: 50%; transform: translateX(-50%); }
.plot svg { min-width: 960px; }
.good { color: #1a7a3c; font-weight: 600; }
.bad { color: #b3261e; font-weight: 600; }
@media (prefers-color-scheme: dark) {
  body { background: #12181c; color: #dbe5ea; }
  pre.sql { background: #1e282e; }
  .bars rect { fill: #4ba6c6; }
  .good { color: #6fcf8f; }
  .bad { color: #ff8a80; }
}
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_in_proportion_and_text_is_escaped() {
        let svg = chart("a < b", "MB", &[("x & y", 10.0), ("z", 2.5)]);
        assert!(svg.contains("a &lt; b") && svg.contains("x &amp; y"), "{svg}");
        assert!(
            svg.contains("width=\"420.0\"") && svg.contains("width=\"105.0\""),
            "{svg}"
        );
        assert!(chart("nothing", "s", &[("none", 0.0)]).contains("0.00 s"));
    }
}
