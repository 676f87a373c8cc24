use crate::{Analysis, IntervalMethod};

/// Names and definitions of what an analysis prints, with its own settings.
pub(super) fn methods(analysis: &Analysis) -> Vec<(String, String)> {
    let s = &analysis.settings;
    let interval = match s.interval {
        IntervalMethod::Percentile => {
            "quantiles of the replicates (numpy's linear definition); Wilson's interval over the \
                                       groups, or Newcombe's for an area, where no replicate differs"
        }
        IntervalMethod::StudentT => {
            "Student's t with the standard deviation of the replicates, corrected for the number of groups"
        }
        IntervalMethod::Bca => "bias-corrected and accelerated quantiles of the replicates",
        IntervalMethod::Numpy => {
            "bare quantiles of replicates drawn with numpy's default_rng(seed), anew for every cell"
        }
    };
    let facts = [
        (
            "Population",
            "records that every judge has a score for; records with a PDF are held out to the vision track".to_owned(),
        ),
        (
            "Split",
            "within each stratum (class, source) the groups, in sorted order, go to dev and test in turn; a group is a base \
             payload, else the record"
                .to_owned(),
        ),
        (
            "AUC",
            "P(score of a positive > score of a negative) + ½ P(equal), over all pairs; the area under the ROC curve".to_owned(),
        ),
        (
            "TPR at target FPR",
            format!(
                "share of positives with a score strictly above the k-th highest negative, counted from 0, k = ⌊{} × negatives⌋. \
                 Negatives that tie at the cut are all left out, so the realised FPR, which stands beside it, may be far lower",
                s.target_fpr
            ),
        ),
        (
            "Recall, FPR",
            format!("share of positives, and of negatives, with a score ≥ {}; precision = TP / (TP + FP)", s.threshold),
        ),
        ("Average precision", "Σ (Rᵢ − Rᵢ₋₁) Pᵢ over the distinct scores, without interpolation".to_owned()),
        (
            "Intervals",
            format!(
                "{} % from {} bootstrap replicates of groups, seed {}: {interval}. Rates of slices whose groups have one row each: \
                 Wilson's score interval",
                s.confidence * 100.0,
                s.replicates,
                s.seed
            ),
        ),
        (
            "Tuned threshold",
            format!("the score that maximises recall on dev at an FPR of at most {} there; read once on test", s.target_fpr),
        ),
        (
            "Two-tier policy",
            "a threshold for verified senders and one for the rest, each over every fourth distinct dev score of its tier rounded \
             to 3 places, and 1.1"
                .to_owned(),
        ),
        (
            "Comparison",
            "both detectors read from the same replicates; p = 2 Φ(−|difference| / standard error), adjusted after Holm over the \
             detectors compared"
                .to_owned(),
        ),
        (
            "What structure costs",
            "recall on canonical segments minus recall on the naive view, over the positives that both views score, from the same \
             replicates. Where no record differs: 0, give or take Wilson's upper bound of 0 over the groups"
                .to_owned(),
        ),
        (
            "Calibration",
            "ten bins of equal width over 0..1; ECE = Σ (rows in bin / rows) · |share of positives − mean score|".to_owned(),
        ),
        (
            "Missing scores",
            "a missing or bad score is never 0. Figures are of the rows that have one; worst and best take every missing score \
             against, or for, the detector"
                .to_owned(),
        ),
        ("Undefined", "a figure without a value says so; it is never 0, and means say what they skip".to_owned()),
    ];
    facts.map(|(name, text)| (name.to_owned(), text)).into()
}
