//! Connections: a session over the tables of a database, and its metadata.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use adbc_core::error::Result;
use adbc_core::options::{InfoCode, ObjectDepth, OptionConnection, OptionValue};
use adbc_core::schemas::{GET_STATISTIC_NAMES_SCHEMA, GET_TABLE_TYPES_SCHEMA};
use adbc_core::{CancelHandle, Connection, Optionable};
use arrow_array::{RecordBatch, RecordBatchReader, StringArray};
use arrow_schema::Schema;
use tidemill_sql::{Session, SessionOptions, for_programs};
use tokio::runtime::Runtime;

use crate::cancel::{Canceller, Work};
use crate::database::{flag, text};
use crate::error::{self, invalid, invalid_state, not_implemented, of_session};
use crate::info;
use crate::objects::{self, Patterns};
use crate::process_bound::ProcessBound;
use crate::rows::of_batch;
use crate::statement::TidemillStatement;

/// A connection to the tables of a database.
pub struct TidemillConnection {
    session: Arc<ProcessBound<Session>>,
    runtime: Arc<ProcessBound<Runtime>>,
    is_read_only: Arc<AtomicBool>,
    canceller: Canceller,
}

impl TidemillConnection {
    /// # Errors
    ///
    /// [`Status::NotFound`](adbc_core::error::Status::NotFound) if an attached place does not exist.
    pub(crate) fn new(settings: SessionOptions, runtime: Arc<ProcessBound<Runtime>>) -> Result<Self> {
        let session = Session::new(settings);
        session.check_attached().map_err(of_session)?;
        Ok(Self {
            session: Arc::new(ProcessBound::new(session)),
            runtime,
            is_read_only: Arc::default(),
            canceller: Canceller::new(),
        })
    }

    fn work(&self) -> Work {
        Work::begin(&self.runtime, [&self.canceller, &self.canceller])
    }

    fn in_transaction(&self) -> Result<()> {
        match self.session.get()?.autocommit() {
            false => Ok(()),
            true => Err(invalid_state(
                "autocommit is on: each statement is a transaction of its own",
            )),
        }
    }
}

impl Connection for TidemillConnection {
    type StatementType = TidemillStatement;

    fn new_statement(&mut self) -> Result<TidemillStatement> {
        let (session, runtime) = (Arc::clone(&self.session), Arc::clone(&self.runtime));
        let is_read_only = Arc::clone(&self.is_read_only);
        Ok(TidemillStatement::new(
            session,
            runtime,
            is_read_only,
            self.canceller.clone(),
        ))
    }

    fn get_cancel_handle(&self) -> Box<dyn CancelHandle> {
        Box::new(self.canceller.clone())
    }

    fn get_info(&self, codes: Option<HashSet<InfoCode>>) -> Result<Box<dyn RecordBatchReader + Send>> {
        Ok(of_batch(info::batch(codes.as_ref())?))
    }

    fn get_objects(
        &self,
        depth: ObjectDepth,
        catalog: Option<&str>,
        db_schema: Option<&str>,
        table_name: Option<&str>,
        table_type: Option<Vec<&str>>,
        column_name: Option<&str>,
    ) -> Result<Box<dyn RecordBatchReader + Send>> {
        let patterns = Patterns {
            catalog,
            db_schema,
            table_name,
            column_name,
            has_tables: table_type.is_none_or(|types| types.contains(&objects::TABLE)),
        };
        let found = self.work().run(objects::find(self.session.get()?, depth, &patterns))?;
        Ok(of_batch(objects::batch(&found)?))
    }

    fn get_table_schema(&self, catalog: Option<&str>, db_schema: Option<&str>, table_name: &str) -> Result<Schema> {
        if let Some(catalog) = catalog.filter(|catalog| !catalog.is_empty()) {
            let missing = tidemill_sql::Error::NotFound {
                name: catalog.to_owned(),
                hint: "there are no catalogs".to_owned(),
            };
            return Err(of_session(missing));
        }
        let name = match db_schema.filter(|schema| !schema.is_empty()) {
            Some(database) => format!("{database}.{table_name}"),
            None => table_name.to_owned(),
        };
        let session = self.session.get()?;
        let schema = self.work().run(async {
            let location = session.locate(&name).await?;
            session.schema(&location).await
        })?;
        Ok(for_programs(&schema).as_ref().clone())
    }

    fn get_table_types(&self) -> Result<Box<dyn RecordBatchReader + Send>> {
        let types = StringArray::from(vec![objects::TABLE]);
        let batch = RecordBatch::try_new(GET_TABLE_TYPES_SCHEMA.clone(), vec![Arc::new(types)])?;
        Ok(of_batch(batch))
    }

    /// There are none besides those that ADBC defines.
    fn get_statistic_names(&self) -> Result<Box<dyn RecordBatchReader + Send>> {
        Ok(of_batch(RecordBatch::new_empty(GET_STATISTIC_NAMES_SCHEMA.clone())))
    }

    fn get_statistics(
        &self,
        _: Option<&str>,
        _: Option<&str>,
        _: Option<&str>,
        _: bool,
    ) -> Result<Box<dyn RecordBatchReader + Send>> {
        Err(not_implemented("no statistics of tables are kept"))
    }

    fn commit(&mut self) -> Result<()> {
        self.in_transaction()?;
        self.work().finish(self.session.get()?.commit())
    }

    fn rollback(&mut self) -> Result<()> {
        self.in_transaction()?;
        self.work().finish(self.session.get()?.rollback())
    }

    fn read_partition(&self, _: impl AsRef<[u8]>) -> Result<Box<dyn RecordBatchReader + Send>> {
        Err(not_implemented("results are not cut into partitions"))
    }
}

impl Optionable for TidemillConnection {
    type Option = OptionConnection;

    fn set_option(&mut self, key: OptionConnection, value: OptionValue) -> Result<()> {
        let value = text(key.as_ref(), value)?;
        match key {
            OptionConnection::AutoCommit => {
                let autocommit = flag(key.as_ref(), &value)?;
                self.work().finish(self.session.get()?.set_autocommit(autocommit))
            }
            OptionConnection::ReadOnly => {
                self.is_read_only.store(flag(key.as_ref(), &value)?, Ordering::Relaxed);
                Ok(())
            }
            OptionConnection::IsolationLevel if value == "adbc.connection.transaction.isolation.default" => Ok(()),
            OptionConnection::CurrentCatalog | OptionConnection::CurrentSchema if value.is_empty() => Ok(()),
            OptionConnection::CurrentCatalog | OptionConnection::CurrentSchema => Err(invalid(format!(
                "{} cannot be {value:?}: it is always the database itself",
                key.as_ref()
            ))),
            other => Err(not_implemented(format!(
                "{} = {value:?}: no connection has that",
                other.as_ref()
            ))),
        }
    }

    fn get_option_string(&self, key: OptionConnection) -> Result<String> {
        match &key {
            OptionConnection::AutoCommit => Ok(self.session.get()?.autocommit().to_string()),
            OptionConnection::ReadOnly => Ok(self.is_read_only.load(Ordering::Relaxed).to_string()),
            OptionConnection::CurrentCatalog | OptionConnection::CurrentSchema => Ok(String::new()),
            _ => Err(error::no_option(key.as_ref())),
        }
    }

    fn get_option_bytes(&self, key: OptionConnection) -> Result<Vec<u8>> {
        Err(error::no_option(key.as_ref()))
    }

    fn get_option_int(&self, key: OptionConnection) -> Result<i64> {
        Err(error::no_option(key.as_ref()))
    }

    fn get_option_double(&self, key: OptionConnection) -> Result<f64> {
        Err(error::no_option(key.as_ref()))
    }
}
