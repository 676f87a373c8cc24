use std::collections::BTreeMap;

use crate::{MetricsError, check};

/// The half of a split that a row belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Half {
    /// The half that thresholds are tuned on.
    Dev,
    /// The half that figures are read on.
    Test,
}

/// The stratified, grouped split into a dev and a test half, with no randomness.
///
/// Strata and groups are taken in sorted order; within each stratum the groups go to dev, test, dev, … in turn, so that a
/// stratum's halves differ by at most one group. All rows of a group go where the group goes. Returns a half for each row.
///
/// # Errors
/// Inputs of different length, no rows, or a group that stands in several strata and would fall into both halves.
///
/// ```
/// use wardline_metrics::{Half, grouped_split};
/// let strata = ["pi", "pi", "pi", "pi", "benign", "benign"];
/// let groups = ["p1", "p1", "p2", "p3", "m1", "m2"];
/// use Half::{Dev, Test};
/// assert_eq!(grouped_split(&strata, &groups)?, [Dev, Dev, Test, Dev, Dev, Test]);
/// # Ok::<(), wardline_metrics::MetricsError>(())
/// ```
pub fn grouped_split<S: Ord, G: Ord>(strata: &[S], groups: &[G]) -> Result<Vec<Half>, MetricsError> {
    check::same_length("groups", strata.len(), groups.len())?;
    check::rows(strata.len())?;
    let mut by_stratum: BTreeMap<&S, BTreeMap<&G, Half>> = BTreeMap::new();
    for (stratum, group) in strata.iter().zip(groups) {
        by_stratum.entry(stratum).or_default().insert(group, Half::Dev);
    }
    for groups in by_stratum.values_mut() {
        for half in groups.values_mut().skip(1).step_by(2) {
            *half = Half::Test;
        }
    }
    let halves: Vec<Half> = strata.iter().zip(groups).map(|(stratum, group)| by_stratum[stratum][group]).collect();
    let mut seen: BTreeMap<&G, usize> = BTreeMap::new();
    for (row, group) in groups.iter().enumerate() {
        let &mut first = seen.entry(group).or_insert(row);
        if halves[first] != halves[row] {
            let (dev, test) = if halves[row] == Half::Test { (first, row) } else { (row, first) };
            return Err(MetricsError::GroupInBothHalves { dev, test });
        }
    }
    Ok(halves)
}

/// How much a split lets slip through, by some grouping of the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Leakage {
    /// Groups in all.
    pub groups: usize,
    /// Groups with rows in both halves.
    pub groups_in_both: usize,
    /// Rows in the dev half.
    pub dev_rows: usize,
    /// Rows in the test half.
    pub test_rows: usize,
    /// Rows in the dev half whose group also has rows in the test half.
    pub dev_rows_in_both: usize,
    /// Rows in the test half whose group also has rows in the dev half: what the test half has in common with the tuning.
    pub test_rows_in_both: usize,
}

/// Counts groups and rows that stand in both halves of a split, for any grouping, also a coarser one than the split was made by.
///
/// A split by payload keeps payloads apart, but payloads of one scenario may stand on both sides; the audit with the scenarios as
/// grouping shows how many. No rows give zeros.
///
/// # Errors
/// Inputs of different length.
///
/// ```
/// use wardline_metrics::{grouped_split, leakage};
/// let payloads = ["s1-direct", "s1-system", "s2-direct", "s2-system", "s3-direct"];
/// let scenarios = ["s1", "s1", "s2", "s2", "s3"];
/// let halves = grouped_split(&["pi"; 5], &payloads)?;
/// assert_eq!(leakage(&halves, &payloads)?.groups_in_both, 0);
/// let found = leakage(&halves, &scenarios)?;
/// assert_eq!((found.groups, found.groups_in_both, found.dev_rows_in_both, found.test_rows_in_both), (3, 2, 2, 2));
/// # Ok::<(), wardline_metrics::MetricsError>(())
/// ```
pub fn leakage<G: Ord>(halves: &[Half], grouping: &[G]) -> Result<Leakage, MetricsError> {
    check::same_length("grouping", halves.len(), grouping.len())?;
    let mut rows: BTreeMap<&G, (usize, usize)> = BTreeMap::new();
    for (half, group) in halves.iter().zip(grouping) {
        let (dev, test) = rows.entry(group).or_default();
        *match half {
            Half::Dev => dev,
            Half::Test => test,
        } += 1;
    }
    let mut found = Leakage { groups: rows.len(), ..Leakage::default() };
    for &(dev, test) in rows.values() {
        found.dev_rows += dev;
        found.test_rows += test;
        if dev > 0 && test > 0 {
            found.groups_in_both += 1;
            found.dev_rows_in_both += dev;
            found.test_rows_in_both += test;
        }
    }
    Ok(found)
}
