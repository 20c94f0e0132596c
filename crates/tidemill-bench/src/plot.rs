//! Pictures of reports: throughput and latencies over time, and percentile curves.
//!
//! Every chart has plain coordinates: logarithms are taken of the points, and labels undo it.

mod glyphs;
mod series;

use std::path::Path;

use plotters::{
    backend::{BitMapBackend, DrawingBackend, SVGBackend},
    chart::{ChartBuilder, SeriesLabelPosition},
    coord::Shift,
    drawing::{DrawingArea, IntoDrawingArea as _},
    element::PathElement,
    series::LineSeries,
    style::{Color as _, IntoFont as _, RGBColor, WHITE},
};

pub use series::{Timeline, percentile_curve};

use crate::{Error, Result};
use glyphs::WithGlyphs;

/// Colours that are told apart without seeing red and green (Okabe and Ito 2008).
const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(0, 0, 0),
];

/// A picture of lines over two axes.
#[derive(Clone, Debug)]
pub struct Chart {
    /// What stands above it.
    pub title: String,
    /// The axis to the right.
    pub x: Axis,
    /// The axis upwards.
    pub y: Axis,
    /// The lines.
    pub lines: Vec<Line>,
}

/// A line with its name.
#[derive(Clone, Debug)]
pub struct Line {
    /// What stands in the legend.
    pub label: String,
    /// Points in the coordinates of the axes.
    pub points: Vec<(f64, f64)>,
}

/// What an axis measures.
#[derive(Clone, Debug)]
pub struct Axis {
    /// What stands beside it, with the unit.
    pub label: &'static str,
    /// How its coordinates are read.
    pub scale: Scale,
}

/// How a coordinate is read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Scale {
    /// As it is, from zero.
    Linear,
    /// The power of ten that is the value.
    Logarithm,
    /// How many nines: 2 is the 99th percentile.
    Nines,
}

/// Numbers of reports are anything; axes are divided in steps that must be told apart.
const LARGEST: f64 = 1e12;
const SMALLEST: f64 = 1e-9;

const TIME: Axis = Axis {
    label: "time [s]",
    scale: Scale::Linear,
};
const LATENCY: Axis = Axis {
    label: "latency [ms]",
    scale: Scale::Logarithm,
};

impl Chart {
    /// Cycles a second over time.
    pub fn throughput(lines: Vec<Line>) -> Self {
        Self {
            title: "Throughput".into(),
            x: TIME,
            y: Axis {
                label: "cycles [1/s]",
                scale: Scale::Linear,
            },
            lines,
        }
    }

    /// Latencies of cycles over time.
    pub fn latency(lines: Vec<Line>) -> Self {
        Self {
            title: "Latency of cycles".into(),
            x: TIME,
            y: LATENCY,
            lines,
        }
    }

    /// Latencies of cycles over percentiles.
    pub fn percentiles(lines: Vec<Line>) -> Self {
        Self {
            title: "Percentiles of the latency of cycles".into(),
            x: Axis {
                label: "percentile",
                scale: Scale::Nines,
            },
            y: LATENCY,
            lines,
        }
    }
}

/// Draws charts below one another as SVG.
///
/// # Errors
/// [`Error::Drawing`] when there is nothing to draw.
pub fn svg(charts: &[Chart], size: (u32, u32)) -> Result<String> {
    let mut text = String::new();
    draw(charts, SVGBackend::with_string(&mut text, size).into_drawing_area())?;
    Ok(text)
}

/// Draws charts below one another into a file, whose name ends in `.svg` or `.png`.
///
/// # Errors
/// [`Error::Misuse`] for another ending, [`Error::Drawing`] when there is nothing to draw or the file can't be written.
pub fn write(charts: &[Chart], size: (u32, u32), path: &Path) -> Result<()> {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("svg") => std::fs::write(path, svg(charts, size)?).map_err(Error::io("write", path)),
        Some("png") => draw(
            charts,
            WithGlyphs::new(BitMapBackend::new(path, size)).into_drawing_area(),
        ),
        _ => Err(Error::Misuse(format!(
            "{}: pictures are written as .svg or .png",
            path.display()
        ))),
    }
}

fn draw<B: DrawingBackend>(charts: &[Chart], area: DrawingArea<B, Shift>) -> Result<()> {
    area.fill(&WHITE).map_err(drawing)?;
    for (chart, part) in charts.iter().zip(area.split_evenly((charts.len(), 1))) {
        draw_chart(chart, &part)?;
    }
    area.present().map_err(drawing)
}

fn draw_chart<B: DrawingBackend>(chart: &Chart, area: &DrawingArea<B, Shift>) -> Result<()> {
    let points = chart.lines.iter().flat_map(|line| &line.points);
    let (x_from, x_to) = chart.x.range(points.clone().map(|point| point.0));
    let (y_from, y_to) = chart.y.range(points.map(|point| point.1));
    if !(x_from < x_to && y_from < y_to) {
        return Err(Error::Drawing(format!("{}: there are no points", chart.title)));
    }
    let farthest = [x_from, x_to, y_from, y_to]
        .map(f64::abs)
        .into_iter()
        .fold(0.0, f64::max);
    if farthest > LARGEST {
        return Err(Error::Drawing(format!(
            "{}: {farthest:e} is beyond what can be drawn",
            chart.title
        )));
    }
    let mut context = ChartBuilder::on(area)
        .margin(20)
        .caption(&chart.title, ("sans-serif", 24).into_font())
        .x_label_area_size(60)
        .y_label_area_size(90)
        .build_cartesian_2d(x_from..x_to, y_from..y_to)
        .map_err(drawing)?;
    context
        .configure_mesh()
        .x_desc(chart.x.label)
        .y_desc(chart.y.label)
        .axis_desc_style(("sans-serif", 20).into_font())
        .label_style(("sans-serif", 16).into_font())
        .x_label_formatter(&|value| chart.x.scale.text(*value))
        .y_label_formatter(&|value| chart.y.scale.text(*value))
        .light_line_style(WHITE)
        .draw()
        .map_err(drawing)?;
    for (index, line) in chart.lines.iter().enumerate() {
        let style = COLOURS[index % COLOURS.len()].stroke_width(2);
        context
            .draw_series(LineSeries::new(line.points.iter().copied(), style))
            .map_err(drawing)?
            .label(&line.label)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 20, y)], style));
    }
    context
        .configure_series_labels()
        .label_font(("sans-serif", 16).into_font())
        .position(SeriesLabelPosition::UpperLeft)
        .background_style(WHITE.mix(0.8))
        .border_style(RGBColor(160, 160, 160))
        .draw()
        .map_err(drawing)
}

fn drawing(error: impl std::fmt::Display) -> Error {
    Error::Drawing(error.to_string())
}

impl Axis {
    fn range(&self, values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
        let finite = values.filter(|value| value.is_finite());
        let (low, high) = finite.fold((f64::MAX, f64::MIN), |(low, high), value| {
            (low.min(value), high.max(value))
        });
        match self.scale {
            _ if low > high => (0.0, 0.0),
            Scale::Linear => (low.min(0.0), if high > SMALLEST { high * 1.05 } else { 1.0 }),
            Scale::Logarithm => (low - 0.1, high + 0.1),
            Scale::Nines => (0.0, high.max(1.0)),
        }
    }
}

impl Scale {
    fn text(self, value: f64) -> String {
        match self {
            Self::Linear => significant(value),
            Self::Logarithm => significant(10_f64.powf(value)),
            Self::Nines => {
                let percent = 100.0 * (1.0 - 10_f64.powf(-value));
                let decimals = (value.ceil() as usize)
                    .saturating_sub(2)
                    .max(usize::from(value.fract() != 0.0));
                format!("{percent:.decimals$}")
            }
        }
    }
}

/// Three digits or more, whole numbers whole.
fn significant(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 || (value - value.round()).abs() < 1e-9 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        size if size >= 1.0 => format!("{value:.2}"),
        size if size >= 0.1 => format!("{value:.3}"),
        _ => format!("{value:.4}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels() {
        let check = |scale: Scale, value: f64, expected: &str| assert_eq!(scale.text(value), expected);
        check(Scale::Linear, 1500.0, "1500");
        check(Scale::Linear, 0.25, "0.250");
        check(Scale::Logarithm, -1.0, "0.100");
        check(Scale::Logarithm, 3.0, "1000");
        check(Scale::Nines, 0.0, "0");
        check(Scale::Nines, 1.0, "90");
        check(Scale::Nines, 2.0, "99");
        check(Scale::Nines, 4.0, "99.99");
        check(Scale::Nines, 0.5, "68.4");
    }

    #[test]
    fn numbers_without_measure_are_not_drawn() {
        for extreme in [1e300, 1e13, -1e13, 1e-300, -1e-300, f64::INFINITY] {
            let line = Line {
                label: "cycles".into(),
                points: vec![(0.0, 0.0), (1.0, extreme)],
            };
            let drawn = svg(&[Chart::throughput(vec![line])], (400, 300));
            match extreme.abs() > 1e12 && extreme.is_finite() {
                true => assert!(drawn.unwrap_err().to_string().contains("beyond what can be drawn")),
                false => assert!(drawn.unwrap().contains("Throughput")),
            }
        }
    }

    #[test]
    fn a_chart_without_points_is_an_error() {
        let chart = Chart::throughput(Vec::new());
        assert_eq!(
            svg(&[chart], (400, 300)).unwrap_err().to_string(),
            "cannot draw: Throughput: there are no points"
        );
    }
}
