//! Detection statistics with stated definitions.

mod bootstrap;
mod calibration;
mod check;
mod confusion;
mod curves;
mod delong;
mod design;
mod error;
mod interval;
mod measures;
mod numpy;
mod operating_point;
mod paired_tests;
mod policy;
mod quantile;
mod ranked;
mod replicates;
mod sketch;
mod split;
mod statistics;
mod stream;
#[cfg(feature = "ndarray")]
mod views;

pub use bootstrap::{Bootstrap, BootstrapInterval, Estimate, IntervalKind};
pub use calibration::{Calibration, ReliabilityBin, calibration};
pub use confusion::Confusion;
pub use curves::{PrecisionRecallCurve, RocCurve, average_precision, brier_score, roc_auc};
pub use delong::{DeLong, DeLongTest, delong, delong_test, score_auc_interval};
pub use design::Design;
pub use error::MetricsError;
pub use interval::{Interval, clopper_pearson, wilson};
pub use measures::Measure;
pub use numpy::NumpyRng;
pub use operating_point::{OperatingPoint, TprEstimator};
pub use paired_tests::{McNemar, holm, mcnemar, mcnemar_exact};
pub use policy::{TwoTier, TwoTierRows, score_grid, single_tier_sweep, two_tier_sweep};
pub use quantile::{quantile, quantiles};
pub use ranked::Ranked;
pub use sketch::QuantileSketch;
pub use split::{Half, Leakage, grouped_split, leakage};
pub use stream::Stream;
