//! Coverage of the bootstrap intervals, measured on data whose truth is known: `coverage [DATASETS [REPLICATES
//! [ease]]]`.
//!
//! Prints, for each design and interval, how many of the data sets have a nominal 95 % interval that holds the truth, and the mean
//! width. Seeded: the same figures on every run. `docs/methodology.md` holds those of 2,000 data sets and 1,000
//! replicates, and those of `coverage 1000 500 ease`: rates near 1.
#![expect(clippy::print_stdout, reason = "a program with arguments that prints a table")]

use std::error::Error;

use rand_pcg::Pcg64;
use rand_pcg::rand_core::Rng;
use statrs::distribution::{ContinuousCDF, Normal};
use wardline_metrics::{Bootstrap, BootstrapInterval, Design, Estimate, Measure, MetricsError, Stream, TprEstimator};

use BootstrapInterval::{Bca, Percentile, StudentT};

struct Random(Pcg64);

impl Random {
    fn uniform(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        (-2.0 * (1.0 - self.uniform()).ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }

    fn normals(&mut self, n: usize, deviation: f64) -> Vec<f64> {
        (0..n).map(|_| deviation * self.normal()).collect()
    }
}

fn cdf(z: f64) -> f64 {
    Normal::standard().cdf(z)
}

/// Hits and misses of one kind of interval.
#[derive(Default)]
struct Tally {
    name: String,
    truth_inside: u32,
    below: u32,
    above: u32,
    without: u32,
    width: f64,
}

impl Tally {
    fn add(&mut self, estimate: &Estimate, truth: f64) {
        let Some(interval) = estimate.interval else {
            self.without += 1;
            return;
        };
        self.width += interval.width();
        match () {
            () if truth < interval.low => self.below += 1,
            () if truth > interval.high => self.above += 1,
            () => self.truth_inside += 1,
        }
    }

    fn print(&self, datasets: u32) {
        let share = |n: u32| 100.0 * f64::from(n) / f64::from(datasets);
        println!(
            "  {:<44} {:>6.1} {:>7.1} {:>7.1} {:>9.3}",
            self.name,
            share(self.truth_inside),
            share(self.below),
            share(self.above),
            self.width / f64::from(datasets - self.without).max(1.0)
        );
    }
}

/// Runs one setting: `intervals` gives the name and estimate of each kind of interval on one data set.
fn setting(
    title: &str,
    truth: f64,
    datasets: u32,
    mut intervals: impl FnMut(u32, &mut Random) -> Result<Vec<(String, Estimate)>, MetricsError>,
) -> Result<(), MetricsError> {
    println!("{title}; truth {truth:.4}");
    println!("  {:<44} {:>6} {:>7} {:>7} {:>9}", "interval", "covers", "truth <", "truth >", "width");
    let mut tallies: Vec<Tally> = Vec::new();
    let mut random = Random(Pcg64::new(20_261_130, 1));
    for dataset in 0..datasets {
        for (i, (name, estimate)) in intervals(dataset, &mut random)?.into_iter().enumerate() {
            if tallies.len() == i {
                tallies.push(Tally { name, ..Tally::default() });
            }
            tallies[i].add(&estimate, truth);
        }
    }
    tallies.iter().for_each(|tally| tally.print(datasets));
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let datasets: u32 = args.next().map_or(Ok(2000), |n| n.parse())?;
    let replicates: usize = args.next().map_or(Ok(1000), |n| n.parse())?;
    let bootstrap = |dataset: u32, interval| {
        Bootstrap::new(Stream::new(u64::from(dataset), "coverage", "")).replicates(replicates).interval(interval)
    };
    if args.next().as_deref() == Some("ease") {
        return easy(datasets, &bootstrap).map_err(Into::into);
    }
    crossed(datasets, &bootstrap)?;
    differences(datasets, &bootstrap)?;
    clustered_rate(datasets, &bootstrap)?;
    clustered_scores(datasets, &bootstrap).map_err(Into::into)
}

type Make<'a> = &'a dyn Fn(u32, BootstrapInterval) -> Bootstrap;

/// User tasks crossed with injection tasks, in suites of like size.
struct Cross {
    suites: usize,
    users: usize,
    injections: usize,
    /// Standard deviations of the effects.
    user_effect: f64,
    injection_effect: f64,
    /// Mean ease of the suites, which are 0.5 apart.
    ease: f64,
}

/// A hit has probability Φ(ease of the suite + user effect + injection effect): with normal effects the share over all users and
/// injections of a suite is Φ(ease / √(1 + their variances)).
fn crossed(datasets: u32, bootstrap: Make<'_>) -> Result<(), MetricsError> {
    let settings = [
        (1, 100, 10, 0.5, 0.5),
        (1, 100, 10, 0.3, 1.0),
        (1, 100, 10, 1.0, 0.3),
        (1, 100, 10, 0.0, 0.0),
        (4, 20, 7, 0.5, 0.5),
        (1, 30, 30, 0.5, 0.5),
        (1, 40, 6, 0.5, 0.5),
    ];
    for (suites, users, injections, user_effect, injection_effect) in settings {
        cross(
            &Cross { suites, users, injections, user_effect, injection_effect, ease: 1.0 },
            true,
            datasets,
            bootstrap,
        )?;
    }
    Ok(())
}

/// Rates near 1, where few rows decide.
fn easy(datasets: u32, bootstrap: Make<'_>) -> Result<(), MetricsError> {
    let settings = [
        (1, 100, 10, 0.5, 1.0, 2.5),
        (1, 100, 10, 0.5, 0.5, 2.0),
        (1, 100, 10, 0.5, 0.5, 2.5),
        (1, 100, 10, 0.5, 1.0, 3.5),
        (1, 100, 10, 0.0, 0.0, 1.65),
        (4, 20, 7, 0.5, 0.5, 2.0),
        (4, 20, 7, 0.5, 0.5, 2.5),
        (4, 20, 7, 0.5, 0.5, 3.0),
        (1, 30, 30, 0.5, 0.5, 2.0),
    ];
    for (suites, users, injections, user_effect, injection_effect, ease) in settings {
        cross(&Cross { suites, users, injections, user_effect, injection_effect, ease }, false, datasets, bootstrap)?;
    }
    for (groups, ease) in [(300, 2.35), (300, 3.3), (30, 2.35), (30, 3.3)] {
        groups_of_eight(groups, 1.0, ease, datasets, bootstrap)?;
    }
    scores(4.0, datasets, bootstrap)
}

fn cross(cross: &Cross, one_way: bool, datasets: u32, bootstrap: Make<'_>) -> Result<(), MetricsError> {
    let &Cross { suites, users, injections, user_effect, injection_effect, ease } = cross;
    let cells = users * injections;
    let suite: Vec<usize> = (0..suites * cells).map(|row| row / cells).collect();
    let user: Vec<usize> = (0..suites * cells).map(|row| row / injections).collect();
    let injection: Vec<usize> = (0..suites * cells).map(|row| row / cells * injections + row % injections).collect();
    let rows = Design::rows(user.len())?.stratified(&suite)?;
    let by_user = Design::clusters(&user)?.stratified(&suite)?;
    let by_injection = Design::clusters(&injection)?.stratified(&suite)?;
    let both = Design::crossed(&user, &injection)?.stratified(&suite)?;
    let ease = |suite: usize| ease + 0.5 * (suite as f64 - (suites as f64 - 1.0) / 2.0);
    let spread = f64::sqrt(1.0 + user_effect * user_effect + injection_effect * injection_effect);
    let truth = (0..suites).map(|suite| cdf(ease(suite) / spread)).sum::<f64>() / suites as f64;
    let of_suites = if suites > 1 { format!("{suites} suites of ") } else { String::new() };
    let title = format!(
        "Rate, {of_suites}{users} user tasks x {injections} injection tasks, effects of deviation {user_effect} and {injection_effect}"
    );
    setting(&title, truth, datasets, |dataset, random| {
        let u = random.normals(suites * users, user_effect);
        let v = random.normals(suites * injections, injection_effect);
        let hits: Vec<bool> = (0..user.len())
            .map(|row| random.uniform() < cdf(ease(suite[row]) + u[user[row]] + v[injection[row]]))
            .collect();
        let run =
            |name: &str, design: &Design, kind| Ok((name.to_owned(), bootstrap(dataset, kind).rate(design, &hits)?));
        let mut found = Vec::new();
        if one_way {
            found.push(run("rows (naive), percentile", &rows, Percentile)?);
            found.push(run("clusters of user tasks, percentile", &by_user, Percentile)?);
            found.push(run("clusters of injection tasks, percentile", &by_injection, Percentile)?);
        }
        found.push(run("two-way, percentile", &both, Percentile)?);
        found.push(run("two-way, Student's t", &both, StudentT)?);
        Ok(found)
    })
}

/// Two defenses on the same cells, with user effects in common and injection effects of their own.
fn differences(datasets: u32, bootstrap: Make<'_>) -> Result<(), MetricsError> {
    let (users, injections, user_effect, injection_effect) = (100, 10, 0.5, 0.5);
    let user: Vec<usize> = (0..users * injections).map(|cell| cell / injections).collect();
    let injection: Vec<usize> = (0..users * injections).map(|cell| cell % injections).collect();
    let (rows, both) = (Design::rows(user.len())?, Design::crossed(&user, &injection)?);
    let spread = (1.0_f64 + user_effect * user_effect + injection_effect * injection_effect).sqrt();
    let truth = cdf(1.0 / spread) - cdf(0.5 / spread);
    let title = "Paired difference of two rates, 100 user tasks x 10 injection tasks, effects of deviation 0.5 and 0.5";
    setting(title, truth, datasets, |dataset, random| {
        let u = random.normals(users, user_effect);
        let mut defense = |ease: f64| -> Vec<bool> {
            let v = random.normals(injections, injection_effect);
            user.iter().zip(&injection).map(|(&i, &j)| random.uniform() < cdf(ease + u[i] + v[j])).collect()
        };
        let (first, second) = (defense(1.0), defense(0.5));
        let run = |name: &str, design: &Design, kind| {
            Ok((name.to_owned(), bootstrap(dataset, kind).rate_difference(design, &first, &second)?))
        };
        [
            run("rows (naive), percentile", &rows, Percentile),
            run("two-way, percentile", &both, Percentile),
            run("two-way, Student's t", &both, StudentT),
        ]
        .into_iter()
        .collect()
    })
}

/// Recall over payloads on eight surfaces each.
fn clustered_rate(datasets: u32, bootstrap: Make<'_>) -> Result<(), MetricsError> {
    for (groups, effect) in [(300, 1.0), (300, 3.0), (30, 1.0), (10, 1.0)] {
        groups_of_eight(groups, effect, 1.0, datasets, bootstrap)?;
    }
    Ok(())
}

fn groups_of_eight(
    groups: usize,
    effect: f64,
    ease: f64,
    datasets: u32,
    bootstrap: Make<'_>,
) -> Result<(), MetricsError> {
    let group: Vec<usize> = (0..groups * 8).map(|row| row / 8).collect();
    let (rows, clusters) = (Design::rows(group.len())?, Design::clusters(&group)?);
    let truth = cdf(ease / (1.0_f64 + effect * effect).sqrt());
    let title = format!("Rate, {groups} groups of 8, effect of deviation {effect}");
    setting(&title, truth, datasets, |dataset, random| {
        let g = random.normals(groups, effect);
        let hits: Vec<bool> = group.iter().map(|&i| random.uniform() < cdf(ease + g[i])).collect();
        let run =
            |name: &str, design: &Design, kind| Ok((name.to_owned(), bootstrap(dataset, kind).rate(design, &hits)?));
        [
            run("rows (naive), percentile", &rows, Percentile),
            run("clusters, percentile", &clusters, Percentile),
            run("clusters, BCa", &clusters, Bca),
            run("clusters, Student's t", &clusters, StudentT),
        ]
        .into_iter()
        .collect()
    })
}

/// Scores of 150 positive and 150 negative groups of eight: label, group and row effects add up, all normal.
fn clustered_scores(datasets: u32, bootstrap: Make<'_>) -> Result<(), MetricsError> {
    scores(2.0, datasets, bootstrap)
}

fn scores(shift: f64, datasets: u32, bootstrap: Make<'_>) -> Result<(), MetricsError> {
    let (groups, group_effect) = (300, 1.0_f64);
    let deviation = (1.0 + group_effect * group_effect).sqrt();
    let group: Vec<usize> = (0..groups * 8).map(|row| row / 8).collect();
    let labels: Vec<bool> = group.iter().map(|g| g % 2 == 0).collect();
    let (rows, clusters) = (Design::rows(group.len())?, Design::clusters(&group)?);
    let at_target = |target: f64| {
        let cut = deviation * Normal::standard().inverse_cdf(1.0 - target);
        (cut, cdf((shift - cut) / deviation))
    };
    let (cut, recall) = at_target(0.05);
    let tpr = |target| Measure::TprAtFpr { target, estimator: TprEstimator::Analyze };
    let cases = [
        ("AUC", Measure::RocAuc, cdf(shift / (deviation * 2.0_f64.sqrt()))),
        ("TPR at 5 % FPR", tpr(0.05), recall),
        ("TPR at 1 % FPR", tpr(0.01), at_target(0.01).1),
        ("Recall at a fixed threshold", Measure::Recall { threshold: cut }, recall),
        ("FPR at a fixed threshold", Measure::Fpr { threshold: cut }, 0.05),
    ];
    for (what, measure, truth) in cases {
        let title = format!("{what}, 300 groups of 8, half of them positive");
        setting(&title, truth, datasets, |dataset, random| {
            let g = random.normals(groups, group_effect);
            let scores: Vec<f64> =
                group.iter().zip(&labels).map(|(&i, &y)| shift * f64::from(y) + g[i] + random.normal()).collect();
            let run = |name: &str, design: &Design, kind| {
                Ok((name.to_owned(), bootstrap(dataset, kind).measures(design, &labels, &scores, &[measure])?[0]))
            };
            [
                run("rows (naive), percentile", &rows, Percentile),
                run("clusters, percentile", &clusters, Percentile),
                run("clusters, Student's t", &clusters, StudentT),
            ]
            .into_iter()
            .collect()
        })?;
    }
    Ok(())
}
