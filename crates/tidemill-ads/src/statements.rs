//! Statements of a connection: text in, work areas out.

use std::sync::Arc;

use tidemill_xbase::{CodePage, OpenMode};

use crate::connection::{AreaId, Connection};
use crate::error::Result;
use crate::settings::Settings;
use crate::sql::{Answer, Live, Prepared, Rows, StatementOptions, Value};
use crate::work_area::WorkArea;

/// What came of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Executed {
    /// Rows, as a work area: a table with a condition and an order, or a table in memory.
    Cursor(AreaId),
    /// So many records were changed.
    Changed(u64),
    /// It is done, and there is nothing to say.
    Done,
}

impl Connection {
    /// Takes note of what the program calls itself (`sp_SetApplicationID`).
    pub fn set_application(&mut self, name: &str) {
        name.clone_into(&mut self.statements.application);
    }

    /// Parses a statement and binds its names, once for each text.
    ///
    /// # Errors
    /// [`ErrorCode::Statement`](crate::ErrorCode::Statement): as [`Prepared::new`].
    pub fn prepare(&mut self, text: &str, settings: &Settings, options: &StatementOptions) -> Result<Arc<Prepared>> {
        self.renew_dictionary()?;
        let known = Arc::clone(&self.statements.known);
        Ok(known.prepare(text, &mut self.tables(settings, options))?)
    }

    /// Runs a statement. A SELECT of a table's own columns, with a condition that is a filter and in no order or that of an index,
    /// is a cursor over the table itself: what is written through it goes there, and what others write shows in it.
    ///
    /// # Errors
    /// [`ErrorCode::Statement`](crate::ErrorCode::Statement): as [`Prepared::new`] and [`Prepared::run`]. As
    /// [`Connection::open_table`] for the cursor.
    pub fn execute(
        &mut self,
        text: &str,
        parameters: &[Value],
        settings: &Settings,
        options: &StatementOptions,
    ) -> Result<Executed> {
        self.check_process()?;
        self.renew_dictionary()?;
        let known = Arc::clone(&self.statements.known);
        self.statements.begin_run(text, settings);
        let mut tables = self.tables(settings, options);
        let answer = known.run(text, &mut tables, parameters)?;
        match answer {
            Answer::Rows(rows) => {
                let codepage = tables.codepage();
                self.rows_cursor(&rows, codepage, settings)
            }
            Answer::Live(live) => self.live_cursor(*live, options, settings),
            Answer::Changed(count) => Ok(Executed::Changed(count)),
            Answer::Done => Ok(Executed::Done),
        }
    }

    /// How many records the statement that ran last has changed; `None` when it was none that changes records. Of a script that is its
    /// last statement.
    pub fn last_affected(&self) -> Option<u64> {
        self.statements.affected
    }

    /// The last value of an autoincrement field that a statement of the connection gave out.
    pub fn last_autoincrement(&self) -> Option<i64> {
        self.statements.last_autoincrement
    }

    /// The value of an autoincrement field that the last record got which the statement that ran last has appended.
    pub fn run_autoincrement(&self) -> Option<u32> {
        self.statements.run_autoincrement
    }

    fn rows_cursor(&mut self, rows: &Rows, codepage: CodePage, settings: &Settings) -> Result<Executed> {
        let area = WorkArea::of_rows(rows, codepage, settings)?;
        Ok(Executed::Cursor(self.add(area)))
    }

    fn live_cursor(&mut self, live: Live, options: &StatementOptions, settings: &Settings) -> Result<Executed> {
        let table = live.snapshot.table();
        let opening = self.options_of(table.path(), &options.table);
        let mut area = match self.statements.cached(table.path(), &opening) {
            Some(mut area) => {
                area.use_log(self.transactions.log())?;
                if area.options().mode != OpenMode::ReadOnly {
                    self.hold_area_to_rules(&mut area, settings)?;
                }
                area.set_rights(self.rights_at(table.path()));
                area
            }
            None => self
                .area_in_page(table.path(), &options.table, Some(table.codepage()), settings)?
                .into(),
        };
        area.show(live, options.constrains, settings)?;
        Ok(Executed::Cursor(self.add(area)))
    }
}
