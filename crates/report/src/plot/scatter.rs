use plotters::prelude::{
    ChartBuilder, Circle, Cross, DrawingAreaErrorKind, IntoDrawingArea, LineSeries, PathElement, SVGBackend,
    TriangleMarker,
};
use plotters::style::{Color, IntoFont, TextStyle};

use super::lines::{Axis, tick};
use super::{Plot, palette};
use crate::ReportError;

/// A point with intervals in both directions.
#[derive(Debug, Clone, PartialEq)]
pub struct ScatterPoint {
    /// The name in the legend.
    pub name: String,
    /// Horizontal: low, value, high.
    pub x: [f64; 3],
    /// Vertical: low, value, high.
    pub y: [f64; 3],
    /// Whether it is a control, which is drawn as a cross and takes no part in the front.
    pub control: bool,
}

/// Points where more is better in both directions, with their Pareto front.
#[derive(Debug, Clone, PartialEq)]
pub struct Scatter<'a> {
    /// Above the drawing.
    pub title: &'a str,
    /// Text alternative.
    pub description: &'a str,
    /// Horizontal axis.
    pub x: Axis,
    /// Vertical axis.
    pub y: Axis,
    /// The points.
    pub points: &'a [ScatterPoint],
    /// Width and height in pixels.
    pub size: (u32, u32),
}

impl Scatter<'_> {
    /// The points that no other one beats in one direction without losing in the other, by rising x. Controls take no part.
    ///
    /// ```
    /// use wardline_report::{Axis, Scatter, ScatterPoint};
    /// let point = |name: &str, x, y| ScatterPoint { name: name.into(), x: [x; 3], y: [y; 3], control: false };
    /// let points = [point("a", 0.5, 0.9), point("b", 0.9, 0.5), point("c", 0.4, 0.8)];
    /// let axis = || Axis::linear("share", 0.0, 1.0);
    /// let plot = Scatter { title: "t", description: "d", x: axis(), y: axis(), points: &points, size: (400, 300) };
    /// assert_eq!(plot.front(), [0, 1]);
    /// ```
    #[must_use]
    pub fn front(&self) -> Vec<usize> {
        let beats = |a: &ScatterPoint, b: &ScatterPoint| {
            a.x[1] >= b.x[1] && a.y[1] >= b.y[1] && (a.x[1] > b.x[1] || a.y[1] > b.y[1])
        };
        let free = |p: &ScatterPoint| !p.control && p.x[1].is_finite() && p.y[1].is_finite();
        let mut front: Vec<usize> = (0..self.points.len())
            .filter(|&n| free(&self.points[n]))
            .filter(|&n| !self.points.iter().any(|other| free(other) && beats(other, &self.points[n])))
            .collect();
        front.sort_by(|&a, &b| self.points[a].x[1].total_cmp(&self.points[b].x[1]).then(a.cmp(&b)));
        front
    }

    /// Draws the points.
    ///
    /// # Errors
    /// An axis without extent.
    pub fn draw(&self) -> Result<Plot, ReportError> {
        self.x.check(self.title)?;
        self.y.check(self.title)?;
        let mut svg = String::new();
        self.paint(&mut svg).map_err(|e| ReportError::Plot { title: self.title.into(), message: e.to_string() })?;
        let legend = self.points.iter().map(|p| p.name.clone()).collect();
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
            .max_light_lines(0)
            .bold_line_style(palette::GRID)
            .axis_style(palette::INK)
            .label_style(text.clone())
            .axis_desc_style(text)
            .x_desc(self.x.label())
            .y_desc(self.y.label())
            .x_label_formatter(&|v| tick(*v))
            .y_label_formatter(&|v| tick(*v))
            .draw()?;
        let front = self.front().into_iter().map(|n| (self.points[n].x[1], self.points[n].y[1]));
        chart.draw_series(LineSeries::new(front, palette::GUIDE.stroke_width(1)))?;
        for (n, p) in self.points.iter().enumerate().filter(|(_, p)| p.x[1].is_finite() && p.y[1].is_finite()) {
            let colour = palette::series(n);
            let whiskers = [[(p.x[0], p.y[1]), (p.x[2], p.y[1])], [(p.x[1], p.y[0]), (p.x[1], p.y[2])]];
            let drawn = whiskers.into_iter().filter(|w| w.iter().all(|(x, y)| x.is_finite() && y.is_finite()));
            chart.draw_series(drawn.map(|w| PathElement::new(w, colour.stroke_width(1))))?;
            let at = (p.x[1], p.y[1]);
            // Hues repeat after eight; the shape goes on telling points apart.
            match (p.control, n / 8 % 2) {
                (true, _) => chart.draw_series([Cross::new(at, 6, colour.stroke_width(2))]).map(drop)?,
                (false, 0) => chart.draw_series([Circle::new(at, 5, colour.filled())]).map(drop)?,
                (false, _) => chart.draw_series([TriangleMarker::new(at, 7, colour.filled())]).map(drop)?,
            }
        }
        area.present()
    }
}
