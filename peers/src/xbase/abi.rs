//! Ours through the C functions of `libace.so`, as a program calls them: one call a record, a seek, a question.

use std::{
    ffi::{CString, c_void},
    path::{Path, PathBuf},
    ptr::null_mut,
};

use libloading::{Library, Symbol};

use super::{Line, Question, Reference, Spread};

/// What the lines of this engine are called.
pub const ENGINE: &str = "libace";
const SEEKS: usize = 100_000;
pub(super) type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

/// Numbers of the header: a CDX table in ANSI that nobody else opens, an order in the file that opens with it, a hard seek of a
/// double, text as a key, the bounds of a scope.
const CDX: u16 = 2;
const ANSI: u16 = 1;
const COMPOUND: u32 = 2;
const HARD: u16 = 2;
const DOUBLE_KEY: u16 = 4;
const STRING_KEY: u16 = 2;
const BOUNDS: [u16; 2] = [1, 2];

/// Puts the questions that the functions can be asked.
///
/// # Errors
///
/// When the library is not beside this program, and what it says.
pub fn ask(reference: &Reference, repeats: usize, folder: &Path) -> Outcome<Vec<Line>> {
    let library = loaded()?;
    let mut bench = Bench {
        ace: Ace { library: &library },
        reference,
        repeats,
        folder,
        lines: Vec::new(),
    };
    bench.ask()?;
    Ok(bench.lines)
}

/// The `libace.so` that was built with this program.
pub(super) fn loaded() -> Outcome<Library> {
    // SAFETY: it is the library that Cargo built with this program, and loading it runs nothing of its own.
    Ok(unsafe { Library::new(built()?)? })
}

/// The newest `libace.so` in the folders of this program.
fn built() -> Outcome<PathBuf> {
    let program = std::env::current_exe()?;
    let folder = program.parent().ok_or("a program without a folder")?;
    let built = [folder.join("deps/libace.so"), folder.join("libace.so")];
    let built = built.into_iter().filter(|path| path.exists());
    let newest = built.max_by_key(|path| path.metadata().and_then(|about| about.modified()).ok());
    newest.ok_or_else(|| format!("no libace.so beside {}", program.display()).into())
}

struct Bench<'a> {
    ace: Ace<'a>,
    reference: &'a Reference,
    repeats: usize,
    folder: &'a Path,
    lines: Vec<Line>,
}

impl Bench<'_> {
    fn ask(&mut self) -> Outcome {
        let folder = self.folder.join("abi");
        std::fs::create_dir(&folder)?;
        let connection = self.ace.connect(&folder)?;
        self.stage(connection)?;
        let (equal, between) = ("TAG = 'AAAA'", "TAG >= 'AAAA' .AND. TAG <= 'CCCC'");
        std::fs::write(folder.join("bench.dbf"), &self.reference.dbf)?;
        let table = self.ace.open(connection, "bench")?;
        let id = self.index(table, "ID")?;
        self.filter(table, Question::AofByRecords, equal)?;
        self.walks(table, id, Question::AofByRecords, equal)?;
        let tag = self.ace.create_index(table, "TAG")?;
        self.filter(table, Question::AofByOrder, equal)?;
        self.walks(table, id, Question::AofByOrder, equal)?;
        self.filter(table, Question::AofBetween, between)?;
        self.walks(table, id, Question::AofBetween, between)?;
        self.seeks(id)?;
        self.scope(table, tag)?;
        self.ace.call1("AdsDisconnect", connection)
    }

    /// Three fields a record: five calls.
    fn stage(&mut self, connection: u64) -> Outcome {
        let rows = &self.reference.rows;
        let (ace, mut number) = (&self.ace, 0);
        let append: Symbol<'_, Call1> = ace.function("AdsAppendRecord")?;
        let write: Symbol<'_, Call1> = ace.function("AdsWriteRecord")?;
        let set_double: Symbol<'_, SetDouble> = ace.function("AdsSetDouble")?;
        let set_string: Symbol<'_, SetString> = ace.function("AdsSetString")?;
        let made = || {
            number += 1;
            ace.create(connection, &format!("stage{number}")).expect("a table")
        };
        let times = Spread::measure(self.repeats.min(5), &rows.len(), made, |table| {
            for ((tag, cents), id) in rows.iter().zip(1_u32..) {
                // SAFETY: fields by number, and four bytes that are there.
                unsafe {
                    append(table);
                    set_double(table, field(1), id.into());
                    set_string(table, field(2), [*tag; 4].as_ptr(), 4);
                    set_double(table, field(3), f64::from(*cents) / 100.0);
                    assert_eq!(write(table), 0);
                }
            }
            ace.call1("AdsCloseTable", table).expect("closed");
            rows.len()
        });
        self.line(Question::Stage, times, rows.len(), 5 * rows.len(), "record by record");
        Ok(())
    }

    fn index(&mut self, table: u64, field: &str) -> Outcome<u64> {
        let ace = &self.ace;
        let mut index = 0;
        let times = Spread::measure(
            self.repeats.min(5),
            &(),
            || (),
            |()| {
                // Made again under its name, an order takes the place of the old one.
                index = ace.create_index(table, field).expect("an order");
            },
        );
        self.line(Question::CreateIndex, times, self.reference.rows.len(), 1, "");
        Ok(index)
    }

    fn filter(&mut self, table: u64, question: Question, condition: &str) -> Outcome {
        let (ace, text) = (&self.ace, CString::new(condition)?);
        let set: Symbol<'_, SetFilter> = ace.function("AdsSetAOF")?;
        // SAFETY: a text that ends with a NUL.
        let times = Spread::measure(
            self.repeats,
            &0,
            || (),
            |()| unsafe { set(table, text.as_ptr().cast(), 0) },
        );
        self.line(question, times, self.reference.rows.len(), 1, "");
        Ok(())
    }

    /// Two calls a record: is it the end, and one on.
    fn walks(&mut self, table: u64, id: u64, filter: Question, condition: &str) -> Outcome {
        self.filter_is(table, condition)?;
        let count = usize::try_from(self.reference.answer(filter)[0])?;
        for (question, order) in [(Question::Walk, table), (Question::WalkOrder, id)] {
            let walk = || self.walk(order, table).expect("a walk");
            let times = Spread::measure(self.repeats, &count, || (), |()| walk());
            self.line(question, times, count, 2 * count, "two calls a record");
            self.lines.last_mut().ok_or("no line")?.filter = Some(filter);
        }
        self.ace.call1("AdsClearAOF", table)
    }

    fn filter_is(&self, table: u64, condition: &str) -> Outcome {
        let text = CString::new(condition)?;
        let set: Symbol<'_, SetFilter> = self.ace.function("AdsSetAOF")?;
        // SAFETY: a text that ends with a NUL.
        checked(unsafe { set(table, text.as_ptr().cast(), 0) })
    }

    fn walk(&self, order: u64, table: u64) -> Outcome<usize> {
        let top: Symbol<'_, Call1> = self.ace.function("AdsGotoTop")?;
        let at_end: Symbol<'_, Answer> = self.ace.function("AdsAtEOF")?;
        let skip: Symbol<'_, Skip> = self.ace.function("AdsSkip")?;
        let (mut count, mut is_end) = (0, 0);
        // SAFETY: a place for the answer.
        unsafe {
            checked(top(order))?;
            while at_end(table, &raw mut is_end) == 0 && is_end == 0 {
                count += 1;
                skip(order, 1);
            }
        }
        Ok(count)
    }

    fn seeks(&mut self, id: u64) -> Outcome {
        let seek: Symbol<'_, Seek> = self.ace.function("AdsSeek")?;
        let rows = self.reference.rows.len() as u64;
        let mut random = 1_u64;
        let keys: Vec<f64> = std::iter::repeat_with(|| {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            ((random >> 33) % rows + 1) as f64
        })
        .take(SEEKS)
        .collect();
        let times = Spread::measure(
            self.repeats,
            &SEEKS,
            || (),
            |()| {
                let is_found = |key: &&f64| {
                    let mut found = 0;
                    // SAFETY: eight bytes of a double, and a place for the answer.
                    unsafe {
                        seek(id, std::ptr::from_ref(*key).cast(), 8, DOUBLE_KEY, HARD, &raw mut found) == 0
                            && found != 0
                    }
                };
                keys.iter().filter(is_found).count()
            },
        );
        self.line(Question::Seek, times, SEEKS, SEEKS, "");
        Ok(())
    }

    fn scope(&mut self, table: u64, tag: u64) -> Outcome {
        let set: Symbol<'_, SetScope> = self.ace.function("AdsSetScope")?;
        for which in BOUNDS {
            // SAFETY: four bytes that are there.
            checked(unsafe { set(tag, which, b"AAAA".as_ptr(), 4, STRING_KEY) })?;
        }
        let answer = self.reference.answer(Question::ScopeWalk);
        let walk = || vec![self.walk(tag, table).expect("a walk") as i64];
        let times = Spread::measure(self.repeats, &answer, || (), |()| walk());
        let count = usize::try_from(answer[0])?;
        self.line(Question::ScopeWalk, times, count, 2 * count, "two calls a record");
        Ok(())
    }

    fn line(&mut self, question: Question, times: Spread, units: usize, calls: usize, note: &str) {
        self.lines.push(Line {
            question,
            filter: None,
            engine: ENGINE.to_owned(),
            times,
            units,
            calls,
            note: note.to_owned(),
        });
    }
}

pub(super) type Call1 = unsafe extern "C" fn(u64) -> u32;
pub(super) type Answer = unsafe extern "C" fn(u64, *mut u16) -> u32;
pub(super) type Skip = unsafe extern "C" fn(u64, i32) -> u32;
type SetFilter = unsafe extern "C" fn(u64, *const u8, u16) -> u32;
pub(super) type SetDouble = unsafe extern "C" fn(u64, *mut c_void, f64) -> u32;
type SetString = unsafe extern "C" fn(u64, *mut c_void, *const u8, u32) -> u32;
type Seek = unsafe extern "C" fn(u64, *const u8, u16, u16, u16, *mut u16) -> u32;
type SetScope = unsafe extern "C" fn(u64, u16, *const u8, u16, u16) -> u32;
type Connect = unsafe extern "C" fn(*const u8, u16, *mut u8, *mut u8, u32, *mut u64) -> u32;
type Open = unsafe extern "C" fn(u64, *const u8, *mut u8, u16, u16, u16, u16, u32, *mut u64) -> u32;
type Create = unsafe extern "C" fn(u64, *const u8, *mut u8, u16, u16, u16, u16, u16, *const u8, *mut u64) -> u32;
type CreateIndex =
    unsafe extern "C" fn(u64, *mut u8, *const u8, *const u8, *mut u8, *mut u8, u32, u32, *mut u64) -> u32;

/// The functions of the library.
pub(super) struct Ace<'l> {
    pub(super) library: &'l Library,
}

impl<'l> Ace<'l> {
    pub(super) fn function<T>(&self, name: &str) -> Outcome<Symbol<'l, T>> {
        // SAFETY: the types above are those of the header.
        Ok(unsafe { self.library.get(name.as_bytes())? })
    }

    pub(super) fn call1(&self, name: &str, handle: u64) -> Outcome {
        let function: Symbol<'_, Call1> = self.function(name)?;
        // SAFETY: handles are checked.
        checked(unsafe { function(handle) })
    }

    pub(super) fn connect(&self, folder: &Path) -> Outcome<u64> {
        let (connect, path): (Symbol<'_, Connect>, _) = (
            self.function("AdsConnect60")?,
            CString::new(folder.display().to_string())?,
        );
        let mut handle = 0;
        // SAFETY: a text that ends with a NUL, and a place for the answer.
        checked(unsafe { connect(path.as_ptr().cast(), 1, null_mut(), null_mut(), 0, &raw mut handle) })?;
        Ok(handle)
    }

    fn open(&self, connection: u64, name: &str) -> Outcome<u64> {
        let (open, name): (Symbol<'_, Open>, _) = (self.function("AdsOpenTable")?, CString::new(name)?);
        let mut handle = 0;
        // SAFETY: as above.
        checked(unsafe {
            open(
                connection,
                name.as_ptr().cast(),
                null_mut(),
                CDX,
                ANSI,
                0,
                0,
                1,
                &raw mut handle,
            )
        })?;
        Ok(handle)
    }

    fn create(&self, connection: u64, name: &str) -> Outcome<u64> {
        let (create, name): (Symbol<'_, Create>, _) = (self.function("AdsCreateTable")?, CString::new(name)?);
        let (fields, mut handle) = (c"ID,Numeric,8,0;TAG,Character,4;AMT,Numeric,8,2", 0);
        let (name, fields) = (name.as_ptr().cast(), fields.as_ptr().cast());
        // SAFETY: as above.
        checked(unsafe {
            create(
                connection,
                name,
                null_mut(),
                CDX,
                ANSI,
                0,
                0,
                0,
                fields,
                &raw mut handle,
            )
        })?;
        Ok(handle)
    }

    fn create_index(&self, table: u64, field: &str) -> Outcome<u64> {
        let create: Symbol<'_, CreateIndex> = self.function("AdsCreateIndex61")?;
        let (field, mut handle) = (CString::new(field)?, 0);
        let (field, none) = (field.as_ptr().cast(), null_mut());
        // SAFETY: as above.
        checked(unsafe { create(table, none, field, field, none, none, COMPOUND, 512, &raw mut handle) })?;
        Ok(handle)
    }
}

/// A field by its number, in the place of its name (`ADSFIELD`).
pub(super) fn field(number: usize) -> *mut c_void {
    std::ptr::without_provenance_mut(number)
}

pub(super) fn checked(code: u32) -> Outcome {
    match code {
        0 => Ok(()),
        code => Err(format!("libace answered {code}").into()),
    }
}
