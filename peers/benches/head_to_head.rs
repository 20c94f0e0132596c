//! Are we as fast as the C++ library? The crate riegeli runs beside us in every cell; how much faster than the crate C++ is
//! was measured once and is written down in `src/cpp.rs`. We reach C++ where our ratio to the crate is as large. How near that is
//! to what can be reached at all is in the last columns: the part of our time, writing to used memory and lending, that the
//! codec and the hash alone take for the same chunks.
//!
//! `cargo bench --bench head_to_head -- wide20k transpose` runs the cells that have both words.

use tidemill_peers::{
    clock::Times,
    codec_limit::CodecLimit,
    cpp,
    payload::Payload,
    records::{cells, ours_lent, ours_owned, ours_projected, ours_write, rival_projected, rival_read, rival_write},
};

fn main() {
    println!("times as fast as the crate riegeli 0.2.1, by processor time: we, the C++ library, we to C++\n");
    let mut tally = Tally::default();
    whole_records(&mut tally);
    projections(&mut tally);
    println!("\nslower than C++, marked <: {} of {}", tally.below, tally.all);
}

fn whole_records(tally: &mut Tally) {
    let payloads = [
        Payload::small(),
        Payload::large(),
        Payload::proto1k(),
        Payload::wide20k(),
    ];
    println!(
        "{:<9}{:<38}{:^27}{:^27}{:^27}{:^27}{:^15}",
        "payload", "options", "write, new memory", "write, used memory", "read, lent", "read, owned", "codec and hash"
    );
    for (payload, options) in cells(&payloads) {
        let Some(cpp) = cpp::Cell::find(payload.name, options) else {
            continue;
        };
        let room = 2 * payload.bytes() as usize;
        let file = ours_write(payload, options, Vec::new());
        let rivals = rival_write(payload, options, Vec::new());
        let ours_new = cpu(|| ours_write(payload, options, Vec::with_capacity(room)));
        let rivals_new = cpu(|| rival_write(payload, options, Vec::with_capacity(room)));
        let mut sink = Vec::with_capacity(room);
        let mut reuse = |write: fn(&Payload, &str, Vec<u8>) -> Vec<u8>| {
            cpu(|| {
                sink.clear();
                sink = write(payload, options, std::mem::take(&mut sink));
            })
        };
        let ours_used = reuse(ours_write);
        let rivals_used = reuse(rival_write);
        let rival_reads = cpu(|| rival_read(&rivals));
        let ours_lends = cpu(|| ours_lent(&file));
        let columns = [
            tally.add(rivals_new / ours_new, cpp.write()),
            tally.add(rivals_used / ours_used, cpp.write()),
            tally.add(rival_reads / ours_lends, cpp.read_lent()),
            tally.add(rival_reads / cpu(|| ours_owned(&file)), cpp.read_owned()),
        ];
        let limit = CodecLimit::new(&file);
        let [write, read] = [limit.write() / ours_used, limit.read() / ours_lends].map(|part| 100.0 * part);
        println!(
            "{:<9}{options:<38}{}{write:>6.0} %{read:>5.0} %",
            payload.name,
            columns.concat()
        );
    }
}

fn projections(tally: &mut Tally) {
    let payloads = [Payload::wide20k(), Payload::nested2k()];
    println!(
        "\n{:<9}{:<38}{:<10}{:^27}",
        "payload", "options", "fields", "read, lent"
    );
    for (payload, options) in cells(&payloads) {
        for fields in ["root", "5", "2.3.5", "4.0", ""] {
            let Some(cpp) = cpp::projection(payload.name, options, fields) else {
                continue;
            };
            let file = ours_write(payload, options, Vec::new());
            let rivals = rival_write(payload, options, Vec::new());
            assert_eq!(ours_projected(&rivals, fields), rival_projected(&rivals, fields));
            let rival_reads = cpu(|| rival_projected(&rivals, fields));
            let column = tally.add(rival_reads / cpu(|| ours_projected(&file, fields)), cpp);
            println!("{:<9}{options:<38}{fields:<10}{column}", payload.name);
        }
    }
}

fn cpu<T>(mut run: impl FnMut() -> T) -> f64 {
    Times::of(|| (), |()| run()).cpu.as_secs_f64()
}

/// How many cells there were, and in how many C++ is faster.
#[derive(Default)]
struct Tally {
    all: u32,
    below: u32,
}

impl Tally {
    /// Counts a cell and returns its column.
    fn add(&mut self, we: f64, cpp: f64) -> String {
        self.all += 1;
        self.below += u32::from(we < cpp);
        let mark = if we < cpp { '<' } else { ' ' };
        format!("{we:>8.2} {cpp:>8.2} {:>7.2}{mark} ", we / cpp)
    }
}
