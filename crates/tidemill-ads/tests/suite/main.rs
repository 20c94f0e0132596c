//! The tests of tidemill-ads in one program, which is compiled and linked once.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a panic is how a test fails")]

mod blanks;
mod case;
mod commits;
mod containers;
mod dbase_tables;
mod dictionaries;
mod events;
mod full_text;
mod index_names;
mod links;
mod look_ups;
mod merges;
mod quantified;
mod recovery;
mod rivals;
mod scripts;
mod sql_analytical;
mod sql_arguments;
mod sql_functions;
mod sql_hostile;
mod sql_rivals;
mod sql_rows;
mod sql_slt;
mod standard_tables;
mod statements;
mod texts;
mod unknown_collation;
mod untranslated;
mod varying_keys;
mod work_areas;
mod writers;
