//! Are we as fast as the C++ library? The crate riegeli runs beside us in every cell; how much faster than the crate C++ is
//! was measured once and is written down in `src/cpp.rs`. We reach C++ where our ratio to the crate is as large.
//!
//! `cargo bench --bench head_to_head -- wide20k transpose` runs the cells that have both words.

use tidemill_peers::{
    clock::Times,
    cpp::Cell,
    payload::Payload,
    records::{cells, ours_lent, ours_owned, ours_write, rival_read, rival_write},
};

fn main() {
    let payloads = [
        Payload::small(),
        Payload::large(),
        Payload::proto1k(),
        Payload::wide20k(),
    ];
    println!("times as fast as the crate riegeli 0.2.1, by processor time: we, the C++ library, we to C++\n");
    println!(
        "{:<9}{:<38}{:^27}{:^27}{:^27}",
        "payload", "options", "write", "read, lent", "read, owned"
    );
    let mut below = 0;
    let mut all = 0;
    for (payload, options) in cells(&payloads) {
        let Some(cpp) = Cell::find(payload.name, options) else {
            continue;
        };
        let room = 2 * payload.bytes() as usize;
        let file = ours_write(payload, options, Vec::new());
        let rivals = rival_write(payload, options, Vec::new());
        let cpu = |times: Times| times.cpu.as_secs_f64();
        let rival_writes = cpu(Times::of(
            || (),
            |()| rival_write(payload, options, Vec::with_capacity(room)),
        ));
        let rival_reads = cpu(Times::of(|| (), |()| rival_read(&rivals)));
        let write = cpu(Times::of(
            || (),
            |()| ours_write(payload, options, Vec::with_capacity(room)),
        ));
        let lent = cpu(Times::of(|| (), |()| ours_lent(&file)));
        let owned = cpu(Times::of(|| (), |()| ours_owned(&file)));

        let ratios = [
            (rival_writes / write, cpp.write()),
            (rival_reads / lent, cpp.read_lent()),
            (rival_reads / owned, cpp.read_owned()),
        ];
        let columns = ratios.map(|(we, cpp)| {
            all += 1;
            below += u32::from(we < cpp);
            let mark = if we < cpp { '<' } else { ' ' };
            format!("{we:>8.2} {cpp:>8.2} {:>7.2}{mark} ", we / cpp)
        });
        println!("{:<9}{options:<38}{}", payload.name, columns.concat());
    }
    println!("\nslower than C++, marked <: {below} of {all}");
}
