//! Decoding of transposed chunks, one after another into the same buffers.
//!
//! The sections are decompressed, the state machine is compiled, and one run writes all records of the chunk back to front
//! into one buffer, from which they are borrowed. When one record is wanted the run rests once it has come to it. Where no record is
//! a message, they are borrowed from their bucket. With a projection the run pauses at each state that it comes to for the first
//! time, and the bucket that the state needs is decompressed then.

pub(crate) mod field_sizes;
mod in_place;
mod resting;

use std::ops::{ControlFlow, Range};

use self::resting::Resting;
use super::{
    buckets::{Buckets, decompressed_size},
    field_sink::{FieldSink, Records},
    header::{HeaderReader, ImplicitChains, Kind, State, read_states},
    included_fields::IncludedFields,
    jump::{self, Jump},
    node::{Inclusion, Node},
    run::{Input, Pause, Run, SLACK},
};
use crate::{
    codec::{CompressionType, Decompressor, Scratch, Size, with_reserve},
    error::Damage,
    record_values::{Order, RecordSlices, RecordValues},
    varint::read_varint64,
};

/// Decodes chunk `data` that hold one record of `size` bytes. No part may grow beyond `limit` bytes.
pub(crate) fn decode_record(data: &[u8], size: u64, limit: usize) -> Result<Vec<u8>, Damage> {
    let mut decoder = TransposedDecoder::default();
    decoder.decode(data, 1, size, None, limit, u64::MAX)?;
    Ok(decoder.records(data).get(0).to_vec())
}

/// What is wanted of a chunk.
#[derive(Clone, Copy)]
enum Wanted<'a> {
    /// The records.
    All,
    /// The records with these fields only.
    Included(&'a IncludedFields),
    /// What the sink chooses.
    Chosen,
}

/// Decodes transposed chunks.
#[derive(Default)]
pub(crate) struct TransposedDecoder {
    decompressor: Decompressor,
    header: Scratch,
    buckets: Buckets,
    transitions: Scratch,
    states: Vec<State>,
    chains: ImplicitChains,
    nodes: Vec<Node>,
    jumps: Vec<Jump>,
    run: Run,
    /// Where the run writes, from the end to [`SLACK`] bytes before the records.
    out: Vec<u8>,
    written: Range<usize>,
    /// Where each record ends in what is written.
    limits: Vec<usize>,
    /// The records of the chunk, when they needed no run.
    values: RecordValues,
    /// Which of both it is.
    in_place: bool,
    /// The run rests before records that are not wanted yet.
    resting: Option<Resting>,
}

/// What came of a chunk.
enum Outcome {
    /// The run came to its end. The output ends here.
    Written(usize),
    /// The records are there as far as they are wanted.
    Done,
    /// The sink wanted no more.
    Stopped,
}

impl TransposedDecoder {
    /// Returns the records of the chunk that was decoded from `data`.
    #[inline]
    pub(crate) fn records<'a>(&'a self, data: &'a [u8]) -> RecordSlices<'a> {
        match self.in_place {
            true => self.values.records(data),
            false => RecordSlices::new(self.out.get(self.written.clone()).unwrap_or_default(), &self.limits),
        }
    }

    /// Returns the records that are available: all of them, unless only the last ones were wanted.
    pub(crate) fn available(&self) -> Range<u64> {
        match self.in_place {
            true => self.values.available(),
            false => {
                let count = self.limits.len();
                count.saturating_sub(self.run.num_records_so_far()) as u64..count as u64
            }
        }
    }

    /// Makes the records from that of number `index` on available. `data` are those that the chunk was decoded from.
    pub(crate) fn extend(&mut self, data: &[u8], index: u64) -> Result<(), Damage> {
        if self.available().contains(&index) {
            return Ok(());
        }
        match self.resting.take() {
            Some(resting) => self.go_on(resting, data, index),
            None => self.values.extend(&mut self.decompressor, data, index),
        }
    }

    /// Decodes `data` of a chunk whose header says `num_records` and `decoded_data_size`, keeping only the `included` fields
    /// if they are given. No section may grow beyond `limit` bytes. After an error there are no records. Those before the record of
    /// number `wanted` may be left to [`Self::extend`].
    pub(crate) fn decode(
        &mut self,
        data: &[u8],
        num_records: u64,
        decoded_data_size: u64,
        included: Option<&IncludedFields>,
        limit: usize,
        wanted_record: u64,
    ) -> Result<(), Damage> {
        let wanted = match included {
            None => Wanted::All,
            Some(included) => Wanted::Included(included),
        };
        let outcome = self.run_over(
            data,
            (num_records, wanted_record),
            decoded_data_size,
            wanted,
            &mut Records,
            limit,
        )?;
        let Outcome::Written(room) = outcome else {
            // Nothing stops a sink of records.
            return Ok(());
        };
        self.written = self.run.finish(&mut self.limits)?..room;
        Ok(())
    }

    /// Hands the values of a chunk to `sink`. There are no records then. Breaks off when the sink does.
    pub(crate) fn decode_fields(
        &mut self,
        data: &[u8],
        num_records: u64,
        decoded_data_size: u64,
        sink: &mut impl FieldSink,
        limit: usize,
    ) -> Result<ControlFlow<()>, Damage> {
        if let Outcome::Stopped =
            self.run_over(data, (num_records, 0), decoded_data_size, Wanted::Chosen, sink, limit)?
        {
            return Ok(ControlFlow::Break(()));
        }
        self.run.finish_fields()?;
        Ok(ControlFlow::Continue(()))
    }

    /// Runs over a chunk, or finds that this is not needed.
    fn run_over<S: FieldSink>(
        &mut self,
        data: &[u8],
        (num_records, wanted_record): (u64, u64),
        decoded_data_size: u64,
        wanted: Wanted<'_>,
        sink: &mut S,
        limit: usize,
    ) -> Result<Outcome, Damage> {
        self.limits.clear();
        self.written = 0..0;
        self.values.clear();
        self.in_place = false;
        self.resting = None;
        let size = usize::try_from(decoded_data_size)
            .ok()
            .filter(|&size| size <= limit)
            .ok_or(Damage::TooLarge {
                what: "the decoded data",
                limit: limit as u64,
                found: decoded_data_size,
            })?;
        let num_records = usize::try_from(num_records).map_err(|_| Damage::Invalid {
            what: "number of records",
        })?;
        let (compression, first, transitions) = self.read(data, limit)?;
        let transitions = match compression {
            CompressionType::None => transitions,
            _ => {
                let size = Size::Exactly(decompressed_size(compression, transitions, limit)?);
                self.decompressor
                    .decompress(compression, transitions, size, &mut self.transitions)?;
                self.transitions.as_slice()
            }
        };
        if !matches!(wanted, Wanted::Chosen)
            && let [state] = self.states[..]
            && let Some(visits) = in_place::visits(state, transitions)
            && visits == num_records
            && let Some((lengths, values)) = self.buckets.non_proto(state.buffer as usize)
        {
            self.buckets.load(lengths, data, &mut self.decompressor)?;
            let lengths = self
                .buckets
                .bytes(data)
                .get(self.buckets.buffer(lengths))
                .unwrap_or_default();
            let limits = self.values.start(Order::LastToFirst);
            if in_place::read_limits(lengths, num_records, limits) == Some(size) && size == values.1 {
                self.in_place = true;
                return self
                    .values
                    .decode(&mut self.decompressor, compression, data, values.0, wanted_record)
                    .map(|()| Outcome::Done);
            }
            self.values.clear();
        }
        // A transition byte is good for four steps, each with the implicit ones after it.
        let longest_chain = self.chains.longest(&self.states)?;
        let steps = (transitions.len().saturating_add(1))
            .saturating_mul(4)
            .saturating_mul(longest_chain);
        let no_buffer = u32::try_from(self.buckets.no_buffer()).unwrap_or(u32::MAX);
        self.nodes.clear();
        self.jumps.clear();
        match wanted {
            Wanted::All => {
                let nodes = self.states.iter().map(|state| Node::whole(state, no_buffer));
                self.nodes.extend(nodes);
                self.buckets.load_all(data, &mut self.decompressor)?;
                if size > most_output(&self.buckets, steps) {
                    return Err(Damage::Invalid {
                        what: "decoded data size: there cannot be as many",
                    });
                }
            }
            Wanted::Included(_) | Wanted::Chosen => {
                let nodes = self.states.iter().map(|state| Node::undecided(state, no_buffer));
                self.nodes.extend(nodes);
                for state in self.states.iter().filter(|state| state.kind == Kind::NonProto) {
                    // The lengths of the records are in the last buffer.
                    let lengths = self.buckets.num_buffers().saturating_sub(1);
                    self.buckets.load(lengths, data, &mut self.decompressor)?;
                    self.buckets.load(state.buffer as usize, data, &mut self.decompressor)?;
                }
            }
        }
        // Every record and every step that a projection leaves out stands for a byte of a sound chunk, or for a state that
        // only leads to others.
        let idle = size
            .saturating_add(transitions.len())
            .saturating_add(self.states.len())
            .saturating_mul(16);
        let mut room = most_output(&self.buckets, steps).min(size).saturating_add(SLACK);
        if self.out.len() < room {
            self.out = vec![0; with_reserve(room)];
        }
        self.run.start(first, num_records, room, idle);
        if let Wanted::All = wanted {
            let transitions =
                (compression == CompressionType::None).then(|| (data.len() - transitions.len(), data.len()));
            let resting = Resting { transitions, room };
            // A list of the records is made before it is known that there are as many.
            let wanted_record = if num_records <= room { wanted_record } else { u64::MAX };
            return self.go_on(resting, data, wanted_record).map(|()| Outcome::Done);
        }
        // Jumps are worth while once most nodes are decided on, and there is more to read than that took.
        let settling = self.states.len().saturating_mul(4);
        let mut until = settling;
        loop {
            let (bytes, cursors) = self.buckets.bytes_and_cursors(data);
            let input = Input {
                nodes: &self.nodes,
                jumps: &self.jumps,
                transitions: transitions.get(..until).unwrap_or(transitions),
                bytes,
                cursors,
            };
            let out = self.out.get_mut(..room).unwrap_or_default();
            match self.run.proceed(input, out, sink)? {
                Pause::Select => {
                    let node = decide(&self.states, &mut self.nodes, &self.run, wanted, sink, no_buffer)?;
                    until = until.min(self.run.transition.saturating_add(settling));
                    if node.reads() {
                        self.buckets.load(node.buffer as usize, data, &mut self.decompressor)?;
                        let wanted = most_output(&self.buckets, steps).min(size).saturating_add(SLACK);
                        if wanted > room {
                            // Twice as much each time, so that what was written is not moved for every bucket.
                            let wanted = wanted.max(room.saturating_mul(2)).min(size.saturating_add(SLACK));
                            if self.out.len() < wanted {
                                self.out.resize(wanted, 0);
                            }
                            let begin = self.run.begin();
                            self.out.copy_within(begin..room, begin + (wanted - room));
                            self.run.shift(wanted - room);
                            room = wanted;
                        }
                    }
                }
                Pause::Stopped => return Ok(Outcome::Stopped),
                Pause::End if self.run.transition == transitions.len() => return Ok(Outcome::Written(room)),
                Pause::End => {
                    jump::compile(&self.nodes, &mut self.jumps);
                    until = transitions.len();
                }
            }
        }
    }

    /// Reads the header: fills the buckets and the states. Returns the compression type, the first state and the
    /// transitions as they are stored.
    fn read<'a>(&mut self, data: &'a [u8], limit: usize) -> Result<(CompressionType, u32, &'a [u8]), Damage> {
        let (&compression, rest) = data.split_first().ok_or(Damage::Invalid {
            what: "compression type",
        })?;
        let compression = CompressionType::from_byte(compression)?;
        let what = "header of a transposed chunk";
        let (size, rest) = read_varint64(rest).ok_or(Damage::Invalid { what })?;
        let (header, rest) = usize::try_from(size)
            .ok()
            .and_then(|size| rest.split_at_checked(size))
            .ok_or(Damage::Invalid { what })?;
        let header = match compression {
            CompressionType::None => header,
            _ => {
                let size = Size::Exactly(decompressed_size(compression, header, limit)?);
                self.decompressor
                    .decompress(compression, header, size, &mut self.header)?;
                self.header.as_slice()
            }
        };
        let mut header = HeaderReader::new(header);
        let end = self
            .buckets
            .read(compression, &mut header, data, data.len() - rest.len(), limit)?;
        let first = read_states(&mut header, self.buckets.num_buffers(), &mut self.states)?;
        if !header.is_empty() {
            return Err(Damage::Invalid {
                what: "header of a transposed chunk: bytes are left over",
            });
        }
        Ok((compression, first, data.get(end..).unwrap_or_default()))
    }
}

/// Decides on the node that the run has come to.
fn decide(
    states: &[State],
    nodes: &mut [Node],
    run: &Run,
    wanted: Wanted<'_>,
    sink: &impl FieldSink,
    no_buffer: u32,
) -> Result<Node, Damage> {
    let (Some(state), Some(node)) = (states.get(run.at), nodes.get_mut(run.at)) else {
        return Err(Damage::Invalid { what: "state" });
    };
    let skipped = run.skipped > 0;
    *node = match wanted {
        Wanted::All => Node::whole(state, no_buffer),
        Wanted::Included(included) => {
            let open = run.open_nodes().filter_map(|node| states.get(node));
            let inclusion = included.inclusion(state, open.map(|state| state.tag), skipped);
            Node::included(state, inclusion, no_buffer)
        }
        Wanted::Chosen if skipped => Node::included(state, Inclusion::No, no_buffer),
        Wanted::Chosen => {
            let choice = sink.choose(state.kind, state.tag, run.content());
            Node::chosen(state, choice, no_buffer)
        }
    };
    Ok(*node)
}

/// Returns how many bytes `steps` steps can write: what is in the buffers, and as much as eleven bytes that are not. Memory is
/// taken for that, not for what the chunk header says.
fn most_output(buckets: &Buckets, steps: usize) -> usize {
    buckets.loaded().saturating_add(steps.saturating_mul(11))
}

#[cfg(test)]
mod tests {
    use crate::{codec::Compression, transposed_chunk::TransposedEncoder};

    /// A chunk of these records, and the size of its decoded data.
    pub(super) fn encoded(records: &[Vec<u8>], compression: Compression) -> (Vec<u8>, u64) {
        let mut encoder = TransposedEncoder::new(compression, u64::MAX);
        records.iter().for_each(|record| encoder.add_record(record));
        encoder.encode().expect("encodes");
        (encoder.encoded_parts().concat(), encoder.decoded_data_size())
    }
}
