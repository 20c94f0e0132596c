//! No code: the features of dependencies that every build over DataFusion has.
//!
//! Cargo joins the features that the selected packages ask for. A selection that asks a small crate for one feature less would build it
//! and everything over it a second time: Arrow and DataFusion, which take minutes. `Cargo.toml` names the features that some
//! selection asks for, so that each of them has all: the command line with all its stores or none, the driver, the tests.
