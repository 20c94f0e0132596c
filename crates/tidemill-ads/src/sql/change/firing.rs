//! Changes that fire triggers: record by record, each with what it fires.

use super::{Change, NewValues, stored};
use crate::sql::error::Result;
use crate::sql::tables::{FiredChange, Tables};

impl Change {
    pub(super) fn append_firing(&self, rows: &[NewValues], is_deleted: bool, tables: &mut dyn Tables) -> Result<u64> {
        let watch = tables.watch();
        let table = tables.editor(&self.table)?;
        self.structure.check_fields(table.fields(), &self.table)?;
        self.check_nulls(table, rows)?;
        let fields = table.fields().to_vec();
        for row in rows {
            watch.check()?;
            let values: Vec<_> = row
                .iter()
                .filter_map(|(column, value)| Some((*column, fields.get(*column)?, value)))
                .filter(|(_, field, value)| !(value.is_null() && field.autoincrement.is_some()))
                .filter_map(|(column, field, value)| Some((column, stored(value, field)?)))
                .collect();
            let values = &values;
            tables.change_record(&self.table, &FiredChange::Insert { values, is_deleted })?;
        }
        tables.changed(&self.table);
        Ok(rows.len() as u64)
    }

    pub(super) fn write_firing(
        &self,
        changes: impl Iterator<Item = (u32, NewValues)>,
        deletion: Option<bool>,
        tables: &mut dyn Tables,
    ) -> Result<u64> {
        let watch = tables.watch();
        let fields = tables.editor(&self.table)?.fields().to_vec();
        let mut count = 0;
        for (record, values) in changes {
            watch.check()?;
            self.check_nulls(tables.editor(&self.table)?, [&values])?;
            let values: Vec<_> = values
                .iter()
                .filter_map(|(column, value)| Some((*column, stored(value, fields.get(*column)?)?)))
                .collect();
            let change = FiredChange::Update {
                record,
                values: &values,
                deletion,
            };
            tables.change_record(&self.table, &change)?;
            count += 1;
        }
        tables.changed(&self.table);
        Ok(count)
    }

    pub(super) fn delete_firing(&self, records: &[u32], tables: &mut dyn Tables) -> Result<u64> {
        let watch = tables.watch();
        for record in records {
            watch.check()?;
            tables.change_record(&self.table, &FiredChange::Delete { record: *record })?;
        }
        tables.changed(&self.table);
        Ok(records.len() as u64)
    }
}
