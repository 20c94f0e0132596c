//! The command line as a person or a script meets it: one program, because each links DataFusion anew.

mod bench;
mod big_table;
mod cat;
mod csv;
mod databases;
mod describe;
mod documents;
mod examples;
mod excel;
mod folders;
mod formats;
#[cfg(target_os = "linux")]
mod hostile;
mod json;
mod looking;
mod memory;
mod objects;
mod query;
mod records;
mod run;
#[cfg(feature = "serve")]
mod serve;
mod servers;
mod shell;
mod statements;
mod tour;
mod unused_options;
mod verify;
#[cfg(all(feature = "serve", feature = "workers"))]
mod workers;
