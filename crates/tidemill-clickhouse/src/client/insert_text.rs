//! Inserts whose rows are in the text of the statement.
//!
//! All rows are read before the first is sent: a text with a fault in it stores nothing.

use std::time::{Duration, Instant};

use super::{Insert, InsertRequest, QuerySummary, Request, session};
use crate::{
    Block, Error, Result,
    arrow_type::StringType,
    insert_text::{InsertText, Literal},
    rows::RowsBuilder,
};

impl Request {
    /// Sends the rows of `text`, which is that of the statement.
    pub(super) async fn insert_text(self, text: InsertText) -> Result<QuerySummary> {
        let begin = Instant::now();
        let left = |request: &Self| request.deadline.map(|limit| limit.saturating_sub(begin.elapsed()));
        let expressions = text.expressions()?;
        let values = self.values_of(&expressions, &left).await?;
        let insert = InsertRequest::of_text(&self, text.query.clone(), left(&self));
        let mut insert = insert.begin().await?;
        let zone = match session::time_zone(&self.query.settings) {
            Some(zone) => zone.to_owned(),
            None => insert.time_zone().await,
        };
        let blocks = match blocks(&insert, &text, values, &zone) {
            Ok(blocks) => blocks,
            Err(error) => {
                // Without any rows, so that the connection continues.
                return insert.give_up().await.and(Err(error));
            }
        };
        for block in &blocks {
            insert.write(&block.batch).await?;
        }
        Ok(insert.finish().await?.query)
    }

    /// The values of expressions, which the server knows.
    async fn values_of(
        &self,
        expressions: &[String],
        left: &impl Fn(&Self) -> Option<Duration>,
    ) -> Result<Vec<Literal>> {
        let (mut values, mut rest) = (Vec::with_capacity(expressions.len()), expressions);
        while let [first, ..] = rest {
            let mut size = first.len();
            let more = rest.iter().skip(1).take(MAX_EXPRESSIONS - 1).take_while(|text| {
                size += text.len();
                size <= MAX_TEXT
            });
            let count = 1 + more.count();
            let (some, others) = rest.split_at_checked(count).unwrap_or((rest, &[]));
            rest = others;
            // In lines of their own, for a comment may be at their end. A row of one column would be taken for its value.
            let columns: String = some.iter().map(|text| format!("({text}\n), ")).collect();
            let mut request = self.clone();
            request.query.id = String::new();
            request.query.text = format!("SELECT {columns}0");
            request.deadline = left(self);
            let row: Vec<Literal> = request.strings(StringType::Binary).rows().fetch_one().await?;
            values.extend(row.into_iter().take(count));
        }
        Ok(values)
    }
}

/// The rows in blocks of the columns that the server expects, with `values` for the expressions among them.
fn blocks(insert: &Insert, text: &InsertText, values: Vec<Literal>, zone: &str) -> Result<Vec<Block>> {
    let schema = insert.schema();
    let names = schema.fields().iter().map(|field| field.name().clone());
    let mut builder = RowsBuilder::new(names.zip(insert.types().iter().cloned()))?;
    let (mut rows, mut values, mut blocks) = (text.rows()?, values.into_iter(), Vec::new());
    while let Some(mut row) = rows.next()? {
        for literal in &mut row {
            if matches!(literal, Literal::Expression(_)) {
                *literal = values.next().ok_or(Error::RowNotFound)?;
            }
        }
        builder.push_literals(&row, zone)?;
        if builder.len() >= ROWS_PER_BLOCK {
            blocks.push(builder.finish()?);
        }
    }
    if !builder.is_empty() {
        blocks.push(builder.finish()?);
    }
    Ok(blocks)
}

/// How many expressions one statement asks for, and how long it may be but for a single one: servers read texts of 256 KiB.
const MAX_EXPRESSIONS: usize = 500;
const MAX_TEXT: usize = 100_000;
const ROWS_PER_BLOCK: usize = 1 << 16;
