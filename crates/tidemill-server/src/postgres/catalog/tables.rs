//! Tables of `pg_catalog` that datafusion-pg-catalog lacks or defines differently.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::{ArrayRef, BooleanArray, Int32Array, ListArray, RecordBatch, StringArray, new_null_array};
use arrow_schema::{DataType, Field, Schema, TimeUnit};
use async_trait::async_trait;
use datafusion::catalog::{MemTable, SchemaProvider, TableProvider};
use datafusion::common::{DataFusionError, TableReference};
use datafusion::datasource::ViewTable;
use datafusion::datasource::empty::EmptyTable;
use datafusion::prelude::SessionContext;

use super::super::rows::{LETTER, OID, SPECIAL};
use super::super::settings::Settings;
use super::ServedSchema;
use super::keys::{Described, WithKeys};

/// `pg_catalog` with more tables.
#[derive(Debug)]
pub(super) struct PgCatalog {
    inner: Arc<dyn SchemaProvider>,
    tables: BTreeMap<&'static str, Arc<dyn TableProvider>>,
    served: Vec<Arc<ServedSchema>>,
    settings: Arc<Mutex<Settings>>,
}

/// The current settings of the connection.
const SETTINGS: &str = "pg_settings";

impl PgCatalog {
    /// The schema of a context in which datafusion-pg-catalog has registered its own schema as `inner`.
    pub(super) async fn new(
        context: &SessionContext,
        inner: Arc<dyn SchemaProvider>,
        user: &str,
        served: &[Arc<ServedSchema>],
        settings: &Arc<Mutex<Settings>>,
    ) -> Result<Self, DataFusionError> {
        let mut tables = BTreeMap::new();
        for (name, columns) in EMPTY {
            tables.insert(*name, without_rows(columns));
        }
        for (name, query) in VIEWS {
            let plan = context.state().create_logical_plan(query).await?;
            let view: Arc<dyn TableProvider> = Arc::new(ViewTable::new(plan, Some((*query).to_owned())));
            tables.insert(*name, view);
        }
        let roles = roles(user)?;
        for (name, of_role) in [
            ("pg_user", &roles.users),
            ("pg_shadow", &roles.users),
            ("pg_roles", &roles.roles),
        ] {
            let table = MemTable::try_new(of_role.schema(), vec![vec![of_role.clone()]])?;
            tables.insert(name, Arc::new(table));
        }
        tables.insert("pg_type", types(context).await?);
        Ok(Self {
            inner,
            tables,
            served: served.to_vec(),
            settings: Arc::clone(settings),
        })
    }

    /// A table of the catalogue about keys or indexes.
    async fn with_keys(
        &self,
        name: &str,
        described: Described,
    ) -> Result<Option<Arc<dyn TableProvider>>, DataFusionError> {
        let inner = self.inner.table(name).await?;
        let (Some(classes), Some(namespaces)) = (
            self.inner.table("pg_class").await?,
            self.inner.table("pg_namespace").await?,
        ) else {
            return Ok(inner);
        };
        let table = WithKeys::new(described, inner, classes, namespaces, &self.served);
        Ok(Some(Arc::new(table)))
    }

    fn settings(&self) -> Result<Arc<dyn TableProvider>, DataFusionError> {
        let settings = self.settings.lock().unwrap_or_else(PoisonError::into_inner);
        let (names, values): (Vec<_>, Vec<_>) = settings
            .all()
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .unzip();
        drop(settings);
        let count = names.len();
        let kinds = values.iter().map(|value| match value.as_str() {
            "on" | "off" => "bool",
            digits if digits.parse::<i64>().is_ok() => "integer",
            _ => "string",
        });
        let kinds: StringArray = kinds.map(Some).collect();
        let same = |text: &str| Arc::new(StringArray::from(vec![text; count])) as ArrayRef;
        let nothing = |data_type: &DataType| new_null_array(data_type, count);
        let text = DataType::Utf8;
        let texts = DataType::new_list(DataType::Utf8, true);
        let values: ArrayRef = Arc::new(StringArray::from(values));
        let batch = RecordBatch::try_from_iter_with_nullable([
            ("name", Arc::new(StringArray::from(names)) as ArrayRef, true),
            ("setting", Arc::clone(&values), true),
            ("unit", nothing(&text), true),
            ("category", same("Connections"), true),
            ("short_desc", nothing(&text), true),
            ("extra_desc", nothing(&text), true),
            ("context", same("user"), true),
            ("vartype", Arc::new(kinds), true),
            ("source", same("default"), true),
            ("min_val", nothing(&text), true),
            ("max_val", nothing(&text), true),
            ("enumvals", nothing(&texts), true),
            ("boot_val", Arc::clone(&values), true),
            ("reset_val", values, true),
            ("sourcefile", nothing(&text), true),
            ("sourceline", nothing(&DataType::Int32), true),
            (
                "pending_restart",
                Arc::new(BooleanArray::from(vec![false; count])),
                true,
            ),
        ])?;
        Ok(Arc::new(MemTable::try_new(batch.schema(), vec![vec![batch]])?))
    }
}

#[async_trait]
impl SchemaProvider for PgCatalog {
    fn table_names(&self) -> Vec<String> {
        let mut names = self.inner.table_names();
        let more = self.tables.keys().map(|name| (*name).to_owned());
        names.extend(more.filter(|name| !self.inner.table_exist(name)));
        names
    }

    async fn table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>, DataFusionError> {
        if let Some(described) = Described::of(name) {
            return self.with_keys(name, described).await;
        }
        match self.tables.get(name) {
            _ if name == SETTINGS => self.settings().map(Some),
            Some(table) => Ok(Some(Arc::clone(table))),
            None => self.inner.table(name).await,
        }
    }

    fn table_exist(&self, name: &str) -> bool {
        Described::of(name).is_some() || self.tables.contains_key(name) || self.inner.table_exist(name)
    }
}

/// Whether a table, or a function that returns its rows, is one of the added tables.
pub(super) fn is_added(name: &str) -> bool {
    let mut names = EMPTY.iter().chain(VIEWS).map(|(name, _)| *name);
    names.any(|added| added == name) || matches!(name, "pg_user" | "pg_shadow" | "pg_indexes")
}

/// Types, with PostgreSQL's columns of type `"char"` marked; asyncpg distinguishes the kinds of types by them.
async fn types(context: &SessionContext) -> Result<Arc<dyn TableProvider>, DataFusionError> {
    let found = context.table(TableReference::partial("pg_catalog", "pg_type")).await?;
    let fields = found.schema().fields().iter().map(|field| {
        let is_letter = matches!(
            field.name().as_str(),
            "typtype" | "typcategory" | "typdelim" | "typalign" | "typstorage"
        );
        let mut metadata = field.metadata().clone();
        if is_letter {
            metadata.insert(SPECIAL.to_owned(), LETTER.to_owned());
        }
        field.as_ref().clone().with_metadata(metadata)
    });
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    let batches = found.collect().await?.into_iter();
    let batches = batches.map(|batch| RecordBatch::try_new(Arc::clone(&schema), batch.columns().to_vec()));
    let batches = batches.collect::<Result<Vec<_>, _>>()?;
    Ok(Arc::new(MemTable::try_new(schema, vec![batches])?))
}

/// An empty table with these columns: names, each with its type unless it is text.
pub(super) fn without_rows(columns: &str) -> Arc<dyn TableProvider> {
    let fields = columns.split(',').map(|column| {
        let (name, kind) = column.trim().split_once(' ').unwrap_or((column.trim(), "text"));
        let data_type = match kind {
            "bool" => DataType::Boolean,
            "int" | "oid" => DataType::Int32,
            "bigint" => DataType::Int64,
            "double" => DataType::Float64,
            "instant" => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
            _ => DataType::Utf8,
        };
        let metadata = match kind {
            "oid" => HashMap::from([(OID.to_owned(), "oid".to_owned())]),
            _ => HashMap::new(),
        };
        Field::new(name, data_type, true).with_metadata(metadata)
    });
    Arc::new(EmptyTable::new(Arc::new(Schema::new(fields.collect::<Vec<_>>()))))
}

/// The roles, in two tables.
struct Roles {
    roles: RecordBatch,
    users: RecordBatch,
}

/// The owner of all tables, and the user.
fn roles(user: &str) -> Result<Roles, DataFusionError> {
    const OWNER: &str = "postgres";
    let mut names = vec![OWNER];
    if user != OWNER {
        names.push(user);
    }
    let count = names.len();
    let oids: Vec<i32> = [10, 16383].into_iter().take(count).collect();
    let is_owner: ArrayRef = Arc::new(BooleanArray::from_iter(names.iter().map(|name| Some(*name == OWNER))));
    let yes: ArrayRef = Arc::new(BooleanArray::from(vec![true; count]));
    let instant = new_null_array(&DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())), count);
    let configs: ArrayRef = Arc::new(ListArray::new_null(
        Arc::new(Field::new_list_field(DataType::Utf8, true)),
        count,
    ));
    let names: ArrayRef = Arc::new(StringArray::from(names));
    let oids: ArrayRef = Arc::new(Int32Array::from(oids));
    let password: ArrayRef = Arc::new(StringArray::from(vec!["********"; count]));
    let unlimited: ArrayRef = Arc::new(Int32Array::from(vec![-1; count]));
    let roles = RecordBatch::try_from_iter([
        ("oid", Arc::clone(&oids)),
        ("rolname", Arc::clone(&names)),
        ("rolsuper", Arc::clone(&is_owner)),
        ("rolinherit", Arc::clone(&yes)),
        ("rolcreaterole", Arc::clone(&is_owner)),
        ("rolcreatedb", Arc::clone(&is_owner)),
        ("rolcanlogin", yes),
        ("rolreplication", Arc::clone(&is_owner)),
        ("rolconnlimit", unlimited),
        ("rolpassword", Arc::clone(&password)),
        ("rolvaliduntil", Arc::clone(&instant)),
        ("rolbypassrls", Arc::clone(&is_owner)),
        ("rolconfig", Arc::clone(&configs)),
    ])?;
    let users = RecordBatch::try_from_iter([
        ("usename", names),
        ("usesysid", oids),
        ("usecreatedb", Arc::clone(&is_owner)),
        ("usesuper", Arc::clone(&is_owner)),
        ("userepl", Arc::clone(&is_owner)),
        ("usebypassrls", is_owner),
        ("passwd", password),
        ("valuntil", instant),
        ("useconfig", configs),
    ])?;
    Ok(Roles { roles, users })
}

/// Names, and queries over the other tables.
const VIEWS: &[(&str, &str)] = &[
    (
        "pg_stat_database",
        "SELECT d.oid AS datid, d.datname, 1 AS numbackends, CAST(0 AS BIGINT) AS xact_commit, \
         CAST(0 AS BIGINT) AS xact_rollback, CAST(0 AS BIGINT) AS blks_read, CAST(0 AS BIGINT) AS blks_hit, \
         CAST(0 AS BIGINT) AS tup_returned, CAST(0 AS BIGINT) AS tup_fetched, CAST(0 AS BIGINT) AS tup_inserted, \
         CAST(0 AS BIGINT) AS tup_updated, CAST(0 AS BIGINT) AS tup_deleted, CAST(0 AS BIGINT) AS conflicts, \
         CAST(0 AS BIGINT) AS temp_files, CAST(0 AS BIGINT) AS temp_bytes, CAST(0 AS BIGINT) AS deadlocks \
         FROM pg_catalog.pg_database d",
    ),
    (
        "pg_timezone_names",
        "SELECT 'UTC' AS name, 'UTC' AS abbrev, '00:00:00' AS utc_offset, false AS is_dst",
    ),
];

/// Names and columns.
const EMPTY: &[(&str, &str)] = &[
    (
        "pg_available_extensions",
        "name, default_version, installed_version, comment",
    ),
    (
        "pg_available_extension_versions",
        "name, version, installed bool, superuser bool, trusted bool, relocatable bool, schema, requires, comment",
    ),
    (
        "pg_cursors",
        "name, statement, is_holdable bool, is_binary bool, is_scrollable bool, creation_time instant",
    ),
    ("pg_group", "groname, grosysid oid, grolist"),
    ("pg_listening_channels", "channel"),
    (
        "pg_locks",
        "locktype, database oid, relation oid, page int, tuple int, virtualxid, transactionid, classid oid, objid oid, \
         objsubid int, virtualtransaction, pid int, mode, granted bool, fastpath bool, waitstart instant",
    ),
    (
        "pg_policies",
        "schemaname, tablename, policyname, permissive, roles, cmd, qual, with_check",
    ),
    (
        "pg_prepared_statements",
        "name, statement, prepare_time instant, parameter_types, from_sql bool, generic_plans bigint, custom_plans bigint",
    ),
    (
        "pg_prepared_xacts",
        "transaction, gid, prepared instant, owner, database",
    ),
    (
        "pg_publication_tables",
        "pubname, schemaname, tablename, attnames, rowfilter",
    ),
    ("pg_rules", "schemaname, tablename, rulename, definition"),
    (
        "pg_seclabels",
        "objoid oid, classoid oid, objsubid int, objtype, objnamespace oid, objname, provider, label",
    ),
    (
        "pg_sequences",
        "schemaname, sequencename, sequenceowner, data_type oid, start_value bigint, min_value bigint, max_value bigint, \
         increment_by bigint, cycle bool, cache_size bigint, last_value bigint",
    ),
    (
        "pg_stat_activity",
        "datid oid, datname, pid int, leader_pid int, usesysid oid, usename, application_name, client_addr, \
         client_hostname, client_port int, backend_start instant, xact_start instant, query_start instant, \
         state_change instant, wait_event_type, wait_event, state, backend_xid, backend_xmin, query_id bigint, query, \
         backend_type",
    ),
    (
        "pg_stat_all_indexes",
        "relid oid, indexrelid oid, schemaname, relname, indexrelname, idx_scan bigint, idx_tup_read bigint, \
         idx_tup_fetch bigint",
    ),
    (
        "pg_stat_user_indexes",
        "relid oid, indexrelid oid, schemaname, relname, indexrelname, idx_scan bigint, idx_tup_read bigint, \
         idx_tup_fetch bigint",
    ),
    (
        "pg_stat_all_tables",
        "relid oid, schemaname, relname, seq_scan bigint, seq_tup_read bigint, idx_scan bigint, idx_tup_fetch bigint, \
         n_tup_ins bigint, n_tup_upd bigint, n_tup_del bigint, n_tup_hot_upd bigint, n_live_tup bigint, \
         n_dead_tup bigint, n_mod_since_analyze bigint, n_ins_since_vacuum bigint, last_vacuum instant, \
         last_autovacuum instant, last_analyze instant, last_autoanalyze instant, vacuum_count bigint, \
         autovacuum_count bigint, analyze_count bigint, autoanalyze_count bigint",
    ),
    (
        "pg_stat_replication",
        "pid int, usesysid oid, usename, application_name, client_addr, client_hostname, client_port int, \
         backend_start instant, backend_xmin, state, sent_lsn, write_lsn, flush_lsn, replay_lsn, write_lag, flush_lag, \
         replay_lag, sync_priority int, sync_state, reply_time instant",
    ),
    (
        "pg_stat_ssl",
        "pid int, ssl bool, version, cipher, bits int, client_dn, client_serial, issuer_dn",
    ),
    (
        "pg_stat_user_functions",
        "funcid oid, schemaname, funcname, calls bigint, total_time double, self_time double",
    ),
    (
        "pg_statio_user_indexes",
        "relid oid, indexrelid oid, schemaname, relname, indexrelname, idx_blks_read bigint, idx_blks_hit bigint",
    ),
    (
        "pg_statio_user_tables",
        "relid oid, schemaname, relname, heap_blks_read bigint, heap_blks_hit bigint, idx_blks_read bigint, \
         idx_blks_hit bigint, toast_blks_read bigint, toast_blks_hit bigint, tidx_blks_read bigint, tidx_blks_hit bigint",
    ),
    (
        "pg_stats",
        "schemaname, tablename, attname, inherited bool, null_frac double, avg_width int, n_distinct double, \
         most_common_vals, most_common_freqs, histogram_bounds, correlation double, most_common_elems, \
         most_common_elem_freqs, elem_count_histogram",
    ),
    ("pg_timezone_abbrevs", "abbrev, utc_offset, is_dst bool"),
    (
        "pg_user_mappings",
        "umid oid, srvid oid, srvname, umuser oid, usename, umoptions",
    ),
];
