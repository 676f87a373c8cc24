use crate::design::Axis;
use crate::interval::{normal_cdf, normal_quantile, student_quantile, wilson_at, wilson_of_share};
use crate::quantile::of_sorted;
use crate::replicates::{self, Evaluate};
use crate::statistics::{Mean, RowWeights};
use crate::{Design, Interval, MetricsError, Stream, check, score_auc_interval};

/// How a bootstrap distribution becomes an interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum BootstrapInterval {
    /// The quantiles of the replicates at (1 − confidence) / 2 and (1 + confidence) / 2. The published mail figures use it.
    Percentile,
    /// Bias-corrected and accelerated percentiles (B. Efron, "Better bootstrap confidence intervals", JASA 82 (1987)); the
    /// acceleration comes from the jackknife: without each unit in turn, or, for numbers other than rates and means with more than
    /// 1,000 units, without each of 1,000 blocks of units. Not defined for a crossed or stratified design. Where a number's
    /// correction is not defined (all replicates on one side of it, or no spread in the jackknife) that number gets its percentile
    /// interval.
    Bca,
    /// Student's t with the bootstrap's standard error, freed of what the plain bootstrap gets wrong with few units.
    ///
    /// The variance V and the degrees of freedom f:
    ///
    /// * One axis with G units: the variance of the replicates times G / (G − 1), f = G − 1.
    /// * Crossed: the pigeonhole bootstrap counts the variance of the single cells three times. V is put together from bootstraps
    ///   of either axis alone and of the cells, three more runs. With R and C units on the axes, n cells that have rows, variances v₁, v₂
    ///   and v₀ (each freed of its bias as above), the variation e of cells, a of the first and b of the second axis solve R v₁ = a + e R/n,
    ///   C v₂ = b + e C/n and n v₀ = a + b + e, none below 0; V = a/R + b/C + e/n, and f is Satterthwaite's. The equations hold for
    ///   means over complete designs, and are taken over to other numbers. (Adding and subtracting one-way variances: A. C.
    ///   Cameron, J. B. Gelbach, D. L. Miller, "Robust inference with multiway clustering", JBES 29 (2011).)
    ///
    /// * Strata: each is drawn alone, as many runs as there are strata; the parts of V add up, each freed of its own bias, and f is
    ///   Satterthwaite's over all of them. A stratum of one unit on an axis adds nothing: what its units vary is not to be known.
    ///
    /// A rate p gets Wilson's interval with the effective sample size p(1 − p) / V and t in place of the normal quantile (N. Dean,
    /// M. Pagano, "Evaluating confidence interval methods for binomial proportions in clustered surveys", J. Surv. Stat. Methodol. 3
    /// (2015)). A guard of our own keeps the effective size at or below u (1 + k), where u is the number of independent units (rows,
    /// clusters, or the smaller axis) and k how many rows have the rarer outcome: a handful of hits says little on how hits cluster.
    /// At k = 0 it is the closed form's. Rates near 0 or 1 get intervals that cover more than they claim. The true-positive rate
    /// at a false-positive target counts as a rate, although its threshold is found anew in each replicate.
    ///
    /// Other numbers (areas, average precision, means, differences) get value ± t √V, cut off at the ends of their range.
    #[default]
    StudentT,
}

/// What an interval is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum IntervalKind {
    /// Percentile bootstrap.
    Percentile,
    /// Bias-corrected and accelerated bootstrap.
    Bca,
    /// Student's t with the bootstrap's standard error; for a rate, Wilson's interval with the effective sample size.
    StudentT,
    /// Wilson's or Newcombe's score interval over the independent units: the bootstrap had no spread.
    Score,
    /// None: the number or more than a tenth of its replicates are undefined, or the bootstrap had no spread and no closed form
    /// applies.
    Undefined,
}

/// A number with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Estimate {
    /// The statistic of the rows as they are; NaN when it is undefined.
    pub value: f64,
    /// The interval.
    pub interval: Option<Interval>,
    /// What the interval is.
    pub kind: IntervalKind,
    /// The standard error. With [`IntervalKind::StudentT`] √V, on which the interval rests; else the standard deviation of the
    /// replicates (in a crossed design the pigeonhole bootstrap's, which is larger than √V where cells vary).
    pub standard_error: f64,
    /// Replicates in which the statistic is defined.
    pub replicates: usize,
    /// Replicates left out because the statistic is undefined in them (one class only, for example).
    pub undefined: usize,
}

/// A bootstrap: how many replicates, which interval, whose random stream.
///
/// ```
/// use wardline_metrics::{Bootstrap, Design, Stream};
/// // 20 payloads on 5 surfaces each; a payload is caught on all surfaces or on none.
/// let payload: Vec<u32> = (0..100).map(|i| i / 5).collect();
/// let caught: Vec<bool> = payload.iter().map(|p| p % 4 != 0).collect();
/// let bootstrap = Bootstrap::new(Stream::new(1, "pi", "detector")).replicates(2000);
/// let rows = bootstrap.rate(&Design::rows(100)?, &caught)?;
/// let clusters = bootstrap.rate(&Design::clusters(&payload)?, &caught)?;
/// assert_eq!((rows.value, clusters.value), (0.75, 0.75));
/// let width = |e: wardline_metrics::Estimate| e.interval.map_or(0.0, |i| i.width());
/// assert!(width(clusters) > 2.0 * width(rows));
/// # Ok::<(), wardline_metrics::MetricsError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Bootstrap {
    replicates: usize,
    confidence: f64,
    interval: BootstrapInterval,
    stream: Stream,
}

/// What is known of a number beyond its replicates.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    /// Range of possible values.
    pub(crate) range: (f64, f64),
    /// The closed form to fall back on.
    pub(crate) closed_form: ClosedForm,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum ClosedForm {
    Unknown,
    /// A share of this many rows, over this many independent units.
    Rate {
        rows: usize,
        units: usize,
    },
    /// An area under the ROC curve over this many independent units of either class.
    Auc {
        positives: usize,
        negatives: usize,
    },
}

impl ClosedForm {
    fn interval(self, value: f64, confidence: f64) -> Option<Interval> {
        match self {
            Self::Rate { units, .. } if units > 0 => Some(wilson_of_share(value, units as f64, confidence)),
            Self::Auc { positives, negatives } => {
                score_auc_interval(value, positives as u64, negatives as u64, confidence).ok().flatten()
            }
            _ => None,
        }
    }
}

impl Shape {
    pub(crate) const ANY: Self = Self { range: (f64::NEG_INFINITY, f64::INFINITY), closed_form: ClosedForm::Unknown };

    pub(crate) fn rate(design: &Design) -> Self {
        let units = design.independent_units(|_| true);
        Self { range: (0.0, 1.0), closed_form: ClosedForm::Rate { rows: design.len(), units } }
    }
}

/// A number, or the difference of two.
pub(crate) enum Target {
    Single(Shape),
    Difference { first: (f64, Shape), second: (f64, Shape) },
}

impl Target {
    fn range(&self) -> (f64, f64) {
        match self {
            Self::Single(shape) => shape.range,
            Self::Difference { first: (_, a), second: (_, b) } => (a.range.0 - b.range.1, a.range.1 - b.range.0),
        }
    }

    /// The interval when the replicates have no spread. The two intervals of a difference are combined by squaring and adding
    /// (R. G. Newcombe, Statist. Med. 17 (1998), method 10 for independent samples), which is wide for positively correlated ones.
    fn closed_form(&self, value: f64, confidence: f64) -> Option<Interval> {
        match self {
            Self::Single(shape) => shape.closed_form.interval(value, confidence),
            Self::Difference { first: (a, first), second: (b, second) } => {
                let (i, j) =
                    (first.closed_form.interval(*a, confidence)?, second.closed_form.interval(*b, confidence)?);
                let (low, high) = ((a - i.low).hypot(j.high - b), (i.high - a).hypot(b - j.low));
                Some(Interval { low: (value - low).max(-1.0), high: (value + high).min(1.0) })
            }
        }
    }
}

/// Replicates of one number, sorted, without the undefined ones.
struct Column {
    value: f64,
    sorted: Vec<f64>,
    undefined: usize,
}

impl Column {
    fn of(value: f64, replicates: &[f64], width: usize, column: usize) -> Self {
        let all = replicates.len() / width;
        let mut sorted: Vec<f64> =
            replicates.iter().skip(column).step_by(width).copied().filter(|v| v.is_finite()).collect();
        sorted.sort_unstable_by(f64::total_cmp);
        Self { value, undefined: all - sorted.len(), sorted }
    }

    fn variance(&self) -> f64 {
        variance(&self.sorted)
    }

    fn has_spread(&self) -> bool {
        match (self.sorted.first(), self.sorted.last()) {
            (Some(low), Some(high)) => high - low > 1e-12 * low.abs().max(high.abs()),
            _ => false,
        }
    }

    fn between(&self, low: f64, high: f64) -> Interval {
        Interval { low: of_sorted(&self.sorted, low), high: of_sorted(&self.sorted, high) }
    }
}

fn variance(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / (n - 1.0)
}

impl Bootstrap {
    /// 1,000 replicates, 95 % confidence, [`BootstrapInterval::StudentT`].
    #[must_use]
    pub fn new(stream: Stream) -> Self {
        Self { replicates: 1000, confidence: 0.95, interval: BootstrapInterval::default(), stream }
    }

    /// Another number of replicates: 2 to 10,000,000.
    #[must_use]
    pub fn replicates(mut self, replicates: usize) -> Self {
        self.replicates = replicates;
        self
    }

    /// Another confidence level, between 0 and 1.
    #[must_use]
    pub fn confidence(mut self, confidence: f64) -> Self {
        self.confidence = confidence;
        self
    }

    /// Another kind of interval.
    #[must_use]
    pub fn interval(mut self, interval: BootstrapInterval) -> Self {
        self.interval = interval;
        self
    }

    /// The share of rows that are hits.
    ///
    /// When no replicate differs (0 of n, n of n, one cluster), the interval is Wilson's over the number of independent units: rows,
    /// clusters, or the smaller axis of a crossed design.
    ///
    /// # Errors
    /// Inputs of different length, or settings out of range.
    ///
    /// ```
    /// use wardline_metrics::{Bootstrap, Design, IntervalKind, Stream, wilson};
    /// let e = Bootstrap::new(Stream::new(1, "block", "deny-all")).rate(&Design::rows(50)?, &[true; 50])?;
    /// assert_eq!((e.kind, e.interval), (IntervalKind::Score, wilson(50, 50, 0.95)?));
    /// # Ok::<(), wardline_metrics::MetricsError>(())
    /// ```
    pub fn rate(&self, design: &Design, hits: &[bool]) -> Result<Estimate, MetricsError> {
        self.mean_with(design, &to_numbers(hits), Target::Single(Shape::rate(design)))
    }

    /// The difference of two shares of the same rows, `first − second`, paired: both are read from the same replicate.
    ///
    /// When no replicate differs, the two Wilson intervals over the independent units are combined by squaring and adding.
    ///
    /// # Errors
    /// Inputs of different length, or settings out of range.
    ///
    /// ```
    /// use wardline_metrics::{Bootstrap, Design, Stream};
    /// let (a, b): (Vec<bool>, Vec<bool>) = (0..200).map(|i| (i % 2 == 0, i % 4 == 0)).unzip();
    /// let e = Bootstrap::new(Stream::new(1, "block", "a - b")).rate_difference(&Design::rows(200)?, &a, &b)?;
    /// assert_eq!(e.value, 0.25);
    /// assert!(e.interval.is_some_and(|i| i.low > 0.15 && i.high < 0.35));
    /// # Ok::<(), wardline_metrics::MetricsError>(())
    /// ```
    pub fn rate_difference(&self, design: &Design, first: &[bool], second: &[bool]) -> Result<Estimate, MetricsError> {
        check::same_length("first", design.len(), first.len())?;
        check::same_length("second", design.len(), second.len())?;
        let shape = Shape::rate(design);
        let share = |hits: &[bool]| hits.iter().filter(|&&h| h).count() as f64 / hits.len() as f64;
        let difference: Vec<f64> = first.iter().zip(second).map(|(&a, &b)| f64::from(a) - f64::from(b)).collect();
        let target = Target::Difference { first: (share(first), shape), second: (share(second), shape) };
        self.mean_with(design, &difference, target)
    }

    /// The mean of a value of each row. For a paired difference of means, give the differences.
    ///
    /// # Errors
    /// A value that is not finite, inputs of different length, or settings out of range.
    ///
    /// ```
    /// use wardline_metrics::{Bootstrap, Design, Stream};
    /// let values: Vec<f64> = (0..100).map(f64::from).collect();
    /// let e = Bootstrap::new(Stream::new(1, "drop", "detector")).mean(&Design::rows(100)?, &values)?;
    /// assert_eq!(e.value, 49.5);
    /// assert!((e.standard_error - 2.9).abs() < 0.3); // √(variance / n) = 2.89
    /// # Ok::<(), wardline_metrics::MetricsError>(())
    /// ```
    pub fn mean(&self, design: &Design, values: &[f64]) -> Result<Estimate, MetricsError> {
        check::finite("value", values)?;
        self.mean_with(design, values, Target::Single(Shape::ANY))
    }

    fn mean_with(&self, design: &Design, values: &[f64], target: Target) -> Result<Estimate, MetricsError> {
        check::same_length("values", design.len(), values.len())?;
        let estimates = self.estimates(design, |design| Mean::new(design, values), &[target])?;
        Ok(estimates[0])
    }

    /// Any statistic of the rows, given how often each row was drawn (in row order). All ones are the rows as they are; a value
    /// that is not finite says that the statistic is undefined in that replicate.
    ///
    /// # Errors
    /// Settings out of range.
    ///
    /// ```
    /// use wardline_metrics::{Bootstrap, Design, Stream};
    /// let values = [1.0, 2.0, 4.0, 8.0];
    /// let geometric = |drawn: &[u32]| {
    ///     let logs: f64 = drawn.iter().zip(&values).map(|(&w, v): (_, &f64)| f64::from(w) * v.ln()).sum();
    ///     (logs / f64::from(drawn.iter().sum::<u32>())).exp()
    /// };
    /// let e = Bootstrap::new(Stream::new(1, "latency", "a")).statistic(&Design::rows(4)?, geometric)?;
    /// assert!((e.value - 8.0_f64.sqrt()).abs() < 1e-12);
    /// # Ok::<(), wardline_metrics::MetricsError>(())
    /// ```
    pub fn statistic(
        &self,
        design: &Design,
        statistic: impl Fn(&[u32]) -> f64 + Sync,
    ) -> Result<Estimate, MetricsError> {
        let build = |design: &Design| RowWeights::new(design, &statistic);
        Ok(self.estimates(design, build, &[Target::Single(Shape::ANY)])?[0])
    }

    pub(crate) fn check(&self, design: &Design) -> Result<(), MetricsError> {
        check::confidence(self.confidence)?;
        if !(2..=10_000_000).contains(&self.replicates) {
            let value = self.replicates as f64;
            return Err(MetricsError::OutOfRange { what: "number of replicates", value, range: "2..=10000000" });
        }
        if matches!(self.stream.0, crate::stream::Kind::Numpy(_))
            && !(design.axes.len() == 1 && design.axes[0].strata.len() == 1)
        {
            return Err(MetricsError::NumpyDesign);
        }
        Ok(())
    }

    /// The raw replicates, replicate by replicate.
    pub(crate) fn run<E: Evaluate>(&self, design: &Design, statistic: &E) -> Vec<f64> {
        replicates::run(design, statistic, &self.stream, self.replicates)
    }

    /// Estimates of every number that the statistic gives; `build` makes the statistic for a design over the same rows.
    pub(crate) fn estimates<E: Evaluate>(
        &self,
        design: &Design,
        build: impl Fn(&Design) -> E,
        targets: &[Target],
    ) -> Result<Vec<Estimate>, MetricsError> {
        self.check(design)?;
        if targets.is_empty() {
            return Ok(Vec::new());
        }
        let statistic = build(design);
        let width = targets.len();
        let values = replicates::point(design, &statistic);
        let columns = self.columns(&values, &self.run(design, &statistic));
        let jackknife = match self.interval {
            BootstrapInterval::Bca if design.axes.len() > 1 => return Err(MetricsError::CrossedDesign("BCa")),
            BootstrapInterval::Bca if design.axes[0].strata.len() > 1 => {
                return Err(MetricsError::StratifiedDesign("BCa"));
            }
            BootstrapInterval::Bca => replicates::jackknife(design, &statistic),
            _ => Vec::new(),
        };
        let spreads = match self.interval {
            BootstrapInterval::StudentT => self.spreads(design, &build, &values, &columns),
            _ => Vec::new(),
        };
        Ok(columns
            .iter()
            .zip(targets)
            .enumerate()
            .map(|(i, (column, target))| {
                let mut standard_error = column.variance().sqrt();
                let (interval, kind) = if column.value.is_nan() || column.undefined * 10 > self.replicates {
                    (None, IntervalKind::Undefined)
                } else if !column.has_spread() {
                    match target.closed_form(column.value, self.confidence) {
                        Some(interval) => (Some(interval), IntervalKind::Score),
                        None => (None, IntervalKind::Undefined),
                    }
                } else {
                    let (interval, kind) = match self.interval {
                        BootstrapInterval::Percentile => self.percentile(column),
                        BootstrapInterval::Bca => {
                            let without: Vec<f64> = jackknife.iter().skip(i).step_by(width).copied().collect();
                            self.bca(column, &without)
                        }
                        BootstrapInterval::StudentT => match self.student(column.value, spreads[i], target) {
                            Some(interval) => {
                                standard_error = spreads[i].standard_error;
                                (interval, IntervalKind::StudentT)
                            }
                            None => self.percentile(column),
                        },
                    };
                    (Some(interval), kind)
                };
                Estimate {
                    value: column.value,
                    interval,
                    kind,
                    standard_error,
                    replicates: column.sorted.len(),
                    undefined: column.undefined,
                }
            })
            .collect())
    }

    fn columns(&self, values: &[f64], replicates: &[f64]) -> Vec<Column> {
        let width = values.len();
        values.iter().enumerate().map(|(i, &value)| Column::of(value, replicates, width, i)).collect()
    }

    fn percentile(&self, column: &Column) -> (Interval, IntervalKind) {
        let tail = (1.0 - self.confidence) / 2.0;
        (column.between(tail, 1.0 - tail), IntervalKind::Percentile)
    }

    fn bca(&self, column: &Column, without: &[f64]) -> (Interval, IntervalKind) {
        let n = column.sorted.len() as f64;
        let below = column.sorted.partition_point(|&v| v < column.value) as f64;
        let not_above = column.sorted.partition_point(|&v| v <= column.value) as f64;
        // Replicates tied with the value count one half, as in scipy.
        let bias = normal_quantile(f64::midpoint(below, not_above) / n);
        let mean = without.iter().sum::<f64>() / without.len() as f64;
        let (mut squares, mut cubes) = (0.0, 0.0);
        for v in without {
            let d = mean - v;
            squares += d * d;
            cubes += d * d * d;
        }
        let acceleration = cubes / (6.0 * squares * squares.sqrt());
        let level = |z: f64| normal_cdf(bias + (bias + z) / (1.0 - acceleration * (bias + z)));
        let z = normal_quantile(f64::midpoint(1.0, self.confidence));
        let (low, high) = (level(-z), level(z));
        if low.is_finite() && high.is_finite() && low <= high {
            (column.between(low, high), IntervalKind::Bca)
        } else {
            self.percentile(column)
        }
    }

    /// For each number: the unbiased standard error and the degrees of freedom that go with it.
    fn spreads<E: Evaluate>(
        &self,
        design: &Design,
        build: &impl Fn(&Design) -> E,
        values: &[f64],
        columns: &[Column],
    ) -> Vec<Spread> {
        let parts_of_strata: Vec<Vec<Vec<Part>>> = match &design.axes[..] {
            [axis] if axis.strata.len() == 1 => {
                let units = axis.units() as f64;
                vec![
                    columns.iter().map(|c| vec![Part::of_units(c.variance() * units / (units - 1.0), units)]).collect(),
                ]
            }
            [axis] => {
                let variances = self.variances_of_strata(design, build, values, "only axis");
                let of_stratum = |(variances, &(_, n)): (Vec<f64>, &(u32, u32))| {
                    variances.into_iter().map(|v| vec![Part::of_units(v, f64::from(n))]).collect()
                };
                variances.into_iter().zip(&axis.strata).map(of_stratum).collect()
            }
            [first, second, ..] => {
                let cells = design.cells();
                let a = self.variances_of_strata(&design.axis(0), build, values, "first axis");
                let b = self.variances_of_strata(&design.axis(1), build, values, "second axis");
                let e = self.variances_of_strata(&cells, build, values, "cells");
                (0..first.strata.len())
                    .map(|h| {
                        let units = |axis: &Axis| f64::from(axis.strata[h].1);
                        let units = [units(first), units(second), units(&cells.axes[0])];
                        (0..values.len()).map(|i| parts_of_cross([a[h][i], b[h][i], e[h][i]], units)).collect()
                    })
                    .collect()
            }
            [] => Vec::new(),
        };
        (0..values.len()).map(|i| Spread::of(parts_of_strata.iter().flat_map(|stratum| &stratum[i]))).collect()
    }

    /// The variance of each number that each stratum's units bring in, freed of the plain bootstrap's bias; for a design of one
    /// axis. With several strata each is drawn alone. A stratum of one unit brings in none.
    fn variances_of_strata<E: Evaluate>(
        &self,
        design: &Design,
        build: &impl Fn(&Design) -> E,
        values: &[f64],
        name: &str,
    ) -> Vec<Vec<f64>> {
        let strata = &design.axes[0].strata;
        let statistic = build(design);
        let of_stratum = |(h, &(_, n)): (usize, &(u32, u32))| {
            if n < 2 {
                return vec![0.0; values.len()];
            }
            let stream = match strata.len() {
                1 => self.stream.derived(name),
                _ => self.stream.derived(&format!("{name}, stratum {h}")),
            };
            let replicates = replicates::run(&design.only(h), &statistic, &stream, self.replicates);
            let factor = f64::from(n) / f64::from(n - 1);
            self.columns(values, &replicates).iter().map(|column| column.variance() * factor).collect()
        };
        strata.iter().enumerate().map(of_stratum).collect()
    }

    /// `None` when the spread gives no interval.
    fn student(&self, value: f64, spread: Spread, target: &Target) -> Option<Interval> {
        let t = student_quantile(f64::midpoint(1.0, self.confidence), spread.free)?;
        let squared = spread.standard_error * spread.standard_error;
        if squared.is_nan() || squared <= 0.0 {
            return None;
        }
        if let Target::Single(Shape { closed_form: ClosedForm::Rate { rows, units }, .. }) = *target {
            let rarer = value.min(1.0 - value) * rows as f64;
            let effective = (value * (1.0 - value) / squared).min(most_effective(units, rarer));
            return (effective > 0.0).then(|| wilson_at(value, effective, t));
        }
        let (half, range) = (t * spread.standard_error, target.range());
        Some(Interval { low: (value - half).max(range.0), high: (value + half).min(range.1) })
    }
}

/// The largest effective sample size that a rate is granted when its rarer outcome was seen `rarer` times: a handful of hits
/// says little on how hits cluster. At 0 it is that of the closed form.
fn most_effective(units: usize, rarer: f64) -> f64 {
    units as f64 * (1.0 + rarer)
}

/// Variance of the crossed axes and of the cells within one stratum, from the variances of bootstraps of either axis and of the
/// cells alone, and how many of each there are.
fn parts_of_cross([a, b, e]: [f64; 3], [n_first, n_second, n]: [f64; 3]) -> Vec<Part> {
    // Cells per unit of either axis.
    let (per_first, per_second) = (n / n_first, n / n_second);
    let apart = 1.0 - 1.0 / per_first - 1.0 / per_second;
    let (first_sum, second_sum, cell_sum) = (n_first * a, n_second * b, n * e);
    // A bound of 0 must not hide a number that no replicate of an axis alone defines.
    if !(first_sum + second_sum + cell_sum).is_finite() {
        return vec![Part { variance: f64::NAN, free: f64::NAN }];
    }
    let cell = if apart > 0.0 { ((cell_sum - first_sum - second_sum) / apart).max(0.0) } else { cell_sum };
    vec![
        Part::of_units((first_sum - cell / per_first).max(0.0) / n_first, n_first),
        Part::of_units((second_sum - cell / per_second).max(0.0) / n_second, n_second),
        Part::of_units(cell / n, n),
    ]
}

/// A part of a variance, and the degrees of freedom that it was measured with.
struct Part {
    variance: f64,
    free: f64,
}

impl Part {
    fn of_units(variance: f64, units: f64) -> Self {
        Self { variance, free: units - 1.0 }
    }
}

#[derive(Debug, Clone, Copy)]
struct Spread {
    standard_error: f64,
    free: f64,
}

impl Spread {
    /// The sum of parts, with Satterthwaite's degrees of freedom.
    fn of<'a>(parts: impl Iterator<Item = &'a Part>) -> Self {
        let (mut variance, mut per_free) = (0.0, 0.0);
        for part in parts {
            variance += part.variance;
            if part.variance != 0.0 {
                per_free += part.variance * part.variance / part.free;
            }
        }
        Self { standard_error: variance.sqrt(), free: variance * variance / per_free }
    }
}

fn to_numbers(hits: &[bool]) -> Vec<f64> {
    hits.iter().map(|&h| f64::from(h)).collect()
}
