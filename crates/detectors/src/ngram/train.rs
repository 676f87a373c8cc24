use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;

use super::features::{BITS, features};
use super::model::NgramModel;
use crate::{DetectorError, Task};

/// A training record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Example {
    /// The record's id.
    pub id: String,
    /// Its flattened text.
    pub text: String,
    /// Whether it is what the model looks for.
    pub positive: bool,
}

/// How a model is trained.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TrainOptions {
    /// Times that every example is seen. Default 20.
    pub epochs: u32,
    /// The step size of the first epoch; it falls with the square root of the epoch. Default 8.
    pub rate: f64,
    /// Seed of the order of examples. Default 1.
    pub seed: u64,
}

impl Default for TrainOptions {
    fn default() -> Self {
        Self { epochs: 20, rate: 8.0, seed: 1 }
    }
}

/// Trains a logistic regression by stochastic gradient descent. Both classes count the same, however many examples each has. The same
/// examples in any order give the same model.
///
/// # Errors
/// A class has no example, or an id stands twice.
pub fn train_ngram(
    task: Task,
    manifest_sha256: &str,
    examples: &[Example],
    options: &TrainOptions,
) -> Result<NgramModel, DetectorError> {
    let wrong = |message: String| DetectorError::detector("ngram", message);
    let mut sorted: Vec<&Example> = examples.iter().collect();
    sorted.sort_by(|a, b| a.id.cmp(&b.id));
    if let Some(twice) = sorted.windows(2).find(|w| w[0].id == w[1].id) {
        return Err(wrong(format!("id {:?} stands twice", twice[0].id)));
    }
    let positives = sorted.iter().filter(|e| e.positive).count();
    let negatives = sorted.len() - positives;
    if positives == 0 || negatives == 0 {
        return Err(wrong(format!("{positives} positive and {negatives} negative examples; both are needed")));
    }
    let vectors: Vec<(Vec<(u32, f32)>, bool)> = sorted.iter().map(|e| (features(&e.text), e.positive)).collect();
    let weight_of = |positive: bool| sorted.len() as f64 / (2.0 * if positive { positives } else { negatives } as f64);
    let mut weights = vec![0.0_f64; 1 << BITS];
    let mut bias = 0.0_f64;
    let mut order: Vec<usize> = (0..vectors.len()).collect();
    let mut random = Pcg64::seed_from_u64(options.seed);
    for epoch in 0..options.epochs {
        order.shuffle(&mut random);
        let rate = options.rate / f64::from(1 + epoch).sqrt();
        for &i in &order {
            let (vector, positive) = &vectors[i];
            let sum = bias + vector.iter().map(|(j, v)| weights[*j as usize] * f64::from(*v)).sum::<f64>();
            let error = f64::from(u8::from(*positive)) - 1.0 / (1.0 + (-sum).exp());
            let step = rate * weight_of(*positive) * error;
            bias += 0.1 * step;
            for (j, v) in vector {
                weights[*j as usize] += step * f64::from(*v);
            }
        }
    }
    let values = weights.iter().map(|w| *w as f32).collect();
    let ids: Vec<&str> = sorted.iter().map(|e| e.id.as_str()).collect();
    Ok(NgramModel::new(task, manifest_sha256.to_owned(), (positives, negatives), bias as f32, values, &ids))
}
