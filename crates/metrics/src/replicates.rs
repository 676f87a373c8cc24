//! Runs a statistic over the replicates of a design.

use crate::design::Design;
use crate::numpy::{Halves, NumpyRng};
use crate::stream::{self, Kind, Stream};

/// A statistic (or several) of rows that are weighted by how often their units were drawn.
pub(crate) trait Evaluate: Sync {
    /// Buffers that one thread reuses from replicate to replicate.
    type Scratch: Send;

    fn scratch(&self) -> Self::Scratch;

    /// How many numbers `evaluate` writes.
    fn width(&self) -> usize;

    /// `counts` holds, for each axis, how often each unit was drawn.
    fn evaluate(&self, counts: &[Vec<u32>], scratch: &mut Self::Scratch, out: &mut [f64]);

    /// The numbers without each of so many units of the only axis, unit by unit, where there is a short cut.
    fn without_each(&self, _units: usize) -> Option<Vec<f64>> {
        None
    }
}

fn ones(design: &Design) -> Vec<Vec<u32>> {
    design.units().into_iter().map(|n| vec![1; n]).collect()
}

/// The statistic of the rows as they are.
pub(crate) fn point<E: Evaluate>(design: &Design, statistic: &E) -> Vec<f64> {
    let mut out = vec![0.0; statistic.width()];
    statistic.evaluate(&ones(design), &mut statistic.scratch(), &mut out);
    out
}

/// The statistic in each replicate, replicate by replicate.
pub(crate) fn run<E: Evaluate>(design: &Design, statistic: &E, stream: &Stream, replicates: usize) -> Vec<f64> {
    let width = statistic.width();
    let mut out = vec![0.0; replicates * width];
    match &stream.0 {
        Kind::Keyed(key) => each_row(
            &mut out,
            width,
            || (ones(design), statistic.scratch()),
            |r, (counts, scratch), out| {
                let mut rng = Halves::new(stream::replicate(key, r as u64));
                for (axis, counts) in design.axes.iter().zip(counts.iter_mut()) {
                    axis.draw(&mut rng, counts);
                }
                statistic.evaluate(counts, scratch, out);
            },
        ),
        Kind::Numpy(seed) => {
            // One sequence runs through all replicates, so they are drawn in turn, some at a time to bound the memory.
            const AT_A_TIME: usize = 64;
            let mut rng = NumpyRng::new(*seed);
            let mut drawn: Vec<Vec<Vec<u32>>> = vec![ones(design); AT_A_TIME.min(replicates)];
            for out in out.chunks_mut(AT_A_TIME * width) {
                for counts in drawn.iter_mut().take(out.len() / width) {
                    for (axis, counts) in design.axes.iter().zip(counts) {
                        axis.draw(rng.halves(), counts);
                    }
                }
                let evaluate = |r: usize, scratch: &mut E::Scratch, out: &mut [f64]| {
                    statistic.evaluate(&drawn[r], scratch, out);
                };
                each_row(out, width, || statistic.scratch(), evaluate);
            }
        }
    }
    out
}

/// The statistic without each unit in turn, unit by unit. Unless it has a short cut, units are dealt into at most `MOST_BLOCKS`
/// blocks when there are more, since each takes a pass over all rows.
/// For a design of one axis.
pub(crate) fn jackknife<E: Evaluate>(design: &Design, statistic: &E) -> Vec<f64> {
    const MOST_BLOCKS: usize = 1000;
    let units = design.axes.first().map_or(0, |axis| axis.units());
    if let Some(without) = statistic.without_each(units) {
        return without;
    }
    let blocks = units.min(MOST_BLOCKS);
    let width = statistic.width();
    let mut out = vec![0.0; blocks * width];
    each_row(
        &mut out,
        width,
        || (ones(design), statistic.scratch()),
        |block, (counts, scratch), out| {
            counts[0].iter_mut().skip(block).step_by(blocks).for_each(|count| *count = 0);
            statistic.evaluate(counts, scratch, out);
            counts[0].fill(1);
        },
    );
    out
}

/// Fills `out` in rows of `width`, on all cores when the feature `rayon` is on; the result is the same either way.
fn each_row<S: Send>(
    out: &mut [f64],
    width: usize,
    scratch: impl Fn() -> S + Sync + Send,
    fill: impl Fn(usize, &mut S, &mut [f64]) + Sync + Send,
) {
    #[cfg(feature = "rayon")]
    {
        use rayon::iter::{IndexedParallelIterator, ParallelIterator};
        use rayon::slice::ParallelSliceMut;
        out.par_chunks_mut(width)
            .enumerate()
            .with_min_len(8)
            .for_each_init(scratch, |scratch, (row, out)| fill(row, scratch, out));
    }
    #[cfg(not(feature = "rayon"))]
    {
        let mut scratch = scratch();
        for (row, out) in out.chunks_mut(width).enumerate() {
            fill(row, &mut scratch, out);
        }
    }
}
