//! The options of a session.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use prost::Message as _;
use prost_types::FileDescriptorSet;
use tidemill_riegeli::tensorflow_example::ExampleKind;
use tidemill_riegeli::{FieldProjection, ReaderOptions, RecordType, RecordsMetadata};
use tidemill_xbase::{Blank, CodePage, Deleted};

use crate::location::{Location, Place};
use crate::names::Names;
use crate::stores::server::{ServerUrl, TableOptions};
use crate::stores::standard_input::StandardInput;
use crate::{Error, Result};

/// The options of a [`Session`](crate::Session).
#[derive(Clone, Debug, Default)]
pub struct SessionOptions {
    pub(crate) names: Names,
    xbase: tidemill_xbase::OpenOptions,
    codepage: Option<CodePage>,
    blank: Option<Blank>,
    deleted: Deleted,
    recover: bool,
    max_expansion: Option<u64>,
    /// Whether deleted records are marked by a column.
    marks: bool,
    /// The record numbers of an xBase table, or the chunk offsets of a Riegeli file, to which scans are limited. Default: all.
    pub(crate) positions: Option<Range<u64>>,
    pub(crate) threads: Option<usize>,
    pub(crate) memory: Option<usize>,
    descriptors: Option<Arc<FileDescriptorSet>>,
    message: Option<String>,
    pub(crate) making: TableOptions,
    pub(crate) field_projection: Option<FieldProjection>,
    standard_tables: bool,
    /// The planner answers all queries, without the lanes of ADS SQL.
    planner_only: bool,
    most_sorted: MostSorted,
    counts_scans: bool,
    standard_input: Option<Arc<StandardInput>>,
    #[cfg(feature = "workers")]
    workers: Option<crate::Workers>,
}

/// The most records that the lanes of ADS SQL sort or group themselves, if that takes memory for each record. The planner has more threads
/// and spills to disk; the lanes cache columns for later queries, as far as memory allows.
#[derive(Clone, Copy, Debug)]
struct MostSorted(Option<usize>);

impl Default for MostSorted {
    fn default() -> Self {
        Self(Some(8_000_000))
    }
}

/// The option `message`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MessageOption {
    /// Not set: the type comes from the file, or from its first records.
    Found,
    /// Records as bytes.
    None,
    /// Messages whose features are columns.
    Example(ExampleKind),
    /// A message type of the descriptors.
    Named,
}

impl SessionOptions {
    /// The folder whose tables may be named without path and extension, or the URL of a database whose tables may be named without it.
    /// Default: the current folder.
    #[must_use]
    pub fn dir(mut self, dir: impl Into<PathBuf>) -> Self {
        self.names.set_dir(dir);
        self
    }

    /// The database whose tables may be named without it. Default: none.
    #[must_use]
    pub fn database(mut self, database: ServerUrl) -> Self {
        self.names.set_database(database);
        self
    }

    /// Gives the table at `place` a name.
    #[must_use]
    pub fn attach(mut self, name: impl Into<String>, place: impl Into<String>) -> Self {
        self.names.attach(name, place);
        self
    }

    /// Maps a Windows drive letter to a folder.
    #[must_use]
    pub fn drive(mut self, letter: char, folder: impl Into<PathBuf>) -> Self {
        self.names.map_drive(letter, folder);
        self
    }

    /// The code page of xBase tables, which overrides the one in their headers. Default: that in the header.
    #[must_use]
    pub fn codepage(mut self, codepage: CodePage) -> Self {
        self.xbase = self.xbase.codepage(codepage);
        self.codepage = Some(codepage);
        self
    }

    /// The value of blank numbers, logicals, dates and timestamps of xBase tables. [`Blank::Zero`] is what programs for ADS and Clipper
    /// see: 0, false, and a date before every day. Default: NULL.
    #[must_use]
    pub fn blank(mut self, blank: Blank) -> Self {
        self.xbase = self.xbase.blank(blank);
        self.blank = Some(blank);
        self
    }

    /// Which records of xBase tables are rows. Default: those not marked as deleted.
    #[must_use]
    pub fn deleted(mut self, deleted: Deleted) -> Self {
        self.deleted = deleted;
        self
    }

    /// Whether CREATE TABLE creates xBase tables as standard SQL does: columns are nullable unless NOT NULL is given, and keep their names,
    /// whatever their length. Default: no, as in ADS: columns are nullable only if declared so, and have names of up to 10 bytes in upper
    /// case.
    #[must_use]
    pub fn standard_tables(mut self, standard: bool) -> Self {
        self.standard_tables = standard;
        self
    }

    /// Whether scans skip damaged parts. Default: no, damage is an error.
    #[must_use]
    pub fn recover(mut self, recover: bool) -> Self {
        self.recover = recover;
        self.xbase = self.xbase.recover(recover);
        self
    }

    /// Whether statements may only name tables of the folder and of attached places: no path, no pattern, no URL, no standard input, and no
    /// symbolic link out of the folders. For users who must not see the rest of the machine. Default: no.
    #[must_use]
    pub fn confined(mut self, confined: bool) -> Self {
        self.names.set_confined(confined);
        self
    }

    /// Lets files below this folder be named by absolute paths, although names are [confined](Self::confined). May be called repeatedly.
    /// Default: none.
    #[must_use]
    pub fn allow_paths(mut self, folder: impl Into<PathBuf>) -> Self {
        self.names.allow_paths(folder.into());
        self
    }

    /// Whether xBase tables that contradict their format are refused, even if their records are unambiguous. Default: no.
    #[must_use]
    pub fn strict(mut self, strict: bool) -> Self {
        self.xbase = self.xbase.strict(strict);
        self
    }

    /// The most bytes of memory that the records of a chunk of a Riegeli, ArrayRecord or TFRecord file, the pages of a row group of
    /// Parquet, and the buffers of a batch of Arrow may take beyond their size in the file. Default: 96 MiB.
    #[must_use]
    pub fn max_expansion(mut self, bytes: u64) -> Self {
        self.max_expansion = Some(bytes);
        self
    }

    /// See [`Self::max_expansion`].
    pub(crate) fn expansion(&self) -> u64 {
        self.reading().expansion()
    }

    /// The workers that read, group, join and sort files for statements of this session: Parquet, Arrow, Riegeli, ArrayRecord, TFRecord,
    /// Native and JSON lines, in files or objects that they find at the same places. Statements over other tables, and statements that
    /// return a table's rows in its order, run here. Default: none.
    #[cfg(feature = "workers")]
    #[must_use]
    pub fn workers(mut self, workers: crate::Workers) -> Self {
        self.workers = Some(workers);
        self
    }

    #[cfg(feature = "workers")]
    pub(crate) fn get_workers(&self) -> Option<&crate::Workers> {
        self.workers.as_ref()
    }

    /// Whether these options can be sent to a worker.
    #[cfg(feature = "workers")]
    pub(crate) fn can_travel(&self) -> bool {
        !self.recover && self.descriptors.is_none() && self.field_projection.is_none() && self.positions.is_none()
    }

    #[cfg(feature = "workers")]
    pub(crate) fn message_name(&self) -> Option<&str> {
        self.message.as_deref()
    }

    #[cfg(feature = "workers")]
    pub(crate) fn expansion_limit(&self) -> Option<u64> {
        self.max_expansion
    }

    /// Whether JSON lines may have any length.
    pub(crate) fn reads_long_lines(&self) -> bool {
        self.max_expansion.is_some()
    }

    /// The options of readers of records.
    pub(crate) fn reading(&self) -> ReaderOptions {
        let reading = ReaderOptions::default().recover(self.recover);
        match self.max_expansion {
            Some(bytes) => reading.max_expansion(bytes).max_chunk_size(u64::MAX),
            None => reading,
        }
    }

    /// Whether `-` is standard input, which is stored in a temporary file as long as these options live. Default: no, standard input
    /// belongs to the program.
    #[must_use]
    pub fn standard_input(mut self) -> Self {
        self.standard_input = Some(Arc::default());
        self
    }

    /// The place from which a table can be read more than once: standard input as a temporary file, others unchanged.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] for standard input, unless it may be read; errors of reading it.
    pub(crate) async fn spooled<'a>(&'a self, location: &'a Location) -> Result<&'a Location> {
        match (&location.place, &self.standard_input) {
            (Place::StandardInput, Some(input)) => input.location().await,
            (Place::StandardInput, None) => Err(Error::Unsupported {
                what: "a statement over standard input".to_owned(),
                hint: "copy it to a file, which can be asked".to_owned(),
            }),
            _ => Ok(location),
        }
    }

    /// How `INSERT INTO` creates a missing table of a server. Default: it does not.
    #[must_use]
    pub fn making(mut self, table: TableOptions) -> Self {
        self.making = table;
        self
    }

    /// The number of threads of a statement. Default: the number of processors.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads.max(1));
        self
    }

    /// The most bytes of memory for DataFusion's sorts, groups and joins, in total: beyond them they spill to temporary files, and fail if
    /// they cannot. Joins are then sort-merge joins, except those of one thread, which keep one side in memory. Default: no limit. The
    /// lanes of ADS SQL are not included.
    #[must_use]
    pub fn memory(mut self, bytes: usize) -> Self {
        self.memory = Some(bytes);
        self
    }

    /// The message descriptors of Riegeli files, which override those in the files: as `protoc --descriptor_set_out` writes them, with
    /// `--include_imports`. Default: those in the files.
    #[must_use]
    pub fn descriptors(mut self, descriptors: FileDescriptorSet) -> Self {
        self.descriptors = Some(Arc::new(descriptors));
        self
    }

    /// The full name of the records' message type among the descriptors that were set. Without descriptors, `tensorflow.Example` and
    /// `tensorflow.SequenceExample` are known, whose features become columns; `none` leaves messages as bytes in one column `record`.
    /// Default: the type in the file, or the only type of the descriptors. Otherwise, if the first thousand records are all examples, their
    /// features are columns; else records are bytes.
    #[must_use]
    pub fn message(mut self, message: impl Into<String>) -> Self {
        self.message = Some(message.into());
        self
    }

    /// The fields of messages in Riegeli files that become columns, by number; of transposed chunks, nothing else is decompressed. Typed
    /// rows are read as messages too. Default: all.
    #[must_use]
    pub fn field_projection(mut self, projection: FieldProjection) -> Self {
        self.field_projection = Some(projection);
        self
    }

    /// The message type that was set.
    pub(crate) fn message_option(&self) -> MessageOption {
        match self.message.as_deref() {
            None => MessageOption::Found,
            Some("none") => MessageOption::None,
            Some(name) => match ExampleKind::from_message_name(name).filter(|_| self.descriptors.is_none()) {
                Some(kind) => MessageOption::Example(kind),
                None => MessageOption::Named,
            },
        }
    }

    /// Whether descriptors were set.
    pub(crate) fn has_descriptors(&self) -> bool {
        self.descriptors.is_some()
    }

    /// Whether a record type was set.
    pub(crate) fn says_record_type(&self) -> bool {
        self.descriptors.is_some() || matches!(self.message_option(), MessageOption::Example(_) | MessageOption::Named)
    }

    /// A record file's serialized metadata, with the type that was set.
    ///
    /// # Errors
    ///
    /// As [`SessionOptions::record_type`]; [`Error::Unsupported`] for metadata that cannot be read.
    pub(crate) fn with_record_type(&self, metadata: Vec<u8>) -> Result<Vec<u8>> {
        if !self.says_record_type() {
            return Ok(metadata);
        }
        let mut known = RecordsMetadata::decode(metadata.as_slice()).map_err(|error| Error::Unsupported {
            what: format!("a record type in metadata that are none ({error})"),
            hint: "leave out --descriptor and --message".to_owned(),
        })?;
        let record_type = match self.message_option() {
            MessageOption::Example(kind) => Some(kind.record_type()),
            _ => self.record_type(known.record_type_name.as_deref())?,
        };
        if let Some(record_type) = record_type {
            known.set_record_type(record_type);
        }
        Ok(known.encode_to_vec())
    }

    /// The record type in the descriptors that were set, for a file whose metadata names the type `named`.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] for a type without descriptors, or descriptors of more than one type of which none was chosen.
    pub(crate) fn record_type(&self, named: Option<&str>) -> Result<Option<RecordType>> {
        let Some(descriptors) = &self.descriptors else {
            return match (self.message_option(), &self.message) {
                (MessageOption::Named, Some(name)) => Err(Error::Unsupported {
                    what: format!("--message {name} without the descriptors of this type"),
                    hint: "--descriptor names a file of them; tensorflow.Example, tensorflow.SequenceExample and none need none"
                        .to_owned(),
                }),
                _ => Ok(None),
            };
        };
        if self.message_option() == MessageOption::None {
            return Ok(None);
        }
        let record_type = |name: &str| RecordType {
            name: name.to_owned(),
            descriptors: FileDescriptorSet::clone(descriptors),
        };
        if let Some(name) = &self.message {
            return Ok(Some(record_type(name)));
        }
        if let Some(found) = named.map(record_type).filter(|found| found.message().is_some()) {
            return Ok(Some(found));
        }
        let mut names = Vec::new();
        for file in &descriptors.file {
            for message in &file.message_type {
                names.push(match file.package() {
                    "" => message.name().to_owned(),
                    package => format!("{package}.{}", message.name()),
                });
            }
        }
        match names.as_slice() {
            [only] => Ok(Some(record_type(only))),
            _ => Err(Error::Unsupported {
                what: "a descriptor file without a message type to choose".to_owned(),
                hint: format!("--message names one of {}", names.join(", ")),
            }),
        }
    }

    /// The options for statements: a blank is NULL, unless set otherwise.
    pub(crate) fn of_statements(&self) -> Self {
        let blank = self.blanks();
        Self {
            xbase: self.xbase.clone().blank(blank),
            blank: Some(blank),
            ..self.clone()
        }
    }

    /// The options for copies: a blank is NULL, unless set otherwise.
    pub(crate) fn of_copies(&self) -> Self {
        Self {
            blank: Some(self.blanks()),
            planner_only: self.blanks() == Blank::Null,
            ..self.clone()
        }
    }

    /// Makes deleted records of xBase tables rows too, marked by a column `_deleted`. Default: they are not rows.
    #[must_use]
    pub fn marking_deleted(self) -> Self {
        self.deleted(Deleted::Include).with_marks()
    }

    /// Marks deleted records by a column, if they are rows.
    pub(crate) fn with_marks(mut self) -> Self {
        self.marks = self.deleted == Deleted::Include;
        self
    }

    /// Limits scans to these positions.
    pub(crate) fn within(mut self, positions: Range<u64>) -> Self {
        self.positions = Some(positions);
        self
    }

    /// The options to read the result of a copy, which has deleted records if it `has_marks`.
    pub(crate) fn of_result(&self, has_marks: bool) -> Self {
        // Records are compared as bytes, however large: they were read once already.
        let result = Self::default().message("none").max_expansion(u64::MAX);
        let result = match self.blank {
            Some(blank) => result.blank(blank),
            None => result,
        };
        match has_marks {
            true => result.deleted(Deleted::Include).with_marks(),
            false => result,
        }
    }

    /// Whether a column marks deleted records.
    pub(crate) fn marks_deleted(&self) -> bool {
        self.marks
    }

    /// Whether the lanes of ADS SQL can read xBase tables with these options.
    pub(crate) fn suits_ads(&self) -> bool {
        !self.planner_only && !self.recover && !self.marks && self.deleted != Deleted::Only
    }

    /// The lanes of ADS SQL pass sorts and groups of more records of an xBase table than this to the planner; `None`: never. The planner is
    /// faster for a single query, the lanes for repeated ones. Default: 8 million, whose columns a session can cache.
    #[must_use]
    pub fn most_sorted(mut self, records: Option<usize>) -> Self {
        self.most_sorted = MostSorted(records);
        self
    }

    /// See [`Self::most_sorted`].
    pub(crate) fn most_sorted_by_ads(&self) -> Option<usize> {
        self.most_sorted.0
    }

    /// Whether the session records what scans have read, for [`Session::scan_counts`](crate::Session::scan_counts). Default: no.
    #[must_use]
    pub fn counts_scans(mut self, counts: bool) -> Self {
        self.counts_scans = counts;
        self
    }

    /// See [`Self::counts_scans`].
    pub(crate) fn are_scans_counted(&self) -> bool {
        self.counts_scans
    }

    /// Whether answers have the types of ADS SQL, whichever engine returns them.
    pub(crate) fn has_types_of_ads(&self) -> bool {
        !self.planner_only
    }

    /// The value of blank numbers, logicals, dates and timestamps of xBase tables.
    pub(crate) fn blanks(&self) -> Blank {
        self.blank.unwrap_or_default()
    }

    /// Whether blanks of xBase tables are values.
    pub(crate) fn has_blanks(&self) -> bool {
        self.blank == Some(Blank::Zero)
    }

    pub(crate) fn makes_standard_tables(&self) -> bool {
        self.standard_tables
    }

    pub(crate) fn codepage_set(&self) -> Option<CodePage> {
        self.codepage
    }

    pub(crate) fn xbase_options(&self) -> &tidemill_xbase::OpenOptions {
        &self.xbase
    }

    /// Whether records marked as deleted are rows.
    pub(crate) fn shows_deleted(&self) -> bool {
        self.deleted != Deleted::Skip
    }

    pub(crate) fn deleted_records(&self) -> Deleted {
        self.deleted
    }

    pub(crate) fn recovers(&self) -> bool {
        self.recover
    }
}
