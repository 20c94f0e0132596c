//! Are we as fast as the C++ library? The crate riegeli runs beside us in every cell; how much faster than the crate C++ is
//! was measured once and is written down in `src/cpp.rs`. We reach C++ where our ratio to the crate is as large. How near that is
//! to what can be reached at all is in the last columns: the part of our time, writing to used memory and lending, that the
//! codec and the hash alone take for the same chunks. At the end come the cells that are below C++, and the gates of the project on
//! the cells that were run, met or missed.
//!
//! `cargo bench --bench head_to_head -- wide20k transpose` runs the cells that have both words.

use tidemill_peers::{
    clock::Times,
    codec_limit::CodecLimit,
    cpp,
    figures::{Figures, Work},
    payload::Payload,
    records::{cells, ours_lent, ours_owned, ours_projected, ours_write, rival_projected, rival_read, rival_write},
};

fn main() {
    println!("times as fast as the crate riegeli 0.2.1, by processor time: we, the C++ library, we to C++\n");
    let mut figures = Figures::default();
    whole_records(&mut figures);
    projections(&mut figures);
    figures.print_below();
    figures.gates().print();
}

fn whole_records(figures: &mut Figures) {
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
        let ours_copies = cpu(|| ours_owned(&file));
        let limit = CodecLimit::new(&file);
        let (write, read) = (limit.write(), limit.read());
        let mut column = |work, rival, ours, cpp, limit| {
            figures.add((payload.name, options), work, [rival / ours, cpp], Some(limit / ours))
        };
        let columns = [
            column(Work::WriteNew, rivals_new, ours_new, cpp.write(), write),
            column(Work::WriteUsed, rivals_used, ours_used, cpp.write(), write),
            column(Work::ReadLent, rival_reads, ours_lends, cpp.read_lent(), read),
            column(Work::ReadOwned, rival_reads, ours_copies, cpp.read_owned(), read),
        ];
        println!(
            "{:<9}{options:<38}{}{:>6.0} %{:>5.0} %",
            payload.name,
            columns.concat(),
            100.0 * write / ours_used,
            100.0 * read / ours_lends
        );
    }
}

fn projections(figures: &mut Figures) {
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
            let ratio = rival_reads / cpu(|| ours_projected(&file, fields));
            let column = figures.add((payload.name, options), Work::Projected(fields), [ratio, cpp], None);
            println!("{:<9}{options:<38}{fields:<10}{column}", payload.name);
        }
    }
}

fn cpu<T>(mut run: impl FnMut() -> T) -> f64 {
    Times::of(|| (), |()| run()).cpu.as_secs_f64()
}
