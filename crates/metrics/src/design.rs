use std::collections::BTreeSet;

use crate::numpy::Halves;
use crate::{MetricsError, check};

/// What is drawn anew in a bootstrap replicate: rows, clusters of rows, or the two axes of a crossed design.
///
/// A replicate draws as many units as there are, with replacement, on every axis (and within every stratum, when stratified). A
/// row's weight is how often its unit was drawn; in a crossed design the product over both axes (the *pigeonhole* bootstrap of
/// A. B. Owen, "The pigeonhole bootstrap", Ann. Appl. Stat. 1 (2007)).
///
/// Units are numbered in the sorted order of their keys.
///
/// ```
/// use wardline_metrics::Design;
/// let users = ["u1", "u1", "u2", "u2", "u3", "u3"];
/// let injections = ["a", "b", "a", "b", "a", "b"];
/// let design = Design::crossed(&users, &injections)?;
/// assert_eq!((design.len(), design.units()), (6, vec![3, 2]));
/// # Ok::<(), wardline_metrics::MetricsError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Design {
    rows: usize,
    pub(crate) axes: Vec<Axis>,
    /// The stratum of each row, when there are strata.
    strata: Option<Vec<u32>>,
}

#[derive(Debug, Clone)]
pub(crate) struct Axis {
    /// The unit of each row.
    pub(crate) unit_of: Vec<u32>,
    /// First unit and number of units of each stratum: units of a stratum are numbered consecutively.
    pub(crate) strata: Vec<(u32, u32)>,
    /// The one stratum that is drawn anew, while all other units stay; `None` draws every stratum.
    only: Option<usize>,
}

impl Axis {
    fn new<K: Ord>(keys: &[K]) -> Self {
        let (unit_of, count) = number(keys);
        Self { unit_of, strata: vec![(0, count)], only: None }
    }

    pub(crate) fn units(&self) -> usize {
        self.strata.iter().map(|&(_, n)| n as usize).sum()
    }

    fn stratified(self, stratum_of: &[u32]) -> Self {
        let keys: Vec<(u32, u32)> = stratum_of.iter().copied().zip(self.unit_of).collect();
        let units: BTreeSet<(u32, u32)> = keys.iter().copied().collect();
        let mut strata: Vec<(u32, u32)> = Vec::new();
        let mut last = None;
        for (unit, &(stratum, _)) in (0..).zip(&units) {
            match strata.last_mut() {
                Some((_, n)) if last == Some(stratum) => *n += 1,
                _ => strata.push((unit, 1)),
            }
            last = Some(stratum);
        }
        Self { unit_of: number(&keys).0, strata, only: None }
    }

    /// Draws a replicate: how often each unit comes up.
    pub(crate) fn draw(&self, rng: &mut Halves, counts: &mut [u32]) {
        counts.fill(1);
        for (i, &(first, n)) in self.strata.iter().enumerate() {
            if self.only.is_some_and(|only| only != i) {
                continue;
            }
            let stratum = &mut counts[first as usize..(first + n) as usize];
            stratum.fill(0);
            for _ in 0..n {
                stratum[rng.below(n) as usize] += 1;
            }
        }
    }
}

/// Numbers keys in sorted order: the number of each row, and how many there are.
fn number<K: Ord>(keys: &[K]) -> (Vec<u32>, u32) {
    let mut order: Vec<u32> = (0..keys.len() as u32).collect();
    order.sort_by(|&a, &b| keys[a as usize].cmp(&keys[b as usize]));
    let mut numbers = vec![0; keys.len()];
    let mut next = 0;
    for (i, &row) in order.iter().enumerate() {
        if i > 0 && keys[row as usize] != keys[order[i - 1] as usize] {
            next += 1;
        }
        numbers[row as usize] = next;
    }
    (numbers, if keys.is_empty() { 0 } else { next + 1 })
}

impl Design {
    /// Independent rows.
    ///
    /// # Errors
    /// No rows.
    pub fn rows(n: usize) -> Result<Self, MetricsError> {
        check::rows(n)?;
        let numbers: Vec<u32> = (0..n as u32).collect();
        Ok(Self {
            rows: n,
            axes: vec![Axis { unit_of: numbers, strata: vec![(0, n as u32)], only: None }],
            strata: None,
        })
    }

    /// Clusters: rows with the same key are drawn together.
    ///
    /// # Errors
    /// No rows.
    pub fn clusters<K: Ord>(keys: &[K]) -> Result<Self, MetricsError> {
        check::rows(keys.len())?;
        Ok(Self { rows: keys.len(), axes: vec![Axis::new(keys)], strata: None })
    }

    /// A crossed design: each row belongs to one unit of either axis, for example a user task and an injection task.
    ///
    /// # Errors
    /// No rows, or axes of different length.
    pub fn crossed<A: Ord, B: Ord>(first: &[A], second: &[B]) -> Result<Self, MetricsError> {
        check::same_length("second axis", first.len(), second.len())?;
        check::rows(first.len())?;
        Ok(Self { rows: first.len(), axes: vec![Axis::new(first), Axis::new(second)], strata: None })
    }

    /// The same design with units drawn within strata. A key that occurs in two strata is two units: `user_task_0` of one suite
    /// is not that of another. A stratum of one unit adds no variation.
    ///
    /// # Errors
    /// A stratum list of another length.
    pub fn stratified<S: Ord>(self, strata: &[S]) -> Result<Self, MetricsError> {
        check::same_length("strata", self.rows, strata.len())?;
        let (stratum_of, _) = number(strata);
        let axes = self.axes.into_iter().map(|axis| axis.stratified(&stratum_of)).collect();
        Ok(Self { rows: self.rows, axes, strata: Some(stratum_of) })
    }

    /// Number of rows.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "a design has at least one row")]
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Number of units on each axis.
    #[must_use]
    pub fn units(&self) -> Vec<usize> {
        self.axes.iter().map(Axis::units).collect()
    }

    /// The fewest units on any axis among the rows that `keep` names: how many independent observations a rate over them has at
    /// the very least.
    pub(crate) fn independent_units(&self, keep: impl Fn(usize) -> bool) -> usize {
        let units = |axis: &Axis| {
            let kept: BTreeSet<u32> = (0..self.rows).filter(|&row| keep(row)).map(|row| axis.unit_of[row]).collect();
            kept.len()
        };
        self.axes.iter().map(units).min().unwrap_or(0)
    }

    /// One axis of a crossed design, as a cluster design.
    pub(crate) fn axis(&self, axis: usize) -> Self {
        Self { rows: self.rows, axes: vec![self.axes[axis].clone()], strata: self.strata.clone() }
    }

    /// The same design with one stratum drawn anew and the rest as it is.
    pub(crate) fn only(&self, stratum: usize) -> Self {
        let mut design = self.clone();
        for axis in &mut design.axes {
            axis.only = Some(stratum);
        }
        design
    }

    /// The cells of a crossed design as clusters, within the same strata.
    pub(crate) fn cells(&self) -> Self {
        let cells: Vec<Vec<u32>> =
            (0..self.rows).map(|row| self.axes.iter().map(|axis| axis.unit_of[row]).collect()).collect();
        let mut axis = Axis::new(&cells);
        if let Some(strata) = &self.strata {
            axis = axis.stratified(strata);
        }
        Self { rows: self.rows, axes: vec![axis], strata: self.strata.clone() }
    }
}
