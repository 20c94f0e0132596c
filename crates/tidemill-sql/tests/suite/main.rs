//! The tests of this crate's public interface: one program, because each program links DataFusion anew.

mod ads;
mod cassandra;
mod clickhouse;
mod conditions;
mod connection;
mod copies;
mod counts;
mod dialects;
mod drivers;
mod every_store;
mod growing;
mod kept_values;
mod lanes;
mod messages;
mod modern_clickhouse;
mod mysql;
mod nulls;
mod numbers;
mod parquet;
mod places;
mod postgres;
mod push_down;
mod row_changes;
mod sessions;
mod sqlite;
mod statements;
mod subqueries;
#[cfg(feature = "workers")]
mod workers;
mod xbase;

/// A file to be made.
fn destination(path: &std::path::Path) -> tidemill_sql::Location {
    tidemill_sql::Location::new_file(path).expect("the extension tells a format")
}
