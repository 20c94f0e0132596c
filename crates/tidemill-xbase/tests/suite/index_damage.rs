//! Broken index files: an error with file and page, or the right answer; never a panic, and never without end.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tidemill_xbase::aof::OrderedRecords;
use tidemill_xbase::index::{
    Collation, Direction, End, Finding, Index, IndexDialect, IndexFault, IndexOptions, Key, KeyType, Order,
};
use tidemill_xbase::{Bitmap, CodePage};

/// Files that are cut and bent, with the types of their orders' keys.
const SUBJECTS: [(&str, &[(&str, KeyType)]); 4] = [
    ("types_vfp.cdx", &[("TC", KeyType::Character)]),
    (
        "cp437.cdx",
        &[("T_TXT", KeyType::Character), ("T_UTXT", KeyType::Character)],
    ),
    ("ord_ntx_NUM.ntx", &[("T_NUM", KeyType::Number)]),
    (
        "ord_nsx.nsx",
        &[
            ("T_NAME", KeyType::Character),
            ("T_NUMD", KeyType::Number),
            ("T_LOG", KeyType::Logical),
        ],
    ),
];

#[test]
fn sound_files_have_no_finding() {
    let mut files: Vec<PathBuf> = std::fs::read_dir(corpus(""))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    // Those that were laid out by hand have a test of their own.
    files.retain(|path| IndexDialect::from_path(path).is_some() && !path.to_string_lossy().contains("hand"));
    files.sort();
    assert_eq!(files.len(), 3 + 2 + 22 + 7 * 3);
    for path in files {
        let name = path.file_name().unwrap().to_str().unwrap();
        let collation = match name.get(..8).unwrap() {
            "cp850de." | "cp850den" => Collation::national("de", CodePage::Cp850),
            "cp850es." | "cp850esn" => Collation::national("es", CodePage::Cp850),
            "cp1252de" => Collation::national("de", CodePage::Cp1252),
            "cp1252es" => Collation::national("es", CodePage::Cp1252),
            _ => Ok(Collation::binary()),
        };
        let records = match name.get(..4).unwrap() {
            "ord_" => 600,
            "upd_" => 1595,
            "type" => 25,
            _ => 323,
        };
        let index = Index::open(&path, &IndexOptions::new()).unwrap();
        let verify = |collation: &Collation| {
            let order = |tag: &str, key_type| index.order(tag, key_type, collation);
            let types = [KeyType::Character, KeyType::Number, KeyType::Date, KeyType::Logical];
            let of_type = |tag: &str| match tag {
                "T_NUM" | "T_NUMD" | "T_ID" | "T_YEAR" => KeyType::Number,
                "T_DAT" | "T_DATD" => KeyType::Date,
                "T_LOG" => KeyType::Logical,
                _ => KeyType::Character,
            };
            assert!(index.tags().iter().all(|tag| types.contains(&of_type(&tag.name))));
            let orders: Vec<_> = index
                .tags()
                .iter()
                .map(|tag| order(&tag.name, of_type(&tag.name)).unwrap())
                .collect();
            index.verify(&orders, Some(records)).unwrap()
        };
        assert_eq!(verify(&collation.unwrap()), [], "{name}");
        if name.starts_with("cp") && (name.contains("de") || name.contains("es")) {
            let is_misplaced = |finding: &Finding| matches!(finding.what, IndexFault::OutOfOrder { .. });
            let wrong = verify(&Collation::binary());
            assert!(!wrong.is_empty() && wrong.iter().all(is_misplaced), "{name} by bytes");
        }
        assert_eq!(index.verify(&[], None).unwrap(), [], "{name} without types");
    }
}

#[test]
fn a_table_that_is_too_short_is_found() {
    let index = Index::open(corpus("ord_cdx.cdx"), &IndexOptions::new()).unwrap();
    let findings = index.verify(&[], Some(599)).unwrap();
    // Two orders do not have record 600, since their keys are unique.
    let expected = index.tags().len() - 2;
    assert_eq!(findings.len(), expected, "{findings:?}");
    assert!(findings.iter().all(|finding| finding.what
        == IndexFault::NoSuchRecord {
            recno: 600,
            records: 599
        }));
    assert!(
        findings[0]
            .to_string()
            .contains("a key of record 600, but the table has 599 records"),
        "{}",
        findings[0]
    );
}

#[test]
fn a_file_cut_anywhere_gives_an_error_or_the_right_answer() {
    for (name, tags) in SUBJECTS {
        let whole = bytes(name);
        let expected = answers(&whole, name, tags).unwrap();
        for cut in (0..whole.len()).filter(|cut| *cut < 2100 || cut % 509 == 0 || cut % 512 < 2) {
            let cut_bytes = whole.get(..cut).unwrap();
            if let Ok(answers) = answers(cut_bytes, name, tags) {
                assert_eq!(answers, expected, "{name} cut at {cut}");
                // What is missing belongs to another order or to none.
                assert!(cut > 1024, "{name} cut at {cut}");
            }
        }
    }
}

#[test]
fn every_byte_of_every_header_may_be_wrong() {
    for (name, tags) in SUBJECTS {
        let whole = bytes(name);
        let headers = match dialect(name) {
            IndexDialect::Ntx => 1024,
            _ => 2048 + 512,
        };
        for at in 0..headers {
            // The first bytes hold numbers: single bits matter there.
            let flips: &[u8] = if at % 1024 < 32 {
                &[0x01, 0x02, 0x10, 0x80, 0xFF]
            } else {
                &[0xFF]
            };
            for flip in flips {
                check_ends(bent(&whole, at, *flip), name, tags);
            }
        }
    }
}

#[test]
fn every_byte_of_a_page_may_be_wrong() {
    for (name, tags) in SUBJECTS {
        let whole = bytes(name);
        let page = if dialect(name) == IndexDialect::Cdx { 512 } else { 1024 };
        for begin in [whole.len() / page / 3 * page, whole.len() - page] {
            for at in begin..begin + page {
                check_ends(bent(&whole, at, if at % 2 == 0 { 0x55 } else { 0xFF }), name, tags);
            }
        }
    }
}

#[test]
fn circles_and_wild_pages_end_in_an_error() {
    // The root of T_NAME, whose keys have 15 bytes: an entry ends in the page below, big-endian.
    let whole = bytes("upd_cdx.cdx");
    let branch = 2560;
    assert_eq!(whole[branch..branch + 2], [1, 0]);
    let entry = branch + 12 + 15 + 4;
    for page in [2560_u32, 0, 1024, 0x7FFF_FE00, 513] {
        let mut bent = whole.clone();
        bent[entry..entry + 4].copy_from_slice(&page.to_be_bytes());
        assert_broken(&bent, "upd_cdx.cdx", &page.to_string());
    }
    // The root of an NTX: its items begin with the page below.
    let whole = bytes("ord_ntx_NUM.ntx");
    let root = u32::from_le_bytes(whole[4..8].try_into().unwrap()) as usize;
    let item = root + usize::from(u16::from_le_bytes(whole[root + 2..root + 4].try_into().unwrap()));
    for page in [root as u32, 1, 0x7FFF_FC00, whole.len() as u32] {
        let mut bent = whole.clone();
        bent[item..item + 4].copy_from_slice(&page.to_le_bytes());
        assert_broken(&bent, "ord_ntx_NUM.ntx", &page.to_string());
    }
    for (at, value, what) in [
        (root, 60_u16, "number of keys"),
        (root + 2, 1020, "offset of an item"),
        (root + 2, 60_000, "number"),
    ] {
        let mut bent = whole.clone();
        bent[at..at + 2].copy_from_slice(&value.to_le_bytes());
        assert_broken(&bent, "ord_ntx_NUM.ntx", what);
    }
    // The root of the first tag of an NSX: the page of lower keys.
    let whole = bytes("ord_nsx.nsx");
    let root = u32::from_le_bytes(whole[1026..1030].try_into().unwrap()) as usize;
    for page in [root as u32, 0x7FFF_FC00] {
        let mut bent = whole.clone();
        bent[root + 4..root + 8].copy_from_slice(&page.to_le_bytes());
        assert_broken(&bent, "ord_nsx.nsx", &page.to_string());
    }
}

#[test]
fn a_leaf_under_two_entries_of_a_branch_is_no_order_of_records() {
    let whole = bytes("upd_cdx.cdx");
    let branch = 2560;
    let place = |entry: usize| branch + 12 + entry * (15 + 8) + 15 + 4;
    for (from, to) in [(0, 2), (3, 1), (5, 4)] {
        let mut bent = whole.clone();
        bent.copy_within(place(from)..place(from) + 4, place(to));
        let findings = findings(&bent, "upd_cdx.cdx");
        let tag = findings[0].tag.clone().unwrap();
        let order = open(&bent, "upd_cdx.cdx", &tag, KeyType::Character);
        let error = OrderedRecords::new(&Bitmap::full(2000), &order)
            .unwrap_err()
            .to_string();
        assert!(error.contains("index page"), "{error}");
        assert!(order.key_count().is_err());
    }
    let order = open(&whole, "upd_cdx.cdx", "T_NAME", KeyType::Character);
    let walked: Vec<u32> = order
        .walk(Direction::Forward)
        .map(|entry| entry.unwrap().recno())
        .collect();
    let ordered = OrderedRecords::new(&Bitmap::full(2000), &order).unwrap();
    assert_eq!(ordered.iter().collect::<Vec<_>>(), walked);
    let order = open(&whole, "upd_cdx.cdx", "T_NAME", KeyType::Character);
    assert!(OrderedRecords::new(&Bitmap::full(walked.len() as u32 - 1), &order).is_err());
}

#[test]
fn a_page_that_is_reached_by_many_ways_does_not_make_an_endless_walk() {
    // Forty pages, each with the next one below it as many times as it has keys: 2^40 paths.
    let levels = 39_u32;
    let mut file = ntx_header(1, 1024);
    for level in 1..=levels {
        let child = if level == levels { 0 } else { 1024 * (level + 1) };
        let items: Vec<(u32, u32, &[u8])> = vec![(child, level, b"a"), (child, 0, b"")];
        file.extend(ntx_page(1, &items));
    }
    let order = open(&file, "ord_ntx_NUM.ntx", "T", KeyType::Character);
    let error = order.walk(Direction::Forward).find_map(Result::err).unwrap();
    assert!(error.to_string().contains("index page"), "{error}");
    assert!(order.key_count().is_err());
    let index = Index::from_bytes(file, IndexDialect::Ntx, &IndexOptions::new()).unwrap();
    let findings = index.verify(&[], None).unwrap();
    assert!(
        findings.iter().any(|finding| finding.what == IndexFault::ReachedTwice),
        "{findings:?}"
    );
}

#[test]
fn every_kind_of_finding_is_found() {
    let page = |items: &[(u32, u32, &[u8])]| ntx_page(2, items);
    let verify = |pages: &[Vec<u8>], bend: &dyn Fn(&mut Vec<u8>)| {
        let mut file = ntx_header(2, 1024);
        pages.iter().for_each(|page| file.extend(page));
        bend(&mut file);
        let index = Index::from_bytes(file, IndexDialect::Ntx, &IndexOptions::new()).unwrap();
        let order = index.order("T", KeyType::Character, &Collation::binary()).unwrap();
        index
            .verify(&[order], Some(9))
            .unwrap()
            .into_iter()
            .map(|finding| finding.what)
            .collect::<Vec<_>>()
    };
    let end = (0, 0, &b""[..]);
    let keep = |_: &mut Vec<u8>| {};
    assert_eq!(verify(&[page(&[(0, 1, b"aa"), (0, 2, b"bb"), end])], &keep), []);
    assert_eq!(
        verify(&[page(&[(0, 1, b"b\xFF"), (0, 2, b"aa"), end])], &keep),
        [IndexFault::OutOfOrder {
            key: "aa".into(),
            recno: 2,
            before: "b\\xff".into(),
            before_recno: 1
        }]
    );
    assert_eq!(
        verify(&[page(&[(0, 1, b"aa"), (0, 1, b"bb"), end])], &keep),
        [IndexFault::RepeatedRecord { recno: 1 }]
    );
    assert_eq!(
        verify(&[page(&[(0, 0, b"aa"), (0, 10, b"bb"), end])], &keep),
        [
            IndexFault::NoSuchRecord { recno: 0, records: 9 },
            IndexFault::NoSuchRecord { recno: 10, records: 9 }
        ]
    );
    let unique = |file: &mut Vec<u8>| file[278] = 1;
    assert_eq!(
        verify(&[page(&[(0, 1, b"aa"), (0, 2, b"aa"), end])], &unique),
        [IndexFault::RepeatedKey {
            key: "aa".into(),
            recno: 2
        }]
    );
    let leaf = page(&[(0, 1, b"aa"), end]);
    assert_eq!(
        verify(&[leaf.clone(), leaf.clone()], &keep),
        [IndexFault::Unreachable { pages: 1 }]
    );
    // The second page is in the list of free ones, and names itself as the next.
    let free = |file: &mut Vec<u8>| file[8..12].copy_from_slice(&2048_u32.to_le_bytes());
    assert_eq!(verify(&[leaf.clone(), page(&[end])], &free), []);
    assert_eq!(
        verify(&[leaf.clone(), page(&[(2048, 0, b"")])], &free),
        [IndexFault::ReachedTwice]
    );
    let branch = page(&[(2048, 2, b"bb"), (0, 0, b"")]);
    assert!(matches!(
        verify(&[branch, leaf.clone()], &keep)[..],
        [IndexFault::Unreadable(_), IndexFault::Unreachable { pages: 1 }]
    ));
    let tall = [
        page(&[(2048, 5, b"mm"), (3072, 0, b"")]),
        leaf.clone(),
        page(&[(4096, 8, b"xx"), (5120, 0, b"")]),
        page(&[(0, 7, b"nn"), end]),
        page(&[(0, 9, b"zz"), end]),
    ];
    let uneven = IndexFault::UnevenLeaves { expected: 1, found: 2 };
    assert_eq!(verify(&tall, &keep), [uneven.clone(), uneven]);

    // Links and copies of keys are of a CDX: the second leaf of a tree of two levels.
    let whole = bytes("upd_cdx.cdx");
    let leaf = (0..whole.len())
        .step_by(512)
        .find(|at| whole[*at..*at + 2] == [2, 0] && whole[at + 4..at + 8] != [0xFF; 4])
        .unwrap();
    let mut bent = whole.clone();
    bent[leaf + 4..leaf + 8].copy_from_slice(&0_u32.to_le_bytes());
    let findings = findings(&bent, "upd_cdx.cdx");
    assert!(
        matches!(&findings[..], [Finding { page, what: IndexFault::WrongNeighbour { side: "left", .. }, .. }] if *page == leaf as u64),
        "{findings:?}"
    );
    let mut bent = whole;
    bent[leaf + 2..leaf + 4].copy_from_slice(&1_u16.to_le_bytes());
    let findings = self::findings(&bent, "upd_cdx.cdx");
    assert!(
        matches!(
            findings[..],
            [Finding {
                what: IndexFault::WrongBranchKey { .. },
                ..
            }]
        ),
        "{findings:?}"
    );
}

fn bent(bytes: &[u8], at: usize, flip: u8) -> Vec<u8> {
    let mut bent = bytes.to_vec();
    bent[at] ^= flip;
    bent
}

/// Everything that a reader asks must end: in errors, or in answers that no one can check.
fn check_ends(bytes: Vec<u8>, name: &str, tags: &[(&str, KeyType)]) {
    let _ = answers(&bytes, name, tags);
    if bytes.len() < 20_000
        && let Ok(index) = Index::from_bytes(bytes, dialect(name), &IndexOptions::new())
    {
        index.verify(&[], Some(600)).unwrap();
    }
}

/// Records both ways, their numbers, and what a seek finds.
fn answers(bytes: &[u8], name: &str, tags: &[(&str, KeyType)]) -> tidemill_xbase::Result<Vec<Vec<u32>>> {
    let index = Index::from_bytes(bytes.to_vec(), dialect(name), &IndexOptions::new())?;
    let mut answers: Vec<Vec<u32>> = Vec::new();
    for (tag, key_type) in tags {
        let order = index.order(tag, *key_type, &Collation::binary())?;
        for direction in [Direction::Forward, Direction::Backward] {
            answers.push(
                order
                    .walk(direction)
                    .map(|entry| Ok(entry?.recno()))
                    .collect::<tidemill_xbase::Result<Vec<u32>>>()?,
            );
        }
        let set = Bitmap::full(answers.iter().flatten().copied().max().unwrap_or_default().min(5000));
        answers.push(OrderedRecords::new(&set, &order)?.iter().collect());
        let mut cursor = order.cursor();
        let count = order.key_count()?;
        let mut found = vec![u32::try_from(count).unwrap()];
        for number in [1, count / 2, count] {
            cursor.go_key_no(number)?;
            found.extend(cursor.recno());
            let key = Key::raw(cursor.key().unwrap_or_default());
            for end in [End::First, End::Last] {
                cursor.seek(&key, end, true)?;
                found.extend(cursor.recno());
            }
        }
        answers.push(found);
    }
    Ok(answers)
}

/// Neither the walk nor the checker takes the file for sound, and both say where.
fn assert_broken(bytes: &[u8], name: &str, what: &str) {
    let findings = findings(bytes, name);
    assert!(!findings.is_empty(), "{name} {what}");
    let index = Index::from_bytes(bytes.to_vec(), dialect(name), &IndexOptions::new()).unwrap();
    let tag = findings[0].tag.clone().unwrap();
    let key_type = if tag == "T_NUM" || tag == "T_DAT" {
        KeyType::Number
    } else {
        KeyType::Character
    };
    let order = index.order(&tag, key_type, &Collation::binary()).unwrap();
    assert!(
        OrderedRecords::new(&Bitmap::full(2000), &order).is_err(),
        "{name} {what}"
    );
    let walked: Vec<_> = order.walk(Direction::Forward).collect();
    let error = walked.last().unwrap().as_ref().unwrap_err().to_string();
    assert!(
        error.starts_with("memory.") && error.contains(what),
        "{name} {what}: {error}"
    );
}

fn findings(bytes: &[u8], name: &str) -> Vec<Finding> {
    let index = Index::from_bytes(bytes.to_vec(), dialect(name), &IndexOptions::new()).unwrap();
    // A page that is cut out makes those below it unreachable too.
    let mut findings = index.verify(&[], None).unwrap();
    findings.retain(|finding| !matches!(finding.what, IndexFault::Unreachable { .. }));
    findings
}

fn open(bytes: &[u8], name: &str, tag: &str, key_type: KeyType) -> Arc<Order> {
    let index = Index::from_bytes(bytes.to_vec(), dialect(name), &IndexOptions::new()).unwrap();
    index.order(tag, key_type, &Collation::binary()).unwrap()
}

/// The header of an NTX with the tag `T`.
fn ntx_header(key_len: u16, root: u32) -> Vec<u8> {
    let mut header = vec![0; 1024];
    header[0] = 6;
    header[4..8].copy_from_slice(&root.to_le_bytes());
    for (at, number) in [(12, key_len + 8), (14, key_len), (18, 40)] {
        header[at..at + 2].copy_from_slice(&number.to_le_bytes());
    }
    header[22] = b'K';
    header[538] = b'T';
    header
}

/// A page of an NTX: the page below, the record and the key of each item; the last item has only the page below.
fn ntx_page(key_len: usize, items: &[(u32, u32, &[u8])]) -> Vec<u8> {
    let mut page = vec![0; 1024];
    page[0] = u8::try_from(items.len() - 1).unwrap();
    for (slot, (child, recno, key)) in items.iter().enumerate() {
        let at = 100 + slot * (key_len + 8);
        page[2 + 2 * slot..4 + 2 * slot].copy_from_slice(&u16::try_from(at).unwrap().to_le_bytes());
        page[at..at + 4].copy_from_slice(&child.to_le_bytes());
        page[at + 4..at + 8].copy_from_slice(&recno.to_le_bytes());
        page[at + 8..at + 8 + key.len()].copy_from_slice(key);
    }
    page
}

fn dialect(name: &str) -> IndexDialect {
    IndexDialect::from_path(Path::new(name)).unwrap()
}

fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(corpus(name)).unwrap()
}

fn corpus(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../corpus/xbase")
        .join(file)
}
