//! Blocks: tables of a few thousand rows, which is what queries answer and inserts send.
//!
//! A block is the number of its columns and rows, then for each column its name, its type as text, and its values
//! (`column`). On a connection there is information about the block in front, and each column says whether it is written in
//! another way than its type's own. In a file of `FORMAT Native` there is neither (`native`).
//!
//! [`BlockDecoder`] and [`BlockEncoder`] go between these bytes and a [`Block`]: a record batch and the types that its
//! columns have in ClickHouse.
//!
//! Source: `Formats/NativeReader.cpp`, `Formats/NativeWriter.cpp` and `Core/BlockInfo.cpp` of ClickHouse.
//!
//! Packets, compression and files are not known here.

mod known_columns;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};

use self::known_columns::KnownColumn;
pub(crate) use self::known_columns::KnownColumns;
use crate::{
    Calendar, DataType, Error, Limits, Result, Revision,
    arrow_type::{self, StringType},
    column::{ARROW_TYPE, Choice, Form, Input, Kinds, Output, as_type, kind_read, read_prefix, read_received, run},
    source::{BlockSource, BlockingSource},
};

/// A table of rows, with the types of ClickHouse.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// The columns.
    pub batch: RecordBatch,
    /// The type of each column.
    pub types: Vec<DataType>,
    /// What the server tells about the block.
    pub info: BlockInfo,
}

/// What a server tells about a block to another server.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct BlockInfo {
    /// Whether the rows are those beyond `max_rows_to_group_by`.
    pub is_overflows: bool,
    /// The bucket of a two-level aggregation, -1 for none.
    pub bucket_number: i32,
    /// Buckets that come later than their number says.
    pub out_of_order_buckets: Vec<i32>,
}

impl Default for BlockInfo {
    fn default() -> Self {
        Self {
            is_overflows: false,
            bucket_number: -1,
            out_of_order_buckets: Vec::new(),
        }
    }
}

impl Block {
    /// Makes a block of a batch, with the types that [`arrow_type::data_type`] finds for its columns.
    ///
    /// # Errors
    ///
    /// Those of [`arrow_type::data_type`].
    pub fn new(batch: RecordBatch) -> Result<Self> {
        let types = batch
            .schema_ref()
            .fields()
            .iter()
            .map(|field| arrow_type::data_type(field));
        let types = types.collect::<Result<_>>()?;
        Ok(Self {
            batch,
            types,
            info: BlockInfo::default(),
        })
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.batch.num_rows()
    }
}

/// Decodes blocks.
///
/// ```
/// use tidemill_clickhouse::{BlockDecoder, Revision, source::SliceSource};
///
/// // One column `n` of type `UInt8` with the rows 7 and 8.
/// let bytes = b"\x01\x02\x01n\x05UInt8\x07\x08";
/// let block = BlockDecoder::default().decode_blocking(&mut SliceSource::new(bytes), Revision::FILE)?;
/// assert_eq!(block.rows(), 2);
/// assert_eq!(block.types[0].to_string(), "UInt8");
/// # Ok::<(), tidemill_clickhouse::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct BlockDecoder {
    /// What strings become. Default: [`StringType::Utf8`].
    pub strings: StringType,
    /// Bounds on what a block may ask for.
    pub limits: Limits,
}

impl BlockDecoder {
    /// Reads a block that was written for `revision`.
    ///
    /// The future waits whenever the source does. When it is dropped or fails the source is somewhere in the block, and of no
    /// more use.
    ///
    /// # Errors
    ///
    /// [`Error::Truncated`] when the data end, [`Error::Block`] when they do not hold together, [`Error::Type`] for an
    /// unknown type, [`Error::Unsupported`] for a sound column that Arrow has no place for, [`Error::Limit`] beyond the
    /// limits, and those of the source.
    pub async fn decode(&self, source: &mut dyn BlockSource, revision: Revision) -> Result<Block> {
        self.decode_with(source, revision, &mut KnownColumns::default()).await
    }

    /// [`BlockDecoder::decode`] of one block of many, all by the same `known`.
    pub(crate) async fn decode_with(
        &self,
        source: &mut dyn BlockSource,
        revision: Revision,
        known: &mut KnownColumns,
    ) -> Result<Block> {
        let mut input = Input::new(source, revision, self.strings.decoded(), self.limits);
        decode(&mut input, known, self.strings).await
    }

    /// Reads a block, or `None` when the source has no more bytes.
    ///
    /// # Errors
    ///
    /// Those of [`BlockDecoder::decode`].
    pub async fn decode_next(&self, source: &mut dyn BlockSource, revision: Revision) -> Result<Option<Block>> {
        self.decode_next_with(source, revision, &mut KnownColumns::default())
            .await
    }

    /// [`BlockDecoder::decode_next`] of one block of many, all by the same `known`.
    pub(crate) async fn decode_next_with(
        &self,
        source: &mut dyn BlockSource,
        revision: Revision,
        known: &mut KnownColumns,
    ) -> Result<Option<Block>> {
        let mut input = Input::new(source, revision, self.strings.decoded(), self.limits);
        if input.at_end().await? {
            return Ok(None);
        }
        decode(&mut input, known, self.strings).await.map(Some)
    }

    /// [`BlockDecoder::decode`] for a source that never waits.
    ///
    /// # Errors
    ///
    /// Those of [`BlockDecoder::decode`].
    pub fn decode_blocking(&self, source: &mut impl BlockingSource, revision: Revision) -> Result<Block> {
        run(self.decode(source, revision))
    }

    /// [`BlockDecoder::decode_next`] for a source that never waits.
    ///
    /// # Errors
    ///
    /// Those of [`BlockDecoder::decode`].
    pub fn decode_next_blocking(&self, source: &mut impl BlockingSource, revision: Revision) -> Result<Option<Block>> {
        run(self.decode_next(source, revision))
    }
}

async fn decode(input: &mut Input<'_>, known: &mut KnownColumns, strings: StringType) -> Result<Block> {
    let info = if input.revision == Revision::FILE {
        BlockInfo::default()
    } else {
        decode_info(input).await?
    };
    let limits = *input.limits();
    let columns = input.count("the number of columns", limits.columns).await?;
    let rows = input.count("the number of rows", limits.rows).await?;
    known.begin(strings);
    input.session_zone = known.session_zone();
    let likely = columns.min(known.len());
    let (mut types, mut arrays) = (Vec::with_capacity(likely), Vec::with_capacity(likely));
    for at in 0..columns {
        let column = known.read(input, at).await?;
        let array = match decode_values(input, column, rows).await {
            Ok(array) if strings == StringType::ByContent && rows > 0 => column.by_content(input, array),
            other => other,
        };
        let array = match array {
            Ok(array) => array,
            Err(error) => return Err(error.in_column(&column.name)),
        };
        types.push(column.data_type.clone());
        arrays.push(array);
    }
    let schema = known.schema(&arrays);
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    let batch = RecordBatch::try_new_with_options(schema, arrays, &options)?;
    Ok(Block { batch, types, info })
}

async fn decode_values(input: &mut Input<'_>, column: &mut KnownColumn, rows: usize) -> Result<ArrayRef> {
    let data_type = &column.data_type;
    let kinds = if input.revision >= Revision::CUSTOM_SERIALIZATION {
        match input.u8("whether a column is written in its own way").await? {
            0 => Kinds::DEFAULT,
            1 => Kinds::read(input, data_type).await?,
            other => {
                return Err(input.error(
                    "whether a column is written in its own way",
                    "0 or 1",
                    other.to_string(),
                ));
            }
        }
    } else {
        Kinds::DEFAULT
    };
    if rows == 0 {
        return Ok(column.empty(input));
    }
    if kinds.is_default()
        && let Some(array) = read_received(input, data_type, rows)
    {
        return array;
    }
    let prefix = read_prefix(input, data_type).await?;
    kind_read(input, data_type, &prefix, &kinds, rows).await
}

/// Reads numbered fields up to the number 0.
async fn decode_info(input: &mut Input<'_>) -> Result<BlockInfo> {
    const WHAT: &str = "information about a block";
    let mut info = BlockInfo::default();
    // Each field at most once, but no more than a few in any case.
    for _ in 0..MAX_INFO_FIELDS {
        match input.varint(WHAT).await? {
            0 => return Ok(info),
            1 => info.is_overflows = input.u8(WHAT).await? != 0,
            2 => info.bucket_number = i32::from_le_bytes(input.array(WHAT).await?),
            3 => {
                let count = input.count(WHAT, MAX_BUCKETS).await?;
                info.out_of_order_buckets.clear();
                for _ in 0..count {
                    info.out_of_order_buckets
                        .push(i32::from_le_bytes(input.array(WHAT).await?));
                }
            }
            other => return Err(input.error(WHAT, "field 1, 2 or 3, or the end", other.to_string())),
        }
    }
    Err(input.error(WHAT, "its end", "more fields"))
}

/// Encodes blocks.
///
/// A connection of today lets the writer choose how a column is written. What is chosen here is done for readers that know
/// it; for others, and in files, columns are written as their types are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlockEncoder {
    /// From which share of default values on, between 0 and 1, a column is written sparse: only its other values, and where
    /// they are. Defaults are 0, empty strings and the like, and `NULL` in columns that may have it. It takes less to send,
    /// and more to write. Default: `None`, never.
    pub sparse_from: Option<f64>,
    /// Whether a dictionary array in a column of another type than `LowCardinality` or `Enum` is written as such
    /// (`Replicated`), each value once. Otherwise its values are written out. Default: `false`.
    pub replicated: bool,
    /// Which dates and instants the reader shows as they are; others are refused. Default: [`Calendar::ANY`], none is.
    /// [`NativeWriter`](crate::NativeWriter) and the [client](crate::client) choose their reader's.
    pub calendar: Calendar,
}

impl Default for BlockEncoder {
    fn default() -> Self {
        Self {
            sparse_from: None,
            replicated: false,
            calendar: Calendar::ANY,
        }
    }
}

impl BlockEncoder {
    /// Writes `block` after what is in `bytes`, for `revision`.
    ///
    /// Types that the revision does not know are written as older ones: `LowCardinality` as its inner type before 54405,
    /// `DateTime` without its time zone before 54337, as ClickHouse itself does.
    ///
    /// # Errors
    ///
    /// [`Error::Block`] for a column whose array does not fit its type: another Arrow type that is not cast to it without loss, `NULL`
    /// where the type has none, a value out of its range. `bytes` then has a part of the block.
    pub fn encode(&self, block: &Block, revision: Revision, bytes: &mut Vec<u8>) -> Result<()> {
        let columns = block
            .batch
            .schema_ref()
            .fields()
            .iter()
            .zip(&block.types)
            .zip(block.batch.columns());
        let columns = columns.map(|((field, data_type), array)| (field.name().as_str(), data_type, array));
        self.encode_columns(&block.info, columns, block.rows(), revision, bytes)
    }

    /// Writes the columns of `batch` as `types`, one for each.
    ///
    /// # Errors
    ///
    /// [`Error::Option`] when there are more or fewer types than columns, and those of [`BlockEncoder::encode`].
    pub fn encode_batch(
        &self,
        batch: &RecordBatch,
        types: &[DataType],
        revision: Revision,
        bytes: &mut Vec<u8>,
    ) -> Result<()> {
        if types.len() != batch.num_columns() {
            return Err(Error::Option {
                option: "types".to_owned(),
                expected: format!(
                    "{} types, one for each column, found {}",
                    batch.num_columns(),
                    types.len()
                ),
            });
        }
        let columns = batch.schema_ref().fields().iter().zip(types).zip(batch.columns());
        let columns = columns.map(|((field, data_type), array)| (field.name().as_str(), data_type, array));
        self.encode_columns(&BlockInfo::default(), columns, batch.num_rows(), revision, bytes)
    }

    fn encode_columns<'a>(
        &self,
        info: &BlockInfo,
        columns: impl ExactSizeIterator<Item = (&'a str, &'a DataType, &'a ArrayRef)>,
        rows: usize,
        revision: Revision,
        bytes: &mut Vec<u8>,
    ) -> Result<()> {
        let mut output = Output::new(bytes, revision, self.calendar);
        if revision != Revision::FILE {
            encode_info(&mut output, info);
        }
        output.varint(columns.len() as u64);
        output.varint(rows as u64);
        for (name, data_type, array) in columns {
            output.string(name);
            self.encode_column(&mut output, data_type, array)
                .map_err(|error| error.in_column(name))?;
        }
        Ok(())
    }

    /// Writes a column. One in another Arrow type than that of `data_type` is cast first, if every value comes back by the cast to its
    /// own type: so a file that knows fewer types than Arrow loses none of ClickHouse's.
    fn encode_column(&self, output: &mut Output<'_>, data_type: &DataType, array: &ArrayRef) -> Result<()> {
        let begin = output.bytes.len();
        let encoded = self.encode_as_it_is(output, data_type, array);
        match encoded {
            Err(Error::Block(error)) if error.what == ARROW_TYPE => {
                output.bytes.truncate(begin);
                match as_type(data_type, array) {
                    Some(fitting) => self.encode_as_it_is(output, data_type, &fitting),
                    None => Err(Error::Block(error)),
                }
            }
            other => other,
        }
    }

    fn encode_as_it_is(&self, output: &mut Output<'_>, data_type: &DataType, array: &ArrayRef) -> Result<()> {
        let revision = output.revision;
        if revision != Revision::FILE && revision < Revision::LOW_CARDINALITY {
            let older = data_type.without_low_cardinality();
            if older != *data_type {
                return self.encode_as_it_is(output, &older, &crate::column::without_dictionaries(array)?);
            }
        }
        match data_type {
            DataType::DateTime(Some(_)) if revision < Revision::DATE_TIME_ZONE => output.string("DateTime"),
            _ => output.string(data_type.to_string()),
        }
        let choice = Choice {
            sparse_from: self.sparse_from,
            replicated: self.replicated,
            revision,
        };
        let form = Form::of(&choice, data_type, array)?;
        if revision >= Revision::CUSTOM_SERIALIZATION {
            output.bytes.push(u8::from(form.is_custom()));
            if form.is_custom() {
                form.write_kinds(output, data_type);
            }
        }
        if array.is_empty() {
            return Ok(());
        }
        form.write_prefix(output, data_type)?;
        form.write_values(output, data_type)
    }
}

fn encode_info(output: &mut Output<'_>, info: &BlockInfo) {
    output.bytes.extend([1, u8::from(info.is_overflows), 2]);
    output.bytes.extend(info.bucket_number.to_le_bytes());
    if output.revision >= Revision::OUT_OF_ORDER_BUCKETS {
        output.bytes.push(3);
        output.varint(info.out_of_order_buckets.len() as u64);
        output
            .bytes
            .extend(info.out_of_order_buckets.iter().flat_map(|bucket| bucket.to_le_bytes()));
    }
    output.bytes.push(0);
}

const MAX_NAME: u64 = 1 << 20;
const MAX_TYPE: u64 = 1 << 24;
const MAX_INFO_FIELDS: usize = 16;
const MAX_BUCKETS: u64 = 1 << 16;
