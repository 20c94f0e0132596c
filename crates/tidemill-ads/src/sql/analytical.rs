//! Queries for an engine that joins: their text, and the tables that they name, as the connection sees them.
//!
//! The direct lanes hand over what they do not do: joins, subqueries, windows. The engine gets the text of the query, with the
//! values of its parameters in it, and reads the tables through [`TableSource`]: the columns that it needs, of the records that a
//! condition picks. So it sees what this connection has not yet committed, and indexes answer conditions as they do in the direct
//! lanes.

mod case;
mod engine_rows;
mod procedures;
mod words;

use std::collections::HashMap;
use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, DataType, Field as ArrowField, Fields, Schema, SchemaRef};
use sqlparser::ast::{self, Query as SqlQuery, Spanned as _};
use sqlparser::tokenizer::Location;
use tidemill_xbase::{AdtType, Table};

use super::answer::{Answer, Rows};
use super::bind::{Parameters, Scope};
use super::error::{Error, Kind, Result};
use super::evaluate::{Session, evaluate_alone};
use super::expression::{Blank, Column, Expr};
use super::frames;
use super::functions::find_variable;
use super::parser::{parse, parse_expression};
use super::prepared::{Facts, Prepared};
use super::select::{
    Compiled, Item, Plan, Query, Source, Top, columns_of, columns_of_system, procedure_shape, system_rows, table_name,
};
use super::statement::{Select, Statement, StatementKind, TableName};
use super::stream::RowStream;
use super::tables::{Snapshot, Tables};
use super::value::{EMPTY_DATE, EMPTY_TIMESTAMP, Value, date_text, decimal_text, time_text, timestamp_text};
use super::views;
use super::walk;
use words::Words;

/// An engine for what the direct lanes cannot do.
pub trait Analytical: fmt::Debug + Send + Sync {
    /// Runs a query.
    ///
    /// # Errors
    /// What the engine says.
    fn run(&self, query: Arc<AnalyticalQuery>) -> Result<Rows>;

    /// Whether the engine also evaluates functions and expressions that ADS SQL does not have, such as `GREATEST(a, b)` and
    /// `day + INTERVAL '1' MONTH`. Programs written for ADS expect the error of ADS. Default: no.
    fn has_other_expressions(&self) -> bool {
        false
    }
}

/// Tables that are lent for one query. Names are those that the query gives them, to the letter.
pub trait TableSource: Send + Sync {
    /// The columns of a table. The metadata of the schema says under [`RECORD_COUNT`] how many records there are, and that of a
    /// field under [`BLANK_IS_NULL`] that it cannot hold NULL: the blank that it holds instead comes as NULL.
    ///
    /// # Errors
    /// [`Kind::NoTable`] for a table that the query does not name.
    fn schema(&self, table: &str) -> Result<SchemaRef>;

    /// Reads a table.
    ///
    /// # Errors
    /// As [`TableSource::schema`], and what the condition or the table is found to be.
    fn scan(&self, scan: &TableScan) -> Result<Box<dyn RecordBatchReader + Send>>;

    /// Whether the program does not want the answer any more. Asked in the thread that runs the query. Default: it does.
    fn is_cancelled(&self) -> bool {
        false
    }
}

/// The key of a schema's metadata under which the number of records stands, in digits.
pub const RECORD_COUNT: &str = "ads.records";
/// The key of the metadata of a field that cannot hold NULL: `1` where `IS NULL` takes its blank for NULL, `0` in tables of Visual
/// FoxPro, where a blank is a value like others.
pub const BLANK_IS_NULL: &str = "ads.blank";

/// The column of the records' ROWIDs, behind the others, where a query asks for it.
pub(super) const RECORD_NUMBER: &str = "ROWID";

/// What is read of a table.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TableScan {
    /// The table, as the query names it.
    pub table: String,
    /// Its columns by their places in the schema, in the order in which they come.
    pub columns: Vec<usize>,
    /// A condition of ADS SQL over the table's columns, whose names stand in double quotes.
    pub filter: Option<String>,
    /// At most so many rows, of those that fulfil the condition.
    pub limit: Option<usize>,
}

/// Binds for the direct lanes, or where these leave it to an engine and the connection has one, for the engine.
///
/// # Errors
/// As `direct` and `engine`.
pub(super) fn direct_or_engine<T>(
    tables: &mut dyn Tables,
    parameters: &mut Parameters,
    direct: impl FnOnce(&mut dyn Tables, &mut Parameters) -> Result<T>,
    engine: impl FnOnce(&mut dyn Tables, &mut Parameters) -> Result<T>,
) -> Result<T> {
    let known = parameters.names.len();
    match direct(tables, parameters) {
        Err(error) if is_for_engine(error.kind(), tables) => {
            parameters.names.truncate(known);
            engine(tables, parameters)
        }
        bound => bound,
    }
}

/// Whether the connection's engine may do what the direct lanes refuse.
fn is_for_engine(why: &Kind, tables: &mut dyn Tables) -> bool {
    tables.analytical().is_some_and(|engine| match why {
        Kind::NeedsAnalytical => true,
        Kind::NoFunction | Kind::NoExpression => engine.has_other_expressions(),
        _ => false,
    })
}

/// A query whose parameters are still open.
#[derive(Debug)]
pub(super) struct Template {
    query: Box<SqlQuery>,
    relations: Vec<TableName>,
    /// Whether it asks for the numbers of records.
    has_numbers: bool,
}

impl Template {
    /// Takes a query whose tables are there. What stands for a value becomes a placeholder with its number.
    ///
    /// # Errors
    /// [`Kind::NoTable`].
    pub(super) fn bind(select: &Select, tables: &mut dyn Tables, parameters: &mut Parameters) -> Result<Self> {
        let mut query = select.query.clone();
        if let ast::SetExpr::Select(only) = &mut *query.body {
            // Where the rows go is not the engine's affair.
            only.into = None;
        }
        if let Some(row) = select.start_at {
            start_at(&mut query, row)?;
        }
        let Names {
            relations,
            procedures,
            qualifiers,
            ..
        } = Names::of(&query);
        let mut columns = Vec::new();
        for procedure in &procedures {
            let shape = procedure_shape(procedure, tables)?;
            columns.extend(shape.columns.into_iter().map(|column| column.name));
        }
        for relation in &relations {
            if relation.system().is_none() && tables.view(relation)?.is_none() {
                let snapshot = tables
                    .snapshot(relation)
                    .map_err(|error| error.at(relation.location.0))?;
                columns.extend(snapshot.table().fields().iter().map(|field| field.name.clone()));
            }
        }
        let mut binder = Binder {
            columns,
            qualifiers,
            parameters,
            has_numbers: false,
        };
        let _ = walk::change(&mut query, &mut binder);
        Ok(Self {
            has_numbers: binder.has_numbers,
            query,
            relations,
        })
    }

    /// What the connection's engine answers.
    ///
    /// # Errors
    /// [`Kind::NeedsAnalytical`] when it has none; what the engine says, and as [`Tables::snapshot`].
    pub(super) fn rows(&self, tables: &mut dyn Tables, session: &Session<'_>) -> Result<Rows> {
        let engine = tables.analytical().ok_or_else(|| {
            let why = "This connection has no analytical engine";
            Error::new(Kind::NeedsAnalytical, why)
        })?;
        let query = Arc::new(self.query(tables, session)?);
        engine.run(Arc::clone(&query)).map_err(|fault| {
            let written = match fault.line_and_column() {
                // Where what cannot be told more closely is.
                Some((1, 1)) => Some(self.query.span().start),
                Some(place) => self.written_at(query.text(), place),
                None => None,
            };
            fault.moved(written)
        })
    }

    /// What stands at a place of the text that an engine was given, where it was written.
    fn written_at(&self, text: &str, (line, column): (u64, u64)) -> Option<Location> {
        let statements = parse(text).ok()?;
        let [
            Statement {
                kind: StatementKind::Select(given),
                ..
            },
        ] = statements.as_slice()
        else {
            return None;
        };
        let (given, written) = (Words::of(&given.query), Words::of(&self.query));
        if given.len() != written.len() {
            return None;
        }
        let place = Location::new(line, column);
        let behind = given.into_iter().zip(written).filter(|(given, _)| *given >= place);
        behind.min().map(|(_, written)| written)
    }

    /// The query with the values of its parameters.
    ///
    /// # Errors
    /// [`Kind::Value`] for a number that has no digits; as [`Tables::snapshot`].
    fn query(&self, tables: &mut dyn Tables, session: &Session<'_>) -> Result<AnalyticalQuery> {
        let mut query = self.query.clone();
        let mut filler = Filler(session);
        walk::change(&mut query, &mut filler)?;
        let given = procedures::run(&mut query, &self.relations, tables, session)?;
        let given = given.into_iter().map(|(name, rows)| Ok((name, Lent::Rows(rows))));
        let lent = self.relations.iter();
        let lent = lent.map(|name| Ok((name, Lent::of(name, self.has_numbers, tables)?)));
        let lent = lent.collect::<Result<Vec<_>>>()?;
        if lent.iter().any(|(name, lent)| lent.may_ignore_case(name)) {
            case::write_out(
                &mut query,
                lent.iter().map(|(name, lent)| (*name, lent.columns_of(name))),
            );
        }
        let lent = lent.into_iter().map(|(name, lent)| Ok((name.to_string(), lent)));
        Ok(AnalyticalQuery {
            text: query.to_string(),
            tables: lent.chain(given).collect::<Result<_>>()?,
            facts: Facts::of(tables),
            shows_deleted: tables.shows_deleted(),
        })
    }
}

/// A query for an [`Analytical`] engine, and the tables that it names, as they were when it began.
#[derive(Debug)]
pub struct AnalyticalQuery {
    text: String,
    tables: HashMap<String, Lent>,
    facts: Facts,
    shows_deleted: bool,
}

impl AnalyticalQuery {
    /// The query in ADS SQL, without parameters.
    pub fn text(&self) -> &str {
        &self.text
    }

    fn lent(&self, table: &str) -> Result<&Lent> {
        let lent = self.tables.get(table);
        lent.ok_or_else(|| Error::new(Kind::NoTable, format!("The query names no table {table}")))
    }
}

impl TableSource for AnalyticalQuery {
    fn schema(&self, table: &str) -> Result<SchemaRef> {
        Ok(self.lent(table)?.schema())
    }

    fn scan(&self, scan: &TableScan) -> Result<Box<dyn RecordBatchReader + Send>> {
        let lent = self.lent(&scan.table)?;
        let plan = lent.plan(scan)?;
        let rows = match lent {
            Lent::Table { snapshot, .. } => {
                let facts = self.facts.unwatched();
                let prepared = Arc::new(Prepared::of_plan(plan));
                let rows = prepared.records(Arc::clone(snapshot), facts, self.shows_deleted, &[])?;
                rows.kept()
            }
            Lent::Rows(rows) => RowStream::of(plan.over_rows(rows, &self.facts.unwatched().session(&[]))?),
        };
        Ok(Box::new(Reader(rows)))
    }

    fn is_cancelled(&self) -> bool {
        self.facts.is_stopped()
    }
}

/// A table of a query.
#[derive(Debug)]
enum Lent {
    Table {
        snapshot: Arc<Snapshot>,
        /// Whether the numbers of its records are a column.
        has_numbers: bool,
    },
    /// What a view shows, a table of `system`, or what a procedure gave.
    Rows(Rows),
}

impl Lent {
    fn of(name: &TableName, has_numbers: bool, tables: &mut dyn Tables) -> Result<Self> {
        let at = |error: Error| error.at(name.location.0);
        if let Some(system) = name.system() {
            return system_rows(&system, tables).map(Self::Rows).map_err(at);
        }
        let Some(view) = tables.view(name).map_err(at)? else {
            let snapshot = tables.snapshot(name).map_err(at)?;
            return Ok(Self::Table { snapshot, has_numbers });
        };
        tables.lend_rights(true);
        let rows = views::within(name, || {
            let mut parameters = Parameters {
                functions: tables.functions(),
                ..Parameters::default()
            };
            let query = Query::bind_any(&view, tables, &mut parameters)?;
            let facts = Facts::of(tables);
            query.rows(tables, &facts.session(&[])).map(Self::Rows)
        });
        tables.lend_rights(false);
        rows
    }

    fn schema(&self) -> SchemaRef {
        match self {
            Self::Table { snapshot, has_numbers } => {
                let table = snapshot.table();
                let schema = columns_with_blanks(table);
                let number = has_numbers.then(|| Arc::new(ArrowField::new(RECORD_NUMBER, DataType::Utf8, false)));
                let fields: Fields = schema.fields().iter().cloned().chain(number).collect();
                let mut metadata = schema.metadata;
                metadata.insert(RECORD_COUNT.to_owned(), table.record_count().to_string());
                Arc::new(Schema::new_with_metadata(fields, metadata))
            }
            Self::Rows(rows) => {
                let columns = columns_of(rows).into_iter();
                let fields = columns.map(|column| ArrowField::new(column.name, column.type_of.data_type(), true));
                Arc::new(Schema::new(fields.collect::<Vec<_>>()))
            }
        }
    }

    fn columns(&self) -> Vec<Column> {
        match self {
            Self::Table { snapshot, .. } => frames::columns(snapshot),
            Self::Rows(rows) => columns_of(rows),
        }
    }

    /// Whether a column of the table may ignore case: asked for each run of a query.
    fn may_ignore_case(&self, name: &TableName) -> bool {
        match self {
            Self::Table { snapshot, .. } => {
                let mut fields = snapshot.table().fields().iter();
                fields.any(|field| field.adt_type == Some(AdtType::CiCharacter))
            }
            Self::Rows(_) => name.system().is_some(),
        }
    }

    /// The columns under the name of a table, which says more of those of `system`.
    fn columns_of(&self, name: &TableName) -> Vec<Column> {
        let mut columns = self.columns();
        if name.system().is_some() {
            columns_of_system(&mut columns);
        }
        columns
    }

    /// The plan of a scan.
    fn plan(&self, scan: &TableScan) -> Result<Plan> {
        let columns = self.columns();
        let items = scan.columns.iter().map(|place| match columns.get(*place) {
            Some(column) => Ok(Item {
                name: column.name.clone(),
                expr: Expr::Column(*place),
                field: Some(*place),
            }),
            None if *place == columns.len() && matches!(self, Self::Table { has_numbers: true, .. }) => Ok(Item {
                name: RECORD_NUMBER.to_owned(),
                expr: Expr::RowId,
                field: None,
            }),
            None => {
                let why = format!("{} has {} columns, and no column {place}", scan.table, columns.len());
                Err(Error::new(Kind::NoColumn, why))
            }
        });
        let items = items.collect::<Result<Vec<_>>>()?;
        let selection = scan.filter.as_deref().map(|filter| {
            let mut parameters = Parameters::default();
            let mut scope = Scope::new(&columns, Vec::new(), &mut parameters);
            let bound = scope.bind(&parse_expression(filter)?)?;
            scope.condition(bound)
        });
        let limit = scan
            .limit
            .map(|limit| Value::Integer(i64::try_from(limit).unwrap_or(i64::MAX)));
        Ok(Plan {
            source: match self {
                Self::Table { snapshot, .. } => Source::Table(TableName::new(&scan.table), snapshot.structure()),
                Self::Rows(_) => Source::System(scan.table.clone()),
            },
            selection: selection.transpose()?,
            columns,
            items,
            grouping: None,
            having: None,
            is_distinct: false,
            order: Vec::new(),
            top: limit.map(|limit| Top::Rows(Expr::Value(limit))),
            offset: None,
            is_static: true,
            compiled: Compiled::default(),
            live_columns: None,
            point: None,
        })
    }
}

/// The columns of a table in statements: with [`BLANK_IS_NULL`] where a field cannot hold NULL.
pub fn columns_with_blanks(table: &Table) -> Schema {
    let (schema, fields) = (table.schema(), table.fields());
    let columns = schema.fields().iter().zip(fields).map(|(column, field)| {
        let mut column = column.as_ref().clone();
        let blank = match Blank::of(field, table) {
            Blank::Apart => None,
            Blank::Null => Some("1"),
            Blank::Value => Some("0"),
        };
        if let Some(blank) = blank {
            column.metadata_mut().insert(BLANK_IS_NULL.to_owned(), blank.to_owned());
        }
        column
    });
    Schema::new_with_metadata(columns.collect::<Vec<_>>(), schema.metadata().clone())
}

/// The rows of a scan, as other libraries read them.
struct Reader(RowStream);

impl Iterator for Reader {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = self.0.next()?;
        Some(batch.map_err(|error| ArrowError::ExternalError(Box::new(error))))
    }
}

impl RecordBatchReader for Reader {
    fn schema(&self) -> SchemaRef {
        Arc::clone(self.0.schema())
    }
}

#[derive(Default)]
struct Names {
    /// The tables that a query names, each once; what names one of its WITH queries is none.
    relations: Vec<TableName>,
    /// The procedures that it takes for tables.
    procedures: Vec<TableName>,
    /// Whether the next name is that of a procedure.
    is_procedure: bool,
    /// All that may stand before a column of the query.
    qualifiers: Vec<String>,
    /// The queries that are being looked at, one within another.
    open: Vec<WithQueries>,
}

impl Names {
    fn of(query: &SqlQuery) -> Self {
        let mut names = Self::default();
        let _ = walk::look_at(query, &mut names);
        let tables = names.relations.iter().chain(&names.procedures);
        names.qualifiers.extend(tables.map(|name| name.last().to_owned()));
        names
    }
}

/// The WITH queries of a query, of which so many have been looked at: these alone can be named by what follows. A query is not
/// among them while it is looked at, so that `WITH c AS (SELECT … FROM c)` reads the table `c`; a recursive one is.
struct WithQueries {
    names: Vec<String>,
    known: usize,
    are_recursive: bool,
}

impl WithQueries {
    fn has(&self, name: &str) -> bool {
        let known = if self.are_recursive {
            self.names.len()
        } else {
            self.known
        };
        self.names
            .iter()
            .take(known)
            .any(|known| known.eq_ignore_ascii_case(name))
    }
}

impl ast::Visitor for Names {
    type Break = Error;

    fn pre_visit_query(&mut self, query: &SqlQuery) -> ControlFlow<Error> {
        let with = query.with.as_ref();
        let names = with.iter().flat_map(|with| &with.cte_tables);
        let names: Vec<String> = names.map(|with| with.alias.name.value.clone()).collect();
        self.qualifiers.extend(names.iter().cloned());
        self.open.push(WithQueries {
            names,
            known: 0,
            are_recursive: with.is_some_and(|with| with.recursive),
        });
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &SqlQuery) -> ControlFlow<Error> {
        self.open.pop();
        // WITH queries come before all else of the query that they belong to.
        if let Some(around) = self.open.last_mut() {
            around.known = (around.known + 1).min(around.names.len());
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &ast::TableFactor) -> ControlFlow<Error> {
        if let ast::TableFactor::Table { alias: Some(alias), .. }
        | ast::TableFactor::Derived { alias: Some(alias), .. } = factor
        {
            self.qualifiers.push(alias.name.value.clone());
        }
        self.is_procedure = matches!(factor, ast::TableFactor::Table { args: Some(_), .. });
        ControlFlow::Continue(())
    }

    fn pre_visit_relation(&mut self, relation: &ast::ObjectName) -> ControlFlow<Error> {
        let name = table_name(relation);
        if std::mem::take(&mut self.is_procedure) {
            self.procedures.push(name);
            return ControlFlow::Continue(());
        }
        let is_with = name.parts.len() == 1 && self.open.iter().any(|open| open.has(name.last()));
        if !is_with && !self.relations.contains(&name) {
            self.relations.push(name);
        }
        ControlFlow::Continue(())
    }
}

/// Makes placeholders of what stands for a value, and writes names in double quotes.
struct Binder<'p> {
    /// Of all tables of the query: a variable of a script does not hide them.
    columns: Vec<String>,
    /// The names that its tables have in the query: what they qualify is no variable.
    qualifiers: Vec<String>,
    parameters: &'p mut Parameters,
    /// Whether the number of a record was met.
    has_numbers: bool,
}

impl Binder<'_> {
    fn variable(&mut self, parts: &[ast::Ident]) -> Option<usize> {
        let (column, qualifier) = parts.split_last()?;
        let column = &column.value;
        let is_known = |known: &[String], name: &str| known.iter().any(|known| known.eq_ignore_ascii_case(name));
        let is_column = is_known(&self.columns, column)
            && qualifier
                .last()
                .is_none_or(|qualifier| is_known(&self.qualifiers, &qualifier.value));
        self.has_numbers |= !is_column && column.eq_ignore_ascii_case(RECORD_NUMBER);
        match is_column {
            true => None,
            false => {
                let parts: Vec<&str> = parts.iter().map(|part| part.value.as_str()).collect();
                self.parameters.variable(&parts.join("."))
            }
        }
    }
}

impl ast::VisitorMut for Binder<'_> {
    type Break = Error;

    fn pre_visit_relation(&mut self, relation: &mut ast::ObjectName) -> ControlFlow<Error> {
        for part in &mut relation.0 {
            if let ast::ObjectNamePart::Identifier(name) = part {
                in_quotes(name);
            }
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &mut ast::Expr) -> ControlFlow<Error> {
        let number = match expr {
            ast::Expr::Value(value) => match &value.value {
                ast::Value::Placeholder(name) => {
                    let name = name.strip_prefix(':').unwrap_or(name).trim_matches('"');
                    Some(self.parameters.named(name))
                }
                _ => None,
            },
            ast::Expr::Identifier(name) => {
                let number = self.variable(std::slice::from_ref(name));
                in_quotes(name);
                number
            }
            ast::Expr::CompoundIdentifier(parts) => {
                let number = self.variable(parts);
                parts.iter_mut().for_each(in_quotes);
                number
            }
            _ => None,
        };
        if let Some(number) = number {
            let placeholder = ast::Value::Placeholder(number.to_string());
            *expr = ast::Expr::Value(placeholder.with_span(expr.span()));
        }
        ControlFlow::Continue(())
    }
}

/// The parser's own text of a name in brackets does not double a bracket within.
fn in_quotes(name: &mut ast::Ident) {
    if name.quote_style == Some('[') {
        name.quote_style = Some('"');
    }
}

/// Puts values in the places of parameters and system variables.
struct Filler<'v>(&'v Session<'v>);

impl Filler<'_> {
    /// The value of what stands for one.
    fn value(&self, expr: &ast::Expr) -> Result<Option<Value>> {
        match expr {
            ast::Expr::Identifier(name) if name.value.starts_with("::") => {
                let variable = find_variable(&name.value).map(|variable| Expr::Call(variable, Vec::new()));
                variable.map(|variable| evaluate_alone(&variable, self.0)).transpose()
            }
            ast::Expr::Value(ast::ValueWithSpan {
                value: ast::Value::Placeholder(number),
                ..
            }) => {
                let place = number.parse::<usize>().ok();
                let value = place.and_then(|place| self.0.parameters.get(place));
                let missing = || Error::new(Kind::Parameter, "A parameter has no value");
                value.ok_or_else(missing).cloned().map(Some)
            }
            _ => Ok(None),
        }
    }
}

impl ast::VisitorMut for Filler<'_> {
    type Break = Error;

    fn pre_visit_expr(&mut self, expr: &mut ast::Expr) -> ControlFlow<Error> {
        let value = match self.value(expr) {
            Ok(Some(value)) => value,
            Ok(None) => return ControlFlow::Continue(()),
            Err(error) => return ControlFlow::Break(error),
        };
        match value.to_literal() {
            Ok(literal) => {
                *expr = literal;
                ControlFlow::Continue(())
            }
            Err(error) => ControlFlow::Break(error),
        }
    }
}

impl Value {
    /// As it is written in a statement. A blank day or moment is NULL.
    ///
    /// # Errors
    /// [`Kind::Value`] for a double that has no digits.
    pub fn to_literal(&self) -> Result<ast::Expr> {
        let number = |digits: String| match digits.strip_prefix('-') {
            Some(digits) => ast::Expr::UnaryOp {
                op: ast::UnaryOperator::Minus,
                expr: Box::new(ast::Expr::value(ast::Value::Number(digits.to_owned(), false))),
            },
            None => ast::Expr::value(ast::Value::Number(digits, false)),
        };
        let typed = |data_type, text| {
            ast::Expr::TypedString(ast::TypedString {
                data_type,
                value: ast::Value::SingleQuotedString(text).into(),
                uses_odbc_syntax: true,
            })
        };
        let zone = ast::TimezoneInfo::None;
        Ok(match self {
            Value::Null => ast::Expr::value(ast::Value::Null),
            Value::Date(days) if *days == EMPTY_DATE => ast::Expr::value(ast::Value::Null),
            Value::Timestamp(ms) if *ms == EMPTY_TIMESTAMP => ast::Expr::value(ast::Value::Null),
            Value::Text(text) => ast::Expr::value(ast::Value::SingleQuotedString(text.clone())),
            Value::Integer(whole) => number(whole.to_string()),
            Value::Decimal { unscaled, scale } => number(decimal_text(*unscaled, *scale)),
            Value::Double(double) if double.is_finite() => number(format!("{double:e}")),
            Value::Double(double) => {
                let why = format!("{double} cannot be written in a statement");
                return Err(Error::new(Kind::Value, why));
            }
            Value::Logical(value) => ast::Expr::value(ast::Value::Boolean(*value)),
            Value::Date(days) => typed(ast::DataType::Date, date_text(*days)),
            Value::Time(ms) => typed(ast::DataType::Time(None, zone), time_text(i64::from(*ms))),
            Value::Timestamp(ms) => typed(ast::DataType::Timestamp(None, zone), timestamp_text(*ms)),
            Value::Bytes(bytes) => {
                let digits = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
                ast::Expr::value(ast::Value::HexStringLiteral(digits))
            }
        })
    }
}

/// `START AT row` as the OFFSET that it is.
fn start_at(query: &mut SqlQuery, row: u64) -> Result<()> {
    let offset = ast::Offset {
        value: ast::Expr::value(ast::Value::Number(row.saturating_sub(1).to_string(), false)),
        rows: ast::OffsetRows::None,
    };
    match &mut query.limit_clause {
        limits @ None => {
            *limits = Some(ast::LimitClause::LimitOffset {
                limit: None,
                offset: Some(offset),
                limit_by: Vec::new(),
            });
            Ok(())
        }
        Some(_) => Err(Error::new(
            Kind::Unsupported,
            "START AT together with LIMIT is not ADS SQL",
        )),
    }
}
