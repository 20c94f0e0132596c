//! Describes an index file and its orders.

use std::path::Path;

use serde::Serialize;
use tidemill_xbase::index::{Index, IndexDialect, IndexOptions, Tag};
use tidemill_xbase::{Table, production_path};

use super::{lines, table};
use crate::args::TableArgs;
use crate::commands::counted;

#[derive(Serialize)]
pub(crate) struct IndexDescription {
    file: String,
    format: &'static str,
    bytes: u64,
    page_bytes: u64,
    /// `None` if the table's header requires the file, and it is missing.
    orders: Option<Vec<OrderDescription>>,
}

#[derive(Serialize)]
struct OrderDescription {
    name: String,
    expression: String,
    condition: Option<String>,
    key_bytes: usize,
    unique: bool,
    candidate: bool,
    descending: bool,
    custom: bool,
}

/// Describes an index without its table; candidate indexes then look like custom ones.
pub(crate) fn describe(path: &Path, args: &TableArgs) -> anyhow::Result<IndexDescription> {
    describe_with(IndexOptions::new(), path, args)
}

fn describe_with(mut options: IndexOptions, path: &Path, args: &TableArgs) -> anyhow::Result<IndexDescription> {
    if let Some(codepage) = args.codepage {
        options = options.codepage(codepage);
    }
    let index = Index::open(path, &options)?;
    Ok(IndexDescription {
        file: path.display().to_string(),
        format: match index.dialect() {
            IndexDialect::Ntx => "ntx",
            IndexDialect::Nsx => "nsx",
            IndexDialect::Mdx => "mdx",
            IndexDialect::Ndx => "ndx",
            IndexDialect::Idx => "idx",
            IndexDialect::Adi => "adi",
            _ => "cdx",
        },
        bytes: std::fs::metadata(path)?.len(),
        page_bytes: index.page_len(),
        orders: Some(index.tags().iter().map(describe_order).collect()),
    })
}

/// Describes the production index of a table, or reports that it is missing.
pub(crate) fn production(table: &Table, args: &TableArgs) -> anyhow::Result<Option<IndexDescription>> {
    match production_path(table) {
        Ok(path) => {
            let options = IndexOptions::new().table_dialect(table.header().dialect);
            path.map(|path| describe_with(options, &path, args)).transpose()
        }
        Err(_) => Ok(Some(IndexDescription {
            file: table.path().with_extension("cdx").display().to_string(),
            format: "cdx",
            bytes: 0,
            page_bytes: 0,
            orders: None,
        })),
    }
}

fn describe_order(tag: &Tag) -> OrderDescription {
    OrderDescription {
        name: tag.name.clone(),
        expression: tag.expression.clone(),
        condition: tag.condition.clone(),
        key_bytes: tag.key_len,
        unique: tag.is_unique,
        candidate: tag.is_candidate,
        descending: tag.is_descending,
        custom: tag.is_custom,
    }
}

impl IndexDescription {
    pub(crate) fn text(&self) -> String {
        let mut text = lines(&[
            ("file", self.file.clone()),
            ("format", format!("{}, pages of {} bytes", self.format, self.page_bytes)),
            ("size", format!("{} bytes", self.bytes)),
        ]);
        text += &self.table();
        text
    }

    /// The file in one line.
    pub(crate) fn line(&self) -> String {
        match &self.orders {
            Some(orders) => format!("{} ({})", self.file, counted(orders.len() as u64, "index tag")),
            None => format!("{}, which does not exist", self.file),
        }
    }

    /// Its orders as a table.
    pub(crate) fn table(&self) -> String {
        let Some(orders) = &self.orders else {
            return String::new();
        };
        let rows = orders.iter().map(|order| {
            let kinds = [
                (order.unique, "unique"),
                (order.candidate, "candidate"),
                (order.descending, "descending"),
                (order.custom, "custom"),
            ];
            let kinds = kinds.into_iter().filter_map(|(is_so, kind)| is_so.then_some(kind));
            vec![
                order.name.clone(),
                order.expression.clone(),
                order.condition.clone().unwrap_or_default(),
                order.key_bytes.to_string(),
                kinds.collect::<Vec<_>>().join(", "),
            ]
        });
        table(&["tag", "by", "for", "key bytes", "kind"], rows)
    }
}
