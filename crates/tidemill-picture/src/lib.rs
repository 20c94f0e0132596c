//! Text in pictures of pixels, from glyphs in the program: no font need be installed.
//!
//! ```
//! use plotters::prelude::*;
//! use tidemill_picture::WithGlyphs;
//!
//! let mut pixels = vec![0; 200 * 40 * 3];
//! {
//!     let backend = BitMapBackend::with_buffer(&mut pixels, (200, 40));
//!     let area = WithGlyphs::new(backend).into_drawing_area();
//!     area.fill(&WHITE)?;
//!     area.draw(&Text::new("latency", (10, 10), ("sans-serif", 16)))?;
//!     area.present()?;
//! }
//! assert!(pixels.iter().any(|&value| value < 128));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use noto_sans_mono_bitmap::{FontWeight, RasterHeight, get_raster, get_raster_width};
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind,
    text_anchor::{HPos, VPos},
};

const HEIGHTS: [RasterHeight; 4] = [
    RasterHeight::Size16,
    RasterHeight::Size20,
    RasterHeight::Size24,
    RasterHeight::Size32,
];

/// A backend whose text is drawn pixel by pixel. A letter beyond Latin-1 is a question mark.
#[derive(Debug)]
pub struct WithGlyphs<B> {
    inner: B,
}

impl<B> WithGlyphs<B> {
    /// Text by glyphs, everything else by `inner`.
    pub fn new(inner: B) -> Self {
        Self { inner }
    }
}

/// The smallest glyphs of at least this size.
fn height(size: f64) -> RasterHeight {
    let fits = HEIGHTS.into_iter().find(|height| height.val() as f64 >= size);
    fits.unwrap_or(RasterHeight::Size32)
}

fn extent(text: &str, size: f64) -> (i32, i32) {
    let height = height(size);
    let width = get_raster_width(FontWeight::Regular, height) * text.chars().count();
    (i32::try_from(width).unwrap_or(i32::MAX), height.val() as i32)
}

impl<B: DrawingBackend> DrawingBackend for WithGlyphs<B> {
    type ErrorType = B::ErrorType;

    fn get_size(&self) -> (u32, u32) {
        self.inner.get_size()
    }

    fn ensure_prepared(&mut self) -> Result<(), DrawingErrorKind<Self::ErrorType>> {
        self.inner.ensure_prepared()
    }

    fn present(&mut self) -> Result<(), DrawingErrorKind<Self::ErrorType>> {
        self.inner.present()
    }

    fn draw_pixel(
        &mut self,
        point: BackendCoord,
        color: BackendColor,
    ) -> Result<(), DrawingErrorKind<Self::ErrorType>> {
        self.inner.draw_pixel(point, color)
    }

    fn draw_line<S: BackendStyle>(
        &mut self,
        from: BackendCoord,
        to: BackendCoord,
        style: &S,
    ) -> Result<(), DrawingErrorKind<Self::ErrorType>> {
        self.inner.draw_line(from, to, style)
    }

    fn draw_rect<S: BackendStyle>(
        &mut self,
        upper_left: BackendCoord,
        bottom_right: BackendCoord,
        style: &S,
        fill: bool,
    ) -> Result<(), DrawingErrorKind<Self::ErrorType>> {
        self.inner.draw_rect(upper_left, bottom_right, style, fill)
    }

    fn draw_text<S: BackendTextStyle>(
        &mut self,
        text: &str,
        style: &S,
        position: BackendCoord,
    ) -> Result<(), DrawingErrorKind<Self::ErrorType>> {
        let color = style.color();
        let (width, height_px) = extent(text, style.size());
        let left = match style.anchor().h_pos {
            HPos::Left => 0,
            HPos::Right => -width,
            HPos::Center => -width / 2,
        };
        let top = match style.anchor().v_pos {
            VPos::Top => 0,
            VPos::Center => -height_px / 2,
            VPos::Bottom => -height_px,
        };
        let (picture_width, picture_height) = self.get_size();
        let inside = |at: i32, size: u32| u32::try_from(at).is_ok_and(|at| at < size);
        for (index, letter) in text.chars().enumerate() {
            let glyph = |letter| get_raster(letter, FontWeight::Regular, height(style.size()));
            let Some(glyph) = glyph(letter).or_else(|| glyph('?')) else {
                continue;
            };
            let begin = left + (index * glyph.width()) as i32;
            for (row, pixels) in glyph.rows().enumerate() {
                for (column, &coverage) in pixels.iter().enumerate().filter(|(_, coverage)| **coverage > 0) {
                    let (x, y) = style.transform().transform(begin + column as i32, top + row as i32);
                    let (x, y) = (position.0 + x, position.1 + y);
                    if inside(x, picture_width) && inside(y, picture_height) {
                        let color = BackendColor {
                            alpha: color.alpha * f64::from(coverage) / 255.0,
                            ..color
                        };
                        self.draw_pixel((x, y), color)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn estimate_text_size<S: BackendTextStyle>(
        &self,
        text: &str,
        style: &S,
    ) -> Result<(u32, u32), DrawingErrorKind<Self::ErrorType>> {
        let (width, height) = extent(text, style.size());
        Ok((width.unsigned_abs(), height.unsigned_abs()))
    }
}

#[cfg(test)]
mod tests {
    use plotters::{
        backend::BitMapBackend,
        style::{BLACK, FontTransform, IntoFont as _, TextStyle},
    };

    use super::*;

    /// The dark pixels of a picture of 100 by 60 with this text at this place.
    fn drawn(text: &str, style: &TextStyle<'_>, at: (i32, i32)) -> Vec<(usize, usize)> {
        const WIDTH: usize = 100;
        let mut pixels = vec![255; WIDTH * 60 * 3];
        let mut backend = WithGlyphs::new(BitMapBackend::with_buffer(&mut pixels, (WIDTH as u32, 60)));
        backend.draw_text(text, style, at).unwrap();
        backend.present().unwrap();
        drop(backend);
        let dark = pixels.chunks(3).enumerate().filter(|(_, pixel)| pixel[0] < 128);
        dark.map(|(index, _)| (index % WIDTH, index / WIDTH)).collect()
    }

    fn extents(pixels: &[(usize, usize)]) -> (usize, usize) {
        let span = |of: fn(&(usize, usize)) -> usize| {
            let (low, high) = (pixels.iter().map(of).min(), pixels.iter().map(of).max());
            high.unwrap() - low.unwrap()
        };
        (span(|pixel| pixel.0), span(|pixel| pixel.1))
    }

    #[test]
    fn letters_are_drawn_upright_and_turned() {
        let style = TextStyle::from(("sans-serif", 16).into_font()).color(&BLACK);
        let text = drawn("p99", &style, (10, 10));
        let (width, height) = extents(&text);
        assert!(
            (16..=30).contains(&width) && (8..=18).contains(&height),
            "{width} by {height}"
        );
        assert_ne!(text, drawn("p90", &style, (10, 10)));
        let turned = style.transform(FontTransform::Rotate90);
        let (turned_width, turned_height) = extents(&drawn("p99", &turned, (50, 10)));
        assert_eq!((turned_width, turned_height), (height, width));
    }

    #[test]
    fn what_has_no_glyph_or_no_room_is_harmless() {
        let style = TextStyle::from(("sans-serif", 400).into_font()).color(&BLACK);
        assert_eq!(drawn("\u{1f600}", &style, (10, 10)), drawn("?", &style, (10, 10)));
        for at in [(-1_000, 0), (95, 55), (0, -1_000), (1_000_000, 0)] {
            drawn("p99.99 of everything", &style, at);
        }
    }
}
