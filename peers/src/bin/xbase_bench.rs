//! How fast are the questions of an xBase table answered? Filters, aggregates, orders, beside the limits of the machine and
//! beside other engines, all in one run.
//!
//! `xbase_bench [--rows N] [--repeats N] [--turns N] [--csv] [--ours] [--abi] [--sql] [--joins]`: rows of the reference table
//! (100000), runs of which the shortest, the median and the longest are shown (15), how often the loops by hand, ours and its C
//! functions are asked in turns, so that each has its share of a machine's quick moments (1), comma-separated values instead of a
//! table, no other engines, and ours through the C functions of libace.so too, whose gate is 1.3 times ours and 50 ns a call. The
//! gate is met by a shortest time (a slower one is other load) that is within the limit or within twice the loop by hand; for
//! another number of rows the limit grows with them, and a fifth more. With `--sql` statements through `AdsExecuteSQLDirect` are run
//! beside DuckDB and SQLite; their medians count, with a warm cache and on a connection that was just made. `--joins` runs joins of
//! three tables in the same way, by the library that `TIDEMILL_ANALYTICAL_LIBRARY` names.

use std::{collections::HashMap, env, error::Error, path::Path};

use tidemill_peers::xbase::{
    Line, Question, Reference, abi, abi_joins, abi_sql, abi_sql::SqlLine, ask_dbase, ask_python, ask_sqlite, limits,
    tidemill,
};

fn main() -> Result<(), Box<dyn Error>> {
    let mut options = Options {
        rows: 100_000,
        repeats: 15,
        turns: 1,
        csv: false,
        ours: false,
        abi: false,
        sql: false,
        joins: false,
    };
    let mut arguments = env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut number = || {
            arguments
                .next()
                .ok_or("a number is missing")?
                .parse::<usize>()
                .map_err(Box::<dyn Error>::from)
        };
        match argument.as_str() {
            "--rows" => options.rows = number()?.clamp(1000, 99_999_999),
            "--repeats" => options.repeats = number()?.max(1),
            "--turns" => options.turns = number()?.max(1),
            "--csv" => options.csv = true,
            "--ours" => options.ours = true,
            "--abi" => options.abi = true,
            "--sql" => options.sql = true,
            "--joins" => options.joins = true,
            other => {
                let known = "--rows N, --repeats N, --turns N, --csv, --ours, --abi, --sql or --joins";
                return Err(format!("{other}: not {known}").into());
            }
        }
    }
    let reference = Reference::new(options.rows);
    let folder = tempfile::tempdir()?;
    let bandwidth = limits::bandwidth(&reference, options.repeats);
    let mut lines = Vec::new();
    for turn in 0..options.turns {
        let folder = folder.path().join(turn.to_string());
        std::fs::create_dir(&folder)?;
        let again = options.turn(&reference, &folder)?;
        if lines.is_empty() {
            lines = again;
        } else {
            lines
                .iter_mut()
                .zip(again)
                .for_each(|(line, again)| line.times.merge(again.times));
        }
    }
    let by_hand = lines.iter().filter(|line| line.engine == limits::ENGINE);
    let by_hand: HashMap<Question, f64> = by_hand.map(|l| (l.question, l.times.min.as_secs_f64())).collect();
    let ours: HashMap<Asked, f64> = lines
        .iter()
        .filter(|line| line.engine == tidemill::ENGINE)
        .map(|line| ((line.question, line.filter), line.times.min.as_secs_f64()))
        .collect();
    if !options.ours {
        lines.extend(ask_sqlite(&reference, options.repeats)?);
        lines.extend(ask_dbase(&reference, options.repeats));
        match ask_python(&reference, options.repeats, folder.path()) {
            Ok(others) => lines.extend(others),
            Err(why) => eprintln!("DuckDB and dbfread were not asked: {why}"),
        }
    }
    let read = bandwidth.min.as_secs_f64();
    if options.csv {
        println!(
            "rows,question,engine,min_us,median_us,max_us,ns_per_unit,by_hand_ratio,read_ratio,gate_us,verdict,note"
        );
    } else {
        println!(
            "{} rows; every byte of the records read once: {:.1} us",
            options.rows,
            read * 1e6
        );
        println!(
            "{:32} {:16} {:>10} {:>10} {:>10} {:>9} {:>8} {:>8} {:>9}",
            "", "", "min us", "median us", "max us", "ns/unit", "by hand", "read", "gate us"
        );
    }
    for line in &lines {
        options.print(line, (&by_hand, &ours), read);
    }
    if options.sql {
        options.print_sql(&abi_sql::ask(&reference, options.repeats, folder.path())?);
    }
    if options.joins {
        options.print_sql(&abi_joins::ask(options.repeats, folder.path())?);
    }
    Ok(())
}

/// A question, and the filter whose records it walks.
type Asked = (Question, Option<Question>);

struct Options {
    rows: usize,
    repeats: usize,
    turns: usize,
    csv: bool,
    ours: bool,
    abi: bool,
    sql: bool,
    joins: bool,
}

impl Options {
    /// The loops by hand, our engine, and its C functions.
    fn turn(&self, reference: &Reference, folder: &Path) -> Result<Vec<Line>, Box<dyn Error>> {
        let mut lines = limits::lines(reference, self.repeats);
        lines.extend(tidemill::ask(reference, self.repeats, folder)?);
        if self.abi {
            lines.extend(abi::ask(reference, self.repeats, folder)?);
        }
        Ok(lines)
    }

    /// The statements, beside DuckDB's median in the same run and beside the limit, which grows with the rows.
    fn print_sql(&self, lines: &[SqlLine]) {
        let ms = |time: std::time::Duration| time.as_secs_f64() * 1e3;
        let growth = match self.rows {
            ..=100_000 => 1.0,
            rows => 1.2 * rows as f64 / 1e5,
        };
        println!(
            "{:24} {:14} {:>10} {:>10} {:>10} {:>10} {:>8} {:>8}",
            "", "", "min ms", "median ms", "max ms", "first ms", "limit", "DuckDB"
        );
        for line in lines {
            let duck = lines
                .iter()
                .find(|other| other.name == line.name && other.engine.starts_with("DuckDB"));
            let median = ms(line.warm.median);
            let first = line.first.map(|first| ms(first.median));
            let limit = line.limit_ms.map(|limit| limit * growth);
            let verdict = match limit {
                None => "",
                Some(limit) if median > limit => "missed",
                Some(limit) if first.is_some_and(|first| first > 3.0 * limit) => "first missed",
                Some(_) => "met",
            };
            let shown =
                |number: Option<f64>, digits: usize| number.map_or_else(String::new, |n| format!("{n:.digits$}"));
            let (first, limit) = (shown(first, 3), shown(limit, 3));
            let ratio = shown(duck.map(|duck| ms(duck.warm.median) / median), 1);
            let (name, engine) = (&line.name, &line.engine);
            let (min, max) = (ms(line.warm.min), ms(line.warm.max));
            println!(
                "{name:24} {engine:14} {min:10.4} {median:10.4} {max:10.4} {first:>10} {limit:>8} {ratio:>8} {verdict}"
            );
        }
    }

    fn print(&self, line: &Line, (by_hand, ours): (&HashMap<Question, f64>, &HashMap<Asked, f64>), read: f64) {
        let us = |time: std::time::Duration| time.as_secs_f64() * 1e6;
        let (min, median, max) = (us(line.times.min), us(line.times.median), us(line.times.max));
        let unit = min * 1e3 / line.units as f64;
        let hand = by_hand.get(&line.question).map(|hand| min / (hand * 1e6));
        let is_ours = line.engine == tidemill::ENGINE;
        // More rows leave the cache: a fifth more for each.
        let growth = if self.rows > 100_000 { 1.2 } else { 1.0 };
        let is_per_unit = matches!(line.question, Question::Walk | Question::WalkOrder | Question::Seek);
        let gate = line
            .question
            .gate_ns(if is_per_unit { line.units } else { 100_000 })
            .filter(|_| is_ours);
        let is_abi = line.engine == abi::ENGINE;
        let through_c = ours.get(&(line.question, line.filter)).filter(|_| is_abi);
        let through_c = through_c.map(|ours| 1.3 * ours * 1e6 + 0.05 * line.calls as f64);
        let gate_us = through_c.or(gate.map(|ns| ns * growth * line.units as f64 / 1e3));
        let verdict = match gate_us {
            None => "",
            Some(gate) if min <= gate || hand.is_some_and(|hand| hand <= 2.0) => "met",
            Some(_) => "missed",
        };
        let shown = |number: Option<f64>, digits: usize| number.map_or_else(String::new, |n| format!("{n:.digits$}"));
        let (hand, read, gate) = (shown(hand, 2), shown(Some(min / (read * 1e6)), 2), shown(gate_us, 0));
        let (question, engine, note) = (line.question, &line.engine, &line.note);
        if self.csv {
            let question = question.to_string();
            let (rows, question) = (self.rows, question.trim().replace(',', ""));
            println!(
                "{rows},{question},{engine},{min:.2},{median:.2},{max:.2},{unit:.2},{hand},{read},{gate},{verdict},{}",
                note.replace(',', "")
            );
        } else {
            println!(
                "{question:32} {engine:16} {min:10.1} {median:10.1} {max:10.1} {unit:9.2} {hand:>8} {read:>8} {gate:>9} {verdict:6} {note}"
            );
        }
    }
}
