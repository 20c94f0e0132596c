//! What programs ask PostgreSQL's catalogue before they show a table.

use tidemill_testkit::Postgres;

use super::{Served, books, check};
use crate::run::Folder;

/// What [`books`] made, and a table with a primary key.
fn with_keys() -> Served {
    let folder = books();
    let table = "CREATE TABLE 'more/people.dbf' (id AutoInc PRIMARY KEY, name Char(20), pay Numeric(10, 2))";
    drop(folder.run(&["sql", table]).done());
    Served::with(folder, &["books", "more"])
}

#[test]
fn psql_describes_everything_there_is() {
    let Some(_) = Postgres::need() else { return };
    let served = with_keys();
    for command in [
        "\\dT",
        "\\dT+",
        "\\dT int4",
        "\\dn",
        "\\dn+",
        "\\l",
        "\\l+",
        "\\df",
        "\\df+",
        "\\df pg_*",
        "\\du",
        "\\du+",
        "\\dg",
        "\\dp",
        "\\z",
        "\\di",
        "\\di+",
        "\\ds",
        "\\ds+",
        "\\dv",
        "\\dv+",
        "\\dm",
        "\\dt",
        "\\dt+",
        "\\dt *.*",
        "\\d",
        "\\d+",
        "\\det",
        "\\det+",
        "\\dx",
        "\\dx+",
        "\\conninfo",
        "\\d orders",
        "\\d+ orders",
        "\\d more.words",
        "\\dE",
        "\\da",
        "\\dA",
        "\\dA+",
        "\\db",
        "\\db+",
        "\\dc",
        "\\dconfig",
        "\\dC",
        "\\dd",
        "\\ddp",
        "\\dD",
        "\\des",
        "\\deu",
        "\\dew",
        "\\dF",
        "\\dFd",
        "\\dFp",
        "\\dFt",
        "\\dl",
        "\\dL",
        "\\do",
        "\\dO",
        "\\dP",
        "\\drds",
        "\\dRp",
        "\\dRs",
        "\\dX",
        "\\dy",
        "\\encoding",
        "\\sv orders",
    ] {
        let run = served.psql(command);
        // What a command that shows a view says of a table is psql's own.
        assert!(!run.stderr.contains("ERROR:  "), "{command}: {}", run.stderr);
    }
    for (command, expected) in [
        ("\\dn+", "public|postgres||"),
        ("\\l+", "tidemill|postgres|UTF"),
        ("\\dT int4", "pg_catalog|integer|"),
        ("\\du", "ann|"),
        ("\\d+ orders", "|integer|"),
        ("\\d+ orders", "TOTAL|numeric(12,2)|"),
        ("\\t off\n\\d orders", "\"orders_order_no_idx\" btree (\"ORDER_NO\")"),
        (
            "\\t off\n\\d more.people",
            "\"people_pkey\" PRIMARY KEY, btree (\"ID\")",
        ),
        ("\\di more.*", "more|people_pkey|index|postgres|people"),
        (
            "\\conninfo",
            "You are connected to database \"tidemill\" as user \"ann\"",
        ),
    ] {
        let run = served.psql(command).done();
        assert!(run.contains(expected), "{command}: {run}");
    }
    for command in ["\\dT", "\\df", "\\ds", "\\dv", "\\di more.w*", "\\det"] {
        assert_eq!(served.psql(command).done().trim(), "", "{command}");
    }
    let run = served.psql("\\d nope");
    assert!(
        run.stderr.contains("Did not find any relation named \"nope\"."),
        "{}",
        run.stderr
    );
    let run = served.psql("\\set VERBOSITY verbose\nDESCRIBE nope");
    assert!(run.stderr.contains("ERROR:  42P01: "), "{}", run.stderr);
}

#[test]
fn names_are_completed_as_psql_does() {
    let Some(_) = Postgres::need() else { return };
    let served = Served::begin();
    for (statements, expected) in [
        (
            "SELECT pg_catalog.quote_ident(c.relname) FROM pg_catalog.pg_class c WHERE c.relkind IN ('r', 'p') AND substring(pg_catalog.quote_ident(c.relname), 1, 3) = 'ord' AND pg_catalog.pg_table_is_visible(c.oid)",
            "orders",
        ),
        (
            "SELECT rolname FROM pg_catalog.pg_roles WHERE rolname LIKE 'an%'",
            "ann",
        ),
        (
            "SELECT pg_catalog.lower(name) FROM pg_catalog.pg_settings WHERE pg_catalog.lower(name) LIKE 'extra%'",
            "extra_float_digits",
        ),
        (
            "SELECT name FROM pg_catalog.pg_timezone_names() WHERE pg_catalog.lower(name) LIKE 'u%'",
            "UTC",
        ),
        (
            "SELECT name FROM pg_catalog.pg_available_extensions WHERE name LIKE 'h%' AND installed_version IS NULL",
            "",
        ),
        (
            "SELECT name FROM pg_catalog.pg_prepared_statements WHERE name LIKE 'a%'",
            "",
        ),
        (
            "SELECT usename FROM pg_catalog.pg_user_mappings WHERE usename LIKE 'a%'",
            "",
        ),
        (
            "SELECT channel FROM pg_catalog.pg_listening_channels() AS channel WHERE channel LIKE 'a%'",
            "",
        ),
        ("SELECT rulename FROM pg_catalog.pg_rules WHERE rulename LIKE 'a%'", ""),
    ] {
        check(&served, statements, expected);
    }
}

#[test]
fn the_information_schema_is_that_of_postgresql() {
    let Some(_) = Postgres::need() else { return };
    let served = Served::begin();
    for (statements, expected) in [
        (
            "SELECT table_name, table_type FROM information_schema.tables WHERE table_schema = 'public' ORDER BY 1",
            "customers|BASE TABLE\nnumbers|BASE TABLE\norders|BASE TABLE",
        ),
        (
            "SELECT lower(column_name), data_type, udt_name, is_nullable, ordinal_position FROM information_schema.columns WHERE table_schema = 'public' AND table_name = 'orders' ORDER BY ordinal_position",
            "order_no|integer|int4|YES|1\ncust_no|integer|int4|YES|2\nday|date|date|YES|3\ntotal|numeric|numeric|YES|4",
        ),
        (
            "SELECT schema_name FROM information_schema.schemata WHERE schema_name IN ('public', 'more') ORDER BY 1",
            "more\npublic",
        ),
        (
            "SELECT tc.constraint_name, kcu.column_name, rc.unique_constraint_name, ccu.table_name FROM information_schema.table_constraints tc JOIN information_schema.key_column_usage kcu ON tc.constraint_name = kcu.constraint_name AND tc.table_schema = kcu.table_schema LEFT JOIN information_schema.referential_constraints rc ON rc.constraint_name = tc.constraint_name LEFT JOIN information_schema.constraint_column_usage ccu ON ccu.constraint_name = tc.constraint_name WHERE tc.constraint_type IN ('PRIMARY KEY', 'FOREIGN KEY') ORDER BY kcu.ordinal_position",
            "",
        ),
        ("SELECT table_name, view_definition FROM information_schema.views", ""),
        (
            "SELECT routine_name, data_type, created FROM information_schema.routines",
            "",
        ),
        (
            "SELECT sequence_name, start_value FROM information_schema.sequences",
            "",
        ),
        ("SELECT trigger_name FROM information_schema.triggers", ""),
        (
            "SELECT character_set_name, form_of_use, default_collate_catalog FROM information_schema.character_sets",
            "UTF8|UTF8|tidemill",
        ),
        (
            "SELECT privilege_type FROM information_schema.table_privileges WHERE grantee = 'ann' AND table_name = 'orders'",
            "SELECT",
        ),
    ] {
        check(&served, statements, expected);
    }
}

/// The shapes of what Metabase, DBeaver and Grafana ask as they come in.
#[test]
fn programs_for_looking_at_tables_are_let_in() {
    let Some(_) = Postgres::need() else { return };
    let served = Served::begin();
    for (statements, expected) in [
        // Metabase: columns with their keys, its rights, enums.
        (
            "SELECT lower(c.column_name), CASE WHEN c.udt_schema IN ('public', 'pg_catalog') THEN format('%s', c.udt_name) ELSE format('\"%s\".\"%s\"', c.udt_schema, c.udt_name) END AS kind, pk.column_name IS NOT NULL AS is_key, col_description(CAST(CAST(format('%I.%I', CAST(c.table_schema AS TEXT), CAST(c.table_name AS TEXT)) AS regclass) AS oid), c.ordinal_position) AS remark FROM information_schema.columns c LEFT JOIN (SELECT tc.table_schema, tc.table_name, kc.column_name FROM information_schema.table_constraints tc JOIN information_schema.key_column_usage kc ON tc.constraint_name = kc.constraint_name AND tc.table_name = kc.table_name WHERE tc.constraint_type = 'PRIMARY KEY') pk ON c.table_schema = pk.table_schema AND c.table_name = pk.table_name AND c.column_name = pk.column_name WHERE c.table_schema !~ '^information_schema|catalog_history|pg_' AND c.table_schema IN ('public') AND c.table_name = 'numbers'",
            "n|int8|f|",
        ),
        (
            "WITH rights AS (SELECT t.schemaname AS s, t.objectname AS o, pg_catalog.has_any_column_privilege(current_user, '\"' || replace(t.schemaname, '\"', '\"\"') || '\".\"' || replace(t.objectname, '\"', '\"\"') || '\"', 'select') AS may FROM (SELECT schemaname, tablename AS objectname FROM pg_catalog.pg_tables UNION SELECT schemaname, viewname FROM pg_catalog.pg_views UNION SELECT schemaname, matviewname FROM pg_catalog.pg_matviews) t WHERE t.schemaname !~ '^pg_' AND t.schemaname <> 'information_schema') SELECT o, may FROM rights WHERE s = 'public' ORDER BY 1",
            "customers|t\nnumbers|t\norders|t",
        ),
        (
            "SELECT n.nspname, t.typname FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace WHERE t.oid IN (SELECT DISTINCT e.enumtypid FROM pg_enum e)",
            "",
        ),
        (
            "SELECT c.relname, d.description, s.n_live_tup FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON c.relnamespace = n.oid LEFT JOIN pg_catalog.pg_description d ON c.oid = d.objoid AND d.objsubid = 0 AND d.classoid = 'pg_class'::regclass LEFT JOIN pg_stat_user_tables s ON n.nspname = s.schemaname AND c.relname = s.relname WHERE c.relkind = 'r' AND n.nspname = 'public' ORDER BY 1",
            "customers||\nnumbers||\norders||",
        ),
        (
            "SELECT fk.relname, pk.relname, a.attname FROM pg_constraint c JOIN pg_class fk ON c.conrelid = fk.oid JOIN pg_class pk ON c.confrelid = pk.oid JOIN pg_attribute a ON c.conrelid = a.attrelid WHERE c.contype = 'f'::char AND a.attnum = ANY(c.conkey)",
            "",
        ),
        // DBeaver: the database, its settings, types, sizes and who is there.
        (
            "SELECT db.datname FROM pg_catalog.pg_database db WHERE db.datname = 'tidemill' AND db.datallowconn AND NOT db.datistemplate",
            "tidemill",
        ),
        (
            "SELECT s.setting FROM pg_catalog.pg_settings s WHERE s.name = 'standard_conforming_strings'",
            "on",
        ),
        (
            "SELECT t.typname, format_type(nullif(t.typbasetype, 0), t.typtypmod) AS base FROM pg_catalog.pg_type t LEFT JOIN pg_catalog.pg_type et ON et.oid = t.typelem LEFT JOIN pg_catalog.pg_class c ON c.oid = t.typrelid LEFT JOIN pg_catalog.pg_description d ON t.oid = d.objoid WHERE t.typname = 'int4' AND (c.relkind IS NULL OR c.relkind = 'c') AND (et.typcategory IS NULL OR et.typcategory <> 'C')",
            "int4|",
        ),
        (
            "SELECT lower(a.attname), pg_catalog.pg_get_expr(ad.adbin, ad.adrelid) AS preset, dep.objid FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_class c ON a.attrelid = c.oid LEFT JOIN pg_catalog.pg_attrdef ad ON a.attrelid = ad.adrelid AND a.attnum = ad.adnum LEFT JOIN pg_catalog.pg_depend dep ON dep.refobjid = a.attrelid AND dep.deptype = 'i' AND dep.refobjsubid = a.attnum WHERE NOT a.attisdropped AND c.relname = 'numbers' ORDER BY a.attnum",
            "n||",
        ),
        (
            "SELECT pg_catalog.pg_total_relation_size(c.oid) AS whole, pg_catalog.pg_relation_size(c.oid) AS part FROM pg_class c WHERE c.relname = 'nope'",
            "",
        ),
        (
            "SELECT t.spcname, pg_tablespace_location(t.oid) AS place FROM pg_catalog.pg_tablespace t WHERE t.spcname = 'pg_default'",
            "pg_default|",
        ),
        ("SELECT pid, state, query FROM pg_catalog.pg_stat_activity", ""),
        ("SELECT locktype, mode, granted FROM pg_locks", ""),
        (
            "SELECT indexname, indexdef FROM pg_indexes WHERE tablename = 'orders'",
            "orders_order_no_idx|CREATE INDEX orders_order_no_idx ON public.orders USING btree (\"ORDER_NO\")",
        ),
        (
            "SELECT to_regclass('public.orders') IS NOT NULL, to_regclass('nope') IS NULL",
            "t|t",
        ),
        // Grafana: the version, and columns by a name with its schema.
        (
            "SELECT current_setting('server_version_num')::int / 100 AS version",
            "1500",
        ),
        ("SELECT extversion FROM pg_extension WHERE extname = 'timescaledb'", ""),
        (
            "SELECT lower(quote_ident(column_name)) AS c, data_type AS t FROM information_schema.columns WHERE quote_ident(table_name) = 'orders' AND quote_ident(table_schema) = 'public' AND data_type = 'numeric'",
            "total|numeric",
        ),
    ] {
        check(&served, statements, expected);
    }
}

#[test]
fn relations_of_a_container_are_reflected_as_foreign_keys() {
    let folder = Folder::with(&[]);
    folder.add("xbase/containers/shop", "shop");
    let served = Served::with(folder, &["shop"]);
    served.python(
        &["psycopg[binary]==3.2.10", "sqlalchemy==2.0.43"],
        include_str!("foreign_keys_client.py"),
        &[&served.port()],
    );
    let orders = served.psql("\\t off\n\\d orders").done();
    for told in [
        "Foreign-key constraints:\n    \"orders_cust_no_fkey\" FOREIGN KEY (cust_no) REFERENCES customers(cust_no) ON UPDATE CASCADE",
        "Referenced by:\n    TABLE \"items\" CONSTRAINT \"items_order_no_fkey\" FOREIGN KEY (order_no) REFERENCES orders(order_no) ON DELETE CASCADE",
    ] {
        assert!(orders.to_lowercase().contains(&told.to_lowercase()), "{orders}");
    }
}

#[test]
fn libraries_look_at_types_keys_and_arrays() {
    let served = with_keys();
    let info = format!("host=127.0.0.1 port={} user=ann dbname=tidemill", served.port());
    served.python(
        &["psycopg[binary]==3.2.10", "sqlalchemy==2.0.43"],
        include_str!("catalog_client.py"),
        &[&info, &served.port()],
    );
    served.python(
        &["asyncpg==0.30.0"],
        include_str!("asyncpg_arrays.py"),
        &["127.0.0.1", &served.port()],
    );
}

#[test]
fn pgjdbc_tells_of_the_database() {
    let served = with_keys();
    let url = format!("jdbc:postgresql://127.0.0.1:{}/tidemill?user=ann", served.port());
    served.java_of(
        "MetadataClient.java",
        include_str!("MetadataClient.java"),
        "org.postgresql:postgresql:42.7.10",
        &[],
        &[&url],
    );
}
