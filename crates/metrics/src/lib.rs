//! Detection statistics with stated definitions: curves and areas, operating points, grouped splits, intervals that respect how rows hang
//! together, and paired tests.
//!
//! Scores rank rows, labels are `bool`, a row is flagged when its score is at or above a threshold. Every function states its
//! definition, formula, what ties, empty input and a single class do, and its source; all agree with scikit-learn, scipy,
//! statsmodels and numpy to 1e-12 where these have them.
//!
//! ```
//! use wardline_metrics::{Bootstrap, Design, Measure, Ranked, Stream, TprEstimator};
//!
//! // Four payloads on three surfaces each, and eight benign messages.
//! let labels: Vec<bool> = (0..20).map(|row| row < 12).collect();
//! let scores = [0.9, 0.8, 0.9, 0.7, 0.8, 0.6, 0.2, 0.1, 0.2, 0.9, 0.9, 0.5, 0.1, 0.3, 0.1, 0.2, 0.1, 0.6, 0.1, 0.2];
//! let payload: Vec<usize> = (0..20).map(|row| if row < 12 { row / 3 } else { row }).collect();
//!
//! let ranked = Ranked::new(&labels, &scores)?;
//! let point = ranked.tpr_at_fpr(0.125, TprEstimator::Analyze)?;
//! assert_eq!((point.threshold, point.tpr, point.fpr), (0.5, 0.75, 0.125));
//!
//! let bootstrap = Bootstrap::new(Stream::new(1, "pi", "my-detector"));
//! let auc = bootstrap.measures(&Design::clusters(&payload)?, &labels, &scores, &[Measure::RocAuc])?[0];
//! assert_eq!(auc.value, ranked.roc_auc());
//! assert!(auc.interval.is_some_and(|i| i.low < 0.7 && i.high > 0.9)); // four payloads say little
//! # Ok::<(), wardline_metrics::MetricsError>(())
//! ```
//!
//! * Read [`Ranked`] for curves, areas and operating points, [`Confusion`] for a fixed threshold, [`TwoTierRows`] for two.
//! * [`Design`] says what hangs together, [`Bootstrap`] gives numbers their intervals, differences of two detectors included.
//! * [`wilson`], [`clopper_pearson`], [`delong_test`], [`mcnemar`] and [`holm`] are the closed forms.
//! * [`grouped_split`] and [`leakage`] make a split and audit it.
//!
//! It reads no files, prints nothing, keeps no clock and draws no randomness that is not seeded; the same input gives the same bits
//! whatever the number of threads. Bootstraps take no row weights. It knows nothing of multi-class problems, survival, or regression.
//!
//! # Features
//!
//! * `rayon` (default): replicates on all cores.
//! * `ndarray`: `Ranked`, `Design` and the areas from array views; elsewhere `view.as_slice()` or a copy does.
//! * `serde`: `Serialize` for results, and `Deserialize` for those that can't hold NaN or an infinity (JSON writes these as null).
//!
//! # Stability
//!
//! Rust 1.90 or later. A change that moves a number, the random streams included, is a breaking change and stands in the changelog.

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
