//! Tables of positions and relations between positions.

use super::Table;

/// What is added to a score that must not count: low enough to vanish in a softmax, far from overflow when two are added.
pub(crate) const MASKED: f32 = -1e30;

/// Positions `from, from + 1, …`.
pub(crate) fn counted(tokens: usize, from: usize) -> Table {
    Table::Ints((from..from + tokens).map(|p| p as i64).collect(), vec![tokens])
}

/// Cosines and sines of rotary positions, each `[tokens, head_size]`: the angle of pair `k` is `position / theta^(2k / head_size)`,
/// and both halves of a head hold the same angles.
pub(crate) fn rotary(tokens: usize, head_size: usize, theta: f64) -> (Table, Table) {
    let half = head_size / 2;
    let angles: Vec<f32> = (0..tokens)
        .flat_map(|t| (0..head_size).map(move |d| (t, d % half)))
        .map(|(t, k)| {
            // Single precision throughout, as the models were trained.
            let inverse = 1.0 / (theta as f32).powf(2.0 * k as f32 / head_size as f32);
            t as f32 * inverse
        })
        .collect();
    let shape = vec![tokens, head_size];
    (
        Table::Floats(angles.iter().map(|a| a.cos()).collect(), shape.clone()),
        Table::Floats(angles.iter().map(|a| a.sin()).collect(), shape),
    )
}

/// 0 where two positions are at most `reach` apart, else [`MASKED`]; `[tokens, tokens]`.
pub(crate) fn near(tokens: usize, reach: usize) -> Table {
    let all = (0..tokens).flat_map(|q| (0..tokens).map(move |k| if q.abs_diff(k) <= reach { 0.0 } else { MASKED }));
    Table::Floats(all.collect(), vec![tokens, tokens])
}

/// DeBERTa's relative positions: the distance from query to key, exact when near and on a logarithmic scale when far.
pub(crate) fn bucket(distance: i64, buckets: i64, farthest: i64) -> i64 {
    let middle = buckets / 2;
    if buckets <= 0 || distance.abs() <= middle {
        return distance;
    }
    // Single precision, since the models were trained on tables that were rounded so.
    let scaled = (distance.abs() as f32 / middle as f32).ln() / ((farthest - 1) as f32 / middle as f32).ln();
    let far = (scaled * (middle - 1) as f32).ceil() as i64 + middle;
    far * distance.signum()
}

/// Rows of the relative embedding by query and key, `[tokens, tokens]`: `sign × bucket + span`, kept within the table.
pub(crate) fn relative(tokens: usize, buckets: i64, farthest: i64, span: i64, sign: i64) -> Table {
    let tokens_i = tokens as i64;
    let rows = (0..tokens_i).flat_map(|q| (0..tokens_i).map(move |k| bucket(q - k, buckets, farthest)));
    Table::Ints(rows.map(|b| (sign * b + span).clamp(0, 2 * span - 1)).collect(), vec![tokens, tokens])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_distances_are_exact_and_far_ones_logarithmic() {
        assert_eq!([0, 1, -5, 128, -128].map(|d| bucket(d, 256, 512)), [0, 1, -5, 128, -128]);
        // 128 + ceil(ln(d / 128) / ln(511 / 128) × 127)
        assert_eq!([129, 200, 256, 511, -511].map(|d| bucket(d, 256, 512)), [129, 169, 192, 255, -255]);
        assert_eq!(bucket(300, -1, 512), 300);
    }

    #[test]
    fn rows_of_the_relative_table_stay_within_it() {
        let Table::Ints(rows, shape) = relative(600, 256, 512, 256, 1) else { panic!() };
        assert_eq!(shape, [600, 600]);
        assert!(rows.iter().all(|r| (0..512).contains(r)));
        assert_eq!(rows[0], 256);
    }
}
