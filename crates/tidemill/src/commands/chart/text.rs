//! Draws a chart as text: blocks for bars, Braille dots for points.

use unicode_width::UnicodeWidthStr as _;

use super::{Axis, Chart, Shape, short};
use crate::output::{one_line, shortened};

/// Draws a chart of lines of at most `width` characters; if it has axes, of at most `height` lines.
pub(super) fn draw(chart: &Chart, width: usize, height: usize) -> String {
    match &chart.shape {
        Shape::Bars(bars) => draw_bars(chart, bars, width),
        Shape::Points { points, joined, x_type } => {
            let lines = height.saturating_sub(5).clamp(5, 30);
            let canvas = Canvas::of(points, *joined, width.saturating_sub(LABEL + 2).max(20), lines);
            let (low, high) = canvas.x;
            let axis = Axis::of(x_type, high - low);
            let (first, last) = (axis.label(low), axis.label(high));
            let mut text = format!("{:>LABEL$} {}\n", "", chart.y);
            for (number, line) in canvas.lines().enumerate() {
                let value = match number {
                    0 => short(canvas.y.1),
                    _ if number + 1 == lines => short(canvas.y.0),
                    _ if number == lines / 2 => short(f64::midpoint(canvas.y.0, canvas.y.1)),
                    _ => String::new(),
                };
                text.push_str(&format!("{value:>LABEL$}┤{line}\n"));
            }
            let gap = canvas.columns.saturating_sub(first.width() + last.width());
            text.push_str(&format!("{:>LABEL$} {first}{:gap$}{last}\n", "", ""));
            text.push_str(&format!("{:>LABEL$} {}\n", "", chart.x));
            text
        }
    }
}

/// The width of the labels of the vertical axis, in characters.
const LABEL: usize = 9;

fn draw_bars(chart: &Chart, bars: &[(String, f64)], width: usize) -> String {
    const LONGEST: usize = 30;
    let labels: Vec<String> = bars
        .iter()
        .map(|(label, _)| shortened(&one_line(label), LONGEST).into_owned())
        .collect();
    let values: Vec<String> = bars.iter().map(|(_, value)| short(*value)).collect();
    let widest = |texts: &[String]| texts.iter().map(|text| text.width()).max().unwrap_or_default();
    let (left, right) = (widest(&labels), widest(&values));
    let room = width.saturating_sub(left + right + 3).max(10);
    let highest = bars.iter().map(|(_, value)| *value).fold(0.0, f64::max);
    let mut text = format!("{} by {}\n", chart.y, chart.x);
    for ((label, value), (_, number)) in labels.iter().zip(&values).zip(bars) {
        let share = if highest > 0.0 {
            (number / highest).max(0.0)
        } else {
            0.0
        };
        let padding = left - label.width();
        text.push_str(&format!("{label}{:padding$} {} {value}\n", "", bar(share, room)));
    }
    text
}

/// A bar of this share of the width, to an eighth of a character.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "at most eight times the room"
)]
#[expect(clippy::cast_precision_loss, reason = "a screen has fewer letters")]
fn bar(share: f64, room: usize) -> String {
    const PARTS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (share * room as f64 * 8.0).round() as usize;
    let part = PARTS.get(eighths % 8).copied().unwrap_or_default();
    format!("{}{part}", "█".repeat(eighths / 8))
}

/// A grid of dots; each character has two columns and four rows of them.
struct Canvas {
    columns: usize,
    /// Row by row from the top; the bits are those of Braille.
    cells: Vec<u8>,
    x: (f64, f64),
    y: (f64, f64),
}

impl Canvas {
    #[expect(clippy::cast_precision_loss, reason = "a screen has fewer dots")]
    fn of(points: &[(f64, f64)], joined: bool, columns: usize, lines: usize) -> Self {
        let range = |values: &dyn Fn(&(f64, f64)) -> f64| {
            let low = points.iter().map(values).fold(f64::INFINITY, f64::min);
            let high = points.iter().map(values).fold(f64::NEG_INFINITY, f64::max);
            // A single value is drawn in the middle.
            if low == high {
                (low - 0.5, high + 0.5)
            } else {
                (low, high)
            }
        };
        let mut canvas = Self {
            columns,
            cells: vec![0; columns * lines],
            x: range(&|point| point.0),
            y: range(&|point| point.1),
        };
        let (width, height) = ((columns * 2 - 1) as f64, (lines * 4 - 1) as f64);
        let place = |&(x, y): &(f64, f64)| {
            let across = (x - canvas.x.0) / (canvas.x.1 - canvas.x.0) * width;
            let down = (canvas.y.1 - y) / (canvas.y.1 - canvas.y.0) * height;
            (across, down)
        };
        let places: Vec<(f64, f64)> = points.iter().map(place).collect();
        for (number, to) in places.iter().enumerate() {
            let from = match number.checked_sub(1).and_then(|before| places.get(before)) {
                Some(from) if joined => from,
                _ => to,
            };
            let steps = (to.0 - from.0).abs().max((to.1 - from.1).abs()).ceil().max(1.0);
            let mut step = 0.0;
            while step <= steps {
                let part = step / steps;
                canvas.set(from.0 + (to.0 - from.0) * part, from.1 + (to.1 - from.1) * part);
                step += 1.0;
            }
        }
        canvas
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "within the canvas"
    )]
    fn set(&mut self, across: f64, down: f64) {
        /// The bits of a character, by columns and rows (Unicode, "Braille Patterns").
        const DOTS: [[u8; 4]; 2] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]];
        let (across, down) = (across.round() as usize, down.round() as usize);
        let dot = DOTS.get(across % 2).and_then(|column| column.get(down % 4));
        if let (Some(cell), Some(dot)) = (self.cells.get_mut(down / 4 * self.columns + across / 2), dot) {
            *cell |= dot;
        }
    }

    fn lines(&self) -> impl Iterator<Item = String> {
        self.cells.chunks(self.columns).map(|line| {
            let letters = line.iter().map(|dots| match dots {
                0 => ' ',
                dots => char::from_u32(0x2800 + u32::from(*dots)).unwrap_or(' '),
            });
            letters.collect::<String>().trim_end().to_owned()
        })
    }
}

#[cfg(test)]
mod tests {
    use arrow_schema::DataType;

    use super::*;

    fn chart(shape: Shape) -> Chart {
        Chart {
            x: "city".to_owned(),
            y: "n".to_owned(),
            shape,
        }
    }

    #[test]
    fn bars_are_as_long_as_their_values() {
        let bars = vec![
            ("Rye".to_owned(), 20.0),
            ("Győr".to_owned(), 5.0),
            ("-".to_owned(), -1.0),
        ];
        assert_eq!(
            draw(&chart(Shape::Bars(bars)), 20, 24),
            "n by city\nRye  ███████████ 20\nGyőr ██▊ 5\n-     -1\n"
        );
    }

    #[test]
    fn a_line_goes_from_corner_to_corner() {
        let shape = Shape::Points {
            points: vec![(0.0, 0.0), (10.0, 100.0)],
            joined: true,
            x_type: DataType::Float64,
        };
        let text = draw(&chart(shape), 31, 10);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 8, "{text}");
        assert!(lines[1].starts_with("      100┤") && lines[1].ends_with('⠉'), "{text}");
        assert!(lines[5].starts_with("        0┤⣀"), "{text}");
        assert_eq!(lines[6].trim_end(), "          0                 10");
    }
}
