//! Detection statistics with stated definitions.

mod bootstrap;
mod check;
mod delong;
mod design;
mod error;
mod interval;
mod numpy;
mod paired_tests;
mod quantile;
mod replicates;
mod statistics;
mod stream;

pub use bootstrap::{Bootstrap, BootstrapInterval, Estimate, IntervalKind};
pub use delong::score_auc_interval;
pub use design::Design;
pub use error::MetricsError;
pub use interval::{Interval, clopper_pearson, wilson};
pub use numpy::NumpyRng;
pub use paired_tests::{McNemar, holm, mcnemar, mcnemar_exact};
pub use quantile::{quantile, quantiles};
pub use stream::Stream;
