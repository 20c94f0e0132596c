//! Full-text search: how a text is cut into words, what a search condition says of them, and the entries of an index of words.
//!
//! "Full Text Search Index Options" and "Full Text Search Conditions" of ADS's help say what words and conditions are. One tokenizer
//! serves indexes and conditions, so that an index tells what reading the texts would.
//!
//! ```
//! use tidemill_xbase::full_text::{FullTextOptions, SearchCondition, Tokenizer};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let tokenizer = Tokenizer::new(&FullTextOptions::default());
//! assert_eq!(tokenizer.words("The doctor's notes, 2nd edition"), ["doctors", "notes", "2nd", "edition"]);
//! let condition = SearchCondition::parse("note* near edition", &tokenizer)?;
//! assert!(condition.holds(&tokenizer.words("The doctor's notes, 2nd edition")));
//! # Ok(())
//! # }
//! ```
//!
//! # What this does not do
//!
//! Word counts are not kept in an index: SCORE() reads the texts. Texts in UTF-16 have no index.

mod condition;
mod entries;
mod options;
mod words;

pub(crate) use condition::{Condition, Term};
pub use condition::{SearchCondition, SearchFault};
pub(crate) use entries::{FieldText, TRAIL, WordKeys};
pub use options::{
    DEFAULT_CONDITIONALS, DEFAULT_DELIMITERS, DEFAULT_DROP_CHARS, DEFAULT_NOISE, FullTextOptions, Listed,
};
pub use words::Tokenizer;
