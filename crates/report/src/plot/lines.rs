use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint, Ranged};
use plotters::prelude::{
    ChartBuilder, Circle, DrawingAreaErrorKind, IntoDrawingArea, LineSeries, PathElement, SVGBackend,
};
use plotters::series::PointSeries;
use plotters::style::{Color, IntoFont, ShapeStyle, TextStyle};

use super::{Plot, palette};
use crate::ReportError;

/// An axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    label: String,
    from: f64,
    to: f64,
    log: bool,
}

impl Axis {
    /// A linear axis.
    #[must_use]
    pub fn linear(label: impl Into<String>, from: f64, to: f64) -> Self {
        Self { label: label.into(), from, to, log: false }
    }

    /// A logarithmic axis with base 10; points below its lower end are drawn at its lower end.
    #[must_use]
    pub fn log(label: impl Into<String>, from: f64, to: f64) -> Self {
        Self { label: label.into(), from, to, log: true }
    }

    pub(super) fn label(&self) -> &str {
        &self.label
    }

    pub(super) fn check(&self, title: &str) -> Result<(), ReportError> {
        if self.from.is_finite() && self.to.is_finite() && self.from < self.to && (!self.log || self.from > 0.0) {
            return Ok(());
        }
        Err(ReportError::Axis { title: title.into(), axis: self.label.clone(), from: self.from, to: self.to })
    }

    /// The place along the axis, 0 to 1.
    fn place(&self, value: f64) -> f64 {
        let value = value.clamp(self.from, self.to);
        if self.log {
            (value / self.from).log10() / (self.to / self.from).log10()
        } else {
            (value - self.from) / (self.to - self.from)
        }
    }

    pub(super) fn scale(&self) -> Scale {
        Scale(self.clone())
    }
}

/// The axis for `plotters`: ticks at round numbers, or at powers of ten.
#[derive(Clone)]
pub(super) struct Scale(Axis);

impl Ranged for Scale {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        let length = f64::from(limit.1 - limit.0);
        limit.0 + (self.0.place(*value) * length).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        let axis = &self.0;
        if axis.log {
            let (first, last) = (axis.from.log10().ceil() as i32, axis.to.log10().floor() as i32);
            return (first..=last).map(|power| format!("1e{power}").parse().unwrap_or(axis.from)).collect();
        }
        let most = hint.max_num_points().clamp(2, 11) as f64;
        let rough = (axis.to - axis.from) / most;
        let power = 10_f64.powi(rough.log10().floor() as i32);
        let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|m| m * power).find(|s| *s >= rough).unwrap_or(rough);
        let first = (axis.from / step - 1e-9).ceil() as i64;
        let last = (axis.to / step + 1e-9).floor() as i64;
        (first..=last).map(|n| n as f64 * step).collect()
    }

    fn range(&self) -> std::ops::Range<f64> {
        self.0.from..self.0.to
    }
}

/// Text of a tick: no more digits than it needs.
pub(super) fn tick(value: f64) -> String {
    let text = format!("{value:.6}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".into() } else { text.into() }
}

/// One line.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// The name in the legend.
    pub name: String,
    /// Points in drawing order; those that are not finite are left out.
    pub points: Vec<(f64, f64)>,
    /// Whether to mark the points with dots.
    pub marked: bool,
}

/// Lines over two axes.
#[derive(Debug, Clone, PartialEq)]
pub struct Lines<'a> {
    /// Above the drawing.
    pub title: &'a str,
    /// Text alternative.
    pub description: &'a str,
    /// Horizontal axis.
    pub x: Axis,
    /// Vertical axis.
    pub y: Axis,
    /// Thin grey lines beside the data: a diagonal, a target.
    pub guides: &'a [[(f64, f64); 2]],
    /// The lines.
    pub curves: &'a [Curve],
    /// Width and height in pixels.
    pub size: (u32, u32),
}

impl Lines<'_> {
    /// Draws the lines; points that fall on one pixel are drawn once.
    ///
    /// # Errors
    /// An axis without extent.
    pub fn draw(&self) -> Result<Plot, ReportError> {
        self.x.check(self.title)?;
        self.y.check(self.title)?;
        let mut svg = String::new();
        self.paint(&mut svg).map_err(|e| ReportError::Plot { title: self.title.into(), message: e.to_string() })?;
        let legend = self.curves.iter().map(|c| c.name.clone()).collect();
        Plot::new(self.title, self.description, legend, self.size, &svg)
    }

    fn paint(&self, svg: &mut String) -> Result<(), DrawingAreaErrorKind<std::io::Error>> {
        let area = SVGBackend::with_string(svg, self.size).into_drawing_area();
        let mut chart = ChartBuilder::on(&area)
            .margin(10)
            .x_label_area_size(56)
            .y_label_area_size(68)
            .build_cartesian_2d(self.x.scale(), self.y.scale())?;
        let text: TextStyle<'_> = ("sans-serif", 18).into_font().color(&palette::INK);
        chart
            .configure_mesh()
            .light_line_style(ShapeStyle { color: palette::GRID.to_rgba(), filled: false, stroke_width: 0 })
            .bold_line_style(palette::GRID)
            .axis_style(palette::INK)
            .max_light_lines(0)
            .label_style(text.clone())
            .axis_desc_style(text)
            .x_desc(self.x.label())
            .y_desc(self.y.label())
            .x_label_formatter(&|v| tick(*v))
            .y_label_formatter(&|v| tick(*v))
            .draw()?;
        for ends in self.guides {
            chart.draw_series([PathElement::new(*ends, palette::GUIDE.stroke_width(1))])?;
        }
        for (n, curve) in self.curves.iter().enumerate() {
            let points = self.thin(&curve.points);
            let colour = palette::series(n);
            chart.draw_series(LineSeries::new(points.iter().copied(), colour.stroke_width(2)))?;
            if curve.marked {
                chart.draw_series(PointSeries::<_, _, Circle<_, _>, _>::new(points, 3, colour.filled()))?;
            }
        }
        area.present()
    }

    /// Leaves out what would fall on the pixel before it.
    fn thin(&self, points: &[(f64, f64)]) -> Vec<(f64, f64)> {
        let pixel = |&(x, y): &(f64, f64)| {
            let place = |share: f64, pixels: u32| (share * f64::from(pixels)) as i64;
            (place(self.x.place(x), self.size.0), place(self.y.place(y), self.size.1))
        };
        let mut kept: Vec<(f64, f64)> = Vec::new();
        let mut at = None;
        for point in points.iter().filter(|(x, y)| x.is_finite() && y.is_finite()) {
            if at != Some(pixel(point)) {
                at = Some(pixel(point));
                kept.push(*point);
            }
        }
        kept
    }
}
