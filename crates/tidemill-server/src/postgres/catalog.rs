//! `pg_catalog` for clients, emulated by datafusion-pg-catalog.
//!
//! Statements that read only the catalogue run in their own DataFusion context, over tables that are described and never read. The schemas
//! are the served ones; `public` is the first folder.
//!
//! | file | what |
//! |---|---|
//! | `rewrite.rs` | rewrites statements so that DataFusion can plan them |
//! | `arrays.rs` | rewrites clients' expressions over arrays of the catalogue |
//! | `keys.rs` | keys and indexes of the served tables |
//! | `tables.rs` | tables of `pg_catalog` that datafusion-pg-catalog lacks |
//! | `information_schema.rs` | `information_schema`, as PostgreSQL has it |
//! | `constants.rs` | functions with a constant value |

mod arrays;
mod constants;
mod information_schema;
mod keys;
pub(super) mod rewrite;
mod tables;

use std::fmt::Debug;
use std::ops::ControlFlow;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use async_trait::async_trait;
use datafusion::catalog::{CatalogProvider, MemoryCatalogProvider, SchemaProvider, TableProvider};
use datafusion::common::metadata::ScalarAndMetadata;
use datafusion::common::{DataFusionError, ParamValues, ScalarValue};
use datafusion::datasource::empty::EmptyTable;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::EmptyRecordBatchStream;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion::sql::parser::Statement as PlannerStatement;
use datafusion_pg_catalog::pg_catalog::context::EmptyContextProvider;
use datafusion_pg_catalog::pg_catalog::setup_pg_catalog;
use datafusion_pg_catalog::sql::PostgresCompatibilityParser;
use futures::StreamExt as _;
use pgwire::error::PgWireError;
use sqlparser::ast::Statement;
use sqlparser::tokenizer::Token;
use tidemill_ads::sql::walk;
use tidemill_postgres::Type;
use tidemill_postgres::arrow_type::column_type;
use tidemill_sql::{Opaque, Session};

use self::keys::{IndexNumbers, ServedTable};
use self::tables::PgCatalog;
use super::command::plain_name;
use super::settings::Settings;
use super::{failure, functions, parameters};
use crate::stores::tables_of;

/// The name of the only database.
pub(crate) const DATABASE: &str = "tidemill";

/// Rewrites PostgreSQL's forms that DataFusion cannot plan.
static PARSER: LazyLock<PostgresCompatibilityParser> = LazyLock::new(PostgresCompatibilityParser::new);

/// The schema of PostgreSQL's own tables, and that of the SQL standard.
const PG_CATALOG: &str = "pg_catalog";
const INFORMATION_SCHEMA: &str = "information_schema";

/// Functions and types that describe the server and need no table.
const WORDS: [&str; 25] = [
    INFORMATION_SCHEMA,
    "regclass",
    "regtype",
    "regnamespace",
    "to_regclass",
    "to_regtype",
    "col_description",
    "version",
    "current_database",
    "current_catalog",
    "current_schema",
    "current_schemas",
    "current_user",
    "session_user",
    "current_role",
    "user",
    "current_setting",
    "set_config",
    "format_type",
    "has_table_privilege",
    "has_schema_privilege",
    "has_database_privilege",
    "obj_description",
    "quote_ident",
    "quote_literal",
];

/// Parses a statement that reads only the catalogue; `None` for other statements.
pub(super) fn statement(text: &str, tokens: &[Token]) -> Option<Statement> {
    let is_of_catalog = |token: &Token| match token {
        Token::Word(word) => {
            let name = word.value.to_lowercase();
            name.starts_with("pg_") || WORDS.contains(&name.as_str())
        }
        _ => false,
    };
    if !tokens.iter().any(is_of_catalog) {
        return None;
    }
    let mut statements = PARSER.parse(text).ok()?;
    if let Some(first) = statements.first_mut() {
        rewrite::rewrite(first);
    }
    let [statement @ Statement::Query(_)] = statements.as_slice() else {
        return None;
    };
    let common = rewrite::common_tables(statement);
    let is_other = walk::relations(statement, &mut |name| {
        let name = plain_name(name).to_lowercase();
        let first = name.split('.').next().unwrap_or_default();
        let is_known = first.starts_with("pg_") || first == INFORMATION_SCHEMA || is_function(first);
        match is_known || common.contains(first) {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        }
    });
    // The session runs statements that call a function of the catalogue over tables.
    is_other.is_continue().then(|| statement.clone())
}

/// Whether a name is a table function.
fn is_function(name: &str) -> bool {
    matches!(
        name,
        "generate_series" | "generate_subscripts" | "unnest" | "current_schemas" | "string_to_array"
    )
}

/// The catalogue of a client.
pub(crate) struct Catalog {
    context: Opaque<SessionContext>,
    catalog: Arc<MemoryCatalogProvider>,
    schemas: Vec<Arc<ServedSchema>>,
    numbers: IndexNumbers,
    refreshed: Mutex<Option<Instant>>,
}

impl Drop for Catalog {
    fn drop(&mut self) {
        // Breaks a reference cycle: the tables of these schemas hold the catalogue that holds them.
        for name in [INFORMATION_SCHEMA, PG_CATALOG] {
            let _ = self.catalog.deregister_schema(name, true);
        }
    }
}

/// The list of tables is read again after this time.
const FRESH: Duration = Duration::from_secs(1);

impl Catalog {
    pub(super) async fn new(
        names: &[String],
        user: &str,
        settings: &Arc<Mutex<Settings>>,
    ) -> Result<Self, DataFusionError> {
        let config = SessionConfig::new()
            .with_default_catalog_and_schema(DATABASE, crate::stores::PUBLIC)
            .with_create_default_catalog_and_schema(false);
        let context = SessionContext::new_with_config(config);
        let catalog = Arc::new(MemoryCatalogProvider::new());
        let mut schemas = Vec::new();
        for name in names {
            let schema = Arc::new(ServedSchema::new(name));
            catalog.register_schema(name, Arc::clone(&schema) as _)?;
            schemas.push(schema);
        }
        if !names.iter().any(|name| name == crate::stores::PUBLIC) {
            catalog.register_schema(
                crate::stores::PUBLIC,
                Arc::new(ServedSchema::new(crate::stores::PUBLIC)),
            )?;
        }
        context.register_catalog(DATABASE, Arc::clone(&catalog) as _);
        setup_pg_catalog(&context, DATABASE, EmptyContextProvider).map_err(|error| *error)?;
        for function in constants::constants(user)
            .into_iter()
            .chain(functions::functions(settings))
            .chain(keys::functions(&schemas))
            .chain([arrays::expand_array()])
        {
            context.register_udf(function);
        }
        let made = Self {
            context: Opaque::new(context),
            catalog: Arc::clone(&catalog),
            schemas,
            numbers: IndexNumbers::default(),
            refreshed: Mutex::default(),
        };
        if let Some(inner) = catalog.schema(PG_CATALOG) {
            let more = PgCatalog::new(&made.context, inner, user, &made.schemas, settings).await?;
            catalog.register_schema(PG_CATALOG, Arc::new(more))?;
        }
        let information_schema = information_schema::schema(&made.context, user).await?;
        catalog.register_schema(INFORMATION_SCHEMA, Arc::new(information_schema))?;
        Ok(made)
    }

    /// Reads the list of tables again, unless it is recent.
    pub(super) async fn refresh(&self, session: &Session) -> tidemill_sql::Result<()> {
        let last = *self.refreshed.lock().unwrap_or_else(PoisonError::into_inner);
        if last.is_some_and(|last| last.elapsed() < FRESH) {
            return Ok(());
        }
        let tables = tables_of(session).await?;
        for schema in &self.schemas {
            let mut found = Vec::new();
            for table in tables.iter().filter(|table| table.schema == schema.name) {
                // A table that cannot be opened is left out; a statement that reads it reports why.
                let Ok(columns) = session.schema(&table.location).await else {
                    continue;
                };
                // Statements that use a damaged index report the damage.
                let keys = session.keys_of(&table.location).unwrap_or_default();
                let relations = session.relations_of(&table.location).unwrap_or_default().relations;
                found.push(ServedTable {
                    indexes: self.numbers.indexes(&schema.name, &table.name, &columns, &keys),
                    foreign_keys: self
                        .numbers
                        .foreign_keys(&schema.name, &table.name, &columns, &relations),
                    name: table.name.clone(),
                    columns,
                });
            }
            schema.put(found);
        }
        *self.refreshed.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
        Ok(())
    }

    async fn plan(&self, statement: &Statement) -> Result<LogicalPlan, PgWireError> {
        let statement = PlannerStatement::Statement(Box::new(statement.clone()));
        self.context
            .state()
            .statement_to_plan(statement)
            .await
            .map_err(failure::of_catalog)
    }

    /// The types of parameters. The client gives some; the others come from the plan.
    pub(super) async fn types(&self, statement: &Statement, told: Vec<Option<Type>>) -> Result<Vec<Type>, PgWireError> {
        let mut cast = parameters::cast(statement);
        let said = match told.iter().all(Option::is_some) {
            true => Default::default(),
            // The error is reported when the statement runs.
            false => match self.plan(statement).await {
                Ok(plan) => plan.get_parameter_types().unwrap_or_default(),
                Err(_) => Default::default(),
            },
        };
        let types = told.into_iter().enumerate().map(|(place, told)| {
            let said = said.get(&format!("${}", place + 1)).cloned().flatten();
            let said = said.and_then(|said| column_type(&arrow_schema::Field::new("", said, true)).ok());
            // A cast to a type of the catalogue's OIDs has precedence over the plan.
            told.or_else(|| cast.remove(&(place + 1)))
                .or(said)
                .unwrap_or(Type::Text)
        });
        Ok(types.collect())
    }

    /// The columns of a query, which does not run.
    pub(super) async fn columns(&self, statement: &Statement) -> Result<SchemaRef, PgWireError> {
        let plan = self.plan(statement).await?;
        Ok(Arc::clone(plan.schema().inner()))
    }

    /// The rows of a query; no rows if it asks for keys and the like in a form that cannot be planned.
    pub(super) async fn query(
        &self,
        statement: &Statement,
        values: &RecordBatch,
    ) -> Result<SendableRecordBatchStream, PgWireError> {
        match (
            self.rows(statement, values).await,
            rewrite::columns_of_nothing(statement),
        ) {
            (Err(_), Some(columns)) => Ok(Box::pin(EmptyRecordBatchStream::new(columns))),
            (rows, _) => rows,
        }
    }

    async fn rows(
        &self,
        statement: &Statement,
        values: &RecordBatch,
    ) -> Result<SendableRecordBatchStream, PgWireError> {
        let mut plan = self.plan(statement).await?;
        if values.num_columns() > 0 {
            let values = values
                .columns()
                .iter()
                .map(|column| ScalarValue::try_from_array(column, 0).map(|value| ScalarAndMetadata::new(value, None)));
            let values = values.collect::<Result<Vec<_>, _>>().map_err(failure::of_catalog)?;
            plan = plan
                .with_param_values(ParamValues::List(values))
                .map_err(failure::of_catalog)?;
        }
        let frame = self
            .context
            .execute_logical_plan(plan)
            .await
            .map_err(failure::of_catalog)?;
        let mut rows = frame.execute_stream().await.map_err(failure::of_catalog)?;
        // A planned query may still fail to run; the first rows show it.
        let first = rows.next().await.transpose().map_err(failure::of_catalog)?;
        let (schema, first) = (rows.schema(), futures::stream::iter(first.map(Ok)));
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, first.chain(rows))))
    }
}

/// A schema whose tables are described but never read.
#[derive(Debug)]
struct ServedSchema {
    name: String,
    tables: Mutex<Arc<[Arc<ServedTable>]>>,
}

impl ServedSchema {
    fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            tables: Mutex::new(Arc::default()),
        }
    }

    fn put(&self, tables: Vec<ServedTable>) {
        let tables = tables.into_iter().map(Arc::new).collect();
        *self.tables.lock().unwrap_or_else(PoisonError::into_inner) = tables;
    }

    fn all(&self) -> Arc<[Arc<ServedTable>]> {
        Arc::clone(&self.tables.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn find(&self, name: &str) -> Option<SchemaRef> {
        let tables = self.all();
        let found = tables.iter().find(|table| table.name == name);
        found.map(|table| Arc::clone(&table.columns))
    }
}

#[async_trait]
impl SchemaProvider for ServedSchema {
    fn table_names(&self) -> Vec<String> {
        self.all().iter().map(|table| table.name.clone()).collect()
    }

    async fn table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>, DataFusionError> {
        let table = self
            .find(name)
            .map(|schema| Arc::new(EmptyTable::new(schema)) as Arc<dyn TableProvider>);
        Ok(table)
    }

    fn table_exist(&self, name: &str) -> bool {
        self.find(name).is_some()
    }
}

#[cfg(test)]
mod tests {
    use arrow_schema::DataType;
    use sqlparser::ast::Expr;

    use super::super::command::{Command, parse};
    use super::*;

    impl Catalog {
        /// The rows of a query, formatted as psql prints them.
        async fn texts(&self, text: &str) -> String {
            let Command::Catalog(statement) = parse(text).expect(text) else {
                panic!("{text}")
            };
            let values = RecordBatch::new_empty(Arc::new(arrow_schema::Schema::empty()));
            let stream = self.rows(&statement, &values).await;
            let stream = stream.unwrap_or_else(|error| panic!("{text}: {error}"));
            let batches = datafusion::physical_plan::common::collect(stream).await.expect(text);
            let rows = batches.iter().flat_map(|batch| {
                (0..batch.num_rows()).map(|row| {
                    let values = batch.columns().iter();
                    let values =
                        values.map(|column| datafusion::arrow::util::display::array_value_to_string(column, row));
                    values.collect::<Result<Vec<_>, _>>().expect("texts").join("|")
                })
            });
            rows.collect::<Vec<_>>().join("\n")
        }
    }

    /// Whether a statement has a parameter.
    fn has_parameter(statement: &Statement) -> bool {
        let mut has = false;
        let _ = walk::expressions(statement, &mut |expression| {
            has |= matches!(expression, Expr::Value(value) if matches!(value.value, sqlparser::ast::Value::Placeholder(_)));
            ControlFlow::<()>::Continue(())
        });
        has
    }

    #[test]
    fn statements_of_the_catalogue_are_told_from_others() {
        for (text, is_of_catalog) in [
            ("SELECT version()", true),
            ("SELECT current_schema()", true),
            ("SELECT c.relname FROM pg_catalog.pg_class c WHERE c.relname = $1", true),
            ("SELECT oid FROM pg_type", true),
            ("SELECT pg_advisory_unlock_all()", true),
            ("SELECT table_name FROM information_schema.tables", true),
            ("SELECT 'orders'::regclass", true),
            (
                "WITH RECURSIVE t AS (SELECT (WITH RECURSIVE b(o) AS (SELECT 1) SELECT o FROM b) AS o FROM pg_type) SELECT o FROM t",
                true,
            ),
            ("SELECT quote_literal(name) FROM orders", false),
            ("SELECT * FROM orders", false),
            ("SELECT current_user, name FROM orders", false),
            ("SELECT pg_name FROM orders", false),
            ("WITH t AS (SELECT * FROM pg_class) SELECT relname FROM t", true),
        ] {
            let command = parse(text).expect(text);
            assert_eq!(matches!(command, Command::Catalog(_)), is_of_catalog, "{text}");
            if let Command::Catalog(statement) = command {
                assert_eq!(has_parameter(&statement), text.contains("$1"), "{text}");
            }
        }
    }

    #[tokio::test]
    async fn keys_are_found_as_clients_look_for_them() {
        let catalog = Catalog::new(&["public".to_owned()], "ann", &Arc::default()).await;
        let catalog = catalog.expect("a catalogue");
        let schema = Arc::new(arrow_schema::Schema::new(vec![
            arrow_schema::Field::new("name", DataType::Utf8, true),
            arrow_schema::Field::new("ID", DataType::Int32, true),
            arrow_schema::Field::new("total", DataType::Decimal128(10, 2), true),
        ]));
        let [public] = catalog.schemas.as_slice() else {
            panic!("one schema")
        };
        let index = |columns: &[&str], is_unique: bool| tidemill_sql::TableIndex {
            columns: columns.iter().map(|&name| name.to_owned()).collect(),
            is_unique,
        };
        let relations = [tidemill_sql::SourceRelation {
            columns: vec!["TOTAL".to_owned()],
            parent: "books/People.dbf".into(),
            parent_columns: vec!["id".to_owned()],
            cascades_updates: true,
            cascades_deletes: false,
        }];
        let keys = tidemill_sql::SourceKeys {
            primary_key: vec!["ID".to_owned()],
            indexes: vec![
                index(&["name", "ID"], false),
                index(&["name", "ID"], true),
                index(&["nope"], false),
            ],
            ..tidemill_sql::SourceKeys::default()
        };
        public.put(vec![ServedTable {
            name: "people".to_owned(),
            indexes: catalog.numbers.indexes("public", "people", &schema, &keys),
            foreign_keys: catalog.numbers.foreign_keys("public", "people", &schema, &relations),
            columns: schema,
        }]);
        for (text, expected) in [
            // As Rails, Django and many tools look for a primary key.
            (
                "SELECT a.attname, format_type(a.atttypid, a.atttypmod) FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY(i.indkey) WHERE i.indrelid = 'people'::regclass AND i.indisprimary",
                "ID|integer",
            ),
            // As psql describes a table.
            (
                "SELECT c2.relname, i.indisprimary, i.indisunique, pg_catalog.pg_get_indexdef(i.indexrelid, 0, true), pg_catalog.pg_get_constraintdef(con.oid, true), contype FROM pg_catalog.pg_class c, pg_catalog.pg_class c2, pg_catalog.pg_index i LEFT JOIN pg_catalog.pg_constraint con ON (conrelid = i.indrelid AND conindid = i.indexrelid AND contype IN ('p','u','x')) WHERE c.relname = 'people' AND c.oid = i.indrelid AND i.indexrelid = c2.oid ORDER BY i.indisprimary DESC, c2.relname",
                "people_pkey|true|true|CREATE UNIQUE INDEX people_pkey ON public.people USING btree (\"ID\")|PRIMARY KEY (\"ID\")|p\n\
                 people_name_id_idx|false|false|CREATE INDEX people_name_id_idx ON public.people USING btree (name, \"ID\")||\n\
                 people_name_id_idx1|false|true|CREATE UNIQUE INDEX people_name_id_idx1 ON public.people USING btree (name, \"ID\")||",
            ),
            (
                "SELECT r.conname, pg_catalog.pg_get_constraintdef(r.oid, true), c.relname FROM pg_catalog.pg_constraint r JOIN pg_class c ON c.oid = r.confrelid WHERE r.conrelid = 'people'::regclass AND r.contype = 'f' ORDER BY 1",
                "people_total_fkey|FOREIGN KEY (total) REFERENCES \"People\"(id) ON UPDATE CASCADE|people",
            ),
            // As psql lists the keys that refer to a table, and names the tables that have them.
            (
                "SELECT conname, conrelid::pg_catalog.regclass AS ontable FROM pg_catalog.pg_constraint c WHERE confrelid = 'people'::regclass AND contype = 'f' AND conparentid = 0 ORDER BY conname",
                "people_total_fkey|people",
            ),
            (
                "SELECT conname FROM pg_catalog.pg_constraint, pg_catalog.pg_partition_ancestors('0') WHERE conrelid = relid",
                "",
            ),
            // As pgjdbc looks for imported keys.
            (
                "SELECT pkc.relname, pka.attname, fkc.relname, fka.attname, con.confupdtype, con.confdeltype, pkic.relname FROM pg_catalog.pg_class pkc, pg_catalog.pg_attribute pka, pg_catalog.pg_class fkc, pg_catalog.pg_attribute fka, pg_catalog.pg_constraint con, pg_catalog.generate_series(1, 32) pos(n), pg_catalog.pg_class pkic WHERE pkc.oid = pka.attrelid AND pka.attnum = con.confkey[pos.n] AND con.confrelid = pkc.oid AND fkc.oid = fka.attrelid AND fka.attnum = con.conkey[pos.n] AND con.conrelid = fkc.oid AND con.contype = 'f' AND pkic.relkind = 'i' AND pkic.oid = con.conindid",
                "people|ID|people|total|c|a|people_pkey",
            ),
            // As pgjdbc does.
            (
                "SELECT result.COLUMN_NAME, result.KEY_SEQ FROM (SELECT a.attname AS COLUMN_NAME, (information_schema._pg_expandarray(i.indkey)).n AS KEY_SEQ, information_schema._pg_expandarray(i.indkey) AS KEYS, a.attnum AS A_ATTNUM FROM pg_catalog.pg_class ct JOIN pg_catalog.pg_attribute a ON (ct.oid = a.attrelid) JOIN pg_catalog.pg_index i ON (a.attrelid = i.indrelid) WHERE ct.relname = 'people' AND NOT i.indisunique) result WHERE result.A_ATTNUM = (result.KEYS).x ORDER BY 2",
                "name|1\nID|2",
            ),
            (
                "SELECT i.indoption[0], i.indkey[1], generate_subscripts(i.indkey, 1) AS ord FROM pg_index i WHERE NOT i.indisunique ORDER BY 3",
                "0|2|0\n0|2|1",
            ),
            // As SQLAlchemy does.
            (
                "SELECT unnest(con.conkey) AS attnum, generate_subscripts(con.conkey, 1) AS ord FROM pg_catalog.pg_constraint AS con WHERE con.contype = 'p'",
                "2|1",
            ),
            (
                "SELECT tc.constraint_name, kc.column_name, kc.ordinal_position FROM information_schema.table_constraints tc JOIN information_schema.key_column_usage kc ON tc.constraint_name = kc.constraint_name WHERE tc.constraint_type = 'PRIMARY KEY'",
                "people_pkey|ID|1",
            ),
            (
                "SELECT tc.constraint_name, kc.column_name, u.table_name, u.column_name, rc.unique_constraint_name, rc.update_rule, rc.delete_rule FROM information_schema.table_constraints tc JOIN information_schema.key_column_usage kc ON tc.constraint_name = kc.constraint_name JOIN information_schema.constraint_column_usage u ON u.constraint_name = tc.constraint_name JOIN information_schema.referential_constraints rc ON rc.constraint_name = tc.constraint_name WHERE tc.constraint_type = 'FOREIGN KEY'",
                "people_total_fkey|total|people|ID|people_pkey|CASCADE|NO ACTION",
            ),
            (
                "SELECT column_name, numeric_precision, numeric_scale FROM information_schema.columns WHERE table_name = 'people' AND table_schema = 'public' ORDER BY ordinal_position",
                "name||\nID|32|0\ntotal|10|2",
            ),
            ("SELECT relname FROM pg_class WHERE relhasindex", "people"),
        ] {
            assert_eq!(catalog.texts(text).await, expected, "{text}");
        }
    }

    #[tokio::test]
    async fn the_catalogue_answers() {
        let catalog = Catalog::new(&["public".to_owned(), "shop".to_owned()], "ann", &Arc::default()).await;
        let catalog = catalog.expect("a catalogue");
        let schema = arrow_schema::Schema::new(vec![arrow_schema::Field::new("CITY", DataType::Utf8, true)]);
        let [public, _] = catalog.schemas.as_slice() else {
            panic!("two schemas")
        };
        public.put(vec![ServedTable {
            name: "customers".to_owned(),
            columns: Arc::new(schema),
            foreign_keys: Vec::new(),
            indexes: Vec::new(),
        }]);
        let values = RecordBatch::new_empty(Arc::new(arrow_schema::Schema::empty()));
        for (text, rows) in [
            ("SELECT version(), current_database(), current_user", 1),
            ("SELECT current_user, session_user, current_role, user", 1),
            ("SELECT pg_advisory_unlock_all()", 1),
            (
                "SELECT current_setting('server_version'), current_setting('a.b', true)",
                1,
            ),
            ("SELECT set_config('a.b', 'c', false)", 1),
            (
                "SELECT column_name FROM information_schema.columns WHERE table_schema = 'public'",
                1,
            ),
            ("SELECT constraint_name FROM information_schema.table_constraints", 0),
            ("SELECT setting FROM pg_settings WHERE name = 'max_index_keys'", 1),
            ("SELECT rolname FROM pg_roles WHERE rolname = 'ann'", 1),
            ("SELECT typname FROM pg_type WHERE oid = to_regtype('int4')", 1),
            ("SELECT indexname FROM pg_indexes", 0),
            (
                "SELECT pg_sleep(0.01), pg_typeof(1), quote_literal('it''s'), quote_ident('A b')",
                1,
            ),
            (
                "SELECT nspname FROM pg_catalog.pg_namespace WHERE nspname IN ('public', 'shop')",
                2,
            ),
            (
                "SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'public' AND c.relkind = 'r'",
                1,
            ),
            (
                "SELECT a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod) FROM pg_attribute a WHERE a.attrelid = 'customers'::regclass AND a.attnum > 0",
                1,
            ),
        ] {
            let Command::Catalog(statement) = parse(text).expect(text) else {
                panic!("{text}")
            };
            let stream = catalog
                .query(&statement, &values)
                .await
                .unwrap_or_else(|error| panic!("{text}: {error}"));
            let batches = datafusion::physical_plan::common::collect(stream).await.expect(text);
            assert_eq!(batches.iter().map(RecordBatch::num_rows).sum::<usize>(), rows, "{text}");
        }
    }
}
