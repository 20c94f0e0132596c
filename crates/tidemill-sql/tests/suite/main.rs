//! The tests of this crate's public interface: one program, because each program links DataFusion anew.

mod copies;
mod messages;
mod places;
mod statements;
mod xbase;
