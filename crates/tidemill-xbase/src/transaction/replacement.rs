//! One entry in a log: the files of a table that others, which lie in a folder of their own, take the place of.

use std::path::PathBuf;

use super::log_file::Encode;
use super::payload::{Fault, Rest, count, framed, put_path};

/// What the entry begins with.
pub(super) const REPLACEMENT_MAGIC: [u8; 4] = *b"TDMR";

const PUT: u8 = 0;
const REMOVE: u8 = 1;

/// What is to be done, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Replacement {
    /// The name of the folder in the log's folder that has the new files.
    pub(crate) draft: PathBuf,
    pub(crate) steps: Vec<Step>,
}

/// What is done to one name in the log's folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    /// A new file, so many bytes long, takes it.
    Put(PathBuf, u64),
    /// Nothing has it.
    Remove(PathBuf),
}

impl Step {
    pub(crate) fn name(&self) -> &PathBuf {
        match self {
            Self::Put(name, _) | Self::Remove(name) => name,
        }
    }
}

impl Encode for Replacement {
    fn encode(&self, sequence: u64) -> Result<Vec<u8>, &'static str> {
        framed(REPLACEMENT_MAGIC, sequence, |out| {
            put_path(out, &self.draft)?;
            out.extend(count(self.steps.len())?);
            self.steps.iter().try_for_each(|step| {
                let (what, len) = match step {
                    Step::Put(_, len) => (PUT, *len),
                    Step::Remove(_) => (REMOVE, 0),
                };
                out.push(what);
                out.extend(len.to_le_bytes());
                put_path(out, step.name())
            })
        })
    }
}

impl Replacement {
    pub(super) fn decode(payload: &[u8]) -> Result<Self, Fault> {
        let mut rest = Rest::of(payload);
        let draft = rest.path()?;
        let mut steps = Vec::new();
        for _ in 0..rest.u32("number of steps")? {
            let [what] = rest.array("what is done")?;
            let len = rest.u64("length of a new file")?;
            let name = rest.path()?;
            steps.push(match what {
                PUT => Step::Put(name, len),
                REMOVE => Step::Remove(name),
                what => return Err(rest.fault("what is done", "0 or 1".to_owned(), what.to_string())),
            });
        }
        rest.end()?;
        Ok(Self { draft, steps })
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::super::payload::GROUP_HEADER;
    use super::*;

    proptest! {
        #[test]
        fn an_entry_is_read_as_it_was_written_and_not_if_it_is_cut(steps in vec(("[a-z.]{1,12}", any::<Option<u64>>()), 0..5)) {
            let steps = steps.into_iter().map(|(name, len)| match len {
                Some(len) => Step::Put(name.into(), len),
                None => Step::Remove(name.into()),
            });
            let entry = Replacement { draft: "draft".into(), steps: steps.collect() };
            let bytes = entry.encode(3).unwrap();
            let payload = &bytes[GROUP_HEADER..];
            prop_assert_eq!(&Replacement::decode(payload).unwrap(), &entry);
            for cut in 0..payload.len() {
                prop_assert!(Replacement::decode(&payload[..cut]).is_err(), "cut at {}", cut);
            }
            prop_assert!(Replacement::decode(&[payload, &[0]].concat()).is_err());
        }
    }
}
