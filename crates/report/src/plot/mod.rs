//! Plots as SVG text, drawn by `plotters`. No text of a caller stands inside: names and titles are the page's.

mod bars;
mod lines;
pub(crate) mod palette;
mod scatter;

pub use bars::histogram;
pub use lines::{Axis, Curve, Lines};
pub use scatter::{Scatter, ScatterPoint};

use crate::ReportError;

/// A drawing, with what a reader who cannot see it is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plot {
    /// The title, above the drawing.
    pub title: String,
    /// A text alternative: what is drawn, and what it shows.
    pub description: String,
    /// Names of the series in the order of their colours; empty when there is nothing to tell apart.
    pub legend: Vec<String>,
    /// What is inside the `svg` element.
    pub(crate) drawing: String,
    pub(crate) size: (u32, u32),
}

impl Plot {
    /// Cuts the element that `plotters` wrote down to what is inside it.
    fn new(
        title: &str,
        description: &str,
        legend: Vec<String>,
        size: (u32, u32),
        svg: &str,
    ) -> Result<Self, ReportError> {
        let inside = svg.find("<svg").and_then(|start| {
            let body = start + svg[start..].find('>')? + 1;
            let end = svg.rfind("</svg>")?;
            svg.get(body..end)
        });
        let Some(inside) = inside else {
            return Err(ReportError::Plot { title: title.into(), message: "no drawing came out".into() });
        };
        let drawing = inside.lines().map(str::trim).filter(|l| !l.is_empty()).collect::<Vec<_>>().join("\n");
        Ok(Self { title: title.into(), description: description.into(), legend, drawing, size })
    }
}
