//! The same functions for `ndarray` views, of any memory layout.

use std::borrow::Cow;

use ndarray::ArrayView1;

use crate::{Confusion, DeLongTest, MetricsError, Ranked};

/// The elements in order; copied when they don't lie side by side.
fn slice<'a, T: Clone>(view: &ArrayView1<'a, T>) -> Cow<'a, [T]> {
    match view.to_slice() {
        Some(slice) => Cow::Borrowed(slice),
        None => Cow::Owned(view.to_vec()),
    }
}

impl Ranked {
    /// [`Ranked::new`] from one-dimensional views of equal length. With the feature `ndarray`.
    ///
    /// # Errors
    /// As [`Ranked::new`].
    ///
    /// ```
    /// use ndarray::array;
    /// let scores = array![[0.9, 0.0], [0.4, 0.0], [0.4, 0.0], [0.1, 0.0]];
    /// let labels = array![true, true, false, false];
    /// let ranked = wardline_metrics::Ranked::from_views(labels.view(), scores.column(0))?;
    /// assert_eq!(ranked.roc_auc(), 0.875);
    /// # Ok::<(), wardline_metrics::MetricsError>(())
    /// ```
    pub fn from_views(labels: ArrayView1<'_, bool>, scores: ArrayView1<'_, f64>) -> Result<Self, MetricsError> {
        Self::new(&slice(&labels), &slice(&scores))
    }

    /// [`Ranked::weighted`] from one-dimensional views of equal length. With the feature `ndarray`.
    ///
    /// # Errors
    /// As [`Ranked::weighted`].
    ///
    /// ```
    /// use ndarray::array;
    /// let (labels, scores) = (array![true, false, false], array![0.5, 0.9, 0.1]);
    /// let weights = array![1.0, 1.0, 3.0];
    /// let ranked = wardline_metrics::Ranked::weighted_from_views(labels.view(), scores.view(), weights.view())?;
    /// assert_eq!(ranked.roc_auc(), 0.75);
    /// # Ok::<(), wardline_metrics::MetricsError>(())
    /// ```
    pub fn weighted_from_views(
        labels: ArrayView1<'_, bool>,
        scores: ArrayView1<'_, f64>,
        weights: ArrayView1<'_, f64>,
    ) -> Result<Self, MetricsError> {
        Self::weighted(&slice(&labels), &slice(&scores), &slice(&weights))
    }
}

impl Confusion {
    /// [`Confusion::at`] from one-dimensional views of equal length. With the feature `ndarray`.
    ///
    /// # Errors
    /// As [`Confusion::at`].
    ///
    /// ```
    /// use ndarray::array;
    /// let (labels, scores) = (array![true, false], array![0.5, 0.9]);
    /// let c = wardline_metrics::Confusion::at_views(labels.view(), scores.view(), 0.6)?;
    /// assert_eq!((c.false_positives, c.false_negatives), (1, 1));
    /// # Ok::<(), wardline_metrics::MetricsError>(())
    /// ```
    pub fn at_views(
        labels: ArrayView1<'_, bool>,
        scores: ArrayView1<'_, f64>,
        threshold: f64,
    ) -> Result<Self, MetricsError> {
        Self::at(&slice(&labels), &slice(&scores), threshold)
    }
}

impl DeLongTest {
    /// [`delong_test`](crate::delong_test) from one-dimensional views of equal length. With the feature `ndarray`.
    ///
    /// # Errors
    /// As [`delong_test`](crate::delong_test).
    ///
    /// ```
    /// use ndarray::array;
    /// let labels = array![true, true, false, false];
    /// let scores = array![0.9, 0.4, 0.4, 0.1];
    /// let same = wardline_metrics::DeLongTest::from_views(labels.view(), scores.view(), scores.view())?;
    /// assert_eq!(same.p_value, 1.0);
    /// # Ok::<(), wardline_metrics::MetricsError>(())
    /// ```
    pub fn from_views(
        labels: ArrayView1<'_, bool>,
        first: ArrayView1<'_, f64>,
        second: ArrayView1<'_, f64>,
    ) -> Result<Self, MetricsError> {
        crate::delong_test(&slice(&labels), &slice(&first), &slice(&second))
    }
}
