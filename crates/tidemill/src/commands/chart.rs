//! `tidemill chart`.

mod picture;
mod text;

use std::fs;
use std::io::{IsTerminal, Write};
use std::path::Path;

use anyhow::{Context, bail};
use arrow_array::cast::AsArray as _;
use arrow_array::types::Float64Type;
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::{DataType, SchemaRef, TimeUnit};
use tidemill_sql::{Answer, Session, as_numbers, source_is_query, text_of_number};

use crate::Outcome;
use crate::args::{ChartArgs, ChartKind};
use crate::commands::counted;
use crate::output::report_damage;
use crate::terminal::{Output, note, tell};

/// The most points that are drawn.
const MOST_POINTS: usize = 1_000_000;
/// The most bars that are drawn.
const MOST_BARS: usize = 60;

pub(crate) async fn run(args: ChartArgs) -> anyhow::Result<Outcome> {
    let session = Session::new(args.limits.of_tables(args.tables.options()));
    let answer = match source_is_query(&args.table) {
        true => session.rows_of(&args.table).await?,
        false => {
            let table = session.locate(&args.table).await?;
            args.tables.check(&table)?;
            session.read(&table, None).await?
        }
    };
    let chart = Chart::read(answer, &args).await?;
    report_damage(&session);
    match &args.out {
        Some(file) => {
            write_file(file, &chart)?;
            note!("{}: {}", file.display(), counted(chart.points() as u64, chart.unit()));
        }
        None => {
            let size = terminal_size::terminal_size().filter(|_| std::io::stdout().is_terminal());
            let (width, height) = size.map_or((80, 24), |(width, height)| {
                (usize::from(width.0), usize::from(height.0))
            });
            Output::of_text().write_all(text::draw(&chart, width, height).as_bytes())?;
        }
    }
    Ok(Outcome::Done)
}

/// Writes a new file, completely or not at all.
fn write_file(file: &Path, chart: &Chart) -> anyhow::Result<()> {
    let extension = file.extension().unwrap_or_default().to_ascii_lowercase();
    let is_png = extension == "png";
    if !is_png && extension != "svg" {
        bail!("{}: a chart is written as .svg or .png", file.display());
    }
    let mut made = fs::File::create_new(file).with_context(|| format!("cannot create {}", file.display()))?;
    let written = match is_png {
        true => picture::write_png(chart, file),
        false => picture::svg(chart).and_then(|text| Ok(made.write_all(text.as_bytes())?)),
    };
    written.inspect_err(|_| drop(fs::remove_file(file)))
}

/// The data of a chart.
struct Chart {
    x: String,
    y: String,
    shape: Shape,
}

enum Shape {
    /// One bar per row: its label and its length.
    Bars(Vec<(String, f64)>),
    /// One point per row. The type determines the labels of the horizontal axis.
    Points {
        points: Vec<(f64, f64)>,
        joined: bool,
        x_type: DataType,
    },
}

impl Chart {
    async fn read(mut answer: Answer, args: &ChartArgs) -> anyhow::Result<Self> {
        let schema = answer.schema();
        let (x, y) = columns(&schema, args)?;
        let x_type = schema.field(x).data_type().clone();
        let has_axis = x_type.is_numeric() || x_type.is_temporal();
        let kind = args.kind.unwrap_or(match has_axis {
            true => ChartKind::Line,
            false => ChartKind::Bar,
        });
        if kind != ChartKind::Bar && !has_axis {
            bail!(
                "column {}: a {} needs numbers, dates or times below it; --kind bar takes texts",
                schema.field(x).name(),
                if kind == ChartKind::Line {
                    "line"
                } else {
                    "scatter plot"
                }
            );
        }
        let (mut bars, mut points, mut left_out) = (Vec::new(), Vec::new(), 0_u64);
        while let Some(batch) = answer.next().await? {
            let values = as_numbers(batch.column(y))?;
            let values = values.as_primitive::<Float64Type>();
            if kind == ChartKind::Bar {
                let labels = batch.column(x);
                let formatter = ArrayFormatter::try_new(labels, &FormatOptions::default().with_null("NULL"))?;
                for (row, value) in values.iter().enumerate() {
                    match value {
                        Some(value) if value.is_finite() && bars.len() < MOST_BARS => {
                            bars.push((formatter.value(row).try_to_string()?, value));
                        }
                        _ => left_out += 1,
                    }
                }
                continue;
            }
            let places = as_numbers(batch.column(x))?;
            for pair in places.as_primitive::<Float64Type>().iter().zip(values) {
                match pair {
                    (Some(x), Some(y)) if x.is_finite() && y.is_finite() && points.len() < MOST_POINTS => {
                        points.push((x, y));
                    }
                    _ => left_out += 1,
                }
            }
        }
        if left_out > 0 {
            tell!(
                "not drawn: {} (NULL, or beyond the first {})",
                counted(left_out, "row"),
                if kind == ChartKind::Bar { MOST_BARS } else { MOST_POINTS }
            );
        }
        if bars.is_empty() && points.is_empty() {
            bail!("{}: no rows to draw", args.table);
        }
        if kind == ChartKind::Line {
            points.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        }
        Ok(Self {
            x: schema.field(x).name().clone(),
            y: schema.field(y).name().clone(),
            shape: match kind {
                ChartKind::Bar => Shape::Bars(bars),
                _ => Shape::Points {
                    points,
                    joined: kind == ChartKind::Line,
                    x_type,
                },
            },
        })
    }

    fn points(&self) -> usize {
        match &self.shape {
            Shape::Bars(bars) => bars.len(),
            Shape::Points { points, .. } => points.len(),
        }
    }

    fn unit(&self) -> &'static str {
        match self.shape {
            Shape::Bars(_) => "bar",
            Shape::Points { .. } => "point",
        }
    }
}

/// The columns of the axes.
fn columns(schema: &SchemaRef, args: &ChartArgs) -> anyhow::Result<(usize, usize)> {
    let names = || {
        schema
            .fields()
            .iter()
            .map(|field| field.name().as_str())
            .collect::<Vec<_>>()
            .join(", ")
    };
    let named = |name: &String| {
        let mut fields = schema.fields().iter();
        let place = fields.position(|field| field.name().eq_ignore_ascii_case(name));
        place.with_context(|| format!("column {name} not found; the columns are {}", names()))
    };
    let x = args.x.as_ref().map(named).transpose()?;
    let y = match &args.y {
        Some(name) => named(name)?,
        None => {
            let mut fields = schema.fields().iter().enumerate();
            let first = x.unwrap_or(0);
            let number = fields.find(|(place, field)| *place != first && field.data_type().is_numeric());
            let number = number.or_else(|| {
                schema
                    .fields()
                    .iter()
                    .enumerate()
                    .find(|(_, field)| field.data_type().is_numeric())
            });
            let (place, _) = number.with_context(|| format!("no column of numbers among {}", names()))?;
            place
        }
    };
    if !schema.field(y).data_type().is_numeric() {
        bail!(
            "column {}: expected numbers, found {}",
            schema.field(y).name(),
            schema.field(y).data_type()
        );
    }
    Ok((x.unwrap_or(0), y))
}

/// The labels of the horizontal axis.
struct Axis<'t> {
    data_type: &'t DataType,
    /// How many characters of a timestamp are shown: the date over many days, else the time too.
    letters: usize,
}

impl<'t> Axis<'t> {
    /// An axis of this length, in the units of its type.
    fn of(data_type: &'t DataType, length: f64) -> Self {
        const SECONDS: f64 = 3.0 * 86_400.0;
        let per_second = match data_type {
            DataType::Timestamp(TimeUnit::Second, _) => 1.0,
            DataType::Timestamp(TimeUnit::Millisecond, _) => 1e3,
            DataType::Timestamp(TimeUnit::Microsecond, _) => 1e6,
            _ => 1e9,
        };
        let letters = match data_type {
            DataType::Timestamp(..) if length >= SECONDS * per_second => "2024-02-29".len(),
            DataType::Timestamp(..) => "2024-02-29 13:05".len(),
            _ => usize::MAX,
        };
        Self { data_type, letters }
    }

    /// The label of a value, formatted like its column.
    fn label(&self, value: f64) -> String {
        let text = match self.data_type.is_temporal() {
            true => text_of_number(value.round(), self.data_type).ok(),
            false => None,
        };
        text.map_or_else(|| short(value), |text| text.chars().take(self.letters).collect())
    }
}

/// A short form of a number: `1234567` as `1.23M`.
fn short(value: f64) -> String {
    const UNITS: [(f64, &str); 4] = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e4, "k")];
    let trimmed = |number: f64| {
        let text = format!("{number:.2}");
        match text.contains('.') {
            true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
            false => text,
        }
    };
    for (unit, name) in UNITS {
        if value.abs() >= unit {
            let unit = if name == "k" { 1e3 } else { unit };
            return format!("{}{name}", trimmed(value / unit));
        }
    }
    match value == 0.0 || value.abs() >= 0.01 {
        true => trimmed(value),
        false => format!("{value:.1e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_axes_are_short() {
        for (number, text) in [
            (0.0, "0"),
            (1.5, "1.5"),
            (9_999.0, "9999"),
            (12_345.0, "12.35k"),
            (-1_234_567.0, "-1.23M"),
            (0.001, "1.0e-3"),
        ] {
            assert_eq!(short(number), text);
        }
        let label = |data_type: &DataType, length: f64, value: f64| Axis::of(data_type, length).label(value);
        assert_eq!(label(&DataType::Date32, 9.0, 19_782.0), "2024-02-29");
        let seconds = DataType::Timestamp(TimeUnit::Second, None);
        assert_eq!(label(&seconds, 3600.0, 1_709_211_900.0), "2024-02-29 13:05");
        assert_eq!(label(&seconds, 1e9, 1_709_211_900.0), "2024-02-29");
    }
}
