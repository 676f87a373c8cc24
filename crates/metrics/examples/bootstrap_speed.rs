//! Times a cluster bootstrap over the rows of a file: `bootstrap_speed FILE [REPLICATES [REPEATS]]`.
//!
//! The file holds one row a line: group, label (0 or 1) and score, separated by spaces. Prints the fastest and the median
//! time in milliseconds, for the areas alone and with both true-positive rates, and the last replicate of each measure, for
//! comparison with another program on the same stream. `cargo xtask bench metrics` builds it without the feature `rayon` and
//! runs it: where the system tells, time is that of the processor, so that other programs on the machine do not count.
#![expect(clippy::print_stdout, clippy::disallowed_methods, reason = "a program that prints how long something takes")]

use std::error::Error;
use std::time::Instant;

use wardline_metrics::{Bootstrap, BootstrapInterval, Design, Measure, Stream, TprEstimator};

/// Runs to a timing: the processor's time may lag by a few milliseconds.
const RUNS: u32 = 20;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let path = args.next().ok_or("usage: bootstrap_speed FILE [REPLICATES [REPEATS]]")?;
    let replicates: usize = args.next().map_or(Ok(1000), |n| n.parse())?;
    let repeats: usize = args.next().map_or(Ok(15), |n| n.parse())?;
    let (mut groups, mut labels, mut scores) = (Vec::new(), Vec::new(), Vec::new());
    for line in std::fs::read_to_string(path)?.lines() {
        let [group, label, score] = line.split(' ').collect::<Vec<_>>()[..] else {
            return Err("not three fields".into());
        };
        groups.push(group.parse::<u32>()?);
        labels.push(label == "1");
        scores.push(score.parse::<f64>()?);
    }
    let measures = [
        Measure::RocAuc,
        Measure::TprAtFpr { target: 0.01, estimator: TprEstimator::Grade },
        Measure::TprAtFpr { target: 0.01, estimator: TprEstimator::Analyze },
    ];
    let bootstrap = Bootstrap::new(Stream::numpy(1)).replicates(replicates).interval(BootstrapInterval::Percentile);
    for (name, measures) in [("area", &measures[..1]), ("all", &measures[..])] {
        let mut times = Vec::new();
        for _ in 0..repeats.max(1) {
            let start = Clock::now();
            for _ in 0..RUNS {
                // Everything that a caller pays for: numbering the groups, ranking, drawing, reading, percentiles.
                let design = Design::clusters(&groups)?;
                let found = bootstrap.measures(&design, &labels, &scores, measures)?;
                assert_eq!(found.len(), measures.len());
            }
            times.push(start.milliseconds() / f64::from(RUNS));
        }
        times.sort_by(f64::total_cmp);
        println!("fastest-{name} {:.4}", times[0]);
        println!("median-{name} {:.4}", times[times.len() / 2]);
    }
    let values = bootstrap.measure_replicates(&Design::clusters(&groups)?, &labels, &scores, &measures)?;
    let last: Vec<String> = values.iter().map(|v| format!("{:.15}", v[v.len() - 1])).collect();
    println!("last {}", last.join(" "));
    Ok(())
}

/// Processor time of this thread where Linux tells it, else time on the wall.
struct Clock {
    processor: Option<u64>,
    wall: Instant,
}

impl Clock {
    fn now() -> Self {
        Self { processor: processor_nanoseconds(), wall: Instant::now() }
    }

    fn milliseconds(&self) -> f64 {
        match (self.processor, processor_nanoseconds()) {
            (Some(start), Some(end)) if !cfg!(feature = "rayon") => (end - start) as f64 / 1e6,
            _ => self.wall.elapsed().as_secs_f64() * 1000.0,
        }
    }
}

fn processor_nanoseconds() -> Option<u64> {
    std::fs::read_to_string("/proc/thread-self/schedstat").ok()?.split(' ').next()?.parse().ok()
}
