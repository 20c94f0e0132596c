//! Several who make a table of one name at once.

use std::path::Path;
use std::sync::Barrier;

use tidemill_xbase::{
    CivilDate, CreateOptions, Error, Existing, FieldSpec, OpenOptions, Result, Table, TableSet, TableWriter,
};

const TODAY: CivilDate = CivilDate {
    year: 2026,
    month: 11,
    day: 26,
};
const MAKERS: usize = 6;

/// Runs `make` for so many at once, and returns how many succeeded; the others found the table there.
fn winners(make: impl Fn(usize) -> Result<()> + Sync) -> usize {
    let barrier = Barrier::new(MAKERS);
    let results: Vec<_> = std::thread::scope(|scope| {
        let (barrier, make) = (&barrier, &make);
        let makers: Vec<_> = (0..MAKERS)
            .map(|maker| {
                scope.spawn(move || {
                    barrier.wait();
                    make(maker)
                })
            })
            .collect();
        makers.into_iter().map(|maker| maker.join().unwrap()).collect()
    });
    for result in &results {
        assert!(
            matches!(result, Ok(()) | Err(Error::Exists { .. } | Error::Locked(_))),
            "{result:?}"
        );
    }
    results.iter().filter(|result| result.is_ok()).count()
}

fn fields(maker: usize) -> [FieldSpec; 2] {
    [
        FieldSpec::new(format!("MADE{maker}"), 'C', 10, 0),
        FieldSpec::new("NOTE", 'M', 10, 0),
    ]
}

fn is_sound(path: &Path) {
    let table = Table::open(path, &OpenOptions::new()).unwrap();
    assert_eq!((table.record_count(), table.fields().len()), (0, 2));
}

#[test]
fn exactly_one_creates_a_table() {
    for round in 0..50 {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new.dbf");
        let options = CreateOptions {
            existing: Existing::Refuse,
            ..CreateOptions::new(TODAY)
        };
        let made = winners(|maker| TableWriter::create(&path, &fields(maker), &options)?.finish().map(drop));
        assert_eq!(made, 1, "round {round}");
        is_sound(&path);
    }
}

#[test]
fn exactly_one_publishes_a_table() {
    for round in 0..50 {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new.dbf");
        let made = winners(|maker| {
            let draft = tempfile::Builder::new()
                .prefix(TableSet::DRAFT)
                .tempdir_in(folder.path())
                .unwrap();
            let inside = draft.path().join("new.dbf");
            TableWriter::create(inside, &fields(maker), &CreateOptions::new(TODAY))?.finish()?;
            TableSet::of(&path).publish(draft.path(), Existing::Refuse).map(drop)
        });
        assert_eq!(made, 1, "round {round}");
        is_sound(&path);
    }
}
