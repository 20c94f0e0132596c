//! `tidemill inspect`.
//!
//! A description is a value that serde writes as JSON; the text form is laid out from the same value.

mod index;
mod log;
mod riegeli;

use std::io::Write;
use std::path::Path;

use anyhow::bail;
use comfy_table::{Table, presets};
use serde::Serialize;
use tidemill_sql::{Format, Location, Place, Session, create_table};
use tidemill_xbase::index::IndexDialect;
use tidemill_xbase::{ContainerLink, ContainerRelation, ContainerTable, IntegrityRule};

use crate::Outcome;
use crate::args::{InspectArgs, ReportFormat, TableArgs};
use crate::commands::tables_in;
use crate::output::report_damage;
use crate::terminal::{self, Output, say, shown, tell};

pub(crate) async fn run(args: InspectArgs) -> anyhow::Result<Outcome> {
    let session = args.tables.session();
    let are_several = args.files.len() > 1;
    let mut outcome = Outcome::Done;
    for file in &args.files {
        match inspect(file, are_several, &session, &args).await {
            Ok(Outcome::Done) => {}
            Ok(other) => outcome = other,
            // An error in one file does not stop the others.
            Err(error) if are_several && !terminal::is_closed() => {
                tell!("{error:#}");
                outcome = Outcome::Negative;
            }
            Err(error) => return Err(error),
        }
    }
    report_damage(&session);
    Ok(outcome)
}

/// Describes an argument, alone or as one of many.
async fn inspect(file: &str, are_several: bool, session: &Session, args: &InspectArgs) -> anyhow::Result<Outcome> {
    let path = session.names().path(file)?;
    if let Some(path) = &path {
        let description = if IndexDialect::from_path(path).is_some() {
            Some(Description::Index(index::describe(path, &args.tables)?))
        } else if is_log(path) {
            Some(Description::Log(log::describe(path)?))
        } else {
            None
        };
        if let Some(description) = description {
            return description.write(args.format, are_several);
        }
    }
    let folder = path.filter(|path| path.is_dir());
    let tables = match &folder {
        Some(folder) => tables_in(folder)?,
        None => session.locate(file).await?.parts().await?,
    };
    let several = are_several || folder.is_some() || tables.len() > 1;
    if tables.is_empty() {
        bail!("{file}: no tables in this folder");
    }
    let mut outcome = Outcome::Done;
    for table in tables {
        if let Some(kind) = &args.ddl {
            let schema = session.schema(&table).await?;
            say!("{};", create_table(kind, &table.table_name(), &schema)?)?;
            continue;
        }
        match describe(&table, session, &args.tables).await {
            Ok(description) => drop(description.write(args.format, several)?),
            Err(error) if several => {
                tell!("{error:#}");
                outcome = Outcome::Negative;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(outcome)
}

/// Describes a table.
pub(crate) async fn describe(table: &Location, session: &Session, args: &TableArgs) -> anyhow::Result<Description> {
    if table.place == Place::StandardInput {
        let spooled = session.spooled(table).await?;
        let mut description = Box::pin(describe(&spooled, session, args)).await?;
        description.rename(table.to_string());
        return Ok(description);
    }
    Ok(match table.format {
        Format::Xbase => Description::Xbase(Box::new(describe_xbase(table, args)?)),
        Format::Riegeli | Format::ArrayRecord => {
            Description::Riegeli(Box::new(riegeli::describe(table, session, args).await?))
        }
        _ => Description::Other(describe_other(table, session).await?),
    })
}

#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum Description {
    Xbase(Box<XbaseDescription>),
    Riegeli(Box<riegeli::RiegeliDescription>),
    Index(index::IndexDescription),
    Log(log::LogDescription),
    Other(OtherDescription),
}

#[derive(Serialize)]
pub(crate) struct XbaseDescription {
    file: String,
    format: &'static str,
    bytes: u64,
    dialect: String,
    version_byte: String,
    last_update: Option<String>,
    codepage: String,
    language_byte: u8,
    records: u32,
    deleted_records: u32,
    header_bytes: u32,
    record_bytes: u32,
    memo: Option<MemoDescription>,
    #[serde(skip_serializing_if = "Option::is_none")]
    index: Option<index::IndexDescription>,
    #[serde(skip_serializing_if = "Option::is_none")]
    container: Option<ContainerDescription>,
    /// Deviations from the format that do not prevent reading.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    fields: Vec<FieldDescription>,
}

/// The properties of a Visual FoxPro table in its database container.
#[derive(Serialize)]
struct ContainerDescription {
    file: String,
    table: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    comment: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    triggers: Vec<String>,
    /// The relations to its parent tables.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    relations: Vec<String>,
}

#[derive(Serialize)]
struct MemoDescription {
    file: String,
    dialect: String,
    block_bytes: u32,
}

#[derive(Serialize)]
struct FieldDescription {
    name: String,
    r#type: String,
    width: usize,
    decimals: u32,
    nullable: bool,
    arrow: String,
    /// The name in the table's header, if it differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    short_name: Option<String>,
    /// Its properties in the container: `caption: …`, `comment: …`, `default: …`, `rule: …`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    said: Vec<String>,
}

#[derive(Serialize)]
pub(crate) struct OtherDescription {
    file: String,
    format: String,
    /// The dialect of a CSV file.
    #[serde(skip_serializing_if = "Option::is_none")]
    dialect: Option<String>,
    bytes: u64,
    columns: Vec<ColumnDescription>,
}

#[derive(Serialize)]
struct ColumnDescription {
    name: String,
    arrow: String,
}

fn describe_xbase(location: &Location, args: &TableArgs) -> anyhow::Result<XbaseDescription> {
    let table = tidemill_xbase::Table::open(location.file()?, &args.xbase())?;
    let header = table.header();
    let schema = table.schema();
    let mut notes: Vec<String> = table.notes().iter().map(ToString::to_string).collect();
    let container = match table.container() {
        ContainerLink::Used { container, .. } => table.container().table().map(|known| (container.path(), known)),
        ContainerLink::Unused { name, why } => {
            notes.push(format!("the database container {name} is not used: {why}"));
            None
        }
        _ => None,
    };
    // System fields, which are hidden, have no column.
    let visible = table
        .fields()
        .iter()
        .filter_map(|field| Some((field, schema.field_with_name(&field.name).ok()?)));
    Ok(XbaseDescription {
        file: location.to_string(),
        format: "xbase",
        bytes: location.bytes()?.unwrap_or_default(),
        dialect: header.dialect.to_string(),
        version_byte: format!("{:02X}", header.version),
        last_update: header
            .last_update
            .map(|day| format!("{:04}-{:02}-{:02}", day.year, day.month, day.day)),
        codepage: table.codepage().to_string(),
        language_byte: header.language,
        records: table.record_count(),
        deleted_records: table.deleted_count()?,
        header_bytes: header.header_len,
        record_bytes: header.record_len,
        memo: table.memo().map(|memo| MemoDescription {
            file: memo.path().display().to_string(),
            dialect: memo.dialect().to_string(),
            block_bytes: memo.block_size(),
        }),
        index: index::production(&table, args)?,
        container: container.map(|(path, known)| ContainerDescription {
            file: path.display().to_string(),
            table: known.name.clone(),
            comment: known.comment.clone(),
            rule: known.rule.clone(),
            triggers: [
                ("insert", &known.insert_trigger),
                ("update", &known.update_trigger),
                ("delete", &known.delete_trigger),
            ]
            .into_iter()
            .filter_map(|(when, what)| Some(format!("{when}: {}", what.as_ref()?)))
            .collect(),
            relations: known.relations.iter().map(relation).collect(),
        }),
        notes,
        fields: visible
            .map(|(field, column)| FieldDescription {
                short_name: (field.short_name != field.name).then(|| field.short_name.clone()),
                said: container.map_or_else(Vec::new, |(_, known)| said(known, &field.name)),
                name: field.name.clone(),
                r#type: match field.adt_type {
                    Some(adt_type) => adt_type.name().to_owned(),
                    None => field.letter.to_string(),
                },
                width: field.width,
                decimals: u32::from(field.decimals),
                nullable: field.nullable,
                arrow: column.data_type().to_string(),
            })
            .collect(),
    })
}

/// A relation of a container, and how Visual FoxPro enforces it.
fn relation(relation: &ContainerRelation) -> String {
    let rules = [
        ("update", relation.on_update),
        ("delete", relation.on_delete),
        ("insert", relation.on_insert),
    ];
    let rules = rules.into_iter().filter_map(|(when, rule)| {
        let rule = match rule? {
            IntegrityRule::Cascade => "cascade",
            IntegrityRule::Restrict => "restrict",
            IntegrityRule::Ignore => "ignore",
            _ => return None,
        };
        Some(format!("{when}: {rule}"))
    });
    let rules: Vec<String> = rules.collect();
    let ContainerRelation {
        tag,
        parent,
        parent_tag,
        ..
    } = relation;
    match rules.is_empty() {
        true => format!("{tag} to {parent} ({parent_tag})"),
        false => format!("{tag} to {parent} ({parent_tag}), {}", rules.join(", ")),
    }
}

/// The properties of a field in a container.
fn said(table: &ContainerTable, field: &str) -> Vec<String> {
    let Some(known) = table.fields.iter().find(|known| known.name.eq_ignore_ascii_case(field)) else {
        return Vec::new();
    };
    let parts = [
        ("caption", &known.caption),
        ("comment", &known.comment),
        ("default", &known.default),
        ("rule", &known.rule),
        ("input mask", &known.input_mask),
        ("format", &known.format),
    ];
    let said = parts
        .into_iter()
        .filter_map(|(what, text)| Some((what, text.as_ref()?)));
    said.map(|(what, text)| format!("{what}: {text}")).collect()
}

async fn describe_other(location: &Location, session: &Session) -> anyhow::Result<OtherDescription> {
    let bytes = match (location.bytes()?, &location.place) {
        (None, Place::Object(_)) => location.source().await?.map(|object| object.size()).transpose()?,
        (bytes, _) => bytes,
    };
    Ok(OtherDescription {
        file: location.to_string(),
        format: location.format.to_string(),
        dialect: session.csv_dialect(location).await?.map(|dialect| dialect.to_string()),
        bytes: bytes.unwrap_or_default(),
        columns: columns(session.schema(location).await?.as_ref()),
    })
}

fn columns(schema: &arrow_schema::Schema) -> Vec<ColumnDescription> {
    let describe = |field: &arrow_schema::FieldRef| ColumnDescription {
        name: field.name().clone(),
        arrow: field.data_type().to_string(),
    };
    schema.fields().iter().map(describe).collect()
}

/// Whether a file is a transaction log, by its extension.
pub(crate) fn is_log(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("tmlog"))
}

impl Description {
    /// Replaces the file name in the description of a record file.
    fn rename(&mut self, file: String) {
        match self {
            Self::Riegeli(riegeli) => riegeli.file = file,
            Self::Other(other) => other.file = file,
            Self::Xbase(_) | Self::Index(_) | Self::Log(_) => {}
        }
    }

    fn write(&self, format: ReportFormat, several: bool) -> anyhow::Result<Outcome> {
        let mut out = Output::new();
        match format {
            ReportFormat::Json => writeln!(out, "{}", self.json()?)?,
            ReportFormat::Text if several => writeln!(out, "{}", shown(&self.line()))?,
            ReportFormat::Text => out.write_all(shown(&self.text()).as_bytes())?,
        }
        Ok(Outcome::Done)
    }

    fn json(&self) -> anyhow::Result<String> {
        Ok(serde_json::to_string(self)?)
    }

    /// The description in one line, for lists of files.
    pub(crate) fn line(&self) -> String {
        match self {
            Self::Xbase(xbase) => format!(
                "{}: {}, {} records ({} deleted), {} fields, {} bytes a record, {}{}",
                xbase.file,
                xbase.dialect,
                xbase.records,
                xbase.deleted_records,
                xbase.fields.len(),
                xbase.record_bytes,
                xbase.codepage,
                xbase
                    .memo
                    .as_ref()
                    .map_or_else(String::new, |memo| format!(", memos in {}", memo.dialect)),
            ),
            Self::Riegeli(riegeli) => riegeli.line(),
            Self::Index(index) => index.line(),
            Self::Log(log) => log.text(),
            Self::Other(other) => {
                format!(
                    "{}: {}, {} columns, {} bytes",
                    other.file,
                    other.format,
                    other.columns.len(),
                    other.bytes
                )
            }
        }
    }

    /// The description as lines of names and values, with its columns as a table.
    fn text(&self) -> String {
        match self {
            Self::Xbase(xbase) => xbase.text(),
            Self::Riegeli(riegeli) => riegeli.text(),
            Self::Index(index) => index.text(),
            Self::Log(log) => log.text(),
            Self::Other(other) => {
                let mut pairs = vec![("file", other.file.clone()), ("format", other.format.clone())];
                pairs.extend(other.dialect.clone().map(|dialect| ("dialect", dialect)));
                pairs.push(("size", format!("{} bytes", other.bytes)));
                let mut text = lines(&pairs);
                text += &column_table(&other.columns);
                text
            }
        }
    }
}

impl XbaseDescription {
    fn text(&self) -> String {
        let memo = self.memo.as_ref();
        let mut text = lines(&[
            ("file", self.file.clone()),
            (
                "format",
                format!("{} (version byte {})", self.dialect, self.version_byte),
            ),
            ("size", format!("{} bytes", self.bytes)),
            (
                "last update",
                self.last_update.clone().unwrap_or_else(|| "unknown".to_owned()),
            ),
            (
                "code page",
                format!("{} (language byte {:02X})", self.codepage, self.language_byte),
            ),
            (
                "records",
                format!("{}, {} of them deleted", self.records, self.deleted_records),
            ),
            (
                "record",
                format!("{} bytes, after a header of {}", self.record_bytes, self.header_bytes),
            ),
            (
                "memos",
                memo.map_or_else(
                    || "none".to_owned(),
                    |memo| format!("{} ({}, blocks of {} bytes)", memo.file, memo.dialect, memo.block_bytes),
                ),
            ),
        ]);
        if let Some(index) = &self.index {
            text += &lines(&[("index", index.line())]);
        }
        if let Some(container) = &self.container {
            text += &lines(&[("container", format!("{} (table {})", container.file, container.table))]);
            let more = [("comment", &container.comment), ("rule", &container.rule)];
            let more = more
                .into_iter()
                .filter_map(|(name, value)| Some((name, value.clone()?)));
            text += &lines(&more.collect::<Vec<_>>());
            text += &lines(
                &container
                    .triggers
                    .iter()
                    .map(|trigger| ("trigger", trigger.clone()))
                    .chain(
                        container
                            .relations
                            .iter()
                            .map(|relation| ("relation", relation.clone())),
                    )
                    .collect::<Vec<_>>(),
            );
        }
        text += &lines(&self.notes.iter().map(|note| ("note", note.clone())).collect::<Vec<_>>());
        let (has_short, has_said) = (
            self.fields.iter().any(|field| field.short_name.is_some()),
            self.fields.iter().any(|field| !field.said.is_empty()),
        );
        let mut header = vec!["field", "type", "width", "decimals", "as"];
        header.extend(has_short.then_some("in the header"));
        header.extend(has_said.then_some("container"));
        let rows = self.fields.iter().map(|field| {
            let mut row = vec![
                field.name.clone(),
                field.r#type.clone(),
                field.width.to_string(),
                field.decimals.to_string(),
                field.arrow.clone(),
            ];
            row.extend(has_short.then(|| field.short_name.clone().unwrap_or_default()));
            row.extend(has_said.then(|| field.said.join("\n")));
            row
        });
        text += &table(&header, rows);
        if let Some(index) = &self.index {
            text += &index.table();
        }
        text
    }
}

fn lines(pairs: &[(&str, String)]) -> String {
    pairs
        .iter()
        .map(|(name, value)| format!("{name:<13} {value}\n"))
        .collect()
}

fn column_table(columns: &[ColumnDescription]) -> String {
    table(
        &["column", "as"],
        columns
            .iter()
            .map(|column| vec![column.name.clone(), column.arrow.clone()]),
    )
}

fn table(header: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut table = Table::new();
    table
        .load_preset(presets::UTF8_FULL_CONDENSED)
        .set_header(header)
        .add_rows(rows);
    format!("{table}\n")
}
