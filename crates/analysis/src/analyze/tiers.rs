use wardline_email_corpus::SenderAuth;
use wardline_metrics::{Half, Ranked, TwoTierRows, score_grid, single_tier_sweep, two_tier_sweep};

use super::Prepared;
use super::result::TierResult;
use super::sample::Sample;
use crate::figure::defined;
use crate::{AnalysisError, Column, Task};

/// The published grid: every fourth distinct score rounded to three places, and a threshold that flags nothing.
const DECIMALS: u8 = 3;
const STEP: usize = 4;
const ABOVE: f64 = 1.1;

impl Prepared<'_> {
    pub(super) fn two_tier(&self, column: &Column) -> Result<Option<TierResult>, AnalysisError> {
        let task = Task::Injection;
        let (dev, test) = (self.half(column, task, Half::Dev), self.half(column, task, Half::Test));
        if dev.labels.is_empty() || test.labels.is_empty() {
            return Ok(None);
        }
        let error = || AnalysisError::metrics(format!("{}, two-tier policy", column.detector));
        let (dev_verified, test_verified) = (self.verified(&dev), self.verified(&test));
        let rows = TwoTierRows { labels: &dev.labels, scores: &dev.scores, verified: &dev_verified };
        let grid = |tier: Option<bool>| {
            let scores: Vec<f64> = dev
                .scores
                .iter()
                .zip(&dev_verified)
                .filter(|(_, verified)| tier.is_none_or(|t| t == **verified))
                .map(|(score, _)| *score)
                .collect();
            score_grid(&scores, DECIMALS, STEP, ABOVE)
        };
        let (verified, other, all) =
            (grid(Some(true)).map_err(error())?, grid(Some(false)).map_err(error())?, grid(None).map_err(error())?);
        let target = self.settings.target_fpr;
        let tuned = two_tier_sweep(&rows, &verified, &other, target).map_err(error())?;
        let single = single_tier_sweep(&rows, &all, target).map_err(error())?;
        let (Some(tuned), Some(single)) = (tuned, single) else { return Ok(None) };
        let on_test = TwoTierRows { labels: &test.labels, scores: &test.scores, verified: &test_verified };
        let read = on_test.at(tuned.verified, tuned.other).map_err(error())?;
        let single_read = Ranked::new(&test.labels, &test.scores).map_err(error())?.at_threshold(single.threshold);
        Ok(Some(TierResult {
            dev_recall: tuned.tpr,
            t_verified: tuned.verified,
            t_other: tuned.other,
            test_recall: defined(read.tpr),
            test_fpr: defined(read.fpr),
            single_threshold: single.threshold,
            single_test_recall: defined(single_read.tpr),
            single_test_fpr: defined(single_read.fpr),
        }))
    }

    fn verified(&self, sample: &Sample) -> Vec<bool> {
        let auth = |n: usize| self.run.manifest.records[self.rows.rows[n]].auth;
        sample.rows.iter().map(|&n| auth(n) == SenderAuth::Verified).collect()
    }
}
