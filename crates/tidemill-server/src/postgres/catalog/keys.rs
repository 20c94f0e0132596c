//! Keys and indexes of the served tables, and the precision of decimals, in the tables of the catalogue that show them.
//!
//! An index has the name that PostgreSQL would give it: `orders_cust_no_idx`, `orders_pkey`. Columns and functions are as PostgreSQL's
//! [documentation][docs] describes them.
//!
//! [docs]: https://www.postgresql.org/docs/15/catalog-pg-index.html

mod constraints;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::builder::{Int16Builder, Int32Builder, ListBuilder};
use arrow_array::cast::AsArray as _;
use arrow_array::types::{Int16Type, Int32Type};
use arrow_array::{
    Array as _, ArrayRef, BooleanArray, Int16Array, Int32Array, RecordBatch, StringArray, new_null_array,
};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use async_trait::async_trait;
use datafusion::arrow::compute::concat_batches;
use datafusion::catalog::{MemTable, Session, TableProvider};
use datafusion::common::{DataFusionError, ScalarValue};
use datafusion::logical_expr::{Expr, ScalarUDF, Signature, TableType, TypeSignature, Volatility};
use datafusion::physical_plan::{ExecutionPlan, collect};
use tidemill_postgres::arrow_type::column_type;
use tidemill_sql::SourceKeys;

pub(super) use self::constraints::ServedForeignKey;
use self::constraints::{constraints, find_foreign_key, related};
use super::super::functions::{of_texts, quote_name};
use super::super::rows::{INT2_VECTOR, OID, OID_VECTOR, SPECIAL};
use super::ServedSchema;

/// The OID of the first index. Those of tables begin at 16384.
const FIRST_INDEX: i32 = 1 << 30;

/// The OID of a constraint is that of its index plus this.
const TO_CONSTRAINT: i32 = 1 << 29;

/// The access method `btree`.
const BTREE: i32 = 403;

/// Columns of the types `int2vector` and `oidvector`, whose subscripts begin at 0.
pub(super) const VECTORS: [&str; 4] = ["indkey", "indoption", "indclass", "indcollation"];

/// A table, as the catalogue describes it.
#[derive(Clone, Debug)]
pub(super) struct ServedTable {
    pub(super) name: String,
    pub(super) columns: SchemaRef,
    pub(super) indexes: Vec<ServedIndex>,
    pub(super) foreign_keys: Vec<ServedForeignKey>,
}

/// An index of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ServedIndex {
    /// Its OID, which stays the same.
    oid: i32,
    name: String,
    /// Its columns, each with its position in the table, from 1.
    columns: Vec<(String, i16)>,
    is_unique: bool,
    is_primary: bool,
}

impl ServedIndex {
    fn column_names(&self) -> String {
        let names = self.columns.iter().map(|(name, _)| quote_name(name));
        names.collect::<Vec<_>>().join(", ")
    }

    fn definition(&self, schema: &str, table: &str) -> String {
        let unique = if self.is_unique { "UNIQUE " } else { "" };
        format!(
            "CREATE {unique}INDEX {} ON {}.{} USING btree ({})",
            quote_name(&self.name),
            quote_name(schema),
            quote_name(table),
            self.column_names()
        )
    }
}

/// The OIDs of indexes, by their schemas and names. An index keeps its OID.
#[derive(Debug, Default)]
pub(super) struct IndexNumbers(Mutex<HashMap<(String, String), i32>>);

impl IndexNumbers {
    /// The indexes of a table, from its keys.
    pub(super) fn indexes(
        &self,
        schema: &str,
        table: &str,
        columns: &SchemaRef,
        keys: &SourceKeys,
    ) -> Vec<ServedIndex> {
        let primary = (!keys.primary_key.is_empty()).then_some((&keys.primary_key, true, true));
        let others = keys
            .indexes
            .iter()
            .map(|index| (&index.columns, index.is_unique, false));
        let mut found: Vec<ServedIndex> = Vec::new();
        for (names, is_unique, is_primary) in primary.into_iter().chain(others) {
            let Some(places) = places_of(names, columns) else {
                continue;
            };
            let stem = match is_primary {
                true => format!("{table}_pkey"),
                false => {
                    let names: Vec<String> = places.iter().map(|(name, _)| name.to_lowercase()).collect();
                    format!("{table}_{}_idx", names.join("_"))
                }
            };
            let is_free = |name: &str| !found.iter().any(|index| index.name == name);
            let name = match is_free(&stem) {
                true => Some(stem),
                false => (1..).map(|more| format!("{stem}{more}")).find(|name| is_free(name)),
            };
            let Some(name) = name else { continue };
            found.push(ServedIndex {
                oid: self.number(schema, &name),
                name,
                columns: places,
                is_unique,
                is_primary,
            });
        }
        found
    }

    fn number(&self, schema: &str, name: &str) -> i32 {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let next = FIRST_INDEX + i32::try_from(known.len()).unwrap_or_default();
        *known.entry((schema.to_owned(), name.to_owned())).or_insert(next)
    }
}

/// Columns of a table with their positions in it, from 1.
fn places_of(names: &[String], columns: &SchemaRef) -> Option<Vec<(String, i16)>> {
    let places = names.iter().map(|name| {
        let mut fields = columns.fields().iter();
        let place = fields.position(|field| field.name().eq_ignore_ascii_case(name))?;
        Some((columns.field(place).name().clone(), i16::try_from(place + 1).ok()?))
    });
    places.collect()
}

/// A table of the catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Described {
    Classes,
    Attributes,
    Indexes,
    Constraints,
    IndexNames,
}

impl Described {
    pub(super) fn of(name: &str) -> Option<Self> {
        match name {
            "pg_class" => Some(Self::Classes),
            "pg_attribute" => Some(Self::Attributes),
            "pg_index" => Some(Self::Indexes),
            "pg_constraint" => Some(Self::Constraints),
            "pg_indexes" => Some(Self::IndexNames),
            _ => None,
        }
    }
}

/// A table of the catalogue, extended for the served tables.
#[derive(Debug)]
pub(super) struct WithKeys {
    described: Described,
    schema: SchemaRef,
    /// datafusion-pg-catalog's table of that name, if its rows are included.
    inner: Option<Arc<dyn TableProvider>>,
    classes: Arc<dyn TableProvider>,
    namespaces: Arc<dyn TableProvider>,
    served: Vec<Arc<ServedSchema>>,
}

/// A served table, with its OIDs in the catalogue.
struct Numbered {
    oid: i32,
    schema_oid: i32,
    schema: String,
    table: Arc<ServedTable>,
}

impl WithKeys {
    /// `inner` is the table of that name in datafusion-pg-catalog; `classes` and `namespaces` are its `pg_class` and `pg_namespace`.
    pub(super) fn new(
        described: Described,
        inner: Option<Arc<dyn TableProvider>>,
        classes: Arc<dyn TableProvider>,
        namespaces: Arc<dyn TableProvider>,
        served: &[Arc<ServedSchema>],
    ) -> Self {
        let (schema, inner) = match (described, inner) {
            (Described::Classes | Described::Attributes, Some(inner)) => (inner.schema(), Some(inner)),
            _ => (columns_of(described), None),
        };
        Self {
            described,
            schema,
            inner,
            classes,
            namespaces,
            served: served.to_vec(),
        }
    }

    async fn rows(&self, state: &dyn Session) -> Result<RecordBatch, DataFusionError> {
        let known = match &self.inner {
            Some(inner) => read(inner, state).await?,
            None => RecordBatch::new_empty(Arc::clone(&self.schema)),
        };
        let tables = self.tables(state).await?;
        let more = match self.described {
            Described::Classes => {
                let indexed = tables.iter().filter(|table| !table.table.indexes.is_empty());
                let indexed: HashSet<i32> = indexed.map(|table| table.oid).collect();
                let known = marked(known, "relhasindex", &indexed)?;
                // PostgreSQL implements foreign keys as triggers, and psql reads the keys only of tables that have triggers.
                let known = marked(known, "relhastriggers", &related(&tables))?;
                return Ok(concat_batches(
                    &self.schema,
                    [&known, &self.made(&indexes_as_classes(&tables))?],
                )?);
            }
            Described::Attributes => {
                let known = with_digits(&known, &tables)?;
                let more = columns_of_indexes(&known, &tables);
                return Ok(concat_batches(&self.schema, [&known, &self.made(&more)?])?);
            }
            Described::Indexes => indexes(&tables),
            Described::Constraints => constraints(&tables),
            Described::IndexNames => index_names(&tables),
        };
        self.made(&more)
    }

    /// Rows with the given columns; all other columns are 0, false, empty or NULL.
    fn made(&self, columns: &[(&str, ArrayRef)]) -> Result<RecordBatch, DataFusionError> {
        let count = columns.first().map_or(0, |(_, column)| column.len());
        let all =
            self.schema
                .fields()
                .iter()
                .map(|field| match columns.iter().find(|(name, _)| name == field.name()) {
                    Some((_, column)) => Ok(Arc::clone(column)),
                    None if field.is_nullable() => Ok(new_null_array(field.data_type(), count)),
                    None => ScalarValue::new_default(field.data_type())?.to_array_of_size(count),
                });
        let all = all.collect::<Result<Vec<_>, DataFusionError>>()?;
        Ok(RecordBatch::try_new(Arc::clone(&self.schema), all)?)
    }

    /// The served tables.
    async fn tables(&self, state: &dyn Session) -> Result<Vec<Numbered>, DataFusionError> {
        let namespaces = read(&self.namespaces, state).await?;
        let classes = read(&self.classes, state).await?;
        let schemas: HashMap<i32, &str> = numbers(&namespaces, "oid")?
            .iter()
            .copied()
            .zip(texts(&namespaces, "nspname")?)
            .collect();
        let mut served: HashMap<(String, String), Arc<ServedTable>> = HashMap::new();
        for schema in &self.served {
            for table in &*schema.all() {
                served.insert((schema.name.clone(), table.name.clone()), Arc::clone(table));
            }
        }
        let oids = numbers(&classes, "oid")?.iter().zip(numbers(&classes, "relnamespace")?);
        let mut tables = Vec::new();
        for ((oid, schema_oid), name) in oids.zip(texts(&classes, "relname")?) {
            let Some(schema) = schemas.get(schema_oid) else {
                continue;
            };
            if let Some(table) = served.remove(&((*schema).to_owned(), name.to_owned())) {
                tables.push(Numbered {
                    oid: *oid,
                    schema_oid: *schema_oid,
                    schema: (*schema).to_owned(),
                    table,
                });
            }
        }
        Ok(tables)
    }
}

#[async_trait]
impl TableProvider for WithKeys {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::View
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>, DataFusionError> {
        let rows = self.rows(state).await?;
        let table = MemTable::try_new(Arc::clone(&self.schema), vec![vec![rows]])?;
        table.scan(state, projection, filters, limit).await
    }
}

async fn read(table: &Arc<dyn TableProvider>, state: &dyn Session) -> Result<RecordBatch, DataFusionError> {
    let plan = table.scan(state, None, &[], None).await?;
    let batches = collect(plan, state.task_ctx()).await?;
    Ok(concat_batches(&table.schema(), &batches)?)
}

fn column<'a>(batch: &'a RecordBatch, name: &str) -> Result<&'a ArrayRef, DataFusionError> {
    let found = batch.column_by_name(name);
    found.ok_or_else(|| DataFusionError::Internal(format!("a table of the catalogue without {name}")))
}

fn numbers<'a>(batch: &'a RecordBatch, name: &str) -> Result<&'a [i32], DataFusionError> {
    let found = column(batch, name)?.as_primitive_opt::<Int32Type>();
    let found = found.ok_or_else(|| DataFusionError::Internal(format!("{name} is no number")))?;
    Ok(found.values())
}

fn texts<'a>(batch: &'a RecordBatch, name: &str) -> Result<impl Iterator<Item = &'a str>, DataFusionError> {
    let found = column(batch, name)?.as_string_opt::<i32>();
    let found = found.ok_or_else(|| DataFusionError::Internal(format!("{name} is no text")))?;
    Ok(found.iter().map(Option::unwrap_or_default))
}

fn replaced(batch: &RecordBatch, name: &str, column: ArrayRef) -> Result<RecordBatch, DataFusionError> {
    let mut columns = batch.columns().to_vec();
    let place = batch.schema().index_of(name)?;
    if let Some(old) = columns.get_mut(place) {
        *old = column;
    }
    Ok(RecordBatch::try_new(batch.schema(), columns)?)
}

/// Each index, with its table.
fn pairs(tables: &[Numbered]) -> impl Iterator<Item = (&Numbered, &ServedIndex)> + Clone {
    tables
        .iter()
        .flat_map(|table| table.table.indexes.iter().map(move |index| (table, index)))
}

fn of_numbers(values: impl Iterator<Item = i32>) -> ArrayRef {
    Arc::new(Int32Array::from_iter_values(values))
}

fn of_small(values: impl Iterator<Item = i16>) -> ArrayRef {
    Arc::new(Int16Array::from_iter_values(values))
}

fn of_text<T: AsRef<str>>(values: impl Iterator<Item = T>) -> ArrayRef {
    Arc::new(values.map(Some).collect::<StringArray>())
}

fn of_flags(values: impl Iterator<Item = bool>) -> ArrayRef {
    Arc::new(BooleanArray::from(values.collect::<Vec<_>>()))
}

fn of_lists(values: impl Iterator<Item = Vec<i16>>) -> ArrayRef {
    let mut lists = ListBuilder::new(Int16Builder::new());
    for list in values {
        lists.append_value(list.into_iter().map(Some));
    }
    Arc::new(lists.finish())
}

fn of_wide_lists(values: impl Iterator<Item = usize>) -> ArrayRef {
    let mut lists = ListBuilder::new(Int32Builder::new());
    for count in values {
        lists.append_value(std::iter::repeat_n(Some(0), count));
    }
    Arc::new(lists.finish())
}

fn width(index: &ServedIndex) -> i16 {
    i16::try_from(index.columns.len()).unwrap_or(i16::MAX)
}

fn places(index: &ServedIndex) -> Vec<i16> {
    index.columns.iter().map(|(_, place)| *place).collect()
}

fn indexes_as_classes(tables: &[Numbered]) -> Vec<(&'static str, ArrayRef)> {
    let all = pairs(tables);
    vec![
        ("oid", of_numbers(all.clone().map(|(_, index)| index.oid))),
        ("relname", of_text(all.clone().map(|(_, index)| &index.name))),
        (
            "relnamespace",
            of_numbers(all.clone().map(|(table, _)| table.schema_oid)),
        ),
        ("relam", of_numbers(all.clone().map(|_| BTREE))),
        ("relfilenode", of_numbers(all.clone().map(|(_, index)| index.oid))),
        ("relpages", of_numbers(all.clone().map(|_| 1))),
        ("relpersistence", of_text(all.clone().map(|_| "p"))),
        ("relkind", of_text(all.clone().map(|_| "i"))),
        ("relnatts", of_small(all.clone().map(|(_, index)| width(index)))),
        ("relispopulated", of_flags(all.clone().map(|_| true))),
        ("relreplident", of_text(all.map(|_| "n"))),
    ]
}

fn indexes(tables: &[Numbered]) -> Vec<(&'static str, ArrayRef)> {
    let all = pairs(tables);
    vec![
        ("indexrelid", of_numbers(all.clone().map(|(_, index)| index.oid))),
        ("indrelid", of_numbers(all.clone().map(|(table, _)| table.oid))),
        ("indnatts", of_small(all.clone().map(|(_, index)| width(index)))),
        ("indnkeyatts", of_small(all.clone().map(|(_, index)| width(index)))),
        ("indisunique", of_flags(all.clone().map(|(_, index)| index.is_unique))),
        ("indisprimary", of_flags(all.clone().map(|(_, index)| index.is_primary))),
        ("indimmediate", of_flags(all.clone().map(|_| true))),
        ("indisvalid", of_flags(all.clone().map(|_| true))),
        ("indisready", of_flags(all.clone().map(|_| true))),
        ("indislive", of_flags(all.clone().map(|_| true))),
        ("indkey", of_lists(all.clone().map(|(_, index)| places(index)))),
        (
            "indoption",
            of_lists(all.clone().map(|(_, index)| vec![0; index.columns.len()])),
        ),
        (
            "indclass",
            of_wide_lists(all.clone().map(|(_, index)| index.columns.len())),
        ),
        ("indcollation", of_wide_lists(all.map(|(_, index)| index.columns.len()))),
    ]
}

fn index_names(tables: &[Numbered]) -> Vec<(&'static str, ArrayRef)> {
    let all = pairs(tables);
    let definition = |(table, index): (&Numbered, &ServedIndex)| index.definition(&table.schema, &table.table.name);
    vec![
        ("schemaname", of_text(all.clone().map(|(table, _)| &table.schema))),
        ("tablename", of_text(all.clone().map(|(table, _)| &table.table.name))),
        ("indexname", of_text(all.clone().map(|(_, index)| &index.name))),
        ("indexdef", of_text(all.map(definition))),
    ]
}

/// The columns of tables, with the precision and scale of decimals.
fn with_digits(known: &RecordBatch, tables: &[Numbered]) -> Result<RecordBatch, DataFusionError> {
    let tables: HashMap<i32, &ServedTable> = tables.iter().map(|table| (table.oid, &*table.table)).collect();
    let places = column(known, "attnum")?.as_primitive::<Int16Type>().values();
    let of_tables = numbers(known, "attrelid")?.iter().zip(places);
    let modifiers = of_tables.map(|(oid, place)| {
        let place = usize::try_from(*place).ok().and_then(|place| place.checked_sub(1));
        let field = tables
            .get(oid)
            .zip(place)
            .and_then(|(table, place)| table.columns.fields().get(place));
        let typ = field.and_then(|field| column_type(field).ok());
        typ.map_or(-1, |typ| typ.modifier())
    });
    replaced(known, "atttypmod", of_numbers(modifiers))
}

/// The columns of indexes, each a copy of the table's column.
fn columns_of_indexes(known: &RecordBatch, tables: &[Numbered]) -> Vec<(&'static str, ArrayRef)> {
    let mut kinds = HashMap::new();
    if let (Ok(oids), Ok(kind), Ok(places)) = (
        numbers(known, "attrelid"),
        numbers(known, "atttypid"),
        column(known, "attnum"),
    ) {
        let places = places.as_primitive::<Int16Type>().values();
        kinds.extend(
            oids.iter()
                .zip(places)
                .map(|(oid, place)| (*oid, *place))
                .zip(kind.iter().copied()),
        );
    }
    let all = pairs(tables).flat_map(|(table, index)| {
        let columns = (1_i16..).zip(&index.columns);
        columns.map(move |(place, (name, of_table))| (table, index, place, name, *of_table))
    });
    let kind = |oid: i32, place: i16| kinds.get(&(oid, place)).copied().unwrap_or_default();
    vec![
        ("attrelid", of_numbers(all.clone().map(|(_, index, ..)| index.oid))),
        ("attname", of_text(all.clone().map(|(.., name, _)| name))),
        (
            "atttypid",
            of_numbers(all.clone().map(|(table, .., place)| kind(table.oid, place))),
        ),
        ("attstattarget", of_numbers(all.clone().map(|_| -1))),
        ("attnum", of_small(all.clone().map(|(_, _, place, ..)| place))),
        ("attcacheoff", of_numbers(all.clone().map(|_| -1))),
        ("atttypmod", of_numbers(all.clone().map(|_| -1))),
        ("attislocal", of_flags(all.map(|_| true))),
    ]
}

fn columns_of(described: Described) -> SchemaRef {
    let oid = |name: &str| {
        let metadata = HashMap::from([(OID.to_owned(), "oid".to_owned())]);
        Field::new(name, DataType::Int32, true).with_metadata(metadata)
    };
    let text = |name: &str| Field::new(name, DataType::Utf8, true);
    let flag = |name: &str| Field::new(name, DataType::Boolean, false);
    let small = |name: &str| Field::new(name, DataType::Int16, false);
    let list = |name: &str| Field::new_list(name, Field::new_list_field(DataType::Int16, true), true);
    let wide = |name: &str| Field::new_list(name, Field::new_list_field(DataType::Int32, true), true);
    let special =
        |field: Field, kind: &str| field.with_metadata(HashMap::from([(SPECIAL.to_owned(), kind.to_owned())]));
    let fields = match described {
        Described::Constraints => vec![
            oid("oid"),
            text("conname"),
            oid("connamespace"),
            text("contype"),
            flag("condeferrable"),
            flag("condeferred"),
            flag("convalidated"),
            oid("conrelid"),
            oid("contypid"),
            oid("conindid"),
            oid("conparentid"),
            oid("confrelid"),
            text("confupdtype"),
            text("confdeltype"),
            text("confmatchtype"),
            flag("conislocal"),
            small("coninhcount"),
            flag("connoinherit"),
            list("conkey"),
            list("confkey"),
            wide("conpfeqop"),
            wide("conppeqop"),
            wide("conffeqop"),
            list("confdelsetcols"),
            wide("conexclop"),
            text("conbin"),
        ],
        Described::IndexNames => ["schemaname", "tablename", "indexname", "tablespace", "indexdef"]
            .map(text)
            .to_vec(),
        _ => vec![
            oid("indexrelid"),
            oid("indrelid"),
            small("indnatts"),
            small("indnkeyatts"),
            flag("indisunique"),
            flag("indnullsnotdistinct"),
            flag("indisprimary"),
            flag("indisexclusion"),
            flag("indimmediate"),
            flag("indisclustered"),
            flag("indisvalid"),
            flag("indcheckxmin"),
            flag("indisready"),
            flag("indislive"),
            flag("indisreplident"),
            special(list("indkey"), INT2_VECTOR),
            special(wide("indcollation"), OID_VECTOR),
            special(wide("indclass"), OID_VECTOR),
            special(list("indoption"), INT2_VECTOR),
            text("indexprs"),
            text("indpred"),
        ],
    };
    Arc::new(Schema::new(fields))
}

/// `pg_get_indexdef(index[, column, pretty])` and `pg_get_constraintdef(constraint[, pretty])`.
pub(super) fn functions(served: &[Arc<ServedSchema>]) -> Vec<ScalarUDF> {
    let any = || Signature::one_of(vec![TypeSignature::VariadicAny], Volatility::Volatile);
    let (of_index, of_constraint) = (served.to_vec(), served.to_vec());
    vec![
        of_texts("pg_get_indexdef", any(), move |given| {
            let (oid, column) = (number(given, 0), number(given, 1).unwrap_or(0));
            Ok(
                find(&of_index, oid, 0).and_then(|(schema, table, index)| match usize::try_from(column) {
                    Ok(0) | Err(_) => Some(index.definition(&schema, &table)),
                    Ok(column) => index.columns.get(column - 1).map(|(name, _)| quote_name(name)),
                }),
            )
        }),
        of_texts("pg_get_constraintdef", any(), move |given| {
            let found = find(&of_constraint, number(given, 0), TO_CONSTRAINT);
            let found = found.filter(|(_, _, index)| index.is_primary);
            let primary = found.map(|(_, _, index)| format!("PRIMARY KEY ({})", index.column_names()));
            Ok(primary.or_else(|| find_foreign_key(&of_constraint, number(given, 0))))
        }),
    ]
}

fn number(given: &[Option<&str>], place: usize) -> Option<i32> {
    given.get(place).copied().flatten()?.parse().ok()
}

/// The index of an OID, which is `behind` above the index's own, with its schema and table.
fn find(served: &[Arc<ServedSchema>], oid: Option<i32>, behind: i32) -> Option<(String, String, ServedIndex)> {
    let oid = oid?.checked_sub(behind)?;
    served.iter().find_map(|schema| {
        schema.all().iter().find_map(|table| {
            let index = table.indexes.iter().find(|index| index.oid == oid)?;
            Some((schema.name.clone(), table.name.clone(), index.clone()))
        })
    })
}
/// Sets a Boolean column of `pg_class`: true for these tables, false for the others.
fn marked(classes: RecordBatch, column: &str, tables: &HashSet<i32>) -> Result<RecordBatch, DataFusionError> {
    let Some(oids) = classes.column_by_name("oid") else {
        return Ok(classes);
    };
    let oids = oids.as_primitive::<Int32Type>().values();
    let is_one: BooleanArray = oids.iter().map(|oid| Some(tables.contains(oid))).collect();
    replaced(&classes, column, Arc::new(is_one))
}
