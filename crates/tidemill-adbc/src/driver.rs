//! The driver, as driver managers load it.

use adbc_core::error::Result;
use adbc_core::options::{OptionDatabase, OptionValue};

use crate::database::TidemillDatabase;

/// Opens databases.
#[derive(Debug, Default)]
pub struct TidemillDriver;

impl adbc_core::Driver for TidemillDriver {
    type DatabaseType = TidemillDatabase;

    fn new_database(&mut self) -> Result<TidemillDatabase> {
        self.new_database_with_opts([])
    }

    fn new_database_with_opts(
        &mut self,
        options: impl IntoIterator<Item = (OptionDatabase, OptionValue)>,
    ) -> Result<TidemillDatabase> {
        TidemillDatabase::new(options)
    }
}
