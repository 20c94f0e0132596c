//! What clients of the Advantage Database Server see, over xBase tables.
