//! Draws a chart to an image file, with plotters.

use std::path::Path;

use anyhow::anyhow;
use plotters::coord::Shift;
use plotters::prelude::*;
use tidemill_picture::WithGlyphs;

use super::{Axis, Chart, Shape, short};

const SIZE: (u32, u32) = (900, 540);
const BLUE: RGBColor = RGBColor(0x1f, 0x77, 0xb4);

/// The chart as SVG.
pub(super) fn svg(chart: &Chart) -> anyhow::Result<String> {
    let mut text = String::new();
    draw(chart, &SVGBackend::with_string(&mut text, SIZE).into_drawing_area())?;
    Ok(text)
}

/// Writes a PNG file.
pub(super) fn write_png(chart: &Chart, file: &Path) -> anyhow::Result<()> {
    draw(
        chart,
        &WithGlyphs::new(BitMapBackend::new(file, SIZE)).into_drawing_area(),
    )
}

fn draw<B: DrawingBackend>(chart: &Chart, area: &DrawingArea<B, Shift>) -> anyhow::Result<()> {
    area.fill(&WHITE).map_err(failed)?;
    match &chart.shape {
        Shape::Bars(bars) => draw_bars(chart, bars, area)?,
        Shape::Points { points, joined, x_type } => {
            let range = |values: &dyn Fn(&(f64, f64)) -> f64| {
                let low = points.iter().map(values).fold(f64::INFINITY, f64::min);
                let high = points.iter().map(values).fold(f64::NEG_INFINITY, f64::max);
                if low == high { low - 0.5..high + 0.5 } else { low..high }
            };
            let below = range(&|point| point.0);
            let axis = Axis::of(x_type, below.end - below.start);
            let mut axes = ChartBuilder::on(area)
                .margin(20)
                .x_label_area_size(50)
                .y_label_area_size(80)
                .build_cartesian_2d(below, range(&|point| point.1))
                .map_err(failed)?;
            axes.configure_mesh()
                .x_desc(&chart.x)
                .y_desc(&chart.y)
                .x_labels(6)
                .x_label_formatter(&|value| axis.label(*value))
                .y_label_formatter(&|value| short(*value))
                .light_line_style(TRANSPARENT)
                .draw()
                .map_err(failed)?;
            match joined {
                true => axes
                    .draw_series(LineSeries::new(points.iter().copied(), BLUE.stroke_width(2)))
                    .map(drop),
                false => {
                    let dots = points
                        .iter()
                        .map(|point| Circle::new(*point, 3, BLUE.mix(0.6).filled()));
                    axes.draw_series(dots).map(drop)
                }
            }
            .map_err(failed)?;
        }
    }
    area.present().map_err(failed)
}

fn draw_bars<DB: DrawingBackend>(
    chart: &Chart,
    bars: &[(String, f64)],
    area: &DrawingArea<DB, Shift>,
) -> anyhow::Result<()> {
    let low = bars.iter().map(|(_, value)| *value).fold(0.0, f64::min);
    let high = bars.iter().map(|(_, value)| *value).fold(0.0, f64::max);
    let high = if low == high { 1.0 } else { high };
    // The first bar is at the top.
    let count = i32::try_from(bars.len())?;
    let mut axes = ChartBuilder::on(area)
        .margin(20)
        .x_label_area_size(50)
        .y_label_area_size(180)
        .build_cartesian_2d(low..high, (0..count - 1).into_segmented())
        .map_err(failed)?;
    let name = |place: &SegmentValue<i32>| match place {
        SegmentValue::CenterOf(row) => {
            let bar = usize::try_from(count - 1 - row).ok().and_then(|place| bars.get(place));
            bar.map(|(label, _)| label.chars().take(24).collect())
                .unwrap_or_default()
        }
        _ => String::new(),
    };
    axes.configure_mesh()
        .disable_y_mesh()
        .x_desc(&chart.y)
        .y_desc(&chart.x)
        .y_labels(bars.len())
        .x_label_formatter(&|value| short(*value))
        .y_label_formatter(&name)
        .light_line_style(TRANSPARENT)
        .draw()
        .map_err(failed)?;
    let boxes = bars.iter().zip((0..count).rev()).map(|((_, value), row)| {
        let end = match row + 1 == count {
            true => SegmentValue::Last,
            false => SegmentValue::Exact(row + 1),
        };
        let corners = [(0.0, SegmentValue::Exact(row)), (*value, end)];
        let mut bar = Rectangle::new(corners, BLUE.filled());
        bar.set_margin(3, 3, 0, 0);
        bar
    });
    axes.draw_series(boxes).map(drop).map_err(failed)
}

fn failed(error: impl std::fmt::Display) -> anyhow::Error {
    anyhow!("the chart cannot be drawn: {error}")
}
