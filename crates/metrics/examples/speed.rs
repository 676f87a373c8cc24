//! Times a cluster bootstrap over the rows of a file: `speed FILE [REPLICATES [REPEATS]]`.
//!
//! The file holds one row a line: group, label (0 or 1) and score, separated by spaces. Prints the fastest and the median
//! time in milliseconds, and the last replicate of each measure, for comparison with another program on the same stream.
//! `cargo xtask bench metrics` runs it.
#![expect(clippy::print_stdout, clippy::disallowed_methods, reason = "a program that prints how long something takes")]

use std::error::Error;
use std::time::Instant;

use wardline_metrics::{Bootstrap, BootstrapInterval, Design, Measure, Stream, TprEstimator};

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let path = args.next().ok_or("usage: speed FILE [REPLICATES [REPEATS]]")?;
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
    let mut times = Vec::new();
    for _ in 0..repeats.max(1) {
        let start = Instant::now();
        // Everything that a caller pays for: numbering the groups, ranking, drawing, reading, percentiles.
        let design = Design::clusters(&groups)?;
        let found = bootstrap.measures(&design, &labels, &scores, &measures)?;
        times.push(start.elapsed().as_secs_f64() * 1000.0);
        assert_eq!(found.len(), measures.len());
    }
    times.sort_by(f64::total_cmp);
    println!("fastest {:.3}", times[0]);
    println!("median {:.3}", times[times.len() / 2]);
    let values = bootstrap.measure_replicates(&Design::clusters(&groups)?, &labels, &scores, &measures)?;
    let last: Vec<String> = values.iter().map(|v| format!("{:.15}", v[v.len() - 1])).collect();
    println!("last {}", last.join(" "));
    Ok(())
}
