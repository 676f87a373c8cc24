//! A cluster bootstrap over 10^3 to 10^6 rows, and the ranking that precedes it.

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use wardline_metrics::{Bootstrap, BootstrapInterval, Design, Measure, NumpyRng, Ranked, Stream, TprEstimator};

struct Rows {
    groups: Vec<u32>,
    labels: Vec<bool>,
    scores: Vec<f64>,
}

/// Groups of seven rows; scores without ties to speak of, shifted for positives.
fn rows(n: u32) -> Rows {
    let mut rng = NumpyRng::new(u64::from(n));
    let groups: Vec<u32> = (0..n).map(|row| row / 7).collect();
    let labels: Vec<bool> = groups.iter().map(|group| group % 2 == 0).collect();
    let noise = |rng: &mut NumpyRng| f64::from(rng.below(1 << 30)) / f64::from(1 << 30);
    let scores = labels.iter().map(|&label| noise(&mut rng) + 0.4 * f64::from(label) * noise(&mut rng)).collect();
    Rows { groups, labels, scores }
}

fn bench(c: &mut Criterion) {
    let measures = [
        Measure::RocAuc,
        Measure::TprAtFpr { target: 0.01, estimator: TprEstimator::Grade },
        Measure::TprAtFpr { target: 0.01, estimator: TprEstimator::Analyze },
    ];
    let mut group = c.benchmark_group("metrics");
    group.sample_size(10).warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(3));
    for n in [1_000, 10_000, 100_000, 1_000_000] {
        let rows = rows(n);
        group.throughput(Throughput::Elements(u64::from(n)));
        group.bench_with_input(BenchmarkId::new("rank", n), &rows, |b, rows| {
            b.iter(|| Ranked::new(black_box(&rows.labels), black_box(&rows.scores)).map(|r| r.roc_auc()));
        });
        group.bench_with_input(BenchmarkId::new("20 replicates", n), &rows, |b, rows| {
            let design = Design::clusters(&rows.groups).expect("rows");
            let bootstrap =
                Bootstrap::new(Stream::new(1, "bench", "rows")).replicates(20).interval(BootstrapInterval::Percentile);
            b.iter(|| bootstrap.measures(&design, &rows.labels, &rows.scores, &measures));
        });
    }
    group.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);
