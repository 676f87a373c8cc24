use crate::{
    Analysis, Calibrated, Comparison, Cost, Coverage, DetectorResult, Difference, Fault, Figure, Points, Task,
    ViewResult,
};

/// One number of an analysis with all that says which it is: a line of the CSV, and what `diff` compares.
pub(crate) struct Entry {
    pub(crate) task: Option<Task>,
    /// `test`, `dev`, `whole` (the population) or `all` (every row of the file or manifest).
    pub(crate) rows: &'static str,
    /// What part of the rows, view, policy or grouping, as `property=value`; empty for all of them.
    pub(crate) slice: String,
    /// Empty where the number is of the records.
    pub(crate) detector: String,
    pub(crate) measure: String,
    /// Positives and negatives that it is read from.
    pub(crate) n: Option<(u64, u64)>,
    pub(crate) figure: Figure,
    pub(crate) carried_forward: bool,
}

/// Where entries stand.
#[derive(Clone)]
struct Place {
    task: Option<Task>,
    rows: &'static str,
    slice: String,
    detector: String,
    carried_forward: bool,
}

impl Place {
    fn of(d: &DetectorResult, task: Option<Task>, rows: &'static str) -> Self {
        let (detector, carried_forward) = (d.detector.clone(), d.carried_forward);
        Self { task, rows, slice: String::new(), detector, carried_forward }
    }

    fn named(detector: &str, task: Task, rows: &'static str) -> Self {
        Self { task: Some(task), rows, slice: String::new(), detector: detector.to_owned(), carried_forward: false }
    }

    fn slice(&self, slice: impl Into<String>) -> Self {
        Self { slice: slice.into(), ..self.clone() }
    }

    fn rows(&self, rows: &'static str) -> Self {
        Self { rows, ..self.clone() }
    }
}

#[derive(Default)]
struct Entries(Vec<Entry>);

impl Entries {
    fn add(&mut self, place: &Place, n: Option<(u64, u64)>, measure: impl Into<String>, figure: Figure) {
        let Place { task, rows, slice, detector, carried_forward } = place.clone();
        self.0.push(Entry { task, rows, slice, detector, measure: measure.into(), n, figure, carried_forward });
    }

    fn value(&mut self, place: &Place, n: Option<(u64, u64)>, measure: &str, value: Option<f64>) {
        self.add(place, n, measure, Figure { value, ..Figure::default() });
    }

    fn count(&mut self, place: &Place, measure: &str, count: u64) {
        self.value(place, None, measure, Some(count as f64));
    }

    fn points(&mut self, place: &Place, p: &Points) {
        let n = Some((p.n_pos, p.n_neg));
        self.add(place, n, "auc", p.auc);
        self.add(place, n, "tpr_at_target_fpr", p.tpr_at_target_fpr);
        self.value(place, n, "realised_fpr", p.realised_fpr);
        self.value(place, n, "attainable_threshold", p.attainable_threshold);
        self.add(place, n, "recall", p.recall);
        self.add(place, n, "fpr", p.fpr);
        self.add(place, n, "precision", p.precision);
        self.add(place, n, "average_precision", p.average_precision);
    }

    fn missing(&mut self, place: &Place, p: &Points) {
        self.count(place, "missing_pos", p.missing_pos);
        self.count(place, "missing_neg", p.missing_neg);
    }

    fn detector(&mut self, d: &DetectorResult) {
        for (&task, result) in &d.tasks {
            let (test, whole) = (Place::of(d, Some(task), "test"), Place::of(d, Some(task), "whole"));
            self.points(&test, &result.test);
            self.points(&whole, &result.whole);
            if let Some(t) = result.dev_tuned {
                let (dev, test) = (test.rows("dev").slice("threshold=dev"), test.slice("threshold=dev"));
                self.value(&dev, None, "recall", t.dev_recall);
                self.value(&dev, None, "fpr", t.dev_fpr);
                self.value(&test, None, "threshold", t.threshold);
                let n = Some((result.test.n_pos, result.test.n_neg));
                self.add(&test, n, "recall", t.recall);
                self.add(&test, n, "fpr", t.fpr);
            }
            if let Some(c) = &result.calibration {
                let n = Some((result.test.n_pos, result.test.n_neg));
                self.value(&test, n, "expected_calibration_error", Some(c.expected_error));
                self.value(&test, n, "maximum_calibration_error", Some(c.maximum_error));
                self.value(&test, n, "brier", Some(c.brier));
            }
            for (by, s) in result.slices.iter().flat_map(|s| s.slices.iter().map(|x| (&s.by, x))) {
                let (place, n) = (whole.slice(format!("{by}={}", s.name)), Some((s.n_pos, s.n_neg)));
                self.value(&place, n, "auc", s.auc);
                self.value(&place, n, "tpr_at_target_fpr", s.tpr_at_target_fpr);
                self.add(&place, n, "recall", s.recall);
                self.add(&place, n, "fpr", s.fpr);
            }
        }
        if let Some(t) = d.two_tier {
            let test = Place::of(d, Some(Task::Injection), "test");
            let two = test.slice("policy=two_tier");
            self.value(&two.rows("dev"), None, "recall", Some(t.dev_recall));
            self.value(&two, None, "threshold_verified", Some(t.t_verified));
            self.value(&two, None, "threshold_other", Some(t.t_other));
            self.value(&two, None, "recall", t.test_recall);
            self.value(&two, None, "fpr", t.test_fpr);
            let single = test.slice("policy=single");
            self.value(&single, None, "threshold", Some(t.single_threshold));
            self.value(&single, None, "recall", t.single_test_recall);
            self.value(&single, None, "fpr", t.single_test_fpr);
        }
        self.cost(&Place::of(d, None, "all"), &d.cost);
    }

    fn cost(&mut self, place: &Place, c: &Cost) {
        self.value(place, None, "latency_ms_p50", c.latency_ms_p50);
        self.value(place, None, "latency_ms_p95", c.latency_ms_p95);
        self.count(place, "requests", c.requests);
        self.count(place, "input_tokens", c.input_tokens);
        self.count(place, "output_tokens", c.output_tokens);
        self.value(place, None, "dollars_per_1000", c.dollars_per_1000);
    }

    fn view(&mut self, rows: &'static str, v: &ViewResult) {
        let place = Place::named(&v.detector, Task::Injection, rows);
        self.points(&place.slice("view=naive"), &v.naive);
        self.add(&place.slice("view=canonical-naive"), None, "recall_lost", v.recall_lost);
        for s in &v.surfaces {
            let of = |view: &str| place.slice(format!("surface={};view={view}", s.name));
            let n = Some((s.n_pos, 0));
            self.add(&of("canonical"), n, "recall", s.canonical);
            self.add(&of("naive"), n, "recall", s.naive);
            self.add(&of("canonical-naive"), n, "recall_lost", s.recall_lost);
        }
    }
}

fn views(analysis: &Analysis) -> impl Iterator<Item = (&'static str, &ViewResult)> {
    let test = analysis.views_test.iter().map(|v| ("test", v));
    test.chain(analysis.views.iter().map(|v| ("whole", v)))
}

fn against(c: &Comparison) -> Place {
    Place::named(&c.detector, c.task, "test").slice(format!("minus {}", c.baseline))
}

fn comparisons(analysis: &Analysis) -> impl Iterator<Item = (Place, &'static str, &Difference)> {
    analysis.comparisons.iter().flat_map(|c| {
        let place = against(c);
        [("auc", &c.auc), ("tpr_at_target_fpr", &c.tpr_at_target_fpr), ("recall", &c.recall), ("fpr", &c.fpr)]
            .map(|(measure, d)| (place.clone(), measure, d))
    })
}

/// What the detectors do.
pub(crate) fn figures(analysis: &Analysis) -> Vec<Entry> {
    let mut all = Entries::default();
    analysis.detectors.iter().for_each(|d| all.detector(d));
    for (place, measure, d) in comparisons(analysis) {
        all.add(&place, None, measure, d.difference);
    }
    for (rows, v) in views(analysis) {
        all.view(rows, v);
    }
    for (&task, detectors) in analysis.scenario_level.iter().flat_map(|h| &h.tasks) {
        for (detector, points) in detectors {
            all.points(&Place::named(detector, task, "test").slice("group_by=base_scenario_id"), points);
        }
    }
    all.0
}

/// What stands behind the figures: coverage, p-values, bins, and counts of records and groups.
pub(crate) fn particulars(analysis: &Analysis) -> Vec<Entry> {
    let mut all = Entries::default();
    for d in &analysis.detectors {
        for (&task, result) in &d.tasks {
            let (test, whole) = (Place::of(d, Some(task), "test"), Place::of(d, Some(task), "whole"));
            all.missing(&test, &result.test);
            all.missing(&whole, &result.whole);
            coverage(&mut all, &whole, &result.coverage);
            result.calibration.iter().for_each(|c| bins(&mut all, &test, c));
        }
    }
    for (place, measure, d) in comparisons(analysis) {
        all.value(&place, None, &format!("{measure}_p"), d.p);
        all.value(&place, None, &format!("{measure}_p_holm"), d.p_holm);
    }
    for c in &analysis.comparisons {
        all.count(&against(c), "rows", c.rows);
    }
    for (rows, v) in views(analysis) {
        let place = Place::named(&v.detector, Task::Injection, rows);
        all.missing(&place.slice("view=naive"), &v.naive);
        let surfaces = v.surfaces.iter().map(|s| (format!("surface={};view=canonical-naive", s.name), s.only_one));
        for (slice, (canonical, naive)) in [("view=canonical-naive".to_owned(), v.only_one)].into_iter().chain(surfaces)
        {
            all.count(&place.slice(slice.clone()), "flagged_on_canonical_alone", canonical);
            all.count(&place.slice(slice), "flagged_on_naive_alone", naive);
        }
    }
    records(&mut all, analysis);
    all.0
}

fn coverage(all: &mut Entries, place: &Place, c: &Coverage) {
    all.count(place, "expected", c.expected);
    all.count(place, "scored", c.scored);
    for fault in Fault::ALL {
        all.count(place, &format!("without_score_{}", fault.key()), c.of(fault));
    }
}

fn bins(all: &mut Entries, place: &Place, calibration: &Calibrated) {
    for &(low, high, rows, mean_score, positive_share) in &calibration.bins {
        let positives = (positive_share * rows as f64).round() as u64;
        let (place, n) =
            (place.slice(format!("bin={low:.1}-{high:.1}")), Some((positives, rows - positives.min(rows))));
        all.value(&place, n, "mean_score", Some(mean_score));
        all.value(&place, n, "positive_share", Some(positive_share));
    }
}

fn records(all: &mut Entries, analysis: &Analysis) {
    let p = &analysis.population;
    let place =
        |task, rows| Place { task, rows, slice: String::new(), detector: String::new(), carried_forward: false };
    let whole = place(None, "whole");
    for (rows, measure, count) in [
        ("all", "records", p.manifest),
        ("all", "pdf_held_out", p.pdf_held_out),
        ("all", "not_covered", p.not_covered),
        ("whole", "records", p.text_ids),
        ("dev", "records", p.dev),
        ("test", "records", p.test),
    ] {
        all.count(&place(None, rows), measure, count);
    }
    for (&task, t) in &p.tasks {
        for (rows, pos, neg) in [("whole", t.n_pos, t.n_neg), ("test", t.test_pos, t.test_neg)] {
            all.count(&place(Some(task), rows), "positives", pos);
            all.count(&place(Some(task), rows), "negatives", neg);
        }
    }
    for part in &p.recipe {
        let place = whole.slice(format!("recipe={}", part.part));
        all.count(&place, "published", part.published);
        all.count(&place, "here", part.here);
    }
    let split = &analysis.split;
    for (by, l) in [("base_payload", split.base_payload), ("base_scenario", split.base_scenario)] {
        let place = whole.slice(format!("split={by}"));
        for (measure, count) in [
            ("groups", l.groups),
            ("groups_in_both", l.groups_in_both),
            ("dev_rows", l.dev_rows),
            ("dev_rows_in_both", l.dev_rows_in_both),
            ("test_rows", l.test_rows),
            ("test_rows_in_both", l.test_rows_in_both),
        ] {
            all.count(&place, measure, count as u64);
        }
    }
    if let Some(h) = &analysis.scenario_level {
        for (rows, count) in [("dev", h.dev), ("test", h.test)] {
            all.count(&place(None, rows).slice("group_by=base_scenario_id"), "records", count);
        }
    }
}
