//! Statistics that the bootstrap evaluates by unit weights: means, and functions of the row weights.

use crate::design::Design;
use crate::replicates::Evaluate;

/// A weighted mean, by cells: rows that are always drawn together are added up beforehand.
pub(crate) struct Mean {
    cells: Vec<Cell>,
    crossed: bool,
}

struct Cell {
    units: [u32; 2],
    sum: f64,
    rows: f64,
}

impl Mean {
    pub(crate) fn new(design: &Design, values: &[f64]) -> Self {
        let second = |row: usize| design.axes.get(1).map_or(0, |axis| axis.unit_of[row]);
        let mut rows: Vec<([u32; 2], f64)> =
            values.iter().enumerate().map(|(row, &v)| ([design.axes[0].unit_of[row], second(row)], v)).collect();
        rows.sort_by_key(|(units, _)| *units);
        let mut cells: Vec<Cell> = Vec::new();
        for (units, value) in rows {
            match cells.last_mut() {
                Some(cell) if cell.units == units => {
                    cell.sum += value;
                    cell.rows += 1.0;
                }
                _ => cells.push(Cell { units, sum: value, rows: 1.0 }),
            }
        }
        Self { cells, crossed: design.axes.len() > 1 }
    }
}

impl Evaluate for Mean {
    type Scratch = ();

    fn scratch(&self) {}

    fn width(&self) -> usize {
        1
    }

    fn evaluate(&self, counts: &[Vec<u32>], (): &mut (), out: &mut [f64]) {
        let (mut sum, mut rows) = (0.0, 0.0);
        for cell in &self.cells {
            let mut weight = f64::from(counts[0][cell.units[0] as usize]);
            if self.crossed {
                weight *= f64::from(counts[1][cell.units[1] as usize]);
            }
            sum += weight * cell.sum;
            rows += weight * cell.rows;
        }
        out[0] = sum / rows;
    }

    fn without_each(&self, units: usize) -> Option<Vec<f64>> {
        let (mut sum, mut rows) = (0.0, 0.0);
        let mut of_units = vec![(0.0, 0.0); units];
        for cell in &self.cells {
            sum += cell.sum;
            rows += cell.rows;
            let unit = &mut of_units[cell.units[0] as usize];
            *unit = (unit.0 + cell.sum, unit.1 + cell.rows);
        }
        Some(of_units.into_iter().map(|(unit_sum, unit_rows)| (sum - unit_sum) / (rows - unit_rows)).collect())
    }
}

/// A caller's function of how often each row was drawn.
pub(crate) struct RowWeights<'a, F> {
    statistic: &'a F,
    units: Vec<Vec<u32>>,
}

impl<'a, F: Fn(&[u32]) -> f64> RowWeights<'a, F> {
    pub(crate) fn new(design: &Design, statistic: &'a F) -> Self {
        Self { statistic, units: design.axes.iter().map(|axis| axis.unit_of.clone()).collect() }
    }
}

impl<F: Fn(&[u32]) -> f64 + Sync> Evaluate for RowWeights<'_, F> {
    type Scratch = Vec<u32>;

    fn scratch(&self) -> Vec<u32> {
        vec![0; self.units[0].len()]
    }

    fn width(&self) -> usize {
        1
    }

    fn evaluate(&self, counts: &[Vec<u32>], weights: &mut Vec<u32>, out: &mut [f64]) {
        weights.fill(1);
        for (units, counts) in self.units.iter().zip(counts) {
            for (weight, &unit) in weights.iter_mut().zip(units) {
                *weight *= counts[unit as usize];
            }
        }
        out[0] = (self.statistic)(weights);
    }
}
