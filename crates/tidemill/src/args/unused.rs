//! Options without effect on a table are refused instead of ignored.

use anyhow::bail;
use tidemill_sql::{Format, Location};

use super::{CopyArgs, DeletedArg, MakingArgs, SalvageArgs, TableArgs};

/// An option of a command.
struct Given {
    option: &'static str,
    is_given: bool,
    /// Whether the option has an effect on the table.
    applies: bool,
    /// What it is for.
    of: &'static str,
}

/// # Errors
///
/// The first given option that does not apply to the table.
fn refuse_unused(table: &Location, options: impl IntoIterator<Item = Given>) -> anyhow::Result<()> {
    let mut options = options.into_iter();
    match options.find(|option| option.is_given && !option.applies) {
        Some(Given { option, of, .. }) => bail!("{table}: {option} is for {of}; leave it out"),
        None => Ok(()),
    }
}

impl TableArgs {
    /// # Errors
    ///
    /// An option without effect on the table, if the command reads only this one.
    pub(crate) fn check(&self, table: &Location) -> anyhow::Result<()> {
        let is_xbase = table.format == Format::Xbase;
        let has_records = table.format.has_records();
        let of_xbase = |option, is_given| Given {
            option,
            is_given,
            applies: is_xbase,
            of: "xBase tables",
        };
        let of_records = |option, is_given| Given {
            option,
            is_given,
            applies: has_records,
            of: "record files",
        };
        refuse_unused(
            table,
            [
                of_xbase("--codepage", self.codepage.is_some()),
                of_xbase("--blank", self.blank.is_some()),
                of_xbase("--deleted", self.deleted != DeletedArg::Skip),
                of_xbase("--strict", self.strict),
                Given {
                    option: "--recover",
                    is_given: self.recover,
                    applies: is_xbase || has_records,
                    of: "xBase tables and record files",
                },
                of_records("--descriptor", self.descriptor.is_some()),
                of_records("--message", self.message.is_some()),
            ],
        )
    }
}

impl CopyArgs {
    /// # Errors
    ///
    /// An option without effect on a destination of this kind.
    pub(crate) fn check(&self, destination: &Location) -> anyhow::Result<()> {
        let of_format = |option, is_given, format, of| Given {
            option,
            is_given,
            applies: destination.format == format,
            of,
        };
        refuse_unused(
            destination,
            [
                of_format("--riegeli", self.riegeli.is_some(), Format::Riegeli, RIEGELI),
                of_format(
                    "--array-record",
                    self.array_record.is_some(),
                    Format::ArrayRecord,
                    "ArrayRecord files",
                ),
                of_format("--to-codepage", self.to_codepage.is_some(), Format::Xbase, "DBF tables"),
                of_format("--to-dialect", self.to_dialect.is_some(), Format::Xbase, "DBF tables"),
                Given {
                    option: "--keys",
                    is_given: self.keys,
                    applies: is_of(destination, &["mysql", "postgres", "sqlite"]),
                    of: "tables of MySQL, PostgreSQL and SQLite",
                },
            ],
        )?;
        self.making.check(destination)
    }
}

impl MakingArgs {
    fn check(&self, destination: &Location) -> anyhow::Result<()> {
        let of_clickhouse = |option, is_given| Given {
            option,
            is_given,
            applies: is_of(destination, &["clickhouse"]),
            of: "tables of ClickHouse",
        };
        refuse_unused(
            destination,
            [
                of_clickhouse("--engine", self.engine.is_some()),
                of_clickhouse("--order-by", self.order_by.is_some()),
                Given {
                    option: "--primary-key",
                    is_given: self.primary_key.is_some(),
                    applies: is_of(destination, &["cql", "mysql", "postgres", "sqlite"]),
                    of: "tables of Cassandra, MySQL, PostgreSQL and SQLite",
                },
            ],
        )
    }
}

impl SalvageArgs {
    /// # Errors
    ///
    /// An option without effect on a destination of this kind.
    pub(crate) fn check(&self, destination: &Location) -> anyhow::Result<()> {
        let riegeli = Given {
            option: "--riegeli",
            is_given: self.riegeli.is_some(),
            applies: destination.format == Format::Riegeli,
            of: RIEGELI,
        };
        refuse_unused(destination, [riegeli])
    }
}

const RIEGELI: &str = "Riegeli files";

fn is_of(destination: &Location, schemes: &[&str]) -> bool {
    matches!(destination.format, Format::Server(kind) if schemes.contains(&kind.scheme()))
}
