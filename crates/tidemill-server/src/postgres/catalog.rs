//! `pg_catalog`, as clients ask for it: an emulation, by datafusion-pg-catalog.
//!
//! Statements that read the catalogue alone run in a DataFusion of their own, over tables that are described and never read. The
//! schemas are those that are served; `public` is the first folder.

use std::fmt::Debug;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use arrow_array::RecordBatch;
use arrow_schema::{DataType, SchemaRef};
use async_trait::async_trait;
use datafusion::catalog::{CatalogProvider as _, MemoryCatalogProvider, SchemaProvider, TableProvider};
use datafusion::common::metadata::ScalarAndMetadata;
use datafusion::common::{DataFusionError, ParamValues, ScalarValue};
use datafusion::datasource::empty::EmptyTable;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::logical_expr::{ColumnarValue, LogicalPlan, ScalarUDF, Volatility, create_udf};
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion::sql::parser::Statement as PlannerStatement;
use datafusion_pg_catalog::pg_catalog::context::EmptyContextProvider;
use datafusion_pg_catalog::pg_catalog::setup_pg_catalog;
use datafusion_pg_catalog::sql::PostgresCompatibilityParser;
use pgwire::error::PgWireError;
use sqlparser::ast::{CastKind, Expr, FunctionArguments, Statement, Value, visit_expressions_mut, visit_relations};
use sqlparser::tokenizer::Token;
use std::sync::LazyLock;
use tidemill_postgres::Type;
use tidemill_postgres::arrow_type::column_type;
use tidemill_sql::Session;

use super::failure;
use super::settings::VERSION;
use crate::stores::tables_of;

/// The name of the one database.
pub(crate) const DATABASE: &str = "tidemill";

/// Rewrites what PostgreSQL's clients write and DataFusion does not plan.
static PARSER: LazyLock<PostgresCompatibilityParser> = LazyLock::new(PostgresCompatibilityParser::new);

/// Functions that tell of the server, and need no table.
const FUNCTIONS: [&str; 16] = [
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
];

/// A statement that reads the catalogue and nothing else.
pub(super) fn statement(text: &str, tokens: &[Token]) -> Option<Statement> {
    let is_of_catalog = |token: &Token| match token {
        Token::Word(word) => {
            let name = word.value.to_lowercase();
            name.starts_with("pg_") || FUNCTIONS.contains(&name.as_str())
        }
        _ => false,
    };
    if !tokens.iter().any(is_of_catalog) {
        return None;
    }
    let mut statements = PARSER.parse(text).ok()?;
    if let Some(first) = statements.first_mut() {
        without_arrays_of_queries(first);
    }
    let [statement @ Statement::Query(_)] = statements.as_slice() else {
        return None;
    };
    let is_other = visit_relations(statement, |name| {
        let first = name
            .0
            .first()
            .map(|part| part.to_string().replace('"', "").to_lowercase())
            .unwrap_or_default();
        let is_known = first.starts_with("pg_") || first == "information_schema" || is_function(&first);
        match is_known || is_common_table(statement, &first) {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        }
    });
    // A function of the catalogue in a statement over tables is left to the session.
    is_other.is_continue().then(|| statement.clone())
}

/// `ARRAY(SELECT …)`, which DataFusion does not plan, is NULL. What clients ask by it are options and rights that no table has here.
fn without_arrays_of_queries(statement: &mut Statement) {
    let _ = visit_expressions_mut(statement, |expression| {
        if let Expr::Function(function) = expression
            && matches!(function.args, FunctionArguments::Subquery(_))
            && function.name.to_string().eq_ignore_ascii_case("array")
        {
            *expression = Expr::Cast {
                kind: CastKind::Cast,
                expr: Box::new(Expr::value(Value::Null)),
                data_type: sqlparser::ast::DataType::Varchar(None),
                array: false,
                format: None,
            };
        }
        ControlFlow::<()>::Continue(())
    });
}

/// Whether a name is that of a WITH clause.
fn is_common_table(statement: &Statement, name: &str) -> bool {
    let Statement::Query(query) = statement else {
        return false;
    };
    let Some(with) = &query.with else { return false };
    with.cte_tables
        .iter()
        .any(|table| table.alias.name.value.eq_ignore_ascii_case(name))
}

/// Whether a name is a function that gives rows.
fn is_function(name: &str) -> bool {
    matches!(name, "generate_series" | "unnest" | "current_schemas")
}

/// The catalogue of a client.
pub(crate) struct Catalog {
    context: SessionContext,
    schemas: Vec<Arc<ServedSchema>>,
    refreshed: Mutex<Option<Instant>>,
}

/// How long what was found in the folders counts as what is there.
const FRESH: Duration = Duration::from_secs(1);

impl Catalog {
    pub(super) fn new(names: &[String], user: &str) -> Result<Self, DataFusionError> {
        let config = SessionConfig::new()
            .with_default_catalog_and_schema(DATABASE, crate::stores::PUBLIC)
            .with_information_schema(true)
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
        context.register_catalog(DATABASE, catalog);
        setup_pg_catalog(&context, DATABASE, EmptyContextProvider).map_err(|error| *error)?;
        for function in functions(user) {
            context.register_udf(function);
        }
        Ok(Self {
            context,
            schemas,
            refreshed: Mutex::default(),
        })
    }

    /// Looks which tables there are, where that was not just done.
    pub(super) async fn refresh(&self, session: &Session) -> tidemill_sql::Result<()> {
        let last = *self.refreshed.lock().unwrap_or_else(PoisonError::into_inner);
        if last.is_some_and(|last| last.elapsed() < FRESH) {
            return Ok(());
        }
        let tables = tables_of(session).await?;
        for schema in &self.schemas {
            let mut found = Vec::new();
            for table in tables.iter().filter(|table| table.schema == schema.name) {
                // A table that cannot be opened is not described; a statement over it says why.
                if let Ok(columns) = session.schema(&table.location).await {
                    found.push((table.name.clone(), columns));
                }
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

    /// The types of parameters: those that are told, and those that the plan says.
    pub(super) async fn types(&self, statement: &Statement, told: Vec<Option<Type>>) -> Result<Vec<Type>, PgWireError> {
        let said = match told.iter().all(Option::is_some) {
            true => Default::default(),
            false => self
                .plan(statement)
                .await?
                .get_parameter_types()
                .map_err(failure::of_catalog)?,
        };
        let types = told.into_iter().enumerate().map(|(place, told)| {
            let said = said.get(&format!("${}", place + 1)).cloned().flatten();
            let said = said.and_then(|said| column_type(&arrow_schema::Field::new("", said, true)).ok());
            told.or(said).unwrap_or(Type::Text)
        });
        Ok(types.collect())
    }

    /// The rows of a query.
    pub(super) async fn query(
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
        frame.execute_stream().await.map_err(failure::of_catalog)
    }
}

/// A schema whose tables are described, and not read.
#[derive(Debug)]
struct ServedSchema {
    name: String,
    tables: Mutex<Vec<(String, SchemaRef)>>,
}

impl ServedSchema {
    fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            tables: Mutex::default(),
        }
    }

    fn put(&self, tables: Vec<(String, SchemaRef)>) {
        *self.tables.lock().unwrap_or_else(PoisonError::into_inner) = tables;
    }

    fn find(&self, name: &str) -> Option<SchemaRef> {
        let tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        let found = tables.iter().find(|(known, _)| known == name);
        found.map(|(_, schema)| Arc::clone(schema))
    }
}

#[async_trait]
impl SchemaProvider for ServedSchema {
    fn table_names(&self) -> Vec<String> {
        let tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        tables.iter().map(|(name, _)| name.clone()).collect()
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

/// Functions that clients call and the catalogue does not have.
fn functions(user: &str) -> Vec<ScalarUDF> {
    let version = format!("PostgreSQL {VERSION}");
    let text = |value: Option<&str>| ScalarValue::Utf8(value.map(str::to_owned));
    let number = DataType::Int32;
    vec![
        constant("version", vec![], text(Some(&version))),
        constant("current_user", vec![], text(Some(user))),
        constant("to_regtype", vec![DataType::Utf8], ScalarValue::Int32(None)),
        constant(
            "pg_function_is_visible",
            vec![number.clone()],
            ScalarValue::Boolean(Some(true)),
        ),
        constant(
            "pg_type_is_visible",
            vec![number.clone()],
            ScalarValue::Boolean(Some(true)),
        ),
        constant("pg_is_in_recovery", vec![], ScalarValue::Boolean(Some(false))),
        constant("obj_description", vec![number.clone(), DataType::Utf8], text(None)),
        constant("col_description", vec![number.clone(), number.clone()], text(None)),
        constant("shobj_description", vec![number.clone(), DataType::Utf8], text(None)),
        constant("pg_get_viewdef", vec![number.clone(), DataType::Boolean], text(None)),
        constant(
            "pg_get_indexdef",
            vec![number.clone(), number.clone(), DataType::Boolean],
            text(None),
        ),
        constant(
            "pg_get_serial_sequence",
            vec![DataType::Utf8, DataType::Utf8],
            text(None),
        ),
        constant("pg_size_pretty", vec![DataType::Int64], text(Some("0 bytes"))),
    ]
}

/// A function that has the same value whatever its arguments.
fn constant(name: &str, arguments: Vec<DataType>, value: ScalarValue) -> ScalarUDF {
    let (typ, value) = (value.data_type(), ColumnarValue::Scalar(value));
    create_udf(
        name,
        arguments,
        typ,
        Volatility::Stable,
        Arc::new(move |_: &[ColumnarValue]| Ok(value.clone())),
    )
}

#[cfg(test)]
mod tests {
    use super::super::command::{Command, parse};
    use super::*;
    use sqlparser::ast::visit_expressions;

    /// Whether a statement has a parameter.
    fn has_parameter(statement: &Statement) -> bool {
        let mut has = false;
        let _ = visit_expressions(statement, |expression| {
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
    async fn the_catalogue_answers() {
        let catalog = Catalog::new(&["public".to_owned(), "shop".to_owned()], "ann").expect("a catalogue");
        let schema = arrow_schema::Schema::new(vec![arrow_schema::Field::new("CITY", DataType::Utf8, true)]);
        let [public, _] = catalog.schemas.as_slice() else {
            panic!("two schemas")
        };
        public.put(vec![("customers".to_owned(), Arc::new(schema))]);
        let values = RecordBatch::new_empty(Arc::new(arrow_schema::Schema::empty()));
        for (text, rows) in [
            ("SELECT version(), current_database(), current_user", 1),
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
