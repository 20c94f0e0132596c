//! Tests of tags that are added to an MDX, and taken out of it.

use std::path::Path;
use std::sync::Arc;

use crate::codepage::CodePage;
use crate::error::Result;
use crate::index::key_sorter::KeySorter;
use crate::index::order_spec::OrderSpec;
use crate::index::page::put;
use crate::index::{Collation, Direction, IndexDialect, IndexEditor, IndexOptions, KeyType};
use crate::storage::DataFile;

fn key(recno: u32) -> Vec<u8> {
    let digits = recno.wrapping_mul(2_654_435_761) % 100_000_000;
    format!("{digits:08}-{recno:>31}").into_bytes()
}

/// An MDX without tags.
fn empty_mdx(version: u8, item_len: u8, page_len: usize) -> DataFile {
    let mut file = vec![0; 2048];
    put(&mut file, 0, &[version]);
    put(
        &mut file,
        20,
        &u32::try_from(page_len / 512 + (page_len << 16)).unwrap().to_le_bytes(),
    );
    put(&mut file, 24, &[1, 48, item_len]);
    put(&mut file, 30, &[1, 0x1B, 4]);
    put(&mut file, 529, &[1]);
    DataFile::scratch(Path::new("t.mdx"), file)
}

/// What the tags of an MDX are to hold.
struct Model {
    name: String,
    is_descending: bool,
    is_number: bool,
    entries: Vec<(Vec<u8>, u32)>,
}

impl Model {
    fn spec(&self) -> OrderSpec {
        let (key_type, len) = match self.is_number {
            true => (KeyType::Number, 8),
            false => (KeyType::Character, 40),
        };
        OrderSpec::new(&*self.name, "X")
            .keys(key_type, len)
            .descending(self.is_descending)
    }

    fn key(&self, recno: u32) -> Vec<u8> {
        match self.is_number {
            true => crate::index::key::sortable(f64::from(recno.wrapping_mul(2_654_435_761) % 1000) / 4.0).to_vec(),
            false => key(recno),
        }
    }

    fn make(&self, index: &mut IndexEditor) -> Result<()> {
        let mut sorter = KeySorter::new(&self.spec(), IndexDialect::Mdx, 10_000)?;
        for (key, recno) in &self.entries {
            sorter.push(key, *recno)?;
        }
        index.create_order(&self.spec(), sorter, 10_000, CodePage::Cp437)?;
        self.open(index).map(drop)
    }

    fn open(&self, index: &mut IndexEditor) -> Result<usize> {
        let key_type = if self.is_number {
            KeyType::Number
        } else {
            KeyType::Character
        };
        index.order(&self.name, key_type, &Collation::binary())
    }

    fn sorted(&self) -> Vec<(Vec<u8>, u32)> {
        let mut sorted = self.entries.clone();
        sorted.sort_by(|(a, m), (b, n)| if self.is_descending { b.cmp(a) } else { a.cmp(b) }.then(m.cmp(n)));
        sorted
    }
}

fn check_mdx(index: &mut IndexEditor, models: &[Model], what: &str) {
    let reader = index.reader().unwrap();
    let mut orders = Vec::new();
    assert_eq!(reader.tags().len(), models.len(), "{what}");
    for model in models {
        let key_type = if model.is_number {
            KeyType::Number
        } else {
            KeyType::Character
        };
        let order = reader.order(&model.name, key_type, &Collation::binary()).unwrap();
        let entries = order.walk(Direction::Forward).map(|entry| {
            let entry = entry.unwrap();
            (entry.key().to_vec(), entry.recno())
        });
        let mut entries: Vec<_> = entries.collect();
        let expected = model.sorted();
        assert!(
            entries
                .iter()
                .map(|entry| &entry.0)
                .eq(expected.iter().map(|entry| &entry.0)),
            "{what}: {}",
            model.name
        );
        // Equal keys may be in any order once entries were put in one by one.
        entries.sort_by(|(a, m), (b, n)| if model.is_descending { b.cmp(a) } else { a.cmp(b) }.then(m.cmp(n)));
        assert_eq!(entries, expected, "{what}: {}", model.name);
        orders.push(order);
    }
    assert_eq!(reader.verify(&orders, Some(10_000)).unwrap(), [], "{what}");
}

#[test]
fn tags_of_an_mdx_are_made_and_dropped_in_any_order_and_their_pages_used_again() {
    for (version, item_len, page_len) in [
        (2, 32, 512),
        (2, 32, 1024),
        (2, 32, 1536),
        (3, 48, 1024),
        (2, 32, 32_256),
    ] {
        let file = Arc::new(empty_mdx(version, item_len, page_len));
        let mut index = IndexEditor::new(Arc::clone(&file), &IndexOptions::new(), false).unwrap();
        let (mut models, mut seed): (Vec<Model>, u32) = (Vec::new(), 7);
        let mut next = |below: u32| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 8) % below
        };
        let mut longest = 0;
        for turn in 0..100_u32 {
            let what = format!("version {version}, pages of {page_len}, turn {turn}");
            let before: Vec<_> = models.iter().map(Model::sorted).collect();
            match next(5) {
                0 if models.len() > 1 => {
                    let at = next(u32::try_from(models.len()).unwrap()) as usize;
                    let gone = models.remove(at);
                    let place = gone.open(&mut index).unwrap();
                    index.drop_order(place).unwrap();
                }
                1 if !models.is_empty() => {
                    let at = next(u32::try_from(models.len()).unwrap()) as usize;
                    let model = &mut models[at];
                    let order = model.open(&mut index).unwrap();
                    for _ in 0..60 {
                        let recno = 1 + next(9000);
                        let key = model.key(recno);
                        let is_there = model.entries.iter().position(|(_, known)| *known == recno);
                        match is_there {
                            Some(at) => {
                                assert!(index.remove(order, &key, recno).unwrap(), "{what}");
                                model.entries.remove(at);
                            }
                            None => {
                                assert!(index.insert(order, &key, recno).unwrap(), "{what}");
                                model.entries.push((key, recno));
                            }
                        }
                    }
                }
                _ if models.len() < 9 => {
                    let mut model = Model {
                        name: format!("T{turn}"),
                        is_descending: next(2) == 0,
                        is_number: next(2) == 0,
                        entries: Vec::new(),
                    };
                    let count = next(500);
                    model.entries = (1..=count).map(|recno| (model.key(recno), recno)).collect();
                    model.make(&mut index).unwrap();
                    assert_eq!(models.iter().map(Model::sorted).collect::<Vec<_>>(), before);
                    models.push(model);
                }
                _ => {}
            }
            index.flush().unwrap();
            check_mdx(&mut index, &models, &what);
            // As another program finds it.
            let mut other = IndexEditor::new(Arc::clone(&file), &IndexOptions::new(), false).unwrap();
            check_mdx(&mut other, &models, &what);
            if turn % 7 == 0 {
                index = other;
                for model in &models {
                    model.open(&mut index).unwrap();
                }
            }
            let mut header = [0; 48];
            file.read("header", 0, &mut header).unwrap();
            assert_eq!(usize::from(header[30]), models.len() + 1, "the number of the next tag");
            assert_eq!(header[31], 0x1B);
            longest = longest.max(models.iter().map(|model| model.entries.len()).sum());
        }
        // Nine tags made and dropped over and over take no more room than that.
        let len = usize::try_from(file.len().unwrap()).unwrap();
        let room = 2048 + 9 * 2 * page_len + longest * 44 * 6;
        assert!(len <= room, "{len} bytes of {page_len}, {longest} entries at most");
    }
}

#[test]
fn a_new_tag_of_an_mdx_leaves_the_bytes_of_the_others_alone() {
    let file = Arc::new(empty_mdx(2, 32, 1024));
    let mut index = IndexEditor::new(Arc::clone(&file), &IndexOptions::new(), false).unwrap();
    let model = |name: &str, count: u32| {
        let mut model = Model {
            name: name.to_owned(),
            is_descending: false,
            is_number: false,
            entries: Vec::new(),
        };
        model.entries = (1..=count).map(|recno| (model.key(recno), recno)).collect();
        model
    };
    let bytes = || {
        let mut bytes = vec![0; usize::try_from(file.len().unwrap()).unwrap()];
        file.read("file", 0, &mut bytes).unwrap();
        bytes
    };
    for (name, count) in [("M", 300), ("C", 40), ("X", 200)] {
        let before = bytes();
        model(name, count).make(&mut index).unwrap();
        assert!(bytes()[2048..before.len()] == before[2048..], "{name}");
    }
    // M, then what comes before and behind it, and above each the one by which it is found.
    let threads = |bytes: &[u8], tags: usize| -> Vec<Vec<u8>> {
        (0..tags)
            .map(|at| bytes[560 + at * 32..563 + at * 32].to_vec())
            .collect()
    };
    assert_eq!(threads(&bytes(), 3), [[2, 3, 0], [0, 0, 1], [0, 0, 1]]);
    let before = bytes();
    let place = model("C", 40).open(&mut index).unwrap();
    index.drop_order(place).unwrap();
    let after = bytes();
    assert_eq!(threads(&after, 2), [[0, 2, 0], [0, 0, 1]]);
    assert_eq!(
        after[544 + 64..2048],
        [0; 2048 - 544 - 64],
        "no item is left behind the last one"
    );
    let (first, end) = (2048 + 1024, before.len());
    let of_c = |at: usize| after[at..at + 1024] != before[at..at + 1024];
    let freed: Vec<_> = (first..end).step_by(1024).filter(|at| of_c(*at)).collect();
    // Its header and its two leaves under a root.
    assert_eq!(freed.len(), 4, "{freed:?}");
    assert!(freed.windows(2).all(|pages| pages[1] == pages[0] + 1024), "{freed:?}");
    model("C", 40).make(&mut index).unwrap();
    assert_eq!(bytes().len(), before.len());
}

#[test]
fn a_tag_that_an_mdx_cannot_have_leaves_it_as_it_was() {
    let file = Arc::new(empty_mdx(3, 48, 512));
    let mut index = IndexEditor::new(Arc::clone(&file), &IndexOptions::new(), false).unwrap();
    let mut add = |spec: OrderSpec| {
        let sorter = KeySorter::new(&spec, IndexDialect::Mdx, 10)?;
        index.create_order(&spec, sorter, 10, CodePage::Cp437)
    };
    let text = |name: &str| OrderSpec::new(name, "X").keys(KeyType::Character, 10);
    let refused = [
        (text(""), "a name of 0 bytes"),
        (text(&"N".repeat(33)), "a name of 33 bytes"),
        (text("A").keys(KeyType::Character, 101), "keys of 101 bytes"),
        (text("A").keys(KeyType::Logical, 1), "no keys of type L"),
        (text("A").condition("X"), "no room for a FOR"),
        (text("A").custom(true), "no custom orders"),
        (text("A").candidate(true), "only a CDX has candidate indexes"),
        (
            OrderSpec::new("A", "X".repeat(300)).keys(KeyType::Character, 10),
            "an expression of 300 bytes",
        ),
    ];
    for (spec, why) in refused {
        let error = add(spec).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
    assert_eq!(file.len().unwrap(), 2048);
    for tag in 0..31 {
        add(text(&format!("A_NAME_OF_MORE_THAN_TEN_BYTES_{tag}"))).unwrap();
    }
    assert!(
        add(text("a_name_of_more_than_ten_bytes_7"))
            .unwrap_err()
            .to_string()
            .contains("already exists")
    );
    let error = add(text("ONE_MORE")).unwrap_err().to_string();
    assert!(error.contains("the file has its 31 orders already"), "{error}");
}

#[test]
fn an_mdx_that_is_cut_or_bent_anywhere_gets_no_tag_and_loses_none_without_an_error_or_a_sound_file() {
    let sound = {
        let file = Arc::new(empty_mdx(2, 32, 512));
        let mut index = IndexEditor::new(Arc::clone(&file), &IndexOptions::new(), false).unwrap();
        for (name, count) in [("B", 30), ("A", 12), ("C", 3)] {
            let mut model = Model {
                name: name.to_owned(),
                is_descending: false,
                is_number: false,
                entries: Vec::new(),
            };
            model.entries = (1..=count).map(|recno| (model.key(recno), recno)).collect();
            model.make(&mut index).unwrap();
        }
        index.drop_order(1).unwrap();
        let mut bytes = vec![0; usize::try_from(file.len().unwrap()).unwrap()];
        file.read("file", 0, &mut bytes).unwrap();
        bytes
    };
    let change = |bytes: Vec<u8>| -> Result<()> {
        let file = Arc::new(DataFile::scratch(Path::new("t.mdx"), bytes));
        let mut index = IndexEditor::new(file, &IndexOptions::new(), false)?;
        let names: Vec<_> = index.tags().iter().map(|tag| tag.name.clone()).collect();
        for name in &names {
            index.order(name, KeyType::Character, &Collation::binary())?;
        }
        let spec = OrderSpec::new("D", "X").keys(KeyType::Character, 40);
        let mut sorter = KeySorter::new(&spec, IndexDialect::Mdx, 100)?;
        (1..=30).try_for_each(|recno| sorter.push(&key(recno), recno))?;
        index.create_order(&spec, sorter, 100, CodePage::Cp437)?;
        index.order("D", KeyType::Character, &Collation::binary())?;
        index.drop_order(0)?;
        index.flush()?;
        index.reader().map(drop)
    };
    change(sound.clone()).unwrap();
    let mut errors = 0;
    for len in 0..sound.len() {
        errors += usize::from(change(sound[..len].to_vec()).is_err());
    }
    assert!(errors > 2048, "{errors} of {} cuts", sound.len());
    for at in 0..sound.len() {
        for flip in [0x01, 0xFE] {
            let mut bent = sound.clone();
            bent[at] ^= flip;
            // An error or none, but an end.
            let _ = change(bent);
        }
    }
}
