use plotters::prelude::{ChartBuilder, DrawingAreaErrorKind, IntoDrawingArea, Rectangle, SVGBackend};
use plotters::style::{Color, IntoFont, TextStyle};

use super::lines::{Axis, tick};
use super::{Plot, palette};
use crate::ReportError;

/// Two histograms over 0..=1 on one pair of axes: shares of the positives in the first colour above the line, of the negatives in the
/// second below it. Bin i of B holds [i/B, (i+1)/B), the last one 1 too.
///
/// # Errors
/// The plotting library fails.
pub fn histogram(
    title: &str,
    description: &str,
    positives: &[u64],
    negatives: &[u64],
    size: (u32, u32),
) -> Result<Plot, ReportError> {
    let shares = |counts: &[u64]| -> Vec<f64> {
        let all = counts.iter().sum::<u64>().max(1) as f64;
        counts.iter().map(|n| *n as f64 / all).collect()
    };
    let (up, down) = (shares(positives), shares(negatives));
    let top = up.iter().chain(&down).fold(0.05_f64, |a, b| a.max(*b)) * 1.05;
    let (x, y) = (Axis::linear("score", 0.0, 1.0), Axis::linear("share", -top, top));
    let mut svg = String::new();
    let mut paint = || -> Result<(), DrawingAreaErrorKind<std::io::Error>> {
        let area = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        let mut chart = ChartBuilder::on(&area)
            .margin(6)
            .x_label_area_size(44)
            .y_label_area_size(52)
            .build_cartesian_2d(x.scale(), y.scale())?;
        let text: TextStyle<'_> = ("sans-serif", 15).into_font().color(&palette::INK);
        chart
            .configure_mesh()
            .disable_mesh()
            .axis_style(palette::INK)
            .x_labels(6)
            .y_labels(5)
            .label_style(text.clone())
            .axis_desc_style(text)
            .x_desc(x.label())
            .x_label_formatter(&|v| tick(*v))
            .y_label_formatter(&|v| tick(v.abs()))
            .draw()?;
        for (series, sign, values) in [(0, 1.0, &up), (1, -1.0, &down)] {
            let n = values.len().max(1) as f64;
            let bars = values.iter().enumerate().filter(|(_, v)| **v > 0.0).map(|(i, v)| {
                let corners = [(i as f64 / n, 0.0), ((i + 1) as f64 / n, sign * v)];
                Rectangle::new(corners, palette::series(series).filled())
            });
            chart.draw_series(bars)?;
        }
        area.present()
    };
    paint().map_err(|e| ReportError::Plot { title: title.into(), message: e.to_string() })?;
    Plot::new(title, description, vec!["positives".into(), "negatives".into()], size, &svg)
}
