//! How many megabytes of records does a thread write and read in a second? Every payload with every codec, in simple and in
//! transposed chunks, for tidemill-riegeli and the crate riegeli in one run.
//!
//! `cargo bench --bench throughput -- wide20k transpose` runs the cells that have both words; `--flame` writes a flame graph
//! of each of our cells.

use tidemill_peers::{
    clock::Times,
    payload::Payload,
    records::{cells, ours_lent, ours_owned, ours_write, profiled, rival_read, rival_write},
};

fn main() {
    let payloads = [
        Payload::small(),
        Payload::large(),
        Payload::proto1k(),
        Payload::wide20k(),
    ];
    println!("MB/s of records, by processor time (in brackets: the best run by the clock on the wall)");
    println!("ratio: size of the file to that of the records, ours and the rival's\n");
    println!(
        "{:<9}{:<38}{:>15}{:>15}{:>15}{:>15}{:>15}{:>15}{:>16}",
        "payload", "options", "write", "reused sink", "read, lent", "read, owned", "rival write", "rival read", "ratio"
    );
    for (payload, options) in cells(&payloads) {
        let size = payload.bytes();
        let room = 2 * payload.bytes() as usize;
        let file = ours_write(payload, options, Vec::new());
        let rivals = rival_write(payload, options, Vec::new());
        for answer in [
            ours_lent(&file),
            ours_lent(&rivals),
            ours_owned(&file),
            rival_read(&file),
        ] {
            assert_eq!(answer, size, "every record, whoever wrote them");
        }

        let write = profiled(&format!("{} {options} write", payload.name), || {
            Times::of(|| (), |()| ours_write(payload, options, Vec::with_capacity(room)))
        });
        let mut sink = Vec::with_capacity(room);
        let reused = Times::of(
            || (),
            |()| {
                sink.clear();
                sink = ours_write(payload, options, std::mem::take(&mut sink));
            },
        );
        let lent = profiled(&format!("{} {options} read", payload.name), || {
            Times::of(|| (), |()| ours_lent(&file))
        });
        let owned = Times::of(|| (), |()| ours_owned(&file));
        let rival_writes = Times::of(|| (), |()| rival_write(payload, options, Vec::with_capacity(room)));
        let rival_reads = Times::of(|| (), |()| rival_read(&rivals));

        let speeds = [write, reused, lent, owned, rival_writes, rival_reads].map(|times| {
            let speed = |time: std::time::Duration| size as f64 / 1e6 / time.as_secs_f64();
            format!("{:>7.0} {:>7}", speed(times.cpu), format!("({:.0})", speed(times.wall)))
        });
        println!(
            "{:<9}{options:<38}{} {:>7.4} {:>7.4}",
            payload.name,
            speeds.concat(),
            file.len() as f64 / size as f64,
            rivals.len() as f64 / size as f64,
        );
    }
}
