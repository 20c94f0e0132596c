//! The difference between two tables or queries.
//!
//! Rows are compared as multisets: the engine adds 1 for each row of the left side and subtracts 1 for each of the right, and a row whose
//! sum is not 0 differs. Columns are matched by name, without regard to case; only those of both sides are compared, in a common type as in
//! a UNION. With keys, differing rows of the same key are a changed row.

use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::cast::AsArray as _;
use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow_row::{OwnedRow, RowConverter, SortField};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use arrow_select::interleave::interleave;
use futures::FutureExt as _;
use futures::future::BoxFuture;

use crate::route;
use crate::{Answer, Error, Result, Session, source_is_query, summary};

/// A comparison of two tables or queries.
pub struct Comparison {
    /// Columns that only the left side has.
    pub only_left: Vec<String>,
    /// Columns that only the right side has.
    pub only_right: Vec<String>,
    differences: Answer,
    /// The number of key columns, which come first; 0 without keys.
    keys: usize,
    counts: Counts,
    /// The rows of a key that may continue in the next batch.
    pending: Option<Pending>,
    schema: SchemaRef,
    converter: Option<RowConverter>,
}

/// How many rows are equal, and how many differ.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Rows of the left side.
    pub left: u64,
    /// Rows of the right side.
    pub right: u64,
    /// Rows that only the left side has.
    pub only_left: u64,
    /// Rows that only the right side has.
    pub only_right: u64,
    /// Keys whose rows differ.
    pub changed: u64,
}

impl Counts {
    /// Rows that both sides have.
    pub fn same(&self) -> u64 {
        self.left.saturating_sub(self.only_left + self.changed)
    }
}

/// The rows of one key, which differ.
struct Pending {
    key: OwnedRow,
    /// Each with its count on the left minus that on the right.
    rows: Vec<(RecordBatch, i64)>,
}

impl Session {
    /// Compares two tables, each given by its name or as a SELECT. `keys` are columns of both.
    ///
    /// # Errors
    ///
    /// As [`Session::query`]; [`Error::Unsupported`] if the sides have no columns in common, or a key is missing.
    pub fn compare<'a>(
        &'a self,
        left: &'a str,
        right: &'a str,
        keys: &'a [String],
    ) -> BoxFuture<'a, Result<Comparison>> {
        self.begin_to_compare(left, right, keys).boxed()
    }

    async fn begin_to_compare(&self, left: &str, right: &str, keys: &[String]) -> Result<Comparison> {
        for query in [left, right].into_iter().filter(|named| source_is_query(named)) {
            route::check_query(query)?;
        }
        let (left, right) = (source(left), source(right));
        let (left_columns, right_columns) = (self.columns(&left).await?, self.columns(&right).await?);
        let both = common(&left_columns, &right_columns);
        let alone = |columns: &[String], is_common: &dyn Fn(&String) -> bool| -> Vec<String> {
            columns.iter().filter(|column| !is_common(column)).cloned().collect()
        };
        let only_left = alone(&left_columns, &|column| both.iter().any(|(left, _)| left == column));
        let only_right = alone(&right_columns, &|column| both.iter().any(|(_, right)| right == column));
        if both.is_empty() {
            return Err(Error::Unsupported {
                what: format!(
                    "comparing tables without a column in common ({} and {})",
                    left_columns.join(", "),
                    right_columns.join(", ")
                ),
                hint: "give the columns the same names with a SELECT".to_owned(),
            });
        }
        let (mut ordered, mut others) = (Vec::new(), both);
        for key in keys {
            let place = others.iter().position(|(left, _)| left.eq_ignore_ascii_case(key));
            let place = place.ok_or_else(|| Error::Unsupported {
                what: format!("column {key} as a key: a column that both tables have, named once,"),
                hint: format!(
                    "the columns of both are {}",
                    others
                        .iter()
                        .map(|(left, _)| left.as_str())
                        .collect::<Vec<_>>()
                        .join(", ")
                ),
            })?;
            ordered.push(others.remove(place));
        }
        let keys = ordered.len();
        ordered.extend(others);

        let counts = Counts {
            left: self.rows(&left).await?,
            right: self.rows(&right).await?,
            ..Counts::default()
        };
        let differences = self.query(&statement(&left, &right, &ordered, keys)).await?;
        // The count is the last column.
        let found = differences.schema();
        let columns = found.fields().iter().take(ordered.len()).cloned().collect::<Vec<_>>();
        let converter = match keys {
            0 => None,
            keys => {
                let fields = columns.iter().take(keys);
                let fields = fields.map(|field| SortField::new(field.data_type().clone()));
                Some(RowConverter::new(fields.collect())?)
            }
        };
        let text = |name: &str, is_nullable| Arc::new(Field::new(name, DataType::Utf8, is_nullable));
        let mut fields = vec![text("diff", false)];
        if keys == 0 {
            fields.push(Arc::new(Field::new("rows", DataType::Int64, false)));
            fields.extend(columns);
        } else {
            fields.extend(columns.into_iter().take(keys));
            fields.extend(["column", "left", "right"].map(|name| text(name, true)));
        }
        Ok(Comparison {
            only_left,
            only_right,
            differences,
            keys,
            counts,
            pending: None,
            schema: Arc::new(Schema::new(fields)),
            converter,
        })
    }

    async fn columns(&self, source: &str) -> Result<Vec<String>> {
        let answer = self.query(&format!("SELECT * FROM {source} LIMIT 0")).await?;
        Ok(answer
            .schema()
            .fields()
            .iter()
            .map(|field| field.name().clone())
            .collect())
    }

    async fn rows(&self, source: &str) -> Result<u64> {
        let answer = self.query(&format!("SELECT COUNT(*) FROM {source}")).await?;
        let batches = answer.collect().await?;
        let count = batches
            .iter()
            .find(|batch| batch.num_rows() > 0)
            .map(|batch| batch.column(0));
        let count = count
            .map(|count| arrow_cast::cast(count, &DataType::Int64))
            .transpose()?;
        let count = count.map_or(0, |count| count.as_primitive::<Int64Type>().value(0));
        Ok(u64::try_from(count).unwrap_or_default())
    }
}

/// A source as it follows FROM.
fn source(named: &str) -> String {
    match source_is_query(named) {
        true => format!("({}) AS q", named.trim().trim_end_matches(';')),
        false => format!("'{}'", named.replace('\'', "''")),
    }
}

/// The common columns, in the spelling of each side.
fn common(left: &[String], right: &[String]) -> Vec<(String, String)> {
    let pairs = left.iter().filter_map(|column| {
        let exact = right.iter().find(|other| *other == column);
        let fitting = exact.or_else(|| right.iter().find(|other| other.to_lowercase() == column.to_lowercase()));
        Some((column.clone(), fitting?.clone()))
    });
    pairs.collect()
}

/// The query of the rows whose counts differ, with the difference; ordered by the keys.
fn statement(left: &str, right: &str, columns: &[(String, String)], keys: usize) -> String {
    let list = |item: &dyn Fn(usize, &(String, String)) -> String| {
        let items = columns.iter().enumerate().map(|(place, names)| item(place + 1, names));
        items.collect::<Vec<_>>().join(", ")
    };
    let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
    let of_left = list(&|place, (name, _)| format!("{} AS c{place}", quoted(name)));
    let of_right = list(&|place, (_, name)| format!("{} AS c{place}", quoted(name)));
    let named = list(&|place, (name, _)| format!("c{place} AS {}", quoted(name)));
    let grouped = list(&|place, _| format!("c{place}"));
    let order = match keys {
        0 => String::new(),
        keys => format!(
            " ORDER BY {}",
            (1..=keys).map(|place| place.to_string()).collect::<Vec<_>>().join(", ")
        ),
    };
    format!(
        "SELECT {named}, SUM(side) AS side FROM (SELECT {of_left}, 1 AS side FROM {left} UNION ALL \
         SELECT {of_right}, -1 AS side FROM {right}) AS sides GROUP BY {grouped} HAVING SUM(side) <> 0{order}"
    )
}

impl Comparison {
    /// The columns of the differences. The first is `diff`: `only left`, `only right` or `changed`. Without keys follow `rows`, by how much
    /// the counts differ, and the columns. With keys follow the keys and, for a changed row, the `column` and its values on the `left` and
    /// on the `right`, one line per column.
    pub fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// How many rows are equal, and how many differ, among those read so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// The next differences, or `None` at the end.
    ///
    /// # Errors
    ///
    /// Errors of reading and comparing.
    pub async fn next(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            let Some(batch) = self.differences.next().await? else {
                let mut lines = Lines::default();
                if let Some(last) = self.pending.take() {
                    self.counts.add_key(&last.rows, self.keys, &mut lines)?;
                }
                return match lines.is_empty() {
                    true => Ok(None),
                    false => lines.batch(&self.schema, self.keys).map(Some),
                };
            };
            if batch.num_rows() == 0 {
                continue;
            }
            let Some((sides, columns)) = batch.columns().split_last() else {
                return Ok(None);
            };
            let sides = arrow_cast::cast(sides, &DataType::Int64)?;
            let sides = sides.as_primitive::<Int64Type>().clone();
            if self.keys == 0 {
                return self.whole_rows(columns, &sides).map(Some);
            }
            let mut lines = Lines::default();
            let rows = batch.project(&(0..columns.len()).collect::<Vec<_>>())?;
            self.keyed_rows(&rows, &sides, &mut lines)?;
            if !lines.is_empty() {
                return lines.batch(&self.schema, self.keys).map(Some);
            }
        }
    }

    fn whole_rows(&mut self, columns: &[ArrayRef], sides: &Int64Array) -> Result<RecordBatch> {
        for side in sides.values() {
            let rows = side.unsigned_abs();
            match *side > 0 {
                true => self.counts.only_left += rows,
                false => self.counts.only_right += rows,
            }
        }
        let diff: StringArray = sides.values().iter().map(|side| Some(name_of(*side))).collect();
        let rows: Int64Array = sides.values().iter().map(|side| side.saturating_abs()).collect();
        let mut all: Vec<ArrayRef> = vec![Arc::new(diff), Arc::new(rows)];
        all.extend(columns.iter().cloned());
        Ok(RecordBatch::try_new(Arc::clone(&self.schema), all)?)
    }

    fn keyed_rows(&mut self, rows: &RecordBatch, sides: &Int64Array, lines: &mut Lines) -> Result<()> {
        let Some(converter) = &self.converter else {
            return Ok(());
        };
        let key_columns = rows.columns().get(..self.keys).unwrap_or_default();
        let keys = converter.convert_columns(key_columns)?;
        for (row, (key, side)) in keys.iter().zip(sides.values()).enumerate() {
            let this = (rows.slice(row, 1), *side);
            match &mut self.pending {
                Some(pending) if pending.key.row() == key => pending.rows.push(this),
                pending => {
                    let next = Pending {
                        key: key.owned(),
                        rows: vec![this],
                    };
                    if let Some(before) = pending.replace(next) {
                        self.counts.add_key(&before.rows, self.keys, lines)?;
                    }
                }
            }
        }
        Ok(())
    }
}

fn name_of(side: i64) -> &'static str {
    match side > 0 {
        true => "only left",
        false => "only right",
    }
}

impl Counts {
    /// Counts the rows of a key, and writes their differences.
    fn add_key(&mut self, rows: &[(RecordBatch, i64)], keys: usize, lines: &mut Lines) -> Result<()> {
        let pair = match rows {
            [(a, 1), (b, -1)] => Some((a, b)),
            [(b, -1), (a, 1)] => Some((a, b)),
            _ => None,
        };
        let Some((left, right)) = pair else {
            for (row, side) in rows {
                let times = side.unsigned_abs();
                match *side > 0 {
                    true => self.only_left += times,
                    false => self.only_right += times,
                }
                for _ in 0..times {
                    lines.push(name_of(*side), row, None);
                }
            }
            return Ok(());
        };
        self.changed += 1;
        let fields = left.schema();
        let columns = left.columns().iter().zip(right.columns()).zip(fields.fields());
        for ((before, after), field) in columns.skip(keys) {
            if before.to_data() != after.to_data() {
                let change = Change {
                    column: field.name().clone(),
                    left: text_of(before)?,
                    right: text_of(after)?,
                };
                lines.push("changed", left, Some(change));
            }
        }
        Ok(())
    }
}

/// The value of one row as text; `None` for NULL.
fn text_of(value: &ArrayRef) -> Result<Option<String>> {
    match value.is_null(0) {
        true => Ok(None),
        false => summary::text_of(value, 0).map(Some),
    }
}

struct Change {
    column: String,
    left: Option<String>,
    right: Option<String>,
}

/// The lines of differences with keys.
#[derive(Default)]
struct Lines {
    diff: StringBuilder,
    rows: Vec<RecordBatch>,
    column: StringBuilder,
    left: StringBuilder,
    right: StringBuilder,
}

impl Lines {
    fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    fn push(&mut self, diff: &str, row: &RecordBatch, change: Option<Change>) {
        self.diff.append_value(diff);
        self.rows.push(row.clone());
        let (column, left, right) = match change {
            Some(change) => (Some(change.column), change.left, change.right),
            None => (None, None, None),
        };
        self.column.append_option(column);
        self.left.append_option(left);
        self.right.append_option(right);
    }

    fn batch(mut self, schema: &SchemaRef, keys: usize) -> Result<RecordBatch> {
        let mut columns: Vec<ArrayRef> = vec![Arc::new(self.diff.finish())];
        let places: Vec<_> = (0..self.rows.len()).map(|row| (row, 0)).collect();
        for key in 0..keys {
            let values: Vec<_> = self.rows.iter().map(|row| row.column(key).as_ref()).collect();
            columns.push(interleave(&values, &places)?);
        }
        columns.extend(
            [self.column.finish(), self.left.finish(), self.right.finish()].map(|texts| Arc::new(texts) as ArrayRef),
        );
        Ok(RecordBatch::try_new(Arc::clone(schema), columns)?)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::SessionOptions;

    /// The differences as CSV without a header, sorted, and the counts.
    async fn compared(left: &str, right: &str, keys: &[&str]) -> (Vec<String>, Counts) {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(
            folder.path().join("a.csv"),
            "id,name,pay\n1,Ada,10\n2,Bo,20\n2,Bo,20\n3,,30\n4,Di,\n",
        )
        .expect("written");
        fs::write(folder.path().join("b.jsonl"), "{\"NAME\":\"Bo\",\"id\":2,\"pay\":20.0}\n{\"NAME\":\"Ada\",\"id\":1,\"pay\":10.5}\n{\"NAME\":\"Di\",\"id\":4,\"pay\":null}\n{\"NAME\":\"Eve\",\"id\":5,\"pay\":50}\n").expect("written");
        let session = Session::new(SessionOptions::default().dir(folder.path()));
        let keys: Vec<String> = keys.iter().map(|key| (*key).to_owned()).collect();
        let mut comparison = session.compare(left, right, &keys).await.expect("compared");
        let mut out = Vec::new();
        let mut writer = arrow_csv::WriterBuilder::new()
            .with_header(false)
            .with_null("NULL".to_owned())
            .build(&mut out);
        while let Some(batch) = comparison.next().await.expect("a batch") {
            writer.write(&batch).expect("written");
        }
        drop(writer);
        let text = String::from_utf8(out).expect("UTF-8");
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        (lines, comparison.counts())
    }

    #[tokio::test]
    async fn rows_are_compared_as_often_as_they_come() {
        let (lines, counts) = compared("a", "b.jsonl", &[]).await;
        assert_eq!(
            lines,
            [
                "only left,1,1,Ada,10.0",
                "only left,1,2,Bo,20.0",
                "only left,1,3,NULL,30.0",
                "only right,1,1,Ada,10.5",
                "only right,1,5,Eve,50.0"
            ]
        );
        let expected = Counts {
            left: 5,
            right: 4,
            only_left: 3,
            only_right: 2,
            changed: 0,
        };
        assert_eq!((counts, counts.same()), (expected, 2));
        let (lines, counts) = compared("a.csv", "SELECT * FROM a", &[]).await;
        assert_eq!((lines.len(), counts.same()), (0, 5));
    }

    #[tokio::test]
    async fn rows_of_one_key_are_changes() {
        let (lines, counts) = compared("a", "SELECT id, name, pay FROM b WHERE id <> 2 OR pay = 20", &["ID"]).await;
        assert_eq!(
            lines,
            [
                "changed,1,pay,10.0,10.5",
                "only left,2,NULL,NULL,NULL",
                "only left,3,NULL,NULL,NULL",
                "only right,5,NULL,NULL,NULL"
            ]
        );
        assert_eq!(
            counts,
            Counts {
                left: 5,
                right: 4,
                only_left: 2,
                only_right: 1,
                changed: 1
            }
        );
    }

    #[tokio::test]
    async fn columns_of_one_side_are_told() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("a.csv"), "id,x\n1,2\n").expect("written");
        fs::write(folder.path().join("b.csv"), "ID,y\n1,2\n").expect("written");
        fs::write(folder.path().join("c.csv"), "z\n1\n").expect("written");
        let session = Session::new(SessionOptions::default().dir(folder.path()));
        let comparison = session.compare("a", "b", &[]).await.expect("compared");
        assert_eq!(
            (comparison.only_left, comparison.only_right),
            (vec!["x".to_owned()], vec!["y".to_owned()])
        );
        for (right, keys, says) in [
            ("c", vec![], "without a column in common"),
            ("b", vec!["x".to_owned()], "column x as a key"),
        ] {
            let error = session
                .compare("a", right, &keys)
                .await
                .err()
                .expect("refused")
                .to_string();
            assert!(error.contains(says), "{error}");
        }
    }
}
