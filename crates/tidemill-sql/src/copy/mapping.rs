//! The type of each column of a copy, and what its values lose.

use std::fmt;

use arrow_schema::{DataType, Field, Schema, TimeUnit};
use tidemill_clickhouse::arrow_type;
use tidemill_xbase::FieldSpec;

use super::CopyOptions;
use crate::format::Format;
use crate::location::Location;
use crate::sink::{refuse_unwritable, without_mark};
use crate::stores::server::{ServerUrl, TableOptions};
use crate::{Error, Result, Session};

/// A column of a copy.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MappedColumn {
    /// Its name at the source.
    pub name: String,
    /// Its type at the source.
    pub from: DataType,
    /// Its type in the copy, in the terms of the copy's format; for an xBase field, with its name.
    pub to: String,
    /// What a value may lose; `None` if each value is copied exactly or refused.
    pub loss: Option<Loss>,
}

/// What a value may lose in the type of its column in a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Loss {
    /// Fractions of a millisecond.
    FinerThanMilliseconds,
    /// The time zone for display; the instant is preserved, in UTC.
    Zone,
    /// Both.
    ZoneAndFinerThanMilliseconds,
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::FinerThanMilliseconds => "what is finer than a millisecond is cut",
            Self::Zone => "the zone is left out",
            Self::ZoneAndFinerThanMilliseconds => "the zone is left out, and what is finer than a millisecond is cut",
        })
    }
}

impl fmt::Display for MappedColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} → {}", self.name, self.from, self.to)?;
        match self.loss {
            Some(loss) => write!(f, " ({loss})"),
            None => Ok(()),
        }
    }
}

/// The columns of a new file.
///
/// # Errors
///
/// A type that the format lacks.
pub(super) fn of_file(schema: &Schema, format: Format) -> Result<Vec<MappedColumn>> {
    let fields = || schema.fields().iter();
    refuse_unwritable(schema, format)?;
    let losses = losses(schema, format);
    Ok(match format {
        Format::Xbase => {
            let (columns, mark) = without_mark(schema);
            let mut specs = FieldSpec::from_schema(&columns)?.into_iter();
            let mapped = fields().enumerate().map(|(place, field)| {
                let to = match mark {
                    Some(mark) if mark == place => "the mark of deleted records".to_owned(),
                    _ => specs.next().as_ref().map(of_xbase).unwrap_or_default(),
                };
                mapped(field, to, losses.get(place).copied().flatten())
            });
            mapped.collect()
        }
        Format::Csv(_) => fields()
            .zip(losses)
            .map(|(field, loss)| mapped(field, "text".to_owned(), loss))
            .collect(),
        Format::Excel(_) => fields()
            .zip(losses)
            .map(|(field, loss)| mapped(field, "cells".to_owned(), loss))
            .collect(),
        Format::JsonLines => fields()
            .zip(losses)
            .map(|(field, loss)| mapped(field, "JSON".to_owned(), loss))
            .collect(),
        Format::Native(_) => {
            let columns = fields().map(|field| {
                let to = arrow_type::data_type(field).map_err(Error::native(field.name()))?;
                Ok(mapped(field, to.to_string(), None))
            });
            columns.collect::<Result<_>>()?
        }
        _ => fields()
            .map(|field| mapped(field, field.data_type().to_string(), None))
            .collect(),
    })
}

impl Session {
    /// The columns of a new table of a server.
    ///
    /// # Errors
    ///
    /// [`Error::Server`] for a type that it lacks, and if it does not answer.
    pub(super) async fn columns_of_new_table(
        &self,
        schema: &Schema,
        table: &ServerUrl,
        options: &TableOptions,
    ) -> Result<Vec<MappedColumn>> {
        let columns = self.servers.of(table)?.new_columns(table, schema, options).await?;
        let columns = columns.into_iter();
        Ok(columns.map(|(field, to)| mapped(&field, to, None)).collect())
    }
}

/// Columns for an existing table, matched by name; each value is checked by converting it back before it is sent.
pub(super) fn into_table(schema: &Schema, table: &Schema) -> Vec<MappedColumn> {
    let columns = schema.fields().iter().map(|field| {
        let mut known = table.fields().iter();
        let to = known.find(|known| known.name().eq_ignore_ascii_case(field.name()));
        let to = to.map_or_else(|| "no column".to_owned(), |to| to.data_type().to_string());
        mapped(field, to, None)
    });
    columns.collect()
}

/// What the values of each column may lose in a format, in the order of the columns.
pub(crate) fn losses(schema: &Schema, format: Format) -> Vec<Option<Loss>> {
    let fields = schema.fields().iter();
    let loss = |field: &Field| match format {
        Format::Xbase | Format::Excel(_) => match (without_zone(field), cut_to_milliseconds(field)) {
            (Some(_), Some(_)) => Some(Loss::ZoneAndFinerThanMilliseconds),
            (zone, finer) => zone.or(finer),
        },
        _ => None,
    };
    fields.map(|field| loss(field)).collect()
}

/// # Errors
///
/// [`Error::Lossy`] if values may lose something and the options do not allow it.
pub(super) fn refuse_losses(columns: &[MappedColumn], destination: &Location, options: &CopyOptions) -> Result<()> {
    let lost = columns.iter().filter(|column| column.loss.is_some());
    let lost: Vec<String> = lost.map(ToString::to_string).collect();
    match lost.is_empty() || options.lossy {
        true => Ok(()),
        false => Err(Error::Lossy {
            place: destination.to_string(),
            columns: lost,
        }),
    }
}

fn mapped(field: &Field, to: String, loss: Option<Loss>) -> MappedColumn {
    MappedColumn {
        name: field.name().clone(),
        from: field.data_type().clone(),
        to,
        loss,
    }
}

/// A field in the usual notation of an xBase structure.
fn of_xbase(spec: &FieldSpec) -> String {
    let FieldSpec { name, letter, .. } = spec;
    match letter {
        'C' | 'V' | 'Q' => format!("{name} {letter}({})", spec.width),
        'N' | 'F' if spec.decimals == 0 => format!("{name} {letter}({})", spec.width),
        'N' | 'F' => format!("{name} {letter}({},{})", spec.width, spec.decimals),
        _ => format!("{name} {letter}"),
    }
}

/// For formats with milliseconds.
fn cut_to_milliseconds(field: &Field) -> Option<Loss> {
    let is_finer = matches!(
        field.data_type(),
        DataType::Timestamp(TimeUnit::Microsecond | TimeUnit::Nanosecond, _) | DataType::Time64(_)
    );
    is_finer.then_some(Loss::FinerThanMilliseconds)
}

/// For formats without time zones.
fn without_zone(field: &Field) -> Option<Loss> {
    let is_zoned = matches!(field.data_type(), DataType::Timestamp(_, Some(zone)) if !is_universal(zone));
    is_zoned.then_some(Loss::Zone)
}

fn is_universal(zone: &str) -> bool {
    matches!(zone, "UTC" | "Etc/UTC" | "Z" | "+00:00")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema() -> Schema {
        Schema::new(vec![
            Field::new("id", DataType::Int64, true),
            Field::new("at", DataType::Timestamp(TimeUnit::Nanosecond, None), true),
            Field::new(
                "seen",
                DataType::Timestamp(TimeUnit::Second, Some("Asia/Tokyo".into())),
                true,
            ),
            Field::new("a_long_name", DataType::Decimal128(9, 2), true),
        ])
    }

    #[test]
    fn a_zone_and_digits_are_lost_together() {
        let moment = Field::new(
            "at",
            DataType::Timestamp(TimeUnit::Microsecond, Some("Europe/Vienna".into())),
            true,
        );
        let schema = Schema::new(vec![moment]);
        assert_eq!(
            losses(&schema, Format::Xbase),
            [Some(Loss::ZoneAndFinerThanMilliseconds)]
        );
        assert_eq!(losses(&schema, Format::JsonLines), [None]);
    }

    #[test]
    fn what_is_lost_is_said() {
        use tidemill_clickhouse::arrow_type::StringType;

        let told = |format| -> Vec<String> {
            of_file(&schema(), format)
                .unwrap()
                .iter()
                .map(ToString::to_string)
                .collect()
        };
        assert_eq!(
            told(Format::Xbase),
            [
                "id: Int64 → ID N(20)",
                "at: Timestamp(ns) → AT T (what is finer than a millisecond is cut)",
                "seen: Timestamp(s, \"Asia/Tokyo\") → SEEN T (the zone is left out)",
                "a_long_name: Decimal128(9, 2) → A_LONG_NAM N(11,2)",
            ]
        );
        assert!(told(Format::JsonLines)[1].ends_with("JSON"));
        assert!(told(Format::Csv(tidemill_csv::CsvOptions::NONE))[1].ends_with("text"));
        assert_eq!(
            told(Format::Native(StringType::ByContent))[1],
            "at: Timestamp(ns) → Nullable(DateTime64(9))"
        );
        assert!(
            told(Format::Parquet)
                .iter()
                .all(|line| !line.ends_with(')') || line.contains("Decimal") || line.contains("Timestamp"))
        );
    }

    #[test]
    fn types_that_a_format_has_not_are_refused() {
        let list = Field::new_list("l", Field::new("item", DataType::Int8, true), true);
        assert!(of_file(&Schema::new(vec![list]), Format::Xbase).is_err());
    }
}
