//! Pictures of reports: throughput and latencies over time, and percentile curves.
//!
//! Every chart has plain coordinates: logarithms are taken of the points, and axes undo it.

mod axis;
mod series;

use std::path::Path;

use plotters::{
    backend::{BitMapBackend, DrawingBackend, SVGBackend},
    chart::ChartBuilder,
    coord::Shift,
    drawing::{DrawingArea, IntoDrawingArea as _},
    element::{Circle, PathElement, Text},
    series::{DashedLineSeries, LineSeries},
    style::{
        Color as _, IntoFont as _, IntoTextStyle as _, RGBColor, ShapeStyle, WHITE,
        text_anchor::{HPos, Pos, VPos},
    },
};

pub(crate) use axis::{Axis, Scale};
pub(crate) use series::{Timeline, lines_of_runs, percentile_curve};

use crate::{Error, Result};
use axis::Span;
use tidemill_picture::WithGlyphs;

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

/// Lengths of dashes and of the gaps between them, by side; the first side has none.
const DASHES: [(u32, u32); 3] = [(12, 6), (3, 5), (24, 6)];

/// A picture of lines over two axes.
#[derive(Clone, Debug)]
pub(crate) struct Chart {
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
pub(crate) struct Line {
    /// What stands in the legend; nothing for a line that is one more of the last.
    pub label: String,
    /// Points in the coordinates of the axes.
    pub points: Vec<(f64, f64)>,
    /// What it measures: lines of the same have one colour.
    pub kind: usize,
    /// Of which report: those of the first are drawn through, those of the others dashed, each in its way.
    pub side: usize,
}

/// Numbers of reports are anything; axes are divided in steps that must be told apart.
const LARGEST: f64 = 1e12;

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
    pub(crate) fn throughput(lines: Vec<Line>) -> Self {
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
    pub(crate) fn latency(lines: Vec<Line>) -> Self {
        Self {
            title: "Latency of cycles".into(),
            x: TIME,
            y: LATENCY,
            lines,
        }
    }

    /// Latencies of cycles over percentiles.
    pub(crate) fn percentiles(lines: Vec<Line>) -> Self {
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

    /// What is to be seen, in words.
    fn description(&self) -> String {
        let lines = self.lines.iter().map(|line| line.label.as_str());
        let lines: Vec<&str> = lines.filter(|label| !label.is_empty()).collect();
        format!(
            "{}: {} over {}, of {}",
            self.title,
            self.y.label,
            self.x.label,
            lines.join(", ")
        )
    }
}

impl Line {
    /// The same, as what it measures and of which report it is.
    #[must_use]
    pub(crate) fn of(self, kind: usize, side: usize) -> Self {
        Self { kind, side, ..self }
    }

    fn style(&self) -> ShapeStyle {
        // Where there are more reports than ways to draw a line, colours continue.
        let shift = self.side / (DASHES.len() + 1) * 2;
        COLOURS[(self.kind + shift) % COLOURS.len()].stroke_width(2)
    }

    fn dash(&self) -> Option<(u32, u32)> {
        (self.side % (DASHES.len() + 1))
            .checked_sub(1)
            .map(|index| DASHES[index])
    }
}

/// Draws charts below one another as SVG, with what is to be seen as its title.
///
/// # Errors
/// [`Error::Drawing`] when there is nothing to draw.
pub(crate) fn svg(charts: &[Chart], size: (u32, u32)) -> Result<String> {
    let mut text = String::new();
    draw(
        charts,
        size,
        SVGBackend::with_string(&mut text, size).into_drawing_area(),
    )?;
    let described: Vec<String> = charts.iter().map(Chart::description).collect();
    let described = escaped(&described.join(". "));
    let open = format!("<svg role=\"img\" aria-label=\"{described}\" ");
    let mut text = text.replacen("<svg ", &open, 1);
    if let Some(end) = text.find('>') {
        text.insert_str(end + 1, &format!("\n<title>{described}</title>"));
    }
    Ok(text)
}

/// A text within SVG and HTML.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

/// Draws charts below one another into a file, whose name ends in `.svg` or `.png`.
///
/// # Errors
/// [`Error::Misuse`] for another ending, [`Error::Drawing`] when there is nothing to draw or the file can't be written.
pub(crate) fn write(charts: &[Chart], size: (u32, u32), path: &Path) -> Result<()> {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("svg") => std::fs::write(path, svg(charts, size)?).map_err(Error::io("write", path)),
        Some("png") => draw(
            charts,
            size,
            WithGlyphs::new(BitMapBackend::new(path, size)).into_drawing_area(),
        ),
        _ => Err(Error::Misuse(format!(
            "{}: pictures are written as .svg or .png",
            path.display()
        ))),
    }
}

/// Heights of texts and widths of what is around a chart, in pixels.
#[derive(Clone, Copy, Debug)]
struct Layout {
    caption: u32,
    axis: u32,
    label: u32,
    margin: u32,
    label_height: u32,
    label_width: u32,
    marks: (usize, usize),
}

impl Layout {
    fn of((width, height): (u32, u32)) -> Self {
        let marks = (width as usize / 110, height as usize / 45);
        match width {
            800.. => Self {
                caption: 24,
                axis: 20,
                label: 16,
                margin: 20,
                label_height: 60,
                label_width: 90,
                marks,
            },
            _ => Self {
                caption: 16,
                axis: 13,
                label: 12,
                margin: 6,
                label_height: 42,
                label_width: 62,
                marks: (width as usize / 70, height as usize / 35),
            },
        }
    }
}

fn draw<B: DrawingBackend>(charts: &[Chart], size: (u32, u32), area: DrawingArea<B, Shift>) -> Result<()> {
    area.fill(&WHITE).map_err(drawing)?;
    let each = (size.0, size.1 / u32::try_from(charts.len()).unwrap_or(1).max(1));
    for (chart, part) in charts.iter().zip(area.split_evenly((charts.len(), 1))) {
        draw_chart(chart, Layout::of(each), &part)?;
    }
    area.present().map_err(drawing)
}

fn draw_chart<B: DrawingBackend>(chart: &Chart, layout: Layout, area: &DrawingArea<B, Shift>) -> Result<()> {
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
    let font = |height: u32| ("sans-serif", height).into_font();
    // Above the chart, so that it hides no line.
    let area = area.titled(&chart.title, font(layout.caption)).map_err(drawing)?;
    let area = draw_legend(chart, layout, &area)?;
    let mut context = ChartBuilder::on(&area)
        .margin(layout.margin)
        .x_label_area_size(layout.label_height)
        .y_label_area_size(layout.label_width)
        .build_cartesian_2d(
            Span::new(chart.x.scale, x_from, x_to),
            Span::new(chart.y.scale, y_from, y_to),
        )
        .map_err(drawing)?;
    context
        .configure_mesh()
        .x_desc(chart.x.label)
        .y_desc(chart.y.label)
        .x_labels(layout.marks.0)
        .y_labels(layout.marks.1)
        .axis_desc_style(font(layout.axis))
        .label_style(font(layout.label))
        .x_label_formatter(&|value| chart.x.scale.text(*value))
        .y_label_formatter(&|value| chart.y.scale.text(*value))
        .light_line_style(WHITE)
        .draw()
        .map_err(drawing)?;
    for line in &chart.lines {
        let style = line.style();
        let points = line.points.iter().copied();
        let drawn = match line.dash() {
            None => context.draw_series(LineSeries::new(points, style)),
            Some((dash, gap)) => context.draw_series(DashedLineSeries::new(points, dash, gap, style)),
        };
        drawn.map_err(drawing)?;
        // A line of one point cannot be seen: a short run has one sample.
        if let [point] = line.points[..] {
            let mark = std::iter::once(Circle::new(point, 4, style.filled()));
            context.draw_series(mark).map_err(drawing)?;
        }
    }
    Ok(())
}

/// Draws the names of the lines at the top of an area, in as many rows as they need, and gives the rest of it.
fn draw_legend<B: DrawingBackend>(
    chart: &Chart,
    layout: Layout,
    area: &DrawingArea<B, Shift>,
) -> Result<DrawingArea<B, Shift>> {
    const SAMPLE: i32 = 26;
    let height = layout.label.cast_signed();
    let row = height + 6;
    let width = area.dim_in_pixel().0.cast_signed();
    let left = layout.label_width.cast_signed();
    let (mut x, mut y) = (left, 0);
    for line in chart.lines.iter().filter(|line| !line.label.is_empty()) {
        // Six tenths of the height are wide for a letter of most fonts, and those of pictures of pixels are so wide.
        let letters = i32::try_from(line.label.chars().count()).unwrap_or(i32::MAX);
        let wide = letters.saturating_mul(height).saturating_mul(6) / 10 + SAMPLE + 18;
        if x > left && x.saturating_add(wide) > width {
            (x, y) = (left, y + row);
        }
        let middle = y + row / 2;
        // A gap of a dashed line is where a whole one has none.
        let (end, begin) = if line.dash().is_some() { (9, 15) } else { (12, 12) };
        for (from, to) in [(0, end), (begin, 24)] {
            let stroke = PathElement::new([(x + from, middle), (x + to, middle)], line.style());
            area.draw(&stroke).map_err(drawing)?;
        }
        let font = ("sans-serif", layout.label).into_font().into_text_style(area);
        let text = Text::new(
            line.label.as_str(),
            (x + SAMPLE + 4, middle),
            font.pos(Pos::new(HPos::Left, VPos::Center)),
        );
        area.draw(&text).map_err(drawing)?;
        x = x.saturating_add(wide);
    }
    Ok(area.split_vertically(y + row).1)
}

fn drawing(error: impl std::fmt::Display) -> Error {
    Error::Drawing(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(label: &str, points: &[(f64, f64)]) -> Line {
        Line {
            label: label.into(),
            points: points.to_vec(),
            kind: 0,
            side: 0,
        }
    }

    #[test]
    fn numbers_without_measure_are_not_drawn() {
        for extreme in [1e300, 1e13, -1e13, 1e-300, -1e-300, f64::INFINITY] {
            let line = line("cycles", &[(0.0, 0.0), (1.0, extreme)]);
            let drawn = svg(&[Chart::throughput(vec![line])], (400, 300));
            match extreme.abs() > 1e12 && extreme.is_finite() {
                true => assert!(drawn.unwrap_err().to_string().contains("beyond what can be drawn")),
                false => assert!(drawn.unwrap().contains("Throughput")),
            }
        }
    }

    #[test]
    fn one_point_is_a_mark() {
        let drawn =
            |points: &[(f64, f64)]| svg(&[Chart::throughput(vec![line("cycles", points)])], (800, 500)).unwrap();
        assert_eq!(drawn(&[(1.0, 5.0)]).matches("<circle").count(), 1);
        assert_eq!(drawn(&[(1.0, 5.0), (2.0, 5.0)]).matches("<circle").count(), 0);
    }

    #[test]
    fn a_chart_without_points_is_an_error() {
        let chart = Chart::throughput(Vec::new());
        assert_eq!(
            svg(&[chart], (400, 300)).unwrap_err().to_string(),
            "cannot draw: Throughput: there are no points"
        );
    }

    #[test]
    fn reports_are_told_apart_by_dashes_and_what_is_measured_by_colours() {
        let points = [(0.0, 1.0), (1.0, 2.0), (2.0, 1.5)];
        let lines = [(0, 0, "p50 A"), (0, 1, "p50 B"), (1, 0, "p99 A"), (1, 1, "p99 B")];
        let lines = lines.map(|(kind, side, label)| line(label, &points).of(kind, side));
        let [a, b, tail, _] = &lines;
        assert_eq!(
            (a.style().color, a.dash(), b.dash().is_some()),
            (b.style().color, None, true)
        );
        assert!(a.style().color != tail.style().color);
        let drawn = svg(&[Chart::latency(lines.to_vec())], (800, 500)).unwrap();
        let of = |colour: &str| {
            drawn
                .matches(&format!("<polyline fill=\"none\" opacity=\"1\" stroke=\"{colour}\""))
                .count()
        };
        // A line each, its legend in two parts, and many dashes.
        assert!(of("#0072B2") > 20 && of("#D55E00") > 20, "{drawn}");
        assert!(lines.iter().all(|line| drawn.contains(&line.label)));
        // More reports than dashes continue in other colours.
        let (first, fifth) = (line("", &points).of(0, 0), line("", &points).of(0, 4));
        assert!(fifth.dash().is_none() && first.style().color != fifth.style().color);
    }

    #[test]
    fn pictures_say_what_is_to_be_seen() {
        let drawn = svg(
            &[Chart::throughput(vec![line("<one> & two", &[(0.0, 1.0), (1.0, 2.0)])])],
            (800, 500),
        );
        let drawn = drawn.unwrap();
        let title = "Throughput: cycles [1/s] over time [s], of &lt;one&gt; &amp; two";
        assert!(
            drawn.starts_with(&format!("<svg role=\"img\" aria-label=\"{title}\" ")),
            "{drawn}"
        );
        assert!(drawn.contains(&format!("<title>{title}</title>")), "{drawn}");
    }
}
