//! Detection statistics with stated definitions.

mod error;
mod interval;

pub use error::MetricsError;
pub use interval::{Interval, wilson};
