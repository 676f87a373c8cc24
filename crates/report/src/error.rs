use thiserror::Error;

/// What is wrong with a plot.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReportError {
    /// A plot could not be drawn.
    #[error("plot {title:?}: {message}")]
    Plot {
        /// The plot's title.
        title: String,
        /// What the plotting library says.
        message: String,
    },
    /// An axis whose ends are not finite, not in order, or not above zero on a logarithmic axis.
    #[error("plot {title:?}: axis {axis:?} from {from} to {to}")]
    Axis {
        /// The plot's title.
        title: String,
        /// The axis's label.
        axis: String,
        /// Its lower end.
        from: f64,
        /// Its upper end.
        to: f64,
    },
}
