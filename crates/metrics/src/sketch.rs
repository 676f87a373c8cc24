use std::collections::BTreeMap;

use crate::quantile::of_sorted;
use crate::ranked::ascending_bits;
use crate::{MetricsError, check};

/// Quantiles of a stream of numbers too long to keep.
///
/// Up to 65,536 values are kept as they are, and quantiles are exactly those of [`quantile`](crate::quantile). Beyond that, values
/// are counted in buckets that share sign, exponent and the top 12 bits of the mantissa, so a quantile is that of the values
/// rounded to their bucket's centre: off by at most one part in 8,192 (numbers below 1e-307 in size,
/// by 1e-311 at most; 0 stays 0). The result depends on the values alone, not on their order or on how partial sketches were merged.
///
/// ```
/// use wardline_metrics::QuantileSketch;
/// let mut sketch = QuantileSketch::new();
/// for i in 0..=100_000 {
///     sketch.insert(f64::from(i))?;
/// }
/// let p95 = sketch.quantile(0.95)?;
/// assert!((p95 / 95_000.0 - 1.0).abs() <= 1.0 / 8192.0);
/// # Ok::<(), wardline_metrics::MetricsError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct QuantileSketch {
    exact: Vec<f64>,
    buckets: BTreeMap<u32, u64>,
    count: u64,
}

const MOST_EXACT: usize = 1 << 16;
/// Bits that a bucket doesn't tell apart.
const DROPPED: u32 = 40;

fn bucket(value: f64) -> u32 {
    (ascending_bits(value) >> DROPPED) as u32
}

/// The middle of a bucket.
fn centre(bucket: u32) -> f64 {
    // Zero shares its bucket with numbers below 1e-311.
    if bucket == 1 << (63 - DROPPED) {
        return 0.0;
    }
    let bits = u64::from(bucket) << DROPPED | 1 << (DROPPED - 1);
    f64::from_bits(if bits >> 63 == 1 { bits & !(1 << 63) } else { !bits })
}

impl QuantileSketch {
    /// No values yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Number of values.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Adds a value.
    ///
    /// # Errors
    /// A value that is not finite.
    pub fn insert(&mut self, value: f64) -> Result<(), MetricsError> {
        check::finite("value", &[value])?;
        self.count += 1;
        if self.buckets.is_empty() && self.exact.len() < MOST_EXACT {
            self.exact.push(value);
        } else {
            self.spill();
            *self.buckets.entry(bucket(value)).or_default() += 1;
        }
        Ok(())
    }

    /// Adds the values of another sketch.
    pub fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.exact.extend(&other.exact);
        for (&bucket, &count) in &other.buckets {
            *self.buckets.entry(bucket).or_default() += count;
        }
        if self.exact.len() > MOST_EXACT || !self.buckets.is_empty() {
            self.spill();
        }
    }

    fn spill(&mut self) {
        for value in self.exact.drain(..) {
            *self.buckets.entry(bucket(value)).or_default() += 1;
        }
    }

    /// The quantile at `q`, by linear interpolation at position (count − 1) · q.
    ///
    /// # Errors
    /// No values, `q` outside 0..=1.
    pub fn quantile(&self, q: f64) -> Result<f64, MetricsError> {
        check::unit_interval("quantile", q)?;
        if self.count == 0 {
            return Err(MetricsError::Empty);
        }
        if self.buckets.is_empty() {
            let mut sorted = self.exact.clone();
            sorted.sort_unstable_by(f64::total_cmp);
            return Ok(of_sorted(&sorted, q));
        }
        let position = (self.count - 1) as f64 * q;
        let (a, b) = (self.order_statistic(position.floor() as u64), self.order_statistic(position.ceil() as u64));
        Ok(of_sorted(&[a, b], position - position.floor()))
    }

    fn order_statistic(&self, rank: u64) -> f64 {
        let mut below = 0;
        for (&bucket, &count) in &self.buckets {
            below += count;
            if below > rank {
                return centre(bucket);
            }
        }
        self.buckets.last_key_value().map_or(f64::NAN, |(&bucket, _)| centre(bucket))
    }
}
